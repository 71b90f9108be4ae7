/* SPDX-License-Identifier: BSD-3-Clause
 * The links of a group: as messages of its header, in a heap with a B-tree of their names, or, in
 * old groups, in a symbol table. */
#include <stdlib.h>

#include "format/hdf5/hdf5.h"

typedef struct group {
    cip_h5_work *w;
    cip_h5_links *out;
    cip_bytes names; /* of a symbol table */
    const cip_h5_heap *heap;
} group;

bool cip_h5_is_group(const cip_h5_object *o)
{
    return cip_h5_find_message(o, CIP_H5_LINK_INFO) != NULL ||
           cip_h5_find_message(o, CIP_H5_SYMBOLS) != NULL ||
           cip_h5_find_message(o, CIP_H5_LINK) != NULL;
}

static cip_status add(group *g, const cip_h5_link *link, cip_err *err)
{
    cip_h5_links *l = g->out;
    CIP_TRY(CIP_ARENA_ROOM(&g->w->arena, &l->at, l->n, &l->cap, err));
    l->at[l->n++] = *link;
    return CIP_OK;
}

/* --- link messages ---------------------------------------------------------------------------- */

static cip_status copy_text(group *g, cip_bytes in, const char **out, cip_err *err)
{
    char *text;
    CIP_TRY(cip_arena_copy(&g->w->arena, in.ptr, in.len, &text, err));
    *out = text;
    return CIP_OK;
}

static cip_status add_message(group *g, cip_bytes in, uint64_t at, cip_err *err)
{
    cip_cursor c = cip_cursor_le(in);
    cip_h5_link x = { .order = -1 };
    const uint8_t version = cip_get_u8(&c), flags = cip_get_u8(&c);
    if (version != 1)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, at, "expected a link of version 1, found %u",
                        version);
    x.kind = (flags & 8) != 0 ? cip_get_u8(&c) : CIP_H5_HARD;
    if ((flags & 4) != 0)
        x.order = (int64_t)(cip_get_u64(&c) & INT64_MAX);
    if ((flags & 16) != 0)
        cip_get_u8(&c);
    const uint64_t n = cip_h5_uint(&c, (size_t)1 << (flags & 3));
    CIP_TRY(copy_text(g, cip_get_bytes(&c, cip_min_u64(n, SIZE_MAX)), &x.name, err));
    if (x.kind == CIP_H5_HARD) {
        x.at = cip_h5_address(g->w->f, &c);
    } else {
        const char *value;
        const cip_bytes bytes = cip_get_bytes(&c, cip_get_u16(&c));
        CIP_TRY(copy_text(g, bytes, &value, err));
        x.path = value;
        if (x.kind == CIP_H5_OUTSIDE && bytes.len > 1) {
            /* flags, the file's name and the path in it, each with a NUL */
            const size_t end = 1 + strnlen(value + 1, bytes.len - 1);
            x.file = value + 1;
            x.path = end < bytes.len ? value + end + 1 : "";
        }
    }
    CIP_TRY(cip_h5_end(&c, "link", at, err));
    return add(g, &x, err);
}

static cip_status see_record(void *user, cip_bytes record, cip_err *err)
{
    group *g = user;
    cip_bytes in, id = record;
    if (record.len <= 4)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected records of links, found %zu bytes", record.len);
    id.ptr += 4; /* behind the name's hash */
    id.len -= 4;
    CIP_TRY(cip_h5_heap_get(g->w, g->heap, id, &in, err));
    return add_message(g, in, CIP_NO_OFFSET, err);
}

static cip_status read_dense(group *g, const cip_h5_message *m, cip_err *err)
{
    const cip_h5 *f = g->w->f;
    cip_cursor c = cip_cursor_le(m->data);
    cip_h5_heap heap;
    cip_get_u8(&c);
    if ((cip_get_u8(&c) & 1) != 0)
        cip_get_u64(&c);
    const uint64_t at = cip_h5_address(f, &c), names = cip_h5_address(f, &c);
    CIP_TRY(cip_h5_end(&c, "links", m->at, err));
    if (at == CIP_H5_NONE)
        return CIP_OK;
    CIP_TRY(cip_h5_heap_open(g->w, at, &heap, err));
    g->heap = &heap;
    return cip_h5_btree2(g->w, names, 5, see_record, g, err);
}

