/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as header lines, settings of AWS, a page of names and a URL. The first byte says which;
 * an answer that is taken has to fit what was asked for. */
#include <stdlib.h>
#include <string.h>

#include "base/env.h"
#include "io/remote/aws.h"
#include "io/remote/http_judge.h"
#include "io/remote/s3_list.h"
#include "io/remote/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void take_answer(const char *s, size_t n, cip_http_kind kind)
{
    static const cip_http_version known = { .size = 1000, .tag = "\"a\"" };
    cip_http_answer a = { .status = 0 };
    for (size_t i = 0, end; i < n; i = end) {
        const char *line = memchr(s + i, '\n', n - i);
        end = line != NULL ? (size_t)(line + 1 - s) : n;
        if (!cip_http_answer_line(&a, s + i, end - i))
            break;
    }
    require(memchr(a.tag, 0, sizeof a.tag) != NULL && memchr(a.region, 0, sizeof a.region) != NULL);
    const cip_http_asked q = { kind, kind == CIP_HTTP_RANGE ? 100 : 0, 50,
                               kind == CIP_HTTP_RANGE ? &known : NULL };
    uint64_t nbytes = 0;
    if (cip_http_judge(&q, &a, &nbytes, NULL) != CIP_OK)
        return;
    require(nbytes <= q.n || nbytes == UINT64_MAX);
    require(kind != CIP_HTTP_RANGE ||
            (nbytes == 50 && a.first == 100 && a.total == 1000 && strcmp(a.tag, known.tag) == 0));
}

static int see_name(void *user, const char *name, bool is_folder)
{
    (void)user;
    (void)is_folder;
    require(name[0] != '\0' && strchr(name, '/') == NULL && strcmp(name, "..") != 0);
    return 0;
}

static void take_page(cip_mem *mem, const char *s, size_t n)
{
    cip_buf next = { .mem = mem };
    bool stopped;
    (void)cip_s3_list_parse(mem, s, n, "p/", see_name, NULL, &next, &stopped, NULL);
    cip_buf_clear(&next);
}

/* What is shown of a URL ends before its query, and holds no user. */
static void take_url(cip_mem *mem, const char *text)
{
    cip_buf shown = { .mem = mem }, made = { .mem = mem };
    const cip_aws aws = { .region = "x" };
    const cip_url_scheme scheme = cip_url_scheme_of(text);
    if (scheme == CIP_URL_HTTP && cip_url_check(text, NULL) == CIP_OK) {
        require(cip_url_show(&shown, text, NULL) == CIP_OK);
        require(cip_buf_nul(&shown, NULL) == CIP_OK);
        const char *host = strstr((const char *)shown.ptr, "://") + 3;
        require(memchr(host, '@', strcspn(host, "/?")) == NULL);
        require(cip_url_member(&made, text, "a b", NULL) == CIP_OK);
        require(cip_buf_nul(&made, NULL) == CIP_OK);
        require(cip_url_check((const char *)made.ptr, NULL) == CIP_OK || made.len > CIP_URL_MAX);
    } else if (scheme == CIP_URL_S3 && cip_aws_url(&aws, text, &made, NULL) == CIP_OK) {
        require(cip_url_check((const char *)made.ptr, NULL) == CIP_OK || made.len > CIP_URL_MAX);
    }
    cip_buf_clear(&shown);
    cip_buf_clear(&made);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cip_env env;
    cip_aws aws = { .region = "" };
    bool other = false;
    if (size == 0 || cip_env_init(&env, NULL, NULL, NULL, NULL) != CIP_OK)
        return 0;
    char *text = malloc(size); /* without the first byte, with a NUL */
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] < '3')
        take_answer(text, size - 1, (cip_http_kind)(data[0] % 3));
    else if (data[0] == '3')
        (void)cip_aws_parse(&aws, text, size - 1, "a", &other);
    else if (data[0] == '4')
        take_page(&env.mem, text, size - 1);
    else
        take_url(&env.mem, text);
    free(text);
    require(env.mem.used == 0);
    cip_env_clear(&env);
    return 0;
}
