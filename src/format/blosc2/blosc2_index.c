/* SPDX-License-Identifier: BSD-3-Clause
 * The index of a frame as a table of chunks. It is a space of its own, decoded a page at a time
 * where it is asked for, so that 2^40 chunks of zeros cost no more than their 40 bytes. A chunk's
 * stored length stands in its head alone, which is read when the chunk is. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/blosc2/blosc2.h"

enum {
    PAGE = 32 << 10,
    PAGE_MAX = 16 << 20,
    RUN_LOOK = 64,
    LOOK_MAX = 4096, /* entries, for one with data */
    STORED_MAX = 16  /* times its decoded bytes a chunk may take; 9 are possible (blocks of one) */
};

static cip_read_how how_of(const cip_b2_index *x)
{
    return (cip_read_how){ x->layout, NULL };
}

/* --- opening ---------------------------------------------------------------------------------- */

/* How many chunks the header promises; with chunks of different sizes only the index knows. */
static cip_status count_chunks(cip_b2_index *x, uint64_t index_nbytes, cip_err *err)
{
    const cip_b2_header *h = x->h;
    x->width = 4u << h->width_code;
    if (h->chunksize != 0) {
        x->n = cip_div_up(h->nbytes, h->chunksize);
        for (uint32_t w = 4; w <= CIP_B2_MAX_WIDTH; w *= 2)
            if (index_nbytes % w == 0 && index_nbytes / w == x->n)
                x->width = w;
    } else {
        x->n = index_nbytes / x->width;
        if (x->n > h->cbytes / CIP_BLOSC_MIN_HEADER) /* of a sparse frame nobody checks cbytes */
            return cip_fail(err, CIP_ERR_CORRUPT, x->base + x->at,
                            "expected at most %" PRIu64 " chunks in %" PRIu64
                            " bytes, found offsets of %" PRIu64,
                            h->cbytes / CIP_BLOSC_MIN_HEADER, h->cbytes, x->n);
    }
    uint64_t need;
    if (cip_mul_overflow(x->n, (uint64_t)x->width, &need) || need != index_nbytes)
        return cip_fail(err, CIP_ERR_CORRUPT, x->base + x->at,
                        "expected an index of %" PRIu64 " offsets, found %" PRIu64 " bytes", x->n,
                        index_nbytes);
    return CIP_OK;
}

/* All offsets the same: they need no page. */
static cip_status look_constant(cip_b2_index *x, const cip_blosc_head *head, cip_err *err)
{
    bool value = head->special == CIP_BLOSC_VALUE &&
                 (head->cbytes - CIP_BLOSC_HEADER == x->width || x->n == 1);
    x->constant = value;
    if (!value)
        return CIP_OK;
    const cip_read_how how = how_of(x);
    CIP_TRY(cip_space_read_at(&how, x->space, 0, x->value, x->width, err));
    if (x->n > 1 && (x->value[x->width - 1] & 0x80) == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, x->base + x->at,
                        "expected one chunk at each position, found %" PRIu64 " at the same", x->n);
    return CIP_OK;
}

static cip_status open_index(cip_b2_index *x, uint64_t end, cip_err *err)
{
    const cip_read_how how = how_of(x);
    uint8_t bytes[CIP_BLOSC_HEADER];
    cip_blosc_head head;
    size_t got = (size_t)cip_min_u64(sizeof bytes, end - x->at);
    CIP_TRY(cip_space_read_at(&how, x->in, x->base + x->at, bytes, got, err));
    CIP_TRY(cip_blosc_head_parse((cip_bytes){ bytes, got }, &head, err));
    if (head.cbytes > end - x->at)
        return cip_fail(err, CIP_ERR_CORRUPT, x->base + x->at,
                        "expected an index within %" PRIu64 " bytes, found %" PRIu32, end - x->at,
                        head.cbytes);
    if (head.vl)
        return cip_fail(err, CIP_ERR_CORRUPT, x->base + x->at, "an index of variable blocks");
    x->len = head.cbytes;
    CIP_TRY(count_chunks(x, head.nbytes, err));
    if (x->n == 0)
        return CIP_OK;
    /* A page is decoded at once: one block of the index or more, else a block would be decoded for
     * each of its pages. */
    uint64_t block = head.nblock != 0 ? head.blocksize : 0;
    x->page_size =
        (size_t)cip_max_u64(PAGE, cip_div_up(block, CIP_B2_MAX_WIDTH) * CIP_B2_MAX_WIDTH);
    if (x->page_size > PAGE_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, x->base + x->at,
                        "expected an index in blocks of at most %d bytes, found %" PRIu64, PAGE_MAX,
                        block);
    const cip_step step = { .codec = &cip_codec_blosc };
    const cip_chunk chunk = { .at = { x->in, x->base + x->at, x->len }, .raw_len = head.nbytes };
    cip_table table;
    CIP_TRY(cip_table_from_array(x->layout, &chunk, 1, &table, err));
    CIP_TRY(cip_space_new_chunked(x->layout, &table, head.nbytes, &step, 1, &x->space, err));
    x->space->label = "index";
    return look_constant(x, &head, err);
}

