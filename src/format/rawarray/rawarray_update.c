/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of RawArray files. Elements of raw data change where they are; rows are added behind the
 * data, before the trailing metadata, with new sizes in the header. Where the data are one LZ4
 * block, or another axis than the slowest one changes, the whole file is made anew. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/rawarray/rawarray.h"
#include "io/temporary.h"
#include "space/changes.h"
#include "space/chunker.h"

enum { AT_FLAGS = 8, AT_SIZE = 32, AT_DIMS = 48 };

typedef struct update {
    bool is_update; /* true: not a writer of new files, whose state begins so too */
    cip_layout *l;
    cip_env *env;
    cip_ra_header was, h; /* as it is in the file, as it becomes: dims and raw_len */
    int level;
    bool pack; /* the data are to be one LZ4 block */
    cip_changes_amount amount;
    cip_changes data;
    bool packed; /* they are, in the temporary file */
    cip_io *temporary;
} update;

/* --- begin and end ------------------------------------------------------------------------------
 */

void cip_ra_update_clear(void *state)
{
    update *u = state;
    cip_changes_end(&u->data);
}

cip_status cip_ra_update_begin(const cip_store_begin *b, void **state, cip_err *err)
{
    const cip_spec *how = b->spec;
    cip_layout *l = b->old;
    update *u;
    CIP_TRY(CIP_ARENA_NEW(b->arena, &u, 1, err));
    u->is_update = true;
    u->l = l;
    u->env = b->env;
    u->temporary = b->temporary;
    u->was = u->h = *(const cip_ra_header *)l->own;
    u->level = how->level;
    bool packed = (u->h.flags & CIP_RA_FLAG_LZ4) != 0;
    u->pack = how->codec == NULL ? packed : strcmp(how->codec, "lz4") == 0;
    cip_changes_begin(&u->data, l, &l->block[0], !packed, &u->amount);
    u->data.itemsize = u->h.elbyte;
    if (how->codec != NULL && !u->pack && strcmp(how->codec, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the codec lz4 or none for RawArray, found %.60s", how->codec);
    if (how->checksum != NULL && strcmp(how->checksum, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "RawArray has no checksums");
    *state = u;
    return CIP_OK;
}

/* --- elements, rows, shapes ---------------------------------------------------------------------
 */

cip_status cip_ra_update_form(void *state, const cip_array *a, cip_change_kind kind,
                              const int64_t *shape, cip_change_form *out, cip_err *err)
{
    update *u = state;
    int64_t now[CIP_MAX_NDIM];
    (void)a;
    (void)kind;
    (void)shape;
    cip_ra_shape(&u->h, now);
    out->bytes = &u->data;
    out->array.ends = true;
    return cip_view_c_order(u->h.ndim, now, u->h.elbyte, &out->array.at, err);
}

cip_status cip_ra_update_reshaped(void *state, const cip_array *a, const int64_t *shape,
                                  cip_changes *content, cip_err *err)
{
    update *u = state;
    cip_ra_header *h = &u->h;
    (void)a;
    (void)err;
    h->raw_len = h->elbyte;
    for (int32_t i = 0; i < h->ndim; i++) {
        h->dims[i] = (uint64_t)shape[h->ndim - 1 - i];
        h->raw_len *= h->dims[i];
    }
    if (content == NULL)
        return CIP_OK;
    cip_changes_end(&u->data);
    u->data = *content;
    return CIP_OK;
}

/* --- the revision -------------------------------------------------------------------------------
 */

/* The header in the file with other flags, size and dims; all else as it is. */
static cip_status new_header(update *u, uint64_t flags, uint64_t size, uint8_t *head, cip_err *err)
{
    bool big = u->was.header_big;
    CIP_TRY(cip_io_read(u->l->io, 0, head, (size_t)u->was.data_off, err));
    cip_store_u64(head + AT_FLAGS, flags, big);
    cip_store_u64(head + AT_SIZE, size, big);
    for (int32_t i = 0; i < u->h.ndim; i++)
        cip_store_u64(head + AT_DIMS + 8 * i, u->h.dims[i], big);
    return CIP_OK;
}

/* Whatever lies behind the data. */
static cip_status add_metadata(update *u, cip_revision *r, cip_err *err)
{
    uint64_t off = u->was.data_off + u->was.size;
    return cip_revision_range(r, u->l->io, off, u->l->io->size - off, err);
}

static cip_status store_packed(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                               cip_err *err)
{
    update *u = user;
    (void)i;
    (void)n;
    u->packed = !chunk->plain;
    return chunk->plain
               ? CIP_OK
               : cip_temporary_write(u->temporary, 0, chunk->bytes.ptr, chunk->bytes.len, err);
}

/* The data as one LZ4 block, if that makes them smaller. */
static cip_status pack(update *u, cip_err *err)
{
    const cip_dtype elem = { .kind = CIP_OPAQUE, .itemsize = u->h.elbyte, .name = "bytes" };
    const cip_array_form form = { .dtype = &elem,
                                  .chunk_nbytes = UINT64_MAX,
                                  .step = { { cip_codec_find("lz4"), NULL, u->level } },
                                  .nstep = 1,
                                  .caps = CIP_FORM_PLAIN };
    const cip_chunker_to to = { store_packed, u, NULL };
    cip_chunker *c;
    if (u->h.raw_len > CIP_RA_LZ4_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d bytes for one LZ4 block, found %" PRIu64,
                        CIP_RA_LZ4_MAX, u->h.raw_len);
    CIP_TRY(cip_chunker_new_apart(u->env, &form, u->h.raw_len, 1, &to, &c, err));
    cip_status st = cip_chunker_chunk(c, 0, u->data.anew, 0, u->h.raw_len, err);
    if (st == CIP_OK)
        st = cip_chunker_finish(c, err);
    cip_chunker_free(c);
    return st;
}

static cip_status finish_anew(update *u, cip_revision *r, cip_err *err)
{
    uint8_t head[CIP_RA_HEADER_MAX];
    uint64_t flags = u->was.flags & ~(uint64_t)CIP_RA_FLAG_LZ4;
    CIP_TRY(cip_changes_make_anew(&u->data, err));
    if (u->pack && u->h.raw_len != 0)
        CIP_TRY(pack(u, err));
    cip_io *data = u->packed ? u->temporary : u->data.anew;
    if (u->packed)
        flags |= CIP_RA_FLAG_LZ4;
    CIP_TRY(new_header(u, flags, data->size, head, err));
    r->anew = true;
    r->has_tail = true;
    r->tail_off = 0;
    CIP_TRY(cip_revision_bytes(r, head, (size_t)u->was.data_off, err));
    CIP_TRY(cip_revision_range(r, data, 0, data->size, err));
    return add_metadata(u, r, err);
}

static cip_status finish_in_place(update *u, cip_revision *r, cip_err *err)
{
    uint8_t head[CIP_RA_HEADER_MAX];
    const cip_changes *data = &u->data;
    CIP_TRY(cip_changes_writes(&u->data, &r->patch, err));
    if (memcmp(u->h.dims, u->was.dims, sizeof u->h.dims) == 0 && data->kept == u->was.raw_len)
        return CIP_OK;
    CIP_TRY(new_header(u, u->was.flags, u->h.raw_len, head, err));
    CIP_TRY(cip_patch_bytes(&r->patch, AT_SIZE, head + AT_SIZE, 8, err));
    for (int32_t i = 0; i < u->h.ndim; i++) { /* any of them: axes before may have one element */
        const size_t dim = AT_DIMS + 8 * (size_t)i;
        if (u->h.dims[i] != u->was.dims[i])
            CIP_TRY(cip_patch_bytes(&r->patch, dim, head + dim, 8, err));
    }
    r->has_tail = true;
    r->tail_off = u->was.data_off + data->kept;
    if (data->kept == u->was.raw_len)
        r->head = u->was.data_off;
    if (data->added != NULL)
        CIP_TRY(cip_revision_range(r, data->added, 0, data->added->size, err));
    return add_metadata(u, r, err);
}

cip_status cip_ra_update_finish(void *state, cip_revision *r, cip_err *err)
{
    update *u = state;
    bool packed = (u->was.flags & CIP_RA_FLAG_LZ4) != 0;
    bool changed = cip_changes_any(&u->data) || u->pack != packed ||
                   memcmp(u->h.dims, u->was.dims, sizeof u->h.dims) != 0;
    r->patch.old_len = r->patch.new_len = u->l->io->size;
    if (!changed)
        return CIP_OK;
    return u->data.anew != NULL || packed || u->pack ? finish_anew(u, r, err)
                                                     : finish_in_place(u, r, err);
}
