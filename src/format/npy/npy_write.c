/* SPDX-License-Identifier: BSD-3-Clause
 * Writing .npy files byte for byte as numpy.save (2.x) does for arrays in C order. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/npy/npy.h"
#include "format/one_array.h"
#include "tree/utf8.h"

enum {
    ALIGN = 64,
    GROWTH_DIGITS = 21 /* numpy leaves room so that the first length can be rewritten in place */
};

typedef struct writer {
    cip_out *out;
    uint64_t left; /* bytes of data still to come */
} writer;

static void lost(cip_report *r, cip_severity severity, const char *part, const char *what,
                 const char *why)
{
    cip_report_add(r, severity, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, part, "%s: %.120s", what,
                   why);
}

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    CIP_TRY(cip_tell_rest(spec, NULL, ".npy files", loss, err));
    if (spec->narray != 1)
        cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, NULL,
                       "a .npy file holds one array, there are %zu", spec->narray);
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        if (a->masked)
            lost(loss, CIP_WARN, a->path, "the mask is lost", ".npy files have none");
        if (cip_numpy_loses_name(a->dtype))
            lost(loss, CIP_WARN, a->path, "the name of an opaque type is lost",
                 cip_dtype_name(a->dtype));
    }
    return cip_report_status(loss, err);
}

/* --- header --------------------------------------------------------------------------------- */

static cip_status add_blanks(cip_buf *b, size_t n, cip_err *err)
{
    uint8_t *at;
    CIP_TRY(cip_buf_reserve(b, n, &at, err));
    memset(at, ' ', n);
    b->len += n;
    return CIP_OK;
}

/* The dict, in UTF-8. */
static cip_status add_dict(cip_buf *b, const cip_spec_array *a, const char *descr, cip_err *err)
{
    size_t growth;
    CIP_TRY(cip_buf_addf(b, err, "{'descr': "));
    CIP_TRY(cip_npy_repr(b, descr, err));
    CIP_TRY(cip_buf_addf(b, err, ", 'fortran_order': False, 'shape': "));
    /* repr() of the tuple, and its blanks for growing. */
    growth = 0;
    CIP_TRY(cip_buf_addf(b, err, "("));
    for (int32_t i = 0; i < a->ndim; i++) {
        size_t before = b->len;
        CIP_TRY(cip_buf_addf(b, err, "%" PRId64, a->shape[i]));
        if (i == 0)
            growth = GROWTH_DIGITS - (b->len - before);
        CIP_TRY(cip_buf_addf(b, err, "%s", i + 1 < a->ndim ? ", " : i == 0 ? "," : ""));
    }
    CIP_TRY(cip_buf_addf(b, err, ")"));
    CIP_TRY(cip_buf_addf(b, err, ", }"));
    return add_blanks(b, growth, err);
}

/* The same in Latin-1, in place. False, with nothing done, when it has other characters. */
static bool to_latin1(cip_buf *b)
{
    uint32_t cp;
    size_t n = 0;
    for (size_t i = 0; i < b->len;) {
        unsigned len = cip_utf8_get(b->ptr + i, b->len - i, &cp);
        if (len == 0 || cp > 0xff)
            return false;
        i += len;
    }
    for (size_t i = 0; i < b->len; n++) {
        i += cip_utf8_get(b->ptr + i, b->len - i, &cp);
        b->ptr[n] = (uint8_t)cp;
    }
    b->len = n;
    return true;
}

/* Magic, version, length, text, blanks up to a multiple of 64, line feed. */
static cip_status write_header(cip_out *out, cip_buf *text, cip_err *err)
{
    uint8_t pre[CIP_NPY_PREAMBLE_MAX] = "\x93NUMPY";
    bool latin1 = to_latin1(text);
    size_t n = text->len + 1, pad = ALIGN - (10 + n) % ALIGN;
    pre[6] = !latin1 ? 3 : n + pad > UINT16_MAX ? 2 : 1;
    size_t npre = pre[6] == 1 ? 10 : 12;
    pad = ALIGN - (npre + n) % ALIGN;
    if (n + pad > UINT32_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a header of less than 4 GiB");
    if (pre[6] == 1)
        cip_store_u16(pre + 8, (uint16_t)(n + pad), false);
    else
        cip_store_u32(pre + 8, (uint32_t)(n + pad), false);
    CIP_TRY(add_blanks(text, pad, err));
    CIP_TRY(cip_buf_add(text, "\n", 1, err));
    CIP_TRY(cip_out_write(out, pre, npre, err));
    return cip_out_write(out, text->ptr, text->len, err);
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    const cip_spec *spec = b->spec;
    const cip_spec_array *s = spec->array;
    cip_array_form *form = b->form;
    writer *w;
    char *descr;
    if (spec->narray != 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a .npy file holds one array, there are %zu", spec->narray);
    if (spec->codec != NULL && strcmp(spec->codec, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected no codec for a .npy file, found %.60s", spec->codec);
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
    w->out = b->out;
    CIP_TRY(cip_numpy_stored(b->arena, spec, s->dtype, &form->dtype, err));
    CIP_TRY(cip_spec_array_nbytes(s, form->dtype, &w->left, err));
    CIP_TRY(cip_dtype_numpy(b->arena, form->dtype, &descr, err));
    cip_buf text = { .mem = &b->env->mem };
    cip_status st = add_dict(&text, s, descr, err);
    if (st == CIP_OK)
        st = write_header(b->out, &text, err);
    cip_buf_clear(&text);
    if (st == CIP_OK)
        *state = w;
    return st;
}

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    writer *w = state;
    (void)array;
    (void)i;
    for (size_t k = 0; k < n; k++) {
        const cip_bytes b = chunk[k].bytes;
        if (chunk[k].state != CIP_CHUNK_DATA || b.len != chunk[k].raw_len || b.len > w->left)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected at most %" PRIu64 " bytes of data, found %zu", w->left,
                            b.len);
        w->left -= b.len;
        CIP_TRY(cip_out_write(w->out, b.ptr, b.len, err));
    }
    return CIP_OK;
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    const writer *w = state;
    (void)r;
    if (w->left != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " bytes more of data, found the end", w->left);
    return CIP_OK;
}

const cip_array_store cip_npy_store = {
    .caps = CIP_STORE_ONE_ARRAY,
    .check = check,
    .begin = begin,
    .store = store,
    .finish = finish,
};
