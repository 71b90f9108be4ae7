/* SPDX-License-Identifier: BSD-3-Clause
 * Checking a frame: every chunk's place, head and codec, that chunks do not overlap, what header
 * and index say of each other; with DEEP every chunk is decoded whole, padding included. What
 * opening found (README.md lists both) is not said again. */
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "format/blosc2/blosc2.h"

enum {
    PLACES_MAX = 1 << 20, /* more chunks are not compared with each other */
    BAD_MAX = 1 << 16     /* after so many bad ones no more are looked at */
};

/* Where a chunk lies, from the frame's beginning. */
typedef struct place {
    uint64_t at, len, i;
} place;

typedef struct check {
    cip_layout *l;
    cip_b2_frame *f;
    cip_report *rep;
    cip_space *linear; /* DEEP: all chunks one behind the other; otherwise NULL */
    place *place;
    size_t nplace, cap;
    uint64_t ndata;   /* chunks with data so far */
    uint64_t nbad;    /* chunks that cannot be read */
    uint64_t nbytes;  /* stored bytes of them */
    uint64_t reach;   /* sparse: the least that libblosc2 wants the header to say of them */
    uint64_t nabsent; /* chunks that are not held here */
    uint64_t nunset;  /* chunks that nobody wrote */
} check;

typedef struct part_name {
    char text[40];
} part_name;

static part_name chunk_name(uint64_t i)
{
    part_name p;
    snprintf(p.text, sizeof p.text, "chunk %" PRIu64, i);
    return p;
}

static void report_chunk(check *c, uint64_t i, cip_status st, cip_err *why)
{
    c->nbad++;
    cip_fail_in(why, st, "%s", chunk_name(i).text);
    cip_report_err(c->rep, st == CIP_ERR_UNSUPPORTED ? CIP_WARN : CIP_BAD, why);
}

/* --- each chunk ------------------------------------------------------------------------------- */

static void judge_head(check *c, uint64_t i, const cip_blosc_head *h)
{
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_blosc_known(h, &why);
    if (st != CIP_OK)
        report_chunk(c, i, st, &why);
    if (!h->extended)
        cip_report_add(c->rep, CIP_WARN, CIP_OK, CIP_NO_OFFSET, 0, chunk_name(i).text,
                       "a chunk with a short header, which libblosc2 does not read in frames");
    if (h->big)
        cip_report_add(c->rep, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, chunk_name(i).text,
                       "written on a big-endian machine: its elements are in that order");
}

/* One with data. */
static cip_status check_data(check *c, uint64_t i, const cip_chunk *chunk, cip_err *err)
{
    cip_b2_entry e;
    cip_blosc_head head;
    cip_chunk there = { .run = 1 };
    cip_err why = CIP_ERR_INIT;
    c->ndata++;
    c->nbytes += chunk->at.len;
    cip_report_progress(c->rep, chunk->at.len);
    if (c->nplace != PLACES_MAX) {
        CIP_TRY(CIP_ROOM(&c->l->env->mem, &c->place, c->nplace, &c->cap, err));
        c->place[c->nplace++] = (place){ chunk->at.off - c->f->base, chunk->at.len, i };
    }
    CIP_TRY(cip_b2_index_entry(&c->f->index, i, &e, err));
    c->reach = cip_max_u64(c->reach, e.at + CIP_BLOSC_HEADER);
    CIP_TRY(cip_b2_index_head(&c->f->index, i, &e, &head, &there, err));
    judge_head(c, i, &head);
    if (c->linear == NULL || cip_blosc_known(&head, NULL) != CIP_OK)
        return CIP_OK;
    const cip_read_how how = { c->l, c->l->env->pool };
    const uint64_t off = c->f->index.start != NULL ? chunk->raw_off : i * c->f->h.chunksize;
    const size_t n = (size_t)chunk->raw_len;
    uint8_t *raw;
    cip_status st = cip_mem_get(&c->l->env->mem, n, (void **)&raw, &why);
    if (st == CIP_OK) {
        st = cip_space_read_at(&how, c->linear, off, raw, n, &why);
        cip_mem_put(&c->l->env->mem, raw);
        cip_report_progress(c->rep, n);
    }
    if (st != CIP_OK && !cip_is_passing(st))
        report_chunk(c, i, st, &why);
    return cip_is_passing(st) ? cip_fail(err, st, why.offset, "%s", why.text) : CIP_OK;
}

