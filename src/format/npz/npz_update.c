/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of .npz files. Elements of members that are stored as they are change in place, and with
 * them the member's CRC-32 in its header and in the directory; the CRC is worked out from the
 * changed bytes alone, so that damage elsewhere in the member is still found.
 *
 * Members of another shape, and compressed ones, are written again as a whole: the file's tail
 * begins with the first of them, in which the members behind it move, as they are, and the
 * directory follows. Rows at the end of a stored member leave what is before them in place. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/npz/npz.h"
#include "format/zip_member.h"
#include "space/read/window.h"

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
    u->temporary = b->temporary;
    u->framing = cip_framing_find("deflate");
    u->level = b->spec->level;
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
    const cip_npz_state *u = state;
    const cip_npz_member *m = member_of(u->old, a);
    const bool deflated = m->zip->method == CIP_ZIP_DEFLATED;
    if (deflated && u->framing == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "this build is without zlib");
    if (kind != CIP_CHANGE_ELEMENTS && m->header == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an array to change its shape, found a member that is no .npy "
                        "file");
    if (kind != CIP_CHANGE_ELEMENTS && (m->header->pre.major > 3 || m->header->pre.minor != 0))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected version 1.0, 2.0 or 3.0 to change, found %d.%d",
                        m->header->pre.major, m->header->pre.minor);
    CIP_TRY(cip_npy_update_form(NULL, a, kind, shape, out, err));
    out->form.caps |= deflated ? CIP_FORM_STREAM : 0u;
    return CIP_OK;
}

cip_status cip_npz_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    cip_npz_state *u = state;
    CIP_TRY(CIP_ARENA_ROOM(u->arena, &u->change, u->nchange, &u->change_cap, err));
    u->change[u->nchange++] =
        (cip_npz_change){ .m = member_of(u->old, cip_chunk_changes_array(c)), .c = c };
    return CIP_OK;
}

/* --- members ---------------------------------------------------------------------------------- */

static cip_io *io_of(const cip_npz_state *u)
{
    return u->old->layout->io;
}

/* The member as the directory is to have it. */
static cip_zip_member *now_of(const cip_npz_state *u, const cip_npz_change *x)
{
    return &u->now[x->m->zip - u->old->zip.at];
}

/* Bytes of the .npy header, as it was; what is no .npy file has none. */
static size_t old_head(const cip_npz_member *m)
{
    return m->header != NULL ? (size_t)m->header->pre.text_off + m->header->pre.text_len : 0;
}

/* Bytes of the array's elements, as they were, and now. */
static uint64_t old_len(const cip_npz_change *x)
{
    return x->m->array->space->len;
}

static uint64_t new_len(const cip_npz_change *x)
{
    return cip_chunk_changes_count(x->c);
}

/* Bytes of the member behind the elements. */
static uint64_t behind(const cip_npz_change *x)
{
    return x->m->zip->size - old_head(x->m) - old_len(x);
}

static bool same_shape(const cip_npz_change *x)
{
    const cip_nd *v = &x->m->array->view;
    return memcmp(v->shape, cip_chunk_changes_shape(x->c), (size_t)v->ndim * sizeof *v->shape) == 0;
}

/* The .npy header of the new shape; of the old one as it is. */
static cip_status make_head(cip_npz_state *u, cip_npz_change *x, cip_err *err)
{
    const cip_npz_member *m = x->m;
    cip_buf head = { .mem = &u->env->mem };
    uint8_t *room;
    char *copy = NULL;
    size_t got;
    cip_status st = CIP_OK;
    if (m->header == NULL)
        return CIP_OK;
    if (same_shape(x)) {
        CIP_GO(cip_buf_reserve(&head, old_head(m), &room, err));
        st = cip_space_read_some(u->old->layout, m->data, 0, room, old_head(m), &got, err);
        head.len = old_head(m);
    } else {
        cip_npy_header h = *m->header;
        memcpy(h.shape, cip_chunk_changes_shape(x->c), (size_t)h.ndim * sizeof *h.shape);
        st = cip_npy_header_write(u->env, &h, &head, err);
    }
    if (st == CIP_OK)
        st = cip_arena_copy(u->arena, head.ptr, head.len, &copy, err);
    x->head = (cip_bytes){ (const uint8_t *)copy, head.len };
done:
    cip_buf_clear(&head);
    return st;
}

/* --- CRC-32s from changed bytes --------------------------------------------------------------- */

