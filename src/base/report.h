/* SPDX-License-Identifier: BSD-3-Clause
 * Collects findings: kept in a list, passed to a callback, or both. Thread-safe. */
#ifndef CIP_BASE_REPORT_H
#define CIP_BASE_REPORT_H

#include <pthread.h>

#include "base/arena.h"
#include "base/strmap.h"
#include "cippus/error.h"

typedef struct cip_report_item cip_report_item;

/* What lacks something that stands in the file, since it was left out when that was read. */
typedef enum cip_lacking {
    CIP_LACKS_NOTHING = 0,
    CIP_LACKS_NODE,  /* a node of the tree; of an array: its attributes */
    CIP_LACKS_ARRAY, /* an array: elements, or its mask */
    CIP_LACKS_BYTES  /* the file: bytes that nothing of it shows */
} cip_lacking;

typedef struct cip_report {
    pthread_mutex_t lock; /* guards all below */
    cip_arena arena;
    cip_report_item *first, *last;
    size_t n;
    size_t count[4];    /* by severity, also of those not kept */
    size_t nlack;       /* kept findings of what is left out */
    size_t nlack_more;  /* and those that could not be kept */
    cip_finding_fn *fn; /* may be NULL */
    void *user;
    int (*progress)(void *user, uint64_t done, uint64_t total); /* may be NULL */
    void *progress_user;
    uint64_t done, total; /* bytes looked at, of all */
    bool keep;            /* keep them in the list (at most 1000, then only counted) */
    bool once;            /* what was said of a part and place already is dropped */
    cip_strmap said;      /* with `once`: what that was */
    bool cancelled;
    cip_err starved; /* the first NOMEM told to fn: its code is CIP_OK while there is none */
} cip_report;

void cip_report_init(cip_report *r, cip_mem *mem, bool keep, cip_finding_fn *fn, void *user);
void cip_report_clear(cip_report *r);

/* How bad it is that something cannot be read: what this build or version does not know is no
 * damage. */
static inline cip_severity cip_severity_of(cip_status st)
{
    return st == CIP_ERR_UNSUPPORTED ? CIP_WARN : CIP_BAD;
}

/* Adds one; never fails (a finding that cannot be kept is still counted). `part` may be NULL. */
void cip_report_add(cip_report *r, cip_severity severity, cip_status code, uint64_t offset,
                    uint64_t length, const char *part, const char *fmt, ...) CIP_PRINTF(7, 8);
/* The same with `fixable` set. */
void cip_report_fixable(cip_report *r, cip_severity severity, cip_status code, uint64_t offset,
                        uint64_t length, const char *part, const char *fmt, ...) CIP_PRINTF(7, 8);
/* A warning that something is left out, of `of` (NULL for BYTES): a copy would lack it. */
void cip_report_lack(cip_report *r, cip_lacking what, const void *of, cip_status code,
                     uint64_t offset, const char *part, const char *fmt, ...) CIP_PRINTF(7, 8);
/* The kept ones in their order: *item NULL at first. NULL: no more. */
const cip_finding *cip_report_next_lack(cip_report *r, cip_report_item **item, cip_lacking *what,
                                        const void **of);
/* Adds a failure as it stands in err. Want of memory says nothing about the file: a report that is
 * passed on keeps it for cip_report_status instead. */
void cip_report_err(cip_report *r, cip_severity severity, const cip_err *err);

/* After looking at something, st being how that ended and *why its error: a fault of the content is
 * a finding (r NULL: of nobody) and gives OK, so that the check goes on; other failures are passed
 * on. */
cip_status cip_report_outcome(cip_report *r, cip_status st, const cip_err *why, cip_err *err);

/* From now on it is known that nbytes more are to be looked at, and no others. */
void cip_report_expect(cip_report *r, uint64_t nbytes);
/* Tells that nbytes more have been looked at; true when the caller wants no more. `total` becomes 0
 * (unknown) where it turns out too small. r NULL: nobody is told. */
bool cip_report_progress(cip_report *r, uint64_t nbytes);
/* The same of bytes that are read for nothing but that, for cip_space_stream; `report`: a
 * cip_report. */
int cip_report_read(void *report, const uint8_t *p, size_t n);

/* How many are kept; those behind the n-th are taken back. */
size_t cip_report_kept(cip_report *r);
void cip_report_cut(cip_report *r, size_t n);
/* The i-th kept finding, or NULL. */
const cip_finding *cip_report_get(cip_report *r, size_t i);
/* CANCELLED when a callback asked to stop, NOMEM when something could not be looked at for want of
 * memory, otherwise OK. */
cip_status cip_report_status(cip_report *r, cip_err *err);

#endif
