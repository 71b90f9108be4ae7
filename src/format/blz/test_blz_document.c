/* SPDX-License-Identifier: BSD-3-Clause
 * Superchunks, of the sample that tests/compat/blz_document.py made. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/pool.h"
#include "support/format/blz/blz_testing.h"
#include "support/fail_alloc.h"

static cip_status read_record(blz_folder *f, uint64_t i)
{
    const cip_read_how how = { f->layout, NULL };
    uint8_t got[8];
    CIP_TRY(cip_space_read_at(&how, f->layout->array[0]->space, 8 * i, got, 8, &f->err));
    float depth;
    uint32_t bits = cip_load_u32(got, false);
    memcpy(&depth, &bits, sizeof depth);
    assert_true(depth == (float)i / 4);
    assert_int_equal(cip_load_u16(got + 4, false), 3 * i);
    assert_int_equal((int16_t)cip_load_u16(got + 6, true), 100 - (int64_t)i);
    return CIP_OK;
}

static void records_are_put_together_of_their_fields(void **state)
{
    (void)state;
    blz_folder f;
    blz_start_wells(&f);
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_string_equal(f.layout->version, "document");
    assert_int_equal(f.layout->narray, 1);
    for (uint64_t i = 60; i-- > 0;)
        assert_int_equal(read_record(&f, i), CIP_OK);
    blz_findings b = blz_verify(&f);
    assert_string_equal(b.text, "");
    assert_int_equal(f.layout->list_blocks(f.layout, &f.err), CIP_OK);
    assert_int_equal(f.layout->nblock, 18);
    assert_string_equal(f.layout->block[17].info.member, "data/site/y/__2__.bin");
    assert_string_equal(f.layout->block[17].info.checksum, "crc32");
    blz_end(&f);
}

static cip_status read_far_apart(void *arg, size_t i, cip_err *err)
{
    const cip_layout *l = arg;
    const cip_read_how how = { (cip_layout *)l, NULL };
    uint8_t got[8];
    CIP_TRY(cip_space_read_at(&how, l->array[0]->space, 8 * (i * 37 % 60), got, 8, err));
    return cip_load_u16(got + 4, false) == 3 * (i * 37 % 60) ? CIP_OK : CIP_ERR_CORRUPT;
}

/* With the number of chunks in meta/storage, and without. */
static void many_threads_may_read(void **state)
{
    (void)state;
    cip_pool *pool;
    assert_int_equal(cip_pool_new(4, &pool, NULL), CIP_OK);
    for (int key = 0; key < 2; key++) {
        blz_folder f;
        blz_start_wells(&f);
        if (key == 0)
            blz_text(&f, "meta/storage",
                     "{\"dtype\": [[\"depth\", \"<f4\"], [\"site\", [[\"x\", \"<i2\"], [\"y\", "
                     "\">i2\"]]]], \"chunklen\": 10}");
        assert_int_equal(blz_open(&f), CIP_OK);
        assert_int_equal(cip_pool_run(pool, 600, read_far_apart, f.layout, NULL), CIP_OK);
        blz_end(&f);
    }
    cip_pool_free(pool);
}

static void a_missing_file_costs_its_rows(void **state)
{
    (void)state;
    blz_folder f;
    blz_start_wells(&f);
    unlink(scratch_path(&f.dir, "data/site/x/__1__.bin"));
    assert_int_equal(blz_open(&f), CIP_OK);
    assert_int_equal(read_record(&f, 39), CIP_ERR_NOT_FOUND);
    assert_int_equal(read_record(&f, 40), CIP_OK);
    assert_non_null(strstr(blz_verify(&f).text, "data/site/x/: rows 0 to 39 are missing"));
    blz_end(&f);
}

/* Two chunks where four are: the third begins just where the file ends. */
static void a_superchunk_that_ends_early_costs_the_rows_after_it(void **state)
{
    (void)state;
    blz_folder f;
    char first[4200];
    blz_start_wells(&f);
    snprintf(first, sizeof first, "%s", scratch_path(&f.dir, "data/depth/__1__.bin"));
    assert_int_equal(rename(scratch_path(&f.dir, "data/depth/__2__.bin"), first), 0);
    blz_copy_well(&f, "data/depth/__2__.bin");
    assert_int_equal(blz_open(&f), CIP_OK);
    const cip_read_how how = { f.layout, NULL };
    for (uint64_t i = 20; i < 40; i += 19) {
        uint8_t got[8];
        const cip_status st =
            cip_space_read_at(&how, f.layout->array[0]->space, 8 * i, got, 8, &f.err);
        assert_int_equal(st, CIP_ERR_NOT_FOUND);
        assert_non_null(strstr(f.err.text, "the data end before the number of rows"));
    }
    assert_int_equal(read_record(&f, 40), CIP_OK);
    blz_end(&f);
}

