/* SPDX-License-Identifier: BSD-3-Clause
 * Commits: which way a revision goes, what the file is afterwards, who is kept out meanwhile, and
 * what an interrupted one left. Crashes are tests/fault's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <sys/xattr.h>

#include "core/writing/output.h"

#include "support/core/commit/commit_testing.h"
#include "support/fail_alloc.h"
#include "support/needs.h"

static void add_old(cip_revision *r, uint64_t off, uint64_t len)
{
    cip_segment s = { .io = (cip_io *)1, .off = off, .len = len };
    cip_segment *list;
    assert_int_equal(CIP_ARENA_NEW(&r->patch.arena, &list, 32, NULL), CIP_OK);
    if (r->nsegment != 0)
        memcpy(list, r->segment, r->nsegment * sizeof *list);
    list[r->nsegment++] = s;
    r->segment = list;
    r->segment_cap = 32;
    r->tail_len += len;
}

static void each_way(cip_level level)
{
    static uint8_t want[4 * N];
    size_t n;
    cip_revision r = new_revision();
    run(&r, "would change nothing", want, &n, level);
    change(&r, 512, "abc");
    change(&r, 1021, "def");
    run(&r, "would change 512 bytes in place, at byte 512; the file stays 4096 bytes long", want,
        &n, level);
    change(&r, 1024, "g");
    run(&r, "would change 7 bytes in 2 places; the file stays 4096 bytes long", want, &n, level);
    cip_revision_clear(&r);
    change(&r, 512, "abc");
    r.has_tail = true;
    r.tail_off = 4000;
    add_old(&r, 4000, 96);
    assert_int_equal(cip_revision_bytes(&r, "new", 3, NULL), CIP_OK);
    assert_int_equal(cip_revision_fill(&r, 0, 100, NULL), CIP_OK);
    assert_int_equal(cip_revision_fill(&r, 9, 100, NULL), CIP_OK);
    add_old(&r, 10, 500);
    run(&r,
        "would append 703 bytes and change 3 bytes in place, at byte 512; the file becomes 4799 "
        "bytes long",
        want, &n, level);
    assert_int_equal(n, N + 703);
    change(&r, 2000, "abc");
    run(&r,
        "would append 703 bytes and change 6 bytes in 2 places; the file becomes 4799 bytes long",
        want, &n, level);
    r.patch.n = 0;
    run(&r, "would append 703 bytes; the file becomes 4799 bytes long", want, &n, level);
    cip_revision_clear(&r);
    r.has_tail = true;
    r.tail_off = 100;
    run(&r, "would cut the file to 100 bytes", want, &n, level);
    change(&r, 3, "abc");
    run(&r, "would change 3 bytes in place; the file becomes 100 bytes long", want, &n, level);
    cip_revision_clear(&r);
    change(&r, N - 1, "abc"); /* without a tail */
    run(&r,
        "would append 2 bytes and change 1 byte in place, at byte 4095; the file becomes 4098 "
        "bytes long",
        want, &n, level);
    cip_revision_clear(&r);
    cip_patch_op length = { .kind = CIP_PATCH_LENGTH, .offset = N - 20 };
    assert_int_equal(cip_patch_add(&r.patch, &length, NULL), CIP_OK);
    length.offset = N; /* cut, and then zeros */
    assert_int_equal(cip_patch_add(&r.patch, &length, NULL), CIP_OK);
    run(&r, "would change 20 bytes in place, at byte 4076; the file stays 4096 bytes long", want,
        &n, level);
    cip_revision_clear(&r);
    r.has_tail = true;
    r.tail_off = 600; /* moved up by a byte: all of it changes */
    assert_int_equal(cip_revision_bytes(&r, "!", 1, NULL), CIP_OK);
    add_old(&r, 600, N - 600);
    run(&r, "would append 1 byte and change 3496 bytes in place; the file becomes 4097 bytes long",
        want, &n, level);
    cip_revision_clear(&r);
    r.anew = true;
    add_old(&r, 100, 900);
    assert_int_equal(cip_revision_bytes(&r, "new", 3, NULL), CIP_OK);
    run(&r, "would replace the file by a new one of 903 bytes", want, &n, level);
    cip_revision_clear(&r);
    r.anew = true;
    add_old(&r, 0, N);
    run(&r, "would change nothing", want, &n, level);
    cip_revision_clear(&r);
}

