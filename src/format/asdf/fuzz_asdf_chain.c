/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as an encoded block of ASDF 0.1: the first says how long the array is that the tree has
 * over it (times the second), the third its type; the rest is the block, chain and all. Tiles and
 * quantized chunks come with it. Opened, read, read again in pieces, verified. */
#include "base/endian.h"
#include "format/asdf/asdf.h"
#include "support/one_format.h"

enum { OWN = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        const char *name;
        size_t size;
    } types[] = { { "float32", 4 }, { "float64", 8 }, { "uint8", 1 }, { "int16", 2 } };
    char text[300];
    uint8_t head[ASDF_HEADER_LEN];
    if (size < OWN)
        return 0;
    size_t kind = data[2] % 4, n = size - OWN;
    uint64_t count = (uint64_t)data[0] * data[1];
    int len =
        snprintf(text, sizeof text,
                 "#ASDF 0.1.0\n%%YAML 1.1\n%%TAG ! tag:stsci.edu:asdf/0.1.0/\n--- !core/asdf\n"
                 "a: !core/ndarray {source: 0, datatype: %s, byteorder: %s, shape: [%d, %d]}\n"
                 "...\n",
                 types[kind].name, (data[2] & 4) != 0 ? "big" : "little", data[0], data[1]);
    const asdf_block piece = { .form = &cip_asdf_form_b,
                               .flags = ASDF_ENCODED,
                               .allocated = n,
                               .used = n,
                               .data_size = count * types[kind].size };
    size_t nhead = cip_asdf_header_bytes(&piece, cip_asdf_form_b.header_size, head);
    uint8_t *file = malloc((size_t)len + nhead + n);
    if (file == NULL)
        return 0;
    memcpy(file, text, (size_t)len);
    memcpy(file + len, head, nhead);
    memcpy(file + (size_t)len + nhead, data + OWN, n);
    one_fuzz(&cip_format_asdf, file, (size_t)len + nhead + n);
    free(file);
    return 0;
}
