/* SPDX-License-Identifier: BSD-3-Clause
 * Random changes with marks between their calls, in every format that is changed in place, and of
 * new files before their commit. After going back, all that can be read is what it was at the mark;
 * and the commit's bytes are those of a change in which the calls that were taken back were never
 * made. So they are where memory was too little for a call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cippus/cippus.h"
#include "cippus/ext/chunk.h"
#include "support/effort.h"
#include "support/fail_alloc.h"

enum { MOST_OPS = 48, MOST_MARKS = 6, MOST_ELEMS = 20000, MOST_TEXT = 1 << 18 };

typedef struct kind {
    const char *name, *format, *option, *codec, *storage;
    bool table;        /* columns `a` and `b` of as many rows */
    const char *value; /* where values of the tree may be */
    int64_t columns;
} kind;

static const kind kinds[] = {
    { "a.asdf", NULL, NULL, NULL, NULL, false, "v", 3 },
    { "a.asdf", NULL, NULL, "zlib", NULL, false, "v", 3 },
    { "a.asdf", NULL, NULL, "lz4", NULL, false, "v", 700 },
    { "a.asdf", NULL, NULL, NULL, "inline", false, "v", 2 },
    { "a.asdf", NULL, NULL, NULL, "streamed", false, "v", 2 },
    { "a.b2nd", NULL, "chunks=4,2", NULL, NULL, false, "vlmeta", 3 },
    { "a.b2nd", NULL, "sparse=yes", NULL, NULL, false, "vlmeta", 2 },
    { "a.npy", NULL, NULL, NULL, NULL, false, "v", 600 },
    { "a.ra", NULL, NULL, NULL, NULL, false, "v", 3 },
    { "a.ra", NULL, NULL, "lz4", NULL, false, "v", 3 },
    { "a.blp", NULL, "chunk_size=32", NULL, NULL, false, "v", 2 },
    { NULL, "bcolz", "chunklen=5", NULL, NULL, true, "attributes", 0 },
    { NULL, "blz-dir", "chunklen=5", NULL, NULL, true, "attributes", 0 },
    { NULL, "bcolz", "chunklen=5", NULL, NULL, false, "attributes", 3 },
    { NULL, "blz", "chunklen=5", NULL, NULL, false, "attributes", 2 },
    { NULL, "blz", "chunklen=5", NULL, NULL, true, "attributes", 0 },
    { NULL, "zarr", "chunks=4,2", NULL, NULL, false, "v", 3 },
    { NULL, "zarr2", "chunks=4,2", "zlib", NULL, false, "v", 3 },
    { "a.zip", "zarr", "chunks=4,2", NULL, NULL, false, "v", 3 },
};

enum { NKIND = sizeof kinds / sizeof kinds[0] };

static const kind *now;
static struct {
    uint64_t file, call, made, left, back, committed, nomem, torn;
} did; /* with the kind */
static uint64_t seed, first_seed;

static fail_alloc memory_of; /* the change's */
static bool short_of_memory; /* some calls fail for want of it */

static uint64_t any(uint64_t n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return n == 0 ? 0 : (seed >> 33) % n;
}

static void fail_at(const char *what, const cip_err *err)
{
    fail_msg("seed %" PRIu64 ", %s %s %s: %s: %s: %s", first_seed,
             now->name != NULL ? now->name : now->format, now->codec != NULL ? now->codec : "",
             now->storage != NULL ? now->storage : "", what, err->part, err->text);
}

/* --- what a change can be read as ------------------------------------------------------------- */

typedef struct text {
    char at[MOST_TEXT];
    size_t n;
} text;

static int add_text(void *user, const void *bytes, size_t n)
{
    text *t = user;
    if (n >= MOST_TEXT - t->n)
        fail_msg("a text of over %d bytes", MOST_TEXT);
    memcpy(t->at + t->n, bytes, n);
    t->n += n;
    return 0;
}

