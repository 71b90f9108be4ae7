/* SPDX-License-Identifier: BSD-3-Clause
 * A folder that is there changes: the attributes, in files of JSON that are written anew; arrays
 * and columns, in the form that the folder has. The commit makes one step of all files. */
#include "format/blz/blz_update.h"

#include <string.h>

#include "base/num.h"
#include "format/one_array.h"
#include "tree/node.h"

#define OLD "__attrs__" /* where the old programs have the attributes */

cip_status cip_blz_attributes_of(cip_blz_state *u, const char *path, const char **out, cip_err *err)
{
    const char *step[2] = { u->b->key[1], path };
    cip_buf text = { .mem = &u->env->mem };
    cip_status st = CIP_OK;
    char *copy = NULL;
    for (size_t k = 0; k < 2 && st == CIP_OK; k++)
        st = cip_path_add(&text, (cip_bytes){ (const uint8_t *)step[k], strlen(step[k]) }, err);
    if (st == CIP_OK)
        st = cip_arena_copy(u->arena, text.ptr, text.len, &copy, err);
    cip_buf_clear(&text);
    *out = copy;
    return st;
}

cip_status cip_blz_update_begin(cip_blz_state *u, cip_err *err)
{
    const cip_node *tree = u->b->layout->tree;
    if (tree != NULL)
        CIP_TRY(cip_build_set(&u->tree, "", tree, err));
    CIP_TRY(CIP_ARENA_NEW(u->arena, &u->column, u->b->ncolumn, err));
    CIP_TRY(CIP_ARENA_NEW(u->arena, &u->found, u->b->ncolumn, err));
    for (size_t i = 0; i < u->b->ncolumn; i++) {
        u->found[i] = -1;
        if (u->b->table)
            CIP_TRY(cip_blz_attributes_of(u, u->b->column[i]->array->path, &u->column[i].attributes,
                                          err));
    }
    return CIP_OK;
}

/* --- back to where it was --------------------------------------------------------------------- */

cip_status cip_blz_update_mark(void *state, void **at, cip_err *err)
{
    (void)at;
    return cip_blz_keep(state, err);
}

cip_status cip_blz_keep(cip_blz_state *u, cip_err *err)
{
    cip_build_mark(&u->tree);
    return cip_undo_keep(u->undo, u, sizeof *u, err);
}

/* The array that is changed may get another space, and rows that meta/sizes does not know. */
cip_status cip_blz_keep_column(cip_blz_state *u, size_t column, cip_err *err)
{
    if (column >= u->b->ncolumn) {
        cip_blz_came *const came = &u->came[column - u->b->ncolumn];
        return cip_undo_keep(u->undo, came, sizeof *came, err);
    }
    const cip_blz_column *c = u->b->column[column];
    cip_array *const array = c->rows != NULL ? c->rows : c->array;
    CIP_TRY(cip_undo_keep(u->undo, array, sizeof *array, err));
    return cip_undo_keep(u->undo, &u->column[column], sizeof u->column[column], err);
}

/* --- attributes ------------------------------------------------------------------------------- */

/* *depth: steps from the mapping of all attributes of an array; 0: the path is that mapping's. */
static cip_status expect_attribute(const cip_blz_state *u, const char *path, size_t *depth,
                                   cip_err *err)
{
    const cip_blz *b = u->b;
    const char *of = cip_path_within(path, b->key[0]) ? b->key[0] : NULL;
    for (size_t i = 0; b->table && of == NULL && i < b->ncolumn + u->ncame; i++) {
        const char *own =
            i < b->ncolumn ? u->column[i].attributes : u->came[i - b->ncolumn].attributes;
        of = cip_blz_name_now(u, i) != NULL && cip_path_within(path, own) ? own : NULL;
    }
    if (of == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an attribute, as %s/NAME%s%s%s, found '%.120s'", b->key[0],
                        b->table ? " or " : "", b->table ? b->key[1] : "",
                        b->table ? "/COLUMN/NAME" : "", path);
    *depth = 0;
    for (const char *p = path + strlen(of); *p != '\0'; p++)
        *depth += *p == '/';
    return CIP_OK;
}

