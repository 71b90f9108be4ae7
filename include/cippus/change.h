/* SPDX-License-Identifier: BSD-3-Clause
 * Writing files and changing them in place. A change belongs to a file, new or existing, and
 * collects what to do with it: values of the tree, arrays, elements, rows. Its commit writes all of
 * it or nothing: a fault at any moment leaves the old file or the new one. */
#ifndef CIPPUS_CHANGE_H
#define CIPPUS_CHANGE_H

#include "cippus/ext/io.h"
#include "cippus/file.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The durability of a commit. */
typedef enum cip_level {
    CIP_LEVEL_POWER = 0,  /* it survives a power failure: everything is synced in order */
    CIP_LEVEL_PROCESS = 1 /* it survives the process being killed at any moment: no sync */
} cip_level;

/** A file in memory, with members if it consists of several files (cippus/memory.h).
 */
typedef struct cip_memory cip_memory;

/** How a file is written or changed. Zero fields mean the default. Some fields are only for new
 * files, or only for existing ones; they say so, and are ARG for the other. */
typedef struct cip_change_options {
    size_t size;        /* sizeof(cip_change_options) */
    const char *format; /* a format's name; NULL: by the file's name, or its contents */
    const char *codec; /* of arrays that are put or stored again: "lz4", "zlib:9", "none"; NULL: the
                          format's default, or as they are stored */
    const char *byteorder; /* "little", "big". New file: how its arrays are stored; NULL: the
                              format's default. Existing file: the order of elements in memory whose
                              dtype is cip_dtype_as_stored(); NULL: the machine's */
    const char *checksum;  /* "md5" (of the stored bytes), "legacy" (of the decoded ones), "none";
                              bloscpack: "crc32", "sha256", ...; FITS (new files): "datasum"; NULL:
                              the format's default, or as stored */
    /** "KEY=VALUE" texts, NULL last (CIP_TEXTS): options that only the format has
     * (cip_format_option_at), for arrays that are put or changed. If a key comes twice, the last
     * counts; NULL: none. UNSUPPORTED for options of other formats. */
    const char *const *format_options;
    int64_t tree_slack; /* bytes of room kept after a tree that is new or has to move; 0: the
                           format's default; -1: none */
    cip_level level;
    bool accept_loss; /* losses are accepted. Things that the format cannot hold are left out, and
                         values come as near as possible. Elements that the array's type does not
                         hold exactly are converted (CIP_OVERFLOW_CLAMP). Elements of another array
                         that equal the value for missing ones become missing. A chain may be lossy.
                         Arrays and nodes of other files may lack the parts that were left out when
                         those were read */
    cip_finding_fn *on_note; /* called for the largest error of a lossy chain, for each array, and
                                for parts that other files' arrays and nodes lack. Also for the
                                value that a typed text is stored as. The commit calls it if the
                                format has no place for the only array's name. It also does so if a
                                store keeps an unused member (part: its name) although
                                unlink_member was called; the commit is OK then */
    void *user;              /* of on_note and progress */
    /** New file: called with the bytes stored, of those of all arrays put or declared by then, by
     * the thread that puts or commits. Existing file: with the encoded chunks of an array, of its
     * chunks to encode, at the plan or the commit. Once it stops a call, the commit is CANCELLED
     * too and nothing is written. */
    cip_progress_fn *progress;
    unsigned threads; /* this and the next three as in cip_open_options */
    const cip_limits *limits;
    const cip_allocator *allocator;
    const cip_codec_methods *const *codecs;
    size_t ncodec;

    /* Only for a new file: */
    const char *version; /* version of the format: an ASDF standard, "1.6.0" (or "0.1.0") */
    uint64_t align;      /* stored data start at a multiple of this; 0: the format's default (64) */
    bool overwrite;      /* an existing file is replaced, at the commit and in one step */
    /** Not NULL: cip_create writes after the last byte of the file at its path, which must exist.
     * *at_end becomes the byte where the new one begins (cip_open_options.offset; Python:
     * blosc2.open(path, offset=...)). A crash leaves the old file, or all of the new one after it.
     */
    uint64_t *at_end;

    /* Only for an existing file: */
    const cip_open_options *open; /* how cip_change_open, _io and _memory read it, for everything
                                     that this struct has no field for; NULL: the defaults */
    const char *history;          /* a history entry that describes the change; NULL: none */
    bool break_links; /* a file with several names (hard links) may be replaced under this one */
    bool by_position; /* fields of records are matched by their order instead of their names */
    unsigned wait; /* seconds to wait for another writer, and for readers that are in the way of the
                      commit, before the call is BUSY; 0: no wait */
} cip_change_options;

