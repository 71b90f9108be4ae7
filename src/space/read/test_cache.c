/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "space/read/cache.h"
#include "support/fail_alloc.h"
#include "support/own_env.h"

static cip_cache *new_cache(uint64_t max)
{
    cip_cache *c;
    assert_int_equal(cip_cache_new(&env, max, &c, NULL), CIP_OK);
    assert_int_equal(cip_cache_max(c), max);
    return c;
}

/* n bytes, all `value`. */
static cip_cache_entry *put(cip_cache *c, cip_cache_key key, size_t n, int value)
{
    void *p;
    cip_cache_entry *pin;
    assert_int_equal(cip_mem_get(&env.mem, n, &p, NULL), CIP_OK);
    memset(p, value, n);
    assert_int_equal(cip_cache_put(c, key, (cip_cache_data){ p, n, false }, &pin, NULL), CIP_OK);
    assert_non_null(pin);
    return pin;
}

static void put_and_leave(cip_cache *c, cip_cache_key key, size_t n, int value)
{
    cip_cache_unpin(c, put(c, key, n, value));
}

static bool is_there(cip_cache *c, cip_cache_key key)
{
    size_t len;
    cip_cache_entry *pin;
    bool there = cip_cache_get(c, key, &len, &pin) != NULL;
    assert_int_equal(there, pin != NULL);
    cip_cache_unpin(c, pin);
    return there;
}

static void what_was_put_is_found_under_its_whole_key(void **state)
{
    (void)state;
    cip_cache *c = new_cache(1000);
    size_t len = 0;
    cip_cache_entry *pin;
    put_and_leave(c, (cip_cache_key){ 1, 2, 3 }, 10, 'a');
    put_and_leave(c, (cip_cache_key){ 1, 2, 4 }, 11, 'b');
    const uint8_t *p = cip_cache_get(c, (cip_cache_key){ 1, 2, 3 }, &len, &pin);
    assert_non_null(p);
    assert_int_equal(len, 10);
    assert_int_equal(p[0], 'a');
    assert_int_equal(p[9], 'a');
    cip_cache_unpin(c, pin);
    assert_false(is_there(c, (cip_cache_key){ 2, 2, 3 }));
    assert_false(is_there(c, (cip_cache_key){ 1, 3, 3 }));
    assert_false(is_there(c, (cip_cache_key){ 1, 2, 5 }));
    assert_int_equal(cip_cache_nbytes(c), 21);
    cip_cache_free(c);
}

static void the_bound_on_bytes_holds_to_the_last_byte(void **state)
{
    (void)state;
    cip_cache *c = new_cache(100);
    put_and_leave(c, (cip_cache_key){ .chunk = 1 }, 50, 1);
    put_and_leave(c, (cip_cache_key){ .chunk = 2 }, 50, 2);
    assert_int_equal(cip_cache_nbytes(c), 100);
    assert_true(is_there(c, (cip_cache_key){ .chunk = 1 }));
    put_and_leave(c, (cip_cache_key){ .chunk = 3 }, 1, 3);
    assert_int_equal(cip_cache_nbytes(c), 51);
    assert_true(is_there(c, (cip_cache_key){ .chunk = 3 }));
    cip_cache_free(c);
}

static void a_large_entry_empties_every_shard(void **state)
{
    (void)state;
    cip_cache *c = new_cache(1000);
    for (uint64_t i = 0; i < 100; i++)
        put_and_leave(c, (cip_cache_key){ .chunk = i }, 10, 1);
    assert_int_equal(cip_cache_nbytes(c), 1000);
    put_and_leave(c, (cip_cache_key){ .space = 9 }, 1000, 2);
    assert_int_equal(cip_cache_nbytes(c), 1000);
    assert_true(is_there(c, (cip_cache_key){ .space = 9 }));
    for (uint64_t i = 0; i < 100; i++)
        assert_false(is_there(c, (cip_cache_key){ .chunk = i }));
    cip_cache_free(c);
}

static void what_is_larger_than_the_cache_is_kept_alone_where_asked(void **state)
{
    (void)state;
    cip_cache *c = new_cache(100);
    cip_cache_entry *pin;
    const cip_cache_key large = { .chunk = 5 }, small = { .chunk = 6 };
    uint8_t *bytes = NULL;
    put_and_leave(c, small, 50, 1);
    assert_int_equal(cip_mem_zeroed(&env.mem, 101, 1, (void **)&bytes, NULL), CIP_OK);
    assert_int_equal(cip_cache_put(c, large, (cip_cache_data){ bytes, 101, true }, &pin, NULL),
                     CIP_OK);
    cip_cache_unpin(c, pin);
    assert_true(is_there(c, large));
    assert_false(is_there(c, small));
    put_and_leave(c, small, 50, 1); /* and now this one */
    assert_false(is_there(c, large));
    assert_true(is_there(c, small));
    cip_cache_free(c);
    c = new_cache(0); /* keeps nothing */
    assert_int_equal(cip_mem_zeroed(&env.mem, 1, 1, (void **)&bytes, NULL), CIP_OK);
    assert_int_equal(cip_cache_put(c, large, (cip_cache_data){ bytes, 1, true }, &pin, NULL),
                     CIP_OK);
    cip_cache_unpin(c, pin);
    assert_false(is_there(c, large));
    cip_cache_free(c);
}

