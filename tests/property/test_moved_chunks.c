/* SPDX-License-Identifier: BSD-3-Clause
 * Blosc chunks of files in random forms go into files of bloscpack and folders of bcolz as they are
 * stored. One byte of a
 * chunk is wrong now and then, which shows that nothing was decoded. */
#include "moved_testing.h"

#include <stdio.h>
#include <string.h>

#include "support/effort.h"
#include "support/temp_folder.h"

enum { SAMPLE = 400, ALL = 20000 };

/* The array, and how the source has it. */
typedef struct subject {
    cip_kind kind;
    const char *descr;
    int64_t shape[2];
    size_t item, row, nbytes;
    uint8_t elems[MOST];
    size_t each;   /* decoded bytes of a chunk */
    bool folder;   /* of bcolz; otherwise a bloscpack file */
    size_t hidden; /* rows behind those that the folder's shape says */
    bool damaged;
    cip_memory *made, *source;
    cip_file *f;
} subject;

static const char *const codecs[] = { "blosclz", "lz4", "lz4hc", "zlib", "none" };
static const char *const filters[] = { "filter=none", "filter=shuffle", "filter=bitshuffle" };
static const char *const sums[] = { "none", "adler32", "crc32", "md5", "sha256" };

/* --- the source ------------------------------------------------------------------------------- */

static void pick_array(subject *s)
{
    static const struct {
        cip_kind kind;
        const char *descr;
        size_t item;
    } types[] = { { CIP_U8, "uint8", 1 },
                  { CIP_I16, "int16", 2 },
                  { CIP_F32, "float32", 4 },
                  { CIP_I64, "int64", 8 } };
    const size_t t = draw(sizeof types / sizeof *types), top = 1 + draw(200);
    memset(s, 0, sizeof *s);
    s->kind = types[t].kind;
    s->descr = types[t].descr;
    s->item = types[t].item;
    s->shape[0] = (int64_t)(2 + draw(200));
    s->shape[1] = (int64_t)(1 + draw(8));
    s->row = s->item * (size_t)s->shape[1];
    s->nbytes = s->row * (size_t)s->shape[0];
    for (size_t i = 0; i < s->nbytes; i++)
        s->elems[i] = (uint8_t)(draw(3) == 0 ? draw(top) : i % 5);
}

static void write_file(subject *s)
{
    char size[40], codec[20];
    cip_err err = CIP_ERR_INIT;
    cip_change *w;
    snprintf(codec, sizeof codec, "%s:%zu", codecs[draw(5)], 1 + draw(9));
    s->folder = draw(2) == 0;
    s->damaged = draw(2) == 0;
    s->each = (1 + draw(80)) * (s->folder ? s->row : s->item);
    snprintf(size, sizeof size, "chunk_size=%zu", s->each);
    must(cip_create_memory("bloscpack",
                           CIP_CHANGE_OPTIONS(.codec = codec, .byteorder = "little",
                                              .checksum = s->damaged ? "none" : sums[draw(5)],
                                              .format_options = CIP_TEXTS(
                                                  size, filters[draw(3)],
                                                  draw(2) == 0 ? "offsets=no" : "offsets=yes")),
                           &s->made, &w, &err),
         &err);
    must(cip_change_put(w, "", cip_dtype_of(s->kind), 2, s->shape, s->elems, NULL, &err), &err);
    must(cip_change_commit(&w, &err), &err);
    must(cip_memory_open(s->made, NULL, &s->f, &err), &err); /* its bytes as they are stored */
    must(cip_read(cip_find(s->f, "", &err), NULL, cip_dtype_as_stored(), s->elems, s->nbytes, &err),
         &err);
    cip_file_close(s->f);
}

/* One byte in the data of a chunk that is not the last, if there are several. */
static void damage(subject *s)
{
    cip_err err = CIP_ERR_INIT;
    cip_chunk_info c = { .size = sizeof c };
    cip_file *f;
    uint64_t n;
    size_t len;
    static uint8_t bytes[1 << 20];
    must(cip_memory_open(s->made, NULL, &f, &err), &err);
    must(cip_chunk_count(cip_find(f, "", &err), &n, &err), &err);
    must(cip_chunk_at(cip_find(f, "", &err), draw(n > 1 ? (size_t)n - 1 : 1), &c, &err), &err);
    const void *all = cip_memory_bytes(s->made, &len);
    assert_true(len <= sizeof bytes);
    memcpy(bytes, all, len);
    bytes[c.offset + c.stored_nbytes - 1] ^= 0x55;
    cip_file_close(f);
    cip_memory_free(s->made);
    must(cip_memory_new(bytes, len, &s->made, &err), &err);
}

static void add_text(cip_memory *m, const char *name, const char *text)
{
    cip_err err = CIP_ERR_INIT;
    must(cip_memory_add(m, name, text, strlen(text), &err), &err);
}

