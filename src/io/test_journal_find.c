/* SPDX-License-Identifier: BSD-3-Clause
 * Journals beside files: in every state that a crash can leave, and put there by others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/xattr.h>

#include "io/patch.h"
#include "io/record.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/temp_folder.h"

#define BYTES(text) ((cip_bytes){ (const uint8_t *)(text), sizeof(text) - 1 })
static const cip_bytes none = { NULL, 0 };

static cip_env env;
static scratch dir;

static int setup(void **state)
{
    (void)state;
    if (!scratch_open(&dir) || chmod(dir.dir, 0755) != 0)
        return -1;
    return (int)cip_env_init(&env, NULL, NULL, NULL, NULL);
}

static int teardown(void **state)
{
    (void)state;
    size_t left = (size_t)env.mem.used;
    cip_env_clear(&env);
    scratch_close(&dir);
    return left != 0;
}

/* Each test starts with nothing in the folder. */
static int clean(void **state)
{
    (void)state;
    scratch_close(&dir);
    return mkdir(dir.dir, 0755);
}

/* The file of most tests, and what the journal wants of it: 0123456789 -> 01AB45678YZ. */
static cip_patch growing(void)
{
    cip_patch p = { .arena = { .mem = &env.mem }, .old_len = 10, .new_len = 11 };
    assert_int_equal(cip_patch_write(&p, "", 2, BYTES("23"), BYTES("AB"), NULL), CIP_OK);
    assert_int_equal(cip_patch_write(&p, "", 9, BYTES("9"), BYTES("YZ"), NULL), CIP_OK);
    return p;
}

/* Writes the journal of the file "x", which must be there; takes the patch. */
static void put_as(const char *name, cip_patch p, uint64_t device_off, uint64_t inode_off)
{
    struct stat st;
    cip_buf b = { .mem = &env.mem };
    assert_int_equal(stat(scratch_path(&dir, "x"), &st), 0);
    assert_int_equal(
        cip_journal_encode(&p, st.st_dev + device_off, st.st_ino + inode_off, &b, NULL), CIP_OK);
    scratch_write(&dir, name, b.ptr, b.len);
    cip_buf_clear(&b);
    cip_patch_clear(&p);
}

static void put_journal(cip_patch p, uint64_t device_off, uint64_t inode_off)
{
    put_as(".x.cip-journal", p, device_off, inode_off);
}

typedef struct found {
    cip_status st;
    cip_journal_state state;
    char why[256], bytes[64];
    size_t nop;
    cip_err err;
} found;

static found look(const char *name)
{
    found f = { .err = CIP_ERR_INIT };
    cip_io *io, *seen;
    cip_patch p = { .arena = { .mem = &env.mem } };
    char path[600];
    snprintf(path, sizeof path, "%s/%s", dir.dir, name);
    assert_int_equal(cip_io_open_file(&env, path, &io, NULL), CIP_OK);
    f.state = (cip_journal_state)99;
    f.st = cip_journal_find(&env, path, io, &f.state, &p, f.why, &f.err);
    f.nop = p.n;
    if (f.st == CIP_OK && (f.state == CIP_JOURNAL_APPLIES || f.state == CIP_JOURNAL_UNSEALED)) {
        assert_int_equal(cip_io_open_overlay(io, &p, &seen, NULL), CIP_OK);
        assert_int_equal(cip_io_read(seen, 0, f.bytes, (size_t)seen->size, NULL), CIP_OK);
        cip_io_close(seen);
    } else {
        assert_null(p.op);
        assert_null(p.arena.slabs);
    }
    cip_patch_clear(&p);
    cip_io_close(io);
    return f;
}

static void finds(const char *name, cip_journal_state state, const char *text)
{
    found f = look(name);
    assert_int_equal(f.st, CIP_OK);
    assert_int_equal(f.state, state);
    bool shown = state == CIP_JOURNAL_APPLIES || state == CIP_JOURNAL_UNSEALED;
    const char *says = shown ? f.bytes : f.why;
    if (strcmp(says, text) != 0)
        fail_msg("'%s', not '%s'", says, text);
}

static void without_a_journal_there_is_none(void **state)
{
    (void)state;
    scratch_write(&dir, "x", "0123456789", 10);
    finds("x", CIP_JOURNAL_NONE, "");
    scratch_write(&dir, ".x.cip-tmp", "unsealed", 8);
    scratch_write(&dir, ".y.cip-journal", "another's", 9);
    scratch_write(&dir, "x.cip-journal", "no dot", 6);
    finds("x", CIP_JOURNAL_NONE, "");
}

