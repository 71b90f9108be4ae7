/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks as users see them: of every kind of space, decoded and put back where they say they
 * belong, against the array; found by selections, against a look at each element. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/core/core_testing.h"
#include "space/read/read.h"
#include "support/fake/fake.h"

static void must(cip_status st, const cip_err *err)
{
    if (st != CIP_OK)
        fail_msg("%s: %s: %s", cip_status_name(st), err->part, err->text);
}

/* --- an array and all its bytes -------------------------------------------------------------- */

typedef struct subject {
    const cip_array *a;
    uint8_t *linear; /* all of its space */
    uint64_t nelem;
} subject;

static subject subject_of(const cip_array *a)
{
    cip_err err = CIP_ERR_INIT;
    const cip_read_how how = { .layout = a->layout };
    cip_space *s;
    subject out = { .a = a };
    must(cip_array_check(a, &err), &err);
    must(cip_space_resolve(a->space, &s, &err), &err);
    out.linear = malloc((size_t)s->len + 1);
    must(cip_space_read_at(&how, s, 0, out.linear, (size_t)s->len, &err), &err);
    assert_true(cip_shape_nelem(a->view.ndim, a->view.shape, &out.nelem));
    return out;
}

static void index_of(const cip_nd *v, uint64_t e, int64_t *idx)
{
    for (int32_t k = v->ndim - 1; k >= 0; k--) {
        idx[k] = (int64_t)(e % (uint64_t)v->shape[k]);
        e /= (uint64_t)v->shape[k];
    }
}

static bool in_box(const cip_chunk_info *c, const int64_t *idx)
{
    bool in = c->nelem != 0;
    for (int k = 0; k < c->ndim; k++)
        in = in && idx[k] >= c->box.start[k] && idx[k] < c->box.stop[k];
    return in;
}

/* Where an element of the box begins in an n-d chunk's decoded bytes. */
static int64_t place_in_grid(const cip_chunk_info *c, const int64_t *idx, int64_t size)
{
    int64_t at = 0, per = size, block_per = size;
    for (int k = 0; k < c->ndim; k++)
        block_per *= c->block != NULL ? c->block[k] : 1;
    for (int k = c->ndim - 1; k >= 0; k--) {
        int64_t i = idx[k] - c->box.start[k];
        int64_t all = c->padded != NULL ? c->padded[k] : c->box.stop[k] - c->box.start[k];
        int64_t inner = c->block != NULL ? c->block[k] : all;
        at += i % inner * per + (c->block != NULL ? i / inner * block_per : 0);
        per *= inner;
        block_per *= c->block != NULL ? all / inner : 1;
    }
    return at;
}

/* Where it begins in the decoded bytes of any chunk; may lie outside. */
static int64_t place_in_chunk(const cip_chunk_info *c, const int64_t *idx, int64_t size)
{
    int64_t at = c->origin;
    if (c->strides == NULL)
        return place_in_grid(c, idx, size);
    for (int k = 0; k < c->ndim; k++)
        at += idx[k] * c->strides[k];
    return at;
}

/* How many bytes of the element the chunk has. */
static size_t bytes_in(const cip_chunk_info *c, int64_t at, int64_t size, int64_t *first)
{
    int64_t lo = at < 0 ? -at : 0, n = (int64_t)c->decoded_nbytes;
    int64_t hi = at + size > n ? n - at : size;
    *first = lo;
    return hi > lo ? (size_t)(hi - lo) : 0;
}

/* Elements of one chunk compared; those seen whole or in part are counted in got[]. */
static void compare_chunk(const subject *s, const cip_chunk_info *c, const uint8_t *raw,
                          size_t *got)
{
    const cip_nd *v = &s->a->view;
    int64_t idx[CIP_MAX_NDIM], first;
    for (uint64_t e = 0; e < s->nelem; e++) {
        uint64_t off = v->off;
        index_of(v, e, idx);
        bool box = in_box(c, idx), range = e - c->first < c->nelem;
        if (c->strides == NULL && !box)
            continue;
        int64_t at = place_in_chunk(c, idx, (int64_t)v->itemsize);
        size_t n = bytes_in(c, at, (int64_t)v->itemsize, &first);
        for (int32_t k = 0; k < v->ndim; k++)
            off += (uint64_t)(idx[k] * v->stride[k]);
        if (n != 0)
            assert_memory_equal(raw + at + first, s->linear + off + first, n);
        assert_true(n == 0 || (box && range));
        assert_true(n != 0 || !((box && c->box_exact) || (range && c->range_exact)));
        got[e] += n;
    }
}

