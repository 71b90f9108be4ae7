/* SPDX-License-Identifier: BSD-3-Clause
 * libyaml, libdeflate, liblz4, libbz2, libcrypto, pread and pwrite, with nothing around them. */
#include "bare.h"

#include <bzlib.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libdeflate.h>
#include <lz4.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>
#include <zlib.h>

static void die(const char *what)
{
    fprintf(stderr, "bench: %s\n", what);
    exit(1);
}

static uint64_t load_be(const uint8_t *p, int n)
{
    uint64_t v = 0;
    for (int i = 0; i < n; i++)
        v = v << 8 | p[i];
    return v;
}

bare_block bare_open(const char *path)
{
    struct stat st;
    bare_block b = { .fd = open(path, O_RDONLY) };
    if (b.fd < 0 || fstat(b.fd, &st) != 0)
        die(path);
    b.nbytes = (uint64_t)st.st_size;
    b.map = mmap(NULL, b.nbytes, PROT_READ, MAP_SHARED, b.fd, 0);
    if (b.map == MAP_FAILED)
        die("mmap");
    const uint8_t *magic = memmem(b.map, b.nbytes, "\323BLK", 4);
    if (magic == NULL)
        return b;
    b.offset = (uint64_t)(magic - b.map) + 6 + load_be(magic + 4, 2);
    b.used = load_be(magic + 22, 8);
    b.decoded = load_be(magic + 30, 8);
    return b;
}

void bare_close(bare_block *b)
{
    munmap((void *)b->map, b->nbytes);
    close(b->fd);
}

size_t bare_yaml(const char *path)
{
    size_t n = 0;
    yaml_parser_t parser;
    yaml_event_t event;
    bare_block b = bare_open(path);
    const uint8_t *end = memmem(b.map, b.nbytes, "\n...\n", 5);
    if (end == NULL || !yaml_parser_initialize(&parser))
        die("no tree");
    yaml_parser_set_input_string(&parser, b.map, (size_t)(end - b.map) + 5);
    for (int done = 0; !done; n++) {
        if (!yaml_parser_parse(&parser, &event))
            die("libyaml");
        done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
    }
    yaml_parser_delete(&parser);
    bare_close(&b);
    return n;
}

void bare_pread(int fd, uint64_t offset, void *dst, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t r = pread(fd, (char *)dst + done, n - done, (off_t)(offset + done));
        if (r <= 0)
            die("pread");
        done += (size_t)r;
    }
}

void bare_inflate(const bare_block *b, void *dst)
{
    struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
    if (d == NULL || libdeflate_zlib_decompress(d, b->map + b->offset, b->used, dst, b->decoded,
                                                NULL) != LIBDEFLATE_SUCCESS)
        die("libdeflate");
    libdeflate_free_decompressor(d);
}

void bare_bzip2(const bare_block *b, void *dst)
{
    unsigned n = (unsigned)b->decoded;
    if (BZ2_bzBuffToBuffDecompress(dst, &n, (char *)b->map + b->offset, (unsigned)b->used, 0, 0) !=
            BZ_OK ||
        n != b->decoded)
        die("libbz2");
}

enum { AT_ONCE = 1 << 30 }; /* of libraries that count in 32 bits */

void bare_inflate_to(const bare_block *b, void *dst, uint64_t n)
{
    z_stream z = { 0 };
    if (inflateInit(&z) != Z_OK || b->used > UINT32_MAX)
        die("zlib");
    z.next_in = (Bytef *)b->map + b->offset;
    z.avail_in = (uInt)b->used;
    z.next_out = dst;
    while (n != 0) {
        uInt piece = (uInt)(n < AT_ONCE ? n : AT_ONCE);
        z.avail_out = piece;
        if (inflate(&z, Z_NO_FLUSH) < 0 || z.avail_out != 0)
            die("zlib");
        n -= piece;
    }
    inflateEnd(&z);
}

