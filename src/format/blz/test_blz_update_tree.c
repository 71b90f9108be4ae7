/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of attributes and of tables that the old programs wrote. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blz/blz_update_testing.h"
#include "support/fail_alloc.h"
#include "tree/json_read.h"

/* --- attributes ------------------------------------------------------------------------------- */

static const cip_node *text_node(job *j, const char *text)
{
    cip_node *n;
    assert_int_equal(cip_node_new_string(&j->arena, text, strlen(text), &n, NULL), CIP_OK);
    return n;
}

static void attributes_are_a_file_of_json(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    start(&f);
    blz_text(&f, "__attrs__", "{\"a\": {\"b\": NaN, \"c\": 1}, \"z\": \"\\u00e4\"}\n");
    OK(&j, job_open(&j, &f));
    OK(&j, store->set(j.u, "attributes/unit", text_node(&j, "mm"), &j.err));
    OK(&j, store->remove(j.u, "attributes/a/c", &j.err));
    OK(&j, store->move(j.u, "attributes/unit", "attributes/a/u", false, &j.err));
    assert_refused(&j, store->move(j.u, "attributes/a", "attributes/z", false, &j.err), CIP_ERR_ARG,
                   "exists");
    assert_refused(&j, store->move(j.u, "attributes/a", "attributes/a/x", true, &j.err),
                   CIP_ERR_ARG, "is inside");
    assert_refused(&j, store->set(j.u, "attributes", text_node(&j, "mm"), &j.err), CIP_ERR_TYPE,
                   "mapping");
    assert_refused(&j, store->set(j.u, "other", text_node(&j, "mm"), &j.err), CIP_ERR_UNSUPPORTED,
                   "attributes/NAME");
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j), "replaced __attrs__\n");
    assert_member(&j, "__attrs__", "{\"a\": {\"b\": NaN, \"u\": \"mm\"}, \"z\": \"\\u00e4\"}\n");
    job_close(&j);
    blz_end(&f);
}

static const cip_node *big_node(job *j, size_t ndigit)
{
    cip_node *n;
    char *text = malloc(ndigit + 1);
    assert_non_null(text);
    memset(text, '9', ndigit);
    assert_int_equal(cip_node_new_string(&j->arena, text, ndigit, &n, NULL), CIP_OK);
    n->type = CIP_NODE_BIGINT;
    free(text);
    return n;
}

static const cip_node *nested_node(job *j, size_t depth)
{
    const cip_node *n = text_node(j, "mm");
    for (size_t i = 0; i < depth; i++) {
        cip_node *list;
        assert_int_equal(cip_node_new_seq(&j->arena, 1, &list, NULL), CIP_OK);
        cip_node_set_item(list, 0, n);
        n = list;
    }
    return n;
}

/* And by Python, too. */
static void only_what_can_be_read_back_is_set(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    start(&f);
    OK(&j, job_open(&j, &f));
    assert_refused(&j, store->set(j.u, "attributes/n", big_node(&j, CIP_JSON_DIGITS + 1), &j.err),
                   CIP_ERR_UNSUPPORTED, "4300 digits");
    assert_refused(&j, store->set(j.u, "attributes/n", nested_node(&j, CIP_JSON_DEPTH), &j.err),
                   CIP_ERR_UNSUPPORTED, "200 levels deep");
    assert_refused(&j,
                   store->set(j.u, "attributes/a/n", nested_node(&j, CIP_JSON_DEPTH - 1), &j.err),
                   CIP_ERR_UNSUPPORTED, "200 levels deep");
    OK(&j, store->set(j.u, "attributes/a/n", nested_node(&j, CIP_JSON_DEPTH - 2), &j.err));
    OK(&j, store->set(j.u, "attributes/b", big_node(&j, CIP_JSON_DIGITS), &j.err));
    OK(&j, job_finish(&j));
    assert_int_equal(j.layout->env->warnings.count[CIP_WARN], 0);
    assert_int_equal(cip_tree_get(j.layout->tree, "attributes/b", NULL)->type, CIP_NODE_BIGINT);
    job_close(&j);
    blz_end(&f);
}

