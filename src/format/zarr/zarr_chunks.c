/* SPDX-License-Identifier: BSD-3-Clause
 * Where chunks lie: each in a file of its own, found by its key, or in a shard, found by the
 * shard's index. Chunks that are nowhere are the fill value; how many of them follow each other is
 * found from the names in one folder, not by opening each.
 *
 * The indices of all shards of a level are a space of chunks of their own, so that an index is read
 * and checked once and kept in the cache like any decoded chunk. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/zarr/zarr.h"

/* --- keys ------------------------------------------------------------------------------------- */

void cip_zarr_place(const cip_zarr_array *a, const cip_zarr_level *v, uint64_t i,
                    uint64_t at[CIP_MAX_NDIM])
{
    for (int32_t k = a->ndim - 1; k >= 0; k--) {
        at[k] = i % v->nchunk[k];
        i /= v->nchunk[k];
    }
}

uint64_t cip_zarr_number_at(const cip_zarr_array *a, const cip_zarr_level *v,
                            const uint64_t at[CIP_MAX_NDIM])
{
    uint64_t i = 0;
    for (int32_t k = 0; k < a->ndim; k++)
        i = i * v->nchunk[k] + at[k];
    return i;
}

/* The first n parts of a key: all of them, or the folder that the rest lies in. */
static void key_part(const cip_zarr_array *a, const uint64_t at[CIP_MAX_NDIM], int32_t n, char *key,
                     size_t cap)
{
    size_t len = 0;
    key[0] = '\0';
    if (a->prefix)
        len = (size_t)snprintf(key, cap, "c");
    for (int32_t k = 0; k < n && len < cap; k++)
        len += (size_t)snprintf(key + len, cap - len, "%.*s%" PRIu64, a->prefix || k != 0,
                                &a->separator, at[a->level[0].axis[k]]);
    if (a->ndim == 0 && !a->prefix)
        snprintf(key, cap, "0");
}

void cip_zarr_key(const cip_zarr_array *a, uint64_t i, char *key, size_t cap)
{
    uint64_t at[CIP_MAX_NDIM];
    cip_zarr_place(a, &a->level[0], i, at);
    key_part(a, at, a->ndim, key, cap);
}

/* Digits without zeros in front; *end behind them. */
static bool take_number(const char *text, const char **end, uint64_t *n)
{
    *n = 0;
    *end = text;
    for (; **end >= '0' && **end <= '9'; (*end)++)
        if (cip_mul_overflow(*n, 10, n) || cip_add_overflow(*n, (uint64_t)(**end - '0'), n))
            return false;
    return *end != text && (text[0] != '0' || *end == text + 1);
}

bool cip_zarr_number(const cip_zarr_array *a, const char *key, uint64_t *i)
{
    const cip_zarr_level *v = &a->level[0];
    uint64_t at[CIP_MAX_NDIM];
    if (a->prefix && *key++ != 'c')
        return false;
    if (a->ndim == 0) {
        *i = 0;
        return strcmp(key, a->prefix ? "" : "0") == 0;
    }
    for (int32_t k = 0; k < a->ndim; k++) {
        const int32_t axis = v->axis[k];
        if ((a->prefix || k != 0) && *key++ != a->separator)
            return false;
        if (!take_number(key, &key, &at[axis]) || at[axis] >= v->nchunk[axis])
            return false;
    }
    *i = cip_zarr_number_at(a, v, at);
    return *key == '\0';
}

/* --- which chunks are missing ----------------------------------------------------------------- */

/* Whether numbers in names rise with those of chunks, so that runs can be told: the axes are stored
 * in the order of the keys. */
static bool in_order(const cip_zarr_array *a)
{
    for (int32_t k = 0; k < a->ndim; k++)
        if (a->level[0].axis[k] != k)
            return false;
    return true;
}

typedef struct listing {
    const cip_zarr_array *a;
    cip_buf *out;
    bool flat; /* whole keys are in the folder, else the last part of them */
    cip_status st;
} listing;

