/* SPDX-License-Identifier: BSD-3-Clause
 * What defrag drops and tells, and where chunks lie then; frames that it leaves alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/blosc2/b2_update_testing.h"
#include "support/fail_alloc.h"

static const cip_array_store *const store = &cip_b2_store;

typedef struct told {
    char text[4096];
    uint64_t nbytes;
} told;

static int tell(void *user, const cip_finding *f)
{
    told *t = user;
    snprintf(t->text + strlen(t->text), sizeof t->text - strlen(t->text), "%s\n", f->text);
    t->nbytes += f->length;
    return 0;
}

static cip_status defrag(job *j, told *t)
{
    cip_report report;
    *t = (told){ .nbytes = 0 };
    cip_report_init(&report, &j->f.env.mem, false, tell, t);
    cip_status st = store->defrag(j->u, &report, &j->err);
    cip_report_clear(&report);
    return st;
}

static const b2_make list = { .typesize = 4, .chunksize = 40, .nchunk = 5, .last = 12 };

/* The same frame with its entries (8 bytes each, in an index that is stored as it is) reversed, and
 * its chunks too. */
static void reverse(b2_bytes *b)
{
    const size_t index = b->len - 35 - 5 * 8;
    uint8_t entry[8];
    for (size_t i = 0; i < 2; i++) {
        memcpy(entry, b->ptr + index + 8 * i, 8);
        memcpy(b->ptr + index + 8 * i, b->ptr + index + 8 * (3 - i), 8);
        memcpy(b->ptr + index + 8 * (3 - i), entry, 8);
    }
}

/* Chunks lie one behind the other, in order; then the index, then the trailer. */
static void assert_packed(cip_io *io, const uint8_t *raw, size_t n)
{
    one_file f;
    size_t len;
    uint8_t *bytes = malloc((size_t)io->size);
    assert_int_equal(cip_io_read(io, 0, bytes, (size_t)io->size, NULL), CIP_OK);
    assert_int_equal(one_open(&f, &cip_format_blosc2, bytes, (size_t)io->size, 0, NULL), CIP_OK);
    const cip_b2_frame *frame = ((const cip_b2_file *)f.layout->own)->frame;
    cip_b2_index *x = (cip_b2_index *)&frame->index;
    uint64_t at = frame->h.header_len;
    for (uint64_t i = 0; i < x->n; i++) {
        cip_b2_entry e;
        cip_blosc_head head;
        cip_chunk c = { .run = 1 };
        assert_int_equal(cip_b2_index_entry(x, i, &e, NULL), CIP_OK);
        if (e.special != CIP_BLOSC_NOT_SPECIAL)
            continue;
        assert_int_equal(cip_b2_index_head(x, i, &e, &head, &c, NULL), CIP_OK);
        assert_int_equal(c.at.off, at);
        at += c.at.len;
    }
    if (x->n != 0)
        assert_int_equal(x->at, at);
    assert_int_equal(frame->h.frame_len, at + x->len + frame->trailer.len);
    uint8_t *back = one_read(&f, 0, &len);
    assert_int_equal(len, n);
    assert_memory_equal(back, raw, n);
    free(back);
    one_close(&f);
    free(bytes);
}

static void holes_go_and_chunks_get_their_order(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        b2_make m = list;
        uint8_t raw[172], want[172];
        job j;
        told t;
        m.gap = (i & 1) != 0 ? 7 : 0;
        m.special[1] = (i & 4) != 0 ? 0x81 : 0;
        b2_pattern(0, raw, sizeof raw);
        if ((i & 4) != 0)
            memset(raw + 40, 0, 40);
        memcpy(want, raw, sizeof raw);
        b2_bytes b = b2_build(&m);
        if ((i & 2) != 0) {
            reverse(&b);
            for (size_t k = 0; k < 4; k++)
                memcpy(want + 40 * k, raw + 40 * (3 - k), 40);
        }
        assert_int_equal(job_open(&j, (cip_bytes){ b.ptr, b.len }, NULL), CIP_OK);
        assert_int_equal(defrag(&j, &t), CIP_OK);
        assert_int_equal(t.nbytes, (i & 1) != 0 ? ((i & 4) != 0 ? 28 : 35) : 0);
        assert_int_equal(job_finish(&j), CIP_OK);
        assert_int_equal(j.r.anew, (i & 3) != 0);
        assert_packed(j.after, want, sizeof want);
        job_close(&j);
        free(b.ptr);
    }
}

static void each_hole_is_told(void **state)
{
    (void)state;
    b2_make m = list;
    job j;
    told t;
    m.gap = 3;
    m.nchunk = 2;
    m.last = 0;
    b2_bytes b = b2_build(&m);
    assert_int_equal(job_open(&j, (cip_bytes){ b.ptr, b.len }, NULL), CIP_OK);
    assert_int_equal(defrag(&j, &t), CIP_OK);
    assert_string_equal(t.text, "3 bytes from 97 on, which belong to no chunk, are removed\n"
                                "3 bytes from 172 on, which belong to no chunk, are removed\n");
    job_close(&j);
    free(b.ptr);
}

static void chunks_of_different_lengths_are_packed_too(void **state)
{
    (void)state;
    const b2_make m = { .typesize = 4, .nchunk = 5, .gap = 9 };
    uint8_t raw[60];
    job j;
    told t;
    b2_bytes b = b2_build(&m);
    b2_pattern(0, raw, sizeof raw);
    assert_int_equal(job_open(&j, (cip_bytes){ b.ptr, b.len }, NULL), CIP_OK);
    assert_int_equal(defrag(&j, &t), CIP_OK);
    assert_int_equal(job_finish(&j), CIP_OK);
    assert_packed(j.after, raw, sizeof raw);
    job_close(&j);
    free(b.ptr);
}

