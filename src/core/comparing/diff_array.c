/* SPDX-License-Identifier: BSD-3-Clause
 * Two arrays: their types, shapes and elements, read part by part and compared on the pool in
 * blocks of a fixed size, whose results are merged in order: they do not depend on the number of
 * threads.
 *
 * Records are read whole first: where all their bytes are the same, and no field has missing items
 * of its own, that is all. Otherwise each field is read by itself and compared, by its name. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "core/comparing/differ.h"
#include "tree/value.h"

enum { BLOCK = 1 << 14 }; /* elements */

typedef struct pair {
    cip_differ *d;
    const char *path;
    cip_read_plan a, b;
    cip_elem_diff elem;
    cip_elem_run run;                           /* of one part */
    uint8_t *elem_a, *elem_b, *mask_a, *mask_b; /* masks: or NULL */
    size_t n;                                   /* elements of the part */
    cip_elem_tally *block, all;
    char first_a[64], first_b[64]; /* the first elements that differ, as text */
} pair;

/* What a failure is of. */
typedef enum whose { OF_NEITHER, OF_FIRST, OF_SECOND } whose;

/* What a failure of one file's array means: a fault of its content is a difference, as it cannot be
 * shown to be equal. */
static cip_status unreadable(cip_differ *d, const char *path, whose of, cip_status st,
                             const cip_err *why, cip_err *err)
{
    const bool content = cip_is_about_content(st) || st == CIP_ERR_LIMIT ||
                         st == CIP_ERR_NOT_FOUND || st == CIP_ERR_RANGE || st == CIP_ERR_TYPE;
    if (of == OF_NEITHER || !content) {
        cip_err_pass(err, why);
        return st;
    }
    const cip_difference what = { .kind = CIP_DIFF_UNREADABLE, .code = st, .path = path };
    return cip_differ_tell(d, &what, err, "not readable in %s file: %s",
                           of == OF_SECOND ? "the second" : "the first", why->text);
}

static cip_status sum_block(void *arg, size_t b, cip_err *err)
{
    pair *p = arg;
    const size_t first = b * BLOCK, end = first + BLOCK < p->n ? first + BLOCK : p->n;
    (void)err;
    p->block[b] = (cip_elem_tally){ 0, 0, (double)NAN, (double)NAN };
    cip_elem_diff_run(&p->elem, &p->run, first, end, &p->block[b]);
    return CIP_OK;
}

static void keep_text(const cip_dtype *t, const uint8_t *elem, const uint8_t *mask, size_t i,
                      char text[64])
{
    size_t n = 64;
    if (mask != NULL && mask[i] != 0)
        memcpy(text, "missing", sizeof "missing");
    else
        n = cip_format_element(t, elem + i * t->itemsize, text, 64);
    if (n > 64)
        memcpy(text + 60, "...", 4);
}

/* The part's elements of one side, and which are missing. */
static cip_status fetch(const cip_read_plan *p, const cip_part *part, uint8_t *elem, uint8_t *mask,
                        cip_err *err)
{
    CIP_TRY(cip_read_plan_fetch(p, part, elem, err));
    return mask != NULL ? cip_read_plan_mask(p, part, mask, err) : CIP_OK;
}

static void compare_part(pair *p, const cip_part *part)
{
    cip_elem_tally sum = { 0, 0, (double)NAN, (double)NAN };
    const size_t nblock = (size_t)cip_div_up(p->n, BLOCK);
    cip_pool_run(p->a.how.pool, nblock, sum_block, p, NULL); /* cannot fail */
    for (size_t b = 0; b < nblock; b++)
        cip_elem_tally_merge(&sum, &p->block[b], 0);
    if (p->all.n == 0 && sum.n != 0) {
        keep_text(p->a.to, p->elem_a, p->mask_a, (size_t)sum.first, p->first_a);
        keep_text(p->b.to, p->elem_b, p->mask_b, (size_t)sum.first, p->first_b);
    }
    cip_elem_tally_merge(&p->all, &sum, cip_read_plan_first_of(&p->a, part));
}

