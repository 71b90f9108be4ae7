/* SPDX-License-Identifier: BSD-3-Clause
 * Copies of a damaged frame through the public call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/endian.h"
#include "support/core/writing/edit_testing.h"
#include "support/fail_alloc.h"
#include "support/own_folder.h"

enum { N = 1000, EACH = 100, LOST = 3 };

static int32_t values[N];

/* n elements in chunks of EACH. */
static void write_chunks(const char *path, const char *codec, cip_kind kind, int64_t n,
                         const void *data)
{
    cip_change *w;
    OK(cip_create(path,
                  CIP_CHANGE_OPTIONS(.overwrite = true, .codec = codec,
                                     .format_options = CIP_TEXTS("chunks=100")),
                  &w, err));
    OK(cip_change_put(w, "", cip_dtype_of(kind), 1, &n, data, NULL, err));
    OK(cip_change_commit(&w, err));
}

/* An array in ten chunks, of which one has no head any more. */
static const char *damaged_file(const char *name)
{
    const char *path = scratch_path(&s, name);
    cip_file *f;
    cip_chunk_info c = { .size = sizeof c };
    for (int32_t i = 0; i < N; i++)
        values[i] = i * 7 + 1;
    write_chunks(path, "blosclz", CIP_I32, N, values);
    OK(cip_open(path, NULL, &f, err));
    OK(cip_chunk_at(cip_find(f, "", err), LOST, &c, err));
    cip_file_close(f);
    FILE *out = fopen(path, "r+b");
    assert_non_null(out);
    assert_int_equal(fseek(out, (long)c.offset, SEEK_SET), 0);
    assert_int_equal(fwrite("\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 1, 16, out), 16);
    assert_int_equal(fclose(out), 0);
    return path;
}

/* An array of three chunks, stored as they are, whose index is made to say otherwise: the second
 * lies within the first, and the third begins there, too, and ends behind it. */
static const char *entangled_file(void)
{
    enum { HEAD = 32, WHOLE = HEAD + EACH, SECOND = 36, THIRD = 92, INDEX = 53, STORED = 56 };
    const char *path = scratch_path(&s, "entangled.b2nd");
    uint8_t data[3 * EACH], file[4096], third[WHOLE], *at, *index;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i + i / 7);
    write_chunks(path, "blosclz:0", CIP_U8, 3 * EACH, data);
    FILE *io = fopen(path, "r+b");
    assert_non_null(io);
    size_t n = fread(file, 1, sizeof file - STORED, io);
    at = memmem(file, n, data, EACH);
    assert_non_null(at);
    at -= HEAD;
    memcpy(third, at, WHOLE);
    memcpy(at + THIRD, third, WHOLE);
    memcpy(at + SECOND, third, HEAD);
    at[SECOND + 12] = HEAD; /* all of it is zeros: a head alone, with the flag */
    at[SECOND + 31] = 1 << 4;
    index = at + 3 * WHOLE; /* compressed to INDEX bytes: from now on stored as it is */
    assert_int_equal(cip_load_u32(index + 12, false), INDEX);
    memmove(index + STORED, index + INDEX, n - (size_t)(index - file) - INDEX);
    n += STORED - INDEX;
    index[2] |= 2;
    cip_store_u32(index + 12, STORED, false);
    cip_store_u64(index + HEAD, 0, false);
    cip_store_u64(index + HEAD + 8, SECOND, false);
    cip_store_u64(index + HEAD + 16, THIRD, false);
    cip_store_u64(file + 16, n, true); /* the frame's length */
    assert_int_equal(fseek(io, 0, SEEK_SET), 0);
    assert_int_equal(fwrite(file, 1, n, io), n);
    assert_int_equal(fclose(io), 0);
    return path;
}

typedef struct told {
    char text[1000];
    int n, stop_at;
} told;

static int on_finding(void *user, const cip_finding *f)
{
    told *t = user;
    size_t n = strlen(t->text);
    snprintf(t->text + n, sizeof t->text - n, "%s\n", f->text);
    return ++t->n == t->stop_at;
}

static void lost_elements_are_named_and_filled(void **state)
{
    (void)state;
    const char *path = damaged_file("a.b2nd"), *out = scratch_path(&s, "b.b2nd");
    const int16_t seven = -7;
    int32_t back[N];
    told t = { .n = 0 };
    char *mem;
    cip_file *f, *fill = test_open_npy("'<i2'", "()", &seven, sizeof seven, &mem);
    FAILS(CIP_ERR_CORRUPT, "a value for lost elements",
          cip_repair(path, out, CIP_REPAIR_OPTIONS(.on_finding = on_finding, .user = &t), err));
    assert_non_null(strstr(t.text, "[300:400] is lost"));
    FAILS(CIP_ERR_NOT_FOUND, "", cip_open(out, NULL, &f, err));
    OK(cip_repair(path, out, CIP_REPAIR_OPTIONS(.fill = cip_file_array(fill, 0)), err));
    OK(cip_open(out, NULL, &f, err));
    OK(cip_read(cip_find(f, "", err), NULL, cip_dtype_of(CIP_I32), back, sizeof back, err));
    cip_file_close(f);
    for (int i = 0; i < N; i++)
        assert_int_equal(back[i], i / EACH == LOST ? seven : values[i]);
    cip_file_close(fill);
    free(mem);
}

/* Which of those that have the same bytes is whole, nobody knows. */
static void chunks_that_share_bytes_are_all_lost(void **state)
{
    (void)state;
    const char *path = entangled_file();
    told t = { .n = 0 };
    FAILS(CIP_ERR_CORRUPT, "a value for lost elements",
          cip_repair(path, scratch_path(&s, "apart.b2nd"),
                     CIP_REPAIR_OPTIONS(.on_finding = on_finding, .user = &t), err));
    if (strstr(t.text, "[0:100] is lost") == NULL || strstr(t.text, "[100:200] is lost") == NULL ||
        strstr(t.text, "[200:300] is lost") == NULL)
        fail_msg("%s", t.text);
}

/* Nobody knows which elements are missing, so those that are there are lost, too. */
static void an_array_whose_mask_is_damaged_is_lost(void **state)
{
    (void)state;
    static uint8_t mask[N];
    const int64_t shape[] = { N };
    const char *path = scratch_path(&s, "mask.asdf"), *out = scratch_path(&s, "repaired.asdf");
    cip_change *w;
    cip_file *f;
    told t = { .n = 0 };
    for (int i = 0; i < N; i++) {
        mask[i] = (uint8_t)(i * i % 7 == 1);
        values[i] = i;
    }
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.codec = "zlib"), &w, err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, shape, values,
                      CIP_ARRAY_OPTIONS(.mask = mask), err));
    OK(cip_change_commit(&w, err));
    OK(cip_open(path, NULL, &f, err));
    const cip_block_info b = *cip_file_block(f, 0); /* the mask's: those of `a` lie behind it */
    cip_file_close(f);
    FILE *io = fopen(path, "r+b");
    assert_non_null(io);
    assert_int_equal(fseek(io, (long)(b.data_offset + b.stored_nbytes / 2), SEEK_SET), 0);
    assert_int_equal(fwrite("\0\0\0\0\0\0\0\0", 1, 8, io), 8);
    assert_int_equal(fclose(io), 0);
    FAILS(CIP_ERR_UNSUPPORTED, "'a' is damaged",
          cip_repair(path, out, CIP_REPAIR_OPTIONS(.on_finding = on_finding, .user = &t), err));
    assert_non_null(strstr(t.text, "the array is lost: block 0"));
}

