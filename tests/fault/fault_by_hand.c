/* SPDX-License-Identifier: BSD-3-Clause
 * Revisions put together by hand: a RawArray of 500 numbers whose header, data and end change in
 * every way that a commit knows; and rows at the end of an ASDF stream. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "fault/fault_scenarios.h"
#include "io/temporary.h"

enum { HEADER = 56, COUNT = 500, SIZE = HEADER + 4 * COUNT };

static void put_file(const char *dir, const char *name, const void *p, size_t n)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(p, 1, n, f) != n || fclose(f) != 0)
        abort();
}

/* "rawarray", flags, eltype 2 (unsigned), elbyte 4, size, ndim 1, dim */
static void header(uint8_t out[HEADER], uint64_t count)
{
    const uint64_t field[] = { 0, 2, 4, 4 * count, 1, count };
    memcpy(out, "rawarray", 8);
    for (size_t i = 0; i < 6; i++)
        cip_store_u64(out + 8 + 8 * i, field[i], false);
}

static void make_rawarray(const char *dir, const char *text)
{
    uint8_t b[SIZE + 100];
    size_t ntext = strlen(text);
    header(b, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        cip_store_u32(b + HEADER + 4 * i, i * 2654435761u, false);
    memcpy(b + SIZE, text, ntext);
    put_file(dir, "a.ra", b, SIZE + ntext);
}

void fault_make_rawarray(const char *dir)
{
    make_rawarray(dir, "");
}

void fault_make_rawarray_and_text(const char *dir)
{
    make_rawarray(dir, "what they are: numbers");
}

/* The same numbers behind a header of this length, and another array behind them. */
static void make_npy(const char *dir, size_t header)
{
    static const char text[] = "{'descr': '<u4', 'fortran_order': False, 'shape': (500,), }",
                      other[] = "\x93NUMPY\1\0\70\0{'descr': '|u1', 'fortran_order': False, "
                                "'shape': (), }\nx";
    uint8_t b[128 + 4 * COUNT + sizeof other];
    memset(b, ' ', header);
    memcpy(b, "\x93NUMPY\1", 8);
    cip_store_u16(b + 8, (uint16_t)(header - 10), false);
    memcpy(b + 10, text, sizeof text - 1);
    b[header - 1] = '\n';
    for (uint32_t i = 0; i < COUNT; i++)
        cip_store_u32(b + header + 4 * i, i * 2654435761u, false);
    memcpy(b + header + 4 * COUNT, other, sizeof other - 1);
    put_file(dir, "a.npy", b, header + 4 * COUNT + sizeof other - 1);
}

void fault_make_npy(const char *dir)
{
    make_npy(dir, 128);
}

void fault_make_tight_npy(const char *dir)
{
    make_npy(dir, 70);
}

cip_status fault_commit(const char *path, cip_level level, fault_fill *fill, cip_err *err)
{
    cip_env env;
    cip_commit *c = NULL;
    cip_status st = cip_env_init(&env, NULL, NULL, NULL, err);
    cip_change_options o = { .size = sizeof o, .level = level };
    cip_revision r = { .patch = { .arena = { .mem = &env.mem } } };
    if (st != CIP_OK)
        return st;
    CIP_GO(cip_commit_begin(&env, path, &o, &c, err));
    CIP_GO(fill(c, &r, err));
    st = cip_commit_apply(c, &r, err);
done:
    cip_commit_end(c);
    cip_revision_clear(&r);
    cip_env_clear(&env);
    return st;
}

static cip_status change(cip_revision *r, uint64_t off, const void *p, size_t n, cip_err *err)
{
    return cip_patch_write(&r->patch, "", off, (cip_bytes){ NULL, 0 }, (cip_bytes){ p, n }, err);
}

/* The header says more elements, which follow. */
static cip_status grow(cip_revision *r, uint64_t more, cip_err *err)
{
    uint8_t head[HEADER];
    header(head, COUNT + more);
    CIP_TRY(change(r, 0, head, sizeof head, err));
    r->has_tail = true;
    r->tail_off = SIZE;
    CIP_TRY(cip_revision_bytes(r, "abcd", 4, err));
    CIP_TRY(cip_revision_fill(r, 7, 4 * (more - 2), err));
    return cip_revision_fill(r, 0, 4, err);
}

static cip_status fill_switch(cip_commit *c, cip_revision *r, cip_err *err)
{
    (void)c;
    return change(r, 600, "switched over", 13, err);
}

static cip_status fill_switch_and_tail(cip_commit *c, cip_revision *r, cip_err *err)
{
    (void)c;
    return grow(r, 700, err);
}

/* Bytes behind the data are metadata to the format. */
static cip_status fill_append(cip_commit *c, cip_revision *r, cip_err *err)
{
    r->has_tail = true;
    r->tail_off = cip_commit_io(c)->size;
    CIP_TRY(cip_revision_bytes(r, "{some: metadata}", 16, err));
    return cip_revision_fill(r, 'x', 1200, err);
}

static cip_status fill_journal(cip_commit *c, cip_revision *r, cip_err *err)
{
    (void)c;
    CIP_TRY(change(r, 100, "first", 5, err));
    CIP_TRY(change(r, 1010, "over the end of a sector", 24, err));
    return change(r, SIZE - 4, "last", 4, err);
}

static cip_status fill_journal_and_tail(cip_commit *c, cip_revision *r, cip_err *err)
{
    CIP_TRY(fill_journal(c, r, err));
    return grow(r, 500, err);
}

static cip_status fill_journal_shorter(cip_commit *c, cip_revision *r, cip_err *err)
{
    uint8_t head[HEADER];
    (void)c;
    header(head, 200);
    CIP_TRY(change(r, 0, head, sizeof head, err));
    CIP_TRY(change(r, 700, "moved", 5, err));
    r->has_tail = true;
    r->tail_off = HEADER + 800;
    return CIP_OK;
}

static cip_status fill_replacing(cip_commit *c, cip_revision *r, cip_err *err)
{
    uint8_t head[HEADER];
    header(head, COUNT - 50);
    r->anew = true;
    CIP_TRY(cip_revision_bytes(r, head, sizeof head, err));
    CIP_TRY(cip_revision_range(r, cip_commit_io(c), HEADER + 40, 4 * (COUNT - 100), err));
    return cip_revision_fill(r, 3, 200, err);
}

cip_status fault_by_switch(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_switch, err);
}

