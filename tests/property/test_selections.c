/* SPDX-License-Identifier: BSD-3-Clause
 * Random selections of random views of random spaces, against the naive model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "naive.h"
#include "support/effort.h"
#include "support/fake/fake.h"

enum { MAX_AXES = 5, PER_SPACE = 40, BYTES_MAX = 6000 };

/* --- one random array ------------------------------------------------------------------------ */

typedef struct subject {
    fake f;
    uint8_t *bytes, *gone; /* of the space; gone: NULL, or 1 for each byte of a missing chunk */
    size_t n;
    cip_space *space;
    cip_nd view;
    naive_type type;
    const cip_dtype *dtype;
} subject;

static const cip_kind numbers[] = { CIP_BOOL, CIP_I8,  CIP_I16, CIP_I32, CIP_I64, CIP_U8,
                                    CIP_U16,  CIP_U32, CIP_U64, CIP_F32, CIP_F64 };

static const cip_dtype *pick_type(fake *f, naive_type *t)
{
    const cip_dtype *d;
    t->big = fake_chance(f, 2);
    if (fake_chance(f, 6)) {
        t->kind = CIP_OPAQUE;
        t->size = (size_t)fake_pick(f, 1, 30);
        FAKE_MUST(cip_dtype_opaque(&f->layout->arena, t->size, NULL, &d, err));
        return d;
    }
    t->kind = numbers[fake_pick(f, 0, sizeof numbers / sizeof *numbers - 1)];
    d = cip_dtype_fixed(t->kind, t->big);
    t->size = (size_t)d->itemsize;
    return d;
}

/* Small numbers among the random bits, so that not everything overflows. */
static void calm(fake *f, naive_type t, uint8_t *bytes, size_t n)
{
    for (size_t at = 0; at + t.size <= n && t.kind != CIP_OPAQUE; at += t.size) {
        naive_type small = { CIP_I8, false, 1 };
        uint8_t v = (uint8_t)fake_pick(f, 0, 100);
        if (!fake_chance(f, 8))
            naive_cast(small, &v, t, bytes + at, CIP_OVERFLOW_CLAMP);
    }
}

static void pick_shape(fake *f, int32_t *ndim, int64_t *shape, size_t room)
{
    *ndim = (int32_t)fake_pick(f, 0, MAX_AXES);
    for (int32_t k = 0; k < *ndim; k++) {
        uint64_t most = *ndim == 1 ? 400 : *ndim == 2 ? 40 : *ndim == 3 ? 12 : 6;
        most = most < room ? most : room;
        shape[k] = (int64_t)fake_pick(f, fake_chance(f, 15) ? 0 : 1, most == 0 ? 1 : most);
        room /= shape[k] > 1 ? (size_t)shape[k] : 1;
    }
}

/* C or F order, axes in any order, some of them backwards, some repeated. */
static void shuffle_view(fake *f, cip_nd *v)
{
    for (int32_t k = v->ndim - 1; k > 0 && fake_chance(f, 3); k--) {
        int32_t j = (int32_t)fake_pick(f, 0, (uint64_t)k);
        int64_t n = v->shape[k], s = v->stride[k];
        v->shape[k] = v->shape[j];
        v->stride[k] = v->stride[j];
        v->shape[j] = n;
        v->stride[j] = s;
    }
    for (int32_t k = 0; k < v->ndim; k++) {
        if (v->shape[k] > 0 && fake_chance(f, 5)) {
            v->off += (uint64_t)((v->shape[k] - 1) * v->stride[k]);
            v->stride[k] = -v->stride[k];
        } else if (fake_chance(f, 20)) {
            v->stride[k] = 0;
        }
    }
}

/* Windows that slide over each other. */
static void overlap_view(fake *f, subject *s)
{
    int64_t size = (int64_t)s->type.size, n = (int64_t)s->n / size;
    int64_t width = (int64_t)fake_pick(f, 1, n > 30 ? 30 : (uint64_t)n);
    int64_t step = (int64_t)fake_pick(f, 1, 4), each = (int64_t)fake_pick(f, 1, 3);
    int64_t reach = (width - 1) * each;
    if (reach >= n)
        reach = (width = 1) - 1;
    s->view = (cip_nd){ .itemsize = (uint64_t)size, .ndim = 2 };
    s->view.shape[0] = (n - 1 - reach) / step + 1;
    s->view.shape[1] = width;
    s->view.stride[0] = step * size;
    s->view.stride[1] = each * size;
}

