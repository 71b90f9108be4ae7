/* SPDX-License-Identifier: BSD-3-Clause
 * A Blosc chunk as a codec: all of it, or just the wanted pieces from the header, the table of
 * blocks and the blocks that are touched. Both ways see the same bytes of each block, so that they
 * agree about damaged chunks too. */
#include "codec/blosc/blosc_decode.h"
#include "codec/blosc/blosc_recast.h"

#include <string.h>

#include "base/num.h"
#include "codec/with.h"

#if CIP_WITH_ZFP
#include <zfp.h>
#endif

enum { HEAD = 4096 }; /* the header and a table of about a thousand blocks */

/* A chunk being decoded: its bytes as far as they are at hand. */
typedef struct chunk {
    const cip_codec_env *env;
    cip_blosc_head h;
    const cip_stored *stored;
    cip_blosc_table table;
    cip_blosc_blocks blocks;
    const uint8_t *first; /* decoded block 0 for delta, or NULL */
    uint8_t *own_first;   /* it, where not all of it is wanted */
    uint8_t *part;        /* where a block goes of which not all is wanted, part_len bytes */
    size_t part_len;
} chunk;

/* A raw block. */
typedef struct place {
    uint32_t number;
    uint64_t off;
    size_t len;
} place;

static cip_status parse(cip_bytes head, uint64_t total, uint64_t raw_len, cip_blosc_head *h,
                        cip_err *err)
{
    CIP_TRY(cip_blosc_head_parse(head, h, err));
    if (h->nbytes != raw_len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a Blosc chunk of %" PRIu64 " decoded bytes, found %" PRIu32,
                        raw_len, h->nbytes);
    if (total < h->cbytes)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected a Blosc chunk of %" PRIu32 " stored bytes, found %" PRIu64,
                        h->cbytes, total);
    return cip_blosc_known(h, err);
}

/* The last bytes that may hold a dictionary: it lies between the table and the first block. */
static uint64_t dict_end(const cip_blosc_head *h, const cip_blosc_table *t)
{
    return cip_min_u64(cip_blosc_table_end(h) + 4 + CIP_BLOSC_MAX_DICT, cip_blosc_table_first(t));
}

/* Stored bytes that `needs` asked for. */
static cip_status at_hand(const cip_stored *s, cip_need want, cip_bytes *out, cip_err *err)
{
    out->len = (size_t)want.len;
    return cip_stored_find(s, want, &out->ptr)
               ? CIP_OK
               : cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                          "expected the requested stored bytes, found none at %" PRIu64, want.off);
}

static cip_status open_chunk(chunk *c, cip_err *err)
{
    cip_bytes front, dict = { NULL, 0 };
    c->blocks = (cip_blosc_blocks){ .env = c->env, .h = &c->h };
    CIP_TRY(at_hand(c->stored, (cip_need){ 0, cip_blosc_table_end(&c->h) }, &front, err));
    CIP_TRY(cip_blosc_table_open(c->env->mem, &c->h, front.ptr, &c->table, err));
    if (c->h.dict) {
        uint64_t begin = cip_blosc_table_end(&c->h), end = dict_end(&c->h, &c->table);
        cip_bytes in;
        CIP_TRY(at_hand(c->stored, (cip_need){ begin, end - begin }, &in, err));
        cip_cursor at = cip_cursor_le(in);
        int64_t len = (int32_t)cip_get_u32(&at);
        if (len >= 1 && len <= CIP_BLOSC_MAX_DICT)
            dict = cip_get_bytes(&at, (size_t)len);
        if (dict.len == 0)
            return cip_fail(
                err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                "expected a dictionary of 1 to 32768 bytes before the first block, found "
                "%" PRId64,
                len);
    }
    return cip_blosc_lib_open(&c->blocks.lib, c->env, &c->h, dict, err);
}

static void close_chunk(chunk *c)
{
    cip_blosc_lib_close(&c->blocks.lib);
    cip_mem_put(c->env->mem, c->table.sorted);
    cip_mem_put(c->env->mem, c->blocks.room);
    cip_mem_put(c->env->mem, c->own_first);
    cip_mem_put(c->env->mem, c->part);
}

