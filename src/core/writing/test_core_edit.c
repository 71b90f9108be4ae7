/* SPDX-License-Identifier: BSD-3-Clause
 * Updates: what they change, when it shows, and what they refuse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "core/writing/edit_impl.h"
#include "support/core/writing/edit_testing.h"
#include "core/handle.h"
#include "support/own_folder.h"

static cip_file *file_of(cip_change *c)
{
    return ((cip_edit *)(void *)c)->file;
}

static void changes_show_after_the_commit_only(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "a.asdf", false);
    cip_change *e;
    cip_file *f;
    const char *name;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_set_string(e, "meta/name", "second", err));
    OK(cip_change_set_int(e, "meta/n", -3, err));
    OK(cip_change_set_double(e, "meta/x", 0.5, err));
    OK(cip_change_set_bool(e, "meta/yes", true, err));
    OK(cip_change_set_yaml(e, "meta/list", "[1, !core/complex-1.0.0 1+2j]", err));
    OK(cip_open(path, NULL, &f, err));
    OK(cip_tree_get_string(cip_file_tree(f), "meta/name", &name, err));
    assert_string_equal(name, "first");
    cip_file_close(f);
    OK(cip_change_commit(&e, err));
    OK(cip_open(path, NULL, &f, err));
    const cip_node *t = cip_file_tree(f);
    int64_t n;
    double x;
    bool yes;
    OK(cip_tree_get_string(t, "meta/name", &name, err));
    OK(cip_tree_get_int(t, "meta/n", &n, err));
    OK(cip_tree_get_double(t, "meta/x", &x, err));
    OK(cip_tree_get_bool(t, "meta/yes", &yes, err));
    assert_string_equal(name, "second");
    assert_int_equal(n, -3);
    assert_true(x == 0.5 && yes);
    assert_string_equal(cip_node_tag(cip_tree_get(t, "meta/list/1", NULL)),
                        "tag:stsci.edu:asdf/core/complex-1.0.0");
    cip_file_close(f);
    edit_verify(path);
}

static void an_abort_and_an_empty_update_leave_every_byte(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "b.asdf", false);
    size_t n, m;
    char *before = edit_bytes(path, &n);
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_set_string(e, "meta/name", "other", err));
    cip_change_abort(&e);
    cip_change_abort(NULL);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_commit(&e, err));
    char *after = edit_bytes(path, &m);
    assert_int_equal(n, m);
    assert_memory_equal(before, after, n);
    free(before);
    free(after);
}

static void one_writer_at_a_time(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "c.asdf", false);
    cip_change *e, *other;
    OK(cip_change_open(path, NULL, &e, err));
    FAILS(CIP_ERR_BUSY, "", cip_change_open(path, NULL, &other, err));
    assert_null(other);
    cip_change_abort(&e);
    OK(cip_change_open(path, NULL, &other, err));
    cip_change_abort(&other);
}

static void a_file_that_changed_since_it_was_opened_is_busy(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "d.asdf", false);
    cip_file *f;
    cip_change *e;
    OK(cip_open(path, NULL, &f, err));
    OK(cip_change_begin(f, NULL, &e, err));
    OK(cip_change_set_string(e, "meta/name", "a", err));
    OK(cip_change_commit(&e, err));
    FAILS(CIP_ERR_BUSY, "changed since it was opened", cip_change_begin(f, NULL, &e, err));
    assert_null(e);
    cip_file_close(f);
}

static void a_file_is_not_read_on_after_its_update(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "d1.asdf", false);
    const float one = 1;
    float v[24];
    cip_file *f;
    cip_change *e;
    OK(cip_open(path, NULL, &f, err));
    const cip_array *a = cip_find(f, "image", NULL);
    OK(cip_change_begin(f, NULL, &e, err));
    OK(cip_read(a, NULL, cip_dtype_as_stored(), v, sizeof v, err));
    OK(cip_change_write(e, "image", "[0, 0]", cip_dtype_as_stored(), &one, sizeof one, err));
    OK(cip_read(a, NULL, cip_dtype_as_stored(), v, sizeof v, err));
    OK(cip_change_commit(&e, err));
    FAILS(CIP_ERR_BUSY, "open it again",
          cip_read(a, NULL, cip_dtype_as_stored(), v, sizeof v, err));
    FAILS(CIP_ERR_BUSY, "open it again", cip_block_read(f, 0, true, 0, v, 4, err));
    FAILS(CIP_ERR_BUSY, "open it again", cip_view(a, err) != NULL ? CIP_OK : (cip_status)err->code);
    cip_file_close(f);
}

static void only_files_by_name(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "e.asdf", false);
    size_t n;
    char *bytes = edit_bytes(path, &n);
    cip_file *f;
    cip_change *e;
    OK(cip_open_memory(bytes, n, NULL, &f, err));
    FAILS(CIP_ERR_UNSUPPORTED, "opened by its name", cip_change_begin(f, NULL, &e, err));
    cip_file_close(f);
    free(bytes);
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_open(scratch_path(&s, "none.asdf"), NULL, &e, err));
}

static void wrong_calls_are_refused(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "f.asdf", false);
    cip_change *e = NULL;
    cip_change_options bad = { .size = 0 };
    cip_change *left = (cip_change *)(void *)&bad;
    FAILS(CIP_ERR_ARG, "", cip_change_open(NULL, NULL, &left, err));
    assert_null(left);
    FAILS(CIP_ERR_ARG, "expected 3 codecs",
          cip_change_open(path, CIP_CHANGE_OPTIONS(.ncodec = 3), &e, err));
    FAILS(CIP_ERR_ARG, "", cip_change_open(path, NULL, NULL, err));
    FAILS(CIP_ERR_ARG, "", cip_change_begin(NULL, NULL, &e, err));
    FAILS(CIP_ERR_ARG, "size", cip_change_open(path, &bad, &e, err));
    bad.size = SIZE_MAX;
    FAILS(CIP_ERR_ARG, "size", cip_change_open(path, &bad, &e, err));
    FAILS(CIP_ERR_ARG, "checksum",
          cip_change_open(path, CIP_CHANGE_OPTIONS(.checksum = "crc"), &e, err));
    FAILS(CIP_ERR_ARG, "", cip_change_open(path, CIP_CHANGE_OPTIONS(.codec = "zlib:x"), &e, err));
    FAILS(CIP_ERR_ARG, "", cip_change_set_string(NULL, "a", "b", err));
    FAILS(CIP_ERR_ARG, "", cip_change_commit(NULL, err));
    cip_err kept = { .code = CIP_ERR_BUSY };
    assert_int_equal(cip_change_set_string(NULL, "a", "b", &kept), CIP_ERR_BUSY); /* calls chain */
    OK(cip_change_open(path, NULL, &e, err));
    FAILS(CIP_ERR_ARG, "path", cip_change_set_string(e, NULL, "b", err));
    FAILS(CIP_ERR_ARG, "text", cip_change_set_string(e, "a", NULL, err));
    FAILS(CIP_ERR_ARG, "text", cip_change_set_yaml(e, "a", NULL, err));
    FAILS(CIP_ERR_ARG, "path", cip_change_remove(e, NULL, err));
    FAILS(CIP_ERR_CORRUPT, "", cip_change_set_yaml(e, "a", "[1, 2", err));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_remove(e, "meta/none", err));
    FAILS(CIP_ERR_ARG, "streamed", cip_change_freeze(e, err));
    cip_change_abort(&e);
}

