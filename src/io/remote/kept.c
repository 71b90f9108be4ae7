/* SPDX-License-Identifier: BSD-3-Clause
 * A file is a head of 16 KiB (magic, key), a table of 16 bytes for each block of 64 KiB (XXH3-128
 * of it, all zero: it is not there) and the blocks in their places, with holes. The checksum is
 * written after the block: what a kill or another process left half written does not match, and
 * counts as not there. All who write it write the same bytes. */
#include "io/remote/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/num.h"

enum { HEAD = 16 << 10, ENTRY = 16, NAME = 48, TRIM_EACH = 16 << 20, REMOVED_MOST = 10000 };

static const char magic[8] = { '\x89', 'C', 'I', 'P', 'K', '\r', '\n', 1 };
static const char suffix[] = ".cip-cache";

static cip_status fail_folder(cip_err *err, const char *path)
{
    char what[160];
    snprintf(what, sizeof what, "cannot open the cache '%.120s'", path);
    return cip_fail_errno(err, errno, CIP_NO_OFFSET, what);
}

/* Others could put bytes there that we take for the server's. */
static bool is_ours(int fd, mode_t kind)
{
    struct stat st;
    return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == kind && st.st_uid == geteuid() &&
           (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

cip_status cip_kept_folder_open(const char *path, uint64_t limit, cip_kept_folder *out,
                                cip_err *err)
{
    *out = (cip_kept_folder){ .fd = -1, .limit = limit != 0 ? limit : UINT64_C(1) << 30 };
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return fail_folder(err, path);
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd == -1)
        return fail_folder(err, path);
    if (!is_ours(fd, S_IFDIR)) {
        close(fd);
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "the cache '%.120s' has to be a folder of your own that nobody else can "
                        "write to",
                        path);
    }
    out->fd = fd;
    return CIP_OK;
}

void cip_kept_folder_close(cip_kept_folder *f)
{
    if (f->fd != -1)
        close(f->fd);
    f->fd = -1;
}

/* Bytes of all files, and which was used before all others. */
static uint64_t look(DIR *d, char oldest[NAME])
{
    struct timespec when = { 0 };
    uint64_t sum = 0;
    oldest[0] = '\0';
    rewinddir(d);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        struct stat st;
        const size_t n = strlen(e->d_name);
        if (n >= NAME || n <= strlen(suffix) ||
            strcmp(e->d_name + n - strlen(suffix), suffix) != 0 ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode))
            continue;
        sum += (uint64_t)st.st_blocks * 512;
        if (oldest[0] == '\0' || st.st_mtim.tv_sec < when.tv_sec ||
            (st.st_mtim.tv_sec == when.tv_sec && st.st_mtim.tv_nsec < when.tv_nsec)) {
            when = st.st_mtim;
            strcpy(oldest, e->d_name);
        }
    }
    return sum;
}