#define CIP_CHANGE_OPTIONS(...) CIP_OPTIONS(cip_change_options, __VA_ARGS__)

/** How one array is written. Zero fields mean the change's default. */
typedef struct cip_array_options {
    size_t size;                 /* sizeof(cip_array_options) */
    const char *codec;           /* "name" or "name:level" */
    const char *storage;         /* "internal" (the default), "inline", "external", "streamed" */
    int64_t chunk[CIP_MAX_NDIM]; /* chunk shape; all zero, or arrays without n-d chunks: the
                                    format's choice */
    const uint8_t *mask;         /* one byte an element in C order, nonzero: missing; NULL: none */
    const char *const *format_options; /* as in cip_change_options, where the array differs */
    /** 1: in an existing file the node at the path is removed in the same step, but not the root,
     * nor a part of an array's description. ARG in a new file. */
    uint32_t replace;
    uint32_t reserved; /* 0 */
} cip_array_options;

#define CIP_ARRAY_OPTIONS(...) CIP_OPTIONS(cip_array_options, __VA_ARGS__)

/** A change being put together, by one thread at a time (except slabs). For an existing file it
 * holds the writers' lock. A call that fails changes nothing, and makes the commit fail with its
 * error, so a program may look at the commit's status alone. In a new file the next calls fail with
 * it as well. After you have handled a failure, cip_change_forget_failure goes on without that
 * call. Things that the format cannot hold are refused (UNSUPPORTED), and left out only if the
 * options accept that.
 *
 * A new file can be read and changed before its commit like an existing one (cip_change_array,
 * cip_change_write, cip_change_remove, ...). From the first such call on it takes what an existing
 * file of its format takes. UNSUPPORTED if the format writes to the caller's store as data come
 * (RawArray, npy). The same while an array is filled by boxes that has a mask or a view, is
 * external or streamed, or comes into a folder (BLZ, bcolz). NOT_FOUND in a format without a tree
 * of arrays before one is put. */
typedef struct cip_change cip_change;
/** An array that is filled by boxes. Borrowed from its change. */
typedef struct cip_slab cip_slab;

/* --- beginning: a new file */

/** A new file; its format comes from the name or the options. Nothing has the name `path` before
 * cip_change_commit. ARG if the name does not decide the format, UNSUPPORTED when the format cannot
 * be written, EXISTS when the file exists and is not to be overwritten. */
CIP_API cip_status cip_create(const char *path, const cip_change_options *opts, cip_change **change,
                              cip_err *err);
/** The same in the caller's store (cippus/ext/io.h); the name in `methods`, which is copied,
 * decides the format if the options do not. No method is called before the commit, except
 * methods->close, which returns `user` when the change ends, or before this fails. Until the
 * commit, RawArray and npy keep the elements, and ASDF keeps the file as far as it is written, over
 * 4 MiB in temporary files. The bytes are those that a file would have. `overwrite` is ignored. A
 * file of several members (storage "external") is UNSUPPORTED later if methods->create_member is
 * NULL. */
CIP_API cip_status cip_create_io(const cip_io_write_methods *methods, void *user,
                                 const cip_change_options *opts, cip_change **change, cip_err *err);
/** The same in memory: *memory is the caller's to free, also if the change fails, and must outlive
 * it. `format` is as in the options ("asdf"), or a file's name with a dot in it ("night.asdf"). A
 * name decides the format if the options do not, and members are named after it. Without a name,
 * files with such members (storage "external") are UNSUPPORTED. The contents do not count for
 * cip_limits.max_memory. */
CIP_API cip_status cip_create_memory(const char *format, const cip_change_options *opts,
                                     cip_memory **memory, cip_change **change, cip_err *err);

/* --- beginning: an existing file */

/** A change of a file by its name. An interrupted change is completed first. BUSY if another writer
 * has the file, READONLY if it may not be written, UNSUPPORTED if the format or source cannot be
 * changed. */
