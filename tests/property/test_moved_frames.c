/* SPDX-License-Identifier: BSD-3-Clause
 * Frames of Blosc2 in random shapes, chunks, blocks, codecs and filters, in a file or a folder, go
 * into others: chunks as they are stored, where nothing else is asked for. */
#include "moved_testing.h"

#include <stdio.h>
#include <string.h>

#include "support/effort.h"
#include "support/temp_folder.h"

enum { SAMPLE = 300, ALL = 10000, DIMS = 5 };

typedef struct frame {
    cip_kind kind;
    size_t nbytes;
    int ndim;
    int64_t shape[DIMS];
    uint8_t elems[MOST];
    char chunks[100], blocks[100], filter[40], split[20], codec[20];
    bool sparse;
    cip_memory *memory;
    cip_file *f;
} frame;

/* Small numbers in runs, so that there are chunks of one value, too. */
static void pick_array(frame *t)
{
    static const struct {
        cip_kind kind;
        size_t item;
    } types[] = { { CIP_U8, 1 }, { CIP_I16, 2 }, { CIP_F32, 4 }, { CIP_F64, 8 } };
    static const size_t longest[DIMS + 1] = { 1, 1500, 38, 11, 6, 4 };
    const size_t k = draw(4);
    memset(t, 0, sizeof *t);
    t->kind = types[k].kind;
    t->nbytes = types[k].item;
    t->ndim = (int)draw(DIMS + 1);
    for (int i = 0; i < t->ndim; i++) {
        t->shape[i] = (int64_t)(1 + draw(longest[t->ndim]));
        t->nbytes *= (size_t)t->shape[i];
    }
    assert_true(t->nbytes <= MOST);
    const size_t flat = draw(t->nbytes + 1), top = 1 + draw(60);
    for (size_t i = flat; i < t->nbytes; i++)
        t->elems[i] = (uint8_t)(draw(3) == 0 ? draw(top) : i % 5);
}

static void pick_form(frame *t)
{
    static const char *const codecs[] = { "blosclz:5", "lz4:1", "lz4hc:9", "zlib:3", "none" };
    static const char *const filters[] = { "none",  "shuffle",           "bitshuffle",
                                           "delta", "shuffle+bytedelta", "delta+bitshuffle" };
    static const char *const splits[] = { "auto", "always", "never" };
    size_t c = (size_t)snprintf(t->chunks, sizeof t->chunks, "chunks=");
    size_t b = (size_t)snprintf(t->blocks, sizeof t->blocks, "blocks=");
    for (int i = 0; i < t->ndim; i++) {
        const size_t chunk = 1 + draw((size_t)t->shape[i] + 2), block = 1 + draw(chunk);
        const char *comma = i == 0 ? "" : ",";
        c += (size_t)snprintf(t->chunks + c, sizeof t->chunks - c, "%s%zu", comma, chunk);
        b += (size_t)snprintf(t->blocks + b, sizeof t->blocks - b, "%s%zu", comma, block);
    }
    snprintf(t->codec, sizeof t->codec, "%s", codecs[draw(5)]);
    snprintf(t->filter, sizeof t->filter, "filter=%s", filters[draw(6)]);
    snprintf(t->split, sizeof t->split, "split=%s", splits[draw(3)]);
    t->sparse = draw(2) == 0;
}

static void make(frame *t)
{
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    pick_array(t);
    pick_form(t);
    must(cip_create_memory("blosc2",
                           CIP_CHANGE_OPTIONS(.codec = t->codec, .byteorder = "little",
                                              .format_options = CIP_TEXTS(
                                                  t->chunks, t->blocks, t->filter, t->split,
                                                  t->sparse ? "sparse=yes" : "sparse=no")),
                           &t->memory, &w, &err),
         &err);
    must(cip_change_put(w, "", cip_dtype_of(t->kind), t->ndim, t->shape, t->elems, NULL, &err),
         &err);
    must(cip_change_commit(&w, &err), &err);
    must(cip_memory_open(t->memory, NULL, &t->f, &err), &err);
}

static void same_elements(const frame *t, const cip_file *f)
{
    static uint8_t back[MOST];
    cip_err err = CIP_ERR_INIT;
    must(cip_read(cip_find(f, "", &err), NULL, cip_dtype_of(t->kind), back, t->nbytes, &err), &err);
    if (memcmp(back, t->elems, t->nbytes) != 0)
        fail_msg("seed %llu: other elements", (unsigned long long)now);
}

static void try_one(const scratch *dir)
{
    static frame t, other;
    char path[512];
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    drawn = now;
    make(&t);
    same_elements(&t, t.f);
    const bool sparse = draw(2) == 0, recode = draw(3) == 0, cut = draw(3) == 0;
    other = t;
    pick_form(&other);
    snprintf(path, sizeof path, "%s/%s.b2nd", dir->dir, sparse ? "folder" : "file");
    cip_convert_options o = { .size = sizeof o, .overwrite = true, .level = CIP_LEVEL_PROCESS };
    o.codec = recode ? other.codec : NULL;
    o.format_options =
        cut      ? CIP_TEXTS(other.chunks, other.blocks, sparse ? "sparse=yes" : "sparse=no")
        : sparse ? CIP_TEXTS("sparse=yes")
                 : NULL;
    must(cip_convert_file(t.f, path, &o, &err), &err);
    must(cip_open(path, NULL, &f, &err), &err);
    same_elements(&t, f);
    if (!recode && !cut)
        same_stored(t.f, f, 0);
    must(cip_verify_file(f, CIP_VERIFY_OPTIONS(.deep = true, .on_finding = print_finding), &err),
         &err);
    cip_file_close(f);
    cip_file_close(t.f);
    cip_memory_free(t.memory);
}

static void frames_move_as_they_are_stored(void **state)
{
    scratch dir;
    const uint64_t first = test_seed(), n = test_full() ? ALL : SAMPLE;
    (void)state;
    assert_true(scratch_open(&dir));
    for (now = first; now < first + n; now++)
        try_one(&dir);
    scratch_close(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(frames_move_as_they_are_stored) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
