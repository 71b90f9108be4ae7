/* SPDX-License-Identifier: BSD-3-Clause
 * Digests of arrays: reads "FILE<TAB>PATH" lines, answers "SHA256" of what `cat --to raw` would
 * give
 * ("mask" as a third column: of the mask), or "! STATUS: TEXT". One process for a whole corpus, so
 * that ASan sees leaks. */
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cippus/cippus.h"

static int add(void *user, const void *p, size_t n)
{
    return EVP_DigestUpdate(user, p, n) != 1;
}

static void answer(const char *file, const char *path, int want_mask)
{
    cip_err err = CIP_ERR_INIT;
    const char *field = "";
    cip_file *f = NULL;
    EVP_MD_CTX *sum = EVP_MD_CTX_new();
    EVP_DigestInit_ex(sum, EVP_sha256(), NULL);
    cip_status st = cip_open(file, NULL, &f, &err);
    const cip_array *a = st == CIP_OK ? cip_find_field(f, path, &field, &err) : NULL;
    if (st == CIP_OK && a == NULL)
        st = (cip_status)err.code;
    if (st == CIP_OK && want_mask)
        st = cip_export(a, CIP_READ_ARGS(.field = field, .take_mask = true), "raw", add, sum, &err);
    else if (st == CIP_OK)
        st = cip_export(a, CIP_READ_ARGS(.field = field), "raw", add, sum, &err);
    unsigned char out[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    EVP_DigestFinal_ex(sum, out, &n);
    EVP_MD_CTX_free(sum);
    cip_file_close(f); /* before the answer: whoever gets it may change the file */
    for (unsigned i = 0; st == CIP_OK && i < n; i++)
        printf("%02x", out[i]);
    if (st != CIP_OK)
        printf("! %s: %s", cip_status_name(st), err.text);
    putchar('\n');
    fflush(stdout);
}

int main(void)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    while ((n = getline(&line, &cap, stdin)) > 0) {
        line[n - 1] = '\0';
        char *path = strchr(line, '\t');
        if (path == NULL)
            return 2;
        *path++ = '\0';
        char *mask = strchr(path, '\t');
        if (mask != NULL)
            *mask = '\0';
        answer(line, path, mask != NULL);
    }
    free(line);
    return 0;
}
