/* SPDX-License-Identifier: BSD-3-Clause
 * A journal's operations on members: whether they fit the files that are there, and the members as
 * they are afterwards. One that takes a name is known by its inode, wherever of the two names it
 * is; one that changes in place by its inode and its bytes. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "io/io_impl.h"

bool cip_member_op_was(const cip_patch_op *op, uint64_t *inode, uint64_t *old_len)
{
    if (cip_patch_op_own(op) || op->kind != CIP_PATCH_LENGTH || op->before.len != 16)
        return false;
    *inode = cip_load_u64(op->before.ptr, false);
    *old_len = cip_load_u64(op->before.ptr + 8, false);
    return true;
}

/* *out is NULL when there is no such member, or another file has its name. */
static cip_status open_known(cip_io *file, const char *name, uint64_t inode, cip_io **out,
                             cip_err *err)
{
    struct stat st;
    cip_err own = CIP_ERR_INIT;
    cip_status got = file->ops->open_member(file, name, 0, out, &own);
    bool none = got == CIP_ERR_NOT_FOUND || got == CIP_ERR_UNSUPPORTED || got == CIP_ERR_CORRUPT;
    if (got != CIP_OK) {
        *out = NULL;
        if (!none)
            cip_err_pass(err, &own);
        return none ? CIP_OK : got;
    }
    if (!cip_io_stat(*out, &st) || (uint64_t)st.st_ino != inode) {
        cip_io_close(*out);
        *out = NULL;
    }
    return CIP_OK;
}

/* --- whether they fit ------------------------------------------------------------------------- */

static cip_status fail_member(const char *name, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "'%.100s' does not exist, or changed after the update", name);
}

/* What it grows by was in it before the seal. */
static cip_status check_changed(cip_io *file, const cip_patch *p, size_t i, uint8_t *piece,
                                cip_err *err)
{
    const cip_patch_op *op = &p->op[i];
    uint64_t inode, old_len;
    cip_io *member;
    if (!cip_member_op_was(op, &inode, &old_len))
        return CIP_OK; /* of no form that is made: refused when it is to be written */
    CIP_TRY(open_known(file, op->member, inode, &member, err));
    if (member == NULL)
        return fail_member(op->member, err);
    cip_status st = CIP_OK;
    for (size_t k = i + 1; st == CIP_OK && k < p->n; k++) { /* its writes follow its length */
        if (p->op[k].kind != CIP_PATCH_WRITE || strcmp(p->op[k].member, op->member) != 0)
            break;
        st = cip_journal_check_write(member, &p->op[k], piece, err);
    }
    if (st == CIP_OK &&
        (member->size < op->offset || member->size > cip_max_u64(old_len, op->offset)))
        st = fail_member(op->member, err);
    cip_io_close(member);
    return st;
}

cip_status cip_journal_check_members(cip_io *file, const cip_patch *p, uint8_t *piece, cip_err *err)
{
    for (size_t i = 0; i < p->n && file->ops->open_member != NULL; i++) {
        const cip_patch_op *op = &p->op[i];
        if (op->kind == CIP_PATCH_RENAME) {
            cip_io *member;
            CIP_TRY(open_known(file, op->member, op->offset, &member, err));
            if (member == NULL)
                CIP_TRY(open_known(file, op->to, op->offset, &member, err));
            if (member == NULL)
                return fail_member(op->to, err);
            cip_io_close(member);
        } else if (op->kind == CIP_PATCH_LENGTH) {
            CIP_TRY(check_changed(file, p, i, piece, err));
        }
    }
    return CIP_OK;
}

/* --- as they are afterwards ------------------------------------------------------------------- */

/* The last operation that decides what the name means, or NULL. */
static const cip_patch_op *find_naming(const cip_patch *patch, const char *name)
{
    for (size_t i = patch->n; i-- > 0;) {
        const cip_patch_op *op = &patch->op[i];
        if ((op->kind == CIP_PATCH_RENAME && strcmp(op->to, name) == 0) ||
            ((op->kind == CIP_PATCH_RENAME || op->kind == CIP_PATCH_UNLINK) &&
             strcmp(op->member, name) == 0))
            return op;
    }
    return NULL;
}

cip_status cip_patch_open_member(cip_io *under, const cip_patch *patch, const char *name,
                                 uint32_t flags, cip_io **out, cip_err *err)
{
    const cip_patch_op *op = find_naming(patch, name);
    *out = NULL;
    if (op != NULL && op->kind == CIP_PATCH_RENAME && strcmp(op->to, name) == 0) {
        CIP_TRY(open_known(under, op->member, op->offset, out, err));
        if (*out == NULL) /* it has its name by now */
            CIP_TRY(open_known(under, op->to, op->offset, out, err));
        return *out != NULL ? CIP_OK
                            : cip_fail(err, CIP_ERR_BUSY, CIP_NO_OFFSET,
                                       "file changed since open: '%.120s'", op->to);
    }
    const uint64_t gone = op != NULL ? op->offset : 0;
    struct stat st;
    CIP_TRY(under->ops->open_member(under, name, flags, out, err));
    if (gone == 0 || !cip_io_stat(*out, &st) || (uint64_t)st.st_ino != gone)
        return CIP_OK;
    cip_io_close(*out);
    *out = NULL;
    return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, "'%.120s' no longer exists", name);
}
