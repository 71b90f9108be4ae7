/* SPDX-License-Identifier: BSD-3-Clause
 * Slabs before the commit: boxes that are taken back, elements that are read while others are still
 * to come, in files that are there and in new ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "core/writing/slab.h"
#include "support/core/writing/edit_testing.h"
#include "support/fail_alloc.h"
#include "support/needs.h"

enum { ROWS = 13, COLUMNS = 9, DEEP = 6, RUNS = 12, STEPS = 60 };

static scratch s;
static const int64_t shape[] = { ROWS, COLUMNS };

static int setup(void **state)
{
    (void)state;
    return scratch_open(&s) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&s);
    return 0;
}

static uint64_t draw(uint64_t *seed, uint64_t n)
{
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (*seed >> 33) % n;
}

/* --- against a model -------------------------------------------------------------------------- */

typedef struct model {
    int32_t v[ROWS][COLUMNS];
    bool there[ROWS][COLUMNS];
} model;

typedef struct game {
    uint64_t seed;
    cip_change *c;
    cip_slab *slab;
    const char *path;
    model now, mark[DEEP];
    uint64_t number[DEEP];
    int nmark;
    int32_t next;
} game;

static void draw_range(game *g, int64_t n, int64_t *start, int64_t *stop)
{
    *start = (int64_t)draw(&g->seed, (uint64_t)n);
    *stop = *start + 1 + (int64_t)draw(&g->seed, (uint64_t)(n - *start));
}

static void write_a_box(game *g)
{
    int32_t data[ROWS * COLUMNS];
    cip_box b = { { 0 }, { 0 } };
    size_t n = 0;
    draw_range(g, ROWS, &b.start[0], &b.stop[0]);
    draw_range(g, COLUMNS, &b.start[1], &b.stop[1]);
    if (draw(&g->seed, 3) == 0) { /* whole rows, or one element */
        b.start[1] = 0;
        b.stop[1] = COLUMNS;
    } else if (draw(&g->seed, 3) == 0) {
        b.stop[0] = b.start[0] + 1;
        b.stop[1] = b.start[1] + 1;
    }
    for (int64_t y = b.start[0]; y < b.stop[0]; y++)
        for (int64_t x = b.start[1]; x < b.stop[1]; x++) {
            data[n++] = g->now.v[y][x] = ++g->next;
            g->now.there[y][x] = true;
        }
    OK(cip_slab_write(g->slab, &b, data, n * sizeof *data, err));
}

static void go_back(game *g, int to)
{
    OK(cip_change_undo(g->c, to == g->nmark - 1 ? 0 : g->number[to], err));
    g->now = g->mark[to];
    g->nmark = to + 1;
}

/* The element that the text names is one of the selection, and not there. */
static void expect_named(const game *g, const cip_slice *a, const char *text)
{
    const char *at = strstr(text, "element [");
    long y, x;
    assert_non_null(at);
    assert_non_null(strstr(text, "has not been written yet"));
    assert_int_equal(sscanf(at, "element [%ld, %ld]", &y, &x), 2);
    assert_true(y >= a[0].start && y < a[0].stop && (y - a[0].start) % a[0].step == 0);
    assert_true(x >= a[1].start && x < a[1].stop && (x - a[1].start) % a[1].step == 0);
    assert_false(g->now.there[y][x]);
}

static void look(game *g)
{
    int32_t want[ROWS * COLUMNS], got[ROWS * COLUMNS];
    cip_slice a[2] = { { .step = 1 + (int64_t)draw(&g->seed, 3) },
                       { .step = 1 + (int64_t)draw(&g->seed, 3) } };
    const cip_array *of = NULL;
    char text[64];
    size_t n = 0;
    bool there = true;
    draw_range(g, ROWS, &a[0].start, &a[0].stop);
    draw_range(g, COLUMNS, &a[1].start, &a[1].stop);
    for (int64_t y = a[0].start; y < a[0].stop; y += a[0].step)
        for (int64_t x = a[1].start; x < a[1].stop; x += a[1].step) {
            want[n++] = g->now.v[y][x];
            there = there && g->now.there[y][x];
        }
    if (draw(&g->seed, 2) == 0) {
        OK(cip_change_array(g->c, g->path, &of, err));
    } else {
        cip_err why = CIP_ERR_INIT;
        const cip_file *f = cip_change_file(g->c, &why);
        of = f != NULL ? cip_find(f, g->path, &why) : NULL;
        assert_int_equal(why.code, CIP_OK);
    }
    assert_int_equal(cip_array_ndim(of), 2);
    assert_int_equal(cip_array_shape(of)[0], ROWS);
    snprintf(text, sizeof text, "[%d:%d:%d, %d:%d:%d]", (int)a[0].start, (int)a[0].stop,
             (int)a[0].step, (int)a[1].start, (int)a[1].stop, (int)a[1].step);
    cip_err why = CIP_ERR_INIT;
    const cip_status st = cip_read(of, text, cip_dtype_of(CIP_I32), got, n * sizeof *got, &why);
    assert_int_equal(st, there ? CIP_OK : CIP_ERR_UNSUPPORTED);
    if (there)
        assert_memory_equal(want, got, n * sizeof *got);
    else
        expect_named(g, a, why.text);
}

