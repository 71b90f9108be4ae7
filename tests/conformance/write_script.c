/* SPDX-License-Identifier: BSD-3-Clause
 * Writes files as lines on standard input say, for written.py: a line is words between tabs ("." is
 * an empty one), the first names a function of the table below, `name=value` ones are options. A
 * case goes from "case FOLDER" to "end", which answers with the first call that was refused
 * ("put:unsupported"), or "ok". Thousands of small files in one process. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cippus/cippus.h"

enum { MAX_WORDS = 32 };

typedef struct script {
    char *word[MAX_WORDS]; /* without the options; those not given are "" */
    char *option[MAX_WORDS];
    size_t noption;
    cip_change *w;
    cip_change *e;
    cip_memory *memory;
    char name[256]; /* of the file that it is */
} script;

typedef cip_status verb_fn(script *s);

static const char *option(const script *s, const char *name)
{
    size_t n = strlen(name);
    for (size_t i = 0; i < s->noption; i++)
        if (strncmp(s->option[i], name, n) == 0 && s->option[i][n] == '=')
            return s->option[i] + n + 1;
    return NULL;
}

/* What only one format has of them, as the library takes it. */
static const char *const *own(const script *s)
{
    static const char *const keys[] = { "encode", "chunklen", "superchunk", "spare",
                                        "table",  "chunks",   "blocks",     "filter",
                                        "split",  "dict",     "sparse",     "shards" };
    static const char *texts[sizeof keys / sizeof *keys + 1];
    size_t n = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *value = option(s, keys[i]);
        if (value != NULL)
            texts[n++] = value - strlen(keys[i]) - 1;
    }
    texts[n] = NULL;
    return texts;
}

static int64_t number(const script *s, const char *name)
{
    const char *text = option(s, name);
    return text != NULL ? strtoll(text, NULL, 10) : 0;
}

/* "3,4" as lengths; how many. */
static int lengths(const char *text, int64_t *shape)
{
    int n = 0;
    for (char *end; *text != '\0' && n < CIP_MAX_NDIM; text = *end == ',' ? end + 1 : end)
        shape[n++] = strtoll(text, &end, 10);
    return n;
}

/* --- inputs: npy files that written.py made -------------------------------------------------- */

typedef struct input {
    cip_file *file;
    const cip_array *array;
    const cip_dtype *dtype;
    uint8_t *data;
    uint64_t nbytes;
} input;

/* A wrong name must not look like something that the library refuses. */
static void input_open(const char *name, input *in)
{
    cip_err err = CIP_ERR_INIT;
    *in = (input){ 0 };
    if (cip_open(name, CIP_OPEN_OPTIONS(.threads = 1), &in->file, &err) == CIP_OK)
        in->array = cip_find(in->file, NULL, &err);
    if (in->array == NULL) {
        fprintf(stderr, "write_script: %s: %s\n", name, err.text);
        exit(2);
    }
}

typedef const cip_dtype *dtype_fn(const cip_array *array, cip_err *err);

/* All elements of an array, packed, of this dtype; free() *out, also on failure. */
static cip_status read_all(const cip_array *a, const cip_dtype *d, uint8_t **out, uint64_t *n)
{
    int ndim;
    int64_t shape[CIP_MAX_NDIM];
    *out = NULL;
    cip_status st = cip_read_shape(a, CIP_READ_ARGS(.dtype = d), &ndim, shape, n, NULL);
    if (st == CIP_OK && (*out = malloc(*n + 1)) == NULL)
        st = CIP_ERR_NOMEM;
    return st != CIP_OK
               ? st
               : cip_read_into(a, CIP_READ_ARGS(.dtype = d, .dst = *out, .dst_nbytes = *n), NULL);
}

/* All of its elements: for new arrays little-endian (cip_array_raw_dtype), so that any machine
 * writes the same; for updates in the machine's byte order (cip_array_native_dtype). */
