/* SPDX-License-Identifier: BSD-3-Clause
 * Calls that fail leave no trace: of an update and of a new file, in every format that is written.
 * Each kind of call is refused for each reason it has, and what is committed then has the bytes
 * that it has without that call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/writing/edit_impl.h"
#include "support/core/writing/edit_testing.h"
#include "core/writing/writer.h"

static cip_file *file_of(cip_change *c)
{
    return ((cip_edit *)(void *)c)->file;
}

/* `more`: an array may be added, of ROWS elements. */
typedef struct kind {
    const char *name, *format, *array, *key;
    int pairs, more;
} kind;

enum { ROWS = 40 };

/* A file with an array of [40, 2] int32, or of 40 elements (a column), and a value at `key`. */
static const kind kinds[] = {
    { "raw.asdf", "none", "a", "meta/k", 1, 1 },
    { "zlib.asdf", "zlib", "a", "meta/k", 1, 1 },
    { "inline.asdf", "inline", "a", "meta/k", 1, 1 },
    { "x.b2nd", NULL, "", "vlmeta/k", 1, 0 },
    { "s.b2nd", "sparse", "", "vlmeta/k", 1, 0 },
    { "x.ra", NULL, "", NULL, 1, 0 },
    { "x.blp", NULL, "", NULL, 1, 0 },
    { "x.npy", NULL, "", NULL, 1, 0 },
    { "bcolz", "array", "", "attributes/k", 1, 0 },
    { "blz-dir", "array", "", "attributes/k", 1, 0 },
    { "blz", "array", "", "attributes/k", 1, 0 },
    { "bcolz", "table", "a", "attributes/k", 0, 1 },
    { "blz-dir", "table", "a", "attributes/k", 0, 1 },
    { "blz", "table", "a", "attributes/k", 0, 1 },
};

enum { NKIND = sizeof kinds / sizeof kinds[0] };

static int32_t numbers[2 * ROWS];
static double halves[2 * ROWS];
static const int64_t rows[] = { ROWS }, shape[] = { ROWS, 2 };
static cip_memory *other; /* arrays that do not fit */
static cip_file *source;

static int setup(void **state)
{
    static const int64_t odd[] = { 7, 5 };
    cip_change *w;
    (void)state;
    for (int i = 0; i < 2 * ROWS; i++) {
        numbers[i] = i;
        halves[i] = i;
    }
    halves[2 * ROWS - 1] = 0.5;
    OK(cip_create_memory("asdf", NULL, &other, &w, err));
    OK(cip_change_put(w, "half", cip_dtype_of(CIP_F64), 2, shape, halves, NULL, err));
    OK(cip_change_put(w, "halfrow", cip_dtype_of(CIP_F64), 1, rows, halves + ROWS, NULL, err));
    OK(cip_change_put(w, "odd", cip_dtype_of(CIP_I32), 2, odd, numbers, NULL, err));
    OK(cip_change_commit(&w, err));
    OK(cip_memory_open(other, NULL, &source, err));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cip_file_close(source);
    cip_memory_free(other);
    return 0;
}

static const cip_array *from(const char *name)
{
    return cip_find(source, name, NULL);
}

/* Whether a new file takes the value; it comes later otherwise. */
static bool has_tree(const kind *k)
{
    return k->key != NULL && strchr(k->name, '.') != NULL;
}

static bool is_table(const kind *k)
{
    return k->format != NULL && strcmp(k->format, "table") == 0;
}

static bool is_sparse(const kind *k)
{
    return k->format != NULL && strcmp(k->format, "sparse") == 0;
}

static void create(const kind *k, cip_memory **m, cip_change **w)
{
    const bool folder = strchr(k->name, '.') == NULL;
    OK(cip_create_memory(folder ? NULL : k->name,
                         CIP_CHANGE_OPTIONS(.format = folder ? k->name : NULL,
                                            .format_options = folder ? CIP_TEXTS("chunklen=16")
                                                              : is_sparse(k)
                                                                  ? CIP_TEXTS("sparse=yes")
                                                                  : NULL),
                         m, w, err));
}

