/* SPDX-License-Identifier: BSD-3-Clause
 * What readers of a file are told of switches (io/switches.h). Nothing fails here: readers whom
 * nothing is told are BUSY. */
#include <unistd.h>

#include "base/strmap.h"
#include "core/commit/commit_impl.h"

void cip_commit_switches_begin(cip_commit *c, const cip_revision *r)
{
    struct stat st;
    cip_lock_file before = c->foreign; /* which counts the change that comes */
    if (before.fd != -1)
        before.count--;
    if (!r->watched || !cip_file_opened(c->io, &st))
        return;
    /* Goes on with the series that ended with the file as it is; unless bytes are used again that
     * readers of its earlier states, who are none now, would want. */
    const uint64_t now = cip_switches_state(&st, &before);
    cip_switches s;
    if (r->nplaced != 0 || !cip_switches_get(c->fd, &s) || s.last != now)
        s = (cip_switches){ .series = cip_unique_number() | 1, .first = now, .last = now };
    if (cip_switches_put(c->fd, &s) &&
        cip_store_lock(c->fd, CIP_LOCK_SWITCHES, false) == CIP_LOCK_HELD)
        c->switches = s;
    else
        cip_switches_clear(c->fd);
}

void cip_commit_switches_end(cip_commit *c, uint64_t size)
{
    cip_switches s = c->switches;
    struct stat st;
    if (s.series == 0)
        return;
    s.last = fstat(c->fd, &st) == 0 ? cip_switches_state(&st, &c->foreign) : 0;
    if (s.last == 0 || (uint64_t)st.st_size != size || cip_commit_is_alone(c) ||
        !cip_switches_put(c->fd, &s))
        cip_switches_clear(c->fd);
    cip_store_unlock(c->fd, CIP_LOCK_SWITCHES);
    c->switches.series = 0;
}
