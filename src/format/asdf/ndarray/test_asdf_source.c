/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/format/asdf/chain/asdf_early_testing.h"
#include "support/needs.h"
#include "support/temp_folder.h"

#define EXT(uri)                                                                                   \
    "!core/ndarray-1.0.0 {source: " uri ", datatype: int32, byteorder: little, shape: [6]}\n"

/* A file of a folder, opened by its path. */
static cip_status open_path(one_file *f, const char *path, uint32_t flags, const cip_limits *limits)
{
    memset(f, 0, sizeof *f);
    f->err = (cip_err)CIP_ERR_INIT;
    assert_int_equal(cip_env_init(&f->env, limits, NULL, NULL, NULL), CIP_OK);
    assert_int_equal(cip_io_open_file(&f->env, path, &f->io, &f->err), CIP_OK);
    assert_int_equal(cip_layout_new(&f->env, f->io, &f->layout, &f->err), CIP_OK);
    f->layout->flags = flags;
    return cip_format_asdf.open(f->layout, &f->err);
}

/* Writes a tree with the two usual blocks behind it. */
static void write_tree(scratch *s, const char *name, const char *tree)
{
    asdf_make m = { 0 };
    make_tree(&m, tree);
    make_six(&m);
    make_three(&m);
    scratch_write(s, name, m.ptr, m.len);
    make_clear(&m);
}

static int setup(void **state)
{
    static scratch s;
    if (!scratch_open(&s))
        return 1;
    mkdir(scratch_path(&s, "sub"), 0777);
    write_tree(&s, "other.asdf",
               "x: {y: [1, " MAKE_INT32 "], 'p/q': " MAKE_INT32 ", 't~u': " MAKE_INT32
               ", 'sp ace': " MAKE_INT32 "}\n");
    write_tree(&s, "sub/near.asdf", "r: {$ref: '../other.asdf#/x/y/1'}\n");
    scratch_write(&s, "tree_only.asdf", "#ASDF 1.0.0\n", 12);
    scratch_write(&s, "broken_tree.asdf", "#ASDF 1.0.0\n%YAML 1.1\n--- [\n...\n", 32);
    scratch_write(&s, "no_asdf.txt", "hello", 5);
    *state = &s;
    return 0;
}

static int teardown(void **state)
{
    scratch_close(*state);
    return 0;
}

static void open_main(one_file *f, scratch *s, const char *tree, uint32_t flags)
{
    write_tree(s, "main.asdf", tree);
    assert_int_equal(open_path(f, scratch_path(s, "main.asdf"), flags, NULL), CIP_OK);
}

static void the_first_block_of_another_file_is_read(void **state)
{
    one_file f;
    open_main(&f, *state,
              "a: " EXT("other.asdf") "b: " EXT("./other.asdf") "c: " EXT(
                  "sub/near.asdf") "d: " EXT("oth%65r.asdf") "e: " EXT("'other.asdf#/x'"),
              0);
    assert_int_equal(f.layout->nchild, 0); /* not before it is read */
    static const char *const paths[] = { "a", "b", "c", "d", "e" };
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(cip_storage_text(&make_find(&f, paths[i])->storage), "external");
        assert_int_equal(make_find(&f, paths[i])->storage.block, -1);
        assert_true(make_gives_six(&f, paths[i]));
    }
    assert_int_equal(f.layout->nchild, 4); /* one for each name; e has a's */
    one_close(&f);
}

static void a_name_of_its_own_is_its_own_first_block(void **state)
{
    one_file f;
    open_main(&f, *state,
              "a: " EXT("main.asdf") "b: " EXT("''") "c: " EXT("'#x'") "d: " EXT("./main.asdf"), 0);
    static const char *const paths[] = { "a", "b", "c", "d" };
    for (size_t i = 0; i < 4; i++)
        assert_true(make_gives_six(&f, paths[i]));
    assert_int_equal(f.layout->nchild, 0);
    one_close(&f);
}

