/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of elements: the caller's, or those of an array of another file, on their way to the
 * format, which takes them one behind the other as they are to be stored. */
#include "core/reading/lacks.h"
#include "core/writing/edit_impl.h"

#include <inttypes.h>
#include <string.h>

#include "base/num.h"

/* --- where elements come from ----------------------------------------------------------------- */

/* Elements in memory, cast on the way. */
typedef struct from_memory {
    const uint8_t *at;
    cip_cast cast;
    cip_cast_stats stats;
} from_memory;

static cip_status next_of_memory(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    from_memory *m = self;
    int64_t step = (int64_t)m->cast.from->itemsize;
    cip_cast_run(&m->cast, (size_t)nelem, m->at, step, dst, (int64_t)m->cast.to->itemsize, 0,
                 &m->stats);
    m->at += nelem * (uint64_t)step;
    return cip_cast_check(&m->cast, &m->stats, ".accept_loss", err);
}

static const uint8_t *lend_of_memory(void *self, uint64_t nelem)
{
    from_memory *m = self;
    const uint8_t *at = m->at;
    if (!cip_cast_is_copy(&m->cast))
        return NULL;
    m->at += nelem * m->cast.from->itemsize;
    return at;
}

/* Elements of an array, read in parts, cast on the way. */
typedef struct from_array {
    cip_read_plan plan;
    cip_parts parts;
    uint8_t *buf;          /* of one part */
    uint8_t *mask, *alike; /* of one part: what is missing, what is as if; NULL: nothing */
    const uint8_t *value;  /* what the target has in place of missing elements; NULL: nothing */
    bool accept_loss;
    uint64_t have, used;
} from_array;

/* Missing elements become what the target has in their place, which no other may then be; a target
 * that has nothing would take their fill values for data. */
static cip_status put_missing(from_array *x, const cip_part *part, cip_err *err)
{
    size_t n = (size_t)part->nelem, size = (size_t)x->plan.to->itemsize;
    CIP_TRY(cip_read_plan_mask(&x->plan, part, x->mask, err));
    if (x->value != NULL)
        CIP_TRY(cip_equal_run(x->plan.to, x->value, x->buf, n, x->alike, err));
    for (size_t i = 0; i < n; i++) {
        if (x->mask[i] != 0 && x->value != NULL)
            memcpy(x->buf + i * size, x->value, size);
        else if (x->mask[i] != 0 && !x->accept_loss)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "elements of the input are missing (masked), and the array has no "
                            "mask; accept their fill values with .accept_loss");
        else if (x->value != NULL && x->mask[i] == 0 && x->alike[i] != 0 && !x->accept_loss)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "an element of the input equals the value that marks missing elements "
                            "in the array; accept it with .accept_loss");
    }
    return CIP_OK;
}

static cip_status next_of_array(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    from_array *x = self;
    size_t size = (size_t)x->plan.to->itemsize;
    while (nelem != 0) {
        if (x->used == x->have) {
            cip_part part;
            if (!cip_parts_next(&x->parts, &part))
                return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                                "expected more elements, found the end");
            CIP_TRY(cip_read_plan_fetch(&x->plan, &part, x->buf, err));
            if (x->mask != NULL)
                CIP_TRY(put_missing(x, &part, err));
            x->have = part.nelem;
            x->used = 0;
        }
        uint64_t n = cip_min_u64(nelem, x->have - x->used);
        memcpy(dst, x->buf + x->used * size, (size_t)n * size);
        dst += n * size;
        x->used += n;
        nelem -= n;
    }
    return CIP_OK;
}

/* Buffers for a part of n elements. */
static cip_status get_buffers(from_array *x, const cip_array *from, size_t n, cip_err *err)
{
    cip_mem *mem = x->plan.arena.mem;
    CIP_TRY(cip_mem_zeroed(mem, n, (size_t)x->plan.to->itemsize, (void **)&x->buf, err));
    if (from->mask.kind == CIP_MASK_NONE && x->value == NULL)
        return CIP_OK;
    CIP_TRY(cip_mem_zeroed(mem, n, 1, (void **)&x->mask, err));
    return cip_mem_zeroed(mem, n, 1, (void **)&x->alike, err);
}

