/* SPDX-License-Identifier: BSD-3-Clause
 * Checking a store: every chunk that is there with its checksums, the indices of shards, and names
 * that stand for nothing. `verify --deep` decodes chunks, as of every format. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/zarr/zarr.h"

enum { ENTRIES = 1 << 10 /* of an index that are looked at together */ };

typedef struct check {
    cip_zarr *z;
    cip_report *rep;
    cip_zarr_array *a;
    char name[CIP_IO_NUMBER_NAME]; /* of the file */
    cip_status st;                 /* what ends the check */
    cip_err *err;
} check;

/* A fault of what is checked is told, any other ends it. */
static cip_status outcome(check *k, cip_status st, const cip_err *why)
{
    if (st != CIP_OK && cip_is_about_content(st))
        cip_report_add(k->rep, cip_severity_of(st), st, why->offset, 0, k->name, "%s", why->text);
    else if (st != CIP_OK)
        return cip_err_give(k->err, why, st);
    return cip_report_status(k->rep, k->err);
}

/* --- one chunk -------------------------------------------------------------------------------- */

static cip_status check_stored(check *k, const cip_extent *at, cip_err *err)
{
    const cip_zarr_array *a = k->a;
    const cip_read_how how = { k->z->layout, NULL };
    uint64_t raw = a->dtype->itemsize;
    void *bytes = NULL;
    size_t n;
    cip_status st;
    for (int32_t j = 0; j < a->ndim; j++)
        raw *= (uint64_t)a->level[a->nlevel - 1].chunk[j]; /* checked when they were read */
    if (a->pipe.n == 0 && at->len != raw)
        return cip_fail(err, at->len < raw ? CIP_ERR_TRUNCATED : CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a chunk of %" PRIu64 " bytes, found %" PRIu64, raw, at->len);
    if (!cip_zarr_is_summed(&a->pipe))
        return CIP_OK;
    if (!cip_to_size(at->len, &n))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%" PRIu64 " stored bytes", at->len);
    CIP_TRY(cip_mem_get(&k->z->layout->env->mem, n, &bytes, err));
    CIP_GO(cip_space_read_at(&how, at->in, at->off, bytes, n, err));
    CIP_GO(cip_zarr_check_sum(&a->pipe, &k->z->layout->env->mem, (cip_bytes){ bytes, n }, err));
done:
    cip_mem_put(&k->z->layout->env->mem, bytes);
    return st;
}

/* --- shards ----------------------------------------------------------------------------------- */

typedef struct part {
    uint64_t off, end;
} part;

static int by_offset(const void *a, const void *b)
{
    const part *x = a, *y = b;
    return (x->off > y->off) - (x->off < y->off);
}

/* Chunks of one shard that share bytes, with each other or with the index. */
static void check_overlap(check *k, cip_buf *parts)
{
    part *p = (part *)(void *)parts->ptr;
    const size_t n = parts->len / sizeof *p;
    if (n > 1)
        qsort(p, n, sizeof *p, by_offset);
    for (size_t i = 1; i < n; i++)
        if (p[i].off < p[i - 1].end && p[i].end != p[i].off) {
            cip_report_add(k->rep, CIP_BAD, CIP_ERR_CORRUPT, p[i].off, p[i - 1].end - p[i].off,
                           k->name,
                           "expected chunks of a shard one beside the other, found one that begins "
                           "at byte %" PRIu64 " where another ends at %" PRIu64,
                           p[i].off, p[i - 1].end);
            return;
        }
}

static cip_status check_chunk(check *k, size_t level, uint64_t i, const cip_extent *at);

/* The chunk that has place o in shard p; false: it lies beyond the array. */
static bool number_in(const cip_zarr_array *a, size_t level, uint64_t p, uint64_t o, uint64_t *i)
{
    const cip_zarr_level *v = &a->level[level];
    uint64_t at[CIP_MAX_NDIM];
    cip_zarr_place(a, v - 1, p, at);
    for (int32_t j = a->ndim - 1; j >= 0; j--) {
        const int32_t k = v->axis[j];
        at[k] = at[k] * v->ratio[k] + o % v->ratio[k];
        o /= v->ratio[k];
        if (at[k] >= v->nchunk[k])
            return false;
    }
    *i = cip_zarr_number_at(a, v, at);
    return true;
}

static cip_status check_entry(check *k, size_t level, uint64_t p, uint64_t o, const uint8_t *entry,
                              const cip_extent *shard, cip_buf *parts)
{
    const uint64_t off = cip_load_u64(entry, false), len = cip_load_u64(entry + 8, false);
    uint64_t end, i;
    if (off == UINT64_MAX && len == UINT64_MAX)
        return CIP_OK;
    if (cip_add_overflow(off, len, &end) || end > shard->len) {
        cip_report_add(k->rep, CIP_BAD, CIP_ERR_CORRUPT, CIP_NO_OFFSET, 0, k->name,
                       "chunk %" PRIu64 " of the shard: expected bytes within its %" PRIu64
                       ", found %" PRIu64 " at %" PRIu64,
                       o, shard->len, len, off);
        return cip_report_status(k->rep, k->err);
    }
    const part own = { off, end };
    CIP_TRY(cip_buf_add(parts, &own, sizeof own, k->err));
    const cip_extent at = { shard->in, shard->off + off, len };
    return number_in(k->a, level, p, o, &i) ? check_chunk(k, level, i, &at) : CIP_OK;
}

/* Shard p, whose chunks are of `level`. */
static cip_status check_shard(check *k, size_t level, uint64_t p, const cip_extent *shard)
{
    const cip_zarr_level *v = &k->a->level[level];
    const cip_read_how how = { k->z->layout, NULL };
    const uint64_t index = v->count * CIP_ZARR_ENTRY + (v->index_sum ? CIP_ZARR_SUM : 0);
    uint8_t *entry = NULL;
    cip_buf parts = { .mem = &k->z->layout->env->mem };
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_mem_get(parts.mem, ENTRIES * CIP_ZARR_ENTRY, (void **)&entry, k->err);
    bool whole = true;
    for (uint64_t o = 0; st == CIP_OK && o < v->count && whole; o += ENTRIES) {
        const size_t n = (size_t)cip_min_u64(ENTRIES, v->count - o);
        st = cip_space_read_at(&how, v->index, (p * v->count + o) * CIP_ZARR_ENTRY, entry,
                               n * CIP_ZARR_ENTRY, &why);
        whole = st == CIP_OK;
        st = outcome(k, st, &why);
        for (size_t j = 0; st == CIP_OK && whole && j < n; j++)
            st = check_entry(k, level, p, o + j, entry + j * CIP_ZARR_ENTRY, shard, &parts);
    }
    const part own = { v->index_first ? 0 : cip_bytes_left(shard->len, index),
                       v->index_first ? index : shard->len };
    if (st == CIP_OK && whole)
        st = cip_buf_add(&parts, &own, sizeof own, k->err);
    if (st == CIP_OK && whole)
        check_overlap(k, &parts);
    cip_mem_put(parts.mem, entry);
    cip_buf_clear(&parts);
    return st;
}

/* Chunk i of a level, whose bytes are known. */
static cip_status check_chunk(check *k, size_t level, uint64_t i, const cip_extent *at)
{
    cip_err why = CIP_ERR_INIT;
    if (level + 1 < k->a->nlevel)
        return check_shard(k, level + 1, i, at);
    return outcome(k, check_stored(k, at, &why), &why);
}

static cip_status check_file(check *k, uint64_t i)
{
    cip_chunk c = { .run = 0 };
    cip_err why = CIP_ERR_INIT;
    const cip_status st = cip_zarr_find(k->a, 0, i, &c, &why);
    if (st != CIP_OK || c.state != CIP_CHUNK_DATA)
        return outcome(k, st, &why);
    cip_report_progress(k->rep, c.at.len);
    return check_chunk(k, 0, i, &c.at);
}

/* --- folders ---------------------------------------------------------------------------------- */

static bool is_metadata(const char *name)
{
    static const char known[] = "zarr.json .zarray .zgroup .zattrs .zmetadata";
    return cip_is_word_of(known, name, strlen(name));
}

/* Names in a folder of an array, `key` of its keys so far. */
typedef struct walk {
    check *k;
    const char *key; /* "" or with a slash at the end */
    int32_t depth;
} walk;

static cip_status walk_folder(check *k, const char *key, int32_t depth);

static int take_name(void *user, const char *name, bool is_folder)
{
    walk *w = user;
    check *k = w->k;
    char key[CIP_IO_NUMBER_NAME];
    uint64_t i;
    if (w->depth == 0 && !is_folder && is_metadata(name))
        return 0;
    if ((size_t)snprintf(key, sizeof key, "%s%s%s", w->key, name, is_folder ? "/" : "") >=
        sizeof key)
        return 0;
    snprintf(k->name, sizeof k->name, "%s%s", k->a->dir, key);
    if (is_folder && w->depth <= k->a->ndim && k->a->separator == '/')
        k->st = walk_folder(k, key, w->depth + 1);
    else if (!is_folder && k->a->array->st == CIP_OK && cip_zarr_number(k->a, key, &i))
        k->st = check_file(k, i);
    else
        cip_report_add(k->rep, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, k->name,
                       k->a->array->st == CIP_OK ? "it is no chunk of the array's shape"
                                                 : "it is not looked at");
    if (k->st == CIP_OK)
        k->st = cip_report_status(k->rep, k->err);
    return k->st != CIP_OK;
}

static cip_status walk_folder(check *k, const char *key, int32_t depth)
{
    cip_layout *l = k->z->layout;
    char path[2 * CIP_IO_NUMBER_NAME];
    walk w = { k, key, depth };
    cip_err why = CIP_ERR_INIT;
    const size_t n = (size_t)snprintf(path, sizeof path, "%s%s", k->a->dir, key);
    if (n != 0 && n < sizeof path)
        path[n - 1] = '\0';
    const cip_status st =
        cip_io_list(cip_zarr_root(l), path, cip_zarr_flags(l), take_name, &w, &why);
    CIP_TRY(k->st);
    return st == CIP_ERR_NOT_FOUND ? CIP_OK : outcome(k, st, &why);
}

cip_status cip_zarr_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    cip_zarr *z = l->own;
    (void)deep;
    if (z->zip != NULL)
        CIP_TRY(cip_zarr_verify_zip(z, report, err));
    for (size_t i = 0; i < z->narray; i++) {
        check k = { .z = z, .rep = report, .a = z->array[i], .err = err };
        if (k.a->array->st == CIP_OK && k.a->dtype->itemsize != 0)
            CIP_TRY(walk_folder(&k, "", 0));
    }
    return cip_report_status(report, err);
}
