/* SPDX-License-Identifier: BSD-3-Clause
 * The API, version 1: facts and elements as the command prints them (docs/guide/serve.md). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../findings.h"
#include "../listed.h"
#include "../print.h"
#include "serve.h"

enum { FEW = 100, MOST_ROWS = 1000, MOST_FINDINGS = 1000, MOST_SEARCHED = 200 };

/* What a handler of one file's facts needs. */
typedef struct asked {
    serve_call *c;
    cip_file *file;
    const serve_found *at;
    const cip_array *array; /* of `path`, where the handler wants one */
    const char *field;
    uint64_t offset, limit;
} asked;

void serve_refuse_argument(serve_call *c, const char *key, const char *expected)
{
    char text[160];
    snprintf(text, sizeof text, "%s: expected %s", key, expected);
    serve_refuse(c, 400, "bad argument", text);
}

bool serve_take_number(serve_call *c, const char *key, uint64_t usual, uint64_t most, uint64_t *out)
{
    const char *text = serve_url_get(&c->url, key);
    *out = usual;
    if (text == NULL || (serve_number(text, out) && *out <= most))
        return true;
    char words[64];
    snprintf(words, sizeof words, "a number up to %" PRIu64, most);
    serve_refuse_argument(c, key, words);
    return false;
}

static bool flag(const serve_call *c, const char *key)
{
    const char *text = serve_url_get(&c->url, key);
    return text != NULL && strcmp(text, "0") != 0;
}

/* --- folders ---------------------------------------------------------------------------------- */

/* An entry: a folder that no format knows, or a file with its format (null: it cannot be opened).
 */
static void print_entry(serve_call *c, const char *name, const serve_found *at)
{
    const struct stat *st = &at->st;
    cip_err err = CIP_ERR_INIT;
    cip_file *f = NULL;
    if (print_is_utf8(name))
        f = serve_files_get_own(c->s->files, at, &err);
    else /* JSON has no such name, so no request could name it */
        snprintf(err.text, sizeof err.text, "the name is not UTF-8");
    const bool plain = f == NULL && S_ISDIR(st->st_mode) && err.code == CIP_ERR_UNSUPPORTED &&
                       strstr(err.text, "no known format") != NULL;
    fputs("{\"name\": ", c->out);
    print_json_string(c->out, name);
    fprintf(c->out, ", \"type\": \"%s\", \"modified\": %lld", plain ? "folder" : "file",
            (long long)st->st_mtime);
    if (S_ISREG(st->st_mode))
        fprintf(c->out, ", \"nbytes\": %lld", (long long)st->st_size);
    if (f != NULL) {
        fputs(", \"format\": ", c->out);
        print_json_string(c->out, cip_file_format(f));
        fprintf(c->out, ", \"arrays\": %zu", cip_file_narray(f));
    } else if (!plain) {
        fputs(", \"format\": null, \"why\": ", c->out);
        print_json_string(c->out, err.text);
    }
    putc('}', c->out);
    serve_files_put(c->s->files, f);
}

/* What a path names, as it would be found by a request for it: links out of the folder are nothing.
 */
static void print_below(serve_call *c, const char *path, const char **between)
{
    serve_found at;
    serve_call quiet = { .s = c->s };
    const char *slash = strrchr(path, '/');
    if (serve_call_begin(&quiet) && serve_find(&quiet, path, false, &at)) {
        fputs(*between, c->out);
        print_entry(c, slash != NULL ? slash + 1 : path, &at);
        *between = ",\n ";
        close(at.fd);
    }
    if (quiet.out != NULL)
        fclose(quiet.out);
    serve_body_free(quiet.body);
}

static void print_page_begin(serve_call *c, const char *name, uint64_t total, uint64_t offset)
{
    fputs("{\"folder\": ", c->out);
    print_json_string(c->out, name);
    fprintf(c->out, ", \"total\": %" PRIu64 ", \"offset\": %" PRIu64 ", \"entries\": [", total,
            offset);
}