static void array_end(from_array *x)
{
    cip_mem_put(x->plan.arena.mem, x->alike);
    cip_mem_put(x->plan.arena.mem, x->mask);
    cip_mem_put(x->plan.arena.mem, x->buf);
    cip_read_plan_clear(&x->plan);
}

/* As numpy broadcasts: the elements of axes of length 1, and of those that are missing in front,
 * are repeated as `to` has it. */
static bool broadcast(cip_nd *from, const cip_nd *to)
{
    cip_nd out = *from;
    int32_t skip = 0;
    while (from->ndim - skip > to->ndim && from->shape[skip] == 1)
        skip++;
    const int32_t front = to->ndim - (from->ndim - skip);
    if (front < 0)
        return false;
    for (int32_t i = 0; i < to->ndim; i++) {
        const int32_t k = i - front + skip;
        out.shape[i] = to->shape[i];
        out.stride[i] = i < front || from->shape[k] == 1 ? 0 : from->stride[k];
        if (i >= front && from->shape[k] != 1 && from->shape[k] != to->shape[i])
            return false;
    }
    out.ndim = to->ndim;
    *from = out;
    return true;
}

/* Makes the plan's elements as many as `to` has. */
static cip_status spread(cip_read_plan *p, const cip_nd *to, cip_err *err)
{
    char have[96], want[96];
    const cip_nd *from = &p->from;
    if (cip_view_same_shape(from, to))
        return CIP_OK;
    if (!broadcast(&p->from, to))
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "the selection has shape %s, the input %s",
                        cip_shape_text(to->ndim, to->shape, want, sizeof want),
                        cip_shape_text(from->ndim, from->shape, have, sizeof have));
    if (cip_plan_is_masked(p))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "masked elements cannot be repeated (broadcast)");
    cip_shape_nelem(to->ndim, to->shape, &p->nelem);
    return CIP_OK;
}

cip_status cip_times_stay(const cip_dtype *from, const cip_dtype *to, cip_err *err)
{
    const bool time = from->kind == CIP_DATETIME64 || from->kind == CIP_TIMEDELTA64;
    if (time && to->kind == CIP_I64)
        return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                        "cannot convert %.90s to %.90s when an array is changed", from->name,
                        to->name);
    for (size_t i = 0; i < from->nfield && i < to->nfield; i++) /* records nest at most 32 deep */
        CIP_TRY(cip_times_stay(from->field[i].dtype, to->field[i].dtype, err));
    return CIP_OK;
}

/* All of `from`, spread over `over` (NULL: as it is), as elements of `to`, of which `value` (or
 * NULL) stands for missing ones. */
static cip_status array_start(cip_edit *e, from_array *x, const cip_array *from, const cip_nd *over,
                              const cip_dtype *to, const uint8_t *value, cip_err *err)
{
    cip_read_args args = { .size = sizeof args };
    CIP_TRY(cip_array_lack_check(from, e->o.accept_loss, &e->notes, err));
    if (!e->o.by_position)
        CIP_TRY(cip_dtype_in_order_of(&e->arena, from->dtype, to,
                                      "; .by_position matches fields by position", &to, err));
    CIP_TRY(cip_times_stay(from->dtype, to, err));
    args.dtype = to;
    args.overflow = e->o.accept_loss ? CIP_OVERFLOW_CLAMP : CIP_OVERFLOW_ERROR;
    memset(x, 0, sizeof *x);
    CIP_TRY(cip_read_plan_make(from, &args, CIP_AS_STORED, &x->plan, err));
    cip_status st = over != NULL ? spread(&x->plan, over, err) : CIP_OK;
    uint64_t most = cip_min_u64(cip_piece_elems(to->itemsize), x->plan.nelem);
    x->value = value;
    x->accept_loss = e->o.accept_loss;
    if (st == CIP_OK)
        st = get_buffers(x, from, (size_t)cip_max_u64(1, most), err);
    if (st != CIP_OK)
        array_end(x);
    else
        cip_parts_start(&x->parts, &x->plan, cip_max_u64(1, most));
    return st;
}

