/* SPDX-License-Identifier: BSD-3-Clause
 * Random updates of arrays in chunks of every form, by the calls that programs make: elements by
 * selections, rows, other shapes, arrays of other files (whose chunks may be taken as they are
 * stored). After each change the array reads as an array in memory does, and at the end what the
 * format was given does; with threads the same chunks come. So they do once they are in members of
 * a set, which each update then commits to a folder, to memory and to a store of a caller's. A full
 * run makes 100,000 changes (CIP_FULL=1), from the seed CIP_SEED. */
#include "edit_model.h"
#include "support/effort.h"
#include "support/fail_alloc.h"

/* The seed at work: an assertion leaves the test where it stands. */
static uint64_t now;

static int name_seed(void **state)
{
    (void)state;
    if (now != 0)
        print_message("seed %" PRIu64 "\n", now);
    return 0;
}

enum { SAMPLE = 600, ALL = 12500, EDITS = 4, UPDATES = 2 };

/* --- changes ---------------------------------------------------------------------------------- */

/* Steps along each axis. */
typedef struct box {
    int64_t start[CIP_MAX_NDIM], n[CIP_MAX_NDIM], step[CIP_MAX_NDIM];
    char text[400];
} box;

/* `whole`: it begins and ends where chunks do. */
static void pick_box(model *m, bool whole, box *b)
{
    fake *f = &m->one.f;
    const fake_geometry *g = m->one.stored.grid;
    size_t at = 0;
    b->text[0] = '\0';
    for (int32_t k = 0; k < m->ndim; k++) {
        const int64_t length = m->shape[k], each = whole && g != NULL ? g->chunk[k] : 1;
        b->step[k] = whole ? 1 : (int64_t)fake_pick(f, 1, fake_chance(f, 3) ? 4 : 1);
        b->start[k] = fake_chance(f, 2) || (whole && g == NULL) || length == 0
                          ? 0
                          : (int64_t)fake_pick(f, 0, (uint64_t)length - 1) / each * each;
        int64_t most = (length - b->start[k] + b->step[k] - 1) / b->step[k];
        b->n[k] = fake_chance(f, 2) || most == 0 || (whole && g == NULL)
                      ? most
                      : (int64_t)fake_pick(f, 1, (uint64_t)most);
        if (whole && b->n[k] != most)
            b->n[k] = b->n[k] / each * each;
        const int64_t end = b->start[k] + b->n[k] * b->step[k];
        at += (size_t)snprintf(b->text + at, sizeof b->text - at,
                               "%s%" PRId64 ":%" PRId64 ":%" PRId64, k == 0 ? "[" : ",",
                               b->start[k], end < length ? end : length, b->step[k]);
    }
    if (m->ndim != 0)
        snprintf(b->text + at, sizeof b->text - at, "]");
}

static void model_write(model *m, const box *b, const uint8_t *elems)
{
    const size_t each = (size_t)m->type->itemsize;
    int64_t at[CIP_MAX_NDIM] = { 0 };
    for (uint64_t i = 0, n = product(m->ndim, b->n); i < n; i++) {
        uint64_t to = 0;
        for (int32_t k = 0; k < m->ndim; k++)
            to = to * (uint64_t)m->shape[k] + (uint64_t)(b->start[k] + at[k] * b->step[k]);
        memcpy(m->bytes + to * each, elems + i * each, each);
        for (int32_t k = m->ndim - 1; k >= 0 && ++at[k] == b->n[k]; k--)
            at[k] = 0;
    }
}

static void model_resize(model *m, const int64_t *shape)
{
    const size_t each = (size_t)m->type->itemsize;
    const uint64_t n = product(m->ndim, shape);
    uint8_t *bytes = fake_keep(&m->one.f, (size_t)n * each + 1);
    int64_t at[CIP_MAX_NDIM] = { 0 };
    for (uint64_t i = 0; i < n; i++) {
        uint64_t from = 0;
        bool inside = true;
        for (int32_t k = 0; k < m->ndim; k++) {
            inside = inside && at[k] < m->shape[k];
            from = from * (uint64_t)m->shape[k] + (uint64_t)at[k];
        }
        if (inside)
            memcpy(bytes + i * each, m->bytes + from * each, each);
        for (int32_t k = m->ndim - 1; k >= 0 && ++at[k] == shape[k]; k--)
            at[k] = 0;
    }
    m->bytes = bytes;
    memcpy(m->shape, shape, sizeof m->shape);
}

