/* SPDX-License-Identifier: BSD-3-Clause
 * Revisions with members. First an ASDF file whose array lies in `m0000.asdf` beside it comes to
 * name another one, `m0001.asdf`, which is made with it, and the first one goes. Then sets of files
 * of no format, beside a file and in a folder, that change in every way there is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/writing/output.h"
#include "fault/fault_scenarios.h"

enum { COUNT = 400 };

static void must(cip_status st, const cip_err *err)
{
    if (st != CIP_OK) {
        fprintf(stderr, "%s\n", err->text);
        abort();
    }
}

void fault_make_member(const char *dir)
{
    static const int64_t shape[] = { COUNT };
    int32_t values[COUNT];
    char path[1024];
    cip_change *w;
    cip_err err = CIP_ERR_INIT;
    for (int32_t i = 0; i < COUNT; i++)
        values[i] = i * 3;
    snprintf(path, sizeof path, "%s/m.asdf", dir);
    must(cip_create(path, CIP_CHANGE_OPTIONS(.level = CIP_LEVEL_PROCESS, .checksum = "none"), &w,
                    &err),
         &err);
    cip_change_set_string(w, "name", "members", &err);
    cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, shape, values,
                   CIP_ARRAY_OPTIONS(.storage = "external"), &err);
    must(cip_change_commit(&w, &err), &err);
}

/* The member's bytes, with other elements at their end. */
static cip_status add_member(cip_commit *c, cip_revision *r, cip_err *err)
{
    cip_io *old = NULL;
    cip_status st;
    uint8_t bytes[8192];
    size_t n;
    CIP_GO(cip_io_open_member(cip_commit_io(c), "m0000.asdf", 0, &old, err));
    CIP_GO(cip_io_read_some(old, 0, bytes, sizeof bytes, &n, err));
    memset(bytes + n - 1000, 7, 900);
    CIP_GO(cip_revision_create(r, "m0001.asdf", &(cip_segment){ .ptr = bytes, .len = n }, err));
    st = cip_revision_unlink(r, "m0000.asdf", old, err);
done:
    cip_io_close(old);
    return st;
}

/* What changes in the file itself: its name for the member, or its end from there on too. */
static cip_status add_change(cip_commit *c, cip_revision *r, bool longer, cip_err *err)
{
    uint8_t text[4096];
    size_t n;
    CIP_TRY(cip_io_read_some(cip_commit_io(c), 0, text, sizeof text, &n, err));
    uint8_t *at = memmem(text, n, "m0000.asdf", 10);
    size_t off = (size_t)(at - text), end = n - 4; /* of "...\n" */
    if (!longer)
        return cip_patch_write(&r->patch, "", off, (cip_bytes){ NULL, 0 },
                               (cip_bytes){ (const uint8_t *)"m0001", 5 }, err);
    r->has_tail = true;
    r->tail_off = off;
    at[4] = '1';
    CIP_TRY(cip_revision_bytes(r, at, end - off, err));
    for (int i = 0; i < 40; i++)
        CIP_TRY(cip_revision_bytes(r, "# a line more, for length\n", 26, err));
    return cip_revision_bytes(r, text + end, n - end, err);
}

static cip_status fill_other(cip_commit *c, cip_revision *r, cip_err *err)
{
    CIP_TRY(add_member(c, r, err));
    return add_change(c, r, false, err);
}

static cip_status fill_other_and_tail(cip_commit *c, cip_revision *r, cip_err *err)
{
    CIP_TRY(add_member(c, r, err));
    return add_change(c, r, true, err);
}

cip_status fault_other_member(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_other, err);
}

cip_status fault_other_member_and_tail(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_other_and_tail, err);
}

/* --- sets ------------------------------------------------------------------------------------- */

const char *const fault_set[] = { "sizes",      "data/0",   "data/1",     "data/2",
                                  "data/3",     "old/only", "data/4",     "new/0",
                                  "new/deep/0", "new/2",    "data/other", NULL };

static void put(const char *dir, const char *name, size_t n)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    for (size_t i = 0; f != NULL && i < n; i++)
        fputc((int)(i * 7 + i / 256 + strlen(name)), f);
    if (f == NULL || fclose(f) != 0)
        abort();
}

static void make_set(const char *dir)
{
    static const char *const folders[] = { "data", "old" };
    for (size_t i = 0; i < 2; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", dir, folders[i]);
        if (mkdir(path, 0755) != 0)
            abort();
    }
    put(dir, "sizes", 20);
    put(dir, "data/0", 1500);
    put(dir, "data/1", 1300);
    put(dir, "data/2", 700);
    put(dir, "data/3", 1100);
    put(dir, "old/only", 10);
}

