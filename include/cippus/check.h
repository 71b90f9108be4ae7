/* SPDX-License-Identifier: BSD-3-Clause
 * Verify a file, copy what is readable of a damaged one, compare two. */
#ifndef CIPPUS_CHECK_H
#define CIPPUS_CHECK_H

#include "cippus/change.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cip_verify_options {
    size_t size;                  /* sizeof(cip_verify_options) */
    bool deep;                    /* decode every chunk and read every array too */
    const cip_open_options *open; /* how to open it; NULL: the defaults */
    cip_finding_fn *on_finding; /* called for each finding; NULL: the status is that of the first */
    cip_progress_fn *progress;  /* called with the bytes checked; NULL: not wanted */
    void *user;                 /* of both */
} cip_verify_options;

#define CIP_VERIFY_OPTIONS(...) CIP_OPTIONS(cip_verify_options, __VA_ARGS__)

/** Checks structure, index and every stored checksum, reading everything. With on_finding the
 * status is OK even if there are findings, and a file that cannot be opened is a FATAL finding. It
 * then fails only if the check itself could not be done (IO, LIMIT, CANCELLED, ...). Without
 * on_finding, the status and err are those of the first finding that is BAD or FATAL (CORRUPT,
 * CHECKSUM, TRUNCATED, FORMAT, ...). `opts` may be NULL. */
CIP_API cip_status cip_verify(const char *path, const cip_verify_options *opts, cip_err *err);
/** The same for an open file (or one from cip_open_io); `open` is ARG. */
CIP_API cip_status cip_verify_file(cip_file *file, const cip_verify_options *opts, cip_err *err);

typedef struct cip_repair_options {
    size_t size;        /* sizeof(cip_repair_options) */
    const char *format; /* of the output; NULL: by the output's name */
    /** An array of one element, the value of every lost element (in each array's own type; RANGE if
     * that does not hold it). NULL: an array with lost elements is not written. */
    const cip_array *fill;
    bool accept_loss;              /* as for converting */
    bool overwrite;                /* an existing output is replaced (at the end, in one step) */
    cip_level level;               /* what the output survives once it is there */
    const cip_open_options *input; /* how to open the input; NULL: the defaults, except that its
                                      data are compared with their checksums (.check), and the
                                      certain parts of a damaged structure are read (.salvage) */
    cip_finding_fn *on_finding;    /* called for each damage and loss; NULL: not wanted */
    /** Called with bytes done, of checking and then of writing; NULL: not wanted. */
    cip_progress_fn *progress;
    void *user; /* of both */
} cip_repair_options;

#define CIP_REPAIR_OPTIONS(...) CIP_OPTIONS(cip_repair_options, __VA_ARGS__)

/** Writes everything readable of `in` as the new file `out`; `in` is never changed. Every chunk of
 * every array is decoded first. on_finding gets the findings of cip_verify about the structure. It
 * also gets, as BAD, each run of lost elements with its place and the reason; the part is the
 * array's path. An array with lost elements is filled (see the options) or left out. OK if `out` is
 * written, even if something was lost. Otherwise there is no `out`: CORRUPT if no array is
 * undamaged, ARG if `out` is `in`. UNSUPPORTED if a lost array is part of a metadata tree, which
 * would have to change. Other errors as for cip_open() and cip_convert(). */
CIP_API cip_status cip_repair(const char *in, const char *out, const cip_repair_options *opts,
                              cip_err *err);

typedef enum cip_diff_kind {
    CIP_DIFF_ONLY_A = 1,    /* a node or array that the second file does not have */
    CIP_DIFF_ONLY_B = 2,    /* or the first */
    CIP_DIFF_TYPE = 3,      /* nodes of two types: a list and a string, 1 and 1.0 */
    CIP_DIFF_VALUE = 4,     /* scalars of one type */
    CIP_DIFF_TAG = 5,       /* tags of nodes */
    CIP_DIFF_DTYPE = 6,     /* of arrays; the byte order is no difference */
    CIP_DIFF_SHAPE = 7,     /* of arrays, whose elements are then not compared */
    CIP_DIFF_DATA = 8,      /* elements */
    CIP_DIFF_UNREADABLE = 9 /* an array that cannot be read in one of them, or something that was
                               left out when one was read: not compared */
} cip_diff_kind;

