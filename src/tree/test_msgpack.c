/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "support/fail_alloc.h"
#include "tree/msgpack.h"
#include "support/tree/tree_testing.h"

#define READ(b, text, out)                                                                         \
    cip_msgpack_read(&(b)->arena, exact(b, text, sizeof text - 1), out, &(b)->err)

static void scalars_keep_their_types(void **state)
{
    bench *b = *state;
    const struct {
        const char *bytes;
        size_t n;
        int type;
        const char *text;
    } row[] = {
        { "\x2a", 1, CIP_NODE_INT, "42" },
        { "\xff", 1, CIP_NODE_INT, "-1" },
        { "\xcf\xff\xff\xff\xff\xff\xff\xff\xff", 9, CIP_NODE_INT, "18446744073709551615" },
        { "\xd1\xff\x00", 3, CIP_NODE_INT, "-256" },
        { "\xc0", 1, CIP_NODE_NULL, "null" },
        { "\xc3", 1, CIP_NODE_BOOL, "true" },
        { "\xca\x3f\x80\x00\x00", 5, CIP_NODE_FLOAT, "1.0" },
        { "\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00", 9, CIP_NODE_FLOAT, "1.5" },
        { "\xa3raw", 4, CIP_NODE_STRING, "raw" },
        { "\xd9\x03raw", 5, CIP_NODE_STRING, "raw" },
        { "\xa2\xff\xfe", 3, CIP_NODE_BINARY, "//4=" },
        { "\xc4\x03raw", 5, CIP_NODE_BINARY, "cmF3" },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cip_node *n;
        assert_int_equal(cip_msgpack_read(&b->arena, exact(b, row[i].bytes, row[i].n), &n, &b->err),
                         CIP_OK);
        assert_int_equal(n->type, row[i].type);
        assert_string_equal(n->text, row[i].text);
    }
}

static void collections_nest(void **state)
{
    bench *b = *state;
    cip_node *n;
    int64_t v;
    assert_int_equal(READ(b, "\x82\xa1k\x93\x01\x02\x03\x05\xdc\x00\x01\x80", &n), CIP_OK);
    assert_int_equal(cip_map_get(n, "k")->len, 3);
    assert_int_equal(cip_tree_get_int(n, "k/2", &v, &b->err), CIP_OK);
    assert_int_equal(v, 3);
    assert_int_equal(n->pair[1].key->type, CIP_NODE_INT);
    assert_int_equal(n->pair[1].value->item[0]->type, CIP_NODE_MAP);
}

static void python_types_are_tagged(void **state)
{
    bench *b = *state;
    cip_node *n;
    assert_int_equal(READ(b, "\x92\xa9__tuple__\x07", &n), CIP_OK);
    assert_string_equal(n->tag, "!tuple");
    assert_int_equal(n->len, 1);
    assert_int_equal(READ(b, "\xd8\x2c\x3f\xf0\0\0\0\0\0\0\xc0\0\0\0\0\0\0\0", &n), CIP_OK);
    assert_string_equal(n->tag, "!complex");
    assert_true(n->item[1]->f == -2);
    assert_int_equal(READ(b, "\xc7\x03\x2d\x92\x01\x02", &n), CIP_OK);
    assert_string_equal(n->tag, "!set");
    assert_int_equal(n->len, 2);
    assert_int_equal(READ(b, "\xc7\x05\x2b\x81\xa1k\xa1v", &n), CIP_OK);
    assert_string_equal(n->tag, "!reference");
    assert_int_equal(READ(b, "\xd5\x2a\x01\x02", &n), CIP_OK);
    assert_string_equal(n->tag, "!cframe");
    assert_int_equal(n->type, CIP_NODE_BINARY);
    assert_int_equal(READ(b, "\xd4\x63\x01", &n), CIP_OK);
    assert_string_equal(n->tag, "!ext");
    /* what should hold msgpack but does not is kept as it is */
    assert_int_equal(READ(b, "\xd5\x2d\xc1\xc1", &n), CIP_OK);
    assert_int_equal(n->type, CIP_NODE_BINARY);
}

static void other_bytes_are_no_msgpack(void **state)
{
    bench *b = *state;
    const struct {
        const char *bytes;
        size_t n;
    } row[] = { { "", 0 },
                { "\xc1", 1 },
                { "\x01\x02", 2 },
                { "\xa3ra", 3 },
                { "\x92\x01", 2 },
                { "\x81\x01", 2 },
                { "\xdd\xff\xff\xff\xff\x01", 6 },
                { "\xdf\xff\xff\xff\xff\x01\x02", 7 },
                { "\xc6\xff\xff\xff\xffzz", 7 },
                { "\xc9\xff\xff\xff\xff\x01z", 7 },
                { "\xd8\x01zz", 4 } };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cip_node *n;
        assert_int_equal(cip_msgpack_read(&b->arena, exact(b, row[i].bytes, row[i].n), &n, &b->err),
                         CIP_ERR_FORMAT);
    }
}

