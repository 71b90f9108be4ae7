/* SPDX-License-Identifier: BSD-3-Clause
 * Frames that do not open: the index is looked for where a whole one may be. libblosc2 appends by
 * writing the new chunk over the old index, the new index behind it, then the header, then the
 * trailer, and has no journal; so after a crash header and index may be of different states, but an
 * index that is there whole says by itself which chunks the array has, and in which order. Where
 * none is whole, the order of the chunks is not known: chunks that are inserted lie last in the
 * file, replaced and deleted ones leave holes, and special ones lie nowhere. Then their order in
 * the file is taken only where the caller says that it is the one (CIP_OPEN_IN_ORDER).
 *
 * An index is believed when each of its entries is special or names a chunk of the right length and
 * no two overlap; and, where the header says another length or place, when besides the file ends
 * with it or a trailer follows: one that was written over in part has neither. */
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/blosc2/blosc2.h"

enum { TAIL = 23, WIDTH = 8, WINDOW_MAX = 16 << 20 };
#define UNKNOWN UINT64_MAX

typedef struct salvage {
    cip_b2_frame *f;
    uint64_t len;    /* bytes that are there, from the frame's beginning */
    uint64_t cbytes; /* as the header says */
    uint64_t nbytes;
    uint64_t shaped; /* chunks that the shape of b2nd has; UNKNOWN without */
    /* The index that is looked at. */
    uint64_t at, end;
    uint64_t n;
    uint8_t *entry;   /* n of them, little-endian; in the layout's arena */
    uint64_t trailer; /* length of what follows it; 0: none */
    bool like_data;   /* it is as long as a chunk, and may be one */
} salvage;

/* Nothing is here: what was looked at is no index. Failures that are no matter of the file pass. */
#define TRY_HERE(x)                                                                                \
    do {                                                                                           \
        const cip_status here_st = (x);                                                            \
        if (here_st != CIP_OK)                                                                     \
            return cip_is_passing(here_st) ? here_st : CIP_ERR_NOT_FOUND;                          \
    } while (0)

static cip_status read_bytes(const salvage *s, uint64_t at, void *dst, size_t n)
{
    const cip_read_how how = { s->f->layout, NULL };
    return cip_space_read_at(&how, s->f->in, s->f->base + at, dst, n, NULL);
}

static cip_status read_head(const salvage *s, uint64_t at, cip_blosc_head *h)
{
    uint8_t bytes[CIP_BLOSC_HEADER];
    if (at > s->len || s->len - at < sizeof bytes)
        return CIP_ERR_NOT_FOUND;
    TRY_HERE(read_bytes(s, at, bytes, sizeof bytes));
    TRY_HERE(cip_blosc_head_parse((cip_bytes){ bytes, sizeof bytes }, h, NULL));
    return h->extended && h->cbytes <= s->len - at ? CIP_OK : CIP_ERR_NOT_FOUND;
}

/* --- one index -------------------------------------------------------------------------------- */

/* The offsets of the index chunk at `at`. */
static cip_status load(salvage *s, uint64_t at)
{
    cip_layout *l = s->f->layout;
    const cip_read_how how = { l, NULL };
    const cip_step step = { .codec = &cip_codec_blosc };
    cip_blosc_head h;
    cip_table table;
    cip_space *raw;
    CIP_TRY(read_head(s, at, &h));
    if (h.typesize != WIDTH || h.vl || h.nbytes == 0 || h.nbytes % WIDTH != 0 ||
        h.nbytes / WIDTH > l->env->limits.max_blocks / 4)
        return CIP_ERR_NOT_FOUND;
    const cip_chunk chunk = { .at = { s->f->in, s->f->base + at, h.cbytes }, .raw_len = h.nbytes };
    TRY_HERE(cip_table_from_array(l, &chunk, 1, &table, NULL));
    TRY_HERE(cip_space_new_chunked(l, &table, h.nbytes, &step, 1, &raw, NULL));
    TRY_HERE(cip_arena_get(&l->arena, h.nbytes, (void **)&s->entry, NULL));
    TRY_HERE(cip_space_read_at(&how, raw, 0, s->entry, h.nbytes, NULL));
    s->at = at;
    s->end = at + h.cbytes;
    s->n = h.nbytes / WIDTH;
    s->like_data = h.nbytes == s->f->h.chunksize;
    return CIP_OK;
}