CIP_API cip_status cip_change_open(const char *path, const cip_change_options *opts,
                                   cip_change **change, cip_err *err);
/** The same for an open file: of cip_open, of cip_memory_open, or of cip_open_io by methods with
 * open_write and version. The last kind must stay open until the change has ended. The file is read
 * with the options of its opening: `format`, `open`, `threads`, `limits`, `allocator` and `codecs`
 * are ARG. Also BUSY if it changed since it was opened; STALE if its name belongs to another file
 * now, or to none. `file` may be read until the commit. After that, reading it is BUSY: open it
 * again, or refresh it (cip_file_refresh). */
CIP_API cip_status cip_change_begin(cip_file *file, const cip_change_options *opts,
                                    cip_change **change, cip_err *err);
/** The same for a file in the caller's store, by methods that read and write it (cippus/ext/io.h).
 * Nothing is written before the commit. A method that fails during the commit ends it, and further
 * calls undo what was written. So all is written, or nothing, unless these calls fail as well (the
 * error says so). There are no locks and no journals: if the process or the machine stops during a
 * commit, the data may be inconsistent. write->close returns `user` when the change ends, or before
 * this fails; read->close is not called. */
CIP_API cip_status cip_change_open_io(const cip_io_methods *read, const cip_io_write_methods *write,
                                      void *user, const cip_change_options *opts,
                                      cip_change **change, cip_err *err);
/** The same for a file in memory, which must outlive the change. It can be read until the commit;
 * after that cip_memory_bytes gives other bytes. */
CIP_API cip_status cip_change_open_memory(cip_memory *memory, const cip_change_options *opts,
                                          cip_change **change, cip_err *err);

/* --- the tree */

/** Sets the node at `path` (as cip_tree_get reads paths); an existing one is replaced. Missing
 * parents are made: a list if the next step is `0` or `-`, otherwise a mapping. (For a mapping with
 * the key "0", set it to `{}` first.) In a list a number sets that item, and the next number, or
 * `-`, adds one; NOT_FOUND for a later one. TYPE if a parent is neither mapping nor list. Strings
 * are UTF-8 (ARG) and copied. The commit reports nodes that the format has no place for
 * (UNSUPPORTED without accept_loss). */
CIP_API cip_status cip_change_set_string(cip_change *c, const char *path, const char *text,
                                         cip_err *err);
CIP_API cip_status cip_change_set_int(cip_change *c, const char *path, int64_t value, cip_err *err);
CIP_API cip_status cip_change_set_uint(cip_change *c, const char *path, uint64_t value,
                                       cip_err *err);
CIP_API cip_status cip_change_set_double(cip_change *c, const char *path, double value,
                                         cip_err *err);
CIP_API cip_status cip_change_set_bool(cip_change *c, const char *path, bool value, cip_err *err);
CIP_API cip_status cip_change_set_null(cip_change *c, const char *path, cip_err *err);
/** The same with a value written as YAML ("{a: [1, 2]}", "!core/complex-1.0.0 1+2j"). CORRUPT if it
 * is not YAML. */
CIP_API cip_status cip_change_set_yaml(cip_change *c, const char *path, const char *text,
                                       cip_err *err);
/** YAML as a person types it: a plain `1e-3`, `-.5`, `nan` or `inf`, a string in YAML 1.1, becomes
 * that number. on_note is called with code TYPE for a value that its text does not show (`017` as
 * octal, `12:30` as sexagesimal, `yes`, a date). It is called with code OK for a string that looks
 * like a number (`0o17`). Errors as above; CANCELLED by on_note. */
CIP_API cip_status cip_change_set_typed(cip_change *c, const char *path, const char *text,
                                        cip_err *err);
/** A copy of a node of an open file, with everything below it. UNSUPPORTED, with its path, for an
 * array whose data are not in the tree: use cip_change_put_array. `node` NULL passes on the status
 * in err (or ARG). */
CIP_API cip_status cip_change_set_node(cip_change *c, const char *path, const cip_file *from,
                                       const cip_node *node, cip_err *err);
/** Removes a node. Data that become unused stay in the file (cip_change_defrag drops them). For new
 * files see cip_change; this is true for the calls down to cip_change_set_text, and for those that
 * change elements and shapes. */
