/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays of a file being written: given whole, from another file, or as a view of another; and the
 * values of its tree, set by path. */
#include <string.h>

#include "base/num.h"
#include "core/reading/lacks.h"
#include "core/writing/spec_text.h"
#include "base/sized.h"
#include "core/writing/writer.h"
#include "tree/node.h"

/* --- entries ---------------------------------------------------------------------------------- */

cip_status cip_writer_no_array(const cip_writer *w, const char *path, cip_err *err)
{
    for (const cip_entry *e = w->first; e != NULL; e = e->next)
        if (!e->spec.is_mask && cip_path_within(e->spec.path, path))
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "the array '%.80s' exists already; it is not replaced", e->spec.path);
    return CIP_OK;
}

/* Its place among the keys of the tree; the store puts the array's description there. */
static cip_status take_place(cip_writer *w, const char *path, cip_entry *e, cip_err *err)
{
    cip_node *n;
    if (cip_path_is_root(path))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path for the array");
    if (w->tree.root != NULL && cip_tree_get(w->tree.root, path, NULL) != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.80s' exists already", path);
    CIP_TRY(cip_node_new_null(&w->arena, &n, err));
    CIP_TRY(cip_build_set(&w->tree, path, n, err));
    w->mark.placed = true;
    if (cip_tree_get(w->tree.root, path, NULL) != n)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a path that names one place, found '%.80s'", path);
    if (!(w->format->store->caps & CIP_STORE_TREE))
        e->spec.node = n;
    return CIP_OK;
}

static cip_status take_options(cip_writer *w, cip_entry *e, const cip_array_options *opts,
                               cip_err *err)
{
    cip_array_options o;
    cip_spec how = { .codec = NULL };
    if (opts == NULL)
        return CIP_OK;
    CIP_TRY(CIP_SIZED_TAKE(cip_array_options, opts, &o, err));
    CIP_TRY(cip_sized_value("cip_array_options.reserved", o.reserved, 0, err));
    if (o.replace != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "an array can replace another only in an update");
    cip_spec_array *s = &e->spec;
    CIP_TRY(cip_spec_codec(o.codec, &w->arena, &how, err));
    s->codec = how.codec;
    s->level = how.level;
    CIP_TRY(cip_spec_where(o.storage, &s->where, err));
    CIP_TRY(cip_spec_options(w->format, o.format_options, &w->arena, &s->option, err));
    CIP_TRY(cip_spec_chunks(w->format, e->spec.ndim, o.chunk, &w->arena, &s->option, err));
    s->masked = o.mask != NULL;
    if (!(w->format->store->caps & CIP_STORE_TREE) && s->where > CIP_WHERE_INTERNAL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "%s files store their data inside, in one piece", w->format->title);
    for (const cip_entry *f = w->first; f != NULL && s->where == CIP_WHERE_STREAMED; f = f->next)
        if (f->spec.where == CIP_WHERE_STREAMED)
            return cip_fail(
                err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                "'%.80s' is already streamed, and a file can have only one streamed array",
                f->spec.path);
    return CIP_OK;
}

static cip_status copy_shape(cip_writer *w, cip_entry *e, int ndim, const int64_t *shape,
                             cip_err *err)
{
    cip_nd nd;
    int64_t *copy;
    uint64_t nbytes, each = e->spec.dtype->itemsize;
    if (ndim < 0 || ndim > CIP_MAX_NDIM || (ndim != 0 && shape == NULL))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected 0 to %d dimensions, found %d",
                        CIP_MAX_NDIM, ndim);
    CIP_TRY(cip_view_c_order(ndim, shape, each, &nd, err));
    if (!cip_shape_nelem(ndim, shape, &nbytes) || cip_mul_overflow(nbytes, each, &nbytes) ||
        nbytes > INT64_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an array of over 2^63 bytes");
    CIP_TRY(CIP_ARENA_NEW(&w->arena, &copy, (size_t)ndim + 1, err));
    for (int i = 0; i < ndim; i++)
        copy[i] = shape[i];
    e->spec.ndim = ndim;
    e->spec.shape = copy;
    return CIP_OK;
}

static cip_status check_alone(cip_writer *w, const cip_entry *e, cip_err *err)
{
    cip_spec spec = w->spec;
    cip_spec_array a = e->spec;
    a.mask = a.masked ? 0 : -1;
    spec.tree = NULL;
    spec.array = &a;
    spec.narray = 1;
    if ((w->format->store->caps & CIP_STORE_ONE_ARRAY) && w->narray != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s files hold one array",
                        w->format->title);
    return cip_writer_check(w, &spec, err);
}

static cip_status new_entry(cip_writer *w, cip_entry **e, cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(&w->arena, e, 1, err));
    (*e)->spec.of = (*e)->spec.mask = -1;
    (*e)->writer = w;
    return CIP_OK;
}

