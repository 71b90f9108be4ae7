/* SPDX-License-Identifier: BSD-3-Clause
 * Convert between formats, and write arrays as text, csv, json, npy or raw bytes. */
#ifndef CIPPUS_CONVERT_H
#define CIPPUS_CONVERT_H

#include "cippus/change.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cip_convert_options {
    size_t size;           /* sizeof(cip_convert_options) */
    const char *format;    /* of the output; NULL: by the output's name */
    const char *path;      /* one array only; NULL: all */
    const char *codec;     /* "name", "name:level", "zfp:acc=-3"; NULL: the format's default */
    const char *byteorder; /* "little", "big"; NULL: the format's default */
    bool accept_loss;      /* go on where the output cannot hold all of the input, or a value of it
                              not exactly */
    bool overwrite;        /* an existing output is replaced (at the end, in one step) */
    /** Called for each loss, accepted or not, also for parts that were left out when the input was
     * read (damaged metadata, a duplicate key, a partial row). The largest error of each array
     * whose values change is a note. */
    cip_finding_fn *on_loss;
    cip_progress_fn *progress; /* called with bytes done; if it stops the conversion, there is no
                                  output; NULL: not wanted */
    void *user;                /* of both */
    const cip_open_options *input; /* how to open the input; NULL: the defaults, except that its
                                      data are compared with their checksums (.check) */
    const char *version;           /* of the output's format: an ASDF standard, "1.5.0" */
    /* "md5" (of the stored bytes), "legacy" (decoded), "none"; bloscpack: "crc32", "sha256", ...;
     * FITS: "datasum" */
    const char *checksum;
    const char *storage; /* of all arrays: "internal", "inline", "external"; NULL: the default */
    int64_t tree_slack;  /* bytes of room after a tree; 0: the format's default; -1: none */
    uint64_t align;      /* data start at a multiple of this; 0: the format's default */
    cip_level level;     /* what the output survives once it is there */
    bool resolve_refs;   /* arrays that are references become arrays */
    const char *const *format_options; /* as in cip_change_options */
    uint64_t *at_end;                  /* the same: the output goes after the existing file */
} cip_convert_options;

#define CIP_CONVERT_OPTIONS(...) CIP_OPTIONS(cip_convert_options, __VA_ARGS__)

/** Writes all of `in` as `out` ("-": standard output). From a format to the same one, other things
 * than arrays are kept too: order, comments, unused blocks. The exceptions are `path`, `byteorder`,
 * `version`, `storage`, `resolve_refs`, options of the format, and versions that are written only
 * on request (ASDF 0.1 becomes 1.x). Nothing has the name `out` before it is complete. A loss that
 * is not accepted is UNSUPPORTED, with its name; then nothing is written. EXISTS when `out` exists
 * and is not to be overwritten. */
CIP_API cip_status cip_convert(const char *in, const char *out, const cip_convert_options *opts,
                               cip_err *err);
/** The same from an open file. */
CIP_API cip_status cip_convert_file(const cip_file *in, const char *out,
                                    const cip_convert_options *opts, cip_err *err);

/** How a file is taken apart or put together. Zero fields mean the default. */
typedef struct cip_explode_options {
    size_t size;             /* sizeof(cip_explode_options) */
    const char *const *path; /* of arrays that get a file of their own; none: all arrays */
    size_t npath;
    bool bare; /* the other files contain nothing but their data */
    bool overwrite;
    cip_level level;
    int64_t tree_slack; /* as for converting */
    uint64_t align;
    const cip_open_options *input; /* how to open the input; NULL: the defaults */
    bool accept_loss; /* go on if the file's description of its data would not stay true, or bytes
                         that the input does not show would be lost */
    cip_finding_fn *on_loss; /* called for each such loss, accepted or not, and for notes */
    void *user;              /* of on_loss */
} cip_explode_options;

#define CIP_EXPLODE_OPTIONS(...) CIP_OPTIONS(cip_explode_options, __VA_ARGS__)

/** Writes `in` as `out` with data in files next to it ("OUT0000.asdf", ...). Payloads are copied as
 * they are stored, and only the places of data change in the tree's text. The files get their names
 * together, `out` last. UNSUPPORTED for formats without such a form, and for a loss that is not
 * accepted. */
CIP_API cip_status cip_explode(const char *in, const char *out, const cip_explode_options *opts,
                               cip_err *err);
/** The other way: data in other files become data of `out`. `path` and `bare` do not matter. */
CIP_API cip_status cip_implode(const char *in, const char *out, const cip_explode_options *opts,
                               cip_err *err);

/** Writes what `args` selects (dst and strides are ignored) as `to`: "raw" (C order, little-endian,
 * packed), "npy", "text", "csv", "json" or "jsonl". The last is JSON lines: one for each record, or
 * item of the first axis. It streams: memory is bounded whatever the size. Nothing is written of a
 * part that contains a value which `args` refuse. */
CIP_API cip_status cip_export(const cip_array *array, const cip_read_args *args, const char *to,
                              cip_write_fn *fn, void *user, cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
