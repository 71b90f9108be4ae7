/* SPDX-License-Identifier: BSD-3-Clause
 * Tables (btable, ctable): a folder of columns, each an array in a folder of its own; and all of
 * them as one array of records. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz.h"

/* The folder of a column. BLZ lists them as the paths they once had: only the last name counts. */
static cip_status dir_of(cip_blz *b, const cip_node *dirs, const char *name, const char **out,
                         cip_err *err)
{
    const cip_node *n = dirs != NULL && dirs->type == CIP_NODE_MAP ? cip_map_get(dirs, name) : NULL;
    const char *dir = name;
    char *text;
    if (n != NULL && n->type == CIP_NODE_STRING) {
        const char *slash = strrchr(n->text, '/');
        dir = slash != NULL ? slash + 1 : n->text;
    }
    CIP_TRY(cip_arena_printf(&b->layout->arena, &text, err, "%s/", dir));
    *out = text;
    return CIP_OK;
}

/* A column that cannot be read is listed with the reason. */
static cip_status add_column(cip_blz *b, const cip_node *name, const cip_node *dirs, cip_err *err)
{
    const cip_dtype *byte = cip_dtype_fixed(CIP_U8, false);
    const int64_t none[1] = { 0 };
    cip_buf path = { .mem = &b->layout->env->mem };
    cip_err why = CIP_ERR_INIT;
    cip_blz_column *c;
    const char *dir;
    char *kept = NULL;
    cip_status st;
    CIP_GO(dir_of(b, dirs, name->text, &dir, err));
    CIP_GO(cip_path_add(&path, (cip_bytes){ (const uint8_t *)name->text, name->len }, err));
    CIP_GO(cip_arena_copy(&b->layout->arena, path.ptr, path.len, &kept, err));
    CIP_GO(cip_blz_new_column(b, dir, kept, &c, err));
    st = cip_blz_fill_column(c, &why);
    if (st == CIP_ERR_NOMEM)
        st = cip_fail(err, st, why.offset, "%s", why.text);
    else if (st != CIP_OK) {
        c->array->dtype = byte;
        c->array->storage = (cip_storage){
            .kind = CIP_STORAGE_OWN, .own = "chunk files", .codec = "unknown", .block = -1
        };
        cip_array_refuse(c->array, st, &why);
        st = cip_view_c_order(1, none, 1, &c->array->view, err);
    }
done:
    cip_buf_clear(&path);
    return st;
}

/* Each a string that may be a folder's name, and none twice. */
static cip_status check_names(cip_layout *l, const cip_node *names, cip_err *err)
{
    cip_strmap seen = { .mem = &l->env->mem };
    cip_status st = CIP_OK;
    size_t was = SIZE_MAX;
    if (names == NULL || names->type != CIP_NODE_SEQ)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a list of column names");
    if (names->len > CIP_BLZ_MAX_COLUMNS)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %d columns, found %" PRIu32, CIP_BLZ_MAX_COLUMNS,
                        names->len);
    for (uint32_t i = 0; i < names->len && st == CIP_OK; i++) {
        const cip_node *n = names->item[i];
        bool fits = n->type == CIP_NODE_STRING && n->len != 0 && strlen(n->text) == n->len;
        if (fits)
            st = cip_strmap_put(&seen, (cip_bytes){ (const uint8_t *)n->text, n->len }, i, &was,
                                err);
        if (st == CIP_OK && (!fits || was != SIZE_MAX))
            st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                          "column %" PRIu32 ": expected a unique name, found '%.60s'", i,
                          n->text != NULL ? n->text : "a collection");
    }
    cip_strmap_clear(&seen);
    return st;
}

/* --- records ---------------------------------------------------------------------------------- */

/* Rows that all columns have. */
static int64_t common_rows(cip_layout *l, const cip_blz_part *p, size_t n, const cip_array *records)
{
    int64_t rows = INT64_MAX;
    bool equal = true;
    for (size_t i = 0; i < n; i++) {
        int64_t own = p[i].array->view.shape[0];
        equal = equal && (i == 0 || own == rows);
        rows = own < rows ? own : rows;
    }
    if (!equal && records->was == NULL)
        cip_warn_lack(
            l->env, CIP_LACKS_ARRAY, records, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "__rootdirs__",
            "columns of different lengths: the table has the %" PRId64 " rows of the shortest",
            rows);
    return rows;
}

