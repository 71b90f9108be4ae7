/* SPDX-License-Identifier: BSD-3-Clause
 * Whether two ways of storing an array are one, and then chunk by chunk: special ones (in runs) and
 * coded ones as they are, the few that are stored otherwise through memory. */
#include "space/make/chunk_move.h"

#include <string.h>

#include "base/num.h"
#include "codec/checksum/checksum.h"
#include "space/read/chunk_list.h"
#include "space/read/grid.h"
#include "space/make/chunk_make.h"
#include "space/read/reader.h"

/* --- the same form ---------------------------------------------------------------------------- */

static bool same_lengths(int32_t n, const int64_t *a, const int64_t *b)
{
    return a == b || (a != NULL && b != NULL && cip_same_lengths(n, a, b));
}

static const int64_t *stored_of(const cip_grid *g)
{
    return g->stored != NULL ? g->stored : g->chunk;
}

/* Blocks are runs of the chunk when all axes behind the first that they do not cut to a length of
 * one are whole. Padding would lie between them. */
bool cip_grid_is_in_order(const cip_grid *g)
{
    bool whole = false;
    if (!cip_same_lengths(g->ndim, stored_of(g), g->chunk) || (g->blocked && g->block == NULL))
        return false;
    for (int32_t k = 0; g->blocked && k < g->ndim; k++) {
        if (whole && g->block[k] != g->chunk[k])
            return false;
        whole = whole || g->block[k] != 1;
    }
    return true;
}

static bool same_grid(const cip_grid *a, const cip_grid *b)
{
    return a->itemsize == b->itemsize && a->ndim == b->ndim &&
           same_lengths(a->ndim, a->shape, b->shape) && same_lengths(a->ndim, a->chunk, b->chunk) &&
           ((a->blocked == b->blocked && same_lengths(a->ndim, stored_of(a), stored_of(b)) &&
             same_lengths(a->ndim, a->block, b->block)) ||
            (a->blocked != b->blocked && cip_grid_is_in_order(a) && cip_grid_is_in_order(b)));
}

/* Linear chunks of the first `len` bytes: all but the last of one length. */
static bool same_cut(const cip_space *s, uint64_t len, const cip_array_form *f)
{
    uint64_t each = cip_min_u64(cip_form_chunk_nbytes(f), len), n;
    if (len == 0)
        return f->chunk_nbytes != 0;
    return each != 0 && s->table.count(s->table.self, &n, NULL) == CIP_OK &&
           n == cip_div_up(len, each) && (n == 1 || s->table.raw_each == each);
}

bool cip_chunks_are(const cip_space *s, uint64_t len, const cip_array_form *f)
{
    if (s->kind == CIP_SPACE_GRID)
        return f->grid != NULL && same_grid(s->grid, f->grid);
    return s->kind == CIP_SPACE_CHUNKED && f->grid == NULL && s->in_order == NULL &&
           same_cut(s, len, f);
}

static bool same_steps(const cip_space *s, const cip_array_form *f)
{
    const uint64_t typesize =
        f->codec_env.typesize != 0 ? f->codec_env.typesize : f->dtype->itemsize;
    bool same = s->nstep == f->nstep && s->codec_env.typesize == typesize;
    for (uint8_t k = 0; same && k < f->nstep; k++)
        same = s->step[k].codec == f->step[k].codec && s->step[k].args == f->step[k].args &&
               f->step[k].level == 0;
    return same;
}

/* Whether stored bytes that begin so may be the form's, as far as its codec judges each chunk. */
static bool takes(const cip_form_step *s, cip_bytes head, const cip_chunk *c)
{
    return s->codec->takes == NULL || s->codec->takes(s->args, head, c->at.len, c->raw_len);
}

/* The first chunk with data; *c is that of another state where the first LOOK entries have none. */
static bool first_data(const cip_chunk_list *l, cip_chunk *c)
{
    enum { LOOK = 1 << 12 };
    uint64_t i = 0;
    for (int n = 0; n < LOOK && i < l->n; n++) {
        if (cip_chunk_list_at(l, i, c, NULL) != CIP_OK)
            return false;
        if (c->state == CIP_CHUNK_DATA || c->state == CIP_CHUNK_MISSING)
            return true;
        i += c->run;
    }
    return l->n != 0;
}

/* One codec that judges each chunk, and takes the first with data: the others are taken to be
 * alike. `none`: the answer where none has any. */
static bool takes_first(const cip_chunk_list *l, const cip_form_step *step, bool none)
{
    const cip_read_how how = { l->array->layout, NULL };
    uint8_t head[CIP_CODER_HEAD];
    cip_chunk c;
    if (l->s->nstep != 1 || l->s->step[0].codec != step->codec || step->codec->takes == NULL ||
        step->level != 0 || !first_data(l, &c))
        return false;
    if (c.state != CIP_CHUNK_DATA || c.codec != NULL)
        return none && c.state != CIP_CHUNK_DATA && c.state != CIP_CHUNK_MISSING;
    const size_t n = (size_t)cip_min_u64(sizeof head, c.at.len);
    return cip_space_read_at(&how, c.at.in, c.at.off, head, n, NULL) == CIP_OK &&
           takes(step, (cip_bytes){ head, n }, &c);
}