/* The arrays of a file of the kind. */
static cip_status put_all(const kind *k, cip_change *w, cip_err *err)
{
    const cip_array_options *o =
        k->format == NULL || strcmp(k->format, "inline") != 0
            ? CIP_ARRAY_OPTIONS(.codec = k->format != NULL && strcmp(k->format, "zlib") == 0
                                             ? "zlib"
                                             : NULL)
            : CIP_ARRAY_OPTIONS(.storage = "inline");
    if (!is_table(k))
        return cip_change_put(w, "a", cip_dtype_of(CIP_I32), k->pairs ? 2 : 1,
                              k->pairs ? shape : rows, numbers, o, err);
    const cip_status st = cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, rows, numbers, o, err);
    if (st != CIP_OK)
        return st;
    return cip_change_put(w, "b", cip_dtype_of(CIP_I32), 1, rows, numbers, o, err);
}

/* --- what is compared --------------------------------------------------------------------------*/

typedef struct all_bytes {
    char *p;
    size_t n;
} all_bytes;

static void add(all_bytes *b, const void *p, size_t n)
{
    b->p = realloc(b->p, b->n + n + 1);
    assert_non_null(b->p);
    if (n != 0)
        memcpy(b->p + b->n, p, n);
    b->n += n;
}

static all_bytes bytes_of(const cip_memory *m)
{
    all_bytes b = { NULL, 0 };
    const void *p;
    const char *name;
    size_t n;
    p = cip_memory_bytes(m, &n);
    add(&b, p, n);
    for (size_t i = 0; (name = cip_memory_member(m, i, &p, &n)) != NULL; i++) {
        add(&b, name, strlen(name) + 1);
        add(&b, p, n);
    }
    return b;
}

static void expect_same(const kind *k, int i, const cip_err *why, all_bytes a, all_bytes b)
{
    if (a.n != b.n || memcmp(a.p, b.p, a.n) != 0)
        fail_msg("%s (%s): call %d left a trace, and it failed with: %s: %s (%zu and %zu bytes)",
                 k->name, k->format != NULL ? k->format : "", i, why->part, why->text, a.n, b.n);
    free(a.p);
    free(b.p);
}

/* --- updates -----------------------------------------------------------------------------------*/

/* Below the value beside the one at `key`; NULL: there is none. */
static const char *within(const kind *k)
{
    static char path[80];
    snprintf(path, sizeof path, "%s", k->key != NULL ? k->key : "");
    char *last = strrchr(path, '/');
    return last != NULL ? (memcpy(last, "/j/x", 5), path) : NULL;
}

/* The i-th call that is to fail, or CIP_OK where it cannot be made of this kind; -1: there are no
 * more. */
static int refuse_tree(const kind *k, cip_change *e, int i, cip_err *err)
{
    char below[80];
    snprintf(below, sizeof below, "%s/x/y", k->key != NULL ? k->key : "k");
    const char *list = k->key != NULL ? k->key : "k", *inside = "a/shape";
    switch (i) {
    case 0:
        return cip_change_set_string(e, below, "text", err);
    case 1:
        return cip_change_set_string(e, list, "\xff", err);
    case 2:
        return cip_change_set_string(e, list, NULL, err);
    case 3:
        return cip_change_set_int(e, NULL, 1, err);
    case 4:
        return cip_change_set_yaml(e, list, "[1, 2", err);
    case 5:
        return cip_change_set_int(e, inside, 3, err);
    case 6:
        return cip_change_set_int(e, "", 3, err);
    case 7:
        return cip_change_set_node(e, list, NULL, NULL, err);
    case 8:
        return cip_change_set_node(e, "new/node", source,
                                   cip_tree_get(cip_file_tree(source), "half", NULL), err);
    case 9:
        return cip_change_remove(e, below, err);
    case 10:
        return cip_change_remove(e, inside, err);
    case 11:
        return cip_change_remove(e, "", err);
    case 12:
        return cip_change_remove(e, NULL, err);
    case 13:
        return cip_change_move(e, list, below, true, err);
    case 14:
        return cip_change_move(e, "nothing", "new", true, err);
    case 15:
        return cip_change_move(e, list, NULL, false, err);
    case 16:
        return cip_change_move(e, k->array, below, false, err);
    case 17:
        return cip_change_move(e, k->array, k->array, false, err);
    case 18:
        return cip_change_set_text(e, "no YAML: [", 10, err);
    case 19:
        return cip_change_set_text(e, NULL, 10, err);
    case 20:
        return cip_change_freeze(e, err);
    case 21:
        return cip_change_set_yaml(e, below, "{\"k\": !odd 7}", err);
    case 22:
        return cip_change_set_yaml(e, "nowhere/at/all", "*alias", err);
    case 23:
        return cip_change_set_yaml(e, list,
                                   "!core/ndarray-1.0.0 {source: 99, datatype: int8, "
                                   "byteorder: little, shape: [1]}",
                                   err);
    case 24:
        return cip_change_move(e, list, within(k), false, err);
    default:
        return -1;
    }
}

