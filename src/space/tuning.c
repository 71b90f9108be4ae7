/* SPDX-License-Identifier: BSD-3-Clause
 * Sizes that measured well on two cores with 2 MiB of second-level cache each: a job's bytes stay
 * in it, and a job is long against waking a thread (about 10 us). */
#include "space/tuning.h"

const cip_tuning cip_tuning_default = {
    .large = 2 << 20,
    .piece = 4 << 20,
    .job_wants = 256,
    .near = 4096,
    .together = 64 << 10,
    .stage = 512 << 10,
    .direct = 8 << 20,
    .runs = CIP_TUNE_RUNS_MAX,
    .long_run = 4096,
    .gap = 4096,
    .job = 1 << 20,
    .call = 2048,
    .memory_job = 512 << 10,
    .batch_min = 16,
    .batch_max = 512,
    .bytes_for_job = 64 << 10,
    .run_max = 16 << 20,
    .long_copy = 64 << 10,
    .pieces = 1024,
    .pieces_nbytes = 1 << 20,
    .grid_pieces = 1 << 16,
    .points = 1 << 14,
    .seq_in = 256 << 10,
    .seq_skip = 64 << 10,
    .stream_min = 1 << 20,
    .stream_max = 16 << 20,
    .checkpoint_gap = 1 << 20,
    .checkpoint_bytes = 64 << 20,
    .checkpoint_jump = 128 << 10,
    .batch = 1 << 20,
    .batch_most = 64,
    .tiles = 64 << 20,
};
