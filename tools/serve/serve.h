/* SPDX-License-Identifier: BSD-3-Clause
 * What the parts of `cippus serve` share: the server, one request, its answer. */
#ifndef CIPPUS_TOOLS_SERVE_H
#define CIPPUS_TOOLS_SERVE_H

#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "../commands.h"
#include "serve_url.h"

/* One name of the first step of paths, and the file or folder that it stands for. */
typedef struct serve_root {
    char *name;
    int fd;    /* of a folder (O_PATH); -1: a file, which is looked for at each request */
    int above; /* the folder that it lies in (O_PATH), and its name there */
    char *last;
} serve_root;

typedef struct serve_files serve_files;

typedef struct serve {
    const opts *o;
    serve_root *root;
    size_t nroot;
    serve_files *files;           /* open ones */
    uint64_t most_answer;         /* bytes of one */
    uint64_t most_answers;        /* of all that are not sent yet */
    atomic_uint_fast64_t answers; /* bytes of these */
    atomic_flag verifying;        /* one at a time: each reads a whole file */
    atomic_bool stopping;
    bool is_public, cors;
    char token[33]; /* "": none is asked for */
    char where[96]; /* "http://127.0.0.1:8080" */
} serve;

/* A request, and its answer as it is made. A handler writes the body to `out`, or sets fd. */
typedef struct serve_call {
    serve *s;
    serve_url url;
    const char *rest; /* of its path, after what chose the handler */
    bool head;
    char *range, *if_range, *if_none_match, *host; /* headers, or NULL */

    unsigned status; /* 0: 200 */
    const char *type;
    FILE *out;
    struct {
        char name[32], value[1536]; /* which takes the longest shape */
    } header[6];
    size_t nheader;
    int fd; /* >= 0: the body is nbytes of it from offset on, as long as it is as in `st` */
    struct stat st;
    uint64_t offset, nbytes;
    struct serve_body {
        serve *s;
        char *bytes;
        size_t len, cap;
        bool too_large, no_room;
        bool refused; /* it is an error, and what comes after that is dropped */
    } * body;
    double deadline; /* of CLOCK_MONOTONIC */
} serve_call;

/* The answer so far is dropped; an error as JSON takes its place. `code` is a word of the API. */
void serve_refuse(serve_call *c, unsigned status, const char *code, const char *text);
/* Whether the answer is one of these already, or could not be sent anyway, or its time is over,
 * which is then refused: loops end. */
bool serve_is_over(serve_call *c);
/* The same of a call of the library that failed. */
void serve_failed(serve_call *c, const cip_err *err);
/* A parameter that is not what it must be. */
void serve_refuse_argument(serve_call *c, const char *key, const char *expected);
/* A number of the query, or `usual`; false after having refused. */
bool serve_take_number(serve_call *c, const char *key, uint64_t usual, uint64_t most,
                       uint64_t *out);
void serve_header(serve_call *c, const char *name, const char *value);
/* Room for exactly n bytes of the body, to be written by the caller; NULL after having refused. */
void *serve_room(serve_call *c, uint64_t n);
/* A cip_write_fn to `out`; user is the call. */
int serve_write(void *user, const void *bytes, size_t n);
/* Until the body is sent, or no longer wanted. */
void serve_body_free(void *body);
/* Makes `out` of a new call; false without memory. */
bool serve_call_begin(serve_call *c);
/* Ends the body: what did not fit becomes an error. */
void serve_call_end(serve_call *c);
double serve_now(void);
/* Whether a file is the same, and unchanged. */
bool serve_is_same(const struct stat *a, const struct stat *b);
/* Whether what is open is still as in *st; it may have lost its name to another file. */
bool serve_is_unchanged(int fd, const struct stat *st);
/* Whether its last change is so old that a change to come has other times: within a step of the
 * clock they stay as they are. */
bool serve_is_settled(const struct stat *st);
/* The library names a file by the path that serve_files.c gives it; its name alone stays. */
void serve_shorten(char *text);
/* To stderr; EXIT_FAILED. */
int serve_complain(const char *what, const char *why);

/* --- what a path names ------------------------------------------------------------------------ */

typedef struct serve_found {
    int fd; /* O_PATH; the caller's to close */
    struct stat st;
    const serve_root *root;
    size_t len;       /* of the URL's path up to it */
    const char *rest; /* of the URL's path behind it, without a slash; "" mostly */
} serve_found;

/* Fills the table of roots from FILE|FOLDER...; the exit status after a complaint. */
int serve_roots_open(serve *s);
void serve_roots_close(serve *s);
/* Finds what `path` ("night/a.asdf/rest") names below the roots, never leaving them: up to the
 * first file, or folder that a format knows (where `stores`). False after having refused. */
bool serve_find(serve_call *c, const char *path, bool stores, serve_found *out);
/* The folder (O_PATH; the caller's to close) that it lies in, and its name there; -1 where that
 * has changed since it was found. Within that folder no name leads out of the roots unless it is a
 * link. */
int serve_folder_of(const serve_found *at, char name[256]);
/* Whether a name in a folder is shown: no hidden one, but for the metadata of Zarr's version 2. */
bool serve_name_is_shown(const char *name);

/* --- open files ------------------------------------------------------------------------------- */

#define SERVE_FOLDERS "/proc/self/fd/"

serve_files *serve_files_new(const opts *o, uint64_t max_memory);
void serve_files_free(serve_files *f);
/* The file, open; given back by serve_files_put. NULL with *err. */
cip_file *serve_files_get(serve_files *f, const serve_found *at, cip_err *err);
/* The same, of the caller alone. */
cip_file *serve_files_get_own(serve_files *f, const serve_found *at, cip_err *err);
void serve_files_put(serve_files *f, cip_file *file);
/* Refuses the answer if the file was changed while it was read, which may be a mixture then. (Of a
 * folder this is not known.) */
void serve_files_check(serve_call *c, const serve_found *at);

/* --- attributes ------------------------------------------------------------------------------- */

/* The names of an array's axes: a list, or NULL. */
const cip_node *serve_axes(const cip_file *file, const cip_array *a);
/* The pairs of a mapping that hold no arrays, and do not describe this very file. */
void serve_attributes(serve_call *c, const cip_file *file, const cip_node *map,
                      const char **between);
/* The same of what the file itself says of the array. */
void serve_attributes_of_array(serve_call *c, const cip_file *file, const cip_array *a);

/* --- handlers --------------------------------------------------------------------------------- */

void serve_api(serve_call *c);
/* Of an array; options are parameters of the query. */
void serve_picture(serve_call *c, const cip_array *array, const cip_read_args *args);
void serve_bytes(serve_call *c);
void serve_refs(serve_call *c);
void serve_zarr(serve_call *c);
void serve_page(serve_call *c);

/* Runs until SIGINT or SIGTERM; the exit status. */
int serve_http(serve *s, const char *bind, unsigned port);

#endif
