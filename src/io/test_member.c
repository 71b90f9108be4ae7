/* SPDX-License-Identifier: BSD-3-Clause
 * Members beside a file: which references are paths, and that none of them leaves the folder. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "io/io_impl.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/temp_folder.h"
#include "support/seccomp.h"

static cip_env env;
static scratch dir;
static char outside[512]; /* a file beside the folder */

/* DIR/in/main is the file whose members are opened; DIR/out lies outside its folder. */
static int setup(void **state)
{
    (void)state;
    if (!scratch_open(&dir) || chmod(dir.dir, 0755) != 0)
        return -1;
    mkdir(scratch_path(&dir, "in"), 0755);
    mkdir(scratch_path(&dir, "in/sub"), 0755);
    mkdir(scratch_path(&dir, "in/sub/deep"), 0755);
    snprintf(outside, sizeof outside, "%s", scratch_write(&dir, "out", "outside", 7));
    scratch_write(&dir, "in/main", "main", 4);
    scratch_write(&dir, "in/a b", "blank", 5);
    scratch_write(&dir, "in/50%.x", "percent", 7);
    scratch_write(&dir, "in/m0000.asdf", "exploded", 8);
    scratch_write(&dir, "in/sub/target", "target", 6);
    scratch_write(&dir, "in/sub/deep/leaf", "leaf", 4);
    mkfifo(scratch_path(&dir, "in/fifo"), 0644);
    static const char *const links[][2] = {
        { "in/link_in", "sub/target" },        { "in/link_dir", "sub" },
        { "in/link_out", "../out" },           { "in/link_up", ".." },
        { "in/link_abs", "/etc/passwd" },      { "in/link_loop", "link_loop" },
        { "in/link_null", "/dev/null" },       { "in/sub/link_back", "../main" },
        { "in/link_magic", "/proc/self/exe" }, { "in/link_gone", "nope" },
    };
    for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
        if (symlink(links[i][1], scratch_path(&dir, links[i][0])) != 0)
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

static cip_io *open_main(void)
{
    cip_io *io;
    assert_int_equal(cip_io_open_file(&env, scratch_path(&dir, "in/main"), &io, NULL), CIP_OK);
    return io;
}

typedef struct reference_case {
    const char *reference, *path;
} reference_case;

static void check_paths(const reference_case *c, size_t n, uint32_t flags)
{
    for (size_t i = 0; i < n; i++) {
        char *path = NULL;
        cip_err err = CIP_ERR_INIT;
        if (cip_reference_path(&env.mem, c[i].reference, flags, &path, &err) != CIP_OK)
            fail_msg("'%s': %s", c[i].reference, err.text);
        if (strcmp(path, c[i].path) != 0)
            fail_msg("'%s' became '%s'", c[i].reference, path);
        cip_mem_put(&env.mem, path);
    }
}

static void references_within_become_paths(void **state)
{
    (void)state;
    static const reference_case cases[] = {
        { "m0000.asdf", "m0000.asdf" },
        { "./x", "x" },
        { "a/b/c", "a/b/c" },
        { "a//b/", "a/b" },
        { "a/./b/.", "a/b" },
        { "a/../b", "b" },
        { "a/b/../../c/d/..", "c" },
        { "x#/path", "x" },
        { "x#../../y", "x" },
        { "a%20b", "a b" },
        { "%41%7a%4A%4a", "AzJJ" },
        { "a%2520", "a%20" },
        { "%", "%" },
        { "%4", "%4" },
        { "%4#1", "%4" },
        { "%#41", "%" },
        { "%g1%1g%", "%g1%1g%" },
        { "%:0%0:%/0", "%:0%0:%/0" },
        { "%@0%0@%`0%0`%G0%0G", "%@0%0@%`0%0`%G0%0G" },
        { "%61%66%6f%39%30", "afo90" },
        { "%23%3f", "#?" },
        { "x?y", "x?y" },
        { "..a", "..a" },
        { "a..", "a.." },
        { "...", "..." },
        { ".a", ".a" },
        { "a/..b", "a/..b" },
        { "%2e/x", "x" },
        { "a/%2E%2e/x", "x" },
        { "./a:b", "a:b" },
        { "1a:b", "1a:b" },
        { "-a:b", "-a:b" },
        { "a_b:c", "a_b:c" },
        { "a/b:c", "a/b:c" },
        { "\xc3\xa4%c3%a4", "\xc3\xa4\xc3\xa4" },
        { "%ff", "\xff" },
        { "@x", "@x" },
        { "[x", "[x" },
        { "`x", "`x" },
        { "{x", "{x" },
    };
    check_paths(cases, sizeof cases / sizeof cases[0], 0);
    /* what needs no permission is the same with it */
    check_paths(cases, sizeof cases / sizeof cases[0], CIP_IO_EXTERNAL);
}

static void references_outside_need_permission(void **state)
{
    (void)state;
    static const reference_case cases[] = {
        { "../x", "../x" },
        { "..", ".." },
        { "../", ".." },
        { "../../x/y", "../../x/y" },
        { "a/../../x", "../x" },
        { "../a/../x", "../x" },
        { "../a/../../x", "../../x" },
        { "%2e%2e/x", "../x" },
        { "./.%2e/./x", "../x" },
        { "/etc/passwd", "/etc/passwd" },
        { "/a/../../b", "/b" },
        { "/../../b/c/..", "/b" },
        { "file:///etc/passwd", "/etc/passwd" },
        { "file:/etc/passwd", "/etc/passwd" },
        { "FILE:///a%20b#x", "/a b" },
        { "file://localhost/etc/passwd", "/etc/passwd" },
        { "file://LocalHost/x", "/x" },
    };
    check_paths(cases, sizeof cases / sizeof cases[0], CIP_IO_EXTERNAL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *path = NULL;
        cip_err err = CIP_ERR_INIT;
        assert_int_equal(cip_reference_path(&env.mem, cases[i].reference, 0, &path, &err),
                         CIP_ERR_CORRUPT);
        assert_null(path);
        assert_non_null(strstr(err.text, cases[i].reference));
        assert_non_null(strstr(err.text, "(.allow_external opens it)"));
    }
}

static void check_refused(const char *const *references, cip_status st, const char *text)
{
    for (; *references != NULL; references++) {
        for (uint32_t flags = 0; flags <= CIP_IO_EXTERNAL; flags++) {
            char *path = (char *)&env;
            cip_err err = CIP_ERR_INIT;
            cip_status got = cip_reference_path(&env.mem, *references, flags, &path, &err);
            if (got != st || path != NULL || strstr(err.text, text) == NULL)
                fail_msg("'%s' with %u: %d, '%s'", *references, flags, (int)got, err.text);
        }
    }
}

static void there_is_no_network(void **state)
{
    (void)state;
    static const char *const references[] = {
        "http://127.0.0.1:9/x.asdf",
        "https://127.0.0.1:9/x",
        "ftp://x/y",
        "fits:SCI,1",
        "a:",
        "z:x",
        "A1+-.:x",
        "Z:",
        "//host/x",
        "//",
        "//localhost/x",
        "fil:///x",
        "files:///x",
        NULL,
    };
    check_refused(references, CIP_ERR_UNSUPPORTED, "read over a network");
    char *path;
    static const char *const hosts[] = { "file://host/x", "file://127.0.0.1/x", "file://localhos/x",
                                         "file://localhostt/x", "file://localhosT.x/x" };
    for (size_t i = 0; i < sizeof hosts / sizeof hosts[0]; i++) {
        assert_int_equal(cip_reference_path(&env.mem, hosts[i], CIP_IO_EXTERNAL, &path, NULL),
                         CIP_ERR_UNSUPPORTED);
        assert_int_equal(cip_reference_path(&env.mem, hosts[i], 0, &path, NULL), CIP_ERR_CORRUPT);
    }
}

static void names_that_cannot_be_are_corrupt(void **state)
{
    (void)state;
    static const char *const references[] = {
        "a%00b.asdf", "%00",       "..%2f..%2f..%2fetc%2fpasswd",
        "a%2Fb",      "..\\..\\x", "a\\0b.asdf",
        "a%5cb",      "a/b/%5C",   NULL,
    };
    check_refused(references, CIP_ERR_CORRUPT, "has a NUL, a slash or a backslash in a name");
    char *path;
    static const char *const pathless[] = { "file:",   "file:x",   "file://localhost",
                                            "file://", "file:#/x", "file://localhost#/x" };
    for (size_t i = 0; i < sizeof pathless / sizeof pathless[0]; i++)
        assert_int_equal(cip_reference_path(&env.mem, pathless[i], CIP_IO_EXTERNAL, &path, NULL),
                         CIP_ERR_CORRUPT);
}

static void folders_and_nothing_are_no_members(void **state)
{
    (void)state;
    static const char *const folders[] = { ".", "./", "a/..", "a/b/../..", "%2e", ".//.#x", NULL };
    check_refused(folders, CIP_ERR_UNSUPPORTED, "is a directory, not a file");
    static const char *const empty[] = { "", "#", "#/a", NULL };
    check_refused(empty, CIP_ERR_ARG, "an empty reference means the file itself");
    char *path;
    assert_int_equal(cip_reference_path(&env.mem, "/", CIP_IO_EXTERNAL, &path, NULL),
                     CIP_ERR_UNSUPPORTED);
}

static void a_long_reference_is_still_explained(void **state)
{
    (void)state;
    static char reference[10000];
    char *path;
    cip_err err = CIP_ERR_INIT;
    memset(reference, 'x', sizeof reference - 1);
    memcpy(reference, "../", 3);
    assert_int_equal(cip_reference_path(&env.mem, reference, 0, &path, &err), CIP_ERR_CORRUPT);
    assert_non_null(strstr(err.text, "(.allow_external opens it)"));
    cip_io *io = open_main(), *member;
    assert_int_equal(cip_io_open_member(io, reference + 3, 0, &member, &err), CIP_ERR_IO);
    assert_non_null(strstr(err.text, "File name too long"));
    cip_io_close(io);
}

/* Opens a member of in/main and compares its bytes. */
static void member_is(const char *reference, uint32_t flags, const char *bytes)
{
    char b[16] = { 0 };
    cip_err err = CIP_ERR_INIT;
    cip_io *io = open_main(), *member;
    cip_status st = cip_io_open_member(io, reference, flags, &member, &err);
    cip_io_close(io); /* the member does not need it */
    if (st != CIP_OK)
        fail_msg("'%s': %s", reference, err.text);
    assert_int_equal(member->size, strlen(bytes));
    assert_int_equal(cip_io_read(member, 0, b, strlen(bytes), NULL), CIP_OK);
    assert_string_equal(b, bytes);
    cip_io_close(member);
}

static void member_fails(const char *reference, uint32_t flags, cip_status st, const char *text)
{
    cip_err err = CIP_ERR_INIT;
    cip_io *io = open_main(), *member = io;
    cip_status got = cip_io_open_member(io, reference, flags, &member, &err);
    if (got != st || strstr(err.text, text) == NULL)
        fail_msg("'%s': %s: '%s', not '%s'", reference, cip_status_name(got), err.text, text);
    assert_null(member);
    cip_io_close(io);
}

static void members_within_open(void **state)
{
    (void)state;
    NEEDS_OPENAT2();
    for (uint32_t flags = 0; flags <= CIP_IO_EXTERNAL; flags++) {
        member_is("m0000.asdf", flags, "exploded");
        member_is("a%20b", flags, "blank");
        member_is("50%.x", flags, "percent");
        member_is("sub/target#/a", flags, "target");
        member_is("sub/../sub/deep/leaf", flags, "leaf");
        member_is("main", flags, "main");
        member_is("link_in", flags, "target");
        member_is("link_dir/target", flags, "target");
        member_is("sub/link_back", flags, "main");
    }
}

static void what_is_not_beside_a_link_may_be_beside_its_file(void **state)
{
    (void)state;
    cip_io *io, *member;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_io_open_file(&env, scratch_path(&dir, "in/sub/link_back"), &io, NULL),
                     CIP_OK);
    for (uint32_t flags = 0; flags <= CIP_IO_EXTERNAL; flags++) {
        assert_int_equal(cip_io_open_member(io, "target", flags, &member, NULL), CIP_OK);
        cip_io_close(member);
        assert_int_equal(cip_io_open_member(io, "m0000.asdf", flags, &member, NULL), CIP_OK);
        assert_int_equal(member->size, 8);
        cip_io_close(member);
        assert_int_equal(cip_io_open_member(io, "nowhere", flags, &member, &err),
                         CIP_ERR_NOT_FOUND);
        assert_null(member);
    }
    assert_int_equal(cip_io_open_member(io, "../out", 0, &member, NULL), CIP_ERR_CORRUPT);
    cip_io_close(io);
}

