/* SPDX-License-Identifier: BSD-3-Clause
 * Attributes as nodes of the tree. */
#include <stdlib.h>

#include "array/half.h"
#include "base/endian.h"
#include "format/hdf5/hdf5.h"
#include "tree/base64.h"
#include "tree/utf8.h"

typedef struct values {
    cip_h5_work *w;
    cip_arena *a;
    cip_h5_pointers *refs;
} values;

static cip_status value(const values *v, const cip_h5_type *t, const uint8_t *p, cip_node **out,
                        cip_err *err);

/* --- scalars ---------------------------------------------------------------------------------- */

static cip_status integer(const values *v, const cip_h5_type *t, const uint8_t *p, cip_node **out,
                          cip_err *err)
{
    const cip_dtype *d;
    uint64_t x = 0;
    CIP_TRY(cip_h5_dtype(v->a, t, &d, err));
    for (uint64_t i = 0; i < d->itemsize; i++)
        x = x << 8 | p[d->big ? i : d->itemsize - 1 - i];
    if (d->kind == CIP_BOOL)
        return cip_node_new_bool(v->a, x != 0, out, err);
    if (d->kind >= CIP_U8)
        return cip_node_new_uint(v->a, x, out, err);
    const unsigned up = 64 - 8 * (unsigned)d->itemsize;
    return cip_node_new_int(v->a, (int64_t)(x << up) >> up, out, err);
}

static cip_status floating(const values *v, const cip_h5_type *t, const uint8_t *p, cip_node **out,
                           cip_err *err)
{
    const cip_dtype *d;
    CIP_TRY(cip_h5_dtype(v->a, t, &d, err));
    double x;
    float f;
    const uint64_t bits = d->kind == CIP_F64 ? cip_load_u64(p, d->big) : 0;
    const uint32_t half = d->kind == CIP_F32 ? cip_load_u32(p, d->big) : 0;
    memcpy(&x, &bits, sizeof x);
    memcpy(&f, &half, sizeof f);
    if (d->kind != CIP_F64)
        x = (double)(d->kind == CIP_F32 ? f : cip_half_to_float(cip_load_u16(p, d->big)));
    return cip_node_new_double(v->a, x, out, err);
}

static cip_status text(const values *v, const uint8_t *p, size_t n, cip_node **out, cip_err *err)
{
    if (cip_utf8_is(p, n))
        return cip_node_new_string(v->a, (const char *)p, n, out, err);
    return cip_node_new_binary(v->a, (cip_bytes){ p, n }, out, err);
}

/* A fixed string ends at its first NUL, or without those or spaces that fill it up. */
static cip_status fixed_text(const values *v, const cip_h5_type *t, const uint8_t *p,
                             cip_node **out, cip_err *err)
{
    size_t n = (size_t)t->size;
    if ((t->bits & 0xf) == 0)
        n = strnlen((const char *)p, n);
    else
        while (n != 0 && p[n - 1] == ((t->bits & 0xf) == 2 ? ' ' : 0))
            n--;
    return text(v, p, n, out, err);
}

static cip_status reference(const values *v, const cip_h5_type *t, const uint8_t *p, cip_node **out,
                            cip_err *err)
{
    const cip_h5 *f = v->w->f;
    if ((t->bits & 0xf) != 0 || t->size != f->osize)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "references to regions are not read");
    cip_cursor c = cip_cursor_le((cip_bytes){ p, f->osize });
    CIP_TRY(cip_node_new_string(v->a, "", 0, out, err));
    CIP_TRY(CIP_ARENA_ROOM(&v->w->arena, &v->refs->at, v->refs->n, &v->refs->cap, err));
    v->refs->at[v->refs->n++] = (cip_h5_pointer){ *out, cip_h5_address(f, &c), false };
    return CIP_OK;
}

/* --- collections ------------------------------------------------------------------------------ */

