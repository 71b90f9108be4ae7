/* SPDX-License-Identifier: BSD-3-Clause
 * What tests of chunks that move as they are stored share: random numbers from a seed, failures
 * that name it, and the comparison of stored chunks. */
#ifndef CIP_TESTS_MOVED_TESTING_H
#define CIP_TESTS_MOVED_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cippus/cippus.h"

enum { MOST = 1 << 14 /* bytes of an array */ };

static uint64_t now, drawn; /* the seed, and what was drawn last */

static size_t draw(size_t n)
{
    drawn = drawn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (size_t)(drawn >> 33) % n;
}

static void must(cip_status st, const cip_err *err)
{
    if (st != CIP_OK)
        fail_msg("seed %llu: %s", (unsigned long long)now, err->text);
}

/* All chunks of the only arrays of both but the last `hidden` ones. */
static void same_stored(const cip_file *f, const cip_file *g, uint64_t hidden)
{
    static uint8_t one[8 * MOST], two[8 * MOST];
    cip_err err = CIP_ERR_INIT;
    const cip_array *a = cip_find(f, "", &err), *b = cip_find(g, "", &err);
    uint64_t n, m;
    must(cip_chunk_count(a, &n, &err), &err);
    must(cip_chunk_count(b, &m, &err), &err);
    assert_int_equal(n, m);
    for (uint64_t i = 0; i < n - hidden; i++) {
        cip_chunk_info x = { .size = sizeof x }, y = { .size = sizeof y };
        size_t len = 0, other = 0;
        must(cip_chunk_at(a, i, &x, &err), &err);
        must(cip_chunk_at(b, i, &y, &err), &err);
        assert_int_equal(x.state, y.state);
        if (x.state != CIP_CHUNK_DATA)
            continue;
        must(cip_chunk_read(a, i, true, one, sizeof one, &len, &err), &err);
        must(cip_chunk_read(b, i, true, two, sizeof two, &other, &err), &err);
        if (len != other || memcmp(one, two, len) != 0)
            fail_msg("seed %llu: chunk %llu is another", (unsigned long long)now,
                     (unsigned long long)i);
    }
}

static int print_finding(void *user, const cip_finding *finding)
{
    (void)user;
    fail_msg("seed %llu: %s", (unsigned long long)now, finding->text);
    return 0;
}

#endif
