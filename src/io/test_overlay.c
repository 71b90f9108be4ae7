/* SPDX-License-Identifier: BSD-3-Clause
 * Patches, and files seen through them: random ones against a naive model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "io/io_impl.h"
#include "support/fail_alloc.h"
#include "support/fault_io.h"
#include "support/temp_folder.h"
#include "support/own_env.h"

#define BYTES(text) ((cip_bytes){ (const uint8_t *)(text), sizeof(text) - 1 })
static const cip_bytes none = { NULL, 0 };

static cip_patch new_patch(void)
{
    return (cip_patch){ .arena = { .mem = &env.mem } };
}

static cip_status add_length(cip_patch *p, uint64_t length)
{
    cip_patch_op op = { .kind = CIP_PATCH_LENGTH, .offset = length };
    return cip_patch_add(p, &op, NULL);
}

static void a_patch_keeps_copies(void **state)
{
    (void)state;
    cip_patch p = new_patch();
    char member[] = "a/b", before[] = "old", after[] = "new!", to[] = "c";
    cip_patch_op rename = { .kind = CIP_PATCH_RENAME, .member = member, .to = to };
    for (unsigned i = 0; i < 40; i++) {
        member[0] = (char)('a' + i % 26);
        assert_int_equal(cip_patch_write(&p, member, i, (cip_bytes){ (uint8_t *)before, 3 },
                                         (cip_bytes){ (uint8_t *)after, 4 }, NULL),
                         CIP_OK);
        assert_int_equal(cip_patch_add(&p, &rename, NULL), CIP_OK);
    }
    memset(before, 0, sizeof before);
    memset(after, 0, sizeof after);
    memset(to, 0, sizeof to);
    assert_int_equal(p.n, 80);
    for (unsigned i = 0; i < 40; i++) {
        const cip_patch_op *op = &p.op[2 * i];
        assert_int_equal(op->kind, CIP_PATCH_WRITE);
        assert_int_equal(op->member[0], 'a' + i % 26);
        assert_string_equal(op->member + 1, "/b");
        assert_string_equal(op->to, "");
        assert_int_equal(op->offset, i);
        assert_int_equal(op->before.len, 3);
        assert_memory_equal(op->before.ptr, "old", 3);
        assert_int_equal(op->after.len, 4);
        assert_memory_equal(op->after.ptr, "new!", 4);
        assert_int_equal(op[1].kind, CIP_PATCH_RENAME);
        assert_string_equal(op[1].to, "c");
    }
    cip_patch_clear(&p);
    assert_int_equal(p.n, 0);
    assert_ptr_equal(p.arena.mem, &env.mem);
    assert_int_equal(env.mem.used, 0);
}

static void operations_without_sense_are_refused(void **state)
{
    (void)state;
    static const cip_patch_op bad[] = {
        { .kind = (cip_patch_kind)0 },
        { .kind = (cip_patch_kind)6 },
        { .kind = CIP_PATCH_WRITE, .member = "/x" },
        { .kind = CIP_PATCH_WRITE, .member = "../x" },
        { .kind = CIP_PATCH_WRITE, .member = "a/.." },
        { .kind = CIP_PATCH_WRITE, .member = "a/../b" },
        { .kind = CIP_PATCH_WRITE, .member = "." },
        { .kind = CIP_PATCH_WRITE, .member = "./a" },
        { .kind = CIP_PATCH_WRITE, .member = "a//b" },
        { .kind = CIP_PATCH_WRITE, .member = "a/" },
        { .kind = CIP_PATCH_CREATE },
        { .kind = CIP_PATCH_CREATE, .member = "" },
        { .kind = CIP_PATCH_UNLINK },
        { .kind = CIP_PATCH_RENAME, .to = "x" },
        { .kind = CIP_PATCH_RENAME, .member = "x" },
        { .kind = CIP_PATCH_RENAME, .member = "x", .to = "" },
        { .kind = CIP_PATCH_RENAME, .member = "x", .to = "../y" },
        { .kind = CIP_PATCH_UNLINK, .member = "x", .to = "/y" },
        { .kind = CIP_PATCH_WRITE,
          .before = { (const uint8_t *)"ab", 2 },
          .after = { (const uint8_t *)"a", 1 } },
        { .kind = CIP_PATCH_WRITE, .offset = UINT64_MAX, .after = { (const uint8_t *)"a", 1 } },
    };
    cip_patch p = new_patch();
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cip_err err = CIP_ERR_INIT;
        if (cip_patch_add(&p, &bad[i], &err) != CIP_ERR_ARG)
            fail_msg("operation %zu was taken", i);
        assert_non_null(strstr(err.text, "a patch's operation 0 has "));
    }
    assert_int_equal(p.n, 0);
    cip_patch_clear(&p);
}

static void operations_with_sense_are_taken(void **state)
{
    (void)state;
    static const cip_patch_op good[] = {
        { .kind = CIP_PATCH_WRITE },
        { .kind = CIP_PATCH_WRITE, .member = "..x/x../...", .to = "" },
        { .kind = CIP_PATCH_WRITE, .member = ".x" },
        { .kind = CIP_PATCH_WRITE, .member = "xx/a" },
        { .kind = CIP_PATCH_WRITE,
          .before = { (const uint8_t *)"ab", 2 },
          .after = { (const uint8_t *)"ab", 2 } },
        { .kind = CIP_PATCH_WRITE, .offset = UINT64_MAX - 1, .after = { (const uint8_t *)"a", 1 } },
        { .kind = CIP_PATCH_LENGTH, .offset = UINT64_MAX },
        { .kind = CIP_PATCH_LENGTH, .member = "x" },
        { .kind = CIP_PATCH_CREATE, .member = "x" },
        { .kind = CIP_PATCH_RENAME, .member = "x", .to = "y" },
        { .kind = CIP_PATCH_UNLINK, .member = "x" },
    };
    cip_patch p = new_patch();
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(cip_patch_add(&p, &good[i], NULL), CIP_OK);
    assert_int_equal(p.n, sizeof good / sizeof good[0]);
    cip_patch_clear(&p);
}

static void the_size_after_a_patch_follows_its_operations(void **state)
{
    (void)state;
    cip_patch p = new_patch();
    assert_int_equal(cip_patch_size_after(&p, 10), 10);
    assert_int_equal(cip_patch_write(&p, "", 4, none, BYTES("abc"), NULL), CIP_OK);
    assert_int_equal(cip_patch_size_after(&p, 7), 7);
    assert_int_equal(cip_patch_size_after(&p, 6), 7);
    assert_int_equal(cip_patch_write(&p, "", 100, none, none, NULL), CIP_OK);
    assert_int_equal(cip_patch_size_after(&p, 7), 7); /* an empty write extends nothing */
    assert_int_equal(cip_patch_write(&p, "x", 50, none, BYTES("abc"), NULL), CIP_OK);
    assert_int_equal(cip_patch_size_after(&p, 7), 7); /* another member's */
    assert_int_equal(add_length(&p, 3), CIP_OK);
    assert_int_equal(cip_patch_size_after(&p, 7), 3);
    cip_patch_op other = { .kind = CIP_PATCH_LENGTH, .member = "x", .offset = 77 };
    assert_int_equal(cip_patch_add(&p, &other, NULL), CIP_OK);
    assert_int_equal(cip_patch_size_after(&p, 7), 3);
    assert_int_equal(cip_patch_write(&p, "", 5, none, BYTES("z"), NULL), CIP_OK);
    assert_int_equal(cip_patch_size_after(&p, 7), 6);
    cip_patch_clear(&p);
}

