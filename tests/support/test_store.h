/* SPDX-License-Identifier: BSD-3-Clause
 * A store of a caller's, over memory: named files that are written through cip_io_write_methods and
 * read through cip_io_methods. It counts the calls, lets one of them fail, and refuses what the
 * library must not do.
 *
 *     test_store s = { .fail_at = 3 };                  the third call ends with CIP_ERR_IO
 *     cip_create_io(&test_store_writes, test_store_file(&s, "out.asdf"), NULL, &w, err);
 *     test_store_clear(&s);
 */
#ifndef CIP_TESTS_TEST_STORE_H
#define CIP_TESTS_TEST_STORE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cippus/cippus.h"

enum { TEST_STORE_FILES = 64 };

typedef struct test_file {
    struct test_store *store;
    char name[64];
    char *bytes;
    size_t n;
    bool there, forwards;         /* forwards: new, only the end may be written */
    int opened, complete, closed; /* calls; opened: by open_write */
} test_file;

typedef struct test_store {
    test_file file[TEST_STORE_FILES];
    _Atomic int calls;      /* from any thread */
    int fail_at, fail_from; /* from a call on all fail */
    int status;             /* what with; 0: CIP_ERR_IO */
    int syncs;
    uint64_t version; /* one more by each change */
} test_store;

static inline test_file *test_store_find(test_store *s, const char *name)
{
    for (int i = 0; i < TEST_STORE_FILES; i++)
        if (s->file[i].there && strcmp(s->file[i].name, name) == 0)
            return &s->file[i];
    return NULL;
}

/* A new file of this name, or the one that is there. */
static inline test_file *test_store_file(test_store *s, const char *name)
{
    test_file *f = test_store_find(s, name);
    for (int i = 0; f == NULL && i < TEST_STORE_FILES; i++)
        if (!s->file[i].there) {
            f = &s->file[i];
            free(f->bytes);
            memset(f, 0, sizeof *f);
            strncpy(f->name, name, sizeof f->name - 1);
            f->there = f->forwards = true;
        }
    if (f != NULL)
        f->store = s;
    return f;
}

/* A file that is there, with these bytes. */
static inline test_file *test_store_put(test_store *s, const char *name, const void *bytes,
                                        size_t n)
{
    test_file *f = test_store_file(s, name);
    free(f->bytes);
    f->bytes = (char *)malloc(n + 1);
    if (n != 0)
        memcpy(f->bytes, bytes, n);
    f->n = n;
    f->forwards = false;
    return f;
}

static inline void test_store_clear(test_store *s)
{
    for (int i = 0; i < TEST_STORE_FILES; i++)
        free(s->file[i].bytes);
    memset(s, 0, sizeof *s);
}

/* Counts a call; the status that it ends with. */
static inline cip_status test_store_call(test_store *s)
{
    int now = ++s->calls;
    bool fails = now == s->fail_at || (s->fail_from != 0 && now >= s->fail_from);
    return !fails ? CIP_OK : s->status != 0 ? (cip_status)s->status : CIP_ERR_IO;
}

static inline cip_status test_store_resize(void *user, uint64_t nbytes, cip_err *err)
{
    test_file *f = (test_file *)user;
    cip_status st = test_store_call(f->store);
    (void)err;
    if (st != CIP_OK)
        return st;
    f->store->version++;
    f->bytes = (char *)realloc(f->bytes, nbytes + 1);
    if (nbytes > f->n)
        memset(f->bytes + f->n, 0, nbytes - f->n);
    f->n = nbytes;
    return CIP_OK;
}

/* A write that fails has been made in part. */
static inline cip_status test_store_write(void *user, uint64_t offset, const void *p, size_t n,
                                          cip_err *err)
{
    test_file *f = (test_file *)user;
    cip_status st = test_store_call(f->store);
    size_t now = st == CIP_OK ? n : n / 2;
    (void)err;
    f->store->version++;
    if (n == 0 || offset > f->n || (f->forwards && offset != f->n))
        abort();
    if (offset + now > f->n) {
        f->bytes = (char *)realloc(f->bytes, offset + now + 1);
        f->n = offset + now;
    }
    memcpy(f->bytes + offset, p, now);
    return st;
}

static inline cip_status test_store_sync(void *user, cip_err *err)
{
    test_file *f = (test_file *)user;
    (void)err;
    f->store->syncs++;
    return test_store_call(f->store);
}

static inline cip_status test_store_complete(void *user, cip_err *err)
{
    test_file *f = (test_file *)user;
    cip_status st = test_store_call(f->store);
    (void)err;
    f->complete += st == CIP_OK;
    return st;
}

static inline void test_store_close(void *user)
{
    test_file *f = (test_file *)user;
    f->closed++;
    f->forwards = false;
}

static inline cip_status test_store_unlink(void *user, const char *name, cip_err *err)
{
    test_store *s = ((test_file *)user)->store;
    test_file *f = test_store_find(s, name);
    (void)err;
    if (f == NULL || f->forwards) /* it is still being written */
        abort();
    f->there = false;
    s->version++;
    return test_store_call(s);
}