void fault_make_set(const char *dir)
{
    make_set(dir);
    put(dir, "x", 900);
}

void fault_make_folder(const char *dir)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/d", dir);
    if (mkdir(path, 0755) != 0)
        abort();
    make_set(path);
}

static cip_status write_in(cip_revision *r, uint64_t off, const char *text, cip_err *err)
{
    return cip_patch_write(&r->patch, "", off, (cip_bytes){ NULL, 0 },
                           (cip_bytes){ (const uint8_t *)text, strlen(text) }, err);
}

/* The file itself changes where there is one. */
static cip_status change_own(cip_commit *c, cip_revision *r, cip_err *err)
{
    return cip_io_is_folder(cip_commit_io(c)) ? CIP_OK : write_in(r, 600, "changed", err);
}

static cip_status add_replaced(cip_revision *r, cip_err *err)
{
    cip_revision *as;
    CIP_TRY(cip_revision_replace(r, "sizes", NULL, &as, err));
    CIP_TRY(cip_revision_bytes(as, "other sizes", 11, err));
    CIP_TRY(cip_revision_switch(r, "sizes", err));
    CIP_TRY(cip_revision_replace(r, "data/0", NULL, &as, err));
    CIP_TRY(cip_revision_fill(as, 9, 600, err));
    return cip_revision_fill(as, 0, 700, err);
}

static cip_status add_new(cip_revision *r, cip_err *err)
{
    CIP_TRY(cip_revision_create(r, "data/4", &(cip_segment){ .off = 4, .len = 800 }, err));
    CIP_TRY(cip_revision_create(r, "new/0", &(cip_segment){ .off = 5, .len = 0 }, err));
    return cip_revision_create(r, "new/deep/0", &(cip_segment){ .off = 6, .len = 60 }, err);
}

/* One in two places and at its end, one at its end alone, one that is cut. */
static cip_status add_patched(cip_commit *c, cip_revision *r, cip_err *err)
{
    cip_io *known;
    cip_revision *as;
    CIP_TRY(cip_io_open_member(cip_commit_io(c), "data/1", 0, &known, err));
    cip_status st = cip_revision_change(r, "data/1", known, &as, err);
    cip_io_close(known);
    CIP_TRY(st);
    CIP_TRY(write_in(as, 3, "one place", err));
    CIP_TRY(write_in(as, 700, "another", err));
    as->has_tail = true;
    as->tail_off = 1200;
    CIP_TRY(cip_revision_fill(as, 8, 600, err));
    CIP_TRY(cip_revision_bytes(as, "the end", 7, err));
    CIP_TRY(cip_revision_change(r, "data/2", NULL, &as, err));
    as->has_tail = true;
    as->tail_off = 700;
    CIP_TRY(cip_revision_fill(as, 1, 700, err));
    CIP_TRY(cip_revision_change(r, "data/3", NULL, &as, err));
    CIP_TRY(write_in(as, 30, "shorter", err));
    return cip_patch_add(&as->patch, &(cip_patch_op){ .kind = CIP_PATCH_LENGTH, .offset = 400 },
                         err);
}

static cip_status fill_replaced(cip_commit *c, cip_revision *r, cip_err *err)
{
    CIP_TRY(add_replaced(r, err));
    return change_own(c, r, err);
}

static cip_status fill_new(cip_commit *c, cip_revision *r, cip_err *err)
{
    CIP_TRY(add_new(r, err));
    return change_own(c, r, err);
}

static cip_status fill_patched(cip_commit *c, cip_revision *r, cip_err *err)
{
    CIP_TRY(add_patched(c, r, err));
    return change_own(c, r, err);
}

/* A chain of names, one of them in a new folder. */
static cip_status fill_renamed(cip_commit *c, cip_revision *r, cip_err *err)
{
    CIP_TRY(cip_revision_rename(r, "data/2", "new/2", NULL, err));
    CIP_TRY(cip_revision_rename(r, "data/1", "data/2", NULL, err));
    CIP_TRY(cip_revision_rename(r, "sizes", "data/1", NULL, err));
    return change_own(c, r, err);
}

static cip_status fill_gone(cip_commit *c, cip_revision *r, cip_err *err)
{
    CIP_TRY(cip_revision_unlink(r, "data/0", NULL, err));
    CIP_TRY(cip_revision_unlink(r, "old/only", NULL, err));
    CIP_TRY(cip_revision_unlink_folder(r, "old", err));
    CIP_TRY(cip_revision_unlink_folder(r, "data", err)); /* has something in it: stays */
    return change_own(c, r, err);
}

