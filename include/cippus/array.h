/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays of an open file: what they are, reading them whole, by slices, by fields, by points, and
 * statistics of them. */
#ifndef CIPPUS_ARRAY_H
#define CIPPUS_ARRAY_H

#include "cippus/dtype.h"
#include "cippus/options.h"
#include "cippus/slice.h"
#include "cippus/tree.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An array in a file. Borrowed from the file; immutable; any thread. Getters take NULL. */
typedef struct cip_array cip_array;

/** Its path in the tree: "roman/data"; "" in a file that has just one. */
CIP_API const char *cip_array_path(const cip_array *array);
CIP_API const cip_dtype *cip_array_dtype(const cip_array *array);
CIP_API int cip_array_ndim(const cip_array *array);
/** ndim lengths, in elements. */
CIP_API const int64_t *cip_array_shape(const cip_array *array);
/** Its description in the tree, or NULL. */
CIP_API const cip_node *cip_array_node(const cip_array *array);
/** OK, or why it cannot be read although it is listed (err gets the reason). */
CIP_API cip_status cip_array_state(const cip_array *array, cip_err *err);

/** How its data are stored. All borrowed. */
typedef struct cip_array_storage {
    size_t size;            /* sizeof(cip_array_storage), set by the caller */
    const char *kind;       /* "internal", "streamed", "inline", "external", "contiguous" */
    const char *codec;      /* "zlib", "none", ... */
    uint64_t stored_nbytes; /* of the whole block where several arrays share it; 0 where it is not
                               known before chunks are looked for (HDF5, Zarr) */
    const int64_t *chunk;   /* chunk shape (ndim lengths), or NULL where it is not chunked */
    int64_t block;          /* index of the block it lies in, or -1 */
    bool masked;            /* elements of it may be missing, or items in a field of it */
} cip_array_storage;
/** Fills *out, whose size is set. `array` NULL passes on the status in err (or ARG). */
CIP_API cip_status cip_array_get_storage(const cip_array *array, cip_array_storage *out,
                                         cip_err *err);

/** Reads a selection ("[200:300, 400:500]", NULL or "" for all) as elements of `dtype`
 * (cip_dtype_as_stored(): the array's own type) into dst, in C order, packed.
 * nbytes is the size of dst and must be what the selection needs, else RANGE naming it. A value
 * that dtype does not hold exactly is RANGE (cip_read_into has other policies). UNSUPPORTED if one
 * of the elements is missing (masked): cip_read_into reads the data under a mask and says which
 * elements are missing. Any number of threads may read one file. `array` or `dtype` NULL passes on
 * the status in err (or ARG). */
CIP_API cip_status cip_read(const cip_array *array, const char *selection, const cip_dtype *dtype,
                            void *dst, size_t nbytes, cip_err *err);

/** Called now and then, from one thread at a time. `done` never decreases; `total` is 0 if unknown,
 * and may change. A nonzero result stops with CANCELLED. */
typedef int cip_progress_fn(void *user, uint64_t done, uint64_t total);

/** As dst_nbytes: the size is not checked. */
#define CIP_UNCHECKED SIZE_MAX

/** The rule for values that the requested type does not hold exactly. A type holds a value exactly
 * if it comes out as it went in. Integers and bool (which is 0 or 1) hold whole numbers in their
 * range, texts hold texts that are not longer. Floats read as floats are rounded as IEEE 754 does,
 * which is no loss unless a finite number becomes infinite. Integers read as floats must come out
 * as they are. An overflow is a value out of range; NaN and infinities have no integer.
 */
typedef enum cip_overflow {
    CIP_OVERFLOW_ERROR = 0, /* every value that is not held exactly counts, and the call fails with
                               RANGE; in memory all values are converted, as by CLAMP */
    CIP_OVERFLOW_CLAMP = 1, /* the loss is accepted: fractions are cut off, integers rounded to the
                               nearest float, nonzero is true. A value out of range becomes the
                               nearest one (NaN: 0; floats: infinity). Only overflows count */
    CIP_OVERFLOW_WRAP = 2   /* integers modulo 2^width, as C does; the rest as CLAMP */
} cip_overflow;

