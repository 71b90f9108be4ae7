/* SPDX-License-Identifier: BSD-3-Clause
 * How chunks are encoded, as steps in the order of decoding. Transposing is no step: the chunks'
 * own order of axes is that of the space, and the array is a view of it. Chunks in shards are
 * levels: what lies between the array and the first shard, and between a shard and its chunks, may
 * only change the order of axes, so that a chunk within a shard is read without the rest of it. */
#include <string.h>

#include "base/num.h"
#include "codec/entropy/entropy.h"
#include "format/zarr/zarr.h"

typedef struct parsing {
    cip_layout *l;
    cip_zarr_array *a;
    int32_t order[CIP_MAX_NDIM]; /* the array's axis at each place of what is encoded */
    int64_t chunk[CIP_MAX_NDIM]; /* of the present level, by place */
    /* By level: order and chunk as they were there. */
    int32_t at_order[CIP_ZARR_MAX_LEVELS][CIP_MAX_NDIM];
    int64_t at_chunk[CIP_ZARR_MAX_LEVELS][CIP_MAX_NDIM]; /* by the array's axes */
    cip_buf text;
} parsing;

static cip_status refuse(const char *name, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "the codec '%.60s' is not read", name);
}

static cip_status add_step(parsing *p, const char *name, cip_zarr_step step, cip_err *err)
{
    cip_zarr_pipe *pipe = &p->a->pipe;
    if (pipe->n == CIP_ZARR_MAX_CODECS)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected at most %d codecs",
                        CIP_ZARR_MAX_CODECS);
    if (step.kind == CIP_ZARR_ENTROPY && !cip_codec_available(step.codec))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "this build does not include the library of the codec '%.40s'", name);
    pipe->step[pipe->n++] = step;
    return cip_buf_addf(&p->text, err, "%s%s", p->text.len != 0 ? "+" : "", name);
}

/* What Blosc has inside, for the words. */
static const char *blosc_name(const cip_node *conf)
{
    const cip_node *n = cip_node_kind(conf) == CIP_NODE_MAP ? cip_map_get(conf, "cname") : NULL;
    return cip_node_kind(n) == CIP_NODE_STRING && n->len < 16 ? n->text : "";
}

static cip_status add_shuffle(parsing *p, const char *name, const cip_node *conf, cip_err *err)
{
    const cip_node *n =
        cip_node_kind(conf) == CIP_NODE_MAP ? cip_map_get(conf, "elementsize") : NULL;
    uint64_t width = 4;
    if (n != NULL && (!cip_node_as_uint(n, &width) || width == 0 || width > UINT32_MAX))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "shuffle: expected an elementsize, found %.40s", cip_zarr_text(n));
    const cip_zarr_step step = { .kind = CIP_ZARR_SHUFFLE, .width = (size_t)width };
    return add_step(p, name, step, err);
}

/* Differences of elements that are stored as what they are. */
static cip_status add_delta(parsing *p, const char *name, const cip_node *conf, cip_err *err)
{
    const bool map = cip_node_kind(conf) == CIP_NODE_MAP;
    const cip_node *of = map ? cip_map_get(conf, "dtype") : NULL;
    const cip_node *as = map ? cip_map_get(conf, "astype") : NULL;
    const cip_dtype *d = NULL, *e = NULL;
    CIP_TRY(cip_zarr_dtype(p->l, of, 2, false, &d, err));
    if (as != NULL)
        CIP_TRY(cip_zarr_dtype(p->l, as, 2, false, &e, err));
    const bool number = d->kind >= CIP_I8 && d->kind <= CIP_F64 && d->kind != CIP_F16;
    if (!number || (e != NULL && !cip_dtype_equal(d, e)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the codec 'delta' of %.40s as %.40s is not read", d->name,
                        e != NULL ? e->name : d->name);
    const cip_zarr_step step = {
        .kind = CIP_ZARR_DELTA, .width = (size_t)d->itemsize, .number = d->kind, .big = d->big
    };
    return add_step(p, name, step, err);
}

/* Filters that only encode, where elements are stored as what they are. */
static cip_status check_same(parsing *p, const char *name, const cip_node *conf, bool as,
                             cip_err *err)
{
    const bool map = cip_node_kind(conf) == CIP_NODE_MAP;
    const cip_node *of = map ? cip_map_get(conf, as ? "encode_dtype" : "dtype") : NULL;
    const cip_node *to = map ? cip_map_get(conf, as ? "decode_dtype" : "astype") : NULL;
    const cip_dtype *d = NULL, *e = NULL;
    if (of == NULL && to == NULL && !as)
        return CIP_OK;
    CIP_TRY(cip_zarr_dtype(p->l, of, 2, false, &d, err));
    if (to != NULL)
        CIP_TRY(cip_zarr_dtype(p->l, to, 2, false, &e, err));
    if (e == NULL || cip_dtype_equal(d, e))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "the codec '%.40s' of %.40s as %.40s is not read", name, d->name, e->name);
}

