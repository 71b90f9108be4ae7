/* SPDX-License-Identifier: BSD-3-Clause
 * The linear bytes of a block as an update leaves them: elements changed, rows added behind,
 * another length, another shape. Nothing is written; how it ends is the format's to place.
 *
 * The bytes are in one of two states:
 *
 *   kept   The block's bytes with the writes of `patch` over them, then those of `added`. Only a
 *          raw block, whose bytes lie in the file as they are, has writes, and loses bytes at its
 *          end (`kept` is how many are left); of any other all are kept.
 *   anew   All bytes are in the temporary file `anew`, and nothing else counts.
 *
 * Kept bytes become anew, never the other way round: when bytes change that are not raw, when the
 * writes of all blocks of the update get too many to be held in memory, and when somebody wants to
 * read what has changed in other ways than that, or to store all of it. So memory is bounded by
 * CIP_CHANGES_PATCH_MAX and the few MiB of each temporary file, whatever is changed. */
#ifndef CIP_SPACE_CHANGES_H
#define CIP_SPACE_CHANGES_H

#include "io/patch.h"
#include "space/layout.h"
#include "space/splice.h"

enum {
    CIP_CHANGES_PATCH_MAX = 32 << 20, /* bytes of all writes of an update within its file */
    CIP_CHANGES_OPS_MAX = 1 << 16     /* runs of them */
};

/* What the writes of all blocks of one update come to. */
typedef struct cip_changes_amount {
    uint64_t nbytes;
    size_t nrun;
} cip_changes_amount;

/* Read freely, changed only by what is below. May be moved as a struct. */
typedef struct cip_changes {
    cip_layout *layout;
    const cip_block *block;     /* the bytes as they were; NULL: there were none */
    cip_changes_amount *amount; /* shared by the update's blocks */
    uint64_t itemsize;          /* of the largest elements in it; 0 counts as 1 */
    bool raw;
    uint64_t kept; /* of a raw block */
    uint64_t made; /* how often bytes of it were changed: whether a failure was one halfway */
    cip_patch patch;
    cip_io *seen; /* the layout's file with the first nseen writes of the patch over it; NULL until
                     it is asked for */
    cip_io *recent; /* that with the others, up to nrecent; NULL: there are none */
    size_t nseen, nrecent;
    cip_io *added; /* or NULL */
    cip_io *anew;  /* or NULL */
} cip_changes;

/* `block` of the layout as it is, or (NULL) no bytes. raw: its stored bytes are its data, and lie
 * in the layout's own file. All is borrowed until the end. */
void cip_changes_begin(cip_changes *c, cip_layout *l, const cip_block *block, bool raw,
                       cip_changes_amount *amount);
void cip_changes_end(cip_changes *c);
/* Says how large elements of arrays in it are: the limits count elements. */
static inline void cip_changes_hold(cip_changes *c, uint64_t itemsize)
{
    c->itemsize = itemsize > c->itemsize ? itemsize : c->itemsize;
}

/* Elements of the feed to where `at`, a view of the bytes as they are now, has them. */
cip_status cip_changes_write(cip_changes *c, const cip_nd *at, const cip_feed *feed, cip_err *err);
/* nelem elements of the feed behind the last byte. */
cip_status cip_changes_append(cip_changes *c, uint64_t nelem, uint64_t itemsize,
                              const cip_feed *feed, cip_err *err);
/* n bytes of an io from `off` on behind the last byte. */
cip_status cip_changes_add(cip_changes *c, cip_io *from, uint64_t off, uint64_t n, cip_err *err);
/* Cuts the bytes off at `len`, or adds zeros up to it. */
cip_status cip_changes_resize(cip_changes *c, uint64_t len, cip_err *err);
/* How many bytes there are now. */
cip_status cip_changes_len(const cip_changes *c, uint64_t *len, cip_err *err);
/* Whether they are others than they were. */
bool cip_changes_any(const cip_changes *c);
/* The bytes as they are now, to be read until the next change. Those that changed are anew then,
 * but for writes within a raw block. */
cip_status cip_changes_now(cip_changes *c, cip_space **out, cip_err *err);
/* Makes them anew. LIMIT for a few stored bytes that claim to be very many (max_elements). */
cip_status cip_changes_make_anew(cip_changes *c, cip_err *err);
/* Makes *out, to be ended by the caller: bytes anew, in C order, of the shape of `to` (in C order
 * from byte 0 on). Elements of the view `from` of the bytes as they are now that are inside both
 * shapes are copied, others are zeros. On failure *out needs no end. */
cip_status cip_changes_copy(cip_changes *c, const cip_nd *from, const cip_nd *to, cip_changes *out,
                            cip_err *err);
/* The same where rows come or go in the midst: all bytes of the array that becomes of `from`. */
cip_status cip_changes_copy_spliced(cip_changes *c, const cip_nd *from, const cip_splice *s,
                                    cip_changes *out, cip_err *err);

/* Elements of an array that the view `at` has in these bytes. `ends`: in C order and up to where
 * rows may come and go, which is the end but for what is to be cut off there. */
typedef struct cip_changes_array {
    cip_nd at;
    bool ends;
} cip_changes_array;
/* nrow more rows along the first axis, and the shape that it has then; or just another shape, with
 * zeros for new elements. In place, or (*moved) all elements go to *content, which is made, packed,
 * and to be ended by the caller. ARG for an array without axes, LIMIT for one of over 2^63 bytes.
 */
cip_status cip_changes_rows(cip_changes *c, const cip_changes_array *a, uint64_t nrow,
                            const cip_feed *feed, int64_t *shape, cip_changes *content, bool *moved,
                            cip_err *err);
cip_status cip_changes_shape(cip_changes *c, const cip_changes_array *a, const int64_t *shape,
                             cip_changes *content, bool *moved, cip_err *err);
/* Rows (of any axis) come or go in the midst of it. Of raw bytes that the array ends, those behind
 * are kept in the temporary file and none before are touched. */
cip_status cip_changes_splice(cip_changes *c, const cip_changes_array *a, const cip_splice *s,
                              cip_changes *content, bool *moved, cip_err *err);

/* How it ends, where it is not anew: the writes to kept bytes, rising and each byte once, are added
 * to the patch; behind them come all bytes of `added`. */
cip_status cip_changes_writes(cip_changes *c, cip_patch *to, cip_err *err);
/* The layout's file with the writes over it: kept bytes are where they were. Borrowed. */
cip_status cip_changes_file(cip_changes *c, cip_io **out, cip_err *err);

#endif
