/* SPDX-License-Identifier: BSD-3-Clause
 * Getters of an open file and of its arrays and blocks; finding arrays by path. */
#include <stdio.h>
#include <string.h>

#include "base/endian.h"
#include "base/sized.h"
#include "core/reading/read_plan.h"
#include "space/sequential/checkpoints.h"

/* The file whose bytes they are. */
static const cip_file *in_bytes(const cip_file *f)
{
    return f != NULL && f->of != NULL ? f->of : f;
}

cip_status cip_file_has_bytes(const cip_file *f, cip_err *err)
{
    if (f->of == NULL)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a file, found a change that is not committed; commit it first");
}

const char *cip_file_format(const cip_file *f)
{
    return f == NULL ? "" : f->format->name;
}

const char *cip_file_version(const cip_file *f)
{
    return f == NULL || f->layout->version == NULL ? "" : f->layout->version;
}

uint64_t cip_file_nbytes(const cip_file *f)
{
    f = in_bytes(f);
    return f == NULL ? 0 : f->layout->io->size + f->layout->beside;
}

uint64_t cip_file_checkpoints_nbytes(const cip_file *f)
{
    f = in_bytes(f);
    return f == NULL ? 0 : cip_checkpoints_nbytes(f->layout->checkpoints);
}

size_t cip_file_narray(const cip_file *f)
{
    return f == NULL ? 0 : f->layout->narray;
}

const cip_array *cip_file_array(const cip_file *f, size_t i)
{
    return i < cip_file_narray(f) ? f->layout->array[i] : NULL;
}

const cip_node *cip_file_tree(const cip_file *f)
{
    return f == NULL ? NULL : f->layout->tree;
}

bool cip_file_fact(const cip_file *f, size_t i, const char **key, const char **value)
{
    f = in_bytes(f);
    if (f == NULL || i >= f->layout->nfact)
        return false;
    if (key != NULL)
        *key = f->layout->fact[i].key;
    if (value != NULL)
        *value = f->layout->fact[i].value;
    return true;
}

const cip_finding *cip_file_finding(const cip_file *f, size_t i)
{
    f = in_bytes(f);
    /* The list has a lock of its own, so looking at it changes nothing that a reader could see. */
    return f == NULL ? NULL : cip_report_get((cip_report *)&f->env.warnings, i);
}

size_t cip_file_nblock(const cip_file *f)
{
    f = in_bytes(f);
    if (f == NULL)
        return 0;
    cip_layout *l = f->layout;
    if (l->list_blocks != NULL && !atomic_load_explicit(&l->blocks_listed, memory_order_acquire)) {
        /* One thread makes them, under the lock for what is made late; a failure leaves none. */
        cip_err err = CIP_ERR_INIT;
        pthread_mutex_lock(&l->lazy);
        if (!atomic_load_explicit(&l->blocks_listed, memory_order_relaxed)) {
            if (l->list_blocks(l, &err) != CIP_OK)
                cip_warn(l->env, (cip_status)err.code, err.offset, err.part, "%s", err.text);
            atomic_store_explicit(&l->blocks_listed, true, memory_order_release);
        }
        pthread_mutex_unlock(&l->lazy);
    }
    return l->nblock;
}

const cip_block_info *cip_file_block(const cip_file *f, size_t i)
{
    f = in_bytes(f);
    return i < cip_file_nblock(f) ? &f->layout->block[i].info : NULL;
}

cip_status cip_block_read(const cip_file *f, size_t i, bool stored, uint64_t offset, void *dst,
                          size_t n, cip_err *err)
{
    f = in_bytes(f);
    err = cip_err_enter(err);
    CIP_TRY(cip_arg_given(f, "a file", err));
    if (n != 0)
        CIP_TRY(cip_arg_given(dst, "memory to read into", err));
    if (i >= cip_file_nblock(f))
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET, "expected a block below %zu, found %zu",
                        cip_file_nblock(f), i);
    const cip_block *b = &f->layout->block[i];
    if (!stored && b->info.state != CIP_OK) {
        if (b->why != NULL)
            cip_err_pass(err, b->why);
        return b->info.state;
    }
    CIP_TRY(cip_layout_settled(f->layout, err));
    cip_read_how how = { f->layout, f->env.pool };
    return cip_space_read_at(&how, stored ? b->stored : b->data, offset, dst, n, err);
}

const char *cip_array_path(const cip_array *a)
{
    return a == NULL ? "" : a->path;
}

const cip_dtype *cip_array_dtype(const cip_array *a)
{
    return a == NULL ? NULL : a->dtype;
}

int cip_array_ndim(const cip_array *a)
{
    return a == NULL ? 0 : a->view.ndim;
}

const int64_t *cip_array_shape(const cip_array *a)
{
    return a == NULL ? NULL : a->view.shape;
}

const cip_node *cip_array_node(const cip_array *a)
{
    return a == NULL ? NULL : a->node;
}

cip_status cip_array_state(const cip_array *a, cip_err *err)
{
    if (a == NULL)
        return cip_fail_null(err, "an array");
    if (a->st != CIP_OK && a->why != NULL)
        cip_err_pass(cip_err_enter(err), a->why);
    return a->st;
}

