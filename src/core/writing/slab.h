/* SPDX-License-Identifier: BSD-3-Clause
 * An array that is filled by boxes, from any thread: which elements were written, and their
 * reading before the array is whole. */
#ifndef CIP_CORE_SLAB_H
#define CIP_CORE_SLAB_H

#include <pthread.h>

#include "base/buffer.h"
#include "base/undo.h"
#include "core/writing/engine.h"
#include "io/temporary.h"
#include "space/make/boxes.h"

/* It lives as long as the change that it was declared in. Its temporary file is an entry's of a
 * writer: of another one once a new file is looked at. */
struct cip_slab {
    cip_slab *next; /* of the writer it was declared in */
    cip_env *env;
    const cip_spec_array *spec; /* dtype, shape and path: of that writer */
    const char *beside;         /* where temporary files lie; or NULL */
    cip_array_options opts;     /* it was declared with; a copy */
    cip_boxes *boxes;           /* its chunks are stored as they come; or NULL */

    pthread_mutex_t lock; /* of all below; a leaf */
    cip_io
        *data; /* the entry's temporary file: all elements in C order; NULL: none come any more */
    cip_buf placed; /* boxes that were written there, as int64_t: start, stop, 0 */
    bool marked;    /* there is a mark: what comes now may be taken back */
    cip_io *later;  /* boxes that came since there was one, packed; or NULL */
    cip_buf since;  /* these, the last ones count: start, stop, the offset in `later` */
    bool over;      /* no boxes come any more: what none had is zeros */
    bool torn;      /* a box failed halfway in its place */
    cip_status st;  /* of the first box that failed, until it is taken */
    cip_err why;
};

/* Zeroed before; `spec` is borrowed. Ends with cip_slab_clear. */
void cip_slab_init(cip_slab *s, cip_env *env, const cip_spec_array *spec);
/* No boxes come any more; what it has of its own is freed. */
void cip_slab_clear(cip_slab *s);
/* What boxes are written to and read from: from now on that, or (NULL) nothing. */
void cip_slab_set_data(cip_slab *s, cip_io *data);
/* What the first box that failed left; it is forgotten here. *torn: that it has left a part. */
cip_status cip_slab_failure(cip_slab *s, bool *torn, cip_err *why);
/* Boxes from now on may be taken back: `undo` keeps what there is. */
cip_status cip_slab_mark(cip_slab *s, cip_undo *undo, cip_err *err);
/* None is wanted back any more. */
void cip_slab_unmark(cip_slab *s);
/* All boxes in their places in the temporary file; no more come. */
cip_status cip_slab_settle(cip_slab *s, cip_err *err);
/* No more come, and it is read as it will be; what waits stays where it is. */
void cip_slab_end(cip_slab *s);
/* Its bytes, as an io: UNSUPPORTED naming the first elements that no box had. */
cip_status cip_slab_open(cip_slab *s, cip_env *env, cip_io **out, cip_err *err);

#endif