/* `itemsize`: of an element with what lies around the field that is looked at. */
static void lay_out(subject *s, int32_t ndim, const int64_t *shape, size_t itemsize, size_t field)
{
    fake *f = &s->f;
    if (fake_chance(f, 3))
        FAKE_MUST(cip_view_f_order(ndim, shape, itemsize, &s->view, err));
    else
        FAKE_MUST(cip_view_c_order(ndim, shape, itemsize, &s->view, err));
    s->view.itemsize = s->type.size;
    s->view.off = field;
    shuffle_view(f, &s->view);
}

static void make_linear(subject *s, const int64_t *shape, int32_t ndim, size_t itemsize,
                        size_t field)
{
    fake *f = &s->f;
    fake_kind kind = (fake_kind)fake_pick(f, 0, FAKE_NKIND - 1);
    size_t before = (size_t)fake_pick(f, 0, 9), after = (size_t)fake_pick(f, 0, 9);
    uint64_t nelem;
    if (!cip_shape_nelem(ndim, shape, &nelem))
        abort();
    s->n = before + (size_t)nelem * itemsize + after;
    s->bytes = fake_random(f, s->n);
    if (s->n - before > field) /* not so without elements */
        calm(f, s->type, s->bytes + before + field, s->n - before - field);
    if (fake_chance(f, 4))
        f->gone = s->gone = fake_keep(f, s->n);
    s->space = fake_space(f, kind, s->bytes, s->n, (unsigned)fake_pick(f, 0, 3), false);
    lay_out(s, ndim, shape, itemsize, field + before);
    if (s->n / s->type.size > 0 && fake_chance(f, 8))
        overlap_view(f, s);
}

static void make_gridded(subject *s, const int64_t *shape, int32_t ndim, size_t itemsize,
                         size_t field)
{
    fake *f = &s->f;
    uint64_t nelem;
    if (!cip_shape_nelem(ndim, shape, &nelem))
        abort();
    s->n = (size_t)nelem * itemsize;
    s->bytes = fake_random(f, s->n);
    calm(f, s->type, s->bytes, s->n);
    if (fake_chance(f, 4))
        f->gone = s->gone = fake_keep(f, s->n);
    s->space = fake_grid(f, shape, ndim, itemsize, s->bytes, (unsigned)fake_pick(f, 0, 3));
    FAKE_MUST(cip_view_c_order(ndim, shape, itemsize, &s->view, err));
    s->view.itemsize = s->type.size;
    s->view.off = field;
    shuffle_view(f, &s->view);
    if (s->n / s->type.size > 0 && fake_chance(f, 8))
        overlap_view(f, s); /* no box of the grid */
}

static void make_subject(subject *s, uint64_t seed, cip_pool *pool)
{
    int64_t shape[CIP_MAX_NDIM];
    int32_t ndim;
    cip_limits limits = CIP_LIMITS_INIT;
    memset(s, 0, sizeof *s);
    limits.max_cache = seed % 4 == 0 ? 1 : seed % 4 == 1 ? 3000 : 0; /* 0: the default */
    fake_open(&s->f, seed, pool, &limits);
    if (fake_chance(&s->f, 4) == false)
        fake_tiny_tuning(&s->f);
    s->dtype = pick_type(&s->f, &s->type);
    size_t extra = fake_chance(&s->f, 4) ? (size_t)fake_pick(&s->f, 1, 6) : 0;
    size_t field = extra != 0 ? (size_t)fake_pick(&s->f, 0, extra) : 0;
    pick_shape(&s->f, &ndim, shape, BYTES_MAX / (s->type.size + extra));
    if (fake_chance(&s->f, 3))
        make_gridded(s, shape, ndim, s->type.size + extra, field);
    else
        make_linear(s, shape, ndim, s->type.size + extra, field);
    s->f.gone = NULL;
    if (fake_chance(&s->f, 3))
        fake_be_far(&s->f);
}

/* --- one random selection -------------------------------------------------------------------- */

