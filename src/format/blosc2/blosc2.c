/* SPDX-License-Identifier: BSD-3-Clause
 * Blosc2 files: a contiguous frame, a folder with a sparse frame, or a bare chunk, as one array. */
#include "format/blosc2/blosc2.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/blosc2/blosc2_write.h"
#include "space/read/window.h"

const char cip_b2_sparse_index[] = "chunks.b2frame";

/* --- which file it is ------------------------------------------------------------------------- */

/* A folder is ours by its index alone. */
static bool is_sparse(cip_io *io)
{
    uint8_t head[CIP_B2_HEADER_MIN];
    size_t n = 0;
    cip_io *member;
    if (!cip_io_is_folder(io) ||
        cip_io_open_member(io, cip_b2_sparse_index, 0, &member, NULL) != CIP_OK)
        return false;
    bool is = cip_io_read_some(member, 0, head, sizeof head, &n, NULL) == CIP_OK &&
              cip_b2_magic((cip_bytes){ head, n });
    cip_io_close(member);
    return is;
}

static int probe(cip_io *io, cip_bytes head)
{
    cip_b2_header h;
    if (cip_b2_magic(head))
        return cip_b2_header_read(head, io->size, &h, NULL) == CIP_OK ? 100 : 90;
    if (is_sparse(io))
        return 100;
    return cip_b2_is_chunk(io, head) ? 60 : 0;
}

/* --- the array -------------------------------------------------------------------------------- */

static cip_status flat_array(cip_layout *l, const cip_b2_frame *f, cip_array *a, cip_err *err)
{
    bool tensor;
    CIP_TRY(cip_b2_tensor(l, f, a, &tensor, err));
    if (tensor)
        return CIP_OK;
    /* items that nothing is known of but their size */
    const uint64_t size = f->h.nbytes % f->h.typesize == 0 ? f->h.typesize : 1;
    const int64_t shape[1] = { (int64_t)(f->h.nbytes / size) };
    a->dtype = cip_dtype_fixed(CIP_U8, false);
    if (size != 1)
        CIP_TRY(cip_dtype_opaque(&l->arena, size, NULL, &a->dtype, err));
    return cip_view_c_order(1, shape, size, &a->view, err);
}

static cip_status nd_array(cip_layout *l, const cip_b2_frame *f, cip_array *a, cip_err *err)
{
    const char *why;
    CIP_TRY(cip_b2_nd_dtype(&l->arena, &f->nd, &a->dtype, &why, err));
    if (why != NULL)
        cip_warn(l->env, CIP_ERR_CORRUPT, f->base + f->nd_meta->at, "b2nd", "%s", why);
    return cip_view_c_order(f->nd.ndim, f->nd.shape, f->nd.item, &a->view, err);
}

/* The chunk shape that `ls` shows. */
static cip_status chunk_shape(cip_layout *l, const cip_b2_frame *f, const cip_array *a,
                              const int64_t **out, cip_err *err)
{
    int64_t *shape;
    bool plain = f->nd_meta == NULL && a->view.ndim == 1 && f->h.chunksize != 0;
    *out = f->nd_meta != NULL ? f->nd.chunk : NULL;
    if (!plain || a->view.itemsize == 0 || f->h.chunksize % a->view.itemsize != 0)
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &shape, 1, err));
    shape[0] = (int64_t)(f->h.chunksize / a->view.itemsize);
    *out = shape;
    return CIP_OK;
}

static cip_status add_array(cip_layout *l, const cip_b2_frame *f, cip_err *err)
{
    cip_array *a;
    const int64_t *chunk;
    CIP_TRY(cip_layout_add_array(l, true, &a, err));
    a->layout = l;
    a->path = "";
    if (f->nd_meta != NULL)
        CIP_TRY(nd_array(l, f, a, err));
    else
        CIP_TRY(flat_array(l, f, a, err));
    CIP_TRY(chunk_shape(l, f, a, &chunk, err));
    a->space = f->data;
    const cip_b2_partial *partial = &f->index.partial;
    const cip_b2_store_kind *store = cip_b2_store_kind_of(f);
    if (store != NULL)
        cip_warn(l->env, CIP_ERR_UNSUPPORTED, f->base, NULL,
                 "python-blosc2 stores %s in this frame: they are shown as stored bytes",
                 store->what);
    a->storage = (cip_storage){ .kind = CIP_STORAGE_OWN,
                                .own = partial->kind != NULL ? partial->kind
                                       : store != NULL       ? store->kind
                                       : f->h.sparse         ? "sparse"
                                                             : "frame",
                                .codec = partial->none ? "none" : cip_b2_codec_name(&f->h),
                                .nbytes = f->index.n != 0 ? f->h.cbytes : 0,
                                .chunk = chunk,
                                .block = -1 };
    if (!partial->none || partial->cache)
        return CIP_OK;
    cip_err why = CIP_ERR_INIT;
    cip_array_refuse(a, cip_b2_partial_fail(partial, &why), &why);
    return CIP_OK;
}

