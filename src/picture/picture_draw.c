/* SPDX-License-Identifier: BSD-3-Clause
 * Values to pixels: an image's places as squares of one colour, a line from place to place. */
#include <math.h>
#include <string.h>

#include "picture/picture.h"

static void fill(cip_picture *p, int64_t x, int64_t y, int64_t width, int64_t height, cip_rgba c)
{
    for (int64_t i = y; i < y + height; i++)
        for (int64_t k = x; k < x + width; k++)
            memcpy(p->pixels + 4 * (i * p->facts.width + k), c.c, 4);
}

static void draw_image(cip_picture *p, cip_rgba bad)
{
    const cip_picture_axis *across = &p->facts.across, *down = &p->facts.down;
    for (int64_t r = 0; r < down->n; r++)
        for (int64_t c = 0; c < across->n; c++) {
            const double t = cip_picture_place(&p->limits, p->value[r * across->n + c]);
            fill(p, c * across->zoom, r * down->zoom, across->zoom, down->zoom,
                 isnan(t) ? bad : cip_picture_colour_at(p, t));
        }
}

/* The row of a value. */
static int64_t row_of(const cip_picture *p, double value)
{
    const double t = cip_picture_place(&p->limits, value);
    return (int64_t)p->facts.height - 1 - (int64_t)(t * (p->facts.height - 1) + 0.5);
}

/* The pixels of column x between two rows, and these. */
static void upright(cip_picture *p, int64_t x, int64_t y0, int64_t y1, cip_rgba c)
{
    fill(p, x, y0 < y1 ? y0 : y1, 1, (y0 < y1 ? y1 - y0 : y0 - y1) + 1, c);
}

/* A line from one point to a later one, without gaps. */
static void join(cip_picture *p, int64_t x0, int64_t y0, int64_t x1, int64_t y1, cip_rgba c)
{
    for (int64_t x = x0 + 1, before = y0; x <= x1; x++) {
        const int64_t y = y0 + (y1 - y0) * (x - x0) / (x1 - x0);
        upright(p, x, before, y, c);
        before = y;
    }
}

static void draw_line(cip_picture *p, cip_rgba bad)
{
    const cip_picture_axis *across = &p->facts.across;
    const cip_rgba line = cip_rgba_of(p->options.line);
    int64_t x_before = -1, y_before = 0; /* of the last point, if there is one to go on from */
    for (int64_t i = 0; i < across->n; i++) {
        const double *v = p->value + 4 * i; /* first, last, smallest, largest */
        const int64_t x = i * across->zoom + across->zoom / 2;
        if (isnan(v[0]) || isnan(cip_picture_place(&p->limits, v[0]))) {
            fill(p, i * across->zoom, 0, across->zoom, p->facts.height, bad);
            x_before = -1;
            continue;
        }
        if (x_before >= 0)
            join(p, x_before, y_before, x, row_of(p, v[0]), line);
        upright(p, x, row_of(p, v[2]), row_of(p, v[3]), line);
        x_before = x;
        y_before = row_of(p, v[1]);
    }
}

cip_status cip_picture_draw(cip_picture *p, cip_err *err)
{
    const cip_rgba none = { { 0 } };
    const cip_rgba bad = p->options.transparent ? none : cip_rgba_of(p->options.bad);
    const uint32_t width = p->facts.width, height = p->facts.height;
    CIP_TRY(cip_mem_zeroed(&p->mem, (size_t)width * height, 4, (void **)&p->pixels, err));
    if (p->facts.line) {
        if (!p->options.transparent)
            fill(p, 0, 0, width, height, cip_rgba_of(p->options.background));
        draw_line(p, bad);
    } else {
        draw_image(p, bad);
    }
    p->facts.pixels = p->pixels;
    return CIP_OK;
}