static cip_status fill_mixed(cip_commit *c, cip_revision *r, cip_err *err)
{
    CIP_TRY(add_patched(c, r, err));
    CIP_TRY(add_replaced(r, err));
    CIP_TRY(add_new(r, err));
    CIP_TRY(cip_revision_unlink(r, "old/only", NULL, err));
    CIP_TRY(cip_revision_unlink_folder(r, "old", err));
    if (cip_io_is_folder(cip_commit_io(c)))
        return CIP_OK;
    r->has_tail = true;
    r->tail_off = 500;
    return cip_revision_fill(r, 3, 900, err);
}

/* There and back, of a set that was made and changed so once. */
static cip_status turn(cip_revision *r, bool back, cip_err *err)
{
    cip_revision *as;
    CIP_TRY(cip_revision_replace(r, "sizes", NULL, &as, err));
    CIP_TRY(cip_revision_fill(as, back, 40, err));
    CIP_TRY(cip_revision_switch(r, "sizes", err));
    CIP_TRY(cip_revision_change(r, "data/1", NULL, &as, err));
    CIP_TRY(write_in(as, 100, back ? "behind" : "before", err));
    CIP_TRY(write_in(as, 900, back ? "behind" : "before", err));
    as->has_tail = true;
    as->tail_off = 1000;
    CIP_TRY(cip_revision_fill(as, back, back ? 200 : 700, err));
    CIP_TRY(cip_revision_rename(r, back ? "data/other" : "data/2", back ? "data/2" : "data/other",
                                NULL, err));
    return back ? cip_revision_create(r, "data/3", &(cip_segment){ .off = 1, .len = 500 }, err)
                : cip_revision_unlink(r, "data/3", NULL, err);
}

static cip_status fill_there(cip_commit *c, cip_revision *r, cip_err *err)
{
    (void)c;
    return turn(r, false, err);
}

static cip_status fill_back(cip_commit *c, cip_revision *r, cip_err *err)
{
    (void)c;
    return turn(r, true, err);
}

#define CHANGE(name)                                                                               \
    cip_status fault_members_##name(const char *path, cip_level level, int step, cip_err *err)     \
    {                                                                                              \
        (void)step;                                                                                \
        return fault_commit(path, level, fill_##name, err);                                        \
    }

CHANGE(replaced)
CHANGE(new)
CHANGE(patched)
CHANGE(renamed)
CHANGE(gone)
CHANGE(mixed)
CHANGE(there)
CHANGE(back)

/* One after the other: what one leaves must not be taken for the next one's. */
cip_status fault_members_in_turn(const char *path, cip_level level, int step, cip_err *err)
{
    static fault_fill *const fill[] = { fill_patched, fill_replaced, fill_new, fill_gone };
    for (int i = 0; i < step; i++)
        CIP_TRY(fault_commit(path, level, fill[i], err));
    return CIP_OK;
}

/* --- new folders ------------------------------------------------------------------------------ */

void fault_make_nothing(const char *dir)
{
    put(dir, "other", 10);
}

static bool may_go(const char *path)
{
    (void)path;
    return true;
}

static cip_status write_member(cip_out *o, const char *name, uint8_t fill, size_t n, cip_err *err)
{
    uint8_t bytes[2000];
    cip_out *out;
    memset(bytes, fill, sizeof bytes);
    cip_status st = o->member(o->member_user, name, &out, err);
    if (st == CIP_OK)
        st = cip_out_write(out, bytes, n, err);
    return st != CIP_OK ? st : cip_out_rewrite(out, n / 2, "here", 4, err);
}

static cip_status write_folder(cip_env *env, const char *path, cip_level level, cip_err *err)
{
    cip_output *o = NULL;
    cip_status st;
    const cip_output_how how = {
        .level = level, .overwrite = true, .folder = true, .known = may_go
    };
    CIP_GO(cip_output_begin(env, path, &how, &o, err));
    CIP_GO(write_member(cip_output_out(o), "sizes", 1, 30, err));
    CIP_GO(write_member(cip_output_out(o), "data/0", 2, 1800, err));
    CIP_GO(write_member(cip_output_out(o), "new/deep/0", 3, 600, err));
    st = cip_output_commit(o, NULL, err);
done:
    cip_output_end(o);
    return st;
}

cip_status fault_create_folder(const char *path, cip_level level, int step, cip_err *err)
{
    cip_env env;
    (void)step;
    cip_status st = cip_env_init(&env, NULL, NULL, NULL, err);
    if (st == CIP_OK)
        st = write_folder(&env, path, level, err);
    cip_env_clear(&env);
    return st;
}
