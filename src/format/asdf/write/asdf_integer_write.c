/* SPDX-License-Identifier: BSD-3-Clause
 * Integers that need more than the 63 bits a tree may hold: as core/integer (section 5). */
#include <string.h>

#include "format/asdf/write/asdf_write.h"
#include "tree/scalar.h"

enum { DIGITS_MAX = 4096, WORDS_MAX = DIGITS_MAX / 9 + 1 };

/* 32-bit words, least significant first; how many. */
static size_t words_of(const char *digits, size_t n, uint32_t *word)
{
    size_t nword = 0;
    for (size_t i = 0; i < n; i++) {
        uint64_t carry = (uint64_t)(digits[i] - '0');
        for (size_t k = 0; k < nword; k++) {
            carry += (uint64_t)word[k] * 10;
            word[k] = (uint32_t)carry;
            carry >>= 32;
        }
        if (carry != 0)
            word[nword++] = (uint32_t)carry;
    }
    return nword;
}

static cip_status make(cip_arena *a, const asdf_standard *s, const char *text, cip_node **out,
                       cip_err *err)
{
    uint32_t word[WORDS_MAX] = { 0 };
    asdf_list l = { .a = a }, in = { .a = a };
    const cip_dtype *type = cip_dtype_of(CIP_U32);
    const cip_node *data, *kind, *lengths;
    cip_node *words;
    char *tag;
    const char *digits = text + (text[0] == '-');
    const int64_t shape[] = { (int64_t)words_of(digits, strlen(digits), word) };
    CIP_TRY(cip_asdf_inline_node(a, &(asdf_elements){ type, 1, shape, (const uint8_t *)word, NULL },
                                 &data, err));
    CIP_TRY(cip_asdf_type_node(a, type, &kind, err));
    CIP_TRY(cip_asdf_shape_node(a, 1, shape, false, &lengths, err));
    CIP_TRY(cip_asdf_list_add(&in, "data", data, err));
    CIP_TRY(cip_asdf_list_add(&in, "datatype", kind, err));
    CIP_TRY(cip_asdf_list_add(&in, "shape", lengths, err));
    CIP_TRY(cip_arena_printf(a, &tag, err, ASDF_TAGS "core/ndarray-%s", s->ndarray));
    CIP_TRY(cip_asdf_list_map(&in, tag, CIP_STYLE_FLOW, &words, err));
    CIP_TRY(cip_asdf_list_text(&l, "sign", text[0] == '-' ? "-" : "+", err));
    CIP_TRY(cip_asdf_list_text(&l, "string", text, err));
    CIP_TRY(cip_asdf_list_add(&l, "words", words, err));
    CIP_TRY(cip_arena_printf(a, &tag, err, ASDF_TAGS "core/integer-%s", s->integer));
    return cip_asdf_list_map(&l, tag, CIP_STYLE_FLOW, out, err);
}

cip_status cip_asdf_integer_node(cip_arena *a, const asdf_standard *s, const cip_node *from,
                                 const cip_node **out, cip_err *err)
{
    cip_buf text = { .mem = a->mem };
    bool done = false;
    cip_node *n;
    const bool wide = from->type == CIP_NODE_INT
                          ? from->negative ? from->i < -INT64_MAX : from->u > INT64_MAX
                          : from->type == CIP_NODE_BIGINT;
    *out = from;
    if (s->integer == NULL || from->tag != NULL || !wide)
        return CIP_OK;
    cip_status st =
        cip_int_decimal((cip_bytes){ (const uint8_t *)from->text, from->len }, &text, &done, err);
    if (st == CIP_OK && done && text.len <= DIGITS_MAX) {
        st = cip_buf_nul(&text, err);
        if (st == CIP_OK)
            st = make(a, s, (const char *)text.ptr, &n, err);
        if (st == CIP_OK)
            *out = n;
    }
    cip_buf_clear(&text);
    return st;
}
