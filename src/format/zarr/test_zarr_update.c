/* SPDX-License-Identifier: BSD-3-Clause
 * Stores that are there: attributes, names of axes, arrays that come and go, in both versions, with
 * and without the metadata of all together. What zarr-python reads of them is in tests/compat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/fail_alloc.h"
#include "support/format/zarr/zarr_update_testing.h"

#define ARRAY_OF(rows, more)                                                                       \
    "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": [" rows                             \
    "], \"data_type\": \"int32\", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": "     \
    "{\"chunk_shape\": [4]}}, \"chunk_key_encoding\": {\"name\": \"default\"}, "                   \
    "\"fill_value\": 0, \"codecs\": [" ZARR_BYTES "]" more "}"
#define SAID ", \"attributes\": {\"u\": 1.50, \"v\": \"x\"}, \"dimension_names\": [\"t\"]"
#define GROUP_OF(attrs, more)                                                                      \
    "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {" attrs "}" more "}"

/* A group with an array and a group with another. */
static void start_3(zarr_folder *f, bool consolidated)
{
    zarr_start(f);
    zarr_text(f, "a/zarr.json", ARRAY_OF("8", SAID));
    zarr_chunk(f, "a/c/0", 10, 4);
    zarr_chunk(f, "a/c/1", 14, 4);
    zarr_text(f, "g/zarr.json", GROUP_OF("\"b\": 2", ""));
    zarr_text(f, "g/b/zarr.json", ARRAY_OF("4", ""));
    zarr_chunk(f, "g/b/c/0", 20, 4);
    zarr_text(
        f, "zarr.json",
        consolidated
            ? GROUP_OF("\"k\": [1.50]",
                       ", \"consolidated_metadata\": {\"kind\": \"inline\", \"metadata\": "
                       "{\"a\": " ARRAY_OF("8", SAID) ", \"g\": " GROUP_OF(
                           "\"b\": 2",
                           "") ", \"g/b\": " ARRAY_OF("4", "") "}, \"must_understand\": false}")
            : GROUP_OF("\"k\": [1.50]", ""));
}

static void start_2(zarr_folder *f, bool consolidated)
{
    static const char array[] =
        "{\"zarr_format\": 2, \"shape\": [8], \"chunks\": [4], \"dtype\": \"<i4\", "
        "\"compressor\": null, \"fill_value\": 0, \"order\": \"C\", \"filters\": null}";
    char all[1000];
    zarr_start(f);
    zarr_text(f, ".zgroup", "{\"zarr_format\": 2}");
    zarr_text(f, "a/.zarray", array);
    zarr_text(f, "a/.zattrs", "{\"u\": 1.50, \"_ARRAY_DIMENSIONS\": [\"t\"]}");
    zarr_chunk(f, "a/0", 10, 4);
    snprintf(all, sizeof all,
             "{\"zarr_consolidated_format\": 1, \"metadata\": {\".zgroup\": {\"zarr_format\": 2}, "
             "\"a/.zarray\": %s, \"a/.zattrs\": {\"u\": 1.50, \"_ARRAY_DIMENSIONS\": [\"t\"]}}}",
             array);
    if (consolidated)
        zarr_text(f, ".zmetadata", all);
}

/* An update of such a store of version 2 or 3. */
static void begin(zarr_folder *f, zarr_job *j, int version, bool consolidated)
{
    (version == 2 ? start_2 : start_3)(f, consolidated);
    OK(j, zarr_job_open(j, f));
}

static void done(zarr_folder *f, zarr_job *j)
{
    zarr_job_close(j);
    scratch_close(&f->dir);
}

static const cip_node *at(const zarr_job *j, const char *path)
{
    return cip_tree_get(j->layout->tree, path, NULL);
}

