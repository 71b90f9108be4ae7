/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of FITS files. Elements change where they are. With another shape the cards of the axes
 * change, too, and where the data then take more or fewer blocks, the file is written again from
 * the first byte that moves: what follows has no offsets in it. CHECKSUM and DATASUM of an HDU that
 * changes are worked out from what they were and the changed bytes alone, so that damage elsewhere
 * is still found. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "format/fits/fits_write.h"
#include "io/temporary.h"

enum {
    PIECE = 1 << 16, /* bytes of rows that are encoded together, about */
    NEAR = 1 << 16   /* bytes between changes that are written with them */
};

/* Bytes of an HDU's data that change: len of them from `at` on. */
typedef struct part {
    uint64_t at, len;
    cip_io *io;
    uint64_t off;
} part;

/* An HDU of which an array's elements change. */
typedef struct hdu_change {
    const fits_hdu *h;
    const cip_chunk_changes *c;
    uint64_t nbytes; /* of the data by then */
    part *part;      /* rising, apart */
    size_t npart, cap;
    uint8_t *head; /* the header by then, and as it was */
    const uint8_t *was;
} hdu_change;

struct fits_update {
    cip_env *env;
    cip_arena *arena;
    const fits_file *f;
    cip_io *io;
    cip_io *temporary;
    hdu_change *change;
    size_t n, cap;
};

static uint64_t padded(uint64_t n)
{
    return cip_div_up(n, FITS_BLOCK) * FITS_BLOCK;
}

static size_t head_len(const fits_hdu *h)
{
    return (size_t)(h->header.end - h->header.off);
}

/* Whether every HDU has the checksums that are asked for, or none has any: these it keeps. */
static bool has_sums(const fits_file *f, const char *wanted)
{
    const bool none = strcmp(wanted, "none") == 0;
    for (size_t i = 0; i < f->nhdu; i++)
        if (cip_fits_has(&f->hdu[i].header, "DATASUM") == none ||
            cip_fits_has(&f->hdu[i].header, "CHECKSUM") == none)
            return false;
    return none || strcmp(wanted, "datasum") == 0;
}

