/* SPDX-License-Identifier: BSD-3-Clause
 * An archive that is there, revised. Members that stay lie where they are; the file's tail begins
 * behind the last of them, with what is made, replaced and renamed, and the directory follows.
 * Where a member went, or was replaced, in front of others that stay, its bytes are in no member
 * any more. When more than half of the archive would be such bytes, it is written anew without
 * them, so that changes cost no more than a constant times what they write; not where something
 * else than members lies before the first one. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/zip_out.h"
#include "io/revision_out.h"

enum {
    HEADER = 30,             /* bytes of a local header without the name and extra fields */
    FLAG_DESCRIPTOR = 8,     /* sizes and CRC follow the data */
    MOST_REUSED = 8 << 20,   /* bytes at the end that are written over, through a journal */
    LEAST_UNUSED = 64 << 10, /* fewer are not worth writing the archive anew */
};

typedef struct revising {
    cip_zip_out *z;
    cip_io *io;
    const cip_zip *old;
    const cip_revision *files;
    const cip_revision_member **fate; /* of each old member; NULL: it stays */
    cip_revision *r;
} revising;

/* --- what becomes of each --------------------------------------------------------------------- */

static const cip_zip_member *find_folder(const revising *v, const char *name, cip_err *err)
{
    char *path = NULL;
    return cip_arena_printf(v->z->arena, &path, err, "%s/", name) == CIP_OK
               ? cip_zip_find(v->old, path)
               : NULL;
}

static cip_status find_fates(revising *v, cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(v->z->arena, &v->fate, v->old->n + 1, err));
    for (size_t k = 0; k < v->files->nmember; k++) {
        const cip_revision_member *f = &v->files->member[k];
        const cip_zip_member *m = f->change == CIP_MEMBER_FOLDER_GONE
                                      ? find_folder(v, f->name, err)
                                      : cip_zip_find(v->old, f->name);
        if (m != NULL && f->change != CIP_MEMBER_MADE && f->change != CIP_MEMBER_PATCHED)
            v->fate[m - v->old->at] = f;
        else if (f->change != CIP_MEMBER_MADE && f->change != CIP_MEMBER_FOLDER_GONE)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected a member to replace as a whole, found '%.120s'", f->name);
    }
    return CIP_OK;
}

/* --- what stays ------------------------------------------------------------------------------- */

/* Whether the n bytes before the first member are members that went, each with its sizes in its
 * header. Other bytes there are not ours to drop. */
static cip_status are_members(cip_io *io, uint64_t n, bool *yes, cip_err *err)
{
    uint8_t head[HEADER];
    uint64_t off = 0;
    while (off < n && n - off >= HEADER) {
        CIP_TRY(cip_io_read(io, off, head, HEADER, err));
        if (memcmp(head, "PK\3\4", 4) != 0 || (head[6] & FLAG_DESCRIPTOR) != 0)
            break;
        off += HEADER + cip_load_u16(head + 26, false) + cip_load_u16(head + 28, false);
        off += cip_load_u32(head + 18, false);
    }
    *yes = off == n;
    return CIP_OK;
}

/* Chooses where the tail begins, or the archive anew. */
static cip_status choose_tail(revising *v, cip_err *err)
{
    const cip_zip *old = v->old;
    uint64_t first = old->directory, end = 0, used = 0;
    bool members = true;
    for (size_t i = 0; i < old->n; i++) {
        const cip_zip_member *m = &old->at[i];
        first = cip_min_u64(first, m->header);
        if (v->fate[i] != NULL)
            continue;
        end = cip_max_u64(end, m->end);
        used += HEADER + m->raw.len + m->stored; /* no more than to m->end */
    }
    end = cip_max_u64(first, end);
    if (old->directory - end > MOST_REUSED)
        end = old->directory;
    v->r->has_tail = true;
    v->r->anew = end - used > cip_max_u64(used, LEAST_UNUSED);
    if (v->r->anew)
        CIP_TRY(are_members(v->io, first, &members, err));
    v->r->anew = v->r->anew && members;
    v->r->tail_off = v->r->anew ? 0 : end;
    v->r->patch.old_len = v->r->patch.new_len = v->io->size;
    return CIP_OK;
}

/* With the same header, but for a descriptor. */
static cip_status copy_member(const revising *v, cip_zip_member *m, cip_err *err)
{
    cip_zip_out *z = v->z;
    cip_segment piece = { .io = v->io, .len = m->stored };
    cip_buf head = { .mem = z->mem };
    const uint64_t was = m->header;
    CIP_TRY(cip_zip_data(v->io, m, &piece.off, err));
    m->flags &= (uint16_t)~FLAG_DESCRIPTOR;
    m->header = z->to->n;
    cip_status st = cip_zip_header_again(v->io, was, m, &head, err);
    if (st == CIP_OK)
        st = cip_out_write(z->to, head.ptr, head.len, err);
    cip_buf_clear(&head);
    return st == CIP_OK ? cip_out_segment(z->to, &piece, err) : st;
}

static cip_status keep_members(const revising *v, cip_err *err)
{
    for (size_t i = 0; i < v->old->n; i++) {
        cip_zip_member m = v->old->at[i];
        if (v->fate[i] != NULL)
            continue;
        if (v->r->anew)
            CIP_TRY(copy_member(v, &m, err));
        CIP_TRY(cip_zip_out_add(v->z, &m, err));
    }
    return CIP_OK;
}

/* --- what comes ------------------------------------------------------------------------------- */

static cip_status rename_member(const revising *v, const cip_revision_member *f, cip_err *err)
{
    const cip_zip_member *was = cip_zip_find(v->old, f->name);
    cip_zip_member m = {
        .method = was->method, .crc = was->crc, .stored = was->stored, .size = was->size
    };
    cip_segment piece = { .io = v->io, .len = m.stored };
    CIP_TRY(cip_zip_data(v->io, was, &piece.off, err));
    return cip_zip_put_stored(v->z, f->to, &m, &piece, 1, err);
}

static cip_status put_members(const revising *v, cip_err *err)
{
    for (size_t k = 0; k < v->files->nmember; k++) {
        const cip_revision_member *f = cip_revision_in_order(v->files, k);
        if (f->change == CIP_MEMBER_RENAMED)
            CIP_TRY(rename_member(v, f, err));
        else if (f->as != NULL)
            CIP_TRY(cip_zip_put(v->z, f->name, f->as->segment, f->as->nsegment, err));
    }
    return CIP_OK;
}

cip_status cip_zip_revise(cip_io *io, const cip_zip *old, const cip_revision *files,
                          cip_revision *r, cip_err *err)
{
    cip_arena arena = { .mem = &io->env->mem };
    cip_zip_out z = { .mem = &io->env->mem, .arena = &arena };
    revising v = { .z = &z, .io = io, .old = old, .files = files, .r = r };
    cip_buf directory = { .mem = z.mem };
    cip_out to;
    cip_status st;
    CIP_GO(find_fates(&v, err));
    CIP_GO(choose_tail(&v, err));
    to = cip_revision_tail(r);
    z.to = &to;
    CIP_GO(keep_members(&v, err));
    CIP_GO(put_members(&v, err));
    CIP_GO(cip_zip_directory_write(z.at, z.n, to.n, io, old, &directory, err));
    st = cip_out_write(&to, directory.ptr, directory.len, err);
done:
    cip_buf_clear(&directory);
    cip_zip_out_clear(&z);
    cip_arena_clear(&arena);
    return st;
}
