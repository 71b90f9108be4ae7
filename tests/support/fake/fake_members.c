/* SPDX-License-Identifier: BSD-3-Clause
 * The fake format's members: what a revision says of them, and how they are read. */
#include "support/fake/fake_members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"

/* An entry of the index: state, whether it is stored as it is, bytes of a value; then of 8 bytes
 * each where it begins in the array, its length there, its place and its length in "all"; 8 of a
 * value, 16 of a sum. */
enum { ENTRY = 64, RAW_OFF = 8, RAW_LEN = 16, OFF = 24, LEN = 32, VALUE = 40, SUM = 48 };

/* A revision as it is put together. */
typedef struct reviser {
    cip_revision *r;
    const fake_members *was, *now;
    const fake_stored *s;
    uint8_t *index; /* as it will be */
    bool stays;     /* the folder and the kind are the same */
} reviser;

static const char *name_in(const fake_members *m, const char *what, char out[40])
{
    snprintf(out, 40, "%.8s/%.28s", m->name, what);
    return out;
}

static const char *name_of(const fake_members *m, size_t i, char out[40])
{
    snprintf(out, 40, "%.8s/%zu", m->name, i);
    return out;
}

static bool has_data(const uint8_t *index, size_t n, size_t i)
{
    return i < n && index[i * ENTRY] == CIP_CHUNK_DATA;
}

static bool will_have_data(const reviser *v, size_t i)
{
    return i < v->s->nstored && v->s->chunk[i].state == CIP_CHUNK_DATA;
}

/* Whether chunk i lies in the old members; its number there, or its place in "all". */
static bool is_kept(const reviser *v, size_t i, uint64_t *from)
{
    const cip_chunk *c = &v->s->chunk[i];
    if (!will_have_data(v, i) || c->at.in != v->was->space)
        return false;
    *from = v->was->together ? c->at.off : c->at.off >> CIP_IO_NUMBER_SHIFT;
    return true;
}

static void add_bytes(cip_revision *as, const cip_chunk *c)
{
    FAKE_MUST(cip_revision_range(as, c->at.in->io, c->at.off, c->at.len, err));
}

static cip_revision *make(const reviser *v, const char *name)
{
    cip_revision *as;
    FAKE_MUST(cip_revision_make(v->r, name, &as, err));
    return as;
}

static cip_revision *replace(const reviser *v, const char *name)
{
    cip_revision *as;
    FAKE_MUST(cip_revision_replace(v->r, name, NULL, &as, err));
    return as;
}

static cip_revision *change(const reviser *v, const char *name)
{
    cip_revision *as;
    FAKE_MUST(cip_revision_change(v->r, name, NULL, &as, err));
    return as;
}

/* --- a member for each chunk ------------------------------------------------------------------ */

/* A name can change hands if its new owner comes as it is, and what has it now goes as it is or
 * nothing new takes its own name. What of the moves that begin as possible cannot be is copied. */
static void find_moves(const reviser *v, bool *moves, size_t n)
{
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < n; i++) {
            uint64_t from, back;
            if (!moves[i] || !is_kept(v, i, &from))
                continue;
            bool stands = v->stays && has_data(v->was->index, v->was->n, i);
            for (size_t k = 0; stands && k < n; k++)
                stands = !(moves[k] && is_kept(v, k, &back) && back == i);
            if (stands || (v->stays && will_have_data(v, (size_t)from) && !moves[from])) {
                moves[i] = false;
                again = true;
            }
        }
    }
}

/* As many as can be, in an order in which each name is free; *gone: of old members. */
static void rename_moves(const reviser *v, bool *moves, bool *gone, size_t n)
{
    char old[40], new[40];
    for (bool again = true; again;) {
        again = false;
        for (size_t i = 0; i < n; i++) {
            uint64_t from;
            if (!moves[i] || !is_kept(v, i, &from) ||
                (v->stays && has_data(v->was->index, v->was->n, i) && !gone[i]))
                continue;
            FAKE_MUST(cip_revision_rename(v->r, name_of(v->was, (size_t)from, old),
                                          name_of(v->now, i, new), NULL, err));
            gone[from] = again = true;
            moves[i] = false;
        }
    }
}

