/* SPDX-License-Identifier: BSD-3-Clause
 * How an array is stored, in the words of reading: what a format answers before it takes the
 * array's chunks, and the chunks as it takes them. */
#ifndef CIP_SPACE_FORM_H
#define CIP_SPACE_FORM_H

#include "space/layout/layout.h"

/* A step of a pipeline, as it encodes. */
typedef struct cip_form_step {
    const cip_codec *codec;
    const void *args; /* of the codec */
    int level;        /* 0: the codec's default */
} cip_form_step;

enum {
    CIP_FORM_ANY_ORDER = 1, /* chunks need not come in rising order */
    CIP_FORM_TAKES = 2,     /* stored chunks of another file are taken as they are, where it stores
                               arrays in the same form */
    CIP_FORM_PLAIN = 4,     /* a chunk that the steps do not make smaller comes without them */
    CIP_FORM_BYTES = 8,     /* of changes: no chunks, but linear bytes, and changed ranges of them
                               are what the format places (no steps) */
    CIP_FORM_STREAM = 16,   /* with BYTES: they are decoded in order, so that the first change but
                               rows at the end decodes them all */
    CIP_FORM_GROWS = 32     /* with STREAM: rows at the end are stored behind the others, which stay
                               as they are stored */
};

struct cip_array_form;

/* What is stored apart of each record: parts of it, put together as a row. */
typedef struct cip_form_column {
    size_t array;                      /* the store's number for it */
    const struct cip_array_form *form; /* of the rows: its dtype is one */
    const cip_record_part *part;
    size_t npart;
} cip_form_column;

/* The bit in `specials` for chunks of a state. */
#define CIP_FORM_SPECIAL(state) (1u << (state))

typedef struct cip_array_form {
    const cip_dtype *dtype; /* as stored; elements are cast to it */
    const cip_grid *grid;   /* n-d chunks; NULL: linear ones, of the array in C order */
    uint64_t chunk_nbytes;  /* linear: raw bytes of each chunk but the last, of which whole elements
                               are used (cip_form_chunk_nbytes); 0: any, and each may have another
                               length (no steps then); UINT64_MAX: all in one */
    cip_form_step step[CIP_MAX_STEPS]; /* in the order of decoding */
    uint8_t nstep;
    cip_codec_env codec_env; /* what codecs are told; typesize 0: the dtype's, no shapes:
                               the grid's */
    uint32_t specials;       /* states of chunks that are stored without data */
    const uint8_t *value;    /* of VALUE: the only element that chunks may stand for; NULL: any */
    uint8_t sum_id;          /* cip_sum_id: wanted of each chunk's stored bytes */
    uint32_t caps;
    /* Records that are stored in columns (0: they are not): then of all else only `dtype` counts,
     * and chunks of the columns come by turns, those of each in order. */
    const cip_form_column *column;
    size_t ncolumn;
} cip_array_form;

/* Raw bytes of each linear chunk but the last; 0 and UINT64_MAX as in the form. */
static inline uint64_t cip_form_chunk_nbytes(const cip_array_form *f)
{
    const uint64_t item = f->dtype->itemsize, n = f->chunk_nbytes;
    if (item == 0 || n == 0 || n == UINT64_MAX)
        return n;
    return n < item ? item : n - n % item;
}

/* A finished chunk, or `run` equal special ones in a row. Borrowed during the call. */
typedef struct cip_chunk_in {
    uint8_t state;        /* DATA, or one of the form's specials */
    bool plain;           /* DATA: without the form's steps (CIP_FORM_PLAIN) */
    cip_bytes bytes;      /* DATA: as they are to be stored */
    const uint8_t *value; /* VALUE: one element */
    uint64_t run;         /* 1 of DATA */
    uint64_t raw_len;     /* decoded bytes of each, padding included */
    uint8_t sum[CIP_SUM_MAX];
} cip_chunk_in;

/* Takes n entries, of chunk i and those that follow it. */
typedef cip_status cip_store_fn(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                                cip_err *err);

#endif
