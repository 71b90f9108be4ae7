/* SPDX-License-Identifier: BSD-3-Clause
 * The JSON files as text: in ASCII, the keys in the order that bcolz writes, a newline at the end.
 */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz.h"
#include "tree/utf8.h"
#include "tree/yaml.h"

/* --- nodes ------------------------------------------------------------------------------------ */

/* Bytes of more than 7 bits stand in strings only. */
static cip_status add_ascii(cip_buf *b, cip_bytes text, cip_err *err)
{
    uint32_t c;
    for (size_t i = 0; i < text.len;) {
        unsigned n = cip_utf8_get(text.ptr + i, text.len - i, &c);
        if (c < 0x80)
            CIP_TRY(cip_buf_add(b, text.ptr + i, 1, err));
        else if (c < 0x10000)
            CIP_TRY(cip_buf_addf(b, err, "\\u%04" PRIx32, c));
        else
            CIP_TRY(cip_buf_addf(b, err, "\\u%04" PRIx32 "\\u%04" PRIx32,
                                 0xd800 + ((c - 0x10000) >> 10), 0xdc00 + (c & 0x3ff)));
        i += n != 0 ? n : 1;
    }
    return CIP_OK;
}

cip_status cip_blz_node_json(cip_env *env, const cip_node *n, cip_buf *b, cip_err *err)
{
    const cip_json_write python = { .file = true };
    cip_buf text = { .mem = &env->mem };
    cip_status st = cip_json_emit_as(env, n, &python, &text, err);
    if (st == CIP_OK)
        st = add_ascii(b, (cip_bytes){ text.ptr, text.len }, err);
    cip_buf_clear(&text);
    return st == CIP_OK ? cip_buf_add(b, "\n", 1, err) : st;
}

/* --- dtypes ----------------------------------------------------------------------------------- */

static cip_status add_string(cip_buf *b, const char *text, cip_err *err)
{
    cip_buf json = { .mem = b->mem };
    cip_status st = cip_json_string(&json, text, strlen(text), err);
    if (st == CIP_OK)
        st = add_ascii(b, (cip_bytes){ json.ptr, json.len }, err);
    cip_buf_clear(&json);
    return st;
}

/* As str() of a dtype of numpy's: a name where the byte order is the usual one. */
static cip_status add_type(cip_buf *b, const cip_dtype *d, bool descr, cip_err *err)
{
    cip_arena a = { .mem = b->mem };
    const bool time = cip_kind_is_time(d->kind);
    char *text = NULL;
    if (!descr && !d->big && (d->kind <= CIP_C128 || time))
        return add_string(b, d->name, err);
    cip_status st = cip_dtype_numpy(&a, d, &text, err);
    if (st == CIP_OK)
        st = add_string(b, text, err);
    cip_arena_clear(&a);
    return st;
}

/* numpy's descr as JSON: [["a", "<i4"], ["p", [["x", ">f4"]], [3]]]. */
cip_status cip_blz_descr_json(cip_buf *b, const cip_dtype *d, cip_err *err)
{
    CIP_TRY(cip_buf_addf(b, err, "["));
    for (size_t i = 0; i < d->nfield; i++) { /* records nest at most 32 deep */
        const cip_field *f = &d->field[i];
        CIP_TRY(cip_buf_addf(b, err, i == 0 ? "[" : ", ["));
        CIP_TRY(add_string(b, f->name, err));
        CIP_TRY(cip_buf_addf(b, err, ", "));
        CIP_TRY(f->dtype->kind == CIP_RECORD ? cip_blz_descr_json(b, f->dtype, err)
                                             : add_type(b, f->dtype, true, err));
        for (int32_t k = 0; k < f->ndim; k++)
            CIP_TRY(cip_buf_addf(b, err, "%s%" PRId64, k == 0 ? ", [" : ", ", f->shape[k]));
        CIP_TRY(cip_buf_addf(b, err, f->ndim != 0 ? "]]" : "]"));
    }
    return cip_buf_addf(b, err, "]");
}

/* What rows that are added without a value hold: zeros. Of complex numbers JSON has none, and the
 * old programs take a real one. A sub-array is filled with its item. */
cip_status cip_blz_zero_json(cip_buf *b, const cip_dtype *d, cip_blz_kind kind, cip_err *err)
{
    switch (d->kind) {
    case CIP_BOOL:
        return cip_buf_addf(b, err, "false");
    case CIP_ASCII:
    case CIP_UCS4:
    case CIP_OPAQUE:
        return cip_buf_addf(b, err, "\"\"");
    case CIP_C64:
    case CIP_C128:
        return cip_buf_addf(b, err, kind == CIP_BLZ_DOCUMENT ? "[0.0, 0.0]" : "0.0");
    case CIP_F16:
    case CIP_F32:
    case CIP_F64:
        return cip_buf_addf(b, err, "0.0");
    case CIP_RECORD:
        break;
    default:
        return cip_buf_addf(b, err, "0");
    }
    CIP_TRY(cip_buf_addf(b, err, "["));
    for (size_t i = 0; i < d->nfield; i++) {
        CIP_TRY(cip_buf_addf(b, err, i == 0 ? "" : ", "));
        CIP_TRY(cip_blz_zero_json(b, d->field[i].dtype, kind, err));
    }
    return cip_buf_addf(b, err, "]");
}

