/* SPDX-License-Identifier: BSD-3-Clause
 * Images in compressed tiles (standard 4.0, 10): a binary table with a row for each tile, whose
 * bytes lie in the heap. The image is a space of n-d chunks, a tile each. What decodes a tile, of
 * its row, is put in front of its bytes: a space of two chunks for each tile, so that the codec
 * learns all of it from what it decodes. */
#include <math.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/entropy/entropy.h"
#include "format/fits/fits.h"
#include "space/read/read.h"

typedef enum how { GZIP_1 = 1, GZIP_2, RICE, RAW } how;

enum { NRANDOM = 10000, HEAD = 48, NCOLUMN = 6, PIECE = 1 << 16 };

enum { NO_DITHER = -1, DITHER_1 = 1, DITHER_2 = 2 };
#define QUANTIZED_ZERO (-2147483646) /* of DITHER_2: exactly 0 */

enum { DATA, GZIPPED, UNCOMPRESSED, SCALE, ZERO, BLANK };
static const char *const column_name[NCOLUMN] = {
    "COMPRESSED_DATA", "GZIP_COMPRESSED_DATA", "UNCOMPRESSED_DATA", "ZSCALE", "ZZERO", "ZBLANK"
};

typedef struct place {
    bool there;
    fits_tform form;
    uint64_t off; /* in the row */
} place;

/* The image, what its header says of the tiles. */
typedef struct image {
    fits_file *file;
    const fits_hdu *hdu;
    int64_t bitpix;
    how how;
    int dither;
    int64_t seed; /* ZDITHER0 */
    bool quantized;
    bool has_scale, has_zero, has_blank; /* for all tiles, by keywords */
    double scale, zero;
    int64_t blank;
    uint32_t width; /* RICE: bytes of an integer */
    uint64_t block; /* and how many in a run */
    place column[NCOLUMN];
    int32_t ndim;
    int64_t *shape, *tile;
    uint64_t ntile;
    uint64_t heap, heap_len; /* in the file */
    fits_column out;         /* from the stored type to what is shown */
    const float *random;     /* of dithering */
} image;

/* What stands before a tile's bytes, as `HEAD` bytes. */
typedef struct tile_head {
    uint64_t index;
    double scale, zero;
    int64_t blank;
    how how;
    char raw; /* RAW: the letter of its items; 0: as GZIP_1 has them */
    bool has_blank, quantized;
} tile_head;

static void put_head(const tile_head *t, uint8_t *p)
{
    cip_store_u64(p, t->index, true);
    cip_store_float(p + 8, t->scale, 8, true);
    cip_store_float(p + 16, t->zero, 8, true);
    cip_store_u64(p + 24, (uint64_t)t->blank, true);
    memset(p + 32, 0, HEAD - 32);
    p[32] = (uint8_t)t->how;
    p[33] = (uint8_t)t->raw;
    p[34] = t->has_blank;
    p[35] = t->quantized;
}

static tile_head get_head(const uint8_t *p)
{
    return (tile_head){ .index = cip_load_u64(p, true),
                        .scale = cip_load_float(p + 8, 8, true),
                        .zero = cip_load_float(p + 16, 8, true),
                        .blank = (int64_t)cip_load_u64(p + 24, true),
                        .how = (how)p[32],
                        .raw = (char)p[33],
                        .has_blank = p[34] != 0,
                        .quantized = p[35] != 0 };
}

/* --- one tile --------------------------------------------------------------------------------- */

/* Items as they come out of the compression. */
typedef struct items {
    char type; /* B I J K E D */
    uint32_t width;
    uint64_t n;
    uint8_t *ptr; /* big-endian */
} items;

static uint32_t item_width(char type)
{
    return cip_fits_item(type);
}

/* Of so many bytes each; floats where the image is of floats that were not quantized. */
static bool type_of_width(const image *m, bool quantized, uint64_t width, char *type)
{
    const bool floats = m->bitpix < 0 && !quantized;
    *type = width == 1   ? 'B'
            : width == 2 ? 'I'
            : width == 4 ? (floats ? 'E' : 'J')
            : width == 8 ? (floats ? 'D' : 'K')
                         : '\0';
    return *type != '\0';
}