static cip_status input_read(const char *name, dtype_fn *dtype_of, input *in)
{
    input_open(name, in);
    in->dtype = dtype_of(in->array, NULL);
    return read_all(in->array, in->dtype, &in->data, &in->nbytes);
}

static cip_status input_close(input *in, cip_status st)
{
    free(in->data);
    cip_file_close(in->file);
    return st;
}

/* --- new files ------------------------------------------------------------------------------- */

/* A file of the present folder that is written through callbacks, and is gone when it is not
 * completed. */
typedef struct stored {
    FILE *f;
    bool complete;
    char name[256];
} stored;

static stored *stored_new(const char *name, const char *mode)
{
    stored *x = calloc(1, sizeof *x);
    if (x == NULL || (x->f = fopen(name, mode)) == NULL) {
        free(x);
        return NULL;
    }
    snprintf(x->name, sizeof x->name, "%s", name);
    return x;
}

static cip_status stored_write(void *user, uint64_t offset, const void *p, size_t n, cip_err *err)
{
    (void)err;
    ssize_t now = pwrite(fileno(((stored *)user)->f), p, n, (off_t)offset);
    return now == (ssize_t)n ? CIP_OK : CIP_ERR_IO;
}

static cip_status stored_resize(void *user, uint64_t nbytes, cip_err *err)
{
    (void)err;
    return ftruncate(fileno(((stored *)user)->f), (off_t)nbytes) == 0 ? CIP_OK : CIP_ERR_IO;
}

static cip_status stored_complete(void *user, cip_err *err)
{
    (void)err;
    ((stored *)user)->complete = true;
    return CIP_OK;
}

static cip_status stored_unlink(void *user, const char *name, cip_err *err)
{
    (void)user;
    (void)err;
    return unlink(name) == 0 ? CIP_OK : CIP_ERR_IO;
}

static void stored_close(void *user)
{
    stored *x = user;
    fclose(x->f);
    if (!x->complete)
        unlink(x->name);
    free(x);
}

static cip_status stored_member(void *user, const char *name, cip_io_write_methods *methods,
                                void **member, cip_err *err);

static cip_io_write_methods stored_writes(const char *name)
{
    return (cip_io_write_methods){ CIP_IO_WRITE_METHODS_INIT,      .name = name,
                                   .write_at = stored_write,       .resize = stored_resize,
                                   .complete = stored_complete,    .create_member = stored_member,
                                   .unlink_member = stored_unlink, .close = stored_close };
}

static cip_status stored_member(void *user, const char *name, cip_io_write_methods *methods,
                                void **member, cip_err *err)
{
    (void)user;
    (void)err;
    *methods = stored_writes(NULL);
    *member = stored_new(name, "wx");
    return *member != NULL ? CIP_OK : CIP_ERR_BUSY;
}

static cip_status save_bytes(const char *name, const void *p, size_t n)
{
    FILE *f = fopen(name, "wb");
    size_t written = f != NULL ? fwrite(p, 1, n, f) : 0;
    return f != NULL && fclose(f) == 0 && written == n ? CIP_OK : CIP_ERR_IO;
}

/* What is in memory, into the files that it is compared in. */
static cip_status save(script *s, cip_status st)
{
    size_t n;
    const char *member;
    const void *p = cip_memory_bytes(s->memory, &n);
    if (p != NULL && save_bytes(s->name, p, n) != CIP_OK)
        st = CIP_ERR_IO;
    for (size_t i = 0; (member = cip_memory_member(s->memory, i, &p, &n)) != NULL; i++)
        if (save_bytes(member, p, n) != CIP_OK)
            st = CIP_ERR_IO;
    cip_memory_free(s->memory);
    s->memory = NULL;
    return st;
}

