/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks of other files that become payloads of `blsc` and `bls2` as they are stored: of Blosc1
 * their blocks, of Blosc2 all of them. */
#include <string.h>

#include "base/num.h"
#include "codec/blosc/blosc_join.h"
#include "format/asdf/write/asdf_write.h"
#include "format/blosc2/blosc2.h"
#include "space/read/chunk_list.h"
#include "space/make/chunk_move.h"

/* The head of the first chunk of an array that lies in linear chunks of Blosc. */
static bool first_head(const cip_array *a, cip_blosc_head *h)
{
    const cip_read_how how = { a->layout, NULL };
    uint8_t head[CIP_BLOSC_HEADER];
    cip_chunk_list l;
    cip_chunk c;
    if (cip_chunk_list_open(a, &l, NULL) != CIP_OK || l.s->kind != CIP_SPACE_CHUNKED || l.n == 0 ||
        l.s->nstep != 1 || l.s->step[0].codec != &cip_codec_blosc ||
        cip_chunk_list_at(&l, 0, &c, NULL) != CIP_OK || c.state != CIP_CHUNK_DATA ||
        c.codec != NULL)
        return false;
    const size_t n = (size_t)cip_min_u64(sizeof head, c.at.len);
    return cip_space_read_at(&how, c.at.in, c.at.off, head, n, NULL) == CIP_OK &&
           cip_blosc_head_parse((cip_bytes){ head, n }, h, NULL) == CIP_OK;
}

/* Chunks of whole blocks, all alike. */
static cip_status take_blsc(const asdf_blosc_taking *t, asdf_packing *p, cip_array_form *form,
                            cip_err *err)
{
    const uint64_t nbytes = t->nbytes;
    cip_blosc_head h;
    cip_blosc_spec like, *spec;
    if (nbytes > CIP_BLOSC_MAX_NBYTES || !first_head(t->source, &h) ||
        !cip_blosc_join_like(&h, nbytes, &like))
        return CIP_OK;
    const cip_form_step step = { .codec = &cip_codec_blosc, .args = &like };
    const uint64_t each = cip_chunk_nbytes_taken(t->source, &step);
    if (each == 0 || (each < nbytes && each % like.blocksize != 0))
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(t->arena, &spec, 1, err));
    *spec = like;
    form->chunk_nbytes = each;
    form->step[0] = (cip_form_step){ .codec = &cip_codec_blosc, .args = spec };
    form->nstep = 1;
    form->caps = CIP_FORM_TAKES;
    p->blosc = like;
    p->source = t->source;
    return CIP_OK;
}

static cip_status drop(void *user, const void *ptr, size_t n, cip_err *err)
{
    (void)user, (void)ptr, (void)n, (void)err;
    return CIP_OK;
}

/* Linear chunks of a frame, or of one in a block. */
static cip_status take_bls2(const asdf_blosc_taking *t, asdf_packing *p, cip_array_form *form,
                            cip_err *err)
{
    cip_out out = { .write = drop };
    cip_array_form of = { .dtype = NULL };
    void *state = NULL;
    if (p->typesize == 0 || t->nbytes % p->typesize != 0)
        return CIP_OK;
    const cip_b2_nested n = { .env = t->env,
                              .source = t->source,
                              .typesize = p->typesize,
                              .nitem = t->nbytes / p->typesize };
    CIP_TRY(cip_b2_nested_begin(&n, t->arena, &out, &of, &state, err));
    if (cip_chunk_nbytes_taken(t->source, &of.step[0]) != 0) {
        of.dtype = form->dtype;
        *form = of;
        p->blosc.typesize = (uint32_t)p->typesize;
        p->source = t->source;
    }
    cip_b2_nested_clear(state);
    return CIP_OK;
}

cip_status cip_asdf_blosc_take(const asdf_blosc_taking *t, asdf_packing *p, cip_array_form *form,
                               cip_err *err)
{
    if (p->named || t->nbytes == 0)
        return CIP_OK;
    return p->blosc.blosc1 ? take_blsc(t, p, form, err) : take_bls2(t, p, form, err);
}
