/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a file that is changed: the first says how. What comes out of it must open again,
 * and an array that the change left alone must read as before. */
#include <stdlib.h>
#include <string.h>

#include "format/asdf/asdf_testing.h"
#include "format/asdf/update/asdf_update.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cip_status zeros(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    (void)err;
    memset(dst, 0, (size_t)(nelem * *(uint64_t *)self));
    return CIP_OK;
}

static const cip_array *first_array(const cip_layout *l)
{
    for (size_t i = 0; i < l->narray; i++)
        if (l->array[i]->st == CIP_OK && l->array[i]->dtype->itemsize < 1 << 12)
            return l->array[i];
    return NULL;
}

static cip_status change_data(void *u, const cip_array *a, unsigned how, cip_err *err)
{
    uint64_t itemsize = a->dtype->itemsize;
    const cip_feed feed = { .next = zeros, .self = &itemsize };
    int64_t shape[CIP_MAX_NDIM];
    uint64_t nelem;
    if (!cip_shape_nelem(a->view.ndim, a->view.shape, &nelem) || nelem > 1 << 16)
        return CIP_OK;
    memcpy(shape, a->view.shape, sizeof shape);
    if (a->view.ndim != 0)
        shape[0] = shape[0] / 2 + 1;
    switch (how % 3) {
    case 0:
        return nelem == 0 ? CIP_OK : one_elements(&cip_asdf_store, u, a, &a->view, &feed, err);
    case 1:
        return one_rows(&cip_asdf_store, u, a, 1 + how % 5, &feed, err);
    default:
        return one_shape(&cip_asdf_store, u, a, shape, err);
    }
}

/* A file with an array of three bytes in a block. */
#define BLOCK                                                                                      \
    "\xd3"                                                                                         \
    "BLK\0\x30\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\3"                    \
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"                                                             \
    "abc"
static const char one_array[] =
    "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n"
    "--- !core/asdf-1.1.0\n"
    "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: little, shape: [3]}\n"
    "...\n" BLOCK;

/* What it brings must last until the end of the update. */
typedef struct brought {
    cip_io *io;
    cip_layout *l;
} brought;

static cip_status add(void *u, cip_env *env, const char *path, brought *b, cip_err *err)
{
    const char *version;
    CIP_TRY(cip_asdf_store.may_take(u, path, false, false, &version, err));
    CIP_TRY(cip_io_open_memory(env, one_array, sizeof one_array - 1, "one", &b->io, err));
    CIP_TRY(cip_layout_new(env, b->io, &b->l, err));
    CIP_TRY(cip_format_asdf.open(b->l, err));
    if (b->l->narray != 1 || b->l->nblock != 1)
        abort();
    return cip_asdf_store.take(u, path, false, b->l, "a", err);
}

static cip_status change(void *u, cip_layout *l, cip_arena *arena, unsigned how, brought *b,
                         cip_err *err)
{
    const cip_array *a = first_array(l);
    cip_report report;
    cip_node *n;
    CIP_TRY(cip_node_new_string(arena, "0123456789", how % 11, &n, err));
    if (how / 16 == 14)
        return cip_asdf_store.move(u, a != NULL ? a->path : "a", how % 2 ? "b" : "c/d", how / 2 % 2,
                                   err);
    if (how / 16 == 15)
        return add(u, l->env, how % 2 ? "new" : "new/of/it", b, err);
    switch (how / 16 % 5) {
    case 0:
        return cip_asdf_store.set(u, how % 2 ? "a/b" : "fuzz", n, err);
    case 1:
        return a != NULL ? cip_asdf_store.remove(u, a->path, err) : CIP_OK;
    case 2:
        return a != NULL ? change_data(u, a, how % 16, err) : CIP_OK;
    case 3:
        return cip_asdf_store.freeze(u, err);
    default:
        cip_report_init(&report, &l->env->mem, false, NULL, NULL);
        cip_status st = cip_asdf_store.defrag(u, &report, err);
        cip_report_clear(&report);
        return st;
    }
}

static cip_status open_again(cip_env *env, cip_io *io, cip_err *err)
{
    cip_layout *l;
    CIP_TRY(cip_layout_new(env, io, &l, err));
    cip_status st = cip_format_asdf.open(l, err);
    cip_layout_free(l);
    return st;
}

/* The file as it would be. */
static void look(cip_env *env, cip_io *io, const cip_revision *r)
{
    cip_io *after;
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_io_open_revision(io, r, &after, &err);
    if (st == CIP_OK) {
        st = open_again(env, after, &err);
        cip_io_close(after);
    }
    if (st != CIP_OK && st != CIP_ERR_LIMIT && st != CIP_ERR_NOMEM)
        abort();
}

static void update(cip_env *env, cip_io *io, unsigned how)
{
    cip_layout *l = NULL;
    cip_io *temporary;
    void *u = NULL;
    cip_err err = CIP_ERR_INIT;
    const cip_spec spec = { .big = -1 };
    cip_arena arena = { .mem = &env->mem };
    cip_revision r = { .patch = { .arena = { .mem = &env->mem } } };
    brought b = { NULL, NULL };
    if (cip_layout_new(env, io, &l, &err) != CIP_OK)
        return;
    if (cip_temporary_new(env, NULL, &temporary, &err) != CIP_OK) {
        cip_layout_free(l);
        return;
    }
    const cip_store_begin begin = {
        .env = env, .arena = &arena, .spec = &spec, .old = l, .temporary = temporary
    };
    if (cip_format_asdf.open(l, &err) == CIP_OK &&
        cip_asdf_store.begin(&begin, &u, &err) == CIP_OK) {
        if (change(u, l, &arena, how, &b, &err) == CIP_OK &&
            cip_asdf_store.finish(u, &r, &err) == CIP_OK)
            look(env, io, &r);
        cip_asdf_store.clear(u);
    }
    cip_layout_free(b.l);
    cip_io_close(b.io);
    cip_revision_clear(&r);
    cip_io_close(temporary);
    cip_arena_clear(&arena);
    cip_layout_free(l);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cip_env env;
    cip_io *io;
    const cip_limits limits = {
        .size = sizeof limits, .max_memory = 64 << 20, .max_nodes = 1 << 14, .max_elements = 1 << 20
    };
    if (size == 0 || cip_env_init(&env, &limits, NULL, NULL, NULL) != CIP_OK)
        return 0;
    if (cip_io_open_memory(&env, data + 1, size - 1, "fuzz", &io, NULL) == CIP_OK) {
        update(&env, io, data[0]);
        cip_io_close(io);
    }
    cip_env_clear(&env);
    return 0;
}