static void each_way_makes_the_file_what_the_revision_says(void **state)
{
    (void)state;
    each_way(CIP_LEVEL_POWER);
    each_way(CIP_LEVEL_PROCESS);
}

static void only_a_replacement_makes_another_file(void **state)
{
    (void)state;
    static uint8_t want[4 * N];
    size_t n;
    cip_revision r = new_revision();
    run(&r, "would change nothing", want, &n, CIP_LEVEL_POWER);
    ino_t was = inode();
    cip_commit *c = begin(NULL);
    change(&r, 5, "abc");
    change(&r, 2005, "abc");
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_OK);
    cip_commit_end(c);
    assert_int_equal(inode(), was);
    cip_revision_clear(&r);
    c = begin(NULL);
    r.anew = true;
    assert_int_equal(cip_revision_bytes(&r, "new", 3, NULL), CIP_OK);
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_OK);
    cip_commit_end(c);
    assert_int_not_equal(inode(), was);
    assert_file("new", 3);
    cip_revision_clear(&r);
}

/* Memory for a journal of 100 bytes less than the change needs. */
static void a_change_too_large_for_a_journal_replaces(void **state)
{
    (void)state;
    cip_limits limits = { .size = sizeof limits, .max_memory = 4 * (4096 + 6000) };
    cip_env small;
    cip_commit *c;
    cip_io *waits;
    char text[256], many[3000];
    memset(many, 'x', 3000);
    assert_int_equal(cip_env_init(&small, &limits, NULL, NULL, NULL), CIP_OK);
    small.mem.limit = UINT64_MAX;
    write_old();
    assert_int_equal(cip_commit_begin(&small, path(), NULL, &c, NULL), CIP_OK);
    cip_revision r = new_revision();
    assert_int_equal(cip_io_open_memory(&small, many, sizeof many, "waits", &waits, NULL), CIP_OK);
    change(&r, 10, "xxx");
    assert_int_equal(cip_patch_range(&r.patch, 13, waits, 3, 2997, NULL), CIP_OK);
    assert_int_equal(cip_commit_kind(c, &r, text, sizeof text, NULL), CIP_OK);
    assert_string_equal(text, "would replace the file by a new one of 4096 bytes");
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_OK);
    cip_commit_end(c);
    uint8_t want[N];
    memcpy(want, old, N);
    memset(want + 10, 'x', 3000);
    assert_file(want, N);
    assert_nothing_beside();
    cip_revision_clear(&r);
    cip_io_close(waits);
    cip_env_clear(&small);
}

static void an_append_names_bytes_that_stay(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 2, 1000, 1024, N };
    static const size_t named[] = { 0, 0, 1, 500, 512, 512 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        cip_commit_plan p;
        cip_revision r = new_revision();
        scratch_write(&dir, "a.bin", old, sizes[i]);
        cip_commit *c = begin(NULL);
        r.has_tail = true;
        r.tail_off = sizes[i];
        assert_int_equal(cip_revision_fill(&r, 1, 3, NULL), CIP_OK);
        assert_int_equal(cip_commit_plan_make(c, &r, &p, NULL), CIP_OK);
        assert_int_equal(p.way, CIP_WAY_APPEND);
        assert_int_equal(p.patch.n, named[i] != 0 ? 3 : 1);
        for (size_t k = 0; k + 1 < p.patch.n; k++) {
            const cip_patch_op *op = &p.patch.op[k];
            assert_int_equal(op->offset, k == 0 ? 0 : sizes[i] - named[i]);
            assert_int_equal(op->after.len, named[i]);
            assert_memory_equal(op->before.ptr, old + op->offset, named[i]);
            assert_memory_equal(op->after.ptr, old + op->offset, named[i]);
        }
        cip_commit_plan_clear(&p);
        cip_commit_end(c);
        cip_revision_clear(&r);
    }
}

static void one_writer_at_a_time(void **state)
{
    (void)state;
    cip_commit *two;
    cip_err err = CIP_ERR_INIT;
    write_old();
    cip_commit *one = begin(NULL);
    assert_int_equal(cip_commit_begin(&env, path(), NULL, &two, &err), CIP_ERR_BUSY);
    assert_null(two);
    assert_string_equal(err.text, "another writer is updating the file");
    cip_commit_end(one);
    cip_commit_end(begin(NULL));
    cip_commit_end(NULL);
}