cip_status cip_fits_update_begin(const cip_store_begin *b, fits_update **out, cip_err *err)
{
    if (b->spec->codec != NULL && strcmp(b->spec->codec, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "FITS files are changed without a codec");
    const fits_file *f = b->old->own;
    if (b->spec->checksum != NULL && !has_sums(f, b->spec->checksum))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a FITS file keeps the checksums that it has; convert it to have others");
    CIP_TRY(CIP_ARENA_NEW(b->arena, out, 1, err));
    **out = (fits_update){
        .env = b->env, .arena = b->arena, .f = f, .io = b->old->io, .temporary = b->temporary
    };
    return CIP_OK;
}

/* --- what can change -------------------------------------------------------------------------- */

static const fits_hdu *hdu_of(const fits_file *f, const cip_array *a)
{
    for (size_t i = 0; i < f->nhdu; i++)
        if (f->hdu[i].array == cip_array_listed(a))
            return &f->hdu[i];
    return NULL;
}

/* Why the array's elements do not change; NULL: they can. */
static const char *fixed(const fits_hdu *h)
{
    return h == NULL               ? "the arrays of an ASDF tree in a FITS file are not changed"
           : h->kind == FITS_TILES ? "compressed images are not changed; convert the file first"
           : h->kind == FITS_ASCII ? "tables of text are not changed; convert the file first"
           : h->rows == NULL       ? "the array is not read, so it is not changed"
                                   : NULL;
}

/* Why its shape does not. */
static const char *fixed_shape(const fits_file *f, const fits_hdu *h)
{
    return f->has_tree ? "the file has an ASDF tree with the shapes of its arrays, so no shape is "
                         "changed"
           : h->pcount != 0 ? "the table has a heap after its rows, so their number is not changed"
           : h->rows->partial
               ? "the table has columns that are not read, so the number of its rows "
                 "is not changed"
           : h->rows->each == 0 ? "the elements have no bytes, so their number is not changed"
                                : NULL;
}

cip_status cip_fits_update_form(const fits_update *u, const cip_array *a, cip_change_kind kind,
                                cip_change_form *out, cip_err *err)
{
    const fits_hdu *h = hdu_of(u->f, a);
    const char *why = fixed(h);
    if (why == NULL && kind != CIP_CHANGE_ELEMENTS)
        why = fixed_shape(u->f, h);
    if (why == NULL && h->header.end > u->io->size)
        why = "the file ends within a header, so that it is not changed";
    if (why != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s", why);
    out->form = (cip_array_form){ .dtype = a->dtype, .caps = CIP_FORM_BYTES };
    return CIP_OK;
}

cip_status cip_fits_update_chunks(fits_update *u, const cip_chunk_changes *c, cip_err *err)
{
    CIP_TRY(CIP_ARENA_ROOM(u->arena, &u->change, u->n, &u->cap, err));
    u->change[u->n++] = (hdu_change){ .h = hdu_of(u->f, cip_chunk_changes_array(c)), .c = c };
    return CIP_OK;
}

/* --- the bytes that change -------------------------------------------------------------------- */

/* Joined to the last one where it goes on there. */
static cip_status add_part(fits_update *u, hdu_change *x, part p, cip_err *err)
{
    part *last = x->npart != 0 ? &x->part[x->npart - 1] : NULL;
    if (last != NULL && last->io == p.io && last->at + last->len == p.at &&
        last->off + last->len == p.off) {
        last->len += p.len;
        return CIP_OK;
    }
    CIP_TRY(CIP_ARENA_ROOM(u->arena, &x->part, x->npart, &x->cap, err));
    x->part[x->npart++] = p;
    return CIP_OK;
}

/* Whether elements and rows are the same bytes, all of them. */
static bool is_plain(const fits_rows *r)
{
    uint64_t n = 0;
    for (size_t i = 0; i < r->ncolumn; i++) {
        if (r->column[i].way != FITS_COPY)
            return false;
        n += r->column[i].count * r->column[i].width;
    }
    return n == r->stored;
}

/* Rows from `row` on, of elements as they are now. */
static cip_status encode_piece(fits_update *u, hdu_change *x, uint64_t row, size_t n,
                               uint8_t *elems, uint8_t *out, cip_err *err)
{
    const fits_rows *r = x->h->rows;
    const size_t had = (size_t)cip_min_u64(n, cip_bytes_left(r->n, row));
    const size_t len = n * (size_t)r->stored, old = had * (size_t)r->stored;
    const part p = { row * r->stored, len, u->temporary, u->temporary->size };
    CIP_TRY(
        cip_io_read(cip_chunk_changes_io(x->c), row * r->each, elems, n * (size_t)r->each, err));
    if (old != 0)
        CIP_TRY(cip_io_read(u->io, r->data + row * r->stored, out, old, err));
    memset(out + old, 0, len - old);
    CIP_TRY(cip_fits_encode(r, elems, row, n, had, out, err));
    CIP_TRY(cip_temporary_write(u->temporary, p.off, out, len, err));
    return add_part(u, x, p, err);
}

/* Elements [from, to) of the array's bytes. */
static cip_status add_range(fits_update *u, hdu_change *x, uint64_t from, uint64_t to, cip_err *err)
{
    const fits_rows *r = x->h->rows;
    cip_mem *mem = &u->env->mem;
    uint8_t *elems = NULL, *out = NULL;
    cip_status st;
    if (from == to)
        return CIP_OK;
    if (is_plain(r))
        return add_part(u, x, (part){ from, to - from, cip_chunk_changes_io(x->c), from }, err);
    const uint64_t end = cip_div_up(to, r->each);
    const uint64_t per = cip_max_u64(1, PIECE / cip_max_u64(r->stored, r->each));
    CIP_GO(cip_mem_get(mem, (size_t)(per * r->each), (void **)&elems, err));
    CIP_GO(cip_mem_get(mem, (size_t)(per * r->stored), (void **)&out, err));
    for (uint64_t row = from / r->each; row < end; row += per)
        CIP_GO(encode_piece(u, x, row, (size_t)cip_min_u64(per, end - row), elems, out, err));
    st = CIP_OK;
done:
    cip_mem_put(mem, elems);
    cip_mem_put(mem, out);
    return st;
}

/* What is not the element that the file has in its place. */
static cip_status find_parts(fits_update *u, hdu_change *x, cip_err *err)
{
    const fits_rows *r = x->h->rows;
    const uint64_t n = cip_chunk_changes_count(x->c);
    uint64_t from = 0, to = 0; /* the range that is being put together, whole elements */
    cip_chunk_now now;
    x->nbytes = x->h->nbytes;
    if (r->each == 0)
        return CIP_OK;
    uint64_t rows;
    if (cip_mul_overflow(n / r->each, r->stored, &rows) || rows > INT64_MAX - FITS_BLOCK)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "expected data of less than 2^63 bytes");
    x->nbytes = x->h->nbytes - r->n * r->stored + rows;
    for (uint64_t i = 0; i < n; i += now.run) {
        cip_chunk_changes_at(x->c, i, &now);
        if (now.from == i)
            continue;
        const uint64_t first = i / r->each * r->each;
        if (to == 0 || first > to + NEAR) {
            CIP_TRY(add_range(u, x, from, to, err));
            from = first;
        }
        to = cip_div_up(i + now.run, r->each) * r->each;
    }
    return add_range(u, x, from, to, err);
}

/* --- sums ------------------------------------------------------------------------------------- */

/* Adds n bytes of the io, which belong at `at` of what is summed; what lies behind its end is none.
 */
static cip_status add_bytes(fits_update *u, cip_io *io, uint64_t off, uint64_t n, uint64_t at,
                            fits_sum *sum, cip_err *err)
{
    cip_mem *mem = &u->env->mem;
    uint8_t *piece;
    cip_status st = CIP_OK;
    n = cip_min_u64(n, cip_bytes_left(io->size, off));
    sum->at = at;
    if (n == 0)
        return CIP_OK;
    CIP_TRY(cip_mem_get(mem, PIECE, (void **)&piece, err));
    for (uint64_t k = 0; k < n && st == CIP_OK; k += PIECE) {
        const size_t len = (size_t)cip_min_u64(PIECE, n - k);
        st = cip_io_read(io, off + k, piece, len, err);
        if (st == CIP_OK)
            cip_fits_sum_add(sum, piece, len);
    }
    cip_mem_put(mem, piece);
    return st;
}

/* The sums of data bytes that go, and of those that come. */
static cip_status sum_parts(fits_update *u, const hdu_change *x, fits_sum *gone, fits_sum *come,
                            cip_err *err)
{
    const fits_hdu *h = x->h;
    const uint64_t old = padded(h->nbytes);
    for (size_t i = 0; i < x->npart; i++) {
        const part *p = &x->part[i];
        CIP_TRY(add_bytes(u, p->io, p->off, p->len, p->at, come, err));
        if (p->at < old)
            CIP_TRY(add_bytes(u, u->io, h->data + p->at, cip_min_u64(p->len, old - p->at), p->at,
                              gone, err));
    }
    return x->nbytes == h->nbytes || x->nbytes >= old
               ? CIP_OK
               : add_bytes(u, u->io, h->data + x->nbytes, old - x->nbytes, x->nbytes, gone, err);
}

/* Whether all the data are zeros by then: their sum is 0, and never else. */
static cip_status sum_is_zero(fits_update *u, const hdu_change *x, bool *zero, cip_err *err)
{
    const fits_hdu *h = x->h;
    const uint64_t end = x->nbytes == h->nbytes ? padded(h->nbytes) : x->nbytes;
    fits_sum sum = { 0 };
    uint64_t at = 0;
    for (size_t i = 0; i <= x->npart && sum.sum == 0; i++) {
        const uint64_t to = i < x->npart ? x->part[i].at : end;
        CIP_TRY(add_bytes(u, u->io, h->data + at, to - at, at, &sum, err));
        if (i < x->npart)
            CIP_TRY(add_bytes(u, x->part[i].io, x->part[i].off, x->part[i].len, to, &sum, err));
        at = i < x->npart ? to + x->part[i].len : at;
    }
    *zero = sum.sum == 0;
    return CIP_OK;
}

static cip_status set_datasum(fits_update *u, hdu_change *x, const fits_sum *gone,
                              const fits_sum *come, cip_err *err)
{
    const cip_node *was = cip_map_get(x->h->header.map, "DATASUM");
    uint8_t *card = cip_fits_find_card(x->head, head_len(x->h), "DATASUM");
    uint64_t said;
    char text[32];
    if (card == NULL || !cip_fits_said_sum(&x->h->header, &said))
        return CIP_OK;
    uint32_t sum =
        cip_fits_fold(said + cip_fits_fold(come->sum) + (uint32_t)~cip_fits_fold(gone->sum));
    bool zero = false;
    if (sum == UINT32_MAX || sum == 0)
        CIP_TRY(sum_is_zero(u, x, &zero, err));
    if (sum == UINT32_MAX || sum == 0) /* both mean 0, which only zeros have as 0 */
        sum = zero ? 0 : UINT32_MAX;
    const bool quoted = was->type == CIP_NODE_STRING;
    snprintf(text, sizeof text, quoted ? "'%-8" PRIu32 "'" : "%" PRIu32, sum);
    return cip_fits_set_card(card, text, !quoted, err);
}

static cip_status set_checksum(const hdu_change *x, const fits_sum *gone, const fits_sum *come,
                               cip_err *err)
{
    const cip_node *said = cip_map_get(x->h->header.map, "CHECKSUM");
    const size_t n = head_len(x->h);
    uint8_t *card = cip_fits_find_card(x->head, n, "CHECKSUM");
    fits_sum old = { 0 }, new = { 0 };
    if (card == NULL || said == NULL || said->type != CIP_NODE_STRING ||
        said->len != FITS_CHECKSUM_LEN)
        return CIP_OK;
    char *text = (char *)card + FITS_CHECKSUM;
    if (memcmp(text, said->text, FITS_CHECKSUM_LEN) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, x->h->header.off,
                        "CHECKSUM: expected a value that begins in column 12");
    /* The HDU's sum stays what it was: right, or as wrong. */
    cip_fits_sum_add(&old, x->was, n);
    memset(text, '0', FITS_CHECKSUM_LEN);
    cip_fits_sum_add(&new, x->head, n);
    cip_fits_sum_text(cip_fits_fold((uint64_t)cip_fits_fold(old.sum) +
                                    (uint32_t)~cip_fits_fold(new.sum) + cip_fits_fold(gone->sum) +
                                    (uint32_t)~cip_fits_fold(come->sum)),
                      text);
    return CIP_OK;
}

/* --- the header ------------------------------------------------------------------------------- */

static cip_status set_axes(hdu_change *x, cip_err *err)
{
    const fits_hdu *h = x->h;
    const cip_nd *was = &h->array->view;
    const int64_t *shape = cip_chunk_changes_shape(x->c);
    const bool table = h->kind == FITS_BINARY;
    for (int32_t i = 0; i < was->ndim; i++) {
        char key[16], text[24];
        if (shape[i] == was->shape[i])
            continue;
        cip_fits_nth(key, "NAXIS", table ? 2 : (unsigned)(was->ndim - i));
        snprintf(text, sizeof text, "%" PRId64, shape[i]);
        uint8_t *card = cip_fits_find_card(x->head, head_len(h), key);
        if (card == NULL)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, h->header.off, "expected the card %s", key);
        CIP_TRY(cip_fits_set_card(card, text, true, err));
    }
    return CIP_OK;
}