static void limits_hold_for_updates_too(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "lim.asdf", false);
    const cip_limits limits = { .size = sizeof limits, .max_memory = 10000 };
    cip_change *e;
    FAILS(CIP_ERR_LIMIT, "memory limit",
          cip_change_open(path, CIP_CHANGE_OPTIONS(.open = CIP_OPEN_OPTIONS(.limits = &limits)), &e,
                          err));
    FAILS(CIP_ERR_ARG, "cip_open_options.size",
          cip_change_open(path, CIP_CHANGE_OPTIONS(.open = &(cip_open_options){ .size = 0 }), &e,
                          err));
}

/* Whether somebody reads the file under the readers' byte. */
static bool is_read_locked(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    bool locked = cip_store_lock(fd, CIP_LOCK_READERS, false) == CIP_LOCK_TAKEN;
    close(fd);
    return locked;
}

static void a_begin_that_fails_leaves_the_file_read(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "fail.asdf", true);
    cip_file *f;
    cip_change *other, *e;
    const double row[2] = { 1, 2 };
    OK(cip_open(path, NULL, &f, err));
    OK(cip_change_open(path, NULL, &other, err));
    FAILS(CIP_ERR_BUSY, "another writer", cip_change_begin(f, NULL, &e, err));
    assert_true(is_read_locked(path));
    FAILS(CIP_ERR_BUSY, "another writer",
          cip_append(f, "rows", cip_dtype_as_stored(), row, sizeof row, err));
    assert_true(is_read_locked(path));
    cip_change_abort(&other);
    OK(cip_change_begin(f, NULL, &e, err));
    assert_false(is_read_locked(path));
    cip_change_abort(&e);
    cip_file_close(f);
}