/* All chunks of the array, decoded and as stored. */
static void check_chunks(const subject *s)
{
    cip_err err = CIP_ERR_INIT;
    cip_chunk_info c = { .size = sizeof c };
    uint64_t n, i;
    size_t got;
    size_t *seen = calloc((size_t)s->nelem + 1, sizeof *seen);
    must(cip_chunk_count(s->a, &n, &err), &err);
    for (i = 0; cip_chunk_at(s->a, i, &c, &err) == CIP_OK; i++) {
        uint8_t *raw = malloc((size_t)c.decoded_nbytes + (size_t)c.stored_nbytes + 1);
        assert_int_equal(c.index, i);
        assert_true(c.run >= 1 && c.run <= n - i);
        assert_true((c.offset != CIP_NO_OFFSET) == (c.place == CIP_CHUNK_IN_FILE));
        must(cip_chunk_read(s->a, i, true, raw, (size_t)c.stored_nbytes, &got, &err), &err);
        assert_int_equal(got, c.stored_nbytes);
        must(cip_chunk_read(s->a, i, false, raw, (size_t)c.decoded_nbytes, &got, &err), &err);
        assert_int_equal(got, c.decoded_nbytes);
        compare_chunk(s, &c, raw, seen);
        free(raw);
    }
    assert_int_equal(err.code, CIP_ERR_RANGE);
    assert_int_equal(i, n);
    for (uint64_t e = 0; e < s->nelem; e++)
        assert_int_equal(seen[e], s->a->view.itemsize);
    free(seen);
}

/* --- selections ------------------------------------------------------------------------------ */

typedef struct touched {
    const subject *s;
    const cip_nd *sel; /* selected element numbers, as a view of 1-byte items */
    cip_chunk_box box; /* around them */
    uint64_t nsel;
    uint64_t next; /* chunks below were told, or are touched by nothing */
    size_t ncall, stop;
} touched;

static bool touches(const touched *t, const cip_chunk_info *c)
{
    const cip_nd *v = &t->s->a->view;
    int64_t idx[CIP_MAX_NDIM], own[CIP_MAX_NDIM], first;
    bool hit = t->nsel != 0;
    if (c->strides == NULL) {
        for (int k = 0; k < c->ndim; k++)
            hit = hit && c->box.start[k] < t->box.stop[k] && t->box.start[k] < c->box.stop[k];
        return hit;
    }
    hit = false;
    for (uint64_t j = 0; j < t->nsel && !hit; j++) {
        uint64_t e = t->sel->off;
        index_of(t->sel, j, idx);
        for (int32_t k = 0; k < t->sel->ndim; k++)
            e += (uint64_t)(idx[k] * t->sel->stride[k]);
        index_of(v, e, own);
        hit = bytes_in(c, place_in_chunk(c, own, (int64_t)v->itemsize), (int64_t)v->itemsize,
                       &first) != 0;
    }
    return hit;
}

static void none_touched(const touched *t, uint64_t from, uint64_t to)
{
    cip_chunk_info c = { .size = sizeof c };
    for (uint64_t i = from; i < to; i++) {
        assert_int_equal(cip_chunk_at(t->s->a, i, &c, NULL), CIP_OK);
        assert_false(touches(t, &c));
    }
}

static int on_chunk(void *user, const cip_chunk_info *c)
{
    touched *t = user;
    none_touched(t, t->next, c->index);
    assert_true(c->index >= t->next);
    assert_true(c->run > 1 || touches(t, c));
    t->next = c->index + c->run;
    return ++t->ncall == t->stop;
}

