/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of RawArray files. Elements of raw data change where they are; rows are added behind the
 * data, before the trailing metadata, with new sizes in the header. Where the data are one LZ4
 * block, or another axis than the slowest one changes, the data are kept in a temporary file and
 * the whole file is made anew. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/rawarray/rawarray.h"
#include "io/temporary.h"

enum {
    PIECE = 1 << 20,
    PATCH_MAX = 32 << 20, /* bytes changed in place and kept in memory; more: a shadow */
    OPS_MAX = 1 << 16,    /* runs of them */
    AT_FLAGS = 8,
    AT_SIZE = 32,
    AT_DIMS = 48
};

/* The data are those of `shadow` if there is one, else the first `kept` bytes of the file's with
 * the patch over them, then `rows`. */
typedef struct update {
    cip_layout *l;
    cip_env *env;
    cip_ra_header was, h; /* as it is in the file, as it becomes: dims and raw_len */
    int level;
    bool pack; /* the data are to be one LZ4 block */
    bool anew;
    bool reshaped; /* places in the file's data mean nothing any more */
    uint64_t kept;
    cip_patch patch;
    uint64_t patch_nbytes;
    cip_io *seen; /* the file with the patch over it: its own, or the file itself */
    cip_io *shadow, *rows, *packed;
} update;

/* --- begin and end ------------------------------------------------------------------------------
 */

static void update_end(void *state)
{
    update *u = state;
    if (u->seen != u->l->io)
        cip_io_close(u->seen);
    cip_io_close(u->shadow);
    cip_io_close(u->rows);
    cip_io_close(u->packed);
    cip_patch_clear(&u->patch);
}

