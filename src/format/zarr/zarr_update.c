/* SPDX-License-Identifier: BSD-3-Clause
 * What becomes of the arrays of a store that is there. A chunk that changes is a new file that
 * takes the name of the old one; of shards, the shard is a new file, in which the chunks that stay
 * are taken as they are. Files of chunks beyond a new shape go. Metadata change after all of them
 * (zarr_update_meta.c), the consolidated ones last. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/entropy/entropy.h"
#include "format/zarr/zarr_update.h"
#include "tree/node.h"

enum { MOST_FILL = 64 << 20 /* bytes of a row of fill values */ };

/* --- how new chunks are encoded --------------------------------------------------------------- */

static cip_status blosc_of(cip_arena *a, const cip_zarr_array *x, cip_zarr_step *s, cip_err *err)
{
    cip_blosc_spec *b;
    CIP_TRY(CIP_ARENA_NEW(a, &b, 1, err));
    CIP_TRY(cip_zarr_blosc_of(x, s, b, err));
    s->blosc = b;
    return CIP_OK;
}

static cip_status encoder_of(cip_zarr_update *u, const cip_zarr_array *x, cip_zarr_pipe **out,
                             cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(u->w.arena, out, 1, err));
    **out = x->pipe;
    for (size_t k = 0; k < x->pipe.n; k++) {
        cip_zarr_step *s = &(*out)->step[k];
        const cip_node *level = cip_zarr_setting(s, "level");
        int64_t n = 0;
        if (s->kind != CIP_ZARR_ENTROPY && s->kind != CIP_ZARR_LZ4 && s->kind != CIP_ZARR_CRC32C)
            return cip_fail(
                err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                "expected the codecs blosc, zstd, gzip, zlib, bz2, lz4 and crc32c of an "
                "array to change, found %.80s",
                x->codec);
        if (s->codec == &cip_codec_blosc)
            CIP_TRY(blosc_of(u->w.arena, x, s, err));
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
    cip_zarr_update *u;
    cip_zarr *z = b->old->own;
    if (b->spec->checksum != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected no checksum for a change of a Zarr store: its arrays keep "
                        "theirs");
    if (cip_option_given(b->spec->option, CIP_ZARR_OPTION_CONSOLIDATED) != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the option consolidated cannot be changed by an update");
    CIP_TRY(CIP_ARENA_NEW(b->arena, &u, 1, err));
    *u = (cip_zarr_update){ .w = { .state = CIP_ZARR_UPDATE,
                                   .env = b->env,
                                   .arena = b->arena,
                                   .old = z,
                                   .two = z->version == 2 },
                            .asked = b->spec->codec != NULL,
                            .undo = b->undo,
                            .temporary = b->temporary,
                            .tree = { .arena = b->arena } };
    for (size_t i = 0; cip_zarr_options[i].key != NULL; i++)
        u->asked = u->asked || cip_option_given(b->spec->option, i) != NULL;
    CIP_TRY(CIP_ARENA_NEW(b->arena, &u->changed, z->narray, err));
    for (size_t i = 0; i < z->nnode; i++)
        CIP_TRY(cip_zarr_add_node(u, &(cip_zarr_now){ .n = z->node[i] }, err));
    if (z->layout->tree != NULL)
        CIP_TRY(cip_build_set(&u->tree, "", z->layout->tree, err));
    *state = u;
    return CIP_OK;
}

static size_t index_of(const cip_zarr_update *u, const cip_array *a)
{
    for (size_t i = 0; i < u->w.old->narray; i++)
        if (u->w.old->array[i]->array == cip_array_listed(a))
            return i;
    return SIZE_MAX;
}

/* The array that came, of one that is read; or NULL. */
static cip_zarr_coming *find_came(const cip_zarr_update *u, const cip_array *a)
{
    for (size_t i = 0; i < u->nnode; i++)
        if (u->node[i].x != NULL && u->node[i].x->rows == a)
            return u->node[i].x;
    return NULL;
}

/* A row of fill values, for rows that come without others. */
static cip_status fill_row(cip_zarr_update *u, const cip_zarr_array *x, const uint8_t **out,
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
    CIP_TRY(cip_arena_get(u->w.arena, (size_t)n, (void **)&row, err));
    cip_bytes_repeat((cip_bytes){ x->fill, (size_t)x->dtype->itemsize }, 0, row, (size_t)n);
    *out = row;
    return CIP_OK;
}

cip_status cip_zarr_update_form(void *state, const cip_array *a, cip_change_kind kind,
                                const int64_t *shape, cip_change_form *out, cip_err *err)
{
    cip_zarr_update *u = state;
    const size_t i = index_of(u, a);
    cip_zarr_coming *came = i == SIZE_MAX ? find_came(u, a) : NULL;
    if (came != NULL)
        return cip_zarr_came_form(came, kind, out, err);
    if (i == SIZE_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "it is no array of the store");
    if (u->asked)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected no codec and no options of storage for a change of a Zarr array: "
                        "it keeps its own");
    const cip_zarr_array *x = u->w.old->array[i];
    const cip_space *s = x->array->space;
    if (x->dtype->itemsize == 0 || s->kind != CIP_SPACE_GRID)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "its elements have no bytes");
    for (int32_t k = 0; kind != CIP_CHANGE_ELEMENTS && k < x->ndim; k++)
        if (x->level[0].axis[k] != k)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected chunks in C order to change the shape, found others; convert "
                            "the store first");
    if (u->changed[i].pipe == NULL)
        CIP_TRY(encoder_of(u, x, &u->changed[i].pipe, err));
    if (kind == CIP_CHANGE_SHAPE && x->fill != NULL && shape != NULL && shape[0] > x->shape[0])
        CIP_TRY(fill_row(u, x, &out->fill, err));
    const cip_zarr_pipe *p = u->changed[i].pipe;
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
        .specials = CIP_FORM_SPECIAL(x->fill == NULL ? CIP_CHUNK_ZERO : CIP_CHUNK_VALUE),
        .value = x->fill,
    };
    return CIP_OK;
}

