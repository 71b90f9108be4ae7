/* SPDX-License-Identifier: BSD-3-Clause
 * cippus cat: array data, points, masks, blocks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "print.h"

/* --- blocks --------------------------------------------------------------------------------- */

static int cat_block(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    static char piece[1 << 16];
    cip_file *f = open_file(o->pos[0], o);
    if (f == NULL)
        return EXIT_FAILED;
    print_warnings(o->pos[0], f);
    int rc = EXIT_FINE;
    size_t i = (size_t)o->block;
    const cip_block_info *b = cip_file_block(f, i);
    uint64_t n = b == NULL ? 0 : o->stored ? b->stored_nbytes : b->decoded_nbytes;
    if (b == NULL || (!o->stored && b->state != CIP_OK))
        if (cip_block_read(f, i, o->stored, 0, piece, 0, &err) != CIP_OK)
            rc = complain(o->pos[0], &err);
    for (uint64_t at = 0; rc == EXIT_FINE && at < n;) {
        size_t part = n - at < sizeof piece ? (size_t)(n - at) : sizeof piece;
        if (cip_block_read(f, i, o->stored, at, piece, part, &err) != CIP_OK)
            rc = complain(o->pos[0], &err);
        else if (write_stdout(NULL, piece, part) != 0)
            rc = EXIT_FAILED;
        at += part;
    }
    cip_file_close(f);
    return finish_stdout(rc);
}

/* --- points --------------------------------------------------------------------------------- */

typedef struct points {
    int64_t *coord;
    size_t n, cap; /* numbers, not points */
} points;

static bool add_number(points *p, int64_t v)
{
    if (p->n == p->cap) {
        size_t cap = p->cap == 0 ? 1024 : p->cap * 2;
        int64_t *more = realloc(p->coord, cap * sizeof *more);
        if (more == NULL)
            return false;
        p->coord = more;
        p->cap = cap;
    }
    p->coord[p->n++] = v;
    return true;
}

/* One line: ndim integers, separated by blanks or commas. False when it is anything else. */
static bool parse_line(char *line, int ndim, points *p)
{
    int n = 0;
    for (char *at = line;; n++) {
        at += strspn(at, " \t,\r\n");
        if (*at == '\0')
            break;
        char *end;
        errno = 0;
        long long v = strtoll(at, &end, 10);
        if (end == at || errno != 0 || !add_number(p, v))
            return false;
        at = end;
    }
    return n == ndim || n == 0;
}

static bool read_points(const char *path, int ndim, points *p)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    char *line = NULL;
    size_t cap = 0, number = 0;
    bool fine = in != NULL;
    if (in == NULL)
        fprintf(stderr, "cippus: %s: %s\n", path, strerror(errno));
    while (fine && getline(&line, &cap, in) >= 0) {
        number++;
        fine = parse_line(line, ndim, p);
        if (!fine)
            fprintf(stderr, "cippus: %s: line %zu: expected %d integers\n", path, number, ndim);
    }
    free(line);
    if (in != NULL && in != stdin)
        fclose(in);
    return fine;
}

/* The values of the points, one a line (or as they are with --to raw). */
static int print_points(const target *t, const points *p, const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    int ndim = cip_array_ndim(t->array);
    size_t n = ndim == 0 ? 0 : p->n / (size_t)ndim;
    bool raw = o->to != NULL && strcmp(o->to, "raw") == 0;
    const cip_dtype *d = t->args.dtype;
    if (d == NULL)
        d = raw ? cip_array_raw_dtype(t->array, &err) : cip_array_native_dtype(t->array, &err);
    size_t each = (size_t)cip_dtype_itemsize(d);
    char *values = d == NULL ? NULL : calloc(n + 1, each + 1);
    if (values == NULL || cip_read_points(t->array, n, p->coord, d, values, &err) != CIP_OK) {
        free(values);
        return complain(o->pos[0], &err);
    }
    if (raw)
        write_stdout(NULL, values, n * each);
    for (size_t i = 0; !raw && i < n; i++) {
        char text[4096];
        cip_format_element(d, values + i * each, text, sizeof text);
        puts(text);
    }
    free(values);
    return EXIT_FINE;
}

static int cat_points(const target *t, const opts *o)
{
    points p = { 0 };
    int rc = EXIT_FAILED;
    if (t->args.field[0] != '\0' || t->args.selection != NULL) {
        fputs("cippus: --points takes a whole array, not a field or slice\n", stderr);
        return EXIT_USAGE;
    }
    if (read_points(o->points, cip_array_ndim(t->array), &p))
        rc = print_points(t, &p, o);
    free(p.coord);
    return rc;
}

/* --- arrays --------------------------------------------------------------------------------- */

int cmd_cat(const opts *o)
{
    target t;
    cip_err err = CIP_ERR_INIT;
    cip_status st;
    if (o->block >= 0)
        return cat_block(o);
    if (!target_open(o, &t))
        return EXIT_FAILED;
    int rc = EXIT_FINE;
    if (o->points != NULL) {
        rc = cat_points(&t, o);
    } else {
        t.args.take_mask = o->mask;
        st = cip_export(t.array, &t.args, o->to != NULL ? o->to : "text", write_stdout, NULL, &err);
        if (st != CIP_OK)
            rc = complain(o->pos[0], &err);
    }
    target_close(&t);
    return finish_stdout(rc);
}
