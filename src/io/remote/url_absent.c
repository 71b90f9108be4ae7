/* SPDX-License-Identifier: BSD-3-Clause
 * Of a build without libcurl. */
#include "io/io.h"
#include "io/remote/url.h"

cip_status cip_io_open_url(cip_env *env, const char *url, const cip_url_cache *cache, cip_io **out,
                           cip_err *err)
{
    (void)cache;
    (void)env;
    (void)url;
    *out = NULL;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "URLs are read by builds with libcurl (CIP_WITH_CURL), which this is not: "
                    "download the file");
}

const char *cip_io_url(const cip_io *io)
{
    (void)io;
    return NULL;
}

const char *cip_url_library(void)
{
    return NULL;
}