static void files_that_cannot_be_had_cost_their_array(void **state)
{
    scratch *s = *state;
    static const struct {
        const char *uri;
        cip_status st;
        const char *why;
    } rows[] = {
        { "nope.asdf", CIP_ERR_NOT_FOUND, "nope.asdf" },
        { "tree_only.asdf", CIP_ERR_CORRUPT, "expected a block in 'tree_only.asdf'" },
        { "no_asdf.txt", CIP_ERR_FORMAT, "expected '#ASDF'" },
        { "../main.asdf", CIP_ERR_CORRUPT, "outside the file's folder" },
        { "/etc/passwd", CIP_ERR_CORRUPT, "outside the file's folder" },
        { "'http://127.0.0.1:9/x'", CIP_ERR_UNSUPPORTED, "over a network" },
        { "'fits:SCI,1'", CIP_ERR_UNSUPPORTED, "is in a FITS file" },
        { "\"a\\0b\"", CIP_ERR_CORRUPT, "a NUL in a source" },
        { "link.asdf", CIP_ERR_CORRUPT, "a link that leaves" },
    };
    if (symlink("/etc/passwd", scratch_path(s, "link.asdf")) != 0)
        fail();
    /* which link it is, is not known without openat2 */
    const size_t nrow = sizeof rows / sizeof rows[0] - (have_openat2() ? 0 : 1);
    for (size_t i = 0; i < nrow; i++) {
        one_file f;
        char tree[400];
        snprintf(tree, sizeof tree,
                 "a: !core/ndarray-1.0.0 {source: %s, datatype: int32, byteorder: little, shape: "
                 "[6]}\nb: %s",
                 rows[i].uri, MAKE_FLOAT64);
        open_main(&f, s, tree, 0);
        for (int again = 0; again < 2; again++) { /* the error is kept */
            assert_int_equal(make_try(&f, "a"), rows[i].st);
            assert_non_null(strstr(f.err.text, rows[i].why));
            assert_string_equal(f.err.part, "a");
        }
        assert_true(make_gives_three(&f, "b"));
        one_close(&f);
    }
}

static void files_outside_are_read_when_allowed(void **state)
{
    one_file f;
    scratch *s = *state;
    write_tree(s, "sub/inner.asdf", "a: " EXT("../other.asdf"));
    assert_int_equal(open_path(&f, scratch_path(s, "sub/inner.asdf"), CIP_OPEN_EXTERNAL, NULL),
                     CIP_OK);
    assert_true(make_gives_six(&f, "a"));
    one_close(&f);
    assert_int_equal(open_path(&f, scratch_path(s, "sub/inner.asdf"), 0, NULL), CIP_OK);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT);
    one_close(&f);
}

static void views_of_other_files_are_checked_when_they_are_read(void **state)
{
    one_file f;
    open_main(&f, *state,
              "a: !core/ndarray-1.0.0 {source: other.asdf, datatype: int32, byteorder: little, "
              "shape: [7]}\n"
              "b: !core/ndarray-1.0.0 {source: other.asdf, datatype: int32, byteorder: little, "
              "shape: ['*', 3]}\n"
              "c: !core/ndarray-1.0.0 {source: nope.asdf, datatype: int32, byteorder: little, "
              "shape: ['*', 3]}\n",
              0);
    assert_int_equal(make_find(&f, "a")->st, CIP_OK);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_RANGE);
    assert_int_equal(make_find(&f, "b")->view.shape[0], 2);
    assert_true(make_gives_six(&f, "b"));
    assert_int_equal(make_find(&f, "c")->st, CIP_ERR_NOT_FOUND);
    one_close(&f);
    open_main(
        &f, *state, /* the system refuses a name so long */
        "a: !core/ndarray-1.0.0 {source: "
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        ", datatype: int32, byteorder: little, shape: ['*', 3]}\nb: " MAKE_FLOAT64,
        0);
    assert_int_equal(make_find(&f, "a")->st, CIP_ERR_IO);
    assert_true(make_gives_three(&f, "b"));
    one_close(&f);
}

static void a_broken_tree_does_not_hide_the_blocks_of_another_file(void **state)
{
    one_file f;
    scratch *s = *state;
    asdf_make m = { 0 };
    make_text(&m, "#ASDF 1.0.0\n%YAML 1.1\n--- [\n...\n");
    make_six(&m);
    scratch_write(s, "bad.asdf", m.ptr, m.len);
    make_clear(&m);
    open_main(&f, s, "a: " EXT("bad.asdf") "r: {$ref: 'bad.asdf#/x'}\n", 0);
    assert_true(make_gives_six(&f, "a"));
    assert_int_equal(make_try(&f, "r"), CIP_ERR_CORRUPT);
    one_close(&f);
}

static void faults_of_another_file_are_told_with_its_name(void **state)
{
    one_file f;
    scratch *s = *state;
    asdf_make m = { 0 };
    make_text(&m, "#ASDF 1.0.0\n");
    make_six(&m);
    scratch_write(s, "cut.asdf", m.ptr, m.len - 1);
    make_clear(&m);
    open_main(&f, s, "a: " EXT("cut.asdf"), 0);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_TRUNCATED);
    assert_string_equal(f.err.part, "cut.asdf, block 0");
    assert_string_equal(cip_report_get(&f.env.warnings, 0)->part, "cut.asdf, block 0");
    one_close(&f);
}

