/* SPDX-License-Identifier: BSD-3-Clause
 * An array's chunks for users: entries of its space's table put into words. */
#include "cippus/ext/chunk.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "base/sized.h"
#include "codec/codec_app.h"
#include "core/reading/read_plan.h"
#include "space/read/chunk_list.h"

enum { DEPTH = 16 }; /* spaces in spaces that a codec's text tells of */

/* What all of them begin with; *err is from then on what they write into. */
static cip_status open_list(const cip_array *a, cip_chunk_list *out, cip_err **err)
{
    CIP_TRY(cip_array_state(a, *err));
    *err = cip_err_enter(*err);
    CIP_TRY(cip_layout_settled(a->layout, *err));
    return cip_fail_in(*err, cip_chunk_list_open(a, out, *err), "%s", a->path);
}

/* --- codecs ---------------------------------------------------------------------------------- */

static void add_name(char *text, size_t cap, const char *name)
{
    size_t n = strlen(text);
    if (strcmp(name, "none") != 0)
        snprintf(text + n, cap - n, "%s%s", n != 0 ? "+" : "", name);
}

static const char *step_name(const cip_step *step)
{
    const cip_app_codec *app = step->args;
    return step->codec == &cip_codec_app ? app->methods->name : step->codec->name;
}

/* Steps are in the order of decoding. */
static void add_steps(char *text, size_t cap, const cip_step *step, size_t n)
{
    while (n-- > 0)
        add_name(text, cap, step_name(&step[n]));
}

/* The step that takes the stored bytes; of a container the codec that their head names. */
static const char *first_name(const cip_layout *l, const cip_step *step, const cip_extent *at)
{
    const cip_read_how how = { .layout = (cip_layout *)l };
    uint8_t head[CIP_CODER_HEAD];
    size_t n = (size_t)cip_min_u64(sizeof head, at->len);
    if (step->codec->coder == NULL || at->in == NULL ||
        cip_space_read_at(&how, at->in, at->off, head, n, NULL) != CIP_OK)
        return step_name(step);
    return step->codec->coder((cip_bytes){ head, n });
}

/* The codecs that made the bytes which stored bytes in `s` are a part of. */
static void add_below(cip_space *s, char *text, size_t cap)
{
    for (unsigned depth = 0; depth < DEPTH && s != NULL; depth++) {
        cip_chunk c = { .run = 0 };
        if (cip_space_resolve(s, &s, NULL) != CIP_OK)
            return;
        add_steps(text, cap, s->step, s->nstep);
        if (s->kind == CIP_SPACE_SEQ || s->kind == CIP_SPACE_SUB)
            c.at = s->sub;
        else if (s->kind == CIP_SPACE_CHUNKED || s->kind == CIP_SPACE_GRID)
            s->table.at(s->table.self, 0, 1, &c, NULL);
        s = c.at.in;
    }
}

static void name_codec(const cip_chunk_list *l, const cip_chunk *c, char *text, size_t cap)
{
    const cip_step own = { .codec = c->codec };
    const cip_step *step = c->codec != NULL ? &own : l->s->step;
    size_t n = c->codec == &cip_codec_stored ? 0 : c->codec != NULL ? 1 : l->s->nstep;
    text[0] = '\0';
    if (n != 0 && c->state == CIP_CHUNK_DATA) {
        add_steps(text, cap, step + 1, n - 1);
        add_name(text, cap, first_name(l->s->layout, step, &c->at));
    }
    add_below(c->at.in, text, cap);
    if (text[0] == '\0')
        snprintf(text, cap, "none");
}

/* --- places ---------------------------------------------------------------------------------- */

/* The file that the space is all bytes of, as the opened one names it; *off becomes the offset in
 * it. */
static cip_status name_member(const cip_space *s, uint64_t *off, char *text, size_t cap,
                              cip_err *err)
{
    char number[CIP_IO_NUMBER_NAME];
    /* a frame within a block has no name: its bytes are the file's around it */
    while (s == s->layout->file && s->layout->parent != NULL && s->layout->uri == NULL)
        s = s->layout->parent->file;
    const char *name = s->layout->parent != NULL ? s->layout->uri : s->io->name;
    if (cip_io_numbered_name(s->io, off, number))
        name = number;
    else if (s == s->layout->file && s->layout->parent == NULL)
        name = "";
    if (name == NULL || strlen(name) >= cap)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected a file's name of under %zu bytes", cap);
    strcpy(text, name);
    return CIP_OK;
}

/* The block that has just these stored bytes; blocks rise in the file. */
static const cip_block *block_of(const cip_layout *l, uint64_t off, uint64_t len)
{
    size_t lo = 0, hi = l->list_blocks == NULL ? l->nblock : 0;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const cip_block_info *b = &l->block[mid].info;
        if (b->data_offset == off && b->stored_nbytes == len)
            return &l->block[mid];
        if (b->data_offset < off)
            lo = mid + 1;
        else
            hi = mid;
    }
    return NULL;
}

