/* SPDX-License-Identifier: BSD-3-Clause
 * Files by path and descriptor. pread and preadv are replaced here, so that short reads,
 * interruptions and failures can be had at will. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>

#include "io/io_impl.h"
#include "support/fail_alloc.h"
#include "support/temp_folder.h"

/* What the calls below do instead of just reading. */
static struct {
    size_t calls, vcalls; /* so far */
    size_t at_most;       /* bytes for each call; 0: all */
    int interrupt;        /* this many calls end with EINTR first */
    int fail_with;        /* errno, once `fail_after` calls went through */
    size_t fail_after;
    int interrupt_open; /* so many calls of open end with EINTR first */
    bool pretend;       /* touch nothing, just count */
    size_t largest;
} hook;

static bool hook_fails(void)
{
    if (hook.interrupt > 0) {
        hook.interrupt--;
        errno = EINTR;
        return true;
    }
    if (hook.fail_with != 0 && hook.calls + hook.vcalls > hook.fail_after) {
        errno = hook.fail_with;
        return true;
    }
    return false;
}

ssize_t pread(int fd, void *buf, size_t n, off_t off)
{
    hook.calls++;
    hook.largest = n > hook.largest ? n : hook.largest;
    if (hook_fails())
        return -1;
    if (hook.at_most != 0 && n > hook.at_most)
        n = hook.at_most;
    return hook.pretend ? (ssize_t)n : (ssize_t)syscall(SYS_pread64, fd, buf, n, off);
}

ssize_t preadv(int fd, const struct iovec *iov, int n, off_t off)
{
    size_t total = 0;
    hook.vcalls++;
    if (hook_fails())
        return -1;
    for (int i = 0; i < n; i++) {
        size_t want = iov[i].iov_len;
        if (hook.at_most != 0 && want > hook.at_most - total)
            want = hook.at_most - total;
        long got = syscall(SYS_pread64, fd, iov[i].iov_base, want, off + (off_t)total);
        if (got < 0)
            return -1;
        total += (size_t)got;
        if ((size_t)got != iov[i].iov_len)
            break;
    }
    return (ssize_t)total;
}

int open(const char *path, int flags, ...)
{
    va_list ap;
    va_start(ap, flags);
    mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    if (hook.interrupt_open > 0) {
        hook.interrupt_open--;
        errno = EINTR;
        return -1;
    }
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

static cip_env env;
static scratch dir;
static uint8_t data[5000];

static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * i / 7 + i);
    if (!scratch_open(&dir))
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

static int reset(void **state)
{
    (void)state;
    memset(&hook, 0, sizeof hook);
    return 0;
}

static cip_io *open_data(void)
{
    cip_io *io;
    const char *path = scratch_write(&dir, "data", data, sizeof data);
    assert_int_equal(cip_io_open_file(&env, path, &io, NULL), CIP_OK);
    return io;
}

