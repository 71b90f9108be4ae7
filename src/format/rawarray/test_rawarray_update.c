/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of RawArray files of every form against a naive model: elements, rows, shapes; what lies
 * behind the data stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "base/num.h"
#include "format/rawarray/ra_make.h"
#include "format/rawarray/rawarray.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/one_update.h"

enum { ROOM = 1 << 16 };

static uint64_t seed;
static cip_mem plain;

static uint64_t any(uint64_t n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % n;
}

/* What the file should hold. */
typedef struct model {
    int ndim;
    int64_t shape[4];
    size_t each;
    uint8_t data[ROOM];
    const char *metadata;
} model;

static size_t count(int ndim, const int64_t *shape, size_t each)
{
    size_t n = each;
    for (int i = 0; i < ndim; i++)
        n *= (size_t)shape[i];
    return n;
}

static void make_model(model *m, int ndim, size_t each, const char *metadata)
{
    *m = (model){ .ndim = ndim, .each = each, .metadata = metadata };
    for (int i = 0; i < ndim; i++)
        m->shape[i] = (int64_t)any(6);
    for (size_t i = 0; i < count(ndim, m->shape, each); i++)
        m->data[i] = (uint8_t)any(3);
}

typedef struct form {
    const char *name;
    bool big, flag, lz4;
} form;

static const form forms[] = {
    { "little", false, false, false },
    { "data big", false, true, false },
    { "all big", true, false, false },
    { "lz4", false, false, true },
};

/* The model as a file. */
static ra_bytes build(const model *m, const form *f)
{
    uint64_t dims[4];
    uint8_t body[2 * ROOM];
    size_t n = count(m->ndim, m->shape, m->each), len = n;
    const cip_codec *lz4 = cip_codec_find("lz4");
    for (int i = 0; i < m->ndim; i++)
        dims[i] = (uint64_t)m->shape[m->ndim - 1 - i];
    memcpy(body, m->data, n);
    if (f->lz4) {
        cip_dst to = { body, sizeof body, 0 };
        assert_int_equal(lz4->encode(NULL, &(cip_codec_env){ .mem = &plain }, 0,
                                     (cip_bytes){ m->data, n }, &to, NULL),
                         CIP_OK);
        len = to.len;
    }
    memcpy(body + len, m->metadata, strlen(m->metadata));
    ra_make make = { .flags = (f->flag ? 1u : 0u) | (f->lz4 ? 2u : 0u),
                     .eltype = CIP_RA_UINT,
                     .elbyte = m->each,
                     .size = len,
                     .ndim = (uint64_t)m->ndim,
                     .dims = dims,
                     .data = body,
                     .data_len = len + strlen(m->metadata),
                     .big = f->big };
    return ra_build(&make);
}

static void job_open(one_update *j, const model *m, const form *f, const cip_spec *how,
                     const cip_allocator *from)
{
    ra_bytes b = build(m, f);
    one_update_open(j, &cip_format_rawarray, (cip_bytes){ b.ptr, b.len }, how, from);
    free(b.ptr);
}

/* Every k-th element along each axis from a random one on. */
static void write_some(one_update *j, model *m)
{
    cip_nd whole, at;
    uint8_t data[ROOM], *p = data;
    int64_t i[4] = { 0 };
    assert_int_equal(cip_view_c_order(m->ndim, m->shape, m->each, &whole, NULL), CIP_OK);
    at = whole;
    if (count(m->ndim, m->shape, m->each) == 0)
        return;
    for (int d = 0; d < m->ndim; d++) {
        int64_t from = (int64_t)any((uint64_t)m->shape[d]), step = 1 + (int64_t)any(3);
        at.off += (uint64_t)(from * whole.stride[d]);
        at.shape[d] = (m->shape[d] - from + step - 1) / step;
        at.stride[d] = step * whole.stride[d];
    }
    for (bool more = true; more;) {
        uint64_t to = at.off;
        for (int d = 0; d < m->ndim; d++)
            to += (uint64_t)(i[d] * at.stride[d]);
        for (size_t k = 0; k < m->each; k++)
            m->data[to + k] = *p++ = (uint8_t)(10 + any(200));
        more = false;
        for (int d = m->ndim - 1; d >= 0 && !more; d--) {
            more = ++i[d] < at.shape[d];
            if (!more)
                i[d] = 0;
        }
    }
    one_bytes b = { data, m->each };
    assert_int_equal(one_update_elements(j, &at, &(cip_feed){ .next = one_next, .self = &b }),
                     CIP_OK);
}

