/* SPDX-License-Identifier: BSD-3-Clause
 * A new store while it is written. */
#ifndef CIP_FORMAT_ZARR_WRITE_H
#define CIP_FORMAT_ZARR_WRITE_H

#include "format/zarr/zarr.h"
#include "format/zip_out.h"

/* The codec that is asked for; NONE: chunks are stored as they are. */
typedef enum cip_zarr_press {
    CIP_ZARR_NONE = 0,
    CIP_ZARR_ZSTD,
    CIP_ZARR_GZIP,
    CIP_ZARR_BLOSC
} cip_zarr_press;

/* How a shard of raw bytes becomes stored ones: the arguments of its codec. */
typedef struct cip_zarr_shard {
    cip_form_step inner; /* codec NULL: as they are */
    uint64_t itemsize;
    int32_t ndim;
    const int64_t *shard, *chunk; /* lengths of both */
    uint64_t count, nbytes;       /* chunks of a shard, and bytes of one */
    bool sparse;                  /* chunks of fill values are left out */
    const uint8_t *fill;          /* an element; NULL: zeros */
} cip_zarr_shard;

typedef struct cip_zarr_new {
    const cip_spec_array *array;
    cip_zarr_array keys; /* its shape and first level, as far as keys need them */
    const cip_dtype *dtype;
    int64_t *chunk, *outer; /* of the smallest chunks, of files; the same without shards */
    cip_grid grid;
    cip_zarr_press press;
    int level;
    bool kept;     /* the codec is that of what it is a copy of */
    bool checksum; /* ... of zstd */
    cip_blosc_spec blosc;
    cip_zarr_shard shard;
    cip_zarr_array *like; /* the array of a store that it is a copy of, whose fill value it keeps */
    const char *dir;      /* "" or with a slash at the end */
    uint64_t left;        /* chunks that are still to come */
} cip_zarr_new;

/* What a store's state is. */
typedef enum cip_zarr_state {
    CIP_ZARR_NEW,    /* cip_zarr_writer: a new store */
    CIP_ZARR_UPDATE, /* cip_zarr_update: one that is there */
    CIP_ZARR_COMING  /* cip_zarr_coming: an array that comes into it */
} cip_zarr_state;

typedef struct cip_zarr_writer {
    cip_zarr_state state;
    cip_zarr *old; /* UPDATE: the store */
    cip_env *env;
    cip_arena *arena;
    const cip_spec *spec;
    cip_out *out;
    cip_zip_out *zip; /* to `out`; NULL: files are members of that */
    cip_zarr_new *array;
    bool consolidated, two; /* two: of version 2 */
} cip_zarr_writer;

/* In cip_zarr_options. */
enum {
    CIP_ZARR_OPTION_CHUNKS,
    CIP_ZARR_OPTION_SHARDS,
    CIP_ZARR_OPTION_SHUFFLE,
    CIP_ZARR_OPTION_CONSOLIDATED
};

/* zarr_copy.c: of a codec as an array's metadata have it, a member (NULL: it has none), and what
 * encodes Blosc chunks so. */
const cip_node *cip_zarr_setting(const cip_zarr_step *s, const char *key);
cip_status cip_zarr_blosc_of(const cip_zarr_array *x, const cip_zarr_step *s, cip_blosc_spec *out,
                             cip_err *err);
/* The array of a store that the new one has the elements of; or NULL. */
cip_zarr_array *cip_zarr_copied(const cip_zarr_new *n);
/* Sets the codec of what the new array is a copy of, if no other is asked for. */
bool cip_zarr_keep_codec(const cip_zarr_writer *w, cip_zarr_new *n);

/* zarr_write.c: how an array is stored; n->array is set. */
cip_status cip_zarr_make_array(cip_zarr_writer *w, cip_zarr_new *n, cip_array_form *form,
                               cip_err *err);

/* A file of the new store, of n pieces. */
cip_status cip_zarr_put_file(cip_zarr_writer *w, const char *name, const cip_segment *piece,
                             size_t n, cip_err *err);

/* zarr_write_meta.c: names what of the tree the store cannot hold; the steps of an array's path as
 * the name of its folder, "" for the root, in the arena (UNSUPPORTED); all metadata. */
cip_status cip_zarr_check_tree(const cip_spec *spec, cip_report *loss, cip_err *err);
cip_status cip_zarr_dir(cip_arena *a, const char *path, char **out, cip_err *err);
cip_status cip_zarr_put_meta(cip_zarr_writer *w, cip_err *err);
/* The metadata of an array in a group, of which nothing else is said. */
cip_status cip_zarr_meta_text(cip_zarr_writer *w, const cip_zarr_new *n, cip_buf *text,
                              cip_err *err);
/* Whether version 3 has the type. */
bool cip_zarr_has_type(const cip_dtype *d);

#endif
