/* SPDX-License-Identifier: BSD-3-Clause
 * References into a file, as JSON: groups and attributes from the tree, arrays by refs_array.c. All
 * chunks of an array are looked at before any of its entries is given out, so that one that turns
 * out not to be referable leaves nothing behind. */
#include "cippus/ext/refs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/sized.h"
#include "core/reading/refs_array.h"
#include "tree/base64.h"
#include "tree/yaml.h"

enum {
    MOST_ATTRIBUTE = 64 << 10, /* bytes of one as JSON */
    MOST_NODES = 10000,        /* of the tree in one */
    PIECE = 64 << 10           /* of JSON, given out at once */
};

typedef struct refs {
    const cip_file *file;
    cip_env *env;
    cip_refs_options opt;
    cip_write_fn *fn;
    void *user;
    cip_buf out;          /* JSON that is not given out yet */
    cip_buf text;         /* the value of one, before it becomes a string */
    cip_strmap groups;    /* those given out, by paths of `arrays` */
    const cip_node *base; /* of the tree: what Zarr's root is */
    size_t base_len;      /* of the paths of arrays below it, what is not in their names */
    char name[1024];      /* the node's path below the base, as keys begin with it */
    bool any;             /* an entry is in the JSON, so that a comma goes before the next one */
    size_t narray;
    cip_refs_form form;
} refs;

/* --- entries --------------------------------------------------------------------------------- */

static cip_status stopped(cip_err *err)
{
    return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
}

/* The JSON so far, once it has `least` bytes. */
static cip_status give(refs *r, size_t least, cip_err *err)
{
    if (r->out.len < least || r->out.len == 0)
        return CIP_OK;
    if (r->fn(r->user, r->out.ptr, r->out.len) != 0)
        return stopped(err);
    r->out.len = 0;
    return CIP_OK;
}

static cip_status add_entry(refs *r, const cip_refs_entry *e, cip_err *err)
{
    if (r->opt.on_entry != NULL && r->opt.on_entry(r->opt.user, e) != 0)
        return stopped(err);
    cip_buf name = { .mem = &r->env->mem };
    cip_status st =
        cip_buf_addf(&name, err, "%s%s%s", e->node, e->node[0] != '\0' ? "/" : "", e->key);
    if (st == CIP_OK)
        st = cip_buf_puts(&r->out, r->any ? ",\n" : "{\"version\": 1, \"refs\": {\n", err);
    r->any = true;
    if (st == CIP_OK)
        st = cip_json_string(&r->out, (const char *)name.ptr, name.len, err);
    cip_buf_clear(&name);
    CIP_TRY(st == CIP_OK ? cip_buf_puts(&r->out, ": ", err) : st);
    if (e->text != NULL) {
        CIP_TRY(cip_json_string(&r->out, e->text, strlen(e->text), err));
    } else if (e->url == NULL) {
        CIP_TRY(cip_buf_puts(&r->out, "\"base64:", err));
        CIP_TRY(cip_base64_encode((cip_bytes){ e->bytes, (size_t)e->nbytes }, &r->out, err));
        CIP_TRY(cip_buf_puts(&r->out, "\"", err));
    } else {
        CIP_TRY(cip_buf_puts(&r->out, "[", err));
        CIP_TRY(cip_json_string(&r->out, e->url, strlen(e->url), err));
        CIP_TRY(cip_buf_addf(&r->out, err, ", %" PRIu64 ", %" PRIu64 "]", e->offset, e->nbytes));
    }
    return give(r, PIECE, err);
}

/* What is in r->text as an entry. */
static cip_status add_text(refs *r, const char *node, const char *key, cip_err *err)
{
    CIP_TRY(cip_buf_nul(&r->text, err));
    const cip_refs_entry e = { .node = node, .key = key, .text = (const char *)r->text.ptr };
    return add_entry(r, &e, err);
}

/* --- attributes ------------------------------------------------------------------------------ */

typedef struct finder {
    const refs *r;
    size_t nnode; /* looked at: aliases can make few bytes of YAML very many */
    bool found;
} finder;

/* cip_json_write.special: an array below makes the whole value no attribute, and so do too many
 * nodes. */
static bool is_array(void *user, const cip_node *node, const char **text)
{
    finder *x = user;
    *text = "";
    x->found =
        x->found || ++x->nnode > MOST_NODES || cip_file_array_of_node(x->r->file, node) != NULL;
    return x->found;
}