static cip_status apply_below(uint64_t head, uint64_t off, const char *text, uint64_t more)
{
    cip_revision r = new_revision();
    r.head = head;
    cip_commit *c = begin(NULL);
    if (more != 0) {
        r.has_tail = true;
        r.tail_off = cip_commit_io(c)->size;
        assert_int_equal(cip_revision_fill(&r, 1, more, NULL), CIP_OK);
    }
    if (text != NULL)
        change(&r, off, text);
    cip_status st = cip_commit_apply(c, &r, NULL);
    cip_commit_end(c);
    cip_revision_clear(&r);
    assert_nothing_beside();
    return st;
}

static cip_status apply_at(uint64_t off, const char *text, uint64_t more)
{
    return apply_below(0, off, text, more);
}

static bool is_alone(void)
{
    cip_commit *c = begin(CIP_CHANGE_OPTIONS(.level = CIP_LEVEL_PROCESS));
    const bool is = cip_commit_is_alone(c) && cip_commit_is_alone(c);
    cip_commit_end(c);
    return is;
}

static void readers_keep_out_only_what_writes_over_bytes(void **state)
{
    (void)state;
    cip_io *reader;
    write_old();
    assert_true(is_alone());
    assert_int_equal(cip_io_open_file(&env, path(), &reader, NULL), CIP_OK);
    assert_int_equal(cip_io_lock(reader, NULL), CIP_OK);
    assert_false(is_alone());
    assert_int_equal(apply_at(600, "abc", 0), CIP_ERR_BUSY);    /* a switch of data */
    assert_int_equal(apply_at(600, "def", 1000), CIP_ERR_BUSY); /* another */
    assert_int_equal(apply_below(602, 600, "abc", 0), CIP_ERR_BUSY);
    assert_file(old, N);
    assert_int_equal(apply_below(603, 600, "abc", 0), CIP_OK); /* that nobody reads again */
    assert_int_equal(apply_below(603, 600, "def", 1000), CIP_OK);
    assert_int_equal(apply_at(0, NULL, 1000), CIP_OK); /* an append */
    assert_int_equal(apply_at(510, "abcd", 0), CIP_ERR_BUSY);
    assert_int_equal(apply_at(510, "abcd", 10), CIP_ERR_BUSY);
    cip_io_unlock(reader);
    assert_int_equal(apply_at(510, "abcd", 10), CIP_OK);
    assert_int_equal(cip_io_lock(reader, NULL), CIP_OK);
    cip_io_close(reader);
    assert_int_equal(apply_at(510, "efgh", 0), CIP_OK);
    assert_int_equal(apply_at(600, "ghi", 0), CIP_OK);
    assert_int_equal(apply_at(600, "jkl", 1000), CIP_OK);
}

static void an_open_file_is_kept_from_being_written_over(void **state)
{
    (void)state;
    static const char text[] = "#ASDF 1.0.0\n%YAML 1.1\n---\n{a: 1}\n...\n";
    cip_file *f;
    cip_err err = CIP_ERR_INIT;
    const char *x = scratch_write(&dir, "x.asdf", text, sizeof text - 1);
    int fd = open(x, O_RDWR);
    assert_int_equal(cip_open(x, NULL, &f, &err), CIP_OK);
    assert_int_equal(cip_store_lock(fd, CIP_LOCK_READERS, false), CIP_LOCK_TAKEN);
    cip_file_close(f);
    assert_int_equal(cip_store_lock(fd, CIP_LOCK_READERS, false), CIP_LOCK_HELD);
    assert_int_equal(cip_open(x, NULL, &f, &err), CIP_ERR_BUSY); /* after a while */
    assert_null(f);
    assert_string_equal(err.text, "the file is being updated in place");
    close(fd);
    err = (cip_err)CIP_ERR_INIT;
    assert_int_equal(cip_open(x, NULL, &f, &err), CIP_OK);
    assert_int_equal(err.code, CIP_OK);
    cip_file_close(f);
}

static void a_file_changed_by_others_is_left_alone(void **state)
{
    (void)state;
    cip_revision r = new_revision();
    write_old();
    cip_commit *c = begin(NULL);
    scratch_write(&dir, "a.bin", old, N - 1);
    change(&r, 3, "abc");
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_ERR_BUSY);
    assert_file(old, N - 1);
    cip_commit_end(c);
    cip_revision_clear(&r);
}

