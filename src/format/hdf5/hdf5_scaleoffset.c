/* SPDX-License-Identifier: BSD-3-Clause
 * Scale-offset: bits of an element, the length and value of the smallest one, then what elements
 * have over that, the first bit first; the largest number of so many bits is the fill value. Of
 * floats it is counted in 10^-D. n-bit changes nothing unless elements have unused bits. */
#include "format/hdf5/hdf5.h"

#include <math.h>

#include "base/endian.h"

enum { DECIMAL = 0, INTEGER = 2, HEAD = 21 };

/* The filter's values, and what a chunk begins with. */
typedef struct scale {
    bool integer, big, filled;
    size_t size; /* bytes of an element */
    double unit; /* of floats: 10^D */
    uint64_t fill, least;
    unsigned bits;
} scale;

static cip_status damaged(cip_err *err, const char *expected)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "scaleoffset: expected %s", expected);
}

/* *raw: elements are as they were. */
static cip_status take_values(const cip_h5_filter *f, size_t n, scale *s, bool *raw, cip_err *err)
{
    enum { TYPE, FACTOR, COUNT, CLASS, SIZE, SIGN, ORDER, FILLED, FILL };
    const uint32_t *v = f->value;
    if (f->n < FILL)
        return damaged(err, "8 values of the filter");
    s->size = v[SIZE];
    s->integer = v[CLASS] == 0;
    s->big = v[ORDER] == 1;
    s->filled = v[FILLED] == 1;
    const bool pair = s->integer ? v[TYPE] == INTEGER : v[TYPE] == DECIMAL && v[CLASS] == 1;
    const bool size =
        s->size == 4 || s->size == 8 || (s->integer && (s->size == 1 || s->size == 2));
    if (!pair || !size || v[ORDER] > 1 || v[FILLED] > 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "scaleoffset: expected integers, or floats by decimal digits");
    if (n % s->size != 0 || v[COUNT] != n / s->size)
        return damaged(err, "as many elements as the chunk has");
    if (s->filled && f->n < FILL + (s->size == 8 ? 2u : 1u))
        return damaged(err, "a fill value");
    s->fill = !s->filled ? 0 : v[FILL] | (s->size == 8 ? (uint64_t)v[FILL + 1] << 32 : 0);
    const int32_t digits = (int32_t)v[FACTOR];
    if (!s->integer)
        s->unit = s->size == 4 ? (double)powf(10, (float)digits) : pow(10, digits);
    *raw = s->integer && v[FACTOR] == 8 * s->size;
    return CIP_OK;
}

static uint64_t float_of(const scale *s, uint64_t code)
{
    uint64_t bits = 0;
    if (s->size == 8) {
        double least, x;
        memcpy(&least, &s->least, sizeof least);
        x = (double)(int64_t)code / s->unit + least;
        memcpy(&bits, &x, sizeof x);
        return bits;
    }
    const uint32_t low = (uint32_t)s->least;
    uint32_t found;
    float least, x;
    memcpy(&least, &low, sizeof least);
    x = (float)(int32_t)code / (float)s->unit + least;
    memcpy(&found, &x, sizeof x);
    return found;
}

static void store(const scale *s, uint8_t *to, uint64_t v)
{
    for (size_t k = 0; k < s->size; k++)
        to[s->big ? s->size - 1 - k : k] = (uint8_t)(v >> 8 * k);
}

/* Elements from codes of s->bits bits; there are enough bytes. */
static void unpack(const scale *s, const uint8_t *in, uint8_t *dst, size_t n)
{
    const uint64_t all = s->bits == 0 ? 0 : UINT64_MAX >> (64 - s->bits);
    unsigned held = 0; /* bits of *in that were taken */
    for (size_t at = 0; at < n; at += s->size) {
        uint64_t code = 0;
        for (unsigned need = s->bits, now; need != 0; need -= now) {
            now = need < 8 - held ? need : 8 - held;
            code = code << now | (*in >> (8 - held - now) & ((1u << now) - 1));
            held += now;
            in += held == 8;
            held %= 8;
        }
        store(s, dst + at,
              s->filled && code == all ? s->fill
              : s->integer             ? code + s->least
                                       : float_of(s, code));
    }
}

cip_status cip_h5_scaleoffset(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                              uint8_t *dst, size_t n, cip_err *err)
{
    scale s = { .bits = 0 };
    bool raw = false;
    (void)env;
    CIP_TRY(take_values(f, n, &s, &raw, err));
    if (raw && src.len != n)
        return damaged(err, "elements as they were");
    if (raw || n == 0) {
        memcpy(dst, src.ptr, n);
        return CIP_OK;
    }
    cip_cursor c = cip_cursor_le(src);
    const uint32_t bits = cip_get_u32(&c);
    const uint8_t width = cip_get_u8(&c);
    s.least = cip_get_u64(&c);
    if (src.len < HEAD || bits > 8 * s.size || width < s.size)
        return damaged(err, "the bits and the smallest of the elements");
    s.bits = bits;
    const uint64_t packed = n / s.size * bits; /* at most 8 n, and n is a chunk's */
    if (packed / 8 + (packed % 8 != 0) > src.len - HEAD)
        return damaged(err, "more bytes of elements");
    if (bits < 8 * s.size) {
        unpack(&s, src.ptr + HEAD, dst, n);
        return CIP_OK;
    }
    for (size_t at = 0; at < n; at++) /* all bits: little-endian elements */
        dst[at] = src.ptr[HEAD + (s.big ? at / s.size * s.size + s.size - 1 - at % s.size : at)];
    return CIP_OK;
}

cip_status cip_h5_nbit(const cip_h5_filter *f, const cip_codec_env *env, cip_bytes src,
                       uint8_t *dst, size_t n, cip_err *err)
{
    (void)env;
    if (f->n < 2 || f->value[1] == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "nbit: expected elements of which all bits are used");
    if (src.len != n)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "nbit: expected %zu bytes, found %zu",
                        n, src.len);
    memcpy(dst, src.ptr, n);
    return CIP_OK;
}