static void every_state_that_a_crash_leaves_shows_the_new_bytes(void **state)
{
    (void)state;
    static const char *const states[] = {
        "0123456789",  "01A3456789",  "012B456789",   "01AB456789",   "01AB45678Y",  "012345678Y",
        "012345678YZ", "0123456789Z", "0123456789\0", "01A345678Y\0", "01AB45678YZ",
    };
    for (size_t i = 0; i < sizeof states / sizeof states[0]; i++) {
        size_t n = i == 8 || i == 9 ? 11 : strlen(states[i]);
        scratch_write(&dir, "x", states[i], n);
        put_journal(growing(), 0, 0);
        finds("x", CIP_JOURNAL_APPLIES, "01AB45678YZ");
    }
}

static void a_file_in_another_state_is_not_its(void **state)
{
    (void)state;
    scratch_write(&dir, "x", "01C3456789", 10);
    put_journal(growing(), 0, 0);
    finds("x", CIP_JOURNAL_ALIEN,
          "byte 2 of the file is neither the old nor the new one of the journal");
    scratch_write(&dir, "x", "0123456789z", 11);
    finds("x", CIP_JOURNAL_ALIEN,
          "byte 10 of the file is neither the old nor the new one of the journal");
    scratch_write(&dir, "x",
                  "01\0\x33"
                  "456789",
                  10); /* zero is for behind the old end */
    finds("x", CIP_JOURNAL_ALIEN,
          "byte 2 of the file is neither the old nor the new one of the journal");
    scratch_write(&dir, "x", "012345678", 9);
    finds("x", CIP_JOURNAL_ALIEN, "expected a file of 10 to 11 bytes, found 9");
    scratch_write(&dir, "x", "01AB45678YZ.", 12);
    finds("x", CIP_JOURNAL_ALIEN, "expected a file of 10 to 11 bytes, found 12");
    scratch_write(&dir, "x",
                  "..23....."
                  "9",
                  10); /* the rest is not looked at */
    finds("x", CIP_JOURNAL_APPLIES, "..AB.....YZ");
}

static void a_shortening_applies_at_each_length_between(void **state)
{
    (void)state;
    for (size_t n = 4; n <= 11; n++) {
        cip_patch p = { .arena = { .mem = &env.mem }, .old_len = 10, .new_len = 5 };
        cip_patch_op cut = { .kind = CIP_PATCH_LENGTH, .offset = 5 };
        assert_int_equal(cip_patch_write(&p, "", 3, BYTES("34"), BYTES("CD"), NULL), CIP_OK);
        assert_int_equal(cip_patch_write(&p, "", 7, BYTES("78"), BYTES(".."), NULL), CIP_OK);
        assert_int_equal(cip_patch_add(&p, &cut, NULL), CIP_OK);
        /* an operation on another member is carried, not looked at */
        assert_int_equal(cip_patch_write(&p, "y", 0, none, BYTES("zzz"), NULL), CIP_OK);
        scratch_write(&dir, "x", "01234567890", n);
        put_journal(p, 0, 0);
        found f = look("x");
        assert_int_equal(f.state, n >= 5 && n <= 10 ? CIP_JOURNAL_APPLIES : CIP_JOURNAL_ALIEN);
        if (f.state == CIP_JOURNAL_APPLIES) {
            assert_int_equal(f.nop, 4);
            assert_string_equal(f.bytes, "012CD");
        }
    }
}

/* What an update adds lies in the file before its journal is sealed, or in the journal. */
static void a_length_that_nothing_was_written_for_is_not_its(void **state)
{
    (void)state;
    static const struct {
        uint64_t new_len, at; /* of a write of two bytes, none at 0 */
    } row[] = {
        { UINT64_C(1) << 62, 0 },
        { UINT64_C(1) << 62, (UINT64_C(1) << 62) - 2 },
        { 11, 0 },
        { 13, 11 },
        { INT64_MAX, 10 },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        cip_patch p = { .arena = { .mem = &env.mem }, .old_len = 10, .new_len = row[i].new_len };
        cip_patch_op length = { .kind = CIP_PATCH_LENGTH, .offset = row[i].new_len };
        char why[256];
        if (row[i].at != 0)
            assert_int_equal(cip_patch_write(&p, "", row[i].at, none, BYTES("++"), NULL), CIP_OK);
        assert_int_equal(cip_patch_add(&p, &length, NULL), CIP_OK);
        scratch_write(&dir, "x", "0123456789", 10);
        put_journal(p, 0, 0);
        snprintf(why, sizeof why,
                 "expected a file of at least %" PRIu64 " bytes before the update, found 10",
                 row[i].new_len - (row[i].at != 0 ? 2 : 0));
        finds("x", CIP_JOURNAL_ALIEN, why);
    }
}

