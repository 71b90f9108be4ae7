/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as the metalayer of an n-d array: its shapes, its dtype's text; what is accepted makes
 * an array. The first byte is the frame's typesize. */
#include <stdlib.h>

#include "format/blosc2/blosc2.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_array(cip_arena *a, const cip_b2_nd *nd)
{
    const cip_dtype *d;
    const char *why;
    cip_nd view;
    if (cip_b2_nd_dtype(a, nd, &d, &why, NULL) != CIP_OK)
        return;
    if (d->itemsize != nd->item)
        abort();
    if (cip_view_c_order(nd->ndim, nd->shape, nd->item, &view, NULL) == CIP_OK &&
        view.ndim != nd->ndim)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cip_env env;
    cip_b2_nd nd;
    if (size == 0 || cip_env_init(&env, NULL, NULL, NULL, NULL) != CIP_OK)
        return 0;
    cip_arena a = { .mem = &env.mem };
    const cip_b2_header h = { .typesize = (uint64_t)data[0] + 1, .chunksize = 64, .nbytes = 64 };
    if (cip_b2_nd_read((cip_bytes){ data + 1, size - 1 }, &nd, NULL) == CIP_OK) {
        nd.item = h.typesize;
        cip_b2_nd_check(&nd, &h, 1, NULL);
        check_array(&a, &nd);
    }
    cip_arena_clear(&a);
    cip_env_clear(&env);
    return 0;
}
