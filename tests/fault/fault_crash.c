/* SPDX-License-Identifier: BSD-3-Clause
 * Crash images: for every prefix of a log, what was synced is there; of the rest none, all, all but
 * one, or seeded subsets of writes and of their sectors; the last write is torn; creations, renames
 * and removals whose folder was not synced are undone from the last one on. */
#include "fault/fault_crash.h"

#include <stdlib.h>
#include <string.h>

enum { SECTOR = 512, MOST = 512 /* operations of a log */ };

/* How much of each operation is on the disk. */
enum { NONE, ALL, TORN, SECTORS };
typedef struct choice {
    uint8_t how[MOST];
    size_t torn; /* bytes of the one that is */
    uint64_t seed;
} choice;

typedef struct run {
    fault_crash *c;
    const fault_log *log;
    size_t k;                       /* the prefix */
    size_t data[MOST], names[MOST]; /* operations in it that were not synced */
    size_t ndata, nnames;
    uint64_t *seen; /* hashes of images, a table of `cap` */
    size_t nseen, cap;
} run;

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    uint64_t x = *seed;
    x ^= x >> 29;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 32;
}

static bool is_data(const fault_op *op)
{
    return op->kind == FAULT_WRITE || op->kind == FAULT_RESIZE || op->kind == FAULT_NOTED;
}

static bool is_name(const fault_op *op)
{
    return op->kind == FAULT_CREATE || op->kind == FAULT_RENAME || op->kind == FAULT_UNLINK;
}

static void find_unsynced(run *r)
{
    r->ndata = r->nnames = 0;
    for (size_t i = 0; i < r->k; i++) {
        const fault_op *op = &r->log->op[i];
        bool synced = false;
        for (size_t j = i + 1; j < r->k && !synced; j++) {
            const fault_op *s = &r->log->op[j];
            synced = is_data(op) ? s->kind == FAULT_SYNC && s->file == op->file &&
                                       (op->kind != FAULT_NOTED || s->off == 1)
                                 : s->kind == FAULT_SYNC_NAMES && s->folder == op->folder;
        }
        if (!synced && is_data(op))
            r->data[r->ndata++] = i;
        if (!synced && is_name(op))
            r->names[r->nnames++] = i;
    }
}

/* Some of a write's sectors. */
static void apply_sectors(fault_disk *d, const fault_op *op, uint64_t *seed)
{
    for (size_t done = 0; done < op->n;) {
        size_t now = SECTOR - (size_t)((op->off + done) % SECTOR);
        if (now > op->n - done)
            now = op->n - done;
        if (next(seed) % 2 == 0)
            fault_disk_write(d, op->file, op->off + done, op->ptr + done, now);
        done += now;
    }
}

static void make_image(const run *r, const choice *ch, fault_disk *d)
{
    uint64_t seed = ch->seed;
    fault_disk_copy(&r->log->before, d);
    for (size_t i = 0; i < r->k; i++) {
        const fault_op *op = &r->log->op[i];
        fault_op part = *op;
        const fault_op number = { .kind = FAULT_SYNC, .file = op->file };
        fault_disk_apply(d, &number); /* a file has its number even where nothing of it arrived */
        if (ch->how[i] == TORN)
            part.n = ch->torn;
        if (ch->how[i] == SECTORS && op->kind == FAULT_WRITE)
            apply_sectors(d, op, &seed);
        else if (ch->how[i] != NONE)
            fault_disk_apply(d, &part);
    }
}

/* Whether the hash is new; it is kept. */
static bool is_new(run *r, uint64_t hash)
{
    if (hash == 0)
        hash = 1;
    if (2 * r->nseen >= r->cap) {
        size_t cap = r->cap * 2 + 1024;
        uint64_t *t = calloc(cap, sizeof *t);
        if (t == NULL)
            abort();
        for (size_t i = 0; i < r->cap; i++) {
            size_t at = (size_t)(r->seen[i] % cap);
            while (r->seen[i] != 0 && t[at] != 0)
                at = (at + 1) % cap;
            if (r->seen[i] != 0)
                t[at] = r->seen[i];
        }
        free(r->seen);
        r->seen = t;
        r->cap = cap;
    }
    size_t at = (size_t)(hash % r->cap);
    while (r->seen[at] != 0 && r->seen[at] != hash)
        at = (at + 1) % r->cap;
    if (r->seen[at] == hash)
        return false;
    r->seen[at] = hash;
    r->nseen++;
    return true;
}

