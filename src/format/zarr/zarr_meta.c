/* SPDX-License-Identifier: BSD-3-Clause
 * An array's metadata: shape, chunks, keys. All lengths are checked here, so that the numbers of
 * chunks and their bytes fit in 63 bits afterwards. */
#include <string.h>

#include "base/num.h"
#include "format/zarr/zarr.h"

static cip_status lengths(const cip_node *n, const char *name, int32_t ndim, int64_t least,
                          int64_t *out, cip_err *err)
{
    if (cip_node_kind(n) != CIP_NODE_SEQ)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "%s: expected a list of lengths, found %.40s", name, cip_zarr_text(n));
    if (n->len > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "%s: expected at most %d dimensions, found %" PRIu32, name, CIP_MAX_NDIM,
                        n->len);
    if (ndim >= 0 && n->len != (uint32_t)ndim)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "%s: expected %d lengths, found %" PRIu32, name, (int)ndim, n->len);
    for (uint32_t k = 0; k < n->len; k++)
        if (!cip_node_as_int(n->item[k], &out[k]) || out[k] < least)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "%s: expected a length of at least %" PRId64 " for axis %" PRIu32
                            ", found %.40s",
                            name, least, k, cip_zarr_text(n->item[k]));
    return CIP_OK;
}

/* --- version 3 -------------------------------------------------------------------------------- */

static cip_status refuse(const char *what, const cip_node *found, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "the %s '%.60s' is not read", what,
                    cip_zarr_text(found));
}

/* The name and the configuration of an extension point. */
static cip_status point(const cip_node *meta, const char *key, const cip_node **name,
                        const cip_node **conf, cip_err *err)
{
    const cip_node *n = cip_map_get(meta, key);
    *name = n;
    *conf = NULL;
    if (cip_node_kind(n) == CIP_NODE_MAP) {
        *name = cip_map_get(n, "name");
        *conf = cip_map_get(n, "configuration");
        *conf = cip_node_kind(*conf) == CIP_NODE_MAP ? *conf : NULL;
    }
    if (cip_node_kind(*name) == CIP_NODE_STRING)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "%s: expected a name, found %.40s", key,
                    cip_zarr_text(*name));
}

static cip_status separator(cip_zarr_array *a, const char *key, const cip_node *n, char usual,
                            cip_err *err)
{
    a->separator = usual;
    if (n == NULL || n->type == CIP_NODE_NULL)
        return CIP_OK;
    if (!cip_node_is_string(n, ".") && !cip_node_is_string(n, "/"))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "%s: expected '.' or '/', found '%.40s'", key, cip_zarr_text(n));
    a->separator = n->text[0];
    return CIP_OK;
}

static cip_status keys_3(cip_zarr_array *a, cip_err *err)
{
    static const char key[] = "chunk_key_encoding";
    const cip_node *name, *conf;
    CIP_TRY(point(a->meta, key, &name, &conf, err));
    a->prefix = cip_node_is_string(name, "default");
    if (!a->prefix && !cip_node_is_string(name, "v2"))
        return refuse(key, name, err);
    return separator(a, key, conf != NULL ? cip_map_get(conf, "separator") : NULL,
                     a->prefix ? '/' : '.', err);
}

/* What a program must understand, and this one does not. */
static cip_status check_members(const cip_node *meta, cip_err *err)
{
    static const char known[] = "zarr_format node_type shape data_type chunk_grid "
                                "chunk_key_encoding fill_value codecs attributes "
                                "storage_transformers dimension_names consolidated_metadata";
    const cip_node *list = cip_map_get(meta, "storage_transformers");
    if (list != NULL && (list->type != CIP_NODE_SEQ || list->len != 0))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "storage_transformers are not read");
    for (uint32_t i = 0; i < meta->len; i++) {
        const cip_node *key = meta->pair[i].key, *v = meta->pair[i].value, *must;
        if (key->text != NULL && cip_is_word_of(known, key->text, key->len))
            continue;
        must = v->type == CIP_NODE_MAP ? cip_map_get(v, "must_understand") : NULL;
        if (cip_node_kind(must) != CIP_NODE_BOOL || must->b)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "'%.60s' is not known, and does not say that it may be passed over",
                            cip_zarr_text(key));
    }
    return CIP_OK;
}

