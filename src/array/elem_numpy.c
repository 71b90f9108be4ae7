/* SPDX-License-Identifier: BSD-3-Clause
 * Dtypes as numpy's descr: what npy headers hold and numpy.dtype() takes. */
#include "array/elem.h"

#include <string.h>

#include "array/quote.h"

static cip_status unsupported(cip_err *err, const char *what)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "NumPy has no %s", what);
}

/* "<f4", without quotes. */
static cip_status add_scalar(cip_buf *b, const cip_dtype *d, cip_err *err)
{
    static const char letters[] = "?biiiiuuuufffcc";
    const char *mark = d->itemsize == 1 ? "|" : d->big ? ">" : "<";
    if (d->itemsize > INT32_MAX)
        return unsupported(err, "elements of over 2^31 - 1 bytes");
    switch (d->kind) {
    case CIP_ASCII:
        return cip_buf_addf(b, err, "|S%" PRIu64, d->itemsize);
    case CIP_UCS4:
        return cip_buf_addf(b, err, "%sU%" PRIu64, mark, d->itemsize / 4);
    case CIP_OPAQUE:
        return cip_buf_addf(b, err, "|V%" PRIu64, d->itemsize);
    case CIP_DATETIME64:
    case CIP_TIMEDELTA64:
        CIP_TRY(cip_buf_addf(b, err, "%s%c8", mark, d->kind == CIP_DATETIME64 ? 'M' : 'm'));
        return d->unit[0] != '\0' ? cip_buf_addf(b, err, "[%s]", d->unit) : CIP_OK;
    default:
        return cip_buf_addf(b, err, "%s%c%" PRIu64, mark, letters[d->kind], d->itemsize);
    }
}

static cip_status add_record(cip_buf *b, const cip_dtype *d, cip_err *err);

/* Padding up to `offset` and the separator of what follows. */
static cip_status add_gap(cip_buf *b, uint64_t *end, uint64_t offset, cip_err *err)
{
    if (offset - *end > INT32_MAX)
        return unsupported(err, "padding of over 2^31 - 1 bytes");
    if (offset > *end)
        CIP_TRY(cip_buf_addf(b, err, "('', '|V%" PRIu64 "'), ", offset - *end));
    *end = offset;
    return CIP_OK;
}

static cip_status add_record(cip_buf *b, const cip_dtype *d, cip_err *err)
{
    uint64_t end = 0;
    CIP_TRY(cip_buf_add(b, "[", 1, err));
    size_t empty = b->len;
    for (size_t i = 0; i < d->nfield; i++) {
        const cip_field *f = &d->field[i];
        if (f->offset < end)
            return unsupported(err, "descr of fields that overlap or are out of order");
        CIP_TRY(add_gap(b, &end, f->offset, err));
        /* ('a', '<i4', (2, 3)) */
        CIP_TRY(cip_buf_add(b, "(", 1, err));
        CIP_TRY(cip_quote_utf8(b, f->name, strlen(f->name), true, err));
        CIP_TRY(cip_buf_add(b, ", ", 2, err));
        if (f->dtype->kind == CIP_RECORD) {
            CIP_TRY(add_record(b, f->dtype, err));
        } else {
            CIP_TRY(cip_buf_add(b, "'", 1, err));
            CIP_TRY(add_scalar(b, f->dtype, err));
            CIP_TRY(cip_buf_add(b, "'", 1, err));
        }
        for (int32_t k = 0; k < f->ndim; k++)
            CIP_TRY(cip_buf_addf(b, err, "%s%" PRId64, k == 0 ? ", (" : ", ", f->shape[k]));
        if (f->ndim > 0) /* one length alone is a tuple by its comma */
            CIP_TRY(cip_buf_addf(b, err, "%s)", f->ndim == 1 ? "," : ""));
        CIP_TRY(cip_buf_add(b, ")", 1, err));
        CIP_TRY(cip_buf_add(b, ", ", 2, err));
        end += cip_field_nbytes(f);
    }
    CIP_TRY(add_gap(b, &end, d->itemsize, err));
    if (b->len > empty) /* without the last comma */
        b->len -= 2;
    return cip_buf_add(b, "]", 1, err);
}

cip_status cip_dtype_numpy(cip_arena *a, const cip_dtype *d, char **out, cip_err *err)
{
    cip_buf b = { .mem = a->mem };
    cip_status st;
    *out = NULL;
    if (d->kind == CIP_RECORD)
        CIP_GO(add_record(&b, d, err));
    else
        CIP_GO(add_scalar(&b, d, err));
    if (b.len > CIP_DTYPE_TEXT_MAX) /* it would not be read again */
        CIP_GO(cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected a dtype of at most %d characters, found %zu", CIP_DTYPE_TEXT_MAX,
                        b.len));
    CIP_GO(cip_arena_copy(a, b.ptr, b.len, out, err));
done:
    cip_buf_clear(&b);
    return st;
}
