/* SPDX-License-Identifier: BSD-3-Clause
 * Raw bytes as an array: a virtual npy file whose header is made from --dtype and --shape and whose
 * data are read from the file where they lie. What comes through a pipe goes to a temporary file
 * first. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input.h"
#include "print.h"

typedef struct raw {
    int fd;
    strbuf header;
    uint64_t nbytes; /* of the data */
} raw;

static void raw_close(void *user)
{
    raw *r = user;
    if (r->fd >= 0)
        close(r->fd);
    free(r->header.ptr);
    free(r);
}

static cip_status raw_size(void *user, uint64_t *nbytes, cip_err *err)
{
    const raw *r = user;
    (void)err;
    *nbytes = r->header.len + r->nbytes;
    return CIP_OK;
}

static cip_status fail(cip_err *err, const char *what)
{
    err->code = CIP_ERR_IO;
    err->offset = CIP_NO_OFFSET;
    snprintf(err->text, sizeof err->text, "%s", what);
    return CIP_ERR_IO;
}

static cip_status read_range(const raw *r, uint64_t at, uint8_t *dst, size_t n, cip_err *err)
{
    if (at < r->header.len) {
        size_t left = r->header.len - (size_t)at, part = n < left ? n : left;
        memcpy(dst, r->header.ptr + at, part);
        at += part;
        dst += part;
        n -= part;
    }
    while (n > 0) {
        ssize_t got = pread(r->fd, dst, n, (off_t)(at - r->header.len));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fail(err, got < 0 ? strerror(errno) : "expected more bytes, found the end");
        at += (uint64_t)got;
        dst += got;
        n -= (size_t)got;
    }
    return CIP_OK;
}

static cip_status raw_ranges(void *user, const cip_range *range, size_t nrange, cip_err *err)
{
    cip_status st = CIP_OK;
    for (size_t i = 0; st == CIP_OK && i < nrange; i++)
        st = read_range(user, range[i].offset, range[i].dst, range[i].nbytes, err);
    return st;
}

static int failed(const char *path, const char *why)
{
    fputs("cippus: ", stderr);
    print_escaped(stderr, path);
    fputs(": ", stderr);
    print_escaped(stderr, why);
    putc('\n', stderr);
    return EXIT_FAILED;
}

/* A temporary file without a name that holds what the pipe gave. */
static int spool(int in)
{
    static char piece[1 << 16];
    FILE *t = tmpfile();
    int fd = t != NULL ? dup(fileno(t)) : -1;
    if (t != NULL)
        fclose(t);
    for (ssize_t got = 1; fd >= 0 && got != 0;) {
        got = read(in, piece, sizeof piece);
        for (ssize_t done = 0; got > 0 && done < got;) {
            ssize_t put = write(fd, piece + done, (size_t)(got - done));
            if (put < 0 && errno != EINTR)
                got = -1;
            done += put > 0 ? put : 0;
        }
        if (got < 0 && errno != EINTR) {
            close(fd);
            return -1;
        }
    }
    return fd;
}

static int open_bytes(const char *path, uint64_t *nbytes)
{
    struct stat st;
    int fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO)
                                    : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd >= 0 && fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
        (void)fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
        int file = S_ISDIR(st.st_mode) ? (errno = EISDIR, -1) : spool(fd);
        int saved = errno;
        close(fd);
        errno = saved;
        fd = file;
    }
    if (fd >= 0 && fstat(fd, &st) != 0) {
        close(fd);
        fd = -1;
    }
    *nbytes = fd >= 0 ? (uint64_t)st.st_size : 0;
    return fd;
}

