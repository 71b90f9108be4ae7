/* SPDX-License-Identifier: BSD-3-Clause
 * FILE/PATH[SLICE] in one word. */
#include "joined.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "folders.h"
#include "print.h"

/* Puts a word in front of o->pos[at]; opts_parse left room for two. */
static void insert(opts *o, int at, const char *word)
{
    memmove(o->pos + at + 1, o->pos + at, (size_t)(o->npos - at) * sizeof *o->pos);
    o->pos[at] = word;
    o->npos++;
}

/* The first n letters of a word in o->text, which has room for each word once more. */
static const char *part(opts *o, const char *word, size_t n)
{
    char *text = o->text;
    memcpy(text, word, n);
    text[n] = '\0';
    o->text += n + 1;
    return text;
}

/* Where "[...]" at the end of a word begins; 0: it has none, or is nothing else. */
static size_t bracket_of(const char *word)
{
    const size_t n = strlen(word);
    const char *open = strchr(word, '[');
    return n != 0 && word[n - 1] == ']' && open != NULL ? (size_t)(open - word) : 0;
}

/* Whether the first n letters name a file, or a folder that is an array store. */
static bool is_file(const opts *o, const char *word, size_t n)
{
    struct stat st;
    char name[4096];
    if (n == 0 || n >= sizeof name)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)n, word);
    return stat(name, &st) == 0 && (!S_ISDIR(st.st_mode) || !is_plain_folder(o, name));
}

/* Where the last part of a URL's path that is named as the files of a format are ends; 0: there is
 * none. A slash is at `from`. */
static size_t end_of_named(const char *word, size_t from, size_t end, bool *folder)
{
    char name[256];
    for (size_t n = end, start; n > from; n = start - 1) {
        for (start = n; word[start - 1] != '/'; start--)
            ;
        snprintf(name, sizeof name, "%.*s", (int)(n - start), word + start);
        if (n - start < sizeof name && cip_format_of_path(name, folder) != NULL)
            return n;
    }
    return 0;
}

/* A URL is taken apart by names, without a request for each file that it could mean. The query, if
 * there is one, stays with the file. */
static void split_url(opts *o, bool slices)
{
    const char *word = o->pos[0];
    const bool s3 = strncasecmp(word, "s3:", 3) == 0;
    const char *host = strstr(word, "://") + 3, *path = host + strcspn(host, "/?#");
    const char *open = strrchr(path, '[');
    const size_t n = strlen(word), from = (size_t)(path - word);
    const size_t end = slices && word[n - 1] == ']' && open != NULL ? (size_t)(open - word) : n;
    const char *query = s3 ? strstr(path, "?versionId=") : strpbrk(path, "?#");
    const size_t path_end = query != NULL && query < word + end ? (size_t)(query - word) : end;
    bool folder = false;
    size_t file = *path == '/' ? end_of_named(word, from, path_end, &folder) : 0;
    const size_t behind = file + 1; /* the slash */
    const bool inside = file != 0 && behind < path_end && word[path_end - 1] != '/';
    if (end == n && !inside)
        return;
    file = !inside ? path_end : folder ? behind : file;
    char *text = o->text;
    o->text += sprintf(text, "%.*s%.*s", (int)file, word, (int)(end - path_end), word + path_end);
    o->text++;
    if (end != n)
        insert(o, 1, word + end);
    if (inside)
        insert(o, 1, part(o, word + behind, path_end - behind));
    o->pos[0] = text;
}

/* FILE[SLICE], FILE/PATH, FILE/PATH[SLICE]. */
static void split_file(opts *o, bool slices)
{
    const char *word = o->pos[0];
    if (is_url(word)) {
        split_url(o, slices);
        return;
    }
    if (access(word, F_OK) == 0 || strcmp(word, "-") == 0)
        return;
    const size_t bracket = slices ? bracket_of(word) : 0;
    size_t n = bracket != 0 ? bracket : strlen(word);
    if (bracket != 0 && is_file(o, word, n)) {
        insert(o, 1, word + n);
        o->pos[0] = part(o, word, n);
        return;
    }
    for (; n > 0; n--)
        if (word[n] == '/' && word[n + 1] != '\0' && is_file(o, word, n)) {
            insert(o, 1, word + n + 1);
            o->pos[0] = part(o, word, n);
            return;
        }
}

/* "0:3", "::2, 5", "...": nothing else it could be but a strange name. */
static bool looks_like_slice(const char *word)
{
    return word[strspn(word, "0123456789:,.- ")] == '\0' &&
           (strpbrk(word, ":,") != NULL || strcmp(word, "...") == 0);
}

/* PATH[SLICE], or a slice without brackets, behind the file; `last`: of the words that may be one.
 */
static int split_path(opts *o, int last)
{
    const char *word = last >= 1 ? o->pos[1] : "";
    const size_t bracket = bracket_of(word);
    const bool bare = looks_like_slice(word);
    int rc = EXIT_FINE;
    if ((bracket == 0 && !bare) || last > 1 || strcmp(o->pos[0], "-") == 0 ||
        (!is_url(o->pos[0]) && /* where opening it once more takes long */
         (access(word, F_OK) == 0 || is_path(o, word, &rc) || rc != EXIT_FINE)))
        return rc;
    if (bare) {
        char *text = o->text;
        o->text += sprintf(text, "[%s]", word) + 1;
        o->pos[1] = text;
    } else {
        insert(o, 2, word + bracket);
        o->pos[1] = part(o, word, bracket);
    }
    return rc;
}

/* FILE/PATH OUT is FILE OUT --path PATH. */
static void split_input(opts *o)
{
    if (o->npos != 2 || o->path != NULL)
        return;
    split_file(o, false);
    if (o->npos == 3) {
        o->path = o->pos[1];
        o->pos[1] = o->pos[2];
        o->npos = 2;
    }
}

int split_joined(const command *c, opts *o)
{
    if (c->run == cmd_convert)
        split_input(o);
    const bool slices = strstr(c->args, "SLICE") != NULL;
    const int after = strstr(c->args, "INPUT") != NULL; /* words behind them */
    if (o->npos == 0 || (strstr(c->args, "PATH") == NULL && c->run != cmd_mv))
        return EXIT_FINE;
    split_file(o, slices);
    return slices ? split_path(o, o->npos - 1 - after) : EXIT_FINE;
}