static void attributes_change_in_all_that_says_them(void **state)
{
    (void)state;
    for (int consolidated = 0; consolidated < 2; consolidated++) {
        zarr_folder f;
        zarr_job j;
        begin(&f, &j, 3, consolidated);
        OK(&j, zarr_set(&j, "attrs/a/v", "y"));
        OK(&j, zarr_set(&j, "attrs/a/w/deep", "z"));
        OK(&j, zarr_set(&j, "new", "n"));
        OK(&j, zarr_set(&j, "g/_b", "was 2")); /* the array has its name */
        OK(&j, zarr_set(&j, "attrs/a/u", NULL));
        OK(&j, zarr_finish(&j));
        assert_string_equal(zarr_changes(&j), consolidated
                                                  ? "replaced a/zarr.json\nreplaced g/zarr.json\n"
                                                    "last replaced zarr.json\n"
                                                  : "replaced zarr.json\nreplaced a/zarr.json\n"
                                                    "last replaced g/zarr.json\n");
        zarr_has_text(&j, "g/zarr.json", GROUP_OF("\"b\": \"was 2\"", "") "\n");
        zarr_has_text(&j, "a/zarr.json",
                      ARRAY_OF("8", ", \"attributes\": {\"v\": \"y\", \"w\": {\"deep\": \"z\"}}, "
                                    "\"dimension_names\": [\"t\"]") "\n");
        assert_true(cip_node_is_string(at(&j, "attrs/a/v"), "y"));
        assert_true(cip_node_is_string(at(&j, "attrs/a/w/deep"), "z"));
        assert_true(cip_node_is_string(at(&j, "g/_b"), "was 2"));
        assert_true(cip_node_is_string(at(&j, "new"), "n"));
        assert_null(at(&j, "attrs/a/u"));
        assert_non_null(at(&j, "dims/a"));
        done(&f, &j);
    }
}

static void version_2_has_attributes_apart(void **state)
{
    (void)state;
    for (int consolidated = 0; consolidated < 2; consolidated++) {
        zarr_folder f;
        zarr_job j;
        begin(&f, &j, 2, consolidated);
        OK(&j, zarr_set(&j, "attrs/a/v", "y"));
        OK(&j, zarr_set(&j, "k", "root"));
        OK(&j, zarr_put_rows(&j, 0, 6, 3, 50)); /* and a row more */
        OK(&j, zarr_finish(&j));
        assert_string_equal(zarr_changes(&j),
                            consolidated ? "made a/1\nmade a/2\nmade .zattrs\nreplaced a/.zarray\n"
                                           "replaced a/.zattrs\nlast replaced .zmetadata\n"
                                         : "made a/1\nmade a/2\nmade .zattrs\nreplaced a/.zarray\n"
                                           "last replaced a/.zattrs\n");
        zarr_has_text(&j, "a/.zattrs",
                      "{\"u\": 1.5, \"_ARRAY_DIMENSIONS\": [\"t\"], \"v\": \"y\"}\n");
        zarr_has_text(&j, ".zattrs", "{\"k\": \"root\"}\n");
        assert_int_equal(j.layout->array[0]->view.shape[0], 9);
        assert_true(cip_node_is_string(at(&j, "k"), "root"));
        assert_true(cip_node_is_string(at(&j, "attrs/a/v"), "y"));
        assert_non_null(at(&j, "dims/a"));
        done(&f, &j);
    }
}

static cip_status set_names(zarr_job *j, const char *path, uint32_t n, const char *name)
{
    cip_node *list, *item;
    OK(j, cip_node_new_seq(&j->arena, n, &list, &j->err));
    for (uint32_t i = 0; i < n; i++) {
        OK(j, cip_node_new_string(&j->arena, name, strlen(name), &item, &j->err));
        cip_node_set_item(list, i, item);
    }
    return zarr_ended(j, zarr_store->set(j->u, path, list, &j->err));
}

static void names_of_axes_change_as_a_whole(void **state)
{
    (void)state;
    for (int two = 0; two < 2; two++) {
        zarr_folder f;
        zarr_job j;
        begin(&f, &j, two ? 2 : 3, true);
        zarr_refused(&j, set_names(&j, "dims/a", 2, "x"), CIP_ERR_UNSUPPORTED, "a list of 1 texts");
        zarr_refused(&j, zarr_set(&j, "dims/a/0", "x"), CIP_ERR_UNSUPPORTED, "all names of axes");
        zarr_refused(&j, zarr_set(&j, "attrs/a/_ARRAY_DIMENSIONS", "x"), CIP_ERR_UNSUPPORTED,
                     "dims/ARRAY");
        OK(&j, set_names(&j, "dims/a", 1, "x"));
        OK(&j, zarr_finish(&j));
        assert_true(cip_node_is_string(at(&j, "dims/a/0"), "x"));
        assert_non_null(at(&j, "attrs/a/u"));
        zarr_job_close(&j);
        OK(&j, zarr_job_open(&j, &f));
        OK(&j, zarr_set(&j, "dims/a", NULL));
        OK(&j, zarr_finish(&j));
        assert_null(at(&j, "dims"));
        assert_non_null(at(&j, "attrs/a/u"));
        done(&f, &j);
    }
}