cip_status fault_by_switch_and_tail(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_switch_and_tail, err);
}

cip_status fault_by_append(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_append, err);
}

cip_status fault_by_journal(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_journal, err);
}

cip_status fault_by_journal_and_tail(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_journal_and_tail, err);
}

cip_status fault_by_journal_shorter(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_journal_shorter, err);
}

cip_status fault_by_replacing(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_replacing, err);
}

/* The bytes that fault_make_rawarray put there. */
static cip_status change_back(cip_revision *r, uint64_t off, size_t n, cip_err *err)
{
    uint8_t old[24], word[4];
    for (size_t k = 0; k < n; k++) {
        uint64_t pos = off + k - HEADER;
        cip_store_u32(word, (uint32_t)(pos / 4) * 2654435761u, false);
        old[k] = word[pos % 4];
    }
    return change(r, off, old, n, err);
}

static cip_status fill_back(cip_commit *c, cip_revision *r, cip_err *err)
{
    (void)c;
    CIP_TRY(change_back(r, 100, 5, err));
    CIP_TRY(change_back(r, 1010, 24, err));
    CIP_TRY(change_back(r, SIZE - 4, 4, err));
    return change(r, 300, "and more", 8, err);
}

cip_status fault_by_journal_back(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_back, err);
}

/* Four commits, each over what the one before wrote, and back: what comes back of an earlier one
 * would be seen. A step each. */
cip_status fault_twice(const char *path, cip_level level, int step, cip_err *err)
{
    static fault_fill *const fill[] = { fill_journal, fill_back, fill_append, fill_switch };
    for (int i = 0; i < step; i++)
        CIP_TRY(fault_commit(path, level, fill[i], err));
    return CIP_OK;
}

static cip_status fill_switch_back(cip_commit *c, cip_revision *r, cip_err *err)
{
    (void)c;
    return change_back(r, 100, 5, err);
}

/* A switch syncs no names: the removal of the journal before it must have been synced. */
cip_status fault_switch_after_journal(const char *path, cip_level level, int step, cip_err *err)
{
    CIP_TRY(fault_commit(path, level, fill_journal, err));
    return step == 1 ? CIP_OK : fault_commit(path, level, fill_switch_back, err);
}

/* --- a stream --------------------------------------------------------------------------------- */

void fault_make_stream(const char *dir)
{
    static const char tree[] = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n"
                               "%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n"
                               "rows: !core/ndarray-1.1.0 {source: -1, datatype: int32, byteorder: "
                               "little, shape: ['*', 100]}\n...\n";
    uint8_t b[sizeof tree - 1 + 54 + 800], *at = b + sizeof tree - 1;
    memset(b, 0, sizeof b);
    memcpy(b, tree, sizeof tree - 1);
    memcpy(at,
           "\xd3"
           "BLK\0\x30\0\0\0\x01",
           10);
    memset(at + 54, 5, 800);
    put_file(dir, "s.asdf", b, sizeof b);
}

cip_status fault_rows(const char *path, cip_level level, int step, cip_err *err)
{
    cip_env env;
    cip_commit *c = NULL;
    uint8_t row[400];
    cip_change_options o = { .size = sizeof o, .level = level };
    cip_status st = cip_env_init(&env, NULL, NULL, NULL, err);
    if (st != CIP_OK)
        return st;
    CIP_GO(cip_commit_begin(&env, path, &o, &c, err));
    for (int i = 0; i < step; i++) {
        memset(row, 10 + i, sizeof row);
        CIP_GO(cip_commit_append(c, row, sizeof row, err));
    }
    if (level == CIP_LEVEL_POWER)
        st = cip_commit_sync(c, err);
done:
    cip_commit_end(c);
    cip_env_clear(&env);
    return st;
}
