/* SPDX-License-Identifier: BSD-3-Clause
 * A file damaged in every place, memory that runs out at every request, reads that fail one by one:
 * whatever happens ends with a status, and what is given is what was written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/format/asdf/asdf_testing.h"
#include "support/fail_alloc.h"
#include "support/fault_io.h"

/* Reads every array and its mask, verifies; the first failure that is not the data's. */
static cip_status use_all(one_file *f)
{
    cip_report rep;
    cip_status st = CIP_OK;
    for (size_t i = 0; i < f->layout->narray && st == CIP_OK; i++) {
        size_t len;
        const cip_array *a = f->layout->array[i];
        assert_true(a->st != CIP_ERR_NOMEM &&
                    a->st != CIP_ERR_IO); /* that is no fault of its own */
        uint8_t *p = one_read(f, i, &len);
        if (p == NULL && (f->err.code == CIP_ERR_NOMEM || f->err.code == CIP_ERR_IO))
            st = (cip_status)f->err.code;
        free(p);
        if (a->st == CIP_OK && a->mask.array != NULL && st == CIP_OK)
            st = cip_space_resolve(a->mask.array->space, &(cip_space *){ NULL }, &f->err);
    }
    cip_report_init(&rep, &f->env.mem, true, NULL, NULL);
    if (st == CIP_OK)
        st = cip_format_asdf.verify(f->layout, 1, &rep, &f->err);
    cip_report_clear(&rep);
    return st;
}

/* Right whatever was cut off or changed in the other one. */
static bool six_or_nothing(one_file *f)
{
    return make_try(f, "a") != CIP_OK || make_gives_six(f, "a");
}

static void every_truncation_gives_the_data_or_an_error(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[3], ngiven = 0;
    make_two(&m, at);
    for (size_t n = 0; n < m.len; n++) {
        one_file f;
        cip_status st = one_open(&f, &cip_format_asdf, m.ptr, n, 0, NULL);
        if (st == CIP_OK) {
            assert_true(six_or_nothing(&f));
            ngiven += make_gives_six(&f, "a");
            assert_true(make_try(&f, "b") != CIP_OK || make_gives_three(&f, "b"));
            assert_int_equal(make_try(&f, "a") == CIP_OK, n >= at[0] + 78);
            assert_int_equal(make_try(&f, "b") == CIP_OK, n >= at[1] + 78);
            use_all(&f);
        } else {
            assert_true(n < at[0]);
        }
        one_close(&f);
    }
    assert_int_equal(ngiven, m.len - at[0] - 78);
    make_clear(&m);
}

/* Each bit of what is no payload is flipped; all must end in order, whatever it means then. */
static void every_flipped_bit_ends_in_order(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    size_t at[3];
    make_two(&m, at);
    for (size_t i = 0; i < m.len; i++)
        for (int bit = 0; bit < 8; bit++) {
            one_file f;
            m.ptr[i] ^= (uint8_t)(1 << bit);
            if (make_open(&f, &m, 0) == CIP_OK) {
                use_all(&f);
                if (i >= at[2]) /* in the index: nothing is lost */
                    assert_true(make_gives_six(&f, "a") && make_gives_three(&f, "b"));
                if (i >= at[1] && i < at[2]) /* in the second block */
                    assert_true(make_gives_six(&f, "a"));
                if (i >= at[0] && i < at[1]) /* in the first: found by the index */
                    assert_true(make_try(&f, "b") != CIP_OK || make_gives_three(&f, "b"));
            } else {
                assert_true(i < at[0]);
            }
            one_close(&f);
            m.ptr[i] ^= (uint8_t)(1 << bit);
        }
    make_clear(&m);
}

/* --- five blocks, any byte of any header wrong ------------------------------------------------ */

enum { FIVE = 5, FIVE_BYTES = 24 };
static size_t five_kind_now;
static char five_what[80]; /* what is damaged, for messages */

/* How the five blocks are written. */
typedef struct five_kind {
    size_t slack;   /* allocated beyond used */
    uint16_t extra; /* header bytes behind the known ones */
    bool index, from_end, streamed, no_sum;
} five_kind;

static void five_value(size_t i, uint8_t out[FIVE_BYTES])
{
    for (size_t k = 0; k < FIVE_BYTES; k++)
        out[k] = (uint8_t)(16 * (i + 1) + k % 16);
}

