/* SPDX-License-Identifier: BSD-3-Clause
 * numpy's notations of records: the list of tuples that npy headers hold, and the dict that str()
 * gives for types with holes. */
#include "array/elem_parse.h"

#include <string.h>

#include "array/view.h"
#include "base/num.h"

/* "[" or "(" and what closes it. */
/* Between items: a comma, or `close` ahead. */
static cip_status next_item(cip_dtype_parser *p, char close)
{
    if (!cip_parse_skip(p, ',') && cip_parse_peek(p) != (uint8_t)close)
        return cip_parse_expected(p, "',' or a closing bracket");
    return CIP_OK;
}

/* (2, 3) or 2: axes outside of those that f has. */
static cip_status parse_outer_shape(cip_dtype_parser *p, cip_field *f)
{
    cip_field outer = { 0 };
    int64_t shape[CIP_MAX_NDIM] = { 0 };
    char *kept;
    if (cip_parse_skip(p, '(')) {
        CIP_TRY(cip_parse_shape(p, ')', &outer));
    } else {
        uint64_t n;
        if (!cip_parse_number(p, &n) || n > INT64_MAX)
            return cip_parse_expected(p, "a shape");
        shape[0] = (int64_t)n;
        outer = (cip_field){ .ndim = 1, .shape = shape };
    }
    if (outer.ndim + f->ndim > CIP_MAX_NDIM)
        return cip_fail(p->err, CIP_ERR_UNSUPPORTED, p->pos,
                        "expected a field of at most %d dimensions", CIP_MAX_NDIM);
    memmove(shape, outer.shape, (size_t)outer.ndim * sizeof shape[0]);
    for (int32_t k = 0; k < f->ndim; k++)
        shape[outer.ndim + k] = f->shape[k];
    f->ndim += outer.ndim;
    CIP_TRY(cip_arena_copy(p->a, shape, (size_t)f->ndim * sizeof shape[0], &kept, p->err));
    f->shape = (const int64_t *)(const void *)kept;
    return CIP_OK;
}

/* A type, or (type, shape). */
static cip_status parse_shaped(cip_dtype_parser *p, cip_field *f)
{
    if (!cip_parse_skip(p, '('))
        return cip_parse_type(p, &f->dtype);
    CIP_TRY(cip_parse_enter(p));
    CIP_TRY(parse_shaped(p, f));
    if (!cip_parse_skip(p, ','))
        return cip_parse_expected(p, "',' and a shape");
    cip_parse_peek(p);
    CIP_TRY(parse_outer_shape(p, f));
    if (!cip_parse_skip(p, ')'))
        return cip_parse_expected(p, "')'");
    p->depth--;
    return CIP_OK;
}

/* 'name', or ('title', 'name'). */
static cip_status parse_name(cip_dtype_parser *p, const char **out)
{
    char *name;
    bool titled = cip_parse_skip(p, '(');
    CIP_TRY(cip_parse_string(p, &name));
    if (titled) {
        if (!cip_parse_skip(p, ','))
            return cip_parse_expected(p, "',' and a name");
        CIP_TRY(cip_parse_string(p, &name));
        if (!cip_parse_skip(p, ')'))
            return cip_parse_expected(p, "')'");
    }
    *out = name;
    return CIP_OK;
}

/* ('a', '<i4') or ('a', '<i4', (2, 3)). */
static cip_status parse_tuple(cip_dtype_parser *p, cip_field *f)
{
    if (!cip_parse_skip(p, '('))
        return cip_parse_expected(p, "'('");
    CIP_TRY(parse_name(p, &f->name));
    if (!cip_parse_skip(p, ','))
        return cip_parse_expected(p, "',' and a type");
    CIP_TRY(parse_shaped(p, f));
    if (cip_parse_skip(p, ',') && cip_parse_peek(p) != ')')
        CIP_TRY(parse_outer_shape(p, f));
    return cip_parse_skip(p, ')') ? CIP_OK : cip_parse_expected(p, "')'");
}

static cip_status make_record(cip_dtype_parser *p, const cip_buf *fields, bool packed,
                              uint64_t itemsize, const cip_dtype **out)
{
    const cip_field *f = (const cip_field *)(const void *)fields->ptr;
    return cip_dtype_record(p->a, fields->len / sizeof *f, f, packed, itemsize, out, p->err);
}

cip_status cip_parse_list(cip_dtype_parser *p, const cip_dtype **out)
{
    cip_buf fields = { .mem = p->a->mem };
    cip_status st = CIP_OK;
    uint64_t end = 0, nbytes; /* end: of the fields so far */
    while (!cip_parse_skip(p, ']')) {
        cip_field f = { 0 };
        CIP_GO(parse_tuple(p, &f));
        f.offset = end;
        if (!cip_shape_nelem(f.ndim, f.shape, &nbytes) ||
            cip_mul_overflow(nbytes, f.dtype->itemsize, &nbytes) ||
            cip_add_overflow(end, nbytes, &end))
            CIP_GO(cip_fail(p->err, CIP_ERR_CORRUPT, p->pos, "a record of over 2^63 - 1 bytes"));
        bool padding = f.name[0] == '\0' && f.dtype->kind == CIP_OPAQUE;
        if (!padding)
            CIP_GO(cip_buf_add(&fields, &f, sizeof f, p->err));
        CIP_GO(next_item(p, ']'));
    }
    CIP_GO(make_record(p, &fields, false, end, out));
done:
    cip_buf_clear(&fields);
    return st;
}

