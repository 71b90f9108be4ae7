/* SPDX-License-Identifier: BSD-3-Clause
 * Updates: what is asked of a file that is there, and whether its header, metadata and offsets have
 * the room for what becomes of it; else, and where the version is 2, the whole file is made again.
 * bloscpack_container.c does it, the commit makes one step of it all. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/bloscpack/bloscpack.h"

/* --- how new chunks are stored ---------------------------------------------------------------- */

cip_status cip_bp_update_begin(cip_bp_state *s, cip_err *err)
{
    const cip_bp_file *f = s->old;
    const cip_array *a = f->layout->array[0];
    if (f->unread.code != CIP_OK)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, f->unread.offset,
                        "expected readable metadata, found: %.120s", f->unread.text);
    s->d = (cip_bp_described){ .dtype = a->dtype,
                               .ndim = a->view.ndim,
                               .shape = a->view.shape,
                               .f_order = a->f_order,
                               .more = cip_map_get(f->layout->tree, "metadata") };
    cip_sum_id sum;
    if (s->spec->checksum != NULL &&
        (!cip_bp_sum_named(s->spec->checksum, &sum) || sum != f->h.sum))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected %s, the checksum of all chunks of the file, found %.40s",
                        cip_sum_name(f->h.sum), s->spec->checksum);
    /* Where nothing else is asked for, new chunks are as the first one is. */
    cip_spec but_sum = *s->spec;
    but_sum.checksum = NULL;
    CIP_TRY(cip_bp_choose(&but_sum, s->d.dtype, f->first_known ? &f->first : NULL, &s->how, err));
    s->how.sum = f->h.sum;
    s->how.offsets = (f->h.options & CIP_BP_OFFSETS) != 0;
    if (!f->numpy && f->h.typesize != 0)
        s->how.blosc.typesize = f->h.typesize;
    return CIP_OK;
}

/* A file of one chunk grows by those of the size that new files have. */
cip_status cip_bp_update_form(void *state, const cip_array *a, cip_change_kind kind,
                              const int64_t *shape, cip_change_form *out, cip_err *err)
{
    cip_bp_state *s = state;
    const cip_bp_chunks *t = &s->old->chunks;
    cip_space *data;
    (void)shape;
    if (a->f_order && kind != CIP_CHANGE_ELEMENTS)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an array in C order to change its shape, found Fortran order");
    CIP_TRY(cip_space_resolve(s->old->data, &data, err));
    if (t->nfound < t->n)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected %" PRIu64 " chunks, found %" PRIu64, t->n, t->nfound);
    if (t->raw != NULL)
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "expected a header with the number and the size of the chunks, found one without");
    if (t->n > 1)
        s->how.chunk_size = (uint64_t)s->old->h.chunk_size;
    s->how.chunk_size = cip_max_u64(s->how.chunk_size, (uint64_t)s->old->h.chunk_size);
    cip_bp_form(&s->how, a->dtype, &out->form);
    return CIP_OK;
}

cip_status cip_bp_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    cip_bp_state *s = state;
    const cip_bp_file *f = s->old;
    const size_t nshape = (size_t)s->d.ndim * sizeof *s->d.shape;
    uint64_t nbytes = f->chunks.raw_len;
    s->file.changes = c;
    s->d.shape = cip_chunk_changes_shape(c);
    s->reshaped = memcmp(s->d.shape, f->layout->array[0]->view.shape, nshape) != 0;
    if (s->reshaped) { /* all of the chunks are the array then */
        cip_shape_nelem(s->d.ndim, s->d.shape, &nbytes);
        nbytes *= s->d.dtype->itemsize;
    }
    CIP_TRY(cip_bp_make_header(&s->how, nbytes, &s->h, err));
    s->h.options = f->h.options;
    s->h.typesize = f->h.typesize;
    return CIP_OK;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* The metadata section with the shape as it becomes; *fits false: there is no room for it. Nothing
 * is added where it stays as it is. */
static cip_status change_meta(const cip_bp_state *s, cip_buf *out, bool *fits, cip_err *err)
{
    const cip_bp_meta *m = &s->old->meta;
    cip_buf json = { .mem = &s->env->mem };
    *fits = true;
    if (!s->old->numpy || !s->reshaped)
        return CIP_OK;
    cip_status st = cip_bp_numpy_json(s->env, &s->d, &json, err);
    *fits = st == CIP_OK && json.len <= m->room;
    if (*fits)
        st = cip_bp_meta_section(s->env, (cip_bytes){ json.ptr, json.len }, m->sum, m->room, out,
                                 err);
    cip_buf_clear(&json);
    return st;
}

/* Whether header and offsets have the room. */
static bool has_room(cip_bp_state *s)
{
    const cip_bp_file *f = s->old;
    const uint64_t all = (uint64_t)f->h.nchunk + f->h.nspare;
    if (f->h.version != 3)
        return false;
    if (!s->how.offsets)
        return true;
    if ((uint64_t)s->h.nchunk > all || f->h.nchunk == 0 || f->chunks.end != 0)
        return false;
    s->h.nspare = all - (uint64_t)s->h.nchunk;
    return true;
}

static cip_status finish(cip_bp_state *s, cip_buf *meta, cip_err *err)
{
    cip_bp_piece none;
    uint8_t bytes[CIP_BLOSC_HEADER];
    uint64_t k;
    bool fits;
    CIP_TRY(change_meta(s, meta, &fits, err));
    if (cip_chunk_changes_count(s->file.changes) == 0) {
        CIP_TRY(cip_bp_empty_chunk(s, &none, bytes, err));
        s->file.only = &none;
    }
    if (!fits || !has_room(s)) {
        const cip_bp_file *f = s->old;
        cip_segment section = { .io = f->layout->io, .off = f->meta_at, .len = f->meta.len };
        s->file.r->anew = s->file.r->has_tail = true;
        cip_bp_header_write(&s->h, s->file.head);
        meta->len = 0;
        if (f->numpy) {
            CIP_TRY(cip_bp_new_meta(s, meta, err));
            section = (cip_segment){ .ptr = meta->ptr, .len = meta->len };
        }
        s->file.nfree = s->h.nspare;
        return cip_bp_make(&s->file, &section, 0, err);
    }
    cip_bp_header_write(&s->h, s->file.head);
    CIP_TRY(cip_bp_find_tail(&s->file, &k, err));
    return cip_bp_change(&s->file, k, (cip_bytes){ meta->ptr, meta->len }, err);
}

cip_status cip_bp_update_finish(cip_bp_state *s, cip_revision *r, cip_err *err)
{
    cip_buf meta = { .mem = &s->env->mem };
    cip_bp_old old;
    r->patch.old_len = r->patch.new_len = s->old->layout->io->size;
    if (s->file.changes == NULL)
        return CIP_OK;
    cip_status st = cip_bp_old_open(s->old, &old, err);
    s->file.r = r;
    s->file.old = &old;
    s->file.n = (uint64_t)s->h.nchunk;
    s->file.sum = s->how.sum;
    s->file.offsets = s->how.offsets;
    if (st == CIP_OK)
        st = finish(s, &meta, err);
    cip_buf_clear(&meta);
    cip_bp_old_clear(&old);
    return st;
}
