/* SPDX-License-Identifier: BSD-3-Clause
 * cippus append: rows added along the first axis. Raw rows of a streamed array go straight to the
 * file's end, in pieces, so that a pipe may run for ever; all else is one update. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "input.h"
#include "update.h"

enum { PIECE = 4 << 20 };

typedef struct stream {
    const opts *o;
    const char *path, *input;
    cip_file *file;
    const cip_dtype *dtype;
    bool grows;    /* the array is streamed: its rows end the file */
    uint64_t row;  /* bytes */
    uint64_t kept; /* rows that were written */
    uint8_t *buffer;
    size_t n, cap; /* bytes in it; a multiple of a row */
    int fd;
    bool end;
    bool stale; /* the file lost its name after rows were written */
} stream;

static int failed(const char *file, const char *why)
{
    fputs("cippus: ", stderr);
    print_file_name(stderr, file);
    fprintf(stderr, ": %s\n", why);
    return EXIT_FAILED;
}

/* A file with a part of a row is refused before its first row is written. */
static int check_length(const stream *s)
{
    struct stat st;
    off_t at = lseek(s->fd, 0, SEEK_CUR);
    if (at < 0 || fstat(s->fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < at)
        return EXIT_FINE;
    return (uint64_t)(st.st_size - at) % s->row == 0
               ? EXIT_FINE
               : failed(s->input, "expected whole rows, found a part of one at the end");
}

/* After a failure: rows that went before stay in the file. */
static int tell_kept(const stream *s, int rc)
{
    if (s->stale && s->kept != 0)
        fprintf(stderr,
                "cippus: the %" PRIu64
                " whole row%s before that went to the file that was opened\n",
                s->kept, s->kept == 1 ? "" : "s");
    else if (rc != EXIT_FINE && s->kept != 0)
        fprintf(stderr, "cippus: the %" PRIu64 " whole row%s before that %s kept\n", s->kept,
                s->kept == 1 ? "" : "s", s->kept == 1 ? "is" : "are");
    else if (rc != EXIT_FINE && s->end)
        fputs("cippus: no row was added\n", stderr);
    return rc;
}

/* Opens the file and learns what a row is. */
static int stream_start(stream *s)
{
    cip_err err = CIP_ERR_INIT;
    s->file = open_file(s->o->pos[0], s->o);
    if (s->file == NULL)
        return EXIT_FAILED;
    const cip_array *a = cip_find(s->file, s->path, &err);
    cip_array_storage storage = { .size = sizeof storage };
    s->dtype = cip_array_raw_dtype(a, &err);
    if (s->dtype == NULL || cip_array_get_storage(a, &storage, &err) != CIP_OK)
        return complain(s->o->pos[0], &err);
    s->grows = strcmp(storage.kind, "streamed") == 0;
    s->row = cip_dtype_itemsize(s->dtype);
    for (int i = 1; i < cip_array_ndim(a); i++)
        if (__builtin_mul_overflow(s->row, (uint64_t)cip_array_shape(a)[i], &s->row))
            s->row = UINT64_MAX;
    if (cip_array_ndim(a) == 0 || s->row == 0 || s->row > (uint64_t)1 << 40)
        return failed(s->o->pos[0], "expected an array whose rows have bytes");
    return EXIT_FINE;
}

/* Waits for at least one whole row, or the end, and takes what there is. */
static int fill(stream *s)
{
    while (!s->end && s->n < s->row) {
        ssize_t got = read(s->fd, s->buffer + s->n, s->cap - s->n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failed(s->input, strerror(errno));
        s->end = got == 0;
        s->n += (size_t)got;
    }
    return EXIT_FINE;
}

/* Appends the whole rows in the buffer. */
static cip_status flush_rows(stream *s, cip_err *err)
{
    const size_t whole = s->n - s->n % (size_t)s->row;
    if (whole == 0)
        return CIP_OK;
    cip_status st = cip_append(s->file, s->path, s->dtype, s->buffer, whole, err);
    if (st == CIP_OK) {
        s->kept += whole / s->row;
        memmove(s->buffer, s->buffer + whole, s->n - whole);
        s->n -= whole;
    }
    return st;
}

static int stream_end(stream *s)
{
    cip_err err = CIP_ERR_INIT;
    if (s->n != 0)
        return failed(s->input, "expected whole rows, found a part of one at the end");
    if (opts_level(s->o) == CIP_LEVEL_POWER && cip_sync(s->file, &err) != CIP_OK) {
        s->stale = err.code == CIP_ERR_STALE;
        return complain(s->o->pos[0], &err);
    }
    return EXIT_FINE;
}

static int stream_rows(stream *s)
{
    cip_err err = CIP_ERR_INIT;
    s->fd = strcmp(s->input, "-") == 0 ? dup(STDIN_FILENO) : open(s->input, O_RDONLY | O_CLOEXEC);
    if (s->fd < 0)
        return failed(s->input, strerror(errno));
    s->cap = s->row > PIECE ? (size_t)s->row : PIECE - PIECE % (size_t)s->row;
    s->buffer = malloc(s->cap);
    int rc = s->buffer != NULL ? check_length(s) : failed(s->input, "out of memory");
    while (rc == EXIT_FINE && !s->end) {
        rc = fill(s);
        if (rc != EXIT_FINE)
            break;
        cip_status st = flush_rows(s, &err);
        s->stale = st == CIP_ERR_STALE;
        if (st != CIP_OK)
            rc = complain(s->o->pos[0], &err);
    }
    return rc == EXIT_FINE ? stream_end(s) : rc;
}

/* All rows by one update: a torn one at their end keeps none. */
static int update_rows(const opts *o, const char *path, const char *input)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *edit;
    loaded b;
    int rc = bytes_map(input, &b);
    if (rc == EXIT_FINE)
        rc = update_start(o, &edit);
    if (rc == EXIT_FINE) {
        cip_status st =
            cip_change_append(edit, path, cip_dtype_as_stored(), b.n != 0 ? b.ptr : "", b.n, &err);
        rc = update_finish(o, edit, st, &err);
    }
    bytes_free(&b);
    return rc;
}

/* What only an update can do. */
static bool needs_update(const opts *o)
{
    return o->dry_run || o->history != NULL || o->md5 != NULL || o->noption != 0 ||
           o->break_links || o->wait != 0 || o->tree_slack >= 0 || o->byteorder != NULL;
}

static int append_rows(const opts *o, const char *path, const char *input)
{
    stream s = { .o = o, .path = path, .input = input, .fd = -1 };
    int rc = stream_start(&s);
    const bool by_update = rc == EXIT_FINE && (!s.grows || needs_update(o));
    if (rc == EXIT_FINE && !by_update)
        rc = tell_kept(&s, stream_rows(&s));
    if (s.fd >= 0)
        close(s.fd);
    free(s.buffer);
    cip_file_close(s.file); /* it may hold a lock */
    return by_update ? update_rows(o, path, input) : rc;
}

static int append_array(const opts *o, const char *path, const char *input)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *edit;
    int rc;
    opts in = *o;
    in.nshard = 0; /* of the file that grows */
    cip_file *f = input_open(input, &in, &rc);
    if (f == NULL)
        return rc;
    const cip_array *from = cip_find(f, o->path != NULL ? o->path : "", &err);
    rc = from == NULL ? complain(input, &err) : update_start(o, &edit);
    if (rc == EXIT_FINE) {
        cip_status st = cip_change_append_array(edit, path, from, &err);
        rc = update_finish(o, edit, st, &err);
        update_hint(o, input, &err);
    }
    cip_file_close(f);
    return rc;
}

int cmd_append(const opts *o)
{
    const char *path = o->npos > 2 ? o->pos[1] : "", *input = o->pos[o->npos - 1];
    const int kind = input_of_update(o, input);
    if (kind < 0)
        return EXIT_USAGE;
    bool plain = kind == INPUT_RAW && o->dtype == NULL && o->shape == NULL;
    return plain ? append_rows(o, path, input) : append_array(o, path, input);
}
