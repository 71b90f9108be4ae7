/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of sparse frames: what their header says of the chunk files that are left, and what a
 * defrag does when memory is short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/endian.h"
#include "base/err.h"
#include "cippus/cippus.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/temp_folder.h"

/* Chunks of two elements, stored as they are. */
enum { CHUNKS = 61, ELEMENTS = 2 * CHUNKS, STORED = 32 + 8, AT_CBYTES = 0x27 };

static scratch dir;
static char path[300];

static int setup(void **state)
{
    (void)state;
    return scratch_open(&dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&dir);
    return 0;
}

static void ok(cip_status st, const cip_err *err)
{
    if (st != CIP_OK)
        fail_msg("%s", err->text);
}

static void make(const char *name)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    int32_t v[ELEMENTS];
    const int64_t shape[] = { ELEMENTS };
    static const char *const how[] = { "sparse=yes", "chunks=2", "blocks=2", NULL };
    snprintf(path, sizeof path, "%s", scratch_path(&dir, name));
    for (int i = 0; i < ELEMENTS; i++)
        v[i] = 7 + i * 1000003;
    const cip_change_options o = { .size = sizeof o,
                                   .format = "blosc2",
                                   .codec = "blosclz",
                                   .format_options = how,
                                   .level = CIP_LEVEL_PROCESS };
    ok(cip_create(path, &o, &w, &err), &err);
    ok(cip_change_put(w, "", cip_dtype_of(CIP_I32), 1, shape, v, NULL, &err), &err);
    ok(cip_change_commit(&w, &err), &err);
}

static cip_change *begin(void)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *e;
    const cip_change_options o = { .size = sizeof o, .level = CIP_LEVEL_PROCESS };
    ok(cip_change_open(path, &o, &e, &err), &err);
    return e;
}

static void delete (int64_t start, int64_t count)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *e = begin();
    ok(cip_change_delete(e, "", 0, start, count, &err), &err);
    ok(cip_change_commit(&e, &err), &err);
}

static void put_last(int32_t value)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *e = begin();
    ok(cip_change_write(e, "", "[-1]", cip_dtype_as_stored(), &value, sizeof value, &err), &err);
    ok(cip_change_commit(&e, &err), &err);
}

static FILE *index_file(const char *mode)
{
    char name[340];
    snprintf(name, sizeof name, "%s/chunks.b2frame", path);
    FILE *f = fopen(name, mode);
    assert_non_null(f);
    return f;
}

static uint64_t stated(void)
{
    uint8_t at[8];
    FILE *f = index_file("rb");
    assert_int_equal(fseek(f, AT_CBYTES, SEEK_SET), 0);
    assert_int_equal(fread(at, 1, sizeof at, f), sizeof at);
    fclose(f);
    return cip_load_u64(at, true);
}

/* Chunk 1 is read from chunk 2's file, which an update of chunk 2 would remove. */
static void chunk_files_that_are_links_keep_frames_from_updates(void **state)
{
    (void)state;
    NEEDS_OPENAT2();
    char link[360];
    int32_t value = 1, kept[2];
    cip_err err = CIP_ERR_INIT;
    make("links");
    snprintf(link, sizeof link, "%s/00000001.chunk", path);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink("00000002.chunk", link), 0);
    cip_change *e = begin();
    ok(cip_change_write(e, "", "[4]", cip_dtype_as_stored(), &value, sizeof value, &err), &err);
    assert_int_equal(cip_change_commit(&e, &err), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "'00000001.chunk' is a symbolic link"));
    e = begin();
    cip_err_clear(&err);
    assert_int_equal(cip_change_defrag(e, NULL, NULL, &err), CIP_ERR_UNSUPPORTED);
    cip_change_abort(&e);
    cip_err_clear(&err);
    cip_file *f;
    ok(cip_open(path, NULL, &f, &err), &err);
    ok(cip_read(cip_file_array(f, 0), "[2:4]", cip_dtype_of(CIP_I32), kept, sizeof kept, &err),
       &err);
    assert_int_equal(kept[0], 7 + 4 * 1000003);
    cip_file_close(f);
}