static void list_roots(serve_call *c, uint64_t offset, uint64_t limit)
{
    const serve *s = c->s;
    const char *between = "";
    print_page_begin(c, "", s->nroot, offset);
    for (uint64_t i = offset; i < s->nroot && i - offset < limit; i++)
        print_below(c, s->root[i].name, &between);
    fputs("]}\n", c->out);
}

typedef struct names {
    char **name;
    size_t n, cap, nbytes;
} names;

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool add_name(names *all, const char *name)
{
    if (all->n == all->cap) {
        const size_t cap = all->cap < 64 ? 64 : 2 * all->cap;
        char **grown = realloc(all->name, cap * sizeof *grown);
        if (grown == NULL)
            return false;
        all->name = grown;
        all->cap = cap;
    }
    all->name[all->n] = strdup(name);
    all->nbytes += sizeof(char *) + strlen(name) + 1;
    return all->name[all->n] != NULL && ++all->n != 0;
}

/* The names that are shown, sorted; 0, or errno: EFBIG where they take more than `most` bytes. */
static int read_names(int folder, uint64_t most, names *all)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
    int why = d == NULL ? errno : 0;
    if (d == NULL && fd >= 0)
        close(fd);
    for (const struct dirent *e; why == 0;) {
        errno = 0;
        e = readdir(d);
        why = e == NULL                                          ? errno
              : e->d_name[0] != '.' && !add_name(all, e->d_name) ? ENOMEM
              : all->nbytes > most                               ? EFBIG
                                                                 : 0;
        if (e == NULL)
            break;
    }
    if (d != NULL)
        closedir(d);
    if (why == 0 && all->n != 0)
        qsort(all->name, all->n, sizeof *all->name, by_name);
    return why;
}

static void print_names(serve_call *c, const char *folder, const names *all, uint64_t offset,
                        uint64_t limit)
{
    const char *between = "";
    print_page_begin(c, folder, all->n, offset);
    for (uint64_t i = offset; i < all->n && i - offset < limit; i++) {
        char *path = NULL;
        if (serve_now() > c->deadline) {
            serve_refuse(c, 503, "cancelled", "it takes too long; ask for fewer at once (limit)");
            return;
        }
        if (asprintf(&path, "%s/%s", folder, all->name[i]) < 0) {
            serve_refuse(c, 503, "no memory", "there is not enough memory");
            return;
        }
        print_below(c, path, &between);
        free(path);
    }
    fputs("]}\n", c->out);
}

static void list_folder(serve_call *c, const char *folder, const serve_found *at, uint64_t offset,
                        uint64_t limit)
{
    names all = { 0 };
    switch (read_names(at->fd, c->s->most_answer, &all)) {
    case 0:
        print_names(c, folder, &all, offset, limit);
        break;
    case EACCES:
        serve_refuse(c, 403, "i/o error", "the folder cannot be read");
        break;
    case EFBIG:
        serve_refuse(c, 413, "limit",
                     "the folder has too many names; start the server with more --max-memory");
        break;
    case ENOMEM:
        serve_refuse(c, 503, "no memory", "there is not enough memory");
        break;
    default:
        serve_refuse(c, 500, "i/o error", "the folder cannot be read");
    }
    for (size_t i = 0; i < all.n; i++)
        free(all.name[i]);
    free(all.name);
}

static void api_list(serve_call *c)
{
    uint64_t offset, limit;
    serve_found at;
    const char *name = serve_url_get(&c->url, "folder");
    if (!serve_take_number(c, "offset", 0, UINT32_MAX, &offset) ||
        !serve_take_number(c, "limit", FEW, MOST_ROWS, &limit))
        return;
    if (name == NULL || name[0] == '\0') {
        list_roots(c, offset, limit);
    } else if (serve_find(c, name, false, &at)) {
        if (S_ISDIR(at.st.st_mode))
            list_folder(c, name, &at, offset, limit);
        else
            serve_refuse_argument(c, "folder", "a folder, found a file");
        close(at.fd);
    }
}

