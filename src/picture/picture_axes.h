/* SPDX-License-Identifier: BSD-3-Clause
 * Pixels of a picture with its axes. */
#ifndef CIP_PICTURE_AXES_H
#define CIP_PICTURE_AXES_H

#include "picture/picture.h"

/* Pixels, 4 bytes each, in rows from the top. */
typedef struct cip_canvas {
    uint32_t width, height;
    uint8_t *pixels;
} cip_canvas;

/* A picture in margins with its axes; in p->mem, the caller's to put back. */
cip_status cip_picture_with_axes(const cip_picture *p, cip_mem *mem, cip_canvas *out, cip_err *err);

#endif