/* `"key": value`, if that is one that holds no arrays. */
static cip_status add_attribute(refs *r, const char *path, const cip_node *key,
                                const cip_node *value, bool *any, cip_err *err)
{
    size_t len;
    const char *text = cip_node_text(key, &len);
    const size_t before = r->text.len;
    finder x = { .r = r };
    const cip_json_write how = { .special = is_array, .user = &x };
    if (text == NULL || (r->base_len == 0 && path[0] == '\0' && cip_tree_is_own(r->file, text)))
        return CIP_OK;
    CIP_TRY(cip_buf_puts(&r->text, *any ? ", " : "", err));
    CIP_TRY(cip_json_string(&r->text, text, len, err));
    CIP_TRY(cip_buf_puts(&r->text, ": ", err));
    const size_t from = r->text.len;
    const cip_status st = cip_json_emit_as(r->env, value, &how, &r->text, err);
    if (st != CIP_OK && st != CIP_ERR_LIMIT)
        return st;
    if (st != CIP_OK || x.found || r->text.len - from > MOST_ATTRIBUTE)
        r->text.len = before;
    else
        *any = true;
    return CIP_OK;
}

/* What the mapping at `path` below the base holds beside its arrays. */
static cip_status add_attributes(refs *r, const char *path, cip_err *err)
{
    const cip_node *node = path[0] != '\0' ? cip_tree_get(r->base, path, NULL) : r->base;
    bool any = false;
    r->text.len = 0;
    CIP_TRY(cip_buf_puts(&r->text, "{", err));
    if (cip_node_kind(node) == CIP_NODE_MAP)
        for (size_t i = 0; i < cip_node_len(node); i++)
            CIP_TRY(add_attribute(r, path, cip_node_key(node, i), cip_node_at(node, i), &any, err));
    CIP_TRY(cip_buf_puts(&r->text, "}", err));
    return add_text(r, path, ".zattrs", err);
}

/* --- arrays ---------------------------------------------------------------------------------- */

/* .zarray is in r->text. xarray wants a name for each axis: its place and length, so that axes of
 * one name fit. */
static cip_status add_array_head(refs *r, const char *name, cip_err *err)
{
    const cip_refs_form *f = &r->form;
    CIP_TRY(add_text(r, name, ".zarray", err));
    r->text.len = 0;
    CIP_TRY(cip_buf_puts(&r->text, "{\"_ARRAY_DIMENSIONS\": [", err));
    for (int k = 0; k < f->ndim; k++)
        CIP_TRY(cip_buf_addf(&r->text, err, "%s\"dim_%d_%" PRId64 "\"", k == 0 ? "" : ", ", k,
                             f->shape[k]));
    CIP_TRY(cip_buf_puts(&r->text, "]}", err));
    return add_text(r, name, ".zattrs", err);
}

/* A cip_refs_chunk_fn: whether it can be read. What a table says lies within the file, or it is
 * not told. */
static cip_status check_chunk(void *arg, const cip_refs_chunk *c, cip_err *err)
{
    const refs *r = arg;
    uint64_t end;
    if (c->bytes.ptr != NULL)
        return CIP_OK;
    if (c->member[0] != '\0' && r->opt.members == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "its data are in other files");
    if (c->member[0] == '\0' &&
        (cip_add_overflow(c->offset, c->nbytes, &end) || end > r->file->io->size))
        return cip_fail(err, CIP_ERR_TRUNCATED, c->offset,
                        "expected a chunk of %" PRIu64 " bytes, found the end of the file",
                        c->nbytes);
    return CIP_OK;
}

/* The same: its entry, "0.1.2", or "0" of an array without axes. */
static cip_status add_chunk(void *arg, const cip_refs_chunk *c, cip_err *err)
{
    refs *r = arg;
    const cip_refs_form *f = &r->form;
    char key[24 * 32] = "0", *at = key;
    cip_refs_entry e = { .node = r->name, .key = key, .offset = c->offset, .nbytes = c->nbytes };
    for (int k = 0; k < f->ndim; k++) {
        at += sprintf(at, "%s%" PRId64, k == 0 ? "" : ".", c->index[k]);
        e.number =
            e.number * (uint64_t)((f->shape[k] - 1) / f->chunk[k] + 1) + (uint64_t)c->index[k];
    }
    r->text.len = 0;
    if (c->bytes.ptr != NULL) {
        e.bytes = c->bytes.ptr;
        e.nbytes = c->bytes.len;
    } else {
        const char *url = c->member[0] == '\0' ? r->opt.url : r->opt.members;
        CIP_TRY(cip_buf_addf(&r->text, err, "%s%s", url, c->member));
        CIP_TRY(cip_buf_nul(&r->text, err));
        e.url = (const char *)r->text.ptr;
    }
    return add_entry(r, &e, err);
}

