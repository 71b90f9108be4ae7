/* SPDX-License-Identifier: BSD-3-Clause
 * Core types other than ndarray: complex scalars, big integers, and the words about the file that
 * `info` shows (software, history, extensions). core/constant wraps any value and needs nothing. */
#include "format/asdf/asdf.h"

#include <math.h>
#include <string.h>

#include "base/num.h"
#include "tree/scalar.h"

/* --- core/complex ----------------------------------------------------------------------------- */

static bool skip_word(const char **s, const char *end, const char *word)
{
    size_t n = strlen(word);
    if ((size_t)(end - *s) < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (((*s)[i] | 0x20) != word[i])
            return false;
    *s += n;
    return true;
}

static void skip_digits(const char **s, const char *end)
{
    while (*s < end && cip_is_digit(**s))
        (*s)++;
}

/* Digits with an optional point and exponent. */
static bool decimal(const char **s, const char *end, double *out)
{
    const char *start = *s, *p = *s;
    skip_digits(&p, end);
    size_t ndigit = (size_t)(p - start);
    if (p < end && *p == '.') {
        const char *frac = ++p;
        skip_digits(&p, end);
        ndigit += (size_t)(p - frac);
    }
    if (ndigit == 0)
        return false;
    if (p < end && (*p == 'e' || *p == 'E')) {
        const char *e = p + 1;
        e += e < end && (*e == '+' || *e == '-');
        if (e == end || !cip_is_digit(*e))
            return false;
        p = e;
        skip_digits(&p, end);
    }
    *out = cip_decimal_parse(start, (size_t)(p - start));
    *s = p;
    return true;
}

/* A number with an optional sign (or one that must be there). */
static bool signed_number(const char **s, const char *end, bool must, double *out)
{
    const char *p = *s;
    bool negative = p < end && *p == '-', has = p < end && (*p == '-' || *p == '+');
    if (must && !has)
        return false;
    p += has;
    double v;
    if (skip_word(&p, end, "infinity") || skip_word(&p, end, "inf"))
        v = INFINITY;
    else if (skip_word(&p, end, "nan"))
        v = NAN;
    else if (!decimal(&p, end, &v))
        return false;
    *out = negative ? -v : v;
    *s = p;
    return true;
}

static bool skip_unit(const char **s, const char *end)
{
    if (*s == end || memchr("iIjJ", **s, 4) == NULL)
        return false;
    (*s)++;
    return true;
}

bool cip_asdf_complex_parse(const char *text, size_t len, double *re, double *im)
{
    const char *s = text, *end = text + len;
    double a, b = 0;
    if (len >= 2 && s[0] == '(' && end[-1] == ')') {
        s++;
        end--;
    }
    if (!signed_number(&s, end, false, &a))
        return false;
    if (skip_unit(&s, end)) {
        b = a;
        a = 0;
    } else if (s < end && (!signed_number(&s, end, true, &b) || !skip_unit(&s, end))) {
        return false;
    }
    if (s != end)
        return false;
    *re = a;
    *im = b;
    return true;
}

/* --- core/integer ----------------------------------------------------------------------------- */

cip_status cip_asdf_integer_text(cip_mem *mem, const uint32_t *words, size_t nword, bool negative,
                                 cip_buf *out, cip_err *err)
{
    uint32_t *rest, *part;
    size_t npart = 0;
    cip_status st;
    CIP_TRY(CIP_NEW(mem, &rest, nword, err));
    memcpy(rest, words, nword * sizeof *rest);
    st = CIP_NEW(mem, &part, nword * 2 + 1, err); /* 9 digits each: 29.9 bits */
    if (st != CIP_OK)
        goto done;
    do { /* divided by 10^9 again and again */
        uint64_t carry = 0;
        for (size_t i = nword; i-- > 0;) {
            carry = carry << 32 | rest[i];
            rest[i] = (uint32_t)(carry / 1000000000);
            carry %= 1000000000;
        }
        part[npart++] = (uint32_t)carry;
        while (nword > 0 && rest[nword - 1] == 0)
            nword--;
    } while (nword > 0);
    bool zero = npart == 1 && part[0] == 0;
    CIP_GO(cip_buf_addf(out, err, "%s%" PRIu32, negative && !zero ? "-" : "", part[npart - 1]));
    while (--npart > 0)
        CIP_GO(cip_buf_addf(out, err, "%09" PRIu32, part[npart - 1]));
done:
    cip_mem_put(mem, rest);
    cip_mem_put(mem, part);
    return st;
}

/* --- facts ------------------------------------------------------------------------------------ */

enum { COMMENTS_MAX = 16, EXTENSIONS_MAX = 16 };

static const char *text_of(const cip_node *map, const char *key)
{
    const cip_node *n = cip_map_get(map, key);
    return n != NULL && n->text != NULL ? n->text : NULL;
}

static cip_status software(asdf_file *f, const char *key, const cip_node *n, cip_err *err)
{
    if (cip_node_kind(n) != CIP_NODE_MAP || text_of(n, "name") == NULL)
        return CIP_OK;
    const char *version = text_of(n, "version");
    return cip_layout_add_fact(f->layout, key, err, "%s%s%s", text_of(n, "name"),
                               version != NULL ? " " : "", version != NULL ? version : "");
}

/* D and E differ in their tags alone. */
const char *cip_asdf_layout_name(const asdf_file *f)
{
    static const char d_tags[] = ASDF_TAGS "0.1.0/";
    const cip_node *t = f->layout->tree;
    bool d_root = t != NULL && t->tag != NULL && strncmp(t->tag, d_tags, strlen(d_tags)) == 0;
    const asdf_block_form *form = cip_asdf_blocks_form(&f->blocks);
    return form != &cip_asdf_form_1_0 || t == NULL || d_root ? form->name : "E";
}

/* A list of the older files, a mapping with `entries` and `extensions` of the newer. */
static cip_status history(asdf_file *f, const cip_node *n, cip_err *err)
{
    const cip_node *entries = n, *extensions = NULL;
    if (cip_node_kind(n) == CIP_NODE_MAP) {
        entries = cip_map_get(n, "entries");
        extensions = cip_map_get(n, "extensions");
    }
    if (cip_node_kind(entries) == CIP_NODE_SEQ)
        CIP_TRY(cip_layout_add_fact(f->layout, "history", err, "%" PRIu32 " %s", entries->len,
                                    entries->len == 1 ? "entry" : "entries"));
    if (cip_node_kind(extensions) != CIP_NODE_SEQ)
        return CIP_OK;
    for (uint32_t i = 0; i < extensions->len && i < EXTENSIONS_MAX; i++) {
        const cip_node *x = extensions->item[i];
        if (cip_node_kind(x) != CIP_NODE_MAP)
            continue;
        const char *name = text_of(x, "extension_uri");
        name = name != NULL ? name : text_of(x, "extension_class");
        if (name != NULL)
            CIP_TRY(cip_layout_add_fact(f->layout, "extension", err, "%s", name));
    }
    return CIP_OK;
}

/* "3 none, 2 zlib", in the order of first use. */
static cip_status compression_fact(asdf_file *f, cip_err *err)
{
    const cip_layout *l = f->layout;
    cip_buf text = { .mem = &f->env->mem };
    cip_status st = CIP_OK;
    for (size_t i = 0; i < l->nblock && text.len < 256; i++) {
        const char *name = l->block[i].info.codec;
        size_t n = 0, k = 0;
        while (k < i && strcmp(l->block[k].info.codec, name) != 0)
            k++;
        if (k < i)
            continue;
        for (k = i; k < l->nblock; k++)
            n += strcmp(l->block[k].info.codec, name) == 0;
        CIP_GO(cip_buf_addf(&text, err, "%s%zu %s", text.len != 0 ? ", " : "", n,
                            l->block[i].info.codec));
    }
    CIP_GO(cip_buf_nul(&text, err));
    CIP_GO(cip_layout_add_fact(f->layout, "compression", err, "%s", (const char *)text.ptr));
done:
    cip_buf_clear(&text);
    return st;
}

static cip_status block_facts(asdf_file *f, cip_err *err)
{
    static const char *const states[] = { "none", "good", "ignored: " };
    cip_layout *l = f->layout;
    size_t nsum = 0;
    for (size_t i = 0; i < l->nblock; i++)
        nsum += l->block[i].sum_id != CIP_SUM_NONE;
    CIP_TRY(cip_layout_add_fact(l, "blocks", err, "%zu", l->nblock));
    if (l->nblock == 0)
        return CIP_OK;
    CIP_TRY(cip_layout_add_fact(l, "index", err, "%s%s", states[f->index.state], f->index.why));
    CIP_TRY(cip_layout_add_fact(l, "checksums", err, "md5 of %zu of %zu blocks", nsum, l->nblock));
    return compression_fact(f, err);
}

cip_status cip_asdf_facts(asdf_file *f, cip_err *err)
{
    cip_layout *l = f->layout;
    if (f->header.has_standard)
        CIP_TRY(cip_layout_add_fact(l, "standard", err, "%s", f->header.standard_text));
    if (cip_asdf_is_early(f->header.file) && f->blocks.n != 0)
        CIP_TRY(cip_layout_add_fact(l, "layout", err, "%s", cip_asdf_layout_name(f)));
    if (cip_node_kind(l->tree) == CIP_NODE_MAP) {
        const cip_node *library = cip_map_get(l->tree, "asdf_library");
        if (library == NULL)
            library = cip_map_get(l->tree, "asdf/library");
        CIP_TRY(software(f, "writer", library, err));
        CIP_TRY(history(f, cip_map_get(l->tree, "history"), err));
    }
    CIP_TRY(block_facts(f, err));
    for (size_t i = 0; i < f->header.ncomment && i < COMMENTS_MAX; i++)
        CIP_TRY(cip_layout_add_fact(l, "comment", err, "%s", f->header.comment[i]));
    return CIP_OK;
}
