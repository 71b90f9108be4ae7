/* SPDX-License-Identifier: BSD-3-Clause
 * Writing files: what is put in comes out again, at once or by boxes; what goes wrong leaves
 * nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <pthread.h>

#include "support/core/core_testing.h"
#include "support/fail_alloc.h"
#include "support/needs.h"

static char dir[256], path[300];

static int make_dir(void **state)
{
    const char *tmp = getenv("TMPDIR");
    (void)state;
    snprintf(dir, sizeof dir, "%.200s/cippus-writer-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/out.asdf", dir);
    return 0;
}

/* How many files there are, which are removed. */
static int empty_dir(void)
{
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char name[600];
        if (e->d_name[0] == '.' && (e->d_name[1] == '\0' || e->d_name[1] == '.'))
            continue;
        snprintf(name, sizeof name, "%s/%s", dir, e->d_name);
        assert_int_equal(unlink(name), 0);
        n++;
    }
    closedir(d);
    return n;
}

static int remove_dir(void **state)
{
    (void)state;
    empty_dir();
    return rmdir(dir);
}

#define OK(x)                                                                                      \
    do {                                                                                           \
        cip_err err = CIP_ERR_INIT;                                                                \
        if ((x) != CIP_OK || err.code != CIP_OK)                                                   \
            fail_msg("%s: %s: %s", #x, err.part, err.text);                                        \
    } while (0)

static cip_change *create(const char *name, const cip_change_options *o)
{
    cip_change *w = NULL;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    OK(cip_create(path, o, &w, &err));
    return w;
}

static cip_file *open_it(void)
{
    cip_file *f = NULL;
    OK(cip_open(path, NULL, &f, &err));
    return f;
}

static void check_array(const cip_file *f, const char *name, const char *type, const void *data,
                        size_t nbytes)
{
    uint8_t *found = malloc(nbytes + 1);
    cip_err why = CIP_ERR_INIT;
    const cip_array *a = cip_find(f, name, &why);
    if (a == NULL)
        fail_msg("%s: %s", name, why.text);
    assert_string_equal(cip_dtype_name(cip_array_dtype(a)), type);
    OK(cip_read_into(a, CIP_READ_ARGS(.dst = found, .dst_nbytes = nbytes), &err));
    if (nbytes != 0)
        assert_memory_equal(found, data, nbytes);
    free(found);
}

static const int64_t shape34[] = { 3, 4 };
static const int32_t twelve[12] = { 0, 1, -2, 3, 4, 5, 6, 70000, 8, 9, 10, 11 };

static void tree_and_arrays_come_out_again(void **state)
{
    (void)state;
    cip_change *w = create("all.asdf", NULL);
    double d = 0;
    int64_t i = 0;
    const char *text;
    OK(cip_change_set_string(w, "instrument/name", "WFI", &err));
    OK(cip_change_put(w, "image", cip_dtype_of(CIP_I32), 2, shape34, twelve, NULL, &err));
    OK(cip_change_set_int(w, "instrument/n", -5, &err));
    OK(cip_change_set_uint(w, "instrument/u", INT64_MAX, &err));
    OK(cip_change_set_double(w, "instrument/x", 1.5, &err));
    OK(cip_change_set_bool(w, "instrument/b", true, &err));
    OK(cip_change_set_null(w, "instrument/nothing", &err));
    OK(cip_change_set_yaml(w, "instrument/list", "[1, {a: two}]", &err));
    OK(cip_change_set_string(w, "instrument/list/2", "third", &err));
    OK(cip_change_put(w, "deep/er/packed", cip_dtype_of(CIP_I32), 2, shape34, twelve,
                      CIP_ARRAY_OPTIONS(.codec = "zlib:9"), &err));
    OK(cip_change_put(w, "listed", cip_dtype_of(CIP_I32), 2, shape34, twelve,
                      CIP_ARRAY_OPTIONS(.storage = "inline"), &err));
    assert_int_not_equal(access(path, F_OK), 0); /* nothing before the commit */
    OK(cip_change_commit(&w, &err));
    cip_file *f = open_it();
    const cip_node *tree = cip_file_tree(f);
    check_array(f, "image", "int32", twelve, sizeof twelve);
    check_array(f, "deep/er/packed", "int32", twelve, sizeof twelve);
    check_array(f, "listed", "int32", twelve, sizeof twelve);
    OK(cip_tree_get_double(tree, "instrument/x", &d, &err));
    assert_true(d == 1.5);
    OK(cip_tree_get_int(tree, "instrument/n", &i, &err));
    assert_int_equal(i, -5);
    OK(cip_tree_get_string(tree, "instrument/list/2", &text, &err));
    assert_string_equal(text, "third");
    assert_string_equal(cip_array_path(cip_file_array(f, 0)), "image"); /* in the order given */
    cip_file_close(f);
    assert_int_equal(empty_dir(), 1);
}

static void one_array_formats_take_any_name(void **state)
{
    (void)state;
    const char *const names[] = { "one.npy", "one.ra" };
    for (int i = 0; i < 2; i++) {
        cip_change *w = create(names[i], NULL);
        cip_slab *s;
        OK(cip_change_declare(w, "data", cip_dtype_of(CIP_I32), 2, shape34, NULL, &s, &err));
        OK(cip_slab_write(s, CIP_BOX({ 0, 0 }, { 3, 2 }), ((int32_t[]){ 0, 1, 4, 5, 8, 9 }), 24,
                          &err));
        OK(cip_slab_write(s, CIP_BOX({ 0, 2 }, { 3, 4 }), ((int32_t[]){ -2, 3, 6, 70000, 10, 11 }),
                          24, &err));
        OK(cip_change_commit(&w, &err));
        cip_file *f = open_it();
        check_array(f, "", "int32", twelve, sizeof twelve);
        cip_file_close(f);
    }
    assert_int_equal(empty_dir(), 2);
}

/* What cannot be held is refused, not left out. */
static void losses_are_refused(void **state)
{
    (void)state;
    const uint8_t mask[12] = { 1 };
    cip_change *w = create("one.npy", NULL);
    OK(cip_change_set_int(w, "n", 1, &err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 2, shape34, twelve, NULL, &err));
    assert_int_equal(cip_change_commit(&w, NULL), CIP_ERR_UNSUPPORTED);
    w = create("one.npy", NULL);
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 2, shape34, twelve, NULL, &err));
    assert_int_equal(cip_change_put(w, "b", cip_dtype_of(CIP_I32), 2, shape34, twelve, NULL, NULL),
                     CIP_ERR_UNSUPPORTED);
    cip_change_abort(&w);
    w = create("one.npy", NULL);
    assert_int_equal(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 2, shape34, twelve,
                                    CIP_ARRAY_OPTIONS(.mask = mask), NULL),
                     CIP_ERR_UNSUPPORTED);
    cip_change_abort(&w);
    w = create("one.npy", NULL);
    assert_int_equal(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 2, shape34, twelve,
                                    CIP_ARRAY_OPTIONS(.storage = "inline"), NULL),
                     CIP_ERR_UNSUPPORTED);
    cip_change_abort(&w);
    w = create("one.npy", NULL); /* none at all */
    assert_int_equal(cip_change_commit(&w, NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(empty_dir(), 0);
}

static void options_are_checked(void **state)
{
    cip_change *w = (cip_change *)dir;
    (void)state;
    snprintf(path, sizeof path, "%s/x.asdf", dir);
    assert_int_equal(cip_create(NULL, NULL, &w, NULL), CIP_ERR_ARG);
    assert_null(w);
    assert_int_equal(cip_create("-", NULL, &w, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_create("name.unknown", NULL, &w, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_create(path, CIP_CHANGE_OPTIONS(.format = "nope"), &w, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_create(path, CIP_CHANGE_OPTIONS(.byteorder = "middle"), &w, NULL),
                     CIP_ERR_ARG);
    assert_int_equal(cip_create(path, CIP_CHANGE_OPTIONS(.codec = "lz4:x"), &w, NULL), CIP_ERR_ARG);
    assert_int_not_equal(cip_create(path, CIP_CHANGE_OPTIONS(.codec = ":3"), &w, NULL), CIP_OK);
    assert_int_equal(cip_create(path, CIP_CHANGE_OPTIONS(.codec = "lz4:101"), &w, NULL),
                     CIP_ERR_ARG);
    assert_int_not_equal(cip_create(path, CIP_CHANGE_OPTIONS(.codec = "rot13"), &w, NULL), CIP_OK);
    assert_int_not_equal(cip_create(path, CIP_CHANGE_OPTIONS(.checksum = "crc"), &w, NULL), CIP_OK);
    assert_int_not_equal(cip_create(path, CIP_CHANGE_OPTIONS(.version = "9.9"), &w, NULL), CIP_OK);
    cip_change_options o = { 0 };
    assert_int_equal(cip_create(path, &o, &w, NULL), CIP_ERR_ARG);
    o.size = SIZE_MAX;
    assert_int_equal(cip_create(path, &o, &w, NULL), CIP_ERR_ARG);
    snprintf(path, sizeof path, "%s/x.npy", dir);
    assert_int_equal(cip_create(path, CIP_CHANGE_OPTIONS(.checksum = "md5"), &w, NULL),
                     CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_create(path, CIP_CHANGE_OPTIONS(.align = 64), &w, NULL),
                     CIP_ERR_UNSUPPORTED);
    assert_null(w);
    assert_int_equal(empty_dir(), 0);
}

static cip_status put12(cip_change *w, const char *name, const cip_array_options *o)
{
    return cip_change_put(w, name, cip_dtype_of(CIP_I32), 2, shape34, twelve, o, NULL);
}

/* Each in a writer of its own, whose commit then fails with the same. */
static void wrong_calls_fail_and_so_does_the_commit(void **state)
{
    (void)state;
    for (int i = 0;; i++) {
        cip_change *w = create("wrong.asdf", NULL);
        cip_slab *s = NULL;
        cip_status st = CIP_OK, expected = CIP_ERR_ARG;
        const int64_t negative[] = { -1 }, huge[] = { INT64_MAX, INT64_MAX };
        cip_array_options none = { 0 };
        assert_int_equal(put12(w, "a/b", NULL), CIP_OK);
        switch (i) {
        case 0:
            st = put12(w, "a/b", NULL);
            break; /* twice */
        case 1:
            st = put12(w, "a/b/c", NULL);
            expected = CIP_ERR_TYPE;
            break;
        case 2:
            st = put12(w, "a", NULL);
            break; /* over one */
        case 3:
            st = cip_change_set_int(w, "a/b", 1, NULL);
            break;
        case 4:
            st = cip_change_set_int(w, "a", 1, NULL);
            break;
        case 5:
            st = cip_change_set_yaml(w, "", "{}", NULL);
            break;
        case 6:
            st = put12(w, "", NULL);
            break;
        case 7:
            st = put12(w, "new/-", NULL);
            break;
        case 8:
            st = put12(w, NULL, NULL);
            break;
        case 9:
            st = put12(w, "c", CIP_ARRAY_OPTIONS(.storage = "nowhere"));
            break;
        case 10:
            st = put12(w, "c", &none);
            break;
        case 11:
            st = put12(w, "c", CIP_ARRAY_OPTIONS(.codec = "x:y:z"));
            break;
        case 12:
            st = cip_change_put(w, "c", NULL, 2, shape34, twelve, NULL, NULL);
            break;
        case 13:
            st = cip_change_put(w, "c", cip_dtype_of(CIP_I8), 2, shape34, NULL, NULL, NULL);
            break;
        case 14:
            st = cip_change_put(w, "c", cip_dtype_of(CIP_I8), 65, shape34, twelve, NULL, NULL);
            break;
        case 15:
            st = cip_change_put(w, "c", cip_dtype_of(CIP_I8), -1, shape34, twelve, NULL, NULL);
            break;
        case 16:
            st = cip_change_put(w, "c", cip_dtype_of(CIP_I8), 1, negative, twelve, NULL, NULL);
            expected = CIP_ERR_RANGE;
            break;
        case 17:
            st = cip_change_put(w, "c", cip_dtype_of(CIP_I8), 2, huge, twelve, NULL, NULL);
            expected = CIP_ERR_CORRUPT;
            break;
        case 18:
            st = cip_change_set_string(w, "t", "\xff", NULL);
            break;
        case 19:
            st = cip_change_set_string(w, "t", NULL, NULL);
            break;
        case 20:
            st = cip_change_set_yaml(w, "t", "[", NULL);
            expected = CIP_ERR_CORRUPT;
            break;
        case 21:
            st = cip_change_put_view(w, "v", "a/c", NULL, NULL);
            expected = CIP_ERR_NOT_FOUND;
            break;
        case 22:
            st = cip_change_put_view(w, "v", "a/b", "[7]", NULL);
            expected = CIP_ERR_RANGE;
            break;
        case 23:
            st = cip_change_put_view(w, "a/b", "a/b", "[1]", NULL);
            break;
        case 24:
            st = cip_change_set_node(w, "n", NULL, NULL, NULL);
            break;
        case 25:
            st = cip_change_put_array(w, "n", NULL, NULL, NULL, NULL);
            break;
        case 26:
            assert_int_equal(put12(w, "s", CIP_ARRAY_OPTIONS(.storage = "streamed")), CIP_OK);
            st = put12(w, "t", CIP_ARRAY_OPTIONS(.storage = "streamed"));
            expected = CIP_ERR_UNSUPPORTED;
            break;
        case 27:
            assert_int_equal(put12(w, "s", CIP_ARRAY_OPTIONS(.storage = "streamed")), CIP_OK);
            st = cip_change_put_view(w, "v", "s", NULL, NULL);
            expected = CIP_ERR_UNSUPPORTED;
            break;
        case 28:
            assert_int_equal(
                cip_change_declare(w, "s", cip_dtype_of(CIP_I8), 2, shape34, NULL, &s, NULL),
                CIP_OK);
            st = cip_slab_write(s, CIP_BOX({ 0, 0 }, { 3, 5 }), twelve, 15, NULL);
            expected = CIP_ERR_RANGE;
            break;
        case 29:
            assert_int_equal(
                cip_change_declare(w, "s", cip_dtype_of(CIP_I8), 2, shape34, NULL, &s, NULL),
                CIP_OK);
            st = cip_slab_write(s, CIP_BOX({ 0, 0 }, { 3, 4 }), twelve, 11, NULL);
            expected = CIP_ERR_RANGE;
            break;
        default:
            cip_change_abort(&w);
            assert_int_equal(empty_dir(), 0);
            return;
        }
        if (st != expected)
            fail_msg("case %d: %s instead of %s", i, cip_status_name(st),
                     cip_status_name(expected));
        assert_int_equal(cip_change_set_int(w, "later", 1, NULL), expected);
        assert_int_equal(cip_change_commit(&w, NULL), expected);
        assert_int_equal(empty_dir(), 0);
    }
}

static void getters_failures_are_passed_on(void **state)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *w = create("x.asdf", NULL);
    (void)state;
    err.code = CIP_ERR_NOT_FOUND;
    assert_int_equal(cip_change_set_int(NULL, "a", 1, &err), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_change_put_array(w, "a", NULL, NULL, NULL, &err), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_change_set_node(w, "a", NULL, NULL, &err), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_slab_write(NULL, NULL, NULL, 0, &err), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_slab_write(NULL, NULL, NULL, 0, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_change_commit(NULL, &err), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_change_commit(NULL, NULL), CIP_ERR_ARG);
    cip_change_abort(NULL);
    cip_change_abort(&w);
    assert_int_equal(empty_dir(), 0);
}

static void existing_files_are_kept_unless_told(void **state)
{
    (void)state;
    cip_change *w = create("old.asdf", NULL), *late = NULL;
    assert_int_equal(put12(w, "a", NULL), CIP_OK);
    OK(cip_create(path, NULL, &late, &err)); /* not there yet: told at the commit */
    OK(cip_change_commit(&w, &err));
    assert_int_equal(put12(late, "b", NULL), CIP_OK);
    assert_int_equal(cip_change_commit(&late, NULL), CIP_ERR_EXISTS);
    assert_int_equal(cip_create(path, NULL, &w, NULL), CIP_ERR_EXISTS);
    w = create("old.asdf", CIP_CHANGE_OPTIONS(.overwrite = true));
    assert_int_equal(put12(w, "c", NULL), CIP_OK);
    cip_change_abort(&w);
    cip_file *f = open_it();
    check_array(f, "a", "int32", twelve, sizeof twelve);
    cip_file_close(f);
    w = create("old.asdf", CIP_CHANGE_OPTIONS(.overwrite = true, .level = CIP_LEVEL_PROCESS));
    assert_int_equal(put12(w, "c", NULL), CIP_OK);
    OK(cip_change_commit(&w, &err));
    f = open_it();
    check_array(f, "c", "int32", twelve, sizeof twelve);
    assert_int_equal(cip_file_narray(f), 1);
    cip_file_close(f);
    assert_int_equal(empty_dir(), 1);
}

static void check_mask(const cip_file *f, const char *name, const uint8_t *expected, size_t n)
{
    uint8_t found[64];
    const cip_array *a = cip_find(f, name, NULL);
    assert_non_null(a);
    OK(cip_read_into(a, CIP_READ_ARGS(.mask = found), &err));
    for (size_t i = 0; i < n; i++)
        assert_int_equal(found[i], expected[i] != 0);
}

static void a_mask_is_lost_by_consent(void **state)
{
    (void)state;
    static const char *const names[] = { "lost.npy", "lost.ra", "lost.blp" };
    const int32_t data[12] = { 5, 6 };
    const uint8_t mask[12] = { 1 };
    for (size_t i = 0; i < 3; i++) {
        cip_change *w = create(names[i], CIP_CHANGE_OPTIONS(.accept_loss = true));
        OK(cip_change_put(w, "x", cip_dtype_of(CIP_I32), 2, shape34, data,
                          CIP_ARRAY_OPTIONS(.mask = mask), &err));
        OK(cip_change_commit(&w, &err));
        cip_file *f = open_it();
        assert_int_equal(cip_file_narray(f), 1);
        cip_file_close(f);
    }
    assert_int_equal(empty_dir(), 3);
}

static void masks_go_along_wherever_data_lie(void **state)
{
    (void)state;
    NEEDS_CODECS();
    const uint8_t mask[12] = { 0, 1, 0, 255, 0, 0, 0, 0, 0, 0, 0, 2 };
    const char *const where[] = { "internal", "inline", "external", "streamed" };
    cip_slab *s;
    cip_change *w = create("masked.asdf", NULL);
    for (int i = 0; i < 4; i++)
        OK(cip_change_put(w, where[i], cip_dtype_of(CIP_I32), 2, shape34, twelve,
                          CIP_ARRAY_OPTIONS(.storage = where[i], .mask = mask), &err));
    OK(cip_change_declare(w, "slab", cip_dtype_of(CIP_I32), 2, shape34,
                          CIP_ARRAY_OPTIONS(.mask = mask), &s, &err));
    OK(cip_slab_write(s, CIP_BOX({ 0, 0 }, { 3, 4 }), twelve, sizeof twelve, &err));
    OK(cip_change_commit(&w, &err));
    cip_file *f = open_it();
    assert_int_equal(cip_file_narray(f), 5);
    for (int i = 0; i < 4; i++)
        check_mask(f, where[i], mask, 12);
    check_mask(f, "slab", mask, 12);
    check_array(f, "internal", "int32", twelve, sizeof twelve);
    check_array(f, "external", "int32", twelve, sizeof twelve);
    check_array(f, "streamed", "int32", twelve, sizeof twelve);
    check_array(f, "slab", "int32", twelve, sizeof twelve);

    char from[300]; /* and from file to file */
    snprintf(from, sizeof from, "%s", path);
    w = create("again.asdf", CIP_CHANGE_OPTIONS(.codec = "lz4", .byteorder = "big"));
    for (int i = 0; i < 4; i++)
        OK(cip_change_put_array(w, where[i], cip_find(f, where[i], &err), NULL,
                                CIP_ARRAY_OPTIONS(.storage = where[i]), &err));
    OK(cip_change_commit(&w, &err));
    cip_file_close(f);
    f = open_it();
    for (int i = 0; i < 4; i++)
        check_mask(f, where[i], mask, 12);
    check_array(f, "internal", "int32", twelve, sizeof twelve);
    assert_true(cip_dtype_is_big(cip_array_dtype(cip_find(f, "internal", NULL))));
    cip_file_close(f);
    empty_dir();
}

static void views_share_the_data_of_one_array(void **state)
{
    (void)state;
    const int32_t column[3] = { 3, 70000, 11 }, last[1] = { 11 }, row[4] = { 8, 9, 10, 11 };
    cip_slab *s;
    cip_change *w = create("views.asdf", NULL);
    assert_int_equal(put12(w, "all", NULL), CIP_OK);
    OK(cip_change_put_view(w, "column", "all", "[:, 3]", &err));
    OK(cip_change_put_view(w, "last", "column", "[2:]", &err));
    OK(cip_change_declare(w, "slab", cip_dtype_of(CIP_I32), 2, shape34, NULL, &s, &err));
    OK(cip_change_put_view(w, "row", "slab", "[-1]", &err));
    OK(cip_slab_write(s, CIP_BOX({ 0, 0 }, { 3, 4 }), twelve, sizeof twelve, &err));
    OK(cip_change_commit(&w, &err));
    cip_file *f = open_it();
    assert_int_equal(cip_file_nblock(f), 2);
    check_array(f, "column", "int32", column, sizeof column);
    check_array(f, "last", "int32", last, sizeof last);
    check_array(f, "row", "int32", row, sizeof row);
    cip_file_close(f);
    empty_dir();
}

/* --- slabs ------------------------------------------------------------------------------------ */

typedef struct filler {
    cip_slab *slab;
    int k, n;
    int64_t side;
} filler;

static void *fill(void *arg)
{
    const filler *f = arg;
    uint16_t *line = malloc((size_t)f->side * 2 * 2);
    for (int64_t y = f->k; y < f->side; y += f->n)
        for (int64_t x = 0; x < f->side; x += 7) {
            int64_t to = x + 7 < f->side ? x + 7 : f->side;
            for (int64_t z = 0; z < 2; z++)
                for (int64_t i = x; i < to; i++)
                    line[z * (to - x) + i - x] = (uint16_t)(z * 1000 + y * 31 + i);
            assert_int_equal(cip_slab_write(f->slab, CIP_BOX({ 0, y, x }, { 2, y + 1, to }), line,
                                            (size_t)(to - x) * 4, NULL),
                             CIP_OK);
        }
    free(line);
    return NULL;
}

static void slabs_are_filled_from_threads(void **state)
{
    enum { SIDE = 1500 }; /* more than waits in memory */
    (void)state;
    const char *const codec[] = { "none", "zlib:1" };
    for (int c = 0; c < 2; c++) {
        filler f[3];
        pthread_t t[3];
        cip_slab *s;
        const int64_t shape[] = { 2, SIDE, SIDE };
        cip_change *w = create("slab.asdf", CIP_CHANGE_OPTIONS(.threads = 2, .codec = codec[c]));
        OK(cip_change_declare(w, "cube", cip_dtype_of(CIP_U16), 3, shape, NULL, &s, &err));
        for (int i = 0; i < 3; i++) {
            f[i] = (filler){ s, i, 3, SIDE };
            assert_int_equal(pthread_create(&t[i], NULL, fill, &f[i]), 0);
        }
        for (int i = 0; i < 3; i++)
            pthread_join(t[i], NULL);
        OK(cip_change_commit(&w, &err));
        uint16_t *all = malloc(2 * 2 * SIDE * SIDE);
        cip_file *file = open_it();
        OK(cip_read(cip_find(file, "cube", &err), NULL, cip_dtype_as_stored(), all,
                    2 * 2 * SIDE * SIDE, &err));
        for (int64_t i = 0; i < 2 * SIDE * SIDE; i++)
            if (all[i] != (uint16_t)(i / (SIDE * SIDE) * 1000 + i / SIDE % SIDE * 31 + i % SIDE))
                fail_msg("element %d", (int)i);
        cip_file_close(file);
        free(all);
        assert_int_equal(empty_dir(), 1);
    }
}

static void boxes_fill_any_part(void **state)
{
    (void)state;
    const int64_t shape[] = { 2, 3, 4 };
    for (int part = 0; part < 500; part++) {
        cip_box b = { { part % 2, part / 2 % 3, part / 6 % 4 }, { 0 } };
        int left = part / 24;
        for (int i = 0; i < 3; i++) {
            int64_t room = shape[i] - b.start[i];
            b.stop[i] = b.start[i] + left % (room + 1);
            left /= (int)(room + 1);
        }
        uint8_t expected[24] = { 0 }, data[24];
        size_t n = 0;
        for (int64_t z = b.start[0]; z < b.stop[0]; z++)
            for (int64_t y = b.start[1]; y < b.stop[1]; y++)
                for (int64_t x = b.start[2]; x < b.stop[2]; x++, n++)
                    expected[12 * z + 4 * y + x] = data[n] = (uint8_t)(n + 1);
        cip_slab *s;
        cip_change *w = create("part.npy", CIP_CHANGE_OPTIONS(.level = CIP_LEVEL_PROCESS));
        OK(cip_change_declare(w, "", cip_dtype_of(CIP_U8), 3, shape, NULL, &s, &err));
        OK(cip_slab_write(s, &b, data, n, &err));
        OK(cip_change_commit(&w, &err));
        cip_file *f = open_it();
        check_array(f, "", "uint8", expected, 24);
        cip_file_close(f);
        assert_int_equal(empty_dir(), 1);
    }
}

static void slabs_may_be_larger_than_memory(void **state)
{
    NEEDS_CODECS();
    enum { ROW = 1 << 20, ROWS = 48 };
    (void)state;
    const cip_limits limits = { .size = sizeof limits, .max_memory = 24 << 20 };
    const int64_t shape[] = { ROWS, ROW };
    const char *const codec[] = { "none", "zlib:1", "lz4f" };
    uint8_t *row = malloc(ROW), *found = malloc(ROW);
    for (int c = 0; c < 3; c++) {
        cip_slab *s;
        cip_change *w = create(
            "large.asdf", CIP_CHANGE_OPTIONS(.limits = &limits, .threads = 2, .codec = codec[c]));
        OK(cip_change_declare(w, "a", cip_dtype_of(CIP_U8), 2, shape, NULL, &s, &err));
        for (int i = ROWS - 1; i >= 0; i--) {
            memset(row, i, ROW);
            OK(cip_slab_write(s, CIP_BOX({ i, 0 }, { i + 1, ROW }), row, ROW, &err));
        }
        OK(cip_change_commit(&w, &err));
        cip_file *f = open_it();
        for (int i = 0; i < ROWS; i += 13) {
            char text[32];
            snprintf(text, sizeof text, "[%d]", i);
            memset(row, i, ROW);
            OK(cip_read(cip_find(f, "a", &err), text, cip_dtype_as_stored(), found, ROW, &err));
            assert_memory_equal(found, row, ROW);
        }
        cip_file_close(f);
        empty_dir();
    }
    free(row);
    free(found);
}

static char *contents(size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    char *p = malloc(*n + 1);
    rewind(f);
    assert_int_equal(fread(p, 1, *n, f), *n);
    fclose(f);
    return p;
}

/* Of data that are larger than what is encoded at once. */
static void threads_do_not_show_in_the_file(void **state)
{
    NEEDS_CODECS();
    enum { N = 3 << 20 };
    (void)state;
    const char *const codec[] = { "none", "zlib", "bzip2", "lz4", "lz4f", "zstd" };
    const int64_t shape[] = { N };
    int32_t *data = malloc(4 * N);
    for (int i = 0; i < N; i++)
        data[i] = i / 3 ^ (i % 977);
    for (int c = 0; c < 6; c++) {
        char *bytes[2];
        size_t n[2];
        for (int t = 0; t < 2; t++) {
            cip_change *w =
                create("threads.asdf", CIP_CHANGE_OPTIONS(.threads = t ? 8 : 1, .codec = codec[c],
                                                          .checksum = "md5", .overwrite = true,
                                                          .level = CIP_LEVEL_PROCESS));
            OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, shape, data, NULL, &err));
            OK(cip_change_commit(&w, &err));
            bytes[t] = contents(&n[t]);
        }
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(bytes[0], bytes[1], n[0]);
        cip_file *f = open_it();
        check_array(f, "a", "int32", data, 4 * N);
        cip_file_close(f);
        free(bytes[0]);
        free(bytes[1]);
    }
    free(data);
    empty_dir();
}

/* --- trees from elsewhere --------------------------------------------------------------------- */

static void nodes_are_copied_whole(void **state)
{
    char *mem;
    const char *text;
    cip_node_type type;
    (void)state;
    cip_file *in = test_open_asdf("top: &x {a: [1, 2.5, true, ~, text], b: !mine {c: d}}\n"
                                  "again: *x\n",
                                  &mem);
    cip_change *w = create("copy.asdf", NULL);
    OK(cip_change_set_node(w, "copied", in, cip_file_tree(in), &err));
    cip_file_close(in);
    free(mem);
    OK(cip_change_commit(&w, &err));
    cip_file *f = open_it();
    const cip_node *tree = cip_file_tree(f);
    OK(cip_tree_get_string(tree, "copied/again/b/c", &text, &err));
    assert_string_equal(text, "d");
    type = cip_node_kind(cip_tree_get(tree, "copied/top/a/3", NULL));
    assert_int_equal(type, CIP_NODE_NULL);
    assert_ptr_equal(cip_tree_get(tree, "copied/top", NULL),
                     cip_tree_get(tree, "copied/again", NULL));
    cip_file_close(f);
    empty_dir();
}

/* --- faults ----------------------------------------------------------------------------------- */

static cip_status write_all(const cip_allocator *from)
{
    cip_change *w = NULL;
    cip_slab *s = NULL;
    const uint8_t mask[12] = { 1 };
    cip_err err = CIP_ERR_INIT;
    snprintf(path, sizeof path, "%s/fail.asdf", dir);
    cip_create(path,
               CIP_CHANGE_OPTIONS(.allocator = from, .threads = 1, .level = CIP_LEVEL_PROCESS), &w,
               &err);
    cip_change_set_yaml(w, "a", "[1, 2]", &err);
    cip_change_put(w, "b", cip_dtype_of(CIP_I32), 2, shape34, twelve,
                   CIP_ARRAY_OPTIONS(.codec = "lz4", .mask = mask), &err);
    cip_change_declare(w, "c", cip_dtype_of(CIP_I32), 2, shape34, NULL, &s, &err);
    cip_slab_write(s, CIP_BOX({ 0, 0 }, { 3, 4 }), twelve, sizeof twelve, &err);
    return cip_change_commit(&w, &err);
}

static void no_failing_allocation_leaves_anything(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_status st = write_all(&a);
        assert_int_equal(f.held, 0);
        bool failed = f.requests >= n;
        if (st != (failed ? CIP_ERR_NOMEM : CIP_OK))
            fail_msg("allocation %zu: %s", n, cip_status_name(st));
        assert_int_equal(empty_dir(), failed ? 0 : 1);
        if (!failed)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tree_and_arrays_come_out_again),
        cmocka_unit_test(one_array_formats_take_any_name),
        cmocka_unit_test(losses_are_refused),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(wrong_calls_fail_and_so_does_the_commit),
        cmocka_unit_test(getters_failures_are_passed_on),
        cmocka_unit_test(existing_files_are_kept_unless_told),
        cmocka_unit_test(a_mask_is_lost_by_consent),
        cmocka_unit_test(masks_go_along_wherever_data_lie),
        cmocka_unit_test(views_share_the_data_of_one_array),
        cmocka_unit_test(slabs_are_filled_from_threads),
        cmocka_unit_test(boxes_fill_any_part),
        cmocka_unit_test(slabs_may_be_larger_than_memory),
        cmocka_unit_test(threads_do_not_show_in_the_file),
        cmocka_unit_test(nodes_are_copied_whole),
        cmocka_unit_test(no_failing_allocation_leaves_anything),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
