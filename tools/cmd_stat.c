/* SPDX-License-Identifier: BSD-3-Clause
 * cippus stat: statistics of one array, or of every array of numbers in a file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "input.h"
#include "print.h"

static void print_bound(const cip_stats *s, bool json, double v, int64_t whole)
{
    if (s->exact && s->is_unsigned)
        printf("%" PRIu64, (uint64_t)whole);
    else if (s->exact)
        printf("%" PRId64, whole);
    else if (json)
        print_json_double(stdout, v);
    else
        printf("%.9g", v);
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
    print_bound(s, false, s->min, s->min_int);
    fputs(" max ", stdout);
    print_bound(s, false, s->max, s->max_int);
    printf(" mean %.9g std %.9g elements %" PRIu64 " nan %" PRIu64 " inf %" PRIu64 " zero %" PRIu64
           " masked %" PRIu64,
           s->mean, s->std, s->nelem, s->nnan, s->ninf, s->nzero, s->nmasked);
    if (s->ninf != 0)
        printf(" finite mean %.9g", s->finite_mean);
    putchar('\n');
}

static void print_json(const cip_array *a, const char *field, const cip_stats *s, bool first)
{
    fputs(first ? "{\"path\": " : ",\n {\"path\": ", stdout);
    print_label(a, field, true);
    fputs(", \"min\": ", stdout);
    print_bound(s, true, s->min, s->min_int);
    fputs(", \"max\": ", stdout);
    print_bound(s, true, s->max, s->max_int);
    fputs(", \"mean\": ", stdout);
    print_json_double(stdout, s->mean);
    fputs(", \"finite_mean\": ", stdout);
    print_json_double(stdout, s->finite_mean);
    fputs(", \"std\": ", stdout);
    print_json_double(stdout, s->std);
    printf(", \"elements\": %" PRIu64 ", \"nan\": %" PRIu64 ", \"inf\": %" PRIu64
           ", \"zero\": %" PRIu64 ", \"masked\": %" PRIu64 "}",
           s->nelem, s->nnan, s->ninf, s->nzero, s->nmasked);
}

static int stat_one(const cip_array *a, const cip_read_args *args, const opts *o, bool first)
{
    cip_stats s;
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_stat(a, args, &s, &err);
    end_progress(args->user);
    if (st != CIP_OK)
        return complain(o->pos[0], &err);
    if (o->json)
        print_json(a, args->field, &s, first);
    else
        print_text(a, args->field, &s);
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
    print_escaped(stderr, path);
    fputs(": no array of numbers; a record's fields are named as PATH\n", stderr);
}

static int stat_all(const opts *o)
{
    int rc;
    cip_file *f = input_open(o->pos[0], o, &rc);
    if (f == NULL)
        return rc;
    rc = EXIT_FINE;
    bool first = true;
    progress bar = { .off = o->no_progress };
    cip_read_args args = { .size = sizeof args, .progress = show_progress, .user = &bar };
    print_warnings(o->pos[0], f, 0);
    fputs(o->json ? "[" : "", stdout);
    for (size_t i = 0; i < cip_file_narray(f); i++) {
        const cip_array *a = cip_file_array(f, i);
        if (!has_numbers(a) && cip_array_state(a, NULL) == CIP_OK)
            continue; /* what cannot be read is said */
        if (o->check)
            note_unchecked(o->pos[0], f, a);
        if (stat_one(a, &args, o, first) != EXIT_FINE)
            rc = EXIT_FAILED;
        else
            first = false;
    }
    fputs(o->json ? "]\n" : "", stdout);
    if (first && rc == EXIT_FINE)
        note_no_numbers(o->pos[0]);
    cip_file_close(f);
    return finish_stdout(rc);
}

int cmd_stat(const opts *o)
{
    target t;
    if (o->npos == 1)
        return stat_all(o);
    int rc = target_open(o, false, &t);
    if (rc != EXIT_FINE)
        return rc;
    fputs(o->json ? "[" : "", stdout);
    rc = stat_one(t.array, &t.args, o, true);
    fputs(o->json ? "]\n" : "", stdout);
    target_close(&t);
    return finish_stdout(rc);
}
