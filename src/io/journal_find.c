/* SPDX-License-Identifier: BSD-3-Clause
 * Looking for a sealed journal beside a file and judging it (design: crash safety). What counts is
 * what the bytes are: a journal applies when each byte that it wants to write is still the old one
 * or already the new one. */
#include "io/patch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "io/io_impl.h"
#include "io/record.h"
#include "io/store.h"

enum { WHY = 256, PIECE = CIP_CHECK_PIECE };

static const char SEALED[] = ".cip-journal", UNSEALED[] = ".cip-tmp";

/* Where to look: beside `path`, for the records called after `base`. */
typedef struct search {
    cip_env *env;
    const char *path;
    const char *base; /* NULL: the path's own name */
    cip_io *file;
    char *why; /* WHY bytes */
} search;

/* ".NAME" and the suffix beside `path`, or the suffix in a folder; false when it cannot be named at
 * all. */
static bool journal_path(const search *s, const char *suffix, char out[PATH_MAX])
{
    const char *path = s->path;
    if (cip_io_is_folder(s->file)) /* in it, without a name to be called after */
        return (size_t)snprintf(out, PATH_MAX, "%s/%s", path, suffix) < PATH_MAX;
    const char *slash = strrchr(path, '/');
    size_t ndir = slash != NULL ? (size_t)(slash + 1 - path) : 0;
    int n = snprintf(out, PATH_MAX, "%.*s.%s%s", (int)ndir, path,
                     s->base != NULL ? s->base : path + ndir, suffix);
    return (size_t)n < PATH_MAX;
}

/* Whether to look into it at all: `why` says why not. */
static bool worth_reading(const struct stat *journal, const struct stat *file, char *why)
{
    if (!S_ISREG(journal->st_mode))
        snprintf(why, WHY, "the journal beside the file is a link, or not a regular file");
    else if (journal->st_uid != file->st_uid && journal->st_uid != geteuid())
        snprintf(why, WHY, "the journal beside the file belongs to another user (%ju)",
                 (uintmax_t)journal->st_uid);
    else if (journal->st_size > CIP_JOURNAL_MAX)
        snprintf(why, WHY, "the journal beside the file has more than %d bytes", CIP_JOURNAL_MAX);
    else
        return true;
    return false;
}

/* Opens it. *fd is -1 when there is none or it is not worth reading, as *state says. */
static cip_status open_journal(const char *path, const struct stat *file, int *fd,
                               cip_journal_state *state, char *why, cip_err *err)
{
    struct stat st;
    *fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    int errnum = errno;
    if (*fd == -1 && (errnum == ENOENT || errnum == ENOTDIR || errnum == ENAMETOOLONG))
        return CIP_OK;
    bool known = (*fd == -1 ? lstat(path, &st) : fstat(*fd, &st)) == 0;
    bool worth = known && worth_reading(&st, file, why);
    if (*fd != -1 && worth)
        return CIP_OK;
    close(*fd); /* -1 is fine */
    *fd = -1;
    if (!known || worth) { /* ours, and yet it cannot be opened */
        char what[160];
        snprintf(what, sizeof what, "cannot open the journal '%.100s'", path);
        return cip_fail_errno(err, errnum, CIP_NO_OFFSET, what);
    }
    *state = CIP_JOURNAL_IGNORED;
    return CIP_OK;
}

/* All bytes of an open file, in the arena. Takes fd over. */
static cip_status read_all(cip_env *env, int fd, const char *path, cip_arena *a, cip_bytes *out,
                           cip_err *err)
{
    cip_io *io = NULL;
    void *ptr;
    cip_status st;
    CIP_GO(cip_file_new(env, fd, path, NULL, "", &io, err));
    size_t n = (size_t)cip_min_u64(io->size, CIP_JOURNAL_MAX); /* it may have grown */
    CIP_GO(cip_arena_get(a, n, &ptr, err));
    CIP_GO(cip_io_read(io, 0, ptr, n, err));
    *out = (cip_bytes){ ptr, n };
done:
    cip_io_close(io);
    return st;
}

/* Compares one write with the file; bytes behind its end may be absent. CORRUPT: it does not fit.
 */
