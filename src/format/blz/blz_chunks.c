/* SPDX-License-Identifier: BSD-3-Clause
 * The chunks of an array as a table: one a file, or in superchunks of a known number. How many
 * there are follows from shape and chunklen, and what is stored beyond them is nobody's.
 * A chunk may be shorter than its rows need: a program that was cut off wrote no more. The rows
 * that it has are read; the rest of it is an entry of its own behind all others, which is missing.
 */
#include "base/num.h"
#include "format/blz/blz.h"

const char cip_blz_ended[] = "the data end before the number of rows in meta/sizes";

cip_status cip_blz_chunk_head(const cip_blz_column *c, uint64_t i, cip_blosc_head *head,
                              cip_extent *at, cip_err *err)
{
    enum {
        SHORT = CIP_BLZ_HEADER_1 + CIP_BLOSC_MIN_HEADER,
        LONG = CIP_BLZ_HEADER_1 + CIP_BLOSC_HEADER
    };
    const cip_blz *b = c->blz;
    const cip_read_how how = { b->layout, NULL };
    uint8_t bytes[LONG];
    uint64_t member = c->member + i, off = member << CIP_IO_NUMBER_SHIFT, len = 0;
    CIP_TRY(cip_io_numbered_size(b->numbered, member, &len, err));
    size_t n = (size_t)cip_min_u64(sizeof bytes, len);
    CIP_TRY(cip_space_read_at(&how, b->files, off, bytes, n, err));
    CIP_TRY(cip_blz_header_1((cip_bytes){ bytes, n }, err));
    CIP_TRY(cip_blosc_head_parse((cip_bytes){ bytes + CIP_BLZ_HEADER_1, n - CIP_BLZ_HEADER_1 },
                                 head, err));
    if (head->cbytes > len - CIP_BLZ_HEADER_1)
        return cip_fail(err, CIP_ERR_TRUNCATED, CIP_NO_OFFSET,
                        "expected a chunk of %" PRIu32 " bytes, found %" PRIu64, head->cbytes,
                        len - CIP_BLZ_HEADER_1);
    *at = (cip_extent){ b->files, off + CIP_BLZ_HEADER_1, head->cbytes };
    if (c->meta.objects ||
        (head->nbytes <= c->each && head->nbytes != 0 && head->nbytes % c->meta.row == 0))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected a chunk of up to %" PRId64 " rows of %" PRIu64
                    " bytes, found one of %" PRIu32 " bytes",
                    c->meta.chunklen, c->meta.row, head->nbytes);
}

/* The shape counts; but that it is not what the data say is told when they are opened: the last
 * chunk, and whether there is another one. Left over files are no fault of the array. */
cip_status cip_blz_compare_rows(const cip_blz_column *c, cip_err *err)
{
    cip_layout *l = c->blz->layout;
    uint64_t rows = (uint64_t)c->meta.shape[0], len = (uint64_t)c->meta.chunklen, there;
    cip_blosc_head head;
    cip_extent at;
    cip_io *io;
    char *path;
    if (c->meta.objects || c->meta.row == 0)
        return CIP_OK;
    CIP_TRY(cip_arena_printf(&l->arena, &path, err, "%sdata/__%" PRIu64 ".blp", c->dir, c->nchunk));
    if (cip_io_open_beneath(l->io, path, cip_blz_flags(l), &io, NULL) == CIP_OK) {
        cip_io_close(io);
        cip_warn_lack(
            l->env, CIP_LACKS_ARRAY, c->array, CIP_OK, CIP_NO_OFFSET, c->array->path,
            "meta/sizes says %" PRIu64
            " rows, but there is '%.200s': left over, or written by a program that was interrupted",
            rows, path);
    }
    if (c->nchunk == 0 || cip_blz_chunk_head(c, c->nchunk - 1, &head, &at, NULL) != CIP_OK)
        return CIP_OK;
    there = (c->nchunk - 1) * len + head.nbytes / c->meta.row;
    if (there > rows)
        cip_warn_lack(
            l->env, CIP_LACKS_ARRAY, c->array, CIP_ERR_CORRUPT, CIP_NO_OFFSET, c->array->path,
            "meta/sizes says %" PRIu64 " rows, the last chunk ends with row %" PRIu64, rows, there);
    else if (there < rows)
        cip_warn(l->env, CIP_ERR_CORRUPT, CIP_NO_OFFSET, c->array->path,
                 "meta/sizes says %" PRIu64 " rows, the last chunk ends with row %" PRIu64, rows,
                 there);
    return CIP_OK;
}

/* --- the table -------------------------------------------------------------------------------- */

static cip_status table_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const cip_blz_column *)self)->nchunk;
    return CIP_OK;
}

