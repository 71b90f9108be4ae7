/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of superchunks: which files are patched, made anew, come and go. What the files hold then
 * is read by another program in tests/compat. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "codec/checksum/checksum.h"
#include "format/blz/blz_update.h"
#include "space/change/splice.h"
#include "support/format/blz/blz_update_testing.h"
#include "support/fail_alloc.h"

enum { ROWS = 250, EACH = 20, PER = 4, STORED = 400 };

typedef struct kind {
    bool key, offsets;
    size_t spare;
    bool unset; /* its offsets, as a writer to a pipe leaves them */
} kind;

static const kind usual = { true, true, 40, false };

/* One superchunk: chunks of EACH int64 from `first` on, `n` of them in all, each with a crc32. */
static void put_super(blz_folder *f, uint64_t number, int64_t first, int64_t n, const kind *k)
{
    const cip_blosc_spec spec = {
        .typesize = 8, .level = 5, .blosc1 = true, .filter = { [5] = CIP_BLOSC_SHUFFLE }
    };
    const int64_t nchunk = (n + EACH - 1) / EACH;
    const cip_bp_header h = { .version = 3,
                              .options = k->offsets ? CIP_BP_OFFSETS : 0,
                              .sum = CIP_SUM_CRC32,
                              .typesize = 8,
                              .chunk_size = 8 * EACH,
                              .last_chunk = 8 * (n - (nchunk - 1) * EACH),
                              .nchunk = nchunk };
    uint8_t file[CIP_BP_HEADER + PER * (8 + STORED)] = { 0 }, raw[8 * EACH], sum[CIP_SUM_MAX];
    size_t at = CIP_BP_HEADER + (k->offsets ? 8 * (size_t)nchunk : 0), len;
    cip_mem mem;
    char name[64];
    cip_mem_init(&mem, NULL, 0);
    cip_bp_header_write(&h, file);
    for (int64_t i = 0; i < nchunk; i++) {
        const int64_t rows = i + 1 < nchunk ? EACH : n - i * EACH;
        for (int64_t r = 0; r < rows; r++)
            cip_store_u64(raw + 8 * r, (uint64_t)(first + i * EACH + r), false);
        if (k->offsets)
            cip_store_u64(file + CIP_BP_HEADER + 8 * i, k->unset ? UINT64_MAX : at, false);
        assert_int_equal(cip_blosc_encode(&mem, &spec, (cip_bytes){ raw, 8 * (size_t)rows },
                                          file + at, STORED, &len, NULL),
                         CIP_OK);
        assert_int_equal(cip_sum_of(&mem, CIP_SUM_CRC32, (cip_bytes){ file + at, len }, sum, NULL),
                         CIP_OK);
        cip_bp_digest(CIP_SUM_CRC32, sum, file + at + len);
        at += len + 4 + k->spare;
    }
    snprintf(name, sizeof name, "data/__%" PRIu64 "__.bin", number);
    scratch_write(&f->dir, name, file, at);
}

static void put_folder(blz_folder *f, const kind *k)
{
    blz_start(f);
    blz_mkdir(f, "meta");
    blz_mkdir(f, "data");
    blz_text(f, "meta/storage",
             k->key ? "{\"dtype\": \"<i8\", \"chunklen\": 20, \"dflt\": -7, \"superchunk\": 4}"
                    : "{\"dtype\": \"<i8\", \"chunklen\": 20, \"dflt\": -7}");
    blz_text(f, "meta/sizes", "{\"shape\": [250], \"nbytes\": 2000, \"cbytes\": 1000000}");
    for (int64_t i = 0; i < 4; i++)
        put_super(f, (uint64_t)i + 1, i * PER * EACH, i < 3 ? PER * EACH : ROWS - 3 * PER * EACH,
                  k);
}

static void expect_rows(job *j, uint64_t n)
{
    assert_int_equal(j->layout->array[0]->view.shape[0], n);
    for (uint64_t i = 0; i < n; i++)
        assert_int_equal(value_at(j, 0, i), i);
}

static void what_fits_stays_and_what_does_not_is_a_new_file(void **state)
{
    (void)state;
    static const struct {
        size_t spare;
        uint64_t value;
        const char *changes;
    } row[] = {
        { 300, 1, "patched data/__2__.bin\nlast replaced meta/sizes\n" },
        { 0, 0x7a3b, "replaced data/__2__.bin\nlast replaced meta/sizes\n" },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const kind k = { true, true, row[i].spare, false };
        blz_folder f;
        job j;
        put_folder(&f, &k);
        OK(&j, job_open(&j, &f));
        for (int64_t r = 0; r < EACH; r++) /* that no codec makes small */
            OK(&j,
               put_rows(&j, 0, 85 + r, 1, row[i].value * 0x9e3779b97f4a7c15u * (uint64_t)(r + 3)));
        OK(&j, job_finish(&j));
        assert_string_equal(changes_of(&j), row[i].changes);
        for (uint64_t r = 0; r < ROWS; r++)
            assert_int_equal(
                value_at(&j, 0, r),
                r >= 85 && r < 85 + EACH ? row[i].value * 0x9e3779b97f4a7c15u * (r - 85 + 3) : r);
        job_close(&j);
        blz_end(&f);
    }
}

