/* SPDX-License-Identifier: BSD-3-Clause
 * Checking a folder: every data file's header, and the files that are there but belong to nothing.
 * `verify --deep` decodes chunks, as of every format. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/blz/blz.h"

typedef struct check {
    const cip_blz_column *c;
    cip_report *rep;
    const char *dir; /* the data folder */
    cip_buf numbers; /* of the data files that are there */
} check;

/* Rows of chunks [from, to), which have no files. */
static void report_gap(const check *k, uint64_t from, uint64_t to)
{
    uint64_t len = (uint64_t)k->c->meta.chunklen, rows = (uint64_t)k->c->meta.shape[0];
    if (k->c->meta.objects)
        len = 1;
    if (from < to)
        cip_report_add(k->rep, CIP_BAD, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, 0, k->dir,
                       "rows %" PRIu64 " to %" PRIu64 " are missing: the files __%" PRIu64
                       ".blp to __%" PRIu64 ".blp do not exist",
                       from * len, cip_min_u64(to * len, rows) - 1, from, to - 1);
}

/* Of a chunk that is there, how many rows it lacks. */
static cip_status check_chunk(check *k, uint64_t i, cip_err *err)
{
    const cip_blz_column *c = k->c;
    uint64_t off = (c->member + i) << CIP_IO_NUMBER_SHIFT;
    char name[CIP_IO_NUMBER_NAME];
    cip_blosc_head head;
    cip_extent at;
    cip_err why = CIP_ERR_INIT;
    cip_io_numbered_name(c->blz->numbered, &off, name);
    cip_status st = cip_blz_chunk_head(c, i, &head, &at, &why);
    if (st == CIP_OK)
        st = cip_blosc_known(&head, &why);
    if (st == CIP_ERR_NOMEM || st == CIP_ERR_IO)
        return cip_fail(err, st, why.offset, "%s", why.text);
    if (st != CIP_OK) {
        cip_report_add(k->rep, cip_severity_of(st), st, why.offset, 0, name, "%s", why.text);
        return CIP_OK;
    }
    cip_report_progress(k->rep, at.len);
    if (c->meta.objects)
        return CIP_OK;
    uint64_t rows = head.nbytes / c->meta.row;
    uint64_t before = i * (uint64_t)c->meta.chunklen;
    uint64_t wanted = cip_min_u64((uint64_t)c->meta.chunklen, (uint64_t)c->meta.shape[0] - before);
    if (rows < wanted)
        cip_report_fixable(k->rep, CIP_BAD, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, 0, name,
                           "expected %" PRIu64 " rows from row %" PRIu64
                           " on, as in meta/sizes, found %" PRIu64,
                           wanted, before, rows);
    else if (rows > wanted)
        cip_report_fixable(k->rep, CIP_WARN, CIP_OK, CIP_NO_OFFSET, 0, name,
                           "it holds %" PRIu64 " rows, %" PRIu64
                           " more than in meta/sizes: it was written last",
                           rows, rows - wanted);
    return CIP_OK;
}

/* The chunks that have files one by one, and what is missing between them; their number may be far
 * below the number of chunks that the shape needs. */
static cip_status check_files(check *k, cip_err *err)
{
    uint64_t next = 0, need = k->c->nchunk;
    size_t n = cip_blz_numbers_count(&k->numbers), i = 0;
    for (; i < n && cip_blz_numbers_at(&k->numbers, i) < need; i++) {
        const uint64_t number = cip_blz_numbers_at(&k->numbers, i);
        report_gap(k, next, number);
        CIP_TRY(check_chunk(k, number, err));
        CIP_TRY(cip_report_status(k->rep, err));
        next = number + 1;
    }
    report_gap(k, next, need);
    if (i < n)
        cip_report_fixable(
            k->rep, CIP_WARN, CIP_OK, CIP_NO_OFFSET, 0, k->dir,
            "%zu chunk files after the %" PRId64
            " rows of meta/sizes: left over, or written by a program that was interrupted",
            n - i, k->c->meta.shape[0]);
    return CIP_OK;
}

cip_status cip_blz_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    const cip_blz *b = l->own;
    if (b->document)
        return cip_blz_verify_document(l, deep, report, err);
    for (size_t i = 0; i < b->ncolumn; i++) {
        char dir[CIP_IO_NUMBER_NAME];
        check k = { .c = b->column[i], .rep = report, .dir = dir };
        cip_err why = CIP_ERR_INIT;
        /* of one that cannot be read core says why */
        if (b->column[i]->array->st == CIP_OK || b->column[i]->meta.objects) {
            snprintf(dir, sizeof dir, "%sdata", b->column[i]->dir);
            cip_status st = cip_blz_numbers_list(b->column[i], report, &k.numbers, &why);
            st = st == CIP_OK ? check_files(&k, err) : cip_report_outcome(report, st, &why, err);
            cip_buf_clear(&k.numbers);
            CIP_TRY(st);
        }
    }
    return cip_report_status(report, err);
}
