/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/cursor.h"
#include "base/endian.h"
#include "base/difference.h"
#include "base/env.h"
#include "base/num.h"
#include "base/sized.h"
#include "base/spares.h"
#include "base/stop.h"
#include "base/strmap.h"
#include "base/undo.h"

/* --- errors, cursor, numbers ------------------------------------------------------------------ */

static void errors_are_set_once_and_name_their_part(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_fail(&err, CIP_ERR_CORRUPT, 7, "expected %d", 3), CIP_ERR_CORRUPT);
    assert_int_equal(err.offset, 7);
    assert_string_equal(err.text, "expected 3");
    assert_int_equal(cip_fail_in(&err, CIP_ERR_CORRUPT, "block %d", 2), CIP_ERR_CORRUPT);
    cip_fail_in(&err, CIP_ERR_CORRUPT, "outer");
    assert_string_equal(err.part, "block 2");
    cip_err none = CIP_ERR_INIT;
    assert_int_equal(cip_fail_in(&none, CIP_OK, "part"), CIP_OK);
    assert_string_equal(none.part, "");
    assert_int_equal(cip_fail_in(NULL, CIP_ERR_IO, "part"), CIP_ERR_IO);
    assert_int_equal(cip_fail(NULL, CIP_ERR_IO, 0, "x"), CIP_ERR_IO);
    assert_string_equal(cip_status_name(CIP_ERR_CANCELLED), "cancelled");
    assert_string_equal(cip_status_name(CIP_ERR_STALE), "stale");
    assert_string_equal(cip_status_name((cip_status)18), "unknown status");
}

static void patterns_are_repeated_from_any_byte_on(void **state)
{
    (void)state;
    static const char text[] = "abcdefg";
    for (size_t len = 1; len < 8; len++)
        for (uint64_t off = 0; off < 10; off++)
            for (size_t n = 0; n < 40; n++) {
                uint8_t out[41];
                memset(out, '-', sizeof out);
                cip_bytes_repeat((cip_bytes){ (const uint8_t *)text, len }, off, out, n);
                for (size_t k = 0; k < n; k++)
                    assert_int_equal(out[k], text[(off + k) % len]);
                assert_int_equal(out[n], '-');
            }
}

static void cursor_past_the_end_gives_zeros_and_sticks(void **state)
{
    (void)state;
    const uint8_t b[] = { 1, 2, 3, 4, 5 };
    cip_cursor c = cip_cursor_be((cip_bytes){ b, sizeof b });
    assert_int_equal(cip_get_u32(&c), 0x01020304);
    assert_int_equal(cip_cursor_left(&c), 1);
    assert_int_equal(cip_get_u16(&c), 0);
    assert_true(c.bad);
    assert_int_equal(cip_get_u8(&c), 0);
    uint8_t copy[2] = { 9, 9 };
    cip_get_copy(&c, copy, 2);
    assert_int_equal(copy[0] + copy[1], 0);
    c = cip_cursor_le((cip_bytes){ b, sizeof b });
    assert_int_equal(cip_get_u16(&c), 0x0201);
    cip_get_copy(&c, copy, 2);
    assert_int_equal(copy[1], 4);
    assert_int_equal(cip_get_u8(&c), 5);
    assert_false(c.bad);
    cip_get_copy(&c, NULL, 0);
    assert_false(c.bad);
}

static void numbers_are_checked_and_in_order(void **state)
{
    (void)state;
    uint8_t b[8];
    size_t n;
    assert_int_equal(cip_div_up(0, 4), 0);
    assert_int_equal(cip_div_up(8, 4), 2);
    assert_int_equal(cip_div_up(9, 4), 3);
    assert_true(cip_div_up(UINT64_MAX, 2) == UINT64_C(1) << 63);
    assert_int_equal(cip_min_u64(3, 4), 3);
    assert_int_equal(cip_max_u64(3, 4), 4);
    assert_true(cip_to_size(5, &n) && n == 5);
    cip_store_u64(b, UINT64_C(0x0102030405060708), true);
    assert_int_equal(b[0], 1);
    assert_true(cip_load_u64(b, true) == UINT64_C(0x0102030405060708));
    cip_store_u32(b, 0x01020304, false);
    assert_int_equal(b[0], 4);
    assert_int_equal(cip_load_u32(b, true), 0x04030201);
    cip_store_u16(b, 0x0102, true);
    assert_int_equal(cip_load_u16(b, false), 0x0201);
}