static void links_that_leave_are_refused(void **state)
{
    (void)state;
    NEEDS_OPENAT2();
    const char *hint = "is reached through a link that leaves the file's folder "
                       "(.allow_external opens it)";
    member_fails("link_out", 0, CIP_ERR_CORRUPT, hint);
    member_fails("link_up/out", 0, CIP_ERR_CORRUPT, hint);
    member_fails("link_up/in/main", 0, CIP_ERR_CORRUPT, hint);
    member_fails("link_abs", 0, CIP_ERR_CORRUPT, hint);
    member_fails("link_null", 0, CIP_ERR_CORRUPT, hint);
    member_fails("link_magic", 0, CIP_ERR_CORRUPT, hint);
    member_fails("link_loop", 0, CIP_ERR_CORRUPT,
                 "is reached through a link that is circular or special");
    member_is("link_out", CIP_IO_EXTERNAL, "outside");
    member_is("link_up/out", CIP_IO_EXTERNAL, "outside");
    member_fails("link_null", CIP_IO_EXTERNAL, CIP_ERR_UNSUPPORTED, "is a character device");
}

static void what_is_no_file_is_no_member(void **state)
{
    (void)state;
    NEEDS_OPENAT2();
    alarm(20);
    for (uint32_t flags = 0; flags <= CIP_IO_EXTERNAL; flags++) {
        member_fails("fifo", flags, CIP_ERR_UNSUPPORTED, "fifo' is a FIFO, not a file");
        member_fails("sub", flags, CIP_ERR_UNSUPPORTED, "sub' is a directory, not a file");
        member_fails("nope.asdf", flags, CIP_ERR_NOT_FOUND, "nope.asdf': No such file");
        member_fails("main/x", flags, CIP_ERR_NOT_FOUND, "main/x': Not a directory");
        member_fails("link_gone", flags, CIP_ERR_NOT_FOUND, "link_gone': No such file");
    }
    alarm(0);
}

