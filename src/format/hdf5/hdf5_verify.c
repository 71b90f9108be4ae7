/* SPDX-License-Identifier: BSD-3-Clause
 * Checking a file. Opening it has compared the checksums of object headers, heaps and B-trees; here
 * every chunk index is read and all elements are, and no two chunks may share bytes. */
#include <stdlib.h>

#include "format/hdf5/hdf5.h"

enum { PIECE = 1 << 20 };

/* Stored bytes of one chunk or dataset. */
typedef struct range {
    uint64_t at, end;
    const cip_array *of;
} range;

typedef struct ranges {
    cip_buf list;
    cip_report *report;
} ranges;

static cip_status add_range(ranges *r, const cip_extent *at, const cip_array *of, cip_err *err)
{
    const range x = { at->off, at->off + at->len, of };
    return at->len == 0 ? CIP_OK : cip_buf_add(&r->list, &x, sizeof x, err);
}

/* Where the elements lie in the file: chunks, or one run of bytes. */
static cip_status add_array(ranges *r, const cip_array *a, cip_space *s, cip_err *err)
{
    const cip_space *file = a->layout->file;
    uint64_t n;
    if (s->kind == CIP_SPACE_SUB && s->sub.in == file)
        return add_range(r, &s->sub, a, err);
    if (s->kind != CIP_SPACE_GRID)
        return CIP_OK;
    CIP_TRY(s->table.count(s->table.self, &n, err));
    for (uint64_t i = 0; i < n;) {
        cip_chunk c = { .run = 0 };
        CIP_TRY(s->table.at(s->table.self, i, 1, &c, err));
        if (c.state == CIP_CHUNK_DATA && c.at.in != file) { /* decoded in a space of its own */
            cip_chunk own = { .run = 0 };
            const cip_table *t = &c.at.in->table;
            CIP_TRY(t->at(t->self, c.at.off / c.raw_len, 1, &own, err));
            c.at = own.at;
        }
        if (c.state == CIP_CHUNK_DATA)
            CIP_TRY(add_range(r, &c.at, a, err));
        i += cip_max_u64(c.run, 1);
    }
    return CIP_OK;
}

static void find_overlaps(const ranges *r)
{
    range *x = (range *)(void *)r->list.ptr;
    const size_t n = r->list.len / sizeof *x;
    if (n > 1)
        qsort(x, n, sizeof *x, cip_compare_u64);
    for (size_t i = 1; i < n; i++)
        if (x[i].at < x[i - 1].end)
            cip_report_add(
                r->report, CIP_BAD, CIP_ERR_CORRUPT, x[i].at, x[i].end - x[i].at, x[i].of->path,
                "its bytes at %" PRIu64 " lie in those of '%.60s', which end at %" PRIu64, x[i].at,
                x[i - 1].of->path, x[i - 1].end);
}

static cip_status check_array(ranges *r, const cip_array *a, cip_err *err)
{
    const cip_read_how how = { a->layout, a->layout->env->pool };
    cip_space *s;
    CIP_TRY(cip_space_resolve(a->space, &s, err));
    CIP_TRY(add_array(r, a, s, err));
    return cip_space_stream(&how, s, PIECE, cip_report_read, r->report, err);
}

cip_status cip_h5_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    const cip_h5 *f = l->own;
    ranges r = { .list = { .mem = &l->env->mem }, .report = report };
    cip_status st = CIP_OK;
    (void)deep;
    for (size_t i = 0; i < f->ndamage; i++)
        cip_report_err(report, CIP_BAD, &f->damage[i]);
    for (size_t i = 0; i < l->narray; i++) {
        const cip_array *a = l->array[i];
        cip_err why = CIP_ERR_INIT;
        if (a->st != CIP_OK || a->same != NULL) /* core says why */
            continue;
        st = check_array(&r, a, &why);
        if (st != CIP_OK)
            cip_fail_in(&why, st, "%s", a->path);
        CIP_GO(cip_report_outcome(report, st, &why, err));
    }
    find_overlaps(&r);
    st = cip_report_status(report, err);
done:
    cip_buf_clear(&r.list);
    return st;
}
