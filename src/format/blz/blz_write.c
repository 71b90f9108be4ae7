/* SPDX-License-Identifier: BSD-3-Clause
 * New folders: the chunks as they come, then the files that say what they are. */
#include <string.h>

#include "base/num.h"
#include "format/blz/blz_update.h"
#include "format/blz/blz_write.h"
#include "format/one_array.h"
#include "io/revision_out.h"

/* --- what cannot be held ---------------------------------------------------------------------- */

static void tell(cip_report *loss, cip_severity how, const cip_spec_array *a, const char *what)
{
    cip_report_add(loss, how, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                   "%s: BLZ and bcolz have none", what);
}

/* Several are columns, and so is what is left of a table. */
bool cip_blz_are_columns(const cip_spec *spec)
{
    const cip_blz *from = spec->whole ? spec->from->own : NULL;
    return spec->narray > 1 ||
           (spec->narray == 1 && from != NULL && from->table && spec->array[0].path[0] != '\0');
}

static cip_status check_columns(const cip_spec *spec, cip_blz_kind kind, cip_report *loss,
                                cip_err *err)
{
    cip_arena names = { .mem = &spec->env->mem };
    cip_status st = CIP_OK;
    for (size_t i = 0; i < spec->narray && st == CIP_OK; i++) {
        const cip_spec_array *a = &spec->array[i];
        cip_err why = CIP_ERR_INIT;
        char *name;
        st = cip_blz_column_name(&names, a->path, kind, &name, &why);
        if (st == CIP_OK && a->ndim != 0 && a->shape[0] != spec->array[0].shape[0])
            cip_fail(&why, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                     "all columns of a table need the same length: expected %" PRId64
                     " rows, found %" PRId64,
                     spec->array[0].shape[0], a->shape[0]);
        if (why.code == CIP_ERR_UNSUPPORTED)
            cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path, "%s",
                           why.text);
        st = st == CIP_ERR_NOMEM ? cip_fail(err, st, why.offset, "%s", why.text) : CIP_OK;
    }
    cip_arena_clear(&names);
    return st;
}

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    cip_blz_kind kind;
    CIP_TRY(cip_blz_choose_kind(spec, &kind, err));
    CIP_TRY(cip_blz_check_tree(spec, kind, loss, err));
    if (spec->narray == 0)
        cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, NULL,
                       "expected arrays, found none");
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        if (a->masked)
            tell(loss, CIP_WARN, a, "the mask is lost");
        if (a->ndim == 0)
            tell(loss, CIP_BAD, a, "an array without axes cannot be written");
        if (a->dtype->itemsize == 0)
            tell(loss, CIP_BAD, a, "elements of no bytes cannot be written");
        if (a->unwritten != NULL && a->source == NULL)
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the default value of added rows is lost: it is of whole "
                           "elements");
        if (cip_numpy_loses_name(a->dtype))
            tell(loss, CIP_WARN, a, "the name of an opaque type is lost");
    }
    if (cip_blz_are_columns(spec) && spec->array[0].ndim != 0)
        CIP_TRY(check_columns(spec, kind, loss, err));
    return cip_report_status(loss, err);
}

/* --- the beginning ---------------------------------------------------------------------------- */

static cip_status begin_new(cip_blz_state *s, const cip_store_begin *b, cip_err *err)
{
    cip_blz_writer *w = &s->own.w;
    if (b->out->member == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "a folder of files cannot be written to a pipe");
    *w = (cip_blz_writer){ .env = s->env, .arena = s->arena, .spec = &s->spec, .out = s->out };
    CIP_TRY(cip_blz_choose_kind(&s->spec, &w->kind, err));
    CIP_TRY(cip_blz_choose_table(&s->spec, w->kind, &w->table, err));
    w->named = cip_blz_are_columns(&s->spec);
    return cip_blz_make_columns(w, b->form, err);
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    cip_blz_state *s;
    CIP_TRY(CIP_ARENA_NEW(b->arena, &s, 1, err));
    *s = (cip_blz_state){ .env = b->env,
                          .arena = b->arena,
                          .spec = *b->spec,
                          .b = b->old != NULL ? b->old->own : NULL,
                          .tree = { .arena = b->arena },
                          .undo = b->undo,
                          .temporary = b->temporary,
                          .out = b->out,
                          .coming = b->coming };
    CIP_TRY(s->b != NULL        ? cip_blz_update_begin(s, err)
            : s->coming != NULL ? cip_blz_coming_begin(s, b->form, err)
                                : begin_new(s, b, err));
    *state = s;
    return CIP_OK;
}