/* One codec by its bare name; the names of both versions, as numcodecs has them. */
static cip_status add_named(parsing *p, const char *name, const cip_node *conf, cip_err *err)
{
    static const struct {
        const char *name;
        cip_zarr_kind kind;
        const char *codec; /* ours, which a build may lack */
    } known[] = {
        { "zlib", CIP_ZARR_ENTROPY, "zlib" },    { "gzip", CIP_ZARR_ENTROPY, NULL },
        { "bz2", CIP_ZARR_ENTROPY, "bzip2" },    { "zstd", CIP_ZARR_ENTROPY, "zstd" },
        { "lz4", CIP_ZARR_LZ4, "lz4" },          { "crc32c", CIP_ZARR_CRC32C, NULL },
        { "crc32", CIP_ZARR_CRC32, NULL },       { "adler32", CIP_ZARR_ADLER32, NULL },
        { "packbits", CIP_ZARR_PACKBITS, NULL },
    };
    char text[40];
    if (strcmp(name, "blosc") == 0) {
        const cip_zarr_step step = { .kind = CIP_ZARR_ENTROPY,
                                     .codec = &cip_codec_blosc,
                                     .conf = conf };
        const char *inner = blosc_name(conf);
        snprintf(text, sizeof text, "blosc%s%s", inner[0] != '\0' ? ":" : "", inner);
        return add_step(p, text, step, err);
    }
    if (strcmp(name, "shuffle") == 0)
        return add_shuffle(p, name, conf, err);
    if (strcmp(name, "delta") == 0)
        return add_delta(p, name, conf, err);
    if (strcmp(name, "quantize") == 0 || strcmp(name, "bitround") == 0)
        return check_same(p, name, conf, false, err);
    if (strcmp(name, "astype") == 0)
        return check_same(p, name, conf, true, err);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(name, known[i].name) == 0) {
            const cip_node *at =
                cip_node_kind(conf) == CIP_NODE_MAP ? cip_map_get(conf, "location") : NULL;
            cip_zarr_step step = { .kind = known[i].kind, .conf = conf };
            if (step.kind == CIP_ZARR_ENTROPY || step.kind == CIP_ZARR_LZ4)
                step.codec =
                    known[i].codec != NULL ? cip_codec_find(known[i].codec) : &cip_codec_gzip;
            const bool sum = step.kind >= CIP_ZARR_CRC32C && step.kind <= CIP_ZARR_ADLER32;
            if (sum && at != NULL &&
                !cip_node_is_string(at, step.kind == CIP_ZARR_CRC32C ? "end" : "start"))
                return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                "the codec '%.40s' with its checksum at the %.20s is not read",
                                name, cip_zarr_text(at));
            return add_step(p, name, step, err);
        }
    return refuse(name, err);
}

/* Codecs come in the order of encoding. */
static void turn(cip_zarr_pipe *pipe)
{
    for (size_t i = 0, j = pipe->n; i + 1 < j; i++) {
        const cip_zarr_step s = pipe->step[i];
        pipe->step[i] = pipe->step[--j];
        pipe->step[j] = s;
    }
}

/* --- levels ----------------------------------------------------------------------------------- */

