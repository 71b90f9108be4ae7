/* SPDX-License-Identifier: BSD-3-Clause
 * Writing new files: what the two halves share, cards and HDUs. */
#ifndef CIP_FORMAT_FITS_WRITE_H
#define CIP_FORMAT_FITS_WRITE_H

#include "base/buffer.h"
#include "format/fits/fits.h"

/* Cards as they are written: into `out`, or only looked at (NULL), when what is lost is told. */
typedef struct fits_cards {
    cip_buf *out;
    cip_report *loss;         /* or NULL */
    const char *part;         /* for findings: the HDU */
    const cip_node *comments; /* keyword -> comment, or NULL */
    bool sums;                /* CHECKSUM and DATASUM come last, of zeros */
} fits_cards;

cip_status cip_fits_put_int(fits_cards *c, const char *key, int64_t v, cip_err *err);
cip_status cip_fits_put_text(fits_cards *c, const char *key, const char *text, cip_err *err);
cip_status cip_fits_put_yes(fits_cards *c, const char *key, bool v, cip_err *err);
/* A user's keyword and its value or values. */
cip_status cip_fits_put_node(fits_cards *c, const cip_node *key, const cip_node *value,
                             cip_err *err);
/* END, and blanks to the end of the block. */
cip_status cip_fits_put_end(fits_cards *c, cip_err *err);

/* Cards of a header of n bytes that is there. The first one of a keyword, or NULL; another value in
 * it (`right`: a number, which ends where numbers do), the comment stays where it is: UNSUPPORTED
 * where it leaves no room. */
uint8_t *cip_fits_find_card(uint8_t *head, size_t n, const char *key);
cip_status cip_fits_set_card(uint8_t card[FITS_CARD], const char *value, bool right, cip_err *err);
enum { FITS_CHECKSUM = FITS_KEYWORD + 3, FITS_CHECKSUM_LEN = 16 }; /* its text in the card */

/* Items of a record, or of an image, that are stored as other bytes: first bits flipped, T and F.
 */
typedef struct fits_changed {
    uint64_t off;
    uint64_t count;
    uint32_t width;
    bool logical; /* else flipped */
} fits_changed;

/* An HDU that is written: an array's, or one that is nothing but a header. */
typedef struct fits_new {
    const char *key;             /* one step of the tree's root; NULL: it has no name */
    const cip_node *map;         /* the mapping of the tree that has its header, or NULL */
    const cip_spec_array *array; /* or NULL */
    const cip_dtype *stored;
    fits_changed *change;
    size_t nchange;
    /* Of an array that comes by itself: its data, in whole blocks, and by the end, of all HDUs,
     * where they are to lie and the header. */
    uint64_t at, nbytes, to;
    fits_sum sum;
    size_t head, nhead; /* in the writer's `head` */
} fits_new;

typedef struct fits_update fits_update;

/* The store's state. */
typedef struct fits_writer {
    fits_update *update; /* NULL: a new file */
    cip_env *env;
    cip_arena *arena;
    const cip_spec *spec;
    cip_out *out;
    fits_new *hdu; /* with spec.late until the end: those of arrays, as they came */
    size_t nhdu, cap;
    size_t *of;    /* the HDU of each array; NULL: its own number */
    size_t next;   /* whose header goes out next */
    uint64_t left; /* bytes of the one before */
    size_t pad;
    bool sums;
    fits_sum data;    /* of the one before */
    uint64_t head_at; /* its header in the output, */
    cip_buf head;     /* and its bytes */
} fits_writer;

/* The letter of a column, and the BITPIX of an image (0: it can be none). */
typedef struct fits_type {
    cip_kind kind;
    char letter;
    int bitpix;
    cip_kind to; /* as it is stored */
    double zero; /* BZERO or TZERO of unsigned integers and int8 */
} fits_type;
/* NULL: FITS has none for the kind. */
const fits_type *cip_fits_type_of(const cip_dtype *d);
/* Elements of a field. */
uint64_t cip_fits_items(const cip_field *f);

/* The whole header of an HDU, `first` of the file or not, others behind it or not. */
cip_status cip_fits_put_header(fits_cards *c, const fits_new *h, bool first, bool more,
                               cip_err *err);

/* fits_write.c: the HDU of an array, by what the spec has so far; all HDUs of a spec. */
cip_status cip_fits_take_array(const fits_writer *w, const cip_spec *spec, const cip_spec_array *a,
                               fits_new *h, cip_err *err);
cip_status cip_fits_plan(fits_writer *w, const cip_spec *spec, cip_err *err);
/* How the array of an HDU is stored. */
cip_status cip_fits_form(const fits_new *h, cip_array_form *form, cip_err *err);
/* n bytes of data come; what fills the last block of them. */
void cip_fits_begin_data(fits_writer *w, uint64_t n);
cip_status cip_fits_end_data(fits_writer *w, cip_err *err);
/* Its sums into a header. */
cip_status cip_fits_sum_header(const fits_sum *data, uint8_t *head, size_t n, cip_err *err);

/* fits_late.c: arrays that come before the tree is whole. */
cip_status cip_fits_late_add(void *state, const cip_spec_array *array, cip_array_form *form,
                             cip_err *err);
cip_status cip_fits_late_finish(fits_writer *w, cip_err *err);

/* fits_update.c: the store's functions for a file that is there. */
cip_status cip_fits_update_begin(const cip_store_begin *b, fits_update **out, cip_err *err);
cip_status cip_fits_update_form(const fits_update *u, const cip_array *a, cip_change_kind kind,
                                cip_change_form *out, cip_err *err);
cip_status cip_fits_update_chunks(fits_update *u, const cip_chunk_changes *c, cip_err *err);
cip_status cip_fits_update_finish(fits_update *u, cip_revision *r, cip_err *err);

extern const cip_array_store cip_fits_store;

#endif
