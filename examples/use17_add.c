/* SPDX-License-Identifier: BSD-3-Clause
 * An array added to a file that exists; nothing else of it moves. */
#include <inttypes.h>
#include <stdio.h>

#include "cippus/cippus.h"

static float dark[1024][1024];

int main(int argc, char **argv)
{
    const int64_t shape[] = { 1024, 1024 }, few[] = { 3 };
    const int16_t three[] = { 1, 2, 3 };
    const char *path = argc > 1 ? argv[1] : "out17.asdf";
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    cip_change *c;
    cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &c, &err);
    cip_change_put(c, "counts", cip_dtype_of(CIP_I16), 1, few, three, NULL, &err);
    cip_change_commit(&c, &err);
    dark[1][2] = 12;
    cip_change_open(path, NULL, &c, &err);
    cip_change_put(c, "dark/frame", cip_dtype_of(CIP_F32), 2, shape, dark,
                   CIP_ARRAY_OPTIONS(.codec = "zlib"), &err);
    if (cip_change_commit(&c, &err) == CIP_ERR_BUSY) /* does nothing if a call failed before */
        cip_change_abort(&c);

    float value = 0;
    cip_open(path, NULL, &f, &err);
    cip_read(cip_find(f, "dark/frame", &err), "[1, 2]", cip_dtype_of(CIP_F32), &value, sizeof value,
             &err);
    printf("%zu arrays, %g\n", cip_file_narray(f), value);
    cip_file_close(f);
    return err.code;
}
