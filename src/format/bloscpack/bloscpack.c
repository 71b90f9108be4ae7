/* SPDX-License-Identifier: BSD-3-Clause
 * bloscpack files: one array, of numpy's kind where the metadata say so, otherwise of bytes. */
#include "format/bloscpack/bloscpack.h"

#include <string.h>

#include "base/num.h"

enum { FRONT = 4096 /* bytes of a file's beginning that are read at once */ };

static int probe(cip_io *io, cip_bytes head)
{
    cip_bp_header h;
    cip_status st = cip_bp_header_read(head, io->size, true, &h, NULL);
    return st == CIP_OK ? 100 : st == CIP_ERR_FORMAT ? 0 : 90;
}

/* --- what lies where -------------------------------------------------------------------------- */

static cip_status read_meta_header(cip_layout *l, cip_bp_file *f, cip_err *err)
{
    cip_bytes head;
    if ((f->h.options & CIP_BP_METADATA) == 0)
        return CIP_OK;
    CIP_TRY(cip_window_peek(&f->front, f->meta_at, CIP_BP_META_HEADER, FRONT, &head, err));
    CIP_TRY(cip_bp_meta_read(head, f->meta_at, l->io->size - f->meta_at, &f->meta, err));
    f->offsets_at += f->meta.len;
    return CIP_OK;
}

/* The offsets, spare ones too, must all be there. */
static cip_status place_chunks(cip_layout *l, cip_bp_file *f, cip_err *err)
{
    uint64_t n = 0, left = l->io->size - f->offsets_at;
    f->chunks_at = f->offsets_at;
    if ((f->h.options & CIP_BP_OFFSETS) == 0)
        return CIP_OK;
    if (cip_add_overflow((uint64_t)f->h.nchunk, f->h.nspare, &n) || n > left / 8)
        return cip_fail(err, CIP_ERR_TRUNCATED, l->io->size,
                        "expected offsets of %" PRId64 " chunks and %" PRIu64
                        " free ones, found %" PRIu64 " bytes",
                        f->h.nchunk, f->h.nspare, left);
    f->chunks_at += 8 * n;
    return CIP_OK;
}

cip_status cip_bp_place(cip_bp_file *f, cip_err *err)
{
    CIP_TRY(cip_fail_in(err, read_meta_header(f->layout, f, err), "metadata"));
    return cip_fail_in(err, place_chunks(f->layout, f, err), "offsets");
}

/* --- the array -------------------------------------------------------------------------------- */

static cip_status fill_storage(cip_bp_file *f, cip_array *a, cip_err *err)
{
    uint64_t item = a->view.itemsize, each = (uint64_t)f->h.chunk_size;
    int64_t *chunk = NULL;
    if (a->view.ndim == 1 && f->h.chunk_size > 0 && item != 0 && each % item == 0) {
        CIP_TRY(CIP_ARENA_NEW(&f->layout->arena, &chunk, 1, err));
        chunk[0] = (int64_t)(each / item);
    }
    /* The codec of the first chunk stands for all. */
    a->storage = (cip_storage){ .kind = CIP_STORAGE_CHUNKED,
                                .codec = f->chunks_at == f->layout->io->size ? "none"
                                         : f->first_known ? cip_blosc_coder_name(&f->first)
                                                          : "unknown",
                                .nbytes = f->layout->io->size - f->chunks_at,
                                .chunk = chunk,
                                .block = -1 };
    return CIP_OK;
}

static cip_status add_array(cip_layout *l, cip_bp_file *f, const cip_node **meta, cip_err *err)
{
    cip_array *a;
    bool sized, numpy;
    uint64_t nbytes;
    CIP_TRY(cip_layout_add_array(l, true, &a, err));
    CIP_TRY(cip_bp_sized(&f->h, &sized, &nbytes, err));
    CIP_TRY(cip_bp_numpy(f, meta, a, &numpy, err));
    CIP_TRY(cip_bp_data(f, &f->data, err));
    nbytes = sized ? nbytes : f->chunks.raw_len;
    const int64_t shape[1] = { (int64_t)nbytes };
    if (!numpy) {
        a->dtype = cip_dtype_fixed(CIP_U8, false);
        CIP_TRY(cip_view_c_order(1, shape, 1, &a->view, err));
    } else if (f->wanted < nbytes) {
        cip_warn_lack(l->env, CIP_LACKS_ARRAY, a, CIP_ERR_CORRUPT, f->meta_at, "metadata",
                      "the array takes %" PRIu64 " bytes of %" PRIu64 "; the rest is not shown",
                      f->wanted, nbytes);
    }
    a->layout = l;
    a->path = "";
    a->space = f->data;
    /* Bytes in the place of elements would be other data than the file's. */
    cip_status st = (cip_status)f->unread.code;
    if (st != CIP_OK) {
        if ((f->layout->flags & CIP_OPEN_FORCE) == 0)
            cip_array_refuse(a, st, &f->unread);
        else
            cip_warn_lack(f->layout->env, CIP_LACKS_NODE, NULL, st, f->unread.offset, "metadata",
                          "%.160s; the data are shown as bytes", f->unread.text);
    }
    return fill_storage(f, a, err);
}

