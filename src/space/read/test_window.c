/* SPDX-License-Identifier: BSD-3-Clause
 * How many reads a walk over headers makes, and that it finds the bytes of the file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "space/read/window.h"

enum { SIZE = 1 << 20 };

typedef struct rig {
    cip_env env;
    cip_layout *layout;
    cip_window w;
    uint8_t file[SIZE];
    unsigned reads;
    uint64_t nbytes, dead; /* bytes read; a read that touches byte `dead` fails */
} rig;

static rig g;

static cip_status rig_size(void *user, uint64_t *n, cip_err *err)
{
    (void)user, (void)err;
    *n = SIZE;
    return CIP_OK;
}

static cip_status rig_read(void *user, const cip_range *r, size_t n, cip_err *err)
{
    (void)user;
    for (size_t i = 0; i < n; i++) {
        g.reads++;
        g.nbytes += r[i].nbytes;
        if (g.dead >= r[i].offset && g.dead - r[i].offset < r[i].nbytes)
            return cip_fail(err, CIP_ERR_IO, g.dead, "the disk is dead");
        memcpy(r[i].dst, g.file + r[i].offset, r[i].nbytes);
    }
    return CIP_OK;
}

static int setup(void **state)
{
    static const cip_io_methods methods = { CIP_IO_METHODS_INIT, .read_ranges = rig_read,
                                            .size = rig_size };
    cip_io *io;
    (void)state;
    for (size_t i = 0; i < SIZE; i++)
        g.file[i] = (uint8_t)(i * 2654435761u >> 13);
    assert_int_equal(cip_env_init(&g.env, NULL, NULL, NULL, NULL), CIP_OK);
    assert_int_equal(cip_io_open_user(&g.env, &methods, &g, &io, NULL), CIP_OK);
    assert_int_equal(cip_layout_new(&g.env, io, &g.layout, NULL), CIP_OK);
    g.layout->owns_io = true;
    g.w = (cip_window){ .layout = g.layout, .in = g.layout->file };
    g.reads = 0;
    g.nbytes = 0;
    g.dead = UINT64_MAX;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cip_window_clear(&g.w);
    cip_layout_free(g.layout);
    cip_env_clear(&g.env);
    return 0;
}

static void next(uint64_t off, size_t n)
{
    cip_bytes in;
    assert_int_equal(cip_window_next(&g.w, off, n, &in, NULL), CIP_OK);
    assert_int_equal(in.len, n < SIZE - off ? n : SIZE - off);
    assert_memory_equal(in.ptr, g.file + off, in.len);
}

static void headers_near_each_other_come_together(void **state)
{
    (void)state;
    for (uint64_t off = 100; off < SIZE; off += 1000)
        next(off, 32);
    assert_in_range(g.reads, 16, 20);
    assert_in_range(g.nbytes, SIZE - 20 * 1000, SIZE);
}

static void headers_far_from_each_other_come_alone(void **state)
{
    (void)state;
    unsigned n = 0;
    for (uint64_t off = 0; off < SIZE; off += 4096, n++)
        next(off, 32);
    assert_int_equal(g.reads, n);
    assert_int_equal(g.nbytes, 32 * n);
    next(100, 32); /* and one that lies before */
    assert_int_equal(g.nbytes, 32 * n + 32);
}

static void more_than_lies_there_is_not_found(void **state)
{
    (void)state;
    cip_bytes in;
    next(SIZE - 10, 32);
    assert_int_equal(cip_window_next(&g.w, SIZE, 32, &in, NULL), CIP_OK);
    assert_int_equal(in.len, 0);
    assert_int_equal(cip_window_peek(&g.w, SIZE + 5, 32, 0, &in, NULL), CIP_OK);
    assert_int_equal(in.len, 0);
}

static void a_read_that_fails_leaves_nothing_behind(void **state)
{
    (void)state;
    cip_bytes in;
    g.dead = 5000;
    next(4200, 32);
    assert_int_equal(cip_window_next(&g.w, 4300, 32, &in, NULL), CIP_ERR_IO);
    g.dead = UINT64_MAX;
    next(4300, 32);
    next(5000, 32);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(headers_near_each_other_come_together),
        TEST(headers_far_from_each_other_come_alone),
        TEST(more_than_lies_there_is_not_found),
        TEST(a_read_that_fails_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
