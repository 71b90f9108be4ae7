/* SPDX-License-Identifier: BSD-3-Clause
 * Reading through an update: what the changes so far have made of an array. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/own_folder.h"

static cip_change *begin(const char *path)
{
    cip_change *e = NULL;
    OK(cip_change_open(path, NULL, &e, err));
    return e;
}

#define READ(e, path, what, to)                                                                    \
    read_now(e, path, CIP_READ_ARGS(.selection = (what), .dst = (to), .dst_nbytes = sizeof(to)),   \
             err)

static void elements_are_read_as_they_were_changed(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "a.asdf", false);
    const float a[] = { -1, -2, -3 };
    const int16_t h[] = { 70, 80 };
    const int64_t q[] = { 7 };
    float image[6];
    int16_t packed[4];
    int64_t few[3];
    cip_change *e = begin(path);
    OK(READ(e, "image", "[1]", image));
    assert_true(image[0] == 6 && image[5] == 11);
    OK(cip_change_write(e, "image", "[1, 1:4]", cip_dtype_as_stored(), a, sizeof a, err));
    OK(cip_change_write(e, "packed", "[1, 1:3]", cip_dtype_as_stored(), h, sizeof h, err));
    OK(cip_change_write(e, "few", "[2]", cip_dtype_as_stored(), q, sizeof q, err));
    for (int i = 0; i < 2; i++) {
        OK(READ(e, "image", "[1]", image));
        OK(READ(e, "packed", "[1]", packed));
        OK(READ(e, "few", NULL, few));
        assert_true(image[0] == 6 && image[1] == -1 && image[3] == -3 && image[4] == 10);
        assert_true(packed[0] == 4 && packed[1] == 70 && packed[2] == 80 && packed[3] == 7);
        assert_true(few[0] == 10 && few[1] == 20 && few[2] == 7);
    }
    OK(cip_change_write(e, "image", "[1, 0:3]", cip_dtype_as_stored(), a, sizeof a,
                        err)); /* over what was read */
    OK(READ(e, "image", "[1]", image));
    assert_true(image[0] == -1 && image[2] == -3 && image[3] == -3 && image[5] == 11);
    OK(cip_change_commit(&e, err));
    edit_expect(path, "packed", "0 1 2 3\n4 70 80 7\n8 9 10 11\n");
    edit_expect(path, "few", "10 20 7\n");
    edit_expect(path, "image",
                "0.0 1.0 2.0 3.0 4.0 5.0\n-1.0 -2.0 -3.0 -3.0 10.0 11.0\n"
                "12.0 13.0 14.0 15.0 16.0 17.0\n18.0 19.0 20.0 21.0 22.0 23.0\n");
}

/* A write within a file stays one, and what only was read changes nothing. */
static void reading_leaves_the_update_what_it_is(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "b.asdf", false);
    const float one = 99;
    float image[6];
    size_t n[2];
    char *bytes[2];
    bytes[0] = edit_bytes(path, &n[0]);
    cip_change *e = begin(path);
    OK(READ(e, "image", "[1]", image));
    OK(cip_change_commit(&e, err));
    bytes[1] = edit_bytes(path, &n[1]);
    assert_int_equal(n[0], n[1]);
    assert_memory_equal(bytes[0], bytes[1], n[0]);
    free(bytes[0]);
    free(bytes[1]);
    e = begin(path);
    OK(cip_change_write(e, "image", "[1, 1]", cip_dtype_as_stored(), &one, sizeof one, err));
    OK(READ(e, "image", "[1]", image));
    static taken t;
    t.n = t.calls = t.stop_at = 0;
    OK(cip_change_plan(e, take_text, &t, err));
    t.text[t.n] = '\0';
    if (strstr(t.text, "in place, at byte ") == NULL)
        fail_msg("%s", t.text);
    OK(cip_change_commit(&e, err));
    edit_verify(path);
}

static void shapes_are_those_that_writing_takes(void **state)
{
    (void)state;
    static const int64_t more[] = { 5 }, three[] = { 3 };
    const char *path = edit_file(&s, "c.asdf", true);
    const double rows[] = { 1, 2, 3, 4 };
    const int16_t h[] = { 1, 2, 3 };
    int16_t now[5];
    double last[2];
    cip_change *e = begin(path);
    OK(cip_change_append(e, "rows", cip_dtype_as_stored(), rows, sizeof rows, err));
    OK(READ(e, "rows", "[-1]", last));
    assert_true(last[0] == 3 && last[1] == 4);
    OK(cip_change_append(e, "rows", cip_dtype_as_stored(), rows, sizeof rows, err));
    OK(cip_change_write(e, "rows", "[-2]", cip_dtype_as_stored(), rows + 2, 2 * sizeof *rows, err));
    OK(READ(e, "rows", "[2]", last));
    assert_true(last[0] == 3 && last[1] == 4);
    OK(cip_change_commit(&e, err));
    edit_expect(path, "rows", "1.0 2.0\n3.0 4.0\n3.0 4.0\n3.0 4.0\n");
    cip_change *w;
    path = scratch_path(&s, "c.b2nd");
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "", cip_dtype_of(CIP_I16), 1, three, h, NULL, err));
    OK(cip_change_commit(&w, err));
    e = begin(path);
    OK(cip_change_resize(e, "", 1, more, err));
    OK(cip_change_write(e, "", "[3]", cip_dtype_as_stored(), h + 2, sizeof *h, err));
    OK(READ(e, "", NULL, now));
    assert_true(now[0] == 1 && now[2] == 3 && now[3] == 3 && now[4] == 0);
    OK(cip_change_commit(&e, err));
    edit_expect(path, "", "1 2 3 3 0\n");
}

static void a_field_of_records_is_named_once(void **state)
{
    (void)state;
    static const int64_t two[] = { 2 };
    const uint16_t records[] = { 1, 2, 3, 4 }, nine = 9;
    uint16_t now[2];
    cip_change *w;
    const char *path = scratch_path(&s, "d.asdf");
    cip_dtype *d = cip_dtype_parse("[('a', '=u2'), ('b', '=u2')]", NULL);
    OK(cip_create(path, NULL, &w, err));
    OK(cip_change_put(w, "r", d, 1, two, records, NULL, err));
    OK(cip_change_commit(&w, err));
    cip_dtype_free(d);
    cip_change *e = begin(path);
    OK(cip_change_write(e, "r/b", "[1]", cip_dtype_as_stored(), &nine, sizeof nine, err));
    OK(read_now(e, "r", CIP_READ_ARGS(.field = "b", .dst = now, .dst_nbytes = sizeof now), err));
    assert_true(now[0] == 2 && now[1] == 9);
    OK(cip_change_commit(&e, err));
}

static void what_fails_fails_no_commit(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "e.asdf", false);
    float image[6];
    cip_change *e = begin(path);
    FAILS(CIP_ERR_NOT_FOUND, "", READ(e, "none", NULL, image));
    FAILS(CIP_ERR_RANGE, "", READ(e, "image", "[9]", image));
    FAILS(CIP_ERR_RANGE, "", READ(e, "image", NULL, image));
    FAILS(CIP_ERR_ARG, "", READ(NULL, "image", NULL, image));
    OK(cip_change_commit(&e, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_read_as_they_were_changed),
        cmocka_unit_test(reading_leaves_the_update_what_it_is),
        cmocka_unit_test(shapes_are_those_that_writing_takes),
        cmocka_unit_test(a_field_of_records_is_named_once),
        cmocka_unit_test(what_fails_fails_no_commit),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
