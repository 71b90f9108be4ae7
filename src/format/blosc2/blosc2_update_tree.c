/* SPDX-License-Identifier: BSD-3-Clause
 * Metadata of a frame that is there. The lists of metalayers stand beside a tree that changes with
 * them, each pair of `meta` and `vlmeta` at its list's place. A value that nobody touches keeps its
 * bytes, whatever they are; one that becomes another has none until the end, when it is packed from
 * its node, once. Below the root of a value only what msgpack holds as it is stored is changed:
 * packing anything else again would lose what the tree does not show. */
#include <string.h>

#include "base/num.h"
#include "format/blosc2/blosc2_update.h"
#include "tree/msgpack.h"
#include "tree/node.h"
#include "tree/utf8.h"

/* Where a path leads: to metalayer `at` of a list (as many as there are: a new one), or within. */
typedef struct place {
    const char *path;
    bool trailer;
    cip_b2_metas *list;
    const cip_node *map; /* of the tree: its i-th pair is the list's i-th metalayer */
    cip_bytes *step;
    size_t nstep;
    size_t at;
} place;

static const char *const list_name[] = { "meta", "vlmeta" };

static cip_b2_metas *list_of(cip_b2_state *u, bool trailer)
{
    return trailer ? &u->vlmeta : &u->meta;
}

static bool is_dirty(const cip_b2_meta *m)
{
    return m->value.ptr == NULL;
}

static void set_changed(cip_b2_state *u, bool trailer)
{
    *(trailer ? &u->vlmeta_changed : &u->meta_changed) = true;
}

/* --- the beginning ---------------------------------------------------------------------------- */

static cip_status begin(cip_b2_state *u, cip_err *err)
{
    cip_build tree = { .arena = u->arena };
    if (u->tree.root != NULL)
        return CIP_OK;
    CIP_TRY(cip_build_set(&tree, "", u->l->tree, err));
    for (int i = 0; i < 2; i++) {
        cip_node *none;
        /* Room for as many metalayers as there may be. */
        bool trailer = i == 1;
        cip_b2_metas *list = list_of(u, trailer);
        cip_b2_meta *room;
        CIP_TRY(CIP_ARENA_NEW(u->arena, &room, trailer ? CIP_B2_MAX_VLMETA : CIP_B2_MAX_META, err));
        if (list->n != 0)
            memcpy(room, list->at, list->n * sizeof *room);
        list->at = room;
        CIP_TRY(cip_node_new_map(u->arena, 0, &none, err));
        if (cip_map_get(tree.root, list_name[i]) == NULL)
            CIP_TRY(cip_build_set(&tree, list_name[i], none, err));
    }
    u->tree = tree;
    return CIP_OK;
}

/* --- back to where it was --------------------------------------------------------------------- */

cip_status cip_b2_update_mark(void *state, void **at, cip_err *err)
{
    cip_b2_state *u = state;
    (void)at;
    cip_build_mark(&u->tree);
    for (int i = 0; i < 2 && u->tree.root != NULL; i++) { /* else none has changed in its place */
        const cip_b2_metas *list = list_of(u, i == 1);
        CIP_TRY(cip_undo_keep(u->undo, list->at, list->n * sizeof *list->at, err));
    }
    return cip_undo_keep(u->undo, u, sizeof *u, err);
}

/* --- places ----------------------------------------------------------------------------------- */

static bool is_step(cip_bytes step, const char *text)
{
    return step.len == strlen(text) && memcmp(step.ptr, text, step.len) == 0;
}

/* Looked up again after each change of the tree. */
static void look(cip_b2_state *u, place *p)
{
    p->map = cip_map_get(u->tree.root, list_name[p->trailer]);
    p->at = p->nstep > 1 ? cip_map_step(p->map, p->step[1]) : SIZE_MAX;
    p->at = p->at == SIZE_MAX ? p->list->n : p->at;
}

static cip_status find(cip_b2_state *u, const char *path, place *p, cip_err *err)
{
    *p = (place){ .path = path };
    CIP_TRY(begin(u, err));
    CIP_TRY(cip_path_split(u->arena, path, &p->step, &p->nstep, err));
    p->trailer = p->nstep != 0 && is_step(p->step[0], list_name[1]);
    if (!p->trailer && (p->nstep == 0 || !is_step(p->step[0], list_name[0])))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a metalayer, as vlmeta/NAME or meta/NAME, found '%.120s'", path);
    if (p->trailer && !u->f->vlmeta_read)
        return cip_fail(
            err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
            "expected readable vlmetalayers, found damaged ones, which a change would lose");
    p->list = list_of(u, p->trailer);
    look(u, p);
    return CIP_OK;
}

/* --- names ------------------------------------------------------------------------------------ */