static void the_number_of_other_files_is_bounded(void **state)
{
    scratch *s = *state;
    write_tree(s, "main.asdf", "a: " EXT("other.asdf") "b: " EXT("sub/near.asdf"));
    const cip_limits limits = { .size = sizeof limits, .max_external = 1 };
    one_file f;
    assert_int_equal(open_path(&f, scratch_path(s, "main.asdf"), 0, &limits), CIP_OK);
    assert_true(make_gives_six(&f, "a"));
    assert_int_equal(make_try(&f, "b"), CIP_ERR_LIMIT);
    assert_non_null(strstr(f.err.text, "more than 1 external files"));
    one_close(&f);
}

/* --- references ------------------------------------------------------------------------------- */

static void references_to_arrays_are_listed(void **state)
{
    one_file f;
    open_main(&f, *state,
              "t: {u: [0, " MAKE_INT32
              "]}\nl: {$ref: '#/t/u/1'}\nm: {$ref: '#t/u/1'}\nn: {$ref: 'main.asdf#/t/u/1'}\n"
              "o: {$ref: 'other.asdf#/x/y/1'}\np: {$ref: 'other.asdf#/x/p~1q'}\nq: {$ref: "
              "'other.asdf#/x/t~0u'}\n"
              "r: {$ref: 'other.asdf#/x/sp%20ace'}\ns: {$ref: 'other.asdf#/x/p%7E1q'}\nz: {$ref: "
              "'#/l'}\n",
              0);
    static const char *const paths[] = { "l", "m", "n", "o", "p", "q", "r", "s", "z" };
    assert_int_equal(f.layout->narray, 10);
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_string_equal(cip_storage_text(&make_find(&f, paths[i])->storage), "reference");
        assert_null(make_find(&f, paths[i])->node);
        assert_ptr_equal(make_find(&f, paths[i])->layout, f.layout);
        assert_true(make_gives_six(&f, paths[i]));
    }
    assert_int_equal(f.layout->nchild, 1);
    const cip_node *ref = cip_tree_get(f.layout->tree, "l/$ref", NULL);
    assert_true(cip_node_is_string(ref, "#/t/u/1")); /* the tree stays as it is */
    one_close(&f);
}

static void pointers_are_percent_decoded_once(void **state)
{
    one_file f;
    open_main(&f, *state,
              "\"09JOjo\\t%4g%g4%%41\": " MAKE_INT32
              "a: {$ref: '#/%30%39%4A%4F%6a%6f%09%4g%g4%%2541'}\nb: {$ref: '#/%30'}\n",
              0);
    assert_true(make_gives_six(&f, "a"));
    assert_int_equal(make_try(&f, "b"), CIP_ERR_NOT_FOUND);
    one_close(&f);
}

static void references_to_anything_else_are_not(void **state)
{
    one_file f;
    open_main(&f, *state,
              "l: {$ref: 'other.asdf#/x'}\nm: {$ref: '#/n'}\nn: 5\no: {$ref: 'http://x/y#z'}\np: "
              "{$ref: 5}\n"
              "q: {$ref: \"a\\0b\"}\nr: {$ref: 'asdf://x.org/y'}\ns: {$ref: [1]}\n",
              0);
    assert_int_equal(f.layout->narray, 0);
    one_close(&f);
}

static void references_that_lead_nowhere_are_listed_and_refused(void **state)
{
    static const struct {
        const char *ref;
        cip_status st;
        const char *why;
    } rows[] = {
        { "#/nope/3", CIP_ERR_NOT_FOUND, "expected a node where '#/nope/3' refers to" },
        { "#/a", CIP_ERR_CORRUPT, "references in a circle" },
        { "other.asdf#/x/nope", CIP_ERR_NOT_FOUND, "other.asdf#/x/nope" },
        { "nope.asdf#/x", CIP_ERR_NOT_FOUND, "nope.asdf" },
        { "tree_only.asdf#/x", CIP_ERR_NOT_FOUND, "expected a node" },
        { "../outside.asdf#/x", CIP_ERR_CORRUPT, "outside the file's folder" },
        { "file:///etc/passwd", CIP_ERR_CORRUPT, "outside the file's folder" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        one_file f;
        char tree[200];
        snprintf(tree, sizeof tree, "a: {$ref: '%s'}\nb: %s", rows[i].ref, MAKE_FLOAT64);
        open_main(&f, *state, tree, 0);
        assert_int_equal(f.layout->narray, 2);
        assert_int_equal(make_try(&f, "a"), rows[i].st);
        assert_non_null(strstr(f.err.text, rows[i].why));
        assert_non_null(make_find(&f, "a")->dtype);
        assert_true(make_gives_three(&f, "b"));
        one_close(&f);
    }
}

static void references_through_several_files_are_followed(void **state)
{
    scratch *s = *state;
    char name[32], tree[100];
    for (int i = 1; i <= 8; i++) {
        snprintf(name, sizeof name, "hop%d.asdf", i);
        if (i == 8)
            snprintf(tree, sizeof tree, "x: %s", MAKE_INT32);
        else
            snprintf(tree, sizeof tree, "x: {$ref: 'hop%d.asdf#/x'}\n", i + 1);
        write_tree(s, name, tree);
    }
    one_file f;
    open_main(&f, s, "a: {$ref: 'hop1.asdf#/x'}\n", 0); /* eight files deep */
    assert_true(make_gives_six(&f, "a"));
    one_close(&f);
    write_tree(s, "hop8.asdf", "x: {$ref: 'hop9.asdf#/x'}\n");
    write_tree(s, "hop9.asdf", "x: " MAKE_INT32);
    open_main(&f, s, "a: {$ref: 'hop1.asdf#/x'}\n", 0);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT);
    assert_non_null(strstr(f.err.text, "at most 8 deep"));
    one_close(&f);
    write_tree(s, "hop1.asdf", "x: {$ref: 'main.asdf#/a'}\n"); /* in a circle */
    open_main(&f, s, "a: {$ref: 'hop1.asdf#/x'}\n", 0);
    assert_int_equal(make_try(&f, "a"), CIP_ERR_CORRUPT);
    one_close(&f);
}

