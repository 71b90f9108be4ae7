/* SPDX-License-Identifier: BSD-3-Clause
 * Sets of files in a store of the caller's: every kind of change against the model, and all old or
 * all new whichever call of a method fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "core/commit/commit_impl.h"
#include "support/core/commit/member_testing.h"
#include "support/core/writing/edit_testing.h"
#include "core/writing/output.h"
#include "support/effort.h"
#include "support/own_env.h"
#include "support/test_store.h"

static const cip_io_methods reads = TEST_STORE_READS;
static const cip_io_write_methods writes = TEST_STORE_WRITES;

static cip_status apply(test_store *s, const cip_revision *r, cip_err *err)
{
    cip_target t;
    cip_commit *c;
    test_file *root = test_store_file(s, "root");
    root->forwards = false;
    cip_io *io;
    CIP_TRY(cip_io_open_user(&env, &reads, root, &io, err));
    assert_int_equal(cip_target_take(&t, &writes, root, NULL), CIP_OK);
    cip_status st = cip_commit_begin_io(&env, io, &t, NULL, &c, err);
    if (st == CIP_OK)
        st = cip_commit_apply(c, r, err);
    cip_commit_end(c);
    return st;
}

static bool is_model(test_store *s, const member_model *m)
{
    for (size_t i = 0; i < MEMBER_NAMES; i++) {
        const test_file *f = test_store_find(s, member_name[i]);
        if ((f != NULL) != m->there[i])
            return false;
        if (f != NULL && f->n != m->n[i])
            return false;
        if (f != NULL && f->n != 0 && memcmp(f->bytes, m->bytes[i], f->n) != 0)
            return false;
    }
    return true;
}

static void random_revisions_equal_the_model(void **state)
{
    static member_model m;
    test_store s = { .calls = 0 };
    cip_io *now;
    (void)state;
    memset(&m, 0, sizeof m);
    member_seed = test_seed();
    for (int k = 0; k < (test_full() ? 50000 : 3000); k++) {
        cip_revision r = member_revision(&env);
        member_fill(&r, &m);
        OK(apply(&s, &r, err));
        cip_revision_clear(&r);
        assert_true(is_model(&s, &m));
        OK(cip_io_open_user(&env, &reads, test_store_find(&s, "root"), &now, err));
        member_expect_names(now, &m);
        cip_io_close(now);
    }
    test_store_clear(&s);
}

static void copy_store(const test_store *from, test_store *to)
{
    memset(to, 0, sizeof *to);
    for (int i = 0; i < TEST_STORE_FILES; i++)
        if (from->file[i].there)
            test_store_put(to, from->file[i].name, from->file[i].bytes, from->file[i].n);
}

/* All calls of one revision fail in turn. The last ones remove what nothing names any more, which
 * cannot undo what has been made. */
static void fail_each(const test_store *start, const cip_revision *r, const member_model *before,
                      const member_model *after)
{
    bool went = true;
    for (int n = 1; went; n++) {
        cip_err err = CIP_ERR_INIT;
        test_store s;
        copy_store(start, &s);
        s.fail_at = n;
        cip_status st = apply(&s, r, &err);
        went = s.calls >= n;
        if (st == CIP_OK)
            assert_true(is_model(&s, after));
        else
            assert_true(is_model(&s, before) && err.text[0] != '\0');
        test_store_clear(&s);
    }
}

static void a_call_that_fails_leaves_all_old(void **state)
{
    static member_model m, before;
    test_store s = { .calls = 0 };
    (void)state;
    memset(&m, 0, sizeof m);
    member_seed = test_seed();
    for (int k = 0; k < (test_full() ? 1000 : 60); k++) {
        cip_revision r = member_revision(&env);
        before = m;
        member_fill(&r, &m);
        fail_each(&s, &r, &before, &m);
        OK(apply(&s, &r, err));
        cip_revision_clear(&r);
    }
    test_store_clear(&s);
}

