/* SPDX-License-Identifier: BSD-3-Clause
 * Any text as the tree of a file with two blocks, so that what it describes has data. */
#include "support/format/asdf/asdf_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    asdf_make m = { 0 };
    make_text(&m, MAKE_LINES MAKE_YAML);
    make_bytes(&m, data, size);
    make_text(&m, "\n...\n");
    make_six(&m);
    make_three(&m);
    one_fuzz(&cip_format_asdf, m.ptr, m.len);
    make_clear(&m);
    return 0;
}
