/* SPDX-License-Identifier: BSD-3-Clause
 * cippus cat: array data, points, masks, blocks. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "commands.h"
#include "input.h"
#include "printed.h"
#include "print.h"
#include "suggest.h"

/* An option that goes with what it does not fit. */
static int conflict(const char *option, const char *with)
{
    fprintf(stderr, "cippus: %s cannot be combined with %s; see 'cippus cat --help'\n", option,
            with);
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
    if (d == NULL)
        return complain(o->pos[0], &err);
    size_t each = (size_t)cip_dtype_itemsize(d), all;
    bool fits = !__builtin_mul_overflow(n, each, &all) && all <= most_bytes(o);
    char *values = fits ? malloc(all + 1) : NULL;
    if (values == NULL) {
        fputs("cippus: --points: expected elements that fit into memory; see --max-memory\n",
              stderr);
        return EXIT_FAILED;
    }
    uint8_t *mask = calloc(n + 1, 1);
    const cip_read_args args = {
        .size = sizeof args, .dtype = d, .dst = values, .dst_nbytes = n * each, .mask = mask
    };
    if (mask == NULL || cip_read_points_into(t->array, n, p->coord, &args, &err) != CIP_OK) {
        free(values);
        free(mask);
        return mask == NULL ? EXIT_FAILED : complain(o->pos[0], &err);
    }
    if (raw)
        write_stdout(NULL, values, n * each);
    for (size_t i = 0; fine && !raw && i < n; i++)
        fine = mask[i] != 0 ? puts("--") >= 0 : print_value(d, values + i * each);
    free(values);
    free(mask);
    return fine ? EXIT_FINE : EXIT_FAILED;
}

static int cat_points(const target *t, const opts *o)
{
    points p;
    if (t->args.field[0] != '\0' || t->args.selection != NULL)
        return conflict("--points", "a field or slice");
    int rc = points_read(o->points, cip_array_ndim(t->array), o, &p);
    if (rc == EXIT_FINE)
        rc = print_points(t, &p, o);
    free(p.coord);
    return rc;
}

/* --- arrays --------------------------------------------------------------------------------- */

/* Options that say different things; 0 when there are none. */
static int check_options(const opts *o)
{
    bool text = o->to == NULL || strcmp(o->to, "text") == 0;
    bool plain = o->to == NULL && o->dtype == NULL && o->as == NULL && o->points == NULL &&
                 !o->mask && !o->column_major;
    if (o->preview && (o->to != NULL || o->dtype != NULL || o->points != NULL || o->mask ||
                       o->block >= 0 || o->chunk >= 0 || o->follow || o->out != NULL))
        return conflict("--preview", "an output other than text on standard output");
    if (o->stored && o->block < 0 && o->chunk < 0) {
        fputs("cippus: --stored requires --block or --chunk; see 'cippus cat --help'\n", stderr);
        return EXIT_USAGE;
    }
    if (o->chunk >= 0 && (!plain || o->block >= 0 || o->follow || o->npos > 2))
        return conflict("--chunk", "a slice or other options but --stored");
    if (o->block >= 0 && (o->npos > 1 || o->to != NULL || o->dtype != NULL || o->as != NULL))
        return conflict("--block", "a path, slice, --to, --dtype or --as");
    if (o->block >= 0 && (o->points != NULL || o->mask || o->column_major))
        return conflict("--block", "--points, --mask or --column-major");
    if (o->mask && (o->dtype != NULL || o->as != NULL))
        return conflict("--mask", "--dtype or --as");
    if (o->points != NULL && (o->as != NULL || o->mask || o->column_major || o->accept_loss))
        return conflict("--points", "--as, --mask, --column-major or --accept-loss");
    if (o->points != NULL && !text && strcmp(o->to, "raw") != 0)
        return conflict("--points", "an output other than --to text or raw");
    if (o->follow && (o->block >= 0 || o->points != NULL || o->column_major))
        return conflict("--follow", "--block, --points or --column-major");
    if (o->follow && o->out != NULL)
        return conflict("--follow", "-o");
    if (o->follow && strcmp(o->pos[0], "-") == 0)
        return conflict("--follow", "standard input");
    if (o->follow && !text && strcmp(o->to, "raw") != 0 && strcmp(o->to, "csv") != 0)
        return conflict("--follow", "an output other than --to text, raw or csv");
    return 0;
}

int cat_failed(const target *t, const opts *o, cip_err *err)
{
    if (o->npos > 1)
        suggest_path(t->file, o->pos[1], true, err);
    return complain(o->pos[0], err);
}

static int cat_array(target *t, const opts *o)
{
    cip_err err = CIP_ERR_INIT;
    if (o->preview) {
        const int rc = show_preview(o, t);
        if (rc != EXIT_FINE)
            return rc;
    }
    t->args.take_mask = o->mask;
    if (o->to == NULL && !o->all && isatty(STDOUT_FILENO)) {
        const int rc = cat_edges(t, o);
        print_warnings(o->pos[0], t->file, t->nwarning);
        return rc;
    }
    const cip_status st = export_stdout(t->array, &t->args, o->to != NULL ? o->to : "text", &err);
    hide_progress(o->bar);
    print_warnings(o->pos[0], t->file, t->nwarning); /* what the output could not hold */
    return st == CIP_OK ? EXIT_FINE : cat_failed(t, o, &err);
}

static int cat(const opts *o)
{
    target t;
    if (o->block >= 0)
        return cat_block(o);
    if (o->follow)
        return cat_follow(o);
    int rc = target_open(o, false, &t);
    if (rc != EXIT_FINE)
        return rc;
    if (o->chunk >= 0)
        rc = t.args.field[0] != '\0' || t.args.selection != NULL
                 ? conflict("--chunk", "a field or slice")
                 : cat_chunk(t.array, o);
    else
        rc = o->points != NULL ? cat_points(&t, o) : cat_array(&t, o);
    target_close(&t);
    return finish_stdout(rc);
}

int cmd_cat(const opts *o)
{
    opts named = *o; /* what the output's name tells */
    const char *out = o->out != NULL ? o->out : "-";
    if (o->to == NULL && o->block < 0 && o->chunk < 0)
        named.to = output_kind(out);
    int rc = check_options(&named);
    if (rc != 0)
        return rc;
    const bool binary =
        o->block >= 0 || o->chunk >= 0 ||
        (named.to != NULL && (strcmp(named.to, "raw") == 0 || strcmp(named.to, "npy") == 0));
    if (refuse_terminal(binary && strcmp(out, "-") == 0))
        return EXIT_USAGE;
    rc = output_begin(o, out);
    return rc == EXIT_FINE ? output_end(o, out, cat(&named)) : rc;
}
