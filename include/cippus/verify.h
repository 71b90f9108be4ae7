/* SPDX-License-Identifier: BSD-3-Clause
 * Checking files, and statistics of arrays. */
#ifndef CIPPUS_VERIFY_H
#define CIPPUS_VERIFY_H

#include "cippus/file.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cip_verify_options {
    size_t size;                  /* sizeof(cip_verify_options) */
    bool deep;                    /* decode every chunk and read every array too */
    const cip_open_options *open; /* how to open it; NULL: the defaults */
    cip_finding_fn *on_finding;   /* told each finding; NULL: the status tells the first */
    cip_progress_fn *progress;    /* told bytes looked at; NULL: not wanted */
    void *user;                   /* of both */
} cip_verify_options;

#define CIP_VERIFY_OPTIONS(...) CIP_OPTIONS(cip_verify_options, __VA_ARGS__)

/** Structure, index and every stored checksum, reading all. With on_finding it is OK also when
 * there are findings, and a file that cannot be opened is a FATAL one: it fails only when the check
 * itself could not be done (IO, LIMIT, CANCELLED, ...). Without on_finding the status, and err, are
 * those of the first finding that is BAD or FATAL (CORRUPT, CHECKSUM, TRUNCATED, FORMAT, ...).
 * `opts` may be NULL. */
CIP_API cip_status cip_verify(const char *path, const cip_verify_options *opts, cip_err *err);
/** The same for an open file (or one from cip_open_io); `open` is ARG. */
CIP_API cip_status cip_verify_file(cip_file *file, const cip_verify_options *opts, cip_err *err);

/** Statistics over the elements of a selection. Of complex numbers: of their absolute values.
 * Masked elements count only in nmasked. */
typedef struct cip_stats {
    size_t size; /* sizeof(cip_stats), set by the caller */
    uint64_t nelem, nmasked, nnan, nzero, ninf;
    double min, max, mean, std; /* of the elements that are neither masked nor NaN; NaN when there
                                   are none. Where some are infinite the mean is that infinity (NaN
                                   of both) and std is NaN. std: population */
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

#ifdef __cplusplus
}
#endif
#endif