static cip_status expect_mapping(const cip_node *value, cip_err *err)
{
    return value->type == CIP_NODE_MAP
               ? CIP_OK
               : cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                          "expected a mapping as the attributes, found another value");
}

cip_status cip_blz_update_set(void *state, const char *path, const cip_node *value, cip_err *err)
{
    cip_blz_state *u = state;
    size_t depth;
    CIP_TRY(expect_attribute(u, path, &depth, err));
    if (depth == 0)
        CIP_TRY(expect_mapping(value, err));
    if (!cip_json_holds(u->env, value, true, depth))
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "expected a value that JSON can hold, found a tag, a time, bytes, keys that are not "
            "text, an integer of over %d digits, or collections nested more than %d levels deep",
            CIP_JSON_DIGITS, CIP_JSON_DEPTH);
    u->tree_changed = true;
    return cip_build_set(&u->tree, path, value, err);
}

/* A path of attributes is none of a field. */
static bool is_field(const cip_blz_state *u, const char *path, cip_blz_found *out)
{
    return u->b->document && !cip_path_within(path, u->b->key[0]) &&
           cip_blz_find_field(u, path, out);
}

cip_status cip_blz_update_remove(void *state, const char *path, cip_err *err)
{
    cip_blz_state *u = state;
    size_t depth;
    const size_t n = u->b->ncolumn + u->ncame, column = cip_blz_find_column(u, path);
    cip_blz_found field;
    if (column < n)
        return cip_blz_remove_column(u, column, false, err);
    if (is_field(u, path, &field))
        return cip_blz_remove_field(u, &field, false, err);
    CIP_TRY(expect_attribute(u, path, &depth, err));
    u->tree_changed = true;
    return cip_build_remove(&u->tree, path, err);
}

