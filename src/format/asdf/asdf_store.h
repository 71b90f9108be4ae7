/* SPDX-License-Identifier: BSD-3-Clause
 * The store's state: the file as it was, if there was one, and what becomes of it. Arrays that come
 * into a new file are written as they come; into one that is there, to the temporary file. Changes
 * of a file that is there end as a revision of it. */
#ifndef CIP_FORMAT_ASDF_STORE_H
#define CIP_FORMAT_ASDF_STORE_H

#include <string.h>

#include "format/asdf/write/asdf_write.h"
#include "tree/edit.h"

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
    asdf_packing asked; /* where data did not become smaller, and are stored as they are */
    asdf_encoded of;
    uint64_t nbytes, left; /* raw: in all, still to come */
    int64_t block;         /* of internal and streamed ones */
    const char *uri;       /* of external ones */
    size_t member;         /* and their number */
    cip_buf data;          /* of inline ones */
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

/* A block, of the file or new. */
typedef struct asdf_ublock {
    asdf_block head;            /* as in the file; of a new one what is known of it by now */
    bool is_new;                /* not in the file */
    bool changed;               /* anything of it; elements only from cip_asdf_update_chunks on */
    const cip_chunk_changes *c; /* its decoded bytes; NULL: as they were, or `encoded` alone */
    cip_segment encoded;        /* made at the end: stored bytes that are not in the file; no io:
                                   none, they are `c` as it is */
    bool grown;       /* made at the end: `encoded` follows the stored bytes of the file */
    uint64_t raw_len; /* made at the end: decoded bytes in all */
    bool summed;      /* a checksum is wanted, though it had none */
    bool dropped;     /* by defrag */
    int64_t chain_of; /* the block of the file whose encoding chain it goes through, or -1 */
    /* The array that its decoded bytes are since this update changed its shape; NULL: as in the
     * file. */
    const cip_array *array;
    const int64_t *shape;
    bool sum_known;              /* the header's checksum is that of what will be stored */
    const asdf_packing *packing; /* of one that came with an array; or NULL */
} asdf_ublock;

/* Stored bytes of a block as they will be: the kept ones, then those of `more`. */
typedef struct asdf_payload {
    uint64_t kept, len;
    cip_segment more;
} asdf_payload;

/* A path at which what was there was removed or replaced; in the arena. */
typedef struct asdf_gone {
    struct asdf_gone *next;
    const char *path;
} asdf_gone;

/* An array that came, which may change as one of the file; in the arena. */
typedef struct asdf_came {
    struct asdf_came *next;
    const cip_array *array;
    const asdf_gone *gone; /* before it came */
} asdf_came;

typedef struct asdf_state {
    cip_env *env;
    cip_arena *arena;
    cip_spec spec;
    cip_layout *l; /* the file as it was; NULL: a new one, or arrays that come into one */
    asdf_file *f;
    /* Arrays that come. */
    asdf_sum sum;
    asdf_how how; /* of arrays that have none of their own; its standard is of all */
    asdf_target **target;
    size_t ntarget, target_cap;
    int64_t nblock;
    asdf_kept kept;
    size_t nexternal;
    bool tree_last;
    bool yaml; /* arrays are inline where nothing else is said */
    const cip_node *root;
    asdf_part main, beside;
    asdf_blockw block;
    size_t open;        /* the array that data are taken for; SIZE_MAX: none */
    size_t ndone;       /* arrays before this one have their data */
    cip_coming *coming; /* what is written comes into a file; NULL: it is a new file */
    cip_layout *seen;   /* in which the array that came can be read; or NULL */
    /* A file that is there. */
    cip_undo *undo;          /* keeps blocks before they change; borrowed */
    cip_io *temporary;       /* where what is encoded goes; borrowed */
    const asdf_chain *given; /* what spec.encode says; or NULL */
    cip_yaml_edit *tree;     /* NULL until it is needed */
    uint32_t announced;      /* bit k: the tree names cip_asdf_codecs[k] */
    bool tree_changed;
    bool moved;   /* a node has another path, so those of arrays may lead elsewhere */
    bool anew;    /* the file is to be made anew, whatever would fit */
    bool compact; /* and without free space in its blocks */
    bool frozen;  /* the streamed block has its size: `*` is none any more */
    asdf_ublock *b;
    size_t n, cap;
    cip_strmap own; /* an array's description -> the last block that became its own */
    const cip_array *(*now)(void *user, const cip_array *a); /* of cip_store_begin */
    cip_status (*path_now)(void *user, const cip_array *a, cip_arena *arena, const char **out,
                           cip_err *err);
    void *now_user;
    uint64_t ntext;           /* how often the tree's text was set as a whole */
    struct asdf_before *mark; /* the newest one; or NULL */
    asdf_gone *gone;
    asdf_came *came; /* the last one first */
} asdf_state;

