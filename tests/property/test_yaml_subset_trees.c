/* SPDX-License-Identifier: BSD-3-Clause
 * The scanner of the usual YAML beside libyaml: on every tree of the sources, the samples and the
 * shared corpus, whole and cut short, and on texts made at random of what YAML is made of. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/corpus.h"
#include "support/effort.h"
#include "support/tree/yaml_events_testing.h"

enum { LARGEST = 16 << 20, TEXT = 4096 };

static struct {
    uint64_t seed;
    size_t texts, whole, differ;
} run;

static uint64_t random_next(void)
{
    uint64_t z = run.seed += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static size_t below(size_t n)
{
    return (size_t)(random_next() % n);
}

/* --- comparing ------------------------------------------------------------------------------ */

static bool try_text(const char *name, const char *text, size_t n)
{
    cip_env env;
    char *exact = malloc(n + (n == 0));
    if (exact == NULL || cip_env_init(&env, NULL, NULL, NULL, NULL) != CIP_OK)
        abort();
    memcpy(exact, text, n);
    const compared c = compare_events(&env, exact, n);
    cip_env_clear(&env);
    free(exact);
    run.texts++;
    run.whole += c.whole;
    run.differ += c.differs;
    if (c.differs)
        printf("%s: event %zu of these %zu bytes differs:\n%.*s\n", name, c.events, n,
               (int)(n < TEXT ? n : TEXT), text);
    return c.whole;
}

/* --- files ---------------------------------------------------------------------------------- */

/* Up to the line that ends the tree, or the first block. */
static size_t tree_length(const char *p, size_t n)
{
    const char *dots = memmem(p, n, "\n...", 4);
    const char *block = memmem(p, n, "\323BLK", 4);
    size_t end = dots != NULL ? (size_t)(dots - p) + 4 : n;
    return block != NULL && (size_t)(block - p) < end ? (size_t)(block - p) : end;
}

static int visit(const char *name, const struct stat *st, int type, struct FTW *where)
{
    (void)where;
    const char *dot = strrchr(name, '.');
    if (type != FTW_F || dot == NULL || st->st_size > LARGEST ||
        (strcmp(dot, ".asdf") != 0 && strcmp(dot, ".yaml") != 0))
        return 0;
    FILE *f = fopen(name, "rb");
    char *p = malloc((size_t)st->st_size + 1);
    if (f == NULL || p == NULL)
        abort();
    const size_t n = tree_length(p, fread(p, 1, (size_t)st->st_size, f));
    fclose(f);
    try_text(name, p, n);
    for (size_t i = 0; n < 20000 && i < (test_full() ? n : 5); i++)
        try_text(name, p, test_full() ? i : below(n + 1));
    free(p);
    return 0;
}

/* --- made at random -------------------------------------------------------------------------
 * Texts that are YAML of the subset more often than not. */

static char made[TEXT];
static size_t length;

static void put(const char *text)
{
    const size_t n = strlen(text);
    if (length + n <= sizeof made) {
        memcpy(made + length, text, n);
        length += n;
    }
}

#define ONE_OF(list) list[below(sizeof list / sizeof *list)]

static void write_scalar(void)
{
    static const char *const scalars[] = {
        "a",          "b c",  "-1",  "1.5",   "'q'",  "'it''s'",    "\"d\"", "\"x\\n\\\"\"",
        "a:b",        "x#y",  "~",   "<<",    "-a",   "\xc3\xa9",   "a: b",  "x #c",
        "''",         "\"\"", "!t",  "!!i 5", "- ",   "",           "?",     "k?",
        "2020-01-01", "'a",   "a'b", "*a",    "&a b", "http://a/b", "\t",    "|",
        "\"\\x\"",    ":a",   "a:",  "[",     "a\n",  "'a\n b'"
    };
    put(scalars[below(below(4) != 0 ? 14 : sizeof scalars / sizeof *scalars)]);
}

static void write_gap(void)
{
    static const char *const gaps[] = { " ", " ", " ", "", "\n", "\n  ", " \n\n " };
    put(ONE_OF(gaps));
}

static void write_flow(int depth)
{
    static const char *const tags[] = { "", "", "", "!t ", "!!s ", "!<a:b> " };
    static const char *const colons[] = { ": ", ": ", ": ", ": ", ":", ":\n ", " : " };
    const bool seq = below(2) == 0;
    put(ONE_OF(tags));
    if (depth > 3 || below(2) == 0) {
        write_scalar();
        return;
    }
    put(seq ? "[" : "{");
    for (size_t i = below(4); i > 0; i--) {
        if (!seq) {
            write_scalar();
            put(ONE_OF(colons));
        }
        write_flow(depth + 1);
        if (i > 1 || below(4) == 0)
            put(",");
        write_gap();
    }
    put(seq ? "]" : "}");
}

static void write_pad(size_t n)
{
    while (n-- > 0)
        put(" ");
}

/* What stands behind an indicator, and the lines that belong to it. */
static void write_block(size_t indent, int depth)
{
    static const char *const ends[] = { "\n", "\n", "\n", " \n", " # c\n", "\n\n", "\n  # c\n" };
    static const char *const tags[] = { "", "", " !t", " !core/x-1.0.0" };
    static const size_t deeper[] = { 0, 1, 2, 2, 2, 2, 3 };
    const size_t what = below(8), at = indent + ONE_OF(deeper);
    put(ONE_OF(tags));
    if (depth > 4 || what < 4) {
        put(" ");
        if (what < 2)
            write_flow(1);
        else if (what != 3 || below(3) != 0)
            write_scalar();
        put(ONE_OF(ends));
        return;
    }
    put(ONE_OF(ends));
    for (size_t i = 1 + below(3); i > 0; i--) {
        write_pad(at + (below(40) == 0));
        if (what < 6) {
            put("-");
            if (below(3) != 0) {
                write_block(at, depth + 1);
                continue;
            }
            put(" ");
        }
        write_scalar();
        put(":");
        write_block(what < 6 ? at + 2 : at, depth + 1);
    }
}

static void try_made(void)
{
    static const char *const begins[] = { "---", "---", "", "%YAML 1.1\n%TAG ! tag:x/\n---" };
    static const char *const ends[] = { "", "...\n", "...", "---\n", "... # a\n" };
    length = 0;
    put(ONE_OF(begins));
    write_block(0, 0);
    put(ONE_OF(ends));
    if (below(8) == 0 && length != 0)
        made[below(length)] = " \n:-,[]{}'\"#!"[below(13)];
    try_text("made", made, length);
}

int main(void)
{
    const char *corpus = test_corpus();
    run.seed = test_seed();
    nftw(CIP_SOURCE_DIR "/src", visit, 32, FTW_PHYS);
    nftw(CIP_SOURCE_DIR "/samples", visit, 32, FTW_PHYS);
    if (corpus != NULL)
        nftw(corpus, visit, 32, FTW_PHYS);
    printf("%zu texts of files, %zu read to the end, %zu differ\n", run.texts, run.whole,
           run.differ);
    const size_t files = run.texts, read = run.whole;
    for (int i = test_full() ? 2000000 : 10000; i > 0; i--)
        try_made();
    printf("%zu made, %zu read to the end, %zu differ in all\n", run.texts - files,
           run.whole - read, run.differ);
    /* too few would show nothing */
    return run.differ != 0 || read < 10 || (run.whole - read) * 10 < run.texts - files;
}
