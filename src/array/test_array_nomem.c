/* SPDX-License-Identifier: BSD-3-Clause
 * Every request for memory fails once: the call fails with it, nothing leaks, and the output of a
 * failure is NULL. */
#include "support/array/array_testing.h"

#include "array/cast.h"
#include "array/quote.h"
#include "support/fail_alloc.h"

/* Large enough that arenas, buffers and maps need more than one piece. */
static char *long_text(const char *open, const char *form, const char *close, int n)
{
    size_t room = 64 * (size_t)n + 64, at = 0;
    char *text = malloc(room);
    at += (size_t)snprintf(text, room, "%s", open);
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, room - at, form, i);
    snprintf(text + at, room - at, "%s", close);
    return text;
}

typedef cip_status work_fn(cip_arena *a, const char *text, cip_err *err);

/* Runs the work until it gets all the memory that it asks for. */
static void run_out(work_fn *work, const char *text)
{
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator from = { fail_alloc_resize, &f };
        cip_mem mem;
        cip_arena a = { .mem = &mem };
        cip_err err = CIP_ERR_INIT;
        cip_mem_init(&mem, &from, 0);
        cip_status st = work(&a, text, &err);
        cip_arena_clear(&a);
        assert_int_equal(f.held, 0);
        assert_int_equal(mem.used, 0);
        if (f.requests < n) {
            assert_int_equal(st, CIP_OK);
            break;
        }
        failures++;
        assert_int_equal(st, CIP_ERR_NOMEM);
        assert_int_equal(err.code, CIP_ERR_NOMEM);
    }
    assert_true(failures > 0);
}

static cip_status parse(cip_arena *a, const char *text, cip_err *err)
{
    const cip_dtype *d = (const cip_dtype *)a;
    cip_status st = cip_dtype_of_text(a, text, strlen(text), false, &d, err);
    assert_int_equal(d == NULL, st != CIP_OK);
    return st;
}

/* Parses and changes, writes and shows what came out. */
static cip_status use(cip_arena *a, const char *text, cip_err *err)
{
    const cip_dtype *d, *e = (const cip_dtype *)a;
    char *descr = (char *)a;
    cip_buf b = { .mem = a->mem };
    cip_status st;
    CIP_TRY(cip_dtype_of_text(a, text, strlen(text), false, &d, err));
    st = cip_dtype_copy(a, d, &e, err);
    assert_int_equal(e == NULL, st != CIP_OK);
    if (st != CIP_OK)
        return st;
    CIP_TRY(cip_dtype_packed_le(a, d, &e, err));
    CIP_TRY(cip_dtype_with_order(a, d, true, &e, err));
    st = cip_dtype_numpy(a, d, &descr, err);
    assert_int_equal(descr == NULL, st != CIP_OK);
    if (st != CIP_OK)
        return st;
    uint8_t *element = calloc(1, (size_t)d->itemsize + 1);
    st = cip_elem_format(d, element, &b, err);
    free(element);
    cip_buf_clear(&b);
    return st;
}

static void run_out_of_all(const char *text)
{
    run_out(parse, text);
    run_out(use, text);
}

static void our_records_run_out_of_memory(void **state)
{
    char *text =
        long_text("{", "'a long name: %d': {b: ucs4-3[2, 2], c: datetime64[25s]},", "}", 60);
    (void)state;
    run_out_of_all(text);
    free(text);
    run_out_of_all("{'\\x41\\n': {b: S7, c: timedelta64, d: complex128}[3]}");
}

static void lists_of_numpy_run_out_of_memory(void **state)
{
    char *text = long_text("[", "(('t', 'name %d'), [('a', 'V3'), ('', 'V2')], (2,)),", "]", 60);
    (void)state;
    run_out_of_all(text);
    free(text);
}

static void dicts_of_numpy_run_out_of_memory(void **state)
{
    char *names = long_text("{'names': [", "'n%d',", "], 'titles': ['x', None]", 60);
    char *formats = long_text(", 'formats': [", "('int24', %d),", "], 'itemsize': 400000", 60);
    char *offsets = long_text(", 'offsets': [", "%d000,", "]}", 60);
    size_t n = strlen(names) + strlen(formats) + strlen(offsets) + 1;
    char *text = malloc(n);
    (void)state;
    snprintf(text, n, "%s%s%s", names, formats, offsets);
    run_out_of_all(text);
    free(names);
    free(formats);
    free(offsets);
    free(text);
}

static void short_types_run_out_of_memory(void **state)
{
    (void)state;
    run_out_of_all("S5");
    run_out_of_all("U5");
    run_out_of_all("V5");
    run_out_of_all("M8");
    run_out_of_all("m8[25s]");
    run_out_of_all("float128");
}

static cip_status quote(cip_arena *a, const char *text, cip_err *err)
{
    cip_buf b = { .mem = a->mem };
    cip_status st = cip_quote_utf8(&b, text, strlen(text), false, err);
    cip_buf_clear(&b);
    return st;
}

static void quoting_runs_out_of_memory(void **state)
{
    char *text = long_text("", "%d\xff\n'\t\r\x1b\xc3\xa9", "", 40);
    (void)state;
    run_out(quote, text);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(our_records_run_out_of_memory),
        cmocka_unit_test(lists_of_numpy_run_out_of_memory),
        cmocka_unit_test(dicts_of_numpy_run_out_of_memory),
        cmocka_unit_test(short_types_run_out_of_memory),
        cmocka_unit_test(quoting_runs_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