static void long_writes_are_compared_to_the_last_byte(void **state)
{
    (void)state;
    enum { N = 200000 };
    static uint8_t old[N], new[N], file[N];
    for (size_t i = 0; i < N; i++) {
        old[i] = (uint8_t)(i * 7);
        new[i] = (uint8_t)(i * 7 + 1);
    }
    static const size_t wrong[] = { 0, 1, 65535, 65536, 131071, 131072, N - 1, N };
    for (size_t k = 0; k < sizeof wrong / sizeof wrong[0]; k++) {
        cip_patch p = { .arena = { .mem = &env.mem }, .old_len = N, .new_len = N };
        cip_io *io;
        char why[256];
        cip_journal_state found_state;
        assert_int_equal(
            cip_patch_write(&p, "", 0, (cip_bytes){ old, N }, (cip_bytes){ new, N }, NULL), CIP_OK);
        for (size_t i = 0; i < N; i++)
            file[i] = i % 3 != 0 ? old[i] : new[i];
        if (wrong[k] < N)
            file[wrong[k]] = (uint8_t)(old[wrong[k]] + 2);
        const char *path = scratch_write(&dir, "x", file, N);
        put_journal(p, 0, 0);
        path = scratch_path(&dir, "x");
        assert_int_equal(cip_io_open_file(&env, path, &io, NULL), CIP_OK);
        p = (cip_patch){ .arena = { .mem = &env.mem } };
        assert_int_equal(cip_journal_find(&env, path, io, &found_state, &p, why, NULL), CIP_OK);
        assert_int_equal(found_state, wrong[k] < N ? CIP_JOURNAL_ALIEN : CIP_JOURNAL_APPLIES);
        cip_patch_clear(&p);
        cip_io_close(io);
    }
}

static void another_files_journal_is_alien(void **state)
{
    (void)state;
    scratch_write(&dir, "x", "0123456789", 10);
    put_journal(growing(), 0, 1);
    found f = look("x");
    assert_int_equal(f.state, CIP_JOURNAL_ALIEN);
    assert_non_null(strstr(f.why, "the journal is for another file (inode "));
    put_journal(growing(), 1, 0); /* the number of a device changes from mount to mount */
    finds("x", CIP_JOURNAL_APPLIES, "01AB45678YZ");
}

static void a_damaged_journal_is_alien(void **state)
{
    (void)state;
    scratch_write(&dir, "x", "0123456789", 10);
    scratch_write(&dir, ".x.cip-journal", "", 0);
    finds("x", CIP_JOURNAL_ALIEN, "expected a journal of at least 80 bytes, found 0");
    put_journal(growing(), 0, 0);
    const char *path = scratch_path(&dir, ".x.cip-journal");
    int fd = open(path, O_RDWR);
    assert_int_equal(pwrite(fd, "?", 1, 60), 1);
    finds("x", CIP_JOURNAL_ALIEN, "the journal's checksum is wrong");
    assert_int_equal(pwrite(fd, "?", 1, 8), 1);
    finds("x", CIP_JOURNAL_ALIEN, "expected a journal of version 1, found 63 or unknown flags");
    assert_int_equal(pwrite(fd, "?", 1, 0), 1);
    finds("x", CIP_JOURNAL_ALIEN, "not a journal of cippus");
    close(fd);
    put_journal(growing(), 0, 0);
    assert_int_equal(truncate(scratch_path(&dir, ".x.cip-journal"), 100), 0);
    assert_int_equal(look("x").state, CIP_JOURNAL_ALIEN);
    static uint8_t longer[1000];
    scratch_write(&dir, ".x.cip-journal", longer, sizeof longer);
    assert_int_equal(look("x").state, CIP_JOURNAL_ALIEN);
}

