/* SPDX-License-Identifier: BSD-3-Clause
 * What is asked of the caller's methods when a file is opened and all its arrays are read once:
 * little more than the file, in few calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/core_testing.h"

enum { N = 40000, NBYTES = N * 4, NARRAY = 3 };

static const char *const names[NARRAY] = { "data", "dq", "err" };

typedef struct how {
    const char *format, *codec;
    uint32_t narray;
} how;

/* `before` bytes of something else, then the file. */
typedef struct far_file {
    const uint8_t *bytes;
    size_t nbytes, before;
    uint64_t got;
    unsigned calls;
} far_file;

static cip_status far_size(void *user, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((far_file *)user)->before + ((far_file *)user)->nbytes;
    return CIP_OK;
}

static cip_status far_ranges(void *user, const cip_range *r, size_t n, cip_err *err)
{
    far_file *f = user;
    (void)err;
    f->calls++;
    for (size_t i = 0; i < n; i++) {
        assert_true(r[i].offset >= f->before);
        memcpy(r[i].dst, f->bytes + (r[i].offset - f->before), r[i].nbytes);
        f->got += r[i].nbytes;
    }
    return CIP_OK;
}

/* Noise, of which a codec makes little less. */
static void noise(uint32_t *v, uint32_t x)
{
    for (size_t i = 0; i < N; i++)
        v[i] = (x = x * 1664525 + 1013904223) >> 4;
}

static cip_memory *write_arrays(const how *h, size_t n)
{
    uint32_t *v = malloc(NBYTES);
    const int64_t shape[] = { (int64_t)n };
    cip_memory *m;
    cip_change *w;
    assert_int_equal(
        cip_create_memory(h->format, CIP_CHANGE_OPTIONS(.codec = h->codec), &m, &w, NULL), CIP_OK);
    for (uint32_t i = 0; i < h->narray; i++) {
        noise(v, i);
        cip_change_put(w, h->narray > 1 ? names[i] : "", cip_dtype_of(CIP_U32), 1, shape, v, NULL,
                       NULL);
    }
    assert_int_equal(cip_change_commit(&w, NULL), CIP_OK);
    free(v);
    return m;
}

static void read_arrays(const how *h, far_file *far, size_t n)
{
    static const cip_io_methods methods = { CIP_IO_METHODS_INIT, .read_ranges = far_ranges,
                                            .size = far_size };
    uint32_t *v = malloc(NBYTES), *want = malloc(NBYTES);
    cip_file *f;
    assert_int_equal(cip_open_io(&methods, far, CIP_OPEN_OPTIONS(.offset = far->before), &f, NULL),
                     CIP_OK);
    for (uint32_t i = 0; i < h->narray; i++) {
        noise(want, i);
        assert_int_equal(cip_read(cip_find(f, h->narray > 1 ? names[i] : "", NULL), NULL,
                                  cip_dtype_as_stored(), v, n * 4, NULL),
                         CIP_OK);
        assert_memory_equal(v, want, n * 4);
    }
    cip_file_close(f);
    free(want);
    free(v);
}

static void little_more_than_the_file_is_asked_for(void **state)
{
    static const how hows[] = {
        { "asdf", "none", NARRAY }, { "asdf", "lz4", NARRAY },  { "asdf", "lz4f", NARRAY },
        { "asdf", "zstd", NARRAY }, { "asdf", "zlib", NARRAY }, { "asdf", "blsc", NARRAY },
        { "asdf", "bls2", NARRAY }, { "blosc2", "none", 1 },    { "blosc2", "zstd", 1 },
        { "bloscpack", "lz4", 1 },  { "npy", "none", 1 },       { "rawarray", "none", 1 },
    };
    static const size_t n[] = { 1000, 4000, 12000, N }, before[] = { 0, 100 };
    (void)state;
    for (size_t i = 0; i < sizeof hows / sizeof *hows; i++)
        for (size_t k = 0; k < 2 * sizeof n / sizeof *n; k++) {
            cip_memory *m = write_arrays(&hows[i], n[k / 2]);
            far_file far = { .before = before[k % 2] };
            far.bytes = cip_memory_bytes(m, &far.nbytes);
            read_arrays(&hows[i], &far, n[k / 2]);
            assert_true(far.got <= far.nbytes + far.nbytes / 20);
            assert_true(far.calls <= 3 + 2 * hows[i].narray);
            cip_memory_free(m);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(little_more_than_the_file_is_asked_for) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