/* --- symbol tables ---------------------------------------------------------------------------- */

enum { IS_SOFT = 2 };

static cip_status see_node(void *user, cip_bytes key, uint64_t child, cip_err *err)
{
    group *g = user;
    const cip_h5 *f = g->w->f;
    const size_t each = 2 * (size_t)f->osize + 4 + 4 + 16;
    cip_cursor c;
    (void)key;
    CIP_TRY(cip_h5_block(g->w, child, 8, "SNOD", false, &c, err));
    cip_get_u16(&c);
    const uint16_t n = cip_get_u16(&c);
    CIP_TRY(cip_h5_block(g->w, child, 8 + n * each, "SNOD", false, &c, err));
    c.pos = 8;
    for (uint16_t i = 0; i < n; i++) {
        cip_h5_link x = { .order = -1 };
        CIP_TRY(cip_h5_local_text(g->names, cip_h5_address(f, &c), &x.name, err));
        x.at = cip_h5_address(f, &c);
        const uint32_t kind = cip_get_u32(&c);
        cip_get_u32(&c);
        const uint32_t value = cip_get_u32(&c);
        cip_get_bytes(&c, 12);
        if (kind == IS_SOFT) {
            x.kind = CIP_H5_SOFT;
            CIP_TRY(cip_h5_local_text(g->names, value, &x.path, err));
        }
        CIP_TRY(add(g, &x, err));
    }
    return CIP_OK;
}

static cip_status read_symbols(group *g, const cip_h5_message *m, cip_err *err)
{
    cip_cursor c = cip_cursor_le(m->data);
    const uint64_t tree = cip_h5_address(g->w->f, &c), heap = cip_h5_address(g->w->f, &c);
    CIP_TRY(cip_h5_end(&c, "symbol table", m->at, err));
    CIP_TRY(cip_h5_local_heap(g->w, heap, &g->names, err));
    return cip_h5_btree1(g->w, tree, 0, 0, see_node, g, err);
}

/* --- all of them ------------------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
    return strcmp(((const cip_h5_link *)a)->name, ((const cip_h5_link *)b)->name);
}

static int by_order(const void *a, const void *b)
{
    const int64_t x = ((const cip_h5_link *)a)->order, y = ((const cip_h5_link *)b)->order;
    return x == y ? by_name(a, b) : (x > y) - (x < y);
}

cip_status cip_h5_links_read(cip_h5_work *w, const cip_h5_object *o, cip_h5_links *out,
                             cip_err *err)
{
    group g = { .w = w, .out = out };
    bool ordered = true;
    *out = (cip_h5_links){ .n = 0 };
    for (size_t i = 0; i < o->n; i++) {
        const cip_h5_message *m = &o->message[i];
        CIP_TRY(m->type == CIP_H5_LINK        ? add_message(&g, m->data, m->at, err)
                : m->type == CIP_H5_LINK_INFO ? read_dense(&g, m, err)
                : m->type == CIP_H5_SYMBOLS   ? read_symbols(&g, m, err)
                                              : CIP_OK);
    }
    if (out->n == 0)
        return CIP_OK;
    qsort(out->at, out->n, sizeof *out->at, by_name);
    for (size_t i = 0; i < out->n; i++) {
        ordered = ordered && out->at[i].order >= 0;
        if (i != 0 && by_name(&out->at[i], &out->at[i - 1]) == 0)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected one link of the name '%.60s', found two", out->at[i].name);
    }
    if (ordered)
        qsort(out->at, out->n, sizeof *out->at, by_order);
    return CIP_OK;
}
