/* SPDX-License-Identifier: BSD-3-Clause
 * Which kind of input a file is, and what its readers share. */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "csv_cell.h"
#include "print.h"

static bool ends_with(const char *path, const char *suffix)
{
    size_t n = strlen(path), k = strlen(suffix);
    return n > k && strcmp(path + n - k, suffix) == 0;
}

/* What stands where a file should be, and is none of anybody's data. */
static bool is_placeholder(const cip_err *err)
{
    return err->code == CIP_ERR_FORMAT && (strstr(err->text, "a Git LFS pointer") != NULL ||
                                           strstr(err->text, "an HTML page") != NULL);
}

/* Whether the bytes are those of a known format, whatever the name says. Of what can be read but
 * once the name decides. */
static bool is_known(const opts *o, const char *path)
{
    struct stat kind;
    if (stat(path, &kind) == 0 && !S_ISREG(kind.st_mode) && !S_ISDIR(kind.st_mode))
        return false;
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_file *f;
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_open(path, &open, &f, &err);
    cip_file_close(f);
    return (st != CIP_ERR_FORMAT && st != CIP_ERR_NOT_FOUND && st != CIP_ERR_IO) ||
           is_placeholder(&err);
}

static int kind_of(const opts *o, const char *path)
{
    const bool csv = ends_with(path, ".csv") || ends_with(path, ".tsv");
    if (o->from != NULL)
        return strcmp(o->from, "raw") == 0 ? INPUT_RAW : INPUT_CSV;
    if (o->shape != NULL && !csv)
        return INPUT_RAW;
    bool raw = ends_with(path, ".raw") || ends_with(path, ".bin") || ends_with(path, ".dat");
    if ((!raw && !csv) || is_known(o, path))
        return INPUT_KNOWN;
    return raw ? INPUT_RAW : INPUT_CSV;
}

int input_kind_of(const opts *o, const char *path)
{
    char sep;
    const int kind = kind_of(o, path);
    if (kind != INPUT_CSV && (o->header || o->no_header))
        fputs("cippus: --header and --no-header apply to csv input only\n", stderr);
    else if (kind != INPUT_CSV && o->unescape)
        fputs("cippus: --unescape applies to csv input only\n", stderr);
    else if (kind != INPUT_CSV && o->sep != NULL)
        fputs("cippus: --sep applies to csv input only\n", stderr);
    else if (o->sep != NULL && !csv_parse_separator(o->sep, &sep))
        fputs("cippus: --sep: expected one character such as ';', tab or blanks\n", stderr);
    else if (kind != INPUT_KNOWN && o->offset != 0)
        fputs("cippus: --offset applies to files of a known format only\n", stderr);
    else if (o->header && o->no_header)
        fputs("cippus: --header and --no-header cannot be combined\n", stderr);
    else
        return kind;
    return -1;
}

int input_of_update(const opts *o, const char *path)
{
    const int kind = input_kind_of(o, path);
    if (kind < 0 || kind == INPUT_RAW || (o->dtype == NULL && o->byteorder == NULL))
        return kind;
    fprintf(stderr, "cippus: --%s applies to raw input only\n",
            o->dtype != NULL ? "dtype" : "byteorder");
    return -1;
}

cip_file *input_open(const char *path, const opts *o, int *rc)
{
    int kind = input_kind_of(o, path);
    *rc = EXIT_USAGE;
    if (kind < 0)
        return NULL;
    *rc = EXIT_FAILED;
    if (kind != INPUT_KNOWN && is_url(path)) {
        fputs("cippus: ", stderr);
        print_file_name(stderr, path);
        fputs(": raw bytes and csv are not read from URLs; download the file\n", stderr);
        return NULL;
    }
    if (kind == INPUT_RAW)
        return raw_open(path, o, rc);
    if (kind == INPUT_CSV)
        return csv_open(path, o, rc);
    cip_limits limits;
    const cip_open_options open = open_options(o, &limits);
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    if (cip_open(path, &open, &f, &err) != CIP_OK)
        *rc = input_complain(path, &err);
    return f;
}

int input_complain(const char *path, const cip_err *err)
{
    cip_err hinted = *err;
    const size_t n = strlen(err->text);
    if (err->code == CIP_ERR_FORMAT && strstr(err->text, "known format") != NULL)
        snprintf(hinted.text + n, sizeof hinted.text - n,
                 "; use --from raw for plain bytes, --from csv for lines of values");
    return complain(path, &hinted);
}

bool input_is_literal(const opts *o, const char *text)
{
    const unsigned kind = cell_kind(text, strlen(text));
    return o->from == NULL && (kind & (CELL_EMPTY | CELL_TEXT)) == 0 && access(text, F_OK) != 0 &&
           errno == ENOENT;
}

