/* SPDX-License-Identifier: BSD-3-Clause
 * Images in compressed tiles (standard 4.0, 10): a binary table with a row for each tile, whose
 * bytes lie in the heap. The image is a space of n-d chunks, a tile each. What decodes a tile, of
 * its row, is put in front of its bytes: a space of two chunks for each tile, so that the codec
 * learns all of it from what it decodes. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/fits/fits_tile.h"
#include "space/read/read.h"

enum { NCOLUMN = 6, PIECE = 1 << 16 };

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
    fits_tiling t;
    bool quantized;
    bool has_scale, has_zero, has_blank; /* for all tiles, by keywords */
    double scale, zero;
    int64_t blank;
    place column[NCOLUMN];
    uint64_t ntile;
    uint64_t heap, heap_len; /* in the file */
} image;

/* --- rows ------------------------------------------------------------------------------------- */

/* Number and offset of a descriptor, and the bytes that it names. */
static bool descriptor(const image *m, const place *c, const uint8_t *row, cip_extent *out)
{
    const uint8_t *p = row + c->off;
    const bool wide = c->form.type == 'Q';
    uint64_t n = wide ? cip_load_u64(p, true) : cip_load_u32(p, true);
    const uint64_t off = wide ? cip_load_u64(p + 8, true) : cip_load_u32(p + 4, true);
    if (cip_mul_overflow(n, (uint64_t)cip_fits_item(c->form.item), &n) || off > m->heap_len ||
        n > m->heap_len - off)
        return false;
    *out = (cip_extent){ m->file->layout->file, m->heap + off, n };
    return true;
}

