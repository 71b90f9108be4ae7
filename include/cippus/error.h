/* SPDX-License-Identifier: BSD-3-Clause
 * Statuses of calls, the caller's record of an error's place and reason, and findings: warnings of
 * opening and reports of verifying, which end no call. */
#ifndef CIPPUS_ERROR_H
#define CIPPUS_ERROR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cippus/version.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How a call ended, split by what the caller can do about it. Values never change meaning. */
typedef enum cip_status {
    CIP_OK = 0,
    CIP_ERR_NOMEM = 1,       /* the allocator gave no memory */
    CIP_ERR_IO = 2,          /* the system failed to read or write */
    CIP_ERR_NOT_FOUND = 3,   /* no such file, path, key or array */
    CIP_ERR_FORMAT = 4,      /* not a file of this (or any known) format */
    CIP_ERR_UNSUPPORTED = 5, /* valid, but this build or version cannot do it */
    CIP_ERR_CORRUPT = 6,     /* the bytes contradict themselves or the format */
    CIP_ERR_TRUNCATED = 7,   /* the bytes end before they should */
    CIP_ERR_CHECKSUM = 8,    /* a stored checksum does not match */
    CIP_ERR_LIMIT = 9,       /* a limit of cip_limits was reached; raise it to go on */
    CIP_ERR_RANGE = 10,      /* an index, slice or value is out of range */
    CIP_ERR_TYPE = 11,       /* a value has another type than was asked for */
    CIP_ERR_ARG = 12, /* the call itself is wrong, or NULL where the comment does not allow it */
    CIP_ERR_READONLY = 13,  /* the file or format cannot be written */
    CIP_ERR_BUSY = 14,      /* someone else holds the lock, or changed the file; try again */
    CIP_ERR_CANCELLED = 15, /* a callback asked to stop */
    CIP_ERR_EXISTS = 16,    /* the name is taken, and nothing said to overwrite it */
    CIP_ERR_STALE = 17      /* another file, or none, has the name of the one that was opened: open
                               it again */
} cip_status;

#define CIP_NO_OFFSET UINT64_MAX

/** A failing call writes its reason here. The caller owns it and initialises it with CIP_ERR_INIT
 * or {0}; every function takes NULL as well. The first error is kept: a call that fails while
 * `code` is set returns its own status and leaves the record as it is. So after several calls it
 * holds the first error. cip_err_clear() makes it ready for the next. A call that succeeds leaves
 * it alone. A size of 0 stands for version 0.2, which has the fields below. With another size only
 * the fields that fit are written, and nothing if it is less than version 0.2's. */
typedef struct cip_err {
    size_t size;     /* sizeof(cip_err), by CIP_ERR_INIT; 0: version 0.2's */
    int32_t code;    /* a cip_status */
    int32_t sys;     /* errno of the system call that failed, or 0 */
    uint64_t offset; /* byte position in the file, or CIP_NO_OFFSET */
    char part[64];   /* the part of the file: "block 3", "tree", an array's path; may be empty */
    char text[256];  /* one line, no trailing dot: what was expected, then what was found */
} cip_err;

#define CIP_ERR_INIT                                                                               \
    {                                                                                              \
        sizeof(cip_err), 0, 0, UINT64_MAX, "", ""                                                  \
    }

/** Makes it as new: no error, its size as it is. NULL is fine. */
CIP_API void cip_err_clear(cip_err *err);

/** A question that long calls ask: should I end? A nonzero answer ends them with CANCELLED. */
typedef struct cip_stop {
    int (*asked)(void *user); /* NULL: never asked */
    void *user;
} cip_stop;

/** Sets the question that this thread's calls ask while they read, encode or commit. They ask in
 * this thread, before each chunk, piece or Blosc block that it decodes or encodes itself, and while
 * it waits for other threads. That is often, so look at a clock first. Other threads end their
 * chunks at the same places; what a codec's library has begun is finished. Returns the question
 * before it, to be set again. A call that ends this way leaves the same as any that fails.
 * A commit asks until the file is about to be changed, and is then finished. Calls with `err` NULL
 * may not ask. */
CIP_API cip_stop cip_stop_set(cip_stop stop);

/** The name of a status in lower case ("not found"), for messages. Never NULL; static storage. */
CIP_API const char *cip_status_name(cip_status status);

typedef enum cip_severity {
    CIP_NOTE = 0, /* worth knowing, nothing is wrong ("checksum by the older convention") */
    CIP_WARN =
        1,       /* tolerated: the data are as the file says, but the file is not as it should be */
    CIP_BAD = 2, /* damage: some data are wrong, missing or cannot be proved right */
    CIP_FATAL = 3 /* the file as a whole cannot be read */
} cip_severity;

/** One finding. The texts are borrowed and live until the callback returns, or as long as the
 *  file for those that cip_file_finding() gives. */
typedef struct cip_finding {
    cip_severity severity;
    cip_status code;
    uint64_t offset; /* byte position in the file, or CIP_NO_OFFSET */
    uint64_t length; /* bytes concerned, or 0 */
    const char *part;
    const char *text; /* one line, no trailing dot */
    bool fixable;     /* `repair` or an update puts it right */
} cip_finding;

/** Called for each finding, from one thread at a time. A nonzero result stops with CANCELLED. */
typedef int cip_finding_fn(void *user, const cip_finding *finding);

#ifdef __cplusplus
}
#endif
#endif
