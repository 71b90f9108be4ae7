/* SPDX-License-Identifier: BSD-3-Clause
 * Writing files and changing them in place. A change is a file, or none yet, and what is to become
 * of it: values of the tree, arrays, elements, rows. All of it is written by its commit, or nothing
 * is: a fault at any instant leaves the old file or the new one. */
#ifndef CIPPUS_CHANGE_H
#define CIPPUS_CHANGE_H

#include "cippus/ext/io.h"
#include "cippus/file.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a commit survives. */
typedef enum cip_level {
    CIP_LEVEL_POWER = 0,  /* a loss of power: everything is synced in order */
    CIP_LEVEL_PROCESS = 1 /* the death of the process at any instant: no sync */
} cip_level;

/** A file in memory, and members beside it where it consists of several files (cippus/memory.h).
 */
typedef struct cip_memory cip_memory;

/** How a file is written or changed. Zero fields mean the default. Those that only a new file has,
 * or only one that is there, say so, and are ARG for the other. */
typedef struct cip_change_options {
    size_t size;           /* sizeof(cip_change_options) */
    const char *format;    /* a format's name; NULL: by the file's name, or what is in the file */
    const char *codec;     /* of arrays that are put or stored anew: "lz4", "zlib:9", "none"; NULL:
                              the format's default, or as they are stored */
    const char *byteorder; /* "little", "big". Of a new file: how its arrays are stored; NULL: the
                              format's default. Of one that is there: of elements in memory whose
                              dtype is cip_dtype_as_stored(); NULL: the machine's */
    const char *checksum;  /* "md5" (of the stored bytes), "legacy" (of the decoded ones), "none";
                              bloscpack: "crc32", "sha256", ...; NULL: the format's default, or as
                              stored */
    const char *const *format_options; /* "KEY=VALUE" texts, NULL last (CIP_TEXTS): options that
                                          only the format has (cip_format_option_at), of arrays that
                                          are put or changed; of a key that comes twice the last
                                          counts; NULL: none. UNSUPPORTED for others' */
    int64_t tree_slack; /* bytes of room kept behind a tree that is new or has to move; 0: the
                           format's default; -1: none */
    cip_level level;
    bool accept_loss; /* what the format cannot hold is left out or, of values, comes as near as it
                         can; elements that the array's type does not hold exactly are converted all
                         the same (CIP_OVERFLOW_CLAMP), and those of another array that are what
                         stands for missing ones become missing; a chain may be lossy; arrays and
                         nodes of other files may lack what was left out when those were read */
    cip_finding_fn *on_note; /* told what a lossy chain's largest error is, for each array, of what
                                other files' arrays and nodes lack, what a typed value is stored as,
                                and, by the commit, of the name of the only array where the format
                                has none */
    void *user;              /* of on_note and progress */
    cip_progress_fn *progress; /* of a new file told bytes that are stored, of those of all arrays
                                  put or declared by then, by the thread that puts or commits; of
                                  one that is there how many chunks of an array are encoded, of so
                                  many, at the plan or the commit. Once it stops a call, the commit
                                  is CANCELLED too and nothing is written */
    unsigned threads;          /* this and the next three as in cip_open_options */
    const cip_limits *limits;
    const cip_allocator *allocator;
    const cip_codec_methods *const *codecs;
    size_t ncodec;

    /* Of a new file: */
    const char *version; /* of the format: an ASDF standard, "1.6.0" (or "0.1.0") */
    uint64_t align;      /* stored data start at a multiple of this; 0: the format's default (64) */
    bool overwrite;      /* an existing file is replaced, at the commit and in one step */
    /** Not NULL: cip_create writes behind the last byte of the file at its path, which has to be
     * there, and *at_end becomes the byte where the new one begins (cip_open_options.offset;
     * Python: blosc2.open(path, offset=...)). There is the old file, or all of the new one behind
     * it. */
    uint64_t *at_end;

    /* Of one that is there: */
    const cip_open_options *open; /* how cip_change_open, _io and _memory read it, where this struct
                                     has no field for it; NULL: the defaults */
    const char *history;          /* a history entry that says what was done; NULL: none */
    bool break_links; /* a file with several names (hard links) may be replaced under this one */
    bool by_position; /* fields of records go by their order instead of their names */
    unsigned wait;    /* seconds for which another writer is waited for, and readers who are in
                         the way of the commit, before that is BUSY; 0: not at all */
} cip_change_options;

