/* SPDX-License-Identifier: BSD-3-Clause
 * How a file is to be stored: codec, filter, chunks, digests and offsets from what was asked for;
 * and the metadata that describe an array as numpy's users do. */
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "format/blosc_codec.h"
#include "format/bloscpack/bloscpack.h"
#include "space/make/chunk_move.h"
#include "tree/yaml.h"

enum {
    CHUNK_SIZE = 1 << 20, /* bloscpack's defaults */
    LEVEL = 7,
    SPARE_EACH = 10, /* free offsets for each chunk, and bytes kept for each of the metadata */
    OPTION_CHUNK_SIZE = 0,
    OPTION_FILTER,
    OPTION_OFFSETS,
    OPTION_SPARE
};

const cip_format_option cip_bp_options[] = {
    { "chunk_size", "bytes per chunk before compression (default: 1048576)" },
    { "filter", "shuffle (default), bitshuffle or none" },
    { "offsets", "no: omit the table of chunk offsets, which append needs" },
    { "spare", "reserved offsets for chunks added later (default: ten per chunk)" },
    { NULL, NULL },
};

static const char *given(const cip_spec *spec, size_t option)
{
    return cip_option_of(spec, spec->narray == 1 ? &spec->array[0] : NULL, option);
}

bool cip_bp_number(const char *text, uint64_t least, uint64_t most, uint64_t *v)
{
    char *end;
    const unsigned long long n = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end != '\0' || n < least || n > most)
        return false;
    *v = n;
    return true;
}

/* A number of at most `most`; *v stays where none is given. */
static cip_status take_number(const cip_spec *spec, size_t option, uint64_t most, uint64_t *v,
                              cip_err *err)
{
    const char *text = given(spec, option);
    if (text == NULL || cip_bp_number(text, 0, most, v))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                    "expected a number of bytes or chunks for %s, found %.60s",
                    cip_bp_options[option].key, text);
}

cip_status cip_bp_choose_blosc(const cip_spec *spec, const cip_spec_array *a, const char *filter,
                               cip_blosc_spec *b, bool *takes, cip_err *err)
{
    *takes = filter == NULL && spec->codec == NULL && (a == NULL || a->codec == NULL);
    CIP_TRY(cip_blosc_take_codec(spec, a, b, err));
    static const char *const names[] = { "none", "shuffle", "bitshuffle" };
    for (uint8_t i = CIP_BLOSC_NOFILTER; filter != NULL && i <= CIP_BLOSC_BITSHUFFLE; i++)
        if (strcmp(filter, names[i]) == 0) {
            b->filter[CIP_BLOSC_FILTERS - 1] = i;
            return CIP_OK;
        }
    return filter == NULL
               ? CIP_OK
               : cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                          "expected shuffle, bitshuffle or none for filter, found %.60s", filter);
}

cip_status cip_bp_choose_sum(const cip_spec *spec, cip_sum_id *sum, cip_err *err)
{
    if (spec->checksum == NULL || cip_bp_sum_named(spec->checksum, sum))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected the checksum adler32, crc32, md5, sha1, sha224, sha256, sha384, "
                    "sha512 or none, found %.40s",
                    spec->checksum);
}

cip_status cip_bp_choose(const cip_spec *spec, const cip_dtype *d, const cip_blosc_head *like,
                         cip_bp_how *out, cip_err *err)
{
    const char *filter = given(spec, OPTION_FILTER);
    const cip_spec_array *own = spec->narray == 1 ? &spec->array[0] : NULL;
    *out = (cip_bp_how){ .sum = CIP_SUM_CRC32, .offsets = true, .spare = UINT64_MAX };
    cip_blosc_spec *b = &out->blosc;
    if (d->itemsize == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected elements of at least one byte");
    b->blosc1 = true;
    b->level = LEVEL;
    b->typesize = d->itemsize <= CIP_BLOSC_MAX_TYPESIZE ? (uint32_t)d->itemsize : 1;
    b->filter[CIP_BLOSC_FILTERS - 1] = CIP_BLOSC_SHUFFLE;
    if (like != NULL) {
        memcpy(b->filter, like->filter, sizeof b->filter);
        if (like->compcode >= 0 && like->compcode != CIP_BLOSC_SNAPPY)
            b->compcode = like->compcode;
    }
    CIP_TRY(cip_bp_choose_blosc(spec, own, filter, b, &out->takes, err));
    CIP_TRY(cip_bp_choose_sum(spec, &out->sum, err));
    /* Bytes of a chunk where no size is given. */
    const cip_form_step step = { .codec = &cip_codec_blosc, .args = &out->blosc };
    const cip_array *source = spec->narray == 1 ? spec->array[0].source : NULL;
    uint64_t n = source != NULL ? cip_chunk_nbytes_taken(source, &step) : 0;
    out->chunk_size = n != 0 && n <= CIP_BLOSC_MAX_NBYTES ? n : CHUNK_SIZE;
    /* Chunks are of whole elements. */
    CIP_TRY(take_number(spec, OPTION_CHUNK_SIZE, CIP_BLOSC_MAX_NBYTES, &out->chunk_size, err));
    out->chunk_size = cip_max_u64(d->itemsize, out->chunk_size / d->itemsize * d->itemsize);
    if (out->chunk_size > CIP_BLOSC_MAX_NBYTES)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected elements of at most %d bytes, found %" PRIu64,
                        CIP_BLOSC_MAX_NBYTES, d->itemsize);
    CIP_TRY(cip_option_take_yes(given(spec, OPTION_OFFSETS), cip_bp_options[OPTION_OFFSETS].key,
                                &out->offsets, err));
    return take_number(spec, OPTION_SPARE, INT32_MAX, &out->spare, err);
}

