/* SPDX-License-Identifier: BSD-3-Clause
 * A store of one array in any form: it stores what comes in the fake file and gives it back as a
 * space. */
#include <string.h>

#include "base/num.h"
#include "codec/checksum/checksum.h"
#include "support/fake/fake.h"

/* --- forms ----------------------------------------------------------------------------------- */

static void pick_steps(fake *f, cip_array_form *form)
{
    static const char *const names[] = { "zlib", "lz4", "zstd" };
    const cip_codec *c = cip_codec_find(names[fake_pick(f, 0, 2)]);
    uint8_t *key = fake_random(f, 2);
    cip_form_step codec = { c, NULL, (int)fake_pick(f, 0, 3) }, own = { &fake_key, key, 0 };
    bool coded = cip_codec_available(c) && fake_chance(f, 2);
    if (coded)
        form->step[form->nstep++] = codec;
    if (fake_chance(f, 3))
        form->step[form->nstep++] = own;
    own.args = key + 1;
    if (form->nstep != 0 && fake_chance(f, 4))
        form->step[form->nstep++] = own;
    if (coded && fake_chance(f, 2))
        form->caps |= CIP_FORM_PLAIN;
}

static void pick_linear(fake *f, const cip_dtype *d, cip_array_form *form, uint64_t nbytes)
{
    uint64_t most = nbytes / d->itemsize / 2 + 1;
    form->chunk_nbytes = fake_chance(f, 4) ? UINT64_MAX : fake_pick(f, 1, most) * d->itemsize;
    if (form->chunk_nbytes != UINT64_MAX && fake_chance(f, 4)) /* chunks are of whole elements */
        form->chunk_nbytes += fake_pick(f, 0, d->itemsize - 1);
    if (form->nstep == 0 && form->specials == 0 && form->sum_id == 0 && fake_chance(f, 4))
        form->chunk_nbytes = 0;
}

static void make_room(fake_stored *s)
{
    s->chunk = fake_keep(s->f, (size_t)(s->nbytes + 2) * sizeof *s->chunk);
    s->have = fake_keep(s->f, (size_t)(s->nbytes + 2) * sizeof *s->have);
}

void fake_pick_form(fake *f, const cip_dtype *dtype, int32_t ndim, const int64_t *shape,
                    fake_stored *out)
{
    uint64_t n;
    *out = (fake_stored){ .f = f, .form = { .dtype = dtype } };
    cip_array_form *form = &out->form;
    cip_shape_nelem(ndim, shape, &n);
    out->nbytes = n * dtype->itemsize;
    pick_steps(f, form);
    if (fake_chance(f, 2))
        form->specials = (uint32_t)fake_pick(f, 0, 31) & ~CIP_FORM_SPECIAL(CIP_CHUNK_DATA);
    if (fake_chance(f, 3))
        form->sum_id = CIP_SUM_MD5;
    if (fake_chance(f, 3)) {
        pick_linear(f, dtype, form, out->nbytes);
        bool all = form->chunk_nbytes == 0 || form->chunk_nbytes == UINT64_MAX;
        out->total = all ? 1 : (size_t)cip_div_up(out->nbytes, cip_form_chunk_nbytes(form));
    } else {
        fake_geometry *g = fake_keep(f, sizeof *g);
        fake_plan_grid(f, shape, ndim, (size_t)dtype->itemsize, g);
        out->grid = g;
        out->total = g->total;
        form->grid = &g->g;
    }
    make_room(out);
}

void fake_same_form(fake *f, const fake_stored *like, fake_stored *out)
{
    *out = (fake_stored){
        .f = f, .form = like->form, .grid = like->grid, .nbytes = like->nbytes, .total = like->total
    };
    make_room(out);
}

/* --- storing --------------------------------------------------------------------------------- */

#define EXPECT(what)                                                                               \
    do {                                                                                           \
        if (!(what))                                                                               \
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "chunk %" PRIu64 ": not %s", i,   \
                            #what);                                                                \
    } while (0)

static uint64_t raw_len_of(const fake_stored *s, uint64_t i, const cip_chunk_in *in)
{
    if (s->grid != NULL)
        return fake_chunk_elems(s->grid, (size_t)i) * s->grid->g.itemsize;
    if (s->form.chunk_nbytes == 0)
        return in->raw_len;
    uint64_t each = cip_min_u64(cip_form_chunk_nbytes(&s->form), s->nbytes);
    return cip_min_u64(each, s->nbytes - i * each);
}

