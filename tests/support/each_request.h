/* SPDX-License-Identifier: BSD-3-Clause
 * Work in environments whose memory runs out, for tests. Included after cmocka.h. */
#ifndef CIP_TESTS_EACH_REQUEST_H
#define CIP_TESTS_EACH_REQUEST_H

#include "base/env.h"
#include "support/fail_alloc.h"

/* Does the work while its first request for memory fails, then its second one, up to where there
 * are no more: each is reported as NOMEM, and nothing stays in use. */
static inline void each_request_fails_once(cip_status (*work)(cip_env *with, void *user),
                                           void *user)
{
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        const cip_allocator from = { fail_alloc_resize, &f };
        cip_env with;
        assert_int_equal(cip_env_init(&with, NULL, &from, NULL, NULL), CIP_OK);
        const cip_status st = work(&with, user);
        cip_env_clear(&with);
        assert_int_equal(f.held, 0);
        assert_int_equal(st, f.requests < n ? CIP_OK : CIP_ERR_NOMEM);
        if (f.requests < n)
            break;
    }
}

#endif
