/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a FITS file that is changed twice: the first two say how. */
#include "support/fuzz_update.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_update_twice("fits", data, size);
}