#define CIP_CHANGE_OPTIONS(...) CIP_OPTIONS(cip_change_options, __VA_ARGS__)

/** How one array is written. Zero fields mean the change's default. */
typedef struct cip_array_options {
    size_t size;                 /* sizeof(cip_array_options) */
    const char *codec;           /* "name" or "name:level" */
    const char *storage;         /* "internal" (the default), "inline", "external", "streamed" */
    int64_t chunk[CIP_MAX_NDIM]; /* chunk shape; all zero: the format's choice, and so it is where
                                    arrays have no n-d chunks */
    const uint8_t *mask;         /* one byte an element in C order, nonzero: missing; NULL: none */
    const char *const *format_options; /* as in cip_change_options, where the array differs */
    uint32_t replace;  /* 1: of a file that is there what is at the path goes, in the same step (the
                          root, and what belongs to an array's description, do not); ARG in a new
                          one */
    uint32_t reserved; /* 0 */
} cip_array_options;

#define CIP_ARRAY_OPTIONS(...) CIP_OPTIONS(cip_array_options, __VA_ARGS__)

/** A change being put together, by one thread at a time (slabs excepted). Of a file that is there
 * it holds the writers' lock. A call that fails changes nothing, and makes the commit fail with its
 * error, so that a program may look at the commit's status alone; of a new file the next calls fail
 * with it as well. One that has looked at the failure goes on without that call by
 * cip_change_forget_failure. What the format cannot hold is refused (UNSUPPORTED), never left out
 * but where the options accept that. */
typedef struct cip_change cip_change;
/** An array that is filled by boxes. Borrowed from its change. */
typedef struct cip_slab cip_slab;

/* --- beginning: a new file */

/** A new file; its format is told by the name or the options. Nothing is under the name `path`
 * before cip_change_commit. ARG when the name tells no format, UNSUPPORTED when the format cannot
 * be written, EXISTS when the file exists and is not to be overwritten. */
CIP_API cip_status cip_create(const char *path, const cip_change_options *opts, cip_change **change,
                              cip_err *err);
/** The same in the caller's store (cippus/ext/io.h); the name in `methods`, which is copied, tells
 * the format where the options do not. Nothing of the store is called before the commit, but for
 * methods->close, which gives `user` back when the change ends, or before this fails. Until the
 * commit RawArray and npy keep what was put, ASDF the file as far as it is written, over 4 MiB in
 * temporary files; the bytes are those that a file would have. `overwrite` means nothing here.
 * UNSUPPORTED later on when a file of several members is put (storage "external") and
 * methods->create_member is NULL. */
CIP_API cip_status cip_create_io(const cip_io_write_methods *methods, void *user,
                                 const cip_change_options *opts, cip_change **change, cip_err *err);
/** The same in memory: *memory, which is the caller's to free, also when the change fails, and
 * outlives it. `format` as in the options ("asdf"), or a file's name with a dot in it
 * ("night.asdf"), which tells the format where the options do not and which members are named
 * after: without one, files that name their members so (storage "external") are UNSUPPORTED. What
 * is in it does not count for cip_limits.max_memory. */
CIP_API cip_status cip_create_memory(const char *format, const cip_change_options *opts,
                                     cip_memory **memory, cip_change **change, cip_err *err);

/* --- beginning: a file that is there */

/** A change of a file by its name. What an interrupted change left behind is completed first. BUSY
 * when another writer has it, READONLY when it may not be written, UNSUPPORTED when the format or
 * source cannot be changed. */
CIP_API cip_status cip_change_open(const char *path, const cip_change_options *opts,
                                   cip_change **change, cip_err *err);
