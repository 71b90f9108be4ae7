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
 * each open file, when the first of its bytes is asked for (a window costs the whole block then):
 * where it is not what its checksum was made of (the stored or, as older writers did, the decoded
 * bytes), every read of it fails with CHECKSUM and no byte is given out. Data without a checksum
 * (inline, streamed, formats that have none) are read as ever; cip_block_info.checksum tells.
 * Chunks with checksums of their own (bloscpack) are compared at every read, whatever is asked for.
 */
typedef enum cip_check {
    CIP_CHECK_DEFAULT = 0, /* off; on where cip_convert opens its input */
    CIP_CHECK_ON,
    CIP_CHECK_OFF
} cip_check;

/** What is opened of a file whose structure is damaged (Blosc2 frames; other formats: nothing). */
typedef enum cip_salvage {
    CIP_SALVAGE_NONE = 0, /* nothing */
    CIP_SALVAGE_CERTAIN,  /* where an index that is whole tells which chunks there are, wherever it
                             was found; findings (cip_file_finding) say what was done */
    CIP_SALVAGE_IN_ORDER  /* also where none is left: chunks in the order that they have in the
                             file, which is theirs only where all were appended, and none was a
                             special one. The caller has to know that */
} cip_salvage;

typedef struct cip_open_options {
    size_t size;                    /* sizeof(cip_open_options) */
    const char *format;             /* a format's name, or NULL to detect it from the bytes */
    const cip_limits *limits;       /* NULL: the defaults */
    const cip_allocator *allocator; /* NULL: the C library's */
    unsigned threads;    /* 0: the process-wide pool; 1: only the caller; n: a pool of its own */
    bool allow_external; /* external files outside the file's folder may be opened */
    bool force;          /* go on where a version or flag is unknown */
    /** Encodings of the caller, ncodec of them: copied, but for what `user` points to. */
    const cip_codec_methods *const *codecs;
    size_t ncodec;
    /** Keep checkpoints (where decoding of large compressed data may begin anew) in
     * ".NAME.cip-marks" beside the file: used as far as it fits the data; written again when the
     * file is closed and there are more, if the folder can be written. Of cip_open alone. */
    bool sidecar;
    /** Whether data are compared with the checksums that the file stores before they are given out.
     */
    cip_check check;
    /** Other folders, nroot of them (0: up to a NULL), that parts of the file lie in (the shards of
     * a BLZ array); ARG for files that cannot have such. Copied. */
    const char *const *roots;
    size_t nroot;
    uint64_t offset; /* the file begins at this byte, as one that was appended to another does, and
                        ends with the other or before it. It cannot be updated */
    cip_salvage salvage; /* what is opened of a damaged file: cip_repair() reads with CERTAIN */
    uint32_t reserved;   /* 0 */
} cip_open_options;

#define CIP_OPEN_OPTIONS(...) CIP_OPTIONS(cip_open_options, __VA_ARGS__)

/** Opens `path` (a file, the folder of a sparse frame, or "-" for standard input) and reads its
 * metadata, no array data. `opts` and `err` may be NULL. On success *file is the caller's to close,
 * otherwise NULL. Fails with NOT_FOUND, IO, FORMAT (none fits), UNSUPPORTED, LIMIT, CORRUPT or
 * TRUNCATED. */
CIP_API cip_status cip_open(const char *path, const cip_open_options *opts, cip_file **file,
                            cip_err *err);
/** The same over the caller's bytes; `methods` is copied, `user` handed to each of them and given
 * back by `close` when the file is closed, or before this fails (cippus/ext/io.h). */
CIP_API cip_status cip_open_io(const cip_io_methods *methods, void *user,
                               const cip_open_options *opts, cip_file **file, cip_err *err);
/** The same over nbytes at ptr, which must outlive the file. */
CIP_API cip_status cip_open_memory(const void *ptr, size_t nbytes, const cip_open_options *opts,
                                   cip_file **file, cip_err *err);
/** Shows the file as it is now: whoever changed it, by whatever means, also when another file took
 * its name. *changed (may be NULL) says whether anything did; if not, nothing is done. What getters
 * gave before stays valid and is of the old state: its metadata and shapes are as they were, and
 * reading its elements gives those of that state, or BUSY where they were written over (as ever in
 * Blosc2 frames, which others change in place). Each old state keeps its descriptors and the
 * readers' lock until cip_file_drop_old() or cip_file_close(). Findings of the new state come
 * behind the old ones. A file that cannot be opened (cip_open's errors; BUSY: it is just being
 * changed) is shown as before, and may be tried again. Of cip_open_io by methods without a version,
 * of cip_open_memory and standard input nothing changes. Other threads may go on with arrays and
 * nodes that they have, but not call anything with `file` itself meanwhile; no cip_change of it may
 * be open. */
