/* SPDX-License-Identifier: BSD-3-Clause
 * FITS files (standard 4.0): HDUs, each a header of 80-byte cards and data, both padded to blocks
 * of 2880 bytes. The inside of this folder. */
#ifndef CIP_FORMAT_FITS_H
#define CIP_FORMAT_FITS_H

#include "format/format.h"

enum { FITS_CARD = 80, FITS_BLOCK = 2880, FITS_KEYWORD = 8, FITS_MAX_AXES = 999 };

/* --- cards ------------------------------------------------------------------------------------ */

/* One card as it stands; texts are borrowed from it or lie in the arena. */
typedef struct fits_card {
    cip_bytes key;         /* of HIERARCH: the name behind that; trailing blanks are left out */
    const cip_node *value; /* NULL: commentary */
    cip_bytes text;        /* the comment; of commentary all of it */
    bool end, blank;
    bool continued; /* a string that ends with "&" */
    bool continues; /* CONTINUE with a string */
} fits_card;

/* Never fails for what the card holds: a value that is none stays as its text. NOMEM. */
cip_status cip_fits_card_read(cip_arena *a, const uint8_t card[FITS_CARD], fits_card *out,
                              cip_err *err);

/* --- headers ---------------------------------------------------------------------------------- */

typedef struct fits_header {
    const cip_node *map;      /* key -> value, a list where a key stands more than once */
    const cip_node *comments; /* key -> comment, as far as there are any; or NULL */
    uint64_t off, end;        /* its bytes, whole blocks */
    uint64_t ncard;           /* END and blank ones too */
} fits_header;

/* Reads the header at `off`. TRUNCATED where the file ends before END; FORMAT where it does not
 * begin as a header does; LIMIT. */
struct cip_window;
cip_status cip_fits_header_read(cip_layout *l, struct cip_window *w, uint64_t off, fits_header *out,
                                cip_err *err);

/* The value of a keyword that the structure hangs on. Absent: *out stays and OK; of another type or
 * there twice: CORRUPT, naming it. `fits_int` refuses what lies outside [low, high]. */
typedef struct fits_range {
    int64_t low, high;
} fits_range;
cip_status cip_fits_int(const fits_header *h, const char *key, fits_range in, int64_t *out,
                        cip_err *err);
cip_status cip_fits_real(const fits_header *h, const char *key, double *out, cip_err *err);
cip_status cip_fits_text(const fits_header *h, const char *key, const char **out, cip_err *err);
cip_status cip_fits_yes(const fits_header *h, const char *key, bool *out, cip_err *err);
bool cip_fits_has(const fits_header *h, const char *key);
/* "NAXIS" and 2 as "NAXIS2". */
const char *cip_fits_nth(char key[16], const char *stem, unsigned n);

/* --- HDUs ------------------------------------------------------------------------------------- */

typedef enum fits_kind {
    FITS_IMAGE = 1, /* the primary HDU too; also one without data (naxis 0) */
    FITS_GROUPS,
    FITS_ASCII,
    FITS_BINARY,
    FITS_TILES, /* a binary table that holds an image in compressed tiles */
    FITS_OTHER
} fits_kind;

typedef struct fits_hdu {
    fits_header header;
    fits_kind kind;
    unsigned number;
    int64_t bitpix, pcount, gcount;
    int32_t naxis;
    const int64_t *axis;   /* naxis of them, as NAXISn counts: the first varies fastest */
    uint64_t data, nbytes; /* where the data begin, and their length without padding */
    const char *extname;   /* or NULL */
    int64_t extver;
    const char *key;  /* of the tree's root, one step */
    const char *path; /* the same escaped */
    cip_array *array; /* its data, or NULL */
    /* How its elements are made of bytes; NULL: it has none, or compressed ones. */
    const struct fits_rows *rows;
} fits_hdu;

