/* SPDX-License-Identifier: BSD-3-Clause
 * cippus zarr-refs: where the chunks of a file's arrays lie, for readers of Zarr. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "commands.h"
#include "print.h"
#include "refs_parquet.h"
#include "suggest.h"

typedef struct telling {
    const char *file;
    size_t nleft_out;
    refs_parquet *parquet; /* NULL: JSON */
    int why;               /* errno of a write that failed */
} telling;

static int on_finding(void *user, const cip_finding *f)
{
    telling *t = user;
    t->nleft_out += f->severity != CIP_NOTE;
    print_told(t->file, "", f);
    return 0;
}

char *refs_members(bool folder, const char *url)
{
    const size_t n = strlen(url);
    const char *slash = strrchr(url, '/');
    char *text = malloc(n + 2);
    if (text == NULL)
        return NULL;
    memcpy(text, url, n + 1);
    if (folder && (n == 0 || url[n - 1] != '/'))
        memcpy(text + n, "/", 2);
    else if (!folder)
        text[slash != NULL ? slash - url + 1 : 0] = '\0';
    return text;
}

static int write_memory(void *user, const void *bytes, size_t n)
{
    return n != 0 && fwrite(bytes, n, 1, user) != 1;
}

static int failed(const char *path, const char *what)
{
    fputs("cippus: ", stderr);
    print_file_name(stderr, path);
    fprintf(stderr, ": %s: %s\n", what, strerror(errno));
    return EXIT_FAILED;
}

static int write_whole(const char *path, const char *bytes, size_t n, bool overwrite)
{
    const cip_change_options how = { .size = sizeof how, .overwrite = overwrite };
    cip_memory *memory = NULL;
    cip_err err = CIP_ERR_INIT;
    cip_status st = cip_memory_new(bytes, n, &memory, &err);
    if (st == CIP_OK)
        st = cip_memory_save(memory, path, &how, &err);
    cip_memory_free(memory);
    return st == CIP_OK ? EXIT_FINE : complain(path, &err);
}

/* A cip_refs_entry_fn of Parquet. */
static int on_entry(void *user, const cip_refs_entry *e)
{
    telling *t = user;
    if (refs_parquet_add(t->parquet, e) == 0)
        return 0;
    t->why = errno;
    return 1;
}

static int drop(void *user, const void *bytes, size_t n)
{
    (void)user;
    (void)bytes;
    (void)n;
    return 0;
}

static cip_refs_options options_of(const opts *o, const char *url, const char *members, telling *t)
{
    return (cip_refs_options){
        .size = sizeof(cip_refs_options),
        .path = o->path,
        .url = url,
        .members = members,
        .inline_nbytes = o->inline_nbytes >= 0 ? (uint64_t)o->inline_nbytes : REFS_INLINE_NBYTES,
        .on_finding = on_finding,
        .on_entry = t->parquet != NULL ? on_entry : NULL,
        .user = t,
    };
}

static int refused(const opts *o, const cip_file *f, cip_err *err)
{
    suggest_path(f, o->path != NULL ? o->path : "", true, err);
    return complain(o->pos[0], err);
}

static int write_json(const opts *o, const cip_file *f, const cip_refs_options *how)
{
    char *text = NULL;
    size_t n = 0;
    cip_err err = CIP_ERR_INIT;
    FILE *memory = open_memstream(&text, &n);
    if (memory == NULL)
        return failed(o->pos[0], "references");
    int rc = EXIT_FINE;
    const cip_status st = cip_refs_write(f, how, write_memory, memory, &err);
    if (fclose(memory) != 0)
        rc = failed(o->pos[0], "references");
    else if (st != CIP_OK)
        rc = refused(o, f, &err);
    else if (o->npos == 1 || strcmp(o->pos[1], "-") == 0)
        rc = write_stdout(NULL, text, n) == 0 ? EXIT_FINE : EXIT_FAILED;
    else
        rc = write_whole(o->pos[1], text, n, o->overwrite);
    free(text);
    return rc;
}

static int write_parquet(const opts *o, const cip_file *f, const cip_refs_options *how, telling *t)
{
    cip_err err = CIP_ERR_INIT;
    int rc = EXIT_FINE;
    if (refs_parquet_open(t->parquet, o->pos[1]) != 0)
        rc = failed(o->pos[1], "cannot be written");
    else if (cip_refs_write(f, how, drop, NULL, &err) != CIP_OK) {
        errno = t->why;
        rc = t->why != 0 ? failed(o->pos[1], "cannot be written") : refused(o, f, &err);
    } else if (refs_parquet_finish(t->parquet, o->pos[1], o->overwrite) != 0)
        rc = failed(o->pos[1], "cannot be written");
    refs_parquet_close(t->parquet);
    return rc;
}

static int write_refs(const opts *o, const cip_file *f, const char *url, telling *t)
{
    struct stat st;
    const bool folder = stat(o->pos[0], &st) == 0 && S_ISDIR(st.st_mode);
    char *members = refs_members(folder, url);
    if (members == NULL)
        return failed(o->pos[0], "references");
    const cip_refs_options how = options_of(o, url, members, t);
    const int rc = t->parquet != NULL ? write_parquet(o, f, &how, t) : write_json(o, f, &how);
    free(members);
    return rc;
}

/* 0, 1 where arrays are left out, or another exit status. */
int cmd_zarr_refs(const opts *o)
{
    refs_parquet p;
    const bool parquet = o->refs_format != NULL && strcmp(o->refs_format, "parquet") == 0;
    telling t = { .file = o->pos[0], .parquet = parquet ? &p : NULL };
    struct stat st;
    if (parquet && (o->npos == 1 || strcmp(o->pos[1], "-") == 0)) {
        fputs("cippus: zarr-refs: Parquet is a folder: OUT is missing; see 'cippus zarr-refs "
              "--help'\n",
              stderr);
        return EXIT_USAGE;
    }
    if (o->npos > 1 && !o->overwrite && strcmp(o->pos[1], "-") != 0 && stat(o->pos[1], &st) == 0) {
        errno = EEXIST;
        return failed(o->pos[1], "--overwrite replaces it");
    }
    char *absolute = o->url == NULL ? realpath(o->pos[0], NULL) : NULL;
    cip_file *f = open_file(o->pos[0], o);
    if (f == NULL) {
        free(absolute);
        return EXIT_FAILED;
    }
    int rc = EXIT_FAILED;
    if (o->url == NULL && absolute == NULL)
        fputs("cippus: zarr-refs needs a file, or --url for what was read\n", stderr);
    else
        rc = write_refs(o, f, o->url != NULL ? o->url : absolute, &t);
    print_warnings(o->pos[0], f, 0);
    cip_file_close(f);
    free(absolute);
    return finish_stdout(rc == EXIT_FINE && t.nleft_out != 0 ? EXIT_FINDINGS : rc);
}
