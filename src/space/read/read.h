/* SPDX-License-Identifier: BSD-3-Clause
 * Reading spaces: byte spans, strided views with casts, in parallel, through the cache. */
#ifndef CIP_SPACE_READ_H
#define CIP_SPACE_READ_H

#include "array/cast.h"
#include "io/out.h"
#include "space/layout/layout.h"

/* How a read may work. */
typedef struct cip_read_how {
    cip_layout *layout;
    cip_pool *pool; /* NULL: in the caller's thread */
} cip_read_how;

/* Wanted pieces of a space's linear bytes, rising and not overlapping (ARG otherwise). Each is
 * filled whole, or the call fails: RANGE beyond the end, and whatever the stored bytes deserve
 * (TRUNCATED, CORRUPT, ... with the space's label, and the chunk's number, as the part). Only what
 * was asked for counts: a damaged chunk next to it does no harm. Decodes only chunks that are
 * touched, in parallel; a chunk that is wanted whole in one piece is decoded straight into dst,
 * others (unless their codec can decode a part) into the cache. */
cip_status cip_space_read(const cip_read_how *how, cip_space *s, const cip_want *want, size_t n,
                          cip_err *err);
/* One piece. */
cip_status cip_space_read_at(const cip_read_how *how, cip_space *s, uint64_t off, void *dst,
                             size_t n, cip_err *err);
/* All stored bytes of a space that is a plain part of a far file are going to be read, so they come
 * in one request, as far as they can be kept. A failure is not told. */
void cip_space_expect(cip_space *s);
/* The same of n places, of which `len` bytes each are going to be read: all in one request. */
void cip_space_expect_at(cip_space *s, const uint64_t *off, size_t n, uint64_t len);
/* The bytes [off, off + len) in place, where the space is a plain part of a mapped file or of
 * memory; UNSUPPORTED otherwise. */
cip_status cip_space_map(cip_space *s, uint64_t off, uint64_t len, const uint8_t **out,
                         cip_err *err);
/* The same where they lie in memory: the layout's, or that of a file which was opened there. NULL
 * otherwise, of mapped files too. */
const uint8_t *cip_space_borrow(cip_space *s, uint64_t off, uint64_t len);

/* The elements of `from` (a view of the space's linear bytes) through `cast` into dst, where the
 * element (0, 0, ...) of `to` lies at dst + to->off; its shape is the same (ARG otherwise), its
 * strides may be any. */
typedef struct cip_transfer {
    const cip_nd *from;
    const cip_cast *cast;
    const cip_nd *to;
    uint8_t *dst;
} cip_transfer;
/* Bounds are checked against the space first (RANGE). Memory beside what decoding a chunk takes: at
 * most 1 MiB (or an element) per thread. Stats are exact and independent of the number of threads;
 * overflows are counted from C order positions, and added to those in *stats (may be NULL) on
 * success. */
cip_status cip_space_gather(const cip_read_how *how, cip_space *s, const cip_transfer *t,
                            cip_cast_stats *stats, cip_err *err);
/* About how many bytes that reads or decodes: all of each chunk (or inner block) that the view
 * touches; of a stream that is decoded in order what lies before, too; of plain bytes at least 512
 * (of a far file more) for each element that lies alone. */
cip_status cip_space_gather_cost(const cip_read_how *how, cip_space *s, const cip_nd *view,
                                 uint64_t *nbytes, cip_err *err);
/* Scattered elements: byte offsets of n elements in any order; dst packed. */
typedef struct cip_points {
    const uint64_t *off;
    size_t n;
    uint8_t *dst;
} cip_points;
cip_status cip_space_gather_points(const cip_read_how *how, cip_space *s, const cip_points *at,
                                   const cip_cast *cast, cip_cast_stats *stats, cip_err *err);

/* All bytes in order in pieces of at most `piece` bytes, each given to fn: for checksums,
 * statistics, copies. Bounded memory. A nonzero result of fn is CANCELLED. */
cip_status cip_space_stream(const cip_read_how *how, cip_space *s, size_t piece,
                            int (*fn)(void *user, const uint8_t *p, size_t n), void *user,
                            cip_err *err);

/* All bytes in order to an output, the same way. */
cip_status cip_space_write_out(const cip_read_how *how, cip_space *s, cip_out *out, cip_err *err);

/* Whether the elements an array's view addresses all lie in its space: RANGE naming both otherwise.
 * Resolves a lazy space. */
cip_status cip_array_check(const cip_array *a, cip_err *err);

#endif
