/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of RawArray files. Bytes of raw data change where they are; what comes behind the old
 * end, or moves, makes the rest of the file anew, trailing metadata last, with new sizes in the
 * header. Where the data are one LZ4 block, before or after, the whole file is made anew. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/rawarray/rawarray.h"
#include "io/temporary.h"
#include "space/make/chunker.h"

enum { AT_FLAGS = 8, AT_SIZE = 32, AT_DIMS = 48 };

/* --- begin ------------------------------------------------------------------------------------ */

cip_status cip_ra_update_begin(const cip_store_begin *b, void **state, cip_err *err)
{
    const cip_spec *how = b->spec;
    cip_ra_state *u;
    CIP_TRY(CIP_ARENA_NEW(b->arena, &u, 1, err));
    u->l = b->old;
    u->env = b->env;
    u->temporary = b->temporary;
    u->arena = b->arena;
    u->now = b->now;
    u->now_user = b->now_user;
    u->was = u->h = *(const cip_ra_header *)b->old->own;
    u->level = how->level;
    u->packed = (u->h.flags & CIP_RA_FLAG_LZ4) != 0;
    u->pack = how->codec == NULL ? u->packed : strcmp(how->codec, "lz4") == 0;
    if (how->codec != NULL && !u->pack && strcmp(how->codec, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the codec lz4 or none for RawArray, found %.60s", how->codec);
    if (how->checksum != NULL && strcmp(how->checksum, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "RawArray has no checksums");
    *state = u;
    return CIP_OK;
}

/* --- elements, rows, shapes ------------------------------------------------------------------- */

static cip_array_form packed_form(const cip_ra_state *u)
{
    return (cip_array_form){ .dtype = u->l->array[0]->dtype,
                             .chunk_nbytes = UINT64_MAX,
                             .step = { { cip_codec_find("lz4"), NULL, u->level } },
                             .nstep = 1,
                             .caps = CIP_FORM_PLAIN };
}

cip_status cip_ra_update_form(void *state, const cip_array *a, cip_change_kind kind,
                              const int64_t *shape, cip_change_form *out, cip_err *err)
{
    const cip_ra_state *u = state;
    (void)kind;
    (void)shape;
    (void)err;
    out->form =
        u->packed ? packed_form(u) : (cip_array_form){ .dtype = a->dtype, .caps = CIP_FORM_BYTES };
    return CIP_OK;
}

static void take_shape(cip_ra_header *h, const int64_t *shape)
{
    h->raw_len = h->elbyte;
    for (int32_t i = 0; i < h->ndim; i++) {
        h->dims[i] = (uint64_t)shape[h->ndim - 1 - i];
        h->raw_len *= h->dims[i];
    }
}

cip_status cip_ra_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    cip_ra_state *u = state;
    (void)err;
    u->c = c;
    take_shape(&u->h, cip_chunk_changes_shape(c));
    return CIP_OK;
}

/* What LZ4 makes of the data, and whether it stays, is known at the commit. */
cip_status cip_ra_update_tree_now(void *state, const cip_node **root, cip_err *err)
{
    const cip_ra_state *u = state;
    const cip_array *now = u->now(u->now_user, u->l->array[0]);
    cip_ra_header h = u->was;
    *root = u->l->tree;
    if (now == u->l->array[0] && u->pack == u->packed)
        return CIP_OK;
    take_shape(&h, now->view.shape);
    h.flags &= ~(uint64_t)CIP_RA_FLAG_LZ4;
    h.size = u->pack ? CIP_RA_SIZE_UNKNOWN : h.raw_len;
    return cip_ra_tree(u->arena, &h, cip_map_get(u->l->tree, "metadata"), root, err);
}

/* --- the revision ----------------------------------------------------------------------------- */

/* The header in the file with other flags, size and dims; all else as it is. */
static cip_status new_header(cip_ra_state *u, uint64_t flags, uint64_t size, uint8_t *head,
                             cip_err *err)
{
    bool big = u->was.header_big;
    CIP_TRY(cip_io_read(u->l->io, 0, head, (size_t)u->was.data_off, err));
    cip_store_u64(head + AT_FLAGS, flags, big);
    cip_store_u64(head + AT_SIZE, size, big);
    for (int32_t i = 0; i < u->h.ndim; i++)
        cip_store_u64(head + AT_DIMS + 8 * i, u->h.dims[i], big);
    return CIP_OK;
}

static cip_status store_packed(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                               cip_err *err)
{
    cip_ra_state *u = user;
    (void)i;
    (void)n;
    u->plain = chunk->plain;
    if (chunk->plain)
        return CIP_OK;
    u->data.off = u->temporary->size;
    u->data.len = chunk->bytes.len;
    return cip_temporary_write(u->temporary, u->data.off, chunk->bytes.ptr, chunk->bytes.len, err);
}

/* The data as one LZ4 block, if that makes them smaller. */
static cip_status pack(cip_ra_state *u, cip_err *err)
{
    const cip_array_form form = packed_form(u);
    const cip_chunker_to to = { store_packed, u, NULL };
    const cip_segment raw = u->data;
    cip_chunker *c;
    CIP_TRY(cip_chunker_new_apart(u->env, &form, raw.len, 1, &to, &c, err));
    cip_status st = cip_chunker_chunk(c, 0, u->temporary, raw.off, raw.len, err);
    if (st == CIP_OK)
        st = cip_chunker_finish(c, err);
    cip_chunker_free(c);
    return st;
}

static cip_status make_data(cip_ra_state *u, cip_err *err)
{
    cip_chunk_now now;
    if (u->pack && u->h.raw_len > CIP_RA_LZ4_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d bytes for one LZ4 block, found %" PRIu64,
                        CIP_RA_LZ4_MAX, u->h.raw_len);
    if (!u->pack || !u->packed || u->h.raw_len == 0) {
        /* All data decoded, behind what is in the temporary file. */
        const cip_read_how how = { u->l, u->env->pool };
        cip_space *all = u->c != NULL ? cip_chunk_changes_space(u->c) : u->l->block[0].data;
        cip_out out = cip_temporary_out(u->temporary);
        CIP_TRY(cip_space_resolve(all, &all, err));
        u->data = (cip_segment){ .io = u->temporary, .off = u->temporary->size, .len = all->len };
        u->plain = true;
        CIP_TRY(cip_space_write_out(&how, all, &out, err));
        return u->pack && u->h.raw_len != 0 ? pack(u, err) : CIP_OK;
    }
    cip_chunk_changes_at(u->c, 0, &now);
    u->plain = now.from == UINT64_MAX && now.chunk.codec != NULL;
    u->data =
        now.from == UINT64_MAX
            ? (cip_segment){ .io = u->temporary, .off = now.chunk.at.off, .len = now.chunk.at.len }
            : (cip_segment){ .io = u->l->io, .off = u->was.data_off, .len = u->was.size };
    return CIP_OK;
}

static cip_status finish_anew(cip_ra_state *u, cip_revision *r, cip_err *err)
{
    uint8_t head[CIP_RA_HEADER_MAX];
    uint64_t flags = u->was.flags & ~(uint64_t)CIP_RA_FLAG_LZ4;
    const uint64_t end = u->was.data_off + u->was.size;
    CIP_TRY(make_data(u, err));
    if (!u->plain)
        flags |= CIP_RA_FLAG_LZ4;
    CIP_TRY(new_header(u, flags, u->data.len, head, err));
    r->anew = true;
    r->has_tail = true;
    r->tail_off = 0;
    CIP_TRY(cip_revision_bytes(r, head, (size_t)u->was.data_off, err));
    CIP_TRY(cip_revision_range(r, u->data.io, u->data.off, u->data.len, err));
    return cip_revision_range(r, u->l->io, end, u->l->io->size - end, err); /* the metadata */
}

static cip_status finish_in_place(cip_ra_state *u, cip_revision *r, cip_err *err)
{
    uint8_t head[CIP_RA_HEADER_MAX];
    CIP_TRY(cip_chunk_changes_revise(u->c, u->l->io, u->was.data_off, r, err));
    if (memcmp(u->h.dims, u->was.dims, sizeof u->h.dims) == 0)
        return CIP_OK;
    CIP_TRY(new_header(u, u->was.flags, u->h.raw_len, head, err));
    CIP_TRY(cip_patch_bytes(&r->patch, AT_SIZE, head + AT_SIZE, 8, err));
    for (int32_t i = 0; i < u->h.ndim; i++) { /* any of them: axes before may have one element */
        const size_t dim = AT_DIMS + 8 * (size_t)i;
        if (u->h.dims[i] != u->was.dims[i])
            CIP_TRY(cip_patch_bytes(&r->patch, dim, head + dim, 8, err));
    }
    return CIP_OK;
}

cip_status cip_ra_update_finish(void *state, cip_revision *r, cip_err *err)
{
    cip_ra_state *u = state;
    r->patch.old_len = r->patch.new_len = u->l->io->size;
    if (u->c == NULL && u->pack == u->packed)
        return CIP_OK;
    return u->packed || u->pack ? finish_anew(u, r, err) : finish_in_place(u, r, err);
}