/* Into a file, or (into=store, into=memory) by way of callbacks or memory. */
static cip_status do_create(script *s)
{
    const char *into = option(s, "into"), *path = s->word[1];
    const cip_change_options *o =
        CIP_CHANGE_OPTIONS(.level = CIP_LEVEL_PROCESS, .format = option(s, "format"),
                           .version = option(s, "standard"), .codec = option(s, "codec"),
                           .byteorder = option(s, "byteorder"), .checksum = option(s, "md5"),
                           .format_options = own(s), .tree_slack = number(s, "slack"),
                           .align = (uint64_t)number(s, "align"),
                           .threads = (unsigned)number(s, "threads"),
                           .accept_loss = number(s, "lossy") != 0);
    if (into == NULL)
        return cip_create(path, o, &s->w, NULL);
    if (strcmp(into, "store") == 0) {
        const cip_io_write_methods m = stored_writes(path);
        stored *x = stored_new(path, "wx");
        return x == NULL ? CIP_ERR_BUSY : cip_create_io(&m, x, o, &s->w, NULL);
    }
    snprintf(s->name, sizeof s->name, "%s", path);
    return cip_create_memory(path, o, &s->memory, &s->w, NULL);
}

/* Every third element is missing; the mask in an array that the caller frees. */
static cip_array_options array_options(const script *s, const input *in, uint8_t **mask)
{
    uint64_t n = 1;
    cip_array_options o = { .size = sizeof o,
                            .codec = option(s, "codec"),
                            .storage = option(s, "storage"),
                            .format_options = own(s) };
    for (int i = 0; i < cip_array_ndim(in->array); i++)
        n *= (uint64_t)cip_array_shape(in->array)[i];
    *mask = option(s, "mask") != NULL ? malloc(n + 1) : NULL;
    for (uint64_t i = 0; *mask != NULL && i < n; i++)
        (*mask)[i] = i % 3 == 1;
    o.mask = *mask;
    return o;
}

static cip_status do_put(script *s)
{
    input in;
    uint8_t *mask = NULL;
    cip_status st = input_read(s->word[2], cip_array_raw_dtype, &in);
    const cip_array_options o = array_options(s, &in, &mask);
    const int ndim = cip_array_ndim(in.array);
    const int64_t *shape = cip_array_shape(in.array);
    if (st == CIP_OK)
        st = s->e != NULL
                 ? cip_change_put(s->e, s->word[1], in.dtype, ndim, shape, in.data, &o, NULL)
                 : cip_change_put(s->w, s->word[1], in.dtype, ndim, shape, in.data, &o, NULL);
    free(mask);
    return input_close(&in, st);
}

static cip_status do_put_array(script *s)
{
    input in;
    uint8_t *mask = NULL;
    input_open(s->word[2], &in);
    const cip_array_options o = array_options(s, &in, &mask);
    const cip_read_args args = { .size = sizeof args, .selection = option(s, "of") };
    cip_status st = s->e != NULL
                        ? cip_change_put_array(s->e, s->word[1], in.array, &args, &o, NULL)
                        : cip_change_put_array(s->w, s->word[1], in.array, &args, &o, NULL);
    free(mask);
    return input_close(&in, st);
}

/* The array row by row, the last one first; `skip=N` leaves out every N-th row. */
static cip_status do_slab(script *s)
{
    input in;
    uint8_t *mask = NULL;
    cip_slab *slab = NULL;
    cip_box box = { .start = { 0 } };
    cip_status st = input_read(s->word[2], cip_array_raw_dtype, &in);
    const cip_array_options o = array_options(s, &in, &mask);
    const int ndim = cip_array_ndim(in.array);
    const int64_t *shape = cip_array_shape(in.array), skip = number(s, "skip");
    if (st == CIP_OK)
        st = s->e != NULL
                 ? cip_change_declare(s->e, s->word[1], in.dtype, ndim, shape, &o, &slab, NULL)
                 : cip_change_declare(s->w, s->word[1], in.dtype, ndim, shape, &o, &slab, NULL);
    const int64_t rows = st == CIP_OK && ndim > 0 ? shape[0] : 0;
    const uint64_t each = rows > 0 ? in.nbytes / (uint64_t)rows : 0;
    for (int i = 0; st == CIP_OK && i < ndim; i++)
        box.stop[i] = shape[i];
    for (int64_t i = rows - 1; i >= 0 && st == CIP_OK; i--) {
        box.start[0] = i;
        box.stop[0] = i + 1;
        if (skip == 0 || i % skip != 0)
            st = cip_slab_write(slab, &box, in.data + each * (uint64_t)i, each, NULL);
    }
    free(mask);
    return input_close(&in, st);
}

