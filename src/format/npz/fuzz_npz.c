/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a .npz file: open, read, verify. */
#include "format/npz/npz.h"
#include "support/one_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    one_fuzz(&cip_format_npz, data, size);
    return 0;
}
