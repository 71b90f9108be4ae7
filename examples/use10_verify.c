/* SPDX-License-Identifier: BSD-3-Clause
 * Verify with findings. */
#include <stdio.h>

#include "cippus/cippus.h"

static int on_finding(void *user, const cip_finding *f)
{
    *(int *)user += f->severity >= CIP_WARN;
    printf("%s: %s\n", f->part, f->text);
    return 0;
}

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    int nbad = 0;
    cip_verify(argc > 1 ? argv[1] : "",
               CIP_VERIFY_OPTIONS(.deep = true, .on_finding = on_finding, .user = &nbad), &err);
    printf("%s, %d findings\n", cip_status_name((cip_status)err.code), nbad);
    return err.code;
}
