/* SPDX-License-Identifier: BSD-3-Clause
 * Something of everything that a public function takes, made when it is asked for, in a process of
 * its own for each call. */
#ifndef CIP_CALLS_FIXTURE_H
#define CIP_CALLS_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cippus/cippus.h"

typedef struct fixture {
    char in[512], out[600], folder[512]; /* paths: a file that is there, one that is not */
    char *bytes;                         /* of an ASDF file */
    size_t nbytes;
    int32_t data[64];
    char dst[1 << 12];
    uint8_t chunk[256]; /* of Blosc, of 48 bytes */
    size_t nchunk;
} fixture;

static const int64_t fx_shape[2] = { 4, 3 };
static const int64_t fx_coords[2] = { 1, 2 };
static const cip_box fx_box = { { 0, 0 }, { 4, 3 } };

/* What a call needs is there, or the test is wrong. */
static inline void *fx_need(void *p, const char *what)
{
    if (p == NULL) {
        fprintf(stderr, "no %s\n", what);
        abort();
    }
    return p;
}

static inline cip_memory *fx_memory(fixture *x)
{
    cip_memory *m = NULL;
    cip_memory_new(x->bytes, x->nbytes, &m, NULL);
    return (cip_memory *)fx_need(m, "memory");
}

/* One for all: its nodes and arrays go with it. */
static inline cip_file *fx_file(fixture *x)
{
    static cip_file *f;
    if (f == NULL)
        cip_memory_open(fx_memory(x), NULL, &f, NULL);
    return (cip_file *)fx_need(f, "file");
}

static inline const cip_array *fx_array(fixture *x)
{
    return (const cip_array *)fx_need((void *)cip_find(fx_file(x), "image", NULL), "array");
}

static inline const cip_node *fx_node(fixture *x)
{
    return (const cip_node *)fx_need((void *)cip_file_tree(fx_file(x)), "node");
}

static inline cip_change *fx_writer(fixture *x)
{
    cip_change *w = NULL;
    cip_memory *m;
    cip_create_memory("asdf", NULL, &m, &w, NULL);
    cip_change_put((cip_change *)fx_need(w, "writer"), "first", cip_dtype_of(CIP_I32), 2, fx_shape,
                   x->data, NULL, NULL);
    return w;
}

static inline cip_slab *fx_slab(fixture *x)
{
    cip_slab *s = NULL;
    cip_change_declare(fx_writer(x), "slab", cip_dtype_of(CIP_I32), 2, fx_shape, NULL, &s, NULL);
    return (cip_slab *)fx_need(s, "slab");
}

static inline cip_change *fx_edit(fixture *x)
{
    cip_change *e = NULL;
    cip_change_open_memory(fx_memory(x), NULL, &e, NULL);
    return (cip_change *)fx_need(e, "edit");
}

static inline cip_change **fx_change(fixture *x)
{
    static cip_change *c;
    c = fx_edit(x);
    return &c;
}

/* The text of the file's tree. */
static inline const char *fx_tree(fixture *x)
{
    static char text[1 << 12];
    const char *from;
    size_t n = 0;
    if (cip_change_text(fx_edit(x), &from, &n, NULL) == CIP_OK && n < sizeof text)
        memcpy(text, from, n);
    return text;
}

static inline cip_blosc *fx_blosc(fixture *x)
{
    (void)x;
    return (cip_blosc *)fx_need(cip_blosc_new(NULL, NULL), "blosc");
}

static inline cip_picture *fx_picture(fixture *x)
{
    cip_picture *p = NULL;
    cip_picture_make(fx_array(x), NULL, NULL, &p, NULL);
    return (cip_picture *)fx_need(p, "picture");
}

static inline cip_dtype *fx_dtype(void)
{
    return (cip_dtype *)fx_need(cip_dtype_parse("int16", NULL), "dtype");
}

static const fixture *fx_self; /* `user` may be NULL */

/* --- callbacks and methods -------------------------------------------------------------------- */

