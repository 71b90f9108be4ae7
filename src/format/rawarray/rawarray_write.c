/* SPDX-License-Identifier: BSD-3-Clause
 * Writing: header, dims, data, and the trailing metadata of a RawArray source. With LZ4 the whole
 * array comes as one piece and is stored raw when LZ4 does not make it smaller; the size then is
 * known before the header is written, so that nothing is ever patched. */
#include <string.h>

#include "base/num.h"
#include "format/one_array.h"
#include "format/rawarray/rawarray.h"

static void lost(cip_report *r, cip_severity severity, const char *part, const char *what,
                 const char *why)
{
    cip_report_add(r, severity, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, part, "%s: %s", what, why);
}

/* The trailing metadata: a text or bytes of this name, from any tree. */
static const cip_node *metadata_of(const cip_node *tree)
{
    const cip_node *m = cip_node_kind(tree) == CIP_NODE_MAP ? cip_map_get(tree, "metadata") : NULL;
    cip_node_type type = cip_node_kind(m);
    return type == CIP_NODE_STRING || type == CIP_NODE_BINARY ? m : NULL;
}

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    /* What of the source's tree RawArray holds: nothing but its own, and such metadata. */
    const char *taken = metadata_of(spec->tree) != NULL ? "metadata" : NULL;
    if (spec->source_format == NULL || strcmp(spec->source_format, "rawarray") != 0)
        CIP_TRY(cip_tell_rest(spec, taken, "RawArray files", loss, err));
    else if (spec->tree != NULL && taken == NULL && cip_map_get(spec->tree, "metadata") != NULL)
        lost(loss, CIP_WARN, "metadata", "the trailing metadata are lost",
             "they are too long to be kept");
    if (spec->narray != 1)
        cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, NULL,
                       "RawArray holds one array, there are %zu", spec->narray);
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        if (a->masked)
            lost(loss, CIP_WARN, a->path, "the mask is lost", "RawArray has none");
        bool name_lost;
        cip_ra_eltype(a->dtype, spec->big == 1, &name_lost);
        if (a->dtype->itemsize == 0)
            lost(loss, CIP_BAD, a->path, "elements of no bytes cannot be written",
                 cip_dtype_name(a->dtype));
        else if (a->dtype->kind == CIP_RECORD)
            lost(loss, CIP_WARN, a->path, "the names and types of the fields are lost",
                 "records become user-defined elements");
        else if (name_lost)
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the type's name is lost: %.120s becomes a user-defined element",
                           cip_dtype_name(a->dtype));
    }
    return cip_report_status(loss, err);
}

