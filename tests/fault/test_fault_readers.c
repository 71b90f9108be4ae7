/* SPDX-License-Identifier: BSD-3-Clause
 * Readers while a file is being changed, in every way: what they see is one of the states that
 * there have been, whenever they look. Writer and readers are processes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault/fault_scenarios.h"
#include "support/effort.h"
#include "support/temp_folder.h"

enum { READERS = 2, STATES = 2 };

typedef struct shared {
    uint64_t state[STATES];
    volatile int stop;
    volatile size_t nread[READERS], nchange, nbusy;
    char wrong[READERS][300];
} shared;

static scratch dir;
static shared *s;

static int setup(void **state)
{
    (void)state;
    s = mmap(NULL, sizeof *s, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return s != MAP_FAILED && scratch_open(&dir) ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    scratch_close(&dir);
    return munmap(s, sizeof *s);
}

/* True once there were as many changes, and reads by each reader, as a run is to have, however long
 * a loaded machine takes for them; or once a reader saw something wrong. */
static bool had_enough(void)
{
    const size_t each = test_full() ? 2000 : 80;
    bool enough = s->nchange >= each;
    for (int i = 0; i < READERS; i++) {
        if (s->wrong[i][0] != '\0')
            return true;
        enough &= s->nread[i] >= each;
    }
    return enough;
}

static const char *const *members; /* of the set that is read; NULL: a file */
static bool watched; /* the format's files are refused to those who read on when they changed */

static bool digest_once(const char *path, uint64_t *seen, char *why)
{
    return members != NULL ? fault_digest_set(path, members, seen, why)
                           : fault_digest(path, seen, why);
}

/* One who finds a set being written, or a watched file changed, begins anew. */
static bool digest(const char *path, uint64_t *seen, char *why)
{
    while (!digest_once(path, seen, why)) {
        if (members == NULL && !watched)
            return false;
        if (strncmp(why, cip_status_name(CIP_ERR_BUSY), strlen(cip_status_name(CIP_ERR_BUSY))) != 0)
            return false;
        usleep(100);
    }
    return true;
}

static void read_on(const char *path, int who)
{
    uint64_t seen;
    char why[256] = "";
    while (s->stop == 0 && s->wrong[who][0] == '\0') {
        if (!digest(path, &seen, why))
            snprintf(s->wrong[who], sizeof s->wrong[who], "read %zu: %s", s->nread[who], why);
        else if (seen != s->state[0] && seen != s->state[1])
            snprintf(s->wrong[who], sizeof s->wrong[who], "read %zu shows neither state",
                     s->nread[who]);
        s->nread[who]++;
        usleep(200); /* or the writer never finds the file unread */
    }
    _exit(0);
}

static void write_on(const char *path, fault_change *const change[STATES])
{
    cip_err err = CIP_ERR_INIT;
    for (int i = 0; !had_enough();) {
        cip_status st = change[i % STATES](path, CIP_LEVEL_PROCESS, 1, &err);
        if (st != CIP_OK && st != CIP_ERR_BUSY) {
            s->stop = 1;
            fail_msg("the change fails: %s", err.text);
        }
        i += st == CIP_OK;
        s->nchange += st == CIP_OK;
        s->nbusy += st == CIP_ERR_BUSY;
        if (st == CIP_ERR_BUSY)
            usleep(50);
    }
}

static void run(const char *path, void (*make)(const char *), fault_change *const change[STATES])
{
    pid_t reader[READERS];
    char why[256];
    cip_err err = CIP_ERR_INIT;
    memset(s, 0, sizeof *s);
    make(dir.dir);
    for (int i = 0; i < 2 * STATES; i++) { /* twice: from the first state on they only alternate */
        assert_int_equal(change[i % STATES](path, CIP_LEVEL_PROCESS, 1, &err), CIP_OK);
        assert_true(digest(path, &s->state[i % STATES], why));
    }
    for (int i = 0; i < READERS; i++) {
        reader[i] = fork();
        if (reader[i] == 0)
            read_on(path, i);
    }
    write_on(path, change);
    s->stop = 1;
    int status[READERS];
    for (int i = 0; i < READERS; i++)
        assert_int_equal(waitpid(reader[i], &status[i], 0), reader[i]);
    for (int i = 0; i < READERS; i++) {
        assert_int_equal(status[i], 0);
        if (s->wrong[i][0] != '\0')
            fail_msg("%s", s->wrong[i]);
    }
    print_message("%zu changes (%zu times busy), %zu and %zu reads\n", s->nchange, s->nbusy,
                  s->nread[0], s->nread[1]);
}

static void readers_of_a_journal_see_one_state(void **state)
{
    (void)state;
    static fault_change *const change[] = { fault_by_journal, fault_by_journal_back };
    run(scratch_path(&dir, "a.ra"), fault_make_rawarray, change);
}

