/* SPDX-License-Identifier: BSD-3-Clause
 * Each file as a Zarr store of version 3 (zarr-specs, core): metadata made of the tree, chunks
 * decoded and given as little-endian bytes in zstd. An array has its own chunks where it has a grid
 * of them; others are cut along their first axes. What Zarr cannot hold is left out, and the root's
 * attribute `cippus_left_out` says which and why. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if CIP_WITH_ZSTD
#include <zstd.h>
#endif

#include "../print.h"
#include "serve.h"

enum { LEVEL = 1, CUT_NBYTES = 1 << 20, MOST_AXES = 32, MOST_NAME = 1024 };

/* Decoded and encoded, with the little that zstd may add, it is an answer. */
static uint64_t most_chunk(const serve *s)
{
    return s->most_answer / 9 * 4;
}

/* --- arrays ----------------------------------------------------------------------------------- */

typedef struct form {
    const cip_array *array;
    const cip_dtype *dtype; /* little-endian, packed */
    int ndim;
    const int64_t *shape;
    int64_t chunk[MOST_AXES];
    uint64_t chunk_nbytes;
} form;

/* NULL, or why Zarr cannot have elements of the type. */
static const char *check_type(const cip_dtype *d, bool in_record)
{
    const cip_kind k = cip_dtype_kind(d);
    if (cip_dtype_itemsize(d) == 0)
        return "its elements have no bytes";
    if (k == CIP_RECORD && in_record)
        return "its records have records in them";
    for (size_t i = 0; i < cip_dtype_nfield(d); i++) {
        const cip_field *f = cip_dtype_field(d, i);
        const char *why =
            f->ndim != 0 ? "its records have arrays in them" : check_type(f->dtype, true);
        if (why != NULL)
            return why;
    }
    return NULL;
}

/* Bytes of a chunk; UINT64_MAX where they are too many to be counted. */
static uint64_t count_bytes(const form *f)
{
    uint64_t n = cip_dtype_itemsize(f->dtype);
    for (int k = 0; k < f->ndim; k++)
        if (__builtin_mul_overflow(n, (uint64_t)f->chunk[k], &n))
            return UINT64_MAX;
    return n;
}

/* The array's own grid, but for chunks that are too large; else pieces of about CUT_NBYTES. */
static void choose_chunks(form *f, const cip_array_storage *s, uint64_t most)
{
    bool own = s->chunk != NULL;
    for (int k = 0; k < f->ndim; k++) {
        const int64_t n = f->shape[k] > 0 ? f->shape[k] : 1;
        own = own && s->chunk[k] > 0;
        f->chunk[k] = own && s->chunk[k] < n ? s->chunk[k] : n;
    }
    if (own && count_bytes(f) <= most)
        return;
    for (int k = 0; k < f->ndim; k++)
        f->chunk[k] = f->shape[k] > 0 ? f->shape[k] : 1;
    for (int k = 0; k < f->ndim && count_bytes(f) > CUT_NBYTES; k++) {
        f->chunk[k] = 1;
        const uint64_t row = count_bytes(f);
        const int64_t rows = row < CUT_NBYTES ? (int64_t)(CUT_NBYTES / row) : 1;
        f->chunk[k] = rows < f->shape[k] ? rows : f->shape[k];
    }
}

/* NULL, or why the array is no array of Zarr. */
static const char *make_form(const cip_array *a, uint64_t most, form *f, cip_err *err)
{
    cip_array_storage s = { .size = sizeof s };
    *f = (form){ .array = a, .ndim = cip_array_ndim(a), .shape = cip_array_shape(a) };
    if (cip_array_state(a, err) != CIP_OK || cip_array_get_storage(a, &s, err) != CIP_OK)
        return err->text;
    f->dtype = cip_array_raw_dtype(a, err);
    if (f->dtype == NULL)
        return err->text;
    if (f->ndim > MOST_AXES)
        return "it has too many axes";
    if (s.masked)
        return "elements of it may be missing";
    const char *why = check_type(f->dtype, false);
    if (why != NULL)
        return why;
    choose_chunks(f, &s, most);
    f->chunk_nbytes = count_bytes(f);
    return f->chunk_nbytes > most ? "its chunks are too large" : NULL;
}

/* --- names ------------------------------------------------------------------------------------ */