static void outside_is_refused_or_allowed(void **state)
{
    (void)state;
    char uri[600];
    member_fails("../out", 0, CIP_ERR_CORRUPT, "is outside the file's folder");
    member_fails(outside, 0, CIP_ERR_CORRUPT, "is outside the file's folder");
    member_is("../out", CIP_IO_EXTERNAL, "outside");
    member_is("../in/sub/target", CIP_IO_EXTERNAL, "target");
    member_is(outside, CIP_IO_EXTERNAL, "outside");
    snprintf(uri, sizeof uri, "file://%s", outside);
    member_fails(uri, 0, CIP_ERR_CORRUPT, "is outside the file's folder");
    member_is(uri, CIP_IO_EXTERNAL, "outside");
    snprintf(uri, sizeof uri, "file://localhost%s", outside);
    member_is(uri, CIP_IO_EXTERNAL, "outside");
    member_fails("/dev/zero", CIP_IO_EXTERNAL, CIP_ERR_UNSUPPORTED, "is a character device");
    member_fails("..", CIP_IO_EXTERNAL, CIP_ERR_UNSUPPORTED, "is a directory");
}

static void members_have_members_beside_them(void **state)
{
    (void)state;
    char b[8] = { 0 };
    cip_io *io = open_main(), *sub, *leaf, *part, *other;
    assert_int_equal(cip_io_open_member(io, "sub/target", 0, &sub, NULL), CIP_OK);
    assert_string_equal(sub->name, "sub/target");
    cip_io_close(io);
    assert_int_equal(cip_io_open_part(sub, 1, 2, &part, NULL), CIP_OK);
    assert_int_equal(cip_io_open_member(part, "deep/leaf", 0, &leaf, NULL), CIP_OK);
    assert_string_equal(leaf->name, "sub/deep/leaf");
    cip_io_close(part);
    assert_int_equal(cip_io_open_member(sub, "../main", 0, &other, NULL), CIP_ERR_CORRUPT);
    assert_int_equal(cip_io_open_member(sub, "../../out", CIP_IO_EXTERNAL, &other, NULL), CIP_OK);
    assert_int_equal(cip_io_read(other, 0, b, 7, NULL), CIP_OK);
    assert_string_equal(b, "outside");
    cip_io_close(sub);
    cip_io_close(leaf);
    /* one that was reached outside has its own folder */
    assert_int_equal(cip_io_open_member(other, "in/main", 0, &io, NULL), CIP_OK);
    cip_io_close(other);
    cip_io_close(io);
}