/* The shape that was given, its `*` found from the bytes there are; all of them without one. */
static int find_shape(const char *path, const opts *o, uint64_t nbytes, uint64_t each, int *ndim,
                      int64_t *shape)
{
    char why[160];
    uint64_t known = each;
    int star = -1;
    *ndim = 1;
    shape[0] = -1;
    if (o->shape != NULL && !parse_shape(o->shape, true, ndim, shape)) {
        failed("--shape", "expected lengths such as 100,3 or *,3");
        return EXIT_USAGE;
    }
    for (int i = 0; i < *ndim; i++) {
        if (shape[i] < 0)
            star = i;
        else if (__builtin_mul_overflow(known, (uint64_t)shape[i], &known))
            known = UINT64_MAX;
    }
    if (star >= 0 && known != 0 && nbytes % known == 0)
        shape[star] = (int64_t)(nbytes / known);
    else if (star >= 0 || known != nbytes) {
        snprintf(why, sizeof why, "expected %s%" PRIu64 " bytes for the shape, found %" PRIu64,
                 star >= 0 ? "a multiple of " : "", known, nbytes);
        return failed(path, why);
    }
    return EXIT_FINE;
}

static int make_header(const char *path, const opts *o, raw *r)
{
    strbuf descr = { 0 };
    uint64_t each;
    int ndim;
    int64_t shape[CIP_MAX_NDIM];
    if (!npy_descr(o->dtype != NULL ? o->dtype : "uint8", o->byteorder, &descr, &each)) {
        free(descr.ptr);
        return EXIT_USAGE;
    }
    int rc = find_shape(path, o, r->nbytes, each, &ndim, shape);
    if (rc == EXIT_FINE)
        npy_header(&r->header, descr.ptr, ndim, shape);
    free(descr.ptr);
    return rc == EXIT_FINE && r->header.failed ? failed(path, "out of memory") : rc;
}

cip_file *raw_open(const char *path, const opts *o, int *rc)
{
    static const cip_io_methods methods = { CIP_IO_METHODS_INIT, .read_ranges = raw_ranges,
                                            .size = raw_size, .close = raw_close };
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_err err = CIP_ERR_INIT;
    cip_file *f = NULL;
    raw *r = calloc(1, sizeof *r);
    *rc = EXIT_FAILED;
    if (r == NULL)
        return NULL;
    r->fd = open_bytes(path, &r->nbytes);
    *rc = r->fd < 0 ? failed(path, strerror(errno)) : make_header(path, o, r);
    if (*rc != EXIT_FINE) {
        raw_close(r);
        return NULL;
    }
    open.format = "npy";
    if (cip_open_io(&methods, r, &open, &f, &err) != CIP_OK)
        *rc = complain(path, &err);
    return f;
}

/* --- npy headers ------------------------------------------------------------------------------ */

void npy_header(strbuf *out, const char *descr, int ndim, const int64_t *shape)
{
    strbuf dict = { 0 };
    text_add(&dict, "{'descr': ", 10);
    text_add(&dict, descr, strlen(descr));
    text_addf(&dict, ", 'fortran_order': False, 'shape': (");
    for (int i = 0; i < ndim; i++)
        text_addf(&dict, "%" PRId64 ",", shape[i]);
    text_addf(&dict, "), }");
    const bool large = dict.len + 80 > 65535;
    const size_t front = large ? 12 : 10;
    while ((front + dict.len + 1) % 64 != 0)
        text_addf(&dict, " ");
    text_addf(&dict, "\n");
    text_add(out, large ? "\x93NUMPY\x02\x00" : "\x93NUMPY\x01\x00", 8);
    for (size_t i = 0; i < front - 8; i++) {
        uint8_t b = (uint8_t)(dict.len >> (8 * i));
        text_add(out, &b, 1);
    }
    if (!dict.failed)
        text_add(out, dict.ptr, dict.len);
    out->failed |= dict.failed;
    free(dict.ptr);
}

/* numpy's code of a kind of fixed width, or NULL. */
static const char *code_of(cip_kind kind)
{
    static const char *const codes[] = {
        [CIP_BOOL] = "b1", [CIP_I8] = "i1",  [CIP_I16] = "i2", [CIP_I32] = "i4",  [CIP_I64] = "i8",
        [CIP_U8] = "u1",   [CIP_U16] = "u2", [CIP_U32] = "u4", [CIP_U64] = "u8",  [CIP_F16] = "f2",
        [CIP_F32] = "f4",  [CIP_F64] = "f8", [CIP_C64] = "c8", [CIP_C128] = "c16"
    };
    return (size_t)kind < sizeof codes / sizeof *codes ? codes[kind] : NULL;
}