/* Into the place of two that go, out of the same superchunk and of the next one. */
static void whole_chunks_move_as_they_are_stored(void **state)
{
    (void)state;
    const cip_splice s = { .start = EACH, .removed = 2 * EACH };
    const int64_t rows = ROWS - s.removed;
    blz_folder f;
    job j;
    cip_change_form form;
    put_folder(&f, &usual);
    OK(&j, job_open(&j, &f));
    OK(&j, open_chunks(&j, 0, CIP_CHANGE_SPLICE, &rows, &form));
    OK(&j, cip_chunk_changes_splice(j.c[0], j.f->layout->array[0], &s, &j.err));
    OK(&j, job_finish(&j));
    assert_string_equal(changes_of(&j), "replaced data/__1__.bin\nreplaced data/__2__.bin\n"
                                        "replaced data/__3__.bin\ngone data/__4__.bin\n"
                                        "last replaced meta/sizes\n");
    for (uint64_t r = 0; r < (uint64_t)rows; r++)
        assert_int_equal(value_at(&j, 0, r), r < EACH ? r : r + 2 * EACH);
    for (uint64_t i = 0; i < 10; i++) { /* its last chunk is shorter, and encoded anew or not */
        cip_chunk_now now;
        cip_chunk_changes_at(j.c[0], i, &now);
        assert_int_equal(now.from, i == 0 ? 0 : i + 2);
    }
    job_close(&j);
    blz_end(&f);
}

static void unset_offsets_come_with_a_new_file(void **state)
{
    (void)state;
    const kind k = { .key = true, .offsets = true, .unset = true };
    blz_folder f;
    job j;
    put_folder(&f, &k);
    OK(&j, job_open(&j, &f));
    OK(&j, put_rows(&j, 0, 85, 1, 5));
    OK(&j, job_finish(&j));
    assert_memory_equal(changes_of(&j), "replaced data/__2__.bin\n", 24);
    for (uint64_t r = 0; r < ROWS; r++)
        assert_int_equal(value_at(&j, 0, r), r == 85 ? 5 : r);
    job_close(&j);
    blz_end(&f);
}

static void rows_come_and_go_at_the_end(void **state)
{
    (void)state;
    static const struct {
        kind k;
        int64_t rows;
        const char *changes;
    } row[] = {
        { { true, true, 40, false }, 260, "patched data/__4__.bin\nlast replaced meta/sizes\n" },
        { { true, true, 40, false },
          450,
          "replaced data/__4__.bin\nmade data/__5__.bin\nmade data/__6__.bin\n"
          "last replaced meta/sizes\n" },
        { { false, true, 0, false },
          400,
          "replaced data/__4__.bin\nmade data/__5__.bin\nlast replaced meta/sizes\n" },
        { { true, false, 0, false }, 300, "patched data/__4__.bin\nlast replaced meta/sizes\n" },
        { { true, true, 40, false },
          160,
          "gone data/__3__.bin\ngone data/__4__.bin\nlast replaced meta/sizes\n" },
        { { false, true, 40, false },
          130,
          "replaced data/__2__.bin\ngone data/__3__.bin\ngone data/__4__.bin\n"
          "last replaced meta/sizes\n" },
        { { true, false, 0, false },
          130,
          "patched data/__2__.bin\ngone data/__3__.bin\ngone data/__4__.bin\n"
          "last replaced meta/sizes\n" },
        { { true, true, 40, false },
          0,
          "gone data/__1__.bin\ngone data/__2__.bin\ngone data/__3__.bin\ngone data/__4__.bin\n"
          "last replaced meta/sizes\n" },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        blz_folder f;
        job j;
        put_folder(&f, &row[i].k);
        OK(&j, job_open(&j, &f));
        if (row[i].rows > ROWS)
            OK(&j, put_rows(&j, 0, ROWS, row[i].rows - ROWS, ROWS));
        else
            OK(&j, resize(&j, 0, row[i].rows));
        OK(&j, job_finish(&j));
        assert_string_equal(changes_of(&j), row[i].changes);
        expect_rows(&j, (uint64_t)row[i].rows);
        job_close(&j);
        blz_end(&f);
    }
}