CIP_API cip_status cip_change_remove(cip_change *c, const char *path, cip_err *err);
/** Gives the node or array at `from` the path `to`; missing parents are made. In the same mapping
 * it keeps its place, elsewhere it becomes the last entry. Its text, comments included, stays as it
 * is written (in `{}` or `[]` it is put on one line). `replace`: a node at `to` is removed first.
 * ARG if there is one otherwise, if `to` is inside `from`, or for a part of an array's description.
 * UNSUPPORTED when an alias would come before its anchor. A `$ref` that leads nowhere then makes
 * the commit fail. A moved array can be changed by its new path in the same change, unless it moved
 * inside a list. Records in superchunks (BLZ) take another name for one of their fields, if no
 * elements of fields that were there change (UNSUPPORTED). */
CIP_API cip_status cip_change_move(cip_change *c, const char *from, const char *to, bool replace,
                                   cip_err *err);
/** The whole text of the metadata tree with what was changed so far: *nbytes of it, borrowed until
 * the next call. UNSUPPORTED in a format whose tree is no text. */
CIP_API cip_status cip_change_text(cip_change *c, const char **text, size_t *nbytes, cip_err *err);
/** Replaces that text, before any change of data. It is checked: CORRUPT if it is not YAML or lacks
 * its first or last line. ARG if it describes data differently from the old text (arrays may be
 * renamed, repeated or left out). */
CIP_API cip_status cip_change_set_text(cip_change *c, const char *text, size_t nbytes,
                                       cip_err *err);

/* --- new arrays */

/** Puts an array: ndim lengths in `shape`, elements packed in C order at `data`, which is the
 * caller's again when this returns. `opts` may be NULL. In a new file, a format of one array
 * without a name takes any path, and leaves it out: on_note reports one that is not "". Such
 * formats are npy, RawArray, Blosc2, bloscpack, and BLZ and bcolz without tables.
 *
 * In an existing file `path` must not exist yet, unless it is to be replaced
 * (cip_array_options.replace). Parents are made. Nothing else of the file moves: the data come
 * after the last block, or into new files of the folder. In a table or in records of BLZ or bcolz
 * the array is a column, with as many rows as the others. One that replaces a column of a table has
 * its place, others come last. The array can be read, changed, moved and removed before the commit,
 * and put where another one was removed. ARG if `path` exists or is inside an array's description.
 * UNSUPPORTED in a format with one array, after a streamed block (freeze it first), in a file of
 * ASDF 0.1, for `external` storage, and for a column of another length. */
CIP_API cip_status cip_change_put(cip_change *c, const char *path, const cip_dtype *dtype, int ndim,
                                  const int64_t *shape, const void *data,
                                  const cip_array_options *opts, cip_err *err);
/** The same with all elements equal to the one at `value`. NULL: uninitialised elements
 * (python-blosc2's `empty`), or zeros if the format has nothing of the kind. If the format stores
 * chunks of one value without data (Blosc2), the array costs almost nothing, however long. */
CIP_API cip_status cip_change_put_filled(cip_change *c, const char *path, const cip_dtype *dtype,
                                         int ndim, const int64_t *shape, const void *value,
                                         const cip_array_options *opts, cip_err *err);
/** An array of an open file, streamed, with its mask. `args` (may be NULL: all of it as it is
 * stored) selects from it as for cip_read_into: selection, field, dtype, overflow; take_mask: its
 * mask as an array. Fields for the destination (dst, strides, mask) are ARG. */
CIP_API cip_status cip_change_put_array(cip_change *c, const char *path, const cip_array *from,
                                        const cip_read_args *args, const cip_array_options *opts,
                                        cip_err *err);
/** Another array over the data of one that was put in this new file: a selection of it, stored
 * once. UNSUPPORTED if the format has no views, and in an existing file. */
CIP_API cip_status cip_change_put_view(cip_change *c, const char *path, const char *of,
                                       const char *selection, cip_err *err);
