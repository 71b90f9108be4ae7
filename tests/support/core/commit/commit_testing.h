/* SPDX-License-Identifier: BSD-3-Clause
 * Commits of a file for tests: the file before, a revision of it, what it is afterwards. Included
 * after cmocka.h. */
#ifndef CIP_TESTS_COMMIT_TESTING_H
#define CIP_TESTS_COMMIT_TESTING_H

#include <string.h>

#include "core/commit/commit_impl.h"
#include "support/temp_folder.h"

static scratch dir;
static cip_env env;
enum { N = 4096 };
static uint8_t old[N];
static const cip_bytes none = { NULL, 0 };

static inline int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        old[i] = (uint8_t)(i * 7 + i / 256);
    if (!scratch_open(&dir))
        return -1;
    return (int)cip_env_init(&env, NULL, NULL, NULL, NULL);
}

static inline int teardown(void **state)
{
    (void)state;
    size_t left = (size_t)env.mem.used;
    scratch_close(&dir);
    cip_env_clear(&env);
    return left != 0;
}

static inline const char *path(void)
{
    return scratch_path(&dir, "a.bin");
}

static inline void write_old(void)
{
    scratch_write(&dir, "a.bin", old, N);
}

static inline cip_revision new_revision(void)
{
    return (cip_revision){ .patch = { .arena = { .mem = &env.mem } } };
}

static inline void change(cip_revision *r, uint64_t off, const char *text)
{
    cip_bytes b = { (const uint8_t *)text, strlen(text) };
    assert_int_equal(cip_patch_write(&r->patch, "", off, none, b, NULL), CIP_OK);
}

static inline cip_commit *begin(const cip_change_options *o)
{
    cip_commit *c;
    cip_err err = CIP_ERR_INIT;
    if (cip_commit_begin(&env, path(), o, &c, &err) != CIP_OK)
        print_error("%s\n", err.text);
    assert_non_null(c);
    return c;
}

static inline void assert_file(const void *want, size_t n)
{
    static uint8_t got[4 * N];
    FILE *f = fopen(path(), "rb");
    assert_non_null(f);
    size_t have = fread(got, 1, sizeof got, f);
    fclose(f);
    assert_int_equal(have, n);
    assert_memory_equal(got, want, n);
}

static inline bool is_there(const char *name)
{
    struct stat st;
    return lstat(scratch_path(&dir, name), &st) == 0;
}

static inline void assert_nothing_beside(void)
{
    assert_false(is_there(".a.bin.cip-tmp"));
    assert_false(is_there(".a.bin.cip-journal"));
    assert_false(is_there(".a.bin.cip-new"));
}

static inline ino_t inode(void)
{
    struct stat st;
    assert_int_equal(stat(path(), &st), 0);
    return st.st_ino;
}

/* Commits to the old file with this; `kind` is how the way is told. *want becomes the file. */
static inline void run(cip_revision *r, const char *kind, uint8_t *want, size_t *n, cip_level level)
{
    char text[256];
    cip_io *after;
    write_old();
    cip_commit *c = begin(CIP_CHANGE_OPTIONS(.level = level));
    for (size_t i = 0; i < r->nsegment; i++)
        if (r->segment[i].io != NULL) /* of a commit before, or none yet */
            r->segment[i].io = cip_commit_io(c);
    assert_int_equal(cip_io_open_revision(cip_commit_io(c), r, &after, NULL), CIP_OK);
    *n = (size_t)after->size;
    assert_int_equal(cip_io_read(after, 0, want, *n, NULL), CIP_OK);
    cip_io_close(after);
    assert_int_equal(cip_commit_kind(c, r, text, sizeof text, NULL), CIP_OK);
    assert_string_equal(text, kind);
    cip_err err = CIP_ERR_INIT;
    if (cip_commit_apply(c, r, &err) != CIP_OK)
        fail_msg("%s", err.text);
    cip_commit_end(c);
    assert_file(want, *n);
    assert_nothing_beside();
}

#endif
