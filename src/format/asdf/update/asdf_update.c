/* SPDX-License-Identifier: BSD-3-Clause
 * Updates: their beginning and end, and changes of the tree. The rest of a description of an array
 * follows from its data, so a path into one is refused. */
#include "format/asdf/asdf_store.h"

#include <string.h>

static const char empty_tree[] = "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
                                 "{}\n...\n";
static const char early_tree[] = "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/0.1.0/\n--- !core/asdf\n"
                                 "{}\n...\n";

/* --- the text --------------------------------------------------------------------------------- */

static cip_status new_text(asdf_state *u, cip_bytes text, cip_err *err)
{
    cip_yaml_edit *e;
    CIP_TRY(cip_yaml_edit_new(u->env, text, &cip_asdf_tree_options, &e, err));
    cip_yaml_edit_free(u->tree);
    u->tree = e;
    u->announced = 0;
    u->ntext++;
    return CIP_OK;
}

cip_status cip_asdf_update_queued_tree(asdf_state *u, cip_err *err)
{
    cip_bytes head, text;
    if (u->tree == NULL && u->f->has_tree) {
        CIP_TRY(cip_asdf_text_of(u->f, u->arena, &head, &text, err));
        CIP_TRY(new_text(u, text, err));
    } else if (u->tree == NULL) {
        const char *empty = cip_asdf_is_early(u->f->header.file) ? early_tree : empty_tree;
        text = (cip_bytes){ (const uint8_t *)empty, strlen(empty) };
        CIP_TRY(new_text(u, text, err));
    }
    return CIP_OK;
}

cip_status cip_asdf_update_tree(asdf_state *u, cip_yaml_edit **out, cip_err *err)
{
    CIP_TRY(cip_asdf_update_queued_tree(u, err));
    *out = u->tree;
    return cip_yaml_edit_flush(u->tree, err);
}

cip_status cip_asdf_update_text(asdf_state *u, cip_bytes text, cip_err *err)
{
    CIP_TRY(new_text(u, text, err));
    u->tree_changed = true;
    return CIP_OK;
}

cip_status cip_asdf_update_save(asdf_state *u, bool text, asdf_before *b, cip_err *err)
{
    *b = (asdf_before){ .text = { .mem = &u->env->mem },
                        .has_text = u->tree != NULL,
                        .tree_changed = u->tree_changed,
                        .moved = u->moved,
                        .anew = u->anew,
                        .frozen = u->frozen,
                        .b = u->b,
                        .n = u->n,
                        .cap = u->cap,
                        .gone = u->gone,
                        .came = u->came };
    if (u->tree != NULL && text) {
        CIP_TRY(cip_yaml_edit_flush(u->tree, err));
        const cip_bytes is = cip_yaml_edit_text(u->tree);
        CIP_TRY(cip_buf_add(&b->text, is.ptr, is.len, err));
        b->is = (cip_bytes){ b->text.ptr, b->text.len };
    }
    b->saved = true;
    return CIP_OK;
}

/* A list of blocks that grew out of its place still has those that it had, as they were then; what
 * they were before is in the undo log. */
static cip_status restore(asdf_state *u, const asdf_before *b, bool same, cip_err *err)
{
    if (!b->has_text) {
        cip_yaml_edit_free(u->tree);
        u->tree = NULL;
    } else if (!same) {
        CIP_TRY(new_text(u, b->is, err));
    }
    u->tree_changed = b->tree_changed;
    u->moved = b->moved;
    u->anew = b->anew;
    u->frozen = b->frozen;
    u->gone = b->gone;
    u->came = b->came;
    u->b = b->b;
    u->n = b->n;
    u->cap = b->cap;
    return CIP_OK;
}

/* Whether the text is that of the mark still. */
static bool is_same(const asdf_state *u, const asdf_before *mark)
{
    return mark != NULL && mark->has_text && u->tree != NULL && mark->ntext == u->ntext &&
           mark->nchange == cip_yaml_edit_changes(u->tree);
}