cip_status cip_zarr_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    cip_zarr_update *u = state;
    const size_t i = index_of(u, cip_chunk_changes_array(c));
    cip_zarr_coming *came = i == SIZE_MAX ? find_came(u, cip_chunk_changes_array(c)) : NULL;
    if (i == SIZE_MAX && came == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "it is no array of the store");
    *(came != NULL ? &came->changes : &u->changed[i].chunks) = c;
    return CIP_OK;
}

/* --- files ------------------------------------------------------------------------------------ */

/* An array as it was and as it becomes. */
typedef struct rewrite {
    const cip_zarr_update *u;
    cip_zarr_array *x;
    cip_zarr_array now; /* shape, levels and folder, for keys and numbers */
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
    return cip_arena_printf(v->u->w.arena, path, err, "%s%s", a->dir, key);
}

cip_status cip_zarr_is_there(const cip_zarr_update *u, const char *path, bool *yes, cip_err *err)
{
    const cip_layout *l = u->w.old->layout;
    cip_err why = CIP_ERR_INIT;
    cip_io *io;
    const cip_status st = cip_io_open_beneath(cip_zarr_root(l), path, cip_zarr_flags(l), &io, &why);
    *yes = st == CIP_OK;
    if (st == CIP_OK)
        cip_io_close(io);
    return st == CIP_ERR_NOT_FOUND ? CIP_OK : cip_err_give(err, &why, st);
}

/* The file of the chunk at this place, where it is before the array is moved. */
static cip_status unlink_old(const rewrite *v, uint64_t i, cip_err *err)
{
    uint64_t at[CIP_MAX_NDIM];
    char *path;
    bool there;
    cip_zarr_place(&v->now, &v->now.level[0], i, at);
    for (int32_t k = 0; k < v->x->ndim; k++)
        if (at[k] >= v->x->level[0].nchunk[k])
            return CIP_OK;
    CIP_TRY(path_of(v, v->x, cip_zarr_number_at(v->x, &v->x->level[0], at), &path, err));
    CIP_TRY(cip_zarr_is_there(v->u, path, &there, err));
    return there ? cip_revision_unlink(v->r, path, NULL, err) : CIP_OK;
}

/* The file becomes a new one, to be filled (*as), or is none any more (as NULL). */
static cip_status begin_file(const rewrite *v, uint64_t i, cip_revision **as, cip_err *err)
{
    char *path;
    bool there;
    CIP_TRY(path_of(v, &v->now, i, &path, err));
    CIP_TRY(cip_zarr_is_there(v->u, path, &there, err));
    if (as == NULL && v->now.dir != v->x->dir) /* what is not moved along */
        return unlink_old(v, i, err);
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
    CIP_TRY(cip_zarr_check_len(piece.len, err));
    CIP_TRY(begin_file(v, i, &as, err));
    return cip_revision_range(as, piece.io, piece.off, piece.len, err);
}

static cip_status add_part(cip_buf *parts, const cip_segment *part, cip_err *err)
{
    return cip_buf_add(parts, part, sizeof *part, err);
}

/* Shard p of a level, out of its chunks as they are by now, which may be shards: the segments that
 * it consists of, of *len bytes together; none and 0 where all of it is the fill value. At most
 * CIP_ZARR_MAX_LEVELS deep. */