static void add_array(text *t, const cip_array *a)
{
    static int32_t elems[MOST_ELEMS * 4];
    char line[200];
    cip_err err = CIP_ERR_INIT;
    uint64_t n = cip_dtype_itemsize(cip_array_dtype(a));
    size_t at = (size_t)snprintf(line, sizeof line, "\n%s", cip_array_path(a));
    for (int i = 0; i < cip_array_ndim(a); i++) {
        at += (size_t)snprintf(line + at, sizeof line - at, " %" PRId64, cip_array_shape(a)[i]);
        n *= (uint64_t)cip_array_shape(a)[i];
    }
    add_text(t, line, at);
    if (cip_array_state(a, NULL) != CIP_OK) {
        add_text(t, " unknown", 8);
        return;
    }
    if (n > sizeof elems)
        fail_msg("an array of %" PRIu64 " bytes", n);
    if (cip_read(a, NULL, cip_dtype_as_stored(), elems, n, &err) != CIP_OK)
        fail_at("reading the change", &err);
    add_text(t, elems, n);
}

static void see(cip_change *c, text *t)
{
    cip_err err = CIP_ERR_INIT;
    t->n = 0;
    const cip_file *f = cip_change_file(c, &err);
    if (f == NULL) {
        if (err.code != CIP_ERR_UNSUPPORTED)
            fail_at("cip_change_file", &err);
        add_text(t, err.text, strlen(err.text));
        return;
    }
    for (size_t i = 0; i < cip_file_narray(f); i++)
        add_array(t, cip_file_array(f, i));
    if (cip_file_tree(f) != NULL &&
        cip_tree_print(f, NULL, CIP_TREE_PRINT_OPTIONS(.arrays_as_nodes = true), add_text, t,
                       &err) != CIP_OK)
        fail_at("the tree of the change", &err);
}

/* --- calls ------------------------------------------------------------------------------------ */

static cip_file
    *source; /* `rows` and `wide`, with elements that do not fit, of the kind's columns */
static int32_t elems[MOST_ELEMS * 4];

/* Other elements at each call. */
static const void *new_elems(uint64_t nbytes)
{
    if (nbytes > sizeof elems)
        fail_msg("%" PRIu64 " bytes of elements", nbytes);
    for (size_t i = 0; i < nbytes / sizeof *elems; i++)
        elems[i] = any(4) == 0 ? 0 : (int32_t)any(1 << 30);
    return elems;
}

static const char *pick_name(void)
{
    static const char *const names[] = { "a", "a", "b", "n0", "n1", "n2" };
    return names[any(sizeof names / sizeof *names)];
}

static const char *pick_value(void)
{
    static char path[60];
    snprintf(path, sizeof path, "%s/k%d%s", now->value, (int)any(3), any(4) == 0 ? "/x" : "");
    return path;
}

/* Rows change in all columns, mostly. */
static const char *pick_array(bool rows)
{
    if (now->table)
        return rows && any(8) != 0 ? "" : any(3) == 0 ? "" : pick_name();
    const bool named = now->name != NULL ? strstr(now->name, ".asdf") != NULL
                                         : strncmp(now->format, "zarr", 4) == 0;
    return named ? pick_name() : "";
}

static cip_status write_box(cip_change *c, const cip_array *a, const char *path, cip_err *err)
{
    char box[100];
    const int64_t *shape = cip_array_shape(a);
    uint64_t n = cip_dtype_itemsize(cip_array_dtype(a));
    size_t at = (size_t)snprintf(box, sizeof box, "[");
    for (int i = 0; i < cip_array_ndim(a); i++) {
        const int64_t from = (int64_t)any((uint64_t)shape[i] + 1),
                      len = (int64_t)any((uint64_t)(shape[i] - from) + 1);
        at += (size_t)snprintf(box + at, sizeof box - at, "%s%d:%d", i == 0 ? "" : ",", (int)from,
                               (int)(from + len));
        n *= (uint64_t)len;
    }
    snprintf(box + at, sizeof box - at, "]");
    if (any(8) == 0) /* from an array; some of its elements may not fit */
        return cip_change_write_array(c, path, "[0:4]",
                                      cip_find(source, any(2) == 0 ? "wide" : "rows", err), err);
    return cip_change_write(c, path, box, cip_dtype_as_stored(), new_elems(n), n, err);
}