/* That it is none of the names that say how a frame holds its array, and what else the array is. */
static cip_status expect_free(const place *p, cip_bytes name, cip_err *err)
{
    static const char list[] =
        "b2nd caterva __pack_tensor__ _b2o_user_vlmeta _LazyArray estore_metadata "
        "_batch_array_metadata";
    const char *text = (const char *)name.ptr;
    if (!cip_is_word_of(list, text, name.len) && !cip_b2_is_object(text, name.len) &&
        (name.len <= 6 || memcmp(text, "proxy-", 6) != 0))
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "%s/%.*s describes the array's data and cannot be changed as metadata",
                    list_name[p->trailer], (int)name.len, (const char *)name.ptr);
}

/* That the metalayer may change, or come. */
static cip_status may_set(const place *p, cip_err *err)
{
    const size_t most = p->trailer ? CIP_B2_MAX_VLMETA : CIP_B2_MAX_META;
    cip_bytes name = p->step[1];
    if (p->at < p->list->n)
        return expect_free(p, p->list->at[p->at].name, err);
    CIP_TRY(cip_steps_new(&name, 1, err));
    CIP_TRY(expect_free(p, name, err));
    if (name.len == 0 || name.len > CIP_B2_NAME_MAX || !cip_utf8_is(name.ptr, name.len))
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a metalayer's name of 1 to %d bytes of UTF-8, found %zu bytes",
                        CIP_B2_NAME_MAX, name.len);
    if (p->list->n >= most)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %zu metalayers in %s", most, list_name[p->trailer]);
    return CIP_OK;
}

static cip_status expect_metalayer(const place *p, cip_err *err)
{
    return p->nstep > 1 ? CIP_OK
                        : cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                   "expected a metalayer, as %s/NAME, found '%.120s'",
                                   list_name[p->trailer], p->path);
}

static cip_status expect_there(const cip_b2_state *u, const char *path, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    return cip_tree_get(u->tree.root, path, &why) != NULL
               ? CIP_OK
               : cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "%s", why.text);
}

/* --- values ----------------------------------------------------------------------------------- */

/* The bytes of a value that has some; *own: where they had to be decoded, to be put. */
static cip_status stored(const cip_b2_state *u, const place *p, uint8_t **own, cip_bytes *raw,
                         cip_err *err)
{
    uint64_t left = UINT64_MAX;
    size_t n;
    *own = NULL;
    *raw = p->list->at[p->at].value;
    if (!p->trailer)
        return CIP_OK;
    CIP_TRY(cip_b2_value_decode(&u->env->mem, *raw, &left, own, &n, err));
    *raw = (cip_bytes){ *own, n };
    return CIP_OK;
}

/* That a value which changes within, or moves into another, is what msgpack makes of its node. */
static cip_status expect_known(const cip_b2_state *u, const place *p, cip_err *err)
{
    cip_msgpack_how how = { .leave_out = NULL };
    cip_buf packed = { .mem = &u->env->mem };
    uint8_t *own = NULL;
    cip_bytes was;
    if (p->at == p->list->n || is_dirty(&p->list->at[p->at]))
        return CIP_OK;
    cip_status st = stored(u, p, &own, &was, err);
    if (st == CIP_OK)
        st = cip_msgpack_write(p->map->pair[p->at].value, &how, &packed, err);
    if (st == CIP_OK && (was.len != packed.len || memcmp(was.ptr, packed.ptr, was.len) != 0))
        st = cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                      "%s/%.*s holds more than the tree shows; a change inside would lose that: "
                      "set all of it",
                      list_name[p->trailer], (int)p->list->at[p->at].name.len,
                      (const char *)p->list->at[p->at].name.ptr);
    cip_mem_put(&u->env->mem, own);
    cip_buf_clear(&packed);
    return st;
}

/* The value becomes another, or comes: the tree has it already. */
static void mark(cip_b2_state *u, place *p, cip_bytes value)
{
    look(u, p);
    if (p->at == p->list->n) {
        const cip_node *key = p->map->pair[p->at].key;
        p->list->at[p->list->n++].name = (cip_bytes){ (const uint8_t *)key->text, key->len };
    }
    p->list->at[p->at].value = value;
    p->list->at[p->at].at = 0;
    set_changed(u, p->trailer);
}