/* Of payloads. A header of 0.1 is as long as its fields, from which its layout is told, unless
 * another alignment is asked for. */
static inline uint64_t cip_asdf_block_align(const asdf_state *w)
{
    return w->how.standard->early && w->spec.align == 0 ? 1 : w->main.align;
}

/* What a RawArray's tree says lies in the array itself, but for its metadata. */
bool cip_asdf_is_rawarray(const cip_spec *spec);

/* --- asdf_sink.c: arrays that come */
cip_status cip_asdf_sink_begin(asdf_state *w, cip_out *out, cip_array_form *form, cip_err *err);
cip_status cip_asdf_sink_store(void *state, size_t array, uint64_t i, size_t n,
                               const cip_chunk_in *chunk, cip_err *err);
cip_status cip_asdf_sink_end(void *state, size_t array, bool *again, cip_err *err);
cip_status cip_asdf_sink_add(void *state, const cip_spec_array *array, cip_array_form *form,
                             cip_err *err);
cip_status cip_asdf_sink_tree(void *state, const cip_node *root, cip_err *err);
cip_status cip_asdf_sink_finish(asdf_state *w, cip_err *err);

/* --- asdf_kept.c */
cip_status cip_asdf_number_blocks(cip_arena *a, const cip_spec *spec, asdf_kept *out, cip_err *err);
/* The number of an array's block: that of the one it was in, for the first array that was. */
int64_t cip_asdf_take_number(asdf_state *w, const cip_spec_array *s);
cip_status cip_asdf_check_kept(const cip_spec *spec, cip_report *loss, cip_err *err);
/* Writes those that are kept and whose numbers are less than `before`. */
cip_status cip_asdf_copy_kept(asdf_state *w, int64_t before, cip_err *err);

/* --- asdf_sink_check.c */
/* Whether rows of a stream have no bytes, so that its length would not tell how many there are. */
bool cip_asdf_loses_rows(int32_t ndim, const int64_t *shape, uint64_t itemsize);
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
cip_status cip_asdf_new_target(asdf_state *w, const cip_spec_array *s, const cip_spec_array *all,
                               size_t n, cip_array_form *form, cip_err *err);

/* --- asdf_sink_tree.c: descriptions; head and tree, to their place */
cip_status cip_asdf_target_node(asdf_state *w, cip_arena *a, const asdf_target *t,
                                const cip_node **out, cip_err *err);
cip_status cip_asdf_write_text(asdf_state *w, cip_err *err);

/* --- asdf_update.c ---------------------------------------------------------------------------- */

cip_status cip_asdf_update_begin(asdf_state *u, cip_err *err);
cip_status cip_asdf_update_set(void *state, const char *path, const cip_node *value, cip_err *err);
cip_status cip_asdf_update_remove(void *state, const char *path, cip_err *err);
cip_status cip_asdf_update_move(void *state, const char *from, const char *to, bool replace,
                                cip_err *err);
cip_status cip_asdf_update_history(void *state, const char *text, cip_err *err);
/* What the tree, and the blocks and places that come, are before a change; to be ended. What blocks
 * that are there have is not in it: the undo log keeps that. */
typedef struct asdf_before {
    cip_buf text;
    bool saved; /* all of it is here: what failed to be saved cannot be restored */
    bool has_text, tree_changed, moved, anew, frozen;
    asdf_ublock *b;
    size_t n, cap;
    asdf_gone *gone;
    asdf_came *came;
    /* Of a mark: the one before it, its text, in `text` or in that one's, and how often that had
     * changed. */
    struct asdf_before *mark;
    cip_bytes is;
    uint64_t ntext, nchange;
} asdf_before;
/* `text` false: the tree's text is not kept, as a change of it is queued as the last of what can
 * fail. */
