/* SPDX-License-Identifier: BSD-3-Clause
 * A read worked out: which elements of an array, as what. */
#ifndef CIP_CORE_READ_PLAN_H
#define CIP_CORE_READ_PLAN_H

#include "core/handle.h"

typedef struct cip_read_plan {
    const cip_array *array;
    cip_read_args args;      /* the caller's, checked */
    cip_selection sel;       /* of `whole` */
    cip_nd whole;            /* the array's axes, then the field's */
    int32_t nfaxis;          /* axes of the field's sub-array */
    cip_nd from;             /* the selected elements in the space */
    const cip_dtype *stored; /* of an element of `from`: the array's, or the field's */
    const cip_dtype *to;     /* what is wanted */
    cip_cast cast;
    uint64_t nelem;
    uint64_t nbytes; /* of nelem elements of `to`, packed */
    cip_read_how how;
    bool reversed;             /* the array's axes in reverse */
    bool take_mask;            /* fetch gives the mask, as bool */
    bool by_field;             /* the field has missing items of its own */
    bool as_nan;               /* records: fields in them have, which read as NaN */
    cip_progress_fn *progress; /* may be NULL */
    void *progress_user;
    cip_arena arena; /* dtypes made for this read */
} cip_read_plan;

/* What elements become when no dtype is asked for. */
typedef enum cip_as { CIP_AS_NATIVE, CIP_AS_RAW, CIP_AS_STORED } cip_as;

/* BUSY when an update that was begun with this file changed it: what is read would be a mixture. */
cip_status cip_layout_settled(const cip_layout *l, cip_err *err);

/* Works out args (NULL: all of the array). `as`: used where args->dtype is NULL. On failure nothing
 * needs clearing. */
cip_status cip_read_plan_make(const cip_array *a, const cip_read_args *args, cip_as as,
                              cip_read_plan *out, cip_err *err);
void cip_read_plan_clear(cip_read_plan *p);

/* The field that one step of a path names, or NULL. */
const cip_field *cip_field_of_step(const cip_dtype *d, const char *step, size_t len);
/* What reading sees of a view with the array's axes: reversed if asked for, a field's axes
 * (fstride, or 0 bytes apart when NULL) behind. */
void cip_read_plan_axes(const cip_read_plan *p, cip_nd *v, const int64_t *fstride);

/* A box of the selected elements: `from` cut at `start`. */
typedef struct cip_part {
    cip_nd from;
    int64_t start[CIP_MAX_NDIM];
    uint64_t nelem;
} cip_part;

/* Whether it reads an array's elements, all of them and as they are stored, but for the cast. */
bool cip_read_plan_is_whole(const cip_read_plan *p);

/* Its elements before the cast, where they lie in memory packed in C order; NULL otherwise. */
const uint8_t *cip_read_plan_in_memory(const cip_read_plan *p);

/* The number of a part's first element in the packed result. */
uint64_t cip_read_plan_first_of(const cip_read_plan *p, const cip_part *part);

/* Reads a part's elements, packed in C order, to dst. RANGE, with the element's number in all of
 * the selection, where the cast refuses one: so nothing of a part that fails is handed on. */
cip_status cip_read_plan_fetch(const cip_read_plan *p, const cip_part *part, uint8_t *dst,
                               cip_err *err);
/* Whether elements of the plan may be missing, or fields in them. */
static inline bool cip_plan_is_masked(const cip_read_plan *p)
{
    return p->array->mask.kind != CIP_MASK_NONE || p->by_field || p->as_nan;
}
/* The mask of a part's elements: one byte each, 1 is missing. */
cip_status cip_read_plan_mask(const cip_read_plan *p, const cip_part *part, uint8_t *dst,
                              cip_err *err);

/* About how many bytes a part's elements and their mask cost, see cip_space_gather_cost. */
cip_status cip_read_plan_cost(const cip_read_plan *p, const cip_part *part, uint64_t *nbytes,
                              cip_err *err);

/* Walks a plan's elements in C order in parts of at most max_elem elements (at least one), each
 * contiguous in the packed result. */
typedef struct cip_parts {
    const cip_read_plan *plan;
    int32_t axis; /* the axis that is cut; those before it go one by one; -1: all at once */
    int64_t step; /* how many along it at a time */
    int64_t at[CIP_MAX_NDIM];
    bool end;
} cip_parts;
void cip_parts_start(cip_parts *it, const cip_read_plan *p, uint64_t max_elem);
/* The next part; false at the end. */
bool cip_parts_next(cip_parts *it, cip_part *out);

/* Elements of `dtype` that fit in about 8 MiB, at least 1. */
uint64_t cip_piece_elems(uint64_t itemsize);

/* Counts n elements more as done and tells them; CANCELLED when the caller wants no more. */
cip_status cip_read_plan_progress(const cip_read_plan *p, uint64_t *done, uint64_t n, cip_err *err);

/* LIMIT where streaming the plan would give more than limits.max_elements, or (where that is 0)
 * more bytes than the file can honestly stand for: 2^17 for each of its bytes, and always 4 GiB. */
cip_status cip_read_plan_check_amount(const cip_read_plan *p, cip_err *err);

/* OK, or for a dtype NULL the status in err (or ARG). */
cip_status cip_dtype_there(const cip_dtype *dtype, cip_err *err);
/* UNSUPPORTED where a field has missing items that whole records, or a nested record `itemsize`
 * bytes long at `off` in them, cannot show: a mask is of whole elements. */
cip_status cip_mask_shows(const cip_mask *m, uint64_t off, uint64_t itemsize, cip_err *err);
/* The caller's args as the struct of this build; ARG for a wrong size or two selections. */
cip_status cip_read_args_check(const cip_read_args *in, cip_read_args *out, cip_err *err);

#endif
