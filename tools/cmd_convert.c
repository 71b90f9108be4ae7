/* SPDX-License-Identifier: BSD-3-Clause
 * cippus convert: from any format that is read to any that is written. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "commands.h"
#include "convert_concat.h"
#include "convert_filled.h"
#include "convert_several.h"
#include "convert_text.h"
#include "input.h"
#include "notes.h"
#include "printed.h"
#include "print.h"
#include "suggest.h"

typedef struct talk {
    progress *bar;
    const char *file;
    bool json;
    size_t n;           /* findings printed */
    const char *output; /* of --each, whose objects have file, output and exit_status as well */
    const uint64_t *at_end;
} talk;

static void json_begin(const talk *t)
{
    putchar('{');
    if (t->output != NULL) {
        fputs("\"file\": ", stdout);
        print_json_string(stdout, t->file);
        fputs(", \"output\": ", stdout);
        print_json_string(stdout, t->output);
        fputs(", ", stdout);
    }
    fputs("\"findings\": [", stdout);
}

/* {"findings": [{"kind": "loss" or "note", "path": ..., "text": ...}, ...]} */
static void json_finding(talk *t, const cip_finding *f)
{
    if (t->n++ == 0)
        json_begin(t);
    else
        fputs(",\n ", stdout);
    printf("{\"kind\": \"%s\", \"path\": ", f->severity == CIP_NOTE ? "note" : "loss");
    print_json_string(stdout, f->part != NULL ? f->part : "");
    fputs(", \"text\": ", stdout);
    print_json_string(stdout, f->text);
    putchar('}');
}

static void json_end_findings(const talk *t)
{
    if (t->n == 0)
        json_begin(t);
    putchar(']');
}

static void json_end(const talk *t)
{
    if (!t->json || t->output != NULL) /* of --each the end comes with its status */
        return;
    json_end_findings(t);
    if (t->at_end != NULL)
        printf(", \"offset\": %" PRIu64, *t->at_end);
    puts("}");
}

/* Where the output begins in a file that was there. */
static void say_place(const talk *t, const char *out)
{
    if (t->json || t->at_end == NULL)
        return;
    print_escaped(stdout, out);
    printf(": begins at byte %" PRIu64 "\n", *t->at_end);
}

/* A loss, or as a note what it came to. */
static int on_loss(void *user, const cip_finding *f)
{
    talk *t = user;
    hide_progress(t->bar);
    if (t->json) {
        json_finding(t, f);
        return 0;
    }
    print_told(t->file, f->severity == CIP_NOTE ? "" : "loss: ", f);
    return 0;
}

static int on_progress(void *user, uint64_t done, uint64_t total)
{
    return show_progress(((talk *)user)->bar, done, total);
}

/* How much there will be of several inputs nobody knows. */
static int on_bytes(void *user, uint64_t done, uint64_t total)
{
    (void)total;
    return show_progress(((talk *)user)->bar, done, 0);
}

/* Raw and csv are opened here; --byteorder is then the output's alone. */
static cip_status convert(const opts *o, int kind, const cip_convert_options *c, int *rc,
                          cip_err *err)
{
    opts in = *o;
    in.byteorder = NULL;
    if (kind == INPUT_KNOWN)
        return cip_convert(o->pos[0], o->pos[1], c, err);
    cip_file *f = input_open(o->pos[0], &in, rc);
    if (f == NULL)
        return CIP_ERR_IO;
    cip_status st = cip_convert_file(f, o->pos[1], c, err);
    cip_file_close(f);
    *rc = EXIT_FINE;
    return st;
}