static cip_status do_view(script *s)
{
    return cip_change_put_view(s->w, s->word[1], s->word[2], s->word[3], NULL);
}

/* --- trees, of new files and of updates ------------------------------------------------------ */

static cip_status do_string(script *s)
{
    return s->e != NULL ? cip_change_set_string(s->e, s->word[1], s->word[2], NULL)
                        : cip_change_set_string(s->w, s->word[1], s->word[2], NULL);
}

static cip_status do_int(script *s)
{
    int64_t v = strtoll(s->word[2], NULL, 10);
    return s->e != NULL ? cip_change_set_int(s->e, s->word[1], v, NULL)
                        : cip_change_set_int(s->w, s->word[1], v, NULL);
}

static cip_status do_uint(script *s)
{
    return cip_change_set_uint(s->w, s->word[1], strtoull(s->word[2], NULL, 10), NULL);
}

static cip_status do_double(script *s)
{
    double v = strtod(s->word[2], NULL);
    return s->e != NULL ? cip_change_set_double(s->e, s->word[1], v, NULL)
                        : cip_change_set_double(s->w, s->word[1], v, NULL);
}

static cip_status do_bool(script *s)
{
    bool v = s->word[2][0] == 't';
    return s->e != NULL ? cip_change_set_bool(s->e, s->word[1], v, NULL)
                        : cip_change_set_bool(s->w, s->word[1], v, NULL);
}

static cip_status do_null(script *s)
{
    return cip_change_set_null(s->w, s->word[1], NULL);
}

static cip_status do_yaml(script *s)
{
    return s->e != NULL ? cip_change_set_yaml(s->e, s->word[1], s->word[2], NULL)
                        : cip_change_set_yaml(s->w, s->word[1], s->word[2], NULL);
}

static cip_status do_typed(script *s)
{
    return cip_change_set_typed(s->e, s->word[1], s->word[2], NULL);
}

/* The node at word 3 of the file named by word 2. */
static cip_status do_node(script *s)
{
    cip_file *f = NULL;
    cip_status st = cip_open(s->word[2], NULL, &f, NULL);
    const cip_node *n = cip_tree_get(cip_file_tree(f), s->word[3], NULL);
    if (st == CIP_OK)
        st = s->e != NULL ? cip_change_set_node(s->e, s->word[1], f, n, NULL)
                          : cip_change_set_node(s->w, s->word[1], f, n, NULL);
    cip_file_close(f);
    return st;
}

static cip_status do_commit(script *s)
{
    cip_change *w = s->w;
    cip_change *e = s->e;
    s->w = NULL;
    s->e = NULL;
    cip_status st = e != NULL ? cip_change_commit(&e, NULL) : cip_change_commit(&w, NULL);
    return s->memory != NULL ? save(s, st) : st;
}

/* --- updates --------------------------------------------------------------------------------- */

static cip_status stored_read(void *user, const cip_range *range, size_t n, cip_err *err)
{
    (void)err;
    for (size_t i = 0; i < n; i++)
        if (pread(fileno(((stored *)user)->f), range[i].dst, range[i].nbytes,
                  (off_t)range[i].offset) != (ssize_t)range[i].nbytes)
            return CIP_ERR_IO;
    return CIP_OK;
}