/** The same of a file that cip_open or cip_memory_open opened, or cip_open_io by methods with
 * open_write and version; of such a one it must stay open until the change has ended. It is read
 * with the options that it was opened with: `format`, `open`, `threads`, `limits`, `allocator` and
 * `codecs` are ARG. BUSY when it changed since it was opened, too, STALE when its name is another
 * file's by now, or nobody's. `file` may be read until the commit; then it is to be opened again,
 * or refreshed (cip_file_refresh), and reading it is BUSY. */
CIP_API cip_status cip_change_begin(cip_file *file, const cip_change_options *opts,
                                    cip_change **change, cip_err *err);
/** The same of a file in a store of the caller's, by methods that read and that write it
 * (cippus/ext/io.h). Nothing is written before the commit. A method that fails in it ends it, and
 * what was written by then is undone by further calls: all is written, or nothing, unless these
 * fail as well (the error says so). There are no locks and no journals: what ends the process, or
 * the machine, amid a commit leaves a mixture. write->close gives `user` back when the change ends,
 * or before this fails; read->close is not called. */
CIP_API cip_status cip_change_open_io(const cip_io_methods *read, const cip_io_write_methods *write,
                                      void *user, const cip_change_options *opts,
                                      cip_change **change, cip_err *err);
/** The same of a file in memory, which must outlive the change. It can be read until the commit,
 * after which cip_memory_bytes gives other bytes. */
CIP_API cip_status cip_change_open_memory(cip_memory *memory, const cip_change_options *opts,
                                          cip_change **change, cip_err *err);

/* --- the tree */

/** Sets the node at `path` (as cip_tree_get reads paths); one that is there is replaced. Missing
 * parents are made: a list where the step below is `0` or `-`, else a mapping (one that is to have
 * the key "0" is set to `{}` first). In a list a number sets that item, and the next number, or
 * `-`, adds one; NOT_FOUND for a later one. TYPE when a parent is neither mapping nor list. Strings
 * are UTF-8 (ARG) and copied. What the format has no place for is named by the commit (UNSUPPORTED,
 * but for accept_loss). */
CIP_API cip_status cip_change_set_string(cip_change *c, const char *path, const char *text,
                                         cip_err *err);
CIP_API cip_status cip_change_set_int(cip_change *c, const char *path, int64_t value, cip_err *err);
CIP_API cip_status cip_change_set_uint(cip_change *c, const char *path, uint64_t value,
                                       cip_err *err);
CIP_API cip_status cip_change_set_double(cip_change *c, const char *path, double value,
                                         cip_err *err);
CIP_API cip_status cip_change_set_bool(cip_change *c, const char *path, bool value, cip_err *err);
CIP_API cip_status cip_change_set_null(cip_change *c, const char *path, cip_err *err);
/** The same with a value written as YAML ("{a: [1, 2]}", "!core/complex-1.0.0 1+2j"). CORRUPT when
 * it is none. */
CIP_API cip_status cip_change_set_yaml(cip_change *c, const char *path, const char *text,
                                       cip_err *err);
/** YAML as a person types it: a plain `1e-3`, `-.5`, `nan` or `inf`, a string in YAML 1.1, becomes
 * that number. on_note is told, with code TYPE, of what is stored as something that its text does
 * not show (`017` as octal, `12:30` as sexagesimal, `yes`, a date), and with code OK of a string
 * that looks like a number (`0o17`). Errors as above; CANCELLED by on_note. */
CIP_API cip_status cip_change_set_typed(cip_change *c, const char *path, const char *text,
                                        cip_err *err);
/** A copy of a node of an open file, with all below it. UNSUPPORTED, by its path, for an array
 * whose data are not in the tree: cip_change_put_array takes it. `node` NULL passes on the status
 * in err (or ARG). */
CIP_API cip_status cip_change_set_node(cip_change *c, const char *path, const cip_file *from,
                                       const cip_node *node, cip_err *err);
