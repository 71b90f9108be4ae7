/* SPDX-License-Identifier: BSD-3-Clause
 * New stores: a file for each chunk, or each shard, as they come; then the metadata.
 * A shard is a chunk whose codec cuts it into the smaller ones and encodes these, so that shards
 * are made in parallel like all chunks. */
#include "format/zarr/zarr_update.h"

#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/entropy/entropy.h"
#include "format/blosc_codec.h"
#include "format/nd_chunks.h"
#include "format/one_array.h"
#include "io/revision_out.h"
#include "space/make/chunk_move.h"

enum {
    USUAL_CHUNK = 1 << 20,  /* bytes */
    SMALL_SHARD = 64 << 10, /* bytes: in others chunks are not smaller than the next */
    LEAST_INNER = 256, /* bytes of a chunk in a shard: smaller ones are not worth their entry */
    KEPT_SHARD = 256 << 20, /* the largest of a copy, which are encoded in memory */
    EXTRA = 96 /* more than an entry and what a codec may add to a chunk of LEAST_INNER */
};

const cip_format_option cip_zarr_options[] = {
    { "chunks", "A,B,...: shape of the chunks (default: about 1 MiB)" },
    { "shards", "A,B,...: shape of the shards, each a file of many chunks; or none (default: those "
                "of the Zarr array that is copied)" },
    { "shuffle", "byte (default), bit or none: the filter of blosclz, lz4, lz4hc and blosc" },
    { "consolidated", "no: do not repeat all metadata in that of the root group" },
    { NULL, NULL },
};

const cip_format_kind cip_zarr_kinds[] = { { "zarr2", "Zarr of version 2" },
                                           { "zarr.zip", "Zarr in a zip archive" },
                                           { "zarr2.zip", "Zarr of version 2 in a zip archive" },
                                           { NULL, NULL } };

static bool is_two(const cip_spec *spec)
{
    return spec->kind != NULL && strncmp(spec->kind, "zarr2", 5) == 0;
}

static bool is_zip(const cip_spec *spec)
{
    return spec->kind != NULL && strchr(spec->kind, '.') != NULL;
}

/* --- shards ----------------------------------------------------------------------------------- */

static size_t shard_bound(size_t n)
{
    size_t more = n <= SMALL_SHARD ? n : n / LEAST_INNER;
    return cip_mul_overflow(more + 2, EXTRA, &more) || cip_add_overflow(more, n, &n) ? 0 : n;
}

/* Chunk o of the shard's bytes, in C order, out of the shard or (`back`) to it. */
static void each_run(const cip_zarr_shard *s, uint64_t o, uint8_t *shard, uint8_t *chunk, bool back)
{
    int64_t at[CIP_MAX_NDIM], i[CIP_MAX_NDIM] = { 0 };
    for (int32_t k = s->ndim - 1; k >= 0; k--) {
        const uint64_t n = (uint64_t)(s->shard[k] / s->chunk[k]);
        at[k] = (int64_t)(o % n) * s->chunk[k];
        o /= n;
    }
    const int32_t last = s->ndim - 1;
    const size_t run = (size_t)((uint64_t)s->chunk[last] * s->itemsize);
    for (uint64_t done = 0; done < s->nbytes; done += run) {
        uint64_t off = 0;
        for (int32_t k = 0; k < s->ndim; k++)
            off = off * (uint64_t)s->shard[k] + (uint64_t)(at[k] + i[k]);
        uint8_t *in = shard + off * s->itemsize;
        memcpy(back ? in : chunk + done, back ? chunk + done : in, run);
        for (int32_t k = last - 1; k >= 0 && ++i[k] == s->chunk[k]; k--)
            i[k] = 0;
    }
}

