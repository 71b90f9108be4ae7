/* SPDX-License-Identifier: BSD-3-Clause
 * Fields of records in superchunks that go, or get another name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blz/blz_update_testing.h"
#include "support/fail_alloc.h"

static void expect_storage(const job *j, const char *dtype, const char *dflt)
{
    const cip_node *storage = ((cip_blz *)j->layout->own)->column[0]->meta.storage;
    const cip_node *node[] = { cip_map_get(storage, "dtype"), cip_map_get(storage, "dflt") };
    const char *const want[] = { dtype, dflt };
    cip_buf text = { .mem = &j->f->env.mem };
    for (size_t i = 0; i < 2; i++, text.len = 0) {
        assert_int_equal(cip_blz_node_json(&j->f->env, node[i], &text, NULL), CIP_OK);
        text.ptr[text.len - 1] = '\0'; /* the newline */
        assert_string_equal((const char *)text.ptr, want[i]);
    }
    cip_buf_clear(&text);
}

static void a_field_goes_with_its_folder(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    uint8_t got[6];
    blz_start_wells(&f);
    blz_text(&f, "data/site/x/notes", "x");
    OK(&j, job_open(&j, &f));
    OK(&j, store->remove(j.u, "site/x", &j.err));
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j), "gone data/site/x/__1__.bin\ngone data/site/x/__2__.bin\n"
                                        "gone data/site/x/notes\nfolder gone data/site/x\n"
                                        "replaced meta/sizes\nlast replaced meta/storage\n");
    expect_storage(&j, "[[\"depth\", \"<f4\"], [\"site\", [[\"y\", \">i2\"]]]]", "0");
    assert_member(&j, "meta/sizes", "{\"shape\": [60], \"nbytes\": 360, \"cbytes\": 552}\n");
    const cip_read_how how = { j.layout, NULL };
    OK(&j, cip_space_read_at(&how, j.layout->array[0]->space, 6 * 59, got, 6, &j.err));
    assert_int_equal(cip_load_u16(got + 4, true), 100 - 59);
    job_close(&j);
    blz_end(&f);
}

static void a_record_goes_with_all_its_fields(void **state)
{
    (void)state;
    static const char *const paths[][2] = { { "site", NULL }, { "site/x", "site/y" } };
    for (size_t i = 0; i < 2; i++) {
        blz_folder f;
        job j;
        blz_start_wells(&f);
        OK(&j, job_open(&j, &f));
        OK(&j, store->remove(j.u, paths[i][0], &j.err));
        if (paths[i][1] != NULL)
            OK(&j, store->remove(j.u, paths[i][1], &j.err));
        assert_refused(&j, store->remove(j.u, "site", &j.err), CIP_ERR_UNSUPPORTED, "an attribute");
        OK(&j, job_finish(&j));
        assert_string_equal(changes_of(&j),
                            "gone data/site/x/__1__.bin\ngone data/site/x/__2__.bin\n"
                            "gone data/site/y/__1__.bin\ngone data/site/y/__2__.bin\n"
                            "folder gone data/site/y\nfolder gone data/site/x\n"
                            "folder gone data/site\n"
                            "replaced meta/sizes\nlast replaced meta/storage\n");
        expect_storage(&j, "[[\"depth\", \"<f4\"]]", "0");
        job_close(&j);
        blz_end(&f);
    }
}

/* An array of no rows. */
static void start_empty(blz_folder *f, const char *dtype, const char *dflt, const char *row)
{
    char text[400];
    blz_start(f);
    blz_mkdir(f, "meta");
    snprintf(text, sizeof text,
             "{\"dtype\": %s, \"chunklen\": 10, \"dflt\": %s, \"superchunk\": 4}", dtype, dflt);
    blz_text(f, "meta/storage", text);
    snprintf(text, sizeof text, "{\"shape\": [0%s]}", row);
    blz_text(f, "meta/sizes", text);
}