/* The block behind *at, whose number is UINT32_MAX before the first. */
static cip_status next_place(const chunk *c, place *at, cip_err *err)
{
    const cip_blosc_head *h = &c->h;
    cip_bytes in;
    at->off += at->len;
    uint64_t left = h->nbytes - at->off;
    if (!h->vl) {
        at->number = (uint32_t)(at->off / h->blocksize);
        at->len = (size_t)cip_min_u64(h->blocksize, left);
        return CIP_OK;
    }
    at->number++;
    CIP_TRY(at_hand(c->stored, cip_blosc_table_block(&c->table, at->number), &in, err));
    return cip_blosc_vl_len(in, left, &at->len, err);
}

/* --- what is needed for a part --------------------------------------------------------------- */

static cip_status add_need(cip_needs *s, uint64_t off, uint64_t len, cip_err *err)
{
    cip_need *last = s->n != 0 ? &s->at[s->n - 1] : NULL;
    if (last != NULL && last->off + last->len == off) {
        last->len += len;
        return CIP_OK;
    }
    if (s->n == s->max)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "more than %zu pieces of a chunk",
                        s->max);
    s->at[s->n++] = (cip_need){ off, len };
    return CIP_OK;
}

/* Wanted pieces, gone through block by block. Where they rise, those that are done fall away, so
 * that many of them are not looked at for each block. */
typedef struct pieces {
    cip_wants left;
    bool rise;
} pieces;

static pieces pieces_of(const cip_wants *w)
{
    pieces p = { *w, true };
    for (size_t i = 1; i < w->n; i++)
        p.rise = p.rise && w->at[i].off >= w->at[i - 1].off + w->at[i - 1].len;
    return p;
}

/* The first wanted byte at `from` or behind it; false: none. */
static bool next_wanted(pieces *p, uint64_t from, uint64_t *off)
{
    cip_wants *w = &p->left;
    bool any = false;
    for (; p->rise && w->n != 0 && w->at->off + w->at->len <= from; w->n--)
        w->at++;
    for (size_t i = 0; i < w->n && !(any && p->rise); i++) {
        uint64_t at = cip_max_u64(w->at[i].off, from);
        if (w->at[i].off + w->at[i].len > at && (!any || at < *off)) {
            any = true;
            *off = at;
        }
    }
    return any;
}

/* All that some of a block may be wanted for, which ends at `end`. */
static cip_wants pieces_before(const pieces *p, uint64_t end)
{
    cip_wants w = p->left;
    if (p->rise)
        for (w.n = 0; w.n < p->left.n && w.at[w.n].off < end;)
            w.n++;
    return w;
}

static cip_status plan_blocks(const cip_codec_env *env, const cip_blosc_head *h, cip_bytes head,
                              const cip_wants *w, cip_needs *out, cip_err *err)
{
    cip_blosc_table t;
    pieces p = pieces_of(w);
    uint64_t at = 0;
    bool first = cip_blosc_has_delta(h);
    cip_status st;
    CIP_TRY(cip_blosc_table_open(env->mem, h, head.ptr, &t, err));
    CIP_GO(add_need(out, 0, h->dict ? dict_end(h, &t) : cip_blosc_table_end(h), err));
    if (first) {
        cip_need b = cip_blosc_table_block(&t, 0);
        CIP_GO(add_need(out, b.off, b.len, err));
    }
    while (next_wanted(&p, at, &at)) {
        uint32_t j = (uint32_t)(at / h->blocksize);
        cip_need b = cip_blosc_table_block(&t, j);
        if (j != 0 || !first)
            CIP_GO(add_need(out, b.off, b.len, err));
        at = ((uint64_t)j + 1) * h->blocksize;
    }
    out->unit = w->n != 0 ? w->at->off - w->at->off % h->blocksize : 0;
    out->unit_end = w->n != 0 ? cip_min_u64(out->unit + h->blocksize, h->nbytes) : 0;
    st = CIP_OK;
done:
    cip_mem_put(env->mem, t.sorted);
    return st;
}

