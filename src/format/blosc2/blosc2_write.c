/* SPDX-License-Identifier: BSD-3-Clause
 * New frames: the header, then the chunks as they come, the index of their places and the trailer.
 * The header's lengths of all of it are known last and patched. A sparse frame is the same in a
 * folder: a file for each chunk, then one with all the rest. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/blosc2/blosc2_update.h"
#include "format/one_array.h"

enum { LENGTHS_AT = 0x10, LENGTHS_END = 0x2F /* of the header: frame_len to cbytes */ };

/* --- what cannot be held ---------------------------------------------------------------------- */

/* Of a tree that is a mapping what msgpack holds is kept; no other has a place. */
static cip_status check_tree(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    static const char who[] = "Blosc2 frames";
    cip_arena arena = { .mem = &spec->env->mem };
    cip_b2_metas meta, vlmeta;
    cip_tree_rest rest = { .spec = spec };
    cip_status st;
    cip_tell_names(spec, who, loss);
    if (cip_b2_is_bare(spec))
        return cip_tell_tree(spec, NULL, "Blosc chunks", loss, err);
    if (cip_node_kind(spec->tree) != CIP_NODE_MAP)
        return cip_tell_tree(spec, NULL, who, loss, err);
    for (uint32_t i = 0; i < spec->tree->len; i++) {
        const cip_node *key = spec->tree->pair[i].key;
        rest.origin = rest.origin || (key->type == CIP_NODE_STRING &&
                                      cip_is_word_of(spec->origin_keys, key->text, key->len));
    }
    cip_tell_origin(spec, &rest, who, loss);
    st = cip_b2_keep_tree(spec, &arena, &meta, &vlmeta, loss, err);
    cip_arena_clear(&arena);
    return st;
}

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    CIP_TRY(check_tree(spec, loss, err));
    if (spec->narray != 1)
        cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, NULL,
                       "a Blosc2 frame holds one array, there are %zu", spec->narray);
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        cip_b2_check_array(spec, a, loss);
        if (cip_numpy_loses_name(a->dtype))
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the name of an opaque type is lost: %.120s", cip_dtype_name(a->dtype));
    }
    return cip_report_status(loss, err);
}

/* --- the header ------------------------------------------------------------------------------- */

static void fill_header(const cip_b2_how *how, cip_b2_header *h)
{
    static const uint8_t split[] = { 2, 0, 1 }; /* by cip_blosc_split */
    const uint8_t codec = (uint8_t)how->blosc.compcode;
    *h = (cip_b2_header){ .codec = codec <= CIP_BLOSC_ZSTD ? codec : CIP_B2_USER_CODEC,
                          .user_codec = codec,
                          .level = (uint8_t)how->blosc.level,
                          .split = split[how->blosc.split],
                          .sparse = how->sparse,
                          .nbytes = how->nbytes,
                          .typesize = how->blosc.typesize,
                          .blocksize = how->block_size,
                          .chunksize = how->chunk_size,
                          .codec_meta = how->blosc.codec_meta,
                          .dict = how->blosc.dict };
    memcpy(h->filter, how->blosc.filter, sizeof h->filter);
    memcpy(h->filter_meta, how->blosc.filter_meta, sizeof h->filter_meta);
}

/* `kept`: the metalayers beside b2nd. */
static cip_status add_header(cip_b2_state *w, const cip_b2_metas *kept, cip_err *err)
{
    uint8_t fixed[CIP_B2_HEADER_MIN];
    cip_buf nd = { .mem = &w->env->mem };
    cip_b2_meta meta[CIP_B2_MAX_META] = { { .name = { (const uint8_t *)"b2nd", 4 } } };
    const size_t own = w->how.plain ? 0 : 1;
    const cip_b2_metas metas = { meta, own + kept->n };
    cip_status st;
    if (kept->n != 0)
        memcpy(meta + own, kept->at, kept->n * sizeof *meta);
    cip_b2_header_write(&w->h, w->vlmeta.n != 0, fixed);
    CIP_GO(cip_buf_add(&w->header, fixed, sizeof fixed, err));
    if (!w->how.plain) {
        CIP_GO(cip_b2_nd_write(&nd, &w->how.nd, err));
        meta[0].value = (cip_bytes){ nd.ptr, nd.len };
    }
    CIP_GO(cip_b2_metas_write(&w->header, &metas, false, err));
    w->h.header_len = w->header.len;
    cip_b2_header_write(&w->h, w->vlmeta.n != 0, w->header.ptr);
    st = CIP_OK;
done:
    cip_buf_clear(&nd);
    return st;
}

/* With what is kept of the tree; the trailer's part of it, too. */
static cip_status make_header(cip_b2_state *w, const cip_node *root, cip_err *err)
{
    cip_spec spec = w->spec;
    cip_b2_metas meta;
    spec.tree = root;
    w->header.len = 0;
    CIP_TRY(cip_b2_keep_tree(&spec, w->arena, &meta, &w->vlmeta, NULL, err));
    return add_header(w, &meta, err);
}

