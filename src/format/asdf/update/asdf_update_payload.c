/* SPDX-License-Identifier: BSD-3-Clause
 * What is stored of a block after an update. Rows that were added to a block of `lz4` become chunks
 * behind the old ones; other codecs' blocks are encoded anew (`lz4f` and `zstd` too, as others read
 * but the first frame). */
#include "format/asdf/asdf_store.h"

#include <string.h>

#include "base/num.h"
#include "codec/checksum/checksum.h"
#include "io/revision_out.h"

/* --- checksums -------------------------------------------------------------------------------- */

/* The one that the options want; where they say nothing, one where there was one. */
static cip_status wanted_sum(const asdf_state *u, const asdf_ublock *b, asdf_sum *out, cip_err *err)
{
    static const uint8_t none[ASDF_CHECKSUM_LEN] = { 0 };
    const char *want = u->spec.checksum;
    bool had = b->is_new || b->summed || memcmp(b->head.checksum, none, sizeof none) != 0;
    CIP_TRY(cip_asdf_sum(want != NULL || had ? want : "none", out, err));
    if (b->head.form->checksum_len != ASDF_CHECKSUM_LEN) {
        if (want != NULL && *out != ASDF_SUM_NONE)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "layout %s of ASDF 0.1 has no checksums", b->head.form->name);
        *out = ASDF_SUM_NONE;
    }
    return CIP_OK;
}

static cip_status to_sum(void *user, const void *p, size_t n, cip_err *err)
{
    (void)err;
    cip_sum_add(user, p, n);
    return CIP_OK;
}

/* Of the stored bytes, or of the decoded ones: the older convention. */
static cip_status make_sum(asdf_state *u, const asdf_ublock *b, asdf_piece *p, cip_err *err)
{
    const cip_read_how how = { u->l, u->env->pool };
    const cip_segment kept = { .io = p->io,
                               .off = p->head.data_off,
                               .len = p->head.used - p->more.len };
    asdf_sum kind;
    cip_sum *sum;
    memset(p->head.checksum, 0, sizeof p->head.checksum);
    CIP_TRY(wanted_sum(u, b, &kind, err));
    if (kind == ASDF_SUM_NONE)
        return CIP_OK;
    CIP_TRY(cip_sum_new(&u->env->mem, CIP_SUM_MD5, &sum, err));
    cip_out out = { .write = to_sum, .user = sum };
    cip_status st;
    if (kind == ASDF_SUM_DECODED && !cip_asdf_is_raw(&b->head)) {
        st = cip_space_write_out(&how, cip_asdf_update_data(u, b), &out, err);
    } else {
        st = cip_out_segment(&out, &kept, err);
        if (st == CIP_OK)
            st = cip_out_segment(&out, &p->more, err);
    }
    if (st == CIP_OK)
        cip_sum_take(sum, p->head.checksum);
    cip_sum_free(sum);
    return st;
}

/* --- encoding --------------------------------------------------------------------------------- */

bool cip_asdf_update_grows(const asdf_state *u, const asdf_ublock *b)
{
    const asdf_codec *codec = cip_asdf_codec_of(b->head.code);
    return codec != NULL && codec->grows && !cip_asdf_update_is_chained(u, b);
}

cip_status cip_asdf_update_encode_by(asdf_state *u, asdf_ublock *b, asdf_blockw *w, cip_err *err)
{
    /* Where the bytes begin that are not stored as they were: all of them are encoded, but for rows
     * that follow the others in pieces of their own. */
    uint64_t kept = b->c != NULL && !b->is_new ? cip_chunk_changes_kept(b->c) : 0;
    if (kept != b->head.data_size || !cip_asdf_update_grows(u, b))
        kept = 0;
    cip_space *data;
    bool larger;
    w->env = u->env;
    w->sum = ASDF_SUM_NONE;
    if (kept == 0) /* then it is of all of the payload */
        CIP_TRY(wanted_sum(u, b, &w->sum, err));
    CIP_TRY(cip_space_resolve(cip_asdf_update_data(u, b), &data, err));
    if (kept != 0)
        CIP_TRY(cip_space_new_sub(u->l, data, kept, b->raw_len - kept, &data, err));
    /* rows stay in pieces of their own, and a streamed block keeps its header */
    const bool may = kept == 0 && !cip_asdf_is_streamed(&b->head);
    CIP_TRY(cip_asdf_blockw_space(w, u->temporary, u->l, data, may ? &larger : NULL, err));
    if (may && larger) {
        memset(b->head.code, 0, sizeof b->head.code);
        return CIP_OK;
    }
    b->grown = kept != 0;
    b->encoded = (cip_segment){ .io = u->temporary, .off = w->head.data_off, .len = w->head.used };
    b->sum_known = w->sum != ASDF_SUM_NONE; /* a block that becomes a new one may get one yet */
    if (b->sum_known)
        memcpy(b->head.checksum, w->head.checksum, sizeof b->head.checksum);
    return CIP_OK;
}