static int take_name(void *user, const char *name, bool is_folder)
{
    listing *k = user;
    const char *end;
    uint64_t n;
    (void)is_folder;
    if (k->flat ? !cip_zarr_number(k->a, name, &n) : !take_number(name, &end, &n) || *end != '\0')
        return 0;
    k->st = cip_buf_add(k->out, &n, sizeof n, NULL);
    return k->st != CIP_OK;
}

/* The numbers in the names of a folder, rising; none where there is no such folder. False: it
 * cannot be told. Under the lock. */
static bool list_folder(cip_zarr_array *a, cip_zarr_listing *x, const char *dir, bool flat)
{
    cip_layout *l = a->zarr->layout;
    char path[CIP_IO_NUMBER_NAME];
    listing k = { .a = a, .out = &x->numbers, .flat = flat };
    if (x->dir != NULL && strcmp(x->dir, dir) == 0)
        return true;
    cip_mem_put(&l->env->mem, x->dir);
    x->dir = NULL;
    x->numbers.mem = &l->env->mem;
    x->numbers.len = 0;
    snprintf(path, sizeof path, "%s%s", a->dir, dir);
    const size_t len = strlen(path);
    if (len != 0 && path[len - 1] == '/')
        path[len - 1] = '\0';
    const cip_status st =
        cip_io_list(cip_zarr_root(l), path, cip_zarr_flags(l), take_name, &k, NULL);
    if (k.st != CIP_OK || (st != CIP_OK && st != CIP_ERR_NOT_FOUND) ||
        cip_mem_copy(&l->env->mem, dir, strlen(dir), &x->dir, NULL) != CIP_OK)
        return false;
    if (x->numbers.len > sizeof(uint64_t))
        qsort(x->numbers.ptr, x->numbers.len / sizeof(uint64_t), sizeof(uint64_t), cip_compare_u64);
    return true;
}

/* The first number that is there from n on, or UINT64_MAX. */
static uint64_t next_listed(const cip_buf *numbers, uint64_t n)
{
    const uint64_t *at = (const uint64_t *)(const void *)numbers->ptr;
    const size_t count = numbers->len / sizeof *at;
    if (count == 0 || at[count - 1] < n)
        return UINT64_MAX;
    size_t i = cip_last_at_most(at, sizeof *at, count, n);
    while (at[i] < n)
        i++;
    return at[i];
}

/* One past the last chunk from i on, which has no file, that has none either. Of keys that are
 * paths each axis has folders: from the outermost one on, the first whose folder for the chunk is
 * not there says how far it goes. Under the lock. */
static uint64_t missing_end(cip_zarr_array *a, uint64_t i)
{
    const cip_zarr_level *v = &a->level[0];
    uint64_t at[CIP_MAX_NDIM], next, below = v->all;
    char dir[CIP_IO_NUMBER_NAME];
    if (a->ndim == 0 || !in_order(a))
        return i + 1;
    if (a->separator == '.')
        return list_folder(a, a->listing, "", true)
                   ? cip_min_u64(next_listed(&a->listing->numbers, i), v->all)
                   : i + 1;
    cip_zarr_place(a, v, i, at);
    for (int32_t k = 0; k < a->ndim; k++) {
        below /= v->nchunk[k];
        key_part(a, at, k, dir, sizeof dir);
        if (!list_folder(a, &a->listing[k], dir, false))
            break;
        next = cip_min_u64(next_listed(&a->listing[k].numbers, at[k]), v->nchunk[k]);
        if (next != at[k]) /* all below the present place, up to the next folder */
            return i - i % below + (next - at[k]) * below;
    }
    return i + 1;
}

/* How many chunks from i on, which has no file, have none. */
static uint64_t missing_run(cip_zarr_array *a, uint64_t i)
{
    pthread_mutex_lock(&a->lock);
    const uint64_t end = missing_end(a, i);
    a->gap_from = i;
    a->gap_end = end > i ? end : i + 1;
    const uint64_t run = a->gap_end - i;
    pthread_mutex_unlock(&a->lock);
    return run;
}

