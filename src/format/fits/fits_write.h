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
} fits_new;

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

/* fits_update.c: the store's functions for a file that is there. */
typedef struct fits_update fits_update;
cip_status cip_fits_update_begin(const cip_store_begin *b, fits_update **out, cip_err *err);
cip_status cip_fits_update_form(const fits_update *u, const cip_array *a, cip_change_kind kind,
                                cip_change_form *out, cip_err *err);
cip_status cip_fits_update_chunks(fits_update *u, const cip_chunk_changes *c, cip_err *err);
cip_status cip_fits_update_finish(fits_update *u, cip_revision *r, cip_err *err);

extern const cip_array_store cip_fits_store;

#endif
