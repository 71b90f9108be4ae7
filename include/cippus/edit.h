/* SPDX-License-Identifier: BSD-3-Clause
 * Changing files in place: what changes is written, nothing else, and a fault at any instant leaves
 * the old file or the new one. */
#ifndef CIPPUS_EDIT_H
#define CIPPUS_EDIT_H

#include "cippus/write.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a file is changed. Zero fields mean the default. */
typedef struct cip_edit_options {
    size_t size; /* sizeof(cip_edit_options) */
    cip_level level;
    const char *checksum; /* of changed data: "md5", "legacy", "none" (dropped); NULL: as stored */
    const char *codec;    /* of arrays that are added or stored anew; NULL: as they are */
    int64_t tree_slack;   /* of a tree that has to move; 0: the default, -1: none */
    const char *history;  /* a history entry that says what was done; NULL: none */
    const cip_open_options *open; /* how to read it: limits, threads, ...; NULL: the defaults */
    bool break_links; /* a file with several names (hard links) may be replaced under this one */
    const char *const *format_options; /* as in cip_write_options, of arrays that are changed or
                                          added; NULL: as they are */
    bool accept_loss; /* values that the array's type does not hold exactly are converted all the
                         same (CIP_OVERFLOW_CLAMP), and elements of another array that are what
                         stands for missing ones become missing; changed arrays may be stored by
                         a lossy chain, their own or that one; arrays and nodes of other files may
                         lack what was left out when those were read */
    bool by_position; /* fields of records go by their order instead of their names */
    cip_finding_fn *on_note;   /* told what the largest error is then, at the commit, and what those
                                * lack; and by cip_edit_set_typed */
    void *user;                /* of on_note and progress */
    cip_progress_fn *progress; /* told how many chunks of an array are encoded, of so many, at the
                                * plan or the commit; not 0 cancels it; may be NULL */
    const char *byteorder;     /* of elements in memory that cip_edit_write and cip_edit_append
                                  take: "little", "big"; NULL: the machine's */
    unsigned wait; /* seconds for which another writer is waited for, and readers who are in the way
                      of the commit, before that is BUSY; 0: not at all */
    uint32_t reserved; /* 0 */
} cip_edit_options;

#define CIP_EDIT_OPTIONS(...) CIP_OPTIONS(cip_edit_options, __VA_ARGS__)

/** An update being put together: one thread at a time. Holds the writers' lock of the file. A call
 * that fails changes nothing of it, and makes the commit fail with its error, so that a program may
 * look at the commit's status alone: of an update all is written, or nothing. One that has looked
 * at the failure and goes on without that call says so by cip_edit_forget_failure. */
typedef struct cip_edit cip_edit;

/** Starts an update of a file that cip_open or cip_memory_open opened, or cip_open_io by methods
 * with open_write and version; of such a one it must stay open until the edit has ended. What an
 * interrupted update left behind is completed first. BUSY when another writer has it or it changed
 * since it was opened, STALE when its name is another file's by now, or nobody's, READONLY when it
 * may not be written, UNSUPPORTED when the format or source cannot be updated. `file` may be read
 * until the commit; then it is to be opened again, or refreshed (cip_file_refresh), and reading it
 * is BUSY. */
CIP_API cip_status cip_edit_begin(cip_file *file, cip_edit **edit, cip_err *err);
/** The same by name and with all that can be chosen; `opts` may be NULL. */
CIP_API cip_status cip_edit_open(const char *path, const cip_edit_options *opts, cip_edit **edit,
                                 cip_err *err);

/** The same of a file in a store of the caller's, by methods that read and that write it
 * (cippus/ext/io.h). Nothing is written before the commit. A method that fails in it ends it, and
 * what was written by then is undone by further calls: all is written, or nothing, unless these
 * fail as well (the error says so). There are no locks and no journals: what ends the process, or
 * the machine, amid a commit leaves a mixture. write->close gives `user` back when the edit ends,
 * or before this fails; read->close is not called. */
CIP_API cip_status cip_edit_open_io(const cip_io_methods *read, const cip_io_write_methods *write,
                                    void *user, const cip_edit_options *opts, cip_edit **edit,
                                    cip_err *err);
/** The same of a file in memory, which must outlive the edit. It can be read until the commit,
 * after which cip_memory_bytes gives other bytes. */