/* The same of one that is known to have none, since it lies in the run that was found last; else 0.
 */
static uint64_t known_run(cip_zarr_array *a, uint64_t i)
{
    pthread_mutex_lock(&a->lock);
    const uint64_t run = i >= a->gap_from && i < a->gap_end ? a->gap_end - i : 0;
    pthread_mutex_unlock(&a->lock);
    return run;
}

/* --- chunks ----------------------------------------------------------------------------------- */

static void fill_with(const cip_zarr_array *a, cip_chunk *out, uint64_t run)
{
    if (a->unfilled) {
        out->state = CIP_CHUNK_MISSING;
        out->why = CIP_ERR_UNSUPPORTED;
        out->lack = "it was never written, and the fill_value is null, for which programs have "
                    "different records";
        out->run = 1;
        return;
    }
    out->state = a->fill != NULL ? CIP_CHUNK_VALUE : CIP_CHUNK_ZERO;
    out->value = a->fill;
    out->value_len = a->fill != NULL ? (uint32_t)a->dtype->itemsize : 0;
    out->run = run;
}

static cip_status find_file(cip_zarr_array *a, uint64_t i, cip_chunk *out, cip_err *err)
{
    const uint64_t member = a->member + i;
    cip_err why = CIP_ERR_INIT;
    uint64_t len = known_run(a, i);
    if (len != 0) {
        fill_with(a, out, len);
        return CIP_OK;
    }
    const cip_status st = cip_io_numbered_size(a->zarr->numbered, member, &len, &why);
    if (st == CIP_ERR_NOT_FOUND) {
        fill_with(a, out, missing_run(a, i));
        return CIP_OK;
    }
    if (st == CIP_OK)
        CIP_TRY(cip_zarr_check_len(len, err));
    out->at = (cip_extent){ a->zarr->files, member << CIP_IO_NUMBER_SHIFT, len };
    return cip_err_give(err, &why, st);
}

/* How many chunks from number i on lie in shards that are missing, `run` of them from number p on:
 * as far as they are in whole slabs of the outermost axis that allows it. */
static uint64_t run_within(const cip_zarr_array *a, const cip_zarr_level *v,
                           const cip_zarr_level *shard, uint64_t i, uint64_t p, uint64_t run)
{
    uint64_t at[CIP_MAX_NDIM], end[CIP_MAX_NDIM] = { 0 }, slab = 1, best = 1;
    cip_zarr_place(a, shard, p, at);
    for (int32_t k = a->ndim - 1; k >= 0; k--) {
        const uint64_t n = cip_min_u64(run / slab, shard->nchunk[k] - at[k]);
        if (n == 0)
            break;
        /* The number of the chunk behind the last one of the slabs. */
        uint64_t below = 1, number = 0;
        for (int32_t j = a->ndim - 1; j > k; j--)
            below *= v->nchunk[j];
        uint64_t inner[CIP_MAX_NDIM];
        cip_zarr_place(a, v, i, inner);
        for (int32_t j = 0; j < k; j++)
            number = number * v->nchunk[j] + inner[j];
        end[k] = cip_min_u64((at[k] + n) * v->ratio[k], v->nchunk[k]);
        number = (number * v->nchunk[k] + end[k]) * below;
        best = cip_max_u64(best, number > i ? number - i : 1);
        if (at[k] != 0) /* further out, the slabs would have to begin before */
            break;
        slab *= shard->nchunk[k];
    }
    return best;
}