/* Notes the order of axes and the chunk that the next level's numbers are of. */
static cip_status add_level(parsing *p, cip_err *err)
{
    cip_zarr_array *a = p->a;
    if (a->nlevel == CIP_ZARR_MAX_LEVELS)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected shards at most %d deep within each other",
                        CIP_ZARR_MAX_LEVELS - 1);
    for (int32_t k = 0; k < a->ndim; k++) {
        p->at_order[a->nlevel][k] = p->order[k];
        p->at_chunk[a->nlevel][p->order[k]] = p->chunk[k];
    }
    a->nlevel++;
    return CIP_OK;
}

static cip_status transpose(parsing *p, const cip_node *conf, cip_err *err)
{
    const cip_node *n = cip_node_kind(conf) == CIP_NODE_MAP ? cip_map_get(conf, "order") : NULL;
    const int32_t ndim = p->a->ndim;
    int32_t order[CIP_MAX_NDIM];
    int64_t chunk[CIP_MAX_NDIM];
    bool used[CIP_MAX_NDIM] = { false };
    bool good = cip_node_kind(n) == CIP_NODE_SEQ && n->len == (uint32_t)ndim;
    if (cip_node_is_string(n, "C"))
        return CIP_OK;
    const bool f = cip_node_is_string(n, "F");
    for (int32_t k = 0; (good || f) && k < ndim; k++) {
        int64_t at = ndim - 1 - k;
        good = f || (cip_node_as_int(n->item[k], &at) && at >= 0 && at < ndim && !used[at]);
        if (!good)
            break;
        used[at] = true;
        order[k] = p->order[at];
        chunk[k] = p->chunk[at];
    }
    if (!good && !f)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "transpose: expected an order of %d axes, found %.40s", (int)ndim,
                        cip_zarr_text(n));
    memcpy(p->order, order, (size_t)ndim * sizeof *order);
    memcpy(p->chunk, chunk, (size_t)ndim * sizeof *chunk);
    return CIP_OK;
}

/* The name without what says whose it is, and the configuration. */
static cip_status codec_of(const cip_node *n, const char **name, const cip_node **conf,
                           cip_err *err)
{
    const cip_node *id = n;
    *conf = NULL;
    if (n->type == CIP_NODE_MAP) {
        id = cip_map_get(n, "name");
        *conf = cip_map_get(n, "configuration");
    }
    if (cip_node_kind(id) != CIP_NODE_STRING)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "codecs: expected a name, found %.40s",
                        cip_zarr_text(id));
    *name = strncmp(id->text, "numcodecs.", 10) == 0 ? id->text + 10 : id->text;
    return CIP_OK;
}

static bool is_array_filter(const char *name)
{
    static const char names[] = "delta quantize bitround astype packbits fixedscaleoffset";
    return cip_is_word_of(names, name, strlen(name));
}

static cip_status parse_chain(parsing *p, const cip_node *codecs, cip_err *err);

static cip_status index_codecs(const cip_node *list, cip_zarr_level *v, cip_err *err)
{
    v->index_sum = false;
    if (cip_node_kind(list) != CIP_NODE_SEQ || list->len == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "sharding_indexed: expected index_codecs, found %.40s",
                        cip_zarr_text(list));
    for (uint32_t i = 0; i < list->len; i++) {
        const cip_node *conf, *endian;
        const char *name;
        CIP_TRY(codec_of(list->item[i], &name, &conf, err));
        if (i == 0 && strcmp(name, "bytes") == 0) {
            endian = cip_node_kind(conf) == CIP_NODE_MAP ? cip_map_get(conf, "endian") : NULL;
            v->index_big = cip_node_is_string(endian, "big");
        } else if (i == 1 && strcmp(name, "crc32c") == 0) {
            v->index_sum = true;
        } else {
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the codec '%.60s' of a shard's index is not read", name);
        }
    }
    return CIP_OK;
}