static void play(game *g, bool looks, int steps)
{
    for (int i = 0; i < steps; i++) {
        const uint64_t what = looks ? draw(&g->seed, 10) : 0;
        if (what < 5) {
            write_a_box(g);
        } else if (what < 7) {
            look(g);
        } else if (what < 8 && g->nmark < DEEP) {
            OK(cip_change_mark(g->c, &g->number[g->nmark], err));
            g->mark[g->nmark++] = g->now;
        } else if (what < 9 && g->nmark != 0) {
            go_back(g, (int)draw(&g->seed, (uint64_t)g->nmark));
        } else if (g->nmark != 0 && draw(&g->seed, 3) == 0) {
            g->nmark = (int)draw(&g->seed, (uint64_t)g->nmark);
            OK(cip_change_release(g->c, g->number[g->nmark], err));
        }
    }
}

static void expect_file(const char *name, const char *path, const model *want)
{
    int32_t got[ROWS][COLUMNS];
    cip_file *f;
    OK(cip_open(scratch_path(&s, name), NULL, &f, err));
    OK(cip_read(cip_find(f, path, NULL), NULL, cip_dtype_of(CIP_I32), got, sizeof got, err));
    assert_memory_equal(got, want->v, sizeof got);
    cip_file_close(f);
    edit_verify(scratch_path(&s, name));
}

static void boxes_marks_and_looks_in_any_order(void **state)
{
    static const char *const file[] = { "x.asdf", "x.b2nd", "x.blp", "x.npy", "x.ra" };
    static const char *const order[] = { NULL, "big" };
    (void)state;
    NEEDS_CODECS();
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        for (size_t i = 0; i < sizeof file / sizeof file[0]; i++) {
            game g = { .seed = seed, .path = i == 0 ? "a/x" : "" };
            const char *path = scratch_path(&s, file[i]);
            OK(cip_create(path,
                          CIP_CHANGE_OPTIONS(.overwrite = true,
                                             .byteorder = i == 0 || i > 2 ? NULL : order[seed % 2]),
                          &g.c, err));
            if (i == 0)
                OK(cip_change_put(g.c, "first", cip_dtype_of(CIP_I32), 2, shape, g.now.v, NULL,
                                  err));
            OK(cip_change_declare(g.c, g.path, cip_dtype_of(CIP_I32), 2, shape,
                                  CIP_ARRAY_OPTIONS(.codec = i == 0 ? "zlib" : NULL), &g.slab,
                                  err));
            play(&g, false, (int)(seed % 4));
            play(&g, true, STEPS);
            OK(cip_change_commit(&g.c, err));
            expect_file(file[i], g.path, &g.now);
        }
}

static void in_a_file_that_is_there(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        game g = { .seed = seed, .path = "b/y" };
        char name[32];
        snprintf(name, sizeof name, "there%d.asdf", (int)seed);
        OK(cip_change_open(edit_file(&s, name, false), NULL, &g.c, err));
        OK(cip_change_declare(g.c, g.path, cip_dtype_of(CIP_I32), 2, shape, NULL, &g.slab, err));
        play(&g, true, STEPS);
        OK(cip_change_commit(&g.c, err));
        expect_file(name, g.path, &g.now);
        edit_expect(scratch_path(&s, name), "few", "10 20 30\n");
    }
}

/* Columns of a folder share the writer; they are no arrays before the commit. */
static void of_a_folder_too(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const int64_t four[] = { 4 };
    const int32_t v[] = { 1, 2, 3, 4 }, w[] = { 8, 9 };
    const char *path = scratch_path(&s, "t.bcolz");
    cip_change *c;
    cip_slab *slab, *gone;
    OK(cip_create(path, NULL, &c, err));
    OK(cip_change_put(c, "a", cip_dtype_of(CIP_I32), 1, four, v, NULL, err));
    OK(cip_change_put(c, "b", cip_dtype_of(CIP_I32), 1, four, v, NULL, err));
    OK(cip_change_commit(&c, err));
    OK(cip_change_open(path, NULL, &c, err));
    OK(cip_change_declare(c, "c", cip_dtype_of(CIP_I32), 1, four, NULL, &slab, err));
    OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 4 }), v, 16, err));
    OK(cip_change_mark(c, NULL, err));
    OK(cip_slab_write(slab, CIP_BOX({ 1 }, { 3 }), w, 8, err));
    OK(cip_change_declare(c, "d", cip_dtype_of(CIP_I32), 1, four, NULL, &gone, err));
    OK(cip_slab_write(gone, CIP_BOX({ 0 }, { 4 }), v, 16, err));
    FAILS(CIP_ERR_RANGE, "8 bytes", cip_slab_write(slab, CIP_BOX({ 1 }, { 3 }), w, 4, err));
    OK(cip_change_undo(c, 0, err));
    OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 1 }), w, 4, err));
    OK(cip_change_commit(&c, err));
    edit_expect(path, NULL, "(1, 1, 8)\n(2, 2, 2)\n(3, 3, 3)\n(4, 4, 4)\n");
}