static void box_of_selection(touched *t, const cip_nd *v)
{
    for (int32_t k = 0; k < v->ndim; k++) {
        t->box.start[k] = INT64_MAX;
        t->box.stop[k] = 0;
    }
    for (uint64_t j = 0; j < t->nsel; j++) {
        int64_t idx[CIP_MAX_NDIM], own[CIP_MAX_NDIM];
        uint64_t e = t->sel->off;
        index_of(t->sel, j, idx);
        for (int32_t k = 0; k < t->sel->ndim; k++)
            e += (uint64_t)(idx[k] * t->sel->stride[k]);
        index_of(v, e, own);
        for (int32_t k = 0; k < v->ndim; k++) {
            t->box.start[k] = own[k] < t->box.start[k] ? own[k] : t->box.start[k];
            t->box.stop[k] = own[k] + 1 > t->box.stop[k] ? own[k] + 1 : t->box.stop[k];
        }
    }
}

static void check_selection(const subject *s, const char *text)
{
    cip_err err = CIP_ERR_INIT;
    cip_selection sel;
    cip_nd whole, part;
    uint64_t n;
    touched t = { .s = s, .sel = &part };
    must(cip_selection_parse(text, &sel, &err), &err);
    must(cip_view_c_order(s->a->view.ndim, s->a->view.shape, 1, &whole, &err), &err);
    must(cip_view_select(&whole, &sel, &part, NULL, &err), &err);
    assert_true(cip_shape_nelem(part.ndim, part.shape, &t.nsel));
    box_of_selection(&t, &s->a->view);
    must(cip_chunk_count(s->a, &n, &err), &err);
    must(cip_chunk_iter(s->a, text, on_chunk, &t, &err), &err);
    none_touched(&t, t.next, n);
}

static void random_selection(fake *f, const cip_nd *v, char *text, size_t cap)
{
    size_t n = (size_t)snprintf(text, cap, "[");
    for (int32_t k = 0; k < v->ndim; k++) {
        uint64_t len = (uint64_t)v->shape[k];
        int a = (int)fake_pick(f, 0, len - 1), b = (int)fake_pick(f, 0, len);
        if (fake_chance(f, 4))
            n += (size_t)snprintf(text + n, cap - n, "%d,", a);
        else if (fake_chance(f, 3))
            n += (size_t)snprintf(text + n, cap - n, ":,");
        else
            n += (size_t)snprintf(text + n, cap - n, "%d:%d:%d,", a, b,
                                  fake_chance(f, 4) ? -1 : (int)fake_pick(f, 1, 3));
    }
    snprintf(text + n, cap - n, "...]");
}

/* --- random arrays --------------------------------------------------------------------------- */

static uint64_t pick_shape(fake *f, cip_nd *v)
{
    static const uint64_t sizes[] = { 1, 2, 4, 8, 3 };
    uint64_t n = v->itemsize = sizes[fake_pick(f, 0, 4)];
    v->ndim = (int32_t)fake_pick(f, 0, 3);
    for (int32_t k = 0; k < v->ndim; k++) {
        v->shape[k] = (int64_t)fake_pick(f, 1, 9);
        n *= (uint64_t)v->shape[k];
    }
    return n;
}

/* Some axes swapped, backwards, with gaps, or the same again. */
static void shuffle_view(fake *f, cip_nd *v)
{
    int32_t last = v->ndim - 1;
    if (last > 0 && fake_chance(f, 3)) {
        int64_t n = v->shape[0], s = v->stride[0];
        v->shape[0] = v->shape[last];
        v->stride[0] = v->stride[last];
        v->shape[last] = n;
        v->stride[last] = s;
    }
    for (int32_t k = 0; k < v->ndim; k++) {
        if (fake_chance(f, 4)) {
            v->off += (uint64_t)((v->shape[k] - 1) * v->stride[k]);
            v->stride[k] = -v->stride[k];
        }
        if (fake_chance(f, 5) && v->shape[k] > 1) {
            v->shape[k] = (v->shape[k] + 1) / 2;
            v->stride[k] *= 2;
        }
        if (fake_chance(f, 12))
            v->stride[k] = 0;
    }
}

