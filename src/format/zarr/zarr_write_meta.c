/* SPDX-License-Identifier: BSD-3-Clause
 * The metadata of a new store. Mappings on the way to an array are groups, and so are lists; what
 * else they hold are the group's attributes. Beside arrays `dims` and `attrs` are what is said of
 * these, by their names, as it was read; of an array that is all of the store `attributes` is. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/groups.h"
#include "format/one_array.h"
#include "format/zarr/zarr_write.h"
#include "tree/base64.h"
#include "tree/utf8.h"
#include "tree/yaml.h"

/* --- names ------------------------------------------------------------------------------------ */

enum { MOST_NAME = 200 /* bytes */ };

static bool is_name(cip_bytes s)
{
    return s.len != 0 && s.len <= MOST_NAME && memchr(s.ptr, '/', s.len) == NULL &&
           memchr(s.ptr, '\0', s.len) == NULL && s.ptr[0] != '.' &&
           !(s.len > 1 && s.ptr[0] == '_' && s.ptr[1] == '_') &&
           cip_utf8_is((const char *)s.ptr, s.len) &&
           !(s.len == 9 && memcmp(s.ptr, "zarr.json", 9) == 0);
}

cip_status cip_zarr_dir(cip_arena *a, const char *path, char **out, cip_err *err)
{
    cip_buf b = { .mem = a->mem };
    cip_bytes *step;
    size_t n = 0;
    CIP_TRY(cip_path_split(a, path != NULL ? path : "", &step, &n, err));
    cip_status st = CIP_OK;
    for (size_t i = 0; st == CIP_OK && i < n; i++) {
        if (!is_name(step[i]))
            st = cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                          "'%.80s' cannot be the path of a Zarr array", path);
        if (st == CIP_OK)
            st = cip_buf_add(&b, step[i].ptr, step[i].len, err);
        if (st == CIP_OK)
            st = cip_buf_puts(&b, "/", err);
    }
    if (st == CIP_OK)
        st = cip_arena_copy(a, b.ptr != NULL ? (const char *)b.ptr : "", b.len, out, err);
    cip_buf_clear(&b);
    return st;
}

/* --- types ------------------------------------------------------------------------------------ */

bool cip_zarr_has_type(const cip_dtype *d)
{
    for (size_t i = 0; i < d->nfield; i++) /* records nest at most 32 deep */
        if (d->field[i].ndim != 0 || !cip_zarr_has_type(d->field[i].dtype))
            return false;
    return d->itemsize != 0 && d->itemsize <= INT32_MAX;
}

static cip_status add_time(cip_buf *b, const cip_dtype *d, cip_err *err)
{
    const char *unit = d->unit != NULL ? d->unit : "";
    char *end = (char *)(uintptr_t)unit;
    const unsigned long scale = *unit >= '0' && *unit <= '9' ? strtoul(unit, &end, 10) : 1;
    return cip_buf_addf(b, err,
                        "{\"name\": \"numpy.%s\", \"configuration\": {\"unit\": \"%s\", "
                        "\"scale_factor\": %lu}}",
                        d->kind == CIP_DATETIME64 ? "datetime64" : "timedelta64",
                        *end != '\0' ? end : "generic", scale);
}

static cip_status add_type(cip_buf *b, const cip_dtype *d, cip_err *err)
{
    const char *name = d->kind == CIP_OPAQUE  ? "raw_bytes"
                       : d->kind == CIP_ASCII ? "null_terminated_bytes"
                       : d->kind == CIP_UCS4  ? "fixed_length_utf32"
                                              : NULL;
    if (name != NULL)
        return cip_buf_addf(
            b, err, "{\"name\": \"%s\", \"configuration\": {\"length_bytes\": %" PRIu64 "}}", name,
            d->itemsize);
    if (cip_kind_is_time(d->kind))
        return add_time(b, d, err);
    if (d->kind != CIP_RECORD)
        return cip_buf_addf(b, err, "\"%s\"", d->kind == CIP_BOOL ? "bool" : d->name);
    CIP_TRY(cip_buf_puts(b, "{\"name\": \"structured\", \"configuration\": {\"fields\": [", err));
    for (size_t i = 0; i < d->nfield; i++) {
        CIP_TRY(cip_buf_puts(b, i == 0 ? "[" : ", [", err));
        CIP_TRY(cip_json_string(b, d->field[i].name, strlen(d->field[i].name), err));
        CIP_TRY(cip_buf_puts(b, ", ", err));
        CIP_TRY(add_type(b, d->field[i].dtype, err));
        CIP_TRY(cip_buf_puts(b, "]", err));
    }
    return cip_buf_puts(b, "]}}", err);
}

