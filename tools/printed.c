/* SPDX-License-Identifier: BSD-3-Clause
 * Printed files: complete under their name, or not at all. */
#include "printed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "print.h"

/* The file that is being written, for a signal's handler; "": none. */
static char unfinished[PATH_MAX];
static int saved_stdout = -1;

static int failed(const char *path)
{
    fputs("cippus: ", stderr);
    print_file_name(stderr, path);
    fprintf(stderr, ": %s\n", strerror(errno));
    return EXIT_FAILED;
}

void output_remove_unfinished(void)
{
    if (unfinished[0] != '\0')
        (void)unlink(unfinished);
}

/* A new file in the folder of `path`, with the permissions of any new file. */
static int create_beside(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const mode_t mask = umask(0);
    umask(mask);
    if ((size_t)snprintf(unfinished, sizeof unfinished, "%.*s.%.200s.cippus-XXXXXX",
                         (int)(name - path), path, name) >= sizeof unfinished) {
        unfinished[0] = '\0';
        errno = ENAMETOOLONG;
        return -1;
    }
    const int fd = mkstemp(unfinished);
    if (fd < 0)
        unfinished[0] = '\0';
    else if (fchmod(fd, 0666 & ~mask) != 0) {
        /* some file systems have no permissions */
    }
    return fd;
}

int output_begin(const opts *o, const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0)
        return EXIT_FINE;
    const bool there = stat(path, &st) == 0;
    if (there && S_ISREG(st.st_mode) && !o->overwrite) {
        const cip_err err = { .code = CIP_ERR_EXISTS, .text = "the output exists" };
        return complain(path, &err);
    }
    const bool plain = !there || S_ISREG(st.st_mode); /* no device or FIFO */
    const int fd = plain ? create_beside(path) : open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return failed(path);
    fflush(stdout);
    saved_stdout = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    const bool fine = saved_stdout >= 0 && dup2(fd, STDOUT_FILENO) >= 0;
    const int rc = fine ? EXIT_FINE : failed(path);
    close(fd);
    if (!fine)
        output_remove_unfinished();
    return rc;
}

int output_end(const opts *o, const char *path, int rc)
{
    const cip_change_options how = { .size = sizeof how, .overwrite = o->overwrite };
    cip_err err = CIP_ERR_INIT;
    if (rc == EXIT_FINE)
        rc = finish_stdout(rc);
    fflush(stdout); /* what is left of a failure */
    if (saved_stdout < 0)
        return rc;
    if (rc == EXIT_FINE && unfinished[0] != '\0' && fsync(STDOUT_FILENO) != 0 && errno != EINVAL)
        rc = failed(path);
    (void)dup2(saved_stdout, STDOUT_FILENO);
    close(saved_stdout);
    saved_stdout = -1;
    if (unfinished[0] == '\0')
        return rc;
    if (rc == EXIT_FINE && cip_publish(unfinished, path, &how, &err) != CIP_OK)
        rc = complain(path, &err);
    if (rc != EXIT_FINE)
        output_remove_unfinished();
    unfinished[0] = '\0';
    return rc;
}

const char *output_kind(const char *path)
{
    static const char *const kinds[][2] = { { ".csv", "csv" },     { ".tsv", "tsv" },
                                            { ".tab", "tsv" },     { ".json", "json" },
                                            { ".jsonl", "jsonl" }, { ".ndjson", "jsonl" },
                                            { ".npy", "npy" },     { ".raw", "raw" },
                                            { ".bin", "raw" },     { ".dat", "raw" } };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot != NULL && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(dot, kinds[i][0]) == 0)
            return kinds[i][1];
    return NULL;
}

bool refuse_terminal(bool binary)
{
    if (!binary || !isatty(STDOUT_FILENO))
        return false;
    fputs("cippus: binary data are not written to a terminal; use a file or a pipe\n", stderr);
    return true;
}

/* --- tsv ------------------------------------------------------------------------------------- */

/* Csv on its way to tsv, cell by cell: one that is not in quotes gets them where it has a tab. */
typedef struct tabbed {
    strbuf cell;
    bool quoted;    /* the cell is in quotes */
    bool in_quotes; /* here */
} tabbed;

static int end_cell(tabbed *t, const char *behind, size_t n)
{
    const bool wrap =
        !t->quoted && t->cell.len != 0 && memchr(t->cell.ptr, '\t', t->cell.len) != NULL;
    const int rc = (wrap && write_stdout(NULL, "\"", 1) != 0) ||
                   (t->cell.len != 0 && write_stdout(NULL, t->cell.ptr, t->cell.len) != 0) ||
                   (wrap && write_stdout(NULL, "\"", 1) != 0) ||
                   (n != 0 && write_stdout(NULL, behind, n) != 0);
    t->cell.len = 0;
    t->quoted = t->in_quotes = false;
    return rc;
}

/* A cip_write_fn. */
static int write_tabbed(void *user, const void *bytes, size_t n)
{
    tabbed *t = user;
    const char *p = bytes;
    for (size_t i = 0, plain; i < n; i += plain) {
        for (plain = 0; i + plain < n && strchr("\",\n", p[i + plain]) == NULL;)
            plain++;
        if (plain != 0) {
            text_add(&t->cell, p + i, plain);
            continue;
        }
        plain = 1;
        if (p[i] == '"') {
            t->quoted = t->quoted || t->cell.len == 0;
            t->in_quotes = !t->in_quotes;
        }
        if (t->in_quotes || p[i] == '"')
            text_add(&t->cell, p + i, 1);
        else if (end_cell(t, p[i] == ',' ? "\t" : "\n", 1) != 0)
            return 1;
    }
    return t->cell.failed;
}

cip_status export_stdout(const cip_array *array, const cip_read_args *args, const char *to,
                         cip_err *err)
{
    tabbed t = { .quoted = false };
    if (strcmp(to, "tsv") != 0)
        return cip_export(array, args, to, write_stdout, NULL, err);
    cip_status st = cip_export(array, args, "csv", write_tabbed, &t, err);
    if (st == CIP_OK && end_cell(&t, "", 0) != 0)
        st = CIP_ERR_CANCELLED;
    free(t.cell.ptr);
    return st;
}
