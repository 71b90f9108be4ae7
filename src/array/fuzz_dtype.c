/* SPDX-License-Identifier: BSD-3-Clause
 * Texts as dtypes and as selections. What is parsed has to keep its promises: a name reads back as
 * the same name, numpy's descr as the same bytes, and a selection stays within its array. */
#include <stdlib.h>
#include <string.h>

#include "array/cast.h"
#include "base/buffer.h"

/* Stops the fuzzer here. */
static void require(bool holds)
{
    if (!holds)
        abort();
}

static bool is_ascii(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (data[i] > 0x7f)
            return false;
    return true;
}

static void check_name(cip_arena *a, const cip_dtype *d)
{
    const cip_dtype *again;
    if (strstr(d->name, "...") != NULL)
        return; /* cut, or a name that looks so */
    cip_status st = cip_dtype_of_text(a, d->name, strlen(d->name), d->big, &again, NULL);
    require(st == CIP_OK || st == CIP_ERR_LIMIT);
    require(st != CIP_OK || strcmp(again->name, d->name) == 0);
}

static void check_descr(cip_arena *a, const cip_dtype *d)
{
    const cip_dtype *again;
    char *descr;
    if (cip_dtype_numpy(a, d, &descr, NULL) != CIP_OK)
        return;
    cip_status st = cip_dtype_of_text(a, descr, strlen(descr), false, &again, NULL);
    require(st == CIP_OK || st == CIP_ERR_LIMIT);
    require(st != CIP_OK || again->itemsize == d->itemsize);
}

static void check_element(cip_arena *a, const cip_dtype *d)
{
    const cip_dtype *packed;
    cip_cast c;
    cip_cast_stats stats = { 0 };
    cip_buf text = { .mem = a->mem };
    if (d->itemsize > 4096 || cip_dtype_packed_le(a, d, &packed, NULL) != CIP_OK ||
        packed->itemsize > 1 << 16)
        return; /* fields may overlap, so that packed they are longer */
    uint8_t *from = calloc(1, (size_t)d->itemsize + 1);
    uint8_t *to = calloc(1, (size_t)packed->itemsize + 1);
    require(cip_cast_make(d, packed, CIP_OVERFLOW_ERROR, &c, NULL) == CIP_OK);
    cip_cast_run(&c, 1, from, 0, to, 0, 0, &stats);
    require(stats.noverflow == 0);
    cip_elem_format(packed, to, &text, NULL);
    cip_buf_clear(&text);
    free(from);
    free(to);
}

static void check_selection(const char *text)
{
    static const int64_t shape[] = { 3, 4, 5, 1 };
    cip_selection sel;
    cip_nd v, out;
    uint64_t first, end;
    if (cip_selection_parse(text, &sel, NULL) != CIP_OK)
        return;
    require(cip_view_c_order(4, shape, 2, &v, NULL) == CIP_OK);
    if (cip_view_select(&v, &sel, &out, NULL, NULL) != CIP_OK)
        return;
    require(cip_view_bounds(&out, &first, &end, NULL) == CIP_OK);
    require(end <= 120);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cip_mem mem;
    cip_arena a = { .mem = &mem };
    const cip_dtype *d;
    char *text;
    cip_mem_init(&mem, NULL, 16 << 20);
    if (cip_arena_copy(&a, data, size, &text, NULL) == CIP_OK) {
        check_selection(text);
        if (cip_dtype_of_text(&a, text, size, size % 2 != 0, &d, NULL) == CIP_OK) {
            if (is_ascii(data, size)) { /* bytes that are no UTF-8 do not come back */
                check_name(&a, d);
                check_descr(&a, d);
            }
            check_element(&a, d);
        }
    }
    cip_arena_clear(&a);
    require(mem.used == 0);
    return 0;
}