static cip_status add_json(cip_zarr_writer *w, cip_buf *b, const cip_node *n, cip_err *err)
{
    const cip_json_write file = { .file = true };
    return cip_json_emit_as(w->env, n, &file, b, err);
}

/* What is nowhere: zeros, or the fill value of the array that it is a copy of. */
static cip_status add_fill(cip_zarr_writer *w, cip_buf *b, const cip_zarr_new *n, cip_err *err)
{
    const cip_dtype *d = n->dtype;
    const cip_node *fill = n->like != NULL ? cip_map_get(n->like->meta, "fill_value") : NULL;
    if (n->like != NULL && cip_node_kind(fill) <= CIP_NODE_NULL)
        return cip_buf_puts(b, "\"NaT\"", err);
    if (n->like != NULL)
        return add_json(w, b, fill, err);
    if (d->kind == CIP_OPAQUE || d->kind == CIP_RECORD) {
        uint8_t *zeros;
        CIP_TRY(cip_mem_zeroed(&w->env->mem, (size_t)d->itemsize, 1, (void **)&zeros, err));
        cip_status st = cip_buf_puts(b, "\"", err);
        if (st == CIP_OK)
            st = cip_base64_encode((cip_bytes){ zeros, (size_t)d->itemsize }, b, err);
        cip_mem_put(&w->env->mem, zeros);
        CIP_TRY(st);
        return cip_buf_puts(b, "\"", err);
    }
    const bool text = d->kind == CIP_ASCII || d->kind == CIP_UCS4;
    const bool complex = d->kind == CIP_C64 || d->kind == CIP_C128;
    const bool real = d->kind == CIP_F16 || d->kind == CIP_F32 || d->kind == CIP_F64;
    return cip_buf_puts(b,
                        text                  ? "\"\""
                        : d->kind == CIP_BOOL ? "false"
                        : complex             ? "[0.0, 0.0]"
                        : real                ? "0.0"
                                              : "0",
                        err);
}

/* --- codecs ----------------------------------------------------------------------------------- */

static cip_status add_lengths(cip_buf *b, int32_t ndim, const int64_t *n, cip_err *err)
{
    CIP_TRY(cip_buf_puts(b, "[", err));
    for (int32_t k = 0; k < ndim; k++)
        CIP_TRY(cip_buf_addf(b, err, "%s%" PRId64, k == 0 ? "" : ", ", n[k]));
    return cip_buf_puts(b, "]", err);
}

static bool has_order(const cip_dtype *d)
{
    return d->kind == CIP_RECORD || d->kind == CIP_UCS4 ||
           (d->kind != CIP_ASCII && d->kind != CIP_OPAQUE && d->itemsize > 1);
}

static const char *const cname[] = { "blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd" };

