/* SPDX-License-Identifier: BSD-3-Clause
 * Checking a folder of superchunks: each as bloscpack files are checked, digests too; which rows
 * are missing; the sizes; names that are nothing's. */
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/blz/blz.h"
#include "tree/json_read.h"

typedef struct check {
    cip_blz *b;
    cip_blz_column *c;
    cip_report *rep;
    uint64_t cbytes; /* of all chunks of all columns */
    bool whole;      /* all of them could be counted */
} check;

/* A fault of the content is a finding. */
static cip_status tell(const check *k, const char *part, cip_status st, cip_err *why, cip_err *err)
{
    if (st == CIP_OK)
        return CIP_OK;
    if (cip_is_passing(st))
        return cip_fail(err, st, why->offset, "%s", why->text);
    cip_fail_in(why, st, "%s", part);
    cip_report_err(k->rep, cip_severity_of(st), why);
    return CIP_OK;
}

/* --- one superchunk --------------------------------------------------------------------------- */

static cip_status read_meta(const cip_bp_file *f, cip_err *err)
{
    const cip_read_how how = { f->layout, NULL };
    cip_mem *mem = &f->layout->env->mem;
    cip_arena a = { .mem = mem };
    const cip_json_source from = { .env = f->layout->env, .arena = &a, .flags = CIP_JSON_PRINTED };
    void *text;
    size_t n;
    cip_node *node;
    if (!cip_to_size(f->bare_meta, &n))
        return cip_fail(err, CIP_ERR_LIMIT, f->meta_at, "%" PRIu64 " bytes", f->bare_meta);
    CIP_TRY(cip_mem_get(mem, n, &text, err));
    cip_status st = cip_space_read_at(&how, f->layout->file, f->meta_at, text, n, err);
    if (st == CIP_OK)
        st = cip_json_read(&from, (cip_bytes){ text, n }, &node, err);
    cip_arena_clear(&a);
    cip_mem_put(mem, text);
    return st;
}

static cip_status check_meta(const check *k, const cip_bp_file *f, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    if (f->bare_meta == 0)
        return CIP_OK;
    cip_status st = read_meta(f, &why);
    if (st == CIP_OK || cip_is_passing(st))
        return st == CIP_OK ? CIP_OK : cip_fail(err, st, why.offset, "%s", why.text);
    cip_report_add(k->rep, CIP_WARN, st, f->meta_at, f->bare_meta, f->part, "metadata: %s",
                   why.text);
    return CIP_OK;
}

static cip_status check_super(check *k, size_t j, bool deep, cip_err *err)
{
    uint64_t off = k->c->super[j].member << CIP_IO_NUMBER_SHIFT;
    char name[CIP_IO_NUMBER_NAME];
    cip_bp_file *f;
    cip_err why = CIP_ERR_INIT;
    cip_io_numbered_name(k->b->numbered, &off, name);
    cip_status st = cip_blz_super_open(k->c, j, &f, &why);
    k->whole = k->whole && st == CIP_OK;
    if (st != CIP_OK)
        return tell(k, name, st, &why, err);
    CIP_TRY(check_meta(k, f, err));
    CIP_TRY(cip_bp_verify(f->layout, deep, k->rep, err));
    uint64_t item = k->c->meta.dtype->itemsize;
    if (f->h.typesize != (item > CIP_BLOSC_MAX_TYPESIZE ? 1 : item))
        cip_report_add(k->rep, CIP_NOTE, CIP_OK, 7, 1, name,
                       "its header says elements of %u bytes, the dtype has %" PRIu64,
                       f->h.typesize, item);
    return cip_bp_count_bytes(f, &k->cbytes, &k->whole, err);
}

/* --- a column --------------------------------------------------------------------------------- */

