/* SPDX-License-Identifier: BSD-3-Clause
 * A new file, and files beside it that belong to it: nothing is under their names before all are
 * complete. */
#ifndef CIP_CORE_OUTPUT_H
#define CIP_CORE_OUTPUT_H

#include "core/commit.h"
#include "format/format.h"

typedef struct cip_output cip_output;
/* Says in spec->elsewhere whether `out` will not lie in the folder of the file `in`, so that what
 * `in` says of others beside it means nothing there, and in spec->renamed whether it will have
 * another name. True where nobody can say ("-"). */
void cip_output_place(const char *in, const char *out, cip_spec *spec);

/* Links are followed once, for the file and those beside it. BUSY when the name exists and is not
 * to be overwritten, or when somebody updates the file that would be; the commit looks again. A
 * file that is to be overwritten is locked for writers until the end. */
cip_status cip_output_begin(cip_env *env, const char *path, cip_level level, bool overwrite,
                            cip_output **out, cip_err *err);
/* Where it is written to: can be rewritten, cut and moved, has a name and gives members. */
cip_out *cip_output_out(cip_output *o);
/* The files beside it take their places, then the file itself; nothing but a file of its very name
 * is replaced. `patch` may be NULL. */
cip_status cip_output_commit(cip_output *o, const cip_patch *patch, cip_err *err);
/* Frees; what did not take its place is removed. NULL is fine. */
void cip_output_end(cip_output *o);

#endif
