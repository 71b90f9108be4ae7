/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>

#include "format/npz/npz.h"
#include "support/fail_alloc.h"
#include "support/one_format.h"

#define CORPUS CIP_SOURCE_DIR "/src/format/npz/corpus/fuzz_npz/"

typedef struct npz_bytes {
    uint8_t ptr[4096];
    size_t len;
} npz_bytes;

static npz_bytes load(const char *name)
{
    char path[1024];
    npz_bytes b;
    snprintf(path, sizeof path, CORPUS "%s.npz", name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    b.len = fread(b.ptr, 1, sizeof b.ptr, f);
    assert_in_range(b.len, 1, sizeof b.ptr - 1);
    fclose(f);
    return b;
}

static cip_status open_name(one_file *f, const char *name, uint32_t flags)
{
    const npz_bytes b = load(name);
    return one_open(f, &cip_format_npz, b.ptr, b.len, flags, NULL);
}

static void assert_elements(one_file *f, size_t i, const void *want, size_t n)
{
    size_t len;
    uint8_t *raw = one_read(f, i, &len);
    assert_non_null(raw);
    assert_int_equal(len, n);
    assert_memory_equal(raw, want, n);
    free(raw);
}

/* float32 0 ... 5 and int32 0 ... 4, little-endian */
static const uint8_t six[] = { 0, 0, 0,    0,    0, 0, 0x80, 0x3f, 0, 0, 0,    0x40,
                               0, 0, 0x40, 0x40, 0, 0, 0x80, 0x40, 0, 0, 0xa0, 0x40 };
static const uint8_t ids[] = { 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0 };

static void members_are_arrays_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *name, *codec;
        uint64_t nbytes;
    } row[] = { { "same-two", "none", 152 },
                { "good-deflated", "deflate", 85 },
                { "good-piped", "none", 152 },
                { "good-piped-deflated", "deflate", 85 } };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (uint32_t flags = 0; flags <= CIP_OPEN_CHECK; flags += CIP_OPEN_CHECK) {
            one_file f;
            assert_int_equal(open_name(&f, row[i].name, flags), CIP_OK);
            assert_int_equal(f.layout->narray, 2);
            const cip_array *a = f.layout->array[0];
            assert_string_equal(a->path, "six");
            assert_string_equal(cip_dtype_name(a->dtype), "float32");
            assert_int_equal(a->view.shape[1], 3);
            assert_string_equal(a->storage.codec, row[i].codec);
            assert_int_equal(a->storage.nbytes, row[i].nbytes);
            assert_string_equal(f.layout->array[1]->path, "ids");
            assert_elements(&f, 1, ids, sizeof ids);
            assert_elements(&f, 0, six, sizeof six);
            one_close(&f);
        }
}

static void names_are_paths(void **state)
{
    (void)state;
    static const char *const path[] = { "\xc3\xa9", "in/side", "a.b" };
    one_file f;
    assert_int_equal(open_name(&f, "same-names", 0), CIP_OK);
    assert_int_equal(f.layout->narray, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(f.layout->array[i]->path, path[i]);
    one_close(&f);
}

static void other_members_are_bytes(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_name(&f, "good-bytes", 0), CIP_OK);
    assert_int_equal(f.layout->narray, 3);
    assert_string_equal(f.layout->array[1]->path, "README.txt");
    assert_elements(&f, 1, "five ids\n", 9);
    assert_string_equal(f.layout->array[2]->path, "d/n");
    assert_elements(&f, 2, "no array", 8);
    one_close(&f);
}

static void the_content_makes_an_array_and_whole_names_come_first(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_name(&f, "good-short-name", 0), CIP_OK);
    assert_string_equal(f.layout->array[0]->path, "ids");
    assert_elements(&f, 0, six, sizeof six);
    assert_string_equal(f.layout->array[1]->path, "ids.npy");
    assert_elements(&f, 1, ids, sizeof ids);
    one_close(&f);
}

static void objects_are_refused_alone(void **state)
{
    (void)state;
    one_file f;
    assert_int_equal(open_name(&f, "good-object", 0), CIP_OK);
    assert_int_equal(f.layout->array[0]->st, CIP_ERR_UNSUPPORTED);
    assert_string_equal(cip_dtype_name(f.layout->array[0]->dtype), "|O");
    assert_elements(&f, 1, ids, sizeof ids);
    one_close(&f);
}

/* What is wrong with a member, when it is opened or when it is read. */
static void damage_is_of_one_array(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t flags;
        size_t bad;
        cip_status status;
        const char *text;
    } row[] = {
        { "hurt-crc", CIP_OPEN_CHECK, 1, CIP_ERR_CHECKSUM, "crc32 mismatch: expected 00000000" },
        { "hurt-crc-deflated", 0, 1, CIP_ERR_CHECKSUM, "crc32 mismatch: expected 00000000" },
        { "hurt-header", 0, 0, CIP_ERR_CORRUPT, "expected ',' or '}'" },
        { "hurt-short", 0, 0, CIP_ERR_TRUNCATED, "expected 24 bytes of data at 128, found 23" },
        { "hurt-method", 0, 0, CIP_ERR_UNSUPPORTED, "found method 12 (bzip2)" },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        one_file f;
        size_t len;
        assert_int_equal(open_name(&f, row[i].name, row[i].flags), CIP_OK);
        for (size_t k = 0; k < f.layout->narray; k++) {
            uint8_t *raw = one_read(&f, k, &len);
            assert_int_equal(raw == NULL, k == row[i].bad);
            if (raw == NULL) {
                assert_int_equal(f.err.code, row[i].status);
                assert_non_null(strstr(f.err.text, row[i].text));
            }
            free(raw);
        }
        one_close(&f);
    }
}

