/* SPDX-License-Identifier: BSD-3-Clause
 * Dtypes that belong to the caller: each with all that it points to. */
#include <string.h>

#include "array/elem.h"
#include "base/endian.h"

typedef struct own_dtype {
    cip_dtype dtype; /* first: its address is what the caller has */
    cip_mem mem;
    cip_arena arena;
} own_dtype;

cip_dtype *cip_dtype_parse(const char *text, cip_err *err)
{
    err = cip_err_enter(err);
    own_dtype *own;
    const cip_dtype *d = NULL;
    if (text == NULL) {
        cip_fail_in(err, cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a dtype, found NULL"),
                    CIP_PART_DTYPE);
        return NULL;
    }
    cip_status st = cip_mem_handle(NULL, sizeof *own, (void **)&own, err);
    if (st == CIP_OK) {
        cip_mem_init(&own->mem, NULL, 0);
        own->arena.mem = &own->mem;
        st = cip_dtype_of_text(&own->arena, text, strlen(text), CIP_HOST_BIG, &d, err);
        if (st == CIP_OK) {
            own->dtype = *d;
            return &own->dtype;
        }
        cip_dtype_free(&own->dtype);
    }
    cip_fail_in(err, st, CIP_PART_DTYPE);
    return NULL;
}

void cip_dtype_free(cip_dtype *dtype)
{
    own_dtype *own = (own_dtype *)dtype;
    if (own == NULL)
        return;
    cip_arena_clear(&own->arena);
    cip_mem_handle_free(NULL, own);
}