/* Chunks that are missing, runs of them as rows; what the table says of the others. */
static cip_status check_rows(check *k, cip_err *err)
{
    cip_blz_column *c = k->c;
    const cip_table *t = &c->data->table;
    uint64_t n, run, rows = (uint64_t)c->meta.shape[0], from, to;
    cip_err why = CIP_ERR_INIT;
    cip_status st = t->count(t->self, &n, &why);
    if (st != CIP_OK)
        return tell(k, c->dir, st, &why, err);
    for (uint64_t i = 0; i < n; i += run) {
        cip_chunk chunk = { .run = 0 };
        why = (cip_err)CIP_ERR_INIT;
        st = t->at(t->self, i, 1, &chunk, &why);
        run = st == CIP_OK && chunk.state == CIP_CHUNK_MISSING ? cip_max_u64(chunk.run, 1) : 1;
        if (st != CIP_OK)
            CIP_TRY(tell(k, c->dir, st, &why, err));
        from = chunk.raw_off / c->meta.row;
        to = cip_min_u64((chunk.raw_off + run * chunk.raw_len) / c->meta.row, rows);
        if (st == CIP_OK && chunk.state == CIP_CHUNK_MISSING)
            cip_report_add(k->rep, CIP_BAD, chunk.why, CIP_NO_OFFSET, 0, c->dir,
                           "rows %" PRIu64 " to %" PRIu64 " are missing: %s", from, to - 1,
                           chunk.lack != NULL ? chunk.lack : "no file holds them");
        else if (st == CIP_OK && c->per != 0 && i + 1 < n && chunk.raw_len < c->each)
            cip_report_add(k->rep, CIP_BAD, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, 0, c->dir,
                           "rows %" PRIu64 " to %" PRIu64 " are missing: their chunk is short", to,
                           from + (uint64_t)c->meta.chunklen - 1);
        CIP_TRY(cip_report_status(k->rep, err));
    }
    return CIP_OK;
}

static cip_status check_column(check *k, bool deep, cip_err *err)
{
    cip_blz_column *c = k->c;
    for (size_t j = 0; j < c->nsuper; j++) {
        CIP_TRY(check_super(k, j, deep, err));
        CIP_TRY(cip_report_status(k->rep, err));
    }
    if (c->data != NULL)
        CIP_TRY(check_rows(k, err));
    uint64_t rows = 0; /* that are stored, as far as the superchunks can be opened */
    for (size_t j = 0; j < c->nsuper && c->meta.row != 0; j++) {
        cip_bp_file *f;
        cip_space *s;
        if (cip_blz_super_open(c, j, &f, NULL) == CIP_OK &&
            cip_space_resolve(f->data, &s, NULL) == CIP_OK)
            rows += f->chunks.raw_len / c->meta.row;
    }
    if (rows > (uint64_t)c->meta.shape[0])
        cip_report_fixable(k->rep, CIP_WARN, CIP_OK, CIP_NO_OFFSET, 0, c->dir,
                           "%" PRIu64 " rows are stored, %" PRIu64
                           " more than in meta/sizes: they were written last",
                           rows, rows - (uint64_t)c->meta.shape[0]);
    return CIP_OK;
}

/* --- all -------------------------------------------------------------------------------------- */

/* Of the folder's own data/; folders of fields are known by their superchunks' folders. */
static int see_name(void *user, const char *name, bool is_folder)
{
    const check *k = user;
    const size_t len = strlen(name);
    bool known = !is_folder && len > 8 && strncmp(name, "__", 2) == 0 &&
                 strcmp(name + len - 6, "__.bin") == 0;
    for (size_t i = 0; is_folder && !known && i < k->b->ncolumn; i++) {
        const char *dir = k->b->column[i]->dir;
        known = strncmp(dir, "data/", 5) == 0 && strncmp(dir + 5, name, len) == 0 &&
                dir[5 + len] == '/';
    }
    if (!known)
        cip_report_add(k->rep, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, "data/",
                       "'%.200s' is neither a superchunk nor a field's folder", name);
    return k->rep->cancelled;
}

cip_status cip_blz_verify_document(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    check k = { .b = l->own, .rep = report, .whole = true };
    cip_err why = CIP_ERR_INIT;
    for (size_t i = 0; i < k.b->ncolumn; i++) {
        k.c = k.b->column[i];
        CIP_TRY(check_column(&k, deep, err));
    }
    /* Shards may hold whatever else. */
    cip_status st = cip_io_list(l->io, "data", cip_blz_flags(l), see_name, &k, &why);
    CIP_TRY(cip_report_status(report, err));
    if (st != CIP_ERR_NOT_FOUND)
        CIP_TRY(tell(&k, "data/", st, &why, err));
    const cip_node *sizes = k.b->ncolumn != 0 ? k.b->column[0]->meta.sizes : NULL;
    const cip_node *n = sizes != NULL ? cip_map_get(sizes, "cbytes") : NULL;
    uint64_t said;
    if (k.whole && n != NULL && cip_node_as_uint(n, &said) && said != k.cbytes)
        cip_report_fixable(k.rep, CIP_WARN, CIP_ERR_CORRUPT, CIP_NO_OFFSET, 0, "meta/sizes",
                           "it records %" PRIu64 " bytes of chunks, found %" PRIu64, said,
                           k.cbytes);
    return cip_report_status(k.rep, err);
}
