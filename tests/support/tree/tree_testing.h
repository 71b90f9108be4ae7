/* SPDX-License-Identifier: BSD-3-Clause
 * What the tests of this folder share: an environment with an arena, parsing that has to succeed or
 * to fail, trees compared. Included after cmocka.h. */
#ifndef CIP_TESTS_TREE_TESTING_H
#define CIP_TESTS_TREE_TESTING_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/strmap.h"
#include "tree/yaml.h"

typedef struct bench {
    cip_env env;
    cip_arena arena;
    cip_buf out;
    cip_err err;
    void *copies[64]; /* exact copies of the texts parsed, so that ASan sees a read past the end */
    size_t ncopy;
} bench;

static inline void bench_start(bench *b, const cip_allocator *from)
{
    memset(b, 0, sizeof *b);
    assert_int_equal(cip_env_init(&b->env, NULL, from, NULL, NULL), CIP_OK);
    b->arena.mem = &b->env.mem;
    b->out.mem = &b->env.mem;
}

static inline int bench_new(void **state)
{
    bench *b = malloc(sizeof *b);
    bench_start(b, NULL);
    *state = b;
    return 0;
}

static inline void bench_end(bench *b)
{
    cip_arena_clear(&b->arena);
    cip_buf_clear(&b->out);
    cip_env_clear(&b->env);
    while (b->ncopy > 0)
        free(b->copies[--b->ncopy]);
    assert_int_equal(b->env.mem.used, 0); /* nothing leaks */
}

static inline int bench_free(void **state)
{
    bench_end(*state);
    free(*state);
    return 0;
}

static inline cip_bytes exact(bench *b, const void *text, size_t len)
{
    uint8_t *copy = malloc(len);
    if (len != 0)
        memcpy(copy, text, len);
    if (b->ncopy == sizeof b->copies / sizeof b->copies[0]) {
        free(b->copies[0]);
        memmove(b->copies, b->copies + 1, sizeof b->copies - sizeof b->copies[0]);
        b->ncopy--;
    }
    b->copies[b->ncopy++] = copy;
    return (cip_bytes){ copy, len };
}

static inline cip_status try_parse_n(bench *b, const void *text, size_t len,
                                     const cip_yaml_options *opt, const cip_node **root)
{
    b->err = (cip_err)CIP_ERR_INIT;
    return cip_yaml_parse(&b->env, &b->arena, exact(b, text, len), opt, root, &b->err);
}

static inline const cip_node *parse_as(bench *b, const char *text, const cip_yaml_options *opt)
{
    const cip_node *root = NULL;
    if (try_parse_n(b, text, strlen(text), opt, &root) != CIP_OK)
        fail_msg("%s at %llu, in: %s", b->err.text, (unsigned long long)b->err.offset, text);
    return root;
}

static inline const cip_node *parse(bench *b, const char *text)
{
    return parse_as(b, text, NULL);
}

static inline void refuses_n(bench *b, const void *text, size_t len, cip_status code,
                             uint64_t offset)
{
    const cip_node *root = (const cip_node *)b;
    assert_int_equal(try_parse_n(b, text, len, NULL, &root), code);
    assert_null(root);
    assert_int_equal(b->err.code, code);
    assert_int_equal(b->err.offset, offset);
    assert_string_equal(b->err.part, "tree");
}

static inline void refuses(bench *b, const char *text, cip_status code, uint64_t offset)
{
    refuses_n(b, text, strlen(text), code, offset);
}

/* Warnings so far. */
static inline size_t warned(bench *b)
{
    return b->env.warnings.count[CIP_WARN];
}

static inline const cip_finding *warning(bench *b, size_t i)
{
    const cip_finding *f = cip_report_get(&b->env.warnings, i);
    assert_non_null(f);
    return f;
}

static inline bool same_scalar(const cip_node *x, const cip_node *y)
{
    switch (x->type) {
    case CIP_NODE_NULL:
        return true;
    case CIP_NODE_BOOL:
        return x->b == y->b;
    case CIP_NODE_INT:
        return x->negative == y->negative && x->u == y->u;
    case CIP_NODE_FLOAT:
        return (isnan(x->f) && isnan(y->f)) || memcmp(&x->f, &y->f, sizeof x->f) == 0;
    default:
        return x->len == y->len && memcmp(x->text, y->text, x->len) == 0;
    }
}

/* Equal in types, values, tags, order and in what is shared with what: `seen` maps the collections
 * of x met so far to those of y. */
static inline bool same_node(const cip_node *x, const cip_node *y, cip_strmap *seen, cip_arena *a)
{
    if (x->type != y->type || (x->tag == NULL) != (y->tag == NULL) ||
        (x->tag != NULL && strcmp(x->tag, y->tag) != 0))
        return false;
    if (x->type != CIP_NODE_SEQ && x->type != CIP_NODE_MAP)
        return same_scalar(x, y);
    char *key;
    assert_int_equal(cip_arena_copy(a, &x, sizeof x, &key, NULL), CIP_OK);
    size_t was;
    assert_int_equal(cip_strmap_put(seen, (cip_bytes){ (uint8_t *)key, sizeof x },
                                    (size_t)(uintptr_t)y, &was, NULL),
                     CIP_OK);
    if (was != SIZE_MAX)
        return was == (size_t)(uintptr_t)y;
    if (x->len != y->len)
        return false;
    for (size_t i = 0; i < x->len; i++) {
        if (x->type == CIP_NODE_MAP && !same_node(cip_node_key(x, i), cip_node_key(y, i), seen, a))
            return false;
        if (!same_node(cip_node_at(x, i), cip_node_at(y, i), seen, a))
            return false;
    }
    return true;
}

static inline bool same_tree(const cip_node *x, const cip_node *y)
{
    cip_mem mem;
    cip_mem_init(&mem, NULL, 0);
    cip_strmap seen = { .mem = &mem };
    cip_arena a = { .mem = &mem };
    bool same = same_node(x, y, &seen, &a);
    cip_strmap_clear(&seen);
    cip_arena_clear(&a);
    return same;
}

static inline cip_bytes bytes_of(const char *s)
{
    return (cip_bytes){ (const uint8_t *)s, strlen(s) };
}

/* An allocator that counts down and then gives nothing. */
typedef struct countdown {
    long left;
} countdown;

static inline void *countdown_resize(void *user, void *ptr, size_t old_size, size_t new_size)
{
    countdown *c = user;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return c->left-- > 0 ? realloc(ptr, new_size) : NULL;
}

/* Runs `work` in a bench whose n-th allocation fails, for each n until it succeeds: every failure
 * is NOMEM and nothing leaks. */
static inline void every_allocation_may_fail(cip_status (*work)(bench *b))
{
    for (long n = 0;; n++) {
        countdown c = { 1000000 };
        const cip_allocator from = { countdown_resize, &c };
        bench b;
        bench_start(&b, &from);
        c.left = n;
        cip_status st = work(&b);
        c.left = 1000000;
        bench_end(&b);
        if (st == CIP_OK) {
            assert_true(n > 0);
            return;
        }
        assert_int_equal(st, CIP_ERR_NOMEM);
    }
}

#endif
