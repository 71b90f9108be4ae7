/* SPDX-License-Identifier: BSD-3-Clause
 * A picture with margins: marks and numbers left and below, and beside an image its colours with
 * the limits. */
#include "picture/picture_axes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"

enum {
    GLYPH_WIDE = 5,
    GLYPH_HIGH = 7,
    GLYPH_NEXT = 6,
    MARK = 4,
    GAP = 3,
    BAR = 12,
    MOST_TICKS = 64
};

/* Seven rows of five pixels, the leftmost is bit 4. */
static const struct {
    char c;
    uint8_t row[GLYPH_HIGH];
} font[] = {
    { '0', { 0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e } },
    { '1', { 0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e } },
    { '2', { 0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f } },
    { '3', { 0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e } },
    { '4', { 0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02 } },
    { '5', { 0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e } },
    { '6', { 0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e } },
    { '7', { 0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08 } },
    { '8', { 0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e } },
    { '9', { 0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c } },
    { '-', { 0x00, 0x00, 0x00, 0x1f, 0x00, 0x00, 0x00 } },
    { '+', { 0x00, 0x04, 0x04, 0x1f, 0x04, 0x04, 0x00 } },
    { '.', { 0x00, 0x00, 0x00, 0x00, 0x00, 0x0c, 0x0c } },
    { 'e', { 0x00, 0x00, 0x0e, 0x11, 0x1f, 0x10, 0x0e } },
};

static const uint8_t ink[4] = { 0x40, 0x40, 0x40, 0xff };

typedef struct page {
    const cip_picture *p;
    cip_canvas *on;
    uint32_t size;      /* pixels of a glyph's dot */
    uint32_t left, top; /* where the picture is */
    cip_picture_tick across[MOST_TICKS], down[MOST_TICKS];
    size_t nacross, ndown;
    char low[28], high[28]; /* limits of an image's colours; "": none */
} page;

static void put_box(cip_canvas *on, int64_t x, int64_t y, uint32_t width, uint32_t height,
                    const uint8_t *colour)
{
    for (int64_t i = y; i < y + height; i++)
        for (int64_t k = x; k < x + width; k++)
            if (i >= 0 && k >= 0 && i < on->height && k < on->width)
                memcpy(on->pixels + 4 * (i * on->width + k), colour, 4);
}

static uint32_t text_width(const page *g, const char *text)
{
    return (uint32_t)strlen(text) * GLYPH_NEXT * g->size;
}

static void put_text(const page *g, int64_t x, int64_t y, const char *text)
{
    for (; *text != '\0'; text++, x += GLYPH_NEXT * g->size)
        for (size_t i = 0; i < sizeof font / sizeof font[0]; i++)
            for (uint32_t dot = 0; font[i].c == *text && dot < GLYPH_HIGH * GLYPH_WIDE; dot++)
                if (font[i].row[dot / GLYPH_WIDE] >> (4 - dot % GLYPH_WIDE) & 1)
                    put_box(g->on, x + dot % GLYPH_WIDE * g->size, y + dot / GLYPH_WIDE * g->size,
                            g->size, g->size, ink);
}

/* Finds the marks, and how large all of it is. */
static void lay_out(page *g)
{
    const cip_picture_facts *f = &g->p->facts;
    const uint32_t high = GLYPH_HIGH * g->size, pad = (MARK + GAP) * g->size;
    uint32_t labels = 0, bar = 0;
    g->ndown = cip_picture_ticks(g->p, true, 4 * high, g->down, MOST_TICKS);
    g->nacross = cip_picture_ticks(g->p, false, 12 * GLYPH_NEXT * g->size, g->across, MOST_TICKS);
    for (size_t i = 0; i < g->ndown; i++)
        labels = (uint32_t)cip_max_u64(labels, text_width(g, g->down[i].text));
    if (!f->line && !isnan(f->low)) {
        snprintf(g->low, sizeof g->low, "%.6g", f->low);
        snprintf(g->high, sizeof g->high, "%.6g", f->high);
        bar = (uint32_t)cip_max_u64(text_width(g, g->low), text_width(g, g->high));
        bar += (BAR + 3 * GAP) * g->size;
    }
    g->left = labels + pad + GAP * g->size;
    g->top = high;
    /* the last number below may go on behind the picture */
    const uint32_t over = g->nacross != 0 ? text_width(g, g->across[g->nacross - 1].text) / 2 : 0;
    g->on->width = g->left + f->width + (uint32_t)cip_max_u64(cip_max_u64(bar, over), high);
    g->on->height =
        g->top + (uint32_t)cip_max_u64(f->height, bar != 0 ? 4 * high : 0) + pad + 2 * high;
}

static void put_marks(const page *g)
{
    const cip_picture_facts *f = &g->p->facts;
    const uint32_t mark = MARK * g->size, pad = (MARK + GAP) * g->size;
    const uint32_t high = GLYPH_HIGH * g->size;
    for (size_t i = 0; i < g->ndown; i++) {
        const int64_t y = g->top + g->down[i].at;
        put_box(g->on, g->left - mark, y, mark, g->size, ink);
        put_text(g, (int64_t)g->left - pad - text_width(g, g->down[i].text), y - high / 2,
                 g->down[i].text);
    }
    for (size_t i = 0; i < g->nacross; i++) {
        const int64_t x = g->left + g->across[i].at;
        put_box(g->on, x, g->top + f->height, g->size, mark, ink);
        put_text(g, x - text_width(g, g->across[i].text) / 2, g->top + f->height + pad,
                 g->across[i].text);
    }
}

static void put_colours(const page *g)
{
    const cip_picture_facts *f = &g->p->facts;
    const uint32_t high = GLYPH_HIGH * g->size;
    const uint32_t tall = (uint32_t)cip_max_u64(f->height, 4 * high);
    const int64_t x = g->left + f->width + GAP * g->size, text = x + (BAR + GAP) * g->size;
    if (g->low[0] == '\0')
        return;
    for (uint32_t i = 0; i < tall; i++) {
        const cip_rgba c = cip_picture_colour_at(g->p, 1 - (i + 0.5) / tall);
        put_box(g->on, x, g->top + i, BAR * g->size, 1, c.c);
    }
    put_text(g, text, g->top, g->high);
    put_text(g, text, g->top + tall - high, g->low);
}

cip_status cip_picture_with_axes(const cip_picture *p, cip_mem *mem, cip_canvas *out, cip_err *err)
{
    static const uint8_t white[4] = { 0xff, 0xff, 0xff, 0xff };
    const cip_picture_facts *f = &p->facts;
    page g = { .p = p, .on = out, .size = f->width >= 512 ? 2 : 1 };
    lay_out(&g);
    CIP_TRY(cip_mem_zeroed(mem, (size_t)out->width * out->height, 4, (void **)&out->pixels, err));
    put_box(out, 0, 0, out->width, out->height, white);
    put_marks(&g);
    for (uint32_t y = 0; y < f->height; y++)
        memcpy(out->pixels + 4 * ((size_t)(g.top + y) * out->width + g.left),
               f->pixels + 4 * (size_t)y * f->width, 4 * (size_t)f->width);
    put_colours(&g);
    return CIP_OK;
}
