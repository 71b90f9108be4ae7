/* SPDX-License-Identifier: BSD-3-Clause
 * The inside of an update. */
#ifndef CIP_CORE_EDIT_IMPL_H
#define CIP_CORE_EDIT_IMPL_H

#include "core/commit.h"
#include "core/plan.h"

struct cip_edit {
    cip_file *file; /* as the update found it; its env is what everything works within */
    cip_commit *commit;
    cip_arena arena;
    const cip_updater *ops;
    void *state;
    cip_edit_options o; /* texts in the arena */
    cip_revision rev;
    cip_report notes;
    bool packed;   /* defrag was asked for */
    bool finished; /* rev is made */
};

/* UNSUPPORTED when the format cannot make this kind of change; ARG after the plan was made. */
cip_status cip_edit_check(const cip_edit *e, bool able, const char *what, cip_err *err);
/* Rows of the array in nbytes of elements of `dtype` (itemsize bytes each); RANGE when they are not
 * whole. */
cip_status cip_rows_count(const cip_array *a, uint64_t itemsize, uint64_t nbytes, uint64_t *nrow,
                          cip_err *err);

#endif
