/* SPDX-License-Identifier: BSD-3-Clause
 * cip_yaml_edit: a path is followed through the events, and what is to be done there becomes a
 * change (yaml_change.c), which is applied only when all the rest stays as it was. */
#include <stdio.h>
#include <string.h>

#include "tree/edit.h"
#include "tree/utf8.h"
#include "tree/yaml_change.h"

struct cip_yaml_edit {
    cip_env *env;
    cip_yaml_options opt;
    cip_yaml_text now;
};

cip_status cip_yaml_edit_new(cip_env *env, cip_bytes text, const cip_yaml_options *opt,
                             cip_yaml_edit **out, cip_err *err)
{
    cip_status st;
    cip_yaml_edit *e = NULL;
    *out = NULL;
    CIP_TRY(cip_mem_get(&env->mem, sizeof *e, (void **)&e, err));
    *e = (cip_yaml_edit){ .env = env };
    if (opt != NULL)
        e->opt = *opt;
    cip_yaml_text_init(&e->now, env);
    CIP_GO(cip_buf_add(&e->now.text, text.ptr, text.len, err));
    CIP_GO(cip_yaml_text_parse(&e->now, env, &e->opt, err));
    *out = e;
    return CIP_OK;
done:
    cip_yaml_edit_free(e);
    return st;
}

void cip_yaml_edit_free(cip_yaml_edit *e)
{
    if (e == NULL)
        return;
    cip_yaml_text_clear(&e->now);
    cip_mem_put(&e->env->mem, e);
}

const cip_node *cip_yaml_edit_root(const cip_yaml_edit *e)
{
    return e->now.root;
}

const cip_node *cip_yaml_edit_get(cip_yaml_edit *e, const char *path, cip_err *err)
{
    return cip_tree_get(e->now.root, path, err);
}

bool cip_yaml_edit_has_comments(const cip_yaml_edit *e)
{
    const uint8_t *p = e->now.text.ptr;
    const uint32_t n = cip_mark_count(&e->now);
    uint32_t k = 0;
    for (size_t i = 0; i < e->now.text.len; i++) {
        while (k < n && (cip_mark_at(&e->now, k)->kind != CIP_MARK_SCALAR ||
                         cip_mark_at(&e->now, k)->end <= i))
            k++;
        bool begins = i == 0 || p[i - 1] == ' ' || p[i - 1] == '\t' || p[i - 1] == '\n';
        if (p[i] == '#' && begins && !(k < n && cip_mark_at(&e->now, k)->start <= i))
            return true;
    }
    return false;
}

const char *cip_yaml_edit_anchor_twice(const cip_yaml_edit *e)
{
    return e->now.marks.twice;
}

cip_bytes cip_yaml_edit_text(const cip_yaml_edit *e)
{
    return (cip_bytes){ e->now.text.ptr, e->now.text.len };
}

static bool is_merge_key(const cip_node *key)
{
    return key->tag != NULL ? strcmp(key->tag, CIP_CORE_TAG "merge") == 0
                            : key->style == CIP_STYLE_PLAIN && strcmp(key->text, "<<") == 0;
}

/* Whether the key is an integer of this value in decimal: paths of arrays name 0x10 as 16. */
static bool is_number(const cip_node *key, cip_bytes step)
{
    char text[24];
    if (key->type != CIP_NODE_INT)
        return false;
    int n = snprintf(text, sizeof text, key->negative ? "%" PRId64 : "%" PRIu64, key->u);
    return (size_t)n == step.len && memcmp(text, step.ptr, step.len) == 0;
}

enum { NO_MATCH, BY_VALUE, BY_TEXT, AS_STRING };

static int matches(const cip_node *key, cip_bytes step)
{
    if (key->type >= CIP_NODE_SEQ || is_merge_key(key))
        return NO_MATCH;
    if (key->len == step.len && (step.len == 0 || memcmp(key->text, step.ptr, step.len) == 0))
        return key->type == CIP_NODE_STRING ? AS_STRING : BY_TEXT;
    return is_number(key, step) ? BY_VALUE : NO_MATCH;
}