/* The name in the store of an array of the file: its path; "data" for the only one without. NULL
 * for what is part of another array, or has a name that Zarr does not allow (*why). */
static const char *name_of(const cip_file *file, const cip_array *a, const char **why)
{
    const char *path = cip_array_path(a);
    char above[MOST_NAME];
    *why = NULL;
    if (path[0] == '\0')
        return cip_file_narray(file) == 1 ? "data" : NULL;
    if (strlen(path) >= sizeof above) {
        *why = "its path is too long";
        return NULL;
    }
    for (const char *step = path, *end;; step = end + 1) {
        end = step + strcspn(step, "/");
        if (end == step || step[0] == '.' || strncmp(step, "__", 2) == 0 ||
            memchr(step, '~', (size_t)(end - step)) != NULL || *step == '"')
            *why = "Zarr does not allow that name";
        if (*end == '\0')
            break;
        snprintf(above, sizeof above, "%.*s", (int)(end - path), path);
        const cip_node *node = cip_tree_get(cip_file_tree(file), above, NULL);
        if (node != NULL && cip_array_of_node(file, node) != NULL)
            return NULL;
    }
    return *why == NULL ? path : NULL;
}

/* The array of a name, or NULL. */
static const cip_array *find_array(const cip_file *file, const char *name)
{
    const char *why;
    const cip_array *a = strcmp(name, "data") == 0 && cip_file_narray(file) == 1 &&
                                 cip_array_path(cip_file_array(file, 0))[0] == '\0'
                             ? cip_file_array(file, 0)
                         : name[0] != '\0' ? cip_find(file, name, NULL)
                                           : NULL;
    const char *own = a != NULL ? name_of(file, a, &why) : NULL;
    return own != NULL && strcmp(own, name) == 0 ? a : NULL;
}

/* --- metadata --------------------------------------------------------------------------------- */

typedef struct writer {
    serve_call *c;
    const cip_file *file;
    FILE *f;
    uint64_t most;
} writer;

static void print_type(FILE *f, const cip_dtype *d);

static void print_time(FILE *f, const cip_dtype *d)
{
    const char *unit = strchr(cip_dtype_name(d), '[');
    char *end = NULL;
    unit = unit != NULL ? unit + 1 : "";
    unsigned long scale = strtoul(unit, &end, 10);
    if (end == unit)
        scale = 1;
    fprintf(f,
            "{\"name\": \"numpy.%s\", \"configuration\": {\"unit\": \"%.*s\", \"scale_factor\": "
            "%lu}}",
            cip_dtype_kind(d) == CIP_DATETIME64 ? "datetime64" : "timedelta64",
            (int)strcspn(end, "]"), *end != '\0' && *end != ']' ? end : "generic", scale);
}

static void print_record(FILE *f, const cip_dtype *d)
{
    fputs("{\"name\": \"structured\", \"configuration\": {\"fields\": [", f);
    for (size_t i = 0; i < cip_dtype_nfield(d); i++) {
        const cip_field *field = cip_dtype_field(d, i);
        fputs(i == 0 ? "[" : ", [", f);
        print_json_string(f, field->name);
        fputs(", ", f);
        print_type(f, field->dtype);
        putc(']', f);
    }
    fputs("]}}", f);
}

static void print_type(FILE *f, const cip_dtype *d)
{
    const cip_kind k = cip_dtype_kind(d);
    const char *name = k == CIP_OPAQUE  ? "raw_bytes"
                       : k == CIP_ASCII ? "null_terminated_bytes"
                       : k == CIP_UCS4  ? "fixed_length_utf32"
                                        : NULL;
    if (name != NULL)
        fprintf(f, "{\"name\": \"%s\", \"configuration\": {\"length_bytes\": %" PRIu64 "}}", name,
                cip_dtype_itemsize(d));
    else if (k == CIP_DATETIME64 || k == CIP_TIMEDELTA64)
        print_time(f, d);
    else if (k == CIP_RECORD)
        print_record(f, d);
    else
        fprintf(f, "\"%s\"", k == CIP_BOOL ? "bool" : cip_dtype_name(d));
}

