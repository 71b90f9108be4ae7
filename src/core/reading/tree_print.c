/* SPDX-License-Identifier: BSD-3-Clause
 * Printing the metadata tree: arrays in one line, everything else as YAML or JSON. */
#include <string.h>

#include "core/handle.h"
#include "base/sized.h"
#include "tree/yaml.h"

typedef struct printer {
    const cip_file *file;
    cip_buf line;
    bool failed;
    const char *open, *close; /* around an array's line */
} printer;

static cip_status describe(const cip_array *a, const printer *p, cip_buf *b, cip_err *err)
{
    CIP_TRY(cip_buf_addf(b, err, "%s", p->open));
    /* A type's name, with the quote (0: none) that it will stand in doubled. */
    const char *name = cip_dtype_name(a->dtype);
    for (; *name != '\0'; name++) {
        CIP_TRY(cip_buf_add(b, name, 1, err));
        if (*name == p->close[0])
            CIP_TRY(cip_buf_add(b, name, 1, err));
    }
    CIP_TRY(cip_buf_addf(b, err, " ["));
    for (int32_t d = 0; d < a->view.ndim; d++)
        CIP_TRY(cip_buf_addf(b, err, "%s%" PRId64, d == 0 ? "" : ", ", a->view.shape[d]));
    CIP_TRY(cip_buf_addf(b, err, "] %s",
                         a->storage.kind != CIP_STORAGE_UNSAID ? cip_storage_text(&a->storage)
                                                               : "array"));
    if (a->storage.codec != NULL && strcmp(a->storage.codec, "none") != 0)
        CIP_TRY(cip_buf_addf(b, err, " %s", a->storage.codec));
    if (a->mask.kind != CIP_MASK_NONE || a->mask.nfield != 0)
        CIP_TRY(cip_buf_addf(b, err, " masked"));
    if (a->st != CIP_OK)
        CIP_TRY(cip_buf_addf(b, err, " (%s)", cip_status_name(a->st)));
    CIP_TRY(cip_buf_addf(b, err, "%s", p->close));
    return cip_buf_nul(b, err);
}

static bool array_in_one_line(void *user, const cip_node *node, const char **text)
{
    printer *p = user;
    const cip_array *a = cip_file_array_of_node(p->file, node);
    if (a == NULL)
        return false;
    p->line.len = 0;
    if (describe(a, p, &p->line, NULL) != CIP_OK) {
        p->failed = true; /* out of memory: the caller learns it below */
        return false;
    }
    *text = (const char *)p->line.ptr;
    return true;
}

static cip_status emit(const cip_file *f, const cip_node *node, const cip_tree_print_options *o,
                       cip_buf *out, cip_err *err)
{
    cip_env *env = f->layout->env;
    printer p = { .file = f, .line = { .mem = &env->mem } };
    p.open = o->json ? "array " : "!array '";
    p.close = o->json ? "" : "'";
    cip_status st;
    if (o->json) {
        cip_json_write how = { .max_depth = o->depth, .user = &p };
        how.special = o->arrays_as_nodes ? NULL : array_in_one_line;
        st = cip_json_emit_as(env, node, &how, out, err);
        if (st == CIP_OK)
            st = cip_buf_add(out, "\n", 1, err);
    } else {
        cip_yaml_write how = { .max_depth = o->depth, .user = &p };
        how.handle_prefix = f->format->tag_prefix;
        how.special = o->arrays_as_nodes ? NULL : array_in_one_line;
        st = cip_yaml_emit(env, node, &how, out, err);
    }
    cip_buf_clear(&p.line);
    if (st == CIP_OK && p.failed)
        st = cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "no memory for an array's line");
    return st;
}

cip_status cip_tree_print(const cip_file *f, const cip_node *node,
                          const cip_tree_print_options *opts, cip_write_fn *fn, void *user,
                          cip_err *err)
{
    err = cip_err_enter(err);
    cip_tree_print_options o;
    if (f == NULL || fn == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a file and a function, found NULL");
    CIP_TRY(CIP_SIZED_TAKE(cip_tree_print_options, opts, &o, err));
    CIP_TRY(cip_sized_value("cip_tree_print_options.reserved", o.reserved, 0, err));
    if (node == NULL)
        node = f->layout->tree;
    if (node == NULL)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "the file has no metadata tree");
    cip_buf out = { .mem = &f->layout->env->mem };
    cip_status st = emit(f, node, &o, &out, err);
    if (st == CIP_OK && fn(user, out.ptr, out.len) != 0)
        st = cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
    cip_buf_clear(&out);
    return st;
}

bool cip_tree_is_own(const cip_file *f, const char *path)
{
    if (f == NULL || path == NULL)
        return false;
    return cip_is_word_of(f->format->origin_keys, path, strlen(path)) ||
           cip_is_word_of(f->format->form_keys, path, strlen(path));
}

typedef struct visitor {
    cip_visit_fn *fn;
    void *user;
} visitor;

static int visit(void *user, const cip_visit *v)
{
    const visitor *w = user;
    int r = w->fn(w->user, v->path, v->node, v->depth);
    return r == 0 && v->again ? 1 : r;
}

cip_status cip_tree_visit(const cip_file *f, const cip_node *node, cip_visit_fn *fn, void *user,
                          cip_err *err)
{
    err = cip_err_enter(err);
    visitor w = { fn, user };
    if (f == NULL || fn == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a file and a function, found NULL");
    if (node == NULL)
        node = f->layout->tree;
    return node == NULL ? CIP_OK : cip_tree_walk(node, f->layout->env, visit, &w, err);
}

cip_status cip_file_query(const cip_file *f, cip_write_fn *fn, void *user, cip_err *err)
{
    err = cip_err_enter(err);
    if (f == NULL || fn == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a file and a function, found NULL");
    CIP_TRY(cip_file_has_bytes(f, err));
    if (f->format->query == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%s files have no query form",
                        f->format->title);
    cip_buf out = { .mem = &f->layout->env->mem };
    cip_status st = f->format->query(f->layout, &out, err);
    if (st == CIP_OK && fn(user, out.ptr, out.len) != 0)
        st = cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
    cip_buf_clear(&out);
    return st;
}
