/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a .npy file that is changed twice: the first two say how. */
#include "support/fuzz_update.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cip_memory *m;
    if (size < 2 || cip_memory_new(data + 2, size - 2, &m, NULL) != CIP_OK)
        return 0;
    if (fuzz_update(m, "npy", data[0]))
        fuzz_update(m, "npy", data[1]);
    cip_memory_free(m);
    return 0;
}
