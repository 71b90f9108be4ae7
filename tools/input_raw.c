/* SPDX-License-Identifier: BSD-3-Clause
 * Raw bytes as an array: a virtual npy file whose header is made from --dtype and --shape. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "print.h"

static int failed(const char *path, const char *why)
{
    fputs("cippus: ", stderr);
    print_file_name(stderr, path);
    fputs(": ", stderr);
    print_escaped(stderr, why);
    putc('\n', stderr);
    return EXIT_FAILED;
}

/* What --dtype and --shape say that the bytes are. */
typedef struct raw_shape {
    strbuf descr;
    int ndim, star; /* star: the axis whose length the bytes tell, or -1 */
    uint64_t known; /* bytes: of all, or with a star of each of its items */
    int64_t shape[CIP_MAX_NDIM];
} raw_shape;

static int parse_options(const opts *o, raw_shape *s)
{
    *s = (raw_shape){ .ndim = 1, .star = -1, .shape = { -1 } };
    if (!npy_descr(o->dtype != NULL ? o->dtype : "uint8", o->byteorder, &s->descr, &s->known))
        return EXIT_USAGE;
    if (o->shape != NULL && !parse_shape(o->shape, true, &s->ndim, s->shape)) {
        failed("--shape", "expected lengths such as 100,3 or *,3");
        return EXIT_USAGE;
    }
    for (int i = 0; i < s->ndim; i++) {
        if (s->shape[i] < 0)
            s->star = i;
        else if (__builtin_mul_overflow(s->known, (uint64_t)s->shape[i], &s->known))
            s->known = UINT64_MAX;
    }
    return s->star >= 0 && s->known == 0
               ? failed("--shape", "expected lengths of at least 1 beside '*'")
               : EXIT_FINE;
}

/* How many bytes of a pipe are looked at: one more than the shape has shows that it is longer. */
static uint64_t most_wanted(const raw_shape *s)
{
    return s->star >= 0 || s->known == UINT64_MAX ? UINT64_MAX : s->known + 1;
}

static int make_header(const char *path, raw_shape *s, bool is_pipe, virtual_npy *r)
{
    char why[160], found[32] = "more";
    if (s->star >= 0 && r->nbytes % s->known == 0)
        s->shape[s->star] = (int64_t)(r->nbytes / s->known);
    else if (s->star >= 0 || s->known != r->nbytes) {
        if (!is_pipe || s->star >= 0 || r->nbytes < s->known)
            snprintf(found, sizeof found, "%" PRIu64, r->nbytes);
        snprintf(why, sizeof why, "expected %s%" PRIu64 "%s bytes for the shape, found %s",
                 s->star >= 0 ? "a multiple of " : "", s->known,
                 s->known == UINT64_MAX ? " or more" : "", found);
        return failed(path, why);
    }
    npy_header(&r->header, s->descr.ptr, s->ndim, s->shape);
    return r->header.failed ? failed(path, "out of memory") : EXIT_FINE;
}

cip_file *raw_open(const char *path, const opts *o, int *rc)
{
    raw_shape s;
    bool is_pipe = false;
    virtual_npy *r = calloc(1, sizeof *r);
    *rc = EXIT_FAILED;
    if (r == NULL)
        return NULL;
    r->fd = -1;
    *rc = parse_options(o, &s);
    if (*rc == EXIT_FINE) {
        r->fd = bytes_open(path, most_wanted(&s), &r->nbytes, &is_pipe);
        *rc = r->fd < 0 ? failed(path, strerror(errno)) : make_header(path, &s, is_pipe, r);
    }
    free(s.descr.ptr);
    if (*rc == EXIT_FINE)
        return virtual_open(r, path, o, rc);
    virtual_free(r);
    return NULL;
}

/* --- numpy's names of types ------------------------------------------------------------------- */

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

/* As a literal of Python. */
static void add_name(const char *name, strbuf *out)
{
    text_add(out, "'", 1);
    for (; *name != '\0'; name++)
        if (*name == '\'' || *name == '\\' || *name == '\n')
            text_addf(out, "\\x%02x", *name);
        else
            text_add(out, name, 1);
    text_add(out, "'", 1);
}

/* `order` 0: each as the library has it. Records are packed; `depth` bounds them. */
static bool add_descr(const cip_dtype *d, char order, int depth, strbuf *out)
{
    if (cip_dtype_kind(d) != CIP_RECORD)
        return add_scalar(d, order != 0 ? order : cip_dtype_is_big(d) ? '>' : '<', out);
    text_addf(out, "[");
    for (size_t i = 0; i < cip_dtype_nfield(d); i++) {
        const cip_field *f = cip_dtype_field(d, i);
        if (depth > 16)
            return false;
        text_addf(out, "(");
        add_name(f->name, out);
        text_addf(out, ", ");
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

/* The bytes of an element without padding; false when they are none, or more than 2^63. */
static bool packed_size(const cip_dtype *d, uint64_t *sum)
{
    *sum = cip_dtype_kind(d) != CIP_RECORD ? cip_dtype_itemsize(d) : 0;
    for (size_t i = 0; cip_dtype_kind(d) == CIP_RECORD && i < cip_dtype_nfield(d); i++) {
        const cip_field *f = cip_dtype_field(d, i);
        uint64_t n;
        bool fits = packed_size(f->dtype, &n);
        for (int k = 0; k < f->ndim; k++)
            fits = fits && !__builtin_mul_overflow(n, (uint64_t)f->shape[k], &n);
        if (!fits || __builtin_add_overflow(*sum, n, sum))
            return false;
    }
    return *sum != 0 && *sum <= INT64_MAX;
}

bool npy_descr(const char *dtype, const char *byteorder, strbuf *descr, uint64_t *itemsize)
{
    cip_err err = CIP_ERR_INIT;
    bool fine = false;
    char order = strpbrk(dtype, "<>") != NULL ? 0 : '<';
    if (byteorder != NULL)
        order = strcmp(byteorder, "big") == 0 ? '>' : '<';
    cip_dtype *d = cip_dtype_parse(dtype, &err);
    if (d == NULL)
        failed("--dtype", err.text);
    else if (!add_descr(d, order, 0, descr) || descr->failed || !packed_size(d, itemsize))
        failed("--dtype", "expected a type that raw bytes can hold");
    else
        fine = true;
    cip_dtype_free(d);
    return fine;
}