/* Whether all elements of a chunk are the fill value. */
static bool is_fill(const cip_zarr_shard *s, const uint8_t *chunk)
{
    const size_t each = s->fill != NULL ? (size_t)s->itemsize : 1, n = (size_t)s->nbytes;
    return memcmp(chunk, s->fill != NULL ? s->fill : (const uint8_t *)"", each) == 0 &&
           memcmp(chunk, chunk + each, n - each) == 0;
}

/* One chunk behind the others; *entry: its place. */
static cip_status add_chunk(const cip_zarr_shard *s, const cip_codec_env *env, cip_bytes raw,
                            cip_dst *out, size_t *len, cip_err *err)
{
    const size_t room = out->cap - out->len;
    if (s->inner.codec == NULL) {
        if (raw.len > room)
            return cip_fail_room(err, out->cap);
        memcpy(out->ptr + out->len, raw.ptr, raw.len);
        *len = raw.len;
    } else {
        cip_dst part = { out->ptr + out->len, room, 0 };
        CIP_TRY(s->inner.codec->encode(s->inner.args, env, s->inner.level, raw, &part, err));
        *len = part.len;
    }
    out->len += *len;
    return CIP_OK;
}

static cip_status encode_shard(const void *args, const cip_codec_env *env, int level, cip_bytes src,
                               cip_dst *out, cip_err *err)
{
    const cip_zarr_shard *s = args;
    const size_t index = (size_t)s->count * CIP_ZARR_ENTRY;
    cip_codec_env own = *env;
    uint8_t *raw = NULL, *entry = NULL;
    cip_dst to = { out->ptr, out->cap, 0 };
    cip_status st;
    (void)level;
    own.ndim = 0;
    own.chunk = own.block = NULL;
    own.typesize = s->itemsize;
    if (src.len != s->count * s->nbytes)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a shard of %" PRIu64 " bytes, found %zu", s->count * s->nbytes,
                        src.len);
    CIP_GO(cip_mem_get(env->mem, (size_t)s->nbytes, (void **)&raw, err));
    CIP_GO(cip_mem_get(env->mem, index, (void **)&entry, err));
    for (uint64_t o = 0; o < s->count; o++) {
        size_t len = 0;
        const uint64_t at = to.len;
        each_run(s, o, (uint8_t *)(uintptr_t)src.ptr, raw, false);
        const bool none = s->sparse && is_fill(s, raw);
        if (!none)
            CIP_GO(add_chunk(s, &own, (cip_bytes){ raw, (size_t)s->nbytes }, &to, &len, err));
        cip_store_u64(entry + o * CIP_ZARR_ENTRY, none ? UINT64_MAX : at, false);
        cip_store_u64(entry + o * CIP_ZARR_ENTRY + 8, none ? UINT64_MAX : len, false);
    }
    if (index + CIP_ZARR_SUM > to.cap - to.len)
        CIP_GO(cip_fail_room(err, to.cap));
    memcpy(to.ptr + to.len, entry, index);
    cip_store_u32(to.ptr + to.len + index, cip_zarr_crc32c(0, entry, index), false);
    out->len = to.len + index + CIP_ZARR_SUM;
    st = CIP_OK;
done:
    cip_mem_put(env->mem, raw);
    cip_mem_put(env->mem, entry);
    return st;
}

