/* SPDX-License-Identifier: BSD-3-Clause
 * What opening warns of and verifying reports: one finding after the other, to a callback. */
#ifndef CIPPUS_FINDING_H
#define CIPPUS_FINDING_H

#include <stdbool.h>

#include "cippus/error.h"

#ifdef __cplusplus
extern "C" {
#endif

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