static cip_status crc_of(const cip_npz_state *u, cip_io *io, uint64_t off, uint64_t n,
                         uint32_t *crc, cip_err *err)
{
    cip_mem *mem = &u->env->mem;
    uint8_t *piece = NULL, sum[CIP_SUM_MAX];
    cip_sum *s = NULL;
    cip_status st;
    CIP_GO(cip_sum_new(mem, CIP_SUM_CRC32, &s, err));
    CIP_GO(cip_mem_get(mem, PIECE, (void **)&piece, err));
    for (uint64_t at = 0; at < n; at += PIECE) {
        const size_t len = (size_t)cip_min_u64(PIECE, n - at);
        CIP_GO(cip_io_read(io, off + at, piece, len, err));
        cip_sum_add(s, piece, len);
    }
    cip_sum_take(s, sum);
    *crc = cip_load_u32(sum, true);
done:
    cip_mem_put(mem, piece);
    cip_sum_free(s);
    return st;
}

/* Elements below `len` that change in place, and what the member's CRC becomes. */
static cip_status patch_elements(const cip_npz_state *u, const cip_npz_change *x, uint64_t len,
                                 cip_patch *patch, uint32_t *crc, cip_err *err)
{
    const uint64_t base = x->m->off + old_head(x->m), end = x->m->off + x->m->zip->size;
    const size_t first = patch->n;
    CIP_TRY(cip_chunk_changes_patch(x->c, len, base, patch, err));
    for (size_t i = first; i < patch->n; i++) {
        const cip_patch_op *op = &patch->op[i];
        const uint64_t at = op->offset, n = op->after.len;
        uint32_t was, now;
        CIP_TRY(crc_of(u, io_of(u), at, n, &was, err));
        CIP_TRY(crc_of(u, cip_chunk_changes_io(x->c), at - base, n, &now, err));
        *crc = cip_crc32_changed(*crc, was, now, end - at - n);
    }
    return CIP_OK;
}

static cip_status change_in_place(const cip_npz_state *u, const cip_npz_change *x, cip_patch *patch,
                                  cip_err *err)
{
    cip_zip_member *now = now_of(u, x);
    uint8_t bytes[4];
    CIP_TRY(patch_elements(u, x, UINT64_MAX, patch, &now->crc, err));
    cip_store_u32(bytes, now->crc, false);
    return cip_patch_bytes(patch, x->m->zip->header + HEADER_CRC, bytes, sizeof bytes, err);
}

/* --- a member anew ---------------------------------------------------------------------------- */

/* What a member's bytes go through. */
typedef struct passing {
    cip_sum *sum;
    cip_encoder *enc; /* or NULL */
    uint64_t n;
} passing;

static cip_status pass(passing *p, const uint8_t *bytes, size_t n, cip_err *err)
{
    cip_sum_add(p->sum, bytes, n);
    p->n += n;
    return p->enc != NULL ? cip_encoder_write(p->enc, bytes, n, err) : CIP_OK;
}

/* All bytes that the member is to decode to. */
static cip_status pass_all(const cip_npz_state *u, const cip_npz_change *x, passing *p,
                           cip_err *err)
{
    const cip_layout *l = u->old->layout;
    const cip_read_how how = { x->m->array->layout, l->env->pool };
    const uint64_t n = new_len(x), all = n + behind(x), rest = x->m->zip->size - behind(x);
    uint8_t *piece;
    cip_status st = pass(p, x->head.ptr, x->head.len, err);
    if (st == CIP_OK)
        st = cip_mem_get(&u->env->mem, PIECE, (void **)&piece, err);
    if (st != CIP_OK)
        return st;
    for (uint64_t at = 0, len; at < all && st == CIP_OK; at += len) {
        len = cip_min_u64(PIECE, (at < n ? n : all) - at);
        st = at < n ? cip_io_read(cip_chunk_changes_io(x->c), at, piece, (size_t)len, err)
                    : cip_space_read_at(&how, x->m->data, rest + (at - n), piece, (size_t)len, err);
        if (st == CIP_OK)
            st = pass(p, piece, (size_t)len, err);
    }
    cip_mem_put(&u->env->mem, piece);
    return st;
}

/* Its sizes and its CRC, for which all of it is read: what is damaged must not get a right one.
 * What is compressed goes to the temporary file. */
static cip_status make_member(cip_npz_state *u, cip_npz_change *x, cip_err *err)
{
    cip_zip_member *now = now_of(u, x);
    const bool deflated = now->method == CIP_ZIP_DEFLATED;
    cip_out out = cip_temporary_out(u->temporary);
    uint8_t crc[CIP_SUM_MAX];
    passing p = { .enc = NULL };
    cip_status st = CIP_OK;
    x->data = (cip_segment){ .io = u->temporary, .off = u->temporary->size };
    if (!deflated)
        CIP_GO(cip_zip_check_stored(io_of(u), x->m->zip, x->m->off, NULL, err));
    else
        CIP_GO(cip_encoder_new(u->env, u->framing, u->level, 0, &out, &p.enc, err));
    CIP_GO(cip_sum_new(&u->env->mem, CIP_SUM_CRC32, &p.sum, err));
    CIP_GO(pass_all(u, x, &p, err));
    st = deflated ? cip_encoder_finish(p.enc, err) : CIP_OK;
    x->data.len = u->temporary->size - x->data.off;
    cip_sum_take(p.sum, crc);
    now->crc = cip_load_u32(crc, true);
    now->size = p.n;
    now->stored = deflated ? x->data.len : p.n;
    now->flags &= (uint16_t)~FLAG_DESCRIPTOR;
done:
    cip_encoder_free(p.enc);
    cip_sum_free(p.sum);
    return st == CIP_OK ? st : cip_fail_in(err, st, "member '%.100s'", x->m->zip->name);
}