/* Whether the array is all that its chunks hold; linear ones may hold more behind it. */
static bool is_whole(const cip_chunk_list *l)
{
    return l->s->kind == CIP_SPACE_GRID
               ? l->own_grid
               : l->first == 0 && l->end != 0 && cip_view_is_contiguous(&l->view);
}

static bool same_form(const cip_chunk_list *l, const cip_array_form *f)
{
    return cip_dtype_same_bytes(l->array->dtype, f->dtype) && is_whole(l) &&
           cip_chunks_are(l->s, l->end, f) &&
           (same_steps(l->s, f) ||
            (f->nstep == 1 && takes_first(l, &f->step[0], f->specials != 0)));
}

uint64_t cip_chunk_nbytes_taken(const cip_array *a, const cip_form_step *step)
{
    cip_chunk_list l;
    bool taken = cip_chunk_list_open(a, &l, NULL) == CIP_OK && l.s->kind == CIP_SPACE_CHUNKED &&
                 is_whole(&l) && takes_first(&l, step, false);
    return !taken ? 0 : l.s->table.raw_each != 0 || l.n != 1 ? l.s->table.raw_each : l.end;
}

bool cip_chunk_first_head(const cip_array *a, const cip_codec *codec, uint8_t *head, size_t *n)
{
    const cip_read_how how = { a->layout, NULL };
    cip_chunk_list l;
    cip_chunk c;
    if (cip_chunk_list_open(a, &l, NULL) != CIP_OK || !is_whole(&l) || l.s->nstep != 1 ||
        l.s->step[0].codec != codec || !first_data(&l, &c) || c.state != CIP_CHUNK_DATA ||
        c.codec != NULL)
        return false;
    *n = (size_t)cip_min_u64(CIP_CODER_HEAD, c.at.len);
    return cip_space_read_at(&how, c.at.in, c.at.off, head, *n, NULL) == CIP_OK;
}

const cip_grid *cip_chunk_grid(const cip_array *a)
{
    cip_chunk_list l;
    const bool whole =
        cip_chunk_list_open(a, &l, NULL) == CIP_OK && l.s->kind == CIP_SPACE_GRID && is_whole(&l);
    return whole ? l.s->grid : NULL;
}

/* --- one chunk -------------------------------------------------------------------------------- */

typedef struct bytes {
    uint8_t *ptr;
    size_t cap;
} bytes;

typedef struct move {
    const cip_chunk_mover *m;
    const cip_chunk_list *l;
    cip_chunk_maker maker;
    cip_chunk_work work;
    bytes buf;     /* stored or decoded ones */
    bytes recast;  /* stored ones in another version of the codec */
    uint64_t each; /* decoded bytes of each linear chunk but the last; 0 of n-d ones */
} move;

static cip_status get_buffer(const move *v, bytes *b, uint64_t n, cip_err *err)
{
    size_t len;
    if (!cip_to_size(n, &len))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a chunk of %" PRIu64 " bytes", n);
    if (len <= b->cap && b->ptr != NULL)
        return CIP_OK;
    CIP_TRY(cip_mem_resize(&v->m->env->mem, (void **)&b->ptr, len, err));
    b->cap = len;
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
        return c->value_len == f->dtype->itemsize &&
               (f->value == NULL || memcmp(c->value, f->value, c->value_len) == 0);
    return c->state != CIP_CHUNK_NAN || v->l->s->big == f->dtype->big;
}

/* The stored bytes, without the steps where the chunk came without them. A copy with a sum of its
 * own would hide damage that the chunk's own sum shows. *taken false: they are no chunk of the
 * form. */
static cip_status take_stored(move *v, uint64_t i, const cip_chunk *c, cip_chunk_in *in,
                              bool *taken, cip_err *err)
{
    cip_mem *mem = &v->m->env->mem;
    CIP_TRY(get_buffer(v, &v->buf, c->at.len, err));
    CIP_TRY(cip_chunk_list_stored(&v->m->how, v->l, i, c, v->buf.ptr, err));
    in->bytes = (cip_bytes){ v->buf.ptr, (size_t)c->at.len };
    in->plain = c->codec == &cip_codec_stored && v->m->form->nstep != 0;
    CIP_TRY(cip_chunk_fail_in(err, cip_chunk_check_sum(mem, c, in->bytes, err), v->l->s, i));
    *taken =
        c->codec != NULL || v->m->form->nstep == 0 || takes(&v->m->form->step[0], in->bytes, c);
    const cip_form_step *step = &v->m->form->step[0];
    if (*taken && c->codec == NULL && v->m->form->nstep == 1 && step->codec->recast != NULL) {
        cip_dst other = { NULL, 0, 0 };
        cip_recast became = step->codec->recast(step->args, in->bytes, &other);
        if (became == CIP_RECAST_NOT) { /* perhaps for want of room, which most need not have */
            CIP_TRY(get_buffer(v, &v->recast, c->at.len + CIP_RECAST_MORE, err));
            other = (cip_dst){ v->recast.ptr, v->recast.cap, 0 };
            became = step->codec->recast(step->args, in->bytes, &other);
        }
        *taken = became != CIP_RECAST_NOT;
        if (became == CIP_RECAST_MADE)
            in->bytes = (cip_bytes){ other.ptr, other.len };
    }
    if (!*taken || v->m->form->sum_id == CIP_SUM_NONE)
        return CIP_OK;
    return cip_sum_of(mem, (cip_sum_id)v->m->form->sum_id, in->bytes, in->sum, err);
}