/** One difference. All is borrowed and lives until the callback returns. */
typedef struct cip_difference {
    cip_diff_kind kind;
    cip_status code;  /* of UNREADABLE: why */
    const char *path; /* of the node, array or field of records in the first file (ONLY_B: in the
                         second) */
    const char *text; /* one line without the path, no trailing dot: "1 and 2" */
    /* of DATA: */
    uint64_t nelem;       /* elements compared */
    uint64_t ndiffer;     /* of which differ, those included that one file alone has as missing */
    int ndim;             /* of the array, then the axes of a field's sub-array */
    const int64_t *first; /* ndim indices of the first that differs, in C order; of other kinds NULL
                           */
    double max_abs;       /* the largest |a - b| among those that differ, and neither is NaN; NaN
                             when there are none, or they are no numbers */
    double max_rel;       /* the largest |a - b| / |b|, where b is finite and not 0; or NaN */
} cip_difference;

/** Called for each difference, in the order of the first file's tree and then of its arrays. A
 * nonzero result stops with CANCELLED. */
typedef int cip_difference_fn(void *user, const cip_difference *difference);

typedef struct cip_diff_options {
    size_t size; /* sizeof(cip_diff_options) */
    /** Numbers are equal where |a - b| <= atol + rtol * |b|, in float64, as numpy.isclose has it.
     * Both 0: where they are the same number. At most DBL_MAX, no NaN, not negative. */
    double rtol, atol;
    const char *const *ignore; /* nignore patterns of paths, as for cip_file_next_array(): nodes
                                  that fit one are not compared, nor anything below them */
    size_t nignore;
    const char *path_a; /* this node, array or field of the first file alone; NULL: all */
    const char *path_b; /* is compared with this of the second; NULL: the same path */
    bool ignore_tags;
    bool bookkeeping; /* also nodes that describe how the file was made, and how it stores its array
                         (cip_tree_is_own()) */
    uint64_t max_told; /* so many differences are reported, the others counted; 0: 1000 */
    cip_difference_fn *on_difference; /* NULL: not wanted */
    /** Called with bytes compared, of the first file's arrays; NULL: not wanted. */
    cip_progress_fn *progress;
    void *user; /* of both */
} cip_diff_options;

#define CIP_DIFF_OPTIONS(...) CIP_OPTIONS(cip_diff_options, __VA_ARGS__)

/** Compares two open files of any formats, reading every array. Trees are compared node by node:
 * mappings whatever the order of their keys, lists item by item, scalars by type and value. 0x10 is
 * 16, but 1 is not 1.0, unless there is a tolerance. Arrays are compared by dtype, shape and
 * elements, but not by how they are stored: chunks, codecs, byte order. NaN equals NaN, -0.0 is
 * 0.0, missing elements are equal; numbers of two dtypes are compared by value, records field by
 * field, by name. Trees of two formats are not compared (each has its own ways to store metadata)
 * unless `path_a` gives the nodes. If each of such files has one array, these are compared whatever
 * their paths. *ndifferences (may be NULL) is how many there are, reported or not. OK even if there
 * are some. A damaged array is a difference (UNREADABLE), also of a file from itself. NOT_FOUND for
 * a path that a file does not have (the error's part is "second file" if that is not the first).
 * LIMIT for a tree with more nodes than cip_limits.max_expansion. Also ARG, IO, NOMEM, CANCELLED.
 */
CIP_API cip_status cip_diff(const cip_file *a, const cip_file *b, const cip_diff_options *opts,
                            uint64_t *ndifferences, cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
