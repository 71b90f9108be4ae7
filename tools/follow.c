/* SPDX-License-Identifier: BSD-3-Clause
 * cippus cat --follow: the rows of an array, and then those that others append to it, until the
 * command is stopped. The file is looked at a few times a second and opened anew when it changed:
 * so each look sees a whole state of it, and between looks nobody who writes has to wait. Programs
 * that know no locks may be seen amid their writing: what cannot be opened or read then is looked
 * at again, for a while, and nothing of it is printed. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "commands.h"
#include "input.h"

enum { LOOK_MS = 200, PATIENCE_MS = 5000, KEPT_BACK = 64 << 20 };

typedef struct follower {
    const opts *o;
    int64_t rows;    /* printed */
    bool started;    /* anything was printed */
    bool in_head;    /* of csv: the header line of later rows is still being passed over */
    strbuf waiting;  /* what is to be printed once all rows of a look could be read */
    bool flushed;    /* they are too many for that: some were printed */
    int64_t failing; /* since when, in ms; 0: the last look went well */
    struct stat seen;
} follower;

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000 + 1;
}

/* What cannot be read may be a file amid its writing by who knows no locks. Whether to look again;
 * at first only when it was written to just now. */
static bool may_mend(follower *f, const cip_err *err)
{
    const int64_t now = now_ms();
    if (err->code == CIP_ERR_CANCELLED || err->code == CIP_ERR_NOMEM || err->code == CIP_ERR_ARG ||
        err->code == CIP_ERR_TYPE || err->code == CIP_ERR_RANGE || f->flushed)
        return false;
    const bool is_old = f->seen.st_mtim.tv_sec + PATIENCE_MS / 1000 < time(NULL);
    if (!f->started && err->code != CIP_ERR_BUSY && is_old)
        return false;
    if (f->failing == 0)
        f->failing = now;
    return now - f->failing < PATIENCE_MS;
}

static int print_waiting(follower *f)
{
    const int rc = f->waiting.len != 0 ? write_stdout(NULL, f->waiting.ptr, f->waiting.len) : 0;
    f->waiting.len = 0;
    return rc;
}

/* The names of csv's columns stand once, in front. */
static int write_rows(void *user, const void *bytes, size_t n)
{
    follower *f = user;
    const char *p = bytes, *line;
    if (f->in_head) {
        line = memchr(p, '\n', n);
        f->in_head = line == NULL;
        n = line == NULL ? 0 : n - (size_t)(line + 1 - p);
        p = line + 1;
    }
    text_add(&f->waiting, p, n);
    if (f->waiting.failed)
        return 1;
    f->flushed = f->flushed || f->waiting.len > KEPT_BACK;
    return f->flushed ? print_waiting(f) : 0;
}

static bool has_head(const opts *o, const target *t)
{
    return o->to != NULL && strcmp(o->to, "csv") == 0 &&
           cip_dtype_kind(cip_array_dtype(t->array)) == CIP_RECORD && t->args.field[0] == '\0';
}

static int print_rows(follower *f, target *t)
{
    cip_err err = CIP_ERR_INIT;
    char slice[32];
    int64_t rows = cip_array_shape(t->array)[0];
    if (rows < f->rows) {
        fprintf(stderr, "cippus: only %" PRId64 " rows are left of %" PRId64 "\n", rows, f->rows);
        f->rows = rows;
    }
    if (rows == f->rows && f->started) {
        f->failing = 0;
        return EXIT_FINE;
    }
    snprintf(slice, sizeof slice, "[%" PRId64 ":]", f->rows);
    t->args.selection = slice;
    f->in_head = f->started && has_head(f->o, t);
    f->flushed = false;
    f->waiting.len = 0;
    const char *to = f->o->to != NULL ? f->o->to : "text";
    const cip_status st = cip_export(t->array, &t->args, to, write_rows, f, &err);
    hide_progress(f->o->bar);
    if (st != CIP_OK)
        return may_mend(f, &err) ? EXIT_FINE : finish_stdout(complain(f->o->pos[0], &err));
    print_waiting(f);
    f->started = true;
    f->failing = 0;
    f->rows = rows;
    return finish_stdout(EXIT_FINE);
}

/* The file; NULL when it is to be looked at again, or after a complaint. */
static cip_file *open_now(follower *f, int *rc)
{
    cip_limits limits;
    const cip_open_options options = open_options(f->o, &limits);
    const char *path = f->o->pos[0];
    cip_err err = CIP_ERR_INIT;
    cip_file *file = NULL;
    *rc = EXIT_FINE;
    if (input_kind_of(f->o, path) != INPUT_KNOWN)
        return input_open(path, f->o, rc);
    if (cip_open(path, &options, &file, &err) != CIP_OK && !may_mend(f, &err))
        *rc = complain(path, &err);
    return file;
}

static int look(follower *f)
{
    target t;
    int rc;
    cip_file *file = open_now(f, &rc);
    if (file != NULL)
        rc = target_in(f->o, f->started, file, &t);
    if (file == NULL || rc != EXIT_FINE)
        return rc;
    if (t.args.selection != NULL || cip_array_ndim(t.array) == 0) {
        fputs("cippus: --follow takes an array with rows, and no slice\n", stderr);
        rc = EXIT_USAGE;
    } else {
        t.args.take_mask = f->o->mask;
        rc = print_rows(f, &t);
    }
    target_close(&t);
    return rc;
}

/* Whether the file is, or may be, another one than at the last look; of a folder only what is in it
 * tells. */
static bool has_changed(follower *f)
{
    struct stat now;
    if (stat(f->o->pos[0], &now) != 0)
        return errno != ENOENT; /* it is being replaced, or removed: another may come */
    bool same = S_ISREG(now.st_mode) && f->failing == 0 && now.st_size == f->seen.st_size &&
                now.st_ino == f->seen.st_ino && now.st_mtim.tv_sec == f->seen.st_mtim.tv_sec &&
                now.st_mtim.tv_nsec == f->seen.st_mtim.tv_nsec;
    f->seen = now;
    return !same;
}

int cat_follow(const opts *o)
{
    follower f = { .o = o };
    const struct timespec pause = { .tv_nsec = LOOK_MS * 1000000L };
    has_changed(&f);
    int rc = look(&f);
    while (rc == EXIT_FINE) {
        nanosleep(&pause, NULL);
        if (has_changed(&f))
            rc = look(&f);
    }
    free(f.waiting.ptr);
    return rc;
}
