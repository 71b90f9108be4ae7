/* SPDX-License-Identifier: BSD-3-Clause
 * Boxes of an array: whatever they are, their order and the threads, the chunks are those that its
 * elements in C order give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "io/temporary.h"
#include "space/make/boxes.h"
#include "space/make/chunker.h"
#include "support/effort.h"
#include "support/fake/fake.h"

enum { SAMPLE = 400, ALL = 20000, THREADS = 8, MOST = 64 };

static uint64_t now; /* the seed, to be named */

/* --- an array and its boxes ------------------------------------------------------------------- */

typedef struct box {
    int64_t start[CIP_MAX_NDIM], stop[CIP_MAX_NDIM];
} box;

typedef struct subject {
    fake f;
    int32_t ndim;
    int64_t shape[CIP_MAX_NDIM];
    const cip_dtype *dtype;
    size_t nbytes;
    uint8_t *data;
    size_t nbox;
    box box[MOST];
} subject;

/* Runs of zeros, so that some chunks are special. */
static void fill(subject *s)
{
    s->data = fake_random(&s->f, s->nbytes + 1);
    for (size_t at = 0, n; at < s->nbytes; at += n) {
        n = (size_t)fake_pick(&s->f, 1, s->nbytes);
        n = n < s->nbytes - at ? n : s->nbytes - at;
        if (fake_chance(&s->f, 2))
            memset(s->data + at, 0, n);
    }
}

/* Boxes that have no elements in common: one is cut in two, over and over. Some are left out. */
static void cut(subject *s)
{
    size_t want = (size_t)fake_pick(&s->f, 1, MOST);
    memcpy(s->box[0].stop, s->shape, sizeof s->shape);
    s->nbox = 1;
    for (int tries = 0; s->ndim != 0 && s->nbox < want && tries < 2 * MOST; tries++) {
        box *b = &s->box[fake_pick(&s->f, 0, s->nbox - 1)];
        int k = (int)fake_pick(&s->f, 0, (uint64_t)s->ndim - 1);
        if (b->stop[k] - b->start[k] < 2)
            continue;
        box *c = &s->box[s->nbox++];
        *c = *b;
        b->stop[k] = c->start[k] =
            b->start[k] + (int64_t)fake_pick(&s->f, 1, (uint64_t)(b->stop[k] - b->start[k] - 1));
    }
    for (size_t i = s->nbox; i > 1; i--) {
        size_t k = (size_t)fake_pick(&s->f, 0, i - 1);
        box swap = s->box[i - 1];
        s->box[i - 1] = s->box[k];
        s->box[k] = swap;
    }
}

static size_t at_of(const subject *s, const int64_t *at)
{
    size_t i = 0;
    for (int32_t k = 0; k < s->ndim; k++)
        i = i * (size_t)s->shape[k] + (size_t)at[k];
    return i * (size_t)s->dtype->itemsize;
}

static bool next(const subject *s, const box *b, int64_t *at)
{
    for (int32_t k = s->ndim - 1; k >= 0; k--) {
        if (++at[k] < b->stop[k])
            return true;
        at[k] = b->start[k];
    }
    return false;
}

/* The elements of the box, packed; with `clear` the array has zeros there then. */
static uint8_t *take_out(subject *s, const box *b, bool clear)
{
    size_t each = (size_t)s->dtype->itemsize, n = 0;
    uint8_t *out = malloc(s->nbytes + 1);
    int64_t at[CIP_MAX_NDIM];
    assert_non_null(out);
    memcpy(at, b->start, sizeof at);
    for (int32_t k = 0; k < s->ndim; k++)
        if (b->start[k] == b->stop[k])
            return out;
    do {
        memcpy(out + n, s->data + at_of(s, at), each);
        if (clear)
            memset(s->data + at_of(s, at), 0, each);
        n += each;
    } while (next(s, b, at));
    return out;
}

static void begin(subject *s, uint64_t seed)
{
    static const cip_kind kinds[] = { CIP_U8, CIP_I16, CIP_F32, CIP_F64 };
    uint64_t n;
    memset(s, 0, sizeof *s);
    fake_open(&s->f, seed, NULL, NULL);
    s->ndim = (int32_t)fake_pick(&s->f, 0, 4);
    for (int32_t k = 0; k < s->ndim; k++)
        s->shape[k] = (int64_t)fake_pick(&s->f, fake_chance(&s->f, 20) ? 0 : 1, 12);
    s->dtype = cip_dtype_of(kinds[fake_pick(&s->f, 0, 3)]);
    cip_shape_nelem(s->ndim, s->shape, &n);
    s->nbytes = (size_t)(n * s->dtype->itemsize);
    fill(s);
    cut(s);
    for (size_t i = 0; i < s->nbox; i++)
        if (fake_chance(&s->f, 8)) { /* nobody writes it */
            free(take_out(s, &s->box[i], true));
            s->box[i] = s->box[--s->nbox];
        }
}

