/* SPDX-License-Identifier: BSD-3-Clause
 * Blocks as they are: headers, stored and decoded bytes, for tools. */
#include <inttypes.h>
#include <stdio.h>

#include "cippus/cippus.h"

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    uint8_t first[2][4];
    cip_open(argc > 1 ? argv[1] : "", NULL, &f, &err);
    for (size_t i = 0; i < cip_file_nblock(f); i++) {
        const cip_block_info *b = cip_file_block(f, i);
        cip_block_read(f, i, true, 0, first[0], 4, &err);
        cip_block_read(f, i, false, 0, first[1], 4, &err);
        printf("%s %" PRIu64 " %02x%02x %02x%02x\n", b->codec, b->decoded_nbytes, first[0][0],
               first[0][1], first[1][0], first[1][1]);
    }
    cip_file_close(f);
    return err.code;
}
