/* SPDX-License-Identifier: BSD-3-Clause
 * A new folder while it is written. */
#ifndef CIP_FORMAT_BLZ_WRITE_H
#define CIP_FORMAT_BLZ_WRITE_H

#include "format/blz/blz.h"

/* What has data files of its own: an array, a column of a table, a field of records. */
typedef struct cip_blz_new {
    const char
        *dir; /* of its files: "" or with a slash at the end; of the document's below data/ */
    const char *name;            /* of a table's column */
    const cip_spec_array *array; /* that it is, or is of */
    const cip_dtype *dtype;      /* of an element, as it is stored */
    int32_t ndim;                /* what meta/ of the old programs' says of it */
    const int64_t *shape;
    const cip_record_column *from; /* of records: what of them it has; else NULL */
    cip_blosc_spec blosc;
    bool takes; /* chunks may stay as the source has them */
    int64_t chunklen;
    uint64_t row;          /* bytes of an element, of all that one along the first axis has */
    uint64_t nbytes;       /* decoded, of all */
    uint64_t left;         /* of those that are still to come */
    uint64_t nchunk;       /* stored so far */
    uint64_t cbytes;       /* of these */
    cip_bp_container file; /* the superchunk that is being written */
    cip_array_form form;   /* of the chunks */
    /* Of one that comes into a folder: */
    cip_buf waiting;                  /* its chunks, as they lie until the commit (cip_bp_piece) */
    cip_space *in;                    /* the temporary file that they lie in */
    cip_array *rows;                  /* the same to be read */
    const cip_chunk_changes *changes; /* once they are known; NULL: none */
} cip_blz_new;

/* What a column has in common with those that are there. */
typedef struct cip_blz_like {
    cip_blosc_spec blosc;
    int64_t chunklen;
    cip_blz_super_how super;
} cip_blz_like;

typedef struct cip_blz_writer {
    cip_env *env;
    cip_arena *arena;
    const cip_spec *spec;
    cip_out *out;
    cip_blz_kind kind;
    bool table; /* columns in folders of their own, as the old programs have them */
    bool named; /* arrays are columns, called as they are */
    /* Of a column that comes to others; NULL: it is as it is without a wish. */
    const cip_blz_like *like;
    cip_blz_new *column;
    size_t ncolumn;
    size_t *first; /* of each array of the spec: its first column */
    /* The document's: */
    const cip_dtype *dtype; /* of the whole */
    int32_t ndim;
    cip_blz_super_how super;
} cip_blz_writer;

/* --- blz_write.c ------------------------------------------------------------------------------ */

/* Whether the arrays are columns of a table, or fields, each with its name. */
bool cip_blz_are_columns(const cip_spec *spec);
/* A new file in the folder. */
static inline cip_status cip_blz_new_file(cip_blz_writer *w, const char *name, cip_out **out,
                                          cip_err *err)
{
    return w->out->member(w->out->member_user, name, out, err);
}

/* The column's next chunk. */
cip_status cip_blz_store_chunk(cip_blz_writer *w, cip_blz_new *c, const cip_bp_piece *p,
                               cip_err *err);
/* ARG where data are still to come. */
cip_status cip_blz_check_ended(const cip_blz_writer *w, cip_err *err);

/* --- blz_write_columns.c: which columns there are --------------------------------------------- */

/* The name of a table's column that an array at `path` is, in the arena. UNSUPPORTED for a path
 * into a mapping, and (not the document's) for a name that a folder of a table cannot have. */
cip_status cip_blz_column_name(cip_arena *a, const char *path, cip_blz_kind kind, char **out,
                               cip_err *err);
/* Makes w's columns, and form[i] of each array of the spec. */
cip_status cip_blz_make_columns(cip_blz_writer *w, cip_array_form *form, cip_err *err);

/* --- blz_write_super.c: superchunks ----------------------------------------------------------- */

/* The header of one that comes, before `nmeta` bytes of metadata, but for what follows from its
 * chunks; and how f is then written. */
void cip_blz_super_head(const cip_blz_super_how *how, const cip_blosc_spec *blosc, uint64_t nmeta,
                        cip_bp_container *f);
/* That: f->n chunks, the last of so many decoded bytes, the others of `each`. What an old header
 * does not say (-1) it does not say then. */
void cip_blz_super_counts(cip_bp_container *f, uint64_t each, uint64_t last);
/* The column's next chunk, in the superchunk at hand or the next one. */
cip_status cip_blz_store_super(cip_blz_writer *w, cip_blz_new *c, const cip_bp_piece *p,
                               cip_err *err);

/* --- blz_write_meta.c: what the folder says of itself ----------------------------------------- */

/* Names what of the tree the folder cannot hold. */
cip_status cip_blz_check_tree(const cip_spec *spec, cip_blz_kind kind, cip_report *loss,
                              cip_err *err);
/* Those of the columns of a table alone; `attributes` of them by their paths, or NULL. */
cip_status cip_blz_put_columns_meta(cip_blz_writer *w, const cip_node *attributes, cip_err *err);
/* All files but those in data/. */
cip_status cip_blz_put_meta(cip_blz_writer *w, cip_err *err);

#endif
