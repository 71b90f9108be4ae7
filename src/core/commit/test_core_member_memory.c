/* SPDX-License-Identifier: BSD-3-Clause
 * Sets of files in memory: every kind of change against the model, and all old or all new whichever
 * allocation fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/commit/commit_impl.h"
#include "support/core/commit/member_testing.h"
#include "core/commit/memory_file.h"
#include "support/core/writing/edit_testing.h"
#include "core/writing/output.h"
#include "support/effort.h"
#include "support/fail_alloc.h"

static cip_status apply(cip_env *env, cip_memory *m, const cip_revision *r, cip_err *err)
{
    const cip_io_methods reads = cip_memory_reads(m);
    const cip_target t = cip_memory_target(m);
    cip_commit *c;
    cip_io *io;
    CIP_TRY(cip_io_open_user(env, &reads, m, &io, err));
    CIP_TRY(cip_commit_begin_io(env, io, &t, NULL, &c, err));
    cip_status st = cip_commit_apply(c, r, err);
    cip_commit_end(c);
    return st;
}

static bool is_model(const cip_memory *memory, const member_model *m)
{
    const char *name;
    const void *bytes;
    size_t n, i = 0, k;
    for (; (name = cip_memory_member(memory, i, &bytes, &n)) != NULL; i++) {
        for (k = 0; strcmp(member_name[k], name) != 0;)
            k++;
        if (!m->there[k] || n != m->n[k] || memcmp(bytes, m->bytes[k], n) != 0)
            return false;
    }
    for (k = 0; k < MEMBER_NAMES; k++)
        i -= m->there[k];
    return i == 0;
}

static cip_memory *set_of(const member_model *m, const cip_allocator *from)
{
    cip_memory *memory;
    OK(cip_memory_make(from, &memory, err));
    cip_memory_complete(memory);
    for (size_t i = 0; i < MEMBER_NAMES; i++)
        if (m->there[i])
            OK(cip_memory_add(memory, member_name[i], m->bytes[i], m->n[i], err));
    return memory;
}

static void random_revisions_equal_the_model(void **state)
{
    static member_model m;
    cip_env env;
    cip_io *now;
    (void)state;
    memset(&m, 0, sizeof m);
    OK(cip_env_init(&env, NULL, NULL, NULL, err));
    cip_memory *memory = set_of(&m, NULL);
    member_seed = test_seed();
    for (int k = 0; k < (test_full() ? 50000 : 3000); k++) {
        cip_revision r = member_revision(&env);
        member_fill(&r, &m);
        OK(apply(&env, memory, &r, err));
        cip_revision_clear(&r);
        assert_true(is_model(memory, &m));
        const cip_io_methods reads = cip_memory_reads(memory);
        OK(cip_io_open_user(&env, &reads, memory, &now, err));
        member_expect_names(now, &m);
        cip_io_close(now);
    }
    assert_int_equal(env.mem.used, 0);
    cip_memory_free(memory);
    cip_env_clear(&env);
}

/* The n-th allocation fails, of the set or of its update. */
static void fail_each(const cip_revision *r, const member_model *before, const member_model *after)
{
    cip_status st = CIP_ERR_NOMEM;
    for (size_t n = 1; st != CIP_OK; n++) {
        fail_alloc f = { .fail_at = 0 };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_env env;
        OK(cip_env_init(&env, NULL, &a, NULL, err));
        cip_memory *memory = set_of(before, &a);
        f.fail_at = f.requests + n;
        st = apply(&env, memory, r, NULL);
        assert_true(st == CIP_OK || st == CIP_ERR_NOMEM);
        assert_int_equal(st == CIP_OK, f.requests < f.fail_at);
        assert_true(is_model(memory, st == CIP_OK ? after : before));
        cip_memory_free(memory);
        cip_env_clear(&env);
        assert_int_equal(f.held, 0);
    }
}

static void an_allocation_that_fails_leaves_all_old(void **state)
{
    static member_model m, before;
    cip_env env;
    (void)state;
    memset(&m, 0, sizeof m);
    OK(cip_env_init(&env, NULL, NULL, NULL, err));
    member_seed = test_seed();
    for (int k = 0; k < (test_full() ? 1000 : 60); k++) {
        cip_revision r = member_revision(&env);
        before = m;
        member_fill(&r, &m);
        fail_each(&r, &before, &m);
        cip_revision_clear(&r);
    }
    cip_env_clear(&env);
}

