/* SPDX-License-Identifier: BSD-3-Clause
 * What processes that were killed left in a folder: new files under names of ours, and records of
 * updates. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/commit/commit_impl.h"
#include "io/fresh.h"

typedef struct folder {
    cip_place place;
    bool discard;
    cip_report report;
} folder;

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n > k && strcmp(name + n - k, suffix) == 0;
}

static void say(folder *f, const char *name, const char *text, uint64_t nbytes)
{
    cip_report_add(&f->report, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, nbytes, name, "%s", text);
}

/* Under its lock, so that whoever might write it finds it gone. What is said follows "a new file",
 * or folder. */
static const char *remove_new(const folder *f, const char *name, int fd, const struct stat *st)
{
    if (st->st_uid != geteuid())
        return " of another user that never got its name; left alone";
    cip_lock got = cip_store_lock(fd, CIP_LOCK_WRITERS, false);
    if (got == CIP_LOCK_TAKEN)
        return " that is being written; left alone";
    if (got == CIP_LOCK_NONE)
        return ", perhaps still being written (files cannot be locked here); left alone";
    return (S_ISDIR(st->st_mode) ? cip_store_remove_tree : cip_store_unlink)(&f->place, name,
                                                                             NULL) == CIP_OK
               ? " that never got its name; removed"
               : " that never got its name, and cannot be removed";
}

/* Members that waited for an update of the file beside. */
static const char *remove_waiting(const folder *f, const char *name, bool own)
{
    static const char *const others[] = { "", ".cip-journal", ".cip-tmp" };
    struct stat st;
    for (size_t i = 0; i < 3; i++) {
        char beside[NAME_MAX + 20];
        snprintf(beside, sizeof beside, "%s%.*s%s", i == 0 ? "" : ".",
                 (int)(strlen(name) - strlen(CIP_FRESH_SUFFIX) - 1), name + 1, others[i]);
        own = own && fstatat(f->place.dir, beside, &st, AT_SYMLINK_NOFOLLOW) != 0;
    }
    if (!own)
        return "members of an update of the file of this name; left alone";
    return cip_store_remove_tree(&f->place, name, NULL) == CIP_OK
               ? "members of an update of a file that is not here; removed"
               : "members of an update of a file that is not here, and cannot be removed";
}

/* A new file or folder, or a folder whose place another took. */
static void look_at_new(folder *f, const char *name)
{
    struct stat st;
    int fd = -1;
    char text[120];
    const char *is = " that never got its name";
    if (fstatat(f->place.dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return;
    const bool is_folder = S_ISDIR(st.st_mode), own = st.st_uid == geteuid();
    if (is_folder && strncmp(name, CIP_FRESH_PREFIX, sizeof CIP_FRESH_PREFIX - 1) != 0) {
        say(f, name, f->discard ? remove_waiting(f, name, own) : "members of an update", 0);
        return;
    }
    if (!is_folder && !S_ISREG(st.st_mode))
        return;
    const int flags = is_folder ? O_RDONLY | O_DIRECTORY : O_RDWR;
    if (cip_store_open(&f->place, name, flags, 0, &fd, NULL) != CIP_OK)
        is = " that cannot be opened; left alone";
    else if (f->discard)
        is = remove_new(f, name, fd, &st);
    else if (cip_store_is_locked(fd, CIP_LOCK_WRITERS))
        is = " that is being written";
    snprintf(text, sizeof text, "a new %s%s", is_folder ? "folder" : "file", is);
    say(f, name, text, is_folder ? 0 : (uint64_t)st.st_size);
    close(fd); /* -1 is fine */
}

/* A record is its file's business. */
static void look_at_record(folder *f, const char *name, const char *suffix)
{
    struct stat st;
    char of[NAME_MAX + 1], text[NAME_MAX + 80];
    snprintf(of, sizeof of, "%.*s", (int)(strlen(name) - 1 - strlen(suffix)), name + 1);
    bool there = fstatat(f->place.dir, of, &st, 0) == 0;
    snprintf(text, sizeof text, "the record of an update of '%.200s'%s", of,
             there ? "" : ", which is not here");
    say(f, name, text, 0);
}

static void look_at(folder *f, const char *name)
{
    if (strcmp(name, CIP_FRESH_SUFFIX) == 0 || strcmp(name, ".cip-tmp") == 0 ||
        strcmp(name, ".cip-journal") == 0) {
        /* What an update of the folder itself left: under its writers' lock. */
        struct stat like;
        const char *text = "left by an update of this folder";
        bool waiting = strcmp(name, CIP_FRESH_SUFFIX) == 0;
        if (f->discard && waiting && fstat(f->place.dir, &like) == 0 &&
            cip_store_lock(f->place.dir, CIP_LOCK_WRITERS, false) != CIP_LOCK_TAKEN &&
            cip_store_clear_folder(&f->place, name, &like, NULL) == CIP_OK)
            text = "left by an update of this folder; removed";
        say(f, name, text, 0);
    } else if (strncmp(name, CIP_FRESH_PREFIX, sizeof CIP_FRESH_PREFIX - 1) == 0 ||
               (name[0] == '.' && ends_with(name, CIP_FRESH_SUFFIX)))
        look_at_new(f, name);
    else if (name[0] == '.' && ends_with(name, ".cip-journal"))
        look_at_record(f, name, ".cip-journal");
    else if (name[0] == '.' && ends_with(name, ".cip-tmp"))
        look_at_record(f, name, ".cip-tmp");
}

cip_status cip_recover_folder(const char *path, int what, cip_finding_fn *fn, void *user,
                              cip_err *err)
{
    err = cip_err_enter(err);
    const struct dirent *e;
    cip_mem mem;
    if (path == NULL || fn == NULL || (what != CIP_RECOVER_LOOK && what != CIP_RECOVER_DISCARD))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected a folder, a function, and to look or to discard");
    cip_mem_init(&mem, NULL, 0);
    folder f = { .place = { .dir = -1 }, .discard = what == CIP_RECOVER_DISCARD };
    cip_report_init(&f.report, &mem, false, fn, user);
    f.place.dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = f.place.dir != -1 ? opendir(path) : NULL;
    cip_status st =
        dir != NULL ? CIP_OK : cip_fail_errno(err, errno, CIP_NO_OFFSET, "cannot open the folder");
    if (dir != NULL) {
        while (!f.report.cancelled && (e = readdir(dir)) != NULL)
            look_at(&f, e->d_name);
        closedir(dir);
        st = cip_report_status(&f.report, err);
    }
    cip_report_clear(&f.report);
    close(f.place.dir); /* -1 is fine */
    return st;
}
