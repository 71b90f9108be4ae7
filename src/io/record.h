/* SPDX-License-Identifier: BSD-3-Clause
 * A file's own word about the record of its update (the tmp or journal beside it): an extended
 * attribute, which goes with the file when it gets another name or a second one
 * (docs/decisions/record-of-the-file.md). */
#ifndef CIP_IO_RECORD_H
#define CIP_IO_RECORD_H

#include <limits.h>
#include <stdbool.h>

#include "base/err.h"

typedef enum cip_record_state {
    CIP_RECORD_NONE = 0,
    CIP_RECORD_OPEN = 1,   /* what the record says counts */
    CIP_RECORD_SETTLED = 2 /* the file is as it should be, whatever record is left of that name */
} cip_record_state;

typedef struct cip_record {
    cip_record_state state;
    char nonce[17];          /* tells updates apart */
    char name[NAME_MAX + 1]; /* of the file when the update began: its records are called after it;
                                "" when the attribute is of no form that is known */
} cip_record;

/* What the file says; NONE too where attributes are not kept. IO. */
cip_status cip_record_get(int fd, cip_record *out, cip_err *err);
/* Opens a record under that name. UNSUPPORTED where the file system keeps no such attributes, or
 * not this one. */
cip_status cip_record_open(int fd, const char *name, cip_record *out, cip_err *err);
/* Says that it is settled. */
cip_status cip_record_settle(int fd, cip_record *r, cip_err *err);
/* Takes the attribute away, where there is one. */
cip_status cip_record_clear(int fd, cip_err *err);
/* Whether the file system keeps such attributes. */
bool cip_record_able(int fd);
/* Whether the attribute is ours, and so not to be copied to another file. */
bool cip_record_owns(const char *attribute);
/* BUSY when an update of the file is going on, CORRUPT when one was cut off: for files whose
 * records are not looked for. */
cip_status cip_record_refuse(int fd, const char *name, cip_err *err);

#endif
