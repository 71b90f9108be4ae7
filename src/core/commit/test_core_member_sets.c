/* SPDX-License-Identifier: BSD-3-Clause
 * Sets of files that change together, beside a file and in a folder: every kind of change against a
 * model that knows names and bytes alone, and others who get in the way. Crashes are tests/fault's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <string.h>

#include "core/commit/commit_impl.h"
#include "support/core/commit/member_testing.h"
#include "support/core/writing/edit_testing.h"
#include "support/effort.h"

static scratch dir;
static cip_env env;

static int setup(void **state)
{
    (void)state;
    if (!scratch_open(&dir) || mkdir(scratch_path(&dir, "s"), 0755) != 0 ||
        mkdir(scratch_path(&dir, "s/sub"), 0755) != 0)
        return -1;
    return (int)cip_env_init(&env, NULL, NULL, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    size_t left = (size_t)env.mem.used;
    scratch_close(&dir);
    cip_env_clear(&env);
    return left != 0;
}

/* Names of ours in the folder. */
static size_t count_left(const char *path)
{
    size_t n = 0;
    DIR *d = opendir(path);
    const struct dirent *e;
    assert_non_null(d);
    while ((e = readdir(d)) != NULL)
        n += strstr(e->d_name, ".cip-") != NULL;
    closedir(d);
    return n;
}

/* --- against a model -------------------------------------------------------------------------- */

static void one_revision(const char *path, member_model *m)
{
    cip_revision r = member_revision(&env);
    cip_io *shown, *now;
    cip_commit *c;
    OK(cip_commit_begin(&env, path, CIP_CHANGE_OPTIONS(.level = CIP_LEVEL_PROCESS), &c, err));
    member_fill(&r, m);
    OK(cip_io_open_revision(cip_commit_io(c), &r, &shown, err));
    for (size_t i = 0; i < MEMBER_NAMES; i++)
        member_expect(shown, m, i);
    member_expect_names(shown, m);
    cip_io_close(shown);
    OK(cip_commit_apply(c, &r, err));
    cip_commit_end(c);
    cip_revision_clear(&r);
    OK(cip_io_open_path(&env, path, &now, err));
    for (size_t i = 0; i < MEMBER_NAMES; i++)
        member_expect(now, m, i);
    member_expect_names(now, m);
    cip_io_close(now);
    assert_int_equal(count_left(scratch_path(&dir, "s")), 0);
}

static void random_revisions(const char *path)
{
    static member_model m;
    memset(&m, 0, sizeof m);
    member_seed = test_seed();
    for (int k = 0; k < (test_full() ? 20000 : 1500); k++)
        one_revision(path, &m);
}

static void members_are_made_of_each_other(void **state)
{
    cip_io *was[3], *set;
    cip_commit *c;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        char name[40];
        snprintf(name, sizeof name, "s/%s", member_name[i]);
        scratch_write(&dir, name, member_old[i], strlen(member_old[i]));
    }
    OK(cip_commit_begin(&env, scratch_path(&dir, "s"), NULL, &c, err));
    cip_revision r = member_exchange(cip_commit_io(c), was);
    OK(cip_commit_apply(c, &r, err));
    cip_commit_end(c);
    cip_revision_clear(&r);
    for (size_t i = 0; i < 3; i++)
        cip_io_close(was[i]);
    OK(cip_io_open_path(&env, scratch_path(&dir, "s"), &set, err));
    member_exchanged(set, member_new, MEMBER_EXCHANGED);
    cip_io_close(set);
}

static void random_revisions_of_a_folder_equal_the_model(void **state)
{
    char path[600];
    (void)state;
    snprintf(path, sizeof path, "%s/s", dir.dir);
    random_revisions(path);
}

static void random_revisions_beside_a_file_equal_the_model(void **state)
{
    char path[600];
    (void)state;
    scratch_write(&dir, "s/x", "the file itself", 15);
    snprintf(path, sizeof path, "%s/s/x", dir.dir);
    random_revisions(path);
}

/* --- others in the way ------------------------------------------------------------------------ */

/* Bytes that do something else when they are read, which is while members are made. */
typedef struct mischief {
    void (*act)(void);
    int done;
} mischief;

static cip_status read_mischief(void *user, const cip_range *r, size_t n, cip_err *err)
{
    mischief *m = user;
    (void)err;
    for (size_t i = 0; i < n; i++)
        memset(r[i].dst, 'm', r[i].nbytes);
    if (m->done++ == 0)
        m->act();
    return CIP_OK;
}