/* Half a surrogate pair is no text of ours; what else the file holds is changed all the same. */
static void what_cannot_be_read_stays_as_it_is(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    start(&f);
    blz_text(&f, "__attrs__",
             "{\"a\": [\"x\\ud800\"], \"\\udfff\": 2, \"n\": -9223372036854775808}\n");
    OK(&j, job_open(&j, &f));
    OK(&j, store->set(j.u, "attributes/unit", text_node(&j, "mm"), &j.err));
    OK(&j, job_finish(&j));
    assert_member(&j, "__attrs__",
                  "{\"a\": [\"x\\ud800\"], \"\\udfff\": 2, \"n\": -9223372036854775808, "
                  "\"unit\": \"mm\"}\n");
    job_close(&j);
    blz_end(&f);
}

static void attributes_come_and_go(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    start(&f);
    OK(&j, job_open(&j, &f));
    OK(&j, store->set(j.u, "attributes/a/b", text_node(&j, "mm"), &j.err));
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j), "made __attrs__\n");
    assert_member(&j, "__attrs__", "{\"a\": {\"b\": \"mm\"}}\n");
    job_close(&j);
    blz_text(&f, "__attrs__", "{\"a\": 1}");
    OK(&j, job_open(&j, &f));
    OK(&j, store->remove(j.u, "attributes", &j.err));
    OK(&j, job_finish(&j));
    assert_member(&j, "__attrs__", "{}\n");
    job_close(&j);
    blz_end(&f);
}

static void attributes_of_superchunks_lie_in_meta(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    blz_start(&f);
    blz_mkdir(&f, "meta");
    blz_text(&f, "meta/storage", "{\"dtype\": \"int64\", \"chunklen\": 100}");
    blz_text(&f, "meta/sizes", "{\"shape\": [0]}");
    blz_text(&f, "meta/other", "1");
    OK(&j, job_open(&j, &f));
    OK(&j, store->set(j.u, "attributes/unit", text_node(&j, "mm"), &j.err));
    assert_refused(&j, store->set(j.u, "meta/other", text_node(&j, "mm"), &j.err),
                   CIP_ERR_UNSUPPORTED, "attributes/NAME");
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j), "made meta/attributes\n");
    assert_member(&j, "meta/attributes", "{\"unit\": \"mm\"}\n");
    job_close(&j);
    blz_end(&f);
}

static void damaged_attributes_are_not_written_over(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        cip_status st;
    } row[] = { { "{\"a\": ", CIP_ERR_CORRUPT }, { "[1]", CIP_ERR_NOT_FOUND } };
    for (size_t i = 0; i < 2; i++) {
        blz_folder f;
        job j;
        start(&f);
        blz_text(&f, "__attrs__", row[i].text);
        OK(&j, job_open(&j, &f));
        cip_status st = store->set(j.u, "attributes/b", text_node(&j, "mm"), &j.err);
        assert_int_equal(st != CIP_OK ? st : job_finish(&j), row[i].st);
        job_close(&j);
        blz_end(&f);
    }
}

/* --- tables ----------------------------------------------------------------------------------- */

static void columns_keep_one_length(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    blz_start_table(&f, "{\"names\": [\"a\", \"b\"]}");
    OK(&j, job_open(&j, &f));
    OK(&j, put_rows(&j, 1, 250, 10, 250));
    assert_refused(&j, job_finish(&j), CIP_ERR_UNSUPPORTED, "columns of equal length");
    job_close(&j);
    OK(&j, job_open(&j, &f));
    OK(&j, put_rows(&j, 1, 250, 10, 250));
    OK(&j, put_rows(&j, 2, 250, 10, 250));
    OK(&j, job_finish(&j));
    assert_int_equal(j.layout->array[0]->view.shape[0], 260);
    assert_int_equal(value_at(&j, 2, 259), 259);
    job_close(&j);
    blz_text(&f, "b/meta/sizes", "{\"shape\": [200]}"); /* of two lengths they may get one */
    OK(&j, job_open(&j, &f));
    OK(&j, resize(&j, 1, 200));
    OK(&j, resize(&j, 2, 200));
    OK(&j, job_finish(&j));
    job_close(&j);
    blz_end(&f);
}

