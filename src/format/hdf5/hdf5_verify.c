/* SPDX-License-Identifier: BSD-3-Clause
 * Checking a file. Opening it has compared the checksums of object headers, heaps and B-trees; here
 * every chunk index is read, and no two chunks may share bytes. `verify --deep` decodes chunks. */
#include <stdlib.h>

#include "format/hdf5/hdf5.h"

enum { PIECE = 1 << 20 };

cip_status cip_h5_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    const cip_read_how how = { l, l->env->pool };
    (void)deep;
    for (size_t i = 0; i < l->narray; i++) {
        const cip_array *a = l->array[i];
        cip_space *s;
        cip_err why = CIP_ERR_INIT;
        if (a->st != CIP_OK)
            continue;
        cip_status st = cip_space_resolve(a->space, &s, &why);
        if (st == CIP_OK)
            st = cip_space_stream(&how, s, PIECE, cip_report_read, report, &why);
        if (st != CIP_OK)
            cip_fail_in(&why, st, "%s", a->path);
        CIP_TRY(cip_report_outcome(report, st, &why, err));
    }
    return cip_report_status(report, err);
}
