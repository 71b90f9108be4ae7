/* SPDX-License-Identifier: BSD-3-Clause
 * Writing files: a tree and arrays, given at once, by boxes, or from another file. */
#ifndef CIPPUS_WRITE_H
#define CIPPUS_WRITE_H

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

/** How a file is written. Zero fields mean the default. */
typedef struct cip_write_options {
    size_t size;           /* sizeof(cip_write_options) */
    const char *format;    /* a format's name; NULL: by the file's name */
    const char *version;   /* of the format: an ASDF standard, "1.6.0" (or "0.1.0") */
    const char *codec;     /* of arrays: "lz4", "zlib:9", "none"; NULL: the format's default */
    const char *byteorder; /* "little", "big"; NULL: the format's default */
    const char *checksum;  /* "md5" (of the stored bytes), "legacy" (of the decoded ones), "none";
                              bloscpack: "crc32", "sha256", ...; NULL: the format's default */
    int64_t tree_slack;    /* bytes of room kept behind a tree; 0: the format's default; -1: none */
    uint64_t align; /* stored data start at a multiple of this; 0: the format's default (64) */
    cip_level level;
    bool overwrite;   /* an existing file is replaced, at the commit and in one step */
    unsigned threads; /* as in cip_open_options */
    const cip_limits *limits;
    const cip_allocator *allocator;
    const char *const *format_options; /* "KEY=VALUE" texts, NULL last (CIP_TEXTS): options that
                                          only the format has (cip_format_option_at); of a key
                                          that comes twice the last counts; NULL: none.
                                          UNSUPPORTED for others' */
    bool accept_loss;        /* what the format cannot hold is left out or, of values, comes as near
                                as it can; a chain may be lossy; arrays and nodes of other files
                                may lack what was left out when those were read */
    cip_finding_fn *on_note; /* told what a lossy chain's largest error is, for each array, of what
                                other files' arrays and nodes lack, and, by the commit, of the name
                                of the only array where the format has none */
    void *user;              /* of on_note and progress */
    const cip_codec_methods *const *codecs; /* as in cip_open_options: for chains */
    size_t ncodec;
    cip_progress_fn *progress; /* told bytes that are stored, of those of all arrays put or declared
                                  by then, by the thread that puts or commits; once it stops a
                                  call, the commit is CANCELLED too and nothing is left */
    /** Not NULL: cip_create writes behind the last byte of the file at its path, which has to be
     * there, and *at_end becomes the byte where the new one begins (cip_open_options.offset;
     * Python: blosc2.open(path, offset=...)). There is the old file, or all of the new one behind
     * it. */
    uint64_t *at_end;
} cip_write_options;

#define CIP_WRITE_OPTIONS(...) CIP_OPTIONS(cip_write_options, __VA_ARGS__)

/** How one array is written. Zero fields mean the file's default. */
typedef struct cip_array_options {
    size_t size;                 /* sizeof(cip_array_options) */
    const char *codec;           /* "name" or "name:level" */
    const char *storage;         /* "internal" (the default), "inline", "external", "streamed" */
    int64_t chunk[CIP_MAX_NDIM]; /* chunk shape; all zero: the format's choice, and so it is where
                                    arrays have no n-d chunks */
    const uint8_t *mask;         /* one byte an element in C order, nonzero: missing; NULL: none */
    const char *const *format_options; /* as in cip_write_options, where the array differs */
    uint32_t replace;  /* 1: in an update what is at the path goes, in the same step (the root, and
                          what belongs to an array's description, do not); ARG in a new file */
    uint32_t reserved; /* 0 */
} cip_array_options;

#define CIP_ARRAY_OPTIONS(...) CIP_OPTIONS(cip_array_options, __VA_ARGS__)

/** A file being written. It is used from one thread at a time (slabs excepted). A call that fails
 * changes nothing of it, and makes all later ones and the commit fail with its error, so that a
 * program may look at the commit's status alone; cip_writer_forget_failure goes on without it.
 * What the format cannot hold is refused (UNSUPPORTED), never left out but
 * where the options accept that. */
typedef struct cip_writer cip_writer;
/** An array that is filled by boxes. Borrowed from its writer. */
typedef struct cip_slab cip_slab;

/** Starts a new file; its format is told by the name or the options. Nothing is under the name
 * `path` before cip_writer_commit. ARG when the name tells no format, UNSUPPORTED when the format
 * cannot be written, EXISTS when the file exists and is not to be overwritten. */
CIP_API cip_status cip_create(const char *path, const cip_write_options *opts, cip_writer **w,
                              cip_err *err);

/** The same into a file of the caller's store (cippus/ext/io.h); the name in `methods`, which is
 * copied, tells the format where the options do not. Nothing of the store is called before the
 * commit, but for methods->close, which gives `user` back when the writer ends, or before this
 * fails. Until the commit RawArray and npy keep what was
 * put, ASDF the file as far as it is written, over 4 MiB in temporary files; the bytes are those
 * that a file would have. `overwrite` means nothing here. UNSUPPORTED later on when a
 * file of several members is put (storage "external") and methods->create_member is NULL. */