static void a_journal_that_is_no_file_is_ignored(void **state)
{
    (void)state;
    static const char *const why = "the journal beside the file is a link, or not a regular file";
    char path[600];
    int before = open("/dev/null", O_RDONLY);
    close(before);
    scratch_write(&dir, "x", "0123456789", 10);
    put_journal(growing(), 0, 0);
    snprintf(path, sizeof path, "%s/.x.cip-journal", dir.dir);
    assert_int_equal(rename(path, scratch_path(&dir, "real")), 0);
    assert_int_equal(symlink("real", path), 0);
    finds("x", CIP_JOURNAL_IGNORED, why);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(symlink("nowhere", path), 0);
    finds("x", CIP_JOURNAL_IGNORED, why);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    finds("x", CIP_JOURNAL_IGNORED, why);
    alarm(0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    finds("x", CIP_JOURNAL_IGNORED, why);
    assert_int_equal(rmdir(path), 0);
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    snprintf(addr.sun_path, sizeof addr.sun_path, "%.90s", path);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(s, (struct sockaddr *)&addr, sizeof addr), 0);
    finds("x", CIP_JOURNAL_IGNORED, why);
    close(s);
    int after = open("/dev/null", O_RDONLY);
    assert_int_equal(after, before); /* the lowest free one again: none leaked */
    close(after);
}

static void a_journal_over_64_mib_is_ignored(void **state)
{
    (void)state;
    scratch_write(&dir, "x", "0123456789", 10);
    scratch_write(&dir, ".x.cip-journal", "", 0);
    assert_int_equal(truncate(scratch_path(&dir, ".x.cip-journal"), (64 << 20) + 1), 0);
    finds("x", CIP_JOURNAL_IGNORED, "the journal beside the file has more than 67108864 bytes");
    assert_int_equal(truncate(scratch_path(&dir, ".x.cip-journal"), 64 << 20), 0);
    finds("x", CIP_JOURNAL_ALIEN, "not a journal of cippus");
}

static void a_journal_of_someone_else_is_ignored(void **state)
{
    (void)state;
    SKIP_UNLESS(geteuid() == 0, "only root gives files away");
    char journal[600], file[600];
    scratch_write(&dir, "x", "0123456789", 10);
    put_journal(growing(), 0, 0);
    snprintf(journal, sizeof journal, "%s/.x.cip-journal", dir.dir);
    snprintf(file, sizeof file, "%s/x", dir.dir);
    assert_int_equal(chown(journal, 4711, 4711), 0);
    finds("x", CIP_JOURNAL_IGNORED, "the journal beside the file belongs to another user (4711)");
    assert_int_equal(chown(file, 4711, 4711), 0); /* the file's owner's: fine */
    finds("x", CIP_JOURNAL_APPLIES, "01AB45678YZ");
    assert_int_equal(chown(journal, 0, 0), 0); /* ours */
    finds("x", CIP_JOURNAL_APPLIES, "01AB45678YZ");
}

static void a_journal_that_cannot_be_opened_is_an_error_if_it_counts(void **state)
{
    (void)state;
    SKIP_UNLESS(geteuid() == 0, "only root gives files away");
    char journal[600], file[600];
    scratch_write(&dir, "x", "0123456789", 10);
    put_journal(growing(), 0, 0);
    snprintf(journal, sizeof journal, "%s/.x.cip-journal", dir.dir);
    snprintf(file, sizeof file, "%s/x", dir.dir);
    assert_int_equal(chmod(journal, 0), 0);
    assert_int_equal(seteuid(65534), 0);
    found f = look("x"); /* root's file and journal: the journal may well be needed */
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(f.st, CIP_ERR_IO);
    assert_int_equal(f.state, 99);
    assert_non_null(strstr(f.err.text, "cannot open the journal '"));
    assert_non_null(strstr(f.err.text, "Permission denied"));
    assert_int_equal(chown(journal, 4711, 4711), 0);
    assert_int_equal(seteuid(65534), 0);
    f = look("x");
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(f.st, CIP_OK);
    assert_int_equal(f.state, CIP_JOURNAL_IGNORED);
}

