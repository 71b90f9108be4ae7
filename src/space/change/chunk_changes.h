/* SPDX-License-Identifier: BSD-3-Clause
 * The chunks of an array as an update leaves them, n-d ones or linear ones: each is as it was
 * stored, a special one, or new. Nothing of the file is written; what the new chunks make of it is
 * the format's to place.
 *
 * A chunk of which elements change becomes those elements, as its steps take them, in a temporary
 * file of the array's own: the next change of it finds them there, and reading the array meanwhile
 * as well. They are encoded once, at the end, on the pool. So the file is the same whatever the
 * number of threads, and however many changes made a chunk what it is; memory is bounded by a chunk
 * for each thread, and a few words for each chunk that changed. */
#ifndef CIP_SPACE_CHUNK_CHANGES_H
#define CIP_SPACE_CHUNK_CHANGES_H

#include "base/undo.h"
#include "io/patch.h"
#include "space/layout/form.h"
#include "space/read/read.h"
#include "space/change/splice.h"

typedef struct cip_chunk_changes cip_chunk_changes;

/* The chunks of the space that the array's elements lie in, which new ones are to join in this
 * form: the same grid (any of the shape where there are no chunks yet), or linear chunks of the
 * same length. The form's parts are borrowed until the end, and so is `temporary`, to which
 * finished chunks are added. UNSUPPORTED for an array that is stored otherwise. With CIP_FORM_BYTES
 * each "chunk" below is one byte of the space, and other arrays may lie in it too. */
cip_status cip_chunk_changes_new(const cip_array *a, const cip_array_form *form, cip_io *temporary,
                                 cip_chunk_changes **out, cip_err *err);
void cip_chunk_changes_free(cip_chunk_changes *c); /* NULL is fine */

/* From now on what changes is kept there, to be put back. `hidden`: no array is found to lie in
 * these chunks (cip_chunk_changes_of). */
void cip_chunk_changes_keep_in(cip_chunk_changes *c, cip_undo *undo, bool hidden);

/* With CIP_FORM_BYTES: the elements of `now`, an array as it is seen in `from`, alone and in C
 * order, for array `a` of the file, which is all of them; no byte is copied that need not move.
 * To be freed before `from`. */
cip_status cip_chunk_changes_apart(cip_chunk_changes *from, const cip_array *a,
                                   const cip_array *now, cip_chunk_changes **out, cip_err *err);
/* Whether they were made so. */
bool cip_chunk_changes_are_apart(const cip_chunk_changes *c);

/* The changes of the chunks that the array's elements lie in, or NULL; never hidden ones, or such
 * that are apart. Of a space they are the last ones that are kept. */
cip_chunk_changes *cip_chunk_changes_of(const cip_array *a);
/* An array in them as it is now, to be read and selected from until the next call of this; refused
 * (UNSUPPORTED), where another array that is all of them was given another shape. */
const cip_array *cip_chunk_changes_now(cip_chunk_changes *c, const cip_array *a);

/* The form of the chunks; linear ones are of whole elements. */
const cip_array_form *cip_chunk_changes_form(const cip_chunk_changes *c);

/* How often anything changed; 0: all is as it was stored. */
uint64_t cip_chunk_changes_made(const cip_chunk_changes *c);

/* Elements of the feed to where `at`, a view of the linear bytes as they are now, has them. */
cip_status cip_chunk_changes_write(cip_chunk_changes *c, const cip_nd *at, const cip_feed *feed,
                                   cip_err *err);
/* Another shape of the array, which must be all of the chunks (UNSUPPORTED otherwise): elements
 * inside both shapes stay, others are zeros, or (`at` and `feed` not NULL) what is written then:
 * all of the rows that come along the first axis, and nothing else. */
cip_status cip_chunk_changes_resize(cip_chunk_changes *c, const cip_array *a, const int64_t *shape,
                                    const cip_nd *at, const cip_feed *feed, cip_err *err);
/* Rows (of any axis) come or go in the midst of it, as cip_chunk_changes_resize has it at the end.
 */
cip_status cip_chunk_changes_splice(cip_chunk_changes *c, const cip_array *a, const cip_splice *s,
                                    cip_err *err);
