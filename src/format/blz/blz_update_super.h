/* SPDX-License-Identifier: BSD-3-Clause
 * What the files of updates of superchunks share with each other and nobody else. */
#ifndef CIP_FORMAT_BLZ_UPDATE_SUPER_H
#define CIP_FORMAT_BLZ_UPDATE_SUPER_H

#include "format/blz/blz_update.h"

/* A superchunk that is there. */
typedef struct cip_super_old {
    cip_bp_file *f;
    char name[CIP_IO_NUMBER_NAME]; /* beneath the folder */
    bool offsets;                  /* which are all known */
    uint64_t stored;               /* chunks that it holds, the array's or not */
} cip_super_old;

typedef struct cip_super_work {
    cip_blz_update *u;
    cip_blz_column *c;
    const cip_chunk_changes *chunks;
    const cip_bp_how *how; /* of new ones */
    cip_revision *r;
    uint64_t was, n; /* chunks of the column before and now */
    uint64_t rows;   /* now */
    int64_t *delta;  /* of the bytes of all chunks */
    /* Of columns whose superchunks hold any number: */
    size_t nused;     /* superchunks that hold rows of the array */
    uint64_t nominal; /* chunks of those that come */
    bool has_like;
    cip_blz_super_how like; /* of those that come, once it is known */
} cip_super_work;

/* A superchunk's chunks, those of the array: [first, was) before, [first, n) now. */
typedef struct cip_super_range {
    uint64_t number, first, was, n;
} cip_super_range;

/* Where one chunk comes from. */
typedef struct cip_super_piece {
    bool is_new;
    cip_io *io;
    uint64_t off, len; /* of the chunk */
    uint64_t raw_len;
    cip_sum_id sum;              /* of one that is stored: the kind of the digest behind it */
    uint8_t digest[CIP_SUM_MAX]; /* of a new one, as it is stored */
} cip_super_piece;

/* Where the member lies beneath the folder. UNSUPPORTED for one in a shard outside. */
cip_status cip_super_member_name(const cip_super_work *w, uint64_t member,
                                 char name[CIP_IO_NUMBER_NAME], cip_err *err);
/* The column's j-th superchunk that is there. */
cip_status cip_super_open_old(const cip_super_work *w, size_t j, cip_super_old *s, cip_err *err);
/* One past chunk k with its digest, for which its head is read; and how many bytes are free from
 * there on, to the next chunk or the end of the file. */
cip_status cip_super_chunk_end(const cip_bp_file *f, uint64_t k, uint64_t *end, cip_err *err);
uint64_t cip_super_room_behind(const cip_bp_file *f, uint64_t k, uint64_t end);
/* Bytes that are free behind each of its chunks, for which all heads are read. */
cip_status cip_super_spare(const cip_super_work *w, const cip_super_old *s, uint64_t *spare,
                           cip_err *err);
/* The column's chunk i, of superchunk r; s NULL: that is not there yet. */
cip_status cip_super_piece_of(const cip_super_work *w, const cip_super_old *s,
                              const cip_super_range *r, uint64_t i, cip_super_piece *p,
                              cip_err *err);
/* Takes the digest of a new one from its bytes. */
cip_status cip_super_digest(const cip_super_work *w, cip_sum_id sum, cip_super_piece *p,
                            cip_err *err);
/* Adds the chunk and its digest. */
cip_status cip_super_add_piece(const cip_super_work *w, cip_sum_id sum, cip_super_piece *p,
                               cip_revision *as, cip_err *err);
/* The header's fields that follow from the chunks; -1 stays. */
void cip_super_set_counts(const cip_super_work *w, uint8_t *head, uint64_t n, uint64_t last);
enum { CIP_SUPER_AT_COUNTS = 8, CIP_SUPER_COUNTS = 16 /* bytes of these fields */ };
/* UNSUPPORTED for a file that would be too long to be read. */
cip_status cip_super_check_size(const cip_revision *as, cip_err *err);
/* A new file in place of the old one; one that comes. */
cip_status cip_super_replace(const cip_super_work *w, const cip_super_old *s,
                             const cip_super_range *r, cip_err *err);
cip_status cip_super_make(cip_super_work *w, const cip_super_range *r, cip_err *err);

#endif
