/* SPDX-License-Identifier: BSD-3-Clause
 * What changes from one version of the standard to the next, as far as a writer needs to know. */
#include <string.h>

#include "format/asdf/write/asdf_write.h"

static const asdf_standard standards[] = {
    { "0.1.0", NULL, NULL, NULL, false, false, true },
    { "1.0.0", "1.0.0", "1.0.0", NULL, false, false, false },
    { "1.1.0", "1.0.0", "1.0.0", NULL, false, false, false },
    { "1.2.0", "1.1.0", "1.0.0", NULL, true, false, false },
    { "1.3.0", "1.1.0", "1.0.0", "1.0.0", true, false, false },
    { "1.4.0", "1.1.0", "1.0.0", "1.0.0", true, false, false },
    { "1.5.0", "1.1.0", "1.0.0", "1.0.0", true, false, false },
    { "1.6.0", "1.1.0", "1.1.0", "1.1.0", true, true, false },
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
                    "expected a version of the ASDF standard, 1.0.0 to 1.6.0, or 0.1.0, found "
                    "'%.40s'",
                    version);
}

cip_status cip_asdf_standard_of(const cip_spec *spec, const asdf_standard **out, cip_err *err)
{
    const asdf_standard *s;
    bool chained = cip_option_given(spec->option, ASDF_OPTION_ENCODE) != NULL;
    for (size_t i = 0; i < spec->narray; i++)
        chained = chained || cip_option_given(spec->array[i].option, ASDF_OPTION_ENCODE) != NULL;
    const asdf_header *h = spec->from != NULL ? &cip_asdf_of(spec->from)->header : NULL;
    const char *version = spec->version;
    if (version == NULL && chained)
        version = "0.1.0";
    else if (version == NULL && h != NULL && !cip_asdf_is_early(h->file))
        version = cip_asdf_own_standard(h); /* of the file which all comes from */
    CIP_TRY(cip_asdf_standard(version, &s, err));
    if (chained && !s->early)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected the version 0.1.0 for an encoding chain, found %s", s->version);
    *out = s;
    return CIP_OK;
}

/* --- tags ------------------------------------------------------------------------------------- */

#define EARLY_TAGS ASDF_TAGS "0.1.0/"

const char *cip_asdf_tag_prefix(const asdf_standard *s)
{
    return s->early ? EARLY_TAGS : ASDF_TAGS;
}

cip_status cip_asdf_core_tag(const asdf_standard *s, const char *name, const char *version,
                             cip_arena *a, const char **out, cip_err *err)
{
    char *made;
    *out = NULL;
    if (s->early)
        CIP_TRY(cip_arena_printf(a, &made, err, EARLY_TAGS "core/%s", name));
    else
        CIP_TRY(cip_arena_printf(a, &made, err, ASDF_TAGS "core/%s-%s", name, version));
    *out = made;
    return CIP_OK;
}

static bool starts(const char *text, const char *with)
{
    return text != NULL && strncmp(text, with, strlen(with)) == 0;
}

/* The name within a tag of ASDF, "core/complex"; NULL for other tags. *n: without its version. */
static const char *name_of(const char *tag, size_t *n)
{
    const char *name = starts(tag, EARLY_TAGS)  ? tag + strlen(EARLY_TAGS)
                       : starts(tag, ASDF_TAGS) ? tag + strlen(ASDF_TAGS)
                                                : NULL;
    if (name == NULL)
        return NULL;
    *n = strlen(name);
    for (size_t i = *n; i-- > 0 && name[i] != '/';)
        if (name[i] == '-' && name[i + 1] >= '0' && name[i + 1] <= '9')
            *n = i;
    return name;
}

static bool is_one_of(const char *const *list, const char *name, size_t n)
{
    for (; *list != NULL; list++)
        if (strlen(*list) == n && memcmp(*list, name, n) == 0)
            return true;
    return false;
}

/* Types that 0.1.0 describes. */
static bool early_has(const char *name, size_t n)
{
    static const char *const core[] = {
        "core/asdf",   "core/ndarray", "core/complex", "core/constant", "core/table",
        "core/column", "fits/fits",    "unit/unit",    "unit/defunit",  NULL
    };
    return is_one_of(core, name, n) || starts(name, "transform/") || starts(name, "wcs/") ||
           starts(name, "time/");
}

bool cip_asdf_tag_is_lost(const asdf_standard *s, const char *tag)
{
    static const char *const plain[] = { "core/software", "core/history_entry",
                                         "core/extension_metadata", NULL }; /* mappings as well */
    size_t n;
    const char *name = s->early ? name_of(tag, &n) : NULL;
    return name != NULL && !early_has(name, n) && !is_one_of(plain, name, n);
}

/* Tags of 0.1 are those of 1.0.0, unless the standard has a later one. */
static cip_status from_early(const char **tag, cip_arena *a, cip_err *err)
{
    static const char old[] = "-0.1.0";
    size_t n, len = *tag != NULL ? strlen(*tag) : 0;
    char *made;
    bool suffixed = len >= sizeof old && strcmp(*tag + len - (sizeof old - 1), old) == 0;
    const char *name = name_of(*tag, &n);
    if (name == NULL || !(starts(*tag, EARLY_TAGS) || suffixed))
        return CIP_OK;
    CIP_TRY(cip_arena_printf(a, &made, err, ASDF_TAGS "%.*s-1.0.0", (int)n, name));
    *tag = made;
    return CIP_OK;
}

cip_status cip_asdf_standard_tag(const asdf_standard *s, const char *tag, cip_arena *a,
                                 const char **out, cip_err *err)
{
    const struct {
        const char *name, *version;
    } row[] = { { "asdf", s->asdf }, { "ndarray", s->ndarray }, { "integer", s->integer } };
    size_t n;
    const char *name = name_of(tag, &n);
    *out = tag;
    if (name == NULL)
        return CIP_OK;
    if (s->early) {
        char *made = NULL;
        if (early_has(name, n))
            CIP_TRY(cip_arena_printf(a, &made, err, EARLY_TAGS "%.*s", (int)n, name));
        *out = made;
        return CIP_OK;
    }
    CIP_TRY(from_early(out, a, err));
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        if (cip_asdf_is_core(*out, row[i].name) && row[i].version != NULL)
            return cip_asdf_core_tag(s, row[i].name, row[i].version, a, out, err);
    return CIP_OK;
}
