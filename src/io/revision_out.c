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

static cip_status add_segment(void *user, const cip_segment *s, cip_err *err)
{
    return s->io != NULL ? cip_revision_range(user, s->io, s->off, s->len, err)
                         : cip_revision_fill(user, (uint8_t)s->off, s->len, err);
}

static cip_status add_piece(void *user, const cip_segment *s, cip_err *err)
{
    return add_segment(((cip_revision_out *)user)->of, s, err);
}

/* Bytes that were written, not those of segments: in the revision's arena, or in `waits`. */
static cip_status rewrite(const cip_revision *r, cip_io *waits, uint64_t off, const void *p,
                          size_t n, cip_err *err)
{
    const uint8_t *from = p;
    for (const cip_segment *s = r->segment; n != 0; s++) {
        const uint64_t skip = cip_min_u64(off, s->len);
        const size_t now = (size_t)cip_min_u64(n, s->len - skip);
        if (now != 0 && s->ptr == NULL && (s->io == NULL || s->io != waits))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, off, "expected bytes that can be changed");
        if (now != 0 && s->ptr != NULL)
            memcpy((uint8_t *)s->ptr + skip, from, now);
        else if (now != 0)
            CIP_TRY(cip_temporary_write(waits, s->off + skip, from, now, err));
        off -= skip;
        from += now;
        n -= now;
    }
    return CIP_OK;
}

static cip_status rewrite_pieces(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    const cip_revision_out *m = user;
    return rewrite(m->of, m->waits, off, p, n, err);
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
static cip_status move_pieces(void *user, uint64_t from, uint64_t n, uint64_t to, cip_err *err)
{
    cip_revision_out *m = user;
    cip_io *moving = NULL, *is = NULL;
    cip_status st;
    if (from + n != m->of->tail_len)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, from, "expected the last bytes to be moved");
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
                                      .segment = add_piece,
                                      .rewrite = rewrite_pieces,
                                      .rewind = rewind_pieces,
                                      .move = move_pieces },
                             .waits = temporary,
                             .of = of };
}

static cip_status add_bytes(void *user, const void *p, size_t n, cip_err *err)
{
    return cip_revision_bytes(user, p, n, err);
}

static cip_status rewrite_bytes(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    const cip_revision *r = user;
    return off >= r->tail_off ? rewrite(r, NULL, off - r->tail_off, p, n, err)
                              : cip_fail(err, CIP_ERR_RANGE, off, "expected bytes of the tail");
}

cip_out cip_revision_tail(cip_revision *r)
{
    return (cip_out){ .write = add_bytes,
                      .segment = add_segment,
                      .rewrite = rewrite_bytes,
                      .user = r,
                      .n = r->tail_off + r->tail_len };
}

static cip_status copy_piece(void *user, const void *p, size_t n, cip_err *err)
{
    return cip_out_write(user, p, n, err);
}

cip_status cip_out_segment(cip_out *o, const cip_segment *s, cip_err *err)
{
    if (s->len == 0)
        return CIP_OK;
    if (s->ptr != NULL)
        return cip_out_write(o, s->ptr, (size_t)s->len, err);
    if (o->segment == NULL)
        return s->io != NULL ? cip_io_each(s->io, s->off, s->len, copy_piece, o, err)
                             : cip_out_fill(o, (uint8_t)s->off, s->len, err);
    CIP_TRY(o->segment(o->user, s, err));
    o->n += s->len;
    return CIP_OK;
}