static void readers_of_growth_and_shrinking_see_one_state(void **state)
{
    (void)state;
    static fault_change *const change[] = { fault_edit_ra_larger, fault_edit_ra_smaller };
    run(scratch_path(&dir, "a.ra"), fault_make_rawarray_and_text, change);
}

static void readers_of_switches_see_one_state(void **state)
{
    (void)state;
    static fault_change *const change[] = { fault_edit_ra_append, fault_edit_ra_smaller };
    run(scratch_path(&dir, "a.ra"), fault_make_rawarray, change);
}

/* Bytes that one update leaves unused another one takes only while nobody could still read them. */
static void readers_of_frames_see_one_state(void **state)
{
    (void)state;
    static fault_change *const change[] = { fault_edit_ra_put, fault_edit_frame_put };
    watched = true;
    run(scratch_path(&dir, "a.b2nd"), fault_make_frame, change);
    watched = false;
}

static void readers_of_replacements_see_one_state(void **state)
{
    (void)state;
    static fault_change *const change[] = { fault_edit_set_long, fault_edit_set };
    run(scratch_path(&dir, "a.asdf"), fault_make_tight_asdf, change);
}

static void readers_of_a_set_of_files_see_one_state(void **state)
{
    (void)state;
    static fault_change *const change[] = { fault_members_there, fault_members_back };
    char path[600];
    members = fault_set;
    snprintf(path, sizeof path, "%s/d", dir.dir);
    run(path, fault_make_folder, change);
    snprintf(path, sizeof path, "%s/x", dir.dir);
    run(path, fault_make_set, change);
    members = NULL;
}

/* --- a stream that grows ---------------------------------------------------------------------- */

enum { WIDTH = 100, FIRST = 2 /* rows of fault_make_stream */ };

/* Row i is WIDTH times i, from FIRST on. */
static cip_status add_rows(const char *path, cip_err *err)
{
    int32_t row[WIDTH];
    cip_file *f;
    cip_status st = cip_open(path, CIP_OPEN_OPTIONS(.threads = 1), &f, err);
    for (int32_t i = FIRST; st == CIP_OK && !had_enough(); i++) {
        for (int k = 0; k < WIDTH; k++)
            row[k] = i;
        st = cip_append(f, NULL, cip_dtype_as_stored(), row, sizeof row, err);
        s->nchange++;
    }
    cip_file_close(f);
    return st;
}

/* Looks at the last row that there is; false with the reason in err. */
static bool look_at_end(const char *path, int64_t *seen, cip_err *err)
{
    int32_t row[WIDTH];
    cip_file *f;
    if (cip_open(path, CIP_OPEN_OPTIONS(.threads = 1), &f, err) != CIP_OK)
        return false;
    const cip_array *a = cip_file_array(f, 0);
    int64_t n = cip_array_shape(a)[0];
    bool ok =
        n >= *seen && cip_read(a, "[-1]", cip_dtype_as_stored(), row, sizeof row, err) == CIP_OK;
    for (int k = 0; ok && n > FIRST && k < WIDTH; k++)
        ok = row[k] == n - 1;
    *seen = n;
    cip_file_close(f);
    return ok;
}

static void follow(const char *path, int who)
{
    int64_t seen = FIRST;
    cip_err err = CIP_ERR_INIT;
    while (s->stop == 0 && s->wrong[who][0] == '\0') {
        if (!look_at_end(path, &seen, &err))
            snprintf(s->wrong[who], sizeof s->wrong[who], "with %lld rows: %.200s", (long long)seen,
                     err.text);
        s->nread[who]++;
    }
    _exit(0);
}

static void readers_of_a_stream_see_whole_rows(void **state)
{
    (void)state;
    pid_t reader[READERS];
    cip_err err = CIP_ERR_INIT;
    char path[600];
    snprintf(path, sizeof path, "%s/s.asdf", dir.dir);
    memset(s, 0, sizeof *s);
    fault_make_stream(dir.dir);
    for (int i = 0; i < READERS; i++) {
        reader[i] = fork();
        if (reader[i] == 0)
            follow(path, i);
    }
    cip_status st = add_rows(path, &err);
    s->stop = 1;
    for (int i = 0; i < READERS; i++)
        waitpid(reader[i], NULL, 0);
    print_message("%zu rows, %zu and %zu reads\n", s->nchange, s->nread[0], s->nread[1]);
    assert_string_equal(err.text, "");
    assert_int_equal(st, CIP_OK);
    for (int i = 0; i < READERS; i++)
        assert_string_equal(s->wrong[i], "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(readers_of_a_journal_see_one_state),
        cmocka_unit_test(readers_of_growth_and_shrinking_see_one_state),
        cmocka_unit_test(readers_of_switches_see_one_state),
        cmocka_unit_test(readers_of_frames_see_one_state),
        cmocka_unit_test(readers_of_replacements_see_one_state),
        cmocka_unit_test(readers_of_a_set_of_files_see_one_state),
        cmocka_unit_test(readers_of_a_stream_see_whole_rows),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