static cip_status stored_size(void *user, uint64_t *nbytes, cip_err *err)
{
    struct stat st;
    (void)err;
    *nbytes = fstat(fileno(((stored *)user)->f), &st) == 0 ? (uint64_t)st.st_size : 0;
    return CIP_OK;
}

static cip_status stored_open(void *user, const char *name, cip_io_methods *methods, void **member,
                              cip_err *err);

static const cip_io_methods stored_reads = { CIP_IO_METHODS_INIT, .read_ranges = stored_read,
                                             .size = stored_size, .open_member = stored_open,
                                             .close = stored_close };

static cip_status stored_open(void *user, const char *name, cip_io_methods *methods, void **member,
                              cip_err *err)
{
    stored *x = stored_new(name, "rb");
    (void)user;
    (void)err;
    if (x == NULL)
        return CIP_ERR_NOT_FOUND;
    x->complete = true;
    *methods = stored_reads;
    *member = x;
    return CIP_OK;
}

static cip_status load(const char *name, char *bytes, size_t most, size_t *n)
{
    FILE *f = fopen(name, "rb");
    *n = f != NULL ? fread(bytes, 1, most, f) : 0;
    return f != NULL && fclose(f) == 0 && *n < most ? CIP_OK : CIP_ERR_IO;
}

/* The file, and all others that lie beside it. */
static cip_status edit_in_memory(script *s, const cip_change_options *o)
{
    static char bytes[16 << 20];
    size_t n;
    cip_status st = load(s->word[1], bytes, sizeof bytes, &n);
    if (st == CIP_OK)
        st = cip_memory_new(bytes, n, &s->memory, NULL);
    snprintf(s->name, sizeof s->name, "%s", s->word[1]);
    DIR *d = opendir(".");
    for (const struct dirent *at; d != NULL && st == CIP_OK && (at = readdir(d)) != NULL;) {
        if (at->d_type != DT_REG || strcmp(at->d_name, s->name) == 0)
            continue;
        st = load(at->d_name, bytes, sizeof bytes, &n);
        if (st == CIP_OK)
            st = cip_memory_add(s->memory, at->d_name, bytes, n, NULL);
    }
    if (d != NULL)
        closedir(d);
    if (st == CIP_OK)
        st = cip_change_open_memory(s->memory, o, &s->e, NULL);
    if (st != CIP_OK) {
        cip_memory_free(s->memory);
        s->memory = NULL;
    }
    return st;
}

static cip_status do_edit(script *s)
{
    const char *into = option(s, "into"), *path = s->word[1];
    const cip_change_options *o =
        CIP_CHANGE_OPTIONS(.level = CIP_LEVEL_PROCESS, .checksum = option(s, "md5"),
                           .codec = option(s, "codec"), .format_options = own(s),
                           .tree_slack = number(s, "slack"), .accept_loss = number(s, "lossy") != 0,
                           .by_position = number(s, "by_position") != 0,
                           .open = CIP_OPEN_OPTIONS(.threads = (unsigned)number(s, "threads")));
    if (into == NULL)
        return cip_change_open(path, o, &s->e, NULL);
    if (strcmp(into, "memory") == 0)
        return edit_in_memory(s, o);
    const cip_io_write_methods m = stored_writes(path);
    stored *x = stored_new(path, "r+b");
    if (x == NULL)
        return CIP_ERR_NOT_FOUND;
    x->complete = true; /* it stays as it was when the update comes to nothing */
    return cip_change_open_io(&stored_reads, &m, x, o, &s->e, NULL);
}

static cip_status do_move(script *s)
{
    return cip_change_move(s->e, s->word[1], s->word[2], number(s, "replace") != 0, NULL);
}

static cip_status do_remove(script *s)
{
    return cip_change_remove(s->e, s->word[1], NULL);
}

