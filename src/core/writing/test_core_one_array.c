/* SPDX-License-Identifier: BSD-3-Clause
 * Files of one array without a name, from C: metadata and shapes of chunks, given at once, by
 * boxes, in memory; frames that grow and change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/core_testing.h"
#include "support/temp_folder.h"

#define OK(x)                                                                                      \
    do {                                                                                           \
        cip_err err = CIP_ERR_INIT;                                                                \
        if ((x) != CIP_OK || err.code != CIP_OK)                                                   \
            fail_msg("%s: %s: %s", #x, err.part, err.text);                                        \
    } while (0)

static const int64_t shape34[] = { 3, 4 };
static const int32_t twelve[] = { 0, 1, -2, 3, 4, 5, 6, 70000, 8, 9, 10, 11 };

static cip_change *create(const char *name, cip_memory **m)
{
    cip_change *w = NULL;
    const bool folder = strcmp(name, "folder.b2nd") == 0;
    OK(cip_create_memory(
        name, CIP_CHANGE_OPTIONS(.format_options = folder ? CIP_TEXTS("sparse=yes") : NULL), m, &w,
        &err));
    return w;
}

static cip_file *open_it(cip_memory *m)
{
    cip_file *f = NULL;
    OK(cip_memory_open(m, NULL, &f, &err));
    return f;
}

static void assert_twelve(const cip_file *f)
{
    int32_t got[12];
    OK(cip_read(cip_find(f, "", &err), NULL, cip_dtype_of(CIP_I32), got, sizeof got, &err));
    assert_memory_equal(got, twelve, sizeof got);
}

static int64_t chunk_length(const cip_file *f, int axis)
{
    cip_array_storage s = { .size = sizeof s };
    OK(cip_array_get_storage(cip_find(f, "", &err), &s, &err));
    assert_non_null(s.chunk);
    return s.chunk[axis];
}

static void metadata_go_where_the_format_has_a_place(void **state)
{
    (void)state;
    static const struct {
        const char *name, *path;
    } file[] = { { "one.b2nd", "vlmeta/metadata" }, { "one.ra", "metadata" } };
    for (int i = 0; i < 2; i++) {
        const char *unit = "";
        cip_memory *m;
        cip_change *w = create(file[i].name, &m);
        OK(cip_change_set_string(w, "metadata", "K", &err));
        OK(cip_change_put(w, "", cip_dtype_of(CIP_I32), 2, shape34, twelve, NULL, &err));
        OK(cip_change_commit(&w, &err));
        cip_file *f = open_it(m);
        assert_twelve(f);
        OK(cip_tree_get_string(cip_file_tree(f), file[i].path, &unit, &err));
        assert_string_equal(unit, "K");
        cip_file_close(f);
        cip_memory_free(m);
    }
}

typedef struct step {
    const char *path, *text; /* text NULL: the array */
} step;

static cip_memory *written(const char *name, const step *s)
{
    cip_memory *m;
    cip_change *w = create(name, &m);
    for (; s->path != NULL; s++)
        if (s->text != NULL)
            OK(cip_change_set_string(w, s->path, s->text, &err));
        else
            OK(cip_change_put(w, "", cip_dtype_of(CIP_I32), 2, shape34, twelve, NULL, &err));
    OK(cip_change_commit(&w, &err));
    return m;
}

static void assert_same(const cip_memory *a, const cip_memory *b)
{
    size_t n, m;
    const void *x = cip_memory_bytes(a, &n), *y = cip_memory_bytes(b, &m);
    const char *of = "", *as = "";
    for (size_t i = 0; of != NULL && as != NULL; i++) {
        assert_int_equal(n, m);
        if (n != 0)
            assert_memory_equal(x, y, n);
        of = cip_memory_member(a, i, &x, &n);
        as = cip_memory_member(b, i, &y, &m);
    }
    assert_true(of == as);
}

