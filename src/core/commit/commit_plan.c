/* SPDX-License-Identifier: BSD-3-Clause
 * What a revision changes in a file, found by comparing the two, and the safest cheap way to get it
 * there. Bytes that stay equal are never written. */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/num.h"
#include "core/commit/commit_impl.h"

enum { SECTOR = 512 /* what a disk writes whole or not at all */ };

/* A plan as it is worked out. */
typedef struct finder {
    cip_commit *c;
    cip_commit_plan *p;
    cip_runs runs; /* of the file itself */
} finder;

/* Bytes that a journal may have: less where memory is short, as it is made there. */
uint64_t cip_commit_journal_most(const cip_commit *c)
{
    return cip_min_u64(CIP_JOURNAL_MAX, c->env->limits.max_memory / 4) - 4096;
}

/* --- several names ---------------------------------------------------------------------------- */

/* Whether the file has this many names in its folder. */
static bool has_names(const cip_commit *c, uint64_t many)
{
    int fd = openat(c->place.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd != -1 ? fdopendir(fd) : NULL;
    struct stat st;
    const struct dirent *e;
    if (dir == NULL) {
        close(fd); /* -1 is fine */
        return false;
    }
    while (many != 0 && (e = readdir(dir)) != NULL)
        if ((e->d_type == DT_REG || e->d_type == DT_UNKNOWN) &&
            fstatat(c->place.dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_dev == c->st.st_dev && st.st_ino == c->st.st_ino)
            many--;
    closedir(dir);
    return many == 0;
}

/* Whether an update with a record beside the file, if it were cut off, would be found under every
 * name of it. */
static bool is_found(const cip_commit *c)
{
    struct stat st;
    return fstat(c->fd, &st) == 0 &&
           (st.st_nlink <= 1 || (cip_record_able(c->fd) && has_names(c, st.st_nlink)));
}

static bool keeps_record(const cip_commit_plan *p, const cip_commit *c)
{
    return p->way == CIP_WAY_APPEND || p->way == CIP_WAY_JOURNAL ||
           (p->way == CIP_WAY_SWITCH && p->after->size != c->io->size);
}

static cip_status choose_for_links(finder *f, cip_err *err)
{
    const cip_commit *c = f->c;
    if (cip_commit_has_target(c) || c->folder || !keeps_record(f->p, c) || is_found(c))
        return CIP_OK;
    if (!c->break_links)
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "the file has several names (hard links), and an interrupted update could not be found "
            "under all of them; .break_links replaces the file under this name");
    f->p->way = CIP_WAY_REPLACE;
    return CIP_OK;
}

static bool has_too_much(const finder *f)
{
    return cip_runs_bytes(&f->runs) > cip_commit_journal_most(f->c);
}

static cip_commit_way choose(const finder *f)
{
    uint64_t was = f->c->io->size, becomes = f->p->after->size;
    if (f->runs.n == 0 && was == becomes)
        return CIP_WAY_NOTHING;
    if (f->p->r->anew || has_too_much(f))
        return CIP_WAY_REPLACE;
    if (f->runs.n == 0)
        return becomes < was ? CIP_WAY_CUT : CIP_WAY_APPEND;
    if (f->runs.n == 1 && becomes >= was &&
        f->runs.run[0].from / SECTOR == (f->runs.run[0].to - 1) / SECTOR)
        return CIP_WAY_SWITCH;
    return CIP_WAY_JOURNAL;
}

static cip_status fill_patch(finder *f, cip_err *err)
{
    cip_commit_plan *p = f->p;
    p->nrun = f->runs.n;
    p->nbytes = f->runs.nbytes;
    p->patch.old_len = f->c->io->size;
    p->patch.new_len = p->after->size;
    if (p->way == CIP_WAY_REPLACE)
        return CIP_OK;
    CIP_TRY(cip_commit_add_writes(&p->patch, "", &f->runs, err));
    if (p->way == CIP_WAY_APPEND || (p->nmember != 0 && f->runs.n == 0)) {
        /* An append changes no byte that could tell its file later on; so its record, where there
         * is one, names some that stay, at both ends of what there is. */
        uint64_t size = f->c->io->size, n = cip_min_u64(size / 2, SECTOR);
        if (n != 0 && !cip_commit_has_target(f->c)) {
            cip_run ends[] = { { 0, n }, { size - n, size } };
            const cip_runs both = {
                .was = f->runs.was, .after = f->runs.after, .run = ends, .n = 2
            };
            CIP_TRY(cip_commit_add_writes(&p->patch, "", &both, err));
        }
    }
    cip_patch_op length = { .kind = CIP_PATCH_LENGTH, .offset = p->after->size };
    return p->patch.new_len != p->patch.old_len ? cip_patch_add(&p->patch, &length, err) : CIP_OK;
}

static cip_status find_runs(finder *f, cip_err *err)
{
    const cip_commit_plan *p = f->p;
    /* one that is made anew only needs to know whether there is anything to do */
    if (!p->r->anew || p->r->nmember != 0 || f->c->io->size == p->after->size)
        CIP_TRY(cip_commit_compare(&f->runs, p->r, cip_commit_journal_most(f->c), err));
    /* Several runs in one sector are one. */
    cip_runs *r = &f->runs;
    if (r->n >= 2 && r->run[0].from / SECTOR == (r->run[r->n - 1].to - 1) / SECTOR) {
        r->run[0].to = r->run[r->n - 1].to;
        r->n = 1;
        r->nbytes = r->run[0].to - r->run[0].from;
    }
    f->p->way = choose(f);
    CIP_TRY(cip_commit_members_plan(f->c, f->p, cip_runs_bytes(&f->runs), err));
    /* Members change by a journal, whatever else there is to change: it says which. */
    if (f->p->nmember != 0)
        f->p->way = has_too_much(f) ? CIP_WAY_REPLACE : CIP_WAY_JOURNAL;
    CIP_TRY(choose_for_links(f, err));
    if (f->p->nmember != 0 && f->p->way != CIP_WAY_JOURNAL && !cip_commit_has_target(f->c))
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "a file that must be replaced cannot change in one update with the files beside it");
    return fill_patch(f, err);
}