/* Whether no other card of the header gives the keyword of the one at `at` a value. */
static cip_status is_only(const hdu_change *x, size_t at, cip_arena *a, cip_err *err)
{
    fits_card one, other = { .end = false };
    CIP_TRY(cip_fits_card_read(a, x->was + at, &one, err));
    for (size_t i = 0; i < head_len(x->h) && !other.end; i += FITS_CARD) {
        CIP_TRY(cip_fits_card_read(a, x->was + i, &other, err)); /* HIERARCH cards have others' */
        if (i != at && other.key.len == one.key.len &&
            memcmp(other.key.ptr, one.key.ptr, one.key.len) == 0)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, x->h->header.off + at,
                            "expected one card %.*s to change, found several", (int)one.key.len,
                            (const char *)one.key.ptr);
    }
    return CIP_OK;
}

/* A card that is there twice, with the same value, would contradict itself. */
static cip_status check_cards(const hdu_change *x, cip_mem *mem, cip_err *err)
{
    cip_arena a = { .mem = mem };
    cip_status st = CIP_OK;
    for (size_t at = 0; at < head_len(x->h) && st == CIP_OK; at += FITS_CARD)
        if (memcmp(x->was + at, x->head + at, FITS_CARD) != 0)
            st = is_only(x, at, &a, err);
    cip_arena_clear(&a);
    return st;
}

