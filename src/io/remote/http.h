/* SPDX-License-Identifier: BSD-3-Clause
 * Ranges of files on web servers, by libcurl: several requests at a time, repeated where a server
 * is busy, each answer judged before its bytes count. */
#ifndef CIP_IO_HTTP_H
#define CIP_IO_HTTP_H

#include <pthread.h>

#include "base/mem.h"
#include "io/remote/aws.h"
#include "io/remote/http_judge.h"
#include "io/remote/kept.h"
#include "cippus/ext/io.h"

typedef struct cip_http_tuning {
    long connect_ms;    /* for a connection */
    long slow_bytes;    /* a second: less than these ... */
    long slow_seconds;  /* ... for so long is no answer */
    unsigned tries;     /* of one request */
    unsigned pause_ms;  /* before the second try; twice as long before each further one */
    unsigned wait_most; /* seconds that a server may ask to wait (Retry-After) */
    uint64_t piece;     /* larger ranges are cut, and asked for together */
} cip_http_tuning;

extern const cip_http_tuning cip_http_tuning_default;

enum { CIP_HTTP_AT_ONCE = 16 }; /* requests of one call */

/* Connections to where a file and its members lie. Thread-safe; counted, as members outlive the
 * folder that they were opened in. */
typedef struct cip_http cip_http;

/* `aws`: by whom requests to S3 are signed, copied; NULL: no S3. `tune` is borrowed; `kept` is
 * taken over, on failure too. */
cip_status cip_http_new(cip_mem *mem, const cip_http_tuning *tune, const cip_aws *aws,
                        const cip_kept_folder *kept, cip_http **out, cip_err *err);
/* Where bytes of its files are kept. Borrowed. */
const cip_kept_folder *cip_http_kept(const cip_http *h);
cip_http *cip_http_keep(cip_http *h);
void cip_http_drop(cip_http *h); /* NULL is fine */

/* A file on a server, from cip_http_open on. */
typedef struct cip_http_file {
    cip_http *http;
    char *url, *shown; /* shown: what messages call it */
    cip_http_version version;
    pthread_mutex_t lock; /* guards `led`; a leaf */
    bool whole_only;      /* opening found it, but only whole, not in ranges */
    char *led;            /* the URL that redirects led to, or NULL */
} cip_http_file;

/* `url` is copied; `h` is kept. */
cip_status cip_http_file_new(cip_http *h, const char *url, cip_http_file *out, cip_err *err);
void cip_http_file_clear(cip_http_file *f); /* zeroed is fine */

cip_mem *cip_http_mem(const cip_http *h);
/* By whom it asks S3; NULL where it does not. Borrowed. */
const cip_aws *cip_http_aws(const cip_http *h);
/* By another region of Amazon's from now on; before anybody else uses it. False where that is no
 * region, or the same. */
bool cip_http_set_region(cip_http *h, const char *region);

/* Asks for the first n bytes, and fills f->version: *got bytes came, all if the file has fewer.
 * *folder: redirects led to the same URL with a slash at its end, and nothing was read. On failure
 * region[] is that which S3 says the bucket is in, "" otherwise. */
cip_status cip_http_open(cip_http_file *f, void *dst, size_t n, size_t *got, bool *folder,
                         char region[CIP_HTTP_REGION], cip_err *err);
/* Opens n files together, each by its own first bytes: got[i] of them in dst[i], which has room for
 * `room`. st[i] is what became of it. */
cip_status cip_http_open_all(cip_http *h, cip_http_file *const *f, uint8_t *const *dst, size_t room,
                             size_t n, size_t *got, cip_status *st, cip_err *err);
/* Fills the ranges, which lie within the size. */
cip_status cip_http_read(cip_http_file *f, const cip_range *r, size_t n, cip_err *err);
/* All of what is there whole only, piece by piece; `take` may get it from offset 0 on again. */
typedef cip_status cip_http_take(void *user, uint64_t off, const void *bytes, size_t n,
                                 cip_err *err);
cip_status cip_http_copy(cip_http_file *f, cip_http_take *take, void *user, cip_err *err);
/* STALE where the server has another version by now. */
cip_status cip_http_unchanged(cip_http_file *f, cip_err *err);
/* All of an answer of at most n bytes. */
cip_status cip_http_text(cip_http_file *f, void *dst, size_t n, size_t *got, cip_err *err);

#endif
