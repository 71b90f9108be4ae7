/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks of Blosc1 as chunks of Blosc2 and back. Both have the same body: a table of blocks, each
 * block a stream or one for each byte of its elements, each stream behind its length. So another
 * header, and places that count from it, make the one of the other, with no stream decoded. What
 * one version has and the other lacks stays apart: blocks of variable length, dictionaries, special
 * chunks, other filters and codecs, streams that are one byte repeated; and what the versions take
 * for different things: a split of elements or blocks that Blosc1 would not split, bitshuffle of
 * elements that are not whole eights (Blosc1 then leaves the block as it is). */
#include "codec/blosc/blosc_recast.h"

#include <string.h>

#include "base/endian.h"
#include "codec/blosc/blosc_decode.h"
#include "codec/blosc/blosc_encoder.h"

enum { BLOCKSIZE_AT = 8, SIZE_LEN = 4, MAX_SPLIT = 16, MIN_SPLIT = 128 /* bytes of a stream */ };

static bool is_whole(const cip_blosc_head *h, uint32_t unit)
{
    return h->blocksize % unit == 0 && h->nbytes % h->blocksize % unit == 0;
}

bool cip_blosc_may_recast(const cip_blosc_head *h)
{
    static const uint8_t none[CIP_BLOSC_FILTERS] = { 0 };
    const uint8_t filter = h->filter[CIP_BLOSC_FILTERS - 1];
    const bool one = h->version == CIP_BLOSC1_VERSION, two = h->version == CIP_BLOSC2_VERSION;
    if ((!one && !two) || two != h->extended || h->vl || h->dict || h->big || h->instrumented ||
        h->special != CIP_BLOSC_NOT_SPECIAL || h->nbytes == 0 || h->compcode < 0 ||
        h->compcode > CIP_BLOSC_ZSTD || h->compcode == CIP_BLOSC_SNAPPY)
        return false;
    if (memcmp(h->filter, none, CIP_BLOSC_FILTERS - 1) != 0 ||
        memcmp(h->filter_meta, none, CIP_BLOSC_FILTERS) != 0 || filter > CIP_BLOSC_BITSHUFFLE)
        return false;
    if (h->memcpyed)
        return true;
    if (h->split && (h->typesize > MAX_SPLIT || h->blocksize / h->typesize < MIN_SPLIT ||
                     !is_whole(h, h->typesize)))
        return false;
    return filter == CIP_BLOSC_NOFILTER ||
           is_whole(h, (filter == CIP_BLOSC_BITSHUFFLE ? 8 : 1) * h->typesize);
}

/* Whether block i lies in the chunk, in streams with a length each. */
static bool has_block(const cip_blosc_head *h, cip_bytes chunk, uint32_t i)
{
    const uint32_t rest = h->nbytes % h->blocksize;
    const bool last = i + 1 == h->nblock && rest != 0;
    const uint32_t n = h->split && !last ? h->typesize : 1;
    uint64_t at = cip_load_u32(chunk.ptr + h->header + (size_t)i * SIZE_LEN, false);
    if (at < cip_blosc_table_end(h))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        if (at > chunk.len || chunk.len - at < SIZE_LEN)
            return false;
        const int64_t len = (int32_t)cip_load_u32(chunk.ptr + at, false);
        at += SIZE_LEN;
        if (len <= 0 || (uint64_t)len > chunk.len - at)
            return false;
        at += (uint64_t)len;
    }
    return true;
}

cip_recast cip_blosc_recast(const cip_blosc_spec *p, cip_bytes chunk, cip_dst *out)
{
    cip_blosc_head h;
    const uint32_t header = p->blosc1 ? CIP_BLOSC_MIN_HEADER : CIP_BLOSC_HEADER;
    if (!p->recast || cip_blosc_head_parse(chunk, &h, NULL) != CIP_OK ||
        h.version == (p->blosc1 ? CIP_BLOSC1_VERSION : CIP_BLOSC2_VERSION))
        return CIP_RECAST_SAME;
    const uint64_t len = (uint64_t)h.cbytes - h.header + header;
    /* A block that is said to be longer than the chunk is one that some take to be split. */
    if (!cip_blosc_may_recast(&h) || cip_blosc_known(&h, NULL) != CIP_OK || h.cbytes != chunk.len ||
        len > INT32_MAX || len > out->cap ||
        cip_load_u32(chunk.ptr + BLOCKSIZE_AT, false) > h.nbytes)
        return CIP_RECAST_NOT;
    for (uint32_t i = 0; i < h.nblock; i++)
        if (!has_block(&h, chunk, i))
            return CIP_RECAST_NOT;
    cip_blosc_form form = {
        .p = { .compcode = h.compcode, .blocksize = h.blocksize, .blosc1 = p->blosc1 },
        .nbytes = h.nbytes,
        .typesize = h.typesize,
        .nblock = h.nblock,
        .header = header,
        .split = h.split
    };
    memcpy(form.p.filter, h.filter, sizeof form.p.filter);
    cip_blosc_form_write(&form, (cip_blosc_marks){ .memcpyed = h.memcpyed }, (uint32_t)len,
                         out->ptr);
    memcpy(out->ptr + header, chunk.ptr + h.header, h.cbytes - h.header);
    for (uint32_t i = 0; i < h.nblock; i++) {
        uint8_t *at = out->ptr + header + (size_t)i * SIZE_LEN;
        cip_store_u32(at, cip_load_u32(at, false) - h.header + header, false);
    }
    out->len = (size_t)len;
    return CIP_RECAST_MADE;
}