/* --- header ----------------------------------------------------------------------------------- */

cip_status cip_bp_make_header(const cip_bp_how *how, uint64_t nbytes, cip_bp_header *h,
                              cip_err *err)
{
    uint64_t each = cip_min_u64(how->chunk_size, nbytes), n = nbytes == 0 ? 1 : 0;
    if (nbytes != 0)
        n = cip_div_up(nbytes, each);
    *h = (cip_bp_header){ .version = 3,
                          .options = CIP_BP_METADATA | (how->offsets ? CIP_BP_OFFSETS : 0),
                          .sum = how->sum,
                          .typesize = (uint8_t)how->blosc.typesize,
                          .chunk_size = (int64_t)each,
                          .last_chunk = (int64_t)(nbytes - (n - 1) * each),
                          .nchunk = (int64_t)n,
                          .len = CIP_BP_HEADER };
    if (how->offsets)
        h->nspare = how->spare != UINT64_MAX ? how->spare : SPARE_EACH * n;
    if (n > INT64_MAX / 8 / (2 * SPARE_EACH))
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "over 2^56 chunks");
    return CIP_OK;
}

/* --- metadata --------------------------------------------------------------------------------- */

bool cip_bp_is_numpy_key(const cip_node *key)
{
    static const char *const known[] = { "dtype", "shape", "order", "container" };
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (cip_node_is_string(key, known[k]))
            return true;
    return false;
}

cip_status cip_bp_numpy_json(cip_env *env, const cip_bp_described *d, cip_buf *b, cip_err *err)
{
    const cip_json_write python = { .file = true };
    cip_arena a = { .mem = &env->mem };
    char *descr;
    cip_buf text = { .mem = &env->mem };
    cip_status st;
    CIP_GO(cip_dtype_numpy(&a, d->dtype, &descr, err));
    const char *quote = descr[0] == '[' ? "" : "'";
    CIP_GO(cip_buf_addf(&text, err, "%s%s%s", quote, descr, quote));
    CIP_GO(cip_buf_addf(b, err, "{\"dtype\": "));
    CIP_GO(cip_json_string(b, (const char *)text.ptr, text.len, err));
    CIP_GO(cip_buf_addf(b, err, ", \"shape\": ["));
    for (int32_t i = 0; i < d->ndim; i++)
        CIP_GO(cip_buf_addf(b, err, "%s%" PRId64, i == 0 ? "" : ", ", d->shape[i]));
    CIP_GO(cip_buf_addf(b, err, "], \"order\": \"%s\", \"container\": \"numpy\"",
                        d->f_order ? "F" : "C"));
    for (uint32_t i = 0; d->more != NULL && i < d->more->len; i++) {
        CIP_GO(cip_buf_addf(b, err, ", "));
        CIP_GO(cip_json_emit_as(env, d->more->pair[i].key, &python, b, err));
        CIP_GO(cip_buf_addf(b, err, ": "));
        CIP_GO(cip_json_emit_as(env, d->more->pair[i].value, &python, b, err));
    }
    st = cip_buf_addf(b, err, "}");
done:
    cip_buf_clear(&text);
    cip_arena_clear(&a);
    return st;
}

/* The stored bytes are the text itself: it is short, and readers need no codec. */
cip_status cip_bp_meta_section(cip_env *env, cip_bytes json, cip_sum_id sum, uint32_t room,
                               cip_buf *out, cip_err *err)
{
    uint8_t *at, digest[CIP_SUM_MAX];
    if (json.len > CIP_BP_METADATA_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected metadata of at most %d bytes, found %zu", CIP_BP_METADATA_MAX,
                        json.len);
    room = room != 0 ? room : SPARE_EACH * (uint32_t)json.len;
    const size_t nsum = cip_sum_size(sum), n = CIP_BP_META_HEADER + (size_t)room + nsum;
    const cip_bp_meta m = {
        .sum = sum, .size = (uint32_t)json.len, .room = room, .stored = (uint32_t)json.len
    };
    if (nsum != 0)
        CIP_TRY(cip_sum_of(&env->mem, sum, json, digest, err));
    CIP_TRY(cip_buf_reserve(out, n, &at, err));
    memset(at, 0, n);
    cip_bp_meta_write(&m, at);
    memcpy(at + CIP_BP_META_HEADER, json.ptr, json.len);
    if (nsum != 0)
        cip_bp_digest(sum, digest, at + CIP_BP_META_HEADER + room);
    out->len += n;
    return CIP_OK;
}
