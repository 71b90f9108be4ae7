/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "space/sequential/checkpoints.h"
#include "support/fail_alloc.h"

enum { GAP = 1000, ID = 7 };

typedef struct kit {
    fail_alloc alloc;
    cip_env env;
    cip_checkpoints *m;
    uint64_t len;  /* of the spaces */
    uint64_t next; /* as the last put said */
} kit;

static cip_status kit_open(kit *k, uint64_t max, size_t fail_at)
{
    memset(k, 0, sizeof *k);
    assert_int_equal(
        cip_env_init(&k->env, NULL, &(cip_allocator){ fail_alloc_resize, &k->alloc }, NULL, NULL),
        CIP_OK);
    k->alloc.fail_at = fail_at != 0 ? k->alloc.requests + fail_at : 0;
    return cip_checkpoints_new(&k->env, max, GAP, &k->m, NULL);
}

static void kit_close(kit *k)
{
    cip_checkpoints_free(k->m);
    cip_env_clear(&k->env);
    assert_int_equal(k->alloc.held, 0);
}

/* A checkpoint whose window says where it is. */
static void put(kit *k, uint64_t id, uint64_t raw, size_t window_len)
{
    uint8_t window[CIP_CHECKPOINT_WINDOW];
    memset(window, (int)(raw / GAP), sizeof window);
    k->next = cip_checkpoints_put(k->m, id, k->len,
                                  &(cip_checkpoint){ 3 * raw, raw, window_len, window });
}

static uint64_t found(kit *k, uint64_t id, uint64_t pos)
{
    uint8_t window[CIP_CHECKPOINT_WINDOW];
    cip_checkpoint checkpoint;
    if (!cip_checkpoints_find(k->m, id, pos, &checkpoint, window))
        return UINT64_MAX;
    assert_int_equal(checkpoint.in_bits, 3 * checkpoint.raw);
    assert_ptr_equal(checkpoint.window, window);
    for (size_t i = 0; i < checkpoint.window_len; i++)
        assert_int_equal(window[i], (uint8_t)(checkpoint.raw / GAP));
    return checkpoint.raw;
}

static void the_nearest_before_is_found(void **state)
{
    (void)state;
    kit k;
    assert_int_equal(kit_open(&k, 1 << 20, 0), CIP_OK);
    assert_int_equal(found(&k, ID, 5000), UINT64_MAX);
    assert_int_equal(cip_checkpoints_next(k.m, ID, 100000, 0), GAP / 8);
    put(&k, ID, 3000, 2000);
    put(&k, ID, 1000, 2000); /* another decoder, later */
    put(&k, ID, 9000, 2000);
    assert_int_equal(found(&k, ID, 999), UINT64_MAX);
    assert_int_equal(found(&k, ID, 1000), 1000);
    assert_int_equal(found(&k, ID, 8999), 3000);
    assert_int_equal(found(&k, ID, UINT64_MAX), 9000);
    assert_int_equal(found(&k, 8, 5000), UINT64_MAX); /* another space */
    assert_int_equal(cip_checkpoints_count(k.m, NULL), 3);
    kit_close(&k);
}

static void checkpoints_lie_a_gap_apart(void **state)
{
    (void)state;
    kit k;
    assert_int_equal(kit_open(&k, 1 << 20, 0), CIP_OK);
    put(&k, ID, 0, 2000); /* the beginning needs none */
    put(&k, ID, 2000, 2000);
    put(&k, ID, 2999, 2000);
    assert_int_equal(k.next, 3000);
    put(&k, ID, 1001, 2000);
    assert_int_equal(cip_checkpoints_count(k.m, NULL), 1);
    assert_int_equal(cip_checkpoints_next(k.m, ID, 100000, 2500), 3000);
    assert_int_equal(cip_checkpoints_next(k.m, ID, 100000, 3500), 3500);
    put(&k, ID, 4000, 2000);
    assert_int_equal(cip_checkpoints_next(k.m, ID, 100000, 2500),
                     3000); /* there is just room for one */
    put(&k, ID, 3000, 2000);
    assert_int_equal(cip_checkpoints_next(k.m, ID, 100000, 2500), 5000);
    put(&k, ID, 5000, 8);
    put(&k, ID, 5000 + GAP / 8, 8); /* small ones lie closer */
    assert_int_equal(cip_checkpoints_count(k.m, NULL), 5);
    k.len = 1024 * 5000;
    assert_int_equal(cip_checkpoints_next(k.m, 9, k.len, 0), 5000 / 8);
    put(&k, 9, 1000, 2000);
    assert_int_equal(k.next, 6000);
    assert_int_equal(cip_checkpoints_next(k.m, 9, 1024 * 5000, 1000),
                     6000); /* fewer in a large space */
    kit_close(&k);
}

