/* SPDX-License-Identifier: BSD-3-Clause
 * The same work by the bare libraries and system calls: the limits that a row is held against. */
#ifndef CIPPUS_BENCH_BARE_H
#define CIPPUS_BENCH_BARE_H

#include <stdbool.h>
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
/* The first n bytes, by zlib and libbz2 in order. */
void bare_inflate_to(const bare_block *b, void *dst, uint64_t n);
void bare_bzip2_to(const bare_block *b, void *dst, uint64_t n);
void bare_bzip2(const bare_block *b, void *dst);
/* All chunks of an `lz4` block. */
void bare_lz4(const bare_block *b, void *dst);
void bare_md5(const bare_block *b, uint8_t out[16]);

/* n bytes to a new file, 8 MiB at a time; with their MD5 on the way. */
void bare_write(const char *path, const void *p, size_t n, bool md5);
/* The same compressed: "zlib" by libdeflate at level 6, "lz4" in pieces of 4 MiB, "bzp2" at level
 * 9. Returns how many bytes that is. */
size_t bare_compress(const char *codec, const void *p, size_t n, const char *path);
/* The eight digits behind "value: " in the first 64 KiB; synced or not. */
void bare_set(const char *path, int64_t value, bool sync);

#endif
