/* SPDX-License-Identifier: BSD-3-Clause
 * Units of datetime64 and timedelta64, and their values as text. */
#ifndef CIP_ARRAY_ELEM_TIME_H
#define CIP_ARRAY_ELEM_TIME_H

#include "base/buffer.h"

typedef enum cip_time_base {
    CIP_TIME_GENERIC,
    CIP_TIME_Y,
    CIP_TIME_M,
    CIP_TIME_W,
    CIP_TIME_D,
    CIP_TIME_h,
    CIP_TIME_m,
    CIP_TIME_s,
    CIP_TIME_ms,
    CIP_TIME_us,
    CIP_TIME_ns,
    CIP_TIME_ps,
    CIP_TIME_fs,
    CIP_TIME_as
} cip_time_base;

/* A value counts steps of `multiple` bases. */
typedef struct cip_time_unit {
    cip_time_base base;
    uint32_t multiple; /* 1 ... INT32_MAX */
} cip_time_unit;

/* "ns", "25s"; "" is generic. False when it is none of numpy's. */
bool cip_time_unit_parse(const char *text, size_t len, cip_time_unit *out);
/* As numpy writes it: "ns", "25s", "" for generic. Static. */
const char *cip_time_base_name(cip_time_base base);

/* A datetime64 as ISO 8601, in the precision of its unit ("2021-03", "1969-12-31T23:59:59.999");
 * NaT; a bare count where the unit is generic or the date is beyond what int64 days can count. */
cip_status cip_time_format_date(cip_buf *b, cip_time_unit unit, int64_t value, cip_err *err);
/* A timedelta64: "75 s", NaT, a bare count where the unit is generic. */
cip_status cip_time_format_delta(cip_buf *b, cip_time_unit unit, int64_t value, cip_err *err);

#endif
