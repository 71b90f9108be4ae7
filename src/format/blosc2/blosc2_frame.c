/* SPDX-License-Identifier: BSD-3-Clause
 * A frame as spaces: header, trailer and index are read and compared; the chunks become one space
 * of linear or n-d chunks. The frame may lie anywhere in any space. */
#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/blosc2/blosc2.h"

enum {
    TAIL = 23,
    EDGE = 512 /* read at once of both ends of a frame: few have longer headers or trailers */
};

static cip_read_how how_of(const cip_b2_frame *f)
{
    return (cip_read_how){ f->layout, NULL };
}

/* Bytes of the frame that are at hand, and where they lie in it. */
typedef struct edge {
    cip_bytes bytes;
    uint64_t at;
} edge;

/* n bytes of the frame, in the arena. */
static cip_status take_part(const cip_b2_frame *f, edge have, uint64_t at, uint64_t n,
                            uint8_t **out, cip_err *err)
{
    const cip_read_how how = how_of(f);
    size_t size;
    if (n > f->layout->env->limits.max_tree_bytes || !cip_to_size(n, &size))
        return cip_fail(err, CIP_ERR_LIMIT, f->base + at, "%" PRIu64 " bytes of metadata", n);
    CIP_TRY(cip_arena_get(&f->layout->arena, size, (void **)out, err));
    const uint64_t skip = at - have.at;
    if (at < have.at || skip > have.bytes.len || n > have.bytes.len - skip)
        return cip_space_read_at(&how, f->in, f->base + at, *out, size, err);
    memcpy(*out, have.bytes.ptr + skip, size);
    return CIP_OK;
}

/* `lost`: whatever the frame's length is said to be, it has `len` bytes. */
static cip_status read_header(cip_b2_frame *f, uint64_t len, bool lost, cip_err *err)
{
    const cip_read_how how = how_of(f);
    uint8_t first[EDGE], *bytes;
    size_t n = (size_t)cip_min_u64(len, sizeof first);
    size_t fixed = (size_t)cip_min_u64(n, CIP_B2_HEADER_MIN);
    CIP_TRY(cip_space_read_at(&how, f->in, f->base, first, n, err));
    if (lost && fixed == CIP_B2_HEADER_MIN)
        cip_store_u64(first + CIP_B2_FRAME_LEN, INT64_MAX, true);
    CIP_TRY(cip_b2_header_read((cip_bytes){ first, fixed }, lost ? INT64_MAX : len, &f->h, err));
    if (f->h.header_len > len)
        return cip_fail(err, CIP_ERR_TRUNCATED, f->base + len,
                        "expected a header of %" PRIu64 " bytes, found %" PRIu64, f->h.header_len,
                        len);
    CIP_TRY(take_part(f, (edge){ { first, n }, 0 }, 0, f->h.header_len, &bytes, err));
    f->header = (cip_bytes){ bytes, (size_t)f->h.header_len };
    return cip_b2_header_metas(f->header, &f->layout->arena, &f->meta, err);
}

/* Damaged vlmetalayers do not keep the data from being read. */
static cip_status read_trailer(cip_b2_frame *f, cip_err *err)
{
    const cip_read_how how = how_of(f);
    uint8_t last[EDGE];
    uint64_t len, end = f->h.frame_len;
    size_t n = (size_t)cip_min_u64(end, sizeof last);
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(cip_space_read_at(&how, f->in, f->base + end - n, last, n, err));
    CIP_TRY(cip_b2_trailer_len((cip_bytes){ last + n - TAIL, TAIL }, &f->h, &len, err));
    CIP_TRY(take_part(f, (edge){ { last, n }, end - n }, end - len, len, &f->trailer_bytes, err));
    cip_status st = cip_b2_trailer_read((cip_bytes){ f->trailer_bytes, (size_t)len },
                                        &f->layout->arena, &f->trailer, &f->vlmeta, &why);
    if (st == CIP_ERR_NOMEM || st == CIP_ERR_LIMIT)
        return cip_fail(err, st, why.offset, "%s", why.text);
    f->vlmeta_read = st == CIP_OK;
    if (st != CIP_OK)
        cip_warn_lack(f->layout->env, CIP_LACKS_NODE, NULL, st, f->base + end - len, "trailer",
                      "%s; the vlmetalayers are left out", why.text);
    return CIP_OK;
}

/* Eight digits. */
void cip_b2_member_name(void *user, uint64_t number, cip_io **of, char out[CIP_IO_NUMBER_NAME])
{
    (void)user, (void)of;
    snprintf(out, CIP_IO_NUMBER_NAME, "%08" PRIX64 ".chunk", number);
}