static cip_status change_rows(cip_change *c, const cip_array *a, const char *path, cip_err *err)
{
    int64_t shape[8];
    const int64_t rows = cip_array_shape(a)[0];
    uint64_t row = cip_dtype_itemsize(cip_array_dtype(a));
    const int64_t most = rows < 20 ? 4 : 0, n = (int64_t)any((uint64_t)most + 1),
                  at = (int64_t)any((uint64_t)rows + 1);
    for (int i = 0; i < cip_array_ndim(a); i++) {
        shape[i] = cip_array_shape(a)[i];
        row *= i != 0 ? (uint64_t)shape[i] : 1;
    }
    switch (any(6)) {
    case 0:
    case 1:
        return cip_change_append(c, path, cip_dtype_as_stored(), new_elems(row * (uint64_t)n),
                                 row * (uint64_t)n, err);
    case 2:
        return rows > 20 ? cip_change_delete(c, path, 0, 0, 8, err)
                         : cip_change_append_array(c, path, cip_find(source, "rows", err), err);
    case 3:
        return cip_change_insert(c, path, 0, at, cip_dtype_as_stored(),
                                 new_elems(row * (uint64_t)n), row * (uint64_t)n, err);
    case 4:
        return cip_change_delete(c, path, 0, at, (int64_t)any((uint64_t)(rows - at) + 1), err);
    default:
        shape[0] = (int64_t)any(20);
        if (cip_array_ndim(a) > 1 && any(3) == 0)
            shape[1] = 1 + (int64_t)any(6);
        return cip_change_resize(c, path, cip_array_ndim(a), shape, err);
    }
}

static bool shows(void)
{
    return getenv("CIP_SHOW") != NULL;
}

static cip_status put(cip_change *c, cip_err *err)
{
    const cip_array *a;
    int64_t shape[] = { 1 + (int64_t)any(8), 2 };
    const bool inlined = any(4) == 0 && !now->table;
    if (any(5) == 0)
        return cip_change_put_array(c, pick_name(), cip_find(source, "rows", err), NULL,
                                    CIP_ARRAY_OPTIONS(.replace = any(3) == 0), err);
    const cip_status st = now->table ? cip_change_array(c, "b", &a, NULL) : CIP_ERR_NOT_FOUND;
    if (st == CIP_ERR_NOMEM) /* it would be another call */
        return st;
    if (st == CIP_OK && any(4) != 0)
        shape[0] = cip_array_shape(a)[0];
    const char *name = pick_name();
    return cip_change_put(
        c, name, cip_dtype_of(CIP_I32), now->table ? 1 : 2, shape,
        new_elems((uint64_t)shape[0] * 8),
        CIP_ARRAY_OPTIONS(.replace = any(3) == 0,
                          .codec = any(4) == 0 && !inlined && !now->table ? "zlib" : NULL,
                          .storage = inlined ? "inline" : NULL),
        err);
}

/* The tree's text with a value more. */
static cip_status set_text(cip_change *c, cip_err *err)
{
    static char more[MOST_TEXT];
    const char *was;
    size_t n;
    const cip_status st = cip_change_text(c, &was, &n, err);
    if (st != CIP_OK || n < 4 || memcmp(was + n - 4, "...\n", 4) != 0)
        return st != CIP_OK ? st : CIP_ERR_NOT_FOUND;
    n = (size_t)snprintf(more, sizeof more, "%.*sw%d: %d\n...\n", (int)n - 4, was, (int)any(3),
                         (int)any(1000));
    return cip_change_set_text(c, more, n, err);
}

static cip_status put_boxes(cip_change *c, cip_err *err)
{
    const int64_t shape[] = { 1 + (int64_t)any(8), 2 };
    const cip_array *a;
    cip_slab *slab;
    cip_status st = cip_change_array(c, "b", &a, NULL);
    if (st == CIP_ERR_NOMEM)
        return st;
    const int64_t n = now->table && st == CIP_OK ? cip_array_shape(a)[0] : shape[0];
    st = cip_change_declare(c, pick_name(), cip_dtype_of(CIP_I32), now->table ? 1 : 2,
                            (int64_t[]){ n, 2 }, NULL, &slab, err);
    for (int64_t i = 0; i < n && st == CIP_OK; i += 2) {
        const cip_box box = { .start = { i }, .stop = { i + 2 < n ? i + 2 : n, 2 } };
        const size_t nbytes = (size_t)(box.stop[0] - i) * (now->table ? 4 : 8);
        st = cip_slab_write(slab, &box, new_elems(nbytes), nbytes, err);
    }
    return st;
}