cip_status cip_blz_update_move(void *state, const char *from, const char *to, bool replace,
                               cip_err *err)
{
    cip_blz_state *u = state;
    size_t depth;
    const size_t n = u->b->ncolumn + u->ncame, column = cip_blz_find_column(u, from);
    cip_blz_found field;
    if (column < n)
        return cip_blz_move_column(u, column, to, err);
    if (is_field(u, from, &field))
        return cip_blz_move_field(u, &field, from, to, err);
    CIP_TRY(expect_attribute(u, from, &depth, err));
    CIP_TRY(expect_attribute(u, to, &depth, err));
    const cip_node *node = cip_tree_get(u->tree.root, from, err);
    if (node == NULL)
        return CIP_ERR_NOT_FOUND;
    if (cip_path_within(to, from))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.120s' is inside the moved node", to);
    if (!replace && cip_tree_get(u->tree.root, to, NULL) != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.120s' exists", to);
    if (depth == 0)
        CIP_TRY(expect_mapping(node, err));
    cip_node *before = cip_build_mark(&u->tree);
    cip_status st = cip_build_remove(&u->tree, from, err);
    if (st == CIP_OK)
        st = cip_build_set(&u->tree, to, node, err);
    if (st != CIP_OK)
        cip_build_return(&u->tree, before);
    u->tree_changed = u->tree_changed || st == CIP_OK;
    return st;
}

cip_status cip_blz_update_tree_now(void *state, const cip_node **root, cip_err *err)
{
    const cip_blz_state *u = state;
    (void)err;
    *root = u->tree.root;
    return CIP_OK;
}

static cip_status put_text(cip_blz_state *u, cip_revision *r, const char *path, cip_bytes text,
                           cip_err *err)
{
    cip_layout *l = u->b->layout;
    cip_err why = CIP_ERR_INIT;
    cip_revision *as;
    cip_io *known;
    cip_status st = cip_io_open_beneath(l->io, path, cip_blz_flags(l), &known, &why);
    if (st != CIP_OK && st != CIP_ERR_NOT_FOUND)
        return cip_fail(err, st, why.offset, "%s", why.text);
    if (st == CIP_OK) {
        st = cip_revision_replace(r, path, known, &as, err);
        cip_io_close(known);
    } else {
        st = cip_revision_make(r, path, &as, err);
    }
    return st == CIP_OK ? cip_revision_bytes(as, text.ptr, text.len, err) : st;
}

cip_status cip_blz_put_json(cip_blz_state *u, cip_revision *r, const char *path,
                            const cip_node *value, cip_err *err)
{
    cip_buf text = { .mem = &u->env->mem };
    cip_status st = cip_blz_node_json(u->env, value, &text, err);
    if (st == CIP_OK)
        st = put_text(u, r, path, (cip_bytes){ text.ptr, text.len }, err);
    cip_buf_clear(&text);
    return cip_fail_in(err, st, "%s", path);
}

cip_status cip_blz_put_sizes(cip_blz_state *u, size_t column, int64_t rows, uint64_t itemsize,
                             const int64_t *cbytes, cip_revision *r, cip_err *err)
{
    const cip_blz_column *c = u->b->column[column];
    int64_t shape[CIP_MAX_NDIM];
    cip_build b = { .arena = u->arena };
    cip_node *seq, *n;
    uint64_t nelem;
    const char *dir;
    char *path;
    memcpy(shape, c->meta.shape, sizeof shape);
    shape[0] = rows;
    CIP_TRY(cip_build_set(&b, "", c->meta.sizes, err));
    CIP_TRY(cip_node_new_seq(u->arena, (size_t)c->meta.ndim, &seq, err));
    for (int32_t k = 0; k < c->meta.ndim; k++) {
        CIP_TRY(cip_node_new_int(u->arena, shape[k], &n, err));
        cip_node_set_item(seq, (size_t)k, n);
    }
    CIP_TRY(cip_build_set(&b, "shape", seq, err));
    cip_shape_nelem(c->meta.ndim, shape, &nelem); /* its chunks were made, or are there */
    CIP_TRY(cip_node_new_uint(u->arena, nelem * itemsize, &n, err));
    CIP_TRY(cip_build_set(&b, "nbytes", n, err));
    if (cbytes != NULL) {
        CIP_TRY(cip_node_new_int(u->arena, *cbytes, &n, err));
        CIP_TRY(cip_build_set(&b, "cbytes", n, err));
    }
    CIP_TRY(cip_blz_dir_now(u, column, &dir, err));
    CIP_TRY(cip_arena_printf(u->arena, &path, err, "%smeta/sizes", c->document ? "" : dir));
    CIP_TRY(cip_blz_put_json(u, r, path, b.root, err));
    return cip_revision_switch(r, path, err);
}

static cip_status is_same(cip_blz_state *u, const cip_node *a, const cip_node *b, bool *same,
                          cip_err *err)
{
    cip_buf one = { .mem = &u->env->mem }, other = { .mem = &u->env->mem };
    cip_status st = cip_blz_node_json(u->env, a, &one, err);
    if (st == CIP_OK)
        st = cip_blz_node_json(u->env, b, &other, err);
    *same = st == CIP_OK && one.len == other.len && memcmp(one.ptr, other.ptr, one.len) == 0;
    cip_buf_clear(&one);
    cip_buf_clear(&other);
    return st;
}

/* Those that a file holds, which must have been read: what is damaged is not written over. They
 * were at `from` and are at `path`, and the file `file` becomes `to`. */
static cip_status put_attributes(cip_blz_state *u, cip_revision *r, const char *file,
                                 const char *from, const char *to, const char *path, cip_err *err)
{
    const cip_node *was = cip_tree_get(u->b->layout->tree, from, NULL),
                   *now = cip_tree_get(u->tree.root, path, NULL), *found;
    cip_err why = CIP_ERR_INIT;
    cip_node *none;
    bool same;
    CIP_TRY(cip_node_new_map(u->arena, 0, &none, err));
    was = was != NULL ? was : none;
    now = now != NULL ? now : none;
    CIP_TRY(is_same(u, was, now, &same, err));
    if (same)
        return CIP_OK;
    cip_status st = cip_blz_json(u->b->layout, file, &found, &why);
    if (st == CIP_OK && found->type != CIP_NODE_MAP)
        st = cip_fail(&why, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a JSON object");
    if (st != CIP_OK && st != CIP_ERR_NOT_FOUND)
        return cip_fail_in(err, cip_fail(err, st, why.offset, "%s", why.text), "%s", file);
    return cip_blz_put_json(u, r, to, now, err);
}

/* A folder without data files is the old programs' by its attributes alone. */
static cip_status keep_form(cip_blz_state *u, cip_revision *r, cip_err *err)
{
    const cip_blz *b = u->b;
    const cip_chunk_changes *x = b->table || b->document ? NULL : u->column[0].chunks;
    cip_err why = CIP_ERR_INIT;
    cip_node *none;
    cip_io *io;
    if (x == NULL || cip_chunk_changes_count(x) != 0 || cip_tree_get(u->tree.root, b->key[0], NULL))
        return CIP_OK;
    cip_status st = cip_io_open_beneath(b->layout->io, OLD, cip_blz_flags(b->layout), &io, &why);
    if (st == CIP_OK)
        cip_io_close(io);
    if (st != CIP_ERR_NOT_FOUND)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(u->arena, 0, &none, err));
    return cip_blz_put_json(u, r, OLD, none, err);
}

static cip_status finish_attributes(cip_blz_state *u, cip_revision *r, cip_err *err)
{
    const cip_blz *b = u->b;
    CIP_TRY(keep_form(u, r, err));
    if (!u->tree_changed)
        return CIP_OK;
    const char *own = b->document ? "meta/attributes" : OLD;
    CIP_TRY(put_attributes(u, r, own, b->key[0], own, b->key[0], err));
    for (size_t i = 0; b->table && i < b->ncolumn; i++) {
        const char *from, *dir;
        char *file, *to;
        if (u->column[i].gone)
            continue;
        CIP_TRY(cip_blz_dir_now(u, i, &dir, err));
        CIP_TRY(cip_blz_attributes_of(u, b->column[i]->array->path, &from, err));
        CIP_TRY(cip_arena_printf(u->arena, &file, err, "%s%s", b->column[i]->dir, OLD));
        CIP_TRY(cip_arena_printf(u->arena, &to, err, "%s%s", dir, OLD));
        CIP_TRY(put_attributes(u, r, file, from, to, u->column[i].attributes, err));
    }
    return CIP_OK;
}

/* --- arrays ----------------------------------------------------------------------------------- */

/* Columns are asked for in order, so that the one behind the last is looked at first. */
static size_t column_of(cip_blz_state *u, const cip_array *a)
{
    const cip_blz *b = u->b;
    for (size_t k = 0; k < b->ncolumn; k++) {
        const size_t i = (u->at + k) % b->ncolumn;
        if ((b->document ? b->column[i]->rows : b->column[i]->array) == a) {
            u->at = i;
            return i;
        }
    }
    return b->ncolumn;
}

cip_status cip_blz_update_form(void *state, const cip_array *a, cip_change_kind kind,
                               const int64_t *shape, cip_change_form *out, cip_err *err)
{
    cip_blz_state *u = state;
    const size_t i = column_of(u, a);
    const cip_blz_new *came = i == u->b->ncolumn ? cip_blz_find_came(u, a) : NULL;
    if (i == u->b->ncolumn && came == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "arrays stored in this form cannot be changed");
    if (came == NULL && (u->column[i].gone || u->moved.depth != 0))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a field was moved or removed in this update; commit it first");
    if ((came != NULL ? came->row : u->b->column[i]->meta.row) == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected rows of at least one byte, found rows of none");
    for (int32_t k = 1; shape != NULL && k < a->view.ndim; k++)
        if (shape[k] != a->view.shape[k])
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "only the first axis can change its length: found %" PRId64
                            " along axis %d, not %" PRId64,
                            shape[k], (int)k, a->view.shape[k]);
    if (came != NULL) {
        out->form = came->form;
        return CIP_OK;
    }
    CIP_TRY(cip_blz_keep_column(u, i, err));
    return (u->b->document ? cip_blz_document_form : cip_blz_files_form)(u, i, kind, shape, out,
                                                                         err);
}

cip_status cip_blz_update_chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    cip_blz_state *u = state;
    const size_t i = column_of(u, cip_chunk_changes_array(c));
    (void)err;
    if (i < u->b->ncolumn)
        u->column[i].chunks = c;
    else
        cip_blz_find_came(u, cip_chunk_changes_array(c))->changes = c;
    return CIP_OK;
}