/** Removes a node. Data that nothing names any more stay in the file (cip_change_defrag drops
 * them). This and the calls down to cip_change_set_text, and those that change elements and shapes,
 * are of files that are there: UNSUPPORTED in a new one. */
CIP_API cip_status cip_change_remove(cip_change *c, const char *path, cip_err *err);
/** Gives the node or array at `from` the path `to`; missing parents are made. In the same mapping
 * it keeps its place, elsewhere it becomes the last entry; its text, comments included, stays as it
 * is written (into `{}` or `[]` it goes on one line). `replace`: a node at `to` goes first. ARG
 * when there is one otherwise, when `to` lies within `from`, or for a part of an array's
 * description. UNSUPPORTED when an alias would come before its anchor. A `$ref` that leads nowhere
 * then makes the commit fail. An array that was moved takes no data in the same change. */
CIP_API cip_status cip_change_move(cip_change *c, const char *from, const char *to, bool replace,
                                   cip_err *err);
/** The whole text of the metadata tree with what was changed so far: *nbytes of it, borrowed until
 * the next call. UNSUPPORTED in a format whose tree is no text. */
CIP_API cip_status cip_change_text(cip_change *c, const char **text, size_t *nbytes, cip_err *err);
/** Puts another text in its place, before any change of data. It is checked: CORRUPT when it is no
 * YAML or lacks its first or last line; ARG when it describes data otherwise than the old text did
 * (arrays may be renamed, named again or left out). */
CIP_API cip_status cip_change_set_text(cip_change *c, const char *text, size_t nbytes,
                                       cip_err *err);

/* --- arrays that come */

/** Puts an array: ndim lengths in `shape`, elements packed in C order at `data`, which is the
 * caller's again when this returns. `opts` may be NULL. A format of one array without a name (npy,
 * RawArray, Blosc2, bloscpack, and BLZ and bcolz but for tables) takes any path in a new file, and
 * leaves it out: on_note reports one that is not "".
 *
 * In a file that is there `path` names nothing yet, or what is to be replaced
 * (cip_array_options.replace; in formats with a tree of arrays); parents are made. Nothing else of
 * the file moves: the data come behind the last block, or into new files of the folder: in a table
 * or in records of BLZ or bcolz it is a column, with as many rows as the others. Other calls of
 * this change know it by its node only. ARG when `path` names something or lies within an array's
 * description. UNSUPPORTED in a format with one array, behind a streamed block (freeze it first),
 * in a file of ASDF 0.1, for `external` storage, and for a column of another length. */
CIP_API cip_status cip_change_put(cip_change *c, const char *path, const cip_dtype *dtype, int ndim,
                                  const int64_t *shape, const void *data,
                                  const cip_array_options *opts, cip_err *err);
/** The same with one element at `value` that all elements are; NULL: elements that nobody has set
 * (python-blosc2's `empty`), zeros where the format has nothing of the kind. Where chunks of one
 * value are stored without data (Blosc2) the array costs next to nothing, however long. */
CIP_API cip_status cip_change_put_filled(cip_change *c, const char *path, const cip_dtype *dtype,
                                         int ndim, const int64_t *shape, const void *value,
                                         const cip_array_options *opts, cip_err *err);
/** An array of an open file, streaming, and its mask. `args` (may be NULL: all of it as it is
 * stored) says what of it, as for cip_read_into: selection, field, dtype, overflow; take_mask: its
 * mask as an array. Fields that say where elements go (dst, strides, mask) are ARG. */
CIP_API cip_status cip_change_put_array(cip_change *c, const char *path, const cip_array *from,
                                        const cip_read_args *args, const cip_array_options *opts,
                                        cip_err *err);
/** Another array over the data of one that was put in this new file: what the selection leaves of
 * it, stored once. UNSUPPORTED where the format has no views, and in a file that is there. */
CIP_API cip_status cip_change_put_view(cip_change *c, const char *path, const char *of,
                                       const char *selection, cip_err *err);
/** Declares an array that is filled by boxes before the commit; what is not filled is zeros. The
 * slab belongs to the change. In a file that is there it takes its path at the plan or the commit.
 */