/* libblosc2 opens no frame with a number that is not 32 below what the header says. */
static void chunk_files_are_counted_when_large_numbers_go(void **state)
{
    (void)state;
    make("large");
    assert_int_equal(stated(), CHUNKS * STORED);
    delete (0, 2);
    delete (2, ELEMENTS - 6); /* the second and the last chunk are left */
    assert_int_equal(stated(), CHUNKS - 1 + 32);
    put_last(5); /* which gets the number 0 */
    assert_int_equal(stated(), 2 * STORED);
}

/* The file anew, with an index of three numbers as they are; `cbytes` in the header. */
static void name_chunks(const uint64_t number[3], uint64_t cbytes)
{
    enum { TRAILER = 35, INDEX = 32 + 3 * 8 };
    uint8_t old[512], new[512] = { 0 };
    FILE *f = index_file("rb");
    const size_t n = fread(old, 1, sizeof old, f), header = cip_load_u32(old + 0x0B, true);
    fclose(f);
    uint8_t *index = new + header;
    memcpy(new, old, header);
    cip_store_u64(new + 0x10, header + INDEX + TRAILER, true);
    cip_store_u64(new + AT_CBYTES, cbytes, true);
    memcpy(index, (const uint8_t[]){ 5, 1, 7, 8 }, 4);
    cip_store_u32(index + 4, 24, false);
    cip_store_u32(index + 8, 24, false);
    cip_store_u32(index + 12, INDEX, false);
    for (int i = 0; i < 3; i++)
        cip_store_u64(index + 32 + 8 * i, number[i], false);
    memcpy(index + INDEX, old + n - TRAILER, TRAILER);
    f = index_file("wb");
    assert_int_equal(fwrite(new, 1, header + INDEX + TRAILER, f), header + INDEX + TRAILER);
    fclose(f);
}

static void a_chunk_file_that_is_named_twice_counts_once(void **state)
{
    (void)state;
    make("twice");
    delete (0, 2);
    delete (4, ELEMENTS - 8); /* 1, 2 and the last one are left */
    assert_int_equal(stated(), 3 * STORED);
    name_chunks((const uint64_t[]){ 1, 1, CHUNKS - 1 }, CHUNKS - 1 + 32);
    put_last(5);
    assert_int_equal(stated(), 2 * STORED);
}

/* Of files that no index names, as many as need memory of their own. */
enum { ORPHANS = 130, FIRST = 0x1000 };

static const char *orphan(int i)
{
    static char name[340];
    snprintf(name, sizeof name, "%s/%08X.chunk", path, (unsigned)(FIRST + i));
    return name;
}

static void make_orphans(void)
{
    for (int i = 0; i < ORPHANS; i++) {
        FILE *f = fopen(orphan(i), "wb");
        assert_non_null(f);
        fclose(f);
    }
}

static int orphans(void)
{
    int n = 0;
    for (int i = 0; i < ORPHANS; i++)
        n += access(orphan(i), F_OK) == 0;
    return n;
}

static cip_status defrag(const cip_allocator *from)
{
    cip_change *e;
    const cip_open_options open = { .size = sizeof open, .allocator = from, .threads = 1 };
    const cip_change_options o = { .size = sizeof o, .level = CIP_LEVEL_PROCESS, .open = &open };
    CIP_TRY(cip_change_open(path, &o, &e, NULL));
    cip_status st = cip_change_defrag(e, NULL, NULL, NULL);
    if (st == CIP_OK)
        return cip_change_commit(&e, NULL);
    cip_change_abort(&e);
    return st;
}

static void a_defrag_drops_all_files_or_none(void **state)
{
    (void)state;
    fail_alloc a = { .requests = 1 };
    make("defrag");
    for (size_t n = 1; a.requests >= a.fail_at; n++) {
        a = (fail_alloc){ .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &a };
        if (orphans() == 0)
            make_orphans();
        const cip_status st = defrag(&from);
        const int left = orphans();
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM || st == CIP_ERR_UNSUPPORTED); /* unknown */
        assert_true(left == 0 || (left == ORPHANS && st != CIP_OK));
        assert_int_equal(a.held, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunk_files_that_are_links_keep_frames_from_updates),
        cmocka_unit_test(chunk_files_are_counted_when_large_numbers_go),
        cmocka_unit_test(a_chunk_file_that_is_named_twice_counts_once),
        cmocka_unit_test(a_defrag_drops_all_files_or_none),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