void cip_writer_link(cip_writer *w, cip_entry *e)
{
    *w->last = e;
    w->last = &e->next;
    w->nentry++;
    w->narray += !e->spec.is_mask;
}

cip_status cip_writer_add(cip_writer *w, const cip_new_array *a, cip_entry **out, cip_err *err)
{
    cip_entry *e;
    char *copy;
    if (a->dtype == NULL)
        return cip_fail_null(err, "a dtype");
    if (a->path == NULL || a->dtype->kind == CIP_NONE)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path and a dtype, found none");
    CIP_TRY(new_entry(w, &e, err));
    CIP_TRY(cip_dtype_copy(&w->arena, a->dtype, &e->spec.dtype, err));
    CIP_TRY(copy_shape(w, e, a->ndim, a->shape, err));
    CIP_TRY(take_options(w, e, a->opts, err));
    const size_t len = cip_path_is_root(a->path) ? 0 : strlen(a->path);
    CIP_TRY(cip_arena_copy(&w->arena, a->path, len, &copy, err));
    e->spec.path = copy;
    CIP_TRY(check_alone(w, e, err));
    if (cip_writer_has_names(w))
        CIP_TRY(take_place(w, a->path, e, err));
    *out = e;
    return CIP_OK;
}

/* --- data ------------------------------------------------------------------------------------- */

bool cip_writer_waits(const cip_writer *w, const cip_entry *e)
{
    /* Without a tree that names them, arrays lie in the order in which they were put. */
    const bool behind = w->nslab != 0 && !(w->format->store->caps & CIP_STORE_TREE);
    return !(w->spec.late || w->early) || behind || e->spec.where == CIP_WHERE_STREAMED ||
           (e->of != NULL && !e->of->given);
}

typedef struct keep {
    cip_writer *w;
    cip_out out;
    uint8_t *truth; /* of masks: a buffer for zeros and ones */
} keep;

static cip_status keep_elems(void *user, cip_bytes elems, cip_err *err)
{
    keep *k = user;
    for (size_t i = 0; k->truth != NULL && i < elems.len; i++)
        k->truth[i] = elems.ptr[i] != 0;
    CIP_TRY(cip_out_write(&k->out, k->truth != NULL ? k->truth : elems.ptr, elems.len, err));
    return cip_engine_tell(&k->w->engine, 0, err); /* it is stored later, but may be stopped now */
}

enum { MASK_PIECE = 1 << 16 };

cip_status cip_writer_room(cip_writer *w, cip_entry *e, cip_err *err)
{
    uint64_t n;
    cip_shape_nelem(e->spec.ndim, e->spec.shape, &n);
    w->engine.total += n * e->spec.dtype->itemsize;
    return cip_temporary_new(&w->env, w->path, &e->temporary, err);
}

