/* SPDX-License-Identifier: BSD-3-Clause
 * No copy, where the file allows it; otherwise the reason. */
#include <stdio.h>

#include "cippus/cippus.h"

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    cip_open(argc > 1 ? argv[1] : "", NULL, &f, &err);
    const float *p = (const float *)cip_view(cip_find(f, "", &err), &err);
    if (p != NULL)
        printf("%g %g\n", p[2], p[3]);
    else
        puts(err.text);
    cip_file_close(f);
    return 0;
}