/* 0123456789 -> 01AB456789++++: a switch and an end of four bytes. */
static cip_patch switching(void)
{
    cip_patch_op length = { .kind = CIP_PATCH_LENGTH, .offset = 14 };
    cip_patch p = { .arena = { .mem = &env.mem }, .old_len = 10, .new_len = 14 };
    assert_int_equal(cip_patch_write(&p, "", 2, BYTES("23"), BYTES("AB"), NULL), CIP_OK);
    assert_int_equal(cip_patch_add(&p, &length, NULL), CIP_OK);
    return p;
}

static void what_an_unsealed_update_added_is_left_out(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        cip_journal_state state;
    } row[] = {
        { "0123456789", CIP_JOURNAL_NONE },         { "0123456789+", CIP_JOURNAL_UNSEALED },
        { "0123456789++++", CIP_JOURNAL_UNSEALED }, { "01AB456789++++", CIP_JOURNAL_NONE },
        { "01A3456789++++", CIP_JOURNAL_NONE },     { "012345678", CIP_JOURNAL_NONE },
        { "0123456789+++++", CIP_JOURNAL_NONE },    { "01x3456789++++", CIP_JOURNAL_NONE },
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        scratch_write(&dir, "x", row[i].bytes, strlen(row[i].bytes));
        put_as(".x.cip-tmp", switching(), 0, 0);
        finds("x", row[i].state, row[i].state == CIP_JOURNAL_UNSEALED ? "0123456789" : "");
        put_as(".x.cip-tmp", switching(), 0, 1); /* another file's */
        finds("x", CIP_JOURNAL_NONE, "");
    }
}

/* Bytes that stay only tell whether it is the file. */
static void an_append_is_known_by_bytes_that_stay(void **state)
{
    (void)state;
    cip_patch_op length = { .kind = CIP_PATCH_LENGTH, .offset = 14 };
    for (int other = 0; other < 2; other++) {
        cip_patch p = { .arena = { .mem = &env.mem }, .old_len = 10, .new_len = 14 };
        assert_int_equal(cip_patch_write(&p, "", 0, BYTES("01"), BYTES("01"), NULL), CIP_OK);
        assert_int_equal(cip_patch_write(&p, "", 8, BYTES("89"), BYTES("89"), NULL), CIP_OK);
        assert_int_equal(cip_patch_add(&p, &length, NULL), CIP_OK);
        scratch_write(&dir, "x", other ? "012345678x++" : "0123456789++", 12);
        put_as(".x.cip-tmp", p, 0, 0);
        finds("x", other ? CIP_JOURNAL_NONE : CIP_JOURNAL_UNSEALED, other ? "" : "0123456789");
    }
}

static void a_sealed_journal_counts_before_an_unsealed_one(void **state)
{
    (void)state;
    scratch_write(&dir, "x", "0123456789++++", 14);
    put_as(".x.cip-tmp", switching(), 0, 0);
    put_journal(switching(), 0, 0);
    finds("x", CIP_JOURNAL_APPLIES, "01AB456789++++");
}

static void an_unsealed_update_of_someone_else_is_nothing(void **state)
{
    (void)state;
    SKIP_UNLESS(geteuid() == 0, "only root gives files away");
    char tmp[600];
    scratch_write(&dir, "x", "0123456789+", 11);
    put_as(".x.cip-tmp", switching(), 0, 0);
    snprintf(tmp, sizeof tmp, "%s/.x.cip-tmp", dir.dir);
    assert_int_equal(chmod(tmp, 0), 0); /* just made: it has no mode yet */
    assert_int_equal(seteuid(65534), 0);
    found f = look("x");
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(f.st, CIP_OK);
    assert_int_equal(f.state, CIP_JOURNAL_NONE);
    assert_int_equal(chown(tmp, 4711, 4711), 0);
    finds("x", CIP_JOURNAL_NONE, "");
}

static void behind_a_link_the_journal_is_beside_the_real_file(void **state)
{
    (void)state;
    scratch_write(&dir, "x", "0123456789", 10);
    put_journal(growing(), 0, 0);
    assert_int_equal(mkdir(scratch_path(&dir, "sub"), 0755), 0);
    assert_int_equal(symlink("../x", scratch_path(&dir, "sub/link")), 0);
    finds("sub/link", CIP_JOURNAL_APPLIES, "01AB45678YZ");
    /* one beside the link is nobody's */
    scratch_write(&dir, "sub/.link.cip-journal", "junk", 4);
    finds("sub/link", CIP_JOURNAL_APPLIES, "01AB45678YZ");
    assert_int_equal(unlink(scratch_path(&dir, ".x.cip-journal")), 0);
    finds("sub/link", CIP_JOURNAL_NONE, "");
}