static cip_status check_sum(const fake_stored *s, uint64_t i, const cip_chunk_in *in, cip_err *err)
{
    uint8_t found[CIP_SUM_MAX];
    cip_sum *sum;
    if (s->form.sum_id == CIP_SUM_NONE)
        return CIP_OK;
    CIP_TRY(cip_sum_new(&s->f->env.mem, (cip_sum_id)s->form.sum_id, &sum, err));
    cip_sum_add(sum, in->bytes.ptr, in->bytes.len);
    cip_sum_take(sum, found);
    cip_sum_free(sum);
    EXPECT(memcmp(found, in->sum, cip_sum_size((cip_sum_id)s->form.sum_id)) == 0);
    return CIP_OK;
}

static cip_status check_one(const fake_stored *s, uint64_t i, const cip_chunk_in *in, cip_err *err)
{
    const cip_array_form *form = &s->form;
    EXPECT(i < s->total || form->chunk_nbytes == 0);
    EXPECT(!s->have[i]);
    EXPECT(i == s->next || (form->caps & CIP_FORM_ANY_ORDER) != 0);
    EXPECT(in->raw_len == raw_len_of(s, i, in));
    if (in->state != CIP_CHUNK_DATA) {
        EXPECT((form->specials & CIP_FORM_SPECIAL(in->state)) != 0);
        EXPECT((in->value != NULL) == (in->state == CIP_CHUNK_VALUE));
        return CIP_OK;
    }
    EXPECT(in->run == 1);
    EXPECT(!in->plain || (form->caps & CIP_FORM_PLAIN) != 0);
    EXPECT((!in->plain && form->nstep != 0) || in->bytes.len == in->raw_len);
    return check_sum(s, i, in, err);
}

static void keep_one(fake_stored *s, uint64_t i, const cip_chunk_in *in)
{
    cip_chunk *c = &s->chunk[i];
    size_t each = (size_t)s->form.dtype->itemsize;
    *c = (cip_chunk){ .state = in->state,
                      .raw_off = s->grid != NULL ? 0 : s->taken,
                      .raw_len = in->raw_len };
    if (in->state == CIP_CHUNK_VALUE) {
        c->value = memcpy(fake_keep(s->f, each), in->value, each);
        c->value_len = (uint32_t)each;
    }
    if (in->state == CIP_CHUNK_DATA) {
        c->at = (cip_extent){ .in = s->f->layout->file, .len = in->bytes.len };
        c->at.off = fake_append(s->f, in->bytes.ptr, in->bytes.len);
        c->codec = in->plain ? &cip_codec_stored : NULL;
        c->sum_id = s->form.sum_id;
        memcpy(c->sum, in->sum, sizeof c->sum);
    }
    s->nstored++;
    s->nspecial += in->state != CIP_CHUNK_DATA;
    s->have[i] = true;
    s->next = i + 1;
    s->taken += in->raw_len;
}

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    fake_stored *s = state;
    (void)array;
    EXPECT(n != 0);
    for (size_t k = 0; k < n; k++) {
        EXPECT(chunk[k].run != 0);
        for (uint64_t r = 0; r < chunk[k].run; r++, i++) {
            CIP_TRY(check_one(s, i, &chunk[k], err));
            keep_one(s, i, &chunk[k]);
        }
    }
    return CIP_OK;
}

static cip_status end(void *state, size_t array, bool *again, cip_err *err)
{
    fake_stored *s = state;
    (void)array;
    (void)err;
    *again = s->again != 0;
    if (s->again == 0)
        return CIP_OK;
    s->again--;
    s->next = s->taken = s->nstored = s->nspecial = 0;
    memset(s->have, 0, (size_t)s->nbytes + 2);
    return CIP_OK;
}

/* --- updates --------------------------------------------------------------------------------- */

static cip_status form_of(void *state, const cip_array *a, cip_change_kind kind,
                          const int64_t *shape, cip_change_form *out, cip_err *err)
{
    const fake_stored *s = state;
    (void)a;
    (void)kind;
    (void)shape;
    (void)err;
    out->form = s->form;
    return CIP_OK;
}

