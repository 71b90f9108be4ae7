/* SPDX-License-Identifier: BSD-3-Clause
 * Comparing two files: first their trees, where arrays are passed over, then the arrays that both
 * list by the same path. */
#include "cippus/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/sized.h"
#include "core/comparing/differ.h"
#include "core/reading/lacks.h"

#define SECOND_FILE "second file" /* part of errors that are not of the first */

enum { MAX_TOLD = 1000 };

cip_status cip_differ_tell(cip_differ *d, const cip_difference *what, cip_err *err, const char *fmt,
                           ...)
{
    char text[1024];
    cip_difference told = *what;
    va_list ap;
    if (d->n++ >= d->o.max_told || d->o.on_difference == NULL)
        return CIP_OK;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    told.text = text;
    if (what->kind != CIP_DIFF_DATA)
        told.max_abs = told.max_rel = (double)NAN;
    return d->o.on_difference(d->o.user, &told) == 0
               ? CIP_OK
               : cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
}

static cip_status tell_lack(cip_differ *d, const cip_file *f, const char *path, cip_lacking what,
                            const void *of, cip_err *err)
{
    const cip_finding *lack = cip_lack_of(&f->env, what, of);
    const cip_difference told = { .kind = CIP_DIFF_UNREADABLE,
                                  .code = lack != NULL ? lack->code : CIP_OK,
                                  .path = path };
    if (lack == NULL)
        return CIP_OK;
    return cip_differ_tell(d, &told, err, "not readable in %s file: %s",
                           f == d->b ? "the second" : "the first", lack->text);
}

/* What the tree as a whole lacks, and bytes that nothing shows. */
static cip_status tell_lacks(cip_differ *d, const cip_file *f, cip_err *err)
{
    CIP_TRY(tell_lack(d, f, "", CIP_LACKS_NODE, NULL, err));
    return tell_lack(d, f, "", CIP_LACKS_BYTES, NULL, err);
}

cip_status cip_differ_lacks(cip_differ *d, const char *path, cip_lacking what, const void *of_a,
                            const void *of_b, cip_err *err)
{
    CIP_TRY(of_a != NULL ? tell_lack(d, d->a, path, what, of_a, err) : CIP_OK);
    return of_b != NULL && d->a != d->b ? tell_lack(d, d->b, path, what, of_b, err) : CIP_OK;
}

bool cip_differ_ignores(const cip_differ *d, const char *path)
{
    for (size_t i = 0; i < d->o.nignore; i++)
        if (cip_path_fits_above(d->o.ignore[i], path))
            return true;
    return false;
}

