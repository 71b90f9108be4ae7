/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>

#include "io/lock_file.h"
#include "support/format/blosc2/b2_testing.h"
#include "support/one_format.h"
#include "support/temp_folder.h"

enum { NCHUNK = 5 };
static const b2_make sparse = {
    .typesize = 4, .chunksize = 40, .nchunk = NCHUNK, .last = 20, .sparse = true
};

/* A frame in a real folder; chunk i lies in the file of number NCHUNK - 1 - i. */
typedef struct on_disk {
    scratch dir;
    cip_env env;
    cip_io *io;
    cip_layout *layout;
    cip_err err;
} on_disk;

static const char *chunk_name(uint32_t number)
{
    static char name[32];
    snprintf(name, sizeof name, "%08X.chunk", number);
    return name;
}

static void write_frame(on_disk *d, const b2_make *m)
{
    b2_bytes index = b2_build(m);
    memset(d, 0, sizeof *d);
    assert_true(scratch_open(&d->dir));
    scratch_write(&d->dir, "chunks.b2frame", index.ptr, index.len);
    free(index.ptr);
    for (uint32_t i = 0; i < m->nchunk; i++) {
        b2_bytes b = b2_chunk_file(m, i);
        scratch_write(&d->dir, chunk_name(m->nchunk - 1 - i), b.ptr, b.len);
        free(b.ptr);
    }
}

static cip_status open_disk(on_disk *d, const char *path)
{
    assert_int_equal(cip_env_init(&d->env, NULL, NULL, NULL, NULL), CIP_OK);
    CIP_TRY(cip_io_open_path(&d->env, path, &d->io, &d->err));
    CIP_TRY(cip_layout_new(&d->env, d->io, &d->layout, &d->err));
    return cip_format_blosc2.open(d->layout, &d->err);
}

static void close_disk(on_disk *d)
{
    cip_layout_free(d->layout);
    cip_io_close(d->io);
    cip_env_clear(&d->env);
    d->layout = NULL;
    d->io = NULL;
}

static cip_status read_chunk(on_disk *d, uint64_t i)
{
    uint8_t got[40], want[40];
    const cip_read_how how = { d->layout, NULL };
    size_t n = i + 1 == NCHUNK ? 20 : 40;
    CIP_TRY(cip_space_read_at(&how, d->layout->array[0]->space, i * 40, got, n, &d->err));
    b2_pattern(i * 40, want, n);
    assert_memory_equal(got, want, n);
    return CIP_OK;
}

static void a_folder_with_a_sparse_frame_is_a_file(void **state)
{
    (void)state;
    on_disk d;
    write_frame(&d, &sparse);
    scratch_write(&d.dir, "unrelated", "x", 1);
    assert_int_equal(open_disk(&d, d.dir.dir), CIP_OK);
    assert_int_equal(cip_format_blosc2.probe(d.io, (cip_bytes){ NULL, 0 }), 100);
    assert_string_equal(cip_storage_text(&d.layout->array[0]->storage), "sparse");
    assert_true(d.layout->beside > NCHUNK * 40);
    for (uint64_t i = NCHUNK; i-- > 0;)
        assert_int_equal(read_chunk(&d, i), CIP_OK);
    close_disk(&d);
    /* its index alone does as well */
    assert_int_equal(open_disk(&d, scratch_path(&d.dir, "chunks.b2frame")), CIP_OK);
    assert_int_equal(read_chunk(&d, 3), CIP_OK);
    close_disk(&d);
    scratch_close(&d.dir);
}