static cip_status size_of_mischief(void *user, uint64_t *n, cip_err *err)
{
    (void)user;
    (void)err;
    *n = 10;
    return CIP_OK;
}

static void holds(const char *name, const char *bytes)
{
    size_t n;
    char *found = edit_bytes(scratch_path(&dir, name), &n);
    assert_int_equal(n, strlen(bytes));
    assert_memory_equal(found, bytes, n);
    free(found);
}

static void put_set(void)
{
    scratch_write(&dir, "s/a", "first", 5);
    scratch_write(&dir, "s/b", "second", 6);
    scratch_write(&dir, "s/sub/0", "below", 5);
}

static cip_status change_in(cip_revision *r, const char *name, const char *text, cip_err *err)
{
    cip_revision *as;
    CIP_TRY(cip_revision_change(r, name, NULL, &as, err));
    CIP_TRY(cip_patch_write(&as->patch, "", 1, (cip_bytes){ NULL, 0 },
                            (cip_bytes){ (const uint8_t *)text, strlen(text) }, err));
    as->has_tail = true;
    as->tail_off = 5;
    return cip_revision_bytes(as, "and more", 8, err);
}

/* Everything at once: `new` is made of bytes that act when they are read. */
static void attempt(void (*act)(void), cip_status want, const char *words)
{
    static const cip_io_methods methods = { CIP_IO_METHODS_INIT, .read_ranges = read_mischief,
                                            .size = size_of_mischief };
    mischief m = { .act = act };
    cip_revision r = member_revision(&env), *as;
    cip_err why = CIP_ERR_INIT;
    cip_commit *c;
    cip_io *bytes;
    OK(cip_io_open_user(&env, &methods, &m, &bytes, err));
    OK(cip_commit_begin(&env, scratch_path(&dir, "s"), NULL, &c, err));
    OK(change_in(&r, "a", "xx", err));
    OK(cip_revision_create(&r, "far/new", &(cip_segment){ .io = bytes, .len = 10 }, err));
    OK(cip_revision_replace(&r, "b", NULL, &as, err));
    OK(cip_revision_rename(&r, "sub/0", "sub/1", NULL, err));
    assert_int_equal(cip_commit_apply(c, &r, &why), want);
    if (strstr(why.text, words) == NULL)
        fail_msg("expected '%s' in '%s'", words, why.text);
    cip_commit_end(c);
    cip_revision_clear(&r);
    cip_io_close(bytes);
    assert_int_equal(count_left(scratch_path(&dir, "s")), 0);
}

static void do_nothing(void)
{
}

static void take_new_name(void)
{
    mkdir(scratch_path(&dir, "s/far"), 0755);
    scratch_write(&dir, "s/far/new", "theirs", 6);
}

static void take_renamed_name(void)
{
    scratch_write(&dir, "s/sub/1", "theirs", 6);
}

static void remove_replaced(void)
{
    unlink(scratch_path(&dir, "s/b"));
}

static void replace_replaced(void)
{
    scratch_write(&dir, "s/z", "theirs", 6);
    rename(scratch_path(&dir, "s/z"), scratch_path(&dir, "s/b"));
}

static void replace_changed(void)
{
    scratch_write(&dir, "s/z", "first", 5);
    rename(scratch_path(&dir, "s/z"), scratch_path(&dir, "s/a"));
}

static void lengthen_changed(void)
{
    FILE *f = fopen(scratch_path(&dir, "s/a"), "ab");
    fputs("theirs", f);
    fclose(f);
}

static void put_link_on_the_way(void)
{
    assert_int_equal(symlink("/tmp", scratch_path(&dir, "s/far")), 0);
}

