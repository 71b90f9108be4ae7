/* SPDX-License-Identifier: BSD-3-Clause
 * Types of elements as JSON names them, and the element that stands for what was never written. */
#include <math.h>
#include <string.h>

#include "array/cast.h"
#include "base/endian.h"
#include "base/num.h"
#include "format/numpy_node.h"
#include "format/zarr/zarr.h"
#include "tree/base64.h"

const char *cip_zarr_text(const cip_node *n)
{
    return n == NULL                 ? "nothing"
           : n->type == CIP_NODE_SEQ ? "a list"
           : n->type == CIP_NODE_MAP ? "an object"
           : n->text == NULL         ? "another value"
                                     : n->text;
}

/* --- version 3 -------------------------------------------------------------------------------- */

static cip_status refuse_type(const char *name, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "data_type: '%.60s' is not read",
                    name);
}

/* Bytes of an element, in the configuration. */
static cip_status length_of(const cip_node *conf, const char *name, uint64_t unit, uint64_t *n,
                            cip_err *err)
{
    const cip_node *len =
        cip_node_kind(conf) == CIP_NODE_MAP ? cip_map_get(conf, "length_bytes") : NULL;
    if (len != NULL && cip_node_as_uint(len, n) && *n % unit == 0 && *n <= INT32_MAX)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "data_type: expected a length_bytes for '%.40s', found %.40s", name,
                    cip_zarr_text(len));
}

static cip_status time_type(cip_layout *l, cip_kind kind, const cip_node *conf, bool big,
                            const cip_dtype **out, cip_err *err)
{
    const bool map = cip_node_kind(conf) == CIP_NODE_MAP;
    const cip_node *unit = map ? cip_map_get(conf, "unit") : NULL;
    const cip_node *scale = map ? cip_map_get(conf, "scale_factor") : NULL;
    uint64_t n = 1;
    char text[64];
    if (cip_node_kind(unit) != CIP_NODE_STRING || (scale != NULL && !cip_node_as_uint(scale, &n)))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "data_type: expected a unit and a scale_factor, found %.40s and %.40s",
                        cip_zarr_text(unit), cip_zarr_text(scale));
    if (strcmp(unit->text, "generic") == 0)
        return cip_dtype_time(&l->arena, kind, "", big, out, err);
    if (n == 1)
        snprintf(text, sizeof text, "%.20s", unit->text);
    else
        snprintf(text, sizeof text, "%" PRIu64 "%.20s", n, unit->text);
    return cip_dtype_time(&l->arena, kind, text, big, out, err);
}

static cip_status type_3(cip_layout *l, const cip_node *n, bool big, int depth,
                         const cip_dtype **out, cip_err *err);

static cip_status record_type(cip_layout *l, const cip_node *conf, bool big, int depth,
                              const cip_dtype **out, cip_err *err)
{
    const cip_node *list = cip_node_kind(conf) == CIP_NODE_MAP ? cip_map_get(conf, "fields") : NULL;
    cip_field *f;
    if (cip_node_kind(list) != CIP_NODE_SEQ || depth == CIP_NUMPY_DEPTH)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "data_type: expected a list of fields, found %.40s", cip_zarr_text(list));
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &f, (size_t)list->len + 1, err));
    for (uint32_t i = 0; i < list->len; i++) {
        const cip_node *item = list->item[i], *name = NULL, *type = NULL;
        if (item->type == CIP_NODE_SEQ && item->len == 2) {
            name = item->item[0];
            type = item->item[1];
        } else if (item->type == CIP_NODE_MAP) { /* as the draft of `struct` has it */
            name = cip_map_get(item, "name");
            type = cip_map_get(item, "data_type");
        }
        if (cip_node_kind(name) != CIP_NODE_STRING || type == NULL)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "data_type: expected a name and a type for field %" PRIu32, i);
        f[i].name = name->text;
        CIP_TRY(type_3(l, type, big, depth + 1, &f[i].dtype, err));
    }
    return cip_dtype_record(&l->arena, list->len, f, true, 0, out, err);
}