const char *cip_blz_name_now(const cip_blz_state *u, size_t column)
{
    const size_t n = u->b->ncolumn;
    if (column >= n)
        return u->came[column - n].gone ? NULL : u->came[column - n].name;
    const cip_blz_changed *x = &u->column[column];
    return x->gone ? NULL : x->name != NULL ? x->name : u->b->column[column]->array->path;
}

cip_status cip_blz_dir_now(const cip_blz_state *u, size_t column, const char **out, cip_err *err)
{
    char *dir;
    *out = u->b->column[column]->dir;
    if (u->column[column].name == NULL)
        return CIP_OK;
    CIP_TRY(cip_arena_printf(u->arena, &dir, err, "%s/", u->column[column].name));
    *out = dir;
    return CIP_OK;
}

cip_status cip_blz_order(const cip_blz_state *u, size_t **out, size_t *n, cip_err *err)
{
    const size_t old = u->b->ncolumn, all = old + u->ncame;
    CIP_TRY(CIP_ARENA_NEW(u->arena, out, all, err));
    *n = 0;
    for (size_t i = 0; i < all; i++) {
        if (i >= old && u->came[i - old].place != SIZE_MAX)
            continue; /* it follows the one whose place it has */
        for (size_t at = i, j; at != SIZE_MAX; at = j < u->ncame ? old + j : SIZE_MAX) {
            if (cip_blz_name_now(u, at) != NULL)
                (*out)[(*n)++] = at;
            for (j = 0; j < u->ncame && u->came[j].place != at; j++)
                ;
        }
    }
    return CIP_OK;
}