cip_status cip_journal_check_write(cip_io *file, const cip_patch_op *op, uint8_t *piece,
                                   cip_err *err)
{
    size_t got;
    for (size_t done = 0; done < op->after.len; done += got) {
        size_t want = (size_t)cip_min_u64(op->after.len - done, PIECE);
        CIP_TRY(cip_io_read_some(file, op->offset + done, piece, want, &got, err));
        if (got == 0)
            break;
        for (size_t i = done; i < done + got; i++) {
            const uint8_t is = piece[i - done];
            /* behind the old end a file grows by zeros first */
            if (is != op->after.ptr[i] && is != (i < op->before.len ? op->before.ptr[i] : 0))
                return cip_fail(err, CIP_ERR_CORRUPT, op->offset + i,
                                "byte %" PRIu64
                                " of the file is neither the old nor the new one of the journal",
                                op->offset + i);
        }
    }
    return CIP_OK;
}

/* CORRUPT when the journal is not this file's, or not in a state that a crash leaves. */
static cip_status check_file(cip_env *env, cip_io *file, const cip_patch *p, cip_err *err)
{
    void *piece = NULL;
    cip_status st;
    if (file->size < cip_min_u64(p->old_len, p->new_len) ||
        file->size > cip_max_u64(p->old_len, p->new_len))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a file of %" PRIu64 " to %" PRIu64 " bytes, found %" PRIu64,
                        p->old_len, p->new_len, file->size);
    CIP_GO(cip_mem_get(&env->mem, PIECE, &piece, err));
    for (size_t i = 0; i < p->n; i++)
        if (p->op[i].kind == CIP_PATCH_WRITE && cip_patch_op_own(&p->op[i]))
            CIP_GO(cip_journal_check_write(file, &p->op[i], piece, err));
done:
    cip_mem_put(&env->mem, piece);
    return st;
}

/* Whether a sealed update can make the file as long as it says: the bytes behind the file's end are
 * in it before its journal is sealed, but for those that the journal itself writes. Members
 * likewise.
 */
static cip_status check_sealed(cip_io *file, const cip_patch *p, cip_err *err)
{
    uint64_t written = 0; /* less than the journal's own size */
    void *piece = NULL;
    CIP_TRY(cip_mem_get(&file->env->mem, PIECE, &piece, err));
    cip_status st = cip_journal_check_members(file, p, piece, err);
    cip_mem_put(&file->env->mem, piece);
    CIP_TRY(st);
    for (size_t i = 0; i < p->n; i++)
        if (p->op[i].kind == CIP_PATCH_WRITE && cip_patch_op_own(&p->op[i]))
            written += p->op[i].after.len;
    uint64_t least = p->new_len - cip_min_u64(p->new_len, written);
    if (file->size >= least)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected a file of at least %" PRIu64
                    " bytes before the update, found %" PRIu64,
                    least, file->size);
}

/* Decodes and compares. The inode must be the file's; the device is kept for people only: many file
 * systems get another number each time they are mounted, a crash in between or not. */
static cip_status judge(cip_env *env, cip_bytes in, cip_io *file, const struct stat *st,
                        cip_patch *p, cip_err *err)
{
    uint64_t device, inode;
    CIP_TRY(cip_journal_decode(in, p, &device, &inode, err));
    if (inode != (uint64_t)st->st_ino)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "the journal is for another file (inode %" PRIu64 ", not %ju)", inode,
                        (uintmax_t)st->st_ino);
    return check_file(env, file, p, err);
}