static cip_slice pick_slice(fake *f, int64_t len)
{
    cip_slice s = CIP_RANGE(CIP_OPEN, CIP_OPEN);
    int64_t span = len + 3;
    if (len > 0 && fake_chance(f, 5)) {
        s = (cip_slice)CIP_INDEX((int64_t)fake_pick(f, 0, (uint64_t)(2 * len - 1)) - len);
        return s;
    }
    const uint64_t has = fake_pick(f, 0, 3);
    if (has & 1)
        s.start = (int64_t)fake_pick(f, 0, (uint64_t)(2 * span)) - span;
    if (has & 2)
        s.stop = (int64_t)fake_pick(f, 0, (uint64_t)(2 * span)) - span;
    if (fake_chance(f, 3))
        s.step = (int64_t)fake_pick(f, 1, 5) * (fake_chance(f, 2) ? 1 : -1);
    if (fake_chance(f, 60))
        s.step = INT64_MAX;
    return s;
}

static void pick_selection(fake *f, const cip_nd *v, cip_selection *sel)
{
    int32_t named = fake_chance(f, 4) ? (int32_t)fake_pick(f, 0, (uint64_t)v->ndim) : v->ndim;
    int32_t dots =
        named < v->ndim && fake_chance(f, 2) ? (int32_t)fake_pick(f, 0, (uint64_t)named) : -1;
    int32_t axis = 0;
    sel->n = 0;
    for (int32_t k = 0; k <= named; k++) {
        if (k == dots) {
            sel->item[sel->n++] = (cip_slice)CIP_ELLIPSIS;
            axis += v->ndim - named;
        }
        if (fake_chance(f, 15))
            sel->item[sel->n++] = (cip_slice)CIP_NEWAXIS;
        if (k == named)
            break;
        if (fake_chance(f, 4)) /* all of it */
            sel->item[sel->n++] = (cip_slice)CIP_ALL;
        else
            sel->item[sel->n++] = pick_slice(f, v->shape[axis]);
        axis++;
    }
}

/* Somewhere in a buffer of *nbytes, with gaps, backwards, axes in any order. */
static void pick_destination(fake *f, cip_nd *to, size_t *nbytes)
{
    int32_t order[CIP_MAX_NDIM];
    uint64_t step = to->itemsize + (fake_chance(f, 4) ? fake_pick(f, 0, 5) : 0);
    bool plain = fake_chance(f, 2);
    to->off = plain ? 0 : fake_pick(f, 0, 8);
    for (int32_t k = 0; k < to->ndim; k++)
        order[k] = k;
    for (int32_t k = to->ndim - 1; k > 0 && !plain; k--) {
        int32_t j = (int32_t)fake_pick(f, 0, (uint64_t)k), o = order[k];
        order[k] = order[j];
        order[j] = o;
    }
    for (int32_t k = to->ndim - 1; k >= 0; k--) {
        int32_t d = order[k];
        to->stride[d] = (int64_t)step;
        step *= (uint64_t)to->shape[d];
        if (!plain)
            step += fake_chance(f, 4) ? fake_pick(f, 0, 9) : 0;
    }
    *nbytes = (size_t)(to->off + step + to->itemsize);
    for (int32_t k = 0; k < to->ndim && !plain; k++)
        if (fake_chance(f, 6)) {
            to->off += (uint64_t)((to->shape[k] - 1) * to->stride[k]);
            to->stride[k] = -to->stride[k];
        }
}

typedef struct expectation {
    uint8_t *dst;
    size_t nbytes;
    cip_cast_stats stats;
    bool gone; /* something that is read is missing */
} expectation;

static bool is_gone(const subject *s, uint64_t off)
{
    for (size_t i = 0; s->gone != NULL && i < s->type.size; i++)
        if (s->gone[off + i])
            return true;
    return false;
}

