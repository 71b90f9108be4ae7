/* SPDX-License-Identifier: BSD-3-Clause
 * Methods of the caller's: whatever took a user pointer gives it back once, on every path. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/test_store.h"

static int ntaken, ngiven; /* pointers that calls took, and that `close` gave back */

static void count_close(void *user)
{
    (void)user;
    ngiven++;
}

static cip_status open_counted(void *user, const char *name, cip_io_methods *methods, void **member,
                               cip_err *err)
{
    const cip_status st = test_store_open(user, name, methods, member, err);
    methods->open_member = open_counted;
    methods->close = count_close;
    ntaken += st == CIP_OK;
    return st;
}

static cip_io_methods reads(void)
{
    cip_io_methods m = TEST_STORE_READS;
    m.open_member = open_counted;
    m.close = count_close;
    return m;
}

static cip_io_write_methods writes(void)
{
    cip_io_write_methods m = TEST_STORE_WRITES;
    m.create_member = NULL;
    m.close = count_close;
    return m;
}

/* A file whose array lies in a member. */
static void put_file(test_store *s)
{
    static const cip_io_write_methods m = TEST_STORE_WRITES;
    const int64_t shape[] = { 2 };
    const int16_t v[] = { 1, 2 };
    cip_change *w;
    OK(cip_create_io(&m, test_store_file(s, "out.asdf"), NULL, &w, err));
    OK(cip_change_put(w, "x", cip_dtype_of(CIP_I16), 1, shape, v,
                      CIP_ARRAY_OPTIONS(.storage = "external"), err));
    OK(cip_change_commit(&w, err));
    ntaken = ngiven = 0;
}

static void a_file_that_is_read_gives_them_back(void **state)
{
    const cip_io_methods m = reads();
    (void)state;
    for (int n = 1, left = 1; left != 0; n++) {
        test_store s = { .fail_at = 0 };
        cip_file *f;
        int16_t v[2];
        put_file(&s);
        s.calls = 0;
        s.fail_at = n;
        ntaken++;
        const cip_status st = cip_open_io(&m, test_store_find(&s, "out.asdf"), NULL, &f, NULL);
        assert_true((st == CIP_OK) == (f != NULL));
        assert_true(f != NULL || ngiven == ntaken);
        cip_read(cip_find(f, "x", NULL), NULL, cip_dtype_as_stored(), v, sizeof v, NULL);
        cip_file_close(f);
        assert_int_equal(ngiven, ntaken);
        left = s.calls >= n;
        test_store_clear(&s);
    }
}

/* Of calls that fail before any method is called; those of another version nobody knows. */
static void wrong_calls_give_them_back(void **state)
{
    cip_io_methods r = reads(), few = r, old = r;
    cip_io_write_methods w = writes(), few_w = w, old_w = w;
    const cip_open_options none = { .size = 0 };
    const cip_change_options none_w = { .size = 0 };
    cip_change_options none_e = { .size = 0 };
    cip_file *f;
    cip_change *writer;
    cip_change *e;
    test_store s = { .fail_at = 0 };
    (void)state;
    put_file(&s);
    void *user = test_store_find(&s, "out.asdf");
    few.size = NULL;
    few_w.resize = NULL;
    old.struct_size = old_w.struct_size = 8;
    FAILS(CIP_ERR_ARG, "", cip_open_io(NULL, user, NULL, &f, err));
    FAILS(CIP_ERR_ARG, "", cip_open_io(&old, user, NULL, &f, err));
    FAILS(CIP_ERR_ARG, "", cip_create_io(NULL, user, NULL, &writer, err));
    FAILS(CIP_ERR_ARG, "", cip_create_io(&old_w, user, NULL, &writer, err));
    FAILS(CIP_ERR_ARG, "", cip_change_open_io(&r, &old_w, user, NULL, &e, err));
    assert_int_equal(ngiven, 0);
    FAILS(CIP_ERR_ARG, "", cip_open_io(&few, user, NULL, &f, err));
    FAILS(CIP_ERR_ARG, "", cip_open_io(&r, user, &none, &f, err));
    FAILS(CIP_ERR_ARG, "", cip_open_io(&r, user, CIP_OPEN_OPTIONS(.format = "?"), &f, err));
    FAILS(CIP_ERR_FORMAT, "", cip_open_io(&r, user, CIP_OPEN_OPTIONS(.format = "npy"), &f, err));
    FAILS(CIP_ERR_ARG, "", cip_open_io(&r, user, CIP_OPEN_OPTIONS(.threads = 9999), &f, err));
    assert_int_equal(ngiven, 5);
    FAILS(CIP_ERR_ARG, "", cip_create_io(&few_w, user, NULL, &writer, err));
    FAILS(CIP_ERR_ARG, "", cip_create_io(&w, user, &none_w, &writer, err));
    FAILS(CIP_ERR_ARG, "",
          cip_create_io(&w, user, CIP_CHANGE_OPTIONS(.format = "?"), &writer, err));
    assert_int_equal(ngiven, 8);
    FAILS(CIP_ERR_ARG, "", cip_change_open_io(NULL, &w, user, NULL, &e, err));
    FAILS(CIP_ERR_ARG, "", cip_change_open_io(&few, &w, user, NULL, &e, err));
    FAILS(CIP_ERR_ARG, "", cip_change_open_io(&r, &few_w, user, NULL, &e, err));
    FAILS(CIP_ERR_ARG, "", cip_change_open_io(&r, &w, user, &none_e, &e, err));
    assert_int_equal(ngiven, 12);
    OK(cip_create_io(&w, user, NULL, &writer, err));
    cip_change_abort(&writer);
    assert_int_equal(ngiven, 13);
    few_w = writes();
    r.open_member = NULL; /* the reading methods' close is not called */
    OK(cip_change_open_io(&r, &few_w, user, NULL, &e, err));
    cip_change_abort(&e);
    assert_int_equal(ngiven, 14);
    test_store_clear(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_is_read_gives_them_back),
        cmocka_unit_test(wrong_calls_give_them_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