static cip_status make_room(pair *p, size_t most, cip_err *err)
{
    cip_mem *mem = p->d->mem;
    CIP_TRY(cip_mem_zeroed(mem, most, (size_t)p->a.to->itemsize, (void **)&p->elem_a, err));
    CIP_TRY(cip_mem_zeroed(mem, most, (size_t)p->b.to->itemsize, (void **)&p->elem_b, err));
    CIP_TRY(CIP_NEW(mem, &p->block, (size_t)cip_div_up(most, BLOCK), err));
    if (cip_plan_is_masked(&p->a))
        CIP_TRY(cip_mem_zeroed(mem, most, 1, (void **)&p->mask_a, err));
    if (cip_plan_is_masked(&p->b))
        CIP_TRY(cip_mem_zeroed(mem, most, 1, (void **)&p->mask_b, err));
    p->run = (cip_elem_run){ p->elem_a, p->elem_b, p->mask_a, p->mask_b };
    return CIP_OK;
}

static void drop_room(pair *p)
{
    cip_mem_put(p->d->mem, p->elem_a);
    cip_mem_put(p->d->mem, p->elem_b);
    cip_mem_put(p->d->mem, p->block);
    cip_mem_put(p->d->mem, p->mask_a);
    cip_mem_put(p->d->mem, p->mask_b);
    p->elem_a = p->elem_b = p->mask_a = p->mask_b = NULL;
    p->block = NULL;
}

/* All elements into p->all; where `all` is false no further than the first part that differs.
 * *of: whose a failure is. */
static cip_status compare(pair *p, bool all, whose *of, cip_err *err)
{
    cip_status st;
    cip_parts it_a, it_b;
    cip_part part_a, part_b;
    const uint64_t each = cip_max_u64(p->a.to->itemsize, p->b.to->itemsize);
    uint64_t most = cip_piece_elems(cip_max_u64(each, 1)), done = 0;
    *of = OF_FIRST;
    p->all = (cip_elem_tally){ 0, 0, (double)NAN, (double)NAN };
    CIP_GO(cip_read_plan_check_amount(&p->a, err));
    *of = OF_SECOND;
    CIP_GO(cip_read_plan_check_amount(&p->b, err));
    *of = OF_NEITHER;
    cip_parts_start(&it_a, &p->a, most);
    cip_parts_start(&it_b, &p->b, most); /* shapes are equal, and so are the parts */
    CIP_GO(make_room(p, (size_t)cip_min_u64(most, p->a.nelem), err));
    while ((all || p->all.n == 0) && cip_parts_next(&it_a, &part_a) &&
           cip_parts_next(&it_b, &part_b)) {
        *of = OF_FIRST;
        CIP_GO(fetch(&p->a, &part_a, p->elem_a, p->mask_a, err));
        *of = OF_SECOND;
        CIP_GO(fetch(&p->b, &part_b, p->elem_b, p->mask_b, err));
        p->n = (size_t)part_a.nelem;
        compare_part(p, &part_a);
        done += part_a.nelem * p->a.to->itemsize;
        CIP_GO(cip_differ_progress(p->d, done, err));
    }
    st = CIP_OK;
done:
    drop_room(p);
    return st;
}

static cip_status tell_data(const pair *p, cip_err *err)
{
    const cip_elem_tally *t = &p->all;
    int64_t first[CIP_MAX_NDIM];
    cip_selection at = { .n = (uint32_t)p->a.from.ndim };
    char index[CIP_MAX_NDIM * 22], largest[96] = "";
    if (t->n == 0)
        return CIP_OK;
    cip_shape_place(p->a.from.ndim, p->a.from.shape, t->first, first);
    for (int32_t d = 0; d < p->a.from.ndim; d++)
        at.item[d] = (cip_slice)CIP_INDEX(first[d]);
    cip_selection_text(&at, index, sizeof index);
    if (t->max_abs == t->max_abs && t->max_rel == t->max_rel)
        snprintf(largest, sizeof largest, "; largest difference %.6g, relative %.6g", t->max_abs,
                 t->max_rel);
    else if (t->max_abs == t->max_abs)
        snprintf(largest, sizeof largest, "; largest difference %.6g", t->max_abs);
    const cip_difference what = { .kind = CIP_DIFF_DATA,
                                  .path = p->path,
                                  .nelem = p->a.nelem,
                                  .ndiffer = t->n,
                                  .ndim = p->a.from.ndim,
                                  .first = first,
                                  .max_abs = t->max_abs,
                                  .max_rel = t->max_rel };
    return cip_differ_tell(p->d, &what, err,
                           "%" PRIu64 " of %" PRIu64 " elements differ, first at %s: %s and %s%s",
                           t->n, p->a.nelem, index, p->first_a, p->first_b, largest);
}