static void a_file_is_read_at_positions(void **state)
{
    (void)state;
    uint8_t b[sizeof data];
    cip_io *io = open_data();
    assert_int_equal(io->size, sizeof data);
    assert_string_equal(io->ops->name, "file");
    assert_int_equal(cip_io_read(io, 0, b, sizeof data, NULL), CIP_OK);
    assert_memory_equal(b, data, sizeof data);
    assert_int_equal(cip_io_read(io, sizeof data - 1, b, 1, NULL), CIP_OK);
    assert_int_equal(b[0], data[sizeof data - 1]);
    assert_int_equal(cip_io_read(io, sizeof data - 1, b, 2, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(hook.calls, 2);
    assert_int_equal(hook.vcalls, 0);
    cip_io_close(io);
}

static void short_and_interrupted_reads_go_on(void **state)
{
    (void)state;
    uint8_t b[100] = { 0 };
    cip_io *io = open_data();
    hook.at_most = 7;
    hook.interrupt = 3;
    assert_int_equal(cip_io_read(io, 1000, b, sizeof b, NULL), CIP_OK);
    assert_memory_equal(b, data + 1000, sizeof b);
    assert_int_equal(hook.calls, 3 + 15);
    cip_io_close(io);
}

static void a_failing_read_names_file_place_and_reason(void **state)
{
    (void)state;
    uint8_t b[100];
    cip_err err = CIP_ERR_INIT;
    cip_io *io = open_data();
    hook.at_most = 10;
    hook.fail_with = EIO;
    hook.fail_after = 2;
    assert_int_equal(cip_io_read(io, 1000, b, sizeof b, &err), CIP_ERR_IO);
    assert_int_equal(err.offset, 1020);
    assert_non_null(strstr(err.text, "cannot read '"));
    assert_non_null(strstr(err.text, "/data': Input/output error"));
    cip_io_close(io);
}

static void a_large_read_is_cut_at_one_gibibyte(void **state)
{
    (void)state;
    const size_t gib = (size_t)1 << 30;
    const char *path = scratch_write(&dir, "sparse", "x", 1);
    cip_io *io;
    assert_int_equal(truncate(path, (off_t)(3 * gib)), 0);
    assert_int_equal(cip_io_open_file(&env, path, &io, NULL), CIP_OK);
    hook.pretend = true;
    assert_int_equal(cip_io_read(io, 0, data, 2 * gib + 1, NULL), CIP_OK);
    assert_int_equal(hook.calls, 3);
    assert_int_equal(hook.largest, gib);
    hook.calls = 0;
    assert_int_equal(cip_io_read(io, 0, data, gib, NULL), CIP_OK);
    assert_int_equal(hook.calls, 1);
    cip_io_close(io);
}

static void holes_of_a_sparse_file_are_passed_over(void **state)
{
    (void)state;
    const uint64_t mib = 1 << 20, end = 64 * mib;
    const char *path = scratch_write(&dir, "holes", "x", 1);
    cip_io *io, *part;
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "y", 1, (off_t)(32 * mib)), 1);
    assert_int_equal(ftruncate(fd, (off_t)end), 0);
    bool holes = lseek(fd, (off_t)(16 * mib), SEEK_DATA) > (off_t)(16 * mib);
    close(fd);
    assert_int_equal(cip_io_open_file(&env, path, &io, NULL), CIP_OK);
    assert_int_equal(cip_io_open_part(io, 8 * mib, end - 8 * mib, &part, NULL), CIP_OK);
    assert_int_equal(cip_io_next_data(io, 0), 0);
    assert_int_equal(cip_io_next_data(io, 32 * mib), 32 * mib);
    assert_int_equal(cip_io_next_data(io, end + 5), end + 5);
    if (holes) { /* the file system may have none */
        assert_int_equal(cip_io_next_data(io, 16 * mib), 32 * mib);
        assert_int_equal(cip_io_next_data(io, 48 * mib), end);
        assert_int_equal(cip_io_next_data(part, 8 * mib), 24 * mib);
        assert_int_equal(cip_io_next_data(part, 40 * mib), end - 8 * mib);
    }
    cip_io_close(part);
    cip_io_close(io);
    assert_int_equal(cip_io_open_memory(&env, "\0\0\0x", 4, "memory", &io, NULL), CIP_OK);
    assert_int_equal(cip_io_next_data(io, 1), 1); /* nothing is known of holes */
    cip_io_close(io);
}

static void positions_beyond_four_gibibytes_are_fine(void **state)
{
    (void)state;
    const uint64_t far = ((uint64_t)5 << 30) + 3;
    const char *path = scratch_write(&dir, "far", "x", 1);
    uint8_t b[3];
    cip_io *io;
    int fd = open(path, O_WRONLY);
    assert_int_equal(pwrite(fd, "end", 3, (off_t)far), 3);
    close(fd);
    assert_int_equal(cip_io_open_file(&env, path, &io, NULL), CIP_OK);
    assert_int_equal(io->size, far + 3);
    assert_int_equal(cip_io_read(io, far, b, 3, NULL), CIP_OK);
    assert_memory_equal(b, "end", 3);
    cip_io_close(io);
}

