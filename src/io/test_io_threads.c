/* SPDX-License-Identifier: BSD-3-Clause
 * Many threads read through one io of each kind at once, map it and open its members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <string.h>

#include "io/patch.h"
#include "support/fault_io.h"
#include "support/temp_folder.h"

enum { THREADS = 8, N = 100000, TURNS = 300 };

static cip_env env;
static scratch dir;
static uint8_t bytes[N];

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        bytes[i] = (uint8_t)(i * 13 + i / 256);
    if (!scratch_open(&dir))
        return -1;
    scratch_write(&dir, "x", bytes, N);
    return (int)cip_env_init(&env, NULL, NULL, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    size_t left = (size_t)env.mem.used;
    cip_env_clear(&env);
    scratch_close(&dir);
    return left != 0;
}

typedef struct job {
    cip_io *io;
    unsigned seed;
    bool map, members;
    bool good; /* the answer */
} job;

static bool read_turn(job *j, unsigned turn)
{
    uint8_t a[64], b[200];
    size_t off = (turn * 7919u + j->seed * 104729u) % (N - 600);
    const cip_range r[] = { { off, 64, a }, { off + 64, 100, b }, { off + 500, 100, b + 100 } };
    return cip_io_read_ranges(j->io, r, 3, NULL) == CIP_OK && memcmp(a, bytes + off, 64) == 0 &&
           memcmp(b, bytes + off + 64, 100) == 0 && memcmp(b + 100, bytes + off + 500, 100) == 0;
}

static bool map_turn(job *j, unsigned turn)
{
    const uint8_t *p;
    return cip_io_map(j->io, &p, NULL) == CIP_OK && p[turn] == bytes[turn];
}

static bool member_turn(job *j, unsigned turn)
{
    uint8_t b;
    cip_io *member;
    if (cip_io_open_member(j->io, "x", 0, &member, NULL) != CIP_OK)
        return false;
    bool good = cip_io_read(member, turn, &b, 1, NULL) == CIP_OK && b == bytes[turn];
    cip_io_close(member);
    return good;
}

static void *run(void *arg)
{
    job *j = arg;
    j->good = true;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        j->good = j->good && read_turn(j, turn);
        j->good = j->good && (!j->map || map_turn(j, turn));
        j->good = j->good && (!j->members || member_turn(j, turn));
        j->good = j->good && cip_io_unchanged(j->io, NULL) == CIP_OK;
    }
    return NULL;
}

static void all_threads_read_right(cip_io *io, bool map, bool members)
{
    pthread_t thread[THREADS];
    job jobs[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (job){ .io = io, .seed = i, .map = map, .members = members };
        assert_int_equal(pthread_create(&thread[i], NULL, run, &jobs[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_true(jobs[i].good);
    }
}

static cip_io *open_x(void)
{
    cip_io *io;
    assert_int_equal(cip_io_open_file(&env, scratch_path(&dir, "x"), &io, NULL), CIP_OK);
    return io;
}

static void threads_read_one_file(void **state)
{
    (void)state;
    cip_io *io = open_x();
    all_threads_read_right(io, true, true);
    cip_io_close(io);
}

static void threads_read_one_part(void **state)
{
    (void)state;
    cip_io *io = open_x(), *part;
    assert_int_equal(cip_io_open_part(io, 0, N, &part, NULL), CIP_OK);
    all_threads_read_right(part, true, true);
    cip_io_close(part);
    cip_io_close(io);
}

static void threads_read_one_memory(void **state)
{
    (void)state;
    cip_io *io;
    fault_io f;
    assert_int_equal(cip_io_open_memory(&env, bytes, N, "m", &io, NULL), CIP_OK);
    all_threads_read_right(io, true, false);
    cip_io_close(io);
    all_threads_read_right(fault_io_init(&f, &env, bytes, N), false, false);
    assert_int_equal(f.reads, 3 * THREADS * TURNS);
}

static void threads_read_one_overlay(void **state)
{
    (void)state;
    cip_io *io = open_x(), *overlay;
    cip_patch p = { .arena = { .mem = &env.mem }, .new_len = N };
    for (size_t i = 0; i < N; i += 300) /* the same bytes, in many pieces */
        assert_int_equal(
            cip_patch_write(&p, "", i, (cip_bytes){ NULL, 0 }, (cip_bytes){ bytes + i, 100 }, NULL),
            CIP_OK);
    assert_int_equal(cip_io_open_overlay(io, &p, &overlay, NULL), CIP_OK);
    all_threads_read_right(overlay, false, true);
    cip_io_close(overlay);
    cip_patch_clear(&p);
    cip_io_close(io);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_read_one_file),
        cmocka_unit_test(threads_read_one_part),
        cmocka_unit_test(threads_read_one_memory),
        cmocka_unit_test(threads_read_one_overlay),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
