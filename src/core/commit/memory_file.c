/* SPDX-License-Identifier: BSD-3-Clause
 * Files in memory: one run of bytes, and members beside it, each another. Nobody sees them before
 * they are complete. */
#include "core/commit/memory_file.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/num.h"
#include "io/patch.h"

/* The set is its first file. A member that is unlinked stays for those who have it open. */
struct cip_memory {
    cip_mem mem; /* of the set; its members have none */
    cip_buf bytes;
    bool complete;
    char *name;          /* NULL: it has none */
    cip_memory **member; /* nmember of them, by name */
    size_t nmember, room;
    _Atomic uint64_t version; /* another one after each change */
    cip_memory *set;          /* a member's */
    _Atomic unsigned users;   /* a member's: by the set, and by who has it open */
};

cip_status cip_memory_make(const cip_allocator *from, cip_memory **out, cip_err *err)
{
    cip_memory *m;
    *out = NULL;
    CIP_TRY(cip_mem_handle(from, sizeof *m, (void **)&m, err));
    cip_mem_init(&m->mem, from, 0);
    m->bytes.mem = &m->mem;
    *out = m;
    return CIP_OK;
}

cip_status cip_memory_set_name(cip_memory *m, const char *name, cip_err *err)
{
    return cip_mem_copy(&m->mem, name, strlen(name), &m->name, err);
}

cip_status cip_memory_new(const void *bytes, size_t nbytes, cip_memory **out, cip_err *err)
{
    err = cip_err_enter(err);
    CIP_TRY(cip_arg_given(out, "a pointer for the memory", err));
    *out = NULL;
    if (bytes == NULL && nbytes != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected bytes, found NULL");
    CIP_TRY(cip_memory_make(NULL, out, err));
    cip_status st = cip_buf_add(&(*out)->bytes, bytes, nbytes, err);
    (*out)->complete = true;
    if (st != CIP_OK) {
        cip_memory_free(*out);
        *out = NULL;
    }
    return st;
}

static const void *show(const cip_memory *m, size_t *nbytes)
{
    if (nbytes != NULL)
        *nbytes = m->bytes.len;
    return m->bytes.ptr != NULL ? (const void *)m->bytes.ptr : "";
}

const void *cip_memory_bytes(const cip_memory *m, size_t *nbytes)
{
    if (m != NULL && m->complete)
        return show(m, nbytes);
    if (nbytes != NULL)
        *nbytes = 0;
    return NULL;
}

const char *cip_memory_member(const cip_memory *m, size_t i, const void **bytes, size_t *nbytes)
{
    if (m == NULL || !m->complete || i >= m->nmember)
        return NULL;
    const void *p = show(m->member[i], nbytes);
    if (bytes != NULL)
        *bytes = p;
    return m->member[i]->name;
}

/* --- members ---------------------------------------------------------------------------------- */

static void let_go(void *member)
{
    cip_memory *m = member;
    cip_mem *mem = &m->set->mem;
    if (atomic_fetch_sub(&m->users, 1) != 1)
        return;
    cip_buf_clear(&m->bytes);
    cip_mem_put(mem, m->name);
    cip_mem_put(mem, m);
}

/* Where it is, or would be. */
static bool find(const cip_memory *set, const char *name, size_t *at)
{
    size_t low = 0, high = set->nmember;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(set->member[middle]->name, name);
        *at = middle;
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *at = low;
    return false;
}

static void count_change(cip_memory *m)
{
    atomic_fetch_add(m->set != NULL ? &m->set->version : &m->version, 1);
}

cip_status cip_memory_create(cip_memory *set, const char *name, cip_memory **out, cip_err *err)
{
    cip_memory *m;
    size_t at;
    if (find(set, name, &at))
        return cip_fail(err, CIP_ERR_EXISTS, CIP_NO_OFFSET, "'%.120s' exists already", name);
    CIP_TRY(CIP_ROOM(&set->mem, &set->member, set->nmember, &set->room, err));
    CIP_TRY(CIP_NEW(&set->mem, &m, 1, err));
    m->set = set;
    m->bytes.mem = &set->mem;
    atomic_init(&m->users, 1);
    cip_status st = cip_mem_copy(&set->mem, name, strlen(name), &m->name, err);
    if (st != CIP_OK) {
        let_go(m);
        return st;
    }
    memmove(set->member + at + 1, set->member + at, (set->nmember++ - at) * sizeof m);
    set->member[at] = m;
    count_change(set);
    *out = m;
    return CIP_OK;
}

cip_status cip_memory_fill(cip_memory *m, cip_io *from, cip_err *err)
{
    size_t n;
    uint8_t *at;
    if (!cip_to_size(from->size, &n))
        return cip_fail(err, CIP_ERR_LIMIT, from->size, "more than memory can hold");
    CIP_TRY(cip_buf_reserve(&m->bytes, n, &at, err));
    CIP_TRY(cip_io_read(from, 0, at, n, err));
    m->bytes.len = n;
    return CIP_OK;
}

static cip_status hold(const cip_memory *set, const char *name, void **out, cip_err *err)
{
    size_t at;
    if (!find(set, name, &at))
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "'%.120s' does not exist in memory",
                        name);
    atomic_fetch_add(&set->member[at]->users, 1);
    *out = set->member[at];
    return CIP_OK;
}