/* Chunk i; of linear ones the bytes that the form has in it, as which *as_it_is false means to
 * decode: the source has others there, cut short or with more behind the array's end. */
static cip_status chunk_of_form(const move *v, uint64_t i, cip_chunk *c, bool *as_it_is,
                                cip_err *err)
{
    CIP_TRY(cip_chunk_list_at(v->l, i, c, err));
    *as_it_is = true;
    if (v->each == 0 || c->state != CIP_CHUNK_DATA)
        return CIP_OK;
    const uint64_t off = i * v->each, len = cip_min_u64(v->each, v->l->end - off);
    *as_it_is = c->raw_off == off && c->raw_len == len;
    c->raw_off = off;
    c->raw_len = len;
    return CIP_OK;
}

/* Whether the form pads what reaches over the array's edge with zeros, and this chunk does so in a
 * file whose padding may be anything: it is what the array gets when others make it longer. */
static bool is_padded_anew(move *v, uint64_t i)
{
    const cip_grid *from = v->l->s->grid, *to = v->m->form->grid;
    bool edge = false;
    if (to == NULL || !to->blocked || from->blocked)
        return false;
    cip_grid_coord(to, i, v->work.coord);
    for (int32_t k = 0; k < to->ndim; k++) {
        const int64_t left = to->shape[k] - v->work.coord[k] * to->chunk[k];
        v->work.valid[k] = left < to->chunk[k] ? left : to->chunk[k];
        edge = edge || left < to->chunk[k];
    }
    return edge;
}

/* The chunk's elements, encoded as the form has them: those of the array alone (`anew`), or all
 * that is in it, as the steps leave them. */
static cip_status make_one(move *v, uint64_t i, const cip_chunk *c, bool anew, cip_chunk_in *in,
                           cip_err *err)
{
    cip_mem *mem = &v->m->env->mem;
    CIP_TRY(get_buffer(v, &v->buf, c->raw_len, err));
    for (int k = 0; k < 2; k++)
        if (v->work.encoded[k] == NULL && v->maker.encoded[k] != 0)
            CIP_TRY(cip_mem_get(mem, v->maker.encoded[k], (void **)&v->work.encoded[k], err));
    if (anew && v->work.arranged == NULL && v->maker.arranged != 0)
        CIP_TRY(cip_mem_get(mem, v->maker.arranged, (void **)&v->work.arranged, err));
    CIP_TRY(cip_chunk_list_decode(&v->m->how, v->l, i, c, v->buf.ptr, err));
    in->bytes = v->work.raw = (cip_bytes){ v->buf.ptr, (size_t)c->raw_len };
    return anew ? cip_chunk_make(&v->maker, &v->work, false, in, err)
                : cip_chunk_encode(&v->maker, &v->work, false, in, err);
}

static cip_status move_one(move *v, uint64_t *i, cip_err *err)
{
    cip_chunk c;
    bool taken;
    CIP_TRY(chunk_of_form(v, *i, &c, &taken, err));
    cip_chunk_in in = { .run = 1, .raw_len = c.raw_len };
    bool plain = c.codec == &cip_codec_stored &&
                 (v->m->form->nstep == 0 || (v->m->form->caps & CIP_FORM_PLAIN) != 0);
    if (special_stays(v, &c)) {
        in.state = c.state;
        in.run = c.run;
        in.value = c.state == CIP_CHUNK_VALUE ? c.value : NULL;
    } else {
        const bool anew = is_padded_anew(v, *i);
        taken = taken && !anew && c.state == CIP_CHUNK_DATA && (c.codec == NULL || plain);
        if (taken)
            CIP_TRY(take_stored(v, *i, &c, &in, &taken, err));
        if (!taken)
            CIP_TRY(make_one(v, *i, &c, anew, &in, err));
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
    const uint64_t each = cip_min_u64(cip_form_chunk_nbytes(m->form), l.end);
    v.each = m->form->grid == NULL ? each : 0;
    CIP_GO(cip_chunk_maker_init(&v.maker, mem, m->form, each, err));
    for (uint64_t i = 0; i < l.n;)
        CIP_GO(move_one(&v, &i, err));
    st = CIP_OK;
done:
    cip_mem_put(mem, v.buf.ptr);
    cip_mem_put(mem, v.recast.ptr);
    cip_mem_put(mem, v.work.arranged);
    cip_mem_put(mem, v.work.encoded[0]);
    cip_mem_put(mem, v.work.encoded[1]);
    return st;
}
