/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes from anywhere: my own read-at, here over memory. */
#include <stdio.h>
#include <string.h>

#include "cippus/cippus.h"

static char bytes[1 << 16];
static size_t nbytes;

static cip_status my_reads(void *me, const cip_range *range, size_t n, cip_err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++)
        memcpy(range[i].dst, (const char *)me + range[i].offset, range[i].nbytes);
    return CIP_OK;
}

static cip_status my_size(void *me, uint64_t *n, cip_err *err)
{
    (void)me;
    (void)err;
    *n = nbytes;
    return CIP_OK;
}

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    FILE *in = fopen(argc > 1 ? argv[1] : "", "rb");
    if (in == NULL)
        return 1;
    nbytes = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    const cip_io_methods mine = { CIP_IO_METHODS_INIT, .read_ranges = my_reads, .size = my_size };
    cip_open_io(&mine, bytes, NULL, &f, &err);
    printf("%s, %zu arrays\n", cip_file_format(f), cip_file_narray(f));
    cip_file_close(f);
    return err.code;
}
