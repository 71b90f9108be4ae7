/* SPDX-License-Identifier: BSD-3-Clause
 * Updates. Chunks lie one behind the other, as bloscpack reads them: so one that keeps its stored
 * length changes where it is, and from the first that does not, or is new, the file ends anew. The
 * header, the shape in the metadata and the offsets change in the room that they have. Where that
 * is too little, or the version is 2, the whole file is made anew. The commit makes one step of it
 * all. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/bloscpack/bloscpack.h"

typedef struct update {
    bool is_update; /* true: not a writer of new files, whose state begins so too */
    cip_layout *l;
    cip_env *env;
    const cip_bp_file *f;
    cip_bp_how how; /* of chunks that come */
    const cip_chunk_changes *c;
    const cip_array *array;
    uint64_t was, n; /* chunks before and now, without the one of an array of nothing */
    cip_bp_header h; /* as it becomes */
    bool reshaped;
    cip_chunk_in none; /* the chunk of an array of nothing */
    uint8_t none_bytes[CIP_BLOSC_HEADER];
} update;

/* --- how new chunks are stored ---------------------------------------------------------------- */

static cip_status expect_same(const cip_spec *spec, const cip_bp_file *f, cip_err *err)
{
    cip_sum_id sum;
    if (spec->checksum == NULL || (cip_bp_sum_named(spec->checksum, &sum) && sum == f->h.sum))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected the checksum of all chunks of the file, %s, found %.40s",
                    cip_sum_name(f->h.sum), spec->checksum);
}

/* Where nothing else is asked for: as the first chunk is. */
static cip_status choose(update *u, const cip_spec *spec, cip_err *err)
{
    const cip_bp_file *f = u->f;
    cip_spec but_sum = *spec;
    uint8_t bytes[CIP_BLOSC_HEADER];
    cip_blosc_head head;
    size_t n;
    CIP_TRY(cip_io_read_some(u->l->io, f->chunks_at, bytes, sizeof bytes, &n, err));
    bool known = cip_blosc_head_parse((cip_bytes){ bytes, n }, &head, NULL) == CIP_OK;
    but_sum.checksum = NULL;
    CIP_TRY(cip_bp_choose(&but_sum, u->array->dtype, known ? &head : NULL, &u->how, err));
    u->how.sum = f->h.sum;
    u->how.offsets = (f->h.options & CIP_BP_OFFSETS) != 0;
    if (!f->numpy && f->h.typesize != 0)
        u->how.blosc.typesize = f->h.typesize;
    return CIP_OK;
}

cip_status cip_bp_update_begin(const cip_store_begin *b, void **state, cip_err *err)
{
    const cip_bp_file *f = b->old->own;
    update *u;
    CIP_TRY(CIP_ARENA_NEW(b->arena, &u, 1, err));
    u->is_update = true;
    u->l = b->old;
    u->env = b->env;
    u->f = f;
    u->array = u->l->array[0];
    if (f->unread.code != CIP_OK)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, f->unread.offset,
                        "expected metadata that can be read, found others: %.120s", f->unread.text);
    CIP_TRY(expect_same(b->spec, f, err));
    CIP_TRY(choose(u, b->spec, err));
    *state = u;
    return CIP_OK;
}

/* A file of one chunk grows by those of the size that new files have. */
cip_status cip_bp_update_form(void *state, const cip_array *a, cip_change_kind kind,
                              const int64_t *shape, cip_change_form *out, cip_err *err)
{
    update *u = state;
    cip_space *data;
    (void)shape;
    if (a->f_order && kind != CIP_CHANGE_ELEMENTS)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an array in order C to change its shape, found order F");
    CIP_TRY(cip_space_resolve(u->f->data, &data, err));
    if (u->f->chunks.nfound < u->f->chunks.n)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected %" PRIu64 " chunks, found %" PRIu64, u->f->chunks.n,
                        u->f->chunks.nfound);
    if (u->f->chunks.raw != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a header that says how many chunks there are and of which "
                        "size, found one that does not");
    if (u->f->chunks.n > 1)
        u->how.chunk_size = (uint64_t)u->f->h.chunk_size;
    u->how.chunk_size = cip_max_u64(u->how.chunk_size, (uint64_t)u->f->h.chunk_size);
    u->was = u->f->chunks.n;
    cip_bp_form(&u->how, a->dtype, &out->form);
    return CIP_OK;
}

