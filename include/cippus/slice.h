/* SPDX-License-Identifier: BSD-3-Clause
 * Selections: numpy's basic slices, as text or as numbers. */
#ifndef CIPPUS_SLICE_H
#define CIPPUS_SLICE_H

#include <stdint.h>

#include "cippus/dtype.h"
#include "cippus/options.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The selection along one axis, such as CIP_ALL or CIP_INDEX(3). An item that is all zero is
 * CIP_ALL. Fields that its kind does not have must be 0, otherwise ARG: a range whose kind was
 * forgotten is not CIP_ALL. */
typedef struct cip_slice {
    int64_t start, stop, step; /* as in numpy, negative ones count from the end; step is not 0 */
    uint32_t what;             /* CIP_SLICE_ALL ... */
    uint32_t reserved;         /* 0 */
} cip_slice;

enum {
    CIP_SLICE_ALL = 0,      /* the whole axis */
    CIP_SLICE_RANGE = 1,    /* start:stop:step, either end may be CIP_OPEN */
    CIP_SLICE_INDEX = 2,    /* start alone: the axis goes away */
    CIP_SLICE_ELLIPSIS = 3, /* as many whole axes as are missing; at most one */
    CIP_SLICE_NEWAXIS = 4   /* an axis of length 1 */
};

/** An end of a range that is left out, as in "10:" and ":10": CIP_RANGE(10, CIP_OPEN). */
#define CIP_OPEN INT64_MIN

/* Initialisers of a cip_slice; to assign one in C: item[0] = (cip_slice)CIP_INDEX(3). */
#define CIP_ALL                                                                                    \
    {                                                                                              \
        0, 0, 0, CIP_SLICE_ALL, 0                                                                  \
    }
#define CIP_INDEX(i)                                                                               \
    {                                                                                              \
        CIP_SLICE_INT(i), 0, 0, CIP_SLICE_INDEX, 0                                                 \
    }
#define CIP_RANGE(start, stop) CIP_STEPS(start, stop, 1)
#define CIP_STEPS(start, stop, step)                                                               \
    {                                                                                              \
        CIP_SLICE_INT(start), CIP_SLICE_INT(stop), CIP_SLICE_INT(step), CIP_SLICE_RANGE, 0         \
    }
#define CIP_ELLIPSIS                                                                               \
    {                                                                                              \
        0, 0, 0, CIP_SLICE_ELLIPSIS, 0                                                             \
    }
#define CIP_NEWAXIS                                                                                \
    {                                                                                              \
        0, 0, 0, CIP_SLICE_NEWAXIS, 0                                                              \
    }

/** A selection: n items, at most 2 * CIP_MAX_NDIM. Axes without an item are taken whole, so a
 * selection that is all zero takes everything. */
typedef struct cip_selection {
    uint32_t n;
    uint32_t reserved; /* 0 */
    cip_slice item[2 * CIP_MAX_NDIM];
} cip_selection;

/** Parses numpy's basic form, with or without the brackets: integers, start:stop:step, "...",
 *  "None" or "newaxis"; blanks are free. NULL or "" takes all. Fails with ARG and the position in
 * err->offset. */
CIP_API cip_status cip_selection_parse(const char *text, cip_selection *out, cip_err *err);
/** The text of a selection, "[0:10, :, -1]", for calls that take one as text; counts as snprintf
 * does. NULL is "[]", which is all; an item that is none (see cip_slice) becomes "?", which no call
 * takes. */
CIP_API size_t cip_selection_text(const cip_selection *selection, char *text, size_t cap);

#ifdef __cplusplus
}
#endif

/* A selection in one expression, its items counted: .slices = CIP_SELECT(CIP_RANGE(0, 10), CIP_ALL,
 * CIP_INDEX(-1)). It lives as CIP_OPTIONS does: to the end of the block in C, of the full
 * expression in C++. */
#ifdef __cplusplus
#define CIP_SLICE_INT(i) (static_cast<int64_t>(i))
template <uint32_t N> inline cip_selection cip_selection_of(const cip_slice (&item)[N])
{
    cip_selection s = {};
    static_assert(N <= 2 * CIP_MAX_NDIM, "too many items");
    s.n = N;
    for (uint32_t i = 0; i < N; i++)
        s.item[i] = item[i];
    return s;
}
#define CIP_SELECT(...) (cip_address_of(cip_selection_of({ __VA_ARGS__ })))
#else
#define CIP_SLICE_INT(i) ((int64_t)(i))
#define CIP_SELECT(...)                                                                            \
    (&(const cip_selection){                                                                       \
        sizeof((const cip_slice[]){ __VA_ARGS__ }) / sizeof(cip_slice), 0, { __VA_ARGS__ } })
#endif
#endif