void cip_kept_trim(const cip_kept_folder *f)
{
    char oldest[NAME];
    const int fd = openat(f->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* a place of its own */
    DIR *d = fd != -1 ? fdopendir(fd) : NULL;
    if (d == NULL && fd != -1)
        close(fd);
    for (int i = 0; d != NULL && i < REMOVED_MOST && look(d, oldest) > f->limit; i++)
        if (oldest[0] == '\0' || unlinkat(f->fd, oldest, 0) != 0)
            break;
    if (d != NULL)
        closedir(d);
}

/* The key, behind the magic: the URL as it is shown, a hash of all of it, tag, time and size. HEAD
 * bytes, the rest zero. */
static bool make_head(uint8_t head[HEAD], const char *url, const char *shown,
                      const cip_http_version *v)
{
    const XXH128_hash_t h = XXH3_128bits(url, strlen(url));
    memset(head, 0, HEAD);
    memcpy(head, magic, sizeof magic);
    const int n =
        snprintf((char *)head + 16, HEAD - 16, "%s\n%016" PRIx64 "%016" PRIx64 "\n%s\n%s\n%" PRIu64,
                 shown, (uint64_t)h.high64, (uint64_t)h.low64, v->tag, v->modified, v->size);
    return n > 0 && n < HEAD - 16 && cip_http_tag_is_strong(v->tag);
}

/* The file with this head; one that is there and has another is put away. -1: it cannot be had. */
static int open_headed(int dir, const char *name, const uint8_t head[HEAD], uint8_t found[HEAD])
{
    for (int fresh = 0; fresh < 2; fresh++) {
        const int fd = openat(
            dir, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0600);
        struct stat st;
        if (fd == -1)
            return -1;
        if (is_ours(fd, S_IFREG) && fstat(fd, &st) == 0 && st.st_nlink == 1) {
            if (st.st_size == 0 && pwrite(fd, head, HEAD, 0) == HEAD)
                return fd;
            if (pread(fd, found, HEAD, 0) == HEAD && memcmp(head, found, HEAD) == 0) {
                futimens(fd, NULL); /* it is used */
                return fd;
            }
        }
        close(fd);
        if (unlinkat(dir, name, 0) != 0)
            return -1;
    }
    return -1;
}

void cip_kept_open(cip_kept *k, const cip_kept_folder *folder, cip_mem *mem, const char *url,
                   const char *shown, const cip_http_version *v)
{
    void *room;
    char name[NAME];
    const uint64_t nblock = cip_div_up(v->size, CIP_KEPT_BLOCK);
    k->fd = -1;
    k->size = v->size;
    k->folder = folder;
    atomic_init(&k->stored, 0);
    if (folder->fd == -1 || v->size > UINT64_C(1) << 50 ||
        cip_mem_get(mem, (size_t)2 * HEAD, &room, NULL) != CIP_OK)
        return;
    uint8_t *head = room;
    k->data = cip_div_up(HEAD + ENTRY * nblock, CIP_KEPT_BLOCK) * CIP_KEPT_BLOCK;
    if (make_head(head, url, shown, v)) {
        const XXH128_hash_t h = XXH3_128bits(head, HEAD);
        snprintf(name, sizeof name, "%016" PRIx64 "%s", (uint64_t)(h.low64 ^ h.high64), suffix);
        k->fd = open_headed(folder->fd, name, head, head + HEAD);
    }
    cip_mem_put(mem, room);
}

void cip_kept_close(cip_kept *k)
{
    if (k->folder == NULL || k->fd == -1)
        return;
    close(k->fd);
    if (atomic_load(&k->stored) != 0)
        cip_kept_trim(k->folder);
    k->fd = -1;
}

size_t cip_kept_block_len(const cip_kept *k, uint64_t i)
{
    return (size_t)cip_min_u64(cip_bytes_left(k->size, i * CIP_KEPT_BLOCK), CIP_KEPT_BLOCK);
}

/* The checksum as it is in the table; of no block that is there all zero. */
static void sum_of(const uint8_t *bytes, size_t n, uint8_t out[ENTRY])
{
    XXH128_canonical_t c;
    XXH128_canonicalFromHash(&c, XXH3_128bits(bytes, n));
    memcpy(out, c.digest, ENTRY);
}

bool cip_kept_take(const cip_kept *k, uint64_t i, uint8_t dst[CIP_KEPT_BLOCK])
{
    static const uint8_t none[ENTRY];
    uint8_t stored[ENTRY], sum[ENTRY];
    const size_t n = cip_kept_block_len(k, i);
    if (k->fd == -1 || n == 0 || pread(k->fd, stored, ENTRY, (off_t)(HEAD + ENTRY * i)) != ENTRY ||
        memcmp(stored, none, ENTRY) == 0 ||
        pread(k->fd, dst, n, (off_t)(k->data + CIP_KEPT_BLOCK * i)) != (ssize_t)n)
        return false;
    sum_of(dst, n, sum);
    return memcmp(stored, sum, ENTRY) == 0;
}

void cip_kept_store(cip_kept *k, uint64_t i, const uint8_t *bytes)
{
    uint8_t sum[ENTRY];
    struct stat st;
    const size_t n = cip_kept_block_len(k, i);
    if (k->fd == -1 || n == 0)
        return;
    if (atomic_fetch_add(&k->stored, n) % TRIM_EACH + n >= TRIM_EACH)
        cip_kept_trim(k->folder);
    if (fstat(k->fd, &st) != 0 || st.st_nlink == 0 || /* it was the one to go */
        (uint64_t)st.st_blocks * 512 + n > k->folder->limit)
        return;
    sum_of(bytes, n, sum);
    if (pwrite(k->fd, bytes, n, (off_t)(k->data + CIP_KEPT_BLOCK * i)) == (ssize_t)n)
        (void)!pwrite(k->fd, sum, ENTRY, (off_t)(HEAD + ENTRY * i));
}