/* *head: entries of it are given out, so that it can no longer be left out. */
static cip_status add_referred(refs *r, const cip_array *a, bool *head, cip_err *err)
{
    CIP_TRY(cip_refs_form_make(a, &r->form, err));
    CIP_TRY(cip_refs_chunks(&r->form, check_chunk, r, err));
    r->text.len = 0;
    CIP_TRY(cip_refs_zarray(&r->form, &r->text, err));
    *head = true;
    CIP_TRY(add_array_head(r, r->name, err));
    return cip_refs_chunks(&r->form, add_chunk, r, err);
}

/* All values, which are few. */
static cip_status add_inline(refs *r, const cip_array *a, bool *head, cip_err *err)
{
    static const int64_t first[CIP_MAX_NDIM];
    cip_buf b = { .mem = &r->env->mem };
    uint8_t *at;
    CIP_TRY(cip_refs_form_inline(a, &r->form, err));
    if (r->form.nbytes > r->opt.inline_nbytes)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "its chunks are too long to be embedded");
    r->text.len = 0;
    CIP_TRY(cip_refs_zarray(&r->form, &r->text, err));
    cip_status st = cip_buf_reserve(&b, (size_t)r->form.nbytes + 1, &at, err);
    if (st == CIP_OK && r->form.nbytes != 0)
        st = cip_read(a, NULL, r->form.dtype, at, (size_t)r->form.nbytes, err);
    if (st == CIP_OK) {
        *head = true;
        st = add_array_head(r, r->name, err);
    }
    if (st == CIP_OK && r->form.nbytes != 0) {
        const cip_refs_chunk all = { .index = first, .bytes = { at, (size_t)r->form.nbytes } };
        st = add_chunk(r, &all, err);
    }
    cip_buf_clear(&b);
    return st;
}

/* --- the file -------------------------------------------------------------------------------- */

static cip_status told(const refs *r, cip_status code, const char *path, const char *kind,
                       const cip_err *why, cip_err *err)
{
    char text[sizeof why->text];
    snprintf(text, sizeof text, "%s: %.200s", kind, why->text);
    const cip_finding f = { .severity = code == CIP_OK ? CIP_NOTE : CIP_WARN,
                            .code = code,
                            .offset = why->offset,
                            .part = path[0] != '\0' ? path : ".",
                            .text = text };
    if (r->opt.on_finding == NULL || r->opt.on_finding(r->opt.user, &f) == 0)
        return CIP_OK;
    return stopped(err);
}

/* The array's entries, or all of its values; *why is what stands in the way of the first, or of
 * both. */
static cip_status add_either(refs *r, const cip_array *a, bool *head, bool *written_out,
                             cip_err *why)
{
    cip_err why_not = CIP_ERR_INIT;
    /* Each step as a name that Zarr's stores take; the only array of a file is "data". */
    const char *path = a->path[0] != '\0' ? a->path + r->base_len : "data", *end;
    if (strlen(path) >= sizeof r->name)
        return cip_fail(why, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "its path is too long");
    for (const char *step = path; step != NULL; step = *end != '\0' ? end + 1 : NULL) {
        end = step + strcspn(step, "/");
        if (end == step || step[0] == '.')
            return cip_fail(why, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "Zarr does not allow that name");
    }
    strcpy(r->name, path);
    cip_status st = add_referred(r, a, head, why);
    if (st != CIP_ERR_UNSUPPORTED || r->opt.inline_nbytes == 0 || *head)
        return st;
    const cip_status inl = add_inline(r, a, head, &why_not);
    *written_out = inl == CIP_OK;
    if (*head && inl != CIP_OK)
        cip_err_pass(why, &why_not);
    return *head ? inl : st;
}

/* One array with the groups around it. What is wrong with it, not with the system, is told, unless
 * it is the only one that is wanted. */
