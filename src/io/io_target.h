/* SPDX-License-Identifier: BSD-3-Clause
 * A file of the caller's store as it is written: the caller's methods, whose answers are not
 * trusted. */
#ifndef CIP_IO_IO_TARGET_H
#define CIP_IO_IO_TARGET_H

#include "io/io.h"

typedef struct cip_target {
    cip_io_write_methods methods; /* struct_size 0: none */
    void *user;
    bool folders; /* unlink_member removes folders, too, if nothing is left in them */
} cip_target;

/* ARG when the methods are not whole, or NULL; `user` is closed then, unless they are of another
 * version. */
cip_status cip_target_take(cip_target *t, const cip_io_write_methods *m, void *user, cip_err *err);
/* Whether a file of the caller's that is open for reading can be opened for writing, too, and it is
 * known whether it was changed meanwhile; and it, opened so. */
bool cip_target_may_open(const cip_io *io);
cip_status cip_target_open(const cip_io *io, cip_target *out, cip_err *err);
/* n bytes at off; none are fine. */
cip_status cip_target_write(const cip_target *t, uint64_t off, const void *p, size_t n,
                            cip_err *err);
/* n bytes of `io` from `off` on to `at`, in pieces. */
cip_status cip_target_copy(const cip_target *t, uint64_t at, cip_io *io, uint64_t off, uint64_t n,
                           cip_err *err);
cip_status cip_target_resize(const cip_target *t, uint64_t nbytes, cip_err *err);
cip_status cip_target_sync(const cip_target *t, cip_err *err);
/* All of it is there: complete, and synced before that where it is to be `durable`. */
cip_status cip_target_finish(const cip_target *t, bool durable, cip_err *err);
/* UNSUPPORTED where the methods make no files beside it. */
cip_status cip_target_has_members(const cip_target *t, const char *name, cip_err *err);
/* A new file beside it. */
cip_status cip_target_member(const cip_target *t, const char *name, cip_target *out, cip_err *err);
/* One that is there. */
cip_status cip_target_open_member(const cip_target *t, const char *name, cip_target *out,
                                  cip_err *err);
/* OK where it stays by the methods' design (they have no unlink_member), or is not there. */
cip_status cip_target_unlink(const cip_target *t, const char *name, cip_err *err);
/* Gives the user pointer back; nothing is left to call. One that was never taken is fine. */
void cip_target_close(cip_target *t);

#endif
