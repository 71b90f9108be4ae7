/* SPDX-License-Identifier: BSD-3-Clause
 * Which arrays of a file convert writes: each node of the tree once, masks as arrays of their own,
 * references only when they are to be resolved. */
#include <stdlib.h>
#include <string.h>

#include "base/strmap.h"
#include "core/writing/sink_run.h"
#include "tree/value.h"

typedef struct planner {
    cip_sink_job *job;
    const cip_file *in;
    cip_arena *a;
    bool tree; /* the store holds trees */
    bool refs;
    cip_spec_array *spec; /* as many as plans */
    cip_strmap seen;      /* nodes that are planned */
    cip_strmap base;      /* spaces of which one array is planned: its number */
} planner;

/* From a format to the same one, what is inline stays so. */
static cip_where where_of(const planner *p, const cip_array *a)
{
    bool inlined = a->storage.kind == CIP_STORAGE_INLINE;
    bool kept =
        p->job->spec.where == CIP_WHERE_DEFAULT && p->tree && p->in->format == p->job->format;
    return kept && inlined ? CIP_WHERE_INLINE : p->job->spec.where;
}

/* A mask of its own is a plan too. */
static cip_status make_plan(planner *p, const cip_array *a, const char *field, bool mask,
                            cip_err *err)
{
    cip_read_args args = { .size = sizeof args, .field = field, .take_mask = mask };
    args.overflow = p->job->spec.accept_loss ? CIP_OVERFLOW_CLAMP : CIP_OVERFLOW_ERROR;
    cip_read_plan *plan = &p->job->plan[p->job->nplan];
    CIP_TRY(cip_read_plan_make(a, &args, CIP_AS_STORED, plan, err));
    p->job->nplan++;
    const bool whole = cip_read_plan_is_whole(plan);
    const cip_array *of = mask && a->mask.array != NULL ? a->mask.array : a;
    const bool own = of->layout == p->in->layout; /* its data lie in a block of the input */
    CIP_TRY(cip_fail_in(err, cip_read_plan_check_amount(plan, err), "%s", a->path));
    p->spec[p->job->spec.narray++] = (cip_spec_array){ .path = a->path,
                                                       .dtype = plan->to,
                                                       .ndim = plan->from.ndim,
                                                       .shape = plan->from.shape,
                                                       .source = whole ? a : NULL,
                                                       .unwritten = mask ? NULL : a->unwritten,
                                                       .block = own ? of->storage.block : -1,
                                                       .mask = -1,
                                                       .is_mask = mask,
                                                       .where = where_of(p, a) };
    return CIP_OK;
}

/* Where the mask is one number, that; NULL where it is not. */
static cip_status mask_value(planner *p, const cip_array *a, const cip_node **out, cip_err *err)
{
    cip_cast cast;
    cip_cast_stats stats = { 0, 0 };
    cip_kind kind = a->dtype->kind;
    bool is_float = kind >= CIP_F16 && kind <= CIP_F64,
         is_signed = kind >= CIP_I8 && kind <= CIP_I64;
    bool is_unsigned = kind >= CIP_U8 && kind <= CIP_U64;
    uint64_t bits = 0;
    double v;
    cip_node *n = NULL;
    *out = NULL;
    if (a->mask.kind != CIP_MASK_VALUE || !(is_float || is_signed || is_unsigned))
        return CIP_OK;
    cip_kind to = is_float ? CIP_F64 : is_signed ? CIP_I64 : CIP_U64;
    CIP_TRY(cip_cast_make(a->dtype, cip_dtype_of(to), CIP_OVERFLOW_ERROR, &cast, err));
    cip_cast_run(&cast, 1, a->mask.value, 0, (uint8_t *)&bits, 0, 0, &stats);
    memcpy(&v, &bits, sizeof v);
    if (is_float)
        CIP_TRY(cip_node_new_double(p->a, v, &n, err));
    else if (is_signed)
        CIP_TRY(cip_node_new_int(p->a, (int64_t)bits, &n, err));
    else
        CIP_TRY(cip_node_new_uint(p->a, bits, &n, err));
    *out = n;
    return CIP_OK;
}

/* Whether all of the array lies in what another one of its space stores in C order; then where. */
static bool is_part(const planner *p, const cip_array *a, size_t of, cip_nd *view)
{
    const cip_array *whole = p->job->plan[of].array;
    uint64_t first, end, low, high;
    bool as_it_is = p->job->spec.big < 0 || cip_dtype_equal(a->dtype, whole->dtype);
    *view = a->view;
    for (int32_t i = 0; i < a->view.ndim; i++)
        as_it_is = as_it_is && a->view.stride[i] != 0; /* no format that we write has those */
    if (!as_it_is || cip_view_bounds(&a->view, &first, &end, NULL) != CIP_OK ||
        cip_view_bounds(&whole->view, &low, &high, NULL) != CIP_OK || first == end || first < low ||
        end > high)
        return false;
    view->off -= low;
    return true;
}

