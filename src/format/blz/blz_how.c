/* SPDX-License-Identifier: BSD-3-Clause
 * How an array is to be stored: whose folder, codec, filter, rows of a chunk. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz.h"

enum {
    LEVEL = 5,             /* that both programs have */
    CHUNK_LEAST = 1 << 14, /* bytes of a chunk: doubled from the least up to the most ... */
    CHUNK_MOST = 1 << 24,
    CHUNKS = 256,     /* ... until there are no more than so many */
    SUPER = 64 << 20, /* decoded bytes of a superchunk, doubled until there are ... */
    SUPERS = 256,     /* ... no more than so many */
    OPTION_CHUNKLEN = 0,
    OPTION_FILTER,
    OPTION_TABLE,
    OPTION_SUPERCHUNK,
    OPTION_SPARE,
    OPTION_OFFSETS,
    OPTION_METADATA,
    OPTION_SHARDS
};

const cip_format_option cip_blz_options[] = {
    { "chunklen", "rows in each chunk (default: about 256 chunks of 16 KiB to 16 MiB)" },
    { "filter", "shuffle (default), bitshuffle or none" },
    { "table",
      "yes, no: records become a table of blz-dir or bcolz, one column per field (bcolz: yes)" },
    { "superchunk", "chunks in each superchunk (default: 64 MiB of decoded data)" },
    { "spare", "bytes kept free after each chunk (default: 0)" },
    { "offsets", "no: superchunks without the table of their chunks' places" },
    { "metadata", "yes: superchunks with dtype and shape of their own" },
    { "shards", "DIR,DIR: folders of the array, over which superchunks are spread" },
    { NULL, NULL },
};

const cip_format_kind cip_blz_kinds[] = {
    { "blz-dir", "BLZ as its programs wrote it" },
    { "bcolz", "bcolz" },
    { NULL, NULL },
};

static cip_status check_sum(const cip_spec *spec, const char *name, cip_err *err)
{
    if (spec->checksum == NULL || strcmp(spec->checksum, "none") == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected no checksum, as the chunks of %s have none, found %.40s", name,
                    spec->checksum);
}

/* *v stays where nothing is given. */
static cip_status take_number(const char *text, size_t option, uint64_t least, uint64_t most,
                              uint64_t *v, cip_err *err)
{
    if (text == NULL || cip_bp_number(text, least, most, v))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "expected %" PRIu64 " to %" PRIu64 " for %s, found %.60s", least, most,
                    cip_blz_options[option].key, text);
}

static cip_status take_yes(const cip_spec *spec, size_t option, bool *v, cip_err *err)
{
    return cip_option_take_yes(cip_option_of(spec, NULL, option), cip_blz_options[option].key, v,
                               err);
}

cip_status cip_blz_choose_kind(const cip_spec *spec, cip_blz_kind *kind, cip_err *err)
{
    *kind = CIP_BLZ_DOCUMENT;
    for (int i = 0; spec->kind != NULL && cip_blz_kinds[i].name != NULL; i++)
        if (strcmp(cip_blz_kinds[i].name, spec->kind) == 0)
            *kind = (cip_blz_kind)(i + 1);
    return *kind == CIP_BLZ_DOCUMENT ? CIP_OK : check_sum(spec, spec->kind, err);
}

/* The old programs take text as its characters. */
static uint32_t typesize_of(const cip_dtype *d, cip_blz_kind kind)
{
    const bool old = kind != CIP_BLZ_DOCUMENT;
    if ((old && d->kind == CIP_ASCII) || d->itemsize > CIP_BLOSC_MAX_TYPESIZE)
        return 1;
    return old && d->kind == CIP_UCS4 ? 4 : (uint32_t)cip_max_u64(1, d->itemsize);
}