static cip_status add_codecs(cip_buf *b, const cip_zarr_new *n, cip_err *err)
{
    CIP_TRY(cip_buf_puts(b,
                         has_order(n->dtype) ? "[{\"name\": \"bytes\", \"configuration\": "
                                               "{\"endian\": \"little\"}}"
                                             : "[{\"name\": \"bytes\"}",
                         err));
    if (n->press == CIP_ZARR_ZSTD)
        CIP_TRY(cip_buf_addf(b, err,
                             ", {\"name\": \"zstd\", \"configuration\": {\"level\": %d, "
                             "\"checksum\": %s}}",
                             n->level, n->checksum ? "true" : "false"));
    if (n->press == CIP_ZARR_GZIP)
        CIP_TRY(cip_buf_addf(b, err, ", {\"name\": \"gzip\", \"configuration\": {\"level\": %d}}",
                             n->level));
    if (n->press == CIP_ZARR_BLOSC)
        CIP_TRY(cip_buf_addf(b, err,
                             ", {\"name\": \"blosc\", \"configuration\": {\"typesize\": %" PRIu32
                             ", \"cname\": \"%s\", \"clevel\": %d, \"shuffle\": \"%s\", "
                             "\"blocksize\": %" PRIu32 "}}",
                             n->blosc.typesize, cname[n->blosc.compcode], n->blosc.level,
                             n->blosc.filter[5] == CIP_BLOSC_SHUFFLE      ? "shuffle"
                             : n->blosc.filter[5] == CIP_BLOSC_BITSHUFFLE ? "bitshuffle"
                                                                          : "noshuffle",
                             n->blosc.blocksize));
    return cip_buf_puts(b, "]", err);
}

static cip_status add_all_codecs(cip_buf *b, const cip_zarr_new *n, cip_err *err)
{
    if (n->shard.count == 0)
        return add_codecs(b, n, err);
    CIP_TRY(cip_buf_puts(
        b, "[{\"name\": \"sharding_indexed\", \"configuration\": {\"chunk_shape\": ", err));
    CIP_TRY(add_lengths(b, n->array->ndim, n->chunk, err));
    CIP_TRY(cip_buf_puts(b, ", \"codecs\": ", err));
    CIP_TRY(add_codecs(b, n, err));
    return cip_buf_puts(b,
                        ", \"index_codecs\": [{\"name\": \"bytes\", \"configuration\": "
                        "{\"endian\": \"little\"}}, {\"name\": \"crc32c\"}], \"index_location\": "
                        "\"end\"}}]",
                        err);
}

/* --- the tree --------------------------------------------------------------------------------- */

/* The metadata of a store as they are written, or as `check` looks at them. */
typedef struct walk {
    cip_groups *g;
    cip_report *loss; /* NULL: nothing is told */
} walk;

static bool holds(const cip_groups *g, const cip_node *value)
{
    return cip_json_holds(g->spec->env, value, true, 4);
}

/* `"key": value`, where JSON holds it. */
static cip_status add_attribute(const walk *k, const char *dir, const cip_pair *p, cip_buf *b,
                                bool *any, cip_err *err)
{
    const cip_json_write file = { .file = true };
    const bool text = p->key->type == CIP_NODE_STRING &&
                      (p->key->tag == NULL || cip_json_stays(k->g->spec->env, p->key, false));
    if (!text || !cip_json_holds(k->g->spec->env, p->value, true, 4)) {
        cip_groups_tell(k->loss, dir, p->key->text,
                        "this of the metadata is lost: JSON cannot hold it as it is");
        return CIP_OK;
    }
    CIP_TRY(cip_buf_puts(b, *any ? ", " : "", err));
    *any = true;
    CIP_TRY(cip_json_string(b, p->key->text, p->key->len, err));
    CIP_TRY(cip_buf_puts(b, ": ", err));
    return cip_json_emit_as(k->g->spec->env, p->value, &file, b, err);
}

/* The attributes of the group in the folder as an object; `node`: its mapping, a list or NULL. */
static cip_status group_attributes(const walk *k, const char *dir, const cip_node *node, cip_buf *b,
                                   cip_err *err)
{
    bool any = false, beside;
    size_t member;
    CIP_TRY(cip_buf_puts(b, "{", err));
    if (k->loss != NULL)
        CIP_TRY(cip_groups_tell_lost(k->g, dir, "Zarr stores", k->loss, err));
    for (uint32_t i = 0; cip_node_kind(node) == CIP_NODE_MAP && i < node->len; i++) {
        const cip_pair *p = &node->pair[i];
        CIP_TRY(cip_groups_member_key(k->g, dir, p->key, &member, err));
        CIP_TRY(cip_groups_beside(k->g, dir, p, &beside, err));
        const bool apart = dir[0] == '\0' && (cip_groups_apart(k->g, p) ||
                                              p->value == cip_groups_own_attributes(k->g->spec));
        if (member != SIZE_MAX || beside || apart || cip_is_array_node(k->g->spec, p->value))
            continue;
        CIP_TRY(add_attribute(k, dir, p, b, &any, err));
    }
    return cip_buf_puts(b, "}", err);
}