/* --- rows at the end -------------------------------------------------------------------------- */

/* Whether a stored member only gets more bytes, and a header of the same length. */
static bool only_grows(const cip_npz_change *x)
{
    const uint64_t len = old_len(x), n = new_len(x);
    cip_chunk_now now;
    if (x->m->zip->method != CIP_ZIP_STORED || (x->m->zip->flags & FLAG_DESCRIPTOR) != 0 ||
        n < len || behind(x) != 0 || x->head.len != old_head(x->m))
        return false;
    for (uint64_t i = 0; i < n; i += now.run) {
        cip_chunk_changes_at(x->c, i, &now);
        if (now.from != UINT64_MAX && now.from != i)
            return false;
    }
    return true;
}

/* Elements of the array from `from` on, as pieces of the tail. */
static cip_status add_elements(const cip_npz_state *u, const cip_npz_change *x, uint64_t from,
                               cip_revision *r, cip_err *err)
{
    const uint64_t n = new_len(x), base = x->m->off + old_head(x->m);
    cip_chunk_now now;
    for (uint64_t i = from; i < n; i += now.run) {
        cip_chunk_changes_at(x->c, i, &now);
        if (now.from != UINT64_MAX)
            CIP_TRY(cip_revision_range(r, io_of(u), base + now.from, now.run, err));
        else if (now.chunk.state == CIP_CHUNK_ZERO)
            CIP_TRY(cip_revision_fill(r, 0, now.run, err));
        else
            CIP_TRY(cip_revision_range(r, now.chunk.at.in->io, now.chunk.at.off, now.run, err));
    }
    return CIP_OK;
}

/* *done false: its header would have another length. */
static cip_status grow(cip_npz_state *u, cip_npz_change *x, cip_revision *r, bool *done,
                       cip_err *err)
{
    const cip_zip_member *was = x->m->zip;
    const uint64_t len = old_len(x), more = new_len(x) - len, head = x->head.len;
    cip_zip_member now = *was;
    cip_buf header = { .mem = &u->env->mem };
    uint8_t sum[CIP_SUM_MAX];
    uint32_t old, last;
    cip_status st;
    now.size += more;
    now.stored += more;
    CIP_GO(cip_zip_header_again(io_of(u), was->header, &now, &header, err));
    *done = header.len == x->m->off - was->header;
    if (!*done)
        goto done;
    CIP_GO(crc_of(u, io_of(u), x->m->off, head, &old, err));
    CIP_GO(cip_sum_of(&u->env->mem, CIP_SUM_CRC32, x->head, sum, err));
    now.crc = cip_crc32_changed(was->crc, old, cip_load_u32(sum, true), len);
    CIP_GO(patch_elements(u, x, len, &r->patch, &now.crc, err));
    CIP_GO(crc_of(u, cip_chunk_changes_io(x->c), len, more, &last, err));
    now.crc = cip_crc32_changed(last, 0, now.crc, more); /* one text behind the other */
    header.len = 0;
    CIP_GO(cip_zip_header_again(io_of(u), was->header, &now, &header, err));
    CIP_GO(cip_patch_bytes(&r->patch, was->header, header.ptr, header.len, err));
    CIP_GO(cip_patch_bytes(&r->patch, x->m->off, x->head.ptr, (size_t)head, err));
    *now_of(u, x) = now;
    r->has_tail = true;
    r->tail_off = x->m->off + was->size;
    st = add_elements(u, x, len, r, err);
done:
    cip_buf_clear(&header);
    return st;
}

/* --- the tail --------------------------------------------------------------------------------- */

static cip_status add_changed(cip_npz_state *u, const cip_npz_change *x, cip_revision *r,
                              cip_err *err)
{
    cip_zip_member *now = now_of(u, x);
    cip_buf header = { .mem = &u->env->mem };
    cip_status st = cip_zip_header_again(io_of(u), x->m->zip->header, now, &header, err);
    if (st == CIP_OK)
        st = cip_revision_bytes(r, header.ptr, header.len, err);
    cip_buf_clear(&header);
    CIP_TRY(st);
    if (now->method == CIP_ZIP_DEFLATED)
        return cip_revision_range(r, x->data.io, x->data.off, x->data.len, err);
    CIP_TRY(cip_revision_bytes(r, x->head.ptr, x->head.len, err));
    CIP_TRY(add_elements(u, x, 0, r, err));
    return cip_revision_range(r, io_of(u), x->m->off + x->m->zip->size - behind(x), behind(x), err);
}

