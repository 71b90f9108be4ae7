/* SPDX-License-Identifier: BSD-3-Clause
 * References into small files in memory, to the byte; what cannot be referred to. (What references
 * of whole files read is tested from Python, by the packages that read them.) */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/core_testing.h"

typedef struct text {
    char bytes[8192];
    size_t n, most; /* most: a write beyond it stops the call */
    char told[512];
} text;

static int add(void *user, const void *bytes, size_t n)
{
    text *t = user;
    if (t->n + n > t->most)
        return 1;
    memcpy(t->bytes + t->n, bytes, n);
    t->n += n;
    t->bytes[t->n] = '\0';
    return 0;
}

static int on_finding(void *user, const cip_finding *f)
{
    text *t = user;
    snprintf(t->told, sizeof t->told, "%s: %s", f->part, f->text);
    return 0;
}

/* The references of a .npy file, from its shape and type; data of 0, 1, 2, ... */
static cip_status refs_of(const char *descr, const char *shape, int fortran, size_t nbytes,
                          uint64_t inline_nbytes, text *out, cip_err *err)
{
    char *data = malloc(nbytes + 1);
    size_t total;
    for (size_t i = 0; i < nbytes; i++)
        data[i] = (char)(i % 7);
    char *mem = test_npy(descr, shape, fortran, data, nbytes, &total);
    cip_file *f;
    *out = (text){ .most = sizeof out->bytes - 1 };
    *err = (cip_err)CIP_ERR_INIT;
    assert_int_equal(cip_open_memory(mem, total, NULL, &f, err), CIP_OK);
    const cip_status st =
        cip_refs_write(f,
                       CIP_REFS_OPTIONS(.url = "u", .inline_nbytes = inline_nbytes,
                                        .on_finding = on_finding, .user = out),
                       add, out, err);
    cip_file_close(f);
    free(mem);
    free(data);
    return st;
}

static void raw_data_are_their_bytes_in_the_file(void **state)
{
    (void)state;
    text t;
    cip_err err;
    assert_int_equal(refs_of("'>i2'", "(3, 4)", 0, 24, 0, &t, &err), CIP_OK);
    assert_string_equal(
        t.bytes, "{\"version\": 1, \"refs\": {\n"
                 "\".zgroup\": \"{\\\"zarr_format\\\": 2}\",\n"
                 "\".zattrs\": \"{}\",\n"
                 "\"data/.zarray\": \"{\\\"zarr_format\\\": 2, \\\"shape\\\": [3, 4], "
                 "\\\"chunks\\\": [3, 4], \\\"dtype\\\": \\\">i2\\\", \\\"compressor\\\": null, "
                 "\\\"filters\\\": null, \\\"fill_value\\\": null, \\\"order\\\": \\\"C\\\"}\",\n"
                 "\"data/.zattrs\": \"{\\\"_ARRAY_DIMENSIONS\\\": [\\\"dim_0_3\\\", "
                 "\\\"dim_1_4\\\"]}\",\n"
                 "\"data/0.0\": [\"u\", 128, 24]\n"
                 "}}\n");
}

static void long_raw_data_are_cut_into_equal_parts(void **state)
{
    static const struct {
        const char *shape;
        int fortran;
        size_t nbytes;
        const char *chunks, *last, *filters;
    } rows[] = {
        { "(9, 1048576)", 0, 9 << 20, "[3, 1048576]", "data/2.0\": [\"u\", 6291584, 3145728",
          "null" },
        { "(1048576, 9)", 1, 9 << 20, "[1048576, 3]", "data/0.2\": [\"u\", 6291584, 3145728",
          "null" },
        { "(1, 5000011)", 0, 5000011, "[1, 4194304]", "data/0.1\": [\"u\", 4194432, 805707",
          "cippus_pad" },
    };
    (void)state;
    text t;
    cip_err err;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(
            refs_of("'|u1'", rows[i].shape, rows[i].fortran, rows[i].nbytes, 0, &t, &err), CIP_OK);
        assert_non_null(strstr(t.bytes, rows[i].chunks));
        assert_non_null(strstr(t.bytes, rows[i].last));
        assert_non_null(strstr(t.bytes, rows[i].filters));
    }
}