static void an_update_is_within_the_limits_of_its_file(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "in.asdf", false);
    cip_limits limits = CIP_LIMITS_INIT;
    cip_file *f;
    cip_change *e;
    limits.max_depth = 8;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_set_yaml(e, "deep", "[[[[[[[[[1]]]]]]]]]", err));
    cip_change_abort(&e);
    OK(cip_open(path, CIP_OPEN_OPTIONS(.limits = &limits), &f, err));
    OK(cip_change_begin(f, NULL, &e, err));
    FAILS(CIP_ERR_LIMIT, "", cip_change_set_yaml(e, "deep", "[[[[[[[[[1]]]]]]]]]", err));
    cip_change_abort(&e);
    cip_file_close(f);
}

static void *count_resize(void *user, void *ptr, size_t was, size_t n)
{
    (void)was;
    ++*(size_t *)user;
    if (n != 0)
        return realloc(ptr, n);
    free(ptr);
    return NULL;
}

static void an_update_takes_memory_where_its_file_does(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "mem.asdf", false);
    size_t n = 0;
    const cip_allocator from = { .resize = count_resize, .user = &n };
    cip_file *f;
    cip_change *e;
    OK(cip_open(path, CIP_OPEN_OPTIONS(.allocator = &from, .threads = 2), &f, err));
    size_t before = n;
    OK(cip_change_begin(f, NULL, &e, err));
    assert_true(n > before + 10);
    assert_int_equal(cip_pool_threads(file_of(e)->env.pool), 2);
    cip_change_abort(&e);
    cip_file_close(f);
}

/* A cip_allocator that counts what is asked for. */
static void *sum_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    *(uint64_t *)user += new_size > old_size ? new_size - old_size : 0;
    if (new_size != 0)
        return realloc(ptr, new_size);
    free(ptr);
    return NULL;
}

/* What n changes of a tree that has n keys, and n new keys, ask for. */
static uint64_t bytes_of_changes(int n)
{
    const char *path = edit_file(&s, n < 1000 ? "few.asdf" : "many.asdf", false);
    uint64_t sum = 0;
    const cip_allocator from = { .resize = sum_resize, .user = &sum };
    char step[32];
    cip_change *e;
    for (int round = 0; round < 2; round++) {
        OK(cip_change_open(path, CIP_CHANGE_OPTIONS(.open = CIP_OPEN_OPTIONS(.allocator = &from)),
                           &e, err));
        sum = 0;
        for (int i = 0; i < n; i++) {
            snprintf(step, sizeof step, "many/k%d", i);
            OK(cip_change_set_int(e, step, i, err));
            snprintf(step, sizeof step, "round%d/k%d", round, i);
            OK(cip_change_set_int(e, step, i, err));
        }
        OK(cip_change_commit(&e, err));
    }
    cip_file *f;
    int64_t last;
    OK(cip_open(path, NULL, &f, err));
    snprintf(step, sizeof step, "round1/k%d", n - 1);
    OK(cip_tree_get_int(cip_file_tree(f), step, &last, err));
    assert_int_equal(last, n - 1);
    cip_file_close(f);
    return sum;
}

