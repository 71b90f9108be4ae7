/* SPDX-License-Identifier: BSD-3-Clause
 * Names of the files beside a file: "NAME0001.asdf" for NAME.asdf, as Python's asdf calls them. */
#include <stdio.h>
#include <string.h>

#include "format/asdf/asdf_write.h"

static bool is_char_of_uri(unsigned char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           strchr("-._~", c) != NULL;
}

cip_status cip_asdf_member_name(cip_arena *a, const cip_out *out, size_t i, bool as_uri,
                                char **name, cip_err *err)
{
    if (out->name == NULL || out->member == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an output with a name, beside which external data can lie");
    const char *dot = strrchr(out->name, '.');
    size_t n = dot != NULL && dot != out->name ? (size_t)(dot - out->name) : strlen(out->name);
    cip_buf b = { .mem = a->mem };
    cip_status st = CIP_OK;
    for (size_t k = 0; k < n && st == CIP_OK; k++) {
        unsigned char c = (unsigned char)out->name[k];
        st = cip_buf_addf(&b, err, as_uri && !is_char_of_uri(c) ? "%%%02X" : "%c", c);
    }
    if (st == CIP_OK)
        st = cip_buf_addf(&b, err, "%04zu.asdf", i);
    if (st == CIP_OK)
        st = cip_arena_copy(a, b.ptr, b.len, name, err);
    cip_buf_clear(&b);
    return st;
}
