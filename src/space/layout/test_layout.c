/* SPDX-License-Identifier: BSD-3-Clause
 * Layouts, the making of spaces, and lazy ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "support/fail_alloc.h"
#include "support/own_fake.h"

/* --- layouts --------------------------------------------------------------------------------- */

static void a_layout_knows_all_bytes_of_its_file(void **state)
{
    (void)state;
    assert_int_equal(f.layout->file->kind, CIP_SPACE_FILE);
    assert_int_equal(f.layout->file->len, FAKE_FILE_MAX);
    assert_ptr_equal(f.layout->file->io, f.io);
    assert_int_equal(cip_layout_depth(f.layout), 0);
}

static void ids_are_never_shared_with_children(void **state)
{
    (void)state;
    cip_layout *child, *grandchild;
    f.layout->flags = CIP_OPEN_FORCE;
    assert_int_equal(cip_layout_new_child(f.layout, f.io, &child, NULL), CIP_OK);
    assert_int_equal(cip_layout_new_child(child, f.io, &grandchild, NULL), CIP_OK);
    assert_int_equal(cip_layout_depth(grandchild), 2);
    assert_int_equal(grandchild->flags, CIP_OPEN_FORCE);
    assert_ptr_equal(grandchild->cache, f.layout->cache);
    assert_ptr_equal(grandchild->tuning, f.layout->tuning);
    assert_int_not_equal(child->file->id, f.layout->file->id);
    assert_int_not_equal(grandchild->file->id, child->file->id);
    assert_int_not_equal(grandchild->file->id, f.layout->file->id);
}

static void many_children_go_with_their_parent(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++) {
        cip_layout *child;
        cip_io *io;
        assert_int_equal(cip_io_open_memory(&f.env, "abc", 3, "x", &io, NULL), CIP_OK);
        assert_int_equal(cip_layout_new_child(f.layout, io, &child, NULL), CIP_OK);
        child->owns_io = true;
    }
    assert_int_equal(f.layout->nchild, 20);
}

static int nclear;

static void count_clear(cip_layout *l)
{
    (void)l;
    nclear++;
}

static void a_formats_own_state_is_cleared_once(void **state)
{
    (void)state;
    cip_layout *child;
    nclear = 0;
    assert_int_equal(cip_layout_new_child(f.layout, f.io, &child, NULL), CIP_OK);
    child->clear = count_clear;
    fake_close(&f);
    assert_int_equal(nclear, 1);
    fake_open(&f, 1, NULL, NULL);
    cip_layout_free(NULL);
}

static void arrays_are_listed_in_order_or_not_at_all(void **state)
{
    (void)state;
    cip_array *a[40], *mask;
    for (size_t i = 0; i < 40; i++)
        assert_int_equal(cip_layout_add_array(f.layout, true, &a[i], NULL), CIP_OK);
    assert_int_equal(cip_layout_add_array(f.layout, false, &mask, NULL), CIP_OK);
    assert_int_equal(f.layout->narray, 40);
    assert_ptr_equal(f.layout->array[0], a[0]);
    assert_ptr_equal(f.layout->array[39], a[39]);
    assert_ptr_equal(mask->layout, f.layout);
    assert_int_equal(mask->storage.block, -1);
    assert_string_equal(mask->path, "");
}

