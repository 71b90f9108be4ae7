/* SPDX-License-Identifier: BSD-3-Clause
 * Updates of sparse frames. New chunks are new files, with the lowest numbers that neither the
 * index nor the folder has; a new file with header, index and trailer takes the place of the old
 * one and is the switch; files that only the old one named go last. What else lies in the folder is
 * nobody's but its owner's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/blosc2/blosc2_update.h"

/* --- numbers ---------------------------------------------------------------------------------- */

/* The number of "%08X.chunk", in digits of either case. */
static bool number_of(const char *name, uint64_t *number)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) {
        const int digit = cip_hex_digit(name[i]);
        if (digit < 0)
            return false;
        n = n << 4 | (uint64_t)digit;
    }
    *number = n;
    return strcmp(name + 8, ".chunk") == 0;
}

typedef struct names {
    cip_buf *out;
    cip_status st;
    cip_err *err;
} names;

static int take_name(void *user, const char *name, bool is_folder)
{
    names *f = user;
    uint64_t n;
    (void)is_folder;
    if (number_of(name, &n))
        f->st = cip_buf_add(f->out, &n, sizeof n, f->err);
    return f->st != CIP_OK;
}

static void sort(cip_buf *numbers)
{
    if (numbers->len != 0)
        qsort(numbers->ptr, numbers->len / sizeof(uint64_t), sizeof(uint64_t), cip_compare_u64);
}

cip_status cip_b2_sparse_numbers(const cip_b2_state *u, cip_b2_places *p, cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    names f = { .out = &p->used, .err = err };
    p->numbered = true;
    CIP_TRY(cip_b2_index_offsets((cip_b2_index *)&u->f->index, &p->used, err));
    cip_status st = cip_io_list(u->l->io, "", 0, take_name, &f, &why);
    CIP_TRY(f.st);
    if (st != CIP_OK && st != CIP_ERR_UNSUPPORTED) /* not every store can list */
        return cip_fail(err, st, why.offset, "%s", why.text);
    sort(&p->used);
    return CIP_OK;
}

uint64_t cip_b2_sparse_next(cip_b2_places *p)
{
    const uint64_t *used = (const uint64_t *)(const void *)p->used.ptr;
    const size_t n = p->used.len / sizeof *used;
    for (; p->seen < n && used[p->seen] <= p->end; p->seen++)
        if (used[p->seen] == p->end)
            p->end++;
    return p->end++;
}

static uint64_t last_of(const cip_buf *numbers)
{
    return ((const uint64_t *)(const void *)numbers->ptr)[numbers->len / sizeof(uint64_t) - 1];
}

typedef struct links {
    const cip_buf *numbers;
    char name[CIP_IO_NUMBER_NAME];
    bool found;
} links;

static int see_link(void *user, const char *name, bool is_folder)
{
    links *x = user;
    uint64_t n;
    (void)is_folder;
    x->found = number_of(name, &n) && x->numbers->len != 0 &&
               bsearch(&n, x->numbers->ptr, x->numbers->len / sizeof n, sizeof n, cip_compare_u64);
    if (x->found)
        snprintf(x->name, sizeof x->name, "%s", name);
    return x->found;
}

/* A chunk file that is a link leads to another file of the folder, which an update might remove as
 * its own chunk's. */
cip_status cip_b2_sparse_check_links(const cip_b2_state *u, cip_err *err)
{
    cip_buf numbers = { .mem = &u->l->env->mem };
    links x = { .numbers = &numbers };
    cip_err why = CIP_ERR_INIT;
    cip_status st = cip_b2_index_offsets((cip_b2_index *)&u->f->index, &numbers, &why);
    if (st == CIP_OK)
        st = cip_io_list(u->l->io, "", CIP_IO_LINKS, see_link, &x, &why);
    if (x.found)
        st = cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                      "'%.80s' is a symbolic link: chunks can be changed only if each is a regular "
                      "file; convert the array to a new folder first",
                      x.name);
    else if (st == CIP_ERR_UNSUPPORTED) /* not every store can list */
        st = CIP_OK;
    else
        cip_err_give(err, &why, st);
    cip_buf_clear(&numbers);
    return st;
}

/* --- files ------------------------------------------------------------------------------------ */

