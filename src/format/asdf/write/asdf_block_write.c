/* SPDX-License-Identifier: BSD-3-Clause
 * Writing a block: its header first, without what only its end tells; the payload through encoder
 * and checksum; then the header again. */
#include <string.h>

#include "base/num.h"
#include "format/asdf/write/asdf_write.h"

enum { PREFIX = 6 };

cip_status cip_asdf_piece_header(const asdf_piece *p, uint64_t align, cip_out *out, uint64_t *at,
                                 cip_err *err)
{
    static const uint8_t zeros[256];
    uint8_t head[ASDF_HEADER_LEN];
    const asdf_block_form *form = cip_asdf_form_of(p);
    const size_t known = cip_asdf_header_len(form) + p->extra.len;
    uint64_t pad = (out->n + known) % align;
    pad = pad == 0 ? 0 : align - pad;
    if (form->header_size + p->extra.len + pad > UINT16_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected an alignment that a header of 65535 bytes can give");
    *at = out->n;
    size_t len = cip_asdf_header_bytes(p, (uint16_t)(form->header_size + p->extra.len + pad), head);
    CIP_TRY(cip_out_write(out, head, len, err));
    CIP_TRY(cip_out_write(out, p->extra.ptr, p->extra.len, err));
    for (size_t n; pad != 0; pad -= n) {
        n = (size_t)cip_min_u64(pad, sizeof zeros);
        CIP_TRY(cip_out_write(out, zeros, n, err));
    }
    return CIP_OK;
}

static cip_status put_header(asdf_blockw *b, cip_err *err)
{
    b->head.form = b->form;
    CIP_TRY(cip_asdf_piece_header(&b->head, b->align, b->out, &b->at, err));
    b->header_size = (uint16_t)(b->out->n - b->at - PREFIX);
    return CIP_OK;
}

/* The chain's text, then the line of its stages. */
static cip_status begin_chain(asdf_blockw *b, cip_err *err)
{
    cip_buf text = { .mem = &b->env->mem };
    cip_status st = cip_asdf_chain_text(b->env, b->chain, b->of, &text, err);
    if (st == CIP_OK)
        st = cip_out_write(b->out, text.ptr, text.len, err);
    cip_buf_clear(&text);
    return st != CIP_OK ? st
                        : cip_asdf_chainw_new(b->env, b->chain, b->of, b->how.level, NULL, b->out,
                                              &b->chained, err);
}

cip_status cip_asdf_blockw_begin(asdf_blockw *b, uint32_t flags, cip_err *err)
{
    cip_out *to = b->out;
    if ((flags & ASDF_STREAMED) != 0) {
        CIP_TRY(cip_asdf_packing(NULL, 0, &b->how, err));
        b->sum = ASDF_SUM_NONE;
        b->chain = NULL;
    }
    b->head = (asdf_piece){ .flags = flags | (b->chain != NULL ? ASDF_ENCODED : 0) };
    memcpy(b->head.code, b->how.code, sizeof b->head.code);
    CIP_TRY(put_header(b, err));
    if (b->chain != NULL)
        return begin_chain(b, err);
    if (b->sum == ASDF_SUM_STORED) {
        CIP_TRY(cip_summed_new(b->env, CIP_SUM_MD5, b->out, &b->summed, err));
        to = cip_summed_out(b->summed);
    } else if (b->sum == ASDF_SUM_DECODED) {
        CIP_TRY(cip_sum_new(&b->env->mem, CIP_SUM_MD5, &b->decoded, err));
    }
    CIP_TRY(cip_encoder_new(b->env, b->how.framing, b->how.level, 0, to, &b->enc, err));
    if (b->nbytes != 0)
        cip_encoder_expect(b->enc, b->nbytes);
    return CIP_OK;
}

cip_status cip_asdf_blockw_write(asdf_blockw *b, const void *p, size_t n, cip_err *err)
{
    if (b->decoded != NULL)
        cip_sum_add(b->decoded, p, n);
    return b->chained != NULL ? cip_asdf_chainw_write(b->chained, p, n, err)
                              : cip_encoder_write(b->enc, p, n, err);
}

cip_status cip_asdf_blockw_end(asdf_blockw *b, bool *larger, cip_err *err)
{
    uint8_t head[ASDF_HEADER_LEN];
    CIP_TRY(b->chained != NULL ? cip_asdf_chainw_finish(b->chained, err)
                               : cip_encoder_finish(b->enc, err));
    if (b->summed != NULL)
        CIP_TRY(cip_summed_finish(b->summed, b->head.checksum, err));
    if (b->decoded != NULL)
        cip_sum_take(b->decoded, b->head.checksum);
    b->head.used = b->head.allocated = b->out->n - b->at - PREFIX - b->header_size;
    b->head.data_size =
        b->chained != NULL ? cip_asdf_chainw_raw(b->chained) : cip_encoder_raw(b->enc);
    b->worst = b->chained != NULL ? cip_asdf_chainw_worst(b->chained) : 0;
    *larger = b->how.framing != NULL && b->head.used >= b->head.data_size;
    cip_asdf_blockw_clear(b);
    if ((b->head.flags & ASDF_STREAMED) != 0)
        return CIP_OK;
    size_t len = cip_asdf_header_bytes(&b->head, b->header_size, head);
    return cip_out_rewrite(b->out, b->at, head, len, err);
}

cip_status cip_asdf_blockw_undo(asdf_blockw *b, cip_err *err)
{
    cip_asdf_blockw_clear(b);
    return cip_out_rewind(b->out, b->at, err);
}

void cip_asdf_blockw_clear(asdf_blockw *b)
{
    cip_encoder_free(b->enc);
    cip_asdf_chainw_free(b->chained);
    cip_summed_free(b->summed);
    cip_sum_free(b->decoded);
    b->enc = NULL;
    b->chained = NULL;
    b->summed = NULL;
    b->decoded = NULL;
}