static void random_array(uint64_t seed)
{
    fake f;
    cip_array *a;
    cip_nd v = { .off = 0 };
    char text[128];
    fake_open(&f, seed, NULL, NULL);
    if (seed % 2 == 0)
        fake_tiny_tuning(&f);
    uint64_t n = pick_shape(&f, &v);
    uint64_t before = fake_pick(&f, 0, 9);
    fake_kind kind = (fake_kind)fake_pick(&f, FAKE_FILE, FAKE_GRID);
    FAKE_MUST(cip_layout_add_array(f.layout, true, &a, err));
    FAKE_MUST(cip_view_c_order(v.ndim, v.shape, v.itemsize, &v, err));
    if (kind == FAKE_GRID) {
        a->space = fake_grid(&f, v.shape, v.ndim, (size_t)v.itemsize, fake_random(&f, n), 3);
    } else {
        v.off = before;
        a->space = fake_space(&f, kind, fake_random(&f, n + before + 5), n + before + 5, 3, false);
        shuffle_view(&f, &v);
    }
    a->layout = f.layout;
    a->path = "fake";
    a->dtype = cip_dtype_fixed(CIP_U8, false);
    a->view = v;
    subject s = subject_of(a);
    check_chunks(&s);
    for (int k = 0; k < 6; k++) {
        random_selection(&f, &v, text, sizeof text);
        check_selection(&s, text);
    }
    check_selection(&s, "[...]");
    free(s.linear);
    fake_close(&f);
}

static void chunks_of_any_space_are_the_array(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 3000; seed++)
        random_array(seed);
}

/* --- files ----------------------------------------------------------------------------------- */

static void check_file(const char *name)
{
    char path[1024];
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    snprintf(path, sizeof path, CIP_SOURCE_DIR "/%s", name);
    must(cip_open(path, NULL, &f, &err), &err);
    for (size_t i = 0; i < cip_file_narray(f); i++) {
        if (cip_array_state(cip_file_array(f, i), NULL) != CIP_OK)
            continue;
        subject s = subject_of(cip_file_array(f, i));
        check_chunks(&s);
        free(s.linear);
    }
    cip_file_close(f);
}

