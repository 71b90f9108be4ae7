/* SPDX-License-Identifier: BSD-3-Clause
 * Object headers: the messages of a group, dataset or committed datatype, in one block and those
 * that continue it. */
#include "format/hdf5/hdf5.h"

enum {
    CHUNKS = 4096, /* blocks of one header; the library makes a handful */
    SHARED = 2     /* a message's flag */
};

/* A block of messages that is still to be read. */
typedef struct block {
    uint64_t at, len;
} block;

typedef struct reader {
    cip_h5_work *w;
    cip_h5_object *o;
    block *next;
    size_t n, cap;
    uint8_t version, flags;
} reader;

static cip_status add_message(reader *r, const cip_h5_message *m, cip_err *err)
{
    const cip_h5 *f = r->w->f;
    if (m->type == CIP_H5_CONTINUATION) {
        cip_cursor c = cip_cursor_le(m->data);
        block b = { .at = cip_h5_address(f, &c) };
        b.len = cip_h5_length(f, &c);
        CIP_TRY(cip_h5_end(&c, "continuation", m->at, err));
        if (r->n >= CHUNKS)
            return cip_fail(err, CIP_ERR_LIMIT, m->at,
                            "expected an object header of at most %d blocks", CHUNKS);
        CIP_TRY(CIP_ARENA_ROOM(&r->w->arena, &r->next, r->n, &r->cap, err));
        r->next[r->n++] = b;
        return CIP_OK;
    }
    CIP_TRY(CIP_ARENA_ROOM(&r->w->arena, &r->o->message, r->o->n, &r->o->cap, err));
    r->o->message[r->o->n++] = *m;
    return CIP_OK;
}

/* Messages one behind the other up to the end, or to a gap that no message fits. */
static cip_status take_messages(reader *r, cip_cursor *c, uint64_t at, cip_err *err)
{
    const bool old = r->version == 1;
    const size_t head = old ? 8 : 4 + ((r->flags & 4) != 0 ? 2 : 0);
    while (cip_cursor_left(c) >= head) {
        cip_h5_message m = { .type = old ? cip_get_u16(c) : cip_get_u8(c) };
        const uint16_t n = cip_get_u16(c);
        m.flags = cip_get_u8(c);
        cip_get_bytes(c, old ? 3 : head - 4);
        m.at = at + c->pos;
        m.data = cip_get_bytes(c, n);
        if (c->bad)
            return cip_fail(err, CIP_ERR_CORRUPT, at + c->pos,
                            "object header: expected a message of %u bytes, found the end of its "
                            "block",
                            n);
        CIP_TRY(add_message(r, &m, err));
    }
    return CIP_OK;
}

static cip_status read_first(reader *r, uint64_t at, cip_err *err)
{
    const cip_h5 *f = r->w->f;
    cip_bytes in;
    CIP_TRY(cip_h5_get(r->w, at, 16, "object header", &in, err));
    cip_cursor c = cip_cursor_le(in);
    if (in.ptr[0] == 1) {
        r->version = 1;
        c.pos = 8;
        r->n = 1;
        r->next[0] = (block){ at + 16, cip_get_u32(&c) };
        return CIP_OK;
    }
    if (memcmp(in.ptr, "OHDR", 4) != 0 || in.ptr[4] != 2)
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + at,
                        "expected an object header, found 0x%02x%02x%02x%02x", in.ptr[0], in.ptr[1],
                        in.ptr[2], in.ptr[3]);
    r->version = 2;
    r->flags = in.ptr[5];
    const size_t width = (size_t)1 << (r->flags & 3);
    const size_t front =
        6 + ((r->flags & 0x20) != 0 ? 16 : 0) + ((r->flags & 0x10) != 0 ? 4 : 0) + width;
    CIP_TRY(cip_h5_get(r->w, at, front, "object header", &in, err));
    c = cip_cursor_le(in);
    c.pos = front - width;
    uint64_t len = cip_h5_uint(&c, width);
    if (cip_add_overflow(len, front + 4, &len))
        len = UINT64_MAX;
    CIP_TRY(cip_h5_get(r->w, at, len, "object header", &in, err));
    CIP_TRY(cip_h5_check(f, at, in, "object header", err));
    c = cip_cursor_le((cip_bytes){ in.ptr, in.len - 4 });
    c.pos = front;
    return take_messages(r, &c, f->base + at, err);
}