/* Records with padding change when they are packed. */
static bool is_packed(const cip_dtype *d)
{
    uint64_t n = 0;
    for (size_t i = 0; i < d->nfield; i++) { /* records nest at most 32 deep */
        if (d->field[i].offset != n || !is_packed(d->field[i].dtype))
            return false;
        n += cip_field_nbytes(&d->field[i]);
    }
    return d->kind != CIP_RECORD || n == d->itemsize;
}

/* Data that several arrays show are written once. */
static cip_status share(planner *p, const cip_array *a, cip_spec_array *s, cip_err *err)
{
    const cip_space **key;
    bool internal = s->where != CIP_WHERE_INLINE && s->where != CIP_WHERE_STREAMED;
    if (!p->tree || !internal || a->space == NULL || !is_packed(a->dtype))
        return CIP_OK;
    size_t of =
        cip_strmap_get(&p->base, (cip_bytes){ (const uint8_t *)&a->space, sizeof a->space });
    if (of != SIZE_MAX) {
        s->is_view = is_part(p, a, of, &s->view);
        s->of = (int32_t)of;
        return CIP_OK;
    }
    if (!cip_view_is_contiguous(&a->view))
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(p->a, &key, 1, err));
    *key = a->space;
    return cip_strmap_put(&p->base, (cip_bytes){ (const uint8_t *)key, sizeof *key },
                          (size_t)(s - p->spec), NULL, err);
}

static cip_status add(planner *p, const cip_array *a, const char *field, const cip_node *node,
                      cip_err *err)
{
    bool masked = a->mask.kind != CIP_MASK_NONE;
    const cip_node *value = NULL;
    int32_t mask = -1;
    char *path = NULL;
    if (masked && p->tree && field == NULL) {
        CIP_TRY(mask_value(p, a, &value, err));
        if (value == NULL) {
            mask = (int32_t)p->job->spec.narray;
            CIP_TRY(make_plan(p, a, NULL, true, err));
        }
    }
    CIP_TRY(make_plan(p, a, field, false, err));
    cip_spec_array *s = &p->spec[p->job->spec.narray - 1];
    s->masked = cip_plan_is_masked(&p->job->plan[p->job->nplan - 1]);
    s->mask = mask;
    s->mask_value = value;
    s->node = node;
    if (field == NULL)
        return share(p, a, s, err);
    CIP_TRY(cip_arena_printf(p->a, &path, err, "%s/%s", a->path, field));
    if (p->tree)
        s->path = path;
    return CIP_OK;
}

/* The node that the array stands for in a tree that is kept. False: it is not to be written, since
 * the tree says by other means where it is. */
static bool find_node(const planner *p, const cip_array *a, const cip_node **node)
{
    *node = a->node;
    if (!p->tree || a->node != NULL || p->job->spec.tree == NULL || a->path[0] == '\0')
        return true;
    *node = cip_tree_get(p->job->spec.tree, a->path, NULL);
    bool is_ref = a->storage.kind == CIP_STORAGE_REFERENCE;
    return *node == NULL || (p->refs && is_ref);
}

static cip_status plan_each(planner *p, const cip_array *a, cip_err *err)
{
    const cip_node *node, **key;
    size_t was = SIZE_MAX;
    if (!find_node(p, a, &node))
        return CIP_OK;
    if (p->tree && node != NULL) {
        CIP_TRY(CIP_ARENA_NEW(p->a, &key, 1, err));
        *key = node;
        CIP_TRY(cip_strmap_put(&p->seen, (cip_bytes){ (const uint8_t *)key, sizeof *key }, 1, &was,
                               err));
    }
    return was == SIZE_MAX ? add(p, a, NULL, node, err) : CIP_OK;
}

/* --- order ------------------------------------------------------------------------------------ */

typedef struct rank {
    int64_t block;
    size_t i;
} rank;

