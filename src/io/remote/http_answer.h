/* SPDX-License-Identifier: BSD-3-Clause
 * What a server says in the header lines of an answer (RFC 9110), as far as reading needs it. */
#ifndef CIP_IO_HTTP_ANSWER_H
#define CIP_IO_HTTP_ANSWER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    CIP_HTTP_TAG = 256,              /* bytes of an entity tag, its NUL among them */
    CIP_HTTP_DATE = 64,              /* of a time */
    CIP_HTTP_REGION = 32,            /* of the name of a region of S3 */
    CIP_HTTP_HEADERS_MAX = 256 << 10 /* bytes of the headers of a request, redirects included */
};

typedef struct cip_http_answer {
    int status;       /* of the last status line; 0: none yet */
    bool ranged;      /* it has a Content-Range of bytes first..last ... */
    bool has_total;   /* ... of an entity of `total` bytes; */
    bool unsatisfied; /* or one that only says the total */
    bool bad_range;   /* or one that cannot be understood, or two that differ */
    bool has_length;  /* Content-Length */
    bool framed;      /* the end of the body is marked, by chunks or HTTP/2 */
    bool encoded;     /* Content-Encoding is another than identity */
    bool ended;       /* the empty line behind the headers came: trailers do not count */
    uint64_t first, last, total, length;
    char tag[CIP_HTTP_TAG];       /* ETag, or "" */
    char modified[CIP_HTTP_DATE]; /* Last-Modified; "" where there is none, or one too long */
    char region[CIP_HTTP_REGION]; /* x-amz-bucket-region; the same */
    size_t nbytes;                /* of all lines so far */
} cip_http_answer;

/* Takes one line (a status line begins a new answer). False when there are too many bytes of them.
 */
bool cip_http_answer_line(cip_http_answer *a, const char *line, size_t n);
/* Whether the tag is one that the server compares byte for byte (it is not weak). */
bool cip_http_tag_is_strong(const char *tag);

#endif
