/* SPDX-License-Identifier: BSD-3-Clause
 * References into a file for readers of Zarr: the places of the chunks of its arrays. */
#ifndef CIPPUS_EXT_REFS_H
#define CIPPUS_EXT_REFS_H

#include "cippus/file.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An entry: text of metadata, or a chunk, at a place or as its bytes. Borrowed until the callback
 * returns. */
typedef struct cip_refs_entry {
    const char *node; /* the array or group that it belongs to; "": the root */
    const char *key;  /* ".zgroup", ".zattrs", ".zarray", or a chunk's indices: "0.1" */
    const char *text; /* of metadata, JSON; NULL: it is a chunk */
    uint64_t number;  /* for a chunk: its number in C order of all of its array */
    const char *url;  /* its file: nbytes from offset on; NULL: nbytes at `bytes` */
    uint64_t offset, nbytes;
    const void *bytes;
} cip_refs_entry;

/** A nonzero result stops with CANCELLED. */
typedef int cip_refs_entry_fn(void *user, const cip_refs_entry *entry);

typedef struct cip_refs_options {
    size_t size;      /* sizeof(cip_refs_options) */
    const char *path; /* one array, or everything below a mapping of the tree; names are the rest of
                         the path, or its last step. NULL: all of the file */
    const char *url;  /* of the file, for those who read the references; not NULL */
    const char *members; /* the prefix for names of other files (cip_chunk_info.member): "URL/" for
                            a folder, otherwise its folder; NULL: such arrays are left out */
    uint64_t inline_nbytes; /* arrays without bytes of their own to refer to (values in a tree's
                               text, data in chains of codecs) are written out up to this size */
    /** Called for arrays that are left out, or written out, with the reason. */
    cip_finding_fn *on_finding;
    cip_refs_entry_fn *on_entry; /* called for each entry, too, for other forms than JSON */
    void *user;                  /* of on_finding and on_entry */
} cip_refs_options;

#define CIP_REFS_OPTIONS(...) CIP_OPTIONS(cip_refs_options, __VA_ARGS__)

/** Writes references as kerchunk has them (JSON, version 1), to fn piece by piece. They are
 * metadata of a Zarr v2 hierarchy, made of the tree, and for each chunk its bytes in the file. The
 * only array of a file without a path is "data". Reading them gives the same as cip_read. numcodecs
 * decodes raw, zlib, bzip2, zstd, lz4 and Blosc1 chunks; for Blosc2 and inner orders of blocks a
 * reader needs the codecs of the Python package. Data in one raw piece are cut into chunks along
 * the first axis. An array without a correct reference (masks, other codecs, strides, chunks that
 * end within rows, ...) is left out and reported. UNSUPPORTED if nothing is left, or for an array
 * that `path` gives. BUSY for a file whose last update was interrupted (cip_recover). Also ARG; a
 * failure of reading an array's tables is reported for that array. fn gets `user`; its output
 * before a failure is not a whole document. */
CIP_API cip_status cip_refs_write(const cip_file *file, const cip_refs_options *opts,
                                  cip_write_fn *fn, void *user, cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
