/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of frames. New chunks, one new index and the trailer go behind what is there; then the
 * lengths and the shape in the header, which say where the index lies, change in one step. What the
 * old header names stays as it is until then, and after it as bytes that nothing names. A header
 * that changes its length, and a frame that is emptied, are made anew; places of chunks count from
 * the header's end, so that the rest goes as it lies. */
#include "format/blosc2/blosc2_update.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"

enum {
    AT_HEADER_LEN = 0x0B,
    AT_FRAME_LEN = 0x10,
    AT_NBYTES = 0x1E,
    AT_CBYTES = 0x27,
    AT_BLOCKSIZE = 0x35,
    AT_CHUNKSIZE = 0x3A,
    AT_VLMETA = 0x44,
    TAIL_FINGERPRINT = 17 /* bytes at a trailer's end: its kind and itself */
};

/* --- the beginning ---------------------------------------------------------------------------- */

static cip_status copy_metas(cip_arena *a, const cip_b2_metas *from, cip_b2_metas *to, cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(a, &to->at, from->n, err));
    if (from->n != 0)
        memcpy(to->at, from->at, from->n * sizeof *to->at);
    to->n = from->n;
    return CIP_OK;
}

cip_status cip_b2_update_begin(cip_b2_state *u, const cip_store_begin *b, cip_err *err)
{
    const cip_b2_file *file = b->old->own;
    if (file->frame == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a frame, found a bare chunk, which cannot be changed in place");
    u->l = b->old;
    u->f = file->frame;
    u->array = u->l->array[0];
    u->undo = b->undo;
    u->alone = b->alone;
    u->alone_user = b->alone_user;
    u->spec.env = b->env;
    u->spec_array = (cip_spec_array){ .path = u->array->path,
                                      .dtype = u->array->dtype,
                                      .ndim = u->array->view.ndim,
                                      .shape = u->array->view.shape,
                                      .source = u->array };
    u->spec.narray = 1;
    u->spec.array = &u->spec_array;
    CIP_TRY(copy_metas(u->arena, &u->f->meta, &u->meta, err));
    return copy_metas(u->arena, &u->f->vlmeta, &u->vlmeta, err);
}

/* --- how elements change ---------------------------------------------------------------------- */

static cip_status unable(cip_err *err, const char *expected, const char *found)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "expected %s, found %s", expected,
                    found);
}

cip_status cip_b2_update_check(const cip_b2_frame *f, cip_err *err)
{
    const cip_b2_index *x = &f->index;
    if (x->partial.kind != NULL)
        return unable(err, "a frame that holds its whole array", x->partial.what);
    if (x->n != 0 && (x->document || f->trailer.wrapped))
        return unable(err, "a frame as libblosc2 writes it",
                      "a frame in the layout of the specification");
    if (x->n != 0 && x->width != 8)
        return unable(err, "an index of 64-bit offsets", "one of another width");
    return CIP_OK;
}

/* Chunks that end within an item, as libblosc2 cuts a list whose chunksize is no multiple of its
 * typesize, are read but not made: new ones would be of whole items, and the next would not begin
 * where the header says. */
static cip_status check_cut(const cip_b2_state *u, uint64_t nbytes, cip_err *err)
{
    const uint64_t item = u->array->view.itemsize, chunk = u->f->h.chunksize;
    if (u->f->nd_meta != NULL || chunk == 0 || item == 0 || chunk % item == 0 || nbytes <= chunk)
        return CIP_OK;
    return cip_fail(
        err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
        "expected chunks of whole items, found chunks of %" PRIu64 " bytes and items of %" PRIu64
        ": such a frame can be changed only while one chunk holds all items (at most %" PRIu64
        "); convert it first",
        chunk, item, chunk / item);
}

/* Bytes that are no whole items are read as bytes; with others added, they would become items. */
static cip_status check_items(const cip_b2_state *u, uint64_t nbytes, cip_err *err)
{
    const uint64_t each = u->f->h.typesize;
    if (u->f->nd_meta != NULL || u->array->view.itemsize == each || nbytes % each != 0)
        return CIP_OK;
    return cip_fail(
        err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
        "expected a number of bytes that is not a multiple of the frame's typesize of %" PRIu64
        ", as now, found %" PRIu64 ": its bytes would become items",
        each, nbytes);
}