void cip_b2_index_init(cip_b2_index *x, cip_layout *l, cip_space *in, uint64_t base,
                       const cip_b2_header *h)
{
    *x = (cip_b2_index){ .layout = l, .in = in, .base = base, .h = h };
    pthread_mutex_init(&x->ready, NULL);
    pthread_mutex_init(&x->lock, NULL);
    atomic_init(&x->is_ready, false);
}

static bool is_document(cip_b2_index *x);
static cip_status check_count(cip_b2_index *x, cip_err *err);

cip_status cip_b2_index_open(cip_b2_index *x, uint64_t end, cip_err *err)
{
    const cip_b2_header *h = x->h;
    x->at = h->header_len;
    if (h->nbytes == 0 && x->at == end) /* emptied: cbytes may be what it was before */
        return CIP_OK;
    if (h->nbytes == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, x->base + 0x1E,
                        "expected a trailer after the chunks, found %" PRIu64 " other bytes",
                        end - x->at);
    if (!h->sparse && h->cbytes > end - x->at)
        return cip_fail(err, CIP_ERR_CORRUPT, x->base + 0x27,
                        "expected chunks of at most %" PRIu64 " bytes, found %" PRIu64, end - x->at,
                        h->cbytes);
    x->at += h->sparse ? 0 : h->cbytes;
    cip_status st = open_index(x, end, err);
    if (st == CIP_OK)
        st = check_count(x, err);
    if (st == CIP_OK && x->n != 0)
        x->document = is_document(x);
    return cip_fail_in(err, st, "index");
}

cip_status cip_b2_index_given(cip_b2_index *x, const uint8_t *entry, uint64_t n, uint64_t at,
                              cip_err *err)
{
    cip_mem *mem = &x->layout->env->mem;
    cip_mem_put(mem, x->start);
    cip_mem_put(mem, x->page);
    x->start = NULL;
    x->page = NULL;
    x->constant = false;
    atomic_store(&x->is_ready, false);
    x->n = n;
    x->at = at;
    x->len = 0;
    x->width = 8;
    x->page_size = PAGE;
    return cip_space_new_mem(x->layout, (cip_bytes){ entry, (size_t)n * x->width }, &x->space, err);
}

void cip_b2_index_clear(cip_b2_index *x)
{
    cip_mem *mem = &x->layout->env->mem;
    pthread_mutex_destroy(&x->ready);
    pthread_mutex_destroy(&x->lock);
    cip_mem_put(mem, x->start);
    cip_mem_put(mem, x->page);
}

/* --- entries ---------------------------------------------------------------------------------- */

cip_status cip_b2_index_offsets(cip_b2_index *x, cip_buf *out, cip_err *err)
{
    for (uint64_t i = 0; i < x->n; i++) {
        cip_b2_entry e;
        CIP_TRY(cip_b2_index_entry(x, i, &e, err));
        if (e.special == CIP_BLOSC_NOT_SPECIAL)
            CIP_TRY(cip_buf_add(out, &e.at, sizeof e.at, err));
    }
    if (out->len != 0)
        qsort(out->ptr, out->len / sizeof(uint64_t), sizeof(uint64_t), cip_compare_u64);
    return CIP_OK;
}