/* write PATH SELECTION INPUT: from memory */
static cip_status do_write(script *s)
{
    input in;
    cip_status st = input_read(s->word[3], cip_array_native_dtype, &in);
    if (st == CIP_OK)
        st = cip_change_write(s->e, s->word[1], s->word[2], cip_dtype_as_stored(), in.data,
                              in.nbytes, NULL);
    return input_close(&in, st);
}

static cip_status do_write_array(script *s)
{
    input in;
    input_open(s->word[3], &in);
    return input_close(&in, cip_change_write_array(s->e, s->word[1], s->word[2], in.array, NULL));
}

static cip_status do_append(script *s)
{
    input in;
    cip_status st = input_read(s->word[2], cip_array_native_dtype, &in);
    if (st == CIP_OK)
        st = cip_change_append(s->e, s->word[1], cip_dtype_as_stored(), in.data, in.nbytes, NULL);
    return input_close(&in, st);
}

static cip_status do_append_array(script *s)
{
    input in;
    input_open(s->word[2], &in);
    return input_close(&in, cip_change_append_array(s->e, s->word[1], in.array, NULL));
}

static cip_status do_resize(script *s)
{
    int64_t shape[CIP_MAX_NDIM];
    int ndim = lengths(s->word[2], shape);
    return cip_change_resize(s->e, s->word[1], ndim, shape, NULL);
}

/* delete PATH AXIS START COUNT */
static cip_status do_delete(script *s)
{
    return cip_change_delete(s->e, s->word[1], (int)strtol(s->word[2], NULL, 10),
                             strtoll(s->word[3], NULL, 10), strtoll(s->word[4], NULL, 10), NULL);
}

/* insert PATH AXIS START INPUT: from memory */
static cip_status do_insert(script *s)
{
    input in;
    cip_status st = input_read(s->word[4], cip_array_native_dtype, &in);
    if (st == CIP_OK)
        st = cip_change_insert(s->e, s->word[1], (int)strtol(s->word[2], NULL, 10),
                               strtoll(s->word[3], NULL, 10), cip_dtype_as_stored(), in.data,
                               in.nbytes, NULL);
    return input_close(&in, st);
}

static cip_status do_freeze(script *s)
{
    return cip_change_freeze(s->e, NULL);
}

static cip_status do_defrag(script *s)
{
    return cip_change_defrag(s->e, NULL, NULL, NULL);
}

/* rows FILE PATH INPUT: to a stream, twice */
static cip_status do_rows(script *s)
{
    input in;
    cip_file *f = NULL;
    cip_status st = input_read(s->word[3], cip_array_native_dtype, &in);
    if (st == CIP_OK)
        st = cip_open(s->word[1], NULL, &f, NULL);
    for (int i = 0; i < 2 && st == CIP_OK; i++)
        st = cip_append(f, s->word[2], cip_dtype_as_stored(), in.data, in.nbytes, NULL);
    cip_file_close(f);
    return input_close(&in, st);
}

/* behind FILE TEXT: what another program left at the end of a file; or `zeros=N` bytes */
static cip_status do_behind(script *s)
{
    FILE *f = fopen(s->word[1], "ab");
    if (f == NULL)
        return CIP_ERR_IO;
    fputs(s->word[2], f);
    for (int64_t i = number(s, "zeros"); i > 0; i--)
        fputc(0, f);
    return fclose(f) == 0 ? CIP_OK : CIP_ERR_IO;
}

/* --- from file to file ----------------------------------------------------------------------- */

static cip_status do_convert(script *s)
{
    const cip_open_options *in = CIP_OPEN_OPTIONS(.threads = (unsigned)number(s, "threads"));
    return cip_convert(
        s->word[1], s->word[2],
        CIP_CONVERT_OPTIONS(.level = CIP_LEVEL_PROCESS, .overwrite = true, .input = in,
                            .format = option(s, "format"), .path = option(s, "path"),
                            .codec = option(s, "codec"), .byteorder = option(s, "byteorder"),
                            .version = option(s, "standard"), .checksum = option(s, "md5"),
                            .storage = option(s, "storage"), .format_options = own(s),
                            .tree_slack = number(s, "slack"), .align = (uint64_t)number(s, "align"),
                            .resolve_refs = number(s, "resolve") != 0,
                            .accept_loss = number(s, "lossy") != 0),
        NULL);
}