/* A column that boxes fill is asked for when it is declared, not at the commit. */
static void a_column_that_may_not_come_is_refused_at_once(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const int64_t four[] = { 4 }, five[] = { 5 };
    const int32_t v[] = { 1, 2, 3, 4 };
    const cip_dtype *i32 = cip_dtype_of(CIP_I32);
    cip_change *c;
    cip_slab *slab;
    for (int i = 0; i < 2; i++) {
        const char *path = scratch_path(&s, i == 0 ? "may.bcolz" : "may.blz");
        OK(cip_create(path, NULL, &c, err));
        OK(cip_change_put(c, "a", i32, 1, four, v, NULL, err));
        OK(cip_change_put(c, "b", i32, 1, four, v, NULL, err));
        OK(cip_change_commit(&c, err));
        OK(cip_change_open(path, NULL, &c, err));
        FAILS(CIP_ERR_ARG, "'a' exists",
              cip_change_declare(c, "a", i32, 1, four, NULL, &slab, err));
        FAILS(CIP_ERR_UNSUPPORTED, "cannot replace a column",
              cip_change_declare(c, "a", i32, 1, four, CIP_ARRAY_OPTIONS(.replace = true), &slab,
                                 err));
        FAILS(CIP_ERR_UNSUPPORTED, "4 rows",
              cip_change_declare(c, "c", i32, 1, five, NULL, &slab, err));
        FAILS(CIP_ERR_UNSUPPORTED, "name",
              cip_change_declare(c, "c/d", i32, 1, four, NULL, &slab, err));
        OK(cip_change_forget_failure(c, err));
        OK(cip_change_remove(c, "a", err));
        OK(cip_change_declare(c, "a", i32, 1, four, CIP_ARRAY_OPTIONS(.replace = true), &slab,
                              err));
        FAILS(CIP_ERR_UNSUPPORTED, "'a' was added in this update and is being filled",
              cip_change_put(c, "a", i32, 1, four, v, NULL, err));
        OK(cip_change_forget_failure(c, err));
        OK(cip_slab_write(slab, CIP_BOX({ 1 }, { 4 }), v, 12, err));
        OK(cip_change_commit(&c, err));
        edit_expect(path, NULL, "(1, 0)\n(2, 1)\n(3, 2)\n(4, 3)\n");
    }
}

/* --- marks ------------------------------------------------------------------------------------ */

static const int64_t two[] = { 2 };
static const int16_t pair[] = { 1, 2 };

/* A box that failed since the mark no longer counts, one that failed before it does. */
static void boxes_that_failed_since_a_mark_are_forgotten(void **state)
{
    (void)state;
    const char *path = edit_file(&s, "f.asdf", false);
    for (int before = 1; before >= 0; before--) {
        cip_change *c;
        cip_slab *slab;
        OK(cip_change_open(path, NULL, &c, err));
        OK(cip_change_declare(c, "x", cip_dtype_of(CIP_I16), 1, two, NULL, &slab, err));
        if (before)
            FAILS(CIP_ERR_RANGE, "2 bytes",
                  cip_slab_write(slab, CIP_BOX({ 0 }, { 1 }), pair, 4, err));
        OK(cip_change_mark(c, NULL, err));
        FAILS(CIP_ERR_RANGE, "4 bytes", cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), pair, 2, err));
        FAILS(CIP_ERR_ARG, "a box and data", cip_slab_write(slab, NULL, pair, 2, err));
        OK(cip_change_undo(c, 0, err));
        if (before)
            FAILS(CIP_ERR_RANGE, "2 bytes", cip_change_commit(&c, err));
        else
            OK(cip_change_commit(&c, err));
    }
    edit_expect(path, "x", "0 0\n");
}

/* Boxes wait, and are copied at the end, only while they may be taken back. */
static void boxes_go_to_their_places_when_no_mark_is_left(void **state)
{
    (void)state;
    uint64_t first;
    cip_change *c;
    cip_slab *slab;
    OK(cip_change_open(edit_file(&s, "p.asdf", false), NULL, &c, err));
    OK(cip_change_mark(c, &first, err));
    OK(cip_change_declare(c, "x", cip_dtype_of(CIP_I16), 1, two, NULL, &slab, err));
    OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 1 }), pair, 2, err)); /* it goes with the slab */
    OK(cip_change_mark(c, NULL, err));
    OK(cip_change_release(c, first, err));
    OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 1 }), pair, 2, err));
    assert_null(slab->later);
    OK(cip_change_mark(c, NULL, err));
    OK(cip_slab_write(slab, CIP_BOX({ 1 }, { 2 }), pair, 2, err));
    assert_int_equal(slab->later->size, 2);
    OK(cip_change_release(c, 0, err));
    OK(cip_slab_write(slab, CIP_BOX({ 1 }, { 2 }), pair + 1, 2, err)); /* not below what waits */
    OK(cip_change_commit(&c, err));
    edit_expect(scratch_path(&s, "p.asdf"), "x", "1 2\n");
}

