/* SPDX-License-Identifier: BSD-3-Clause
 * "did you mean": the nearest of the names that there are to one that is none of them. */
#include "suggest.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "print.h"

enum { LONGEST = sizeof((suggestion *)0)->name - 1 };
enum { BY_CASE = 1, BY_TAIL, BY_START, BY_EDITS }; /* BY_EDITS + n: n letters changed */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* How many letters are changed, left out, put in or exchanged with the next one between two texts
 * of at most LONGEST bytes; upper case is lower case. Three rows of the usual table are enough. */
static unsigned edits_between(const char *a, const char *b)
{
    unsigned row[3][LONGEST + 1];
    const size_t na = strlen(a), nb = strlen(b);
    for (size_t k = 0; k <= nb; k++)
        row[0][k] = (unsigned)k;
    for (size_t i = 1; i <= na; i++) {
        const unsigned *before = row[(i - 1) % 3], *swapped = row[(i + 1) % 3]; /* i - 2 */
        unsigned *now = row[i % 3];
        now[0] = (unsigned)i;
        for (size_t k = 1; k <= nb; k++) {
            const bool same = lower(a[i - 1]) == lower(b[k - 1]);
            now[k] = least(before[k - 1] + !same, least(before[k], now[k - 1]) + 1);
            if (i > 1 && k > 1 && lower(a[i - 1]) == lower(b[k - 2]) &&
                lower(a[i - 2]) == lower(b[k - 1]))
                now[k] = least(now[k], swapped[k - 2] + 1);
        }
    }
    return row[na % 3][nb];
}

/* Where the first step starts in which the paths differ. */
static size_t steps_alike(const char *a, const char *b)
{
    size_t start = 0;
    for (size_t i = 0; a[i] != '\0' && a[i] == b[i]; i++)
        start = a[i] == '/' ? i + 1 : start;
    return start;
}

static size_t nslash(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text++)
        n += *text == '/';
    return n;
}

static bool is_number(const char *text)
{
    return text[strspn(text, "0123456789")] == '\0';
}

/* How many letters have to be changed where few enough, LONGEST otherwise. The steps that are alike
 * do not make those that are not any nearer, and another number is no slip. */
static unsigned few_edits(const char *wanted, const char *name)
{
    const size_t alike = steps_alike(wanted, name), n = strlen(wanted + alike),
                 len = strlen(name + alike), most = n < 3 ? 1 : n / 3;
    if ((len > n ? len - n : n - len) > most || nslash(wanted) != nslash(name) ||
        (is_number(wanted + alike) && is_number(name + alike)))
        return LONGEST;
    const unsigned edits = edits_between(wanted + alike, name + alike);
    return edits <= most && edits < n ? edits : LONGEST;
}

/* 0: not near. */
static unsigned rank_of(const char *wanted, const char *name)
{
    const size_t n = strlen(wanted), len = strlen(name);
    if (n == 0 || n > LONGEST || len > LONGEST)
        return 0;
    if (strcasecmp(wanted, name) == 0)
        return BY_CASE;
    if (len > n && name[len - n - 1] == '/' && strcasecmp(wanted, name + len - n) == 0)
        return BY_TAIL;
    if (n >= 3 && strncasecmp(wanted, name, n) == 0)
        return BY_START;
    unsigned edits = few_edits(wanted, name);
    const char *last = strchr(wanted, '/') == NULL ? strrchr(name, '/') : NULL;
    if (edits == LONGEST && last != NULL) /* `dta` for `roman/data` */
        edits = few_edits(wanted, last + 1);
    return edits < LONGEST ? BY_EDITS + edits : 0;
}

void suggest_offer(suggestion *s, const char *name)
{
    const unsigned rank = rank_of(s->wanted, name);
    if (rank == 0 || (s->rank != 0 && rank > s->rank))
        return;
    if (rank == s->rank) { /* of changed letters the first will do */
        s->ambiguous |= rank < BY_EDITS && strcmp(s->name, name) != 0;
        return;
    }
    s->rank = rank;
    s->ambiguous = false;
    snprintf(s->name, sizeof s->name, "%s", name);
}

const char *suggest_found(const suggestion *s)
{
    return s->rank == 0 || s->ambiguous || s->there ? NULL : s->name;
}

bool suggest_print(const suggestion *s, const char *prefix)
{
    if (suggest_found(s) == NULL)
        return false;
    fprintf(stderr, "; did you mean '%s", prefix);
    print_escaped(stderr, s->name);
    fputs("'?\n", stderr);
    return true;
}

/* What is missing is something of it where the very path is there. */
static void offer_path(suggestion *s, const char *path)
{
    s->there = s->there || strcmp(s->wanted, path) == 0;
    suggest_offer(s, path);
}

static int offer_node(void *user, const char *path, const cip_node *node, uint32_t depth)
{
    (void)node;
    (void)depth;
    offer_path(user, path);
    return 0;
}

static void offer_array(suggestion *s, const cip_array *a)
{
    const char *path = cip_array_path(a), *slash = path[0] != '\0' ? "/" : "";
    const cip_dtype *d = cip_array_dtype(a);
    char field[LONGEST + 2];
    offer_path(s, path);
    for (size_t i = 0; i < cip_dtype_nfield(d); i++) {
        const char *name = cip_dtype_field(d, i)->name;
        if (snprintf(field, sizeof field, "%s%s%s", path, slash, name) <= LONGEST)
            offer_path(s, field);
    }
}

void suggest_path(const cip_file *f, const char *path, bool arrays, cip_err *err)
{
    if (f == NULL || path == NULL || err->code != CIP_ERR_NOT_FOUND)
        return;
    suggestion s = { .wanted = path[0] == '/' ? path + 1 : path };
    for (size_t i = 0; i < cip_file_narray(f); i++)
        offer_array(&s, cip_file_array(f, i));
    if (!arrays)
        cip_tree_visit(f, NULL, offer_node, &s, NULL);
    const size_t n = strlen(err->text);
    if (suggest_found(&s) != NULL)
        snprintf(err->text + n, sizeof err->text - n, "; did you mean '%s'?", s.name);
}

void suggest_path_in(const char *file, const opts *o, const char *path, bool arrays, cip_err *err)
{
    cip_limits limits;
    const cip_open_options open = open_options(o, &limits);
    cip_file *f;
    if (err->code != CIP_ERR_NOT_FOUND || cip_open(file, &open, &f, NULL) != CIP_OK)
        return;
    suggest_path(f, path, arrays, err);
    cip_file_close(f);
}