/* Arrays a0 to a4 of blocks 0 to 4, the last of them by a source from the end. */
static void make_five(asdf_make *m, const five_kind *kind, size_t at[FIVE])
{
    static const uint8_t zeros[256];
    char tree[1024];
    size_t n = 0;
    for (int i = 0; i < FIVE; i++)
        n += (size_t)snprintf(
            tree + n, sizeof tree - n,
            "a%d: !core/ndarray-1.0.0 {source: %d, datatype: uint8, byteorder: little, shape: "
            "[%s]}\n",
            i, kind->from_end && i + 1 == FIVE ? -1 : i,
            kind->streamed && i + 1 == FIVE ? "'*'" : "24");
    make_tree(m, tree);
    for (size_t i = 0; i < FIVE; i++) {
        uint8_t data[FIVE_BYTES];
        asdf_make b = { 0 };
        five_value(i, data);
        make_raw(&b, data, sizeof data);
        cip_store_u16(b.ptr + 4, (uint16_t)(48 + kind->extra), true);
        cip_store_u64(b.ptr + 14, FIVE_BYTES + kind->slack, true);
        if (kind->no_sum)
            memset(b.ptr + 38, 0, 16);
        if (kind->streamed && i + 1 == FIVE) {
            memset(b.ptr + 6, 0, 48);
            b.ptr[9] = ASDF_STREAMED;
        }
        at[i] = make_bytes(m, b.ptr, ASDF_HEADER_LEN);
        make_bytes(m, zeros, kind->extra);
        make_bytes(m, data, sizeof data);
        if (!kind->streamed || i + 1 != FIVE)
            make_bytes(m, zeros, kind->slack);
        make_clear(&b);
    }
    if (kind->index)
        make_index(m, at, FIVE);
}

/* How many arrays are given; each that is must be right. */
static int five_given(one_file *f)
{
    int n = 0;
    for (size_t i = 0; i < FIVE; i++) {
        const char path[] = { 'a', (char)('0' + i), '\0' };
        uint8_t want[FIVE_BYTES];
        five_value(i, want);
        bool given = make_try(f, path) == CIP_OK;
        if (given && !make_gives(f, path, want, sizeof want))
            fail_msg("%s has other values (%s)", path, five_what);
        n += given;
    }
    return n;
}

static void damage_byte(asdf_make *m, size_t off, uint8_t value, const five_kind *kind)
{
    one_file f;
    uint8_t was = m->ptr[off];
    snprintf(five_what, sizeof five_what, "kind %d, byte %zu, %d", (int)five_kind_now, off, value);
    m->ptr[off] = value;
    cip_status st = make_open(&f, m, 0);
    if (st != CIP_OK)
        fail_msg("%s: %s", five_what, f.err.text);
    int n = five_given(&f);
    if (kind->index && n < FIVE - 1)
        fail_msg("%d arrays are given", n);
    one_close(&f);
    m->ptr[off] = was;
}

static void no_damaged_header_byte_gives_an_array_other_values(void **state)
{
    (void)state;
    static const five_kind kinds[] = {
        { .index = true },
        { .index = false },
        { .index = true, .from_end = true },
        { .from_end = true },
        { .slack = 10, .index = true },
        { .slack = 10 },
        { .slack = 78, .from_end = true },
        { .extra = 10, .index = true },
        { .extra = 10, .from_end = true },
        { .extra = 10, .slack = 20, .index = true },
        { .extra = 10, .slack = 20 },
        { .streamed = true, .from_end = true },
        { .streamed = true, .from_end = true, .no_sum = true },
        { .no_sum = true, .from_end = true, .index = true },
        { .no_sum = true, .from_end = true },
    };
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        asdf_make m = { 0 };
        size_t at[FIVE];
        make_five(&m, &kinds[k], at);
        five_kind_now = k;
        const uint8_t more[] = { 0, 0xff, 58, 48, 78, 88, 102, 126, 156, 112 };
        for (size_t i = 0; i < FIVE; i++)
            for (size_t off = at[i]; off < at[i] + ASDF_HEADER_LEN; off++) {
                for (int bit = 0; bit < 8; bit++)
                    damage_byte(&m, off, (uint8_t)(m.ptr[off] ^ (1 << bit)), &kinds[k]);
                for (size_t v = 0; v < sizeof more; v++)
                    damage_byte(&m, off, more[v], &kinds[k]);
            }
        make_clear(&m);
    }
}

