/* SPDX-License-Identifier: BSD-3-Clause
 * Whether two ways of storing an array are one, and then chunk by chunk: special ones (in runs) and
 * coded ones as they are, the few that are stored otherwise through memory. */
#include "space/chunk_move.h"

#include <string.h>

#include "base/num.h"
#include "codec/checksum/checksum.h"
#include "space/chunk_list.h"
#include "space/chunk_make.h"
#include "space/reader.h"

/* --- the same form ------------------------------------------------------------------------------
 */

static bool same_lengths(int32_t n, const int64_t *a, const int64_t *b)
{
    return a == b || (a != NULL && b != NULL && memcmp(a, b, (size_t)n * sizeof *a) == 0);
}

static bool same_grid(const cip_grid *a, const cip_grid *b)
{
    const int64_t *stored_a = a->stored != NULL ? a->stored : a->chunk,
                  *stored_b = b->stored != NULL ? b->stored : b->chunk;
    return a->itemsize == b->itemsize && a->ndim == b->ndim && a->blocked == b->blocked &&
           same_lengths(a->ndim, a->shape, b->shape) && same_lengths(a->ndim, a->chunk, b->chunk) &&
           same_lengths(a->ndim, stored_a, stored_b) && same_lengths(a->ndim, a->block, b->block);
}

static bool same_steps(const cip_space *s, const cip_array_form *f)
{
    bool same = s->nstep == f->nstep;
    for (uint8_t k = 0; same && k < f->nstep; k++)
        same = s->step[k].codec == f->step[k].codec && s->step[k].args == f->step[k].args &&
               f->step[k].level == 0;
    return same;
}

/* Linear chunks: all but the last of one length. */
static bool same_cut(const cip_space *s, const cip_array_form *f)
{
    uint64_t each = cip_min_u64(cip_form_chunk_nbytes(f), s->len), n;
    if (s->len == 0)
        return f->chunk_nbytes != 0;
    return each != 0 && s->table.count(s->table.self, &n, NULL) == CIP_OK &&
           n == cip_div_up(s->len, each) && (n == 1 || s->table.raw_each == each);
}

bool cip_chunks_are(const cip_space *s, const cip_array_form *f)
{
    if (s->kind == CIP_SPACE_GRID)
        return f->grid != NULL && same_grid(s->grid, f->grid);
    return s->kind == CIP_SPACE_CHUNKED && f->grid == NULL && s->in_order == NULL && same_cut(s, f);
}

static bool same_form(const cip_chunk_list *l, const cip_array_form *f)
{
    const cip_space *s = l->s;
    uint64_t typesize = f->codec_env.typesize != 0 ? f->codec_env.typesize : f->dtype->itemsize;
    if (!cip_dtype_same_bytes(l->array->dtype, f->dtype))
        return false;
    const bool all = s->kind == CIP_SPACE_GRID ? l->own_grid
                                               : s->len != 0 && l->first == 0 && l->end == s->len &&
                                                     cip_view_is_contiguous(&l->view);
    if (!all || !cip_chunks_are(s, f))
        return false;
    return same_steps(s, f) && s->codec_env.typesize == typesize;
}

/* --- one chunk ----------------------------------------------------------------------------------
 */

typedef struct move {
    const cip_chunk_mover *m;
    const cip_chunk_list *l;
    cip_chunk_maker maker;
    cip_chunk_work work;
    uint8_t *buf; /* of stored or decoded bytes, cap of them */
    size_t cap;
} move;

static cip_status get_buffer(move *v, uint64_t n, cip_err *err)
{
    size_t len;
    if (!cip_to_size(n, &len))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a chunk of %" PRIu64 " bytes", n);
    if (len <= v->cap && v->buf != NULL)
        return CIP_OK;
    CIP_TRY(cip_mem_resize(&v->m->env->mem, (void **)&v->buf, len, err));
    v->cap = len;
    return CIP_OK;
}

/* Whether the form has what the chunk is; a chunk without values may be any of the others. */
static bool special_stays(const move *v, cip_chunk *c)
{
    const cip_array_form *f = v->m->form;
    bool zero = (f->specials & CIP_FORM_SPECIAL(CIP_CHUNK_ZERO)) != 0;
    if (c->state == CIP_CHUNK_UNINIT && zero &&
        (f->specials & CIP_FORM_SPECIAL(CIP_CHUNK_UNINIT)) == 0)
        c->state = CIP_CHUNK_ZERO;
    if (c->state == CIP_CHUNK_DATA || c->state == CIP_CHUNK_MISSING ||
        (f->specials & CIP_FORM_SPECIAL(c->state)) == 0)
        return false;
    if (c->state == CIP_CHUNK_VALUE)
        return c->value_len == f->dtype->itemsize;
    return c->state != CIP_CHUNK_NAN || v->l->s->big == f->dtype->big;
}