/* BLZ ended before C-Blosc had them. */
static cip_status check_blz(const cip_blosc_spec *b, cip_err *err)
{
    if (b->compcode == CIP_BLOSC_ZSTD && b->level != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a codec that BLZ has, found zstd");
    if (b->filter[CIP_BLOSC_FILTERS - 1] == CIP_BLOSC_BITSHUFFLE)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a filter that BLZ has, found bitshuffle");
    return CIP_OK;
}

void cip_blz_usual_blosc(cip_blz_kind kind, cip_blosc_spec *out)
{
    *out = (cip_blosc_spec){ .blosc1 = true,
                             .level = LEVEL,
                             .compcode = kind == CIP_BLZ_BCOLZ ? CIP_BLOSC_LZ4 : CIP_BLOSC_BLOSCLZ,
                             .filter = { [CIP_BLOSC_FILTERS - 1] = CIP_BLOSC_SHUFFLE } };
}

cip_status cip_blz_choose_blosc(const cip_spec *spec, const cip_spec_array *a, cip_blz_kind kind,
                                const cip_dtype *d, cip_blosc_spec *out, bool *takes, cip_err *err)
{
    out->typesize = typesize_of(d, kind);
    CIP_TRY(cip_bp_choose_blosc(spec, a, cip_option_of(spec, a, OPTION_FILTER), out, takes, err));
    if (kind != CIP_BLZ_DIR)
        return CIP_OK;
    *takes = false; /* they may be what BLZ does not have */
    return check_blz(out, err);
}

/* BLZ does not say which codec, its chunks do. Snappy is only read. */
static int codec_of(const cip_blz_column *c, const cip_node *params)
{
    const cip_node *name = params != NULL ? cip_map_get(params, "cname") : NULL;
    int id = name != NULL && name->type == CIP_NODE_STRING ? cip_blosc_codec_id(name->text) : -1;
    cip_blosc_head head;
    cip_extent at;
    if (name == NULL && !c->document && c->nchunk != 0 &&
        cip_blz_chunk_head(c, 0, &head, &at, NULL) == CIP_OK && !head.memcpyed)
        id = head.compcode;
    return id >= 0 && id <= CIP_BLOSC_ZSTD && id != CIP_BLOSC_SNAPPY ? id : CIP_BLOSC_BLOSCLZ;
}

void cip_blz_blosc_of(const cip_blz_column *c, cip_blosc_spec *out)
{
    const cip_node *params = cip_blz_params(&c->meta);
    const cip_node *level = params != NULL ? cip_map_get(params, "clevel") : NULL,
                   *shuffle = params != NULL ? cip_map_get(params, "shuffle") : NULL;
    int64_t n;
    const cip_blz_kind kind = c->document ? CIP_BLZ_DOCUMENT : CIP_BLZ_DIR;
    cip_blz_usual_blosc(kind, out);
    out->typesize = typesize_of(c->meta.dtype, kind);
    out->compcode = codec_of(c, params);
    if (level != NULL && cip_node_as_int(level, &n) && n >= 0 && n <= 9)
        out->level = (int)n;
    if (shuffle != NULL && shuffle->type == CIP_NODE_BOOL && !shuffle->b)
        out->filter[CIP_BLOSC_FILTERS - 1] = CIP_BLOSC_NOFILTER;
    if (shuffle != NULL && cip_node_as_int(shuffle, &n) && n >= 0 && n <= CIP_BLOSC_BITSHUFFLE)
        out->filter[CIP_BLOSC_FILTERS - 1] = (uint8_t)n;
}

cip_status cip_blz_keep_chunklen(const cip_spec *spec, const cip_spec_array *a, int64_t chunklen,
                                 cip_err *err)
{
    if (cip_option_of(spec, a, OPTION_CHUNKLEN) == NULL)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a chunklen of %" PRId64 ", as before, found a different one",
                    chunklen);
}

cip_status cip_blz_choose_like(const cip_spec *spec, const cip_blz_column *c, cip_blosc_spec *out,
                               bool *takes, cip_err *err)
{
    cip_blz_blosc_of(c, out);
    CIP_TRY(cip_blz_keep_chunklen(spec, NULL, c->meta.chunklen, err));
    if (!c->document)
        CIP_TRY(check_sum(spec, c->blz->layout->version, err));
    CIP_TRY(
        cip_bp_choose_blosc(spec, NULL, cip_option_of(spec, NULL, OPTION_FILTER), out, takes, err));
    if (cip_map_get(c->meta.storage, "bparams") == NULL)
        return CIP_OK;
    *takes = false;
    return check_blz(out, err);
}

/* Rows of a chunk of a size that gives neither very many files nor very long chunks. */
static uint64_t usual_chunklen(uint64_t rows, uint64_t row)
{
    uint64_t n = CHUNK_LEAST, all = cip_max_u64(1, row);
    if (cip_mul_overflow(all, rows, &all))
        all = UINT64_MAX;
    while (n < CHUNK_MOST && all / n >= CHUNKS)
        n *= 2;
    return cip_max_u64(1, n / cip_max_u64(1, row));
}

cip_status cip_blz_choose_chunklen(const cip_spec *spec, const cip_spec_array *a, int64_t rows,
                                   uint64_t row, int64_t *chunklen, cip_err *err)
{
    const char *text = cip_option_of(spec, a, OPTION_CHUNKLEN);
    const uint64_t most = CIP_BLOSC_MAX_NBYTES / cip_max_u64(1, row);
    uint64_t n = 0;
    if (most == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected rows of at most %d bytes, found %" PRIu64, CIP_BLOSC_MAX_NBYTES,
                        row);
    if (*chunklen == 0 || (uint64_t)*chunklen > most)
        *chunklen = (int64_t)cip_min_u64(most, usual_chunklen((uint64_t)rows, row));
    if (text == NULL)
        return CIP_OK;
    CIP_TRY(take_number(text, OPTION_CHUNKLEN, 1, most, &n, err));
    *chunklen = (int64_t)n;
    return CIP_OK;
}

