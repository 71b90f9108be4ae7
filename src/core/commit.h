/* SPDX-License-Identifier: BSD-3-Clause
 * The only place where files are written: a new file made beside its name and put there in one
 * step. */
#ifndef CIP_CORE_COMMIT_H
#define CIP_CORE_COMMIT_H

#include "io/out.h"
#include "io/patch.h"

typedef struct cip_replace cip_replace;

/* A new file beside `path`, under a name of its own (mode as a newly created file has). What is
 * written to cip_replace_out goes into it. */
cip_status cip_replace_begin(cip_mem *mem, const char *path, cip_replace **out, cip_err *err);
cip_out *cip_replace_out(cip_replace *r);
/* Applies the patch, syncs, takes the place of `path`, syncs the folder. Without `overwrite`, BUSY
 * when the name exists. */
cip_status cip_replace_commit(cip_replace *r, const cip_patch *patch, bool overwrite, cip_err *err);
/* Frees; removes the new file if it never took its place. NULL is fine. */
void cip_replace_end(cip_replace *r);

#endif