static void dflt_loses_the_field(void **state)
{
    (void)state;
#define PAIR "[\"x\", \"<i2\"], [\"y\", \"<i2\"]"
    static const struct {
        const char *dtype, *dflt, *row, *path, *left, *becomes; /* NULL: it is refused */
    } row[] = {
        { "[" PAIR "]", "[1, 2]", "", "x", "[[\"y\", \"<i2\"]]", "[2]" },
        { "[" PAIR "]", "[1, 2]", ", 3", "y", "[[\"x\", \"<i2\"]]", "[1]" },
        { "[" PAIR "]", "[[1, 2], [3, 4]]", ", 2", "y", "[[\"x\", \"<i2\"]]", "[[1], [3]]" },
        { "[" PAIR "]", "[0, 0]", "", "y", "[[\"x\", \"<i2\"]]", "[0]" },
        { "[" PAIR "]", "null", "", "y", "[[\"x\", \"<i2\"]]", "null" },
        { "[[\"p\", [" PAIR "], [2]], [\"q\", \"u1\"]]", "[[[1, 2], [3, 4]], 5]", "", "p/x",
          "[[\"p\", [[\"y\", \"<i2\"]], [2]], [\"q\", \"u1\"]]", "[[[2], [4]], 5]" },
        { "[[\"p\", [" PAIR "], [2]], [\"q\", \"u1\"]]", "[[1, 2], 5]", "", "p/y",
          "[[\"p\", [[\"x\", \"<i2\"]], [2]], [\"q\", \"u1\"]]", "[[1], 5]" },
        { "[[\"p\", [" PAIR "], [2]], [\"q\", \"u1\"]]", "[[1, 2], 5]", "", "p",
          "[[\"q\", \"u1\"]]", "[5]" },
        { "[[\"a/b\", \"u1\"], [\"q\", \"u1\"]]", "[1, 5]", "", "a~1b", "[[\"q\", \"u1\"]]",
          "[5]" },
        { "[[\"q\", \"u1\"], [\"c\", \"<c8\"]]", "[1, [2, 3]]", ", 2", "q", "[[\"c\", \"<c8\"]]",
          "[[2, 3]]" },
        { "[" PAIR "]", "[1]", "", "x", NULL, "dflt" },
        { "\"[('x', '<i2'), ('y', '<i2')]\"", "0", "", "x", NULL, "lists the fields" },
        { "[[\"x\", \"<i2\"]]", "0", "", "x", NULL, "the last field" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blz_folder f;
        job j;
        start_empty(&f, row[i].dtype, row[i].dflt, row[i].row);
        OK(&j, job_open(&j, &f));
        cip_status st = store->remove(j.u, row[i].path, &j.err);
        if (st == CIP_OK)
            st = job_finish(&j);
        if (row[i].left != NULL) {
            blz_assert_ok(st, &j.err);
            expect_storage(&j, row[i].left, row[i].becomes);
        } else {
            assert_refused(&j, st, CIP_ERR_UNSUPPORTED, row[i].becomes);
        }
        job_close(&j);
        blz_end(&f);
    }
}

static void fields_go_whatever_changed(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    cip_change_form form = { .fill = NULL };
    blz_start_wells(&f);
    OK(&j, job_open(&j, &f));
    cip_array *rows = ((cip_blz *)f.layout->own)->column[2]->rows;
    OK(&j, store->remove(j.u, "site/y", &j.err));
    assert_refused(&j, store->remove(j.u, "site/z", &j.err), CIP_ERR_UNSUPPORTED, "an attribute");
    assert_refused(&j, store->remove(j.u, "depth/x", &j.err), CIP_ERR_UNSUPPORTED, "an attribute");
    assert_refused(&j, store->form(j.u, rows, CIP_CHANGE_ELEMENTS, NULL, &form, &j.err),
                   CIP_ERR_UNSUPPORTED, "commit it first");
    OK(&j, store->remove(j.u, "attributes/unit", &j.err));
    OK(&j, job_finish(&j));
    assert_null(cip_tree_get(j.layout->tree, "attributes/unit", NULL));
    job_close(&j);
    OK(&j, job_open(&j, &f));
    rows = ((cip_blz *)f.layout->own)->column[1]->rows;
    OK(&j, store->form(j.u, rows, CIP_CHANGE_ELEMENTS, NULL, &form, &j.err));
    assert_refused(&j, store->move(j.u, "site", "place", false, &j.err), CIP_ERR_UNSUPPORTED,
                   "commit it first");
    OK(&j, store->remove(j.u, "site", &j.err));
    OK(&j, job_finish(&j));
    expect_storage(&j, "[[\"depth\", \"<f4\"]]", "0");
    job_close(&j);
    blz_end(&f);
}

/* What cannot be read goes as well; its bytes stay in cbytes. */
static void damaged_columns_go(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    blz_start_wells(&f);
    blz_text(&f, "data/depth/__1__.bin", "no superchunk");
    unlink(scratch_path(&f.dir, "data/depth/__2__.bin"));
    OK(&j, job_open(&j, &f));
    OK(&j, store->remove(j.u, "depth", &j.err));
    OK(&j, job_finish(&j));
    assert_member(&j, "meta/sizes", "{\"shape\": [60], \"nbytes\": 240, \"cbytes\": 768}\n");
    job_close(&j);
    blz_end(&f);
}

static void shards_lose_the_field_too(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    blz_start_wells(&f);
    blz_mkdir(&f, "more");
    blz_mkdir(&f, "more/data");
    assert_int_equal(
        rename(scratch_path(&f.dir, "data/depth"), scratch_path(&f.dir, "more/data/depth")), 0);
    OK(&j, job_open(&j, &f));
    OK(&j, store->remove(j.u, "depth", &j.err));
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j),
                        "gone more/data/depth/__1__.bin\ngone more/data/depth/__2__.bin\n"
                        "folder gone more/data/depth\n"
                        "replaced meta/sizes\nlast replaced meta/storage\n");
    job_close(&j);
    blz_end(&f);
}