static void a_caller_may_stop_it_and_the_input_is_no_output(void **state)
{
    (void)state;
    const char *path = damaged_file("a.b2nd"), *out = scratch_path(&s, "c.b2nd");
    cip_file *f;
    for (int stop_at = 1; stop_at <= 2; stop_at++) {
        told t = { .stop_at = stop_at };
        FAILS(CIP_ERR_CANCELLED, "",
              cip_repair(path, out, CIP_REPAIR_OPTIONS(.on_finding = on_finding, .user = &t), err));
        FAILS(CIP_ERR_NOT_FOUND, "", cip_open(out, NULL, &f, err));
    }
    FAILS(CIP_ERR_ARG, "other than the input",
          cip_repair(path, path, CIP_REPAIR_OPTIONS(.overwrite = true), err));
    FAILS(CIP_ERR_ARG, "", cip_repair(NULL, out, NULL, err));
    FAILS(CIP_ERR_ARG, "", cip_repair(path, out, &(cip_repair_options){ .overwrite = true }, err));
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    const char *path = damaged_file("a.b2nd"), *out = scratch_path(&s, "d.b2nd");
    const double one = 1;
    char *mem;
    cip_file *f, *fill = test_open_npy("'<f8'", "()", &one, sizeof one, &mem);
    for (size_t at = 1;; at++) {
        fail_alloc fa = { .fail_at = at };
        const cip_allocator from = { fail_alloc_resize, &fa };
        const cip_open_options input = { .size = sizeof input, .allocator = &from, .threads = 1 };
        const cip_repair_options o = {
            .size = sizeof o, .fill = cip_file_array(fill, 0), .overwrite = true, .input = &input
        };
        remove(out); /* what only makes it faster may fail */
        const cip_status st = cip_repair(path, out, &o, NULL);
        assert_int_equal(fa.held, 0);
        if (fa.requests < at) {
            assert_int_equal(st, CIP_OK);
            break;
        }
        if (st != CIP_OK) {
            assert_int_equal(st, CIP_ERR_NOMEM);
            FAILS(CIP_ERR_NOT_FOUND, "", cip_open(out, NULL, &f, err));
        }
    }
    cip_file_close(fill);
    free(mem);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_elements_are_named_and_filled),
        cmocka_unit_test(chunks_that_share_bytes_are_all_lost),
        cmocka_unit_test(an_array_whose_mask_is_damaged_is_lost),
        cmocka_unit_test(a_caller_may_stop_it_and_the_input_is_no_output),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
