/* SPDX-License-Identifier: BSD-3-Clause
 * Kitty's graphics protocol: a PNG in base64, in pieces of at most 4096 letters. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "show.h"

enum { PIECE = 3072 /* bytes */ };

static int keep(void *user, const void *bytes, size_t n)
{
    text_add(user, bytes, n);
    return ((strbuf *)user)->failed;
}

static void put_base64(const uint8_t *p, size_t n)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        const size_t left = n - i;
        const uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                           (left > 2 ? p[i + 2] : 0);
        putchar(letters[v >> 18]);
        putchar(letters[v >> 12 & 63]);
        putchar(left > 1 ? letters[v >> 6 & 63] : '=');
        putchar(left > 2 ? letters[v & 63] : '=');
    }
}

cip_status show_kitty(const cip_picture *p, bool axes, cip_err *err)
{
    strbuf png = { 0 };
    const cip_status st = cip_picture_png(p, axes, keep, &png, err);
    for (size_t at = 0; st == CIP_OK && at < png.len; at += PIECE) {
        const size_t n = png.len - at < PIECE ? png.len - at : PIECE;
        printf("\x1b_G%sm=%d;", at == 0 ? "a=T,f=100," : "", at + n < png.len);
        put_base64((const uint8_t *)png.ptr + at, n);
        fputs("\x1b\\", stdout);
    }
    if (st == CIP_OK)
        putchar('\n');
    free(png.ptr);
    return st;
}
