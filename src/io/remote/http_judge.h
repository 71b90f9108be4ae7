/* SPDX-License-Identifier: BSD-3-Clause
 * What an answer means for the request that it is to: nothing that a server says is believed
 * before it fits what was asked for and what it said before. */
#ifndef CIP_IO_HTTP_JUDGE_H
#define CIP_IO_HTTP_JUDGE_H

#include "base/err.h"
#include "io/remote/http_answer.h"

typedef enum cip_http_kind {
    CIP_HTTP_OPEN,  /* the first bytes of something of which nothing is known */
    CIP_HTTP_RANGE, /* bytes of what was opened */
    CIP_HTTP_WHOLE  /* all there is, up to n bytes, if that is known whole */
} cip_http_kind;

/* By what one version of a file is told from another. */
typedef struct cip_http_version {
    uint64_t size;
    char tag[CIP_HTTP_TAG];       /* "" */
    char modified[CIP_HTTP_DATE]; /* or "" where the server gives none */
} cip_http_version;

typedef struct cip_http_asked {
    cip_http_kind kind;
    uint64_t off, n;
    const cip_http_version *known; /* of RANGE, and of WHOLE where it has to be this one; or NULL */
} cip_http_asked;

/* Whether the body that follows is what was asked for; *nbytes is how long it has to be
 * (UINT64_MAX: at most as long as was asked for). NOT_FOUND; STALE for another version; UNSUPPORTED
 * for servers without ranges and encoded bodies; IO for the rest. */
cip_status cip_http_judge(const cip_http_asked *q, const cip_http_answer *a, uint64_t *nbytes,
                          cip_err *err);
/* Whether a server may answer otherwise a little later. */
bool cip_http_may_pass(int status);
/* The version that an answer to OPEN, with a body of `got` bytes, tells of. */
void cip_http_version_of(const cip_http_answer *a, uint64_t got, cip_http_version *out);

/* UNSUPPORTED, with what to do. */
cip_status cip_http_fail_no_ranges(cip_err *err);

#endif