/* A whole header is overwritten: nothing is left that tells what was there. */
static void a_header_that_is_gone_costs_no_other_array_its_values(void **state)
{
    (void)state;
    for (int kind = 0; kind < 12; kind++) {
        const five_kind how = { .index = kind & 1, .from_end = kind & 2 };
        asdf_make m = { 0 };
        size_t at[FIVE];
        make_five(&m, &how, at);
        for (size_t i = 0; i < FIVE; i++) {
            one_file f;
            uint8_t was[ASDF_HEADER_LEN];
            memcpy(was, m.ptr + at[i], sizeof was);
            snprintf(five_what, sizeof five_what, "header %zu, %d", i, kind);
            memset(m.ptr + at[i], kind / 4 == 0 ? 0 : kind / 4 == 1 ? 0xff : 'x', sizeof was);
            assert_int_equal(make_open(&f, &m, 0), CIP_OK);
            int n = five_given(&f);
            assert_true(!how.index || n == FIVE - 1);
            one_close(&f);
            memcpy(m.ptr + at[i], was, sizeof was);
        }
        make_clear(&m);
    }
}

static void every_word_of_a_header_may_lie(void **state)
{
    (void)state;
    static const uint64_t lies[] = {
        0, 1, 23, 25, 1000, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX - 40, UINT64_MAX
    };
    asdf_make m = { 0 };
    size_t at[3];
    make_two(&m, at);
    for (size_t field = 6; field <= 46; field += 8)
        for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
            one_file f;
            uint8_t was[8];
            memcpy(was, m.ptr + at[0] + field, 8);
            cip_store_u64(m.ptr + at[0] + field, lies[i], true);
            assert_int_equal(make_open(&f, &m, 0), CIP_OK);
            assert_true(six_or_nothing(&f));
            assert_true(field == 6 ||
                        make_gives_three(&f, "b")); /* 6: it may have become a stream */
            use_all(&f);
            one_close(&f);
            memcpy(m.ptr + at[0] + field, was, 8);
        }
    make_clear(&m);
}

/* One of everything that takes memory. */
static void make_rich(asdf_make *m)
{
    static const uint8_t lz4[] = { 0, 0, 0, 8, 3, 0, 0, 0, 0x30, 'a', 'b', 'c' };
    make_text(
        m,
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n# comment\n\n" MAKE_YAML
        "asdf_library: {name: x, version: '1'}\nhistory: {extensions: [{extension_class: c}]}\n"
        "a: &a " MAKE_INT32 "b: *a\n"
        "i: !core/ndarray-1.0.0 {data: [[1, a], [~, b]], mask: 5}\n"
        "j: !core/ndarray-1.0.0 {data: [1, 2], mask: 2}\n"
        "k: !core/ndarray-1.0.0 {data: [1, 2], mask: [true, false]}\n"
        "n: !core/ndarray-1.0.0 [1, ~]\n"
        "r: !core/ndarray-1.0.0 {source: 0, datatype: [int8, {name: b, datatype: [ucs4, 1], shape: "
        "[2]}], "
        "shape: [1]}\n"
        "x: !core/ndarray-1.0.0 {source: 1, datatype: [ascii, 3], byteorder: little, shape: []}\n"
        "y: {$ref: '#/a'}\nz: {$ref: '#/nope'}\nw: !core/ndarray-1.0.0 {}\n"
        "q: !unit/quantity-1.1.0 {value: *a, unit: m}\n"
        "v: !core/integer-1.0.0 {words: !core/ndarray-1.0.0 [7], string: '8'}\n"
        "e: !core/ndarray-1.0.0 {source: e.asdf, datatype: int8, byteorder: little, shape: "
        "[1]}\n...\n");
    size_t at[2] = { make_six(m), make_block(m, "lz4\0", lz4, sizeof lz4, 3) };
    make_index(m, at, 2);
}

static void running_out_of_memory_is_survived_everywhere(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    make_rich(&m);
    for (size_t n = 1;; n++) {
        fail_alloc alloc = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        one_file f;
        cip_status st = one_open(&f, &cip_format_asdf, m.ptr, m.len, 0, &from);
        if (st == CIP_OK)
            st = use_all(&f);
        if (st != CIP_OK && (st != CIP_ERR_NOMEM || f.err.code != CIP_ERR_NOMEM))
            print_error("request %zu: %s: %s\n", n, cip_status_name(st), f.err.text);
        assert_true(st == CIP_OK || (st == CIP_ERR_NOMEM && f.err.code == CIP_ERR_NOMEM));
        one_close(&f);
        assert_int_equal(alloc.held, 0);
        if (alloc.requests < n) {
            assert_int_equal(st, CIP_OK);
            assert_in_range(n, 50, 10000);
            break;
        }
    }
    make_clear(&m);
}