/** Declares an array that is filled by boxes before the commit; other elements are zeros then. The
 * slab belongs to the change. Until the commit, cip_change_array and cip_change_file show the array
 * with the elements written so far, and records with it as a column. Reading others is UNSUPPORTED
 * and names the first one, and nothing but boxes changes it. In an existing file the array gets its
 * place in the tree at the plan or the commit. Until then, putting, setting, moving or removing
 * anything at its path, above it or below it is UNSUPPORTED. No column is replaced so. */
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
 * Any number of threads may write disjoint boxes of one slab. RANGE if the box is not inside the
 * array, or nbytes is not what it needs. If elements are written twice, the last ones count.
 * They can be read (see cip_change_declare) when this has returned. If another thread sets a mark
 * meanwhile, the box may count as before it. ARG once the commit has begun. */
CIP_API cip_status cip_slab_write(cip_slab *slab, const cip_box *box, const void *data,
                                  size_t nbytes, cip_err *err);

/* --- elements, rows and shapes */

/** Replaces the selected elements ("[0:10]", NULL or "" for all) of the array at `path` by nbytes
 * at `data`. Here and below, a `path` of NULL or "" is the only array. The data are elements of
 * `dtype` (cip_dtype_as_stored(): the array's own), packed, in C order. They are cast: RANGE if the
 * array's type does not hold a value exactly, unless the options accept that. Fields of records are
 * matched by name. `dtype` NULL passes on the status in err (or ARG). */
CIP_API cip_status cip_change_write(cip_change *c, const char *path, const char *selection,
                                    const cip_dtype *dtype, const void *data, size_t nbytes,
                                    cip_err *err);
/** The same from an array of another open file, which is cast. Its shape broadcasts to that of the
 * selection as in numpy (elements that may be missing are not repeated). RANGE for other shapes.
 * Also RANGE if the array's type does not hold a value exactly, unless the options accept that
 * (floats are rounded to narrower floats). TYPE for times in place of numbers or of another unit.
 * Fields of records are matched by name: TYPE if the names differ; their order does not matter.
 * Missing elements become the array's value for them (a mask that is a value). UNSUPPORTED if it
 * has none, or if a present element equals that value, unless the options accept the loss. */
CIP_API cip_status cip_change_write_array(cip_change *c, const char *path, const char *selection,
                                          const cip_array *from, cip_err *err);
/** Adds rows along the first axis: whole rows, as cip_change_write takes elements. */
CIP_API cip_status cip_change_append(cip_change *c, const char *path, const cip_dtype *dtype,
                                     const void *data, size_t nbytes, cip_err *err);
CIP_API cip_status cip_change_append_array(cip_change *c, const char *path, const cip_array *from,
                                           cip_err *err);
/** Removes [start, start + count) along an axis; later elements move up. Here and below a negative
 * axis counts from the last one, a negative start from the end. A count of 0 changes nothing, that
 * of the whole axis leaves the length 0. Rows of records in columns are removed from all columns.
 * ARG for an axis that the array does not have, RANGE beyond its end, UNSUPPORTED if
 * cip_change_resize cannot change the length of that axis. */
CIP_API cip_status cip_change_delete(cip_change *c, const char *path, int axis, int64_t start,
                                     int64_t count, cip_err *err);
/** Inserts rows of an axis before `start` (its length: after the last), as cip_change_append takes
 * them: elements in C order of the array's shape, except along that axis. Errors as for
 * cip_change_delete. */
CIP_API cip_status cip_change_insert(cip_change *c, const char *path, int axis, int64_t start,
                                     const cip_dtype *dtype, const void *data, size_t nbytes,
                                     cip_err *err);
/** The same from an array, as cip_change_append_array; an array with one axis less is one row. */
CIP_API cip_status cip_change_insert_array(cip_change *c, const char *path, int axis, int64_t start,
                                           const cip_array *from, cip_err *err);
/** Gives the array a new shape of the same number of axes: elements inside both shapes stay where
 * they are, new ones are zeros. */
CIP_API cip_status cip_change_resize(cip_change *c, const char *path, int ndim,
                                     const int64_t *shape, cip_err *err);
/** A streamed block becomes one of a known size. */
CIP_API cip_status cip_change_freeze(cip_change *c, cip_err *err);
/** Drops unused data, and holes: the last call before the commit. `fn` (may be NULL) gets each as a
 * finding. */
CIP_API cip_status cip_change_defrag(cip_change *c, cip_finding_fn *fn, void *user, cip_err *err);

