/* SPDX-License-Identifier: BSD-3-Clause
 * cippus cat: array data, points, masks, blocks. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "print.h"

/* An option that goes with what it does not fit. */
static int conflict(const char *option, const char *with)
{
    fprintf(stderr, "cippus: %s does not go with %s; see 'cippus cat --help'\n", option, with);
    return EXIT_USAGE;
}

/* --- blocks --------------------------------------------------------------------------------- */

static int cat_block(const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    static char piece[1 << 16];
    cip_file *f = open_file(o->pos[0], o);
    if (f == NULL)
        return EXIT_FAILED;
    print_warnings(o->pos[0], f, 0);
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

static bool print_value(const cip_dtype *d, const char *value)
{
    size_t n = cip_format_element(d, value, NULL, 0);
    char *text = malloc(n + 1);
    if (text == NULL)
        return false;
    cip_format_element(d, value, text, n + 1);
    puts(text);
    free(text);
    return true;
}

/* The values of the points, one a line (or as they are with --to raw). */
static int print_points(const target *t, const points *p, const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    int ndim = cip_array_ndim(t->array);
    size_t n = ndim == 0 ? 0 : p->n / (size_t)ndim;
    bool raw = o->to != NULL && strcmp(o->to, "raw") == 0, fine = true;
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
    for (size_t i = 0; fine && !raw && i < n; i++)
        fine = print_value(d, values + i * each);
    free(values);
    return fine ? EXIT_FINE : EXIT_FAILED;
}

static int cat_points(const target *t, const opts *o)
{
    points p = { 0 };
    int rc = EXIT_FAILED;
    if (t->args.field[0] != '\0' || t->args.selection != NULL)
        return conflict("--points", "a field or slice");
    if (read_points(o->points, cip_array_ndim(t->array), &p))
        rc = print_points(t, &p, o);
    free(p.coord);
    return rc;
}

/* --- arrays --------------------------------------------------------------------------------- */

/* Options that say different things; 0 when there are none. */
static int check_options(const opts *o)
{
    bool text = o->to == NULL || strcmp(o->to, "text") == 0;
    if (o->stored && o->block < 0)
        return conflict("--stored", "no --block");
    if (o->block >= 0 && (o->npos > 1 || o->to != NULL || o->dtype != NULL || o->as != NULL))
        return conflict("--block", "a path, slice, --to, --dtype or --as");
    if (o->block >= 0 && (o->points != NULL || o->mask || o->column_major))
        return conflict("--block", "--points, --mask or --column-major");
    if (o->mask && (o->dtype != NULL || o->as != NULL))
        return conflict("--mask", "--dtype or --as");
    if (o->points != NULL && (o->as != NULL || o->mask || o->column_major))
        return conflict("--points", "--as, --mask or --column-major");
    if (o->points != NULL && !text && strcmp(o->to, "raw") != 0)
        return conflict("--points", "anything but --to text or raw");
    if (o->follow && (o->block >= 0 || o->points != NULL || o->column_major))
        return conflict("--follow", "--block, --points or --column-major");
    if (o->follow && strcmp(o->pos[0], "-") == 0)
        return conflict("--follow", "standard input");
    if (o->follow && !text && strcmp(o->to, "raw") != 0 && strcmp(o->to, "csv") != 0)
        return conflict("--follow", "anything but --to text, raw or csv");
    return 0;
}

static int cat_array(target *t, const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    t->args.take_mask = o->mask;
    cip_status st =
        cip_export(t->array, &t->args, o->to != NULL ? o->to : "text", write_stdout, NULL, &err);
    end_progress(&t->bar);
    print_warnings(o->pos[0], t->file, t->nwarning); /* what the output could not hold */
    return st == CIP_OK ? EXIT_FINE : complain(o->pos[0], &err);
}

int cmd_cat(const opts *o)
{
    target t;
    int rc = check_options(o);
    if (rc != 0)
        return rc;
    if (o->block >= 0)
        return cat_block(o);
    if (o->follow)
        return cat_follow(o);
    rc = target_open(o, false, &t);
    if (rc != EXIT_FINE)
        return rc;
    rc = o->points != NULL ? cat_points(&t, o) : cat_array(&t, o);
    target_close(&t);
    return finish_stdout(rc);
}
