/* SPDX-License-Identifier: BSD-3-Clause
 * A file that is one chunk of Blosc1 or Blosc2 and nothing else. There is no magic: a file is one
 * when its header makes sense and says the file's own length. */
#include "base/num.h"
#include "format/blosc2/blosc2.h"
#include "space/read/window.h"

/* The head of a chunk that fills the file; not checked: whether we can decode it. */
static cip_status read_head(cip_bytes head, uint64_t size, cip_blosc_head *out, cip_err *err)
{
    CIP_TRY(cip_blosc_head_parse(head, out, err));
    if (out->cbytes > size)
        return cip_fail(err, CIP_ERR_TRUNCATED, size,
                        "expected a chunk of %" PRIu32 " bytes, found %" PRIu64, out->cbytes, size);
    if (out->cbytes < size)
        return cip_fail(err, CIP_ERR_CORRUPT, out->cbytes,
                        "expected the end of the chunk, found %" PRIu64 " more bytes",
                        size - out->cbytes);
    return CIP_OK;
}

bool cip_b2_is_chunk(cip_io *io, cip_bytes head)
{
    cip_blosc_head h;
    return head.len >= CIP_BLOSC_MIN_HEADER && head.ptr[1] == 1 &&
           read_head(head, io->size, &h, NULL) == CIP_OK;
}

cip_status cip_b2_chunk_open(cip_layout *l, cip_err *err)
{
    uint8_t bytes[CIP_BLOSC_HEADER];
    size_t n;
    cip_blosc_head h;
    cip_array *a;
    CIP_TRY(cip_space_read_some(l, l->file, 0, bytes, sizeof bytes, &n, err));
    cip_status st = read_head((cip_bytes){ bytes, n }, l->io->size, &h, err);
    CIP_TRY(cip_fail_in(err, st, "header"));
    const int64_t shape[1] = { h.nbytes };
    const char *codec = cip_blosc_codec_name(h.compcode);
    CIP_TRY(cip_layout_add_array(l, true, &a, err));
    CIP_TRY(cip_view_c_order(1, shape, 1, &a->view, err));
    const cip_step step = { .codec = &cip_codec_blosc };
    const cip_chunk chunk = { .at = { l->file, 0, h.cbytes }, .raw_len = h.nbytes };
    cip_table table;
    CIP_TRY(cip_table_from_array(l, &chunk, h.nbytes == 0 ? 0 : 1, &table, err));
    CIP_TRY(cip_space_new_chunked(l, &table, h.nbytes, &step, 1, &a->space, err));
    a->space->label = "data";
    a->space->codec_env.typesize = h.typesize;
    a->layout = l;
    a->path = "";
    a->dtype = cip_dtype_fixed(CIP_U8, false);
    a->storage = (cip_storage){ .kind = CIP_STORAGE_OWN,
                                .own = "chunk",
                                .codec = h.memcpyed      ? "none"
                                         : codec != NULL ? codec
                                                         : "unknown",
                                .nbytes = h.cbytes,
                                .block = -1 };
    char *version;
    CIP_TRY(cip_arena_printf(&l->arena, &version, err, "%s", h.extended ? "2" : "1"));
    l->version = version;
    CIP_TRY(cip_layout_add_fact(l, "kind", err, "chunk of version %u", h.version));
    CIP_TRY(cip_layout_add_fact(l, "typesize", err, "%" PRIu32, h.typesize));
    CIP_TRY(cip_layout_add_fact(l, "blocks", err, "%" PRIu32 " of %" PRIu32 " bytes", h.nblock,
                                h.blocksize));
    return cip_b2_filter_fact(l, h.filter, h.filter_meta, err);
}