static inline cip_status test_store_member(void *user, const char *name,
                                           cip_io_write_methods *methods, void **member,
                                           cip_err *err);

static inline cip_status test_store_open_write(void *user, const char *name,
                                               cip_io_write_methods *methods, void **member,
                                               cip_err *err);

#define TEST_STORE_WRITES                                                                          \
    {                                                                                              \
        CIP_IO_WRITE_METHODS_INIT,                                                                 \
            .name = "out.asdf", .write_at = test_store_write, .resize = test_store_resize,         \
            .sync = test_store_sync, .complete = test_store_complete,                              \
            .create_member = test_store_member, .open_member = test_store_open_write,              \
            .unlink_member = test_store_unlink, .close = test_store_close                          \
    }

static inline cip_status test_store_member(void *user, const char *name,
                                           cip_io_write_methods *methods, void **member,
                                           cip_err *err)
{
    static const cip_io_write_methods writes = TEST_STORE_WRITES;
    test_store *s = ((test_file *)user)->store;
    cip_status st = test_store_call(s);
    (void)err;
    if (st == CIP_OK && test_store_find(s, name) != NULL)
        st = CIP_ERR_EXISTS;
    if (st != CIP_OK)
        return st;
    s->version++;
    *methods = writes;
    *member = test_store_file(s, name);
    return CIP_OK;
}

static inline cip_status test_store_open_write(void *user, const char *name,
                                               cip_io_write_methods *methods, void **member,
                                               cip_err *err)
{
    static const cip_io_write_methods writes = TEST_STORE_WRITES;
    test_store *s = ((test_file *)user)->store;
    cip_status st = test_store_call(s);
    (void)err;
    *member = test_store_find(s, name);
    *methods = writes;
    return st != CIP_OK ? st : *member == NULL ? CIP_ERR_NOT_FOUND : CIP_OK;
}

static inline cip_status test_store_read(void *user, const cip_range *range, size_t n, cip_err *err)
{
    test_file *f = (test_file *)user;
    cip_status st = test_store_call(f->store);
    (void)err;
    for (size_t i = 0; st == CIP_OK && i < n; i++) {
        if (range[i].offset + range[i].nbytes > f->n)
            abort();
        memcpy(range[i].dst, f->bytes + range[i].offset, range[i].nbytes);
    }
    return st;
}

static inline cip_status test_store_size(void *user, uint64_t *nbytes, cip_err *err)
{
    test_file *f = (test_file *)user;
    (void)err;
    *nbytes = f->n;
    return test_store_call(f->store);
}

static inline cip_status test_store_version(void *user, uint64_t *version, cip_err *err)
{
    test_store *s = ((test_file *)user)->store;
    (void)err;
    *version = s->version;
    return test_store_call(s);
}

static inline cip_status test_store_open_itself(void *user, cip_io_write_methods *methods,
                                                void **writes, cip_err *err)
{
    static const cip_io_write_methods all = TEST_STORE_WRITES;
    test_file *f = (test_file *)user;
    cip_status st = test_store_call(f->store);
    (void)err;
    f->opened += st == CIP_OK;
    *methods = all;
    *writes = user;
    return st;
}

/* A folder is named once by each file in it, as a store may that knows of files alone. */
static inline cip_status test_store_list(void *user, const char *path, cip_io_list_fn *fn,
                                         void *fn_user, cip_err *err)
{
    test_file *root = (test_file *)user;
    test_store *s = root->store;
    size_t in = strlen(path) + (path[0] != '\0');
    bool any = in == 0;
    (void)err;
    for (int i = 0; i < TEST_STORE_FILES; i++) {
        char name[64];
        const test_file *f = &s->file[i];
        if (!f->there || f == root || strncmp(f->name, path, strlen(path)) != 0 ||
            (in != 0 && f->name[in - 1] != '/'))
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(f->name + in, "/"), f->name + in);
        any = true;
        if (fn(fn_user, name, f->name[in + strlen(name)] == '/') != 0)
            break;
    }
    cip_status st = test_store_call(s);
    return st != CIP_OK ? st : any ? CIP_OK : CIP_ERR_NOT_FOUND;
}

static inline cip_status test_store_open(void *user, const char *name, cip_io_methods *methods,
                                         void **member, cip_err *err);

#define TEST_STORE_READS                                                                           \
    {                                                                                              \
        CIP_IO_METHODS_INIT, .read_ranges = test_store_read, .size = test_store_size,              \
                             .open_member = test_store_open, .open_write = test_store_open_itself, \
                             .version = test_store_version, .list = test_store_list                \
    }

static inline cip_status test_store_open(void *user, const char *name, cip_io_methods *methods,
                                         void **member, cip_err *err)
{
    static const cip_io_methods reads = TEST_STORE_READS;
    test_store *s = ((test_file *)user)->store;
    cip_status st = test_store_call(s);
    (void)err;
    *member = test_store_find(s, name);
    *methods = reads;
    return st != CIP_OK ? st : *member == NULL ? CIP_ERR_NOT_FOUND : CIP_OK;
}

#endif