/* The call that the seed stands for, of a change that looks as it does. */
static cip_status call(cip_change *c, uint64_t of, cip_err *err)
{
    const cip_array *a;
    char from[60];
    seed = of;
    const uint64_t what = any(20);
    if (shows())
        fprintf(stderr, "what %d ", (int)what);
    const char *path = pick_array(what >= 6 && what < 11);
    if (what < 11 && cip_change_array(c, path, &a, err) != CIP_OK)
        return CIP_ERR_NOT_FOUND; /* nothing is asked of it */
    if (what < 5)
        return write_box(c, a, path, err);
    if (what == 5)
        return cip_chunk_write(c, path, any(3), false, new_elems(32), 32, err);
    if (what < 11)
        return cip_array_ndim(a) == 0 ? CIP_ERR_NOT_FOUND : change_rows(c, a, path, err);
    switch (what) {
    case 11:
    case 12:
        return put(c, err);
    case 13:
        return cip_change_remove(c, any(2) == 0 ? pick_name() : pick_value(), err);
    case 14:
        snprintf(from, sizeof from, "%s", any(2) == 0 ? pick_name() : pick_value());
        return cip_change_move(c, from, strchr(from, '/') != NULL ? pick_value() : pick_name(),
                               any(2) == 0, err);
    case 15:
        if (any(8) == 0)
            return put_boxes(c, err);
        if (any(4) == 0)
            return set_text(c, err);
        return any(4) == 0 ? cip_change_freeze(c, err)
                           : cip_change_set_yaml(c, pick_value(), "{x: [1, 2]}", err);
    default:
        return cip_change_set_int(c, pick_value(), (int64_t)any(1000), err);
    }
}

/* --- files ------------------------------------------------------------------------------------ */

static void make_source(void)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    cip_memory *m;
    double wide[4 * 700];
    const int64_t shape[] = { 4, now->columns };
    const int ndim = now->table ? 1 : 2;
    for (size_t i = 0; i < 4 * 700; i++)
        wide[i] = i + 1 == (size_t)(4 * (now->table ? 1 : now->columns)) ? 1e300 : (double)i;
    cip_create_memory("s.asdf", NULL, &m, &w, &err);
    cip_change_put(w, "rows", cip_dtype_of(CIP_I32), ndim, shape,
                   new_elems(4 * 4 * (uint64_t)now->columns + 16), NULL, &err);
    cip_change_put(w, "wide", cip_dtype_of(CIP_F64), ndim, shape, wide, NULL, &err);
    if (cip_change_commit(&w, &err) != CIP_OK)
        fail_at("the source", &err);
    size_t n;
    const void *bytes = cip_memory_bytes(m, &n);
    if (cip_open_memory(bytes, n, NULL, &source, &err) != CIP_OK)
        fail_at("the source", &err);
    static cip_memory *kept;
    cip_memory_free(kept);
    kept = m;
}

/* A new file with something in it; *c is its change. */
static cip_memory *begin_file(uint64_t of, const cip_allocator *allocator, cip_change **c)
{
    cip_err err = CIP_ERR_INIT;
    cip_memory *memory;
    seed = of;
    const int64_t shape[] = { 1 + (int64_t)any(12), now->columns };
    const char *const options[] = { now->option, NULL };
    cip_create_memory(now->name,
                      CIP_CHANGE_OPTIONS(.format = now->format, .allocator = allocator,
                                         .format_options = now->option != NULL ? options : NULL),
                      &memory, c, &err);
    const uint64_t nbytes = (uint64_t)shape[0] * 4 * (now->table ? 1 : (uint64_t)now->columns);
    cip_change_put(*c, "a", cip_dtype_of(CIP_I32), now->table ? 1 : 2, shape, new_elems(nbytes),
                   CIP_ARRAY_OPTIONS(.codec = now->codec, .storage = now->storage), &err);
    if (now->table)
        cip_change_put(*c, "b", cip_dtype_of(CIP_I32), 1, shape, new_elems(nbytes), NULL, &err);
    if (err.code != CIP_OK)
        fail_at("a new file", &err);
    return memory;
}

/* `draft`: the change of the new file itself. */
static cip_memory *begin(uint64_t of, bool draft, const cip_allocator *allocator, cip_change **c)
{
    cip_err err = CIP_ERR_INIT;
    const cip_array *a;
    cip_memory *memory = begin_file(of, draft ? allocator : NULL, c);
    if (!draft && cip_change_commit(c, &err) != CIP_OK)
        fail_at("the first commit", &err);
    if (!draft && cip_change_open_memory(memory, CIP_CHANGE_OPTIONS(.allocator = allocator), c,
                                         &err) != CIP_OK)
        fail_at("cip_change_open_memory", &err);
    cip_change_array(*c, "a", &a, NULL); /* a new file is written now, in both changes alike */
    return memory;
}

