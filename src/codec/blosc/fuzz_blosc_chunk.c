/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a Blosc chunk, whose first byte is its version. Decoded whole and in two pieces, by
 * what `needs` asks for, to memory of exactly the size: if the whole decodes, so do the pieces, and
 * to the same. Blocks have 8 columns, where that is possible. */
#include <stdlib.h>
#include <string.h>

#include "support/codec/blosc/blosc_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    blosc_both_ways_agree((cip_bytes){ data, size }, 1 << 20);
    return 0;
}
