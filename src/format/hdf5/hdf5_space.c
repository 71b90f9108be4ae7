/* SPDX-License-Identifier: BSD-3-Clause
 * A dataset's elements as a space. The chunks' table is read with the first elements; chunks that
 * the file does not have hold the fill value. */
#include "format/hdf5/hdf5.h"

enum { MASKS = 8 }; /* kinds of chunks with filters left out, beside those with all of them */

/* Chunks of which some filters were left out: each is decoded in a space of its own, where chunk e
 * of the table lies at e times the chunk's bytes. */
typedef struct masked {
    uint32_t mask;
    cip_space *in;
} masked;

typedef struct chunks {
    const cip_h5_dataset *d;
    const cip_h5_chunk *at;
    size_t n;
    uint64_t count; /* chunks that the shape has */
    uint32_t all;   /* a bit for each filter */
    uint64_t each;  /* raw bytes of one */
    bool framed;    /* chunks of Blosc2: in frames, as far as these are alike */
    cip_h5_frames frames;
    masked mask[MASKS]; /* `framed`: of 0 for the frames that are not */
    size_t nmask;
} chunks;

/* --- pipelines -------------------------------------------------------------------------------- */

/* The filters without those of the mask, as steps: none, one of the library's codecs, or ours. */
static cip_status make_step(const cip_h5_dataset *d, uint32_t mask, cip_step *step, size_t *n,
                            cip_err *err)
{
    cip_layout *l = d->f->layout;
    cip_h5_pipeline *p;
    const cip_codec *codec = NULL;
    unsigned npack = 0;
    *n = 0;
    pthread_mutex_lock(&l->lock);
    const cip_status st = CIP_ARENA_NEW(&l->arena, &p, 1, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    for (uint32_t k = 0; k < d->nfilter; k++) {
        const cip_h5_filter *f = &d->filter[k];
        bool packs;
        if ((mask >> k & 1) != 0)
            continue;
        if (cip_h5_filter_find(f->id, &packs, &codec) == NULL && f->id != CIP_H5_FLETCHER32)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the filter %.60s (%u) is not %s", cip_h5_filter_name(f), f->id,
                            f->id == CIP_H5_SZIP ? "part of this build" : "read");
        if (codec != NULL && !cip_codec_available(codec))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the filter %.60s (%u) is not part of this build",
                            cip_h5_filter_name(f), f->id);
        npack += packs;
        p->filter[p->n++] = f;
    }
    if (npack > 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected one filter that compresses, found %u", npack);
    if (p->n == 0)
        return CIP_OK;
    *step = p->n == 1 && codec != NULL ? (cip_step){ .codec = codec }
                                       : (cip_step){ .codec = &cip_h5_codec, .args = p };
    *n = 1;
    return CIP_OK;
}

/* --- the tables ------------------------------------------------------------------------------- */

static cip_extent extent_of(const chunks *t, const cip_h5_chunk *c)
{
    return (cip_extent){ t->d->f->layout->file, t->d->f->base + c->at, c->nbytes };
}

/* Of chunks with filters left out: their bytes in the file. */
static cip_status masked_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const chunks *t = self;
    for (size_t k = 0; k < n; k++) {
        if (i + k >= t->n)
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected a chunk below %zu, found %" PRIu64, t->n, i + k);
        out[k].at = extent_of(t, &t->at[i + k]);
        out[k].raw_off = (i + k) * t->each;
        out[k].raw_len = t->each;
    }
    return CIP_OK;
}

static cip_status masked_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const chunks *)self)->n;
    return CIP_OK;
}

static cip_status stored_chunk(const chunks *t, size_t e, cip_chunk *out, cip_err *err)
{
    const cip_h5_chunk *c = &t->at[e];
    const uint32_t mask = c->mask & t->all;
    out->at = extent_of(t, c);
    if (t->framed && mask == 0 && cip_h5_frames_look(t->d, &t->frames, &out->at, &out->head))
        return CIP_OK;
    if (mask == t->all && t->frames.nd.ndim == 0) {
        out->codec = &cip_codec_stored;
        if (c->nbytes != t->d->chunk_nbytes)
            return cip_fail(err, CIP_ERR_CORRUPT, t->d->f->base + c->at,
                            "expected %" PRIu64 " bytes in chunk %" PRIu64
                            ", which has no filter, found %" PRIu64,
                            t->d->chunk_nbytes, c->i, c->nbytes);
        return CIP_OK;
    }
    for (size_t k = 0; k < t->nmask; k++)
        if (t->mask[k].mask == mask) {
            out->at = (cip_extent){ t->mask[k].in, e * t->each, t->each };
            out->codec = &cip_codec_stored;
        }
    return CIP_OK;
}