static void members_are_made_of_each_other(void **state)
{
    cip_env env;
    cip_io *was[3], *set;
    cip_memory *memory;
    (void)state;
    OK(cip_env_init(&env, NULL, NULL, NULL, err));
    OK(cip_memory_new(NULL, 0, &memory, err));
    for (size_t i = 0; i < 3; i++)
        OK(cip_memory_add(memory, member_name[i], member_old[i], strlen(member_old[i]), err));
    const cip_io_methods reads = cip_memory_reads(memory);
    OK(cip_io_open_user(&env, &reads, memory, &set, err));
    cip_revision r = member_exchange(set, was);
    OK(apply(&env, memory, &r, err));
    cip_revision_clear(&r);
    for (size_t i = 0; i < 3; i++)
        cip_io_close(was[i]);
    member_exchanged(set, member_new, MEMBER_EXCHANGED);
    cip_io_close(set);
    cip_memory_free(memory);
    cip_env_clear(&env);
}

/* A reader keeps what it has open, as one of a file on disk does. */
static void what_is_open_outlives_its_name(void **state)
{
    static member_model m;
    cip_env env;
    cip_io *io, *member;
    char found[5];
    (void)state;
    memset(&m, 0, sizeof m);
    OK(cip_env_init(&env, NULL, NULL, NULL, err));
    cip_memory *memory = set_of(&m, NULL);
    OK(cip_memory_add(memory, "a", "bytes", 5, err));
    const cip_io_methods reads = cip_memory_reads(memory);
    OK(cip_io_open_user(&env, &reads, memory, &io, err));
    assert_true(cip_io_is_folder(io));
    OK(cip_io_open_member(io, "a", 0, &member, err));
    cip_revision r = member_revision(&env);
    OK(cip_revision_unlink(&r, "a", NULL, err));
    OK(apply(&env, memory, &r, err));
    cip_revision_clear(&r);
    assert_null(cip_memory_member(memory, 0, NULL, NULL));
    OK(cip_io_read(member, 0, found, sizeof found, err));
    assert_memory_equal(found, "bytes", 5);
    cip_io_close(member);
    FAILS(CIP_ERR_NOT_FOUND, "'a' does not exist", cip_io_open_member(io, "a", 0, &member, err));
    cip_io_close(io);
    cip_memory_free(memory);
    cip_env_clear(&env);
}

/* As a format whose file is a folder writes it. */
static void members_of_an_output_are_seen_when_it_is_complete(void **state)
{
    cip_env env;
    cip_memory *memory;
    cip_output *o;
    cip_out *a, *again;
    const void *bytes;
    size_t n;
    (void)state;
    OK(cip_env_init(&env, NULL, NULL, NULL, err));
    OK(cip_memory_make(NULL, &memory, err));
    OK(cip_output_begin(&env, NULL, &(cip_output_how){ .memory = memory }, &o, err));
    cip_out *all = cip_output_out(o);
    OK(all->member(all->member_user, "data/0", &a, err));
    FAILS(CIP_ERR_EXISTS, "already", all->member(all->member_user, "data/0", &again, err));
    OK(cip_out_write(a, "first", 5, err));
    OK(cip_out_rewrite(a, 0, "b", 1, err));
    assert_null(cip_memory_member(memory, 0, NULL, NULL));
    OK(cip_output_commit(o, NULL, err));
    cip_output_end(o);
    assert_string_equal(cip_memory_member(memory, 0, &bytes, &n), "data/0");
    assert_int_equal(n, 5);
    assert_memory_equal(bytes, "birst", 5);
    assert_non_null(cip_memory_bytes(memory, &n));
    assert_int_equal(n, 0);
    cip_memory_free(memory);
    cip_env_clear(&env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_revisions_equal_the_model),
        cmocka_unit_test(an_allocation_that_fails_leaves_all_old),
        cmocka_unit_test(members_are_made_of_each_other),
        cmocka_unit_test(what_is_open_outlives_its_name),
        cmocka_unit_test(members_of_an_output_are_seen_when_it_is_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