static uint8_t *native_of(model *m, const uint8_t *elems, uint64_t n)
{
    uint8_t *out = fake_keep(&m->one.f, (size_t)(n * m->type->itemsize) + 1);
    cast_all(m->type, m->native, n, elems, out);
    return out;
}

/* An array of another file with these elements, in the form of the array that is changed. */
static const cip_array *another(model *m, const int64_t *shape, const uint8_t *elems)
{
    const uint64_t n = product(m->ndim, shape);
    fake_stored s = { .f = &m->other };
    fake_same_form(&m->other, &m->one.stored, &s);
    s.nbytes = n * m->type->itemsize;
    if (s.grid != NULL) {
        fake_geometry *g = fake_keep(&m->other, sizeof *g);
        *g = *s.grid;
        g->g.shape = g->shape;
        g->total = 1;
        for (int32_t k = 0; k < m->ndim; k++) {
            g->shape[k] = shape[k];
            g->nchunk[k] = (shape[k] + g->chunk[k] - 1) / g->chunk[k];
            g->total *= (size_t)g->nchunk[k];
        }
        s.grid = g;
        s.form.grid = &g->g;
        s.total = g->total;
    } else {
        s.total = (size_t)cip_div_up(
            s.nbytes, cip_min_u64(cip_max_u64(1, s.nbytes), cip_form_chunk_nbytes(&s.form)));
    }
    s.chunk = fake_keep(&m->other, (size_t)(s.nbytes + 2) * sizeof *s.chunk);
    s.have = fake_keep(&m->other, (size_t)(s.nbytes + 2) * sizeof *s.have);
    store_all(&m->other, &s, n, elems);
    return add_array(&m->other, "x", &s, m->ndim, shape);
}

static void write_box(model *m, const char *path)
{
    box b;
    fake *f = &m->one.f;
    const bool borrow = fake_chance(f, 3);
    pick_box(m, borrow && fake_chance(f, 2), &b);
    const uint64_t n = product(m->ndim, b.n), nbytes = n * m->type->itemsize;
    const uint8_t *elems = pick_elements(m, n), *data = native_of(m, elems, n);
    if (n == 0)
        return;
    if (borrow) {
        const cip_array *from = another(m, b.n, elems);
        FAKE_MUST(cip_change_write_array(&m->one.e.change, path, b.text, from, err));
        FAKE_MUST(cip_change_write_array(&m->many.e.change, path, b.text, from, err));
    } else {
        FAKE_MUST(cip_change_write(&m->one.e.change, path, b.text, cip_dtype_as_stored(), data,
                                   (size_t)nbytes, err));
        FAKE_MUST(cip_change_write(&m->many.e.change, path, b.text, cip_dtype_as_stored(), data,
                                   (size_t)nbytes, err));
    }
    model_write(m, &b, elems);
}

static void add_rows(model *m, const char *path)
{
    fake *f = &m->one.f;
    int64_t shape[CIP_MAX_NDIM];
    box b;
    memcpy(shape, m->shape, sizeof shape);
    const int64_t was = shape[0], more = (int64_t)fake_pick(f, 0, 5);
    shape[0] += more;
    if (product(m->ndim, shape) > ELEMS_MAX)
        return;
    for (int32_t k = 0; k < m->ndim; k++) {
        b.start[k] = k == 0 ? was : 0;
        b.n[k] = k == 0 ? more : shape[k];
        b.step[k] = 1;
    }
    const uint64_t n = product(m->ndim, b.n);
    const uint8_t *elems = pick_elements(m, n), *data = native_of(m, elems, n);
    if (n == 0)
        return;
    if (fake_chance(f, 2)) {
        const cip_array *from = another(m, b.n, elems);
        FAKE_MUST(cip_change_append_array(&m->one.e.change, path, from, err));
        FAKE_MUST(cip_change_append_array(&m->many.e.change, path, from, err));
    } else {
        const size_t nbytes = (size_t)(n * m->type->itemsize);
        FAKE_MUST(
            cip_change_append(&m->one.e.change, path, cip_dtype_as_stored(), data, nbytes, err));
        FAKE_MUST(
            cip_change_append(&m->many.e.change, path, cip_dtype_as_stored(), data, nbytes, err));
    }
    model_resize(m, shape);
    model_write(m, &b, elems);
}

