/* SPDX-License-Identifier: BSD-3-Clause
 * Codecs and filters of Blosc as text, both ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/blosc/blosc.h"

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

static bool is_signed(int id)
{
    return id == CIP_BLOSC_TRUNC_PREC || id == CIP_BLOSC_INT_TRUNC;
}

/* One of the list, "name" or "name:number". */
static cip_status parse_filter(const char *s, size_t len, uint8_t *filter, uint8_t *meta,
                               cip_err *err)
{
    const char *colon = memchr(s, ':', len);
    int id = cip_blosc_filter_id_of(s, colon != NULL ? (size_t)(colon - s) : len);
    long value = 0;
    if (id <= CIP_BLOSC_NOFILTER)
        return bad_text(err, "the name of a filter", s, len);
    if (colon != NULL) {
        char *end;
        value = strtol(colon + 1, &end, 10);
        bool digits = colon[1] == '-' || (colon[1] >= '0' && colon[1] <= '9');
        if (!digits || end != s + len || value < (is_signed(id) ? -128 : 0) ||
            value > (is_signed(id) ? 127 : 255))
            return bad_text(err, "a number of one byte behind a filter", s, len);
    }
    *filter = (uint8_t)id;
    *meta = (uint8_t)value;
    return CIP_OK;
}

cip_status cip_blosc_filters_parse(const char *text, uint8_t filter[CIP_BLOSC_FILTERS],
                                   uint8_t meta[CIP_BLOSC_FILTERS], cip_err *err)
{
    uint8_t f[CIP_BLOSC_FILTERS] = { 0 }, m[CIP_BLOSC_FILTERS] = { 0 };
    size_t n = 0;
    for (const char *s = text; strcmp(text, "none") != 0;) {
        size_t len = strcspn(s, "+");
        if (n == CIP_BLOSC_FILTERS)
            return bad_text(err, "at most six filters", text, strlen(text));
        CIP_TRY(parse_filter(s, len, &f[n], &m[n], err));
        n++;
        if (s[len] == '\0')
            break;
        s += len + 1;
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