void bare_bzip2_to(const bare_block *b, void *dst, uint64_t n)
{
    bz_stream z = { 0 };
    if (BZ2_bzDecompressInit(&z, 0, 0) != BZ_OK || b->used > UINT32_MAX || n > UINT32_MAX)
        die("libbz2");
    z.next_in = (char *)b->map + b->offset;
    z.avail_in = (unsigned)b->used;
    z.next_out = dst;
    z.avail_out = (unsigned)n;
    if (BZ2_bzDecompress(&z) < 0 || z.avail_out != 0)
        die("libbz2");
    BZ2_bzDecompressEnd(&z);
}

void bare_lz4(const bare_block *b, void *dst)
{
    const uint8_t *p = b->map + b->offset, *end = p + b->used;
    char *at = dst;
    while (p < end) {
        uint64_t n = load_be(p, 4);
        int raw = (int)((uint32_t)p[7] << 24 | p[6] << 16 | p[5] << 8 | p[4]);
        if (LZ4_decompress_safe((const char *)p + 8, at, (int)n - 4, raw) != raw)
            die("liblz4");
        at += raw;
        p += 4 + n;
    }
}

void bare_md5(const bare_block *b, uint8_t out[16])
{
    if (!EVP_Digest(b->map + b->offset, b->used, out, NULL, EVP_md5(), NULL))
        die("libcrypto");
}

static int new_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (fd < 0)
        die(path);
    return fd;
}

static void write_all(int fd, const void *p, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t r = write(fd, (const char *)p + done, n - done);
        if (r <= 0)
            die("write");
        done += (size_t)r;
    }
}

void bare_write(const char *path, const void *p, size_t n, bool md5)
{
    enum { PIECE = 8 << 20 };
    uint8_t sum[16];
    int fd = new_file(path);
    EVP_MD_CTX *c = EVP_MD_CTX_new();
    if (c == NULL || !EVP_DigestInit_ex(c, EVP_md5(), NULL))
        die("libcrypto");
    for (size_t at = 0; at < n; at += PIECE) {
        size_t m = n - at < PIECE ? n - at : PIECE;
        if (md5)
            EVP_DigestUpdate(c, (const char *)p + at, m);
        write_all(fd, (const char *)p + at, m);
    }
    EVP_DigestFinal_ex(c, sum, NULL);
    EVP_MD_CTX_free(c);
    close(fd);
}

static size_t compress_lz4(const char *p, size_t n, char *dst, int fd)
{
    enum { PIECE = 4 << 20 };
    size_t total = 0;
    for (size_t at = 0; at < n; at += PIECE) {
        int m = (int)(n - at < PIECE ? n - at : PIECE);
        int got = LZ4_compress_default(p + at, dst, m, LZ4_compressBound(m));
        if (got <= 0)
            die("liblz4");
        write_all(fd, dst, (size_t)got);
        total += (size_t)got;
    }
    return total;
}

size_t bare_compress(const char *codec, const void *p, size_t n, const char *path)
{
    int fd = new_file(path);
    size_t cap = n + n / 50 + 4096, got = 0;
    unsigned bz_len = (unsigned)cap;
    char *dst = malloc(cap);
    if (dst == NULL)
        die("memory");
    if (strcmp(codec, "lz4") == 0) {
        got = compress_lz4(p, n, dst, fd);
    } else if (strcmp(codec, "zlib") == 0) {
        struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
        got = libdeflate_zlib_compress(c, p, n, dst, cap);
        libdeflate_free_compressor(c);
        write_all(fd, dst, got);
    } else {
        if (BZ2_bzBuffToBuffCompress(dst, &bz_len, (char *)p, (unsigned)n, 9, 0, 0) != BZ_OK)
            die("libbz2");
        got = bz_len;
        write_all(fd, dst, got);
    }
    free(dst);
    close(fd);
    return got;
}

void bare_set(const char *path, int64_t value, bool sync)
{
    char head[1 << 16], text[24];
    int fd = open(path, O_RDWR);
    ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head, 0);
    const char *at = n <= 0 ? NULL : memmem(head, (size_t)n, "value: ", 7);
    if (at == NULL)
        die("no value");
    snprintf(text, sizeof text, "%" PRId64, value);
    if (pwrite(fd, text, 8, at + 7 - head) != 8 || (sync && fdatasync(fd) != 0))
        die("pwrite");
    close(fd);
}
