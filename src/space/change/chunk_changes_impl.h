/* SPDX-License-Identifier: BSD-3-Clause
 * The inside of the chunks of an array as an update leaves them. Private to src/space. */
#ifndef CIP_SPACE_CHUNK_CHANGES_IMPL_H
#define CIP_SPACE_CHUNK_CHANGES_IMPL_H

#include "space/change/chunk_changes.h"
#include "space/make/chunk_make.h"

/* Chunks i, i + 1, ..., `run` of them, that are alike: as they were stored, special, or one or
 * several of the same bytes. */
typedef struct cip_chunk_run {
    uint64_t i, run;
    uint64_t from;        /* KEPT: chunk i's number; UINT64_MAX: they are new */
    uint64_t off, len;    /* DATA: where its bytes lie */
    uint64_t raw_len;     /* decoded bytes of each */
    const uint8_t *value; /* VALUE */
    const uint8_t *sum;   /* or NULL */
    uint8_t state;
    bool plain;  /* DATA: without the form's steps */
    bool raw;    /* DATA: in the file of elements, not in that of finished chunks */
    bool shared; /* the bytes are those of other runs too */
} cip_chunk_run;

/* Runs in rising order, without gaps. */
typedef struct cip_chunk_runs {
    cip_chunk_run *at;
    size_t n, cap;
} cip_chunk_runs;

struct cip_chunk_changes {
    cip_layout *layout;
    cip_mem *mem;
    cip_arena arena; /* values and sums */
    cip_read_how how;
    const cip_array *array;
    cip_array seen; /* an array as it is now */
    cip_err why;    /* of one that cannot be seen */
    bool whole;     /* the array is all of the chunks */
    bool bytes;     /* the form's BYTES: runs count bytes, and are the table of `now` */
    bool apart;     /* cip_chunk_changes_apart; elems are those of what it was made from */
    bool reshaped;
    cip_array_form form;
    cip_grid grid;
    int64_t shape[CIP_MAX_NDIM];
    cip_space *was, *now;              /* the chunks; of `now` the table is `runs` */
    cip_io *elems;                     /* chunks as their steps take them, new bytes */
    cip_io *linear;                    /* linear bytes as they are now; or NULL */
    cip_io *finished;                  /* borrowed */
    cip_space *in_elems, *in_finished; /* as spaces, as long as the files are */
    cip_chunk_runs runs, next;         /* next: of the change under way */
    uint64_t zeros; /* where a chunk of zeros lies in elems; UINT64_MAX: nowhere yet */
    uint64_t zeros_len;
    bool reshapes; /* the change under way makes all runs anew */
    uint64_t made; /* how often runs, or bytes that they have, became others */
    /* Where what changes is kept; NULL: nowhere. As the file of elements was when the newest mark
     * was set, and when the call under way first touched this: what lies below `floor` may be
     * wanted back, what lies below `before` is not this call's. */
    cip_undo *undo;
    uint64_t mark, call;
    uint64_t floor, before;
    /* Chunks of a grid as the steps take them. */
    cip_array_form bare; /* the form without steps */
    cip_chunk_maker maker;
    cip_chunk_work work;
};

/* The run that chunk i is in. */
cip_chunk_run *cip_chunk_run_of(const cip_chunk_changes *c, uint64_t i);
/* Whether the run's bytes are its own, to be changed where they lie. */
static inline bool cip_chunk_run_is_own(const cip_chunk_changes *c, const cip_chunk_run *r)
{
    return r->from == UINT64_MAX && r->raw && !r->shared && r->off >= c->floor;
}
/* Before anything changes in a call. */
cip_status cip_chunk_changes_begin(cip_chunk_changes *c, cip_err *err);
/* Before `now` runs take the place of `n` of the table's, from number `at` on. */
cip_status cip_chunk_runs_keep(cip_chunk_changes *c, size_t at, size_t n, size_t now, cip_err *err);
/* Its chunks become r; nothing else changes. */
cip_status cip_chunk_runs_set(cip_chunk_changes *c, const cip_chunk_run *r, cip_err *err);
/* Behind the last run of `l`. */
cip_status cip_chunk_runs_add(cip_chunk_changes *c, cip_chunk_runs *l, cip_chunk_run r,
                              cip_err *err);
/* The `run` chunks from `from` on of the runs as they are, as chunks i, i + 1, ... of `l`. */
cip_status cip_chunk_runs_copy(cip_chunk_changes *c, cip_chunk_runs *l, uint64_t i, uint64_t from,
                               uint64_t run, cip_err *err);
/* Chunks of zeros behind the last run of `l`. */
cip_status cip_chunk_runs_zeros(cip_chunk_changes *c, cip_chunk_runs *l, uint64_t i, uint64_t run,
                                uint64_t raw_len, cip_err *err);
/* The runs become those of c->next, of linear chunks or bytes `len` in all. */
cip_status cip_chunk_runs_take(cip_chunk_changes *c, uint64_t len, cip_err *err);

/* The bytes of chunk i in the file of elements. */
cip_status cip_chunk_elems_write(cip_chunk_changes *c, uint64_t off, const void *p, size_t n,
                                 cip_err *err);
/* Room for n bytes, zeros, behind all that is there. */
cip_status cip_chunk_elems_room(cip_chunk_changes *c, uint64_t n, uint64_t *off, cip_err *err);

/* chunk_changes_linear.c */
/* Makes c->linear. */
cip_status cip_linear_open(cip_chunk_changes *c, cip_err *err);
/* Raw bytes of linear chunk i when there are `len` in all; how many chunks these are. */
uint64_t cip_linear_chunk_len(const cip_array_form *f, uint64_t i, uint64_t len);
uint64_t cip_linear_chunk_count(const cip_array_form *f, uint64_t len);
cip_status cip_linear_changes_write(cip_chunk_changes *c, const cip_nd *at, const cip_feed *feed,
                                    cip_err *err);
cip_status cip_linear_changes_resize(cip_chunk_changes *c, const int64_t *shape, cip_err *err);
cip_status cip_linear_changes_splice(cip_chunk_changes *c, const cip_splice *s,
                                     const int64_t *shape, cip_err *err);
/* Bytes of an array of the grid's elements with this shape. LIMIT from 2^63 on. */
cip_status cip_linear_len(const cip_grid *g, const int64_t *shape, uint64_t *len, cip_err *err);

/* chunk_changes_bytes.c: what chunks of one byte, CIP_FORM_BYTES, do otherwise */
cip_status cip_byte_changes_put(void *user, const cip_scatter_run *run, size_t n, cip_err *err);
cip_status cip_byte_changes_read(const cip_chunk_changes *c, uint64_t at, uint8_t *dst, size_t n,
                                 cip_err *err);
cip_status cip_byte_changes_open(cip_chunk_changes *c, const cip_array *a, cip_err *err);
/* Decodes what is still as it was of a stream, so that all is read as fast as a file is; nothing of
 * other forms. */
cip_status cip_byte_changes_load(cip_chunk_changes *c, cip_err *err);

/* chunk_changes_gather.c: all elements in another order, in the file of elements at *out */
/* Those of the array, which is `was` in `now`, as rows come and go; or (s NULL) those inside both
 * shapes, and zeros. */
cip_status cip_changes_gather(cip_chunk_changes *c, const cip_nd *was, const int64_t *shape,
                              const cip_splice *s, cip_need *out, cip_err *err);

#endif
