/* SPDX-License-Identifier: BSD-3-Clause
 * Block headers: their fields, what to make of them, and finding one where none was promised. */
#include "format/asdf/asdf.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"

const asdf_block_form cip_asdf_form_1_0 = {
    .name = "D",
    .header_size = 48,
    .flags = 6,
    .code = 10,
    .allocated = 14,
    .used = 22,
    .data_size = 30,
    .checksum = 38,
    .checksum_len = ASDF_CHECKSUM_LEN,
    .known_flags = ASDF_STREAMED,
};

const asdf_block_form cip_asdf_form_c = {
    .name = "C",
    .header_size = 40,
    .flags = 6,
    .code = 10,
    .allocated = 14,
    .used = 22,
    .data_size = 30,
    .checksum = 38,
    .checksum_len = 8,
    .known_flags = ASDF_STREAMED,
};

const asdf_block_form cip_asdf_form_b = {
    .name = "B",
    .header_size = 36,
    .flags = 6,
    .allocated = 10,
    .used = 18,
    .data_size = 26,
    .checksum = 34,
    .checksum_len = 8,
    .known_flags = ASDF_STREAMED | ASDF_ENCODED,
};

const asdf_block_form cip_asdf_form_a = {
    .name = "A",
    .header_size = 44,
    .flags = 6,
    .allocated = 10,
    .used = 18,
    .checksum = 26,
    .checksum_len = 8,
    .encoding = 34,
    .known_flags = ASDF_STREAMED,
};

cip_status cip_asdf_block_parse(const asdf_block_form *form, cip_bytes in, uint64_t offset,
                                asdf_block *out, cip_err *err)
{
    const uint8_t *p = in.ptr;
    if (in.len < cip_asdf_header_len(form))
        return cip_fail(err, CIP_ERR_TRUNCATED, offset,
                        "expected a block header of %zu bytes, found %zu",
                        cip_asdf_header_len(form), in.len);
    *out = (asdf_block){
        .form = form,
        .offset = offset,
        .header_size = cip_load_u16(p + 4, true),
        .flags = cip_load_u32(p + form->flags, true),
        .allocated = cip_load_u64(p + form->allocated, true),
        .used = cip_load_u64(p + form->used, true),
    };
    out->data_size = form->data_size != 0 ? cip_load_u64(p + form->data_size, true) : out->used;
    if (form->code != 0)
        memcpy(out->code, p + form->code, sizeof out->code);
    if (form->encoding != 0)
        memcpy(out->encoding, p + form->encoding, sizeof out->encoding);
    memcpy(out->checksum, p + form->checksum, form->checksum_len);
    return CIP_OK;
}

/* A header that lies; the walk goes on behind what can be believed of it. */
static cip_status bad_header(asdf_block *b, cip_status st)
{
    b->state = st;
    b->stored = 0;
    b->end_sure = false;
    return st;
}

const char cip_asdf_used_lies[] = "expected a used size equal to the data_size, found a larger one";

/* Damage that what stands elsewhere in the file tells of. */
static cip_status bad_place(asdf_block *b, uint64_t size, cip_err *err)
{
    const bool used_lies = b->lie == cip_asdf_used_lies;
    const uint64_t len = used_lies ? b->data_size : b->allocated;
    b->data_off = cip_min_u64(b->data_off, size);
    b->end = cip_asdf_is_streamed(b) ? size : b->data_off + cip_min_u64(len, size - b->data_off);
    if (used_lies)
        cip_fail(
            err, CIP_ERR_CORRUPT, b->offset + b->form->used,
            "expected a used size of %" PRIu64
            ", equal to the data_size, because another block or an index follows; found %" PRIu64,
            b->data_size, b->used);
    else
        cip_fail(err, CIP_ERR_CORRUPT, b->offset, "%s", b->lie);
    return bad_header(b, CIP_ERR_CORRUPT);
}

/* A payload that the file does not hold. */
static cip_status cut_short(asdf_block *b, uint64_t size, uint64_t left, cip_err *err)
{
    b->state = CIP_ERR_TRUNCATED;
    b->stored = left;
    b->end = size;
    b->end_sure = true;
    return cip_fail(err, CIP_ERR_TRUNCATED, b->data_off,
                    "expected %" PRIu64 " bytes of the block, found %" PRIu64
                    " up to the file's end",
                    b->used, left);
}

cip_status cip_asdf_block_judge(asdf_block *b, uint64_t size, cip_err *err)
{
    b->data_off = b->end = size;
    b->stored = 0;
    b->end_sure = true;
    b->state = CIP_OK;
    size_t least = cip_asdf_header_len(b->form);
    if (size - b->offset < least) {
        b->state = CIP_ERR_TRUNCATED;
        return cip_fail(err, CIP_ERR_TRUNCATED, b->offset,
                        "expected a block header of %zu bytes, found %" PRIu64, least,
                        size - b->offset);
    }
    b->data_off = b->end = b->offset + least;
    if (b->header_size < b->form->header_size) {
        cip_fail(err, CIP_ERR_CORRUPT, b->offset + 4,
                 "expected a header_size of at least %d, found %d", b->form->header_size,
                 b->header_size);
        return bad_header(b, CIP_ERR_CORRUPT);
    }
    b->data_off = b->offset + 6 + b->header_size;
    if (b->lie != NULL)
        return bad_place(b, size, err);
    if (b->data_off > size) {
        b->data_off = size;
        return cut_short(b, size, 0, err);
    }
    uint64_t left = size - b->data_off;
    b->end = b->data_off;
    if (cip_asdf_is_streamed(b)) {
        b->stored = left;
        b->end = size;
        return CIP_OK;
    }
    if (b->used > b->allocated) {
        b->end += cip_min_u64(b->allocated, left);
        cip_fail(err, CIP_ERR_CORRUPT, b->offset + b->form->used,
                 "expected a used size within the allocated %" PRIu64 ", found %" PRIu64,
                 b->allocated, b->used);
        return bad_header(b, CIP_ERR_CORRUPT);
    }
    if (b->used > left)
        return cut_short(b, size, left, err);
    b->stored = b->used;
    b->end_sure = b->allocated <= left;
    b->end += b->end_sure ? b->allocated : b->used;
    return CIP_OK;
}

