/* SPDX-License-Identifier: BSD-3-Clause
 * List every array of a file of any format. */
#include <inttypes.h>
#include <stdio.h>

#include "cippus/cippus.h"

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    cip_open(argc > 1 ? argv[1] : "", NULL, &f, &err);
    for (size_t i = 0; i < cip_file_narray(f); i++) {
        const cip_array *a = cip_file_array(f, i);
        printf("%s %s", cip_array_path(a), cip_dtype_name(cip_array_dtype(a)));
        for (int d = 0; d < cip_array_ndim(a); d++)
            printf(" %" PRId64, cip_array_shape(a)[d]);
        puts("");
    }
    cip_file_close(f);
    if (err.code != CIP_OK)
        fprintf(stderr, "%s\n", err.text); /* the first error of all calls above */
    return err.code;
}
