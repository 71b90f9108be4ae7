/* SPDX-License-Identifier: BSD-3-Clause
 * RawArray files: one array behind a short header. */
#include "format/rawarray/rawarray.h"

#include <string.h>

#include "base/num.h"
#include "tree/yaml.h"
#include "space/read/window.h"

static int probe(cip_io *io, cip_bytes head)
{
    cip_ra_header h;
    if (!cip_ra_magic(head))
        return 0;
    return cip_ra_header_read(head, io->size, true, &h, NULL) == CIP_OK ? 100 : 90;
}

static cip_status add_block(cip_layout *l, const cip_ra_header *h, cip_space *stored,
                            cip_space *data, cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &l->block, 1, err));
    l->nblock = 1;
    l->block[0] = (cip_block){
        .info = { .offset = h->data_off,
                  .data_offset = h->data_off,
                  .allocated_nbytes = h->size,
                  .stored_nbytes = h->size,
                  .decoded_nbytes = h->raw_len,
                  .flags = h->flags,
                  .codec = stored == data ? "none" : "lz4",
                  .checksum = "" },
        .stored = stored,
        .data = data,
    };
    return CIP_OK;
}

static cip_status make_spaces(cip_layout *l, const cip_ra_header *h, cip_space **data, cip_err *err)
{
    cip_space *stored;
    CIP_TRY(cip_space_new_sub(l, l->file, h->data_off, h->size, &stored, err));
    stored->label = "data";
    *data = stored;
    if (h->flags & CIP_RA_FLAG_LZ4) {
        /* The data as one LZ4 chunk; a block of nothing needs no decoding. */
        const cip_step lz4 = { .codec = cip_codec_find("lz4") };
        cip_chunk chunk = { .at = { l->file, h->data_off, h->size }, .raw_len = h->raw_len };
        cip_table table;
        CIP_TRY(cip_table_from_array(l, &chunk, h->raw_len == 0 ? 0 : 1, &table, err));
        CIP_TRY(cip_space_new_chunked(l, &table, h->raw_len, &lz4, 1, data, err));
        (*data)->label = "data";
    }
    return add_block(l, h, stored, *data, err);
}

static cip_status add_array(cip_layout *l, const cip_ra_header *h, cip_space *data, cip_err *err)
{
    cip_array *a;
    const char *nested;
    int64_t shape[CIP_MAX_NDIM];
    CIP_TRY(cip_layout_add_array(l, true, &a, err));
    cip_ra_shape(h, shape);
    CIP_TRY(cip_view_c_order(h->ndim, shape, h->elbyte, &a->view, err));
    CIP_TRY(cip_ra_dtype(&l->arena, h, &a->dtype, err));
    CIP_TRY(cip_ra_nested(l, h, data, &nested, err));
    if (nested != NULL)
        CIP_TRY(cip_dtype_opaque(&l->arena, h->elbyte, nested, &a->dtype, err));
    a->layout = l;
    a->path = "";
    a->space = data;
    a->f_order = true;
    a->storage =
        (cip_storage){ .kind = nested != NULL ? CIP_STORAGE_NESTED : CIP_STORAGE_CONTIGUOUS,
                       .codec = l->block[0].info.codec,
                       .nbytes = h->size };
    return CIP_OK;
}

static cip_status add_facts(cip_layout *l, const cip_ra_header *h, cip_err *err)
{
    const uint64_t tail = cip_ra_tail(l, h), unknown = h->flags & ~(uint64_t)CIP_RA_FLAGS_KNOWN;
    cip_buf b = { .mem = &l->env->mem };
    cip_status st;
    CIP_GO(cip_ra_type_name(h, &b, err));
    CIP_GO(cip_buf_nul(&b, err));
    CIP_GO(cip_layout_add_fact(l, "element type", err,
                               "%s (eltype %" PRIu64 ", elbyte %" PRIu64 ")", (const char *)b.ptr,
                               h->eltype, h->elbyte));
    CIP_GO(cip_layout_add_fact(l, "byte order", err, "%s",
                               h->header_big ? "big (header and data)"
                               : h->data_big ? "big (data)"
                                             : "little"));
    b.len = 0;
    for (int32_t i = 0; i < h->ndim; i++)
        CIP_GO(cip_buf_addf(&b, err, "%s%" PRIu64, i == 0 ? "" : ", ", h->dims[i]));
    CIP_GO(cip_buf_nul(&b, err));
    CIP_GO(cip_layout_add_fact(l, "dims as stored", err, "[%s], the first varies fastest",
                               (const char *)b.ptr));
    if (tail != 0)
        CIP_GO(cip_layout_add_fact(l, "trailing metadata", err, "%" PRIu64 " bytes", tail));
    if (unknown != 0)
        CIP_GO(cip_layout_add_fact(l, "unknown flags", err, "0x%" PRIx64, unknown));
    st = CIP_OK;
done:
    cip_buf_clear(&b);
    return st;
}

