/* SPDX-License-Identifier: BSD-3-Clause
 * Readers of frames while the frames are updated: they go on with what they opened, every element
 * of it, as long as all changes leave that in place, and not one read longer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cippus/cippus.h"
#include "io/lock_file.h"
#include "io/switches.h"
#include "support/effort.h"
#include "support/needs.h"
#include "support/temp_folder.h"

enum { COLUMNS = 5, MOST = 400, READERS = 6 };

static scratch dir;
static char path[300];

static int setup(void **state)
{
    (void)state;
    if (!scratch_open(&dir))
        return -1;
    snprintf(path, sizeof path, "%s", scratch_path(&dir, "a.b2nd"));
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&dir);
    return 0;
}

/* What the frame is. */
typedef struct model {
    int64_t rows;
    int32_t v[MOST][COLUMNS];
} model;

static model now;

static void ok(cip_status st, const cip_err *err)
{
    if (st != CIP_OK)
        fail_msg("%s", err->text);
}

static void make(int64_t rows)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    const int64_t shape[] = { rows, COLUMNS };
    static const char *const chunks[] = { "chunks=7,3", "blocks=4,3", NULL };
    now.rows = rows;
    for (int64_t i = 0; i < rows; i++)
        for (int k = 0; k < COLUMNS; k++)
            now.v[i][k] = (int32_t)(i * COLUMNS + k);
    const cip_change_options o = { .size = sizeof o,
                                   .overwrite = true,
                                   .format = "blosc2",
                                   .codec = "blosclz",
                                   .format_options = chunks };
    ok(cip_create(path, &o, &w, &err), &err);
    ok(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 2, shape, now.v, NULL, &err), &err);
    ok(cip_change_commit(&w, &err), &err);
}

typedef struct reader {
    cip_file *f;
    const cip_array *a;
    model was;
} reader;

static void begin(reader *r)
{
    cip_err err = CIP_ERR_INIT;
    ok(cip_open(path, NULL, &r->f, &err), &err);
    r->a = cip_find(r->f, NULL, NULL);
    assert_non_null(r->a);
    r->was = now;
}

static void end(reader *r)
{
    cip_file_close(r->f);
    *r = (reader){ .f = NULL };
}

static cip_status read_all(const reader *r, int32_t got[MOST][COLUMNS])
{
    return cip_read(r->a, NULL, cip_dtype_of(CIP_I32), got, (size_t)r->was.rows * sizeof got[0],
                    NULL);
}

static void goes_on(const reader *r)
{
    int32_t got[MOST][COLUMNS];
    assert_int_equal(read_all(r, got), CIP_OK);
    assert_memory_equal(got, r->was.v, (size_t)r->was.rows * sizeof got[0]);
}

static void is_busy(const reader *r)
{
    int32_t got[MOST][COLUMNS];
    assert_int_equal(read_all(r, got), CIP_ERR_BUSY);
}

static cip_change *begin_edit(void)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *e;
    const cip_change_options o = { .size = sizeof o, .level = CIP_LEVEL_PROCESS };
    ok(cip_change_open(path, &o, &e, &err), &err);
    return e;
}

static void commit(cip_change *e)
{
    cip_err err = CIP_ERR_INIT;
    ok(cip_change_commit(&e, &err), &err);
}

static void append(int32_t value)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *e = begin_edit();
    int32_t *row = now.v[now.rows++];
    for (int k = 0; k < COLUMNS; k++)
        row[k] = value + k;
    ok(cip_change_append(e, "", cip_dtype_as_stored(), row, sizeof now.v[0], &err), &err);
    commit(e);
}

static void put(int64_t first, int64_t n, int32_t value)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *e = begin_edit();
    char slice[60];
    snprintf(slice, sizeof slice, "[%d:%d]", (int)first, (int)(first + n));
    for (int64_t i = first; i < first + n; i++)
        for (int k = 0; k < COLUMNS; k++)
            now.v[i][k] = value * (int32_t)(i + 1) + k;
    ok(cip_change_write(e, "", slice, cip_dtype_as_stored(), now.v[first],
                        (size_t)n * sizeof now.v[0], &err),
       &err);
    commit(e);
}

static void resize(int64_t rows)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *e = begin_edit();
    const int64_t shape[] = { rows, COLUMNS };
    if (rows > now.rows)
        memset(now.v[now.rows], 0, (size_t)(rows - now.rows) * sizeof now.v[0]);
    now.rows = rows;
    ok(cip_change_resize(e, "", 2, shape, &err), &err);
    commit(e);
}