/* As far as shards of our own need it, which are read before they are the store's. */
static cip_status decode_shard(const void *args, const cip_codec_env *env, cip_bytes src,
                               uint8_t *dst, size_t dst_len, cip_err *err)
{
    const cip_zarr_shard *s = args;
    const size_t index = (size_t)s->count * CIP_ZARR_ENTRY;
    uint8_t *raw = NULL;
    if (dst_len != s->count * s->nbytes || src.len < index + CIP_ZARR_SUM)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a shard of %zu bytes",
                        dst_len);
    const uint8_t *entry = src.ptr + (src.len - index - CIP_ZARR_SUM);
    cip_status st = cip_mem_get(env->mem, (size_t)s->nbytes, (void **)&raw, err);
    for (uint64_t o = 0; st == CIP_OK && o < s->count; o++, entry += CIP_ZARR_ENTRY) {
        const uint64_t off = cip_load_u64(entry, false), len = cip_load_u64(entry + 8, false);
        const bool none = off == UINT64_MAX;
        if (!none && (off > src.len || len > src.len - off))
            st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected chunks in a shard");
        else if (none && s->fill != NULL)
            cip_bytes_repeat((cip_bytes){ s->fill, (size_t)s->itemsize }, 0, raw,
                             (size_t)s->nbytes);
        else if (none)
            memset(raw, 0, (size_t)s->nbytes);
        else if (s->inner.codec != NULL)
            st = s->inner.codec->decode(NULL, env, (cip_bytes){ src.ptr + off, (size_t)len }, raw,
                                        (size_t)s->nbytes, err);
        else if (len == s->nbytes)
            memcpy(raw, src.ptr + off, (size_t)len);
        else
            st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected whole chunks in a shard");
        if (st == CIP_OK)
            each_run(s, o, dst, raw, true);
    }
    cip_mem_put(env->mem, raw);
    return st;
}

static const cip_codec shard_codec = {
    .name = "shard", .decode = decode_shard, .bound = shard_bound, .encode = encode_shard
};

/* --- how arrays are stored -------------------------------------------------------------------- */

static cip_status bad_option(const cip_zarr_writer *w, const cip_zarr_new *n, size_t option,
                             const char *expected, cip_err *err)
{
    const char *found = cip_option_of(w->spec, n->array, option);
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %s for %s, found %.60s", expected,
                    cip_zarr_options[option].key, found != NULL ? found : "");
}

/* *given: whether there are any. */
static cip_status take_lengths(const cip_zarr_writer *w, const cip_zarr_new *n, size_t option,
                               int64_t *out, bool *given, cip_err *err)
{
    const char *text = cip_option_of(w->spec, n->array, option);
    const bool none = option == CIP_ZARR_OPTION_SHARDS && text != NULL && strcmp(text, "none") == 0;
    *given = text != NULL && n->array->ndim != 0 && !none;
    return !*given || cip_lengths_parse(text, n->array->ndim, out)
               ? CIP_OK
               : bad_option(w, n, option, "a length of 1 to 2^31 - 1 for each axis", err);
}

static uint64_t box_bytes(const cip_zarr_new *n, const int64_t *side)
{
    return cip_box_bytes(n->array->ndim, side, n->dtype->itemsize);
}

/* The shards and chunks of a Zarr array that has some, if nothing was said about them. Chunks that
 * are too small become larger. */
static bool keep_shards(const cip_zarr_writer *w, cip_zarr_new *n)
{
    const cip_zarr_array *x = cip_zarr_copied(n);
    const int32_t ndim = n->array->ndim;
    if (w->two || x == NULL || x->nlevel < 2 || x->ndim != ndim || ndim == 0 ||
        cip_option_of(w->spec, n->array, CIP_ZARR_OPTION_SHARDS) != NULL)
        return false;
    for (int32_t k = 0; k < ndim; k++) {
        n->outer[k] = x->level[0].chunk[x->level[0].axis[k]];
        n->chunk[k] = x->level[x->nlevel - 1].chunk[x->level[0].axis[k]];
    }
    const uint64_t outer = box_bytes(n, n->outer);
    if (outer > KEPT_SHARD)
        return false;
    if (outer > SMALL_SHARD && box_bytes(n, n->chunk) < LEAST_INNER)
        cip_usual_chunks(ndim, n->outer, n->dtype->itemsize, SMALL_SHARD, true, n->chunk);
    return true;
}

