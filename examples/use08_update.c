/* SPDX-License-Identifier: BSD-3-Clause
 * Update in place, crash-safe: the file shows the old state or the new one, never a mixture. */
#include <inttypes.h>
#include <stdio.h>

#include "cippus/cippus.h"

static float image[64][64];

static void make_file(const char *path, cip_err *err)
{
    cip_change *c;
    const int64_t shape[] = { 64, 64 };
    cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &c, err);
    cip_change_set_string(c, "meta/quality", "not looked at", err);
    cip_change_put(c, "image", cip_dtype_of(CIP_F32), 2, shape, image, NULL, err);
    cip_change_commit(&c, err);
}

int main(int argc, char **argv)
{
    static const float fixed[10][64] = { { 1 }, { 2 } };
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    cip_change *c;
    const char *path = argc > 1 ? argv[1] : "out.asdf";
    make_file(path, &err);
    cip_open(path, NULL, &f, &err);
    cip_change_begin(f, NULL, &c, &err);
    cip_change_set_string(c, "meta/quality", "good", &err);
    cip_change_write(c, "image", "[0:10]", cip_dtype_of(CIP_F32), fixed, sizeof fixed, &err);
    if (cip_change_commit(&c, &err) == CIP_ERR_BUSY)
        cip_change_abort(&c); /* or commit it again, when readers are gone */

    const char *quality = "";
    float column[3] = { 0 };
    cip_file_refresh(f, NULL, &err); /* the new state */
    cip_tree_get_string(cip_file_tree(f), "meta/quality", &quality, &err);
    cip_read(cip_find(f, "image", &err), "[0:3, 0]", cip_dtype_as_stored(), column, sizeof column,
             &err);
    printf("%s: %g %g %g\n", quality, column[0], column[1], column[2]);
    cip_file_close(f);
    if (err.code != CIP_OK)
        fprintf(stderr, "%s\n", err.text);
    return err.code;
}