static void resize(model *m, const char *path)
{
    fake *f = &m->one.f;
    int64_t shape[CIP_MAX_NDIM] = { 0 };
    const bool rows = fake_chance(f, 2);
    for (int32_t k = 0; k < m->ndim; k++)
        shape[k] = rows && k != 0 ? m->shape[k]
                                  : (int64_t)fake_pick(f, fake_chance(f, 9) ? 0 : 1,
                                                       (uint64_t)m->shape[k] + 4);
    if (product(m->ndim, shape) > ELEMS_MAX)
        return;
    FAKE_MUST(cip_change_resize(&m->one.e.change, path, m->ndim, shape, err));
    FAKE_MUST(cip_change_resize(&m->many.e.change, path, m->ndim, shape, err));
    model_resize(m, shape);
}

/* Elements before `start` along an axis, and those behind the ones that go. */
static void model_delete(model *m, int32_t axis, int64_t start, int64_t count)
{
    uint64_t outer = product(axis, m->shape), row = m->type->itemsize;
    for (int32_t k = axis + 1; k < m->ndim; k++)
        row *= (uint64_t)m->shape[k];
    const uint64_t n = (uint64_t)m->shape[axis] * row, first = (uint64_t)start * row,
                   end = first + (uint64_t)count * row;
    uint8_t *bytes = fake_keep(&m->one.f, (size_t)(outer * n) + 1), *to = bytes;
    for (uint64_t i = 0; i < outer; i++) {
        memcpy(to, m->bytes + i * n, (size_t)first);
        memcpy(to + first, m->bytes + i * n + end, (size_t)(n - end));
        to += n - (end - first);
    }
    m->bytes = bytes;
    m->shape[axis] -= count;
}

/* The axis, and where along it: mostly where chunks begin. */
static int64_t pick_row(model *m, int32_t *axis, int64_t *each)
{
    fake *f = &m->one.f;
    const fake_stored *s = &m->one.stored;
    *axis = fake_chance(f, 2) ? 0 : (int32_t)fake_pick(f, 0, (uint64_t)m->ndim - 1);
    uint64_t row = m->type->itemsize;
    for (int32_t k = *axis + 1; k < m->ndim; k++)
        row *= (uint64_t)m->shape[k];
    const uint64_t chunk = cip_form_chunk_nbytes(&s->form);
    *each = s->grid != NULL                                    ? s->grid->chunk[*axis]
            : row != 0 && chunk % row == 0 && chunk / row < 20 ? (int64_t)(chunk / row)
                                                               : 1;
    const int64_t at = (int64_t)fake_pick(f, 0, (uint64_t)m->shape[*axis]);
    return fake_chance(f, 2) ? at : at / *each * *each;
}

static void model_insert(model *m, int32_t axis, int64_t start, int64_t count, const uint8_t *elems)
{
    uint64_t outer = product(axis, m->shape), row = m->type->itemsize;
    for (int32_t k = axis + 1; k < m->ndim; k++)
        row *= (uint64_t)m->shape[k];
    const size_t n = (size_t)((uint64_t)m->shape[axis] * row),
                 first = (size_t)((uint64_t)start * row), more = (size_t)((uint64_t)count * row);
    uint8_t *bytes = fake_keep(&m->one.f, (size_t)outer * (n + more) + 1), *to = bytes;
    for (uint64_t i = 0; i < outer; i++, to += n + more) {
        memcpy(to, m->bytes + i * n, first);
        memcpy(to + first, elems + i * more, more);
        memcpy(to + first + more, m->bytes + i * n + first, n - first);
    }
    m->bytes = bytes;
    m->shape[axis] += count;
}

