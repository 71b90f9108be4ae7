/* SPDX-License-Identifier: BSD-3-Clause
 * Revisions seen as files: random ones against a naive model, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "io/io_impl.h"
#include "io/revision_out.h"
#include "io/temporary.h"
#include "support/fail_alloc.h"
#include "support/own_env.h"

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

enum { OLD = 500, OTHER = 300, MOST = 8000 };
typedef struct model {
    uint8_t byte[MOST];
    size_t n;
} model;

/* Changes below `end`. */
static void add_changes(cip_revision *r, model *m, size_t end, uint64_t *seed)
{
    for (uint64_t k = next(seed) % 5; k != 0 && end != 0; k--) {
        uint8_t bytes[40];
        size_t off = next(seed) % end, n = next(seed) % sizeof bytes;
        n = n < end - off ? n : end - off;
        memset(bytes, (int)next(seed), n);
        assert_int_equal(cip_patch_write(&r->patch, "", off, (cip_bytes){ NULL, 0 },
                                         (cip_bytes){ bytes, n }, NULL),
                         CIP_OK);
        memcpy(m->byte + off, bytes, n);
    }
}

/* By the revision as an output; one that takes no segments gets the same bytes. */
static void add_pieces(cip_revision *r, model *m, cip_io *of[2], uint64_t *seed)
{
    cip_io *copy;
    cip_out tail = cip_revision_tail(r), plain;
    const size_t from = m->n;
    uint8_t got[MOST];
    assert_int_equal(cip_temporary_new(&env, NULL, &copy, NULL), CIP_OK);
    plain = cip_temporary_out(copy);
    for (uint64_t k = next(seed) % 12; k != 0; k--) {
        const uint64_t kind = next(seed) % 4;
        uint8_t bytes[60];
        cip_segment s = { .len = next(seed) % 60 };
        if (kind < 2) {
            s.io = of[kind];
            s.off = next(seed) % (s.io->size + 1);
            s.len = s.len < s.io->size - s.off ? s.len : s.io->size - s.off;
            assert_int_equal(cip_io_read(s.io, s.off, bytes, (size_t)s.len, NULL), CIP_OK);
        } else if (kind == 2) {
            for (size_t i = 0; i < s.len; i++)
                bytes[i] = (uint8_t)next(seed);
            s.ptr = bytes;
        } else {
            s.off = s.len % 3;
            memset(bytes, (int)s.off, (size_t)s.len);
        }
        assert_int_equal(cip_out_segment(&tail, &s, NULL), CIP_OK);
        assert_int_equal(cip_out_segment(&plain, &s, NULL), CIP_OK);
        memcpy(m->byte + m->n, bytes, (size_t)s.len);
        if (s.len != 0) { /* what was written can be changed, segments cannot */
            const size_t skip = next(seed) % s.len, n = next(seed) % (s.len - skip) + 1;
            memset(bytes, 0xa5, n);
            assert_int_equal(cip_out_rewrite(&tail, m->n + skip, bytes, n, NULL),
                             kind == 2 ? CIP_OK : CIP_ERR_UNSUPPORTED);
            if (kind == 2) {
                assert_int_equal(cip_out_rewrite(&plain, m->n - from + skip, bytes, n, NULL),
                                 CIP_OK);
                memcpy(m->byte + m->n + skip, bytes, n);
            }
        }
        m->n += (size_t)s.len;
    }
    assert_int_equal(tail.n, m->n);
    assert_int_equal(plain.n, m->n - from);
    if (r->tail_off != 0 && r->tail_len != 0)
        assert_int_equal(cip_out_rewrite(&tail, r->tail_off - 1, got, 1, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_io_read(copy, 0, got, m->n - from, NULL), CIP_OK);
    assert_memory_equal(got, m->byte + from, m->n - from);
    cip_io_close(copy);
}

static void assert_shows(cip_io *io, const model *m, uint64_t *seed)
{
    uint8_t got[MOST];
    assert_int_equal(io->size, m->n);
    assert_int_equal(cip_io_read(io, 0, got, m->n, NULL), CIP_OK);
    assert_memory_equal(got, m->byte, m->n);
    for (int i = 0; i < 20; i++) {
        size_t off = next(seed) % (m->n + 1), n = next(seed) % (m->n - off + 1);
        assert_int_equal(cip_io_read(io, off, got, n, NULL), CIP_OK);
        assert_memory_equal(got, m->byte + off, n);
    }
}

/* Up to three pieces, at rising places in [from, end). */
static void add_placed(cip_revision *r, model *m, cip_io *of, size_t from, size_t end,
                       uint64_t *seed)
{
    for (size_t at = from + next(seed) % 50; at < end; at += next(seed) % 200) {
        size_t n = next(seed) % 30 % (end - at + 1);
        uint8_t bytes[30];
        cip_segment s = { .off = next(seed) % 250, .len = n };
        memset(bytes, (int)s.off, n);
        if (next(seed) % 2 == 0) {
            s.io = of;
            assert_int_equal(cip_io_read(of, s.off, bytes, n, NULL), CIP_OK);
        } else if (next(seed) % 2 == 0) {
            s.ptr = bytes;
        }
        assert_int_equal(cip_revision_place(r, at, &s, NULL), CIP_OK);
        memcpy(m->byte + at, bytes, n);
        at += n;
    }
}

static void a_revision_shows_the_file_as_it_will_be(void **state)
{
    (void)state;
    uint8_t old[OLD], other[OTHER];
    cip_io *of[2], *io;
    uint64_t seed = 1;
    for (size_t i = 0; i < OLD; i++)
        old[i] = (uint8_t)next(&seed);
    for (size_t i = 0; i < OTHER; i++)
        other[i] = (uint8_t)next(&seed);
    assert_int_equal(cip_io_open_memory(&env, old, OLD, "old", &of[0], NULL), CIP_OK);
    assert_int_equal(cip_io_open_memory(&env, other, OTHER, "other", &of[1], NULL), CIP_OK);
    for (int i = 0; i < 3000; i++) {
        cip_revision r = { .patch = { .arena = { .mem = &env.mem } } };
        static model m;
        memcpy(m.byte, old, OLD);
        m.n = OLD;
        uint64_t how = next(&seed) % 3;
        if (how == 0) {
            add_changes(&r, &m, OLD + 30, &seed);
            m.n = (size_t)cip_patch_size_after(&r.patch, OLD);
            memset(m.byte + OLD, 0, m.n - OLD);
            for (size_t k = 0; k < r.patch.n; k++)
                memcpy(m.byte + r.patch.op[k].offset, r.patch.op[k].after.ptr,
                       r.patch.op[k].after.len);
        } else {
            r.anew = how == 2;
            r.has_tail = how == 1 || i % 2 == 0;
            r.tail_off = how == 1 ? next(&seed) % (OLD + 1) : 0;
            const size_t half = (size_t)r.tail_off / 2;
            if (how == 1)
                add_changes(&r, &m, half, &seed);
            add_placed(&r, &m, of[1], half, (size_t)r.tail_off, &seed);
            m.n = (size_t)r.tail_off;
            add_pieces(&r, &m, of, &seed);
        }
        assert_int_equal(cip_revision_new_len(&r, OLD), m.n);
        assert_int_equal(cip_io_open_revision(of[0], &r, &io, NULL), CIP_OK);
        assert_shows(io, &m, &seed);
        cip_io_close(io);
        cip_revision_clear(&r);
        assert_int_equal(r.tail_len, 0);
    }
    cip_io_close(of[0]);
    cip_io_close(of[1]);
}

static void pieces_that_go_on_are_joined(void **state)
{
    (void)state;
    cip_revision r = { .patch = { .arena = { .mem = &env.mem } }, .has_tail = true };
    cip_io *io;
    assert_int_equal(cip_io_open_memory(&env, "0123456789", 10, "old", &io, NULL), CIP_OK);
    assert_int_equal(cip_revision_range(&r, io, 0, 4, NULL), CIP_OK);
    assert_int_equal(cip_revision_range(&r, io, 4, 0, NULL), CIP_OK);
    assert_int_equal(cip_revision_range(&r, io, 4, 6, NULL), CIP_OK);
    assert_int_equal(r.nsegment, 1);
    assert_int_equal(cip_revision_range(&r, io, 9, 1, NULL), CIP_OK);
    assert_int_equal(r.nsegment, 2);
    assert_int_equal(cip_revision_fill(&r, 3, 1, NULL), CIP_OK);
    assert_int_equal(cip_revision_fill(&r, 3, 2, NULL), CIP_OK);
    assert_int_equal(r.nsegment, 3);
    assert_int_equal(cip_revision_fill(&r, 4, 2, NULL), CIP_OK);
    assert_int_equal(r.nsegment, 4);
    assert_int_equal(cip_revision_bytes(&r, "x", 1, NULL), CIP_OK);
    assert_int_equal(r.nsegment, 5);
    assert_int_equal(r.tail_len, 17);
    cip_revision_clear(&r);
    assert_int_equal(r.nsegment, 0);
    assert_false(r.has_tail);
    cip_io_close(io);
}

static cip_status place_at(cip_revision *r, uint64_t at, uint64_t n)
{
    return cip_revision_place(r, at, &(cip_segment){ .off = 7, .len = n }, NULL);
}

static void placed_pieces_rise_and_meet_nothing_else(void **state)
{
    (void)state;
    cip_revision r = { .patch = { .arena = { .mem = &env.mem } }, .has_tail = true };
    const cip_bytes b = { (const uint8_t *)"four", 4 }, none = { NULL, 0 };
    r.tail_off = 100;
    assert_int_equal(place_at(&r, 10, 5), CIP_OK);
    assert_int_equal(place_at(&r, 14, 1), CIP_ERR_ARG);
    assert_int_equal(place_at(&r, 15, 0), CIP_OK);
    assert_int_equal(place_at(&r, 15, 85), CIP_OK);
    assert_int_equal(place_at(&r, UINT64_MAX - 3, 9), CIP_ERR_ARG);
    assert_int_equal(cip_revision_placed_len(&r), 90);
    assert_int_equal(cip_revision_check(&r, 100, NULL), CIP_OK);
    assert_int_equal(cip_revision_check(&r, 120, NULL), CIP_OK);
    r.tail_off = 99;
    assert_int_equal(cip_revision_check(&r, 100, NULL), CIP_ERR_ARG);
    r.tail_off = 0;
    r.anew = true;
    assert_int_equal(cip_revision_check(&r, 100, NULL), CIP_ERR_ARG);
    r.tail_off = 100;
    r.anew = false;
    assert_int_equal(cip_patch_write(&r.patch, "", 6, none, b, NULL), CIP_OK);
    assert_int_equal(cip_revision_check(&r, 100, NULL), CIP_OK);
    assert_int_equal(cip_patch_write(&r.patch, "", 7, none, b, NULL), CIP_OK);
    assert_int_equal(cip_revision_check(&r, 100, NULL), CIP_ERR_ARG);
    cip_revision_clear(&r);
}

static cip_status open_with(cip_revision *r, const char *text)
{
    cip_io *under, *io;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_io_open_memory(&env, "0123456789", 10, "old", &under, NULL), CIP_OK);
    cip_status st = cip_io_open_revision(under, r, &io, &err);
    if (st == CIP_OK) {
        cip_io_close(io);
    } else {
        assert_null(io);
        assert_non_null(strstr(err.text, text));
    }
    cip_io_close(under);
    return st;
}

