/* SPDX-License-Identifier: BSD-3-Clause
 * Stream: rows until the night ends; readers may follow, and a crash keeps the rows written. */
#include <inttypes.h>
#include <stdio.h>

#include "cippus/cippus.h"

/* A file with an array of no rows yet, which grows at the end. */
static void make_file(const char *path, cip_err *err)
{
    cip_change *c;
    const int64_t none[] = { 0, 3 };
    cip_create(path, CIP_CHANGE_OPTIONS(.overwrite = true), &c, err);
    cip_change_set_string(c, "telescope", "north", err);
    cip_change_put(c, "events", cip_dtype_of(CIP_F64), 2, none, NULL,
                   CIP_ARRAY_OPTIONS(.storage = "streamed"), err);
    cip_change_commit(&c, err);
}

int main(int argc, char **argv)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f, *reader;
    const char *path = argc > 1 ? argv[1] : "out.asdf";
    make_file(path, &err);
    cip_open(path, NULL, &f, &err);
    for (double hour = 0; hour < 4; hour++) {
        double rows[2][3] = { { hour, 0.5, 1 }, { hour, 1.5, 2 } };
        cip_append(f, "events", cip_dtype_of(CIP_F64), rows, sizeof rows, &err);
    }
    cip_sync(f, &err);

    cip_open(path, NULL, &reader, &err); /* while the night goes on */
    const cip_array *events = cip_find(reader, "events", &err);
    double last[3] = { 0 };
    cip_read(events, "[-1]", cip_dtype_of(CIP_F64), last, sizeof last, &err);
    if (events != NULL)
        printf("%" PRId64 " rows, the last: %g %g %g\n", cip_array_shape(events)[0], last[0],
               last[1], last[2]);
    cip_file_close(reader);
    cip_file_close(f);
    return err.code;
}