/* The nearest of the codecs that a refusal lists: "expected the codec A, B or none, found C". */
static void suggest_codec(const char *codec, cip_err *err)
{
    static const char *const known_as[][2] = { { "gzip", "zlib" },
                                               { "deflate", "zlib" },
                                               { "zstandard", "zstd" },
                                               { "bzip2", "bzp2" },
                                               { "bz2", "bzp2" } };
    static const char *const before[] = { "expected the codec ", "expected one of the codecs " };
    char list[sizeof err->text], wanted[32], *rest = NULL;
    const char *name = NULL;
    const bool second = strncmp(err->text, before[1], strlen(before[1])) == 0;
    const size_t start = strlen(before[second]);
    if (codec == NULL || err->code != CIP_ERR_UNSUPPORTED ||
        strncmp(err->text, before[second], start) != 0)
        return;
    snprintf(wanted, sizeof wanted, "%.*s", (int)strcspn(codec, ":"), codec);
    for (size_t i = 0; i < sizeof known_as / sizeof *known_as; i++)
        if (strcasecmp(known_as[i][0], wanted) == 0)
            snprintf(wanted, sizeof wanted, "%s", known_as[i][1]);
    snprintf(list, sizeof list, "%s", err->text + start);
    suggestion s = { .wanted = wanted };
    for (char *w = strtok_r(list, ", ", &rest); w != NULL; w = strtok_r(NULL, ", ", &rest)) {
        if (strcmp(w, "found") == 0 || strcmp(w, "for") == 0 || strcmp(w, "in") == 0)
            break; /* the end of the list */
        if (strcmp(w, wanted) == 0)
            name = w;
        else if (strcmp(w, "or") != 0)
            suggest_offer(&s, w);
    }
    if (name == NULL)
        name = suggest_found(&s);
    const size_t n = strlen(err->text);
    if (name != NULL)
        snprintf(err->text + n, sizeof err->text - n, "; did you mean '%s'?", name);
}

/* Whether the output's format refused an option. */
static bool is_of_output(const opts *o, const cip_err *err)
{
    return err->code == CIP_ERR_UNSUPPORTED &&
           ((o->codec != NULL && (strncmp(err->text, "expected the codec", 18) == 0 ||
                                  strncmp(err->text, "expected one of the codecs", 26) == 0 ||
                                  strncmp(err->text, "expected no codec", 17) == 0)) ||
            (o->noption != 0 && strstr(err->text, " has no option '") != NULL));
}

/* What the options say of the output. */
static void fill(const opts *o, cip_convert_options *c)
{
    c->checksum = opts_checksum(o);
    c->level = opts_level(o);
    c->version = o->standard;
    c->storage = o->inlined ? "inline" : NULL;
    c->resolve_refs = o->resolve_refs;
    c->tree_slack = opts_tree_slack(o);
    c->align = o->align;
    c->format = o->format;
    c->path = o->path;
    c->codec = o->codec;
    c->format_options = o->format_options;
    c->byteorder = o->byteorder;
    c->accept_loss = o->accept_loss;
    c->overwrite = o->overwrite;
}

/* By calls: arrays of several files, or a new one. */
static int by_calls(const opts *o, const cip_convert_options *c)
{
    cip_limits limits;
    const cip_open_options open = open_options(o, &limits);
    uint64_t at = 0;
    talk t = { .bar = o->bar,
               .file = o->pos[o->npos - 1],
               .json = o->json,
               .at_end = o->at_end ? &at : NULL };
    const cip_change_options w = { .size = sizeof w,
                                   .format = c->format,
                                   .version = c->version,
                                   .codec = c->codec,
                                   .byteorder = c->byteorder,
                                   .checksum = c->checksum,
                                   .tree_slack = c->tree_slack,
                                   .align = c->align,
                                   .level = c->level,
                                   .overwrite = c->overwrite,
                                   .threads = open.threads,
                                   .limits = open.limits,
                                   .format_options = c->format_options,
                                   .accept_loss = c->accept_loss,
                                   .on_note = on_loss,
                                   .at_end = o->at_end ? &at : NULL,
                                   .progress = on_bytes,
                                   .user = &t };
    uint64_t nbytes = 0;
    for (int i = 0; i + 1 < o->npos; i++)
        nbytes += file_nbytes(o->pos[i]);
    note_slow_codec(o, nbytes);
    const int rc = o->fill != NULL     ? convert_filled(o, &w)
                   : o->concat != NULL ? convert_concat(o, &w, on_loss, &t)
                                       : convert_several(o, &w, on_loss, &t);
    hide_progress(o->bar);
    if (rc == EXIT_FINE && !o->at_end)
        note_unshrunk(o, t.file, NULL, on_loss, &t);
    if (rc != EXIT_USAGE)
        json_end(&t);
    if (rc == EXIT_FINE)
        say_place(&t, t.file);
    return rc;
}

