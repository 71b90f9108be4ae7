/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a frame or a bare chunk: open, read, list the chunks, verify. */
#include "format/blosc2/blosc2.h"
#include "support/one_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void list_chunks(const uint8_t *data, size_t size)
{
    one_file f;
    const cip_limits small = { .size = sizeof small, .max_memory = 16 << 20 };
    if (one_open_limited(&f, &cip_format_blosc2, data, size, 0, NULL, &small) == CIP_OK &&
        f.layout->list_blocks != NULL)
        f.layout->list_blocks(f.layout, &f.err);
    one_close(&f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    one_fuzz(&cip_format_blosc2, data, size);
    list_chunks(data, size);
    return 0;
}