static void expect(const subject *s, const naive_selection *sel, naive_type to_type,
                   const cip_nd *to, cip_overflow policy, expectation *out)
{
    int64_t at[2 * CIP_MAX_NDIM] = { 0 };
    uint64_t start = s->view.off, pos = 0;
    for (int k = 0; k < sel->ndim; k++)
        if (sel->axis[k].n == 0)
            return;
    for (int32_t k = 0; k < s->view.ndim; k++)
        start += (uint64_t)(sel->fixed[k] * s->view.stride[k]);
    for (;; pos++) {
        uint64_t src = start, dst = to->off;
        for (int k = 0; k < sel->ndim; k++) {
            const naive_axis *a = &sel->axis[k];
            if (a->from >= 0)
                src += (uint64_t)((a->start + at[k] * a->step) * s->view.stride[a->from]);
            dst += (uint64_t)(at[k] * to->stride[k]);
        }
        if (is_gone(s, src))
            out->gone = true;
        if (naive_cast(s->type, s->bytes + src, to_type, out->dst + dst, policy) &&
            out->stats.noverflow++ == 0)
            out->stats.first = pos;
        int k = sel->ndim - 1;
        for (; k >= 0 && ++at[k] == sel->axis[k].n; k--)
            at[k] = 0;
        if (k < 0)
            return;
    }
}

static void complain(const subject *s, uint64_t seed, unsigned i, const char *what)
{
    fprintf(stderr, "seed %" PRIu64 ", selection %u, kind %d, view of %d axes: %s\n", seed, i,
            (int)s->space->kind, (int)s->view.ndim, what);
    fail();
}

static const cip_dtype *pick_target(fake *f, naive_type from, const cip_dtype *d, naive_type *to)
{
    *to = from;
    if (from.kind == CIP_OPAQUE || fake_chance(f, 3))
        return d;
    to->big = fake_chance(f, 2);
    if (!fake_chance(f, 3))
        to->kind = numbers[fake_pick(f, 0, sizeof numbers / sizeof *numbers - 1)];
    d = cip_dtype_fixed(to->kind, to->big);
    to->size = (size_t)d->itemsize;
    return d;
}

static void check_selection(subject *s, uint64_t seed, unsigned i)
{
    fake *f = &s->f;
    cip_selection sel;
    naive_selection naive;
    naive_type to_type;
    cip_nd from, to;
    cip_cast cast;
    cip_cast_stats stats = { 0, 0 };
    cip_err why = CIP_ERR_INIT;
    expectation want = { .gone = false };
    pick_selection(f, &s->view, &sel);
    if (!naive_select(&sel, s->view.ndim, s->view.shape, &naive))
        abort();
    FAKE_MUST(cip_view_select(&s->view, &sel, &from, NULL, err));
    const cip_dtype *to_dtype = pick_target(f, s->type, s->dtype, &to_type);
    cip_overflow policy = (cip_overflow)fake_pick(f, CIP_OVERFLOW_ERROR, CIP_OVERFLOW_WRAP);
    FAKE_MUST(cip_cast_make(s->dtype, to_dtype, policy, &cast, err));
    to = from;
    to.itemsize = to_type.size;
    if (naive.ndim != from.ndim)
        complain(s, seed, i, "the number of axes differs");
    for (int k = 0; k < naive.ndim; k++)
        if (naive.axis[k].n != from.shape[k])
            complain(s, seed, i, "a length differs");
    pick_destination(f, &to, &want.nbytes);
    uint8_t *dst = malloc(2 * want.nbytes);
    if (dst == NULL)
        abort();
    want.dst = dst + want.nbytes;
    memset(dst, 0xA5, 2 * want.nbytes);
    expect(s, &naive, to_type, &to, policy, &want);
    uint64_t start = to.off;
    to.off = 0;
    cip_status st = cip_space_gather(
        &f->how, s->space, &(cip_transfer){ &from, &cast, &to, dst + start }, &stats, &why);
    if (want.gone ? st != CIP_ERR_NOT_FOUND : st != CIP_OK) {
        fprintf(stderr, "%s: %s: %s\n", cip_status_name(st), why.part, why.text);
        complain(s, seed, i, want.gone ? "expected a missing chunk" : "expected no error");
    }
    if (!want.gone && memcmp(dst, want.dst, want.nbytes) != 0)
        complain(s, seed, i, "the elements differ");
    if (!want.gone && (stats.noverflow != want.stats.noverflow ||
                       (stats.noverflow != 0 && stats.first != want.stats.first)))
        complain(s, seed, i, "the overflows differ");
    free(dst);
}

/* --- spans, points, streams ------------------------------------------------------------------ */

static bool any_gone(const subject *s, uint64_t off, size_t n)
{
    return s->gone != NULL && memchr(s->gone + off, 1, n) != NULL;
}