/* The key that `?` and the number of its pair stand for: a collection; or NULL. */
static const cip_node *odd_key(const cip_node *map, cip_bytes step)
{
    if (step.len < 2 || step.ptr[0] != '?')
        return NULL;
    const cip_node *key =
        cip_node_key(map, cip_path_item((cip_bytes){ step.ptr + 1, step.len - 1 }));
    return cip_node_kind(key) >= CIP_NODE_SEQ ? key : NULL;
}

/* The pair that counts: of equal keys the last, and the best of the kinds of match. */
static void find_pair(const cip_yaml_text *t, cip_bytes step, cip_place *p)
{
    const cip_node *odd = odd_key(cip_mark_at(t, p->parent)->node, step), *first = NULL;
    uint32_t before = CIP_NO_MARK;
    int best = NO_MATCH;
    p->child = CIP_NO_MARK;
    for (uint32_t key = p->parent + 1; cip_mark_at(t, key)->kind != CIP_MARK_CLOSE;) {
        const uint32_t value = cip_mark_at(t, key)->next;
        const cip_node *node = cip_mark_at(t, key)->node;
        const int found = node == odd ? BY_VALUE : matches(node, step);
        if (found > best || (found != NO_MATCH && found == best && cip_key_equal(first, node))) {
            if (found > best)
                first = node;
            best = found;
            p->key = key;
            p->child = value;
            p->before = before;
        }
        before = value;
        key = cip_mark_at(t, value)->next;
    }
}

static void find_item(const cip_yaml_text *t, size_t number, cip_place *p)
{
    p->child = p->key = p->before = CIP_NO_MARK;
    uint32_t i = p->parent + 1;
    for (size_t n = 0; cip_mark_at(t, i)->kind != CIP_MARK_CLOSE; n++) {
        if (n == number) {
            p->child = i;
            return;
        }
        p->before = i;
        i = cip_mark_at(t, i)->next;
    }
}

/* Where the node itself is written. */
static uint32_t mark_of(const cip_yaml_text *t, const cip_node *node)
{
    const uint32_t n = cip_mark_count(t);
    for (uint32_t i = 0; i < n; i++)
        if (cip_mark_at(t, i)->node == node && cip_mark_at(t, i)->kind <= CIP_MARK_OPEN &&
            cip_mark_at(t, i)->kind != CIP_MARK_ALIAS)
            return i;
    return CIP_NO_MARK;
}

static cip_status wrong_parent(cip_bytes step, cip_err *err)
{
    return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                    "expected a mapping or sequence to hold \"%.*s\", found a scalar",
                    (int)(step.len < 80 ? step.len : 80), (const char *)step.ptr);
}

/* Looks for one step in p->parent; p->child is CIP_NO_MARK when it is not there. */
static cip_status take_step(const cip_yaml_text *t, cip_bytes step, cip_place *p, cip_err *err)
{
    const cip_mark *m = cip_mark_at(t, p->parent);
    p->merged = NULL;
    if (m->kind != CIP_MARK_OPEN)
        return wrong_parent(step, err);
    if (m->node->type == CIP_NODE_MAP) {
        find_pair(t, step, p);
        if (p->child == CIP_NO_MARK)
            p->merged = cip_node_step(m->node, step);
        return CIP_OK;
    }
    size_t number = cip_path_item(step);
    if (step.len == 1 && step.ptr[0] == '-')
        number = m->node->len;
    if (number > m->node->len)
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected an item of a sequence of %" PRIu32 ", found \"%.*s\"",
                        m->node->len, (int)(step.len < 80 ? step.len : 80), (const char *)step.ptr);
    find_item(t, number, p);
    return CIP_OK;
}

/* Goes down as far as the path exists: p->depth steps are behind p->parent, and the next one is
 * p->child or missing. */
static cip_status follow(const cip_yaml_text *t, const cip_bytes *step, size_t n, cip_place *p,
                         cip_err *err)
{
    *p = (cip_place){ .child = CIP_NO_MARK, .key = CIP_NO_MARK, .before = CIP_NO_MARK };
    for (;;) {
        CIP_TRY(take_step(t, step[p->depth], p, err));
        if (p->depth + 1 == n)
            return CIP_OK;
        uint32_t next = p->child;
        if (next == CIP_NO_MARK && p->merged == NULL)
            return CIP_OK;
        if (next == CIP_NO_MARK)
            next = mark_of(t, p->merged);
        else if (cip_mark_at(t, next)->kind == CIP_MARK_ALIAS)
            next = cip_mark_at(t, next)->target;
        p->parent = next;
        p->depth++;
    }
}