/* Reads and judges the file with this suffix. Untouched *patch unless APPLIES. */
static cip_status find(const search *s, const char *suffix, cip_journal_state *state,
                       cip_patch *patch, cip_err *err)
{
    char name[PATH_MAX];
    struct stat of_file;
    int fd = -1;
    cip_bytes in = { NULL, 0 };
    cip_err own = CIP_ERR_INIT;
    cip_patch p = { .arena = { .mem = patch->arena.mem } };
    cip_journal_state found = CIP_JOURNAL_NONE;
    if (cip_target_stat(s->file, &of_file) && journal_path(s, suffix, name))
        CIP_TRY(open_journal(name, &of_file, &fd, &found, s->why, err));
    if (fd == -1) {
        *state = found;
        return CIP_OK;
    }
    cip_status st = read_all(s->env, fd, name, &p.arena, &in, &own);
    if (st == CIP_OK)
        st = judge(s->env, in, s->file, &of_file, &p, &own);
    if (st == CIP_OK && strcmp(suffix, SEALED) == 0)
        st = check_sealed(s->file, &p, &own);
    if (st == CIP_OK) {
        cip_patch_clear(patch);
        *patch = p;
        *state = CIP_JOURNAL_APPLIES;
        return CIP_OK;
    }
    cip_patch_clear(&p);
    if (!cip_is_about_content(st)) {
        cip_err_pass(err, &own);
        return st;
    }
    snprintf(s->why, WHY, "%s", own.text);
    *state = CIP_JOURNAL_ALIEN;
    return CIP_OK;
}

/* How far the writes to the file itself have got that change bytes. */
typedef struct progress {
    bool any_old, any_new;
} progress;

static cip_status look_at_write(cip_io *file, const cip_patch_op *op, uint8_t *piece, progress *at,
                                cip_err *err)
{
    size_t got;
    for (size_t done = 0; done < op->before.len; done += got) {
        size_t want = (size_t)cip_min_u64(op->before.len - done, PIECE);
        CIP_TRY(cip_io_read_some(file, op->offset + done, piece, want, &got, err));
        for (size_t i = 0; i < got; i++) {
            if (op->before.ptr[done + i] == op->after.ptr[done + i])
                continue;
            if (piece[i] == op->after.ptr[done + i])
                at->any_new = true;
            else
                at->any_old = true;
        }
        if (got == 0)
            break;
    }
    return CIP_OK;
}

/* Whether an unsealed update left something that is to be left out, bytes behind the old end or
 * members: it changed nothing below yet. One that is complete (its switch is made, which one with
 * members has not), or is in no state that it could have left, cuts nothing. */
static cip_status is_torn(cip_env *env, cip_io *file, const cip_patch *p, bool *torn, cip_err *err)
{
    void *piece = NULL;
    progress at = { false, false };
    bool members = false;
    cip_status st;
    CIP_GO(cip_mem_get(&env->mem, PIECE, &piece, err));
    for (size_t i = 0; i < p->n; i++) {
        const bool own = cip_patch_op_own(&p->op[i]);
        members = members || !own;
        if (p->op[i].kind == CIP_PATCH_WRITE && own)
            CIP_GO(look_at_write(file, &p->op[i], piece, &at, err));
    }
    *torn = (file->size > p->old_len || members) && !at.any_new;
done:
    cip_mem_put(&env->mem, piece);
    return st;
}

/* *ours: a record of this file lies there, torn or not. */
static cip_status find_unsealed(const search *s, cip_journal_state *state, cip_patch *patch,
                                bool *ours, cip_err *err)
{
    char why[WHY];
    bool torn = false;
    cip_status st = CIP_OK;
    cip_patch p = { .arena = { .mem = patch->arena.mem } };
    cip_err own = CIP_ERR_INIT;
    search quiet = *s;
    quiet.why = why;
    *state = CIP_JOURNAL_NONE;
    st = find(&quiet, UNSEALED, state, &p, &own);
    if (st == CIP_ERR_IO) /* it gets its mode before it counts */
        return CIP_OK;
    if (st != CIP_OK)
        cip_err_pass(err, &own);
    CIP_TRY(st);
    *ours = *state == CIP_JOURNAL_APPLIES;
    if (*ours)
        CIP_GO(is_torn(s->env, s->file, &p, &torn, err));
    *state = CIP_JOURNAL_NONE;
    if (torn) {
        cip_patch_op cut = { .kind = CIP_PATCH_LENGTH, .offset = p.old_len };
        cip_patch_clear(patch);
        CIP_GO(cip_patch_add(patch, &cut, err));
        for (size_t i = 0; i < p.n; i++) { /* members that are not to be, and others' old lengths */
            uint64_t inode;
            cip_patch_op op = p.op[i];
            if (op.kind == CIP_PATCH_CREATE || cip_member_op_was(&op, &inode, &op.offset))
                CIP_GO(cip_patch_add(patch, &op, err));
        }
        patch->old_len = s->file->size;
        patch->new_len = p.old_len;
        *state = CIP_JOURNAL_UNSEALED;
    }
done:
    cip_patch_clear(&p);
    return st;
}

