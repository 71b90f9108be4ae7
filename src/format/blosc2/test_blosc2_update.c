/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of frames: which bytes change, what is in them then, what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blosc2/b2_update_testing.h"
#include "support/fail_alloc.h"

enum { RAW = 1 << 16 };

static bool yes(void *user)
{
    (void)user;
    return true;
}

static bool no(void *user)
{
    (void)user;
    return false;
}

static cip_status job_form(job *j, cip_change_kind kind)
{
    cip_change_form form = { .fill = NULL };
    const cip_array *a = j->f.layout->array[0];
    CIP_TRY(cip_b2_store.form(j->u, a, kind, NULL, &form, &j->err));
    return cip_chunk_changes_new(a, &form.form, j->temporary, &j->c, &j->err);
}

/* Rows [first, first + n) become others: those behind the end are new. */
static cip_status put_rows(job *j, uint8_t *raw, int64_t first, int64_t n)
{
    const cip_array *a = j->f.layout->array[0];
    const int64_t row = a->view.stride[0], end = first + n;
    one_bytes b = { raw + first * row, (size_t)a->view.itemsize };
    const cip_feed feed = { .next = one_next, .self = &b };
    cip_nd at = a->view;
    int64_t shape[CIP_MAX_NDIM];
    for (int64_t i = first * row; i < end * row; i++)
        raw[i] = (uint8_t)(raw[i] + i % 5 + 1);
    at.off += (uint64_t)(first * row);
    at.shape[0] = n;
    if (end <= a->view.shape[0])
        return cip_chunk_changes_write(j->c, &at, &feed, &j->err);
    memcpy(shape, a->view.shape, sizeof shape);
    shape[0] = end;
    return cip_chunk_changes_resize(j->c, a, shape, &at, &feed, &j->err);
}

/* What the file is read as. */
static void read_all(cip_io *io, uint8_t *raw, size_t n)
{
    one_file f;
    size_t len;
    uint8_t *bytes = malloc((size_t)io->size);
    cip_report report;
    one_output found = { 0 };
    assert_int_equal(cip_io_read(io, 0, bytes, (size_t)io->size, NULL), CIP_OK);
    assert_int_equal(one_open(&f, &cip_format_blosc2, bytes, (size_t)io->size, 0, NULL), CIP_OK);
    uint8_t *back = one_read(&f, 0, &len);
    assert_int_equal(len, n);
    memcpy(raw, back, n);
    cip_report_init(&report, &f.env.mem, false, one_on_loss, &found);
    assert_int_equal(cip_b2_verify(f.layout, 1, &report, NULL), CIP_OK);
    cip_report_clear(&report);
    one_close(&f);
    free(back);
    free(bytes);
}

static const b2_make list = { .typesize = 4, .chunksize = 40, .nchunk = 5, .last = 12 };
static const int64_t shape[] = { 7, 5 }, chunk[] = { 3, 4 }, block[] = { 2, 2 };

/* An array of 7 x 5 items of 2 bytes in 3 x 2 chunks; `meta` gets its metalayer. */
static b2_make array_of(uint8_t *meta)
{
    b2_make m = { .typesize = 2, .blocksize = 8, .chunksize = 32, .nchunk = 6 };
    m.meta_name[0] = "b2nd";
    m.meta[0] = meta;
    m.meta_len[0] = b2_nd_meta(meta, 2, shape, chunk, block, "<i2");
    return m;
}

/* --- what changes ----------------------------------------------------------------------------- */

/* New bytes lie behind the old end, and one sector of the rest changes. */
static void assert_switch(const job *j, cip_bytes was)
{
    const cip_patch *p = &j->r.patch;
    assert_false(j->r.anew);
    assert_true(j->r.has_tail);
    assert_int_equal(j->r.tail_off, was.len);
    for (size_t i = 0; i < p->n; i++)
        assert_true(p->op[i].offset + p->op[i].after.len <= 512);
    assert_true(j->r.head <= 512);
}