static void neighbours_are_read_by_one_call_and_others_by_one_each(void **state)
{
    (void)state;
    uint8_t b[60] = { 0 };
    cip_io *io = open_data();
    const cip_range r[] = { { 10, 10, b },      { 20, 5, b + 10 },   { 25, 5, b + 15 },
                            { 31, 4, b + 20 },  { 100, 10, b + 24 }, { 110, 20, b + 34 },
                            { 4999, 1, b + 54 } };
    assert_int_equal(cip_io_read_ranges(io, r, 7, NULL), CIP_OK);
    assert_memory_equal(b, data + 10, 20);
    assert_memory_equal(b + 20, data + 31, 4);
    assert_memory_equal(b + 24, data + 100, 30);
    assert_int_equal(b[54], data[4999]);
    assert_int_equal(b[55], 0);
    assert_int_equal(hook.vcalls, 2);
    assert_int_equal(hook.calls, 2);
    cip_io_close(io);
}

static void many_neighbours_are_read_in_groups(void **state)
{
    (void)state;
    uint8_t b[300];
    cip_range r[300];
    cip_io *io = open_data();
    for (size_t i = 0; i < 300; i++)
        r[i] = (cip_range){ 7 + i, 1, b + i };
    for (size_t n = 1; n <= 300; n++) {
        memset(b, 0, sizeof b);
        hook.calls = hook.vcalls = 0;
        assert_int_equal(cip_io_read_ranges(io, r, n, NULL), CIP_OK);
        assert_memory_equal(b, data + 7, n);
        assert_int_equal(hook.vcalls, n / 64 + (n % 64 > 1));
        assert_int_equal(hook.calls, n % 64 == 1);
    }
    cip_io_close(io);
}

static void what_a_group_leaves_is_read_range_by_range(void **state)
{
    (void)state;
    uint8_t b[30];
    cip_io *io = open_data();
    const cip_range r[] = { { 10, 10, b }, { 20, 10, b + 10 }, { 30, 10, b + 20 } };
    for (size_t most = 1; most < 40; most++) {
        memset(b, 0, sizeof b);
        memset(&hook, 0, sizeof hook);
        hook.at_most = most;
        hook.interrupt = most == 39;
        assert_int_equal(cip_io_read_ranges(io, r, 3, NULL), CIP_OK);
        assert_memory_equal(b, data + 10, 30);
        if (most == 10)
            assert_int_equal(hook.calls, 2);
        if (most >= 30 && most < 39)
            assert_int_equal(hook.calls, 0);
    }
    memset(&hook, 0, sizeof hook);
    hook.fail_with = EIO;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_io_read_ranges(io, r, 3, &err), CIP_ERR_IO);
    assert_int_equal(err.offset, 10);
    cip_io_close(io);
}

static void an_interrupted_opening_goes_on(void **state)
{
    (void)state;
    cip_io *io;
    const char *path = scratch_write(&dir, "data", data, sizeof data);
    hook.interrupt_open = 2;
    assert_int_equal(cip_io_open_file(&env, path, &io, NULL), CIP_OK);
    assert_int_equal(hook.interrupt_open, 0);
    cip_io_close(io);
    errno = EINTR; /* is looked at after a failure only */
    assert_int_equal(cip_io_open_file(&env, path, &io, NULL), CIP_OK);
    cip_io_close(io);
    hook.interrupt_open = 0;
}

static void a_file_cut_short_since_is_busy_and_not_a_lie(void **state)
{
    (void)state;
    uint8_t b[100];
    cip_err err = CIP_ERR_INIT;
    const uint8_t *p = NULL;
    cip_io *io = open_data();
    assert_int_equal(truncate(scratch_path(&dir, "data"), 1050), 0);
    alarm(20);
    hook.interrupt = 1; /* leaves EINTR in errno, which the end of the file must not look at */
    assert_int_equal(cip_io_read(io, 950, b, 100, NULL), CIP_OK);
    assert_int_equal(cip_io_read(io, 1000, b, 100, &err), CIP_ERR_BUSY);
    assert_int_equal(err.offset, 1050);
    assert_string_equal(err.text, "file changed since open: expected 50 more bytes, found its end");
    assert_int_equal(cip_io_unchanged(io, &err), CIP_ERR_BUSY);
    assert_string_equal(err.text, "file changed since open: expected 5000 bytes, found 1050");
    assert_int_equal(cip_io_map(io, &p, &err), CIP_ERR_BUSY);
    assert_null(p);
    alarm(0);
    cip_io_close(io);
}