/* Offsets [i, i + n), which lie in one page. */
static cip_status raw_entries(cip_b2_index *x, uint64_t i, size_t n, uint8_t *dst, cip_err *err)
{
    uint64_t off = i * x->width, at = off / x->page_size * x->page_size;
    uint8_t *page = NULL;
    if (x->constant) {
        for (size_t k = 0; k < n; k++)
            memcpy(dst + k * x->width, x->value, x->width);
        return CIP_OK;
    }
    pthread_mutex_lock(&x->lock);
    const bool has = x->page != NULL && off >= x->page_at && off - x->page_at <= x->page_len &&
                     n * x->width <= x->page_len - (off - x->page_at);
    if (has)
        memcpy(dst, x->page + (off - x->page_at), n * x->width);
    pthread_mutex_unlock(&x->lock);
    if (has)
        return CIP_OK;
    size_t len = (size_t)cip_min_u64(x->page_size, x->space->len - at);
    const cip_read_how how = how_of(x);
    CIP_TRY(cip_mem_get(&x->layout->env->mem, len, (void **)&page, err));
    cip_status st = cip_space_read_at(&how, x->space, at, page, len, err);
    if (st != CIP_OK) {
        cip_mem_put(&x->layout->env->mem, page);
        return st;
    }
    memcpy(dst, page + (off - at), n * x->width);
    pthread_mutex_lock(&x->lock);
    uint8_t *old = x->page;
    x->page = page;
    x->page_at = at;
    x->page_len = len;
    pthread_mutex_unlock(&x->lock);
    cip_mem_put(&x->layout->env->mem, old);
    return CIP_OK;
}

static cip_status judge(const cip_b2_index *x, uint64_t i, const uint8_t *raw, cip_b2_entry *out,
                        cip_err *err)
{
    static const uint8_t special[8] = {
        [1] = CIP_BLOSC_ZEROS, [2] = CIP_BLOSC_NANS, [4] = CIP_BLOSC_UNINIT
    };
    uint8_t top = raw[x->width - 1];
    *out = (cip_b2_entry){ .special = CIP_BLOSC_NOT_SPECIAL };
    if ((top & 0x80) != 0) {
        out->special = special[top & 7];
        if (out->special == CIP_BLOSC_NOT_SPECIAL || (top & 0x78) != 0)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected an offset or a known special value, found 0x%02x", top);
        return CIP_OK;
    }
    for (uint32_t k = 8; k < x->width; k++)
        if (raw[k] != 0)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected an offset below 2^64 for chunk %" PRIu64, i);
    out->at = x->width == 4 ? cip_load_u32(raw, false) : cip_load_u64(raw, false);
    return CIP_OK;
}

/* Where the bytes that offsets may point to begin and end, from base. */
static uint64_t data_from(const cip_b2_index *x, bool document)
{
    return document ? 0 : x->h->header_len;
}

/* Whether a head fits between the offset and the index. */
static cip_status check_offset(const cip_b2_index *x, const cip_b2_entry *e, bool document,
                               cip_err *err)
{
    uint64_t from = data_from(x, document), room = x->at - from;
    if (x->numbered != NULL && e->at >= CIP_IO_NUMBERS)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected the number of a chunk file, found %" PRIu64, e->at);
    if (x->numbered == NULL &&
        (e->at > room || room - e->at < CIP_BLOSC_MIN_HEADER || e->at + from < x->h->header_len))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a chunk within %" PRIu64 " bytes, found it at %" PRIu64, room,
                        e->at);
    return CIP_OK;
}

cip_status cip_b2_index_entry(cip_b2_index *x, uint64_t i, cip_b2_entry *out, cip_err *err)
{
    uint8_t raw[CIP_B2_MAX_WIDTH];
    cip_b2_entry e;
    if (i >= x->n)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a chunk below %" PRIu64 ", found %" PRIu64, x->n, i);
    CIP_TRY(raw_entries(x, i, 1, raw, err));
    CIP_TRY(judge(x, i, raw, &e, err));
    if (e.special == CIP_BLOSC_NOT_SPECIAL)
        CIP_TRY(check_offset(x, &e, x->document, err));
    *out = e;
    return CIP_OK;
}

/* How many entries from i on one look sees. */
static size_t look_len(const cip_b2_index *x, uint64_t i)
{
    uint64_t page_end = (i * x->width / x->page_size + 1) * (x->page_size / x->width);
    return (size_t)cip_min_u64(RUN_LOOK, cip_min_u64(page_end, x->n) - i);
}

/* A small index may say that there are very many chunks, and that they are the same few: then there
 * are more than what holds them has room for. Chunks that are all special cost nothing. */
