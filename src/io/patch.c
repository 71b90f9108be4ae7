/* SPDX-License-Identifier: BSD-3-Clause
 * Patches: lists of operations, checked as they are added, with copies of what they hold. */
#include "io/patch.h"

#include <string.h>

#include "base/num.h"
#include "io/io_impl.h"

bool cip_member_name_is_plain(const char *name)
{
    for (;;) {
        size_t n = strcspn(name, "/");
        if (n == 0 || (n == 1 && name[0] == '.') || (n == 2 && memcmp(name, "..", 2) == 0))
            return false;
        if (name[n] == '\0')
            return true;
        name += n + 1;
    }
}

const char *cip_patch_op_fault(const cip_patch_op *op)
{
    uint64_t end;
    if (op->kind < CIP_PATCH_WRITE || op->kind > CIP_PATCH_UNLINK)
        return "an unknown kind";
    if (op->member[0] != '\0' ? !cip_member_name_is_plain(op->member)
                              : op->kind >= CIP_PATCH_CREATE)
        return "not a plain member name";
    if (op->to[0] != '\0' ? !cip_member_name_is_plain(op->to) : op->kind == CIP_PATCH_RENAME)
        return "not a plain new name";
    if (op->kind != CIP_PATCH_WRITE)
        return NULL;
    if (op->before.len > op->after.len)
        return "more old bytes than new ones";
    if (cip_add_overflow(op->offset, op->after.len, &end))
        return "an end after 2^64";
    return NULL;
}

bool cip_patch_op_own(const cip_patch_op *op)
{
    return op->member[0] == '\0'; /* only writes and lengths may have no name */
}

uint64_t cip_patch_size_after(const cip_patch *p, uint64_t size)
{
    for (size_t i = 0; i < p->n; i++) {
        const cip_patch_op *op = &p->op[i];
        if (!cip_patch_op_own(op))
            continue;
        if (op->kind == CIP_PATCH_LENGTH)
            size = op->offset;
        else if (op->after.len != 0)
            size = cip_max_u64(size, op->offset + op->after.len);
    }
    return size;
}

cip_status cip_patch_push(cip_patch *p, const cip_patch_op *op, cip_err *err)
{
    CIP_TRY(CIP_ARENA_ROOM(&p->arena, &p->op, p->n, &p->cap, err));
    p->op[p->n++] = *op;
    return CIP_OK;
}

static cip_status copy_bytes(cip_arena *a, cip_bytes from, cip_bytes *to, cip_err *err)
{
    char *ptr;
    CIP_TRY(cip_arena_copy(a, from.ptr, from.len, &ptr, err));
    *to = (cip_bytes){ (const uint8_t *)ptr, from.len };
    return CIP_OK;
}

cip_status cip_patch_add(cip_patch *p, const cip_patch_op *op, cip_err *err)
{
    cip_patch_op copy = *op;
    copy.member = op->member != NULL ? op->member : "";
    copy.to = op->to != NULL ? op->to : "";
    const char *fault = cip_patch_op_fault(&copy);
    if (fault != NULL)
        return cip_fail(err, CIP_ERR_ARG, op->offset, "a patch's operation %zu has %s", p->n,
                        fault);
    char *member, *to;
    CIP_TRY(cip_arena_copy(&p->arena, copy.member, strlen(copy.member), &member, err));
    CIP_TRY(cip_arena_copy(&p->arena, copy.to, strlen(copy.to), &to, err));
    CIP_TRY(copy_bytes(&p->arena, op->before, &copy.before, err));
    if (op->io == NULL)
        CIP_TRY(copy_bytes(&p->arena, op->after, &copy.after, err));
    copy.member = member;
    copy.to = to;
    return cip_patch_push(p, &copy, err);
}

cip_status cip_patch_write(cip_patch *p, const char *member, uint64_t offset, cip_bytes before,
                           cip_bytes after, cip_err *err)
{
    cip_patch_op op = {
        .kind = CIP_PATCH_WRITE,
        .member = member,
        .offset = offset,
        .before = before,
        .after = after,
    };
    return cip_patch_add(p, &op, err);
}

cip_status cip_patch_bytes(cip_patch *p, uint64_t at, const void *ptr, size_t n, cip_err *err)
{
    return n == 0 ? CIP_OK
                  : cip_patch_write(p, "", at, (cip_bytes){ NULL, 0 }, (cip_bytes){ ptr, n }, err);
}

cip_status cip_patch_range(cip_patch *p, uint64_t at, cip_io *io, uint64_t off, uint64_t n,
                           cip_err *err)
{
    cip_patch_op op = { .kind = CIP_PATCH_WRITE, .offset = at, .io = io, .io_off = off };
    if (off > io->size || n > io->size - off)
        return cip_fail(err, CIP_ERR_RANGE, off,
                        "expected %" PRIu64 " bytes for a change, found %" PRIu64, n,
                        cip_bytes_left(io->size, off));
    op.after.len = (size_t)n;
    return n == 0 ? CIP_OK : cip_patch_add(p, &op, err);
}

cip_status cip_patch_op_read(const cip_patch_op *op, uint64_t skip, void *dst, size_t n,
                             cip_err *err)
{
    if (op->io != NULL)
        return cip_io_read(op->io, op->io_off + skip, dst, n, err);
    memcpy(dst, op->after.ptr + skip, n);
    return CIP_OK;
}

void cip_patch_clear(cip_patch *p)
{
    cip_arena_clear(&p->arena);
    *p = (cip_patch){ .arena = { .mem = p->arena.mem } };
}