/* --- storing ---------------------------------------------------------------------------------- */

typedef struct target {
    fake_stored stored;
    pthread_mutex_t lock;
} target;

static cip_status store(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk, cip_err *err)
{
    target *t = user;
    pthread_mutex_lock(&t->lock);
    cip_status st = fake_store.store(&t->stored, 0, i, n, chunk, err);
    pthread_mutex_unlock(&t->lock);
    return st;
}

static cip_boxes *open_boxes(subject *s, target *t, cip_io **waiting)
{
    cip_boxes *b = NULL;
    FAKE_MUST(cip_temporary_new(&s->f.env, NULL, waiting, err));
    FAKE_MUST(cip_temporary_resize(*waiting, s->nbytes, err));
    const cip_boxes_of of = { .env = &s->f.env,
                              .form = &t->stored.form,
                              .dtype = s->dtype,
                              .ndim = s->ndim,
                              .shape = s->shape,
                              .waiting = *waiting,
                              .store = store,
                              .user = t };
    FAKE_MUST(cip_boxes_new(&of, &b, err));
    return b;
}

typedef struct crew {
    subject *s;
    cip_boxes *boxes;
    _Atomic size_t next;
} crew;

static void *work(void *arg)
{
    crew *c = arg;
    for (size_t i; (i = c->next++) < c->s->nbox;) {
        const box *b = &c->s->box[i];
        uint8_t *elems = take_out(c->s, b, false);
        FAKE_MUST(cip_boxes_write(c->boxes, b->start, b->stop, elems, err));
        free(elems);
    }
    return NULL;
}

static void by_boxes(subject *s, target *t)
{
    cip_io *waiting;
    pthread_t thread[THREADS];
    crew c = { .s = s, .boxes = open_boxes(s, t, &waiting) };
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, work, &c), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    FAKE_MUST(cip_boxes_finish(c.boxes, err));
    cip_boxes_free(c.boxes);
    cip_io_close(waiting);
}

static void in_order(subject *s, target *t)
{
    cip_chunker *c = NULL;
    const cip_chunker_to to = { store, t, NULL };
    FAKE_MUST(
        cip_chunker_new(&s->f.env, &t->stored.form, s->nbytes / s->dtype->itemsize, &to, &c, err));
    FAKE_MUST(cip_chunker_write(c, (cip_bytes){ s->data, s->nbytes }, err));
    FAKE_MUST(cip_chunker_finish(c, err));
    cip_chunker_free(c);
}

static void compare(const fake_stored *a, const fake_stored *b)
{
    assert_int_equal(a->nstored, b->nstored);
    for (size_t i = 0; i < a->nstored; i++) {
        const cip_chunk *x = &a->chunk[i], *y = &b->chunk[i];
        assert_true(a->have[i] && b->have[i]);
        assert_int_equal(x->state, y->state);
        assert_int_equal(x->raw_len, y->raw_len);
        assert_ptr_equal(x->codec, y->codec);
        assert_int_equal(x->at.len, y->at.len);
        assert_memory_equal(a->f->file + x->at.off, b->f->file + y->at.off, (size_t)x->at.len);
        assert_memory_equal(x->sum, y->sum, sizeof x->sum);
        if (x->state == CIP_CHUNK_VALUE)
            assert_memory_equal(x->value, y->value, x->value_len);
    }
}

static void pick(subject *s, target *t, fake_stored *like)
{
    if (like == NULL)
        fake_pick_form(&s->f, s->dtype, s->ndim, s->shape, &t->stored);
    else
        fake_same_form(&s->f, like, &t->stored);
    t->stored.form.caps |= CIP_FORM_ANY_ORDER;
    pthread_mutex_init(&t->lock, NULL);
}

/* --- tests ------------------------------------------------------------------------------------ */

static void boxes_in_any_order_from_threads_give_the_chunks_of_the_array(void **state)
{
    uint64_t first = test_seed(), n = test_full() ? ALL : SAMPLE;
    size_t tried = 0;
    (void)state;
    for (now = first; now < first + n; now++) {
        subject s;
        target one, many;
        begin(&s, now);
        pick(&s, &one, NULL);
        if (cip_boxes_can(&one.stored.form)) {
            pick(&s, &many, &one.stored);
            in_order(&s, &one);
            by_boxes(&s, &many);
            compare(&one.stored, &many.stored);
            pthread_mutex_destroy(&many.lock);
            tried++;
        }
        pthread_mutex_destroy(&one.lock);
        fake_close(&s.f);
    }
    now = 0;
    assert_true(tried > n / 2);
}

