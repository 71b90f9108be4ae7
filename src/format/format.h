/* SPDX-License-Identifier: BSD-3-Clause
 * What a format is: it maps bytes to a layout and back. It never slices, casts or decompresses
 * (it names each chunk's codecs and the core does the rest) and never writes a file itself. One
 * const object for each folder of src/format/. */
#ifndef CIP_FORMAT_FORMAT_H
#define CIP_FORMAT_FORMAT_H

#include <string.h>

#include "base/buffer.h"
#include "base/num.h"
#include "base/undo.h"
#include "io/out.h"
#include "io/patch.h"
#include "space/change/chunk_changes.h"
#include "space/layout/form.h"
#include "space/layout/layout.h"
#include "space/read/read.h"
#include "space/change/scatter.h"

/* Where an array's data go. */
typedef enum cip_where {
    CIP_WHERE_DEFAULT = 0,
    CIP_WHERE_INTERNAL = CIP_STORAGE_INTERNAL,
    CIP_WHERE_INLINE = CIP_STORAGE_INLINE,
    CIP_WHERE_EXTERNAL = CIP_STORAGE_EXTERNAL,
    CIP_WHERE_STREAMED = CIP_STORAGE_STREAMED
} cip_where;

/* An array to be written. */
typedef struct cip_spec_array {
    const char *path;
    const cip_dtype *dtype; /* as it is in the source */
    int32_t ndim;
    const int64_t *shape;
    bool masked; /* the source has a mask */
    const cip_array
        *source; /* the open array whose elements it has, all and as they are; or NULL */
    const cip_node *unwritten; /* of the source's array, of which this may be a field */
    /* What follows is for formats with a tree (others ignore it). */
    const cip_node *node; /* the node of the tree that it stands for; NULL: by its path */
    int64_t block;        /* of spec.from, that its data lie in, or -1 */
    int32_t of;           /* of views: the array (an earlier one) whose data they show */
    bool is_view;
    cip_nd view;  /* of views: within the bytes of that array, packed in C order */
    int32_t mask; /* the array (in the spec, unlisted in the tree) that is its mask, or -1 */
    const cip_node *mask_value; /* or the value that means missing */
    bool is_mask;               /* it is the mask of another: not in the tree by itself */
    cip_where where;
    const char *codec; /* NULL: the spec's */
    int level;
    const char *const *option; /* as in the spec; where one is not given: the spec's */
} cip_spec_array;

/* Bytes of the array's elements as they are stored. UNSUPPORTED from 2^63 on. */
static inline cip_status cip_spec_array_nbytes(const cip_spec_array *a, const cip_dtype *stored,
                                               uint64_t *n, cip_err *err)
{
    if (cip_shape_nelem(a->ndim, a->shape, n) && !cip_mul_overflow(*n, stored->itemsize, n) &&
        *n <= INT64_MAX)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected an array of less than 2^63 bytes");
}

/* All that is to be written, and how. */
typedef struct cip_spec {
    cip_env *env;         /* that everything is done in */
    const cip_node *tree; /* or NULL */
    size_t narray;
    const cip_spec_array *array;
    cip_where where;   /* that was asked for, of all arrays */
    const char *codec; /* NULL: the format's default */
    int level;
    /* Values of the format's own options, in the order of its list (cip_option_given). */
    const char *const *option;
    bool accept_loss; /* also one that gives other values back */
    int big;          /* byte order: 0 little, 1 big, -1 the format's default */
    const char *source_format;
    const char *origin_keys; /* of the source's format, as in cip_format; or NULL */
    const char *form_keys;   /* the same */
    /* The file of the same format that all of it comes from, or NULL. whole: all of that goes into
     * the output, what no array shows too; then arrays come in the order of their blocks. */
    cip_layout *from;
    bool whole;
    bool elsewhere; /* the output lies in another folder than the source, or nobody knows where */
    bool renamed;   /* the output has another name than the source, or none */
    bool text_only; /* the output is to be text and nothing else, as its name says */
    const char *version;  /* of the format; NULL: its default */
    const char *kind;     /* one of the format's kinds; NULL: its default */
    const char *checksum; /* the name of one of the format's kinds, "none"; NULL: its default */
    int64_t tree_slack;   /* as in cip_change_options */
    uint64_t align;
    bool late; /* arrays and tree come later (add, tree of the store): CIP_STORE_LATE */
    /* Told what turns out while data are written: the largest error of lossy steps (CIP_NOTE, the
     * part is the array's path); NULL: not wanted. */
    cip_report *notes;
} cip_spec;

