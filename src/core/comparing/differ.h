/* SPDX-License-Identifier: BSD-3-Clause
 * A comparison of two files: what its parts share. */
#ifndef CIP_CORE_DIFFER_H
#define CIP_CORE_DIFFER_H

#include "cippus/check.h"
#include "core/reading/read_plan.h"

typedef struct cip_differ {
    const cip_file *a, *b;
    cip_diff_options o;
    cip_mem *mem; /* of the first file */
    bool forms;   /* both files have one format, so that their trees mean the same */
    uint64_t n;   /* differences so far */
    /* Progress: bytes of the arrays that were compared, of the one that is, and of all. */
    uint64_t before, array, total;
} cip_differ;

/* Counts a difference and tells it, while max_told allows; CANCELLED when the caller wants no more.
 * The text is a printf's. */
cip_status cip_differ_tell(cip_differ *d, const cip_difference *what, cip_err *err, const char *fmt,
                           ...) CIP_PRINTF(4, 5);
/* Whether a path, or one above it, fits a pattern of what is ignored. */
bool cip_differ_ignores(const cip_differ *d, const char *path);
/* Progress: `done` bytes of the array that is being compared. */
cip_status cip_differ_progress(cip_differ *d, uint64_t done, cip_err *err);

/* Two nodes (NULL: there is none) and all below; paths begin with `path`. Where both are arrays
 * that are listed by their paths, nothing is told: they are compared with the lists of arrays. */
cip_status cip_differ_nodes(cip_differ *d, const cip_node *a, const cip_node *b, const char *path,
                            cip_err *err);

/* An array, or a field of it ("" for none). */
typedef struct cip_diff_side {
    const cip_array *array;
    const char *field;
} cip_diff_side;

/* Tells that of what is found at `path` (`what`, `of`: as for cip_lack_of; NULL: not there)
 * something is not read in a file, and so is not compared. */
cip_status cip_differ_lacks(cip_differ *d, const char *path, cip_lacking what, const void *of_a,
                            const void *of_b, cip_err *err);

/* Two arrays; `path` is told. */
cip_status cip_differ_arrays(cip_differ *d, const char *path, cip_diff_side a, cip_diff_side b,
                             cip_err *err);

/* --- elements (diff_elems.c) ------------------------------------------------------------------ */

typedef enum cip_likeness {
    CIP_UNLIKE, /* elements of types that are not compared */
    CIP_LIKE_BYTES,
    CIP_LIKE_TEXTS,   /* NUL-padded to any lengths */
    CIP_LIKE_NUMBERS, /* by value */
    CIP_LIKE_RECORDS  /* field by field */
} cip_likeness;

/* How elements of two types, packed and in the machine's byte order, are compared. */
typedef struct cip_elem_diff {
    cip_likeness how;
    const cip_dtype *a, *b;
    bool same;           /* equal bytes are equal elements */
    cip_cast to_a, to_b; /* NUMBERS: to the widest type of their class */
    double rtol, atol;   /* 0 where there is no tolerance */
} cip_elem_diff;

cip_likeness cip_likeness_of(const cip_dtype *a, const cip_dtype *b);
cip_status cip_elem_diff_make(const cip_dtype *a, const cip_dtype *b, double rtol, double atol,
                              cip_elem_diff *out, cip_err *err);

/* What a run of elements comes to: start with `{ .max_abs = NAN, .max_rel = NAN }`. */
typedef struct cip_elem_tally {
    uint64_t n;     /* that differ */
    uint64_t first; /* the first of them */
    double max_abs, max_rel;
} cip_elem_tally;

/* Elements and masks (one byte each, nonzero: missing; NULL: none is) of both sides. */
typedef struct cip_elem_run {
    const uint8_t *a, *b, *mask_a, *mask_b;
} cip_elem_run;

/* Elements [first, end) of the run. */
void cip_elem_diff_run(const cip_elem_diff *e, const cip_elem_run *run, size_t first, size_t end,
                       cip_elem_tally *t);
/* Adds what comes behind, its indices `base` further. */
void cip_elem_tally_merge(cip_elem_tally *into, const cip_elem_tally *from, uint64_t base);

#endif
