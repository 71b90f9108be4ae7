/* SPDX-License-Identifier: BSD-3-Clause
 * The fake file: bytes, a layout over them, and a random choice of everything. */
#include "support/fake/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "space/sequential/checkpoints.h"
#include "space/read/far.h"

void fake_must(cip_status st, const cip_err *err, const char *file, int line)
{
    if (st == CIP_OK)
        return;
    fprintf(stderr, "%s:%d: %s (%s): %s\n", file, line, cip_status_name(st), err->part, err->text);
    abort();
}

void fake_open(fake *f, uint64_t seed, cip_pool *pool, const cip_limits *limits)
{
    fake_open_from(f, seed, pool, limits, NULL);
}

void fake_open_from(fake *f, uint64_t seed, cip_pool *pool, const cip_limits *limits,
                    const cip_allocator *from)
{
    memset(f, 0, sizeof *f);
    f->rng = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    f->tuning = cip_tuning_default;
    f->file = mmap(NULL, FAKE_FILE_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (f->file == MAP_FAILED) /* which costs only the pages that are used */
        abort();
    FAKE_MUST(cip_env_init(&f->env, limits, from, pool, err));
    FAKE_MUST(cip_io_open_memory(&f->env, f->file, FAKE_FILE_MAX, "fake", &f->io, err));
    FAKE_MUST(cip_layout_new(&f->env, f->io, &f->layout, err));
    f->layout->tuning = &f->tuning;
    f->how = (cip_read_how){ f->layout, pool };
}

void fake_close(fake *f)
{
    cip_layout_free(f->layout);
    cip_io_close(f->io);
    cip_env_clear(&f->env);
    if (atomic_load(&f->env.mem.used) != 0) {
        fprintf(stderr, "%zu bytes are left\n", (size_t)atomic_load(&f->env.mem.used));
        abort();
    }
    for (size_t i = 0; i < f->nkept; i++)
        free(f->kept[i]);
    free(f->kept);
    munmap(f->file, FAKE_FILE_MAX);
}

/* xorshift64* */
uint64_t fake_next(fake *f)
{
    f->rng ^= f->rng >> 12;
    f->rng ^= f->rng << 25;
    f->rng ^= f->rng >> 27;
    return f->rng * UINT64_C(0x2545F4914F6CDD1D);
}

uint64_t fake_pick(fake *f, uint64_t lo, uint64_t hi)
{
    return lo + (fake_next(f) >> 11) % (hi - lo + 1);
}

bool fake_chance(fake *f, unsigned in)
{
    return fake_pick(f, 1, in) == 1;
}

void *fake_keep(fake *f, size_t n)
{
    if ((f->nkept & (f->nkept - 1)) == 0) {
        size_t cap = f->nkept == 0 ? 1 : 2 * f->nkept;
        void **more = realloc(f->kept, cap * sizeof *more);
        if (more == NULL)
            abort();
        f->kept = more;
    }
    void *p = calloc(1, n == 0 ? 1 : n);
    if (p == NULL)
        abort();
    f->kept[f->nkept++] = p;
    return p;
}

uint8_t *fake_random(fake *f, size_t n)
{
    uint8_t *p = fake_keep(f, n);
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(fake_next(f) >> 32);
    return p;
}

uint64_t fake_append(fake *f, const void *p, size_t n)
{
    size_t at = f->file_len;
    if (n > FAKE_FILE_MAX - at)
        abort();
    if (n != 0)
        memcpy(f->file + at, p, n);
    f->file_len += n;
    return at;
}

void fake_tiny_tuning(fake *f)
{
    f->tuning = (cip_tuning){
        .large = (size_t)fake_pick(f, 1, 400),
        .piece = (size_t)fake_pick(f, 1, 200),
        .job_wants = (size_t)fake_pick(f, 1, 8),
        .near = (size_t)fake_pick(f, 1, 64),
        .together = (size_t)fake_pick(f, 1, 300),
        .buffer = (size_t)fake_pick(f, 1, 300),
        .direct = (size_t)fake_pick(f, 1, 500),
        .runs = (size_t)fake_pick(f, 1, 20),
        .long_run = (size_t)fake_pick(f, 1, 100),
        .gap = (size_t)fake_pick(f, 1, 50),
        .job = (size_t)fake_pick(f, 1, 1000),
        .call = (size_t)fake_pick(f, 1, 100),
        .memory_job = (size_t)fake_pick(f, 1, 300),
        .batch_min = (size_t)fake_pick(f, 1, 3),
        .batch_max = (size_t)fake_pick(f, 1, 10),
        .bytes_for_job = fake_pick(f, 1, 100),
        .run_max = fake_pick(f, 1, 300),
        .long_copy = (size_t)fake_pick(f, 1, 200),
        .pieces = (size_t)fake_pick(f, 1, 64),
        .pieces_nbytes = fake_pick(f, 1, 500),
        .run_work = fake_pick(f, 1, 64),
        .grid_pieces = (size_t)fake_pick(f, 1, 200),
        .points = (size_t)fake_pick(f, 1, 20),
        .seq_in = (size_t)fake_pick(f, 1, 100),
        .seq_skip = (size_t)fake_pick(f, 1, 100),
        .stream_min = fake_pick(f, 1, 100),
        .stream_max = fake_pick(f, 100, 1000),
        .checkpoint_gap = fake_pick(f, 8, 100),
        .checkpoint_bytes = fake_pick(f, 1, 3) << 16,
        .checkpoint_jump = fake_pick(f, 0, 50),
        .batch = (size_t)fake_pick(f, 1, 500),
        .batch_most = (size_t)fake_pick(f, 1, 20),
        .share = 4,
        .tiles = fake_pick(f, 1, 500),
        .far_least = fake_pick(f, 1, 100),
        .far_gap = fake_pick(f, 1, 50),
        .far_join = fake_pick(f, 0, 50),
        .far_kept = fake_pick(f, 1, 2000),
        .far_in_order = fake_pick(f, 1, 500),
    };
    cip_checkpoints_free(f->layout->checkpoints);
    FAKE_MUST(cip_checkpoints_new(&f->env, f->tuning.checkpoint_bytes, f->tuning.checkpoint_gap,
                                  &f->layout->checkpoints, err));
}

void fake_be_far(fake *f)
{
    f->io->far = true;
    FAKE_MUST(cip_far_new(&f->env, f->io, &f->tuning, &f->layout->far, err));
}
