/* SPDX-License-Identifier: BSD-3-Clause
 * What becomes of the arrays of a store that is there. A chunk that changes is a new file that
 * takes the name of the old one; of shards, the shard is a new file, in which the chunks that stay
 * are taken as they are. Files of chunks beyond a new shape go. Metadata change after all of them,
 * the consolidated ones last. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/entropy/entropy.h"
#include "format/zarr/zarr_write.h"
#include "tree/yaml.h"

enum { MOST_FILL = 64 << 20 /* bytes of a row of fill values */ };

/* --- how new chunks are encoded --------------------------------------------------------------- */

static const cip_node *setting(const cip_zarr_step *s, const char *key)
{
    return cip_node_kind(s->conf) == CIP_NODE_MAP ? cip_map_get(s->conf, key) : NULL;
}

static cip_status blosc_of(cip_arena *a, const cip_zarr_array *x, cip_zarr_step *s, cip_err *err)
{
    const cip_node *cname = setting(s, "cname"), *shuffle = setting(s, "shuffle");
    const cip_node *typesize = setting(s, "typesize"), *level = setting(s, "clevel");
    cip_blosc_spec *b;
    int64_t n = (int64_t)x->dtype->itemsize, filter = 1;
    uint8_t meta;
    CIP_TRY(CIP_ARENA_NEW(a, &b, 1, err));
    if (typesize != NULL)
        cip_node_as_int(typesize, &n);
    b->typesize = n > 0 && n <= CIP_BLOSC_MAX_TYPESIZE ? (uint32_t)n : 1;
    b->blosc1 = true;
    b->level = 5;
    if (level != NULL && cip_node_as_int(level, &n) && n >= 0 && n <= 9)
        b->level = (int)n;
    if (cip_node_kind(cname) == CIP_NODE_STRING)
        CIP_TRY(cip_blosc_codec_parse(cname->text, &b->compcode, &meta, err));
    if (shuffle != NULL && !cip_node_as_int(shuffle, &filter))
        filter = cip_node_is_string(shuffle, "bitshuffle") ? 2
                 : cip_node_is_string(shuffle, "shuffle")  ? 1
                                                           : 0;
    if (filter == -1) /* numcodecs: by the elements */
        filter = x->dtype->itemsize == 1 ? 2 : 1;
    b->filter[5] = filter == 2   ? CIP_BLOSC_BITSHUFFLE
                   : filter == 1 ? CIP_BLOSC_SHUFFLE
                                 : CIP_BLOSC_NOFILTER;
    s->blosc = b;
    return CIP_OK;
}

static cip_status encoder_of(cip_zarr_writer *w, const cip_zarr_array *x, cip_zarr_pipe **out,
                             cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(w->arena, out, 1, err));
    **out = x->pipe;
    for (size_t k = 0; k < x->pipe.n; k++) {
        cip_zarr_step *s = &(*out)->step[k];
        const cip_node *level = setting(s, "level");
        int64_t n = 0;
        if (s->kind != CIP_ZARR_ENTROPY && s->kind != CIP_ZARR_LZ4 && s->kind != CIP_ZARR_CRC32C)
            return cip_fail(
                err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                "expected the codecs blosc, zstd, gzip, zlib, bz2, lz4 and crc32c of an "
                "array to change, found %.80s",
                x->codec);
        if (s->codec == &cip_codec_blosc)
            CIP_TRY(blosc_of(w->arena, x, s, err));
        else if (s->kind == CIP_ZARR_ENTROPY && level != NULL && cip_node_as_int(level, &n) &&
                 n > 0 && n < 100 &&
                 (s->codec->level == NULL || s->codec->level((int)n, NULL) == CIP_OK))
            s->level = (int)n;
    }
    return CIP_OK;
}

/* --- the beginning ---------------------------------------------------------------------------- */

