/* SPDX-License-Identifier: BSD-3-Clause
 * A chunk as it is stored: elements in C order -> special? -> padded, in blocks, in another order
 * -> through the steps -> summed, all while they are in the nearest cache and on the thread that
 * drew the chunk.
 *
 * That all elements are one value is found by comparing the bytes with themselves one element on:
 * the library's comparison runs at the speed of memory and stops at the first difference, so that
 * chunks that are not special cost next to nothing. Padding does not count: it has no values. */
#include "space/make/chunk_make.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/checksum/checksum.h"
#include "space/make/box_runs.h"
#include "space/read/grid.h"

/* --- sizes ------------------------------------------------------------------------------------ */

static cip_status bytes_of(uint64_t itemsize, int32_t ndim, const int64_t *shape, size_t *out,
                           cip_err *err)
{
    uint64_t n;
    if (!cip_shape_nelem(ndim, shape, &n) || cip_mul_overflow(n, itemsize, out))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "chunks of over 2^64 bytes");
    return CIP_OK;
}

cip_status cip_chunk_maker_init(cip_chunk_maker *m, cip_mem *mem, const cip_array_form *form,
                                uint64_t longest, cip_err *err)
{
    const cip_grid *g = form->grid;
    *m = (cip_chunk_maker){ .mem = mem, .form = form, .codec_env = form->codec_env };
    m->codec_env.mem = mem;
    if (m->codec_env.typesize == 0)
        m->codec_env.typesize = form->dtype->itemsize;
    if (g != NULL && m->codec_env.chunk == NULL) { /* as it is told when it decodes */
        m->codec_env.ndim = g->ndim;
        m->codec_env.chunk = g->stored != NULL ? g->stored : g->chunk;
        m->codec_env.block = g->block;
    }
    if (g == NULL && !cip_to_size(longest, &m->raw))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "chunks of %" PRIu64 " bytes", longest);
    if (g != NULL) {
        CIP_TRY(cip_cast_make(form->dtype, form->dtype, CIP_OVERFLOW_ERROR, &m->as_is, err));
        CIP_TRY(bytes_of(g->itemsize, g->ndim, g->chunk, &m->raw, err));
        const int64_t *stored = g->stored != NULL ? g->stored : g->chunk;
        if (g->blocked || !cip_same_lengths(g->ndim, stored, g->chunk))
            CIP_TRY(bytes_of(g->itemsize, g->ndim, stored, &m->arranged, err));
    }
    size_t n = m->arranged != 0 ? m->arranged : m->raw;
    for (int k = m->form->nstep, turn = 0; k-- > 0; turn = !turn) {
        const cip_codec *c = m->form->step[k].codec;
        if (c->encode == NULL || c->bound == NULL)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s cannot be written",
                            c->name);
        size_t bound = c->bound(n);
        if (bound == 0 && n != 0)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "%s cannot encode chunks of %zu bytes", c->name, n);
        n = bound;
        m->encoded[turn] = (size_t)cip_max_u64(m->encoded[turn], n);
    }
    if (m->form->nstep != 0) /* room for what stays as it is */
        m->encoded[0] = (size_t)cip_max_u64(m->encoded[0], m->arranged != 0 ? m->arranged : m->raw);
    return CIP_OK;
}

/* --- special chunks --------------------------------------------------------------------------- */

/* Whether p[0..n) is its first `each` bytes over and over. */
static bool repeats(const uint8_t *p, size_t n, size_t each)
{
    return n <= each || memcmp(p, p + each, n - each) == 0;
}

/* Bytes from element to element along each axis. */
static void strides_of(const cip_chunk_maker *m, const cip_chunk_work *w, int64_t *stride)
{
    const cip_grid *g = m->form->grid;
    int64_t n = (int64_t)g->itemsize;
    for (int32_t k = g->ndim - 1; k >= 0; n *= g->chunk[k--])
        stride[k] = w->lent ? w->stride[k] : n;
}

/* The same of the elements of a chunk that are the array's. */
static bool box_repeats(const cip_chunk_maker *m, const cip_chunk_work *w)
{
    const cip_grid *g = m->form->grid;
    int32_t d = g->ndim;
    size_t each = (size_t)g->itemsize, run = each;
    int64_t at[CIP_MAX_NDIM] = { 0 }, stride[CIP_MAX_NDIM];
    strides_of(m, w, stride);
    while (d > 0 && (size_t)stride[d - 1] == run) /* axes without gaps are one run */
        run *= (size_t)w->valid[--d];
    if (!repeats(w->raw.ptr, run, each))
        return false;
    do {
        int64_t off = 0;
        for (int32_t i = 0; i < d; i++)
            off += at[i] * stride[i];
        if (memcmp(w->raw.ptr + off, w->raw.ptr, run) != 0)
            return false;
    } while (cip_box_next(d, NULL, w->valid, at));
    return true;
}

static bool is_quiet_nan(const cip_dtype *d, const uint8_t *p)
{
    if (d->kind == CIP_F32)
        return cip_load_u32(p, d->big) == UINT32_C(0x7FC00000);
    return d->kind == CIP_F64 && cip_load_u64(p, d->big) == UINT64_C(0x7FF8000000000000);
}