static void reshape(fake_stored *s, const int64_t *shape)
{
    fake_geometry *g = fake_keep(s->f, sizeof *g);
    *g = *s->grid;
    g->g.shape = g->shape;
    g->g.chunk = g->chunk;
    g->g.stored = g->g.stored != NULL ? g->stored : NULL;
    g->g.block = g->block;
    g->total = 1;
    s->nbytes = g->g.itemsize;
    for (int32_t k = 0; k < g->g.ndim; k++) {
        g->shape[k] = shape[k];
        g->nchunk[k] = (shape[k] + g->chunk[k] - 1) / g->chunk[k];
        g->total *= (size_t)g->nchunk[k];
        s->nbytes *= (uint64_t)shape[k];
    }
    s->grid = g;
    s->form.grid = &g->g;
    s->total = g->total;
}

/* New data as a store would get them. */
static cip_status take_new(fake_stored *s, uint64_t i, const cip_chunk *c, cip_err *err)
{
    cip_chunk_in in = { .state = c->state, .run = 1, .raw_len = c->raw_len };
    in.plain = s->form.nstep != 0 && c->codec == &cip_codec_stored;
    in.value = c->value;
    if (c->state == CIP_CHUNK_DATA) {
        in.bytes = (cip_bytes){ fake_keep(s->f, (size_t)c->at.len), (size_t)c->at.len };
        CIP_TRY(cip_io_read(c->at.in->io, c->at.off, (uint8_t *)in.bytes.ptr, in.bytes.len, err));
        memcpy(in.sum, c->sum, sizeof in.sum);
    }
    CIP_TRY(check_one(s, i, &in, err));
    keep_one(s, i, &in);
    return CIP_OK;
}

static cip_status take_run(fake_stored *s, const fake_stored *was, uint64_t i,
                           const cip_chunk_now *now, cip_err *err)
{
    EXPECT(now->run != 0);
    for (uint64_t k = 0; k < now->run; k++, i++) {
        if (now->from == UINT64_MAX) {
            CIP_TRY(take_new(s, i, &now->chunk, err));
            continue;
        }
        EXPECT(now->from + k < was->nstored && was->have[now->from + k]);
        was->have[now->from + k] = false; /* and by nobody else */
        s->chunk[i] = was->chunk[now->from + k];
        s->chunk[i].raw_off = s->grid != NULL ? 0 : s->taken;
        s->taken += s->chunk[i].raw_len;
        s->have[i] = true;
        s->next = i + 1;
        s->nstored++;
    }
    return CIP_OK;
}

/* What the update makes of the chunks becomes the array. */
static cip_status take_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    fake_stored *s = state, was = *s;
    const uint64_t n = cip_chunk_changes_count(c);
    const int32_t ndim = cip_chunk_changes_array(c)->view.ndim;
    cip_chunk_now now;
    uint64_t i = 0;
    s->nbytes = s->form.dtype->itemsize;
    for (int32_t k = 0; k < ndim; k++)
        s->nbytes *= (uint64_t)cip_chunk_changes_shape(c)[k];
    s->total = (size_t)n;
    if (s->grid != NULL)
        reshape(s, cip_chunk_changes_shape(c));
    EXPECT(n == s->total);
    make_room(s);
    s->next = s->taken = s->nstored = s->nspecial = 0;
    for (; i < n; i += now.run) {
        cip_chunk_changes_at(c, i, &now);
        CIP_TRY(take_run(s, &was, i, &now, err));
    }
    return CIP_OK;
}

const cip_array_store fake_store = {
    .store = store, .end = end, .form = form_of, .chunks = take_chunks
};

/* --- reading it again ------------------------------------------------------------------------ */

cip_space *fake_stored_space(const fake_stored *s)
{
    const cip_array_form *form = &s->form;
    cip_layout *l = s->f->layout;
    cip_step step[CIP_MAX_STEPS];
    cip_table t;
    cip_space *space;
    for (size_t k = 0; k < form->nstep; k++)
        step[k] = (cip_step){ .codec = form->step[k].codec, .args = form->step[k].args };
    FAKE_MUST(cip_table_from_array(l, s->chunk, s->nstored, &t, err));
    if (form->grid != NULL)
        FAKE_MUST(cip_space_new_grid(l, form->grid, &t, step, form->nstep, &space, err));
    else
        FAKE_MUST(cip_space_new_chunked(l, &t, s->nbytes, step, form->nstep, &space, err));
    space->codec_env.typesize = form->dtype->itemsize;
    space->big = form->dtype->big;
    space->label = "fake array";
    return space;
}
