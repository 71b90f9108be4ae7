/* SPDX-License-Identifier: BSD-3-Clause
 * Puts ASDF files together for the tests beside it, from text and blocks; and looks at what opening
 * made of them. Damage is done to the bytes afterwards. */
#ifndef CIP_TESTS_ASDF_TESTING_H
#define CIP_TESTS_ASDF_TESTING_H

#include <string.h>

#include "base/endian.h"
#include "format/asdf/asdf.h"
#include "support/one_format.h"

#define MAKE_LINES "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n"
#define MAKE_YAML "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
#define MAKE_INT32                                                                                 \
    "!core/ndarray-1.0.0 {source: 0, datatype: int32, byteorder: little, shape: [6]}\n"
#define MAKE_FLOAT64                                                                               \
    "!core/ndarray-1.0.0 {source: 1, datatype: float64, byteorder: little, shape: [3]}\n"

typedef struct asdf_make {
    uint8_t *ptr;
    size_t len, cap;
} asdf_make;

static inline size_t make_bytes(asdf_make *m, const void *p, size_t n)
{
    size_t at = m->len;
    if (m->len + n >= m->cap) {
        m->cap = 2 * (m->len + n) + 64;
        m->ptr = (uint8_t *)realloc(m->ptr, m->cap);
        if (m->ptr == NULL)
            abort();
    }
    if (n != 0)
        memcpy(m->ptr + at, p, n);
    m->len += n;
    return at;
}

static inline size_t make_text(asdf_make *m, const char *text)
{
    return make_bytes(m, text, strlen(text));
}

static inline void make_clear(asdf_make *m)
{
    free(m->ptr);
    *m = (asdf_make){ 0 };
}

static inline void make_md5(const void *p, size_t n, uint8_t out[ASDF_CHECKSUM_LEN])
{
    cip_mem mem;
    cip_sum *sum;
    cip_mem_init(&mem, NULL, 0);
    if (cip_sum_new(&mem, CIP_SUM_MD5, &sum, NULL) != CIP_OK)
        abort();
    cip_sum_add(sum, p, n);
    cip_sum_take(sum, out);
    cip_sum_free(sum);
}

/* A block as the standard wants it: `data_size` bytes once decoded. Gives where it starts. */
static inline size_t make_block(asdf_make *m, const char code[4], const void *p, size_t n,
                                uint64_t data_size)
{
    uint8_t head[ASDF_HEADER_LEN] = ASDF_MAGIC;
    cip_store_u16(head + 4, 48, true);
    memcpy(head + 10, code, 4);
    cip_store_u64(head + 14, n, true);
    cip_store_u64(head + 22, n, true);
    cip_store_u64(head + 30, data_size, true);
    make_md5(p, n, head + 38);
    size_t at = make_bytes(m, head, sizeof head);
    make_bytes(m, p, n);
    return at;
}

static inline size_t make_raw(asdf_make *m, const void *p, size_t n)
{
    return make_block(m, "\0\0\0\0", p, n, n);
}

static inline void make_index(asdf_make *m, const size_t *at, size_t n)
{
    char line[40];
    make_text(m, "#ASDF BLOCK INDEX\n%YAML 1.1\n---\n");
    for (size_t i = 0; i < n; i++) {
        snprintf(line, sizeof line, "- %zu\n", at[i]);
        make_text(m, line);
    }
    make_text(m, "...\n");
}

/* What the blocks of most tests hold. */
static inline size_t make_six(asdf_make *m)
{
    uint8_t b[24];
    for (uint32_t i = 0; i < 6; i++)
        cip_store_u32(b + 4 * i, i, false);
    return make_raw(m, b, sizeof b);
}

static inline size_t make_three(asdf_make *m)
{
    static const uint64_t bits[] = { 0, 0x3ff0000000000000, 0x4000000000000000 };
    uint8_t b[24];
    for (size_t i = 0; i < 3; i++)
        cip_store_u64(b + 8 * i, bits[i], false);
    return make_raw(m, b, sizeof b);
}

static inline void make_tree(asdf_make *m, const char *tree)
{
    make_text(m, MAKE_LINES MAKE_YAML);
    make_text(m, tree);
    make_text(m, "...\n");
}

/* Arrays a and b in two blocks, with an index; at[0..2] are the blocks and the index. */
static inline void make_two(asdf_make *m, size_t at[3])
{
    make_tree(m, "a: " MAKE_INT32 "b: " MAKE_FLOAT64);
    at[0] = make_six(m);
    at[1] = make_three(m);
    at[2] = m->len;
    make_index(m, at, 2);
}

/* --- opening ---------------------------------------------------------------------------------- */

static inline cip_status make_open(one_file *f, const asdf_make *m, uint32_t flags)
{
    return one_open(f, &cip_format_asdf, m->ptr, m->len, flags, NULL);
}

/* Opens a tree with the two blocks of make_two behind it. */
static inline cip_status make_open_tree(one_file *f, const char *tree, uint32_t flags)
{
    asdf_make m = { 0 };
    make_tree(&m, tree);
    make_six(&m);
    make_three(&m);
    cip_status st = make_open(f, &m, flags);
    make_clear(&m);
    return st;
}

static inline const cip_array *make_find(const one_file *f, const char *path)
{
    for (size_t i = 0; i < f->layout->narray; i++)
        if (strcmp(f->layout->array[i]->path, path) == 0)
            return f->layout->array[i];
    return NULL;
}

/* Reads an array; f->err says why not. NOT_FOUND when it is not listed. */
static inline cip_status make_read(one_file *f, const char *path, uint8_t **out, size_t *len)
{
    for (size_t i = 0; i < f->layout->narray; i++)
        if (strcmp(f->layout->array[i]->path, path) == 0) {
            f->err = (cip_err)CIP_ERR_INIT;
            *out = one_read(f, i, len);
            return *out != NULL ? CIP_OK : (cip_status)f->err.code;
        }
    return CIP_ERR_NOT_FOUND;
}

/* How reading it ends. */
static inline cip_status make_try(one_file *f, const char *path)
{
    uint8_t *p = NULL;
    size_t n;
    cip_status st = make_read(f, path, &p, &n);
    free(p);
    return st;
}

/* Whether it reads as just these bytes. */
static inline bool make_gives(one_file *f, const char *path, const void *want, size_t n)
{
    uint8_t *p = NULL;
    size_t len = 0;
    bool same = make_read(f, path, &p, &len) == CIP_OK && len == n && memcmp(p, want, n) == 0;
    free(p);
    return same;
}

static inline bool make_gives_six(one_file *f, const char *path)
{
    uint8_t b[24];
    for (uint32_t i = 0; i < 6; i++)
        cip_store_u32(b + 4 * i, i, false);
    return make_gives(f, path, b, sizeof b);
}

static inline bool make_gives_three(one_file *f, const char *path)
{
    static const uint64_t bits[] = { 0, 0x3ff0000000000000, 0x4000000000000000 };
    uint8_t b[24];
    for (size_t i = 0; i < 3; i++)
        cip_store_u64(b + 8 * i, bits[i], false);
    return make_gives(f, path, b, sizeof b);
}

/* How many warnings hold the text. */
static inline size_t make_warned(one_file *f, const char *text)
{
    size_t n = 0;
    const cip_finding *w;
    for (size_t i = 0; (w = cip_report_get(&f->env.warnings, i)) != NULL; i++)
        n += strstr(w->text, text) != NULL;
    return n;
}

#endif