static cip_npz_change *change_of(const cip_npz_state *u, const cip_zip_member *m)
{
    for (size_t i = 0; i < u->nchange; i++)
        if (u->change[i].m->zip == m)
            return &u->change[i];
    return NULL;
}

static int by_place(const void *a, const void *b)
{
    const cip_zip_member *const *x = a, *const *y = b;
    return ((*x)->header > (*y)->header) - ((*x)->header < (*y)->header);
}

/* The members behind `first`, where they come to lie. */
static cip_status add_members(cip_npz_state *u, const cip_npz_change *first, cip_revision *r,
                              cip_err *err)
{
    const cip_zip *z = &u->old->zip;
    const cip_zip_member **order;
    cip_status st = CIP_OK;
    CIP_TRY(CIP_NEW(&u->env->mem, &order, z->n, err));
    for (size_t i = 0; i < z->n; i++)
        order[i] = &z->at[i];
    qsort(order, z->n, sizeof *order, by_place);
    for (size_t i = 0; i < z->n && st == CIP_OK; i++) {
        const cip_zip_member *m = order[i];
        if (m->header <= first->m->zip->header)
            continue;
        const cip_npz_change *x = change_of(u, m);
        u->now[m - z->at].header = r->tail_off + r->tail_len;
        st = x != NULL ? add_changed(u, x, r, err)
                       : cip_revision_range(r, io_of(u), m->header, m->end - m->header, err);
    }
    cip_mem_put(&u->env->mem, order);
    return st;
}

static cip_status add_directory(const cip_npz_state *u, cip_revision *r, cip_err *err)
{
    const cip_zip *z = &u->old->zip;
    cip_buf b = { .mem = &u->env->mem };
    cip_status st =
        cip_zip_directory_write(u->now, z->n, r->tail_off + r->tail_len, io_of(u), z, &b, err);
    if (st == CIP_OK)
        st = cip_revision_bytes(r, b.ptr, b.len, err);
    cip_buf_clear(&b);
    return st;
}

static cip_status revise_tail(cip_npz_state *u, cip_npz_change *first, cip_revision *r,
                              cip_err *err)
{
    bool grown = false;
    if (only_grows(first))
        CIP_TRY(grow(u, first, r, &grown, err));
    for (size_t i = 0; i < u->nchange; i++)
        if (u->change[i].anew && !(grown && &u->change[i] == first))
            CIP_TRY(make_member(u, &u->change[i], err));
    if (!grown) {
        r->has_tail = true;
        r->tail_off = first->m->zip->header;
        CIP_TRY(add_changed(u, first, r, err));
    }
    CIP_TRY(add_members(u, first, r, err));
    return add_directory(u, r, err);
}

/* The first member that is written anew, or NULL; those behind it are, too, where they change. */
static cip_status choose(cip_npz_state *u, cip_npz_change **first, cip_err *err)
{
    for (size_t i = 0; i < u->nchange; i++) {
        cip_npz_change *x = &u->change[i];
        const cip_zip_member *m = x->m->zip;
        x->anew =
            !same_shape(x) || m->method != CIP_ZIP_STORED || (m->flags & FLAG_DESCRIPTOR) != 0;
        if (x->anew && (*first == NULL || m->header < (*first)->m->zip->header))
            *first = x;
    }
    for (size_t i = 0; i < u->nchange && *first != NULL; i++) {
        u->change[i].anew |= u->change[i].m->zip->header > (*first)->m->zip->header;
        if (u->change[i].anew)
            CIP_TRY(make_head(u, &u->change[i], err));
    }
    return CIP_OK;
}

cip_status cip_npz_update_finish(cip_npz_state *u, cip_revision *r, cip_err *err)
{
    const cip_zip *z = &u->old->zip;
    cip_npz_change *first = NULL;
    r->patch.old_len = r->patch.new_len = io_of(u)->size;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &u->now, z->n, err));
    memcpy(u->now, z->at, z->n * sizeof *u->now);
    CIP_TRY(choose(u, &first, err));
    for (size_t i = 0; i < u->nchange; i++) {
        const cip_npz_change *x = &u->change[i];
        uint8_t bytes[4];
        if (x->anew)
            continue;
        CIP_TRY(change_in_place(u, x, &r->patch, err));
        cip_store_u32(bytes, now_of(u, x)->crc, false);
        if (first == NULL)
            CIP_TRY(
                cip_patch_bytes(&r->patch, x->m->zip->entry + ENTRY_CRC, bytes, sizeof bytes, err));
    }
    return first != NULL ? revise_tail(u, first, r, err) : CIP_OK;
}