static void expect_same(const cip_memory *x, const cip_memory *y)
{
    const cip_err none = CIP_ERR_INIT;
    size_t n = 0, m = 0;
    const void *p = cip_memory_bytes(x, &n), *q = cip_memory_bytes(y, &m);
    if (n != m || (n != 0 && memcmp(p, q, n) != 0))
        fail_at("other bytes", &none);
    for (size_t i = 0;; i++) {
        const char *a = cip_memory_member(x, i, &p, &n), *b = cip_memory_member(y, i, &q, &m);
        if (a == NULL && b == NULL)
            return;
        if (a == NULL || b == NULL || strcmp(a, b) != 0 || n != m ||
            (n != 0 && memcmp(p, q, n) != 0))
            fail_at(a != NULL ? a : b, &none);
    }
}

/* --- with marks, and without ------------------------------------------------------------------ */

typedef struct run {
    cip_change *c;
    uint64_t op[MOST_OPS]; /* calls that count */
    size_t nop, nmark;
    struct {
        uint64_t number;
        size_t nop;
        text *seen;
    } mark[MOST_MARKS];
} run;

/* After one of the next requests there is no memory, for a call of the library. */
static void run_short(uint64_t of)
{
    if (short_of_memory && of >> 62 != 0)
        memory_of.fail_at = memory_of.requests + 1 + (of >> 40) % ((of >> 50) % 2 == 0 ? 12 : 200);
}

static void set_mark(run *r)
{
    cip_err err = CIP_ERR_INIT;
    if (r->nmark == MOST_MARKS)
        return;
    run_short(seed);
    cip_status st = cip_change_mark(r->c, &r->mark[r->nmark].number, &err);
    memory_of.fail_at = 0;
    if (st == CIP_ERR_NOMEM)
        return;
    if (st != CIP_OK)
        fail_at("cip_change_mark", &err);
    if (shows())
        fprintf(stderr, "mark %d\n", (int)r->mark[r->nmark].number);
    r->mark[r->nmark].nop = r->nop;
    r->mark[r->nmark].seen = malloc(sizeof(text));
    see(r->c, r->mark[r->nmark++].seen);
}

static void drop_marks(run *r, size_t n)
{
    while (r->nmark > n)
        free(r->mark[--r->nmark].seen);
}

static void go_back(run *r)
{
    static text is;
    cip_err err = CIP_ERR_INIT;
    if (r->nmark == 0)
        return;
    const size_t k = any(r->nmark);
    if (shows())
        fprintf(stderr, "undo %d\n", (int)r->mark[k].number);
    const uint64_t to = k + 1 == r->nmark && any(2) == 0 ? 0 : r->mark[k].number;
    run_short(seed);
    cip_status st = cip_change_undo(r->c, to, &err);
    memory_of.fail_at = 0;
    if (st == CIP_ERR_NOMEM) { /* nothing was taken back */
        cip_err_clear(&err);
        st = cip_change_undo(r->c, to, &err);
    }
    if (st != CIP_OK)
        fail_at("cip_change_undo", &err);
    drop_marks(r, k + 1);
    r->nop = r->mark[k].nop;
    did.back++;
    see(r->c, &is);
    const text *was = r->mark[k].seen;
    if (is.n != was->n || memcmp(is.at, was->at, is.n) != 0) {
        if (shows()) {
            fwrite(was->at, 1, was->n, stderr);
            fprintf(stderr, "\n----\n");
            fwrite(is.at, 1, is.n, stderr);
            fprintf(stderr, "\n");
        }
        fail_at("another change after going back", &err);
    }
}

static void release(run *r)
{
    cip_err err = CIP_ERR_INIT;
    if (r->nmark == 0)
        return;
    const size_t k = any(r->nmark);
    if (shows())
        fprintf(stderr, "release %d\n", (int)r->mark[k].number);
    if (cip_change_release(r->c, r->mark[k].number, &err) != CIP_OK)
        fail_at("cip_change_release", &err);
    if (cip_change_release(r->c, r->mark[k].number, NULL) != CIP_ERR_ARG)
        fail_at("a mark twice", &err);
    drop_marks(r, k);
}