/* --- facts ------------------------------------------------------------------------------------ */

static cip_status add_facts(cip_layout *l, const cip_bp_file *f, cip_err *err)
{
    const cip_bp_meta *m = &f->meta;
    const cip_bp_header *h = &f->h;
    const int64_t n = h->nchunk;
    CIP_TRY(cip_layout_add_fact(l, "typesize", err, "%u", h->typesize));
    if (n < 0)
        CIP_TRY(cip_layout_add_fact(l, "chunks", err, "one for each chunk"));
    else if (h->chunk_size < 0)
        CIP_TRY(cip_layout_add_fact(l, "chunks", err, "%" PRId64 " of different sizes", n));
    else
        CIP_TRY(cip_layout_add_fact(l, "chunks", err, "%" PRId64 " of %" PRId64 " bytes", n,
                                    h->chunk_size));
    CIP_TRY(cip_layout_add_fact(l, "checksum", err, "%s", cip_sum_name(h->sum)));
    if ((h->options & CIP_BP_OFFSETS) != 0)
        CIP_TRY(cip_layout_add_fact(l, "offsets", err, "%" PRId64 ", and room for %" PRIu64 " more",
                                    n, h->nspare));
    if ((h->options & CIP_BP_METADATA) == 0)
        return CIP_OK;
    return cip_layout_add_fact(l, "metadata", err,
                               "%" PRIu32 " bytes as %" PRIu32 " of %" PRIu32 ", codec %s, %s",
                               m->size, m->stored, m->room,
                               m->codec == 0   ? "none"
                               : m->codec == 1 ? "zlib"
                                               : "unknown",
                               cip_sum_name(m->sum));
}

/* --- opening ---------------------------------------------------------------------------------- */

static cip_status read_front(cip_layout *l, cip_bp_file *f, const cip_node **meta, cip_err *err)
{
    const bool force = (l->flags & CIP_OPEN_FORCE) != 0;
    cip_bytes head;
    char *version;
    cip_status st = cip_window_peek(&f->front, 0, CIP_BP_HEADER, FRONT, &head, err);
    if (st == CIP_OK)
        st = cip_bp_header_read(head, l->io->size, force, &f->h, err);
    if (st == CIP_OK)
        st = cip_arena_printf(&l->arena, &version, err, "%u", f->h.version);
    CIP_TRY(cip_fail_in(err, st, "header"));
    memcpy(f->head, head.ptr, head.len);
    l->version = version;
    f->meta_at = f->offsets_at = f->h.len;
    CIP_TRY(cip_bp_place(f, err));
    if ((f->h.options & CIP_BP_METADATA) != 0)
        CIP_TRY(cip_bp_meta_tree(f, meta, err));
    f->first_known =
        cip_window_peek(&f->front, f->chunks_at, CIP_BLOSC_HEADER, 0, &head, NULL) == CIP_OK &&
        cip_blosc_head_parse(head, &f->first, NULL) == CIP_OK;
    return CIP_OK;
}

static cip_status open_file(cip_layout *l, cip_err *err)
{
    cip_bp_file *f;
    const cip_node *meta = NULL;
    cip_node *tree;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &f, 1, err));
    l->own = f;
    f->layout = l;
    f->unread = (cip_err)CIP_ERR_INIT;
    f->front = (cip_window){ .layout = l, .in = l->file };
    cip_status st = read_front(l, f, &meta, err);
    cip_window_clear(&f->front);
    CIP_TRY(st);
    CIP_TRY(add_array(l, f, &meta, err));
    CIP_TRY(cip_node_new_map(&l->arena, meta != NULL ? 1 : 0, &tree, err));
    if (meta != NULL)
        CIP_TRY(cip_node_set_key(&l->arena, tree, 0, "metadata", meta, err));
    l->tree = tree;
    return add_facts(l, f, err);
}

const cip_format cip_format_bloscpack = {
    .name = "bloscpack",
    .title = "bloscpack",
    .extensions = "blp",
    .probe = probe,
    .open = open_file,
    .verify = cip_bp_verify,
    .store = &cip_bp_store,
    .options = cip_bp_options,
};
