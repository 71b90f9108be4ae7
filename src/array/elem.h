/* SPDX-License-Identifier: BSD-3-Clause
 * The inside of a dtype and the ways to make one. Format- and file-independent. */
#ifndef CIP_ARRAY_ELEM_H
#define CIP_ARRAY_ELEM_H

#include "base/arena.h"
#include "cippus/dtype.h"

struct cip_dtype {
    cip_kind kind;
    bool big;          /* of multi-byte numbers, ucs4; false where order has no meaning */
    uint64_t itemsize; /* bytes; 0 only for ascii0, ucs4-0, bytes0, records of nothing but these */
    const char *name;  /* as cip_dtype_name gives it */
    const char *unit;  /* datetime64, timedelta64: "ns", "25s"; "" is generic; otherwise NULL */
    size_t nfield;
    const cip_field *field;
    uint32_t depth;  /* 0: not a record; 1 + that of the deepest field */
    uint32_t weight; /* itself and everything in its fields, counted: bounds all walks */
};

/* The part of an error that cip_dtype_parse left: a read whose dtype came of that call fails. */
#define CIP_PART_DTYPE "dtype"

/* A fixed-width kind in a given byte order: static. NULL for other kinds. */
const cip_dtype *cip_dtype_fixed(cip_kind kind, bool big);

/* ascii: n bytes. ucs4: n code points. opaque: n bytes, `label` (NULL: "bytesN") is its name, taken
 * as printable. RANGE when the itemsize does not fit in 63 bits. Live in the arena. */
cip_status cip_dtype_ascii(cip_arena *a, uint64_t n, const cip_dtype **out, cip_err *err);
cip_status cip_dtype_ucs4(cip_arena *a, uint64_t n, bool big, const cip_dtype **out, cip_err *err);
cip_status cip_dtype_opaque(cip_arena *a, uint64_t n, const char *label, const cip_dtype **out,
                            cip_err *err);
/* Of the kinds that have a unit. */
static inline bool cip_kind_is_time(cip_kind kind)
{
    return kind == CIP_DATETIME64 || kind == CIP_TIMEDELTA64;
}
/* kind CIP_DATETIME64 or CIP_TIMEDELTA64; `unit` as numpy writes it between the brackets: Y M W D h
 * m s ms us ns ps fs as, a multiplier before it or not; "" or NULL is generic. FORMAT otherwise. */
cip_status cip_dtype_time(cip_arena *a, cip_kind kind, const char *unit, bool big,
                          const cip_dtype **out, cip_err *err);

/* A record of n fields. Offsets are taken as they are (fields may overlap); with `packed` they are
 * computed one behind the other instead. itemsize 0: the end of the field that ends last. Names and
 * shapes are copied, the fields' types are borrowed; a name that is empty or NULL becomes "f<i>".
 * Equal names, negative lengths, fields beyond the itemsize and totals over 63 bits are CORRUPT,
 * over CIP_MAX_NDIM axes UNSUPPORTED. Nesting is at most 32 deep and there are at most 2^20 types
 * in all, counted once for each place that uses them (LIMIT). */
cip_status cip_dtype_record(cip_arena *a, size_t n, const cip_field *fields, bool packed,
                            uint64_t itemsize, const cip_dtype **out, cip_err *err);

/* A copy that shares nothing with `d` but static types, so that it outlives d's file. */
cip_status cip_dtype_copy(cip_arena *a, const cip_dtype *d, const cip_dtype **out, cip_err *err);
/* `to` with its fields in the order in which `from` names them, each where `to` has it, so that a
 * cast, which goes by position, goes by name; nested records too. What are not two records is `to`.
 * TYPE, with `hint` behind it, when they do not name the same fields. */
cip_status cip_dtype_in_order_of(cip_arena *a, const cip_dtype *from, const cip_dtype *to,
                                 const char *hint, const cip_dtype **out, cip_err *err);
/* The same element types without padding, little-endian: what `cat --to raw` gives. */
cip_status cip_dtype_packed_le(cip_arena *a, const cip_dtype *d, const cip_dtype **out,
                               cip_err *err);
/* The same with the byte order of every number set. Both share nothing with `d` either. */
cip_status cip_dtype_with_order(cip_arena *a, const cip_dtype *d, bool big, const cip_dtype **out,
                                cip_err *err);

/* Bytes of one whole field (element size times its shape). Cannot overflow for a made record. */
uint64_t cip_field_nbytes(const cip_field *f);
bool cip_field_same_shape(const cip_field *f, const cip_field *g);
/* By name, or NULL. */
const cip_field *cip_dtype_find_field(const cip_dtype *d, const char *name, size_t len);
/* Same kinds, sizes, orders, names, offsets, shapes. */
bool cip_dtype_equal(const cip_dtype *a, const cip_dtype *b);
/* Whether bytes of `a` are bytes of `b` as they stand: equal but for names and labels, or for an
 * order without meaning (no bytes). */
bool cip_dtype_same_bytes(const cip_dtype *a, const cip_dtype *b);

enum { CIP_DTYPE_TEXT_MAX = 1 << 20 }; /* bytes: records of thousands of fields */

/* From text: a name as cip_dtype_name gives it ("float32", "{x: float32}"), or numpy's "<f4",
 * "|S5", ">U7", "M8[ns]", "|V12", "i2", "[('a', '<i4'), ('b', '>f8', (2, 3))]" (there ('', '|V3')
 * is padding) and {'names': ..., 'formats': ..., 'offsets': ..., 'itemsize': ...}; quotes around
 * the whole are fine. Numbers of other widths ("int24", "f16") are opaque with a label. Numbers
 * without an order mark get `big`. At most CIP_DTYPE_TEXT_MAX bytes, nested at most 32 deep
 * (LIMIT); objects are UNSUPPORTED; FORMAT with the position otherwise, and what cip_dtype_record
 * says. */
cip_status cip_dtype_of_text(cip_arena *a, const char *text, size_t len, bool big,
                             const cip_dtype **out, cip_err *err);
/* numpy's descr: "<f4", "|S5", "[('a', '<i4'), ...]" with padding as ('', '|V3'). Plain ASCII; the
 * text lives in the arena. UNSUPPORTED when numpy's descr cannot say it: overlapping fields, fields
 * out of order, elements over 2^31 - 1 bytes; LIMIT when cip_dtype_of_text would not take it. */
cip_status cip_dtype_numpy(cip_arena *a, const cip_dtype *d, char **out, cip_err *err);

#endif