static void the_folder_does_not_move_with_the_process(void **state)
{
    (void)state;
    cip_io *io, *member;
    char was[PATH_MAX];
    assert_non_null(getcwd(was, sizeof was));
    static const char *const paths[][2] = { { "in", "main" }, { ".", "in/main" } };
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(chdir(scratch_path(&dir, paths[i][0])), 0);
        assert_int_equal(cip_io_open_file(&env, paths[i][1], &io, NULL), CIP_OK);
        assert_int_equal(chdir("/"), 0);
        assert_int_equal(cip_io_open_member(io, "sub/target", 0, &member, NULL), CIP_OK);
        cip_io_close(member);
        cip_io_close(io);
    }
    assert_int_equal(chdir(was), 0);
}

/* The path of the folder of `path` must end so. */
static void folder_ends(const char *path, const char *end, bool whole)
{
    cip_folder *f;
    assert_int_equal(cip_folder_new(&env.mem, path, &f, NULL), CIP_OK);
    const char *text = cip_folder_path(f);
    assert_true(strlen(text) >= strlen(end));
    assert_string_equal(text + (whole ? 0 : strlen(text) - strlen(end)), end);
    assert_int_equal(whole || text[0] == '/', 1);
    cip_folder_drop(f);
}

static void a_folder_has_an_absolute_path_if_it_can(void **state)
{
    (void)state;
    char was[PATH_MAX];
    assert_non_null(getcwd(was, sizeof was));
    assert_int_equal(chdir(scratch_path(&dir, "in")), 0);
    folder_ends("main", "/in/", false);
    folder_ends("sub/x", "/in/sub/", false);
    folder_ends("/x", "/", true);
    folder_ends("/a/b", "/a/", true);
    assert_int_equal(mkdir(scratch_path(&dir, "gone"), 0755), 0);
    assert_int_equal(chdir(scratch_path(&dir, "gone")), 0);
    assert_int_equal(rmdir(scratch_path(&dir, "gone")), 0);
    folder_ends("x", "./", true);
    folder_ends("a/x", "./a/", true);
    assert_int_equal(chdir(was), 0);
}