typedef struct findings {
    size_t n, bad;
    char text[256];
} findings;

static int on_finding(void *user, const cip_finding *f)
{
    findings *s = user;
    s->n++;
    s->bad += f->severity == CIP_BAD;
    snprintf(s->text, sizeof s->text, "%s: %s", f->part, f->text);
    return 0;
}

static findings verify_name(const char *name)
{
    one_file f;
    findings s = { 0 };
    cip_report r;
    assert_int_equal(open_name(&f, name, 0), CIP_OK);
    cip_report_init(&r, &f.env.mem, false, on_finding, &s);
    assert_int_equal(cip_format_npz.verify(f.layout, false, &r, &f.err), CIP_OK);
    cip_report_clear(&r);
    one_close(&f);
    return s;
}

static void verify_compares_every_crc(void **state)
{
    (void)state;
    static const char *const good[] = { "same-two",    "good-deflated", "good-long",
                                        "good-object", "good-bytes",    "good-piped" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        assert_int_equal(verify_name(good[i]).n, 0);
    static const char *const bad[] = { "hurt-crc", "hurt-crc-deflated", "hurt-deflate" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        const findings s = verify_name(bad[i]);
        assert_int_equal(s.bad, 1);
        assert_non_null(strstr(s.text, "crc32 mismatch"));
        assert_non_null(strstr(s.text, i < 2 ? "ids.npy" : "six.npy"));
    }
}

static void members_are_blocks(void **state)
{
    (void)state;
    one_file f;
    uint8_t data[9];
    assert_int_equal(open_name(&f, "good-bytes", 0), CIP_OK);
    assert_int_equal(f.layout->list_blocks(f.layout, NULL), CIP_OK);
    assert_int_equal(f.layout->nblock, 3);
    const cip_block *b = &f.layout->block[1];
    assert_string_equal(b->info.member, "README.txt");
    assert_string_equal(b->info.checksum, "crc32");
    assert_int_equal(b->info.stored_nbytes, 9);
    const cip_read_how how = { f.layout, NULL };
    assert_int_equal(cip_space_read_at(&how, b->data, 0, data, 9, NULL), CIP_OK);
    assert_memory_equal(data, "five ids\n", 9);
    one_close(&f);
}

static void every_file_of_the_corpus_opens_or_does_not(void **state)
{
    (void)state;
    struct dirent *e;
    unsigned n = 0;
    DIR *d = opendir(CORPUS);
    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        char name[64];
        one_file f;
        if (e->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(e->d_name, "."), e->d_name);
        if ((open_name(&f, name, 0) == CIP_OK) == (strncmp(name, "bad", 3) == 0))
            fail_msg("%s", name);
        one_close(&f);
        n++;
    }
    closedir(d);
    assert_true(n > 15);
}

static int probe_name(const char *name)
{
    const npz_bytes b = load(name);
    cip_env env;
    cip_io *io;
    assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
    assert_int_equal(cip_io_open_memory(&env, b.ptr, b.len, "x", &io, NULL), CIP_OK);
    const int sure = cip_format_npz.probe(io, (cip_bytes){ b.ptr, b.len });
    cip_io_close(io);
    cip_env_clear(&env);
    return sure;
}

static void archives_of_npy_files_are_recognised(void **state)
{
    (void)state;
    assert_int_equal(probe_name("same-two"), 100);
    assert_int_equal(probe_name("bad-cut"), 100);
    assert_int_equal(probe_name("good-short-name"), 60); /* the first member is another */
    assert_int_equal(probe_name("same-empty"), 50);
}

static void failing_allocations_are_reported(void **state)
{
    (void)state;
    static const char *const name[] = { "same-two", "good-deflated", "good-bytes", "hurt-header" };
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        const npz_bytes b = load(name[i]);
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            one_file f;
            cip_status st = one_open(&f, &cip_format_npz, b.ptr, b.len, 0, &from);
            assert_true(st == CIP_OK || (st == CIP_ERR_NOMEM && f.err.code == CIP_ERR_NOMEM));
            one_close(&f);
            assert_int_equal(alloc.held, 0);
            if (alloc.requests < n) {
                assert_int_equal(st, CIP_OK);
                break;
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_are_arrays_by_name),
        cmocka_unit_test(names_are_paths),
        cmocka_unit_test(other_members_are_bytes),
        cmocka_unit_test(the_content_makes_an_array_and_whole_names_come_first),
        cmocka_unit_test(objects_are_refused_alone),
        cmocka_unit_test(damage_is_of_one_array),
        cmocka_unit_test(verify_compares_every_crc),
        cmocka_unit_test(members_are_blocks),
        cmocka_unit_test(every_file_of_the_corpus_opens_or_does_not),
        cmocka_unit_test(archives_of_npy_files_are_recognised),
        cmocka_unit_test(failing_allocations_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