cip_status cip_zarr_update_begin(const cip_store_begin *b, void **state, cip_err *err)
{
    cip_zarr_writer *w;
    cip_zarr *z = b->old->own;
    if (z->zip != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a folder to change, found a zip archive, which is only read; "
                        "convert it to a folder first");
    if (b->spec->codec != NULL || b->spec->checksum != NULL)
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "expected no codec and no checksum for a change of a Zarr store: its arrays "
            "keep theirs");
    for (size_t i = 0; cip_zarr_options[i].key != NULL; i++)
        if (cip_option_given(b->spec->option, i) != NULL)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the option %s cannot be changed by an update",
                            cip_zarr_options[i].key);
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
    *w = (cip_zarr_writer){ .env = b->env, .arena = b->arena, .old = z };
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w->changed, z->narray, err));
    *state = w;
    return CIP_OK;
}

static size_t index_of(const cip_zarr_writer *w, const cip_array *a)
{
    for (size_t i = 0; i < w->old->narray; i++)
        if (w->old->array[i]->array == cip_array_listed(a))
            return i;
    return SIZE_MAX;
}

/* A row of fill values, for rows that come without others. */
static cip_status fill_row(cip_zarr_writer *w, const cip_zarr_array *x, const uint8_t **out,
                           cip_err *err)
{
    uint64_t n = x->dtype->itemsize;
    uint8_t *row;
    for (int32_t k = 1; k < x->ndim; k++)
        if (cip_mul_overflow(n, (uint64_t)x->shape[k], &n) || n > MOST_FILL)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected rows of at most %d bytes to fill with the fill value; append "
                            "the rows instead",
                            MOST_FILL);
    CIP_TRY(cip_arena_get(w->arena, (size_t)n, (void **)&row, err));
    cip_bytes_repeat((cip_bytes){ x->fill, (size_t)x->dtype->itemsize }, 0, row, (size_t)n);
    *out = row;
    return CIP_OK;
}

cip_status cip_zarr_update_form(void *state, const cip_array *a, cip_change_kind kind,
                                const int64_t *shape, cip_change_form *out, cip_err *err)
{
    cip_zarr_writer *w = state;
    const size_t i = index_of(w, a);
    if (i == SIZE_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "it is no array of the store");
    const cip_zarr_array *x = w->old->array[i];
    const cip_space *s = x->array->space;
    if (x->dtype->itemsize == 0 || s->kind != CIP_SPACE_GRID)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "its elements have no bytes");
    for (int32_t k = 0; kind != CIP_CHANGE_ELEMENTS && k < x->ndim; k++)
        if (x->level[0].axis[k] != k)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected chunks in C order to change the shape, found others; convert "
                            "the store first");
    if (x->nlevel > 2)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "shards within shards cannot be changed; convert the store first");
    if (w->changed[i].pipe == NULL)
        CIP_TRY(encoder_of(w, x, &w->changed[i].pipe, err));
    if (kind == CIP_CHANGE_SHAPE && x->fill != NULL && shape != NULL && shape[0] > x->shape[0])
        CIP_TRY(fill_row(w, x, &out->fill, err));
    const cip_zarr_pipe *p = w->changed[i].pipe;
    const bool alone = s->nstep == 1 && s->step[0].codec != &cip_zarr_codec;
    uint64_t nbytes = x->dtype->itemsize;
    for (int32_t k = 0; k < x->ndim; k++)
        nbytes *= (uint64_t)s->grid->chunk[k]; /* checked when it was read */
    out->form = (cip_array_form){
        .dtype = x->dtype,
        .grid = s->grid,
        .chunk_nbytes = nbytes,
        .step[0] = { .codec = alone ? s->step[0].codec : &cip_zarr_codec,
                     .args = alone ? (const void *)p->step[0].blosc : (const void *)p,
                     .level = alone ? p->step[0].level : 0 },
        .nstep = p->n != 0,
        .codec_env = { .typesize = x->dtype->itemsize },
        .specials = x->fill == NULL ? CIP_FORM_SPECIAL(CIP_CHUNK_ZERO) : 0,
    };
    return CIP_OK;
}

cip_status cip_zarr_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    cip_zarr_writer *w = state;
    const size_t i = index_of(w, cip_chunk_changes_array(c));
    if (i == SIZE_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "it is no array of the store");
    w->changed[i].chunks = c;
    return CIP_OK;
}

/* --- files ------------------------------------------------------------------------------------ */

