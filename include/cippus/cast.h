/* SPDX-License-Identifier: BSD-3-Clause
 * What to do with values that a requested type cannot hold. */
#ifndef CIPPUS_CAST_H
#define CIPPUS_CAST_H

/** Policy for values out of range of the type they are read as. NaN and infinities have no integer;
 *  a finite number beyond a smaller float's range overflows; losing digits is no overflow. */
typedef enum cip_overflow {
    CIP_OVERFLOW_ERROR = 0, /* everything is converted (clamped), and the call fails with RANGE */
    CIP_OVERFLOW_CLAMP = 1, /* to the nearest value (NaN: 0; floats: infinity) */
    CIP_OVERFLOW_WRAP = 2   /* integers modulo 2^width, as C does; the rest as CLAMP */
} cip_overflow;

#endif
