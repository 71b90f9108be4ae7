/* SPDX-License-Identifier: BSD-3-Clause
 * Blocks of 0.1 for the tests beside it. */
#ifndef CIP_TESTS_ASDF_EARLY_TESTING_H
#define CIP_TESTS_ASDF_EARLY_TESTING_H

#include "support/format/asdf/asdf_testing.h"

#define EARLY_LINE "#ASDF 0.1.0\n"
#define EARLY_YAML "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/0.1.0/\n--- !core/asdf\n"

static inline void make_early_tree(asdf_make *m, const char *tree)
{
    make_text(m, EARLY_LINE EARLY_YAML);
    make_text(m, tree);
    make_text(m, "...\n");
}

/* A block of the form with `more` header bytes; sizes are n unless `p` has them. Gives where it
 * starts. */
static inline size_t make_early(asdf_make *m, asdf_block p, size_t more, const void *data, size_t n)
{
    static const uint8_t zeros[256];
    uint8_t head[ASDF_HEADER_LEN];
    p.used = p.used != 0 ? p.used : n;
    p.allocated = p.allocated != 0 ? p.allocated : p.used;
    p.data_size = p.data_size != 0 ? p.data_size : p.used;
    size_t len =
        cip_asdf_header_bytes(&p, (uint16_t)(cip_asdf_form_of(&p)->header_size + more), head);
    if (len > sizeof head)
        abort();
    size_t at = make_bytes(m, head, len);
    make_bytes(m, zeros, more);
    make_bytes(m, data, n);
    return at;
}

/* An encoded block of layout B: the chain's text and the payload. */
static inline size_t make_encoded(asdf_make *m, const char *chain, const void *p, size_t n,
                                  uint64_t memory_size)
{
    asdf_make body = { 0 };
    make_text(&body, chain);
    make_bytes(&body, p, n);
    const asdf_block piece = { .form = &cip_asdf_form_b,
                               .flags = ASDF_ENCODED,
                               .data_size = memory_size };
    size_t at = make_early(m, piece, 0, body.ptr, body.len);
    make_clear(&body);
    return at;
}

#endif