static void many_changes_cost_in_proportion_to_themselves(void **state)
{
    (void)state;
    const uint64_t few = bytes_of_changes(500), many = bytes_of_changes(4000);
    if (many > 16 * few)
        fail_msg("expected eight times %llu bytes or so, found %llu", (unsigned long long)few,
                 (unsigned long long)many);
}

static void a_change_that_is_refused_at_the_commit_is_named(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "named.asdf", false);
    cip_file *f;
    cip_change *e;
    const char *name;
    OK(cip_change_open(path, NULL, &e, err));
    file_of(e)->env.limits.max_nodes = 300;
    char list[2 * 290 + 2] = "["; /* 290 times "1,", the last comma a bracket */
    for (size_t i = 0; i < 290; i++)
        memcpy(list + 1 + 2 * i, "1,", 2);
    list[2 * 290] = ']';
    OK(cip_change_set_string(e, "meta/name", "second", err));
    OK(cip_change_set_yaml(e, "much", list, err));
    OK(cip_change_set_int(e, "meta/n", 1, err));
    FAILS(CIP_ERR_LIMIT, "\"much\": expected at most 300", cip_change_commit(&e, err));
    OK(cip_open(path, NULL, &f, err));
    OK(cip_tree_get_string(cip_file_tree(f), "meta/name", &name, err));
    assert_string_equal(name, "first");
    cip_file_close(f);
}

/* Looking at the tree needs memory for what waits; once there is some, nothing was lost. */
static void values_wait_for_memory(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "waiting.asdf", false);
    cip_file *f;
    cip_change *e;
    const cip_node *root;
    int64_t n;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_set_int(e, "meta/n", 7, err));
    OK(cip_change_set_int(e, "meta/m", 8, err));
    cip_mem *mem = &file_of(e)->env.mem;
    mem->limit = mem->used;
    assert_int_equal(cip_change_tree(e, &root, NULL), CIP_ERR_LIMIT);
    assert_int_equal(cip_change_forget_failure(e, NULL), CIP_ERR_LIMIT);
    mem->limit = UINT64_MAX;
    OK(cip_change_forget_failure(e, err));
    OK(cip_change_commit(&e, err));
    OK(cip_open(path, NULL, &f, err));
    OK(cip_tree_get_int(cip_file_tree(f), "meta/n", &n, err));
    assert_int_equal(n, 7);
    OK(cip_tree_get_int(cip_file_tree(f), "meta/m", &n, err));
    assert_int_equal(n, 8);
    cip_file_close(f);
}

static cip_status as_it_is(void *user, const char *args, const void *src, size_t n, void *dst,
                           size_t cap, size_t *out, cip_err *err)
{
    (void)args, (void)err;
    ++*(int *)user;
    if (n > cap)
        return CIP_ERR_CORRUPT;
    memcpy(dst, src, n);
    *out = n;
    return CIP_OK;
}

static void an_update_knows_the_codecs_and_flags_of_its_file(void **state)
{
    (void)state;
    int called = 0;
    const cip_codec_methods m = { CIP_CODEC_METHODS_INIT, .name = "turn", .code = "turn",
                                  .decode = as_it_is, .user = &called };
    const cip_codec_methods *const list[] = { &m };
    const cip_open_options *how =
        CIP_OPEN_OPTIONS(.codecs = list, .ncodec = 1, .allow_external = true, .force = true);
    const char *path = edit_file(&s, "codec.asdf", false);
    cip_file *f;
    cip_change *e;
    OK(cip_open(path, how, &f, err));
    OK(cip_change_begin(f, NULL, &e, err));
    assert_int_equal(file_of(e)->env.ncodec, 1);
    assert_string_equal(file_of(e)->env.codec[0].name, "turn");
    assert_ptr_equal(file_of(e)->env.codec[0].user, &called);
    assert_int_equal(file_of(e)->layout->flags, CIP_OPEN_EXTERNAL | CIP_OPEN_FORCE);
    cip_change_abort(&e);
    cip_file_close(f);
    OK(cip_change_open(path, CIP_CHANGE_OPTIONS(.open = how), &e, err));
    assert_int_equal(file_of(e)->layout->flags, CIP_OPEN_EXTERNAL | CIP_OPEN_FORCE);
    cip_change_abort(&e);
}