CIP_API cip_status cip_edit_open_memory(cip_memory *memory, const cip_edit_options *opts,
                                        cip_edit **edit, cip_err *err);

/** Changes of the tree, each as cip_writer_set_* of the same name. */
CIP_API cip_status cip_edit_set_string(cip_edit *e, const char *path, const char *text,
                                       cip_err *err);
CIP_API cip_status cip_edit_set_int(cip_edit *e, const char *path, int64_t value, cip_err *err);
CIP_API cip_status cip_edit_set_uint(cip_edit *e, const char *path, uint64_t value, cip_err *err);
CIP_API cip_status cip_edit_set_double(cip_edit *e, const char *path, double value, cip_err *err);
CIP_API cip_status cip_edit_set_bool(cip_edit *e, const char *path, bool value, cip_err *err);
CIP_API cip_status cip_edit_set_null(cip_edit *e, const char *path, cip_err *err);
CIP_API cip_status cip_edit_set_yaml(cip_edit *e, const char *path, const char *text, cip_err *err);
CIP_API cip_status cip_edit_set_typed(cip_edit *e, const char *path, const char *text,
                                      cip_err *err);
CIP_API cip_status cip_edit_set_node(cip_edit *e, const char *path, const cip_file *from,
                                     const cip_node *node, cip_err *err);
/** Removes a node. Data that nothing names any more stay in the file (`defrag` drops them). */
CIP_API cip_status cip_edit_remove(cip_edit *e, const char *path, cip_err *err);
/** Gives the node or array at `from` the path `to`; missing parents are made. In the same mapping
 * it keeps its place, elsewhere it becomes the last entry; its text, comments included, stays as it
 * is written (into `{}` or `[]` it goes on one line). `replace`: a node at `to` goes first. ARG
 * when there is one otherwise, when `to` lies within `from`, or for a part of an array's
 * description. UNSUPPORTED when an alias would come before its anchor. A `$ref` that leads nowhere
 * then makes the commit fail. An array that was moved takes no data in the same update. */
CIP_API cip_status cip_edit_move(cip_edit *e, const char *from, const char *to, bool replace,
                                 cip_err *err);

/** The whole text of the metadata tree with the changes so far: *nbytes of it, borrowed until the
 * next change. UNSUPPORTED in a format whose tree is no text. */
CIP_API cip_status cip_edit_text(cip_edit *e, const char **text, size_t *nbytes, cip_err *err);
/** Puts another text in its place, before any change of data. It is checked: CORRUPT when it is no
 * YAML or lacks its first or last line; ARG when it describes data otherwise than the old text did
 * (arrays may be renamed, named again or left out). */
CIP_API cip_status cip_edit_set_text(cip_edit *e, const char *text, size_t nbytes, cip_err *err);

/** Replaces the selected elements ("[0:10]", NULL or "" for all) of the array at `path` (NULL or
 * "", here and below: the only one) by nbytes at `data`: elements of `dtype`
 * (cip_dtype_as_stored(): the array's own), packed, in C order. They are cast: RANGE where the
 * array's type does not hold a value exactly, unless the options accept that; fields of records go
 * by their names. `dtype` NULL passes on the status in err (or ARG). */
CIP_API cip_status cip_edit_write_as(cip_edit *e, const char *path, const char *selection,
                                     const cip_dtype *dtype, const void *data, size_t nbytes,
                                     cip_err *err);
/** The same of plain bytes, which are taken for elements of the array's own dtype whatever the
 * caller's were: in the machine's byte order, or that of the options. For bytes that
 * cip_array_native_dtype describes; elements of a type of C go through cip_edit_write_as. */
CIP_API cip_status cip_edit_write(cip_edit *e, const char *path, const char *selection,
                                  const void *data, size_t nbytes, cip_err *err);
/** The same from an array of another open file, which is cast; its shape broadcasts to that of the
 * selection as in numpy (elements that may be missing are not repeated). RANGE for others, and
 * where the array's type does not hold a value exactly, unless the options accept that (floats are
 * rounded to narrower floats), TYPE for times in place of numbers or of another unit. Fields of
 * records go by their names: TYPE where these are not the same, in whatever order. Missing elements
 * become what the array has in their place (a mask that is a value); UNSUPPORTED where it has
 * nothing, or where an element that is there is just that value, unless the options accept the
 * loss. */