static cip_status gather_shard(const rewrite *v, size_t level, uint64_t p, cip_buf *parts,
                               uint64_t *len, cip_err *err)
{
    if (level + 2 > CIP_ZARR_MAX_LEVELS) /* never: so that the compiler sees the end, too */
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a shard, found level %zu",
                        level);
    const cip_zarr_level *x = &v->now.level[level + 1];
    const bool innermost = level + 2 == v->now.nlevel;
    uint64_t up[CIP_MAX_NDIM], at[CIP_MAX_NDIM];
    const uint64_t index = x->count * CIP_ZARR_ENTRY, sum = x->index_sum ? CIP_ZARR_SUM : 0;
    const size_t before = parts->len;
    uint8_t *entry;
    CIP_TRY(cip_arena_get(v->u->w.arena, (size_t)(index + sum), (void **)&entry, err));
    const cip_segment whole = { .ptr = entry, .len = index + sum };
    uint64_t off = x->index_first ? whole.len : 0;
    bool any = false;
    if (x->index_first)
        CIP_TRY(add_part(parts, &whole, err));
    cip_zarr_place(&v->now, &v->now.level[level], p, up);
    for (uint64_t o = 0; o < x->count; o++) {
        uint64_t rest = o;
        cip_segment piece = { .len = 0 };
        bool within = true;
        for (int32_t j = v->now.ndim - 1; j >= 0; j--) {
            const int32_t k = x->axis[j];
            at[k] = up[k] * x->ratio[k] + rest % x->ratio[k];
            rest /= x->ratio[k];
            within = within && at[k] < x->nchunk[k];
        }
        const uint64_t i = within ? cip_zarr_number_at(&v->now, x, at) : 0;
        if (within && innermost)
            CIP_TRY(piece_of(v, i, &piece, err));
        else if (within)
            CIP_TRY(gather_shard(v, level + 1, i, parts, &piece.len, err));
        if (piece.io != NULL)
            CIP_TRY(add_part(parts, &piece, err));
        const bool here = innermost ? piece.io != NULL : piece.len != 0;
        cip_store_u64(entry + o * CIP_ZARR_ENTRY, here ? off : UINT64_MAX, x->index_big);
        cip_store_u64(entry + o * CIP_ZARR_ENTRY + 8, here ? piece.len : UINT64_MAX, x->index_big);
        off += piece.len;
        any = any || here;
    }
    if (sum != 0)
        cip_store_u32(entry + index, cip_zarr_crc32c(0, entry, (size_t)index), false);
    if (any && !x->index_first)
        CIP_TRY(add_part(parts, &whole, err));
    if (!any)
        parts->len = before;
    *len = any ? off + (x->index_first ? 0 : whole.len) : 0;
    return CIP_OK;
}

static cip_status put_shard(const rewrite *v, uint64_t p, cip_err *err)
{
    cip_buf parts = { .mem = &v->u->w.env->mem };
    cip_revision *as = NULL;
    uint64_t len;
    cip_status st = gather_shard(v, 0, p, &parts, &len, err);
    if (st == CIP_OK)
        st = cip_zarr_check_len(len, err);
    const cip_segment *s = (const cip_segment *)(const void *)parts.ptr;
    if (st == CIP_OK)
        st = begin_file(v, p, len != 0 ? &as : NULL, err);
    for (size_t i = 0; st == CIP_OK && i < parts.len / sizeof *s; i++)
        st = s[i].ptr != NULL ? cip_revision_bytes(as, s[i].ptr, (size_t)s[i].len, err)
                              : cip_revision_range(as, s[i].io, s[i].off, s[i].len, err);
    cip_buf_clear(&parts);
    return st;
}

/* Chunks of the innermost level that a file has along an axis. */
static uint64_t ratio_of(const rewrite *v, int32_t axis)
{
    uint64_t n = 1;
    for (size_t k = 1; k < v->now.nlevel; k++) /* at most the chunk of level 0 */
        n *= v->now.level[k].ratio[axis];
    return n;
}