static void rows_change_and_come_by_a_switch(void **state)
{
    (void)state;
    static const struct {
        int64_t first, n;
    } row[] = { { 0, 1 }, { 2, 3 }, { 0, 7 }, { 6, 1 }, { 7, 1 }, { 5, 20 } };
    uint8_t meta[256];
    const b2_make make[] = { list, array_of(meta) };
    for (size_t i = 0; i < 2 * sizeof row / sizeof row[0]; i++) {
        job j;
        uint8_t raw[RAW] = { 0 }, back[RAW];
        b2_bytes b = b2_build(&make[i % 2]);
        assert_int_equal(job_open(&j, (cip_bytes){ b.ptr, b.len }, NULL), CIP_OK);
        const cip_nd *v = &j.f.layout->array[0]->view;
        const size_t was = (size_t)(v->shape[0] * v->stride[0]);
        read_all(j.f.io, raw, was);
        assert_int_equal(job_form(&j, CIP_CHANGE_ROWS), CIP_OK);
        assert_int_equal(put_rows(&j, raw, row[i / 2].first, row[i / 2].n), CIP_OK);
        const int64_t end = row[i / 2].first + row[i / 2].n;
        const size_t now = (size_t)((end > v->shape[0] ? end : v->shape[0]) * v->stride[0]);
        assert_int_equal(job_finish(&j), CIP_OK);
        assert_switch(&j, (cip_bytes){ b.ptr, b.len });
        read_all(j.after, back, now);
        assert_memory_equal(back, raw, now);
        job_close(&j);
        free(b.ptr);
    }
}

static void without_a_change_nothing_is_written(void **state)
{
    (void)state;
    job j;
    b2_bytes b = b2_build(&list);
    assert_int_equal(job_open(&j, (cip_bytes){ b.ptr, b.len }, NULL), CIP_OK);
    assert_int_equal(job_finish(&j), CIP_OK);
    assert_int_equal(j.r.patch.n, 0);
    assert_false(j.r.has_tail);
    job_close(&j);
    free(b.ptr);
}

static void an_emptied_array_is_made_anew_and_grows_again(void **state)
{
    (void)state;
    static const int64_t none[] = { 0, 5 };
    uint8_t meta[256], raw[RAW] = { 0 }, back[RAW], bytes[1024];
    const b2_make m = array_of(meta);
    b2_bytes b = b2_build(&m);
    job j;
    assert_int_equal(job_open(&j, (cip_bytes){ b.ptr, b.len }, NULL), CIP_OK);
    assert_int_equal(job_form(&j, CIP_CHANGE_SHAPE), CIP_OK);
    assert_int_equal(cip_chunk_changes_resize(j.c, j.f.layout->array[0], none, NULL, NULL, &j.err),
                     CIP_OK);
    assert_int_equal(job_finish(&j), CIP_OK);
    assert_true(j.r.anew);
    const size_t n = (size_t)j.after->size;
    assert_true(n < sizeof bytes);
    assert_int_equal(cip_io_read(j.after, 0, bytes, n, NULL), CIP_OK);
    job_close(&j);
    assert_int_equal(job_open(&j, (cip_bytes){ bytes, n }, NULL), CIP_OK);
    assert_int_equal(job_form(&j, CIP_CHANGE_ROWS), CIP_OK);
    assert_int_equal(put_rows(&j, raw, 0, 4), CIP_OK);
    assert_int_equal(job_finish(&j), CIP_OK);
    read_all(j.after, back, 40);
    assert_memory_equal(back, raw, 40);
    job_close(&j);
    free(b.ptr);
}

/* --- bytes that nothing names ----------------------------------------------------------------- */

/* Row `row` of the frame becomes another one: how many pieces go where nothing was; *first is the
 * first of them, from the header's end. */
static size_t placed_by_row(const b2_bytes *b, int64_t row, uint64_t *first, uint64_t *more)
{
    job j;
    uint8_t raw[RAW] = { 0 }, back[RAW];
    assert_int_equal(job_open(&j, (cip_bytes){ b->ptr, b->len }, NULL), CIP_OK);
    const cip_nd *v = &j.f.layout->array[0]->view;
    const size_t n = (size_t)(v->shape[0] * v->stride[0]);
    read_all(j.f.io, raw, n);
    assert_int_equal(job_form(&j, CIP_CHANGE_ELEMENTS), CIP_OK);
    assert_int_equal(put_rows(&j, raw, row, 1), CIP_OK);
    assert_int_equal(job_finish(&j), CIP_OK);
    read_all(j.after, back, n);
    assert_memory_equal(back, raw, n);
    const size_t placed = j.r.nplaced;
    const cip_b2_file *f = j.f.layout->own;
    *first = placed != 0 ? j.r.placed[0].at - f->frame->h.header_len : UINT64_MAX;
    *more = j.after->size - j.f.io->size;
    job_close(&j);
    return placed;
}

/* Chunks of 72 bytes, each behind 150 that are unused. */
static const b2_make loose = { .typesize = 4, .chunksize = 40, .nchunk = 5, .gap = 150 };

static void unused_bytes_are_used_when_nobody_reads(void **state)
{
    (void)state;
    uint64_t first, more;
    b2_bytes b = b2_build(&loose);
    job_alone = no;
    assert_int_equal(placed_by_row(&b, 3, &first, &more), 0);
    assert_true(more > 72);
    job_alone = yes;
    assert_int_equal(placed_by_row(&b, 3, &first, &more), 1);
    assert_int_equal(first, 0);
    assert_true(more < 150); /* index and trailer */
    job_alone = NULL;
    free(b.ptr);
}