/* --- what becomes of the chunks --------------------------------------------------------------- */

/* Bytes of chunk i with its digest, as the file has it. */
static cip_status old_chunk(const update *u, uint64_t i, cip_extent *out, cip_err *err)
{
    cip_blosc_head head;
    cip_chunk c = { .state = CIP_CHUNK_DATA };
    CIP_TRY(cip_bp_chunk(u->f, i, &head, &c, err));
    *out = c.at;
    out->len += cip_sum_size(u->f->h.sum);
    return CIP_OK;
}

/* A new chunk, whose digest is not yet behind it. */
typedef struct piece {
    cip_extent at;
    uint8_t digest[CIP_SUM_MAX];
    size_t ndigest;
} piece;

static piece piece_of(const update *u, const cip_chunk *new)
{
    piece p = { .at = new->at, .ndigest = cip_sum_size(u->f->h.sum) };
    cip_bp_digest(u->f->h.sum, new->sum, p.digest);
    return p;
}

/* Chunks that change where they are; *k: the first that cannot. */
static cip_status write_in_place(update *u, cip_revision *r, uint64_t *k, cip_err *err)
{
    uint64_t i = 0;
    while (i < u->n && i < u->was) {
        cip_chunk_now now;
        cip_extent old;
        cip_chunk_changes_at(u->c, i, &now);
        if (now.from == i) {
            i += now.run;
            continue;
        }
        if (now.from != UINT64_MAX)
            break;
        const piece p = piece_of(u, &now.chunk);
        CIP_TRY(old_chunk(u, i, &old, err));
        if (p.at.len + p.ndigest != old.len)
            break;
        CIP_TRY(cip_patch_range(&r->patch, old.off, p.at.in->io, p.at.off, p.at.len, err));
        CIP_TRY(cip_patch_bytes(&r->patch, old.off + p.at.len, p.digest, p.ndigest, err));
        i++;
    }
    *k = i;
    return CIP_OK;
}

/* The places of the chunks from k on, the first at `at`, as they are stored; and of the end. Reads
 * the heads of those that stay. */
static cip_status place_from(update *u, uint64_t k, uint64_t at, cip_buf *places, cip_err *err)
{
    uint8_t bytes[8];
    cip_chunk_now now;
    cip_extent old;
    for (uint64_t i = k;; i++) {
        cip_store_u64(bytes, at, false);
        CIP_TRY(cip_buf_add(places, bytes, sizeof bytes, err));
        if (i >= u->n)
            return CIP_OK;
        cip_chunk_changes_at(u->c, i, &now);
        if (now.from != UINT64_MAX)
            CIP_TRY(old_chunk(u, now.from, &old, err));
        else
            old.len = now.chunk.at.len + cip_sum_size(u->f->h.sum);
        at += old.len;
    }
}

/* Bytes of such places that are offsets: an array of nothing has a chunk, too. */
static size_t offsets_len(const update *u, const cip_buf *places)
{
    return u->n != 0 ? places->len - 8 : places->len;
}

static cip_status add_none(update *u, cip_revision *r, cip_err *err)
{
    uint8_t digest[CIP_SUM_MAX];
    CIP_TRY(cip_bp_empty_chunk(u->env, &u->how, &u->none, u->none_bytes, err));
    cip_bp_digest(u->how.sum, u->none.sum, digest);
    CIP_TRY(cip_revision_bytes(r, u->none.bytes.ptr, u->none.bytes.len, err));
    return cip_revision_bytes(r, digest, cip_sum_size(u->how.sum), err);
}

