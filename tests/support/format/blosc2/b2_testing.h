/* SPDX-License-Identifier: BSD-3-Clause
 * Frames put together for tests, field by field, also wrong ones; and a sparse frame in memory. The
 * decoded bytes are 0, 1, 2, ... modulo 251. */
#ifndef CIP_TESTS_B2_TESTING_H
#define CIP_TESTS_B2_TESTING_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "format/blosc2/blosc2.h"

enum { B2_CAP = 1 << 16, B2_MAX_CHUNKS = 64 };

typedef struct b2_make {
    uint32_t typesize, blocksize, chunksize; /* chunksize 0: chunk i has (i + 1) * 4 bytes */
    uint32_t nchunk, last;                   /* bytes of the last chunk, 0: chunksize */
    uint32_t width;                          /* of offsets; 0: 8 */
    uint8_t width_code;                      /* what the header says; 0xff: the truth */
    uint8_t version;                         /* 0: 2 */
    bool document;                           /* offsets from the frame's beginning */
    bool wrapped;                            /* bin32 around the vlmetalayers */
    bool sparse;                             /* no chunks; offsets are numbers, from the last on */
    bool short_heads;                        /* 16-byte headers */
    uint8_t special[B2_MAX_CHUNKS];          /* the most significant byte of an offset, or 0 */
    uint32_t gap;                            /* unused bytes before each chunk */
    const char *meta_name[4];                /* NULL: no more */
    const void *meta[4];
    size_t meta_len[4];
    const char *vl_name[4];
    const void *vl[4];
    size_t vl_len[4];
    uint8_t fingerprint_type;
    uint8_t fingerprint[16];
} b2_make;

typedef struct b2_bytes {
    uint8_t *ptr; /* of B2_CAP; free() it */
    size_t len;
} b2_bytes;

static inline void b2_put(b2_bytes *b, const void *p, size_t n)
{
    if (n > B2_CAP - b->len)
        abort();
    memcpy(b->ptr + b->len, p, n);
    b->len += n;
}

static inline void b2_u8(b2_bytes *b, unsigned v)
{
    uint8_t byte = (uint8_t)v;
    b2_put(b, &byte, 1);
}

/* A mark and a big-endian number of n bytes; mark 0: none. */
static inline void b2_num(b2_bytes *b, unsigned mark, uint64_t v, unsigned n)
{
    if (mark != 0)
        b2_u8(b, mark);
    while (n-- > 0)
        b2_u8(b, (unsigned)(v >> 8 * n) & 0xff);
}

/* A chunk that holds bytes as they are. */
static inline void b2_chunk(b2_bytes *b, const uint8_t *raw, uint32_t n, uint32_t typesize,
                            bool short_head)
{
    uint8_t head[32] = { short_head ? 2 : 5, 1, short_head ? 0x02 : 0x07,
                         (uint8_t)(typesize > 255 ? 1 : typesize) };
    uint32_t len = short_head ? 16 : 32;
    cip_store_u32(head + 4, n, false);
    cip_store_u32(head + 8, n, false);
    cip_store_u32(head + 12, n + len, false);
    b2_put(b, head, len);
    b2_put(b, raw, n);
}

static inline void b2_pattern(uint64_t from, uint8_t *dst, size_t n)
{
    for (size_t i = 0; i < n; i++)
        dst[i] = (uint8_t)((from + i) % 251);
}

static inline uint32_t b2_chunk_len(const b2_make *m, uint32_t i)
{
    if (m->chunksize == 0)
        return (i + 1) * 4;
    return i + 1 == m->nchunk && m->last != 0 ? m->last : m->chunksize;
}

static inline uint64_t b2_chunk_from(const b2_make *m, uint32_t i)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < i; k++)
        sum += b2_chunk_len(m, k);
    return sum;
}

/* Chunk i as a file of a sparse frame. */
static inline b2_bytes b2_chunk_file(const b2_make *m, uint32_t i)
{
    uint8_t raw[4096];
    b2_bytes b = { malloc(B2_CAP), 0 };
    uint32_t n = b2_chunk_len(m, i);
    if (b.ptr == NULL || n > sizeof raw)
        abort();
    b2_pattern(b2_chunk_from(m, i), raw, n);
    b2_chunk(&b, raw, n, m->typesize, m->short_heads);
    return b;
}

