/* SPDX-License-Identifier: BSD-3-Clause
 * What formats in zip archives compare: the CRC-32 of members that are stored as they are. Those of
 * deflated ones the codec compares. */
#ifndef CIP_FORMAT_ZIP_MEMBER_H
#define CIP_FORMAT_ZIP_MEMBER_H

#include "base/endian.h"
#include "base/num.h"
#include "base/report.h"
#include "codec/checksum/checksum.h"
#include "io/zip.h"

/* The member's bytes are those of the archive from `off` on. */
static inline cip_status cip_zip_check_stored(cip_io *io, const cip_zip_member *m, uint64_t off,
                                              cip_report *report, cip_err *err)
{
    enum { PIECE = 1 << 20 };
    cip_mem *mem = &io->env->mem;
    uint8_t *piece = NULL, sum[CIP_SUM_MAX];
    cip_sum *s = NULL;
    cip_status st;
    CIP_GO(cip_sum_new(mem, CIP_SUM_CRC32, &s, err));
    CIP_GO(cip_mem_get(mem, PIECE, (void **)&piece, err));
    for (uint64_t at = 0; at < m->size; at += PIECE) {
        const size_t n = (size_t)cip_min_u64(PIECE, m->size - at);
        CIP_GO(cip_io_read(io, off + at, piece, n, err));
        cip_sum_add(s, piece, n);
        if (cip_report_progress(report, n))
            CIP_GO(cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller"));
    }
    cip_sum_take(s, sum);
    if (cip_load_u32(sum, true) != m->crc)
        st = cip_fail(err, CIP_ERR_CHECKSUM, off,
                      "crc32 mismatch: expected %08" PRIx32 ", found %08" PRIx32, m->crc,
                      cip_load_u32(sum, true));
done:
    cip_sum_free(s);
    cip_mem_put(mem, piece);
    return st;
}

#endif
