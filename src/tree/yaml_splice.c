/* SPDX-License-Identifier: BSD-3-Clause
 * Splicing, and the proof that nothing but the edit changed: the events before and after are walked
 * side by side, and each alias must name the node that it named before. */
#include <stdlib.h>
#include <string.h>

#include "tree/yaml_splice.h"

typedef struct splice {
    size_t at, del;
    size_t from, len; /* of c->words */
    uint32_t mark;    /* of several changes: where this one's first region begins */
    size_t order;
} splice;

void cip_text_change_init(cip_text_change *c, cip_env *env, const cip_yaml_text *old)
{
    *c = (cip_text_change){ .env = env,
                            .old = old,
                            .words = { .mem = &env->mem },
                            .splices = { .mem = &env->mem },
                            .regions = { .mem = &env->mem },
                            .restyled = CIP_NO_MARK };
    cip_yaml_text_init(&c->value, env);
}

void cip_text_change_clear(cip_text_change *c)
{
    cip_buf_clear(&c->words);
    cip_buf_clear(&c->splices);
    cip_buf_clear(&c->regions);
    cip_yaml_text_clear(&c->value);
}

/* What the parser says of a text of ours is not about the file. */
static cip_status refuse(cip_status st, const cip_err *why, cip_err *err)
{
    if (st == CIP_ERR_NOMEM || st == CIP_ERR_LIMIT)
        return cip_fail(err, st, CIP_NO_OFFSET, "%s", why->text);
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected an edit that keeps the rest of the text, found one that is not valid "
                    "YAML there (%.120s)",
                    why->text);
}

cip_status cip_text_change_expect(cip_text_change *c, const cip_buf *text, cip_err *err)
{
    const cip_yaml_options opt = { .default_handle = c->old->marks.handle, .quiet = true };
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(cip_buf_add(&c->value.text, text->ptr, text->len, err));
    cip_status st = cip_yaml_text_parse(&c->value, c->env, &opt, &why);
    return st == CIP_OK ? CIP_OK : refuse(st, &why, err);
}

cip_status cip_text_change_splice(cip_text_change *c, size_t at, size_t del, const void *text,
                                  size_t n, cip_err *err)
{
    splice s = { at, del, c->words.len, n, 0, c->splices.len };
    CIP_TRY(cip_buf_add(&c->words, text, n, err));
    return cip_buf_add(&c->splices, &s, sizeof s, err);
}

cip_status cip_text_change_region(cip_text_change *c, cip_region r, cip_err *err)
{
    r.order = c->regions.len;
    return cip_buf_add(&c->regions, &r, sizeof r, err);
}

