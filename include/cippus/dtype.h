/* SPDX-License-Identifier: BSD-3-Clause
 * Element types of arrays: kind, size, byte order. */
#ifndef CIPPUS_DTYPE_H
#define CIPPUS_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cippus/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CIP_MAX_NDIM 64

typedef enum cip_kind {
    CIP_NONE = 0,
    CIP_BOOL = 1, /* one byte; any nonzero is true */
    CIP_I8 = 2,
    CIP_I16 = 3,
    CIP_I32 = 4,
    CIP_I64 = 5,
    CIP_U8 = 6,
    CIP_U16 = 7,
    CIP_U32 = 8,
    CIP_U64 = 9,
    CIP_F16 = 10, /* IEEE 754 binary16 */
    CIP_F32 = 11,
    CIP_F64 = 12,
    CIP_C64 = 13,        /* two binary32: real, imaginary */
    CIP_C128 = 14,       /* two binary64 */
    CIP_ASCII = 15,      /* itemsize bytes, NUL-padded */
    CIP_UCS4 = 16,       /* itemsize / 4 code points, NUL-padded */
    CIP_DATETIME64 = 17, /* int64 count of `unit` since 1970-01-01; INT64_MIN is NaT */
    CIP_TIMEDELTA64 = 18,
    CIP_OPAQUE = 19, /* itemsize bytes that are only sliced and copied */
    CIP_RECORD = 20  /* fields at offsets within itemsize */
} cip_kind;

/** An element type. Immutable, any thread; owned by the file it came from, static (cip_dtype_of),
 * or the caller's (cip_dtype_parse). Calls copy what they keep of it. */
typedef struct cip_dtype cip_dtype;

/** The scalar type of a fixed-width kind (CIP_BOOL ... CIP_C128) in the byte order of this
 *  machine; NULL for other kinds. Static: never freed, any thread. */
CIP_API const cip_dtype *cip_dtype_of(cip_kind kind);

/** Asks for an array's elements as they are stored: in the machine's byte order, without padding.
 * Only for calls whose comment allows it; it has no kind (CIP_NONE) and no size. A NULL dtype does
 * not mean this, because NULL is the result of a getter that failed. Static: never freed, any
 * thread. */
CIP_API const cip_dtype *cip_dtype_as_stored(void);

/** A dtype from its name ("float32", "ascii5", "{x: float32, y: int16[3]}") or numpy's text ("<f4",
 * ">U7", "[('x', '<f4')]"); without an order mark it has the machine's byte order. Fields of a
 * record follow each other, without C's padding, unless numpy's "{'names': ['x'], 'formats':
 * ['<f4'], 'offsets': [0], 'itemsize': 8}" gives their places. The caller's to free. NULL with
 * FORMAT and the position, or NOMEM; err->part is "dtype" then. */
CIP_API cip_dtype *cip_dtype_parse(const char *text, cip_err *err);
/** Frees a dtype of cip_dtype_parse, after the last call that uses it. NULL is fine. */
CIP_API void cip_dtype_free(cip_dtype *dtype);

/** Its name: "float32", "ascii5", "ucs4-7", "datetime64[ns]", "bytes80", "int24", or for records
 *  "{x: float32, y: int16[3]}". Byte order is not part of it. "" for NULL. Borrowed. */
CIP_API const char *cip_dtype_name(const cip_dtype *dtype);

/** Its kind; CIP_NONE for NULL. */
CIP_API cip_kind cip_dtype_kind(const cip_dtype *dtype);
/** Bytes of one element as stored, padding of records included. 0 for NULL. */
CIP_API uint64_t cip_dtype_itemsize(const cip_dtype *dtype);
/** Whether elements (of records: any field that has a byte order) are stored big-endian. */
CIP_API bool cip_dtype_is_big(const cip_dtype *dtype);

/** A field of a record. `shape` has ndim entries and is in C order; borrowed like the dtype. */
typedef struct cip_field {
    const char *name;
    const cip_dtype *dtype; /* of one element of the sub-array */
    uint64_t offset;        /* bytes from the start of the record */
    int32_t ndim;
    const int64_t *shape;
} cip_field;

/** Number of fields; 0 for anything but a record. */
CIP_API size_t cip_dtype_nfield(const cip_dtype *dtype);
/** The i-th field, or NULL. */
CIP_API const cip_field *cip_dtype_field(const cip_dtype *dtype, size_t i);

#ifdef __cplusplus
}
#endif
#endif
