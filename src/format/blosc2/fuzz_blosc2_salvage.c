/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a frame that is damaged, read as far as it is certain, or in the file's order. */
#include "format/blosc2/blosc2.h"
#include "support/one_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    one_fuzz_with(&cip_format_blosc2, CIP_OPEN_SALVAGE, data, size);
    one_fuzz_with(&cip_format_blosc2, CIP_OPEN_SALVAGE | CIP_OPEN_IN_ORDER, data, size);
    return 0;
}
