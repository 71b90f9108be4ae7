/* SPDX-License-Identifier: BSD-3-Clause
 * A file in memory that can be written and, once it is complete, read and updated, and members
 * beside it. */
#ifndef CIP_CORE_MEMORY_FILE_H
#define CIP_CORE_MEMORY_FILE_H

#include "cippus/memory.h"
#include "io/out.h"
#include "io/io_target.h"

/* `from` may be NULL. */
cip_status cip_memory_make(const cip_allocator *from, cip_memory **out, cip_err *err);
/* Once: the name that members are called after. */
cip_status cip_memory_set_name(cip_memory *m, const char *name, cip_err *err);
/* A new, empty member; borrowed from the set. BUSY when there is one of this name. */
cip_status cip_memory_create(cip_memory *set, const char *name, cip_memory **out, cip_err *err);
/* All of an io are its bytes from here on: of one that is new. */
cip_status cip_memory_fill(cip_memory *m, cip_io *from, cip_err *err);
/* It as an output that starts empty and can do all that an output can but members. */
cip_out cip_memory_out(cip_memory *m);
/* It as a file of a store: to be read, with `m` as the user pointer, and to be written. With no
 * bytes it is a folder where it has members. */
cip_io_methods cip_memory_reads(const cip_memory *m);
cip_target cip_memory_target(cip_memory *m);
/* Whether it is such a file. */
bool cip_memory_is(const cip_target *t);
/* Its bytes and members may be shown from here on. */
void cip_memory_complete(cip_memory *m);

#endif
