/* SPDX-License-Identifier: BSD-3-Clause
 * Two trees, walked together depth first with a stack of pairs. Trees may share nodes and hold
 * cycles: a pair that is inside itself is not entered again, nor one that was found to be the same
 * by another way, and the number of pairs is bounded. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "core/comparing/differ.h"
#include "tree/node.h"

typedef struct frame {
    const cip_node *a, *b;
    size_t next;     /* of a's children, and behind them of b's */
    size_t path_len; /* of the nodes' own path */
    bool plain_a, plain_b;
    uint64_t ndiffer, npassed; /* before them */
} frame;

typedef struct walker {
    cip_differ *d;
    cip_buf frames, path;
    uint64_t visits, npassed; /* npassed: nodes that were passed over by their path */
    cip_strmap same;          /* pairs with aliases that differ in nothing, whatever their path */
    cip_arena arena;
} walker;

static bool is_container(const cip_node *n)
{
    return n->type == CIP_NODE_SEQ || n->type == CIP_NODE_MAP;
}

static size_t depth(const walker *w)
{
    return w->frames.len / sizeof(frame);
}

static frame *frame_at(const walker *w, size_t i)
{
    return (frame *)(void *)w->frames.ptr + i;
}

static const char *path_of(const walker *w)
{
    return (const char *)w->path.ptr;
}

static cip_status visited(walker *w, uint64_t n, cip_err *err)
{
    const uint64_t most = w->d->a->env.limits.max_expansion;
    if (n <= most && w->visits <= most - n) {
        w->visits += n;
        return CIP_OK;
    }
    return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                    "expected at most %" PRIu64 " nodes, aliases counted, found more", most);
}

/* --- telling ---------------------------------------------------------------------------------- */

enum { SHOWN = 60 };

static void show(const cip_file *f, const cip_node *n, char text[SHOWN + 32])
{
    static const char *const names[] = { "nothing",    "null",     "a boolean", "an integer",
                                         "an integer", "a number", "a string",  "a time",
                                         "bytes",      "a list",   "a mapping" };
    size_t len = 0;
    const char *is = cip_node_text(n, &len);
    if (cip_file_array_of_node(f, n) != NULL)
        snprintf(text, SHOWN + 32, "an array");
    else if (is == NULL && n->type == CIP_NODE_MAP)
        snprintf(text, SHOWN + 32, "a mapping of %u", n->len);
    else if (is == NULL)
        snprintf(text, SHOWN + 32, "%s", names[n->type]);
    else if (n->type == CIP_NODE_STRING)
        snprintf(text, SHOWN + 32, "'%.*s%s'", SHOWN, is, len > SHOWN ? "..." : "");
    else
        snprintf(text, SHOWN + 32, "%.*s%s", SHOWN, len != 0 ? is : names[n->type],
                 len > SHOWN ? "..." : "");
}

static cip_status tell_pair(const walker *w, cip_diff_kind kind, const cip_node *a,
                            const cip_node *b, cip_err *err)
{
    char text_a[SHOWN + 32], text_b[SHOWN + 32];
    show(w->d->a, a, text_a);
    show(w->d->b, b, text_b);
    const cip_difference what = { .kind = kind, .path = path_of(w) };
    return cip_differ_tell(w->d, &what, err, "%s and %s", text_a, text_b);
}

/* --- nodes ------------------------------------------------------------------------------------ */

static bool is_passed_over(const walker *w)
{
    const char *path = path_of(w);
    if (!w->d->o.bookkeeping && (cip_tree_is_own(w->d->a, path) || cip_tree_is_own(w->d->b, path)))
        return true;
    return cip_differ_ignores(w->d, path);
}

/* A node that one file alone has. */
static cip_status alone(walker *w, const cip_node *n, bool second, cip_err *err)
{
    char text[SHOWN + 32];
    CIP_TRY(visited(w, 1, err));
    if (is_passed_over(w)) {
        w->npassed++;
        return CIP_OK;
    }
    const uint64_t before = w->d->n;
    CIP_TRY(cip_differ_lacks(w->d, path_of(w), CIP_LACKS_NODE, second ? NULL : n, second ? n : NULL,
                             err));
    if (n->type == CIP_NODE_NULL && w->d->n != before) /* which stands for what is not read */
        return CIP_OK;
    show(second ? w->d->b : w->d->a, n, text);
    const cip_difference what = { .kind = second ? CIP_DIFF_ONLY_B : CIP_DIFF_ONLY_A,
                                  .path = path_of(w) };
    return cip_differ_tell(w->d, &what, err, "only in %s file: %s",
                           second ? "the second" : "the first", text);
}