typedef struct crew {
    cip_slab *slab;
    int64_t first;
} crew;

static void *fill_rows(void *arg)
{
    const crew *w = arg;
    for (int64_t y = w->first; y < ROWS; y += 4) {
        int32_t row[COLUMNS];
        for (int x = 0; x < COLUMNS; x++)
            row[x] = (int32_t)(y * COLUMNS + x);
        OK(cip_slab_write(w->slab, CIP_BOX({ y, 0 }, { y + 1, COLUMNS }), row, sizeof row, err));
    }
    return NULL;
}

/* Marks are set, and a new file is looked at for the first time, while threads write boxes. */
static void threads_write_meanwhile(void **state)
{
    (void)state;
    NEEDS_CODECS();
    for (int i = 0; i < 8; i++) {
        const char *name = i % 2 != 0 ? "m.b2nd" : "m.asdf";
        const cip_array *a;
        cip_change *c;
        cip_slab *slab;
        pthread_t t[4];
        crew w[4];
        model want;
        OK(cip_create(scratch_path(&s, name), CIP_CHANGE_OPTIONS(.overwrite = true), &c, err));
        OK(cip_change_declare(c, "m", cip_dtype_of(CIP_I32), 2, shape, NULL, &slab, err));
        for (int k = 0; k < 4; k++) {
            w[k] = (crew){ slab, k };
            assert_int_equal(pthread_create(&t[k], NULL, fill_rows, &w[k]), 0);
        }
        OK(cip_change_array(c, i % 2 != 0 ? "" : "m", &a, err));
        OK(cip_change_mark(c, NULL, err));
        int32_t got[COLUMNS];
        cip_read(a, "[0]", cip_dtype_of(CIP_I32), got, sizeof got, NULL); /* or it is refused */
        OK(cip_change_release(c, 0, err));
        for (int k = 0; k < 4; k++)
            pthread_join(t[k], NULL);
        for (int k = 0; k < ROWS * COLUMNS; k++)
            want.v[k / COLUMNS][k % COLUMNS] = k;
        OK(cip_change_commit(&c, err));
        expect_file(name, i % 2 != 0 ? "" : "m", &want);
    }
}

/* --- looks ------------------------------------------------------------------------------------ */

/* What lies between elements that are wanted is not asked for, however many there are. */
static void one_column_of_many_rows(void **state)
{
    enum { MANY = 200000 };
    static const int64_t many[] = { MANY, 3 };
    static uint8_t v[MANY], got[MANY];
    const cip_array *a;
    cip_change *c;
    cip_slab *slab;
    (void)state;
    for (int i = 0; i < MANY; i++)
        v[i] = (uint8_t)(i * 7);
    OK(cip_create(scratch_path(&s, "c.npy"), NULL, &c, err));
    OK(cip_change_declare(c, "", cip_dtype_of(CIP_U8), 2, many, NULL, &slab, err));
    OK(cip_slab_write(slab, CIP_BOX({ 0, 1 }, { MANY, 2 }), v, MANY, err));
    OK(cip_change_array(c, "", &a, err));
    OK(cip_read(a, "[:, 1]", cip_dtype_of(CIP_U8), got, MANY, err));
    assert_memory_equal(got, v, MANY);
    OK(cip_read(a, "[::3, 1]", cip_dtype_of(CIP_U8), got, (MANY + 2) / 3, err));
    assert_int_equal(got[10], v[30]);
    FAILS(CIP_ERR_UNSUPPORTED, "element [0, 0] has not been written yet",
          cip_read(a, "[0]", cip_dtype_of(CIP_U8), got, 3, err));
    FAILS(CIP_ERR_UNSUPPORTED, "element [199999, 2] has not been written yet",
          cip_read(a, "[-1, 2]", cip_dtype_of(CIP_U8), got, 1, err));
    cip_change_abort(&c);
}