cip_status cip_differ_progress(cip_differ *d, uint64_t done, cip_err *err)
{
    const uint64_t all = d->before + cip_min_u64(done, d->array);
    if (d->o.progress == NULL ||
        d->o.progress(d->o.user, cip_min_u64(all, d->total), d->total) == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
}

/* --- arrays by their paths -------------------------------------------------------------------- */

/* A quantity's path leads to the array of its value, which is listed by its own path as well. */
static bool is_quantity(const cip_file *f, const cip_array *a, cip_buf *path)
{
    static const char step[] = "/value";
    path->len = 0;
    return a->node == NULL && cip_buf_puts(path, a->path, NULL) == CIP_OK &&
           cip_buf_puts(path, step, NULL) == CIP_OK &&
           cip_file_array_at(f, (const char *)path->ptr, path->len) != NULL;
}

static cip_status tell_alone(cip_differ *d, const cip_array *a, bool second, cip_err *err)
{
    const cip_node *tree = cip_file_tree(second ? d->b : d->a);
    if (d->forms && tree != NULL && cip_tree_get(tree, a->path, NULL) != NULL)
        return CIP_OK; /* it was told with the trees */
    const cip_difference what = { .kind = second ? CIP_DIFF_ONLY_B : CIP_DIFF_ONLY_A,
                                  .path = a->path };
    return cip_differ_tell(d, &what, err, "only in %s file: an array",
                           second ? "the second" : "the first");
}

/* The arrays of one file, with what the other has by their paths; of the second file those that the
 * first does not have. */
static cip_status compare_lists(cip_differ *d, bool second, cip_err *err)
{
    const cip_file *f = second ? d->b : d->a, *other = second ? d->a : d->b;
    cip_buf path = { .mem = d->mem };
    cip_status st = CIP_OK;
    for (size_t i = 0; st == CIP_OK && i < f->layout->narray; i++) {
        const cip_array *a = f->layout->array[i];
        if (cip_differ_ignores(d, a->path) || is_quantity(f, a, &path))
            continue;
        const cip_array *b = cip_file_array_at(other, a->path, strlen(a->path));
        if (b == NULL)
            st = tell_alone(d, a, second, err);
        else if (!second)
            st = cip_differ_arrays(d, a->path, (cip_diff_side){ a, "" }, (cip_diff_side){ b, "" },
                                   err);
    }
    cip_buf_clear(&path);
    return st;
}

/* The array of a file that has one, or NULL. */
static const cip_array *only_array(const cip_file *f)
{
    size_t at = 0;
    const cip_array *a = cip_file_next_array(f, NULL, &at);
    return a != NULL && cip_file_next_array(f, NULL, &at) == NULL ? a : NULL;
}

static cip_status compare_files(cip_differ *d, cip_err *err)
{
    const cip_array *a = only_array(d->a), *b = only_array(d->b);
    if (d->forms) {
        CIP_TRY(tell_lacks(d, d->a, err));
        CIP_TRY(d->a != d->b ? tell_lacks(d, d->b, err) : CIP_OK);
        CIP_TRY(cip_differ_nodes(d, cip_file_tree(d->a), cip_file_tree(d->b), "", err));
    } else if (a != NULL && b != NULL) {
        if (cip_differ_ignores(d, a->path))
            return CIP_OK;
        return cip_differ_arrays(d, a->path, (cip_diff_side){ a, "" }, (cip_diff_side){ b, "" },
                                 err);
    }
    CIP_TRY(compare_lists(d, false, err));
    return compare_lists(d, true, err);
}

/* --- one node, array or field ----------------------------------------------------------------- */

/* What a path names: an array, perhaps with a field, or a node (a quantity too, for its unit). A
 * file that is one array, without a path, has it by any path that names nothing else. */
static cip_status find_side(const cip_differ *d, const cip_file *f, const char *path,
                            cip_diff_side *side, const cip_node **node, cip_err *err)
{
    const cip_array *only = only_array(f), *a = cip_file_array_at(f, path, strlen(path));
    cip_buf buf = { .mem = d->mem };
    cip_err why = CIP_ERR_INIT;
    if (a != NULL && is_quantity(f, a, &buf))
        a = NULL;
    cip_buf_clear(&buf);
    *node = a == NULL ? cip_tree_get(cip_file_tree(f), path, NULL) : NULL;
    *side = (cip_diff_side){ a, "" };
    if (a != NULL || *node != NULL)
        return CIP_OK;
    side->array = cip_find_field(f, path, &side->field, &why);
    if (side->array != NULL)
        return CIP_OK;
    *side = (cip_diff_side){ only, "" };
    return only != NULL && only->path[0] == '\0' ? CIP_OK
                                                 : cip_err_give(err, &why, (cip_status)why.code);
}

static cip_status compare_paths(cip_differ *d, cip_err *err)
{
    const char *path_a = d->o.path_a, *path_b = d->o.path_b != NULL ? d->o.path_b : path_a;
    cip_diff_side a, b;
    const cip_node *node_a, *node_b;
    CIP_TRY(find_side(d, d->a, path_a, &a, &node_a, err));
    cip_err why = CIP_ERR_INIT;
    if (find_side(d, d->b, path_b, &b, &node_b, &why) != CIP_OK) {
        snprintf(why.part, sizeof why.part, SECOND_FILE);
        return cip_err_give(err, &why, (cip_status)why.code);
    }
    if (a.array != NULL && b.array != NULL)
        return cip_differ_arrays(d, path_a, a, b, err);
    if (a.array == NULL && b.array == NULL)
        return cip_differ_nodes(d, node_a, node_b, path_a, err);
    const cip_difference what = { .kind = CIP_DIFF_TYPE, .path = path_a };
    return cip_differ_tell(d, &what, err, "%s and %s", a.array != NULL ? "an array" : "no array",
                           b.array != NULL ? "an array" : "no array");
}

/* --- the call --------------------------------------------------------------------------------- */

static cip_status check_options(const cip_diff_options *o, cip_err *err)
{
    const bool good = o->rtol >= 0 && o->atol >= 0 && isfinite(o->rtol) && isfinite(o->atol);
    if (!good)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected tolerances of at least 0, found rtol %g and atol %g", o->rtol,
                        o->atol);
    if (o->path_b != NULL && o->path_a == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected path_a, because path_b is given");
    if (o->nignore != 0)
        CIP_TRY(cip_arg_given(o->ignore, "patterns to ignore", err));
    for (size_t i = 0; i < o->nignore; i++)
        CIP_TRY(cip_arg_given(o->ignore[i], "a pattern to ignore", err));
    return CIP_OK;
}

/* Bytes of all arrays. */
static uint64_t total_of(const cip_file *f)
{
    uint64_t total = 0, n;
    size_t at = 0;
    for (const cip_array *a; (a = cip_file_next_array(f, NULL, &at)) != NULL;)
        if (a->st != CIP_OK || !cip_shape_nelem(a->view.ndim, a->view.shape, &n) ||
            cip_mul_overflow(n, a->dtype->itemsize, &n) || cip_add_overflow(total, n, &total))
            continue;
    return total;
}

cip_status cip_diff(const cip_file *a, const cip_file *b, const cip_diff_options *opts,
                    uint64_t *ndifferences, cip_err *err)
{
    if (a == NULL || b == NULL)
        return cip_fail_null(err, "two files");
    err = cip_err_enter(err);
    cip_differ d = { .a = a, .b = b, .mem = (cip_mem *)&a->env.mem };
    CIP_TRY(CIP_SIZED_TAKE(cip_diff_options, opts, &d.o, err));
    CIP_TRY(check_options(&d.o, err));
    if (d.o.max_told == 0)
        d.o.max_told = MAX_TOLD;
    d.forms = a->format == b->format;
    d.total = total_of(a);
    CIP_TRY(d.o.path_a != NULL ? compare_paths(&d, err) : compare_files(&d, err));
    if (ndifferences != NULL)
        *ndifferences = d.n;
    return CIP_OK;
}
