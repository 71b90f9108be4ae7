/* SPDX-License-Identifier: BSD-3-Clause
 * Superchunks: each is opened when something of it is read, as a bloscpack file whose layout is a
 * child of the folder's; its own table says where its chunks lie. Where meta/storage says how many
 * chunks a superchunk holds, its number tells which; otherwise those before it have to be asked. */
#include "base/num.h"
#include "format/blz/blz.h"

static const char missing[] = "the file of its superchunk is in no known folder";
static const char unknown_rows[] =
    "the file of a superchunk is missing, so the rows of the later ones are unknown";

/* --- opening ---------------------------------------------------------------------------------- */

static cip_status new_child(cip_blz *b, uint64_t member, cip_layout **out, cip_err *err)
{
    uint64_t size = 0, off = member << CIP_IO_NUMBER_SHIFT;
    char text[CIP_IO_NUMBER_NAME];
    const char *name = "";
    cip_io *io;
    CIP_TRY(cip_io_numbered_size(b->numbered, member, &size, err));
    cip_io_numbered_name(b->numbered, &off, text);
    CIP_TRY(cip_blz_keep_text(b->layout, text, &name, err));
    if (size >> CIP_IO_NUMBER_SHIFT != 0)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected a superchunk below 2^32 bytes, found %" PRIu64, size);
    CIP_TRY(cip_io_open_part(b->numbered, member << CIP_IO_NUMBER_SHIFT, size, &io, err));
    io->base = 0; /* offsets in errors are the file's own */
    cip_status st = cip_layout_new_child(b->layout, io, out, err);
    if (st != CIP_OK) {
        cip_io_close(io);
        return st;
    }
    (*out)->owns_io = true;
    (*out)->uri = name;
    (*out)->format = cip_format_blz.name;
    return CIP_OK;
}

cip_status cip_blz_super_open(cip_blz_column *c, size_t j, cip_bp_file **out, cip_err *err)
{
    cip_layout *child;
    cip_status st = CIP_OK;
    pthread_mutex_lock(&c->lock);
    cip_blz_super *s = &c->super[j];
    if (s->file == NULL)
        st = new_child(c->blz, s->member, &child, err);
    if (s->file == NULL && st == CIP_OK)
        st = cip_bp_superchunk_open(child, child->uri, &s->file, err);
    *out = s->file;
    pthread_mutex_unlock(&c->lock);
    return st;
}