/* Those of the only array, which are all that the tree says. */
static cip_status own_attributes(const walk *k, const char *dir, const cip_node *own, cip_buf *b,
                                 cip_err *err)
{
    bool any = false;
    CIP_TRY(cip_buf_puts(b, "{", err));
    for (uint32_t i = 0; i < own->len; i++)
        CIP_TRY(add_attribute(k, dir, &own->pair[i], b, &any, err));
    return cip_buf_puts(b, "}", err);
}

/* Those of an array that is all of the store. */
static cip_status root_attributes(const walk *k, const cip_node *root, cip_buf *b, cip_err *err)
{
    const int32_t ndim = k->g->spec->array[0].ndim;
    bool any = false;
    CIP_TRY(cip_buf_puts(b, "{", err));
    for (uint32_t i = 0; cip_node_kind(root) == CIP_NODE_MAP && i < root->len; i++) {
        const cip_pair *p = &root->pair[i];
        if (cip_is_array_node(k->g->spec, p->value) || cip_groups_apart(k->g, p) ||
            (cip_node_is_string(p->key, "dims") && cip_names_axes(p->value, ndim)))
            continue;
        if (!cip_node_is_string(p->key, "attributes") || p->value->type != CIP_NODE_MAP) {
            CIP_TRY(add_attribute(k, "", p, b, &any, err));
            continue;
        }
        for (uint32_t j = 0; j < p->value->len; j++)
            CIP_TRY(add_attribute(k, "attributes/", &p->value->pair[j], b, &any, err));
    }
    return cip_buf_puts(b, "}", err);
}

cip_status cip_zarr_check_tree(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    cip_arena arena = { .mem = &spec->env->mem };
    cip_buf text = { .mem = &spec->env->mem };
    cip_groups g = { .spec = spec, .arena = &arena, .dir = cip_zarr_dir, .holds = holds };
    const walk k = { &g, loss };
    const cip_tree_rest rest = { .origin = spec->tree != NULL && spec->origin_keys != NULL };
    const cip_node *own = cip_groups_own_attributes(spec);
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_groups_find(&g, &why);
    if (st == CIP_OK && cip_is_alone(spec))
        st = root_attributes(&k, spec->tree, &text, &why);
    else if (st == CIP_OK && own != NULL)
        st = own_attributes(&k, g.array[0], own, &text, &why);
    for (size_t i = 0; st == CIP_OK && i < g.n && !cip_is_alone(spec); i++) {
        text.len = 0;
        st = group_attributes(&k, g.group[i], cip_groups_node(&g, g.group[i]), &text, &why);
    }
    if (st == CIP_OK && cip_node_kind(spec->tree) > CIP_NODE_NULL &&
        spec->tree->type != CIP_NODE_MAP && !cip_is_array_node(spec, spec->tree) && g.n == 1)
        cip_groups_tell(loss, "", "", "the metadata tree is lost: it is no mapping");
    cip_tell_origin(spec, &rest, "Zarr stores", loss);
    cip_buf_clear(&text);
    cip_groups_clear(&g);
    cip_arena_clear(&arena);
    if (st == CIP_ERR_UNSUPPORTED)
        cip_report_add(loss, CIP_BAD, st, CIP_NO_OFFSET, 0, NULL, "%s", why.text);
    else
        CIP_TRY(cip_err_give(err, &why, st));
    return CIP_OK;
}

/* --- version 2 -------------------------------------------------------------------------------- */