static void rows_are_added_at_once(void **state)
{
    (void)state;
    uint8_t want[N + 6];
    memcpy(want, old, N);
    memcpy(want + N, "abcdef", 6);
    write_old();
    cip_commit *c = begin(NULL);
    assert_int_equal(cip_commit_append(c, "abc", 3, NULL), CIP_OK);
    assert_file(want, N + 3);
    assert_int_equal(cip_commit_append(c, "def", 3, NULL), CIP_OK);
    assert_int_equal(cip_commit_sync(c, NULL), CIP_OK);
    assert_file(want, N + 6);
    cip_commit_end(c);
    assert_nothing_beside();
}

static void hard_links_part_only_when_told(void **state)
{
    (void)state;
    cip_err err = CIP_ERR_INIT;
    write_old();
    unlink(scratch_path(&dir, "b.bin"));
    char a[512];
    snprintf(a, sizeof a, "%s", path());
    assert_int_equal(link(a, scratch_path(&dir, "b.bin")), 0);
    assert_int_equal(apply_at(510, "abcd", 10), CIP_OK);
    cip_revision r = new_revision();
    r.anew = true;
    assert_int_equal(cip_revision_bytes(&r, "new", 3, NULL), CIP_OK);
    cip_commit *c = begin(NULL);
    assert_int_equal(cip_commit_apply(c, &r, &err), CIP_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "2 names"));
    cip_commit_end(c);
    assert_nothing_beside();
    c = begin(CIP_CHANGE_OPTIONS(.break_links = true));
    assert_int_equal(cip_commit_apply(c, &r, &err), CIP_OK);
    cip_commit_end(c);
    assert_file("new", 3);
    unlink(scratch_path(&dir, "b.bin"));
    cip_revision_clear(&r);
}

/* Whatever writes a record beside the file. */
static void names_in_other_folders_are_not_left_to_a_record(void **state)
{
    (void)state;
    char a[512], b[512];
    cip_err err = CIP_ERR_INIT;
    cip_revision r = new_revision();
    write_old();
    snprintf(a, sizeof a, "%s", path());
    mkdir(scratch_path(&dir, "far"), 0755);
    snprintf(b, sizeof b, "%s", scratch_path(&dir, "far/b.bin"));
    assert_int_equal(link(a, b), 0);
    assert_int_equal(apply_at(600, "abc", 0), CIP_OK); /* needs none */
    assert_int_equal(apply_at(510, "abcd", 0), CIP_ERR_UNSUPPORTED);
    assert_int_equal(apply_at(600, "def", 10), CIP_ERR_UNSUPPORTED);
    assert_int_equal(apply_at(0, NULL, 10), CIP_ERR_UNSUPPORTED);
    ino_t was = inode();
    change(&r, 510, "abcd");
    cip_commit *c = begin(CIP_CHANGE_OPTIONS(.break_links = true));
    assert_int_equal(cip_commit_apply(c, &r, &err), CIP_OK);
    cip_commit_end(c);
    cip_revision_clear(&r);
    assert_int_not_equal(inode(), was);
    assert_nothing_beside();
    unlink(b);
    assert_int_equal(rmdir(scratch_path(&dir, "far")), 0);
}

static void a_file_says_nothing_of_an_update_that_ended(void **state)
{
    (void)state;
    char value[8];
    write_old();
    assert_int_equal(apply_at(510, "abcd", 0), CIP_OK);
    assert_int_equal(apply_at(600, "abc", 10), CIP_OK);
    assert_int_equal(apply_at(0, NULL, 10), CIP_OK);
    assert_int_equal(getxattr(path(), "user.cippus.update", value, sizeof value), -1);
    SKIP_UNLESS(setxattr(path(), "user.cippus.update", "cip1 done 0123456789abcdef a.bin", 32, 0) ==
                    0,
                "no extended attributes here");
    cip_revision r = new_revision();
    r.anew = true;
    assert_int_equal(cip_revision_bytes(&r, "new", 3, NULL), CIP_OK);
    cip_commit *c = begin(NULL);
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_OK);
    cip_commit_end(c);
    cip_revision_clear(&r);
    assert_int_equal(getxattr(path(), "user.cippus.update", value, sizeof value), -1);
}