/* Marks between which the text stays share a copy. */
cip_status cip_asdf_update_mark(void *state, void **at, cip_err *err)
{
    asdf_state *u = state;
    asdf_before *b;
    if (u->tree != NULL)
        CIP_TRY(cip_yaml_edit_flush(u->tree, err));
    const bool same = is_same(u, u->mark);
    CIP_TRY(CIP_NEW(&u->env->mem, &b, 1, err));
    const cip_status st = cip_asdf_update_save(u, !same, b, err);
    if (st != CIP_OK) {
        cip_mem_put(&u->env->mem, b);
        return st;
    }
    if (same)
        b->is = u->mark->is;
    b->mark = u->mark;
    b->ntext = u->ntext;
    b->nchange = u->tree != NULL ? cip_yaml_edit_changes(u->tree) : 0;
    u->mark = *at = b;
    return CIP_OK;
}

cip_status cip_asdf_update_go_back(void *state, const void *at, cip_err *err)
{
    asdf_state *u = state;
    return restore(u, at, is_same(u, at), err);
}

void cip_asdf_update_unmark(void *state, void *at)
{
    asdf_state *u = state;
    asdf_before *b = at;
    u->mark = b->mark;
    cip_buf_clear(&b->text);
    cip_mem_put(&u->env->mem, b);
}

cip_status cip_asdf_update_end_of(asdf_state *u, asdf_before *b, cip_status st, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    if (st != CIP_OK && b->saved && restore(u, b, b->is.ptr == NULL, &why) != CIP_OK) {
        st = CIP_ERR_NOMEM;
        cip_err_pass(err, &why);
    }
    cip_buf_clear(&b->text);
    return st;
}

/* Where `step` of the array's node is by now. */
static cip_status find_key(asdf_state *u, const cip_array *a, const char *step, char **path,
                           cip_err *err)
{
    const char *at;
    CIP_TRY(cip_asdf_update_queued_tree(u, err));
    CIP_TRY(cip_asdf_update_path(u, a, &at, err));
    if (at == NULL)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "the array was removed or replaced in this update");
    return cip_arena_printf(u->arena, path, err, "%s/%s", at, step);
}

cip_status cip_asdf_update_has_key(asdf_state *u, const cip_array *a, const char *step, bool *has,
                                   cip_err *err)
{
    const cip_node *found;
    char *path;
    CIP_TRY(find_key(u, a, step, &path, err));
    CIP_TRY(cip_yaml_edit_peek(u->tree, path, &found, err));
    *has = found != NULL;
    return CIP_OK;
}

cip_status cip_asdf_update_key(asdf_state *u, const cip_array *a, const char *step,
                               const cip_node *value, cip_err *err)
{
    char *path;
    CIP_TRY(find_key(u, a, step, &path, err));
    u->tree_changed = true;
    return cip_yaml_edit_queue(u->tree, path, value, err);
}

cip_status cip_asdf_update_drop_key(asdf_state *u, const cip_array *a, const char *step,
                                    cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    char *path;
    CIP_TRY(find_key(u, a, step, &path, err));
    u->tree_changed = true;
    cip_status st = cip_yaml_edit_remove(u->tree, path, &why);
    return st == CIP_OK || st == CIP_ERR_NOT_FOUND ? CIP_OK
                                                   : cip_fail(err, st, why.offset, "%s", why.text);
}

/* --- changes of the tree ---------------------------------------------------------------------- */

/* What lies in an ndarray's node describes its data. `value`: what it becomes; NULL: it goes. */
cip_status cip_asdf_update_check_path(asdf_state *u, const char *path, const cip_node *value,
                                      cip_err *err)
{
    char *outer;
    CIP_TRY(cip_asdf_update_queued_tree(u, err));
    for (size_t i = 1, n = strlen(path); i < n; i++) {
        if (path[i] != '/')
            continue;
        CIP_TRY(cip_arena_copy(u->arena, path, i, &outer, err));
        const cip_node *at;
        CIP_TRY(cip_yaml_edit_peek(u->tree, outer, &at, err));
        if (at == NULL || !cip_asdf_is_ndarray(at->tag, NULL))
            continue;
        /* a value that stands for what is missing says nothing of where data lie */
        if (strcmp(path + i + 1, "mask") == 0 && cip_node_kind(value) < CIP_NODE_SEQ)
            return CIP_OK;
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "'%.100s' is part of the description of an array's data; change the array "
                        "itself (put, append, resize)",
                        path);
    }
    return CIP_OK;
}

