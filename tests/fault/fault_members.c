/* SPDX-License-Identifier: BSD-3-Clause
 * Revisions with members: an ASDF file whose array lies in `m0000.asdf` beside it comes to name
 * another one, `m0001.asdf`, which is made with it, and the first one goes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fault/fault_scenarios.h"

enum { COUNT = 400 };

static void must(cip_status st, const cip_err *err)
{
    if (st != CIP_OK) {
        fprintf(stderr, "%s\n", err->text);
        abort();
    }
}

void fault_make_member(const char *dir)
{
    static const int64_t shape[] = { COUNT };
    int32_t values[COUNT];
    char path[1024];
    cip_writer *w;
    cip_err err = CIP_ERR_INIT;
    for (int32_t i = 0; i < COUNT; i++)
        values[i] = i * 3;
    snprintf(path, sizeof path, "%s/m.asdf", dir);
    must(cip_create(path, CIP_WRITE_OPTIONS(.level = CIP_LEVEL_PROCESS, .checksum = "none"), &w,
                    &err),
         &err);
    cip_set_string(w, "name", "members", &err);
    cip_put(w, "a", cip_dtype_of(CIP_I32), 1, shape, values,
            CIP_ARRAY_OPTIONS(.storage = "external"), &err);
    must(cip_writer_commit(w, &err), &err);
}

/* The member's bytes, with other elements at their end. */
static cip_status add_member(cip_commit *c, cip_revision *r, cip_err *err)
{
    cip_io *old = NULL;
    cip_status st;
    uint8_t bytes[8192];
    size_t n;
    CIP_GO(cip_io_open_member(cip_commit_io(c), "m0000.asdf", 0, &old, err));
    CIP_GO(cip_io_read_some(old, 0, bytes, sizeof bytes, &n, err));
    memset(bytes + n - 1000, 7, 900);
    CIP_GO(cip_revision_create(r, "m0001.asdf", &(cip_segment){ .ptr = bytes, .len = n }, err));
    st = cip_revision_unlink(r, "m0000.asdf", old, err);
done:
    cip_io_close(old);
    return st;
}

/* What changes in the file itself: its name for the member, or its end from there on too. */
static cip_status add_change(cip_commit *c, cip_revision *r, bool longer, cip_err *err)
{
    uint8_t text[4096];
    size_t n;
    CIP_TRY(cip_io_read_some(cip_commit_io(c), 0, text, sizeof text, &n, err));
    uint8_t *at = memmem(text, n, "m0000.asdf", 10);
    size_t off = (size_t)(at - text), end = n - 4; /* of "...\n" */
    if (!longer)
        return cip_patch_write(&r->patch, "", off, (cip_bytes){ NULL, 0 },
                               (cip_bytes){ (const uint8_t *)"m0001", 5 }, err);
    r->has_tail = true;
    r->tail_off = off;
    at[4] = '1';
    CIP_TRY(cip_revision_bytes(r, at, end - off, err));
    for (int i = 0; i < 40; i++)
        CIP_TRY(cip_revision_bytes(r, "# a line more, for length\n", 26, err));
    return cip_revision_bytes(r, text + end, n - end, err);
}

static cip_status fill_other(cip_commit *c, cip_revision *r, cip_err *err)
{
    CIP_TRY(add_member(c, r, err));
    return add_change(c, r, false, err);
}

static cip_status fill_other_and_tail(cip_commit *c, cip_revision *r, cip_err *err)
{
    CIP_TRY(add_member(c, r, err));
    return add_change(c, r, true, err);
}

cip_status fault_other_member(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_other, err);
}

cip_status fault_other_member_and_tail(const char *path, cip_level level, int step, cip_err *err)
{
    (void)step;
    return fault_commit(path, level, fill_other_and_tail, err);
}