static int by_place(const void *x, const void *y)
{
    const splice *a = x, *b = y;
    if (a->at != b->at)
        return a->at < b->at ? -1 : 1;
    if (a->mark != b->mark)
        return a->mark < b->mark ? -1 : 1;
    if ((a->del == 0) != (b->del == 0)) /* what comes stands in front of what goes */
        return a->del == 0 ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static int by_mark(const void *x, const void *y)
{
    const cip_region *a = x, *b = y;
    if (a->from != b->from)
        return a->from < b->from ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

static bool same_text(const char *x, const char *y)
{
    return x == y || (x != NULL && y != NULL && strcmp(x, y) == 0);
}

static bool same_mark(const cip_mark *x, const cip_mark *y, bool loose)
{
    const cip_node *a = x->node, *b = y->node;
    if (x->kind != y->kind)
        return false;
    if (x->kind == CIP_MARK_CLOSE)
        return true;
    if (x->kind == CIP_MARK_ALIAS)
        return same_text(a->anchor, b->anchor);
    if (a->type != b->type || !same_text(a->tag, b->tag) || !same_text(a->anchor, b->anchor) ||
        (!loose && a->style != b->style))
        return false;
    return x->kind == CIP_MARK_OPEN || (a->len == b->len && memcmp(a->text, b->text, a->len) == 0);
}

typedef struct walk {
    const cip_text_change *c;
    const cip_yaml_text *now;
    uint32_t at;     /* of `now` */
    uint32_t *moved; /* old mark -> new one; CIP_NO_MARK: gone */
} walk;

/* The next event of the new text is event i of `from`, whose aliases go to `moved` events or, in
 * the value, to its own. */
static bool step(walk *w, const cip_yaml_text *from, uint32_t i, uint32_t shift, bool loose)
{
    if (w->at >= cip_mark_count(w->now))
        return false;
    const cip_mark *x = cip_mark_at(from, i), *y = cip_mark_at(w->now, w->at);
    const bool own = from == w->c->old;
    if (!same_mark(x, y, loose))
        return false;
    if (x->kind == CIP_MARK_ALIAS && y->target != (own ? w->moved[x->target] : x->target + shift))
        return false;
    if (own)
        w->moved[i] = w->at;
    w->at++;
    return true;
}

static bool step_region(walk *w, const cip_region *r)
{
    const uint32_t shift = w->at - r->e_from;
    for (uint32_t i = r->e_from; r->expected != NULL && i < r->e_to; i++)
        if (!step(w, r->expected, i, shift, r->loose))
            return false;
    return true;
}

static bool is_same(walk *w)
{
    const cip_text_change *c = w->c;
    const cip_region *r = (const cip_region *)(const void *)c->regions.ptr;
    const cip_region *end = r + c->regions.len / sizeof *r;
    const uint32_t n = cip_mark_count(c->old);
    for (uint32_t i = 0;;) {
        if (r != end && r->from == i) {
            if (!step_region(w, r))
                return false;
            i = r->to;
            r++;
        } else if (i < n) {
            if (!step(w, c->old, i, 0, i == c->restyled))
                return false;
            i++;
        } else {
            return r == end && w->at == cip_mark_count(w->now);
        }
    }
}

static cip_status compare(cip_text_change *c, const cip_yaml_text *now, cip_err *err)
{
    const uint32_t n = cip_mark_count(c->old);
    walk w = { .c = c, .now = now };
    CIP_TRY(cip_mem_get(&c->env->mem, ((size_t)n + 1) * sizeof *w.moved, (void **)&w.moved, err));
    memset(w.moved, 0xff, ((size_t)n + 1) * sizeof *w.moved);
    if (c->regions.len != 0)
        qsort(c->regions.ptr, c->regions.len / sizeof(cip_region), sizeof(cip_region), by_mark);
    bool same = is_same(&w);
    cip_mem_put(&c->env->mem, w.moved);
    if (same)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "expected an edit that keeps the rest of the text, found one that would change "
                    "other values too");
}

cip_status cip_text_change_apply(cip_text_change *c, const cip_yaml_options *opt,
                                 cip_yaml_text *out, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    cip_yaml_options quiet = *opt;
    quiet.quiet = true;
    const cip_buf *old = &c->old->text;
    splice *s = (splice *)(void *)c->splices.ptr;
    const size_t n = c->splices.len / sizeof *s;
    size_t done = 0;
    qsort(s, n, sizeof *s, by_place);
    CIP_TRY(cip_buf_reserve(&out->text, old->len + c->words.len, NULL, err));
    for (size_t i = 0; i < n; i++) {
        if (s[i].at < done || s[i].at > old->len || s[i].del > old->len - s[i].at)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected an edit of one place, found parts that overlap");
        CIP_TRY(cip_buf_add(&out->text, old->ptr + done, s[i].at - done, err));
        CIP_TRY(cip_buf_add(&out->text, c->words.ptr + s[i].from, s[i].len, err));
        done = s[i].at + s[i].del;
    }
    CIP_TRY(cip_buf_add(&out->text, old->ptr + done, old->len - done, err));
    cip_status st = cip_yaml_text_parse(out, c->env, &quiet, &why);
    if (st != CIP_OK)
        return refuse(st, &why, err);
    return compare(c, out, err);
}

/* Takes over what `from` does, at its places. */
static cip_status join(cip_text_change *all, const cip_text_change *from, cip_err *err)
{
    const size_t words = all->words.len, order = all->splices.len;
    const splice *s = (const splice *)(const void *)from->splices.ptr;
    const cip_region *r = (const cip_region *)(const void *)from->regions.ptr;
    CIP_TRY(cip_buf_add(&all->words, from->words.ptr, from->words.len, err));
    for (size_t i = 0; i < from->splices.len / sizeof *s; i++) {
        const splice moved = { s[i].at,  s[i].del, s[i].from + words,
                               s[i].len, r->from,  s[i].order + order };
        CIP_TRY(cip_buf_add(&all->splices, &moved, sizeof moved, err));
    }
    for (size_t i = 0; i < from->regions.len / sizeof *r; i++)
        CIP_TRY(cip_text_change_region(all, r[i], err));
    return CIP_OK;
}

cip_status cip_changes_apply(const cip_text_change *const *list, size_t n,
                             const cip_yaml_options *opt, cip_yaml_text *out, cip_err *err)
{
    cip_status st = CIP_OK;
    cip_text_change all;
    cip_text_change_init(&all, list[0]->env, list[0]->old);
    for (size_t i = 0; i < n; i++)
        CIP_GO(join(&all, list[i], err));
    CIP_GO(cip_text_change_apply(&all, opt, out, err));
done:
    cip_text_change_clear(&all);
    return st;
}