/* --- tables and superchunks ------------------------------------------------------------------- */

/* Options from `from` to the last. */
static cip_status refuse(const cip_spec *spec, const cip_spec_array *a, size_t from,
                         const char *what, cip_err *err)
{
    for (size_t i = from; i <= OPTION_SHARDS; i++)
        if (cip_option_of(spec, a, i) != NULL)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "the option %s applies only to %s", cip_blz_options[i].key, what);
    return CIP_OK;
}

cip_status cip_blz_keep_form(const cip_spec *spec, const cip_spec_array *a, cip_err *err)
{
    return refuse(spec, a, OPTION_TABLE, "new folders", err);
}

cip_status cip_blz_choose_table(const cip_spec *spec, cip_blz_kind kind, bool *table, cip_err *err)
{
    *table = kind == CIP_BLZ_BCOLZ; /* bcolz does not open an array of records */
    if (kind == CIP_BLZ_DOCUMENT && cip_option_of(spec, NULL, OPTION_TABLE) != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the option table applies only to blz-dir and bcolz");
    return take_yes(spec, OPTION_TABLE, table, err);
}

/* A path beneath the array's folder that is nothing else's there, and none of those before it. */
static bool may_be_shard(char *const *shard, size_t n)
{
    const char *name = shard[n];
    for (size_t i = 0; i < n; i++)
        if (strcmp(shard[i], name) == 0)
            return false;
    for (const char *step = name; step != NULL; step = strchr(step, '/')) {
        step += step != name;
        if (*step == '\0' || *step == '/' || *step == '.')
            return false;
    }
    return !cip_is_word_of("data meta", name, strcspn(name, "/"));
}

static cip_status take_shards(const cip_spec *spec, cip_arena *a, cip_blz_super_how *out,
                              cip_err *err)
{
    const char *text = cip_option_of(spec, NULL, OPTION_SHARDS);
    size_t n = 1;
    char **shard;
    if (text == NULL)
        return CIP_OK;
    for (const char *p = text; *p != '\0'; p++)
        n += *p == ',';
    if (n > CIP_BLZ_MAX_SHARDS)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected at most %d shards, found %zu",
                        CIP_BLZ_MAX_SHARDS, n);
    CIP_TRY(CIP_ARENA_NEW(a, &shard, n, err));
    for (size_t i = 0; i < n; i++) {
        const size_t len = strcspn(text, ",");
        CIP_TRY(cip_arena_copy(a, text, len, &shard[i], err));
        if (!may_be_shard(shard, i))
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected for shards different names of folders inside the array's "
                            "folder, not data or meta, found '%.60s'",
                            shard[i]);
        text += len + (text[len] == ',');
    }
    out->shard = (const char **)shard;
    out->nshard = n;
    return CIP_OK;
}

cip_status cip_blz_choose_super(const cip_spec *spec, cip_arena *a, cip_blz_kind kind,
                                uint64_t nchunk, uint64_t nbytes, cip_blz_super_how *out,
                                cip_err *err)
{
    *out = (cip_blz_super_how){ .offsets = true };
    if (kind != CIP_BLZ_DOCUMENT)
        return refuse(spec, NULL, OPTION_SUPERCHUNK, "superchunks", err);
    out->sum = CIP_SUM_CRC32;
    /* As many chunks as make neither very many files nor very long ones. */
    uint64_t n = cip_max_u64(1, SUPER / cip_max_u64(1, nbytes));
    while (nchunk / n >= SUPERS)
        n *= 2;
    out->per = n;
    CIP_TRY(cip_bp_choose_sum(spec, &out->sum, err));
    CIP_TRY(take_number(cip_option_of(spec, NULL, OPTION_SUPERCHUNK), OPTION_SUPERCHUNK, 1,
                        INT32_MAX, &out->per, err));
    CIP_TRY(take_number(cip_option_of(spec, NULL, OPTION_SPARE), OPTION_SPARE, 0, INT32_MAX,
                        &out->spare, err));
    CIP_TRY(take_yes(spec, OPTION_OFFSETS, &out->offsets, err));
    CIP_TRY(take_yes(spec, OPTION_METADATA, &out->metadata, err));
    if (out->spare != 0 && !out->offsets)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected offsets, because there is spare space");
    return take_shards(spec, a, out, err);
}
