/* SPDX-License-Identifier: BSD-3-Clause
 * Blosc1 chunks of whole blocks as one chunk: their blocks, one table. So a chunk of up to 2 GiB is
 * made in parallel and with bounded memory, or of chunks that are stored somewhere. */
#ifndef CIP_CODEC_BLOSC_BLOSC_JOIN_H
#define CIP_CODEC_BLOSC_BLOSC_JOIN_H

#include "base/buffer.h"
#include "codec/blosc/blosc.h"

typedef struct cip_blosc_join cip_blosc_join;

/* For nbytes raw bytes in chunks as `p` says: Blosc1, with a blocksize, which all but the last
 * chunk are a multiple of. ARG; UNSUPPORTED for more than a chunk holds. */
cip_status cip_blosc_join_new(cip_mem *mem, const cip_blosc_spec *p, uint64_t nbytes,
                              cip_blosc_join **out, cip_err *err);
/* How chunks are to be that can be joined to nbytes bytes with one that begins with the head `h`:
 * false: it cannot be. */
bool cip_blosc_join_like(const cip_blosc_head *h, uint64_t nbytes, cip_blosc_spec *out);
/* Appends the blocks of the next chunk to `body`. ARG for one that is not as `p` says. */
cip_status cip_blosc_join_add(cip_blosc_join *j, cip_bytes chunk, cip_buf *body, cip_err *err);
/* Appends what stands before them all: header and table. ARG when bytes are missing; UNSUPPORTED
 * for more stored bytes than a chunk has. */
cip_status cip_blosc_join_head(cip_blosc_join *j, cip_buf *head, cip_err *err);
/* NULL is fine. */
void cip_blosc_join_free(cip_blosc_join *j);

#endif