static void insert_rows(model *m, const char *path)
{
    fake *f = &m->one.f;
    int32_t axis;
    int64_t each, start = pick_row(m, &axis, &each), rows[CIP_MAX_NDIM];
    int64_t count = (int64_t)fake_pick(f, 0, 5);
    if (fake_chance(f, 2))
        count = fake_chance(f, 2) ? each : 2 * each;
    memcpy(rows, m->shape, sizeof rows);
    rows[axis] += count;
    if (product(m->ndim, rows) > ELEMS_MAX)
        return;
    rows[axis] = count;
    const uint64_t n = product(m->ndim, rows);
    const uint8_t *elems = pick_elements(m, n), *data = native_of(m, elems, n);
    if (n == 0)
        return;
    if (fake_chance(f, 2)) {
        const cip_array *from = another(m, rows, elems);
        FAKE_MUST(cip_change_insert_array(&m->one.e.change, path, axis, start, from, err));
        FAKE_MUST(cip_change_insert_array(&m->many.e.change, path, axis, start, from, err));
    } else {
        const size_t nbytes = (size_t)(n * m->type->itemsize);
        FAKE_MUST(cip_change_insert(&m->one.e.change, path, axis, start, cip_dtype_as_stored(),
                                    data, nbytes, err));
        FAKE_MUST(cip_change_insert(&m->many.e.change, path, axis, start, cip_dtype_as_stored(),
                                    data, nbytes, err));
    }
    model_insert(m, axis, start, count, elems);
}

static void delete_rows(model *m, const char *path)
{
    fake *f = &m->one.f;
    int32_t axis;
    int64_t each, start = pick_row(m, &axis, &each);
    int64_t count = (int64_t)fake_pick(f, 0, (uint64_t)(m->shape[axis] - start));
    if (fake_chance(f, 2))
        count = count / each * each;
    FAKE_MUST(cip_change_delete(&m->one.e.change, path, axis, start, count, err));
    FAKE_MUST(cip_change_delete(&m->many.e.change, path, axis, start, count, err));
    model_delete(m, axis, start, count);
}

/* A chunk as it reads, or as it is stored, once more: nothing changes. */
static void move_chunk(model *m, const char *path)
{
    const cip_array *a = cip_edit_now(&m->one.e, m->one.a);
    cip_chunk_info info = { .size = sizeof info };
    uint64_t n;
    FAKE_MUST(cip_chunk_count(a, &n, err));
    if (n == 0)
        return;
    const uint64_t i = fake_pick(&m->one.f, 0, n - 1);
    FAKE_MUST(cip_chunk_at(a, i, &info, err));
    const size_t cap = (size_t)cip_max_u64(info.decoded_nbytes, info.stored_nbytes);
    uint8_t *bytes = fake_keep(&m->one.f, cap + 1);
    size_t len;
    FAKE_MUST(cip_chunk_read(a, i, false, bytes, cap, &len, err));
    FAKE_MUST(cip_chunk_write(&m->one.e.change, path, i, false, bytes, len, err));
    FAKE_MUST(cip_chunk_write(&m->many.e.change, path, i, false, bytes, len, err));
}

/* --- all of it -------------------------------------------------------------------------------- */

static void update(model *m, const char *path)
{
    world_begin(&m->one, path, m);
    world_begin(&m->many, path, m);
    for (int k = 0; k < EDITS; k++) {
        switch (fake_pick(&m->one.f, 0, 7)) {
        case 0:
            if (m->ndim != 0)
                add_rows(m, path);
            break;
        case 1:
            resize(m, path);
            break;
        case 2:
            move_chunk(m, path);
            break;
        case 3:
            if (m->ndim != 0)
                delete_rows(m, path);
            break;
        case 4:
            if (m->ndim != 0)
                insert_rows(m, path);
            break;
        default:
            write_box(m, path);
        }
        compare(m, &m->one, cip_edit_now(&m->one.e, m->one.a)->space);
    }
    FAKE_MUST(cip_edit_settle(&m->one.e, err));
    FAKE_MUST(cip_edit_settle(&m->many.e, err));
    compare(m, &m->many, cip_edit_now(&m->many.e, m->many.a)->space);
    compare(m, &m->one, fake_stored_space(&m->one.stored));
    compare_stored(&m->one.stored, &m->many.stored);
    world_end(&m->many);
    world_end(&m->one);
    if (m->has_members)
        put_in_members(m);
}