static void references_within_a_file_are_followed_16_times(void **state)
{
    one_file f;
    asdf_make m = { 0 };
    char line[64];
    for (int i = 0; i < 17; i++) {
        snprintf(line, sizeof line, "r%d: {$ref: '#/r%d'}\n", i, i + 1);
        make_text(&m, line);
    }
    make_text(&m, "r17: " MAKE_INT32);
    make_bytes(&m, "", 1);
    open_main(&f, *state, (const char *)m.ptr, 0);
    assert_int_equal(make_try(&f, "r0"), CIP_ERR_CORRUPT);
    assert_true(make_gives_six(&f, "r1"));
    one_close(&f);
    make_clear(&m);
}

static void files_in_memory_have_no_others(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(
        make_open_tree(&f, "a: " EXT("other.asdf") "b: " MAKE_FLOAT64 "c: {$ref: 'x.asdf#/y'}\n",
                       0),
        CIP_OK);
    assert_true(make_try(&f, "a") != CIP_OK);
    assert_true(make_try(&f, "c") != CIP_OK);
    assert_true(make_gives_three(&f, "b"));
    one_close(&f);
}

static void a_chain_beside_is_completed_by_the_file_that_names_it(void **state)
{
    scratch *s = *state;
    static const char *const sources[] = { "part.asdf", "part.asdf#x", "./part.asdf" };
    static const uint8_t tiles[] = { 0, 1, 3, 4, 2, 99, 5, 99 };
    asdf_make part = { 0 };
    make_text(&part, EARLY_LINE);
    make_encoded(&part, "[[tile, {shape: [2, 2]}]]\n...\n", tiles, 8, 6);
    scratch_write(s, "part.asdf", part.ptr, part.len);
    for (size_t i = 0; i < 3; i++) {
        one_file f;
        asdf_make m = { 0 };
        char tree[200];
        snprintf(tree, sizeof tree,
                 "a: !core/ndarray {source: '%s', datatype: uint8, byteorder: little, shape: "
                 "[2, 3]}\n",
                 sources[i]);
        make_early_tree(&m, tree);
        scratch_write(s, "early.asdf", m.ptr, m.len);
        assert_int_equal(open_path(&f, scratch_path(s, "early.asdf"), 0, NULL), CIP_OK);
        assert_true(make_gives(&f, "a", "\0\1\2\3\4\5", 6));
        one_close(&f);
        make_clear(&m);
    }
    make_clear(&part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_block_of_another_file_is_read),
        cmocka_unit_test(a_name_of_its_own_is_its_own_first_block),
        cmocka_unit_test(files_that_cannot_be_had_cost_their_array),
        cmocka_unit_test(files_outside_are_read_when_allowed),
        cmocka_unit_test(views_of_other_files_are_checked_when_they_are_read),
        cmocka_unit_test(a_broken_tree_does_not_hide_the_blocks_of_another_file),
        cmocka_unit_test(faults_of_another_file_are_told_with_its_name),
        cmocka_unit_test(the_number_of_other_files_is_bounded),
        cmocka_unit_test(references_to_arrays_are_listed),
        cmocka_unit_test(pointers_are_percent_decoded_once),
        cmocka_unit_test(references_to_anything_else_are_not),
        cmocka_unit_test(references_that_lead_nowhere_are_listed_and_refused),
        cmocka_unit_test(references_through_several_files_are_followed),
        cmocka_unit_test(references_within_a_file_are_followed_16_times),
        cmocka_unit_test(files_in_memory_have_no_others),
        cmocka_unit_test(a_chain_beside_is_completed_by_the_file_that_names_it),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