/* A trailer right behind the index: one whose length reaches from there to its own end. */
static cip_status find_trailer(salvage *s)
{
    const uint64_t most = cip_min_u64(s->f->layout->env->limits.max_tree_bytes, WINDOW_MAX);
    const size_t n = (size_t)cip_min_u64(s->len - s->end, most);
    uint8_t *bytes;
    s->trailer = 0;
    if (n < CIP_B2_TRAILER_MIN)
        return CIP_OK;
    TRY_HERE(cip_arena_get(&s->f->layout->arena, n, (void **)&bytes, NULL));
    TRY_HERE(read_bytes(s, s->end, bytes, n));
    if (bytes[0] != 0x94)
        return CIP_OK;
    for (size_t p = CIP_B2_TRAILER_MIN - TAIL; p + TAIL <= n; p++)
        if (bytes[p] == 0xce && bytes[p + 5] == 0xd8 &&
            cip_load_u32(bytes + p + 1, true) == p + TAIL) {
            s->trailer = p + TAIL;
            s->f->trailer_bytes = bytes;
            break;
        }
    return CIP_OK;
}

/* What the array decodes to with so many chunks; an index that may be written over in part has to
 * agree with the header. Decoded bytes of a special last chunk nothing but the header says, which
 * may be half another: it is believed when they are as many as of any other chunk. */
static cip_status count_bytes(const salvage *s, bool complete, uint64_t *nbytes)
{
    const uint64_t each = s->f->h.chunksize, before = (s->n - 1) * each; /* below 2^59 */
    const uint8_t *entry = s->entry + (s->n - 1) * WIDTH;
    uint64_t last = each;
    cip_blosc_head head;
    *nbytes = s->nbytes;
    if (each == 0) /* the chunks say it, and have to agree */
        return CIP_OK;
    if (s->shaped == UNKNOWN && (entry[WIDTH - 1] & 0x80) != 0) {
        if (s->nbytes != before + last)
            return CIP_ERR_NOT_FOUND;
    } else if (s->shaped == UNKNOWN) {
        if (s->f->h.sparse) { /* compared with its file */
            last = s->nbytes > before ? s->nbytes - before : 0;
        } else {
            CIP_TRY(read_head(s, s->f->h.header_len + cip_load_u64(entry, false), &head));
            last = head.nbytes;
        }
        if (last == 0 || last > each)
            return CIP_ERR_NOT_FOUND;
    }
    *nbytes = before + last;
    return complete || *nbytes == s->nbytes ? CIP_OK : CIP_ERR_NOT_FOUND;
}

typedef struct place {
    uint64_t at, len;
} place;

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

static cip_status take_places(const salvage *s, place *p, size_t *n)
{
    cip_b2_index *x = &s->f->index;
    *n = 0;
    for (uint64_t i = 0; i < s->n; i++) {
        cip_b2_entry e;
        cip_blosc_head head;
        cip_chunk c = { .run = 1 };
        uint64_t size = 0;
        TRY_HERE(cip_b2_index_entry(x, i, &e, NULL));
        if (e.special != CIP_BLOSC_NOT_SPECIAL)
            continue;
        bool there = x->numbered == NULL ||
                     (cip_io_numbered_size(x->numbered->io, e.at, &size, NULL) == CIP_OK &&
                      size != 0); /* a file that is gone is a chunk that is lost, no more */
        if (there)
            TRY_HERE(cip_b2_index_head(x, i, &e, &head, &c, NULL));
        p[(*n)++] = (place){ e.at, there && x->numbered == NULL ? c.at.len : 1 };
    }
    return CIP_OK;
}

/* Whether every entry names a chunk, each its own. The frame's index is what was loaded. */
static cip_status check_entries(const salvage *s)
{
    cip_mem *mem = &s->f->layout->env->mem;
    place *p;
    size_t n = 0;
    TRY_HERE(CIP_NEW(mem, &p, s->n, NULL));
    cip_status st = take_places(s, p, &n);
    if (st == CIP_OK && n > 1)
        qsort(p, n, sizeof *p, by_place);
    for (size_t k = 1; st == CIP_OK && k < n; k++)
        if (p[k].at - p[k - 1].at < p[k - 1].len)
            st = CIP_ERR_NOT_FOUND;
    cip_mem_put(mem, p);
    return st;
}

/* Hands the entries to the frame's index. */
static cip_status give(const salvage *s, uint64_t nbytes, cip_err *err)
{
    s->f->h.nbytes = nbytes;
    if (!s->f->h.sparse)
        s->f->h.cbytes = s->at - s->f->h.header_len;
    return cip_b2_index_given(&s->f->index, s->entry, s->n, s->at, err);
}

/* Whether a whole index begins at `at`; then the frame has it. One with more chunks than the shape
 * is that of a resize which was cut off. Longer arrays get special chunks before the new shape is
 * said, but shorter ones lose chunks after it, and may have special ones of their own: which chunks
 * the shape is of is not known. */