static cip_status add_type_2(cip_zarr_writer *w, cip_buf *b, const cip_dtype *d, cip_err *err)
{
    char *text;
    if (d->kind != CIP_RECORD) {
        CIP_TRY(cip_dtype_numpy(w->arena, d, &text, err));
        return cip_json_string(b, text, strlen(text), err);
    }
    CIP_TRY(cip_buf_puts(b, "[", err));
    for (size_t i = 0; i < d->nfield; i++) {
        CIP_TRY(cip_buf_puts(b, i == 0 ? "[" : ", [", err));
        CIP_TRY(cip_json_string(b, d->field[i].name, strlen(d->field[i].name), err));
        CIP_TRY(cip_buf_puts(b, ", ", err));
        CIP_TRY(add_type_2(w, b, d->field[i].dtype, err));
        CIP_TRY(cip_buf_puts(b, "]", err));
    }
    return cip_buf_puts(b, "]", err);
}

static cip_status add_compressor(cip_buf *b, const cip_zarr_new *n, cip_err *err)
{
    if (n->press == CIP_ZARR_ZSTD)
        return cip_buf_addf(b, err, "{\"id\": \"zstd\", \"level\": %d%s}", n->level,
                            n->checksum ? ", \"checksum\": true"
                                        : ""); /* not known to all readers */
    if (n->press == CIP_ZARR_GZIP)
        return cip_buf_addf(b, err, "{\"id\": \"gzip\", \"level\": %d}", n->level);
    if (n->press == CIP_ZARR_BLOSC)
        return cip_buf_addf(
            b, err,
            "{\"id\": \"blosc\", \"cname\": \"%s\", \"clevel\": %d, \"shuffle\": %d, "
            "\"blocksize\": %" PRIu32 "}",
            cname[n->blosc.compcode], n->blosc.level,
            n->blosc.filter[5] == CIP_BLOSC_SHUFFLE      ? 1
            : n->blosc.filter[5] == CIP_BLOSC_BITSHUFFLE ? 2
                                                         : 0,
            n->blosc.blocksize);
    return cip_buf_puts(b, "null", err);
}

static cip_status add_zarray(cip_zarr_writer *w, const cip_zarr_new *n, cip_buf *b, cip_err *err)
{
    CIP_TRY(cip_buf_puts(b, "{\"zarr_format\": 2, \"shape\": ", err));
    CIP_TRY(add_lengths(b, n->array->ndim, n->array->shape, err));
    CIP_TRY(cip_buf_puts(b, ", \"chunks\": ", err));
    CIP_TRY(add_lengths(b, n->array->ndim, n->chunk, err));
    CIP_TRY(cip_buf_puts(b, ", \"dtype\": ", err));
    CIP_TRY(add_type_2(w, b, n->dtype, err));
    CIP_TRY(cip_buf_puts(b, ", \"compressor\": ", err));
    CIP_TRY(add_compressor(b, n, err));
    CIP_TRY(cip_buf_puts(b, ", \"fill_value\": ", err));
    CIP_TRY(add_fill(w, b, n, err));
    return cip_buf_puts(b, ", \"order\": \"C\", \"filters\": null, \"dimension_separator\": \".\"}",
                        err);
}

/* --- members ---------------------------------------------------------------------------------- */

/* What is said of the array, as an object. */
static cip_status add_attributes(cip_zarr_writer *w, const walk *k, const cip_zarr_new *n,
                                 cip_buf *b, cip_err *err)
{
    if (n->dir[0] == '\0')
        return root_attributes(k, w->spec->tree, b, err);
    const cip_node *own = cip_groups_own_attributes(w->spec);
    if (own != NULL)
        return own_attributes(k, n->dir, own, b, err);
    const cip_node *attrs = cip_groups_said(k->g, n->dir, "attrs");
    return cip_node_kind(attrs) == CIP_NODE_MAP && cip_json_holds(w->env, attrs, true, 4)
               ? add_json(w, b, attrs, err)
               : cip_buf_puts(b, "{}", err);
}

