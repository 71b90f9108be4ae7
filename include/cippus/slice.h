/* SPDX-License-Identifier: BSD-3-Clause
 * Selections: numpy's basic slices, as text or as numbers. */
#ifndef CIPPUS_SLICE_H
#define CIPPUS_SLICE_H

#include <stdint.h>

#include "cippus/dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What to take along one axis. A text such as "[10:20, ::2, -1, ...]" parses into these. */
typedef struct cip_slice {
    int64_t start, stop, step; /* as in numpy, negative ones count from the end; step is not 0 */
    uint8_t what;              /* CIP_SLICE_RANGE ... */
    uint8_t has;               /* bit 0: start given; bit 1: stop given */
} cip_slice;

enum {
    CIP_SLICE_RANGE = 0,    /* start:stop:step */
    CIP_SLICE_INDEX = 1,    /* start alone: the axis goes away */
    CIP_SLICE_ELLIPSIS = 2, /* as many whole axes as are missing; at most one */
    CIP_SLICE_NEWAXIS = 3   /* an axis of length 1 */
};

/** A selection: at most 2 * CIP_MAX_NDIM items; axes that are not named are taken whole. */
typedef struct cip_selection {
    uint32_t n;
    cip_slice item[2 * CIP_MAX_NDIM];
} cip_selection;

/** Parses numpy's basic form, with or without the brackets: integers, start:stop:step, "...",
 *  "None" or "newaxis"; blanks are free. Fails with ARG and the position in err->offset. */
CIP_API cip_status cip_selection_parse(const char *text, cip_selection *out, cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
