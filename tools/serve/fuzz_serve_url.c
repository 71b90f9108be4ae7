/* SPDX-License-Identifier: BSD-3-Clause
 * libFuzzer target: what a client sends to `cippus serve`. The first line is a target, the second a
 * range, the third a host, the fourth an origin or a list of entity tags. */
#include <stdlib.h>
#include <string.h>

#include "serve_url.h"

static void must(bool fine)
{
    if (!fine)
        abort();
}

/* Whatever is taken has no step that leads out of a folder, and no empty one. */
static void check_url(char *text)
{
    serve_url url;
    if (serve_url_parse(text, &url) != NULL)
        return;
    for (const char *p = url.path; *p != '\0'; p++) {
        const size_t n = strcspn(p, "/");
        must(n > 0 && !(n == 1 && p[0] == '.') && !(n == 2 && p[0] == '.' && p[1] == '.'));
        p += n;
        if (*p == '\0')
            break;
    }
    must(url.nquery <= SERVE_MOST_QUERY);
    for (size_t i = 0; i < url.nquery; i++)
        must(serve_url_get(&url, url.query[i].key) == url.query[i].value);
    serve_url_unknown(&url, "file path select");
}

static void check_range(const char *text, uint64_t size)
{
    uint64_t first = 0, n = 0;
    if (serve_range_parse(text, size, &first, &n) == SERVE_PART)
        must(n > 0 && first < size && n <= size - first);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 5), *line[4];
    if (text == NULL)
        return 0;
    if (size != 0)
        memcpy(text, data, size);
    memcpy(text + size, "\n\n\n\n", 5);
    char *p = text;
    for (size_t i = 0; i < 4; i++) {
        line[i] = p;
        p += strcspn(p, "\n");
        if (*p != '\0')
            *p++ = '\0';
    }
    check_url(line[0]);
    check_range(line[1], 0);
    check_range(line[1], 1000);
    check_range(line[1], UINT64_MAX);
    serve_host_is_local(line[2]);
    serve_origin_fits(line[3], line[2]);
    must(!serve_etag_listed(line[3], "\"an etag that nobody sends\"") ||
         strchr(line[3], '*') != NULL || strstr(line[3], "nobody") != NULL);
    free(text);
    return 0;
}