static void what_describes_data_is_changed_by_way_of_the_data(void **state)
{
    (void)state;
    static const char *const keys[] = { "source",  "datatype", "byteorder",
                                        "shape/0", "shape",    "sources" };
    const char *path = edit_file(&s, "g.asdf", false);
    cip_change *e;
    char at[64];
    OK(cip_change_open(path, NULL, &e, err));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        snprintf(at, sizeof at, "%simage/%s", i % 2 == 0 ? "/" : "", keys[i]);
        FAILS(CIP_ERR_ARG, "put, append, resize", cip_change_set_string(e, at, "x", err));
        FAILS(CIP_ERR_ARG, "put, append, resize", cip_change_remove(e, at, err));
    }
    cip_change_abort(&e);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_set_string(e, "imageshape", "round", err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
}

static void an_update_of_which_a_call_failed_is_not_made(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "all.asdf", false);
    const float ones[2] = { 1, 1 };
    const int64_t shape[] = { 2, 2 };
    size_t n, m;
    char *before = edit_bytes(path, &n);
    taken t = { .n = 0 };
    for (int i = 0; i < 8; i++) {
        cip_change *e;
        cip_err found = CIP_ERR_INIT;
        OK(cip_change_open(path, NULL, &e, err));
        OK(cip_change_set_string(e, "meta/name", "second", err));
        cip_status st = i == 0   ? cip_change_write(e, "image", "[1, 2:5]", cip_dtype_as_stored(),
                                                    ones, sizeof ones, &found)
                        : i == 1 ? cip_change_set_int(e, "meta/name/x", 1, &found)
                        : i == 2 ? cip_change_remove(e, "none", &found)
                        : i == 3 ? cip_change_append(e, "image", cip_dtype_as_stored(), ones,
                                                     sizeof ones, &found)
                        : i == 4 ? cip_change_write_array(e, "image", NULL, NULL, &found)
                        : i == 5 ? cip_change_resize(e, "none", 2, shape, &found)
                        : i == 6 ? cip_change_set_yaml(e, "meta/name", "[1", &found)
                                 : cip_change_append_array(e, "image", NULL, &found);
        assert_int_not_equal(st, CIP_OK);
        OK(cip_change_write(e, "image", "[1, 2:4]", cip_dtype_as_stored(), ones, sizeof ones, err));
        FAILS(st, found.text, cip_change_plan(e, take_text, &t, err));
        FAILS(st, found.text, cip_change_commit(&e, err));
    }
    char *after = edit_bytes(path, &m);
    assert_int_equal(n, m);
    assert_memory_equal(before, after, n);
    free(before);
    free(after);
}

static void arrays_and_nodes_are_renamed_where_they_are(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "mv.asdf", false);
    const float ones[] = { 1, 1 };
    const int64_t nine[] = { 9 };
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_write(e, "image", "[0, :2]", cip_dtype_as_stored(), ones, sizeof ones, err));
    OK(cip_change_write(e, "few", "[0:1]", cip_dtype_as_stored(), nine, sizeof nine, err));
    OK(cip_change_move(e, "image", "sky/r/image", false, err));
    OK(cip_change_move(e, "few", "image", false, err));
    OK(cip_change_move(e, "packed", "meta/name", true, err));
    OK(cip_change_commit(&e, err));
    edit_verify(path);
    edit_expect(path, "image", "9 20 30\n");
    edit_expect(path, "meta/name", "0 1 2 3\n4 5 6 7\n8 9 10 11\n");
    cip_file *f;
    float row[6];
    OK(cip_open(path, NULL, &f, err));
    OK(cip_read(cip_find(f, "sky/r/image", err), "[0]", cip_dtype_of(CIP_F32), row, sizeof row,
                err));
    assert_true(row[0] == 1 && row[1] == 1 && row[2] == 2);
    cip_file_close(f);
}

