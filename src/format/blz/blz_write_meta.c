/* SPDX-License-Identifier: BSD-3-Clause
 * What a new folder says of itself: what the chunks are, and of the tree what users wrote. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_write.h"
#include "format/one_array.h"

/* What of the tree goes along, NULL where nothing does. */
typedef struct kept {
    const cip_node *attributes; /* a mapping */
    const cip_node *columns;    /* of a table: mappings by the arrays' paths */
    const cip_node *meta;       /* of the document's: other files of meta/ by their names */
    cip_buf words;              /* their keys */
} kept;

/* --- what is kept ----------------------------------------------------------------------------- */

static const cip_spec_array *array_at(const cip_spec *spec, const char *path)
{
    for (size_t i = 0; i < spec->narray; i++)
        if (spec->array[i].path != NULL && strcmp(spec->array[i].path, path) == 0)
            return &spec->array[i];
    return NULL;
}

/* The mapping under the key, or under the key behind as many "_" as make it no array's. */
static cip_status find(const cip_spec *spec, const char *name, const cip_node **out, cip_buf *key,
                       cip_err *err)
{
    *out = NULL;
    key->len = 0;
    CIP_TRY(cip_buf_addf(key, err, "%s", name));
    CIP_TRY(cip_buf_nul(key, err));
    while (cip_blz_are_columns(spec) && array_at(spec, (const char *)key->ptr) != NULL) {
        CIP_TRY(cip_buf_addf(key, err, "_"));
        memmove(key->ptr + 1, key->ptr, key->len - 1);
        key->ptr[0] = '_';
        CIP_TRY(cip_buf_nul(key, err));
    }
    if (cip_node_kind(spec->tree) == CIP_NODE_MAP)
        *out = cip_map_get(spec->tree, (const char *)key->ptr);
    if (cip_node_kind(*out) != CIP_NODE_MAP || !cip_json_holds(spec->env, *out, true, 0))
        *out = NULL;
    return CIP_OK;
}

static bool are_columns(const cip_spec *spec, const cip_node *map)
{
    for (uint32_t i = 0; i < map->len; i++)
        if (array_at(spec, map->pair[i].key->text) == NULL ||
            cip_node_kind(map->pair[i].value) != CIP_NODE_MAP)
            return false;
    return true;
}

static bool are_files(const cip_node *map)
{
    for (uint32_t i = 0; i < map->len; i++) {
        const cip_node *key = map->pair[i].key;
        if (key->len == 0 || strlen(key->text) != key->len || key->len > CIP_IO_NUMBER_NAME / 2 ||
            strchr(key->text, '/') != NULL || key->text[0] == '.' || cip_blz_is_meta(key->text))
            return false;
    }
    return true;
}

static cip_status take(const cip_node **n, bool fits, const cip_buf *key, kept *k, cip_err *err)
{
    if (!fits)
        *n = NULL;
    return *n == NULL ? CIP_OK : cip_buf_addf(&k->words, err, "%s ", (const char *)key->ptr);
}

/* k->words: to be cleared, on failure too. */
static cip_status find_kept(const cip_spec *spec, cip_blz_kind kind, kept *k, cip_err *err)
{
    cip_buf key = { .mem = &spec->env->mem };
    cip_status st;
    const bool document = kind == CIP_BLZ_DOCUMENT;
    *k = (kept){ .words = { .mem = &spec->env->mem } };
    CIP_GO(find(spec, "attributes", &k->attributes, &key, err));
    CIP_GO(take(&k->attributes, true, &key, k, err));
    if (!document && cip_blz_are_columns(spec)) {
        CIP_GO(find(spec, "column_attributes", &k->columns, &key, err));
        CIP_GO(
            take(&k->columns, k->columns != NULL && are_columns(spec, k->columns), &key, k, err));
    }
    if (document) {
        CIP_GO(find(spec, "meta", &k->meta, &key, err));
        CIP_GO(take(&k->meta, k->meta != NULL && are_files(k->meta), &key, k, err));
    }
    st = cip_buf_nul(&k->words, err);
done:
    cip_buf_clear(&key);
    return st;
}

cip_status cip_blz_check_tree(const cip_spec *spec, cip_blz_kind kind, cip_report *loss,
                              cip_err *err)
{
    static const char who[] = "BLZ and bcolz";
    kept k;
    cip_status st = find_kept(spec, kind, &k, err);
    if (st == CIP_OK) {
        const char *words = (const char *)k.words.ptr;
        st = cip_blz_are_columns(spec) ? cip_tell_tree(spec, words, who, loss, err)
                                       : cip_tell_rest(spec, words, who, loss, err);
    }
    cip_buf_clear(&k.words);
    return st;
}

/* --- files ------------------------------------------------------------------------------------ */

/* The text becomes the file `dir``name`, and is empty then. */
static cip_status put_file(cip_blz_writer *w, const char *dir, const char *name, cip_buf *text,
                           cip_err *err)
{
    cip_out *file;
    char *path;
    CIP_TRY(cip_arena_printf(w->arena, &path, err, "%s%s", dir, name));
    CIP_TRY(cip_blz_new_file(w, path, &file, err));
    CIP_TRY(cip_out_write(file, text->ptr, text->len, err));
    text->len = 0;
    return CIP_OK;
}