static void add_meta(const subject *s)
{
    char text[200];
    const long long rows = (long long)(s->shape[0] - (int64_t)s->hidden);
    snprintf(text, sizeof text, "{\"shape\": [%lld, %lld], \"nbytes\": %lld, \"cbytes\": 0}\n",
             rows, (long long)s->shape[1], rows * (long long)s->row);
    add_text(s->source, "meta/sizes", text);
    snprintf(
        text, sizeof text,
        "{\"dtype\": \"%s\", \"cparams\": {\"clevel\": 5, \"shuffle\": true}, \"chunklen\": %zu, "
        "\"expectedlen\": 9, \"dflt\": 0}\n",
        s->descr, s->each / s->row);
    add_text(s->source, "meta/storage", text);
    add_text(s->source, "__attrs__", "{}\n");
}

/* The file's chunks as a folder of bcolz: one in each file, behind 16 bytes. */
static void make_folder(subject *s)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    uint64_t n;
    must(cip_memory_new(NULL, 0, &s->source, &err), &err);
    must(cip_memory_open(s->made, NULL, &f, &err), &err);
    const cip_array *a = cip_find(f, "", &err);
    must(cip_chunk_count(a, &n, &err), &err);
    if (s->nbytes % s->each > s->row && (!s->damaged || n > 1) && draw(2) == 0)
        s->hidden = 1;
    for (uint64_t i = 0; i < n; i++) {
        uint8_t bytes[16 + MOST + 32] = "blpk\1\0\0\0\1";
        char name[40];
        size_t len;
        must(cip_chunk_read(a, i, true, bytes + 16, sizeof bytes - 16, &len, &err), &err);
        snprintf(name, sizeof name, "data/__%llu.blp", (unsigned long long)i);
        must(cip_memory_add(s->source, name, bytes, 16 + len, &err), &err);
    }
    add_meta(s);
    s->shape[0] -= (int64_t)s->hidden;
    s->nbytes -= s->hidden * s->row;
    cip_file_close(f);
}

static void begin(subject *s)
{
    cip_err err = CIP_ERR_INIT;
    drawn = now;
    pick_array(s);
    write_file(s);
    if (s->damaged)
        damage(s);
    if (s->folder)
        make_folder(s);
    must(cip_memory_open(s->folder ? s->source : s->made, NULL, &s->f, &err), &err);
}

static void end(subject *s)
{
    cip_file_close(s->f);
    cip_memory_free(s->source);
    cip_memory_free(s->made);
}

/* --- the output ------------------------------------------------------------------------------- */

static void same_elements(const subject *s, const cip_file *f)
{
    static uint8_t back[MOST];
    cip_err err = CIP_ERR_INIT;
    must(cip_read(cip_find(f, "", &err), NULL, cip_dtype_as_stored(), back, s->nbytes, &err), &err);
    if (memcmp(back, s->elems, s->nbytes) != 0)
        fail_msg("seed %llu: other elements", (unsigned long long)now);
}

static void look(const subject *s, const char *path, bool moved)
{
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    must(cip_open(path, NULL, &f, &err), &err);
    if (moved)
        same_stored(s->f, f, s->hidden != 0); /* whose last chunk holds more than the array */
    if (!s->damaged) {
        same_elements(s, f);
        must(
            cip_verify_file(f, CIP_VERIFY_OPTIONS(.deep = true, .on_finding = print_finding), &err),
            &err);
    }
    cip_file_close(f);
}

static void try_one(const scratch *dir)
{
    static subject s;
    char size[40], codec[20], path[512];
    cip_err err = CIP_ERR_INIT;
    begin(&s);
    const size_t want = draw(3); /* which chunks: the source's, those asked for, any */
    const bool recode = draw(4) == 0, folder = draw(3) == 0;
    if (folder)
        snprintf(size, sizeof size, "chunklen=%zu",
                 want == 1 ? (s.each + s.row - 1) / s.row : 1 + draw(90));
    else
        snprintf(size, sizeof size, "chunk_size=%zu",
                 want == 1 ? s.each : s.item * (1 + draw(400)));
    snprintf(codec, sizeof codec, "lz4:%zu", 1 + draw(9));
    snprintf(path, sizeof path, "%s/out.%s", dir->dir, folder ? "bcolz" : "blp");
    cip_convert_options o = { .size = sizeof o, .overwrite = true, .level = CIP_LEVEL_PROCESS };
    o.accept_loss = s.hidden != 0; /* rows that meta/sizes does not have */
    o.checksum = folder ? NULL : sums[draw(5)];
    o.codec = recode ? codec : NULL;
    o.format_options = want != 0 ? CIP_TEXTS(size) : NULL;
    const bool moved = want != 2 && !recode && (!folder || s.each % s.row == 0);
    cip_status st = cip_convert_file(s.f, path, &o, &err);
    if (moved || !s.damaged)
        must(st, &err);
    if (st == CIP_OK)
        look(&s, path, moved);
    end(&s);
}

static void blosc_chunks_move_as_they_are_stored(void **state)
{
    scratch dir;
    const uint64_t first = test_seed(), n = test_full() ? ALL : SAMPLE;
    (void)state;
    assert_true(scratch_open(&dir));
    for (now = first; now < first + n; now++)
        try_one(&dir);
    scratch_close(&dir);
}

