/* SPDX-License-Identifier: BSD-3-Clause
 * What the tests of this folder share: an arena for each test, dtypes from text, elements as text,
 * and a generator of numbers that gives the same ones everywhere. */
#ifndef CIP_TESTS_ARRAY_TESTING_H
#define CIP_TESTS_ARRAY_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array/elem.h"
#include "base/buffer.h"

/* A test's state: made by rig_setup, checked for leaks by rig_teardown. */
typedef struct rig {
    cip_mem mem;
    cip_arena arena;
    cip_err err;
} rig;

static inline int rig_setup(void **state)
{
    rig *r = calloc(1, sizeof *r);
    if (r == NULL)
        return 1;
    cip_mem_init(&r->mem, NULL, 0);
    r->arena.mem = &r->mem;
    *state = r;
    return 0;
}

static inline int rig_teardown(void **state)
{
    rig *r = *state;
    cip_arena_clear(&r->arena);
    int leaked = r->mem.used != 0;
    free(r);
    return leaked;
}

#define RIG_TEST(f) cmocka_unit_test_setup_teardown(f, rig_setup, rig_teardown)

/* The dtype of a text that is one; numbers without an order mark are little-endian. */
static inline const cip_dtype *dtype_of(rig *r, const char *text)
{
    const cip_dtype *d = NULL;
    if (cip_dtype_of_text(&r->arena, text, strlen(text), false, &d, &r->err) != CIP_OK)
        fail_msg("%s: %s", text, r->err.text);
    return d;
}

/* What a text that is no dtype gives; the position is in r->err.offset. */
static inline cip_status dtype_error(rig *r, const char *text)
{
    const cip_dtype *d = (const cip_dtype *)r;
    r->err.offset = 0;
    cip_status st = cip_dtype_of_text(&r->arena, text, strlen(text), false, &d, &r->err);
    assert_null(d);
    return st;
}

/* Whether the buffer holds just this text; it is emptied. */
static inline void assert_text(cip_buf *b, const char *want)
{
    assert_int_equal(cip_buf_nul(b, NULL), CIP_OK);
    assert_string_equal((const char *)b->ptr, want);
    b->len = 0;
}

/* xorshift64: never 0 from a nonzero seed. */
static inline uint64_t random_u64(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* 0 ... n - 1 */
static inline int64_t random_below(uint64_t *seed, int64_t n)
{
    return (int64_t)(random_u64(seed) >> 11) % n;
}

#endif