/* A head that says more than there is may be believed as far as readers would: nothing in its reach
 * is unused. */
static void what_a_chunk_may_reach_is_not_unused(void **state)
{
    (void)state;
    job_alone = yes;
    for (int bad = 0; bad < 2; bad++) {
        b2_bytes b = b2_build(&loose);
        uint8_t *head = b.ptr + cip_load_u32(b.ptr + 0x0B, true) + 150;
        head[2] = 0x05; /* coded */
        cip_store_u32(head + 12, bad ? 0 : 200, false);
        memset(b.ptr + cip_load_u32(b.ptr + 0x0B, true), 0xee, 150);
        job j;
        uint8_t raw[RAW] = { 0 };
        assert_int_equal(job_open(&j, (cip_bytes){ b.ptr, b.len }, NULL), CIP_OK);
        assert_int_equal(job_form(&j, CIP_CHANGE_ELEMENTS), CIP_OK);
        for (int64_t row = 20; row < 45; row += 10)
            assert_int_equal(put_rows(&j, raw, row, 10), CIP_OK);
        assert_int_equal(job_finish(&j), CIP_OK);
        const uint64_t header = cip_load_u32(b.ptr + 0x0B, true), reach = bad ? 150 + 640 : 350;
        assert_true(j.r.nplaced > 0);
        for (size_t i = 0; i < j.r.nplaced; i++)
            assert_true(j.r.placed[i].at - header + j.r.placed[i].what.len <= 150 ||
                        j.r.placed[i].at - header >= reach);
        job_close(&j);
        free(b.ptr);
    }
    job_alone = NULL;
}

/* --- what is refused -------------------------------------------------------------------------- */

static cip_status try_rows(cip_bytes file, const char *expected, const cip_allocator *from)
{
    job j;
    uint8_t raw[RAW] = { 0 };
    cip_status st = job_open(&j, file, from);
    if (st == CIP_OK)
        st = job_form(&j, CIP_CHANGE_ELEMENTS);
    if (st == CIP_OK)
        st = put_rows(&j, raw, 0, 1);
    if (st == CIP_OK)
        st = job_finish(&j);
    if (expected != NULL && strstr(j.err.text, expected) == NULL)
        fail_msg("expected '%s', found '%s'", expected, j.err.text);
    job_close(&j);
    return st;
}

static void frames_of_another_form_are_refused_by_name(void **state)
{
    (void)state;
    const b2_make row[] = {
        { .typesize = 4, .nchunk = 5 },
        { .typesize = 4, .chunksize = 40, .nchunk = 2, .width = 4 },
        { .typesize = 4, .chunksize = 40, .nchunk = 2, .width = 16 },
        { .typesize = 4, .chunksize = 40, .nchunk = 2, .document = true },
        { .typesize = 4, .chunksize = 40, .nchunk = 2, .wrapped = true },
        { .typesize = 4,
          .chunksize = 40,
          .nchunk = 2,
          .meta_name = { "LazyArray" },
          .meta = { "\xc0" },
          .meta_len = { 1 } },
        { .typesize = 1,
          .chunksize = 40,
          .nchunk = 2,
          .meta_name = { "b2embed" },
          .meta = { "\xc0" },
          .meta_len = { 1 } },
    };
    static const char *const expected[] = { "different lengths", "64-bit",        "64-bit",
                                            "specification",     "specification", "lazy",
                                            "EmbedStore" };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        b2_bytes b = b2_build(&row[i]);
        assert_int_equal(try_rows((cip_bytes){ b.ptr, b.len }, expected[i], NULL),
                         CIP_ERR_UNSUPPORTED);
        free(b.ptr);
    }
}