static cip_status check_count(cip_b2_index *x, cip_err *err)
{
    uint64_t listed = x->layout->env->limits.max_blocks / 4, files = listed / 4, data;
    uint64_t room = x->numbered != NULL ? files : x->h->cbytes / CIP_BLOSC_MIN_HEADER;
    if (x->constant || x->n <= cip_max_u64(files, room))
        return CIP_OK;
    if (x->n > cip_max_u64(listed, room))
        return cip_fail(err, CIP_ERR_LIMIT, x->base + x->at,
                        "expected at most %" PRIu64 " chunks, found %" PRIu64,
                        cip_max_u64(listed, room), x->n);
    uint8_t raw[RUN_LOOK * CIP_B2_MAX_WIDTH];
    data = 0;
    for (uint64_t i = 0, n; i < x->n; i += n) {
        n = look_len(x, i);
        CIP_TRY(raw_entries(x, i, (size_t)n, raw, err));
        for (uint64_t k = 0; k < n; k++)
            data += (raw[(k + 1) * x->width - 1] & 0x80) == 0;
    }
    if (data <= room)
        return CIP_OK;
    return cip_fail(err, x->numbered != NULL ? CIP_ERR_LIMIT : CIP_ERR_CORRUPT, x->base + x->at,
                    "expected at most %" PRIu64 " chunks with data, found %" PRIu64, room, data);
}

/* How many entries from i on are the same special one, and of a cache here (or not) as chunk i is,
 * as far as one look goes. */
static uint64_t run_of(cip_b2_index *x, uint64_t i, uint8_t special)
{
    const cip_b2_partial *p = &x->partial;
    const bool here = cip_b2_partial_chunk(p, i, special);
    uint8_t raw[RUN_LOOK * CIP_B2_MAX_WIDTH];
    size_t n = look_len(x, i);
    uint64_t same = 1, run = 1;
    if (x->constant)
        same = x->n - i;
    else if (raw_entries(x, i, n, raw, NULL) == CIP_OK)
        while (same < n && memcmp(raw, raw + same * x->width, x->width) == 0)
            same++;
    if (p->kind == NULL || p->none)
        return same;
    same = cip_min_u64(same, RUN_LOOK);
    while (run < same && cip_b2_partial_chunk(p, i + run, special) == here)
        run++;
    return run;
}

/* --- heads ------------------------------------------------------------------------------------ */

uint64_t cip_b2_index_expected(const cip_b2_index *x, uint64_t i)
{
    uint64_t each = x->h->chunksize;
    return each == 0 ? 0 : cip_min_u64(each, x->h->nbytes - i * each);
}

static cip_status read_head(cip_b2_index *x, const cip_b2_entry *e, bool document,
                            cip_blosc_head *head, cip_chunk *out, cip_err *err)
{
    const cip_read_how how = how_of(x);
    uint8_t own[CIP_BLOSC_HEADER];
    bool kept = out->head.cap >= sizeof own;
    uint8_t *bytes = kept ? out->head.ptr : own;
    uint64_t from = data_from(x, document) + e->at;
    cip_extent where = { x->in, x->base + from, x->at - from };
    if (x->numbered != NULL) {
        where = (cip_extent){ .in = x->numbered, .off = e->at << CIP_IO_NUMBER_SHIFT };
        CIP_TRY(cip_io_numbered_size(x->numbered->io, e->at, &where.len, err));
    }
    uint64_t first = kept ? out->head.cap : sizeof own;
    /* Of long chunks the header and the table of blocks; short ones are read whole. */
    if (kept && x->h->blocksize != 0 && x->h->chunksize != 0 && x->h->cbytes / x->n > out->head.cap)
        first =
            cip_min_u64(first, CIP_BLOSC_HEADER + 4 * cip_div_up(x->h->chunksize, x->h->blocksize));
    const size_t n = (size_t)cip_min_u64(first, where.len);
    CIP_TRY(cip_space_read_at(&how, where.in, where.off, bytes, n, err));
    CIP_TRY(cip_blosc_head_parse((cip_bytes){ bytes, n }, head, err));
    if (head->cbytes > where.len)
        return cip_fail(err, x->numbered != NULL ? CIP_ERR_TRUNCATED : CIP_ERR_CORRUPT,
                        CIP_NO_OFFSET,
                        "expected a chunk within %" PRIu64 " bytes, found one of %" PRIu32,
                        where.len, head->cbytes);
    if ((head->cbytes - 64) / STORED_MAX > head->nbytes && head->cbytes > 64)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a chunk not much larger than its %" PRIu32
                        " decoded bytes, found one of %" PRIu32,
                        head->nbytes, head->cbytes);
    where.len = head->cbytes;
    out->at = where;
    out->head.len = kept ? (size_t)cip_min_u64(n, head->cbytes) : 0;
    return CIP_OK;
}

