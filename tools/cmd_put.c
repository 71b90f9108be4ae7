/* SPDX-License-Identifier: BSD-3-Clause
 * cippus put: elements of an array replaced in place, from raw bytes, any array or a number; or
 * rows, or an array, that come. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "input.h"
#include "notes.h"
#include "update.h"

/* FILE [PATH] [SLICE] INPUT: a word that starts with "[" is the slice. */
static void split(const opts *o, const char **path, const char **slice)
{
    *path = "";
    *slice = NULL;
    for (int i = 1; i < o->npos - 1; i++) {
        if (o->pos[i][0] == '[' || i == 2)
            *slice = o->pos[i];
        else
            *path = o->pos[i];
    }
}

/* Where nothing is named there are no elements; whether an array is meant to come is the user's to
 * say. */
static void hint(cip_status st, cip_err *err)
{
    const size_t n = strlen(err->text);
    if (st == CIP_ERR_NOT_FOUND && err->part[0] == '\0') /* not the data of an array */
        snprintf(err->text + n, sizeof err->text - n, "; --new adds an array");
}

/* Where rows come: before the one that the slice names, or where it takes none. */
static cip_status find_place(cip_change *edit, const char *path, const char *slice, int *axis,
                             int64_t *start, cip_err *err)
{
    int64_t count = 0;
    cip_status st = cip_change_range(edit, path, slice, axis, start, &count, err);
    if (st != CIP_OK || count <= 1)
        return st;
    err->code = CIP_ERR_ARG;
    snprintf(err->text, sizeof err->text,
             "expected the index of the row to insert before, found a range of %" PRId64, count);
    return CIP_ERR_ARG;
}

static cip_status put_loaded(const opts *o, cip_change *edit, const char *path, const char *slice,
                             const loaded *b, cip_err *err)
{
    int axis;
    int64_t start;
    if (!o->insert)
        return cip_change_write(edit, path, slice, cip_dtype_as_stored(), b->ptr, b->n, err);
    cip_status st = find_place(edit, path, slice, &axis, &start, err);
    return st == CIP_OK ? cip_change_insert(edit, path, axis, start, cip_dtype_as_stored(), b->ptr,
                                            b->n, err)
                        : st;
}

static cip_status put_from(const opts *o, cip_change *edit, const char *path, const char *slice,
                           const cip_array *from, cip_err *err)
{
    int axis;
    int64_t start;
    if (!o->insert)
        return cip_change_write_array(edit, path, slice, from, err);
    cip_status st = find_place(edit, path, slice, &axis, &start, err);
    return st == CIP_OK ? cip_change_insert_array(edit, path, axis, start, from, err) : st;
}

/* Raw bytes are elements of the array's own type where none is given. */
static int put_bytes(const opts *o, const char *path, const char *slice, const char *input)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *edit;
    loaded b;
    int rc = bytes_load(input, o, &b);
    if (rc != EXIT_FINE)
        return rc;
    rc = update_start(o, &edit);
    if (rc == EXIT_FINE) {
        cip_status st = put_loaded(o, edit, path, slice, &b, &err);
        hint(st, &err);
        rc = update_finish(o, edit, st, &err);
    }
    bytes_free(&b);
    return rc;
}

static int tell_note(void *user, const cip_finding *f)
{
    print_told(user, "note: ", f);
    return 0;
}

static int put_array(const opts *o, const char *path, const char *slice, const char *input)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *edit;
    int rc;
    const cip_array_options how = { .size = sizeof how, .storage = o->inlined ? "inline" : NULL };
    strbuf literal = { 0 };
    opts in = *o;
    in.nshard = 0; /* of the file that changes */
    cip_file *f = input_is_literal(o, input) ? literal_open("", input, &literal, &rc)
                                             : input_open(input, &in, &rc);
    if (f == NULL) {
        free(literal.ptr);
        return rc;
    }
    const cip_array *from = cip_find(f, o->path != NULL ? o->path : "", &err);
    note_slow_codec(o, file_nbytes(input));
    rc = from == NULL ? complain(input, &err) : update_start(o, &edit);
    if (rc == EXIT_FINE) {
        cip_status st = o->new_array ? cip_change_put_array(edit, path, from, NULL, &how, &err)
                                     : put_from(o, edit, path, slice, from, &err);
        if (!o->new_array)
            hint(st, &err);
        rc = update_finish(o, edit, st, &err);
        update_hint(o, input, &err);
        if (rc == EXIT_FINE && o->new_array && !o->dry_run)
            note_unshrunk(o, o->pos[0], path, tell_note, (void *)(uintptr_t)o->pos[0]);
    }
    cip_file_close(f);
    free(literal.ptr);
    return rc;
}

int cmd_put(const opts *o)
{
    const char *path, *slice, *input = o->pos[o->npos - 1];
    split(o, &path, &slice);
    const int kind = input_of_update(o, input);
    if (kind < 0)
        return EXIT_USAGE;
    if (o->new_array && (slice != NULL || path[0] == '\0')) {
        fputs("cippus: --new needs the PATH of the new array, and no SLICE\n", stderr);
        return EXIT_USAGE;
    }
    if (o->insert && (slice == NULL || o->new_array)) {
        fputs("cippus: --insert requires a SLICE such as '[100]', and cannot be combined with "
              "--new\n",
              stderr);
        return EXIT_USAGE;
    }
    if (!o->new_array && (o->codec != NULL || o->inlined)) {
        fputs("cippus: --codec and --inline require --new\n", stderr);
        return EXIT_USAGE;
    }
    bool plain = !o->new_array && kind == INPUT_RAW && o->dtype == NULL && o->shape == NULL;
    return plain ? put_bytes(o, path, slice, input) : put_array(o, path, slice, input);
}