static void an_overlay_shows_the_new_bytes(void **state)
{
    (void)state;
    char b[16] = { 0 };
    cip_patch p = new_patch();
    cip_io *under, *io;
    assert_int_equal(cip_io_open_memory(&env, "0123456789", 10, "u", &under, NULL), CIP_OK);
    assert_int_equal(cip_patch_write(&p, "", 2, BYTES("234"), BYTES("abc"), NULL), CIP_OK);
    assert_int_equal(cip_patch_write(&p, "", 12, none, BYTES("X"), NULL), CIP_OK);
    p.new_len = 13;
    assert_int_equal(cip_io_open_overlay(under, &p, &io, NULL), CIP_OK);
    assert_int_equal(io->size, 13);
    assert_string_equal(io->name, "u");
    assert_int_equal(cip_io_read(io, 0, b, 13, NULL), CIP_OK);
    assert_memory_equal(b, "01abc56789\0\0X", 13);
    assert_int_equal(cip_io_read(io, 0, b, 14, NULL), CIP_ERR_TRUNCATED);
    const uint8_t *ptr = NULL;
    assert_int_equal(cip_io_map(io, &ptr, NULL), CIP_ERR_UNSUPPORTED);
    cip_io_close(io);
    cip_io_close(under);
    cip_patch_clear(&p);
}

