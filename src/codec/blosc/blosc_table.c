/* SPDX-License-Identifier: BSD-3-Clause
 * The table of a chunk's blocks. Writers with threads append blocks as they are done, so that a
 * block's end is found by sorting. */
#include "codec/blosc/blosc_decode.h"

#include <stdlib.h>

#include "base/endian.h"

static uint32_t entry(const cip_blosc_table *t, uint32_t j)
{
    return cip_load_u32(t->at + 4 * (size_t)j, false);
}

size_t cip_blosc_table_end(const cip_blosc_head *h)
{
    return h->header + 4 * (size_t)h->nblock;
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static cip_status check_entries(const cip_blosc_table *t, uint64_t begin, bool *in_order,
                                cip_err *err)
{
    uint32_t before = 0;
    *in_order = true;
    for (uint32_t j = 0; j < t->n; j++) {
        uint32_t at = entry(t, j);
        if (at < begin || at >= t->cbytes)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected Blosc block %" PRIu32 " between %" PRIu64 " and %" PRIu32
                            " in its chunk, found it at %" PRIu32,
                            j, begin, t->cbytes, at);
        *in_order = *in_order && at > before;
        before = at;
    }
    return CIP_OK;
}

/* Sorts the entries. Threads finish blocks nearly in order, so each is put before the few that it
 * has to pass; where these become many, the rest is sorted like any list. Where blocks shared a
 * place, a small chunk could make us decode the same bytes without end. */
static cip_status sort_entries(const cip_blosc_table *t, uint32_t *sorted, cip_err *err)
{
    enum { PASSED_EACH = 8 };
    uint64_t left = (uint64_t)t->n * PASSED_EACH;
    for (uint32_t j = 0; j < t->n; j++) {
        const uint32_t at = entry(t, j);
        uint32_t k = j;
        for (; k != 0 && left != 0 && sorted[k - 1] > at; k--, left--)
            sorted[k] = sorted[k - 1];
        sorted[k] = at;
    }
    if (left == 0)
        qsort(sorted, t->n, sizeof *sorted, compare);
    for (uint32_t j = 1; j < t->n; j++)
        if (sorted[j] == sorted[j - 1])
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected one Blosc block at each position, found two at %" PRIu32,
                            sorted[j]);
    return CIP_OK;
}

cip_status cip_blosc_table_open(cip_mem *mem, const cip_blosc_head *h, const uint8_t *at,
                                cip_blosc_table *out, cip_err *err)
{
    cip_blosc_table t = { .at = at + h->header, .n = h->nblock, .cbytes = h->cbytes };
    bool in_order;
    cip_status st = CIP_OK;
    CIP_TRY(check_entries(&t, cip_blosc_table_end(h), &in_order, err));
    if (!in_order && h->vl)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected ascending positions of blocks of variable length");
    if (!in_order) {
        CIP_TRY(CIP_NEW(mem, &t.sorted, t.n, err));
        st = sort_entries(&t, t.sorted, err);
    }
    if (st == CIP_OK)
        *out = t;
    else
        cip_mem_put(mem, t.sorted);
    return st;
}

cip_need cip_blosc_table_block(const cip_blosc_table *t, uint32_t j)
{
    const uint32_t at = entry(t, j);
    uint32_t lo = 0, hi = t->n, end = t->cbytes;
    if (t->sorted == NULL && j + 1 < t->n)
        end = entry(t, j + 1);
    while (t->sorted != NULL && lo < hi) { /* the least position above, or the chunk's end */
        const uint32_t mid = lo + (hi - lo) / 2;
        if (t->sorted[mid] > at)
            end = t->sorted[hi = mid];
        else
            lo = mid + 1;
    }
    return (cip_need){ at, end - at };
}

uint32_t cip_blosc_table_first(const cip_blosc_table *t)
{
    return t->sorted != NULL ? t->sorted[0] : entry(t, 0);
}
