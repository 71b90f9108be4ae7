/* SPDX-License-Identifier: BSD-3-Clause
 * Raw deflate in pieces of random sizes gives what zlib gives: the bytes, the end, and whether the
 * stream is damaged. From each block that begins on the way it goes on to the same end. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/mem.h"
#include "codec/entropy/inflate.h"

enum { MOST = 1 << 20 };

typedef struct outcome {
    cip_inflate_stop stop;
    size_t took, gave;
} outcome;

static uint8_t by_us[MOST], by_zlib[MOST];
static uint32_t state;

static size_t piece(size_t most)
{
    state = state * 1664525u + 1013904223u;
    const size_t n = 1 + (state >> 9) % (state & 256 ? 20 : 40000);
    return n < most ? n : most;
}

/* From `at` bits on, with `window` before. Blocks are asked for in `every` step. */
static outcome inflate_in_pieces(cip_mem *mem, cip_bytes in, uint64_t at, cip_bytes window,
                                 unsigned every, uint8_t *out, cip_bytes *block, uint64_t *block_at)
{
    cip_inflate *s;
    outcome o = { CIP_INFLATE_MORE, (size_t)(at / 8), 0 };
    unsigned n = 0;
    assert(cip_inflate_new(mem, window, at % 8, &s, NULL) == CIP_OK);
    for (size_t idle = 0; idle < 2 && o.gave < MOST;) {
        cip_flow f = { .in = in.ptr + o.took,
                       .in_len = o.took < in.len ? piece(in.len - o.took) : 0,
                       .out = out + o.gave,
                       .out_len = piece(MOST - o.gave) };
        o.stop = cip_inflate_step(s, &f, every != 0 && ++n % every == 0);
        assert(f.took <= f.in_len && f.gave <= f.out_len);
        o.took += f.took;
        o.gave += f.gave;
        if (o.stop == CIP_INFLATE_BLOCK && block != NULL) {
            free((void *)(uintptr_t)block->ptr);
            const uint8_t *p = cip_inflate_window(s, &block->len);
            uint8_t *copy = malloc(block->len + 1);
            memcpy(copy, p, block->len);
            block->ptr = copy;
            block_at[0] = 8 * (uint64_t)o.took - cip_inflate_bits(s);
            block_at[1] = o.gave;
        }
        if (o.stop == CIP_INFLATE_END || o.stop == CIP_INFLATE_DAMAGED)
            break;
        idle = f.took == 0 && f.gave == 0 && o.took == in.len ? idle + 1 : 0;
    }
    cip_mem_put(mem, s);
    o.stop = o.stop == CIP_INFLATE_BLOCK ? CIP_INFLATE_MORE : o.stop; /* the input ends there */
    return o;
}

static outcome with_zlib(cip_bytes in)
{
    z_stream z = { .next_in = (z_const Bytef *)in.ptr,
                   .avail_in = (uInt)in.len,
                   .next_out = by_zlib,
                   .avail_out = MOST };
    inflateInit2(&z, -MAX_WBITS);
    const int code = inflate(&z, Z_NO_FLUSH);
    inflateEnd(&z);
    return (outcome){ code == Z_STREAM_END   ? CIP_INFLATE_END
                      : code == Z_DATA_ERROR ? CIP_INFLATE_DAMAGED
                                             : CIP_INFLATE_MORE,
                      in.len - z.avail_in, MOST - z.avail_out };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    state = data[0];
    const cip_bytes in = { data + 1, size - 1 };
    cip_bytes block = { NULL, 0 };
    uint64_t block_at[2] = { 0, 0 };
    const outcome theirs = with_zlib(in);
    const outcome ours =
        inflate_in_pieces(&mem, in, 0, (cip_bytes){ 0 }, 1 + data[0] % 3, by_us, &block, block_at);
    if (theirs.gave < MOST) { /* else zlib had no room to see the end */
        assert(ours.stop == theirs.stop && ours.gave == theirs.gave);
        assert(ours.stop != CIP_INFLATE_END || ours.took == theirs.took);
        assert(memcmp(by_us, by_zlib, ours.gave) == 0);
    }
    if (block.ptr != NULL && ours.stop == CIP_INFLATE_END) {
        const outcome again = inflate_in_pieces(&mem, in, block_at[0], block, 0, by_us, NULL, NULL);
        assert(again.stop == ours.stop && again.took == ours.took);
        assert(block_at[1] + again.gave == ours.gave);
        assert(memcmp(by_us, by_zlib + block_at[1], again.gave) == 0 || theirs.gave == MOST);
    }
    free((void *)(uintptr_t)block.ptr);
    return 0;
}