bool cip_asdf_block_plausible(const asdf_block *b, uint64_t size)
{
    asdf_block judged = *b;
    cip_status st = cip_asdf_block_judge(&judged, size, NULL);
    if (st != CIP_OK && st != CIP_ERR_TRUNCATED)
        return false;
    if (judged.data_off > size || (b->flags & ~b->form->known_flags) != 0)
        return false;
    for (int i = 0; i < 4; i++)
        if (b->code[i] != 0 && (b->code[i] < 0x20 || b->code[i] > 0x7e))
            return false;
    return cip_asdf_is_streamed(b) || !cip_asdf_is_raw(b) || b->data_size == b->used;
}

bool cip_asdf_believe_form(const void *user, cip_io *io, cip_bytes in, uint64_t at)
{
    asdf_block b;
    return cip_asdf_block_parse(user, in, at, &b, NULL) == CIP_OK &&
           cip_asdf_block_plausible(&b, io->size);
}

bool cip_asdf_believe_marked(const void *user, cip_io *io, cip_bytes in, uint64_t at)
{
    asdf_block b;
    if (cip_asdf_block_parse(user, in, at, &b, NULL) != CIP_OK)
        return false;
    if (cip_asdf_block_plausible(&b, io->size))
        return true;
    if (user != &cip_asdf_form_1_0 || !cip_asdf_is_raw(&b))
        return false;
    asdf_block by_used = b, by_data = b;
    by_used.data_size = b.used;
    by_data.used = b.data_size;
    return cip_asdf_block_plausible(&by_used, io->size) ||
           cip_asdf_block_plausible(&by_data, io->size);
}

const uint8_t *cip_asdf_find_magic(const uint8_t *p, const uint8_t *end)
{
    /* not memmem: sanitizers look at all bytes up to `end` for each magic that it finds */
    for (; (size_t)(end - p) >= ASDF_MAGIC_LEN; p++) {
        p = memchr(p, (uint8_t)ASDF_MAGIC[0], (size_t)(end - p) - (ASDF_MAGIC_LEN - 1));
        if (p == NULL || memcmp(p, ASDF_MAGIC, ASDF_MAGIC_LEN) == 0)
            return p;
    }
    return NULL;
}

/* Whether a believable header starts at `at`; `in`: the bytes from there on that are at hand. */
static cip_status header_at(const asdf_search *s, cip_bytes in, uint64_t at, bool *yes,
                            cip_err *err)
{
    uint8_t head[ASDF_HEADER_LEN];
    if (in.len < sizeof head) { /* only at the end of a piece */
        CIP_TRY(
            cip_space_read_some(s->layout, s->layout->file, at, head, sizeof head, &in.len, err));
        in.ptr = head;
    }
    in.len = in.len < sizeof head ? in.len : sizeof head;
    *yes = s->believe(s->user, s->layout->io, in, at);
    return CIP_OK;
}

/* Looks at the magics of a piece of the file; *at is set when one is believed. */
static cip_status search_piece(const asdf_search *s, cip_bytes piece, uint64_t off, uint64_t *at,
                               cip_err *err)
{
    const uint8_t *p = piece.ptr, *end = piece.ptr + piece.len;
    while ((p = cip_asdf_find_magic(p, end)) != NULL) {
        enum { FLAGS = 6 }; /* of every form; only the lowest of the four bytes has any */
        bool yes;
        cip_bytes rest = { p, (size_t)(end - p) };
        if (rest.len > FLAGS + 2 && (p[FLAGS] | p[FLAGS + 1] | p[FLAGS + 2]) != 0) {
            p++; /* most magics in junk, and cheap */
            continue;
        }
        CIP_TRY(header_at(s, rest, off + (uint64_t)(p - piece.ptr), &yes, err));
        if (yes) {
            *at = off + (uint64_t)(p - piece.ptr);
            return CIP_OK;
        }
        p++;
    }
    return CIP_OK;
}

cip_status cip_asdf_block_search(asdf_search *s, uint64_t from, uint64_t *at, cip_err *err)
{
    enum { FIRST = 4096, PIECE = 1 << 20 };
    cip_io *io = s->layout->io;
    cip_status st = CIP_OK;
    uint8_t *buf = NULL;
    uint64_t found = UINT64_MAX;
    size_t n, want = FIRST; /* padding is mostly short */
    for (;;) {
        from = want == FIRST ? from : cip_io_next_data(io, from); /* zeros are no magic */
        if (from >= io->size || io->size - from <= ASDF_MAGIC_LEN)
            break;
        if (s->left < want) {
            s->stopped = from;
            break;
        }
        CIP_GO(cip_mem_resize(&io->env->mem, (void **)&buf, want, err));
        CIP_GO(cip_space_read_some(s->layout, s->layout->file, from, buf, want, &n, err));
        CIP_GO(search_piece(s, (cip_bytes){ buf, n }, from, &found, err));
        if (found != UINT64_MAX)
            break;
        s->left -= n;
        from += n - (ASDF_MAGIC_LEN - 1);
        want = want * 4 < PIECE ? want * 4 : PIECE; /* so that short gaps cost little */
    }
    *at = found;
done:
    cip_mem_put(&io->env->mem, buf);
    return st;
}