/* And back, whichever call fails. */
static void members_are_made_of_each_other(void **state)
{
    (void)state;
    cip_status st = CIP_ERR_IO;
    for (int n = 1; st != CIP_OK; n++) {
        test_store s = { .calls = 0 };
        cip_io *was[3], *set;
        test_file *root = test_store_put(&s, "root", "", 0);
        for (size_t i = 0; i < 3; i++)
            test_store_put(&s, member_name[i], member_old[i], strlen(member_old[i]));
        OK(cip_io_open_user(&env, &reads, root, &set, err));
        cip_revision r = member_exchange(set, was);
        s.fail_at = s.calls + n;
        st = apply(&s, &r, NULL);
        s.fail_at = 0;
        member_exchanged(set, st == CIP_OK ? member_new : member_old,
                         st == CIP_OK ? MEMBER_EXCHANGED : 3);
        for (size_t i = 0; i < 3; i++)
            cip_io_close(was[i]);
        cip_revision_clear(&r);
        cip_io_close(set);
        test_store_clear(&s);
    }
}

static void without_open_member_they_are_only_made_and_removed(void **state)
{
    cip_io_write_methods few = writes;
    cip_revision r = member_revision(&env), *as;
    test_store s = { .calls = 0 };
    cip_target t;
    cip_commit *c;
    cip_io *io;
    (void)state;
    cip_io_methods reads_few = reads;
    few.open_member = NULL;
    reads_few.list = NULL;
    test_store_put(&s, "a", "bytes", 5);
    OK(cip_revision_create(&r, "b", &(cip_segment){ .len = 3 }, err));
    OK(cip_revision_replace(&r, "a", NULL, &as, err));
    OK(cip_target_take(&t, &few, test_store_put(&s, "root", "", 0), err));
    OK(cip_io_open_user(&env, &reads_few, t.user, &io, err));
    OK(cip_commit_begin_io(&env, io, &t, NULL, &c, err));
    assert_true(cip_io_is_folder(cip_commit_io(c)));
    FAILS(CIP_ERR_UNSUPPORTED, "have no list", cip_io_list(io, "", 0, NULL, NULL, err));
    FAILS(CIP_ERR_UNSUPPORTED, "no open_member", cip_commit_apply(c, &r, err));
    cip_commit_end(c);
    cip_revision_clear(&r);
    assert_null(test_store_find(&s, "b"));
    assert_memory_equal(test_store_find(&s, "a")->bytes, "bytes", 5);
    test_store_clear(&s);
}

static cip_status keep_member(void *user, const char *name, cip_err *err)
{
    (void)user;
    (void)name;
    return cip_fail(err, CIP_ERR_READONLY, CIP_NO_OFFSET, "nothing is removed here");
}

static int note_part(void *user, const cip_finding *f)
{
    assert_int_equal(f->severity, CIP_NOTE);
    assert_int_equal(f->code, CIP_ERR_READONLY);
    assert_non_null(strstr(f->text, "nothing is removed here"));
    snprintf(user, 32, "%s", f->part);
    return 0;
}

/* What stays is told: by a note where the update is made, by its error where it is not. */
static void members_that_cannot_be_removed_are_told(void **state)
{
    (void)state;
    cip_status st = CIP_ERR_IO;
    int nleft = 0;
    for (int n = 1; st != CIP_OK; n++) {
        cip_io_write_methods keeps = writes;
        cip_revision r = member_revision(&env);
        test_store s = { .calls = 0 };
        char part[32] = "";
        cip_err err = CIP_ERR_INIT;
        cip_target t;
        cip_commit *c;
        cip_io *io;
        keeps.unlink_member = keep_member;
        test_store_put(&s, "a", "bytes", 5);
        assert_int_equal(cip_revision_create(&r, "b", &(cip_segment){ .len = 3 }, NULL), CIP_OK);
        assert_int_equal(cip_revision_unlink(&r, "a", NULL, NULL), CIP_OK);
        assert_int_equal(cip_target_take(&t, &keeps, test_store_put(&s, "root", "", 0), NULL),
                         CIP_OK);
        assert_int_equal(cip_io_open_user(&env, &reads, t.user, &io, NULL), CIP_OK);
        assert_int_equal(cip_commit_begin_io(&env, io, &t,
                                             CIP_CHANGE_OPTIONS(.on_note = note_part, .user = part),
                                             &c, NULL),
                         CIP_OK);
        s.fail_at = s.calls + n;
        st = cip_commit_apply(c, &r, &err);
        cip_commit_end(c);
        cip_revision_clear(&r);
        const bool left = st != CIP_OK && test_store_find(&s, "b") != NULL;
        nleft += left;
        assert_string_equal(part, st == CIP_OK ? "a" : "");
        assert_true((strstr(err.text, "'b' could not be removed") != NULL) == left);
        assert_memory_equal(test_store_find(&s, "a")->bytes, "bytes", 5);
        test_store_clear(&s);
    }
    assert_int_not_equal(nleft, 0);
}

