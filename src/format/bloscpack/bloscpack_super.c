/* SPDX-License-Identifier: BSD-3-Clause
 * Superchunks: the files of BLZ's document, which are bloscpack of late 2012. They have the header
 * of version 3 with another end (the length of the metadata, which are bare JSON behind the
 * header), and space may be left behind each chunk. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/bloscpack/bloscpack.h"

enum { AT_META_SIZE = 24, AT_RESERVED = 28, HEAD = CIP_BP_HEADER + 8 };

static const char section[8] = "JSON"; /* what version 3 has behind its header in the end */

/* The length of the metadata; the header's bytes become those of a file without any. */
static cip_status take_meta_size(uint8_t *head, uint64_t total, uint64_t *size, cip_err *err)
{
    int32_t n = (int32_t)cip_load_u32(head + AT_META_SIZE, false);
    if (n < 0 || (uint64_t)n > total - CIP_BP_HEADER)
        return cip_fail(err, n < 0 ? CIP_ERR_CORRUPT : CIP_ERR_TRUNCATED, AT_META_SIZE,
                        "expected metadata within %" PRIu64 " bytes, found a length of %" PRId32,
                        total - CIP_BP_HEADER, n);
    if (cip_load_u32(head + AT_RESERVED, false) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, AT_RESERVED,
                        "expected 4 zero bytes, found other bytes");
    memset(head + AT_META_SIZE, 0, 8);
    *size = (uint64_t)n;
    return CIP_OK;
}

static cip_status read_front(cip_bp_file *f, cip_err *err)
{
    uint8_t head[HEAD] = { 0 };
    size_t got;
    cip_io *io = f->layout->io;
    bool force = (f->layout->flags & CIP_OPEN_FORCE) != 0;
    CIP_TRY(cip_space_read_some(f->layout, f->layout->file, 0, head, sizeof head, &got, err));
    memcpy(f->head, head, sizeof f->head);
    bool final = got == HEAD && memcmp(head + CIP_BP_HEADER, section, sizeof section) == 0;
    bool meta = got >= CIP_BP_HEADER && (head[5] & CIP_BP_METADATA) != 0;
    if (meta && !final)
        CIP_TRY(take_meta_size(head, io->size, &f->bare_meta, err));
    got = got > CIP_BP_HEADER ? CIP_BP_HEADER : got;
    cip_status st = cip_bp_header_read((cip_bytes){ head, got }, io->size, force, &f->h, err);
    if (st == CIP_ERR_FORMAT)
        return cip_fail(err, CIP_ERR_CORRUPT, 0, "expected the magic 'blpk', found none");
    CIP_TRY(st);
    if (f->h.version < 3)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, 4, "expected version 3, found %u", f->h.version);
    if (!final)
        f->h.options &= (uint8_t)~CIP_BP_METADATA;
    f->meta_at = f->h.len;
    f->offsets_at = f->h.len + f->bare_meta;
    f->front = (cip_window){ .layout = f->layout, .in = f->layout->file };
    st = cip_bp_place(f, err);
    cip_window_clear(&f->front);
    return st;
}

cip_status cip_bp_superchunk_open(cip_layout *l, const char *part, cip_bp_file **out, cip_err *err)
{
    cip_bp_file *f;
    *out = NULL;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &f, 1, err));
    f->layout = l;
    f->part = part;
    f->spare = true;
    CIP_TRY(cip_fail_in(err, read_front(f, err), "%s", part));
    CIP_TRY(cip_fail_in(err, cip_bp_data(f, &f->data, err), "%s", part));
    l->own = f;
    *out = f;
    return CIP_OK;
}