static void append_some(one_update *j, model *m)
{
    uint64_t n = any(4);
    size_t old = count(m->ndim, m->shape, m->each);
    m->shape[0] += (int64_t)n;
    size_t now = count(m->ndim, m->shape, m->each);
    one_bytes b = { m->data + old, m->each };
    for (size_t i = old; i < now; i++)
        m->data[i] = (uint8_t)(10 + any(200));
    assert_int_equal(one_update_rows(j, n, &(cip_feed){ .next = one_next, .self = &b }), CIP_OK);
}

static void resize_some(one_update *j, model *m, bool rows_only)
{
    model was = *m;
    for (int d = 0; d < (rows_only ? 1 : m->ndim); d++)
        m->shape[d] = (int64_t)any(7);
    size_t n = count(m->ndim, m->shape, 1);
    memset(m->data, 0, sizeof m->data);
    for (size_t i = 0; i < n; i++) {
        size_t rest = i, from = 0, unit = 1;
        bool inside = true;
        for (int d = m->ndim - 1; d >= 0; d--) {
            size_t k = rest % (size_t)m->shape[d];
            rest /= (size_t)m->shape[d];
            inside = inside && (int64_t)k < was.shape[d];
            from += k * unit;
            unit *= (size_t)was.shape[d];
        }
        if (inside)
            memcpy(m->data + i * m->each, was.data + from * m->each, m->each);
    }
    assert_int_equal(one_update_shape(j, m->shape), CIP_OK);
}

/* The revision as a file: shape, data, metadata; everything else in the header as it was. */
static void check(one_update *j, const model *m, const form *f, const char *what)
{
    cip_io *now;
    one_file g;
    cip_err err = CIP_ERR_INIT;
    uint64_t old = j->f.io->size;
    if (one_update_finish(j, &err) != CIP_OK)
        fail_msg("%s, %s: %s", f->name, what, err.text);
    assert_int_equal(cip_revision_check(&j->r, old, NULL), CIP_OK);
    assert_int_equal(cip_io_open_revision(j->f.io, &j->r, &now, NULL), CIP_OK);
    size_t n = (size_t)now->size, len = count(m->ndim, m->shape, m->each), tail;
    uint8_t *file = malloc(n + 1);
    assert_int_equal(cip_io_read(now, 0, file, n, NULL), CIP_OK);
    if (one_open(&g, &cip_format_rawarray, file, n, 0, NULL) != CIP_OK)
        fail_msg("%s, %s: %s", f->name, what, g.err.text);
    const cip_ra_header *h = g.layout->own;
    const cip_array *a = g.layout->array[0];
    const cip_read_how how = { g.layout, NULL };
    uint8_t *data = malloc(len + 1);
    assert_int_equal(a->view.ndim, m->ndim);
    for (int d = 0; d < m->ndim; d++)
        assert_int_equal(a->view.shape[d], m->shape[d]);
    assert_int_equal(a->space->len, len);
    if (cip_space_read_at(&how, a->space, 0, data, len, &err) != CIP_OK)
        fail_msg("%s, %s: %s", f->name, what, err.text);
    if (memcmp(data, m->data, len) != 0)
        fail_msg("%s, %s: other data", f->name, what);
    tail = (size_t)(h->data_off + h->size);
    assert_int_equal(n - tail, strlen(m->metadata));
    assert_memory_equal(file + tail, m->metadata, n - tail);
    assert_int_equal(h->eltype, CIP_RA_UINT);
    assert_int_equal(h->header_big, f->big);
    assert_int_equal(h->data_big, f->big || f->flag);
    one_close(&g);
    free(data);
    free(file);
    cip_io_close(now);
}

