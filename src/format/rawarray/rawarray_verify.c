/* SPDX-License-Identifier: BSD-3-Clause
 * Checking a RawArray file. Its header was checked when it was opened and there is no checksum, so
 * what is left is whether every byte can be read, what records hold, and what is worth knowing.
 * (Unknown flags were warned about; data are decoded by core's deep check.) */
#include "format/rawarray/rawarray.h"

enum { PIECE = 1 << 20 };

cip_status cip_ra_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    const cip_ra_header *h = l->own;
    const cip_array *a = l->array[0];
    const cip_read_how how = { l, l->env->pool };
    cip_err why = CIP_ERR_INIT;
    (void)deep;
    uint64_t tail = cip_ra_tail(l, h);
    if (h->header_big)
        cip_report_add(report, CIP_NOTE, CIP_OK, 0, h->data_off, "header",
                       "header and data are big-endian: RawArray's own tools cannot read them");
    else if (h->data_big)
        cip_report_add(report, CIP_NOTE, CIP_OK, 8, 8, "header",
                       "the data are big-endian (flag bit 0): RawArray's own tools do not swap");
    if ((h->flags & CIP_RA_FLAG_LZ4) && h->size > h->raw_len)
        cip_report_add(report, CIP_NOTE, CIP_OK, 32, 8, "header",
                       "compressed data of %" PRIu64 " bytes are longer than the %" PRIu64
                       " that they decode to",
                       h->size, h->raw_len);
    if (tail != 0)
        cip_report_add(report, CIP_NOTE, CIP_OK, h->data_off + h->size, tail, "metadata",
                       "%" PRIu64 " bytes after the data, which most tools drop", tail);
    cip_status st = cip_space_stream(&how, l->file, PIECE, cip_report_read, report, &why);
    CIP_TRY(cip_report_outcome(report, st, &why, err));
    if (a->storage.kind == CIP_STORAGE_NESTED)
        CIP_TRY(cip_ra_nested_verify(l, h, a->space, report, err));
    return cip_report_status(report, err);
}
