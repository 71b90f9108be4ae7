/* SPDX-License-Identifier: BSD-3-Clause
 * The folder: which form it has, its arrays, its attributes. */
#include "format/blz/blz.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "tree/yaml.h"

/* --- which folder it is ----------------------------------------------------------------------- */

cip_status cip_blz_has(cip_io *io, const char *path, bool *yes, cip_err *err)
{
    cip_io *member;
    cip_err why = CIP_ERR_INIT;
    const cip_status st = cip_io_open_beneath(io, path, 0, &member, &why);
    if (st == CIP_ERR_NOMEM)
        return cip_fail(err, st, CIP_NO_OFFSET, "%s", why.text);
    *yes = st == CIP_OK;
    cip_io_close(member);
    return CIP_OK;
}

static bool has(cip_io *io, const char *path)
{
    bool yes;
    return cip_blz_has(io, path, &yes, NULL) == CIP_OK && yes;
}

static int probe(cip_io *io, cip_bytes head)
{
    (void)head;
    if (!cip_io_is_folder(io))
        return 0;
    return has(io, "meta/storage") || has(io, "__rootdirs__") ? 100
           : has(io, "meta/sizes")                            ? 80
                                                              : 0;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Ranges rise, since each begins where the last one ended. */
const cip_blz_files *cip_blz_files_of(const cip_blz *b, uint64_t member)
{
    return &b->range[cip_last_at_most(&b->range->member, sizeof *b->range, b->nrange, member)];
}

static void place(void *user, uint64_t member, cip_io **of, char name[CIP_IO_NUMBER_NAME])
{
    const cip_blz_files *r = cip_blz_files_of(user, member);
    if (r->of != NULL)
        *of = r->of;
    snprintf(name, CIP_IO_NUMBER_NAME, "%s__%" PRIu64 "%s", r->dir,
             r->number + (member - r->member), r->super ? "__.bin" : ".blp");
}

cip_status cip_blz_add_files(cip_blz *b, const cip_blz_files *files, uint64_t n, uint64_t *member,
                             cip_err *err)
{
    enum { NUMBERED_NAME = 40 };
    if (n > CIP_IO_NUMBERS - b->nmember)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu64 " data files, found %" PRIu64 " more",
                        CIP_IO_NUMBERS - b->nmember, n);
    if (strlen(files->dir) > CIP_IO_NUMBER_NAME - NUMBERED_NAME)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a path of %zu bytes",
                        strlen(files->dir));
    CIP_TRY(CIP_ARENA_ROOM(&b->layout->arena, &b->range, b->nrange, &b->range_cap, err));
    b->range[b->nrange] = *files;
    b->range[b->nrange++].member = b->nmember;
    *member = b->nmember;
    b->nmember += n;
    return CIP_OK;
}

/* --- arrays ----------------------------------------------------------------------------------- */

const cip_node *cip_blz_params(const cip_blz_meta *m)
{
    const cip_node *n = cip_map_get(m->storage, "cparams");
    return n != NULL ? n : cip_map_get(m->storage, "bparams");
}

/* Whether it is zero, or all that it is made of. */
static bool is_zero(const cip_node *n)
{
    double v;
    bool zero = n->type == CIP_NODE_NULL || (n->type == CIP_NODE_BOOL && !n->b) ||
                (n->type == CIP_NODE_STRING && n->len == 0) ||
                (cip_node_as_double(n, &v) && v == 0) || n->type == CIP_NODE_SEQ;
    for (uint32_t i = 0; zero && n->type == CIP_NODE_SEQ && i < n->len; i++)
        zero = is_zero(n->item[i]); /* JSON nests no deeper than it was read */
    return zero;
}

cip_status cip_blz_describe(cip_blz_column *c, const char *kind, cip_err *err)
{
    cip_array *a = c->array;
    cip_layout *l = c->blz->layout;
    const cip_node *map = cip_blz_params(&c->meta);
    const cip_node *n = map != NULL && map->type == CIP_NODE_MAP ? cip_map_get(map, "cname") : NULL;
    const char *codec = n != NULL && n->type == CIP_NODE_STRING ? n->text : NULL;
    const cip_node *cbytes = cip_map_get(c->meta.sizes, "cbytes");
    const cip_node *dflt = cip_map_get(c->meta.storage, "dflt");
    int64_t *chunk;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &chunk, (size_t)c->meta.ndim, err));
    memcpy(chunk, c->meta.shape, (size_t)c->meta.ndim * sizeof *chunk);
    chunk[0] = c->meta.chunklen;
    a->storage = (cip_storage){ .kind = CIP_STORAGE_OWN,
                                .own = kind,
                                .codec = codec != NULL ? codec : "blosc",
                                .chunk = c->meta.objects ? NULL : chunk,
                                .block = -1 };
    if (cbytes != NULL)
        cip_node_as_uint(cbytes, &a->storage.nbytes);
    l->beside += a->storage.nbytes;
    a->dtype = c->meta.dtype;
    a->unwritten = dflt == NULL || is_zero(dflt) ? NULL : dflt;
    return cip_view_c_order(c->meta.ndim, c->meta.shape, a->dtype->itemsize, &a->view, err);
}

