/* SPDX-License-Identifier: BSD-3-Clause
 * One for each thread: a call may come from any, and its jobs run in others too. */
#include "base/stop.h"

static _Thread_local cip_stop current;

cip_stop cip_stop_set(cip_stop stop)
{
    const cip_stop before = current;
    current = stop;
    return before;
}

cip_stop cip_stop_pause(void)
{
    return cip_stop_set((cip_stop){ NULL, NULL });
}

bool cip_stop_is_set(void)
{
    return current.asked != NULL;
}

cip_status cip_stop_ask(cip_err *err)
{
    if (err == NULL || current.asked == NULL || current.asked(current.user) == 0)
        return CIP_OK;
    return cip_fail(err, CIP_ERR_CANCELLED, CIP_NO_OFFSET, "stopped by the caller");
}
