/* SPDX-License-Identifier: BSD-3-Clause
 * Numbers to numbers, in blocks that stay in the first cache: brought together in host order where
 * they are not already, converted by a kernel, spread out again. Kinds without kernels go through
 * one that has them: bool as 0 and 1 of uint8, float16 as float32 or float64, complex numbers as
 * pairs of floats. */
#include "array/cast_kernels.h"

#include "array/half.h"
#include "base/endian.h"
#include "base/num.h"

enum { BLOCK = 256, LARGEST = 16 /* bytes of a complex128 */ };

/* Values of one block; parts of complex numbers count one by one. */
typedef union block {
    uint8_t u8[BLOCK * LARGEST];
    uint16_t f16[2 * BLOCK];
    float f32[2 * BLOCK];
    double f64[2 * BLOCK];
} block;

static bool is_complex(cip_kind kind)
{
    return kind == CIP_C64 || kind == CIP_C128;
}

/* Of a complex number: its parts. Of a real one: itself. */
static cip_kind part_kind(cip_kind kind)
{
    return kind == CIP_C64 ? CIP_F32 : kind == CIP_C128 ? CIP_F64 : kind;
}

static size_t kind_size(cip_kind kind)
{
    return (size_t)cip_dtype_fixed(kind, false)->itemsize;
}

/* Numbers that are about to be converted: n in host order, one behind the other. */
typedef struct job {
    cip_kind from, to;
    size_t n;
    const uint8_t *src;
    uint8_t *dst;
    bool wrap;
    bool exact; /* what is not held exactly counts as what overflows does */
} job;

/* `exact`: the source are integers, of which a half may also lose low digits. */
static uint64_t narrow_to_half(size_t n, const double *src, uint8_t *dst, bool exact)
{
    uint64_t over = 0;
    for (size_t i = 0; i < n; i++) {
        uint16_t h = cip_half_from_double(src[i]);
        if (exact)
            over += (double)cip_half_to_float(h) != src[i];
        else /* only infinities give NaN here */
            over += (h & 0x7fff) == 0x7c00 && src[i] - src[i] == 0;
        memcpy(dst + 2 * i, &h, 2);
    }
    return over;
}

/* Real numbers; how many overflow. At most 2 * BLOCK of them. */
static uint64_t convert_reals(job j)
{
    block first, second;
    const bool round = j.from >= CIP_F16 && j.from <= CIP_F64;
    if (j.from == CIP_BOOL) {
        for (size_t i = 0; i < j.n; i++)
            first.u8[i] = j.src[i] != 0;
        j.src = first.u8;
        j.from = CIP_U8;
    } else if (j.from == CIP_F16) {
        memcpy(second.f16, j.src, j.n * 2);
        for (size_t i = 0; i < j.n; i++)
            first.f32[i] = cip_half_to_float(second.f16[i]);
        j.src = first.u8;
        j.from = CIP_F32;
    }
    if (j.to != CIP_F16)
        return cip_num_kernel_of(j.from, j.to, j.exact)(j.n, j.src, j.dst, j.wrap);
    /* what a double rounds is far beyond the range of a half */
    cip_num_kernel_of(j.from, CIP_F64, false)(j.n, j.src, second.u8, false);
    return narrow_to_half(j.n, second.f64, j.dst, j.exact && !round);
}

/* The real parts (which 0) or the imaginary ones (1), which are of the given kind. */
static void take_part(cip_kind kind, size_t n, const uint8_t *src, size_t which, uint8_t *out)
{
    size_t size = kind_size(kind);
    cip_run r = { n, src + which * size, 2 * (int64_t)size, out, (int64_t)size };
    cip_move(&r, size, 0);
}

static uint64_t real_to_complex(job j)
{
    block real;
    size_t size = kind_size(part_kind(j.to));
    uint8_t *dst = j.dst;
    j.to = part_kind(j.to);
    j.dst = real.u8;
    uint64_t over = convert_reals(j);
    memset(dst, 0, j.n * 2 * size);
    cip_run spread = { j.n, real.u8, (int64_t)size, dst, 2 * (int64_t)size };
    cip_move(&spread, size, 0);
    return over;
}

