/* SPDX-License-Identifier: BSD-3-Clause
 * Opening a file of any format: its arrays, its tree, its blocks. */
#ifndef CIPPUS_FILE_H
#define CIPPUS_FILE_H

#include "cippus/array.h"
#include "cippus/ext/codec.h"
#include "cippus/ext/io.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An open file. It owns its tree and arrays: pointers from getters live until cip_file_close().
 *  Read-only, it may be used from many threads at once. Getters take NULL. */
typedef struct cip_file cip_file;

/** Whether a file is checked while it is read. A checked block is read whole and compared once for
 * each open file, when the first of its bytes is requested (a window then costs the whole block).
 * The checksum is of the stored bytes, or of the decoded ones, as older writers made it. If it does
 * not match, every read of the block fails with CHECKSUM and returns nothing. It stays so as long
 * as the file is open: after a repair, open it again, or refresh it (cip_file_refresh). Data
 * without a checksum (inline, streamed, formats that have none) are read as usual; see
 * cip_block_info.checksum. Chunks with checksums of their own (bloscpack) are compared at every
 * read in any case.
 */
typedef enum cip_check {
    CIP_CHECK_DEFAULT = 0, /* off; on if cip_convert opens its input */
    CIP_CHECK_ON,
    CIP_CHECK_OFF
} cip_check;

/** How much to open of a file whose structure is damaged (Blosc2 frames; other formats: nothing).
 */
typedef enum cip_salvage {
    CIP_SALVAGE_NONE = 0, /* nothing */
    CIP_SALVAGE_CERTAIN,  /* frames with an undamaged index, wherever it was found; findings
                             (cip_file_finding) say what was done */
    CIP_SALVAGE_IN_ORDER  /* also without an index: chunks in their order in the file. That is right
                             only if all were appended and none was special, which the caller has to
                             know */
} cip_salvage;

typedef struct cip_open_options {
    size_t size;                    /* sizeof(cip_open_options) */
    const char *format;             /* a format's name, or NULL to detect it from the bytes */
    const cip_limits *limits;       /* NULL: the defaults */
    const cip_allocator *allocator; /* NULL: the C library's */
    unsigned threads;    /* 0: the process-wide pool; 1: only the caller; n: a pool of its own */
    bool allow_external; /* external files outside the file's folder may be opened */
    bool force;          /* go on where a version or flag is unknown */
    /** Encodings of the caller, ncodec of them: copied, except the object that `user` points to. */
    const cip_codec_methods *const *codecs;
    size_t ncodec;
    /** Keep checkpoints (places where decoding of large compressed data can start) in
     * ".NAME.cip-marks" next to the file. They are used as far as they fit the data. They are
     * written when the file is closed and there are new ones, if the folder can be written. Only
     * for cip_open. */
    bool sidecar;
    /** Whether data are compared with the stored checksums before they are returned.
     */
    cip_check check;
    /** Other folders with parts of the file (the shards of a BLZ array), nroot of them (0: up to a
     * NULL); ARG for files that cannot have any. Copied. */
    const char *const *roots;
    size_t nroot;
    uint64_t offset; /* the file begins at this byte of another one, to which it was appended, and
                        ends with it or before. It cannot be updated */
    cip_salvage salvage; /* for a damaged file; cip_repair() reads with CERTAIN */
    uint32_t reserved;   /* 0 */
    /** Map the file into memory, for programs that read many small windows or elements of plain
     * data: no system call for each. If the file becomes shorter meanwhile (by another program, or
     * a change of this one), a read ends the process with SIGBUS, where otherwise it fails with
     * BUSY. Only for cip_open of a file; what cannot be mapped is read as usual. */
    bool map;
    uint8_t unused[7]; /* 0 */
    /** A folder where bytes of files at URLs are kept for later runs; NULL: they are not. It is
     * made if it does not exist, and has to be yours, and writable only by you (ARG). Bytes are
     * kept of versions with a strong entity tag, and used only if the server still has that
     * version. */
    const char *cache;
    uint64_t cache_nbytes; /* at most in the folder (0: 1 GiB); files unused for longest are removed
                            */
    /** Fail with IO if the last part of the path is a symbolic link, instead of following it: for
     * paths in folders that others can write to. Only for cip_open. */
    bool no_link;
    uint8_t unused_2[7]; /* 0 */
} cip_open_options;

#define CIP_OPEN_OPTIONS(...) CIP_OPTIONS(cip_open_options, __VA_ARGS__)

/** Opens `path` (a file, the folder of a sparse frame, "-" for standard input, or a URL of file,
 * http, https or s3) and reads its metadata, no array data. `opts` and `err` may be NULL. On
 * success *file is the caller's to close, otherwise NULL. Fails with NOT_FOUND, IO, FORMAT (none
 * fits), UNSUPPORTED, LIMIT, CORRUPT or TRUNCATED.
 * A URL is read by ranges, and cannot be changed. Credentials for s3 come from the
 * variables and files of AWS's own tools. Reads of a file that was replaced there end with STALE,
 * and those of a build without libcurl with UNSUPPORTED. */