/* The chunks from k on, whose places these are. */
static cip_status add_from(update *u, uint64_t k, const cip_buf *places, cip_revision *r,
                           cip_err *err)
{
    if (u->n == 0)
        return add_none(u, r, err);
    for (uint64_t i = k; i < u->n; i++) {
        const uint8_t *at = places->ptr + 8 * (i - k);
        const uint64_t len = cip_load_u64(at + 8, false) - cip_load_u64(at, false);
        cip_chunk_now now;
        cip_chunk_changes_at(u->c, i, &now);
        if (now.from != UINT64_MAX) {
            CIP_TRY(cip_revision_range(r, u->l->io, u->f->chunks.at[now.from], len, err));
            continue;
        }
        const piece p = piece_of(u, &now.chunk);
        CIP_TRY(cip_revision_range(r, p.at.in->io, p.at.off, p.at.len, err));
        CIP_TRY(cip_revision_bytes(r, p.digest, p.ndigest, err));
    }
    return CIP_OK;
}

/* --- in place --------------------------------------------------------------------------------- */

static cip_bp_described described(const update *u)
{
    return (cip_bp_described){ .dtype = u->array->dtype,
                               .ndim = u->array->view.ndim,
                               .shape = cip_chunk_changes_shape(u->c),
                               .f_order = u->array->f_order,
                               .more = cip_map_get(u->l->tree, "metadata") };
}

/* The metadata section with the shape as it becomes; *fits false: there is no room for it. Nothing
 * is added where it stays as it is. */
static cip_status new_meta(const update *u, cip_buf *out, bool *fits, cip_err *err)
{
    const cip_bp_described d = described(u);
    const cip_bp_meta *m = &u->f->meta;
    cip_buf json = { .mem = &u->env->mem };
    *fits = true;
    if (!u->f->numpy || !u->reshaped)
        return CIP_OK;
    cip_status st = cip_bp_numpy_json(u->env, &d, &json, err);
    *fits = st == CIP_OK && json.len <= m->room;
    if (*fits)
        st = cip_bp_meta_section(u->env, (cip_bytes){ json.ptr, json.len }, m->sum, m->room, out,
                                 err);
    cip_buf_clear(&json);
    return st;
}

/* Offsets from chunk k on, and -1 in those that are free again. */
static cip_status patch_offsets(update *u, uint64_t k, cip_buf *places, cip_revision *r,
                                cip_err *err)
{
    const uint64_t unset = UINT64_MAX;
    if (!u->how.offsets)
        return CIP_OK;
    places->len = offsets_len(u, places);
    for (int64_t i = u->h.nchunk; i < u->f->h.nchunk; i++)
        CIP_TRY(cip_buf_add(places, &unset, sizeof unset, err));
    return cip_patch_bytes(&r->patch, u->f->offsets_at + 8 * k, places->ptr, places->len, err);
}

/* Where chunk k begins, behind those before it that stay. */
static cip_status begin_of(const update *u, uint64_t k, uint64_t *at, cip_err *err)
{
    cip_extent old;
    *at = u->f->chunks_at;
    if (k == 0)
        return CIP_OK;
    CIP_TRY(old_chunk(u, k - 1, &old, err));
    *at = old.off + old.len;
    return CIP_OK;
}

static cip_status end_anew(update *u, uint64_t k, cip_revision *r, cip_err *err)
{
    cip_buf places = { .mem = &u->env->mem };
    cip_status st;
    if (u->n == 0)
        k = 0;
    if (k == u->n && u->h.nchunk == u->f->h.nchunk && k != 0)
        return CIP_OK;
    CIP_TRY(begin_of(u, k, &r->tail_off, err));
    r->has_tail = true;
    CIP_GO(place_from(u, k, r->tail_off, &places, err));
    CIP_GO(add_from(u, k, &places, r, err));
    st = patch_offsets(u, k, &places, r, err);
done:
    cip_buf_clear(&places);
    return st;
}