/* What stands for missing elements in all of the array (a field of it has nothing), or NULL. */
static const uint8_t *missing_value(const cip_array *a, const cip_dtype *to)
{
    return a->mask.kind == CIP_MASK_VALUE && to == a->dtype ? a->mask.value : NULL;
}

/* --- writing ---------------------------------------------------------------------------------- */

/* Elements of the feed to where the plan has them: nothing changes when they cannot be had. */
static cip_status put_elements(cip_edit *e, const cip_read_plan *p, const cip_feed *feed,
                               cip_err *err)
{
    cip_edit_stage s;
    CIP_TRY(cip_edit_stage_begin(e, p->array, feed, p->nelem, p->stored, &s, err));
    cip_status st = cip_edit_elements(e, p->array, &p->from, &s.feed, err);
    cip_edit_stage_end(&s);
    return st;
}

/* The selected elements of the array (or a field of it) at `path`, which *now keeps. */
static cip_status plan_target(cip_edit *e, const char *path, const char *selection,
                              const cip_array **now, cip_read_plan *out, cip_err *err)
{
    cip_read_args args = { .size = sizeof args, .selection = selection };
    CIP_TRY(cip_edit_find(e, path, &args.field, now, err));
    return cip_read_plan_make(*now, &args, CIP_AS_NATIVE, out, err);
}

static cip_status may_write(const cip_edit *e, cip_err *err)
{
    return cip_edit_check(e, e->ops->form != NULL, "changing elements", err);
}

/* The type of elements that come from memory, of a packed type in the machine's order. */
static cip_status type_given(cip_edit *e, const cip_dtype **native, cip_err *err)
{
    return e->big < 0 ? CIP_OK : cip_dtype_with_order(&e->arena, *native, e->big != 0, native, err);
}

/* nelem elements of `dtype` as those of `to`: all of them before the first is taken. *made: for
 * cip_mem_put; NULL where they are of that type already, as NULL for `dtype` says. */