cip_status cip_h5_object_read(cip_h5_work *w, uint64_t at, cip_h5_object *out, cip_err *err)
{
    reader r = { .w = w, .o = out };
    *out = (cip_h5_object){ .at = at };
    CIP_TRY(CIP_ARENA_ROOM(&w->arena, &r.next, r.n, &r.cap, err));
    CIP_TRY(read_first(&r, at, err));
    for (size_t i = 0; i < r.n; i++) {
        const block b = r.next[i];
        cip_cursor c;
        if (r.version == 1) {
            cip_bytes in;
            CIP_TRY(cip_h5_get(w, b.at, b.len, "object header", &in, err));
            c = cip_cursor_le(in);
        } else
            CIP_TRY(cip_h5_block(w, b.at, b.len, "OCHK", true, &c, err));
        CIP_TRY(take_messages(&r, &c, w->f->base + b.at, err));
    }
    return CIP_OK;
}

const cip_h5_message *cip_h5_find_message(const cip_h5_object *o, uint16_t type)
{
    for (size_t i = 0; i < o->n; i++)
        if (o->message[i].type == type)
            return &o->message[i];
    return NULL;
}

/* --- shared messages -------------------------------------------------------------------------- */

/* The index of shared messages of a type: the address of the heap that they lie in. */
static cip_status shared_heap(cip_h5_work *w, uint16_t type, uint64_t *heap, cip_err *err)
{
    const cip_h5 *f = w->f;
    cip_h5_object o = { .n = 0 };
    cip_cursor c;
    if (f->extension != CIP_H5_NONE)
        CIP_TRY(cip_h5_object_read(w, f->extension, &o, err));
    const cip_h5_message *m = cip_h5_find_message(&o, CIP_H5_SHARED_TABLE);
    if (m == NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a table of shared messages in the superblock's extension");
    c = cip_cursor_le(m->data);
    cip_get_u8(&c);
    const uint64_t table = cip_h5_address(f, &c);
    const uint8_t n = cip_get_u8(&c);
    const size_t each = 1 + 1 + 2 + 4 + 2 + 2 + 2 + 2 * (size_t)f->osize;
    CIP_TRY(cip_h5_end(&c, "shared messages", m->at, err));
    CIP_TRY(cip_h5_block(w, table, 4 + n * each + 4, "SMTB", true, &c, err));
    for (uint8_t i = 0; i < n; i++) {
        cip_get_u16(&c);
        const uint16_t types = cip_get_u16(&c);
        cip_get_bytes(&c, 4 + 2 + 2 + 2);
        cip_h5_address(f, &c);
        *heap = cip_h5_address(f, &c);
        if (type < 16 && (types >> type & 1) != 0 && !c.bad)
            return CIP_OK;
    }
    return cip_fail(err, CIP_ERR_CORRUPT, f->base + table,
                    "expected shared messages of type %u, found none", type);
}

cip_status cip_h5_shared(cip_h5_work *w, uint16_t type, uint64_t at, cip_bytes in,
                         cip_h5_message *out, cip_err *err)
{
    const cip_h5 *f = w->f;
    cip_cursor c = cip_cursor_le(in);
    const uint8_t version = cip_get_u8(&c), kind = cip_get_u8(&c);
    *out = (cip_h5_message){ .type = type, .at = at };
    if (version < 1 || version > 3)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, at,
                        "expected a shared message of version 1 to 3, found %u", version);
    if (version == 3 && kind == 1) {
        const cip_bytes id = cip_get_bytes(&c, 8);
        cip_h5_heap heap;
        uint64_t place;
        CIP_TRY(cip_h5_end(&c, "shared message", at, err));
        CIP_TRY(shared_heap(w, type, &place, err));
        CIP_TRY(cip_h5_heap_open(w, place, &heap, err));
        return cip_h5_heap_get(w, &heap, id, &out->data, err);
    }
    if (version == 1)
        cip_get_bytes(&c, 6);
    const uint64_t place = cip_h5_address(f, &c);
    cip_h5_object o;
    CIP_TRY(cip_h5_end(&c, "shared message", at, err));
    CIP_TRY(cip_h5_object_read(w, place, &o, err));
    const cip_h5_message *m = cip_h5_find_message(&o, type);
    if (m == NULL || (m->flags & SHARED) != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, f->base + place,
                        "expected an object with a message of type %u, found none", type);
    *out = *m;
    return CIP_OK;
}

cip_status cip_h5_own(cip_h5_work *w, const cip_h5_message *m, cip_h5_message *out, cip_err *err)
{
    *out = *m;
    return (m->flags & SHARED) == 0 ? CIP_OK : cip_h5_shared(w, m->type, m->at, m->data, out, err);
}