static cip_status open_numbered(cip_b2_frame *f, cip_err *err)
{
    cip_layout *l = f->layout;
    uint32_t flags = (l->flags & CIP_OPEN_EXTERNAL) != 0 ? CIP_IO_EXTERNAL : 0;
    CIP_TRY(cip_io_open_numbered(l->io, flags, cip_b2_member_name, NULL, &f->numbered, err));
    return cip_space_new_file(l, f->numbered, &f->index.numbered, err);
}

static cip_status make_data(cip_b2_frame *f, cip_err *err)
{
    const cip_step step = { .codec = &cip_codec_blosc };
    const cip_table table = cip_b2_index_table(&f->index);
    f->nd_meta = cip_b2_meta_nd(&f->meta);
    if (f->nd_meta == NULL) {
        CIP_TRY(cip_space_new_chunked(f->layout, &table, f->h.nbytes, &step, 1, &f->data, err));
        f->data->codec_env.typesize = f->h.typesize;
        return CIP_OK;
    }
    cip_status st = cip_b2_nd_read(f->nd_meta->value, &f->nd, err);
    if (st == CIP_OK)
        st = cip_b2_nd_check(&f->nd, &f->h, f->index.n, err);
    CIP_TRY(cip_fail_in(err, st, "b2nd"));
    const cip_grid grid = { .itemsize = f->nd.item,
                            .ndim = f->nd.ndim,
                            .blocked = true,
                            .shape = f->nd.shape,
                            .chunk = f->nd.chunk,
                            .stored = f->nd.stored,
                            .block = f->nd.block };
    CIP_TRY(cip_space_new_grid(f->layout, &grid, &table, &step, 1, &f->data, err));
    f->data->codec_env.typesize = f->h.typesize;
    return CIP_OK;
}

static cip_status read_frame(cip_b2_frame *f, uint64_t len, cip_err *err)
{
    CIP_TRY(cip_fail_in(err, read_header(f, len, false, err), "header"));
    CIP_TRY(cip_fail_in(err, read_trailer(f, err), "trailer"));
    if (f->h.sparse)
        CIP_TRY(open_numbered(f, err));
    return cip_b2_index_open(&f->index, f->h.frame_len - f->trailer.len, err);
}

/* The same of a frame that is damaged. */
static cip_status salvage_frame(cip_b2_frame *f, uint64_t len, cip_err *err)
{
    CIP_TRY(cip_fail_in(err, read_header(f, len, true, err), "header"));
    if (f->h.sparse)
        CIP_TRY(open_numbered(f, err));
    return cip_fail_in(err, cip_b2_salvage(f, len, err), "index");
}

static cip_status try_open(cip_layout *l, const cip_extent *at, bool salvage, cip_b2_frame **out,
                           cip_err *err)
{
    cip_b2_frame *f = NULL;
    *out = NULL;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &f, 1, err));
    f->layout = l;
    f->in = at->in;
    f->base = at->off;
    cip_b2_index_init(&f->index, l, at->in, at->off, &f->h);
    cip_status st = (salvage ? salvage_frame : read_frame)(f, at->len, err);
    if (st == CIP_OK)
        st = make_data(f, err);
    if (st == CIP_OK)
        *out = f;
    else
        cip_b2_frame_clear(f);
    return st;
}

cip_status cip_b2_frame_open(cip_layout *l, cip_space *in, uint64_t off, uint64_t len,
                             cip_b2_frame **out, cip_err *err)
{
    const cip_extent at = { in, off, len };
    cip_err why = CIP_ERR_INIT;
    const cip_status st = try_open(l, &at, false, out, &why);
    if (cip_is_about_content(st) && (l->flags & CIP_OPEN_SALVAGE) != 0)
        return try_open(l, &at, true, out, err);
    return cip_err_give(err, &why, st);
}

cip_status cip_b2_frame_linear(const cip_b2_frame *f, cip_space **out, cip_err *err)
{
    const cip_step step = { .codec = &cip_codec_blosc };
    const cip_table table = cip_b2_index_table((cip_b2_index *)&f->index);
    CIP_TRY(cip_space_new_chunked(f->layout, &table, f->h.nbytes, &step, 1, out, err));
    (*out)->codec_env = f->data->codec_env;
    return CIP_OK;
}

void cip_b2_frame_clear(cip_b2_frame *f)
{
    if (f == NULL)
        return;
    cip_b2_index_clear(&f->index);
    cip_io_close(f->numbered);
}