/* Two nodes of one anchor are refused by others (PyYAML). */
static cip_status check_anchors(const cip_yaml_text *old, const cip_yaml_text *next, cip_err *err)
{
    if (next->marks.twice == NULL || old->marks.twice != NULL)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected an anchor that the tree does not have, found a second &%.80s",
                    next->marks.twice);
}

static cip_status apply(cip_yaml_edit *e, cip_change *c, cip_err *err)
{
    cip_yaml_text next;
    cip_yaml_text_init(&next, e->env);
    cip_status st = cip_change_apply(c, &e->opt, &next, err);
    if (st == CIP_OK)
        st = check_anchors(&e->now, &next, err);
    cip_yaml_text *old = st == CIP_OK ? &e->now : &next;
    cip_yaml_text_clear(old);
    if (st == CIP_OK)
        e->now = next;
    return st;
}

/* The value inside mappings for the steps of the path that are missing below `first`. */
static cip_status wrap(cip_arena *a, const cip_bytes *step, size_t n, size_t first,
                       const cip_node **value, cip_err *err)
{
    for (size_t i = n; i-- > first;) {
        cip_node *outer, *key;
        if (step[i].len == 1 && step[i].ptr[0] == '-') {
            CIP_TRY(cip_node_new_seq(a, 1, &outer, err));
            cip_node_set_item(outer, 0, *value);
        } else {
            CIP_TRY(cip_node_new_string(a, (const char *)step[i].ptr, step[i].len, &key, err));
            CIP_TRY(cip_node_new_map(a, 1, &outer, err));
            cip_node_set_pair(outer, 0, key, *value);
        }
        *value = outer;
    }
    return CIP_OK;
}

static bool is_utf8(const char *text, size_t len)
{
    uint32_t c;
    for (size_t i = 0; i < len;) {
        const unsigned n = cip_utf8_get((const uint8_t *)text + i, len - i, &c);
        if (n == 0)
            return false;
        i += n;
    }
    return true;
}

/* A tree_walk callback: stops at a text that YAML cannot hold. */
static int is_bad(void *user, const cip_visit *v)
{
    (void)user;
    size_t len = 0;
    const char *key = cip_node_text(v->key, &len);
    if (key != NULL && !is_utf8(key, len))
        return 2;
    const char *text = cip_node_text(v->node, &len);
    return text != NULL && !is_utf8(text, len) ? 2 : v->again;
}

/* Other bytes would be written as U+FFFD. */
static cip_status check_texts(cip_env *env, const char *path, const cip_node *value, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    cip_status st = path == NULL || is_utf8(path, strlen(path)) ? CIP_OK : CIP_ERR_CANCELLED;
    if (st == CIP_OK)
        st = cip_tree_walk(value, env, is_bad, NULL, &why);
    if (st == CIP_ERR_CANCELLED)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected UTF-8, found other bytes");
    return st == CIP_OK ? CIP_OK : cip_fail(err, st, CIP_NO_OFFSET, "%s", why.text);
}

static cip_status refuse_root(cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a path to a node within the tree, found the whole tree");
}

static cip_status set(cip_yaml_edit *e, cip_change *c, cip_arena *a, const char *path,
                      const cip_node *value, cip_err *err)
{
    const cip_yaml_text *t = &e->now;
    cip_bytes *step;
    size_t n;
    cip_place p;
    CIP_TRY(cip_path_split(a, path, &step, &n, err));
    if (n == 0)
        return refuse_root(err);
    if (cip_change_rootless(t)) {
        CIP_TRY(wrap(a, step, n, 1, &value, err));
        return cip_change_begin(c, step[0], value, err);
    }
    CIP_TRY(follow(t, step, n, &p, err));
    if (p.child != CIP_NO_MARK)
        return cip_change_replace(c, &p, value, err);
    CIP_TRY(wrap(a, step, n, p.depth + 1, &value, err));
    return cip_change_insert(c, p.parent, step[p.depth], value, err);
}