CIP_API cip_status cip_change_declare(cip_change *c, const char *path, const cip_dtype *dtype,
                                      int ndim, const int64_t *shape, const cip_array_options *opts,
                                      cip_slab **slab, cip_err *err);

/** Half-open bounds along each axis, in elements. */
typedef struct cip_box {
    int64_t start[CIP_MAX_NDIM];
    int64_t stop[CIP_MAX_NDIM];
} cip_box;

/** CIP_BOX({0, 0}, {10, 20}) */
#ifdef __cplusplus
#define CIP_BOX(...) (cip_address_of(cip_box{ __VA_ARGS__ }))
#else
#define CIP_BOX(...) (&(const cip_box){ __VA_ARGS__ })
#endif

/** Writes a box: elements packed in C order, nbytes in all, the caller's again when this returns.
 * Any number of threads may write disjoint boxes of one slab. RANGE when the box does not lie in
 * the array or nbytes is not what it needs. Elements that come twice are what came last; ARG for
 * those of a chunk that is stored already, in a format that stores chunks as they come. */
CIP_API cip_status cip_slab_write(cip_slab *slab, const cip_box *box, const void *data,
                                  size_t nbytes, cip_err *err);

/* --- elements, rows and shapes */

/** Replaces the selected elements ("[0:10]", NULL or "" for all) of the array at `path` (NULL or
 * "", here and below: the only one) by nbytes at `data`: elements of `dtype`
 * (cip_dtype_as_stored(): the array's own), packed, in C order. They are cast: RANGE where the
 * array's type does not hold a value exactly, unless the options accept that; fields of records go
 * by their names. `dtype` NULL passes on the status in err (or ARG). */
CIP_API cip_status cip_change_write(cip_change *c, const char *path, const char *selection,
                                    const cip_dtype *dtype, const void *data, size_t nbytes,
                                    cip_err *err);
/** The same from an array of another open file, which is cast; its shape broadcasts to that of the
 * selection as in numpy (elements that may be missing are not repeated). RANGE for others, and
 * where the array's type does not hold a value exactly, unless the options accept that (floats are
 * rounded to narrower floats), TYPE for times in place of numbers or of another unit. Fields of
 * records go by their names: TYPE where these are not the same, in whatever order. Missing elements
 * become what the array has in their place (a mask that is a value); UNSUPPORTED where it has
 * nothing, or where an element that is there is just that value, unless the options accept the
 * loss. */
CIP_API cip_status cip_change_write_array(cip_change *c, const char *path, const char *selection,
                                          const cip_array *from, cip_err *err);
/** Adds rows along the first axis: whole rows, as cip_change_write takes elements. */
CIP_API cip_status cip_change_append(cip_change *c, const char *path, const cip_dtype *dtype,
                                     const void *data, size_t nbytes, cip_err *err);
CIP_API cip_status cip_change_append_array(cip_change *c, const char *path, const cip_array *from,
                                           cip_err *err);
/** Removes what is at [start, start + count) along an axis; what is behind it moves up. Here and
 * below a negative axis counts from the last one, a negative start from the end. A count of 0
 * changes nothing, that of the whole axis leaves the length 0. Of records in columns rows go from
 * all columns. ARG for an axis that the array does not have, RANGE beyond its end, UNSUPPORTED
 * where cip_change_resize cannot change the length of that axis. */
CIP_API cip_status cip_change_delete(cip_change *c, const char *path, int axis, int64_t start,
                                     int64_t count, cip_err *err);
/** Puts rows of an axis before the one that is at `start` (its length: behind the last), as
 * cip_change_append takes them: elements in C order of the array's shape, but for that axis. Errors
 * as for cip_change_delete. */
CIP_API cip_status cip_change_insert(cip_change *c, const char *path, int axis, int64_t start,
                                     const cip_dtype *dtype, const void *data, size_t nbytes,
                                     cip_err *err);
