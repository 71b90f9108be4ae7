/* SPDX-License-Identifier: BSD-3-Clause
 * Bytes from anywhere: what an application provides so that a file can lie in memory, in an object
 * store or behind a test. */
#ifndef CIPPUS_EXT_IO_H
#define CIPPUS_EXT_IO_H

#include "cippus/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A wanted range of bytes and the memory it goes to. */
typedef struct cip_range {
    uint64_t offset;
    size_t nbytes;
    void *dst;
} cip_range;

/** Read access to one file. All functions may be called from any thread at the same time. They
 *  return a status and say why in `err`, which is never NULL here. */
typedef struct cip_io_methods {
    size_t struct_size; /* sizeof(cip_io_methods) */
    /** Fills every range, or fails. Ranges rise, do not overlap, are not empty and lie within the
     *  size. */
    cip_status (*read_ranges)(void *user, const cip_range *range, size_t nrange, cip_err *err);
    /** Total bytes. Asked once, when the file is opened. */
    cip_status (*size)(void *user, uint64_t *nbytes, cip_err *err);
    /** Opens a member beside the file (`name` is relative, percent-decoded, without "..") with
     *  methods and a user pointer of its own; NULL: there are none. *methods comes zeroed. */
    cip_status (*open_member)(void *user, const char *name, struct cip_io_methods *methods,
                              void **member_user, cip_err *err);
    /** Gives the user pointer back when the file is closed; may be NULL. */
    void (*close)(void *user);
} cip_io_methods;

/** The first field in a list of them: { CIP_IO_METHODS_INIT, .read_ranges = ..., .size = ... }. */
#define CIP_IO_METHODS_INIT .struct_size = sizeof(cip_io_methods)

#ifdef __cplusplus
}
#endif
#endif
