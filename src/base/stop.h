/* SPDX-License-Identifier: BSD-3-Clause
 * Whether the thread that called should end what it is at: cip_stop_set, asked. */
#ifndef CIP_BASE_STOP_H
#define CIP_BASE_STOP_H

#include <stdbool.h>

#include "base/err.h"

/* CANCELLED when this thread should end: the calling thread's question is answered so, or, in a
 * thread of a pool, the caller's was. Nobody is asked where err is NULL: then no failure is
 * expected. */
cip_status cip_stop_ask(cip_err *err);
bool cip_stop_is_set(void);
/* For what has to go through: nobody is asked until cip_stop_set with the result. */
cip_stop cip_stop_pause(void);

#endif