static void a_folder_that_is_gone_is_an_error(void **state)
{
    (void)state;
    cip_io *io, *member = NULL;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(mkdir(scratch_path(&dir, "lost"), 0755), 0);
    const char *path = scratch_write(&dir, "lost/x", "x", 1);
    assert_int_equal(cip_io_open_file(&env, path, &io, NULL), CIP_OK);
    assert_int_equal(rename(scratch_path(&dir, "lost"), scratch_path(&dir, "found")), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cip_io_open_member(io, "x", 0, &member, &err), CIP_ERR_NOT_FOUND);
        assert_non_null(strstr(err.text, "lost/'"));
    }
    assert_int_equal(rename(scratch_path(&dir, "found"), scratch_path(&dir, "lost")), 0);
    assert_int_equal(cip_io_open_member(io, "x", 0, &member, &err), CIP_OK);
    cip_io_close(member);
    /* once found it is kept, whatever it is called now */
    assert_int_equal(rename(scratch_path(&dir, "lost"), scratch_path(&dir, "found")), 0);
    assert_int_equal(cip_io_open_member(io, "x", 0, &member, &err), CIP_OK);
    cip_io_close(member);
    cip_io_close(io);
}

/* The walk for kernels without openat2: links are refused wherever they lead. */
static void the_walk_follows_no_link(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        cip_status st;
        const char *text;
    } cases[] = {
        { "main", CIP_OK, "" },
        { "sub/target", CIP_OK, "" },
        { "sub/deep/leaf", CIP_OK, "" },
        { "link_in", CIP_ERR_CORRUPT, "'shown' is reached through a link that this system" },
        { "link_dir/target", CIP_ERR_CORRUPT, "is reached through a link that this system" },
        { "link_up/out", CIP_ERR_CORRUPT, "is reached through a link" },
        { "sub/link_back", CIP_ERR_CORRUPT, "is reached through a link" },
        { "nope", CIP_ERR_NOT_FOUND, "cannot open 'shown': No such file" },
        { "sub/nope/x", CIP_ERR_NOT_FOUND, "No such file" },
        { "main/x", CIP_ERR_NOT_FOUND, "Not a directory" },
    };
    int at = open(scratch_path(&dir, "in"), O_PATH | O_DIRECTORY);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int fd = -5;
        cip_err err = CIP_ERR_INIT;
        cip_status st = cip_folder_walk(at, cases[i].path, "shown", &fd, &err);
        if (st != cases[i].st || strstr(err.text, cases[i].text) == NULL)
            fail_msg("'%s': %s: '%s'", cases[i].path, cip_status_name(st), err.text);
        assert_int_equal(fd >= 0, st == CIP_OK);
        if (st == CIP_OK) {
            assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
            assert_int_equal(close(fd), 0);
        }
    }
    char name[300];
    for (size_t n = 255; n <= 290; n++) {
        cip_err err = CIP_ERR_INIT;
        int fd;
        memset(name, 'n', n);
        name[n] = '\0';
        assert_int_equal(cip_folder_walk(at, name, "shown", &fd, &err),
                         n == 255 ? CIP_ERR_NOT_FOUND : CIP_ERR_IO);
    }
    assert_int_equal(close(at), 0); /* the lowest free descriptor again: none leaked */
    int again = open("/dev/null", O_RDONLY);
    assert_int_equal(again, at);
    close(again);
}