/* `done`: all operations had returned. */
static bool try_state(run *r, const choice *ch, bool done)
{
    fault_disk d;
    bool ok = true;
    make_image(r, ch, &d);
    if (is_new(r, fault_disk_hash(&d) + done)) {
        r->c->nimage++;
        ok = r->c->image(r->c->user, &d, done);
    }
    fault_disk_clear(&d);
    return ok;
}

static bool try_image(run *r, const choice *ch)
{
    return try_state(r, ch, r->k == r->log->n);
}

/* As much of the unsynced data as there was time for, in their order. */
static bool try_prefixes(run *r, choice *ch)
{
    for (size_t kept = 0; kept <= r->ndata; kept++) {
        for (size_t i = 0; i < r->ndata; i++)
            ch->how[r->data[i]] = i < kept ? ALL : NONE;
        if (!try_image(r, ch))
            return false;
    }
    return true;
}

/* Each way to have the unsynced data, with the names as they are in `ch`. */
static bool try_data(run *r, choice *ch)
{
    for (size_t i = 0; i < r->ndata; i++)
        ch->how[r->data[i]] = NONE;
    if (!try_image(r, ch))
        return false;
    for (size_t i = 0; i < r->ndata; i++)
        ch->how[r->data[i]] = ALL;
    if (!try_image(r, ch))
        return false;
    for (size_t i = 0; i < r->ndata; i++) {
        ch->how[r->data[i]] = NONE;
        if (!try_image(r, ch))
            return false;
        ch->how[r->data[i]] = ALL;
    }
    for (size_t s = 0; s < r->c->nsubset && r->ndata != 0; s++) {
        ch->seed = next(&r->c->seed);
        for (size_t i = 0; i < r->ndata; i++)
            ch->how[r->data[i]] = s % 2 == 0 ? SECTORS : next(&r->c->seed) % 2 == 0 ? ALL : NONE;
        if (!try_image(r, ch))
            return false;
    }
    return true;
}

static size_t torn_at(const run *r, size_t i, size_t n)
{
    size_t few = r->c->ntorn;
    if (few == 0 || n - 1 <= few)
        return i + 1;
    if (i < few / 4)
        return i + 1;
    if (i < few / 2)
        return n - 1 - (i - few / 4);
    return 1 + (size_t)(next(&r->c->seed) % (n - 1));
}

/* The last write cut short, with all or nothing of what else was not synced. */
static bool try_torn(run *r)
{
    const fault_op *op = r->k != 0 ? &r->log->op[r->k - 1] : NULL;
    if (op == NULL || op->kind != FAULT_WRITE || op->off / SECTOR == (op->off + op->n - 1) / SECTOR)
        return true;
    size_t many = r->c->ntorn == 0 || op->n - 1 < r->c->ntorn ? op->n - 1 : r->c->ntorn;
    for (int others = r->c->power && !r->c->ordered ? 0 : 1; others < 2; others++) {
        choice ch = { .torn = 0 };
        memset(ch.how, ALL, sizeof ch.how);
        for (size_t i = 0; i < r->ndata && others == 0; i++)
            ch.how[r->data[i]] = NONE;
        ch.how[r->k - 1] = TORN;
        for (size_t i = 0; i < many; i++) {
            ch.torn = torn_at(r, i, op->n);
            if (!try_state(r, &ch, false))
                return false;
        }
    }
    return true;
}

static bool try_point(run *r)
{
    choice ch = { .torn = 0 };
    memset(ch.how, ALL, sizeof ch.how);
    if (!r->c->power)
        return try_image(r, &ch) && try_torn(r);
    for (size_t kept = 0; kept <= r->nnames; kept++) {
        memset(ch.how, ALL, sizeof ch.how);
        for (size_t i = kept; i < r->nnames; i++)
            ch.how[r->names[i]] = NONE;
        if (!(r->c->ordered ? try_prefixes : try_data)(r, &ch))
            return false;
    }
    return try_torn(r);
}

bool fault_crash_run(fault_crash *c, const fault_log *log)
{
    run r = { .c = c, .log = log };
    bool ok = true;
    if (log->n > MOST)
        abort();
    for (r.k = 0; r.k <= log->n && ok; r.k++) {
        find_unsynced(&r);
        c->npoint++;
        ok = try_point(&r);
    }
    free(r.seen);
    return ok;
}