/* 40 bytes are no whole items of 3: a second chunk would begin within one. */
static void one_chunk_that_cuts_items_grows_no_further(void **state)
{
    (void)state;
    const b2_make one = { .typesize = 3, .chunksize = 40, .nchunk = 1, .last = 12 },
                  two = { .typesize = 3, .chunksize = 40, .nchunk = 2, .last = 20 };
    uint8_t raw[RAW], back[39];
    for (int64_t more = 9; more <= 10; more++) {
        b2_bytes b = b2_build(&one);
        job j;
        b2_pattern(0, raw, 12);
        memset(raw + 12, 0, 3 * 10);
        assert_int_equal(job_open(&j, (cip_bytes){ b.ptr, b.len }, NULL), CIP_OK);
        assert_int_equal(job_form(&j, CIP_CHANGE_ROWS), CIP_OK);
        assert_int_equal(put_rows(&j, raw, 4, more), CIP_OK);
        assert_int_equal(job_finish(&j), more == 9 ? CIP_OK : CIP_ERR_UNSUPPORTED);
        if (more == 9) {
            read_all(j.after, back, sizeof back);
            assert_memory_equal(back, raw, sizeof back);
        } else {
            assert_non_null(strstr(j.err.text, "chunks of 40 bytes and items of 3"));
        }
        job_close(&j);
        free(b.ptr);
    }
    b2_bytes b = b2_build(&two);
    assert_int_equal(
        try_rows((cip_bytes){ b.ptr, b.len }, "chunks of 40 bytes and items of 3", NULL),
        CIP_ERR_UNSUPPORTED);
    free(b.ptr);
}

/* 13 bytes are no whole items of 3, and read as bytes; 15 would be read as items. */
static void bytes_that_are_no_items_become_none(void **state)
{
    (void)state;
    const b2_make make = { .typesize = 3, .chunksize = 40, .nchunk = 1, .last = 13 };
    for (int64_t more = 9; more <= 11; more++) {
        uint8_t raw[RAW], back[14];
        b2_bytes b = b2_build(&make);
        job j;
        b2_pattern(0, raw, 13);
        memset(raw + 13, 0, 2);
        assert_int_equal(job_open(&j, (cip_bytes){ b.ptr, b.len }, NULL), CIP_OK);
        assert_int_equal(job_form(&j, CIP_CHANGE_ROWS), CIP_OK);
        assert_int_equal(put_rows(&j, raw, 4, more), CIP_OK);
        assert_int_equal(job_finish(&j), more < 11 ? CIP_OK : CIP_ERR_UNSUPPORTED);
        if (more == 10) {
            read_all(j.after, back, sizeof back);
            assert_memory_equal(back, raw, sizeof back);
        }
        if (more == 11)
            assert_non_null(strstr(j.err.text, "typesize of 3, as now, found 15"));
        job_close(&j);
        free(b.ptr);
    }
}

/* They are somebody else's. */
static void bytes_behind_the_frame_are_kept_by_refusing(void **state)
{
    (void)state;
    b2_bytes b = b2_build(&list);
    b2_put(&b, "others", 6);
    assert_int_equal(try_rows((cip_bytes){ b.ptr, b.len }, "6 more bytes", NULL),
                     CIP_ERR_UNSUPPORTED);
    free(b.ptr);
}

/* An entry that points past what there is could name bytes that come. */
static void entries_that_name_nothing_are_not_kept(void **state)
{
    (void)state;
    b2_bytes b = b2_build(&list);
    const size_t index = b.len - 35 - 5 * 8;
    cip_store_u64(b.ptr + index + 16, 100000, false);
    assert_int_equal(try_rows((cip_bytes){ b.ptr, b.len }, "within", NULL), CIP_ERR_CORRUPT);
    cip_store_u64(b.ptr + index + 16, UINT64_C(0x83) << 56, false);
    assert_int_equal(try_rows((cip_bytes){ b.ptr, b.len }, "known special", NULL),
                     CIP_ERR_UNSUPPORTED);
    free(b.ptr);
}

static void lack_of_memory_at_any_point_is_told(void **state)
{
    (void)state;
    uint8_t meta[256];
    const b2_make m = array_of(meta);
    b2_bytes b = b2_build(&m);
    cip_status st = CIP_ERR_NOMEM;
    for (size_t n = 1; st != CIP_OK; n++) {
        fail_alloc fail = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &fail };
        st = try_rows((cip_bytes){ b.ptr, b.len }, NULL, &from);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        assert_int_equal(fail.held, 0);
    }
    assert_int_equal(st, CIP_OK);
    free(b.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_change_and_come_by_a_switch),
        cmocka_unit_test(without_a_change_nothing_is_written),
        cmocka_unit_test(an_emptied_array_is_made_anew_and_grows_again),
        cmocka_unit_test(unused_bytes_are_used_when_nobody_reads),
        cmocka_unit_test(what_a_chunk_may_reach_is_not_unused),
        cmocka_unit_test(frames_of_another_form_are_refused_by_name),
        cmocka_unit_test(one_chunk_that_cuts_items_grows_no_further),
        cmocka_unit_test(bytes_that_are_no_items_become_none),
        cmocka_unit_test(bytes_behind_the_frame_are_kept_by_refusing),
        cmocka_unit_test(entries_that_name_nothing_are_not_kept),
        cmocka_unit_test(lack_of_memory_at_any_point_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
