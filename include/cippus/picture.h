/* SPDX-License-Identifier: BSD-3-Clause
 * Pictures of arrays: pixels of an image or a line, of as few elements as it takes; PNG files of
 * them. */
#ifndef CIPPUS_PICTURE_H
#define CIPPUS_PICTURE_H

#include "cippus/array.h"
#include "cippus/file.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Pixels, and what they show. Owns its memory: it may outlive the file. Immutable; any thread. */
typedef struct cip_picture cip_picture;

/** How values between the limits `low` and `high` become places on the colour map, or heights of a
 * line: t = (v - low) / (high - low) for each but LOG. */
typedef enum cip_picture_scale {
    CIP_PICTURE_LINEAR = 0, /* t */
    CIP_PICTURE_LOG = 1,    /* log(v / low) / log(high / low); values up to 0 have no place, and
                               are shown as missing ones */
    CIP_PICTURE_ASINH = 2,  /* asinh(10 t) / asinh(10) */
    CIP_PICTURE_SQRT = 3    /* sqrt(t) */
} cip_picture_scale;

/** The value of a pixel of an image that stands for several elements. */
typedef enum cip_picture_reduce {
    CIP_PICTURE_EXTREMES = 0, /* the element of its box that is farthest from the median of the
                                 picture (of the boxes' first elements), so that a single one is
                                 seen. All are read, if that costs up to max_nbytes (for a
                                 URL: up to a 16th of it); else the same as SAMPLE */
    CIP_PICTURE_SAMPLE = 1,   /* the first element of its box; no others are read */
    CIP_PICTURE_MIN = 2,      /* of the elements of its box that are neither missing nor NaN: their
                                 smallest; all are read */
    CIP_PICTURE_MAX = 3,      /* their largest */
    CIP_PICTURE_MEAN = 4      /* their mean */
} cip_picture_reduce;

/** Options of a picture; zero fields mean the default. Colours are 0xRRGGBBAA. */
typedef struct cip_picture_options {
    size_t size;         /* sizeof(cip_picture_options) */
    uint32_t max_width;  /* pixels, at most 16384; 0: 1024 */
    uint32_t max_height; /* the same; of a line 0 is a third of its width */
    uint32_t zoom; /* pixels of an element's side; 0: up to 16, as many as there is room for */
    cip_picture_scale scale;
    cip_picture_reduce reduce;
    const char *map;  /* colour map, see cip_picture_map(); "viridis" */
    bool has_limits;  /* low and high are given; else they are percentiles */
    double low, high; /* finite, low < high, for LOG 0 < low; of the values shown */
    double low_percentile, high_percentile; /* of the finite values of places, 0 to 100; both 0:
                                               0.5 and 99.5, of a line 0 and 100; not of bool,
                                               whose limits are 0 and 1 */
    uint32_t bad;                           /* colour of missing values and NaN; 0: 0xff00ffff */
    uint32_t background;                    /* of a line; 0: 0xffffffff */
    uint32_t line;                          /* of a line; 0: 0x1f77b4ff */
    bool transparent;    /* missing values have no colour: `bad` and `background` are not used */
    uint64_t max_nbytes; /* read or decoded at most; 0: 512 MiB */
} cip_picture_options;

#define CIP_PICTURE_OPTIONS(...) CIP_OPTIONS(cip_picture_options, __VA_ARGS__)

/** An axis of a picture: pixels from left to right or from top to bottom. `n` places of `zoom`
 * pixels each. Place i begins at index start + i * step of the array's axis; the last one may stand
 * for fewer elements. Heights of a line have axis -1 and n 0. */
typedef struct cip_picture_axis {
    int32_t axis; /* the array's (a field's axes come last), or -1: none, made by the selection */
    uint32_t zoom;
    int64_t n, start, step;
} cip_picture_axis;