static cip_status choose_chunks(const cip_zarr_writer *w, cip_zarr_new *n, cip_err *err)
{
    const int32_t ndim = n->array->ndim;
    const cip_grid *g = n->array->source != NULL ? cip_chunk_grid(n->array->source) : NULL;
    bool chunks, shards;
    CIP_TRY(CIP_ARENA_NEW(w->arena, &n->chunk, (size_t)ndim + 1, err));
    CIP_TRY(CIP_ARENA_NEW(w->arena, &n->outer, (size_t)ndim + 1, err));
    CIP_TRY(take_lengths(w, n, CIP_ZARR_OPTION_CHUNKS, n->chunk, &chunks, err));
    CIP_TRY(take_lengths(w, n, CIP_ZARR_OPTION_SHARDS, n->outer, &shards, err));
    if (!chunks && !shards && keep_shards(w, n)) {
        shards = true;
    } else if (!chunks && g != NULL && g->ndim == ndim && !shards) {
        memcpy(n->chunk, g->chunk, (size_t)ndim * sizeof *n->chunk);
    } else if (!chunks) {
        cip_usual_chunks(ndim, shards ? n->outer : n->array->shape, n->dtype->itemsize, USUAL_CHUNK,
                         shards, n->chunk);
    }
    for (int32_t k = 0; k < ndim; k++) {
        if (!shards)
            n->outer[k] = n->chunk[k];
        if (n->outer[k] % n->chunk[k] != 0)
            return bad_option(w, n, CIP_ZARR_OPTION_SHARDS, "multiples of the lengths of chunks",
                              err);
    }
    const uint64_t inner = box_bytes(n, n->chunk), outer = box_bytes(n, n->outer);
    if (outer > INT64_MAX)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected chunks of less than 2^63 bytes");
    if (n->press == CIP_ZARR_BLOSC && inner > CIP_BLOSC_MAX_NBYTES)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d bytes for a chunk of Blosc, found %" PRIu64,
                        CIP_BLOSC_MAX_NBYTES, inner);
    if (!shards || ndim == 0)
        return CIP_OK;
    if (w->two)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "version 2 of Zarr has no shards");
    if (inner < LEAST_INNER && outer > SMALL_SHARD)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected chunks of at least %d bytes in shards, found %" PRIu64,
                        LEAST_INNER, inner);
    n->shard = (cip_zarr_shard){ .itemsize = n->dtype->itemsize,
                                 .ndim = ndim,
                                 .shard = n->outer,
                                 .chunk = n->chunk,
                                 .count = outer / inner,
                                 .nbytes = inner };
    return CIP_OK;
}