/* --- meta/ ------------------------------------------------------------------------------------ */

cip_status cip_blz_sizes_json(cip_buf *b, int32_t ndim, const int64_t *shape, uint64_t nbytes,
                              uint64_t cbytes, cip_err *err)
{
    for (int32_t k = 0; k < ndim; k++)
        CIP_TRY(cip_buf_addf(b, err, "%s%" PRId64, k == 0 ? "{\"shape\": [" : ", ", shape[k]));
    return cip_buf_addf(b, err, "], \"nbytes\": %" PRIu64 ", \"cbytes\": %" PRIu64 "}\n", nbytes,
                        cbytes);
}

cip_status cip_blz_storage_json(cip_buf *b, const cip_blz_storage *s, cip_err *err)
{
    const uint8_t filter = s->blosc->filter[CIP_BLOSC_FILTERS - 1];
    CIP_TRY(cip_buf_addf(b, err, "{\"dtype\": "));
    if (s->kind == CIP_BLZ_DOCUMENT && s->dtype->kind == CIP_RECORD)
        CIP_TRY(cip_blz_descr_json(b, s->dtype, err));
    else
        CIP_TRY(add_type(b, s->dtype, false, err));
    /* BLZ does not say the codec, bcolz rounds floats where `quantize` says so. */
    if (s->kind == CIP_BLZ_DIR)
        CIP_TRY(cip_buf_addf(b, err, ", \"bparams\": {\"clevel\": %d, \"shuffle\": %s}",
                             s->blosc->level, filter != 0 ? "true" : "false"));
    else
        CIP_TRY(cip_buf_addf(
            b, err, ", \"cparams\": {\"clevel\": %d, \"shuffle\": %u, \"cname\": \"%s\"%s}",
            s->blosc->level, filter, cip_blosc_codec_name(s->blosc->compcode),
            s->kind == CIP_BLZ_BCOLZ ? ", \"quantize\": 0" : ""));
    CIP_TRY(cip_buf_addf(b, err,
                         ", \"chunklen\": %" PRId64 ", \"expectedlen\": %" PRId64 ", \"dflt\": ",
                         s->chunklen, s->expectedlen));
    if (s->dflt == NULL) {
        CIP_TRY(cip_blz_zero_json(b, s->dtype, s->kind, err));
    } else {
        CIP_TRY(cip_blz_node_json(s->env, s->dflt, b, err));
        b->len--; /* the line's end */
    }
    if (s->superchunk != 0)
        CIP_TRY(cip_buf_addf(b, err, ", \"superchunk\": %" PRIu64, s->superchunk));
    return cip_buf_addf(b, err, "}\n");
}

cip_status cip_blz_dtype_json(cip_buf *b, const cip_dtype *d, cip_err *err)
{
    return add_type(b, d, false, err);
}

cip_status cip_blz_list_json(cip_buf *b, const char *const *text, size_t n, cip_err *err)
{
    CIP_TRY(cip_buf_addf(b, err, "["));
    for (size_t i = 0; i < n; i++) {
        CIP_TRY(cip_buf_addf(b, err, i == 0 ? "" : ", "));
        CIP_TRY(add_string(b, text[i], err));
    }
    return cip_buf_addf(b, err, "]");
}

cip_status cip_blz_columns_json(cip_buf *b, cip_blz_kind kind, const char *const *name, size_t n,
                                cip_err *err)
{
    CIP_TRY(cip_buf_addf(b, err, "{\"names\": "));
    CIP_TRY(cip_blz_list_json(b, name, n, err));
    CIP_TRY(cip_buf_addf(b, err, kind == CIP_BLZ_DIR ? ", \"dirs\": {" : ""));
    for (size_t i = 0; kind == CIP_BLZ_DIR && i < n; i++) {
        CIP_TRY(cip_buf_addf(b, err, i == 0 ? "" : ", "));
        CIP_TRY(add_string(b, name[i], err));
        CIP_TRY(cip_buf_addf(b, err, ": "));
        CIP_TRY(add_string(b, name[i], err));
    }
    return cip_buf_addf(b, err, kind == CIP_BLZ_DIR ? "}}\n" : "}\n");
}