static cip_status make_header(fits_update *u, hdu_change *x, cip_err *err)
{
    const size_t n = head_len(x->h);
    uint8_t *was;
    fits_sum gone = { 0 }, come = { 0 };
    CIP_TRY(cip_arena_get(u->arena, n, (void **)&was, err));
    CIP_TRY(cip_arena_get(u->arena, n, (void **)&x->head, err));
    CIP_TRY(cip_io_read(u->io, x->h->header.off, was, n, err));
    memcpy(x->head, was, n);
    x->was = was;
    CIP_TRY(set_axes(x, err));
    if (cip_fits_has(&x->h->header, "DATASUM") || cip_fits_has(&x->h->header, "CHECKSUM")) {
        CIP_TRY(sum_parts(u, x, &gone, &come, err));
        CIP_TRY(set_datasum(u, x, &gone, &come, err));
        CIP_TRY(set_checksum(x, &gone, &come, err));
    }
    return check_cards(x, &u->env->mem, err);
}

/* --- the revision ----------------------------------------------------------------------------- */

/* Cards, and parts of the data before `end`, where they are. */
static cip_status patch(const hdu_change *x, uint64_t end, cip_revision *r, cip_err *err)
{
    const fits_hdu *h = x->h;
    for (size_t at = 0; at < head_len(h); at += FITS_CARD)
        if (memcmp(x->was + at, x->head + at, FITS_CARD) != 0)
            CIP_TRY(cip_patch_bytes(&r->patch, h->header.off + at, x->head + at, FITS_CARD, err));
    for (size_t i = 0; i < x->npart && x->part[i].at < end; i++) {
        const part *p = &x->part[i];
        CIP_TRY(cip_patch_range(&r->patch, h->data + p->at, p->io, p->off,
                                cip_min_u64(p->len, end - p->at), err));
    }
    return CIP_OK;
}