static void chunks_that_are_not_there_cost_themselves_alone(void **state)
{
    (void)state;
    on_disk d;
    write_frame(&d, &sparse);
    unlink(scratch_path(&d.dir, chunk_name(NCHUNK - 1 - 1)));
    scratch_write(&d.dir, chunk_name(NCHUNK - 1 - 2), "", 0);
    scratch_write(&d.dir, chunk_name(NCHUNK - 1 - 3), "short", 5);
    assert_int_equal(open_disk(&d, d.dir.dir), CIP_OK);
    assert_int_equal(read_chunk(&d, 0), CIP_OK);
    assert_int_equal(read_chunk(&d, 1), CIP_ERR_NOT_FOUND);
    assert_int_equal(read_chunk(&d, 2), CIP_ERR_NOT_FOUND);
    assert_int_equal(read_chunk(&d, 3), CIP_ERR_TRUNCATED);
    assert_int_equal(read_chunk(&d, 4), CIP_OK);
    close_disk(&d);
    scratch_close(&d.dir);
}

/* Another program counts a change in its lock file and begins to write a chunk: what is read is
 * BUSY, whether the chunk's file is empty, cut or not there. */
static void a_chunk_that_another_program_writes_is_not_missing(void **state)
{
    (void)state;
    on_disk d;
    cip_lock_file lock;
    write_frame(&d, &sparse);
    const char *name = scratch_write(&d.dir, ".b2lock", "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
    assert_int_equal(open_disk(&d, d.dir.dir), CIP_OK);
    assert_int_equal(cip_lock_file_open(AT_FDCWD, name, true, &lock, &d.err), CIP_OK);
    cip_lock_file_note(&lock);
    assert_int_equal(cip_io_watch(d.io, &lock, &d.err), CIP_OK);
    scratch_write(&d.dir, chunk_name(NCHUNK - 1 - 1), "", 0);
    assert_int_equal(read_chunk(&d, 1), CIP_ERR_NOT_FOUND); /* empty, and nobody writes */
    assert_int_equal(cip_lock_file_count(&lock, &d.err), CIP_OK);
    unlink(scratch_path(&d.dir, chunk_name(NCHUNK - 1 - 2)));
    scratch_write(&d.dir, chunk_name(NCHUNK - 1 - 3), "short", 5);
    for (uint64_t i = 1; i < 4; i++)
        assert_int_equal(read_chunk(&d, i), CIP_ERR_BUSY);
    close_disk(&d);
    scratch_close(&d.dir);
}

static void a_link_out_of_the_folder_is_refused(void **state)
{
    (void)state;
    on_disk d;
    char outside[300];
    write_frame(&d, &sparse);
    b2_bytes b = b2_chunk_file(&sparse, 1);
    const char *name = scratch_path(&d.dir, chunk_name(NCHUNK - 1 - 1));
    snprintf(outside, sizeof outside, "%s.outside", d.dir.dir);
    unlink(name);
    FILE *f = fopen(outside, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(b.ptr, 1, b.len, f), b.len);
    fclose(f);
    free(b.ptr);
    assert_int_equal(symlink(outside, name), 0);
    assert_int_equal(open_disk(&d, d.dir.dir), CIP_OK);
    assert_int_equal(read_chunk(&d, 1), CIP_ERR_CORRUPT);
    d.layout->flags |= CIP_OPEN_EXTERNAL; /* too late: what opening saw counts */
    assert_int_equal(read_chunk(&d, 1), CIP_ERR_CORRUPT);
    close_disk(&d);
    unlink(outside);
    scratch_close(&d.dir);
}

static void a_folder_without_an_index_is_none_of_ours(void **state)
{
    (void)state;
    on_disk d;
    write_frame(&d, &sparse);
    unlink(scratch_path(&d.dir, "chunks.b2frame"));
    assert_int_equal(open_disk(&d, d.dir.dir), CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_format_blosc2.probe(d.io, (cip_bytes){ NULL, 0 }), 0);
    close_disk(&d);
    b2_make m = sparse;
    m.sparse = false; /* a contiguous frame where an index belongs */
    b2_bytes index = b2_build(&m);
    scratch_write(&d.dir, "chunks.b2frame", index.ptr, index.len);
    free(index.ptr);
    assert_int_equal(open_disk(&d, d.dir.dir), CIP_ERR_CORRUPT);
    close_disk(&d);
    scratch_close(&d.dir);
}

static int count_bad(void *user, const cip_finding *f)
{
    *(size_t *)user += f->severity == CIP_BAD;
    return 0;
}

static void two_chunks_in_one_file_are_found(void **state)
{
    (void)state;
    on_disk d;
    cip_report rep;
    size_t bad = 0;
    write_frame(&d, &sparse);
    b2_bytes index = b2_build(&sparse);
    index.ptr[index.len - 35 - 8 * 2] = NCHUNK - 1; /* chunk 3 in the file of chunk 0 */
    scratch_write(&d.dir, "chunks.b2frame", index.ptr, index.len);
    assert_int_equal(open_disk(&d, d.dir.dir), CIP_OK);
    cip_report_init(&rep, &d.env.mem, false, count_bad, &bad);
    assert_int_equal(cip_format_blosc2.verify(d.layout, false, &rep, NULL), CIP_OK);
    assert_int_equal(bad, 1);
    cip_report_clear(&rep);
    close_disk(&d);
    index.ptr[index.len - 35 - 8 * 2 + 3] = 0x80; /* no file has so high a number */
    scratch_write(&d.dir, "chunks.b2frame", index.ptr, index.len);
    assert_int_equal(open_disk(&d, d.dir.dir), CIP_OK);
    assert_int_equal(read_chunk(&d, 3), CIP_ERR_CORRUPT);
    assert_non_null(strstr(d.err.text, "number of a chunk file"));
    close_disk(&d);
    free(index.ptr);
    scratch_close(&d.dir);
}

/* --- in memory -------------------------------------------------------------------------------- */

static bool file_of(void *user, uint32_t number, cip_bytes *out)
{
    b2_bytes *file = user;
    if (number >= NCHUNK)
        return false;
    *out = (cip_bytes){ file[number].ptr, file[number].len };
    return true;
}

static void every_changed_byte_of_the_index_is_survived(void **state)
{
    (void)state;
    b2_bytes file[NCHUNK], index = b2_build(&sparse);
    for (uint32_t i = 0; i < NCHUNK; i++)
        file[NCHUNK - 1 - i] = b2_chunk_file(&sparse, i);
    for (size_t at = 0; at <= index.len; at++) {
        cip_env env;
        cip_layout *l;
        uint8_t got[180];
        b2_folder folder = { .index = { index.ptr, index.len }, .file = file_of, .user = file };
        uint8_t was = at < index.len ? index.ptr[at] : 0;
        if (at < index.len)
            index.ptr[at] ^= 0xff;
        assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
        assert_int_equal(cip_layout_new(&env, b2_folder_init(&folder, &env), &l, NULL), CIP_OK);
        cip_status st = cip_format_blosc2.open(l, NULL);
        const cip_read_how how = { l, NULL };
        if (st == CIP_OK && l->array[0]->space->len == sizeof got)
            st = cip_space_read_at(&how, l->array[0]->space, 0, got, sizeof got, NULL);
        assert_true(at < index.len || st == CIP_OK);
        cip_layout_free(l);
        cip_env_clear(&env);
        if (at < index.len)
            index.ptr[at] = was;
    }
    for (uint32_t i = 0; i < NCHUNK; i++)
        free(file[i].ptr);
    free(index.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_folder_with_a_sparse_frame_is_a_file),
        cmocka_unit_test(chunks_that_are_not_there_cost_themselves_alone),
        cmocka_unit_test(a_chunk_that_another_program_writes_is_not_missing),
        cmocka_unit_test(a_link_out_of_the_folder_is_refused),
        cmocka_unit_test(two_chunks_in_one_file_are_found),
        cmocka_unit_test(a_folder_without_an_index_is_none_of_ours),
        cmocka_unit_test(every_changed_byte_of_the_index_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
