/* SPDX-License-Identifier: BSD-3-Clause
 * The inside of a picture, in the order of its making: which elements, their values, limits,
 * colours, pixels. */
#ifndef CIP_PICTURE_PICTURE_H
#define CIP_PICTURE_PICTURE_H

#include "base/mem.h"
#include "cippus/picture.h"
#include "core/reading/read_plan.h"

enum {
    CIP_PICTURE_SIDE = 1024,     /* pixels, where nothing else is asked for */
    CIP_PICTURE_SORTED = 1 << 20 /* values that percentiles are taken of: every k-th of more */
};

typedef struct cip_rgba {
    uint8_t c[4];
} cip_rgba;

typedef struct cip_picture_limits {
    cip_picture_scale scale;
    double low, high; /* of values less base; NaN: no value has a place */
    double base;      /* what values of integers are less by, which doubles do not hold exactly */
} cip_picture_limits;

struct cip_picture {
    cip_mem mem;
    cip_picture_options options; /* no field is a default */
    cip_picture_facts facts;
    int32_t fixed[CIP_MAX_NDIM];
    char map[32];
    cip_rgba colour[256];
    cip_picture_limits limits;
    double *value; /* less limits.base: one for each place of an image, of a line its first, last,
                      smallest and largest; NaN: there is none */
    size_t nvalue;
    uint8_t *pixels;
};

/* A picture's elements. */
typedef struct cip_picture_plan {
    cip_read_plan read; /* what is read of an image; of a line all of its elements */
    int64_t row;        /* of an image: elements across that are read */
    int64_t box[2];     /* of these, down and across, those of a place */
    int64_t each, run;  /* of a line: elements of a place, and how many of them are read */
} cip_picture_plan;

/* Chooses steps, so that the places fit into the picture and the cost into max_nbytes; fills the
 * axes of p->facts. */
cip_status cip_picture_plan_make(cip_picture *p, const cip_array *a, const cip_read_args *args,
                                 cip_picture_plan *out, cip_err *err);
/* Reads the elements: p->value, and how many of them there were of each kind. */
cip_status cip_picture_sample(cip_picture *p, const cip_picture_plan *plan, cip_err *err);
/* Sorts what is finite of n values, and drops the rest; how many there are left. */
size_t cip_picture_sort(double *value, size_t n);
/* Finds p->limits by the options and p->value. */
cip_status cip_picture_find_limits(cip_picture *p, cip_err *err);
/* Where a value is between the limits, in [0, 1]; NaN where it has no place. */
double cip_picture_place(const cip_picture_limits *l, double value);
/* Fills p->colour by the name of a map ("viridis_r"); ARG naming those that there are. */
cip_status cip_picture_colours(cip_picture *p, const char *name, cip_err *err);
static inline cip_rgba cip_rgba_of(uint32_t rgba)
{
    return (cip_rgba){ { (uint8_t)(rgba >> 24), (uint8_t)(rgba >> 16), (uint8_t)(rgba >> 8),
                         (uint8_t)rgba } };
}
static inline cip_rgba cip_picture_colour_at(const cip_picture *p, double place)
{
    return p->colour[place >= 1 ? 255 : (int)(place * 256)];
}
/* Makes p->pixels of p->value. */
cip_status cip_picture_draw(cip_picture *p, cip_err *err);

#endif