static int refuse_data(const kind *k, cip_change *e, int i, cip_err *err)
{
    static const int64_t huge[] = { INT64_MAX / 4, 2 }, less[] = { -1, 2 }, wider[] = { 41, 3 };
    const size_t row = (k->pairs ? 2 : 1) * sizeof *numbers;
    const int ndim = k->pairs ? 2 : 1;
    switch (i) {
    case 0:
        return cip_change_write(e, "none", NULL, cip_dtype_as_stored(), numbers, row, err);
    case 1:
        return cip_change_write(e, k->array, "[0]", cip_dtype_as_stored(), numbers, row + 1, err);
    case 2:
        return cip_change_write(e, k->array, "[99]", cip_dtype_as_stored(), numbers, row, err);
    case 3:
        return cip_change_write(e, k->array, "[0", cip_dtype_as_stored(), numbers, row, err);
    case 4:
        return cip_change_write(e, k->array, "[0]", cip_dtype_as_stored(), NULL, row, err);
    case 5:
        return cip_change_write_array(e, k->array, NULL, from("odd"), err);
    case 6:
        return cip_change_write_array(e, k->array, NULL, from(k->pairs ? "half" : "halfrow"), err);
    case 7:
        return cip_change_write_array(e, k->array, NULL, NULL, err);
    case 8:
        return cip_change_append(e, k->array, cip_dtype_as_stored(), numbers, row + 1, err);
    case 9:
        return cip_change_append(e, "none", cip_dtype_as_stored(), numbers, row, err);
    case 10:
        return cip_change_append(e, k->array, cip_dtype_as_stored(), NULL, row, err);
    case 11:
        return cip_change_append_array(e, k->array, from("odd"), err);
    case 12:
        return cip_change_append_array(e, k->array, from(k->pairs ? "half" : "halfrow"), err);
    case 13:
        return cip_change_insert(e, k->array, 0, 99, cip_dtype_as_stored(), numbers, row, err);
    case 14:
        return cip_change_insert(e, k->array, 2, 0, cip_dtype_as_stored(), numbers, row, err);
    case 15:
        return cip_change_insert(e, k->array, 0, 1, cip_dtype_as_stored(), numbers, row - 1, err);
    case 16:
        return cip_change_insert_array(e, k->array, 0, 3, from(k->pairs ? "half" : "halfrow"), err);
    case 17:
        return cip_change_insert_array(e, k->array, 0, 3, from("odd"), err);
    case 18:
        return cip_change_delete(e, k->array, 0, 30, 30, err);
    case 19:
        return cip_change_delete(e, k->array, 7, 0, 1, err);
    case 20:
        return cip_change_delete(e, k->array, 0, -1, 1, err);
    case 21:
        return cip_change_resize(e, k->array, ndim + 1, shape, err);
    case 22:
        return cip_change_resize(e, k->array, ndim, less, err);
    case 23:
        return cip_change_resize(e, k->array, ndim, huge, err);
    case 24:
        return cip_change_resize(e, "none", ndim, shape, err);
    case 25:
        return k->pairs ? cip_change_resize(e, k->array, 2, wider, err) : CIP_OK;
    case 26:
        return cip_chunk_write(e, k->array, 99, false, numbers, row, err);
    case 27:
        return cip_chunk_write(e, k->array, 0, false, numbers, 1, err);
    case 28:
        return cip_chunk_write(e, k->array, 0, true, "junk", 4, err);
    case 29:
        return cip_chunk_write(e, k->array, 99, true, "junk", 4, err);
    case 30:
        return cip_chunk_write(e, k->array, 0, false, NULL, 4, err);
    case 31:
        return k->pairs ? cip_change_delete(e, k->array, 1, 0, 1, err) : CIP_OK;
    case 32:
        return k->pairs ? cip_change_insert(e, k->array, 1, 0, cip_dtype_as_stored(), numbers,
                                            ROWS * sizeof *numbers, err)
                        : CIP_OK;
    default:
        return -1;
    }
}