/** Facts of a picture. All borrowed from it. */
typedef struct cip_picture_facts {
    size_t size;            /* sizeof(cip_picture_facts), set by the caller */
    uint32_t width, height; /* pixels */
    const uint8_t *pixels;  /* width * height * 4 bytes: red, green, blue, alpha (not multiplied);
                               from left to right, the first row on top */
    bool line;              /* of a selection with one axis: heights over indices */
    bool whole;             /* every element of the selection was read */
    cip_picture_axis across, down;
    double low, high; /* limits; NaN where no value has a place */
    cip_picture_scale scale;
    const char *map;
    uint64_t nelem;       /* elements that were read */
    uint64_t nmissing;    /* of them masked, NaN or NaT, and for LOG not above 0 */
    uint64_t ninf;        /* infinite: shown as the nearest limit */
    int32_t nfixed;       /* axes before the last two that the selection left: index 0 is shown */
    const int32_t *fixed; /* the array's axes that these are, nfixed of them */
    uint64_t nbytes;      /* about how many were read or decoded */
    cip_picture_reduce reduce; /* of an image: as asked for; SAMPLE for EXTREMES that cost too much,
                                  and where each place is one element */
    double base;               /* of integers beyond 2^53, so that their differences are kept */
    size_t nvalue;
    const double *values;   /* less `base`; NaN: missing. An image has across.n for each of down.n
                               rows; a line 4 for each place: first, last, smallest, largest */
    const uint8_t *colours; /* 256 * 4 bytes: those of the map, from `low` to `high` */
} cip_picture_facts;

/** Makes a picture of a selection: an image of the last two axes (rows go down), or a line of a
 * single axis. It takes the first index of further axes (cip_picture_facts.fixed). It uses
 * selection, slices, field, as, reversed, threads, progress and user of `args` (NULL: all of the
 * array); others are ARG. Numbers, bool, dates and times (as their counts) are shown; complex
 * numbers by their absolute value.
 *
 * Both axes of an image have one step, so that pixels are square. But an axis that is 16 times
 * shorter than the other has at least 32 places and pixels, where it can. A line shows of each
 * pixel's elements the smallest and the largest: of all of them up to 4 Mi elements, else of the
 * first ones of each pixel. Where more than max_nbytes would be read or decoded the steps become
 * longer; whole chunks count, so for few large chunks the picture is coarse. LIMIT where that does
 * not help: in MIN, MAX and MEAN, and of one compressed stream that is decoded in order.
 *
 * *out is the caller's to free, NULL on failure. TYPE for texts, records and opaque elements, or no
 * axis; RANGE for a selection without elements; ARG for the options; the rest as cip_read_into. */
CIP_API cip_status cip_picture_make(const cip_array *array, const cip_read_args *args,
                                    const cip_picture_options *options, cip_picture **out,
                                    cip_err *err);
/** Frees it. NULL is fine. */
CIP_API void cip_picture_free(cip_picture *picture);
/** Fills *out, whose size is set. `picture` NULL passes on the status in err (or ARG). */
CIP_API cip_status cip_picture_get(const cip_picture *picture, cip_picture_facts *out,
                                   cip_err *err);

/** A mark on an axis: an index of the array, or a value of a line. */
typedef struct cip_picture_tick {
    uint32_t at;   /* pixels from the left, or from the top */
    char text[28]; /* "1200", "2.5" */
} cip_picture_tick;

/** Fills `ticks`, which has room for cap of them, with marks of the axis that goes down, or across.
 * They are at round indices or values, rising, at least `apart` pixels from each other. Returns
 * their number; 0 for NULL. */
CIP_API size_t cip_picture_ticks(const cip_picture *picture, bool down, uint32_t apart,
                                 cip_picture_tick *ticks, size_t cap);

/** Gives a picture as a PNG file to fn, in pieces in order. `axes`: with margins that show indices
 * of both axes, or values of a line, and the limits with their colours. UNSUPPORTED in a build
 * without libpng. */
CIP_API cip_status cip_picture_png(const cip_picture *picture, bool axes, cip_write_fn *fn,
                                   void *user, cip_err *err);

/** The name of the i-th colour map ("viridis"), NULL at the end. Each also exists in reverse:
 * "viridis_r". Static. */
CIP_API const char *cip_picture_map(size_t i);

#ifdef __cplusplus
}
#endif
#endif
