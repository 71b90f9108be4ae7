/* SPDX-License-Identifier: BSD-3-Clause
 * An encoding of my own: a file of ASDF 0.1 whose chain names one that only I know. */
#include <stdio.h>

#include "cippus/cippus.h"

/* Each byte with the key that stands in the chain: [[xor, {key: 90}], zlib]. */
static cip_status my_xor(void *me, const char *args, const void *src, size_t n, void *dst,
                         size_t cap, size_t *out, cip_err *err)
{
    unsigned key;
    if (sscanf(args, "{key: %u}", &key) != 1 || n > cap) {
        snprintf(err->text, sizeof err->text, "expected a key, found '%.40s'", args);
        return CIP_ERR_CORRUPT;
    }
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)dst)[i] = (unsigned char)(((const unsigned char *)src)[i] ^ key);
    *out = n;
    ++*(int *)me;
    return CIP_OK;
}

int main(int argc, char **argv)
{
    int calls = 0;
    const cip_codec_methods mine = { CIP_CODEC_METHODS_INIT, .name = "xor", .user = &calls,
                                     .decode = my_xor };
    const cip_codec_methods *list[] = { &mine };
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    int16_t row[4] = { 0 };
    cip_open_options how = { .size = sizeof how, .codecs = list, .ncodec = 1 };
    cip_open(argc > 1 ? argv[1] : "", &how, &f, &err);
    cip_read(cip_find(f, "own", &err), "[2, 0:4]", cip_dtype_as_stored(), row, sizeof row, &err);
    printf("%d %d %d %d, decoded %s\n", row[0], row[1], row[2], row[3],
           calls != 0 ? "by me" : "without me");
    cip_file_close(f);
    return err.code;
}