static void metadata_may_come_behind_the_array(void **state)
{
    (void)state;
    static const struct {
        const char *name, *path[2];
    } file[] = { { "one.b2nd", { "meta/a", "vlmeta/b" } },
                 { "folder.b2nd", { "meta/a", "meta/b" } },
                 { "one.b2nd", { "a", "b" } },
                 { "one.ra", { "metadata", "metadata" } },
                 { "one.blp", { "metadata/a", "metadata/b" } } };
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        const char *const *at = file[i].path;
        const step a = { at[0], "K" }, b = { at[1], "a longer text" }, array = { "", NULL };
        const step want[] = { a, b, array, { NULL, NULL } };
        const step other[][4] = { { a, array, b }, { array, a, b } };
        cip_memory *m = written(file[i].name, want);
        for (int k = 0; k < 2; k++) {
            cip_memory *n = written(file[i].name, other[k]);
            assert_same(n, m);
            cip_memory_free(n);
        }
        cip_file *f = open_it(m);
        assert_twelve(f);
        cip_file_close(f);
        cip_memory_free(m);
    }
}

static void metadata_behind_the_array_are_checked(void **state)
{
    (void)state;
    static const char *const name[] = { "one.npy", "one.ra", "one.blp" };
    for (int i = 0; i < 3; i++) {
        cip_memory *m;
        cip_err why = CIP_ERR_INIT;
        cip_change *w = create(name[i], &m);
        OK(cip_change_put(w, "", cip_dtype_of(CIP_I32), 2, shape34, twelve, NULL, &err));
        OK(cip_change_set_string(w, "unit", "K", &err));
        assert_int_equal(cip_change_commit(&w, &why), CIP_ERR_UNSUPPORTED);
        assert_non_null(strstr(why.text, "cannot hold all of it"));
        cip_memory_free(m);
    }
}

static void an_array_has_chunks_of_the_shape_asked_for(void **state)
{
    (void)state;
    cip_memory *m;
    cip_slab *s;
    cip_change *w = create("one.b2nd", &m);
    OK(cip_change_declare(w, "", cip_dtype_of(CIP_I32), 2, shape34,
                          CIP_ARRAY_OPTIONS(.chunk = { 2, 3 }), &s, &err));
    for (int64_t row = 2; row >= 0; row--)
        OK(cip_slab_write(s, CIP_BOX({ row, 0 }, { row + 1, 4 }), twelve + 4 * row, 16, &err));
    OK(cip_change_commit(&w, &err));
    cip_file *f = open_it(m);
    assert_twelve(f);
    assert_int_equal(chunk_length(f, 0), 2);
    assert_int_equal(chunk_length(f, 1), 3);
    cip_file_close(f);
    cip_memory_free(m);
}

/* An option given as such counts before the field of the same meaning. */
static void a_chunk_shape_is_given_once(void **state)
{
    (void)state;
    cip_memory *m;
    cip_change *w = create("one.b2nd", &m);
    OK(cip_change_put(
        w, "", cip_dtype_of(CIP_I32), 2, shape34, twelve,
        CIP_ARRAY_OPTIONS(.chunk = { 2, 3 }, .format_options = CIP_TEXTS("chunks=3,2")), &err));
    OK(cip_change_commit(&w, &err));
    cip_file *f = open_it(m);
    assert_int_equal(chunk_length(f, 0), 3);
    cip_file_close(f);
    cip_memory_free(m);
}

/* A length for one axis of two; formats without n-d chunks do not look at it. */
static void a_shape_that_is_none_is_refused(void **state)
{
    (void)state;
    static const char *const names[] = { "one.b2nd", "one.npy" };
    for (int i = 0; i < 2; i++) {
        cip_memory *m;
        cip_change *w = create(names[i], &m);
        const cip_status want = i == 0 ? CIP_ERR_ARG : CIP_OK;
        assert_int_equal(cip_change_put(w, "", cip_dtype_of(CIP_I32), 2, shape34, twelve,
                                        CIP_ARRAY_OPTIONS(.chunk = { 2 }), NULL),
                         want);
        assert_int_equal(cip_change_commit(&w, NULL), want);
        cip_memory_free(m);
    }
}

static void add_hours(const char *path)
{
    cip_file *f;
    OK(cip_open(path, NULL, &f, &err));
    for (double hour = 0; hour < 4; hour++) {
        const double rows[2][3] = { { hour, 0.5, 1 }, { hour, 1.5, 2 } };
        OK(cip_append(f, "", cip_dtype_of(CIP_F64), rows, sizeof rows, &err));
    }
    OK(cip_sync(f, &err));
    cip_file_close(f);
}