static void changed_arrays_read_as_the_model(void **state)
{
    static const char *const names[UPDATES] = { "a", "b" };
    cip_pool *pool;
    uint64_t first = test_seed(), n = test_full() ? ALL : SAMPLE;
    (void)state;
    assert_int_equal(cip_pool_new(4, &pool, NULL), CIP_OK);
    for (now = first; now < first + n; now++) {
        static model m;
        memset(&m, 0, sizeof m);
        model_open(&m, now, pool);
        for (size_t k = 0; k < UPDATES; k++)
            update(&m, names[k]);
        model_close(&m);
    }
    now = 0;
    for (int k = 0; k <= CIP_MEMBER_FOLDER_GONE; k++)
        assert_true(members_changed[k] > n / 50);
    cip_pool_free(pool);
}

/* --- some of them ----------------------------------------------------------------------------- */

/* 12 x 4 bytes in chunks of 3 x 2, through the key. */
static void small_open(model *m, uint32_t caps, const cip_allocator *alloc)
{
    static uint8_t key = 0x5A;
    const int64_t shape[] = { 12, 4 };
    fake_geometry *g;
    memset(m, 0, sizeof *m);
    fake_open_from(&m->one.f, 1, NULL, NULL, alloc);
    fake_open(&m->other, 2, NULL, NULL);
    world_open(&m->one);
    m->ndim = 2;
    memcpy(m->shape, shape, sizeof shape);
    m->type = m->native = cip_dtype_of(CIP_U8);
    m->bytes = fake_random(&m->one.f, 48);
    g = fake_keep(&m->one.f, sizeof *g);
    fake_plan_grid(&m->one.f, shape, 2, 1, g);
    g->g = (cip_grid){ .itemsize = 1, .ndim = 2, .shape = g->shape, .chunk = g->chunk };
    g->chunk[0] = 3;
    g->chunk[1] = 2;
    g->nchunk[0] = 4;
    g->nchunk[1] = 2;
    g->total = 8;
    fake_stored like = { .f = &m->one.f, .grid = g, .nbytes = 48, .total = 8 };
    like.form = (cip_array_form){ .dtype = m->type, .grid = &g->g, .nstep = 1, .caps = caps };
    like.form.step[0] = (cip_form_step){ &fake_key, &key, 0 };
    fake_same_form(&m->one.f, &like, &m->one.stored);
    store_all(&m->one.f, &m->one.stored, 48, m->bytes);
    world_begin(&m->one, "a", m);
}

static void small_close(model *m)
{
    world_end(&m->one);
    fake_close(&m->other);
    world_close(&m->one);
}

static void a_chunk_is_encoded_once_however_often_it_changed(void **state)
{
    (void)state;
    static model m;
    small_open(&m, 0, NULL);
    const size_t before = fake_key_used;
    for (uint8_t v = 1; v < 20; v++)
        FAKE_MUST(
            cip_change_write(&m.one.e.change, "a", "[4,3]", cip_dtype_as_stored(), &v, 1, err));
    assert_int_equal(fake_key_used, before + 1); /* what the chunk was */
    FAKE_MUST(cip_edit_settle(&m.one.e, err));
    assert_int_equal(fake_key_used, before + 2);
    m.bytes[4 * 4 + 3] = 19;
    compare(&m, &m.one, fake_stored_space(&m.one.stored));
    small_close(&m);
}