/* Of a chunk that is stored as it is: the pieces, but what lies between those of a block too. */
static cip_status plan_stored(const cip_blosc_head *h, const cip_wants *w, cip_needs *out,
                              cip_err *err)
{
    const size_t front = out->n;
    CIP_TRY(add_need(out, 0, h->header, err));
    for (size_t i = 0; i < w->n; i++) {
        const cip_want want = w->at[i];
        cip_need *last = &out->at[out->n - 1];
        const uint64_t end = h->header + want.off + want.len;
        if (out->n != front + 1 && want.off >= w->at[i - 1].off + w->at[i - 1].len &&
            want.off / h->blocksize == w->at[i - 1].off / h->blocksize)
            last->len = end - last->off;
        else
            CIP_TRY(add_need(out, h->header + want.off, want.len, err));
    }
    return CIP_OK;
}

static cip_status blosc_needs(const void *args, const cip_codec_env *env, cip_bytes head,
                              const cip_wants *w, cip_needs *out, cip_err *err)
{
    cip_blosc_head h;
    (void)args;
    CIP_TRY(parse(head, UINT64_MAX, w->raw_len, &h, err));
    CIP_TRY(cip_wants_check(w, err));
    if (h.nblock == 0 && h.special == CIP_BLOSC_NOT_SPECIAL) { /* stored as it is */
        return plan_stored(&h, w, out, err);
    }
    if (h.nblock == 0 || h.vl) /* where blocks of variable length begin is only told in each */
        return add_need(out, 0, h.cbytes, err);
    if (head.len >= cip_blosc_table_end(&h))
        return plan_blocks(env, &h, head, w, out, err);
    CIP_TRY(add_need(out, 0, cip_blosc_table_end(&h), err));
    return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                    "expected a table of %" PRIu32 " blocks, found %zu bytes of its chunk",
                    h.nblock, head.len);
}

/* --- a part ---------------------------------------------------------------------------------- */

/* Where all of the block at `at` is wanted in one piece, or NULL. */
static uint8_t *whole_place(const cip_wants *w, const place *at)
{
    for (size_t i = 0; i < w->n; i++)
        if (w->at[i].off <= at->off && at->off - w->at[i].off <= w->at[i].len &&
            at->len <= w->at[i].len - (at->off - w->at[i].off))
            return w->at[i].dst + (at->off - w->at[i].off);
    return NULL;
}

/* Decodes a block; *raw: to where, or NULL where no more of it was put in order than is wanted. */
static cip_status decode_block(chunk *c, const place *at, const pieces *p, uint8_t **raw,
                               cip_err *err)
{
    const cip_wants some = pieces_before(p, at->off + at->len), *w = &some;
    cip_blosc_block block = {
        .number = at->number, .off = at->off, .len = at->len, .first = c->first
    };
    *raw = whole_place(w, at);
    bool done = false;
    CIP_TRY(at_hand(c->stored, cip_blosc_table_block(&c->table, at->number), &block.stored, err));
    if (*raw == NULL)
        CIP_TRY(cip_blosc_block_part(&c->blocks, &block, w, &done, err));
    if (done)
        return CIP_OK;
    if (*raw == NULL && at->len > c->part_len) {
        void *part = c->part;
        CIP_TRY(cip_mem_resize(c->env->mem, &part, at->len, err));
        c->part = part;
        c->part_len = at->len;
    }
    if (*raw == NULL)
        *raw = c->part;
    CIP_TRY(cip_blosc_block_decode(&c->blocks, &block, *raw, at->len, err));
    for (size_t i = 0; i < w->n; i++) { /* to all that want some of it */
        const uint64_t lo = cip_max_u64(w->at[i].off, at->off);
        const uint64_t hi = cip_min_u64(w->at[i].off + w->at[i].len, at->off + at->len);
        uint8_t *to = w->at[i].dst + (lo - w->at[i].off);
        if (lo < hi && to != *raw + (lo - at->off))
            memcpy(to, *raw + (lo - at->off), (size_t)(hi - lo));
    }
    return CIP_OK;
}