static bool add_scalar(const cip_dtype *d, char order, strbuf *out)
{
    const cip_kind kind = cip_dtype_kind(d);
    const char *name = cip_dtype_name(d), *unit = strchr(name, '[');
    const unsigned long long n = cip_dtype_itemsize(d);
    if (code_of(kind) != NULL)
        text_addf(out, "'%c%s'", order, code_of(kind));
    else if (kind == CIP_ASCII)
        text_addf(out, "'|S%llu'", n);
    else if (kind == CIP_UCS4)
        text_addf(out, "'%cU%llu'", order, n / 4);
    else if (kind == CIP_OPAQUE)
        text_addf(out, "'|V%llu'", n);
    else if (kind == CIP_DATETIME64 || kind == CIP_TIMEDELTA64)
        text_addf(out, "'%c%s8%s'", order, kind == CIP_DATETIME64 ? "M" : "m",
                  unit != NULL ? unit : "");
    else
        return false;
    return true;
}

/* `order` 0: each as the library has it. Records are packed; `depth` bounds them. */
static bool add_descr(const cip_dtype *d, char order, int depth, strbuf *out)
{
    if (cip_dtype_kind(d) != CIP_RECORD)
        return add_scalar(d, order != 0 ? order : cip_dtype_is_big(d) ? '>' : '<', out);
    text_addf(out, "[");
    for (size_t i = 0; i < cip_dtype_nfield(d); i++) {
        const cip_field *f = cip_dtype_field(d, i);
        if (depth > 16 || strpbrk(f->name, "'\\\n") != NULL)
            return false;
        text_addf(out, "(");
        text_add(out, "'", 1);
        text_add(out, f->name, strlen(f->name));
        text_addf(out, "', ");
        if (!add_descr(f->dtype, order, depth + 1, out))
            return false;
        text_addf(out, ", (");
        for (int k = 0; k < f->ndim; k++)
            text_addf(out, "%" PRId64 ",", f->shape[k]);
        text_addf(out, ")), ");
    }
    text_addf(out, "]");
    return true;
}

static uint64_t packed_size(const cip_dtype *d)
{
    if (cip_dtype_kind(d) != CIP_RECORD)
        return cip_dtype_itemsize(d);
    uint64_t sum = 0;
    for (size_t i = 0; i < cip_dtype_nfield(d); i++) {
        const cip_field *f = cip_dtype_field(d, i);
        uint64_t n = packed_size(f->dtype);
        for (int k = 0; k < f->ndim; k++)
            n *= (uint64_t)f->shape[k];
        sum += n;
    }
    return sum;
}

/* Any file will do to have a dtype read. */
static cip_file *some_file(strbuf *npy)
{
    const int64_t one = 1;
    cip_file *f = NULL;
    npy_header(npy, "'|u1'", 1, &one);
    text_add(npy, "", 1);
    if (!npy->failed)
        (void)cip_open_memory(npy->ptr, npy->len, NULL, &f, NULL);
    return f;
}

bool npy_descr(const char *dtype, const char *byteorder, strbuf *descr, uint64_t *itemsize)
{
    cip_err err = CIP_ERR_INIT;
    strbuf npy = { 0 };
    bool fine = false;
    char order = strpbrk(dtype, "<>") != NULL ? 0 : '<';
    if (byteorder != NULL && strcmp(byteorder, "big") == 0)
        order = '>';
    else if (byteorder != NULL && strcmp(byteorder, "little") == 0)
        order = '<';
    else if (byteorder != NULL) {
        failed("--byteorder", "expected little or big");
        return false;
    }
    cip_file *f = some_file(&npy);
    const cip_dtype *d = f != NULL ? cip_dtype_from_text(f, dtype, &err) : NULL;
    if (d == NULL)
        failed("--dtype", err.text);
    else if (!add_descr(d, order, 0, descr) || descr->failed || packed_size(d) == 0)
        failed("--dtype", "expected a type that raw bytes can hold");
    else
        fine = true;
    *itemsize = fine ? packed_size(d) : 0;
    cip_file_close(f);
    free(npy.ptr);
    return fine;
}