/* Chunks of new data, copies, and what goes. */
static void put_others(const reviser *v, const bool *moved, const bool *gone, size_t n)
{
    char name[40];
    for (size_t i = 0; i < n; i++) {
        uint64_t from;
        bool there = has_data(v->was->index, v->was->n, i) && !v->was->together;
        bool rests = v->stays && !v->now->together && is_kept(v, i, &from) && from == i;
        if (will_have_data(v, i) && !moved[i] && !rests)
            add_bytes(there && v->stays ? replace(v, name_of(v->now, i, name))
                                        : make(v, name_of(v->now, i, name)),
                      &v->s->chunk[i]);
        if (there && !gone[i] && (!v->stays || !will_have_data(v, i)))
            FAKE_MUST(cip_revision_unlink(v->r, name_of(v->was, i, name), NULL, err));
    }
}

static void revise_apart(const reviser *v)
{
    size_t n = v->was->n > v->s->nstored ? v->was->n : v->s->nstored;
    bool *moves = fake_keep(v->s->f, n), *moved = fake_keep(v->s->f, n),
         *gone = fake_keep(v->s->f, n);
    for (size_t i = 0; i < n && !v->was->together; i++) {
        uint64_t from;
        moves[i] = is_kept(v, i, &from) && !(v->stays && from == i);
    }
    find_moves(v, moves, n);
    memcpy(moved, moves, n);
    rename_moves(v, moves, gone, n);
    for (size_t i = 0; i < n; i++)
        moved[i] = moved[i] && !moves[i];
    put_others(v, moved, gone, n);
}

/* --- all in one ------------------------------------------------------------------------------- */

static void set_place(const reviser *v, size_t i, uint64_t off)
{
    cip_store_u64(v->index + i * ENTRY + OFF, off, false);
}

static void unlink_old(const reviser *v)
{
    char name[40];
    for (size_t i = 0; i < v->was->n && !v->was->together; i++)
        if (has_data(v->was->index, v->was->n, i))
            FAKE_MUST(cip_revision_unlink(v->r, name_of(v->was, i, name), NULL, err));
    if (v->was->together)
        FAKE_MUST(cip_revision_unlink(v->r, name_in(v->was, "all", name), NULL, err));
}

/* Chunks one behind the other, and no others. */
static void put_all(const reviser *v, cip_revision *as)
{
    uint64_t at = 0;
    for (size_t i = 0; i < v->s->nstored; i++)
        if (will_have_data(v, i)) {
            add_bytes(as, &v->s->chunk[i]);
            set_place(v, i, at);
            at += v->s->chunk[i].at.len;
        }
}

/* Over an old chunk of the same number that nothing is made of any more, if it was as long. */
static bool put_over(const reviser *v, cip_revision *as, size_t i, const bool *live)
{
    const cip_chunk *c = &v->s->chunk[i];
    const uint8_t *old = v->was->index + i * ENTRY;
    if (!has_data(v->was->index, v->was->n, i) || c->at.len > cip_load_u64(old + LEN, false) ||
        live[cip_load_u64(old + OFF, false)])
        return false;
    uint8_t *bytes = fake_keep(v->s->f, (size_t)c->at.len);
    FAKE_MUST(cip_io_read(c->at.in->io, c->at.off, bytes, (size_t)c->at.len, err));
    FAKE_MUST(cip_patch_write(&as->patch, "", cip_load_u64(old + OFF, false),
                              (cip_bytes){ NULL, 0 }, (cip_bytes){ bytes, (size_t)c->at.len },
                              err));
    set_place(v, i, cip_load_u64(old + OFF, false));
    return true;
}

