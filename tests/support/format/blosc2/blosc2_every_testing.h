/* SPDX-License-Identifier: BSD-3-Clause
 * For tests of damage: a frame cut at each place and with each byte changed to each other value, in
 * memory of exactly its size; opened, read and verified with every chunk decoded. */
#ifndef CIP_TESTS_BLOSC2_EVERY_TESTING_H
#define CIP_TESTS_BLOSC2_EVERY_TESTING_H

#include "support/format/blosc2/b2_testing.h"
#include "support/one_format.h"

/* The layout's array, whole, if it is small; every chunk verified. */
static inline cip_status b2_use(cip_layout *l, cip_err *err)
{
    uint8_t raw[256];
    const cip_read_how how = { l, NULL };
    cip_report report;
    cip_status st = CIP_OK;
    cip_report_init(&report, &l->env->mem, true, NULL, NULL);
    if (l->narray != 1 || l->array[0]->space->len > sizeof raw)
        st = CIP_ERR_RANGE;
    else
        st = cip_space_read_at(&how, l->array[0]->space, 0, raw, l->array[0]->space->len, err);
    if (st != CIP_ERR_RANGE)
        cip_format_blosc2.verify(l, 1, &report, err);
    cip_report_clear(&report);
    return st;
}

/* Of one file's bytes, that *user tells more about. */
typedef cip_status b2_try_fn(void *user, const uint8_t *p, size_t n);

static inline cip_status b2_try_frame(void *user, const uint8_t *p, size_t n)
{
    one_file f;
    (void)user;
    cip_status st = one_open(&f, &cip_format_blosc2, p, n, 0, NULL);
    if (st == CIP_OK)
        st = b2_use(f.layout, &f.err);
    one_close(&f);
    return st;
}

/* It is read as it is, and nowhere cut. */
static inline void b2_damage(b2_try_fn *try_bytes, void *user, uint8_t *p, size_t n)
{
    assert_int_equal(try_bytes(user, p, n), CIP_OK);
    for (size_t i = 0; i < n; i++) {
        uint8_t was = p[i];
        assert_int_not_equal(try_bytes(user, p, i), CIP_OK);
        for (unsigned k = 1; k < 256; k++) {
            p[i] = (uint8_t)(was ^ k);
            try_bytes(user, p, n);
        }
        p[i] = was;
    }
}

#endif
