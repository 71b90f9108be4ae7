/* SPDX-License-Identifier: BSD-3-Clause
 * Changed bytes, in memory while they are few and within the file, else all in a temporary file. */
#include "space/changes.h"

#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "space/read.h"

enum {
    PIECE = 1 << 20,
    RECENT = 256, /* writes that are laid over those before them when the bytes are wanted */
    SPARSE = 64   /* bytes between the elements of a box for each byte of them, above which they are
                     copied one by one */
};

void cip_changes_begin(cip_changes *c, cip_layout *l, const cip_block *block, bool raw,
                       cip_changes_amount *amount)
{
    *c = (cip_changes){ .layout = l, .block = block, .raw = raw, .amount = amount };
    c->patch.arena.mem = &l->env->mem;
    c->patch.old_len = c->patch.new_len = l->io->size;
    c->kept = raw && block != NULL ? block->info.stored_nbytes : 0;
}

void cip_changes_end(cip_changes *c)
{
    cip_io_close(c->recent);
    cip_io_close(c->seen);
    cip_io_close(c->added);
    cip_io_close(c->anew);
    cip_patch_clear(&c->patch);
}

/* --- the bytes as they are now -------------------------------------------------------------------
 */

/* As they were. */
static cip_status data_of(const cip_changes *c, cip_space **out, cip_err *err)
{
    *out = NULL; /* gcc at -O3 cannot see that a block without data has a state that is a failure */
    if (c->block->data != NULL)
        return cip_space_resolve(c->block->data, out, err);
    cip_err_pass(err, c->block->why);
    return c->block->info.state;
}

bool cip_changes_any(const cip_changes *c)
{
    return c->anew != NULL || c->added != NULL || c->patch.n != 0 ||
           (c->raw && c->block != NULL && c->kept != c->block->info.stored_nbytes);
}

cip_status cip_changes_len(const cip_changes *c, uint64_t *len, cip_err *err)
{
    cip_space *data;
    uint64_t n = c->kept;
    if (c->anew == NULL && c->block != NULL && !c->raw) {
        CIP_TRY(data_of(c, &data, err));
        n = data->len;
    }
    *len = c->anew != NULL ? c->anew->size : n + (c->added != NULL ? c->added->size : 0);
    return CIP_OK;
}

/* A few stored bytes may claim any length, all of which would be decoded to a temporary file. */
static cip_status check_amount(const cip_changes *c, uint64_t len, cip_err *err)
{
    const uint64_t most = c->layout->env->limits.max_elements;
    char kind[CIP_LAYOUT_KIND];
    if (most != 0 ? len / cip_max_u64(1, c->itemsize) <= most : cip_layout_expects(c->layout, len))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_LIMIT, c->block->info.offset,
                    "%s would decode to %" PRIu64 " bytes out of %s; allow them by .max_elements",
                    c->block->stored->label, len, cip_layout_kind(c->layout, kind));
}

static cip_status decode(const cip_changes *c, cip_io *to, cip_err *err)
{
    const cip_read_how how = { c->layout, c->layout->env->pool };
    cip_space *data;
    CIP_TRY(data_of(c, &data, err));
    CIP_TRY(check_amount(c, data->len, err));
    cip_out out = cip_temporary_out(to);
    return cip_space_write_out(&how, data, &out, err);
}

static cip_status temporary(const cip_changes *c, cip_io **out, cip_err *err)
{
    return cip_temporary_new(c->layout->env, cip_io_path(c->layout->io), out, err);
}

cip_status cip_changes_make_anew(cip_changes *c, cip_err *err)
{
    cip_io *anew, *now = NULL;
    cip_status st = CIP_OK;
    if (c->anew != NULL)
        return CIP_OK;
    CIP_TRY(temporary(c, &anew, err));
    if (c->raw) {
        CIP_GO(cip_io_open_overlay(c->layout->io, &c->patch, &now, err));
        CIP_GO(cip_temporary_add(anew, now, c->block->info.data_offset, c->kept, err));
    } else if (c->block != NULL) {
        CIP_GO(decode(c, anew, err));
    }
    if (c->added != NULL)
        CIP_GO(cip_temporary_add(anew, c->added, 0, c->added->size, err));
    cip_io_close(c->added);
    c->added = NULL;
    c->anew = anew;
    anew = NULL;
done:
    cip_io_close(now);
    cip_io_close(anew);
    return st;
}

