/* SPDX-License-Identifier: BSD-3-Clause
 * Convert with progress. */
#include <inttypes.h>
#include <stdio.h>

#include "cippus/cippus.h"

static int on_progress(void *user, uint64_t done, uint64_t total)
{
    *(uint64_t *)user = done;
    return done > total; /* nonzero would stop it */
}

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    uint64_t done = 0;
    if (argc < 3)
        return 2;
    cip_convert(argv[1], argv[2],
                CIP_CONVERT_OPTIONS(.path = "roman/data", .accept_loss = true, .overwrite = true,
                                    .progress = on_progress, .user = &done),
                &err);
    printf("%s, %" PRIu64 " bytes\n", cip_status_name((cip_status)err.code), done);
    return err.code;
}