static void a_field_gets_another_name(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *changes, *dtype;
    } row[] = {
        { "site/x", "site/a%b",
          "renamed data/site/x/__1__.bin to data/site/a%25b/__1__.bin\n"
          "renamed data/site/x/__2__.bin to data/site/a%25b/__2__.bin\n"
          "folder gone data/site/x\n"
          "last replaced meta/storage\n",
          "[[\"depth\", \"<f4\"], [\"site\", [[\"a%b\", \"<i2\"], [\"y\", \">i2\"]]]]" },
        { "site", "place",
          "renamed data/site/x/__1__.bin to data/place/x/__1__.bin\n"
          "renamed data/site/x/__2__.bin to data/place/x/__2__.bin\n"
          "renamed data/site/y/__1__.bin to data/place/y/__1__.bin\n"
          "renamed data/site/y/__2__.bin to data/place/y/__2__.bin\n"
          "folder gone data/site/y\nfolder gone data/site/x\nfolder gone data/site\n"
          "last replaced meta/storage\n",
          "[[\"depth\", \"<f4\"], [\"place\", [[\"x\", \"<i2\"], [\"y\", \">i2\"]]]]" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        blz_folder f;
        job j;
        uint8_t got[8];
        blz_start_wells(&f);
        OK(&j, job_open(&j, &f));
        OK(&j, store->move(j.u, row[i].from, row[i].to, false, &j.err));
        OK(&j, job_finish(&j));
        assert_string_equal(changes_of(&j), row[i].changes);
        expect_storage(&j, row[i].dtype, "0");
        const cip_read_how how = { j.layout, NULL };
        OK(&j, cip_space_read_at(&how, j.layout->array[0]->space, 8 * 59, got, 8, &j.err));
        assert_int_equal(cip_load_u16(got + 4, false), 3 * 59);
        job_close(&j);
        blz_end(&f);
    }
}

static void names_that_a_field_cannot_have_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *to;
        cip_status st;
        const char *text;
    } row[] = {
        { "site/y", CIP_ERR_ARG, "exists" },
        { "depth", CIP_ERR_UNSUPPORTED, "'site/NAME'" },
        { "site/p/x", CIP_ERR_UNSUPPORTED, "'site/NAME'" },
        { "site/a~1b", CIP_ERR_UNSUPPORTED, "'site/NAME'" },
        { "site/\xe4", CIP_ERR_UNSUPPORTED, "in UTF-8" },
        { "site/", CIP_ERR_UNSUPPORTED, "1 to 200 bytes" },
    };
    blz_folder f;
    job j;
    blz_start_wells(&f);
    blz_mkdir(&f, "data/site/%7A"); /* z */
    OK(&j, job_open(&j, &f));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_refused(&j, store->move(j.u, "site/x", row[i].to, true, &j.err), row[i].st,
                       row[i].text);
    OK(&j, store->move(j.u, "site/x", "site/z", false, &j.err));
    assert_refused(&j, store->move(j.u, "depth", "d", false, &j.err), CIP_ERR_UNSUPPORTED,
                   "commit it first");
    assert_refused(&j, job_finish(&j), CIP_ERR_ARG, "'data/site/%7A' is in the way");
    job_close(&j);
    OK(&j, job_open(&j, &f));
    OK(&j, store->remove(j.u, "depth", &j.err));
    OK(&j, store->move(j.u, "site", "p", false, &j.err));
    OK(&j, store->move(j.u, "p", "q", false, &j.err));
    OK(&j, store->move(j.u, "q", "site", false, &j.err)); /* which it was */
    assert_refused(&j, store->move(j.u, "site", "depth", false, &j.err), CIP_ERR_UNSUPPORTED,
                   "commit it first");
    OK(&j, job_finish(&j));
    expect_storage(&j, "[[\"site\", [[\"x\", \"<i2\"], [\"y\", \">i2\"]]]]", "0");
    job_close(&j);
    blz_end(&f);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static const cip_spec as_it_is = { .big = -1 };
    blz_folder f;
    bool moves = false;
    blz_start_wells(&f);
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = 0 };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        job j;
        OK(&j, job_open_as(&j, &f, &as_it_is, &from));
        alloc.fail_at = alloc.requests + n;
        cip_status st = moves ? store->move(j.u, "site/x", "site/z", false, &j.err)
                              : store->remove(j.u, "site/x", &j.err);
        if (st == CIP_OK)
            st = job_plan(&j);
        const bool ended = alloc.requests < alloc.fail_at;
        job_close(&j);
        assert_int_equal(alloc.held, 0);
        assert_int_equal(st, ended ? CIP_OK : CIP_ERR_NOMEM);
        if (ended && moves)
            break;
        if (ended)
            n = 0;
        moves = moves || ended;
    }
    blz_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_goes_with_its_folder),
        cmocka_unit_test(a_record_goes_with_all_its_fields),
        cmocka_unit_test(dflt_loses_the_field),
        cmocka_unit_test(fields_go_whatever_changed),
        cmocka_unit_test(damaged_columns_go),
        cmocka_unit_test(shards_lose_the_field_too),
        cmocka_unit_test(a_field_gets_another_name),
        cmocka_unit_test(names_that_a_field_cannot_have_are_refused),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
