/* SPDX-License-Identifier: BSD-3-Clause
 * One parallel-for. The caller takes part, nested calls run inline and jobs never wait for each
 * other, so there is no deadlock. */
#ifndef CIP_BASE_POOL_H
#define CIP_BASE_POOL_H

#include "base/err.h"

typedef struct cip_pool cip_pool;

/* A job: index i of n. Called from any thread of the pool or the caller's. */
typedef cip_status cip_job_fn(void *arg, size_t i, cip_err *err);

/* A pool of `threads` in all, the caller's included (0: one for each processor; 1: no threads).
 * NOMEM or IO when threads cannot be made. After a fork the
 * child may use it and frees its own copy: it runs in the caller there. */
cip_status cip_pool_new(unsigned threads, cip_pool **out, cip_err *err);
void cip_pool_free(cip_pool *p);
/* How many run at once, the caller included; 1 for NULL. */
unsigned cip_pool_threads(const cip_pool *p);

/* The process-wide pool, made on first use with a thread for each processor and anew after fork.
 * NULL when threads cannot be had: cip_pool_run then runs in the caller. */
cip_pool *cip_pool_shared(void);
/* The pool for so many threads (0: the shared one; 1: none), in *pool. One that was made for it is
 * *own, too, which is freed then. */
cip_status cip_pool_take(unsigned threads, cip_pool **own, cip_pool **pool, cip_err *err);

/* Runs fn(arg, 0..n-1, ...). The error of the lowest failing index wins, whatever the threads;
 * indices above it may not run. Thread-safe; p may be NULL (runs in the caller). Before each job
 * that the caller runs it may stop the rest (stop.h); err NULL: it may not, as no job fails. */
cip_status cip_pool_run(cip_pool *p, size_t n, cip_job_fn *fn, void *arg, cip_err *err);

#endif
