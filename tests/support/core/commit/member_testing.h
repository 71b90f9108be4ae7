/* SPDX-License-Identifier: BSD-3-Clause
 * Random revisions of a set of files, and a model of it that knows names and bytes alone. */
#ifndef CIP_TESTS_MEMBER_TESTING_H
#define CIP_TESTS_MEMBER_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "core/commit/commit.h"

enum { MEMBER_NAMES = 12, MEMBER_MOST = 3000 };

static const char *const member_name[MEMBER_NAMES] = { "a",     "b",       "c",     "sub/0",
                                                       "sub/1", "sub/2",   "new/0", "new/x/1",
                                                       "new/2", "other/0", "sizes", "z" };

typedef struct member_model {
    bool there[MEMBER_NAMES];
    size_t n[MEMBER_NAMES];
    uint8_t bytes[MEMBER_NAMES][2 * MEMBER_MOST];
} member_model;

static uint64_t member_seed = 1;

static inline size_t member_any(size_t below)
{
    member_seed = member_seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)((member_seed >> 33) % below);
}

static inline void member_bytes(uint8_t *p, size_t n)
{
    uint8_t first = (uint8_t)member_any(256);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(first + i / 7);
}

static inline void member_random_contents(cip_revision *as, member_model *m, size_t i)
{
    m->n[i] = member_any(MEMBER_MOST);
    member_bytes(m->bytes[i], m->n[i]);
    size_t first = m->n[i] / 3;
    assert_int_equal(cip_revision_bytes(as, m->bytes[i], first, NULL), CIP_OK);
    assert_int_equal(cip_revision_bytes(as, m->bytes[i] + first, m->n[i] - first, NULL), CIP_OK);
    m->there[i] = true;
}

/* A few writes below the tail, which may be shorter or longer than what it takes the place of. */
static inline void member_random_change(cip_revision *as, member_model *m, size_t i)
{
    size_t tail = member_any(m->n[i] + 1), more = member_any(MEMBER_MOST / 4);
    for (size_t k = member_any(4); k > 0 && tail > 4; k--) {
        size_t at = member_any(tail - 4), n = 1 + member_any(4);
        member_bytes(m->bytes[i] + at, n);
        assert_int_equal(cip_patch_write(&as->patch, "", at, (cip_bytes){ NULL, 0 },
                                         (cip_bytes){ m->bytes[i] + at, n }, NULL),
                         CIP_OK);
    }
    if (member_any(3) == 0)
        return;
    as->has_tail = true;
    as->tail_off = tail;
    member_bytes(m->bytes[i] + tail, more);
    assert_int_equal(cip_revision_bytes(as, m->bytes[i] + tail, more, NULL), CIP_OK);
    m->n[i] = tail + more;
}

static inline void member_move(member_model *m, size_t from, size_t to)
{
    m->there[to] = true;
    m->there[from] = false;
    m->n[to] = m->n[from];
    memcpy(m->bytes[to], m->bytes[from], m->n[from]);
}

/* One change of the name, if it is not in the revision yet; `used` is of names in it. */
static inline void member_random(cip_revision *r, member_model *m, size_t i,
                                 bool used[MEMBER_NAMES])
{
    cip_revision *as;
    size_t to = member_any(MEMBER_NAMES), what = member_any(8);
    used[i] = true;
    if (!m->there[i]) {
        assert_int_equal(cip_revision_make(r, member_name[i], &as, NULL), CIP_OK);
        member_random_contents(as, m, i);
    } else if (what < 2) {
        assert_int_equal(cip_revision_replace(r, member_name[i], NULL, &as, NULL), CIP_OK);
        member_random_contents(as, m, i);
    } else if (what < 5) {
        assert_int_equal(cip_revision_change(r, member_name[i], NULL, &as, NULL), CIP_OK);
        member_random_change(as, m, i);
    } else if (what == 5 && !used[to] && !m->there[to]) {
        assert_int_equal(cip_revision_rename(r, member_name[i], member_name[to], NULL, NULL),
                         CIP_OK);
        member_move(m, i, to);
        used[to] = true;
    } else {
        assert_int_equal(cip_revision_unlink(r, member_name[i], NULL, NULL), CIP_OK);
        m->there[i] = false;
    }
    if (m->there[i] && member_any(4) == 0)
        assert_int_equal(cip_revision_switch(r, member_name[i], NULL), CIP_OK);
}