CIP_API cip_status cip_open(const char *path, const cip_open_options *opts, cip_file **file,
                            cip_err *err);
/** The same through the caller's methods. `methods` is copied; each of them gets `user`. `close`
 * returns `user` when the file is closed, or before this fails (cippus/ext/io.h). */
CIP_API cip_status cip_open_io(const cip_io_methods *methods, void *user,
                               const cip_open_options *opts, cip_file **file, cip_err *err);
/** The same over nbytes at ptr, which must outlive the file. */
CIP_API cip_status cip_open_memory(const void *ptr, size_t nbytes, const cip_open_options *opts,
                                   cip_file **file, cip_err *err);
/** Makes `file` show the present state of the file, whoever changed it and how, also if another
 * file took its name. *changed (may be NULL) is set if there was a change; otherwise nothing is
 * done. Everything that getters returned before stays valid and shows the old state: its metadata
 * and shapes, and its elements, or BUSY if they were written over. (Other programs change Blosc2
 * frames in place, so there that is usual.) Each old state keeps its descriptors and the readers'
 * lock until cip_file_drop_old() or cip_file_close(). Findings of the new state come after the old
 * ones. If the file cannot be opened (cip_open's errors; BUSY: it is being changed), the old state
 * is shown, and you may try again. Nothing changes for cip_open_memory, standard input, and
 * cip_open_io by methods without a version. Other threads may use arrays and nodes that they have,
 * but make no call with `file` itself meanwhile. No cip_change of it may be open. */
CIP_API cip_status cip_file_refresh(cip_file *file, bool *changed, cip_err *err);
/** Drops the old states that cip_file_refresh() kept. Arrays, nodes and texts from before the last
 * refresh that found a change become invalid in all threads. NULL is fine. */
CIP_API void cip_file_drop_old(cip_file *file);
/** NULL is fine. No other thread may be using the file. */
CIP_API void cip_file_close(cip_file *file);

/** The format's name ("asdf", "rawarray", "npy") and its version in the file ("1.0.0", may be "").
 */
CIP_API const char *cip_file_format(const cip_file *file);
CIP_API const char *cip_file_version(const cip_file *file);
/** Bytes of the file. */
CIP_API uint64_t cip_file_nbytes(const cip_file *file);

/** Bytes of memory for checkpoints: places where decoding of large compressed data can start. */
CIP_API uint64_t cip_file_checkpoints_nbytes(const cip_file *file);

/** Arrays in the order of the tree. */
CIP_API size_t cip_file_narray(const cip_file *file);
CIP_API const cip_array *cip_file_array(const cip_file *file, size_t i);
/** The next array, from *at (0 at first) on, whose path fits the pattern (NULL: any), or NULL; *at
 * is then the place to go on. In patterns `*` is any text within a step, and `**` any text:
 * "roman/`**`" is everything below `roman`. As a whole step `**` may be empty: with "/data" after
 * it, "data" fits too. A quantity comes once, by its own path; cip_file_array() also gives the path
 * of its value. */
CIP_API const cip_array *cip_file_next_array(const cip_file *file, const char *pattern, size_t *at);
/** The array at `path` (as cip_tree_get reads paths; "", "." or NULL: the only one); for a
 * quantity, the array of its value. `path` has no step into a record's field (see
 * cip_read_args.field). NULL with NOT_FOUND, or ARG if there are several. */
CIP_API const cip_array *cip_find(const cip_file *file, const char *path, cip_err *err);
/** The same, with the rest of the path after the array (a field, "" for none) in *field. */
CIP_API const cip_array *cip_find_field(const cip_file *file, const char *path, const char **field,
                                        cip_err *err);

/** The metadata tree's root; NULL in a file without one. */
CIP_API const cip_node *cip_file_tree(const cip_file *file);

/** Called for each node below (and with) one, depth first in order: `path` from that node (borrowed
 *  until it returns) and how deep. 0 goes on, 1 leaves out what is below, anything else stops with
 * CANCELLED. */
typedef int cip_visit_fn(void *user, const char *path, const cip_node *node, uint32_t depth);
/** Walks the tree from `node` (NULL: the root). A node that contains itself is entered once on each
 * way. LIMIT over cip_limits.max_expansion nodes. */
CIP_API cip_status cip_tree_visit(const cip_file *file, const cip_node *node, cip_visit_fn *fn,
                                  void *user, cip_err *err);
/** The same for those nodes of the tree whose path and whose tag fit these patterns (as for
 * cip_file_next_array; NULL: any), such as "tag:stsci.edu:asdf/unit/quantity-*". */
CIP_API cip_status cip_tree_find(const cip_file *file, const char *path, const char *tag,
                                 cip_visit_fn *fn, void *user, cip_err *err);
/** Whether the node at `path` in the tree describes only this very file. Examples are an ASDF
 * file's `history` and a RawArray's `eltype`. Another file with the same arrays does not need it.
 */
