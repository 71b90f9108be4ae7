/* SPDX-License-Identifier: BSD-3-Clause
 * Words where there was silence: what a user may not have meant is told in one line. */
#include "notes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "listed.h"
#include "print.h"

static cip_file *open_again(const opts *o, const char *path)
{
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_file *f = NULL;
    open.check = CIP_CHECK_OFF;
    open.offset = 0; /* of the input */
    (void)cip_open(path, &open, &f, NULL);
    return f;
}

/* --- codecs ---------------------------------------------------------------------------------- */

static bool is_unshrunk(const cip_file *f, const cip_array *a)
{
    enum { MATTERS = 1024 }; /* of some numbers nobody expects it */
    listed l;
    listed_look("", f, a, &l);
    return l.decoded >= MATTERS && l.err.code == CIP_OK && l.s.stored_nbytes >= l.decoded;
}

void note_unshrunk(const opts *o, const char *out, const char *path, cip_finding_fn *tell,
                   void *user)
{
    size_t n = 0, at = 0;
    char text[300];
    const char *first = "";
    if (o->codec == NULL || strncmp(o->codec, "none", 4) == 0 || strcmp(out, "-") == 0)
        return;
    path += path != NULL && path[0] == '/';
    cip_file *f = open_again(o, out);
    for (const cip_array *a; f != NULL && (a = cip_file_next_array(f, path, &at)) != NULL;)
        if (is_unshrunk(f, a)) {
            first = n == 0 ? cip_array_path(a) : first;
            n++;
        }
    if (n != 0) {
        int len =
            snprintf(text, sizeof text, "the codec %s did not make the data smaller", o->codec);
        if (n > 1)
            snprintf(text + len, sizeof text - (size_t)len, " (and of %zu more arrays)", n - 1);
        const cip_finding note = { .severity = CIP_NOTE,
                                   .code = CIP_OK,
                                   .offset = CIP_NO_OFFSET,
                                   .part = first,
                                   .text = text };
        (void)tell(user, &note);
    }
    cip_file_close(f);
}

uint64_t file_nbytes(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0;
}

void note_slow_codec(const opts *o, uint64_t nbytes)
{
    enum { MATTERS = 64 << 20 };
    static const char *const slow[] = { "bzp2", "bzip2" };
    for (size_t i = 0; o->codec != NULL && i < sizeof slow / sizeof *slow; i++)
        if (nbytes >= MATTERS && strncmp(o->codec, slow[i], strlen(slow[i])) == 0)
            fprintf(
                stderr,
                "cippus: note: %s is slow for data of this size, to write and to read; zstd and "
                "lz4 are many times faster\n",
                slow[i]);
}

/* --- updates --------------------------------------------------------------------------------- */

/* Whether the array is at the path, or below it. */
static bool lies_in(const char *array, const char *path)
{
    const size_t n = strlen(path);
    return strncmp(array, path, n) == 0 && (array[n] == '\0' || array[n] == '/');
}

loss_note note_of_removal(const opts *o, const char *path)
{
    loss_note n = { "" };
    listed l;
    size_t at = 0, count = 0;
    path += path[0] == '/';
    cip_file *f = open_again(o, o->pos[0]);
    for (const cip_array *a; f != NULL && (a = cip_file_next_array(f, NULL, &at)) != NULL;) {
        cip_array_storage s = { .size = sizeof s };
        const bool own = cip_array_get_storage(a, &s, NULL) != CIP_OK || s.kind == NULL ||
                         strcmp(s.kind, "reference") != 0;
        if (own && lies_in(cip_array_path(a), path) && count++ == 0)
            listed_look(o->pos[0], f, a, &l);
    }
    FILE *out = count != 0 ? fmemopen(n.text, sizeof n.text, "w") : NULL;
    if (out != NULL && count == 1) {
        fputs("the array '", out);
        print_escaped(out, cip_array_path(l.array));
        fputs("' is removed", out);
    } else if (out != NULL) {
        fprintf(out, "%zu arrays in '", count);
        print_escaped(out, path);
        fputs("' are removed", out);
    }
    if (out != NULL && count == 1 && l.err.code == CIP_OK) {
        fputs(": ", out);
        print_escaped(out, cip_dtype_name(cip_array_dtype(l.array)));
        putc(' ', out);
        print_shape(out, cip_array_shape(l.array), cip_array_ndim(l.array));
        if (l.s.stored_nbytes != 0) /* else nobody knows */
            fprintf(out, ", %" PRIu64 " bytes", l.s.stored_nbytes);
    }
    if (out != NULL)
        fclose(out);
    cip_file_close(f);
    return n;
}

loss_note note_of_shape(const opts *o, const char *path, int ndim, const int64_t *shape)
{
    loss_note n = { "" };
    bool fewer = false, empty = false;
    cip_file *f = open_again(o, o->pos[0]);
    const cip_array *a = f != NULL ? cip_find(f, path, NULL) : NULL;
    for (int d = 0; a != NULL && cip_array_ndim(a) == ndim && d < ndim; d++) {
        fewer |= shape[d] < cip_array_shape(a)[d];
        empty |= cip_array_shape(a)[d] == 0;
    }
    FILE *out = fewer && !empty ? fmemopen(n.text, sizeof n.text, "w") : NULL;
    if (out != NULL) {
        fputs("elements outside ", out);
        print_shape(out, shape, ndim);
        fputs(" are dropped; the shape was ", out);
        print_shape(out, cip_array_shape(a), ndim);
        fclose(out);
    }
    cip_file_close(f);
    return n;
}

int note_print(const opts *o, const loss_note *n, int rc)
{
    if (rc != EXIT_FINE || n->text[0] == '\0')
        return rc;
    fputs("cippus: ", stderr);
    print_file_name(stderr, o->pos[0]);
    fprintf(stderr, ": note: %s\n", n->text);
    return rc;
}