static cip_status wrong_length(uint64_t n, uint64_t found, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected a tile of %" PRIu64 " items of 1, 2, 4 or 8 bytes, found %" PRIu64
                    " bytes",
                    n, found);
}

/* Bytes of every item's most significant byte first, then the next ... to whole items. */
static void unshuffle(const uint8_t *from, uint64_t n, uint32_t width, uint8_t *to)
{
    for (uint32_t k = 0; k < width; k++)
        for (uint64_t i = 0; i < n; i++)
            to[i * width + k] = *from++;
}

static cip_status unzip(const image *m, const tile_head *t, const cip_codec_env *env, cip_bytes in,
                        items *out, cip_err *err)
{
    enum { SHORTEST = 18 };
    uint8_t *plain = NULL;
    if (in.len < SHORTEST)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected a gzip member, found %zu bytes", in.len);
    /* A member ends with its decoded length. */
    const uint64_t len = cip_load_u32(in.ptr + in.len - 4, false);
    if (len % out->n != 0 || !type_of_width(m, t->quantized, len / out->n, &out->type))
        return wrong_length(out->n, len, err);
    out->width = (uint32_t)(len / out->n);
    CIP_TRY(cip_mem_get(env->mem, (size_t)len, (void **)&out->ptr, err));
    if (t->how == GZIP_1)
        return cip_codec_gzip.decode(NULL, env, in, out->ptr, (size_t)len, err);
    CIP_TRY(cip_mem_get(env->mem, (size_t)len, (void **)&plain, err));
    const cip_status st = cip_codec_gzip.decode(NULL, env, in, plain, (size_t)len, err);
    if (st == CIP_OK)
        unshuffle(plain, out->n, out->width, out->ptr);
    cip_mem_put(env->mem, plain);
    return st;
}

static cip_status copy_raw(const image *m, const tile_head *t, const cip_codec_env *env,
                           cip_bytes in, items *out, cip_err *err)
{
    out->type = t->raw;
    if (in.len % out->n != 0 ||
        (t->raw == '\0' && !type_of_width(m, t->quantized, in.len / out->n, &out->type)) ||
        item_width(out->type) != in.len / out->n)
        return wrong_length(out->n, in.len, err);
    out->width = item_width(out->type);
    CIP_TRY(cip_mem_get(env->mem, in.len, (void **)&out->ptr, err));
    memcpy(out->ptr, in.ptr, in.len);
    return CIP_OK;
}

static cip_status unpack(const image *m, const tile_head *t, const cip_codec_env *env, cip_bytes in,
                         items *out, cip_err *err)
{
    if (t->how == GZIP_1 || t->how == GZIP_2)
        return unzip(m, t, env, in, out, err);
    if (t->how == RAW)
        return copy_raw(m, t, env, in, out, err);
    out->width = m->width;
    out->type = m->width == 1 ? 'B' : m->width == 2 ? 'I' : 'J';
    CIP_TRY(cip_mem_get(env->mem, (size_t)(out->n * out->width), (void **)&out->ptr, err));
    return cip_fits_rice(in, m->width, m->block, out->n, out->ptr, err);
}

static int64_t int_at(const items *x, uint64_t i)
{
    const uint8_t *p = x->ptr + i * x->width;
    return x->type == 'B'   ? *p
           : x->type == 'I' ? (int16_t)cip_load_u16(p, true)
           : x->type == 'J' ? (int32_t)cip_load_u32(p, true)
                            : (int64_t)cip_load_u64(p, true);
}

/* The place in the random numbers that item i is dithered by; it goes on from tile to tile. */
typedef struct dither {
    uint32_t first, next;
} dither;

static dither dither_begin(const image *m, uint64_t index)
{
    const int64_t row = (int64_t)(index % NRANDOM) + m->seed % NRANDOM - 1;
    const uint32_t first = (uint32_t)((row % NRANDOM + NRANDOM) % NRANDOM);
    return (dither){ first, (uint32_t)(m->random[first] * 500) };
}

static double dither_next(const image *m, dither *d)
{
    const double v = (double)m->random[d->next];
    if (++d->next == NRANDOM) {
        d->first = d->first + 1 == NRANDOM ? 0 : d->first + 1;
        d->next = (uint32_t)(m->random[d->first] * 500);
    }
    return v;
}

