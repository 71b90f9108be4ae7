/* SPDX-License-Identifier: BSD-3-Clause
 * The chunks of an array as they are stored: where each lies, what it holds, its bytes. */
#ifndef CIPPUS_EXT_CHUNK_H
#define CIPPUS_EXT_CHUNK_H

#include "cippus/change.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a chunk is. All but DATA stand for values without any stored bytes. */
typedef enum cip_chunk_state {
    CIP_CHUNK_DATA = 0,
    CIP_CHUNK_ZERO,
    CIP_CHUNK_NAN,    /* quiet NaNs */
    CIP_CHUNK_UNINIT, /* anything; read as zeros */
    CIP_CHUNK_VALUE,  /* cip_chunk_info.value repeated */
    CIP_CHUNK_MISSING /* its data are not there; cip_chunk_info.why says why */
} cip_chunk_state;

/** Where a chunk's stored bytes lie. */
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

/** One chunk of an array. What it holds is said in two ways: a box, and a range of elements in C
 * order. Each is exact, or the smallest known that has all of the chunk's elements in it. An
 * element that goes on in the next chunk counts in both. */
typedef struct cip_chunk_info {
    size_t size;    /* sizeof(cip_chunk_info), set by the caller; the rest is filled in */
    uint64_t index; /* from 0, in the order of the file's own table */
    uint64_t run;   /* this chunk and the run - 1 behind it are the same special value (or are
                       missing alike; all else here is of the first); 1 for data */
    cip_chunk_state state;
    cip_status why; /* of a missing chunk: what reading it ends with; OK otherwise */
    int ndim;       /* the array's */
    cip_chunk_box box;
    bool box_exact;
    bool range_exact;
    uint64_t first, nelem; /* elements first to first + nelem - 1 in C order; nelem 0: the chunk has
                              nothing of this array, which shares it with others */

    uint64_t decoded_nbytes;
    /** How the array lies in the decoded bytes. Of linear chunks: element (i, j, ...) begins at
     * byte origin + i * strides[0] + j * strides[1] + ..., as far as that lies in the chunk (origin
     * may be negative). strides (ndim of them, the array's own) is NULL for n-d chunks: these are
     * an array of the shape `padded` in C order, of which the box is the first corner; with `block`
     * as inner blocks of that shape one behind the other in C order, each complete and in C order.
     * An array that is no plain view of its n-d chunks (of another shape, or a part of them) has
     * none of this: all NULL, and box_exact false. */
    int64_t origin;
    const int64_t *strides;
    const int64_t *padded, *block;

    cip_chunk_place place;
    uint64_t offset; /* CIP_NO_OFFSET unless place is CIP_CHUNK_IN_FILE */
    uint64_t stored_nbytes;
    char member[1024]; /* the file beside this one that it lies in; "": this file itself */
    char codec[128];   /* codecs in the order of encoding, joined by "+"; "none"; of a Blosc chunk
                          what   its header says: "lz4", "zeros", ... */
    const char *checksum; /* "md5", ... of the stored bytes; "64-bit" of whatever kind; "": none */
    uint8_t checksum_value[64]; /* checksum_nbytes of it, most significant byte first */
    uint32_t checksum_nbytes;
    const uint8_t *value; /* of CIP_CHUNK_VALUE: value_nbytes bytes, repeated */
    uint32_t value_nbytes;
} cip_chunk_info;

/** How many chunks the array has: of data in one piece (raw, or one compressed stream) 1, of none
 * 0. Arrays that share a block share its chunks. Fails as reading would: an array that cannot be
 * read, a table that is damaged; in a checked file (cip_check) the block is compared first. `array`
 * NULL passes on the status in err (or ARG). Any number of threads, as for all below. */
CIP_API cip_status cip_chunk_count(const cip_array *array, uint64_t *nchunk, cip_err *err);

/** Fills *out for chunk `chunk_index`; reads the file's table and the chunk's header, no data.
 * Pointers in *out are borrowed from the file. RANGE at the end, ARG for a size that is none; a
 * chunk whose entry is damaged fails alone (CORRUPT, ...): the next ones can be asked for. *out is
 * untouched on failure. */
CIP_API cip_status cip_chunk_at(const cip_array *array, uint64_t chunk_index, cip_chunk_info *out,
                                cip_err *err);

/** A chunk's bytes into dst, of `cap` bytes; *nbytes says how many they are. `stored`: as they lie
 * there; none (0) for a special value. Otherwise decoded, decoded_nbytes of them in the array's
 * stored dtype and byte order and laid out as cip_chunk_info tells, padding included; special
 * values are written out. (Elements of a box in plain C order are what cip_read gives.) RANGE when
 * cap is too small or there is no such chunk; a missing chunk fails with its `why`, a damaged one
 * as reading it would; LIMIT when decoding needs more than limits allow. What dst holds after a
 * failure is undefined. */
CIP_API cip_status cip_chunk_read(const cip_array *array, uint64_t chunk_index, bool stored,
                                  void *dst, size_t cap, size_t *nbytes, cip_err *err);

/** Replaces a chunk of the array at `path` in an update by nbytes at `bytes`, as cip_chunk_read
 * gives them. `stored`: encoded already, as the array's other chunks are, and taken as they are;
 * they are decoded once to see that they can be. Otherwise decoded, padding included, to be encoded
 * at the commit. Other changes of the update see the chunk. An array whose bytes lie in a file as
 * they are is one chunk. RANGE for a chunk that there is not, or for another number of decoded
 * bytes; CORRUPT, or what else reading it would fail with, for stored bytes that do not decode to
 * as many; UNSUPPORTED for an array that is stored in no chunks of its own. */
CIP_API cip_status cip_chunk_write(cip_change *c, const char *path, uint64_t chunk_index,
                                   bool stored, const void *bytes, size_t nbytes, cip_err *err);

/** Takes a chunk (borrowed until it returns). A nonzero result stops with CANCELLED. */
typedef int cip_chunk_fn(void *user, const cip_chunk_info *chunk);

/** Calls fn for the chunks that a selection touches ("[200:300, 400:500]"; NULL or "": all), with
 * rising indices, and for no others: of n-d chunks those that the selection's box touches, steps
 * aside. Special chunks come as runs (`run` of them, one call), so very many zeros cost one; a run
 * of linear chunks may have some in it that a selection with gaps leaves out. The work is that of
 * the chunks that are touched. (All chunks are told for an array that is no plain view of n-d
 * chunks.) ARG and RANGE for the selection; the rest as cip_chunk_at, whose first failure ends it.
 */
CIP_API cip_status cip_chunk_iter(const cip_array *array, const char *selection, cip_chunk_fn *fn,
                                  void *user, cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