/* Those of `was` that `now` lacks, both rising. */
static cip_status remove_files(const cip_b2_state *u, const cip_buf *was, const cip_buf *now,
                               cip_revision *r, uint64_t *cbytes, cip_err *err)
{
    const uint64_t *old = (const uint64_t *)(const void *)was->ptr;
    const uint64_t *new = (const uint64_t *)(const void *)now->ptr;
    const size_t nold = was->len / sizeof *old, nnew = now->len / sizeof *new;
    char name[CIP_IO_NUMBER_NAME];
    for (size_t i = 0, k = 0; i < nold; i++) {
        uint64_t len;
        while (k < nnew && new[k] < old[i])
            k++;
        if ((k < nnew && new[k] == old[i]) || (i > 0 && old[i] == old[i - 1]) ||
            cip_io_numbered_size(u->f->numbered, old[i], &len, NULL) != CIP_OK)
            continue;
        *cbytes -= cip_min_u64(*cbytes, len);
        cip_b2_member_name(NULL, old[i], NULL, name);
        CIP_TRY(cip_revision_unlink(r, name, NULL, err));
    }
    return CIP_OK;
}

/* Of all files that the frame as it is names; what the header says may be more (see below). */
static uint64_t old_bytes(const cip_b2_state *u, const cip_buf *was)
{
    const uint64_t *number = (const uint64_t *)(const void *)was->ptr;
    const cip_b2_header *h = &u->f->h;
    uint64_t sum = 0, len;
    if (was->len == 0 || h->cbytes != last_of(was) + CIP_BLOSC_HEADER)
        return was->len != 0 ? h->cbytes : 0;
    for (size_t i = 0; i < was->len / sizeof *number; i++)
        if ((i == 0 || number[i] != number[i - 1]) &&
            cip_io_numbered_size(u->f->numbered, number[i], &len, NULL) == CIP_OK)
            sum += len;
    return sum;
}

/* libblosc2 takes numbers for places here, too, and opens no frame with one whose chunk would reach
 * beyond all bytes of chunks (its own neither, where most chunks were deleted). */
cip_status cip_b2_sparse_files(const cip_b2_state *u, const cip_b2_places *p, cip_revision *r,
                               uint64_t *cbytes, cip_err *err)
{
    cip_buf was = { .mem = p->mem }, now = { .mem = p->mem };
    cip_status st = CIP_OK;
    *cbytes = u->f->h.nbytes != 0 ? u->f->h.cbytes : 0;
    if (u->c == NULL)
        return CIP_OK;
    CIP_GO(cip_b2_sparse_check_links(u, err));
    CIP_GO(cip_b2_index_offsets((cip_b2_index *)&u->f->index, &was, err));
    *cbytes = old_bytes(u, &was);
    /* Entries of the index that are numbers, rising. */
    const uint64_t special = UINT64_C(1) << 63;
    for (size_t i = 0; i < p->entries.len; i += 8) {
        const uint64_t n = cip_load_u64(p->entries.ptr + i, false);
        if (n < special)
            CIP_GO(cip_buf_add(&now, &n, sizeof n, err));
    }
    sort(&now);
    CIP_GO(remove_files(u, &was, &now, r, cbytes, err));
    char name[CIP_IO_NUMBER_NAME];
    for (size_t i = 0; i < p->n; i++) {
        if (p->chunk[i].at >= CIP_IO_NUMBERS)
            CIP_GO(cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "expected an unused number for a chunk file, found all in use"));
        cip_b2_member_name(NULL, p->chunk[i].at, NULL, name);
        CIP_GO(cip_revision_create(r, name, &p->chunk[i].bytes, err));
        *cbytes += p->chunk[i].bytes.len;
    }
    if (now.len != 0)
        *cbytes = cip_max_u64(*cbytes, last_of(&now) + CIP_BLOSC_HEADER);
    st = CIP_OK;
done:
    cip_buf_clear(&was);
    cip_buf_clear(&now);
    return st;
}

cip_status cip_b2_sparse_index_file(const cip_b2_state *u, cip_revision *r, cip_revision **as,
                                    cip_err *err)
{
    const cip_b2_file *file = u->l->own;
    CIP_TRY(cip_revision_replace(r, cip_b2_sparse_index, file->index, as, err));
    return cip_revision_switch(r, cip_b2_sparse_index, err);
}
