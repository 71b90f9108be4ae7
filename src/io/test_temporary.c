/* SPDX-License-Identifier: BSD-3-Clause
 * Scratch files: random writes, cuts and moves against a model, in memory and in a file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#include "io/io_impl.h"
#include "io/temporary.h"
#include "support/fail_alloc.h"
#include "support/temp_folder.h"

static scratch dir;

static int setup(void **state)
{
    (void)state;
    return scratch_open(&dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&dir);
    return 0;
}

/* Memory of 16 * n bytes: more than n + 1 bytes of a scratch lie in a file. */
static void env_open(cip_env *env, uint64_t max_memory)
{
    cip_limits limits = { .size = sizeof limits, .max_memory = max_memory };
    assert_int_equal(cip_env_init(env, &limits, NULL, NULL, NULL), CIP_OK);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

enum { MOST = 3000 };
typedef struct model {
    uint8_t byte[4 * MOST];
    size_t n;
} model;

static void assert_like(cip_io *io, const model *m)
{
    uint8_t got[4 * MOST];
    assert_int_equal(io->size, m->n);
    assert_int_equal(cip_io_read(io, 0, got, m->n, NULL), CIP_OK);
    assert_memory_equal(got, m->byte, m->n);
}

static void step_write(cip_io *io, model *m, uint64_t *seed)
{
    uint8_t bytes[300] = { 0 };
    size_t n = next(seed) % sizeof bytes, off = next(seed) % MOST;
    for (size_t i = 0; i < n; i++)
        bytes[i] = (uint8_t)next(seed);
    assert_int_equal(cip_temporary_write(io, off, bytes, n, NULL), CIP_OK);
    if (n == 0)
        return;
    if (off > m->n)
        memset(m->byte + m->n, 0, off - m->n);
    memcpy(m->byte + off, bytes, n);
    m->n = off + n > m->n ? off + n : m->n;
}

static void step_resize(cip_io *io, model *m, uint64_t *seed)
{
    size_t n = next(seed) % MOST;
    assert_int_equal(cip_temporary_resize(io, n, NULL), CIP_OK);
    if (n > m->n)
        memset(m->byte + m->n, 0, n - m->n);
    m->n = n;
}

static void step_out(cip_io *io, model *m, uint64_t *seed)
{
    uint8_t bytes[100];
    cip_out out = cip_temporary_out(io);
    assert_int_equal(out.n, m->n);
    memset(bytes, (int)next(seed), sizeof bytes);
    assert_int_equal(cip_out_write(&out, bytes, sizeof bytes, NULL), CIP_OK);
    memcpy(m->byte + m->n, bytes, sizeof bytes);
    m->n += sizeof bytes;
    size_t at = next(seed) % (m->n - 3);
    assert_int_equal(cip_out_rewrite(&out, at, "abc", 3, NULL), CIP_OK);
    memcpy(m->byte + at, "abc", 3);
    size_t from = next(seed) % (m->n + 1), to = next(seed) % MOST;
    size_t kept = m->n - from;
    assert_int_equal(cip_out_move(&out, from, out.n - from, to, NULL), CIP_OK);
    memmove(m->byte + to, m->byte + from, kept);
    for (size_t i = from; i < to; i += 100) { /* what lies between is undefined */
        size_t piece = to - i < 100 ? to - i : 100;
        memset(bytes, 7, piece);
        memset(m->byte + i, 7, piece);
        assert_int_equal(cip_out_rewrite(&out, i, bytes, piece, NULL), CIP_OK);
    }
    m->n = to + kept;
    assert_int_equal(out.n, m->n);
    const size_t few = next(seed) % (m->n + 1), where = next(seed) % (m->n - few + 1);
    assert_int_equal(cip_out_move(&out, where, few / 2, where + few / 4, NULL), CIP_OK);
    memmove(m->byte + where + few / 4, m->byte + where, few / 2);
    assert_int_equal(out.n, m->n);
    size_t cut = next(seed) % (m->n + 1);
    if (m->n > MOST || next(seed) % 4 == 0) {
        assert_int_equal(cip_out_rewind(&out, cut, NULL), CIP_OK);
        m->n = cut;
    }
}

static void run_model(uint64_t max_memory, const char *beside, bool in_file)
{
    cip_env env;
    cip_io *io;
    model m = { .n = 0 };
    uint64_t seed = max_memory, at = 0;
    env_open(&env, max_memory);
    assert_int_equal(cip_temporary_new(&env, beside, &io, NULL), CIP_OK);
    for (int i = 0; i < 2000; i++) {
        uint64_t kind = next(&seed) % 3;
        (kind == 0 ? step_write : kind == 1 ? step_resize : step_out)(io, &m, &seed);
        assert_like(io, &m);
    }
    assert_int_equal(cip_io_descriptor(io, &at) != -1, in_file);
    assert_int_equal(at, 0);
    cip_io_close(io);
    assert_int_equal(env.mem.used, 0);
    cip_env_clear(&env);
}

static void a_temporary_in_memory_is_what_was_written(void **state)
{
    (void)state;
    run_model(1 << 30, NULL, false);
}

static void a_temporary_in_a_file_is_what_was_written(void **state)
{
    (void)state;
    run_model(16 * 64, NULL, true);
    run_model(16 * 65, scratch_path(&dir, "target.asdf"), true);
    run_model(16 * 66, "relative", true);
    run_model(16 * 67, "/nonexistent/folder/target", true); /* then $TMPDIR does */
}

static void it_moves_to_a_file_behind_its_share_of_memory(void **state)
{
    (void)state;
    cip_env env;
    cip_io *io;
    uint64_t at = 0;
    uint8_t bytes[102] = { 0 };
    env_open(&env, 1600);
    assert_int_equal(cip_temporary_new(&env, NULL, &io, NULL), CIP_OK);
    assert_int_equal(cip_temporary_write(io, 0, bytes, 101, NULL), CIP_OK);
    assert_int_equal(cip_io_descriptor(io, &at), -1);
    assert_int_equal(cip_temporary_write(io, 101, bytes, 1, NULL), CIP_OK);
    assert_int_not_equal(cip_io_descriptor(io, &at), -1);
    assert_int_equal(io->size, 102);
    cip_io_close(io);
    cip_env_clear(&env);
}

static void an_end_beyond_all_files_is_refused(void **state)
{
    (void)state;
    cip_env env;
    cip_io *io;
    env_open(&env, 1600);
    assert_int_equal(cip_temporary_new(&env, NULL, &io, NULL), CIP_OK);
    assert_int_equal(cip_temporary_write(io, UINT64_MAX, "ab", 2, NULL), CIP_ERR_LIMIT);
    assert_int_equal(cip_temporary_write(io, INT64_MAX, "ab", 2, NULL), CIP_ERR_LIMIT);
    assert_int_equal(cip_temporary_write(io, UINT64_MAX, "", 0, NULL), CIP_OK);
    assert_int_equal(io->size, 0);
    cip_io_close(io);
    cip_env_clear(&env);
}

static void no_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    uint8_t bytes[2000] = { 1 };
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_env env;
        cip_io *io;
        assert_int_equal(cip_env_init(&env, NULL, &a, NULL, NULL), CIP_OK);
        cip_status st = cip_temporary_new(&env, "x/y", &io, NULL);
        if (st == CIP_OK) {
            st = cip_temporary_write(io, 0, bytes, sizeof bytes, NULL);
            assert_int_equal(io->size, st == CIP_OK ? sizeof bytes : 0);
        } else {
            assert_null(io);
        }
        assert_int_equal(st, f.requests < n ? CIP_OK : CIP_ERR_NOMEM);
        cip_io_close(io);
        cip_env_clear(&env);
        assert_int_equal(f.held, 0);
        if (f.requests < n)
            break;
    }
}

