/* SPDX-License-Identifier: BSD-3-Clause
 * A program that may have been compiled against headers of another version than the library's: each
 * struct with a size is used. With -DFUTURE=1 the headers are a later version's, and one field that
 * the library does not know is set. */
#include <cippus/cippus.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 1000 };
static cip_err err = CIP_ERR_INIT;

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "any_version: %s: %s\n", what, err.text);
    exit(1);
}

#define OK(call) need((call) == CIP_OK, #call)

static void writes(const int32_t *values)
{
    static const int64_t shape[] = { N };
    cip_array_options array = { .size = sizeof array, .codec = "zlib" };
    cip_change_options how = { .size = sizeof how, .overwrite = true };
    cip_change *w;
    OK(cip_create("a.asdf", &how, &w, &err));
    OK(cip_change_set_string(w, "name", "first", &err));
    OK(cip_change_put(w, "a", cip_dtype_of(CIP_I32), 1, shape, values, &array, &err));
    OK(cip_change_commit(&w, &err));
}

static void reads(const int32_t *values)
{
    cip_limits limits = { .size = sizeof limits, .max_memory = 1 << 28 };
    cip_open_options how = { .size = sizeof how, .limits = &limits, .threads = 1 };
    int32_t got[10] = { 0 };
    cip_read_args args = {
        .size = sizeof args, .selection = "[500:510]", .dst = got, .dst_nbytes = sizeof got
    };
    cip_array_storage storage = { .size = sizeof storage };
    cip_stats stats = { .size = sizeof stats };
    cip_chunk_info chunk = { .size = sizeof chunk };
    cip_file *f;
    OK(cip_open("a.asdf", &how, &f, &err));
    const cip_array *a = cip_find(f, "a", &err);
    need(a != NULL, "cip_find");
    OK(cip_read_into(a, &args, &err));
    need(memcmp(got, values + 500, sizeof got) == 0, "elements");
    OK(cip_array_get_storage(a, &storage, &err));
    need(strcmp(storage.codec, "zlib") == 0, "storage");
    OK(cip_stat(a, NULL, &stats, &err));
    need(stats.nelem == N && stats.min == 0, "statistics");
    OK(cip_chunk_at(a, 0, &chunk, &err));
    need(chunk.nelem == N, "chunk");
    cip_file_close(f);
}

static void changes(void)
{
    cip_change_options how = { .size = sizeof how, .level = CIP_LEVEL_PROCESS };
    cip_recover_info info = { .size = sizeof info, .state = -1 };
    cip_change *e;
    OK(cip_change_open("a.asdf", &how, &e, &err));
    OK(cip_change_set_string(e, "name", "second", &err));
    OK(cip_change_commit(&e, &err));
    OK(cip_recover("a.asdf", CIP_RECOVER_LOOK, &info, &err));
    need(info.state == 0, "recover");
}

static void copies(void)
{
    cip_convert_options how = { .size = sizeof how, .overwrite = true, .accept_loss = true };
    cip_repair_options repair = { .size = sizeof repair, .overwrite = true };
    cip_explode_options explode = { .size = sizeof explode, .overwrite = true };
    cip_verify_options verify = { .size = sizeof verify, .deep = true };
    OK(cip_convert("a.asdf", "b.b2nd", &how, &err));
    OK(cip_verify("b.b2nd", &verify, &err));
    OK(cip_repair("b.b2nd", "c.b2nd", &repair, &err));
    OK(cip_explode("a.asdf", "d.asdf", &explode, &err));
}

static void packs(const int32_t *values)
{
    cip_blosc_params how = { .size = sizeof how, .codec = "lz4", .typesize = sizeof *values };
    cip_blosc_chunk_info info = { .size = sizeof info };
    char chunk[N * sizeof *values + 1024];
    size_t n;
    cip_blosc *b = cip_blosc_new(&how, &err);
    need(b != NULL, "cip_blosc_new");
    OK(cip_blosc_compress(b, values, N * sizeof *values, chunk, sizeof chunk, &n, &err));
    OK(cip_blosc_info(chunk, n, &info, &err));
    need(info.nbytes == N * sizeof *values, "chunk's header");
    cip_blosc_free(b);
}

int main(void)
{
    int32_t values[N];
    for (int i = 0; i < N; i++)
        values[i] = i;
    writes(values);
    reads(values);
    changes();
    copies();
    packs(values);
#ifdef FUTURE
    cip_open_options how = { .size = sizeof how, .future = { 1 } };
    cip_file *f;
    need(cip_open("a.asdf", &how, &f, &err) == CIP_ERR_UNSUPPORTED, "a field of the future");
#endif
    return 0;
}