static void whole_chunks_of_another_file_are_taken_as_they_are(void **state)
{
    (void)state;
    static model m;
    const int64_t part[] = { 6, 2 }, rows[] = { 4, 4 };
    small_open(&m, CIP_FORM_TAKES, NULL);
    const uint8_t *elems = fake_random(&m.other, 12), *more = fake_random(&m.other, 16);
    const cip_array *from = another(&m, part, elems), *behind = another(&m, rows, more);
    const size_t before = fake_key_used;
    FAKE_MUST(cip_change_write_array(&m.one.e.change, "a", "[3:9,2:4]", from, err));
    FAKE_MUST(cip_change_append_array(&m.one.e.change, "a", behind, err));
    FAKE_MUST(cip_edit_settle(&m.one.e, err));
    assert_int_equal(fake_key_used, before);
    for (size_t i = 0; i < 12; i++)
        m.bytes[(3 + i / 2) * 4 + 2 + i % 2] = elems[i];
    const int64_t shape[CIP_MAX_NDIM] = { 16, 4 };
    model_resize(&m, shape);
    memcpy(m.bytes + 48, more, 16);
    compare(&m, &m.one, fake_stored_space(&m.one.stored));
    small_close(&m);
}

/* The chunks of the first box of 3 x 2. */
static void chunks_are_written_as_they_are_read(void **state)
{
    (void)state;
    static model m;
    uint8_t stored[8], raw[6] = { 1, 2, 3, 4, 5, 6 }, back[6];
    size_t n;
    small_open(&m, 0, NULL);
    FAKE_MUST(cip_chunk_read(m.one.a, 7, true, stored, sizeof stored, &n, err));
    const size_t before = fake_key_used;
    FAKE_MUST(cip_chunk_write(&m.one.e.change, "a", 0, true, stored, n, err));
    assert_int_equal(fake_key_used, before + 1); /* to see whether it can be read */
    FAKE_MUST(cip_chunk_write(&m.one.e.change, "a", 3, false, raw, sizeof raw, err));
    FAKE_MUST(cip_chunk_read(cip_edit_now(&m.one.e, m.one.a), 3, false, back, 6, &n, err));
    assert_memory_equal(back, raw, 6);
    FAKE_MUST(cip_edit_settle(&m.one.e, err));
    for (size_t i = 0; i < 6; i++) {
        m.bytes[i / 2 * 4 + i % 2] = m.bytes[(9 + i / 2) * 4 + 2 + i % 2];
        m.bytes[(3 + i / 2) * 4 + 2 + i % 2] = raw[i];
    }
    compare(&m, &m.one, fake_stored_space(&m.one.stored));
    small_close(&m);
}

static cip_status write_one(bool stored, uint64_t i, size_t n)
{
    static model m;
    cip_err err = CIP_ERR_INIT;
    const uint8_t bytes[8] = { 0 };
    small_open(&m, 0, NULL);
    cip_status st = cip_chunk_write(&m.one.e.change, "a", i, stored, bytes, n, &err);
    assert_int_equal(m.one.e.st, st); /* the commit fails, too */
    small_close(&m);
    return st;
}

static void chunks_that_cannot_be_are_refused(void **state)
{
    (void)state;
    assert_int_equal(write_one(true, 8, 6), CIP_ERR_RANGE);
    assert_int_equal(write_one(false, 8, 6), CIP_ERR_RANGE);
    assert_int_equal(write_one(false, 0, 5), CIP_ERR_RANGE);
    assert_int_not_equal(write_one(true, 0, 5), CIP_OK); /* decodes to fewer bytes */
    assert_int_equal(write_one(true, 0, 6), CIP_OK);
}

