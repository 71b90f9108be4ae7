/* SPDX-License-Identifier: BSD-3-Clause
 * Answers as they are made: bodies of bounded size, errors as JSON. */
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../print.h"
#include "serve.h"

double serve_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool serve_is_same(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           memcmp(&a->st_mtim, &b->st_mtim, sizeof a->st_mtim) == 0 &&
           memcmp(&a->st_ctim, &b->st_ctim, sizeof a->st_ctim) == 0;
}

bool serve_is_unchanged(int fd, const struct stat *st)
{
    struct stat now;
    if (fstat(fd, &now) != 0)
        return false;
    if (now.st_nlink == 0)
        now.st_ctim = st->st_ctim; /* of when it was removed, or replaced */
    return serve_is_same(&now, st);
}

bool serve_is_settled(const struct stat *st)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec - st->st_mtim.tv_sec > 1 && now.tv_sec - st->st_ctim.tv_sec > 1;
}

void serve_shorten(char *text)
{
    for (char *p; (p = strstr(text, SERVE_FOLDERS)) != NULL;) {
        const char *rest = p + strlen(SERVE_FOLDERS);
        rest += strspn(rest, "0123456789");
        rest += *rest == '/';
        memmove(p, rest, strlen(rest) + 1);
    }
}

int serve_complain(const char *what, const char *why)
{
    fputs("cippus: ", stderr);
    print_escaped(stderr, what);
    fprintf(stderr, ": %s\n", why);
    return EXIT_FAILED;
}

/* --- bodies ----------------------------------------------------------------------------------- */

static bool grow(struct serve_body *b, size_t cap)
{
    serve *s = b->s;
    if (cap > s->most_answer) {
        b->too_large = true;
        return false;
    }
    const uint64_t more = cap - b->cap;
    if (atomic_fetch_add(&s->answers, more) + more > s->most_answers) {
        atomic_fetch_sub(&s->answers, more);
        b->no_room = true;
        return false;
    }
    char *bytes = realloc(b->bytes, cap);
    if (bytes == NULL) {
        atomic_fetch_sub(&s->answers, more);
        b->no_room = true;
        return false;
    }
    b->bytes = bytes;
    b->cap = cap;
    return true;
}

/* A cookie_write_function_t: 0 is a failure. */
static ssize_t append(void *cookie, const char *bytes, size_t n)
{
    struct serve_body *b = cookie;
    if (b->refused)
        return (ssize_t)n;
    if (n > b->cap - b->len) {
        const size_t least = b->len + n, twice = b->cap < 4096 ? 8192 : 2 * b->cap;
        const size_t most = (size_t)b->s->most_answer;
        if (!grow(b, least > twice || (twice > most && least <= most) ? least : twice))
            return 0;
    }
    memcpy(b->bytes + b->len, bytes, n);
    b->len += n;
    return (ssize_t)n;
}

void serve_body_free(void *body)
{
    struct serve_body *b = body;
    if (b == NULL)
        return;
    atomic_fetch_sub(&b->s->answers, b->cap);
    free(b->bytes);
    free(b);
}

bool serve_call_begin(serve_call *c)
{
    static const cookie_io_functions_t functions = { .write = append };
    c->fd = -1;
    c->body = calloc(1, sizeof *c->body);
    if (c->body == NULL)
        return false;
    c->body->s = c->s;
    c->out = fopencookie(c->body, "w", functions);
    return c->out != NULL;
}

void *serve_room(serve_call *c, uint64_t n)
{
    struct serve_body *b = c->body;
    const size_t want = n != 0 ? (size_t)n : 1;
    if (n > c->s->most_answer)
        b->too_large = true;
    else if (want <= b->cap || grow(b, want))
        b->len = (size_t)n;
    return b->too_large || b->no_room ? NULL : b->bytes;
}

int serve_write(void *user, const void *bytes, size_t n)
{
    serve_call *c = user;
    return n != 0 && fwrite(bytes, 1, n, c->out) != n;
}