static void a_column_gets_another_name(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    blz_start_table(&f,
                    "{\"names\": [\"x\", \"b\"], \"dirs\": {\"x\": \"/gone/a\", \"b\": \"b\"}}");
    blz_text(&f, "a/__attrs__", "{\"k\": 1}");
    OK(&j, job_open(&j, &f));
    OK(&j, store->move(j.u, "x", "new", false, &j.err));
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j), "renamed a/__attrs__ to new/__attrs__\n"
                                        "renamed a/data/__0.blp to new/data/__0.blp\n"
                                        "renamed a/data/__1.blp to new/data/__1.blp\n"
                                        "renamed a/data/__2.blp to new/data/__2.blp\n"
                                        "renamed a/meta/sizes to new/meta/sizes\n"
                                        "renamed a/meta/storage to new/meta/storage\n"
                                        "folder gone a/meta\nfolder gone a/data\nfolder gone a\n"
                                        "last replaced __rootdirs__\n");
    assert_member(&j, "__rootdirs__",
                  "{\"names\": [\"new\", \"b\"], \"dirs\": {\"new\": \"new\", \"b\": \"b\"}}\n");
    assert_string_equal(j.layout->array[1]->path, "new");
    assert_int_equal(value_at(&j, 1, 249), 249);
    assert_non_null(cip_tree_get(j.layout->tree, "column_attributes/new/k", NULL));
    job_close(&j);
    blz_end(&f);
}

static void a_column_goes(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    blz_start_table(&f, "{\"names\": [\"a\", \"b\"]}");
    blz_text(&f, "b/data/notes", "x");
    OK(&j, job_open(&j, &f));
    OK(&j, store->remove(j.u, "b", &j.err));
    assert_refused(&j, store->remove(j.u, "a", &j.err), CIP_ERR_UNSUPPORTED, "the last");
    assert_refused(&j, put_rows(&j, 2, 0, 1, 1), CIP_ERR_UNSUPPORTED, "commit it first");
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j),
                        "gone b/data/__0.blp\ngone b/data/__1.blp\ngone b/data/__2.blp\n"
                        "gone b/data/notes\ngone b/meta/sizes\ngone b/meta/storage\n"
                        "folder gone b/meta\nfolder gone b/data\nfolder gone b\n"
                        "last replaced __rootdirs__\n");
    assert_int_equal(j.layout->narray, 2);
    job_close(&j);
    blz_end(&f);
}

static void names_that_a_column_cannot_have_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *to;
        cip_status st;
    } row[] = { { "b", CIP_ERR_ARG },
                { "other", CIP_ERR_ARG },
                { "", CIP_ERR_UNSUPPORTED },
                { "_x", CIP_ERR_UNSUPPORTED },
                { "..", CIP_ERR_UNSUPPORTED },
                { "x/y", CIP_ERR_UNSUPPORTED },
                { "x\xff", CIP_ERR_UNSUPPORTED },
                { "x~1y", CIP_ERR_UNSUPPORTED },
                { "x\ny", CIP_ERR_UNSUPPORTED } };
    blz_folder f;
    job j;
    blz_start_table(&f, "{\"names\": [\"a\", \"b\"]}");
    blz_text(&f, "other", "x");
    OK(&j, job_open(&j, &f));
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        assert_int_equal(store->move(j.u, "a", row[i].to, true, &j.err), row[i].st);
    job_close(&j);
    blz_end(&f);
}