typedef cip_status apart_fn(const char *, const char *, const cip_explode_options *, cip_err *);

static cip_status apart(const script *s, apart_fn *fn)
{
    const char *path = option(s, "path");
    return fn(s->word[1], s->word[2],
              CIP_EXPLODE_OPTIONS(.level = CIP_LEVEL_PROCESS, .path = &path, .npath = path != NULL,
                                  .bare = number(s, "bare") != 0, .tree_slack = number(s, "slack"),
                                  .align = (uint64_t)number(s, "align"),
                                  .accept_loss = number(s, "lossy") != 0),
              NULL);
}

static cip_status do_explode(script *s)
{
    return apart(s, cip_explode);
}

static cip_status do_implode(script *s)
{
    return apart(s, cip_implode);
}

/* --- what is there --------------------------------------------------------------------------- */

/* read FILE PATH INTO: the elements, little-endian and packed, into a file that may be there */
static cip_status do_read(script *s)
{
    cip_file *f = NULL;
    uint64_t n = 0;
    uint8_t *p = NULL;
    cip_status st =
        cip_open(s->word[1], CIP_OPEN_OPTIONS(.threads = (unsigned)number(s, "threads")), &f, NULL);
    const cip_array *a = st == CIP_OK ? cip_find(f, s->word[2], NULL) : NULL;
    const cip_dtype *d = a != NULL ? cip_array_raw_dtype(a, NULL) : NULL;
    if (st == CIP_OK)
        st = d == NULL ? CIP_ERR_NOT_FOUND : read_all(a, d, &p, &n);
    if (st == CIP_OK)
        st = save_bytes(s->word[3], p, n);
    free(p);
    cip_file_close(f);
    return st;
}

/* same FILE INPUT: whether the only array of the file, or the one called `data`, has the input's
 * shape and elements; FITS adds a step to the name */
static cip_status do_same(script *s)
{
    static const char *const path[] = { NULL, "data", "data/data" };
    const cip_array *a = NULL;
    input in;
    cip_file *f = NULL;
    uint8_t *p = NULL;
    uint64_t n;
    cip_status st = input_read(s->word[2], cip_array_raw_dtype, &in);
    if (st == CIP_OK)
        st = cip_open(s->word[1], CIP_OPEN_OPTIONS(.threads = 1), &f, NULL);
    for (size_t i = 0; st == CIP_OK && a == NULL && i < 3; i++)
        a = cip_find(f, path[i], NULL);
    if (st == CIP_OK)
        st = a == NULL ? CIP_ERR_NOT_FOUND : read_all(a, in.dtype, &p, &n);
    if (st == CIP_OK && (cip_array_ndim(a) != cip_array_ndim(in.array) ||
                         memcmp(cip_array_shape(a), cip_array_shape(in.array),
                                (size_t)cip_array_ndim(a) * sizeof(int64_t)) != 0))
        st = CIP_ERR_RANGE;
    if (st == CIP_OK && memcmp(p, in.data, n) != 0)
        st = CIP_ERR_CORRUPT;
    free(p);
    cip_file_close(f);
    return input_close(&in, st);
}

static int on_finding(void *user, const cip_finding *finding)
{
    *(bool *)user = *(bool *)user || finding->severity != CIP_NOTE;
    return 0;
}

/* verify FILE: all of it, notes left out */
static cip_status do_verify(script *s)
{
    bool found = false;
    cip_status st = cip_verify(
        s->word[1], CIP_VERIFY_OPTIONS(.deep = true, .on_finding = on_finding, .user = &found),
        NULL);
    return st == CIP_OK && found ? CIP_ERR_CORRUPT : st;
}

