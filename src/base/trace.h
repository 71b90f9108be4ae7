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

/* `bytes` from `offset` on, in so many ranges, of a file. `ok`: it did not fail. Any thread. */
void cip_trace_read(uint64_t begun, const char *file, uint64_t offset, uint64_t bytes,
                    size_t ranges, bool ok);
/* One request to a server for bytes from `offset` on, of which so many came. `status`: the server's
 * (0: it did not answer); `tries`: how many times it was asked by now. */
void cip_trace_request(uint64_t begun, const char *url, uint64_t offset, uint64_t bytes, int status,
                       unsigned tries, bool ok);
/* A codec made raw bytes of stored ones. `what`: "chunk", "part" or "stream". */
void cip_trace_decode(uint64_t begun, const char *codec, const char *what, uint64_t stored,
                      uint64_t raw, bool ok);

#endif
