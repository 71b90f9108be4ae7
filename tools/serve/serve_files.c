/* SPDX-License-Identifier: BSD-3-Clause
 * Files kept open between requests. One is used again only while the name leads to the same inode
 * with the same times and size; a folder, whose members change without it, for a second. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../print.h"
#include "serve.h"

enum { MOST_OPEN = 8 };
static const double folder_seconds = 1;

typedef struct kept {
    cip_file *file;
    struct stat st;
    double since, used;
    unsigned nuser;
    bool dropped; /* closed once nobody uses it */
} kept;

struct serve_files {
    const opts *o;
    uint64_t max_memory; /* of one */
    pthread_mutex_t lock;
    kept one[MOST_OPEN];
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

void serve_files_free(serve_files *f)
{
    for (size_t i = 0; f != NULL && i < MOST_OPEN; i++)
        cip_file_close(f->one[i].file);
    if (f != NULL)
        pthread_mutex_destroy(&f->lock);
    free(f);
}

cip_status serve_files_peek(serve_files *f, const char *real, cip_file **file, cip_err *err)
{
    cip_limits limits;
    cip_open_options open = open_options(f->o, &limits);
    limits.max_memory = f->max_memory;
    limits.max_cache = f->max_memory / 8;
    if (limits.max_cache > 64 << 20)
        limits.max_cache = 64 << 20;
    return cip_open(real, &open, file, err);
}

static bool is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           memcmp(&a->st_mtim, &b->st_mtim, sizeof a->st_mtim) == 0 &&
           memcmp(&a->st_ctim, &b->st_ctim, sizeof a->st_ctim) == 0;
}

/* A change within the clock's step after the one before leaves the times as they are. */
static bool is_settled(const struct stat *st)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return S_ISDIR(st->st_mode) ||
           (now.tv_sec - st->st_mtim.tv_sec > 1 && now.tv_sec - st->st_ctim.tv_sec > 1);
}

static cip_file *find_kept(serve_files *f, const struct stat *st)
{
    const double now = serve_now();
    for (kept *k = f->one; k < f->one + MOST_OPEN; k++) {
        if (k->file == NULL || k->dropped || !is_same(&k->st, st))
            continue;
        if (S_ISDIR(st->st_mode) && now - k->since > folder_seconds) {
            k->dropped = true;
            continue;
        }
        k->nuser++;
        k->used = now;
        return k->file;
    }
    return NULL;
}

/* In the place of one that nobody uses: a dropped one, or the one used the longest time ago. */
static cip_file *keep(serve_files *f, cip_file *file, const struct stat *st)
{
    kept *place = NULL;
    double least = 0;
    for (kept *k = f->one; k < f->one + MOST_OPEN; k++) {
        const double rank = k->file == NULL ? -2 : k->dropped ? -1 : k->used;
        if (k->nuser == 0 && (place == NULL || rank < least)) {
            place = k;
            least = rank;
        }
    }
    if (place == NULL)
        return NULL;
    cip_file *old = place->file;
    const double now = serve_now();
    *place = (kept){ .file = file, .st = *st, .since = now, .used = now, .nuser = 1 };
    place->dropped = !is_settled(st);
    return old;
}

cip_file *serve_files_get(serve_files *f, const serve_found *at, cip_err *err)
{
    struct stat now;
    cip_file *old = NULL;
    pthread_mutex_lock(&f->lock);
    cip_file *file = find_kept(f, &at->st);
    pthread_mutex_unlock(&f->lock);
    if (file != NULL || serve_files_peek(f, at->real, &file, err) != CIP_OK)
        return file;
    /* The path was opened once more: it must still lead to what was found below the root. */
    if (lstat(at->real, &now) != 0 || !is_same(&now, &at->st)) {
        cip_file_close(file);
        *err = (cip_err)CIP_ERR_INIT;
        err->code = CIP_ERR_BUSY;
        snprintf(err->text, sizeof err->text, "the file is being changed; try again");
        return NULL;
    }
    pthread_mutex_lock(&f->lock);
    old = keep(f, file, &at->st);
    pthread_mutex_unlock(&f->lock);
    cip_file_close(old);
    return file;
}

void serve_files_put(serve_files *f, cip_file *file)
{
    bool close = file != NULL; /* one that found no place */
    pthread_mutex_lock(&f->lock);
    for (kept *k = f->one; k < f->one + MOST_OPEN; k++)
        if (file != NULL && k->file == file) {
            k->nuser--;
            close = k->nuser == 0 && k->dropped;
            if (close)
                k->file = NULL;
        }
    pthread_mutex_unlock(&f->lock);
    if (close)
        cip_file_close(file);
}