/* An array as it was and as it becomes. */
typedef struct rewrite {
    cip_zarr_writer *w;
    cip_zarr_array *x;
    cip_zarr_array now; /* shape and levels, for keys and numbers */
    const cip_chunk_changes *c;
    cip_revision *r;
    bool reshaped;
    bool renumbered; /* ... and chunks at the same place have other numbers */
} rewrite;

static cip_status path_of(const rewrite *v, const cip_zarr_array *a, uint64_t i, char **path,
                          cip_err *err)
{
    char key[CIP_IO_NUMBER_NAME];
    cip_zarr_key(a, i, key, sizeof key);
    return cip_arena_printf(v->w->arena, path, err, "%s%s", v->x->dir, key);
}

/* Whether there is a file of this name, whoever left it. */
static cip_status is_there(const rewrite *v, const char *path, bool *yes, cip_err *err)
{
    cip_layout *l = v->w->old->layout;
    cip_err why = CIP_ERR_INIT;
    cip_io *io;
    const cip_status st = cip_io_open_beneath(l->io, path, cip_zarr_flags(l), &io, &why);
    *yes = st == CIP_OK;
    if (st == CIP_OK)
        cip_io_close(io);
    return st == CIP_ERR_NOT_FOUND ? CIP_OK : cip_err_give(err, &why, st);
}

/* The file becomes a new one, to be filled (*as), or is none any more (as NULL). */
static cip_status begin_file(const rewrite *v, uint64_t i, cip_revision **as, cip_err *err)
{
    char *path;
    bool there;
    CIP_TRY(path_of(v, &v->now, i, &path, err));
    CIP_TRY(is_there(v, path, &there, err));
    if (as == NULL)
        return there ? cip_revision_unlink(v->r, path, NULL, err) : CIP_OK;
    return there ? cip_revision_replace(v->r, path, NULL, as, err)
                 : cip_revision_make(v->r, path, as, err);
}

/* Where chunk i of the innermost level lies by now: a piece of an io; its length 0 and no io: it is
 * the fill value. */
static cip_status piece_of(const rewrite *v, uint64_t i, cip_segment *out, cip_err *err)
{
    cip_chunk_now now;
    cip_chunk old = { .run = 0 };
    const cip_chunk *c = &now.chunk;
    *out = (cip_segment){ .len = 0 };
    cip_chunk_changes_at(v->c, i, &now);
    if (now.from != UINT64_MAX) {
        CIP_TRY(cip_zarr_find(v->x, v->x->nlevel - 1, now.from, &old, err));
        c = &old;
    }
    if (c->state == CIP_CHUNK_DATA)
        *out = (cip_segment){ .io = c->at.in->io, .off = c->at.off, .len = c->at.len };
    return CIP_OK;
}

/* Whether chunk i is at the same place as before, as it was. */
static bool is_kept(const rewrite *v, uint64_t i, uint64_t from)
{
    uint64_t a[CIP_MAX_NDIM], b[CIP_MAX_NDIM];
    const size_t inner = v->x->nlevel - 1;
    if (from == UINT64_MAX || (from != i && !v->reshaped))
        return false;
    if (!v->reshaped)
        return true;
    cip_zarr_place(&v->now, &v->now.level[inner], i, a);
    cip_zarr_place(v->x, &v->x->level[inner], from, b);
    return memcmp(a, b, (size_t)v->x->ndim * sizeof *a) == 0;
}

static cip_status put_chunk(const rewrite *v, uint64_t i, cip_err *err)
{
    cip_segment piece;
    cip_revision *as;
    CIP_TRY(piece_of(v, i, &piece, err));
    if (piece.io == NULL)
        return begin_file(v, i, NULL, err);
    CIP_TRY(begin_file(v, i, &as, err));
    return cip_revision_range(as, piece.io, piece.off, piece.len, err);
}

