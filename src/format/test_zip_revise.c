/* SPDX-License-Identifier: BSD-3-Clause
 * Archives that are there, revised: what stays in place, what is written, and when all of it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "format/zip_out.h"
#include "support/each_request.h"
#include "support/own_env.h"

/* An archive, and what becomes of it. */
typedef struct job {
    cip_buf bytes;
    cip_arena arena;
    cip_io *io, *now;
    cip_zip old, zip;
    cip_revision files, r;
} job;

static cip_status add(void *user, const void *p, size_t n, cip_err *err)
{
    return cip_buf_add(user, p, n, err);
}

/* Members of n bytes of their first letter, as "a 100 b 20"; one whose name begins with '-' is not
 * in the directory. */
static cip_status make(job *j, cip_env *with, const char *members)
{
    cip_zip_out z = { .mem = &with->mem, .arena = &j->arena };
    cip_out to = { .write = add, .user = &j->bytes };
    *j = (job){ .bytes = { .mem = &with->mem },
                .arena = { .mem = &with->mem },
                .files = { .patch = { .arena = { .mem = &with->mem } } },
                .r = { .patch = { .arena = { .mem = &with->mem } } } };
    z.to = &to;
    char name[40];
    unsigned n;
    int used;
    cip_status st = CIP_OK;
    for (; st == CIP_OK && sscanf(members, "%39s %u%n", name, &n, &used) == 2; members += used) {
        st = cip_zip_put(&z, name, &(cip_segment){ .off = (uint8_t)name[0], .len = n }, 1, NULL);
        z.n -= name[0] == '-' && st == CIP_OK;
    }
    if (st == CIP_OK)
        st = cip_zip_put_directory(&z, NULL);
    cip_zip_out_clear(&z);
    if (st == CIP_OK)
        st = cip_io_open_memory(with, j->bytes.ptr, j->bytes.len, "z.zip", &j->io, NULL);
    return st == CIP_OK ? cip_zip_read(j->io, &j->arena, &j->old, NULL) : st;
}

static cip_status revise(job *j, cip_err *err)
{
    CIP_TRY(cip_zip_revise(j->io, &j->old, &j->files, &j->r, err));
    CIP_TRY(cip_revision_check(&j->r, j->io->size, err));
    CIP_TRY(cip_io_open_revision(j->io, &j->r, &j->now, err));
    return cip_zip_read(j->now, &j->arena, &j->zip, err);
}

static void end(job *j)
{
    cip_io_close(j->now);
    cip_io_close(j->io);
    cip_revision_clear(&j->files);
    cip_revision_clear(&j->r);
    cip_arena_clear(&j->arena);
    cip_buf_clear(&j->bytes);
}

static cip_status fill(job *j, const char *name, bool replace, size_t n)
{
    cip_revision *as;
    CIP_TRY((replace ? cip_revision_replace(&j->files, name, NULL, &as, NULL)
                     : cip_revision_make(&j->files, name, &as, NULL)));
    return cip_revision_fill(as, 'n', n, NULL);
}

/* The members by now, with their lengths and first bytes, in the order of the directory. */
static const char *show(const job *j)
{
    static char text[400];
    text[0] = '\0';
    for (size_t i = 0; i < j->zip.n; i++) {
        const cip_zip_member *m = &j->zip.at[i];
        char byte = '-';
        uint64_t off;
        assert_int_equal(cip_zip_data(j->now, m, &off, NULL), CIP_OK);
        if (m->size != 0)
            assert_int_equal(cip_io_read(j->now, off, &byte, 1, NULL), CIP_OK);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s %u %c\n", m->name,
                 (unsigned)m->size, byte);
    }
    return text;
}

static void what_stays_lies_where_it_was(void **state)
{
    (void)state;
    job j;
    assert_int_equal(make(&j, &env, "a 10 b 20 c 30 d/ 0 d/x 5 e 40"), CIP_OK);
    assert_int_equal(fill(&j, "b", true, 21), CIP_OK);
    assert_int_equal(cip_revision_rename(&j.files, "c", "c2", NULL, NULL), CIP_OK);
    assert_int_equal(cip_revision_unlink(&j.files, "d/x", NULL, NULL), CIP_OK);
    assert_int_equal(cip_revision_unlink_folder(&j.files, "d", NULL), CIP_OK);
    assert_int_equal(cip_revision_unlink_folder(&j.files, "none", NULL), CIP_OK);
    assert_int_equal(fill(&j, "f", false, 7), CIP_OK);
    assert_int_equal(revise(&j, NULL), CIP_OK);
    assert_string_equal(show(&j), "a 10 a\ne 40 e\nb 21 n\nc2 30 c\nf 7 n\n");
    assert_false(j.r.anew);
    assert_int_equal(j.r.tail_off, j.old.directory);
    assert_int_equal(j.zip.at[1].header, j.old.at[5].header);
    end(&j);
}