/* Writes from the one with this number on, over `under`. What is borrowed lies in the arena. */
static cip_status writes_over(cip_changes *c, cip_io *under, size_t from, cip_io **out,
                              cip_err *err)
{
    cip_patch *part;
    CIP_TRY(CIP_ARENA_NEW(&c->patch.arena, &part, 1, err));
    *part = c->patch;
    part->op += from;
    part->n -= from;
    return cip_io_open_overlay(under, part, out, err);
}

static void close_seen(cip_io **io)
{
    cip_io_close(*io);
    *io = NULL;
}

cip_status cip_changes_file(cip_changes *c, cip_io **out, cip_err *err)
{
    const size_t n = c->patch.n;
    if (c->nrecent != n)
        close_seen(&c->recent);
    if (n - c->nseen > RECENT)
        close_seen(&c->seen);
    if (c->seen == NULL && n != 0) {
        CIP_TRY(writes_over(c, c->layout->io, 0, &c->seen, err));
        c->nseen = n;
    }
    if (c->recent == NULL && c->nseen != n)
        CIP_TRY(writes_over(c, c->seen, c->nseen, &c->recent, err));
    c->nrecent = n;
    *out = c->recent != NULL ? c->recent : c->seen != NULL ? c->seen : c->layout->io;
    return CIP_OK;
}

cip_status cip_changes_now(cip_changes *c, cip_space **out, cip_err *err)
{
    cip_io *file;
    if (c->block != NULL && !cip_changes_any(c))
        return data_of(c, out, err);
    if (c->raw && c->block != NULL && c->anew == NULL && c->added == NULL) {
        CIP_TRY(cip_changes_file(c, &file, err));
        CIP_TRY(cip_space_new_file(c->layout, file, out, err));
        return cip_space_new_sub(c->layout, *out, c->block->info.data_offset, c->kept, out, err);
    }
    CIP_TRY(cip_changes_make_anew(c, err));
    return cip_space_new_file(c->layout, c->anew, out, err);
}

/* --- elements ------------------------------------------------------------------------------------
 */

static cip_status put_anew(void *user, uint64_t off, cip_bytes bytes, cip_err *err)
{
    cip_changes *c = user;
    c->made++;
    return cip_temporary_write(c->anew, off, bytes.ptr, bytes.len, err);
}

static cip_status put_within(void *user, uint64_t off, cip_bytes bytes, cip_err *err)
{
    cip_changes *c = user;
    c->made++;
    c->amount->nbytes += bytes.len;
    if (c->anew == NULL &&
        (c->amount->nbytes > CIP_CHANGES_PATCH_MAX || c->amount->nrun >= CIP_CHANGES_OPS_MAX))
        CIP_TRY(cip_changes_make_anew(c, err));
    if (c->anew != NULL)
        return put_anew(c, off - c->block->info.data_offset, bytes, err);
    c->amount->nrun++;
    return cip_patch_bytes(&c->patch, off, bytes.ptr, bytes.len, err);
}

cip_status cip_changes_write(cip_changes *c, const cip_nd *at, const cip_feed *feed, cip_err *err)
{
    cip_io *now;
    uint64_t first, end, nbytes;
    CIP_TRY(cip_view_bounds(at, &first, &end, err));
    if (!cip_shape_nelem(at->ndim, at->shape, &nbytes) ||
        cip_mul_overflow(nbytes, at->itemsize, &nbytes) || nbytes > end - first)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "elements that share their bytes cannot be written one by one");
    if (!c->raw || end > c->kept)
        CIP_TRY(cip_changes_make_anew(c, err));
    if (c->anew != NULL) {
        const cip_scatter_to to = { .io = c->anew, .live = true, .put = put_anew, .user = c };
        return cip_scatter(c->layout->env, &to, at, feed, err);
    }
    CIP_TRY(cip_changes_file(c, &now, err));
    const cip_scatter_to to = {
        .io = now, .base = c->block->info.data_offset, .put = put_within, .user = c
    };
    return cip_scatter(c->layout->env, &to, at, feed, err);
}

/* --- more and fewer of them ----------------------------------------------------------------------
 */

/* Where what is added goes. */
static cip_status behind(cip_changes *c, cip_io **out, cip_err *err)
{
    if (c->anew == NULL && c->added == NULL)
        CIP_TRY(temporary(c, &c->added, err));
    *out = c->anew != NULL ? c->anew : c->added;
    return CIP_OK;
}

