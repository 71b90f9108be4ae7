/* SPDX-License-Identifier: BSD-3-Clause
 * Running a format's store over planned reads: what convert and export share. */
#ifndef CIP_CORE_SINK_RUN_H
#define CIP_CORE_SINK_RUN_H

#include "cippus/convert.h"
#include "core/writing/engine.h"

typedef struct cip_sink_job {
    const cip_format *format;
    cip_spec spec;       /* array[] filled from `plan` by cip_sink_spec or cip_convert_plan */
    cip_read_plan *plan; /* spec.narray of them */
    size_t nplan;        /* made so far, to be cleared */
    const cip_array **left_out; /* by cip_convert_plan: cannot be read, nleft_out of them */
    size_t nleft_out;
    const bool *within; /* of each array of the input: it is part of a value of spec.tree, and not
                           written; NULL: none is */
    cip_env *env;
    cip_progress_fn *progress; /* may be NULL */
    void *user;
} cip_sink_job;

/* Fills spec.array from the plans; lives in `a`. */
cip_status cip_sink_spec(cip_sink_job *job, cip_arena *a, cip_err *err);
/* What convert writes: the arrays of an open file, with their masks where the store holds trees.
 * `path`: one of them, or a field of one (NULL: all); `refs`: references too. Of all, those that
 * nothing can read and no tree describes (Python objects of a table) are left out. */
cip_status cip_convert_plan(cip_sink_job *job, const cip_file *in, const char *path, bool refs,
                            cip_arena *a, cip_err *err);
/* cip_convert_file where what was left out when `in` was read is told already. */
cip_status cip_convert_known(const cip_file *in, const char *out, const cip_convert_options *opts,
                             cip_err *err);
/* Writes everything to `out`; what has to be changed afterwards goes into r. */
cip_status cip_sink_run(const cip_sink_job *job, cip_out *out, cip_revision *r, cip_err *err);

#endif