/* The stored bytes, without the steps where the chunk came without them. A copy with a sum of its
 * own would hide damage that the chunk's own sum shows. */
static cip_status take_stored(move *v, uint64_t i, const cip_chunk *c, cip_chunk_in *in,
                              cip_err *err)
{
    cip_mem *mem = &v->m->env->mem;
    CIP_TRY(get_buffer(v, c->at.len, err));
    CIP_TRY(cip_chunk_list_stored(&v->m->how, v->l, i, c, v->buf, err));
    in->bytes = (cip_bytes){ v->buf, (size_t)c->at.len };
    in->plain = c->codec == &cip_codec_stored && v->m->form->nstep != 0;
    CIP_TRY(cip_chunk_fail_in(err, cip_chunk_check_sum(mem, c, in->bytes, err), v->l->s, i));
    if (v->m->form->sum_id == CIP_SUM_NONE)
        return CIP_OK;
    return cip_sum_of(mem, (cip_sum_id)v->m->form->sum_id, in->bytes, in->sum, err);
}

static cip_status get_work(move *v, cip_err *err)
{
    cip_mem *mem = &v->m->env->mem;
    for (int k = 0; k < 2; k++)
        if (v->work.encoded[k] == NULL && v->maker.encoded[k] != 0)
            CIP_TRY(cip_mem_get(mem, v->maker.encoded[k], (void **)&v->work.encoded[k], err));
    return CIP_OK;
}

/* Decoded, which leaves its elements as the steps take them, and encoded as the form has it. */
static cip_status make_anew(move *v, uint64_t i, const cip_chunk *c, cip_chunk_in *in, cip_err *err)
{
    CIP_TRY(get_buffer(v, c->raw_len, err));
    CIP_TRY(get_work(v, err));
    CIP_TRY(cip_chunk_list_decode(&v->m->how, v->l, i, c, v->buf, err));
    in->bytes = (cip_bytes){ v->buf, (size_t)c->raw_len };
    return cip_chunk_encode(&v->maker, &v->work, false, in, err);
}

static cip_status move_one(move *v, uint64_t *i, cip_err *err)
{
    cip_chunk c;
    CIP_TRY(cip_chunk_list_at(v->l, *i, &c, err));
    cip_chunk_in in = { .run = 1, .raw_len = c.raw_len };
    bool plain = c.codec == &cip_codec_stored &&
                 (v->m->form->nstep == 0 || (v->m->form->caps & CIP_FORM_PLAIN) != 0);
    if (special_stays(v, &c)) {
        in.state = c.state;
        in.run = c.run;
        in.value = c.state == CIP_CHUNK_VALUE ? c.value : NULL;
    } else if (c.state == CIP_CHUNK_DATA && (c.codec == NULL || plain)) {
        CIP_TRY(take_stored(v, *i, &c, &in, err));
    } else {
        CIP_TRY(make_anew(v, *i, &c, &in, err));
    }
    CIP_TRY(v->m->store(v->m->user, *i, 1, &in, err));
    *i += in.run;
    return v->m->tell != NULL ? v->m->tell(v->m->user, *i, v->l->n, err) : CIP_OK;
}

cip_status cip_chunk_move_may(const cip_chunk_mover *m, bool *may, cip_err *err)
{
    cip_chunk_list l;
    *may = false;
    CIP_TRY(cip_chunk_list_open(m->array, &l, err));
    *may = same_form(&l, m->form);
    return CIP_OK;
}

cip_status cip_chunk_move(const cip_chunk_mover *m, bool *moved, cip_err *err)
{
    cip_status st;
    cip_chunk_list l;
    cip_mem *mem = &m->env->mem;
    move v = { .m = m, .l = &l };
    *moved = false;
    CIP_TRY(cip_chunk_list_open(m->array, &l, err));
    if (!same_form(&l, m->form))
        return CIP_OK;
    *moved = true;
    CIP_GO(cip_chunk_maker_init(&v.maker, mem, m->form,
                                cip_min_u64(cip_form_chunk_nbytes(m->form), l.s->len), err));
    for (uint64_t i = 0; i < l.n;)
        CIP_GO(move_one(&v, &i, err));
    st = CIP_OK;
done:
    cip_mem_put(mem, v.buf);
    cip_mem_put(mem, v.work.encoded[0]);
    cip_mem_put(mem, v.work.encoded[1]);
    return st;
}
