/* SPDX-License-Identifier: BSD-3-Clause
 * The sizes by which a read decides how to go about it, and the making of chunks. They live with
 * the layout, so that tests can make them so small that a few hundred bytes take every way there
 * is. Private to src/space. */
#ifndef CIP_SPACE_TUNING_H
#define CIP_SPACE_TUNING_H

#include <stddef.h>
#include <stdint.h>

enum { CIP_TUNE_RUNS_MAX = 512 }; /* the largest `runs` */

/* Bytes unless said otherwise; none but `gap` is 0. */
typedef struct cip_tuning {
    /* spans of files and memory */
    size_t large;     /* a span worth sharing out */
    size_t piece;     /* of it, to a job */
    size_t job_wants; /* small spans in a job (a number) */
    size_t near;      /* spans smaller than this with gaps up to this are read together ... */
    size_t together;  /* ... as long as they span no more than this */
    /* far files: a request costs far more than its bytes */
    uint64_t far_least;    /* read for a range of less: heads and tables lie together */
    uint64_t far_gap;      /* between two ranges that are read as one */
    uint64_t far_join;     /* the same of ranges whose data are wanted now */
    uint64_t far_whole;    /* between the heads of two chunks of which most is wanted */
    uint64_t far_kept;     /* of all that was read ahead */
    uint64_t far_in_order; /* of one request for data decoded in order */
    /* tiles of elements */
    size_t buffer;     /* staged by a thread */
    size_t direct;     /* read by a job straight to the destination */
    size_t runs;       /* runs in one request (a number, at most CIP_TUNE_RUNS_MAX) */
    size_t long_run;   /* a run worth a request of its own */
    size_t gap;        /* no dearer to read than another request */
    size_t job;        /* work that is worth a job */
    size_t call;       /* work that a request is as dear as */
    size_t memory_job; /* written by a job that has its source in memory */
    /* chunks */
    size_t batch_min, batch_max;     /* chunks found before they are read (numbers) */
    uint64_t bytes_for_job;          /* wanted bytes that raise the one towards the other by one */
    uint64_t run_max;                /* of special chunks in one job */
    size_t long_copy;                /* a run of a chunked space that is copied by spans */
    size_t pieces;                   /* of a chunk read for themselves (a number) */
    uint64_t pieces_nbytes;          /* in all */
    uint64_t run_work;               /* put in order in the time that a run more takes */
    size_t grid_pieces;              /* of a grid sorted by chunk at once (a number) */
    size_t points;                   /* scattered elements read at once (a number) */
    size_t seq_in, seq_skip;         /* input and passed-over output of a sequential decoder */
    uint64_t stream_min, stream_max; /* buffer of cip_space_stream */
    uint64_t checkpoint_gap;         /* raw bytes between two checkpoints of data in order */
    uint64_t checkpoint_bytes;       /* held by all checkpoints of a file */
    uint64_t checkpoint_jump;        /* passed over rather than begun anew behind them */
    /* writing */
    size_t batch;      /* of chunks that a thread makes at once, if they are small ... */
    size_t batch_most; /* ... but no more than so many (a number) */
    size_t share;      /* part of the memory for a batch, and for what is cut (a divisor) */
    uint64_t tiles;    /* of n-d chunks that are cut; more waits in a temporary file */
} cip_tuning;

extern const cip_tuning cip_tuning_default;

#endif