/* --- opening ---------------------------------------------------------------------------------- */

static void clear(cip_layout *l)
{
    cip_b2_file *f = l->own;
    if (f == NULL)
        return;
    cip_b2_frame_clear(f->frame);
    cip_io_close(f->index);
}

static cip_status open_frame(cip_layout *l, cip_b2_file *own, cip_err *err)
{
    cip_space *in;
    char *version;
    /* The space that the frame's own bytes lie in: the file, or the index of a folder. */
    in = l->file;
    if (cip_io_is_folder(l->io)) {
        uint32_t flags = (l->flags & CIP_OPEN_EXTERNAL) != 0 ? CIP_IO_EXTERNAL : 0;
        CIP_TRY(cip_io_open_member(l->io, cip_b2_sparse_index, flags, &own->index, err));
        CIP_TRY(cip_space_new_file(l, own->index, &in, err));
    }
    CIP_TRY(cip_b2_frame_open(l, in, 0, in->len, &own->frame, err));
    cip_b2_frame *f = own->frame;
    if (f->h.sparse != cip_io_is_folder(l->io) && !f->h.sparse)
        return cip_fail(err, CIP_ERR_CORRUPT, 0x1A,
                        "expected a sparse frame in a folder, found a contiguous one");
    CIP_TRY(cip_arena_printf(&l->arena, &version, err, "%u", f->h.version));
    l->version = version;
    f->data->label = "data";
    l->beside = (own->index != NULL ? own->index->size : 0) +
                (f->h.sparse && f->index.n != 0 ? f->h.cbytes : 0);
    CIP_TRY(cip_b2_tree(l, f, &l->tree, err));
    CIP_TRY(cip_b2_partial_find(l, f, &f->index.partial, err));
    CIP_TRY(add_array(l, f, err));
    l->list_blocks = cip_b2_list_blocks;
    return cip_b2_facts(l, f, err);
}

static cip_status new_file(cip_layout *l, cip_b2_file **out, cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(&l->arena, out, 1, err));
    l->own = *out;
    l->clear = clear;
    return CIP_OK;
}

static cip_status open_file(cip_layout *l, cip_err *err)
{
    uint8_t head[CIP_B2_HEADER_MIN];
    size_t n;
    cip_b2_file *own;
    CIP_TRY(new_file(l, &own, err));
    CIP_TRY(cip_space_read_some(l, l->file, 0, head, sizeof head, &n, err));
    bool frame = cip_io_is_folder(l->io) || cip_b2_magic((cip_bytes){ head, n });
    return frame ? open_frame(l, own, err) : cip_b2_chunk_open(l, err);
}

cip_status cip_b2_nested_space(cip_layout *l, uint64_t off, uint64_t len, cip_space **out,
                               cip_err *err)
{
    cip_io *part;
    cip_layout *child;
    cip_b2_file *own;
    *out = NULL;
    CIP_TRY(cip_io_open_part(l->io, off, len, &part, err));
    cip_status st = cip_layout_new_child(l, part, &child, err);
    if (st != CIP_OK) {
        cip_io_close(part);
        return st;
    }
    child->owns_io = true;
    child->format = cip_format_blosc2.name;
    CIP_TRY(new_file(child, &own, err));
    CIP_TRY(open_frame(child, own, err));
    if (own->frame->h.sparse)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, off + 0x1A,
                        "expected a contiguous frame, found a sparse one");
    const cip_b2_partial *partial = &own->frame->index.partial;
    if (partial->none && !partial->cache)
        return cip_b2_partial_fail(partial, err);
    *out = own->frame->data;
    return CIP_OK;
}

static void lock_file(const char *name, char *out, size_t cap)
{
    bool in_folder = name[0] == '\0' || strcmp(name, cip_b2_sparse_index) == 0;
    snprintf(out, cap, "%s.b2lock", in_folder ? "" : name);
}

const cip_format cip_format_blosc2 = {
    .name = "blosc2",
    .title = "Blosc2",
    .extensions = "b2nd b2frame b2f b2chunk cdata blosc blosc2",
    .probe = probe,
    .open = open_file,
    .verify = cip_b2_verify,
    .store = &cip_b2_store,
    .options = cip_b2_options,
    .kinds = cip_b2_kinds,
    .form_keys = "meta/b2nd meta/caterva",
    .lock_file = lock_file,
};
