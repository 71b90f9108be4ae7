/* SPDX-License-Identifier: BSD-3-Clause
 * Pipes: kept in memory while short, in an unnamed temporary file when long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "io/io.h"
#include "support/fail_alloc.h"
#include "support/needs.h"
#include "support/temp_folder.h"
#include "support/seccomp.h"

static scratch dir;

/* write is replaced, so that it can be short or interrupted. */
static struct {
    int interrupt; /* so many calls end with EINTR first */
    size_t at_most;
} hook;

ssize_t write(int fd, const void *src, size_t n)
{
    if (hook.interrupt > 0) {
        hook.interrupt--;
        errno = EINTR;
        return -1;
    }
    if (hook.at_most != 0 && n > hook.at_most)
        n = hook.at_most;
    return (ssize_t)syscall(SYS_write, fd, src, n);
}

static int setup(void **state)
{
    (void)state;
    if (!scratch_open(&dir))
        return -1;
    return setenv("TMPDIR", dir.dir, 1);
}

static int teardown(void **state)
{
    (void)state;
    unsetenv("TMPDIR");
    scratch_close(&dir);
    return 0;
}

static uint8_t byte_at(size_t i)
{
    return (uint8_t)(i * 31 + i / 251);
}

/* A process that writes n bytes into a pipe; gives the other end. */
static int pipe_of(size_t n, pid_t *pid)
{
    int end[2];
    assert_int_equal(pipe(end), 0);
    *pid = fork();
    if (*pid == 0) {
        uint8_t b[4096];
        signal(SIGPIPE, SIG_DFL);
        memset(&hook, 0, sizeof hook);
        close(end[0]);
        for (size_t done = 0; done < n;) {
            size_t now = n - done < sizeof b ? n - done : sizeof b;
            for (size_t i = 0; i < now; i++)
                b[i] = byte_at(done + i);
            ssize_t put = write(end[1], b, now);
            if (put <= 0)
                _exit(1);
            done += (size_t)put;
        }
        _exit(0);
    }
    close(end[1]);
    return end[0];
}

static void check_bytes(cip_io *io, size_t n)
{
    uint8_t b[1000];
    assert_int_equal(io->size, n);
    for (size_t at = 0; at < n; at += sizeof b) {
        size_t now = n - at < sizeof b ? n - at : sizeof b;
        assert_int_equal(cip_io_read(io, at, b, now, NULL), CIP_OK);
        for (size_t i = 0; i < now; i++)
            if (b[i] != byte_at(at + i))
                fail_msg("byte %zu of %zu", at + i, n);
    }
}

static void init_env(cip_env *e, uint64_t max_memory)
{
    cip_limits limits = CIP_LIMITS_INIT;
    limits.max_memory = max_memory;
    assert_int_equal(cip_env_init(e, &limits, NULL, NULL, NULL), CIP_OK);
}

static size_t files_in_folder(void)
{
    size_t n = 0;
    DIR *d = opendir(dir.dir);
    assert_non_null(d);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 2; /* "." and ".." */
}

/* Spools n bytes with room for `room` in memory, and checks where they went. */
static void spools(size_t n, size_t room, const char *kind)
{
    cip_env env;
    cip_io *io, *member;
    cip_err err = CIP_ERR_INIT;
    pid_t pid;
    int status, fd = pipe_of(n, &pid);
    init_env(&env, 8 * (uint64_t)room - 1);
    assert_int_equal(cip_io_open_fd(&env, fd, "-", &io, &err), CIP_OK);
    close(fd);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    assert_string_equal(io->ops->name, kind);
    assert_int_equal(files_in_folder(), 0);
    assert_in_range(env.mem.used, 1, (kind[0] == 'm' ? n : 0) + 1000);
    check_bytes(io, n);
    assert_int_equal(cip_io_open_member(io, "x", 0, &member, NULL), CIP_ERR_UNSUPPORTED);
    assert_int_equal(cip_io_unchanged(io, NULL), CIP_OK);
    cip_io_close(io);
    assert_int_equal(env.mem.used, 0);
    cip_env_clear(&env);
}

static void a_short_pipe_stays_in_memory(void **state)
{
    (void)state;
    spools(0, 100000, "memory");
    spools(1, 100000, "memory");
    spools(99999, 100000, "memory");
    spools(1000000, 100 << 20, "memory");
    spools((16 << 20) - 1, (size_t)1 << 30, "memory");
}