CIP_API cip_status cip_create_io(const cip_io_write_methods *methods, void *user,
                                 const cip_write_options *opts, cip_writer **w, cip_err *err);

/** A file in memory, and members beside it where it consists of several files. */
typedef struct cip_memory cip_memory;
/** The same into memory: *out, which is the caller's to free, also when the writer fails, and
 * outlives the writer. `format` as in the options ("asdf"), or a file's name with a dot in it
 * ("night.asdf"), which tells the format where the options do not and which members are named
 * after: without one, files that name their members so (storage "external") are UNSUPPORTED. What
 * is in it does not count for cip_limits.max_memory. */
CIP_API cip_status cip_create_memory(const char *format, const cip_write_options *opts,
                                     cip_memory **out, cip_writer **w, cip_err *err);
/** The file's bytes, *nbytes of them (none of a folder): borrowed until it is freed or an update of
 * it is committed (cip_edit_open_memory). NULL and 0 before a commit has completed it. */
CIP_API const void *cip_memory_bytes(const cip_memory *memory, size_t *nbytes);
/** The i-th member by the order of their names: its name ("night0000.asdf", "data/0"), and its
 * bytes if asked for. Borrowed as cip_memory_bytes. NULL when there are no more. */
CIP_API const char *cip_memory_member(const cip_memory *memory, size_t i, const void **bytes,
                                      size_t *nbytes);
/** A file in memory from bytes that are there, which are copied: to be updated. */
CIP_API cip_status cip_memory_new(const void *bytes, size_t nbytes, cip_memory **out, cip_err *err);
/** Puts a member beside a complete one, a copy as well; with none of its own bytes it is a folder.
 * EXISTS when there is a member of that name. */
CIP_API cip_status cip_memory_add(cip_memory *memory, const char *name, const void *bytes,
                                  size_t nbytes, cip_err *err);
/** Opens it as cip_open does, members too, also for cip_edit_begin and cip_append. It must outlive
 * *file, which can be read until an update is committed: then that is BUSY. */
CIP_API cip_status cip_memory_open(cip_memory *memory, const cip_open_options *opts,
                                   cip_file **file, cip_err *err);
/** What cip_open sees under `path` as one in memory, whole: a folder with all files beneath it (not
 * folders that are empty), a file with those beside it that its arrays lie in; an update that was
 * cut off is shown as cip_open shows it. BUSY when another one comes between. Names are opened by
 * the rules of reading: a link that leaves the folder without `allow_external` (CORRUPT), a FIFO
 * (UNSUPPORTED), more bytes together than cip_limits.max_memory (LIMIT) or a file that is missing
 * (NOT_FOUND) refuse it all, and so do `roots`, and files beside it that do not lie in its folder
 * or refer to others in turn (UNSUPPORTED). *out is the caller's to free; its memory comes from the
 * options' allocator. */
CIP_API cip_status cip_memory_load(const char *path, const cip_open_options *opts, cip_memory **out,
                                   cip_err *err);
/** Makes it a new file, or where it has members alone a new folder, under `path`: all of it or
 * nothing, as cip_writer_commit does. Of the options count `overwrite`, `level`, `limits` and
 * `allocator`. EXISTS when the path exists and is not to be overwritten; a folder is replaced only
 * where it is of a format (ARG), a file beside the new one never (EXISTS). ARG for one in memory
 * that is not complete, or has nothing in it. It stays as it is. */
CIP_API cip_status cip_memory_save(const cip_memory *memory, const char *path,
                                   const cip_write_options *opts, cip_err *err);
/** Gives the complete file, or folder of a format, at `from` the name `path` in the same file
 * system, in one step and as cip_writer_commit does: for files that several processes put together
 * beside their place. A file that is there is replaced under its writers' lock, after what an
 * interrupted update left of it is completed, and gives its mode, owner and extended attributes on.
 * Of the options count `overwrite`, `level`, `limits` and `allocator`; what is in a folder is as
 * durable as it was written. EXISTS when `path` exists and is not to be overwritten; BUSY when
 * somebody updates either of them; ARG for a folder of no format, or one that is to replace a file
 * or the other way about; IO for another file system. After a failure `from` is where it was. */
CIP_API cip_status cip_publish(const char *from, const char *path, const cip_write_options *opts,
                               cip_err *err);
/** After the writer has ended. NULL is fine. */
CIP_API void cip_memory_free(cip_memory *memory);

/** Sets the node at `path` (as cip_tree_get reads paths); one that is there is replaced. Missing
 * parents are made: a list where the step below is `0` or `-`, else a mapping (one that is to have
 * the key "0" is set to `{}` first). In a list a number sets that item, and the next number, or
 * `-`, adds one; NOT_FOUND for a later one. TYPE when a parent is neither mapping nor list. Strings
 * are UTF-8 (ARG) and copied. What the format has no place for is named by the commit (UNSUPPORTED,
 * but for accept_loss). */
CIP_API cip_status cip_writer_set_string(cip_writer *w, const char *path, const char *text,
                                         cip_err *err);