static void every_byte_of_a_superchunk_is_survived(void **state)
{
    (void)state;
    blz_folder f;
    blz_start_wells(&f);
    for (off_t at = 0; at < 120; at++) {
        blz_copy_well(&f, "data/depth/__1__.bin");
        int fd = open(scratch_path(&f.dir, "data/depth/__1__.bin"), O_WRONLY);
        assert_int_equal(pwrite(fd, "\xfe", 1, at), 1);
        close(fd);
        assert_int_equal(blz_open(&f), CIP_OK);
        const cip_read_how how = { f.layout, NULL };
        uint8_t got[60 * 8];
        cip_space_read_at(&how, f.layout->array[0]->space, 0, got, sizeof got, &f.err);
        assert_int_equal(read_record(&f, 41), CIP_OK);
        blz_verify(&f);
        blz_close(&f);
    }
    blz_end(&f);
}

static void metadata_that_lie_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *text;
        cip_status st;
    } row[] = {
        { "meta/storage", "{\"dtype\": \"<f8\", \"chunklen\": 10, \"superchunk\": 0}",
          CIP_ERR_CORRUPT },
        { "meta/storage", "{\"dtype\": \"<f8\", \"chunklen\": 10, \"superchunk\": \"x\"}",
          CIP_ERR_CORRUPT },
        { "meta/shards", "{}", CIP_ERR_CORRUPT },
        { "meta/shards", "[1]", CIP_ERR_CORRUPT },
        { "meta/shards", "[\"/etc\"]", CIP_ERR_CORRUPT },
        { "meta/shards", "[\"a/../..\"]", CIP_ERR_CORRUPT },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        blz_folder f;
        blz_start_wells(&f);
        blz_text(&f, row[i].name, row[i].text);
        assert_int_equal(blz_open(&f), row[i].st);
        blz_end(&f);
    }
}

/* Which form a folder has is told by names that are there or not: memory that was lacking then must
 * not be taken for a name that is not there. */
static void failing_allocations_do_not_change_the_form(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        static const char *const version[] = { "document", "bcolz", "bcolz" };
        blz_folder f;
        if (kind == 0) {
            blz_start_wells(&f);
        } else if (kind == 1) {
            blz_start(&f);
            blz_array_at(&f, "");
        } else {
            blz_start_table(&f, "{\"names\": [\"a\", \"b\"]}");
        }
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = 0 };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            f.err = (cip_err)CIP_ERR_INIT;
            assert_int_equal(cip_env_init(&f.env, NULL, &from, NULL, NULL), CIP_OK);
            assert_int_equal(cip_io_open_path(&f.env, f.dir.dir, &f.io, &f.err), CIP_OK);
            assert_int_equal(cip_layout_new(&f.env, f.io, &f.layout, &f.err), CIP_OK);
            alloc.fail_at = alloc.requests + n;
            cip_status st = cip_format_blz.open(f.layout, &f.err);
            if (st == CIP_OK)
                assert_string_equal(f.layout->version, version[kind]);
            else
                assert_int_equal(st, CIP_ERR_NOMEM);
            const bool ended = alloc.requests < alloc.fail_at;
            blz_close(&f);
            assert_int_equal(alloc.held, 0);
            if (ended)
                break;
        }
        blz_end(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_put_together_of_their_fields),
        cmocka_unit_test(many_threads_may_read),
        cmocka_unit_test(a_missing_file_costs_its_rows),
        cmocka_unit_test(a_superchunk_that_ends_early_costs_the_rows_after_it),
        cmocka_unit_test(every_byte_of_a_superchunk_is_survived),
        cmocka_unit_test(metadata_that_lie_are_refused),
        cmocka_unit_test(failing_allocations_do_not_change_the_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