static void a_patch_that_ends_elsewhere_is_refused(void **state)
{
    (void)state;
    cip_patch p = new_patch();
    cip_err err = CIP_ERR_INIT;
    cip_io *under, *io;
    assert_int_equal(cip_io_open_memory(&env, "0123456789", 10, "u", &under, NULL), CIP_OK);
    io = under;
    p.new_len = 11;
    assert_int_equal(cip_io_open_overlay(under, &p, &io, &err), CIP_ERR_ARG);
    assert_string_equal(err.text, "expected a patch to 11 bytes, found one to 10");
    assert_null(io);
    p.new_len = 10;
    assert_int_equal(cip_io_open_overlay(under, &p, &io, &err), CIP_OK);
    cip_io_close(io);
    cip_io_close(under);
    cip_patch_clear(&p);
}

/* xorshift64*, so that a failure can be had again. */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * 2685821657736338717u;
}

static size_t below(uint64_t *seed, size_t n)
{
    return (size_t)(next_random(seed) >> 33) % n;
}

enum { SPACE = 400 };

/* A file in the simplest way there is. */
typedef struct model {
    uint8_t b[SPACE];
    size_t size;
} model;

static void model_length(model *m, size_t length)
{
    if (length > m->size)
        memset(m->b + m->size, 0, length - m->size);
    m->size = length;
}

static void model_write(model *m, size_t off, const uint8_t *src, size_t n)
{
    if (n == 0)
        return;
    if (off + n > m->size)
        model_length(m, off + n);
    memcpy(m->b + off, src, n);
}

static void add_random_op(cip_patch *p, model *m, uint64_t *seed)
{
    uint8_t b[SPACE];
    size_t off = below(seed, SPACE);
    if (below(seed, 5) == 0) {
        model_length(m, off);
        assert_int_equal(add_length(p, off), CIP_OK);
        return;
    }
    size_t n = below(seed, below(seed, 4) == 0 ? SPACE : 20);
    n = n < SPACE - off ? n : SPACE - off;
    for (size_t i = 0; i < n; i++)
        b[i] = (uint8_t)next_random(seed);
    bool other = below(seed, 10) == 0;
    assert_int_equal(cip_patch_write(p, other ? "x" : "", off, none, (cip_bytes){ b, n }, NULL),
                     CIP_OK);
    if (!other)
        model_write(m, off, b, n);
}

