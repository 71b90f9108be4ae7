/* SPDX-License-Identifier: BSD-3-Clause
 * Which of the block layouts of 0.1 a file has: they share the line "#ASDF 0.1.0" and are told
 * apart by header_size; where that is larger, by what makes sense as sizes. */
#include "format/asdf/asdf.h"

#include <string.h>

#include "base/endian.h"

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
static bool parse_at(cip_window *w, const asdf_block_form *form, uint64_t at, asdf_block *b)
{
    cip_bytes in;
    if (cip_window_peek(w, at, ASDF_HEADER_LEN, ASDF_HEAD, &in, NULL) != CIP_OK ||
        in.len < ASDF_MAGIC_LEN || memcmp(in.ptr, ASDF_MAGIC, ASDF_MAGIC_LEN) != 0)
        return false;
    return cip_asdf_believe_form(form, w->layout->io, in, at) &&
           cip_asdf_block_parse(form, in, at, b, NULL) == CIP_OK &&
           cip_asdf_block_judge(b, w->layout->io->size, NULL) == CIP_OK && b->end_sure;
}

/* What may stand behind a block: another, the file's end, NULs, an index. */
typedef enum behind { BEHIND_JUNK, BEHIND_END, BEHIND_BLOCK } behind;

static behind look_behind(cip_window *w, uint64_t at)
{
    static const char index_line[] = ASDF_INDEX_LINE;
    cip_bytes in;
    if (at >= w->layout->io->size)
        return BEHIND_END;
    if (cip_window_peek(w, at, NULS_LOOKED_AT, ASDF_HEAD, &in, NULL) != CIP_OK)
        return BEHIND_JUNK;
    if (in.len >= ASDF_MAGIC_LEN && memcmp(in.ptr, ASDF_MAGIC, ASDF_MAGIC_LEN) == 0)
        return BEHIND_BLOCK;
    bool nuls = in.ptr[0] == 0 && memcmp(in.ptr, in.ptr + 1, in.len - 1) == 0;
    size_t m = sizeof index_line - 1;
    return nuls || memcmp(in.ptr, index_line, in.len < m ? in.len : m) == 0 ? BEHIND_END
                                                                            : BEHIND_JUNK;
}

/* Whether the first blocks make sense in the form. A failing read is met again by the walk. */
static bool makes_sense(cip_window *w, const asdf_block_form *form, uint64_t at)
{
    behind next = BEHIND_BLOCK;
    for (int i = 0; i < BLOCKS_LOOKED_AT && next == BEHIND_BLOCK; i++) {
        asdf_block b;
        if (!parse_at(w, form, at, &b))
            return false;
        at = b.end;
        next = look_behind(w, at);
    }
    return next != BEHIND_JUNK;
}

/* Where none makes sense over all that is looked at (the file is cut short, or other bytes follow
 * the blocks), a header that has the fields of another form, too, may be of that: it would be, in a
 * file that ends with the block. */
static bool is_of_no_other(cip_window *w, uint64_t at, uint16_t header_size,
                           const asdf_block_form *form)
{
    cip_bytes in;
    if (cip_window_peek(w, at, ASDF_HEADER_LEN, ASDF_HEAD, &in, NULL) != CIP_OK)
        return true;
    for (int i = 0; i < NFORM; i++) {
        asdf_block b;
        if (forms[i] != form && forms[i]->header_size <= header_size &&
            cip_asdf_block_parse(forms[i], in, at, &b, NULL) == CIP_OK && b.used <= b.allocated &&
            (b.flags & ~forms[i]->known_flags) == 0)
            return false;
    }
    return true;
}

cip_status cip_asdf_form_find(cip_window *w, uint64_t at, const asdf_block_form **out, bool *sure,
                              cip_err *err)
{
    cip_bytes in;
    *sure = true;
    CIP_TRY(cip_window_peek(w, at, ASDF_HEADER_LEN, ASDF_HEAD, &in, err));
    uint16_t header_size = in.len >= 6 ? cip_load_u16(in.ptr + 4, true) : 0;
    const asdf_block_form *first = NULL;
    for (int i = 0; i < NFORM; i++)
        if (forms[i]->header_size == header_size)
            first = forms[i];
    /* A's fields are B's but for the memory size, which would be a checksum that happens to be the
     * used size: a header of B with 8 bytes more. */
    asdf_block b;
    if (first == &cip_asdf_form_a && parse_at(w, &cip_asdf_form_b, at, &b) &&
        !cip_asdf_is_streamed(&b) && b.used != 0 && makes_sense(w, &cip_asdf_form_b, at))
        first = &cip_asdf_form_b;
    *out = first != NULL ? first : &cip_asdf_form_b;
    if (first != NULL && makes_sense(w, first, at))
        return CIP_OK;
    for (int i = 0; i < NFORM; i++)
        if (forms[i]->header_size < header_size && makes_sense(w, forms[i], at)) {
            *out = forms[i];
            return CIP_OK;
        }
    *sure = is_of_no_other(w, at, header_size, *out);
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