static cip_status finish_in_place(update *u, const cip_buf *meta, cip_revision *r, cip_err *err)
{
    uint8_t head[CIP_BP_HEADER];
    uint64_t k = 0;
    cip_bp_header_write(&u->h, head);
    CIP_TRY(cip_patch_bytes(&r->patch, 0, head, sizeof head, err));
    CIP_TRY(cip_patch_bytes(&r->patch, u->f->meta_at, meta->ptr, meta->len, err));
    CIP_TRY(write_in_place(u, r, &k, err));
    return end_anew(u, k, r, err);
}

/* --- anew ------------------------------------------------------------------------------------- */

/* Up to the offsets. */
static cip_status add_front(update *u, cip_revision *r, uint64_t *len, cip_err *err)
{
    const cip_bp_described d = described(u);
    cip_buf front = { .mem = &u->env->mem };
    uint8_t head[CIP_BP_HEADER];
    if (u->f->numpy) {
        cip_status st = cip_bp_front(u->env, &u->h, &d, &front, err);
        if (st == CIP_OK)
            st = cip_revision_bytes(r, front.ptr, front.len, err);
        *len = front.len;
        cip_buf_clear(&front);
        return st;
    }
    cip_bp_header_write(&u->h, head);
    *len = sizeof head + u->f->meta.len;
    CIP_TRY(cip_revision_bytes(r, head, sizeof head, err));
    return cip_revision_range(r, u->l->io, u->f->meta_at, u->f->meta.len, err);
}

static cip_status finish_anew(update *u, cip_revision *r, cip_err *err)
{
    cip_buf places = { .mem = &u->env->mem };
    cip_status st;
    uint64_t at;
    r->anew = r->has_tail = true;
    r->tail_off = 0;
    CIP_TRY(add_front(u, r, &at, err));
    if (u->how.offsets)
        at += 8 * ((uint64_t)u->h.nchunk + u->h.nspare);
    CIP_GO(place_from(u, 0, at, &places, err));
    if (u->how.offsets) {
        CIP_GO(cip_revision_bytes(r, places.ptr, offsets_len(u, &places), err));
        CIP_GO(cip_revision_fill(r, 0xff, 8 * u->h.nspare, err));
    }
    st = add_from(u, 0, &places, r, err);
done:
    cip_buf_clear(&places);
    return st;
}

/* --- the end ---------------------------------------------------------------------------------- */

cip_status cip_bp_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    update *u = state;
    const int64_t *shape = cip_chunk_changes_shape(c);
    const cip_nd *v = &u->array->view;
    const cip_bp_header *f = &u->f->h;
    uint64_t nbytes = u->f->chunks.raw_len;
    u->c = c;
    u->n = cip_chunk_changes_count(c);
    u->reshaped = memcmp(shape, v->shape, (size_t)v->ndim * sizeof *shape) != 0;
    if (u->reshaped) { /* all of the chunks are the array then */
        cip_shape_nelem(v->ndim, shape, &nbytes);
        nbytes *= v->itemsize;
    }
    CIP_TRY(cip_bp_make_header(&u->how, nbytes, &u->h, err));
    u->h.options = f->options;
    u->h.typesize = f->typesize;
    return CIP_OK;
}

/* Whether header and offsets have the room. */
static bool has_room(update *u)
{
    const cip_bp_header *f = &u->f->h;
    const uint64_t all = (uint64_t)f->nchunk + f->nspare;
    if (f->version != 3)
        return false;
    if (!u->how.offsets)
        return true;
    if ((uint64_t)u->h.nchunk > all || f->nchunk == 0 || u->f->chunks.end != 0)
        return false;
    u->h.nspare = all - (uint64_t)u->h.nchunk;
    return true;
}

cip_status cip_bp_update_finish(void *state, cip_revision *r, cip_err *err)
{
    update *u = state;
    cip_buf meta = { .mem = &u->env->mem };
    bool fits;
    r->patch.old_len = r->patch.new_len = u->l->io->size;
    if (u->c == NULL)
        return CIP_OK;
    cip_status st = new_meta(u, &meta, &fits, err);
    if (st == CIP_OK)
        st = fits && has_room(u) ? finish_in_place(u, &meta, r, err) : finish_anew(u, r, err);
    cip_buf_clear(&meta);
    return st;
}
