/* SPDX-License-Identifier: BSD-3-Clause
 * What is stored of a block after an update. Rows that were added to a block of `lz4` become chunks
 * behind the old ones; other codecs' blocks are encoded anew (`lz4f` and `zstd` too, as others read
 * but the first frame). */
#include "format/asdf/update/asdf_update.h"

#include <string.h>

#include "base/num.h"
#include "codec/checksum/checksum.h"

enum { PIECE = 1 << 20 };

/* --- checksums
 * ---------------------------------------------------------------------------------------- */

/* The one that the options want; where they say nothing, one where there was one. */
static cip_status wanted_sum(const asdf_update *u, const asdf_ublock *b, asdf_sum *out,
                             cip_err *err)
{
    static const uint8_t none[ASDF_CHECKSUM_LEN] = { 0 };
    const char *want = u->how.checksum;
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

static int to_sum_too(void *user, const uint8_t *p, size_t n)
{
    cip_sum_add(user, p, n);
    return 0;
}

/* What is not in the file as it is. */
static cip_segment made_of(const cip_changes *data)
{
    cip_io *io = data->anew != NULL ? data->anew : data->added;
    return (cip_segment){ .io = io, .len = io != NULL ? io->size : 0 };
}

static cip_status sum_segment(const cip_segment *s, cip_sum *sum, cip_err *err)
{
    return s->len == 0 ? CIP_OK : cip_io_each(s->io, s->off, s->len, to_sum, sum, err);
}

/* The decoded bytes: the older convention. */
static cip_status sum_decoded(asdf_update *u, const asdf_ublock *b, cip_sum *sum, cip_err *err)
{
    const cip_read_how how = { u->l, u->env->pool };
    const cip_segment made = made_of(&b->data);
    if (b->data.anew == NULL)
        CIP_TRY(cip_space_stream(&how, b->data.block->data, PIECE, to_sum_too, sum, err));
    return sum_segment(&made, sum, err);
}

static cip_status sum_stored(const asdf_piece *p, cip_sum *sum, cip_err *err)
{
    const cip_segment kept = { .io = p->io, .off = p->off, .len = p->used - p->more.len };
    CIP_TRY(sum_segment(&kept, sum, err));
    return sum_segment(&p->more, sum, err);
}

static cip_status make_sum(asdf_update *u, const asdf_ublock *b, asdf_piece *p, cip_err *err)
{
    asdf_sum kind;
    cip_sum *sum;
    memset(p->checksum, 0, sizeof p->checksum);
    CIP_TRY(wanted_sum(u, b, &kind, err));
    if (kind == ASDF_SUM_NONE)
        return CIP_OK;
    CIP_TRY(cip_sum_new(&u->env->mem, CIP_SUM_MD5, &sum, err));
    bool decoded = kind == ASDF_SUM_DECODED && !cip_asdf_is_raw(&b->head);
    cip_status st = decoded ? sum_decoded(u, b, sum, err) : sum_stored(p, sum, err);
    if (st == CIP_OK)
        cip_sum_take(sum, p->checksum);
    cip_sum_free(sum);
    return st;
}

/* --- encoding
 * ----------------------------------------------------------------------------------------- */

static bool in_chunks(const uint8_t code[4])
{
    return memcmp(code, "lz4", 4) == 0;
}

cip_status cip_asdf_update_encode_by(asdf_update *u, asdf_ublock *b, asdf_blockw *w, cip_err *err)
{
    cip_out to = cip_temporary_out(u->temporary);
    cip_space *data;
    bool larger;
    w->env = u->env;
    w->out = &to;
    w->bare = true;
    w->sum = ASDF_SUM_NONE;
    if (b->data.anew != NULL) /* then it is of all of the payload */
        CIP_TRY(wanted_sum(u, b, &w->sum, err));
    CIP_TRY(cip_space_new_file(u->l, made_of(&b->data).io, &data, err));
    CIP_TRY(cip_asdf_blockw_space(w, u->l, data, &larger, err));
    if (larger && b->data.anew != NULL) {
        memset(b->head.code, 0, sizeof b->head.code);
        return cip_asdf_blockw_undo(w, err);
    }
    b->encoded = (cip_segment){ .io = u->temporary, .off = w->payload, .len = w->head.used };
    b->sum_known = w->sum != ASDF_SUM_NONE; /* a block that becomes a new one may get one yet */
    if (b->sum_known)
        memcpy(b->head.checksum, w->head.checksum, sizeof b->head.checksum);
    return CIP_OK;
}

/* Through the codec that it has: as the options say where they name it, else as it was. */
static cip_status choose_packing(asdf_update *u, size_t block, asdf_packing *how, cip_err *err)
{
    const asdf_ublock *b = &u->b[block];
    const char *name;
    if (cip_asdf_packing_of(&u->how, how, NULL) != CIP_OK ||
        memcmp(how->code, b->head.code, sizeof how->code) != 0) {
        CIP_TRY(cip_asdf_code_name(u->arena, b->head.code, &name, err));
        CIP_TRY(cip_asdf_packing(name, 0, how, err));
        cip_asdf_blosc_like(u->l, &b->head, how);
    }
    how->typesize = b->array != NULL ? b->array->dtype->itemsize : cip_asdf_block_item(u->l, block);
    return CIP_OK;
}

static cip_status encode(asdf_update *u, size_t block, cip_err *err)
{
    asdf_blockw w = { .env = NULL };
    CIP_TRY(choose_packing(u, block, &w.how, err));
    return cip_asdf_update_encode_by(u, &u->b[block], &w, err);
}

cip_status cip_asdf_update_encode(asdf_update *u, size_t block, cip_err *err)
{
    asdf_ublock *b = &u->b[block];
    bool chained = cip_asdf_update_is_chained(u, b), raw = cip_asdf_is_raw(&b->head);
    if (!b->changed || b->encoded.io != NULL)
        return CIP_OK;
    if (chained || (!raw && b->data.added != NULL && !in_chunks(b->head.code)))
        CIP_TRY(cip_changes_make_anew(&b->data, err));
    CIP_TRY(cip_changes_len(&b->data, &b->raw_len, err));
    if (chained)
        return cip_asdf_update_encode_chain(u, block, err);
    return raw || made_of(&b->data).io == NULL ? CIP_OK : encode(u, block, err);
}

asdf_payload cip_asdf_update_payload(const asdf_ublock *b)
{
    asdf_payload p = { .more = b->encoded.io != NULL ? b->encoded : made_of(&b->data) };
    if (b->data.anew == NULL)
        p.kept = b->data.raw ? b->data.kept : b->head.stored;
    p.len = p.kept + p.more.len;
    return p;
}

/* --- the header
 * ------------------------------------------------------------------------------------------ */

cip_status cip_asdf_update_piece(asdf_update *u, size_t block, asdf_piece *out, cip_err *err)
{
    asdf_ublock *b = &u->b[block];
    if (!b->is_new)
        CIP_TRY(cip_asdf_piece_of(u->f, block, u->arena, out, err));
    else
        *out = (asdf_piece){ .form = b->head.form, .flags = b->head.flags };
    if (!b->changed)
        return CIP_OK;
    const asdf_payload p = cip_asdf_update_payload(b);
    CIP_TRY(cip_changes_file(&b->data, &out->io, err));
    out->off = b->head.data_off;
    out->more = p.more;
    out->flags = b->head.flags;
    memcpy(out->code, b->head.code, sizeof out->code);
    memcpy(out->encoding, b->head.encoding, sizeof out->encoding);
    out->used = p.len;
    out->data_size = b->raw_len;
    out->allocated = cip_max_u64(b->is_new ? 0 : b->head.allocated, p.len);
    if (b->sum_known)
        memcpy(out->checksum, b->head.checksum, sizeof out->checksum);
    return b->sum_known || cip_asdf_is_streamed(&b->head) ? CIP_OK : make_sum(u, b, out, err);
}
