/* SPDX-License-Identifier: BSD-3-Clause
 * Reading ahead in far files: those that are read through a caller's methods, where a request costs
 * far more than its bytes. A small read takes more than was asked for, and what many chunks need
 * comes in one request. */
#ifndef CIP_SPACE_FAR_H
#define CIP_SPACE_FAR_H

#include "codec/codec.h"
#include "io/io.h"
#include "space/read/tuning.h"

/* Bytes of one file that were read ahead, a bounded number; the oldest go. Thread-safe. */
typedef struct cip_far cip_far;

enum { CIP_FAR_RANGES = 256 }; /* at most, of one call */

/* `io` and the tuning are borrowed. */
cip_status cip_far_new(cip_env *env, cip_io *io, const cip_tuning *tune, cip_far **out,
                       cip_err *err);
void cip_far_free(cip_far *a); /* NULL is fine */
/* Fills ranges, as cip_io_read_ranges does, in one request at most; in none if all are kept. */
cip_status cip_far_read(cip_far *a, const cip_range *r, size_t n, cip_err *err);
/* Reads what is not kept yet in one request, as far as there is room. at[] is sorted. A failure is
 * not told: whoever asks for the bytes meets it again. */
void cip_far_expect(cip_far *a, cip_need *at, size_t n);

#endif