void cip_blz_compare_nbytes(const cip_blz_column *c)
{
    const cip_node *n = cip_map_get(c->meta.sizes, "nbytes");
    uint64_t said, is = c->meta.row * (uint64_t)c->meta.shape[0];
    if (n == NULL || c->meta.objects || !cip_node_as_uint(n, &said) || said == is)
        return;
    cip_warn(c->blz->layout->env, CIP_ERR_CORRUPT, CIP_NO_OFFSET, c->array->path,
             "meta/sizes says %" PRIu64 " bytes, but its shape needs %" PRIu64, said, is);
}

cip_status cip_blz_fill_column(cip_blz_column *c, cip_err *err)
{
    CIP_TRY(cip_blz_meta_read(c->blz->layout, c->dir, &c->meta, err));
    CIP_TRY(cip_blz_describe(c, "chunk files", err));
    CIP_TRY(cip_blz_column_open(c, err));
    c->array->space = c->space;
    if (c->meta.objects) {
        cip_err why = CIP_ERR_INIT;
        cip_fail(&why, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                 "Python objects: each is a pickle, which may run any program when it is loaded");
        cip_array_refuse(c->array, CIP_ERR_UNSUPPORTED, &why);
    }
    cip_blz_compare_nbytes(c);
    return cip_blz_compare_rows(c, err);
}

cip_status cip_blz_new_column(cip_blz *b, const char *dir, const char *path, cip_blz_column **out,
                              cip_err *err)
{
    cip_arena *a = &b->layout->arena;
    CIP_TRY(CIP_ARENA_NEW(a, out, 1, err));
    CIP_TRY(cip_layout_add_array(b->layout, true, &(*out)->array, err));
    (*out)->blz = b;
    (*out)->dir = dir;
    (*out)->array->layout = b->layout;
    (*out)->array->path = path;
    pthread_mutex_init(&(*out)->lock, NULL);
    b->column[b->ncolumn++] = *out;
    return CIP_OK;
}

/* --- attributes ------------------------------------------------------------------------------- */

cip_status cip_blz_attributes(cip_layout *l, const char *path, const cip_array *of,
                              const cip_node **out, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    *out = NULL;
    cip_status st = cip_blz_json(l, path, out, &why);
    if (st == CIP_OK && (*out)->type != CIP_NODE_MAP)
        cip_warn(l->env, CIP_ERR_CORRUPT, CIP_NO_OFFSET, path,
                 "expected a JSON object, found another value");
    if (st == CIP_OK && (*out)->type == CIP_NODE_MAP && (*out)->len == 0)
        *out = NULL;
    if (st == CIP_OK || st == CIP_ERR_NOT_FOUND)
        return CIP_OK;
    if (st == CIP_ERR_NOMEM || st == CIP_ERR_IO)
        return cip_fail(err, st, why.offset, "%s", why.text);
    cip_warn_lack(l->env, CIP_LACKS_NODE, of, st, why.offset, path,
                  "%s; the attributes are left out", why.text);
    return CIP_OK;
}

/* The attributes of columns by their paths, as far as they have any. */
static cip_status column_attributes(cip_blz *b, const cip_node **out, cip_err *err)
{
    cip_arena *a = &b->layout->arena;
    cip_node *map;
    size_t n = 0;
    *out = NULL;
    const cip_node **attrs;
    CIP_TRY(CIP_ARENA_NEW(a, &attrs, b->ncolumn, err));
    for (size_t i = 0; i < b->ncolumn; i++) {
        char *path;
        CIP_TRY(cip_arena_printf(a, &path, err, "%s__attrs__", b->column[i]->dir));
        CIP_TRY(cip_blz_attributes(b->layout, path, b->column[i]->array, &attrs[i], err));
        b->column[i]->array->attributes = attrs[i];
        n += attrs[i] != NULL;
    }
    if (n == 0)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(a, n, &map, err));
    *out = map;
    n = 0;
    for (size_t i = 0; i < b->ncolumn; i++)
        if (attrs[i] != NULL)
            CIP_TRY(cip_node_set_key(a, map, n++, b->column[i]->array->path, attrs[i], err));
    return CIP_OK;
}