/* In place, and at the end. */
static void put_new(const reviser *v, cip_revision *as)
{
    uint64_t at = v->was->io->size, from;
    bool *live = fake_keep(v->s->f, (size_t)at + 1);
    as->has_tail = true;
    as->tail_off = at;
    for (size_t i = 0; i < v->s->nstored; i++)
        if (is_kept(v, i, &from)) {
            live[from] = true;
            set_place(v, i, from);
        }
    for (size_t i = 0; i < v->s->nstored; i++) {
        const cip_chunk *c = &v->s->chunk[i];
        if (!will_have_data(v, i) || is_kept(v, i, &from) || put_over(v, as, i, live))
            continue;
        add_bytes(as, c);
        set_place(v, i, at);
        at += c->at.len;
    }
}

static bool all_kept(const reviser *v)
{
    uint64_t from;
    for (size_t i = 0; i < v->s->nstored; i++)
        if (will_have_data(v, i) && !is_kept(v, i, &from))
            return false;
    return v->was->together;
}

static void revise_together(const reviser *v)
{
    char old[40], new[40];
    uint64_t from;
    name_in(v->was, "all", old);
    name_in(v->now, "all", new);
    if (v->stays && fake_chance(v->s->f, 4)) {
        put_all(v, replace(v, new));
    } else if (v->stays) {
        put_new(v, change(v, new));
    } else if (all_kept(v)) {
        FAKE_MUST(cip_revision_rename(v->r, old, new, NULL, err));
        for (size_t i = 0; i < v->s->nstored; i++)
            if (is_kept(v, i, &from))
                set_place(v, i, from);
    } else {
        put_all(v, make(v, new));
        unlink_old(v);
    }
}

/* --- the index -------------------------------------------------------------------------------- */

static void fill_index(const reviser *v)
{
    for (size_t i = 0; i < v->s->nstored; i++) {
        const cip_chunk *c = &v->s->chunk[i];
        uint8_t *e = v->index + i * ENTRY;
        e[0] = c->state;
        e[1] = c->codec == &cip_codec_stored;
        cip_store_u64(e + RAW_OFF, c->raw_off, false);
        cip_store_u64(e + RAW_LEN, c->raw_len, false);
        if (c->state == CIP_CHUNK_VALUE)
            memcpy(e + VALUE, c->value, e[2] = (uint8_t)c->value_len);
        if (c->state == CIP_CHUNK_DATA) {
            cip_store_u64(e + LEN, c->at.len, false);
            memcpy(e + SUM, c->sum, ENTRY - SUM);
        }
    }
}

/* Entries in place, and those at the end. */
static void change_index(const reviser *v, cip_revision *as)
{
    size_t both = v->was->n < v->s->nstored ? v->was->n : v->s->nstored;
    for (size_t i = 0; i < both; i++)
        if (memcmp(v->index + i * ENTRY, v->was->index + i * ENTRY, ENTRY) != 0)
            FAKE_MUST(cip_patch_write(&as->patch, "", i * ENTRY, (cip_bytes){ NULL, 0 },
                                      (cip_bytes){ v->index + i * ENTRY, ENTRY }, err));
    as->has_tail = true;
    as->tail_off = both * ENTRY;
    FAKE_MUST(cip_revision_bytes(as, v->index + both * ENTRY, (v->s->nstored - both) * ENTRY, err));
}

static void revise_index(const reviser *v)
{
    char name[40];
    const bool there = strcmp(v->was->name, v->now->name) == 0;
    if (v->was->name[0] != '\0' && !there)
        FAKE_MUST(cip_revision_unlink(v->r, name_in(v->was, "index", name), NULL, err));
    name_in(v->now, "index", name);
    if (there && !fake_chance(v->s->f, 4))
        change_index(v, change(v, name));
    else
        FAKE_MUST(cip_revision_bytes(there ? replace(v, name) : make(v, name), v->index,
                                     v->s->nstored * ENTRY, err));
    FAKE_MUST(cip_revision_switch(v->r, name, err));
}