static void a_link_is_followed_and_stays(void **state)
{
    (void)state;
    cip_commit *c;
    struct stat st;
    cip_revision r = new_revision();
    r.anew = true;
    assert_int_equal(cip_revision_bytes(&r, "new", 3, NULL), CIP_OK);
    write_old();
    assert_int_equal(symlink("a.bin", scratch_path(&dir, "link")), 0);
    assert_int_equal(cip_commit_begin(&env, scratch_path(&dir, "link"), NULL, &c, NULL), CIP_OK);
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_OK);
    cip_commit_end(c);
    assert_file("new", 3);
    assert_int_equal(lstat(scratch_path(&dir, "link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    unlink(scratch_path(&dir, "link"));
    cip_revision_clear(&r);
}

static void a_replacement_keeps_mode_and_attributes(void **state)
{
    (void)state;
    struct stat st;
    char value[16] = "";
    cip_revision r = new_revision();
    r.anew = true;
    assert_int_equal(cip_revision_bytes(&r, "new", 3, NULL), CIP_OK);
    write_old();
    assert_int_equal(chmod(path(), 0620), 0);
    bool has = setxattr(path(), "user.note", "kept", 4, 0) == 0;
    cip_commit *c = begin(NULL);
    assert_int_equal(cip_commit_apply(c, &r, NULL), CIP_OK);
    cip_commit_end(c);
    assert_int_equal(stat(path(), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0620);
    if (has)
        assert_int_equal(getxattr(path(), "user.note", value, sizeof value), 4);
    assert_int_equal(chmod(path(), 0644), 0);
    cip_revision_clear(&r);
}

static uint64_t next(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Pieces smaller and larger than what waits in memory; against a model. */
static void what_goes_out_can_be_rewritten_cut_and_moved(void **state)
{
    (void)state;
    enum { MOST = 600000 };
    static uint8_t model[2 * MOST], bytes[150000];
    uint64_t seed = 5;
    size_t n = 0;
    cip_replace *r;
    cip_place place;
    write_old();
    assert_int_equal(cip_place_open(&env.mem, path(), &place, NULL), CIP_OK);
    const cip_replace_how how = { .level = CIP_LEVEL_PROCESS, .overwrite = true };
    assert_int_equal(cip_replace_at(&env.mem, place, &how, &r, NULL), CIP_OK);
    cip_out *out = cip_replace_out(r);
    for (int i = 0; i < 400; i++) {
        size_t len = next(&seed) % (i % 5 == 0 ? sizeof bytes : 20000), off;
        memset(bytes, (int)next(&seed), len);
        switch (n < MOST / 2 ? next(&seed) % 3 : next(&seed) % 5) {
        case 0:
        case 1:
            assert_int_equal(cip_out_write(out, bytes, len, NULL), CIP_OK);
            memcpy(model + n, bytes, len);
            n += len;
            break;
        case 2:
            len = len < n ? len : n;
            off = next(&seed) % (n - len + 1);
            assert_int_equal(cip_out_rewrite(out, off, bytes, len, NULL), CIP_OK);
            memcpy(model + off, bytes, len);
            break;
        case 3:
            n = next(&seed) % (n + 1);
            assert_int_equal(cip_out_rewind(out, n, NULL), CIP_OK);
            break;
        default:
            off = next(&seed) % (n + 1);
            len = next(&seed) % (off + 1); /* earlier: nothing between is undefined */
            assert_int_equal(cip_out_move(out, off, out->n - off, len, NULL), CIP_OK);
            memmove(model + len, model + off, n - off);
            n = n - off + len;
            off = next(&seed) % (n + 1); /* in the middle: nothing else moves */
            len = next(&seed) % (n - off + 1) / 2;
            if (off + len < n) {
                assert_int_equal(cip_out_move(out, off, len, off + len / 2, NULL), CIP_OK);
                memmove(model + off + len / 2, model + off, len);
            }
        }
        assert_int_equal(out->n, n);
        assert_true(n < MOST);
    }
    assert_int_equal(cip_out_move(out, n - 10, out->n - n + 10, n + 5, NULL), CIP_OK);
    assert_int_equal(cip_out_rewrite(out, n - 10, "fifteen letters", 15, NULL), CIP_OK);
    memmove(model + n + 5, model + n - 10, 10);
    memcpy(model + n - 10, "fifteen letters", 15);
    n += 15;
    cip_patch p = { .arena = { .mem = &env.mem } };
    cip_bytes b = { (const uint8_t *)"patched", 7 };
    assert_int_equal(cip_patch_write(&p, "", n - 7, none, b, NULL), CIP_OK);
    memcpy(model + n - 7, "patched", 7);
    assert_int_equal(cip_output_patch(out, &p, NULL), CIP_OK);
    assert_int_equal(cip_replace_commit(r, NULL), CIP_OK);
    cip_replace_end(r);
    cip_patch_clear(&p);
    FILE *f = fopen(path(), "rb");
    static uint8_t got[2 * MOST];
    assert_int_equal(fread(got, 1, sizeof got, f), n);
    fclose(f);
    assert_memory_equal(got, model, n);
}

static void what_cannot_be_updated_is_refused(void **state)
{
    (void)state;
    cip_commit *c;
    cip_change_options o = { .size = 0 };
    write_old();
    assert_int_equal(cip_commit_begin(&env, path(), &o, &c, NULL), CIP_ERR_ARG);
    o.size = SIZE_MAX;
    assert_int_equal(cip_commit_begin(&env, path(), &o, &c, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_commit_begin(&env, scratch_path(&dir, "none"), NULL, &c, NULL),
                     CIP_ERR_NOT_FOUND);
    assert_int_equal(mkfifo(scratch_path(&dir, "fifo"), 0600), 0);
    assert_int_equal(cip_commit_begin(&env, scratch_path(&dir, "fifo"), NULL, &c, NULL),
                     CIP_ERR_UNSUPPORTED);
    assert_null(c);
}

/* As another user: the file may not be written, or nothing be made beside it. */
static void a_file_without_permission_is_read_only(void **state)
{
    (void)state;
    cip_commit *c;
    cip_err err = CIP_ERR_INIT;
    SKIP_UNLESS(geteuid() == 0, "only root becomes another user");
    write_old();
    assert_int_equal(chmod(dir.dir, 0755), 0);
    assert_int_equal(chmod(path(), 0644), 0);
    assert_int_equal(seteuid(65534), 0);
    cip_status st = cip_commit_begin(&env, path(), NULL, &c, &err);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(st, CIP_ERR_READONLY);
    assert_string_equal(err.text, "cannot open 'a.bin': no permission");
    assert_null(c);
    assert_int_equal(chmod(path(), 0666), 0);
    assert_int_equal(seteuid(65534), 0);
    cip_status within = apply_at(600, "abc", 0); /* needs nothing beside the file */
    cip_status over = apply_at(510, "abcd", 0);
    cip_status behind = apply_at(0, NULL, 10);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(within, CIP_OK);
    assert_int_equal(over, CIP_ERR_READONLY);
    assert_int_equal(behind, CIP_ERR_READONLY);
    uint8_t want[N];
    memcpy(want, old, N);
    memcpy(want + 600, "abc", 3);
    assert_file(want, N);
    assert_int_equal(chmod(dir.dir, 0700), 0);
}

/* The journal of root's update of somebody's file is that user's, and nobody else may read it. */
static void a_journal_belongs_to_the_files_owner(void **state)
{
    (void)state;
    struct stat st;
    cip_commit_plan p;
    cip_revision r = new_revision();
    SKIP_UNLESS(geteuid() == 0, "only root gives files away");
    write_old();
    assert_int_equal(chmod(path(), 0640), 0);
    assert_int_equal(chown(path(), 4711, 4712), 0);
    cip_commit *c = begin(NULL);
    change(&r, 510, "abcd");
    assert_int_equal(cip_commit_plan_make(c, &r, &p, NULL), CIP_OK);
    assert_int_equal(cip_commit_write_tmp(c, &p.patch, NULL), CIP_OK);
    assert_int_equal(stat(scratch_path(&dir, ".a.bin.cip-tmp"), &st), 0);
    assert_int_equal(st.st_uid, 4711);
    assert_int_equal(st.st_gid, 4712);
    assert_int_equal(st.st_mode & 07777, 0640);
    cip_commit_plan_clear(&p);
    cip_revision_clear(&r);
    cip_commit_end(c);
    cip_commit_end(begin(NULL));
    assert_nothing_beside();
    assert_int_equal(unlink(path()), 0);
}

/* What is under the names of an update that is none of ours is not touched. */
static void links_and_strangers_beside_the_file_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = { ".a.bin.cip-tmp", ".a.bin.cip-new", ".a.bin.cip-journal" };
    cip_commit *c;
    for (size_t i = 0; i < 3; i++) {
        cip_err err = CIP_ERR_INIT;
        write_old();
        assert_int_equal(symlink("victim", scratch_path(&dir, names[i])), 0);
        assert_int_equal(cip_commit_begin(&env, path(), NULL, &c, &err), CIP_ERR_CORRUPT);
        assert_true(is_there(names[i]));
        assert_false(is_there("victim"));
        unlink(scratch_path(&dir, names[i]));
        if (geteuid() != 0)
            continue;
        scratch_write(&dir, names[i], "xyz", 3);
        assert_int_equal(chown(scratch_path(&dir, names[i]), 12345, 12345), 0);
        assert_int_equal(cip_commit_begin(&env, path(), NULL, &c, &err), CIP_ERR_CORRUPT);
        assert_true(is_there(names[i]));
        unlink(scratch_path(&dir, names[i]));
    }
}

static void leavings_are_cleared_away(void **state)
{
    (void)state;
    write_old();
    scratch_write(&dir, ".a.bin.cip-tmp", "torn", 4);
    scratch_write(&dir, ".a.bin.cip-new", "half", 4);
    cip_commit_end(begin(NULL));
    assert_nothing_beside();
    assert_file(old, N);
}

static void no_memory_changes_nothing(void **state)
{
    (void)state;
    for (size_t n = 1;; n++) {
        fail_alloc f = { .fail_at = n };
        cip_allocator a = { fail_alloc_resize, &f };
        cip_env small;
        cip_commit *c;
        assert_int_equal(cip_env_init(&small, NULL, &a, NULL, NULL), CIP_OK);
        cip_revision r = { .patch = { .arena = { .mem = &small.mem } } };
        write_old();
        cip_bytes b = { (const uint8_t *)"abcd", 4 };
        cip_status st = cip_patch_write(&r.patch, "", 510, none, b, NULL);
        if (st == CIP_OK)
            st = cip_commit_begin(&small, path(), NULL, &c, NULL);
        if (st == CIP_OK) {
            st = cip_commit_apply(c, &r, NULL);
            cip_commit_end(c);
        }
        if (st != CIP_OK)
            assert_file(old, N);
        assert_int_equal(st, f.requests < n ? CIP_OK : CIP_ERR_NOMEM);
        assert_nothing_beside();
        cip_revision_clear(&r);
        cip_env_clear(&small);
        assert_int_equal(f.held, 0);
        if (f.requests < n)
            break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_way_makes_the_file_what_the_revision_says),
        cmocka_unit_test(only_a_replacement_makes_another_file),
        cmocka_unit_test(a_change_too_large_for_a_journal_replaces),
        cmocka_unit_test(an_append_names_bytes_that_stay),
        cmocka_unit_test(one_writer_at_a_time),
        cmocka_unit_test(readers_keep_out_only_what_writes_over_bytes),
        cmocka_unit_test(an_open_file_is_kept_from_being_written_over),
        cmocka_unit_test(a_file_changed_by_others_is_left_alone),
        cmocka_unit_test(rows_are_added_at_once),
        cmocka_unit_test(hard_links_part_only_when_told),
        cmocka_unit_test(names_in_other_folders_are_not_left_to_a_record),
        cmocka_unit_test(a_file_says_nothing_of_an_update_that_ended),
        cmocka_unit_test(a_link_is_followed_and_stays),
        cmocka_unit_test(a_replacement_keeps_mode_and_attributes),
        cmocka_unit_test(what_goes_out_can_be_rewritten_cut_and_moved),
        cmocka_unit_test(what_cannot_be_updated_is_refused),
        cmocka_unit_test(a_file_without_permission_is_read_only),
        cmocka_unit_test(a_journal_belongs_to_the_files_owner),
        cmocka_unit_test(links_and_strangers_beside_the_file_are_refused),
        cmocka_unit_test(leavings_are_cleared_away),
        cmocka_unit_test(no_memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