static void members_that_others_touch_meanwhile_end_it(void **state)
{
    static const struct {
        void (*act)(void);
        cip_status want;
        const char *words;
    } row[] = {
        { take_new_name, CIP_ERR_EXISTS, "'far/new' exists" },
        { take_renamed_name, CIP_ERR_EXISTS, "'sub/1' exists" },
        { remove_replaced, CIP_ERR_STALE, "'b' no longer exists" },
        { replace_replaced, CIP_ERR_STALE, "'b' was replaced since" },
        { replace_changed, CIP_ERR_STALE, "was replaced since" },
        { lengthen_changed, CIP_ERR_BUSY, "changed since open" },
        { put_link_on_the_way, CIP_ERR_CORRUPT, "link" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        put_set();
        unlink(scratch_path(&dir, "s/sub/1"));
        attempt(row[i].act, row[i].want, row[i].words);
        if (row[i].act != remove_replaced && row[i].act != replace_replaced)
            holds("s/b", "second");
        holds("s/a", row[i].act == lengthen_changed ? "firsttheirs" : "first");
        holds("s/sub/0", "below");
        if (row[i].act == take_new_name)
            holds("s/far/new", "theirs");
        unlink(scratch_path(&dir, "s/far/new"));
        remove(scratch_path(&dir, "s/far"));
    }
    unlink(scratch_path(&dir, "s/sub/1"));
    put_set();
    attempt(do_nothing, CIP_OK, "");
    holds("s/a", "fxxstand more");
    holds("s/b", "");
    holds("s/far/new", "mmmmmmmmmm");
    holds("s/sub/1", "below");
}

static void readers_and_writers_of_a_folder_wait_for_each_other(void **state)
{
    char path[600];
    cip_commit *c, *second;
    cip_io *reader;
    cip_revision r = member_revision(&env);
    (void)state;
    put_set();
    snprintf(path, sizeof path, "%s/s", dir.dir);
    OK(cip_io_open_path(&env, path, &reader, err));
    OK(cip_io_unwritten(reader, err));
    OK(cip_commit_begin(&env, path, NULL, &c, err));
    FAILS(CIP_ERR_BUSY, "another writer", cip_commit_begin(&env, path, NULL, &second, err));
    FAILS(CIP_ERR_BUSY, "being updated", cip_io_unwritten(reader, err));
    OK(cip_io_lock(reader, err));
    OK(change_in(&r, "a", "xx", err));
    FAILS(CIP_ERR_BUSY, "is reading the file", cip_commit_apply(c, &r, err));
    holds("s/a", "first");
    FAILS(CIP_ERR_BUSY, "is reading the file", cip_commit_take_readers(c, err));
    cip_io_unlock(reader);
    OK(cip_commit_take_readers(c, err));
    FAILS(CIP_ERR_BUSY, "updated in place", cip_io_lock(reader, err));
    cip_store_unlock(c->fd, CIP_LOCK_READERS);
    OK(cip_io_lock(reader, err));
    cip_io_close(reader);
    OK(cip_commit_apply(c, &r, err));
    cip_commit_end(c);
    cip_revision_clear(&r);
    holds("s/a", "fxxstand more");
}

static void *end_soon(void *commit)
{
    const struct timespec pause = { .tv_nsec = 20000000 };
    nanosleep(&pause, NULL);
    cip_commit_end(commit);
    return NULL;
}

static void *unlock_soon(void *reader)
{
    const struct timespec pause = { .tv_nsec = 20000000 };
    nanosleep(&pause, NULL);
    cip_io_unlock(reader);
    return NULL;
}

static void others_are_waited_for_if_that_is_asked_for(void **state)
{
    char path[600];
    cip_commit *c, *second;
    cip_io *reader;
    cip_revision r = member_revision(&env);
    pthread_t thread;
    (void)state;
    put_set();
    snprintf(path, sizeof path, "%s/s", dir.dir);
    OK(cip_commit_begin(&env, path, NULL, &c, err));
    FAILS(CIP_ERR_BUSY, "another writer",
          cip_commit_begin(&env, path, CIP_CHANGE_OPTIONS(.wait = 1), &second, err));
    assert_int_equal(pthread_create(&thread, NULL, end_soon, c), 0);
    OK(cip_commit_begin(&env, path, CIP_CHANGE_OPTIONS(.wait = 60), &second, err));
    assert_int_equal(pthread_join(thread, NULL), 0);
    OK(cip_io_open_path(&env, path, &reader, err));
    OK(cip_io_lock(reader, err));
    OK(change_in(&r, "a", "xx", err));
    assert_int_equal(pthread_create(&thread, NULL, unlock_soon, reader), 0);
    OK(cip_commit_apply(second, &r, err));
    assert_int_equal(pthread_join(thread, NULL), 0);
    holds("s/a", "fxxstand more");
    cip_commit_end(second);
    cip_io_close(reader);
    cip_revision_clear(&r);
}

static void a_member_of_several_names_is_not_changed_in_place(void **state)
{
    cip_revision r = member_revision(&env);
    cip_commit *c;
    (void)state;
    put_set();
    assert_int_equal(link(scratch_path(&dir, "s/a"), scratch_path(&dir, "s/copy")), 0);
    OK(change_in(&r, "a", "xx", err));
    OK(cip_commit_begin(&env, scratch_path(&dir, "s"), NULL, &c, err));
    FAILS(CIP_ERR_UNSUPPORTED, "several names", cip_commit_apply(c, &r, err));
    cip_commit_end(c);
    OK(cip_commit_begin(&env, scratch_path(&dir, "s"), CIP_CHANGE_OPTIONS(.break_links = true), &c,
                        err));
    OK(cip_commit_apply(c, &r, err));
    cip_commit_end(c);
    cip_revision_clear(&r);
    holds("s/a", "fxxstand more");
    holds("s/copy", "first");
}

static void what_is_too_much_for_a_journal_is_replaced(void **state)
{
    static uint8_t bytes[200000];
    struct stat was, is;
    cip_env small;
    cip_limits limits = CIP_LIMITS_INIT;
    cip_revision r, *as;
    cip_commit *c;
    (void)state;
    limits.max_memory = 1 << 20;
    OK(cip_env_init(&small, &limits, NULL, NULL, err));
    scratch_write(&dir, "s/a", bytes, sizeof bytes);
    assert_int_equal(stat(scratch_path(&dir, "s/a"), &was), 0);
    memset(bytes, 7, sizeof bytes);
    r = (cip_revision){ .patch = { .arena = { .mem = &env.mem } } };
    OK(cip_revision_change(&r, "a", NULL, &as, err));
    OK(cip_patch_write(&as->patch, "", 100, (cip_bytes){ NULL, 0 },
                       (cip_bytes){ bytes, sizeof bytes - 200 }, err));
    OK(cip_commit_begin(&small, scratch_path(&dir, "s"), NULL, &c, err));
    OK(cip_commit_apply(c, &r, err));
    cip_commit_end(c);
    cip_revision_clear(&r);
    cip_env_clear(&small);
    assert_int_equal(stat(scratch_path(&dir, "s/a"), &is), 0);
    assert_true(is.st_ino != was.st_ino && is.st_size == was.st_size && is.st_mode == was.st_mode);
    memset(bytes, 0, 100);
    memset(bytes + sizeof bytes - 100, 0, 100);
    size_t n;
    char *found = edit_bytes(scratch_path(&dir, "s/a"), &n);
    assert_memory_equal(found, bytes, n);
    free(found);
}

static void a_change_of_nothing_writes_nothing(void **state)
{
    cip_revision r = member_revision(&env), *as;
    struct stat was, is;
    char text[256];
    cip_commit *c;
    (void)state;
    put_set();
    assert_int_equal(stat(scratch_path(&dir, "s"), &was), 0);
    OK(cip_revision_change(&r, "a", NULL, &as, err));
    OK(cip_patch_write(&as->patch, "", 1, (cip_bytes){ NULL, 0 },
                       (cip_bytes){ (const uint8_t *)"ir", 2 }, err));
    OK(cip_commit_begin(&env, scratch_path(&dir, "s"), NULL, &c, err));
    OK(cip_commit_kind(c, &r, text, sizeof text, err));
    assert_string_equal(text, "would change nothing");
    OK(cip_commit_apply(c, &r, err));
    cip_commit_end(c);
    cip_revision_clear(&r);
    assert_int_equal(stat(scratch_path(&dir, "s"), &is), 0);
    assert_memory_equal(&was.st_mtim, &is.st_mtim, sizeof was.st_mtim);
}

static void how_it_would_be_committed_is_told(void **state)
{
    cip_revision r = member_revision(&env), *as;
    char text[256];
    cip_commit *c;
    (void)state;
    put_set();
    OK(change_in(&r, "a", "xx", err));
    OK(cip_revision_replace(&r, "b", NULL, &as, err));
    OK(cip_revision_unlink(&r, "sub/0", NULL, err));
    OK(cip_commit_begin(&env, scratch_path(&dir, "s"), NULL, &c, err));
    OK(cip_commit_kind(c, &r, text, sizeof text, err));
    assert_string_equal(text, "would replace 1 file, change 1 in place, remove 1");
    cip_commit_end(c);
    cip_revision_clear(&r);
}

static void revisions_that_contradict_themselves_are_refused(void **state)
{
    cip_revision r = member_revision(&env), *as;
    (void)state;
    OK(cip_revision_rename(&r, "a", "b", NULL, err));
    FAILS(CIP_ERR_ARG, "'a' twice", cip_revision_unlink(&r, "a", NULL, err));
    FAILS(CIP_ERR_ARG, "'b' twice", cip_revision_make(&r, "b", &as, err));
    FAILS(CIP_ERR_ARG, "'b' twice", cip_revision_rename(&r, "c", "b", NULL, err));
    FAILS(CIP_ERR_ARG, "'c' twice", cip_revision_rename(&r, "c", "c", NULL, err));
    FAILS(CIP_ERR_ARG, "not a plain", cip_revision_rename(&r, "c", "../c", NULL, err));
    OK(cip_revision_rename(&r, "c", "a", NULL, err)); /* which was given up */
    FAILS(CIP_ERR_ARG, "the switch", cip_revision_switch(&r, "d", err));
    OK(cip_revision_unlink(&r, "d", NULL, err));
    FAILS(CIP_ERR_ARG, "the switch", cip_revision_switch(&r, "d", err));
    cip_revision_clear(&r);
}

/* --- what an interrupted update left ---------------------------------------------------------- */

/* A sealed journal of the revision lies in the folder; `applied`: its changes are made, but for
 * removals. */
static void leave_sealed(const cip_revision *r, bool applied)
{
    cip_commit *c;
    cip_commit_plan p;
    OK(cip_commit_begin(&env, scratch_path(&dir, "s"), NULL, &c, err));
    OK(cip_commit_plan_make(c, r, &p, err));
    OK(cip_commit_members_make(c, &p, err));
    OK(cip_commit_write_tmp(c, &p.patch, err));
    OK(cip_commit_members_extend(c, &p, err));
    OK(cip_store_rename(&c->place, c->tmp, c->journal, false, err));
    if (applied)
        OK(cip_commit_members_apply(c, &p.patch, err));
    cip_commit_plan_clear(&p);
    cip_commit_end(c);
}

static void fill_undoable(cip_revision *r)
{
    OK(change_in(r, "a", "xx", err));
    OK(cip_revision_create(r, "far/away/new", &(cip_segment){ .len = 10 }, err));
    OK(cip_revision_rename(r, "sub/0", "sub/1", NULL, err));
    OK(cip_revision_unlink(r, "b", NULL, err));
}

static void a_sealed_update_of_a_set_can_be_undone(void **state)
{
    (void)state;
    for (int applied = 0; applied < 2; applied++) {
        cip_revision r = member_revision(&env);
        cip_recover_info info = { .size = sizeof info };
        put_set();
        fill_undoable(&r);
        leave_sealed(&r, applied == 1);
        cip_revision_clear(&r);
        OK(cip_recover(scratch_path(&dir, "s"), CIP_RECOVER_LOOK, &info, err));
        assert_int_equal(info.state, 1);
        OK(cip_recover(scratch_path(&dir, "s"), CIP_RECOVER_DISCARD, &info, err));
        holds("s/a", "first");
        holds("s/b", "second");
        holds("s/sub/0", "below");
        assert_int_equal(access(scratch_path(&dir, "s/sub/1"), F_OK), -1);
        assert_int_equal(access(scratch_path(&dir, "s/far"), F_OK), -1);
        assert_int_equal(count_left(scratch_path(&dir, "s")), 0);
    }
}

static void what_took_the_place_of_a_file_can_only_be_completed(void **state)
{
    cip_revision r = member_revision(&env), *as;
    cip_recover_info info = { .size = sizeof info };
    (void)state;
    put_set();
    OK(cip_revision_replace(&r, "b", NULL, &as, err));
    leave_sealed(&r, true);
    cip_revision_clear(&r);
    FAILS(CIP_ERR_CORRUPT, "has replaced 'b' already",
          cip_recover(scratch_path(&dir, "s"), CIP_RECOVER_DISCARD, &info, err));
    OK(cip_recover(scratch_path(&dir, "s"), CIP_RECOVER_APPLY, &info, err));
    holds("s/b", "");
    assert_int_equal(count_left(scratch_path(&dir, "s")), 0);
}

/* Files that somebody put there after the crash stay, and say so. */
static void others_files_are_not_overwritten_by_a_journal(void **state)
{
    cip_revision r = member_revision(&env);
    cip_commit *c;
    cip_io *io, *over, *member;
    cip_journal_state found;
    cip_patch p = { .arena = { .mem = &env.mem } };
    char why[256], path[600];
    (void)state;
    put_set();
    fill_undoable(&r);
    leave_sealed(&r, false);
    cip_revision_clear(&r);
    scratch_write(&dir, "s/sub/1", "theirs", 6);
    snprintf(path, sizeof path, "%s/s", dir.dir);
    FAILS(CIP_ERR_EXISTS, "'sub/1' exists", cip_commit_begin(&env, path, NULL, &c, err));
    holds("s/sub/1", "theirs");
    OK(cip_io_open_path(&env, path, &io, err)); /* readers see the update made all the same */
    OK(cip_journal_find(&env, path, io, &found, &p, why, err));
    assert_int_equal(found, CIP_JOURNAL_APPLIES);
    OK(cip_io_open_overlay(io, &p, &over, err));
    OK(cip_io_open_member(over, "sub/1", 0, &member, err));
    assert_int_equal(member->size, 5);
    cip_io_close(member);
    FAILS(CIP_ERR_NOT_FOUND, "no longer exists",
          cip_io_open_member(over, "sub/0", 0, &member, err));
    cip_io_close(over);
    cip_patch_clear(&p);
    scratch_write(&dir, "s/z", "first", 5);
    assert_int_equal(rename(scratch_path(&dir, "s/z"), scratch_path(&dir, "s/a")), 0);
    OK(cip_journal_find(&env, path, io, &found, &p, why, err));
    assert_int_equal(found, CIP_JOURNAL_ALIEN);
    assert_non_null(strstr(why, "'a' does not exist"));
    FAILS(CIP_ERR_CORRUPT, "see cip_recover", cip_commit_begin(&env, path, NULL, &c, err));
    cip_io_close(io);
    cip_patch_clear(&p);
}

/* A journal that changes a member without saying which file it means. */
static void a_journal_about_unknown_files_is_refused(void **state)
{
    cip_patch p = { .arena = { .mem = &env.mem } };
    cip_buf b = { .mem = &env.mem };
    struct stat st;
    cip_commit *c;
    char path[600];
    (void)state;
    put_set();
    snprintf(path, sizeof path, "%s/s", dir.dir);
    assert_int_equal(stat(path, &st), 0);
    const cip_bytes was = { (const uint8_t *)"first", 5 }, is = { (const uint8_t *)"wrong", 5 };
    OK(cip_patch_write(&p, "a", 0, was, is, err));
    OK(cip_journal_encode(&p, 0, (uint64_t)st.st_ino, &b, err));
    scratch_write(&dir, "s/.cip-journal", b.ptr, b.len);
    FAILS(CIP_ERR_UNSUPPORTED, "is about other files", cip_commit_begin(&env, path, NULL, &c, err));
    holds("s/a", "first");
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void a_folder_that_was_copied_amid_an_update_is_refused(void **state)
{
    cip_revision r = member_revision(&env);
    cip_commit *c;
    char command[2000], path[600];
    (void)state;
    put_set();
    fill_undoable(&r);
    leave_sealed(&r, false);
    cip_revision_clear(&r);
    snprintf(command, sizeof command, "cp -a '%s/s' '%s/t' && mv '%s/s' '%s/u'", dir.dir, dir.dir,
             dir.dir, dir.dir);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/t", dir.dir);
    FAILS(CIP_ERR_CORRUPT, "another file", cip_commit_begin(&env, path, NULL, &c, err));
    snprintf(path, sizeof path, "%s/u", dir.dir); /* while one that was moved is completed */
    OK(cip_commit_begin(&env, path, NULL, &c, err));
    cip_commit_end(c);
    holds("u/a", "fxxstand more");
    holds("u/sub/1", "below");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(members_are_made_of_each_other),
        TEST(random_revisions_of_a_folder_equal_the_model),
        TEST(random_revisions_beside_a_file_equal_the_model),
        TEST(members_that_others_touch_meanwhile_end_it),
        TEST(readers_and_writers_of_a_folder_wait_for_each_other),
        TEST(others_are_waited_for_if_that_is_asked_for),
        TEST(a_member_of_several_names_is_not_changed_in_place),
        TEST(what_is_too_much_for_a_journal_is_replaced),
        TEST(a_change_of_nothing_writes_nothing),
        TEST(how_it_would_be_committed_is_told),
        TEST(revisions_that_contradict_themselves_are_refused),
        TEST(a_sealed_update_of_a_set_can_be_undone),
        TEST(what_took_the_place_of_a_file_can_only_be_completed),
        TEST(others_files_are_not_overwritten_by_a_journal),
        TEST(a_journal_about_unknown_files_is_refused),
        TEST(a_folder_that_was_copied_amid_an_update_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
