/* SPDX-License-Identifier: BSD-3-Clause
 * Options structs, whatever version of them the caller has. */
#include "core/take_options.h"

#include <string.h>

cip_status cip_options_take(const char *name, const void *in, void *out, size_t size, cip_err *err)
{
    size_t theirs = 0;
    memset(out, 0, size);
    if (in != NULL) {
        memcpy(&theirs, in, sizeof theirs);
        if (theirs == 0 || theirs > size)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected %s.size between 1 and %zu, found %zu", name, size, theirs);
        memcpy(out, in, theirs);
    }
    memcpy(out, &size, sizeof size);
    return CIP_OK;
}
