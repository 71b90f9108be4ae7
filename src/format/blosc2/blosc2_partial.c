/* SPDX-License-Identifier: BSD-3-Clause
 * Frames that do not hold all of their array: python-blosc2 saves lazy expressions, references to
 * arrays of servers and caches of other arrays (proxies) as arrays of their shape whose chunks were
 * never written. A metalayer says so; of a cache, a bitmap among the vlmetalayers says which chunks
 * (or blocks of chunks) were fetched. What is not here is never shown as zeros. */
#include <string.h>

#include "base/num.h"
#include "format/blosc2/blosc2.h"
#include "tree/base64.h"

/* Values of the metalayer b2o's key `kind`. */
static const struct {
    const char *kind, *what;
    bool cache;
} objects[] = {
    { "lazyexpr", "a lazy expression, which is computed from other arrays when read", false },
    { "lazyudf", "a lazy function, which is computed from other arrays when read", false },
    { "c2array", "a reference to an array of a Caterva2 server", false },
    { "remote_array", "a cache of a remote array", true },
};

/* As python-blosc2 looks for them, one after the other. */
static const cip_b2_store_kind stores[] = {
    { "b2embed", "embedstore", "frames of other arrays, one after the other (EmbedStore)" },
    { "b2dict", "dictstore", "frames of other arrays, one after the other (DictStore)" },
    { "b2tree", "treestore", "frames of other arrays, one after the other (TreeStore)" },
    { "listarray", "listarray", "packed Python lists (ListArray)" },
    { "batcharray", "batcharray", "packed batches of Python objects (BatchArray)" },
    { "vlarray", "objectarray", "packed Python objects (ObjectArray)" },
};

const cip_b2_store_kind *cip_b2_store_kind_of(const cip_b2_frame *f)
{
    for (size_t i = 0; f->nd_meta == NULL && i < sizeof stores / sizeof stores[0]; i++)
        if (cip_b2_meta_find(&f->meta, stores[i].meta) != NULL)
            return &stores[i];
    return NULL;
}

static const cip_node *vlmeta(const cip_layout *l, const char *name)
{
    const cip_node *map = cip_map_get(l->tree, "vlmeta");
    return map != NULL ? cip_map_get(map, name) : NULL;
}

static void find_kind(const cip_layout *l, const cip_b2_frame *f, cip_b2_partial *h)
{
    const cip_node *type = vlmeta(l, "_ftype");
    if (cip_b2_meta_find(&f->meta, "b2o") != NULL) {
        const cip_node *meta = cip_map_get(l->tree, "meta");
        const cip_node *marker = cip_map_get(meta, "b2o");
        const cip_node *kind =
            marker != NULL && marker->type == CIP_NODE_MAP ? cip_map_get(marker, "kind") : NULL;
        h->kind = "b2o";
        h->what = "a python-blosc2 object of an unknown kind";
        for (size_t i = 0; kind != NULL && i < sizeof objects / sizeof objects[0]; i++)
            if (cip_node_is_string(kind, objects[i].kind)) {
                h->kind = objects[i].kind;
                h->what = objects[i].what;
                h->cache = objects[i].cache;
            }
    } else if (cip_b2_meta_find(&f->meta, "proxy-source") != NULL) {
        h->kind = "proxy";
        h->what = "a cache of another array";
        h->cache = true;
    } else if (cip_b2_meta_find(&f->meta, "LazyArray") != NULL) {
        h->kind = "lazyarray";
        h->what = "a lazy array, which is computed from other arrays when read";
    } else if (type != NULL && cip_node_is_string(type, "hdf5") && vlmeta(l, "_dsetname") != NULL) {
        h->kind = "hdf5";
        h->what = "a reference to a dataset of an HDF5 file";
    }
}

/* --- what a cache has ------------------------------------------------------------------------- */

/* A bitmap of the right length for `per_chunk` bits of each chunk; otherwise none is taken. */
static cip_status take_bitmap(cip_layout *l, const cip_node *n, uint64_t nchunk, uint64_t per_chunk,
                              cip_b2_partial *h, cip_err *err)
{
    cip_buf bits = { .mem = &l->env->mem };
    uint64_t nbit;
    uint8_t *kept = NULL;
    if (n == NULL || n->type != CIP_NODE_BINARY || cip_mul_overflow(nchunk, per_chunk, &nbit))
        return CIP_OK;
    cip_status st = cip_base64_decode(n->text, n->len, &bits, err);
    if (st == CIP_OK && bits.len == cip_div_up(nbit, 8))
        st = cip_arena_get(&l->arena, bits.len, (void **)&kept, err);
    if (st == CIP_OK && kept != NULL) {
        memcpy(kept, bits.ptr, bits.len);
        h->fetched = (cip_bytes){ kept, bits.len };
        h->per_chunk = per_chunk;
    }
    cip_buf_clear(&bits);
    return st;
}

cip_status cip_b2_partial_find(cip_layout *l, const cip_b2_frame *f, cip_b2_partial *out,
                               cip_err *err)
{
    cip_b2_partial h = { .kind = NULL };
    find_kind(l, f, &h);
    h.none = h.kind != NULL && !h.cache;
    if (h.cache) {
        /* As the library does: the bitmap of blocks, then that of chunks; caches older than both
         * have fetched what is no special chunk. A change that was begun and not ended leaves no
         * bitmap that can be believed. */
        const cip_node *blocks = vlmeta(l, "proxy-fetched-blocks");
        const cip_node *chunks = vlmeta(l, "proxy-fetched");
        bool known = f->vlmeta_read && vlmeta(l, "proxy-dirty") == NULL;
        if (known && f->nd_meta != NULL) {
            uint64_t each = 1; /* blocks of a chunk; stored: checked to be below 2^31 in all */
            for (int32_t k = 0; k < f->nd.ndim; k++)
                each *= (uint64_t)(f->nd.stored[k] / f->nd.block[k]);
            CIP_TRY(take_bitmap(l, blocks, f->index.n, each, &h, err));
        }
        if (known && h.fetched.ptr == NULL)
            CIP_TRY(take_bitmap(l, chunks, f->index.n, 1, &h, err));
        h.none = h.fetched.ptr == NULL && (!known || blocks != NULL || chunks != NULL);
    }
    *out = h;
    return CIP_OK;
}

bool cip_b2_partial_chunk(const cip_b2_partial *h, uint64_t i, uint8_t special)
{
    if (h->kind == NULL)
        return true;
    if (h->none || special == CIP_BLOSC_UNINIT)
        return false;
    if (h->fetched.ptr == NULL)
        return special == CIP_BLOSC_NOT_SPECIAL;
    for (uint64_t k = i * h->per_chunk; k < (i + 1) * h->per_chunk; k++)
        if ((h->fetched.ptr[k / 8] >> k % 8 & 1) == 0)
            return false;
    return true;
}

cip_status cip_b2_partial_fail(const cip_b2_partial *h, cip_err *err)
{
    if (!h->cache)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected data, found %s (%s): the file itself contains none", h->what,
                        h->kind);
    return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "%s", cip_b2_partial_missing);
}

const char cip_b2_partial_missing[] =
    "expected data, found a chunk that this cache has not fetched (or not all of it)";