static cip_status find_in_shard(cip_zarr_array *a, size_t level, uint64_t i, cip_chunk *out,
                                cip_err *err)
{
    const cip_zarr_level *v = &a->level[level], *shard = &a->level[level - 1];
    const cip_read_how how = { a->zarr->layout, NULL };
    uint64_t at[CIP_MAX_NDIM], up[CIP_MAX_NDIM], o = 0, end;
    uint8_t entry[CIP_ZARR_ENTRY];
    cip_chunk in = { .run = 0 };
    cip_zarr_place(a, v, i, at);
    for (int32_t k = 0; k < a->ndim; k++)
        up[k] = at[k] / v->ratio[k];
    for (int32_t k = 0; k < a->ndim; k++)
        o = o * v->ratio[v->axis[k]] + at[v->axis[k]] % v->ratio[v->axis[k]];
    const uint64_t p = cip_zarr_number_at(a, shard, up);
    CIP_TRY(cip_zarr_find(a, level - 1, p, &in, err));
    if (in.state != CIP_CHUNK_DATA) {
        fill_with(a, out, run_within(a, v, shard, i, p, in.run));
        return CIP_OK;
    }
    CIP_TRY(cip_space_read_at(&how, v->index, (p * v->count + o) * CIP_ZARR_ENTRY, entry,
                              sizeof entry, err));
    const uint64_t off = cip_load_u64(entry, false), len = cip_load_u64(entry + 8, false);
    if (off == UINT64_MAX && len == UINT64_MAX) {
        fill_with(a, out, 1);
        return CIP_OK;
    }
    if (cip_add_overflow(off, len, &end) || end > in.at.len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a chunk within the %" PRIu64 " bytes of its shard, found %" PRIu64
                        " bytes at %" PRIu64,
                        in.at.len, len, off);
    out->at = (cip_extent){ in.at.in, in.at.off + off, len };
    return CIP_OK;
}

cip_status cip_zarr_find(cip_zarr_array *a, size_t level, uint64_t i, cip_chunk *out, cip_err *err)
{
    if (i >= a->level[level].all)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "chunk %" PRIu64 " of %" PRIu64, i,
                        a->level[level].all);
    return level == 0 ? find_file(a, i, out, err) : find_in_shard(a, level, i, out, err);
}

static cip_status table_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    cip_zarr_array *a = self;
    for (size_t k = 0; k < n; k++)
        CIP_TRY(cip_zarr_find(a, a->nlevel - 1, i + k, &out[k], err));
    return CIP_OK;
}

static cip_status table_count(void *self, uint64_t *n, cip_err *err)
{
    const cip_zarr_array *a = self;
    (void)err;
    *n = a->level[a->nlevel - 1].all;
    return CIP_OK;
}

/* Nothing is read ahead: which files there are is not known before. */
static void index_place(void *self, uint64_t i, cip_extent *at)
{
    (void)self, (void)i, (void)at;
}

/* Of a chunk in a file of its own. */
static void table_place(void *self, uint64_t i, cip_extent *at)
{
    cip_zarr_array *a = self;
    if (a->nlevel == 1 && known_run(a, i) == 0)
        *at = (cip_extent){ a->zarr->files, (a->member + i) << CIP_IO_NUMBER_SHIFT, 1 };
}

/* --- indices ---------------------------------------------------------------------------------- */

/* The indices of one level. */
typedef struct indices {
    cip_zarr_array *a;
    size_t level; /* of the chunks that they are of */
} indices;

static cip_status index_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const indices *x = self;
    const cip_zarr_level *v = &x->a->level[x->level];
    const uint64_t each = v->count * CIP_ZARR_ENTRY, sum = v->index_sum ? CIP_ZARR_SUM : 0;
    static const uint8_t none = 0xff;
    for (size_t k = 0; k < n; k++) {
        cip_chunk shard = { .run = 0 };
        CIP_TRY(cip_zarr_find(x->a, x->level - 1, i + k, &shard, err));
        out[k].raw_off = (i + k) * each;
        out[k].raw_len = each;
        if (shard.state != CIP_CHUNK_DATA) {
            out[k].state = CIP_CHUNK_VALUE;
            out[k].value = &none;
            out[k].value_len = 1;
            continue;
        }
        if (shard.at.len < each + sum)
            return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                            "expected a shard with an index of %" PRIu64 " bytes, found %" PRIu64
                            " bytes in all",
                            each + sum, shard.at.len);
        out[k].at = shard.at;
        out[k].at.len = each + sum;
        if (!v->index_first)
            out[k].at.off += shard.at.len - each - sum;
    }
    return CIP_OK;
}