static bool is_number(const cip_node *n)
{
    return n->type == CIP_NODE_INT || n->type == CIP_NODE_FLOAT;
}

/* As elements of arrays are compared. */
static bool near(const cip_diff_options *o, const cip_node *a, const cip_node *b)
{
    double x, y;
    if (o->rtol == 0 && o->atol == 0)
        return false;
    if (!cip_node_as_double(a, &x) || !cip_node_as_double(b, &y))
        return false;
    return x == y || (x != x && y != y) ||
           (isfinite(y) && fabs(x - y) <= o->atol + o->rtol * fabs(y));
}

/* Base64 is the same bytes however its lines are broken. */
static bool same_base64(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, " \t\r\n");
        b += strspn(b, " \t\r\n");
        if (*a != *b || *a == '\0')
            return *a == *b;
    }
}

/* --- arrays in the tree ----------------------------------------------------------------------- */

static bool is_listed(const cip_file *f, const char *path)
{
    return cip_file_array_at(f, path, strlen(path)) != NULL;
}

/* --- the walk --------------------------------------------------------------------------------- */

static bool is_inside_itself(const walker *w, const cip_node *a, const cip_node *b)
{
    for (size_t i = 0; i < depth(w); i++)
        if (frame_at(w, i)->a == a && frame_at(w, i)->b == b)
            return true;
    return false;
}

typedef struct pair_key {
    const cip_node *a, *b;
} pair_key;

static bool is_shared(const cip_node *a, const cip_node *b)
{
    return a->alias_used && b->alias_used;
}

static bool is_known(const walker *w, const cip_node *a, const cip_node *b)
{
    const pair_key key = { a, b };
    return is_shared(a, b) &&
           cip_strmap_get(&w->same, (cip_bytes){ (const uint8_t *)&key, sizeof key }) != SIZE_MAX;
}

static cip_status leave(walker *w, cip_err *err)
{
    const frame f = *frame_at(w, depth(w) - 1);
    pair_key *key;
    w->frames.len -= sizeof f;
    if (!is_shared(f.a, f.b) || f.ndiffer != w->d->n || f.npassed != w->npassed)
        return CIP_OK;
    CIP_TRY(CIP_ARENA_NEW(&w->arena, &key, 1, err));
    *key = (pair_key){ f.a, f.b };
    return cip_strmap_put(&w->same, (cip_bytes){ (const uint8_t *)key, sizeof *key }, 0, NULL, err);
}

static cip_status enter(walker *w, const cip_node *a, const cip_node *b, cip_err *err)
{
    const uint32_t most = w->d->a->env.limits.max_depth;
    const bool maps = a->type == CIP_NODE_MAP;
    if (is_known(w, a, b) || is_inside_itself(w, a, b))
        return CIP_OK;
    if (depth(w) >= most)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %" PRIu32 " collections inside each other, found more",
                        most);
    const frame f = { .a = a,
                      .b = b,
                      .path_len = w->path.len,
                      .plain_a = maps && cip_map_is_plain(a),
                      .plain_b = maps && cip_map_is_plain(b),
                      .ndiffer = w->d->n,
                      .npassed = w->npassed };
    return cip_buf_add(&w->frames, &f, sizeof f, err);
}

static cip_status visit(walker *w, const cip_node *a, const cip_node *b, cip_err *err)
{
    CIP_TRY(visited(w, 1, err));
    CIP_TRY(cip_buf_nul(&w->path, err));
    if (is_passed_over(w)) {
        w->npassed++;
        return CIP_OK;
    }
    if (a == NULL || b == NULL)
        return a == b ? CIP_OK : alone(w, a != NULL ? a : b, a == NULL, err);
    CIP_TRY(cip_differ_lacks(w->d, path_of(w), CIP_LACKS_NODE, a, b, err));
    const cip_array *in_a = cip_file_array_of_node(w->d->a, a);
    const cip_array *in_b = cip_file_array_of_node(w->d->b, b);
    if (in_a != NULL && in_b != NULL) {
        const char *path = path_of(w);
        if (w->d->o.path_a == NULL && is_listed(w->d->a, path) && is_listed(w->d->b, path))
            return CIP_OK; /* they are compared with the lists */
        return cip_differ_arrays(w->d, path, (cip_diff_side){ in_a, "" },
                                 (cip_diff_side){ in_b, "" }, err);
    }
    if (in_a != NULL || in_b != NULL)
        return tell_pair(w, CIP_DIFF_TYPE, a, b, err);
    const char *of_a = a->tag != NULL ? a->tag : "none", *of_b = b->tag != NULL ? b->tag : "none";
    if (!w->d->o.ignore_tags && strcmp(of_a, of_b) != 0) {
        const cip_difference what = { .kind = CIP_DIFF_TAG, .path = path_of(w) };
        CIP_TRY(cip_differ_tell(w->d, &what, err, "tags %.120s and %.120s", of_a, of_b));
    }
    if (is_number(a) && is_number(b) && near(&w->d->o, a, b))
        return CIP_OK;
    if (a->type != b->type)
        return tell_pair(w, CIP_DIFF_TYPE, a, b, err);
    if (is_container(a))
        return enter(w, a, b, err);
    if (cip_key_equal(a, b) || (a->type == CIP_NODE_BINARY && same_base64(a->text, b->text)))
        return CIP_OK;
    return tell_pair(w, CIP_DIFF_VALUE, a, b, err);
}