static void what_is_no_attribute_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        cip_status st;
        const char *why;
    } row[] = {
        { "a", CIP_ERR_UNSUPPORTED, "found an array" },
        { "a/shape", CIP_ERR_UNSUPPORTED, "an array's description" },
        { "g", CIP_ERR_UNSUPPORTED, "found a group" },
        { "", CIP_ERR_UNSUPPORTED, "found a group" },
        { "attrs", CIP_ERR_UNSUPPORTED, "all of it" },
        { "attrs/none/x", CIP_ERR_NOT_FOUND, "no" },
        { "attrs/a", CIP_ERR_TYPE, "a mapping" },
        { "k/x", CIP_ERR_NOT_FOUND, "" },
    };
    zarr_folder f;
    zarr_job j;
    begin(&f, &j, 3, true);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        zarr_refused(&j, zarr_set(&j, row[i].path, "x"), row[i].st, row[i].why);
    zarr_refused(&j, zarr_set(&j, "none", NULL), CIP_ERR_NOT_FOUND, "none");
    OK(&j, zarr_finish(&j));
    assert_string_equal(zarr_changes(&j), "");
    done(&f, &j);
}

static void attributes_move(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_job j;
    begin(&f, &j, 3, true);
    OK(&j, zarr_ended(&j, zarr_store->move(j.u, "attrs/a/v", "g/moved", false, &j.err)));
    zarr_refused(&j, zarr_ended(&j, zarr_store->move(j.u, "k", "g/moved", false, &j.err)),
                 CIP_ERR_ARG, "exists");
    OK(&j, zarr_finish(&j));
    assert_true(cip_node_is_string(at(&j, "g/moved"), "x"));
    assert_null(at(&j, "attrs/a/v"));
    assert_non_null(at(&j, "attrs/a/u"));
    done(&f, &j);
}

/* Element i of the array at a path, as the store will be. */
static int32_t value(zarr_job *j, const char *path, uint64_t i)
{
    const cip_read_how how = { j->layout, NULL };
    uint8_t got[4];
    for (size_t k = 0; k < j->layout->narray; k++)
        if (strcmp(j->layout->array[k]->path, path) == 0) {
            const cip_array *a = j->layout->array[k];
            assert_int_equal(a->st, CIP_OK);
            OK(j, cip_space_read_at(&how, a->space, 4 * i, got, 4, &j->err));
            return (int32_t)cip_load_u32(got, false);
        }
    fail_msg("no array %s", path);
    return 0;
}

static void arrays_come_with_the_groups_on_the_way(void **state)
{
    (void)state;
    static const char *const shards[CIP_ZARR_OPTION_CONSOLIDATED + 1] = { "32,2", "64,2" };
    for (int kind = 0; kind < 4; kind++) {
        const bool two = kind >= 2;
        zarr_folder f;
        zarr_job j;
        begin(&f, &j, two ? 2 : 3, kind % 2 == 0);
        OK(&j, zarr_add(&j, "n/m/x", 5, 100, false, NULL));
        OK(&j, zarr_set(&j, "n/m/attrs/x/units", "K"));
        OK(&j, zarr_set(&j, "n/title", "t"));
        if (!two)
            OK(&j, zarr_add(&j, "s", 100, 0, false, shards));
        /* They can be read before they are the store's. */
        const cip_array *seen = j.came[0].how.array;
        const cip_read_how how = { seen->layout, NULL };
        const cip_node *root;
        uint8_t got[4];
        OK(&j, zarr_store->tree_now(j.u, &root, &j.err));
        assert_non_null(seen->node);
        assert_ptr_equal(seen->node, cip_tree_get(root, "n/m/x", NULL)); /* found by it */
        OK(&j, cip_space_read_at(&how, seen->space, 4 * 9, got, 4, &j.err));
        assert_int_equal(cip_load_u32(got, false), 109);
        if (!two) {
            seen = j.came[1].how.array;
            OK(&j, cip_space_read_at(&how, seen->space, 4 * 137, got, 4, &j.err));
            assert_int_equal(cip_load_u32(got, false), 137);
        }
        OK(&j, zarr_finish(&j));
        assert_int_equal(value(&j, "n/m/x", 9), 109);
        if (!two)
            assert_int_equal(value(&j, "s", 137), 137);
        assert_int_equal(value(&j, "a", 1), 11);
        assert_true(cip_node_is_string(at(&j, "n/m/attrs/x/units"), "K"));
        assert_true(cip_node_is_string(at(&j, "n/title"), "t"));
        done(&f, &j);
    }
}

