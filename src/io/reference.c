/* SPDX-License-Identifier: BSD-3-Clause
 * URI references to members: from what a file says to a path, or a refusal. Dot segments are
 * removed from the text, as RFC 3986 5.2.4 has it, and each segment is decoded on its own, so that
 * no escape can add a separator or a "..". */
#include "io/io_impl.h"

#include <string.h>
#include <strings.h>

#include "base/num.h"

static cip_status refuse(const char *reference, const char *why, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "'%.120s' %s", reference, why);
}

static cip_status refuse_outside(const char *reference, cip_err *err)
{
    return refuse(reference, "is outside the file's folder (.allow_external opens it)", err);
}

static cip_status refuse_network(const char *reference, cip_err *err)
{
    return cip_fail(
        err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
        "'%.120s' is neither a path nor a file: URI, and nothing is read over a network",
        reference);
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The length of "scheme:" in front, or 0. */
static size_t scheme_length(const char *s)
{
    size_t n = 0;
    if (!is_letter(s[0]))
        return 0;
    while (is_letter(s[n]) || (s[n] >= '0' && s[n] <= '9') || s[n] == '+' || s[n] == '-' ||
           s[n] == '.')
        n++;
    return s[n] == ':' ? n + 1 : 0;
}

/* A path as it grows: "/a/b", each segment with its slash; what lies before `floor` are leading
 * ".." that nothing takes back. */
typedef struct growing_path {
    char *text;
    size_t len, floor;
} growing_path;

/* Adds the segment s..end, decoded. False when it holds what no name may. */
static bool add_segment(growing_path *p, const char *s, const char *end)
{
    size_t start = p->len;
    p->text[p->len++] = '/';
    while (s < end) {
        /* a '%' that starts no escape is itself, as some writers do not encode at all */
        const bool escaped =
            s[0] == '%' && end - s >= 3 && cip_hex_digit(s[1]) >= 0 && cip_hex_digit(s[2]) >= 0;
        const unsigned char c =
            (unsigned char)(escaped ? cip_hex_digit(s[1]) * 16 + cip_hex_digit(s[2]) : s[0]);
        s += escaped ? 3 : 1;
        if (c == '\0' || c == '/' || c == '\\')
            return false;
        p->text[p->len++] = (char)c;
    }
    p->text[p->len] = '\0';
    if (p->len == start + 1 || strcmp(p->text + start, "/.") == 0)
        p->len = start;
    return true;
}

/* Takes back a ".." just added, and the segment before it. False when there is none. */
static bool apply_dotdot(growing_path *p)
{
    p->len -= 3;
    if (p->len == p->floor)
        return false;
    while (p->text[--p->len] != '/')
        ;
    return true;
}

/* Decodes and normalises s (up to its end or a '#') into p. */
static cip_status grow_path(growing_path *p, const char *s, const char *reference, uint32_t flags,
                            cip_err *err)
{
    const char *end = s + strcspn(s, "#");
    bool absolute = s[0] == '/';
    const char *slash;
    do {
        slash = memchr(s, '/', (size_t)(end - s));
        const char *stop = slash != NULL ? slash : end;
        size_t start = p->len;
        if (!add_segment(p, s, stop))
            return refuse(reference, "has a NUL, a slash or a backslash in a name", err);
        if (strcmp(p->text + start, "/..") == 0 && !apply_dotdot(p) && !absolute) {
            if ((flags & CIP_IO_EXTERNAL) == 0)
                return refuse_outside(reference, err);
            p->len += 3; /* the text still says "/.." */
            p->floor = p->len;
        }
        s = stop + 1;
    } while (slash != NULL);
    p->text[p->len] = '\0';
    return CIP_OK;
}

/* Finds where the path starts, or refuses what is elsewhere. */
static cip_status find_path(const char **s, const char *reference, uint32_t flags, cip_err *err)
{
    size_t scheme = scheme_length(reference);
    if (scheme != 0 && strncasecmp(reference, "file:", scheme) != 0)
        return refuse_network(reference, err);
    if (scheme == 0 && strncmp(reference, "//", 2) == 0)
        return refuse_network(reference, err);
    if ((scheme != 0 || reference[0] == '/') && (flags & CIP_IO_EXTERNAL) == 0)
        return refuse_outside(reference, err);
    *s = reference + scheme;
    if (scheme == 0)
        return CIP_OK;
    if (strncmp(*s, "//", 2) == 0) { /* the path of a file: URI is absolute and on this machine */
        const char *host = *s + 2;
        size_t n = strcspn(host, "/#");
        if (n != 0 && (n != 9 || strncasecmp(host, "localhost", 9) != 0))
            return refuse_network(reference, err);
        *s = host + n;
    }
    return **s == '/' ? CIP_OK : refuse(reference, "is a file: URI without a path", err);
}

cip_status cip_reference_path(cip_mem *mem, const char *reference, uint32_t flags, char **path,
                              cip_err *err)
{
    const char *s = NULL;
    growing_path p = { 0 };
    *path = NULL;
    if (reference[0] == '\0' || reference[0] == '#')
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "an empty reference means the file itself, not a member");
    CIP_TRY(find_path(&s, reference, flags, err));
    CIP_TRY(cip_mem_get(mem, strlen(s) + 2, (void **)&p.text, err)); /* a slash more, and a NUL */
    cip_status st = grow_path(&p, s, reference, flags, err);
    if (st == CIP_OK && p.len == 0)
        st = cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                      "'%.120s' is a directory, not a file", reference);
    if (st != CIP_OK) {
        cip_mem_put(mem, p.text);
        return st;
    }
    if (s[0] != '/')
        memmove(p.text, p.text + 1, p.len);
    *path = p.text;
    return CIP_OK;
}
