/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes of files on servers, kept on disk for later runs: a file for each version of each URL, in a
 * folder that is the user's alone. What is read from there was proved by a checksum; whatever is
 * wrong with it, the bytes are asked for again. */
#ifndef CIP_IO_KEPT_H
#define CIP_IO_KEPT_H

#include "base/mem.h"
#include "io/remote/http_judge.h"

enum { CIP_KEPT_BLOCK = 64 << 10 }; /* bytes that are kept together */

/* The folder; shared by all files that are opened through it. */
typedef struct cip_kept_folder {
    int fd; /* -1: nothing is kept */
    uint64_t limit;
} cip_kept_folder;

/* Opens it, and makes it where it is not there. `limit`: bytes of all files in it, 0: 1 GiB. ARG
 * where it is another user's or others may write there; NOT_FOUND, IO. */
cip_status cip_kept_folder_open(const char *path, uint64_t limit, cip_kept_folder *out,
                                cip_err *err);
void cip_kept_folder_close(cip_kept_folder *f);
/* Removes the files that were unused for longest until they are within the limit. */
void cip_kept_trim(const cip_kept_folder *f);

/* What is kept of one version of a file. */
typedef struct cip_kept {
    int fd; /* -1: nothing can be */
    uint64_t size, data;
    const cip_kept_folder *folder; /* borrowed */
    _Atomic uint64_t stored;       /* bytes, since the folder was trimmed */
} cip_kept;

/* Of a version without a strong entity tag nothing is kept, as it cannot be told from the next one.
 * `url`: that of the request, as the same bucket and key mean another object at another endpoint.
 * `shown`: the URL without credentials, which alone is written down as it is. */
void cip_kept_open(cip_kept *k, const cip_kept_folder *folder, cip_mem *mem, const char *url,
                   const char *shown, const cip_http_version *v);
void cip_kept_close(cip_kept *k);

/* The bytes of block i, of which the last one is shorter; 0: none. */
size_t cip_kept_block_len(const cip_kept *k, uint64_t i);
/* Reads it; false where it is not kept whole and right. Thread-safe, as is storing. */
bool cip_kept_take(const cip_kept *k, uint64_t i, uint8_t dst[CIP_KEPT_BLOCK]);
/* Keeps it, if that goes well. */
void cip_kept_store(cip_kept *k, uint64_t i, const uint8_t *bytes);

#endif