/* A part of a write that failed lies behind the end: it is not there for what comes after. */
static void what_a_failed_write_left_is_gone(void **state)
{
    (void)state;
    enum { N = 4096, MOST_FILE = 10000 };
    static uint8_t ones[4 * N], got[4 * N], zeros[4 * N];
    cip_env env;
    cip_io *io;
    struct rlimit was, less;
    memset(ones, 1, sizeof ones);
    env_open(&env, 16 << 10);
    assert_int_equal(cip_temporary_new(&env, scratch_path(&dir, "beside"), &io, NULL), CIP_OK);
    assert_int_equal(cip_temporary_write(io, 0, ones, N, NULL), CIP_OK);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    less = (struct rlimit){ MOST_FILE, was.rlim_max };
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
    assert_int_equal(cip_temporary_write(io, N, ones, sizeof ones - N, NULL), CIP_ERR_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    assert_int_equal(io->size, N);
    assert_int_equal(cip_temporary_write(io, sizeof ones - 1, ones, 1, NULL), CIP_OK);
    assert_int_equal(cip_io_read(io, 0, got, sizeof got, NULL), CIP_OK);
    assert_memory_equal(got + N, zeros, sizeof got - N - 1);
    assert_int_equal(got[sizeof got - 1], 1);
    cip_io_close(io);
    cip_env_clear(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_temporary_in_memory_is_what_was_written),
        cmocka_unit_test(a_temporary_in_a_file_is_what_was_written),
        cmocka_unit_test(it_moves_to_a_file_behind_its_share_of_memory),
        cmocka_unit_test(an_end_beyond_all_files_is_refused),
        cmocka_unit_test(what_a_failed_write_left_is_gone),
        cmocka_unit_test(no_memory_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
