/* SPDX-License-Identifier: BSD-3-Clause
 * Journals: whatever decodes is written back the same, and shows as an overlay, members too. */
#include <stdlib.h>
#include <string.h>

#include "io/io_impl.h"

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

/* --- members: short files of zeros, whatever their names -------------------------------------- */

static cip_status read_zeros(void *user, const cip_range *r, size_t n, cip_err *err)
{
    (void)user;
    (void)err;
    for (size_t i = 0; i < n; i++)
        memset(r[i].dst, 0, r[i].nbytes);
    return CIP_OK;
}

static cip_status size_of_zeros(void *user, uint64_t *nbytes, cip_err *err)
{
    (void)user;
    (void)err;
    *nbytes = 100;
    return CIP_OK;
}

static cip_status open_zeros(void *user, const char *name, cip_io_methods *m, void **member,
                             cip_err *err)
{
    (void)user;
    (void)name;
    (void)err;
    *m = (cip_io_methods){ CIP_IO_METHODS_INIT, .read_ranges = read_zeros, .size = size_of_zeros };
    *member = NULL;
    return CIP_OK;
}

static void read_member(cip_io *over, const char *name)
{
    static uint8_t out[65536];
    cip_io *member;
    size_t n;
    if (cip_io_open_beneath(over, name, 0, &member, NULL) != CIP_OK)
        return;
    require(cip_io_read_some(member, 0, out, sizeof out, &n, NULL) == CIP_OK);
    cip_io_close(member);
}

static void read_members(cip_env *env, const cip_patch *p)
{
    const cip_io_methods folder = { CIP_IO_METHODS_INIT, .read_ranges = read_zeros,
                                    .size = size_of_zeros, .open_member = open_zeros };
    cip_io *under = NULL, *io = NULL;
    require(cip_io_open_user(env, &folder, NULL, &under, NULL) == CIP_OK);
    cip_patch on_zeros = *p;
    on_zeros.new_len = cip_patch_size_after(p, under->size);
    if (cip_io_open_overlay(under, &on_zeros, &io, NULL) == CIP_OK)
        for (size_t i = 0; i < p->n && i < 50; i++) {
            read_member(io, p->op[i].member);
            read_member(io, p->op[i].to);
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
        read_members(&env, &p);
    }
    cip_buf_clear(&again);
    cip_patch_clear(&p);
    cip_env_clear(&env);
    require(env.mem.used == 0);
    return 0;
}
