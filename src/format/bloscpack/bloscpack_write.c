/* SPDX-License-Identifier: BSD-3-Clause
 * New files: header, metadata and offsets of -1, all known from the array's shape; chunks with
 * their digests as they come; then the offsets. Those stay -1 on a pipe, where the chunks are found
 * by a walk. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/bloscpack/bloscpack.h"
#include "format/one_array.h"

/* --- what cannot be held ---------------------------------------------------------------------- */

/* The keys beside those of the array: "metadata" of any tree, if it is a mapping that JSON holds.
 * NULL: there are none. */
static const cip_node *more_of(cip_env *env, const cip_node *tree)
{
    const cip_node *m = cip_node_kind(tree) == CIP_NODE_MAP ? cip_map_get(tree, "metadata") : NULL;
    if (cip_node_kind(m) != CIP_NODE_MAP || !cip_json_holds(env, m, false, 0))
        return NULL;
    for (uint32_t i = 0; i < m->len; i++)
        if (cip_bp_is_numpy_key(m->pair[i].key))
            return NULL;
    return m;
}

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    const char *taken = more_of(spec->env, spec->tree) != NULL ? "metadata" : NULL;
    CIP_TRY(cip_tell_rest(spec, taken, "bloscpack files", loss, err));
    if (spec->narray != 1)
        cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, NULL,
                       "a bloscpack file holds one array, there are %zu", spec->narray);
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        if (a->masked)
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the mask is lost: bloscpack files have none");
        if (a->dtype->itemsize == 0)
            cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "elements of no bytes cannot be written: %.120s",
                           cip_dtype_name(a->dtype));
        if (cip_numpy_loses_name(a->dtype))
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the name of an opaque type is lost: %.120s", cip_dtype_name(a->dtype));
    }
    return cip_report_status(loss, err);
}

/* --- the front -------------------------------------------------------------------------------- */

cip_status cip_bp_new_meta(const cip_bp_state *s, cip_buf *out, cip_err *err)
{
    const cip_sum_id sum = s->h.sum != CIP_SUM_NONE ? s->h.sum : CIP_SUM_ADLER32;
    cip_buf json = { .mem = &s->env->mem };
    cip_status st = cip_bp_numpy_json(s->env, &s->d, &json, err);
    if (st == CIP_OK)
        st = cip_bp_meta_section(s->env, (cip_bytes){ json.ptr, json.len }, sum, 0, out, err);
    cip_buf_clear(&json);
    return st;
}

void cip_bp_form(const cip_bp_how *how, const cip_dtype *d, cip_array_form *form)
{
    form->dtype = d;
    form->chunk_nbytes = how->chunk_size;
    form->step[0] = (cip_form_step){ .codec = &cip_codec_blosc, .args = &how->blosc };
    form->nstep = 1;
    form->codec_env.typesize = how->blosc.typesize;
    form->sum_id = (uint8_t)how->sum;
    form->caps = how->takes ? CIP_FORM_TAKES : 0;
}