/* --- one file --------------------------------------------------------------------------------- */

static const char *file_name(const asked *a)
{
    return serve_url_get(&a->c->url, "file");
}

static void api_info(asked *a)
{
    print_facts_json(a->c->out, a->file, file_name(a));
}

static void print_array(const asked *a, const cip_array *array)
{
    listed l;
    listed_look("", a->file, array, &l);
    listed_print_json(a->c->out, file_name(a), &l);
}

static void api_arrays(asked *a)
{
    const char *text = serve_url_get(&a->c->url, "text"), *between = "";
    uint64_t n = 0;
    size_t at = 0;
    fputs("{\"arrays\": [", a->c->out);
    for (const cip_array *one; (one = cip_file_next_array(a->file, NULL, &at)) != NULL;) {
        if (text != NULL && strcasestr(cip_array_path(one), text) == NULL)
            continue;
        if (n >= a->offset && n - a->offset < a->limit) {
            fputs(between, a->c->out);
            print_array(a, one);
            between = ",\n ";
        }
        n++;
    }
    fprintf(a->c->out, "], \"total\": %" PRIu64 ", \"offset\": %" PRIu64 "}\n", n, a->offset);
}

static void print_fields(FILE *f, const cip_dtype *d)
{
    fputs("[", f);
    for (size_t i = 0; i < cip_dtype_nfield(d); i++) {
        const cip_field *field = cip_dtype_field(d, i);
        fputs(i == 0 ? "{\"name\": " : ", {\"name\": ", f);
        print_json_string(f, field->name);
        fputs(", \"dtype\": ", f);
        print_json_string(f, cip_dtype_name(field->dtype));
        fputs(", \"shape\": ", f);
        print_shape(f, field->shape, field->ndim);
        putc('}', f);
    }
    fputs("]", f);
}

/* A node as JSON. `whole`: arrays as what stands in the tree for them. */
static void print_value(const asked *a, const cip_node *n, bool whole)
{
    const cip_tree_print_options how = { .size = sizeof how,
                                         .json = true,
                                         .arrays_as_nodes = whole };
    cip_err err = CIP_ERR_INIT;
    if (n == NULL)
        fputs("null", a->c->out);
    else if (cip_tree_print(a->file, n, &how, serve_write, a->c, &err) != CIP_OK)
        serve_failed(a->c, &err);
}

static void api_array(asked *a)
{
    FILE *f = a->c->out;
    const cip_dtype *d = cip_array_dtype(a->array);
    const char *between = "";
    uint64_t n = 0;
    cip_err err = CIP_ERR_INIT;
    fputs("{\"array\": ", f);
    print_array(a, a->array);
    fputs(", \"fields\": ", f);
    print_fields(f, d);
    if (cip_chunk_count(a->array, &n, &err) == CIP_OK)
        fprintf(f, ", \"nchunk\": %" PRIu64, n);
    fputs(", \"axes\": ", f);
    print_value(a, serve_axes(a->file, a->array), false);
    if (!flag(a->c, "brief")) {
        fputs(", \"node\": ", f);
        print_value(a, cip_array_node(a->array), true);
        fputs(", \"attributes\": {", f);
        serve_attributes_of_array(a->c, a->file, a->array);
        fputs("}, \"beside\": {", f);
        serve_attributes(a->c, a->file, cip_array_parent(a->file, a->array), &between);
        putc('}', f);
    }
    fputs("}\n", f);
}

/* --- the tree --------------------------------------------------------------------------------- */

typedef struct walk {
    asked *a;
    const char *base, *text, *between;
    uint64_t n;
} walk;

static void print_node(walk *w, const char *path, const cip_node *n)
{
    FILE *f = w->a->c->out;
    char *whole = NULL;
    if (asprintf(&whole, "%s%s%s", w->base, w->base[0] != '\0' && path[0] != '\0' ? "/" : "",
                 path) < 0)
        return;
    fprintf(f, "%s{\"length\": %zu, \"array\": %s, \"node\": ", w->between, cip_node_len(n),
            cip_array_of_node(w->a->file, n) != NULL ? "true" : "false");
    print_node_json(f, whole, n);
    putc('}', f);
    w->between = ",\n ";
    free(whole);
}

