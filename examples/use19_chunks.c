/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks as they are stored: for tools that index, move or serve them. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cippus/cippus.h"

static void index_entry(const cip_chunk_info *c)
{
    for (int k = 0; k < c->ndim; k++)
        printf("%s%" PRId64 ":%" PRId64, k == 0 ? "[" : ", ", c->box.start[k], c->box.stop[k]);
    printf("] %s at %" PRIu64 ", %" PRIu64 " bytes, %s%s\n",
           c->member[0] != '\0' ? c->member : "here", c->offset, c->stored_nbytes, c->codec,
           c->state == CIP_CHUNK_MISSING ? ", missing" : "");
}

static int on_chunk(void *user, const cip_chunk_info *c)
{
    (void)user;
    printf("chunk %" PRIu64 " is touched\n", c->index);
    return 0;
}

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    static char stored[1 << 20], decoded[1 << 20];
    size_t nstored = 0, ndecoded = 0;
    cip_open(argc > 1 ? argv[1] : "", NULL, &f, &err);
    const cip_array *a = cip_find(f, "", &err);

    cip_chunk_info c;
    uint64_t nchunk = 0;
    memset(&c, 0, sizeof c);
    c.size = sizeof c;
    cip_chunk_count(a, &nchunk, &err);
    for (uint64_t i = 0; i < nchunk && cip_chunk_at(a, i, &c, &err) == CIP_OK; i++)
        index_entry(&c);

    cip_chunk_iter(a, "[5, 10:20, 3]", on_chunk, NULL, &err);
    cip_chunk_read(a, 0, true, stored, sizeof stored, &nstored, &err);
    cip_chunk_read(a, 0, false, decoded, sizeof decoded, &ndecoded, &err);
    printf("%zu bytes decode to %zu\n", nstored, ndecoded);
    cip_file_close(f);
    return err.code;
}
