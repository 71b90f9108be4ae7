/* SPDX-License-Identifier: BSD-3-Clause
 * Any text as the metadata of a good file: a changed byte would otherwise end at their lengths and
 * digest. */
#include "base/endian.h"
#include "format/bloscpack/bloscpack.h"
#include "support/one_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A header of one chunk of 1000 bytes, and a metadata header without codec or digest. */
static const uint8_t head[CIP_BP_HEADER + CIP_BP_META_HEADER] = {
    'b', 'l', 'p', 'k', 3, 2, 0, 1, 0xe8, 3, 0, 0, 0xe8, 3, 0, 0, 1, [32] = 'J', 'S', 'O', 'N',
};
static const uint8_t chunk[16 + 1000] = { 2, 1, 2, 1, 0xe8, 3, 0, 0, 0xe8, 3, 0, 0, 0xf8, 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t n = sizeof head + size + sizeof chunk;
    uint8_t *file = (uint8_t *)malloc(n);
    if (file == NULL || size > UINT32_MAX)
        abort();
    memcpy(file, head, sizeof head);
    for (size_t k = 0; k < 3; k++)
        cip_store_u32(file + 32 + 12 + 4 * k, (uint32_t)size, false);
    if (size != 0)
        memcpy(file + sizeof head, data, size);
    memcpy(file + sizeof head + size, chunk, sizeof chunk);
    one_fuzz(&cip_format_bloscpack, file, n);
    free(file);
    return 0;
}