/* An ndarray that names a block, of those that there are. */
typedef struct naming {
    const asdf_state *u;
    cip_status st;
    cip_err *err;
} naming;

static int check_named(void *user, const cip_visit *v)
{
    naming *x = user;
    int64_t i;
    const size_t n = x->u->n;
    const cip_node *source = v->again ? NULL : cip_asdf_source_of(v->node);
    if (source == NULL || !cip_node_as_int(source, &i) ||
        cip_asdf_block_of(source, x->u->f->blocks.n) < n)
        return v->again;
    x->st = cip_fail(x->err, CIP_ERR_ARG, CIP_NO_OFFSET,
                     "expected one of the %zu blocks of the file as source, found %" PRId64, n, i);
    return 2;
}

/* Extensions are named in the history, to which an alias leads by other names. */
void cip_asdf_update_queued_at(asdf_state *u, const char *path)
{
    if (path[0] == '\0' || strstr(path, "history") != NULL || cip_yaml_edit_has_anchors(u->tree))
        u->announced = 0;
}

cip_status cip_asdf_update_set(void *state, const char *path, const cip_node *value, cip_err *err)
{
    asdf_state *u = state;
    naming x = { u, CIP_OK, err };
    CIP_TRY(cip_asdf_update_check_path(u, path, value, err));
    CIP_TRY(cip_tree_walk_told(value, u->env, check_named, &x, &x.st, err));
    CIP_TRY(cip_asdf_update_queued_tree(u, err));
    CIP_TRY(cip_yaml_edit_queue(u->tree, path, value, err));
    cip_asdf_update_queued_at(u, path);
    u->tree_changed = true;
    return cip_asdf_update_went(u, path, err);
}

cip_status cip_asdf_update_remove(void *state, const char *path, cip_err *err)
{
    asdf_state *u = state;
    cip_yaml_edit *e;
    CIP_TRY(cip_asdf_update_check_path(u, path, NULL, err));
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    CIP_TRY(cip_yaml_edit_remove(e, path, err));
    u->announced = 0;
    u->tree_changed = true;
    return cip_asdf_update_went(u, path, err);
}

/* What arrays are named by is no longer where the file as it was opened has it. */
cip_status cip_asdf_update_move(void *state, const char *from, const char *to, bool replace,
                                cip_err *err)
{
    asdf_state *u = state;
    asdf_before before;
    cip_yaml_edit *e;
    cip_status st;
    CIP_GO(cip_asdf_update_save(u, true, &before, err));
    CIP_GO(cip_asdf_inline_finish(u, err));
    CIP_GO(cip_asdf_update_tree(u, &e, err));
    u->announced = 0;
    const cip_node *node = cip_yaml_edit_get(e, from, err);
    CIP_GO(node == NULL ? CIP_ERR_NOT_FOUND : CIP_OK);
    CIP_GO(cip_asdf_update_check_path(u, from, node, err));
    CIP_GO(cip_asdf_update_check_path(u, to, node, err));
    st = cip_yaml_edit_move(e, from, to, replace, err);
done:
    CIP_TRY(cip_asdf_update_end_of(u, &before, st, err));
    u->tree_changed = u->moved = true;
    return CIP_OK;
}

/* A list in 0.1 and the standards 1.0 and 1.1 (and wherever it is one), a mapping with `entries`
 * later. */