static int refuse_put(const kind *k, cip_change *e, int i, cip_err *err)
{
    static const int64_t odd[] = { 3, -1 };
    const cip_dtype *t = cip_dtype_of(CIP_I32);
    cip_slab *slab;
    switch (i) {
    case 0:
        return cip_change_put(e, "new/x", t, 1, rows, numbers,
                              CIP_ARRAY_OPTIONS(.codec = "nocodec"), err);
    case 1:
        return cip_change_put(e, "n", t, 1, rows, NULL, NULL, err);
    case 2:
        return cip_change_put(e, "n", t, 2, odd, numbers, NULL, err);
    case 3:
        return cip_change_put(e, "n", NULL, 1, rows, numbers, NULL, err);
    case 4:
        return cip_change_put(e, "n", t, 1, rows, numbers, CIP_ARRAY_OPTIONS(.storage = "odd"),
                              err);
    case 5:
        return cip_change_put(e, "n", t, 1, rows, numbers, CIP_ARRAY_OPTIONS(.storage = "external"),
                              err);
    case 6:
        return cip_change_put(e, k->array, t, 1, rows, numbers, NULL, err);
    case 7:
        return cip_change_put(e, "a/x", t, 1, rows, numbers, NULL, err);
    case 8:
        return cip_change_put(e, "n", t, 1, rows, numbers,
                              CIP_ARRAY_OPTIONS(.format_options = CIP_TEXTS("none=1")), err);
    case 9:
        return cip_change_put_array(e, "n", from("half"), CIP_READ_ARGS(.selection = "[99]"), NULL,
                                    err);
    case 10:
        return cip_change_put_array(e, "n", from(k->pairs ? "half" : "halfrow"),
                                    CIP_READ_ARGS(.dtype = cip_dtype_of(CIP_I8)), NULL, err);
    case 11:
        return cip_change_put_array(e, "n", NULL, NULL, NULL, err);
    case 12:
        return cip_change_declare(e, "n", t, 2, odd, NULL, &slab, err);
    case 13:
        return cip_change_declare(e, k->array, t, 1, rows, NULL, &slab, err);
    case 14:
        return cip_change_put(e, "", t, 1, rows, numbers, NULL, err);
    case 15:
        return cip_change_put(e, "n", t, 1, rows, numbers,
                              CIP_ARRAY_OPTIONS(.codec = "zlib:99", .chunk = { 4 }), err);
    case 16:
        return cip_change_put(e, "n", t, 1, (int64_t[]){ 7 }, numbers, NULL, err);
    case 17:
        return cip_change_declare(e, "n", t, 1, (int64_t[]){ 7 }, NULL, &slab, err);
    default:
        return -1;
    }
}

enum { NLIMITED = 9, LIMITS = 60 };

