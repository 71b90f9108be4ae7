/* SPDX-License-Identifier: BSD-3-Clause
 * One array or table as csv, tsv, JSON or JSON lines: what `cat` prints, under the rules of
 * `convert`. Metadata beside the array are a named loss, unless --path asks for the array alone. */
#include "convert_text.h"

#include <string.h>

#include "commands.h"
#include "convert_several.h"
#include "input.h"
#include "printed.h"
#include "suggest.h"

const char *convert_text_kind(const opts *o)
{
    const char *kind = o->format != NULL ? o->format : output_kind(o->pos[o->npos - 1]);
    static const char *const texts[] = { "csv", "tsv", "json", "jsonl" };
    for (size_t i = 0; kind != NULL && i < sizeof texts / sizeof *texts; i++)
        if (strcmp(kind, texts[i]) == 0)
            return texts[i];
    return NULL;
}

/* Options that say how data are stored, of which such a text has none; NULL: none was given. */
static const char *option_of_storage(const opts *o)
{
    return o->codec != NULL       ? "--codec"
           : o->noption != 0      ? "--chunks, --filter, --option and the like"
           : o->checksum != NULL  ? "--checksum"
           : o->md5 != NULL       ? "--md5"
           : o->standard != NULL  ? "--standard"
           : o->byteorder != NULL ? "--byteorder"
           : o->align != 0        ? "--align"
           : o->tree_slack >= 0   ? "--tree-slack"
           : o->inlined           ? "--inline"
           : o->resolve_refs      ? "--resolve-refs"
           : o->at_end            ? "--at-end"
           : o->level != NULL     ? "--durability"
                                  : NULL;
}

/* The array and field that --path names, or the only one; NULL after a complaint, with its exit
 * status in *rc. */
static const cip_array *find_array(const opts *o, const char *kind, const cip_file *f,
                                   const char **field, int *rc)
{
    cip_err err = CIP_ERR_INIT;
    const cip_array *a = cip_find_field(f, o->path != NULL ? o->path : "", field, &err);
    if (a == NULL && cip_file_narray(f) > 1 && o->path == NULL)
        snprintf(err.text, sizeof err.text, "%s holds one array, the input has %zu; use --path",
                 kind, cip_file_narray(f));
    if (a == NULL) {
        suggest_path(f, o->path, true, &err);
        *rc = complain(o->pos[0], &err);
    }
    return a;
}

static int print_array(const opts *o, const char *kind, const cip_file *f, const cip_array *a,
                       const char *field)
{
    cip_err err = CIP_ERR_INIT;
    const cip_read_args args = {
        .size = sizeof args, .field = field, .progress = show_progress, .user = o->bar
    };
    o->bar->unit = "elements";
    const cip_status st = export_stdout(a, &args, kind, &err);
    hide_progress(o->bar);
    if (st == CIP_OK)
        return EXIT_FINE;
    suggest_path(f, o->path, true, &err);
    const int rc = complain(o->pos[0], &err);
    if (st == CIP_ERR_CHECKSUM)
        fputs("cippus: hint: --no-check converts data that do not match their checksum\n", stderr);
    return rc;
}

static int print_file(const opts *o, const char *kind, const cip_file *f, cip_finding_fn *tell,
                      void *user)
{
    const char *field = NULL;
    int rc = EXIT_FAILED;
    const size_t nwarning = print_warnings(o->pos[0], f, 0);
    const cip_array *a = find_array(o, kind, f, &field, &rc);
    if (a == NULL)
        return rc;
    if (o->path == NULL && tell_left_out(f, "", tell, user) && !o->accept_loss) {
        fputs("cippus: not all of the input can be kept; accept it with --accept-loss\n", stderr);
        return EXIT_FAILED;
    }
    rc = output_begin(o, o->pos[1]);
    if (rc != EXIT_FINE)
        return rc;
    rc = print_array(o, kind, f, a, field);
    print_warnings(o->pos[0], f, nwarning); /* what the text could not hold */
    return output_end(o, o->pos[1], rc);
}

int convert_text(const opts *o, const char *kind, cip_finding_fn *tell, void *user)
{
    const char *option = option_of_storage(o);
    opts in = *o;
    int rc;
    if (option != NULL) {
        fprintf(stderr, "cippus: %s: does not apply to %s\n", option, kind);
        return EXIT_USAGE;
    }
    in.check = !in.no_check;
    cip_file *f = input_open(in.pos[0], &in, &rc);
    if (f == NULL)
        return rc;
    rc = print_file(o, kind, f, tell, user);
    cip_file_close(f);
    return rc;
}
