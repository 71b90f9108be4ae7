/* SPDX-License-Identifier: BSD-3-Clause
 * A part of another io as one of its own. */
#include "base/num.h"
#include "io/io_impl.h"

typedef struct part_io {
    cip_io io;
    cip_io *of; /* borrowed */
    uint64_t off;
} part_io;

/* Ranges are moved in batches of this many, on the stack. */
enum { BATCH = 64 };

static cip_status part_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    const part_io *p = (const part_io *)io;
    cip_range moved[BATCH];
    while (n != 0) {
        size_t now = (size_t)cip_min_u64(n, BATCH);
        for (size_t i = 0; i < now; i++) {
            moved[i] = r[i];
            moved[i].offset += p->off; /* both lie within `of`: no overflow */
        }
        CIP_TRY(cip_io_read_ranges(p->of, moved, now, err));
        r += now;
        n -= now;
    }
    return CIP_OK;
}

static cip_status part_map(cip_io *io, const uint8_t **ptr, cip_err *err)
{
    const part_io *p = (const part_io *)io;
    const uint8_t *whole;
    CIP_TRY(cip_io_map(p->of, &whole, err));
    *ptr = whole + p->off;
    return CIP_OK;
}

static cip_status part_unchanged(cip_io *io, cip_err *err)
{
    return cip_io_unchanged(((part_io *)io)->of, err);
}

static cip_status part_member(cip_io *io, const char *name, uint32_t flags, cip_io **out,
                              cip_err *err)
{
    cip_io *of = ((part_io *)io)->of;
    return of->ops->open_member(of, name, flags, out, err);
}

static cip_status part_list(cip_io *io, const char *path, uint32_t flags, cip_io_list_fn *fn,
                            void *user, cip_err *err)
{
    cip_io *of = ((part_io *)io)->of;
    if (of->ops->list == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "'%.120s' is not a folder",
                        of->name);
    return of->ops->list(of, path, flags, fn, user, err);
}

static int part_descriptor(cip_io *io, uint64_t *off)
{
    const part_io *p = (const part_io *)io;
    *off += p->off;
    return cip_io_descriptor(p->of, off);
}

/* Two sets, so that a part of something without members has none either. */
static const cip_io_ops part_ops = {
    .name = "part",
    .through = true,
    .read_ranges = part_read,
    .map = part_map,
    .unchanged = part_unchanged,
    .descriptor = part_descriptor,
    .close = cip_io_free,
};
static const cip_io_ops part_ops_members = {
    .name = "part",
    .through = true,
    .read_ranges = part_read,
    .map = part_map,
    .open_member = part_member,
    .list = part_list,
    .unchanged = part_unchanged,
    .descriptor = part_descriptor,
    .close = cip_io_free,
};

cip_io *cip_io_whole(cip_io *io, uint64_t *off)
{
    while (io->ops == &part_ops || io->ops == &part_ops_members) {
        *off += ((const part_io *)io)->off;
        io = ((const part_io *)io)->of;
    }
    return io;
}

cip_status cip_io_open_part(cip_io *of, uint64_t off, uint64_t len, cip_io **out, cip_err *err)
{
    const cip_io_ops *ops = of->ops->open_member != NULL ? &part_ops_members : &part_ops;
    cip_io *io;
    *out = NULL;
    if (off > of->size || len > of->size - off)
        return cip_fail(err, CIP_ERR_RANGE, off,
                        "expected %" PRIu64 " bytes at %" PRIu64 ", found %" PRIu64 " in all", len,
                        off, of->size);
    CIP_TRY(cip_io_new(of->env, ops, sizeof(part_io), of->name, &io, err));
    part_io *p = (part_io *)io;
    p->of = of;
    p->off = off;
    io->size = len;
    io->far = of->far;
    io->bytes = of->bytes != NULL ? of->bytes + off : NULL;
    if (cip_add_overflow(of->base, off, &io->base))
        io->base = of->base;
    io->folder = of->folder;
    *out = io;
    return CIP_OK;
}