typedef struct fits_file {
    cip_layout *layout;
    fits_hdu *hdu;
    size_t nhdu, cap;
    uint64_t end;      /* behind the last HDU that was read, padding included */
    bool has_tree;     /* an HDU holds an ASDF file that is read */
    cip_err cut_short; /* why the walk ended before the end of the file; code CIP_OK: it did not */
} fits_file;

/* Sizes and kind of an HDU from its header. */
cip_status cip_fits_hdu_read(cip_layout *l, fits_hdu *h, cip_err *err);

/* --- arrays ----------------------------------------------------------------------------------- */

/* How one item of a row becomes one of the array. */
typedef enum fits_way {
    FITS_COPY = 1, /* bytes as they are */
    FITS_FLIP,     /* integers with the first bit flipped: unsigned ones, or int8 of bytes */
    FITS_SCALE,    /* value * scale + zero; `null` becomes NaN */
    FITS_LOGICAL,  /* 'T' or not */
    FITS_BIT,      /* bits to bools, the first is the most significant */
    FITS_TEXT,     /* characters; NUL ends them, blanks at the end go */
    FITS_DECIMAL   /* a number in text to an integer or a double */
} fits_way;

/* `count` items of a row, one behind the other. */
typedef struct fits_column {
    fits_way way;
    char type;   /* of an item as stored: B I J K E D, for DECIMAL I F */
    bool narrow; /* SCALE: in float32 arithmetic, else float64 */
    bool has_null;
    uint32_t width; /* bytes of an item as stored */
    uint32_t to;    /* and in the array */
    uint64_t count; /* BIT: bits */
    uint64_t from;  /* where they begin in the row */
    uint64_t at;    /* and in the array's element */
    int64_t null;
    double scale, zero;
    const char *null_text; /* DECIMAL: TNULLn */
    int32_t decimals;      /* DECIMAL: digits behind a point that is not written */
    const char *name;      /* for messages */
} fits_column;

/* All of an HDU's columns; an image's row is one element. */
typedef struct fits_rows {
    cip_layout *layout;
    uint64_t data;   /* in the file */
    uint64_t stored; /* bytes of a row there */
    uint64_t each;   /* and of an element of the array */
    uint64_t n;      /* rows */
    uint64_t per;    /* in a chunk */
    size_t ncolumn;
    const fits_column *column;
    bool partial; /* columns of the row are left out */
} fits_rows;

/* A space of r->n elements that are made of the rows. `r` is borrowed. */
cip_status cip_fits_rows_space(fits_rows *r, cip_space **out, cip_err *err);

/* n items of the column, one behind the other. CORRUPT for text that is no number. */
cip_status cip_fits_convert(const fits_column *c, const uint8_t *from, uint64_t n, uint8_t *to,
                            cip_err *err);

/* The way back: n rows of elements as the file has them; `out` has the `had` first of them as they
 * are in the file, and zeros behind. What means an element's value already stays, and bytes of
 * columns that are left out. UNSUPPORTED for a value that nothing stored means. `row`: number of
 * the first one.
 */
cip_status cip_fits_encode(const fits_rows *r, const uint8_t *elems, uint64_t row, size_t n,
                           size_t had, uint8_t *out, cip_err *err);

/* --- tables ----------------------------------------------------------------------------------- */

/* What TFORMn says. */
typedef struct fits_tform {
    uint64_t repeat;
    char type;
    char item;        /* of P and Q: the letter behind it */
    uint64_t width;   /* behind the letter: of text columns */
    int32_t decimals; /* behind the point; -1: none */
} fits_tform;
cip_status cip_fits_tform(const fits_hdu *h, unsigned i, fits_tform *out, cip_err *err);
/* Bytes of an item of a binary table; of P and Q of the descriptor. */
uint32_t cip_fits_item(char type);
/* Bytes of the row that column i of a binary table takes. CORRUPT over NAXIS1. */
cip_status cip_fits_row_bytes(const fits_hdu *h, unsigned i, const fits_tform *form, uint64_t *n,
                              cip_err *err);
/* Whether an HDU is what a table has to be; *n: TFIELDS. */
cip_status cip_fits_check_table(const fits_hdu *h, unsigned *n, cip_err *err);