/* Nothing says then how many chunks a superchunk has; one that is left over is no example. */
static void the_first_rows_begin_with_the_first_superchunk(void **state)
{
    (void)state;
    for (int left = 0; left < 2; left++) {
        const kind k = { .offsets = true };
        blz_folder f;
        job j;
        put_folder(&f, &k);
        blz_text(&f, "meta/sizes", "{\"shape\": [0], \"nbytes\": 0, \"cbytes\": 0}");
        for (int i = 1; i <= 4 && !left; i++) {
            char name[32];
            snprintf(name, sizeof name, "data/__%d__.bin", i);
            unlink(scratch_path(&f.dir, name));
        }
        OK(&j, job_open(&j, &f));
        OK(&j, put_rows(&j, 0, 0, 130, 0));
        OK(&j, job_finish(&j));
        assert_string_equal(changes_of(&j),
                            left ? "replaced data/__1__.bin\ngone data/__2__.bin\n"
                                   "gone data/__3__.bin\ngone data/__4__.bin\n"
                                   "last replaced meta/sizes\n"
                                 : "made data/__1__.bin\nlast replaced meta/sizes\n");
        expect_rows(&j, 130);
        job_close(&j);
        blz_end(&f);
    }
}

static void new_rows_are_what_dflt_says_unless_none_were_asked_for(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    cip_change_form form;
    put_folder(&f, &usual);
    OK(&j, job_open(&j, &f));
    int64_t shape = 300;
    OK(&j, open_chunks(&j, 0, CIP_CHANGE_SHAPE, &shape, &form));
    assert_int_equal((int64_t)cip_load_u64(form.fill, false), -7);
    shape = 200;
    OK(&j, open_chunks(&j, 0, CIP_CHANGE_SHAPE, &shape, &form));
    assert_null(form.fill);
    shape = 210; /* rows that were cut off are not what they were */
    OK(&j, open_chunks(&j, 0, CIP_CHANGE_SHAPE, &shape, &form));
    assert_non_null(form.fill);
    job_close(&j);
    blz_end(&f);
}

static void a_missing_superchunk_refuses_only_what_needs_it(void **state)
{
    (void)state;
    blz_folder f;
    job j;
    put_folder(&f, &usual);
    unlink(scratch_path(&f.dir, "data/__2__.bin"));
    OK(&j, job_open(&j, &f));
    OK(&j, put_rows(&j, 0, 10, 3, 10));
    assert_refused(&j, put_rows(&j, 0, 100, 1, 100), CIP_ERR_NOT_FOUND, "no known folder");
    OK(&j, job_finish(&j));
    job_close(&j);
    blz_end(&f);
}

/* Rows behind a chunk of more rows than others have would lie where nobody looks for them. */
static void a_chunk_that_is_too_long_refuses_rows_behind_it(void **state)
{
    (void)state;
    const kind k = { .offsets = true };
    uint8_t sizes[8];
    blz_folder f;
    job j;
    put_folder(&f, &k);
    put_super(&f, 4, 3 * PER * EACH, EACH, &k);
    blz_text(&f, "meta/sizes", "{\"shape\": [260], \"nbytes\": 2080, \"cbytes\": 1000000}");
    cip_store_u32(sizes, 8 * EACH + 3, false);
    cip_store_u32(sizes + 4, 8 * EACH + 3, false);
    FILE *file = fopen(scratch_path(&f.dir, "data/__4__.bin"), "r+b");
    assert_non_null(file);
    assert_int_equal(fseek(file, 8, SEEK_SET), 0); /* chunk_size and last_chunk */
    assert_int_equal(fwrite(sizes, 1, sizeof sizes, file), sizeof sizes);
    assert_int_equal(fclose(file), 0);
    OK(&j, job_open(&j, &f));
    assert_refused(&j, put_rows(&j, 0, 260, 5, 260), CIP_ERR_UNSUPPORTED,
                   "expected chunks of at most 160 bytes to change, found one of 163 that begins "
                   "with row 240");
    job_close(&j);
    blz_end(&f);
}

static cip_status some_update(job *j)
{
    CIP_TRY(put_rows(j, 0, 5, 100, 5));
    CIP_TRY(put_rows(j, 0, ROWS, 200, ROWS));
    CIP_TRY(resize(j, 0, 430));
    return job_plan(j);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static const cip_spec as_it_is = { .big = -1 };
    blz_folder f;
    put_folder(&f, &usual);
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = 0 };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        job j;
        OK(&j, job_open_as(&j, &f, &as_it_is, &from));
        alloc.fail_at = alloc.requests + n;
        cip_status st = some_update(&j);
        job_close(&j);
        assert_int_equal(alloc.held, 0);
        if (alloc.requests < alloc.fail_at) {
            assert_int_equal(st, CIP_OK);
            break;
        }
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
    }
    blz_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_stays_and_what_does_not_is_a_new_file),
        cmocka_unit_test(whole_chunks_move_as_they_are_stored),
        cmocka_unit_test(unset_offsets_come_with_a_new_file),
        cmocka_unit_test(rows_come_and_go_at_the_end),
        cmocka_unit_test(the_first_rows_begin_with_the_first_superchunk),
        cmocka_unit_test(new_rows_are_what_dflt_says_unless_none_were_asked_for),
        cmocka_unit_test(a_missing_superchunk_refuses_only_what_needs_it),
        cmocka_unit_test(a_chunk_that_is_too_long_refuses_rows_behind_it),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