/* All but --each. */
static int convert_one(const opts *o, talk *t)
{
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_err err = CIP_ERR_INIT;
    uint64_t at = 0;
    cip_convert_options c = { .size = sizeof c };
    int rc = EXIT_FINE;
    t->at_end = o->at_end ? &at : NULL;
    fill(o, &c);
    if (o->fill != NULL && o->concat != NULL) {
        fputs("cippus: --concat and --fill cannot be combined\n", stderr);
        return EXIT_USAGE;
    }
    const bool calls = o->fill != NULL || o->npos > 2 || (o->concat != NULL && o->npos == 2);
    if (calls && convert_text_kind(o) != NULL) {
        fputs("cippus: csv, tsv, json and jsonl hold one array: one input, no --fill\n", stderr);
        return EXIT_USAGE;
    }
    if (calls)
        return by_calls(o, &c);
    if (o->npos < 2) {
        fputs("cippus: expected IN... OUT; see 'cippus convert --help'\n", stderr);
        return EXIT_USAGE;
    }
    if (o->nname != 0) {
        fputs("cippus: --name requires several inputs\n", stderr);
        return EXIT_USAGE;
    }
    const char *text = convert_text_kind(o);
    if (o->json && strcmp(o->pos[1], "-") == 0) {
        fputs("cippus: --json and the output cannot both go to standard output\n", stderr);
        return EXIT_USAGE;
    }
    if (refuse_terminal(text == NULL && strcmp(o->pos[1], "-") == 0))
        return EXIT_USAGE;
    c.on_loss = on_loss;
    c.progress = on_progress;
    c.user = t;
    c.input = &open;
    c.at_end = o->at_end ? &at : NULL;
    const int kind = input_kind_of(o, o->pos[0]);
    if (kind < 0)
        return EXIT_USAGE;
    if (kind != INPUT_RAW && o->dtype != NULL) {
        fputs(
            "cippus: --dtype applies to raw input only; 'cippus cat --dtype T -o OUT.npy' converts "
            "values\n",
            stderr);
        return EXIT_USAGE;
    }
    note_slow_codec(o, file_nbytes(o->pos[0]));
    if (text != NULL) {
        rc = convert_text(o, text, on_loss, t);
        json_end(t);
        return rc;
    }
    cip_status st = convert(o, kind, &c, &rc, &err);
    hide_progress(o->bar);
    if (rc != EXIT_FINE)
        return rc;
    if (st == CIP_OK && !o->at_end)
        note_unshrunk(o, o->pos[1], NULL, on_loss, t);
    json_end(t);
    suggest_codec(o->codec, &err);
    if (strcmp(err.part, "output") == 0 || is_of_output(o, &err))
        return complain(o->pos[1], &err);
    if (st == CIP_OK)
        say_place(t, o->pos[1]);
    if (st == CIP_OK)
        return EXIT_FINE;
    suggest_path_in(o->pos[0], o, o->path, true, &err);
    rc = input_complain(o->pos[0], &err);
    if (st == CIP_ERR_CHECKSUM)
        fputs("cippus: hint: --no-check converts data that do not match their checksum\n", stderr);
    return rc;
}

int cmd_convert(const opts *o)
{
    talk t = { .bar = o->bar, .file = o->pos[0], .json = o->json };
    return o->each ? convert_each(o) : convert_one(o, &t);
}

int convert_one_of_each(const opts *o)
{
    talk t = { .bar = o->bar, .file = o->pos[0], .json = o->json, .output = o->pos[1] };
    const int rc = convert_one(o, &t);
    hide_progress(o->bar);
    if (!o->json)
        return rc;
    json_end_findings(&t);
    printf(", \"exit_status\": %d}", rc);
    return rc;
}