static void what_zarr_cannot_say_is_refused(void **state)
{
    (void)state;
    text t;
    cip_err err;
    const char *nested = "[('a', '<i2', (2,)), ('b', '<i4')]";
    assert_int_equal(refs_of(nested, "(3,)", 0, 24, 100, &t, &err), CIP_ERR_UNSUPPORTED);
    assert_string_equal(t.told, ".: left out: records with gaps, arrays or records in them");
    assert_int_equal(refs_of("[('a', '<i2'), ('b', '>i4')]", "(3,)", 0, 18, 0, &t, &err), CIP_OK);
    assert_non_null(strstr(t.bytes, "[[\\\"a\\\", \\\"<i2\\\"], [\\\"b\\\", \\\">i4\\\"]]"));
}

/* The last entry, in words. */
static int on_entry(void *user, const cip_refs_entry *e)
{
    text *t = user;
    snprintf(t->told, sizeof t->told, "%s %s %d %d %s %d", e->node, e->key, e->text != NULL,
             (int)e->number, e->url != NULL ? e->url : "-", (int)e->nbytes);
    return (int)e->number; /* stops at the second chunk */
}

static void entries_are_told_with_the_number_of_their_chunk(void **state)
{
    static char data[5 << 20];
    size_t total;
    cip_file *f;
    cip_err err = CIP_ERR_INIT;
    (void)state;
    char *mem = test_npy("'|u1'", "(5242880,)", 0, data, sizeof data, &total);
    text t = { .most = sizeof t.bytes - 1 };
    assert_int_equal(cip_open_memory(mem, total, NULL, &f, &err), CIP_OK);
    const cip_refs_options *how = CIP_REFS_OPTIONS(.url = "u", .on_entry = on_entry, .user = &t);
    assert_int_equal(cip_refs_write(f, how, add, &t, &err), CIP_ERR_CANCELLED);
    assert_string_equal(t.told, "data 1 0 1 u 2621440");
    cip_file_close(f);
    free(mem);
}

static void wrong_calls_and_a_receiver_that_stops(void **state)
{
    static const int32_t data[3];
    char *mem;
    cip_err err = CIP_ERR_INIT;
    (void)state;
    cip_file *f = test_open_npy("'<i4'", "(3,)", data, sizeof data, &mem);
    text t = { .most = 100 };
    const cip_refs_options *good = CIP_REFS_OPTIONS(.url = "u");
    assert_int_equal(cip_refs_write(f, NULL, add, &t, &err), CIP_ERR_ARG);
    assert_int_equal(cip_refs_write(NULL, good, add, &t, &err), CIP_ERR_ARG);
    assert_int_equal(cip_refs_write(f, good, NULL, &t, &err), CIP_ERR_ARG);
    assert_int_equal(cip_refs_write(f, good, add, &t, &err), CIP_ERR_CANCELLED);
    t.most = sizeof t.bytes - 1;
    assert_int_equal(cip_refs_write(f, CIP_REFS_OPTIONS(.url = "u", .path = "x"), add, &t, &err),
                     CIP_ERR_NOT_FOUND);
    assert_int_equal(cip_refs_write(f, CIP_REFS_OPTIONS(.url = "u", .path = "."), add, &t, &err),
                     CIP_OK);
    cip_file_close(f);
    free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(raw_data_are_their_bytes_in_the_file),
        cmocka_unit_test(long_raw_data_are_cut_into_equal_parts),
        cmocka_unit_test(what_zarr_cannot_say_is_refused),
        cmocka_unit_test(entries_are_told_with_the_number_of_their_chunk),
        cmocka_unit_test(wrong_calls_and_a_receiver_that_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