static void what_changes_in_the_same_update_is_packed_along(void **state)
{
    (void)state;
    static const cip_node seven = { .type = CIP_NODE_INT, .u = 7, .text = "7", .len = 1 };
    static const int64_t shape[] = { 13 };
    uint8_t raw[52];
    cip_change_form form = { .fill = NULL };
    job j;
    told t;
    b2_bytes b = b2_build(&list);
    b2_pattern(0, raw, sizeof raw);
    assert_int_equal(job_open(&j, (cip_bytes){ b.ptr, b.len }, NULL), CIP_OK);
    const cip_array *a = j.f.layout->array[0];
    assert_int_equal(store->form(j.u, a, CIP_CHANGE_SHAPE, shape, &form, &j.err), CIP_OK);
    assert_int_equal(cip_chunk_changes_new(a, &form.form, j.temporary, &j.c, &j.err), CIP_OK);
    assert_int_equal(cip_chunk_changes_resize(j.c, a, shape, NULL, NULL, &j.err), CIP_OK);
    assert_int_equal(store->set(j.u, "meta/m", &seven, &j.err), CIP_OK);
    assert_int_equal(defrag(&j, &t), CIP_OK);
    assert_string_equal(t.text, "");
    assert_int_equal(job_finish(&j), CIP_OK);
    assert_true(j.r.anew);
    assert_packed(j.after, raw, sizeof raw);
    job_close(&j);
    free(b.ptr);
}

/* --- what is refused -------------------------------------------------------------------------- */

static void expect_refusal(b2_bytes *b, cip_status code, const char *text)
{
    job j;
    told t;
    assert_int_equal(job_open(&j, (cip_bytes){ b->ptr, b->len }, NULL), CIP_OK);
    const cip_status st = defrag(&j, &t);
    if (st != code || strstr(j.err.text, text) == NULL)
        fail_msg("expected %d and '%s', found %d and '%s'", code, text, st, j.err.text);
    job_close(&j);
}

static void an_index_that_makes_no_sense_is_refused(void **state)
{
    (void)state;
    static const struct {
        uint64_t to;
        cip_status st;
        const char *text;
    } row[] = {
        { 0, CIP_ERR_CORRUPT, "separate chunks" }, /* the bytes of another */
        { 1 << 20, CIP_ERR_CORRUPT, "within" },    /* behind the frame */
        { UINT64_C(0x83) << 56, CIP_ERR_UNSUPPORTED, "known special" },
    };
    for (size_t i = 0; i < 3; i++) {
        b2_bytes b = b2_build(&list);
        cip_store_u64(b.ptr + b.len - 35 - 5 * 8 + 16, row[i].to, false);
        expect_refusal(&b, row[i].st, row[i].text);
        free(b.ptr);
    }
}

/* A chunk that lies in another's bytes, whose head is a good one. */
static void a_chunk_within_another_is_refused(void **state)
{
    (void)state;
    b2_make m = list;
    m.nchunk = 2;
    m.last = 40;
    b2_bytes b = b2_build(&m);
    const size_t first = cip_load_u32(b.ptr + 0x0B, true), index = b.len - 35 - 2 * 8;
    memcpy(b.ptr + first + 72 - 32, b.ptr + first, 32); /* a head at the end of the first one */
    cip_store_u64(b.ptr + index + 8, 40, false);
    expect_refusal(&b, CIP_ERR_CORRUPT, "separate chunks");
    free(b.ptr);
}

static void frames_of_another_form_are_refused_by_name(void **state)
{
    (void)state;
    const b2_make row[] = {
        { .typesize = 4, .chunksize = 40, .nchunk = 2, .width = 4 },
        { .typesize = 4, .chunksize = 40, .nchunk = 2, .document = true },
    };
    static const char *const expected[] = { "64-bit", "layout of the specification" };
    for (size_t i = 0; i < 2; i++) {
        b2_bytes b = b2_build(&row[i]);
        expect_refusal(&b, CIP_ERR_UNSUPPORTED, expected[i]);
        free(b.ptr);
    }
}

static void lack_of_memory_at_any_point_is_told(void **state)
{
    (void)state;
    b2_make m = list;
    cip_status st = CIP_ERR_NOMEM;
    m.gap = 5;
    b2_bytes b = b2_build(&m);
    for (size_t n = 1; st != CIP_OK; n++) {
        fail_alloc fail = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &fail };
        job j;
        told t;
        st = job_open(&j, (cip_bytes){ b.ptr, b.len }, &from);
        if (st == CIP_OK)
            st = defrag(&j, &t);
        if (st == CIP_OK)
            st = job_finish(&j);
        job_close(&j);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        assert_int_equal(fail.held, 0);
    }
    free(b.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holes_go_and_chunks_get_their_order),
        cmocka_unit_test(each_hole_is_told),
        cmocka_unit_test(chunks_of_different_lengths_are_packed_too),
        cmocka_unit_test(what_changes_in_the_same_update_is_packed_along),
        cmocka_unit_test(an_index_that_makes_no_sense_is_refused),
        cmocka_unit_test(a_chunk_within_another_is_refused),
        cmocka_unit_test(frames_of_another_form_are_refused_by_name),
        cmocka_unit_test(lack_of_memory_at_any_point_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