/* Names, offsets and values; `base`: what offsets count from. */
static inline void b2_metas(b2_bytes *b, const char *const *name, const void *const *value,
                            const size_t *len, size_t base, bool is_header)
{
    size_t n = 0, hole[4], from = b->len;
    while (n < 4 && name[n] != NULL)
        n++;
    b2_u8(b, 0x93);
    b2_num(b, 0xcd, 0, 2);
    b2_num(b, 0xde, n, 2);
    for (size_t i = 0; i < n; i++) {
        b2_u8(b, 0xa0 + (unsigned)strlen(name[i]));
        b2_put(b, name[i], strlen(name[i]));
        b2_num(b, 0xd2, 0, 4);
        hole[i] = b->len - 4;
    }
    cip_store_u16(b->ptr + from + 2, (uint16_t)(b->len - from - (is_header ? 0 : 1)), true);
    b2_num(b, 0xdc, n, 2);
    for (size_t i = 0; i < n; i++) {
        cip_store_u32(b->ptr + hole[i], (uint32_t)(b->len - base), true);
        b2_num(b, 0xc6, len[i], 4);
        b2_put(b, value[i], len[i]);
    }
}

static inline void b2_header(b2_bytes *b, const b2_make *m)
{
    uint32_t width = m->width == 0 ? 8 : m->width;
    unsigned code = width == 4 ? 0 : width == 8 ? 1 : width == 16 ? 2 : 3;
    if (m->width_code != 0xff && m->width_code != 0)
        code = m->width_code;
    b2_put(b,
           "\x9e\xa8"
           "b2frame\0",
           10);
    b2_num(b, 0xd2, 0, 4);
    b2_num(b, 0xcf, 0, 8);
    b2_u8(b, 0xa4);
    b2_u8(b, (m->version == 0 ? 2 : m->version) | code << 4 | (m->chunksize == 0 ? 0x40 : 0));
    b2_u8(b, m->sparse);
    b2_put(b, "\x51\x02", 2);
    b2_num(b, 0xd3, b2_chunk_from(m, m->nchunk), 8);
    b2_num(b, 0xd3, 0, 8);
    b2_num(b, 0xd2, m->typesize, 4);
    b2_num(b, 0xd2, m->blocksize, 4);
    b2_num(b, 0xd2, m->chunksize, 4);
    b2_put(b, "\xd1\x00\x01\xd1\x00\x01", 6);
    b2_u8(b, m->vl_name[0] != NULL ? 0xc3 : 0xc2);
    b2_put(b, "\xd8\x06\0\0\0\0\0\x01\x01\0\0\0\0\0\0\0\0\0", 18);
    b2_metas(b, m->meta_name, m->meta, m->meta_len, 0, true);
    cip_store_u32(b->ptr + 0x0B, (uint32_t)b->len, true);
}

static inline void b2_trailer(b2_bytes *b, const b2_make *m)
{
    size_t from = b->len, hole = 0;
    b2_u8(b, 0x94);
    b2_u8(b, m->version == 1 ? 0 : 1);
    if (m->wrapped) {
        b2_num(b, 0xc6, 0, 4);
        hole = b->len;
    }
    b2_metas(b, m->vl_name, m->vl, m->vl_len, m->wrapped ? hole : from, m->wrapped);
    if (m->wrapped)
        cip_store_u32(b->ptr + hole - 4, (uint32_t)(b->len - hole), true);
    b2_num(b, 0xce, b->len - from + 5 + 18, 4);
    b2_u8(b, 0xd8);
    b2_u8(b, m->fingerprint_type);
    b2_put(b, m->fingerprint, 16);
}