static cip_status fill_place(const cip_chunk *c, cip_chunk_info *o, cip_err *err)
{
    cip_space *s = c->at.in;
    uint64_t off = c->at.off;
    o->offset = CIP_NO_OFFSET;
    o->checksum = "";
    o->stored_nbytes = c->at.len;
    o->place = cip_extent_place(&c->at, &s, &off);
    if (c->sum_id != CIP_SUM_NONE) {
        o->checksum = cip_sum_name((cip_sum_id)c->sum_id);
        o->checksum_nbytes = (uint32_t)cip_sum_size((cip_sum_id)c->sum_id);
        memcpy(o->checksum_value, c->sum, sizeof c->sum);
    }
    if (o->place != CIP_CHUNK_IN_FILE)
        return CIP_OK;
    const cip_block *b = s == s->layout->file ? block_of(s->layout, off, c->at.len) : NULL;
    if (b != NULL && c->sum_id == CIP_SUM_NONE) {
        o->checksum = b->info.checksum;
        o->checksum_nbytes = b->info.checksum_nbytes;
        memcpy(o->checksum_value, b->info.checksum_value, sizeof o->checksum_value);
    }
    CIP_TRY(name_member(s, &off, o->member, sizeof o->member, err));
    o->offset = s->io->base + off;
    return CIP_OK;
}

/* --- one chunk ------------------------------------------------------------------------------- */

static cip_status fill(const cip_chunk_list *l, uint64_t i, const cip_chunk *c, cip_chunk_info *o,
                       cip_err *err)
{
    *o = (cip_chunk_info){ .size = sizeof *o };
    cip_chunk_list_describe(l, i, c, o);
    o->state = (cip_chunk_state)c->state;
    if (o->state == CIP_CHUNK_MISSING)
        o->why = c->why != CIP_OK ? c->why : CIP_ERR_NOT_FOUND;
    if (o->state == CIP_CHUNK_VALUE) {
        o->value = c->value;
        o->value_nbytes = c->value_len;
    }
    CIP_TRY(fill_place(c, o, err));
    name_codec(l, c, o->codec, sizeof o->codec);
    return CIP_OK;
}

cip_status cip_chunk_count(const cip_array *a, uint64_t *nchunk, cip_err *err)
{
    cip_chunk_list l;
    CIP_TRY(open_list(a, &l, &err));
    CIP_TRY(cip_arg_given(nchunk, "a pointer for the number", err));
    *nchunk = l.n;
    return CIP_OK;
}

cip_status cip_chunk_at(const cip_array *a, uint64_t i, cip_chunk_info *out, cip_err *err)
{
    cip_chunk_list l;
    cip_chunk c;
    cip_chunk_info full;
    CIP_TRY(open_list(a, &l, &err));
    CIP_TRY(cip_sized_room("cip_chunk_info", out, err));
    cip_status st = cip_chunk_list_at(&l, i, &c, err);
    if (st == CIP_OK)
        st = fill(&l, i, &c, &full, err);
    if (st != CIP_OK)
        return cip_fail_in(err, st, "%s", a->path);
    cip_sized_give(out, &full, sizeof full);
    return CIP_OK;
}

static cip_status read_bytes(const cip_chunk_list *l, uint64_t i, bool stored, void *dst,
                             size_t cap, size_t *nbytes, cip_err *err)
{
    const cip_read_how how = { l->array->layout, l->array->layout->env->pool };
    cip_chunk c;
    CIP_TRY(cip_chunk_list_at(l, i, &c, err));
    bool none = stored && c.state != CIP_CHUNK_DATA && c.state != CIP_CHUNK_MISSING;
    uint64_t n = none ? 0 : stored ? c.at.len : c.raw_len;
    if (c.state != CIP_CHUNK_MISSING && n > cap)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected room for %" PRIu64 " bytes, found %zu", n, cap);
    if (dst == NULL && n != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected memory to read into");
    if (!none)
        CIP_TRY((stored ? cip_chunk_list_stored : cip_chunk_list_decode)(&how, l, i, &c, dst, err));
    *nbytes = (size_t)n;
    return CIP_OK;
}

cip_status cip_chunk_read(const cip_array *a, uint64_t i, bool stored, void *dst, size_t cap,
                          size_t *nbytes, cip_err *err)
{
    cip_chunk_list l;
    CIP_TRY(open_list(a, &l, &err));
    CIP_TRY(cip_arg_given(nbytes, "a pointer for the number of bytes", err));
    if (cap != 0)
        CIP_TRY(cip_arg_given(dst, "memory to read into", err));
    return cip_fail_in(err, read_bytes(&l, i, stored, dst, cap, nbytes, err), "%s", a->path);
}

/* --- many ------------------------------------------------------------------------------------ */

typedef struct telling {
    const cip_chunk_list *l;
    cip_chunk_fn *fn;
    void *user;
} telling;

static cip_status tell(void *arg, uint64_t i, const cip_chunk *c, cip_err *err)
{
    const telling *t = arg;
    cip_chunk_info info;
    CIP_TRY(fill(t->l, i, c, &info, err));
    if (t->fn(t->user, &info) == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
}

cip_status cip_chunk_iter(const cip_array *a, const char *selection, cip_chunk_fn *fn, void *user,
                          cip_err *err)
{
    cip_selection sel = { .n = 0 };
    cip_chunk_list l;
    CIP_TRY(open_list(a, &l, &err));
    CIP_TRY(cip_arg_given((const void *)(uintptr_t)fn, "a function", err));
    bool all = selection == NULL || selection[0] == '\0';
    cip_status st = all ? CIP_OK : cip_selection_parse(selection, &sel, err);
    telling t = { &l, fn, user };
    if (st == CIP_OK)
        st = cip_chunk_list_touched(&l, all ? NULL : &sel, tell, &t, err);
    return cip_fail_in(err, st, "%s", a->path);
}
