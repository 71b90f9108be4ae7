/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays of one value, by the call that any program has for them: no element is held, and none is
 * stored where the format has chunks of one value. */
#include "convert_filled.h"

#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "input.h"
#include "print.h"

static int wrong_use(const char *what)
{
    fprintf(stderr, "cippus: %s\n", what);
    return EXIT_USAGE;
}

/* The value as an element; *elem is the caller's to free. */
static cip_status take_value(const cip_file *literal, const opts *o, const cip_dtype *dtype,
                             void **elem, cip_err *err)
{
    const size_t n = (size_t)cip_dtype_itemsize(dtype);
    *elem = calloc(1, n != 0 ? n : 1);
    if (*elem == NULL)
        return CIP_ERR_NOMEM;
    return cip_read_into(
        cip_file_array(literal, 0),
        CIP_READ_ARGS(.dtype = dtype, .dst = *elem, .dst_nbytes = n,
                      .overflow = o->accept_loss ? CIP_OVERFLOW_CLAMP : CIP_OVERFLOW_ERROR),
        err);
}

/* elem NULL: nobody has set them. */
static int write_it(const opts *o, const cip_change_options *how, const cip_dtype *dtype,
                    const void *elem)
{
    const cip_array_options a = { .size = sizeof a, .storage = o->inlined ? "inline" : NULL };
    int64_t shape[CIP_MAX_NDIM];
    int ndim;
    cip_err err = CIP_ERR_INIT, why = CIP_ERR_INIT;
    cip_change *w;
    if (!parse_shape(o->shape, false, &ndim, shape))
        return wrong_use("--shape: expected lengths such as 100,3");
    if (cip_create(o->pos[0], how, &w, &err) != CIP_OK)
        return complain(o->pos[0], &err);
    /* nobody gave a name: none, where the format can do without */
    if (o->nname != 0)
        cip_change_put_filled(w, o->names[0], dtype, ndim, shape, elem, &a, &err);
    else if (cip_change_put_filled(w, "", dtype, ndim, shape, elem, &a, &why) == CIP_ERR_ARG &&
             cip_change_forget_failure(w, &err) == CIP_OK)
        cip_change_put_filled(w, "data", dtype, ndim, shape, elem, &a, &err);
    const cip_status st = cip_change_commit(&w, &err);
    cip_change_abort(&w);
    return st == CIP_OK ? EXIT_FINE : complain(o->pos[0], &err);
}

static int fill_with(const opts *o, const cip_change_options *how, const cip_file *literal,
                     bool unset)
{
    cip_err err = CIP_ERR_INIT;
    void *elem = NULL;
    int rc = EXIT_FINE;
    cip_dtype *dtype = dtype_option("--dtype", o->dtype, &rc);
    if (dtype == NULL)
        return rc;
    if (!unset && take_value(literal, o, dtype, &elem, &err) != CIP_OK)
        rc = complain(o->fill, &err);
    else
        rc = write_it(o, how, dtype, elem);
    free(elem);
    cip_dtype_free(dtype);
    return rc;
}

int convert_filled(const opts *o, const cip_change_options *how)
{
    strbuf literal = { 0 };
    int rc;
    if (o->npos != 1)
        return wrong_use("--fill makes a new array: it requires an output and no input");
    if (o->dtype == NULL || o->shape == NULL)
        return wrong_use("--fill requires --dtype and --shape");
    if (strcmp(o->pos[0], "-") == 0)
        return wrong_use("a filled array cannot go to standard output");
    if (o->from != NULL || o->path != NULL || o->resolve_refs || o->nname > 1)
        return wrong_use("--from, --path, --resolve-refs and several --name require inputs");
    const bool unset = strcmp(o->fill, "uninit") == 0;
    cip_file *f = literal_open("--fill: ", unset ? "0" : o->fill, &literal, &rc);
    if (f != NULL)
        rc = fill_with(o, how, f, unset);
    cip_file_close(f);
    free(literal.ptr);
    return rc;
}
