/* SPDX-License-Identifier: BSD-3-Clause
 * cippus stat: statistics of one array, or of every array of numbers in a file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "input.h"
#include "print.h"
#include "suggest.h"

static void print_bound(FILE *f, const cip_stats *s, bool json, double v, int64_t whole)
{
    if (s->exact && s->is_unsigned)
        fprintf(f, "%" PRIu64, (uint64_t)whole);
    else if (s->exact)
        fprintf(f, "%" PRId64, whole);
    else if (json)
        print_json_double(f, v);
    else
        fprintf(f, "%.9g", v);
}

/* The array's path, and that of the field in it. */
static void print_label(const cip_array *a, const char *field, bool json)
{
    const char *path = cip_array_path(a);
    strbuf label = { 0 };
    text_add(&label, path, strlen(path));
    if (field != NULL && field[0] != '\0') {
        text_add(&label, "/", path[0] != '\0');
        text_add(&label, field, strlen(field));
    }
    const char *text = label.ptr != NULL ? label.ptr : "";
    if (json)
        print_json_string(stdout, text);
    else
        print_escaped(stdout, text[0] != '\0' ? text : ".");
    free(label.ptr);
}

static void print_text(const cip_array *a, const char *field, const cip_stats *s)
{
    print_label(a, field, false);
    fputs(": min ", stdout);
    print_bound(stdout, s, false, s->min, s->min_int);
    fputs(" max ", stdout);
    print_bound(stdout, s, false, s->max, s->max_int);
    printf(" mean %.9g std %.9g elements %" PRIu64 " nan %" PRIu64 " inf %" PRIu64 " zero %" PRIu64
           " masked %" PRIu64,
           s->mean, s->std, s->nelem, s->nnan, s->ninf, s->nzero, s->nmasked);
    if (s->ninf != 0)
        printf(" finite mean %.9g", s->finite_mean);
    putchar('\n');
}

/* What is printed of one file. */
typedef struct report {
    const opts *o;
    const char *name;
    const cip_file *file;
    bool *any; /* over all files */
} report;

void print_stats_json(FILE *f, const cip_stats *s)
{
    fputs("\"min\": ", f);
    print_bound(f, s, true, s->min, s->min_int);
    fputs(", \"max\": ", f);
    print_bound(f, s, true, s->max, s->max_int);
    fputs(", \"mean\": ", f);
    print_json_double(f, s->mean);
    fputs(", \"finite_mean\": ", f);
    print_json_double(f, s->finite_mean);
    fputs(", \"std\": ", f);
    print_json_double(f, s->std);
    fprintf(f,
            ", \"elements\": %" PRIu64 ", \"nan\": %" PRIu64 ", \"inf\": %" PRIu64
            ", \"zero\": %" PRIu64 ", \"masked\": %" PRIu64,
            s->nelem, s->nnan, s->ninf, s->nzero, s->nmasked);
}

static void print_json(const report *r, const cip_array *a, const char *field, const cip_stats *s)
{
    fputs(*r->any ? ",\n {\"file\": " : "{\"file\": ", stdout);
    print_json_string(stdout, r->name);
    fputs(", \"path\": ", stdout);
    print_label(a, field, true);
    fputs(", ", stdout);
    print_stats_json(stdout, s);
    putchar('}');
}

static int stat_one(const report *r, const cip_array *a, const cip_read_args *args)
{
    cip_stats s = { .size = sizeof s };
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_stat(a, args, &s, &err);
    hide_progress(r->o->bar);
    if (st != CIP_OK && r->o->npos > 1)
        suggest_path(r->file, r->o->pos[1], true, &err);
    if (st != CIP_OK)
        return complain(r->name, &err);
    if (r->o->json)
        print_json(r, a, args->field, &s);
    else
        print_text(a, args->field, &s);
    *r->any = true;
    return EXIT_FINE;
}

static bool has_numbers(const cip_array *a)
{
    cip_kind k = cip_dtype_kind(cip_array_dtype(a));
    return k >= CIP_BOOL && k <= CIP_C128;
}

static void note_no_numbers(const char *path)
{
    fputs("cippus: note: ", stderr);
    print_file_name(stderr, path);
    fputs(": not an array of numbers; for a record, name a field as PATH\n", stderr);
}

/* Every array of numbers. */
static int stat_arrays(const report *r)
{
    int rc = EXIT_FINE;
    bool none = true;
    size_t at = 0;
    cip_read_args args = { .size = sizeof args, .progress = show_progress, .user = r->o->bar };
    r->o->bar->unit = "elements";
    for (const cip_array *a; (a = cip_file_next_array(r->file, NULL, &at)) != NULL;) {
        if (!has_numbers(a) && cip_array_state(a, NULL) == CIP_OK)
            continue; /* what cannot be read is said */
        if (r->o->check)
            note_unchecked(r->name, r->file, a);
        none = false;
        if (stat_one(r, a, &args) != EXIT_FINE)
            rc = EXIT_FAILED;
    }
    if (none)
        note_no_numbers(r->name);
    return rc;
}

static int stat_file(const opts *o, const char *name, bool *any)
{
    int rc;
    report r = { .o = o, .name = name, .any = any };
    cip_file *f = input_open(name, o, &rc);
    if (f == NULL)
        return rc;
    r.file = f;
    print_warnings(name, f, 0);
    if (o->npos > 1 && !o->json) {
        print_file_name(stdout, name);
        puts(":");
    }
    rc = stat_arrays(&r);
    cip_file_close(f);
    return rc;
}

static int stat_target(const opts *o, bool *any)
{
    target t;
    int rc = target_open(o, false, &t);
    if (rc != EXIT_FINE)
        return rc;
    const report r = { .o = o, .name = o->pos[0], .file = t.file, .any = any };
    rc = stat_one(&r, t.array, &t.args);
    target_close(&t);
    return rc;
}

int cmd_stat(const opts *o)
{
    bool files, any = false;
    int rc = files_or_path(o, 3, &files);
    if (rc != EXIT_FINE)
        return rc;
    fputs(o->json ? "[" : "", stdout);
    if (o->npos > 1 && !files)
        rc = stat_target(o, &any);
    for (int i = 0; i < o->npos && (files || o->npos == 1); i++) {
        const int one = stat_file(o, o->pos[i], &any);
        rc = one > rc ? one : rc;
    }
    fputs(o->json ? "]\n" : "", stdout);
    return finish_stdout(rc);
}
