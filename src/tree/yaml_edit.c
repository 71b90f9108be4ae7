/* SPDX-License-Identifier: BSD-3-Clause
 * cip_yaml_edit: a path is followed through the events, and what is to be done there becomes a
 * change (yaml_change.c), which is applied only when all the rest stays as it was.
 *
 * To parse and compare the whole text costs far more than one change, so sets may wait in a queue
 * and are applied together. Each is worked out against the text as it was last parsed, and joins
 * the queue only when none that waits touches the nodes that its path leads through or to: then the
 * order of the sets does not matter. One of a path that has another waiting takes that one's place.
 * Otherwise the queue is flushed first. Where the changes of a queue cannot be applied together,
 * its halves are, and so on down to the one that is refused. Sets that there is no memory for, or
 * that a limit stands against, stay in the queue with all that come after them: the next flush
 * tries again. */
#include <string.h>

#include "tree/edit.h"
#include "tree/utf8.h"
#include "tree/yaml_edit_impl.h"

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
    e->broken = (cip_err)CIP_ERR_INIT;
    e->kept.mem = e->queue.mem = e->added.mem = e->keys.mem = e->paths.mem = &env->mem;
    cip_yaml_text_init(&e->now, env);
    CIP_GO(cip_buf_add(&e->now.text, text.ptr, text.len, err));
    CIP_GO(cip_yaml_text_parse(&e->now, env, &e->opt, err));
    *out = e;
    return CIP_OK;
done:
    cip_yaml_edit_free(e);
    return st;
}

static size_t queue_len(const cip_yaml_edit *e)
{
    return e->queue.len / sizeof(queued *);
}

static queued *queue_at(const cip_yaml_edit *e, size_t i)
{
    return ((queued **)(void *)e->queue.ptr)[i];
}

/* Forgets the queue, whose paths stay, and what is known of the text. */
static void queue_clear(cip_yaml_edit *e)
{
    for (size_t i = 0; i < queue_len(e); i++)
        cip_text_change_clear(&queue_at(e, i)->change);
    e->queue.len = e->nqueued = 0;
    e->unworked = false;
    cip_strmap_clear(&e->added);
    cip_strmap_clear(&e->keys);
    cip_strmap_clear(&e->paths);
    e->added = e->keys = e->paths = (cip_strmap){ .mem = &e->env->mem };
    cip_mem_put(&e->env->mem, e->touched);
    cip_mem_put(&e->env->mem, e->indexed);
    e->touched = e->indexed = NULL;
}

void cip_yaml_edit_free(cip_yaml_edit *e)
{
    if (e == NULL)
        return;
    queue_clear(e);
    cip_buf_clear(&e->queue);
    cip_arena_clear(&e->kept);
    cip_yaml_text_clear(&e->now);
    cip_mem_put(&e->env->mem, e);
}

uint64_t cip_yaml_edit_changes(const cip_yaml_edit *e)
{
    return e->nchange;
}

const cip_node *cip_yaml_edit_root(const cip_yaml_edit *e)
{
    return e->now.root;
}

const cip_node *cip_yaml_edit_get(cip_yaml_edit *e, const char *path, cip_err *err)
{
    if (cip_yaml_edit_flush(e, err) != CIP_OK)
        return NULL;
    return cip_tree_get(e->now.root, path, err);
}

bool cip_yaml_comments_in(const cip_yaml_text *t, size_t from, size_t to)
{
    const uint8_t *p = t->text.ptr;
    const uint32_t n = cip_mark_count(t);
    uint32_t k = 0;
    for (size_t i = from; i < to; i++) {
        while (k < n && (cip_mark_at(t, k)->kind != CIP_MARK_SCALAR || cip_mark_at(t, k)->end <= i))
            k++;
        bool begins = i == 0 || p[i - 1] == ' ' || p[i - 1] == '\t' || p[i - 1] == '\n';
        if (p[i] == '#' && begins && !(k < n && cip_mark_at(t, k)->start <= i))
            return true;
    }
    return false;
}

bool cip_yaml_edit_has_comments(const cip_yaml_edit *e)
{
    return cip_yaml_comments_in(&e->now, 0, e->now.text.len);
}

bool cip_yaml_edit_has_anchors(const cip_yaml_edit *e)
{
    return e->now.marks.anchors.len != 0;
}

const char *cip_yaml_edit_anchor_twice(const cip_yaml_edit *e)
{
    return e->now.marks.twice;
}