static void a_path_without_a_folder_is_fine(void **state)
{
    (void)state;
    char was[PATH_MAX], why[256];
    cip_io *io;
    cip_patch p = { .arena = { .mem = &env.mem } };
    cip_journal_state found_state;
    scratch_write(&dir, "x", "0123456789", 10);
    put_journal(growing(), 0, 0);
    assert_non_null(getcwd(was, sizeof was));
    assert_int_equal(chdir(dir.dir), 0);
    assert_int_equal(cip_io_open_file(&env, "x", &io, NULL), CIP_OK);
    assert_int_equal(cip_journal_find(&env, "x", io, &found_state, &p, why, NULL), CIP_OK);
    assert_int_equal(found_state, CIP_JOURNAL_APPLIES);
    cip_patch_clear(&p);
    /* paths that lead nowhere by now, or are too long for a journal to be beside them */
    static const char *const odd[] = { "gone/x", "loop", "x/x" };
    assert_int_equal(symlink("loop", "loop"), 0);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(cip_journal_find(&env, odd[i], io, &found_state, &p, why, NULL), CIP_OK);
        assert_int_equal(found_state, CIP_JOURNAL_NONE);
    }
    static char longest[PATH_MAX + 10];
    memset(longest, 'n', sizeof longest - 1);
    for (size_t n = sizeof longest - 1; n > 200; n = n > 4200 ? n - 1 : n / 2) {
        longest[n] = '\0';
        assert_int_equal(cip_journal_find(&env, longest, io, &found_state, &p, why, NULL), CIP_OK);
        assert_int_equal(found_state, CIP_JOURNAL_NONE);
    }
    assert_int_equal(chdir(was), 0);
    cip_io_close(io);
}

static void the_longest_name_of_a_journal_is_not_cut(void **state)
{
    (void)state;
    enum { ADDED = sizeof "..cip-journal" - 1 };
    char was[PATH_MAX], why[256], path[PATH_MAX];
    cip_io *io;
    cip_patch p = { .arena = { .mem = &env.mem } };
    cip_journal_state found_state;
    scratch_write(&dir, "x", "0123456789", 10);
    put_journal(growing(), 0, 0);
    scratch_write(&dir, ".x.cip-journa", "not it", 6); /* what a cut name would find */
    assert_non_null(getcwd(was, sizeof was));
    assert_int_equal(chdir(dir.dir), 0);
    assert_int_equal(cip_io_open_file(&env, "x", &io, NULL), CIP_OK);
    for (size_t n = PATH_MAX - 3; n <= PATH_MAX + 3; n++) { /* length of the journal's path */
        memset(path, '/', sizeof path);
        path[0] = '.';
        path[n - ADDED - 1] = 'x';
        path[n - ADDED] = '\0';
        assert_int_equal(cip_journal_find(&env, path, io, &found_state, &p, why, NULL), CIP_OK);
        assert_int_equal(found_state, n < PATH_MAX ? CIP_JOURNAL_APPLIES : CIP_JOURNAL_NONE);
        cip_patch_clear(&p);
    }
    assert_int_equal(chdir(was), 0);
    cip_io_close(io);
}

/* Lets the file say that an update of it is going on, or counts. */
static cip_record point(const char *name, const char *at, bool settled)
{
    cip_record r;
    int fd = open(scratch_path(&dir, name), O_RDWR | O_CLOEXEC);
    cip_status st = cip_record_open(fd, at, &r, NULL);
    if (st == CIP_OK && settled)
        st = cip_record_settle(fd, &r, NULL);
    close(fd);
    SKIP_UNLESS(st != CIP_ERR_UNSUPPORTED, "no extended attributes or unnamed files here");
    assert_int_equal(st, CIP_OK);
    return r;
}

static void call(const char *from, const char *to)
{
    assert_int_equal(rename(scratch_path(&dir, from), scratch_path(&dir, to)), 0);
}