/* Quantized integers to floats of the image, in place of what they were (room for 8 bytes each). */
static void unquantize(const image *m, const tile_head *t, const items *x, uint8_t *out)
{
    const uint32_t width = m->bitpix == -32 ? 4 : 8;
    dither d = { 0 };
    if (m->dither != NO_DITHER)
        d = dither_begin(m, t->index);
    for (uint64_t i = 0; i < x->n; i++) {
        const int64_t q = int_at(x, i);
        const double random = m->dither != NO_DITHER ? dither_next(m, &d) : 0;
        double v;
        if (m->dither == DITHER_2 && q == QUANTIZED_ZERO) {
            v = 0;
        } else if (m->dither == NO_DITHER) {
            v = (double)q * t->scale;
            v += t->zero;
        } else {
            v = ((double)q - random + 0.5) * t->scale;
            v += t->zero;
        }
        if (t->has_blank && q == t->blank)
            v = (double)NAN;
        cip_store_float(out + i * width, v, width, true);
    }
}

/* Items of another type to that of the image; integers that it cannot hold are CORRUPT. */
static cip_status retype(const image *m, const tile_head *t, const items *x, uint8_t *out,
                         cip_err *err)
{
    const uint32_t width = (uint32_t)(m->bitpix < 0 ? -m->bitpix : m->bitpix) / 8;
    const bool floats = x->type == 'E' || x->type == 'D';
    for (uint64_t i = 0; i < x->n; i++) {
        uint8_t whole[8];
        const int64_t v = floats ? 0 : int_at(x, i);
        if (m->bitpix < 0) {
            double f = floats ? cip_load_float(x->ptr + i * x->width, x->width, true) : (double)v;
            if (!floats && t->has_blank && v == t->blank)
                f = (double)NAN;
            cip_store_float(out + i * width, f, width, true);
            continue;
        }
        const int64_t low = width == 1 ? 0 : INT64_MIN >> (64 - 8 * width);
        const int64_t high = width == 1 ? UINT8_MAX : INT64_MAX >> (64 - 8 * width);
        if (v < low || v > high)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected integers of %u bits in the tile, found %" PRId64, 8 * width,
                            v);
        cip_store_u64(whole, (uint64_t)v, true);
        memcpy(out + i * width, whole + 8 - width, width);
    }
    return CIP_OK;
}

/* The lengths of tile `index`: at the end of an axis it is shorter. */
static uint64_t tile_shape(const image *m, uint64_t index, int64_t *len)
{
    uint64_t n = 1;
    for (int32_t k = m->ndim; k-- > 0;) {
        const uint64_t count = cip_div_up((uint64_t)m->shape[k], (uint64_t)m->tile[k]);
        const int64_t at = (int64_t)(index % count) * m->tile[k];
        len[k] = cip_min_i64(m->tile[k], m->shape[k] - at);
        n *= (uint64_t)len[k]; /* no more than the image has */
        index /= count;
    }
    return n;
}

/* Rows of the shorter tile to where they are in the whole one. */
static void spread(const image *m, const int64_t *len, const uint8_t *from, uint8_t *dst)
{
    int64_t at[CIP_MAX_NDIM] = { 0 };
    const size_t run = (size_t)len[m->ndim - 1] * m->out.to;
    for (;;) {
        uint64_t off = 0;
        for (int32_t k = 0; k < m->ndim; k++)
            off = off * (uint64_t)m->tile[k] + (uint64_t)at[k];
        memcpy(dst + off * m->out.to, from, run);
        from += run;
        int32_t k = m->ndim - 1;
        while (k-- > 0 && ++at[k] == len[k])
            at[k] = 0;
        if (k < 0)
            return;
    }
}