static void check_random_reads(cip_io *io, const model *m, uint64_t *seed)
{
    uint8_t b[SPACE];
    cip_range r[150];
    for (size_t turn = 0; turn < 30; turn++) {
        size_t n = 0, used = 0, most = 1 + below(seed, 150);
        while (n < most) {
            size_t off = below(seed, m->size + 1), len = below(seed, m->size - off + 1);
            len = len < SPACE - used ? len : SPACE - used;
            r[n++] = (cip_range){ off, len, b + used };
            used += len;
        }
        memset(b, 0xee, sizeof b);
        assert_int_equal(cip_io_read_ranges(io, r, n, NULL), CIP_OK);
        for (size_t i = 0; i < n; i++)
            assert_memory_equal(r[i].dst, m->b + r[i].offset, r[i].nbytes);
        for (size_t i = used; i < SPACE; i++)
            assert_int_equal(b[i], 0xee);
    }
    assert_int_equal(cip_io_read(io, 0, b, m->size, NULL), CIP_OK);
    assert_memory_equal(b, m->b, m->size);
    size_t got, off = 0; /* byte by byte, in rising ranges */
    for (size_t i = 0; i < m->size; i++)
        assert_int_equal(cip_io_read_some(io, i, b + i, 1, &got, NULL), CIP_OK);
    assert_memory_equal(b, m->b, m->size);
    for (size_t n = 0; n < 150 && off < m->size; n++, off += 2)
        r[n] = (cip_range){ off, 1, b + off };
    assert_int_equal(cip_io_read_ranges(io, r, off / 2, NULL), CIP_OK);
    for (size_t i = 0; i < off && i < 300; i += 2)
        assert_int_equal(b[i], m->b[i]);
}

static void random_patches_show_what_a_naive_model_has(void **state)
{
    (void)state;
    uint64_t seed = 20240607;
    for (size_t round = 0; round < 400; round++) {
        model m = { .size = below(&seed, SPACE) };
        uint8_t bytes[SPACE];
        fault_io f;
        cip_io *io;
        cip_patch p = new_patch();
        for (size_t i = 0; i < m.size; i++)
            bytes[i] = m.b[i] = (uint8_t)next_random(&seed);
        cip_io *under = fault_io_init(&f, &env, bytes, m.size);
        for (size_t n = below(&seed, 40); n > 0; n--)
            add_random_op(&p, &m, &seed);
        p.new_len = m.size;
        assert_int_equal(cip_io_open_overlay(under, &p, &io, NULL), CIP_OK);
        assert_int_equal(io->size, m.size);
        check_random_reads(io, &m, &seed);
        cip_io_close(io);
        cip_patch_clear(&p);
    }
}

static void new_bytes_may_lie_in_a_file(void **state)
{
    (void)state;
    cip_patch p = new_patch();
    cip_io *under, *waits, *io;
    char b[11] = "", whole[3] = "";
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_io_open_memory(&env, "0123456789", 10, "u", &under, NULL), CIP_OK);
    assert_int_equal(cip_io_open_memory(&env, "abcdef", 6, "w", &waits, NULL), CIP_OK);
    assert_int_equal(cip_patch_range(&p, 2, waits, 1, 5, NULL), CIP_OK);
    assert_int_equal(cip_patch_write(&p, "", 4, none, BYTES("XY"), NULL), CIP_OK);
    assert_int_equal(cip_patch_range(&p, 9, waits, 6, 0, NULL), CIP_OK);
    assert_int_equal(p.n, 2);
    p.new_len = 10;
    assert_int_equal(cip_io_open_overlay(under, &p, &io, NULL), CIP_OK);
    assert_int_equal(cip_io_read(io, 0, b, 10, NULL), CIP_OK);
    assert_string_equal(b, "01bcXYf789");
    assert_int_equal(cip_io_read(io, 6, whole, 2, NULL), CIP_OK);
    assert_string_equal(whole, "f7");
    assert_int_equal(cip_patch_range(&p, 0, waits, 7, 0, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_patch_range(&p, 0, waits, 2, 5, &err), CIP_ERR_RANGE);
    assert_string_equal(err.text, "expected 5 bytes for a change, found 4");
    assert_int_equal(err.offset, 2);
    cip_io_close(io);
    cip_io_close(waits);
    cip_io_close(under);
    cip_patch_clear(&p);
}

