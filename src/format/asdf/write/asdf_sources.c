/* SPDX-License-Identifier: BSD-3-Clause
 * The sources of ndarrays changed within the text of a tree, so that everything else stays as it
 * was written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/asdf/asdf.h"
#include "tree/yaml.h"

/* A piece of the text and what takes its place. */
typedef struct splice {
    uint64_t off, end;
    size_t at, len; /* in the walk's `made` */
} splice;

typedef struct walk {
    cip_env *env;
    asdf_source_fn *fn;
    void *user;
    cip_buf list; /* of splice */
    cip_buf made;
    cip_status st;
    cip_err *err;
} walk;

static int visit(void *user, const cip_visit *v)
{
    walk *w = user;
    const cip_node *source = cip_asdf_source_of(v->node);
    if (v->again || source == NULL || source->type >= CIP_NODE_SEQ)
        return v->again;
    size_t start = w->made.len;
    w->st = w->fn(w->user, source, &w->made, w->err);
    if (w->st != CIP_OK || w->made.len == start)
        return w->st == CIP_OK ? 0 : 2;
    const splice s = { source->offset, source->end, start, w->made.len - start };
    if (source->anchor != NULL)
        w->st = cip_fail(w->err, CIP_ERR_UNSUPPORTED, source->offset,
                         "expected a source without an anchor, found '&%.60s'", source->anchor);
    else if (s.off == CIP_NO_OFFSET || s.end <= s.off)
        w->st =
            cip_fail(w->err, CIP_ERR_UNSUPPORTED, s.off, "expected a source written in the text");
    else
        w->st = cip_buf_add(&w->list, &s, sizeof s, w->err);
    return w->st == CIP_OK ? 0 : 2;
}

static int by_place(const void *a, const void *b)
{
    const splice *x = a, *y = b;
    return x->off < y->off ? -1 : x->off > y->off;
}

/* An ndarray that aliases name comes several times. */
static cip_status apply(walk *w, cip_bytes text, cip_buf *out, cip_err *err)
{
    splice *s = (splice *)(void *)w->list.ptr;
    size_t n = w->list.len / sizeof *s;
    uint64_t done = 0;
    if (n > 1)
        qsort(s, n, sizeof *s, by_place);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && s[i].off == s[i - 1].off)
            continue;
        if (s[i].off < done || s[i].end > text.len)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, s[i].off,
                            "expected sources that do not overlap");
        CIP_TRY(cip_buf_add(out, text.ptr + done, (size_t)(s[i].off - done), err));
        CIP_TRY(cip_buf_add(out, w->made.ptr + s[i].at, s[i].len, err));
        done = s[i].end;
    }
    return cip_buf_add(out, text.ptr + done, text.len - (size_t)done, err);
}

cip_status cip_asdf_splice_sources(cip_env *env, cip_bytes text, asdf_source_fn *fn, void *user,
                                   cip_buf *out, cip_err *err)
{
    cip_arena arena = { .mem = &env->mem };
    const cip_node *root;
    walk w = { .env = env,
               .fn = fn,
               .user = user,
               .list = { .mem = &env->mem },
               .made = { .mem = &env->mem },
               .err = err };
    cip_status st;
    CIP_GO(cip_yaml_parse(env, &arena, text, &cip_asdf_tree_options, &root, err));
    CIP_GO(cip_tree_walk_told(root, env, visit, &w, &w.st, err));
    st = apply(&w, text, out, err);
done:
    cip_buf_clear(&w.list);
    cip_buf_clear(&w.made);
    cip_arena_clear(&arena);
    return st;
}

/* --- numbers ---------------------------------------------------------------------------------- */

typedef struct numbers {
    const int64_t *to;
    size_t n;
} numbers;

static cip_status renumber(void *user, const cip_node *source, cip_buf *text, cip_err *err)
{
    const numbers *x = user;
    const uint64_t i = cip_asdf_block_of(source, x->n);
    const int64_t to = i >= x->n ? -1 : x->to != NULL ? x->to[i] : (int64_t)i;
    return to < 0 ? CIP_OK : cip_buf_addf(text, err, "%" PRId64, to);
}

cip_status cip_asdf_renumber(cip_env *env, cip_bytes text, const int64_t *to, size_t n,
                             cip_buf *out, cip_err *err)
{
    numbers x = { to, n };
    return cip_asdf_splice_sources(env, text, renumber, &x, out, err);
}
