/* SPDX-License-Identifier: BSD-3-Clause
 * Changed blocks of 0.1 that have an encoding chain: all their data go through it again, arguments
 * as the file has them. */
#include <string.h>

#include "base/num.h"
#include "format/asdf/asdf_store.h"

enum { FINE_BITS_32 = 32, FINE_BITS_64 = 53 };

bool cip_asdf_update_is_chained(const asdf_state *u, const asdf_ublock *b)
{
    return b->chain_of >= 0 || u->given != NULL;
}

cip_status cip_asdf_update_take_chain(asdf_state *u, cip_err *err)
{
    asdf_chain *c;
    const char *encode = cip_option_given(u->spec.option, ASDF_OPTION_ENCODE);
    if (encode == NULL)
        return CIP_OK;
    if (u->n != 0 && (u->b[0].head.form->known_flags & ASDF_ENCODED) == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a file of ASDF 0.1 in layout B for an encoding chain");
    CIP_TRY(CIP_ARENA_NEW(u->arena, &c, 1, err));
    CIP_TRY(cip_asdf_chain_given(u->env, u->arena, encode, c, err));
    u->given = c;
    return CIP_OK;
}

/* --- the chain -------------------------------------------------------------------------------- */

static cip_status find_chain(asdf_state *u, const asdf_ublock *b, asdf_chain *out, cip_err *err)
{
    cip_bytes text;
    if (u->given != NULL) {
        *out = *u->given;
    } else {
        CIP_TRY(cip_asdf_chain_stored(u->f, &u->f->blocks.at[b->chain_of], u->arena, &text, err));
        CIP_TRY(cip_asdf_chain_read(u->env, u->arena, text, out, err));
    }
    /* A chain of another writer need not say how fine its steps are: they become as fine as makes
     * no difference to most values, instead of some that nobody chose. */
    for (size_t i = 0; u->given == NULL && i < out->n; i++) {
        asdf_step *s = &out->step[i];
        if (s->kind != ASDF_STEP_QUANTIZE || cip_map_get(s->args, "quality") != NULL ||
            cip_map_get(s->args, "bits") != NULL)
            continue;
        s->quality = 0;
        s->bits = s->dtype == 32 ? FINE_BITS_32 : FINE_BITS_64;
    }
    if (cip_asdf_chain_is_lossy(out) && !u->spec.accept_loss)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the chain quantizes: all values of the block would change again; accept "
                        "that with .accept_loss");
    return CIP_OK;
}

/* --- the array -------------------------------------------------------------------------------- */

static bool has_nbytes(int32_t ndim, const int64_t *shape, uint64_t each, uint64_t nbytes)
{
    uint64_t n;
    return cip_shape_nelem(ndim, shape, &n) && !cip_mul_overflow(n, each, &n) && n == nbytes;
}

/* An array whose elements are all of the block. */
static const cip_array *owner(const asdf_state *u, size_t block, uint64_t nbytes)
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

static cip_status opaque(asdf_state *u, uint64_t itemsize, const cip_dtype **out, cip_err *err)
{
    cip_dtype *d;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &d, 1, err));
    *d = (cip_dtype){ .kind = CIP_OPAQUE, .itemsize = itemsize, .name = "bytes" };
    *out = d;
    return CIP_OK;
}

/* What the block's own chain says of the array, as long as the block is as long as it was. *found:
 * its steps say all, and the same. Floats have the byte order that they are decoded in. */
static cip_status told(asdf_state *u, const asdf_ublock *b, const asdf_chain *c, asdf_encoded *of,
                       bool *found, cip_err *err)
{
    const asdf_step *first = NULL;
    const cip_dtype *type = NULL;
    bool big = u->f->user != NULL && u->f->user[b->chain_of]->hint.big;
    for (size_t i = 0; i < c->n && c->step[i].kind != ASDF_STEP_CODEC; i++) {
        const asdf_step *s = &c->step[i];
        uint64_t before = type != NULL ? type->itemsize : 0;
        first = first != NULL ? first : s;
        if (s->kind == ASDF_STEP_TILE)
            CIP_TRY(opaque(u, s->item_size, &type, err));
        else
            type = s->dtype == 0 ? NULL : cip_dtype_fixed(s->dtype == 64 ? CIP_F64 : CIP_F32, big);
        if (type == NULL) /* quantize does not say */
            return CIP_OK;
        if (before != 0 && before != type->itemsize)
            return CIP_OK;
    }
    if (first == NULL || !first->has_original || type->itemsize == 0 ||
        !has_nbytes(first->original_ndim, first->original, type->itemsize, b->raw_len))
        return CIP_OK;
    *of = (asdf_encoded){ first->original_ndim, first->original, type };
    *found = true;
    return CIP_OK;
}

/* `c`: lives as long as *of. */
static cip_status find_array(asdf_state *u, size_t block, const asdf_chain *c, asdf_encoded *of,
                             cip_err *err)
{
    const asdf_ublock *b = &u->b[block];
    const cip_array *a = b->array;
    bool found = false;
    if (a != NULL && has_nbytes(a->view.ndim, b->shape, a->dtype->itemsize, b->raw_len)) {
        *of = (asdf_encoded){ a->view.ndim, b->shape, a->dtype };
        return CIP_OK;
    }
    if (u->given == NULL)
        CIP_TRY(told(u, b, c, of, &found, err));
    if (found)
        return CIP_OK;
    a = owner(u, block, b->raw_len);
    if (a != NULL) {
        *of = (asdf_encoded){ a->view.ndim, a->view.shape, a->dtype };
        return CIP_OK;
    }
    int64_t *shape; /* of bytes, where nothing says what they are */
    CIP_TRY(CIP_ARENA_NEW(u->arena, &shape, 1, err));
    shape[0] = (int64_t)b->raw_len;
    *of = (asdf_encoded){ .ndim = 1, .shape = shape };
    return opaque(u, 1, &of->dtype, err);
}

/* --- encoding --------------------------------------------------------------------------------- */

cip_status cip_asdf_update_encode_chain(asdf_state *u, size_t block, cip_err *err)
{
    asdf_ublock *b = &u->b[block];
    asdf_chain c;
    asdf_encoded of;
    asdf_blockw w = { .chain = &c, .of = &of };
    CIP_TRY(find_chain(u, b, &c, err));
    CIP_TRY(find_array(u, block, &c, &of, err));
    CIP_TRY(cip_asdf_update_encode_by(u, b, &w, err));
    b->head.flags |= ASDF_ENCODED;
    /* called by the array that has all of its data, or else the first that lies there */
    const cip_array *a = b->array != NULL ? b->array : owner(u, block, b->raw_len);
    for (size_t i = 0; a == NULL && i < u->l->narray; i++)
        a = u->l->array[i]->storage.block == (int64_t)block ? u->l->array[i] : NULL;
    return cip_asdf_tell_worst(&w, a != NULL ? a->path : NULL, u->spec.notes, err);
}
