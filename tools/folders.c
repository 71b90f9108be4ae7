/* SPDX-License-Identifier: BSD-3-Clause
 * The files in folders. What is of no known format is left out; what is damaged is not. */
#include "folders.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "print.h"

enum { DEEPEST = 100 };

typedef struct walk {
    const opts *o;
    walk_fn *fn;
    void *user;
    size_t n; /* files that fn had */
} walk;

static cip_status open_quietly(const opts *o, const char *path, cip_file **f, cip_err *err)
{
    cip_limits limits;
    const cip_open_options open = open_options(o, &limits);
    return cip_open(path, &open, f, err);
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Whether opening a folder found that no format knows it; a store may be UNSUPPORTED too. */
static bool is_unknown(const char *path, const cip_err *err)
{
    return err->code == CIP_ERR_UNSUPPORTED && strstr(err->text, "no known format") != NULL &&
           is_folder(path);
}

bool is_plain_folder(const opts *o, const char *path)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f = NULL;
    if (!is_folder(path))
        return false;
    open_quietly(o, path, &f, &err);
    cip_file_close(f);
    return is_unknown(path, &err);
}

static int is_shown(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static void walk_folder(walk *w, const char *path, int depth);

static void walk_one(walk *w, const char *path, int depth)
{
    struct stat st;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = NULL;
    if ((depth == 0 ? stat : lstat)(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return;
    const cip_status known = open_quietly(w->o, path, &f, &err);
    if (is_unknown(path, &err)) {
        if (depth == 0 || w->o->recursive)
            walk_folder(w, path, depth);
        return;
    }
    if (known == CIP_ERR_FORMAT &&
        strstr(err.text, "a Git LFS pointer") == NULL) /* it is missing */
        return;
    w->n++;
    w->fn(w->user, path, f, &err);
    cip_file_close(f);
}

static void walk_folder(walk *w, const char *path, int depth)
{
    struct dirent **entry = NULL;
    const int n = depth < DEEPEST ? scandir(path, &entry, is_shown, alphasort) : 0;
    for (int i = 0; i < n; i++) {
        const size_t len = strlen(path) + strlen(entry[i]->d_name) + 2;
        char *below = malloc(len);
        if (below != NULL) {
            snprintf(below, len, "%s%s%s", path, path[strlen(path) - 1] == '/' ? "" : "/",
                     entry[i]->d_name);
            walk_one(w, below, depth + 1);
        }
        free(below);
        free(entry[i]);
    }
    free(entry);
}

int walk_files(const opts *o, const char *path, walk_fn *fn, void *user)
{
    walk w = { .o = o, .fn = fn, .user = user };
    cip_err err = CIP_ERR_INIT;
    cip_file *f = NULL;
    if (!is_folder(path) && !o->recursive) {
        open_quietly(o, path, &f, &err);
        fn(user, path, f, &err);
        cip_file_close(f);
        return EXIT_FINE;
    }
    walk_one(&w, path, 0);
    if (w.n != 0 || !is_folder(path))
        return EXIT_FINE;
    fputs("cippus: ", stderr);
    print_file_name(stderr, path);
    fprintf(stderr, ": no file of a known format in this folder%s\n",
            o->recursive ? "" : "; -R looks into its folders too");
    return EXIT_FAILED;
}