static cip_status check_nbytes(const cip_b2_index *x, uint64_t i, const cip_blosc_head *head,
                               cip_err *err)
{
    uint64_t expected = cip_b2_index_expected(x, i);
    if (expected != 0 && head->nbytes != expected)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a chunk of %" PRIu64 " decoded bytes, found %" PRIu32, expected,
                        head->nbytes);
    return CIP_OK;
}

cip_status cip_b2_index_head(cip_b2_index *x, uint64_t i, const cip_b2_entry *e,
                             cip_blosc_head *head, cip_chunk *out, cip_err *err)
{
    CIP_TRY(read_head(x, e, x->document, head, out, err));
    return check_nbytes(x, i, head, err);
}

/* --- looked at once --------------------------------------------------------------------------- */

/* Whether chunk i is there when offsets count as `document` says; special ones always are. */
static bool fits(cip_b2_index *x, uint64_t i, bool document, bool *special)
{
    uint8_t raw[CIP_B2_MAX_WIDTH];
    cip_b2_entry e;
    cip_blosc_head head;
    cip_chunk c = { .run = 1 };
    if (raw_entries(x, i, 1, raw, NULL) != CIP_OK || judge(x, i, raw, &e, NULL) != CIP_OK)
        return false;
    *special = e.special != CIP_BLOSC_NOT_SPECIAL;
    return *special || (check_offset(x, &e, document, NULL) == CIP_OK &&
                        read_head(x, &e, document, &head, &c, NULL) == CIP_OK &&
                        check_nbytes(x, i, &head, NULL) == CIP_OK);
}

/* The document counts offsets from the frame's beginning: believed only when the first chunk with
 * data is not where it really should be, and every chunk is where the document says. */
static bool is_document(cip_b2_index *x)
{
    bool special = true, there = false;
    uint64_t i = 0, look = cip_min_u64(x->n, LOOK_MAX);
    if (x->numbered != NULL || x->constant || x->n > x->h->cbytes / CIP_BLOSC_MIN_HEADER)
        return false;
    while (i < look && (there = fits(x, i, false, &special)) && special)
        i++;
    if (i == look || there)
        return false;
    for (; i < x->n; i++)
        if (!fits(x, i, true, &special))
            return false;
    return true;
}

/* Sums of the lengths that the chunks' heads say. */
static cip_status measure(cip_b2_index *x, cip_err *err)
{
    uint64_t *start = NULL;
    cip_status st;
    CIP_TRY(CIP_NEW(&x->layout->env->mem, &start, x->n + 1, err));
    for (uint64_t i = 0; i < x->n; i++) {
        cip_b2_entry e;
        cip_blosc_head head;
        cip_chunk c = { .run = 1 };
        CIP_GO(cip_b2_index_entry(x, i, &e, err));
        if (e.special != CIP_BLOSC_NOT_SPECIAL)
            CIP_GO(cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "chunk %" PRIu64 " has a special value, but no size", i));
        CIP_GO(cip_b2_index_head(x, i, &e, &head, &c, err));
        start[i + 1] = start[i] + head.nbytes; /* at most 2^31 times 2^31 */
    }
    if (start[x->n] != x->h->nbytes)
        CIP_GO(cip_fail(err, CIP_ERR_CORRUPT, x->base + 0x1E,
                        "expected %" PRIu64 " decoded bytes, found chunks of %" PRIu64,
                        x->h->nbytes, start[x->n]));
    x->start = start;
    return CIP_OK;
done:
    cip_mem_put(&x->layout->env->mem, start);
    return st;
}

cip_status cip_b2_index_ready(cip_b2_index *x, cip_err *err)
{
    cip_status st = CIP_OK;
    if (atomic_load_explicit(&x->is_ready, memory_order_acquire) || x->n == 0)
        return CIP_OK;
    pthread_mutex_lock(&x->ready);
    if (!atomic_load_explicit(&x->is_ready, memory_order_relaxed)) {
        st = x->h->chunksize == 0 ? measure(x, err) : CIP_OK;
        if (st == CIP_OK)
            atomic_store_explicit(&x->is_ready, true, memory_order_release);
    }
    pthread_mutex_unlock(&x->ready);
    return st;
}

