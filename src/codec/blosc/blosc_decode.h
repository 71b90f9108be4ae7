/* SPDX-License-Identifier: BSD-3-Clause
 * What the files that decode Blosc chunks share: the libraries under the streams, the table of
 * blocks, one block. */
#ifndef CIP_CODEC_BLOSC_BLOSC_DECODE_H
#define CIP_CODEC_BLOSC_BLOSC_DECODE_H

#include "codec/blosc/blosc.h"

/* --- streams through codecs (blosc_lib.c) ----------------------------------------------------- */

typedef struct cip_blosc_lib cip_blosc_lib;
/* To exactly n bytes, else CORRUPT. */
typedef cip_status cip_blosc_stream_fn(const cip_blosc_lib *lib, cip_bytes src, uint8_t *dst,
                                       size_t n, cip_err *err);

/* NULL: this build has no such codec. */
cip_blosc_stream_fn *cip_blosc_stream_of(int compcode);

/* A codec made ready for the streams of a chunk, on one thread. Zeroed: none. */
struct cip_blosc_lib {
    const cip_codec_env *env;
    cip_blosc_stream_fn *decode;
    int compcode;
    uint8_t meta;
    uint32_t typesize;
    bool big;       /* the order of the chunk's elements: its writer's */
    cip_bytes dict; /* empty: none */
    void *ctx, *prepared_dict;
};

/* dict is borrowed. The chunk's codec is one of this build (cip_blosc_known). */
cip_status cip_blosc_lib_open(cip_blosc_lib *lib, const cip_codec_env *env, const cip_blosc_head *h,
                              cip_bytes dict, cip_err *err);
void cip_blosc_lib_close(cip_blosc_lib *lib);

/* blosc_zfp.c: one block of floats; env has its shape. */
cip_blosc_stream_fn cip_blosc_zfp_decode;
/* blosc_ndlz.c: one plane of bytes in cells of 4 x 4 or 8 x 8 (`side`). */
cip_status cip_ndlz_decode(int side, cip_bytes src, uint8_t *dst, size_t n, cip_err *err);

/* --- where the blocks lie (blosc_table.c) ----------------------------------------------------- */

/* A chunk's table of blocks: each begins where its entry says and ends where the next one in the
 * chunk begins. The entries may be in any order (not those of VL chunks). */
typedef struct cip_blosc_table {
    const uint8_t *at; /* n little-endian 32-bit offsets in the chunk, borrowed */
    uint32_t n, cbytes;
    uint32_t *sorted; /* from the opener's memory; NULL: they are in order */
} cip_blosc_table;

/* Bytes of header and table together. */
size_t cip_blosc_table_end(const cip_blosc_head *h);
/* at: the chunk's header and table. CORRUPT when an entry is not behind them and in the chunk. */
cip_status cip_blosc_table_open(cip_mem *mem, const cip_blosc_head *h, const uint8_t *at,
                                cip_blosc_table *out, cip_err *err);
/* Block j's stored bytes in the chunk. */
cip_need cip_blosc_table_block(const cip_blosc_table *t, uint32_t j);
/* Where the first block begins. */
uint32_t cip_blosc_table_first(const cip_blosc_table *t);

/* --- one block (blosc_block.c) ---------------------------------------------------------------- */

typedef struct cip_blosc_blocks {
    const cip_codec_env *env;
    const cip_blosc_head *h;
    cip_blosc_lib lib;
    uint8_t *room; /* of env->mem, where filters work; room_len bytes, NULL until needed */
    size_t room_len;
} cip_blosc_blocks;

/* A block and what is known of it. */
typedef struct cip_blosc_block {
    uint32_t number;
    uint64_t off; /* of its raw bytes in the chunk, for cip_blosc_block_part; and how many */
    size_t len;
    cip_bytes stored;
    const uint8_t *first; /* decoded block 0, for delta; NULL for block 0 and in VL chunks */
} cip_blosc_block;

/* Whether the other blocks need block 0. */
bool cip_blosc_has_delta(const cip_blosc_head *h);
/* Decodes a block of n raw bytes. */
cip_status cip_blosc_block_decode(cip_blosc_blocks *b, const cip_blosc_block *block, uint8_t *dst,
                                  size_t n, cip_err *err);
/* Just those of its raw bytes that are wanted, where undoing its filters for them alone is less
 * work than for all. *done false: it is not. */
cip_status cip_blosc_block_part(cip_blosc_blocks *b, const cip_blosc_block *block,
                                const cip_wants *w, bool *done, cip_err *err);
/* Raw bytes of a VL block, from the size before its data. CORRUPT when they are more than `left`.
 */
cip_status cip_blosc_vl_len(cip_bytes stored, uint64_t left, size_t *n, cip_err *err);

/* --- chunks without blocks (blosc_special.c) -------------------------------------------------- */

/* Raw bytes `off` to off + n of a special chunk, whose stored bytes are all at hand. */
void cip_blosc_special_fill(const cip_blosc_head *h, const uint8_t *chunk, uint64_t off,
                            uint8_t *dst, size_t n);

#endif