/* Complex numbers to real ones: the imaginary part has to be 0, or counts as nonzero for a bool. */
static uint64_t complex_to_real(job j)
{
    block real, imag, flags;
    cip_kind part = part_kind(j.from);
    take_part(part, j.n, j.src, 0, real.u8);
    take_part(part, j.n, j.src, 1, imag.u8);
    cip_num_kernel_of(part, CIP_BOOL, false)(j.n, imag.u8, flags.u8, false);
    uint64_t over = convert_reals((job){ part, j.to, j.n, real.u8, j.dst, j.wrap, j.exact });
    for (size_t i = 0; i < j.n; i++) {
        if (j.to == CIP_BOOL)
            j.dst[i] |= flags.u8[i];
        if (j.to != CIP_BOOL || j.exact)
            over += flags.u8[i];
    }
    return over;
}

/* How many overflow: exact for real sources, for complex ones only whether there are any. */
static uint64_t convert(job j)
{
    if (!is_complex(j.from))
        return is_complex(j.to) ? real_to_complex(j) : convert_reals(j);
    if (!is_complex(j.to))
        return complex_to_real(j);
    return convert_reals(
        (job){ part_kind(j.from), part_kind(j.to), 2 * j.n, j.src, j.dst, false, j.exact });
}

/* The overflows of a job that has some, added to `stats`; its first element has index `base`. */
static void count_overflows(job j, uint64_t over, uint64_t base, cip_cast_stats *stats)
{
    size_t n = j.n, from = kind_size(j.from), to = kind_size(j.to);
    if (!is_complex(j.from) && stats->noverflow > 0 && stats->first <= base) {
        cip_cast_count(stats, over, base); /* it is not the first, and `over` is exact */
        return;
    }
    j.n = 1;
    for (size_t i = 0; i < n; i++) {
        if (convert(j) != 0)
            cip_cast_count(stats, 1, base + i);
        j.src += from;
        j.dst += to;
    }
}

/* Width to swap between the host's order and that of the type; 0: none. */
static unsigned swap_width(const cip_dtype *d)
{
    return d->big == (CIP_HOST_BIG != 0) ? 0 : (unsigned)kind_size(part_kind(d->kind));
}

void cip_cast_numbers(const cip_cast *c, const cip_run *r, uint64_t base, cip_cast_stats *stats)
{
    block in, out;
    size_t from_size = (size_t)c->from->itemsize, to_size = (size_t)c->to->itemsize;
    unsigned from_swap = swap_width(c->from), to_swap = swap_width(c->to);
    bool read_here = from_swap == 0 && r->src_stride == (int64_t)from_size;
    bool write_here = to_swap == 0 && r->dst_stride == (int64_t)to_size;
    cip_run gather = { 0, r->src, r->src_stride, in.u8, (int64_t)from_size };
    cip_run scatter = { 0, out.u8, (int64_t)to_size, r->dst, r->dst_stride };
    for (size_t i = 0; i < r->n; i += gather.n) {
        gather.n = scatter.n = (size_t)cip_min_u64(r->n - i, BLOCK);
        if (!read_here)
            cip_move(&gather, from_size, from_swap);
        job j = { .from = c->from->kind,
                  .to = c->to->kind,
                  .n = gather.n,
                  .src = read_here ? gather.src : in.u8,
                  .dst = write_here ? scatter.dst : out.u8,
                  .wrap = c->policy == CIP_OVERFLOW_WRAP,
                  .exact = c->policy == CIP_OVERFLOW_ERROR };
        uint64_t over = convert(j);
        if (over > 0)
            count_overflows(j, over, base + i, stats);
        if (!write_here)
            cip_move(&scatter, to_size, to_swap);
        gather.src += (int64_t)gather.n * r->src_stride;
        scatter.dst += (int64_t)gather.n * r->dst_stride;
    }
}
