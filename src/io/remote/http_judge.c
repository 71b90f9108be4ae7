/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/remote/http_judge.h"

#include <string.h>

cip_status cip_http_fail_no_ranges(cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "the server does not support range requests: download the file, or use a "
                    "cache, into which it is copied whole");
}

bool cip_http_may_pass(int status)
{
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 ||
           status == 504;
}

void cip_http_version_of(const cip_http_answer *a, uint64_t got, cip_http_version *out)
{
    *out = (cip_http_version){ .size = a->status == 206 ? a->total : got };
    memcpy(out->tag, a->tag, sizeof a->tag);
    memcpy(out->modified, a->modified, sizeof a->modified);
}

static cip_status fail_status(int status, cip_err *err)
{
    static const struct {
        int status;
        const char *meaning;
        cip_status st;
    } known[] = {
        { 401, ": it requires a user and password", CIP_ERR_IO },
        { 403, ": access is denied", CIP_ERR_IO },
        { 404, ": there is no such file", CIP_ERR_NOT_FOUND },
        { 410, ": the file was removed", CIP_ERR_NOT_FOUND },
        { 429, ": too many requests", CIP_ERR_IO },
        { 503, ": it is overloaded or down", CIP_ERR_IO },
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].status == status)
            return cip_fail(err, known[i].st, CIP_NO_OFFSET, "the server answered %d%s", status,
                            known[i].meaning);
    return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "the server answered %d", status);
}

/* Of an answer that is to give bytes of what was opened. */
static cip_status check_version(const cip_http_version *known, const cip_http_answer *a,
                                cip_err *err)
{
    if (a->has_total && a->total != known->size)
        return cip_fail(err, CIP_ERR_STALE, CIP_NO_OFFSET,
                        "file changed since open: expected %" PRIu64 " bytes, found %" PRIu64,
                        known->size, a->total);
    if (strcmp(a->tag, known->tag) != 0)
        return cip_fail(err, CIP_ERR_STALE, CIP_NO_OFFSET,
                        "file changed since open: its entity tag is another one");
    if (strcmp(a->modified, known->modified) != 0)
        return cip_fail(err, CIP_ERR_STALE, CIP_NO_OFFSET,
                        "file changed since open: its time of change is another one");
    return CIP_OK;
}

static cip_status fail_range(const cip_http_asked *q, const cip_http_answer *a, cip_err *err)
{
    if (!a->ranged || a->bad_range)
        return cip_fail(err, CIP_ERR_IO, q->off,
                        "expected an answer with one Content-Range, found %s",
                        a->bad_range ? "one that cannot be understood" : "none");
    if (!a->has_total)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the server does not tell the size of the file");
    return cip_fail(err, CIP_ERR_IO, q->off,
                    "expected bytes %" PRIu64 " to %" PRIu64 ", the server sent %" PRIu64
                    " to %" PRIu64,
                    q->off, q->off + q->n - 1, a->first, a->last);
}

static cip_status judge_range(const cip_http_asked *q, const cip_http_answer *a, uint64_t *nbytes,
                              cip_err *err)
{
    if (!a->ranged || a->bad_range || !a->has_total || a->first != q->off)
        return fail_range(q, a, err);
    *nbytes = a->last - a->first + 1;
    if (q->kind == CIP_HTTP_RANGE)
        CIP_TRY(check_version(q->known, a, err));
    /* of what is opened there may be less than was asked for, but then that is all */
    const bool short_one = q->kind == CIP_HTTP_OPEN && *nbytes < q->n && a->last + 1 == a->total;
    if (*nbytes != q->n && !short_one)
        return fail_range(q, a, err);
    if (a->has_length && a->length != *nbytes)
        return cip_fail(err, CIP_ERR_IO, q->off,
                        "expected %" PRIu64 " bytes, the server's Content-Length is %" PRIu64,
                        *nbytes, a->length);
    return CIP_OK;
}

static cip_status judge_whole(const cip_http_asked *q, const cip_http_answer *a, uint64_t *nbytes,
                              cip_err *err)
{
    *nbytes = a->has_length ? a->length : UINT64_MAX;
    if (q->kind == CIP_HTTP_WHOLE && q->known != NULL) {
        CIP_TRY(check_version(q->known, a, err));
        if (*nbytes != q->known->size)
            return cip_fail(err, CIP_ERR_STALE, CIP_NO_OFFSET,
                            "file changed since open: its size is another one");
    }
    if (q->kind == CIP_HTTP_RANGE || (a->has_length && a->length > q->n))
        return cip_http_fail_no_ranges(err);
    if (!a->has_length && !a->framed)
        return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET,
                        "the server does not tell the size of the file, and a connection that "
                        "breaks would look like its end: download it");
    return CIP_OK;
}

static cip_status judge_unsatisfied(const cip_http_asked *q, const cip_http_answer *a,
                                    uint64_t *nbytes, cip_err *err)
{
    if (q->kind == CIP_HTTP_RANGE && a->unsatisfied && a->has_total && a->total <= q->off)
        return check_version(q->known, a, err) != CIP_OK ? CIP_ERR_STALE
                                                         : cip_failing(fail_status(a->status, err));
    if (q->kind != CIP_HTTP_OPEN || !a->unsatisfied || !a->has_total || a->total != 0)
        return fail_status(a->status, err);
    *nbytes = 0; /* an empty file has no range; what comes is a page for people */
    return CIP_OK;
}

cip_status cip_http_judge(const cip_http_asked *q, const cip_http_answer *a, uint64_t *nbytes,
                          cip_err *err)
{
    if (a->status == 412 && q->kind == CIP_HTTP_RANGE)
        return cip_fail(err, CIP_ERR_STALE, CIP_NO_OFFSET,
                        "file changed since open: the server has another one");
    if (a->status == 416)
        return judge_unsatisfied(q, a, nbytes, err);
    if (a->status != 200 && a->status != 206)
        return fail_status(a->status, err);
    if (a->encoded)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the server sends the file compressed (Content-Encoding), so that parts of "
                        "it cannot be read: download it");
    if (a->status == 206 && q->kind != CIP_HTTP_WHOLE)
        return judge_range(q, a, nbytes, err);
    return a->status == 200 ? judge_whole(q, a, nbytes, err) : fail_status(a->status, err);
}