CIP_API cip_status cip_file_refresh(cip_file *file, bool *changed, cip_err *err);
/** Ends what cip_file_refresh() kept: arrays, nodes and texts got before the last one that found a
 * change are no longer valid, in no thread. NULL is fine. */
CIP_API void cip_file_drop_old(cip_file *file);
/** NULL is fine. No other thread may be using the file. */
CIP_API void cip_file_close(cip_file *file);

/** The format's name ("asdf", "rawarray", "npy") and its version in the file ("1.0.0", may be "").
 */
CIP_API const char *cip_file_format(const cip_file *file);
CIP_API const char *cip_file_version(const cip_file *file);
/** Bytes of the file. */
CIP_API uint64_t cip_file_nbytes(const cip_file *file);

/** Bytes held by checkpoints: where decoding of large compressed data may begin anew. */
CIP_API uint64_t cip_file_checkpoints_nbytes(const cip_file *file);

/** Arrays in the order of the tree. */
CIP_API size_t cip_file_narray(const cip_file *file);
CIP_API const cip_array *cip_file_array(const cip_file *file, size_t i);
/** The next array, from *at (0 at first) on, whose path fits the pattern (NULL: any), or NULL; *at
 * is then where to go on. In patterns `*` is any text within a step, and `**` any text:
 * "roman/`**`" are all below `roman`. As whole steps `**` may be none: with "/data" behind it,
 * "data" fits too. A quantity comes once, by its own path: cip_file_array() gives its value's as
 * well. */
CIP_API const cip_array *cip_file_next_array(const cip_file *file, const char *pattern, size_t *at);
/** The array at `path` (as cip_tree_get reads paths; "", "." or NULL: the only one); of a quantity
 * its value's. A step into a record's field is not part of it (see cip_read_args.field). NULL with
 * NOT_FOUND, or ARG when there are several. */
CIP_API const cip_array *cip_find(const cip_file *file, const char *path, cip_err *err);
/** The same, and what is left of the path behind the array (a field, "" for none) in *field. */
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
/** Whether what is at `path` in the tree tells how this very file came about (an ASDF file's
 * `history`) or how its only array lies in it (a RawArray's `eltype`), which a file with the same
 * arrays has no need of. */
CIP_API bool cip_tree_is_own(const cip_file *file, const char *path);
/** The array that a node of the tree describes, or that is its value (of a quantity: a mapping of
 * `value` and `unit`), or NULL. */
CIP_API const cip_array *cip_array_of_node(const cip_file *file, const cip_node *node);
/** The mapping or list that holds the array in the tree, for what stands beside it; of a quantity,
 * and of its value, the quantity: cip_tree_get_string(cip_array_parent(f, a), "unit", ...). NULL
 * where there is none. */
CIP_API const cip_node *cip_array_parent(const cip_file *file, const cip_array *array);

/** Facts about the file in words, in order: key and value (may be NULL), both borrowed. False at
 * the end. */
CIP_API bool cip_file_fact(const cip_file *file, size_t i, const char **key, const char **value);
/** What was tolerated while opening and reading so far: the i-th finding, or NULL. */
CIP_API const cip_finding *cip_file_finding(const cip_file *file, size_t i);

/** A block (or chunk) as it lies in the file. Borrowed texts. */
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
    const char *member; /* the file of the folder that it lies in, or NULL: this file itself */
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

/** What the format's own tools print of a file, as text: of a RawArray its query (name, endian,
 * type, size, dimension, shape as stored) as YAML. UNSUPPORTED where there is none. */
CIP_API cip_status cip_file_query(const cip_file *file, cip_write_fn *fn, void *user, cip_err *err);

/** The i-th format of this build: its name and what it can do ("read", "write": space-separated).
 * Behind a format stand kinds of its files that are written under names of their own ("write"
 * alone). NULL at the end. */
CIP_API const char *cip_format_at(size_t i, const char **title, const char **caps);
/** The i-th option that only the format of this name has when it is written ("encode" of "asdf"),
 * to be given as "KEY=VALUE", and a line that says what it does. NULL at the end, and for a format
 * that does not exist. */
CIP_API const char *cip_format_option_at(const char *format, size_t i, const char **help);
/** The i-th codec of this build (behind them msgpack, which metadata need), whether it is there,
 * and its library's version. NULL at the end.
 */
CIP_API const char *cip_codec_at(size_t i, bool *available, const char **version);

#ifdef __cplusplus
}
#endif
#endif