static cip_status cast_given(cip_edit *e, const cip_dtype *dtype, const cip_dtype *to,
                             uint64_t nelem, const uint8_t **data, void **made, cip_err *err)
{
    cip_mem *mem = &e->file->env.mem;
    cip_cast_stats stats = { 0, 0 };
    cip_cast cast;
    size_t n;
    *made = NULL;
    if (dtype == NULL)
        return CIP_OK;
    CIP_TRY(cip_dtype_in_order_of(&e->arena, dtype, to, "", &to, err));
    CIP_TRY(cip_cast_make(dtype, to, e->o.accept_loss ? CIP_OVERFLOW_CLAMP : CIP_OVERFLOW_ERROR,
                          &cast, err));
    if (cip_cast_is_copy(&cast) || nelem == 0)
        return CIP_OK;
    if (!cip_to_size(nelem, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected fewer elements");
    CIP_TRY(cip_mem_zeroed(mem, n, (size_t)to->itemsize, made, err));
    cip_cast_run(&cast, n, *data, (int64_t)dtype->itemsize, *made, (int64_t)to->itemsize, 0,
                 &stats);
    *data = *made;
    return cip_cast_check(&cast, &stats, ".accept_loss", err);
}

/* NULL: the array's own type. */
static const cip_dtype *own_as_null(const cip_dtype *dtype)
{
    return dtype == cip_dtype_as_stored() ? NULL : dtype;
}

static cip_status write_memory(cip_edit *e, const char *path, const char *selection,
                               const cip_dtype *dtype, cip_bytes data, cip_err *err)
{
    cip_read_plan p;
    const cip_array *now;
    void *made = NULL;
    uint64_t need = 0;
    CIP_TRY(may_write(e, err));
    CIP_TRY(plan_target(e, path, selection, &now, &p, err));
    from_memory m = { .at = data.ptr };
    cip_feed feed = { .next = next_of_memory, .lend = lend_of_memory, .self = &m };
    cip_status st;
    if (p.nelem != 0)
        CIP_GO(cip_arg_given(data.ptr, "elements", err));
    if (cip_mul_overflow(p.nelem, (dtype != NULL ? dtype : p.to)->itemsize, &need) ||
        need != data.len) {
        st = cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                      "expected %" PRIu64 " bytes for the selection, found %zu", need, data.len);
        goto done;
    }
    CIP_GO(type_given(e, &p.to, err));
    CIP_GO(cast_given(e, dtype, p.to, p.nelem, &m.at, &made, err));
    CIP_GO(cip_cast_make(p.to, p.stored, CIP_OVERFLOW_ERROR, &m.cast, err));
    feed.sure = cip_cast_in_place(&m.cast);
    st = p.nelem == 0 ? CIP_OK : put_elements(e, &p, &feed, err);
done:
    cip_mem_put(&e->file->env.mem, made);
    cip_fail_in(err, st, "%s", p.array->path);
    cip_read_plan_clear(&p);
    return st;
}

static cip_status write_array(cip_edit *e, const char *path, const char *selection,
                              const cip_array *from, cip_err *err)
{
    cip_read_plan p;
    const cip_array *now;
    from_array x;
    CIP_TRY(may_write(e, err));
    if (from == NULL)
        return cip_fail_null(err, "an array");
    CIP_TRY(plan_target(e, path, selection, &now, &p, err));
    cip_status st =
        array_start(e, &x, from, &p.from, p.stored, missing_value(p.array, p.stored), err);
    if (st == CIP_OK) {
        const cip_feed feed = { .next = next_of_array, .self = &x };
        bool taken = p.nelem == 0;
        if (!taken && x.mask == NULL && p.nfaxis == 0) /* in chunks as they are stored */
            st = cip_edit_take_chunks(e, p.array, &p.from, 0, &x.plan, &taken, err);
        if (st == CIP_OK && !taken)
            st = put_elements(e, &p, &feed, err);
        array_end(&x);
    }
    cip_fail_in(err, st, "%s", p.array->path);
    cip_read_plan_clear(&p);
    return st;
}

cip_status cip_edit_write_whole(cip_edit *e, const char *path, const cip_array *from, cip_err *err)
{
    return write_array(e, path, NULL, from, err);
}

cip_status cip_edit_write(cip_edit *e, const char *path, const char *selection,
                          const cip_elements *from, cip_err *err)
{
    if (from->of_array)
        return write_array(e, path, selection, from->array, err);
    CIP_TRY(cip_dtype_there(from->dtype, err));
    return write_memory(e, path, selection, own_as_null(from->dtype), from->data, err);
}

/* --- rows and shapes -------------------------------------------------------------------------- */

static cip_status expect_axis(const cip_nd *v, int32_t axis, cip_err *err)
{
    if (v->ndim == 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected an array of at least one axis");
    return cip_splice_axis(v->ndim, axis, err);
}

cip_status cip_rows_count(const cip_nd *v, int32_t axis, uint64_t itemsize, uint64_t nbytes,
                          uint64_t *nrow, cip_err *err)
{
    int64_t shape[CIP_MAX_NDIM];
    uint64_t row;
    CIP_TRY(expect_axis(v, axis, err));
    memcpy(shape, v->shape, sizeof shape);
    shape[axis] = 1;
    if (!cip_shape_nelem(v->ndim, shape, &row) || cip_mul_overflow(row, itemsize, &row))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "rows of over 2^64 bytes");
    if (row == 0 ? nbytes != 0 : nbytes % row != 0)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected whole rows of %" PRIu64 " bytes, found %" PRIu64 " bytes", row,
                        nbytes);
    *nrow = row == 0 ? 0 : nbytes / row;
    return CIP_OK;
}