static void a_patch_of_many_operations_is_built_quickly(void **state)
{
    (void)state;
    enum { N = 200000 };
    cip_patch p = new_patch();
    cip_io *under, *io;
    uint8_t b[4] = { 0 };
    assert_int_equal(cip_io_open_memory(&env, "", 0, "u", &under, NULL), CIP_OK);
    /* nested: each covers all the later ones */
    static uint8_t zeros[2 * N + 1];
    for (size_t i = 0; i < N; i++) {
        uint8_t id[1] = { (uint8_t)i };
        const cip_patch_op op = { .kind = CIP_PATCH_WRITE,
                                  .member = "",
                                  .to = "",
                                  .offset = i,
                                  .after = { zeros, 2 * N + 1 - 2 * i } };
        assert_int_equal(cip_patch_push(&p, &op, NULL), CIP_OK);
        assert_int_equal(cip_patch_write(&p, "", 2 * N + 1 + i, none, (cip_bytes){ id, 1 }, NULL),
                         CIP_OK);
    }
    p.new_len = 3 * N + 1;
    assert_int_equal(cip_io_open_overlay(under, &p, &io, NULL), CIP_OK);
    assert_int_equal(cip_io_read(io, 2 * N + 1 + 513, b, 2, NULL), CIP_OK);
    assert_memory_equal(b, "\x01\x02", 2);
    cip_io_close(io);
    cip_io_close(under);
    cip_patch_clear(&p);
}

/* Counts the calls, not the ranges. */
typedef struct call_io {
    cip_io io;
    size_t calls, most;
} call_io;

static cip_status count_call(cip_io *io, const cip_range *r, size_t n, cip_err *err)
{
    call_io *c = (call_io *)io;
    (void)err;
    c->calls++;
    c->most = n > c->most ? n : c->most;
    for (size_t i = 0; i < n; i++)
        memset(r[i].dst, 1, r[i].nbytes);
    return CIP_OK;
}

static void ranges_underneath_are_read_together(void **state)
{
    (void)state;
    static const cip_io_ops ops = { .name = "calls", .read_ranges = count_call };
    call_io c = { .io = { .ops = &ops, .env = &env, .size = 1000, .name = "calls" } };
    cip_patch p = new_patch();
    cip_io *io;
    uint8_t b[1000];
    for (size_t i = 0; i < 200; i++)
        assert_int_equal(cip_patch_write(&p, "", 5 * i, none, BYTES("x"), NULL), CIP_OK);
    p.new_len = 1000;
    assert_int_equal(cip_io_open_overlay(&c.io, &p, &io, NULL), CIP_OK);
    assert_int_equal(cip_io_read(io, 0, b, 1000, NULL), CIP_OK);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(b[i], i % 5 == 0 ? 'x' : 1);
    assert_int_equal(c.calls, 4); /* 64 + 64 + 64 + 8 */
    assert_int_equal(c.most, 64);
    cip_io_close(io);
    cip_patch_clear(&p);
}

static void failing_reads_underneath_are_passed_on(void **state)
{
    (void)state;
    uint8_t bytes[400], b[400];
    cip_range r[200];
    fault_io f;
    cip_io *io;
    cip_patch p = new_patch();
    memset(bytes, 7, sizeof bytes);
    cip_io *under = fault_io_init(&f, &env, bytes, sizeof bytes);
    p.new_len = sizeof bytes;
    assert_int_equal(cip_io_open_overlay(under, &p, &io, NULL), CIP_OK);
    for (size_t i = 0; i < 200; i++)
        r[i] = (cip_range){ 2 * i, 1, b + i };
    for (size_t n = 1; n <= 201; n += 40) { /* in full batches and in the last */
        f.reads = 0;
        f.fail_at = n;
        assert_int_equal(cip_io_read_ranges(io, r, 200, NULL), n <= 200 ? CIP_ERR_IO : CIP_OK);
    }
    cip_io_close(io);
    cip_patch_clear(&p);
}