/* Shard p out of its chunks as they are by now. */
static cip_status put_shard(const rewrite *v, uint64_t p, cip_err *err)
{
    const cip_zarr_level *x = &v->now.level[1], *shard = &v->now.level[0];
    uint64_t up[CIP_MAX_NDIM], at[CIP_MAX_NDIM];
    const uint64_t index = x->count * CIP_ZARR_ENTRY, sum = x->index_sum ? CIP_ZARR_SUM : 0;
    uint64_t off = x->index_first ? index + sum : 0;
    cip_segment *piece = NULL;
    uint8_t *entry = NULL;
    cip_revision *as = NULL;
    cip_status st;
    bool any = false;
    CIP_GO(CIP_NEW(&v->w->env->mem, &piece, (size_t)x->count, err));
    CIP_GO(cip_mem_get(&v->w->env->mem, (size_t)(index + sum), (void **)&entry, err));
    cip_zarr_place(&v->now, shard, p, up);
    for (uint64_t o = 0; o < x->count; o++) {
        uint64_t rest = o;
        bool within = true;
        for (int32_t j = v->now.ndim - 1; j >= 0; j--) {
            const int32_t k = x->axis[j];
            at[k] = up[k] * x->ratio[k] + rest % x->ratio[k];
            rest /= x->ratio[k];
            within = within && at[k] < x->nchunk[k];
        }
        if (within)
            CIP_GO(piece_of(v, cip_zarr_number_at(&v->now, x, at), &piece[o], err));
        const bool here = piece[o].io != NULL;
        cip_store_u64(entry + o * CIP_ZARR_ENTRY, here ? off : UINT64_MAX, x->index_big);
        cip_store_u64(entry + o * CIP_ZARR_ENTRY + 8, here ? piece[o].len : UINT64_MAX,
                      x->index_big);
        off += piece[o].len;
        any = any || here;
    }
    if (sum != 0)
        cip_store_u32(entry + index, cip_zarr_crc32c(0, entry, (size_t)index), false);
    CIP_GO(begin_file(v, p, any ? &as : NULL, err));
    if (any && x->index_first)
        CIP_GO(cip_revision_bytes(as, entry, (size_t)(index + sum), err));
    for (uint64_t o = 0; any && o < x->count; o++)
        if (piece[o].io != NULL)
            CIP_GO(cip_revision_range(as, piece[o].io, piece[o].off, piece[o].len, err));
    if (any && !x->index_first)
        CIP_GO(cip_revision_bytes(as, entry, (size_t)(index + sum), err));
    st = CIP_OK;
done:
    cip_mem_put(&v->w->env->mem, piece);
    cip_mem_put(&v->w->env->mem, entry);
    return st;
}

/* The shard that chunk i of the innermost level lies in. */
static uint64_t shard_of(const rewrite *v, uint64_t i)
{
    uint64_t at[CIP_MAX_NDIM];
    cip_zarr_place(&v->now, &v->now.level[1], i, at);
    for (int32_t k = 0; k < v->now.ndim; k++)
        at[k] /= v->now.level[1].ratio[k];
    return cip_zarr_number_at(&v->now, &v->now.level[0], at);
}

static cip_status add_number(cip_buf *b, uint64_t n, cip_err *err)
{
    const size_t len = b->len / sizeof n;
    if (len != 0 && ((const uint64_t *)(const void *)b->ptr)[len - 1] == n)
        return CIP_OK;
    return cip_buf_add(b, &n, sizeof n, err);
}

/* Files that have to be written anew: `touched`, rising, each once. */
static cip_status find_touched(const rewrite *v, cip_buf *touched, cip_err *err)
{
    const bool sharded = v->x->nlevel == 2;
    const uint64_t n = cip_chunk_changes_count(v->c);
    for (uint64_t i = 0, run; i < n; i += run) {
        cip_chunk_now now;
        cip_chunk_changes_at(v->c, i, &now);
        run = !v->reshaped || (!v->renumbered && now.from == i)
                  ? cip_max_u64(1, cip_min_u64(now.run, n - i))
                  : 1;
        if (is_kept(v, i, now.from))
            continue;
        for (uint64_t k = i; k < i + run; k++)
            CIP_TRY(add_number(touched, sharded ? shard_of(v, k) : k, err));
    }
    /* Shards that keep chunks beyond a new, shorter edge. */
    for (uint64_t p = 0; v->reshaped && sharded && p < v->now.level[0].all; p++) {
        uint64_t at[CIP_MAX_NDIM];
        cip_zarr_place(&v->now, &v->now.level[0], p, at);
        for (int32_t k = 0; k < v->now.ndim; k++)
            if ((at[k] + 1) * v->now.level[1].ratio[k] > v->now.level[1].nchunk[k] &&
                v->now.level[1].nchunk[k] < v->x->level[1].nchunk[k]) {
                CIP_TRY(add_number(touched, p, err));
                break;
            }
    }
    uint64_t *at = (uint64_t *)(void *)touched->ptr;
    size_t count = touched->len / sizeof *at, kept = 0;
    if (count > 1)
        qsort(at, count, sizeof *at, cip_compare_u64);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || at[i] != at[kept - 1])
            at[kept++] = at[i];
    touched->len = kept * sizeof *at;
    return CIP_OK;
}