cip_status cip_blz_file_chunk(cip_blz_column *c, uint64_t i, cip_chunk *out, cip_err *err)
{
    cip_blosc_head head;
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_blz_chunk_head(c, i, &head, &out->at, &why);
    if (st == CIP_OK) {
        out->raw_len = head.nbytes;
    } else if (st == CIP_ERR_NOT_FOUND) {
        out->at = (cip_extent){ c->blz->files, (c->member + i) << CIP_IO_NUMBER_SHIFT, 0 };
        out->state = CIP_CHUNK_MISSING;
        out->why = st;
        out->raw_len = c->each;
        out->run = cip_blz_missing_run(c, i);
    } else if (err != NULL) {
        cip_err_pass(err, &why);
    }
    return st == CIP_ERR_NOT_FOUND ? CIP_OK : st;
}

static cip_status fill(cip_blz_column *c, uint64_t i, cip_chunk *out, cip_err *err)
{
    bool rest = i >= c->nchunk;
    uint64_t k = rest ? i - c->nchunk : i;
    if (k >= c->nchunk)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "chunk %" PRIu64 " of %" PRIu64, i,
                        c->nchunk);
    CIP_TRY((c->document ? cip_blz_super_chunk : cip_blz_file_chunk)(c, k, out, err));
    out->raw_off = k * c->each;
    if (rest)
        *out = (cip_chunk){ .raw_off = out->raw_off + out->raw_len,
                            .raw_len = c->each - out->raw_len,
                            .state = CIP_CHUNK_MISSING,
                            .why = CIP_ERR_NOT_FOUND,
                            .lack = cip_blz_ended };
    return CIP_OK;
}

static cip_status table_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const cip_blz_column *c = self;
    cip_status st = CIP_OK;
    for (size_t k = 0; k < n && st == CIP_OK; k++)
        st = fill(self, i + k, &out[k], err);
    return c->document ? cip_fail_in(err, st, "%s", c->dir) : st;
}

/* The head is not read, which `at` does next, but for a row other than the first of a file: that
 * is there if the file is. */
static cip_status table_find(void *self, uint64_t raw_off, uint64_t *i, cip_err *err)
{
    cip_blz_column *c = self;
    cip_chunk chunk = { .run = 0 };
    *i = raw_off / c->each;
    const uint64_t within = raw_off % c->each;
    if (within < c->meta.row)
        return CIP_OK;
    CIP_TRY(c->document ? cip_blz_super_chunk_len(c, *i, &chunk.raw_len, err)
                        : fill(c, *i, &chunk, err));
    if (within >= chunk.raw_len)
        *i += c->nchunk;
    return CIP_OK;
}

/* Nothing is read ahead: files are on a disk. */
void cip_blz_place(void *self, uint64_t i, cip_extent *at)
{
    (void)self, (void)i, (void)at;
}

cip_status cip_blz_new_space(cip_layout *l, const cip_table *t, uint64_t each, uint64_t nbytes,
                             cip_space **out, cip_err *err)
{
    const cip_step step = { .codec = &cip_codec_blosc };
    cip_table table = *t;
    table.place = cip_blz_place;
    table.raw_each = cip_max_u64(1, cip_min_u64(each, nbytes));
    return cip_space_new_chunked(l, &table, nbytes, &step, 1, out, err);
}

cip_status cip_blz_column_open(cip_blz_column *c, cip_err *err)
{
    const cip_blz_meta *m = &c->meta;
    uint64_t nbytes = m->row * (uint64_t)m->shape[0]; /* checked when they were read */
    c->each = m->row * (uint64_t)m->chunklen;
    c->nchunk = m->objects    ? (uint64_t)m->shape[0]
                : nbytes == 0 ? 0
                              : cip_div_up((uint64_t)m->shape[0], (uint64_t)m->chunklen);
    if (!c->document) {
        cip_blz_files files = { .number = 0 };
        char *dir;
        CIP_TRY(cip_arena_printf(&c->blz->layout->arena, &dir, err, "%sdata/", c->dir));
        files.dir = dir;
        CIP_TRY(cip_blz_add_files(c->blz, &files, c->nchunk, &c->member, err));
    }
    if (nbytes == 0 || m->objects)
        return cip_space_new_mem(c->blz->layout, (cip_bytes){ NULL, 0 }, &c->space, err);
    /* Of superchunks of any number of chunks nobody knows where the last chunk ends: below 2^31
     * bytes behind the last row. */
    const cip_step step = { .codec = &cip_codec_blosc };
    const cip_table full = { .at = table_at,
                             .find = table_find,
                             .count = table_count,
                             .place = cip_blz_place,
                             .raw_each = c->each,
                             .self = c };
    const cip_table table = c->document && c->per == 0 ? cip_blz_super_table(c) : full;
    cip_layout *l = c->blz->layout;
    uint64_t room = nbytes + ((uint64_t)1 << 31);
    if (table.at == full.at && cip_mul_overflow(c->nchunk, c->each, &room))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "the array has over 2^64 bytes");
    CIP_TRY(cip_space_new_chunked(l, &table, room, &step, 1, &c->data, err));
    return cip_space_new_sub(l, c->data, 0, nbytes, &c->space, err);
}