cip_status cip_changes_append(cip_changes *c, uint64_t nelem, uint64_t itemsize,
                              const cip_feed *feed, cip_err *err)
{
    cip_mem *mem = &c->layout->env->mem;
    cip_status st = CIP_OK;
    cip_io *to;
    void *buf;
    size_t nbytes;
    uint64_t most = cip_min_u64(nelem, cip_max_u64(1, PIECE / cip_max_u64(1, itemsize)));
    if (cip_mul_overflow(most, itemsize, &nbytes))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an element of over 2^64 bytes");
    CIP_TRY(behind(c, &to, err));
    CIP_TRY(cip_mem_get(mem, nbytes, &buf, err));
    c->made++;
    for (uint64_t left = nelem, n; left != 0; left -= n) {
        n = cip_min_u64(most, left);
        CIP_GO(feed->next(feed->self, n, buf, err));
        CIP_GO(cip_temporary_write(to, to->size, buf, (size_t)(n * itemsize), err));
    }
done:
    cip_mem_put(mem, buf);
    return st;
}

cip_status cip_changes_add(cip_changes *c, cip_io *from, uint64_t off, uint64_t n, cip_err *err)
{
    cip_io *to;
    if (n == 0)
        return CIP_OK;
    CIP_TRY(behind(c, &to, err));
    c->made++;
    return cip_temporary_add(to, from, off, n, err);
}

cip_status cip_changes_resize(cip_changes *c, uint64_t len, cip_err *err)
{
    uint64_t now, kept;
    cip_io *to;
    CIP_TRY(cip_changes_len(c, &now, err));
    if (len == now)
        return CIP_OK;
    if (!c->raw)
        CIP_TRY(cip_changes_make_anew(c, err));
    c->made++;
    kept = c->anew != NULL ? 0 : cip_min_u64(c->kept, len);
    if (c->anew != NULL || c->added != NULL || len != kept) {
        CIP_TRY(behind(c, &to, err));
        CIP_TRY(cip_temporary_resize(to, len - kept, err));
    }
    c->kept = kept;
    return CIP_OK;
}

/* --- another shape -------------------------------------------------------------------------------
 */

typedef struct copier {
    cip_read_how how;
    cip_space *from;
    cip_cast cast;
    cip_io *to;
    uint8_t *buf; /* grows */
    size_t cap;
} copier;