/* Everything between the compressed bytes and the elements that are shown. */
static cip_status decode_tile(const image *m, const tile_head *t, const cip_codec_env *env,
                              cip_bytes in, uint8_t *dst, size_t dst_len, cip_err *err)
{
    int64_t len[CIP_MAX_NDIM];
    const uint64_t n = tile_shape(m, t->index, len);
    const size_t shown = (size_t)(n * m->out.to);
    items x = { .n = n };
    uint8_t *as = NULL, *packed = NULL;
    cip_status st;
    CIP_GO(unpack(m, t, env, in, &x, err));
    CIP_GO(cip_mem_get(env->mem, (size_t)n * 8, (void **)&as, err));
    if (t->quantized)
        unquantize(m, t, &x, as);
    else if (x.type == m->out.type)
        memcpy(as, x.ptr, (size_t)(n * x.width));
    else
        CIP_GO(retype(m, t, &x, as, err));
    if (shown == dst_len) {
        st = cip_fits_convert(&m->out, as, n, dst, err);
        goto done;
    }
    CIP_GO(cip_mem_get(env->mem, shown, (void **)&packed, err));
    CIP_GO(cip_fits_convert(&m->out, as, n, packed, err));
    memset(dst, 0, dst_len);
    spread(m, len, packed, dst);
done:
    cip_mem_put(env->mem, x.ptr);
    cip_mem_put(env->mem, as);
    cip_mem_put(env->mem, packed);
    return st;
}

static cip_status decode(const void *args, const cip_codec_env *env, cip_bytes src, uint8_t *dst,
                         size_t dst_len, cip_err *err)
{
    const image *m = args;
    if (src.len < HEAD)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET, "expected a tile");
    const tile_head t = get_head(src.ptr);
    return decode_tile(m, &t, env, (cip_bytes){ src.ptr + HEAD, src.len - HEAD }, dst, dst_len,
                       err);
}

static const cip_codec tile_codec = { .name = "tile", .decode = decode };

/* --- rows ------------------------------------------------------------------------------------- */

/* Number and offset of a descriptor, and the bytes that it names. */
static bool descriptor(const image *m, const place *c, const uint8_t *row, cip_extent *out)
{
    const uint8_t *p = row + c->off;
    const bool wide = c->form.type == 'Q';
    uint64_t n = wide ? cip_load_u64(p, true) : cip_load_u32(p, true);
    const uint64_t off = wide ? cip_load_u64(p + 8, true) : cip_load_u32(p + 4, true);
    if (cip_mul_overflow(n, (uint64_t)item_width(c->form.item), &n) || off > m->heap_len ||
        n > m->heap_len - off)
        return false;
    *out = (cip_extent){ m->file->layout->file, m->heap + off, n };
    return true;
}

/* Where the row's tile lies and how it is decoded; *why stays NULL where that is certain. */
static void read_row(const image *m, const uint8_t *row, tile_head *t, cip_extent *at,
                     const char **why)
{
    static const int source[] = { DATA, GZIPPED, UNCOMPRESSED };
    *t = (tile_head){ .index = t->index,
                      .scale = m->scale,
                      .zero = m->zero,
                      .blank = m->blank,
                      .has_blank = m->has_blank };
    for (size_t i = 0; i < 3; i++) {
        const place *c = &m->column[source[i]];
        if (!c->there)
            continue;
        if (!descriptor(m, c, row, at)) {
            *why = "its descriptor leads out of the heap";
            return;
        }
        t->how = source[i] == DATA ? m->how : source[i] == GZIPPED ? GZIP_1 : RAW;
        t->raw = source[i] == UNCOMPRESSED ? c->form.item : '\0';
        t->quantized = source[i] == DATA && m->quantized;
        if (at->len != 0)
            break;
    }
    if (at->len == 0)
        *why = "it has no bytes";
    if (m->column[SCALE].there)
        t->scale = cip_load_float(row + m->column[SCALE].off, 8, true);
    if (m->column[ZERO].there)
        t->zero = cip_load_float(row + m->column[ZERO].off, 8, true);
    if (m->column[BLANK].there) {
        t->blank = (int32_t)cip_load_u32(row + m->column[BLANK].off, true);
        t->has_blank = true;
    }
    if (!t->quantized && m->bitpix < 0 && t->raw != '\0')
        t->has_blank = false;
}

/* The chunks of the two spaces, as they are made. */
typedef struct listing {
    cip_chunk *part; /* head and bytes of a tile, one behind the other */
    cip_chunk *tile;
    uint8_t *heads;
    uint64_t end; /* bytes of the parts so far */
    cip_space *memory;
} listing;

