/* SPDX-License-Identifier: BSD-3-Clause
 * Structs, whatever version of them the caller has. */
#include "base/sized.h"

#include <string.h>

enum { MOST = 16384 /* bytes of any struct; more is memory that nobody has set */ };

static size_t size_of(const void *theirs)
{
    size_t n = 0;
    if (theirs != NULL)
        memcpy(&n, theirs, sizeof n);
    return n;
}

cip_status cip_sized_take(const char *name, const void *in, void *out, size_t size, cip_err *err)
{
    const size_t theirs = size_of(in), both = theirs < size ? theirs : size;
    memset(out, 0, size);
    if (in != NULL) {
        CIP_TRY(cip_sized_room(name, in, err));
        for (size_t i = both; i < theirs; i++)
            if (((const uint8_t *)in)[i] != 0)
                return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                "expected only the %zu bytes of %s that this version knows, found "
                                "more bytes set",
                                size, name);
        memcpy(out, in, both);
    }
    memcpy(out, &size, sizeof size);
    return CIP_OK;
}

cip_status cip_sized_room(const char *name, const void *out, cip_err *err)
{
    const size_t theirs = size_of(out);
    if (out == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a %s, found NULL", name);
    if (theirs < sizeof(size_t) || theirs > MOST)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %s.size to be sizeof(%s), found %zu", name, name, theirs);
    return CIP_OK;
}

cip_status cip_sized_value(const char *field, unsigned value, unsigned last, cip_err *err)
{
    return value <= last ? CIP_OK
                         : cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                                    "expected %s to be at most %u, found %u", field, last, value);
}

void cip_sized_give(void *out, const void *from, size_t size)
{
    const size_t theirs = size_of(out), both = theirs < size ? theirs : size;
    memcpy(out, from, both);
    memset((uint8_t *)out + both, 0, theirs - both);
    memcpy(out, &theirs, sizeof theirs);
}