static cip_status change(const kind *k, cip_change *e, int i, cip_err *err)
{
    static const int64_t more[] = { ROWS + 9, 2 };
    const cip_dtype *t = cip_dtype_of(CIP_I32);
    const size_t row = (k->pairs ? 2 : 1) * sizeof *numbers;
    const char *key = k->key != NULL ? k->key : "k";
    switch (i) {
    case 0:
        return cip_change_set_int(e, key, 3, err);
    case 1:
        return cip_change_set_yaml(e, key, "{a: [1, 2, 3], b: text, c: {d: e}}", err);
    case 2:
        return cip_change_write(e, k->array, "[0]", cip_dtype_as_stored(), numbers, row, err);
    case 3:
        return cip_change_append(e, k->array, cip_dtype_as_stored(), numbers, 3 * row, err);
    case 4:
        return cip_change_resize(e, k->array, k->pairs ? 2 : 1, more, err);
    case 5:
        return cip_change_remove(e, key, err);
    case 6:
        return cip_change_move(e, key, within(k), false, err);
    case 7:
        return cip_change_insert(e, k->array, 0, 3, cip_dtype_as_stored(), numbers, row, err);
    default:
        return cip_change_put(e, "new", t, 1, rows, numbers, NULL, err);
    }
}

/* Each change with more memory each time, until it does with that. */
static int refuse_memory(const kind *k, cip_change *e, int i, cip_err *err)
{
    const uint64_t step = (uint64_t)(i % LIMITS);
    if (i >= NLIMITED * LIMITS)
        return -1;
    if (e == NULL)
        return CIP_OK;
    cip_mem *mem = &file_of(e)->env.mem;
    const uint64_t limit = mem->limit;
    mem->limit = mem->used + 16 * step * step;
    const cip_status st = change(k, e, i / LIMITS, err);
    mem->limit = limit;
    return (int)st;
}

typedef int refuse_fn(const kind *k, cip_change *e, int i, cip_err *err);

/* Changes before and behind the one that fails. */
static void good(const kind *k, cip_change *e, int32_t value)
{
    const int32_t pair[] = { value, value };
    if (k->key != NULL) {
        char beside[80];
        snprintf(beside, sizeof beside, "%s", within(k));
        beside[strlen(beside) - 2] = '\0';
        OK(cip_change_set_int(e, k->key, value, err));
        OK(cip_change_set_int(e, beside, value, err));
    }
    OK(cip_change_write(e, k->array, k->pairs ? "[17]" : "[17:19]", cip_dtype_as_stored(), pair,
                        sizeof pair, err));
    if (!is_table(k))
        OK(cip_change_append(e, k->array, cip_dtype_as_stored(), pair, sizeof pair, err));
}

/* What is committed when the i-th call failed between two changes, or (-1) was not made. `alone`:
 * without those. False: the call did not fail, or memory was short when half of it was done. */
static bool updated(const kind *k, refuse_fn *refuse, int i, bool alone, cip_memory *base,
                    cip_err *why, all_bytes *out)
{
    const void *p;
    const char *name;
    size_t n;
    cip_memory *m;
    cip_change *e;
    bool failed = true;
    p = cip_memory_bytes(base, &n);
    OK(cip_memory_new(p, n, &m, err));
    for (size_t j = 0; (name = cip_memory_member(base, j, &p, &n)) != NULL; j++)
        OK(cip_memory_add(m, name, p, n, err));
    OK(cip_change_open_memory(m, NULL, &e, err));
    if (!alone)
        good(k, e, 70);
    if (i >= 0) {
        cip_err_clear(why);
        failed = refuse(k, e, i, why) != CIP_OK;
        if (failed) {
            cip_err found = CIP_ERR_INIT;
            failed = cip_change_forget_failure(e, &found) == CIP_OK;
            if (!failed && refuse != refuse_memory)
                fail_msg("%s (%s): call %d failed halfway: %s", k->name,
                         k->format != NULL ? k->format : "", i, found.text);
        }
    }
    if (failed && !alone)
        good(k, e, 80);
    if (failed)
        OK(cip_change_commit(&e, err));
    else
        cip_change_abort(&e);
    *out = bytes_of(m);
    cip_memory_free(m);
    return failed;
}