/* The first that has this number or a higher one. */
static size_t super_from(const cip_blz_column *c, uint64_t number)
{
    size_t lo = 0, hi = c->nsuper;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->super[mid].number < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

size_t cip_blz_super_find(const cip_blz_column *c, uint64_t number)
{
    const size_t j = super_from(c, number);
    return j < c->nsuper && c->super[j].number == number ? j : SIZE_MAX;
}

/* Its chunk k, with positions as in the superchunk. */
static cip_status inner_chunk(cip_bp_file *f, uint64_t k, cip_chunk *out, cip_err *err)
{
    cip_space *s;
    CIP_TRY(cip_space_resolve(f->data, &s, err));
    return s->table.at(s->table.self, k, 1, out, err);
}

static cip_status count_inner(cip_bp_file *f, uint64_t *nchunk, uint64_t *nbytes, cip_err *err)
{
    bool sized;
    cip_space *s;
    CIP_TRY(cip_bp_sized(&f->h, &sized, nbytes, err));
    if (sized) {
        *nchunk = *nbytes == 0 ? 0 : cip_div_up(*nbytes, (uint64_t)f->h.chunk_size);
        return CIP_OK;
    }
    CIP_TRY(cip_space_resolve(f->data, &s, err));
    *nchunk = f->chunks.n;
    *nbytes = f->chunks.raw_len;
    return CIP_OK;
}

/* Whole rows. */
static cip_status check_rows(const cip_blz_column *c, uint64_t raw_off, uint64_t raw_len,
                             cip_err *err)
{
    if (raw_off % c->meta.row == 0 && raw_len % c->meta.row == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected a chunk of whole rows of %" PRIu64 " bytes, found one of %" PRIu64,
                    c->meta.row, raw_len);
}

/* --- superchunks of a known number of chunks -------------------------------------------------- */

static cip_status lost(cip_chunk *out, uint64_t each, uint64_t run, const char *why)
{
    *out = (cip_chunk){ .raw_len = each,
                        .run = run,
                        .state = CIP_CHUNK_MISSING,
                        .why = CIP_ERR_NOT_FOUND,
                        .lack = why };
    return CIP_OK;
}

/* The superchunk of chunk i; NULL: it is lost, as *out says. */
static cip_status find_super(cip_blz_column *c, uint64_t i, cip_bp_file **f, cip_chunk *out,
                             cip_err *err)
{
    const uint64_t k = i % c->per, run = cip_min_u64(c->per - k, c->nchunk - i);
    const uint64_t number = i / c->per + 1;
    const size_t j = super_from(c, number);
    uint64_t nchunk, nbytes, next;
    *f = NULL;
    if (j == c->nsuper || c->super[j].number != number) {
        /* Chunks from i on, up to the next superchunk that is there. */
        if (j == c->nsuper || cip_mul_overflow(c->super[j].number - 1, c->per, &next))
            next = c->nchunk;
        return lost(out, c->each, cip_min_u64(next, c->nchunk) - i, missing);
    }
    CIP_TRY(cip_blz_super_open(c, j, f, err));
    CIP_TRY(count_inner(*f, &nchunk, &nbytes, err));
    if (k < nchunk)
        return CIP_OK;
    *f = NULL;
    return lost(out, c->each, run, cip_blz_ended);
}

cip_status cip_blz_super_chunk_len(cip_blz_column *c, uint64_t i, uint64_t *len, cip_err *err)
{
    cip_bp_file *f;
    cip_space *s;
    cip_chunk chunk;
    uint64_t off;
    CIP_TRY(find_super(c, i, &f, &chunk, err));
    *len = c->each;
    if (f == NULL)
        return CIP_OK;
    CIP_TRY(cip_space_resolve(f->data, &s, err));
    cip_bp_raw(f, i % c->per, &off, len);
    return CIP_OK;
}

cip_status cip_blz_super_chunk(cip_blz_column *c, uint64_t i, cip_chunk *out, cip_err *err)
{
    const uint64_t k = i % c->per;
    cip_bp_file *f;
    CIP_TRY(find_super(c, i, &f, out, err));
    if (f == NULL)
        return CIP_OK;
    CIP_TRY(inner_chunk(f, k, out, err));
    CIP_TRY(check_rows(c, out->raw_off, out->raw_len, err));
    if (out->raw_off != k * c->each || out->raw_len > c->each)
        return cip_fail(err, CIP_ERR_CORRUPT, out->at.off,
                        "expected chunks of %" PRId64 " rows, found a different size",
                        c->meta.chunklen);
    return CIP_OK;
}

/* --- superchunks of any number ---------------------------------------------------------------- */

/* Where the next superchunk begins follows from the one before it. *more is false when no file has
 * the next number. Another thread may be at the same one. */
static cip_status learn_next(cip_blz_column *c, bool *more, cip_err *err)
{
    cip_bp_file *f;
    uint64_t nchunk, nbytes;
    pthread_mutex_lock(&c->lock);
    size_t j = c->known;
    pthread_mutex_unlock(&c->lock);
    *more = j < c->nsuper && c->super[j].number == j + 1;
    if (!*more)
        return CIP_OK;
    CIP_TRY(cip_blz_super_open(c, j, &f, err));
    CIP_TRY(count_inner(f, &nchunk, &nbytes, err));
    pthread_mutex_lock(&c->lock);
    if (c->known == j) {
        cip_blz_super *s = &c->super[j], *before = j == 0 ? NULL : s - 1;
        s->nchunk = nchunk;
        s->nbytes = nbytes;
        s->chunk = before == NULL ? 0 : before->chunk + before->nchunk;
        s->raw = before == NULL ? 0 : before->raw + before->nbytes;
        c->known++;
    }
    pthread_mutex_unlock(&c->lock);
    return CIP_OK;
}

/* Chunks and bytes before the end of what is known, and how many superchunks that are. */
static size_t known_end(cip_blz_column *c, uint64_t *chunk, uint64_t *raw)
{
    pthread_mutex_lock(&c->lock);
    const cip_blz_super *last = c->known == 0 ? NULL : &c->super[c->known - 1];
    *chunk = last == NULL ? 0 : last->chunk + last->nchunk;
    *raw = last == NULL ? 0 : last->raw + last->nbytes;
    size_t n = c->known;
    pthread_mutex_unlock(&c->lock);
    return n;
}

/* Until byte `raw` or chunk `chunk` lies in what is known, or no more is to be known. */
static cip_status learn(cip_blz_column *c, uint64_t raw, uint64_t chunk, cip_err *err)
{
    for (bool more = true; more;) {
        uint64_t end_chunk, end_raw;
        known_end(c, &end_chunk, &end_raw);
        if (end_raw > raw || end_chunk > chunk)
            return CIP_OK;
        CIP_TRY(learn_next(c, &more, err));
    }
    return CIP_OK;
}

/* The known one with that byte (or chunk); SIZE_MAX: none. A copy, since others may be learned. */
static size_t known_at(cip_blz_column *c, uint64_t v, bool chunk, cip_blz_super *out)
{
    pthread_mutex_lock(&c->lock);
    size_t lo = 0, hi = c->known, found = SIZE_MAX;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const cip_blz_super *s = &c->super[mid];
        uint64_t first = chunk ? s->chunk : s->raw, n = chunk ? s->nchunk : s->nbytes;
        if (v >= first && v - first < n) {
            found = mid;
            *out = *s;
            break;
        }
        if (v < first)
            hi = mid;
        else
            lo = mid + 1;
    }
    pthread_mutex_unlock(&c->lock);
    return found;
}

