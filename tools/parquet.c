/* SPDX-License-Identifier: BSD-3-Clause
 * Parquet, as https://parquet.apache.org/docs/file-format/ has it: magic, a page for each column,
 * and a footer that tells of them, in Thrift's compact protocol. */
#include "parquet.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Of Thrift: what a field is. */
enum { T_I32 = 5, T_I64 = 6, T_BINARY = 8, T_LIST = 9, T_STRUCT = 12 };
/* Of Parquet. */
enum { INT64 = 2, BYTE_ARRAY = 6 };
enum { REQUIRED = 0, OPTIONAL = 1 };
enum { PLAIN = 0, RLE = 3, UTF8 = 0, NCOLUMN = 4 };

typedef struct bytes {
    uint8_t *ptr;
    size_t n, cap;
    bool failed;
} bytes;

typedef struct column {
    const char *name;
    int type, repetition;
    bool text;
    uint64_t offset, nbytes; /* of its page, header included */
} column;

static void add(bytes *b, const void *src, size_t n)
{
    if (n > b->cap - b->n) {
        const size_t cap = 2 * b->cap + n + 256;
        uint8_t *larger = b->failed ? NULL : realloc(b->ptr, cap);
        b->failed = larger == NULL;
        if (b->failed)
            return;
        b->ptr = larger;
        b->cap = cap;
    }
    if (n != 0)
        memcpy(b->ptr + b->n, src, n);
    b->n += n;
}

static void add_byte(bytes *b, unsigned v)
{
    const uint8_t byte = (uint8_t)v;
    add(b, &byte, 1);
}

static void add_le(bytes *b, uint64_t v, int nbytes)
{
    for (int i = 0; i < nbytes; i++)
        add_byte(b, (unsigned)(v >> 8 * i) & 0xff);
}

/* --- Thrift ---------------------------------------------------------------------------------- */

static void add_varint(bytes *b, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        add_byte(b, (unsigned)(v & 0x7f) | 0x80);
    add_byte(b, (unsigned)v);
}

/* The head of field `id`, which comes behind field *last of its struct. */
static void add_field(bytes *b, int *last, int id, unsigned type)
{
    add_byte(b, (unsigned)(id - *last) << 4 | type);
    *last = id;
}

static void add_int(bytes *b, int *last, int id, unsigned type, uint64_t v)
{
    add_field(b, last, id, type);
    add_varint(b, v << 1); /* zigzag of what is not negative */
}

static void add_string(bytes *b, const char *text)
{
    add_varint(b, strlen(text));
    add(b, text, strlen(text));
}

static void add_list(bytes *b, int *last, int id, unsigned n, unsigned type)
{
    add_field(b, last, id, T_LIST);
    add_byte(b, n << 4 | type); /* n is below 15 */
}

/* --- pages ----------------------------------------------------------------------------------- */

static bool has_value(const parquet_row *r, int k)
{
    return k == 0 ? r->path != NULL : k == 3 ? r->raw != NULL : true;
}

/* Which rows have a value: a bit for each, in one bit-packed run, after its length. */
static void add_levels(bytes *b, int k, const parquet_row *rows, size_t n)
{
    bytes run = { 0 };
    add_varint(&run, (n + 7) / 8 << 1 | 1);
    for (size_t i = 0; i < n; i += 8) {
        unsigned bits = 0;
        for (size_t j = i; j < n && j < i + 8; j++)
            bits |= (unsigned)has_value(&rows[j], k) << (j - i);
        add_byte(&run, bits);
    }
    add_le(b, run.n, 4);
    add(b, run.ptr, run.n);
    b->failed |= run.failed;
    free(run.ptr);
}

static void add_value(bytes *b, int k, const parquet_row *r)
{
    const void *src = k == 0 ? r->path : r->raw;
    if (k == 1 || k == 2) {
        add_le(b, (uint64_t)(k == 1 ? r->offset : r->size), 8);
    } else if (src != NULL) {
        const size_t n = k == 0 ? strlen(r->path) : r->raw_nbytes;
        add_le(b, n, 4);
        add(b, src, n);
    }
}

