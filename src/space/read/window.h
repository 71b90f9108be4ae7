/* SPDX-License-Identifier: BSD-3-Clause
 * A piece of a space's bytes kept in memory by one that walks over them: headers that lie near each
 * other come by one read. */
#ifndef CIP_SPACE_WINDOW_H
#define CIP_SPACE_WINDOW_H

#include "space/layout/layout.h"

/* Zero-initialise with `layout` and `in`. */
typedef struct cip_window {
    cip_layout *layout;
    cip_space *in;
    uint8_t *buf; /* of layout->env->mem */
    size_t cap, len;
    uint64_t off;  /* of buf in the space */
    uint64_t last; /* where cip_window_next looked before */
} cip_window;

/* Up to n bytes at off, fewer only at the end of the space. */
cip_status cip_space_read_some(cip_layout *l, cip_space *s, uint64_t off, void *dst, size_t n,
                               size_t *got, cip_err *err);
/* Up to n bytes at off (fewer only at the end of the space), read with `ahead` bytes in all when
 * they are not at hand. Borrowed until the next call. */
cip_status cip_window_peek(cip_window *w, uint64_t off, size_t n, size_t ahead, cip_bytes *out,
                           cip_err *err);
/* The same in a walk to rising places: 64 KiB are read where the one before lay within 4 KiB. */
cip_status cip_window_next(cip_window *w, uint64_t off, size_t n, cip_bytes *out, cip_err *err);
void cip_window_clear(cip_window *w);

#endif