cip_status cip_b2_update_set(void *state, const char *path, const cip_node *value, cip_err *err)
{
    cip_b2_state *u = state;
    place p;
    CIP_TRY(find(u, path, &p, err));
    CIP_TRY(expect_metalayer(&p, err));
    CIP_TRY(may_set(&p, err));
    cip_msgpack_how how = { .leave_out = NULL };
    cip_buf out = { .mem = &u->env->mem };
    cip_status st = cip_msgpack_write(value, &how, &out, err);
    const size_t n = out.len;
    cip_buf_clear(&out);
    CIP_TRY(st);
    if (how.lost != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a value that msgpack can hold, found %s",
                        (how.lost & CIP_MSGPACK_TAGS) != 0 ? "a tag"
                        : (how.lost & CIP_MSGPACK_KEYS) != 0
                            ? "a key that is not text, which python-blosc2 cannot read"
                            : "a time, or an integer beyond 64 bits (quoted, they are texts)");
    if (n > CIP_B2_VALUE_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected a value of at most %d bytes, found %zu", CIP_B2_VALUE_MAX, n);
    if (p.nstep > 2)
        CIP_TRY(expect_known(u, &p, err));
    CIP_TRY(cip_build_set(&u->tree, path, value, err));
    mark(u, &p, (cip_bytes){ NULL, 0 });
    return CIP_OK;
}

/* A list without metalayers is none in a file. */
cip_status cip_b2_update_tree_now(void *state, const cip_node **root, cip_err *err)
{
    const cip_b2_state *u = state;
    const cip_node *all = u->tree.root;
    cip_node *shown;
    size_t n = 0;
    *root = u->l->tree;
    if (!u->meta_changed && !u->vlmeta_changed)
        return CIP_OK;
    CIP_TRY(cip_node_new_map(u->arena, all->len, &shown, err));
    for (size_t i = 0; i < all->len; i++) {
        const cip_node *v = all->pair[i].value;
        if (v->len != 0 ||
            (v != cip_map_get(all, list_name[0]) && v != cip_map_get(all, list_name[1])))
            cip_node_set_pair(shown, n++, all->pair[i].key, v);
    }
    shown->len = (uint32_t)n;
    *root = shown;
    return CIP_OK;
}

/* --- what goes -------------------------------------------------------------------------------- */

static cip_status remove_at(cip_b2_state *u, place *p, cip_err *err)
{
    CIP_TRY(expect_there(u, p->path, err));
    CIP_TRY(expect_free(p, p->list->at[p->at].name, err));
    if (p->nstep > 2)
        CIP_TRY(expect_known(u, p, err));
    CIP_TRY(cip_build_remove(&u->tree, p->path, err));
    if (p->nstep > 2) {
        mark(u, p, (cip_bytes){ NULL, 0 });
    } else {
        cip_b2_meta *at = p->list->at + p->at;
        memmove(at, at + 1, (p->list->n - p->at - 1) * sizeof *at);
        p->list->n--;
    }
    set_changed(u, p->trailer);
    return CIP_OK;
}

cip_status cip_b2_update_remove(void *state, const char *path, cip_err *err)
{
    cip_b2_state *u = state;
    place p;
    cip_node *none;
    CIP_TRY(find(u, path, &p, err));
    if (p.nstep != 1)
        return remove_at(u, &p, err);
    for (size_t i = 0; i < p.list->n; i++) /* all of the list */
        CIP_TRY(expect_free(&p, p.list->at[i].name, err));
    CIP_TRY(cip_node_new_map(u->arena, 0, &none, err));
    p.list->n = 0;
    set_changed(u, p.trailer);
    return cip_build_set(&u->tree, path, none, err);
}

/* --- what moves ------------------------------------------------------------------------------- */

/* The bytes of a value as a list has them. */
static cip_status keep(const cip_b2_state *u, bool trailer, cip_bytes value, cip_bytes *out,
                       cip_err *err)
{
    char *copy;
    if (trailer)
        return cip_b2_value_encode(u->arena, value, out, err);
    CIP_TRY(cip_arena_copy(u->arena, value.ptr, value.len, &copy, err));
    *out = (cip_bytes){ (const uint8_t *)copy, value.len };
    return CIP_OK;
}

static cip_status may_move(cip_b2_state *u, const place *from, const place *to, bool replace,
                           cip_err *err)
{
    CIP_TRY(expect_metalayer(from, err));
    CIP_TRY(expect_metalayer(to, err));
    CIP_TRY(expect_there(u, from->path, err));
    CIP_TRY(expect_free(from, from->list->at[from->at].name, err));
    bool within = to->list == from->list && to->at == from->at && to->nstep >= from->nstep;
    for (size_t i = 2; within && i < from->nstep; i++)
        within = to->step[i].len == from->step[i].len &&
                 memcmp(to->step[i].ptr, from->step[i].ptr, from->step[i].len) == 0;
    if (within)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.120s' is inside the moved node",
                        to->path);
    if (!replace && cip_tree_get(u->tree.root, to->path, NULL) != NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "'%.120s' exists", to->path);
    if (from->nstep == 2 && to->nstep == 2)
        return CIP_OK;
    CIP_TRY(expect_known(u, from, err));
    return to->nstep > 2 ? expect_known(u, to, err) : CIP_OK;
}

