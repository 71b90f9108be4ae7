/* SPDX-License-Identifier: BSD-3-Clause
 * Work for the pool beside work that only the caller's thread may do. Private to src/space. */
#ifndef CIP_SPACE_ALONGSIDE_H
#define CIP_SPACE_ALONGSIDE_H

#include "base/pool.h"

/* Runs job(arg, 0..n-1) on the pool, in any order, while the caller's thread does own(arg), before
 * any job: so an output sees one thread and the same calls whatever the pool (NULL: own, then the
 * jobs). Both are done when it returns; the status is own's. Jobs keep their results themselves. */
cip_status cip_run_alongside(cip_pool *pool, size_t n, void (*job)(void *arg, size_t i),
                             cip_status (*own)(void *arg, cip_err *err), void *arg, cip_err *err);

#endif