static void many_entries_come_and_go(void **state)
{
    (void)state;
    cip_cache *c = new_cache(5000);
    for (uint64_t i = 0; i < 5000; i++) {
        put_and_leave(c, (cip_cache_key){ i % 3, i, 0 }, (size_t)(i % 40), (int)i);
        assert_true(cip_cache_nbytes(c) <= 5000);
        assert_true(is_there(c, (cip_cache_key){ i % 3, i, 0 }));
    }
    assert_true(cip_cache_nbytes(c) > 4900);
    cip_cache_free(c);
}

static void what_is_pinned_stays(void **state)
{
    (void)state;
    cip_cache *c = new_cache(100);
    cip_cache_entry *pin = put(c, (cip_cache_key){ .chunk = 1 }, 60, 'p');
    put_and_leave(c, (cip_cache_key){ .chunk = 2 }, 60, 2); /* no room: only held */
    assert_false(is_there(c, (cip_cache_key){ .chunk = 2 }));
    assert_true(is_there(c, (cip_cache_key){ .chunk = 1 }));
    cip_cache_drop(c);
    assert_int_equal(cip_cache_nbytes(c), 60);
    cip_cache_unpin(c, pin);
    cip_cache_drop(c);
    assert_int_equal(cip_cache_nbytes(c), 0);
    cip_cache_free(c);
}

static void what_was_asked_for_outlives_what_was_not(void **state)
{
    (void)state;
    cip_cache *c = new_cache(300);
    cip_cache_key kept = { .chunk = 7 };
    put_and_leave(c, kept, 10, 1);
    for (uint64_t i = 100; i < 400;
         i++) { /* the hand goes round often, and it is asked for between */
        put_and_leave(c, (cip_cache_key){ .chunk = i }, 10, 2);
        assert_true(is_there(c, kept));
    }
    cip_cache_free(c);
}

static void a_second_put_of_a_key_is_only_held(void **state)
{
    (void)state;
    cip_cache *c = new_cache(100);
    cip_cache_key key = { .chunk = 1 };
    size_t len;
    cip_cache_entry *got, *second;
    put_and_leave(c, key, 10, 'a');
    second = put(c, key, 20, 'b');
    assert_int_equal(cip_cache_nbytes(c), 10);
    assert_int_equal(cip_cache_get(c, key, &len, &got)[0], 'a');
    cip_cache_unpin(c, got);
    cip_cache_unpin(c, second);
    assert_true(is_there(c, key));
    cip_cache_free(c);
}

static void no_bytes_allowed_keeps_nothing(void **state)
{
    (void)state;
    cip_cache *c = new_cache(0);
    uint64_t before = env.mem.used;
    put_and_leave(c, (cip_cache_key){ .chunk = 1 }, 1, 1);
    assert_false(is_there(c, (cip_cache_key){ .chunk = 1 }));
    assert_int_equal(env.mem.used, before);
    cip_cache_free(c);
}

static void bytes_too_many_leave_the_others_alone(void **state)
{
    (void)state;
    cip_cache *c = new_cache(100);
    put_and_leave(c, (cip_cache_key){ .chunk = 1 }, 100, 1);
    put_and_leave(c, (cip_cache_key){ .chunk = 2 }, 101, 2);
    assert_true(is_there(c, (cip_cache_key){ .chunk = 1 }));
    assert_false(is_there(c, (cip_cache_key){ .chunk = 2 }));
    cip_cache_free(c);
}

static void failing_memory_takes_the_bytes_all_the_same(void **state)
{
    (void)state;
    fail_alloc f = { .fail_at = 3 };
    cip_allocator from = { fail_alloc_resize, &f };
    cip_env own;
    cip_cache *c;
    void *p;
    cip_cache_entry *pin;
    assert_int_equal(cip_env_init(&own, NULL, &from, NULL, NULL), CIP_OK);
    assert_int_equal(cip_cache_new(&own, 100, &c, NULL), CIP_OK);
    assert_int_equal(cip_mem_get(&own.mem, 10, &p, NULL), CIP_OK);
    assert_int_equal(cip_cache_put(c, (cip_cache_key){ .chunk = 1 },
                                   (cip_cache_data){ p, 10, false }, &pin, NULL),
                     CIP_ERR_NOMEM);
    assert_null(pin);
    cip_cache_free(c);
    cip_cache_free(NULL);
    cip_env_clear(&own);
    assert_int_equal(f.held, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_put_is_found_under_its_whole_key, setup, teardown),
        cmocka_unit_test_setup_teardown(the_bound_on_bytes_holds_to_the_last_byte, setup, teardown),
        cmocka_unit_test_setup_teardown(a_large_entry_empties_every_shard, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_larger_than_the_cache_is_kept_alone_where_asked,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(many_entries_come_and_go, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_pinned_stays, setup, teardown),
        cmocka_unit_test_setup_teardown(what_was_asked_for_outlives_what_was_not, setup, teardown),
        cmocka_unit_test_setup_teardown(a_second_put_of_a_key_is_only_held, setup, teardown),
        cmocka_unit_test_setup_teardown(no_bytes_allowed_keeps_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_too_many_leave_the_others_alone, setup, teardown),
        cmocka_unit_test(failing_memory_takes_the_bytes_all_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