static void hexadecimal_digits_have_either_case(void **state)
{
    (void)state;
    static const char digits[] = "0123456789abcdefABCDEF";
    for (int c = -1; c < 256; c++) {
        const char *at = c > 0 ? strchr(digits, c) : NULL;
        const int n = at != NULL ? (int)(at - digits) : -1;
        assert_int_equal(cip_hex_digit(c), n < 16 ? n : n - 6);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

static void memory_is_counted_and_bounded(void **state)
{
    (void)state;
    cip_mem m;
    void *a, *b = (void *)1;
    cip_err err = CIP_ERR_INIT;
    cip_mem_init(&m, NULL, 1000);
    assert_int_equal(cip_mem_get(&m, 500, &a, &err), CIP_OK);
    uint64_t used = atomic_load(&m.used);
    assert_true(used >= 500 && used <= 600);
    assert_int_equal(cip_mem_get(&m, 500, &b, &err), CIP_ERR_LIMIT);
    assert_null(b);
    assert_int_equal(atomic_load(&m.used), used);
    assert_int_equal(cip_mem_get(&m, 1000 - used - (used - 500), &b, &err), CIP_OK);
    assert_int_equal(atomic_load(&m.used), 1000);
    cip_mem_put(&m, b);
    assert_int_equal(cip_mem_resize(&m, &a, 100, &err), CIP_OK);
    assert_int_equal(atomic_load(&m.used), used - 400);
    assert_int_equal(cip_mem_resize(&m, &a, 5000, &err), CIP_ERR_LIMIT);
    memset(a, 1, 100);
    cip_mem_put(&m, a);
    cip_mem_put(&m, NULL);
    assert_int_equal(atomic_load(&m.used), 0);
    assert_int_equal(cip_mem_get(&m, SIZE_MAX, &a, &err), CIP_ERR_LIMIT);
    assert_int_equal(cip_mem_zeroed(&m, SIZE_MAX / 2, 3, &a, &err), CIP_ERR_LIMIT);
    assert_int_equal(cip_mem_get(&m, 0, &a, &err), CIP_OK);
    assert_non_null(a);
    cip_mem_put(&m, a);
}

static void lists_get_room_for_one_more(void **state)
{
    (void)state;
    cip_mem m;
    cip_mem_init(&m, NULL, 0);
    cip_arena a = { .mem = &m };
    uint32_t *list = NULL, *other = NULL;
    size_t cap = 0, other_cap = 0, huge = SIZE_MAX / 4, most = SIZE_MAX;
    for (uint32_t n = 0; n < 1000; n++) {
        assert_int_equal(CIP_ROOM(&m, &list, n, &cap, NULL), CIP_OK);
        assert_int_equal(CIP_ARENA_ROOM(&a, &other, n, &other_cap, NULL), CIP_OK);
        assert_true(cap > n && other_cap > n);
        list[n] = other[n] = n;
    }
    for (uint32_t n = 0; n < 1000; n++)
        assert_true(list[n] == n && other[n] == n);
    assert_int_equal(CIP_ROOM(&m, &list, huge, &huge, NULL), CIP_ERR_LIMIT);
    assert_int_equal(CIP_ROOM(&m, &list, most, &most, NULL), CIP_ERR_LIMIT);
    assert_int_equal(CIP_ARENA_ROOM(&a, &other, most, &most, NULL), CIP_ERR_LIMIT);
    assert_int_equal(list[999], 999);
    cip_mem_put(&m, list);
    cip_arena_clear(&a);
    assert_int_equal(atomic_load(&m.used), 0);
}

static void *no_memory(void *user, void *p, size_t old_size, size_t new_size)
{
    (void)user;
    (void)p;
    (void)old_size;
    (void)new_size;
    return NULL;
}

static void an_allocator_without_memory_is_told(void **state)
{
    (void)state;
    cip_mem m;
    void *p;
    char *text;
    cip_allocator from = { no_memory, NULL };
    cip_mem_init(&m, &from, 0);
    assert_int_equal(cip_mem_get(&m, 10, &p, NULL), CIP_ERR_NOMEM);
    assert_int_equal(atomic_load(&m.used), 0);
    assert_int_equal(cip_mem_copy(&m, "x", 1, &text, NULL), CIP_ERR_NOMEM);
    assert_null(text);
}

static void arenas_give_aligned_pieces_of_any_size(void **state)
{
    (void)state;
    cip_mem m;
    char *text;
    cip_mem_init(&m, NULL, 0);
    cip_arena a = { .mem = &m };
    for (size_t n = 0; n < 3000; n += 37) {
        uint8_t *p;
        assert_int_equal(cip_arena_get(&a, n, (void **)&p, NULL), CIP_OK);
        assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
        memset(p, 0xff, n);
    }
    void *large;
    assert_int_equal(cip_arena_zeroed(&a, 3, 1 << 20, &large, NULL), CIP_OK);
    assert_int_equal(((char *)large)[(3 << 20) - 1], 0);
    assert_int_equal(cip_arena_copy(&a, "abc", 3, &text, NULL), CIP_OK);
    assert_string_equal(text, "abc");
    assert_int_equal(cip_arena_printf(&a, &text, NULL, "%d-%s", 5, "x"), CIP_OK);
    assert_string_equal(text, "5-x");
    assert_int_equal(cip_arena_get(&a, SIZE_MAX - 3, &large, NULL), CIP_ERR_LIMIT);
    assert_int_equal(cip_arena_zeroed(&a, SIZE_MAX / 2, 3, &large, NULL), CIP_ERR_LIMIT);
    cip_arena_clear(&a);
    assert_int_equal(atomic_load(&m.used), 0);
}

static void buffers_grow(void **state)
{
    (void)state;
    cip_mem m;
    cip_mem_init(&m, NULL, 0);
    cip_buf b = { .mem = &m };
    for (int i = 0; i < 1000; i++)
        assert_int_equal(cip_buf_addf(&b, NULL, "%03d", i % 1000), CIP_OK);
    assert_int_equal(b.len, 3000);
    assert_memory_equal(b.ptr + 2997, "999", 3);
    assert_int_equal(cip_buf_nul(&b, NULL), CIP_OK);
    assert_int_equal(strlen((char *)b.ptr), 3000);
    assert_int_equal(cip_buf_reserve(&b, SIZE_MAX, NULL, NULL), CIP_ERR_LIMIT);
    assert_int_equal(cip_buf_add(&b, NULL, 0, NULL), CIP_OK);
    cip_buf_clear(&b);
    assert_int_equal(atomic_load(&m.used), 0);
}

/* --- map -------------------------------------------------------------------------------------- */

/* The first vectors of the SipHash paper's reference: key 00..0f, message 00..(n-1). */
static void siphash_is_the_published_one(void **state)
{
    (void)state;
    uint8_t key[16], in[16];
    for (uint8_t i = 0; i < 16; i++)
        key[i] = in[i] = i;
    const uint64_t k[2] = { cip_load_u64(key, false), cip_load_u64(key + 8, false) };
    assert_true(cip_siphash(k, (cip_bytes){ in, 0 }) == UINT64_C(0x726fdb47dd0e0e31));
    assert_true(cip_siphash(k, (cip_bytes){ in, 1 }) == UINT64_C(0x74f839c593dc67fd));
    assert_true(cip_siphash(k, (cip_bytes){ in, 8 }) == UINT64_C(0x93f5f5799a932462));
    assert_true(cip_siphash(k, (cip_bytes){ in, 15 }) == UINT64_C(0xa129ca6149be45e5));
}

static void maps_find_what_was_put(void **state)
{
    (void)state;
    cip_mem mem;
    size_t was;
    static char key[2000][8];
    cip_mem_init(&mem, NULL, 0);
    cip_strmap m = { .mem = &mem };
    assert_int_equal(cip_strmap_get(&m, (cip_bytes){ (const uint8_t *)"x", 1 }), SIZE_MAX);
    for (size_t i = 0; i < 2000; i++) {
        snprintf(key[i], sizeof key[i], "%zu", i);
        cip_bytes k = { (uint8_t *)key[i], strlen(key[i]) };
        assert_int_equal(cip_strmap_put(&m, k, i, &was, NULL), CIP_OK);
        assert_true(was == SIZE_MAX);
    }
    for (size_t i = 0; i < 2000; i++)
        assert_int_equal(cip_strmap_get(&m, (cip_bytes){ (uint8_t *)key[i], strlen(key[i]) }), i);
    assert_int_equal(m.len, 2000);
    assert_int_equal(cip_strmap_put(&m, (cip_bytes){ (uint8_t *)key[7], 1 }, 70, &was, NULL),
                     CIP_OK);
    assert_int_equal(was, 7);
    assert_int_equal(cip_strmap_get(&m, (cip_bytes){ (uint8_t *)key[7], 1 }), 70);
    assert_int_equal(m.len, 2000);
    assert_int_equal(cip_strmap_put(&m, (cip_bytes){ NULL, 0 }, 1, NULL, NULL), CIP_OK);
    assert_int_equal(cip_strmap_get(&m, (cip_bytes){ NULL, 0 }), 1);
    cip_strmap_clear(&m);
    assert_int_equal(atomic_load(&mem.used), 0);
}

/* --- pool ------------------------------------------------------------------------------------- */

typedef struct jobs {
    cip_pool *pool;
    _Atomic int done[200];
    int fail_from; /* this index and every third behind it fail */
} jobs;

static cip_status job(void *arg, size_t i, cip_err *err)
{
    jobs *j = arg;
    atomic_fetch_add(&j->done[i], 1);
    if (j->fail_from >= 0 && (int)i >= j->fail_from && ((int)i - j->fail_from) % 3 == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, i, "job %zu", i);
    return CIP_OK;
}

static void every_job_runs_once_and_the_lowest_error_wins(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        cip_pool *p;
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(cip_pool_new(threads, &p, NULL), CIP_OK);
        assert_int_equal(cip_pool_threads(p), threads);
        jobs all = { .fail_from = -1 };
        assert_int_equal(cip_pool_run(p, 200, job, &all, NULL), CIP_OK);
        for (int i = 0; i < 200; i++)
            assert_int_equal(all.done[i], 1);
        jobs bad = { .fail_from = 41 };
        assert_int_equal(cip_pool_run(p, 200, job, &bad, &err), CIP_ERR_CORRUPT);
        assert_int_equal(err.offset, 41);
        assert_string_equal(err.text, "job 41");
        for (int i = 0; i <= 41; i++)
            assert_int_equal(bad.done[i], 1);
        cip_pool_free(p);
    }
    jobs none = { .fail_from = -1 };
    assert_int_equal(cip_pool_run(NULL, 3, job, &none, NULL), CIP_OK);
    assert_int_equal(none.done[2], 1);
    assert_int_equal(cip_pool_threads(NULL), 1);
    cip_pool *p;
    assert_int_equal(cip_pool_new(257, &p, NULL), CIP_ERR_ARG);
    cip_pool_free(NULL);
}

typedef struct asking {
    pthread_t caller;
    int n, stop_at;
} asking;

static int count_asked(void *user)
{
    asking *a = user;
    assert_true(pthread_equal(pthread_self(), a->caller)); /* no other thread asks */
    return ++a->n >= a->stop_at;
}

static void the_caller_may_stop_a_run_and_jobs_that_run_end_first(void **state)
{
    (void)state;
    for (unsigned threads = 1; threads <= 8; threads++) {
        cip_pool *p;
        cip_err err = CIP_ERR_INIT;
        asking a = { .caller = pthread_self(), .stop_at = 1 };
        assert_int_equal(cip_pool_new(threads, &p, NULL), CIP_OK);
        cip_stop before = cip_stop_set((cip_stop){ count_asked, &a });
        assert_null(before.asked);
        jobs j = { .fail_from = -1 };
        cip_status st = cip_pool_run(p, 200, job, &j, &err);
        assert_true(st == CIP_ERR_CANCELLED || (threads > 1 && a.n == 0)); /* or others did all */
        jobs all = { .fail_from = -1 };
        a.n = 0;
        assert_int_equal(cip_pool_run(p, 200, job, &all, NULL), CIP_OK); /* nobody would hear */
        before = cip_stop_pause();
        assert_int_equal(cip_pool_run(p, 200, job, &all, &err), CIP_OK);
        assert_int_equal(a.n, 0);
        assert_ptr_equal(cip_stop_set(before).asked, NULL);
        assert_ptr_equal(cip_stop_pause().user, &a);
        cip_pool_free(p);
    }
    asking third = { .caller = pthread_self(), .stop_at = 3 };
    cip_err err = CIP_ERR_INIT;
    jobs j = { .fail_from = -1 };
    cip_stop_set((cip_stop){ count_asked, &third });
    assert_int_equal(cip_pool_run(NULL, 200, job, &j, &err), CIP_ERR_CANCELLED);
    assert_string_equal(err.text, "stopped by the caller");
    assert_int_equal(j.done[1], 1);
    assert_int_equal(j.done[2], 0);
    cip_stop_pause();
}

typedef struct waiting {
    pthread_t caller;
    bool caller_waits; /* in a job; else for the jobs of others */
    atomic_int begun;
} waiting;

static int stop_once_begun(void *user)
{
    return atomic_load(&((waiting *)user)->begun) == 2;
}

static cip_status wait_for_stop(void *arg, size_t i, cip_err *err)
{
    waiting *w = arg;
    for (atomic_fetch_add(&w->begun, 1); atomic_load(&w->begun) < 2;)
        sched_yield();
    if (!w->caller_waits && pthread_equal(pthread_self(), w->caller))
        return CIP_OK;
    for (;; (void)i)
        CIP_TRY(cip_stop_ask(err));
}

static void jobs_in_other_threads_hear_that_the_caller_stops(void **state)
{
    (void)state;
    cip_pool *p;
    assert_int_equal(cip_pool_new(2, &p, NULL), CIP_OK);
    for (int k = 0; k < 2; k++) {
        cip_err err = CIP_ERR_INIT;
        waiting w = { .caller = pthread_self(), .caller_waits = k == 0 };
        cip_stop_set((cip_stop){ stop_once_begun, &w });
        assert_int_equal(cip_pool_run(p, 2, wait_for_stop, &w, &err), CIP_ERR_CANCELLED);
        cip_stop_pause();
    }
    cip_pool_free(p);
}

static cip_status nested(void *arg, size_t i, cip_err *err)
{
    jobs *j = arg;
    jobs inner = { .fail_from = -1 };
    CIP_TRY(cip_pool_run(j->pool, 20, job, &inner, err));
    atomic_fetch_add(&j->done[i], inner.done[19]);
    return CIP_OK;
}

static void nested_runs_do_not_lock_up(void **state)
{
    (void)state;
    jobs j = { .fail_from = -1 };
    assert_int_equal(cip_pool_new(4, &j.pool, NULL), CIP_OK);
    assert_int_equal(cip_pool_run(j.pool, 50, nested, &j, NULL), CIP_OK);
    for (int i = 0; i < 50; i++)
        assert_int_equal(j.done[i], 1);
    cip_pool_free(j.pool);
}

/* A child has a pool's memory, but none of its threads. */
static void a_pool_from_before_a_fork_works_and_ends_in_the_child(void **state)
{
    (void)state;
    cip_pool *p;
    int status = -1;
    assert_int_equal(cip_pool_new(4, &p, NULL), CIP_OK);
    pid_t child = fork();
    if (child == 0) {
        jobs c = { .fail_from = -1 };
        alarm(20); /* joining threads that are not there need not end */
        bool ok = cip_pool_run(p, 100, job, &c, NULL) == CIP_OK && c.done[99] == 1;
        cip_pool_free(p);
        _exit(ok ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    cip_pool_free(p);
}

static void the_shared_pool_is_made_anew_after_fork(void **state)
{
    (void)state;
    jobs j = { .fail_from = -1 };
    cip_pool *p = cip_pool_shared();
    assert_ptr_equal(p, cip_pool_shared());
    assert_int_equal(cip_pool_run(p, 100, job, &j, NULL), CIP_OK);
    pid_t child = fork();
    if (child == 0) {
        jobs c = { .fail_from = -1 };
        _exit(cip_pool_run(cip_pool_shared(), 100, job, &c, NULL) == CIP_OK && c.done[99] == 1 ? 0
                                                                                               : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* --- reports, limits -------------------------------------------------------------------------- */

static int stop_at_two(void *user, const cip_finding *f)
{
    (void)f;
    return ++*(int *)user == 2;
}

static int stop_at_once(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    return done == 10 && total == 100;
}

static void findings_are_kept_counted_and_passed_on(void **state)
{
    (void)state;
    cip_mem mem;
    int calls = 0;
    cip_report r;
    cip_err err = CIP_ERR_INIT;
    cip_mem_init(&mem, NULL, 0);
    cip_report_init(&r, &mem, true, stop_at_two, &calls);
    cip_report_add(&r, CIP_WARN, CIP_ERR_CORRUPT, 5, 6, NULL, "one %d", 1);
    assert_int_equal(cip_report_status(&r, NULL), CIP_OK);
    cip_report_fixable(&r, CIP_BAD, CIP_ERR_CHECKSUM, 7, 0, "block 1", "two");
    assert_int_equal(cip_report_status(&r, &err), CIP_ERR_CANCELLED);
    cip_fail(&err, CIP_ERR_IO, 9, "three");
    cip_report_err(&r, CIP_NOTE, &err);
    assert_int_equal(calls, 2);
    const cip_finding *f = cip_report_get(&r, 0);
    assert_string_equal(f->text, "one 1");
    assert_string_equal(f->part, "");
    assert_false(f->fixable);
    f = cip_report_get(&r, 1);
    assert_true(f->fixable && f->offset == 7 && f->code == CIP_ERR_CHECKSUM);
    assert_int_equal(cip_report_get(&r, 2)->offset, 9);
    assert_null(cip_report_get(&r, 3));
    assert_true(r.count[CIP_WARN] == 1 && r.count[CIP_BAD] == 1 && r.count[CIP_NOTE] == 1);
    cip_report_add(NULL, CIP_BAD, CIP_OK, 0, 0, NULL, "nowhere");
    cip_report_clear(&r);
    cip_report_init(&r, &mem, true, NULL, NULL);
    for (int i = 0; i < 1001; i++)
        cip_report_add(&r, CIP_WARN, CIP_OK, 0, 0, NULL, "x");
    assert_true(r.n == 1000 && r.count[CIP_WARN] == 1001);
    r.progress = stop_at_once;
    r.total = 100;
    cip_report_progress(&r, 9);
    assert_int_equal(cip_report_status(&r, NULL), CIP_OK);
    cip_report_progress(&r, 1);
    assert_int_equal(cip_report_status(&r, NULL), CIP_ERR_CANCELLED);
    cip_report_clear(&r);
    assert_int_equal(atomic_load(&mem.used), 0);
}

/* Of a report that is passed on; one that is kept lists everything. */
static void want_of_memory_is_no_finding(void **state)
{
    (void)state;
    cip_mem mem;
    int calls = 0;
    cip_report r;
    cip_err err = CIP_ERR_INIT, why = CIP_ERR_INIT;
    cip_mem_init(&mem, NULL, 0);
    cip_report_init(&r, &mem, false, stop_at_two, &calls);
    cip_fail(&why, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for 7 bytes");
    cip_report_err(&r, CIP_BAD, &why);
    assert_true(calls == 0 && r.count[CIP_BAD] == 0);
    assert_int_equal(cip_report_status(&r, &err), CIP_ERR_NOMEM);
    assert_string_equal(err.text, "no memory for 7 bytes");
    cip_report_clear(&r);
    cip_report_init(&r, &mem, true, NULL, NULL);
    cip_report_err(&r, CIP_BAD, &why);
    assert_non_null(cip_report_get(&r, 0));
    assert_int_equal(cip_report_status(&r, NULL), CIP_OK);
    cip_report_clear(&r);
}

static void limits_that_are_zero_get_their_defaults(void **state)
{
    (void)state;
    cip_limits out, in = { .size = sizeof in, .max_depth = 7, .max_cache = 9 };
    assert_int_equal(cip_limits_resolve(&in, &out, NULL), CIP_OK);
    assert_true(out.max_depth == 7 && out.max_cache == 9 && out.max_memory == UINT64_C(2) << 30);
    assert_true(out.max_nodes != 0 && out.max_work != 0 && out.max_tree_bytes != 0 &&
                out.max_directives == 64 && out.max_expansion != 0 && out.max_blocks != 0 &&
                out.max_external != 0 && out.max_elements == 0);
    in.size = 0;
    assert_int_equal(cip_limits_resolve(&in, &out, NULL), CIP_ERR_ARG);
    in.size = SIZE_MAX;
    assert_int_equal(cip_limits_resolve(&in, &out, NULL), CIP_ERR_ARG);
    in.size = offsetof(cip_limits, max_cache); /* of an older program: the rest is default */
    assert_int_equal(cip_limits_resolve(&in, &out, NULL), CIP_OK);
    assert_true(out.max_depth == 256 && out.max_cache == UINT64_C(64) << 20);
    assert_int_equal(cip_limits_resolve(NULL, &out, NULL), CIP_OK);
    assert_int_equal(out.size, sizeof out);
}

typedef struct sized {
    size_t size;
    int64_t a, b;
} sized;

typedef struct newer_sized {
    size_t size;
    int64_t a, b, c;
} newer_sized;

static void structs_of_other_versions_are_taken(void **state)
{
    (void)state;
    sized out;
    const sized older = { offsetof(sized, b), 1, 2 };
    newer_sized newer = { sizeof newer, 3, 4, 0 };
    assert_int_equal(CIP_SIZED_TAKE(sized, &older, &out, NULL), CIP_OK);
    assert_true(out.size == sizeof out && out.a == 1 && out.b == 0);
    assert_int_equal(cip_sized_take("sized", &newer, &out, sizeof out, NULL), CIP_OK);
    assert_true(out.size == sizeof out && out.a == 3 && out.b == 4);
    newer.c = INT64_C(1) << 56; /* what it means nobody here knows */
    assert_int_equal(cip_sized_take("sized", &newer, &out, sizeof out, NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(CIP_SIZED_TAKE(sized, NULL, &out, NULL), CIP_OK);
    assert_true(out.size == sizeof out && out.a == 0 && out.b == 0);
}

static void structs_of_other_versions_are_filled(void **state)
{
    (void)state;
    const sized from = { sizeof from, 1, 2 };
    sized older = { offsetof(sized, b), 7, 7 };
    newer_sized newer = { sizeof newer, 7, 7, 7 };
    cip_sized_give(&older, &from, sizeof from);
    assert_true(older.size == offsetof(sized, b) && older.a == 1 && older.b == 7);
    cip_sized_give(&newer, &from, sizeof from);
    assert_true(newer.size == sizeof newer && newer.a == 1 && newer.b == 2 && newer.c == 0);
    const size_t bad[] = { 0, sizeof(size_t) - 1, SIZE_MAX };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(cip_sized_room("sized", &bad[i], NULL), CIP_ERR_ARG);
    assert_int_equal(cip_sized_room("sized", NULL, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_sized_room("sized", &older, NULL), CIP_OK);
}

static int count_finding(void *user, const cip_finding *f)
{
    (void)f;
    ++*(int *)user;
    return 0;
}

static void a_report_that_says_all_once_drops_repetitions(void **state)
{
    (void)state;
    cip_mem mem;
    cip_report r;
    int n = 0;
    cip_mem_init(&mem, NULL, 0);
    cip_report_init(&r, &mem, false, count_finding, &n);
    r.once = true;
    cip_report_add(&r, CIP_BAD, CIP_ERR_CORRUPT, 7, 0, "block 1", "damage");
    cip_report_add(&r, CIP_WARN, CIP_ERR_CORRUPT, 7, 1, "block 1", "damage");
    assert_int_equal(n, 1);
    cip_report_add(&r, CIP_BAD, CIP_ERR_CORRUPT, 8, 0, "block 1", "damage");
    cip_report_add(&r, CIP_BAD, CIP_ERR_CORRUPT, 7, 0, "block 2", "damage");
    cip_report_add(&r, CIP_BAD, CIP_ERR_CORRUPT, 7, 0, "block 1", "other damage");
    assert_int_equal(n, 4);
    assert_int_equal(r.count[CIP_BAD], 4);
    cip_report_clear(&r);
    assert_int_equal(cip_severity_of(CIP_ERR_UNSUPPORTED), CIP_WARN);
    assert_int_equal(cip_severity_of(CIP_ERR_CORRUPT), CIP_BAD);
}

static void bytes_that_differ_are_found_in_runs(void **state)
{
    enum { N = 1200 };
    static uint8_t a[N], b[N];
    static const struct {
        size_t near, at[6], nat, run[6], nrun;
    } want[] = {
        { 1, { 0 }, 0, { 0 }, 0 },
        { 1, { 0, 1, 3 }, 3, { 0, 2, 3, 4 }, 4 },
        { 2, { 0, 2, 5 }, 3, { 0, 3, 5, 6 }, 4 },
        { 64, { 3, 67, 132 }, 3, { 3, 68, 132, 133 }, 4 },
        { 64, { 255, 256, 600, N - 1 }, 4, { 255, 257, 600, 601, N - 1, N }, 6 },
    };
    (void)state;
    for (size_t k = 0; k < sizeof want / sizeof *want; k++) {
        size_t i = 0, end, n = 0;
        memset(a, 7, N);
        memset(b, 7, N);
        for (size_t j = 0; j < want[k].nat; j++)
            b[want[k].at[j]] = 8;
        for (; cip_next_difference(a, b, N, want[k].near, &i, &end); i = end) {
            assert_true(n + 2 <= want[k].nrun);
            assert_int_equal(i, want[k].run[n++]);
            assert_int_equal(end, want[k].run[n++]);
        }
        assert_int_equal(n, want[k].nrun);
    }
}

static void set(cip_undo *u, int *x, int v)
{
    assert_int_equal(cip_undo_keep(u, x, sizeof *x, NULL), CIP_OK);
    *x = v;
}

static void what_was_overwritten_is_put_back(void **state)
{
    (void)state;
    static uint8_t much[600 << 10];
    cip_mem mem;
    int x = 1, y = 1;
    cip_mem_init(&mem, NULL, 0);
    cip_undo u = { .mem = &mem, .call = 1 };
    set(&u, &x, 2);
    set(&u, &x, 3);
    assert_true(cip_undo_call(&u)); /* all of the call that failed */
    assert_int_equal(x, 1);
    set(&u, &x, 4);
    cip_undo_next(&u); /* it stays */
    assert_int_equal(u.n, 0);
    u.mark = 1;
    const size_t before = u.n;
    set(&u, &y, 5);
    const size_t mark = u.n;
    set(&u, &x, 6);
    cip_undo_next(&u);
    set(&u, &x, 7);
    assert_true(cip_undo_call(&u)); /* but what earlier ones did */
    assert_int_equal(x, 6);
    y = 8;
    cip_undo_to(&u, mark);
    cip_undo_again(&u, before); /* the state of the mark, as often as it is wanted */
    assert_true(x == 4 && y == 1);
    y = 9;
    cip_undo_again(&u, before);
    assert_int_equal(y, 1);
    u.mark = 0;
    cip_undo_next(&u);
    assert_int_equal(u.n, 0);
    for (int i = 0; i < 2; i++) /* more than a call alone keeps */
        assert_int_equal(cip_undo_keep(&u, much, sizeof much, NULL), CIP_OK);
    set(&u, &x, 9);
    assert_int_equal(u.n, 0); /* nor anything after that */
    assert_false(cip_undo_call(&u));
    cip_undo_next(&u);
    assert_int_equal(mem.used, 0);
    assert_true(cip_undo_call(&u));
    set(&u, &x, 8);
    cip_undo_end(&u);
    assert_int_equal(mem.used, 0);
    set(NULL, &x, 9); /* no log */
}

static int ended;

static void end_spare(void *x)
{
    *(int *)x = 0;
    ended++;
}

static void spares_are_given_again_and_ended_once(void **state)
{
    (void)state;
    int x[CIP_SPARES + 2] = { 0 };
    static cip_spares s;
    assert_null(cip_spares_take(&s));
    assert_null(cip_spares_take(NULL));
    for (int i = 0; i < CIP_SPARES + 1; i++) {
        x[i] = i + 1;
        cip_spares_give(&s, &x[i], end_spare);
    }
    assert_int_equal(ended, 1); /* there was no room for the last one */
    assert_int_equal(x[CIP_SPARES], 0);
    int *one = cip_spares_take(&s);
    assert_ptr_equal(one, &x[0]);
    cip_spares_give(&s, one, end_spare);
    x[CIP_SPARES + 1] = 1;
    cip_spares_give(NULL, &x[CIP_SPARES + 1], end_spare);
    assert_int_equal(ended, 2);
    cip_spares_clear(&s);
    assert_int_equal(ended, 2 + CIP_SPARES);
    assert_null(cip_spares_take(&s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hexadecimal_digits_have_either_case),
        cmocka_unit_test(errors_are_set_once_and_name_their_part),
        cmocka_unit_test(patterns_are_repeated_from_any_byte_on),
        cmocka_unit_test(cursor_past_the_end_gives_zeros_and_sticks),
        cmocka_unit_test(numbers_are_checked_and_in_order),
        cmocka_unit_test(memory_is_counted_and_bounded),
        cmocka_unit_test(lists_get_room_for_one_more),
        cmocka_unit_test(an_allocator_without_memory_is_told),
        cmocka_unit_test(arenas_give_aligned_pieces_of_any_size),
        cmocka_unit_test(buffers_grow),
        cmocka_unit_test(siphash_is_the_published_one),
        cmocka_unit_test(maps_find_what_was_put),
        cmocka_unit_test(every_job_runs_once_and_the_lowest_error_wins),
        cmocka_unit_test(the_caller_may_stop_a_run_and_jobs_that_run_end_first),
        cmocka_unit_test(jobs_in_other_threads_hear_that_the_caller_stops),
        cmocka_unit_test(nested_runs_do_not_lock_up),
        cmocka_unit_test(a_pool_from_before_a_fork_works_and_ends_in_the_child),
        cmocka_unit_test(the_shared_pool_is_made_anew_after_fork),
        cmocka_unit_test(findings_are_kept_counted_and_passed_on),
        cmocka_unit_test(want_of_memory_is_no_finding),
        cmocka_unit_test(limits_that_are_zero_get_their_defaults),
        cmocka_unit_test(structs_of_other_versions_are_taken),
        cmocka_unit_test(structs_of_other_versions_are_filled),
        cmocka_unit_test(a_report_that_says_all_once_drops_repetitions),
        cmocka_unit_test(bytes_that_differ_are_found_in_runs),
        cmocka_unit_test(what_was_overwritten_is_put_back),
        cmocka_unit_test(spares_are_given_again_and_ended_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