void fake_members_revise(cip_revision *r, const fake_members *was, const fake_members *now,
                         const fake_stored *s)
{
    reviser v = { .r = r, .was = was, .now = now, .s = s };
    v.index = fake_keep(s->f, s->nstored * ENTRY);
    v.stays = strcmp(was->name, now->name) == 0 && was->together == now->together;
    fill_index(&v);
    if (now->together)
        revise_together(&v);
    else
        revise_apart(&v);
    if (was->together && !now->together)
        unlink_old(&v);
    revise_index(&v);
    if (was->name[0] != '\0' && strcmp(was->name, now->name) != 0)
        FAKE_MUST(cip_revision_unlink_folder(r, was->name, err));
}

void fake_members_remove(cip_revision *r, const fake_members *was)
{
    const reviser v = { .r = r, .was = was };
    char name[40];
    unlink_old(&v);
    FAKE_MUST(cip_revision_unlink(r, name_in(was, "index", name), NULL, err));
    FAKE_MUST(cip_revision_unlink_folder(r, was->name, err));
}

/* --- reading ---------------------------------------------------------------------------------- */

static void place(void *user, uint64_t i, cip_io **of, char name[CIP_IO_NUMBER_NAME])
{
    const fake_members *m = user;
    (void)of;
    snprintf(name, CIP_IO_NUMBER_NAME, "%.8s/%" PRIu64, m->name, i);
}

static void read_chunk(const fake_members *m, fake_stored *s, size_t i)
{
    const uint8_t *e = m->index + i * ENTRY;
    cip_chunk *c = &s->chunk[i];
    *c = (cip_chunk){ .state = e[0],
                      .raw_off = cip_load_u64(e + RAW_OFF, false),
                      .raw_len = cip_load_u64(e + RAW_LEN, false) };
    if (c->state == CIP_CHUNK_VALUE) {
        c->value_len = e[2];
        c->value = memcpy(fake_keep(s->f, e[2]), e + VALUE, e[2]);
    }
    if (c->state == CIP_CHUNK_DATA) {
        c->at = (cip_extent){ .in = m->space, .len = cip_load_u64(e + LEN, false) };
        c->at.off = m->together ? cip_load_u64(e + OFF, false) : (uint64_t)i << CIP_IO_NUMBER_SHIFT;
        c->codec = e[1] ? &cip_codec_stored : NULL;
        c->sum_id = s->form.sum_id;
        memcpy(c->sum, e + SUM, ENTRY - SUM);
    }
    s->have[i] = true;
}

void fake_members_open(fake *f, cip_io *set, fake_members *m, fake_stored *s)
{
    char name[40];
    cip_io *index;
    m->set = set;
    FAKE_MUST(cip_io_open_beneath(set, name_in(m, "index", name), 0, &index, err));
    m->n = (size_t)index->size / ENTRY;
    m->index = fake_keep(f, (size_t)index->size);
    FAKE_MUST(cip_io_read(index, 0, m->index, m->n * ENTRY, err));
    cip_io_close(index);
    if (m->together)
        FAKE_MUST(cip_io_open_beneath(set, name_in(m, "all", name), 0, &m->io, err));
    else
        FAKE_MUST(cip_io_open_numbered(set, 0, place, m, &m->io, err));
    FAKE_MUST(cip_space_new_file(f->layout, m->io, &m->space, err));
    s->nstored = m->n;
    for (size_t i = 0; i < m->n; i++)
        read_chunk(m, s, i);
}

void fake_members_close(fake_members *m)
{
    cip_io_close(m->io);
    m->io = NULL;
    m->space = NULL;
}

size_t fake_members_count(const fake_members *m)
{
    size_t n = m->together ? 2 : 1;
    for (size_t i = 0; i < m->n && !m->together; i++)
        n += has_data(m->index, m->n, i);
    return n;
}