CIP_API cip_status cip_edit_write_array(cip_edit *e, const char *path, const char *selection,
                                        const cip_array *from, cip_err *err);
/** Reads elements of the array at `path`, or of a field of it, as the changes so far have them: the
 * rest as cip_read_into. Where an update depends on what is there, that is what it has to look at,
 * as the file stays as it is until the commit. Nothing changes; a failure is no failed change. */
CIP_API cip_status cip_edit_read(cip_edit *e, const char *path, const cip_read_args *args,
                                 cip_err *err);
/** The array at `path` as the changes so far have it, for cip_array_shape, cip_read_into and their
 * like; also one that cip_edit_put added, in formats whose tree describes arrays. Borrowed until
 * the edit ends; it has to be asked for again after each change. NOT_FOUND where this update
 * removed or replaced it; UNSUPPORTED where it does not say what became of it before the commit
 * (it was moved within a list, or from the path that is asked for; columns of it came or went;
 * elements changed, and a node was moved). Nothing changes; a failure is no failed change. */
CIP_API cip_status cip_edit_array(cip_edit *e, const char *path, const cip_array **array,
                                  cip_err *err);
/** The root of the tree with the changes so far, borrowed until the next one; NULL in a file
 * without a tree. What it says of the shape and place of arrays may be of before (cip_edit_array
 * knows). */
CIP_API cip_status cip_edit_tree(cip_edit *e, const cip_node **root, cip_err *err);
/** Adds an array where `path` names nothing, as cip_put does in a new file, or in the place of what
 * is there (cip_array_options.replace; in formats with a tree of arrays); parents are made.
 * Nothing else of the file moves: its data come behind the last block, or into new files of the
 * folder: in a table or in records of BLZ or bcolz it is a column, with as many rows as the others.
 * `opts` may be NULL; the codec is the edit's where it has none. Several may be added by an update;
 * other calls of this update know them by their nodes only. ARG when `path` names something or lies
 * within an array's description. UNSUPPORTED in a format with one array, behind a streamed block
 * (freeze it first), in a file of ASDF 0.1, for `external` storage, and for a column of another
 * length. */
CIP_API cip_status cip_edit_put(cip_edit *e, const char *path, const cip_dtype *dtype, int ndim,
                                const int64_t *shape, const void *data,
                                const cip_array_options *opts, cip_err *err);
/** The same with an array of an open file, as cip_put_array. */
CIP_API cip_status cip_edit_put_array(cip_edit *e, const char *path, const cip_array *from,
                                      const cip_read_args *args, const cip_array_options *opts,
                                      cip_err *err);
/** The same by boxes, as cip_declare: it comes into the file, and takes its path, at the plan or
 * the commit, and until then the slab is the edit's. */
CIP_API cip_status cip_edit_declare(cip_edit *e, const char *path, const cip_dtype *dtype, int ndim,
                                    const int64_t *shape, const cip_array_options *opts,
                                    cip_slab **slab, cip_err *err);
/** Adds rows along the first axis: whole rows, as cip_edit_write_as takes elements. */
CIP_API cip_status cip_edit_append_as(cip_edit *e, const char *path, const cip_dtype *dtype,
                                      const void *data, size_t nbytes, cip_err *err);
/** The same of plain bytes, as cip_edit_write takes them. */
CIP_API cip_status cip_edit_append(cip_edit *e, const char *path, const void *data, size_t nbytes,
                                   cip_err *err);
CIP_API cip_status cip_edit_append_array(cip_edit *e, const char *path, const cip_array *from,
                                         cip_err *err);
/** Removes what is at [start, start + count) along an axis; what is behind it moves up. A count of
 * 0 changes nothing, that of the whole axis leaves the length 0. Of records in columns rows go from
 * all columns. ARG for an axis that the array does not have, RANGE beyond its end, UNSUPPORTED
 * where cip_edit_resize cannot change the length of that axis. */
CIP_API cip_status cip_edit_delete(cip_edit *e, const char *path, int axis, int64_t start,
                                   int64_t count, cip_err *err);
/** Puts rows of an axis before the one that is at `start` (its length: behind the last), as
 * cip_edit_append_as takes them: elements in C order of the array's shape, but for that axis.
 * Errors as for cip_edit_delete. */
