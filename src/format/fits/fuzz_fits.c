/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a FITS file: open, read, verify. */
#include "format/fits/fits.h"
#include "support/one_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    one_fuzz(&cip_format_fits, data, size);
    return 0;
}
