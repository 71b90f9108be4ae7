/* SPDX-License-Identifier: BSD-3-Clause
 * Formats without a tree of their own whose arrays go to the file as they are put. In whatever
 * order headers, attributes and arrays come, the file has the bytes that a conversion of the same
 * arrays and tree gives it, where all is known before the first byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/core/writing/edit_testing.h"
#include "support/fail_alloc.h"
#include "support/own_folder.h"

enum { MOST = 6, CARDS = 80, ROUNDS = 150 };

static const char *const names[] = { "x.h5", "x.fits", "x.npz" };
enum { NNAME = sizeof names / sizeof *names };

typedef enum moment { BEFORE, AFTER, LAST, NEVER, SMALLER } moment;

typedef struct part {
    int64_t rows;  /* -1: no array, a header alone */
    bool table;    /* else an image */
    bool slab;     /* filled at the end */
    moment header; /* is set */
    int cards;
} part;

typedef struct content {
    part part[MOST];
    int n;
    bool sums;
} content;

static int32_t numbers[2 * 5000];

static uint32_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static content make_content(uint64_t seed)
{
    static const int64_t rows[] = { 0, 1, 300, 361, 5000 };
    static const int cards[] = { 1, 20, 33, CARDS };
    content c = { .n = 1 + (int)(next(&seed) % MOST), .sums = next(&seed) % 2 == 0 };
    for (int i = 0; i < c.n; i++)
        c.part[i] = (part){ .rows = next(&seed) % 6 == 0 ? -1 : rows[next(&seed) % 5],
                            .table = next(&seed) % 3 == 0,
                            .slab = next(&seed) % 5 == 0,
                            .header = (moment)(next(&seed) % 5),
                            .cards = cards[next(&seed) % 4] };
    return c;
}

static cip_status set_header(cip_change *w, int i, int cards, cip_err *err)
{
    char path[40];
    cip_status st = CIP_OK;
    for (int k = 0; k < cards && st == CIP_OK; k++) {
        snprintf(path, sizeof path, "h%d/header/KEY%d", i, k);
        st = cip_change_set_int(w, path, k, err);
    }
    return st;
}

static cip_status put_array(cip_change *w, const part *p, int i, cip_slab **slab, cip_err *err)
{
    char path[40];
    cip_dtype *record = cip_dtype_parse("[('a', '<i4'), ('b', '<u4')]", err);
    const cip_dtype *d = p->table ? record : cip_dtype_of(CIP_U32);
    const int64_t shape[] = { p->rows, 2 };
    const int ndim = p->table ? 1 : 2;
    if (record == NULL)
        return err->code;
    snprintf(path, sizeof path, "h%d/data", i);
    const cip_status st = p->slab ? cip_change_declare(w, path, d, ndim, shape, NULL, slab, err)
                                  : cip_change_put(w, path, d, ndim, shape, numbers, NULL, err);
    cip_dtype_free(record);
    return st;
}

static cip_status fill(const part *p, cip_slab *slab, cip_err *err)
{
    const cip_box box = { .stop = { p->rows, 2 } };
    return p->rows == 0 ? CIP_OK : cip_slab_write(slab, &box, numbers, (size_t)p->rows * 8, err);
}

/* All calls but the first and the last. */
static cip_status put_content(cip_change *w, const content *c, cip_err *err)
{
    cip_slab *slab[MOST] = { NULL };
    cip_status st = CIP_OK;
    for (int i = 0; i < c->n && st == CIP_OK; i++) {
        const part *p = &c->part[i];
        char path[40];
        snprintf(path, sizeof path, "h%d/header", i);
        if (p->header == BEFORE || p->header == SMALLER || p->rows < 0)
            st = set_header(w, i, p->cards, err);
        if (st == CIP_OK && p->rows >= 0)
            st = put_array(w, p, i, &slab[i], err);
        if (st == CIP_OK && p->header == AFTER)
            st = set_header(w, i, p->cards, err);
        if (st == CIP_OK && p->header == SMALLER)
            st = cip_change_set_yaml(w, path, "{KEY0: 0}", err);
    }
    for (int i = 0; i < c->n && st == CIP_OK; i++) {
        const part *p = &c->part[i];
        if (p->header == LAST)
            st = set_header(w, i, p->cards, err);
        if (st == CIP_OK && slab[i] != NULL)
            st = fill(p, slab[i], err);
    }
    return st;
}