static void an_overlay_keeps_members_and_watches_the_file(void **state)
{
    (void)state;
    scratch dir;
    cip_patch p = new_patch();
    cip_io *under, *io, *member;
    assert_true(scratch_open(&dir));
    const char *path = scratch_write(&dir, "x", "12", 2);
    assert_int_equal(cip_io_open_file(&env, path, &under, NULL), CIP_OK);
    p.new_len = 2;
    assert_int_equal(cip_io_open_overlay(under, &p, &io, NULL), CIP_OK);
    assert_int_equal(cip_io_open_member(io, "x", 0, &member, NULL), CIP_OK);
    assert_int_equal(member->size, 2);
    cip_io_close(member);
    assert_int_equal(cip_io_unchanged(io, NULL), CIP_OK);
    assert_int_equal(truncate(path, 1), 0);
    assert_int_equal(cip_io_unchanged(io, NULL), CIP_ERR_BUSY);
    cip_io_close(io);
    cip_io_close(under);
    scratch_close(&dir);
    assert_int_equal(cip_io_open_memory(&env, "12", 2, "m", &under, NULL), CIP_OK);
    assert_int_equal(cip_io_open_overlay(under, &p, &io, NULL), CIP_OK);
    assert_int_equal(cip_io_open_member(io, "x", 0, &member, NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_io_unchanged(io, NULL), CIP_OK);
    cip_io_close(io);
    cip_io *part;
    assert_int_equal(cip_io_open_part(under, 1, 1, &part, NULL), CIP_OK);
    p.new_len = 1;
    assert_int_equal(cip_io_open_overlay(part, &p, &io, NULL), CIP_OK);
    assert_int_equal(io->base, 1); /* errors name the place in the file */
    cip_io_close(io);
    cip_io_close(part);
    cip_io_close(under);
    cip_patch_clear(&p);
}

static void each_failing_allocation_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    bool through = false;
    for (size_t n = 1; !through; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_env e;
        cip_patch p = { .arena = { .mem = &e.mem } };
        cip_io *under = NULL, *io = NULL;
        cip_status st;
        assert_int_equal(cip_env_init(&e, NULL, &a, NULL, NULL), CIP_OK);
        CIP_GO(cip_io_open_memory(&e, "0123456789", 10, "u", &under, NULL));
        for (int i = 0; i < 80; i++) /* over one slab of the arena */
            CIP_GO(cip_patch_write(&p, "", 2, BYTES("23"), BYTES("ab"), NULL));
        p.new_len = 10;
        CIP_GO(cip_io_open_overlay(under, &p, &io, NULL));
    done:
        through = f.requests < n;
        assert_int_equal(st, through ? CIP_OK : CIP_ERR_NOMEM);
        cip_io_close(io);
        cip_io_close(under);
        cip_patch_clear(&p);
        cip_env_clear(&e);
        assert_int_equal(f.held, 0);
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_patch_keeps_copies),
        cmocka_unit_test(operations_without_sense_are_refused),
        cmocka_unit_test(operations_with_sense_are_taken),
        cmocka_unit_test(the_size_after_a_patch_follows_its_operations),
        cmocka_unit_test(an_overlay_shows_the_new_bytes),
        cmocka_unit_test(a_patch_that_ends_elsewhere_is_refused),
        cmocka_unit_test(random_patches_show_what_a_naive_model_has),
        cmocka_unit_test(new_bytes_may_lie_in_a_file),
        cmocka_unit_test(a_patch_of_many_operations_is_built_quickly),
        cmocka_unit_test(ranges_underneath_are_read_together),
        cmocka_unit_test(failing_reads_underneath_are_passed_on),
        cmocka_unit_test(an_overlay_keeps_members_and_watches_the_file),
        cmocka_unit_test(each_failing_allocation_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
