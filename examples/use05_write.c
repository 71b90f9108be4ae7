/* SPDX-License-Identifier: BSD-3-Clause
 * Write: a tree and two arrays; the format from the name, the codec per array. */
#include <inttypes.h>
#include <stdio.h>

#include "cippus/cippus.h"

static float image[256][256];
static bool mask[256][256];

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *c;
    cip_file *f;
    const int64_t shape[] = { 256, 256 };
    const char *path = argc > 1 ? argv[1] : "out.asdf";
    image[200][100] = 1.5F;
    cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &c, &err);
    cip_change_set_string(c, "instrument/name", "WFI", &err); /* makes the parents */
    cip_change_put(c, "image", cip_dtype_of(CIP_F32), 2, shape, image,
                   CIP_ARRAY_OPTIONS(.codec = "lz4"), &err);
    cip_change_put(c, "mask", cip_dtype_of(CIP_BOOL), 2, shape, mask, NULL, &err);
    cip_change_commit(&c, &err); /* nothing under the name before this */

    float pixel = 0;
    cip_open(path, NULL, &f, &err);
    cip_read(cip_find(f, "image", &err), "[200, 100]", cip_dtype_as_stored(), &pixel, sizeof pixel,
             &err);
    for (size_t i = 0; i < cip_file_nblock(f); i++)
        printf("%s %" PRIu64 "\n", cip_file_block(f, i)->codec,
               cip_file_block(f, i)->decoded_nbytes);
    printf("%g\n", pixel);
    cip_file_close(f);
    if (err.code != CIP_OK)
        fprintf(stderr, "%s\n", err.text);
    return err.code;
}
