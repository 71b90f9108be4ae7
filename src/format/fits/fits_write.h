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
} fits_cards;

cip_status cip_fits_put_int(fits_cards *c, const char *key, int64_t v, cip_err *err);
cip_status cip_fits_put_text(fits_cards *c, const char *key, const char *text, cip_err *err);
cip_status cip_fits_put_yes(fits_cards *c, const char *key, bool v, cip_err *err);
/* A user's keyword and its value or values. */
cip_status cip_fits_put_node(fits_cards *c, const cip_node *key, const cip_node *value,
                             cip_err *err);
/* END, and blanks to the end of the block. */
cip_status cip_fits_put_end(fits_cards *c, cip_err *err);

extern const cip_array_store cip_fits_store;

#endif