cip_bytes cip_yaml_edit_text(const cip_yaml_edit *e)
{
    return (cip_bytes){ e->now.text.ptr, e->now.text.len };
}

cip_status cip_yaml_apply(cip_yaml_edit *e, cip_text_change *c, cip_err *err)
{
    cip_yaml_text next;
    cip_yaml_text_init(&next, e->env);
    cip_status st = cip_text_change_apply(c, &e->opt, &next, err);
    if (st == CIP_OK && next.marks.twice != NULL && e->now.marks.twice == NULL)
        /* two nodes of one anchor are refused by others (PyYAML) */
        st = cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                      "expected an anchor that the tree does not have, found a second &%.80s",
                      next.marks.twice);
    cip_yaml_text *old = st == CIP_OK ? &e->now : &next;
    cip_yaml_text_clear(old);
    if (st == CIP_OK)
        e->now = next;
    e->nchange += st == CIP_OK;
    return st;
}

/* The value inside mappings for the steps of the path that are missing below `first`. */
static cip_status wrap(cip_arena *a, const cip_bytes *step, size_t n, size_t first,
                       const cip_node **value, cip_err *err)
{
    for (size_t i = n; i-- > first;) {
        cip_node *outer, *key;
        if (cip_step_makes_list(step[i])) {
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

/* A tree_walk callback: *user says that there is a text that YAML cannot hold. */
static int find_bad(void *user, const cip_visit *v)
{
    bool *bad = user;
    size_t len = 0;
    const char *key = cip_node_text(v->key, &len);
    *bad = key != NULL && !cip_utf8_is(key, len);
    const char *text = cip_node_text(v->node, &len);
    *bad = *bad || (text != NULL && !cip_utf8_is(text, len));
    return *bad ? 2 : v->again;
}

static cip_status refuse_bytes(cip_err *err)
{
    return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected UTF-8, found other bytes");
}

cip_status cip_yaml_check_path(const char *path, cip_err *err)
{
    return path == NULL || cip_utf8_is(path, strlen(path)) ? CIP_OK : refuse_bytes(err);
}

/* Other bytes would be written as U+FFFD. */
static cip_status check_texts(cip_env *env, const char *path, const cip_node *value, cip_err *err)
{
    bool bad = false;
    CIP_TRY(cip_yaml_check_path(path, err));
    CIP_TRY(cip_tree_walk_told(value, env, find_bad, &bad, &(cip_status){ CIP_OK }, err));
    return bad ? refuse_bytes(err) : CIP_OK;
}

static cip_status refuse_root(cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected a path to a node within the tree, found the whole tree");
}

/* *p: what the change is made at, and *name the step that it inserts there. */
static cip_status set(cip_yaml_edit *e, cip_text_change *c, cip_arena *a, const char *path,
                      const cip_node *value, cip_place *p, cip_bytes *name, cip_err *err)
{
    const cip_yaml_text *t = &e->now;
    cip_bytes *step;
    size_t n;
    CIP_TRY(cip_path_split(a, path, &step, &n, err));
    if (n == 0)
        return refuse_root(err);
    if (cip_text_change_rootless(t)) {
        CIP_TRY(cip_steps_new(step, n, err));
        CIP_TRY(wrap(a, step, n, 1, &value, err));
        return cip_text_change_begin(c, step[0], value, err);
    }
    CIP_TRY(cip_yaml_follow(e, step, n, p, err));
    if (p->child != CIP_NO_MARK)
        return cip_text_change_replace(c, p, value, err);
    CIP_TRY(cip_steps_new(step + p->depth, n - p->depth, err));
    *name = step[p->depth];
    if (cip_mark_at(t, p->parent)->node->type == CIP_NODE_MAP)
        *name = cip_map_new_key(cip_mark_at(t, p->parent)->node, *name);
    CIP_TRY(wrap(a, step, n, p->depth + 1, &value, err));
    return cip_text_change_insert(c, p->parent, *name, value, err);
}

static cip_status set_now(cip_yaml_edit *e, const char *path, const cip_node *value, cip_err *err)
{
    cip_text_change c;
    cip_place p;
    cip_bytes name;
    cip_arena a = { .mem = &e->env->mem };
    queue_clear(e);
    cip_text_change_init(&c, e->env, &e->now);
    cip_status st = set(e, &c, &a, path, value, &p, &name, err);
    if (st == CIP_OK)
        st = cip_yaml_apply(e, &c, err);
    cip_text_change_clear(&c);
    cip_arena_clear(&a);
    return st;
}

cip_status cip_yaml_edit_set(cip_yaml_edit *e, const char *path, const cip_node *value,
                             cip_err *err)
{
    CIP_TRY(check_texts(e->env, path, value, err));
    CIP_TRY(cip_yaml_edit_flush(e, err));
    return set_now(e, path, value, err);
}

/* --- the queue -------------------------------------------------------------------------------- */

/* What a step in double quotes names depends on the keys that wait to be inserted. */
static bool has_quotes(const char *path)
{
    return path != NULL && strchr(path, '"') != NULL;
}

/* Another key comes to a mapping, or another item to the end of a sequence. `alone` as in
 * cip_text_change: then neither the last entry nor this place may have another set. */
static cip_status join_inserting(cip_yaml_edit *e, const cip_place *p, cip_bytes step, bool alone,
                                 bool *joins, cip_err *err)
{
    const uint32_t close = cip_mark_at(&e->now, p->parent)->next - 1;
    const bool map = cip_mark_at(&e->now, p->parent)->node->type == CIP_NODE_MAP;
    size_t was = SIZE_MAX;
    cip_bytes name;
    if (e->touched[close] != 0)
        *joins = !alone && (map || (step.len == 1 && step.ptr[0] == '-'));
    else
        *joins = !alone || e->touched[close - 1] == 0;
    if (*joins && map) {
        CIP_TRY(cip_yaml_numbered_key(&e->kept, close, step, &name, err));
        CIP_TRY(cip_strmap_put(&e->added, name, 0, &was, err));
        *joins = was == SIZE_MAX;
    }
    if (*joins)
        e->touched[close] |= GROWN;
    return CIP_OK;
}

/* A change that says all of what becomes of its place: nothing but this is moved or changes. */
static bool is_plain(const cip_text_change *c, const cip_place *p)
{
    return c->value.marks.anchors.len == 0 && c->restyled == CIP_NO_MARK && !p->merging;
}

static cip_status join(cip_yaml_edit *e, const cip_text_change *c, const cip_place *p,
                       cip_bytes step, bool *joins, cip_err *err)
{
    *joins = is_plain(c, p) && (e->touched[p->parent] & GONE) == 0;
    if (!*joins)
        return CIP_OK;
    if (p->child == CIP_NO_MARK)
        return join_inserting(e, p, step, c->alone, joins, err);
    const uint32_t end = cip_mark_at(&e->now, p->child)->next; /* a node of its own is replaced */
    for (uint32_t i = p->child; *joins && i < end; i++)
        *joins = e->touched[i] == 0;
    if (*joins)
        memset(e->touched + p->child, GONE, end - p->child);
    return CIP_OK;
}

/* Whether it may name another place each time: a step "-" is the end of a sequence. */
static bool may_append(const char *path)
{
    return path[0] == '-' || strstr(path, "/-") != NULL;
}

/* In place of the one that waits for the same node, or for the same key to come. */
static bool take_over(cip_yaml_edit *e, queued *q, const cip_place *p, size_t at)
{
    queued **const was = (queued **)(void *)e->queue.ptr + at;
    if (!is_plain(&q->change, p) || q->change.alone)
        return false;
    q->path = (*was)->path;
    cip_text_change_clear(&(*was)->change);
    *was = q;
    return true;
}

/* Queues a set if it can be done with those that wait; *joins tells. */
static cip_status try_queue(cip_yaml_edit *e, const char *path, const cip_node *value, bool *joins,
                            cip_err *err)
{
    cip_status st;
    queued *q;
    char *kept;
    const cip_bytes whole = { (const uint8_t *)path, strlen(path) };
    const size_t waits = cip_strmap_get(&e->paths, whole);
    cip_place p;
    cip_bytes step = { 0 };
    cip_arena a = { .mem = &e->env->mem };
    *joins = false;
    /* aliases make that several paths lead to a node, and that a value's end changes others */
    if ((queue_len(e) != 0 && has_quotes(path)) || cip_yaml_edit_has_anchors(e) ||
        cip_text_change_rootless(&e->now))
        return CIP_OK;
    const size_t n = cip_mark_count(&e->now);
    if (e->touched == NULL) {
        CIP_TRY(cip_mem_get(&e->env->mem, n, (void **)&e->touched, err));
        memset(e->touched, 0, n);
        CIP_TRY(cip_mem_get(&e->env->mem, n, (void **)&e->indexed, err));
        memset(e->indexed, NOT_INDEXED, n);
    }
    CIP_TRY(CIP_ARENA_NEW(&e->kept, &q, 1, err));
    q->value = value;
    cip_text_change_init(&q->change, e->env, &e->now);
    CIP_GO(set(e, &q->change, &a, path, value, &p, &step, err));
    if (waits != SIZE_MAX) {
        *joins = take_over(e, q, &p, waits);
    } else {
        CIP_GO(join(e, &q->change, &p, step, joins, err));
        if (*joins) {
            CIP_GO(cip_arena_copy(&e->kept, path, whole.len, &kept, err));
            q->path = kept;
            CIP_GO(cip_buf_add(&e->queue, &q, sizeof q, err));
            if (!may_append(path)) /* one that is not known flushes the queue when it comes again */
                cip_strmap_put(&e->paths, (cip_bytes){ (const uint8_t *)kept, whole.len },
                               queue_len(e) - 1, NULL, NULL);
        }
    }
    e->nchange += *joins;
    e->nqueued += *joins;
done:
    *joins = *joins && st == CIP_OK;
    if (!*joins)
        cip_text_change_clear(&q->change);
    cip_arena_clear(&a);
    return st;
}

/* Applies the queue, which is empty then, unless there was no memory. */
static cip_status apply_queue(cip_yaml_edit *e, cip_err *err)
{
    cip_yaml_text next;
    const size_t n = queue_len(e);
    const cip_text_change **list = NULL;
    cip_status st;
    cip_yaml_text_init(&next, e->env);
    CIP_GO(cip_mem_get(&e->env->mem, n * sizeof *list, (void **)&list, err));
    for (size_t i = 0; i < n; i++)
        list[i] = &queue_at(e, i)->change;
    CIP_GO(cip_changes_apply(list, n, &e->opt, &next, err));
done:
    cip_mem_put(&e->env->mem, list);
    if (st != CIP_ERR_NOMEM)
        queue_clear(e);
    cip_yaml_text_clear(st == CIP_OK ? &e->now : &next);
    if (st == CIP_OK)
        e->now = next;
    e->nchange += st == CIP_OK;
    return st;
}

/* By one of them, or by what they are together. */
static bool is_refused(cip_status st)
{
    return st == CIP_ERR_UNSUPPORTED || st == CIP_ERR_LIMIT;
}

/* Does the sets one after the other, as many at once as go together, and counts them in *done. The
 * recursion halves n. */
static cip_status replay(cip_yaml_edit *e, queued *const *q, size_t n, size_t *done, cip_err *err)
{
    for (size_t i = 0, k = 0; i < n; i += k) {
        cip_err why = CIP_ERR_INIT;
        bool joins = true;
        for (k = 0; joins && i + k < n; k += joins)
            if (try_queue(e, q[i + k]->path, q[i + k]->value, &joins, &why) != CIP_OK)
                joins = false;
        cip_status st = k > 1 ? apply_queue(e, &why) : set_now(e, q[i]->path, q[i]->value, &why);
        k = k == 0 ? 1 : k;
        if (is_refused(st) && k > 1) {
            CIP_TRY(replay(e, q + i, k / 2, done, err));
            CIP_TRY(replay(e, q + i + k / 2, k - k / 2, done, err));
        } else if (st != CIP_OK) {
            return cip_fail(err, st, why.offset, "\"%.80s\": %.300s", q[i]->path, why.text);
        } else {
            *done += k;
        }
    }
    return CIP_OK;
}

static void kept_clear(cip_yaml_edit *e)
{
    cip_arena_clear(&e->kept);
    e->kept = (cip_arena){ .mem = &e->env->mem };
}

/* Sets that were done in part: the others wait again, but what they change is to be worked out
 * anew. There is room for them where all of them were. */
static void queue_again(cip_yaml_edit *e, queued *const *q, size_t n)
{
    queue_clear(e);
    for (size_t i = 0; i < n; i++)
        cip_text_change_init(&q[i]->change, e->env, &e->now);
    memcpy(e->queue.ptr, q, n * sizeof *q);
    e->queue.len = n * sizeof *q;
    e->nqueued = n;
    e->unworked = true;
}

/* What else than memory and limits it fails with breaks the edit. */
static cip_status flush(cip_yaml_edit *e, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    const size_t n = queue_len(e);
    size_t done = 0;
    queued **all = NULL;
    CIP_TRY(cip_mem_get(&e->env->mem, n * sizeof *all, (void **)&all, err));
    memcpy(all, e->queue.ptr, n * sizeof *all);
    cip_status st = e->unworked ? CIP_ERR_LIMIT : apply_queue(e, &why);
    if (is_refused(st)) {
        why = (cip_err)CIP_ERR_INIT;
        queue_clear(e);
        st = replay(e, all, n, &done, &why);
        if (st == CIP_ERR_NOMEM || st == CIP_ERR_LIMIT)
            queue_again(e, all + done, n - done);
    }
    cip_mem_put(&e->env->mem, all);
    if (st == CIP_ERR_NOMEM || st == CIP_ERR_LIMIT)
        return cip_err_give(err, &why, st);
    if (st != CIP_OK)
        e->broken = why;
    queue_clear(e);
    kept_clear(e);
    return CIP_OK;
}

cip_status cip_yaml_edit_flush(cip_yaml_edit *e, cip_err *err)
{
    if (e->broken.code == CIP_OK && queue_len(e) != 0)
        CIP_TRY(flush(e, err));
    if (e->broken.code == CIP_OK)
        return CIP_OK;
    return cip_fail(err, (cip_status)e->broken.code, e->broken.offset, "%s", e->broken.text);
}

/* Of the node at a path, whatever is done by the sets that wait. */
typedef enum fate { UNSURE, STAYS, ABSENT } fate;

static fate fate_of(cip_yaml_edit *e, const cip_place *p, cip_bytes step)
{
    const cip_yaml_text *t = &e->now;
    const uint32_t close = cip_mark_at(t, p->parent)->next - 1;
    cip_bytes name;
    if (p->merging || (e->touched[p->parent] & GONE) != 0)
        return UNSURE;
    if (p->child != CIP_NO_MARK)
        return (e->touched[p->child] & GONE) == 0 ? STAYS : UNSURE;
    if (e->touched[close] == 0)
        return ABSENT;
    if (cip_mark_at(t, p->parent)->node->type != CIP_NODE_MAP ||
        cip_yaml_numbered_key(&e->kept, close, step, &name, NULL) != CIP_OK)
        return UNSURE;
    return cip_strmap_get(&e->added, name) == SIZE_MAX ? ABSENT : UNSURE;
}

cip_status cip_yaml_edit_peek(cip_yaml_edit *e, const char *path, const cip_node **out,
                              cip_err *err)
{
    cip_arena a = { .mem = &e->env->mem };
    cip_place p;
    cip_bytes *step;
    size_t n;
    fate is = UNSURE;
    if (e->broken.code == CIP_OK && queue_len(e) != 0 && !e->unworked && !has_quotes(path) &&
        cip_path_split(&a, path, &step, &n, NULL) == CIP_OK && n != 0 &&
        cip_yaml_follow(e, step, n, &p, NULL) == CIP_OK)
        is = fate_of(e, &p, step[p.depth]);
    cip_arena_clear(&a);
    *out = NULL;
    if (is == UNSURE)
        CIP_TRY(cip_yaml_edit_flush(e, err));
    *out = cip_tree_get(e->now.root, path, NULL);
    return CIP_OK;
}

cip_status cip_yaml_edit_queue(cip_yaml_edit *e, const char *path, const cip_node *value,
                               cip_err *err)
{
    /* so many that the parsing is shared by enough of them, and that memory has room for */
    enum { LEAST = 1024, MOST = 8192 };
    bool joins = false;
    CIP_TRY(check_texts(e->env, path, value, err));
    if (path == NULL || e->broken.code != CIP_OK || e->unworked)
        return cip_yaml_edit_set(e, path, value, err);
    const size_t waits = e->nqueued;
    if (waits >= MOST || (waits >= LEAST && waits >= cip_mark_count(&e->now) / 8))
        CIP_TRY(cip_yaml_edit_flush(e, err));
    for (int i = 0; i < 2; i++) {
        const bool waiting = queue_len(e) != 0;
        cip_status st = try_queue(e, path, value, &joins, NULL);
        if (st == CIP_OK && joins)
            return CIP_OK;
        CIP_TRY(cip_yaml_edit_flush(e, err));
        if (!waiting)
            break;
    }
    cip_status st = set_now(e, path, value, err);
    kept_clear(e);
    return st;
}

cip_status cip_yaml_find(cip_yaml_edit *e, cip_arena *a, const char *path, cip_place *p,
                         cip_err *err)
{
    cip_bytes *step;
    size_t n;
    CIP_TRY(cip_path_split(a, path, &step, &n, err));
    if (n == 0)
        return refuse_root(err);
    cip_status st = CIP_ERR_NOT_FOUND;
    if (!cip_text_change_rootless(&e->now))
        st = cip_yaml_follow(e, step, n, p, NULL);
    if (st == CIP_OK && p->child == CIP_NO_MARK && p->merged != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected a key of the mapping itself, found one from a merge key");
    if (st == CIP_OK && p->child != CIP_NO_MARK)
        return CIP_OK;
    if (cip_tree_get(e->now.root, path, err) == NULL) /* the getters' words */
        return CIP_ERR_NOT_FOUND;
    return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "expected a node \"%.80s\", found none",
                    path);
}

static cip_status remove_at(cip_yaml_edit *e, cip_text_change *c, cip_arena *a, const char *path,
                            cip_err *err)
{
    cip_place p;
    CIP_TRY(cip_yaml_find(e, a, path, &p, err));
    if (p.key != CIP_NO_MARK) {
        /* The first of the pairs that the pair at *p hides, or that pair itself. */
        const cip_node *wanted = cip_mark_at(&e->now, p.key)->node;
        uint32_t before = CIP_NO_MARK, key = p.parent + 1;
        while (key != p.key && !cip_key_equal(wanted, cip_mark_at(&e->now, key)->node)) {
            before = cip_mark_at(&e->now, key)->next;
            key = cip_mark_at(&e->now, before)->next;
        }
        p.key = key;
        p.child = cip_mark_at(&e->now, key)->next;
        p.before = before;
    }
    return cip_text_change_remove(c, &p, err);
}

static cip_status remove_once(cip_yaml_edit *e, const char *path, cip_err *err)
{
    cip_text_change c;
    cip_arena a = { .mem = &e->env->mem };
    cip_text_change_init(&c, e->env, &e->now);
    cip_status st = remove_at(e, &c, &a, path, err);
    if (st == CIP_OK)
        st = cip_yaml_apply(e, &c, err);
    cip_text_change_clear(&c);
    cip_arena_clear(&a);
    return st;
}

size_t cip_yaml_twins(const cip_yaml_text *t, const cip_place *p)
{
    size_t n = 0;
    if (p->key == CIP_NO_MARK)
        return 1;
    const cip_node *key = cip_mark_at(t, p->key)->node;
    for (uint32_t k = p->parent + 1; cip_mark_at(t, k)->kind != CIP_MARK_CLOSE;) {
        n += k == p->key || cip_key_equal(key, cip_mark_at(t, k)->node);
        k = cip_mark_at(t, cip_mark_at(t, k)->next)->next;
    }
    return n;
}

void cip_yaml_swap(cip_yaml_edit *e, cip_yaml_edit *other)
{
    const cip_yaml_text now = e->now;
    e->now = other->now;
    e->nchange++;
    other->nchange++;
    other->now = now;
}

/* A pair goes with those that it hid: they would count from now on. */
cip_status cip_yaml_edit_remove(cip_yaml_edit *e, const char *path, cip_err *err)
{
    size_t n = 1;
    cip_place p;
    cip_arena a = { .mem = &e->env->mem };
    CIP_TRY(cip_yaml_edit_flush(e, err));
    queue_clear(e);
    if (cip_yaml_find(e, &a, path, &p, NULL) == CIP_OK)
        n = cip_yaml_twins(&e->now, &p);
    cip_arena_clear(&a);
    if (n == 1)
        return remove_once(e, path, err);
    cip_yaml_edit *some; /* all or none */
    CIP_TRY(cip_yaml_edit_new(e->env, cip_yaml_edit_text(e), &e->opt, &some, err));
    cip_status st = CIP_OK;
    for (; n != 0 && st == CIP_OK; n--)
        st = remove_once(some, path, err);
    if (st == CIP_OK)
        cip_yaml_swap(e, some);
    cip_yaml_edit_free(some);
    return st;
}