/* A box of elements as nested sequences; one that holds none is empty. */
static cip_status box(const values *v, const cip_h5_type *t, int32_t rank, const int64_t *dim,
                      const uint8_t **p, cip_node **out, cip_err *err)
{
    uint64_t n;
    if (rank == 0) {
        CIP_TRY(value(v, t, *p, out, err));
        *p += t->size;
        return CIP_OK;
    }
    if (!cip_shape_nelem(rank, dim, &n))
        n = 0;
    const size_t items = n == 0 ? 0 : (size_t)dim[0];
    CIP_TRY(cip_node_new_seq(v->a, items, out, err));
    (*out)->style = rank == 1 ? CIP_STYLE_FLOW : CIP_STYLE_ANY;
    for (size_t i = 0; i < items; i++) {
        cip_node *item;
        CIP_TRY(box(v, t, rank - 1, dim + 1, p, &item, err));
        cip_node_set_item(*out, i, item);
    }
    return CIP_OK;
}

static cip_status compound(const values *v, const cip_h5_type *t, const uint8_t *p, cip_node **out,
                           cip_err *err)
{
    CIP_TRY(cip_node_new_map(v->a, t->n, out, err));
    (*out)->style = CIP_STYLE_FLOW;
    for (uint32_t i = 0; i < t->n; i++) {
        cip_node *item, *key;
        const char *name = t->member[i].name;
        CIP_TRY(text(v, (const uint8_t *)name, strlen(name), &key, err));
        CIP_TRY(value(v, t->member[i].type, p + t->member[i].offset, &item, err));
        cip_node_set_pair(*out, i, key, item);
    }
    return CIP_OK;
}

static cip_status complex_number(const values *v, const cip_h5_type *t, const uint8_t *p,
                                 cip_node **out, cip_err *err)
{
    cip_node *part;
    CIP_TRY(cip_node_new_map(v->a, 2, out, err));
    (*out)->style = CIP_STYLE_FLOW;
    CIP_TRY(value(v, t->base, p, &part, err));
    CIP_TRY(cip_node_set_key(v->a, *out, 0, "r", part, err));
    CIP_TRY(value(v, t->base, p + t->base->size, &part, err));
    return cip_node_set_key(v->a, *out, 1, "i", part, err);
}

/* Length, and object of the global heap. What one object holds is counted each time that it is
 * named. */
static cip_status variable(const values *v, const cip_h5_type *t, const uint8_t *p, cip_node **out,
                           cip_err *err)
{
    const cip_h5 *f = v->w->f;
    cip_cursor c = cip_cursor_le((cip_bytes){ p, (size_t)t->size });
    const uint64_t n = cip_get_u32(&c), at = cip_h5_address(f, &c);
    const uint32_t index = cip_get_u32(&c);
    const uint64_t each = cip_h5_is_text(t) ? 1 : t->base->size;
    cip_bytes in = { p, 0 };
    uint64_t len;
    CIP_TRY(cip_h5_end(&c, "value of variable length", CIP_NO_OFFSET, err));
    if (n != 0 && at != 0)
        CIP_TRY(cip_h5_global(v->w, at, index, &in, err));
    if (each == 0 || cip_mul_overflow(n, each, &len) || len > in.len)
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                        "expected %" PRIu64 " items in the global heap, found %zu bytes", n,
                        in.len);
    if (len > v->w->left)
        return cip_fail(err, CIP_ERR_LIMIT, f->base + at,
                        "expected fewer bytes of attributes than that");
    v->w->left -= len;
    if (cip_h5_is_text(t))
        return text(v, in.ptr, strnlen((const char *)in.ptr, (size_t)len), out, err);
    const int64_t items = (int64_t)n;
    return box(v, t->base, 1, &items, &in.ptr, out, err);
}

static cip_status value(const values *v, const cip_h5_type *t, const uint8_t *p, cip_node **out,
                        cip_err *err)
{
    switch (t->cls) {
    case CIP_H5_FIXED:
    case CIP_H5_BITS:
    case CIP_H5_ENUM:
        return integer(v, t, p, out, err);
    case CIP_H5_FLOAT:
        return floating(v, t, p, out, err);
    case CIP_H5_STRING:
        return fixed_text(v, t, p, out, err);
    case CIP_H5_OPAQUE:
        return cip_node_new_binary(v->a, (cip_bytes){ p, (size_t)t->size }, out, err);
    case CIP_H5_COMPOUND:
        return compound(v, t, p, out, err);
    case CIP_H5_REFERENCE:
        return reference(v, t, p, out, err);
    case CIP_H5_VARIABLE:
        return variable(v, t, p, out, err);
    case CIP_H5_ARRAY:
        return box(v, t->base, (int32_t)t->n, t->dim, &p, out, err);
    case CIP_H5_COMPLEX:
        return complex_number(v, t, p, out, err);
    default:
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "values of the class time are not read");
    }
}