/* --- the beginning ---------------------------------------------------------------------------- */

void cip_b2_fill_form(cip_b2_state *u, const cip_dtype *d, const int64_t *shape,
                      cip_array_form *form)
{
    const cip_b2_nd *nd = &u->how.nd;
    u->grid = (cip_grid){ .itemsize = nd->item,
                          .ndim = nd->ndim,
                          .blocked = true,
                          .shape = shape,
                          .chunk = nd->chunk,
                          .stored = nd->stored,
                          .block = nd->block };
    form->dtype = d;
    form->grid = u->how.plain ? NULL : &u->grid;
    form->chunk_nbytes = u->how.chunk_size;
    form->step[0] = (cip_form_step){ .codec = &cip_codec_blosc, .args = &u->how.blosc };
    form->nstep = 1;
    /* NaN chunks are of little-endian numbers, as the headers of all our chunks say. */
    const bool nan = (d->kind == CIP_F32 || d->kind == CIP_F64) && !d->big;
    form->specials = CIP_FORM_SPECIAL(CIP_CHUNK_ZERO) | CIP_FORM_SPECIAL(CIP_CHUNK_VALUE) |
                     CIP_FORM_SPECIAL(CIP_CHUNK_UNINIT) |
                     (nan ? CIP_FORM_SPECIAL(CIP_CHUNK_NAN) : 0);
    form->caps = u->how.takes ? CIP_FORM_TAKES : 0;
}