static void depth_and_number_are_limited(void **state)
{
    bench *b = *state;
    uint8_t deep[40];
    cip_node *n;
    memset(deep, 0x91, sizeof deep);
    deep[24] = 0x01;
    assert_int_equal(cip_msgpack_read(&b->arena, exact(b, deep, 25), &n, &b->err), CIP_OK);
    deep[24] = 0x91;
    deep[25] = 0x01;
    assert_int_equal(cip_msgpack_read(&b->arena, exact(b, deep, 26), &n, &b->err), CIP_ERR_LIMIT);
    size_t many = (1 << 18) + 1;
    uint8_t *wide = calloc(many + 5, 1);
    wide[0] = 0xdd;
    wide[2] = 0x04;
    wide[4] = 0x01;
    assert_int_equal(cip_msgpack_read(&b->arena, exact(b, wide, many + 5), &n, &b->err),
                     CIP_ERR_LIMIT);
    free(wide);
}

static void every_cut_and_every_byte_is_survived(void **state)
{
    bench *b = *state;
    static const char good[] = "\x83\xa1k\x92\xa9__tuple__\x07\xa1x\xc7\x05\x2b\x81\xa1k\xa1v\x05"
                               "\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00";
    const size_t n = sizeof good - 1;
    for (size_t i = 0; i < n; i++) {
        uint8_t bytes[sizeof good];
        cip_node *node;
        uint8_t *cut = malloc(i);
        memcpy(cut, good, i);
        cip_msgpack_read(&b->arena, (cip_bytes){ cut, i }, &node, NULL);
        free(cut);
        for (unsigned v = 0; v < 256; v++) {
            memcpy(bytes, good, n);
            bytes[i] = (uint8_t)v;
            cip_msgpack_read(&b->arena, (cip_bytes){ bytes, n }, &node, NULL);
        }
    }
}

static void nodes_are_written_as_they_were_read(void **state)
{
    bench *b = *state;
    static const struct {
        const char *bytes;
        size_t n;
    } row[] = {
#define ROW(text) { text, sizeof text - 1 }
        ROW("\xc0"),
        ROW("\xc2"),
        ROW("\xc3"),
        ROW("\x00"),
        ROW("\x7f"),
        ROW("\xcc\x80"),
        ROW("\xcc\xff"),
        ROW("\xcd\x01\x00"),
        ROW("\xcd\xff\xff"),
        ROW("\xce\x00\x01\x00\x00"),
        ROW("\xcf\x00\x00\x00\x01\x00\x00\x00\x00"),
        ROW("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"),
        ROW("\xff"),
        ROW("\xe0"),
        ROW("\xd0\xdf"),
        ROW("\xd0\x80"),
        ROW("\xd1\xff\x7f"),
        ROW("\xd1\x80\x00"),
        ROW("\xd2\xff\xff\x7f\xff"),
        ROW("\xd3\xff\xff\xff\xff\x7f\xff\xff\xff"),
        ROW("\xd3\x80\x00\x00\x00\x00\x00\x00\x00"),
        ROW("\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00"),
        ROW("\xa0"),
        ROW("\xa3raw"),
        ROW("\xd9\x20"
            "abcdefghijklmnopqrstuvwxyz012345"),
        ROW("\xc4\x00"),
        ROW("\xc4\x03raw"),
        ROW("\x90"),
        ROW("\x93\x01\xa1x\xc0"),
        ROW("\xdc\x00\x10"
            "0123456789abcdef"),
        ROW("\x80"),
        ROW("\x82\xa1k\x93\x01\x02\x03\x05\x80"),
        ROW("\x93\xa9__tuple__\x01\x02"),
        ROW("\xc7\x05\x2a"
            "frame"),
        ROW("\xd4\x2a"
            "f"),
        ROW("\xd8\x2a"
            "0123456789abcdef"),
        ROW("\xd8\x2c\x3f\xf8\x00\x00\x00\x00\x00\x00\x3f\xf0\x00\x00\x00\x00\x00\x00"),
        ROW("\xc7\x05\x2b\x81\xa1k\xa1v"),
        ROW("\xc7\x03\x2d\x92\x01\x02"),
#undef ROW
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cip_node *n;
        cip_msgpack_how how = { .lost = 0 };
        cip_buf out = { .mem = b->arena.mem };
        assert_int_equal(cip_msgpack_read(&b->arena, exact(b, row[i].bytes, row[i].n), &n, &b->err),
                         CIP_OK);
        assert_int_equal(cip_msgpack_write(n, &how, &out, &b->err), CIP_OK);
        assert_int_equal(out.len, row[i].n);
        assert_memory_equal(out.ptr, row[i].bytes, row[i].n);
        assert_int_equal(how.lost & ~(unsigned)CIP_MSGPACK_KEYS, 0);
        cip_buf_clear(&out);
    }
}