/* --- attributes ------------------------------------------------------------------------------- */

typedef struct attribute {
    cip_bytes name;
    uint64_t at;
    cip_node *value;
} attribute;

typedef struct attributes {
    values v;
    const char *path; /* of the object */
    attribute *list;
    size_t n, cap;
    const cip_h5_heap *heap;
} attributes;

/* A part of an attribute message: `n` bytes, in version 1 padded to 8; perhaps shared. */
static cip_status part_of(const attributes *k, cip_cursor *c, size_t n, bool padded, uint16_t type,
                          bool shared, uint64_t at, cip_h5_message *out, cip_err *err)
{
    *out = (cip_h5_message){ .type = type, .at = at, .data = cip_get_bytes(c, n) };
    if (padded)
        cip_get_bytes(c, (8 - n % 8) % 8);
    CIP_TRY(cip_h5_end(c, "attribute", at, err));
    if (!shared)
        return CIP_OK;
    const cip_bytes in = out->data;
    return cip_h5_shared(k->v.w, type, at, in, out, err);
}

static cip_status read_value(const attributes *k, const cip_h5_type *t, const cip_h5_shape *s,
                             cip_bytes data, cip_node **out, cip_err *err)
{
    uint64_t n;
    if (s->null)
        return cip_node_new_null(k->v.a, out, err);
    if (!cip_shape_nelem(s->rank, s->dim, &n) || t->size == 0 || cip_mul_overflow(n, t->size, &n) ||
        n > data.len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a value of more than %zu bytes", data.len);
    return box(&k->v, t, s->rank, s->dim, &data.ptr, out, err);
}

static cip_status parse(const attributes *k, cip_bytes in, attribute *out, cip_err *err)
{
    cip_cursor c = cip_cursor_le(in);
    const uint8_t version = cip_get_u8(&c), flags = cip_get_u8(&c);
    const uint16_t name = cip_get_u16(&c), type = cip_get_u16(&c), space = cip_get_u16(&c);
    const bool old = version == 1;
    cip_h5_message m;
    const cip_h5_type *t;
    cip_h5_shape s;
    if (version < 1 || version > 3)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, out->at,
                        "expected an attribute of version 1 to 3, found %u", version);
    if (version == 3)
        cip_get_u8(&c);
    out->name = cip_get_bytes(&c, name);
    out->name.len = out->name.len == 0 ? 0 : strnlen((const char *)out->name.ptr, out->name.len);
    if (old)
        cip_get_bytes(&c, (8 - name % 8u) % 8);
    CIP_TRY(part_of(k, &c, type, old, CIP_H5_DATATYPE, !old && (flags & 1) != 0, out->at, &m, err));
    CIP_TRY(cip_h5_type_read(&k->v.w->arena, m.data, m.at, &t, err));
    CIP_TRY(
        part_of(k, &c, space, old, CIP_H5_DATASPACE, !old && (flags & 2) != 0, out->at, &m, err));
    CIP_TRY(cip_h5_shape_read(k->v.w->f, m.data, m.at, &s, err));
    return read_value(k, t, &s, cip_get_bytes(&c, cip_cursor_left(&c)), &out->value, err);
}