static cip_status begin_new(cip_bp_state *s, const cip_store_begin *b, cip_err *err)
{
    const cip_spec_array *a = s->spec->array;
    if (s->spec->narray != 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a bloscpack file holds one array, there are %zu", s->spec->narray);
    s->d = (cip_bp_described){ .ndim = a->ndim,
                               .shape = a->shape,
                               .more = more_of(s->env, s->spec->tree) };
    CIP_TRY(cip_numpy_stored(b->arena, s->spec, a->dtype, &s->d.dtype, err));
    CIP_TRY(cip_bp_choose(s->spec, s->d.dtype, NULL, &s->how, err));
    CIP_TRY(cip_spec_array_nbytes(a, s->d.dtype, &s->left, err));
    CIP_TRY(cip_bp_make_header(&s->how, s->left, &s->h, err));
    s->file.out = b->out;
    s->file.sum = s->how.sum;
    s->file.offsets = s->how.offsets;
    s->file.n = (uint64_t)s->h.nchunk;
    s->file.nfree = s->h.nspare;
    cip_bp_header_write(&s->h, s->file.head);
    cip_bp_form(&s->how, s->d.dtype, b->form);
    cip_buf meta = { .mem = &s->env->mem };
    cip_status st = cip_bp_new_meta(s, &meta, err);
    if (st == CIP_OK)
        st = cip_bp_put_front(&s->file, &(cip_segment){ .ptr = meta.ptr, .len = meta.len }, err);
    cip_buf_clear(&meta);
    return st;
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    cip_bp_state *s;
    CIP_TRY(CIP_ARENA_NEW(b->arena, &s, 1, err));
    s->env = s->file.env = b->env;
    s->file.places.mem = &b->env->mem;
    s->spec = b->spec;
    s->old = b->old != NULL ? b->old->own : NULL;
    CIP_TRY(s->old != NULL ? cip_bp_update_begin(s, err) : begin_new(s, b, err));
    *state = s;
    return CIP_OK;
}

/* --- chunks ----------------------------------------------------------------------------------- */

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    cip_bp_state *s = state;
    (void)array;
    (void)i;
    for (size_t k = 0; k < n; k++) {
        cip_bp_piece p;
        if (chunk[k].raw_len == 0)
            continue;
        CIP_TRY(cip_bp_piece_in(&chunk[k], s->how.sum, &s->left, &p, err));
        CIP_TRY(cip_bp_put_chunk(&s->file, &p, err));
    }
    return CIP_OK;
}

cip_status cip_bp_empty_chunk(const cip_bp_state *s, cip_bp_piece *out, uint8_t *bytes,
                              cip_err *err)
{
    cip_mem *mem = &s->env->mem;
    size_t n;
    CIP_TRY(cip_blosc_encode(mem, &s->how.blosc, (cip_bytes){ NULL, 0 }, bytes, CIP_BLOSC_HEADER,
                             &n, err));
    *out = (cip_bp_piece){ .bytes = { .ptr = bytes, .len = n }, .sum = s->how.sum };
    return out->sum == CIP_SUM_NONE
               ? CIP_OK
               : cip_sum_of(mem, out->sum, (cip_bytes){ bytes, n }, out->own, err);
}

/* The offsets count from the beginning of the file. */
static cip_status tree(void *state, const cip_node *root, cip_err *err)
{
    cip_bp_state *s = state;
    cip_bp_container *f = &s->file;
    const uint64_t was = f->offsets_at;
    cip_buf front = { .mem = &s->env->mem };
    s->d.more = more_of(s->env, root);
    cip_status st = cip_buf_add(&front, f->head, sizeof f->head, err);
    if (st == CIP_OK)
        st = cip_bp_new_meta(s, &front, err);
    if (st == CIP_OK)
        st = cip_out_front(f->out, was, front.ptr, front.len, err);
    f->offsets_at = front.len;
    for (uint8_t *at = f->places.ptr; at < f->places.ptr + f->places.len; at += 8)
        cip_store_u64(at, cip_load_u64(at, false) - was + front.len, false);
    cip_buf_clear(&front);
    return st;
}

/* An array of nothing is one chunk of nothing. */
static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    cip_bp_state *s = state;
    const cip_buf *places = &s->file.places;
    cip_bp_piece none;
    uint8_t bytes[CIP_BLOSC_HEADER];
    if (s->old != NULL)
        return cip_bp_update_finish(s, r, err);
    if (s->left != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " more bytes of data, found the end", s->left);
    if (s->h.last_chunk == 0) {
        CIP_TRY(cip_bp_empty_chunk(s, &none, bytes, err));
        CIP_TRY(cip_bp_put_chunk(&s->file, &none, err));
    }
    return s->file.out->rewrite != NULL
               ? cip_patch_bytes(&r->patch, s->file.offsets_at, places->ptr, places->len, err)
               : CIP_OK;
}

static void clear(void *state)
{
    cip_buf_clear(&((cip_bp_state *)state)->file.places);
}

const cip_array_store cip_bp_store = {
    .caps = CIP_STORE_ONE_ARRAY | CIP_STORE_UPDATES | CIP_STORE_SUMS | CIP_STORE_COMPLETES,
    .check = check,
    .begin = begin,
    .store = store,
    .tree = tree,
    .form = cip_bp_update_form,
    .chunks = cip_bp_update_chunks,
    .finish = finish,
    .clear = clear,
};
