/* SPDX-License-Identifier: BSD-3-Clause
 * Every cut and every changed byte of short frames of other kinds: an array in chunks and blocks, a
 * sparse frame and a file of it, chunks of lengths of their own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blosc2/blosc2_every_testing.h"

static void an_array_in_blocks(void **state)
{
    (void)state;
    static const int64_t shape[] = { 3, 3 }, chunk[] = { 2, 3 }, block[] = { 1, 2 };
    uint8_t nd[128];
    b2_make m = { .typesize = 1, .chunksize = 8, .nchunk = 2, .short_heads = true };
    m.meta_name[0] = "b2nd";
    m.meta[0] = nd;
    m.meta_len[0] = b2_nd_meta(nd, 2, shape, chunk, block, "|u1");
    b2_bytes b = b2_build(&m);
    b2_damage(b2_try_frame, NULL, b.ptr, b.len);
    free(b.ptr);
}

static void chunks_of_their_own_lengths(void **state)
{
    (void)state;
    const b2_make m = { .typesize = 2, .nchunk = 2, .version = 3, .short_heads = true };
    b2_bytes b = b2_build(&m);
    b2_damage(b2_try_frame, NULL, b.ptr, b.len);
    free(b.ptr);
}

/* A sparse frame of one file: one of the two is damaged. */
typedef struct folder {
    b2_bytes index, file;
} folder;

static bool file_of(void *user, uint32_t number, cip_bytes *out)
{
    const cip_bytes *file = user;
    *out = *file;
    return number == 0;
}

static cip_status try_folder(cip_bytes index, cip_bytes file)
{
    cip_env env;
    cip_layout *l = NULL;
    b2_folder f = { .index = index, .file = file_of, .user = &file };
    assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
    assert_int_equal(cip_layout_new(&env, b2_folder_init(&f, &env), &l, NULL), CIP_OK);
    cip_status st = cip_format_blosc2.open(l, NULL);
    if (st == CIP_OK)
        st = b2_use(l, NULL);
    cip_layout_free(l);
    cip_env_clear(&env);
    return st;
}

static uint8_t *exactly(const uint8_t *p, size_t n)
{
    uint8_t *copy = malloc(n != 0 ? n : 1);
    assert_non_null(copy);
    memcpy(copy, p, n);
    return copy;
}

static cip_status try_index(void *user, const uint8_t *p, size_t n)
{
    const folder *f = user;
    uint8_t *copy = exactly(p, n);
    cip_status st = try_folder((cip_bytes){ copy, n }, (cip_bytes){ f->file.ptr, f->file.len });
    free(copy);
    return st;
}

static cip_status try_file(void *user, const uint8_t *p, size_t n)
{
    const folder *f = user;
    uint8_t *copy = exactly(p, n);
    cip_status st = try_folder((cip_bytes){ f->index.ptr, f->index.len }, (cip_bytes){ copy, n });
    free(copy);
    return st;
}

static void a_sparse_frame(void **state)
{
    (void)state;
    const b2_make m = {
        .typesize = 1, .chunksize = 2, .nchunk = 1, .sparse = true, .short_heads = true
    };
    folder f = { b2_build(&m), b2_chunk_file(&m, 0) };
    b2_damage(try_index, &f, f.index.ptr, f.index.len);
    b2_damage(try_file, &f, f.file.ptr, f.file.len);
    free(f.index.ptr);
    free(f.file.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_in_blocks),
        cmocka_unit_test(chunks_of_their_own_lengths),
        cmocka_unit_test(a_sparse_frame),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