CIP_API cip_status cip_writer_set_int(cip_writer *w, const char *path, int64_t value, cip_err *err);
CIP_API cip_status cip_writer_set_uint(cip_writer *w, const char *path, uint64_t value,
                                       cip_err *err);
CIP_API cip_status cip_writer_set_double(cip_writer *w, const char *path, double value,
                                         cip_err *err);
CIP_API cip_status cip_writer_set_bool(cip_writer *w, const char *path, bool value, cip_err *err);
CIP_API cip_status cip_writer_set_null(cip_writer *w, const char *path, cip_err *err);
/** The same with a value written as YAML ("{a: [1, 2]}", "!core/complex-1.0.0 1+2j"). CORRUPT when
 * it is none. */
CIP_API cip_status cip_writer_set_yaml(cip_writer *w, const char *path, const char *text,
                                       cip_err *err);
/** YAML as a person types it: a plain `1e-3`, `-.5`, `nan` or `inf`, a string in YAML 1.1, becomes
 * that number. on_note is told, with code TYPE, of what is stored as something that its text does
 * not show (`017` as octal, `12:30` as sexagesimal, `yes`, a date), and with code OK of a string
 * that looks like a number (`0o17`). Errors as above; CANCELLED by on_note. */
CIP_API cip_status cip_writer_set_typed(cip_writer *w, const char *path, const char *text,
                                        cip_err *err);
/** A copy of a node of an open file, with all below it. UNSUPPORTED, by its path, for an array
 * whose data are not in the tree: cip_put_array takes it. `node` NULL passes on the status in err
 * (or ARG). */
CIP_API cip_status cip_writer_set_node(cip_writer *w, const char *path, const cip_file *from,
                                       const cip_node *node, cip_err *err);

/** Writes an array: ndim lengths in `shape`, elements packed in C order at `data`, which is the
 * caller's again when this returns. `opts` may be NULL. A format of one array without a name (npy,
 * RawArray, Blosc2, bloscpack, and BLZ and bcolz but for tables) takes any path, and leaves it out:
 * on_note reports one that is not "". */
CIP_API cip_status cip_put(cip_writer *w, const char *path, const cip_dtype *dtype, int ndim,
                           const int64_t *shape, const void *data, const cip_array_options *opts,
                           cip_err *err);
/** The same with one element at `value` that all elements are; NULL: elements that nobody has set
 * (python-blosc2's `empty`), zeros where the format has nothing of the kind. Where chunks of one
 * value are stored without data (Blosc2) the array costs next to nothing, however long. */
CIP_API cip_status cip_put_filled(cip_writer *w, const char *path, const cip_dtype *dtype, int ndim,
                                  const int64_t *shape, const void *value,
                                  const cip_array_options *opts, cip_err *err);
/** Writes an array of an open file, streaming, and its mask. `args` (may be NULL: all of it as it
 * is stored) says what of it, as for cip_read_into: selection, field, dtype, overflow; take_mask:
 * its mask as an array. Fields that say where elements go (dst, strides, mask) are ARG. */
CIP_API cip_status cip_put_array(cip_writer *w, const char *path, const cip_array *from,
                                 const cip_read_args *args, const cip_array_options *opts,
                                 cip_err *err);
/** Another array over the data of one that was put: what the selection leaves of it, stored once.
 * UNSUPPORTED where the format has no views. */
CIP_API cip_status cip_put_view(cip_writer *w, const char *path, const char *of,
                                const char *selection, cip_err *err);

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

/** Declares an array that is filled by boxes before the commit; what is not filled is zeros. The
 * slab belongs to the writer. */
CIP_API cip_status cip_declare(cip_writer *w, const char *path, const cip_dtype *dtype, int ndim,
                               const int64_t *shape, const cip_array_options *opts, cip_slab **slab,
                               cip_err *err);
/** Writes a box: elements packed in C order, nbytes in all, the caller's again when this returns.
 * Any number of threads may write disjoint boxes of one slab. RANGE when the box does not lie in
 * the array or nbytes is not what it needs. Elements that come twice are what came last; ARG for
 * those of a chunk that is stored already, in a format that stores chunks as they come. */
CIP_API cip_status cip_slab_write(cip_slab *slab, const cip_box *box, const void *data,
                                  size_t nbytes, cip_err *err);

/** Goes on without the calls and boxes that failed: later calls are made again, and the commit
 * makes a file of all but those. OK where none failed. Where one failed halfway, so that a part of
 * its array is stored, this gives its error again, as all further calls and the commit do. */
CIP_API cip_status cip_writer_forget_failure(cip_writer *w, cip_err *err);

/** Completes the file and puts it under its name in one step; the writer is freed, whatever the
 * result: after a failure nothing has changed under the name. */
CIP_API cip_status cip_writer_commit(cip_writer *w, cip_err *err);
/** Gives up: frees the writer, leaves nothing behind. NULL is fine. */
CIP_API void cip_writer_abort(cip_writer *w);

/** Removes the files that this process is writing and that are not complete yet, where the file
 * system needs names for them; for a handler of signals that end the process, in which it may be
 * called (the library has none). Nothing may be written afterwards. */
CIP_API void cip_remove_unfinished(void);

#ifdef __cplusplus
}
#endif
#endif
