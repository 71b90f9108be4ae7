/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a store that is changed twice: the first two say how. Elements and rows of the only
 * array; attributes, and arrays that come, go and move. What the change left must open, and say
 * what was set. The store is a folder (zarr_fuzz_testing.h), or an archive if the bytes begin like
 * one. */
#include "support/format/zarr/zarr_fuzz_testing.h"
#include "support/fuzz_update.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static cip_memory *store_of(const uint8_t *data, size_t size)
{
    bool used[NFILE] = { false };
    cip_memory *m;
    const bool zip = size >= 4 && memcmp(data, "PK\3\4", 4) == 0;
    if (cip_memory_new(data, zip ? size : 0, &m, NULL) != CIP_OK)
        return NULL;
    while (!zip && size >= 3) {
        const size_t k = data[0] % NFILE;
        size_t n = (size_t)data[1] << 8 | data[2];
        n = n < size - 3 ? n : size - 3;
        if (!used[k] && cip_memory_add(m, zarr_fuzz_files[k], data + 3, n, NULL) != CIP_OK)
            abort();
        used[k] = true;
        data += 3 + n;
        size -= 3 + n;
    }
    return m;
}

static const int32_t numbers[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };

/* What is done at a path; *sets: a number is there afterwards, *puts: `numbers` are. */
static cip_status change_at(cip_change *e, unsigned how, const char **path, bool *sets, bool *puts)
{
    static const char *const attribute[] = { "k", "attrs/a/k/l", "g/k", "attributes/k" };
    static const char *const member[] = { "n/x", "a", "g/b", "g/y" };
    const int64_t shape[] = { 4, 3 };
    const unsigned what = how % 4;
    const char *at = attribute[how / 4 % 4];
    *path = what < 2 ? at : member[how / 4 % 4];
    *sets = what == 0;
    *puts = what == 3;
    if (what == 0)
        return cip_change_set_int(e, at, 42, NULL);
    if (what == 1)
        return cip_change_remove(e, at, NULL);
    if (what == 2 && how / 16 % 2 != 0)
        return cip_change_move(e, *path, "m/x", false, NULL);
    if (what == 2)
        return cip_change_remove(e, *path, NULL);
    return cip_change_put(e, *path, cip_dtype_of(CIP_I32), 2, shape, numbers,
                          CIP_ARRAY_OPTIONS(.replace = how / 16 % 2 != 0), NULL);
}

static void look(cip_memory *m, const char *path, bool sets, bool puts)
{
    const cip_open_options o = { .size = sizeof o, .limits = fuzz_limits(), .threads = 1 };
    int32_t got[12];
    cip_file *f;
    if (cip_memory_open(m, &o, &f, NULL) != CIP_OK)
        abort();
    int64_t v = 0;
    const cip_node *n = cip_tree_get(cip_file_tree(f), path, NULL);
    if (sets && (cip_tree_get_int(cip_file_tree(f), path, &v, NULL) != CIP_OK || v != 42))
        abort();
    const cip_array *a = cip_find(f, path, NULL);
    if (puts &&
        (a == NULL || cip_read(a, NULL, cip_dtype_of(CIP_I32), got, sizeof got, NULL) != CIP_OK ||
         memcmp(got, numbers, sizeof got) != 0))
        abort();
    if (!sets && !puts && (n != NULL || a != NULL))
        abort(); /* it was removed */
    cip_file_close(f);
}

/* False: no more can be done. */
static bool change_tree(cip_memory *m, unsigned how)
{
    const cip_open_options open = { .size = sizeof open, .limits = fuzz_limits(), .threads = 1 };
    const cip_change_options o = { .size = sizeof o, .open = &open };
    const char *path;
    bool sets, puts;
    cip_change *e;
    if (cip_change_open_memory(m, &o, &e, NULL) != CIP_OK)
        return false;
    cip_status st = change_at(e, how, &path, &sets, &puts);
    if (st != CIP_OK || cip_change_commit(&e, NULL) != CIP_OK) {
        cip_change_abort(&e);
        return false;
    }
    look(m, path, sets, puts);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_fills = true;
    cip_memory *m = size >= 2 ? store_of(data + 2, size - 2) : NULL;
    for (int i = 0; m != NULL && i < 2; i++)
        if (!(data[i] < 0xC0 ? fuzz_update(m, "zarr", data[i]) : change_tree(m, data[i] & 0x3f)))
            break;
    cip_memory_free(m);
    return 0;
}
