/* SPDX-License-Identifier: BSD-3-Clause
 * The same work by the bare libraries and system calls: the limits that a row is held against. */
#ifndef CIPPUS_BENCH_BARE_H
#define CIPPUS_BENCH_BARE_H

#include <stddef.h>
#include <stdint.h>

/* Where the first block's data lie in an ASDF file: found by its magic, as a program that knows the
 * file would. */
typedef struct bare_block {
    int fd;
    uint64_t offset, used, decoded;
    const uint8_t *map; /* of the whole file */
    uint64_t nbytes;    /* of the whole file */
} bare_block;

bare_block bare_open(const char *path);
void bare_close(bare_block *b);

/* Events of the tree by libyaml; returns their number. */
size_t bare_yaml(const char *path);
void bare_pread(int fd, uint64_t offset, void *dst, size_t n);
void bare_inflate(const bare_block *b, void *dst);
/* All chunks of an `lz4` block. */
void bare_lz4(const bare_block *b, void *dst);
void bare_md5(const bare_block *b, uint8_t out[16]);

#endif