/* An array that comes into a file which an update changes. */
typedef struct cip_coming {
    void *update; /* the state of the update */
    const char *path;
    bool replace; /* what is at the path goes; of one that comes later than it was asked for: false
                     by then */
    bool inlined; /* its data are to be in the tree */
    const char *version; /* set by `begin`: of the format, for what comes; or NULL */
    /* Set by `finish`, until `clear`: what it can be read in, and it; NULL: it is no array by
     * itself, but a part of the file's records (`records_now`). */
    const cip_layout *seen;
    const cip_array *array;
} cip_coming;

/* What a store begins with. What it makes lives in `arena` until the end. */
typedef struct cip_store_begin {
    cip_env *env;
    cip_arena *arena;
    const cip_spec *spec; /* lives as long as the writing; of updates: codec, level, options,
                             version, checksum, tree_slack and align of what is stored anew */
    cip_layout *old;      /* what an update changes, open from its file; NULL: a new file is made */
    cip_out *out;         /* of new files; of updates of a folder for what is new in it: members of
                             it are made with the revision, which has them before `finish` */
    cip_undo *undo;       /* of updates: keeps what they overwrite in memory */
    cip_io *temporary;    /* of updates: empty, made a file only when much is written; the revision
                             may take ranges of it */
    /* Of updates, when they end (NULL: no): whether nobody reads the file as it was before, so that
     * the revision may place bytes where nothing of the file as it is names any. */
    bool (*alone)(void *user);
    void *alone_user;
    /* Of updates: the array as the update has it by now, itself where it did not change; borrowed
     * until the next call. */
    const cip_array *(*now)(void *user, const cip_array *a);
    /* ... and the path that it has by now, in the arena: NULL where it is gone, or nobody can tell.
     */
    cip_status (*path_now)(void *user, const cip_array *a, cip_arena *arena, const char **out,
                           cip_err *err);
    void *now_user; /* of both */
    /* With CIP_STORE_ADDS, of what comes into a file: a state of its own, which gets one array (and
     * with TREE its mask) as a new file does, and whose `finish` makes it the update's. What may
     * not come is refused here. */
    cip_coming *coming;
    cip_array_form *form; /* of new files, spec->narray of them, zeroed: how each array is stored */
} cip_store_begin;

typedef enum cip_change_kind {
    CIP_CHANGE_ELEMENTS = 1, /* elements become others */
    CIP_CHANGE_ROWS,         /* more come along the first axis */
    CIP_CHANGE_SHAPE,        /* another shape, with zeros where there was nothing */
    CIP_CHANGE_SPLICE        /* rows come or go in the midst of an axis */
} cip_change_kind;

/* How the elements of an array that is there change. */
typedef struct cip_change_form {
    cip_array_form form; /* of chunks that join those that are there: the same grid, or linear ones
                            of the same length, which the array's own steps decode; or BYTES */
    const uint8_t *fill; /* in chunks: what each row holds that CIP_CHANGE_SHAPE adds (then nothing
                            but rows may come); NULL: zeros */
    bool shared; /* BYTES in which other arrays may lie: rows come where its elements end them, and
                    with any other shape the array gets bytes of its own (`reshaped`) */
    bool own;    /* besides: none does, whatever space others name */
    bool torn;   /* besides: a part of a row may lie behind its elements, and goes when rows come */
} cip_change_form;

/* How a format stores arrays, in a new file or in one that is there. Finished chunks come; what
 * they make of the file ends as one revision of it. Of an update nothing is written before that,
 * and a change sees the ones before it. Functions without a word about it may be NULL: the format
 * cannot do that. */