cip_chunk_state cip_chunk_state_of(const cip_array_form *f, const uint8_t *elem)
{
    bool zero = elem[0] == 0 && repeats(elem, (size_t)f->dtype->itemsize, 1);
    if (zero && (f->specials & CIP_FORM_SPECIAL(CIP_CHUNK_ZERO)) != 0)
        return CIP_CHUNK_ZERO;
    if ((f->specials & CIP_FORM_SPECIAL(CIP_CHUNK_NAN)) != 0 && is_quiet_nan(f->dtype, elem))
        return CIP_CHUNK_NAN;
    const bool value =
        (f->specials & CIP_FORM_SPECIAL(CIP_CHUNK_VALUE)) != 0 &&
        (f->value == NULL || memcmp(elem, f->value, (size_t)f->dtype->itemsize) == 0);
    return value ? CIP_CHUNK_VALUE : CIP_CHUNK_DATA;
}

static cip_chunk_state find_special(const cip_chunk_maker *m, const cip_chunk_work *w)
{
    const cip_array_form *f = m->form;
    size_t each = (size_t)f->dtype->itemsize;
    if (f->specials == 0 || each == 0 || w->raw.len < each)
        return CIP_CHUNK_DATA;
    cip_chunk_state state = cip_chunk_state_of(f, w->raw.ptr);
    if (state == CIP_CHUNK_DATA)
        return CIP_CHUNK_DATA;
    bool all = f->grid != NULL ? box_repeats(m, w) : repeats(w->raw.ptr, w->raw.len, each);
    return all ? state : CIP_CHUNK_DATA;
}

/* --- arranging -------------------------------------------------------------------------------- */

/* Elements to where the stored chunk has them, block by block (a
 * chunk without inner blocks is one); zeros where it reaches over the array's edge. */
static void arrange(const cip_chunk_maker *m, const cip_chunk_work *w, const cip_grid_chunk *to)
{
    const cip_grid *g = m->form->grid;
    cip_nd from = { .itemsize = g->itemsize, .ndim = g->ndim }, in, out;
    cip_cast_stats none = { 0, 0 };
    int64_t at[CIP_MAX_NDIM] = { 0 };
    uint64_t covered = g->itemsize;
    int32_t k;
    strides_of(m, w, from.stride);
    for (k = 0; k < g->ndim; k++)
        covered *= (uint64_t)w->valid[k];
    if (covered != to->raw_len)
        memset(w->arranged, 0, (size_t)to->raw_len);
    do {
        in = out = from;
        for (k = 0; k < g->ndim; k++) {
            int64_t left = w->valid[k] - at[k] * to->block[k];
            in.shape[k] = out.shape[k] = left < to->block[k] ? left : to->block[k];
            in.off += (uint64_t)(at[k] * to->block[k] * from.stride[k]);
            out.off += (uint64_t)(at[k] * to->step[k]);
            out.stride[k] = to->stride[k];
        }
        cip_copy_nd(&m->as_is, &in, w->raw.ptr, &out, w->arranged, &none);
        for (k = g->ndim - 1; k >= 0 && ++at[k] * to->block[k] >= w->valid[k]; k--)
            at[k] = 0;
    } while (k >= 0);
}

/* --- the whole -------------------------------------------------------------------------------- */

cip_status cip_chunk_encode(const cip_chunk_maker *m, cip_chunk_work *w, bool own,
                            cip_chunk_in *out, cip_err *err)
{
    const cip_array_form *f = m->form;
    cip_bytes plain = out->bytes;
    for (int k = f->nstep, turn = 0; k-- > 0; turn = !turn) {
        const cip_form_step *s = &f->step[k];
        cip_dst to = { w->encoded[turn], m->encoded[turn], 0 };
        CIP_TRY(s->codec->encode(s->args, &m->codec_env, s->level, out->bytes, &to, err));
        out->bytes = (cip_bytes){ to.ptr, to.len };
    }
    out->plain = (f->caps & CIP_FORM_PLAIN) != 0 && out->bytes.len >= plain.len;
    if (out->plain) {
        out->bytes = plain;
        if (own && plain.len != 0) {
            memcpy(w->encoded[0], plain.ptr, plain.len);
            out->bytes.ptr = w->encoded[0];
        }
    }
    if (m->form->sum_id == CIP_SUM_NONE)
        return CIP_OK;
    return cip_sum_of(m->mem, (cip_sum_id)m->form->sum_id, out->bytes, out->sum, err);
}

cip_status cip_chunk_make(const cip_chunk_maker *m, cip_chunk_work *w, bool own, cip_chunk_in *out,
                          cip_err *err)
{
    cip_grid_chunk to = { .raw_len = w->raw.len };
    if (m->form->grid != NULL)
        cip_grid_chunk_at(m->form->grid, w->coord, &to);
    *out = (cip_chunk_in){ .run = 1, .raw_len = to.raw_len, .bytes = w->raw };
    out->state = (uint8_t)find_special(m, w);
    if (out->state != CIP_CHUNK_DATA) {
        out->bytes = (cip_bytes){ NULL, 0 };
        out->value = out->state == CIP_CHUNK_VALUE ? w->raw.ptr : NULL;
        if (out->value != NULL && own)
            out->value = memcpy(w->encoded[0], out->value, (size_t)m->form->dtype->itemsize);
        return CIP_OK;
    }
    if (m->arranged != 0) {
        arrange(m, w, &to);
        out->bytes = (cip_bytes){ w->arranged, (size_t)to.raw_len };
    }
    return cip_chunk_encode(m, w, own, out, err);
}