static cip_status shards(parsing *p, const cip_node *conf, cip_err *err)
{
    const bool map = cip_node_kind(conf) == CIP_NODE_MAP;
    const cip_node *shape = map ? cip_map_get(conf, "chunk_shape") : NULL;
    const cip_node *where = map ? cip_map_get(conf, "index_location") : NULL;
    const int32_t ndim = p->a->ndim;
    bool good = cip_node_kind(shape) == CIP_NODE_SEQ && shape->len == (uint32_t)ndim;
    int64_t inner[CIP_MAX_NDIM];
    for (int32_t k = 0; good && k < ndim; k++)
        good = cip_node_as_int(shape->item[k], &inner[k]) && inner[k] > 0 &&
               p->chunk[k] % inner[k] == 0;
    if (!good)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "sharding_indexed: expected a chunk_shape that divides the shard, found "
                        "%.40s",
                        cip_zarr_text(shape));
    memcpy(p->chunk, inner, (size_t)ndim * sizeof *inner);
    CIP_TRY(add_level(p, err));
    cip_zarr_level *v = &p->a->level[p->a->nlevel - 1];
    v->index_first = cip_node_is_string(where, "start");
    if (where != NULL && !v->index_first && !cip_node_is_string(where, "end"))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "sharding_indexed: expected an index at the start or end, found %.40s",
                        cip_zarr_text(where));
    CIP_TRY(index_codecs(map ? cip_map_get(conf, "index_codecs") : NULL, v, err));
    CIP_TRY(cip_buf_addf(&p->text, err, "%s", p->text.len != 0 ? "+shards" : "shards"));
    return parse_chain(p, map ? cip_map_get(conf, "codecs") : NULL, err);
}

/* Codecs of version 3 of one level: of arrays, then one that makes bytes, then of bytes. */
static cip_status parse_chain(parsing *p, const cip_node *codecs, cip_err *err)
{
    bool bytes = false, sharded = false;
    if (cip_node_kind(codecs) != CIP_NODE_SEQ)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "codecs: expected a list, found %.40s",
                        cip_zarr_text(codecs));
    for (uint32_t i = 0; i < codecs->len; i++) {
        const cip_node *conf;
        const char *name;
        CIP_TRY(codec_of(codecs->item[i], &name, &conf, err));
        const bool transposes = strcmp(name, "transpose") == 0;
        const bool shard = strcmp(name, "sharding_indexed") == 0;
        const bool makes = shard || strcmp(name, "bytes") == 0;
        if (bytes && (makes || transposes || is_array_filter(name)))
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "codecs: expected codecs of bytes behind the one that makes them, "
                            "found '%.40s'",
                            name);
        if (!bytes && !makes && !transposes && !is_array_filter(name) && strncmp(name, "vlen", 4))
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the codec '%.60s' is not read: one of arrays or 'bytes' was expected",
                            name);
        if (sharded)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the codec '%.40s' around whole shards is not read", name);
        bytes = bytes || makes;
        sharded = shard;
        if (transposes && p->a->pipe.n != 0)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the codec 'transpose' behind another one is not read");
        if (transposes)
            CIP_TRY(transpose(p, conf, err));
        else if (shard && p->a->pipe.n != 0)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "shards behind another codec are not read");
        else if (shard)
            CIP_TRY(shards(p, conf, err));
        else if (strcmp(name, "bytes") != 0)
            CIP_TRY(add_named(p, name, conf, err));
    }
    return bytes ? CIP_OK
                 : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "codecs: expected 'bytes' or 'sharding_indexed', found neither");
}

/* The levels by the axes as the innermost chunks have them. */
static cip_status finish(parsing *p, cip_err *err)
{
    cip_zarr_array *a = p->a;
    int32_t place[CIP_MAX_NDIM]; /* of the array's axis among the stored ones */
    char *text;
    turn(&a->pipe);
    for (int32_t k = 0; k < a->ndim; k++)
        place[p->order[k]] = k;
    for (size_t v = 0; v < a->nlevel; v++)
        for (int32_t k = 0; k < a->ndim; k++) {
            a->level[v].axis[k] = place[p->at_order[v][k]];
            a->level[v].chunk[place[k]] = p->at_chunk[v][k];
        }
    CIP_TRY(cip_arena_printf(&p->l->arena, &text, err, "%.*s", (int)p->text.len,
                             p->text.len != 0 ? (const char *)p->text.ptr : ""));
    a->codec = text[0] != '\0' ? text : "none";
    return CIP_OK;
}

