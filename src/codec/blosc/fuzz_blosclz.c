/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a BloscLZ stream: what decodes to n bytes also does into exactly n, and not into one
 * less. */
#include <stdlib.h>
#include <string.h>

#include "codec/blosc/blosc.h"

enum { CAP = 1 << 16 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cip_bytes in = { data, size };
    uint8_t *first = malloc(CAP);
    size_t n = 0, again = 0;
    if (first != NULL && cip_blosclz_decode(in, first, CAP, &n, NULL) == CIP_OK && n != 0) {
        uint8_t *exact = malloc(n);
        require(exact != NULL);
        require(cip_blosclz_decode(in, exact, n, &again, NULL) == CIP_OK && again == n);
        require(memcmp(first, exact, n) == 0);
        require(cip_blosclz_decode(in, exact, n - 1, &again, NULL) != CIP_OK);
        free(exact);
    }
    free(first);
    return 0;
}