/* Opens over an io that counts; how many reads there were. */
static cip_status open_counted(const asdf_make *m, fault_io *fault, size_t fail_at)
{
    cip_env env;
    cip_layout *l;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_env_init(&env, NULL, NULL, NULL, NULL), CIP_OK);
    cip_io *io = fault_io_init(fault, &env, m->ptr, m->len);
    fault->fail_at = fail_at;
    assert_int_equal(cip_layout_new(&env, io, &l, NULL), CIP_OK);
    cip_status st = cip_format_asdf.open(l, &err);
    assert_int_equal(err.code, st);
    cip_layout_free(l);
    cip_env_clear(&env);
    return st;
}

static void small_files_are_opened_with_one_read(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    fault_io fault;
    size_t at[3];
    make_two(&m, at);
    assert_int_equal(open_counted(&m, &fault, 0), CIP_OK);
    assert_int_equal(fault.reads, 1);
    make_clear(&m);
}

static void large_blocks_are_not_read_when_opening(void **state)
{
    (void)state;
    asdf_make m = { 0 };
    fault_io fault;
    uint8_t *big = calloc(4 << 20, 1);
    big[(4 << 20) - 1] = 1;
    make_tree(&m, "a: " MAKE_INT32);
    size_t at[4];
    for (int i = 0; i < 4; i++)
        at[i] = make_raw(&m, big, 4 << 20);
    free(big);
    size_t no_index = m.len;
    make_index(&m, at, 4);
    assert_int_equal(open_counted(&m, &fault, 0), CIP_OK);
    assert_in_range(fault.reads, 5, 6); /* head, tail, headers */
    assert_in_range(fault.nbytes, 1, (64 << 10) + 8192);
    m.len = no_index;
    assert_int_equal(open_counted(&m, &fault, 0), CIP_OK);
    assert_in_range(fault.reads, 5, 8);
    assert_in_range(fault.nbytes, 1, (64 << 10) + 8 * 4096);
    m.ptr[m.len - 1] = 0; /* data that end in NULs may hide an index before them */
    assert_int_equal(open_counted(&m, &fault, 0), CIP_OK);
    assert_in_range(fault.reads, 10, 12);
    assert_in_range(fault.nbytes, 1 << 20, 3 << 19);
    make_clear(&m);
}

static void failing_reads_are_reported(void **state)
{
    (void)state;
    static uint8_t pad[100000];
    asdf_make m = { 0 };
    size_t at[3];
    memset(pad, 'x', sizeof pad);
    make_text(&m, MAKE_LINES MAKE_YAML "a: " MAKE_INT32 "s: '");
    make_bytes(&m, pad, sizeof pad);
    make_text(&m, "'\n...\n");
    make_bytes(&m, pad, sizeof pad); /* padding, to be searched */
    at[0] = make_six(&m);
    make_bytes(&m, pad, sizeof pad); /* a gap */
    at[1] = make_raw(&m, pad, sizeof pad);
    at[2] = make_three(&m);
    make_index(&m, at, 3);
    for (int damage = 0; damage < 2; damage++) {
        if (damage)
            strstr((char *)m.ptr + m.len - 60, "- ")[2]++; /* the index is wrong: a walk */
        for (size_t n = 1;; n++) {
            fault_io fault;
            cip_status st = open_counted(&m, &fault, n);
            assert_int_equal(st, fault.reads < n ? CIP_OK : CIP_ERR_IO);
            if (st == CIP_OK) {
                assert_in_range(n, 5, 30);
                break;
            }
        }
    }
    make_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_truncation_gives_the_data_or_an_error),
        cmocka_unit_test(every_flipped_bit_ends_in_order),
        cmocka_unit_test(no_damaged_header_byte_gives_an_array_other_values),
        cmocka_unit_test(a_header_that_is_gone_costs_no_other_array_its_values),
        cmocka_unit_test(every_word_of_a_header_may_lie),
        cmocka_unit_test(running_out_of_memory_is_survived_everywhere),
        cmocka_unit_test(small_files_are_opened_with_one_read),
        cmocka_unit_test(large_blocks_are_not_read_when_opening),
        cmocka_unit_test(failing_reads_are_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