cip_status cip_array_get_storage(const cip_array *a, cip_array_storage *out, cip_err *err)
{
    if (a == NULL)
        return cip_fail_null(err, "an array");
    err = cip_err_enter(err);
    CIP_TRY(cip_sized_room("cip_array_storage", out, err));
    const cip_array_storage found = {
        .kind = cip_storage_text(&a->storage),
        .codec = a->storage.codec != NULL ? a->storage.codec : "none",
        .stored_nbytes = a->storage.nbytes,
        .chunk = a->storage.chunk,
        .block = a->storage.block,
        .masked = a->mask.kind != CIP_MASK_NONE || a->mask.nfield != 0,
    };
    cip_sized_give(out, &found, sizeof found);
    return CIP_OK;
}

/* --- finding ------------------------------------------------------------------------------- */

const cip_array *cip_file_array_at(const cip_file *f, const char *path, size_t len)
{
    size_t i = cip_strmap_get(&f->by_path, (cip_bytes){ (const uint8_t *)path, len });
    return i == SIZE_MAX ? NULL : f->layout->array[i];
}

const cip_array *cip_file_whole(const cip_file *f)
{
    return f->layout->narray > 1 ? cip_file_array_at(f, "", 0) : NULL;
}

static const cip_array *only_array(const cip_file *f, cip_err *err)
{
    const cip_array *a = f->layout->narray == 1 ? f->layout->array[0] : cip_file_whole(f);
    if (a != NULL)
        return a;
    if (f->layout->narray == 0)
        cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "the file has no array");
    else {
        /* "one of 6 arrays: counts, image, ...": as many paths as there is room for. */
        char list[160];
        size_t n = 0, i = 0;
        for (; i < f->layout->narray; i++) {
            const char *path = f->layout->array[i]->path;
            if (n + strlen(path) + sizeof ", ..." > sizeof list)
                break;
            n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i == 0 ? "" : ", ", path);
        }
        if (i < f->layout->narray)
            snprintf(list + n, sizeof list - n, i == 0 ? "..." : ", ...");
        cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected the path of one of the %zu arrays: %s",
                 f->layout->narray, list);
    }
    return NULL;
}

/* The longest start of `path` (cut at a "/", not empty) that is an array's path; *rest is what
 * follows. */
static const cip_array *longest_array(const cip_file *f, const char *path, const char **rest)
{
    for (size_t n = strlen(path); n != 0; n--) {
        if (path[n] == '\0' || path[n] == '/') {
            const cip_array *a = cip_file_array_at(f, path, n);
            if (a != NULL) {
                *rest = path[n] == '/' ? path + n + 1 : path + n;
                return a;
            }
        }
    }
    return NULL;
}

/* Through the tree: for paths that reach an array by another way than the listed one. */
static const cip_array *array_by_tree(const cip_file *f, const char *path, cip_err *err)
{
    const cip_node *node = cip_tree_get(f->layout->tree, path, err);
    if (node == NULL)
        return NULL;
    const cip_array *a = cip_array_of_node(f, node);
    if (a == NULL)
        cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET, "'%.120s' is in the tree, but is not an array",
                 path);
    return a;
}

const cip_array *cip_find_field(const cip_file *f, const char *path, const char **field,
                                cip_err *err)
{
    if (f == NULL) {
        (void)cip_fail_null(err, "a file");
        return NULL;
    }
    err = cip_err_enter(err);
    if (cip_arg_given(field, "a pointer for the field", err) != CIP_OK)
        return NULL;
    *field = "";
    const cip_array *a = NULL;
    if (path != NULL && path[0] != '\0')
        a = longest_array(f, path, field);
    if (a == NULL && path != NULL && path[0] == '/')
        a = longest_array(f, path + 1, field);
    if (a != NULL)
        return a;
    if (path == NULL || path[0] == '\0' || strcmp(path, "/") == 0 || strcmp(path, ".") == 0)
        return only_array(f, err);
    if (f->layout->narray == 1 && f->layout->array[0]->path[0] == '\0' &&
        f->layout->array[0]->dtype->nfield != 0) {
        *field = path[0] == '/' ? path + 1 : path; /* one record array: the path is a field */
        a = f->layout->array[0];
    } else if (f->layout->tree != NULL) {
        a = array_by_tree(f, path, err);
    } else {
        cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "no array is named '%.120s'", path);
    }
    return a;
}

const cip_array *cip_find(const cip_file *f, const char *path, cip_err *err)
{
    const char *field;
    const cip_array *a = cip_find_field(f, path, &field, err);
    err = cip_err_enter(err);
    if (a == NULL || field[0] == '\0')
        return a;
    if (cip_field_of_step(a->dtype, field, strcspn(field, "/")) != NULL)
        cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                 "'%.120s' is a field of an array, not an array of its own", path);
    else if (a->path[0] == '\0')
        cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "no array or field is named '%.120s'",
                 path);
    else
        cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                 "no array is named '%.120s': the array '%.80s' has no field '%.40s'", path,
                 a->path, field);
    return NULL;
}