static inline b2_bytes b2_build(const b2_make *m)
{
    b2_bytes b = { malloc(B2_CAP), 0 };
    uint32_t width = m->width == 0 ? 8 : m->width;
    uint8_t index[B2_MAX_CHUNKS * CIP_B2_MAX_WIDTH] = { 0 };
    uint64_t files = 0;
    if (b.ptr == NULL)
        abort();
    b2_header(&b, m);
    size_t from = b.len;
    for (uint32_t i = 0; i < m->nchunk; i++) {
        uint8_t *entry = index + (size_t)i * width;
        if (m->special[i] != 0) {
            entry[width - 1] = m->special[i];
            continue;
        }
        b2_bytes c = b2_chunk_file(m, i);
        b.len += m->sparse ? 0 : m->gap;
        uint64_t at = m->sparse ? m->nchunk - 1 - i : b.len - (m->document ? 0 : from);
        width == 4 ? cip_store_u32(entry, (uint32_t)at, false) : cip_store_u64(entry, at, false);
        if (!m->sparse)
            b2_put(&b, c.ptr, c.len);
        files += c.len;
        free(c.ptr);
    }
    cip_store_u64(b.ptr + 0x27, m->sparse ? files : b.len - from, true);
    if (m->nchunk != 0)
        b2_chunk(&b, index, m->nchunk * width, 8, false);
    b2_trailer(&b, m);
    cip_store_u64(b.ptr + 0x10, b.len, true);
    return b;
}

/* The b2nd metalayer of an array; dtype NULL: as caterva has it. Returns its length. */
static inline size_t b2_nd_meta(uint8_t *out, int ndim, const int64_t *shape, const int64_t *chunk,
                                const int64_t *block, const char *dtype)
{
    b2_bytes b = { out, 0 };
    b2_u8(&b, dtype != NULL ? 0x97 : 0x95);
    b2_u8(&b, 0);
    b2_u8(&b, (unsigned)ndim);
    b2_u8(&b, 0x90 + (unsigned)ndim);
    for (int k = 0; k < ndim; k++)
        b2_num(&b, 0xd3, (uint64_t)shape[k], 8);
    b2_u8(&b, 0x90 + (unsigned)ndim);
    for (int k = 0; k < ndim; k++)
        b2_num(&b, 0xd2, (uint64_t)chunk[k], 4);
    b2_u8(&b, 0x90 + (unsigned)ndim);
    for (int k = 0; k < ndim; k++)
        b2_num(&b, 0xd2, (uint64_t)block[k], 4);
    if (dtype != NULL) {
        b2_u8(&b, 0);
        b2_num(&b, 0xdb, strlen(dtype), 4);
        b2_put(&b, dtype, strlen(dtype));
    }
    return b.len;
}

/* --- a folder in memory ----------------------------------------------------------------------- */

/* chunks.b2frame with its neighbours: `file(user, number)` gives a chunk file's bytes, NULL: there
 * is none. */
typedef struct b2_folder {
    cip_io io;
    cip_bytes index;
    bool (*file)(void *user, uint32_t number, cip_bytes *out);
    void *user;
} b2_folder;

static inline cip_status b2_folder_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    const b2_folder *f = (const b2_folder *)io;
    (void)err;
    for (size_t i = 0; i < n; i++)
        memcpy(r[i].dst, f->index.ptr + r[i].offset, r[i].nbytes);
    return CIP_OK;
}

static inline cip_status b2_folder_member(cip_io *io, const char *name, uint32_t flags,
                                          cip_io **out, cip_err *err)
{
    const b2_folder *f = (const b2_folder *)io;
    cip_bytes bytes;
    (void)flags;
    if (strlen(name) != 14 || strcmp(name + 8, ".chunk") != 0 ||
        !f->file(f->user, (uint32_t)strtoul(name, NULL, 16), &bytes))
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "there is no '%.40s'", name);
    return cip_io_open_memory(io->env, bytes.ptr, bytes.len, name, out, err);
}

static inline void b2_folder_close(cip_io *io)
{
    (void)io;
}

static inline cip_io *b2_folder_init(b2_folder *f, cip_env *env)
{
    static const cip_io_ops ops = { .name = "test",
                                    .read_ranges = b2_folder_read,
                                    .open_member = b2_folder_member,
                                    .close = b2_folder_close };
    f->io = (cip_io){ .ops = &ops, .env = env, .size = f->index.len, .name = "dir/chunks.b2frame" };
    return &f->io;
}

#endif