static cip_status type_3(cip_layout *l, const cip_node *n, bool big, int depth,
                         const cip_dtype **out, cip_err *err)
{
    static const struct {
        const char *name;
        cip_kind kind;
    } plain[] = { { "bool", CIP_BOOL },     { "int8", CIP_I8 },        { "int16", CIP_I16 },
                  { "int32", CIP_I32 },     { "int64", CIP_I64 },      { "uint8", CIP_U8 },
                  { "uint16", CIP_U16 },    { "uint32", CIP_U32 },     { "uint64", CIP_U64 },
                  { "float16", CIP_F16 },   { "float32", CIP_F32 },    { "float64", CIP_F64 },
                  { "complex64", CIP_C64 }, { "complex128", CIP_C128 } };
    const cip_node *name = n, *conf = NULL;
    uint64_t len;
    int end = 0;
    unsigned bits;
    if (cip_node_kind(n) == CIP_NODE_MAP) {
        name = cip_map_get(n, "name");
        conf = cip_map_get(n, "configuration");
    }
    if (cip_node_kind(name) != CIP_NODE_STRING)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "data_type: expected a name, found %.40s", cip_zarr_text(name));
    const char *text = name->text;
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(text, plain[i].name) == 0) {
            *out = cip_dtype_fixed(plain[i].kind, big);
            return CIP_OK;
        }
    if (text[0] == 'r' && sscanf(text + 1, "%9u%n", &bits, &end) == 1 && text[1 + end] == '\0') {
        if (bits == 0 || bits % 8 != 0)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "data_type: expected whole bytes, found '%.40s'", text);
        return cip_dtype_opaque(&l->arena, bits / 8, NULL, out, err);
    }
    if (strcmp(text, "raw_bytes") == 0) {
        CIP_TRY(length_of(conf, text, 1, &len, err));
        return cip_dtype_opaque(&l->arena, len, NULL, out, err);
    }
    if (strcmp(text, "null_terminated_bytes") == 0) {
        CIP_TRY(length_of(conf, text, 1, &len, err));
        return cip_dtype_ascii(&l->arena, len, out, err);
    }
    if (strcmp(text, "fixed_length_utf32") == 0) {
        CIP_TRY(length_of(conf, text, 4, &len, err));
        return cip_dtype_ucs4(&l->arena, len / 4, big, out, err);
    }
    if (strcmp(text, "numpy.datetime64") == 0)
        return time_type(l, CIP_DATETIME64, conf, big, out, err);
    if (strcmp(text, "numpy.timedelta64") == 0)
        return time_type(l, CIP_TIMEDELTA64, conf, big, out, err);
    if (strcmp(text, "structured") == 0 || strcmp(text, "struct") == 0)
        return record_type(l, conf, big, depth, out, err);
    return refuse_type(text, err);
}

cip_status cip_zarr_dtype(cip_layout *l, const cip_node *n, int version, bool big,
                          const cip_dtype **out, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    if (version == 3)
        return type_3(l, n, big, 0, out, err);
    if (n == NULL || (n->type != CIP_NODE_STRING && n->type != CIP_NODE_SEQ))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "dtype: expected a dtype, found %.40s",
                        cip_zarr_text(n));
    const cip_status st = cip_numpy_type(l, n, out, &why);
    const bool ours = st == CIP_ERR_NOMEM || st == CIP_ERR_LIMIT || st == CIP_ERR_UNSUPPORTED;
    return st == CIP_OK
               ? st
               : cip_fail(err, ours ? st : CIP_ERR_CORRUPT, CIP_NO_OFFSET, "dtype: %s", why.text);
}

/* --- fill values ------------------------------------------------------------------------------ */

static cip_status refuse_fill(const cip_node *n, const cip_dtype *d, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "fill_value: expected one that %.60s can hold, found %.60s", d->name,
                    cip_zarr_text(n));
}

