/* SPDX-License-Identifier: BSD-3-Clause
 * The metadata: JSON, perhaps compressed, and the array that numpy's users describe in it. Where
 * they cannot be read nobody knows what the data are: bytes then, for those who force it. */
#include <string.h>

#include "base/num.h"
#include "format/bloscpack/bloscpack.h"
#include "format/numpy_node.h"
#include "tree/json_read.h"

enum {
    ZLIB_MOST = 1032 /* times its length is the most that deflate can hold */
};

/* The stored bytes (in the arena), compared with their digest: CHECKSUM. */
static cip_status read_stored(cip_bp_file *f, cip_bytes *out, cip_err *err)
{
    cip_layout *l = f->layout;
    const cip_bp_meta *m = &f->meta;
    uint8_t want[CIP_SUM_MAX], found[CIP_SUM_MAX];
    char *bytes;
    uint64_t at = f->meta_at + CIP_BP_META_HEADER;
    size_t n = cip_sum_size(m->sum);
    if (m->stored > CIP_BP_METADATA_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, at, "expected at most %d bytes, found %" PRIu32,
                        CIP_BP_METADATA_MAX, m->stored);
    CIP_TRY(cip_window_peek(&f->front, at, m->stored, 0, out, err));
    CIP_TRY(cip_arena_copy(&l->arena, out->ptr, out->len, &bytes, err));
    out->ptr = (const uint8_t *)bytes;
    if (n == 0)
        return CIP_OK;
    cip_bytes digest;
    CIP_TRY(cip_window_peek(&f->front, at + m->room, n, 0, &digest, err));
    cip_bp_digest(m->sum, digest.ptr, want);
    CIP_TRY(cip_sum_of(&l->env->mem, m->sum, *out, found, err));
    if (memcmp(found, want, n) == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CHECKSUM, at, "the bytes do not match the %s stored after them",
                    cip_sum_name(m->sum));
}

static cip_status decode(const cip_bp_file *f, cip_bytes in, cip_bytes *out, cip_err *err)
{
    const cip_bp_meta *m = &f->meta;
    const cip_codec_env env = { .mem = &f->layout->env->mem };
    uint8_t *text;
    *out = in;
    if (m->codec > 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, f->meta_at + 10,
                        "expected codec 0 (none) or 1 (zlib), found %u", m->codec);
    if (m->codec == 0 ? m->size != in.len : m->size / ZLIB_MOST > in.len)
        return cip_fail(err, CIP_ERR_CORRUPT, f->meta_at + 12,
                        "expected a length that %zu stored bytes can decode to, found %" PRIu32,
                        in.len, m->size);
    if (m->codec == 0)
        return CIP_OK;
    if (m->size > CIP_BP_METADATA_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, f->meta_at + 12,
                        "expected at most %d bytes, found %" PRIu32, CIP_BP_METADATA_MAX, m->size);
    CIP_TRY(cip_arena_get(&f->layout->arena, m->size, (void **)&text, err));
    *out = (cip_bytes){ text, m->size };
    return cip_codec_find("zlib")->decode(NULL, &env, in, text, m->size, err);
}

/* Keeps what is wrong with the metadata; other failures are those of opening. */
static cip_status keep_fault(cip_bp_file *f, cip_status st, cip_err *why, cip_err *err)
{
    if (st == CIP_ERR_NOMEM || st == CIP_ERR_IO)
        return cip_fail(err, st, why->offset, "%s", why->text);
    cip_fail_in(why, st, "metadata");
    if (st == CIP_OK)
        return CIP_OK;
    f->unread = *why;
    f->unread.offset = f->meta_at;
    return CIP_OK;
}

cip_status cip_bp_meta_tree(cip_bp_file *f, const cip_node **out, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    const cip_json_source from = { .env = f->layout->env,
                                   .arena = &f->layout->arena,
                                   .part = "metadata",
                                   .offset = f->meta_at + CIP_BP_META_HEADER };
    cip_bytes bytes;
    cip_node *node = NULL;
    cip_status st = read_stored(f, &bytes, &why);
    if (st == CIP_OK)
        st = decode(f, bytes, &bytes, &why);
    if (st == CIP_OK)
        st = cip_json_read(&from, bytes, &node, &why);
    *out = st == CIP_OK ? node : NULL;
    return keep_fault(f, st, &why, err);
}

/* --- numpy ------------------------------------------------------------------------------------ */

static cip_status read_numpy(cip_layout *l, const cip_node *meta, cip_array *a, uint64_t *nbytes,
                             cip_err *err)
{
    const cip_node *order = cip_map_get(meta, "order"), *shape_node = cip_map_get(meta, "shape");
    int64_t shape[CIP_MAX_NDIM];
    const cip_dtype *d;
    cip_nd view;
    bool f_order = order != NULL && cip_node_is_string(order, "F");
    if (!f_order && (order == NULL || !cip_node_is_string(order, "C")))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the order 'C' or 'F', found another value");
    CIP_TRY(cip_numpy_shape(shape_node, shape, err));
    CIP_TRY(cip_numpy_type(l, cip_map_get(meta, "dtype"), &d, err));
    int32_t ndim = (int32_t)shape_node->len;
    CIP_TRY((f_order ? cip_view_f_order : cip_view_c_order)(ndim, shape, d->itemsize, &view, err));
    if (!cip_shape_nelem(ndim, shape, nbytes) || cip_mul_overflow(*nbytes, d->itemsize, nbytes))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "an array of over 2^63 bytes");
    a->dtype = d;
    a->view = view;
    a->f_order = f_order && ndim > 1;
    return CIP_OK;
}

/* The metadata without what the array says itself; NULL: nothing is left. */
static cip_status leave_out(cip_arena *a, const cip_node **meta, cip_err *err)
{
    const cip_node *all = *meta;
    cip_node *rest;
    const uint32_t nknown = 4; /* each is there, and once */
    uint32_t n = 0;
    *meta = NULL;
    if (all->len == nknown)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(a, all->len - nknown, &rest, err));
    for (uint32_t i = 0; i < all->len; i++) {
        if (!cip_bp_is_numpy_key(all->pair[i].key))
            cip_node_set_pair(rest, n++, all->pair[i].key, all->pair[i].value);
    }
    *meta = rest;
    return CIP_OK;
}

cip_status cip_bp_numpy(cip_bp_file *f, const cip_node **meta, cip_array *a, bool *is, cip_err *err)
{
    cip_layout *l = f->layout;
    cip_err why = CIP_ERR_INIT;
    const cip_node *container = *meta == NULL ? NULL : cip_map_get(*meta, "container");
    cip_array found = *a;
    uint64_t wanted = 0, nbytes;
    bool sized;
    *is = false;
    if (container == NULL || !cip_node_is_string(container, "numpy"))
        return CIP_OK;
    CIP_TRY(cip_bp_sized(&f->h, &sized, &nbytes, err));
    cip_status st = read_numpy(l, *meta, &found, &wanted, &why);
    if (st == CIP_OK && wanted > nbytes && sized)
        st = cip_fail(&why, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                      "expected an array of at most %" PRIu64 " bytes, found one of %" PRIu64,
                      nbytes, wanted);
    *is = st == CIP_OK;
    if (!*is)
        return keep_fault(f, st, &why, err);
    *a = found;
    f->wanted = wanted;
    f->numpy = true;
    CIP_TRY(cip_layout_add_fact(l, "numpy", err, "order %s", found.f_order ? "F" : "C"));
    return leave_out(&l->arena, meta, err);
}