static cip_status choose_codec(const cip_zarr_writer *w, cip_zarr_new *n, cip_err *err)
{
    const bool own = n->array->codec != NULL;
    const char *name = own ? n->array->codec : w->spec->codec;
    const char *shuffle = cip_option_of(w->spec, n->array, CIP_ZARR_OPTION_SHUFFLE);
    n->kept = cip_zarr_keep_codec(w, n);
    if (n->kept)
        return CIP_OK;
    n->level = own ? n->array->level : w->spec->level;
    const char *codec = name != NULL ? name : "zstd";
    static const char known[] = "none zstd gzip blosc blosclz lz4 lz4hc zlib";
    if (!cip_is_word_of(known, codec, strlen(codec)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the codec zstd, gzip, blosc, blosclz, lz4, lz4hc, zlib or none, "
                        "found %.40s",
                        codec);
    const bool filters = shuffle != NULL && strcmp(shuffle, "none") != 0;
    n->blosc = (cip_blosc_spec){ .typesize = n->dtype->itemsize <= CIP_BLOSC_MAX_TYPESIZE
                                                 ? (uint32_t)n->dtype->itemsize
                                                 : 1,
                                 .level = 5,
                                 .compcode = CIP_BLOSC_LZ4,
                                 .blosc1 = true };
    if (strcmp(codec, "none") == 0)
        n->press = CIP_ZARR_NONE;
    else if (strcmp(codec, "zstd") == 0 && !filters)
        n->press = CIP_ZARR_ZSTD;
    else if (strcmp(codec, "gzip") == 0)
        n->press = CIP_ZARR_GZIP;
    else
        n->press = CIP_ZARR_BLOSC;
    if (n->press == CIP_ZARR_ZSTD || n->press == CIP_ZARR_GZIP) {
        const cip_codec *c = n->press == CIP_ZARR_ZSTD ? cip_codec_find("zstd") : &cip_codec_gzip;
        n->level = n->level != 0 ? n->level : n->press == CIP_ZARR_ZSTD ? 3 : 6;
        if (n->press == CIP_ZARR_GZIP && n->level > 9)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected a level from 1 to 9 for gzip, found %d", n->level);
        return c->level != NULL ? c->level(n->level, err) : CIP_OK;
    }
    if (n->press == CIP_ZARR_NONE)
        return CIP_OK;
    if (strcmp(codec, "blosc") != 0)
        CIP_TRY(cip_blosc_take_codec(w->spec, n->array, &n->blosc, err));
    else if (n->level != 0)
        n->blosc.level = n->level;
    if (n->blosc.level < 1 || n->blosc.level > 9)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a level from 1 to 9, found %d",
                        n->blosc.level);
    if (shuffle == NULL || strcmp(shuffle, "byte") == 0)
        n->blosc.filter[5] = n->blosc.typesize > 1 ? CIP_BLOSC_SHUFFLE : CIP_BLOSC_NOFILTER;
    else if (strcmp(shuffle, "bit") == 0)
        n->blosc.filter[5] = CIP_BLOSC_BITSHUFFLE;
    else if (strcmp(shuffle, "none") != 0)
        return bad_option(w, n, CIP_ZARR_OPTION_SHUFFLE, "byte, bit or none", err);
    return CIP_OK;
}

cip_status cip_zarr_make_array(cip_zarr_writer *w, cip_zarr_new *n, cip_array_form *form,
                               cip_err *err)
{
    const cip_spec_array *a = n->array;
    uint64_t nbytes;
    char *dir;
    CIP_TRY(cip_dtype_packed_le(w->arena, a->dtype, &n->dtype, err));
    CIP_TRY(cip_spec_array_nbytes(a, n->dtype, &nbytes, err));
    if (n->dtype->itemsize == 0 || !cip_zarr_has_type(n->dtype))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "Zarr has no type for %.100s",
                        n->dtype->name);
    CIP_TRY(choose_codec(w, n, err));
    CIP_TRY(choose_chunks(w, n, err));
    CIP_TRY(cip_zarr_dir(w->arena, a->path, &dir, err));
    n->dir = dir;
    n->like = cip_zarr_copied(n);
    if (n->like != NULL && (n->like->fill == NULL || n->like->dtype->kind != n->dtype->kind ||
                            n->like->dtype->itemsize != n->dtype->itemsize))
        n->like = NULL; /* its fill value is zeros, or no value of this type */
    if (n->like != NULL && w->two && a->dtype->kind >= CIP_F16 && a->dtype->kind <= CIP_C128) {
        const cip_node *fill = cip_map_get(n->like->meta, "fill_value");
        if (cip_node_kind(fill) == CIP_NODE_STRING && fill->text[0] == '0')
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "version 2 of Zarr has no fill value %.40s", fill->text);
    }
    n->keys = (cip_zarr_array){
        .ndim = a->ndim, .prefix = !w->two, .separator = w->two ? '.' : '/', .nlevel = 1
    };
    cip_zarr_level *v = &n->keys.level[0];
    v->all = 1;
    for (int32_t k = 0; k < a->ndim; k++) {
        v->axis[k] = k;
        v->nchunk[k] = cip_div_up((uint64_t)a->shape[k], (uint64_t)n->outer[k]);
        if (cip_mul_overflow(v->all, v->nchunk[k], &v->all))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected less than 2^64 chunks");
    }
    n->left = v->all;
    n->grid = (cip_grid){
        .itemsize = n->dtype->itemsize, .ndim = a->ndim, .shape = a->shape, .chunk = n->outer
    };
    /* At its default level: nothing but what is taken as it is stored, and chunks of the fill
     * value, comes of a copy with the same chunks. */
    const cip_grid *from = a->source != NULL ? cip_chunk_grid(a->source) : NULL;
    const bool takes = n->kept && n->shard.count == 0 && from != NULL && from->ndim == a->ndim &&
                       cip_same_lengths(a->ndim, from->chunk, n->outer);
    cip_form_step step = { .level = takes ? 0 : n->level };
    if (n->press == CIP_ZARR_ZSTD)
        step.codec = cip_codec_find("zstd");
    else if (n->press == CIP_ZARR_GZIP)
        step.codec = &cip_codec_gzip;
    else if (n->press == CIP_ZARR_BLOSC)
        step = (cip_form_step){ .codec = &cip_codec_blosc, .args = &n->blosc };
    *form = (cip_array_form){ .dtype = n->dtype,
                              .grid = &n->grid,
                              .chunk_nbytes = box_bytes(n, n->outer),
                              .codec_env = { .typesize = n->dtype->itemsize },
                              .caps = CIP_FORM_ANY_ORDER | (takes ? CIP_FORM_TAKES : 0) };
    if (n->like == NULL) {
        form->specials = CIP_FORM_SPECIAL(CIP_CHUNK_ZERO);
    } else if (cip_dtype_same_bytes(n->like->dtype, n->dtype)) {
        form->specials = CIP_FORM_SPECIAL(CIP_CHUNK_VALUE);
        form->value = n->like->fill;
    }
    n->shard.sparse = form->specials != 0;
    n->shard.fill = form->value;
    n->shard.inner = step;
    if (n->shard.count != 0)
        step = (cip_form_step){ .codec = &shard_codec, .args = &n->shard };
    form->step[0] = step;
    form->nstep = step.codec != NULL;
    return CIP_OK;
}

