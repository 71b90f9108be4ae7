/* SPDX-License-Identifier: BSD-3-Clause
 * A slice as float64 in my memory, whatever is stored and however it is compressed. */
#include <stdio.h>

#include "cippus/cippus.h"

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    double win[10][10];
    cip_open(argc > 1 ? argv[1] : "", NULL, &f, &err);
    cip_read(cip_find(f, "roman/data", &err), "[20:30, 40:50]", cip_dtype_of(CIP_F64), win,
             sizeof win, &err);
    printf("%s %.6f %.6f\n", cip_status_name((cip_status)err.code), win[0][0], win[9][9]);
    cip_file_close(f);
    return err.code;
}