/* The pair of `map` with the same key as the i-th of `of`; of collections, which have no order of
 * their own, the pair of the same number. SIZE_MAX: none. */
static cip_status find_pair(walker *w, const cip_node *of, size_t i, const cip_node *map,
                            size_t *at, cip_err *err)
{
    const cip_node *key = of->pair[i].key;
    *at = i < map->len && is_container(key) && is_container(map->pair[i].key) ? i : SIZE_MAX;
    if (is_container(key))
        return CIP_OK;
    *at = cip_map_find(map, (cip_bytes){ (const uint8_t *)key->text, key->len },
                       key->type != CIP_NODE_STRING);
    if (*at != SIZE_MAX && cip_key_equal(map->pair[*at].key, key))
        return CIP_OK;
    *at = SIZE_MAX;
    if (key->type == CIP_NODE_STRING)
        return CIP_OK;
    CIP_TRY(visited(w, map->len, err)); /* one number, written in two ways */
    for (size_t k = 0; k < map->len && *at == SIZE_MAX; k++)
        if (cip_key_equal(map->pair[k].key, key))
            *at = k;
    return CIP_OK;
}

static cip_status next_pair(walker *w, const frame *f, size_t i, cip_err *err)
{
    const bool second = i >= f->a->len;
    const cip_node *map = second ? f->b : f->a;
    size_t at;
    i -= second ? f->a->len : 0;
    CIP_TRY(cip_path_add_pair(&w->path, map, i, second ? f->plain_b : f->plain_a, err));
    CIP_TRY(cip_buf_nul(&w->path, err));
    CIP_TRY(find_pair(w, map, i, second ? f->a : f->b, &at, err));
    if (at == SIZE_MAX)
        return alone(w, map->pair[i].value, second, err);
    if (second)
        return CIP_OK;
    const cip_pair *a = &f->a->pair[i], *b = &f->b->pair[at];
    if (is_container(a->key)) /* by itself: the step `?` and its number say which key it is */
        CIP_TRY(visit(w, a->key, b->key, err));
    return visit(w, a->value, b->value, err);
}

static cip_status next_child(walker *w, cip_err *err)
{
    char step[CIP_STEP_DIGITS];
    frame *f = frame_at(w, depth(w) - 1);
    const bool maps = f->a->type == CIP_NODE_MAP;
    const size_t longer = f->a->len > f->b->len ? f->a->len : f->b->len;
    if (f->next == (maps ? (size_t)f->a->len + f->b->len : longer))
        return leave(w, err);
    const frame now = *f;
    f->next++;
    w->path.len = now.path_len;
    if (maps)
        return next_pair(w, &now, now.next, err);
    const size_t i = now.next;
    const int n = snprintf(step, sizeof step, "%zu", i);
    CIP_TRY(cip_path_add(&w->path, (cip_bytes){ (const uint8_t *)step, (size_t)n }, err));
    CIP_TRY(cip_buf_nul(&w->path, err));
    if (i < now.a->len && i < now.b->len)
        return visit(w, now.a->item[i], now.b->item[i], err);
    return alone(w, i < now.a->len ? now.a->item[i] : now.b->item[i], i >= now.a->len, err);
}

cip_status cip_differ_nodes(cip_differ *d, const cip_node *a, const cip_node *b, const char *path,
                            cip_err *err)
{
    walker w = { .d = d,
                 .frames = { .mem = d->mem },
                 .path = { .mem = d->mem },
                 .same = { .mem = d->mem },
                 .arena = { .mem = d->mem } };
    cip_status st = cip_buf_puts(&w.path, path, err);
    if (st == CIP_OK)
        st = visit(&w, a, b, err);
    while (st == CIP_OK && depth(&w) != 0)
        st = next_child(&w, err);
    cip_buf_clear(&w.frames);
    cip_buf_clear(&w.path);
    cip_strmap_clear(&w.same);
    cip_arena_clear(&w.arena);
    return st;
}
