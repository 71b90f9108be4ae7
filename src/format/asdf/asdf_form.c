/* SPDX-License-Identifier: BSD-3-Clause
 * Which of the block layouts of 0.1 a file has: they share the line "#ASDF 0.1.0" and are told
 * apart by header_size; where that is larger, by what makes sense as sizes. */
#include "format/asdf/asdf.h"

#include <string.h>

enum { BLOCKS_LOOKED_AT = 8, NULS_LOOKED_AT = 64 };

/* In the order in which they are tried. */
static const asdf_block_form *const forms[] = {
    &cip_asdf_form_1_0,
    &cip_asdf_form_c,
    &cip_asdf_form_b,
    &cip_asdf_form_a,
};
enum { NFORM = sizeof forms / sizeof forms[0] };

/* Reads the header at `at` in the form; false when it makes no sense there. */
static bool parse_at(cip_io *io, const asdf_block_form *form, uint64_t at, asdf_block *b)
{
    uint8_t head[ASDF_HEADER_LEN];
    size_t n = 0;
    if (cip_io_read_some(io, at, head, sizeof head, &n, NULL) != CIP_OK || n < ASDF_MAGIC_LEN ||
        memcmp(head, ASDF_MAGIC, ASDF_MAGIC_LEN) != 0)
        return false;
    return cip_asdf_believe_form(form, io, (cip_bytes){ head, n }, at) &&
           cip_asdf_block_parse(form, (cip_bytes){ head, n }, at, b, NULL) == CIP_OK &&
           cip_asdf_block_judge(b, io->size, NULL) == CIP_OK && b->end_sure;
}

/* What may stand behind a block: another, the file's end, NULs, an index. */
typedef enum behind { BEHIND_JUNK, BEHIND_END, BEHIND_BLOCK } behind;

static behind look_behind(cip_io *io, uint64_t at)
{
    static const char index_line[] = "#ASDF BLOCK INDEX";
    uint8_t text[NULS_LOOKED_AT];
    size_t n = 0;
    if (at >= io->size)
        return BEHIND_END;
    if (cip_io_read_some(io, at, text, sizeof text, &n, NULL) != CIP_OK)
        return BEHIND_JUNK;
    if (n >= ASDF_MAGIC_LEN && memcmp(text, ASDF_MAGIC, ASDF_MAGIC_LEN) == 0)
        return BEHIND_BLOCK;
    bool nuls = text[0] == 0 && memcmp(text, text + 1, n - 1) == 0;
    size_t m = sizeof index_line - 1;
    return nuls || memcmp(text, index_line, n < m ? n : m) == 0 ? BEHIND_END : BEHIND_JUNK;
}

/* Whether the first blocks make sense in the form. A failing read is met again by the walk. */
static bool makes_sense(cip_io *io, const asdf_block_form *form, uint64_t at)
{
    behind next = BEHIND_BLOCK;
    for (int i = 0; i < BLOCKS_LOOKED_AT && next == BEHIND_BLOCK; i++) {
        asdf_block b;
        if (!parse_at(io, form, at, &b))
            return false;
        at = b.end;
        next = look_behind(io, at);
    }
    return next != BEHIND_JUNK;
}

static const asdf_block_form *exact(uint16_t header_size)
{
    for (int i = 0; i < NFORM; i++)
        if (forms[i]->header_size == header_size)
            return forms[i];
    return NULL;
}

/* A's fields are B's but for the memory size, which would be a checksum that happens to be the used
 * size: a header of B with 8 bytes more. */
static bool is_b_after_all(cip_io *io, uint64_t at)
{
    asdf_block b;
    return parse_at(io, &cip_asdf_form_b, at, &b) && !cip_asdf_is_streamed(&b) && b.used != 0 &&
           makes_sense(io, &cip_asdf_form_b, at);
}

cip_status cip_asdf_form_find(cip_io *io, uint64_t at, const asdf_block_form **out, cip_err *err)
{
    uint8_t head[6] = { 0 };
    size_t n;
    CIP_TRY(cip_io_read_some(io, at, head, sizeof head, &n, err));
    uint16_t header_size = (uint16_t)(head[4] << 8 | head[5]);
    const asdf_block_form *first = exact(header_size);
    if (first == &cip_asdf_form_a && is_b_after_all(io, at))
        first = &cip_asdf_form_b;
    *out = first != NULL ? first : &cip_asdf_form_b;
    if (first != NULL && makes_sense(io, first, at))
        return CIP_OK;
    for (int i = 0; i < NFORM; i++)
        if (forms[i]->header_size < header_size && makes_sense(io, forms[i], at)) {
            *out = forms[i];
            return CIP_OK;
        }
    return CIP_OK;
}

bool cip_asdf_believe_early(const void *user, cip_io *io, cip_bytes in, uint64_t at)
{
    (void)user;
    for (int i = 0; i < NFORM; i++)
        if (cip_asdf_believe_form(forms[i], io, in, at))
            return true;
    return false;
}