/* `name`, behind as many "_" as make it no column's path. */
static cip_status free_key(const cip_blz *b, const char *name, char **out, cip_err *err)
{
    cip_arena *a = &b->layout->arena;
    CIP_TRY(cip_arena_printf(a, out, err, "%s", name));
    for (size_t i = 0; b->table && i < b->ncolumn; i++)
        if (strcmp(b->column[i]->array->path, *out) == 0) {
            CIP_TRY(cip_arena_printf(a, out, err, "_%s", *out));
            i = SIZE_MAX; /* from the first on again */
        }
    return CIP_OK;
}

/* What users wrote: attributes, and in a table those of its columns. */
static cip_status make_tree(cip_blz *b, cip_err *err)
{
    cip_arena *a = &b->layout->arena;
    const cip_node *part[2] = { NULL, NULL };
    cip_node *root;
    CIP_TRY(free_key(b, "attributes", &b->key[0], err));
    CIP_TRY(free_key(b, "column_attributes", &b->key[1], err));
    CIP_TRY(cip_blz_attributes(b->layout, "__attrs__", NULL, &part[0], err));
    if (b->table)
        CIP_TRY(column_attributes(b, &part[1], err));
    size_t n = (part[0] != NULL) + (part[1] != NULL);
    if (n == 0)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(a, n, &root, err));
    b->layout->tree = root;
    n = 0;
    for (size_t i = 0; i < 2; i++)
        if (part[i] != NULL)
            CIP_TRY(cip_node_set_key(a, root, n++, b->key[i], part[i], err));
    return CIP_OK;
}

/* --- facts ------------------------------------------------------------------------------------ */

static cip_status json_fact(cip_layout *l, const char *key, const cip_node *n, cip_err *err)
{
    cip_buf text = { .mem = &l->env->mem };
    if (n == NULL)
        return CIP_OK;
    cip_status st = cip_json_emit(l->env, n, false, &text, err);
    if (st == CIP_OK)
        st = cip_layout_add_fact(l, key, err, "%.*s", (int)cip_min_u64(text.len, 200),
                                 (const char *)text.ptr);
    cip_buf_clear(&text);
    return st;
}

cip_status cip_blz_facts(cip_layout *l, const cip_blz_meta *m, cip_err *err)
{
    CIP_TRY(json_fact(l, "parameters", cip_blz_params(m), err));
    CIP_TRY(json_fact(l, "expectedlen", cip_map_get(m->storage, "expectedlen"), err));
    return json_fact(l, "dflt", cip_map_get(m->storage, "dflt"), err);
}

/* --- opening ---------------------------------------------------------------------------------- */

static void clear(cip_layout *l)
{
    cip_blz *b = l->own;
    if (b == NULL)
        return;
    for (size_t i = 0; i < b->ncolumn; i++) {
        cip_buf_clear(&b->column[i]->numbers);
        pthread_mutex_destroy(&b->column[i]->lock);
    }
    for (size_t i = 0; i < b->nshard; i++)
        cip_io_close(b->shard[i].of);
    cip_io_close(b->numbered);
}

static cip_status open_array(cip_blz *b, cip_err *err)
{
    cip_layout *l = b->layout;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &b->column, 1, err));
    cip_blz_column *c;
    CIP_TRY(cip_blz_new_column(b, "", "", &c, err));
    CIP_TRY(cip_blz_fill_column(c, err));
    l->version = cip_map_get(c->meta.storage, "bparams") != NULL ? "BLZ" : "bcolz";
    CIP_TRY(
        cip_layout_add_fact(l, "layout", err, "one file per chunk, %" PRIu64 " files", c->nchunk));
    return cip_blz_facts(l, &c->meta, err);
}

static cip_status open_folder(cip_layout *l, cip_err *err)
{
    cip_blz *b;
    bool document = false;
    if (!cip_io_is_folder(l->io))
        return cip_fail(err, CIP_ERR_FORMAT, CIP_NO_OFFSET, "expected a folder, found a file");
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &b, 1, err));
    b->layout = l;
    l->own = b;
    l->clear = clear;
    l->list_blocks = cip_blz_list_blocks;
    CIP_TRY(cip_io_open_numbered(l->io, cip_blz_flags(l), place, b, &b->numbered, err));
    CIP_TRY(cip_space_new_file(l, b->numbered, &b->files, err));
    CIP_TRY(cip_blz_has(l->io, "__rootdirs__", &b->table, err));
    if (!b->table)
        CIP_TRY(cip_blz_is_document(l->io, &document, err));
    if (document)
        return cip_blz_open_document(b, err);
    CIP_TRY((b->table ? cip_blz_open_table : open_array)(b, err));
    return make_tree(b, err);
}

const cip_format cip_format_blz = {
    .name = "blz",
    .title = "BLZ",
    .extensions = "blz bcolz",
    .folder_extensions = "blz bcolz",
    .probe = probe,
    .open = open_folder,
    .verify = cip_blz_verify,
    .store = &cip_blz_store,
    .options = cip_blz_options,
    .kinds = cip_blz_kinds,
};
