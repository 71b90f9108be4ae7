/* SPDX-License-Identifier: BSD-3-Clause
 * Names of the files beside a file: "NAME0001.asdf" for NAME.asdf, as Python's asdf calls them. */
#include <stdio.h>
#include <string.h>

#include "format/asdf/write/asdf_write.h"

/* Into an empty buffer, with a NUL. */
static cip_status write_name(const cip_out *out, size_t i, bool as_uri, cip_buf *b, cip_err *err)
{
    const char *dot = strrchr(out->name, '.');
    size_t n = dot != NULL && dot != out->name ? (size_t)(dot - out->name) : strlen(out->name);
    for (size_t k = 0; k < n; k++) {
        unsigned char c = (unsigned char)out->name[k];
        const bool plain = !as_uri || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                           (c >= 'A' && c <= 'Z') || strchr("-._~", c) != NULL;
        CIP_TRY(cip_buf_addf(b, err, plain ? "%c" : "%%%02X", c));
    }
    CIP_TRY(cip_buf_addf(b, err, "%04zu.asdf", i));
    return cip_buf_nul(b, err);
}

/* The i-th number, from 0, that no file has yet: the others may be of the file that is replaced, or
 * of any other. */
static cip_status free_number(const cip_out *out, size_t i, cip_buf *b, size_t *number,
                              cip_err *err)
{
    *number = i;
    if (out->taken == NULL)
        return CIP_OK;
    *number = 0;
    for (size_t nfree = 0;; ++*number) {
        b->len = 0;
        CIP_TRY(write_name(out, *number, false, b, err));
        if (!out->taken(out->member_user, (const char *)b->ptr) && nfree++ == i)
            return CIP_OK;
    }
}

cip_status cip_asdf_member_name(cip_arena *a, const cip_out *out, size_t i, bool as_uri,
                                char **name, cip_err *err)
{
    size_t number = 0;
    cip_status st;
    cip_buf b = { .mem = a->mem };
    if (out->name == NULL || out->member == NULL)
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "expected an output with a name, so that external data can be stored beside it");
    if (strchr(out->name, '\\') != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected an output name without a backslash, because references to "
                        "external data cannot have one");
    CIP_GO(free_number(out, i, &b, &number, err));
    b.len = 0;
    CIP_GO(write_name(out, number, as_uri, &b, err));
    st = cip_arena_copy(a, b.ptr, strlen((const char *)b.ptr), name, err);
done:
    cip_buf_clear(&b);
    return st;
}