/* Two boxes that differ along one axis, every way in which they may lie to each other. */
static void two_boxes(int axis, const int64_t *a, const int64_t *b)
{
    enum { N = 6 };
    static const int64_t square[] = { N, N };
    const uint8_t v[N * N] = { 0 };
    const int64_t *const bounds[] = { a, b };
    const cip_array *of;
    cip_memory *m;
    cip_change *c;
    cip_slab *slab;
    OK(cip_create_memory("npy", NULL, &m, &c, err));
    OK(cip_change_declare(c, "", cip_dtype_of(CIP_U8), 2, square, NULL, &slab, err));
    for (int i = 0; i < 2; i++) {
        cip_box box = { { 1, 1 }, { 3, 3 } };
        box.start[axis] = bounds[i][0];
        box.stop[axis] = bounds[i][1];
        OK(cip_slab_write(slab, &box, v, 2 * (size_t)(bounds[i][1] - bounds[i][0]), err));
    }
    OK(cip_change_array(c, "", &of, err));
    for (int i = 0; i < N; i++) {
        const bool there = (i >= a[0] && i < a[1]) || (i >= b[0] && i < b[1]);
        char at[32];
        uint8_t got[2];
        snprintf(at, sizeof at, axis == 0 ? "[%d, 1:3]" : "[1:3, %d]", i);
        assert_int_equal(cip_read(of, at, cip_dtype_of(CIP_U8), got, 2, NULL),
                         there ? CIP_OK : CIP_ERR_UNSUPPORTED);
    }
    cip_change_abort(&c);
    cip_memory_free(m);
}

static void boxes_that_touch_overlap_or_do_not(void **state)
{
    (void)state;
    for (int i = 0; i < 6 * 6 * 6 * 6; i++) {
        const int64_t a[] = { i % 6, i / 6 % 6 + 1 }, b[] = { i / 36 % 6, i / 216 + 1 };
        if (a[0] < a[1] && b[0] < b[1]) {
            two_boxes(0, a, b);
            two_boxes(1, a, b);
        }
    }
}

/* It is what boxes alone change. */
static void nothing_else_changes_it(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const char *const file[] = { "n.asdf", "n.b2nd" };
    for (int i = 0; i < 2; i++) {
        const char *const at = i == 0 ? "x" : "";
        cip_change *c;
        cip_slab *slab;
        int axis;
        int64_t start, n;
        OK(cip_create(scratch_path(&s, file[i]), NULL, &c, err));
        OK(cip_change_declare(c, "x", cip_dtype_of(CIP_I16), 1, two, NULL, &slab, err));
        OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), pair, 4, err));
        FAILS(CIP_ERR_UNSUPPORTED, "is being filled",
              cip_change_write(c, at, "[0]", cip_dtype_of(CIP_I16), pair, 2, err));
        FAILS(CIP_ERR_UNSUPPORTED, "is being filled",
              cip_change_append(c, at, cip_dtype_of(CIP_I16), pair, 2, err));
        FAILS(CIP_ERR_UNSUPPORTED, "is being filled",
              cip_change_resize(c, at, 1, (int64_t[]){ 3 }, err));
        FAILS(CIP_ERR_UNSUPPORTED, "is being filled", cip_change_delete(c, at, 0, 0, 1, err));
        FAILS(CIP_ERR_UNSUPPORTED, "is being filled",
              cip_chunk_write(c, at, 0, false, pair, 4, err));
        FAILS(CIP_ERR_UNSUPPORTED, "is being filled",
              cip_change_range(c, at, "[0:1]", &axis, &start, &n, err));
        if (i == 0) {
            OK(cip_change_set_int(c, "n", 1, err));
            FAILS(CIP_ERR_UNSUPPORTED, "is being filled", cip_change_remove(c, at, err));
            FAILS(CIP_ERR_UNSUPPORTED, "is being filled", cip_change_move(c, at, "y", false, err));
            FAILS(CIP_ERR_UNSUPPORTED, "is being filled", cip_change_move(c, "n", at, true, err));
        }
        OK(cip_change_forget_failure(c, err));
        FAILS(CIP_ERR_RANGE, "4 bytes", cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), pair, 2, err));
        OK(cip_change_forget_failure(c, err));
        OK(cip_slab_write(slab, CIP_BOX({ 1 }, { 2 }), pair, 2, err));
        OK(cip_change_commit(&c, err));
        edit_expect(scratch_path(&s, file[i]), at, "1 1\n");

        OK(cip_create(scratch_path(&s, file[i]), CIP_CHANGE_OPTIONS(.overwrite = true), &c, err));
        OK(cip_change_declare(c, "x", cip_dtype_of(CIP_I16), 1, two, NULL, &slab, err));
        OK(cip_change_mark(c, NULL, err));
        FAILS(CIP_ERR_RANGE, "4 bytes", cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), pair, 2, err));
        FAILS(CIP_ERR_RANGE, "4 bytes", cip_change_commit(&c, err)); /* nor does it go unnoticed */
    }
}

/* A folder may make several arrays of them. */
static void records_in_a_folder_keep_it_closed(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const char *const file[] = { "r.bcolz", "r.blz" };
    const uint8_t v[] = { 1, 2, 3, 4 };
    cip_dtype *record = cip_dtype_parse("{a: uint8, b: uint8}", NULL);
    for (int i = 0; i < 2; i++) {
        cip_change *c;
        cip_slab *slab;
        OK(cip_create(scratch_path(&s, file[i]), NULL, &c, err));
        OK(cip_change_declare(c, "x", record, 1, two, NULL, &slab, err));
        assert_null(cip_change_file(c, NULL));
        OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), v, 4, err));
        OK(cip_change_commit(&c, err));
        edit_expect(scratch_path(&s, file[i]), NULL, "(1, 2)\n(3, 4)\n");
    }
    cip_dtype_free(record);
}

