/* SPDX-License-Identifier: BSD-3-Clause
 * A file by descriptor as an output: written at its end in pieces of some size, rewritten, cut and
 * moved. */
#ifndef CIP_CORE_FILE_OUT_H
#define CIP_CORE_FILE_OUT_H

#include "base/mem.h"
#include "io/out.h"

typedef struct cip_file_out {
    cip_out out;
    cip_mem *mem;
    int fd;           /* -1: closed for now; `reopen` opens it */
    uint64_t at;      /* the file's end, where the next write goes */
    uint8_t *waiting; /* bytes before it that were not written yet: trees come in small pieces */
    size_t nwaiting;
    /* Optional: called before the file is written while it is closed. */
    cip_status (*reopen)(struct cip_file_out *f, cip_err *err);
} cip_file_out;

/* A new, empty file. `mem` must outlive it; the descriptor stays the caller's. */
void cip_file_out_init(cip_file_out *f, cip_mem *mem, int fd);
/* All that was written is in the file, and nothing is kept in memory. */
cip_status cip_file_out_flush(cip_file_out *f, cip_err *err);
void cip_file_out_clear(cip_file_out *f);

#endif