/* --- tiles ------------------------------------------------------------------------------------ */

/* Rice codes (standard 4.0, 10.4.1): n integers of `width` bytes (1, 2, 4), in runs of `block`, to
 * big-endian ones. TRUNCATED, CORRUPT. */
cip_status cip_fits_rice(cip_bytes in, uint32_t width, uint64_t block, uint64_t n, uint8_t *out,
                         cip_err *err);
cip_status cip_fits_tiles(fits_file *f, const fits_hdu *h, const cip_node *node, cip_err *err);

/* --- images and tables ------------------------------------------------------------------------ */

/* Adds the HDU's arrays; what cannot be read is listed and refused. `node` is that of its data. */
cip_status cip_fits_image(fits_file *f, const fits_hdu *h, const cip_node *node, cip_err *err);
cip_status cip_fits_table(fits_file *f, const fits_hdu *h, const cip_node *node, cip_err *err);

/* BSCALE, BZERO and BLANK of an image, or those of a column. */
typedef struct fits_scaling {
    double scale, zero;
    bool has_null;
    int64_t null;
} fits_scaling;
/* Those of an image's header. */
cip_status cip_fits_read_scaling(const fits_hdu *h, int64_t bitpix, fits_scaling *s, cip_err *err);
/* The type letters of tables for a BITPIX. */
char cip_fits_type(int64_t bitpix);
/* BLANK of integers that are shown as integers: those elements are missing. */
cip_status cip_fits_mask_blank(cip_layout *l, const fits_column *c, int64_t blank, cip_array *a,
                               cip_err *err);
/* How integers or floats of the FITS type are shown: sets way, to, scale ... of the column, and the
 * dtype. `table`: float64 whatever the type, as tables have it. */
cip_status cip_fits_scaled(const fits_scaling *s, char type, bool table, fits_column *c,
                           const cip_dtype **dtype, cip_err *err);

/* A new array with the path (escaped) of a part of the HDU: "data". */
cip_status cip_fits_array(fits_file *f, const fits_hdu *h, const char *part, const cip_node *node,
                          cip_array **out, cip_err *err);
/* It is listed, without elements, and refused with what is in why. */
cip_status cip_fits_refuse(cip_array *a, const cip_err *why, cip_err *err);
/* TRUNCATED where the file ends before the HDU's data. */
cip_status cip_fits_all_there(const fits_file *f, const fits_hdu *h, cip_err *err);

/* --- ASDF in FITS ----------------------------------------------------------------------------- */

/* *len: bytes of the ASDF file that the HDU's data begin with; 0: none. */
cip_status cip_fits_has_asdf(fits_file *f, const fits_hdu *h, uint64_t *len, cip_err *err);
/* Adds its arrays; *tree is NULL where it cannot be read, which is warned about. */
cip_status cip_fits_asdf(fits_file *f, const fits_hdu *h, uint64_t len, const cip_node **tree,
                         cip_err *err);

/* --- checksums -------------------------------------------------------------------------------- */

/* The ones' complement sum of big-endian 32-bit words, over pieces of any length. */
typedef struct fits_sum {
    uint64_t sum; /* to be folded */
    uint64_t at;  /* bytes so far, or where the next piece is */
} fits_sum;
void cip_fits_sum_add(fits_sum *s, const uint8_t *p, size_t n);
uint32_t cip_fits_fold(uint64_t sum);
/* The 16 characters of CHECKSUM that add this to the sum of an HDU, where "0000000000000000" adds
 * nothing; and what characters add. */
void cip_fits_sum_text(uint32_t value, char text[16]);
uint32_t cip_fits_sum_value(const char text[16]);
/* DATASUM is the number as a string; an integer is taken as well. False: there is none, or an empty
 * string, which means that it is not known. */
bool cip_fits_said_sum(const fits_header *h, uint64_t *sum);

cip_status cip_fits_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err);

extern const cip_format cip_format_fits;

#endif