static cip_status unlink_member(void *user, const char *name, cip_err *err)
{
    cip_memory *set = user;
    size_t at;
    (void)err;
    if (find(set, name, &at)) {
        let_go(set->member[at]);
        memmove(set->member + at, set->member + at + 1, (--set->nmember - at) * sizeof set);
        count_change(set);
    }
    return CIP_OK;
}

cip_status cip_memory_add(cip_memory *m, const char *name, const void *bytes, size_t nbytes,
                          cip_err *err)
{
    err = cip_err_enter(err);
    cip_memory *member;
    if (cip_memory_bytes(m, NULL) == NULL)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a file that is complete");
    if (name == NULL || (bytes == NULL && nbytes != 0))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a name and bytes, found NULL");
    if (!cip_member_name_is_plain(name))
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "not a plain member name: '%.80s'", name);
    CIP_TRY(cip_memory_create(m, name, &member, err));
    cip_status st = cip_buf_add(&member->bytes, bytes, nbytes, err);
    if (st != CIP_OK)
        unlink_member(m, name, NULL);
    return st;
}

void cip_memory_free(cip_memory *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->nmember; i++)
        let_go(m->member[i]);
    cip_mem_put(&m->mem, m->member);
    cip_mem_put(&m->mem, m->name);
    cip_buf_clear(&m->bytes);
    cip_mem_handle_free(&m->mem.from, m);
}

void cip_memory_complete(cip_memory *m)
{
    m->complete = true;
}

/* --- as an output ----------------------------------------------------------------------------- */

static cip_status resize(void *user, uint64_t nbytes, cip_err *err)
{
    cip_memory *m = user;
    size_t n, was = m->bytes.len;
    uint8_t *at;
    if (!cip_to_size(nbytes, &n))
        return cip_fail(err, CIP_ERR_LIMIT, nbytes, "more than memory can hold");
    count_change(m);
    if (n > was) {
        CIP_TRY(cip_buf_reserve(&m->bytes, n - was, &at, err));
        memset(at, 0, n - was);
    }
    m->bytes.len = n;
    return CIP_OK;
}

static cip_status rewrite(void *user, uint64_t off, const void *p, size_t n, cip_err *err)
{
    cip_memory *m = user;
    uint64_t end;
    if (cip_add_overflow(off, n, &end))
        return cip_fail(err, CIP_ERR_LIMIT, off, "more than memory can hold");
    count_change(m);
    if (end > m->bytes.len)
        CIP_TRY(resize(m, end, err));
    if (n != 0)
        memcpy(m->bytes.ptr + off, p, n);
    return CIP_OK;
}

static cip_status append(void *user, const void *p, size_t n, cip_err *err)
{
    return cip_buf_add(&((cip_memory *)user)->bytes, p, n, err);
}

static cip_status move(void *user, uint64_t from, uint64_t n, uint64_t to, cip_err *err)
{
    cip_memory *m = user;
    const uint64_t end = m->bytes.len, after = from + n == end ? to + n : end;
    if (after > end)
        CIP_TRY(resize(m, after, err));
    if (n != 0)
        memmove(m->bytes.ptr + to, m->bytes.ptr + from, (size_t)n);
    return resize(m, after, err);
}

cip_out cip_memory_out(cip_memory *m)
{
    return (cip_out){
        .write = append,
        .user = m,
        .rewrite = rewrite,
        .rewind = resize,
        .move = move,
        .name = m->name,
    };
}