/* Plans for all of both sides' elements. On failure nothing needs clearing. */
static cip_status prepare(pair *p, cip_diff_side a, cip_diff_side b, whose *of, cip_err *err)
{
    const cip_read_args of_a = { .size = sizeof of_a, .field = a.field };
    const cip_read_args of_b = { .size = sizeof of_b, .field = b.field };
    *of = OF_FIRST;
    CIP_TRY(cip_read_plan_make(a.array, &of_a, CIP_AS_NATIVE, &p->a, err));
    *of = OF_SECOND;
    cip_status st = cip_read_plan_make(b.array, &of_b, CIP_AS_NATIVE, &p->b, err);
    if (st != CIP_OK)
        cip_read_plan_clear(&p->a);
    return st;
}

/* Elements that are no records. */
static cip_status compare_leaf(cip_differ *d, const char *path, cip_diff_side a, cip_diff_side b,
                               cip_err *err)
{
    pair p = { .d = d, .path = path };
    cip_err why = CIP_ERR_INIT;
    whose of = OF_NEITHER;
    cip_status st = prepare(&p, a, b, &of, &why);
    if (st != CIP_OK)
        return unreadable(d, path, of, st, &why, err);
    if (cip_view_same_shape(&p.a.from, &p.b.from)) {
        st = cip_elem_diff_make(p.a.to, p.b.to, d->o.rtol, d->o.atol, &p.elem, &why);
        if (st == CIP_OK && p.elem.how != CIP_UNLIKE)
            st = compare(&p, true, &of, &why);
        if (st == CIP_OK)
            st = tell_data(&p, err);
        else
            st = unreadable(d, path, of, st, &why, err);
    }
    cip_read_plan_clear(&p.a);
    cip_read_plan_clear(&p.b);
    return st;
}

/* Whether whole records are certain to be the same; whatever stands in the way shows with the
 * fields. */
static cip_status same_records(cip_differ *d, cip_diff_side a, cip_diff_side b, bool *same,
                               cip_err *err)
{
    pair p = { .d = d };
    whose of = OF_NEITHER;
    cip_err why = CIP_ERR_INIT;
    *same = false;
    cip_status st = prepare(&p, a, b, &of, &why);
    if (st != CIP_OK)
        return CIP_OK;
    st = cip_elem_diff_make(p.a.to, p.b.to, 0, 0, &p.elem, &why);
    if (st == CIP_OK && p.elem.same && !p.a.as_nan && !p.b.as_nan) {
        st = compare(&p, false, &of, &why);
        *same = st == CIP_OK && p.all.n == 0;
    }
    cip_read_plan_clear(&p.a);
    cip_read_plan_clear(&p.b);
    return st == CIP_ERR_CANCELLED ? cip_err_give(err, &why, st) : CIP_OK;
}

/* A field of both, whose name is a further step of the path and of the field. */
typedef struct field_pair {
    const cip_dtype *a, *b;
    cip_buf path, field;
} field_pair;

static cip_status step_into(cip_buf *b, const char *name, cip_err *err)
{
    CIP_TRY(cip_path_add(b, (cip_bytes){ (const uint8_t *)name, strlen(name) }, err));
    return cip_buf_nul(b, err);
}

/* The nesting of records is bounded by their makers. */
static cip_status compare_fields(cip_differ *d, field_pair *x, cip_diff_side a, cip_diff_side b,
                                 cip_err *err)
{
    const cip_dtype *ta = x->a, *tb = x->b;
    const size_t npath = x->path.len, nfield = x->field.len;
    for (size_t i = 0; i < ta->nfield; i++) {
        const cip_field *f = &ta->field[i];
        const cip_field *g = cip_dtype_find_field(tb, f->name, strlen(f->name));
        x->path.len = npath;
        x->field.len = nfield;
        CIP_TRY(step_into(&x->path, f->name, err));
        CIP_TRY(step_into(&x->field, f->name, err));
        const char *path = (const char *)x->path.ptr;
        if (g == NULL || cip_differ_ignores(d, path))
            continue; /* the types were told */
        x->a = f->dtype;
        x->b = g->dtype;
        if (cip_likeness_of(x->a, x->b) == CIP_LIKE_RECORDS) {
            CIP_TRY(compare_fields(d, x, a, b, err));
        } else {
            a.field = b.field = (const char *)x->field.ptr;
            CIP_TRY(compare_leaf(d, path, a, b, err));
        }
    }
    return CIP_OK;
}