void serve_call_end(serve_call *c)
{
    struct serve_body *b = c->body;
    fflush(c->out);
    if (b->too_large) {
        char text[160];
        snprintf(text, sizeof text,
                 "the answer is larger than %llu bytes; ask for less, or start the server with "
                 "more --max-memory",
                 (unsigned long long)c->s->most_answer);
        serve_refuse(c, 413, "limit", text);
    } else if (b->no_room || ferror(c->out)) {
        serve_refuse(c, 503, "no memory", "the server is busy with other answers; try again");
        serve_header(c, "Retry-After", "2");
    }
}

/* --- errors ----------------------------------------------------------------------------------- */

void serve_header(serve_call *c, const char *name, const char *value)
{
    if (c->nheader == sizeof c->header / sizeof *c->header)
        return;
    snprintf(c->header[c->nheader].name, sizeof c->header->name, "%s", name);
    snprintf(c->header[c->nheader++].value, sizeof c->header->value, "%s", value);
}

static void begin_error(serve_call *c, unsigned status)
{
    struct serve_body *b = c->body;
    __fpurge(c->out); /* what could not be written, too */
    clearerr(c->out);
    b->len = 0;
    b->too_large = b->no_room = b->refused = false;
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    c->nheader = 0;
    c->status = status;
    c->type = "application/json";
}

static void end_error(serve_call *c)
{
    fputs("}}\n", c->out);
    fflush(c->out);
    c->body->refused = true;
}

void serve_refuse(serve_call *c, unsigned status, const char *code, const char *text)
{
    begin_error(c, status);
    fprintf(c->out, "{\"error\": {\"status\": %u, \"code\": ", status);
    print_json_string(c->out, code);
    fputs(", \"text\": ", c->out);
    print_json_string(c->out, text);
    end_error(c);
}

bool serve_is_over(serve_call *c)
{
    const struct serve_body *b = c->body;
    if (b->refused || b->too_large || b->no_room)
        return true;
    if (serve_now() <= c->deadline)
        return false;
    serve_refuse(c, 503, "cancelled", "it takes too long");
    return true;
}

void serve_failed(serve_call *c, const cip_err *err)
{
    static const unsigned status_of[] = {
        [CIP_ERR_NOMEM] = 503,     [CIP_ERR_IO] = 500,          [CIP_ERR_NOT_FOUND] = 404,
        [CIP_ERR_FORMAT] = 422,    [CIP_ERR_UNSUPPORTED] = 422, [CIP_ERR_CORRUPT] = 500,
        [CIP_ERR_TRUNCATED] = 500, [CIP_ERR_CHECKSUM] = 500,    [CIP_ERR_LIMIT] = 413,
        [CIP_ERR_RANGE] = 400,     [CIP_ERR_TYPE] = 400,        [CIP_ERR_ARG] = 400,
        [CIP_ERR_READONLY] = 500,  [CIP_ERR_BUSY] = 503,        [CIP_ERR_CANCELLED] = 503,
        [CIP_ERR_EXISTS] = 500,    [CIP_ERR_STALE] = 503
    };
    struct serve_body *b = c->body;
    char text[sizeof err->text];
    if (b->too_large || b->no_room) /* we stopped it ourselves; serve_call_end says why */
        return;
    const size_t code = err->code > 0 ? (size_t)err->code : CIP_ERR_IO;
    const bool leaves = strstr(err->text, "is reached through a link") != NULL; /* of a member */
    const unsigned status = leaves                                        ? 403
                            : code < sizeof status_of / sizeof *status_of ? status_of[code]
                                                                          : 500;
    snprintf(text, sizeof text, "%s", err->text);
    serve_shorten(text);
    begin_error(c, status);
    fprintf(c->out, "{\"error\": {\"status\": %u, \"code\": ", status);
    print_json_string(c->out, cip_status_name((cip_status)code));
    fputs(", \"text\": ", c->out);
    print_json_string(c->out, code == CIP_ERR_CANCELLED ? "it takes too long" : text);
    if (err->part[0] != '\0') {
        fputs(", \"part\": ", c->out);
        print_json_string(c->out, err->part);
    }
    if (err->offset != CIP_NO_OFFSET)
        fprintf(c->out, ", \"offset\": %llu", (unsigned long long)err->offset);
    end_error(c);
}