cip_status cip_b2_update_form(void *state, const cip_array *a, cip_change_kind kind,
                              const int64_t *shape, cip_change_form *out, cip_err *err)
{
    cip_b2_state *u = state;
    const cip_b2_frame *f = u->f;
    if (cip_b2_store_kind_of(f) != NULL)
        return unable(err, "a frame of plain elements", cip_b2_store_kind_of(f)->what);
    if (f->index.n != 0 && f->h.chunksize == 0)
        return unable(err, "chunks of one length", "a frame of chunks of different lengths");
    if (f->h.vl)
        return unable(err, "blocks of one length", "a frame of blocks of different lengths");
    CIP_TRY(cip_b2_update_check(f, err));
    if (kind != CIP_CHANGE_ELEMENTS && f->nd_meta == NULL &&
        cip_b2_meta_find(&f->vlmeta, "__pack_tensor__") != NULL)
        return unable(err, "an array whose shape can change",
                      "a tensor, whose shape is stored in a vlmetalayer");
    if (f->nd.unset && u->array->dtype->kind == CIP_OPAQUE)
        return unable(err, "an array with a known element size", "none");
    CIP_TRY(check_cut(u, f->h.nbytes, err));
    if (shape != NULL && u->f->nd_meta == NULL) { /* shapes were checked: no overflow */
        CIP_TRY(check_cut(u, (uint64_t)shape[0] * a->view.itemsize, err));
        CIP_TRY(check_items(u, (uint64_t)shape[0] * a->view.itemsize, err));
    }
    if (!u->has_how)
        CIP_TRY(cip_b2_choose_again(&u->spec, u->f, &u->how, err));
    u->has_how = true;
    cip_b2_fill_form(u, a->dtype, u->f->nd.shape, &out->form);
    out->form.codec_env.typesize = u->f->h.typesize;
    if (u->how.plain && a->dtype->itemsize != u->f->h.typesize)
        out->form.specials = 0; /* blosc2 reads none that end within an item */
    return CIP_OK;
}

cip_status cip_b2_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    cip_b2_state *u = state;
    const cip_nd *v = &u->array->view;
    const int64_t *shape = cip_chunk_changes_shape(c);
    u->c = c;
    u->reshaped = memcmp(shape, v->shape, (size_t)v->ndim * sizeof *shape) != 0;
    if (u->reshaped) {
        CIP_TRY(cip_b2_how_reshape(&u->how, shape, v->itemsize, err));
        CIP_TRY(check_items(u, u->how.nbytes, err));
        return check_cut(u, u->how.nbytes, err);
    }
    u->how.nchunk = cip_chunk_changes_count(c);
    return CIP_OK;
}

/* --- the parts -------------------------------------------------------------------------------- */

/* A frame's parts as they become. */
typedef struct parts {
    cip_buf header, index, trailer;
    cip_b2_places places;
    bool anew; /* the file is made anew: its header has another length, it is empty, an index alone,
                  or to be packed */
    bool index_stays; /* as it lies, where it lies */
    bool trailer_stays;
    uint64_t index_at; /* from the header's end */
    uint64_t nbytes, cbytes, frame_len;
} parts;

/* Whether the metalayers have the names and lengths that they had, one by one. */
static bool same_room(const cip_b2_metas *was, const cip_b2_metas *now)
{
    for (size_t i = 0; i < now->n && now->n == was->n; i++) {
        const cip_b2_meta *a = &was->at[i], *b = &now->at[i];
        if (a->name.len != b->name.len || a->value.len != b->value.len ||
            memcmp(a->name.ptr, b->name.ptr, a->name.len) != 0)
            return false;
    }
    return now->n == was->n;
}

static cip_status make_header(cip_b2_state *u, parts *p, cip_err *err)
{
    const cip_b2_frame *f = u->f;
    const bool moves = !same_room(&f->meta, &u->meta);
    if (moves && f->index.document)
        return unable(err, "offsets that count from the header's end",
                      "offsets from the start of the frame, so the header must keep its length");
    p->nbytes = u->c != NULL ? u->how.nbytes : f->h.nbytes;
    p->anew = moves || p->nbytes == 0 || f->h.sparse || u->packs;
    CIP_TRY(cip_buf_add(&p->header, f->header.ptr, moves ? CIP_B2_HEADER_MIN : f->header.len, err));
    if (moves)
        return cip_b2_metas_write(&p->header, &u->meta, false, err);
    for (size_t i = 0; i < u->meta.n; i++)
        if (u->meta.at[i].value.len != 0)
            memcpy(p->header.ptr + f->meta.at[i].at, u->meta.at[i].value.ptr,
                   u->meta.at[i].value.len);
    return CIP_OK;
}

/* Lengths, and what a frame without chunks need not have said. */
static void put_lengths(const cip_b2_state *u, parts *p)
{
    uint8_t *at = p->header.ptr;
    cip_store_u32(at + AT_HEADER_LEN, (uint32_t)p->header.len, true);
    cip_store_u64(at + AT_FRAME_LEN, p->frame_len, true);
    cip_store_u64(at + AT_NBYTES, p->nbytes, true);
    cip_store_u64(at + AT_CBYTES, p->cbytes, true);
    at[AT_VLMETA] = u->vlmeta.n != 0 || !u->f->vlmeta_read ? 0xc3 : 0xc2;
    if (u->f->h.nbytes != 0 || u->c == NULL)
        return;
    cip_store_u32(at + AT_BLOCKSIZE,
                  (uint32_t)(u->how.plain ? u->f->h.blocksize : u->how.block_size), true);
    cip_store_u32(at + AT_CHUNKSIZE, (uint32_t)u->how.chunk_size, true);
}