cip_status cip_writer_keep(cip_writer *w, cip_entry *e, const cip_source *from, cip_err *err)
{
    uint8_t truth[MASK_PIECE];
    uint64_t most = e->spec.is_mask ? MASK_PIECE : cip_piece_elems(e->spec.dtype->itemsize);
    CIP_TRY(cip_writer_room(w, e, err));
    keep k = { .w = w,
               .out = cip_temporary_out(e->temporary),
               .truth = e->spec.is_mask ? truth : NULL };
    return cip_source_walk(&w->env, from, e->spec.dtype, most, keep_elems, &k, err);
}

cip_status cip_writer_run(cip_writer *w, size_t index, const cip_array_form *form,
                          const cip_source *from, cip_err *err)
{
    if (from == NULL)
        return cip_engine_put(&w->engine, index, form, NULL, err);
    cip_source s = *from;
    if (w->o.accept_loss && s.policy == CIP_OVERFLOW_ERROR)
        s.policy = CIP_OVERFLOW_CLAMP;
    return cip_engine_put(&w->engine, index, form, &s, err);
}

cip_status cip_writer_name(cip_writer *w, cip_entry *e, cip_array_form *form, cip_err *err)
{
    if (e->of != NULL)
        e->spec.of = (int32_t)e->of->index;
    if (e->mask != NULL)
        e->spec.mask = (int32_t)e->mask->index;
    if (w->spec.late) {
        w->spec.tree = w->tree.root;
        CIP_TRY(cip_engine_add(&w->engine, &e->spec, form, err));
        e->index = w->spec.narray++;
    } else {
        w->spec.array = &e->spec;
        w->spec.narray = 1;
        w->spec.tree = w->tree.root;
        CIP_TRY(cip_writer_begin(w, form, err));
    }
    return CIP_OK;
}

cip_status cip_writer_give(cip_writer *w, cip_entry *e, const cip_source *from, cip_err *err)
{
    cip_status st = w->begun && w->coming != NULL && !w->spec.late
                        ? CIP_OK /* it was asked whether the array may come */
                        : cip_writer_name(w, e, &e->form, err);
    e->given = st == CIP_OK;
    if (st == CIP_OK)
        st = cip_writer_run(w, e->index, &e->form, from, err);
    if (e->value == NULL) { /* else it is a slab's, which goes on */
        cip_io_close(e->temporary);
        e->temporary = NULL;
    }
    return st == CIP_OK ? CIP_OK : cip_fail_in(err, st, "%s", e->spec.path);
}

cip_status cip_writer_add_mask(cip_writer *w, cip_entry *e, const cip_source *from, cip_err *err)
{
    cip_entry *m;
    if ((w->format->store->caps & CIP_STORE_TREE) == 0) /* it is lost, as was accepted */
        return CIP_OK;
    CIP_TRY(new_entry(w, &m, err));
    m->spec.path = e->spec.path;
    m->spec.dtype = cip_dtype_of(CIP_BOOL);
    m->spec.ndim = e->spec.ndim;
    m->spec.shape = e->spec.shape;
    m->spec.is_mask = true;
    m->spec.codec = e->spec.codec;
    m->spec.level = e->spec.level;
    m->spec.option = e->spec.option;
    if (e->spec.where != CIP_WHERE_STREAMED)
        m->spec.where = e->spec.where;
    cip_writer_link(w, m);
    e->mask = m;
    CIP_TRY(cip_writer_keep(w, m, from, err));
    if (cip_writer_waits(w, m))
        return CIP_OK;
    cip_source kept = { .dtype = m->spec.dtype, .nelem = from->nelem, .io = m->temporary };
    return cip_writer_give(w, m, &kept, err);
}

/* Whether values may be found that do not fit, when a part of the array is stored. */
static bool may_be_refused(const cip_writer *w, const cip_source *from)
{
    return from->plan != NULL && !from->plan->take_mask && !w->o.accept_loss &&
           from->policy == CIP_OVERFLOW_ERROR && !cip_cast_in_place(&from->plan->cast);
}