/** The same of an array, as cip_change_append_array; of one axis less is one row. */
CIP_API cip_status cip_change_insert_array(cip_change *c, const char *path, int axis, int64_t start,
                                           const cip_array *from, cip_err *err);
/** Gives the array a new shape of the same number of axes: elements inside both shapes stay where
 * they are, new ones are zeros. */
CIP_API cip_status cip_change_resize(cip_change *c, const char *path, int ndim,
                                     const int64_t *shape, cip_err *err);
/** A streamed block becomes one of a known size. */
CIP_API cip_status cip_change_freeze(cip_change *c, cip_err *err);
/** Drops data that no array names, and holes: the last call before the commit. Each is told to `fn`
 * (may be NULL) as a finding. */
CIP_API cip_status cip_change_defrag(cip_change *c, cip_finding_fn *fn, void *user, cip_err *err);

/* --- what it has come to */

/** The array at `path` as the change so far has it, for cip_array_shape, cip_read_into and their
 * like; also one that was put, in formats whose tree describes arrays. Borrowed until the change
 * ends; it has to be asked for again after each call that changes something. NOT_FOUND where this
 * change removed or replaced it; UNSUPPORTED in a new file, and where it does not say what became
 * of it before the commit (it was moved within a list, or from the path that is asked for; columns
 * of it came or went; elements changed, and a node was moved; it is shown by a `$ref`, and data
 * changed or something came or went). Nothing changes; a failure is no failed change. */
CIP_API cip_status cip_change_array(cip_change *c, const char *path, const cip_array **array,
                                    cip_err *err);
/** The file as the change so far has it, for what finds, lists, reads, prints and compares its
 * arrays and its tree: cip_diff(file, cip_change_file(c, &err), ...) says what the commit will do.
 * Borrowed until the next call that changes something. What it says of its bytes (cip_file_nbytes,
 * blocks, facts, findings) is of the file as it lies; cip_file_query, cip_refs_write,
 * cip_convert_file and cip_change_set_node refuse it (UNSUPPORTED). Arrays that cip_change_array
 * does not know before the commit, also those within values that were set, are listed with that
 * state (cip_array_state), and where the tree describes arrays without dtype and shape. NULL with
 * UNSUPPORTED in a new file, and where one came that cannot be read yet (by boxes, or a column);
 * with ARG after cip_change_defrag and cip_change_plan. */
CIP_API const cip_file *cip_change_file(cip_change *c, cip_err *err);
/** Which range of one axis a selection takes of the array as it is by then, for cip_change_delete
 * and _insert: "[100:200]", "[-1]" (one) or "[:, 3:3]" (none), clipped as in numpy. The other axes
 * must be whole (ARG); UNSUPPORTED for a step other than 1, RANGE for an index beyond the end. */
CIP_API cip_status cip_change_range(cip_change *c, const char *path, const char *selection,
                                    int *axis, int64_t *start, int64_t *count, cip_err *err);
/** The root of the tree as the change so far has it, borrowed until the next call; NULL in a file
 * without a tree. What it says of the shape and place of arrays may be of before (cip_change_array
 * knows). */
CIP_API cip_status cip_change_tree(cip_change *c, const cip_node **root, cip_err *err);

/** Goes on without the calls and boxes that failed: the commit makes all others. OK where none
 * failed. Where one failed halfway (reading the file, disk full, no memory), so that a part of it
 * may be there, this gives its error again, as all further calls do: then there is cip_change_abort
 * alone, and so it is after a plan or commit that failed. */
CIP_API cip_status cip_change_forget_failure(cip_change *c, cip_err *err);
/** Several calls as one step, all of them or none: marks where the change is, in place of an
 * earlier mark. */
CIP_API cip_status cip_change_mark(cip_change *c, cip_err *err);
/** Takes back what was set, removed, moved and put since the mark, and the calls that failed since
 * then no longer count; slabs that were declared since are gone. The mark stays. ARG where there is
 * none; UNSUPPORTED, with nothing taken back, where elements or shapes of arrays changed since, or
 * a column came. */
