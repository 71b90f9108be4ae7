/* SPDX-License-Identifier: BSD-3-Clause
 * The superblock, and blocks of metadata: every one is read here, within the file and within what
 * one piece of work may read. */
#include <string.h>

#include "base/endian.h"
#include "format/hdf5/hdf5.h"

static const uint8_t magic[8] = { 0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n' };

bool cip_h5_find(cip_bytes head, uint64_t *at)
{
    for (*at = 0; *at + sizeof magic <= head.len; *at = *at == 0 ? 512 : *at * 2)
        if (memcmp(head.ptr + *at, magic, sizeof magic) == 0)
            return true;
    return false;
}

/* --- checksums: Bob Jenkins' lookup3, little-endian ------------------------------------------- */

static uint32_t rotate(uint32_t v, unsigned n)
{
    return v << n | v >> (32 - n);
}

uint32_t cip_h5_sum(const uint8_t *p, size_t n)
{
    uint32_t a = 0xdeadbeef + (uint32_t)n, b = a, c = a;
    uint8_t last[12] = { 0 };
    for (; n > 12; n -= 12, p += 12) {
        a += cip_load_u32(p, false);
        b += cip_load_u32(p + 4, false);
        c += cip_load_u32(p + 8, false);
        a = (a - c) ^ rotate(c, 4), c += b;
        b = (b - a) ^ rotate(a, 6), a += c;
        c = (c - b) ^ rotate(b, 8), b += a;
        a = (a - c) ^ rotate(c, 16), c += b;
        b = (b - a) ^ rotate(a, 19), a += c;
        c = (c - b) ^ rotate(b, 4), b += a;
    }
    if (n == 0)
        return c;
    memcpy(last, p, n);
    a += cip_load_u32(last, false);
    b += cip_load_u32(last + 4, false);
    c += cip_load_u32(last + 8, false);
    c = (c ^ b) - rotate(b, 14);
    a = (a ^ c) - rotate(c, 11);
    b = (b ^ a) - rotate(a, 25);
    c = (c ^ b) - rotate(b, 16);
    a = (a ^ c) - rotate(c, 4);
    b = (b ^ a) - rotate(a, 14);
    c = (c ^ b) - rotate(b, 24);
    return c;
}

cip_status cip_h5_check(const cip_h5 *f, uint64_t at, cip_bytes block, const char *what,
                        cip_err *err)
{
    if (block.len < 4)
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at, "%s: expected a checksum", what);
    const uint32_t stored = cip_load_u32(block.ptr + block.len - 4, false);
    const uint32_t found = cip_h5_sum(block.ptr, block.len - 4);
    if (stored == found)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CHECKSUM, f->base + at,
                    "%s: expected the checksum %08" PRIx32 ", found %08" PRIx32, what, stored,
                    found);
}

/* --- blocks ----------------------------------------------------------------------------------- */

cip_h5_work cip_h5_begin(const cip_h5 *f)
{
    uint64_t most = f->layout->env->limits.max_tree_bytes, left;
    if (cip_mul_overflow(f->size, 16, &left) || cip_add_overflow(left, 1 << 20, &left) ||
        left > most)
        left = most;
    return (cip_h5_work){
        .f = f, .arena = { .mem = &f->layout->env->mem }, .left = left, .global_at = CIP_H5_NONE
    };
}

cip_status cip_h5_get(cip_h5_work *w, uint64_t at, uint64_t n, const char *what, cip_bytes *out,
                      cip_err *err)
{
    const cip_h5 *f = w->f;
    void *p;
    if (at > f->size || n > f->size - at) {
        if (at == CIP_H5_NONE)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "%s: expected an address", what);
        return cip_fail(err, CIP_ERR_TRUNCATED, f->base + f->size,
                        "%s: expected %" PRIu64 " bytes at %" PRIu64 ", found the end of the file",
                        what, n, at);
    }
    if (n > w->left)
        return cip_fail(err, CIP_ERR_LIMIT, f->base + at,
                        "%s: expected less metadata than that in the file", what);
    w->left -= n;
    CIP_TRY(cip_arena_get(&w->arena, (size_t)n, &p, err));
    CIP_TRY(cip_space_read_at(&(cip_read_how){ .layout = f->layout }, f->layout->file, f->base + at,
                              p, (size_t)n, err));
    *out = (cip_bytes){ p, (size_t)n };
    return CIP_OK;
}

