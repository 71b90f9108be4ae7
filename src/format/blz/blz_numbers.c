/* SPDX-License-Identifier: BSD-3-Clause
 * Which chunk files there are, where every chunk is a file of its own. A shape may claim far more
 * chunks than there are files, so what is missing is found from the names in the folder, not by
 * opening each. */
#include <stdio.h>
#include <stdlib.h>

#include "base/num.h"
#include "format/blz/blz.h"

typedef struct listing {
    cip_buf *out;
    cip_report *others; /* or NULL */
    const char *dir;
    cip_status st;
    cip_err *err;
} listing;

static int take_name(void *user, const char *name, bool is_folder)
{
    listing *k = user;
    uint64_t n;
    if (!is_folder && cip_blz_number_of(name, ".blp", &n))
        k->st = cip_buf_add(k->out, &n, sizeof n, k->err);
    else if (k->others != NULL)
        cip_report_add(k->others, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, k->dir,
                       "'%.200s' is not a data file", name);
    return k->st != CIP_OK || (k->others != NULL && k->others->cancelled);
}

size_t cip_blz_numbers_count(const cip_buf *numbers)
{
    return numbers->len / sizeof(uint64_t);
}

uint64_t cip_blz_numbers_at(const cip_buf *numbers, size_t i)
{
    return ((const uint64_t *)(const void *)numbers->ptr)[i];
}

cip_status cip_blz_numbers_list(const cip_blz_column *c, cip_report *others, cip_buf *out,
                                cip_err *err)
{
    cip_layout *l = c->blz->layout;
    char dir[CIP_IO_NUMBER_NAME];
    cip_err why = CIP_ERR_INIT;
    *out = (cip_buf){ .mem = &l->env->mem };
    listing k = { .out = out, .others = others, .dir = dir, .err = err };
    snprintf(dir, sizeof dir, "%sdata", c->dir);
    cip_status st = cip_io_list(l->io, dir, cip_blz_flags(l), take_name, &k, &why);
    CIP_TRY(k.st);
    if (others != NULL)
        CIP_TRY(cip_report_status(others, err));
    if (st != CIP_OK && st != CIP_ERR_NOT_FOUND)
        return cip_fail(err, st, why.offset, "%s", why.text);
    if (cip_blz_numbers_count(out) > 1)
        qsort(out->ptr, cip_blz_numbers_count(out), sizeof(uint64_t), cip_compare_u64);
    return CIP_OK;
}

size_t cip_blz_numbers_from(const cip_buf *numbers, uint64_t number)
{
    size_t lo = 0, hi = cip_blz_numbers_count(numbers);
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (cip_blz_numbers_at(numbers, mid) < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

bool cip_blz_numbers_have(const cip_buf *numbers, uint64_t number)
{
    const size_t i = cip_blz_numbers_from(numbers, number);
    return i < cip_blz_numbers_count(numbers) && cip_blz_numbers_at(numbers, i) == number;
}

/* Names are listed once; where that cannot be done, chunks are missing one by one. */
uint64_t cip_blz_missing_run(cip_blz_column *c, uint64_t i)
{
    pthread_mutex_lock(&c->lock);
    if (!c->listed)
        c->listed = cip_blz_numbers_list(c, NULL, &c->numbers, NULL) == CIP_OK;
    const size_t k = c->listed ? cip_blz_numbers_from(&c->numbers, i) : 0;
    uint64_t end = i + 1;
    if (c->listed)
        end = k < cip_blz_numbers_count(&c->numbers) ? cip_blz_numbers_at(&c->numbers, k)
                                                     : UINT64_MAX;
    else
        cip_buf_clear(&c->numbers);
    pthread_mutex_unlock(&c->lock);
    end = cip_min_u64(end, c->nchunk);
    return end > i ? end - i : 1;
}