static cip_status find_either(const search *s, cip_journal_state *state, cip_patch *patch,
                              bool *ours, cip_err *err)
{
    *ours = false;
    CIP_TRY(find(s, SEALED, state, patch, err));
    if (*state == CIP_JOURNAL_NONE)
        return find_unsealed(s, state, patch, ours, err);
    *ours = *state == CIP_JOURNAL_APPLIES;
    return CIP_OK;
}

/* What the update did counts already: a record that is left of it says nothing to readers. */
static cip_status find_settled(const search *s, cip_journal_state *state, cip_patch *patch,
                               cip_err *err)
{
    bool ours;
    cip_journal_state found;
    cip_patch p = { .arena = { .mem = patch->arena.mem } };
    cip_status st = find_either(s, &found, &p, &ours, err);
    cip_patch_clear(&p);
    if (st == CIP_OK)
        *state = ours ? CIP_JOURNAL_SETTLED : CIP_JOURNAL_NONE;
    return st;
}

/* Whether its records would be called so by the name that the file has now. */
static bool is_own_name(const search *s)
{
    char now[PATH_MAX], then[PATH_MAX];
    search own = *s;
    own.base = NULL;
    return journal_path(s, SEALED, then) && journal_path(&own, SEALED, now) &&
           strcmp(then, now) == 0;
}

/* The record that the file itself points to. *lost: it is not there, or what lies there, under
 * another name than the file's, is another file's. */
static cip_status find_pointed(const search *s, cip_journal_state *state, cip_patch *patch,
                               bool *lost, cip_err *err)
{
    bool ours = false;
    *state = CIP_JOURNAL_NONE;
    if (s->base != NULL)
        CIP_TRY(find_either(s, state, patch, &ours, err));
    bool alien = *state == CIP_JOURNAL_ALIEN || *state == CIP_JOURNAL_IGNORED;
    *lost = !ours && !(alien && is_own_name(s));
    return CIP_OK;
}

/* A record that is not found is lost, unless its update has ended meanwhile, and perhaps another
 * one begun. */
cip_status cip_journal_find(cip_env *env, const char *path, cip_io *file, cip_journal_state *state,
                            cip_patch *patch, char *why, cip_err *err)
{
    char real[PATH_MAX];
    uint64_t off = 0;
    const int fd = cip_io_descriptor(file, &off);
    search s = { .env = env, .path = path, .file = file, .why = why };
    cip_record then = { .state = CIP_RECORD_NONE }, now = then;
    cip_journal_state found;
    bool ours, lost;
    if (fd != -1)
        CIP_TRY(cip_record_get(fd, &now, err));
    if (fd != -1 && !cip_io_is_folder(file))
        s.path = cip_io_followed(file, path, real); /* beside what a link points to */
    do {
        then = now;
        lost = false;
        s.base = then.name[0] != '\0' ? then.name : NULL;
        if (then.state == CIP_RECORD_NONE)
            CIP_TRY(find_either(&s, &found, patch, &ours, err));
        else if (then.state == CIP_RECORD_SETTLED)
            CIP_TRY(find_settled(&s, &found, patch, err));
        else
            CIP_TRY(find_pointed(&s, &found, patch, &lost, err));
        if (lost)
            CIP_TRY(cip_record_get(fd, &now, err));
    } while (lost && (now.state != then.state || strcmp(now.nonce, then.nonce) != 0));
    if (lost) {
        if (s.base != NULL)
            snprintf(s.why, WHY,
                     "its record, '.%.100s.cip-journal' or '.cip-tmp', is not beside it", s.base);
        else
            snprintf(s.why, WHY, "the location of its record cannot be read");
        found = CIP_JOURNAL_LOST;
    }
    *state = found;
    return CIP_OK;
}