cip_status cip_b2_update_move(void *state, const char *from, const char *to, bool replace,
                              cip_err *err)
{
    cip_b2_state *u = state;
    cip_bytes bytes = { NULL, 0 };
    place a, b;
    CIP_TRY(cip_b2_update_mark(u, NULL, err)); /* it may fail halfway, and is put back */
    CIP_TRY(find(u, from, &a, err));
    CIP_TRY(find(u, to, &b, err));
    CIP_TRY(may_move(u, &a, &b, replace, err));
    const cip_node *node = cip_tree_get(u->tree.root, from, err);
    if (a.nstep == 2 && b.nstep == 2) {
        /* The bytes of a whole metalayer as another list has them; none of one that is packed at
         * the end.
         */
        uint8_t *own = NULL;
        cip_bytes value;
        bytes = a.list->at[a.at].value;
        if (bytes.ptr != NULL && b.trailer != a.trailer) {
            cip_status st = stored(u, &a, &own, &value, err);
            if (st == CIP_OK)
                st = keep(u, b.trailer, value, &bytes, err);
            cip_mem_put(&u->env->mem, own);
            CIP_TRY(st);
        }
    }
    CIP_TRY(remove_at(u, &a, err));
    look(u, &b);
    CIP_TRY(may_set(&b, err));
    CIP_TRY(cip_build_set(&u->tree, to, node, err));
    mark(u, &b, bytes);
    return CIP_OK;
}

/* --- indexes ---------------------------------------------------------------------------------- */

/* python-blosc2 has sorted copies of elements in files beside, for queries, and a note of each
 * here: those of other elements than there are now would answer wrongly. */
static cip_status mark_stale(cip_b2_state *u, cip_err *err)
{
    static const char in[] = "vlmeta/blosc2_indexes/indexes";
    const cip_node *root = u->tree.root != NULL ? u->tree.root : u->l->tree;
    const cip_node *list = cip_tree_get(root, in, NULL);
    const size_t n = cip_node_kind(list) == CIP_NODE_MAP ? list->len : 0;
    cip_buf path = { .mem = &u->env->mem };
    cip_node *yes;
    cip_status st = n != 0 ? cip_node_new_bool(u->arena, true, &yes, err) : CIP_OK;
    for (size_t i = 0; i < n && st == CIP_OK; i++) {
        const cip_node *descriptor = list->pair[i].value;
        const cip_node *stale =
            cip_node_kind(descriptor) == CIP_NODE_MAP ? cip_map_get(descriptor, "stale") : NULL;
        if (cip_node_kind(stale) == CIP_NODE_BOOL && stale->b)
            continue;
        path.len = 0;
        CIP_GO(cip_buf_add(&path, in, sizeof in - 1, err));
        CIP_GO(cip_path_add_pair(&path, list, i, false, err));
        CIP_GO(cip_buf_add(&path, "/stale", sizeof "/stale", err));
        st = cip_b2_update_set(u, (const char *)path.ptr, yes, err);
    }
done:
    cip_buf_clear(&path);
    return st;
}

/* --- the end ---------------------------------------------------------------------------------- */

static cip_status pack(const cip_b2_state *u, bool trailer, const cip_node *node, cip_bytes *out,
                       cip_err *err)
{
    cip_msgpack_how how = { .leave_out = NULL };
    cip_buf raw = { .mem = &u->env->mem };
    cip_status st = cip_msgpack_write(node, &how, &raw, err);
    if (st == CIP_OK)
        st = keep(u, trailer, (cip_bytes){ raw.ptr, raw.len }, out, err);
    cip_buf_clear(&raw);
    return st;
}

cip_status cip_b2_update_pack(cip_b2_state *u, cip_err *err)
{
    if (u->c != NULL)
        CIP_TRY(mark_stale(u, err));
    if (u->vlmeta_changed)
        cip_b2_tell_many(u->spec.notes, u->vlmeta.n);
    for (int k = 0; k < 2 && u->tree.root != NULL; k++) {
        const cip_node *map = cip_map_get(u->tree.root, list_name[k]);
        cip_b2_metas *list = list_of(u, k == 1);
        for (size_t i = 0; i < list->n; i++) {
            cip_b2_meta *m = &list->at[i];
            if (is_dirty(m))
                CIP_TRY(cip_fail_in(err, pack(u, k == 1, map->pair[i].value, &m->value, err),
                                    "%s/%.*s", list_name[k], (int)m->name.len,
                                    (const char *)m->name.ptr));
        }
    }
    return CIP_OK;
}