static cip_status index_count(void *self, uint64_t *n, cip_err *err)
{
    const indices *x = self;
    (void)err;
    *n = x->a->level[x->level - 1].all;
    return CIP_OK;
}

static cip_status open_index(cip_zarr_array *a, size_t level, cip_err *err)
{
    cip_layout *l = a->zarr->layout;
    cip_zarr_level *v = &a->level[level];
    const cip_step step = { .codec = &cip_zarr_index_codec, .args = v };
    uint64_t len;
    indices *x;
    if (cip_mul_overflow(v->count * CIP_ZARR_ENTRY, a->level[level - 1].all, &len) ||
        len > INT64_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected less than 2^63 bytes of indices in its shards");
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &x, 1, err));
    *x = (indices){ a, level };
    const cip_table table = { .at = index_at,
                              .count = index_count,
                              .place = index_place,
                              .raw_each = v->count * CIP_ZARR_ENTRY,
                              .self = x };
    CIP_TRY(cip_space_new_chunked(l, &table, len, &step, 1, &v->index, err));
    v->index->label = "shard index";
    return CIP_OK;
}

/* --- the space -------------------------------------------------------------------------------- */

static cip_status new_grid(cip_zarr_array *a, cip_space **out, cip_err *err)
{
    const cip_zarr_level *inner = &a->level[a->nlevel - 1];
    int64_t shape[CIP_MAX_NDIM];
    for (int32_t k = 0; k < a->ndim; k++)
        shape[a->level[0].axis[k]] = a->shape[k];
    const cip_grid grid = {
        .itemsize = a->dtype->itemsize, .ndim = a->ndim, .shape = shape, .chunk = inner->chunk
    };
    const cip_table table = {
        .at = table_at, .count = table_count, .place = table_place, .self = a
    };
    /* One codec alone can perhaps decode a part. */
    const bool alone = a->pipe.n == 1 && a->pipe.step[0].kind == CIP_ZARR_ENTROPY;
    const cip_step step = { .codec = alone ? a->pipe.step[0].codec : &cip_zarr_codec,
                            .args = alone ? NULL : &a->pipe };
    return cip_space_new_grid(a->zarr->layout, &grid, &table, &step, a->pipe.n != 0, out, err);
}

cip_status cip_zarr_array_open(cip_zarr_array *a, cip_err *err)
{
    cip_layout *l = a->zarr->layout;
    cip_nd view;
    int64_t shape[CIP_MAX_NDIM];
    for (int32_t k = 0; k < a->ndim; k++)
        shape[a->level[0].axis[k]] = a->shape[k];
    CIP_TRY(cip_view_c_order(a->ndim, shape, a->dtype->itemsize, &view, err));
    a->array->view = view;
    bool f = a->ndim > 1;
    for (int32_t k = 0; k < a->ndim; k++) {
        a->array->view.shape[k] = a->shape[k];
        a->array->view.stride[k] = view.stride[a->level[0].axis[k]];
        f = f && a->level[0].axis[k] == a->ndim - 1 - k;
    }
    a->array->f_order = f;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &a->listing, (size_t)a->ndim + 1, err));
    if (a->dtype->itemsize == 0)
        return cip_space_new_mem(l, (cip_bytes){ NULL, 0 }, &a->array->space, err);
    if (a->level[0].all > CIP_IO_NUMBERS - a->zarr->nmember)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " chunks in the store, found %" PRIu64 " more",
                        CIP_IO_NUMBERS - a->zarr->nmember, a->level[0].all);
    for (size_t v = 1; v < a->nlevel; v++)
        CIP_TRY(open_index(a, v, err));
    CIP_TRY(new_grid(a, &a->array->space, err));
    a->array->space->label = a->array->path[0] != '\0' ? a->array->path : NULL;
    a->zarr->nmember += a->level[0].all;
    return CIP_OK;
}