/* Data in a file beside cannot be changed by an update: the first look says so, and spoils nothing.
 */
static void a_slab_that_keeps_a_new_file_closed(void **state)
{
    (void)state;
    const uint8_t mask[] = { 0, 1 };
    const char *path = scratch_path(&s, "k.asdf");
    const cip_array *a;
    cip_change *c;
    cip_slab *slab;
    OK(cip_create(path, NULL, &c, err));
    OK(cip_change_declare(c, "x", cip_dtype_of(CIP_I16), 1, two,
                          CIP_ARRAY_OPTIONS(.storage = "external"), &slab, err));
    FAILS(CIP_ERR_UNSUPPORTED, "'x' is being filled", cip_change_array(c, "x", &a, err));
    assert_null(cip_change_file(c, NULL));
    OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), pair, 4, err));
    OK(cip_change_commit(&c, err));
    edit_expect(path, "x", "1 2\n");
    OK(cip_change_open(path, NULL, &c, err));
    OK(cip_change_declare(c, "m", cip_dtype_of(CIP_I16), 1, two, CIP_ARRAY_OPTIONS(.mask = mask),
                          &slab, err));
    const cip_file *f = cip_change_file(c, NULL);
    assert_non_null(f);
    FAILS(CIP_ERR_UNSUPPORTED, "has a mask", cip_array_state(cip_find(f, "m", NULL), err));
    cip_change_abort(&c);
}

static void expect_elem(const cip_array *a, const char *at, int16_t want)
{
    int16_t got;
    if (want < 0) {
        FAILS(CIP_ERR_UNSUPPORTED, "has not been written yet",
              cip_read(a, at, cip_dtype_of(CIP_I16), &got, sizeof got, err));
        return;
    }
    OK(cip_read(a, at, cip_dtype_of(CIP_I16), &got, sizeof got, err));
    assert_int_equal(got, want);
}

/* Of arrays that cannot come by an update zeros are written, and nobody sees them: streamed, masked
 * and viewed ones, and beside a streamed one any. */
static void slabs_over_zeros_in_a_new_file(void **state)
{
    (void)state;
    NEEDS_CODECS();
    const uint8_t mask[] = { 0, 1 };
    const cip_dtype *i16 = cip_dtype_of(CIP_I16);
    const char *path = scratch_path(&s, "zeros.asdf");
    cip_change *c;
    for (int i = 0; i < 8; i++) {
        const int way = i / 2;
        cip_slab *slab, *other;
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true, .codec = i % 2 ? "zlib" : NULL),
                      &c, err));
        OK(cip_change_declare(c, "m/x", i16, 1, two,
                              CIP_ARRAY_OPTIONS(.storage = way == 1 ? "streamed" : NULL,
                                                .mask = way == 2 ? mask : NULL),
                              &slab, err));
        OK(cip_change_declare(c, "o", i16, 1, two, NULL, &other, err));
        OK(cip_change_put(c, "p", i16, 1, two, pair, NULL, err));
        if (way == 0 || way == 3)
            OK(cip_change_put_view(c, "v", "m/x", way == 0 ? "[1:]" : "[::-1]", err));
        OK(cip_slab_write(slab, CIP_BOX({ 1 }, { 2 }), pair + 1, 2, err));
        const cip_file *f = cip_change_file(c, NULL);
        assert_non_null(f);
        assert_int_equal(cip_file_narray(f), way == 0 || way == 3 ? 4 : 3);
        expect_elem(cip_find(f, "m/x", NULL), "[0]", -1);
        expect_elem(cip_find(f, "o", NULL), "[0]", -1);
        expect_elem(cip_find(f, "p", NULL), "[0]", 1);
        assert_int_equal(cip_find(f, "m/x", NULL)->mask.kind != CIP_MASK_NONE, way == 2);
        if (way != 2)
            expect_elem(cip_find(f, "m/x", NULL), "[1]", 2);
        if (way == 0 || way == 3)
            expect_elem(cip_find(f, "v", NULL), "[0]", 2);
        if (way == 3)
            expect_elem(cip_find(f, "v", NULL), "[1]", -1);
        FAILS(CIP_ERR_UNSUPPORTED, "is being filled", cip_change_remove(c, "m", err));
        FAILS(CIP_ERR_UNSUPPORTED, "is being filled",
              cip_change_write(c, way == 3 ? "v" : "m/x", NULL, i16, pair, 4, err));
        OK(cip_change_forget_failure(c, err));
        OK(cip_change_mark(c, NULL, err));
        OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 2 }), (int16_t[]){ 7, 7 }, 4, err));
        expect_elem(cip_find(cip_change_file(c, NULL), "m/x", NULL), "[0]", 7);
        OK(cip_change_undo(c, 0, err));
        OK(cip_slab_write(slab, CIP_BOX({ 0 }, { 1 }), (int16_t[]){ 5 }, 2, err));
        OK(cip_slab_write(other, CIP_BOX({ 1 }, { 2 }), pair, 2, err));
        OK(cip_change_set_int(c, "n", 1, err));
        OK(cip_change_commit(&c, err));
        edit_expect(path, "m/x", way == 2 ? "5 --\n" : "5 2\n");
        edit_expect(path, "o", "0 1\n");
        edit_expect(path, "p", "1 2\n");
        if (way == 0 || way == 3)
            edit_expect(path, "v", way == 0 ? "2\n" : "2 5\n");
        edit_verify(path);
    }
}