static cip_status table_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const chunks *t = self;
    size_t e = t->n == 0 ? 0 : cip_last_at_most(&t->at->i, sizeof *t->at, t->n, i);
    for (size_t k = 0; k < n; k++, i++) {
        if (i >= t->count)
            return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                            "expected a chunk below %" PRIu64 ", found %" PRIu64, t->count, i);
        while (e < t->n && t->at[e].i < i)
            e++;
        out[k].raw_len = t->each;
        if (e < t->n && t->at[e].i == i) {
            CIP_TRY(stored_chunk(t, e, &out[k], err));
            continue;
        }
        out[k].state = t->d->fill.len != 0 ? CIP_CHUNK_VALUE : CIP_CHUNK_ZERO;
        out[k].value = t->d->fill.ptr;
        out[k].value_len = (uint32_t)t->d->fill.len;
        out[k].run = (e < t->n ? t->at[e].i : t->count) - i;
    }
    return CIP_OK;
}

static cip_status table_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const chunks *)self)->count;
    return CIP_OK;
}

/* Where chunk i is in the file, whatever it takes to decode it. */
static void table_place(void *self, uint64_t i, cip_extent *at)
{
    const chunks *t = self;
    const size_t e = t->n == 0 ? 0 : cip_last_at_most(&t->at->i, sizeof *t->at, t->n, i);
    if (e < t->n && t->at[e].i == i)
        *at = extent_of(t, &t->at[e]);
}

/* A space for chunks of this mask. */
static cip_status add_mask(chunks *t, uint32_t mask, cip_err *err)
{
    cip_layout *l = t->d->f->layout;
    cip_step step;
    uint64_t len;
    size_t n;
    cip_space *in;
    if (t->nmask == MASKS || cip_mul_overflow(t->n, t->each, &len))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d kinds of chunks with filters left out", MASKS);
    CIP_TRY(make_step(t->d, mask, &step, &n, err));
    if (t->frames.nd.ndim != 0) {
        cip_h5_blocked *b;
        pthread_mutex_lock(&l->lock);
        const cip_status st = CIP_ARENA_NEW(&l->arena, &b, 1, err);
        pthread_mutex_unlock(&l->lock);
        CIP_TRY(st);
        *b = (cip_h5_blocked){ &t->frames.nd, n != 0 ? step.args : NULL };
        step = (cip_step){ .codec = &cip_h5_blocked_codec, .args = b };
        n = 1;
    }
    const cip_table table = {
        .at = masked_at, .count = masked_count, .raw_each = t->each, .self = t
    };
    CIP_TRY(cip_space_new_chunked(l, &table, len, &step, n, &in, err));
    in->codec_env.typesize = t->d->itemsize;
    in->label = t->d->path;
    t->mask[t->nmask++] = (masked){ mask, in };
    return CIP_OK;
}

/* For each kind of chunk that lacks some filters, or that its frame does not show. */
static cip_status find_masks(chunks *t, cip_err *err)
{
    if (t->framed)
        CIP_TRY(add_mask(t, 0, err));
    if (t->frames.nd.ndim != 0)
        CIP_TRY(add_mask(t, t->all, err));
    for (size_t e = 0; e < t->n; e++) {
        const uint32_t mask = t->at[e].mask & t->all;
        bool known = mask == 0 || mask == t->all;
        for (size_t k = 0; k < t->nmask && !known; k++)
            known = t->mask[k].mask == mask;
        if (!known)
            CIP_TRY(add_mask(t, mask, err));
    }
    return CIP_OK;
}

/* Chunks of which the first one with data is in a frame whose blocks can be read. */
static void find_frames(chunks *t)
{
    size_t e = 0;
    while (e < t->n && (t->at[e].mask & t->all) != 0)
        e++;
    if (e == t->n)
        return;
    const cip_extent at = extent_of(t, &t->at[e]);
    t->framed = cip_h5_frames_find(t->d, &at, &t->frames);
    if (t->framed)
        t->each = t->frames.nbytes;
    else
        t->frames = (cip_h5_frames){ .nbytes = 0 };
}

