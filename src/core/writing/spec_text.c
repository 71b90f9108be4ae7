/* SPDX-License-Identifier: BSD-3-Clause
 * Options given as text. */
#include "core/writing/spec_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/blosc/blosc.h"

/* Behind a codec of chunks may stand the one in them: "blsc:lz4:5". */
static size_t name_len(const char *text)
{
    char within[16];
    const size_t n = strcspn(text, ":"), m = text[n] == ':' ? strcspn(text + n + 1, ":") : 0;
    if (m == 0 || m >= sizeof within)
        return n;
    memcpy(within, text + n + 1, m);
    within[m] = '\0';
    return cip_blosc_codec_id(within) >= 0 ? n + 1 + m : n;
}

static cip_status keep(cip_arena *a, const char **text, cip_err *err)
{
    return *text == NULL ? CIP_OK : cip_arena_copy(a, *text, strlen(*text), (char **)text, err);
}

static cip_status keep_list(cip_arena *a, const char *const **list, cip_err *err)
{
    const char *const *given = *list;
    const char **copy;
    size_t n = 0;
    while (given != NULL && given[n] != NULL)
        n++;
    CIP_TRY(CIP_ARENA_NEW(a, &copy, n + 1, err));
    for (size_t i = 0; i < n; i++) {
        copy[i] = given[i];
        CIP_TRY(keep(a, &copy[i], err));
    }
    *list = copy;
    return CIP_OK;
}

cip_status cip_spec_keep_texts(cip_arena *a, cip_change_options *o, cip_err *err)
{
    CIP_TRY(keep(a, &o->codec, err));
    CIP_TRY(keep(a, &o->checksum, err));
    CIP_TRY(keep(a, &o->byteorder, err));
    CIP_TRY(keep(a, &o->history, err));
    return keep_list(a, &o->format_options, err);
}

cip_status cip_spec_keep_array_texts(cip_arena *a, cip_array_options *o, cip_err *err)
{
    CIP_TRY(keep(a, &o->codec, err));
    CIP_TRY(keep(a, &o->storage, err));
    return keep_list(a, &o->format_options, err);
}

cip_status cip_spec_codec(const char *text, cip_arena *a, cip_spec *spec, cip_err *err)
{
    if (text == NULL)
        return CIP_OK;
    /* what stands behind the colon as KEY=VALUE is the codec's own, and belongs to its name */
    const size_t len = strchr(text, '=') != NULL ? strlen(text) : name_len(text);
    char *name, *end = NULL;
    CIP_TRY(cip_arena_copy(a, text, len, &name, err));
    spec->codec = name;
    if (text[len] == '\0')
        return CIP_OK;
    long level = strtol(text + len + 1, &end, 10);
    if (end == text + len + 1 || *end != '\0' || level < -100 || level > 100)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a codec as NAME:LEVEL, found '%.60s'", text);
    spec->level = (int)level;
    return CIP_OK;
}

cip_status cip_spec_byteorder(const char *text, cip_spec *spec, cip_err *err)
{
    spec->big = -1;
    if (text == NULL)
        return CIP_OK;
    if (strcmp(text, "little") != 0 && strcmp(text, "big") != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected the byte order 'little' or 'big', found '%.60s'", text);
    spec->big = text[0] == 'b';
    return CIP_OK;
}

cip_status cip_spec_where(const char *text, cip_where *out, cip_err *err)
{
    *out = CIP_WHERE_DEFAULT;
    if (text == NULL)
        return CIP_OK;
    for (int i = CIP_WHERE_INTERNAL; i <= CIP_WHERE_STREAMED; i++)
        if (strcmp(text, cip_storage_kind_text((cip_storage_kind)i)) == 0)
            *out = (cip_where)i;
    if (*out == CIP_WHERE_DEFAULT)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected the storage 'internal', 'inline', 'external' or 'streamed', "
                        "found '%.60s'",
                        text);
    return CIP_OK;
}

cip_status cip_spec_may(const cip_format *format, const cip_spec *spec, cip_err *err)
{
    const bool plain = (format->store->caps & CIP_STORE_TREE) == 0;
    const bool sums = !plain || (format->store->caps & CIP_STORE_SUMS) != 0;
    const bool summed = spec->checksum != NULL && strcmp(spec->checksum, "none") != 0;
    if ((!plain || (spec->version == NULL && spec->tree_slack <= 0 && spec->align == 0)) &&
        (sums || !summed))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "%s files have no choice of version, %sslack or alignment", format->title,
                    sums ? "" : "checksums, ");
}

static size_t option_count(const cip_format *format)
{
    size_t n = 0;
    while (format->options != NULL && format->options[n].key != NULL)
        n++;
    return n;
}

cip_status cip_spec_chunks(const cip_format *format, int32_t ndim, const int64_t *chunk,
                           cip_arena *a, const char *const **option, cip_err *err)
{
    const size_t n = option_count(format);
    const char **all;
    char *text, list[21 * CIP_MAX_NDIM + 1] = "";
    bool given = false;
    size_t k = 0, len = 0;
    for (int32_t i = 0; i < ndim; i++)
        given = given || chunk[i] != 0;
    while (k < n && strcmp(format->options[k].key, "chunks") != 0)
        k++;
    if (!given || k == n || cip_option_given(*option, k) != NULL)
        return CIP_OK;
    for (int32_t i = 0; i < ndim; i++) /* "64,64" */
        len += (size_t)snprintf(list + len, sizeof list - len, "%s%" PRId64, i == 0 ? "" : ",",
                                chunk[i]);
    CIP_TRY(cip_arena_copy(a, list, len, &text, err));
    CIP_TRY(CIP_ARENA_NEW(a, &all, n, err));
    for (size_t i = 0; i < n; i++)
        all[i] = cip_option_given(*option, i);
    all[k] = text;
    *option = all;
    return CIP_OK;
}

static cip_status no_option(const cip_format *format, const char *key, size_t len, cip_err *err)
{
    char known[160] = "";
    size_t n = 0;
    for (const cip_format_option *o = format->options; o != NULL && o->key != NULL; o++)
        if (n < sizeof known)
            n += (size_t)snprintf(known + n, sizeof known - n, "%s%s", n == 0 ? ", but " : ", ",
                                  o->key);
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s has no option '%.*s'%s",
                    format->title, len < 40 ? (int)len : 40, key, known);
}

cip_status cip_spec_options(const cip_format *format, const char *const *texts, cip_arena *a,
                            const char *const **out, cip_err *err)
{
    const cip_format_option *options = format->options;
    const char **given = NULL;
    const size_t n = option_count(format);
    size_t k;
    *out = NULL;
    for (; texts != NULL && *texts != NULL; texts++) {
        char *value;
        const size_t len = strcspn(*texts, "=");
        if ((*texts)[len] == '\0')
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected an option as KEY=VALUE, found '%.60s'", *texts);
        for (k = 0; k < n; k++)
            if (strlen(options[k].key) == len && memcmp(options[k].key, *texts, len) == 0)
                break;
        if (k == n)
            return no_option(format, *texts, len, err);
        if (given == NULL)
            CIP_TRY(CIP_ARENA_NEW(a, &given, n, err));
        CIP_TRY(cip_arena_copy(a, *texts + len + 1, strlen(*texts + len + 1), &value, err));
        given[k] = value;
    }
    *out = given;
    return CIP_OK;
}