/* --- new files -------------------------------------------------------------------------------- */

enum { OUTS = 40, OUT_MOST = 200000 };

/* One change of what was written, and of what should have been. */
static void change_out(cip_out *o, uint8_t *is, size_t *n)
{
    uint8_t bytes[20000];
    size_t now = member_any(sizeof bytes), from = member_any(*n + 1), to = member_any(*n + 1);
    member_bytes(bytes, now);
    switch (member_any(6)) {
    case 0:
        now = now < *n - from ? now : *n - from;
        OK(cip_out_rewrite(o, from, bytes, now, err));
        memcpy(is + from, bytes, now);
        break;
    case 1:
        OK(cip_out_rewind(o, from, err));
        *n = from;
        break;
    case 2:
        OK(cip_out_move(o, from, o->n - from, to, err));
        memmove(is + to, is + from, *n - from);
        *n = *n - from + to;
        if (to > from) /* is undefined */
            OK(cip_out_rewrite(o, from, is + from, to - from, err));
        break;
    default:
        OK(cip_out_write(o, bytes, now, err));
        memcpy(is + *n, bytes, now);
        *n += now;
    }
    assert_int_equal(o->n, *n);
}

/* Many at a time, with more in them than may be in memory. */
static void members_of_an_output_wait_in_one_file(void **state)
{
    static uint8_t is[OUTS][2 * OUT_MOST + 20000];
    static const cip_limits few = { .size = sizeof few, .max_memory = 4 << 20 };
    size_t n[OUTS] = { 0 };
    cip_out *o[OUTS], *all;
    char name[8];
    cip_env small;
    cip_output *output;
    cip_target t;
    test_store s = { .calls = 0 };
    (void)state;
    member_seed = test_seed();
    OK(cip_env_init(&small, &few, NULL, NULL, err));
    OK(cip_target_take(&t, &writes, test_store_file(&s, "root"), err));
    const cip_output_how how = { .level = CIP_LEVEL_PROCESS, .target = &t, .changes = true };
    OK(cip_output_begin(&small, NULL, &how, &output, err));
    all = cip_output_out(output);
    for (size_t i = 0; i < OUTS; i++) {
        snprintf(name, sizeof name, "m%zu", i);
        OK(all->member(all->member_user, name, &o[i], err));
    }
    for (int k = 0; k < 100 * OUTS; k++) {
        size_t i = member_any(OUTS);
        if (n[i] < OUT_MOST)
            change_out(o[i], is[i], &n[i]);
    }
    OK(cip_output_commit(output, NULL, err));
    cip_output_end(output);
    cip_target_close(&t);
    for (size_t i = 0; i < OUTS; i++) {
        snprintf(name, sizeof name, "m%zu", i);
        const test_file *f = test_store_find(&s, name);
        assert_int_equal(f->n, n[i]);
        assert_memory_equal(f->bytes, is[i], n[i]);
        assert_int_equal(f->complete, 1);
    }
    assert_int_equal(small.mem.used, 0);
    cip_env_clear(&small);
    test_store_clear(&s);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(random_revisions_equal_the_model),
        TEST(a_call_that_fails_leaves_all_old),
        TEST(members_are_made_of_each_other),
        TEST(members_of_an_output_wait_in_one_file),
        TEST(without_open_member_they_are_only_made_and_removed),
        TEST(members_that_cannot_be_removed_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
