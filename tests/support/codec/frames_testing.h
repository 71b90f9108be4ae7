/* SPDX-License-Identifier: BSD-3-Clause
 * What the tests of frame scans share: a run of frames on the heap that grows, and reading it. */
#ifndef CIP_TESTS_FRAMES_TESTING_H
#define CIP_TESTS_FRAMES_TESTING_H

#include "codec/frames.h"
#include "support/codec/codec_testing.h"

typedef struct test_run {
    uint8_t *ptr;
    size_t len;
    size_t reads;   /* calls so far */
    size_t fail_at; /* the read that fails; 0: none */
} test_run;

static inline void test_run_add(test_run *r, const void *p, size_t n)
{
    if (n == 0)
        return;
    r->ptr = (uint8_t *)realloc(r->ptr, r->len + n);
    assert_non_null(r->ptr);
    memcpy(r->ptr + r->len, p, n);
    r->len += n;
}

static inline cip_status test_run_read(void *user, uint64_t off, size_t n, void *dst, cip_err *err)
{
    test_run *r = (test_run *)user;
    if (++r->reads == r->fail_at)
        return cip_fail(err, CIP_ERR_IO, off, "the test's own fault");
    assert_true(off <= r->len && n <= r->len - off); /* never beyond the run */
    memcpy(dst, r->ptr + off, n);
    return CIP_OK;
}

/* What came of a scan: its status, and the pieces of an OK one are checked: in order, without gaps,
 * decoding to `raw`. */
typedef struct test_found {
    cip_status st;
    size_t n;
    bool sequential;
    size_t nstored; /* pieces that are stored as they are */
    cip_err err;
} test_found;

static inline void test_piece(const test_run *r, const cip_frame_piece *p, const uint8_t *raw)
{
    uint8_t *out;
    assert_true(p->off <= r->len && p->len <= r->len - p->off);
    if (p->codec == NULL) {
        assert_int_equal(p->len, p->raw_len);
        assert_memory_equal(r->ptr + p->off, raw + p->raw_off, p->len);
        return;
    }
    assert_int_equal(test_decode(p->codec, r->ptr + p->off, p->len, p->raw_len, &out, NULL),
                     CIP_OK);
    assert_memory_equal(out, raw + p->raw_off, p->raw_len);
    free(out);
}

static inline test_found test_scan(cip_frames_scan_fn *scan, test_run *r, const uint8_t *raw,
                                   uint64_t raw_len, uint64_t max_pieces)
{
    test_env t;
    test_env_open(&t, 0, 0);
    test_found f = { .err = CIP_ERR_INIT };
    cip_frame_piece untouched = { 0 };
    cip_frame_pieces out = { &untouched, 12345, false };
    f.st = scan(&t.mem, &(cip_frame_run){ test_run_read, r, r->len, raw_len, max_pieces }, &out,
                &f.err);
    assert_int_equal(f.err.code, f.st);
    if (f.st != CIP_OK) {
        assert_true(out.piece == &untouched && out.n == 12345);
        test_env_close(&t);
        return f;
    }
    f.n = out.n;
    f.sequential = out.sequential;
    uint64_t at = 0;
    for (size_t i = 0; i < out.n; i++) {
        assert_int_equal(out.piece[i].raw_off, at);
        assert_true(out.piece[i].raw_len > 0);
        at += out.piece[i].raw_len;
        f.nstored += out.piece[i].codec == NULL;
        if (raw != NULL)
            test_piece(r, &out.piece[i], raw);
    }
    assert_true(out.sequential ? out.n == 0 : at == raw_len);
    assert_true(out.n != 0 || out.piece == NULL);
    cip_mem_put(&t.mem, out.piece);
    test_env_close(&t);
    return f;
}

/* Scans every beginning of the run and with every bit flipped: an error or pieces, but clean. */
static inline void test_scan_damaged(cip_frames_scan_fn *scan, const test_run *r, uint64_t raw_len)
{
    for (size_t n = 0; n < r->len; n++) {
        test_run cut = { .ptr = test_copy(r->ptr, n), .len = n };
        test_found f = test_scan(scan, &cut, NULL, raw_len, 1000);
        assert_true(f.st != CIP_OK || f.sequential);
        free(cut.ptr);
    }
    for (size_t bit = 0; bit < 8 * r->len; bit++) {
        test_run bad = { .ptr = test_copy(r->ptr, r->len), .len = r->len };
        bad.ptr[bit / 8] ^= (uint8_t)(1 << bit % 8);
        test_scan(scan, &bad, NULL, raw_len, 1000);
        free(bad.ptr);
    }
}

#endif