cip_file *literal_open(const char *what, const char *text, strbuf *bytes, int *rc)
{
    static const char *const descr[] = { "'|b1'", "'<i8'", "'<u8'", "'<f8'", "'<c16'" };
    const size_t n = strlen(text);
    column_type type;
    const char *why = "a number";
    uint64_t bits[2] = { 0 };
    cip_err err = CIP_ERR_INIT;
    cip_file *f = NULL;
    *rc = EXIT_USAGE;
    if (n == 0 || !column_type_of(cell_kind(text, n), &type, &why) || type == COL_TEXT ||
        !cell_bits(text, n, type, bits)) {
        const bool told = why != NULL && strncmp(why, "expected ", 9) == 0;
        fprintf(stderr, "cippus: %s%s%s, found '", what, told ? "" : "expected ",
                why != NULL ? why : "a number");
        print_escaped(stderr, text);
        fputs("'\n", stderr);
        return NULL;
    }
    npy_header(bytes, descr[type], 0, NULL);
    for (unsigned i = 0; i < column_itemsize(type); i++)
        text_add(bytes, (const uint8_t[]){ (uint8_t)(bits[i / 8] >> (8 * (i % 8))) }, 1);
    *rc = EXIT_FAILED;
    if (bytes->failed)
        fputs("cippus: no memory\n", stderr);
    else if (cip_open_memory(bytes->ptr, bytes->len, NULL, &f, &err) != CIP_OK)
        *rc = complain(text, &err);
    return f;
}

void text_add(strbuf *t, const void *bytes, size_t n)
{
    if (t->cap - t->len < n + 1) {
        size_t cap = 2 * t->cap + n + 256;
        char *more = t->failed ? NULL : realloc(t->ptr, cap);
        if (more == NULL) {
            t->failed = true;
            return;
        }
        t->ptr = more;
        t->cap = cap;
    }
    memcpy(t->ptr + t->len, bytes, n);
    t->len += n;
    t->ptr[t->len] = '\0';
}

void text_addf(strbuf *t, const char *fmt, ...)
{
    char small[512];
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(small, sizeof small, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof small)
        t->failed = true;
    else
        text_add(t, small, (size_t)n);
}

static int failed(const char *path)
{
    fputs("cippus: ", stderr);
    print_file_name(stderr, path);
    fprintf(stderr, ": %s\n", strerror(errno));
    return EXIT_FAILED;
}

uint64_t most_bytes(const opts *o)
{
    return o->max_memory != 0 ? o->max_memory : (uint64_t)2 << 30;
}

static int too_large(const char *path, const opts *o)
{
    fputs("cippus: ", stderr);
    print_file_name(stderr, path);
    fprintf(stderr, ": expected at most %llu bytes, found more; see --max-memory\n",
            (unsigned long long)most_bytes(o));
    return EXIT_FAILED;
}

static int read_all(int fd, const char *path, const opts *o, loaded *b)
{
    size_t cap = 1 << 16;
    uint8_t *p = malloc(cap);
    b->n = 0;
    for (;;) {
        ssize_t got = p != NULL ? read(fd, p + b->n, cap - b->n) : -1;
        if (got < 0 && p != NULL && errno == EINTR)
            continue;
        if (got <= 0) {
            b->ptr = p;
            return got == 0 ? EXIT_FINE : failed(path);
        }
        b->n += (size_t)got;
        if (b->n > most_bytes(o)) {
            b->ptr = p;
            return too_large(path, o);
        }
        if (b->n == cap) {
            uint8_t *more = realloc(p, cap *= 2);
            if (more == NULL)
                free(p);
            p = more;
        }
    }
}

int bytes_map(const char *path, loaded *b)
{
    uint64_t nbytes;
    *b = (loaded){ 0 };
    const int fd = bytes_open(path, UINT64_MAX, &nbytes, NULL);
    if (fd < 0)
        return failed(path);
    void *p = nbytes > 0 ? mmap(NULL, (size_t)nbytes, PROT_READ, MAP_PRIVATE, fd, 0) : NULL;
    const int rc = p != MAP_FAILED ? EXIT_FINE : failed(path);
    close(fd);
    if (rc == EXIT_FINE)
        *b = (loaded){ .ptr = p, .n = (size_t)nbytes, .mapped = p != NULL };
    return rc;
}

int bytes_load(const char *path, const opts *o, loaded *b)
{
    struct stat st;
    if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return bytes_map(path, b);
    *b = (loaded){ 0 };
    int fd =
        strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return failed(path);
    const int rc = read_all(fd, path, o, b);
    close(fd);
    if (rc != EXIT_FINE)
        bytes_free(b);
    return rc;
}

void bytes_free(loaded *b)
{
    if (b->mapped)
        munmap(b->ptr, b->n);
    else
        free(b->ptr);
    *b = (loaded){ 0 };
}