static void a_refused_array_says_why(void **state)
{
    (void)state;
    cip_array *a;
    cip_err err = CIP_ERR_INIT, why = CIP_ERR_INIT;
    assert_int_equal(cip_layout_add_array(f.layout, true, &a, NULL), CIP_OK);
    cip_fail(&why, CIP_ERR_UNSUPPORTED, 12, "no such codec");
    cip_array_refuse(a, CIP_ERR_UNSUPPORTED, &why);
    memset(&why, 0, sizeof why);
    assert_int_equal(cip_array_check(a, &err), CIP_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "no such codec");
    assert_int_equal(err.offset, 12);
    assert_int_equal(cip_array_check(a, NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_layout_add_array(f.layout, true, &a, NULL), CIP_OK);
    cip_array_refuse(a, CIP_ERR_TYPE, NULL);
    assert_int_equal(cip_array_check(a, &err), CIP_ERR_TYPE);
    assert_string_equal(err.text, "the array cannot be read");
}

static void an_array_must_lie_in_its_space(void **state)
{
    (void)state;
    cip_array *a;
    cip_space *s;
    cip_err err = CIP_ERR_INIT;
    int64_t shape[] = { 2, 3 };
    assert_int_equal(cip_layout_add_array(f.layout, true, &a, NULL), CIP_OK);
    assert_int_equal(
        cip_space_new_mem(f.layout, (cip_bytes){ (const uint8_t *)"0123456789", 10 }, &s, NULL),
        CIP_OK);
    a->space = s;
    assert_int_equal(cip_view_c_order(2, shape, 1, &a->view, NULL), CIP_OK);
    a->view.off = 4;
    assert_int_equal(cip_array_check(a, &err), CIP_OK);
    a->view.off = 5;
    assert_int_equal(cip_array_check(a, &err), CIP_ERR_RANGE);
    assert_string_equal(err.text, "expected 11 bytes for the array, found 10");
    a->view.off = 1;
    a->view.stride[0] = -3;
    assert_int_equal(cip_array_check(a, &err), CIP_ERR_RANGE);
}

static void facts_are_kept_in_order(void **state)
{
    (void)state;
    for (int i = 0; i < 20; i++)
        assert_int_equal(cip_layout_add_fact(f.layout, "key", NULL, "%d of %s", i, "20"), CIP_OK);
    assert_int_equal(f.layout->nfact, 20);
    assert_string_equal(f.layout->fact[19].key, "key");
    assert_string_equal(f.layout->fact[0].value, "0 of 20");
    assert_string_equal(f.layout->fact[19].value, "19 of 20");
}

/* --- making spaces --------------------------------------------------------------------------- */

static void a_part_must_lie_in_what_it_is_part_of(void **state)
{
    (void)state;
    cip_space *s;
    cip_err err = CIP_ERR_INIT;
    cip_space *file = f.layout->file;
    assert_int_equal(cip_space_new_sub(f.layout, file, 10, FAKE_FILE_MAX - 10, &s, NULL), CIP_OK);
    assert_int_equal(s->len, FAKE_FILE_MAX - 10);
    assert_int_equal(cip_space_new_sub(f.layout, file, 10, FAKE_FILE_MAX - 9, &s, &err),
                     CIP_ERR_RANGE);
    assert_null(s);
    assert_int_equal(err.offset, 10);
    assert_string_equal(err.text, "expected 8388599 bytes at 10 of 8388608, found 8388598");
    assert_int_equal(cip_space_new_sub(f.layout, file, FAKE_FILE_MAX, 0, &s, NULL), CIP_OK);
    assert_int_equal(cip_space_new_sub(f.layout, file, FAKE_FILE_MAX + 1, 0, &s, &err),
                     CIP_ERR_RANGE);
    assert_int_equal(cip_space_new_sub(f.layout, file, UINT64_MAX, 2, &s, NULL), CIP_ERR_RANGE);
}

static void a_pipeline_has_a_last_stage(void **state)
{
    (void)state;
    cip_space *s;
    cip_step step[CIP_MAX_STEPS + 1] = { { .codec = &fake_delta } };
    cip_table t = { .raw_each = 1 };
    assert_int_equal(cip_space_new_chunked(f.layout, &t, 9, step, CIP_MAX_STEPS, &s, NULL), CIP_OK);
    assert_int_equal(s->nstep, CIP_MAX_STEPS);
    assert_int_equal(cip_space_new_chunked(f.layout, &t, 9, step, CIP_MAX_STEPS + 1, &s, NULL),
                     CIP_ERR_UNSUPPORTED);
    assert_null(s);
}

static cip_status try_grid(int32_t ndim, int64_t shape, int64_t chunk, const int64_t *stored,
                           uint64_t itemsize)
{
    int64_t shapes[CIP_MAX_NDIM + 1], chunks[CIP_MAX_NDIM + 1];
    for (int k = 0; k <= CIP_MAX_NDIM; k++) {
        shapes[k] = k == 0 ? shape : 2;
        chunks[k] = k == 0 ? chunk : 2;
    }
    cip_grid g = {
        .itemsize = itemsize, .ndim = ndim, .shape = shapes, .chunk = chunks, .stored = stored
    };
    cip_table t = { .raw_each = 0 };
    cip_space *s;
    cip_status st = cip_space_new_grid(f.layout, &g, &t, NULL, 0, &s, NULL);
    assert_int_equal(s == NULL, st != CIP_OK);
    return st;
}

static void impossible_grids_are_refused(void **state)
{
    (void)state;
    int64_t stored[3] = { 3, 2, 2 };
    assert_int_equal(try_grid(2, 10, 3, NULL, 4), CIP_OK);
    assert_int_equal(try_grid(2, 10, 3, stored, 4), CIP_OK);
    assert_int_equal(try_grid(2, 10, 4, stored, 4), CIP_ERR_CORRUPT);
    assert_int_equal(try_grid(2, -1, 3, NULL, 4), CIP_ERR_CORRUPT);
    assert_int_equal(try_grid(2, 0, 3, NULL, 4), CIP_OK);
    assert_int_equal(try_grid(2, 10, 0, NULL, 4), CIP_ERR_CORRUPT);
    assert_int_equal(try_grid(-1, 10, 3, NULL, 4), CIP_ERR_UNSUPPORTED);
    assert_int_equal(try_grid(CIP_MAX_NDIM + 1, 1, 1, NULL, 1), CIP_ERR_UNSUPPORTED);
    assert_int_equal(try_grid(CIP_MAX_NDIM, 1, 1, NULL, 1), CIP_ERR_CORRUPT); /* 2^63 elements */
    assert_int_equal(try_grid(62, 3, 1, NULL, 1), CIP_OK);
    assert_int_equal(try_grid(62, 4, 1, NULL, 1), CIP_ERR_CORRUPT);
    assert_int_equal(try_grid(1, INT64_MAX, 1, NULL, 1), CIP_OK);
    assert_int_equal(try_grid(1, INT64_MAX, 7, NULL, 1), CIP_OK); /* a divisor */
    assert_int_equal(try_grid(1, INT64_MAX, 2, NULL, 1), CIP_ERR_UNSUPPORTED);
    assert_int_equal(try_grid(1, INT64_MAX, (int64_t)1 << 62, NULL, 1), CIP_ERR_UNSUPPORTED);
    assert_int_equal(try_grid(1, INT64_MAX, 1, NULL, 2), CIP_ERR_CORRUPT);
    assert_int_equal(try_grid(1, 1, INT64_MAX, NULL, 2), CIP_ERR_CORRUPT);
    assert_int_equal(try_grid(2, 0, INT64_MAX, NULL, 2), CIP_ERR_CORRUPT);
}

static void a_grid_is_copied_and_told_to_the_codec(void **state)
{
    (void)state;
    int64_t shape[] = { 5, 4 }, chunk[] = { 2, 3 }, stored[] = { 2, 4 }, block[] = { 1, 2 };
    cip_grid g = { .itemsize = 8, .ndim = 2, .shape = shape, .chunk = chunk, .block = block };
    cip_table t = { .raw_each = 0 };
    cip_space *s;
    assert_int_equal(cip_space_new_grid(f.layout, &g, &t, NULL, 0, &s, NULL), CIP_OK);
    assert_int_equal(s->len, 5 * 4 * 8);
    assert_int_equal(s->codec_env.typesize, 8);
    assert_int_equal(s->codec_env.ndim, 2);
    assert_int_equal(s->codec_env.chunk[1], 3);
    shape[0] = block[1] = 100;
    assert_int_equal(s->grid->shape[0], 5);
    assert_int_equal(s->codec_env.block[1], 2);
    shape[0] = 5;
    g.stored = stored;
    assert_int_equal(cip_space_new_grid(f.layout, &g, &t, NULL, 0, &s, NULL), CIP_OK);
    assert_int_equal(s->codec_env.chunk[1], 4);
    shape[1] = 0;
    assert_int_equal(cip_space_new_grid(f.layout, &g, &t, NULL, 0, &s, NULL), CIP_OK);
    assert_int_equal(s->len, 0);
}

/* --- lazy ones ------------------------------------------------------------------------------- */

typedef struct maker {
    cip_space *gives; /* NULL: fails */
    cip_space *needs; /* resolved first; or NULL */
    int calls;
} maker;

static cip_status make(void *self, cip_space **out, cip_err *err)
{
    maker *m = self;
    cip_space *needed;
    m->calls++;
    if (m->needs != NULL)
        CIP_TRY(cip_space_resolve(m->needs, &needed, err));
    *out = m->gives;
    if (m->gives != NULL)
        return CIP_OK;
    cip_fail(err, CIP_ERR_NOT_FOUND, 99, "no such file");
    return cip_fail_in(err, CIP_ERR_NOT_FOUND, "other.asdf");
}

static cip_space *lazy(maker *m)
{
    cip_space *s;
    assert_int_equal(cip_space_new_lazy(f.layout, make, m, &s, NULL), CIP_OK);
    return s;
}

static void a_lazy_space_is_made_once(void **state)
{
    (void)state;
    maker m = { .gives = f.layout->file };
    cip_space *s = lazy(&m), *out = NULL;
    assert_int_equal(m.calls, 0);
    assert_int_equal(cip_space_resolve(s, &out, NULL), CIP_OK);
    assert_ptr_equal(out, f.layout->file);
    assert_int_equal(s->len, FAKE_FILE_MAX);
    out = NULL;
    assert_int_equal(cip_space_resolve(s, &out, NULL), CIP_OK);
    assert_ptr_equal(out, f.layout->file);
    assert_int_equal(m.calls, 1);
    assert_int_equal(cip_space_resolve(f.layout->file, &out, NULL), CIP_OK);
    assert_ptr_equal(out, f.layout->file);
}

static void its_failure_is_kept_with_all_that_was_said(void **state)
{
    (void)state;
    maker m = { .gives = NULL };
    cip_space *s = lazy(&m), *out = f.layout->file;
    for (int i = 0; i < 3; i++) {
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(cip_space_resolve(s, &out, &err), CIP_ERR_NOT_FOUND);
        assert_int_equal(err.code, CIP_ERR_NOT_FOUND);
        assert_int_equal(err.offset, 99);
        assert_string_equal(err.part, "other.asdf");
        assert_string_equal(err.text, "no such file");
    }
    assert_int_equal(cip_space_resolve(s, &out, NULL), CIP_ERR_NOT_FOUND);
    assert_int_equal(m.calls, 1);
    assert_ptr_equal(out, f.layout->file);
}

static cip_status make_later(void *self, cip_space **out, cip_err *err)
{
    maker *m = self;
    static const cip_status first[] = { CIP_ERR_IO, CIP_ERR_NOMEM, CIP_ERR_BUSY,
                                        CIP_ERR_CANCELLED };
    if (m->calls < 4)
        return cip_fail(err, first[m->calls++], CIP_NO_OFFSET, "not now");
    *out = m->gives;
    return CIP_OK;
}

static void what_may_go_well_another_time_is_tried_again(void **state)
{
    (void)state;
    maker m = { .gives = f.layout->file };
    cip_space *s, *out = NULL;
    assert_int_equal(cip_space_new_lazy(f.layout, make_later, &m, &s, NULL), CIP_OK);
    for (int i = 0; i < 4; i++) {
        cip_err err = CIP_ERR_INIT;
        const cip_status st = cip_space_resolve(s, &out, &err);
        assert_true(st != CIP_OK && st == (cip_status)err.code && out == NULL);
        assert_string_equal(err.text, "not now");
    }
    assert_int_equal(cip_space_resolve(s, &out, NULL), CIP_OK);
    assert_ptr_equal(out, f.layout->file);
}

static cip_status make_nothing(void *self, cip_space **out, cip_err *err)
{
    (void)self;
    (void)out;
    (void)err;
    return CIP_OK;
}

static void a_maker_that_gives_nothing_has_failed(void **state)
{
    (void)state;
    cip_space *s, *out;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_space_new_lazy(f.layout, make_nothing, NULL, &s, NULL), CIP_OK);
    s->label = "the array";
    assert_int_equal(cip_space_resolve(s, &out, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.part, "the array");
}

static void a_space_that_needs_itself_is_corrupt(void **state)
{
    (void)state;
    maker m = { .gives = f.layout->file };
    cip_space *s = lazy(&m), *out;
    cip_err err = CIP_ERR_INIT;
    m.needs = s;
    assert_int_equal(cip_space_resolve(s, &out, &err), CIP_ERR_CORRUPT);
    assert_string_equal(err.text, "it depends on itself");
    assert_int_equal(m.calls, 1);
}

static void a_space_that_gives_itself_is_corrupt(void **state)
{
    (void)state;
    maker m = { .gives = f.layout->file };
    cip_space *s = lazy(&m), *out;
    m.gives = s;
    assert_int_equal(cip_space_resolve(s, &out, NULL), CIP_ERR_CORRUPT);
}

static void two_that_need_each_other_are_corrupt(void **state)
{
    (void)state;
    maker a = { .gives = f.layout->file }, b = a;
    cip_space *first = lazy(&a), *second = lazy(&b), *out;
    a.needs = second;
    b.needs = first;
    assert_int_equal(cip_space_resolve(first, &out, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_space_resolve(second, &out, NULL), CIP_ERR_CORRUPT);
}

static cip_status chain(size_t n)
{
    static maker m[40];
    cip_space *s = f.layout->file, *out;
    for (size_t i = 0; i < n; i++) {
        m[i] = (maker){ .gives = s };
        s = lazy(&m[i]);
    }
    cip_status st = cip_space_resolve(s, &out, NULL);
    if (st == CIP_OK)
        assert_ptr_equal(out, f.layout->file);
    return st;
}

static void a_long_chain_ends_before_the_stack_does(void **state)
{
    (void)state;
    assert_int_equal(chain(16), CIP_OK);
    assert_int_equal(chain(17), CIP_ERR_CORRUPT);
    assert_int_equal(chain(40), CIP_ERR_CORRUPT);
    assert_int_equal(chain(16), CIP_OK);
}

static void a_part_of_a_lazy_space_is_checked_when_it_is_read(void **state)
{
    (void)state;
    maker m = { .gives = f.layout->file };
    cip_space *s;
    uint8_t b;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_space_new_sub(f.layout, lazy(&m), FAKE_FILE_MAX, 1, &s, NULL), CIP_OK);
    assert_int_equal(m.calls, 0);
    assert_int_equal(cip_space_read_at(&f.how, s, 0, &b, 1, &err), CIP_ERR_TRUNCATED);
    assert_int_equal(m.calls, 1);
    assert_string_equal(err.text, "expected 1 bytes of a part, found 0");
    assert_int_equal(err.offset, FAKE_FILE_MAX);
}

/* --- memory ---------------------------------------------------------------------------------- */

static cip_status build_all(cip_env *env, cip_io *io, cip_layout **out)
{
    cip_layout *l, *child;
    cip_space *s, *lazy_space;
    cip_array *a;
    int64_t shape[] = { 5, 4 }, chunk[] = { 2, 3 };
    cip_grid g = { .itemsize = 1, .ndim = 2, .shape = shape, .chunk = chunk };
    cip_chunk c[2] = { { .raw_len = 4, .run = 3, .state = CIP_CHUNK_ZERO },
                       { .raw_off = 12, .raw_len = 1 } };
    cip_step step = { .codec = &fake_trickle };
    cip_table t;
    static maker m;
    CIP_TRY(cip_layout_new(env, io, &l, NULL));
    *out = l;
    cip_extent at = { .in = l->file, .len = 3 };
    CIP_TRY(cip_layout_new_child(l, io, &child, NULL));
    CIP_TRY(cip_space_new_mem(l, (cip_bytes){ NULL, 0 }, &s, NULL));
    CIP_TRY(cip_space_new_sub(l, l->file, 1, 2, &s, NULL));
    CIP_TRY(cip_table_from_array(l, c, 2, &t, NULL));
    CIP_TRY(cip_space_new_chunked(l, &t, 13, &step, 1, &s, NULL));
    CIP_TRY(cip_space_new_grid(l, &g, &t, &step, 1, &s, NULL));
    CIP_TRY(cip_space_new_seq(l, &at, 10, &step, &s, NULL));
    m = (maker){ .gives = NULL };
    CIP_TRY(cip_space_new_lazy(l, make, &m, &lazy_space, NULL));
    if (cip_space_resolve(lazy_space, &s, NULL) != CIP_ERR_NOT_FOUND)
        return CIP_ERR_ARG;
    CIP_TRY(cip_layout_add_array(l, true, &a, NULL));
    cip_array_refuse(a, CIP_ERR_TYPE, &(cip_err)CIP_ERR_INIT);
    return cip_layout_add_fact(l, "key", NULL, "%s", "value");
}

static void memory_that_fails_anywhere_leaves_nothing_behind(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc fa = { .fail_at = n };
        cip_allocator from = { fail_alloc_resize, &fa };
        cip_env env;
        cip_layout *l = NULL;
        assert_int_equal(cip_env_init(&env, NULL, &from, NULL, NULL), CIP_OK);
        cip_status st = build_all(&env, f.io, &l);
        cip_layout_free(l);
        cip_env_clear(&env);
        assert_int_equal(fa.held, 0);
        if (fa.requests < n) {
            assert_int_equal(st, CIP_OK);
            break;
        }
        assert_true(st == CIP_ERR_NOMEM || st == CIP_OK);
    }
}