/* The bytes of `to` from `first` to `end`, with the elements of the box in them. */
static cip_status copy_box(copier *c, const cip_nd *from, const cip_nd *to, uint64_t first,
                           uint64_t end, cip_err *err)
{
    size_t n;
    cip_nd in_buf = *to;
    if (!cip_to_size(end - first, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "an element of over %zu bytes",
                        SIZE_MAX);
    if (n > c->cap) {
        CIP_TRY(cip_mem_resize(&c->how.layout->env->mem, (void **)&c->buf, n, err));
        c->cap = n;
    }
    if (!cip_view_is_contiguous(to))
        CIP_TRY(cip_io_read(c->to, first, c->buf, n, err));
    in_buf.off -= first;
    CIP_TRY(cip_space_gather(&c->how, c->from, from, &c->cast, &in_buf, c->buf, NULL, err));
    return cip_temporary_write(c->to, first, c->buf, n, err);
}

/* Two views of one shape, cut into boxes whose bytes in `to` lie near each other. */
static cip_status copy_view(copier *c, const cip_nd *from, const cip_nd *to, cip_err *err)
{
    uint64_t first, end, nelem = 1;
    int32_t axis = 0;
    CIP_TRY(cip_view_bounds(to, &first, &end, err));
    for (int32_t i = 0; i < to->ndim; i++)
        nelem *= (uint64_t)to->shape[i]; /* of fewer bytes than `to` spans */
    while (axis < to->ndim && to->shape[axis] <= 1)
        axis++;
    bool sparse = (end - first) / SPARSE > nelem * to->itemsize;
    if (end == first)
        return CIP_OK;
    if (axis == to->ndim || (end - first <= PIECE && !sparse))
        return copy_box(c, from, to, first, end, err);
    uint64_t n = (uint64_t)to->shape[axis];
    uint64_t step = sparse ? 1 : cip_max_u64(1, n / ((end - first) / PIECE + 1));
    cip_nd a = *from, b = *to;
    for (uint64_t i = 0; i < n; i += step) { /* as deep as there are axes */
        a.off = from->off + i * (uint64_t)from->stride[axis];
        b.off = to->off + i * (uint64_t)to->stride[axis];
        a.shape[axis] = b.shape[axis] = (int64_t)cip_min_u64(step, n - i);
        CIP_TRY(copy_view(c, &a, &b, err));
    }
    return CIP_OK;
}

/* Makes *out, `len` bytes of it: what is in the boxes, and zeros. */
static cip_status copy_boxes(cip_changes *c, const cip_splice_box *box, size_t n, uint64_t len,
                             cip_changes *out, cip_err *err)
{
    const cip_dtype bytes = { .kind = CIP_OPAQUE, .itemsize = box->to.itemsize, .name = "bytes" };
    copier k = { .how = { c->layout, c->layout->env->pool } };
    cip_status st;
    CIP_TRY(cip_changes_now(c, &k.from, err));
    cip_changes_begin(out, c->layout, NULL, false, c->amount);
    CIP_GO(temporary(c, &out->anew, err));
    CIP_GO(cip_temporary_resize(out->anew, len, err));
    CIP_GO(cip_cast_make(&bytes, &bytes, CIP_OVERFLOW_ERROR, &k.cast, err));
    k.to = out->anew;
    for (size_t i = 0; i < n; i++)
        CIP_GO(copy_view(&k, &box[i].from, &box[i].to, err));
done:
    cip_mem_put(&c->layout->env->mem, k.buf);
    if (st != CIP_OK)
        cip_changes_end(out);
    return st;
}

cip_status cip_changes_copy(cip_changes *c, const cip_nd *from, const cip_nd *to, cip_changes *out,
                            cip_err *err)
{
    cip_splice_box all = { *from, *to };
    uint64_t first, len;
    CIP_TRY(cip_view_bounds(to, &first, &len, err));
    for (int32_t i = 0; i < to->ndim; i++)
        all.from.shape[i] = all.to.shape[i] =
            from->shape[i] < to->shape[i] ? from->shape[i] : to->shape[i];
    return copy_boxes(c, &all, 1, len, out, err);
}

cip_status cip_changes_copy_spliced(cip_changes *c, const cip_nd *from, const cip_splice *s,
                                    cip_changes *out, cip_err *err)
{
    int64_t shape[CIP_MAX_NDIM];
    cip_splice_box box[2];
    cip_nd to;
    uint64_t first, len;
    CIP_TRY(cip_splice_shape(s, from->ndim, from->shape, shape, err));
    CIP_TRY(cip_view_c_order(from->ndim, shape, from->itemsize, &to, err));
    CIP_TRY(cip_view_bounds(&to, &first, &len, err));
    cip_splice_boxes(s, from, &to, box);
    CIP_TRY(copy_boxes(c, box, 2, len, out, err));
    const cip_nd room = cip_splice_room(s, &to);
    if (s->feed == NULL || len == 0 || s->added == 0)
        return CIP_OK;
    cip_status st = cip_changes_write(out, &room, s->feed, err);
    if (st != CIP_OK)
        cip_changes_end(out);
    return st;
}

/* --- how it ends ---------------------------------------------------------------------------------
 */

typedef struct run {
    uint64_t off, end;
} run;

static int by_start(const void *a, const void *b)
{
    const run *x = a, *y = b;
    return x->off < y->off ? -1 : x->off > y->off;
}

/* Writes may overlap: what they cover of the kept bytes, in rising runs. */
static size_t covered(const cip_changes *c, run *r)
{
    const uint64_t end = c->block->info.data_offset + c->kept;
    size_t n = 0;
    for (size_t i = 0; i < c->patch.n; i++)
        r[i] = (run){ c->patch.op[i].offset, c->patch.op[i].offset + c->patch.op[i].after.len };
    qsort(r, c->patch.n, sizeof *r, by_start);
    for (size_t i = 0; i < c->patch.n && r[i].off < end; i++) {
        r[i].end = cip_min_u64(r[i].end, end);
        if (n != 0 && r[i].off <= r[n - 1].end)
            r[n - 1].end = cip_max_u64(r[n - 1].end, r[i].end);
        else
            r[n++] = r[i];
    }
    return n;
}

cip_status cip_changes_writes(cip_changes *c, cip_patch *to, cip_err *err)
{
    cip_mem *mem = &c->layout->env->mem;
    cip_status st = CIP_OK;
    void *buf = NULL;
    cip_io *now;
    run *r;
    if (c->anew != NULL || c->patch.n == 0)
        return CIP_OK;
    CIP_TRY(cip_changes_file(c, &now, err));
    CIP_TRY(CIP_NEW(mem, &r, c->patch.n, err));
    size_t n = covered(c, r);
    for (size_t i = 0; i < n; i++) {
        size_t len = (size_t)(r[i].end - r[i].off);
        CIP_GO(cip_mem_resize(mem, &buf, len, err));
        CIP_GO(cip_io_read(now, r[i].off, buf, len, err));
        CIP_GO(cip_patch_bytes(to, r[i].off, buf, len, err));
    }
done:
    cip_mem_put(mem, buf);
    cip_mem_put(mem, r);
    return st;
}