cip_status cip_asdf_update_save(asdf_state *u, bool text, asdf_before *b, cip_err *err);
/* For the caller of the update. */
cip_status cip_asdf_update_mark(void *state, void **at, cip_err *err);
cip_status cip_asdf_update_go_back(void *state, const void *at, cip_err *err);
void cip_asdf_update_unmark(void *state, void *at);
/* Before the block, of those that there are, changes. */
static inline cip_status cip_asdf_update_keep(asdf_state *u, size_t block, cip_err *err)
{
    return cip_undo_keep(u->undo, &u->b[block], sizeof u->b[block], err);
}
/* Ends it: with a failure all is as it was. Gives `st`, or NOMEM where it cannot be. */
cip_status cip_asdf_update_end_of(asdf_state *u, asdf_before *b, cip_status st, cip_err *err);
/* u->tree, to which changes may be queued. */
cip_status cip_asdf_update_queued_tree(asdf_state *u, cip_err *err);
/* A value waits there to be set: what the tree names may be another. */
void cip_asdf_update_queued_at(asdf_state *u, const char *path);
/* The tree's text, for changes. */
cip_status cip_asdf_update_tree(asdf_state *u, cip_yaml_edit **out, cip_err *err);
/* Whether the array's node has the step. */
cip_status cip_asdf_update_has_key(asdf_state *u, const cip_array *a, const char *step, bool *has,
                                   cip_err *err);
/* Sets `step` of the array's node, path/step, when the text is wanted next. */
cip_status cip_asdf_update_key(asdf_state *u, const cip_array *a, const char *step,
                               const cip_node *value, cip_err *err);
/* The step goes, where it is there. */
cip_status cip_asdf_update_drop_key(asdf_state *u, const cip_array *a, const char *step,
                                    cip_err *err);
/* The text with block i of the file called to[i], for all n of them; `to` NULL: i, also where it
 * counted from the end. *changed (or NULL): the text is another. */
cip_status cip_asdf_update_renumber(asdf_state *u, const int64_t *to, size_t n, bool *changed,
                                    cip_err *err);
/* Notes that what the file had at a path, or what came there, is there no more. */
cip_status cip_asdf_update_went(asdf_state *u, const char *path, cip_err *err);
/* The path of the array's description by now; *out NULL: it is gone, or nobody can tell. */
cip_status cip_asdf_update_path(asdf_state *u, const cip_array *a, const char **out, cip_err *err);
/* The array as the update has it by now. */
static inline const cip_array *cip_asdf_update_now(const asdf_state *u, const cip_array *a)
{
    return u->now != NULL ? u->now(u->now_user, a) : a;
}
/* Whether any block is new or changed. */
static inline bool cip_asdf_update_any_changed(const asdf_state *u)
{
    bool any = false;
    for (size_t i = 0; i < u->n; i++)
        any = any || u->b[i].changed;
    return any;
}
/* For each block how many ndarrays of the tree name it, masks included; in the arena. */
cip_status cip_asdf_update_users(asdf_state *u, const size_t **n, cip_err *err);
/* Puts another text in the tree's place. */
cip_status cip_asdf_update_text(asdf_state *u, cip_bytes text, cip_err *err);
/* Refuses a path within an ndarray's description, but for a `value` that stands for what is
 * missing; NULL: there is none. */
cip_status cip_asdf_update_check_path(asdf_state *u, const char *path, const cip_node *value,
                                      cip_err *err);
/* UNSUPPORTED when the last block is streamed: then no other can follow. */
cip_status cip_asdf_update_check_last(const asdf_state *u, cip_err *err);
/* Room for a new block behind the u->n that there are, which is not counted yet. */
cip_status cip_asdf_update_room(asdf_state *u, asdf_ublock **out, cip_err *err);
/* A new block with no data yet, stored as block `like` is. */
cip_status cip_asdf_update_new_block(asdf_state *u, size_t like, size_t *index, cip_err *err);
/* Decoded bytes of a block as they are now. */
cip_space *cip_asdf_update_data(const asdf_state *u, const asdf_ublock *b);

/* Refuses a tree in which a `$ref` to a node of this file leads nowhere, unless it did before. */
cip_status cip_asdf_update_check_refs(asdf_state *u, cip_err *err);

/* --- asdf_update_add.c: arrays that come ------------------------------------------------------ */

/* Whether the array may come, and where its payloads go. */
cip_status cip_asdf_coming_begin(asdf_state *w, cip_out **out, cip_err *err);
/* What was written becomes the file's. */
cip_status cip_asdf_coming_finish(asdf_state *w, cip_err *err);
/* A codec (NULL: none) beyond the standard is announced in the tree, as in a new file. */
cip_status cip_asdf_update_announce(asdf_state *u, const asdf_codec *codec, cip_err *err);

