/* SPDX-License-Identifier: BSD-3-Clause
 * The bytes of a sealed journal (layout: README.md). What is read here may have been written by
 * anyone who can write to the folder: the checksum is looked at first, every field after it. */
#include "io/patch.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/endian.h"
#include "base/num.h"
#include "io/io_impl.h"

enum { MAGIC_LEN = 8, HEADER = 64, OP = 40, SUM = 16, VERSION = 1 };
static const uint8_t magic[MAGIC_LEN] = { 0x89, 'C', 'I', 'P', 'J', '\r', '\n', 0x1a };

static int by_offset(const void *a, const void *b)
{
    uint64_t x = (*(const cip_patch_op *const *)a)->offset;
    uint64_t y = (*(const cip_patch_op *const *)b)->offset;
    return (x > y) - (x < y);
}

/* Whether writes to the file itself overlap: then the byte on disk after a crash could be one that
 * is neither old nor new to one of them. */
static cip_status find_overlap(const cip_patch *p, bool *found, cip_err *err)
{
    const cip_patch_op **w = NULL;
    size_t n = 0;
    *found = false;
    CIP_TRY(CIP_NEW(p->arena.mem, &w, p->n, err));
    for (size_t i = 0; i < p->n; i++)
        if (p->op[i].kind == CIP_PATCH_WRITE && cip_patch_op_own(&p->op[i]) &&
            p->op[i].after.len != 0)
            w[n++] = &p->op[i];
    if (n != 0)
        qsort(w, n, sizeof *w, by_offset);
    for (size_t i = 1; i < n; i++)
        if (w[i]->offset < w[i - 1]->offset + w[i - 1]->after.len)
            *found = true;
    cip_mem_put(p->arena.mem, w);
    return CIP_OK;
}

/* Whether the patch, on a file of old_len bytes, is whole in itself. `code` when it is not. */
static cip_status check_patch(const cip_patch *p, cip_status code, cip_err *err)
{
    bool overlap;
    uint64_t size = cip_patch_size_after(p, p->old_len);
    if (size != p->new_len)
        return cip_fail(err, code, CIP_NO_OFFSET,
                        "the operations produce %" PRIu64 " bytes, not the new length %" PRIu64,
                        size, p->new_len);
    for (size_t i = 0; i < p->n; i++) {
        const cip_patch_op *op = &p->op[i];
        uint64_t old = cip_bytes_left(p->old_len, op->offset);
        if (op->kind == CIP_PATCH_WRITE && cip_patch_op_own(op) &&
            op->before.len != cip_min_u64(old, op->after.len))
            return cip_fail(err, code, op->offset, "operation %zu keeps only %zu of the old bytes",
                            i, op->before.len);
    }
    CIP_TRY(find_overlap(p, &overlap, err));
    if (overlap)
        return cip_fail(err, code, CIP_NO_OFFSET, "its writes overlap");
    return CIP_OK;
}

/* Bytes of an operation in the journal. UINT64_MAX when the sum overflows. */
static uint64_t op_bytes(const cip_patch_op *op)
{
    uint64_t n = OP;
    if (cip_add_overflow(n, strlen(op->member), &n) || cip_add_overflow(n, strlen(op->to), &n) ||
        cip_add_overflow(n, op->before.len, &n) || cip_add_overflow(n, op->after.len, &n))
        return UINT64_MAX;
    return n;
}

static uint8_t *put_bytes(uint8_t *at, const void *src, size_t n)
{
    if (n != 0)
        memcpy(at, src, n);
    return at + n;
}

static uint8_t *put_op(uint8_t *at, const cip_patch_op *op)
{
    size_t nmember = strlen(op->member), nto = strlen(op->to);
    cip_store_u32(at, (uint32_t)op->kind, false);
    cip_store_u32(at + 4, (uint32_t)nmember, false);
    cip_store_u32(at + 8, (uint32_t)nto, false);
    cip_store_u32(at + 12, 0, false);
    cip_store_u64(at + 16, op->offset, false);
    cip_store_u64(at + 24, op->before.len, false);
    cip_store_u64(at + 32, op->after.len, false);
    at = put_bytes(at + OP, op->member, nmember);
    at = put_bytes(at, op->to, nto);
    at = put_bytes(at, op->before.ptr, op->before.len);
    return put_bytes(at, op->after.ptr, op->after.len);
}

cip_status cip_journal_encode(const cip_patch *p, uint64_t device, uint64_t inode, cip_buf *out,
                              cip_err *err)
{
    uint64_t total = HEADER + SUM;
    uint8_t *head;
    CIP_TRY(check_patch(p, CIP_ERR_ARG, err));
    for (size_t i = 0; i < p->n; i++)
        if (cip_add_overflow(total, op_bytes(&p->op[i]), &total))
            total = UINT64_MAX;
    if (total > CIP_JOURNAL_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "a journal of %" PRIu64 " bytes, more than the limit of %d", total,
                        CIP_JOURNAL_MAX);
    CIP_TRY(cip_buf_reserve(out, (size_t)total, &head, err));
    memcpy(head, magic, MAGIC_LEN);
    cip_store_u32(head + 8, VERSION, false);
    cip_store_u32(head + 12, 0, false);
    cip_store_u64(head + 16, total, false);
    cip_store_u64(head + 24, device, false);
    cip_store_u64(head + 32, inode, false);
    cip_store_u64(head + 40, p->old_len, false);
    cip_store_u64(head + 48, p->new_len, false);
    cip_store_u64(head + 56, p->n, false);
    uint8_t *at = head + HEADER;
    for (size_t i = 0; i < p->n; i++)
        at = put_op(at, &p->op[i]);
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(head, (size_t)(at - head)));
    memcpy(at, sum.digest, SUM);
    out->len += (size_t)total;
    return CIP_OK;
}