/* A page with its header, behind what is in the file. */
static void add_page(bytes *file, column *c, int k, const parquet_row *rows, size_t n)
{
    bytes page = { 0 };
    int last = 0, inner = 0;
    c->offset = file->n;
    if (c->repetition == OPTIONAL)
        add_levels(&page, k, rows, n);
    for (size_t i = 0; i < n; i++)
        add_value(&page, k, &rows[i]);
    if (page.n > INT32_MAX) {
        errno = EFBIG;
        page.failed = true;
    }
    add_int(file, &last, 1, T_I32, 0); /* a data page */
    add_int(file, &last, 2, T_I32, page.n);
    add_int(file, &last, 3, T_I32, page.n);
    add_field(file, &last, 5, T_STRUCT);
    add_int(file, &inner, 1, T_I32, n);
    add_int(file, &inner, 2, T_I32, PLAIN);
    add_int(file, &inner, 3, T_I32, RLE);
    add_int(file, &inner, 4, T_I32, RLE);
    add_byte(file, 0);
    add_byte(file, 0);
    add(file, page.ptr, page.n);
    file->failed |= page.failed;
    free(page.ptr);
    c->nbytes = file->n - c->offset;
}

/* --- the footer ------------------------------------------------------------------------------ */

static void add_schema(bytes *b, int *last, const column *c)
{
    int root = 0;
    add_list(b, last, 2, NCOLUMN + 1, T_STRUCT);
    add_field(b, &root, 4, T_BINARY);
    add_string(b, "schema");
    add_int(b, &root, 5, T_I32, NCOLUMN);
    add_byte(b, 0);
    for (int k = 0; k < NCOLUMN; k++) {
        int at = 0;
        add_int(b, &at, 1, T_I32, (uint64_t)c[k].type);
        add_int(b, &at, 3, T_I32, (uint64_t)c[k].repetition);
        add_field(b, &at, 4, T_BINARY);
        add_string(b, c[k].name);
        if (c[k].text)
            add_int(b, &at, 6, T_I32, UTF8);
        add_byte(b, 0);
    }
}

static void add_column(bytes *b, const column *c, size_t n)
{
    int chunk = 0, meta = 0;
    add_int(b, &chunk, 2, T_I64, c->offset);
    add_field(b, &chunk, 3, T_STRUCT);
    add_int(b, &meta, 1, T_I32, (uint64_t)c->type);
    add_list(b, &meta, 2, 2, T_I32);
    add_varint(b, PLAIN << 1);
    add_varint(b, RLE << 1);
    add_list(b, &meta, 3, 1, T_BINARY);
    add_string(b, c->name);
    add_int(b, &meta, 4, T_I32, 0); /* not compressed */
    add_int(b, &meta, 5, T_I64, n);
    add_int(b, &meta, 6, T_I64, c->nbytes);
    add_int(b, &meta, 7, T_I64, c->nbytes);
    add_int(b, &meta, 9, T_I64, c->offset);
    add_byte(b, 0);
    add_byte(b, 0);
}

static void add_footer(bytes *b, const column *c, size_t n)
{
    const size_t from = b->n;
    int last = 0, group = 0;
    uint64_t nbytes = 0;
    for (int k = 0; k < NCOLUMN; k++)
        nbytes += c[k].nbytes;
    add_int(b, &last, 1, T_I32, 1);
    add_schema(b, &last, c);
    add_int(b, &last, 3, T_I64, n);
    add_list(b, &last, 4, 1, T_STRUCT);
    add_list(b, &group, 1, NCOLUMN, T_STRUCT);
    for (int k = 0; k < NCOLUMN; k++)
        add_column(b, &c[k], n);
    add_int(b, &group, 2, T_I64, nbytes);
    add_int(b, &group, 3, T_I64, n);
    add_byte(b, 0);
    add_field(b, &last, 6, T_BINARY);
    add_string(b, "cippus");
    add_byte(b, 0);
    add_le(b, b->n - from, 4);
    add(b, "PAR1", 4);
}

int parquet_write(FILE *out, const parquet_row *rows, size_t n)
{
    column c[NCOLUMN] = { { .name = "path", BYTE_ARRAY, OPTIONAL, .text = true },
                          { .name = "offset", INT64, REQUIRED },
                          { .name = "size", INT64, REQUIRED },
                          { .name = "raw", BYTE_ARRAY, OPTIONAL } };
    bytes file = { 0 };
    errno = ENOMEM;
    add(&file, "PAR1", 4);
    for (int k = 0; k < NCOLUMN && !file.failed; k++)
        add_page(&file, &c[k], k, rows, n);
    add_footer(&file, c, n);
    const bool good = !file.failed && fwrite(file.ptr, file.n, 1, out) == 1;
    free(file.ptr);
    return good ? 0 : -1;
}