/* The first level's chunk is in `chunk` of it, by the array's axes. */
static void begin(parsing *p)
{
    for (int32_t k = 0; k < p->a->ndim; k++) {
        p->order[k] = k;
        p->chunk[k] = p->a->level[0].chunk[k];
    }
}

cip_status cip_zarr_codecs_3(cip_layout *l, cip_zarr_array *a, const cip_node *codecs, cip_err *err)
{
    parsing p = { .l = l, .a = a, .text = { .mem = &l->env->mem } };
    begin(&p);
    cip_status st = add_level(&p, err);
    if (st == CIP_OK)
        st = parse_chain(&p, codecs, err);
    if (st == CIP_OK)
        st = finish(&p, err);
    cip_buf_clear(&p.text);
    return st;
}

static cip_status one_of_2(parsing *p, const cip_node *n, cip_err *err)
{
    const cip_node *id = n->type == CIP_NODE_MAP ? cip_map_get(n, "id") : NULL;
    if (cip_node_kind(id) != CIP_NODE_STRING)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a filter or compressor with an id, found %.40s",
                        cip_zarr_text(id));
    return add_named(p, id->text, n, err);
}

static cip_status parse_2(parsing *p, cip_err *err)
{
    const cip_node *filters = cip_map_get(p->a->meta, "filters");
    const cip_node *compressor = cip_map_get(p->a->meta, "compressor");
    const cip_node *order = cip_map_get(p->a->meta, "order");
    if (order != NULL && !cip_node_is_string(order, "C") && !cip_node_is_string(order, "F"))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "order: expected C or F, found %.40s",
                        cip_zarr_text(order));
    CIP_TRY(add_level(p, err));
    for (int32_t k = 0; cip_node_is_string(order, "F") && k < p->a->ndim; k++)
        p->order[k] = p->a->ndim - 1 - k;
    if (filters != NULL && filters->type == CIP_NODE_SEQ)
        for (uint32_t i = 0; i < filters->len; i++)
            CIP_TRY(one_of_2(p, filters->item[i], err));
    else if (filters != NULL && filters->type != CIP_NODE_NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "filters: expected a list, found %.40s", cip_zarr_text(filters));
    if (compressor != NULL && compressor->type != CIP_NODE_NULL)
        CIP_TRY(one_of_2(p, compressor, err));
    return finish(p, err);
}

cip_status cip_zarr_codecs_2(cip_layout *l, cip_zarr_array *a, cip_err *err)
{
    parsing p = { .l = l, .a = a, .text = { .mem = &l->env->mem } };
    begin(&p);
    const cip_status st = parse_2(&p, err);
    cip_buf_clear(&p.text);
    return st;
}

cip_status cip_zarr_order_3(const cip_node *codecs, bool *big, bool *said, cip_err *err)
{
    *big = *said = false;
    for (int depth = 0; depth < CIP_ZARR_MAX_LEVELS && cip_node_kind(codecs) == CIP_NODE_SEQ;
         depth++) {
        const cip_node *inner = NULL;
        for (uint32_t i = 0; i < codecs->len; i++) {
            const cip_node *conf;
            const char *name;
            CIP_TRY(codec_of(codecs->item[i], &name, &conf, err));
            const bool map = cip_node_kind(conf) == CIP_NODE_MAP;
            const cip_node *endian = map ? cip_map_get(conf, "endian") : NULL;
            if (strcmp(name, "bytes") == 0) {
                *big = cip_node_is_string(endian, "big");
                *said = *big || cip_node_is_string(endian, "little");
                if (endian != NULL && !*said)
                    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                                    "bytes: expected little or big, found %.40s",
                                    cip_zarr_text(endian));
            } else if (strcmp(name, "sharding_indexed") == 0 && map) {
                inner = cip_map_get(conf, "codecs");
            }
        }
        codecs = inner;
    }
    return CIP_OK;
}
