/* SPDX-License-Identifier: BSD-3-Clause
 * A picture as text. */
#include "show.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TICKS = 256, MOST_LINE = 16384 + 64 /* letters */, APART_DOWN = 6, APART_ACROSS = 12 };

static const uint8_t *pixel_at(const shown *s, uint32_t x, uint32_t y)
{
    static const uint8_t none[4] = { 0, 0, 0, 0 };
    const cip_picture_facts *f = s->facts;
    return y < f->height ? f->pixels + 4 * ((size_t)y * f->width + x) : none;
}

/* From dark to light; '?' is what is missing. */
static char shade(const uint8_t *p)
{
    static const char shades[] = " .:-=+*#%@";
    if (p[3] == 0)
        return ' ';
    return p[0] != p[1] ? '?' : shades[p[0] * 10 / 256];
}

/* One letter for two pixels: of two shades their mean, else that which says more. */
static char letter_of(const uint8_t *upper, const uint8_t *lower)
{
    const char u = shade(upper), l = shade(lower);
    if (u == '?' || l == '?')
        return '?';
    if (upper[3] == 0 || lower[3] == 0)
        return u != ' ' ? u : l;
    const uint8_t mean = (uint8_t)((upper[0] + lower[0]) / 2);
    return shade((const uint8_t[]){ mean, mean, mean, 255 });
}

/* The nearest of the levels that a colour has in a cube of six. */
static int level(uint8_t v)
{
    return v < 48 ? 0 : v < 115 ? 1 : (v - 35) / 40;
}

/* The colour of text (38) or of its background (48). */
static void set_colour(const shown *s, int what, const uint8_t *p)
{
    if (p[3] == 0)
        printf("\x1b[%dm", what + 1);
    else if (s->full_colour)
        printf("\x1b[%d;2;%d;%d;%dm", what, p[0], p[1], p[2]);
    else
        printf("\x1b[%d;5;%dm", what, 16 + 36 * level(p[0]) + 6 * level(p[1]) + level(p[2]));
}

/* The label ends before the last column of the margin; one that is too long is left out, never cut.
 */
static const char *fitting(const shown *s, const char *label)
{
    return (int)strlen(label) < s->margin ? label : "";
}

static void put_blocks(const shown *s, const char *label, uint32_t y)
{
    const uint8_t *fore = NULL, *back = NULL;
    if (s->margin != 0)
        printf("%*s ", s->margin - 1, fitting(s, label));
    for (uint32_t x = 0; x < s->facts->width; x++) {
        const uint8_t *upper = pixel_at(s, x, y), *lower = pixel_at(s, x, y + 1);
        const bool none = upper[3] == 0 && lower[3] == 0;
        if (!none && (fore == NULL || memcmp(fore, upper, 4) != 0))
            set_colour(s, 38, fore = upper);
        if (back == NULL || memcmp(back, lower, 4) != 0)
            set_colour(s, 48, back = lower);
        fputs(none ? " " : "\xe2\x96\x80", stdout); /* the upper half */
    }
    puts("\x1b[0m");
}

/* Prints a line without the blanks at its end. */
static void put_trimmed(const char *line, size_t len)
{
    while (len != 0 && line[len - 1] == ' ')
        len--;
    printf("%.*s\n", (int)len, line);
}

static void put_letters(const shown *s, const char *label, uint32_t y)
{
    static char line[MOST_LINE];
    char *at = line;
    if (s->margin != 0)
        at += snprintf(line, sizeof line, "%*s ", s->margin - 1, fitting(s, label));
    for (uint32_t x = 0; x < s->facts->width; x++)
        *at++ = letter_of(pixel_at(s, x, y), pixel_at(s, x, y + 1));
    put_trimmed(line, (size_t)(at - line));
}

/* Those below, as far as there is room between them. */
static void put_across(const shown *s)
{
    static char line[MOST_LINE];
    cip_picture_tick t[MOST_TICKS];
    const size_t n = cip_picture_ticks(s->picture, false, APART_ACROSS, t, MOST_TICKS);
    memset(line, ' ', sizeof line);
    for (size_t i = 0; i < n; i++) {
        const size_t len = strlen(t[i].text), middle = (size_t)s->margin + t[i].at;
        const size_t at = middle < len / 2 ? 0 : middle - len / 2;
        if (at + len >= sizeof line || memcmp(line + at, line + sizeof line - len, len) != 0)
            continue;
        memcpy(line + at, t[i].text, len);
    }
    put_trimmed(line, sizeof line);
}

void show_text(const shown *s)
{
    cip_picture_tick t[MOST_TICKS];
    const size_t n =
        s->margin != 0 ? cip_picture_ticks(s->picture, true, APART_DOWN, t, MOST_TICKS) : 0;
    for (uint32_t y = 0; y < s->facts->height; y += 2) {
        const char *label = "";
        for (size_t i = 0; i < n; i++)
            if (t[i].at / 2 == y / 2)
                label = t[i].text;
        (s->ascii ? put_letters : put_blocks)(s, label, y);
    }
    if (s->margin != 0)
        put_across(s);
}
