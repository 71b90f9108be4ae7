/* SPDX-License-Identifier: BSD-3-Clause
 * Just enough of Parquet for tables of references: one row group, plain values, no compression. */
#ifndef CIPPUS_TOOLS_PARQUET_H
#define CIPPUS_TOOLS_PARQUET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A reference: of `path`, or the bytes `raw` (of raw_nbytes), each NULL where it is the other. */
typedef struct parquet_row {
    const char *path;
    int64_t offset, size;
    const void *raw;
    size_t raw_nbytes;
} parquet_row;

/* A file of n rows with the columns path, offset, size, raw. 0, or -1 with errno: EFBIG for a
 * column of over 2 GiB. */
int parquet_write(FILE *out, const parquet_row *rows, size_t n);

#endif
