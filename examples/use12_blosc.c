/* SPDX-License-Identifier: BSD-3-Clause
 * A Blosc chunk, buffer to buffer, with a context kept per thread; part of a chunk too. */
#include <stdio.h>
#include <string.h>

#include "cippus/cippus.h"

enum { COUNT = 10000, FIRST = 7000, PART = 5 };

int main(void)
{
    cip_err err = CIP_ERR_INIT;
    static float src[COUNT], back[COUNT], items[PART];
    static unsigned char dst[sizeof src + 32];
    for (int i = 0; i < COUNT; i++)
        src[i] = (float)(i / 100);
    const size_t nbytes = sizeof src, cap = sizeof dst, first = FIRST, count = PART;

    cip_blosc *b =
        cip_blosc_new(CIP_BLOSC_PARAMS(.codec = "lz4", .typesize = 4, .filter = "shuffle"), &err);
    size_t n = 0;
    cip_blosc_compress(b, src, nbytes, dst, cap, &n, &err);
    cip_blosc_decompress(b, dst, n, back, nbytes, &err);
    cip_blosc_items(b, dst, n, first, count, items, &err);
    cip_blosc_free(b);

    printf("%s, smaller: %s, equal: %s, item %d: %g\n", cip_status_name((cip_status)err.code),
           n < nbytes / 20 ? "yes" : "no", memcmp(src, back, nbytes) == 0 ? "yes" : "no",
           FIRST + PART - 1, (double)items[PART - 1]);
    return err.code;
}