/* --- as a file of a store -------------------------------------------------------------------- */

/* An update that was made since may have cut it. */
static cip_status read_ranges(void *user, const cip_range *r, size_t n, cip_err *err)
{
    const cip_memory *m = user;
    for (size_t i = 0; i < n; i++) {
        if (r[i].offset > m->bytes.len || r[i].nbytes > m->bytes.len - r[i].offset)
            return cip_fail(err, CIP_ERR_BUSY, r[i].offset,
                            "the file changed since it was opened; open it again");
        memcpy(r[i].dst, m->bytes.ptr + r[i].offset, r[i].nbytes);
    }
    return CIP_OK;
}

static cip_status size(void *user, uint64_t *nbytes, cip_err *err)
{
    (void)err;
    *nbytes = ((const cip_memory *)user)->bytes.len;
    return CIP_OK;
}

static const cip_io_write_methods member_writes = { CIP_IO_WRITE_METHODS_INIT, .write_at = rewrite,
                                                    .resize = resize, .close = let_go };

static cip_status version(void *user, uint64_t *number, cip_err *err)
{
    const cip_memory *m = user;
    (void)err;
    *number = atomic_load(m->set != NULL ? &m->set->version : &m->version);
    return CIP_OK;
}

static cip_status open_itself(void *user, cip_io_write_methods *methods, void **out, cip_err *err)
{
    cip_memory *m = user;
    (void)err;
    *methods = m->set != NULL ? member_writes : cip_memory_target(m).methods;
    if (m->set != NULL)
        atomic_fetch_add(&m->users, 1);
    *out = m;
    return CIP_OK;
}

static cip_status open_to_read(void *user, const char *name, cip_io_methods *methods, void **member,
                               cip_err *err)
{
    *methods =
        (cip_io_methods){ CIP_IO_METHODS_INIT, .read_ranges = read_ranges, .size = size,
                          .close = let_go,     .open_write = open_itself,  .version = version };
    return hold(user, name, member, err);
}

/* Of members in folders below, which come one behind the other, the folder, once. */
static cip_status list(void *user, const char *path, cip_io_list_fn *fn, void *fn_user,
                       cip_err *err)
{
    const cip_memory *m = user;
    const char *last = "";
    char name[NAME_MAX + 1];
    size_t in = strlen(path), none = in == 0 ? 0 : 1;
    in += none;
    for (size_t i = 0; i < m->nmember; i++) {
        const char *at = m->member[i]->name;
        if (in != 0 && (strncmp(at, path, in - 1) != 0 || at[in - 1] != '/'))
            continue;
        size_t n = strcspn(at + in, "/");
        none = 0;
        if (strncmp(last, at + in, n) == 0 && last[n] == '/' && at[in + n] == '/')
            continue;
        last = at + in;
        if (n > NAME_MAX)
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "a name of %zu bytes", n);
        snprintf(name, sizeof name, "%.*s", (int)n, last);
        if (fn(fn_user, name, last[n] == '/') != 0)
            break;
    }
    return none == 0 ? CIP_OK
                     : cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                                "the folder '%.120s' does not exist in memory", path);
}

cip_io_methods cip_memory_reads(const cip_memory *m)
{
    return (cip_io_methods){ CIP_IO_METHODS_INIT,
                             .read_ranges = read_ranges,
                             .size = size,
                             .open_member = m->bytes.len + m->nmember != 0 ? open_to_read : NULL,
                             .open_write = open_itself,
                             .version = version,
                             .list = list };
}

static cip_status open_to_write(void *user, const char *name, cip_io_write_methods *methods,
                                void **member, cip_err *err)
{
    *methods = member_writes;
    return hold(user, name, member, err);
}

static cip_status create_member(void *user, const char *name, cip_io_write_methods *methods,
                                void **member, cip_err *err)
{
    cip_memory *m;
    CIP_TRY(cip_memory_create(user, name, &m, err));
    return open_to_write(user, name, methods, member, err);
}

cip_target cip_memory_target(cip_memory *m)
{
    return (cip_target){ .user = m,
                         .methods = { CIP_IO_WRITE_METHODS_INIT, .name = m->name,
                                      .write_at = rewrite, .resize = resize,
                                      .create_member = create_member, .open_member = open_to_write,
                                      .unlink_member = unlink_member } };
}

bool cip_memory_is(const cip_target *t)
{
    return t->methods.write_at == rewrite;
}
