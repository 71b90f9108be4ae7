/* SPDX-License-Identifier: BSD-3-Clause
 * One request and what comes back; http.c makes several of them at a time. */
#ifndef CIP_IO_HTTP_REQUEST_H
#define CIP_IO_HTTP_REQUEST_H

#include "io/remote/curl_api.h"
#include "io/remote/http.h"

/* What is wanted, and what came. */
typedef struct cip_http_request {
    cip_http_file *file;
    cip_http_asked asked;
    uint8_t *dst; /* asked.n bytes; NULL: they go to `take` */
    cip_http_take *take;
    void *user;
    uint64_t got;
    cip_http_answer answer;
    cip_status st; /* of a call that goes on where one fails */
    char *led;     /* of OPEN, on failure too: from cip_mem, where redirects led; or NULL */
} cip_http_request;

/* A request under way. */
typedef struct cip_http_transfer {
    CURL *easy;
    struct curl_slist *headers;
    cip_http_request *request; /* NULL: it is free */
    char *url;                 /* that it asks */
    unsigned tries;
    uint64_t due;    /* milliseconds of the clock when it is to be tried again; 0: it runs */
    uint64_t begun;  /* for the trace */
    uint64_t nbytes; /* that the body has to have */
    bool judged;     /* the headers are as they should be, or st says why not */
    bool by_led;     /* it asks where redirects led */
    cip_status st;
    cip_err err;
    char why[CURL_ERROR_SIZE];
    char code[48]; /* why S3 refused it, or "" */
} cip_http_transfer;

typedef struct cip_http_setting {
    const cip_curl *curl;
    const cip_http_tuning *tune;
    cip_mem *mem;
    const cip_aws *aws;      /* or NULL */
    const char *authorities; /* a file of certificates, or NULL: libcurl's */
} cip_http_setting;

/* Sets everything on t->easy, anew. */
cip_status cip_http_transfer_set(const cip_http_setting *s, cip_http_transfer *t, cip_err *err);
/* What has become of it: OK, or why not; *again milliseconds from now (0: not at all) it may be
 * tried once more. */
cip_status cip_http_transfer_end(const cip_http_setting *s, cip_http_transfer *t, CURLcode code,
                                 uint64_t *again, cip_err *err);
/* What a try has of its own; the easy handle stays. */
void cip_http_transfer_clear(const cip_http_setting *s, cip_http_transfer *t);

#endif