/* Files that change are there anew, under the new name; the others get another one. */
static void a_column_changes_and_gets_another_name(void **state)
{
    (void)state;
    for (int first = 0; first < 2; first++) {
        blz_folder f;
        job j;
        blz_start_table(&f, "{\"names\": [\"a\", \"b\"]}");
        OK(&j, job_open(&j, &f));
        if (first == 0)
            OK(&j, put_rows(&j, 1, 100, 1, 7));
        OK(&j, store->set(j.u, "column_attributes/a/unit", text_node(&j, "mm"), &j.err));
        OK(&j, store->move(j.u, "a", "d", false, &j.err));
        OK(&j, store->move(j.u, "d", "c", false, &j.err));
        if (first == 1)
            OK(&j, put_rows(&j, 1, 100, 1, 7));
        OK(&j, store->set(j.u, "column_attributes/c/more", text_node(&j, "x"), &j.err));
        OK(&j, job_finish(&j));
        assert_member(&j, "c/__attrs__", "{\"unit\": \"mm\", \"more\": \"x\"}\n");
        assert_non_null(strstr(changes_of(&j), "renamed a/data/__0.blp to c/data/__0.blp\n"));
        assert_non_null(strstr(changes_of(&j), "made c/data/__1.blp\n"));
        assert_non_null(strstr(changes_of(&j), "gone a/data/__1.blp\n"));
        assert_string_equal(j.layout->array[1]->path, "c");
        for (uint64_t i = 0; i < 250; i++)
            assert_int_equal(value_at(&j, 1, i), i == 100 ? 7 : i);
        job_close(&j);
        blz_end(&f);
    }
}

static void attributes_of_columns_are_their_own(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    blz_start_table(&f, "{\"names\": [\"a\", \"b\"]}");
    OK(&j, job_open(&j, &f));
    OK(&j, store->set(j.u, "column_attributes/b/unit", text_node(&j, "mm"), &j.err));
    OK(&j, store->set(j.u, "attributes/of", text_node(&j, "all"), &j.err));
    assert_refused(&j, store->set(j.u, "column_attributes/c/unit", text_node(&j, "mm"), &j.err),
                   CIP_ERR_UNSUPPORTED, "column_attributes/COLUMN/NAME");
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j), "made __attrs__\nmade b/__attrs__\n");
    assert_member(&j, "b/__attrs__", "{\"unit\": \"mm\"}\n");
    job_close(&j);
    blz_end(&f);
}

/* --- memory ----------------------------------------------------------------------------------- */

static cip_status some_update(job *j, int kind)
{
    if (kind == 0)
        return put_rows(j, 1, 250, 60, 0) == CIP_OK ? put_rows(j, 2, 250, 60, 0)
                                                    : (cip_status)j->err.code;
    if (kind == 1)
        return store->move(j->u, "a", "c", false, &j->err);
    return store->remove(j->u, "column_attributes/a/k", &j->err);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static const cip_spec as_it_is = { .big = -1 };
    blz_folder f;
    blz_start_table(&f, "{\"names\": [\"a\", \"b\"]}");
    blz_text(&f, "a/__attrs__", "{\"k\": 1}");
    for (int kind = 0; kind < 3; kind++)
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = 0 };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            job j;
            OK(&j, job_open_as(&j, &f, &as_it_is, &from));
            alloc.fail_at = alloc.requests + n;
            cip_status st = some_update(&j, kind);
            if (st == CIP_OK)
                st = job_plan(&j);
            job_close(&j);
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
            assert_int_equal(alloc.held, 0);
            if (alloc.requests < alloc.fail_at) {
                assert_int_equal(st, CIP_OK);
                break;
            }
        }
    blz_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_are_a_file_of_json),
        cmocka_unit_test(attributes_come_and_go),
        cmocka_unit_test(only_what_can_be_read_back_is_set),
        cmocka_unit_test(what_cannot_be_read_stays_as_it_is),
        cmocka_unit_test(attributes_of_superchunks_lie_in_meta),
        cmocka_unit_test(damaged_attributes_are_not_written_over),
        cmocka_unit_test(columns_keep_one_length),
        cmocka_unit_test(a_column_gets_another_name),
        cmocka_unit_test(a_column_goes),
        cmocka_unit_test(names_that_a_column_cannot_have_are_refused),
        cmocka_unit_test(a_column_changes_and_gets_another_name),
        cmocka_unit_test(attributes_of_columns_are_their_own),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