static size_t try_calls(const kind *k, refuse_fn *refuse, bool alone, cip_memory *base)
{
    size_t n = 0;
    all_bytes want, got;
    cip_err why = CIP_ERR_INIT, over = CIP_ERR_INIT;
    for (int i = 0; refuse(k, NULL, i, &over) != -1; i++) {
        if (updated(k, refuse, i, alone, base, &why, &got)) {
            updated(k, NULL, -1, alone, base, &why, &want);
            expect_same(k, i, &why, got, want);
            n++;
        } else {
            free(got.p);
        }
    }
    return n;
}

static void calls_of_an_update_that_fail_leave_no_trace(void **state)
{
    (void)state;
    size_t n = 0;
    for (size_t j = 0; j < NKIND; j++) {
        cip_memory *base;
        cip_change *w;
        const kind *k = &kinds[j];
        create(k, &base, &w);
        if (has_tree(k))
            OK(cip_change_set_int(w, k->key, 7, err));
        OK(put_all(k, w, err));
        OK(cip_change_commit(&w, err));
        if (strcmp(k->name, "x.npy") != 0)
            for (int alone = 0; alone < 2; alone++) {
                n += try_calls(k, refuse_tree, alone != 0, base);
                n += try_calls(k, refuse_data, alone != 0, base);
                n += try_calls(k, refuse_put, alone != 0, base);
                n += try_calls(k, refuse_memory, alone != 0, base);
            }
        cip_memory_free(base);
    }
    print_message("%zu calls refused\n", n);
    assert_true(n > 7000);
}

/* --- new files ---------------------------------------------------------------------------------*/

static int refuse_new(const kind *k, cip_change *w, int i, cip_err *err)
{
    static const int64_t odd[] = { 3, -1 };
    static const uint8_t mask[2 * ROWS] = { 1 };
    const cip_dtype *t = cip_dtype_of(CIP_I32);
    cip_slab *slab;
    (void)k;
    switch (i) {
    case 0:
        return cip_change_put(w, "new/x", t, 1, rows, numbers,
                              CIP_ARRAY_OPTIONS(.codec = "nocodec"), err);
    case 1:
        return cip_change_put(w, "deep/er/n", t, 1, rows, NULL, NULL, err);
    case 2:
        return cip_change_put(w, "n", t, 2, odd, numbers, NULL, err);
    case 3:
        return cip_change_put(w, "n", NULL, 1, rows, numbers, NULL, err);
    case 4:
        return cip_change_put(w, "n", t, 1, rows, numbers, CIP_ARRAY_OPTIONS(.storage = "odd"),
                              err);
    case 5:
        return cip_change_put(w, "n/-", t, 1, rows, numbers, NULL, err);
    case 6:
        return cip_change_put(w, "n", t, 1, rows, numbers,
                              CIP_ARRAY_OPTIONS(.format_options = CIP_TEXTS("none=1")), err);
    case 7:
        return cip_change_put_array(w, "n", from("half"), CIP_READ_ARGS(.selection = "[99]"), NULL,
                                    err);
    case 8:
        return cip_change_put_array(w, "n", from("half"),
                                    CIP_READ_ARGS(.dtype = cip_dtype_of(CIP_I8)), NULL, err);
    case 9:
        return cip_change_put_array(w, "n", NULL, NULL, NULL, err);
    case 10:
        return cip_change_declare(w, "n", t, 2, odd, NULL, &slab, err);
    case 11:
        return cip_change_put_view(w, "n", "none", NULL, err);
    case 12:
        return cip_change_put_filled(w, "n", t, 2, odd, NULL, NULL, err);
    case 13:
        return cip_change_put_filled(w, "n", t, 1, rows, NULL,
                                     CIP_ARRAY_OPTIONS(.codec = "nocodec"), err);
    case 14:
        return cip_change_put(w, "n", t, 2, shape, NULL, CIP_ARRAY_OPTIONS(.mask = mask), err);
    case 15:
        return cip_change_put_array(w, "n", from("half"), NULL, CIP_ARRAY_OPTIONS(.mask = mask),
                                    err);
    case 16:
        return cip_change_put(w, "n", t, 1, rows, numbers, CIP_ARRAY_OPTIONS(.codec = "zlib:99"),
                              err);
    case 17:
        return cip_change_set_string(w, "k", "\xff", err);
    case 18:
        return cip_change_set_yaml(w, "k/l", "[1, 2", err);
    case 19:
        return cip_change_set_int(w, NULL, 2, err);
    case 20:
        return cip_change_set_int(w, "", 2, err);
    case 21:
        return cip_change_put(w, "", t, 1, rows, numbers, NULL, err);
    case 22:
        return cip_change_put(w, NULL, t, 1, rows, numbers, NULL, err);
    case 23:
        return cip_change_put(w, "n", cip_dtype_of(CIP_F16), 1, rows, numbers,
                              CIP_ARRAY_OPTIONS(.codec = "lz4", .chunk = { -3 }), err);
    default:
        return -1;
    }
}

