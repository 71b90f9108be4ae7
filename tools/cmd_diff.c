/* SPDX-License-Identifier: BSD-3-Clause
 * cippus diff: a line for each difference of two files; exit 1 where there is one. */
#include <inttypes.h>
#include <string.h>

#include "commands.h"
#include "print.h"
#include "suggest.h"

typedef struct printer {
    const opts *o;
    uint64_t n; /* printed */
} printer;

static const char *kind_name(cip_diff_kind kind)
{
    static const char *const names[] = { "",    "only_a", "only_b", "type", "value",
                                         "tag", "dtype",  "shape",  "data", "unreadable" };
    return names[kind];
}

static void print_text(const cip_difference *x)
{
    print_escaped(stdout, x->path[0] != '\0' ? x->path : ".");
    fputs(": ", stdout);
    if (x->kind >= CIP_DIFF_DTYPE && x->kind <= CIP_DIFF_SHAPE)
        printf("%s ", kind_name(x->kind));
    print_words(stdout, x->text);
    putchar('\n');
}

static void print_json(const printer *p, const cip_difference *x)
{
    fputs(p->n == 0 ? "\n {\"path\": " : ",\n {\"path\": ", stdout);
    print_json_string(stdout, x->path);
    printf(", \"kind\": \"%s\", \"text\": ", kind_name(x->kind));
    print_json_string(stdout, x->text);
    if (x->kind == CIP_DIFF_UNREADABLE)
        printf(", \"code\": \"%s\"", cip_status_name(x->code));
    if (x->kind == CIP_DIFF_DATA) {
        printf(", \"elements\": %" PRIu64 ", \"differing\": %" PRIu64 ", \"first\": ", x->nelem,
               x->ndiffer);
        print_shape(stdout, x->first, x->ndim);
        fputs(", \"max_abs\": ", stdout);
        print_json_double(stdout, x->max_abs);
        fputs(", \"max_rel\": ", stdout);
        print_json_double(stdout, x->max_rel);
    }
    putchar('}');
}

static int print_difference(void *user, const cip_difference *x)
{
    printer *p = user;
    hide_progress(p->o->bar);
    if (p->o->json)
        print_json(p, x);
    else
        print_text(x);
    p->n++;
    return 0;
}

static int tell_progress(void *user, uint64_t done, uint64_t total)
{
    return show_progress(((const printer *)user)->o->bar, done, total);
}

static void print_end(const printer *p, uint64_t n)
{
    if (p->o->json)
        printf("%s], \"count\": %" PRIu64 "}\n", p->n != 0 ? "\n" : "", n);
    else if (n > p->n)
        printf("and %" PRIu64 " more\n", n - p->n);
}

static void print_start(const opts *o)
{
    if (!o->json)
        return;
    fputs("{\"a\": ", stdout);
    print_json_string(stdout, o->pos[0]);
    fputs(", \"b\": ", stdout);
    print_json_string(stdout, o->pos[1]);
    fputs(", \"differences\": [", stdout);
}

static int compare(const opts *o, const cip_file *a, const cip_file *b)
{
    printer p = { .o = o };
    uint64_t n = 0;
    cip_err err = CIP_ERR_INIT;
    const cip_diff_options d = { .size = sizeof d,
                                 .rtol = o->rtol,
                                 .atol = o->atol,
                                 .ignore = o->ignores,
                                 .nignore = o->nignore,
                                 .path_a = o->npath > 0 ? o->paths[0] : NULL,
                                 .path_b = o->npath > 1 ? o->paths[1] : NULL,
                                 .ignore_tags = o->ignore_tags,
                                 .bookkeeping = o->bookkeeping,
                                 .max_told = o->limit,
                                 .on_difference = print_difference,
                                 .progress = tell_progress,
                                 .user = &p };
    print_start(o);
    const cip_status st = cip_diff(a, b, &d, &n, &err);
    hide_progress(o->bar);
    print_end(&p, n > p.n ? n : p.n);
    if (st == CIP_OK)
        return n == 0 ? EXIT_FINE : EXIT_FINDINGS;
    const bool second = strcmp(err.part, "second file") == 0;
    if (second)
        err.part[0] = '\0';
    suggest_path(second ? b : a, second && d.path_b != NULL ? d.path_b : d.path_a, false, &err);
    return complain(o->pos[second], &err);
}

int cmd_diff(const opts *o)
{
    if (o->npath > 2) {
        fputs("cippus: diff: expected --path at most twice, of either file\n", stderr);
        return EXIT_USAGE;
    }
    cip_file *a = open_file(o->pos[0], o);
    if (a == NULL)
        return EXIT_FAILED;
    int rc = EXIT_FAILED;
    cip_file *b = open_file(o->pos[1], o);
    if (b != NULL)
        rc = compare(o, a, b);
    cip_file_close(b);
    cip_file_close(a);
    return finish_stdout(rc);
}
