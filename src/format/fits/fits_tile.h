/* SPDX-License-Identifier: BSD-3-Clause
 * One tile of a compressed image: what decodes it, and the codec. */
#ifndef CIP_FORMAT_FITS_TILE_H
#define CIP_FORMAT_FITS_TILE_H

#include "format/fits/fits.h"

typedef enum fits_how { FITS_GZIP_1 = 1, FITS_GZIP_2, FITS_RICE, FITS_RAW } fits_how;

enum { FITS_NO_DITHER = -1, FITS_DITHER_1 = 1, FITS_DITHER_2 = 2 };
enum { FITS_NRANDOM = 10000 }; /* random numbers of the standard (appendix I) */

/* What holds for all tiles of an image: the codec's arguments. */
typedef struct fits_tiling {
    int64_t bitpix;
    fits_how how;
    int dither;
    int64_t seed;        /* ZDITHER0 */
    const float *random; /* of dithering: FITS_NRANDOM of them */
    uint32_t width;      /* RICE: bytes of an integer */
    uint64_t block;      /* and how many in a run */
    int32_t ndim;
    int64_t *shape, *tile; /* lengths of the image and of a tile, in C order */
    fits_column out;       /* from the stored type to what is shown */
} fits_tiling;

enum { FITS_TILE_HEAD = 48 };

/* One of them. Its bytes stand behind it, put together as FITS_TILE_HEAD bytes. */
typedef struct fits_tile {
    uint64_t index;
    double scale, zero; /* quantized */
    int64_t blank;
    fits_how how;
    char raw; /* RAW: the letter of its items; 0: as GZIP_1 has them */
    bool has_blank, quantized;
} fits_tile;

void cip_fits_tile_put(const fits_tile *t, uint8_t p[FITS_TILE_HEAD]);

/* Head and compressed bytes to the elements of a whole tile; those that an edge leaves out are 0.
 */
extern const cip_codec cip_fits_tile_codec;

#endif