/* Files of chunks or shards that are beyond the new shape. */
static cip_status remove_beyond(const rewrite *v, cip_err *err)
{
    const cip_zarr_level *was = &v->x->level[0], *now = &v->now.level[0];
    for (uint64_t i = 0, run; v->reshaped && i < was->all; i += run) {
        cip_chunk c = { .run = 0 };
        uint64_t at[CIP_MAX_NDIM];
        bool within = true;
        char *path;
        CIP_TRY(cip_zarr_find(v->x, 0, i, &c, err));
        run = c.state == CIP_CHUNK_DATA ? 1 : cip_max_u64(1, c.run);
        if (c.state != CIP_CHUNK_DATA)
            continue;
        cip_zarr_place(v->x, was, i, at);
        for (int32_t k = 0; k < v->x->ndim; k++)
            within = within && at[k] < now->nchunk[k];
        if (within)
            continue;
        CIP_TRY(path_of(v, v->x, i, &path, err));
        CIP_TRY(cip_revision_unlink(v->r, path, NULL, err));
    }
    return CIP_OK;
}

static cip_status put_files(const rewrite *v, cip_err *err)
{
    cip_buf touched = { .mem = &v->w->env->mem };
    cip_status st = find_touched(v, &touched, err);
    const uint64_t *at = (const uint64_t *)(const void *)touched.ptr;
    for (size_t i = 0; st == CIP_OK && i < touched.len / sizeof *at; i++)
        st = (v->x->nlevel == 2 ? put_shard : put_chunk)(v, at[i], err);
    cip_buf_clear(&touched);
    return st == CIP_OK ? remove_beyond(v, err) : st;
}

/* --- metadata --------------------------------------------------------------------------------- */

/* The mapping with another value for a key that it has. */
static cip_status with(cip_arena *a, const cip_node *map, const char *key, const cip_node *value,
                       const cip_node **out, cip_err *err)
{
    cip_node *n;
    bool found = false;
    if (cip_node_kind(map) != CIP_NODE_MAP)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected an object with %.60s", key);
    CIP_TRY(cip_node_new_map(a, map->len, &n, err));
    for (uint32_t i = 0; i < map->len; i++) {
        const bool here = cip_node_is_string(map->pair[i].key, key);
        cip_node_set_pair(n, i, map->pair[i].key, here ? value : map->pair[i].value);
        found = found || here;
    }
    *out = n;
    return found ? CIP_OK
                 : cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected %.60s, found none", key);
}

static cip_status shape_node(cip_arena *a, int32_t ndim, const int64_t *shape, cip_node **out,
                             cip_err *err)
{
    CIP_TRY(cip_node_new_seq(a, (size_t)ndim, out, err));
    for (int32_t k = 0; k < ndim; k++) {
        cip_node *item;
        CIP_TRY(cip_node_new_int(a, shape[k], &item, err));
        cip_node_set_item(*out, (size_t)k, item);
    }
    return CIP_OK;
}

static cip_status put_json(const cip_zarr_writer *w, const char *path, const cip_node *n,
                           cip_revision *r, cip_err *err)
{
    const cip_json_write file = { .file = true };
    cip_buf text = { .mem = &w->env->mem };
    cip_revision *as;
    cip_status st = cip_json_emit_as(w->env, n, &file, &text, err);
    if (st == CIP_OK)
        st = cip_buf_puts(&text, "\n", err);
    if (st == CIP_OK)
        st = cip_revision_replace(r, path, NULL, &as, err);
    if (st == CIP_OK)
        st = cip_revision_bytes(as, text.ptr, text.len, err);
    cip_buf_clear(&text);
    return st == CIP_OK ? cip_revision_switch(r, path, err) : st;
}

