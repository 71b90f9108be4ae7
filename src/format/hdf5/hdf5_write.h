/* SPDX-License-Identifier: BSD-3-Clause
 * New files: chunks as they come behind a place for the superblock, then all metadata in one piece,
 * then the superblock. Sections are those of the "HDF5 File Format Specification Version 3.0".
 *
 * Metadata name each other by address, in circles too (dimension scales). So they are made twice:
 * lengths do not depend on addresses, and the second time all addresses are known. */
#ifndef CIP_FORMAT_HDF5_WRITE_H
#define CIP_FORMAT_HDF5_WRITE_H

#include "codec/blosc/blosc.h"
#include "format/blosc2/blosc2_write.h"
#include "format/groups.h"
#include "format/hdf5/hdf5.h"

enum {
    CIP_H5_SUPERBLOCK = 48, /* bytes of version 2 */
    CIP_H5_NEW_FILTERS = 3,
    CIP_H5_BLOSC2_NDIM = 8, /* axes that its filter knows */
    CIP_H5_MAX_VALUES = 8 + CIP_H5_BLOSC2_NDIM
};

/* A dataset to be written. */
typedef struct cip_h5_new {
    const cip_spec_array *array;
    const cip_dtype *dtype; /* as stored */
    bool chunked;
    int64_t *chunk;
    cip_grid grid;
    cip_h5_pipeline pipe;
    cip_h5_filter filter[CIP_H5_NEW_FILTERS];
    uint32_t value[CIP_H5_NEW_FILTERS][CIP_H5_MAX_VALUES];
    cip_blosc_spec blosc;
    bool framed;   /* filter Blosc2: a chunk is a frame */
    cip_b2_nd nd;  /* ... and an array of its own; ndim 0: plain */
    uint64_t at;   /* contiguous: where the elements are, or NONE */
    cip_buf list;  /* chunked: cip_h5_chunk, those that are stored */
    uint64_t left; /* chunks (or bytes) that are still to come */
} cip_h5_new;

typedef struct cip_h5_writer {
    cip_env *env;
    cip_arena *arena;
    const cip_spec *spec;
    cip_out *out;
    cip_h5_new **dataset; /* n of them: those of the spec, by the end */
    size_t n, cap;
    cip_buf frame; /* of a Blosc2 chunk */
    uint8_t superblock[CIP_H5_SUPERBLOCK];
} cip_h5_writer;

extern const cip_format_option cip_h5_options[];
extern const cip_array_store cip_h5_store;

/* --- hdf5_put.c: metadata as bytes ------------------------------------------------------------ */

typedef struct cip_h5_put {
    cip_buf out;       /* object headers and B-trees; its first byte is at `base` */
    cip_buf heap;      /* collections of the global heap, from heap_at on */
    size_t collection; /* where the last one begins in `heap` */
    uint16_t nobject;  /* in it */
    uint64_t base, heap_at;
} cip_h5_put;

/* A little-endian number of n bytes. */
cip_status cip_h5_put_uint(cip_buf *b, uint64_t v, size_t n, cip_err *err);
static inline uint64_t cip_h5_put_at(const cip_h5_put *p)
{
    return p->base + p->out.len;
}
/* An object header of version 2 (IV.A.1.b): *from is for `end`, when its messages are there. */
cip_status cip_h5_put_object(cip_h5_put *p, size_t *from, cip_err *err);
cip_status cip_h5_put_object_end(cip_h5_put *p, size_t from, cip_err *err);
/* A message; *from: of what stands in it until `end`. LIMIT from 64 KiB on. */
cip_status cip_h5_put_message(cip_h5_put *p, uint16_t type, uint8_t flags, size_t *from,
                              cip_err *err);
cip_status cip_h5_put_message_end(cip_h5_put *p, size_t from, cip_err *err);
/* Bytes into the global heap (III.E), and what names them: an address and a number. */
cip_status cip_h5_put_heap(cip_h5_put *p, cip_bytes data, cip_buf *name, cip_err *err);
cip_status cip_h5_put_heap_end(cip_h5_put *p, cip_err *err);
/* A version 1 B-tree of chunks (III.A.1); *at: its root, or NONE. */
cip_status cip_h5_put_btree(cip_h5_put *p, const cip_h5_new *d, uint64_t *at, cip_err *err);
/* The superblock of version 2 (II.B). */
void cip_h5_put_superblock(uint64_t root, uint64_t end, uint8_t out[CIP_H5_SUPERBLOCK]);

/* --- hdf5_put_type.c: datatypes, dataspaces and attributes ------------------------------------ */

/* Why elements of the type cannot be stored; NULL: they can. */
const char *cip_h5_refusal(const cip_dtype *d);
/* The datatype message's bytes (IV.A.2.d). `names`: of an enumeration, or NULL. */
cip_status cip_h5_put_type(cip_buf *b, const cip_dtype *d, const cip_node *names, cip_err *err);
/* Whether `names` maps texts to integers that the type has, each to one of its own. */
bool cip_h5_names_values(const cip_node *names, const cip_dtype *d);
/* ... of a dataspace (IV.A.2.b) of so many axes. */
cip_status cip_h5_put_shape(cip_buf *b, int32_t ndim, const int64_t *shape, cip_err *err);
/* Whether an attribute can have this name and value. */
bool cip_h5_is_attribute(const cip_node *key, const cip_node *value);
/* `as`: the type that its numbers have where all of them are in it (NULL: of 64 bits). */
cip_status cip_h5_put_attribute(cip_h5_put *p, const cip_node *key, const cip_node *value,
                                const cip_dtype *as, cip_err *err);
/* A text of fixed length, as dimension scales have it. */
cip_status cip_h5_put_text(cip_h5_put *p, const char *name, const char *text, cip_err *err);
/* DIMENSION_LIST: the address of the scale of each axis, or NONE. */
cip_status cip_h5_put_scales(cip_h5_put *p, int32_t ndim, const uint64_t *at, cip_err *err);
/* REFERENCE_LIST: datasets that have a scale, and of which axis. */
typedef struct cip_h5_use {
    uint64_t at;
    int32_t axis;
} cip_h5_use;
cip_status cip_h5_put_uses(cip_h5_put *p, size_t n, const cip_h5_use *use, cip_err *err);

/* --- hdf5_put_tree.c: groups and datasets ----------------------------------------------------- */

/* All metadata behind the chunks, and the superblock into the revision; with `loss` nothing is
 * written, but what cannot be stored of the tree is told. */
cip_status cip_h5_put_tree(cip_h5_writer *w, cip_revision *r, cip_report *loss, cip_err *err);

#endif