static void revisions_without_sense_are_refused(void **state)
{
    (void)state;
    cip_revision r = { .patch = { .arena = { .mem = &env.mem } }, .has_tail = true };
    r.tail_off = 10;
    assert_int_equal(open_with(&r, ""), CIP_OK);
    r.tail_off = 11;
    assert_int_equal(open_with(&r, "after the file's end"), CIP_ERR_ARG);
    r.tail_off = 5;
    cip_bytes two = { (const uint8_t *)"ab", 2 }, none = { NULL, 0 };
    assert_int_equal(cip_patch_write(&r.patch, "", 3, none, two, NULL), CIP_OK);
    assert_int_equal(open_with(&r, ""), CIP_OK);
    assert_int_equal(cip_patch_write(&r.patch, "", 4, none, two, NULL), CIP_OK);
    assert_int_equal(open_with(&r, "operation 1 reaches into the tail"), CIP_ERR_ARG);
    r.patch.op[1].offset = 6;
    assert_int_equal(open_with(&r, "operation 1 reaches into the tail"), CIP_ERR_ARG);
    r.anew = true;
    r.tail_off = 0;
    assert_int_equal(open_with(&r, "changes of a file that is rewritten"), CIP_ERR_ARG);
    cip_revision_clear(&r);
    assert_int_equal(cip_patch_write(&r.patch, "x", 0, none, two, NULL), CIP_OK);
    assert_int_equal(open_with(&r, "operation 0 is none on bytes"), CIP_ERR_ARG);
    cip_revision_clear(&r);
    cip_patch_op cut = { .kind = CIP_PATCH_LENGTH, .offset = 4 };
    assert_int_equal(cip_patch_add(&r.patch, &cut, NULL), CIP_OK);
    assert_int_equal(open_with(&r, ""), CIP_OK);
    assert_int_equal(cip_revision_new_len(&r, 10), 4);
    r.has_tail = true;
    assert_int_equal(open_with(&r, "operation 0 is none on bytes"), CIP_ERR_ARG);
    cip_revision_clear(&r);
}