/* "0x7fc00000": the bits of a number of `size` bytes. */
static bool hex_bits(const cip_node *n, uint64_t size, bool big, uint8_t *dst)
{
    if (n->type != CIP_NODE_STRING || n->len != 2 + 2 * size || n->text[0] != '0' ||
        (n->text[1] != 'x' && n->text[1] != 'X'))
        return false;
    for (uint64_t i = 0; i < size; i++) {
        const int hi = cip_hex_digit(n->text[2 + 2 * i]), lo = cip_hex_digit(n->text[3 + 2 * i]);
        if (hi < 0 || lo < 0)
            return false;
        dst[big ? i : size - 1 - i] = (uint8_t)(hi << 4 | lo);
    }
    return true;
}

static bool float_of(const cip_node *n, double *v)
{
    static const struct {
        const char *text;
        double v;
    } words[] = { { "NaN", NAN }, { "Infinity", INFINITY }, { "-Infinity", -INFINITY } };
    if (n->type != CIP_NODE_STRING)
        return cip_node_as_double(n, v);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strcmp(n->text, words[i].text) == 0) {
            *v = words[i].v;
            return true;
        }
    return false;
}

static cip_status put(const cip_node *n, const cip_dtype *from, const void *value,
                      const cip_dtype *to, uint8_t *dst, cip_err *err)
{
    cip_cast cast;
    cip_cast_stats stats = { 0, 0 };
    if (cip_cast_make(from, to, CIP_OVERFLOW_ERROR, &cast, NULL) != CIP_OK)
        return refuse_fill(n, to, err);
    cip_cast_run(&cast, 1, value, (int64_t)from->itemsize, dst, (int64_t)to->itemsize, 0, &stats);
    return cip_cast_check(&cast, &stats, NULL, NULL) == CIP_OK ? CIP_OK : refuse_fill(n, to, err);
}

static cip_status put_real(const cip_node *n, const cip_dtype *d, uint8_t *dst, cip_err *err)
{
    double v;
    if (hex_bits(n, d->itemsize, d->big, dst))
        return CIP_OK;
    if (!float_of(n, &v))
        return refuse_fill(n, d, err);
    if (d->kind == CIP_F64 || isnan(v) || isinf(v))
        return put(n, cip_dtype_of(CIP_F64), &v, d, dst, err);
    /* Beyond the largest it is an infinity, as numpy has it. */
    cip_cast cast;
    cip_cast_stats stats = { 0, 0 };
    CIP_TRY(cip_cast_make(cip_dtype_of(CIP_F64), d, CIP_OVERFLOW_WRAP, &cast, err));
    cip_cast_run(&cast, 1, (const uint8_t *)&v, 8, dst, (int64_t)d->itemsize, 0, &stats);
    return CIP_OK;
}

static cip_status put_complex(const cip_node *n, const cip_dtype *d, uint8_t *dst, cip_err *err)
{
    const cip_dtype *part = cip_dtype_fixed(d->kind == CIP_C64 ? CIP_F32 : CIP_F64, d->big);
    if (n->type != CIP_NODE_SEQ)
        return put_real(n, part, dst, err); /* a number alone is the real part */
    if (n->len != 2)
        return refuse_fill(n, d, err);
    CIP_TRY(put_real(n->item[0], part, dst, err));
    return put_real(n->item[1], part, dst + part->itemsize, err);
}

static cip_status put_whole(const cip_node *n, const cip_dtype *d, uint8_t *dst, cip_err *err)
{
    const bool time = cip_kind_is_time(d->kind);
    const cip_dtype *to = time ? cip_dtype_fixed(CIP_I64, d->big) : d;
    double v;
    int64_t i = n->type == CIP_NODE_BOOL && n->b;
    uint64_t u;
    if (time && cip_node_is_string(n, "NaT"))
        i = INT64_MIN;
    else if (n->type != CIP_NODE_BOOL && !cip_node_as_int(n, &i)) {
        if (cip_node_as_uint(n, &u))
            return put(n, cip_dtype_of(CIP_U64), &u, to, dst, err);
        if (n->type != CIP_NODE_FLOAT || !cip_node_as_double(n, &v) || v != floor(v))
            return refuse_fill(n, d, err);
        return put(n, cip_dtype_of(CIP_F64), &v, to, dst, err);
    }
    return put(n, cip_dtype_of(CIP_I64), &i, to, dst, err);
}