static void list_tile(const image *m, listing *x, uint64_t i, const uint8_t *row)
{
    tile_head t = { .index = i };
    cip_extent at = { 0 };
    const char *why = NULL;
    read_row(m, row, &t, &at, &why);
    cip_chunk *part = x->part + 2 * i;
    put_head(&t, x->heads + i * HEAD);
    const uint64_t len = why == NULL ? at.len : 1; /* one byte that nobody asks for */
    part[0] =
        (cip_chunk){ .at = { x->memory, i * HEAD, HEAD }, .raw_off = x->end, .raw_len = HEAD };
    part[1] = (cip_chunk){ .at = at, .raw_off = x->end + HEAD, .raw_len = len };
    if (why != NULL) {
        part[1].state = CIP_CHUNK_MISSING;
        x->tile[i].state = CIP_CHUNK_MISSING;
        x->tile[i].why = CIP_ERR_CORRUPT;
        x->tile[i].lack = why;
    }
    x->tile[i].at = (cip_extent){ NULL, x->end, HEAD + len };
    x->end += HEAD + len;
}

static cip_status list_tiles(const image *m, listing *x, cip_err *err)
{
    cip_layout *l = m->file->layout;
    const uint64_t row = (uint64_t)m->hdu->axis[0], per = cip_max_u64(PIECE / row, 1);
    const cip_read_how with = { l, NULL };
    uint8_t *rows;
    cip_status st = CIP_OK;
    CIP_TRY(cip_mem_get(&l->env->mem, (size_t)(per * row), (void **)&rows, err));
    for (uint64_t i = 0; i < m->ntile && st == CIP_OK; i += per) {
        const uint64_t n = cip_min_u64(per, m->ntile - i);
        st =
            cip_space_read_at(&with, l->file, m->hdu->data + i * row, rows, (size_t)(n * row), err);
        for (uint64_t k = 0; k < n && st == CIP_OK; k++)
            list_tile(m, x, i + k, rows + k * row);
    }
    cip_mem_put(&l->env->mem, rows);
    return st;
}

static cip_status make_grid(const image *m, listing *x, cip_space **out, cip_err *err)
{
    cip_layout *l = m->file->layout;
    cip_table table;
    cip_space *parts;
    uint64_t each = m->out.to;
    for (int32_t k = 0; k < m->ndim; k++)
        each *= (uint64_t)m->tile[k]; /* no more than the image */
    CIP_TRY(cip_table_from_array(l, x->part, (size_t)(2 * m->ntile), &table, err));
    CIP_TRY(cip_space_new_chunked(l, &table, x->end, NULL, 0, &parts, err));
    for (uint64_t i = 0; i < m->ntile; i++) {
        x->tile[i].at.in = parts;
        x->tile[i].raw_len = each;
    }
    CIP_TRY(cip_table_from_array(l, x->tile, (size_t)m->ntile, &table, err));
    const cip_grid grid = {
        .itemsize = m->out.to, .ndim = m->ndim, .shape = m->shape, .chunk = m->tile
    };
    const cip_step step = { &tile_codec, m };
    CIP_TRY(cip_space_new_grid(l, &grid, &table, &step, 1, out, err));
    (*out)->label = "tiles";
    return CIP_OK;
}

/* At first use: it takes the descriptors of all tiles. */
static cip_status make_space(void *self, cip_space **out, cip_err *err)
{
    const image *m = self;
    cip_layout *l = m->file->layout;
    cip_mem *mem = &l->env->mem;
    listing x = { .end = 0 };
    cip_status st;
    pthread_mutex_lock(&l->lock);
    st = cip_arena_zeroed(&l->arena, (size_t)m->ntile, HEAD, (void **)&x.heads, err);
    pthread_mutex_unlock(&l->lock);
    if (st != CIP_OK)
        return st;
    CIP_TRY(cip_space_new_mem(l, (cip_bytes){ x.heads, (size_t)m->ntile * HEAD }, &x.memory, err));
    CIP_GO(CIP_NEW(mem, &x.part, (size_t)(2 * m->ntile), err));
    CIP_GO(CIP_NEW(mem, &x.tile, (size_t)m->ntile, err));
    CIP_GO(list_tiles(m, &x, err));
    st = make_grid(m, &x, out, err);
done:
    cip_mem_put(mem, x.part);
    cip_mem_put(mem, x.tile);
    return st;
}

