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

static cip_status build_name(cip_arena *a, const cip_out *out, size_t i, bool as_uri, char **name,
                             cip_err *err)
{
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

/* The first number that no file has yet: those before it are of the file that is replaced. */
static cip_status first_free(cip_arena *a, const cip_out *out, size_t *first, cip_err *err)
{
    char *name;
    *first = 0;
    if (out->taken == NULL)
        return CIP_OK;
    CIP_TRY(build_name(a, out, 0, false, &name, err));
    while (out->taken(out->member_user, name))
        CIP_TRY(build_name(a, out, ++*first, false, &name, err));
    return CIP_OK;
}

cip_status cip_asdf_member_name(cip_arena *a, const cip_out *out, size_t i, bool as_uri,
                                char **name, cip_err *err)
{
    size_t first = 0;
    if (out->name == NULL || out->member == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an output with a name, beside which external data can lie");
    CIP_TRY(first_free(a, out, &first, err));
    return build_name(a, out, first + i, as_uri, name, err);
}
