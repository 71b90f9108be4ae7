/* SPDX-License-Identifier: BSD-3-Clause
 * Files as they are, by ranges (RFC 9110), and references into them for readers of Zarr. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cippus/ext/refs.h"
#include "serve.h"

/* Of what a change of the file changes, in whatever way it is made. "" of a file that was changed
 * just now: its next change may leave all of that as it is. */
static void etag_of(const struct stat *st, char *text, size_t cap)
{
    text[0] = '\0';
    if (!serve_is_settled(st))
        return;
    snprintf(text, cap, "\"%llx-%llx-%llx.%lx-%llx.%lx\"", (unsigned long long)st->st_ino,
             (unsigned long long)st->st_size, (unsigned long long)st->st_mtim.tv_sec,
             (unsigned long)st->st_mtim.tv_nsec, (unsigned long long)st->st_ctim.tv_sec,
             (unsigned long)st->st_ctim.tv_nsec);
}

static void send_range(serve_call *c, const char *etag)
{
    char text[96];
    const uint64_t size = (uint64_t)c->st.st_size;
    const bool fits = c->if_range == NULL || strcmp(c->if_range, etag) == 0;
    c->nbytes = size;
    switch (fits ? serve_range_parse(c->range, size, &c->offset, &c->nbytes) : SERVE_WHOLE) {
    case SERVE_WHOLE:
        break;
    case SERVE_PART:
        c->status = 206;
        snprintf(text, sizeof text, "bytes %llu-%llu/%llu", (unsigned long long)c->offset,
                 (unsigned long long)(c->offset + c->nbytes - 1), (unsigned long long)size);
        serve_header(c, "Content-Range", text);
        break;
    case SERVE_OUTSIDE:
        snprintf(text, sizeof text, "the file has %llu bytes", (unsigned long long)size);
        serve_refuse(c, 416, "out of range", text);
        snprintf(text, sizeof text, "bytes */%llu", (unsigned long long)size);
        serve_header(c, "Content-Range", text);
    }
}

/* The descriptor of the very inode that was found. O_NONBLOCK: a device or pipe must not hold us.
 */
static int reopen(const serve_found *at)
{
    char path[32];
    snprintf(path, sizeof path, "/proc/self/fd/%d", at->fd);
    return open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
}

void serve_bytes(serve_call *c)
{
    serve_found at;
    char etag[128];
    if (!serve_find(c, c->rest, false, &at))
        return;
    const bool whole = at.rest[0] == '\0' && S_ISREG(at.st.st_mode);
    c->fd = whole ? reopen(&at) : -1;
    close(at.fd);
    if (!whole) {
        serve_refuse(c, 404, "not found", "expected a file, found a folder");
        return;
    }
    if (c->fd < 0 || fstat(c->fd, &c->st) != 0) {
        serve_refuse(c, 403, "i/o error", "the file cannot be read");
        return;
    }
    etag_of(&c->st, etag, sizeof etag);
    c->type = "application/octet-stream";
    if (etag[0] != '\0' && c->if_none_match != NULL && serve_etag_listed(c->if_none_match, etag)) {
        close(c->fd);
        c->fd = -1;
        c->status = 304;
    } else {
        send_range(c, etag);
    }
    if (etag[0] != '\0')
        serve_header(c, "ETag", etag);
    serve_header(c, "Accept-Ranges", "bytes");
    serve_header(c, "Content-Disposition", "attachment"); /* a browser must not run what is in it */
}

/* --- references ------------------------------------------------------------------------------- */

/* The path of a URL with what is no plain letter encoded. */
static char *url_of(const serve_call *c, const char *path, size_t len)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    char *text = NULL;
    size_t n;
    FILE *f = open_memstream(&text, &n);
    if (f == NULL)
        return NULL;
    if (c->host != NULL)
        fprintf(f, "http://%s/files/", c->host);
    else
        fprintf(f, "%s/files/", c->s->where);
    for (size_t i = 0; i < len; i++)
        fprintf(f, strchr(plain, path[i]) != NULL ? "%c" : "%%%02X", (unsigned char)path[i]);
    fclose(f);
    return text;
}

static void write_refs(serve_call *c, const cip_file *f, const serve_found *at)
{
    cip_err err = CIP_ERR_INIT;
    char *url = url_of(c, c->rest, at->len), *members = NULL;
    if (url != NULL)
        members = refs_members(S_ISDIR(at->st.st_mode), url);
    const cip_refs_options how = { .size = sizeof how,
                                   .path = serve_url_get(&c->url, "path"),
                                   .url = url,
                                   .members = members,
                                   .inline_nbytes = REFS_INLINE_NBYTES };
    c->type = "application/json";
    if (members == NULL)
        serve_refuse(c, 503, "no memory", "there is not enough memory");
    else if (cip_refs_write(f, &how, serve_write, c, &err) != CIP_OK) {
        fflush(c->out);
        serve_failed(c, &err);
    }
    free(url);
    free(members);
}

void serve_refs(serve_call *c)
{
    cip_err err = CIP_ERR_INIT;
    serve_found at;
    cip_file *f = NULL;
    if (!serve_find(c, c->rest, true, &at))
        return;
    if (at.rest[0] != '\0')
        serve_refuse(c, 404, "not found", "the path goes on behind a file");
    else if ((f = serve_files_get(c->s->files, &at, &err)) == NULL)
        serve_failed(c, &err);
    else
        write_refs(c, f, &at);
    serve_files_check(c, &at);
    serve_files_put(c->s->files, f);
    close(at.fd);
}