/* Where index and trailer go. The index lies behind all chunks, the trailer at the end. */
static void place_end(const cip_b2_state *u, parts *p)
{
    const cip_b2_frame *f = u->f;
    const uint64_t header = f->h.header_len;
    cip_b2_places *all = &p->places;
    const bool same = !p->anew && p->trailer.len == f->trailer.len &&
                      memcmp(p->trailer.ptr, f->trailer_bytes, p->trailer.len) == 0;
    p->index_stays = u->c == NULL && !p->anew;
    p->index_at = p->index_stays ? f->index.at - header : all->end;
    const bool in_hole =
        !p->index_stays && all->end == all->base &&
        cip_b2_holes_take(&all->holes, cip_max_u64(all->holes.chunks_end, all->filled),
                          p->index.len, &p->index_at);
    if (!p->index_stays && !in_hole)
        all->end += p->index.len;
    p->trailer_stays = same && all->end == all->base;
    p->frame_len = p->trailer_stays ? f->h.frame_len : p->header.len + all->end + p->trailer.len;
    p->cbytes = p->nbytes != 0 ? p->index_at : 0;
}

/* Where new chunks may go. Of a file that is made anew all that lies behind the chunks is left
 * out. */
static cip_status begin_places(cip_b2_state *u, parts *p, cip_err *err)
{
    cip_b2_places *all = &p->places;
    const cip_b2_header *h = &u->f->h;
    if (h->sparse)
        return u->c != NULL ? cip_b2_sparse_numbers(u, all, err) : CIP_OK;
    all->base = !p->anew                                       ? h->frame_len - h->header_len
                : h->nbytes == 0 || p->nbytes == 0 || u->packs ? 0
                                                               : h->cbytes;
    all->end = all->base;
    return p->anew || u->c == NULL ? CIP_OK : cip_b2_holes_find(u, &all->holes, err);
}

static cip_status make_index(cip_b2_state *u, parts *p, cip_err *err)
{
    cip_b2_places *all = &p->places;
    if (u->c == NULL && !u->packs) { /* as it was, where the frame moves */
        const cip_b2_frame *f = u->f;
        const cip_read_how how = { u->l, NULL };
        const size_t n = (size_t)f->index.len;
        uint8_t *at;
        if (!p->anew || p->nbytes == 0)
            return CIP_OK;
        CIP_TRY(cip_buf_reserve(&p->index, n, &at, err));
        CIP_TRY(cip_space_read_at(&how, f->in, f->base + f->index.at, at, n, err));
        p->index.len += n;
        return CIP_OK;
    }
    CIP_TRY(cip_b2_places_find(u, all, err));
    return cip_b2_index_write(u->env, all->entries.ptr, all->entries.len / 8, &p->index, err);
}

