/* SPDX-License-Identifier: BSD-3-Clause
 * cippus cat --follow: the rows of an array, and then those that others append to it, until the
 * command is stopped. The file is looked at a few times a second and opened anew when it changed:
 * so each look sees a whole state of it, however it was written. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "commands.h"

enum { LOOK_MS = 200 };

typedef struct follower {
    const opts *o;
    int64_t rows; /* printed */
    bool started; /* anything was printed */
    bool in_head; /* of csv: the header line of later rows is still being passed over */
    struct stat seen;
} follower;

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
    return n == 0 ? 0 : write_stdout(NULL, p, n);
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
    if (rows == f->rows && f->started)
        return EXIT_FINE;
    snprintf(slice, sizeof slice, "[%" PRId64 ":]", f->rows);
    t->args.selection = slice;
    f->in_head = f->started && has_head(f->o, t);
    const char *to = f->o->to != NULL ? f->o->to : "text";
    if (cip_export(t->array, &t->args, to, write_rows, f, &err) != CIP_OK)
        return finish_stdout(complain(f->o->pos[0], &err));
    end_progress(&t->bar);
    f->started = true;
    f->rows = rows;
    return finish_stdout(EXIT_FINE);
}

static int look(follower *f)
{
    target t;
    int rc = target_open(f->o, f->started, &t);
    if (rc != EXIT_FINE)
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

/* Whether the file is another one than at the last look. */
static bool has_changed(follower *f)
{
    struct stat now;
    if (stat(f->o->pos[0], &now) != 0)
        return errno != ENOENT; /* it is being replaced, or removed: another may come */
    bool same = now.st_size == f->seen.st_size && now.st_ino == f->seen.st_ino &&
                now.st_mtim.tv_sec == f->seen.st_mtim.tv_sec &&
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
    return rc;
}