/* Code points of UTF-8, which the JSON was checked to be. */
static cip_status put_text(const cip_node *n, const cip_dtype *d, uint8_t *dst, cip_err *err)
{
    size_t at = 0, to = 0;
    if (n->type != CIP_NODE_STRING)
        return refuse_fill(n, d, err);
    while (at < n->len) {
        const uint8_t c = (uint8_t)n->text[at++];
        uint32_t code = c < 0x80 ? c : c < 0xe0 ? c & 0x1f : c < 0xf0 ? c & 0x0f : c & 0x07;
        for (; at < n->len && ((uint8_t)n->text[at] & 0xc0) == 0x80; at++)
            code = code << 6 | ((uint8_t)n->text[at] & 0x3f);
        if (to + 4 > d->itemsize) /* numpy cuts it off */
            return CIP_OK;
        cip_store_u32(dst + to, code, d->big);
        to += 4;
    }
    return CIP_OK;
}

/* Bytes as base64, or of raw bits a list of them. `cut`: more are left out, fewer are followed by
 * zeros. */
static cip_status put_bytes(cip_layout *l, const cip_node *n, const cip_dtype *d, bool cut,
                            uint8_t *dst, cip_err *err)
{
    cip_buf b = { .mem = &l->env->mem };
    if (n->type == CIP_NODE_SEQ) {
        uint64_t v;
        bool good = n->len == d->itemsize;
        for (uint32_t i = 0; good && i < n->len; i++) {
            good = cip_node_as_uint(n->item[i], &v) && v < 256;
            dst[i] = good ? (uint8_t)v : 0;
        }
        return good ? CIP_OK : refuse_fill(n, d, err);
    }
    int64_t zero;
    if (cip_node_as_int(n, &zero) &&
        zero == 0) /* of records and bytes, as zarr-python 2 wrote it */
        return CIP_OK;
    if (n->type != CIP_NODE_STRING)
        return refuse_fill(n, d, err);
    cip_status st = cip_base64_decode(n->text, n->len, &b, err);
    if (st == CIP_OK && b.len != d->itemsize && !cut)
        st = refuse_fill(n, d, err);
    else if (st == CIP_ERR_CORRUPT)
        st = refuse_fill(n, d, err);
    if (st == CIP_OK && b.len != 0)
        memcpy(dst, b.ptr, (size_t)cip_min_u64(b.len, d->itemsize));
    cip_buf_clear(&b);
    return st;
}

cip_status cip_zarr_fill(cip_layout *l, const cip_node *n, const cip_dtype *d, const uint8_t **out,
                         cip_err *err)
{
    uint8_t *dst;
    cip_status st;
    *out = NULL;
    const bool none = n == NULL || n->type == CIP_NODE_NULL;
    if (d->itemsize == 0 || (none && !cip_kind_is_time(d->kind)))
        return CIP_OK;
    if (d->itemsize > l->env->limits.max_tree_bytes)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "fill_value: an element of %" PRIu64 " bytes", d->itemsize);
    CIP_TRY(cip_arena_zeroed(&l->arena, (size_t)d->itemsize, 1, (void **)&dst, err));
    if (none) { /* of times: NaT, as zarr-python has it */
        cip_store_u64(dst, (uint64_t)INT64_MIN, d->big);
        *out = dst;
        return CIP_OK;
    }
    if (d->kind == CIP_OPAQUE || d->kind == CIP_RECORD)
        st = put_bytes(l, n, d, false, dst, err);
    else if (d->kind == CIP_ASCII)
        st = put_bytes(l, n, d, true, dst, err);
    else if (d->kind == CIP_UCS4)
        st = put_text(n, d, dst, err);
    else if (d->kind == CIP_C64 || d->kind == CIP_C128)
        st = put_complex(n, d, dst, err);
    else if (d->kind == CIP_F16 || d->kind == CIP_F32 || d->kind == CIP_F64)
        st = put_real(n, d, dst, err);
    else
        st = put_whole(n, d, dst, err);
    CIP_TRY(st);
    for (uint64_t i = 0; i < d->itemsize; i++)
        if (dst[i] != 0) {
            *out = dst;
            break;
        }
    return CIP_OK;
}