/* --- chunks ----------------------------------------------------------------------------------- */

static cip_status store_file(cip_blz_writer *w, cip_blz_new *c, const cip_bp_piece *p, cip_err *err)
{
    cip_out *file;
    char *name;
    CIP_TRY(
        cip_arena_printf(w->arena, &name, err, "%sdata/__%" PRIu64 ".blp", c->dir, c->nchunk++));
    CIP_TRY(cip_blz_new_file(w, name, &file, err));
    CIP_TRY(cip_out_write(file, cip_blz_header_of_one, CIP_BLZ_HEADER_1, err));
    return cip_out_segment(file, &p->bytes, err);
}

cip_status cip_blz_store_chunk(cip_blz_writer *w, cip_blz_new *c, const cip_bp_piece *p,
                               cip_err *err)
{
    c->cbytes += p->bytes.len;
    return (w->kind == CIP_BLZ_DOCUMENT ? cip_blz_store_super : store_file)(w, c, p, err);
}

/* From CIP_BLZ_MAX_COLUMNS on are the numbers of the columns of records. */
static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    cip_blz_state *s = state;
    cip_blz_writer *w = &s->own.w;
    const bool whole = array < CIP_BLZ_MAX_COLUMNS;
    cip_blz_new *c = &w->column[whole ? w->first[array] : array - CIP_BLZ_MAX_COLUMNS];
    (void)i;
    for (size_t k = 0; k < n; k++) {
        cip_bp_piece p;
        if (chunk[k].raw_len == 0)
            continue;
        CIP_TRY(cip_bp_piece_in(&chunk[k], w->super.sum, &c->left, &p, err));
        CIP_TRY(s->coming != NULL ? cip_blz_coming_store(s, c, &p, err)
                                  : cip_blz_store_chunk(w, c, &p, err));
    }
    return CIP_OK;
}

/* --- the end ---------------------------------------------------------------------------------- */

cip_status cip_blz_check_ended(const cip_blz_writer *w, cip_err *err)
{
    for (size_t i = 0; i < w->ncolumn; i++)
        if (w->column[i].left != 0)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected %" PRIu64 " more bytes of data, found the end",
                            w->column[i].left);
    return CIP_OK;
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    cip_blz_state *s = state;
    if (s->b != NULL)
        return cip_blz_update_finish(s, r, err);
    CIP_TRY(cip_blz_check_ended(&s->own.w, err));
    return s->coming != NULL ? cip_blz_coming_finish(s, err) : cip_blz_put_meta(&s->own.w, err);
}

static void clear(void *state)
{
    cip_blz_state *s = state;
    for (size_t k = 0; k < s->own.w.ncolumn; k++) {
        cip_buf_clear(&s->own.w.column[k].file.places);
        cip_buf_clear(&s->own.w.column[k].waiting);
    }
}

const cip_array_store cip_blz_store = {
    .caps = CIP_STORE_FOLDER | CIP_STORE_NAMES | CIP_STORE_SUMS | CIP_STORE_UPDATES |
            CIP_STORE_ADDS | CIP_STORE_UNWRITTEN,
    .check = check,
    .begin = begin,
    .store = store,
    .set = cip_blz_update_set,
    .remove = cip_blz_update_remove,
    .move = cip_blz_update_move,
    .mark = cip_blz_update_mark,
    .tree_now = cip_blz_update_tree_now,
    .records_now = cip_blz_update_records,
    .form = cip_blz_update_form,
    .chunks = cip_blz_update_chunks,
    .finish = finish,
    .clear = clear,
};
