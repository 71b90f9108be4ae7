/* SPDX-License-Identifier: BSD-3-Clause
 * What to do with values that a requested type cannot hold. */
#ifndef CIPPUS_CAST_H
#define CIPPUS_CAST_H

/** What becomes of a value that the requested type does not hold exactly. It does so where the
 * value comes out as it went in: integers and bool (which is 0 or 1) hold whole numbers in their
 * range, texts what is no longer than they are. Floats read as floats are rounded as IEEE 754 does,
 * which is no loss unless a finite number becomes infinite; integers read as floats have to come
 * out as they are. An overflow is a value out of range: of NaN and infinities there is no integer.
 */
typedef enum cip_overflow {
    CIP_OVERFLOW_ERROR = 0, /* every value that is not held exactly counts, and the call fails with
                               RANGE; in memory all is converted, as by CLAMP */
    CIP_OVERFLOW_CLAMP = 1, /* the loss is accepted: fractions are cut off, integers rounded to the
                               nearest float, what is nonzero is true; out of range becomes the
                               nearest value (NaN: 0; floats: infinity). Overflows alone count */
    CIP_OVERFLOW_WRAP = 2   /* integers modulo 2^width, as C does; the rest as CLAMP */
} cip_overflow;

#endif
