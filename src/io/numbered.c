/* SPDX-License-Identifier: BSD-3-Clause
 * Members with numbers for names as one io. A member is opened when it is read; a few stay open,
 * the one unused for longest makes room. */
#include <stdio.h>

#include "base/num.h"
#include "io/io_impl.h"

typedef struct open_member {
    cip_io *io; /* NULL: the slot is free */
    uint64_t i;
    uint64_t used; /* when it was asked for last */
    unsigned pins; /* reads under way */
} open_member;

typedef struct numbered_io {
    cip_io io;
    cip_io *of; /* borrowed */
    uint32_t flags;
    cip_io_number_place *place;
    void *user;
    pthread_mutex_t lock; /* guards what follows; a folder's lock may be taken under it */
    uint64_t now;
    open_member slot[CIP_IO_NUMBERED_OPEN];
} numbered_io;

/* Under the lock. *slot NULL: `io` is the caller's alone to close. */
static cip_status take_member(numbered_io *f, uint64_t i, open_member **slot, cip_io **io,
                              cip_err *err)
{
    open_member *m = NULL, *room = NULL; /* a slot that is free, or was unused for longest */
    for (size_t k = 0; k < CIP_IO_NUMBERED_OPEN && m == NULL; k++)
        if (f->slot[k].io != NULL && f->slot[k].i == i)
            m = &f->slot[k];
    for (size_t k = 0; k < CIP_IO_NUMBERED_OPEN && m == NULL; k++) {
        open_member *x = &f->slot[k];
        if (x->io == NULL || (x->pins == 0 && (room == NULL || x->used < room->used)))
            room = x;
        if (x->io == NULL)
            break;
    }
    if (m == NULL) {
        m = room; /* NULL: all are being read */
        char name[CIP_IO_NUMBER_NAME];
        cip_io *of = f->of;
        f->place(f->user, i, &of, name);
        cip_status st = cip_io_open_beneath(of, name, f->flags, io, err);
        CIP_TRY(cip_fail_in(err, st, "%s", name));
        if (m != NULL) {
            cip_io_close(m->io);
            *m = (open_member){ .io = *io, .i = i };
        }
    }
    *slot = m;
    if (m != NULL) {
        *io = m->io;
        m->used = ++f->now;
        m->pins++;
    }
    return CIP_OK;
}

static cip_status acquire(numbered_io *f, uint64_t i, open_member **slot, cip_io **io, cip_err *err)
{
    *slot = NULL;
    *io = NULL;
    pthread_mutex_lock(&f->lock);
    cip_status st = take_member(f, i, slot, io, err);
    pthread_mutex_unlock(&f->lock);
    return st;
}

static void release(numbered_io *f, open_member *slot, cip_io *io)
{
    if (slot == NULL) {
        cip_io_close(io);
        return;
    }
    pthread_mutex_lock(&f->lock);
    slot->pins--;
    pthread_mutex_unlock(&f->lock);
}

/* A range's part in the member that it begins in; it may go on in the next one. */
static cip_status read_part(numbered_io *f, const cip_range *r, size_t *done, cip_err *err)
{
    const uint64_t room = UINT64_C(1) << CIP_IO_NUMBER_SHIFT;
    uint64_t at = r->offset + *done, off = at % room;
    size_t n = (size_t)cip_min_u64(r->nbytes - *done, room - off);
    open_member *slot;
    cip_io *io;
    CIP_TRY(acquire(f, at >> CIP_IO_NUMBER_SHIFT, &slot, &io, err));
    cip_status st = cip_io_read(io, off, (uint8_t *)r->dst + *done, n, err);
    st = cip_fail_in(err, st, "%s", io->name);
    release(f, slot, io);
    *done += n;
    return st;
}

static cip_status numbered_read(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    for (size_t k = 0; k < n; k++)
        for (size_t done = 0; done < r[k].nbytes;)
            CIP_TRY(read_part((numbered_io *)io, &r[k], &done, err));
    cip_io *of = ((numbered_io *)io)->of;
    return of->watched ? cip_io_still(of, err) : CIP_OK;
}

static void numbered_close(cip_io *io)
{
    numbered_io *f = (numbered_io *)io;
    for (size_t k = 0; k < CIP_IO_NUMBERED_OPEN; k++)
        cip_io_close(f->slot[k].io);
    pthread_mutex_destroy(&f->lock);
    cip_io_free(io);
}

static const cip_io_ops numbered_ops = {
    .name = "numbered members",
    .through = true,
    .read_ranges = numbered_read,
    .close = numbered_close,
};

cip_status cip_io_open_numbered(cip_io *of, uint32_t flags, cip_io_number_place *place, void *user,
                                cip_io **out, cip_err *err)
{
    cip_io *io;
    *out = NULL;
    CIP_TRY(cip_io_new(of->env, &numbered_ops, sizeof(numbered_io), of->name, &io, err));
    numbered_io *f = (numbered_io *)io;
    f->of = of;
    f->flags = flags;
    f->place = place;
    f->user = user;
    pthread_mutex_init(&f->lock, NULL);
    io->size = UINT64_C(1) << 63;
    *out = io;
    return CIP_OK;
}

void cip_io_numbered_expect(cip_io *io, const uint64_t *member, size_t n)
{
    enum { MOST = 256 };
    const numbered_io *f = (const numbered_io *)io;
    char(*name)[CIP_IO_NUMBER_NAME];
    void *room;
    size_t m = 0;
    if (io->ops != &numbered_ops || f->of->ops->expect == NULL ||
        cip_mem_get(&io->env->mem, MOST * sizeof *name, &room, NULL) != CIP_OK)
        return;
    name = room;
    for (size_t i = 0; i < n && m < MOST; i++) {
        cip_io *of = f->of;
        f->place(f->user, member[i], &of, name[m]);
        m += of == f->of;
    }
    f->of->ops->expect(f->of, (const char(*)[CIP_IO_NUMBER_NAME])name, m);
    cip_mem_put(&io->env->mem, room);
}

cip_status cip_io_numbered_size(cip_io *io, uint64_t i, uint64_t *size, cip_err *err)
{
    numbered_io *f = (numbered_io *)io;
    open_member *slot;
    cip_io *member;
    cip_err own = CIP_ERR_INIT;
    cip_status st = acquire(f, i, &slot, &member, &own);
    if (st == CIP_OK) {
        *size = member->size;
        release(f, slot, member);
    }
    if (f->of->watched) /* one that is not there, or not whole, may be about to be */
        CIP_TRY(cip_io_still(f->of, err));
    return cip_err_give(err, &own, st);
}

bool cip_io_numbered_name(const cip_io *io, uint64_t *off, char name[CIP_IO_NUMBER_NAME])
{
    if (io->ops != &numbered_ops)
        return false;
    const numbered_io *f = (const numbered_io *)io;
    cip_io *of = f->of;
    f->place(f->user, *off >> CIP_IO_NUMBER_SHIFT, &of, name);
    *off %= UINT64_C(1) << CIP_IO_NUMBER_SHIFT;
    return true;
}