static cip_status make_fields(cip_layout *l, const cip_blz_part *p, size_t n, cip_array *records,
                              cip_field *f, cip_record_column *part, cip_err *err)
{
    uint64_t off = 0;
    for (size_t i = 0; i < n; i++) {
        const cip_array *c = p[i].array;
        uint64_t row = c->dtype->itemsize; /* fits: that was checked when it was read */
        cip_record_part *run;
        if (c->st != CIP_OK) {
            const char *text = c->why != NULL ? c->why->text : "it cannot be read";
            return cip_fail_in(err, cip_fail(err, c->st, CIP_NO_OFFSET, "%s", text), "%s", c->path);
        }
        for (int32_t k = 1; k < c->view.ndim; k++)
            row *= (uint64_t)c->view.shape[k];
        if (records->unwritten == NULL) /* whole records cannot say of which column */
            records->unwritten = c->unwritten;
        f[i] = (cip_field){ .name = p[i].name,
                            .dtype = c->dtype,
                            .ndim = c->view.ndim - 1,
                            .shape = c->view.shape + 1 };
        CIP_TRY(CIP_ARENA_NEW(&l->arena, &run, 1, err));
        *run = (cip_record_part){ off, 0, row };
        part[i] = (cip_record_column){ c->space, row, run, 1, c };
        if (cip_add_overflow(off, row, &off))
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "records of over 2^64 bytes");
    }
    return CIP_OK;
}

cip_status cip_blz_make_records(cip_layout *l, const cip_blz_part *p, size_t n, cip_array *a,
                                cip_err *err)
{
    cip_field *f;
    cip_record_column *part;
    const int64_t rows[1] = { common_rows(l, p, n, a) };
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &f, n, err));
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &part, n, err));
    CIP_TRY(make_fields(l, p, n, a, f, part, err));
    CIP_TRY(cip_dtype_record(&l->arena, n, f, true, 0, &a->dtype, err));
    CIP_TRY(cip_view_c_order(1, rows, a->dtype->itemsize, &a->view, err));
    if (a->dtype->itemsize == 0)
        return cip_space_new_mem(l, (cip_bytes){ NULL, 0 }, &a->space, err);
    return cip_space_new_records(l, (uint64_t)rows[0], a->dtype->itemsize, part, n, &a->space, err);
}

cip_status cip_blz_open_table(cip_blz *b, cip_err *err)
{
    cip_layout *l = b->layout;
    const cip_node *root, *names;
    cip_array *records;
    CIP_TRY(cip_blz_json(l, "__rootdirs__", &root, err));
    names = root->type == CIP_NODE_MAP ? cip_map_get(root, "names") : NULL;
    CIP_TRY(cip_fail_in(err, check_names(l, names, err), "__rootdirs__"));
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &b->column, names->len, err));
    CIP_TRY(cip_layout_add_array(l, true, &records, err));
    for (uint32_t i = 0; i < names->len; i++)
        CIP_TRY(add_column(b, names->item[i], cip_map_get(root, "dirs"), err));
    l->version = cip_map_get(root, "dirs") != NULL ? "BLZ" : "bcolz";
    CIP_TRY(cip_layout_add_fact(l, "layout", err, "a table of %zu columns, one file per chunk",
                                b->ncolumn));
    const int64_t none[1] = { 0 };
    cip_err why = CIP_ERR_INIT;
    records->layout = b->layout;
    records->path = "";
    records->storage =
        (cip_storage){ .kind = CIP_STORAGE_OWN, .own = "columns", .codec = "none", .block = -1 };
    cip_blz_part *part;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &part, b->ncolumn, err));
    for (size_t i = 0; i < b->ncolumn; i++)
        part[i] = (cip_blz_part){ names->item[i]->text, b->column[i]->array };
    cip_status st = b->ncolumn != 0 ? cip_blz_make_records(l, part, b->ncolumn, records, &why)
                                    : cip_fail(&why, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                                               "expected columns, found none");
    if (st == CIP_OK || st == CIP_ERR_NOMEM)
        return st == CIP_OK ? CIP_OK : cip_fail(err, st, why.offset, "%s", why.text);
    records->dtype = cip_dtype_fixed(CIP_U8, false);
    cip_array_refuse(records, st, &why);
    return cip_view_c_order(1, none, 1, &records->view, err);
}
