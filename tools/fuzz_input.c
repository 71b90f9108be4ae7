/* SPDX-License-Identifier: BSD-3-Clause
 * Files that do not say what they hold, as the command reads them. The first byte says which kind:
 * csv, with or without its line of names, with escapes, or divided by blanks; the points of
 * --points; raw bytes behind two lines that are --dtype and --shape. What opens reads whole, and
 * --to csv of a table reads back as the same table. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "input.h"

/* Stops the fuzzer here. */
static void require(bool holds)
{
    if (!holds)
        abort();
}

static int collect(void *user, const void *bytes, size_t n)
{
    text_add(user, bytes, n);
    return ((strbuf *)user)->failed;
}

/* The only array of a file, as `to`. */
static bool export_all(cip_file *f, const char *to, strbuf *out)
{
    cip_read_args args = { .size = sizeof args };
    *out = (strbuf){ 0 };
    return cip_export(cip_find(f, "", NULL), &args, to, collect, out, NULL) == CIP_OK;
}

/* A file in memory that has a path. */
static int memory_file(const void *bytes, size_t n, char path[64])
{
    int fd = memfd_create("input", MFD_CLOEXEC);
    require(fd >= 0 && write_bytes(fd, bytes, n));
    snprintf(path, 64, "/proc/self/fd/%d", fd);
    return fd;
}

static cip_file *open_bytes(const void *bytes, size_t n, const opts *o)
{
    char path[64];
    int rc, fd = memory_file(bytes, n, path);
    cip_file *f = input_open(path, o, &rc);
    require(f == NULL || rc == EXIT_FINE);
    close(fd);
    return f;
}

static bool is_table(cip_file *f)
{
    return cip_dtype_kind(cip_array_dtype(cip_find(f, "", NULL))) == CIP_RECORD;
}

/* Once more through csv: the same text. */
static void check_again(const strbuf *csv)
{
    strbuf again;
    const opts o = { .from = "csv", .header = true, .unescape = true };
    cip_file *f = open_bytes(csv->ptr, csv->len, &o);
    require(f != NULL && export_all(f, "csv", &again));
    require(again.len == csv->len && memcmp(again.ptr, csv->ptr, csv->len) == 0);
    free(again.ptr);
    cip_file_close(f);
}

static void check_csv(const uint8_t *data, size_t size, opts *o)
{
    strbuf raw, csv;
    o->from = "csv";
    o->max_memory = 1 << 20;
    cip_file *f = open_bytes(data, size, o);
    if (f == NULL)
        return;
    if (export_all(f, "raw", &raw) && is_table(f) && export_all(f, "csv", &csv)) {
        if (!o->unescape) /* \x31 is a text, and 1 a number when read again */
            check_again(&csv);
        free(csv.ptr);
    }
    free(raw.ptr);
    cip_file_close(f);
}

static void check_points(const uint8_t *data, size_t size)
{
    char path[64];
    points p;
    const opts o = { .max_memory = 1 << 20 };
    const int ndim = size > 0 ? data[0] % 4 : 1, fd = memory_file(data, size, path);
    if (points_read(path, ndim, &o, &p) == EXIT_FINE)
        require(ndim == 0 ? p.n == 0 : p.n % (size_t)ndim == 0);
    free(p.coord);
    close(fd);
}

/* The bytes up to a line's end, with a NUL in its place. */
static const char *take_line(char **at)
{
    char *line = *at, *end = strchr(line, '\n');
    if (end == NULL)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return line;
}

static void check_raw(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1), *at = text;
    require(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    opts o = { .from = "raw", .max_memory = 1 << 20, .max_elements = 1 << 16 };
    o.dtype = take_line(&at);
    o.shape = o.dtype != NULL ? take_line(&at) : NULL;
    if (o.shape != NULL) {
        strbuf raw = { 0 };
        cip_file *f = open_bytes(at, size - (size_t)(at - text), &o);
        if (f != NULL && export_all(f, "raw", &raw))
            require(raw.len <= size);
        free(raw.ptr);
        cip_file_close(f);
    }
    free(text);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Complaints are not to be seen. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    stderr = fopen("/dev/null", "w");
    return stderr == NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    opts o = { 0 };
    if (size == 0)
        return 0;
    switch (data[0]) {
    case 'p':
        check_points(data + 1, size - 1);
        break;
    case 'r':
        check_raw(data + 1, size - 1);
        break;
    default:
        o.header = data[0] == 'h';
        o.unescape = data[0] == 'e';
        o.no_header = data[0] == 'n';
        o.sep = data[0] == 'b' ? "blanks" : NULL;
        check_csv(data + 1, size - 1, &o);
    }
    return 0;
}
