/* SPDX-License-Identifier: BSD-3-Clause
 * The names in a folder as they are after changes that were not made yet. Which of the names that
 * the changes are about there are is asked of the io that shows them; all others are as they were.
 */
#include <string.h>

#include "base/arena.h"
#include "base/strmap.h"
#include "io/io_impl.h"

typedef struct merged {
    const cip_changed_names *c;
    const char *path; /* of the folder, relative to the root */
    uint32_t flags;
    cip_io_list_fn *fn;
    void *user;
    cip_arena arena;
    cip_strmap seen; /* names that were told, or are known not to be there */
    bool stopped;
    cip_status st;
    cip_err *err;
} merged;

static cip_bytes key(const char *name, size_t n)
{
    return (cip_bytes){ (const uint8_t *)name, n };
}

static int stop(void *user, const char *name, bool is_folder)
{
    (void)user;
    (void)name;
    (void)is_folder;
    return 1;
}

static bool is_there(const merged *m, const char *full, bool is_folder)
{
    cip_io *member;
    if (is_folder)
        return cip_io_list(m->c->view, full, m->flags, stop, NULL, NULL) == CIP_ERR_CANCELLED;
    cip_status st = m->c->view->ops->open_member(m->c->view, full, m->flags, &member, NULL);
    if (st == CIP_OK)
        cip_io_close(member);
    return st == CIP_OK;
}

static cip_status tell(merged *m, const char *name, size_t n, bool is_folder)
{
    char *copy;
    CIP_TRY(cip_arena_copy(&m->arena, name, n, &copy, m->err));
    CIP_TRY(cip_strmap_put(&m->seen, key(copy, n), 0, NULL, m->err));
    m->stopped = m->fn(m->user, copy, is_folder) != 0;
    return CIP_OK;
}

static int see_old(void *user, const char *name, bool is_folder)
{
    merged *m = user;
    char *full;
    m->st = cip_arena_printf(&m->arena, &full, m->err, "%s%s%s", m->path,
                             m->path[0] != '\0' ? "/" : "", name);
    bool concerned = false;
    for (size_t i = 0; m->st == CIP_OK && i < m->c->n; i++)
        concerned = concerned || strcmp(m->c->name[i], full) == 0;
    if (m->st == CIP_OK && (!concerned || is_there(m, full, is_folder)))
        m->st = tell(m, name, strlen(name), is_folder);
    return m->st != CIP_OK || m->stopped;
}

static cip_status see_new(merged *m, const char *full)
{
    const size_t len = strlen(m->path);
    if (len != 0 && (strncmp(full, m->path, len) != 0 || full[len] != '/'))
        return CIP_OK; /* lies elsewhere */
    const char *part = full + (len != 0 ? len + 1 : 0);
    const size_t n = strcspn(part, "/");
    if (n == 0 || cip_strmap_get(&m->seen, key(part, n)) != SIZE_MAX || !is_there(m, full, false))
        return CIP_OK;
    return tell(m, part, n, part[n] == '/');
}

cip_status cip_io_list_changed(const cip_changed_names *c, const char *path, uint32_t flags,
                               cip_io_list_fn *fn, void *user, cip_err *err)
{
    merged m = { .c = c, .path = path, .flags = flags, .fn = fn, .user = user, .err = err };
    cip_err own = CIP_ERR_INIT;
    if (c->under->ops->list == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "'%.120s' is not a folder",
                        c->under->name);
    m.arena.mem = m.seen.mem = &c->view->env->mem;
    cip_status listed = c->under->ops->list(c->under, path, flags, see_old, &m, &own);
    const size_t nnew = (flags & CIP_IO_LINKS) == 0 ? c->n : 0; /* none of them is a link */
    for (size_t i = 0; m.st == CIP_OK && !m.stopped && i < nnew; i++)
        m.st = see_new(&m, c->name[i]);
    bool is_new = listed == CIP_ERR_NOT_FOUND && m.seen.len != 0;
    if (m.st == CIP_OK && !is_new && listed != CIP_OK) {
        m.st = listed;
        cip_err_pass(err, &own);
    }
    cip_strmap_clear(&m.seen);
    cip_arena_clear(&m.arena);
    return m.st;
}
