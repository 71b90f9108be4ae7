/* SPDX-License-Identifier: BSD-3-Clause
 * From one format to another, and arrays as text, csv, json, npy or raw bytes. */
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
    cip_finding_fn *on_loss;   /* told each loss, accepted or not, and so what was left out when the
                                  input was read (damaged metadata, a key that comes again, a row
                                  that is not whole); and, as a note once it is known, the largest
                                  error of each array whose values change */
    cip_progress_fn *progress; /* told bytes done; nothing is left under the name of the output
                                  where it stops the conversion; NULL: not wanted */
    void *user;                /* of both */
    const cip_open_options *input; /* how to open the input; NULL: the defaults, but that its data
                                      are compared with their checksums (.check) */
    const char *version;           /* of the output's format: an ASDF standard, "1.5.0" */
    /* "md5" (of the stored bytes), "legacy" (decoded), "none"; bloscpack: "crc32", "sha256", ... */
    const char *checksum;
    const char *storage; /* of all arrays: "internal", "inline", "external"; NULL: the default */
    int64_t tree_slack;  /* bytes of room behind a tree; 0: the format's default; -1: none */
    uint64_t align;      /* data start at a multiple of this; 0: the format's default */
    cip_level level;     /* what the output survives once it is there */
    bool resolve_refs;   /* arrays that are references become arrays */
    const char *const *format_options; /* as in cip_change_options */
    uint64_t *at_end;                  /* the same: the output goes behind the file that is there */
} cip_convert_options;

#define CIP_CONVERT_OPTIONS(...) CIP_OPTIONS(cip_convert_options, __VA_ARGS__)

/** Writes all of `in` as `out` ("-": standard output). From a format to the same one, what arrays
 * alone do not show is kept too (order, comments, blocks that nothing names), unless `path`,
 * `byteorder`, `version`, `storage`, `resolve_refs` or an option of the format ask for more, or the
 * version is one that is written only where it is asked for (ASDF 0.1 becomes 1.x). Nothing is
 * under the name `out` before it is complete. A loss that is not accepted is UNSUPPORTED, naming
 * it; then nothing is written. EXISTS when `out` exists and is not to be overwritten. */
CIP_API cip_status cip_convert(const char *in, const char *out, const cip_convert_options *opts,
                               cip_err *err);
/** The same from an open file. */
CIP_API cip_status cip_convert_file(const cip_file *in, const char *out,
                                    const cip_convert_options *opts, cip_err *err);

/** How a file is taken apart or put together. Zero fields mean the default. */
typedef struct cip_explode_options {
    size_t size;             /* sizeof(cip_explode_options) */
    const char *const *path; /* of arrays that get a file of their own; all where there are none */
    size_t npath;
    bool bare; /* the files beside hold nothing but their data */
    bool overwrite;
    cip_level level;
    int64_t tree_slack; /* as for converting */
    uint64_t align;
    const cip_open_options *input; /* how to open the input; NULL: the defaults */
    bool accept_loss;        /* go on where what the file says of its data would not stay true, or
                                bytes that nothing of the input shows would be lost */
    cip_finding_fn *on_loss; /* told each such loss, accepted or not, and notes */
    void *user;              /* of on_loss */
} cip_explode_options;

#define CIP_EXPLODE_OPTIONS(...) CIP_OPTIONS(cip_explode_options, __VA_ARGS__)

/** Writes `in` as `out` with data in files beside it ("OUT0000.asdf", ...): payloads as they are
 * stored, of the tree's text only the places of data change. The files are put under their names
 * together, `out` last. UNSUPPORTED for formats without such a form, and for a loss that is not
 * accepted. */
CIP_API cip_status cip_explode(const char *in, const char *out, const cip_explode_options *opts,
                               cip_err *err);
/** The other way: data in other files become data of `out`. `path` and `bare` do not matter. */
CIP_API cip_status cip_implode(const char *in, const char *out, const cip_explode_options *opts,
                               cip_err *err);

/** Writes what `args` selects (dst and strides are ignored) as `to`: "raw" (C order, little-endian,
 * packed), "npy", "text", "csv" or "json". Streams: memory is bounded whatever the size, and of a
 * part with a value that `args` refuse nothing is written. */
CIP_API cip_status cip_export(const cip_array *array, const cip_read_args *args, const char *to,
                              cip_write_fn *fn, void *user, cip_err *err);

#ifdef __cplusplus
}
#endif
#endif