/* Its data from `from` on, and what fills the last block, as the next pieces of the tail. */
static cip_status add_data(fits_update *u, const hdu_change *x, uint64_t from, cip_revision *r,
                           cip_err *err)
{
    const fits_hdu *h = x->h;
    for (size_t i = 0; i < x->npart; i++) {
        const part *p = &x->part[i];
        const uint64_t skip = cip_min_u64(p->len, cip_bytes_left(from, p->at));
        if (skip == p->len)
            continue;
        CIP_TRY(cip_revision_range(r, u->io, h->data + from, cip_bytes_left(p->at, from), err));
        CIP_TRY(cip_revision_range(r, p->io, p->off + skip, p->len - skip, err));
        from = p->at + p->len;
    }
    if (x->nbytes > from)
        CIP_TRY(cip_revision_range(r, u->io, h->data + from, x->nbytes - from, err));
    from = x->nbytes;
    if (from == h->nbytes) { /* what fills its last block stays, too */
        const uint64_t there = cip_bytes_left(u->io->size, h->data + from);
        const uint64_t n = cip_min_u64(padded(from) - from, there);
        CIP_TRY(cip_revision_range(r, u->io, h->data + from, n, err));
        from += n;
    }
    return cip_revision_fill(r, 0, padded(x->nbytes) - from, err);
}

/* Whether all that changes of the HDU lies within its blocks. */
static bool fits_in_place(const fits_update *u, const hdu_change *x)
{
    return x->nbytes == x->h->nbytes || (padded(x->nbytes) == padded(x->h->nbytes) &&
                                         x->h->data + padded(x->nbytes) <= u->io->size);
}

static cip_status revise_in_place(const hdu_change *x, cip_revision *r, cip_err *err)
{
    static const uint8_t zeros[FITS_BLOCK];
    const fits_hdu *h = x->h;
    CIP_TRY(patch(x, UINT64_MAX, r, err));
    return x->nbytes == h->nbytes ? CIP_OK
                                  : cip_patch_bytes(&r->patch, h->data + x->nbytes, zeros,
                                                    (size_t)(padded(x->nbytes) - x->nbytes), err);
}

/* From change `first` on, whose blocks become more or fewer, all is written again. */
static cip_status revise_tail(fits_update *u, size_t first, cip_revision *r, cip_err *err)
{
    const hdu_change *x = &u->change[first];
    const uint64_t keep = cip_min_u64(x->nbytes, x->h->nbytes), size = u->io->size;
    CIP_TRY(patch(x, keep, r, err));
    r->has_tail = true;
    r->tail_off = x->h->data + keep;
    CIP_TRY(add_data(u, x, keep, r, err));
    for (size_t i = first;; i++) {
        const uint64_t from =
            cip_min_u64(size, u->change[i].h->data + padded(u->change[i].h->nbytes));
        if (i + 1 == u->n)
            return cip_revision_range(r, u->io, from, size - from, err);
        x = &u->change[i + 1];
        CIP_TRY(cip_revision_range(r, u->io, from, x->h->header.off - from, err));
        CIP_TRY(cip_revision_bytes(r, x->head, head_len(x->h), err));
        CIP_TRY(add_data(u, x, 0, r, err));
    }
}

static int by_place(const void *a, const void *b)
{
    const hdu_change *x = a, *y = b;
    return (x->h->number > y->h->number) - (x->h->number < y->h->number);
}

cip_status cip_fits_update_finish(fits_update *u, cip_revision *r, cip_err *err)
{
    r->patch.old_len = r->patch.new_len = u->io->size;
    if (u->n > 1)
        qsort(u->change, u->n, sizeof *u->change, by_place);
    for (size_t i = 0; i < u->n; i++) {
        CIP_TRY(find_parts(u, &u->change[i], err));
        CIP_TRY(make_header(u, &u->change[i], err));
    }
    for (size_t i = 0; i < u->n; i++) {
        if (!fits_in_place(u, &u->change[i]))
            return revise_tail(u, i, r, err);
        CIP_TRY(revise_in_place(&u->change[i], r, err));
    }
    return CIP_OK;
}
