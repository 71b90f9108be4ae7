/* SPDX-License-Identifier: BSD-3-Clause
 * Options given as text. */
#include "core/writing/spec_text.h"

#include <stdlib.h>
#include <string.h>

cip_status cip_spec_codec(const char *text, cip_arena *a, cip_spec *spec, cip_err *err)
{
    if (text == NULL)
        return CIP_OK;
    size_t len = strcspn(text, ":");
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

cip_status cip_spec_encode(const cip_format *format, const char *text, cip_err *err)
{
    if (text == NULL || (format->store->caps & CIP_STORE_ENCODE) != 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s has no encoding chains",
                    format->title);
}

cip_status cip_spec_checksum(const char *text, cip_err *err)
{
    if (text == NULL || strcmp(text, "md5") == 0 || strcmp(text, "legacy") == 0 ||
        strcmp(text, "none") == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "expected the checksum 'md5', 'legacy' or 'none', found '%.60s'", text);
}