/* The magic, version, length and checksum. */
static cip_status check_seal(cip_bytes in, cip_err *err)
{
    if (in.len < HEADER + SUM)
        return cip_fail(err, CIP_ERR_TRUNCATED, in.len,
                        "expected a journal of at least %d bytes, found %zu", HEADER + SUM, in.len);
    if (memcmp(in.ptr, magic, MAGIC_LEN) != 0)
        return cip_fail(err, CIP_ERR_FORMAT, 0, "not a journal of cippus");
    uint32_t version = cip_load_u32(in.ptr + 8, false);
    if (version != VERSION || cip_load_u32(in.ptr + 12, false) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, 8,
                        "expected a journal of version %d, found %" PRIu32 " or unknown flags",
                        VERSION, version);
    uint64_t total = cip_load_u64(in.ptr + 16, false);
    if (total > in.len)
        return cip_fail(err, CIP_ERR_TRUNCATED, in.len,
                        "expected a journal of %" PRIu64 " bytes, found %zu", total, in.len);
    if (total < in.len)
        return cip_fail(err, CIP_ERR_CORRUPT, total, "%" PRIu64 " bytes after the journal's end",
                        in.len - total);
#ifndef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
    XXH128_canonical_t sum;
    XXH128_canonicalFromHash(&sum, XXH3_128bits(in.ptr, in.len - SUM));
    if (memcmp(sum.digest, in.ptr + in.len - SUM, SUM) != 0)
        return cip_fail(err, CIP_ERR_CHECKSUM, in.len - SUM, "the journal's checksum is wrong");
#endif
    return CIP_OK;
}

/* n bytes as a string; NULs in it are refused. */
static cip_status get_name(cip_cursor *c, cip_arena *a, size_t n, const char **out, cip_err *err)
{
    cip_bytes b = cip_get_bytes(c, n);
    char *copy;
    if (b.len != 0 && memchr(b.ptr, '\0', b.len) != NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, c->pos - n, "a NUL in a name");
    CIP_TRY(cip_arena_copy(a, b.ptr, b.len, &copy, err));
    *out = copy;
    return CIP_OK;
}

static cip_bytes get_run(cip_cursor *c, uint64_t n)
{
    size_t len;
    if (!cip_to_size(n, &len))
        len = SIZE_MAX; /* more than there is, whatever it is */
    return cip_get_bytes(c, len);
}

static cip_status get_ops(cip_cursor *c, uint64_t n, cip_patch *p, cip_err *err)
{
    if (n > cip_cursor_left(c) / OP)
        return cip_fail(err, CIP_ERR_TRUNCATED, 56,
                        "%" PRIu64 " operations do not fit in %zu bytes", n, cip_cursor_left(c));
    for (uint64_t i = 0; i < n; i++) {
        size_t start = c->pos;
        uint32_t kind = cip_get_u32(c);
        uint32_t nmember = cip_get_u32(c), nto = cip_get_u32(c), zero = cip_get_u32(c);
        cip_patch_op op = { .offset = cip_get_u64(c) };
        uint64_t nbefore = cip_get_u64(c), nafter = cip_get_u64(c);
        CIP_TRY(get_name(c, &p->arena, nmember, &op.member, err));
        CIP_TRY(get_name(c, &p->arena, nto, &op.to, err));
        op.before = get_run(c, nbefore);
        op.after = get_run(c, nafter);
        if (c->bad)
            return cip_fail(err, CIP_ERR_TRUNCATED, start, "operation %zu runs beyond the journal",
                            p->n);
        if (zero != 0 || kind > CIP_PATCH_UNLINK)
            return cip_fail(err, CIP_ERR_CORRUPT, start, "operation %zu is of an unknown kind",
                            p->n);
        op.kind = (cip_patch_kind)kind;
        const char *fault = cip_patch_op_fault(&op);
        if (fault != NULL)
            return cip_fail(err, CIP_ERR_CORRUPT, start, "operation %zu has %s", p->n, fault);
        CIP_TRY(cip_patch_push(p, &op, err));
    }
    if (cip_cursor_left(c) != 0)
        return cip_fail(err, CIP_ERR_CORRUPT, c->pos, "%zu bytes after the last operation",
                        cip_cursor_left(c));
    return check_patch(p, CIP_ERR_CORRUPT, err);
}

cip_status cip_journal_decode(cip_bytes in, cip_patch *out, uint64_t *device, uint64_t *inode,
                              cip_err *err)
{
    cip_patch p = { .arena = out->arena };
    CIP_TRY(check_seal(in, err));
    cip_cursor c = cip_cursor_le((cip_bytes){ in.ptr, in.len - SUM });
    c.pos = 24;
    uint64_t dev = cip_get_u64(&c), ino = cip_get_u64(&c);
    p.old_len = cip_get_u64(&c);
    p.new_len = cip_get_u64(&c);
    cip_status st = get_ops(&c, cip_get_u64(&c), &p, err);
    if (st != CIP_OK) {
        out->arena = p.arena; /* what it grew by is freed with it */
        return st;
    }
    *out = p;
    *device = dev;
    *inode = ino;
    return CIP_OK;
}