/** All arguments of reading; zero fields mean the default. */
typedef struct cip_read_args {
    size_t size;                 /* sizeof(cip_read_args) */
    const char *selection;       /* as text; NULL: all */
    const cip_selection *slices; /* or as numbers; only one of the two */
    const char *field; /* of a record: its name, nested ones joined by "/"; its sub-array's axes
                          come last. Whole records are UNSUPPORTED where a field has missing items
                          of its own that they cannot show (NaN shows them) */
    const cip_dtype *dtype; /* as in cip_read; NULL: cip_dtype_as_stored(). Check whether
                               cip_dtype_parse failed before you put its result here */
    void *dst;
    size_t dst_nbytes; /* size of dst: what the selection needs, or with strides at least as far as
                          they reach from dst; else RANGE. CIP_UNCHECKED: not checked */
    const int64_t
        *strides;     /* of dst in bytes, one for each axis left by the selection; NULL: C order */
    uint8_t *mask;    /* one byte an element (C order): 1 where it is missing; NULL: not wanted */
    unsigned threads; /* 0: as the file; 1: only the caller */
    cip_overflow overflow; /* for values that dtype does not hold exactly */
    const cip_dtype
        *as; /* the stored bytes are taken as this type (of the same itemsize); NULL: as they are */
    bool
        take_mask; /* for cip_export: the mask in place of the elements, as bool, true is missing */
    bool reversed; /* axes in reverse: the selection and result are of the transposed array
                      (a column-major file's dimensions as stored) */
    uint64_t *noverflow; /* how many values `overflow` counts; NULL: not wanted */
    /** Called by cip_read_into, cip_export and cip_stat with the elements done; NULL: not wanted.
     * If it stops a read, dst is partly filled. */
    cip_progress_fn *progress;
    void *user; /* of progress */
} cip_read_args;

#define CIP_READ_ARGS(...) CIP_OPTIONS(cip_read_args, __VA_ARGS__)

/** The full form of reading. */
CIP_API cip_status cip_read_into(const cip_array *array, const cip_read_args *args, cip_err *err);

/** The shape (and number of bytes) that a read would give; `shape` has
 * room for CIP_MAX_NDIM. */
CIP_API cip_status cip_read_shape(const cip_array *array, const cip_read_args *args, int *ndim,
                                  int64_t *shape, uint64_t *nbytes, cip_err *err);

/** npoint scattered elements, coords has npoint * ndim indices (negative ones count from the end),
 *  values npoint elements of `dtype`, as in cip_read; UNSUPPORTED where one is missing. */
CIP_API cip_status cip_read_points(const cip_array *array, size_t npoint, const int64_t *coords,
                                   const cip_dtype *dtype, void *values, cip_err *err);
/** The same with dtype, dst (dst_nbytes), mask (npoint bytes), overflow and noverflow of the args,
 * as in cip_read_into: also the data under a mask. Other args are ARG. */
CIP_API cip_status cip_read_points_into(const cip_array *array, size_t npoint,
                                        const int64_t *coords, const cip_read_args *args,
                                        cip_err *err);

/** The elements in place, without a copy: C order, the machine's byte order, aligned for the type.
 * NULL with UNSUPPORTED and the reason otherwise, also for a missing element. Lives until the file
 * is closed. Truncating the file while a view is in use crashes the process (SIGBUS). */
CIP_API const void *cip_view(const cip_array *array, cip_err *err);

/** Statistics over the elements of a selection; for complex numbers, over their absolute values.
 * Masked elements count only in nmasked. */
typedef struct cip_stats {
    size_t size; /* sizeof(cip_stats), set by the caller */
    uint64_t nelem, nmasked, nnan, nzero, ninf;
    double min, max, mean, std; /* of the elements that are neither masked nor NaN; NaN if there are
                                   none. If some are infinite, the mean is that infinity (NaN if
                                   both occur) and std is NaN. std: population */
    bool exact;                 /* min_int and max_int hold (integers, bool) */
    int64_t min_int;            /* as int64, or as uint64 bits for uint64 arrays */
    int64_t max_int;
    bool is_unsigned;
    double finite_mean; /* of the elements that are finite; NaN when there are none */
} cip_stats;

/** Fills *out, whose size is set, by streaming, with bounded memory. The result does not depend on
 * the number of threads. TYPE for texts, records, opaque. */
CIP_API cip_status cip_stat(const cip_array *array, const cip_read_args *args, cip_stats *out,
                            cip_err *err);

/** One element as text for people ("1.5", "'abc'", "(1, 2.5)"), as snprintf counts; `elem` is of
 * the dtype given. */
CIP_API size_t cip_format_element(const cip_dtype *dtype, const void *elem, char *text, size_t cap);

/** The dtype that cip_dtype_as_stored() stands for: packed, in the machine's byte order. Borrowed
 * from the file. NULL on failure. */
CIP_API const cip_dtype *cip_array_native_dtype(const cip_array *array, cip_err *err);
/** The same in little-endian: the dtype of `cat --to raw`. */
CIP_API const cip_dtype *cip_array_raw_dtype(const cip_array *array, cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