/* --- the store -------------------------------------------------------------------------------- */

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    CIP_TRY(cip_zarr_check_tree(spec, loss, err));
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        if (a->masked)
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the mask is lost: Zarr has none");
        if (a->dtype->itemsize == 0 || !cip_zarr_has_type(a->dtype))
            cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "Zarr has no type for %.100s", a->dtype->name);
        if (cip_numpy_loses_name(a->dtype))
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the name of an opaque type is lost: %.120s", a->dtype->name);
    }
    return cip_report_status(loss, err);
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    cip_zarr_writer *w;
    cip_spec *spec;
    if (b->old != NULL)
        return cip_zarr_update_begin(b, state, err);
    if (b->coming != NULL)
        return cip_zarr_coming_begin(b, state, err);
    if (b->out->member == NULL && !is_zip(b->spec))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a folder of files cannot be written to a pipe");
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
    CIP_TRY(CIP_ARENA_NEW(b->arena, &spec, 1, err));
    *spec = *b->spec;
    *w = (cip_zarr_writer){
        .env = b->env, .arena = b->arena, .spec = spec, .out = b->out, .consolidated = true
    };
    w->two = is_two(spec);
    if (is_zip(spec)) {
        CIP_TRY(CIP_ARENA_NEW(b->arena, &w->zip, 1, err));
        *w->zip = (cip_zip_out){ .mem = &b->env->mem, .arena = b->arena, .to = b->out };
    }
    CIP_TRY(cip_option_take_yes(cip_option_given(spec->option, CIP_ZARR_OPTION_CONSOLIDATED),
                                cip_zarr_options[CIP_ZARR_OPTION_CONSOLIDATED].key,
                                &w->consolidated, err));
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w->array, spec->narray, err));
    for (size_t i = 0; i < spec->narray; i++) {
        w->array[i].array = &spec->array[i];
        CIP_TRY(cip_fail_in(err, cip_zarr_make_array(w, &w->array[i], &b->form[i], err), "%s",
                            spec->array[i].path != NULL ? spec->array[i].path : ""));
        if (w->zip != NULL) /* the same bytes always */
            b->form[i].caps &= ~(uint32_t)CIP_FORM_ANY_ORDER;
    }
    *state = w;
    return CIP_OK;
}