cip_status cip_edit_find(cip_edit *e, const char *path, const char **field, const cip_array **out,
                         cip_err *err)
{
    const cip_array *a;
    CIP_TRY(cip_edit_base(e, path, field, &a, err));
    CIP_TRY(cip_edit_no_slab(e, a, err));
    *out = cip_edit_now(e, a);
    return cip_array_state(*out, err);
}

static cip_status find_for_rows(cip_edit *e, const char *path, const cip_array **now, cip_err *err)
{
    CIP_TRY(cip_edit_check(e, e->ops->form != NULL, "adding rows", err));
    return cip_edit_find(e, path, NULL, now, err);
}

static cip_rows_at from_the_end(const cip_array *a, const cip_rows_at *at)
{
    const cip_nd *v = &a->view;
    cip_rows_at from = *at;
    if (from.axis < 0 && from.axis >= -v->ndim)
        from.axis += v->ndim;
    const bool is = from.axis >= 0 && from.axis < v->ndim;
    if (is && from.start < 0 && from.start >= -v->shape[from.axis])
        from.start += v->shape[from.axis];
    return from;
}

static cip_status put_rows(cip_edit *e, const cip_array *a, const cip_rows_at *at, uint64_t nrow,
                           const cip_feed *feed, cip_err *err)
{
    int64_t shape[CIP_MAX_NDIM];
    uint64_t nelem;
    cip_edit_stage stage;
    memcpy(shape, a->view.shape, sizeof shape);
    shape[at->axis] = (int64_t)nrow;
    if (nrow > INT64_MAX || !cip_shape_nelem(a->view.ndim, shape, &nelem))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected an axis that can grow");
    CIP_TRY(cip_edit_stage_begin(e, a, feed, nelem, a->dtype, &stage, err));
    const cip_splice s = {
        .axis = at->axis, .start = at->start, .added = (int64_t)nrow, .feed = &stage.feed
    };
    cip_status st =
        at->end ? cip_edit_rows(e, a, nrow, &stage.feed, err) : cip_edit_splice(e, a, &s, err);
    cip_edit_stage_end(&stage);
    return st;
}

static cip_status rows_of_memory(cip_edit *e, const char *path, const cip_rows_at *where,
                                 const cip_dtype *dtype, cip_bytes data, cip_err *err)
{
    const cip_array *a;
    uint64_t nrow, each;
    void *made = NULL;
    from_memory m = { .at = data.ptr };
    cip_feed feed = { .next = next_of_memory, .lend = lend_of_memory, .self = &m };
    if (data.len != 0)
        CIP_TRY(cip_arg_given(data.ptr, "rows", err));
    CIP_TRY(find_for_rows(e, path, &a, err));
    const cip_rows_at at = from_the_end(a, where);
    const cip_dtype *native = cip_array_native_dtype(a, err);
    if (native == NULL)
        return (cip_status)err->code;
    each = (dtype != NULL ? dtype : native)->itemsize;
    cip_status st = cip_rows_count(&a->view, at.axis, each, data.len, &nrow, err);
    if (st == CIP_OK)
        st = type_given(e, &native, err);
    if (st == CIP_OK)
        st = cast_given(e, dtype, native, each != 0 ? data.len / each : 0, &m.at, &made, err);
    if (st == CIP_OK)
        st = cip_cast_make(native, a->dtype, CIP_OVERFLOW_ERROR, &m.cast, err);
    if (st == CIP_OK)
        feed.sure = cip_cast_in_place(&m.cast);
    if (st == CIP_OK)
        st = put_rows(e, a, &at, nrow, &feed, err);
    cip_mem_put(&e->file->env.mem, made);
    return cip_fail_in(err, st, "%s", a->path);
}