static cip_status move(zarr_job *j, const char *from, const char *to)
{
    return zarr_ended(j, zarr_store->move(j->u, from, to, false, &j->err));
}

/* What is said of it, and its elements, before and after that. */
static void arrays_and_groups_move_with_what_changes_in_them(void **state)
{
    (void)state;
    for (int consolidated = 0; consolidated < 2; consolidated++) {
        zarr_folder f;
        zarr_job j;
        begin(&f, &j, 3, consolidated);
        OK(&j, zarr_set(&j, "attrs/a/v", "y"));
        OK(&j, move(&j, "a", "h/new"));
        OK(&j, zarr_set(&j, "h/attrs/new/w", "z"));
        OK(&j, zarr_put_rows(&j, 0, 6, 3, 50));
        OK(&j, zarr_set(&j, "g/b", NULL));
        OK(&j, move(&j, "g", "h/g"));
        OK(&j, zarr_finish(&j));
        assert_int_equal(j.layout->narray, 1);
        assert_int_equal(j.layout->array[0]->view.shape[0], 9);
        for (uint64_t i = 0; i < 9; i++)
            assert_int_equal(value(&j, "h/new", i), i < 6 ? 10 + (int)i : 44 + (int)i);
        assert_true(cip_node_is_string(at(&j, "h/attrs/new/v"), "y"));
        assert_true(cip_node_is_string(at(&j, "h/attrs/new/w"), "z"));
        assert_non_null(at(&j, "h/dims/new"));
        assert_non_null(at(&j, "h/g/b")); /* an attribute, by its own name now */
        assert_null(at(&j, "a"));
        assert_null(at(&j, "attrs"));
        assert_null(at(&j, "g"));
        done(&f, &j);
    }
}

static void chunks_that_go_do_not_move(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_job j;
    begin(&f, &j, 2, true);
    OK(&j, move(&j, "a", "b"));
    for (int64_t i = 0; i < 4; i++) /* all of chunk 0 is the fill value */
        OK(&j, zarr_put_rows(&j, 0, i, 1, 0));
    OK(&j, zarr_finish(&j));
    assert_string_equal(zarr_changes(&j), "gone a/0\nlast replaced .zmetadata\nrenamed a/.zarray\n"
                                          "renamed a/.zattrs\nfolder gone a\n");
    assert_int_equal(value(&j, "b", 0), 0);
    done(&f, &j);
}

static void what_cannot_move_is_refused(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_job j;
    begin(&f, &j, 3, true);
    zarr_refused(&j, move(&j, "a", "g"), CIP_ERR_ARG, "found a group at 'g'");
    zarr_refused(&j, move(&j, "a", "g/b"), CIP_ERR_ARG, "found an array at 'g/b'");
    zarr_refused(&j, move(&j, "a", "k"), CIP_ERR_ARG, "found an attribute at 'k'");
    zarr_refused(&j, move(&j, "a", "g/b/x"), CIP_ERR_UNSUPPORTED, "'g/b' is an array");
    zarr_refused(&j, move(&j, "g", "g/x"), CIP_ERR_ARG, "inside the moved node");
    zarr_refused(&j, move(&j, "none", "x"), CIP_ERR_NOT_FOUND, "");
    OK(&j, zarr_add(&j, "n/x", 4, 0, false, NULL));
    zarr_refused(&j, move(&j, "n", "m"), CIP_ERR_UNSUPPORTED, "'n' was added in this update");
    OK(&j, move(&j, "g/b", "g/c"));
    zarr_refused(&j, move(&j, "g/c", "c"), CIP_ERR_UNSUPPORTED, "'g/c' was moved in this update");
    zarr_refused(&j, move(&j, "g", "h"), CIP_ERR_UNSUPPORTED, "was moved in this update");
    zarr_refused(&j, move(&j, "a", "g/b"), CIP_ERR_UNSUPPORTED, "'g/b' was moved in this update");
    zarr_refused(&j, zarr_add(&j, "g/b", 4, 0, false, NULL), CIP_ERR_UNSUPPORTED, "was moved");
    OK(&j, zarr_finish(&j));
    assert_int_equal(value(&j, "g/c", 0), 20);
    assert_int_equal(value(&j, "a", 0), 10);
    done(&f, &j);
}

