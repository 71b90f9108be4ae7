/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a sparse frame. The first two bytes say how long the index is (big-endian), the next
 * one how long each chunk file is at most; chunk files follow the index one behind the other. */
#include "support/format/blosc2/b2_testing.h"
#include "support/one_format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct chunk_files {
    cip_bytes all;
    size_t each;
} chunk_files;

static bool file_of(void *user, uint32_t number, cip_bytes *out)
{
    const chunk_files *f = user;
    size_t at = (size_t)number * f->each;
    if (f->each == 0 || at >= f->all.len)
        return false;
    size_t left = f->all.len - at;
    *out = (cip_bytes){ f->all.ptr + at, left < f->each ? left : f->each };
    return true;
}

static void use(cip_env *env, cip_layout *l)
{
    cip_report report;
    cip_err err = CIP_ERR_INIT;
    uint8_t some[256];
    const cip_read_how how = { l, NULL };
    uint64_t len = l->array[0]->space->len;
    for (uint64_t at = 0; at < len && at < 8 * sizeof some; at += sizeof some)
        cip_space_read_at(&how, l->array[0]->space, at, some,
                          len - at < sizeof some ? (size_t)(len - at) : sizeof some, &err);
    cip_report_init(&report, &env->mem, true, NULL, NULL);
    cip_format_blosc2.verify(l, 1, &report, &err);
    cip_report_clear(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cip_limits small = { .size = sizeof small, .max_memory = 16 << 20 };
    cip_err err = CIP_ERR_INIT;
    cip_env env;
    cip_layout *l;
    if (size < 3)
        return 0;
    size_t n = (size_t)data[0] << 8 | data[1];
    if (n > size - 3)
        n = size - 3;
    chunk_files files = { { data + 3 + n, size - 3 - n }, data[2] };
    b2_folder folder = { .index = { data + 3, n }, .file = file_of, .user = &files };
    if (cip_env_init(&env, &small, NULL, NULL, NULL) != CIP_OK)
        abort();
    if (cip_layout_new(&env, b2_folder_init(&folder, &env), &l, &err) != CIP_OK)
        abort();
    if (cip_format_blosc2.open(l, &err) == CIP_OK)
        use(&env, l);
    cip_layout_free(l);
    cip_env_clear(&env);
    return 0;
}