static cip_status begin_new(cip_b2_state *w, const cip_store_begin *b, cip_err *err)
{
    const cip_spec *spec = b->spec;
    const cip_dtype *stored;
    if (spec->narray != 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a new Blosc2 frame of one array");
    w->out = b->out;
    CIP_TRY(cip_numpy_stored(b->arena, spec, spec->array[0].dtype, &stored, err));
    CIP_TRY(cip_b2_choose(spec, stored, b->arena, &w->how, err));
    fill_header(&w->how, &w->h);
    cip_b2_fill_form(w, stored, w->how.nd.shape, b->form);
    if (w->how.bare) {
        b->form->specials = w->how.blosc.blosc1 ? 0 : b->form->specials;
        return CIP_OK;
    }
    if (w->how.sparse && b->out->member == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a folder of files cannot be written to a pipe");
    cip_status st = make_header(w, spec->tree, err);
    if (st == CIP_OK && !w->how.sparse)
        st = cip_out_write(w->out, w->header.ptr, w->header.len, err);
    if (st != CIP_OK)
        cip_buf_clear(&w->header);
    return st;
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    cip_b2_state *w;
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
    w->env = b->env;
    w->arena = b->arena;
    w->spec = *b->spec;
    w->offsets.mem = w->part.mem = w->header.mem = &b->env->mem;
    CIP_TRY(b->old != NULL ? cip_b2_update_begin(w, b, err) : begin_new(w, b, err));
    *state = w;
    return CIP_OK;
}

/* --- chunks ----------------------------------------------------------------------------------- */

static cip_status add_entries(cip_b2_state *w, uint64_t entry, uint64_t n, cip_err *err)
{
    w->next += n;
    return cip_b2_entries_add(&w->offsets, entry, n, err);
}

/* A file has the number of its chunk; those of special ones stay free. */
static cip_status put_chunk(cip_b2_state *w, cip_bytes chunk, cip_err *err)
{
    char name[CIP_IO_NUMBER_NAME];
    cip_out *to = w->out;
    const uint64_t entry = w->how.sparse ? w->next : w->h.cbytes;
    if (w->how.sparse) {
        cip_b2_member_name(NULL, entry, NULL, name);
        CIP_TRY(w->out->member(w->out->member_user, name, &to, err));
    }
    w->h.cbytes += chunk.len;
    CIP_TRY(add_entries(w, entry, 1, err));
    return cip_out_write(to, chunk.ptr, chunk.len, err);
}

static cip_status put_entry(cip_b2_state *w, const cip_chunk_in *c, cip_err *err)
{
    if (w->how.bare) {
        /* The file is the chunk, a special one too. */
        static const cip_blosc_special code[] = { [CIP_CHUNK_ZERO] = CIP_BLOSC_ZEROS,
                                                  [CIP_CHUNK_NAN] = CIP_BLOSC_NANS,
                                                  [CIP_CHUNK_VALUE] = CIP_BLOSC_VALUE,
                                                  [CIP_CHUNK_UNINIT] = CIP_BLOSC_UNINIT };
        const size_t cap = CIP_BLOSC_HEADER + w->how.blosc.typesize;
        uint8_t *at;
        size_t n;
        w->next++;
        if (c->state == CIP_CHUNK_DATA)
            return cip_out_write(w->out, c->bytes.ptr, c->bytes.len, err);
        CIP_TRY(cip_buf_reserve(&w->part, cap, &at, err));
        CIP_TRY(cip_blosc_encode_special(&w->how.blosc, code[c->state], c->value,
                                         (uint32_t)c->raw_len, at, cap, &n, err));
        return cip_out_write(w->out, at, n, err);
    }
    const uint64_t special = cip_b2_special_entry(c->state, c->bytes.ptr, c->bytes.len);
    if (c->state == CIP_CHUNK_VALUE) {
        /* Only chunks of a value lie in the frame, each by itself, so that each can be replaced. */
        w->part.len = 0;
        CIP_TRY(cip_b2_value_write(&w->part, &w->how.blosc, w->how.blosc.typesize, c->value,
                                   c->raw_len, err));
        for (uint64_t i = 0; i < c->run; i++)
            CIP_TRY(put_chunk(w, (cip_bytes){ w->part.ptr, w->part.len }, err));
        return CIP_OK;
    }
    return special != 0 ? add_entries(w, special, c->run, err) : put_chunk(w, c->bytes, err);
}

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    cip_b2_state *w = state;
    (void)array;
    for (size_t k = 0; k < n; k++) {
        if (chunk[k].raw_len == 0)
            continue;
        if (i != w->next || chunk[k].run > w->how.nchunk - i)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected chunk %" PRIu64 " of %" PRIu64 ", found %" PRIu64, w->next,
                            w->how.nchunk, i);
        i += chunk[k].run;
        CIP_TRY(put_entry(w, &chunk[k], err));
    }
    return CIP_OK;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Chunks count from the end of the header. */
static cip_status tree(void *state, const cip_node *root, cip_err *err)
{
    cip_b2_state *w = state;
    const size_t was = w->header.len;
    if (w->how.bare)
        return CIP_OK;
    CIP_TRY(make_header(w, root, err));
    return w->how.sparse ? CIP_OK : cip_out_front(w->out, was, w->header.ptr, w->header.len, err);
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    cip_b2_state *w = state;
    if (w->f != NULL)
        return cip_b2_update_finish(w, r, err);
    if (w->next != w->how.nchunk)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " chunks, found %" PRIu64, w->how.nchunk, w->next);
    if (w->how.bare && w->next != 0)
        return CIP_OK;
    if (w->how.bare) {
        uint8_t chunk[CIP_BLOSC_HEADER]; /* of no bytes */
        size_t n;
        CIP_TRY(cip_blosc_encode(&w->env->mem, &w->how.blosc, (cip_bytes){ NULL, 0 }, chunk,
                                 sizeof chunk, &n, err));
        return cip_out_write(w->out, chunk, n, err);
    }
    cip_b2_tell_many(w->spec.notes, w->vlmeta.n);
    /* Behind the chunks, or of a folder as a file. */
    cip_out *to = w->out;
    w->part.len = 0;
    CIP_TRY(cip_b2_index_write(w->env, w->offsets.ptr, w->next, &w->part, err));
    CIP_TRY(cip_b2_trailer_write(&w->part, &w->vlmeta, err));
    if (w->how.sparse)
        CIP_TRY(w->out->member(w->out->member_user, cip_b2_sparse_index, &to, err));
    w->h.frame_len = w->h.header_len + (w->how.sparse ? 0 : w->h.cbytes) + w->part.len;
    cip_b2_header_write(&w->h, w->vlmeta.n != 0, w->header.ptr);
    if (w->how.sparse)
        CIP_TRY(cip_out_write(to, w->header.ptr, w->header.len, err));
    CIP_TRY(cip_out_write(to, w->part.ptr, w->part.len, err));
    if (w->how.sparse)
        return CIP_OK;
    return cip_patch_bytes(&r->patch, LENGTHS_AT, w->header.ptr + LENGTHS_AT,
                           LENGTHS_END - LENGTHS_AT, err);
}

static void clear(void *state)
{
    cip_b2_state *w = state;
    cip_buf_clear(&w->offsets);
    cip_buf_clear(&w->part);
    cip_buf_clear(&w->header);
}

/* A folder is written without a look back. */
static uint32_t caps_for(const cip_spec *spec)
{
    return CIP_STORE_ONE_ARRAY | CIP_STORE_UPDATES |
           (cip_b2_is_bare(spec)     ? 0
            : cip_b2_is_sparse(spec) ? CIP_STORE_FOLDER
                                     : CIP_STORE_PATCHES);
}

const cip_array_store cip_b2_store = {
    .caps = CIP_STORE_ONE_ARRAY | CIP_STORE_UPDATES | CIP_STORE_PATCHES,
    .caps_for = caps_for,
    .check = check,
    .begin = begin,
    .store = store,
    .tree = tree,
    .set = cip_b2_update_set,
    .remove = cip_b2_update_remove,
    .move = cip_b2_update_move,
    .mark = cip_b2_update_mark,
    .tree_now = cip_b2_update_tree_now,
    .defrag = cip_b2_update_defrag,
    .form = cip_b2_update_form,
    .chunks = cip_b2_update_chunks,
    .finish = finish,
    .clear = clear,
};