static inline int fx_write(void *user, const void *bytes, size_t n)
{
    (void)user, (void)bytes, (void)n;
    return 0;
}

static inline int fx_finding(void *user, const cip_finding *finding)
{
    (void)user, (void)finding;
    return 0;
}

static inline int fx_visit(void *user, const char *path, const cip_node *node, uint32_t depth)
{
    (void)user, (void)path, (void)node, (void)depth;
    return 0;
}

static inline int fx_chunk(void *user, const cip_chunk_info *chunk)
{
    (void)user, (void)chunk;
    return 0;
}

static inline cip_status fx_ranges(void *user, const cip_range *r, size_t n, cip_err *err)
{
    const fixture *x = fx_self;
    (void)user, (void)err;
    for (size_t i = 0; i < n; i++)
        memcpy(r[i].dst, x->bytes + r[i].offset, r[i].nbytes);
    return CIP_OK;
}

static inline cip_status fx_size(void *user, uint64_t *nbytes, cip_err *err)
{
    (void)user, (void)err;
    *nbytes = fx_self->nbytes;
    return CIP_OK;
}

static inline cip_status fx_write_at(void *user, uint64_t off, const void *p, size_t n,
                                     cip_err *err)
{
    (void)user, (void)off, (void)p, (void)n, (void)err;
    return CIP_OK;
}

static inline cip_status fx_resize(void *user, uint64_t n, cip_err *err)
{
    (void)user, (void)n, (void)err;
    return CIP_OK;
}

/* A complete file each time, whose place is free. */
static inline const char *fx_complete(fixture *x)
{
    static char made[512];
    cip_memory *m = NULL;
    const cip_change_options over = { .size = sizeof over, .overwrite = true };
    snprintf(made, sizeof made, "%.400s/made.asdf", x->folder);
    unlink(x->out);
    cip_memory_new(x->bytes, x->nbytes, &m, NULL);
    fx_need(cip_memory_save(m, made, &over, NULL) == CIP_OK ? m : NULL, "complete file");
    cip_memory_free(m);
    return made;
}

static const cip_io_methods fx_reads = { CIP_IO_METHODS_INIT, .read_ranges = fx_ranges,
                                         .size = fx_size };
static const cip_io_write_methods fx_writes = { CIP_IO_WRITE_METHODS_INIT, .name = "out.asdf",
                                                .write_at = fx_write_at, .resize = fx_resize };

/* --- the beginning and the end ---------------------------------------------------------------- */

static inline void fx_start(fixture *x)
{
    cip_memory *m = NULL;
    cip_change *w = NULL;
    fx_self = x;
    snprintf(x->folder, sizeof x->folder, "/tmp/cippus-calls-XXXXXX");
    fx_need(mkdtemp(x->folder), "folder");
    snprintf(x->in, sizeof x->in, "%.400s/in.asdf", x->folder);
    snprintf(x->out, sizeof x->out, "%.400s/out.asdf", x->folder);
    cip_create_memory("in.asdf", NULL, &m, &w, NULL);
    cip_change_put(w, "image", cip_dtype_of(CIP_I32), 2, fx_shape, x->data, NULL, NULL);
    cip_change_set_yaml(w, "meta", "{name: x, n: 3, f: 1.5, yes: true, gone: 1}", NULL);
    fx_need(cip_change_commit(&w, NULL) == CIP_OK ? m : NULL, "file to begin with");
    const void *bytes = cip_memory_bytes(m, &x->nbytes);
    x->bytes = (char *)fx_need(malloc(x->nbytes), "bytes");
    memcpy(x->bytes, bytes, x->nbytes);
    fx_need(cip_memory_save(m, x->in, NULL, NULL) == CIP_OK ? m : NULL, "file under a name");
    cip_memory_free(m);
    cip_blosc *b = fx_blosc(x);
    cip_blosc_compress(b, x->data, 48, x->chunk, sizeof x->chunk, &x->nchunk, NULL);
    cip_blosc_free(b);
}

#endif