cip_status cip_commit_plan_make(cip_commit *c, const cip_revision *r, cip_commit_plan *p,
                                cip_err *err)
{
    finder f = { .c = c, .p = p };
    *p = (cip_commit_plan){ .r = r, .patch = { .arena = { .mem = &c->env->mem } } };
    /* Bytes that nothing names are known of the file itself alone. */
    for (size_t i = 0; i < r->nmember; i++)
        if (r->member[i].as != NULL && r->member[i].as->nplaced != 0)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "pieces placed in a member");
    CIP_TRY(cip_io_open_revision(c->io, r, &p->after, err));
    f.runs = (cip_runs){ .was = c->io, .after = p->after };
    cip_status st = find_runs(&f, err);
    cip_runs_clear(&f.runs);
    return st;
}

void cip_commit_plan_clear(cip_commit_plan *p)
{
    cip_io_close(p->after);
    cip_patch_clear(&p->patch); /* and with it the members */
    p->after = NULL;
}

/* Goes on with the sentence "would ... and ...": where its next words go. */
static size_t next_deed(char *text, size_t cap)
{
    const size_t len = strlen(text);
    snprintf(text + len, cap - len, len == 0 ? "would " : " and ");
    return strlen(text);
}

/* Says what happens to the file itself; nothing if only files beside it change. */
static void say_file(const cip_commit *c, const cip_commit_plan *p, char *text, size_t cap)
{
    const uint64_t was = c->io->size, size = p->after->size, more = cip_bytes_left(size, was),
                   placed = cip_revision_placed_len(p->r);
    size_t len;
    if (more != 0 && p->way != CIP_WAY_REPLACE) {
        len = next_deed(text, cap);
        snprintf(text + len, cap - len, "append %" PRIu64 " byte%s", more, more == 1 ? "" : "s");
    }
    if (p->way == CIP_WAY_SWITCH || (p->way == CIP_WAY_JOURNAL && p->nbytes != 0)) {
        len = next_deed(text, cap);
        snprintf(text + len, cap - len, "change %" PRIu64 " byte%s in ", p->nbytes,
                 p->nbytes == 1 ? "" : "s");
        len = strlen(text);
        if (p->way == CIP_WAY_SWITCH)
            snprintf(text + len, cap - len, "place, at byte %" PRIu64, p->patch.op[0].offset);
        else if (p->nrun == 1)
            snprintf(text + len, cap - len, "place");
        else
            snprintf(text + len, cap - len, "%zu places", p->nrun);
    }
    if (p->r->nplaced != 0) {
        len = next_deed(text, cap);
        snprintf(text + len, cap - len, "fill %" PRIu64 " unused bytes", placed);
    }
    len = strlen(text);
    if (len != 0 || size != was)
        snprintf(text + len, cap - len, "%sthe file %s %" PRIu64 " bytes long",
                 len == 0 ? "" : "; ", size == was ? "stays" : "becomes", size);
}

static void say_members(const cip_revision *r, bool folder, char *text, size_t cap)
{
    static const char *const words[][2] = { { "make", "" },
                                            { "replace", "" },
                                            { "change", " in place" },
                                            { "rename", "" },
                                            { "remove", "" } };
    size_t n[CIP_MEMBER_GONE + 1] = { 0 }, len = strlen(text);
    const char *between = len == 0 ? "would" : "; would", *what = folder ? " file" : " other file";
    for (size_t i = 0; i < r->nmember; i++)
        if (r->member[i].change <= CIP_MEMBER_GONE)
            n[r->member[i].change]++;
    for (size_t k = 0; k <= CIP_MEMBER_GONE && len < cap; k++) {
        if (n[k] == 0)
            continue;
        len += (size_t)snprintf(text + len, cap - len, "%s %s %zu%s%s%s", between, words[k][0],
                                n[k], what, *what == '\0' || n[k] == 1 ? "" : "s", words[k][1]);
        between = ",";
        what = "";
    }
}

cip_status cip_commit_kind(cip_commit *c, const cip_revision *r, char *text, size_t cap,
                           cip_err *err)
{
    cip_commit_plan p;
    cip_status st;
    text[0] = '\0';
    CIP_GO(cip_commit_plan_make(c, r, &p, err));
    const uint64_t size = p.after->size;
    if (p.way == CIP_WAY_CUT)
        snprintf(text, cap, "would cut the file to %" PRIu64 " bytes", size);
    else if (p.way == CIP_WAY_REPLACE)
        snprintf(text, cap, "would replace the file by a new one of %" PRIu64 " bytes", size);
    else if (p.way != CIP_WAY_NOTHING && !c->folder)
        say_file(c, &p, text, cap);
    if (r->nmember != 0 && p.way != CIP_WAY_NOTHING)
        say_members(r, c->folder, text, cap);
    if (text[0] == '\0')
        snprintf(text, cap, "would change nothing");
done:
    cip_commit_plan_clear(&p);
    return st;
}
