/* SPDX-License-Identifier: BSD-3-Clause
 * Records in pieces of any size to the chunks of their columns: parts put together, columns in
 * order, the same with any threads; failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "space/make/splitter.h"
#include "support/fail_alloc.h"

enum { N = 1000, ITEM = 8, COLUMNS = 2, FIRST = 5 };

/* Bytes 1 to 3 and 6 of a record, in the other order; and bytes 4 and 5. Nobody has 0 and 7. */
static const cip_record_part parts[3] = { { 6, 0, 1 }, { 1, 1, 3 }, { 4, 0, 2 } };
static const size_t widths[COLUMNS] = { 4, 2 };

typedef struct taken {
    uint8_t bytes[COLUMNS][4 * N];
    size_t n[COLUMNS];
    uint64_t next[COLUMNS];
    size_t calls, fail_at;
} taken;

static cip_status take(void *user, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                       cip_err *err)
{
    taken *t = user;
    const size_t c = array - FIRST;
    assert_true(c < COLUMNS);
    if (++t->calls == t->fail_at)
        return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "the disk is full");
    for (size_t k = 0; k < n; k++) {
        assert_int_equal(i + k, t->next[c]++);
        assert_true(chunk[k].bytes.len == 70 * widths[c] || t->n[c] / (70 * widths[c]) == N / 70);
        memcpy(t->bytes[c] + t->n[c], chunk[k].bytes.ptr, chunk[k].bytes.len);
        t->n[c] += chunk[k].bytes.len;
    }
    return CIP_OK;
}

static cip_status run(cip_env *env, size_t step, taken *t, cip_err *err)
{
    cip_arena a = { .mem = &env->mem };
    cip_array_form form = { .column = NULL }, own[COLUMNS] = { { .nstep = 0 }, { .nstep = 0 } };
    cip_form_column column[COLUMNS];
    cip_splitter *s = NULL;
    uint8_t records[N * ITEM];
    cip_status st = CIP_OK;
    for (size_t i = 0; i < sizeof records; i++)
        records[i] = (uint8_t)(i * i / 3);
    CIP_GO(cip_dtype_opaque(&a, ITEM, NULL, &form.dtype, err));
    for (size_t i = 0; i < COLUMNS; i++) {
        CIP_GO(cip_dtype_opaque(&a, widths[i], NULL, &own[i].dtype, err));
        own[i].chunk_nbytes = 70 * widths[i];
        column[i] = (cip_form_column){ FIRST + i, &own[i], &parts[2 * i], 2 - i };
    }
    form.column = column;
    form.ncolumn = COLUMNS;
    const cip_splitter_to to = { take, t, NULL };
    CIP_GO(cip_splitter_new(env, &form, N, &to, &s, err));
    for (size_t at = 0, n; at < N; at += n) {
        n = N - at < step ? N - at : step;
        CIP_GO(cip_splitter_write(s, (cip_bytes){ records + at * ITEM, n * ITEM }, err));
    }
    CIP_GO(cip_splitter_finish(s, err));
    for (size_t r = 0; r < N; r++) {
        const uint8_t *record = records + r * ITEM;
        assert_int_equal(t->bytes[0][4 * r], record[6]);
        assert_memory_equal(t->bytes[0] + 4 * r + 1, record + 1, 3);
        assert_memory_equal(t->bytes[1] + 2 * r, record + 4, 2);
    }
done:
    cip_splitter_free(s);
    cip_arena_clear(&a);
    return st;
}

static void each_column_has_its_parts(void **state)
{
    (void)state;
    static const size_t steps[] = { 1, 7, 70, 999, N };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        cip_env env;
        taken t = { .calls = 0 };
        assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
        assert_int_equal(run(&env, steps[i], &t, NULL), CIP_OK);
        assert_true(t.n[0] == 4 * N && t.n[1] == 2 * N);
        assert_int_equal(t.next[1], N / 70 + 1);
        cip_env_clear(&env);
        assert_int_equal(env.mem.used, 0);
    }
}

static void a_store_that_fails_ends_it(void **state)
{
    (void)state;
    for (size_t k = 1; k < 10; k++) {
        cip_env env;
        cip_err err = CIP_ERR_INIT;
        taken t = { .fail_at = k };
        assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
        const cip_status st = run(&env, 10, &t, &err);
        assert_int_equal(st, t.calls < k ? CIP_OK : CIP_ERR_IO);
        cip_env_clear(&env);
    }
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        cip_env env;
        taken t = { .calls = 0 };
        cip_status st = cip_env_init(&env, NULL, &from, NULL, NULL);
        if (st == CIP_OK) {
            st = run(&env, 33, &t, NULL);
            cip_env_clear(&env);
        }
        assert_int_equal(alloc.held, 0);
        if (alloc.requests < n)
            break;
        assert_true(st == CIP_ERR_NOMEM || st == CIP_OK); /* fewer chunks at once will do */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_column_has_its_parts),
        cmocka_unit_test(a_store_that_fails_ends_it),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
