/* SPDX-License-Identifier: BSD-3-Clause
 * A format by itself, without core: opens bytes in memory, reads an array whole, writes one through
 * a store. For the tests beside the formats.
 *
 *     one_file f;
 *     assert_int_equal(one_open(&f, &cip_format_x, bytes, n, 0, NULL), CIP_OK);
 *     size_t len;
 *     uint8_t *raw = one_read(&f, 0, &len);         packed, little-endian, C order; free() it
 *     one_close(&f);
 *
 * The bytes are copied to memory of exactly their length, so that AddressSanitizer sees overreads.
 */
#ifndef CIP_TESTS_ONE_FORMAT_H
#define CIP_TESTS_ONE_FORMAT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/format.h"
#include "space/read/chunk_list.h"
#include "space/make/chunker.h"

typedef struct one_file {
    cip_env env;
    uint8_t *bytes;
    cip_io *io;
    cip_layout *layout; /* NULL when it could not be opened */
    cip_err err;        /* why */
} one_file;

static inline cip_status one_open_bytes(one_file *f, const cip_format *format, size_t n,
                                        uint32_t flags)
{
    CIP_TRY(cip_io_open_memory(&f->env, f->bytes, n, "dir/one", &f->io, &f->err));
    CIP_TRY(cip_layout_new(&f->env, f->io, &f->layout, &f->err));
    f->layout->flags = flags;
    f->layout->format = format->name;
    return format->open(f->layout, &f->err);
}

static inline void one_close(one_file *f)
{
    cip_layout_free(f->layout);
    cip_io_close(f->io);
    cip_env_clear(&f->env);
    free(f->bytes);
    *f = (one_file){ .bytes = NULL };
}

/* On failure f->err says why; one_close is needed all the same. `from`, `limits` may be NULL. */
static inline cip_status one_open_limited(one_file *f, const cip_format *format, const void *bytes,
                                          size_t n, uint32_t flags, const cip_allocator *from,
                                          const cip_limits *limits)
{
    memset(f, 0, sizeof *f);
    f->err = (cip_err)CIP_ERR_INIT;
    if (cip_env_init(&f->env, limits, from, NULL, &f->err) != CIP_OK ||
        (f->bytes = (uint8_t *)malloc(n)) == NULL)
        abort();
    if (n != 0)
        memcpy(f->bytes, bytes, n);
    cip_status st = one_open_bytes(f, format, n, flags);
    if (st != CIP_OK) {
        cip_layout_free(f->layout);
        f->layout = NULL;
    }
    return st;
}

static inline cip_status one_open(one_file *f, const cip_format *format, const void *bytes,
                                  size_t n, uint32_t flags, const cip_allocator *from)
{
    return one_open_limited(f, format, bytes, n, flags, from, NULL);
}

static inline cip_status one_gather(one_file *f, const cip_array *a, const cip_dtype *to,
                                    uint8_t *dst)
{
    const cip_read_how how = { f->layout, NULL };
    cip_cast cast;
    cip_nd packed;
    cip_cast_stats stats = { 0, 0 };
    CIP_TRY(cip_cast_make(a->dtype, to, CIP_OVERFLOW_ERROR, &cast, &f->err));
    CIP_TRY(cip_view_c_order(a->view.ndim, a->view.shape, to->itemsize, &packed, &f->err));
    return cip_space_gather(&how, a->space, &(cip_transfer){ &a->view, &cast, &packed, dst },
                            &stats, &f->err);
}

/* The i-th array as `cat --to raw` gives it; NULL with f->err when it cannot be read. */
static inline uint8_t *one_read(one_file *f, size_t i, size_t *len)
{
    const cip_array *a = f->layout->array[i];
    const cip_dtype *to;
    uint64_t n;
    *len = 0;
    if (a->st != CIP_OK) {
        f->err = *a->why;
        return NULL;
    }
    cip_arena arena = { .mem = &f->env.mem };
    uint8_t *dst = NULL;
    cip_status st = cip_array_check(a, &f->err);
    if (st == CIP_OK)
        st = cip_dtype_packed_le(&arena, a->dtype, &to, &f->err);
    if (st == CIP_OK) {
        cip_shape_nelem(a->view.ndim, a->view.shape, &n);
        *len = (size_t)(n * to->itemsize);
        if (*len > ((size_t)1 << 28) || (dst = (uint8_t *)malloc(*len + 1)) == NULL)
            st = cip_fail(&f->err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "%zu bytes", *len);
    }
    if (st == CIP_OK)
        st = one_gather(f, a, to, dst);
    cip_arena_clear(&arena);
    if (st != CIP_OK) {
        free(dst);
        return NULL;
    }
    return dst;
}