/* Through the codec that it has: as the options say where they name it, else as it was. */
static cip_status choose_packing(asdf_state *u, size_t block, asdf_packing *how, cip_err *err)
{
    const asdf_ublock *b = &u->b[block];
    const char *name;
    if (b->packing != NULL) {
        *how = *b->packing;
        how->source = NULL; /* its chunks are others now */
        return CIP_OK;
    }
    if (cip_asdf_packing_of(&u->spec, how, NULL) != CIP_OK || how->codec == NULL ||
        how->codec != cip_asdf_codec_of(b->head.code)) {
        CIP_TRY(cip_asdf_code_name(u->arena, b->head.code, &name, err));
        CIP_TRY(cip_asdf_packing(name, 0, how, err));
        cip_asdf_blosc_like(u->l, &b->head, how);
    }
    how->typesize = b->array != NULL ? b->array->dtype->itemsize : cip_asdf_block_item(u->l, block);
    return CIP_OK;
}

cip_status cip_asdf_update_encode(asdf_state *u, size_t block, cip_err *err)
{
    asdf_ublock *b = &u->b[block];
    const bool chained = cip_asdf_update_is_chained(u, b);
    asdf_blockw w = { .env = NULL };
    cip_space *data;
    if (!b->changed || b->encoded.io != NULL)
        return CIP_OK;
    if (b->c == NULL && u->l->block[block].data == NULL) {
        cip_err_pass(err, u->l->block[block].why);
        return u->l->block[block].info.state;
    }
    CIP_TRY(cip_space_resolve(cip_asdf_update_data(u, b), &data, err));
    b->raw_len = data->len;
    if (chained)
        return cip_asdf_update_encode_chain(u, block, err);
    if (cip_asdf_is_raw(&b->head) || b->c == NULL)
        return CIP_OK;
    CIP_TRY(choose_packing(u, block, &w.how, err));
    return cip_asdf_update_encode_by(u, b, &w, err);
}

/* Bytes of a raw block that did not change are kept up to the first that did. */
asdf_payload cip_asdf_update_payload(const asdf_ublock *b)
{
    asdf_payload p = { .kept = b->head.stored, .more = b->encoded };
    if (b->encoded.io != NULL) {
        p.kept = b->grown ? b->head.stored : 0;
    } else if (b->c != NULL) {
        p.kept = b->head.data_off != 0 ? cip_chunk_changes_kept(b->c) : 0;
        p.more = (cip_segment){ .io = cip_chunk_changes_io(b->c),
                                .off = p.kept,
                                .len = cip_chunk_changes_count(b->c) - p.kept };
    }
    p.len = p.kept + p.more.len;
    return p;
}

/* --- the header ------------------------------------------------------------------------------- */

cip_status cip_asdf_update_piece(asdf_state *u, size_t block, asdf_piece *out, cip_err *err)
{
    asdf_ublock *b = &u->b[block];
    if (!b->is_new)
        CIP_TRY(cip_asdf_piece_of(u->f, block, u->arena, out, err));
    else
        *out = (asdf_piece){ .io = u->l->io };
    if (!b->changed)
        return CIP_OK;
    const asdf_payload p = cip_asdf_update_payload(b);
    out->head = b->head;
    out->more = p.more;
    out->head.used = p.len;
    out->head.data_size = b->raw_len;
    out->head.allocated = cip_max_u64(b->is_new ? 0 : b->head.allocated, p.len);
    return b->sum_known || cip_asdf_is_streamed(&b->head) ? CIP_OK : make_sum(u, b, out, err);
}