static cip_status make_parts(cip_b2_state *u, parts *p, cip_err *err)
{
    /* The shape into the value of its metalayer. */
    cip_buf value = { .mem = &u->env->mem };
    char *copy = NULL;
    if (u->c != NULL && !u->how.plain && u->reshaped) {
        cip_status st = cip_b2_nd_write(&value, &u->how.nd, err);
        if (st == CIP_OK)
            st = cip_arena_copy(u->arena, (const char *)value.ptr, value.len, &copy, err);
        for (size_t i = 0; st == CIP_OK && i < u->meta.n; i++)
            if (u->meta.at[i].at == u->f->nd_meta->at)
                u->meta.at[i].value = (cip_bytes){ (const uint8_t *)copy, value.len };
        cip_buf_clear(&value);
        CIP_TRY(st);
    }
    CIP_TRY(make_header(u, p, err));
    CIP_TRY(begin_places(u, p, err));
    CIP_TRY(make_index(u, p, err));
    /* A fingerprint is of a file that is no more. */
    if (u->vlmeta_changed)
        return cip_b2_trailer_write(&p->trailer, &u->vlmeta, err);
    CIP_TRY(cip_buf_add(&p->trailer, u->f->trailer_bytes, (size_t)u->f->trailer.len, err));
    memset(p->trailer.ptr + p->trailer.len - TAIL_FINGERPRINT, 0, TAIL_FINGERPRINT);
    return CIP_OK;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* What goes to the end of the file: rising, as chunks without a hole follow each other. */
static cip_status add_end(const parts *p, cip_revision *r, cip_err *err)
{
    const cip_b2_places *all = &p->places;
    for (size_t i = 0; i < all->n; i++) {
        const cip_segment *s = &all->chunk[i].bytes;
        if (all->chunk[i].at < all->base)
            continue;
        CIP_TRY(s->io != NULL ? cip_revision_range(r, s->io, s->off, s->len, err)
                              : cip_revision_bytes(r, s->ptr, (size_t)s->len, err));
    }
    if (p->index_at >= all->base)
        CIP_TRY(cip_revision_bytes(r, p->index.ptr, p->index.len, err));
    return p->trailer_stays ? CIP_OK : cip_revision_bytes(r, p->trailer.ptr, p->trailer.len, err);
}

static cip_status finish_contiguous(const cip_b2_state *u, parts *p, cip_revision *r, cip_err *err)
{
    const cip_b2_header *h = &u->f->h;
    place_end(u, p);
    put_lengths(u, p);
    cip_b2_places_sort(&p->places);
    if (p->anew) {
        r->anew = r->has_tail = true;
        CIP_TRY(cip_revision_bytes(r, p->header.ptr, p->header.len, err));
        CIP_TRY(cip_revision_range(r, u->l->io, h->header_len, p->places.base, err));
        return add_end(p, r, err);
    }
    /* all that the header names stays, so that those who have read it need not go */
    r->has_tail = !p->trailer_stays;
    r->tail_off = r->has_tail ? h->frame_len : 0;
    r->head = h->header_len;
    CIP_TRY(cip_patch_bytes(&r->patch, 0, p->header.ptr, p->header.len, err));
    /* What lies in holes. */
    const cip_b2_places *all = &p->places;
    const uint64_t header = u->f->h.header_len;
    const cip_segment index = { .ptr = p->index.ptr, .len = p->index.len };
    for (size_t i = 0; i < all->n && all->chunk[i].at < all->base; i++)
        CIP_TRY(cip_revision_place(r, header + all->chunk[i].at, &all->chunk[i].bytes, err));
    if (!p->index_stays && p->index_at < all->base)
        CIP_TRY(cip_revision_place(r, header + p->index_at, &index, err));
    return add_end(p, r, err);
}

/* Chunk files, then the one that names them. */
static cip_status finish_sparse(const cip_b2_state *u, parts *p, cip_revision *r, cip_err *err)
{
    cip_revision *as;
    CIP_TRY(cip_b2_sparse_files(u, &p->places, r, &p->cbytes, err));
    p->frame_len = p->header.len + p->index.len + p->trailer.len;
    if (p->nbytes == 0)
        p->cbytes = 0;
    put_lengths(u, p);
    CIP_TRY(cip_b2_sparse_index_file(u, r, &as, err));
    CIP_TRY(cip_revision_bytes(as, p->header.ptr, p->header.len, err));
    CIP_TRY(cip_revision_bytes(as, p->index.ptr, p->index.len, err));
    return cip_revision_bytes(as, p->trailer.ptr, p->trailer.len, err);
}

/* Bytes behind a frame are somebody else's. */
static cip_status check_file(const cip_b2_state *u, cip_err *err)
{
    const uint64_t size = u->f->in->len, len = u->f->h.frame_len;
    if (u->f->h.sparse && !cip_io_is_folder(u->l->io))
        return unable(err, "the folder of a sparse frame", "its index, which was opened by itself");
    if (u->f->base == 0 && size == len)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, u->f->base + len,
                    "expected a file that contains only the frame, found %" PRIu64 " more bytes",
                    size - len);
}

cip_status cip_b2_update_finish(cip_b2_state *u, cip_revision *r, cip_err *err)
{
    parts p;
    cip_status st;
    r->patch.old_len = r->patch.new_len = u->l->io->size;
    CIP_TRY(cip_b2_update_drop_files(u, r, err));
    if (u->c == NULL && !u->meta_changed && !u->vlmeta_changed && !u->untidy)
        return CIP_OK;
    CIP_TRY(check_file(u, err));
    CIP_TRY(cip_b2_update_pack(u, err));
    cip_mem *mem = &u->env->mem;
    p = (parts){ .header = { .mem = mem }, .index = { .mem = mem }, .trailer = { .mem = mem } };
    p.places = (cip_b2_places){
        .mem = mem, .entries = { .mem = mem }, .used = { .mem = mem }, .holes = { .mem = mem }
    };
    st = make_parts(u, &p, err);
    if (st == CIP_OK)
        st = u->f->h.sparse ? finish_sparse(u, &p, r, err) : finish_contiguous(u, &p, r, err);
    cip_buf_clear(&p.header);
    cip_buf_clear(&p.index);
    cip_buf_clear(&p.trailer);
    cip_b2_places_clear(&p.places);
    return st;
}
