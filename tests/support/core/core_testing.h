/* SPDX-License-Identifier: BSD-3-Clause
 * What the tests of core share: small files in memory, what is written into a buffer, temporary
 * folders. */
#ifndef CIP_TESTS_CORE_TESTING_H
#define CIP_TESTS_CORE_TESTING_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cippus/cippus.h"

/* Elements in this machine's order as a little-endian descr ("'<i4'") has them; data of any other
 * descr are given as they lie in the file. */
static inline void test_to_order(const char *descr, char *data, size_t nbytes)
{
    const uint16_t one = 1;
    const bool host_big = *(const uint8_t *)&one == 0;
    if (!host_big || descr[0] != '\'' || descr[1] != '<' || descr[2] == '\0')
        return;
    size_t unit = (size_t)atoi(descr + 3);
    unit = descr[2] == 'c' ? unit / 2 : descr[2] == 'U' ? 4 : unit;
    for (size_t at = 0; unit != 0 && at + unit <= nbytes; at += unit)
        for (size_t k = 0; k < unit / 2; k++) {
            char swap = data[at + k];
            data[at + k] = data[at + unit - 1 - k];
            data[at + unit - 1 - k] = swap;
        }
}

/* A .npy file in memory, of elements in this machine's order: descr such as "'<i4'", shape such as
 * "(3, 4)". Free with free(). */
static inline char *test_npy(const char *descr, const char *shape, int fortran, const void *data,
                             size_t nbytes, size_t *total)
{
    char text[1024];
    int n = snprintf(text, sizeof text, "{'descr': %s, 'fortran_order': %s, 'shape': %s, }", descr,
                     fortran ? "True" : "False", shape);
    size_t head = ((size_t)n + 10 + 64) / 64 * 64;
    char *file = malloc(head + nbytes + 1);
    memset(file, ' ', head);
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = (char)((head - 10) & 0xff);
    file[9] = (char)((head - 10) >> 8);
    memcpy(file + 10, text, (size_t)n);
    file[head - 1] = '\n';
    if (nbytes != 0)
        memcpy(file + head, data, nbytes);
    test_to_order(descr, file + head, nbytes);
    *total = head + nbytes;
    return file;
}

/* The same, opened; *mem is to be freed after closing. */
static inline cip_file *test_open_npy(const char *descr, const char *shape, const void *data,
                                      size_t nbytes, char **mem)
{
    size_t n;
    cip_file *f = NULL;
    *mem = test_npy(descr, shape, 0, data, nbytes, &n);
    cip_err err = CIP_ERR_INIT;
    if (cip_open_memory(*mem, n, NULL, &f, &err) != CIP_OK)
        print_error("%s\n", err.text);
    assert_non_null(f);
    return f;
}

/* An ASDF file without blocks: `tree` is the text between the directives and the end. */
static inline cip_file *test_open_asdf(const char *tree, char **mem)
{
    static const char head[] = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n"
                               "%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n";
    size_t n = strlen(head) + strlen(tree) + 5;
    cip_file *f = NULL;
    *mem = malloc(n + 1);
    snprintf(*mem, n + 1, "%s%s...\n", head, tree);
    cip_err err = CIP_ERR_INIT;
    if (cip_open_memory(*mem, strlen(*mem), NULL, &f, &err) != CIP_OK)
        print_error("%s\n", err.text);
    assert_non_null(f);
    return f;
}

/* Collects what is written. */
typedef struct taken {
    char text[1 << 16];
    size_t n;
    int calls, stop_at; /* stop_at: the call that asks to stop; 0: none */
} taken;

static inline int take_text(void *user, const void *p, size_t n)
{
    taken *t = user;
    if (++t->calls == t->stop_at)
        return 1;
    assert_true(t->n + n < sizeof t->text);
    memcpy(t->text + t->n, p, n);
    t->n += n;
    t->text[t->n] = '\0';
    return 0;
}

static inline int take_into_file(void *user, const void *p, size_t n)
{
    return fwrite(p, 1, n, (FILE *)user) != n;
}

#endif
