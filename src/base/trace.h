/* SPDX-License-Identifier: BSD-3-Clause
 * What reading does, step by step, on standard error: for users who ask why something is slow.
 * CIP_TRACE=1 in the environment of the process; CIP_TRACE=json for lines of JSON. */
#ifndef CIP_BASE_TRACE_H
#define CIP_BASE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Nanoseconds of a clock that only rises, or 0 where nothing is traced: each step begins with it,
 * and only where it is not 0 the step is told. */
uint64_t cip_trace_begin(void);

/* Bytes of a file, from `offset` on: `ranges` of them, or what came of a request to a server. */
typedef struct cip_trace_of {
    uint64_t begun;
    const char *file; /* or URL */
    uint64_t offset, nbytes;
    size_t ranges;
    unsigned tries; /* how many times the server was asked by now; 0: it is no request */
    int status;     /* the server's, 0: it did not answer */
} cip_trace_of;

/* `ok`: it did not fail. Any thread. */
void cip_trace_bytes(const cip_trace_of *what, bool ok);
/* A codec made raw bytes of stored ones. `what`: "chunk", "part" or "stream". */
void cip_trace_decode(uint64_t begun, const char *codec, const char *what, uint64_t stored,
                      uint64_t raw, bool ok);

#endif