CIP_API bool cip_tree_is_own(const cip_file *file, const char *path);
/** The array that a node of the tree describes, or that is the value of a quantity (a mapping of
 * `value` and `unit`), or NULL. */
CIP_API const cip_array *cip_array_of_node(const cip_file *file, const cip_node *node);
/** The mapping or list that contains the array in the tree, for metadata next to it. For a
 * quantity, and for its value, it is the quantity: cip_tree_get_string(cip_array_parent(f, a),
 * "unit", ...). NULL if there is none. */
CIP_API const cip_node *cip_array_parent(const cip_file *file, const cip_array *array);

/** Facts about the file in words, in order: key and value (may be NULL), both borrowed. False at
 * the end. */
CIP_API bool cip_file_fact(const cip_file *file, size_t i, const char **key, const char **value);
/** The i-th finding of opening and reading so far (things that were tolerated), or NULL. */
CIP_API const cip_finding *cip_file_finding(const cip_file *file, size_t i);

/** A block (or chunk) as it is in the file. Borrowed texts. */
typedef struct cip_block_info {
    uint64_t offset;        /* of its header (or of its data, where it has none) */
    uint64_t header_nbytes; /* 0: none */
    uint64_t data_offset;
    uint64_t allocated_nbytes;
    uint64_t stored_nbytes;
    uint64_t decoded_nbytes;
    uint64_t flags;             /* as stored */
    const char *codec;          /* "none", "zlib", ...; bytes that do not print are escaped */
    const char *checksum;       /* "md5", "64-bit" (of whatever kind), or "" for none stored */
    uint8_t checksum_value[64]; /* checksum_nbytes of it, most significant byte first */
    uint32_t checksum_nbytes;
    cip_status state;   /* OK, or why its data cannot be read */
    const char *member; /* the file of the folder that contains it, or NULL: this file itself */
} cip_block_info;

/** Blocks in the order of the file; 0 in a format without any. */
CIP_API size_t cip_file_nblock(const cip_file *file);
/** The i-th, or NULL. */
CIP_API const cip_block_info *cip_file_block(const cip_file *file, size_t i);
/** n bytes at `offset` of a block's data: decoded, or as stored. RANGE beyond its end. */
CIP_API cip_status cip_block_read(const cip_file *file, size_t i, bool stored, uint64_t offset,
                                  void *dst, size_t n, cip_err *err);

/** Takes text or bytes as they are made. A nonzero result stops with CANCELLED. */
typedef int cip_write_fn(void *user, const void *bytes, size_t nbytes);

typedef struct cip_tree_print_options {
    size_t size;          /* sizeof(cip_tree_print_options) */
    uint32_t depth;       /* deeper collections are left out; 0: none are */
    bool json;            /* JSON instead of YAML */
    bool arrays_as_nodes; /* arrays as their description in the tree, not in one line */
    uint16_t reserved;    /* 0 */
} cip_tree_print_options;

#define CIP_TREE_PRINT_OPTIONS(...) CIP_OPTIONS(cip_tree_print_options, __VA_ARGS__)

/** Writes a node of the file's tree (NULL: the root) as YAML or JSON; an array is shown in one
 * line. Control characters are escaped. LIMIT when aliases make it larger than limits allow. */
CIP_API cip_status cip_tree_print(const cip_file *file, const cip_node *node,
                                  const cip_tree_print_options *opts, cip_write_fn *fn, void *user,
                                  cip_err *err);

/** Prints a file as the format's own tools do: for a RawArray its query (name, endian, type, size,
 * dimension, shape as stored) as YAML. UNSUPPORTED if there are none. */
CIP_API cip_status cip_file_query(const cip_file *file, cip_write_fn *fn, void *user, cip_err *err);

/** The i-th format of this build: its name and what it can do ("read", "write": space-separated).
 * After a format come kinds of its files that are written under names of their own (only "write").
 * After all of them come the formats that this build leaves out (""). NULL at the end. */
CIP_API const char *cip_format_at(size_t i, const char **title, const char **caps);
/** The format of this build whose files have names like the last part of `path`, by what follows
 * its dot ("asdf" of "a/b.asdf"): nothing is opened. NULL if there is none. *folder (may be NULL):
 * files of such names are always folders ("a.zarr"). */
CIP_API const char *cip_format_of_path(const char *path, bool *folder);
/** The i-th writing option that only the format of this name has ("encode" of "asdf"), to be given
 * as "KEY=VALUE", with one line of help. NULL at the end, and for a format that does not exist. */
CIP_API const char *cip_format_option_at(const char *format, size_t i, const char **help);
/** The i-th codec of this build (after them msgpack, which metadata need), whether it is available,
 * and its library's version. NULL at the end.
 */
CIP_API const char *cip_codec_at(size_t i, bool *available, const char **version);
/** The i-th library that this build may use besides those of codecs, whether it does, and the
 * version ("" if unknown). libcurl is loaded to be asked; "" if it is not installed or too old.
 * NULL at the end. */
CIP_API const char *cip_library_at(size_t i, bool *available, const char **version);

#ifdef __cplusplus
}
#endif
#endif
