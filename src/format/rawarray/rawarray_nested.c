/* SPDX-License-Identifier: BSD-3-Clause
 * RawArray in RawArray: user-defined elements that each are a whole .ra file. */
#include <string.h>

#include "base/num.h"
#include "format/rawarray/rawarray.h"

enum {
    LOOK_AT_FIRST = 16,
    DECODED_MAX = 64 << 20 /* compressed data over this are not decoded only to look */
};

/* One record: its header and the bytes of it, for comparing. */
typedef struct record {
    cip_ra_header header;
    uint8_t bytes[CIP_RA_HEADER_MAX];
} record;

typedef struct nest {
    cip_read_how how;
    const cip_ra_header *outer;
    cip_space *data;
    uint64_t n; /* records */
} nest;

static nest nest_make(cip_layout *l, const cip_ra_header *h, cip_space *data)
{
    return (nest){ { l, NULL }, h, data, h->raw_len / h->elbyte };
}

/* Reads the i-th record's header. A fault of the content: it is no RawArray file. */
static cip_status read_record(const nest *w, uint64_t i, record *r, cip_err *err)
{
    uint64_t each = w->outer->elbyte;
    size_t n = (size_t)cip_min_u64(each, sizeof r->bytes);
    memset(r, 0, sizeof *r);
    CIP_TRY(cip_space_read_at(&w->how, w->data, i * each, r->bytes, n, err));
    CIP_TRY(cip_ra_header_read((cip_bytes){ r->bytes, n }, each, false, &r->header, err));
    memset(r->bytes + r->header.data_off, 0, sizeof r->bytes - r->header.data_off);
    return CIP_OK;
}

static cip_status make_label(cip_arena *a, const cip_ra_header *same, const char **label,
                             cip_err *err)
{
    cip_status st;
    char *text;
    cip_buf b = { .mem = a->mem };
    CIP_GO(cip_buf_addf(&b, err, "rawarray"));
    if (same != NULL) {
        CIP_GO(cip_buf_addf(&b, err, "("));
        /* "float32[3, 4]" in C order. */
        CIP_GO(cip_ra_type_name(same, &b, err));
        for (int32_t i = 0; i < same->ndim; i++)
            CIP_GO(cip_buf_addf(&b, err, "%s%" PRIu64 "%s", i == 0 ? "[" : ", ",
                                same->dims[same->ndim - 1 - i], i + 1 == same->ndim ? "]" : ""));
        CIP_GO(cip_buf_addf(&b, err, ")"));
    }
    CIP_GO(cip_arena_copy(a, b.ptr, b.len, &text, err));
    *label = text;
done:
    cip_buf_clear(&b);
    return st;
}

cip_status cip_ra_nested(cip_layout *l, const cip_ra_header *h, cip_space *data, const char **label,
                         cip_err *err)
{
    nest w = nest_make(l, h, data);
    bool equal = true;
    bool lz4 = (h->flags & CIP_RA_FLAG_LZ4) != 0;
    record first, r;
    *label = NULL;
    if (h->eltype != CIP_RA_USER || w.n == 0 || (lz4 && h->raw_len > DECODED_MAX))
        return CIP_OK;
    for (uint64_t k = 0; k < cip_min_u64(w.n, LOOK_AT_FIRST + 1); k++) {
        cip_err why = CIP_ERR_INIT;
        cip_status st = read_record(&w, k < LOOK_AT_FIRST ? k : w.n - 1, &r, &why);
        if (cip_is_about_content(st))
            return CIP_OK;
        CIP_TRY(cip_report_outcome(NULL, st, &why, err));
        if (k == 0)
            first = r;
        equal &= memcmp(first.bytes, r.bytes, sizeof r.bytes) == 0;
    }
    return make_label(&l->arena, equal ? &first.header : NULL, label, err);
}

cip_status cip_ra_nested_verify(cip_layout *l, const cip_ra_header *h, cip_space *data,
                                cip_report *report, cip_err *err)
{
    nest w = nest_make(l, h, data);
    for (uint64_t i = 0; i < w.n; i++) {
        record r;
        cip_err why = CIP_ERR_INIT;
        cip_status st = read_record(&w, i, &r, &why);
        if (cip_is_about_content(st))
            cip_report_add(report, cip_severity_of(st), st, h->data_off + i * h->elbyte, h->elbyte,
                           "nested",
                           "record %" PRIu64 " is not a RawArray file%s like the others: %.160s", i,
                           st == CIP_ERR_UNSUPPORTED ? " that this version reads" : "", why.text);
        CIP_TRY(cip_report_outcome(NULL, st, &why, err));
        CIP_TRY(cip_report_status(report, err));
    }
    return CIP_OK;
}
