/* SPDX-License-Identifier: BSD-3-Clause
 * Journals: whatever decodes is written back the same, and shows as an overlay. */
#include <stdlib.h>
#include <string.h>

#include "io/patch.h"

static void require(bool ok)
{
    if (!ok)
        abort();
}

/* Reads all of a short file of zeros seen through the patch. */
static void read_overlay(cip_env *env, const cip_patch *p)
{
    static const uint8_t zeros[4096];
    static uint8_t out[65536];
    cip_io *under = NULL, *io = NULL;
    if (p->old_len > sizeof zeros || p->new_len > sizeof out)
        return;
    require(cip_io_open_memory(env, zeros, p->old_len, "zeros", &under, NULL) == CIP_OK);
    if (cip_io_open_overlay(under, p, &io, NULL) == CIP_OK) {
        require(io->size == p->new_len);
        require(cip_io_read(io, 0, out, (size_t)io->size, NULL) == CIP_OK);
    }
    cip_io_close(io);
    cip_io_close(under);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cip_env env;
    uint64_t device, inode;
    cip_limits limits = CIP_LIMITS_INIT;
    limits.max_memory = 16 << 20;
    if (cip_env_init(&env, &limits, NULL, NULL, NULL) != CIP_OK)
        return 0;
    cip_patch p = { .arena = { .mem = &env.mem } };
    cip_buf again = { .mem = &env.mem };
    if (cip_journal_decode((cip_bytes){ data, size }, &p, &device, &inode, NULL) == CIP_OK) {
        require(cip_journal_encode(&p, device, inode, &again, NULL) == CIP_OK);
        require(again.len == size && memcmp(again.ptr, data, size - 16) == 0);
        read_overlay(&env, &p);
    }
    cip_buf_clear(&again);
    cip_patch_clear(&p);
    cip_env_clear(&env);
    require(env.mem.used == 0);
    return 0;
}