cip_status cip_h5_block(cip_h5_work *w, uint64_t at, uint64_t n, const char *want, bool sum,
                        cip_cursor *out, cip_err *err)
{
    cip_bytes in;
    CIP_TRY(cip_h5_get(w, at, n, want, &in, err));
    if (in.len < 4 || memcmp(in.ptr, want, 4) != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, w->f->base + at, "expected a block %s", want);
    if (sum) {
        CIP_TRY(cip_h5_check(w->f, at, in, want, err));
        in.len -= 4;
    }
    *out = cip_cursor_le(in);
    out->pos = 4;
    return CIP_OK;
}

uint64_t cip_h5_uint(cip_cursor *c, size_t n)
{
    const cip_bytes in = cip_get_bytes(c, n);
    uint64_t v = 0;
    for (size_t i = in.len; i-- > 0;)
        v = v << 8 | in.ptr[i];
    return v;
}

uint64_t cip_h5_address(const cip_h5 *f, cip_cursor *c)
{
    const uint64_t v = cip_h5_uint(c, f->osize);
    return f->osize < 8 && v == (UINT64_C(1) << 8 * f->osize) - 1 ? CIP_H5_NONE : v;
}

cip_status cip_h5_end(const cip_cursor *c, const char *what, uint64_t at, cip_err *err)
{
    if (!c->bad)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, at, "%s: expected more than its %zu bytes", what,
                    c->in.len);
}

/* --- the superblock --------------------------------------------------------------------------- */

static bool width_fits(uint8_t n)
{
    return n == 2 || n == 4 || n == 8;
}

static cip_status read_superblock(cip_layout *l, cip_h5 *f, uint64_t at, cip_bytes in, cip_err *err)
{
    cip_cursor c = cip_cursor_le(in);
    c.pos = sizeof magic;
    f->version = cip_get_u8(&c);
    if (f->version > 3)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, at + 8,
                        "expected a superblock of version 0 to 3, found %u", f->version);
    const bool old = f->version < 2;
    if (old)
        cip_get_bytes(&c, 4);
    f->osize = cip_get_u8(&c);
    f->lsize = cip_get_u8(&c);
    if (!width_fits(f->osize) || !width_fits(f->lsize))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, at + c.pos,
                        "expected addresses and lengths of 2, 4 or 8 bytes, found %u and %u",
                        f->osize, f->lsize);
    cip_get_bytes(&c, old ? 1 + 2 + 2 + 4 + (f->version == 1 ? 4 : 0) : 1);
    const uint64_t base = cip_h5_address(f, &c);
    f->extension = cip_h5_address(f, &c); /* of old ones: of the free space */
    const uint64_t end = cip_h5_address(f, &c);
    if (old) {
        f->extension = CIP_H5_NONE;
        cip_h5_address(f, &c); /* driver information */
        cip_h5_address(f, &c); /* the root's name */
    }
    f->root = cip_h5_address(f, &c);
    CIP_TRY(cip_h5_end(&c, "superblock", at, err));
    /* A file that was put behind other bytes later keeps its old base. */
    f->base = at;
    if (base != at && base != 0)
        cip_warn(l->env, CIP_ERR_CORRUPT, at, "superblock",
                 "addresses count from %" PRIu64 ", where the file begins, not from %" PRIu64, at,
                 base);
    f->size = l->io->size - at;
    if (!old) {
        const size_t len = c.pos + 4;
        if (len > in.len)
            return cip_fail(err, CIP_ERR_TRUNCATED, at + in.len, "superblock: found its end");
        CIP_TRY(cip_h5_check(f, 0, (cip_bytes){ in.ptr, len }, "superblock", err));
    }
    const uint64_t told = end != CIP_H5_NONE && end >= base ? end - base : 0;
    if (told <= f->size)
        return CIP_OK;
    cip_err why = CIP_ERR_INIT;
    cip_fail(&why, CIP_ERR_TRUNCATED, l->io->size,
             "expected a file of %" PRIu64 " bytes, found %" PRIu64, told, f->size);
    return cip_h5_left_out(f, NULL, &why, "superblock", err);
}

cip_status cip_h5_superblock(cip_layout *l, cip_h5 *f, cip_err *err)
{
    uint8_t head[128];
    size_t got;
    f->layout = l;
    for (uint64_t at = 0; at < l->io->size; at = at == 0 ? 512 : at * 2) {
        CIP_TRY(cip_space_read_some(l, l->file, at, head, sizeof head, &got, err));
        uint64_t zero;
        if (got >= sizeof magic && cip_h5_find((cip_bytes){ head, sizeof magic }, &zero))
            return read_superblock(l, f, at, (cip_bytes){ head, got }, err);
        if (at > UINT64_MAX / 4)
            break;
    }
    return cip_fail(err, CIP_ERR_FORMAT, 0, "expected the signature of HDF5");
}