static cip_status read_3(cip_layout *l, cip_zarr_array *a, cip_err *err)
{
    const cip_node *codecs = cip_map_get(a->meta, "codecs"), *name, *conf;
    const cip_node *type = cip_map_get(a->meta, "data_type");
    bool big, said;
    CIP_TRY(cip_zarr_order_3(codecs, &big, &said, err));
    CIP_TRY(cip_zarr_dtype(l, type, 3, big, &a->dtype, err));
    CIP_TRY(check_members(a->meta, err));
    CIP_TRY(point(a->meta, "chunk_grid", &name, &conf, err));
    if (!cip_node_is_string(name, "regular"))
        return refuse("chunk_grid", name, err);
    CIP_TRY(lengths(conf != NULL ? cip_map_get(conf, "chunk_shape") : NULL, "chunk_shape", a->ndim,
                    1, a->level[0].chunk, err));
    CIP_TRY(keys_3(a, err));
    CIP_TRY(cip_zarr_codecs_3(l, a, codecs, err));
    if (!said && a->dtype->kind != CIP_RECORD &&
        !cip_dtype_equal(a->dtype, cip_dtype_fixed(a->dtype->kind, true) != NULL
                                       ? cip_dtype_fixed(a->dtype->kind, true)
                                       : a->dtype))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "bytes: expected an endian for %.60s, found none", a->dtype->name);
    if (a->dtype->kind == CIP_RECORD && big)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "records in big-endian bytes are not read: programs differ about them");
    return cip_zarr_fill(l, cip_map_get(a->meta, "fill_value"), a->dtype, &a->fill, err);
}

/* --- version 2 -------------------------------------------------------------------------------- */

static cip_status read_2(cip_layout *l, cip_zarr_array *a, cip_err *err)
{
    CIP_TRY(cip_zarr_dtype(l, cip_map_get(a->meta, "dtype"), 2, false, &a->dtype, err));
    CIP_TRY(lengths(cip_map_get(a->meta, "chunks"), "chunks", a->ndim, 1, a->level[0].chunk, err));
    CIP_TRY(
        separator(a, "dimension_separator", cip_map_get(a->meta, "dimension_separator"), '.', err));
    CIP_TRY(cip_zarr_codecs_2(l, a, err));
    return cip_zarr_fill(l, cip_map_get(a->meta, "fill_value"), a->dtype, &a->fill, err);
}

/* zarr-python says of `null` that it is the number 0 as the type has it. Of records with texts or
 * bytes in them that is a text "0" in some versions, and zeros in others. */
static bool has_text(const cip_dtype *d)
{
    bool has = d->kind == CIP_ASCII || d->kind == CIP_UCS4 || d->kind == CIP_OPAQUE;
    for (size_t i = 0; i < d->nfield; i++) /* records nest at most 32 deep */
        has = has || has_text(d->field[i].dtype);
    return has;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* How many chunks there are of each level, and in each shard. */
static cip_status count(cip_zarr_array *a, cip_err *err)
{
    int64_t shape[CIP_MAX_NDIM];
    uint64_t nbytes = a->dtype->itemsize, bytes;
    bool over = false;
    for (int32_t k = 0; k < a->ndim; k++)
        shape[a->level[0].axis[k]] = a->shape[k];
    for (size_t v = 0; v < a->nlevel; v++) {
        cip_zarr_level *x = &a->level[v];
        x->all = x->count = 1;
        for (int32_t k = 0; k < a->ndim; k++) {
            x->nchunk[k] = cip_div_up((uint64_t)shape[k], (uint64_t)x->chunk[k]);
            x->ratio[k] = v == 0 ? 1 : (uint64_t)(a->level[v - 1].chunk[k] / x->chunk[k]);
            over = cip_mul_overflow(x->all, x->nchunk[k], &x->all) || x->all > INT64_MAX || over;
            over = cip_mul_overflow(x->count, x->ratio[k], &x->count) || over;
        }
        over = cip_mul_overflow(x->count, CIP_ZARR_ENTRY + 1, &bytes) || over;
    }
    for (int32_t k = 0; k < a->ndim; k++)
        over = cip_mul_overflow(nbytes, (uint64_t)a->level[0].chunk[k], &nbytes) || over;
    if (over || nbytes > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected chunks of less than 2^63 bytes, and less than 2^63 of them");
    return CIP_OK;
}

cip_status cip_zarr_meta_read(cip_layout *l, cip_zarr_array *a, int version, cip_err *err)
{
    uint64_t n;
    const cip_node *shape = cip_map_get(a->meta, "shape");
    CIP_TRY(lengths(shape, "shape", -1, 0, a->shape, err));
    a->ndim = (int32_t)shape->len;
    CIP_TRY((version == 3 ? read_3 : read_2)(l, a, err));
    a->unfilled = cip_node_kind(cip_map_get(a->meta, "fill_value")) <= CIP_NODE_NULL &&
                  a->dtype->kind == CIP_RECORD && has_text(a->dtype);
    if (!cip_shape_nelem(a->ndim, a->shape, &n) || cip_mul_overflow(n, a->dtype->itemsize, &n) ||
        n > INT64_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an array of less than 2^63 bytes");
    return count(a, err);
}