static void a_file_leads_to_its_journal_under_any_name(void **state)
{
    (void)state;
    scratch_write(&dir, "x", "01A3456789", 10);
    put_journal(growing(), 0, 0);
    point("x", "x", false);
    finds("x", CIP_JOURNAL_APPLIES, "01AB45678YZ");
    assert_int_equal(link(scratch_path(&dir, "x"), scratch_path(&dir, "second")), 0);
    finds("second", CIP_JOURNAL_APPLIES, "01AB45678YZ");
    call("x", "y");
    finds("y", CIP_JOURNAL_APPLIES, "01AB45678YZ");
    scratch_write(&dir, "y2", "0123456789++", 12);
    call("y2", "x");
    put_as(".x.cip-tmp", switching(), 0, 0);
    assert_int_equal(unlink(scratch_path(&dir, ".x.cip-journal")), 0);
    point("x", "x", false);
    call("x", "z");
    finds("z", CIP_JOURNAL_UNSEALED, "0123456789");
}

static void a_journal_that_the_file_was_moved_away_from_is_lost(void **state)
{
    (void)state;
    static const char lost[] = "its record, '.x.cip-journal' or '.cip-tmp', is not beside it";
    scratch_write(&dir, "x", "01A3456789", 10);
    put_journal(growing(), 0, 0);
    point("x", "x", false);
    assert_int_equal(mkdir(scratch_path(&dir, "sub"), 0755), 0);
    call("x", "sub/y");
    finds("sub/y", CIP_JOURNAL_LOST, lost);
    scratch_write(&dir, "x", "another", 7); /* under the old name, whose journal it is not */
    call("sub/y", "y");
    put_journal(growing(), 0, 0);
    finds("y", CIP_JOURNAL_LOST, lost);
    scratch_write(&dir, "z", "01A3456789", 10);
    int fd = open(scratch_path(&dir, "z"), O_RDWR | O_CLOEXEC);
    assert_int_equal(fsetxattr(fd, "user.cippus.update", "of version 7", 12, 0), 0);
    finds("z", CIP_JOURNAL_LOST, "the location of its record cannot be read");
    assert_int_equal(fsetxattr(fd, "user.cippus.update", "cip1 open 0123456789abcdef ../z", 31, 0),
                     0);
    finds("z", CIP_JOURNAL_LOST, "the location of its record cannot be read");
    close(fd);
}

static void an_update_that_counts_needs_no_record(void **state)
{
    (void)state;
    scratch_write(&dir, "x", "01AB456789++", 12);
    put_as(".x.cip-tmp", switching(), 0, 0);
    point("x", "x", true);
    finds("x", CIP_JOURNAL_SETTLED, "");
    call("x", "y");
    finds("y", CIP_JOURNAL_SETTLED, "");
    assert_int_equal(unlink(scratch_path(&dir, ".x.cip-tmp")), 0);
    finds("y", CIP_JOURNAL_NONE, "");
    scratch_write(&dir, "x", "0123456789++", 12); /* rows of one name after a link was made */
    put_as(".x.cip-tmp", switching(), 0, 0);
    point("x", "x", true);
    finds("x", CIP_JOURNAL_SETTLED, "");
}

static void what_is_opened_without_a_look_at_journals_must_be_whole(void **state)
{
    (void)state;
    cip_io *main, *io;
    cip_err err = CIP_ERR_INIT;
    scratch_write(&dir, "main", "m", 1);
    scratch_write(&dir, "x", "01A3456789", 10);
    put_journal(growing(), 0, 0);
    assert_int_equal(cip_io_open_file(&env, scratch_path(&dir, "main"), &main, NULL), CIP_OK);
    assert_int_equal(cip_io_open_member(main, "x", 0, &io, NULL), CIP_OK);
    cip_io_close(io);
    point("x", "x", false);
    assert_int_equal(cip_io_open_member(main, "x", 0, &io, &err), CIP_ERR_CORRUPT);
    assert_null(io);
    assert_string_equal(err.text, "an update of 'x' was interrupted; see cip_recover");
    assert_int_equal(cip_io_open_member(main, "x", CIP_IO_EXTERNAL, &io, NULL), CIP_ERR_CORRUPT);
    int fd = open(scratch_path(&dir, "x"), O_RDONLY | O_CLOEXEC);
    assert_int_equal(cip_io_open_fd(&env, fd, "-", &io, NULL), CIP_ERR_CORRUPT);
    close(fd);
    point("x", "x", true);
    assert_int_equal(cip_io_open_member(main, "x", 0, &io, NULL), CIP_OK);
    cip_io_close(io);
    cip_io_close(main);
}

