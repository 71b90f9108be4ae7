/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a folder: files one behind the other, each a byte that says which, its length in two
 * bytes (big-endian), and its bytes. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "format/blz/blz.h"
#include "support/temp_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const folders[] = { "meta", "data", "data/x", "a", "a/meta", "a/data" };
static const char *const files[] = {
    "meta/storage", "meta/sizes",     "__attrs__",      "__rootdirs__",     "data/__0.blp",
    "data/__1.blp", "a/meta/sizes",   "a/meta/storage", "a/data/__0.blp",   "meta/attributes",
    "meta/other",   "data/__1__.bin", "data/__2__.bin", "data/x/__1__.bin",
};
enum { NFILE = sizeof files / sizeof files[0] };

static scratch dir;

static void remove_folder(void)
{
    scratch_close(&dir);
}

static void make_folder(void)
{
    if (dir.dir[0] != '\0')
        return;
    if (!scratch_open(&dir))
        abort();
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++)
        mkdir(scratch_path(&dir, folders[i]), 0755);
    atexit(remove_folder);
}

static void write_files(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < NFILE; i++)
        unlink(scratch_path(&dir, files[i]));
    while (size >= 3) {
        size_t n = (size_t)data[1] << 8 | data[2];
        n = n < size - 3 ? n : size - 3;
        scratch_write(&dir, files[data[0] % NFILE], data + 3, n);
        data += 3 + n;
        size -= 3 + n;
    }
}

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
    l->list_blocks(l, &err);
    cip_report_init(&report, &env->mem, true, NULL, NULL);
    cip_format_blz.verify(l, 1, &report, &err);
    cip_report_clear(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cip_limits small = { .size = sizeof small, .max_memory = 16 << 20 };
    cip_err err = CIP_ERR_INIT;
    cip_env env;
    cip_io *io;
    cip_layout *l;
    make_folder();
    write_files(data, size);
    if (cip_env_init(&env, &small, NULL, NULL, NULL) != CIP_OK ||
        cip_io_open_path(&env, dir.dir, &io, &err) != CIP_OK ||
        cip_layout_new(&env, io, &l, &err) != CIP_OK)
        abort();
    cip_format_blz.probe(io, (cip_bytes){ NULL, 0 });
    if (cip_format_blz.open(l, &err) == CIP_OK)
        use(&env, l);
    cip_layout_free(l);
    cip_io_close(io);
    cip_env_clear(&env);
    return 0;
}
