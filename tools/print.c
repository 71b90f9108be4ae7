/* SPDX-License-Identifier: BSD-3-Clause
 * Printing that is safe on a terminal, and the shape of every message. */
#include "print.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Decodes one UTF-8 sequence of at most n bytes; 0 when it is none. */
static size_t decode_utf8(const unsigned char *s, size_t n, uint32_t *c)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    size_t len = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : s[0] >= 0xc2 ? 2 : 0;
    if (len == 0 || len > n || s[0] > 0xf4)
        return 0;
    *c = len == 1 ? s[0] : s[0] & (0xffu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        *c = *c << 6 | (s[i] & 0x3f);
    }
    bool fine = *c >= least[len] && *c <= 0x10ffff && (*c < 0xd800 || *c > 0xdfff);
    return fine ? len : 0;
}

/* Whether a terminal would do something else with it than show it. */
static bool is_dangerous(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e || c == 0x200f ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

void print_escaped(FILE *f, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t left = strlen(text);
    while (left > 0) {
        uint32_t c = 0;
        size_t n = decode_utf8(s, left, &c);
        if (n == 0)
            fprintf(f, "\\x%02x", s[0]);
        else if (is_dangerous(c))
            fprintf(f, c < 0x100 ? "\\x%02" PRIx32 : "\\u%04" PRIx32, c);
        else
            fwrite(s, 1, n, f);
        n = n == 0 ? 1 : n;
        s += n;
        left -= n;
    }
}

bool is_url(const char *name)
{
    return strncasecmp(name, "http://", 7) == 0 || strncasecmp(name, "https://", 8) == 0 ||
           strncasecmp(name, "s3://", 5) == 0;
}

/* User, password and query of a URL are credentials, or may hold some. */
void print_file_name(FILE *f, const char *name)
{
    const char *host = strstr(name, "://");
    char *shown = host != NULL ? strdup(name) : NULL;
    if (shown == NULL) {
        print_escaped(f, host == NULL ? name : "(a URL)");
        return;
    }
    host += 3;
    const size_t front = (size_t)(host - name), end = front + strcspn(host, "?#");
    size_t from = front;
    for (size_t i = front; i < end && name[i] != '/'; i++)
        if (name[i] == '@')
            from = i + 1;
    memmove(shown + front, name + from, end - from);
    shown[front + end - from] = '\0';
    print_escaped(f, shown);
    fputs(name[end] == '?' ? "?..." : "", f);
    free(shown);
}

bool print_is_utf8(const char *text)
{
    uint32_t c;
    size_t n = 1;
    for (const char *s = text; *s != '\0' && n != 0; s += n)
        n = decode_utf8((const unsigned char *)s, strlen(s), &c);
    return n != 0;
}

void print_json_string(FILE *f, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t left = strlen(text);
    putc('"', f);
    while (left > 0) {
        uint32_t c = 0;
        size_t n = decode_utf8(s, left, &c);
        if (n == 0)
            fputs("\xef\xbf\xbd", f);
        else if (c == '"' || c == '\\')
            fprintf(f, "\\%c", (char)c);
        else if (is_dangerous(c))
            fprintf(f, "\\u%04" PRIx32, c);
        else
            fwrite(s, 1, n, f);
        n = n == 0 ? 1 : n;
        s += n;
        left -= n;
    }
    putc('"', f);
}

void print_json_double(FILE *f, double v)
{
    if (isnan(v))
        fputs("\"NaN\"", f);
    else if (isinf(v))
        fputs(v > 0 ? "\"Infinity\"" : "\"-Infinity\"", f);
    else {
        char text[64];
        cip_format_element(cip_dtype_of(CIP_F64), &v, text, sizeof text);
        fputs(text, f);
    }
}

void print_json_scalar(FILE *f, const cip_node *n)
{
    int64_t i;
    uint64_t u;
    double v;
    bool b;
    if (cip_node_kind(n) == CIP_NODE_NULL)
        fputs("null", f);
    else if (cip_tree_get_bool(n, "", &b, NULL) == CIP_OK)
        fputs(b ? "true" : "false", f);
    else if (cip_tree_get_int(n, "", &i, NULL) == CIP_OK)
        fprintf(f, "%" PRId64, i);
    else if (cip_tree_get_uint(n, "", &u, NULL) == CIP_OK)
        fprintf(f, "%" PRIu64, u);
    else if (cip_node_kind(n) == CIP_NODE_FLOAT && cip_tree_get_double(n, "", &v, NULL) == CIP_OK)
        print_json_double(f, v);
    else
        print_json_string(f, cip_node_text(n, NULL));
}

void print_shape(FILE *f, const int64_t *shape, int ndim)
{
    putc('[', f);
    for (int d = 0; d < ndim; d++)
        fprintf(f, "%s%" PRId64, d == 0 ? "" : ", ", shape[d]);
    putc(']', f);
}

void print_nbytes(FILE *f, uint64_t n)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
    if (n < 1024) {
        fprintf(f, "%" PRIu64 " bytes", n);
        return;
    }
    double v = (double)n / 1024;
    int u = 0;
    for (; v >= 1024 && u < 3; u++)
        v /= 1024;
    fprintf(f, "%.1f %s (%" PRIu64 " bytes)", v, units[u], n);
}