cip_status cip_zarr_put_file(cip_zarr_writer *w, const char *name, const cip_segment *piece,
                             size_t n, cip_err *err)
{
    cip_out *file;
    uint64_t len = 0;
    for (size_t i = 0; i < n; i++)
        len += piece[i].len;
    CIP_TRY(cip_zarr_check_len(len, err));
    if (w->zip != NULL)
        return cip_zip_put(w->zip, name, piece, n, err);
    CIP_TRY(w->out->member(w->out->member_user, name, &file, err));
    for (size_t i = 0; i < n; i++)
        CIP_TRY(cip_out_segment(file, &piece[i], err));
    return CIP_OK;
}

static cip_status store_chunks(void *state, size_t array, uint64_t i, size_t n,
                               const cip_chunk_in *chunk, cip_err *err)
{
    cip_zarr_writer *w = state;
    cip_zarr_new *x = &w->array[array];
    if (w->state == CIP_ZARR_COMING)
        return cip_zarr_coming_store(state, i, n, chunk, err);
    for (size_t k = 0; k < n; i += chunk[k++].run) {
        char name[CIP_IO_NUMBER_NAME];
        x->left -= cip_min_u64(x->left, chunk[k].run);
        if (chunk[k].state != CIP_CHUNK_DATA)
            continue;
        const size_t len = (size_t)snprintf(name, sizeof name, "%s", x->dir);
        if (len > sizeof name / 2)
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a path of %zu bytes", len);
        cip_zarr_key(&x->keys, i, name + len, sizeof name - len);
        const cip_segment piece = { .ptr = chunk[k].bytes.ptr, .len = chunk[k].bytes.len };
        CIP_TRY(cip_zarr_put_file(w, name, &piece, 1, err));
    }
    return CIP_OK;
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    cip_zarr_writer *w = state;
    if (w->state == CIP_ZARR_UPDATE)
        return cip_zarr_update_finish(state, r, err);
    for (size_t i = 0; i < w->spec->narray; i++)
        if (w->array[i].left != 0)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected %" PRIu64 " more chunks, found the end", w->array[i].left);
    if (w->state == CIP_ZARR_COMING)
        return cip_zarr_coming_finish(state, err);
    CIP_TRY(cip_zarr_put_meta(w, err));
    return w->zip != NULL ? cip_zip_put_directory(w->zip, err) : CIP_OK;
}

static void clear(void *state)
{
    cip_zarr_writer *w = state;
    if (w->state == CIP_ZARR_COMING)
        cip_buf_clear(&((cip_zarr_coming *)state)->waiting);
    else if (w->state == CIP_ZARR_NEW && w->zip != NULL)
        cip_zip_out_clear(w->zip);
}

enum { CAPS = CIP_STORE_NAMES | CIP_STORE_UPDATES | CIP_STORE_ADDS };

static uint32_t caps_for(const cip_spec *spec)
{
    return is_zip(spec) ? CAPS : CAPS | CIP_STORE_FOLDER;
}

const cip_array_store cip_zarr_store = {
    .caps = CAPS | CIP_STORE_FOLDER,
    .caps_for = caps_for,
    .check = check,
    .begin = begin,
    .store = store_chunks,
    .set = cip_zarr_update_set,
    .remove = cip_zarr_update_remove,
    .move = cip_zarr_update_move,
    .mark = cip_zarr_update_mark,
    .tree_now = cip_zarr_update_tree_now,
    .form = cip_zarr_update_form,
    .chunks = cip_zarr_update_chunks,
    .finish = finish,
    .clear = clear,
};