static cip_status spans_of_blocks(chunk *c, const cip_wants *w, cip_err *err)
{
    pieces p = pieces_of(w);
    uint64_t wanted = 0;
    uint8_t *raw;
    cip_status st;
    CIP_GO(open_chunk(c, err));
    if (cip_blosc_has_delta(&c->h)) { /* block 0, which the others need, whole; it stays there */
        const place at = { 0, 0, c->h.blocksize };
        CIP_GO(decode_block(c, &at, &p, &raw, err));
        c->first = raw;
        if (raw == c->part) {
            c->own_first = c->part;
            c->part = NULL;
            c->part_len = 0;
        }
        wanted = c->h.blocksize;
    }
    while (next_wanted(&p, wanted, &wanted)) {
        place at = { 0, wanted / c->h.blocksize * c->h.blocksize, 0 };
        CIP_GO(next_place(c, &at, err));
        CIP_GO(decode_block(c, &at, &p, &raw, err));
        wanted = at.off + at.len;
    }
    st = CIP_OK;
done:
    close_chunk(c);
    return st;
}

/* All blocks are gone through, for their lengths; none but the touched ones is decoded. */
static cip_status spans_of_vl(chunk *c, const cip_wants *w, cip_err *err)
{
    place at = { .number = UINT32_MAX };
    pieces p = pieces_of(w);
    uint64_t wanted = 0;
    uint8_t *raw;
    bool any = next_wanted(&p, 0, &wanted);
    cip_status st;
    CIP_GO(open_chunk(c, err));
    for (uint32_t j = 0; j < c->h.nblock; j++) {
        CIP_GO(next_place(c, &at, err));
        if (!any || wanted >= at.off + at.len)
            continue;
        CIP_GO(decode_block(c, &at, &p, &raw, err));
        any = next_wanted(&p, at.off + at.len, &wanted);
    }
    st = CIP_OK;
    if (at.off + at.len != c->h.nbytes)
        st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                      "expected blocks of %" PRIu32 " bytes together, found %" PRIu64, c->h.nbytes,
                      at.off + at.len);
done:
    close_chunk(c);
    return st;
}

static cip_status spans_without_blocks(const chunk *c, const cip_wants *w, cip_err *err)
{
    bool special = c->h.special != CIP_BLOSC_NOT_SPECIAL;
    cip_bytes in = { NULL, 0 };
    if (special)
        CIP_TRY(at_hand(c->stored, (cip_need){ 0, c->h.cbytes }, &in, err));
    for (size_t i = 0; i < w->n; i++) {
        if (special)
            cip_blosc_special_fill(&c->h, in.ptr, w->at[i].off, w->at[i].dst, w->at[i].len);
        if (special || w->at[i].len == 0)
            continue;
        CIP_TRY(
            at_hand(c->stored, (cip_need){ c->h.header + w->at[i].off, w->at[i].len }, &in, err));
        memcpy(w->at[i].dst, in.ptr, in.len);
    }
    return CIP_OK;
}

static cip_status blosc_spans(const void *args, const cip_codec_env *env, const cip_stored *src,
                              const cip_wants *w, cip_err *err)
{
    chunk c = { .env = env, .stored = src };
    cip_bytes head;
    (void)args;
    uint64_t n = cip_min_u64(src->total, CIP_BLOSC_HEADER);
    if (src->n != 0 && src->at[0].off == 0) /* a chunk may need no more than a short header */
        n = cip_min_u64(n, src->at[0].len);
    CIP_TRY(at_hand(src, (cip_need){ 0, n }, &head, err));
    CIP_TRY(parse(head, src->total, w->raw_len, &c.h, err));
    CIP_TRY(cip_wants_check(w, err));
    if (c.h.nblock == 0)
        return spans_without_blocks(&c, w, err);
    return c.h.vl ? spans_of_vl(&c, w, err) : spans_of_blocks(&c, w, err);
}

