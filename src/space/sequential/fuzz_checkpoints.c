/* SPDX-License-Identifier: BSD-3-Clause
 * Files of checkpoints beside data of zlib and bzip2: whatever loads gives only checkpoints that
 * the data bear out or none, and reading goes on without crashing. The first byte says whether the
 * digests are made right first, so that what lies behind them is reached. */
#include <stdlib.h>
#include <string.h>

#include "codec/checksum/checksum.h"
#include "space/read/reader.h"
#include "space/sequential/sidecar.h"

enum { STORED = 2048, RAW = 65536, SUM = 16 };

static void require(bool ok)
{
    if (!ok)
        abort();
}

static void seal(cip_env *env, uint8_t *p, size_t n)
{
    cip_sum *sum;
    if (n < 40 + SUM || cip_sum_new(&env->mem, CIP_SUM_XXH3_128, &sum, NULL) != CIP_OK)
        return;
    for (int i = 0; i < 8; i++)
        p[16 + i] = (uint8_t)(i < 4 ? n >> (8 * i) : 0);
    cip_sum_add(sum, p, n - SUM);
    cip_sum_take(sum, p + n - SUM);
    cip_sum_free(sum);
}

/* A space of stored bytes that are the file's; read by what checkpoints there are. */
static void use(cip_layout *l, const char *codec)
{
    uint8_t out[16];
    cip_space *s;
    cip_step step = { .codec = cip_codec_find(codec) };
    cip_extent at = { l->file, 0, STORED };
    const cip_read_how how = { .layout = l };
    require(cip_space_new_seq(l, &at, RAW, &step, &s, NULL) == CIP_OK);
    for (uint64_t off = RAW - 100; off > 20000; off /= 2)
        cip_space_read_at(&how, s, off, out, sizeof out, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static uint8_t stored[STORED];
    cip_env env;
    cip_io *io = NULL, *beside = NULL;
    cip_layout *l = NULL;
    cip_limits limits = CIP_LIMITS_INIT;
    limits.max_memory = 16 << 20;
    limits.max_cache = 1024;
    if (size == 0 || cip_env_init(&env, &limits, NULL, NULL, NULL) != CIP_OK)
        return 0;
    uint8_t *copy = malloc(size);
    if (copy != NULL) {
        memcpy(copy, data + 1, size - 1);
        if (data[0] & 1)
            seal(&env, copy, size - 1);
        require(cip_io_open_memory(&env, stored, STORED, "file", &io, NULL) == CIP_OK);
        require(cip_io_open_memory(&env, copy, size - 1, "checkpoints", &beside, NULL) == CIP_OK);
        require(cip_layout_new(&env, io, &l, NULL) == CIP_OK);
        if (cip_sidecar_load(&env, beside, STORED, &l->sidecar, NULL) == CIP_OK) {
            use(l, "zlib");
            use(l, "bzip2");
        }
    }
    cip_layout_free(l);
    cip_io_close(beside);
    cip_io_close(io);
    free(copy);
    cip_env_clear(&env); /* with warnings of checkpoints that are stale */
    require(env.mem.used == 0);
    return 0;
}
