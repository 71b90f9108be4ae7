/* SPDX-License-Identifier: BSD-3-Clause
 * Changed blocks of 0.1 that have an encoding chain: all their data go through it again, arguments
 * as the file has them. */
#include <string.h>

#include "base/num.h"
#include "format/asdf/asdf_update.h"
#include "format/asdf/asdf_write.h"

enum { PIECE = 1 << 20 };

bool cip_asdf_update_is_chained(const asdf_update *u, const asdf_ublock *b)
{
    return b->chain_of >= 0 || (u->how.encode != NULL && !cip_asdf_is_streamed(&b->head));
}

/* --- the chain ----------------------------------------------------------------------------------
 */

/* The text in front of the block's payload as the file has it. */
static cip_status read_text(asdf_update *u, const asdf_block *b, cip_bytes *out, cip_err *err)
{
    uint8_t *p;
    size_t n = (size_t)cip_min_u64(b->stored, ASDF_CHAIN_TEXT_MAX), len;
    CIP_TRY(cip_arena_get(u->arena, n, (void **)&p, err));
    CIP_TRY(cip_io_read(u->l->io, b->data_off, p, n, err));
    CIP_TRY(cip_asdf_chain_len((cip_bytes){ p, n }, &len, err));
    *out = (cip_bytes){ p, len };
    return CIP_OK;
}

static cip_status find_chain(asdf_update *u, const asdf_ublock *b, asdf_chain *out, cip_err *err)
{
    const char *named = u->how.encode;
    cip_bytes text;
    if ((b->head.form->known_flags & ASDF_ENCODED) == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a file of ASDF 0.1 in layout B for an encoding chain");
    if (named != NULL) {
        CIP_TRY(cip_asdf_chain_given(u->env, u->arena, named, out, err));
    } else {
        CIP_TRY(read_text(u, &u->f->blocks.at[b->chain_of], &text, err));
        CIP_TRY(cip_asdf_chain_read(u->env, u->arena, text, out, err));
    }
    if (cip_asdf_chain_is_lossy(out) && !u->how.accept_loss)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the chain quantizes: all values of the block would change once more; "
                        "accept that with --accept-loss");
    return CIP_OK;
}

/* --- the array ----------------------------------------------------------------------------------
 */

static bool has_nbytes(int32_t ndim, const int64_t *shape, uint64_t each, uint64_t nbytes)
{
    uint64_t n;
    return cip_shape_nelem(ndim, shape, &n) && !cip_mul_overflow(n, each, &n) && n == nbytes;
}

/* An array whose elements are all of the block. */
static const cip_array *owner(const asdf_update *u, size_t block, uint64_t nbytes)
{
    for (size_t i = 0; i < u->l->narray; i++) {
        const cip_array *a = u->l->array[i];
        if (a->st == CIP_OK && a->node != NULL && a->storage.block == (int64_t)block &&
            a->view.off == 0 && cip_view_is_contiguous(&a->view) &&
            has_nbytes(a->view.ndim, a->view.shape, a->dtype->itemsize, nbytes))
            return a;
    }
    return NULL;
}

/* What the chain itself says of the array, where no array of the tree does. */
static cip_status told(asdf_update *u, const asdf_chain *c, uint64_t nbytes, asdf_encoded *of,
                       cip_err *err)
{
    cip_dtype *d;
    int64_t *flat;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &d, 1, err));
    CIP_TRY(CIP_ARENA_NEW(u->arena, &flat, 1, err));
    *d = (cip_dtype){ .kind = CIP_OPAQUE, .itemsize = 1 };
    flat[0] = (int64_t)nbytes;
    *of = (asdf_encoded){ 1, flat, d };
    for (size_t i = 0; i < c->n; i++) {
        const asdf_stage *s = &c->stage[i];
        bool quantize = s->kind == ASDF_STAGE_QUANTIZE;
        uint64_t each = quantize ? (uint64_t)s->dtype / 8 : s->item_size;
        if (!s->has_original || !has_nbytes(s->original_ndim, s->original, each, nbytes))
            continue;
        of->ndim = s->original_ndim;
        of->shape = s->original;
        d->itemsize = each;
        if (quantize)
            d->kind = each == 8 ? CIP_F64 : CIP_F32;
    }
    return CIP_OK;
}

static cip_status find_array(asdf_update *u, size_t block, const asdf_chain *c, asdf_encoded *of,
                             cip_err *err)
{
    const asdf_ublock *b = &u->b[block];
    const uint64_t nbytes = b->raw_len;
    const cip_array *a = b->array;
    if (a != NULL && has_nbytes(a->view.ndim, b->shape, a->dtype->itemsize, nbytes)) {
        *of = (asdf_encoded){ a->view.ndim, b->shape, a->dtype };
        return CIP_OK;
    }
    a = owner(u, block, nbytes);
    if (a == NULL)
        return told(u, c, nbytes, of, err);
    *of = (asdf_encoded){ a->view.ndim, a->view.shape, a->dtype };
    return CIP_OK;
}

/* --- encoding -----------------------------------------------------------------------------------
 */

static cip_status run(asdf_update *u, const asdf_chain *c, const asdf_encoded *of, asdf_ublock *b,
                      cip_out *to, cip_err *err)
{
    cip_status st;
    cip_buf text = { .mem = &u->env->mem };
    asdf_chainw *w = NULL;
    uint8_t *buf = NULL;
    uint64_t piece = PIECE / of->dtype->itemsize * of->dtype->itemsize;
    piece = piece != 0 ? piece : of->dtype->itemsize;
    CIP_GO(cip_asdf_chain_text(u->env, c, of, &text, err));
    CIP_GO(cip_out_write(to, text.ptr, text.len, err));
    CIP_GO(cip_asdf_chainw_new(u->env, c, of, 0, u->l->io->name, to, &w, err));
    CIP_GO(cip_mem_get(&u->env->mem, (size_t)piece, (void **)&buf, err));
    for (uint64_t at = 0; at < b->shadow->size; at += piece) {
        size_t n = (size_t)cip_min_u64(piece, b->shadow->size - at);
        CIP_GO(cip_io_read(b->shadow, at, buf, n, err));
        CIP_GO(cip_asdf_chainw_write(w, buf, n, err));
    }
    CIP_GO(cip_asdf_chainw_finish(w, err));
    b->worst = cip_asdf_chainw_worst(w);
done:
    cip_mem_put(&u->env->mem, buf);
    cip_asdf_chainw_free(w);
    cip_buf_clear(&text);
    return st;
}

cip_status cip_asdf_update_encode_chain(asdf_update *u, size_t block, cip_io **out, cip_err *err)
{
    asdf_ublock *b = &u->b[block];
    asdf_chain c;
    asdf_encoded of;
    cip_io *made;
    CIP_TRY(find_chain(u, b, &c, err));
    CIP_TRY(find_array(u, block, &c, &of, err));
    CIP_TRY(cip_scratch_new(u->env, u->l->io->name, &made, err));
    cip_out to = cip_scratch_out(made);
    cip_status st = run(u, &c, &of, b, &to, err);
    if (st != CIP_OK) {
        cip_io_close(made);
        return st;
    }
    b->head.flags |= ASDF_ENCODED;
    if (cip_asdf_chain_is_lossy(&c) && u->how.notes != NULL)
        cip_asdf_tell_worst(u->how.notes, NULL, b->worst);
    *out = made;
    return CIP_OK;
}
