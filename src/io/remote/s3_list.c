/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/remote/s3_list.h"

#include <expat.h>
#include <string.h>

#include "base/num.h"

enum { DEEP = 3 }; /* ListBucketResult, Contents, Key */

typedef struct page {
    XML_Parser parser;
    const char *prefix;
    cip_io_list_fn *fn;
    void *user;
    cip_buf text; /* of the element at hand */
    cip_buf *next;
    unsigned depth;
    char parent[16]; /* "Contents", "CommonPrefixes", or another */
    bool any, stopped, truncated;
    bool encoded; /* names are percent-encoded, as was asked for: not every server does it */
    bool give;    /* the names are wanted by now */
    cip_status st;
    cip_err *err;
} page;

/* The name of an element without its namespace; the parser knows none. */
static void on_start(void *user, const char *name, const char **attributes)
{
    page *p = user;
    (void)attributes;
    p->depth++;
    p->text.len = 0;
    if (p->depth == 1)
        p->any = strcmp(name, "ListBucketResult") == 0;
    if (p->depth == 2) {
        p->parent[0] = '\0';
        if (strlen(name) < sizeof p->parent)
            strcpy(p->parent, name);
    }
}

static void on_text(void *user, const char *s, int n)
{
    page *p = user;
    if (p->st == CIP_OK && p->depth <= DEEP)
        p->st = cip_buf_add(&p->text, s, (size_t)n, p->err);
}

/* Percent-encoded, with '+' for a blank; in place. */
static void decode(cip_buf *text)
{
    size_t to = 0;
    for (size_t i = 0; i < text->len; i++, to++) {
        uint8_t c = text->ptr[i];
        if (c == '%' && text->len - i >= 3 && cip_hex_digit(text->ptr[i + 1]) >= 0 &&
            cip_hex_digit(text->ptr[i + 2]) >= 0) {
            c = (uint8_t)(cip_hex_digit(text->ptr[i + 1]) * 16 + cip_hex_digit(text->ptr[i + 2]));
            i += 2;
        } else if (c == '+') {
            c = ' ';
        }
        text->ptr[to] = c;
    }
    text->len = to;
}

static void give(page *p, bool is_folder)
{
    const size_t skip = strlen(p->prefix);
    if (p->encoded)
        decode(&p->text);
    if (is_folder && p->text.len != 0 && p->text.ptr[p->text.len - 1] == '/')
        p->text.len--;
    if (p->text.len <= skip || memcmp(p->text.ptr, p->prefix, skip) != 0)
        return;
    p->st = cip_buf_nul(&p->text, p->err);
    const char *name = (const char *)p->text.ptr + skip;
    const size_t n = p->text.len - skip;
    if (p->st != CIP_OK || memchr(name, '\0', n) != NULL || memchr(name, '/', n) != NULL ||
        strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
        return;
    p->stopped = p->fn(p->user, name, is_folder) != 0;
}

static void on_end(void *user, const char *name)
{
    page *p = user;
    const bool inner = p->depth == 3 && p->st == CIP_OK && p->give && !p->stopped;
    if (inner && strcmp(p->parent, "Contents") == 0 && strcmp(name, "Key") == 0)
        give(p, false);
    else if (inner && strcmp(p->parent, "CommonPrefixes") == 0 && strcmp(name, "Prefix") == 0)
        give(p, true);
    else if (p->depth == 2 && p->st == CIP_OK && strcmp(name, "IsTruncated") == 0)
        p->truncated = p->text.len == 4 && memcmp(p->text.ptr, "true", 4) == 0;
    else if (p->depth == 2 && p->st == CIP_OK && strcmp(name, "EncodingType") == 0)
        p->encoded = p->text.len == 3 && memcmp(p->text.ptr, "url", 3) == 0;
    else if (p->depth == 2 && !p->give && p->st == CIP_OK &&
             strcmp(name, "NextContinuationToken") == 0)
        p->st = cip_buf_add(p->next, p->text.ptr, p->text.len, p->err);
    p->depth--;
    p->text.len = 0;
}

/* No such page has a document type, which may define texts that grow. */
static void on_doctype(void *user, const char *name, const char *system_id, const char *public_id,
                       int has_subset)
{
    page *p = user;
    (void)name;
    (void)system_id;
    (void)public_id;
    (void)has_subset;
    XML_StopParser(p->parser, XML_FALSE);
}

static bool parse(page *p, const char *xml, size_t n)
{
    p->parser = XML_ParserCreate(NULL);
    if (p->parser == NULL) {
        p->st = cip_fail(p->err, CIP_ERR_NOMEM, CIP_NO_OFFSET, "no memory for a list of names");
        return false;
    }
    XML_SetUserData(p->parser, p);
    XML_SetElementHandler(p->parser, on_start, on_end);
    XML_SetCharacterDataHandler(p->parser, on_text);
    XML_SetStartDoctypeDeclHandler(p->parser, on_doctype);
    const bool good =
        n <= INT32_MAX && XML_Parse(p->parser, xml, (int)n, XML_TRUE) == XML_STATUS_OK && p->any;
    XML_ParserFree(p->parser);
    return good;
}

/* Twice: whether names are encoded may be said behind them. */
cip_status cip_s3_list_parse(cip_mem *mem, const char *xml, size_t n, const char *prefix,
                             cip_io_list_fn *fn, void *user, cip_buf *next, bool *stopped,
                             cip_err *err)
{
    page p = {
        .prefix = prefix, .fn = fn, .user = user, .text = { .mem = mem }, .next = next, .err = err
    };
    next->len = 0;
    const bool good = parse(&p, xml, n);
    if (p.st == CIP_OK && (!good || p.truncated != (next->len != 0)))
        p.st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a page of names (ListBucketResult), found %s",
                        good ? "one that does not say where it goes on" : "another document");
    p.give = true;
    if (p.st == CIP_OK)
        (void)parse(&p, xml, n);
    cip_buf_clear(&p.text);
    *stopped = p.stopped;
    return p.st;
}
