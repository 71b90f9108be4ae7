/* SPDX-License-Identifier: BSD-3-Clause
 * New files: header, metadata and offsets of -1, all known from the array's shape; chunks with
 * their digests as they come; then the offsets. Those stay -1 on a pipe, where the chunks are found
 * by a walk. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/bloscpack/bloscpack.h"
#include "format/one_array.h"

typedef struct writer {
    bool is_update; /* false: not the state of an update, which begins so too */
    cip_env *env;
    cip_out *out;
    const cip_spec *spec;
    const cip_dtype *stored;
    cip_bp_how how;
    cip_bp_header h;
    uint64_t offsets_at;
    uint64_t left;   /* decoded bytes still to come */
    cip_buf offsets; /* of the chunks so far, as they are stored */
} writer;

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

cip_status cip_bp_front(cip_env *env, const cip_bp_header *h, const cip_bp_described *d,
                        cip_buf *out, cip_err *err)
{
    uint8_t head[CIP_BP_HEADER];
    cip_buf json = { .mem = &env->mem };
    cip_bp_header_write(h, head);
    cip_status st = cip_buf_add(out, head, sizeof head, err);
    if (st == CIP_OK)
        st = cip_bp_numpy_json(env, d, &json, err);
    if (st == CIP_OK)
        st = cip_bp_meta_section(env, (cip_bytes){ json.ptr, json.len },
                                 h->sum != CIP_SUM_NONE ? h->sum : CIP_SUM_ADLER32, 0, out, err);
    cip_buf_clear(&json);
    return st;
}

static cip_status make_front(const writer *w, const cip_node *tree, cip_buf *front, cip_err *err)
{
    const cip_spec_array *a = w->spec->array;
    const cip_bp_described d = {
        .dtype = w->stored, .ndim = a->ndim, .shape = a->shape, .more = more_of(w->env, tree)
    };
    return cip_bp_front(w->env, &w->h, &d, front, err);
}

static cip_status write_front(writer *w, cip_err *err)
{
    cip_buf front = { .mem = &w->env->mem };
    cip_status st = make_front(w, w->spec->tree, &front, err);
    if (st == CIP_OK)
        st = cip_out_write(w->out, front.ptr, front.len, err);
    cip_buf_clear(&front);
    w->offsets_at = w->out->n;
    if (st != CIP_OK || !w->how.offsets)
        return st;
    return cip_out_fill(w->out, 0xff, 8 * ((uint64_t)w->h.nchunk + w->h.nspare), err);
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

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    const cip_spec *spec = b->spec;
    writer *w;
    if (b->old != NULL)
        return cip_bp_update_begin(b, state, err);
    if (spec->narray != 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a bloscpack file holds one array, there are %zu", spec->narray);
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
    w->env = b->env;
    w->out = b->out;
    w->offsets.mem = &b->env->mem;
    w->spec = spec;
    CIP_TRY(cip_numpy_stored(b->arena, spec, spec->array[0].dtype, &w->stored, err));
    CIP_TRY(cip_bp_choose(spec, w->stored, NULL, &w->how, err));
    CIP_TRY(cip_spec_array_nbytes(&spec->array[0], w->stored, &w->left, err));
    CIP_TRY(cip_bp_make_header(&w->how, w->left, &w->h, err));
    CIP_TRY(write_front(w, err));
    cip_bp_form(&w->how, w->stored, b->form);
    *state = w;
    return CIP_OK;
}

/* --- chunks ----------------------------------------------------------------------------------- */

static cip_status store_chunk(writer *w, const cip_chunk_in *c, cip_err *err)
{
    uint8_t digest[CIP_SUM_MAX], at[8];
    if (c->state != CIP_CHUNK_DATA || c->raw_len > w->left)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " bytes of data, found %" PRIu64, w->left,
                        c->raw_len);
    w->left -= c->raw_len;
    cip_store_u64(at, w->out->n, false);
    CIP_TRY(cip_buf_add(&w->offsets, at, sizeof at, err));
    CIP_TRY(cip_out_write(w->out, c->bytes.ptr, c->bytes.len, err));
    cip_bp_digest(w->how.sum, c->sum, digest);
    return cip_out_write(w->out, digest, cip_sum_size(w->how.sum), err);
}

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    (void)array;
    (void)i;
    for (size_t k = 0; k < n; k++)
        if (chunk[k].raw_len != 0)
            CIP_TRY(store_chunk(state, &chunk[k], err));
    return CIP_OK;
}

cip_status cip_bp_empty_chunk(cip_env *env, const cip_bp_how *how, cip_chunk_in *out,
                              uint8_t *bytes, cip_err *err)
{
    size_t n;
    *out = (cip_chunk_in){ .run = 1 };
    CIP_TRY(cip_blosc_encode(&env->mem, &how->blosc, (cip_bytes){ NULL, 0 }, bytes,
                             CIP_BLOSC_HEADER, &n, err));
    out->bytes = (cip_bytes){ bytes, n };
    return how->sum == CIP_SUM_NONE ? CIP_OK
                                    : cip_sum_of(&env->mem, how->sum, out->bytes, out->sum, err);
}

/* The offsets count from the beginning of the file. */
static cip_status tree(void *state, const cip_node *root, cip_err *err)
{
    writer *w = state;
    cip_buf front = { .mem = &w->env->mem };
    cip_status st = make_front(w, root, &front, err);
    if (st == CIP_OK)
        st = cip_out_front(w->out, w->offsets_at, front.ptr, front.len, err);
    for (size_t i = 0; i < w->offsets.len; i += 8)
        cip_store_u64(w->offsets.ptr + i,
                      cip_load_u64(w->offsets.ptr + i, false) - w->offsets_at + front.len, false);
    w->offsets_at = front.len;
    cip_buf_clear(&front);
    return st;
}

/* An array of nothing is one chunk of nothing. */
static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    writer *w = state;
    cip_chunk_in none;
    uint8_t bytes[CIP_BLOSC_HEADER];
    if (w->is_update)
        return cip_bp_update_finish(state, r, err);
    if (w->left != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes more of data, found the end", w->left);
    if (w->offsets.len == 0) {
        CIP_TRY(cip_bp_empty_chunk(w->env, &w->how, &none, bytes, err));
        CIP_TRY(store_chunk(w, &none, err));
    }
    if (!w->how.offsets || w->out->rewrite == NULL)
        return CIP_OK;
    return cip_patch_bytes(&r->patch, w->offsets_at, w->offsets.ptr, w->offsets.len, err);
}

static void clear(void *state)
{
    writer *w = state;
    if (!w->is_update)
        cip_buf_clear(&w->offsets);
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