/* --- the table -------------------------------------------------------------------------------- */

static cip_status table_count(void *self, uint64_t *n, cip_err *err)
{
    cip_b2_index *x = self;
    CIP_TRY(cip_b2_index_ready(x, err));
    *n = x->n;
    return CIP_OK;
}

static cip_status fill_chunk(cip_b2_index *x, uint64_t i, cip_chunk *out, cip_err *err)
{
    static const uint8_t state[] = { [CIP_BLOSC_ZEROS] = CIP_CHUNK_ZERO,
                                     [CIP_BLOSC_NANS] = CIP_CHUNK_NAN,
                                     [CIP_BLOSC_UNINIT] = CIP_CHUNK_UNINIT };
    cip_b2_entry e;
    cip_blosc_head head;
    uint64_t len = 1;
    CIP_TRY(cip_b2_index_entry(x, i, &e, err));
    out->raw_off = x->start != NULL ? x->start[i] : i * x->h->chunksize;
    out->raw_len = x->start != NULL ? x->start[i + 1] - x->start[i] : cip_b2_index_expected(x, i);
    if (e.special != CIP_BLOSC_NOT_SPECIAL) {
        out->state = state[e.special];
        /* Of equal entries, how many chunks are told of at once; the last chunk may be shorter. */
        const uint64_t run = run_of(x, i, e.special);
        bool last_is_short = cip_b2_index_expected(x, x->n - 1) != x->h->chunksize;
        out->run = last_is_short && i + run == x->n && run > 1 ? run - 1 : run;
    }
    if (!cip_b2_partial_chunk(&x->partial, i, e.special)) {
        out->state = CIP_CHUNK_MISSING;
        out->why = cip_b2_partial_fail(&x->partial, NULL);
        out->lack = x->partial.cache ? cip_b2_partial_missing : NULL;
        return CIP_OK;
    }
    if (e.special != CIP_BLOSC_NOT_SPECIAL)
        return CIP_OK;
    /* A chunk whose file is not there, or empty as some writers leave it, is missing; one that
     * another program writes meanwhile is BUSY. */
    if (x->numbered != NULL) {
        cip_err own = CIP_ERR_INIT;
        cip_status st = cip_io_numbered_size(x->numbered->io, e.at, &len, &own);
        if (st != CIP_OK && st != CIP_ERR_NOT_FOUND)
            return cip_err_give(err, &own, st);
        len = st == CIP_OK ? len : 0;
    }
    if (len == 0) {
        out->at = (cip_extent){ .in = x->numbered, .off = e.at << CIP_IO_NUMBER_SHIFT };
        out->state = CIP_CHUNK_MISSING;
        out->why = CIP_ERR_NOT_FOUND;
        return CIP_OK;
    }
    return cip_b2_index_head(x, i, &e, &head, out, err);
}

static cip_status table_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    cip_b2_index *x = self;
    CIP_TRY(cip_b2_index_ready(x, err));
    for (size_t k = 0; k < n; k++)
        CIP_TRY(fill_chunk(x, i + k, &out[k], err));
    return CIP_OK;
}

/* With chunks of different sizes: the last one that begins at the byte or before it. */
static cip_status table_find(void *self, uint64_t raw_off, uint64_t *i, cip_err *err)
{
    cip_b2_index *x = self;
    CIP_TRY(cip_b2_index_ready(x, err));
    *i = cip_last_at_most(x->start, sizeof *x->start, x->n, raw_off);
    return CIP_OK;
}

static void table_place(void *self, uint64_t i, cip_extent *at)
{
    cip_b2_index *x = self;
    cip_b2_entry e;
    if (x->numbered == NULL && cip_b2_index_entry(x, i, &e, NULL) == CIP_OK &&
        e.special == CIP_BLOSC_NOT_SPECIAL)
        *at = (cip_extent){ x->in, x->base + data_from(x, x->document) + e.at,
                            x->at - data_from(x, x->document) - e.at };
}

cip_table cip_b2_index_table(cip_b2_index *x)
{
    return (cip_table){ .at = table_at,
                        .find = x->h->chunksize == 0 ? table_find : NULL,
                        .count = table_count,
                        .place = table_place,
                        .raw_each = x->h->chunksize,
                        .self = x };
}