/* A cip_visit_fn: those one step below, of one page. */
static int visit_child(void *user, const char *path, const cip_node *n, uint32_t depth)
{
    walk *w = user;
    if (depth == 0)
        return 0;
    if (w->n >= w->a->offset && w->n - w->a->offset < w->a->limit)
        print_node(w, path, n);
    w->n++;
    return w->n < w->a->offset + w->a->limit ? 1 : -1;
}

static void api_tree(asked *a)
{
    const char *path = serve_url_get(&a->c->url, "path");
    const cip_node *node = cip_file_tree(a->file);
    walk w = { .a = a, .base = path != NULL ? path : "", .between = "" };
    cip_err err = CIP_ERR_INIT;
    if (node == NULL && w.base[0] == '\0') {
        fputs("{\"node\": null, \"total\": 0, \"offset\": 0, \"children\": []}\n", a->c->out);
        return;
    }
    if (node == NULL) {
        serve_refuse(a->c, 404, "not found", "the file has no metadata tree");
        return;
    }
    node = cip_tree_get(node, w.base, &err);
    if (node == NULL) {
        serve_failed(a->c, &err);
        return;
    }
    fputs("{\"node\": ", a->c->out);
    print_node_json(a->c->out, w.base, node);
    fprintf(a->c->out, ", \"total\": %zu, \"offset\": %" PRIu64 ", \"children\": [",
            cip_node_len(node), a->offset);
    if (a->limit > 0 && cip_tree_visit(a->file, node, visit_child, &w, &err) != CIP_OK &&
        err.code != CIP_ERR_CANCELLED) {
        serve_failed(a->c, &err);
        return;
    }
    fputs("]}\n", a->c->out);
}

/* A cip_visit_fn: keys and values that contain the text, in whatever case. */
static int visit_found(void *user, const char *path, const cip_node *n, uint32_t depth)
{
    walk *w = user;
    const char *slash = strrchr(path, '/'), *text = cip_node_text(n, NULL);
    if (serve_now() > w->a->c->deadline)
        return -1;
    if (depth == 0 || (strcasestr(slash != NULL ? slash + 1 : path, w->text) == NULL &&
                       (text == NULL || strcasestr(text, w->text) == NULL)))
        return 0;
    if (w->n == MOST_SEARCHED)
        return -1;
    print_node(w, path, n);
    w->n++;
    return 0;
}

static void api_search(asked *a)
{
    walk w = { .a = a, .base = "", .between = "", .text = serve_url_get(&a->c->url, "text") };
    cip_err err = CIP_ERR_INIT;
    if (w.text == NULL || w.text[0] == '\0') {
        serve_refuse_argument(a->c, "text", "some letters to search for");
        return;
    }
    fputs("{\"found\": [", a->c->out);
    if (cip_file_tree(a->file) != NULL &&
        cip_tree_visit(a->file, NULL, visit_found, &w, &err) != CIP_OK &&
        err.code != CIP_ERR_CANCELLED) {
        serve_failed(a->c, &err);
        return;
    }
    fprintf(a->c->out, "], \"complete\": %s}\n", err.code == CIP_OK ? "true" : "false");
}

/* --- elements --------------------------------------------------------------------------------- */

/* The arguments of reading that the query has. */
static cip_read_args read_args(const asked *a)
{
    return (cip_read_args){ .size = sizeof(cip_read_args),
                            .selection = serve_url_get(&a->c->url, "select"),
                            .field = a->field[0] != '\0' ? a->field : NULL,
                            .take_mask = flag(a->c, "mask") };
}

