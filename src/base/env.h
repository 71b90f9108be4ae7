/* SPDX-License-Identifier: BSD-3-Clause
 * What every layer works within while a file is open: counted memory, limits, threads and the
 * list of warnings. One per open file, at a fixed address until it is closed. */
#ifndef CIP_BASE_ENV_H
#define CIP_BASE_ENV_H

#include "base/mem.h"
#include "base/pool.h"
#include "base/report.h"
#include "base/spares.h"
#include "cippus/ext/codec.h"

typedef struct cip_env {
    cip_mem mem;
    cip_limits limits;              /* every field filled in */
    cip_pool *pool;                 /* may be NULL: one thread */
    cip_report warnings;            /* kept; thread-safe */
    const cip_codec_methods *codec; /* of the application, ncodec of them; the handle's */
    size_t ncodec;
    cip_spares zstd; /* its decoders */
} cip_env;

/* `limits`, `from` may be NULL; `pool` is borrowed. ARG when limits->size is 0 or too large. */
cip_status cip_env_init(cip_env *env, const cip_limits *limits, const cip_allocator *from,
                        cip_pool *pool, cip_err *err);
void cip_env_clear(cip_env *env);

/* The defaults, and `in` (may be NULL) with its zero fields replaced by them. */
cip_status cip_limits_resolve(const cip_limits *in, cip_limits *out, cip_err *err);

/* A tolerated fault: data are given all the same. `part` may be NULL. */
#define cip_warn(env, code, offset, part, ...)                                                     \
    cip_report_add(&(env)->warnings, CIP_WARN, (code), (offset), 0, (part), __VA_ARGS__)
/* The same of something that is left out of what is shown, of an array, of a node or, between no
 * such thing, of the file's bytes: a copy would lack it, so that is a loss. */
#define cip_warn_lack(env, what, of, code, offset, part, ...)                                      \
    cip_report_lack(&(env)->warnings, (what), (of), (code), (offset), (part), __VA_ARGS__)

#endif
