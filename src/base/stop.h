/* SPDX-License-Identifier: BSD-3-Clause
 * Whether the thread that called should end what it is at: cip_stop_set, asked. */
#ifndef CIP_BASE_STOP_H
#define CIP_BASE_STOP_H

#include "base/err.h"

/* CANCELLED when this thread should end. Threads of a pool are never asked, nor is anybody where
 * err is NULL: then no failure is expected. */
cip_status cip_stop_ask(cip_err *err);
/* For what has to go through: nobody is asked until cip_stop_set with the result. */
cip_stop cip_stop_pause(void);

#endif