/* --- asdf_update_text.c ----------------------------------------------------------------------- */

cip_status cip_asdf_update_tree_now(void *u, const cip_node **root, cip_err *err);
cip_status cip_asdf_update_get_text(void *u, cip_bytes *out, cip_err *err);
cip_status cip_asdf_update_set_text(void *u, cip_bytes text, cip_err *err);

/* --- asdf_update_data.c: elements ------------------------------------------------------------- */

cip_status cip_asdf_update_form(void *state, const cip_array *a, cip_change_kind kind,
                                const int64_t *shape, cip_change_form *out, cip_err *err);
cip_status cip_asdf_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err);
cip_status cip_asdf_update_reshaped(void *state, const cip_array *a, const int64_t *shape,
                                    const cip_chunk_changes *own, cip_err *err);
bool cip_asdf_grows(const cip_layout *l, const cip_array *a, cip_io **in, uint64_t *nbytes);
/* Whether its first axis is `*`: as long as its data are. */
bool cip_asdf_update_star(const cip_array *a);
static inline bool cip_asdf_is_inline(const cip_array *a)
{
    return a->storage.kind == CIP_STORAGE_INLINE;
}

cip_status cip_asdf_update_freeze(void *u, cip_err *err);
cip_status cip_asdf_update_defrag(void *u, cip_report *report, cip_err *err);

/* --- asdf_update_inline.c --------------------------------------------------------------------- */

cip_status cip_asdf_inline_form(asdf_state *u, const cip_array *a, cip_change_form *out,
                                cip_err *err);
/* Puts those that have changed into the tree. */
cip_status cip_asdf_inline_finish(asdf_state *u, cip_err *err);
/* As cip_array_store has it. */
cip_status cip_asdf_inline_holds(void *u, const cip_dtype *d, const uint8_t *elems, size_t n,
                                 cip_err *err);

/* --- asdf_update_chain.c: encoding chains of 0.1 ---------------------------------------------- */

/* Takes the chain that the options name. UNSUPPORTED in a file that has none. */
cip_status cip_asdf_update_take_chain(asdf_state *u, cip_err *err);
/* Whether the block's data are to go through a chain: its own, or the one that the options name. */
bool cip_asdf_update_is_chained(const asdf_state *u, const asdf_ublock *b);
/* Its decoded bytes, which are anew, through it. UNSUPPORTED for a lossy chain that is not
 * accepted.
 */
cip_status cip_asdf_update_encode_chain(asdf_state *u, size_t block, cip_err *err);

/* --- asdf_update_finish.c: where everything goes ---------------------------------------------- */

cip_status cip_asdf_update_finish(asdf_state *u, cip_revision *r, cip_err *err);

/* --- asdf_update_end.c ------------------------------------------------------------------------ */

/* Where bytes behind the last block of the file begin that are neither room nor an index;
 * UINT64_MAX: there are none. */
cip_status cip_asdf_update_find_extra(const asdf_state *u, uint64_t *at, cip_err *err);
/* Refuses to go on where they would be dropped. */
cip_status cip_asdf_update_check_end(const asdf_state *u, cip_err *err);
/* Where between the tree and the first block, and before `end`, bytes begin that are no room;
 * UINT64_MAX: there are none. */
cip_status cip_asdf_update_find_front(const asdf_state *u, uint64_t end, uint64_t *at,
                                      cip_err *err);

/* --- asdf_update_payload.c: what is stored of each block -------------------------------------- */

/* Whether rows at its end are stored behind the others, which stay as they are stored. */
bool cip_asdf_update_grows(const asdf_state *u, const asdf_ublock *b);
/* Encodes what has to be; then the payload is known. */
cip_status cip_asdf_update_encode(asdf_state *u, size_t block, cip_err *err);
/* All that is not in the file as it is through `w`, whose codec or chain is set. Nothing becomes of
 * what would be larger. */
cip_status cip_asdf_update_encode_by(asdf_state *u, asdf_ublock *b, asdf_blockw *w, cip_err *err);
asdf_payload cip_asdf_update_payload(const asdf_ublock *b);
/* The block as it will be stored: sizes, payload, and its checksum if it had one or the options
 * want it. The block stays where it is then. */
cip_status cip_asdf_update_piece(asdf_state *u, size_t block, asdf_piece *out, cip_err *err);

#endif
