/* SPDX-License-Identifier: BSD-3-Clause
 * libcurl, loaded when the first URL is opened: it brings thirty libraries with it, and who opens
 * files alone does not wait for them (docs/decisions/urls.md). */
#ifndef CIP_IO_CURL_API_H
#define CIP_IO_CURL_API_H

#define CURL_DISABLE_TYPECHECK /* its macros are of the functions' names */
#include <curl/curl.h>

#include "base/err.h"

#define CIP_CURL_FUNCTIONS(X)                                                                      \
    X(CURLcode, global_init, (long))                                                               \
    X(curl_version_info_data *, version_info, (CURLversion))                                       \
    X(CURL *, easy_init, (void))                                                                   \
    X(void, easy_reset, (CURL *))                                                                  \
    X(void, easy_cleanup, (CURL *))                                                                \
    X(CURLcode, easy_setopt, (CURL *, CURLoption, ...))                                            \
    X(CURLcode, easy_getinfo, (CURL *, CURLINFO, ...))                                             \
    X(const char *, easy_strerror, (CURLcode))                                                     \
    X(struct curl_slist *, slist_append, (struct curl_slist *, const char *))                      \
    X(void, slist_free_all, (struct curl_slist *))                                                 \
    X(CURLM *, multi_init, (void))                                                                 \
    X(CURLMcode, multi_cleanup, (CURLM *))                                                         \
    X(CURLMcode, multi_add_handle, (CURLM *, CURL *))                                              \
    X(CURLMcode, multi_remove_handle, (CURLM *, CURL *))                                           \
    X(CURLMcode, multi_perform, (CURLM *, int *))                                                  \
    X(CURLMcode, multi_poll, (CURLM *, struct curl_waitfd *, unsigned, int, int *))                \
    X(CURLMcode, multi_setopt, (CURLM *, CURLMoption, ...))                                        \
    X(CURLMsg *, multi_info_read, (CURLM *, int *))

typedef struct cip_curl {
#define CIP_CURL_FIELD(result, name, args) result(*name) args;
    CIP_CURL_FUNCTIONS(CIP_CURL_FIELD)
#undef CIP_CURL_FIELD
} cip_curl;

/* Loaded once for the process. UNSUPPORTED where it is not installed, or too old. Thread-safe. */
cip_status cip_curl_load(const cip_curl **out, cip_err *err);

#endif