static void what_cannot_come_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        cip_status st;
        const char *why;
    } row[] = {
        { "a", CIP_ERR_ARG, "an array at 'a'" },
        { "g", CIP_ERR_ARG, "a group at 'g'" },
        { "k", CIP_ERR_ARG, "an attribute at 'k'" },
        { "a/x", CIP_ERR_UNSUPPORTED, "is an array" },
        { "k/x", CIP_ERR_ARG, "an attribute at 'k'" },
        { "stray", CIP_ERR_ARG, "in the way" },
        { "stray/x", CIP_ERR_ARG, "in the way" },
        { ".x", CIP_ERR_UNSUPPORTED, "cannot be the path" },
        { "__x", CIP_ERR_UNSUPPORTED, "cannot be the path" },
        { "..", CIP_ERR_UNSUPPORTED, "cannot be the path" },
        { "zarr.json", CIP_ERR_UNSUPPORTED, "cannot be the path" },
        { "attrs", CIP_ERR_ARG, "an attribute at 'attrs'" },
    };
    zarr_folder f;
    zarr_job j;
    start_3(&f, true);
    zarr_chunk(&f, "stray/c/0/0", 0, 4); /* of an array that somebody removed by half */
    OK(&j, zarr_job_open(&j, &f));
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        zarr_refused(&j, zarr_add(&j, row[i].path, 4, 0, false, NULL), row[i].st, row[i].why);
    OK(&j, zarr_add(&j, "x", 4, 0, false, NULL));
    zarr_refused(&j, zarr_add(&j, "x", 4, 0, false, NULL), CIP_ERR_ARG, "an array at 'x'");
    done(&f, &j);
    zarr_start(&f);
    zarr_text(&f, "zarr.json", ARRAY_OF("8", ""));
    OK(&j, zarr_job_open(&j, &f));
    zarr_refused(&j, zarr_add(&j, "x", 4, 0, false, NULL), CIP_ERR_UNSUPPORTED, "is one array");
    OK(&j, zarr_set(&j, "attributes/k", "v"));
    OK(&j, zarr_finish(&j));
    assert_true(cip_node_is_string(at(&j, "attributes/k"), "v"));
    done(&f, &j);
}

static void arrays_and_groups_go_with_their_files(void **state)
{
    (void)state;
    for (int consolidated = 0; consolidated < 2; consolidated++) {
        zarr_folder f;
        zarr_job j;
        begin(&f, &j, 3, consolidated);
        OK(&j, zarr_put_rows(&j, 0, 0, 2, 5));
        OK(&j, zarr_set(&j, "a", NULL));
        OK(&j, zarr_set(&j, "g", NULL));
        OK(&j, zarr_finish(&j));
        assert_int_equal(j.layout->narray, 0);
        assert_null(at(&j, "dims"));
        assert_null(at(&j, "attrs"));
        assert_non_null(at(&j, "k"));
        const char *text = zarr_changes(&j);
        assert_non_null(strstr(text, "gone a/c/0\ngone a/c/1\n"));
        assert_non_null(strstr(text, "folder gone g/b\n"));
        assert_true((strstr(text, "last replaced zarr.json\n") != NULL) == consolidated);
        done(&f, &j);
    }
}

static void a_folder_with_links_stays(void **state)
{
    (void)state;
    zarr_folder f;
    zarr_job j;
    start_3(&f, false);
    assert_int_equal(symlink("../a", scratch_path(&f.dir, "g/link")), 0);
    OK(&j, zarr_job_open(&j, &f));
    OK(&j, zarr_set(&j, "g", NULL));
    zarr_refused(&j, zarr_plan(&j), CIP_ERR_UNSUPPORTED, "symbolic links");
    done(&f, &j);
}