cip_status cip_yaml_edit_set(cip_yaml_edit *e, const char *path, const cip_node *value,
                             cip_err *err)
{
    cip_change c;
    cip_arena a = { .mem = &e->env->mem };
    cip_change_init(&c, e->env, &e->now);
    cip_status st = check_texts(e->env, path, value, err);
    if (st == CIP_OK)
        st = set(e, &c, &a, path, value, err);
    if (st == CIP_OK)
        st = apply(e, &c, err);
    cip_change_clear(&c);
    cip_arena_clear(&a);
    return st;
}

/* In the words of the getters, if they do not find it either. */
static cip_status not_found(const cip_yaml_edit *e, const char *path, cip_err *err)
{
    if (cip_tree_get(e->now.root, path, err) == NULL)
        return CIP_ERR_NOT_FOUND;
    return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "expected \"%.80s\", found no such node",
                    path);
}

static cip_status remove_at(cip_yaml_edit *e, cip_change *c, cip_arena *a, const char *path,
                            cip_err *err)
{
    cip_bytes *step;
    size_t n;
    cip_place p;
    CIP_TRY(cip_path_split(a, path, &step, &n, err));
    if (n == 0)
        return refuse_root(err);
    cip_status st = CIP_ERR_NOT_FOUND;
    if (!cip_change_rootless(&e->now))
        st = follow(&e->now, step, n, &p, NULL);
    if (st == CIP_OK && p.child == CIP_NO_MARK && p.merged != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a key that the mapping itself has, found one that a merge key "
                        "brings");
    if (st != CIP_OK || p.child == CIP_NO_MARK)
        return not_found(e, path, err);
    return cip_change_remove(c, &p, err);
}

static cip_status remove_once(cip_yaml_edit *e, const char *path, cip_err *err)
{
    cip_change c;
    cip_arena a = { .mem = &e->env->mem };
    cip_change_init(&c, e->env, &e->now);
    cip_status st = remove_at(e, &c, &a, path, err);
    if (st == CIP_OK)
        st = apply(e, &c, err);
    cip_change_clear(&c);
    cip_arena_clear(&a);
    return st;
}

/* How many pairs of the mapping have the key that the path names: all of them but the last were
 * hidden by it. */
static cip_status count_twins(const cip_yaml_edit *e, const char *path, size_t *n, cip_err *err)
{
    cip_bytes *step;
    size_t nstep;
    cip_place p;
    cip_arena a = { .mem = &e->env->mem };
    cip_status st = cip_path_split(&a, path, &step, &nstep, err);
    *n = 1;
    if (st != CIP_OK || nstep == 0 || cip_change_rootless(&e->now))
        goto done;
    if (follow(&e->now, step, nstep, &p, NULL) != CIP_OK || p.child == CIP_NO_MARK ||
        p.key == CIP_NO_MARK)
        goto done;
    const cip_node *key = cip_mark_at(&e->now, p.key)->node;
    *n = 0;
    for (uint32_t k = p.parent + 1; cip_mark_at(&e->now, k)->kind != CIP_MARK_CLOSE;) {
        *n += k == p.key || cip_key_equal(key, cip_mark_at(&e->now, k)->node);
        k = cip_mark_at(&e->now, cip_mark_at(&e->now, k)->next)->next;
    }
done:
    cip_arena_clear(&a);
    return st;
}

/* A pair goes with those that it hid: they would count from now on. */
cip_status cip_yaml_edit_remove(cip_yaml_edit *e, const char *path, cip_err *err)
{
    size_t n;
    CIP_TRY(count_twins(e, path, &n, err));
    if (n == 1)
        return remove_once(e, path, err);
    cip_yaml_edit *some; /* all or none */
    CIP_TRY(cip_yaml_edit_new(e->env, cip_yaml_edit_text(e), &e->opt, &some, err));
    cip_status st = CIP_OK;
    for (; n != 0 && st == CIP_OK; n--)
        st = remove_once(some, path, err);
    if (st == CIP_OK) {
        const cip_yaml_text now = e->now;
        e->now = some->now;
        some->now = now;
    }
    cip_yaml_edit_free(some);
    return st;
}
