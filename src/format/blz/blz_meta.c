/* SPDX-License-Identifier: BSD-3-Clause
 * The JSON files of an array: dtype, shape, rows of a chunk. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz.h"
#include "format/numpy_node.h"
#include "tree/json_read.h"

/* --- files ------------------------------------------------------------------------------------ */

static cip_status read_file(cip_layout *l, const char *path, const cip_node **out, cip_err *err)
{
    const cip_json_source from = { .env = l->env, .arena = &l->arena, .part = path };
    cip_node *node;
    cip_io *io;
    void *text = NULL;
    cip_status st;
    uint64_t most = cip_min_u64(CIP_BLZ_JSON_MAX, l->env->limits.max_tree_bytes);
    CIP_TRY(cip_io_open_beneath(l->io, path, cip_blz_flags(l), &io, err));
    size_t n = (size_t)cip_min_u64(io->size, most);
    if (io->size > most)
        CIP_GO(cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " bytes of JSON, found %" PRIu64, most,
                        io->size));
    CIP_GO(cip_mem_get(&l->env->mem, n, &text, err));
    CIP_GO(cip_io_read(io, 0, text, n, err));
    CIP_GO(cip_json_read(&from, (cip_bytes){ text, n }, &node, err));
    *out = node;
    l->beside += n;
done:
    cip_mem_put(&l->env->mem, text);
    cip_io_close(io);
    return st;
}

cip_status cip_blz_json(cip_layout *l, const char *path, const cip_node **out, cip_err *err)
{
    *out = NULL;
    return cip_fail_in(err, read_file(l, path, out, err), "%s", path);
}

/* --- dtypes ----------------------------------------------------------------------------------- */

cip_status cip_blz_dtype(cip_layout *l, const cip_node *node, cip_blz_meta *out, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    if (node == NULL || (node->type != CIP_NODE_STRING && node->type != CIP_NODE_SEQ))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a dtype, found none");
    cip_status st = cip_numpy_type(l, node, &out->dtype, &why);
    if (st == CIP_ERR_UNSUPPORTED && node->type == CIP_NODE_STRING) {
        out->objects = true;
        return cip_dtype_opaque(&l->arena, 1, "object", &out->dtype, err);
    }
    bool ours = st == CIP_OK || st == CIP_ERR_NOMEM || st == CIP_ERR_LIMIT;
    return st == CIP_OK
               ? CIP_OK
               : cip_fail(err, ours ? st : CIP_ERR_CORRUPT, CIP_NO_OFFSET, "dtype: %s", why.text);
}

/* --- sizes ------------------------------------------------------------------------------------ */

static cip_status read_shape(const cip_node *n, cip_blz_meta *out, cip_err *err)
{
    if (n == NULL || n->type != CIP_NODE_SEQ || n->len == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a shape of at least one axis, found none");
    if (n->len > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d dimensions, found %" PRIu32, CIP_MAX_NDIM, n->len);
    out->ndim = (int32_t)n->len;
    for (int32_t k = 0; k < out->ndim; k++)
        if (!cip_node_as_int(n->item[k], &out->shape[k]) || out->shape[k] < 0)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "axis %d: expected a length, found '%.40s'", (int)k,
                            n->item[k]->text != NULL ? n->item[k]->text : "a collection");
    return CIP_OK;
}

/* Bytes of a row and of the whole; a chunk is one Blosc chunk. */
static cip_status check_sizes(cip_blz_meta *m, cip_err *err)
{
    uint64_t all, chunk;
    m->row = m->dtype->itemsize;
    for (int32_t k = 1; k < m->ndim; k++)
        if (cip_mul_overflow(m->row, (uint64_t)m->shape[k], &m->row))
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "a row of over 2^64 bytes");
    if (cip_mul_overflow(m->row, (uint64_t)m->shape[0], &all) || all > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "the array has over 2^63 bytes");
    if (cip_mul_overflow(m->row, (uint64_t)m->chunklen, &chunk) || chunk > INT32_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected chunks below 2^31 bytes, found %" PRId64 " rows of %" PRIu64,
                        m->chunklen, m->row);
    return CIP_OK;
}

static cip_status read_map(cip_layout *l, const char *dir, const char *name, const cip_node **out,
                           cip_err *err)
{
    char *path;
    CIP_TRY(cip_arena_printf(&l->arena, &path, err, "%smeta/%s", dir, name));
    CIP_TRY(cip_blz_json(l, path, out, err));
    if ((*out)->type == CIP_NODE_MAP)
        return CIP_OK;
    return cip_fail_in(err, cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a JSON object"),
                       "%s", path);
}

static cip_status read_storage(cip_layout *l, cip_blz_meta *m, cip_err *err)
{
    const cip_node *n = cip_map_get(m->storage, "chunklen");
    CIP_TRY(cip_blz_dtype(l, cip_map_get(m->storage, "dtype"), m, err));
    if (n == NULL || !cip_node_as_int(n, &m->chunklen) || m->chunklen <= 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "chunklen: expected rows of a chunk, found '%.40s'",
                        n != NULL && n->text != NULL ? n->text : "");
    return CIP_OK;
}

cip_status cip_blz_meta_read(cip_layout *l, const char *dir, cip_blz_meta *out, cip_err *err)
{
    cip_status st;
    *out = (cip_blz_meta){ .ndim = 0 };
    CIP_TRY(read_map(l, dir, "storage", &out->storage, err));
    st = read_storage(l, out, err);
    if (st != CIP_OK)
        return cip_fail_in(err, st, "%smeta/storage", dir);
    CIP_TRY(read_map(l, dir, "sizes", &out->sizes, err));
    st = read_shape(cip_map_get(out->sizes, "shape"), out, err);
    if (st == CIP_OK)
        st = check_sizes(out, err);
    return st == CIP_OK ? CIP_OK : cip_fail_in(err, st, "%smeta/sizes", dir);
}