/* So that what changes often, as metadata do, which come last, leaves nothing unused. */
static void what_went_at_the_end_is_written_over(void **state)
{
    (void)state;
    job j;
    assert_int_equal(make(&j, &env, "a 10 b 20 c 30"), CIP_OK);
    assert_int_equal(cip_revision_unlink(&j.files, "b", NULL, NULL), CIP_OK);
    assert_int_equal(fill(&j, "c", true, 31), CIP_OK);
    assert_int_equal(revise(&j, NULL), CIP_OK);
    assert_string_equal(show(&j), "a 10 a\nc 31 n\n");
    assert_int_equal(j.r.tail_off, j.old.at[1].header);
    end(&j);
}

static void an_archive_that_is_mostly_unused_is_written_anew(void **state)
{
    (void)state;
    job j;
    assert_int_equal(make(&j, &env, "a 90000 b 20 c 30000 d 40000"), CIP_OK);
    assert_int_equal(fill(&j, "a", true, 21), CIP_OK);
    assert_int_equal(revise(&j, NULL), CIP_OK);
    assert_string_equal(show(&j), "b 20 b\nc 30000 c\nd 40000 d\na 21 n\n");
    assert_true(j.r.anew);
    assert_int_equal(j.zip.at[0].header, 0);
    assert_true(j.now->size < 71000);
    end(&j);
}

/* Of members that went before the first one nothing is wanted any more. Other bytes there, as of a
 * program or of another archive, are not ours to drop. */
static void what_lies_before_the_members_stays_unless_it_was_members(void **state)
{
    (void)state;
    enum { B = 30 + 2 + 90000 }; /* the header of b */
    static const struct {
        size_t at[2]; /* of bytes that are not as they were in headers */
        uint8_t flip[2];
        bool anew;
    } row[] = {
        { { 30 }, { 8 }, true },           /* the name */
        { { 18, 28 }, { 0x1c, 4 }, true }, /* 4 of the bytes are an extra field */
        { { 0 }, { 8 }, false },           /* no header */
        { { 6 }, { 8 }, false },           /* a descriptor */
        { { 18 }, { 8 }, false },          /* other lengths */
        { { 26 }, { 8 }, false },          /* */
        { { B + 18 }, { 8 }, false },      /* over the members that are there */
        { { B + 20 }, { 8 }, false },      /* ... and the end of the file */
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        job j;
        assert_int_equal(make(&j, &env, "-a 90000 -b 10 c 80000 d 30000"), CIP_OK);
        for (int k = 0; k < 2; k++)
            j.bytes.ptr[row[i].at[k]] ^= row[i].flip[k];
        assert_int_equal(fill(&j, "c", true, 21), CIP_OK);
        assert_int_equal(revise(&j, NULL), CIP_OK);
        assert_string_equal(show(&j), "d 30000 d\nc 21 n\n");
        assert_int_equal(j.r.anew, row[i].anew);
        assert_int_equal(j.zip.at[0].header, row[i].anew ? 0 : j.old.at[1].header);
        end(&j);
    }
}

static void what_makes_no_sense_is_refused(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    job j;
    assert_int_equal(make(&j, &env, "a 10"), CIP_OK);
    assert_int_equal(fill(&j, "a", false, 1), CIP_OK);
    assert_int_equal(revise(&j, &err), CIP_ERR_ARG);
    assert_string_equal(err.text, "'a' is in the archive already");
    end(&j);
    assert_int_equal(make(&j, &env, "a 10"), CIP_OK);
    assert_int_equal(cip_revision_unlink(&j.files, "b", NULL, NULL), CIP_OK);
    assert_int_equal(revise(&j, &err), CIP_ERR_ARG);
    assert_string_equal(err.text, "expected a member to replace as a whole, found 'b'");
    end(&j);
}

static cip_status revise_with(cip_env *with, void *user)
{
    job j;
    cip_status st = make(&j, with, user);
    if (st == CIP_OK)
        st = fill(&j, "a", true, 5);
    if (st == CIP_OK)
        st = revise(&j, NULL);
    end(&j);
    return st;
}

static void want_of_memory_is_reported(void **state)
{
    (void)state;
    each_request_fails_once(revise_with, (char *)"a 10 b 20");
    each_request_fails_once(revise_with, (char *)"a 90000 b 20 c 300");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_stays_lies_where_it_was, setup, teardown),
        cmocka_unit_test_setup_teardown(what_went_at_the_end_is_written_over, setup, teardown),
        cmocka_unit_test_setup_teardown(an_archive_that_is_mostly_unused_is_written_anew, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(what_lies_before_the_members_stays_unless_it_was_members,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(what_makes_no_sense_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(want_of_memory_is_reported, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