static void changes_of_every_form_are_those_of_the_model(void **state)
{
    (void)state;
    NEEDS(LZ4);
    for (int round = 0; round < 3000; round++) {
        static model m;
        one_update j;
        char what[64];
        const form *f = &forms[any(4)];
        seed = (uint64_t)round * 977 + 5;
        make_model(&m, 1 + (int)any(3), (size_t)1 << any(3), any(2) ? "" : "some metadata");
        job_open(&j, &m, f, NULL, NULL);
        if (j.u == NULL) /* an LZ4 block of nothing */
            goto next;
        uint64_t ops = any(16);
        snprintf(what, sizeof what, "round %d, changes %d", round, (int)ops);
        if (ops & 1)
            write_some(&j, &m);
        if (ops & 2)
            append_some(&j, &m);
        if (ops & 1 && !(ops & 2))
            write_some(&j, &m);
        if (ops & 6)
            append_some(&j, &m);
        if (ops & 8) {
            resize_some(&j, &m, any(2));
            if (any(2))
                resize_some(&j, &m, any(2));
        }
        check(&j, &m, f, what);
    next:
        one_update_close(&j);
    }
}

/* Nothing but the changed bytes is written; rows cost themselves, sizes and the metadata. */
static void only_what_changes_is_written(void **state)
{
    (void)state;
    static model m;
    one_update j;
    make_model(&m, 2, 4, "abc");
    m.shape[0] = 5;
    m.shape[1] = 7;
    job_open(&j, &m, &forms[0], NULL, NULL);
    assert_int_equal(one_update_finish(&j, NULL), CIP_OK);
    assert_false(j.r.has_tail || j.r.anew);
    assert_int_equal(j.r.patch.n, 0);
    one_update_close(&j);

    job_open(&j, &m, &forms[0], NULL, NULL);
    write_some(&j, &m);
    assert_int_equal(one_update_finish(&j, NULL), CIP_OK);
    assert_false(j.r.has_tail || j.r.anew);
    assert_true(j.r.patch.n >= 1);
    one_update_close(&j);

    one_bytes b = { m.data, 4 };
    job_open(&j, &m, &forms[0], NULL, NULL);
    assert_int_equal(one_update_rows(&j, 1, &(cip_feed){ .next = one_next, .self = &b }), CIP_OK);
    assert_int_equal(one_update_finish(&j, NULL), CIP_OK);
    assert_true(j.r.has_tail && !j.r.anew);
    assert_int_equal(j.r.tail_off, 64 + 5 * 7 * 4);
    assert_int_equal(j.r.tail_len, 7 * 4 + 3);
    assert_int_equal(j.r.patch.n, 2); /* size, last dimension */
    one_update_close(&j);
}

/* Many small changes lie in the file where they were. */
static void many_changes_stay_in_place(void **state)
{
    enum { N = 1 << 24 }; /* elements; every 128th changes */
    (void)state;
    const uint64_t dims[] = { N };
    uint8_t *zeros = calloc(N, 1), *ones = malloc(N / 128), *found = malloc(N);
    one_update j;
    cip_io *now;
    ra_make make = { .eltype = CIP_RA_UINT, .elbyte = 1, .size = N, .ndim = 1, .dims = dims };
    make.data = zeros;
    make.data_len = N;
    ra_bytes b = ra_build(&make);
    memset(ones, 1, N / 128);
    assert_int_equal(
        one_update_open(&j, &cip_format_rawarray, (cip_bytes){ b.ptr, b.len }, NULL, NULL), CIP_OK);
    cip_nd at = { .itemsize = 1, .ndim = 1, .shape = { N / 128 }, .stride = { 128 } };
    one_bytes from = { ones, 1 };
    assert_int_equal(one_update_elements(&j, &at, &(cip_feed){ .next = one_next, .self = &from }),
                     CIP_OK);
    assert_int_equal(one_update_finish(&j, NULL), CIP_OK);
    assert_false(j.r.anew || j.r.has_tail);
    assert_int_equal(cip_io_open_revision(j.f.io, &j.r, &now, NULL), CIP_OK);
    assert_int_equal(now->size, b.len);
    assert_int_equal(cip_io_read(now, 56, found, N, NULL), CIP_OK);
    for (size_t i = 0; i < N; i++)
        if (found[i] != (i % 128 == 0))
            fail_msg("byte %zu", i);
    cip_io_close(now);
    one_update_close(&j);
    free(b.ptr);
    free(zeros);
    free(ones);
    free(found);
}

static cip_status begin_with(const cip_spec *how)
{
    static model m;
    one_update j;
    void *u = NULL;
    make_model(&m, 1, 1, "");
    job_open(&j, &m, &forms[0], NULL, NULL);
    cip_status st = one_update_begin(&j, how, &u);
    if (st == CIP_OK)
        cip_ra_store.clear(u);
    one_update_close(&j);
    return st;
}