static inline void member_expect(cip_io *io, const member_model *m, size_t i)
{
    uint8_t bytes[2 * MEMBER_MOST];
    cip_io *member;
    size_t n;
    cip_status st = cip_io_open_member(io, member_name[i], 0, &member, NULL);
    assert_int_equal(st, m->there[i] ? CIP_OK : CIP_ERR_NOT_FOUND);
    if (st != CIP_OK)
        return;
    assert_int_equal(member->size, m->n[i]);
    assert_int_equal(cip_io_read_some(member, 0, bytes, sizeof bytes, &n, NULL), CIP_OK);
    assert_int_equal(n, m->n[i]);
    assert_memory_equal(bytes, m->bytes[i], n);
    cip_io_close(member);
}

/* What a listing gives, against the model: files by their full names, folders by what is in them.
 */
typedef struct member_seen {
    cip_io *io;
    const char *path;
    bool file[MEMBER_NAMES];
    size_t n;
} member_seen;

static inline int member_see(void *user, const char *name, bool is_folder)
{
    member_seen *s = user;
    char full[100];
    snprintf(full, sizeof full, "%s%s%s", s->path, s->path[0] != '\0' ? "/" : "", name);
    if (is_folder) {
        member_seen inner = *s;
        inner.path = full;
        assert_int_equal(cip_io_list(s->io, full, 0, member_see, &inner, NULL), CIP_OK);
        memcpy(s->file, inner.file, sizeof s->file);
        s->n = inner.n;
        return 0;
    }
    for (size_t i = 0; i < MEMBER_NAMES; i++)
        s->file[i] |= strcmp(member_name[i], full) == 0;
    s->n += strcmp(full, "x") != 0;
    return 0;
}

static inline void member_expect_names(cip_io *io, const member_model *m)
{
    member_seen s = { .io = io, .path = "" };
    size_t n = 0;
    if (!cip_io_is_folder(io))
        return;
    assert_int_equal(cip_io_list(io, "", 0, member_see, &s, NULL), CIP_OK);
    for (size_t i = 0; i < MEMBER_NAMES; i++) {
        assert_int_equal(s.file[i], m->there[i]);
        n += m->there[i];
    }
    assert_int_equal(s.n, n);
}

static inline cip_revision member_revision(cip_env *env)
{
    return (cip_revision){ .patch = { .arena = { .mem = &env->mem } } };
}

/* A few changes, and what they make of the model. */
static inline void member_fill(cip_revision *r, member_model *m)
{
    bool used[MEMBER_NAMES] = { false };
    for (size_t k = 1 + member_any(5); k > 0; k--) {
        size_t i = member_any(MEMBER_NAMES);
        if (!used[i])
            member_random(r, m, i, used);
    }
}

/* Four members whose new contents are made of each other's old ones: two change places, another
 * ends as the first did, a new one is the second. `was` is theirs, to be closed by the caller. */
enum { MEMBER_EXCHANGED = 4 };
static const char *const member_old[] = { "first", "the second", "third" };
static const char *const member_new[] = { "the second", "first", "thfirst", "the second" };

static inline cip_revision member_exchange(cip_io *set, cip_io *was[3])
{
    cip_revision r = member_revision(set->env), *as[MEMBER_EXCHANGED];
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(cip_io_open_member(set, member_name[i], 0, &was[i], NULL), CIP_OK);
    assert_int_equal(cip_revision_replace(&r, "a", was[0], &as[0], NULL), CIP_OK);
    assert_int_equal(cip_revision_replace(&r, "b", was[1], &as[1], NULL), CIP_OK);
    assert_int_equal(cip_revision_change(&r, "c", was[2], &as[2], NULL), CIP_OK);
    assert_int_equal(cip_revision_make(&r, "sub/0", &as[3], NULL), CIP_OK);
    as[2]->has_tail = true;
    as[2]->tail_off = 2;
    for (size_t i = 0; i < MEMBER_EXCHANGED; i++) {
        cip_io *of = was[i == 0 || i == 3 ? 1 : 0];
        assert_int_equal(cip_revision_range(as[i], of, 0, of->size, NULL), CIP_OK);
    }
    return r;
}

static inline void member_exchanged(cip_io *set, const char *const *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char found[20] = "";
        size_t len;
        cip_io *member;
        assert_int_equal(cip_io_open_member(set, member_name[i], 0, &member, NULL), CIP_OK);
        assert_int_equal(cip_io_read_some(member, 0, found, sizeof found - 1, &len, NULL), CIP_OK);
        assert_string_equal(found, bytes[i]);
        cip_io_close(member);
    }
}

#endif