static cip_status put_node(cip_blz_writer *w, const char *dir, const char *name, const cip_node *n,
                           cip_buf *text, cip_err *err)
{
    if (n == NULL)
        CIP_TRY(cip_buf_addf(text, err, "{}\n"));
    else
        CIP_TRY(cip_blz_node_json(w->env, n, text, err));
    return put_file(w, dir, name, text, err);
}

/* `c`: how its chunks are, and where the files go (NULL: to the root). */
static cip_status put_array(cip_blz_writer *w, const cip_blz_new *c, cip_blz_storage *s,
                            cip_buf *text, cip_err *err)
{
    const bool document = w->kind == CIP_BLZ_DOCUMENT;
    const char *dir = document ? "" : c->dir;
    const int64_t *shape = document ? w->spec->array[0].shape : c->shape;
    uint64_t nbytes = c->nbytes, cbytes = c->cbytes;
    for (size_t i = 1; document && i < w->ncolumn; i++) { /* c is the first */
        nbytes += w->column[i].nbytes;
        cbytes += w->column[i].cbytes;
    }
    s->env = w->env;
    s->kind = w->kind;
    if ((document || c->from == NULL) && c->array->source != NULL) /* of a field nobody knows */
        s->dflt = c->array->unwritten;
    s->blosc = &c->blosc;
    s->chunklen = c->chunklen;
    s->expectedlen = shape[0];
    CIP_TRY(cip_blz_storage_json(text, s, err));
    CIP_TRY(put_file(w, dir, "meta/storage", text, err));
    CIP_TRY(cip_blz_sizes_json(text, document ? w->ndim : c->ndim, shape, nbytes, cbytes, err));
    return put_file(w, dir, "meta/sizes", text, err);
}

static cip_status put_document(cip_blz_writer *w, const kept *k, cip_buf *text, cip_err *err)
{
    cip_blz_storage s = { .dtype = w->dtype, .superchunk = w->super.per };
    if (k->attributes != NULL)
        CIP_TRY(put_node(w, "", "meta/attributes", k->attributes, text, err));
    for (uint32_t i = 0; k->meta != NULL && i < k->meta->len; i++)
        CIP_TRY(
            put_node(w, "meta/", k->meta->pair[i].key->text, k->meta->pair[i].value, text, err));
    if (w->super.nshard != 0) {
        CIP_TRY(cip_blz_list_json(text, w->super.shard, w->super.nshard, err));
        CIP_TRY(cip_buf_addf(text, err, "\n"));
        CIP_TRY(put_file(w, "", "meta/shards", text, err));
    }
    return put_array(w, &w->column[0], &s, text, err);
}

static cip_status put_columns(cip_blz_writer *w, const kept *k, cip_buf *text, cip_err *err)
{
    for (size_t i = 0; i < w->ncolumn; i++) {
        const cip_blz_new *c = &w->column[i];
        const cip_node *own = k->columns != NULL ? cip_map_get(k->columns, c->array->path) : NULL;
        cip_blz_storage s = { .dtype = c->dtype };
        if (c->name != NULL)
            CIP_TRY(put_node(w, c->dir, "__attrs__", own, text, err));
        CIP_TRY(put_array(w, c, &s, text, err));
        /* The old programs append to a column of no rows only where it has the folder of its
         * chunks. Where an output has no folders (memory) there are no such programs either. */
        char *name;
        if (w->out->folder != NULL && c->nchunk == 0) {
            CIP_TRY(cip_arena_printf(w->arena, &name, err, "%sdata", c->dir));
            CIP_TRY(w->out->folder(w->out->member_user, name, err));
        }
    }
    return CIP_OK;
}

cip_status cip_blz_put_columns_meta(cip_blz_writer *w, const cip_node *attributes, cip_err *err)
{
    const kept k = { .columns = attributes };
    cip_buf text = { .mem = &w->env->mem };
    cip_status st = put_columns(w, &k, &text, err);
    cip_buf_clear(&text);
    return st;
}

static cip_status put_old(cip_blz_writer *w, const kept *k, cip_buf *text, cip_err *err)
{
    CIP_TRY(put_node(w, "", "__attrs__", k->attributes, text, err));
    CIP_TRY(put_columns(w, k, text, err));
    if (w->column[0].name == NULL)
        return CIP_OK;
    const char **name;
    CIP_TRY(CIP_ARENA_NEW(w->arena, &name, w->ncolumn, err));
    for (size_t i = 0; i < w->ncolumn; i++)
        name[i] = w->column[i].name;
    CIP_TRY(cip_blz_columns_json(text, w->kind, name, w->ncolumn, err));
    return put_file(w, "", "__rootdirs__", text, err);
}

cip_status cip_blz_put_meta(cip_blz_writer *w, cip_err *err)
{
    cip_buf text = { .mem = &w->env->mem };
    kept k;
    cip_status st = find_kept(w->spec, w->kind, &k, err);
    if (st == CIP_OK)
        st = (w->kind == CIP_BLZ_DOCUMENT ? put_document : put_old)(w, &k, &text, err);
    cip_buf_clear(&k.words);
    cip_buf_clear(&text);
    return st;
}