/* Records show columns that are filled, whether they come or zeros are in their place. */
static void columns_that_are_filled_are_seen_in_records(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const int64_t three[] = { 3 }, deep[] = { 3, 2 };
    static const char *const file[] = { "seen.bcolz", "seen.blz" };
    const int16_t v[] = { 1, 2, 3 }, last[] = { 5, 6, 7, 8 }, all[] = { 2, 0, 5, 6, 3, 0, 7, 8 };
    const cip_dtype *i16 = cip_dtype_of(CIP_I16);
    int16_t got[8];
    for (int i = 0; i < 4; i++) {
        const bool draft = i >= 2;
        const char *path = scratch_path(&s, file[i % 2]);
        const cip_array *a;
        const char *field;
        cip_change *c;
        cip_slab *slab, *c1;
        OK(cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &c, err));
        OK(cip_change_put(c, "a", i16, 1, three, v, NULL, err));
        if (!draft) {
            OK(cip_change_put(c, "z", i16, 1, three, v, NULL, err));
            OK(cip_change_commit(&c, err));
            OK(cip_change_open(path, NULL, &c, err));
            OK(cip_change_remove(c, "z", err));
        }
        OK(cip_change_declare(c, "b", i16, 1, three, NULL, &c1, err));
        OK(cip_change_declare(c, "c", i16, 2, deep, NULL, &slab, err));
        OK(cip_slab_write(slab, CIP_BOX({ 1, 0 }, { 3, 2 }), last, sizeof last, err));
        const cip_file *f = cip_change_file(c, NULL);
        assert_non_null(f);
        a = cip_find(f, "", NULL);
        assert_int_equal(cip_array_dtype(a)->itemsize, 8);
        FAILS(CIP_ERR_UNSUPPORTED, "element [1] has not been written yet",
              cip_read(a, "[1:]", cip_array_dtype(a), got, 16, err));
        OK(cip_slab_write(c1, CIP_BOX({ 1 }, { 3 }), (int16_t[]){ 0, 0 }, 4, err));
        OK(cip_read(a, "[1:]", cip_array_dtype(a), got, 16, err));
        assert_memory_equal(got, all, sizeof all);
        FAILS(CIP_ERR_UNSUPPORTED, "element [0",
              cip_read(a, "[0]", cip_array_dtype(a), got, 8, err));
        OK(cip_change_field(c, "c", &a, &field, err));
        OK(cip_read_into(a,
                         &(cip_read_args){ .size = sizeof(cip_read_args),
                                           .selection = "[2]",
                                           .field = field,
                                           .dst = got,
                                           .dst_nbytes = 4 },
                         err));
        assert_memory_equal(got, last + 2, 4);
        /* other columns change, the records and what is filled do not */
        OK(cip_change_write(c, "a", "[2]", i16, (int16_t[]){ 9 }, 2, err));
        FAILS(CIP_ERR_UNSUPPORTED, "'b' was added in this update and is being filled",
              cip_change_write(c, NULL, NULL,
                               cip_array_dtype(cip_find(cip_change_file(c, NULL), "", NULL)), got,
                               24, err));
        OK(cip_change_forget_failure(c, err));
        OK(cip_change_array(c, NULL, &a, err));
        OK(cip_read(a, "[2]", cip_array_dtype(a), got, 8, err));
        assert_int_equal(got[0], 9);
        assert_int_equal(got[3], 8);
        OK(cip_change_commit(&c, err));
        edit_expect(path, NULL, "(1, 0, [0, 0])\n(2, 0, [5, 6])\n(9, 0, [7, 8])\n");
        edit_verify(path);
    }
}