/* An array more, or a value, with more memory each time, until it does with that. */
static int refuse_new_memory(const kind *k, cip_change *w, int i, cip_err *err)
{
    const uint64_t step = (uint64_t)(i % LIMITS);
    if (i >= 2 * LIMITS)
        return -1;
    if (w == NULL)
        return CIP_OK;
    cip_mem *mem = &((cip_writer *)(void *)w)->env.mem;
    const uint64_t limit = mem->limit;
    mem->limit = mem->used + 16 * step * step;
    const cip_status st =
        i < LIMITS ? cip_change_put(w, "n", cip_dtype_of(CIP_I32), 1, rows, numbers, NULL, err)
                   : cip_change_set_yaml(w, k->key != NULL ? k->key : "k", "{a: [1, 2]}", err);
    mem->limit = limit;
    return (int)st;
}

typedef int refuse_new_fn(const kind *k, cip_change *w, int i, cip_err *err);

/* As `updated`. */
static bool created(const kind *k, refuse_new_fn *refuse, int i, bool first, cip_err *why,
                    all_bytes *out)
{
    cip_memory *m;
    cip_change *w;
    bool failed = true;
    create(k, &m, &w);
    if (!first)
        OK(put_all(k, w, err));
    if (i >= 0) {
        cip_err_clear(why);
        failed = refuse(k, w, i, why) != CIP_OK;
        if (failed) {
            cip_err found = CIP_ERR_INIT;
            failed = cip_change_forget_failure(w, &found) == CIP_OK;
            if (!failed && refuse != refuse_new_memory)
                fail_msg("%s: call %d failed halfway: %s", k->name, i, found.text);
        }
    }
    if (failed && has_tree(k))
        OK(cip_change_set_int(w, k->key, 7, err));
    if (failed && first)
        OK(put_all(k, w, err));
    if (failed)
        OK(cip_change_commit(&w, err));
    else
        cip_change_abort(&w);
    *out = bytes_of(m);
    cip_memory_free(m);
    return failed;
}

static size_t try_new(const kind *k, refuse_new_fn *refuse, bool first)
{
    size_t n = 0;
    all_bytes want, got;
    cip_err why = CIP_ERR_INIT, over = CIP_ERR_INIT;
    for (int i = 0; refuse(k, NULL, i, &over) != -1; i++) {
        if (created(k, refuse, i, first, &why, &got)) {
            created(k, refuse, -1, first, &why, &want);
            expect_same(k, i, &why, got, want);
            n++;
        } else {
            free(got.p);
        }
    }
    return n;
}

static void calls_of_a_new_file_that_fail_leave_no_trace(void **state)
{
    (void)state;
    size_t n = 0;
    for (size_t j = 0; j < NKIND; j++)
        for (int first = 0; first < 2; first++) {
            n += try_new(&kinds[j], refuse_new, first != 0);
            n += try_new(&kinds[j], refuse_new_memory, first != 0);
        }
    print_message("%zu calls refused\n", n);
    assert_true(n > 1000);
}

/* --- halfway -----------------------------------------------------------------------------------*/

