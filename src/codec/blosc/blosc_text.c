/* SPDX-License-Identifier: BSD-3-Clause
 * Codecs and filters of Blosc as text, both ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/blosc/blosc.h"

/* Whether a number begins right there, without space or plus. */
static bool is_number(const char *s)
{
    return (*s >= '0' && *s <= '9') || (*s == '-' && s[1] >= '0' && s[1] <= '9');
}

int cip_blosc_codec_id(const char *name)
{
    for (int id = 0; id < 256; id++) {
        const char *s = cip_blosc_codec_name(id);
        if (s != NULL && strcmp(s, name) == 0)
            return id;
    }
    return -1;
}

int cip_blosc_filter_id_of(const char *name, size_t len)
{
    for (int id = 0; id < 256; id++) {
        const char *s = cip_blosc_filter_name(id);
        if (s != NULL && strlen(s) == len && memcmp(s, name, len) == 0)
            return id;
    }
    return -1;
}

static cip_status bad_text(cip_err *err, const char *expected, const char *found, size_t len)
{
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %s, found \"%.*s\"", expected,
                    (int)(len < 64 ? len : 64), found);
}

/* Codecs whose meta is part of their text. */
static const struct {
    const char *text, *expected;
    int compcode, least, most, step;
} with_meta[] = {
    { "zfp:acc=", "zfp:acc=N with N from -128 to 127", CIP_BLOSC_ZFP_ACC, -128, 127, 1 },
    { "zfp:prec=", "zfp:prec=N with N from 1 to 64", CIP_BLOSC_ZFP_PREC, 1, 64, 1 },
    { "zfp:rate=", "zfp:rate=N with N from 1 to 100", CIP_BLOSC_ZFP_RATE, 1, 100, 1 },
    { "ndlz:", "ndlz:4 or ndlz:8", CIP_BLOSC_NDLZ, 4, 8, 4 },
};

cip_status cip_blosc_codec_parse(const char *text, int *compcode, uint8_t *meta, cip_err *err)
{
    const int id = cip_blosc_codec_id(text);
    for (size_t i = 0; i < sizeof with_meta / sizeof with_meta[0]; i++) {
        const size_t len = strlen(with_meta[i].text);
        char *end;
        if (strncmp(text, with_meta[i].text, len) != 0)
            continue;
        const long value = strtol(text + len, &end, 10);
        if (!is_number(text + len) || *end != '\0' || value < with_meta[i].least ||
            value > with_meta[i].most || value % with_meta[i].step != 0)
            return bad_text(err, with_meta[i].expected, text, strlen(text));
        *compcode = with_meta[i].compcode;
        *meta = (uint8_t)value;
        return CIP_OK;
    }
    if (id == CIP_BLOSC_SNAPPY || id > CIP_BLOSC_ZFP_RATE)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a codec that can be written, found %s", text);
    if (id < 0 || id > CIP_BLOSC_ZSTD)
        return bad_text(err,
                        "the codec blosclz, lz4, lz4hc, zlib, zstd, ndlz:4, ndlz:8, zfp:acc=N, "
                        "zfp:prec=N or zfp:rate=N",
                        text, strlen(text));
    *compcode = id;
    *meta = 0;
    return CIP_OK;
}

static bool is_signed(int id)
{
    return id == CIP_BLOSC_TRUNC_PREC || id == CIP_BLOSC_INT_TRUNC;
}

#define TRUNC "trunc" /* short for trunc_prec */

