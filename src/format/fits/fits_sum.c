/* SPDX-License-Identifier: BSD-3-Clause
 * The checksums of HDUs (standard 4.0, 4.4.2.7 and appendix J): ones' complement sums of big-endian
 * 32-bit words. A sum of changed data follows from the old one and the changed bytes alone, so that
 * damage elsewhere is still found. */
#include <string.h>

#include "base/endian.h"
#include "format/fits/fits.h"

enum { TEXT = 16, ZERO = '0' };

uint32_t cip_fits_fold(uint64_t sum)
{
    while (sum >> 32 != 0)
        sum = (sum & UINT32_MAX) + (sum >> 32);
    return (uint32_t)sum;
}

void cip_fits_sum_add(fits_sum *s, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n;) {
        if (s->at % 4 == 0 && n - i >= 4) {
            s->sum += cip_load_u32(p + i, true);
            i += 4;
            s->at += 4;
        } else {
            s->sum += (uint64_t)p[i++] << (24 - 8 * (s->at++ % 4));
        }
        if (s->sum >> 62 != 0)
            s->sum = cip_fits_fold(s->sum);
    }
}

/* Each byte of the value is the sum of four characters over '0', none of them a punctuation mark;
 * all are moved by one, as the card has them one byte behind a word. */
void cip_fits_sum_text(uint32_t value, char text[TEXT])
{
    static const char avoid[] = ":;<=>?@[\\]^_`";
    for (int i = 0; i < 4; i++) {
        const int byte = value >> (24 - 8 * i) & 0xff;
        int c[4] = { byte / 4 + ZERO + byte % 4, byte / 4 + ZERO, byte / 4 + ZERO,
                     byte / 4 + ZERO };
        for (bool again = true; again;) {
            again = false;
            for (const char *x = avoid; *x != '\0'; x++)
                for (int j = 0; j < 4; j += 2)
                    if (c[j] == *x || c[j + 1] == *x) {
                        c[j]++;
                        c[j + 1]--;
                        again = true;
                    }
        }
        for (int j = 0; j < 4; j++)
            text[(4 * j + i + 1) % TEXT] = (char)c[j];
    }
}

uint32_t cip_fits_sum_value(const char text[TEXT])
{
    uint64_t sum = (uint32_t)~cip_fits_fold(4 * (ZERO * UINT64_C(0x01010101)));
    for (int k = 0; k < TEXT; k++)
        sum += (uint64_t)(uint8_t)text[(k + 1) % TEXT] << (24 - 8 * (k % 4));
    return cip_fits_fold(sum);
}

bool cip_fits_said_sum(const fits_header *h, uint64_t *sum)
{
    const cip_node *n = cip_map_get(h->map, "DATASUM");
    uint64_t v = 0;
    if (n == NULL)
        return false;
    if (cip_node_as_uint(n, sum))
        return true;
    if (n->type != CIP_NODE_STRING || n->len == 0 || n->len > 10)
        return false;
    for (uint32_t i = 0; i < n->len; i++)
        if (n->text[i] < '0' || n->text[i] > '9')
            return false;
        else
            v = v * 10 + (uint64_t)(n->text[i] - '0');
    *sum = v;
    return true;
}