static cip_status make_chunked(void *self, cip_space **out, cip_err *err)
{
    const cip_h5_dataset *d = self;
    cip_layout *l = d->f->layout;
    chunks *t;
    cip_step step;
    size_t nstep;
    pthread_mutex_lock(&l->lock);
    const cip_status st = CIP_ARENA_NEW(&l->arena, &t, 1, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    *t = (chunks){ .d = d, .count = 1, .each = d->chunk_nbytes };
    t->all = d->nfilter == 32 ? UINT32_MAX : (UINT32_C(1) << d->nfilter) - 1;
    for (int32_t k = 0; k < d->shape.rank; k++) /* fits, as the elements do */
        t->count *= cip_div_up((uint64_t)d->shape.dim[k], (uint64_t)d->chunk[k]);
    CIP_TRY(make_step(d, 0, &step, &nstep, err));
    CIP_TRY(cip_fail_in(err, cip_h5_index_read(d, &t->at, &t->n, err), "%s, chunk index", d->path));
    cip_grid grid = {
        .itemsize = d->itemsize, .ndim = d->shape.rank, .shape = d->shape.dim, .chunk = d->chunk
    };
    if (d->nfilter == 1 && d->filter[0].id == CIP_H5_BLOSC2)
        find_frames(t);
    if (t->framed)
        step = (cip_step){ .codec = &cip_codec_blosc };
    if (t->frames.nd.ndim != 0) {
        grid.blocked = true;
        grid.stored = t->frames.nd.stored;
        grid.block = t->frames.nd.block;
    }
    CIP_TRY(find_masks(t, err));
    const cip_table table = {
        .at = table_at, .count = table_count, .place = table_place, .self = t
    };
    CIP_TRY(cip_space_new_grid(l, &grid, &table, &step, nstep, out, err));
    (*out)->label = d->path;
    return CIP_OK;
}

/* --- whole datasets --------------------------------------------------------------------------- */

/* n bytes of the fill value. */
static cip_status all_fill(const cip_h5_dataset *d, uint64_t n, cip_space **out, cip_err *err)
{
    const cip_chunk c = { .raw_len = n,
                          .state = d->fill.len != 0 ? CIP_CHUNK_VALUE : CIP_CHUNK_ZERO,
                          .value = d->fill.ptr,
                          .value_len = (uint32_t)d->fill.len };
    cip_table table;
    CIP_TRY(cip_table_from_array(d->f->layout, &c, 1, &table, err));
    return cip_space_new_chunked(d->f->layout, &table, n, NULL, 0, out, err);
}

static cip_status short_of(const cip_h5_dataset *d, cip_status st, uint64_t n, uint64_t found,
                           cip_err *err)
{
    return cip_fail(err, st, d->layout == 1 ? d->f->base + d->at : CIP_NO_OFFSET,
                    "expected %" PRIu64 " bytes of elements, found %" PRIu64, n, found);
}

/* The names of the filters in the order in which they were applied. */
static cip_status name_filters(const cip_h5_dataset *d, const char **out, cip_err *err)
{
    cip_arena *a = &d->f->layout->arena;
    char *text;
    *out = d->nfilter == 0 ? "none" : "";
    for (uint32_t k = 0; k < d->nfilter; k++) {
        CIP_TRY(cip_arena_printf(a, &text, err, "%s%s%.40s", *out, k == 0 ? "" : "+",
                                 cip_h5_filter_name(&d->filter[k])));
        *out = text;
    }
    return CIP_OK;
}

cip_status cip_h5_space(cip_h5_dataset *d, cip_space **out, const char **codec, cip_err *err)
{
    cip_layout *l = d->f->layout;
    cip_step step;
    uint64_t n;
    size_t nstep;
    CIP_TRY(name_filters(d, codec, err));
    if (!cip_shape_nelem(d->shape.rank, d->shape.dim, &n) || cip_mul_overflow(n, d->itemsize, &n))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected an array of less than 2^63 bytes");
    if (d->external)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "elements in external files are not read");
    if (d->layout == 3)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "virtual datasets are not read");
    if (d->layout == 2)
        CIP_TRY(make_step(d, 0, &step, &nstep, err));
    if (n == 0)
        return cip_space_new_mem(l, (cip_bytes){ NULL, 0 }, out, err);
    if (d->layout == 2)
        return cip_space_new_lazy(l, make_chunked, d, out, err);
    if (d->layout == 0) {
        if (d->compact.len < n)
            return short_of(d, CIP_ERR_CORRUPT, n, d->compact.len, err);
        return cip_space_new_mem(l, (cip_bytes){ d->compact.ptr, (size_t)n }, out, err);
    }
    if (d->at == CIP_H5_NONE)
        return all_fill(d, n, out, err);
    if (d->nbytes < n)
        return short_of(d, CIP_ERR_CORRUPT, n, d->nbytes, err);
    if (d->at > d->f->size || n > d->f->size - d->at)
        return short_of(d, CIP_ERR_TRUNCATED, n, cip_bytes_left(d->f->size, d->at), err);
    return cip_space_new_sub(l, l->file, d->f->base + d->at, n, out, err);
}