/* Zeros: no chunk is ever left out for having the fill value, but readers want one. */
static void print_fill(FILE *f, const cip_dtype *d)
{
    const cip_kind k = cip_dtype_kind(d);
    if (k == CIP_OPAQUE || k == CIP_RECORD) {
        const uint64_t n = cip_dtype_itemsize(d);
        putc('"', f);
        for (uint64_t i = 0; i < n / 3 * 4; i++)
            putc('A', f);
        fputs(n % 3 == 1 ? "AA==\"" : n % 3 == 2 ? "AAA=\"" : "\"", f);
    } else {
        fputs(k == CIP_ASCII || k == CIP_UCS4                ? "\"\""
              : k == CIP_BOOL                                ? "false"
              : k == CIP_C64 || k == CIP_C128                ? "[0.0, 0.0]"
              : k == CIP_F16 || k == CIP_F32 || k == CIP_F64 ? "0.0"
                                                             : "0",
              f);
    }
}

/* Names as the file has them; else the place and length of each axis, so that equal names fit. */
static void print_axes(writer *w, const form *f)
{
    const cip_node *dims = serve_axes(w->file, f->array);
    fputs("[", w->f);
    for (int k = 0; k < f->ndim; k++) {
        const char *name = cip_node_text(cip_node_at(dims, (size_t)k), NULL);
        fputs(k == 0 ? "" : ", ", w->f);
        if (name != NULL && cip_node_kind(cip_node_at(dims, (size_t)k)) == CIP_NODE_STRING)
            print_json_string(w->f, name);
        else
            fprintf(w->f, "\"dim_%d_%" PRId64 "\"", k, f->shape[k]);
    }
    fputs("]", w->f);
}

static void print_array(writer *w, const form *f)
{
    fputs("{\"zarr_format\": 3, \"node_type\": \"array\", \"shape\": ", w->f);
    print_shape(w->f, f->shape, f->ndim);
    fputs(", \"data_type\": ", w->f);
    print_type(w->f, f->dtype);
    fputs(", \"chunk_grid\": {\"name\": \"regular\", \"configuration\": {\"chunk_shape\": ", w->f);
    print_shape(w->f, f->chunk, f->ndim);
    fputs("}}, \"chunk_key_encoding\": {\"name\": \"default\", \"configuration\": {\"separator\": "
          "\"/\"}}, \"fill_value\": ",
          w->f);
    print_fill(w->f, f->dtype);
    fputs(", \"codecs\": [{\"name\": \"bytes\", \"configuration\": {\"endian\": \"little\"}}",
          w->f);
    if (CIP_WITH_ZSTD)
        fprintf(w->f,
                ", {\"name\": \"zstd\", \"configuration\": {\"level\": %d, \"checksum\": false}}",
                LEVEL);
    fputs("], \"dimension_names\": ", w->f);
    print_axes(w, f);
    fputs(", \"attributes\": {", w->f);
    serve_attributes_of_array(w->c, w->file, f->array);
    fputs("}}", w->f);
}

static void print_left_out(writer *w, const char **between)
{
    const char *comma = "";
    size_t at = 0;
    for (const cip_array *a;
         !serve_is_over(w->c) && (a = cip_file_next_array(w->file, NULL, &at)) != NULL;) {
        form f;
        const char *why;
        cip_err err = CIP_ERR_INIT;
        const char *name = name_of(w->file, a, &why);
        if (name != NULL)
            why = make_form(a, w->most, &f, &err);
        if (why == NULL)
            continue;
        fputs(*comma == '\0' ? *between : "", w->f);
        fputs(*comma == '\0' ? "\"cippus_left_out\": {" : comma, w->f);
        print_json_string(w->f, cip_array_path(a));
        fputs(": ", w->f);
        print_json_string(w->f, why);
        comma = ", ";
    }
    fputs(*comma != '\0' ? "}" : "", w->f);
}

static void print_group(writer *w, const char *name)
{
    const cip_node *root = cip_file_tree(w->file), *node = root;
    const char *between = "";
    if (name[0] != '\0')
        node = cip_tree_get(root, name, NULL);
    fputs("{\"zarr_format\": 3, \"node_type\": \"group\", \"attributes\": {", w->f);
    serve_attributes(w->c, w->file, node, &between);
    if (name[0] == '\0')
        print_left_out(w, &between);
    fputs("}", w->f);
}

