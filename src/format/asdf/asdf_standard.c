/* SPDX-License-Identifier: BSD-3-Clause
 * What changes from one version of the standard to the next, as far as a writer needs to know. */
#include <string.h>

#include "format/asdf/asdf_write.h"

static const asdf_standard standards[] = {
    { "1.0.0", "1.0.0", "1.0.0", NULL, false, false },
    { "1.1.0", "1.0.0", "1.0.0", NULL, false, false },
    { "1.2.0", "1.1.0", "1.0.0", NULL, true, false },
    { "1.3.0", "1.1.0", "1.0.0", "1.0.0", true, false },
    { "1.4.0", "1.1.0", "1.0.0", "1.0.0", true, false },
    { "1.5.0", "1.1.0", "1.0.0", "1.0.0", true, false },
    { "1.6.0", "1.1.0", "1.1.0", "1.1.0", true, true },
};

enum { NSTANDARD = sizeof standards / sizeof standards[0] };

cip_status cip_asdf_standard(const char *version, const asdf_standard **out, cip_err *err)
{
    if (version == NULL) {
        *out = &standards[NSTANDARD - 1];
        return CIP_OK;
    }
    for (size_t i = 0; i < NSTANDARD; i++)
        if (strcmp(standards[i].version, version) == 0) {
            *out = &standards[i];
            return CIP_OK;
        }
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "expected a version of the ASDF standard, 1.0.0 to 1.6.0, found '%.40s'",
                    version);
}

cip_status cip_asdf_standard_tag(const asdf_standard *s, const char *tag, cip_arena *a,
                                 const char **out, cip_err *err)
{
    const struct {
        const char *name, *version;
    } row[] = { { "asdf", s->asdf }, { "ndarray", s->ndarray }, { "integer", s->integer } };
    char *made;
    *out = tag;
    for (size_t i = 0; tag != NULL && i < sizeof row / sizeof row[0]; i++) {
        if (!cip_asdf_is_core(tag, row[i].name) || row[i].version == NULL)
            continue;
        CIP_TRY(
            cip_arena_printf(a, &made, err, ASDF_TAGS "core/%s-%s", row[i].name, row[i].version));
        *out = made;
    }
    return CIP_OK;
}
