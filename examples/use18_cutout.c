/* SPDX-License-Identifier: BSD-3-Clause
 * A window of an open array, cast, streamed into a new file in memory. */
#include <inttypes.h>
#include <stdio.h>

#include "cippus/cippus.h"

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f, *cut;
    cip_change *c;
    cip_memory *out;
    cip_open(argc > 1 ? argv[1] : "night.asdf", NULL, &f, &err);
    cip_create_memory("asdf", NULL, &out, &c, &err);
    cip_change_put_array(c, "cutout", cip_find(f, "image", &err),
                         CIP_READ_ARGS(.slices = CIP_SELECT(CIP_RANGE(0, 32), CIP_RANGE(0, 16)),
                                       .dtype = cip_dtype_of(CIP_F64)),
                         NULL, &err);
    cip_change_commit(&c, &err);
    cip_file_close(f);

    double first[2] = { 0 };
    size_t nbytes = 0;
    const void *bytes = cip_memory_bytes(out, &nbytes);
    cip_open_memory(bytes, nbytes, NULL, &cut, &err);
    const cip_array *a = cip_find(cut, "cutout", &err);
    cip_read(a, "[0, :2]", cip_dtype_as_stored(), first, sizeof first, &err);
    if (a != NULL)
        printf("%s [%" PRId64 ", %" PRId64 "]: %.3f %.3f\n", cip_dtype_name(cip_array_dtype(a)),
               cip_array_shape(a)[0], cip_array_shape(a)[1], first[0], first[1]);
    cip_file_close(cut);
    cip_memory_free(out);
    return err.code;
}
