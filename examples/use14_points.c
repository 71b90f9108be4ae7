/* SPDX-License-Identifier: BSD-3-Clause
 * Scattered elements in one call. */
#include <inttypes.h>
#include <stdio.h>

#include "cippus/cippus.h"

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    const int64_t coords[] = { 0, 0, 63, 95, -1, -1, 10, 20 };
    float values[4];
    cip_open(argc > 1 ? argv[1] : "", NULL, &f, &err);
    cip_read_points(cip_find(f, "counts", &err), 4, coords, cip_dtype_of(CIP_F32), values, &err);
    printf("%g %g %g %g\n", values[0], values[1], values[2], values[3]);
    cip_file_close(f);
    return err.code;
}