static cip_status fill_header(const cip_spec_array *a, const cip_dtype *stored, bool big,
                              cip_ra_header *h, cip_err *err)
{
    bool name_lost;
    uint64_t n;
    h->flags = big ? CIP_RA_FLAG_BIG : 0;
    h->eltype = cip_ra_eltype(stored, big, &name_lost);
    h->elbyte = stored->itemsize;
    h->ndim = a->ndim;
    for (int32_t i = 0; i < a->ndim; i++)
        h->dims[i] = (uint64_t)a->shape[a->ndim - 1 - i];
    if (h->elbyte == 0 || !cip_shape_nelem(a->ndim, a->shape, &n) ||
        cip_mul_overflow(n, h->elbyte, &h->raw_len) || h->raw_len > INT64_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected elements of at least one byte and less than 2^63 bytes in all");
    h->size = h->raw_len;
    return CIP_OK;
}

static cip_status write_header(cip_ra_state *w, cip_err *err)
{
    uint8_t head[CIP_RA_HEADER_MAX];
    return cip_out_write(w->out, head, cip_ra_header_write(&w->h, head), err);
}

/* LZ4 takes the array in one: its size is known then before the header is written. */
static cip_status start(cip_ra_state *w, int level, cip_array_form *form, cip_err *err)
{
    if (w->codec == NULL)
        return write_header(w, err);
    if (w->h.raw_len > CIP_RA_LZ4_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d bytes for one LZ4 block, found %" PRIu64,
                        CIP_RA_LZ4_MAX, w->h.raw_len);
    CIP_TRY(w->codec->level(level, err));
    form->chunk_nbytes = UINT64_MAX;
    form->step[0] = (cip_form_step){ .codec = w->codec, .level = level };
    form->nstep = 1;
    form->caps = CIP_FORM_PLAIN;
    return CIP_OK;
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    const cip_spec *spec = b->spec;
    cip_array_form *form = b->form;
    cip_ra_state *w;
    if (b->old != NULL)
        return cip_ra_update_begin(b, state, err);
    bool big = spec->big == 1;
    if (spec->narray != 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "RawArray holds one array, there are %zu", spec->narray);
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
    w->env = b->env;
    w->out = b->out;
    /* NULL or "none": as it is; "lz4". */
    w->codec = NULL;
    if (spec->codec != NULL && strcmp(spec->codec, "none") != 0) {
        if (strcmp(spec->codec, "lz4") != 0)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected the codec lz4 or none for RawArray, found %.60s",
                            spec->codec);
        w->codec = cip_codec_find("lz4");
        if (!cip_codec_available(w->codec))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "this build does not include the codec lz4");
    }
    CIP_TRY(cip_dtype_packed_le(b->arena, spec->array[0].dtype, &form->dtype, err));
    if (big)
        CIP_TRY(cip_dtype_with_order(b->arena, form->dtype, true, &form->dtype, err));
    CIP_TRY(fill_header(&spec->array[0], form->dtype, big, &w->h, err));
    w->left = w->h.raw_len;
    if (w->left == 0)
        w->codec = NULL;
    w->metadata = metadata_of(spec->tree);
    CIP_TRY(start(w, spec->level, form, err));
    *state = w;
    return CIP_OK;
}

static cip_status store_chunk(cip_ra_state *w, const cip_chunk_in *c, cip_err *err)
{
    bool whole = w->codec == NULL || c->raw_len == w->left;
    bool packed = w->codec != NULL && !c->plain;
    if (c->raw_len == 0)
        return CIP_OK;
    if (c->state != CIP_CHUNK_DATA || (!packed && c->bytes.len != c->raw_len) ||
        c->raw_len > w->left || !whole)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %s%" PRIu64 " bytes of data, found %" PRIu64,
                        w->codec != NULL ? "" : "at most ", w->left, c->raw_len);
    w->left -= c->raw_len;
    if (packed) {
        w->h.flags |= CIP_RA_FLAG_LZ4;
        w->h.size = c->bytes.len;
    }
    if (w->codec != NULL)
        CIP_TRY(write_header(w, err));
    return cip_out_write(w->out, c->bytes.ptr, c->bytes.len, err);
}

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    (void)array;
    (void)i;
    for (size_t k = 0; k < n; k++)
        CIP_TRY(store_chunk(state, &chunk[k], err));
    return CIP_OK;
}

static cip_status tree(void *state, const cip_node *root, cip_err *err)
{
    (void)err;
    ((cip_ra_state *)state)->metadata = metadata_of(root);
    return CIP_OK;
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    cip_ra_state *w = state;
    if (w->l != NULL)
        return cip_ra_update_finish(state, r, err);
    if (w->left != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " more bytes of data, found the end", w->left);
    if (w->metadata == NULL)
        return CIP_OK;
    cip_buf b = { .mem = &w->env->mem };
    cip_status st = cip_ra_metadata(w->metadata, &b, err);
    if (st == CIP_OK)
        st = cip_out_write(w->out, b.ptr, b.len, err);
    cip_buf_clear(&b);
    return st;
}

static void clear(void *state)
{
    (void)state;
}

const cip_array_store cip_ra_store = {
    .caps = CIP_STORE_ONE_ARRAY | CIP_STORE_UPDATES,
    .check = check,
    .begin = begin,
    .store = store,
    .tree = tree,
    .form = cip_ra_update_form,
    .chunks = cip_ra_update_chunks,
    .tree_now = cip_ra_update_tree_now,
    .finish = finish,
    .clear = clear,
};
