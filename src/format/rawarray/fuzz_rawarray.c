/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a RawArray file: open, read, verify, query. */
#include "format/rawarray/rawarray.h"
#include "support/one_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    one_fuzz(&cip_format_rawarray, data, size);
    return 0;
}