/* Chunk i becomes this one, which is finished (its run: each of so many). ARG for one that the form
 * does not have, RANGE beyond the end. */
cip_status cip_chunk_changes_put(cip_chunk_changes *c, uint64_t i, const cip_chunk_in *in,
                                 cip_err *err);
/* Chunk i becomes these bytes as its steps take them, padding included: raw_len of them. */
cip_status cip_chunk_changes_put_raw(cip_chunk_changes *c, uint64_t i, cip_bytes raw, cip_err *err);
/* Decoded bytes of chunk i, padding included; RANGE beyond the end. */
cip_status cip_chunk_changes_raw_len(const cip_chunk_changes *c, uint64_t i, uint64_t *len,
                                     cip_err *err);

/* Encodes what is to be. `tell` (may be NULL): how many of so many are done; its failure ends it.
 */
cip_status cip_chunk_changes_finish(cip_chunk_changes *c,
                                    cip_status (*tell)(void *user, uint64_t done, uint64_t total,
                                                       cip_err *err),
                                    void *user, cip_err *err);

/* With CIP_FORM_BYTES, for arrays that are not all of the bytes. */

/* Whether the elements at `at` are packed and end where the bytes do, so that rows may follow;
 * `torn`: a part of a row may lie behind them. *end: where they end. */
bool cip_chunk_changes_ends(const cip_chunk_changes *c, const cip_nd *at, bool torn, uint64_t *end);
/* nelem elements of itemsize bytes come at `end`, in place of what is behind it. */
cip_status cip_chunk_changes_grow(cip_chunk_changes *c, uint64_t end, uint64_t nelem,
                                  uint64_t itemsize, const cip_feed *feed, cip_err *err);
/* How many bytes are as they were, from the first one on. */
uint64_t cip_chunk_changes_kept(const cip_chunk_changes *c);

/* What it came to: for the format, once finished. */

/* With CIP_FORM_BYTES: the bytes below `end` that are not what the file has in their place, where
 * byte 0 lies at `base` of it. Ranges may hold some that are. */
cip_status cip_chunk_changes_patch(const cip_chunk_changes *c, uint64_t end, uint64_t base,
                                   cip_patch *to, cip_err *err);

/* Linear bytes as they are now, as an io that lives as long as the changes do; n-d chunks: NULL. */
cip_io *cip_chunk_changes_io(const cip_chunk_changes *c);

/* What becomes of a file in which they lie from `base` on, an array's alone: what changes in place
 * is patched; where more than that changes, the tail begins with the first byte that moves, is zero
 * or comes behind the old end, and ends with what lay behind the bytes. Of a revision `anew`, with
 * what comes before them in its pieces: all of this follows. */
cip_status cip_chunk_changes_revise(const cip_chunk_changes *c, cip_io *file, uint64_t base,
                                    cip_revision *r, cip_err *err);

/* The array that is all of the chunks, as the file had it; without one, that was changed first. */
const cip_array *cip_chunk_changes_array(const cip_chunk_changes *c);
/* All of them as they are now, as one space. */
cip_space *cip_chunk_changes_space(const cip_chunk_changes *c);
/* Its shape now (linear chunks: as far as this changed it), and how many chunks there are. */
const int64_t *cip_chunk_changes_shape(const cip_chunk_changes *c);
uint64_t cip_chunk_changes_count(const cip_chunk_changes *c);

/* Chunks i, i + 1, ..., `run` of them: as they were stored, or special, or (run 1, but of bytes) of
 * new data. */
typedef struct cip_chunk_now {
    uint64_t run;
    uint64_t from; /* the number that chunk i had, those behind it have the next: another one than i
                      where another shape, or what came or went in front, moved it; UINT64_MAX: it
                      is new, and `chunk` says what: */
    cip_chunk chunk; /* DATA lies in at.in->io, from at.off on; its codec is &cip_codec_stored if it
                        came without the form's steps (CIP_FORM_PLAIN) */
} cip_chunk_now;
void cip_chunk_changes_at(const cip_chunk_changes *c, uint64_t i, cip_chunk_now *out);

#endif