static cip_status table_find(void *self, uint64_t raw_off, uint64_t *i, cip_err *err)
{
    cip_blz_column *c = self;
    cip_blz_super s;
    cip_space *in;
    uint64_t raw;
    CIP_TRY(learn(c, raw_off, UINT64_MAX, err));
    if (known_at(c, raw_off, false, &s) == SIZE_MAX) {
        known_end(c, i, &raw); /* what is missing is one chunk behind them */
        return CIP_OK;
    }
    CIP_TRY(cip_space_resolve(s.file->data, &in, err));
    if (in->table.find == NULL)
        *i = (raw_off - s.raw) / in->table.raw_each;
    else
        CIP_TRY(in->table.find(in->table.self, raw_off - s.raw, i, err));
    *i += s.chunk;
    return CIP_OK;
}

/* All rows behind those that are known, where the array has more. */
static cip_status the_rest(cip_blz_column *c, uint64_t i, cip_chunk *out, cip_err *err)
{
    uint64_t nbytes = c->meta.row * (uint64_t)c->meta.shape[0], chunk, raw;
    size_t known = known_end(c, &chunk, &raw);
    if (i != chunk || raw >= nbytes)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a chunk below %" PRIu64 ", found %" PRIu64, chunk, i);
    CIP_TRY(lost(out, nbytes - raw, 1, known < c->nsuper ? unknown_rows : cip_blz_ended));
    out->raw_off = raw;
    return CIP_OK;
}

static cip_status table_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    cip_blz_column *c = self;
    for (size_t k = 0; k < n; k++) {
        cip_blz_super s;
        CIP_TRY(learn(c, UINT64_MAX, i + k, err));
        if (known_at(c, i + k, true, &s) == SIZE_MAX) {
            CIP_TRY(the_rest(c, i + k, &out[k], err));
            continue;
        }
        CIP_TRY(inner_chunk(s.file, i + k - s.chunk, &out[k], err));
        CIP_TRY(check_rows(c, out[k].raw_off, out[k].raw_len, err));
        out[k].raw_off += s.raw;
    }
    return CIP_OK;
}

/* Those that hold rows of the array, and one for all that are missing. */
static cip_status table_count(void *self, uint64_t *n, cip_err *err)
{
    cip_blz_column *c = self;
    uint64_t nbytes = c->meta.row * (uint64_t)c->meta.shape[0], raw;
    CIP_TRY(learn(c, nbytes - 1, UINT64_MAX, err));
    known_end(c, n, &raw);
    if (raw < nbytes) {
        ++*n;
        return CIP_OK;
    }
    CIP_TRY(table_find(c, nbytes - 1, n, err));
    ++*n;
    return CIP_OK;
}

cip_table cip_blz_super_table(cip_blz_column *c)
{
    return (cip_table){
        .at = table_at, .find = table_find, .count = table_count, .place = cip_blz_place, .self = c
    };
}
