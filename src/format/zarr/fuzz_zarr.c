/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a store: open, read, verify. */
#include "format/zarr/zarr.h"
#include "support/format/zarr/zarr_fuzz_testing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use(cip_env *env, cip_layout *l)
{
    const cip_read_how how = { l, NULL };
    cip_report report;
    cip_err err = CIP_ERR_INIT;
    uint8_t some[256];
    for (size_t i = 0; i < l->narray; i++) {
        cip_space *s = l->array[i]->st == CIP_OK ? l->array[i]->space : NULL;
        for (uint64_t at = 0; s != NULL && at < s->len && at < 8 * sizeof some; at += sizeof some)
            cip_space_read_at(&how, s, at, some,
                              s->len - at < sizeof some ? (size_t)(s->len - at) : sizeof some,
                              &err);
    }
    cip_report_init(&report, &env->mem, true, NULL, NULL);
    cip_format_zarr.verify(l, 1, &report, &err);
    cip_report_clear(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cip_limits small = { .size = sizeof small, .max_memory = 16 << 20 };
    cip_err err = CIP_ERR_INIT;
    cip_env env;
    cip_io *io;
    cip_layout *l;
    zarr_fuzz_make();
    zarr_fuzz_write(data, size);
    if (cip_env_init(&env, &small, NULL, NULL, NULL) != CIP_OK ||
        cip_io_open_path(&env, zarr_fuzz_dir.dir, &io, &err) != CIP_OK ||
        cip_layout_new(&env, io, &l, &err) != CIP_OK)
        abort();
    cip_format_zarr.probe(io, (cip_bytes){ NULL, 0 });
    if (cip_format_zarr.open(l, &err) == CIP_OK)
        use(&env, l);
    cip_layout_free(l);
    cip_io_close(io);
    cip_env_clear(&env);
    return 0;
}
