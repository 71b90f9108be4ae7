/* SPDX-License-Identifier: BSD-3-Clause
 * The inside of an open file. */
#ifndef CIP_CORE_HANDLE_H
#define CIP_CORE_HANDLE_H

#include "base/strmap.h"
#include "format/format.h"

typedef struct cip_node_entry {
    const cip_node *node;
    size_t array;
} cip_node_entry;

/* What a file showed when it was opened, or refreshed. */
#define CIP_SNAPSHOT                                                                               \
    cip_io *io;       /* the bytes as they lie */                                                  \
    cip_io *overlay;  /* io with an unfinished update's journal over it, or NULL */                \
    cip_patch *patch; /* of the overlay; or NULL */                                                \
    cip_io *part;     /* what of these is the file, where it begins at an offset; or NULL */       \
    const cip_format *format;                                                                      \
    cip_layout *layout;                                                                            \
    cip_strmap by_path;      /* array path -> index */                                             \
    cip_node_entry *by_node; /* sorted by address */                                               \
    size_t nnode;                                                                                  \
    bool forced;             /* the format was asked for by its name */                            \
    cip_report_item *warned; /* the last warning of what was opened before; or NULL */             \
    struct cip_snapshot *older;

typedef struct cip_snapshot {
    CIP_SNAPSHOT
} cip_snapshot;

struct cip_file {
    cip_env env;        /* everything below works within it; first, at a fixed address */
    cip_pool *own_pool; /* or NULL: the shared one, or none */
    union {             /* the same twice: its fields, and all of them together */
        struct {
            CIP_SNAPSHOT /* older: kept for who got arrays of it */
        };
        cip_snapshot now;
    };
    struct cip_appender *appenders; /* rows are added at the ends of files */
    uint32_t flags;                 /* CIP_OPEN_*, of the layout */
    uint64_t offset;                /* where the file begins in what was opened */
    const char **root;              /* nroot other folders that parts of it lie in */
    size_t nroot;
    cip_url_cache cache; /* of a URL; its folder is cache_folder */
    char *cache_folder;
    bool updated;              /* cip_append changed the file under this handle, and, if not -1, */
    int became;                /* replaced it by this one */
    const struct cip_file *of; /* what an update has made of this one is shown; or NULL */
    bool edited;            /* an update of it began, which may make members that were not there */
    char *checkpoints_path; /* where checkpoints are kept beside, or NULL */
    cip_codec_methods *codec; /* env.ncodec of them */
};

/* Ends what cip_append began. */
void cip_appenders_end(cip_file *f);

/* Copies the caller's n encodings into the env, whose they are then; drops them again, after a
 * failure too. *kept starts as NULL. ARG for one that is incomplete. */
cip_status cip_app_codecs_take(cip_env *env, const cip_codec_methods *const *codecs, size_t n,
                               cip_codec_methods **kept, cip_err *err);
void cip_app_codecs_drop(cip_env *env, cip_codec_methods **kept);

/* A file with its env and nothing opened yet. */
cip_status cip_file_prepare(const cip_open_options *o, cip_file **out, cip_err *err);
/* The same with the limits, allocator, threads, codecs and flags of another one. */
cip_status cip_file_prepare_like(cip_file *like, cip_file **out, cip_err *err);
/* Opens it over an io, which is taken over, on failure too. `format` may be NULL. */
cip_status cip_file_open_over(cip_file *f, cip_io *io, const char *format, cip_err *err);
/* Opens it by its path. */
cip_status cip_file_open_path(cip_file *f, const char *path, const char *format, cip_err *err);
/* Its arrays can be found, by paths and nodes. */
cip_status cip_file_index_arrays(cip_file *f, cip_err *err);
/* UNSUPPORTED for what an update has made of a file, which has no bytes yet. */
cip_status cip_file_has_bytes(const cip_file *f, cip_err *err);
/* Closes what f shows, or showed: it is as before it was opened. */
void cip_file_shut(cip_file *f);

/* The format with this name, or a kind of its files, or NULL. */
const cip_format *cip_format_find(const char *name);
/* The format that a file name's extension stands for, or NULL. */
const cip_format *cip_format_of_name(const char *path);
/* What is to be written: by its name (NULL: by the file's, `path`), and the kind of its files that
 * the name means, or NULL. */
const cip_format *cip_format_to_write(const char *name, const char *path, const char **kind);
/* UNSUPPORTED where a format that this build leaves out has this name (NULL: the extension of the
 * file's, `path`). */
cip_status cip_format_check_name(const char *name, const char *path, cip_err *err);
/* ... where a file begins, or a folder is made, as one of them. */
cip_status cip_format_check_file(cip_io *io, cip_bytes head, cip_err *err);

/* The array that has no path while others have one, or NULL: all of them together, as records. */
const cip_array *cip_file_whole(const cip_file *f);
/* The array that is listed by this very path, of `len` bytes, or NULL. */
const cip_array *cip_file_array_at(const cip_file *f, const char *path, size_t len);
/* Whether a path, or that of something it lies in, fits a pattern of cip_file_next_array. */
bool cip_path_fits_above(const char *pattern, const char *path);
/* The first array that the node describes, or NULL. */
const cip_array *cip_file_array_of_node(const cip_file *f, const cip_node *node);

#endif
