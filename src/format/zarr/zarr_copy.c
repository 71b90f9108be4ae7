/* SPDX-License-Identifier: BSD-3-Clause
 * What a new array keeps of the array that it has its elements from: of a Zarr array the fill value
 * and the codec, of one in Blosc chunks of blocks that are runs in C order the codec. Where nothing
 * else is asked for, its chunks are taken as they are stored. */
#include <string.h>

#include "codec/entropy/entropy.h"
#include "format/zarr/zarr_write.h"
#include "space/make/chunk_move.h"

const cip_node *cip_zarr_setting(const cip_zarr_step *s, const char *key)
{
    return cip_node_kind(s->conf) == CIP_NODE_MAP ? cip_map_get(s->conf, key) : NULL;
}

cip_status cip_zarr_blosc_of(const cip_zarr_array *x, const cip_zarr_step *s, cip_blosc_spec *out,
                             cip_err *err)
{
    const cip_node *cname = cip_zarr_setting(s, "cname"), *shuffle = cip_zarr_setting(s, "shuffle");
    const cip_node *typesize = cip_zarr_setting(s, "typesize"),
                   *level = cip_zarr_setting(s, "clevel"),
                   *blocksize = cip_zarr_setting(s, "blocksize");
    int64_t n = (int64_t)x->dtype->itemsize, filter = 1;
    uint8_t meta;
    *out = (cip_blosc_spec){ .blosc1 = true, .level = 5 };
    if (typesize != NULL)
        cip_node_as_int(typesize, &n);
    out->typesize = n > 0 && n <= CIP_BLOSC_MAX_TYPESIZE ? (uint32_t)n : 1;
    if (level != NULL && cip_node_as_int(level, &n) && n >= 0 && n <= 9)
        out->level = (int)n;
    if (blocksize != NULL && cip_node_as_int(blocksize, &n) && n > 0 && n < CIP_BLOSC_MAX_BLOCKSIZE)
        out->blocksize = (uint32_t)n;
    if (cip_node_kind(cname) == CIP_NODE_STRING)
        CIP_TRY(cip_blosc_codec_parse(cname->text, &out->compcode, &meta, err));
    if (shuffle != NULL && !cip_node_as_int(shuffle, &filter))
        filter = cip_node_is_string(shuffle, "bitshuffle") ? 2
                 : cip_node_is_string(shuffle, "shuffle")  ? 1
                                                           : 0;
    if (filter == -1) /* numcodecs: by the elements */
        filter = x->dtype->itemsize == 1 ? 2 : 1;
    out->filter[5] = filter == 2   ? CIP_BLOSC_BITSHUFFLE
                     : filter == 1 ? CIP_BLOSC_SHUFFLE
                                   : CIP_BLOSC_NOFILTER;
    return CIP_OK;
}

cip_zarr_array *cip_zarr_copied(const cip_zarr_new *n)
{
    const cip_array *a = n->array->source;
    const cip_layout *from = a != NULL ? a->layout : NULL;
    if (from == NULL || from->format == NULL || strcmp(from->format, cip_format_zarr.name) != 0)
        return NULL;
    const cip_zarr *z = from->own;
    for (size_t i = 0; i < z->narray; i++)
        if (z->array[i]->array == a)
            return z->array[i];
    return NULL;
}

/* Blosc chunks of another format that Blosc1 has, too. */
static bool keep_blocks(cip_zarr_new *n)
{
    const cip_array *a = n->array->source;
    const cip_grid *g = a != NULL ? cip_chunk_grid(a) : NULL;
    cip_blosc_spec b = { .level = 5, .blosc1 = true, .recast = true };
    uint8_t head[CIP_CODER_HEAD];
    cip_blosc_head h;
    size_t len;
    if (g == NULL || !cip_grid_is_in_order(g) ||
        !cip_chunk_first_head(a, &cip_codec_blosc, head, &len) ||
        cip_blosc_head_parse((cip_bytes){ head, len }, &h, NULL) != CIP_OK ||
        !cip_codec_blosc.takes(&b, (cip_bytes){ head, len }, h.cbytes, h.nbytes))
        return false;
    b.typesize = h.typesize;
    b.compcode = h.compcode;
    memcpy(b.filter, h.filter, sizeof b.filter);
    n->press = CIP_ZARR_BLOSC;
    n->blosc = b;
    return true;
}

bool cip_zarr_keep_codec(const cip_zarr_writer *w, cip_zarr_new *n)
{
    const cip_zarr_array *x = cip_zarr_copied(n);
    const cip_spec_array *a = n->array;
    int64_t level = 0;
    if (w->spec->codec != NULL || a->codec != NULL || w->spec->level != 0 || a->level != 0 ||
        cip_option_of(w->spec, a, CIP_ZARR_OPTION_SHUFFLE) != NULL)
        return false;
    if (x == NULL)
        return keep_blocks(n);
    const cip_zarr_step *s = &x->pipe.step[0];
    if (x->pipe.n != 1 || s->kind != CIP_ZARR_ENTROPY)
        return false;
    if (s->codec == &cip_codec_blosc) {
        if (cip_zarr_blosc_of(x, s, &n->blosc, NULL) != CIP_OK)
            return false;
        n->press = CIP_ZARR_BLOSC;
        return true;
    }
    const cip_node *said = cip_zarr_setting(s, "level"), *sum = cip_zarr_setting(s, "checksum");
    const bool gzip = s->codec == &cip_codec_gzip;
    if ((!gzip && s->codec != cip_codec_find("zstd")) ||
        (said != NULL && (!cip_node_as_int(said, &level) || level < -100 || level > 100)) ||
        (s->codec->level != NULL && s->codec->level((int)level, NULL) != CIP_OK))
        return false;
    n->press = gzip ? CIP_ZARR_GZIP : CIP_ZARR_ZSTD;
    n->level = (int)level;
    n->checksum = cip_node_kind(sum) == CIP_NODE_BOOL && sum->b;
    return true;
}
