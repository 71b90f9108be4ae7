/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes going out one behind the other: what a format writes to. Where they go is core's business.
 */
#ifndef CIP_IO_OUT_H
#define CIP_IO_OUT_H

#include <stdbool.h>
#include <string.h>

#include "base/err.h"

struct cip_segment; /* io/patch.h */

typedef struct cip_out {
    cip_status (*write)(void *user, const void *p, size_t n, cip_err *err);
    void *user;
    uint64_t n; /* bytes written so far */
    /* Optional: takes what lies elsewhere, and stays as it is there, without a copy. */
    cip_status (*segment)(void *user, const struct cip_segment *s, cip_err *err);
    /* Optional: changes bytes that were written; [off, off + n) lies within. */
    cip_status (*rewrite)(void *user, uint64_t off, const void *p, size_t n, cip_err *err);
    /* Optional: forgets what was written from `off` on; the next write goes there. */
    cip_status (*rewind)(void *user, uint64_t off, cip_err *err);
    /* Optional: the n bytes from `from` on lie at `to` then (earlier or later; where they lay and
     * where nothing lay before is undefined until it is rewritten). With the last byte the end
     * moves along; others go where bytes were written. */
    cip_status (*move)(void *user, uint64_t from, uint64_t n, uint64_t to, cip_err *err);
    /* Optional: files beside this one. `name`: of this one, without a folder. member: a new output
     * under such a name, complete when this one is; borrowed from it. */
    const char *name;
    cip_status (*member)(void *member_user, const char *name, struct cip_out **out, cip_err *err);
    /* Optional, with member: a folder that stays even if no member comes to lie in it. */
    cip_status (*folder)(void *member_user, const char *name, cip_err *err);
    /* Optional, with member: whether a file of this name is there, which may be of the file that
     * this one replaces, or of any other: it stays as it is. NULL: a name that is taken is an
     * error. */
    bool (*taken)(void *member_user, const char *name);
    void *member_user;
} cip_out;

static inline cip_status cip_out_write(cip_out *o, const void *p, size_t n, cip_err *err)
{
    if (n != 0)
        CIP_TRY(o->write(o->user, p, n, err));
    o->n += n;
    return CIP_OK;
}

/* n bytes of value `fill`. */
static inline cip_status cip_out_fill(cip_out *o, uint8_t fill, uint64_t n, cip_err *err)
{
    uint8_t buf[512];
    memset(buf, fill, sizeof buf);
    for (size_t k; n != 0; n -= k) {
        k = n < sizeof buf ? (size_t)n : sizeof buf;
        CIP_TRY(cip_out_write(o, buf, k, err));
    }
    return CIP_OK;
}

static inline cip_status cip_out_rewrite(cip_out *o, uint64_t off, const void *p, size_t n,
                                         cip_err *err)
{
    if (o->rewrite == NULL || off > o->n || n > o->n - off)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, off, "expected an output that can be changed");
    return o->rewrite(o->user, off, p, n, err);
}

static inline cip_status cip_out_rewind(cip_out *o, uint64_t off, cip_err *err)
{
    if (o->rewind == NULL || off > o->n)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, off, "expected an output that can be cut");
    CIP_TRY(o->rewind(o->user, off, err));
    o->n = off;
    return CIP_OK;
}

static inline cip_status cip_out_move(cip_out *o, uint64_t from, uint64_t n, uint64_t to,
                                      cip_err *err)
{
    const bool last = from <= o->n && n == o->n - from;
    if (o->move == NULL || from > o->n || n > o->n - from || to > UINT64_MAX / 2 - o->n ||
        (!last && to > o->n - n))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, from, "expected an output that can be moved");
    CIP_TRY(o->move(o->user, from, n, to, err));
    o->n = last ? to + n : o->n;
    return CIP_OK;
}

/* The first `was` bytes become these n; what lies behind them stays behind them. */
static inline cip_status cip_out_front(cip_out *o, uint64_t was, const void *p, size_t n,
                                       cip_err *err)
{
    if (n != was)
        CIP_TRY(cip_out_move(o, was, o->n - was, n, err));
    return cip_out_rewrite(o, 0, p, n, err);
}

#endif