static void set(int value)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *e = begin_edit();
    char text[20];
    snprintf(text, sizeof text, "%d", value);
    ok(cip_change_set_string(e, "vlmeta/step", text, &err), &err);
    commit(e);
}

/* In another process. */
static void elsewhere(void (*fn)(int32_t), int32_t value)
{
    const pid_t child = fork();
    int status;
    if (child == 0) {
        fn(value);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Who knows no locks of ours writes the bytes that are there, so that only the time tells. */
static void write_as_others_do(void)
{
    const struct timespec moment = { .tv_nsec = 10000000 };
    char byte;
    const int fd = open(path, O_RDWR);
    nanosleep(&moment, NULL);
    assert_int_equal(pread(fd, &byte, 1, 300), 1);
    assert_int_equal(pwrite(fd, &byte, 1, 300), 1);
    close(fd);
    nanosleep(&moment, NULL);
}

static bool has_series(void)
{
    cip_switches s;
    const int fd = open(path, O_RDONLY);
    const bool has = cip_switches_get(fd, &s);
    close(fd);
    return has;
}

static bool can_tell(void)
{
    const cip_switches s = { 1, 2, 3 };
    const int fd = open(scratch_path(&dir, "probe"), O_RDWR | O_CREAT, 0600);
    const bool can = cip_switches_put(fd, &s);
    close(fd);
    return can;
}

static void readers_go_on_through_updates(void **state)
{
    (void)state;
    reader r, later;
    SKIP_UNLESS(can_tell(), "no extended attributes here");
    make(20);
    begin(&r);
    append(1000);
    goes_on(&r);
    elsewhere(append, 1000);
    now.rows++; /* as over there */
    for (int k = 0; k < COLUMNS; k++)
        now.v[now.rows - 1][k] = 1000 + k;
    goes_on(&r);
    begin(&later);
    put(0, 20, 7);
    resize(9);
    set(1);
    goes_on(&r);
    goes_on(&later);
    assert_true(has_series());
    end(&r);
    goes_on(&later);
    end(&later);
    put(1, 3, 8);
    assert_false(has_series()); /* nobody is left to be told */
    begin(&r);
    goes_on(&r);
    end(&r);
}

static void other_writers_end_it(void **state)
{
    (void)state;
    reader r, later;
    SKIP_UNLESS(can_tell(), "no extended attributes here");
    make(20);
    begin(&r);
    put(0, 2, 3);
    goes_on(&r);
    write_as_others_do();
    is_busy(&r);
    put(0, 2, 4); /* which begins another series */
    is_busy(&r);
    begin(&later);
    append(2000);
    is_busy(&r);
    goes_on(&later);
    bool changed;
    assert_int_equal(cip_file_refresh(r.f, &changed, NULL), CIP_OK);
    assert_true(changed);
    end(&r);
    end(&later);
}

/* Readers come and go, updates of every kind and others' writes come in any order. */
static void whoever_reads_sees_what_he_opened(void **state)
{
    (void)state;
    static reader r[READERS];
    const int steps = test_full() ? 3000 : 300;
    unsigned seed = (unsigned)test_seed();
    size_t went_on = 0;
    SKIP_UNLESS(can_tell(), "no extended attributes here");
    print_message("seed %u\n", seed);
    make(20);
    for (int i = 0; i < steps; i++) {
        const unsigned x = (unsigned)rand_r(&seed);
        reader *one = &r[x / 16 % READERS];
        if (one->f == NULL)
            begin(one);
        else if (x / 128 % 4 == 0)
            end(one);
        const int64_t first = x / 1024 % (unsigned)now.rows, left = now.rows - first;
        switch (x % 16) {
        case 0:
            write_as_others_do();
            for (size_t k = 0; k < READERS; k++)
                if (r[k].f != NULL) {
                    is_busy(&r[k]);
                    end(&r[k]);
                }
            break;
        case 1:
        case 2:
            resize(1 + x / 4096 % 60);
            break;
        case 3:
        case 4:
            set((int)x);
            break;
        case 5:
        case 6:
        case 7:
        case 8:
            if (now.rows < MOST)
                append((int32_t)x);
            break;
        default:
            put(first, left < 9 ? left : 9, (int32_t)(x % 1000));
        }
        for (size_t k = 0; k < READERS; k++)
            if (r[k].f != NULL) {
                goes_on(&r[k]);
                went_on++;
            }
    }
    for (size_t k = 0; k < READERS; k++)
        if (r[k].f != NULL)
            end(&r[k]);
    assert_true(went_on > (size_t)steps);
}

/* A writer is in the midst of an update, or was killed there. */
static void the_lock_tells_who_is_at_it(void **state)
{
    (void)state;
    reader r;
    SKIP_UNLESS(can_tell(), "no extended attributes here");
    make(20);
    begin(&r);
    append(1);
    struct stat st;
    cip_switches s;
    const int fd = open(path, O_RDWR);
    assert_true(cip_switches_get(fd, &s));
    assert_int_equal(cip_store_lock(fd, CIP_LOCK_SWITCHES, false), CIP_LOCK_HELD);
    write_as_others_do(); /* the tail, say */
    goes_on(&r);
    cip_store_unlock(fd, CIP_LOCK_SWITCHES);
    is_busy(&r);
    assert_int_equal(fstat(fd, &st), 0);
    s.last = cip_switches_state(&st, NULL);
    assert_true(cip_switches_put(fd, &s));
    goes_on(&r);
    s.series++; /* a series that knows nothing of what was read */
    s.first++;
    assert_true(cip_switches_put(fd, &s));
    is_busy(&r);
    cip_switches_clear(fd);
    is_busy(&r);
    close(fd);
    end(&r);
}

/* Wherever it was: readers go on or are told, and the next writer begins a series of its own, as
 * others may have written since. */
static void a_killed_writer_misleads_nobody(void **state)
{
    (void)state;
    unsigned seed = (unsigned)test_seed();
    const int rounds = test_full() ? 1000 : 60;
    int nbusy = 0;
    SKIP_UNLESS(can_tell(), "no extended attributes here");
    make(20);
    for (int i = 0; i < rounds; i++) {
        reader r;
        int32_t got[MOST][COLUMNS];
        begin(&r);
        put(0, 2, i + 1);
        goes_on(&r);
        const struct timespec moment = { .tv_nsec = (long)(rand_r(&seed) % 1500000) };
        const pid_t child = fork();
        if (child == 0)
            for (int32_t k = 0; now.rows < MOST; k++)
                append(k);
        nanosleep(&moment, NULL);
        for (int k = 0; k < 3; k++)
            goes_on(&r); /* while he is at it */
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        const cip_status st = read_all(&r, got);
        if (st == CIP_OK)
            assert_memory_equal(got, r.was.v, (size_t)r.was.rows * sizeof got[0]);
        else
            assert_int_equal(st, CIP_ERR_BUSY);
        nbusy += st != CIP_OK;
        if (i % 3 == 0) {
            write_as_others_do();
            is_busy(&r);
        }
        resize(20);
        if (st != CIP_OK || i % 3 == 0)
            is_busy(&r);
        end(&r);
    }
    print_message("busy after %d of %d\n", nbusy, rounds);
}

/* The count tells of what neither length nor time do. */
static void the_count_of_a_lock_file_is_part_of_the_state(void **state)
{
    (void)state;
    reader r, later;
    cip_lock_file lock;
    SKIP_UNLESS(can_tell(), "no extended attributes here");
    make(20);
    scratch_write(&dir, "a.b2nd.b2lock", "", 0);
    begin(&r);
    put(0, 2, 3);
    goes_on(&r);
    assert_int_equal(
        cip_lock_file_open(AT_FDCWD, scratch_path(&dir, "a.b2nd.b2lock"), true, &lock, NULL),
        CIP_OK);
    begin(&later);
    assert_int_equal(cip_lock_file_count(&lock, NULL), CIP_OK);
    is_busy(&r);
    is_busy(&later);
    put(0, 2, 4);
    is_busy(&r);
    is_busy(&later);
    cip_lock_file_close(&lock);
    end(&r);
    end(&later);
    assert_int_equal(unlink(scratch_path(&dir, "a.b2nd.b2lock")), 0);
}

/* Another file takes the name; the old one stays as it was. */
static void a_frame_that_is_made_anew_is_another_file(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    reader r;
    make(20);
    begin(&r);
    put(0, 20, 9);
    cip_change *e = begin_edit();
    ok(cip_change_defrag(e, NULL, NULL, &err), &err);
    commit(e);
    assert_false(has_series());
    goes_on(&r);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_go_on_through_updates),
        cmocka_unit_test(other_writers_end_it),
        cmocka_unit_test(whoever_reads_sees_what_he_opened),
        cmocka_unit_test(the_lock_tells_who_is_at_it),
        cmocka_unit_test(a_killed_writer_misleads_nobody),
        cmocka_unit_test(the_count_of_a_lock_file_is_part_of_the_state),
        cmocka_unit_test(a_frame_that_is_made_anew_is_another_file),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