static cip_status update_begin(cip_layout *l, const cip_spec *how, cip_arena *a, void **out,
                               cip_err *err)
{
    update *u;
    CIP_TRY(CIP_ARENA_NEW(a, &u, 1, err));
    u->l = l;
    u->env = l->env;
    u->was = u->h = *(const cip_ra_header *)l->own;
    u->kept = u->h.raw_len;
    u->level = how->level;
    u->patch.arena.mem = &l->env->mem;
    u->seen = l->io;
    bool packed = (u->h.flags & CIP_RA_FLAG_LZ4) != 0;
    u->pack = how->codec == NULL ? packed : strcmp(how->codec, "lz4") == 0;
    u->anew = packed || u->pack;
    if (how->codec != NULL && !u->pack && strcmp(how->codec, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the codec lz4 or none for RawArray, found %.60s", how->codec);
    if (how->checksum != NULL && strcmp(how->checksum, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "RawArray has no checksums");
    *out = u;
    return CIP_OK;
}

/* --- the data in a temporary file
 * -----------------------------------------------------------------
 */

static cip_status look(update *u, cip_err *err)
{
    cip_io *now;
    if (u->patch.n == 0)
        return CIP_OK;
    u->patch.old_len = u->patch.new_len = u->l->io->size;
    CIP_TRY(cip_io_open_overlay(u->l->io, &u->patch, &now, err));
    if (u->seen != u->l->io)
        cip_io_close(u->seen);
    u->seen = now;
    return CIP_OK;
}

static cip_status decode(update *u, cip_io *to, cip_err *err)
{
    const cip_read_how how = { u->l, u->env->pool };
    cip_out out = cip_temporary_out(to);
    return cip_space_write_out(&how, u->l->block[0].data, &out, err);
}

static cip_status make_shadow(update *u, cip_err *err)
{
    cip_io *shadow;
    cip_status st;
    if (u->shadow != NULL)
        return CIP_OK;
    CIP_TRY(cip_temporary_new(u->env, u->l->io->name, &shadow, err));
    if (u->was.flags & CIP_RA_FLAG_LZ4) {
        CIP_GO(decode(u, shadow, err));
    } else {
        CIP_GO(look(u, err));
        CIP_GO(cip_temporary_add(shadow, u->seen, u->was.data_off, u->kept, err));
    }
    if (u->rows != NULL)
        CIP_GO(cip_temporary_add(shadow, u->rows, 0, u->rows->size, err));
    u->shadow = shadow;
    u->anew = true;
    return CIP_OK;
done:
    cip_io_close(shadow);
    return st;
}

/* --- elements -----------------------------------------------------------------------------------
 */

static cip_status put_shadow(void *user, uint64_t off, cip_bytes bytes, cip_err *err)
{
    update *u = user;
    return cip_temporary_write(u->shadow, off, bytes.ptr, bytes.len, err);
}

static cip_status put_bytes(void *user, uint64_t off, cip_bytes bytes, cip_err *err)
{
    update *u = user;
    u->patch_nbytes += bytes.len;
    if (u->shadow == NULL && (u->patch_nbytes > PATCH_MAX || u->patch.n >= OPS_MAX)) {
        cip_io *seen = u->seen; /* in use until the whole selection is written */
        u->seen = u->l->io;
        cip_status st = make_shadow(u, err);
        if (u->seen != u->l->io)
            cip_io_close(u->seen);
        u->seen = seen;
        CIP_TRY(st);
    }
    if (u->shadow != NULL)
        return put_shadow(u, off - u->was.data_off, bytes, err);
    return cip_patch_write(&u->patch, "", off, (cip_bytes){ NULL, 0 }, bytes, err);
}

static cip_status update_write(void *state, const cip_array *a, const cip_nd *at,
                               const cip_feed *feed, cip_err *err)
{
    update *u = state;
    (void)a;
    if (u->reshaped)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected elements to be changed before the shape is");
    if (u->anew)
        CIP_TRY(make_shadow(u, err));
    if (u->shadow != NULL) {
        const cip_scatter_to to = { .io = u->shadow, .live = true, .put = put_shadow, .user = u };
        return cip_scatter(u->env, &to, at, feed, err);
    }
    CIP_TRY(look(u, err));
    const cip_scatter_to to = {
        .io = u->seen, .base = u->was.data_off, .put = put_bytes, .user = u
    };
    return cip_scatter(u->env, &to, at, feed, err);
}

/* --- rows ---------------------------------------------------------------------------------------
 */

/* Bytes of a row: everything at one index of the slowest axis. */
static uint64_t row_nbytes(const cip_ra_header *h)
{
    uint64_t n = h->elbyte;
    for (int32_t i = 0; i + 1 < h->ndim; i++)
        n *= h->dims[i]; /* no more than the checked size, or an axis is empty */
    return n;
}

/* The header for so many rows. */
static cip_status set_rows(update *u, uint64_t nrow, cip_err *err)
{
    cip_nd check;
    int64_t shape[CIP_MAX_NDIM];
    cip_ra_header h = u->h;
    if (nrow > INT64_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an axis of over 2^63 elements");
    h.dims[h.ndim - 1] = nrow;
    cip_ra_shape(&h, shape);
    if (cip_view_c_order(h.ndim, shape, h.elbyte, &check, NULL) != CIP_OK)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "data of over 2^63 bytes");
    h.raw_len = row_nbytes(&h) * nrow;
    u->h = h;
    return CIP_OK;
}

/* The temporary file that what is added goes to. */
static cip_status end_of_data(update *u, cip_io **out, cip_err *err)
{
    if (u->anew)
        CIP_TRY(make_shadow(u, err));
    else if (u->rows == NULL)
        CIP_TRY(cip_temporary_new(u->env, u->l->io->name, &u->rows, err));
    *out = u->shadow != NULL ? u->shadow : u->rows;
    return CIP_OK;
}

static cip_status add_elems(update *u, cip_io *to, uint64_t nelem, const cip_feed *feed,
                            cip_err *err)
{
    cip_status st = CIP_OK;
    void *buf;
    cip_out out = cip_temporary_out(to);
    uint64_t each = u->h.elbyte, most = cip_max_u64(1, PIECE / each);
    size_t nbytes;
    if (cip_mul_overflow(cip_min_u64(most, nelem), each, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an element of over 2^64 bytes");
    CIP_TRY(cip_mem_get(&u->env->mem, nbytes, &buf, err));
    for (uint64_t at = 0; at < nelem; at += most) {
        uint64_t n = cip_min_u64(most, nelem - at);
        CIP_GO(feed->next(feed->self, n, buf, err));
        CIP_GO(cip_out_write(&out, buf, (size_t)(n * each), err));
    }
done:
    cip_mem_put(&u->env->mem, buf);
    return st;
}

static cip_status update_append(void *state, const cip_array *a, uint64_t nrow,
                                const cip_feed *feed, cip_err *err)
{
    update *u = state;
    uint64_t rows;
    cip_io *to;
    cip_ra_header before = u->h;
    (void)a;
    if (u->reshaped)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected rows to be added before the shape is changed");
    if (u->h.ndim == 0 || cip_add_overflow(u->h.dims[u->h.ndim - 1], nrow, &rows))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected an axis that can grow");
    CIP_TRY(end_of_data(u, &to, err));
    CIP_TRY(set_rows(u, rows, err));
    uint64_t size = to->size, more = u->h.raw_len - before.raw_len;
    cip_status st = add_elems(u, to, more / u->h.elbyte, feed, err);
    if (st != CIP_OK) { /* as it was */
        u->h = before;
        cip_temporary_resize(to, size, NULL);
    }
    return st;
}

/* --- shapes -------------------------------------------------------------------------------------
 */

/* More or fewer rows. */
static cip_status resize_rows(update *u, uint64_t nrow, cip_err *err)
{
    cip_io *to;
    cip_ra_header before = u->h;
    CIP_TRY(end_of_data(u, &to, err));
    CIP_TRY(set_rows(u, nrow, err));
    uint64_t kept = cip_min_u64(u->kept, u->h.raw_len);
    cip_status st =
        cip_temporary_resize(to, u->shadow != NULL ? u->h.raw_len : u->h.raw_len - kept, err);
    if (st != CIP_OK)
        u->h = before;
    else if (u->shadow == NULL)
        u->kept = kept;
    return st;
}

/* What is inside both shapes, run by run along the fastest axis. */
static cip_status copy_box(update *u, cip_io *from, const cip_nd *old, cip_io *to,
                           const cip_nd *now, cip_err *err)
{
    int64_t at[CIP_MAX_NDIM] = { 0 }, both[CIP_MAX_NDIM] = { 0 };
    int32_t last = old->ndim - 1;
    uint64_t run;
    void *buf;
    for (int32_t i = 0; i <= last; i++) {
        both[i] = old->shape[i] < now->shape[i] ? old->shape[i] : now->shape[i];
        if (both[i] == 0)
            return CIP_OK;
    }
    run = (uint64_t)both[last] * old->itemsize;
    CIP_TRY(cip_mem_get(&u->env->mem, (size_t)cip_min_u64(run, PIECE), &buf, err));
    cip_status st = CIP_OK;
    for (int32_t axis = last; axis >= 0;) {
        uint64_t a = 0, b = 0;
        for (int32_t i = 0; i < last; i++) {
            a += (uint64_t)(at[i] * old->stride[i]);
            b += (uint64_t)(at[i] * now->stride[i]);
        }
        for (uint64_t k = 0; k < run; k += PIECE) {
            size_t n = (size_t)cip_min_u64(PIECE, run - k);
            CIP_GO(cip_io_read(from, a + k, buf, n, err));
            CIP_GO(cip_temporary_write(to, b + k, buf, n, err));
        }
        for (axis = last - 1; axis >= 0 && ++at[axis] == both[axis]; axis--)
            at[axis] = 0;
    }
done:
    cip_mem_put(&u->env->mem, buf);
    return st;
}

static cip_status reshape(update *u, const int64_t *shape, cip_err *err)
{
    cip_nd old, now;
    int64_t before[CIP_MAX_NDIM];
    cip_io *to = NULL;
    cip_status st;
    cip_ra_header h = u->h;
    if (cip_view_c_order(h.ndim, shape, h.elbyte, &now, NULL) != CIP_OK)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "data of over 2^63 bytes");
    cip_ra_shape(&u->h, before);
    CIP_TRY(cip_view_c_order(h.ndim, before, h.elbyte, &old, err));
    h.raw_len = h.elbyte;
    for (int32_t i = 0; i < h.ndim; i++) {
        h.dims[i] = (uint64_t)shape[h.ndim - 1 - i];
        h.raw_len *= h.dims[i];
    }
    CIP_GO(make_shadow(u, err));
    CIP_GO(cip_temporary_new(u->env, u->l->io->name, &to, err));
    CIP_GO(cip_temporary_resize(to, h.raw_len, err));
    CIP_GO(copy_box(u, u->shadow, &old, to, &now, err));
    cip_io_close(u->shadow);
    u->shadow = to;
    u->h = h;
    return CIP_OK;
done:
    cip_io_close(to);
    return st;
}

static cip_status update_resize(void *state, const cip_array *a, const int64_t *shape, cip_err *err)
{
    update *u = state;
    int32_t n = u->h.ndim;
    bool rows_only = true;
    (void)a;
    if (n == 0)
        return CIP_OK;
    for (int32_t i = 1; i < n; i++)
        rows_only = rows_only && (uint64_t)shape[i] == u->h.dims[n - 1 - i];
    CIP_TRY(rows_only ? resize_rows(u, (uint64_t)shape[0], err) : reshape(u, shape, err));
    u->reshaped = true;
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

/* The data as one LZ4 block, if that makes them smaller. */
static cip_status pack(update *u, cip_err *err)
{
    const cip_codec *lz4 = cip_codec_find("lz4");
    cip_mem *mem = &u->env->mem;
    const cip_codec_env env = { .mem = mem, .typesize = u->h.elbyte };
    void *raw = NULL, *packed = NULL;
    size_t n = (size_t)u->h.raw_len, cap, len;
    cip_status st;
    if (u->h.raw_len > CIP_RA_LZ4_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d bytes for one LZ4 block, found %" PRIu64,
                        CIP_RA_LZ4_MAX, u->h.raw_len);
    cap = lz4->bound(n);
    CIP_GO(cip_mem_get(mem, n, &raw, err));
    CIP_GO(cip_mem_get(mem, cap, &packed, err));
    CIP_GO(cip_io_read(u->shadow, 0, raw, n, err));
    CIP_GO(lz4->encode(NULL, &env, u->level, (cip_bytes){ raw, n }, packed, cap, &len, err));
    if (len >= n)
        goto done;
    CIP_GO(cip_temporary_new(u->env, u->l->io->name, &u->packed, err));
    st = cip_temporary_write(u->packed, 0, packed, len, err);
done:
    cip_mem_put(mem, raw);
    cip_mem_put(mem, packed);
    return st;
}

static cip_status finish_anew(update *u, cip_revision *r, cip_err *err)
{
    uint8_t head[CIP_RA_HEADER_MAX];
    uint64_t flags = u->was.flags & ~(uint64_t)CIP_RA_FLAG_LZ4;
    CIP_TRY(make_shadow(u, err));
    if (u->pack && u->h.raw_len != 0)
        CIP_TRY(pack(u, err));
    cip_io *data = u->packed != NULL ? u->packed : u->shadow;
    if (u->packed != NULL)
        flags |= CIP_RA_FLAG_LZ4;
    CIP_TRY(new_header(u, flags, data->size, head, err));
    r->anew = true;
    r->has_tail = true;
    r->tail_off = 0;
    CIP_TRY(cip_revision_bytes(r, head, (size_t)u->was.data_off, err));
    CIP_TRY(cip_revision_range(r, data, 0, data->size, err));
    return add_metadata(u, r, err);
}

/* Changed bytes, but for those that are cut off. */
static cip_status add_patch(update *u, cip_revision *r, uint64_t end, cip_err *err)
{
    for (size_t i = 0; i < u->patch.n; i++) {
        const cip_patch_op *op = &u->patch.op[i];
        if (op->offset >= end)
            continue;
        cip_bytes after = op->after;
        after.len = (size_t)cip_min_u64(after.len, end - op->offset);
        CIP_TRY(cip_patch_write(&r->patch, "", op->offset, (cip_bytes){ NULL, 0 }, after, err));
    }
    return CIP_OK;
}

static cip_status finish_in_place(update *u, cip_revision *r, cip_err *err)
{
    uint8_t head[CIP_RA_HEADER_MAX];
    uint64_t end = u->was.data_off + u->kept;
    CIP_TRY(add_patch(u, r, end, err));
    if (memcmp(u->h.dims, u->was.dims, sizeof u->h.dims) == 0 && u->kept == u->was.raw_len)
        return CIP_OK;
    CIP_TRY(new_header(u, u->was.flags, u->h.raw_len, head, err));
    cip_bytes size = { head + AT_SIZE, 8 };
    cip_bytes dim = { head + AT_DIMS + 8 * (u->h.ndim - 1), 8 };
    CIP_TRY(cip_patch_write(&r->patch, "", AT_SIZE, (cip_bytes){ NULL, 0 }, size, err));
    CIP_TRY(cip_patch_write(&r->patch, "", (uint64_t)(dim.ptr - head), (cip_bytes){ NULL, 0 }, dim,
                            err));
    r->has_tail = true;
    r->tail_off = end;
    if (u->kept == u->was.raw_len)
        r->head = u->was.data_off;
    if (u->rows != NULL)
        CIP_TRY(cip_revision_range(r, u->rows, 0, u->rows->size, err));
    return add_metadata(u, r, err);
}

static cip_status update_finish(void *state, cip_revision *r, cip_err *err)
{
    update *u = state;
    bool changed = u->shadow != NULL || u->patch.n != 0 || u->rows != NULL ||
                   u->pack != ((u->was.flags & CIP_RA_FLAG_LZ4) != 0);
    r->patch.old_len = r->patch.new_len = u->l->io->size;
    if (!changed)
        return CIP_OK;
    return u->anew ? finish_anew(u, r, err) : finish_in_place(u, r, err);
}

const cip_updater cip_ra_updater = {
    .begin = update_begin,
    .write = update_write,
    .append = update_append,
    .resize = update_resize,
    .finish = update_finish,
    .end = update_end,
};