/* One of the list, "name" or "name:number". */
static cip_status parse_filter(const char *s, size_t len, uint8_t *filter, uint8_t *meta,
                               cip_err *err)
{
    const char *colon = memchr(s, ':', len);
    const size_t nname = colon != NULL ? (size_t)(colon - s) : len;
    int id = cip_blosc_filter_id_of(s, nname);
    if (nname == strlen(TRUNC) && memcmp(s, TRUNC, nname) == 0)
        id = CIP_BLOSC_TRUNC_PREC;
    long value = 0;
    if (id <= CIP_BLOSC_NOFILTER)
        return bad_text(err, "the name of a filter", s, len);
    if (colon != NULL) {
        char *end;
        value = strtol(colon + 1, &end, 10);
        if (!is_number(colon + 1) || end != s + len || value < (is_signed(id) ? -128 : 0) ||
            value > (is_signed(id) ? 127 : 255))
            return bad_text(err, "a number from 0 to 255 after a filter", s, len);
    }
    *filter = (uint8_t)id;
    *meta = (uint8_t)value;
    return CIP_OK;
}

/* Where a filter serves: delta first, then what takes bits from numbers, then cells; bytes are
 * looked at last. */
static int rank(uint8_t filter)
{
    switch (filter) {
    case CIP_BLOSC_DELTA:
        return 0;
    case CIP_BLOSC_TRUNC_PREC:
    case CIP_BLOSC_INT_TRUNC:
        return 1;
    case CIP_BLOSC_NDCELL:
    case CIP_BLOSC_NDMEAN:
        return 2;
    case CIP_BLOSC_BYTEDELTA:
        return 4;
    default:
        return 3;
    }
}

cip_status cip_blosc_filters_parse(const char *text, uint8_t filter[CIP_BLOSC_FILTERS],
                                   uint8_t meta[CIP_BLOSC_FILTERS], cip_err *err)
{
    uint8_t f[CIP_BLOSC_FILTERS] = { 0 }, m[CIP_BLOSC_FILTERS] = { 0 };
    size_t n = 0;
    for (const char *s = text; strcmp(text, "none") != 0;) {
        size_t len = strcspn(s, "+,");
        if (n == CIP_BLOSC_FILTERS)
            return bad_text(err, "at most six filters", text, strlen(text));
        CIP_TRY(parse_filter(s, len, &f[n], &m[n], err));
        n++;
        if (s[len] == '\0')
            break;
        s += len + 1;
    }
    for (size_t i = 1; strchr(text, ',') != NULL && i < n; i++)
        for (size_t k = i; k > 0 && rank(f[k]) < rank(f[k - 1]); k--) {
            const uint8_t filter_k = f[k], meta_k = m[k];
            f[k] = f[k - 1];
            m[k] = m[k - 1];
            f[k - 1] = filter_k;
            m[k - 1] = meta_k;
        }
    memset(filter, 0, CIP_BLOSC_FILTERS);
    memset(meta, 0, CIP_BLOSC_FILTERS);
    memcpy(filter + CIP_BLOSC_FILTERS - n, f, n);
    memcpy(meta + CIP_BLOSC_FILTERS - n, m, n);
    return CIP_OK;
}

void cip_blosc_filters_print(const uint8_t filter[CIP_BLOSC_FILTERS],
                             const uint8_t meta[CIP_BLOSC_FILTERS],
                             char text[CIP_BLOSC_FILTERS_TEXT])
{
    size_t n = 0;
    snprintf(text, CIP_BLOSC_FILTERS_TEXT, "none");
    for (int i = 0; i < CIP_BLOSC_FILTERS; i++) {
        const char *name = cip_blosc_filter_name(filter[i]), *and = n != 0 ? "+" : "";
        if (filter[i] == CIP_BLOSC_NOFILTER)
            continue;
        if (name != NULL)
            n += (size_t)snprintf(text + n, CIP_BLOSC_FILTERS_TEXT - n, "%s%s", and, name);
        else
            n += (size_t)snprintf(text + n, CIP_BLOSC_FILTERS_TEXT - n, "%s%u", and, filter[i]);
        if (meta[i] != 0)
            n += (size_t)snprintf(text + n, CIP_BLOSC_FILTERS_TEXT - n, ":%d",
                                  is_signed(filter[i]) ? (int8_t)meta[i] : meta[i]);
    }
}