cip_status cip_asdf_update_history(void *state, const char *text, cip_err *err)
{
    asdf_state *u = state;
    cip_yaml_edit *e;
    cip_node *software, *entry, *list;
    asdf_list l = { .a = u->arena };
    CIP_TRY(cip_asdf_update_tree(u, &e, err));
    const bool early = cip_asdf_is_early(u->f->header.file); /* which has no tags */
    /* without a time, so that the same update gives the same bytes */
    CIP_TRY(cip_asdf_software(u->arena, early, CIP_STYLE_ANY, &software, err));
    CIP_TRY(cip_asdf_list_text(&l, "description", text, err));
    CIP_TRY(cip_asdf_list_add(&l, "software", software, err));
    CIP_TRY(cip_asdf_list_map(&l, early ? NULL : ASDF_TAGS "core/history_entry-1.0.0",
                              CIP_STYLE_ANY, &entry, err));
    const cip_node *h = cip_yaml_edit_get(e, "history", NULL);
    const asdf_version *v = &u->f->header.standard;
    bool old = h != NULL ? h->type == CIP_NODE_SEQ
                         : early || (u->f->header.has_standard && v->major == 1 && v->minor < 2);
    const char *path = old ? "history" : "history/entries";
    u->tree_changed = true;
    if (cip_node_kind(cip_yaml_edit_get(e, path, NULL)) == CIP_NODE_SEQ)
        return cip_yaml_edit_set(e, old ? "history/-" : "history/entries/-", entry, err);
    CIP_TRY(cip_node_new_seq(u->arena, 1, &list, err));
    cip_node_set_item(list, 0, entry);
    return cip_yaml_edit_set(e, path, list, err);
}

/* --- beginning and end ------------------------------------------------------------------------ */

cip_status cip_asdf_update_check_last(const asdf_state *u, cip_err *err)
{
    if (u->n != 0 && cip_asdf_is_streamed(&u->b[u->n - 1].head))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, u->b[u->n - 1].head.offset,
                        "the last block is streamed, so no other can follow; finish it first");
    return CIP_OK;
}

cip_status cip_asdf_update_room(asdf_state *u, asdf_ublock **out, cip_err *err)
{
    bool changed = false;
    CIP_TRY(cip_asdf_update_check_last(u, err));
    if (u->n == u->f->blocks.n) /* sources from the end would mean others from now on ... */
        CIP_TRY(cip_asdf_update_renumber(u, NULL, u->f->blocks.n, &changed, err));
    u->anew = u->anew || changed; /* ... and to readers before the update is whole */
    CIP_TRY(CIP_ARENA_ROOM(u->arena, &u->b, u->n, &u->cap, err));
    *out = &u->b[u->n];
    **out = (asdf_ublock){ .is_new = true, .changed = true, .chain_of = -1 };
    return CIP_OK;
}

cip_status cip_asdf_update_new_block(asdf_state *u, size_t like, size_t *index, cip_err *err)
{
    asdf_ublock *b;
    CIP_TRY(cip_asdf_update_room(u, &b, err));
    const asdf_ublock *from = &u->b[like];
    b->chain_of = from->chain_of;
    b->packing = from->packing;
    b->head.form = from->head.form;
    b->head.header_size = b->head.form->header_size;
    b->head.flags = from->head.flags & ~(uint32_t)ASDF_STREAMED;
    memcpy(b->head.code, from->head.code, sizeof b->head.code);
    memcpy(b->head.encoding, from->head.encoding, sizeof b->head.encoding);
    *index = u->n++;
    return CIP_OK;
}

cip_space *cip_asdf_update_data(const asdf_state *u, const asdf_ublock *b)
{
    return b->c != NULL ? cip_chunk_changes_space(b->c) : u->l->block[b - u->b].data;
}

cip_status cip_asdf_update_begin(asdf_state *u, cip_err *err)
{
    asdf_sum sum;
    CIP_TRY(cip_asdf_sum(u->spec.checksum, &sum, err)); /* whether it is one at all */
    CIP_TRY(cip_asdf_check_numbers(u->f, err));
    const asdf_blocks *list = &u->f->blocks;
    CIP_TRY(CIP_ARENA_NEW(u->arena, &u->b, list->n + 1, err));
    u->n = list->n;
    u->cap = list->n + 1;
    for (size_t i = 0; i < u->n; i++) {
        const asdf_block *b = &list->at[i];
        u->b[i] = (asdf_ublock){ .head = *b };
        u->b[i].chain_of = cip_asdf_is_encoded(b) ? (int64_t)i : -1;
        u->b[i].head.allocated = cip_asdf_room(u->f, b);
    }
    return cip_asdf_update_take_chain(u, err);
}
