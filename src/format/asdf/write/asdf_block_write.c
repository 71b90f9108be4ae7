/* SPDX-License-Identifier: BSD-3-Clause
 * Writing a block: its header first, without what only its end tells; the payload through encoder
 * (or chain) and checksum; then the header again. */
#include <string.h>

#include "format/asdf/write/asdf_write.h"
#include "io/temporary.h"

cip_status cip_asdf_blockw_begin(asdf_blockw *b, uint32_t flags, cip_err *err)
{
    b->to = b->out;
    if ((flags & ASDF_STREAMED) != 0 || (b->nbytes == 0 && cip_asdf_is_blosc(&b->how)))
        b->how = (asdf_packing){ .codec = NULL };
    if ((flags & ASDF_STREAMED) != 0) {
        b->sum = ASDF_SUM_NONE;
        b->chain = NULL;
    }
    b->head = (asdf_block){ .form = b->form != NULL ? b->form : &cip_asdf_form_1_0,
                            .offset = b->out->n,
                            .flags = flags | (b->chain != NULL ? ASDF_ENCODED : 0),
                            .end_sure = true };
    if (b->how.codec != NULL)
        memcpy(b->head.code, b->how.codec->code, sizeof b->head.code);
    b->in = (cip_out){ .write = cip_asdf_blockw_write, .user = b };
    b->head.header_size = b->head.form->header_size;
    if (!b->bare)
        CIP_TRY(cip_asdf_put_header(&b->head, (cip_bytes){ NULL, 0 }, b->align, b->out, err));
    b->head.data_off = b->out->n;
    if (b->chain != NULL) { /* its text, then the line of its steps */
        cip_buf text = { .mem = &b->env->mem };
        cip_status st = cip_asdf_chain_text(b->env, b->chain, b->of, &text, err);
        if (st == CIP_OK)
            st = cip_out_write(b->out, text.ptr, text.len, err);
        cip_buf_clear(&text);
        CIP_TRY(st);
        return cip_asdf_chainw_new(b->env, b->chain, b->of, b->how.level, b->out, &b->chained, err);
    }
    if (b->sum == ASDF_SUM_STORED) {
        CIP_TRY(cip_summed_new(b->env, CIP_SUM_MD5, b->out, &b->summed, err));
        b->to = cip_summed_out(b->summed);
    } else if (b->sum == ASDF_SUM_DECODED) {
        CIP_TRY(cip_sum_new(&b->env->mem, CIP_SUM_MD5, &b->decoded, err));
    }
    if (cip_asdf_is_blosc(&b->how))
        return cip_asdf_bloscw_new(b->env, &b->how, b->nbytes, &b->blosc, err);
    CIP_TRY(cip_encoder_new(b->env, b->how.framing, b->how.level, 0, b->to, &b->enc, err));
    if (b->nbytes != 0)
        cip_encoder_expect(b->enc, b->nbytes);
    return CIP_OK;
}

/* --- the one of three that takes the bytes ---------------------------------------------------- */

cip_status cip_asdf_blockw_write(void *blockw, const void *p, size_t n, cip_err *err)
{
    asdf_blockw *b = blockw;
    if (b->decoded != NULL)
        cip_sum_add(b->decoded, p, n);
    b->head.data_size += n;
    if (b->chained != NULL)
        CIP_TRY(cip_asdf_chainw_write(b->chained, p, n, err));
    else
        CIP_TRY(b->blosc != NULL ? cip_asdf_bloscw_write(b->blosc, p, n, err)
                                 : cip_encoder_write(b->enc, p, n, err));
    return cip_report_progress(b->told, n) ? cip_report_status(b->told, err) : CIP_OK;
}

cip_status cip_asdf_blockw_chunk(asdf_blockw *b, uint64_t i, const cip_chunk_in *chunk,
                                 cip_err *err)
{
    b->head.data_size += chunk->raw_len * chunk->run;
    return cip_asdf_bloscw_chunk(b->blosc, i, chunk, err);
}

cip_status cip_asdf_blockw_end(asdf_blockw *b, bool *larger, cip_err *err)
{
    uint8_t head[ASDF_HEADER_LEN];
    b->worst = 0;
    if (b->chained != NULL)
        CIP_TRY(cip_asdf_chainw_finish(b->chained, &b->worst, err));
    else
        CIP_TRY(b->blosc != NULL ? cip_asdf_bloscw_finish(b->blosc, b->to, err)
                                 : cip_encoder_finish(b->enc, err));
    if (b->summed != NULL)
        CIP_TRY(cip_summed_finish(b->summed, b->head.checksum, err));
    if (b->decoded != NULL)
        cip_sum_take(b->decoded, b->head.checksum);
    b->head.stored = b->head.used = b->head.allocated = b->out->n - b->head.data_off;
    *larger = cip_asdf_packs(&b->how) && b->head.used >= b->head.data_size;
    cip_asdf_blockw_clear(b);
    if (b->bare || (b->head.flags & ASDF_STREAMED) != 0)
        return CIP_OK;
    size_t len = cip_asdf_header_bytes(&b->head, b->head.header_size, head);
    return cip_out_rewrite(b->out, b->head.offset, head, len, err);
}

cip_status cip_asdf_blockw_undo(asdf_blockw *b, cip_err *err)
{
    cip_asdf_blockw_clear(b);
    return cip_out_rewind(b->out, b->head.offset, err);
}

cip_status cip_asdf_blockw_space(asdf_blockw *b, cip_io *temporary, cip_layout *l, cip_space *data,
                                 bool *larger, cip_err *err)
{
    const cip_read_how how = { l, b->env->pool };
    cip_out out = cip_temporary_out(temporary);
    bool not_smaller = false;
    CIP_TRY(cip_space_resolve(data, &data, err)); /* its length is not known before */
    b->out = &out;
    b->bare = true;
    b->nbytes = data->len;
    cip_status st = cip_asdf_blockw_begin(b, 0, err);
    if (st == CIP_OK)
        st = cip_space_write_out(&how, data, &b->in, err);
    if (st == CIP_OK)
        st = cip_asdf_blockw_end(b, &not_smaller, err);
    if (larger != NULL)
        *larger = not_smaller;
    if (st == CIP_OK && larger != NULL && not_smaller)
        st = cip_asdf_blockw_undo(b, err);
    cip_asdf_blockw_clear(b);
    return st;
}

cip_status cip_asdf_tell_worst(const asdf_blockw *b, const char *path, cip_report *notes,
                               cip_err *err)
{
    if (b->chain == NULL || !cip_asdf_chain_is_lossy(b->chain) || notes == NULL)
        return CIP_OK;
    cip_report_add(notes, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, path,
                   "the largest error of a value is %.9g", b->worst);
    return cip_report_status(notes, err);
}

void cip_asdf_blockw_clear(asdf_blockw *b)
{
    cip_encoder_free(b->enc);
    cip_asdf_bloscw_free(b->blosc);
    cip_asdf_chainw_free(b->chained);
    cip_summed_free(b->summed);
    cip_sum_free(b->decoded);
    b->enc = NULL;
    b->blosc = NULL;
    b->chained = NULL;
    b->summed = NULL;
    b->decoded = NULL;
}