/* The file that chunk i of the innermost level lies in. */
static uint64_t file_of(const rewrite *v, uint64_t i)
{
    uint64_t at[CIP_MAX_NDIM];
    cip_zarr_place(&v->now, &v->now.level[v->now.nlevel - 1], i, at);
    for (int32_t k = 0; k < v->now.ndim; k++)
        at[k] /= ratio_of(v, k);
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
    const bool sharded = v->x->nlevel > 1;
    const cip_zarr_level *was = &v->x->level[v->x->nlevel - 1],
                         *inner = &v->now.level[v->now.nlevel - 1];
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
            CIP_TRY(add_number(touched, sharded ? file_of(v, k) : k, err));
    }
    /* Shards that keep chunks beyond a new, shorter edge. */
    for (uint64_t p = 0; v->reshaped && sharded && p < v->now.level[0].all; p++) {
        uint64_t at[CIP_MAX_NDIM];
        cip_zarr_place(&v->now, &v->now.level[0], p, at);
        for (int32_t k = 0; k < v->now.ndim; k++)
            if ((at[k] + 1) * ratio_of(v, k) > inner->nchunk[k] &&
                inner->nchunk[k] < was->nchunk[k]) {
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
    cip_buf touched = { .mem = &v->u->w.env->mem };
    cip_status st = find_touched(v, &touched, err);
    const uint64_t *at = (const uint64_t *)(const void *)touched.ptr;
    for (size_t i = 0; st == CIP_OK && i < touched.len / sizeof *at; i++)
        st = (v->x->nlevel > 1 ? put_shard : put_chunk)(v, at[i], err);
    cip_buf_clear(&touched);
    return st == CIP_OK ? remove_beyond(v, err) : st;
}

static cip_status put_array(cip_zarr_update *u, size_t i, cip_revision *r, cip_err *err)
{
    cip_zarr_array *x = u->w.old->array[i];
    rewrite v = { .u = u, .x = x, .c = u->changed[i].chunks, .r = r };
    const int64_t *shape = cip_chunk_changes_shape(v.c);
    int64_t *now;
    const size_t len = strlen(x->dir), node = cip_zarr_find_old(u, x->dir, len - (len != 0));
    if (node == SIZE_MAX)
        return CIP_OK; /* it is gone */
    CIP_TRY(CIP_ARENA_NEW(u->w.arena, &now, (size_t)x->ndim + 1, err));
    v.now = *x;
    if (u->node[node].was != NULL) {
        char *dir;
        CIP_TRY(cip_arena_printf(u->w.arena, &dir, err, "%s/", u->node[node].n.path));
        v.now.dir = dir;
    }
    for (int32_t k = 0; k < x->ndim; k++) {
        const int32_t s = x->level[0].axis[k];
        v.now.shape[k] = now[k] = shape[s];
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
    u->changed[i].shape = v.reshaped ? now : NULL;
    return put_files(&v, err);
}

/* Where the files of a node are that goes, or (`moved`) gets another path; NULL: of others. */
static const char *folder_of(const cip_zarr_now *n, bool moved)
{
    if (moved)
        return n->gone ? NULL : n->was;
    return !n->gone || n->came || n->moved ? NULL : n->was != NULL ? n->was : n->n.path;
}

/* Each folder with all in it, unless that is within another such folder. */
static cip_status move_folders(const cip_zarr_update *u, bool moved, cip_revision *r, cip_err *err)
{
    for (size_t i = 0; i < u->nnode; i++) {
        const char *from = folder_of(&u->node[i], moved);
        bool within = from == NULL;
        for (size_t k = 0; !within && k < u->nnode; k++) {
            const char *outer = k != i ? folder_of(&u->node[k], moved) : NULL;
            within = outer != NULL && strcmp(outer, from) != 0 && cip_path_within(from, outer);
        }
        if (!within)
            CIP_TRY(cip_revision_move_folder(r, u->w.old->root, from,
                                             moved ? u->node[i].n.path : NULL, false, err));
    }
    return CIP_OK;
}

/* Folders that go come first: what comes may take their files' names. What changes in a folder that
 * is moved is there under the new name before the rest follows. */
static cip_status revise(cip_zarr_update *u, cip_revision *r, cip_err *err)
{
    const cip_zarr *z = u->w.old;
    CIP_TRY(move_folders(u, false, r, err));
    for (size_t i = 0; i < z->narray; i++)
        if (u->changed[i].chunks != NULL)
            CIP_TRY(cip_fail_in(err, put_array(u, i, r, err), "%s", z->array[i]->array->path));
    for (size_t i = 0; i < u->nnode; i++)
        if (u->node[i].x != NULL && !u->node[i].gone)
            CIP_TRY(cip_fail_in(err, cip_zarr_put_came(u, u->node[i].x, r, err), "%s",
                                u->node[i].n.path));
    CIP_TRY(cip_zarr_put_changes(u, r, err));
    return move_folders(u, true, r, err);
}

/* What becomes of the files of a folder makes, in an archive, the archive's own revision. */
cip_status cip_zarr_update_finish(cip_zarr_update *u, cip_revision *r, cip_err *err)
{
    const cip_zarr *z = u->w.old;
    cip_revision files = { .patch = { .arena = { .mem = &u->w.env->mem } } };
    if (z->zip == NULL)
        return revise(u, r, err);
    r->patch.old_len = r->patch.new_len = z->layout->io->size;
    cip_status st = revise(u, &files, err);
    if (st == CIP_OK && files.nmember != 0)
        st = cip_zip_revise(z->layout->io, cip_io_zip(z->zip), &files, r, err);
    cip_revision_clear(&files);
    return st;
}