static cip_status check_chunk(check *c, uint64_t i, uint64_t *run, cip_err *err)
{
    cip_chunk chunk = { .run = 0 };
    cip_err why = CIP_ERR_INIT;
    cip_table table = cip_b2_index_table(&c->f->index);
    cip_status st = table.at(table.self, i, 1, &chunk, &why);
    *run = 1;
    if (cip_is_passing(st))
        return cip_fail(err, st, why.offset, "%s", why.text);
    if (st != CIP_OK) {
        report_chunk(c, i, st, &why);
        *run = c->f->index.constant ? c->f->index.n - i : 1;
        return CIP_OK;
    }
    if (chunk.state == CIP_CHUNK_MISSING && c->f->index.partial.kind != NULL)
        c->nabsent += cip_max_u64(chunk.run, 1);
    else if (chunk.state == CIP_CHUNK_MISSING)
        cip_report_add(c->rep, CIP_BAD, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET, 0, chunk_name(i).text,
                       "expected a file with its data, found none");
    if (chunk.state == CIP_CHUNK_DATA)
        return check_data(c, i, &chunk, err);
    *run = cip_max_u64(chunk.run, 1);
    c->nunset += chunk.state == CIP_CHUNK_UNINIT ? *run : 0;
    return CIP_OK;
}

static cip_status check_chunks(check *c, cip_err *err)
{
    const cip_b2_index *x = &c->f->index;
    const char *why = NULL;
    uint64_t run;
    for (uint64_t i = 0; i < x->n && why == NULL; i += run) {
        CIP_TRY(check_chunk(c, i, &run, err));
        CIP_TRY(cip_report_status(c->rep, err));
        /* No more are looked at: a small index may name the same ones again and again. */
        if (c->nbad >= BAD_MAX)
            why = "too many chunks cannot be read";
        else if (x->numbered == NULL && c->ndata > c->f->h.cbytes / CIP_BLOSC_MIN_HEADER)
            why = "there are more chunks than fit into the bytes";
        else if (x->numbered != NULL && c->nplace == PLACES_MAX)
            why = "there are too many chunk files";
    }
    if (why != NULL)
        cip_report_add(c->rep, CIP_BAD, CIP_ERR_CORRUPT, x->base + x->at, x->len, "index",
                       "%s; the rest is not checked", why);
    return CIP_OK;
}

/* --- all of them ------------------------------------------------------------------------------ */

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return x->i < y->i ? -1 : x->i > y->i;
}

/* Chunks that overlap, and bytes that belong to none. */
static void compare_places(check *c)
{
    uint64_t end = c->f->h.header_len, holes = 0;
    const place *p = c->place;
    if (c->nplace != 0)
        qsort(c->place, c->nplace, sizeof *c->place, by_place);
    for (size_t k = 0; k < c->nplace; k++) {
        if (p[k].at < end && k != 0)
            cip_report_add(c->rep, CIP_BAD, CIP_ERR_CORRUPT, c->f->base + p[k].at, p[k].len,
                           chunk_name(p[k].i).text,
                           "expected separate chunks, found bytes of chunk %" PRIu64 " in this one",
                           p[k - 1].i);
        if (p[k].at > end)
            holes += p[k].at - end;
        end = cip_max_u64(end, p[k].at + p[k].len);
    }
    if (c->f->index.at > end)
        holes += c->f->index.at - end;
    if (c->f->index.n != 0) /* between index and trailer */
        holes += c->f->h.frame_len - c->f->trailer.len - c->f->index.at - c->f->index.len;
    if (holes != 0 && c->f->index.partial.kind == NULL && c->nplace < PLACES_MAX &&
        c->f->index.numbered == NULL)
        cip_report_add(c->rep, CIP_NOTE, CIP_OK, c->f->base, 0, "chunks",
                       "%" PRIu64 " bytes belong to no chunk, as after updates", holes);
}

