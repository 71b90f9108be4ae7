/* SPDX-License-Identifier: BSD-3-Clause */
#include "io/remote/curl_api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "io/remote/url.h"

/* Protocols by their names, without which redirects cannot be limited safely. */
enum { OLDEST = 0x075500 };

#if LIBCURL_VERSION_NUM < 0x075500
#error "libcurl 7.85 or later is needed (or -DCIP_WITH_CURL=OFF)"
#endif

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cip_curl loaded;
static const char *fault; /* NULL: it can be used */

static void load(void)
{
    static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4" };
    void *lib = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && lib == NULL; i++)
        lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    fault = "libcurl.so.4 is not installed";
    if (lib == NULL)
        return;
    fault = "libcurl 7.85 or later is needed, and an older one is installed";
#define TAKE(result, name, args)                                                                   \
    {                                                                                              \
        void *at = dlsym(lib, "curl_" #name);                                                      \
        if (at == NULL)                                                                            \
            return;                                                                                \
        memcpy(&loaded.name, &at, sizeof at); /* ISO C has no cast to a function */                \
    }
    CIP_CURL_FUNCTIONS(TAKE)
#undef TAKE
    if (loaded.version_info(CURLVERSION_NOW)->version_num < OLDEST)
        return;
    fault = "libcurl cannot be initialised";
    if (loaded.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
        fault = NULL;
}

const char *cip_url_library(void)
{
    pthread_once(&once, load);
    return fault == NULL ? loaded.version_info(CURLVERSION_NOW)->version : "";
}

cip_status cip_curl_load(const cip_curl **out, cip_err *err)
{
    pthread_once(&once, load);
    *out = &loaded;
    if (fault == NULL)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "URLs are read by libcurl: %s", fault);
}
