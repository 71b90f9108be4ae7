/* SPDX-License-Identifier: BSD-3-Clause
 * Blocks as spaces: what the compression code means, the payload as it is stored and as it decodes.
 */
#include "format/asdf/chain/asdf_chain.h"

#include <stdio.h>
#include <string.h>

#include "codec/codec_app.h"

static bool is_none(const uint8_t code[4])
{
    return memcmp(code, "\0\0\0", 4) == 0;
}

/* A name of up to len bytes from a header, escaped. */
static cip_status plain_name(cip_arena *a, const uint8_t *name, size_t len, const char **out,
                             cip_err *err)
{
    char text[4 * ASDF_ENCODING_LEN + 1];
    size_t n = 0;
    while (len > 4 && name[len - 1] == 0) /* padding */
        len--;
    for (size_t i = 0; i < len; i++) {
        bool plain = name[i] > 0x20 && name[i] < 0x7f && name[i] != '\\';
        n += (size_t)snprintf(text + n, sizeof text - n, plain ? "%c" : "\\x%02x", name[i]);
    }
    return cip_arena_copy(a, text, n, (char **)out, err);
}

cip_status cip_asdf_code_name(cip_arena *a, const uint8_t code[4], const char **out, cip_err *err)
{
    const asdf_codec *codec = cip_asdf_codec_of(code);
    if (codec == NULL && !is_none(code))
        return plain_name(a, code, 4, out, err);
    *out = codec != NULL ? codec->name : "none";
    return CIP_OK;
}

bool cip_asdf_decoded_len(const asdf_block *b, uint64_t *len)
{
    if (b->state != CIP_OK || (cip_asdf_is_streamed(b) && !cip_asdf_is_raw(b)))
        return false;
    *len = cip_asdf_is_raw(b) ? b->stored : b->data_size;
    return true;
}

/* --- decoded spaces ------------------------------------------------------------------------- */

static cip_status new_seq(const asdf_stored *s, uint64_t raw_len, cip_space **out, cip_err *err)
{
    const cip_extent at = { .in = s->bytes, .off = 0, .len = s->bytes->len };
    const cip_step step = { .codec = cip_codec_find(s->codec->codec) };
    return cip_space_new_seq(s->layout, &at, raw_len, &step, out, err);
}

/* A streamed payload says nothing of its decoded length: it is counted. */
static cip_status make_late(void *self, cip_space **out, cip_err *err)
{
    const asdf_stored *s = self;
    uint64_t raw_len = cip_asdf_is_streamed(s->block) ? UINT64_MAX : s->block->data_size;
    if (s->codec->space != NULL)
        return s->codec->space(s, raw_len, out, err);
    CIP_TRY(cip_asdf_count_decoded(s->layout, cip_codec_find(s->codec->codec), s->bytes, UINT64_MAX,
                                   &raw_len, err));
    return new_seq(s, raw_len, out, err);
}

/* A raw payload that may start elsewhere is given once its checksum says that it starts here. */
static cip_status make_checked(void *self, cip_space **out, cip_err *err)
{
    const asdf_stored *s = self;
    const cip_read_how how = { .layout = s->layout };
    uint8_t got[CIP_SUM_MAX];
    CIP_TRY(cip_asdf_md5(&how, s->bytes, NULL, got, err));
    if (memcmp(got, s->block->checksum, ASDF_CHECKSUM_LEN) != 0)
        return cip_fail(err, CIP_ERR_CHECKSUM, s->block->offset + 4,
                        "checksum mismatch of a block that does not end where the next one starts: "
                        "its header or its data are damaged");
    *out = s->bytes;
    return CIP_OK;
}

/* Without a checksum only the usual header_size is believed, and sizes of zero are not: they are
 * those of a streamed block whose flag is gone. */
static cip_status new_checked(asdf_file *f, const asdf_block *b, cip_block *cb, cip_err *err)
{
    asdf_stored *s;
    bool usual = b->header_size == b->form->header_size && b->allocated != 0;
    if (cb->sum_id != CIP_SUM_MD5)
        return usual
                   ? CIP_OK
                   : cip_fail(err, CIP_ERR_CORRUPT, b->offset + 4,
                              "expected a block that ends where the next one starts, found one of "
                              "header_size %d and %" PRIu64
                              " allocated bytes that does not, and no checksum to find its payload",
                              b->header_size, b->allocated);
    CIP_TRY(CIP_ARENA_NEW(&f->layout->arena, &s, 1, err));
    *s = (asdf_stored){ .layout = f->layout, .block = b, .bytes = cb->stored };
    return cip_space_new_lazy(f->layout, make_checked, s, &cb->data, err);
}

/* Why a payload that is all there cannot be decoded. */
static cip_status unreadable(const asdf_codec *codec, const asdf_block *b, const char *name,
                             cip_err *why)
{
    uint64_t at = b->offset + b->form->code;
    if (b->encoding[0] != 0)
        return cip_fail(why, CIP_ERR_UNSUPPORTED, b->offset + b->form->encoding,
                        "expected a block without encoding, found '%s'", name);
    if (codec == NULL && !is_none(b->code))
        return cip_fail(why, CIP_ERR_UNSUPPORTED, at, "expected a known compression, found '%s'",
                        name);
    if (codec != NULL && !cip_codec_available(cip_codec_find(codec->codec)))
        return cip_fail(why, CIP_ERR_UNSUPPORTED, at,
                        "this build has no codec for the compression '%s'", name);
    return CIP_OK;
}

/* --- the list of blocks --------------------------------------------------------------------- */