/* What the keys of a dict give: parallel lists. */
typedef struct dict {
    cip_buf names;   /* char * */
    cip_buf formats; /* cip_field without name and offset */
    cip_buf offsets; /* uint64_t */
    bool has_offsets, aligned;
    uint64_t itemsize;
} dict;

static cip_status parse_offset(cip_dtype_parser *p, uint64_t *out)
{
    cip_parse_peek(p);
    if (!cip_parse_number(p, out))
        return cip_parse_expected(p, "a number of bytes");
    cip_parse_skip(p, 'L');
    return CIP_OK;
}

/* Skips `word`, which has to stand here, or not. */
static bool skip_word(cip_dtype_parser *p, const char *word)
{
    size_t n = strlen(word);
    cip_parse_peek(p);
    if (p->len - p->pos < n || memcmp(p->text + p->pos, word, n) != 0)
        return false;
    p->pos += n;
    return true;
}

/* The list that a key has, by its first letter: names, formats, offsets, or titles, which are not
 * kept. */
static cip_status parse_values(cip_dtype_parser *p, char key, cip_buf *to)
{
    char close = ']', *name;
    uint64_t n;
    if (cip_parse_skip(p, '('))
        close = ')';
    else if (!cip_parse_skip(p, '['))
        return cip_parse_expected(p, "'[' or '('");
    while (!cip_parse_skip(p, close)) {
        cip_field f = { 0 };
        if (key == 'n') {
            CIP_TRY(cip_parse_string(p, &name));
            CIP_TRY(cip_buf_add(to, &name, sizeof name, p->err));
        } else if (key == 'f') {
            CIP_TRY(parse_shaped(p, &f));
            CIP_TRY(cip_buf_add(to, &f, sizeof f, p->err));
        } else if (key == 'o') {
            CIP_TRY(parse_offset(p, &n));
            CIP_TRY(cip_buf_add(to, &n, sizeof n, p->err));
        } else if (!skip_word(p, "None")) {
            CIP_TRY(cip_parse_string(p, &name));
        }
        CIP_TRY(next_item(p, close));
    }
    return CIP_OK;
}

static cip_status parse_value(cip_dtype_parser *p, const char *key, dict *d)
{
    if (strcmp(key, "names") == 0)
        return parse_values(p, 'n', &d->names);
    if (strcmp(key, "formats") == 0)
        return parse_values(p, 'f', &d->formats);
    if (strcmp(key, "offsets") == 0) {
        d->has_offsets = true;
        return parse_values(p, 'o', &d->offsets);
    }
    if (strcmp(key, "itemsize") == 0)
        return parse_offset(p, &d->itemsize);
    if (strcmp(key, "titles") == 0)
        return parse_values(p, 't', NULL);
    if (strcmp(key, "aligned") != 0)
        return cip_parse_expected(p, "the value of a key that NumPy knows");
    d->aligned = skip_word(p, "True");
    return d->aligned || skip_word(p, "False") ? CIP_OK : cip_parse_expected(p, "True or False");
}

static cip_status finish_dict(cip_dtype_parser *p, dict *d, const cip_dtype **out)
{
    cip_field *f = (cip_field *)(void *)d->formats.ptr;
    char **name = (char **)(void *)d->names.ptr;
    const uint64_t *offset = (const uint64_t *)(const void *)d->offsets.ptr;
    size_t n = d->formats.len / sizeof *f;
    if (d->names.len / sizeof *name != n ||
        (d->has_offsets && d->offsets.len / sizeof *offset != n))
        return cip_parse_expected(p, "as many names and offsets as formats");
    if (d->aligned && !d->has_offsets)
        return cip_parse_expected(p, "offsets, as it is aligned");
    for (size_t i = 0; i < n; i++) {
        f[i].name = name[i];
        f[i].offset = d->has_offsets ? offset[i] : 0;
    }
    return make_record(p, &d->formats, !d->has_offsets, d->itemsize, out);
}

cip_status cip_parse_dict(cip_dtype_parser *p, const cip_dtype **out)
{
    cip_mem *mem = p->a->mem;
    dict d = { .names.mem = mem, .formats.mem = mem, .offsets.mem = mem };
    cip_status st = CIP_OK;
    while (!cip_parse_skip(p, '}')) {
        char *key;
        CIP_GO(cip_parse_string(p, &key));
        if (!cip_parse_skip(p, ':'))
            CIP_GO(cip_parse_expected(p, "':'"));
        CIP_GO(parse_value(p, key, &d));
        CIP_GO(next_item(p, '}'));
    }
    CIP_GO(finish_dict(p, &d, out));
done:
    cip_buf_clear(&d.names);
    cip_buf_clear(&d.formats);
    cip_buf_clear(&d.offsets);
    return st;
}