static void only_files_have_journals(void **state)
{
    (void)state;
    char why[256];
    cip_io *io;
    cip_patch p = { .arena = { .mem = &env.mem } };
    cip_journal_state found_state = CIP_JOURNAL_ALIEN;
    scratch_write(&dir, "x", "0123456789", 10);
    put_journal(growing(), 0, 0);
    assert_int_equal(cip_io_open_memory(&env, "0123456789", 10, "x", &io, NULL), CIP_OK);
    assert_int_equal(
        cip_journal_find(&env, scratch_path(&dir, "x"), io, &found_state, &p, why, NULL), CIP_OK);
    assert_int_equal(found_state, CIP_JOURNAL_NONE);
    cip_io_close(io);
}

static void each_failing_allocation_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    bool through = false;
    char path[600], why[256];
    scratch_write(&dir, "x", "0123456789", 10);
    put_journal(growing(), 0, 0);
    snprintf(path, sizeof path, "%s/x", dir.dir);
    for (size_t n = 1; !through; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_env e;
        cip_err err = CIP_ERR_INIT;
        cip_patch p = { .arena = { .mem = &e.mem } };
        cip_io *io = NULL;
        cip_journal_state found_state = CIP_JOURNAL_ALIEN;
        assert_int_equal(cip_env_init(&e, NULL, &a, NULL, NULL), CIP_OK);
        cip_status st = cip_io_open_file(&e, path, &io, &err);
        if (st == CIP_OK)
            st = cip_journal_find(&e, path, io, &found_state, &p, why, &err);
        through = f.requests < n;
        assert_int_equal(st, through ? CIP_OK : CIP_ERR_NOMEM);
        assert_int_equal(err.code, st);
        assert_int_equal(found_state, through ? CIP_JOURNAL_APPLIES : CIP_JOURNAL_ALIEN);
        cip_io_close(io);
        cip_patch_clear(&p);
        cip_env_clear(&e);
        assert_int_equal(f.held, 0);
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(without_a_journal_there_is_none, clean),
        cmocka_unit_test_setup(every_state_that_a_crash_leaves_shows_the_new_bytes, clean),
        cmocka_unit_test_setup(a_file_in_another_state_is_not_its, clean),
        cmocka_unit_test_setup(a_shortening_applies_at_each_length_between, clean),
        cmocka_unit_test_setup(a_length_that_nothing_was_written_for_is_not_its, clean),
        cmocka_unit_test_setup(long_writes_are_compared_to_the_last_byte, clean),
        cmocka_unit_test_setup(another_files_journal_is_alien, clean),
        cmocka_unit_test_setup(a_damaged_journal_is_alien, clean),
        cmocka_unit_test_setup(a_journal_that_is_no_file_is_ignored, clean),
        cmocka_unit_test_setup(a_journal_over_64_mib_is_ignored, clean),
        cmocka_unit_test_setup(a_journal_of_someone_else_is_ignored, clean),
        cmocka_unit_test_setup(a_journal_that_cannot_be_opened_is_an_error_if_it_counts, clean),
        cmocka_unit_test_setup(what_an_unsealed_update_added_is_left_out, clean),
        cmocka_unit_test_setup(an_append_is_known_by_bytes_that_stay, clean),
        cmocka_unit_test_setup(a_sealed_journal_counts_before_an_unsealed_one, clean),
        cmocka_unit_test_setup(an_unsealed_update_of_someone_else_is_nothing, clean),
        cmocka_unit_test_setup(behind_a_link_the_journal_is_beside_the_real_file, clean),
        cmocka_unit_test_setup(a_path_without_a_folder_is_fine, clean),
        cmocka_unit_test_setup(the_longest_name_of_a_journal_is_not_cut, clean),
        cmocka_unit_test_setup(a_file_leads_to_its_journal_under_any_name, clean),
        cmocka_unit_test_setup(a_journal_that_the_file_was_moved_away_from_is_lost, clean),
        cmocka_unit_test_setup(an_update_that_counts_needs_no_record, clean),
        cmocka_unit_test_setup(what_is_opened_without_a_look_at_journals_must_be_whole, clean),
        cmocka_unit_test_setup(only_files_have_journals, clean),
        cmocka_unit_test_setup(each_failing_allocation_is_reported_and_nothing_leaks, clean),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
