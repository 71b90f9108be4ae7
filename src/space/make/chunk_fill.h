/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays all of whose elements are one, in forms that store such chunks without data. */
#ifndef CIP_SPACE_CHUNK_FILL_H
#define CIP_SPACE_CHUNK_FILL_H

#include "space/layout/form.h"

typedef struct cip_fill {
    const uint8_t *elem; /* one of the form's dtype */
    bool unset;          /* nobody has set them, so that they may be any (elem: zeros) */
    uint64_t nelem;      /* of the array */
} cip_fill;

/* All chunks of such an array in a call or two; *done false, with nothing done, where the form
 * stores no chunk of this element without data. */
cip_status cip_chunks_fill(const cip_array_form *form, const cip_fill *fill, cip_store_fn *store,
                           void *user, bool *done, cip_err *err);

#endif