static void a_file_written_to_since_is_noticed(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    cip_io *io = open_data(), *part;
    struct stat st;
    const char *path = scratch_path(&dir, "data");
    assert_int_equal(cip_io_open_part(io, 10, 10, &part, NULL), CIP_OK);
    assert_int_equal(cip_io_unchanged(io, &err), CIP_OK);
    assert_int_equal(cip_io_unchanged(part, &err), CIP_OK);
    assert_int_equal(stat(path, &st), 0);
    struct timespec t[2] = { st.st_atim, st.st_mtim };
    t[1].tv_nsec = (t[1].tv_nsec + 1) % 1000000000;
    assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
    assert_int_equal(cip_io_unchanged(io, &err), CIP_ERR_BUSY);
    assert_string_equal(err.text, "file changed since open: it was written to");
    assert_int_equal(cip_io_unchanged(part, NULL), CIP_ERR_BUSY);
    t[1] = st.st_mtim;
    t[1].tv_sec += 1;
    assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
    assert_int_equal(cip_io_unchanged(io, &err), CIP_ERR_BUSY);
    t[1] = st.st_mtim;
    assert_int_equal(utimensat(AT_FDCWD, path, t, 0), 0);
    assert_int_equal(cip_io_unchanged(io, &err), CIP_OK);
    cip_io_close(part);
    cip_io_close(io);
}

static void a_mapping_shows_the_file_and_is_made_once(void **state)
{
    (void)state;
    const uint8_t *p, *q;
    cip_io *io = open_data(), *part;
    assert_int_equal(cip_io_map(io, &p, NULL), CIP_OK);
    assert_memory_equal(p, data, sizeof data);
    assert_int_equal(cip_io_map(io, &q, NULL), CIP_OK);
    assert_ptr_equal(p, q);
    assert_int_equal(cip_io_open_part(io, 4999, 1, &part, NULL), CIP_OK);
    assert_int_equal(cip_io_map(part, &q, NULL), CIP_OK);
    assert_ptr_equal(q, p + 4999);
    cip_io_close(part);
    unsigned char resident[8];
    assert_int_equal(mincore((void *)p, sizeof data, resident), 0);
    cip_io_close(io);
    assert_int_equal(mincore((void *)p, sizeof data, resident), -1); /* it lives until close */
    assert_int_equal(hook.calls, 0);
}

static void reads_of_a_mapped_file_are_copies(void **state)
{
    (void)state;
    uint8_t b[60] = { 0 };
    cip_io *io = open_data(), *member, *memory;
    const cip_range r[] = { { 10, 10, b }, { 20, 5, b + 10 }, { 4990, 10, b + 15 } };
    cip_io_read_mapped(io);
    assert_int_equal(cip_io_read_ranges(io, r, 3, NULL), CIP_OK);
    assert_memory_equal(b, data + 10, 15);
    assert_memory_equal(b + 15, data + 4990, 10);
    assert_int_equal(cip_io_read(io, 4999, b, 2, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(cip_io_open_member(io, "data", 0, &member, NULL), CIP_OK);
    assert_int_equal(cip_io_read(member, 7, b, 60, NULL), CIP_OK);
    assert_memory_equal(b, data + 7, 60);
    assert_int_equal(hook.calls + hook.vcalls, 0);
    cip_io_close(member);
    cip_io_close(io);
    assert_int_equal(cip_io_open_memory(&env, "x", 1, "m", &memory, NULL), CIP_OK);
    cip_io_read_mapped(memory);
    assert_int_equal(cip_io_read(memory, 0, b, 1, NULL), CIP_OK);
    cip_io_close(memory);
}

static void an_empty_file_reads_and_maps_as_nothing(void **state)
{
    (void)state;
    const uint8_t *p = NULL;
    cip_io *io;
    assert_int_equal(cip_io_open_file(&env, scratch_write(&dir, "empty", "", 0), &io, NULL),
                     CIP_OK);
    assert_int_equal(io->size, 0);
    assert_int_equal(cip_io_read(io, 0, data, 1, NULL), CIP_ERR_TRUNCATED);
    assert_int_equal(cip_io_map(io, &p, NULL), CIP_OK);
    assert_non_null(p);
    cip_io_read_mapped(io);
    assert_int_equal(cip_io_read(io, 0, data, 0, NULL), CIP_OK);
    cip_io_close(io);
}

static void what_cannot_be_mapped_says_so(void **state)
{
    (void)state;
    const uint8_t *p = NULL;
    cip_io *io;
    cip_err err = CIP_ERR_INIT;
    int fd = open(scratch_write(&dir, "data", data, sizeof data), O_WRONLY);
    assert_int_equal(cip_io_open_fd(&env, fd, "wo", &io, NULL), CIP_OK);
    close(fd);
    assert_int_equal(cip_io_map(io, &p, &err), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "cannot map 'wo'"));
    cip_io_read_mapped(io);
    assert_int_equal(cip_io_read(io, 0, data, 1, &err), CIP_ERR_IO);
    cip_io_close(io);
}

static void opening_fails(const char *path, cip_status st, const char *text)
{
    cip_io *io = (cip_io *)&env;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_io_open_file(&env, path, &io, &err), st);
    assert_null(io);
    if (strstr(err.text, text) == NULL)
        fail_msg("'%s' does not say '%s'", err.text, text);
}