static cip_status take_data(cip_writer *w, cip_entry *e, const cip_source *from, cip_err *err)
{
    const bool waits = cip_writer_waits(w, e), kept = waits || may_be_refused(w, from);
    cip_writer_link(w, e);
    if (kept)
        CIP_TRY(cip_writer_keep(w, e, from, err));
    if (waits)
        return CIP_OK;
    const cip_source there = kept ? cip_writer_waited(e) : *from;
    if (!kept)
        w->engine.total += cip_source_nbytes(from);
    return cip_writer_give(w, e, &there, err);
}

/* --- the calls -------------------------------------------------------------------------------- */

static const uint8_t *mask_of(const cip_array_options *opts)
{
    bool has = opts != NULL && opts->size >= offsetof(cip_array_options, mask) + sizeof opts->mask;
    return has ? opts->mask : NULL;
}

cip_status cip_writer_mask(cip_writer *w, const cip_new_array *a, cip_entry *e, cip_err *err)
{
    cip_source mask = { .dtype = cip_dtype_of(CIP_BOOL), .mem = mask_of(a->opts) };
    cip_shape_nelem(a->ndim, a->shape, &mask.nelem);
    return mask.mem != NULL ? cip_writer_add_mask(w, e, &mask, err) : CIP_OK;
}

