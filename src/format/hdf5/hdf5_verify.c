/* SPDX-License-Identifier: BSD-3-Clause
 * Checking a file. Opening it has compared the checksums of object headers, heaps and B-trees; here
 * every chunk index is read, chunks that have a checksum are decoded, and no two may share bytes.
 */
#include <stdlib.h>

#include "format/hdf5/hdf5.h"
#include "space/read/chunk_list.h"

/* Stored bytes of one chunk or dataset. */
typedef struct range {
    uint64_t at, end;
    const cip_array *of;
} range;

typedef struct check {
    cip_layout *l;
    cip_report *report;
    cip_buf ranges;
    const cip_array *a;
} check;

static cip_status add_range(check *k, const cip_extent *at, cip_err *err)
{
    const range x = { at->off, at->off + at->len, k->a };
    return at->len == 0 ? CIP_OK : cip_buf_add(&k->ranges, &x, sizeof x, err);
}

static bool has_sums(const cip_space *s)
{
    const cip_h5_pipeline *p = s->nstep == 1 ? s->step[0].args : NULL;
    for (uint32_t i = 0; p != NULL && i < p->n; i++)
        if (p->filter[i]->id == CIP_H5_FLETCHER32)
            return true;
    return false;
}

/* Chunks one by one: where they are, and their checksums. A damaged one is a finding, and the next
 * is looked at. */
static cip_status check_chunks(check *k, const cip_chunk_list *list, uint8_t *raw, cip_err *err)
{
    const cip_read_how how = { k->l, NULL };
    cip_chunk c;
    for (uint64_t i = 0; i < list->n; i += cip_max_u64(c.run, 1)) {
        cip_err why = CIP_ERR_INIT;
        c = (cip_chunk){ .run = 0 };
        cip_status st = cip_chunk_list_at(list, i, &c, &why);
        if (st == CIP_OK && c.state == CIP_CHUNK_DATA) {
            if (raw != NULL)
                st = cip_chunk_list_decode(&how, list, i, &c, raw, &why);
            list->s->table.place(list->s->table.self, i, &c.at);
            CIP_TRY(add_range(k, &c.at, err));
            cip_report_progress(k->report, c.at.len);
        }
        if (st != CIP_OK)
            cip_fail_in(&why, st, "%s, chunk %" PRIu64, k->a->path, i);
        CIP_TRY(cip_report_outcome(k->report, st, &why, err));
        CIP_TRY(cip_report_status(k->report, err));
    }
    return CIP_OK;
}

/* Decoding, which `verify --deep` does of all arrays, is for checksums; not of more than the file
 * can honestly stand for. */
static cip_status check_array(check *k, bool deep, cip_err *err)
{
    cip_chunk_list list;
    cip_space *s;
    uint8_t *raw = NULL;
    CIP_TRY(cip_space_resolve(k->a->space, &s, err));
    if (s->kind == CIP_SPACE_SUB)
        return add_range(k, &s->sub, err);
    if (s->kind != CIP_SPACE_GRID)
        return CIP_OK;
    CIP_TRY(cip_chunk_list_open(k->a, &list, err));
    const cip_codec_env *env = &s->codec_env;
    uint64_t n;
    if (!deep && has_sums(s) && cip_shape_nelem(env->ndim, env->chunk, &n) &&
        !cip_mul_overflow(n, env->typesize, &n) && cip_layout_expects(k->l, s->len))
        CIP_TRY(cip_mem_get(&k->l->env->mem, (size_t)n, (void **)&raw, err));
    const cip_status st = check_chunks(k, &list, raw, err);
    cip_mem_put(&k->l->env->mem, raw);
    return st;
}

static void find_overlaps(const check *k)
{
    range *x = (range *)(void *)k->ranges.ptr;
    const size_t n = k->ranges.len / sizeof *x;
    if (n > 1)
        qsort(x, n, sizeof *x, cip_compare_u64);
    for (size_t i = 1; i < n; i++)
        if (x[i].at < x[i - 1].end)
            cip_report_add(
                k->report, CIP_BAD, CIP_ERR_CORRUPT, x[i].at, x[i].end - x[i].at, x[i].of->path,
                "its bytes at %" PRIu64 " lie in those of '%.60s', which end at %" PRIu64, x[i].at,
                x[i - 1].of->path, x[i - 1].end);
}

cip_status cip_h5_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    const cip_h5 *f = l->own;
    check k = { .l = l, .report = report, .ranges = { .mem = &l->env->mem } };
    cip_status st = CIP_OK;
    for (size_t i = 0; i < f->ndamage; i++)
        cip_report_err(report, CIP_BAD, &f->damage[i]);
    for (size_t i = 0; i < l->narray; i++) {
        cip_err why = CIP_ERR_INIT;
        k.a = l->array[i];
        if (k.a->st != CIP_OK || k.a->same != NULL) /* core says why */
            continue;
        st = check_array(&k, deep, &why);
        if (st != CIP_OK)
            cip_fail_in(&why, st, "%s", k.a->path);
        CIP_GO(cip_report_outcome(report, st, &why, err));
    }
    find_overlaps(&k);
    st = cip_report_status(report, err);
done:
    cip_buf_clear(&k.ranges);
    return st;
}