static void what_cannot_be_moved_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *words;
        cip_status st;
    } bad[] = {
        { "image", "packed", "does not exist yet", CIP_ERR_ARG },
        { "meta", "meta/x", "outside", CIP_ERR_ARG },
        { "image/shape", "size", "description", CIP_ERR_ARG },
        { "meta", "image/meta", "description", CIP_ERR_ARG },
        { "none", "x", "", CIP_ERR_NOT_FOUND },
        { "image", "meta/name/x", "scalar", CIP_ERR_TYPE },
        { NULL, "x", "paths", CIP_ERR_ARG },
    };
    const char *path = edit_file(&s, "mvbad.asdf", false);
    cip_change *e;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        OK(cip_change_open(path, NULL, &e, err));
        FAILS(bad[i].st, bad[i].words, cip_change_move(e, bad[i].from, bad[i].to, false, err));
        FAILS(bad[i].st, bad[i].words, cip_change_commit(&e, err));
    }
    const float one = 1;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_move(e, "image", "x", false, err));
    FAILS(CIP_ERR_UNSUPPORTED, "moved",
          cip_change_write(e, "image", "[0, 0]", cip_dtype_as_stored(), &one, 4, err));
    cip_change_abort(&e);
}

static void removing_an_array_keeps_its_data_until_defrag(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "h.asdf", false);
    cip_change *e;
    cip_file *f;
    taken t = { .n = 0 };
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_remove(e, "image", err));
    OK(cip_change_commit(&e, err));
    OK(cip_open(path, NULL, &f, err));
    assert_int_equal(cip_file_narray(f), 2);
    assert_int_equal(cip_file_nblock(f), 2);
    cip_file_close(f);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_defrag(e, NULL, NULL, err));
    OK(cip_change_plan(e, take_text, &t, err));
    t.text[t.n] = '\0';
    assert_non_null(strstr(t.text, "would replace the file by a new one of "));
    OK(cip_change_commit(&e, err));
    OK(cip_open(path, NULL, &f, err));
    assert_int_equal(cip_file_nblock(f), 1);
    cip_file_close(f);
    edit_expect(path, "packed", "0 1 2 3\n4 5 6 7\n8 9 10 11\n");
    edit_verify(path);
}

static int count_findings(void *user, const cip_finding *f)
{
    assert_int_equal(f->severity, CIP_NOTE);
    if (strstr(f->text, "block 0 of 96 bytes") == NULL)
        fail_msg("%s", f->text);
    return ++*(int *)user == 2;
}

static void defrag_tells_what_it_drops(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "i.asdf", false);
    cip_change *e;
    int n = 0;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_remove(e, "image", err));
    OK(cip_change_defrag(e, count_findings, &n, err));
    assert_int_equal(n, 1);
    FAILS(CIP_ERR_ARG, "last change", cip_change_set_string(e, "meta/name", "x", err));
    cip_change_abort(&e);
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_remove(e, "image", err));
    FAILS(CIP_ERR_CANCELLED, "", cip_change_defrag(e, count_findings, &n, err));
    cip_change_abort(&e);
}

static int no_more(void *user, const void *p, size_t n)
{
    (void)user;
    (void)p;
    (void)n;
    return 1;
}

static void a_plan_says_what_would_be_written_and_ends_the_changes(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "j.asdf", false);
    const float ones[2] = { 1, 1 };
    size_t n, m;
    char *before = edit_bytes(path, &n);
    taken t = { .n = 0 };
    cip_change *e;
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_write(e, "image", "[1, 2:4]", cip_dtype_as_stored(), ones, sizeof ones, err));
    FAILS(CIP_ERR_ARG, "", cip_change_plan(NULL, take_text, &t, err));
    FAILS(CIP_ERR_ARG, "", cip_change_plan(e, NULL, NULL, err));
    FAILS(CIP_ERR_CANCELLED, "", cip_change_plan(e, no_more, NULL, err));
    OK(cip_change_plan(e, take_text, &t, err));
    t.text[t.n] = '\0';
    assert_non_null(strstr(t.text, "write 54 bytes at "));
    FAILS(CIP_ERR_ARG, "already planned", cip_change_set_string(e, "meta/name", "x", err));
    FAILS(CIP_ERR_ARG, "already planned", cip_change_commit(&e, err));
    OK(cip_change_open(path, NULL, &e, err));
    OK(cip_change_write(e, "image", "[1, 2:4]", cip_dtype_as_stored(), ones, sizeof ones, err));
    OK(cip_change_plan(e, take_text, &t, err));
    char *after = edit_bytes(path, &m);
    assert_int_equal(n, m);
    assert_memory_equal(before, after, n);
    OK(cip_change_commit(&e, err));
    free(before);
    free(after);
    edit_expect(path, "image",
                "0.0 1.0 2.0 3.0 4.0 5.0\n6.0 7.0 1.0 1.0 10.0 11.0\n12.0 13.0 14.0 15.0 16.0 "
                "17.0\n18.0 19.0 20.0 21.0 22.0 23.0\n");
    edit_verify(path);
}

