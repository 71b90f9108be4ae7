/* SPDX-License-Identifier: BSD-3-Clause
 * BloscLZ decoded: runs of literals and matches, in the order of their bytes. A token below 32 is a
 * run of 1 to 32 literals; any other is a match: its length in the upper three bits (7: more bytes
 * follow), its distance in the rest and one or three bytes more. The first token is a run whatever
 * its upper bits say. */
#include "codec/blosc/blosc.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"

enum {
    LITERALS = 32,              /* tokens below it */
    LONG = 6,                   /* a length (of the token, less 1) that goes on */
    MIN_MATCH = 3,              /* added to it */
    FAR = 31,                   /* distance bits that, with a byte 255 behind, mean a far match */
    FAR_BASE = (31 << 8) + 256, /* added to what a far match says */
    WIDE = 16,                  /* bytes copied at once where there is room */
    WORD = 8
};

typedef struct stream {
    const uint8_t *in, *in_end;
    uint8_t *begin, *out, *out_end;
} stream;

static cip_status fail_input(cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected more BloscLZ data, found the end");
}

static cip_status fail_room(const stream *s, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected at most %zu bytes of BloscLZ data, found more",
                    (size_t)(s->out_end - s->begin));
}

static inline cip_status literals(stream *s, size_t len, cip_err *err)
{
    size_t in = (size_t)(s->in_end - s->in), room = (size_t)(s->out_end - s->out);
    if (in >= LITERALS && room >= LITERALS) {
        memcpy(s->out, s->in, LITERALS); /* all 32 are less work than as many as it takes */
    } else {
        if (len > in)
            return fail_input(err);
        if (len > room)
            return fail_room(s, err);
        memcpy(s->out, s->in, len);
    }
    s->in += len;
    s->out += len;
    return CIP_OK;
}

/* The last `dist` bytes repeated to `len`, each time twice as many. */
static void repeat(uint8_t *out, size_t dist, size_t len)
{
    size_t have = cip_min_u64(dist, len);
    memcpy(out, out - dist, have);
    while (have < len) {
        size_t more = cip_min_u64(have - have % dist, len - have);
        memcpy(out + have, out, more);
        have += more;
    }
}

/* The last `dist` bytes, fewer than WIDE, repeated to `len` and up to WIDE bytes more. */
static inline void repeat_near(uint8_t *out, size_t dist, size_t len)
{
    if (dist >= WORD) {
        for (size_t i = 0; i < len; i += WORD)
            memcpy(out + i, out + i - dist, WORD);
        return;
    }
    uint64_t word = cip_load_u64(out - dist, false) & ((UINT64_C(1) << 8 * dist) - 1);
    for (size_t have = dist; have < WORD; have *= 2)
        word |= word << 8 * have;
    const size_t step = WORD - WORD % dist; /* whole repetitions: each word begins with one */
    for (size_t i = 0; i < len; i += step)
        cip_store_u64(out + i, word, false);
}

static inline cip_status match(stream *s, size_t dist, size_t len, cip_err *err)
{
    size_t room = (size_t)(s->out_end - s->out);
    if (dist > (size_t)(s->out - s->begin))
        return cip_fail(
            err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
            "expected a BloscLZ match within the last %zu bytes, found one %zu bytes back",
            (size_t)(s->out - s->begin), dist);
    if (len > room)
        return fail_room(s, err);
    if (room - len < WIDE)
        repeat(s->out, dist, len);
    else if (dist >= WIDE)
        for (size_t i = 0; i < len; i += WIDE)
            memcpy(s->out + i, s->out + i - dist, WIDE);
    else if (dist == 1 && len > 2 * WIDE)
        memset(s->out, s->out[-1], len);
    else
        repeat_near(s->out, dist, len);
    s->out += len;
    return CIP_OK;
}

static inline cip_status match_token(stream *s, unsigned token, cip_err *err)
{
    size_t len = (token >> 5) - 1, dist = (size_t)(token & FAR) << 8;
    if (len == LONG) {
        uint8_t more = 255;
        while (more == 255) {
            if (s->in == s->in_end)
                return fail_input(err);
            more = *s->in++;
            len += more;
        }
    }
    if (s->in == s->in_end)
        return fail_input(err);
    uint8_t low = *s->in++;
    if (low == 255 && dist == FAR << 8) {
        if (s->in_end - s->in < 2)
            return fail_input(err);
        dist = ((size_t)s->in[0] << 8 | s->in[1]) + FAR_BASE;
        s->in += 2;
    } else {
        dist += (size_t)low + 1;
    }
    return match(s, dist, len + MIN_MATCH, err);
}

cip_status cip_blosclz_decode(cip_bytes src, uint8_t *dst, size_t cap, size_t *n, cip_err *err)
{
    stream s = { src.ptr, src.ptr + src.len, dst, dst, dst + cap };
    if (src.len == 0)
        return fail_input(err);
    unsigned token = *s.in++ & (LITERALS - 1);
    for (;;) {
        if (token < LITERALS)
            CIP_TRY(literals(&s, token + 1, err));
        else
            CIP_TRY(match_token(&s, token, err));
        if (s.in == s.in_end)
            break;
        token = *s.in++;
    }
    *n = (size_t)(s.out - dst);
    return CIP_OK;
}
