/* SPDX-License-Identifier: BSD-3-Clause
 * The full form of reading: a field, a mask, a strided destination. */
#include <inttypes.h>
#include <stdio.h>

#include "cippus/cippus.h"

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    float flux[3] = { 0, 0, 0 };
    double value[6][4]; /* transposed while reading */
    uint8_t missing[24];
    const int64_t strides[] = { sizeof(double), 4 * sizeof(double) };
    cip_open(argc > 1 ? argv[1] : "", NULL, &f, &err);
    cip_read_into(cip_find(f, "stars", &err),
                  CIP_READ_ARGS(.selection = "[::2]", .field = "flux", .dst = flux,
                                .dst_nbytes = sizeof flux),
                  &err);
    cip_read_into(cip_find(f, "masked", &err),
                  CIP_READ_ARGS(.dtype = cip_dtype_of(CIP_F64), .dst = value,
                                .dst_nbytes = sizeof value, .strides = strides, .mask = missing,
                                .threads = 4),
                  &err);
    printf("%g %g %g; %g %d %d\n", flux[0], flux[1], flux[2], value[5][3], missing[0], missing[1]);
    cip_file_close(f);
    return err.code;
}