static void pieces_must_lie_in_what_they_are_of(void **state)
{
    (void)state;
    cip_revision r = { .patch = { .arena = { .mem = &env.mem } } };
    cip_io *io;
    assert_int_equal(cip_io_open_memory(&env, "0123456789", 10, "old", &io, NULL), CIP_OK);
    assert_int_equal(cip_revision_range(&r, io, 10, 0, NULL), CIP_OK);
    assert_int_equal(cip_revision_range(&r, io, 11, 0, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_revision_range(&r, io, 5, 6, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_revision_fill(&r, 0, INT64_MAX, NULL), CIP_OK);
    assert_int_equal(cip_revision_fill(&r, 0, 1, NULL), CIP_ERR_LIMIT);
    assert_int_equal(cip_revision_fill(&r, 0, UINT64_MAX, NULL), CIP_ERR_LIMIT);
    assert_int_equal(r.nsegment, 1);
    assert_true(r.tail_len == INT64_MAX);
    cip_revision_clear(&r);
    cip_io_close(io);
}

static void no_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_env small;
        cip_io *under = NULL, *io = NULL;
        assert_int_equal(cip_env_init(&small, NULL, &a, NULL, NULL), CIP_OK);
        cip_revision r = { .patch = { .arena = { .mem = &small.mem } }, .has_tail = true };
        r.tail_off = 2;
        cip_status st = cip_io_open_memory(&small, "0123456789", 10, "old", &under, NULL);
        for (int i = 0; st == CIP_OK && i < 40; i++)
            st = cip_revision_fill(&r, (uint8_t)i, 3, NULL);
        if (st == CIP_OK)
            st = cip_io_open_revision(under, &r, &io, NULL);
        assert_int_equal(st, f.requests < n ? CIP_OK : CIP_ERR_NOMEM);
        assert_int_equal(io != NULL, st == CIP_OK);
        cip_io_close(io);
        cip_io_close(under);
        cip_revision_clear(&r);
        cip_env_clear(&small);
        assert_int_equal(f.held, 0);
        if (f.requests < n)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_revision_shows_the_file_as_it_will_be),
        cmocka_unit_test(pieces_that_go_on_are_joined),
        cmocka_unit_test(placed_pieces_rise_and_meet_nothing_else),
        cmocka_unit_test(revisions_without_sense_are_refused),
        cmocka_unit_test(pieces_must_lie_in_what_they_are_of),
        cmocka_unit_test(no_memory_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