static void expect_same(const char *one, const char *two, unsigned round)
{
    size_t n, m;
    char *a = edit_bytes(one, &n), *b = edit_bytes(two, &m);
    if (n != m || memcmp(a, b, n) != 0)
        fail_msg("%s, round %u: other bytes than a conversion gives", one, round);
    free(a);
    free(b);
}

static void a_new_file_is_what_a_conversion_makes(void **state)
{
    (void)state;
    for (unsigned r = 0; r < ROUNDS; r++)
        for (int k = 0; k < NNAME; k++) {
            const content c = make_content(r * NNAME + (unsigned)k);
            const char *sums = c.sums && strstr(names[k], "fits") != NULL ? "datasum" : NULL;
            char from[1024], to[1024];
            cip_change *w;
            snprintf(from, sizeof from, "%s", scratch_path(&s, "all.asdf"));
            snprintf(to, sizeof to, "%s", scratch_path(&s, "converted"));
            strcat(to, names[k]);
            const char *path = scratch_path(&s, names[k]);
            OK(cip_create(from, CIP_CHANGE_OPTIONS(.overwrite = true, .level = CIP_LEVEL_PROCESS),
                          &w, err));
            OK(put_content(w, &c, err));
            OK(cip_change_commit(&w, err));
            OK(cip_create(path,
                          CIP_CHANGE_OPTIONS(.overwrite = true, .accept_loss = true,
                                             .level = CIP_LEVEL_PROCESS, .checksum = sums),
                          &w, err));
            OK(put_content(w, &c, err));
            OK(cip_change_commit(&w, err));
            OK(cip_convert(from, to,
                           CIP_CONVERT_OPTIONS(.overwrite = true, .accept_loss = true,
                                               .level = CIP_LEVEL_PROCESS, .checksum = sums),
                           err));
            expect_same(path, to, r);
        }
}

/* Of 3 MiB, which would wait in memory. */
static void arrays_go_to_the_file_as_they_come(void **state)
{
    (void)state;
    enum { ROWS = 3 << 18 };
    int32_t *data = calloc(ROWS, sizeof *data);
    const int64_t shape[] = { ROWS };
    assert_non_null(data);
    for (int k = 0; k < NNAME; k++) {
        fail_alloc held = { .fail_at = 0 };
        const cip_allocator from = { fail_alloc_resize, &held };
        cip_change *w;
        OK(cip_create(scratch_path(&s, names[k]),
                      CIP_CHANGE_OPTIONS(.overwrite = true, .allocator = &from, .threads = 1), &w,
                      err));
        OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, shape, data, NULL, err));
        assert_true(held.held < 1 << 20);
        OK(cip_change_commit(&w, err));
        assert_int_equal(held.held, 0);
    }
    free(data);
}

static void memory_that_is_not_there_leaves_no_file(void **state)
{
    (void)state;
    const content c = { .n = 3,
                        .sums = true,
                        .part = { { .rows = 1, .table = true, .header = LAST, .cards = 40 },
                                  { .rows = -1, .cards = 1 },
                                  { .rows = 300, .header = BEFORE, .cards = 3 } } };
    for (int k = 0; k < NNAME; k++) {
        const char *path = scratch_path(&s, names[k]);
        for (size_t n = 1;; n++) {
            fail_alloc alloc = { .fail_at = n };
            const cip_allocator from = { fail_alloc_resize, &alloc };
            cip_err why = CIP_ERR_INIT;
            cip_change *w = NULL;
            remove(path);
            cip_status st = cip_create(
                path, CIP_CHANGE_OPTIONS(.allocator = &from, .accept_loss = true, .threads = 1), &w,
                &why);
            if (st == CIP_OK)
                st = put_content(w, &c, &why);
            if (st == CIP_OK)
                st = cip_change_commit(&w, &why);
            else
                cip_change_abort(&w);
            assert_int_equal(alloc.held, 0);
            assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
            assert_int_equal(access(path, F_OK) == 0, st == CIP_OK);
            if (alloc.requests < n)
                break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_file_is_what_a_conversion_makes),
        cmocka_unit_test(arrays_go_to_the_file_as_they_come),
        cmocka_unit_test(memory_that_is_not_there_leaves_no_file),
    };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        numbers[i] = (int32_t)(i * 2654435761u);
    return cmocka_run_group_tests(tests, start, stop);
}