/* --- the script ------------------------------------------------------------------------------ */

static cip_status do_case(script *s)
{
    return mkdir(s->word[1], 0777) == 0 && chdir(s->word[1]) == 0 ? CIP_OK : CIP_ERR_IO;
}

static const struct verb {
    const char *name;
    verb_fn *fn;
    int of; /* works on what is being made: 'w' a new file, 'e' an update, '*' either */
} verbs[] = {
    { "case", do_case, 0 },       { "create", do_create, 0 },
    { "edit", do_edit, 0 },       { "rows", do_rows, 0 },
    { "behind", do_behind, 0 },   { "convert", do_convert, 0 },
    { "explode", do_explode, 0 }, { "implode", do_implode, 0 },
    { "put", do_put, '*' },       { "put_array", do_put_array, '*' },
    { "slab", do_slab, '*' },     { "view", do_view, 'w' },
    { "uint", do_uint, 'w' },     { "null", do_null, 'w' },
    { "node", do_node, 'w' },     { "string", do_string, '*' },
    { "int", do_int, '*' },       { "double", do_double, '*' },
    { "bool", do_bool, '*' },     { "yaml", do_yaml, '*' },
    { "commit", do_commit, '*' }, { "typed", do_typed, 'e' },
    { "remove", do_remove, 'e' }, { "move", do_move, 'e' },
    { "write", do_write, 'e' },   { "write_array", do_write_array, 'e' },
    { "append", do_append, 'e' }, { "append_array", do_append_array, 'e' },
    { "resize", do_resize, 'e' }, { "freeze", do_freeze, 'e' },
    { "defrag", do_defrag, 'e' }, { "delete", do_delete, 'e' },
    { "insert", do_insert, 'e' }, { "read", do_read, 0 },
    { "verify", do_verify, 0 },   { "same", do_same, 0 },
};

/* Words in the first list, those with "=" after a name in the other. */
static void take_words(script *s, char *line)
{
    static char none[1] = "";
    size_t n = 0;
    s->noption = 0;
    for (char *next = NULL, *w = strtok_r(line, "\t\n", &next); w != NULL;
         w = strtok_r(NULL, "\t\n", &next)) {
        if (w[strspn(w, "abcdefghijklmnopqrstuvwxyz_5")] == '=' && s->noption < MAX_WORDS)
            s->option[s->noption++] = w;
        else if (n < MAX_WORDS)
            s->word[n++] = strcmp(w, ".") == 0 ? none : w;
    }
    while (n < MAX_WORDS)
        s->word[n++] = none;
}

static cip_status run(script *s)
{
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++) {
        const struct verb *v = &verbs[i];
        if (strcmp(v->name, s->word[0]) != 0)
            continue;
        bool there = v->of == 0 || (v->of != 'e' && s->w != NULL) || (v->of != 'w' && s->e != NULL);
        return there ? v->fn(s) : CIP_OK; /* what could not be started is said once */
    }
    fprintf(stderr, "write_script: no verb '%s'\n", s->word[0]);
    exit(2);
}

int main(void)
{
    script s = { .w = NULL };
    char *line = NULL;
    size_t cap = 0;
    bool fine = true;
    while (getline(&line, &cap, stdin) > 0) {
        take_words(&s, line);
        if (strcmp(s.word[0], "end") == 0) {
            cip_change_abort(&s.w);
            cip_change_abort(&s.e);
            s.w = NULL;
            s.e = NULL;
            puts(fine ? "ok" : "");
            fflush(stdout);
            fine = true;
            continue;
        }
        cip_status st = run(&s);
        if (st != CIP_OK && fine) /* what follows it are its consequences */
            printf("%s:%s", s.word[0], cip_status_name(st));
        fine = fine && st == CIP_OK;
    }
    free(line);
    return 0;
}
