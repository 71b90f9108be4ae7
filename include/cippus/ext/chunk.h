/* SPDX-License-Identifier: BSD-3-Clause
 * The chunks of an array as they are stored: their places, contents and bytes. */
#ifndef CIPPUS_EXT_CHUNK_H
#define CIPPUS_EXT_CHUNK_H

#include "cippus/change.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of chunks. All except DATA stand for values without stored bytes. */
typedef enum cip_chunk_state {
    CIP_CHUNK_DATA = 0,
    CIP_CHUNK_ZERO,
    CIP_CHUNK_NAN,    /* quiet NaNs */
    CIP_CHUNK_UNINIT, /* anything; read as zeros */
    CIP_CHUNK_VALUE,  /* cip_chunk_info.value repeated */
    CIP_CHUNK_MISSING /* its data are missing; cip_chunk_info.why is the reason */
} cip_chunk_state;

/** The place of a chunk's stored bytes. */
typedef enum cip_chunk_place {
    CIP_CHUNK_NOWHERE = 0, /* there are none */
    CIP_CHUNK_IN_FILE,     /* at `offset` of the file, or of `member` */
    CIP_CHUNK_IN_MEMORY,   /* made when the file was opened: values in a tree's text */
    CIP_CHUNK_IN_DECODED   /* in what other stored bytes decode to */
} cip_chunk_place;

/** Elements [start, stop) along each axis. */
typedef struct cip_chunk_box {
    int64_t start[CIP_MAX_NDIM], stop[CIP_MAX_NDIM];
} cip_chunk_box;

/** One chunk of an array. Its elements are given in two ways: as a box, and as a range in C order.
 * Each is exact, or the smallest known one that contains all of the chunk's elements. An element
 * that continues in the next chunk counts in both. */
typedef struct cip_chunk_info {
    size_t size;    /* sizeof(cip_chunk_info), set by the caller; the rest is filled in */
    uint64_t index; /* from 0, in the order of the file's own table */
    uint64_t run; /* this chunk and the next run - 1 are the same special value (or all missing; the
                     other fields are of the first); 1 for data */
    cip_chunk_state state;
    cip_status why; /* for a missing chunk, the status of reading it; OK otherwise */
    int ndim;       /* the array's */
    cip_chunk_box box;
    bool box_exact;
    bool range_exact;
    uint64_t first, nelem; /* elements first to first + nelem - 1 in C order; nelem 0: the chunk has
                              nothing of this array, which shares it with others */

    uint64_t decoded_nbytes;
    /** Layout of the decoded bytes. In linear chunks element (i, j, ...) begins at byte origin + i
     * * strides[0] + j * strides[1] + ..., as far as that is in the chunk (origin may be negative).
     * strides (ndim of them, the array's own) is NULL for n-d chunks. These are an array of the
     * shape `padded` in C order, with the box in its first corner. With `block` they consist of
     * inner blocks of that shape that follow each other in C order, each complete and in C order.
     * An array that is no plain view of its n-d chunks (of another shape, or a part of them) has
     * none of this: all are NULL, and box_exact is false. */
    int64_t origin;
    const int64_t *strides;
    const int64_t *padded, *block;

    cip_chunk_place place;
    uint64_t offset; /* CIP_NO_OFFSET unless place is CIP_CHUNK_IN_FILE */
    uint64_t stored_nbytes;
    char member[1024]; /* the other file that contains it; "": this file itself */
    char codec[128]; /* codecs in the order of encoding, joined by "+"; "none"; for a Blosc chunk as
                        in its header: "lz4", "zeros", ... */
    const char *checksum; /* "md5", ... of the stored bytes; "64-bit" of whatever kind; "": none */
    uint8_t checksum_value[64]; /* checksum_nbytes of it, most significant byte first */
    uint32_t checksum_nbytes;
    const uint8_t *value; /* of CIP_CHUNK_VALUE: value_nbytes bytes, repeated */
    uint32_t value_nbytes;
} cip_chunk_info;

/** The number of chunks of the array: 1 for data in one piece (raw, or one compressed stream), 0
 * for no data. Arrays that share a block share its chunks. Fails as reading would, for an array
 * that cannot be read or a damaged table. In a checked file (cip_check) the block is compared
 * first. `array` NULL passes on the status in err (or ARG). Any number of threads, as for all
 * below. */
CIP_API cip_status cip_chunk_count(const cip_array *array, uint64_t *nchunk, cip_err *err);

/** Fills *out for chunk `chunk_index`; reads the file's table and the chunk's header, no data.
 * Pointers in *out are borrowed from the file. RANGE at the end, ARG for a wrong size. A chunk
 * whose entry is damaged fails alone (CORRUPT, ...): you can ask for the next ones. *out is
 * untouched on failure. */
CIP_API cip_status cip_chunk_at(const cip_array *array, uint64_t chunk_index, cip_chunk_info *out,
                                cip_err *err);

/** Reads a chunk's bytes into dst, of `cap` bytes; *nbytes is their number. `stored`: as they are
 * in the file; none (0) for a special value. Otherwise decoded: decoded_nbytes of them in the
 * array's stored dtype and byte order, with the layout in cip_chunk_info, padding included; special
 * values are written out. (cip_read gives elements of a box in plain C order.) RANGE if cap is too
 * small or there is no such chunk. A missing chunk fails with its `why`, a damaged one as reading
 * it would. LIMIT if decoding needs more than limits allow. After a failure the contents of dst are
 * undefined. */
CIP_API cip_status cip_chunk_read(const cip_array *array, uint64_t chunk_index, bool stored,
                                  void *dst, size_t cap, size_t *nbytes, cip_err *err);

/** Replaces a chunk of the array at `path` in an update by nbytes at `bytes`, as cip_chunk_read
 * gives them. `stored`: already encoded like the array's other chunks, and stored as they are; they
 * are decoded once to see that it works. Otherwise decoded, padding included; they are encoded at
 * the commit. Other changes of the update see the chunk. An array that is stored as plain bytes is
 * one chunk. RANGE for a chunk that does not exist, or for another number of decoded bytes.
 * CORRUPT, or another status of reading, for stored bytes that do not decode to as many.
 * UNSUPPORTED for an array without chunks of its own. */
CIP_API cip_status cip_chunk_write(cip_change *c, const char *path, uint64_t chunk_index,
                                   bool stored, const void *bytes, size_t nbytes, cip_err *err);

/** Takes a chunk (borrowed until it returns). A nonzero result stops with CANCELLED. */
typedef int cip_chunk_fn(void *user, const cip_chunk_info *chunk);

/** Calls fn for the chunks that a selection touches ("[200:300, 400:500]"; NULL or "": all), with
 * rising indices, and for no others. For n-d chunks these are the ones that the selection's box
 * touches, ignoring steps. Special chunks come as runs (`run` of them, one call), so very many
 * zeros cost one call. A run of linear chunks may contain some that a selection with gaps leaves
 * out. Only the chunks that are touched cost work. (For an array that is no plain view of n-d
 * chunks, fn is called for all chunks.) ARG and RANGE for the selection; the rest as cip_chunk_at,
 * whose first failure ends it.
 */
CIP_API cip_status cip_chunk_iter(const cip_array *array, const char *selection, cip_chunk_fn *fn,
                                  void *user, cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