static void a_failure_is_kept_even_without_memory_for_its_text(void **state)
{
    (void)state;
    maker m = { .gives = NULL };
    cip_space *s = lazy(&m), *out;
    cip_err err = CIP_ERR_INIT;
    uint64_t limit = f.env.mem.limit;
    f.env.mem.limit = 0;
    f.layout->arena.left = 0; /* so that the text needs new memory */
    assert_int_equal(cip_space_resolve(s, &out, &err), CIP_ERR_NOT_FOUND);
    assert_string_equal(err.text, "no such file");
    f.env.mem.limit = limit;
    err = (cip_err)CIP_ERR_INIT;
    assert_int_equal(cip_space_resolve(s, &out, &err), CIP_ERR_NOT_FOUND);
    assert_string_equal(err.text, "it could not be made before");
    assert_int_equal(m.calls, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_layout_knows_all_bytes_of_its_file),
        TEST(ids_are_never_shared_with_children),
        TEST(many_children_go_with_their_parent),
        TEST(a_formats_own_state_is_cleared_once),
        TEST(arrays_are_listed_in_order_or_not_at_all),
        TEST(a_refused_array_says_why),
        TEST(an_array_must_lie_in_its_space),
        TEST(facts_are_kept_in_order),
        TEST(a_part_must_lie_in_what_it_is_part_of),

        TEST(a_pipeline_has_a_last_stage),
        TEST(impossible_grids_are_refused),
        TEST(a_grid_is_copied_and_told_to_the_codec),
        TEST(a_lazy_space_is_made_once),
        TEST(its_failure_is_kept_with_all_that_was_said),
        TEST(what_may_go_well_another_time_is_tried_again),
        TEST(a_maker_that_gives_nothing_has_failed),
        TEST(a_space_that_needs_itself_is_corrupt),
        TEST(a_space_that_gives_itself_is_corrupt),
        TEST(two_that_need_each_other_are_corrupt),
        TEST(a_long_chain_ends_before_the_stack_does),
        TEST(a_part_of_a_lazy_space_is_checked_when_it_is_read),
        TEST(memory_that_fails_anywhere_leaves_nothing_behind),
        TEST(a_failure_is_kept_even_without_memory_for_its_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