/* What is tolerated of a block whose data are given all the same. */
static void warn_of_block(cip_env *env, const asdf_block *b, const char *part)
{
    if ((b->flags & ~b->form->known_flags) != 0)
        cip_warn(env, CIP_ERR_UNSUPPORTED, b->offset + b->form->flags, part,
                 "unknown flags 0x%" PRIx32, b->flags);
    if (cip_asdf_is_streamed(b)) {
        if (!cip_asdf_is_raw(b) && !cip_asdf_is_encoded(b))
            cip_warn(env, CIP_ERR_CORRUPT, b->offset + b->form->code, part,
                     "a streamed block with compression; it is decoded up to the file's end");
        return;
    }
    if (cip_asdf_is_raw(b) && b->data_size != b->used)
        cip_warn(env, CIP_ERR_CORRUPT, b->offset + b->form->data_size, part,
                 "expected a data_size of %" PRIu64 ", equal to the used size, found %" PRIu64
                 "; the used bytes are read",
                 b->used, b->data_size);
    if (!b->end_sure)
        cip_warn(env, CIP_ERR_TRUNCATED, b->offset + b->form->allocated, part,
                 "expected %" PRIu64 " allocated bytes, the file ends before", b->allocated);
}

static void fill_info(const asdf_block *b, cip_block *cb)
{
    uint64_t decoded = 0;
    cip_asdf_decoded_len(b, &decoded);
    cb->info.offset = b->offset;
    cb->info.header_nbytes = b->data_off - b->offset;
    cb->info.data_offset = b->data_off;
    cb->info.allocated_nbytes = cip_asdf_is_streamed(b) ? b->stored : b->allocated;
    cb->info.stored_nbytes = b->stored;
    cb->info.decoded_nbytes = decoded;
    cb->info.flags = b->flags;
    cb->info.checksum = "";
    static const uint8_t none[ASDF_CHECKSUM_LEN] = { 0 };
    if (memcmp(b->checksum, none, sizeof none) == 0 || cip_asdf_is_streamed(b))
        return;
    if (b->form->checksum_len != ASDF_CHECKSUM_LEN) { /* half of something: verify looks at it */
        cb->info.checksum = "64-bit";
    } else {
        cb->info.checksum = cip_sum_name(CIP_SUM_MD5);
        cb->sum_id = CIP_SUM_MD5;
    }
    cb->info.checksum_nbytes = (uint32_t)b->form->checksum_len;
    memcpy(cb->info.checksum_value, b->checksum, sizeof b->checksum);
}

/* The decoded space of a block whose header is sound. Any failure but NOMEM is the block's. */
static cip_status make_data(asdf_file *f, size_t i, cip_block *cb, cip_err *err)
{
    cip_layout *l = f->layout;
    const asdf_block *b = &f->blocks.at[i];
    const asdf_codec *codec = cip_asdf_codec_of(b->code);
    const cip_codec_methods *m = cip_app_codec_coded(f->env, b->code);
    asdf_stored *s;
    if (cip_asdf_is_encoded(b))
        return cip_asdf_make_encoded(f, i, cb, err);
    if (m != NULL)
        return cip_asdf_make_coded(f, i, m, cb, err);
    CIP_TRY(unreadable(codec, b, cb->info.codec, err));
    if (codec == NULL) {
        cb->data = cb->stored;
        return b->shifted ? new_checked(f, b, cb, err) : CIP_OK;
    }
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &s, 1, err));
    *s = (asdf_stored){ .layout = l, .block = b, .codec = codec, .bytes = cb->stored };
    if (codec->space == NULL && !cip_asdf_is_streamed(b))
        return new_seq(s, b->data_size, &cb->data, err);
    return cip_space_new_lazy(l, make_late, s, &cb->data, err);
}

static cip_status make_block(asdf_file *f, size_t i, cip_err *err)
{
    cip_layout *l = f->layout;
    asdf_block *b = &f->blocks.at[i];
    cip_block *cb = &l->block[i];
    cip_err why = CIP_ERR_INIT;
    char *label; /* what messages call it: one of another file with that file's name */
    if (l->parent != NULL)
        CIP_TRY(cip_arena_printf(&l->arena, &label, err, "%.40s, block %zu", l->uri, i));
    else
        CIP_TRY(cip_arena_printf(&l->arena, &label, err, "block %zu", i));
    fill_info(b, cb);
    if (b->encoding[0] != 0) /* of layout A */
        CIP_TRY(plain_name(&l->arena, b->encoding, sizeof b->encoding, &cb->info.codec, err));
    else
        CIP_TRY(cip_asdf_code_name(&l->arena, b->code, &cb->info.codec, err));
    CIP_TRY(cip_space_new_sub(l, l->file, b->data_off, b->stored, &cb->stored, err));
    cb->stored->label = label;
    cip_status st = b->state;
    if (st != CIP_OK) {
        cip_asdf_block_judge(b, l->io->size, &why); /* again, for its words */
        cip_warn(f->env, st, why.offset, label, "%s", why.text);
    } else {
        warn_of_block(f->env, b, label);
        st = make_data(f, i, cb, &why);
    }
    if (st == CIP_ERR_NOMEM)
        return cip_err_give(err, &why, st);
    if (st == CIP_OK) {
        cb->data->label = label;
        return CIP_OK;
    }
    cip_err *copy;
    cip_fail_in(&why, st, "%s", label);
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &copy, 1, err));
    *copy = why;
    cb->info.state = st;
    cb->why = copy;
    return CIP_OK;
}

cip_status cip_asdf_make_blocks(asdf_file *f, cip_err *err)
{
    cip_layout *l = f->layout;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &l->block, f->blocks.n, err));
    l->nblock = f->blocks.n;
    for (size_t i = 0; i < l->nblock; i++)
        CIP_TRY(make_block(f, i, err));
    return (l->flags & CIP_OPEN_CHECK) != 0 ? cip_asdf_guard_blocks(f, err) : CIP_OK;
}