static void assert_row(const char *path, const char *row, double a, double b, double c)
{
    double got[3] = { 0 };
    cip_file *f;
    OK(cip_open(path, NULL, &f, &err));
    assert_int_equal(cip_array_shape(cip_find(f, "", NULL))[0], 8);
    OK(cip_read(cip_find(f, "", &err), row, cip_dtype_of(CIP_F64), got, sizeof got, &err));
    assert_true(got[0] == a && got[1] == b && got[2] == c);
    cip_file_close(f);
}

/* As a stream of ASDF does: rows until the night ends, and a change of some of them. */
static void frames_grow_and_change(void **state)
{
    (void)state;
    const int64_t none[] = { 0, 3 };
    const double fixed[2][3] = { { 9, 9, 9 }, { 8, 8, 8 } };
    const char *quality = "";
    scratch dir;
    assert_true(scratch_open(&dir));
    for (int sparse = 0; sparse < 2; sparse++) {
        const char *path = scratch_path(&dir, sparse ? "sparse.b2nd" : "events.b2nd");
        const char *const option[] = { sparse ? "sparse=yes" : "sparse=no", NULL };
        cip_change *w;
        cip_change *e;
        cip_file *f;
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.format_options = option), &w, &err));
        OK(cip_change_put(w, "", cip_dtype_of(CIP_F64), 2, none, NULL, NULL, &err));
        OK(cip_change_commit(&w, &err));
        add_hours(path);
        assert_row(path, "[-1]", 3, 1.5, 2);
        OK(cip_open(path, NULL, &f, &err));
        OK(cip_change_begin(f, NULL, &e, &err));
        OK(cip_change_set_string(e, "vlmeta/quality", "good", &err));
        OK(cip_change_write(e, "", "[0:2]", cip_dtype_as_stored(), fixed, sizeof fixed, &err));
        OK(cip_change_commit(&e, &err));
        cip_file_close(f);
        assert_row(path, "[1]", 8, 8, 8);
        assert_row(path, "[2]", 1, 0.5, 1);
        OK(cip_open(path, NULL, &f, &err));
        OK(cip_tree_get_string(cip_file_tree(f), "vlmeta/quality", &quality, &err));
        assert_string_equal(quality, "good");
        cip_file_close(f);
    }
    scratch_close(&dir);
}

static int count_name(void *user, const cip_finding *f)
{
    *(int *)user += f->severity == CIP_NOTE && strcmp(f->part, "image") == 0 &&
                    strstr(f->text, "the array's name is left out") != NULL;
    return 0;
}

/* Once, whichever call brings the array; and not of what is no name. */
static void a_name_without_a_place_is_told(void **state)
{
    static const char *const file[] = { "a.npy", "a.ra", "a.b2nd", "a.blp", "a.bcolz", "a.blz" };
    (void)state;
    for (size_t i = 0; i < sizeof file / sizeof *file; i++) {
        for (int how = 0; how < 4; how++) {
            int told = 0;
            cip_memory *m;
            cip_change *w;
            cip_slab *slab;
            const bool table = i >= 4 && how == 3; /* has names, so that "" is none */
            const char *path = how < 3 ? "image" : table ? "x" : ".";
            OK(cip_create_memory(file[i], CIP_CHANGE_OPTIONS(.on_note = count_name, .user = &told),
                                 &m, &w, &err));
            if (how == 0)
                OK(cip_change_put_filled(w, path, cip_dtype_of(CIP_I32), 2, shape34, NULL, NULL,
                                         &err));
            else if (how == 1)
                OK(cip_change_declare(w, path, cip_dtype_of(CIP_I32), 2, shape34, NULL, &slab,
                                      &err));
            else
                OK(cip_change_put(w, path, cip_dtype_of(CIP_I32), 2, shape34, twelve, NULL, &err));
            OK(cip_change_commit(&w, &err));
            if (told != (how < 3))
                fail_msg("%s, way %d: told %d times", file[i], how, told);
            cip_memory_free(m);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(metadata_go_where_the_format_has_a_place),
        cmocka_unit_test(metadata_may_come_behind_the_array),
        cmocka_unit_test(metadata_behind_the_array_are_checked),
        cmocka_unit_test(an_array_has_chunks_of_the_shape_asked_for),
        cmocka_unit_test(a_chunk_shape_is_given_once),
        cmocka_unit_test(a_shape_that_is_none_is_refused),
        cmocka_unit_test(frames_grow_and_change),
        cmocka_unit_test(a_name_without_a_place_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