/* What was written, and what was to be named as lost. */
typedef struct one_output {
    cip_env env;
    cip_buf bytes;
    cip_err err;
    size_t nlost;       /* CIP_WARN */
    size_t nimpossible; /* CIP_BAD */
    char lost[2048];    /* the texts, one a line */
    size_t fail_after;  /* bytes after which writing fails; 0: never */
} one_output;

static inline int one_on_loss(void *user, const cip_finding *f)
{
    one_output *o = (one_output *)user;
    size_t at = strlen(o->lost);
    o->nlost += f->severity == CIP_WARN;
    o->nimpossible += f->severity == CIP_BAD;
    snprintf(o->lost + at, sizeof o->lost - at, "%s\n", f->text);
    return 0;
}

static inline cip_status one_out(void *user, const void *p, size_t n, cip_err *err)
{
    one_output *o = (one_output *)user;
    if (o->fail_after != 0 && o->bytes.len + n > o->fail_after)
        return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "the disk is full");
    return cip_buf_add(&o->bytes, p, n, err);
}

/* The store as a chunker sees it. */
typedef struct one_sink {
    const cip_array_store *sink;
    void *w;
} one_sink;

static inline cip_status one_store(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                                   cip_err *err)
{
    const one_sink *s = (const one_sink *)user;
    return s->sink->store(s->w, 0, i, n, chunk, err);
}

/* Gives `data` (elements of the first array's dtype, packed) to the chunker as core does: cast,
 * whole where the store wants it whole, otherwise in pieces of `step` elements. */
static inline cip_status one_feed(one_output *o, cip_chunker *c, const cip_spec_array *s,
                                  const cip_array_form *form, const uint8_t *data, size_t step)
{
    cip_cast cast;
    cip_cast_stats stats = { 0, 0 };
    uint64_t n;
    cip_shape_nelem(s->ndim, s->shape, &n);
    CIP_TRY(cip_cast_make(s->dtype, form->dtype, CIP_OVERFLOW_ERROR, &cast, &o->err));
    if (form->chunk_nbytes == UINT64_MAX)
        step = n == 0 ? 1 : (size_t)n;
    for (size_t i = 0; i < n; i += step) {
        size_t m = n - i < step ? (size_t)n - i : step, each = (size_t)form->dtype->itemsize;
        uint8_t *piece = (uint8_t *)malloc(m * each + 1);
        if (piece == NULL)
            abort();
        cip_cast_run(&cast, m, data + i * s->dtype->itemsize, (int64_t)s->dtype->itemsize, piece,
                     (int64_t)each, i, &stats);
        cip_status st = cip_chunker_write(c, (cip_bytes){ piece, m * each }, &o->err);
        free(piece);
        CIP_TRY(st);
    }
    return cip_chunker_finish(c, &o->err);
}

static inline cip_status one_put(one_output *o, const cip_array_store *sink, void *w,
                                 const cip_spec_array *s, const cip_array_form *form,
                                 const uint8_t *data, size_t step)
{
    cip_chunker *c;
    uint64_t n;
    one_sink user = { sink, w };
    const cip_chunker_to to = { one_store, &user, NULL };
    cip_shape_nelem(s->ndim, s->shape, &n);
    CIP_TRY(cip_chunker_new(&o->env, form, n, &to, &c, &o->err));
    cip_status st = one_feed(o, c, s, form, data, step);
    cip_chunker_free(c);
    return st;
}

/* The changes of what was written, as core makes them. */
static inline void one_patch(one_output *o, const cip_patch *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const cip_patch_op *op = &p->op[i];
        if (op->kind != CIP_PATCH_WRITE || op->offset + op->after.len > o->bytes.len)
            abort();
        memcpy(o->bytes.ptr + op->offset, op->after.ptr, op->after.len);
    }
}