/* In a child where openat2 fails: what opens, what does not. */
static int without_openat2(int errnum)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        cip_io *io = open_main(), *member = NULL;
        cip_err err = CIP_ERR_INIT;
        if (!seccomp_fail(SYS_openat2, 0, errnum))
            _exit(77);
        if (cip_io_open_member(io, "sub/deep/leaf", 0, &member, &err) != CIP_OK)
            _exit((int)err.code);
        cip_io_close(member);
        if (cip_io_open_member(io, "link_in", 0, &member, &err) != CIP_ERR_CORRUPT)
            _exit(60);
        if (cip_io_open_member(io, "link_out", 0, &member, &err) != CIP_ERR_CORRUPT)
            _exit(61);
        if (cip_io_open_member(io, "nope", 0, &member, &err) != CIP_ERR_NOT_FOUND)
            _exit(62);
        cip_io_close(io);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    SKIP_UNLESS(WEXITSTATUS(status) != 77, "no seccomp filters here");
    return WEXITSTATUS(status);
}

static void older_kernels_and_containers_will_do(void **state)
{
    (void)state;
    assert_int_equal(without_openat2(ENOSYS), 0);
    assert_int_equal(without_openat2(EPERM), 0);
    assert_int_equal(without_openat2(EAGAIN), 0);
    assert_int_equal(without_openat2(ENFILE), CIP_ERR_IO);
}

static void each_failing_allocation_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    bool through = false;
    for (size_t n = 1; !through; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_env e;
        cip_io *io = NULL, *member = NULL, *other = NULL;
        cip_status st;
        assert_int_equal(cip_env_init(&e, NULL, &a, NULL, NULL), CIP_OK);
        CIP_GO(cip_io_open_file(&e, scratch_path(&dir, "in/sub/link_back"), &io, NULL));
        CIP_GO(cip_io_open_member(io, "sub/target", 0, &member, NULL));
        CIP_GO(cip_io_open_member(member, "../main", CIP_IO_EXTERNAL, &other, NULL));
    done:
        through = f.requests < n;
        assert_int_equal(st, through ? CIP_OK : CIP_ERR_NOMEM);
        cip_io_close(member);
        cip_io_close(other);
        cip_io_close(io);
        cip_env_clear(&e);
        assert_int_equal(f.held, 0);
        assert_true(n < 100);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_within_become_paths),
        cmocka_unit_test(references_outside_need_permission),
        cmocka_unit_test(there_is_no_network),
        cmocka_unit_test(names_that_cannot_be_are_corrupt),
        cmocka_unit_test(folders_and_nothing_are_no_members),
        cmocka_unit_test(a_long_reference_is_still_explained),
        cmocka_unit_test(members_within_open),
        cmocka_unit_test(what_is_not_beside_a_link_may_be_beside_its_file),
        cmocka_unit_test(links_that_leave_are_refused),
        cmocka_unit_test(what_is_no_file_is_no_member),
        cmocka_unit_test(outside_is_refused_or_allowed),
        cmocka_unit_test(members_have_members_beside_them),
        cmocka_unit_test(the_folder_does_not_move_with_the_process),
        cmocka_unit_test(a_folder_has_an_absolute_path_if_it_can),
        cmocka_unit_test(a_folder_that_is_gone_is_an_error),
        cmocka_unit_test(the_walk_follows_no_link),
        cmocka_unit_test(older_kernels_and_containers_will_do),
        cmocka_unit_test(each_failing_allocation_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
