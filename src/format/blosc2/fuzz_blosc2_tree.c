/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a contiguous frame whose metalayers change, and which loses its unused bytes: the
 * first byte says how. What could be read of the elements before is read afterwards. */
#include "support/fuzz_update.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cip_status change(cip_change *e, unsigned how)
{
    static const char *const path[] = { "vlmeta/a", "vlmeta/a/b", "meta/a", "vlmeta/info/0" };
    cip_status st = cip_change_set_string(e, path[how & 3], "a value", NULL);
    if (st == CIP_OK && (how & 4) != 0)
        st = cip_change_move(e, path[how & 3], "meta/moved", true, NULL);
    if (st == CIP_OK && (how & 8) != 0)
        st = cip_change_remove(e, (how & 16) != 0 ? "vlmeta" : path[how & 3], NULL);
    if (st == CIP_OK && (how & 32) != 0)
        st = cip_change_defrag(e, NULL, NULL, NULL);
    return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_array was = { .elems = malloc(2 * FUZZ_NBYTES) },
               now = { .elems = malloc(2 * FUZZ_NBYTES) };
    cip_memory *m = NULL;
    cip_change *e;
    bool fits;
    const cip_open_options open = { .size = sizeof open, .limits = fuzz_limits(), .threads = 1 };
    const cip_change_options o = { .size = sizeof o, .open = &open };
    const bool made = was.elems != NULL && now.elems != NULL && size > 1 &&
                      cip_memory_new(data + 1, size - 1, &m, NULL) == CIP_OK;
    const char *format = made ? fuzz_look(m, FUZZ_NBYTES, &was, &fits) : NULL;
    if (format != NULL && strcmp(format, "blosc2") == 0 &&
        cip_change_open_memory(m, &o, &e, NULL) == CIP_OK) {
        cip_status st = change(e, data[0]);
        const bool ended = st == CIP_OK && (st = cip_change_commit(&e, NULL)) != CIP_ERR_BUSY;
        if (!ended)
            cip_change_abort(&e);
        if (ended && st == CIP_OK) {
            if (fuzz_look(m, 2 * FUZZ_NBYTES, &now, &fits) == NULL || (was.known && !now.known) ||
                (was.known && memcmp(was.elems, now.elems, was.row * was.rows) != 0))
                abort();
        }
    }
    cip_memory_free(m);
    free(was.elems);
    free(now.elems);
    return 0;
}