bool cip_blz_rows_now(const cip_blz_state *u, size_t column, int64_t *rows)
{
    if (column >= u->b->ncolumn) {
        const cip_blz_came *came = &u->came[column - u->b->ncolumn];
        const cip_chunk_changes *c = came->x->w.column[0].changes;
        *rows = c != NULL ? cip_chunk_changes_shape(c)[0] : came->x->array.shape[0];
        return !came->gone;
    }
    const cip_blz_column *c = u->b->column[column];
    const cip_blz_changed *x = &u->column[column];
    *rows = x->chunks != NULL ? cip_chunk_changes_shape(x->chunks)[0] : c->meta.shape[0];
    return !x->gone && (c->array->st == CIP_OK || c->meta.objects);
}

/* --- records ---------------------------------------------------------------------------------- */

static cip_status see_table(cip_blz_state *u, cip_array *records, cip_err *err)
{
    cip_blz_part *part;
    size_t n, *order;
    CIP_TRY(cip_blz_order(u, &order, &n, err));
    CIP_TRY(CIP_ARENA_NEW(u->arena, &part, n, err));
    for (size_t k = 0; k < n; k++) {
        const size_t i = order[k];
        const bool came = i >= u->b->ncolumn;
        char *name;
        CIP_TRY(
            cip_blz_column_name(u->arena, cip_blz_name_now(u, i), CIP_BLZ_DOCUMENT, &name, err));
        part[k] = (cip_blz_part){ name, came ? u->came[i - u->b->ncolumn].x->w.column[0].rows
                                             : u->b->column[i]->array };
    }
    return cip_blz_make_records(u->b->layout, part, n, records, err);
}

/* The columns of the document's records in the order of the fields that are left and came. */
typedef struct leaves {
    cip_blz_state *u;
    const cip_array **rows;
    size_t n, at;
    cip_record_column *column;
    uint64_t nparts;
} leaves;

static cip_status add_leaf(leaves *x, const cip_dtype *d, const cip_blz_piece *p, cip_err *err)
{
    if (d->kind != CIP_RECORD) {
        cip_record_column *c = &x->column[x->at];
        CIP_TRY(cip_blz_make_parts(x->u->arena, p, &x->nparts, c, err));
        if (c->row == 0) /* it has no column */
            return CIP_OK;
        c->array = x->rows[x->at++];
        c->in = c->array->space;
    }
    for (size_t i = 0; i < d->nfield; i++) { /* records nest at most 32 deep */
        cip_blz_piece own = *p;
        CIP_TRY(cip_blz_enter_field(&d->field[i], &own, err));
        CIP_TRY(add_leaf(x, d->field[i].dtype, &own, err));
    }
    return CIP_OK;
}

