/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of .npz files: elements of members that are stored as they are change in place, and with
 * them the member's CRC-32 in its header and in the directory. The CRC is worked out from the
 * changed bytes alone, so that damage elsewhere in the member is still found. */
#include "base/endian.h"
#include "base/num.h"
#include "format/npz/npz.h"

enum {
    HEADER_CRC = 14, /* in a member's header */
    ENTRY_CRC = 16,  /* in its entry of the directory */
    FLAG_DESCRIPTOR = 8,
    PIECE = 1 << 16
};

cip_status cip_npz_update_begin(const cip_store_begin *b, void **state, cip_err *err)
{
    cip_npz_state *u;
    if (b->spec->codec != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the codec of a .npz file's members is not changed");
    if (b->spec->checksum != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        ".npz files have no choice of checksums");
    CIP_TRY(CIP_ARENA_NEW(b->arena, &u, 1, err));
    u->env = b->env;
    u->arena = b->arena;
    u->old = b->old->own;
    *state = u;
    return CIP_OK;
}

/* The member that the array is of. */
static const cip_npz_member *member_of(const cip_npz *z, const cip_array *a)
{
    size_t i = 0;
    while (z->at[i].array != cip_array_listed(a))
        i++;
    return &z->at[i];
}

cip_status cip_npz_update_form(void *state, const cip_array *a, cip_change_kind kind,
                               const int64_t *shape, cip_change_form *out, cip_err *err)
{
    const cip_npz_member *m = member_of(((cip_npz_state *)state)->old, a);
    (void)shape;
    if (kind != CIP_CHANGE_ELEMENTS)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the shape of an array in a .npz file is not changed; convert it to a "
                        "file of its own");
    if (m->zip->method != CIP_ZIP_STORED)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a member that is stored as it is to change, found one that is "
                        "compressed; convert the file without a codec first");
    if ((m->zip->flags & FLAG_DESCRIPTOR) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a member with its CRC-32 in its header to change, found one "
                        "that was written to a pipe; convert the file first");
    out->form = (cip_array_form){ .dtype = a->dtype, .caps = CIP_FORM_BYTES };
    return CIP_OK;
}

cip_status cip_npz_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    cip_npz_state *u = state;
    CIP_TRY(CIP_ARENA_ROOM(u->arena, &u->changes, u->nchange, &u->change_cap, err));
    u->changes[u->nchange++] = c;
    return CIP_OK;
}

/* The CRC-32s of what a write replaces, and of what it writes. */
static cip_status sums_of(const cip_npz_state *u, const cip_patch_op *op, uint32_t *was,
                          uint32_t *now, cip_err *err)
{
    cip_mem *mem = &u->env->mem;
    uint8_t *piece = NULL, sum[CIP_SUM_MAX];
    cip_sum *old = NULL, *new = NULL;
    cip_status st;
    CIP_GO(cip_sum_new(mem, CIP_SUM_CRC32, &old, err));
    CIP_GO(cip_sum_new(mem, CIP_SUM_CRC32, &new, err));
    CIP_GO(cip_mem_get(mem, PIECE, (void **)&piece, err));
    for (uint64_t at = 0; at < op->after.len; at += PIECE) {
        const size_t n = (size_t)cip_min_u64(PIECE, op->after.len - at);
        CIP_GO(cip_io_read(u->old->layout->io, op->offset + at, piece, n, err));
        cip_sum_add(old, piece, n);
        CIP_GO(cip_patch_op_read(op, at, piece, n, err));
        cip_sum_add(new, piece, n);
    }
    cip_sum_take(old, sum);
    *was = cip_load_u32(sum, true);
    cip_sum_take(new, sum);
    *now = cip_load_u32(sum, true);
done:
    cip_mem_put(mem, piece);
    cip_sum_free(old);
    cip_sum_free(new);
    return st;
}

static cip_status change_member(const cip_npz_state *u, const cip_chunk_changes *c,
                                cip_patch *patch, cip_err *err)
{
    const cip_npz_member *m = member_of(u->old, cip_chunk_changes_array(c));
    const cip_npy_header *h = m->header;
    const uint64_t end = m->off + m->zip->size;
    const uint64_t base = m->off + (h != NULL ? (uint64_t)h->pre.text_off + h->pre.text_len : 0);
    const size_t first = patch->n;
    uint32_t crc = m->zip->crc, was = 0, now = 0;
    uint8_t bytes[4];
    CIP_TRY(cip_chunk_changes_patch(c, cip_chunk_changes_count(c), base, patch, err));
    for (size_t i = first; i < patch->n; i++) {
        const cip_patch_op *op = &patch->op[i];
        CIP_TRY(sums_of(u, op, &was, &now, err));
        crc = cip_crc32_changed(crc, was, now, end - op->offset - op->after.len);
    }
    cip_store_u32(bytes, crc, false);
    CIP_TRY(cip_patch_bytes(patch, m->zip->header + HEADER_CRC, bytes, sizeof bytes, err));
    return cip_patch_bytes(patch, m->zip->entry + ENTRY_CRC, bytes, sizeof bytes, err);
}

cip_status cip_npz_update_finish(cip_npz_state *u, cip_revision *r, cip_err *err)
{
    r->patch.old_len = r->patch.new_len = u->old->layout->io->size;
    for (size_t i = 0; i < u->nchange; i++)
        CIP_TRY(change_member(u, u->changes[i], &r->patch, err));
    return CIP_OK;
}