static void a_long_pipe_goes_to_a_file_without_a_name(void **state)
{
    (void)state;
    spools(100000, 100000, "file");
    spools(100001, 100000, "file");
    spools(1000003, 1000, "file");
    spools(256 << 10, 1000, "file");
    spools(16 << 20, (size_t)1 << 30, "file");
}

static void short_and_interrupted_writes_go_on(void **state)
{
    (void)state;
    hook.interrupt = 3;
    hook.at_most = 999;
    spools(300000, 100000, "file");
    assert_int_equal(hook.interrupt, 0);
    hook.at_most = 0;
}

static void an_unwilling_pipe_is_waited_for(void **state)
{
    (void)state;
    cip_env env;
    cip_io *io;
    int end[2], status;
    init_env(&env, 0);
    assert_int_equal(pipe(end), 0);
    pid_t pid = fork();
    if (pid == 0) {
        usleep(50000);
        _exit(write(end[1], "slow", 4) != 4);
    }
    close(end[1]);
    assert_int_equal(fcntl(end[0], F_SETFL, O_NONBLOCK), 0);
    assert_int_equal(cip_io_open_fd(&env, end[0], "-", &io, NULL), CIP_OK);
    close(end[0]);
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(io->size, 4);
    cip_io_close(io);
    cip_env_clear(&env);
}

static void on_signal(int number)
{
    (void)number;
}

static void an_interrupted_pipe_goes_on(void **state)
{
    (void)state;
    cip_env env;
    cip_io *io;
    int end[2], status;
    struct sigaction act = { .sa_handler = on_signal }, was; /* without SA_RESTART */
    pid_t self = getpid();
    init_env(&env, 0);
    assert_int_equal(pipe(end), 0);
    sigaction(SIGUSR1, &act, &was);
    pid_t pid = fork();
    if (pid == 0) {
        usleep(50000);
        kill(self, SIGUSR1);
        usleep(50000);
        _exit(write(end[1], "late", 4) != 4);
    }
    close(end[1]);
    assert_int_equal(cip_io_open_fd(&env, end[0], "-", &io, NULL), CIP_OK);
    close(end[0]);
    waitpid(pid, &status, 0);
    sigaction(SIGUSR1, &was, NULL);
    assert_int_equal(io->size, 4);
    cip_io_close(io);
    cip_env_clear(&env);
}

static void a_pipe_that_cannot_be_read_is_an_error(void **state)
{
    (void)state;
    cip_env env;
    cip_io *io = (cip_io *)&env;
    cip_err err = CIP_ERR_INIT;
    int end[2];
    init_env(&env, 0);
    assert_int_equal(pipe(end), 0);
    assert_int_equal(cip_io_open_fd(&env, end[1], "-", &io, &err), CIP_ERR_IO);
    assert_null(io);
    assert_string_equal(err.text, "cannot read '-': Bad file descriptor");
    close(end[0]);
    close(end[1]);
    assert_int_equal(env.mem.used, 0);
    cip_env_clear(&env);
}

/* Spools n bytes in a child after `prepare`; gives the status, and the text in `text`. */
static int spool_in_child(size_t n, int (*prepare)(void), char text[256])
{
    int end[2], status;
    assert_int_equal(pipe(end), 0);
    pid_t child = fork();
    if (child == 0) {
        cip_env env;
        cip_io *io;
        cip_err err = CIP_ERR_INIT;
        pid_t pid;
        int fd = pipe_of(n, &pid);
        init_env(&env, 800000);
        if (!prepare())
            _exit(77);
        cip_status st = cip_io_open_fd(&env, fd, "-", &io, &err);
        if (st == CIP_OK)
            check_bytes(io, n);
        if (st == CIP_OK && files_in_folder() != 0)
            _exit(78);
        if (write(end[1], err.text, sizeof err.text) != sizeof err.text)
            _exit(79);
        _exit((int)st);
    }
    close(end[1]);
    if (read(end[0], text, 256) != 256)
        text[0] = '\0';
    close(end[0]);
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    SKIP_UNLESS(WEXITSTATUS(status) != 77, "no seccomp filters here");
    return WEXITSTATUS(status);
}