static cip_status see_document(cip_blz_state *u, cip_array *records, cip_err *err)
{
    const cip_node *dtype;
    cip_blz_meta now;
    leaves x = { .u = u };
    uint64_t nrecord;
    size_t n = u->b->ncolumn;
    CIP_TRY(cip_blz_fields_now(u, &dtype, &now, err));
    for (size_t i = 0; i < u->ncame; i++)
        n += u->came[i].x->w.ncolumn;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &x.rows, n, err));
    CIP_TRY(CIP_ARENA_NEW(u->arena, &x.column, n + 1, err));
    for (size_t i = 0; i < u->b->ncolumn; i++)
        if (!u->column[i].gone && u->b->column[i]->rows != NULL)
            x.rows[x.n++] = u->b->column[i]->rows;
    for (size_t i = 0; i < u->ncame; i++)
        for (size_t k = 0; k < u->came[i].x->w.ncolumn && !u->came[i].gone; k++)
            x.rows[x.n++] = u->came[i].x->w.column[k].rows;
    CIP_TRY(add_leaf(&x, now.dtype, &(cip_blz_piece){ .len = now.dtype->itemsize }, err));
    now.shape[0] = INT64_MAX;
    for (size_t i = 0; i < x.n; i++)
        if (x.rows[i]->view.shape[0] < now.shape[0])
            now.shape[0] = x.rows[i]->view.shape[0];
    records->dtype = now.dtype;
    CIP_TRY(cip_view_c_order(now.ndim, now.shape, now.dtype->itemsize, &records->view, err));
    cip_shape_nelem(now.ndim, now.shape, &nrecord); /* no more than there were */
    return cip_space_new_records(u->b->layout, nrecord, now.dtype->itemsize, x.column, x.n,
                                 &records->space, err);
}

/* A copy under a path of its own, so that it is known from the file's. */
cip_status cip_blz_update_records(void *state, const cip_array *a, const cip_array **out,
                                  cip_err *err)
{
    cip_blz_state *u = state;
    bool changed = cip_blz_changes_fields(u);
    cip_array *r;
    char *path;
    for (size_t i = 0; u->b->table && i < u->b->ncolumn; i++)
        changed = changed || u->column[i].gone || u->column[i].name != NULL;
    *out = changed ? u->records : a;
    if (*out != NULL)
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &r, 1, err));
    CIP_TRY(cip_arena_copy(u->arena, "", 0, &path, err));
    *r = *a;
    r->path = path;
    r->was = a;
    r->st = CIP_OK;
    r->unwritten = NULL;
    r->packed[0] = r->packed[1] = NULL;
    CIP_TRY((u->b->document ? see_document : see_table)(u, r, err));
    *out = u->records = r;
    return CIP_OK;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* Columns that were of one length stay so. */
static cip_status check_lengths(const cip_blz_state *u, cip_err *err)
{
    const cip_blz *b = u->b;
    int64_t was = 0, now = 0;
    const char *name = NULL;
    for (size_t i = 0; i < b->ncolumn; i++) {
        const int64_t before = b->column[i]->meta.shape[0];
        int64_t rows;
        if (!cip_blz_rows_now(u, i, &rows))
            continue;
        if (name != NULL && before != was)
            return CIP_OK;
        if (name != NULL && rows != now)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected columns of equal length, but '%.80s' would have %" PRId64
                            " rows and '%.80s' %" PRId64
                            "; change all of them in one update, or the records",
                            name, now, b->column[i]->array->path, rows);
        name = b->column[i]->array->path;
        was = before;
        now = rows;
    }
    return CIP_OK;
}

cip_status cip_blz_update_finish(cip_blz_state *u, cip_revision *r, cip_err *err)
{
    r->patch.old_len = r->patch.new_len = u->b->layout->io->size;
    if (u->b->table)
        CIP_TRY(check_lengths(u, err));
    CIP_TRY(cip_blz_check_came(u, err));
    CIP_TRY(finish_attributes(u, r, err));
    if (u->b->document)
        return cip_blz_document_finish(u, r, err);
    for (size_t i = 0; i < u->b->ncolumn; i++)
        if (u->column[i].chunks != NULL && !u->column[i].gone)
            CIP_TRY(cip_blz_files_finish(u, i, r, err));
    return u->b->table ? cip_blz_table_finish(u, r, err) : CIP_OK;
}
