/* SPDX-License-Identifier: BSD-3-Clause
 * Chunks come array by array with rising numbers, so that one record is filled at a time. */
#include "refs_parquet.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "print.h"

enum { RECORD = 10000 };

static char *text_of(const char *a, const char *b, const char *c)
{
    char *text = malloc(strlen(a) + strlen(b) + strlen(c) + 1);
    return text != NULL ? strcat(strcat(strcpy(text, a), b), c) : NULL;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st;
    (void)kind;
    (void)at;
    return remove(path);
}

static int remove_tree(const char *path)
{
    return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* A folder of this user's that has no other name yet: under a name that `cippus recover` lists, and
 * locked, so that it leaves the folder alone as long as this process lives. */
static char *make_beside(const char *out)
{
    size_t n = strlen(out);
    while (n > 1 && out[n - 1] == '/')
        n--;
    while (n > 0 && out[n - 1] != '/')
        n--;
    char *path = malloc(n + sizeof ".cip-new-XXXXXX");
    const mode_t mask = umask(0);
    umask(mask);
    if (path != NULL)
        strcpy(mempcpy(path, out, n), ".cip-new-XXXXXX");
    if (path == NULL || mkdtemp(path) == NULL || chmod(path, 0777 & ~mask) != 0) {
        free(path);
        return NULL;
    }
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd != -1)
        flock(fd, LOCK_EX | LOCK_NB); /* until the process ends */
    return path;
}

int refs_parquet_open(refs_parquet *p, const char *out)
{
    *p = (refs_parquet){ .rows = calloc(RECORD, sizeof *p->rows) };
    p->meta = open_memstream(&p->meta_text, &p->meta_nbytes);
    if (p->rows == NULL || p->meta == NULL)
        return -1;
    p->folder = make_beside(out);
    return p->folder != NULL && fputs("{\"metadata\": {", p->meta) >= 0 ? 0 : -1;
}

/* --- records --------------------------------------------------------------------------------- */

/* A file of the folder, with the folders that lead to it. */
static FILE *create(const refs_parquet *p, const char *name)
{
    char *path = text_of(p->folder, "/", name);
    FILE *f = NULL;
    bool good = path != NULL;
    for (char *at = path + strlen(p->folder) + 1; good && (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        good = mkdir(path, 0777) == 0 || errno == EEXIST;
        *at = '/';
    }
    if (good)
        f = fopen(path, "wbx");
    free(path);
    return f;
}

static int finish_file(FILE *f, int rc)
{
    if (fflush(f) != 0 || fsync(fileno(f)) != 0)
        rc = -1;
    return fclose(f) == 0 ? rc : -1;
}

static void drop_rows(refs_parquet *p)
{
    for (uint64_t i = 0; p->rows != NULL && i < p->nrow; i++) {
        free((void *)p->rows[i].path);
        free((void *)p->rows[i].raw);
        p->rows[i] = (parquet_row){ 0 };
    }
    p->nrow = 0;
}

static int write_record(refs_parquet *p)
{
    char number[48];
    int rc = -1;
    if (p->nrow == 0)
        return 0;
    snprintf(number, sizeof number, "/refs.%" PRIu64 ".parq", p->record);
    char *name = text_of(p->node, number, "");
    FILE *f = name != NULL ? create(p, name) : NULL;
    if (f != NULL)
        rc = finish_file(f, parquet_write(f, p->rows, (size_t)p->nrow));
    free(name);
    drop_rows(p);
    return rc;
}

static int add_chunk(refs_parquet *p, const cip_refs_entry *e)
{
    const uint64_t record = e->number / RECORD, at = e->number % RECORD;
    const bool same = p->node != NULL && strcmp(p->node, e->node) == 0;
    if (!same || record != p->record) {
        if (write_record(p) != 0)
            return -1;
        free(p->node);
        p->node = strdup(e->node);
        p->record = record;
    }
    parquet_row *r = &p->rows[at];
    r->offset = e->url != NULL ? (int64_t)e->offset : 0;
    r->size = e->url != NULL ? (int64_t)e->nbytes : 0;
    p->nrow = at + 1 > p->nrow ? at + 1 : p->nrow;
    if (e->url != NULL) {
        r->path = strdup(e->url);
    } else {
        void *raw = malloc((size_t)e->nbytes + 1);
        if (raw != NULL)
            memcpy(raw, e->bytes, (size_t)e->nbytes);
        r->raw = raw;
        r->raw_nbytes = (size_t)e->nbytes;
    }
    return p->node != NULL && (r->path != NULL || r->raw != NULL) ? 0 : -1;
}

int refs_parquet_add(refs_parquet *p, const cip_refs_entry *e)
{
    if (e->text == NULL)
        return add_chunk(p, e);
    char *key = text_of(e->node, e->node[0] != '\0' ? "/" : "", e->key);
    if (key == NULL)
        return -1;
    fputs(p->any ? ",\n" : "\n", p->meta);
    print_json_string(p->meta, key);
    fprintf(p->meta, ": %s", e->text);
    p->any = true;
    free(key);
    return ferror(p->meta) ? -1 : 0;
}

/* --- the folder ------------------------------------------------------------------------------ */

static int write_meta(refs_parquet *p)
{
    fprintf(p->meta, "\n}, \"record_size\": %d}\n", RECORD);
    if (fflush(p->meta) != 0)
        return -1;
    FILE *f = create(p, ".zmetadata");
    if (f == NULL)
        return -1;
    return finish_file(f, fwrite(p->meta_text, p->meta_nbytes, 1, f) == 1 ? 0 : -1);
}

/* The older folder goes aside first, and away when the new one has its name. */
static int replace(refs_parquet *p, const char *out)
{
    struct stat st;
    char *mark = text_of(out, "/.zmetadata", ""), *aside = NULL;
    int rc = -1;
    if (mark != NULL && stat(mark, &st) != 0)
        errno = EEXIST; /* something else */
    else if (mark != NULL && (aside = make_beside(out)) != NULL) {
        rc = rename(out, aside);
        if (rc == 0 && (rc = rename(p->folder, out)) != 0)
            rename(aside, out);
        else
            remove_tree(aside);
    }
    free(mark);
    free(aside);
    return rc;
}

int refs_parquet_finish(refs_parquet *p, const char *out, bool overwrite)
{
    struct stat st;
    if (write_record(p) != 0 || write_meta(p) != 0)
        return -1;
    const bool there = stat(out, &st) == 0;
    if (there && !overwrite) {
        errno = EEXIST;
        return -1;
    }
    if ((there ? replace(p, out) : rename(p->folder, out)) != 0)
        return -1;
    free(p->folder);
    p->folder = NULL;
    return 0;
}

void refs_parquet_close(refs_parquet *p)
{
    const int why = errno;
    drop_rows(p);
    free(p->rows);
    free(p->node);
    if (p->meta != NULL)
        fclose(p->meta);
    free(p->meta_text);
    if (p->folder != NULL)
        remove_tree(p->folder);
    free(p->folder);
    errno = why;
}