static void chunks_of_files_are_their_arrays(void **state)
{
    (void)state;
    static const char *const names[] = { "samples/cube.b2nd",   "samples/night.asdf",
                                         "samples/roman.asdf",  "samples/early.asdf",
                                         "samples/stream.asdf", "samples/phantom.ra",
                                         "samples/complex.ra" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check_file(names[i]);
}

static cip_file *open_sample(const char *name)
{
    char path[1024];
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    snprintf(path, sizeof path, CIP_SOURCE_DIR "/samples/%s", name);
    must(cip_open(path, NULL, &f, &err), &err);
    return f;
}

static cip_chunk_info chunk_of(const cip_file *f, const char *path, uint64_t i)
{
    cip_err err = CIP_ERR_INIT;
    cip_chunk_info c = { .size = sizeof c };
    must(cip_chunk_at(cip_find(f, path, &err), i, &c, &err), &err);
    return c;
}

static void a_chunk_says_where_it_lies_and_what_made_it(void **state)
{
    (void)state;
    cip_file *f = open_sample("cube.b2nd");
    cip_chunk_info c = chunk_of(f, "", 3);
    assert_int_equal(c.offset, 3276);
    assert_int_equal(c.stored_nbytes, 666);
    assert_int_equal(c.decoded_nbytes, 2048);
    assert_string_equal(c.codec, "lz4");
    assert_string_equal(c.member, "");
    assert_int_equal(c.box.start[0], 0);
    assert_int_equal(c.box.stop[0], 4);
    assert_int_equal(c.box.start[1], 16);
    assert_int_equal(c.box.stop[1], 24);
    assert_int_equal(c.box.stop[2], 30);
    assert_true(c.box_exact);
    assert_non_null(c.block);
    cip_file_close(f);
    f = open_sample("night.asdf");
    c = chunk_of(f, "counts", 0);
    const cip_block_info *b = cip_file_block(f, 1);
    assert_int_equal(c.offset, b->data_offset);
    assert_int_equal(c.stored_nbytes, b->stored_nbytes);
    assert_string_equal(c.codec, "zlib");
    assert_string_equal(c.checksum, "md5");
    assert_memory_equal(c.checksum_value, b->checksum_value, 16);
    c = chunk_of(f, "spectrum_again", 0);
    assert_true(c.box_exact && c.strides[0] == -16);
    assert_int_equal(c.decoded_nbytes, 4096);
    assert_int_equal(c.nelem, 256);
    c = chunk_of(f, "masked", 0);
    assert_int_equal(c.place, CIP_CHUNK_IN_MEMORY);
    assert_int_equal(c.offset, CIP_NO_OFFSET);
    cip_file_close(f);
    f = open_sample("early.asdf");
    c = chunk_of(f, "image", 0);
    assert_string_equal(c.codec, "quantize+zlib");
    assert_int_equal(c.place, CIP_CHUNK_IN_DECODED);
    cip_file_close(f);
}

/* --- hostile --------------------------------------------------------------------------------- */

static fake f;

static int setup(void **state)
{
    (void)state;
    fake_open(&f, 1, NULL, NULL);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    fake_close(&f);
    return 0;
}

static const cip_array *array_over(cip_space *s, int32_t ndim, const int64_t *shape)
{
    cip_array *a;
    FAKE_MUST(cip_layout_add_array(f.layout, true, &a, err));
    FAKE_MUST(cip_view_c_order(ndim, shape, 1, &a->view, err));
    a->layout = f.layout;
    a->path = "fake";
    a->dtype = cip_dtype_fixed(CIP_U8, false);
    a->space = s;
    return a;
}

static cip_table table_of(const cip_chunk *c, size_t n)
{
    cip_table t;
    FAKE_MUST(cip_table_from_array(f.layout, c, n, &t, err));
    return t;
}

typedef struct tally {
    size_t n;
    uint64_t first, run, sum;
} tally;

static int add_up(void *user, const cip_chunk_info *c)
{
    tally *t = user;
    t->first = t->n++ == 0 ? c->index : t->first;
    t->run = c->run;
    t->sum += c->run;
    return 0;
}

static tally tally_of(const cip_array *a, const char *selection)
{
    tally t = { 0 };
    cip_err err = CIP_ERR_INIT;
    must(cip_chunk_iter(a, selection, add_up, &t, &err), &err);
    return t;
}

static void very_many_zeros_are_one_step(void **state)
{
    (void)state;
    const uint64_t n = UINT64_C(1) << 60;
    const cip_chunk zeros = { .raw_len = 4, .run = n, .state = CIP_CHUNK_ZERO };
    const cip_table t = table_of(&zeros, 1);
    const int64_t length[1] = { (int64_t)(4 * n) };
    cip_chunk_info c = { .size = sizeof c };
    cip_space *s;
    FAKE_MUST(cip_space_new_chunked(f.layout, &t, 4 * n, NULL, 0, &s, err));
    const cip_array *a = array_over(s, 1, length);
    tally got = tally_of(a, NULL);
    assert_int_equal(got.n, 1);
    assert_true(got.run == n);
    got = tally_of(a, "[4000000000003:-5]");
    assert_int_equal(got.n, 1);
    assert_true(got.first == UINT64_C(1000000000000));
    assert_true(got.run == n - UINT64_C(1000000000000) - 1);
    assert_int_equal(cip_chunk_at(a, n - 1, &c, NULL), CIP_OK);
    assert_int_equal(c.run, 1);
    assert_true(c.first == 4 * (n - 1) && c.nelem == 4 && c.range_exact);
    assert_int_equal(c.place, CIP_CHUNK_NOWHERE);
    assert_string_equal(c.codec, "none");
    assert_int_equal(cip_chunk_at(a, n, &c, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_chunk_at(a, UINT64_MAX, &c, NULL), CIP_ERR_RANGE);
}

static void rows_of_a_huge_grid_are_found_by_division(void **state)
{
    (void)state;
    const int64_t side = INT64_C(1) << 30, shape[2] = { side, side }, chunk[2] = { 4, 4 };
    const uint64_t row = UINT64_C(1) << 28;
    const cip_chunk zeros = { .raw_len = 16, .run = row * row, .state = CIP_CHUNK_ZERO };
    const cip_table t = table_of(&zeros, 1);
    const cip_grid g = { .itemsize = 1, .ndim = 2, .shape = shape, .chunk = chunk };
    cip_space *s;
    FAKE_MUST(cip_space_new_grid(f.layout, &g, &t, NULL, 0, &s, err));
    const cip_array *a = array_over(s, 2, shape);
    assert_int_equal(tally_of(a, NULL).n, 1);
    tally got = tally_of(a, "[1000:1012]");
    assert_int_equal(got.n, 1);
    assert_true(got.first == 250 * row && got.run == 3 * row);
    got = tally_of(a, "[7:9, -3:]");
    assert_int_equal(got.n, 2);
    assert_true(got.first == 2 * row - 1 && got.sum == 2);
    assert_int_equal(tally_of(a, "[5:5]").n, 0);
    assert_int_equal(cip_chunk_iter(a, "[1073741824]", add_up, &got, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_chunk_iter(a, "[nonsense]", add_up, &got, NULL), CIP_ERR_ARG);
}

static cip_chunk given;

static cip_status at_given(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    (void)self, (void)i, (void)n, (void)err;
    *out = given;
    return CIP_OK;
}

static cip_status count_most(void *self, uint64_t *n, cip_err *err)
{
    (void)self, (void)err;
    *n = UINT64_MAX;
    return CIP_OK;
}

static void entries_that_cannot_be_are_corrupt(void **state)
{
    (void)state;
    const cip_table t = { .at = at_given, .count = count_most, .raw_each = 16 };
    const int64_t length[1] = { 64 };
    cip_chunk_info c = { .size = sizeof c };
    cip_space *s;
    uint8_t dst[64];
    size_t n = 7;
    FAKE_MUST(cip_space_new_chunked(f.layout, &t, 64, NULL, 0, &s, err));
    const cip_array *a = array_over(s, 1, length);
    const cip_chunk bad[] = {
        { .raw_off = 60, .raw_len = 16, .state = CIP_CHUNK_ZERO },
        { .raw_off = UINT64_MAX, .raw_len = 16, .state = CIP_CHUNK_ZERO },
        { .raw_off = 0, .raw_len = UINT64_MAX, .state = CIP_CHUNK_ZERO },
        { .raw_len = 16 }, /* data that lie nowhere */
        { .raw_len = 16, .state = 99 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        given = bad[i];
        assert_int_equal(cip_chunk_at(a, UINT64_MAX - 1, &c, NULL), CIP_ERR_CORRUPT);
        assert_int_equal(cip_chunk_read(a, 0, false, dst, sizeof dst, &n, NULL), CIP_ERR_CORRUPT);
        assert_int_equal(n, 7);
    }
    given = (cip_chunk){ .raw_len = 16, .at = { f.layout->file, FAKE_FILE_MAX, 1 << 20 } };
    assert_int_equal(cip_chunk_at(a, 0, &c, NULL), CIP_ERR_TRUNCATED);
    given = (cip_chunk){ .raw_len = 16, .run = UINT64_MAX, .state = CIP_CHUNK_ZERO };
    assert_int_equal(cip_chunk_at(a, UINT64_MAX - 2, &c, NULL), CIP_OK);
    assert_int_equal(c.run, 2);
    assert_int_equal(tally_of(a, "[3:40]").run, 3);
    given = (cip_chunk){ .raw_off = 48, .raw_len = 16, .state = CIP_CHUNK_ZERO };
    assert_int_equal(cip_chunk_iter(a, "[3:4]", add_up, &(tally){ 0 }, NULL), CIP_ERR_CORRUPT);
}

/* --- the rest -------------------------------------------------------------------------------- */

static void special_and_missing_chunks_have_no_stored_bytes(void **state)
{
    (void)state;
    static const uint8_t value[2] = { 5, 6 };
    const int64_t length[1] = { 12 };
    const cip_chunk chunks[] = {
        { .raw_off = 0, .raw_len = 4, .state = CIP_CHUNK_VALUE, .value = value, .value_len = 2 },
        { .raw_off = 4, .raw_len = 4, .state = CIP_CHUNK_MISSING, .why = CIP_ERR_CHECKSUM },
        { .raw_off = 8, .raw_len = 4, .state = CIP_CHUNK_UNINIT },
    };
    const cip_table t = table_of(chunks, 3);
    cip_chunk_info c = { .size = sizeof c };
    uint8_t dst[4] = { 9, 9, 9, 9 };
    size_t n = 9;
    cip_space *s;
    FAKE_MUST(cip_space_new_chunked(f.layout, &t, 12, NULL, 0, &s, err));
    const cip_array *a = array_over(s, 1, length);
    assert_int_equal(cip_chunk_read(a, 0, true, NULL, 0, &n, NULL), CIP_OK);
    assert_int_equal(n, 0);
    assert_int_equal(cip_chunk_read(a, 0, false, dst, 3, &n, NULL), CIP_ERR_RANGE);
    assert_int_equal(cip_chunk_read(a, 0, false, dst, 4, &n, NULL), CIP_OK);
    assert_memory_equal(dst, "\5\6\5\6", 4);
    assert_int_equal(cip_chunk_at(a, 0, &c, NULL), CIP_OK);
    assert_int_equal(c.value_nbytes, 2);
    assert_memory_equal(c.value, value, 2);
    assert_int_equal(cip_chunk_at(a, 1, &c, NULL), CIP_OK);
    assert_int_equal(c.state, CIP_CHUNK_MISSING);
    assert_int_equal(c.why, CIP_ERR_CHECKSUM);
    assert_int_equal(cip_chunk_read(a, 1, true, dst, 4, &n, NULL), CIP_ERR_CHECKSUM);
    assert_int_equal(cip_chunk_read(a, 1, false, dst, 4, &n, NULL), CIP_ERR_CHECKSUM);
}

static int stop(void *user, const cip_chunk_info *c)
{
    ++*(int *)user;
    return c->index == 2;
}

static void a_callback_stops_and_wrong_calls_are_told(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    cip_chunk_info c = { .size = 0 };
    int calls = 0;
    uint64_t n;
    cip_file *cube = open_sample("cube.b2nd");
    const cip_array *a = cip_find(cube, "", &err);
    assert_int_equal(cip_chunk_iter(a, NULL, stop, &calls, NULL), CIP_ERR_CANCELLED);
    assert_int_equal(calls, 3);
    assert_int_equal(cip_chunk_at(a, 0, &c, NULL), CIP_ERR_ARG);
    c.size = SIZE_MAX;
    assert_int_equal(cip_chunk_at(a, 0, &c, NULL), CIP_ERR_ARG);
    c.size = offsetof(cip_chunk_info, box); /* of a version that had no more */
    c.nelem = 77;
    assert_int_equal(cip_chunk_at(a, 5, &c, NULL), CIP_OK);
    assert_int_equal(c.index, 5);
    assert_int_equal(c.nelem, 77);
    assert_int_equal(cip_chunk_count(NULL, &n, NULL), CIP_ERR_ARG);
    cip_file_close(cube);
}

static int count_one(void *user, const cip_chunk_info *c)
{
    *(uint64_t *)user += c->run;
    return 0;
}

/* The same bytes in another shape. */
static void reshaped_grids_have_boxes_around_their_chunks(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        fake g;
        cip_array *a, *flat;
        cip_nd v = { .off = 0 };
        cip_err why = CIP_ERR_INIT;
        cip_chunk_info c = { .size = sizeof c }, d = { .size = sizeof d };
        uint64_t n, nelem, seen = 0;
        int64_t idx[CIP_MAX_NDIM];
        fake_open(&g, seed, NULL, NULL);
        uint64_t nbytes = pick_shape(&g, &v);
        FAKE_MUST(cip_layout_add_array(g.layout, true, &a, err));
        FAKE_MUST(cip_layout_add_array(g.layout, true, &flat, err));
        FAKE_MUST(cip_view_c_order(v.ndim, v.shape, v.itemsize, &a->view, err));
        a->space = fake_grid(&g, v.shape, v.ndim, (size_t)v.itemsize, fake_random(&g, nbytes), 2);
        a->layout = g.layout;
        a->path = "fake";
        a->dtype = cip_dtype_fixed(CIP_U8, false);
        *flat = *a;
        nelem = nbytes / v.itemsize;
        const int64_t shape[2] = { 1, (int64_t)nelem };
        FAKE_MUST(cip_view_c_order(v.ndim == 1 ? 2 : 1, v.ndim == 1 ? shape : shape + 1, v.itemsize,
                                   &flat->view, err));
        must(cip_chunk_count(flat, &n, &why), &why);
        for (uint64_t i = 0; i < n; i++) {
            must(cip_chunk_at(a, i, &c, &why), &why);
            must(cip_chunk_at(flat, i, &d, &why), &why);
            assert_null(d.strides);
            assert_false(d.box_exact);
            assert_int_equal(c.offset, d.offset);
            for (uint64_t e = 0; e < nelem; e++) {
                index_of(&v, e, idx);
                if (in_box(&c, idx)) {
                    assert_true(e - d.first < d.nelem);
                    index_of(&flat->view, e, idx);
                    assert_true(in_box(&d, idx));
                }
            }
        }
        must(cip_chunk_iter(flat, v.ndim == 1 ? "[0, 0]" : "[0]", count_one, &seen, &why), &why);
        assert_int_equal(seen, n);
        fake_close(&g);
    }
}

/* Chunks of a grid are boxes of the array itself only while its axes are the grid's. */
static void turned_grids_have_boxes_around_their_chunks(void **state)
{
    const int64_t shape[2] = { 7, 7 };
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        fake g;
        cip_array *a;
        cip_chunk_info c = { .size = sizeof c };
        fake_open(&g, seed, NULL, NULL);
        FAKE_MUST(cip_layout_add_array(g.layout, true, &a, err));
        FAKE_MUST(cip_view_c_order(2, shape, 1, &a->view, err));
        a->space = fake_grid(&g, shape, 2, 1, fake_random(&g, 49), 1);
        a->layout = g.layout;
        a->path = "fake";
        a->dtype = cip_dtype_fixed(CIP_U8, false);
        FAKE_MUST(cip_chunk_at(a, 0, &c, err));
        assert_true(c.box_exact && c.padded != NULL);
        a->view.stride[0] = 1;
        a->view.stride[1] = 7;
        FAKE_MUST(cip_chunk_at(a, 0, &c, err));
        assert_true(c.padded == NULL && c.strides == NULL && !c.box_exact);
        fake_close(&g);
    }
}

/* As blocks they say what they are, too: of a special one nothing is stored. */
static void blocks_of_a_frame_name_their_codec(void **state)
{
    static const int64_t shape[] = { 200 };
    static const char *const codec[] = { "zeros", "none" };
    uint8_t data[200] = { 0 };
    cip_err err = CIP_ERR_INIT;
    cip_memory *m;
    cip_change *w;
    cip_file *frame;
    (void)state;
    for (int i = 100; i < 200; i++)
        data[i] = (uint8_t)(i * i + i / 7);
    must(cip_create_memory(
             "blosc2",
             CIP_CHANGE_OPTIONS(.codec = "blosclz:0", .format_options = CIP_TEXTS("chunks=100")),
             &m, &w, &err),
         &err);
    must(cip_change_put(w, "", cip_dtype_of(CIP_U8), 1, shape, data, NULL, &err), &err);
    must(cip_change_commit(&w, &err), &err);
    must(cip_memory_open(m, NULL, &frame, &err), &err);
    assert_int_equal(cip_file_nblock(frame), 2);
    for (size_t i = 0; i < 2; i++) {
        const cip_block_info *b = cip_file_block(frame, i);
        assert_string_equal(b->codec, codec[i]);
        assert_int_equal(b->stored_nbytes, i == 0 ? 0 : 132);
        assert_int_equal(b->decoded_nbytes, 100);
    }
    cip_file_close(frame);
    cip_memory_free(m);
}

int main(void)
{
#define TEST(t) cmocka_unit_test(t)
#define FAKE_TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(chunks_of_any_space_are_the_array),
        TEST(reshaped_grids_have_boxes_around_their_chunks),
        TEST(turned_grids_have_boxes_around_their_chunks),
        TEST(chunks_of_files_are_their_arrays),
        TEST(a_chunk_says_where_it_lies_and_what_made_it),
        FAKE_TEST(very_many_zeros_are_one_step),
        FAKE_TEST(rows_of_a_huge_grid_are_found_by_division),
        FAKE_TEST(entries_that_cannot_be_are_corrupt),
        FAKE_TEST(special_and_missing_chunks_have_no_stored_bytes),
        TEST(a_callback_stops_and_wrong_calls_are_told),
        TEST(blocks_of_a_frame_name_their_codec),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