/* The groups above a name that the name before it is not below, and then itself. Arrays come in the
 * order of the tree, so that each group is new once. */
static void print_below(writer *w, const char *prefix, const char *before, const char *name,
                        const form *f, const char **between)
{
    const size_t n = strlen(prefix) + (prefix[0] != '\0');
    char group[MOST_NAME];
    for (const char *end = name + n; (end = strchr(end, '/')) != NULL; end++) {
        const size_t len = (size_t)(end - name);
        if (strncmp(before, name, len + 1) == 0)
            continue;
        snprintf(group, sizeof group, "%.*s", (int)len, name);
        fputs(*between, w->f);
        print_json_string(w->f, group + n);
        fputs(": ", w->f);
        print_group(w, group);
        fputs("}", w->f);
        *between = ",\n";
    }
    fputs(*between, w->f);
    print_json_string(w->f, name + n);
    fputs(": ", w->f);
    print_array(w, f);
    *between = ",\n";
}

/* All that is below a group, in its zarr.json. False: there is nothing. */
static bool print_consolidated(writer *w, const char *prefix)
{
    const size_t n = strlen(prefix);
    const char *between = "", *before = "", *why;
    size_t at = 0;
    fputs(", \"consolidated_metadata\": {\"kind\": \"inline\", \"must_understand\": false, "
          "\"metadata\": {",
          w->f);
    for (const cip_array *a;
         !serve_is_over(w->c) && (a = cip_file_next_array(w->file, NULL, &at)) != NULL;) {
        form f;
        cip_err err = CIP_ERR_INIT;
        const char *name = name_of(w->file, a, &why);
        if (name == NULL || (n != 0 && (strncmp(name, prefix, n) != 0 || name[n] != '/')) ||
            make_form(a, w->most, &f, &err) != NULL)
            continue;
        print_below(w, prefix, before, name, &f, &between);
        before = name;
    }
    fputs("}}}\n", w->f);
    return *between != '\0';
}

static void send_metadata(serve_call *c, const cip_file *file, const char *name)
{
    writer w = { .c = c, .file = file, .f = c->out, .most = most_chunk(c->s) };
    const cip_array *a = find_array(file, name);
    cip_err err = CIP_ERR_INIT;
    form f;
    c->type = "application/json";
    if (a != NULL) {
        const char *why = make_form(a, w.most, &f, &err);
        if (why != NULL)
            serve_refuse(c, 422, "unsupported", why);
        else
            print_array(&w, &f);
        return;
    }
    print_group(&w, name);
    if (!print_consolidated(&w, name) && name[0] != '\0' && !serve_is_over(c))
        serve_refuse(c, 404, "not found", "there is no such group or array");
}

/* --- chunks ----------------------------------------------------------------------------------- */

/* "0/12/3" behind "c/", or "" of an array without axes. */
static bool parse_key(const char *key, const form *f, cip_selection *box, int64_t *strides)
{
    int64_t stride = (int64_t)cip_dtype_itemsize(f->dtype);
    box->n = (uint32_t)f->ndim;
    for (int k = 0; k < f->ndim; k++) {
        char text[24];
        uint64_t i;
        const size_t n = strcspn(key, "/");
        if (n >= sizeof text)
            return false;
        memcpy(text, key, n);
        text[n] = '\0';
        if (!serve_number(text, &i) || f->shape[k] == 0 ||
            i > (uint64_t)((f->shape[k] - 1) / f->chunk[k]))
            return false;
        const int64_t start = (int64_t)i * f->chunk[k], left = f->shape[k] - start;
        box->item[k] =
            (cip_slice)CIP_RANGE(start, start + (left < f->chunk[k] ? left : f->chunk[k]));
        key += n;
        if (*key != (k + 1 < f->ndim ? '/' : '\0'))
            return false;
        key += *key == '/';
    }
    for (int k = f->ndim; k-- > 0; stride *= f->chunk[k])
        strides[k] = stride;
    return *key == '\0';
}

/* Room for n bytes once they are encoded; 0: they are sent as they are. */
static uint64_t encoded_bound(uint64_t n)
{
#if CIP_WITH_ZSTD
    return ZSTD_compressBound((size_t)n);
#else
    (void)n;
    return 0;
#endif
}