static void one_call(run *r, uint64_t of)
{
    static text was, is;
    cip_err err = CIP_ERR_INIT, why = CIP_ERR_INIT;
    if (r->nop == MOST_OPS || (short_of_memory && r->nmark == 0))
        return;
    if (short_of_memory)
        see(r->c, &was);
    run_short(of);
    const cip_status st = call(r->c, of, &why);
    memory_of.fail_at = 0;
    did.nomem += st == CIP_ERR_NOMEM;
    if (shows())
        fprintf(stderr, "call %d %s\n", (int)st, why.text);
    did.call++;
    did.made += st == CIP_OK;
    if (st == CIP_OK)
        r->op[r->nop++] = of;
    else if (cip_change_forget_failure(r->c, &err) == CIP_OK && short_of_memory) {
        see(r->c, &is);
        if (is.n != was.n || memcmp(is.at, was.at, is.n) != 0)
            fail_at("a call that failed changed something", &why);
    } else if (err.code != CIP_OK) {
        did.torn++;
        if (!short_of_memory)
            fail_at("a call that failed halfway", &err);
        go_back(r);
    }
}

static uint64_t next_seed(uint64_t *s)
{
    return *s = *s * 2862933555777941757u + 3037000493u;
}

/* What is done next. */
static void step(run *r, uint64_t *s)
{
    const uint64_t of = next_seed(s);
    seed = of;
    switch (any(10)) {
    case 0:
    case 1:
        set_mark(r);
        break;
    case 2:
        go_back(r);
        break;
    case 3:
        if (any(2) == 0)
            release(r);
        break;
    default:
        one_call(r, of);
    }
}

/* The calls that are left, in another change; both commits end alike. */
static void compare(run *r, const cip_memory *memory, uint64_t of, bool draft)
{
    cip_err err = CIP_ERR_INIT, why = CIP_ERR_INIT;
    cip_change *c;
    cip_memory *same = begin(of, draft, NULL, &c);
    for (size_t i = 0; i < r->nop; i++)
        if (call(c, r->op[i], &why) != CIP_OK)
            fail_at("a call without marks", &why);
    const cip_status st = cip_change_commit(&r->c, &why), plain = cip_change_commit(&c, &err);
    if (st != plain || strcmp(why.text, err.text) != 0) {
        fprintf(stderr, "without marks: %s\n", err.text);
        fail_at("another end", &why);
    }
    did.file++;
    did.left += r->nop;
    did.committed += st == CIP_OK;
    if (st == CIP_OK)
        expect_same(memory, same);
    cip_memory_free(same);
}

static void one_file(uint64_t s, bool draft)
{
    run r = { .nop = 0 };
    first_seed = s;
    const uint64_t of = next_seed(&s);
    seed = of;
    make_source();
    memory_of.fail_at = 0;
    const cip_allocator allocator = { fail_alloc_resize, &memory_of };
    cip_memory *memory = begin(of, draft, &allocator, &r.c);
    for (uint64_t n = 8 + any(30); n != 0; n--)
        step(&r, &s);
    drop_marks(&r, 0);
    compare(&r, memory, of, draft);
    cip_memory_free(memory);
    cip_file_close(source);
    assert_int_equal(memory_of.held, 0);
}

static void files_of_all_kinds(void)
{
    const uint64_t n = test_full() ? 4000 : 40;
    for (size_t k = 0; k < NKIND; k++) {
        now = &kinds[k];
        memset(&did, 0, sizeof did);
        for (uint64_t i = 0; i < n; i++)
            one_file((test_seed() * 1000003 + k * 7919 + i) * 2654435761u, i % 4 == 3);
        print_message(
            "%-8s%-10s%5d files,%5d committed,%6d calls,%6d made,%6d left,%5d times back, "
            "%4d without memory,%4d halfway\n",
            now->name != NULL ? now->name : now->format,
            now->codec != NULL     ? now->codec
            : now->storage != NULL ? now->storage
            : now->table           ? "table"
                                   : "",
            (int)did.file, (int)did.committed, (int)did.call, (int)did.made, (int)did.left,
            (int)did.back, (int)did.nomem, (int)did.torn);
        assert_true(did.committed > did.file / 3 && did.made > did.call / 8);
    }
}

static void what_was_taken_back_was_never_there(void **state)
{
    (void)state;
    short_of_memory = false;
    files_of_all_kinds();
}

static void calls_without_memory_can_be_taken_back(void **state)
{
    (void)state;
    short_of_memory = true;
    files_of_all_kinds();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_taken_back_was_never_there),
        cmocka_unit_test(calls_without_memory_can_be_taken_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