static void a_history_entry_says_what_was_done(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "k.asdf", false);
    cip_file *f;
    cip_change *e;
    const char *text;
    for (int i = 0; i < 2; i++) {
        OK(cip_change_open(path, CIP_CHANGE_OPTIONS(.history = i == 0 ? "looked" : "touched"), &e,
                           err));
        OK(cip_change_set_int(e, "meta/n", i, err));
        OK(cip_change_commit(&e, err));
    }
    OK(cip_open(path, NULL, &f, err));
    const cip_node *t = cip_file_tree(f);
    OK(cip_tree_get_string(t, "history/entries/0/description", &text, err));
    assert_string_equal(text, "looked");
    OK(cip_tree_get_string(t, "history/entries/1/description", &text, err));
    assert_string_equal(text, "touched");
    OK(cip_tree_get_string(t, "history/entries/1/software/version", &text, err));
    assert_string_equal(text, CIP_VERSION_STRING);
    cip_file_close(f);
}

static void the_same_update_gives_the_same_bytes(void **state)
{
    (void)state;
    size_t n, m;
    char *bytes[2];
    for (int i = 0; i < 2; i++) {
        const char *path = edit_file(&s, i == 0 ? "l.asdf" : "m.asdf", false);
        cip_change *e;
        OK(cip_change_open(path, CIP_CHANGE_OPTIONS(.history = "why", .level = (cip_level)i), &e,
                           err));
        OK(cip_change_set_string(e, "meta/name", "a much longer name than there was before", err));
        OK(cip_change_commit(&e, err));
        bytes[i] = edit_bytes(path, i == 0 ? &n : &m);
    }
    assert_int_equal(n, m);
    assert_memory_equal(bytes[0], bytes[1], n);
    free(bytes[0]);
    free(bytes[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_show_after_the_commit_only),
        cmocka_unit_test(an_abort_and_an_empty_update_leave_every_byte),
        cmocka_unit_test(one_writer_at_a_time),
        cmocka_unit_test(a_file_that_changed_since_it_was_opened_is_busy),
        cmocka_unit_test(a_file_is_not_read_on_after_its_update),
        cmocka_unit_test(only_files_by_name),
        cmocka_unit_test(wrong_calls_are_refused),
        cmocka_unit_test(limits_hold_for_updates_too),
        cmocka_unit_test(a_begin_that_fails_leaves_the_file_read),
        cmocka_unit_test(an_update_is_within_the_limits_of_its_file),
        cmocka_unit_test(values_wait_for_memory),
        cmocka_unit_test(an_update_takes_memory_where_its_file_does),
        cmocka_unit_test(many_changes_cost_in_proportion_to_themselves),
        cmocka_unit_test(a_change_that_is_refused_at_the_commit_is_named),
        cmocka_unit_test(an_update_knows_the_codecs_and_flags_of_its_file),
        cmocka_unit_test(what_describes_data_is_changed_by_way_of_the_data),
        cmocka_unit_test(an_update_of_which_a_call_failed_is_not_made),
        cmocka_unit_test(removing_an_array_keeps_its_data_until_defrag),
        cmocka_unit_test(arrays_and_nodes_are_renamed_where_they_are),
        cmocka_unit_test(what_cannot_be_moved_is_refused),
        cmocka_unit_test(defrag_tells_what_it_drops),
        cmocka_unit_test(a_plan_says_what_would_be_written_and_ends_the_changes),
        cmocka_unit_test(a_history_entry_says_what_was_done),
        cmocka_unit_test(the_same_update_gives_the_same_bytes),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