static void api_window(asked *a)
{
    static const char *const forms[][2] = {
        { "json", "application/json" },          { "npy", "application/octet-stream" },
        { "raw", "application/octet-stream" },   { "csv", "text/csv; charset=utf-8" },
        { "text", "text/plain; charset=utf-8" },
    };
    serve_call *c = a->c;
    const char *as = serve_url_get(&c->url, "as"), *type = NULL;
    cip_read_args args = read_args(a);
    int64_t shape[CIP_MAX_NDIM];
    int ndim = 0;
    uint64_t nbytes = 0;
    cip_err err = CIP_ERR_INIT;
    as = as != NULL ? as : "json";
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(as, forms[i][0]) == 0)
            type = forms[i][1];
    if (type == NULL) {
        serve_refuse_argument(c, "as", "json, npy, raw, csv or text");
        return;
    }
    if (cip_read_shape(a->array, &args, &ndim, shape, &nbytes, &err) != CIP_OK) {
        serve_failed(c, &err);
        return;
    }
    if (nbytes > c->s->most_answer) {
        c->body->too_large = true; /* before anything is read */
        return;
    }
    if (cip_export(a->array, &args, as, serve_write, c, &err) != CIP_OK) {
        fflush(c->out);
        serve_failed(c, &err);
        return;
    }
    c->type = type;
    char *text = NULL;
    size_t n;
    FILE *words = open_memstream(&text, &n);
    if (words != NULL) {
        print_shape(words, shape, ndim);
        fclose(words);
        serve_header(c, "X-Cippus-Shape", text);
    }
    free(text);
}

static void api_picture(asked *a)
{
    const cip_read_args args = read_args(a);
    serve_picture(a->c, a->array, &args);
}

static void api_stat(asked *a)
{
    cip_read_args args = read_args(a);
    cip_stats s = { .size = sizeof s };
    cip_err err = CIP_ERR_INIT;
    if (cip_stat(a->array, &args, &s, &err) != CIP_OK) {
        serve_failed(a->c, &err);
        return;
    }
    putc('{', a->c->out);
    print_stats_json(a->c->out, &s);
    fputs("}\n", a->c->out);
}

static void api_chunks(asked *a)
{
    uint64_t n = 0, i = a->offset, rows = 0;
    cip_err err = CIP_ERR_INIT;
    if (cip_chunk_count(a->array, &n, &err) != CIP_OK) {
        serve_failed(a->c, &err);
        return;
    }
    fprintf(a->c->out, "{\"nchunk\": %" PRIu64 ", \"offset\": %" PRIu64 ", \"chunks\": [", n, i);
    for (; i < n && rows < a->limit; rows++) {
        bool failed;
        fputs(rows != 0 ? ",\n " : "", a->c->out);
        i += print_chunk_json(a->c->out, a->array, i, &failed);
    }
    fputs("], \"next\": ", a->c->out);
    if (i < n)
        fprintf(a->c->out, "%" PRIu64 "}\n", i);
    else
        fputs("null}\n", a->c->out);
}

/* --- findings --------------------------------------------------------------------------------- */

typedef struct finder {
    findings f;
    size_t n;
} finder;

static int on_finding(void *user, const cip_finding *f)
{
    finder *x = user;
    return ++x->n > MOST_FINDINGS ? 1 : print_finding(&x->f, f);
}

static void verify(asked *a)
{
    serve_call *c = a->c;
    bool any = false;
    progress bar = { .off = true };
    finder x = { .f = { c->out, file_name(a), true, 0, &any, &bar } };
    cip_err err = CIP_ERR_INIT;
    const cip_verify_options how = {
        .size = sizeof how, .deep = flag(c, "deep"), .on_finding = on_finding, .user = &x
    };
    fputs("{\"findings\": [", c->out);
    if (cip_verify_file(a->file, &how, &err) != CIP_OK && x.n <= MOST_FINDINGS)
        serve_failed(c, &err);
    else
        fprintf(c->out, "], \"bad\": %zu, \"complete\": %s}\n", x.f.nbad,
                x.n <= MOST_FINDINGS ? "true" : "false");
}