/* The metadata of array x get its new shape; *all, the consolidated ones (NULL: there are none),
 * too. */
static cip_status put_shape(const rewrite *v, const cip_node **all, cip_err *err)
{
    const cip_zarr_array *x = v->x;
    cip_zarr *z = v->w->old;
    cip_arena *a = v->w->arena;
    const bool three = z->version == 3, root = x->dir[0] == '\0';
    const cip_node *own, *meta, *part, *map;
    cip_node *shape;
    char *path, *key;
    CIP_TRY(shape_node(a, x->ndim, v->now.shape, &shape, err));
    CIP_TRY(cip_arena_printf(a, &path, err, "%s%s", x->dir, three ? "zarr.json" : ".zarray"));
    CIP_TRY(cip_zarr_json(z->layout, path, &own, err));
    CIP_TRY(cip_fail_in(err, with(a, own, "shape", shape, &meta, err), "%s", path));
    CIP_TRY(put_json(v->w, path, meta, v->r, err));
    if (*all == NULL || (three && root))
        return CIP_OK;
    CIP_TRY(cip_arena_printf(a, &key, err, "%s%s", x->dir, three ? "" : ".zarray"));
    if (three)
        key[strlen(key) - 1] = '\0';
    const cip_node *outer = three ? cip_map_get(*all, "consolidated_metadata") : *all;
    map = outer != NULL ? cip_map_get(outer, "metadata") : NULL;
    part = map != NULL ? cip_map_get(map, key) : NULL;
    CIP_TRY(with(a, part, "shape", shape, &part, err));
    CIP_TRY(with(a, map, key, part, &map, err));
    CIP_TRY(with(a, outer, "metadata", map, &outer, err));
    if (three)
        return with(a, *all, "consolidated_metadata", outer, all, err);
    *all = outer;
    return CIP_OK;
}

static cip_status put_array(cip_zarr_writer *w, size_t i, const cip_node **all, cip_revision *r,
                            cip_err *err)
{
    cip_zarr_array *x = w->old->array[i];
    rewrite v = { .w = w, .x = x, .c = w->changed[i].chunks, .r = r };
    const int64_t *shape = cip_chunk_changes_shape(v.c);
    v.now = *x;
    for (int32_t k = 0; k < x->ndim; k++) {
        const int32_t s = x->level[0].axis[k];
        v.now.shape[k] = shape[s];
        v.reshaped = v.reshaped || shape[s] != x->shape[k];
    }
    for (size_t n = 0; n < x->nlevel; n++) {
        cip_zarr_level *l = &v.now.level[n];
        l->all = 1;
        for (int32_t k = 0; k < x->ndim; k++) {
            l->nchunk[k] = cip_div_up((uint64_t)shape[k], (uint64_t)l->chunk[k]);
            v.renumbered = v.renumbered || (k != 0 && l->nchunk[k] != x->level[n].nchunk[k]);
            if (cip_mul_overflow(l->all, l->nchunk[k], &l->all))
                return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                "expected less than 2^64 chunks");
        }
    }
    CIP_TRY(put_files(&v, err));
    return v.reshaped ? put_shape(&v, all, err) : CIP_OK;
}

cip_status cip_zarr_update_finish(void *state, cip_revision *r, cip_err *err)
{
    cip_zarr_writer *w = state;
    cip_zarr *z = w->old;
    const char *name = z->version == 3 ? "zarr.json" : ".zmetadata";
    const cip_node *all = NULL;
    if (z->consolidated)
        CIP_TRY(cip_zarr_json(z->layout, name, &all, err));
    const cip_node *was = all;
    for (size_t i = 0; i < z->narray; i++)
        if (w->changed[i].chunks != NULL)
            CIP_TRY(put_array(w, i, &all, r, err));
    return all != was ? put_json(w, name, all, r, err) : CIP_OK;
}