/* Where the row's tile lies and how it is decoded; *why stays NULL where that is certain. */
static void read_row(const image *m, const uint8_t *row, fits_tile *t, cip_extent *at,
                     const char **why)
{
    static const int source[] = { DATA, GZIPPED, UNCOMPRESSED };
    *t = (fits_tile){ .index = t->index,
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
        t->how = source[i] == DATA ? m->t.how : source[i] == GZIPPED ? FITS_GZIP_1 : FITS_RAW;
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
    if (!t->quantized && m->t.bitpix < 0 && t->raw != '\0')
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
    fits_tile t = { .index = i };
    cip_extent at = { 0 };
    const char *why = NULL;
    read_row(m, row, &t, &at, &why);
    cip_chunk *part = x->part + 2 * i;
    cip_fits_tile_put(&t, x->heads + i * FITS_TILE_HEAD);
    const uint64_t len = why == NULL ? at.len : 1; /* one byte that nobody asks for */
    part[0] = (cip_chunk){ .at = { x->memory, i * FITS_TILE_HEAD, FITS_TILE_HEAD },
                           .raw_off = x->end,
                           .raw_len = FITS_TILE_HEAD };
    part[1] = (cip_chunk){ .at = at, .raw_off = x->end + FITS_TILE_HEAD, .raw_len = len };
    if (why != NULL) {
        part[1].state = CIP_CHUNK_MISSING;
        x->tile[i].state = CIP_CHUNK_MISSING;
        x->tile[i].why = CIP_ERR_CORRUPT;
        x->tile[i].lack = why;
    }
    x->tile[i].at = (cip_extent){ NULL, x->end, FITS_TILE_HEAD + len };
    x->end += FITS_TILE_HEAD + len;
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
    uint64_t each = m->t.out.to;
    for (int32_t k = 0; k < m->t.ndim; k++)
        each *= (uint64_t)m->t.tile[k]; /* no more than the image */
    CIP_TRY(cip_table_from_array(l, x->part, (size_t)(2 * m->ntile), &table, err));
    CIP_TRY(cip_space_new_chunked(l, &table, x->end, NULL, 0, &parts, err));
    for (uint64_t i = 0; i < m->ntile; i++) {
        x->tile[i].at.in = parts;
        x->tile[i].raw_len = each;
    }
    CIP_TRY(cip_table_from_array(l, x->tile, (size_t)m->ntile, &table, err));
    const cip_grid grid = {
        .itemsize = m->t.out.to, .ndim = m->t.ndim, .shape = m->t.shape, .chunk = m->t.tile
    };
    const cip_step step = { &cip_fits_tile_codec, &m->t };
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
    st = cip_arena_zeroed(&l->arena, (size_t)m->ntile, FITS_TILE_HEAD, (void **)&x.heads, err);
    pthread_mutex_unlock(&l->lock);
    if (st != CIP_OK)
        return st;
    CIP_TRY(cip_space_new_mem(l, (cip_bytes){ x.heads, (size_t)m->ntile * FITS_TILE_HEAD },
                              &x.memory, err));
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
    CIP_TRY(CIP_ARENA_NEW(a, &v, FITS_NRANDOM, err));
    for (int i = 0; i < FITS_NRANDOM; i++) {
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
        fits_how how;
    } known[] = { { "GZIP_1", "gzip", FITS_GZIP_1 },
                  { "GZIP_2", "shuffle+gzip", FITS_GZIP_2 },
                  { "RICE_1", "rice", FITS_RICE },
                  { "RICE_ONE", "rice", FITS_RICE },
                  { "NOCOMPRESS", "none", FITS_RAW } };
    const fits_header *h = &m->hdu->header;
    const char *text = NULL;
    int64_t width = 4, block = 32;
    CIP_TRY(cip_fits_text(h, "ZCMPTYPE", &text, err));
    for (size_t i = 0; text != NULL && i < sizeof known / sizeof *known; i++)
        if (strcmp(text, known[i].name) == 0) {
            m->t.how = known[i].how;
            *name = known[i].codec;
        }
    if (m->t.how == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->off,
                        "ZCMPTYPE: expected GZIP_1, GZIP_2, RICE_1 or NOCOMPRESS, found '%.40s'",
                        text != NULL ? text : "");
    if (cip_fits_has(h, "ZMASKCMP"))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->off,
                        "ZMASKCMP: masks of missing pixels beside the tiles are not read");
    if (m->t.how != FITS_RICE)
        return CIP_OK;
    CIP_TRY(setting(h, "BYTEPIX", (fits_range){ 1, 8 }, &width, err));
    CIP_TRY(setting(h, "BLOCKSIZE", (fits_range){ 1, INT32_MAX }, &block, err));
    if (width != 1 && width != 2 && width != 4)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->off,
                        "BYTEPIX: expected 1, 2 or 4 bytes, found %" PRId64, width);
    m->t.width = (uint32_t)width;
    m->t.block = (uint64_t)block;
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
    } known[] = { { "NO_DITHER", FITS_NO_DITHER },
                  { "NONE", FITS_NO_DITHER },
                  { "SUBTRACTIVE_DITHER_1", FITS_DITHER_1 },
                  { "SUBTRACTIVE_DITHER_2", FITS_DITHER_2 } };
    const fits_header *h = &m->hdu->header;
    const fits_range any = { INT64_MIN, INT64_MAX };
    const char *text = "NO_DITHER";
    m->scale = 1;
    m->has_scale = cip_fits_has(h, "ZSCALE");
    m->has_zero = cip_fits_has(h, "ZZERO");
    CIP_TRY(cip_fits_real(h, "ZSCALE", &m->scale, err));
    CIP_TRY(cip_fits_real(h, "ZZERO", &m->zero, err));
    const char *blank = cip_fits_has(h, "ZBLANK") ? "ZBLANK" : "BLANK";
    m->has_blank = m->t.bitpix < 0 && cip_fits_has(h, blank);
    CIP_TRY(cip_fits_int(h, blank, any, &m->blank, err));
    m->quantized = m->t.bitpix < 0 && (m->has_scale || m->column[SCALE].there);
    if (!m->quantized && (m->has_scale || m->has_zero || m->column[SCALE].there ||
                          m->column[ZERO].there || (m->t.bitpix > 0 && m->column[BLANK].there)))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->off,
                        "integers in tiles with ZSCALE, ZZERO or ZBLANK of their own");
    if (!m->quantized)
        return CIP_OK;
    CIP_TRY(cip_fits_text(h, "ZQUANTIZ", &text, err));
    CIP_TRY(cip_fits_int(h, "ZDITHER0", (fits_range){ 0, INT32_MAX }, &m->t.seed, err));
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(text, known[i].name) == 0)
            m->t.dither = known[i].dither;
    if (m->t.dither == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, h->off,
                        "ZQUANTIZ: expected NO_DITHER or SUBTRACTIVE_DITHER_1 or _2, found '%.40s'",
                        text);
    return m->t.dither == FITS_NO_DITHER ? CIP_OK
                                         : make_random(&m->file->layout->arena, &m->t.random, err);
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
    CIP_TRY(cip_fits_int(&h->header, "ZBITPIX", (fits_range){ -64, 64 }, &m->t.bitpix, err));
    CIP_TRY(cip_fits_int(&h->header, "ZNAXIS", (fits_range){ 1, CIP_MAX_NDIM }, &n, err));
    const int64_t b = m->t.bitpix;
    if (n < 0 || (b != 8 && b != 16 && b != 32 && b != 64 && b != -32 && b != -64))
        return cip_fail(err, CIP_ERR_CORRUPT, h->header.off,
                        "expected ZNAXIS and a ZBITPIX of 8, 16, 32, 64, -32 or -64");
    m->t.ndim = (int32_t)n;
    CIP_TRY(CIP_ARENA_NEW(&m->file->layout->arena, &m->t.shape, (size_t)n, err));
    CIP_TRY(CIP_ARENA_NEW(&m->file->layout->arena, &m->t.tile, (size_t)n, err));
    uint64_t ntile = 1;
    bool over = false;
    for (int32_t k = 0; k < n; k++) {
        const unsigned i = (unsigned)(n - k);
        m->t.shape[k] = -1;
        CIP_TRY(axis_of(m, "ZNAXIS", i, &m->t.shape[k], err));
        m->t.tile[k] = i == 1 ? cip_max_u64((uint64_t)m->t.shape[k], 1) : 1;
        CIP_TRY(axis_of(m, "ZTILE", i, &m->t.tile[k], err));
        m->t.tile[k] = cip_min_i64(m->t.tile[k], m->t.shape[k] > 0 ? m->t.shape[k] : 1);
        over |= cip_mul_overflow(ntile, cip_div_up((uint64_t)m->t.shape[k], (uint64_t)m->t.tile[k]),
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
    CIP_TRY(cip_fits_read_scaling(m->hdu, m->t.bitpix, &s, err));
    CIP_TRY(cip_fits_scaled(&s, cip_fits_type(m->t.bitpix), false, &m->t.out, &a->dtype, err));
    m->t.out.count = 1;
    m->t.out.name = "data";
    if (s.has_null && m->t.out.way != FITS_SCALE)
        CIP_TRY(cip_fits_mask_blank(l, &m->t.out, s.null, a, err));
    const cip_status st =
        cip_view_c_order(m->t.ndim, m->t.shape, a->dtype->itemsize, &a->view, err);
    if (st != CIP_OK) {
        a->dtype = NULL;
        return cip_fail(err, CIP_ERR_CORRUPT, m->hdu->header.off,
                        "ZNAXIS: expected an image of less than 2^63 bytes");
    }
    a->storage.kind = CIP_STORAGE_CHUNKED;
    a->storage.codec = codec;
    a->storage.chunk = m->t.tile;
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