static void a_full_store_is_thinned_evenly(void **state)
{
    (void)state;
    kit k;
    enum { MAX = 100000, EACH = 2000 };
    assert_int_equal(kit_open(&k, MAX, 0), CIP_OK);
    put(&k, 1, 500, EACH);
    for (uint64_t raw = 1000; raw < 300000; raw = cip_checkpoints_next(k.m, ID, 300000, raw + 1)) {
        put(&k, ID, raw, EACH);
        assert_true(cip_checkpoints_nbytes(k.m) <= MAX);
        assert_true(k.env.mem.used <= MAX + 20000);
    }
    size_t n = cip_checkpoints_count(k.m, NULL);
    assert_true(n > 20 && n < 50);
    assert_int_equal(found(&k, 1, 1000), 500); /* the other space keeps its one */
    uint8_t window[CIP_CHECKPOINT_WINDOW];
    cip_checkpoint a, b;
    for (size_t i = 1; i + 1 < n && cip_checkpoints_at(k.m, ID, i, &b, window); i++) {
        assert_true(cip_checkpoints_at(k.m, ID, i - 1, &a, window));
        assert_true(b.raw - a.raw >= GAP && b.raw - a.raw <= 16 * GAP);
    }
    kit_close(&k);
}

static void what_does_not_fit_at_all_is_left_out(void **state)
{
    (void)state;
    kit k;
    assert_int_equal(kit_open(&k, 1000, 0), CIP_OK);
    put(&k, ID, 5000, 2000);
    assert_int_equal(cip_checkpoints_count(k.m, NULL), 0);
    assert_int_equal(k.next, 5000 + GAP); /* not at once: making one is dear */
    put(&k, ID, 5000, 100);
    assert_int_equal(cip_checkpoints_count(k.m, NULL), 1);
    kit_close(&k);
    assert_int_equal(kit_open(&k, 0, 0), CIP_OK);
    put(&k, ID, 5000, 1);
    assert_int_equal(cip_checkpoints_count(k.m, NULL), 0);
    assert_int_equal(k.next, 5000 + GAP / 8);
    kit_close(&k);
}

static void failing_allocations_leave_checkpoints_out(void **state)
{
    (void)state;
    size_t seen[2] = { 0 };
    for (size_t at = 1; at <= 8; at++) {
        kit k;
        if (kit_open(&k, 1 << 20, at) == CIP_OK) {
            put(&k, ID, 5000, 2000);
            seen[cip_checkpoints_count(k.m, NULL)]++;
            assert_int_equal(found(&k, ID, 6000),
                             cip_checkpoints_count(k.m, NULL) != 0 ? 5000 : UINT64_MAX);
            assert_int_equal(cip_checkpoints_nbytes(k.m) != 0,
                             cip_checkpoints_count(k.m, NULL) != 0);
            assert_int_equal(k.next, 5000 + GAP);
        }
        kit_close(&k);
    }
    assert_true(seen[0] >= 3 && seen[1] >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_nearest_before_is_found),
        cmocka_unit_test(checkpoints_lie_a_gap_apart),
        cmocka_unit_test(a_full_store_is_thinned_evenly),
        cmocka_unit_test(what_does_not_fit_at_all_is_left_out),
        cmocka_unit_test(failing_allocations_leave_checkpoints_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
