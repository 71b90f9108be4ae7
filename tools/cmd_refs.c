/* SPDX-License-Identifier: BSD-3-Clause
 * cippus refs: where the chunks of a file's arrays lie, for readers of Zarr. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "print.h"

enum { INLINE_NBYTES = 64 << 10 };

typedef struct telling {
    const char *file;
    size_t nleft_out;
} telling;

static int on_finding(void *user, const cip_finding *f)
{
    telling *t = user;
    t->nleft_out += f->severity != CIP_NOTE;
    print_told(t->file, "", f);
    return 0;
}

/* The text and what goes before members' names in one block: "URL/" of a folder, else its folder.
 */
static char *members_of(const char *file, const char *url)
{
    struct stat st;
    const size_t n = strlen(url);
    const bool folder = stat(file, &st) == 0 && S_ISDIR(st.st_mode);
    const char *slash = strrchr(url, '/');
    char *text = malloc(n + 2);
    if (text == NULL)
        return NULL;
    memcpy(text, url, n + 1);
    if (folder && (n == 0 || url[n - 1] != '/'))
        memcpy(text + n, "/", 2);
    else if (!folder)
        text[slash != NULL ? slash - url + 1 : 0] = '\0';
    return text;
}

static int write_memory(void *user, const void *bytes, size_t n)
{
    return n != 0 && fwrite(bytes, n, 1, user) != 1;
}

static int failed(const char *path, const char *what)
{
    fputs("cippus: ", stderr);
    print_escaped(stderr, path);
    fprintf(stderr, ": %s: %s\n", what, strerror(errno));
    return EXIT_FAILED;
}

/* A new file beside `path`, which takes its name when all of it is on the disk. */
static int write_whole(const char *path, const char *bytes, size_t n)
{
    char *beside = malloc(strlen(path) + 8);
    int rc = EXIT_FINE, fd = -1;
    if (beside != NULL)
        fd = mkstemp(strcat(strcpy(beside, path), ".XXXXXX"));
    FILE *f = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (f == NULL) {
        rc = failed(path, "cannot be written");
    } else {
        const mode_t mask = umask(0);
        umask(mask);
        bool good = fchmod(fd, 0666 & ~mask) == 0 && write_memory(f, bytes, n) == 0 &&
                    fflush(f) == 0 && fsync(fd) == 0;
        good = fclose(f) == 0 && good;
        if (!good || rename(beside, path) != 0) {
            rc = failed(path, "cannot be written");
            unlink(beside);
        }
    }
    free(beside);
    return rc;
}

static int write_refs(const opts *o, const cip_file *f, const char *url, telling *t)
{
    char *text = NULL, *members = members_of(o->pos[0], url);
    size_t n = 0;
    cip_err err = CIP_ERR_INIT;
    int rc = EXIT_FINE;
    FILE *memory = open_memstream(&text, &n);
    if (memory == NULL || members == NULL) {
        if (memory != NULL)
            fclose(memory);
        free(members);
        return failed(o->pos[0], "references");
    }
    const cip_status st = cip_refs_write(
        f,
        CIP_REFS_OPTIONS(.path = o->path, .url = url, .members = members,
                         .inline_nbytes =
                             o->inline_nbytes >= 0 ? (uint64_t)o->inline_nbytes : INLINE_NBYTES,
                         .on_finding = on_finding, .user = t),
        write_memory, memory, &err);
    if (fclose(memory) != 0)
        rc = failed(o->pos[0], "references");
    else if (st != CIP_OK)
        rc = complain(o->pos[0], &err);
    else if (o->npos == 1 || strcmp(o->pos[1], "-") == 0)
        rc = write_stdout(NULL, text, n) == 0 ? EXIT_FINE : EXIT_FAILED;
    else
        rc = write_whole(o->pos[1], text, n);
    free(text);
    free(members);
    return rc;
}

/* 0, 1 where arrays are left out, or another exit status. */
int cmd_refs(const opts *o)
{
    telling t = { .file = o->pos[0] };
    struct stat st;
    if (o->npos > 1 && !o->overwrite && strcmp(o->pos[1], "-") != 0 && stat(o->pos[1], &st) == 0) {
        errno = EEXIST;
        return failed(o->pos[1], "--overwrite replaces it");
    }
    char *absolute = o->url == NULL ? realpath(o->pos[0], NULL) : NULL;
    cip_file *f = open_file(o->pos[0], o);
    if (f == NULL) {
        free(absolute);
        return EXIT_FAILED;
    }
    int rc = EXIT_FAILED;
    if (o->url == NULL && absolute == NULL)
        fputs("cippus: refs needs a file, or --url for what was read\n", stderr);
    else
        rc = write_refs(o, f, o->url != NULL ? o->url : absolute, &t);
    print_warnings(o->pos[0], f, 0);
    cip_file_close(f);
    free(absolute);
    return finish_stdout(rc == EXIT_FINE && t.nleft_out != 0 ? EXIT_FINDINGS : rc);
}