/* In a block of ASDF they become one. */
static void try_joined(const scratch *dir)
{
    static subject s;
    char path[512];
    cip_err err = CIP_ERR_INIT;
    cip_file *f;
    begin(&s);
    snprintf(path, sizeof path, "%s/out.asdf", dir->dir);
    cip_convert_options o = { .size = sizeof o, .overwrite = true, .level = CIP_LEVEL_PROCESS };
    o.codec = "blsc";
    o.accept_loss = true;
    const cip_status st = cip_convert_file(s.f, path, &o, &err);
    if (!s.damaged) {
        must(st, &err);
        must(cip_open(path, NULL, &f, &err), &err);
        static uint8_t back[MOST];
        must(cip_read(cip_file_array(f, 0), NULL, cip_dtype_of(s.kind), back, s.nbytes, &err),
             &err);
        if (memcmp(back, s.elems, s.nbytes) != 0)
            fail_msg("seed %llu: other elements", (unsigned long long)now);
        must(
            cip_verify_file(f, CIP_VERIFY_OPTIONS(.deep = true, .on_finding = print_finding), &err),
            &err);
        cip_file_close(f);
    }
    end(&s);
}

static void blosc_chunks_become_one(void **state)
{
    scratch dir;
    const uint64_t first = test_seed(), n = test_full() ? ALL : SAMPLE;
    (void)state;
    assert_true(scratch_open(&dir));
    for (now = first; now < first + n; now++)
        try_joined(&dir);
    scratch_close(&dir);
}

/* --- into the midst of an array --------------------------------------------------------------- */

enum { EACH = 16, CHUNKS = 9 }; /* elements of a chunk, and chunks */

static cip_memory *write_chunks(const char *codec, const int64_t *elems, int64_t n)
{
    cip_err err = CIP_ERR_INIT;
    cip_memory *m;
    cip_change *w;
    must(cip_create_memory(
             "bloscpack",
             CIP_CHANGE_OPTIONS(.codec = codec, .format_options = CIP_TEXTS("chunk_size=128")), &m,
             &w, &err),
         &err);
    must(cip_change_put(w, "", cip_dtype_of(CIP_I64), 1, &n, elems, NULL, &err), &err);
    must(cip_change_commit(&w, &err), &err);
    return m;
}

/* Elements [lo, hi) become those of the other file; *c is the chunk behind lo then. */
static void put_other(int64_t *elems, const int64_t *other, int64_t lo, int64_t hi,
                      cip_chunk_info *c)
{
    int64_t back[EACH * CHUNKS];
    char box[60];
    cip_err err = CIP_ERR_INIT;
    cip_memory *into = write_chunks("zlib", elems, EACH * CHUNKS),
               *from = write_chunks("lz4", other, hi - lo);
    cip_file *f;
    cip_change *e;
    snprintf(box, sizeof box, "[%lld:%lld]", (long long)lo, (long long)hi);
    must(cip_change_open_memory(into, NULL, &e, &err), &err);
    must(cip_memory_open(from, NULL, &f, &err), &err);
    must(cip_change_write_array(e, "", box, cip_find(f, "", &err), &err), &err);
    must(cip_change_commit(&e, &err), &err);
    cip_file_close(f);
    must(cip_memory_open(into, NULL, &f, &err), &err);
    memcpy(elems + lo, other, (size_t)(hi - lo) * sizeof *elems);
    must(cip_read(cip_find(f, "", &err), NULL, cip_dtype_of(CIP_I64), back, sizeof back, &err),
         &err);
    assert_memory_equal(back, elems, sizeof back);
    must(cip_chunk_at(cip_find(f, "", &err), (uint64_t)(lo / EACH), c, &err), &err);
    cip_file_close(f);
    cip_memory_free(into);
    cip_memory_free(from);
}

static void chunks_take_the_places_of_others_as_they_are_stored(void **state)
{
    static const struct {
        int64_t lo, hi;
        bool moved;
    } boxes[] = { { 0, 3 * EACH, true },
                  { 2 * EACH, 5 * EACH, true },
                  { 7 * EACH, 8 * EACH, true },
                  { 6 * EACH, 9 * EACH, true },
                  { 2 * EACH, 5 * EACH - 1, false },
                  { 2 * EACH + 1, 5 * EACH + 1, false } };
    int64_t elems[EACH * CHUNKS], other[EACH * CHUNKS];
    (void)state;
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++) {
        for (int64_t k = 0; k < EACH * CHUNKS; k++) {
            elems[k] = k / 3;
            other[k] = -k / 5;
        }
        cip_chunk_info c = { .size = sizeof c };
        put_other(elems, other, boxes[i].lo, boxes[i].hi, &c);
        assert_string_equal(c.codec, boxes[i].moved ? "lz4" : "zlib");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blosc_chunks_move_as_they_are_stored),
        cmocka_unit_test(blosc_chunks_become_one),
        cmocka_unit_test(chunks_take_the_places_of_others_as_they_are_stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