static bool is_text_x(void *user, const cip_node *n)
{
    (void)user;
    return cip_node_is_string(n, "x");
}

static void what_msgpack_lacks_is_told(void **state)
{
    bench *b = *state;
    static const struct {
        cip_node node;
        unsigned lost;
        const char *bytes;
    } row[] = {
        { { .type = CIP_NODE_STRING, .text = "a", .len = 1, .tag = "!own" },
          CIP_MSGPACK_TAGS,
          "\xa1"
          "a" },
        { { .type = CIP_NODE_STRING, .text = "a", .len = 1, .tag = "tag:yaml.org,2002:str" },
          0,
          "\xa1"
          "a" },
        { { .type = CIP_NODE_STRING, .text = "a", .len = 1, .tag = "!complex" },
          CIP_MSGPACK_TAGS,
          "\xa1"
          "a" },
        { { .type = CIP_NODE_BINARY, .text = "cmF3", .len = 4, .tag = "!ext" },
          CIP_MSGPACK_TAGS,
          "\xc4\x03raw" },
        { { .type = CIP_NODE_TIMESTAMP, .text = "2026-11-22", .len = 10 },
          CIP_MSGPACK_TYPES,
          "\xaa"
          "2026-11-22" },
        { { .type = CIP_NODE_BIGINT, .text = "18446744073709551616", .len = 20 },
          CIP_MSGPACK_TYPES,
          "\xb4"
          "18446744073709551616" },
    };
    cip_node *n, *again;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cip_msgpack_how how = { .lost = 0 };
        cip_buf out = { .mem = b->arena.mem };
        assert_int_equal(cip_msgpack_write(&row[i].node, &how, &out, &b->err), CIP_OK);
        assert_int_equal(how.lost, row[i].lost);
        const char *want = row[i].bytes;
        assert_int_equal(out.len, strlen(want));
        assert_memory_equal(out.ptr, want, out.len);
        cip_buf_clear(&out);
    }
    cip_msgpack_how without = { .leave_out = is_text_x };
    cip_buf out = { .mem = b->arena.mem };
    assert_int_equal(READ(b, "\x82\xa1k\xa1x\xa1l\x92\xa1x\x01", &n), CIP_OK);
    assert_int_equal(cip_msgpack_write(n, &without, &out, &b->err), CIP_OK);
    assert_int_equal(out.len, 6);
    assert_memory_equal(out.ptr, "\x81\xa1l\x92\xc0\x01", out.len);
    static const char *const odd[] = { "\x81\x01\x02", "\x91\x81\xc3\x02",
                                       "\x81\xcb@\x01\x01\x01\x01\x01\x01\x01\x02" };
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) { /* keys of other types */
        cip_msgpack_how how = { .lost = 0 };
        const cip_bytes in = exact(b, odd[i], strlen(odd[i]));
        out.len = 0;
        assert_int_equal(cip_msgpack_read(&b->arena, in, &n, &b->err), CIP_OK);
        assert_int_equal(cip_msgpack_write(n, &how, &out, &b->err), CIP_OK);
        assert_int_equal(how.lost, CIP_MSGPACK_KEYS);
    }
    out.len = 0;
    assert_int_equal(cip_node_new_seq(&b->arena, 1, &n, &b->err), CIP_OK); /* in itself */
    again = n;
    cip_node_set_item(n, 0, again);
    assert_int_equal(cip_msgpack_write(n, &without, &out, &b->err), CIP_ERR_LIMIT);
    cip_buf_clear(&out);
}

static void lack_of_memory_is_reported(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &f };
        bench b;
        cip_node *node;
        bench_start(&b, &from);
        cip_status st = READ(&b, "\x82\xa1k\x93\x01\x02\x03\x05\xc4\x03raw", &node);
        assert_int_equal(st, f.requests < n ? CIP_OK : CIP_ERR_NOMEM);
        bench_end(&b);
        assert_int_equal(f.held, 0);
        if (f.requests < n)
            break;
    }
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, bench_new, bench_free)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(scalars_keep_their_types),
        TEST(collections_nest),
        TEST(python_types_are_tagged),
        TEST(other_bytes_are_no_msgpack),
        TEST(depth_and_number_are_limited),
        TEST(every_cut_and_every_byte_is_survived),
        TEST(nodes_are_written_as_they_were_read),
        TEST(what_msgpack_lacks_is_told),
        cmocka_unit_test(lack_of_memory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