static int no_tmpfile(void)
{
    return seccomp_fail(SYS_openat, O_TMPFILE, EOPNOTSUPP);
}

static int no_folder(void)
{
    return setenv("TMPDIR", "/nonexistent/folder", 1) == 0;
}

static int relative_folder(void)
{
    return chdir("/") == 0 && setenv("TMPDIR", "nonexistent", 1) == 0;
}

static int endless_folder(void)
{
    enum {
        LENGTH = PATH_MAX - (int)sizeof "cippus-XXXXXX"
    }; /* with that and a NUL: one too many */
    char name[LENGTH + 1];
    memset(name, '/', LENGTH);
    name[LENGTH] = '\0';
    return setenv("TMPDIR", name, 1) == 0 && no_tmpfile();
}

static int no_variable(void)
{
    return unsetenv("TMPDIR") == 0;
}

static int little_room(void)
{
    struct rlimit room = { 300000, 300000 };
    signal(SIGXFSZ, SIG_IGN);
    return setrlimit(RLIMIT_FSIZE, &room) == 0;
}

static void a_file_system_without_unnamed_files_will_do(void **state)
{
    (void)state;
    char text[256];
    assert_int_equal(spool_in_child(500000, no_tmpfile, text), CIP_OK);
    assert_int_equal(files_in_folder(), 0);
}

static void the_temporary_folder_is_chosen_with_care(void **state)
{
    (void)state;
    char text[256];
    assert_int_equal(spool_in_child(500000, no_variable, text), CIP_OK);
    assert_int_equal(spool_in_child(500000, relative_folder, text), CIP_OK);
    assert_int_equal(spool_in_child(500000, no_folder, text), CIP_ERR_NOT_FOUND);
    assert_string_equal(text, "cannot make a temporary file in '/nonexistent/folder': "
                              "No such file or directory");
    assert_int_equal(spool_in_child(500000, endless_folder, text), CIP_ERR_ARG);
    assert_non_null(strstr(text, "TMPDIR is over "));
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    char text[256];
    assert_int_equal(spool_in_child(500000, little_room, text), CIP_ERR_IO);
    assert_string_equal(text, "cannot write 'a temporary file': File too large");
    assert_int_equal(spool_in_child(299999, little_room, text), CIP_OK);
}

static void each_failing_allocation_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    int before = open("/dev/null", O_RDONLY);
    close(before);
    for (size_t length = 1000; length <= 500000; length += 499000) {
        bool through = false;
        for (size_t n = 1; !through; n++) {
            fail_alloc f = { .fail_at = n };
            cip_allocator a = { fail_alloc_resize, &f };
            cip_limits limits = CIP_LIMITS_INIT;
            cip_env e;
            cip_io *io = NULL;
            pid_t pid;
            int fd = pipe_of(length, &pid);
            limits.max_memory = 800000;
            assert_int_equal(cip_env_init(&e, &limits, &a, NULL, NULL), CIP_OK);
            cip_status st = cip_io_open_fd(&e, fd, "-", &io, NULL);
            close(fd);
            waitpid(pid, NULL, 0);
            through = f.requests < n;
            assert_int_equal(st, through ? CIP_OK : CIP_ERR_NOMEM);
            cip_io_close(io);
            cip_env_clear(&e);
            assert_int_equal(f.held, 0);
            assert_true(n < 100);
        }
    }
    int after = open("/dev/null", O_RDONLY);
    assert_int_equal(after, before); /* the lowest free one again: none leaked */
    close(after);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_short_pipe_stays_in_memory),
        cmocka_unit_test(a_long_pipe_goes_to_a_file_without_a_name),
        cmocka_unit_test(short_and_interrupted_writes_go_on),
        cmocka_unit_test(an_unwilling_pipe_is_waited_for),
        cmocka_unit_test(an_interrupted_pipe_goes_on),
        cmocka_unit_test(a_pipe_that_cannot_be_read_is_an_error),
        cmocka_unit_test(a_file_system_without_unnamed_files_will_do),
        cmocka_unit_test(the_temporary_folder_is_chosen_with_care),
        cmocka_unit_test(a_full_disk_is_an_error),
        cmocka_unit_test(each_failing_allocation_is_reported_and_nothing_leaks),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