static void an_array_takes_the_place_of_another(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) { /* replaced, or removed and then added */
        zarr_folder f;
        zarr_job j;
        begin(&f, &j, 3, true);
        if (how == 1)
            OK(&j, zarr_set(&j, "a", NULL));
        OK(&j, zarr_add(&j, "a", 2, 70, how == 0, NULL));
        OK(&j, zarr_finish(&j));
        assert_int_equal(j.layout->narray, 2);
        assert_int_equal(value(&j, "a", 3), 73);
        assert_null(at(&j, "attrs"));
        assert_null(at(&j, "dims"));
        done(&f, &j);
    }
}

static void a_call_that_fails_leaves_nothing(void **state)
{
    (void)state;
    const cip_node *before, *after;
    zarr_folder f;
    zarr_job j;
    begin(&f, &j, 3, true);
    OK(&j, zarr_store->tree_now(j.u, &before, &j.err));
    const size_t undo = j.undo.n;
    j.undo.mark = 1; /* all is kept from here on */
    OK(&j, zarr_store->mark(j.u, &(void *){ NULL }, &j.err));
    OK(&j, zarr_add(&j, "n/x", 4, 0, false, NULL));
    OK(&j, zarr_set(&j, "n/k", "v"));
    OK(&j, zarr_set(&j, "attrs/a/v", "v"));
    OK(&j, move(&j, "a", "m/a"));
    OK(&j, zarr_set(&j, "g", NULL));
    cip_undo_to(&j.undo, undo);
    OK(&j, zarr_store->tree_now(j.u, &after, &j.err));
    assert_ptr_equal(before, after);
    j.undo.mark = 0;
    OK(&j, zarr_finish(&j));
    assert_string_equal(zarr_changes(&j), "");
    assert_int_equal(j.layout->narray, 2);
    done(&f, &j);
}

static void memory_that_runs_out_is_reported(void **state)
{
    (void)state;
    static const cip_spec as_it_is = { .big = -1 };
    for (int kind = 0; kind < 4; kind++) {
        zarr_folder f;
        (kind >= 2 ? start_2 : start_3)(&f, kind % 2 == 0);
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = 0 };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            zarr_job j;
            OK(&j, zarr_job_open_as(&j, &f, &as_it_is, &from));
            OK(&j, zarr_set(&j, "attrs/a/v", "y"));
            alloc.fail_at = alloc.requests + n;
            cip_status st = zarr_ended(&j, zarr_store->remove(j.u, "attrs/a/u", &j.err));
            if (st == CIP_OK)
                st = zarr_add(&j, "n/x", 5, 0, false, NULL);
            if (st == CIP_OK)
                st = zarr_put_rows(&j, 0, 6, 3, 50);
            if (st == CIP_OK)
                st = move(&j, "a", "m/a");
            if (st == CIP_OK && kind < 2)
                st = zarr_set(&j, "g", NULL);
            if (st == CIP_OK)
                st = zarr_plan(&j);
            zarr_job_close(&j);
            if (st != CIP_OK && st != CIP_ERR_NOMEM)
                fail_msg("kind %d, allocation %zu: %s: %s", kind, n, j.err.part, j.err.text);
            assert_int_equal(alloc.held, 0);
            if (alloc.requests < alloc.fail_at) {
                assert_int_equal(st, CIP_OK);
                break;
            }
        }
        scratch_close(&f.dir);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attributes_change_in_all_that_says_them),
        cmocka_unit_test(version_2_has_attributes_apart),
        cmocka_unit_test(names_of_axes_change_as_a_whole),
        cmocka_unit_test(what_is_no_attribute_is_refused),
        cmocka_unit_test(attributes_move),
        cmocka_unit_test(arrays_come_with_the_groups_on_the_way),
        cmocka_unit_test(arrays_and_groups_move_with_what_changes_in_them),
        cmocka_unit_test(chunks_that_go_do_not_move),
        cmocka_unit_test(what_cannot_move_is_refused),
        cmocka_unit_test(what_cannot_come_is_refused),
        cmocka_unit_test(arrays_and_groups_go_with_their_files),
        cmocka_unit_test(a_folder_with_links_stays),
        cmocka_unit_test(an_array_takes_the_place_of_another),
        cmocka_unit_test(a_call_that_fails_leaves_nothing),
        cmocka_unit_test(memory_that_runs_out_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
