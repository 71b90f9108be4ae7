/* SPDX-License-Identifier: BSD-3-Clause
 * Looking at what an interrupted update left beside a file, completing it, throwing it away. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/sized.h"
#include "core/commit/commit_impl.h"

enum { NOTHING = 0, APPLIES = 1, ALIEN = 2, DISTRUSTED = 3, UNSEALED = 4, LOST = 5 };

static void describe(cip_journal_state state, const cip_patch *p, const char *why,
                     cip_recover_info *out)
{
    switch (state) {
    case CIP_JOURNAL_NONE:
    case CIP_JOURNAL_SETTLED:
        out->state = NOTHING;
        snprintf(out->text, sizeof out->text, "no unfinished update");
        break;
    case CIP_JOURNAL_APPLIES:
        out->state = APPLIES;
        out->nop = p->n;
        out->old_nbytes = p->old_len;
        out->new_nbytes = p->new_len;
        for (size_t i = 0; i < p->n; i++)
            if (p->op[i].kind == CIP_PATCH_WRITE)
                out->nbytes += p->op[i].after.len;
        snprintf(out->text, sizeof out->text,
                 "an unfinished update: %" PRIu64 " operations write %" PRIu64
                 " bytes; readers see the file as if it were complete",
                 out->nop, out->nbytes);
        break;
    case CIP_JOURNAL_ALIEN:
        out->state = ALIEN;
        snprintf(out->text, sizeof out->text, "an update that does not match the file: %.190s",
                 why);
        break;
    case CIP_JOURNAL_LOST:
        out->state = LOST;
        snprintf(out->text, sizeof out->text, "an update was interrupted: %.200s", why);
        break;
    case CIP_JOURNAL_IGNORED:
        out->state = DISTRUSTED;
        snprintf(out->text, sizeof out->text, "an update that is not trusted: %.190s", why);
        break;
    case CIP_JOURNAL_UNSEALED:
        out->state = UNSEALED;
        out->old_nbytes = out->new_nbytes = p->new_len;
        snprintf(out->text, sizeof out->text,
                 "the start of an update: %" PRIu64
                 " bytes after the end of the file, which readers ignore",
                 p->old_len - p->new_len);
        break;
    }
}

/* *p holds the journal's operations where it applies. */
static cip_status look(cip_env *env, const char *path, cip_io *io, cip_patch *p,
                       cip_recover_info *out, cip_err *err)
{
    cip_journal_state state;
    char why[256] = "";
    CIP_TRY(cip_journal_find(env, path, io, &state, p, why, err));
    describe(state, p, why, out);
    return CIP_OK;
}

static cip_status look_only(cip_env *env, const char *path, cip_recover_info *out, cip_err *err)
{
    cip_status st;
    cip_io *io = NULL;
    cip_patch p = { .arena = { .mem = &env->mem } };
    CIP_GO(cip_io_open_path(env, path, &io, err));
    st = look(env, path, io, &p, out, err);
done:
    cip_patch_clear(&p);
    cip_io_close(io);
    return st;
}

static cip_status discard(cip_commit *c, const cip_recover_info *found, const cip_patch *p,
                          cip_err *err)
{
    c->made = p;
    CIP_TRY(cip_commit_take_foreign(c, err));
    if (found->state == UNSEALED) /* before its tmp goes, which says so */
        CIP_TRY(cip_commit_cut(c, p->new_len, err));
    if (found->state == LOST) /* what lies under that name is another file's */
        CIP_TRY(cip_commit_name(c, c->place.name, err));
    if (found->state != APPLIES) {
        CIP_TRY(cip_commit_throw_away(c, found->state != NOTHING && found->state != LOST, err));
        if (c->record.state == CIP_RECORD_SETTLED) /* its journal, before that is forgotten */
            CIP_TRY(cip_commit_recover(c, err));
        return cip_commit_forget(c, err);
    }
    CIP_TRY(cip_commit_take_readers(c, err));
    CIP_TRY(cip_commit_undo(c, p, err));
    return cip_commit_throw_away(c, false, err);
}

static cip_status act(cip_env *env, const char *path, int what, cip_recover_info *out, cip_err *err)
{
    cip_commit *c;
    cip_status st;
    cip_patch p = { .arena = { .mem = &env->mem } };
    CIP_TRY(cip_commit_lock(env, path, NULL, &c, err));
    CIP_GO(look(env, c->path, c->io, &p, out, err));
    if (what != CIP_RECOVER_APPLY)
        st = discard(c, out, &p, err);
    else if (out->state == ALIEN || out->state == DISTRUSTED || out->state == LOST)
        st = cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "%.200s", out->text);
    else
        st = cip_commit_recover(c, err);
done:
    cip_patch_clear(&p);
    cip_commit_end(c);
    return st;
}

cip_status cip_recover(const char *path, int what, cip_recover_info *info, cip_err *err)
{
    err = cip_err_enter(err);
    cip_env env;
    cip_recover_info found = { .size = sizeof found };
    if (path == NULL || what < CIP_RECOVER_LOOK || what > CIP_RECOVER_DISCARD)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected a path and what to do");
    if (info != NULL)
        CIP_TRY(cip_sized_room("cip_recover_info", info, err));
    CIP_TRY(cip_env_init(&env, NULL, NULL, NULL, err));
    cip_status st = what == CIP_RECOVER_LOOK ? look_only(&env, path, &found, err)
                                             : act(&env, path, what, &found, err);
    cip_env_clear(&env);
    if (info != NULL)
        cip_sized_give(info, &found, sizeof found);
    return st;
}