static cip_status try_index(salvage *s, uint64_t at)
{
    uint64_t nbytes;
    CIP_TRY(load(s, at));
    CIP_TRY(find_trailer(s));
    const bool complete = (s->end == s->len && !s->like_data) || s->trailer != 0;
    const uint64_t said = s->f->h.header_len + (s->f->h.sparse ? 0 : s->cbytes);
    if ((at != said || s->like_data) && !complete)
        return CIP_ERR_NOT_FOUND;
    CIP_TRY(count_bytes(s, complete, &nbytes));
    TRY_HERE(give(s, nbytes, NULL));
    CIP_TRY(check_entries(s));
    TRY_HERE(cip_b2_index_ready(&s->f->index, NULL));
    return s->shaped >= s->n ? CIP_OK : CIP_ERR_NOT_FOUND; /* UNKNOWN is above any number */
}

/* --- where it may be -------------------------------------------------------------------------- */

/* Behind the chunk that an append wrote where the header says the index is. */
static cip_status try_behind_chunk(salvage *s)
{
    const uint64_t at = s->f->h.header_len + s->cbytes;
    cip_blosc_head h;
    if (s->f->h.sparse || s->cbytes > s->len)
        return CIP_ERR_NOT_FOUND;
    CIP_TRY(read_head(s, at, &h));
    return try_index(s, at + h.cbytes);
}

/* One that ends at `end`, wherever it begins: its length is that of the bytes up to there. */
static cip_status try_ending(salvage *s, uint64_t end)
{
    const uint64_t each = s->f->h.chunksize, head = s->f->h.header_len;
    const uint64_t n = s->shaped != UNKNOWN ? s->shaped : each != 0 ? s->nbytes / each : 0;
    const uint64_t room = cip_min_u64(n + 64, WINDOW_MAX) * 2 * WIDTH;
    const size_t window = (size_t)cip_min_u64(end - head, cip_min_u64(room, WINDOW_MAX));
    uint8_t *bytes;
    if (window < CIP_BLOSC_HEADER)
        return CIP_ERR_NOT_FOUND;
    TRY_HERE(cip_arena_get(&s->f->layout->arena, window, (void **)&bytes, NULL));
    TRY_HERE(read_bytes(s, end - window, bytes, window));
    for (size_t back = CIP_BLOSC_HEADER; back <= window; back++) {
        const uint8_t *p = bytes + window - back;
        if (p[3] != WIDTH || cip_load_u32(p + 12, false) != back)
            continue;
        const cip_status st = try_index(s, end - back);
        if (st != CIP_ERR_NOT_FOUND)
            return st;
    }
    return CIP_ERR_NOT_FOUND;
}

/* Where the file ends, or the trailer begins that it ends with. */
static cip_status try_at_end(salvage *s)
{
    const uint64_t head = s->f->h.header_len;
    uint8_t tail[TAIL];
    if (s->len < head + CIP_B2_TRAILER_MIN)
        return CIP_ERR_NOT_FOUND;
    TRY_HERE(read_bytes(s, s->len - TAIL, tail, TAIL));
    const uint64_t trailer = cip_load_u32(tail + 1, true);
    if (tail[0] != 0xce || tail[5] != 0xd8 || trailer > s->len - head)
        return try_ending(s, s->len);
    return try_ending(s, s->len - trailer);
}

static cip_status find_index(salvage *s)
{
    const uint64_t said = s->f->h.header_len + (s->f->h.sparse ? 0 : s->cbytes);
    cip_status st = said <= s->len ? try_index(s, said) : CIP_ERR_NOT_FOUND;
    if (st == CIP_ERR_NOT_FOUND)
        st = try_behind_chunk(s);
    if (st == CIP_ERR_NOT_FOUND)
        st = try_at_end(s);
    return st;
}

/* --- without an index ------------------------------------------------------------------------- */

/* Chunks one behind the other from the header on, up to where the header says that they end; of a
 * file that was cut, up to there: what is behind is lost. */
static cip_status walk_chunks(salvage *s)
{
    const uint64_t end = s->f->h.header_len + s->cbytes;
    uint64_t at = s->f->h.header_len, i = 0;
    for (; i < s->n; i++) {
        cip_blosc_head h;
        const cip_status st = read_head(s, at, &h);
        if (st == CIP_ERR_NOT_FOUND && s->len < end)
            break;
        CIP_TRY(st);
        if (h.cbytes > end - at)
            return CIP_ERR_NOT_FOUND;
        cip_store_u64(s->entry + i * WIDTH, at - s->f->h.header_len, false);
        at += h.cbytes;
    }
    for (; i < s->n; i++)
        cip_store_u64(s->entry + i * WIDTH, end, false); /* where no chunk can be */
    s->at = cip_min_u64(end, s->len);
    return at == end || s->len < end ? CIP_OK : CIP_ERR_NOT_FOUND;
}