static void options_decide_the_codec(void **state)
{
    (void)state;
    NEEDS(LZ4);
    static model m;
    one_update j;
    assert_int_equal(begin_with(&(cip_spec){ .codec = "zlib" }), CIP_ERR_UNSUPPORTED);
    assert_int_equal(begin_with(&(cip_spec){ .checksum = "md5" }), CIP_ERR_UNSUPPORTED);
    assert_int_equal(begin_with(&(cip_spec){ .checksum = "none" }), CIP_OK);
    make_model(&m, 2, 8, "abc");
    m.shape[0] = m.shape[1] = 20;
    const cip_spec lz4 = { .codec = "lz4", .big = -1 }, none = { .codec = "none", .big = -1 };
    job_open(&j, &m, &forms[0], &lz4, NULL);
    check(&j, &m, &forms[0], "to lz4");
    assert_true(j.r.anew && j.r.tail_len < 1000);
    one_update_close(&j);
    job_open(&j, &m, &forms[3], &none, NULL);
    check(&j, &m, &forms[0], "from lz4");
    assert_int_equal(j.r.tail_len, 64 + 3200 + 3);
    one_update_close(&j);
}

static void elements_and_rows_change_behind_a_shape(void **state)
{
    static model m;
    one_update j;
    cip_nd at;
    one_bytes b = { m.data, 1 };
    const cip_feed feed = { .next = one_next, .self = &b };
    (void)state;
    make_model(&m, 1, 1, "");
    m.shape[0] = 9;
    job_open(&j, &m, &forms[0], NULL, NULL);
    assert_int_equal(cip_view_c_order(1, m.shape, 1, &at, NULL), CIP_OK);
    assert_int_equal(one_update_shape(&j, (int64_t[]){ 3 }), CIP_OK);
    assert_int_equal(one_update_elements(&j, &at, &feed), CIP_ERR_RANGE);
    at.shape[0] = 3;
    assert_int_equal(one_update_elements(&j, &at, &feed), CIP_OK);
    b.at = m.data + 3;
    assert_int_equal(one_update_rows(&j, 1, &feed), CIP_OK);
    m.shape[0] = 4;
    check(&j, &m, &forms[0], "behind a shape");
    one_update_close(&j);
}

static void a_failing_allocation_is_passed_on(void **state)
{
    (void)state;
    NEEDS(LZ4);
    for (int k = 0; k < 4; k++)
        for (size_t n = 1;; n++) {
            static model m;
            one_update j;
            fail_alloc alloc = { 0 };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            uint8_t data[100] = { 0 };
            one_bytes b = { data, 2 };
            const cip_feed feed = { .next = one_next, .self = &b };
            cip_nd at = { .itemsize = 2, .ndim = 2, .shape = { 1, 2 }, .stride = { 4, 2 } };
            seed = 1;
            make_model(&m, 2, 2, "abc");
            m.shape[0] = m.shape[1] = 4;
            job_open(&j, &m, &forms[k], NULL, &from);
            size_t before = alloc.requests;
            alloc.fail_at = before + n;
            cip_status st = one_update_elements(&j, &at, &feed);
            if (st == CIP_OK)
                st = one_update_rows(&j, 2, &feed);
            if (st == CIP_OK)
                st = one_update_shape(&j, (int64_t[]){ 5, 5 });
            if (st == CIP_OK)
                st = one_update_finish(&j, NULL);
            bool failed = alloc.requests >= before + n;
            if (st != CIP_OK || !failed) /* what is kept for later gives way first */
                assert_int_equal(st, failed ? CIP_ERR_NOMEM : CIP_OK);
            one_update_close(&j);
            assert_int_equal(alloc.held, 0);
            if (!failed)
                break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_of_every_form_are_those_of_the_model),
        cmocka_unit_test(only_what_changes_is_written),
        cmocka_unit_test(many_changes_stay_in_place),
        cmocka_unit_test(options_decide_the_codec),
        cmocka_unit_test(elements_and_rows_change_behind_a_shape),
        cmocka_unit_test(a_failing_allocation_is_passed_on),
    };
    cip_mem_init(&plain, NULL, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