/* Four bytes of sixteen, of one axis, in chunks of four. */
static void start_small(subject *s, target *t)
{
    memset(s, 0, sizeof *s);
    fake_open(&s->f, 1, NULL, NULL);
    s->ndim = 1;
    s->shape[0] = s->nbytes = 16;
    s->dtype = cip_dtype_of(CIP_U8);
    pick(s, t, NULL);
    t->stored.form = (cip_array_form){ .dtype = s->dtype, .chunk_nbytes = 4 };
    t->stored.form.caps = CIP_FORM_ANY_ORDER;
    t->stored.grid = NULL;
    t->stored.total = 4;
}

static cip_status write(cip_boxes *b, int64_t start, int64_t stop)
{
    return cip_boxes_write(b, &start, &stop, "abcdefghijklmnop", NULL);
}

static void a_covered_chunk_is_handed_on_at_once_and_others_wait(void **state)
{
    subject s;
    target t;
    cip_io *waiting;
    (void)state;
    start_small(&s, &t);
    cip_boxes *b = open_boxes(&s, &t, &waiting);
    assert_int_equal(write(b, 0, 3), CIP_OK);
    assert_int_equal(t.stored.nstored, 0);
    assert_int_equal(write(b, 7, 14), CIP_OK);
    assert_int_equal(t.stored.nstored, 1);
    assert_true(t.stored.have[2]);
    assert_memory_equal(s.f.file + t.stored.chunk[2].at.off, "bcde", 4);
    assert_int_equal(write(b, 5, 5), CIP_OK);        /* nothing */
    assert_int_equal(write(b, 0, 3), CIP_OK);        /* what waits may be written again */
    assert_int_equal(write(b, 11, 12), CIP_ERR_ARG); /* what is stored may not */
    assert_int_equal(write(b, 8, 12), CIP_ERR_ARG);
    FAKE_MUST(cip_boxes_finish(b, err));
    assert_int_equal(t.stored.nstored, 4);
    assert_memory_equal(s.f.file + t.stored.chunk[0].at.off, "abc\0", 4);
    assert_memory_equal(s.f.file + t.stored.chunk[1].at.off, "\0\0\0a", 4);
    assert_memory_equal(s.f.file + t.stored.chunk[3].at.off, "fg\0\0", 4);
    cip_boxes_free(b);
    cip_io_close(waiting);
    pthread_mutex_destroy(&t.lock);
    fake_close(&s.f);
}

static void chunks_of_any_length_cannot_come_by_boxes(void **state)
{
    (void)state;
    cip_array_form f = { .dtype = cip_dtype_of(CIP_U16) };
    assert_false(cip_boxes_can(&f));
    f.chunk_nbytes = UINT64_MAX;
    assert_false(cip_boxes_can(&f));
    f.chunk_nbytes = 1;
    assert_false(cip_boxes_can(&f));
    f.chunk_nbytes = 2;
    assert_true(cip_boxes_can(&f));
}

static cip_status refuse(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk, cip_err *err)
{
    (void)user;
    (void)i;
    (void)n;
    (void)chunk;
    return cip_fail(err, CIP_ERR_IO, CIP_NO_OFFSET, "the disk is full");
}

static void what_is_not_stored_or_not_cast_is_told(void **state)
{
    subject s;
    target t;
    cip_boxes *b;
    cip_io *waiting;
    (void)state;
    start_small(&s, &t);
    FAKE_MUST(cip_temporary_new(&s.f.env, NULL, &waiting, err));
    FAKE_MUST(cip_temporary_resize(waiting, 32, err));
    cip_boxes_of of = { .env = &s.f.env,
                        .form = &t.stored.form,
                        .dtype = s.dtype,
                        .ndim = 1,
                        .shape = s.shape,
                        .waiting = waiting,
                        .store = refuse };
    FAKE_MUST(cip_boxes_new(&of, &b, err));
    assert_int_equal(write(b, 0, 3), CIP_OK);
    assert_int_equal(write(b, 4, 8), CIP_ERR_IO);
    assert_int_equal(cip_boxes_finish(b, NULL), CIP_ERR_IO);
    cip_boxes_free(b);
    of.dtype = cip_dtype_of(CIP_I16); /* to bytes */
    of.policy = CIP_OVERFLOW_ERROR;
    of.store = store;
    of.user = &t;
    FAKE_MUST(cip_boxes_new(&of, &b, err));
    assert_int_equal(write(b, 4, 8), CIP_ERR_RANGE);
    cip_boxes_free(b);
    cip_boxes_free(NULL);
    cip_io_close(waiting);
    pthread_mutex_destroy(&t.lock);
    fake_close(&s.f);
}

static int name_seed(void **state)
{
    (void)state;
    if (now != 0)
        print_message("seed %llu\n", (unsigned long long)now);
    now = 0;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(boxes_in_any_order_from_threads_give_the_chunks_of_the_array,
                                  name_seed),
        cmocka_unit_test(a_covered_chunk_is_handed_on_at_once_and_others_wait),
        cmocka_unit_test(chunks_of_any_length_cannot_come_by_boxes),
        cmocka_unit_test(what_is_not_stored_or_not_cast_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
