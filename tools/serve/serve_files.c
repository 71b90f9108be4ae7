/* SPDX-License-Identifier: BSD-3-Clause
 * Files kept open between requests. One is used again only while the name leads to the same inode
 * with the same times and size; a folder, whose members change without it, for a second.
 *
 * The library opens files by a path, which others may change at any time. It gets the path
 * /proc/self/fd/FOLDER/NAME: the folder is the one that was found below a root, whatever its path
 * leads to by now, and NAME must not be a link. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../print.h"
#include "serve.h"

enum { MOST_KEPT = 8 };
static const double folder_seconds = 1;

typedef struct opened {
    struct opened *next;
    cip_file *file;
    int folder; /* by whose number the path goes on to lead to members */
    struct stat st;
    double since, used;
    unsigned nuser;
    bool dropped; /* closed once nobody uses it */
} opened;

struct serve_files {
    const opts *o;
    uint64_t max_memory; /* of one */
    pthread_mutex_t lock;
    opened *first;
    size_t nopen;
};

serve_files *serve_files_new(const opts *o, uint64_t max_memory)
{
    serve_files *f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->o = o;
    f->max_memory = max_memory;
    pthread_mutex_init(&f->lock, NULL);
    return f;
}

static void close_one(opened *k)
{
    if (k == NULL)
        return;
    cip_file_close(k->file);
    if (k->folder >= 0)
        close(k->folder);
    free(k);
}

void serve_files_free(serve_files *f)
{
    for (opened *k = f != NULL ? f->first : NULL, *next; k != NULL; k = next) {
        next = k->next;
        close_one(k);
    }
    if (f != NULL)
        pthread_mutex_destroy(&f->lock);
    free(f);
}

/* --- the table -------------------------------------------------------------------------------- */

/* All of these under the lock. */

static opened *find_kept(serve_files *f, const struct stat *st)
{
    const double now = serve_now();
    for (opened *k = f->first; k != NULL; k = k->next) {
        if (k->dropped || !serve_is_same(&k->st, st))
            continue;
        if (S_ISDIR(st->st_mode) && now - k->since > folder_seconds) {
            k->dropped = true;
            continue;
        }
        k->nuser++;
        k->used = now;
        return k;
    }
    return NULL;
}

/* Takes one that nobody uses out of the table, to be closed: a dropped one or, where more are open
 * than are kept, the one used the longest time ago. NULL: there is none. */
static opened *take_unused(serve_files *f)
{
    opened **oldest = NULL;
    for (opened **at = &f->first; *at != NULL; at = &(*at)->next)
        if ((*at)->nuser == 0 && ((*at)->dropped || f->nopen > MOST_KEPT) &&
            (oldest == NULL || (*at)->used < (*oldest)->used))
            oldest = at;
    if (oldest == NULL)
        return NULL;
    opened *k = *oldest;
    *oldest = k->next;
    f->nopen--;
    return k;
}

/* --- opening ---------------------------------------------------------------------------------- */

static cip_file *open_found(serve_files *f, const serve_found *at, opened *k, cip_err *err)
{
    cip_limits limits;
    char name[256], path[300];
    struct stat now;
    cip_open_options how = open_options(f->o, &limits);
    how.no_link = true;
    limits.max_memory = f->max_memory;
    limits.max_cache = f->max_memory / 8;
    if (limits.max_cache > 64 << 20)
        limits.max_cache = 64 << 20;
    k->st = at->st;
    k->folder = serve_folder_of(at, name);
    snprintf(path, sizeof path, SERVE_FOLDERS "%d/%s", k->folder, name);
    cip_status st = k->folder >= 0 ? cip_open(path, &how, &k->file, err) : CIP_ERR_BUSY;
    serve_shorten(err->text);
    /* What the name led to before and after that, it led to meanwhile: to rename a file changes its
     * times. Those of a folder change with each new name in it. */
    if (k->folder >= 0 && fstatat(k->folder, name, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
        (S_ISDIR(now.st_mode) ? now.st_dev == at->st.st_dev && now.st_ino == at->st.st_ino
                              : serve_is_same(&now, &at->st)))
        return st == CIP_OK ? k->file : NULL;
    *err = (cip_err)CIP_ERR_INIT;
    err->code = CIP_ERR_BUSY;
    snprintf(err->text, sizeof err->text, "the file is being changed; try again");
    return NULL;
}

static cip_file *open_new(serve_files *f, const serve_found *at, bool own, cip_err *err)
{
    opened *k = calloc(1, sizeof *k);
    if (k == NULL) {
        *err = (cip_err)CIP_ERR_INIT;
        err->code = CIP_ERR_NOMEM;
        snprintf(err->text, sizeof err->text, "there is not enough memory");
        return NULL;
    }
    cip_file *file = open_found(f, at, k, err);
    if (file == NULL) {
        close_one(k);
        return NULL;
    }
    k->since = k->used = serve_now();
    k->nuser = 1;
    k->dropped = own || (!S_ISDIR(k->st.st_mode) && !serve_is_settled(&k->st));
    pthread_mutex_lock(&f->lock);
    k->next = f->first;
    f->first = k;
    f->nopen++;
    opened *old = take_unused(f);
    pthread_mutex_unlock(&f->lock);
    close_one(old);
    return file;
}

cip_file *serve_files_get(serve_files *f, const serve_found *at, cip_err *err)
{
    pthread_mutex_lock(&f->lock);
    opened *k = find_kept(f, &at->st);
    cip_file *file = k != NULL ? k->file : NULL;
    pthread_mutex_unlock(&f->lock);
    return file != NULL ? file : open_new(f, at, false, err);
}

cip_file *serve_files_get_own(serve_files *f, const serve_found *at, cip_err *err)
{
    return open_new(f, at, true, err);
}

void serve_files_check(serve_call *c, const serve_found *at)
{
    if (S_ISREG(at->st.st_mode) && !serve_is_unchanged(at->fd, &at->st))
        serve_refuse(c, 503, "busy", "the file was changed while it was read; try again");
}

void serve_files_put(serve_files *f, cip_file *file)
{
    pthread_mutex_lock(&f->lock);
    for (opened *k = f->first; file != NULL && k != NULL; k = k->next)
        if (k->file == file)
            k->nuser--;
    opened *old = take_unused(f);
    pthread_mutex_unlock(&f->lock);
    close_one(old);
}