typedef struct cip_array_store {
    uint32_t caps;
    /* Optional: those of what `spec` asks for (its arrays need not be known), where some depend on
     * it. */
    uint32_t (*caps_for)(const cip_spec *spec);
    /* Names each thing of the spec that the format cannot hold, as a finding (CIP_WARN: lost;
     * CIP_BAD: cannot be written at all). Not NULL. */
    cip_status (*check)(const cip_spec *spec, cip_report *loss, cip_err *err);
    /* Not NULL. *state is set when it is OK. */
    cip_status (*begin)(const cip_store_begin *b, void **state, cip_err *err);

    /* New files. */
    /* n entries of finished chunks of array `array`, from chunk i on. Arrays come in rising order,
     * and so do chunks unless the form says otherwise. Not NULL. */
    cip_status (*store)(void *w, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err);
    /* Behind an array's last chunk. `again` is NULL, or the caller can give the data once more:
     * *again then says whether all its chunks are wanted again, from the first. */
    cip_status (*end)(void *w, size_t array, bool *again, cip_err *err);
    /* With CIP_STORE_LATE and spec.late: the next array, before its first chunk; fills *form
     * (zeroed before). It lives as long as the writing. A failure leaves no trace. The spec has the
     * tree so far, and by `finish`, with NAMES, all of it and the arrays in the order of `add`. */
    cip_status (*add)(void *w, const cip_spec_array *array, cip_array_form *form, cip_err *err);
    /* ... and the tree, before `finish`. With CIP_STORE_ONE_ARRAY: the array came before the tree
     * was whole, which is this one and not that of the spec. Its output can be moved; what it holds
     * then is what it would hold had the spec had this tree. */
    cip_status (*tree)(void *w, const cip_node *root, cip_err *err);

    /* Updates. */
    /* The tree; a path into an array's description is refused. */
    cip_status (*set)(void *w, const char *path, const cip_node *value, cip_err *err);
    cip_status (*remove)(void *w, const char *path, cip_err *err);
    /* `replace`: what `to` names goes first; without it that is ARG. */
    cip_status (*move)(void *w, const char *from, const char *to, bool replace, cip_err *err);
    /* Optional: a mark is set. What is not kept in `undo` of cip_store_begin as it is overwritten
     * is kept now: there, or in *at (NULL before). */
    cip_status (*mark)(void *w, void **at, cip_err *err);
    /* With an *at: goes back to it, before all that is kept since is put back, and then later marks
     * end. A failure has done nothing, and nothing is put back. */
    cip_status (*go_back)(void *w, const void *at, cip_err *err);
    /* ... the mark ends, the newest first. */
    void (*unmark)(void *w, void *at);
    /* The tree with the changes so far, borrowed until the next one: what has `set` has it. */
    cip_status (*tree_now)(void *w, const cip_node **root, cip_err *err);
    /* Whether an array is, or may be, listed by the path of this node of the tree; *within: others
     * may be below it. NULL: the tree describes none. */
    bool (*is_array)(const cip_node *node, bool *within);
    /* The whole text of the tree, borrowed until the next change; and another in its place, in
     * which no description of data may be new. */
    cip_status (*text)(void *w, cip_bytes *out, cip_err *err);
    cip_status (*set_text)(void *w, cip_bytes text, cip_err *err);
    /* An entry in the file's history that says what was done. */
    cip_status (*history)(void *w, const char *text, cip_err *err);
    /* With CIP_STORE_ADDS of columns: the file's records `a` with the columns that came, went and
     * moved so far, whose `was` is `a`; `a` itself where none did. Borrowed until the next one. */
    cip_status (*records_now)(void *w, const cip_array *a, const cip_array **out, cip_err *err);
    /* How an array's elements change (`shape` of CIP_CHANGE_SHAPE and CIP_CHANGE_SPLICE: what it is
     * to become; else NULL). What cannot be changed is refused here. */
    cip_status (*form)(void *w, const cip_array *a, cip_change_kind kind, const int64_t *shape,
                       cip_change_form *out, cip_err *err);
    /* Optional: whether an inline array can have elements of these bytes, packed; asked before they
     * come. */
    cip_status (*holds)(void *w, const cip_dtype *d, const uint8_t *elems, size_t n, cip_err *err);
    /* Before the end, of each array that changed, what became of its chunks; borrowed until the
     * revision is committed. */
    cip_status (*chunks)(void *w, const cip_chunk_changes *c, cip_err *err);
    /* With `shared` of a form, as soon as it is so: the array has another shape. `own`: its
     * elements, all of them, are these bytes now, borrowed as above; NULL: they lie where they did,
     * and rows came behind them. */
    cip_status (*reshaped)(void *w, const cip_array *a, const int64_t *shape,
                           const cip_chunk_changes *own, cip_err *err);
    cip_status (*freeze)(void *w, cip_err *err);
    /* Drops what nothing names; each is told to the report. */
    cip_status (*defrag)(void *w, cip_report *report, cip_err *err);
    /* Whether whole rows of the array may simply be written to the end of a file: this one or one
     * beside it, *in, which holds *nbytes bytes of the array's space now. */
    bool (*grows)(const cip_layout *l, const cip_array *a, cip_io **in, uint64_t *nbytes);

    /* Ends; *r is empty before, but for what `out` of an update has made. Of a new file it gets
     * what was written and is known only now: its patch (member "", within what was written), which
     * the core refuses on a pipe. Not NULL. */
    cip_status (*finish)(void *w, cip_revision *r, cip_err *err);
    /* Frees what does not live in the arena; once for each begin that was OK, also when finish was
     * not reached. */
    void (*clear)(void *w);
} cip_array_store;