/* --- the header ------------------------------------------------------------------------------- */

/* The standard's random numbers (appendix I). */
static cip_status make_random(cip_arena *a, const float **out, cip_err *err)
{
    const double mult = 16807, mod = 2147483647;
    float *v;
    double seed = 1;
    CIP_TRY(CIP_ARENA_NEW(a, &v, NRANDOM, err));
    for (int i = 0; i < NRANDOM; i++) {
        const double x = mult * seed;
        seed = x - mod * (double)(int64_t)(x / mod);
        v[i] = (float)(seed / mod);
    }
    *out = v;
    return CIP_OK;
}

/* The value of the setting `name` among ZNAMEi and ZVALi. */
static cip_status setting(const fits_header *h, const char *name, fits_range in, int64_t *out,
                          cip_err *err)
{
    char key[16];
    for (unsigned i = 1; i < 1000; i++) {
        const char *text = NULL;
        CIP_TRY(cip_fits_text(h, cip_fits_nth(key, "ZNAME", i), &text, err));
        if (text == NULL)
            return CIP_OK;
        if (strcmp(text, name) == 0)
            return cip_fits_int(h, cip_fits_nth(key, "ZVAL", i), in, out, err);
    }
    return CIP_OK;
}

static cip_status read_how(image *m, const char **name, cip_err *err)
{
    static const struct {
        const char *name, *codec;
        how how;
    } known[] = { { "GZIP_1", "gzip", GZIP_1 },
                  { "GZIP_2", "shuffle+gzip", GZIP_2 },
                  { "RICE_1", "rice", RICE },
                  { "RICE_ONE", "rice", RICE },
                  { "NOCOMPRESS", "none", RAW } };
    const fits_header *h = &m->hdu->header;
    const char *text = NULL;
    int64_t width = 4, block = 32;
    CIP_TRY(cip_fits_text(h, "ZCMPTYPE", &text, err));
    for (size_t i = 0; text != NULL && i < sizeof known / sizeof *known; i++)
        if (strcmp(text, known[i].name) == 0) {
            m->how = known[i].how;
            *name = known[i].codec;
        }
    if (m->how == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->off,
                        "ZCMPTYPE: expected GZIP_1, GZIP_2, RICE_1 or NOCOMPRESS, found '%.40s'",
                        text != NULL ? text : "");
    if (cip_fits_has(h, "ZMASKCMP"))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->off,
                        "ZMASKCMP: masks of missing pixels beside the tiles are not read");
    if (m->how != RICE)
        return CIP_OK;
    CIP_TRY(setting(h, "BYTEPIX", (fits_range){ 1, 8 }, &width, err));
    CIP_TRY(setting(h, "BLOCKSIZE", (fits_range){ 1, INT32_MAX }, &block, err));
    if (width != 1 && width != 2 && width != 4)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->off,
                        "BYTEPIX: expected 1, 2 or 4 bytes, found %" PRId64, width);
    m->width = (uint32_t)width;
    m->block = (uint64_t)block;
    return CIP_OK;
}