/* The body is `room` bytes and then n of a chunk; it becomes the encoded chunk. */
static bool encode_body(serve_call *c, uint64_t room, size_t n)
{
#if CIP_WITH_ZSTD
    struct serve_body *b = c->body;
    b->len = ZSTD_compress(b->bytes, (size_t)room, b->bytes + room, n, LEVEL);
    return !ZSTD_isError(b->len);
#else
    (void)c;
    (void)room;
    (void)n;
    return true;
#endif
}

static void send_chunk(serve_call *c, const cip_array *a, const char *key)
{
    form f;
    cip_selection box = { 0 };
    int64_t strides[MOST_AXES];
    cip_err err = CIP_ERR_INIT;
    const char *why = make_form(a, most_chunk(c->s), &f, &err);
    if (why != NULL) {
        serve_refuse(c, 422, "unsupported", why);
        return;
    }
    if (!parse_key(key, &f, &box, strides)) {
        serve_refuse(c, 404, "not found", "the array has no such chunk");
        return;
    }
    const uint64_t room = encoded_bound(f.chunk_nbytes);
    uint8_t *bytes = serve_room(c, room + f.chunk_nbytes);
    if (bytes == NULL)
        return;
    bytes += room;
    memset(bytes, 0, (size_t)f.chunk_nbytes); /* beyond the edges */
    const cip_read_args args = { .size = sizeof args,
                                 .slices = &box,
                                 .dtype = f.dtype,
                                 .dst = bytes,
                                 .dst_nbytes = (size_t)f.chunk_nbytes,
                                 .strides = f.ndim > 0 ? strides : NULL };
    c->type = "application/octet-stream";
    if (cip_read_into(f.array, &args, &err) != CIP_OK)
        serve_failed(c, &err);
    else if (!encode_body(c, room, (size_t)f.chunk_nbytes))
        serve_refuse(c, 503, "no memory", "there is not enough memory");
}

/* NODE/zarr.json or NODE/c/0/1, where NODE/ is left out for the root. */
static void send_key(serve_call *c, const cip_file *file, char *key)
{
    char *slash = strrchr(key, '/');
    if (strcmp(slash != NULL ? slash + 1 : key, "zarr.json") == 0) {
        *(slash != NULL ? slash : key) = '\0';
        send_metadata(c, file, key);
        return;
    }
    for (char *end = key; (end = strstr(end, "/c")) != NULL; end++) {
        if (end[2] != '/' && end[2] != '\0')
            continue;
        *end = '\0';
        const cip_array *a = find_array(file, key);
        *end = '/';
        if (a != NULL) {
            send_chunk(c, a, end + 2 + (end[2] == '/'));
            return;
        }
    }
    serve_refuse(c, 404, "not found", "the store has no such key");
}

/* Whether the last steps of a path are those of a chunk: "c", "c/0/1". */
static bool names_chunk(const char *path)
{
    const char *end = path + strlen(path);
    while (end > path && strchr("/0123456789", end[-1]) != NULL)
        end--;
    return end > path && end[-1] == 'c' && (end - 1 == path || end[-2] == '/') &&
           strchr("/", *end) != NULL;
}

static void serve_store(serve_call *c)
{
    cip_err err = CIP_ERR_INIT;
    serve_found at;
    if (!serve_find(c, c->rest, true, &at))
        return;
    cip_file *file = serve_files_get(c->s->files, &at, &err);
    char *key = strdup(at.rest);
    if (file == NULL && S_ISDIR(at.st.st_mode) && err.code == CIP_ERR_UNSUPPORTED)
        serve_refuse(c, 404, "not found", "expected a file, found a folder");
    else if (file == NULL)
        serve_failed(c, &err);
    else if (key == NULL)
        serve_refuse(c, 503, "no memory", "there is not enough memory");
    else
        send_key(c, file, key);
    free(key);
    serve_files_check(c, &at);
    serve_files_put(c->s->files, file);
    close(at.fd);
}

void serve_zarr(serve_call *c)
{
    serve_store(c);
    /* The file may have been removed, or become shorter. To readers of Zarr 404 would mean a chunk
     * that consists of fill values. */
    if (c->status == 404 && names_chunk(c->rest))
        serve_refuse(c, 410, "not found", "there is no such chunk, not even one of fill values");
}