enum {
    CIP_STORE_ONE_ARRAY = 1, /* holds exactly one array; not with LATE */
    CIP_STORE_PATCHES = 2,   /* changes what was written: a pipe gets it through a temporary file */
    CIP_STORE_LATE = 4,      /* arrays and tree may come one by one */
    CIP_STORE_TREE = 8,      /* holds any tree */
    CIP_STORE_UPDATES = 16,  /* files that are there can be changed, too */
    CIP_STORE_APART = 32,  /* with LATE: chunks lie apart, so that those of several arrays may come
                              by turns, in any order, between `add` and `end`, and the file is the
                              same */
    CIP_STORE_FOLDER = 64, /* its file is a folder: all goes to members of `out`, which has no bytes
                              of its own */
    CIP_STORE_SUMS = 128,  /* has kinds of checksums to choose from */
    CIP_STORE_COMPLETES = 256, /* `finish` changes what was written where the output can be changed;
                                  a pipe gets it without */
    CIP_STORE_NAMES = 512, /* arrays have names, and of a tree it holds what `check` does not name;
                              TREE implies the names */
    CIP_STORE_ADDS = 1024, /* to a file that is there arrays are added as to a new one, each by a
                              state of its own (cip_coming) */
    CIP_STORE_UNWRITTEN = 2048 /* `unwritten` of arrays is kept, or its loss named by `check` */
};

static inline uint32_t cip_store_caps(const cip_array_store *store, const cip_spec *spec)
{
    return store->caps_for != NULL ? store->caps_for(spec) : store->caps;
}

/* A way of storing that only this format has; its value is a text that the format reads. */
typedef struct cip_format_option {
    const char *key;
    const char *help; /* one line */
} cip_format_option;

/* What was given for the i-th option of the format's list; NULL: nothing. */
static inline const char *cip_option_given(const char *const *option, size_t i)
{
    return option != NULL ? option[i] : NULL;
}

/* The array's own (NULL: of none), else that of all. */
static inline const char *cip_option_of(const cip_spec *spec, const cip_spec_array *a, size_t i)
{
    const char *own = a != NULL ? cip_option_given(a->option, i) : NULL;
    return own != NULL ? own : cip_option_given(spec->option, i);
}

/* yes or no for the option `key`; *v stays where nothing is given (text NULL). */
static inline cip_status cip_option_take_yes(const char *text, const char *key, bool *v,
                                             cip_err *err)
{
    const bool yes = text != NULL && strcmp(text, "yes") == 0;
    if (text != NULL && !yes && strcmp(text, "no") != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected yes or no for %s, found %.60s",
                        key, text);
    *v = text != NULL ? yes : *v;
    return CIP_OK;
}

/* A kind of a format's files that is written under a name of its own. */
typedef struct cip_format_kind {
    const char *name; /* --format argument; as an extension of the format it names the kind, too.
                         "NAME.EXTENSION" is also what NAME asks for where the output has that
                         extension */
    const char *title;
} cip_format_kind;

/* What goes into files of its own. */
typedef struct cip_explosion {
    size_t narray; /* 0: all */
    const cip_array *const *array;
    bool bare; /* nothing but the data in them */
} cip_explosion;

