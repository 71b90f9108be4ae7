/* SPDX-License-Identifier: BSD-3-Clause
 * Writing .npy files byte for byte as numpy.save (2.x) does for arrays in C order. What is there is
 * changed by npy_update.c. */
#include <string.h>

#include "base/num.h"
#include "format/npy/npy.h"
#include "format/one_array.h"

void cip_npy_tell_lost(const cip_spec *spec, const char *who, cip_report *loss)
{
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        if (a->masked)
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the mask is lost: %s have none", who);
        if (cip_numpy_loses_name(a->dtype))
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the name of an opaque type is lost: %.120s", cip_dtype_name(a->dtype));
    }
}

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    CIP_TRY(cip_tell_rest(spec, NULL, ".npy files", loss, err));
    if (spec->narray != 1)
        cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, NULL,
                       "a .npy file holds one array, there are %zu", spec->narray);
    cip_npy_tell_lost(spec, ".npy files", loss);
    return cip_report_status(loss, err);
}

cip_status cip_npy_head(cip_env *env, const cip_spec_array *a, const cip_dtype *stored,
                        cip_arena *arena, cip_buf *out, cip_err *err)
{
    cip_npy_header h = { .ndim = a->ndim };
    cip_buf literal = { .mem = &env->mem };
    cip_status st;
    char *descr;
    for (int i = 0; i < a->ndim; i++)
        h.shape[i] = a->shape[i];
    CIP_TRY(cip_dtype_numpy(arena, stored, &descr, err));
    CIP_GO(cip_npy_repr(&literal, descr, err));
    h.literal = (cip_bytes){ literal.ptr, literal.len };
    st = cip_npy_header_write(env, &h, out, err);
done:
    cip_buf_clear(&literal);
    return st;
}

static cip_status write_header(const cip_npy_state *w, const cip_spec_array *a,
                               const cip_dtype *stored, cip_arena *arena, cip_err *err)
{
    cip_buf head = { .mem = &w->env->mem };
    cip_status st = cip_npy_head(w->env, a, stored, arena, &head, err);
    if (st == CIP_OK)
        st = cip_out_write(w->out, head.ptr, head.len, err);
    cip_buf_clear(&head);
    return st;
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    const cip_spec *spec = b->spec;
    const cip_spec_array *s = spec->array;
    cip_array_form *form = b->form;
    cip_npy_state *w;
    if (spec->codec != NULL && strcmp(spec->codec, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected no codec for a .npy file, found %.60s", spec->codec);
    if (b->old != NULL)
        return cip_npy_update_begin(b, state, err);
    if (spec->narray != 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a .npy file holds one array, there are %zu", spec->narray);
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
    w->env = b->env;
    w->out = b->out;
    CIP_TRY(cip_numpy_stored(b->arena, spec, s->dtype, &form->dtype, err));
    CIP_TRY(cip_spec_array_nbytes(s, form->dtype, &w->left, err));
    CIP_TRY(write_header(w, s, form->dtype, b->arena, err));
    *state = w;
    return CIP_OK;
}

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    cip_npy_state *w = state;
    (void)array;
    (void)i;
    for (size_t k = 0; k < n; k++) {
        const cip_bytes b = chunk[k].bytes;
        if (chunk[k].state != CIP_CHUNK_DATA || b.len != chunk[k].raw_len || b.len > w->left)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected at most %" PRIu64 " bytes of data, found %zu", w->left,
                            b.len);
        w->left -= b.len;
        CIP_TRY(cip_out_write(w->out, b.ptr, b.len, err));
    }
    return CIP_OK;
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    cip_npy_state *w = state;
    if (w->l != NULL)
        return cip_npy_update_finish(w, r, err);
    if (w->left != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " more bytes of data, found the end", w->left);
    return CIP_OK;
}

const cip_array_store cip_npy_store = {
    .caps = CIP_STORE_ONE_ARRAY | CIP_STORE_UPDATES,
    .check = check,
    .begin = begin,
    .store = store,
    .form = cip_npy_update_form,
    .chunks = cip_npy_update_chunks,
    .finish = finish,
};
