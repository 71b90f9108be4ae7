/* SPDX-License-Identifier: BSD-3-Clause
 * Pictures of any elements under any options: the first bytes choose these, the others are the
 * elements of a npy file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cippus/cippus.h"

enum { HEAD = 128, OPTIONS = 24 };

static const char *const descrs[] = { "|b1", "|i1", "|u1", "<i2", ">u2", "<i4", ">u4",  "<i8",
                                      ">u8", "<f2", ">f2", "<f4", ">f8", "<c8", ">c16", "<M8[ns]" };
static const unsigned sizes[] = { 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4, 8, 8, 16, 8 };

static int drop(void *user, const void *bytes, size_t n)
{
    (void)bytes;
    *(size_t *)user += n;
    return 0;
}

static double number(const uint8_t *at)
{
    double d;
    memcpy(&d, at, sizeof d);
    return d;
}

/* A file of two axes, or one, of what is there. */
static char *file_of(const uint8_t *options, const uint8_t *elem, size_t nbytes, size_t *n)
{
    char shape[64];
    const unsigned kind = options[0] % 16;
    const size_t nelem = nbytes / sizes[kind], wide = options[1] % 16u + 1;
    if (options[1] & 16)
        snprintf(shape, sizeof shape, "(%zu,)", nelem);
    else
        snprintf(shape, sizeof shape, "(%zu, %zu)", nelem / wide, wide);
    char *file = malloc(HEAD + nbytes + 1);
    memset(file, ' ', HEAD);
    memcpy(file, "\x93NUMPY\x01\x00\x76\x00", 10);
    char head[HEAD - 11];
    const int len = snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': %s, 'shape': %s}",
                             descrs[kind], options[1] & 32 ? "True" : "False", shape);
    memcpy(file + 10, head, len < (int)sizeof head ? (size_t)len : sizeof head - 1);
    file[HEAD - 1] = '\n';
    memcpy(file + HEAD, elem, nbytes);
    *n = HEAD + (options[1] & 16 ? nelem : nelem / wide * wide) * sizes[kind];
    return file;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const maps[] = { "viridis", "gray_r", "turbo", "none" };
    if (size < OPTIONS || size > 1 << 14)
        return 0;
    size_t n, png = 0;
    char *mem = file_of(data, data + OPTIONS, size - OPTIONS, &n);
    const cip_picture_options o = { .size = sizeof o,
                                    .max_width = data[2],
                                    .max_height = data[3],
                                    .zoom = data[4] % 8,
                                    .scale = (cip_picture_scale)(data[5] % 4),
                                    .reduce = (cip_picture_reduce)(data[5] / 4 % 4 + data[4] / 128),
                                    .map = maps[data[5] / 16 % 4],
                                    .has_limits = data[5] / 64 % 2,
                                    .transparent = data[5] / 128,
                                    .low = number(data + 6),
                                    .high = number(data + 14),
                                    .max_nbytes = data[22] * 64u };
    const cip_picture_options percent = { .size = sizeof percent,
                                          .low_percentile = data[6] % 100,
                                          .high_percentile = data[7] % 101 };
    static const char *const selections[] = { "", "[::-1]", "[..., ::3]", "[None, 1:]" };
    cip_file *f = NULL;
    if (cip_open_memory(mem, n, NULL, &f, NULL) == CIP_OK) {
        cip_picture *p = NULL;
        cip_picture_tick t[8];
        const cip_read_args args = { .size = sizeof args, .selection = selections[data[23] % 4] };
        if (cip_picture_make(cip_file_array(f, 0), &args, data[23] & 4 ? &percent : &o, &p, NULL) ==
            CIP_OK) {
            cip_picture_ticks(p, true, data[22], t, 8);
            cip_picture_ticks(p, false, data[4], t, 8);
            cip_picture_png(p, data[23] & 8, drop, &png, NULL);
        }
        cip_picture_free(p);
    }
    cip_file_close(f);
    free(mem);
    return 0;
}
