/* SPDX-License-Identifier: BSD-3-Clause
 * Runs of bytes that differ. */
#include "base/difference.h"

#include <string.h>

enum { STEP = 256 /* bytes that are compared at once while they are equal */ };

bool cip_next_difference(const uint8_t *a, const uint8_t *b, size_t n, size_t near, size_t *from,
                         size_t *to)
{
    size_t i = *from;
    while (n - i >= STEP && memcmp(a + i, b + i, STEP) == 0)
        i += STEP;
    while (i < n && a[i] == b[i])
        i++;
    *from = i;
    if (i == n)
        return false;
    size_t end = i;
    for (size_t k = end; k < n && k - end < near; k++)
        if (a[k] != b[k])
            end = k + 1;
    *to = end;
    return true;
}
