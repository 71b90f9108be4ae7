/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as an HDF5 file: open, read, verify. */
#include "format/hdf5/hdf5.h"
#include "support/one_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    one_fuzz(&cip_format_hdf5, data, size);
    return 0;
}
