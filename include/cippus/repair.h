/* SPDX-License-Identifier: BSD-3-Clause
 * Copies of damaged files. */
#ifndef CIPPUS_REPAIR_H
#define CIPPUS_REPAIR_H

#include "cippus/write.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cip_repair_options {
    size_t size;        /* sizeof(cip_repair_options) */
    const char *format; /* of the output; NULL: by the output's name */
    /** An array of one element, which becomes every element that is lost (in each array's own type;
     * RANGE where that does not hold it). NULL: an array with lost elements is not written. */
    const cip_array *fill;
    bool accept_loss;              /* as for converting */
    bool overwrite;                /* an existing output is replaced (at the end, in one step) */
    cip_level level;               /* what the output survives once it is there */
    const cip_open_options *input; /* how to open the input; NULL: the defaults, but that its data
                                      are compared with their checksums (.check), and what is
                                      certain of a damaged structure is read (.salvage) */
    cip_finding_fn *on_finding;    /* told what is damaged and lost; NULL: nobody is */
    cip_progress_fn *progress;     /* told bytes done, of the looking and then of the writing; NULL:
                                      not wanted */
    void *user;                    /* of both */
} cip_repair_options;

#define CIP_REPAIR_OPTIONS(...) CIP_OPTIONS(cip_repair_options, __VA_ARGS__)

/** Writes what can be read of `in` as the new file `out`; `in` is never changed. Every chunk of
 * every array is decoded first. on_finding is told what cip_verify tells of the file's
 * structure, and as BAD each run of elements that is lost, with its place and the reason; the part
 * is the array's path. An array with lost elements is filled (see the options) or left out. OK
 * when `out` is written, also when something was lost. Otherwise nothing is there: CORRUPT when no
 * array is whole; ARG when `out` is `in`; UNSUPPORTED when an array that is lost is part of a
 * metadata tree, which would have to change; else as cip_open() and cip_convert(). */
CIP_API cip_status cip_repair(const char *in, const char *out, const cip_repair_options *opts,
                              cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
