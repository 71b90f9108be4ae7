/* SPDX-License-Identifier: BSD-3-Clause
 * A new store while it is written. */
#ifndef CIP_FORMAT_ZARR_WRITE_H
#define CIP_FORMAT_ZARR_WRITE_H

#include "format/zarr/zarr.h"

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
    bool zeros;                   /* chunks of zeros are left out */
} cip_zarr_shard;

typedef struct cip_zarr_new {
    const cip_spec_array *array;
    cip_zarr_array keys; /* its shape and first level, as far as keys need them */
    const cip_dtype *dtype;
    int64_t *chunk, *outer; /* of the smallest chunks, of files; the same without shards */
    cip_grid grid;
    cip_zarr_press press;
    int level;
    cip_blosc_spec blosc;
    cip_zarr_shard shard;
    cip_zarr_array *like; /* the array of a store that it is a copy of, whose fill value it keeps */
    const char *dir;      /* "" or with a slash at the end */
    uint64_t left;        /* chunks that are still to come */
} cip_zarr_new;

/* What becomes of an array of a store that is there. */
typedef struct cip_zarr_changed {
    const cip_chunk_changes *chunks; /* once they are known */
    cip_zarr_pipe *pipe;             /* how new chunks are encoded; NULL: not asked for yet */
} cip_zarr_changed;

typedef struct cip_zarr_writer {
    cip_zarr *old;             /* the store that is updated, or NULL; then of all else only */
    cip_zarr_changed *changed; /* of its arrays, env and arena count */
    cip_env *env;
    cip_arena *arena;
    const cip_spec *spec;
    cip_out *out;
    cip_zarr_new *array;
    bool consolidated, two; /* two: of version 2 */
} cip_zarr_writer;

/* zarr_write_meta.c: names what of the tree the store cannot hold; the steps of an array's path as
 * the name of its folder, "" for the root, in the arena (UNSUPPORTED); all metadata. */
cip_status cip_zarr_check_tree(const cip_spec *spec, cip_report *loss, cip_err *err);
cip_status cip_zarr_dir(cip_arena *a, const char *path, char **out, cip_err *err);
cip_status cip_zarr_put_meta(cip_zarr_writer *w, cip_err *err);
/* Whether version 3 has the type. */
bool cip_zarr_has_type(const cip_dtype *d);

#endif