static cip_status put_memory(cip_writer *w, const cip_new_array *a, cip_err *err)
{
    cip_entry *e;
    cip_source from = { .dtype = a->dtype, .mem = a->data };
    CIP_TRY(cip_writer_add(w, a, &e, err));
    cip_shape_nelem(a->ndim, a->shape, &from.nelem);
    if (from.mem == NULL && from.nelem != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected data, found NULL");
    CIP_TRY(cip_writer_mask(w, a, e, err));
    return take_data(w, e, &from, err);
}

/* Nothing but the value waits. */
static cip_status put_value(cip_writer *w, const cip_new_array *a, cip_err *err)
{
    cip_entry *e;
    uint8_t *copy;
    CIP_TRY(cip_writer_add(w, a, &e, err));
    const size_t n = (size_t)e->spec.dtype->itemsize;
    CIP_TRY(cip_arena_get(&w->arena, n, (void **)&copy, err));
    memset(copy, 0, n);
    if (a->data != NULL)
        memcpy(copy, a->data, n);
    e->value = copy;
    e->unset = a->data == NULL;
    CIP_TRY(cip_writer_mask(w, a, e, err));
    const cip_source from = cip_writer_waited(e);
    cip_writer_link(w, e);
    w->engine.total += cip_source_nbytes(&from);
    return cip_writer_waits(w, e) ? CIP_OK : cip_writer_give(w, e, &from, err);
}

/* The source's own mask goes along. */
static cip_status put_array(cip_writer *w, const cip_new_array *given, cip_err *err)
{
    const cip_array *a = given->array;
    cip_new_array as = *given;
    cip_status st;
    cip_entry *e;
    cip_read_plan p, m;
    cip_read_args args, mask_args;
    if (a == NULL)
        return cip_fail_null(err, "an array");
    CIP_TRY(cip_read_args_check(given->args, &args, err));
    if (args.dst != NULL || args.strides != NULL || args.mask != NULL || args.noverflow != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected the selection to read, found a destination");
    mask_args = args;
    mask_args.take_mask = true;
    mask_args.dtype = NULL;
    m.array = NULL;
    CIP_TRY(cip_array_lack_check(a, w->o.accept_loss, &w->notes, err));
    CIP_TRY(cip_read_plan_make(a, &args, CIP_AS_STORED, &p, err));
    CIP_GO(cip_read_plan_check_amount(&p, err));
    as.dtype = p.to;
    as.ndim = p.from.ndim;
    as.shape = p.from.shape;
    CIP_GO(cip_writer_add(w, &as, &e, err));
    if (mask_of(given->opts) != NULL)
        CIP_GO(cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an array with the mask of its own file"));
    if (!p.take_mask && (a->mask.kind != CIP_MASK_NONE || p.by_field)) {
        e->spec.masked = true;
        CIP_GO(check_alone(w, e, err));
        CIP_GO(cip_read_plan_make(a, &mask_args, CIP_AS_STORED, &m, err));
        CIP_GO(cip_writer_add_mask(w, e, &(cip_source){ .nelem = m.nelem, .plan = &m }, err));
    }
    const cip_source from = { .nelem = p.nelem, .plan = &p, .policy = args.overflow };
    st = take_data(w, e, &from, err);
done:
    if (m.array != NULL)
        cip_read_plan_clear(&m);
    cip_read_plan_clear(&p);
    return st;
}

cip_status cip_writer_put(cip_writer *w, const cip_new_array *a, cip_err *err)
{
    switch (a->from) {
    case CIP_NEW_OF_MEMORY:
        return put_memory(w, a, err);
    case CIP_NEW_OF_VALUE:
        return put_value(w, a, err);
    case CIP_NEW_OF_ARRAY:
        return put_array(w, a, err);
    default:
        return cip_writer_put_slab(w, a, err);
    }
}

static cip_status find_base(const cip_writer *w, const char *of, cip_entry **out, cip_err *err)
{
    if (!(w->format->store->caps & CIP_STORE_TREE))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s files have no views",
                        w->format->title);
    for (cip_entry *e = w->first; e != NULL && of != NULL; e = e->next)
        if (!e->spec.is_mask && strcmp(e->spec.path, of) == 0) {
            *out = e;
            return CIP_OK;
        }
    return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "no array was added at '%.80s'",
                    of != NULL ? of : "");
}

cip_status cip_writer_put_view(cip_writer *w, const char *path, const char *of,
                               const char *selection, cip_err *err)
{
    cip_entry *e, *base;
    cip_selection sel = { 0 };
    cip_nd whole, view;
    CIP_TRY(cip_arg_given(of, "the path of an array", err));
    CIP_TRY(find_base(w, of, &base, err));
    cip_where where = base->spec.where;
    if (where == CIP_WHERE_INLINE || where == CIP_WHERE_STREAMED)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a view of an array in a block of its own");
    if (selection != NULL && selection[0] != '\0')
        CIP_TRY(cip_selection_parse(selection, &sel, err));
    whole = base->spec.view;
    if (!base->spec.is_view)
        CIP_TRY(cip_view_c_order(base->spec.ndim, base->spec.shape, base->spec.dtype->itemsize,
                                 &whole, err));
    CIP_TRY(cip_view_select(&whole, &sel, &view, NULL, err));
    const cip_new_array a = {
        .path = path, .dtype = base->spec.dtype, .ndim = view.ndim, .shape = view.shape
    };
    CIP_TRY(cip_writer_add(w, &a, &e, err));
    e->spec.is_view = true;
    e->spec.view = view;
    e->spec.where = where;
    e->of = base->of != NULL ? base->of : base;
    cip_writer_link(w, e);
    return cip_writer_waits(w, e) ? CIP_OK : cip_writer_give(w, e, NULL, err);
}

/* --- the tree --------------------------------------------------------------------------------- */

cip_status cip_writer_set(cip_writer *w, const char *path, const cip_given *value, cip_err *err)
{
    const cip_node *n;
    const cip_maker m = { &w->env, &w->arena, w->format->tag_prefix, &w->notes, w->o.accept_loss };
    if (path == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path, found NULL");
    CIP_TRY(cip_given_make(value, &m, &n, err));
    if (cip_writer_has_names(w)) /* elsewhere an array has no place in the tree */
        CIP_TRY(cip_writer_no_array(w, path, err));
    return cip_build_set(&w->tree, path, n, err);
}