static cip_status blosc_decode(const void *args, const cip_codec_env *env, cip_bytes src,
                               uint8_t *dst, size_t dst_len, cip_err *err)
{
    const cip_need all = { 0, src.len };
    const cip_stored stored = { src.len, 1, &all, &src.ptr };
    const cip_want want = { 0, dst_len, dst };
    return blosc_spans(args, env, &stored, &(cip_wants){ &want, 1, dst_len }, err);
}

/* libsnappy tells its version to C++ alone. */
const char *cip_blosc_version(void)
{
#if CIP_WITH_SNAPPY && CIP_WITH_ZFP
    return "with snappy, zfp " ZFP_VERSION_STRING;
#elif CIP_WITH_SNAPPY
    return "with snappy, without zfp";
#elif CIP_WITH_ZFP
    return "without snappy, with zfp " ZFP_VERSION_STRING;
#else
    return "without snappy and zfp";
#endif
}

static const char *blosc_coder(cip_bytes head)
{
    cip_blosc_head h;
    return cip_blosc_head_parse(head, &h, NULL) == CIP_OK ? cip_blosc_coder_name(&h) : "unknown";
}

static bool blosc_takes(const void *args, cip_bytes head, uint64_t len, uint64_t raw_len)
{
    const cip_blosc_spec *spec = args;
    cip_blosc_head h;
    if (spec == NULL || cip_blosc_head_parse(head, &h, NULL) != CIP_OK || h.cbytes != len ||
        h.nbytes != raw_len || h.compcode == CIP_BLOSC_SNAPPY ||
        cip_blosc_known(&h, NULL) != CIP_OK || (spec->recast && !cip_blosc_may_recast(&h)))
        return false;
    if (spec->joined) /* chunks whose blocks may stand in one */
        return h.version == CIP_BLOSC1_VERSION && h.typesize == spec->typesize &&
               memcmp(h.filter, spec->filter, sizeof h.filter) == 0 &&
               (h.memcpyed || (h.compcode == spec->compcode &&
                               h.split == (spec->split == CIP_BLOSC_SPLIT_ALWAYS))) &&
               (h.blocksize == spec->blocksize || h.nbytes < spec->blocksize);
    /* Blosc1: of the version that its library reads, and without snappy, which few builds of it
     * have. */
    if (spec->blosc1)
        return h.version == CIP_BLOSC1_VERSION || spec->recast;
    /* Blosc2: in the form that chunks of a frame have, with its blocks. A bytedelta that does not
     * say its width takes that of the frame, which the chunk repeats up to 255 bytes. */
    const bool wide = spec->typesize > CIP_BLOSC_MAX_TYPESIZE;
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++)
        if (wide && h.filter[i] >= CIP_BLOSC_BYTEDELTA_OLD && h.filter[i] <= CIP_BLOSC_BYTEDELTA &&
            h.filter_meta[i] == 0)
            return false;
    return (spec->recast || (h.version == CIP_BLOSC2_VERSION && h.extended)) && !h.vl &&
           !h.instrumented && h.typesize == (wide ? 1 : spec->typesize) && h.big == spec->big &&
           (spec->blocksize == 0 || h.blocksize == spec->blocksize);
}

static cip_recast recast(const void *args, cip_bytes stored, cip_dst *out)
{
    return cip_blosc_recast(args, stored, out);
}

static size_t blosc_bound(size_t n)
{
    return n <= CIP_BLOSC_MAX_NBYTES ? cip_blosc_stored_bound(n) : 0;
}

static cip_status blosc_encode(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                               cip_dst *out, cip_err *err)
{
    cip_blosc_spec spec;
    if (args == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected the encoding parameters of the Blosc chunk, found none");
    spec = *(const cip_blosc_spec *)args;
    if (level != 0)
        spec.level = level;
    return cip_blosc_encode(env->mem, &spec, src, out->ptr, out->cap, &out->len, err);
}

const cip_codec cip_codec_blosc = {
    .name = "blosc",
    .decode = blosc_decode,
    .head_len = HEAD,
    .needs = blosc_needs,
    .decode_spans = blosc_spans,
    .coder = blosc_coder,
    .takes = blosc_takes,
    .recast = recast,
    .bound = blosc_bound,
    .encode = blosc_encode,
};
