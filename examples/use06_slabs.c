/* SPDX-License-Identifier: BSD-3-Clause
 * Larger than memory: declare, then fill by boxes, from as many threads as one likes. */
#include <stdio.h>

#include "cippus/cippus.h"

static uint16_t buffer[128][128];

static const void *plane(int64_t z)
{
    for (int y = 0; y < 128; y++)
        for (int x = 0; x < 128; x++)
            buffer[y][x] = (uint16_t)(z * 1000 + y + x);
    return buffer;
}

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *c;
    cip_slab *s;
    cip_file *f;
    const int64_t shape[] = { 50, 128, 128 };
    const char *path = argc > 1 ? argv[1] : "cube.asdf";
    cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &c, &err);
    cip_change_declare(c, "cube", cip_dtype_of(CIP_U16), 3, shape,
                       CIP_ARRAY_OPTIONS(.codec = "zlib"), &s, &err);
    for (int64_t z = 0; z < 50; z++)
        cip_slab_write(s, CIP_BOX({ z, 0, 0 }, { z + 1, 128, 128 }), plane(z), sizeof buffer, &err);
    cip_change_commit(&c, &err);

    uint16_t corner[2] = { 0, 0 };
    cip_open(path, NULL, &f, &err);
    cip_read(cip_find(f, "cube", &err), "[49, 127, -2:]", cip_dtype_as_stored(), corner,
             sizeof corner, &err);
    printf("%s %d %d\n", cip_status_name((cip_status)err.code), corner[0], corner[1]);
    cip_file_close(f);
    return err.code;
}
