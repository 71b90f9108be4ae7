/* SPDX-License-Identifier: BSD-3-Clause
 * cippus convert --each: every input by itself, under its own name with the format's extension. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "convert_concat.h"
#include "input.h"

static int wrong_use(const char *what)
{
    fprintf(stderr, "cippus: %s\n", what);
    return EXIT_USAGE;
}

/* What files of a format end in. */
static const char *extension_of(const char *format)
{
    static const char *const names[][2] = {
        { "blosc2", "b2nd" }, { "bloscpack", "blp" }, { "blz-dir", "blz" }, { "rawarray", "ra" }
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i][0], format) == 0)
            return names[i][1];
    return format;
}

/* FOLDER/NAME.EXTENSION; NULL: no memory. */
static char *name_of(const char *folder, const char *input, const char *format)
{
    strbuf out = { 0 };
    size_t end = strlen(input);
    while (end > 1 && input[end - 1] == '/')
        end--;
    size_t from = end;
    while (from > 0 && input[from - 1] != '/')
        from--;
    size_t dot = end;
    for (size_t i = from + 1; i < end; i++)
        dot = input[i] == '.' ? i : dot;
    const size_t n = strlen(folder);
    text_add(&out, folder, n);
    if (n != 0 && folder[n - 1] != '/')
        text_add(&out, "/", 1);
    text_add(&out, input + from, dot - from);
    text_add(&out, ".", 1);
    text_add(&out, extension_of(format), strlen(extension_of(format)));
    if (!out.failed)
        return out.ptr;
    free(out.ptr);
    return NULL;
}

static int two_alike(const opts *o, char **out, int n)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < i; k++)
            if (strcmp(out[i], out[k]) == 0) {
                fputs("cippus: ", stderr);
                print_file_name(stderr, o->pos[k]);
                fputs(" and ", stderr);
                print_file_name(stderr, o->pos[i]);
                fputs(" would both become ", stderr);
                print_escaped(stderr, out[i]);
                putc('\n', stderr);
                return EXIT_USAGE;
            }
    return EXIT_FINE;
}

static int convert_them(const opts *o, char **out, int n)
{
    const char *folder = o->pos[n];
    int rc = two_alike(o, out, n);
    if (rc != EXIT_FINE)
        return rc;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        fputs("cippus: ", stderr);
        print_escaped(stderr, folder);
        fprintf(stderr, ": %s\n", strerror(errno));
        return EXIT_FAILED;
    }
    for (int i = 0; i < n; i++) {
        const char *pos[] = { o->pos[i], out[i] };
        opts one = *o;
        one.pos = pos;
        one.npos = 2;
        one.each = false;
        if (o->json)
            fputs(i == 0 ? "[" : ",\n ", stdout);
        const int status = convert_one_of_each(&one);
        rc = status > rc ? status : rc;
    }
    if (o->json)
        puts("]");
    return rc;
}

int convert_each(const opts *o)
{
    const int n = o->npos - 1;
    int rc = EXIT_FINE;
    if (n < 1 || o->format == NULL)
        return wrong_use("--each requires --format NAME and the arguments IN... FOLDER");
    if (o->concat != NULL || o->fill != NULL || o->at_end || o->nname != 0)
        return wrong_use("--each cannot be combined with --concat, --fill, --at-end or --name");
    char **out = calloc((size_t)n, sizeof *out);
    for (int i = 0; out != NULL && i < n && rc == EXIT_FINE; i++) {
        out[i] = name_of(o->pos[n], o->pos[i], o->format);
        if (out[i] == NULL || strcmp(o->pos[i], "-") == 0)
            rc = wrong_use("--each requires named inputs, not standard input");
    }
    if (out != NULL && rc == EXIT_FINE)
        rc = convert_them(o, out, n);
    for (int i = 0; out != NULL && i < n; i++)
        free(out[i]);
    free(out);
    return out != NULL ? rc : EXIT_FAILED;
}