static void what_is_no_file_is_named_and_hangs_nothing(void **state)
{
    (void)state;
    char path[600];
    snprintf(path, sizeof path, "%s/fifo", dir.dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(20);
    opening_fails(path, CIP_ERR_UNSUPPORTED, "/fifo' is a FIFO, not a file");
    alarm(0);
    opening_fails(dir.dir, CIP_ERR_UNSUPPORTED, "is a directory, not a file");
    opening_fails("/dev/zero", CIP_ERR_UNSUPPORTED,
                  "'/dev/zero' is a character device, not a file");
    struct sockaddr_un addr = { .sun_family = AF_UNIX };
    snprintf(addr.sun_path, sizeof addr.sun_path, "%.90s/sock", dir.dir);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(s, (struct sockaddr *)&addr, sizeof addr), 0);
    opening_fails(addr.sun_path, CIP_ERR_UNSUPPORTED, "is a socket or an absent device");
    close(s);
}

static void a_missing_or_forbidden_file_says_so(void **state)
{
    (void)state;
    opening_fails(scratch_path(&dir, "nope"), CIP_ERR_NOT_FOUND, "No such file");
    opening_fails("", CIP_ERR_NOT_FOUND, "cannot open ''");
    opening_fails("https://example.org/a.asdf", CIP_ERR_UNSUPPORTED,
                  "a URL can be read, but not written to");
    opening_fails("ftp://example.org/a.asdf", CIP_ERR_UNSUPPORTED, "found another URL");
    scratch_write(&dir, "data", data, 1);
    opening_fails(scratch_path(&dir, "data/x"), CIP_ERR_NOT_FOUND, "Not a directory");
    const char *path = scratch_path(&dir, "data");
    assert_int_equal(chmod(path, 0), 0);
    assert_int_equal(chmod(dir.dir, 0755), 0);
    bool root = geteuid() == 0;
    if (root)
        assert_int_equal(seteuid(65534), 0);
    opening_fails(path, CIP_ERR_IO, "Permission denied");
    if (root)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(unlink(path), 0);
}