static cip_status take_in_order(salvage *s, cip_err *err)
{
    const uint64_t each = s->f->h.chunksize, most = s->f->layout->env->limits.max_blocks / 4;
    s->n = s->shaped != UNKNOWN ? s->shaped : each != 0 ? cip_div_up(s->nbytes, each) : 0;
    if (s->n == 0 || s->n > cip_min_u64(most, s->cbytes / CIP_BLOSC_MIN_HEADER))
        return CIP_ERR_NOT_FOUND;
    CIP_TRY(cip_arena_get(&s->f->layout->arena, (size_t)s->n * WIDTH, (void **)&s->entry, err));
    if (!s->f->h.sparse)
        CIP_TRY(walk_chunks(s));
    for (uint64_t i = 0; i < s->n && s->f->h.sparse;
         i++) { /* files, of which none may be missing */
        uint64_t size = 0;
        TRY_HERE(cip_io_numbered_size(s->f->index.numbered->io, i, &size, NULL));
        cip_store_u64(s->entry + i * WIDTH, i, false);
    }
    if (s->f->h.sparse)
        s->at = s->f->h.header_len;
    s->end = s->at;
    s->trailer = 0;
    return give(s, s->shaped != UNKNOWN ? s->n * each : s->nbytes, err);
}

/* --- the frame -------------------------------------------------------------------------------- */

static cip_status take_trailer(const salvage *s, cip_err *err)
{
    cip_b2_frame *f = s->f;
    cip_err why = CIP_ERR_INIT;
    cip_status st = CIP_ERR_TRUNCATED;
    f->trailer.len = s->trailer;
    if (s->trailer != 0)
        st = cip_b2_trailer_read((cip_bytes){ f->trailer_bytes, (size_t)s->trailer },
                                 &f->layout->arena, &f->trailer, &f->vlmeta, &why);
    if (st == CIP_ERR_NOMEM || st == CIP_ERR_LIMIT)
        return cip_fail(err, st, why.offset, "%s", why.text);
    f->vlmeta_read = st == CIP_OK;
    if (st != CIP_OK)
        f->vlmeta = (cip_b2_metas){ NULL, 0 };
    if (st != CIP_OK && f->header.ptr[0x44] == 0xc3)
        cip_warn_lack(f->layout->env, CIP_LACKS_NODE, NULL, st, CIP_NO_OFFSET, "trailer",
                      "the trailer is lost, and the vlmetalayers with it");
    return CIP_OK;
}

cip_status cip_b2_salvage(cip_b2_frame *f, uint64_t len, cip_err *err)
{
    salvage s = { .f = f, .len = len, .cbytes = f->h.cbytes, .nbytes = f->h.nbytes };
    const cip_b2_meta *m = cip_b2_meta_nd(&f->meta);
    cip_b2_nd nd;
    s.shaped = m != NULL && cip_b2_nd_read(m->value, &nd, NULL) == CIP_OK ? nd.nchunk : UNKNOWN;
    cip_status st = find_index(&s);
    const bool in_order = st == CIP_ERR_NOT_FOUND && (f->layout->flags & CIP_OPEN_IN_ORDER) != 0;
    if (in_order)
        st = take_in_order(&s, err);
    if (st == CIP_ERR_NOT_FOUND)
        return cip_fail(
            err, CIP_ERR_CORRUPT, f->base + f->h.header_len,
            "expected an undamaged index, found none: the order of the chunks is unknown%s",
            in_order ? ", and they are not stored one after the other" : "");
    if (st != CIP_OK)
        return cip_fail(err, st, CIP_NO_OFFSET, "looking for the index");
    cip_env *env = s.f->layout->env;
    if (in_order)
        cip_warn(env, CIP_ERR_CORRUPT, s.f->base + s.at, "index",
                 "the index is lost: %" PRIu64
                 " chunks are taken in the order of the file, which is right only if all chunks "
                 "were appended and none has a special value",
                 s.n);
    else
        cip_warn(env, CIP_ERR_CORRUPT, s.f->base + s.at, "index",
                 "the frame contradicts itself, as after an interrupted update: the %" PRIu64
                 " chunks of the index found here are used",
                 s.n);
    f->index.len = s.end - s.at;
    f->h.frame_len = s.end + s.trailer;
    return take_trailer(&s, err);
}
