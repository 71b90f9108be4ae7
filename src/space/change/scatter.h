/* SPDX-License-Identifier: BSD-3-Clause
 * Elements into the places where a strided view has them: what changes is given out as runs of
 * bytes, and bytes that stay the same are not among them. */
#ifndef CIP_SPACE_SCATTER_H
#define CIP_SPACE_SCATTER_H

#include "array/view.h"
#include "base/cursor.h"
#include "io/temporary.h"
#include "space/layout/layout.h"

/* The data of a change: elements in C order, packed, of the array's dtype as it is stored. */
typedef struct cip_feed {
    cip_status (*next)(void *self, uint64_t nelem, uint8_t *dst, cip_err *err);
    /* The same without a copy where they lie in memory as they are stored, for as long as the
     * change is made; NULL: they do not, and next has them. May be NULL. */
    const uint8_t *(*lend)(void *self, uint64_t nelem);
    void *self;
    bool sure; /* next cannot fail */
} cip_feed;

/* Bytes that belong at `off` of the io. */
typedef struct cip_scatter_run {
    uint64_t off;
    cip_bytes bytes;
} cip_scatter_run;

typedef struct cip_scatter_to {
    cip_io *io;    /* the bytes as they are */
    bool live;     /* it shows what was put at once */
    uint64_t base; /* where the view's byte 0 lies in it */
    uint64_t unit; /* changed bytes are given out as whole units of so many bytes of the io, the
                      last one as far as the io goes, each once; 0: as they are */
    /* Takes n runs of changed bytes, which rise and lie apart; those of the next call for the same
     * cip_scatter may lie before them. */
    cip_status (*put)(void *user, const cip_scatter_run *run, size_t n, cip_err *err);
    void *user;
} cip_scatter_to;

/* Puts one element after the other from the feed to where `at` has it. Reads what lies there in
 * windows of about 8 MiB (or one element). ARG for a view that has elements over each other by a
 * stride of 0; RANGE beyond the io. */
cip_status cip_scatter(cip_env *env, const cip_scatter_to *to, const cip_nd *at,
                       const cip_feed *feed, cip_err *err);

/* Where a change of records goes, whose fields lie in columns: `at` is a view of the rows of the
 * column of this number. */
typedef struct cip_records_to {
    cip_status (*write)(void *user, size_t column, const cip_nd *at, const cip_feed *feed,
                        cip_err *err);
    void *user;
} cip_records_to;

/* Elements of the feed to where `at`, a view of the records of `s` (CIP_SPACE_RECORDS), has them:
 * each column's part of them to `to`. Holds at most 4 MiB of them, or one. */
cip_status cip_records_scatter(cip_env *env, const cip_space *s, const cip_nd *at,
                               const cip_feed *feed, const cip_records_to *to, cip_err *err);

#endif
