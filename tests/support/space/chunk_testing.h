/* SPDX-License-Identifier: BSD-3-Clause
 * What tests of chunks share: a fake file for each test, and spaces of chunks in it. Behind
 * cmocka.h. */
#ifndef CIP_TESTS_CHUNK_TESTING_H
#define CIP_TESTS_CHUNK_TESTING_H

#include <string.h>

#include "space/read/reader.h"
#include "support/own_fake.h"

static _Atomic int ndecode; /* calls of a codec that counts them */

static inline cip_step step_of(const cip_codec *c)
{
    return (cip_step){ .codec = c };
}

/* `text` in the file. */
static inline cip_extent in_file(const char *text, size_t n)
{
    return (cip_extent){ f.layout->file, fake_append(&f, text, n), n };
}

static inline cip_space *chunked(const cip_chunk *c, size_t n, uint64_t len, const cip_codec *codec)
{
    cip_table t;
    cip_space *s;
    cip_step step = step_of(codec);
    assert_int_equal(cip_table_from_array(f.layout, c, n, &t, NULL), CIP_OK);
    assert_int_equal(
        cip_space_new_chunked(f.layout, &t, len, &step, codec != NULL ? 1 : 0, &s, NULL), CIP_OK);
    return s;
}

static inline cip_status read_at(cip_space *s, uint64_t off, void *dst, size_t n, cip_err *err)
{
    return cip_space_read_at(&f.how, s, off, dst, n, err);
}

#endif
