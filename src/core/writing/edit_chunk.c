/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks that programs have encoded, or have as they are decoded, into an array of an update. */
#include "cippus/ext/chunk.h"
#include "core/writing/edit_impl.h"

#include <string.h>

#include "codec/checksum/checksum.h"
#include "space/read/chunk_list.h"

typedef struct put_chunk {
    cip_edit *e;
    const cip_array *a;
    uint64_t i;
} put_chunk;

/* A chunk that came encoded is decoded once: what cannot be read must not be written. */
static cip_status look_at(const put_chunk *x, cip_err *err)
{
    cip_edit *e = x->e;
    const cip_array *a = x->a;
    const uint64_t i = x->i;
    const cip_read_how how = { a->layout, a->layout->env->pool };
    cip_mem *mem = &e->file->env.mem;
    cip_chunk_list l;
    cip_chunk c;
    void *buf;
    CIP_TRY(cip_chunk_list_open(cip_edit_now(e, a), &l, err));
    CIP_TRY(cip_chunk_list_at(&l, i, &c, err));
    CIP_TRY(cip_mem_get(mem, (size_t)c.raw_len, &buf, err));
    cip_status st = cip_chunk_list_decode(&how, &l, i, &c, buf, err);
    cip_mem_put(mem, buf);
    return st;
}

static cip_status next_of_bytes(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    cip_bytes *left = self;
    const size_t n = (size_t)nelem * left->len;
    (void)err;
    memcpy(dst, left->ptr, n);
    left->ptr += n;
    return CIP_OK;
}

/* An array whose bytes are one chunk: all of them, in C order. */
static cip_status put_bytes(const put_chunk *x, cip_chunk_changes *to, bool stored, cip_bytes bytes,
                            cip_err *err)
{
    const cip_nd *at = &cip_edit_now(x->e, x->a)->view;
    const bool stream = (cip_chunk_changes_form(to)->caps & CIP_FORM_STREAM) != 0;
    cip_bytes left = { bytes.ptr, (size_t)at->itemsize };
    const cip_feed feed = { .next = next_of_bytes, .self = &left };
    cip_chunk_list l; /* as the file has it */
    uint64_t first, end;
    CIP_TRY(cip_chunk_list_open(x->a, &l, err));
    CIP_TRY(cip_view_bounds(at, &first, &end, err));
    if (!cip_view_is_contiguous(at) || l.n > 1 || (stored && (stream || l.s->nstep != 0)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an array whose chunks can be written one by one");
    if (x->i != 0 || first == end || bytes.len != end - first)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected chunk 0, of %" PRIu64 " bytes, found chunk %" PRIu64
                        ", of %zu bytes",
                        end - first, x->i, bytes.len);
    return cip_chunk_changes_write(to, at, &feed, err);
}

static cip_status put(const put_chunk *x, bool stored, cip_bytes bytes, cip_err *err)
{
    cip_edit *const e = x->e;
    cip_chunk_in in = { .run = 1, .bytes = bytes };
    cip_change_form f;
    cip_chunk_changes *to;
    CIP_TRY(cip_array_state(cip_edit_now(e, x->a), err));
    CIP_TRY(cip_edit_form(e, x->a, CIP_CHANGE_ELEMENTS, NULL, &f, &to, err));
    if ((f.form.caps & CIP_FORM_BYTES) != 0)
        return put_bytes(x, to, stored, bytes, err);
    if (!stored)
        return cip_chunk_changes_put_raw(to, x->i, bytes, err);
    const uint8_t sum = cip_chunk_changes_form(to)->sum_id;
    CIP_TRY(cip_chunk_changes_raw_len(to, x->i, &in.raw_len, err));
    if (sum != CIP_SUM_NONE)
        CIP_TRY(cip_sum_of(&e->file->env.mem, (cip_sum_id)sum, bytes, in.sum, err));
    CIP_TRY(cip_chunk_changes_put(to, x->i, &in, err));
    return look_at(x, err);
}

cip_status cip_edit_put_chunk(cip_edit *e, const char *path, uint64_t i, bool stored,
                              cip_bytes bytes, cip_err *err)
{
    put_chunk x = { e, NULL, i };
    CIP_TRY(cip_edit_check(e, e->ops->form != NULL, "changing elements", err));
    if (path == NULL || (bytes.ptr == NULL && bytes.len != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path and bytes, found NULL");
    CIP_TRY(cip_edit_base(e, path, NULL, &x.a, err));
    CIP_TRY(cip_edit_no_slab(e, x.a, err));
    return cip_fail_in(err, put(&x, stored, bytes, err), "%s", x.a->path);
}