/* An array whose second half cannot be decoded. */
static cip_file *open_damaged(char **kept)
{
    static int32_t v[1 << 16];
    const int64_t n[] = { 1 << 16 };
    const void *bytes;
    size_t nbytes;
    cip_memory *m;
    cip_change *w;
    cip_file *f;
    for (int i = 0; i < 1 << 16; i++)
        v[i] = (int32_t)((uint32_t)i * (uint32_t)i);
    OK(cip_create_memory(
        "x.blp", CIP_CHANGE_OPTIONS(.format_options = CIP_TEXTS("chunk_size=4096")), &m, &w, err));
    OK(cip_change_put(w, "", cip_dtype_of(CIP_I32), 1, n, v, NULL, err));
    OK(cip_change_commit(&w, err));
    bytes = cip_memory_bytes(m, &nbytes);
    *kept = malloc(nbytes);
    assert_non_null(*kept);
    memcpy(*kept, bytes, nbytes);
    memset(*kept + nbytes / 2, 0xff, nbytes / 4);
    OK(cip_open_memory(*kept, nbytes, NULL, &f, err));
    cip_memory_free(m);
    return f;
}

/* All of the source is read before anything of the update changes. */
static void a_source_that_fails_leaves_no_trace_of_an_update(void **state)
{
    (void)state;
    char *kept;
    cip_file *f = open_damaged(&kept);
    const cip_array *bad = cip_find(f, "", NULL);
    const int64_t n[] = { 1 << 16 };
    static const char *const names[] = { "x.asdf", "x.ra", "x.b2nd", "x.blp" };
    for (size_t i = 0; i < 4; i++) {
        cip_memory *m;
        cip_change *w;
        cip_change *e;
        const int32_t seven = 7;
        OK(cip_create_memory(names[i], NULL, &m, &w, err));
        OK(cip_change_put_filled(w, "a", cip_dtype_of(CIP_I32), 1, n, NULL, NULL, err));
        OK(cip_change_commit(&w, err));
        all_bytes was = bytes_of(m);
        OK(cip_change_open_memory(m, NULL, &e, err));
        for (int k = 0; k < 4; k++) {
            const cip_status st = k == 0   ? cip_change_write_array(e, "", NULL, bad, NULL)
                                  : k == 1 ? cip_change_append_array(e, "", bad, NULL)
                                  : k == 2 ? cip_change_insert_array(e, "", 0, 5, bad, NULL)
                                           : cip_change_put_array(e, "b", bad, NULL, NULL, NULL);
            assert_int_not_equal(st, CIP_OK);
            OK(cip_change_forget_failure(e, err));
        }
        OK(cip_change_commit(&e, err));
        all_bytes now = bytes_of(m);
        assert_int_equal(was.n, now.n);
        assert_memory_equal(was.p, now.p, was.n);
        free(now.p);
        free(was.p);
        OK(cip_change_open_memory(m, NULL, &e, err));
        OK(cip_change_write(e, "", "[3]", cip_dtype_as_stored(), &seven, sizeof seven, err));
        OK(cip_change_commit(&e, err));
        cip_memory_free(m);
    }
    cip_file_close(f);
    free(kept);
}

/* What a new file has of it cannot be taken back. */
static void a_new_file_with_half_an_array_is_given_up(void **state)
{
    (void)state;
    char *kept;
    cip_file *f = open_damaged(&kept);
    cip_memory *m;
    cip_change *w;
    cip_err why = CIP_ERR_INIT;
    OK(cip_create_memory("asdf", NULL, &m, &w, err));
    const cip_status st = cip_change_put_array(w, "a", cip_find(f, "", NULL), NULL, NULL, &why);
    assert_int_not_equal(st, CIP_OK);
    FAILS(st, "failed halfway", cip_change_forget_failure(w, err));
    FAILS(st, why.text, cip_change_set_int(w, "k", 1, err));
    FAILS(st, why.text, cip_change_commit(&w, err));
    assert_null(cip_memory_bytes(m, NULL));
    cip_memory_free(m);
    cip_file_close(f);
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_that_fails_leaves_no_trace_of_an_update),
        cmocka_unit_test(a_new_file_with_half_an_array_is_given_up),
        cmocka_unit_test(calls_of_an_update_that_fail_leave_no_trace),
        cmocka_unit_test(calls_of_a_new_file_that_fail_leave_no_trace),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
