/* SPDX-License-Identifier: BSD-3-Clause
 * Where the file of a superchunk that comes lies: shards take turns by its number, and in a shard
 * the fields' folders are called as they are elsewhere. */
#include <stdio.h>
#include <string.h>

#include "format/blz/blz_update.h"

/* --- folders ---------------------------------------------------------------------------------- */

static cip_status add_steps(const cip_blz_step *s, cip_buf *out, cip_err *err)
{
    if (s == NULL)
        return CIP_OK;
    CIP_TRY(add_steps(s->up, out, err)); /* records nest at most 32 deep */
    CIP_TRY(cip_blz_folder_name(s->name, out, err));
    return cip_buf_addf(out, err, "/");
}

/* The column's folder beneath a shard that does not have it: as another one calls it. */
static cip_status add_folder(const cip_blz_column *c, cip_buf *out, cip_err *err)
{
    for (size_t s = 0; s < c->blz->nshard; s++)
        if (c->dirs[s] != NULL)
            return cip_buf_addf(out, err, "%s", c->dirs[s] + strlen(c->blz->shard[s].dir));
    CIP_TRY(cip_buf_addf(out, err, "data/"));
    return add_steps(c->step, out, err);
}

/* --- shards ----------------------------------------------------------------------------------- */

bool cip_blz_is_dealt_to(const cip_blz *b, size_t s)
{
    for (size_t k = 0; k < b->nshard; k++)
        if (b->shard[k].listed)
            return b->shard[s].listed;
    return s != 0 || b->nshard == 1;
}

cip_status cip_blz_lies_outside(const char *name, const char *shard, cip_err *err)
{
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "'%.120s' is in a shard outside the folder ('%.80s'), and an update changes "
                    "only files in the folder",
                    name, shard);
}

cip_status cip_blz_expect_within(const cip_blz_shard *shard, uint64_t number, cip_err *err)
{
    if (shard->of == NULL)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                    "superchunk %" PRIu64 " would go to the shard '%.120s' outside the folder, and "
                    "an update changes only files in the folder",
                    number, shard->name);
}

cip_status cip_blz_super_name(const cip_blz_column *c, uint64_t number, cip_arena *a, char **out,
                              cip_err *err)
{
    const cip_blz *b = c->blz;
    cip_buf name = { .mem = &b->layout->env->mem };
    cip_status st;
    size_t n = 0, s;
    for (s = 0; s < b->nshard; s++)
        n += cip_blz_is_dealt_to(b, s);
    uint64_t turn = (number - 1) % n;
    for (s = 0; !cip_blz_is_dealt_to(b, s) || turn-- != 0; s++)
        ;
    const cip_blz_shard *shard = &b->shard[s];
    CIP_TRY(cip_blz_expect_within(shard, number, err));
    st = cip_buf_addf(&name, err, "%s", c->dirs[s] != NULL ? c->dirs[s] : shard->dir);
    if (st == CIP_OK && c->dirs[s] == NULL)
        st = add_folder(c, &name, err);
    if (st == CIP_OK)
        st = cip_arena_printf(a, out, err, "%.*s__%" PRIu64 "__.bin", (int)name.len,
                              (const char *)name.ptr, number);
    cip_buf_clear(&name);
    return st;
}