/* A `.field` of an options struct that `text` starts with, as an option: its length, or 0. */
static size_t option_at(const char *text, char *option, size_t cap)
{
    const size_t n = text[0] == '.' ? strspn(text + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;
    if (n == 0 || n + 3 > cap)
        return 0;
    memcpy(option, text + 1, n);
    option[n] = '\0';
    for (char *p = option; (p = strchr(p, '_')) != NULL;)
        *p = '-';
    if (strcmp(option, "overflow") == 0) /* which reading has for it */
        snprintf(option, cap, "accept-loss");
    for (const opt_row *r = opt_rows; r->name != NULL; r++)
        if (strcmp(r->name, option) == 0)
            return n + 1;
    return 0;
}

/* The command that does what a call of the library does that `text` starts with; *len of the call.
 */
static const char *command_at(const char *text, size_t *len)
{
    static const char *const calls[][2] = { { "cip_recover", "recover" },
                                            { "cip_convert", "convert" },
                                            { "cip_verify", "verify" },
                                            { "cip_change_defrag", "defrag" } };
    *len = strspn(text, "abcdefghijklmnopqrstuvwxyz_");
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        if (strlen(calls[i][0]) == *len && strncmp(text, calls[i][0], *len) == 0)
            return calls[i][1];
    *len = 0;
    return NULL;
}

void print_words(FILE *f, const char *text)
{
    char *words = NULL, option[32];
    bool quoted = false; /* a file's own words; no apostrophe as in "file's" */
    size_t n, len;
    FILE *out = open_memstream(&words, &n);
    for (const char *p = text; out != NULL && *p != '\0'; p += len) {
        const bool behind = p > text && (p[-1] == ' ' || p[-1] == '('), starts = behind && !quoted;
        if (*p == '\'')
            quoted = quoted ? isalnum((unsigned char)p[1]) != 0 : behind || p == text;
        len = starts ? option_at(p, option, sizeof option) : 0;
        if (len != 0)
            fprintf(out, "--%s", option);
        const char *verb = len == 0 && starts ? command_at(p, &len) : NULL;
        if (verb != NULL)
            fprintf(out, "'cippus %s'", verb);
        if (len == 0) {
            putc(*p, out);
            len = 1;
        }
    }
    if (out != NULL)
        fclose(out);
    print_escaped(f, words != NULL ? words : text);
    free(words);
}

/* Why the first write to standard output failed; 0: none did. */
static int stdout_errno;

static void flush_stdout(void)
{
    if (fflush(stdout) != 0 && stdout_errno == 0)
        stdout_errno = errno;
}

/* Whether the text says what its status and its part would say once more: "no node 'x'", "MD5
 * mismatch in block 0". */
static bool says_itself(const cip_err *err)
{
    return (err->code == CIP_ERR_NOT_FOUND && strncmp(err->text, "no ", 3) == 0) ||
           (err->code == CIP_ERR_FORMAT && strncmp(err->text, "this is ", 8) == 0) ||
           err->code == CIP_ERR_EXISTS || err->code == CIP_ERR_STALE ||
           (err->code == CIP_ERR_CHECKSUM && strstr(err->text, " mismatch in ") != NULL);
}

/* The name of an output that does not tell its format: "'x' does not tell the format". */
static bool complain_name(const cip_err *err)
{
    const char *end = strstr(err->text, "' does not tell the format");
    if (err->code != CIP_ERR_ARG || end == NULL || err->text[0] != '\'')
        return false;
    char name[sizeof err->text];
    snprintf(name, sizeof name, "%.*s", (int)(end - err->text), err->text);
    fputs("cippus: cannot tell the output format from ", stderr);
    print_escaped(stderr, name);
    fputs("'; use --format NAME", stderr);
    const char *format, *caps, *between = " (";
    for (size_t i = 0; (format = cip_format_at(i, NULL, &caps)) != NULL; i++)
        if (strcmp(caps, "read verify write") == 0) { /* kinds of its files come behind each */
            fprintf(stderr, "%s%s", between, format);
            between = ", ";
        }
    fputs(")\n", stderr);
    return true;
}

/* A value of the tree where an array is wanted; FILE/PATH for a command that takes files alone. */
static void hint_inside(const char *file, const cip_err *err)
{
    struct stat st;
    char name[1024];
    if (err->code == CIP_ERR_TYPE && strstr(err->text, "is in the tree, but is not an array"))
        fputs("; 'cippus tree' prints it", stderr);
    if (strcmp(err->part, "output") == 0 || strstr(err->text, strerror(ENOTDIR)) == NULL)
        return;
    for (size_t n = strlen(file); n > 0 && n < sizeof name; n--) {
        snprintf(name, sizeof name, "%.*s", (int)n, file);
        if (file[n] == '/' && file[n + 1] != '\0' && stat(name, &st) == 0 && S_ISREG(st.st_mode)) {
            fputs("; did you mean '", stderr);
            print_escaped(stderr, name);
            fputs("' and its '", stderr);
            print_escaped(stderr, file + n + 1);
            fputs("' (--path)?", stderr);
            return;
        }
    }
}

int complain(const char *file, const cip_err *err)
{
    flush_stdout();
    if (err->code == CIP_ERR_CANCELLED && stdout_errno != 0)
        return EXIT_FAILED; /* we stopped it ourselves; finish_stdout says why */
    if (complain_name(err))
        return EXIT_USAGE;
    fputs("cippus: ", stderr);
    print_file_name(stderr, file);
    if (err->code == CIP_ERR_EXISTS && strcmp(err->text, "the output exists") == 0) {
        fputs(" exists; --overwrite replaces it\n", stderr);
        return EXIT_FAILED;
    }
    const bool itself = says_itself(err);
    if (!itself)
        fprintf(stderr, ": %s", cip_status_name((cip_status)err->code));
    bool part = err->part[0] != '\0' && !itself,
         at = err->offset != CIP_NO_OFFSET && !(itself && err->offset == 0);
    if (part || at) {
        fputs(" (", stderr);
        if (part)
            print_escaped(stderr, err->part);
        if (at)
            fprintf(stderr, "%sbyte %" PRIu64, part ? ", " : "", err->offset);
        putc(')', stderr);
    }
    fputs(": ", stderr);
    print_words(stderr, err->text);
    hint_inside(file, err);
    putc('\n', stderr);
    return err->code == CIP_ERR_ARG ? EXIT_USAGE : EXIT_FAILED;
}

const char *severity_name(cip_severity s)
{
    static const char *const names[] = { "note", "warning", "damage", "fatal" };
    return (size_t)s < 4 ? names[s] : "finding";
}

size_t print_warnings(const char *name, const cip_file *f, size_t first)
{
    const cip_finding *w;
    size_t i;
    flush_stdout();
    for (i = first; (w = cip_file_finding(f, i)) != NULL; i++) {
        fputs("cippus: ", stderr);
        print_file_name(stderr, name);
        fprintf(stderr, ": %s", severity_name(w->severity));
        if (w->part[0] != '\0' || w->offset != CIP_NO_OFFSET) {
            fputs(" (", stderr);
            print_escaped(stderr, w->part);
            if (w->offset != CIP_NO_OFFSET)
                fprintf(stderr, "%sbyte %" PRIu64, w->part[0] != '\0' ? ", " : "", w->offset);
            putc(')', stderr);
        }
        fputs(": ", stderr);
        print_words(stderr, w->text);
        putc('\n', stderr);
    }
    return i;
}

void print_told(const char *name, const char *kind, const cip_finding *f)
{
    fputs("cippus: ", stderr);
    print_file_name(stderr, name);
    fprintf(stderr, ": %s", kind);
    if (f->part != NULL && f->part[0] != '\0') {
        print_escaped(stderr, f->part);
        fputs(": ", stderr);
    }
    print_words(stderr, f->text);
    putc('\n', stderr);
}

int terminal_width(void)
{
    enum { NARROWEST = 20 };
    struct winsize w;
    const int width = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
    return width == 0 ? 80 : width < NARROWEST ? NARROWEST : width;
}

int terminal_height(void)
{
    enum { LOWEST = 8 };
    struct winsize w;
    const int height = ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0 ? w.ws_row : 0;
    return height == 0 ? 24 : height < LOWEST ? LOWEST : height;
}

int write_stdout(void *user, const void *bytes, size_t n)
{
    (void)user;
    if (fwrite(bytes, 1, n, stdout) == n)
        return 0;
    if (stdout_errno == 0)
        stdout_errno = errno;
    return 1;
}

int finish_stdout(int rc)
{
    flush_stdout();
    if (stdout_errno == 0 && !ferror(stdout))
        return rc;
    fprintf(stderr, "cippus: writing to standard output: %s\n",
            stdout_errno != 0 ? strerror(stdout_errno) : "failed");
    return EXIT_FAILED;
}

cip_open_options open_options(const opts *o, cip_limits *limits)
{
    *limits = (cip_limits){ .size = sizeof *limits };
    limits->max_memory = o->max_memory;
    limits->max_elements = o->max_elements;
    cip_open_options open = { .size = sizeof open };
    open.limits = limits;
    open.threads = o->threads;
    open.allow_external = o->allow_external;
    open.force = o->force;
    open.offset = o->offset;
    open.cache = o->cache;
    open.cache_nbytes = o->cache_nbytes;
    open.sidecar = o->sidecar;
    open.roots = o->shards;
    open.nroot = o->nshard;
    if (o->check || o->no_check)
        open.check = o->no_check ? CIP_CHECK_OFF : CIP_CHECK_ON;
    return open;
}

cip_file *open_file(const char *path, const opts *o)
{
    cip_limits limits;
    cip_open_options open = open_options(o, &limits);
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    if (cip_open(path, &open, &f, &err) != CIP_OK)
        complain(path, &err);
    return f;
}
