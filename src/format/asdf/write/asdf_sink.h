/* SPDX-License-Identifier: BSD-3-Clause
 * The inside of the sink of ASDF. */
#ifndef CIP_FORMAT_ASDF_SINK_H
#define CIP_FORMAT_ASDF_SINK_H

#include "format/asdf/write/asdf_write.h"

enum { ASDF_BEGUN = 1, ASDF_DONE = 2 };

/* How data are stored. In 0.1.0 a codec stands for a chain, or tells the level of one. */
typedef struct asdf_how {
    const asdf_standard *standard;
    asdf_packing packing;
    const asdf_chain *chain; /* or NULL; in the arena */
} asdf_how;

/* An array on its way out. */
typedef struct asdf_target {
    const cip_spec_array *s;
    const cip_dtype *stored;
    cip_where where;
    asdf_how how;
    asdf_encoded of;
    uint64_t nbytes, left; /* raw: in all, still to come */
    int64_t block;         /* of internal and streamed ones */
    const char *uri;       /* of external ones */
    size_t member;         /* and their number */
    cip_buf data;          /* of inline ones */
    asdf_piece piece;      /* once written, of those of w->coming */
    int state;
} asdf_target;

/* The blocks of spec.from, where they are numbered as there. */
typedef struct asdf_kept {
    size_t n;    /* of them; 0: nothing is kept */
    int64_t *to; /* the number that each has in the output, or -1 */
    bool *kept;  /* no array shows it: it goes along as it is stored, where the output has blocks */
    bool *given; /* an array has its number */
    size_t next; /* numbers that are taken */
    bool moved;  /* one that is kept has another number */
    size_t done; /* written, or arrays' */
} asdf_kept;

typedef struct asdf_writer {
    bool is_update; /* false: not an asdf_update, which begins so too */
    cip_env *env;
    cip_arena *a;
    cip_spec spec;
    const asdf_standard *standard;
    asdf_sum sum;
    asdf_how how; /* of arrays that have none of their own */
    asdf_target **target;
    size_t n, cap;
    int64_t nblock;
    asdf_kept kept;
    size_t nexternal;
    bool tree_last;
    bool yaml; /* arrays are inline where nothing else is said */
    const cip_node *tree;
    asdf_part main, beside;
    asdf_blockw block;
    size_t open;        /* the array that data are taken for; SIZE_MAX: none */
    cip_coming *coming; /* what is written comes into a file: its payloads alone, to the update's
                           temporary file; NULL: it is a new file */
    cip_layout *seen;   /* in which the array that came can be read; or NULL */
} asdf_writer;

/* Of payloads. A header of 0.1 is as long as its fields, from which its layout is told, unless
 * another alignment is asked for. */
static inline uint64_t cip_asdf_block_align(const asdf_writer *w)
{
    return w->standard->early && w->spec.align == 0 ? 1 : w->main.align;
}

/* What a RawArray's tree says lies in the array itself, but for its metadata. */
bool cip_asdf_is_rawarray(const cip_spec *spec);

/* --- asdf_sink.c: the store's functions for new files */
cip_status cip_asdf_sink_begin(const cip_store_begin *b, void **state, cip_err *err);
cip_status cip_asdf_sink_store(void *state, size_t array, uint64_t i, size_t n,
                               const cip_chunk_in *chunk, cip_err *err);
cip_status cip_asdf_sink_end(void *state, size_t array, bool *again, cip_err *err);
cip_status cip_asdf_sink_add(void *state, const cip_spec_array *array, cip_array_form *form,
                             cip_err *err);
cip_status cip_asdf_sink_tree(void *state, const cip_node *root, cip_err *err);
cip_status cip_asdf_sink_finish(void *state, cip_err *err);
void cip_asdf_sink_clear(void *state);

/* --- asdf_kept.c */
cip_status cip_asdf_number_blocks(cip_arena *a, const cip_spec *spec, asdf_kept *out, cip_err *err);
/* The number of an array's block: that of the one it was in, for the first array that was. */
int64_t cip_asdf_take_number(asdf_writer *w, const cip_spec_array *s);
cip_status cip_asdf_check_kept(const cip_spec *spec, cip_report *loss, cip_err *err);
/* Writes those that are kept and whose numbers are less than `before`. */
cip_status cip_asdf_copy_kept(asdf_writer *w, int64_t before, cip_err *err);

/* --- asdf_sink_check.c */
/* What cannot be said of an array that is stored there, or NULL. */
const char *cip_asdf_array_fault(const asdf_standard *s, const cip_spec_array *a, cip_where where);
cip_status cip_asdf_sink_check(const cip_spec *spec, cip_report *loss, cip_err *err);

/* --- asdf_sink_chain.c: through which codec or chain */
cip_status cip_asdf_how_of(cip_env *env, cip_arena *a, const cip_spec *spec, asdf_how *out,
                           cip_err *err);
/* An array's own way, *how on entry that of the file: none for inline, streamed and empty ones, a
 * lossless one for masks. ARG or UNSUPPORTED where the array cannot go through it. */
cip_status cip_asdf_array_how(cip_env *env, cip_arena *a, const asdf_target *t, asdf_how *how,
                              cip_err *err);

/* --- asdf_sink_array.c: an array more; fills *form. `all`: the n of a spec known from the start */
cip_status cip_asdf_new_target(asdf_writer *w, const cip_spec_array *s, const cip_spec_array *all,
                               size_t n, cip_array_form *form, cip_err *err);

/* --- asdf_sink_tree.c: descriptions; head and tree, to their place */
cip_status cip_asdf_target_node(asdf_writer *w, cip_arena *a, const asdf_target *t,
                                const cip_node **out, cip_err *err);
cip_status cip_asdf_write_text(asdf_writer *w, cip_err *err);

#endif