/* By an open file of its own: verifying takes a file that nobody else uses. */
static void api_verify(asked *a)
{
    cip_err err = CIP_ERR_INIT;
    if (atomic_flag_test_and_set(&a->c->s->verifying)) {
        serve_refuse(a->c, 503, "busy", "another file is being verified; try again");
        serve_header(a->c, "Retry-After", "5");
        return;
    }
    asked own = *a;
    own.file = serve_files_get_own(a->c->s->files, a->at, &err);
    if (own.file != NULL)
        verify(&own);
    else
        serve_failed(a->c, &err);
    serve_files_put(a->c->s->files, own.file);
    atomic_flag_clear(&a->c->s->verifying);
}

/* --- the table -------------------------------------------------------------------------------- */

static const struct api_row {
    const char *name;
    void (*run)(asked *a);
    const char *keys; /* of the query */
    bool array;       /* `path` names one */
} rows[] = {
    { "info", api_info, "file", false },
    { "arrays", api_arrays, "file text offset limit", false },
    { "tree", api_tree, "file path offset limit", false },
    { "search", api_search, "file text", false },
    { "verify", api_verify, "file deep", false },
    { "array", api_array, "file path brief", true },
    { "window", api_window, "file path select as mask", true },
    { "picture", api_picture,
      "file path select as width height zoom scale reduce limits percentile map bad axes "
      "max_nbytes",
      true },
    { "stat", api_stat, "file path select", true },
    { "chunks", api_chunks, "file path offset limit", true },
};

static void run_row(const struct api_row *row, asked *a)
{
    cip_err err = CIP_ERR_INIT;
    if (row->array) {
        a->array = cip_find_field(a->file, serve_url_get(&a->c->url, "path"), &a->field, &err);
        if (a->array == NULL) {
            serve_failed(a->c, &err);
            return;
        }
    }
    row->run(a);
}

static void run_on_file(const struct api_row *row, serve_call *c)
{
    cip_err err = CIP_ERR_INIT;
    serve_found at;
    asked a = { .c = c, .at = &at, .field = "" };
    const char *name = serve_url_get(&c->url, "file");
    if (name == NULL) {
        serve_refuse_argument(c, "file", "the path of a file");
        return;
    }
    if (!serve_take_number(c, "offset", 0, UINT64_MAX / 2, &a.offset) ||
        !serve_take_number(c, "limit", FEW, MOST_ROWS, &a.limit) || !serve_find(c, name, true, &at))
        return;
    if (at.rest[0] != '\0')
        serve_refuse(c, 404, "not found", "the path goes on behind a file");
    else if ((a.file = serve_files_get(c->s->files, &at, &err)) == NULL)
        serve_failed(c, &err);
    else
        run_row(row, &a);
    serve_files_check(c, &at);
    serve_files_put(c->s->files, a.file);
    close(at.fd);
}

static void print_root(serve_call *c)
{
    fprintf(c->out, "{\"api\": 1, \"cippus\": \"%s\", \"most_answer\": %" PRIu64 ", \"calls\": [",
            cip_version(), c->s->most_answer);
    fputs("\"list\"", c->out);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        fprintf(c->out, ", \"%s\"", rows[i].name);
    fputs("]}\n", c->out);
}

void serve_api(serve_call *c)
{
    const struct api_row *row = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(c->rest, rows[i].name) == 0)
            row = &rows[i];
    const bool list = strcmp(c->rest, "list") == 0, root = c->rest[0] == '\0';
    if (row == NULL && !list && !root) {
        serve_refuse(c, 404, "not found", "there is no such call in version 1 of the API");
        return;
    }
    const char *keys = row != NULL ? row->keys : list ? "folder offset limit" : "";
    const char *unknown = serve_url_unknown(&c->url, keys);
    if (unknown != NULL) {
        char text[200];
        snprintf(text, sizeof text, "there is no parameter '%.100s' here; expected: %s", unknown,
                 keys);
        serve_refuse(c, 400, "bad argument", text);
        return;
    }
    c->type = "application/json";
    if (row != NULL)
        run_on_file(row, c);
    else if (list)
        api_list(c);
    else
        print_root(c);
}