static cip_status add_array(refs *r, const cip_array *a, bool only, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    bool written_out = false, head = false;
    const cip_status st = add_either(r, a, &head, &written_out, &why);
    if (st == CIP_OK) {
        r->narray++;
        /* The groups around the array at r->name, of which `path` lives longer, as far as they were
         * not given out yet. */
        for (char *slash = r->name; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
            const cip_bytes key = { (const uint8_t *)(a->path + r->base_len),
                                    (size_t)(slash - r->name) };
            size_t was;
            CIP_TRY(cip_strmap_put(&r->groups, key, 1, &was, err));
            *slash = '\0';
            if (was != SIZE_MAX)
                continue;
            r->text.len = 0;
            CIP_TRY(cip_buf_puts(&r->text, "{\"zarr_format\": 2}", err));
            CIP_TRY(add_text(r, r->name, ".zgroup", err));
            CIP_TRY(add_attributes(r, r->name, err));
        }
        return written_out ? told(r, CIP_OK, a->path, "embedded", &why, err) : CIP_OK;
    }
    if (!only && !head && st != CIP_ERR_NOMEM && st != CIP_ERR_IO && st != CIP_ERR_CANCELLED)
        return told(r, st, a->path, "left out", &why, err);
    cip_err_pass(err, &why);
    return cip_fail_in(err, st, "%s", a->path);
}

/* What opts.path names: an array, or a mapping with arrays below it. NULL in *only: the latter. */
static cip_status take_path(refs *r, const cip_array **only, cip_err *err)
{
    const cip_node *tree = cip_file_tree(r->file);
    const char *path = r->opt.path;
    cip_err why = CIP_ERR_INIT;
    r->base = tree;
    *only = NULL;
    if (path == NULL)
        return CIP_OK;
    path += path[0] == '/';
    const cip_node *node = cip_tree_get(tree, path, NULL);
    if (cip_node_kind(node) == CIP_NODE_MAP && cip_array_of_node(r->file, node) == NULL) {
        r->base = node;
        r->opt.path = path;
        r->base_len = path[0] != '\0' ? strlen(path) + 1 : 0;
        return CIP_OK;
    }
    *only = cip_find(r->file, path, &why);
    if (*only == NULL)
        return cip_err_give(err, &why, (cip_status)why.code);
    const char *slash = strrchr((*only)->path, '/');
    r->base_len = slash != NULL ? (size_t)(slash - (*only)->path) + 1 : 0;
    r->base = cip_array_parent(r->file, *only);
    return CIP_OK;
}

/* Whether it is one of those asked for, and by its own path. */
static bool is_wanted(const refs *r, const cip_array *a)
{
    const size_t n = r->base_len;
    if (a->path[0] == '\0')
        return cip_file_narray(r->file) == 1 && n == 0;
    if (n != 0 && (strncmp(a->path, r->opt.path, n - 1) != 0 || a->path[n - 1] != '/'))
        return false;
    for (const char *slash = a->path; (slash = strchr(slash, '/')) != NULL; slash++)
        if (cip_file_array_at(r->file, a->path, (size_t)(slash - a->path)) != NULL)
            return false; /* it lies below another one, as the value of a quantity */
    return true;
}

static cip_status write_all(refs *r, cip_err *err)
{
    const cip_array *only, *a;
    size_t at = 0;
    CIP_TRY(take_path(r, &only, err));
    CIP_TRY(cip_buf_puts(&r->text, "{\"zarr_format\": 2}", err));
    CIP_TRY(add_text(r, "", ".zgroup", err));
    CIP_TRY(add_attributes(r, "", err));
    if (only != NULL)
        CIP_TRY(add_array(r, only, true, err));
    while (only == NULL && (a = cip_file_next_array(r->file, NULL, &at)) != NULL)
        if (is_wanted(r, a))
            CIP_TRY(add_array(r, a, false, err));
    if (r->narray == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the file has no array that references can describe");
    CIP_TRY(cip_buf_puts(&r->out, "\n}}\n", err));
    return give(r, 1, err);
}

cip_status cip_refs_write(const cip_file *f, const cip_refs_options *opts, cip_write_fn *fn,
                          void *user, cip_err *err)
{
    err = cip_err_enter(err);
    CIP_TRY(cip_arg_given(f, "a file", err));
    CIP_TRY(cip_arg_given((const void *)(uintptr_t)fn, "a function", err));
    refs r = { .file = f, .env = f->layout->env, .fn = fn, .user = user };
    CIP_TRY(CIP_SIZED_TAKE(cip_refs_options, opts, &r.opt, err));
    CIP_TRY(cip_arg_given(r.opt.url, "the file's url", err));
    CIP_TRY(cip_file_has_bytes(f, err));
    if (f->overlay != NULL)
        return cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                        "an update was interrupted: what it changed is not in the file itself");
    r.out.mem = r.text.mem = r.groups.mem = &r.env->mem;
    cip_status st = write_all(&r, err);
    cip_buf_clear(&r.out);
    cip_buf_clear(&r.text);
    cip_strmap_clear(&r.groups);
    return st;
}
