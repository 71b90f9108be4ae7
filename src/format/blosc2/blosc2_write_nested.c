/* SPDX-License-Identifier: BSD-3-Clause
 * Frames within files of other formats: written by the store of frames, as a list of items. */
#include "format/blosc2/blosc2_write.h"

#include <stdio.h>
#include <string.h>

enum { NOPTION = 8 };

/* The number of an option of ours, of which there are fewer than NOPTION. */
static size_t option(const char *key)
{
    size_t i = 0;
    while (strcmp(cip_b2_options[i].key, key) != 0)
        i++;
    return i;
}

static cip_status fill_spec(const cip_b2_nested *n, cip_arena *a, cip_spec *spec, cip_err *err)
{
    char filters[CIP_BLOSC_FILTERS_TEXT], *text;
    cip_spec_array *array;
    const char **given;
    int64_t *shape;
    CIP_TRY(CIP_ARENA_NEW(a, &array, 1, err));
    CIP_TRY(CIP_ARENA_NEW(a, &given, NOPTION, err));
    CIP_TRY(CIP_ARENA_NEW(a, &shape, 1, err));
    shape[0] = (int64_t)n->nitem;
    *array = (cip_spec_array){ .path = "", .ndim = 1, .shape = shape, .source = n->source };
    CIP_TRY(cip_dtype_opaque(a, n->typesize, NULL, &array->dtype, err));
    if (n->blosc != NULL) {
        cip_blosc_filters_print(n->blosc->filter, n->blosc->filter_meta, filters);
        CIP_TRY(cip_arena_printf(a, &text, err, "%s", filters[0] != '\0' ? filters : "none"));
        given[option("filter")] = text;
    }
    *spec = (cip_spec){ .env = n->env, .narray = 1, .array = array, .option = given, .big = -1 };
    spec->kind = cip_b2_kinds[0].name;
    if (n->blosc == NULL)
        return CIP_OK;
    spec->codec = n->blosc->level == 0 ? "none" : cip_blosc_codec_name(n->blosc->compcode);
    spec->level = n->blosc->level;
    return CIP_OK;
}

cip_status cip_b2_nested_begin(const cip_b2_nested *n, cip_arena *a, cip_out *out,
                               cip_array_form *form, void **state, cip_err *err)
{
    cip_spec *spec;
    CIP_TRY(CIP_ARENA_NEW(a, &spec, 1, err));
    CIP_TRY(fill_spec(n, a, spec, err));
    const cip_store_begin b = { .env = n->env, .arena = a, .spec = spec, .out = out, .form = form };
    return cip_b2_store.begin(&b, state, err);
}

cip_status cip_b2_nested_store(void *state, uint64_t i, size_t n, const cip_chunk_in *chunk,
                               cip_err *err)
{
    return cip_b2_store.store(state, 0, i, n, chunk, err);
}

/* What the store would have patched in its file is changed in the output. */
cip_status cip_b2_nested_end(void *state, cip_mem *mem, cip_out *out, cip_err *err)
{
    cip_revision r = { .patch = { .arena = { .mem = mem } } };
    cip_status st = cip_b2_store.finish(state, &r, err);
    for (size_t i = 0; st == CIP_OK && i < r.patch.n; i++) {
        const cip_patch_op *op = &r.patch.op[i];
        st = cip_out_rewrite(out, op->offset, op->after.ptr, op->after.len, err);
    }
    cip_revision_clear(&r);
    return st;
}

void cip_b2_nested_clear(void *state)
{
    if (state != NULL)
        cip_b2_store.clear(state);
}
