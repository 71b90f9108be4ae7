/* SPDX-License-Identifier: BSD-3-Clause
 * Outputs as pieces of one temporary file. */
#include "io/revision_out.h"

#include "base/num.h"
#include "io/temporary.h"

static cip_status write_pieces(void *user, const void *p, size_t n, cip_err *err)
{
    cip_revision_out *m = user;
    const uint64_t at = m->waits->size;
    CIP_TRY(cip_temporary_write(m->waits, at, p, n, err));
    return cip_revision_range(m->of, m->waits, at, n, err);
}

static cip_status rewrite_pieces(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    const cip_revision_out *m = user;
    const uint8_t *from = p;
    for (const cip_segment *s = m->of->segment; n != 0; s++) {
        const uint64_t skip = cip_min_u64(off, s->len);
        const size_t now = (size_t)cip_min_u64(n, s->len - skip);
        CIP_TRY(cip_temporary_write(m->waits, s->off + skip, from, now, err));
        off -= skip;
        from += now;
        n -= now;
    }
    return CIP_OK;
}

static cip_status rewind_pieces(void *user, uint64_t off, cip_err *err)
{
    cip_revision *r = ((cip_revision_out *)user)->of;
    (void)err;
    while (r->tail_len > off) {
        cip_segment *last = &r->segment[r->nsegment - 1];
        const uint64_t now = cip_min_u64(last->len, r->tail_len - off);
        last->len -= now;
        r->tail_len -= now;
        r->nsegment -= last->len == 0;
    }
    return CIP_OK;
}

/* What moves is written once more. */
static cip_status move_pieces(void *user, uint64_t from, uint64_t to, cip_err *err)
{
    cip_revision_out *m = user;
    cip_io *moving = NULL, *is = NULL;
    cip_status st;
    CIP_GO(cip_temporary_new(m->waits->env, NULL, &moving, err));
    CIP_GO(cip_io_open_revision(m->waits, m->of, &is, err));
    CIP_GO(cip_temporary_add(moving, is, from, is->size - from, err));
    CIP_GO(rewind_pieces(m, cip_min_u64(from, to), err));
    const uint64_t at = m->waits->size, gap = to - m->of->tail_len;
    CIP_GO(cip_temporary_resize(m->waits, at + gap, err));
    CIP_GO(cip_temporary_add(m->waits, moving, 0, moving->size, err));
    st = cip_revision_range(m->of, m->waits, at, gap + moving->size, err);
done:
    cip_io_close(is);
    cip_io_close(moving);
    return st;
}

void cip_revision_out_begin(cip_revision_out *p, cip_io *temporary, cip_revision *of)
{
    *p = (cip_revision_out){ .out = { .write = write_pieces,
                                      .user = p,
                                      .rewrite = rewrite_pieces,
                                      .rewind = rewind_pieces,
                                      .move = move_pieces },
                             .waits = temporary,
                             .of = of };
}