/* --- the result so far */

/** The array at `path` as the change so far has it, for cip_array_shape, cip_read_into and their
 * like; also one that was put, and records with the columns that were put. Borrowed until the
 * change ends; it has to be asked for again after each call that changes something. NOT_FOUND if
 * this change removed or replaced it. UNSUPPORTED for arrays whose result is known only after the
 * commit. These are arrays that were moved inside a list, or away from `path`. So are arrays shown
 * by a `$ref`, if data changed or something came or went. Nothing changes; a failure here does not
 * count as a failed change. */
CIP_API cip_status cip_change_array(cip_change *c, const char *path, const cip_array **array,
                                    cip_err *err);
/** The same for paths that may lead into records (as for cip_find_field): *field is what is left of
 * the path, for cip_read_args.field, or "". It is borrowed from `path` and the change. */
CIP_API cip_status cip_change_field(cip_change *c, const char *path, const cip_array **array,
                                    const char **field, cip_err *err);
/** The file as the change found it, without what was changed since: of a new file what was put
 * before it was first read or changed, and NULL until then. Borrowed until the change ends. */
CIP_API const cip_file *cip_change_base(cip_change *c);
/** The file as the change so far has it, for calls that find, list, read, print and compare its
 * arrays and its tree. cip_diff(file, cip_change_file(c, &err), ...) shows what the commit will do.
 * Borrowed until the next call that changes something. Its bytes (cip_file_nbytes, blocks, facts,
 * findings) are those of the file on disk; cip_file_query, cip_refs_write, cip_convert_file and
 * cip_change_set_node refuse it (UNSUPPORTED). Arrays that cip_change_array does not know before
 * the commit, also those inside values that were set, are listed with that state (cip_array_state).
 * If the tree describes arrays, they have no dtype and shape. NULL with UNSUPPORTED if an array
 * came that cannot be read yet (a column that boxes fill). NULL with ARG after cip_change_defrag
 * and cip_change_plan. */
CIP_API const cip_file *cip_change_file(cip_change *c, cip_err *err);
/** The range of one axis that a selection takes of the array as it is by then, for
 * cip_change_delete and _insert. Examples: "[100:200]", "[-1]" (one) or "[:, 3:3]" (none), clipped
 * as in numpy. The other axes must be whole (ARG); UNSUPPORTED for a step other than 1, RANGE for
 * an index beyond the end. */
CIP_API cip_status cip_change_range(cip_change *c, const char *path, const char *selection,
                                    int *axis, int64_t *start, int64_t *count, cip_err *err);
/** The root of the tree as the change so far has it, borrowed until the next call; NULL in a file
 * without a tree. It may show the old shape and place of arrays (cip_change_array shows the new
 * ones). RawArray's is the new header; with LZ4, `flags` and `size` are null before the commit. */
CIP_API cip_status cip_change_tree(cip_change *c, const cip_node **root, cip_err *err);

/** Goes on without the calls and boxes that failed: the commit makes all others. OK if none failed.
 * A call that failed halfway (disk full, no memory) may have left a part. Then this gives its error
 * again, as all further calls do, and only cip_change_undo and cip_change_abort are left. After a
 * plan or commit that failed, it is only cip_change_abort. */
CIP_API cip_status cip_change_forget_failure(cip_change *c, cip_err *err);
/** Marks where the change is, to go back to. *mark (may be NULL) is its number, over 0. Marks nest:
 * each step of a step may have its own. They cost something in proportion to what is changed while
 * there is one. Those of a change end with cip_change_defrag, cip_change_plan and the commit. */
CIP_API cip_status cip_change_mark(cip_change *c, uint64_t *mark, cip_err *err);
/** Takes back everything since the mark: values, nodes, arrays, elements, boxes of slabs, rows,
 * shapes and columns. The change is as it was then: a commit writes the same bytes as without the
 * calls that were taken back. Calls that failed since, halfway or not, no longer count, and slabs
 * declared since are gone. The mark stays, later ones are dropped. `mark` 0 is the last one. ARG if
 * the mark was dropped, or there is none. */
CIP_API cip_status cip_change_undo(cip_change *c, uint64_t mark, cip_err *err);
/** Drops the mark (0: the last one) and later ones. All changes since stay. ARG as above. */
CIP_API cip_status cip_change_release(cip_change *c, uint64_t mark, cip_err *err);