typedef struct cip_format {
    const char *name;       /* "rawarray": folder, --format argument and test prefix */
    const char *title;      /* "RawArray" */
    const char *extensions; /* "ra": space-separated; a hint, only breaks ties between equal probes;
                               decides the format written */
    const char *text_extensions; /* those of them whose files are text and nothing else; or NULL */
    const char *folder_extensions; /* those of them whose files are always folders; or NULL */
    /* 0: not mine ... 100: magic and header both check out. `head`: the first 4 KiB (or all). */
    int (*probe)(cip_io *io, cip_bytes head);
    /* Fills a layout made over the io. Arrays that cannot be read are listed and refused one by one
     * (cip_array_refuse). */
    cip_status (*open)(cip_layout *layout, cip_err *err);
    /* Structure, index and every stored checksum, reading all. OK also with findings. */
    cip_status (*verify)(cip_layout *layout, bool deep, cip_report *report, cip_err *err);
    /* Optional: what the format's own tools print of a file. */
    cip_status (*query)(const cip_layout *layout, cip_buf *out, cip_err *err);
    /* Optional: NULL is read-only. */
    const cip_array_store *store;
    /* Optional: options of its store, key NULL last. */
    const cip_format_option *options;
    /* Optional: kinds of its files besides the default one; name NULL last. */
    const cip_format_kind *kinds;
    /* Optional: the format's other programs know none of our locks and write over files in place,
     * but may keep a lock file (io/lock_file.h) beside one. Its name, for a file of this name in
     * the same folder ("": in the folder that the file is). */
    void (*lock_file)(const char *name, char *out, size_t cap);
    /* Optional, both or none: the whole file anew from an open one of this format, with all that
     * arrays alone do not show (blocks that nothing names, views, order, comments), and whether
     * that gives what `spec` asks for (its arrays and tree are not used). */
    bool (*may_rewrite)(const cip_layout *l, const cip_spec *spec);
    cip_status (*rewrite)(cip_layout *l, const cip_spec *spec, cip_out *out, cip_err *err);
    /* Optional: the file with data in files beside it (out->member); `rewrite` brings them back. */
    cip_status (*explode)(cip_layout *l, const cip_explosion *how, const cip_spec *spec,
                          cip_out *out, cip_err *err);
    /* Optional: what YAML's primary tag handle, `!`, stands for where its trees are written as text
     * and values are given as such; NULL: itself, local tags (YAML 1.2, 6.8.2.1). */
    const char *tag_prefix;
    /* Optional: keys of its trees' roots, space-separated, that tell how a file came about, not
     * what is in it. */
    const char *origin_keys;
    /* Optional: paths of its trees, space-separated, that tell how the only array lies in the file:
     * nothing that a file with the same array lacks. */
    const char *form_keys;
    /* Optional: a tree of the layout for another format. Single values that this one keeps as
     * mappings with arrays in them are scalars in it; *tree stays where there are none, else the
     * new one is in `a`, with the same nodes that describe arrays. within[i] (false before): the
     * layout's array i is part of such a value, and no array of the user's. */
    cip_status (*plain)(const cip_layout *l, cip_arena *a, const cip_node **tree, bool *within,
                        cip_err *err);
} cip_format;

/* Whether `word` (n bytes) is one of the space-separated words of `list` (NULL: none). */
static inline bool cip_is_word_of(const char *list, const char *word, size_t n)
{
    while (list != NULL && *list != '\0') {
        size_t len = strcspn(list, " ");
        if (len == n && memcmp(list, word, n) == 0)
            return true;
        list += len + strspn(list + len, " ");
    }
    return false;
}

/* All formats of this build, NULL last: generated by the build from the folders. */
extern const cip_format *const cip_formats[];

/* What files of a format may begin with. */
typedef struct cip_format_mark {
    const char *bytes;
    size_t len;
} cip_format_mark;

/* A format that was left out of this build: all it takes to name it. */
typedef struct cip_format_absent {
    const char *name, *title, *extensions; /* as in cip_format */
    const cip_format_mark *mark;           /* NULL last */
    const char *const *member;             /* one of them is in its folders; NULL last */
} cip_format_absent;

/* All of them, name NULL last. */
extern const cip_format_absent cip_formats_absent[];

#endif