static void check_spans(subject *s, uint64_t seed, unsigned i)
{
    fake *f = &s->f;
    cip_want want[40];
    size_t n = 0;
    bool gone = false;
    uint8_t *dst = calloc(1, s->n + 1);
    for (uint64_t at = 0; at <= s->n && n < 40; n++) {
        uint64_t most = s->n - at;
        size_t len = (size_t)fake_pick(f, 0, fake_chance(f, 4) ? most : most < 60 ? most : 60);
        want[n] = (cip_want){ at, len, dst + at };
        gone = gone || any_gone(s, at, len);
        at += len + (fake_chance(f, 2) ? 0 : fake_pick(f, 0, 200));
    }
    cip_status st = cip_space_read(&f->how, s->space, want, n, NULL);
    if (gone ? st != CIP_ERR_NOT_FOUND : st != CIP_OK)
        complain(s, seed, i, "spans end otherwise");
    for (size_t k = 0; k < n && !gone; k++)
        if (memcmp(want[k].dst, s->bytes + want[k].off, want[k].len) != 0)
            complain(s, seed, i, "a span differs");
    free(dst);
}

static void check_points(subject *s, uint64_t seed, unsigned i)
{
    fake *f = &s->f;
    uint64_t off[50];
    cip_cast cast;
    bool gone = false;
    size_t n = (size_t)fake_pick(f, 0, 50), size = s->type.size;
    if (s->n < size)
        return;
    FAKE_MUST(cip_cast_make(s->dtype, s->dtype, CIP_OVERFLOW_CLAMP, &cast, err));
    for (size_t k = 0; k < n; k++) {
        off[k] = fake_pick(f, 0, s->n - size);
        gone = gone || is_gone(s, off[k]);
    }
    uint8_t *dst = calloc(n + 1, size);
    const cip_points at = { off, n, dst };
    cip_status st = cip_space_gather_points(&f->how, s->space, &at, &cast, NULL, NULL);
    if (gone ? st != CIP_ERR_NOT_FOUND : st != CIP_OK)
        complain(s, seed, i, "points end otherwise");
    for (size_t k = 0; k < n && !gone; k++) {
        uint8_t one[32];
        naive_cast(s->type, s->bytes + off[k], s->type, one, CIP_OVERFLOW_CLAMP);
        if (memcmp(dst + k * size, one, size) != 0)
            complain(s, seed, i, "a point differs");
    }
    free(dst);
}

typedef struct collected {
    uint8_t *bytes;
    size_t n, piece;
} collected;

static int collect(void *user, const uint8_t *p, size_t n)
{
    collected *c = user;
    if (n == 0 || n > c->piece)
        return 1;
    memcpy(c->bytes + c->n, p, n);
    c->n += n;
    return 0;
}

static void check_stream(subject *s, uint64_t seed)
{
    collected c = { calloc(1, s->n + 1), 0, (size_t)fake_pick(&s->f, 1, 500) };
    cip_status st = cip_space_stream(&s->f.how, s->space, c.piece, collect, &c, NULL);
    bool gone = any_gone(s, 0, s->n);
    if (gone ? st != CIP_ERR_NOT_FOUND : st != CIP_OK)
        complain(s, seed, 0, "the stream ends otherwise");
    if (!gone && (c.n != s->n || memcmp(c.bytes, s->bytes, s->n) != 0))
        complain(s, seed, 0, "the stream differs");
    free(c.bytes);
}

static void random_selections_are_as_the_naive_model_has_them(void **state)
{
    uint64_t n = test_full() ? 1000000 : 100000, first = test_seed();
    uint64_t done = 0;
    cip_pool *pool;
    (void)state;
    assert_int_equal(cip_pool_new(3, &pool, NULL), CIP_OK);
    for (uint64_t seed = first; done < n; seed++) {
        subject s;
        make_subject(&s, seed, fake_chance(&(fake){ .rng = seed + 1 }, 3) ? pool : NULL);
        for (unsigned i = 0; i < PER_SPACE && done < n; i++, done++) {
            check_selection(&s, seed, i);
            if (i % 8 == 0)
                check_spans(&s, seed, i);
            if (i % 8 == 1)
                check_points(&s, seed, i);
        }
        check_stream(&s, seed);
        fake_close(&s.f);
    }
    cip_pool_free(pool);
    print_message("%" PRIu64 " selections equal\n", done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_selections_are_as_the_naive_model_has_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