/* --- the end */

/** Describes to `fn`, in lines, what the commit would do to the existing file. The first line is
 * like "would change 4 bytes in place, at byte 1212; the file stays 3000 bytes long". Nothing is
 * changed. */
CIP_API cip_status cip_change_plan(cip_change *c, cip_write_fn *fn, void *user, cip_err *err);
/** Writes all of it, in one step, and ends the change: *change becomes NULL, on failure too, except
 * for BUSY. A BUSY change is kept, with the writers' lock. Commit it again when readers (or another
 * program) are gone, or abort it. It stays BUSY if another program changed the file meanwhile. BUSY
 * that a method of cip_create_io returned ends the change. If an earlier call failed (and was not
 * forgotten), nothing is done, and its error is given again. After a failure the file is as it was,
 * or does not exist; or a journal next to it holds the rest of the change, which the next writer
 * completes. STALE if the name belongs to another file now (`mv new file`), or to none: neither
 * file is written. */
CIP_API cip_status cip_change_commit(cip_change **change, cip_err *err);
/** Drops the change, and leaves nothing: *change becomes NULL. NULL is fine, for `change` and
 * *change. */
CIP_API void cip_change_abort(cip_change **change);

/** Removes the unfinished files of this process, on file systems where they need names. It is for a
 * handler of signals that end the process, in which it may be called (the library has no handler).
 * Nothing may be written afterwards. */
CIP_API void cip_remove_unfinished(void);

/** Appends whole rows to an array that grows at the end of its file (a streamed block, in this or
 * another file) without any other change. Rows are of `dtype` (cip_dtype_as_stored(): the array's
 * own) in the machine's byte order. `dtype` NULL passes on the status in err (or ARG). Fields of
 * records are matched by name. Values that the array's type does not hold exactly are RANGE.
 * Readers see the rows at their next open. A crash keeps the rows written. The writers' lock is
 * taken at the first call and held until the file is closed. STALE if another file took the name
 * since the file was opened, or it was moved or removed (a log was rotated): nothing is written.
 * Open it again, or refresh it. A file that was opened from memory or by methods (as for
 * cip_change_begin) has no lock: BUSY if it was changed since the last call. A stream in a member
 * needs methods with open_write and version, too. */
CIP_API cip_status cip_append(cip_file *file, const char *path, const cip_dtype *dtype,
                              const void *rows, size_t nbytes, cip_err *err);
/** Makes appended rows survive a power failure. STALE as in cip_append: the rows are in the file
 * that was opened, which no longer has the name. */
CIP_API cip_status cip_sync(cip_file *file, cip_err *err);

/** The rest of an interrupted update of a file. */
typedef struct cip_recover_info {
    size_t size; /* sizeof(cip_recover_info) */
    int state;   /* 0: nothing. 1: an update that applies. 2: one that does not fit the file. 3: one
                    that is not to be trusted. 4: one that was never sealed. 5: one whose journal is
                    not in the file's folder */
    uint64_t nop;        /* operations */
    uint64_t nbytes;     /* bytes that they write */
    uint64_t old_nbytes; /* length of the file before */
    uint64_t new_nbytes; /* and after */
    char text[256];      /* in words */
} cip_recover_info;

enum { CIP_RECOVER_LOOK = 0, CIP_RECOVER_APPLY = 1, CIP_RECOVER_DISCARD = 2 };

/** Looks at, completes or discards the rest of an interrupted update of `path`. *info (may be NULL;
 * its size set) is filled in each case. CORRUPT if it does not fit the file and is to be applied.
 */
CIP_API cip_status cip_recover(const char *path, int what, cip_recover_info *info, cip_err *err);
/** Calls `fn` with the files that killed processes left in a folder (not in its subfolders): each
 * finding's `part` is a name there, `length` its bytes. CIP_RECOVER_DISCARD removes new files that
 * never took their names, except those of other users and those that a process has locked. Records
 * of updates are for cip_recover. NOT_FOUND, IO, CANCELLED. */
CIP_API cip_status cip_recover_folder(const char *path, int what, cip_finding_fn *fn, void *user,
                                      cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