static cip_status add_array(cip_zarr_writer *w, const walk *k, const cip_zarr_new *n, cip_buf *b,
                            cip_err *err)
{
    const cip_spec_array *a = n->array;
    const cip_node *dims = cip_groups_dims(k->g, n->dir, n->array);
    CIP_TRY(cip_buf_puts(b, "{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": ", err));
    CIP_TRY(add_lengths(b, a->ndim, a->shape, err));
    CIP_TRY(cip_buf_puts(b, ", \"data_type\": ", err));
    CIP_TRY(add_type(b, n->dtype, err));
    CIP_TRY(cip_buf_puts(
        b, ", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": ", err));
    CIP_TRY(add_lengths(b, a->ndim, n->outer, err));
    CIP_TRY(cip_buf_puts(b,
                         "}}, \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": "
                         "{\"separator\": \"/\"}}, \"fill_value\": ",
                         err));
    CIP_TRY(add_fill(w, b, n, err));
    CIP_TRY(cip_buf_puts(b, ", \"codecs\": ", err));
    CIP_TRY(add_all_codecs(b, n, err));
    CIP_TRY(cip_buf_puts(b, ", \"attributes\": ", err));
    CIP_TRY(add_attributes(w, k, n, b, err));
    if (dims != NULL) {
        CIP_TRY(cip_buf_puts(b, ", \"dimension_names\": ", err));
        CIP_TRY(add_json(w, b, dims, err));
    }
    return cip_buf_puts(b, "}", err);
}

cip_status cip_zarr_meta_text(cip_zarr_writer *w, const cip_zarr_new *n, cip_buf *text,
                              cip_err *err)
{
    cip_groups none = { .spec = w->spec, .arena = w->arena };
    const walk k = { .g = &none };
    return w->two ? add_zarray(w, n, text, err) : add_array(w, &k, n, text, err);
}

static cip_status put(cip_zarr_writer *w, const char *dir, const char *name, const cip_buf *text,
                      cip_err *err)
{
    const cip_segment piece[] = { { .ptr = text->ptr, .len = text->len },
                                  { .ptr = (const uint8_t *)"\n", .len = 1 } };
    char *path;
    CIP_TRY(cip_arena_printf(w->arena, &path, err, "%s%s", dir, name));
    return cip_zarr_put_file(w, path, piece, 2, err);
}

/* What all metadata together say of a member. */
typedef struct said {
    const char *key, *text;
} said;

static int by_key(const void *a, const void *b)
{
    return strcmp(((const said *)a)->key, ((const said *)b)->key);
}

/* A member, and its text among all in `map`: by its name, or of version 3 by its folder. */
static cip_status put_both(cip_zarr_writer *w, const char *dir, const char *name,
                           const cip_buf *text, cip_buf *map, cip_err *err)
{
    char *key, *copy;
    CIP_TRY(put(w, dir, name, text, err));
    if (!w->consolidated)
        return CIP_OK;
    CIP_TRY(cip_arena_printf(w->arena, &key, err, "%s%s", dir, w->two ? name : ""));
    if (!w->two)
        key[strlen(key) - 1] = '\0';
    CIP_TRY(cip_arena_copy(w->arena, text->ptr, text->len, &copy, err));
    return cip_buf_add(map, &(said){ key, copy }, sizeof(said), err);
}

/* Members of a group one behind the other: zarr-python finds others not. */
static cip_status add_map(const cip_buf *map, cip_buf *b, cip_err *err)
{
    said *at = (said *)(void *)map->ptr;
    const size_t n = map->len / sizeof *at;
    if (n > 1)
        qsort(at, n, sizeof *at, by_key);
    for (size_t i = 0; i < n; i++) {
        CIP_TRY(cip_buf_puts(b, i != 0 ? ", " : "", err));
        CIP_TRY(cip_json_string(b, at[i].key, strlen(at[i].key), err));
        CIP_TRY(cip_buf_addf(b, err, ": %s", at[i].text));
    }
    return CIP_OK;
}

static cip_status put_group(cip_zarr_writer *w, const walk *k, const char *dir, cip_buf *text,
                            cip_buf *map, cip_err *err)
{
    const cip_node *node = cip_groups_node(k->g, dir);
    text->len = 0;
    if (w->two) {
        CIP_TRY(cip_buf_puts(text, "{\"zarr_format\": 2}", err));
        CIP_TRY(put_both(w, dir, ".zgroup", text, map, err));
        text->len = 0;
        CIP_TRY(group_attributes(k, dir, node, text, err));
        return put_both(w, dir, ".zattrs", text, map, err);
    }
    CIP_TRY(
        cip_buf_puts(text, "{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": ", err));
    CIP_TRY(group_attributes(k, dir, node, text, err));
    if (dir[0] != '\0') {
        CIP_TRY(cip_buf_puts(text, "}", err));
        return put_both(w, dir, "zarr.json", text, map, err);
    }
    if (w->consolidated) {
        CIP_TRY(cip_buf_puts(text,
                             ", \"consolidated_metadata\": {\"kind\": \"inline\", "
                             "\"must_understand\": false, \"metadata\": {",
                             err));
        CIP_TRY(add_map(map, text, err));
        CIP_TRY(cip_buf_puts(text, "}}", err));
    }
    CIP_TRY(cip_buf_puts(text, "}", err));
    return put(w, dir, "zarr.json", text, err);
}

/* The names of axes are an attribute in version 2, as xarray has them. */
static cip_status put_array_2(cip_zarr_writer *w, const walk *k, const cip_zarr_new *n,
                              cip_buf *text, cip_buf *map, cip_err *err)
{
    const cip_node *dims = cip_groups_dims(k->g, n->dir, n->array);
    text->len = 0;
    CIP_TRY(add_zarray(w, n, text, err));
    CIP_TRY(put_both(w, n->dir, ".zarray", text, map, err));
    text->len = 0;
    CIP_TRY(add_attributes(w, k, n, text, err));
    if (dims != NULL) {
        text->len--; /* the brace */
        CIP_TRY(cip_buf_addf(text, err, "%s\"_ARRAY_DIMENSIONS\": ", text->len > 1 ? ", " : ""));
        CIP_TRY(add_json(w, text, dims, err));
        CIP_TRY(cip_buf_puts(text, "}", err));
    }
    return put_both(w, n->dir, ".zattrs", text, map, err);
}

static cip_status put_all(cip_zarr_writer *w, const walk *k, cip_buf *text, cip_buf *map,
                          cip_err *err)
{
    const bool alone = cip_is_alone(w->spec);
    for (size_t i = 1; i < k->g->n; i++)
        CIP_TRY(put_group(w, k, k->g->group[i], text, map, err));
    w->consolidated = w->consolidated && !alone;
    for (size_t i = 0; i < w->spec->narray; i++) {
        text->len = 0;
        if (w->two) {
            CIP_TRY(put_array_2(w, k, &w->array[i], text, map, err));
            continue;
        }
        CIP_TRY(add_array(w, k, &w->array[i], text, err));
        CIP_TRY(put_both(w, w->array[i].dir, "zarr.json", text, map, err));
    }
    if (!alone)
        CIP_TRY(put_group(w, k, "", text, map, err));
    if (!w->two || !w->consolidated)
        return CIP_OK;
    text->len = 0;
    CIP_TRY(cip_buf_puts(text, "{\"zarr_consolidated_format\": 1, \"metadata\": {", err));
    CIP_TRY(add_map(map, text, err));
    CIP_TRY(cip_buf_puts(text, "}}", err));
    return put(w, "", ".zmetadata", text, err);
}

cip_status cip_zarr_put_meta(cip_zarr_writer *w, cip_err *err)
{
    cip_buf text = { .mem = &w->env->mem }, map = { .mem = &w->env->mem };
    cip_groups g = { .spec = w->spec, .arena = w->arena, .dir = cip_zarr_dir, .holds = holds };
    cip_status st = cip_groups_find(&g, err);
    if (st == CIP_OK)
        st = put_all(w, &(walk){ &g, NULL }, &text, &map, err);
    cip_buf_clear(&text);
    cip_buf_clear(&map);
    cip_groups_clear(&g);
    return st;
}