static cip_status read_columns(image *m, cip_err *err)
{
    const fits_hdu *h = m->hdu;
    unsigned n;
    uint64_t off = 0, bytes;
    CIP_TRY(cip_fits_check_table(h, &n, err));
    for (unsigned i = 1; i <= n; i++, off += bytes) {
        char key[16];
        const char *name = NULL;
        fits_tform form;
        CIP_TRY(cip_fits_tform(h, i, &form, err));
        CIP_TRY(cip_fits_row_bytes(h, i, &form, &bytes, err));
        CIP_TRY(cip_fits_text(&h->header, cip_fits_nth(key, "TTYPE", i), &name, err));
        if (bytes > (uint64_t)h->axis[0] - off)
            return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                            "expected columns of %" PRId64 " bytes, as NAXIS1 says, found more",
                            h->axis[0]);
        for (int k = 0; k < NCOLUMN && name != NULL; k++) {
            if (strcmp(name, column_name[k]) != 0)
                continue;
            const bool heap = k <= UNCOMPRESSED;
            const bool fits = form.repeat == 1 && (heap ? form.type == 'P' || form.type == 'Q'
                                                   : k == BLANK ? form.type == 'J'
                                                                : form.type == 'D');
            if (!fits || (heap && (form.item == '\0' || strchr(k == UNCOMPRESSED ? "BIJKED" : "BIJ",
                                                               form.item) == NULL)))
                return cip_fail(err, CIP_ERR_UNSUPPORTED, h->header.off,
                                "TFORM%u: a column %s of this type", i, name);
            m->column[k] = (place){ true, form, off };
        }
    }
    if (!m->column[DATA].there)
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off, "expected a column COMPRESSED_DATA");
    return CIP_OK;
}

static cip_status read_quantizing(image *m, cip_err *err)
{
    static const struct {
        const char *name;
        int dither;
    } known[] = { { "NO_DITHER", NO_DITHER },
                  { "NONE", NO_DITHER },
                  { "SUBTRACTIVE_DITHER_1", DITHER_1 },
                  { "SUBTRACTIVE_DITHER_2", DITHER_2 } };
    const fits_header *h = &m->hdu->header;
    const fits_range any = { INT64_MIN, INT64_MAX };
    const char *text = "NO_DITHER";
    m->scale = 1;
    m->has_scale = cip_fits_has(h, "ZSCALE");
    m->has_zero = cip_fits_has(h, "ZZERO");
    CIP_TRY(cip_fits_real(h, "ZSCALE", &m->scale, err));
    CIP_TRY(cip_fits_real(h, "ZZERO", &m->zero, err));
    const char *blank = cip_fits_has(h, "ZBLANK") ? "ZBLANK" : "BLANK";
    m->has_blank = m->bitpix < 0 && cip_fits_has(h, blank);
    CIP_TRY(cip_fits_int(h, blank, any, &m->blank, err));
    m->quantized = m->bitpix < 0 && (m->has_scale || m->column[SCALE].there);
    if (!m->quantized && (m->has_scale || m->has_zero || m->column[SCALE].there ||
                          m->column[ZERO].there || (m->bitpix > 0 && m->column[BLANK].there)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->off,
                        "integers in tiles with ZSCALE, ZZERO or ZBLANK of their own");
    if (!m->quantized)
        return CIP_OK;
    CIP_TRY(cip_fits_text(h, "ZQUANTIZ", &text, err));
    CIP_TRY(cip_fits_int(h, "ZDITHER0", (fits_range){ 0, INT32_MAX }, &m->seed, err));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(text, known[i].name) == 0)
            m->dither = known[i].dither;
    if (m->dither == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->off,
                        "ZQUANTIZ: expected NO_DITHER or SUBTRACTIVE_DITHER_1 or _2, found '%.40s'",
                        text);
    return m->dither == NO_DITHER ? CIP_OK : make_random(&m->file->layout->arena, &m->random, err);
}

static cip_status axis_of(const image *m, const char *stem, unsigned i, int64_t *out, cip_err *err)
{
    char key[16];
    const fits_header *h = &m->hdu->header;
    const int64_t low = strcmp(stem, "ZTILE") == 0;
    CIP_TRY(cip_fits_int(h, cip_fits_nth(key, stem, i), (fits_range){ low, INT64_MAX }, out, err));
    return *out >= 0 ? CIP_OK
                     : cip_fail(err, CIP_ERR_CORRUPT, h->off,
                                "%s: expected an integer, found no such card", key);
}