static cip_status open_file(cip_layout *l, cip_err *err)
{
    cip_ra_header *h;
    cip_space *data;
    cip_node *metadata;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &h, 1, err));
    uint8_t head[CIP_RA_HEADER_MAX];
    size_t got;
    CIP_TRY(cip_space_read_some(l, l->file, 0, head, sizeof head, &got, err));
    cip_status st = cip_ra_header_read((cip_bytes){ head, got }, l->io->size,
                                       (l->flags & CIP_OPEN_FORCE) != 0, h, err);
    CIP_TRY(cip_fail_in(err, st, "header"));
    if (h->flags & ~(uint64_t)CIP_RA_FLAGS_KNOWN)
        cip_warn_lack(l->env, CIP_LACKS_NODE, NULL, CIP_ERR_UNSUPPORTED, 8, "header",
                      "unknown flags 0x%" PRIx64 " are ignored",
                      h->flags & ~(uint64_t)CIP_RA_FLAGS_KNOWN);
    l->own = h;
    CIP_TRY(make_spaces(l, h, &data, err));
    CIP_TRY(add_array(l, h, data, err));
    CIP_TRY(cip_ra_metadata_node(l, h, &metadata, err));
    CIP_TRY(cip_ra_tree(&l->arena, h, metadata, &l->tree, err));
    return add_facts(l, h, err);
}

/* --- query ---------------------------------------------------------------------------------- */

/* Whether the text is a string in YAML as it stands. */
static bool is_plain(const char *text, size_t len)
{
    cip_node n = { 0 };
    for (size_t i = 0; i < len; i++) {
        bool letter = (text[i] | 32) >= 'a' && (text[i] | 32) <= 'z';
        bool other = (text[i] >= '0' && text[i] <= '9') || text[i] == '.' || text[i] == '_';
        if (!letter && !other && !(i > 0 && text[i] == '-'))
            return false;
    }
    cip_yaml_resolve(&n, text, len);
    return n.type == CIP_NODE_STRING;
}

/* The document's query: what its C function prints, a YAML document. */
static cip_status query(const cip_layout *l, cip_buf *out, cip_err *err)
{
    const cip_ra_header *h = l->own;
    const char *name = l->io->name == NULL ? "" : l->io->name, *slash = strrchr(name, '/');
    name = slash == NULL ? name : slash + 1;
    CIP_TRY(cip_buf_addf(out, err, "---\nname: "));
    CIP_TRY(is_plain(name, strlen(name)) ? cip_buf_addf(out, err, "%s", name)
                                         : cip_json_string(out, name, strlen(name), err));
    CIP_TRY(cip_buf_addf(out, err, "\nendian: %s\ntype: ", h->data_big ? "big" : "little"));
    CIP_TRY(cip_ra_type_name(h, out, err));
    CIP_TRY(cip_buf_addf(out, err, "\nsize: %" PRIu64 "\ndimension: %" PRId32 "\nshape:%s\n",
                         h->size, h->ndim, h->ndim == 0 ? " []" : ""));
    for (int32_t i = 0; i < h->ndim; i++)
        CIP_TRY(cip_buf_addf(out, err, "- %" PRIu64 "\n", h->dims[i]));
    return cip_buf_addf(out, err, "...\n");
}

const cip_format cip_format_rawarray = {
    .name = "rawarray",
    .title = "RawArray",
    .extensions = "ra",
    .probe = probe,
    .open = open_file,
    .verify = cip_ra_verify,
    .query = query,
    .form_keys = "flags eltype elbyte size dims",
    .store = &cip_ra_store,
};