/* One axis less is one row. */
static cip_status count_rows(const cip_nd *now, int32_t axis, const cip_nd *from, uint64_t *nrow,
                             cip_err *err)
{
    const bool one = now->ndim == from->ndim + 1;
    CIP_TRY(expect_axis(now, axis, err));
    bool fits = one || now->ndim == from->ndim;
    for (int32_t i = 0; fits && i < now->ndim; i++)
        fits = i == axis || now->shape[i] == from->shape[i - (one && i > axis)];
    if (!fits) {
        char have[96], want[96];
        cip_nd row = *now;
        for (int32_t i = axis; i + 1 < now->ndim; i++)
            row.shape[i] = now->shape[i + 1];
        row.ndim--;
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected rows of shape %s, found an input of shape %s",
                        cip_shape_text(row.ndim, row.shape, want, sizeof want),
                        cip_shape_text(from->ndim, from->shape, have, sizeof have));
    }
    *nrow = one ? 1 : (uint64_t)from->shape[axis];
    return CIP_OK;
}

static cip_status rows_of_array(cip_edit *e, const char *path, const cip_rows_at *where,
                                const cip_array *from, cip_err *err)
{
    const cip_array *a;
    uint64_t nrow;
    from_array x;
    const cip_feed feed = { .next = next_of_array, .self = &x };
    if (from == NULL)
        return cip_fail_null(err, "an array");
    CIP_TRY(find_for_rows(e, path, &a, err));
    const cip_rows_at at = from_the_end(a, where);
    cip_status st = array_start(e, &x, from, NULL, a->dtype, missing_value(a, a->dtype), err);
    if (st != CIP_OK)
        return cip_fail_in(err, st, "%s", a->path);
    st = count_rows(&a->view, at.axis, &x.plan.from, &nrow, err);
    bool taken = false;
    if (st == CIP_OK && at.end && x.mask == NULL)
        st = cip_edit_take_chunks(e, a, NULL, nrow, &x.plan, &taken, err);
    if (st == CIP_OK && !taken)
        st = put_rows(e, a, &at, nrow, &feed, err);
    array_end(&x);
    return cip_fail_in(err, st, "%s", a->path);
}

cip_status cip_edit_insert(cip_edit *e, const char *path, const cip_rows_at *at,
                           const cip_elements *rows, cip_err *err)
{
    if (rows->of_array)
        return rows_of_array(e, path, at, rows->array, err);
    CIP_TRY(cip_dtype_there(rows->dtype, err));
    return rows_of_memory(e, path, at, own_as_null(rows->dtype), rows->data, err);
}

cip_status cip_edit_delete(cip_edit *e, const char *path, const cip_rows_at *where, int64_t count,
                           cip_err *err)
{
    const cip_array *a;
    CIP_TRY(cip_edit_check(e, e->ops->form != NULL, "removing rows", err));
    CIP_TRY(cip_edit_find(e, path, NULL, &a, err));
    const cip_rows_at at = from_the_end(a, where);
    const cip_splice s = { .axis = at.axis, .start = at.start, .removed = count };
    return cip_fail_in(err, cip_edit_splice(e, a, &s, err), "%s", a->path);
}

cip_status cip_edit_resize(cip_edit *e, const char *path, int ndim, const int64_t *shape,
                           cip_err *err)
{
    const cip_array *a;
    CIP_TRY(cip_edit_check(e, e->ops->form != NULL, "another shape", err));
    CIP_TRY(cip_edit_find(e, path, NULL, &a, err));
    if (ndim != a->view.ndim || (shape == NULL && ndim != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a shape of %d axes, found %d",
                        (int)a->view.ndim, ndim);
    for (int i = 0; i < ndim; i++)
        if (shape[i] < 0)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected lengths of at least 0, found %" PRId64, shape[i]);
    cip_status st = cip_edit_shape(e, a, shape, err);
    return cip_fail_in(err, st, "%s", a->path);
}
