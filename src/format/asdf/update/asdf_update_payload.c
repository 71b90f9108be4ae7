/* SPDX-License-Identifier: BSD-3-Clause
 * What is stored of a block after an update. Rows that were added to a block of `lz4` become chunks
 * behind the old ones; other codecs' blocks are encoded anew (`lz4f` and `zstd` too, as others read
 * but the first frame). */
#include "format/asdf/update/asdf_update.h"

#include <string.h>

#include "base/num.h"
#include "codec/checksum/checksum.h"
#include "format/asdf/write/asdf_write.h"

enum { PIECE = 1 << 20 };

static cip_status each_of(cip_io *io, cip_piece_fn *fn, void *user, cip_err *err)
{
    return io == NULL ? CIP_OK : cip_io_each(io, 0, io->size, fn, user, err);
}

/* --- encoding
 * ----------------------------------------------------------------------------------------- */

static bool in_chunks(const uint8_t code[4])
{
    return memcmp(code, "lz4", 4) == 0;
}

static cip_status to_encoder(void *user, const void *p, size_t n, cip_err *err)
{
    return cip_encoder_write(user, p, n, err);
}

static cip_status encode(asdf_update *u, const uint8_t code[4], cip_io *from, cip_io **out,
                         cip_err *err)
{
    cip_status st;
    const char *name;
    asdf_packing how;
    cip_encoder *enc = NULL;
    cip_io *made = NULL;
    CIP_TRY(cip_asdf_code_name(u->arena, code, &name, err));
    bool asked = u->how.codec != NULL && strcmp(u->how.codec, name) == 0;
    CIP_TRY(cip_asdf_packing(name, asked ? u->how.level : 0, &how, err));
    CIP_TRY(cip_temporary_new(u->env, cip_io_path(u->l->io), &made, err));
    cip_out to = cip_temporary_out(made);
    CIP_GO(cip_encoder_new(u->env, how.framing, how.level, 0, &to, &enc, err));
    cip_encoder_expect(enc, from->size);
    CIP_GO(each_of(from, to_encoder, enc, err));
    CIP_GO(cip_encoder_finish(enc, err));
    *out = made;
    made = NULL;
done:
    cip_encoder_free(enc);
    cip_io_close(made);
    return st;
}

/* What is not in the file as it is; NULL: all is. */
static cip_io *made_of(const cip_changes *data)
{
    return data->anew != NULL ? data->anew : data->added;
}

cip_status cip_asdf_update_encode(asdf_update *u, size_t block, cip_err *err)
{
    asdf_ublock *b = &u->b[block];
    bool chained = cip_asdf_update_is_chained(u, b), raw = cip_asdf_is_raw(&b->head);
    if (!b->changed || b->encoded != NULL)
        return CIP_OK;
    if (chained || (!raw && b->data.added != NULL && !in_chunks(b->head.code)))
        CIP_TRY(cip_changes_make_anew(&b->data, err));
    CIP_TRY(cip_changes_len(&b->data, &b->raw_len, err));
    if (chained)
        return cip_asdf_update_encode_chain(u, block, &b->encoded, err);
    if (raw || made_of(&b->data) == NULL)
        return CIP_OK;
    CIP_TRY(encode(u, b->head.code, made_of(&b->data), &b->encoded, err));
    if (b->data.anew == NULL || b->encoded->size < b->data.anew->size)
        return CIP_OK;
    cip_io_close(b->encoded); /* raw is no larger */
    b->encoded = NULL;
    memset(b->head.code, 0, sizeof b->head.code);
    return CIP_OK;
}

asdf_payload cip_asdf_update_payload(const asdf_ublock *b)
{
    asdf_payload p = { .more = b->encoded != NULL ? b->encoded : made_of(&b->data) };
    if (b->data.anew == NULL)
        p.kept = b->data.raw ? b->data.kept : b->head.stored;
    p.len = p.kept + (p.more != NULL ? p.more->size : 0);
    return p;
}

/* --- the header
 * ------------------------------------------------------------------------------------------ */

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

/* The decoded bytes: the older convention. */
static cip_status sum_decoded(asdf_update *u, const asdf_ublock *b, cip_sum *sum, cip_err *err)
{
    const cip_read_how how = { u->l, u->env->pool };
    if (b->data.anew == NULL)
        CIP_TRY(cip_space_stream(&how, b->data.block->data, PIECE, to_sum_too, sum, err));
    return each_of(made_of(&b->data), to_sum, sum, err);
}

static cip_status sum_stored(asdf_ublock *b, cip_sum *sum, cip_err *err)
{
    cip_io *file;
    asdf_payload p = cip_asdf_update_payload(b);
    CIP_TRY(cip_changes_file(&b->data, &file, err));
    CIP_TRY(cip_io_each(file, b->head.data_off, p.kept, to_sum, sum, err));
    return each_of(p.more, to_sum, sum, err);
}

/* A checksum by the options; without any, where there was one. */
static cip_status make_sum(asdf_update *u, asdf_ublock *b, uint8_t out[ASDF_CHECKSUM_LEN],
                           cip_err *err)
{
    static const uint8_t none[ASDF_CHECKSUM_LEN] = { 0 };
    const char *want = u->how.checksum;
    bool none_here = b->head.form->checksum_len != ASDF_CHECKSUM_LEN;
    bool had = b->is_new || b->summed || memcmp(b->head.checksum, none, sizeof none) != 0;
    cip_sum *sum;
    memset(out, 0, ASDF_CHECKSUM_LEN);
    if (none_here && want != NULL && strcmp(want, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "layout %s of ASDF 0.1 has no checksums", b->head.form->name);
    if (none_here)
        return CIP_OK;
    if (want != NULL ? strcmp(want, "none") == 0 : !had)
        return CIP_OK;
    bool decoded = want != NULL && strcmp(want, "legacy") == 0 && !cip_asdf_is_raw(&b->head);
    CIP_TRY(cip_sum_new(&u->env->mem, CIP_SUM_MD5, &sum, err));
    cip_status st = decoded ? sum_decoded(u, b, sum, err) : sum_stored(b, sum, err);
    if (st == CIP_OK)
        cip_sum_take(sum, out);
    cip_sum_free(sum);
    return st;
}

cip_status cip_asdf_update_piece(asdf_update *u, size_t block, asdf_piece *out, cip_err *err)
{
    asdf_ublock *b = &u->b[block];
    if (!b->is_new)
        CIP_TRY(cip_asdf_piece_of(u->f, block, u->arena, out, err));
    else
        *out = (asdf_piece){ .form = b->head.form, .flags = b->head.flags };
    if (!b->changed)
        return CIP_OK;
    asdf_payload p = cip_asdf_update_payload(b);
    out->flags = b->head.flags;
    memcpy(out->code, b->head.code, sizeof out->code);
    memcpy(out->encoding, b->head.encoding, sizeof out->encoding);
    out->used = p.len;
    out->data_size = b->raw_len;
    out->allocated = cip_max_u64(b->is_new ? 0 : b->head.allocated, p.len);
    if (b->as_stored)
        memcpy(out->checksum, b->head.checksum, sizeof out->checksum);
    return cip_asdf_is_streamed(&b->head) || b->as_stored ? CIP_OK
                                                          : make_sum(u, b, out->checksum, err);
}