static cip_status read_axes(image *m, cip_err *err)
{
    const fits_hdu *h = m->hdu;
    int64_t n = -1;
    CIP_TRY(cip_fits_int(&h->header, "ZBITPIX", (fits_range){ -64, 64 }, &m->bitpix, err));
    CIP_TRY(cip_fits_int(&h->header, "ZNAXIS", (fits_range){ 1, CIP_MAX_NDIM }, &n, err));
    const int64_t b = m->bitpix;
    if (n < 0 || (b != 8 && b != 16 && b != 32 && b != 64 && b != -32 && b != -64))
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "expected ZNAXIS and a ZBITPIX of 8, 16, 32, 64, -32 or -64");
    m->ndim = (int32_t)n;
    CIP_TRY(CIP_ARENA_NEW(&m->file->layout->arena, &m->shape, (size_t)n, err));
    CIP_TRY(CIP_ARENA_NEW(&m->file->layout->arena, &m->tile, (size_t)n, err));
    uint64_t ntile = 1;
    bool over = false;
    for (int32_t k = 0; k < n; k++) {
        const unsigned i = (unsigned)(n - k);
        m->shape[k] = -1;
        CIP_TRY(axis_of(m, "ZNAXIS", i, &m->shape[k], err));
        m->tile[k] = i == 1 ? cip_max_u64((uint64_t)m->shape[k], 1) : 1;
        CIP_TRY(axis_of(m, "ZTILE", i, &m->tile[k], err));
        m->tile[k] = cip_min_i64(m->tile[k], m->shape[k] > 0 ? m->shape[k] : 1);
        over |= cip_mul_overflow(ntile, cip_div_up((uint64_t)m->shape[k], (uint64_t)m->tile[k]),
                                 &ntile);
    }
    if (over || ntile > (uint64_t)h->axis[1])
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "NAXIS2: expected a row for each tile, found %" PRId64 " rows", h->axis[1]);
    m->ntile = ntile;
    return CIP_OK;
}

static cip_status find_heap(image *m, cip_err *err)
{
    const fits_hdu *h = m->hdu;
    const int64_t rows = h->axis[0] * h->axis[1]; /* no more than the HDU's bytes */
    int64_t heap = rows;
    CIP_TRY(
        cip_fits_int(&h->header, "THEAP", (fits_range){ rows, (int64_t)h->nbytes }, &heap, err));
    m->heap = h->data + (uint64_t)heap;
    m->heap_len = h->nbytes - (uint64_t)heap;
    return CIP_OK;
}

static cip_status fill(image *m, cip_array *a, cip_err *err)
{
    cip_layout *l = m->file->layout;
    fits_scaling s;
    const char *codec = "none";
    CIP_TRY(cip_fits_all_there(m->file, m->hdu, err));
    CIP_TRY(read_how(m, &codec, err));
    CIP_TRY(read_columns(m, err));
    CIP_TRY(read_axes(m, err));
    CIP_TRY(read_quantizing(m, err));
    CIP_TRY(find_heap(m, err));
    CIP_TRY(cip_fits_read_scaling(m->hdu, m->bitpix, &s, err));
    CIP_TRY(cip_fits_scaled(&s, cip_fits_type(m->bitpix), false, &m->out, &a->dtype, err));
    m->out.count = 1;
    m->out.name = "data";
    if (s.has_null && m->out.way != FITS_SCALE)
        CIP_TRY(cip_fits_mask_blank(l, &m->out, s.null, a, err));
    const cip_status st = cip_view_c_order(m->ndim, m->shape, a->dtype->itemsize, &a->view, err);
    if (st != CIP_OK) {
        a->dtype = NULL;
        return cip_fail(err, CIP_ERR_CORRUPT, m->hdu->header.off,
                        "ZNAXIS: expected an image of less than 2^63 bytes");
    }
    a->storage.kind = CIP_STORAGE_CHUNKED;
    a->storage.codec = codec;
    a->storage.chunk = m->tile;
    if (m->ntile == 0)
        return cip_space_new_mem(l, (cip_bytes){ 0 }, &a->space, err);
    return cip_space_new_lazy(l, make_space, m, &a->space, err);
}

cip_status cip_fits_tiles(fits_file *f, const fits_hdu *h, const cip_node *node, cip_err *err)
{
    cip_array *a;
    image *m;
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(CIP_ARENA_NEW(&f->layout->arena, &m, 1, err));
    *m = (image){ .file = f, .hdu = h };
    CIP_TRY(cip_fits_array(f, h, "data", node, &a, err));
    return fill(m, a, &why) == CIP_OK ? CIP_OK : cip_fits_refuse(a, &why, err);
}