/* An attribute that cannot be shown is null. */
static cip_status add(attributes *k, cip_bytes in, uint64_t at, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    attribute x = { .at = at };
    const cip_status st = parse(k, in, &x, &why);
    if (cip_is_passing(st))
        return cip_err_give(err, &why, st);
    if (st != CIP_OK) {
        CIP_TRY(cip_node_new_null(k->v.a, &x.value, err));
        cip_err told = CIP_ERR_INIT;
        cip_fail(&told, st, at, "the attribute '%.*s' is left out: %.160s",
                 (int)cip_min_u64(x.name.len, 60), x.name.len != 0 ? (const char *)x.name.ptr : "",
                 why.text);
        CIP_TRY(cip_h5_left_out(k->v.w->f, x.value, &told, k->path, err));
    }
    CIP_TRY(CIP_ARENA_ROOM(&k->v.w->arena, &k->list, k->n, &k->cap, err));
    k->list[k->n++] = x;
    return CIP_OK;
}

static cip_status see_record(void *user, cip_bytes record, cip_err *err)
{
    attributes *k = user;
    cip_bytes in;
    if (record.len < 9)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected records of 17 bytes of attributes, found %zu", record.len);
    if ((record.ptr[8] & 2) != 0) {
        cip_h5_message m;
        CIP_TRY(cip_h5_shared(k->v.w, CIP_H5_ATTRIBUTE, CIP_NO_OFFSET, (cip_bytes){ record.ptr, 8 },
                              &m, err));
        return add(k, m.data, m.at, err);
    }
    CIP_TRY(cip_h5_heap_get(k->v.w, k->heap, (cip_bytes){ record.ptr, 8 }, &in, err));
    return add(k, in, CIP_NO_OFFSET, err);
}

static cip_status read_dense(attributes *k, const cip_h5_message *m, cip_err *err)
{
    const cip_h5 *f = k->v.w->f;
    cip_cursor c = cip_cursor_le(m->data);
    cip_h5_heap heap;
    cip_get_u8(&c);
    if ((cip_get_u8(&c) & 1) != 0)
        cip_get_u16(&c);
    const uint64_t at = cip_h5_address(f, &c), names = cip_h5_address(f, &c);
    CIP_TRY(cip_h5_end(&c, "attributes", m->at, err));
    if (at == CIP_H5_NONE)
        return CIP_OK;
    CIP_TRY(cip_h5_heap_open(k->v.w, at, &heap, err));
    k->heap = &heap;
    return cip_h5_btree2(k->v.w, names, 8, see_record, k, err);
}

static int by_name(const void *a, const void *b)
{
    const cip_bytes x = ((const attribute *)a)->name, y = ((const attribute *)b)->name;
    const int c =
        memcmp(x.ptr != NULL ? x.ptr : (const uint8_t *)"",
               y.ptr != NULL ? y.ptr : (const uint8_t *)"", x.len < y.len ? x.len : y.len);
    return c != 0 ? c : (x.len > y.len) - (x.len < y.len);
}

cip_status cip_h5_attributes(cip_h5_work *w, const cip_h5_object *o, const char *path,
                             cip_h5_pointers *refs, cip_node **out, cip_err *err)
{
    attributes k = { .v = { w, &w->f->layout->arena, refs }, .path = path };
    size_t kept = 0;
    *out = NULL;
    for (size_t i = 0; i < o->n; i++) {
        cip_h5_message m = o->message[i];
        if (m.type == CIP_H5_ATTRIBUTE) {
            CIP_TRY(cip_h5_own(w, &o->message[i], &m, err));
            CIP_TRY(add(&k, m.data, m.at, err));
        } else if (m.type == CIP_H5_ATTRIBUTE_INFO) {
            CIP_TRY(read_dense(&k, &m, err));
        }
    }
    if (k.n == 0)
        return CIP_OK;
    qsort(k.list, k.n, sizeof *k.list, by_name);
    for (size_t i = 0; i < k.n; i++) /* of equal names, which no program writes, the first */
        if (i == 0 || by_name(&k.list[i], &k.list[kept - 1]) != 0)
            k.list[kept++] = k.list[i];
    CIP_TRY(cip_node_new_map(k.v.a, kept, out, err));
    for (size_t i = 0; i < kept; i++) {
        cip_node *key;
        CIP_TRY(text(&k.v, k.list[i].name.ptr, k.list[i].name.len, &key, err));
        cip_node_set_pair(*out, i, key, k.list[i].value);
    }
    return CIP_OK;
}