/* The array again, turned: another view of the same chunks. */
static void views_share_the_chunks_until_a_shape_changes(void **state)
{
    (void)state;
    static model m;
    const uint8_t two[] = { 100, 200 };
    const int64_t shape[CIP_MAX_NDIM] = { 13, 4 };
    small_open(&m, 0, NULL);
    cip_array *turned;
    FAKE_MUST(cip_layout_add_array(m.one.f.layout, true, &turned, err));
    *turned = *m.one.a;
    turned->path = "t";
    turned->view.shape[0] = 4;
    turned->view.shape[1] = 12;
    turned->view.stride[0] = 1;
    turned->view.stride[1] = 4;
    const cip_bytes key = { (const uint8_t *)"t", 1 };
    FAKE_MUST(cip_strmap_put(&m.one.file.by_path, key, m.one.f.layout->narray - 1, NULL, err));
    FAKE_MUST(cip_change_write(&m.one.e.change, "t", "[2,4:6]", cip_dtype_as_stored(), two, 2,
                               err)); /* the first change */
    m.bytes[4 * 4 + 2] = 100;
    m.bytes[5 * 4 + 2] = 200;
    compare(&m, &m.one, cip_edit_now(&m.one.e, m.one.a)->space);
    FAKE_MUST(cip_change_resize(&m.one.e.change, "a", 2, shape, err));
    model_resize(&m, shape);
    assert_int_equal(
        cip_change_write(&m.one.e.change, "t", "[2,4:6]", cip_dtype_as_stored(), two, 2, NULL),
        CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_change_resize(&m.one.e.change, "t", 2, shape, NULL), CIP_ERR_UNSUPPORTED);
    FAKE_MUST(cip_edit_settle(&m.one.e, err));
    compare(&m, &m.one, fake_stored_space(&m.one.stored));
    small_close(&m);
}

static int stop_at_the_second(void *user, uint64_t done, uint64_t total)
{
    (void)user;
    assert_int_equal(total, 8);
    return done == 2;
}

static void encoding_can_be_cancelled(void **state)
{
    (void)state;
    static model m;
    small_open(&m, 0, NULL);
    m.one.e.o.progress = stop_at_the_second;
    FAKE_MUST(cip_change_write(&m.one.e.change, "a", "", cip_dtype_as_stored(), m.bytes, 48, err));
    assert_int_equal(cip_edit_settle(&m.one.e, NULL), CIP_ERR_CANCELLED);
    small_close(&m);
}

static cip_status change_all(model *m)
{
    const int64_t shape[] = { 13, 5 };
    cip_status st = cip_change_write(&m->one.e.change, "a", "[1:9,1:3]", cip_dtype_as_stored(),
                                     m->bytes, 16, NULL);
    if (st == CIP_OK)
        st = cip_change_append(&m->one.e.change, "a", cip_dtype_as_stored(), m->bytes, 8, NULL);
    if (st == CIP_OK)
        st = cip_change_resize(&m->one.e.change, "a", 2, shape, NULL);
    return st == CIP_OK ? cip_edit_settle(&m->one.e, NULL) : st;
}

static void a_failing_allocation_is_passed_on(void **state)
{
    (void)state;
    for (size_t n = 1, failed = 1; failed != 0; n++) {
        static model m;
        fail_alloc alloc = { 0 };
        const cip_allocator from = { fail_alloc_resize, &alloc };
        small_open(&m, 0, &from);
        alloc.fail_at = alloc.requests + n;
        cip_status st = change_all(&m);
        failed = alloc.requests >= alloc.fail_at;
        if (st != CIP_OK || !failed)
            assert_int_equal(st, failed ? CIP_ERR_NOMEM : CIP_OK);
        small_close(&m);
        assert_int_equal(alloc.held, 0);
    }
}

static int start(void **state)
{
    (void)state;
    return scratch_open(&dir) ? 0 : -1;
}

static int stop(void **state)
{
    (void)state;
    scratch_close(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(changed_arrays_read_as_the_model, name_seed),
        cmocka_unit_test(a_chunk_is_encoded_once_however_often_it_changed),
        cmocka_unit_test(whole_chunks_of_another_file_are_taken_as_they_are),
        cmocka_unit_test(chunks_are_written_as_they_are_read),
        cmocka_unit_test(chunks_that_cannot_be_are_refused),
        cmocka_unit_test(views_share_the_chunks_until_a_shape_changes),
        cmocka_unit_test(encoding_can_be_cancelled),
        cmocka_unit_test(a_failing_allocation_is_passed_on),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