CIP_API cip_status cip_change_undo(cip_change *c, cip_err *err);

/* --- the end */

/** Says in lines, to `fn`, what the commit would do to the file that is there. Nothing is changed.
 */
CIP_API cip_status cip_change_plan(cip_change *c, cip_write_fn *fn, void *user, cip_err *err);
/** Writes all of it, in one step, and ends the change: *change becomes NULL, on failure too, but
 * for BUSY. Then it is kept, with the writers' lock, to be committed again when readers (or another
 * program) are gone, or to be aborted; it is BUSY for good where somebody changed the file
 * meanwhile. Where a call before failed (and was not forgotten) nothing is done, and its error is
 * given again. After a failure the file is as it was, or there is none (or a journal beside it
 * holds the rest of the change, which the next writer completes). STALE when the name is another
 * file's by now (`mv new file`), or nobody's: nothing is written, to neither. */
CIP_API cip_status cip_change_commit(cip_change **change, cip_err *err);
/** Gives up, and leaves nothing behind: *change becomes NULL. NULL is fine, here and in it. */
CIP_API void cip_change_abort(cip_change **change);

/** Removes the files that this process is writing and that are not complete yet, where the file
 * system needs names for them; for a handler of signals that end the process, in which it may be
 * called (the library has none). Nothing may be written afterwards. */
CIP_API void cip_remove_unfinished(void);

/** Appends whole rows to an array that grows at the end of its file (a streamed block, here or in a
 * file beside this one) without any other change: rows of `dtype` (cip_dtype_as_stored(): the
 * array's own) in the machine's byte order. `dtype` NULL passes on the status in err (or ARG).
 * Fields of records go by their names. Values that the array's type does not hold exactly are
 * RANGE. Readers see the rows at their next open. A crash keeps the rows written. The writers' lock
 * is taken at the first call and held until the file is closed. STALE when another file took the
 * name since the file was opened, or it was moved or removed (a log was rotated): nothing is
 * written; open it again, or refresh it. Of a file that was opened from
 * memory or by methods (as for cip_change_begin) there is no lock: BUSY when another one changed it
 * since the last call; a stream in a member needs methods with open_write and version, too. */
CIP_API cip_status cip_append(cip_file *file, const char *path, const cip_dtype *dtype,
                              const void *rows, size_t nbytes, cip_err *err);
/** Makes appended rows survive a loss of power. STALE as in cip_append: the rows are in the file
 * that was opened, which its name does not lead to any more. */
CIP_API cip_status cip_sync(cip_file *file, cip_err *err);

/** What an interrupted update left beside a file. */
typedef struct cip_recover_info {
    size_t size;         /* sizeof(cip_recover_info) */
    int state;           /* 0 nothing, 1 an update that applies, 2 one that does not fit the file,
                            3 one that is not to be trusted, 4 an update that was never sealed, 5 one
                            whose journal is not in the file's folder */
    uint64_t nop;        /* operations */
    uint64_t nbytes;     /* bytes that they write */
    uint64_t old_nbytes; /* length of the file before */
    uint64_t new_nbytes; /* and after */
    char text[256];      /* in words */
} cip_recover_info;

enum { CIP_RECOVER_LOOK = 0, CIP_RECOVER_APPLY = 1, CIP_RECOVER_DISCARD = 2 };

/** Looks at, completes or throws away what an interrupted update of `path` left. *info (may be
 * NULL; its size set) is filled in either case. CORRUPT when it does not fit the file and is to be
 * applied. */
CIP_API cip_status cip_recover(const char *path, int what, cip_recover_info *info, cip_err *err);
/** Tells `fn` what processes that were killed left in a folder (not in those in it): each finding's
 * `part` is a name there, `length` its bytes. CIP_RECOVER_DISCARD removes new files that never took
 * their names, but for those of others and those that a process has locked; records of updates are
 * for cip_recover. NOT_FOUND, IO, CANCELLED. */
CIP_API cip_status cip_recover_folder(const char *path, int what, cip_finding_fn *fn, void *user,
                                      cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