static void no_descriptor_is_left_open(void **state)
{
    (void)state;
    struct rlimit was, few;
    cip_io *io;
    const char *file = scratch_write(&dir, "data", data, sizeof data);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    few = was;
    few.rlim_cur = 40;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (int i = 0; i < 50; i++) {
        opening_fails(dir.dir, CIP_ERR_UNSUPPORTED, "directory");
        assert_int_equal(cip_io_open_file(&env, file, &io, NULL), CIP_OK);
        cip_io *member = NULL;
        assert_int_equal(cip_io_open_member(io, "data", 0, &member, NULL), CIP_OK);
        cip_io_close(io);
        cip_io_close(member);
    }
    cip_io *all[40] = { NULL };
    cip_status st = CIP_OK;
    size_t n = 0;
    while (st == CIP_OK && n < 40)
        st = cip_io_open_file(&env, file, &all[n++], NULL);
    assert_int_equal(st, CIP_ERR_IO); /* none is left, and that is an error like others */
    for (size_t i = 0; i < n; i++)
        cip_io_close(all[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
}

static void descriptors_are_not_inherited(void **state)
{
    (void)state;
    cip_io *io = open_data(), *copy, *member;
    int before = open("/dev/null", O_RDONLY); /* the lowest free one tells how many there are */
    int fd = open(scratch_path(&dir, "data"), O_RDONLY);
    assert_int_equal(cip_io_open_fd(&env, fd, "fd", &copy, NULL), CIP_OK);
    close(fd);
    assert_int_equal(cip_io_open_member(io, "data", 0, &member, NULL), CIP_OK);
    int after = open("/dev/null", O_RDONLY);
    for (int i = 3; i < after + 4; i++) {
        int flags = fcntl(i, F_GETFD);
        struct stat st;
        if (i != before && i != after && flags >= 0 && fstat(i, &st) == 0 &&
            st.st_size == sizeof data)
            assert_int_equal(flags & FD_CLOEXEC, FD_CLOEXEC);
    }
    close(before);
    close(after);
    cip_io_close(member);
    cip_io_close(copy);
    cip_io_close(io);
}

static void descriptor_zero_is_like_any_other(void **state)
{
    (void)state;
    uint8_t b;
    cip_io *io, *member;
    int kept = dup(0);
    const char *path = scratch_write(&dir, "data", data, sizeof data);
    close(0);
    assert_int_equal(cip_io_open_file(&env, path, &io, NULL), CIP_OK); /* has it */
    assert_int_equal(fcntl(0, F_GETFD), FD_CLOEXEC);
    assert_int_equal(cip_io_read(io, 0, &b, 1, NULL), CIP_OK);
    cip_io_close(io);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    int other = open("/dev/null", O_RDONLY);
    assert_int_equal(other, 0);
    assert_int_equal(cip_io_open_file(&env, path, &io, NULL), CIP_OK);
    close(other);
    assert_int_equal(cip_io_open_member(io, "data", 0, &member, NULL), CIP_OK); /* its folder */
    cip_io_close(member);
    assert_int_equal(cip_io_open_member(io, "data", 0, &member, NULL), CIP_OK);
    cip_io_close(member);
    cip_io_close(io);
    assert_int_equal(fcntl(0, F_GETFD), -1);
    assert_int_equal(dup2(kept, 0), 0);
    close(kept);
}

static void a_descriptor_of_a_file_is_read_in_place(void **state)
{
    (void)state;
    uint8_t b[8];
    cip_io *io, *member = NULL;
    cip_err err = CIP_ERR_INIT;
    int fd = open(scratch_write(&dir, "data", data, sizeof data), O_RDONLY);
    assert_int_equal(lseek(fd, 100, SEEK_SET), 100);
    assert_int_equal(cip_io_open_fd(&env, fd, "-", &io, NULL), CIP_OK);
    assert_string_equal(io->ops->name, "file");
    assert_int_equal(close(fd), 0);
    assert_int_equal(io->size, sizeof data);
    assert_int_equal(cip_io_read(io, 0, b, 8, NULL), CIP_OK);
    assert_memory_equal(b, data, 8);
    assert_int_equal(cip_io_open_member(io, "data", 0, &member, &err), CIP_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "'data' cannot be opened: '-' has no folder of its own");
    cip_io_close(io);
}

static void a_bad_descriptor_is_an_error(void **state)
{
    (void)state;
    cip_io *io = (cip_io *)&env;
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(cip_io_open_fd(&env, -1, "-", &io, &err), CIP_ERR_IO);
    assert_null(io);
    assert_string_equal(err.text, "cannot stat '-': Bad file descriptor");
    int fd = open(dir.dir, O_RDONLY);
    assert_int_equal(cip_io_open_fd(&env, fd, "-", &io, &err), CIP_ERR_UNSUPPORTED);
    assert_string_equal(err.text, "'-' is a directory, not a file");
    close(fd);
    struct rlimit was, few;
    fd = open(scratch_write(&dir, "data", data, sizeof data), O_RDONLY);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
    few = was;
    few.rlim_cur = 3;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    cip_status st = cip_io_open_fd(&env, fd, "-", &io, &err);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
    assert_int_equal(st, CIP_ERR_IO);
    assert_null(io);
    assert_non_null(strstr(err.text, "cannot duplicate the descriptor of '-'"));
    close(fd);
}

static void each_failing_allocation_is_reported_and_nothing_leaks(void **state)
{
    (void)state;
    bool through = false;
    const char *path = scratch_write(&dir, "data", data, sizeof data);
    for (size_t n = 1; !through; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_env e;
        cip_io *io = NULL, *member = NULL, *outside = NULL;
        cip_status st;
        assert_int_equal(cip_env_init(&e, NULL, &a, NULL, NULL), CIP_OK);
        CIP_GO(cip_io_open_file(&e, path, &io, NULL));
        CIP_GO(cip_io_open_member(io, "data", 0, &member, NULL));
        CIP_GO(cip_io_open_member(io, "data", CIP_IO_EXTERNAL, &outside, NULL));
    done:
        through = f.requests < n;
        assert_int_equal(st, through ? CIP_OK : CIP_ERR_NOMEM);
        cip_io_close(member);
        cip_io_close(outside);
        cip_io_close(io);
        cip_env_clear(&e);
        assert_int_equal(f.held, 0);
        assert_true(n < 100);
    }
}

static void stat_is_for_files_only(void **state)
{
    (void)state;
    struct stat st = { 0 }, real;
    cip_io *io = open_data(), *memory;
    assert_int_equal(stat(scratch_path(&dir, "data"), &real), 0);
    assert_true(cip_io_stat(io, &st));
    assert_int_equal(st.st_ino, real.st_ino);
    cip_io_close(io);
    int fd = open(scratch_path(&dir, "data"), O_RDONLY);
    assert_int_equal(cip_io_open_fd(&env, fd, "-", &io, NULL), CIP_OK);
    assert_true(cip_io_stat(io, &st));
    close(fd);
    cip_io_close(io);
    assert_int_equal(cip_io_open_memory(&env, "x", 1, "m", &memory, NULL), CIP_OK);
    assert_false(cip_io_stat(memory, &st));
    cip_io_close(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_file_is_read_at_positions, reset),
        cmocka_unit_test_setup(short_and_interrupted_reads_go_on, reset),
        cmocka_unit_test_setup(a_failing_read_names_file_place_and_reason, reset),
        cmocka_unit_test_setup(a_large_read_is_cut_at_one_gibibyte, reset),
        cmocka_unit_test_setup(holes_of_a_sparse_file_are_passed_over, reset),
        cmocka_unit_test_setup(positions_beyond_four_gibibytes_are_fine, reset),
        cmocka_unit_test_setup(neighbours_are_read_by_one_call_and_others_by_one_each, reset),
        cmocka_unit_test_setup(many_neighbours_are_read_in_groups, reset),
        cmocka_unit_test_setup(what_a_group_leaves_is_read_range_by_range, reset),
        cmocka_unit_test_setup(an_interrupted_opening_goes_on, reset),
        cmocka_unit_test_setup(a_file_cut_short_since_is_busy_and_not_a_lie, reset),
        cmocka_unit_test_setup(a_file_written_to_since_is_noticed, reset),
        cmocka_unit_test_setup(a_mapping_shows_the_file_and_is_made_once, reset),
        cmocka_unit_test_setup(reads_of_a_mapped_file_are_copies, reset),
        cmocka_unit_test_setup(an_empty_file_reads_and_maps_as_nothing, reset),
        cmocka_unit_test_setup(what_cannot_be_mapped_says_so, reset),
        cmocka_unit_test_setup(what_is_no_file_is_named_and_hangs_nothing, reset),
        cmocka_unit_test_setup(a_missing_or_forbidden_file_says_so, reset),
        cmocka_unit_test_setup(no_descriptor_is_left_open, reset),
        cmocka_unit_test_setup(descriptors_are_not_inherited, reset),
        cmocka_unit_test_setup(descriptor_zero_is_like_any_other, reset),
        cmocka_unit_test_setup(a_descriptor_of_a_file_is_read_in_place, reset),
        cmocka_unit_test_setup(a_bad_descriptor_is_an_error, reset),
        cmocka_unit_test_setup(each_failing_allocation_is_reported_and_nothing_leaks, reset),
        cmocka_unit_test_setup(stat_is_for_files_only, reset),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