static int by_block(const void *a, const void *b)
{
    const rank *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* What is written for an array in the place of its block comes in the blocks' order; a view behind
 * the array it shows, all else behind the blocks. */
static cip_status rank_arrays(const planner *p, rank *r, size_t n, cip_err *err)
{
    size_t nblock = p->in->layout->nblock;
    bool *given;
    CIP_TRY(CIP_ARENA_NEW(p->a, &given, nblock, err));
    for (size_t i = 0; i < n; i++) {
        const cip_spec_array *s = &p->spec[i];
        bool has = !s->is_view && s->where != CIP_WHERE_INLINE && s->block >= 0 &&
                   (uint64_t)s->block < nblock && !given[s->block];
        if (has)
            given[s->block] = true;
        r[i] = (rank){ has ? s->block : INT64_MAX, i };
    }
    if (n > 1)
        qsort(r, n, sizeof *r, by_block);
    return CIP_OK;
}

static cip_status order_by_block(planner *p, cip_err *err)
{
    cip_sink_job *job = p->job;
    size_t n = job->spec.narray, *to;
    rank *r;
    cip_spec_array *spec;
    cip_read_plan *plan;
    CIP_TRY(CIP_ARENA_NEW(p->a, &r, n, err));
    CIP_TRY(CIP_ARENA_NEW(p->a, &to, n, err));
    CIP_TRY(CIP_ARENA_NEW(p->a, &spec, n, err));
    CIP_TRY(CIP_ARENA_NEW(p->a, &plan, n, err));
    CIP_TRY(rank_arrays(p, r, n, err));
    for (size_t i = 0; i < n; i++)
        to[r[i].i] = i;
    for (size_t i = 0; i < n; i++) {
        spec[i] = p->spec[r[i].i];
        plan[i] = job->plan[r[i].i];
        spec[i].mask = spec[i].mask >= 0 ? (int32_t)to[spec[i].mask] : -1;
        spec[i].of = spec[i].is_view ? (int32_t)to[spec[i].of] : 0;
        spec[i].shape = plan[i].from.shape;
    }
    job->plan = plan;
    job->spec.array = p->spec = spec;
    return CIP_OK;
}

/* Whether nothing can read it, and no node of the tree would be left without its data. */
static bool may_leave_out(const planner *p, const cip_array *a)
{
    const cip_node *node;
    return a->st == CIP_ERR_UNSUPPORTED && a != cip_file_whole(p->in) && find_node(p, a, &node) &&
           node == NULL;
}

static bool is_within(const cip_sink_job *job, size_t i)
{
    return job->within != NULL && job->within[i];
}

static cip_status plan_all(planner *p, size_t n, cip_err *err)
{
    const cip_layout *l = p->in->layout;
    size_t nown = 0;
    const cip_array *records = cip_file_whole(p->in);
    bool one = (p->job->format->store->caps & CIP_STORE_ONE_ARRAY) != 0;
    if (one && records != NULL)
        return plan_each(p, records, err);
    for (size_t i = 0; i < n; i++)
        nown += !is_within(p->job, i);
    if (one && nown != 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "%s holds one array, the input has %zu; name one (.path)",
                        p->job->format->title, nown);
    for (size_t i = 0; i < n; i++)
        if (is_within(p->job, i))
            continue;
        else if (may_leave_out(p, l->array[i]))
            p->job->left_out[p->job->nleft_out++] = l->array[i];
        else if (l->array[i] != records)
            CIP_TRY(plan_each(p, l->array[i], err));
    const bool none = p->job->nplan == 0 && p->job->nleft_out != 0;
    return none ? cip_array_check(p->job->left_out[0], err) : CIP_OK;
}

cip_status cip_convert_plan(cip_sink_job *job, const cip_file *in, const char *path, bool refs,
                            cip_arena *a, cip_err *err)
{
    size_t n = path != NULL ? 1 : in->layout->narray;
    planner p = { .job = job, .in = in, .a = a, .refs = refs };
    p.tree = (job->format->store->caps & CIP_STORE_TREE) != 0;
    p.seen.mem = p.base.mem = &job->env->mem;
    CIP_TRY(CIP_ARENA_NEW(a, &job->plan, 2 * n, err));
    CIP_TRY(CIP_ARENA_NEW(a, &p.spec, 2 * n, err));
    CIP_TRY(CIP_ARENA_NEW(a, &job->left_out, n, err));
    job->spec.array = p.spec;
    const char *field = NULL;
    cip_err why = CIP_ERR_INIT;
    const cip_array *only = path != NULL ? cip_find_field(in, path, &field, &why) : NULL;
    cip_status st;
    if (path == NULL)
        st = plan_all(&p, n, err);
    else if (only == NULL)
        st = cip_err_give(err, &why, (cip_status)why.code);
    else
        st = add(&p, only, field != NULL && *field != '\0' ? field : NULL, NULL, err);
    if (st == CIP_OK && job->spec.whole)
        st = order_by_block(&p, err);
    cip_strmap_clear(&p.seen);
    cip_strmap_clear(&p.base);
    return st;
}
