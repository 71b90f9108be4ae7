/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a zip archive: what is found lies in it, apart from everything else, and is found
 * again by its name, as a member of the archive as a folder too. */
#include <stdlib.h>
#include <string.h>

#include "io/zip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void check(cip_io *io, const cip_zip *z)
{
    for (size_t i = 0; i < z->n; i++) {
        const cip_zip_member *m = &z->at[i];
        uint64_t off = 0;
        require(cip_zip_find(z, m->name) == m);
        require(m->name[0] != '\0' && m->name[0] != '/' && strstr(m->name, "//") == NULL);
        require(m->header < m->end && m->end <= z->directory && z->directory <= io->size);
        for (size_t k = 0; k < z->n && k < 32; k++)
            require(k == i || z->at[k].header >= m->end || z->at[k].end <= m->header);
        if (cip_zip_data(io, m, &off, NULL) == CIP_OK)
            require(off > m->header && off <= m->end && m->stored <= m->end - off);
    }
}

static cip_status decode(cip_mem *mem, const cip_zip_member *m, const uint8_t *stored,
                         uint8_t *data, cip_err *err)
{
    (void)mem, (void)err;
    for (uint64_t i = 0; i < m->size; i++)
        data[i] = m->stored == 0 ? 0 : stored[i % m->stored];
    return CIP_OK;
}

static int look(void *user, const char *name, bool is_folder)
{
    cip_io *member;
    require(name[0] != '\0' && strchr(name, '/') == NULL);
    if (!is_folder && cip_io_open_beneath(user, name, 0, &member, NULL) == CIP_OK)
        cip_io_close(member);
    return 0;
}

static void check_folder(cip_io *of)
{
    cip_io *io;
    if (cip_io_open_zip(of, decode, &io, NULL) != CIP_OK)
        return;
    (void)cip_io_list(io, "", 0, look, io, NULL);
    (void)cip_io_list(io, "d", 0, look, io, NULL);
    cip_io_close(io);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cip_env env;
    cip_io *io;
    cip_zip z;
    if (cip_env_init(&env, NULL, NULL, NULL, NULL) != CIP_OK)
        return 0;
    cip_arena arena = { .mem = &env.mem };
    if (cip_io_open_memory(&env, data, size, "zip", &io, NULL) == CIP_OK &&
        cip_zip_read(io, &arena, &z, NULL) == CIP_OK) {
        check(io, &z);
        check_folder(io);
    }
    cip_arena_clear(&arena);
    cip_io_close(io);
    require(env.mem.used == 0);
    cip_env_clear(&env);
    return 0;
}