CIP_API cip_status cip_edit_insert_as(cip_edit *e, const char *path, int axis, int64_t start,
                                      const cip_dtype *dtype, const void *data, size_t nbytes,
                                      cip_err *err);
/** The same of plain bytes, as cip_edit_append takes them. */
CIP_API cip_status cip_edit_insert(cip_edit *e, const char *path, int axis, int64_t start,
                                   const void *data, size_t nbytes, cip_err *err);
/** The same of an array, as cip_edit_append_array; of one axis less is one row. */
CIP_API cip_status cip_edit_insert_array(cip_edit *e, const char *path, int axis, int64_t start,
                                         const cip_array *from, cip_err *err);
/** Which range of one axis a selection takes of the array as it is by then, for these: "[100:200]",
 * "[-1]" (one) or "[:, 3:3]" (none), clipped as in numpy. The other axes must be whole (ARG);
 * UNSUPPORTED for a step other than 1, RANGE for an index beyond the end. Nothing changes. */
CIP_API cip_status cip_edit_range(cip_edit *e, const char *path, const char *selection, int *axis,
                                  int64_t *start, int64_t *count, cip_err *err);
/** Gives the array a new shape of the same number of axes: elements inside both shapes stay where
 * they are, new ones are zeros. */
CIP_API cip_status cip_edit_resize(cip_edit *e, const char *path, int ndim, const int64_t *shape,
                                   cip_err *err);
/** A streamed block becomes one of a known size. */
CIP_API cip_status cip_edit_freeze(cip_edit *e, cip_err *err);
/** Drops data that no array names, and holes: the last change of an update. Each is told to `fn`
 * (may be NULL) as a finding. */
CIP_API cip_status cip_edit_defrag(cip_edit *e, cip_finding_fn *fn, void *user, cip_err *err);

/** Goes on without the calls that failed: the commit makes the update of all others. OK where none
 * failed. Where one failed halfway (reading the file, disk full, no memory), so that a part of it
 * may be there, this gives its error again, as all further calls do: then there is cip_edit_abort
 * alone, and so it is after a plan or commit that failed. */
CIP_API cip_status cip_edit_forget_failure(cip_edit *e, cip_err *err);

/** Several calls as one step, all of them or none: marks where the update is, in place of an
 * earlier mark. */
CIP_API cip_status cip_edit_mark(cip_edit *e, cip_err *err);
/** Takes back what was set, removed, moved and put since the mark, and forgets the calls that
 * failed since then; slabs that were declared since are gone. The mark stays. ARG where there is
 * none; UNSUPPORTED, with nothing taken back, where elements or shapes of arrays changed since, or
 * a column came. */
CIP_API cip_status cip_edit_undo(cip_edit *e, cip_err *err);

/** Says in lines, to `fn`, what the commit would do. Nothing is changed. */
CIP_API cip_status cip_edit_plan(cip_edit *e, cip_write_fn *fn, void *user, cip_err *err);
/** Makes the update and frees the edit, on failure too, but for BUSY: then the edit is kept, with
 * the writers' lock, to be committed again when readers (or another program) are gone, or to be
 * aborted. It is BUSY for good where somebody changed the file meanwhile. Where a call before
 * failed (and was not forgotten) nothing is done, and its error is given again. After a failure the
 * file is as it was (or a journal beside it holds the rest of the update, which the next writer
 * completes). STALE when the name is another file's by now (`mv new file`), or nobody's: nothing is
 * written, to neither. */
CIP_API cip_status cip_edit_commit(cip_edit *e, cip_err *err);
/** Gives up. NULL is fine. */
CIP_API void cip_edit_abort(cip_edit *e);

/** Appends whole rows to an array that grows at the end of its file (a streamed block, here or in a
 * file beside this one) without any other change: rows of `dtype` (cip_dtype_as_stored(): the
 * array's own) in the machine's byte order. `dtype` NULL passes on the status in err (or ARG).
 * Fields of records go by their names. Values that the array's type does not hold exactly are
 * RANGE. Readers see the rows at their next open. A crash keeps the rows written. The writers' lock
 * is taken at the first call and held until the file is closed. STALE when another file took the
 * name since the file was opened, or it was moved or removed (a log was rotated): nothing is
 * written; open it again, or refresh it. Of a file that was opened from
 * memory or by methods (as for cip_edit_begin) there is no lock: BUSY when another one changed it
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