static void compare_lengths(check *c)
{
    const cip_b2_frame *f = c->f;
    const cip_b2_index *x = &f->index;
    uint64_t block = f->nd.item;
    for (int32_t k = 0; k < f->nd.ndim; k++)
        block *= (uint64_t)f->nd.block[k]; /* checked when opened */
    if (f->nd_meta != NULL && x->n != 0 && f->h.blocksize != block)
        cip_report_fixable(c->rep, CIP_WARN, CIP_ERR_CORRUPT, f->base + 0x35, 4, "header",
                           "expected blocks of %" PRIu64 " bytes for their shape, found %" PRIu64
                           ": python-blosc2 cannot slice it",
                           block, f->h.blocksize);
    if (x->n == 0 && f->h.cbytes != 0)
        cip_report_fixable(c->rep, CIP_NOTE, CIP_OK, f->base + 0x27, 8, "header",
                           "%" PRIu64 " bytes of removed chunks: the array was emptied",
                           f->h.cbytes);
    if (x->n != 0 && x->width != 4u << f->h.width_code)
        cip_report_fixable(c->rep, CIP_WARN, CIP_ERR_CORRUPT, f->base + 0x19, 1, "header",
                           "expected offsets of %u bytes as the header says, found %" PRIu32,
                           4u << f->h.width_code, x->width);
    if (x->numbered != NULL && x->n != 0 && c->nbytes != f->h.cbytes && c->reach != f->h.cbytes)
        cip_report_fixable(c->rep, CIP_WARN, CIP_ERR_CORRUPT, f->base + 0x27, 8, "header",
                           "expected %" PRIu64 " bytes in chunk files, found %" PRIu64, f->h.cbytes,
                           c->nbytes);
    if (x->document || f->trailer.wrapped)
        cip_report_add(c->rep, CIP_NOTE, CIP_OK, f->base, 0, "frame",
                       "layout of the specification: %s, which libblosc2 cannot read",
                       x->document ? "offsets count from the start of the frame"
                                   : "the vlmetalayers are stored as bin32");
    uint64_t rest = f->in->len - f->base - f->h.frame_len;
    if (rest != 0 && f->base == 0)
        cip_report_add(c->rep, CIP_NOTE, CIP_OK, f->h.frame_len, rest, "frame",
                       "%" PRIu64 " bytes after the frame", rest);
}

static cip_status verify_frame(check *c, bool deep, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_b2_index_ready(&c->f->index, &why);
    if (cip_is_passing(st))
        return cip_fail(err, st, why.offset, "%s", why.text);
    if (st != CIP_OK) {
        cip_fail_in(&why, st, "index");
        cip_report_err(c->rep, cip_severity_of(st), &why);
        return CIP_OK;
    }
    if (deep)
        CIP_TRY(cip_b2_frame_linear(c->f, &c->linear, err));
    CIP_TRY(check_chunks(c, err));
    /* Of a lazy array core says it, as of every array that is not readable. */
    const cip_b2_partial *h = &c->f->index.partial;
    if (h->kind != NULL && h->cache)
        cip_report_add(c->rep, c->nabsent != 0 ? CIP_WARN : CIP_NOTE,
                       c->nabsent != 0 ? CIP_ERR_NOT_FOUND : CIP_OK, CIP_NO_OFFSET, 0, "chunks",
                       "%s (%s): %" PRIu64 " of %" PRIu64 " chunks are not in this file", h->what,
                       h->kind, c->nabsent, c->f->index.n);
    if (c->nunset != 0)
        cip_report_add(c->rep, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, "chunks",
                       "%" PRIu64 " of %" PRIu64 " chunks were never written: they read as zeros",
                       c->nunset, c->f->index.n);
    compare_places(c);
    compare_lengths(c);
    return CIP_OK;
}

cip_status cip_b2_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    const cip_b2_file *own = l->own;
    check c = { .l = l, .f = own->frame, .rep = report };
    if (own->frame == NULL) /* a bare chunk: core reads it */
        return cip_report_status(report, err);
    cip_status st = verify_frame(&c, deep, err);
    cip_mem_put(&l->env->mem, c.place);
    return st == CIP_OK ? cip_report_status(report, err) : st;
}
