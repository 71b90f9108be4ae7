/* SPDX-License-Identifier: BSD-3-Clause
 * The file of --points: a line of indices for each element. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "print.h"

enum { LONGEST = 4096 };

static const char blanks[] = " \t\r\n";

static bool add_number(points *p, int64_t v)
{
    if (p->n == p->cap) {
        size_t cap = p->cap == 0 ? 1024 : p->cap * 2;
        int64_t *more = realloc(p->coord, cap * sizeof *more);
        if (more == NULL)
            return false;
        p->coord = more;
        p->cap = cap;
    }
    p->coord[p->n++] = v;
    return true;
}

/* ndim integers with blanks or one comma between them, or nothing. False when it is anything else,
 * or memory is short. */
static bool parse_line(const char *line, size_t len, int ndim, points *p)
{
    int n = 0;
    const char *at = line + strspn(line, blanks);
    while (*at != '\0' && n < ndim) {
        char *end;
        errno = 0;
        long long v = strtoll(at, &end, 10);
        if (end == at || errno != 0 || !add_number(p, v))
            return false;
        n++;
        at = end + strspn(end, blanks);
        if (*at == ',' && n < ndim)
            at += 1 + strspn(at + 1, blanks);
        else if (at == end && *at != '\0')
            return false; /* 1-2 */
        else
            continue;
        if (*at == '\0')
            return false; /* a comma is the last */
    }
    return at == line + len && (n == ndim || n == 0);
}

/* The next line with its end, as a C string; no longer than indices with a few blanks are. Its
 * length, 0 at the end, or LONGEST where it is longer. */
static size_t read_line(FILE *in, char line[LONGEST])
{
    size_t n = 0;
    for (int c = 0; n < LONGEST - 1 && c != '\n' && (c = getc(in)) != EOF;)
        line[n++] = (char)c;
    line[n] = '\0';
    return n == LONGEST - 1 && line[n - 1] != '\n' ? LONGEST : n;
}

static int failed(const char *path, size_t line, const char *what, int ndim)
{
    fputs("cippus: ", stderr);
    print_file_name(stderr, path);
    if (line != 0)
        fprintf(stderr, ": line %zu: expected %d integers\n", line, ndim);
    else
        fprintf(stderr, ": %s\n", what != NULL ? what : "cannot be read");
    return EXIT_FAILED;
}

int points_read(const char *path, int ndim, const opts *o, points *p)
{
    char line[LONGEST];
    size_t number = 0, len;
    int rc = EXIT_FINE;
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    *p = (points){ 0 };
    if (in == NULL)
        return failed(path, 0, strerror(errno), 0);
    while (rc == EXIT_FINE && (len = read_line(in, line)) != 0) {
        number++;
        if (len == LONGEST || !parse_line(line, len, ndim, p))
            rc = failed(path, number, NULL, ndim);
        else if (p->n > most_bytes(o) / sizeof *p->coord)
            rc = failed(path, 0, "expected points that fit into memory; see --max-memory", 0);
    }
    if (rc == EXIT_FINE && !feof(in))
        rc = failed(path, 0, strerror(errno), 0);
    if (in != stdin)
        fclose(in);
    return rc;
}
