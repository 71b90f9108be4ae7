/* SPDX-License-Identifier: BSD-3-Clause
 * What was left out when a file was read: whoever copies the rest tells it as a loss. */
#ifndef CIP_CORE_LACKS_H
#define CIP_CORE_LACKS_H

#include "core/handle.h"

/* Why the array or node lacks something of what stands in the file, or NULL: it does not. */
const cip_finding *cip_lack_of(const cip_env *env, cip_lacking what, const void *of);

/* What the tree lacks (`tree`), and bytes that nothing of the file shows, are losses. */
void cip_lacks_tell(const cip_file *f, bool tree, cip_report *loss);
/* What the array lacks, and its attributes, is one. */
void cip_array_lacks_tell(const cip_array *a, cip_report *loss);

/* The tree without the nulls that stand for values which were left out, as a copy is not to make
 * those up: of its collections those that hold them are new, in the arena. */
cip_status cip_lacks_prune(const cip_env *env, cip_arena *a, const cip_node *node,
                           const cip_node **out, cip_err *err);

/* UNSUPPORTED where the array or node lacks something, unless that is accepted: then it is told. */
cip_status cip_lack_check(const cip_env *env, cip_lacking what, const void *of, bool accepted,
                          cip_report *notes, cip_err *err);
cip_status cip_array_lack_check(const cip_array *a, bool accepted, cip_report *notes, cip_err *err);

/* The same of bytes that nothing of the file shows, which stay behind where all else goes along. */
cip_status cip_lost_bytes_check(const cip_file *f, bool accepted, cip_report *notes, cip_err *err);

#endif
