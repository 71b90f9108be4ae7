/* SPDX-License-Identifier: BSD-3-Clause
 * A page of names, as S3 answers ListObjectsV2 (an XML document). */
#ifndef CIP_IO_S3_LIST_H
#define CIP_IO_S3_LIST_H

#include "base/buffer.h"
#include "cippus/ext/io.h"

/* Gives fn the names in the n bytes of XML that begin with `prefix`, without it, and puts the token
 * of the next page into `next` (length 0: that was the last). Names that no file can have are left
 * out; *stopped when fn said so. CORRUPT for what is no such page. */
cip_status cip_s3_list_parse(cip_mem *mem, const char *xml, size_t n, const char *prefix,
                             cip_io_list_fn *fn, void *user, cip_buf *next, bool *stopped,
                             cip_err *err);

#endif
