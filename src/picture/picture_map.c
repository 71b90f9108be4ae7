/* SPDX-License-Identifier: BSD-3-Clause
 * Colour maps by matplotlib's names. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "picture/picture.h"

static const struct {
    const char *name;
    const char *colours; /* 256 times red, green, blue, in hexadecimal */
} maps[] = {
#include "picture/picture_maps.inc"
};

enum { NMAP = sizeof maps / sizeof maps[0] };

const char *cip_picture_map(size_t i)
{
    return i < NMAP ? maps[i].name : NULL;
}

static cip_status no_map(const char *name, cip_err *err)
{
    char list[160] = "";
    for (size_t i = 0, n = 0; i < NMAP; i++)
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i == 0 ? "" : ", ", maps[i].name);
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "no colour map is named '%.40s'; there are %s, and each with _r in reverse",
                    name, list);
}

cip_status cip_picture_colours(cip_picture *p, const char *name, cip_err *err)
{
    const size_t len = strlen(name);
    const bool reverse = len > 2 && strcmp(name + len - 2, "_r") == 0;
    const size_t n = reverse ? len - 2 : len;
    for (size_t i = 0; i < NMAP; i++) {
        if (strlen(maps[i].name) != n || memcmp(maps[i].name, name, n) != 0)
            continue;
        for (int k = 0; k < 256; k++) {
            const char *hex = maps[i].colours + 6 * (reverse ? 255 - k : k);
            for (int c = 0; c < 3; c++)
                p->colour[k].c[c] =
                    (uint8_t)(cip_hex_digit(hex[2 * c]) << 4 | cip_hex_digit(hex[2 * c + 1]));
            p->colour[k].c[3] = 255;
        }
        memcpy(p->map, name, len + 1);
        return CIP_OK;
    }
    return no_map(name, err);
}
