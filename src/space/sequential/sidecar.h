/* SPDX-License-Identifier: BSD-3-Clause
 * Checkpoints kept in a file beside the data (docs/formats/checkpoints.md has its bytes): read,
 * checked against the data before they count, written again when there are more. */
#ifndef CIP_SPACE_SIDECAR_H
#define CIP_SPACE_SIDECAR_H

#include "base/buffer.h"
#include "space/read/read.h"

typedef struct cip_sidecar cip_sidecar;
struct cip_rd;

/* The longest that is read or written. */
enum { CIP_SIDECAR_MAX = 80 << 20 };

/* One for a layout whose file has none yet. It borrows the env. */
cip_status cip_sidecar_new(cip_env *env, cip_sidecar **out, cip_err *err);
/* One from the bytes of `io` (read here, not kept), for a file of file_nbytes. FORMAT, UNSUPPORTED,
 * TRUNCATED, CHECKSUM, CORRUPT when it is none, of another version, cut off, damaged, or of another
 * file; LIMIT over CIP_SIDECAR_MAX. */
cip_status cip_sidecar_load(cip_env *env, cip_io *io, uint64_t file_nbytes, cip_sidecar **out,
                            cip_err *err);
void cip_sidecar_free(cip_sidecar *c);
/* A SEQ space is about to be read up to `pos`. Its checkpoints up to there are given to the
 * layout's as far as the stored bytes before them are what they were; where they are not, a
 * warning, and the rest is forgotten. Thread-safe. */
void cip_sidecar_use(const struct cip_rd *rd, cip_space *s, uint64_t pos);
/* Whether there are checkpoints that it does not have. */
bool cip_sidecar_has_news(cip_sidecar *c, const cip_layout *l);
/* Its bytes as they should be now: reads all stored bytes before the last checkpoint of each space.
 * For one thread, when no others read. */
cip_status cip_sidecar_encode(const cip_read_how *how, uint64_t file_nbytes, cip_buf *out,
                              cip_err *err);

#endif