static cip_status compare_records(cip_differ *d, const char *path, cip_diff_side a, cip_diff_side b,
                                  const cip_dtype *const types[2], cip_err *err)
{
    bool same;
    cip_status st;
    field_pair x = { types[0], types[1], { .mem = d->mem }, { .mem = d->mem } };
    CIP_TRY(same_records(d, a, b, &same, err));
    if (same)
        return CIP_OK;
    CIP_GO(cip_buf_puts(&x.path, path, err));
    CIP_GO(cip_buf_puts(&x.field, a.field, err));
    st = compare_fields(d, &x, a, b, err);
done:
    cip_buf_clear(&x.path);
    cip_buf_clear(&x.field);
    return st;
}

/* Element type, axes and number of bytes of what a side names: a field's axes behind the array's.
 */
typedef struct outline {
    const cip_dtype *dtype;
    cip_nd view;
    uint64_t nbytes;
} outline;

static cip_status outline_of(cip_diff_side s, outline *out, cip_err *err)
{
    cip_read_plan p;
    cip_read_args args = { .size = sizeof args, .field = s.field };
    const bool whole = s.field[0] == '\0';
    CIP_TRY(cip_array_state(s.array, err));
    if (whole) { /* also where records are to be read field by field */
        *out = (outline){ s.array->dtype, s.array->view, 0 };
    } else {
        CIP_TRY(cip_read_plan_make(s.array, &args, CIP_AS_STORED, &p, err));
        *out = (outline){ p.stored, p.from, 0 };
        cip_read_plan_clear(&p);
    }
    uint64_t n;
    if (!cip_shape_nelem(out->view.ndim, out->view.shape, &n) ||
        cip_mul_overflow(n, out->dtype->itemsize, &out->nbytes))
        out->nbytes = 0;
    return CIP_OK;
}

static cip_status compare_outlines(cip_differ *d, const char *path, const outline *a,
                                   const outline *b, cip_err *err)
{
    const char *of_a = cip_dtype_name(a->dtype), *of_b = cip_dtype_name(b->dtype);
    cip_difference what = { .kind = CIP_DIFF_DTYPE, .path = path };
    if (strcmp(of_a, of_b) != 0)
        CIP_TRY(cip_differ_tell(d, &what, err, "%.200s and %.200s", of_a, of_b));
    if (cip_view_same_shape(&a->view, &b->view))
        return CIP_OK;
    char text_a[200], text_b[200];
    cip_shape_text(a->view.ndim, a->view.shape, text_a, sizeof text_a);
    cip_shape_text(b->view.ndim, b->view.shape, text_b, sizeof text_b);
    what.kind = CIP_DIFF_SHAPE;
    return cip_differ_tell(d, &what, err, "%s and %s", text_a, text_b);
}

cip_status cip_differ_arrays(cip_differ *d, const char *path, cip_diff_side a, cip_diff_side b,
                             cip_err *err)
{
    outline of_a, of_b;
    cip_err why = CIP_ERR_INIT;
    cip_status st = outline_of(a, &of_a, &why);
    if (st != CIP_OK)
        return unreadable(d, path, OF_FIRST, st, &why, err);
    st = outline_of(b, &of_b, &why);
    if (st != CIP_OK)
        return unreadable(d, path, OF_SECOND, st, &why, err);
    CIP_TRY(cip_differ_lacks(d, path, CIP_LACKS_ARRAY, cip_array_listed(a.array),
                             cip_array_listed(b.array), err));
    CIP_TRY(cip_differ_lacks(d, path, CIP_LACKS_NODE, cip_array_listed(a.array),
                             cip_array_listed(b.array), err));
    d->array = of_a.nbytes;
    CIP_TRY(compare_outlines(d, path, &of_a, &of_b, err));
    const cip_dtype *const types[2] = { of_a.dtype, of_b.dtype };
    if (cip_view_same_shape(&of_a.view, &of_b.view))
        CIP_TRY(cip_likeness_of(of_a.dtype, of_b.dtype) == CIP_LIKE_RECORDS
                    ? compare_records(d, path, a, b, types, err)
                    : compare_leaf(d, path, a, b, err));
    CIP_TRY(cip_differ_progress(d, of_a.nbytes, err));
    d->before += of_a.nbytes;
    d->array = 0;
    return CIP_OK;
}