/* Several in one file, of which one goes again, beside what is put later. */
static void several_slabs_go_on_in_the_draft(void **state)
{
    (void)state;
    const char *path = scratch_path(&s, "several.asdf");
    cip_change *c;
    cip_slab *one, *another, *gone;
    OK(cip_create(path, CIP_CHANGE_OPTIONS(.codec = "zlib:3"), &c, err));
    OK(cip_change_declare(c, "one", cip_dtype_of(CIP_I16), 1, two, NULL, &one, err));
    OK(cip_change_put(c, "put", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
    OK(cip_change_declare(c, "deep/another", cip_dtype_of(CIP_I16), 1, two,
                          CIP_ARRAY_OPTIONS(.storage = "inline"), &another, err));
    OK(cip_slab_write(one, CIP_BOX({ 0 }, { 2 }), pair, 4, err));
    const cip_file *f = cip_change_file(c, NULL);
    assert_non_null(f);
    assert_int_equal(cip_file_narray(f), 3);
    OK(cip_change_mark(c, NULL, err));
    OK(cip_change_declare(c, "gone", cip_dtype_of(CIP_I16), 1, two, NULL, &gone, err));
    assert_int_equal(cip_file_narray(cip_change_file(c, NULL)), 4);
    OK(cip_change_undo(c, 0, err));
    assert_int_equal(cip_file_narray(cip_change_file(c, NULL)), 3);
    FAILS(CIP_ERR_NOT_FOUND, "", cip_change_array(c, "gone", &(const cip_array *){ NULL }, err));
    OK(cip_slab_write(another, CIP_BOX({ 1 }, { 2 }), pair, 2, err));
    OK(cip_change_set_int(c, "n", 1, err));
    OK(cip_change_commit(&c, err));
    edit_expect(path, "one", "1 2\n");
    edit_expect(path, "put", "1 2\n");
    edit_expect(path, "deep/another", "0 1\n");
    edit_verify(path);
}

/* Whatever has no memory fails, and nothing is lost or left: a box that comes later is refused. */
static void running_out_of_memory_with_a_slab(void **state)
{
    (void)state;
    NEEDS_CODECS();
    static const char *const file[] = { "o.asdf", "o.npy", "o.bcolz", "v.asdf" };
    static const char *const at[] = { "x", "", NULL, "x" };
    for (int i = 0; i < 4; i++)
        for (size_t n = 1, failed = 1; failed; n++) {
            fail_alloc fa = { .fail_at = 0 };
            const cip_allocator from = { fail_alloc_resize, &fa };
            const cip_array *a;
            int16_t got[4];
            cip_change *c;
            cip_slab *slab;
            OK(cip_create(scratch_path(&s, file[i]),
                          CIP_CHANGE_OPTIONS(.overwrite = true, .allocator = &from, .threads = 1),
                          &c, err));
            OK(cip_change_declare(c, "x", cip_dtype_of(CIP_I16), 1, two, NULL, &slab, err));
            if (i == 2) /* then it is a column */
                OK(cip_change_put(c, "y", cip_dtype_of(CIP_I16), 1, two, pair, NULL, err));
            if (i == 3)
                OK(cip_change_put_view(c, "y", "x", NULL, err));
            fa.fail_at = fa.requests + n;
            bool all = cip_slab_write(slab, CIP_BOX({ 0 }, { 1 }), pair, 2, NULL) == CIP_OK &&
                       cip_change_array(c, at[i], &a, NULL) == CIP_OK &&
                       cip_change_mark(c, NULL, NULL) == CIP_OK &&
                       cip_slab_write(slab, CIP_BOX({ 1 }, { 2 }), pair, 2, NULL) == CIP_OK &&
                       cip_read(a, NULL, a->dtype, got, i == 2 ? 8 : 4, NULL) == CIP_OK;
            failed = fa.requests >= fa.fail_at;
            fa.fail_at = 0;
            cip_slab_write(slab, CIP_BOX({ 1 }, { 2 }), pair + 1, 2, NULL);
            assert_true(all || failed);
            if (cip_change_commit(&c, NULL) == CIP_OK && all)
                edit_expect(scratch_path(&s, file[i]), at[i],
                            i == 2 ? "(1, 1)\n(2, 2)\n" : "1 2\n");
            assert_int_equal(fa.held, 0);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_marks_and_looks_in_any_order),
        cmocka_unit_test(in_a_file_that_is_there),
        cmocka_unit_test(of_a_folder_too),
        cmocka_unit_test(a_column_that_may_not_come_is_refused_at_once),
        cmocka_unit_test(boxes_that_failed_since_a_mark_are_forgotten),
        cmocka_unit_test(boxes_go_to_their_places_when_no_mark_is_left),
        cmocka_unit_test(threads_write_meanwhile),
        cmocka_unit_test(one_column_of_many_rows),
        cmocka_unit_test(boxes_that_touch_overlap_or_do_not),
        cmocka_unit_test(nothing_else_changes_it),
        cmocka_unit_test(records_in_a_folder_keep_it_closed),
        cmocka_unit_test(a_slab_that_keeps_a_new_file_closed),
        cmocka_unit_test(slabs_over_zeros_in_a_new_file),
        cmocka_unit_test(columns_that_are_filled_are_seen_in_records),
        cmocka_unit_test(several_slabs_go_on_in_the_draft),
        cmocka_unit_test(running_out_of_memory_with_a_slab),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