/* Patches of stores that go without where nothing can be changed are left out. */
static inline cip_status one_write_from(one_output *o, const cip_format *format,
                                        const cip_spec *spec, const void *data, size_t step,
                                        const cip_allocator *from)
{
    cip_report loss;
    cip_array_form form = { .dtype = NULL };
    void *w = NULL;
    size_t fail_after = o->fail_after;
    memset(o, 0, sizeof *o);
    o->fail_after = fail_after;
    o->err = (cip_err)CIP_ERR_INIT;
    if (cip_env_init(&o->env, NULL, from, NULL, &o->err) != CIP_OK)
        abort();
    o->bytes.mem = &o->env.mem;
    cip_report_init(&loss, &o->env.mem, false, one_on_loss, o);
    cip_spec with = *spec;
    with.env = &o->env;
    cip_status st = format->store->check(&with, &loss, &o->err);
    cip_report_clear(&loss);
    cip_arena a = { .mem = &o->env.mem };
    cip_revision r = { .patch = { .arena = { .mem = &o->env.mem } } };
    cip_out out = { .write = one_out, .user = o };
    const cip_store_begin b = {
        .env = &o->env, .arena = &a, .spec = &with, .out = &out, .form = &form
    };
    if (st == CIP_OK)
        st = format->store->begin(&b, &w, &o->err);
    if (st == CIP_OK)
        st = one_put(o, format->store, w, spec->array, &form, (const uint8_t *)data, step);
    if (st == CIP_OK)
        st = format->store->finish(w, &r, &o->err);
    if (st == CIP_OK && (format->store->caps & CIP_STORE_PATCHES) != 0)
        one_patch(o, &r.patch);
    if (w != NULL && format->store->clear != NULL)
        format->store->clear(w);
    cip_revision_clear(&r);
    cip_arena_clear(&a);
    return st;
}

typedef struct one_bytes {
    const uint8_t *at;
    size_t each;
} one_bytes;

/* A cip_feed of elements that lie in memory. */
static inline cip_status one_next(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    one_bytes *b = self;
    (void)err;
    memcpy(dst, b->at, (size_t)nelem * b->each);
    b->at += nelem * b->each;
    return CIP_OK;
}

/* Zero-initialise *o; one_output_clear is needed also on failure. */
static inline cip_status one_write(one_output *o, const cip_format *format, const cip_spec *spec,
                                   const void *data, size_t step)
{
    return one_write_from(o, format, spec, data, step, NULL);
}

static inline void one_output_clear(one_output *o)
{
    cip_buf_clear(&o->bytes);
    cip_env_clear(&o->env);
}

/* Looks at an array's first chunks and decodes small ones. */
static inline void one_chunks(one_file *f, const cip_array *a)
{
    enum { CHUNKS = 40, NBYTES = 1 << 16 };
    const cip_read_how how = { f->layout, NULL };
    cip_chunk_list l;
    cip_chunk c;
    if (a->st != CIP_OK || cip_chunk_list_open(a, &l, &f->err) != CIP_OK)
        return;
    uint8_t *raw = (uint8_t *)malloc(NBYTES);
    if (raw == NULL)
        abort();
    for (uint64_t i = 0; i < l.n && i < CHUNKS; i++) {
        cip_chunk_info info = { .size = sizeof info };
        if (cip_chunk_list_at(&l, i, &c, &f->err) != CIP_OK)
            continue;
        cip_chunk_list_describe(&l, i, &c, &info);
        if (c.raw_len <= NBYTES)
            cip_chunk_list_decode(&how, &l, i, &c, raw, &f->err);
        if (c.at.len <= NBYTES)
            cip_chunk_list_stored(&how, &l, i, &c, raw, &f->err);
    }
    free(raw);
}

/* For fuzz targets: opens with small limits, reads every array and its chunks, verifies, asks the
 * query. */
static inline void one_fuzz_with(const cip_format *format, uint32_t flags, const uint8_t *data,
                                 size_t size)
{
    one_file f;
    const cip_limits small = { .size = sizeof small, .max_memory = 16 << 20 };
    if (one_open_limited(&f, format, data, size, flags, NULL, &small) == CIP_OK) {
        cip_report report;
        cip_buf text = { .mem = &f.env.mem };
        for (size_t i = 0; i < f.layout->narray; i++) {
            size_t len;
            free(one_read(&f, i, &len));
            one_chunks(&f, f.layout->array[i]);
        }
        cip_report_init(&report, &f.env.mem, true, NULL, NULL);
        format->verify(f.layout, 1, &report, &f.err);
        cip_report_clear(&report);
        if (format->query != NULL)
            format->query(f.layout, &text, &f.err);
        cip_buf_clear(&text);
    }
    one_close(&f);
}

static inline void one_fuzz(const cip_format *format, const uint8_t *data, size_t size)
{
    one_fuzz_with(format, size % 2 ? CIP_OPEN_FORCE : 0, data, size);
}

#endif
