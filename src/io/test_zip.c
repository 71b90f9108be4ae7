/* SPDX-License-Identifier: BSD-3-Clause
 * Directories of zip archives: what is found, and every contradiction that is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/endian.h"
#include "io/zip.h"
#include "support/each_request.h"
#include "support/own_env.h"

/* --- archives made by hand -------------------------------------------------------------------- */

enum { CRC = 0x3610a686 /* of "hello" */ };

static uint8_t made[1024];
static size_t nmade;

static void put(uint64_t v, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        made[nmade++] = (uint8_t)(v >> 8 * i);
}

static void put_text(const char *s, size_t n)
{
    memcpy(made + nmade, s, n);
    nmade += n;
}

typedef struct entry {
    const char *name, *extra;
    uint64_t size, stored, at;
    uint32_t crc;
    uint16_t flags, method, nname, nextra;
} entry;

static uint64_t put_header(const entry *e, const char *data, size_t n)
{
    const uint64_t at = nmade;
    put(0x04034b50, 4), put(20, 2), put(e->flags, 2), put(e->method, 2), put(0x00210000, 4);
    put(e->crc, 4), put(e->stored, 4), put(e->size, 4), put(e->nname, 2), put(e->nextra, 2);
    put_text(e->name, e->nname);
    put_text(e->extra, e->nextra);
    put_text(data, n);
    return at;
}

static void put_entry(const entry *e)
{
    put(0x02014b50, 4), put(20, 2), put(20, 2), put(e->flags, 2), put(e->method, 2);
    put(0x00210000, 4), put(e->crc, 4), put(e->stored, 4), put(e->size, 4), put(e->nname, 2);
    put(e->nextra, 2), put(0, 2), put(0, 2), put(0, 2), put(0, 4), put(e->at, 4);
    put_text(e->name, e->nname);
    put_text(e->extra, e->nextra);
}

static void put_end(uint64_t n, uint64_t len, uint64_t off)
{
    put(0x06054b50, 4), put(0, 4), put(n, 2), put(n, 2), put(len, 4), put(off, 4), put(0, 2);
}

static void put_end64(uint64_t n, uint64_t len, uint64_t off)
{
    const uint64_t at = nmade;
    put(0x06064b50, 4), put(44, 8), put(45, 2), put(45, 2), put(0, 8), put(n, 8), put(n, 8);
    put(len, 8), put(off, 8);
    put(0x07064b50, 4), put(0, 4), put(at, 8), put(1, 4);
}

static entry of(const char *name)
{
    return (entry){ .name = name,
                    .extra = "",
                    .size = 5,
                    .stored = 5,
                    .crc = CRC,
                    .nname = (uint16_t)strlen(name) };
}

/* a at 0, its data at 31; d/b at 36, its data at 69; the directory at 74, b's entry at 121, the end
 * at 170. */
enum { A = 0, B = 36, DIRECTORY = 74, ENTRY_B = 121, END = 170, ALL = 192 };

static void make(void)
{
    entry a = of("a"), b = of("d/b");
    nmade = 0;
    a.at = put_header(&a, "hello", 5);
    b.at = put_header(&b, "hello", 5);
    put_entry(&a);
    put_entry(&b);
    put_end(2, END - DIRECTORY, DIRECTORY);
    assert_int_equal(nmade, ALL);
}

/* The directory, and every member's place; the first failure. */
static cip_status read_made(cip_err *err)
{
    cip_io *io;
    cip_zip z;
    cip_arena arena = { .mem = &env.mem };
    uint64_t off;
    assert_int_equal(cip_io_open_memory(&env, made, nmade, "z", &io, NULL), CIP_OK);
    cip_status st = cip_zip_read(io, &arena, &z, err);
    for (size_t i = 0; st == CIP_OK && i < z.n; i++)
        st = cip_zip_data(io, &z.at[i], &off, err);
    for (size_t i = 0; st == CIP_OK && i < z.n; i++)
        assert_ptr_equal(cip_zip_find(&z, z.at[i].name), &z.at[i]);
    cip_arena_clear(&arena);
    cip_io_close(io);
    return st;
}

static void refused(cip_status status, const char *text)
{
    cip_err err = CIP_ERR_INIT;
    const cip_status st = read_made(&err);
    if (st != status || strstr(err.text, text) == NULL)
        fail_msg("expected %d '%s', found %d '%s'", (int)status, text, (int)st, err.text);
}

/* --- what is found ---------------------------------------------------------------------------- */

static void members_are_found_by_name_and_place(void **state)
{
    (void)state;
    cip_io *io;
    cip_zip z;
    cip_arena arena = { .mem = &env.mem };
    uint64_t off = 0;
    char data[5];
    make();
    assert_int_equal(cip_io_open_memory(&env, made, nmade, "z", &io, NULL), CIP_OK);
    assert_int_equal(cip_zip_read(io, &arena, &z, NULL), CIP_OK);
    assert_int_equal(z.n, 2);
    const cip_zip_member *m = cip_zip_find(&z, "d/b");
    assert_ptr_equal(m, &z.at[1]);
    assert_null(cip_zip_find(&z, "b"));
    assert_int_equal(m->header, B);
    assert_int_equal(m->end, DIRECTORY);
    assert_int_equal(m->crc, CRC);
    assert_false(cip_zip_is_folder(m));
    assert_int_equal(cip_zip_data(io, m, &off, NULL), CIP_OK);
    assert_int_equal(off, 69);
    assert_int_equal(cip_io_read(io, off, data, 5, NULL), CIP_OK);
    assert_memory_equal(data, "hello", 5);
    cip_arena_clear(&arena);
    cip_io_close(io);
}

static void an_empty_archive_has_no_members(void **state)
{
    (void)state;
    nmade = 0;
    put_end(0, 0, 0);
    refused(CIP_OK, "");
}

static void names_are_utf8_or_of_code_page_437(void **state)
{
    (void)state;
    for (int utf8 = 0; utf8 < 2; utf8++) {
        cip_io *io;
        cip_zip z;
        cip_arena arena = { .mem = &env.mem };
        entry a = of(utf8 ? "\xc3\xa9\xe2\x95\x90" : "\x82\xcd");
        a.flags = utf8 ? 0x800 : 0;
        nmade = 0;
        put_header(&a, "hello", 5);
        const size_t at = nmade;
        put_entry(&a);
        put_end(1, nmade - at, at);
        refused(CIP_OK, "");
        assert_int_equal(cip_io_open_memory(&env, made, nmade, "z", &io, NULL), CIP_OK);
        assert_int_equal(cip_zip_read(io, &arena, &z, NULL), CIP_OK);
        assert_string_equal(z.at[0].name, "\xc3\xa9\xe2\x95\x90");
        cip_arena_clear(&arena);
        cip_io_close(io);
    }
}

/* --- damage at one place ---------------------------------------------------------------------- */

static void contradictions_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        uint8_t to;
        cip_status status;
        const char *text;
    } cases[] = {
        { END, 'Q', CIP_ERR_TRUNCATED, "end record of a zip archive, found none" },
        { END + 20, 1, CIP_ERR_CORRUPT, "found other bytes after it" },
        { END + 4, 1, CIP_ERR_UNSUPPORTED, "part of one that is split" },
        { END + 6, 1, CIP_ERR_UNSUPPORTED, "part of one that is split" },
        { END + 8, 1, CIP_ERR_UNSUPPORTED, "part of one that is split" },
        { END + 12, 95, CIP_ERR_CORRUPT, "directory of 95 bytes at 74 to end at 170" },
        { END + 16, 73, CIP_ERR_CORRUPT, "directory of 96 bytes at 73 to end at 170" },
        { END + 19, 1, CIP_ERR_CORRUPT, "to end at 170" },
        { DIRECTORY, 'Q', CIP_ERR_CORRUPT, "an entry of the archive's directory, found none" },
        { DIRECTORY + 28, 200, CIP_ERR_CORRUPT, "found the end of the directory" },
        { DIRECTORY + 32, 200, CIP_ERR_CORRUPT, "found the end of the directory" },
        { DIRECTORY + 34, 1, CIP_ERR_UNSUPPORTED, "part of one that is split" },
        { DIRECTORY + 46, '/', CIP_ERR_CORRUPT, "expected a relative name" },
        { DIRECTORY + 46, '\\', CIP_ERR_CORRUPT, "a name without backslashes" },
        { DIRECTORY + 46, 0, CIP_ERR_CORRUPT, "a name without NUL" },
        { DIRECTORY + 46, '.', CIP_ERR_CORRUPT, "empty segments, '.' and '..'" },
        { ENTRY_B + 48, '/', CIP_ERR_CORRUPT, "empty segments" },
        { DIRECTORY + 20, 4, CIP_ERR_CORRUPT, "as many stored bytes as its size 5, found 4" },
        { DIRECTORY + 42, 32, CIP_ERR_CORRUPT, "member 'a': expected 5 bytes at 32" },
        { ENTRY_B + 42, 75, CIP_ERR_CORRUPT, "before the directory at 74, found an overlap" },
        { ENTRY_B + 42, 30, CIP_ERR_CORRUPT, "before the next member at 30, found an overlap" },
        { ENTRY_B + 45, 0xff, CIP_ERR_CORRUPT, "found an overlap" },
        { ENTRY_B + 42, 37, CIP_ERR_CORRUPT, "at 37 before the directory at 74, found an overlap" },
        { A, 'Q', CIP_ERR_CORRUPT, "member 'a': expected its local header, found none" },
        { A + 6, 8, CIP_ERR_CORRUPT, "the same flags in its local header" },
        { A + 8, 8, CIP_ERR_CORRUPT, "the same method" },
        { DIRECTORY + 10, 8, CIP_ERR_CORRUPT, "the same method" },
        { A + 14, 0, CIP_ERR_CORRUPT, "the same CRC-32" },
        { A + 18, 4, CIP_ERR_CORRUPT, "the same size" },
        { A + 22, 4, CIP_ERR_CORRUPT, "the same size" },
        { A + 26, 2, CIP_ERR_CORRUPT, "found an overlap" },
        { A + 28, 1, CIP_ERR_CORRUPT, "found an overlap" },
        { A + 30, 'b', CIP_ERR_CORRUPT, "the same name" },
        { A + 6, 2, CIP_OK, "" }, /* how hard the compressor tried */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make();
        made[cases[i].at] = cases[i].to;
        refused(cases[i].status, cases[i].text);
    }
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    for (size_t n = 0; n < ALL; n++) {
        make();
        nmade = n;
        assert_true(read_made(NULL) != CIP_OK);
    }
}

static void bytes_around_the_archive_are_refused(void **state)
{
    (void)state;
    make();
    put(0, 1);
    refused(CIP_ERR_CORRUPT, "found other bytes after it");
    make();
    memmove(made + 3, made, ALL);
    nmade += 3;
    refused(CIP_ERR_CORRUPT, "to end at 173");
}

static void a_comment_cannot_hide_another_end(void **state)
{
    (void)state;
    make();
    made[END + 20] = 22;
    put_end(0, 0, END + 22);
    refused(CIP_ERR_CORRUPT, "one end of the archive, found two");
    make();
    made[END + 20] = 3;
    put_text("PK!", 3);
    refused(CIP_OK, "");
}

static void a_name_is_there_once(void **state)
{
    (void)state;
    nmade = 0;
    entry a = of("a"), b = of("a");
    put_header(&a, "hello", 5);
    b.at = put_header(&b, "hello", 5);
    const size_t at = nmade;
    put_entry(&a);
    put_entry(&b);
    put_end(2, nmade - at, at);
    refused(CIP_ERR_CORRUPT, "member 'a' is in the archive twice");
}

static void encrypted_members_are_named(void **state)
{
    (void)state;
    make();
    made[A + 6] = made[DIRECTORY + 8] = 1;
    refused(CIP_ERR_UNSUPPORTED, "member 'a' is encrypted");
}

static void a_bomb_is_refused_by_its_sizes(void **state)
{
    (void)state;
    make();
    made[A + 8] = made[DIRECTORY + 10] = 8;
    made[DIRECTORY + 25] = 0x14; /* 5125 of 5 bytes can be */
    made[A + 23] = 0x14;
    refused(CIP_OK, "");
    made[DIRECTORY + 26] = made[A + 24] = 1;
    refused(CIP_ERR_CORRUPT, "expected a size that 5 stored bytes can have, found 70661");
}

static void members_are_limited(void **state)
{
    (void)state;
    make();
    env.limits.max_blocks = 1;
    refused(CIP_ERR_LIMIT, "expected at most 1 members, found 2");
}

/* --- sizes behind the data -------------------------------------------------------------------- */

/* One member written to a pipe; `wide`: its sizes have 8 bytes, `magic`: something leads them. */
static void make_piped(bool magic, bool wide, uint32_t crc)
{
    entry a = of("a"), local = a;
    nmade = 0;
    a.flags = local.flags = 8;
    local.crc = 0;
    local.size = local.stored = 0;
    put_header(&local, "hello", 5);
    if (magic)
        put(0x08074b50, 4);
    put(crc, 4), put(5, wide ? 8 : 4), put(5, wide ? 8 : 4);
    const size_t at = nmade;
    put_entry(&a);
    put_end(1, nmade - at, at);
}

static void sizes_behind_the_data_are_compared(void **state)
{
    (void)state;
    for (int form = 0; form < 4; form++) {
        make_piped((form & 1) != 0, (form & 2) != 0, CRC);
        refused(CIP_OK, "");
        make_piped((form & 1) != 0, (form & 2) != 0, 1);
        refused(CIP_ERR_CORRUPT, "its sizes and CRC-32 after its data, found others");
    }
}

/* --- zip64 ------------------------------------------------------------------------------------ */

static const char both[20] = "\1\0\x10\0\5\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0";

/* One member with its sizes in zip64 fields: of the header, of the entry, and the end record. */
static void make_wide(bool header, bool entry_too, bool end)
{
    entry a = of("a"), local;
    nmade = 0;
    if (entry_too) {
        a.size = a.stored = UINT32_MAX;
        a.extra = both;
        a.nextra = sizeof both;
    }
    local = a;
    if (header) {
        local.size = local.stored = UINT32_MAX;
        local.extra = both;
        local.nextra = sizeof both;
    }
    put_header(&local, "hello", 5);
    const size_t at = nmade;
    put_entry(&a);
    const size_t len = nmade - at;
    if (end)
        put_end64(1, len, at);
    put_end(end ? 0xffff : 1, end ? UINT32_MAX : len, end ? UINT32_MAX : at);
}

static void zip64_numbers_are_read(void **state)
{
    (void)state;
    for (int i = 0; i < 8; i++) {
        make_wide((i & 1) != 0, (i & 2) != 0, (i & 4) != 0);
        refused(CIP_OK, "");
    }
}

static void zip64_numbers_must_agree(void **state)
{
    (void)state;
    static const struct {
        size_t at; /* counted back from the end record */
        uint8_t to;
        cip_status status;
        const char *text;
    } cases[] = {
        { 16, 2, CIP_ERR_UNSUPPORTED, "split" },          /* disk of the end's place */
        { 4, 2, CIP_ERR_UNSUPPORTED, "split" },           /* parts */
        { 12, 0, CIP_ERR_CORRUPT, "zip64 end record" },   /* where it is */
        { 9, 0xff, CIP_ERR_CORRUPT, "zip64 end record" }, /* the same, far away */
        { 76, 0, CIP_ERR_CORRUPT, "expected a zip64 end record, found none" },
        { 72, 45, CIP_ERR_CORRUPT, "zip64 end record of 44 bytes, found 45" },
        { 60, 1, CIP_ERR_UNSUPPORTED, "split" },
        { 52, 2, CIP_ERR_UNSUPPORTED, "split" },
        { 44, 9, CIP_ERR_UNSUPPORTED, "split" },
        { 36, 9, CIP_ERR_CORRUPT, "directory of 9 bytes" },
        { 28, 9, CIP_ERR_CORRUPT, "at 9 to end at" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make_wide(true, true, true);
        made[nmade - 22 - cases[i].at] = cases[i].to;
        refused(cases[i].status, cases[i].text);
    }
    make_wide(true, true, true); /* the end record says a number of its own */
    made[nmade - 22 + 10] = 2;
    made[nmade - 22 + 11] = 0;
    refused(CIP_ERR_CORRUPT, "the same numbers in both end records");
}

static void zip64_fields_must_be_whole(void **state)
{
    (void)state;
    make_wide(true, false, false);
    made[31 + 2] = 8;
    refused(CIP_ERR_CORRUPT, "one zip64 field of 16 bytes, found one of 8");
    make_wide(true, false, false);
    made[31] = 2;
    refused(CIP_ERR_CORRUPT, "zip64 field of 16 bytes, found none");
    make_wide(true, false, false);
    made[31 + 2] = 17;
    refused(CIP_ERR_CORRUPT, "expected extra fields of 20 bytes, found one of 17");
    make_wide(true, false, false);
    made[31 + 4] = 6;
    refused(CIP_ERR_CORRUPT, "the same size in its local header");
}

/* --- writing ---------------------------------------------------------------------------------- */

/* An archive of members that are not there but for their headers: zeros in between. */
typedef struct sparse {
    uint64_t size;
    const cip_zip_member *m;
    size_t n;
    cip_buf header[4], directory;
    uint64_t at; /* of the directory */
} sparse;

static cip_status read_sparse(void *user, const cip_range *r, size_t n, cip_err *err)
{
    const sparse *s = user;
    (void)err;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < r[i].nbytes; k++) {
            const uint64_t at = r[i].offset + k;
            uint8_t byte = 0;
            for (size_t j = 0; j < s->n; j++)
                if (at >= s->m[j].header && at - s->m[j].header < s->header[j].len)
                    byte = s->header[j].ptr[at - s->m[j].header];
            if (at >= s->at)
                byte = s->directory.ptr[at - s->at];
            ((uint8_t *)r[i].dst)[k] = byte;
        }
    return CIP_OK;
}

static cip_status size_of_sparse(void *user, uint64_t *nbytes, cip_err *err)
{
    (void)err;
    *nbytes = ((const sparse *)user)->size;
    return CIP_OK;
}

static void large_members_and_far_ones_are_found_again(void **state)
{
    (void)state;
    const uint64_t gib = UINT64_C(1) << 30;
    const cip_zip_member m[] = {
        { .name = "small", .size = 5, .stored = 5, .crc = 1, .header = 0 },
        { .name = "large", .size = 5 * gib, .stored = 5 * gib, .crc = 2, .header = 200 },
        { .name = "packed", .size = 7 * gib, .stored = gib, .method = 8, .header = 6 * gib },
        { .name = "\xc3\xa9", .size = 1, .stored = 1, .crc = 3, .header = 8 * gib },
    };
    sparse s = { .m = m, .n = 4, .at = 9 * gib, .directory = { .mem = &env.mem } };
    const cip_io_methods methods = { CIP_IO_METHODS_INIT, .read_ranges = read_sparse,
                                     .size = size_of_sparse };
    cip_io *io;
    cip_zip z;
    cip_arena arena = { .mem = &env.mem };
    for (size_t i = 0; i < 4; i++) {
        s.header[i].mem = &env.mem;
        assert_int_equal(cip_zip_header_write(&m[i], true, &s.header[i], NULL), CIP_OK);
    }
    assert_int_equal(cip_zip_directory_write(m, 4, s.at, NULL, NULL, &s.directory, NULL), CIP_OK);
    s.size = s.at + s.directory.len;
    assert_int_equal(cip_io_open_user(&env, &methods, &s, &io, NULL), CIP_OK);
    assert_int_equal(cip_zip_read(io, &arena, &z, NULL), CIP_OK);
    assert_true(z.wide);
    assert_int_equal(z.n, 4);
    for (size_t i = 0; i < 4; i++) {
        uint64_t off;
        assert_string_equal(z.at[i].name, m[i].name);
        assert_true(z.at[i].size == m[i].size && z.at[i].stored == m[i].stored);
        assert_true(z.at[i].header == m[i].header && z.at[i].crc == m[i].crc);
        assert_int_equal(cip_zip_data(io, &z.at[i], &off, NULL), CIP_OK);
        assert_true(off == m[i].header + s.header[i].len);
        cip_buf_clear(&s.header[i]);
    }
    cip_arena_clear(&arena);
    cip_io_close(io);
    cip_buf_clear(&s.directory);
}

static void more_members_than_16_bits_count_are_found_again(void **state)
{
    (void)state;
    enum { N = 70000 };
    cip_zip_member *m = calloc(N, sizeof *m);
    char(*name)[8] = calloc(N, sizeof *name);
    cip_buf all = { .mem = &env.mem };
    cip_io *io;
    cip_zip z;
    cip_arena arena = { .mem = &env.mem };
    assert_true(m != NULL && name != NULL);
    for (size_t i = 0; i < N; i++) {
        snprintf(name[i], sizeof name[i], "%zu", i);
        m[i] = (cip_zip_member){ .name = name[i], .header = all.len };
        assert_int_equal(cip_zip_header_write(&m[i], true, &all, NULL), CIP_OK);
    }
    assert_int_equal(cip_zip_directory_write(m, N, all.len, NULL, NULL, &all, NULL), CIP_OK);
    assert_int_equal(cip_io_open_memory(&env, all.ptr, all.len, "z", &io, NULL), CIP_OK);
    assert_int_equal(cip_zip_read(io, &arena, &z, NULL), CIP_OK);
    assert_int_equal(z.n, N);
    assert_ptr_equal(cip_zip_find(&z, "69999"), &z.at[N - 1]);
    cip_arena_clear(&arena);
    cip_io_close(io);
    cip_buf_clear(&all);
    free(name);
    free(m);
}

/* --- the corpus and memory -------------------------------------------------------------------- */

/* What Python's zipfile wrote, and what was made of that. */
static void archives_of_the_corpus_are_read_or_refused(void **state)
{
    (void)state;
    static const char folder[] = CIP_SOURCE_DIR "/src/io/corpus/fuzz_zip";
    struct dirent *e;
    unsigned n = 0;
    DIR *d = opendir(folder);
    assert_non_null(d);
    while ((e = readdir(d)) != NULL) {
        char path[512];
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        nmade = fread(made, 1, sizeof made, f);
        fclose(f);
        if ((read_made(NULL) == CIP_OK) != (strncmp(e->d_name, "good", 4) == 0))
            fail_msg("%s", e->d_name);
        n++;
    }
    closedir(d);
    assert_true(n > 10);
}

static cip_status read_with(cip_env *with, void *user)
{
    cip_io *io;
    cip_zip z;
    cip_arena arena = { .mem = &with->mem };
    (void)user;
    cip_status st = cip_io_open_memory(with, made, nmade, "z", &io, NULL);
    if (st == CIP_OK)
        st = cip_zip_read(io, &arena, &z, NULL);
    cip_arena_clear(&arena);
    cip_io_close(io);
    return st;
}

static void want_of_memory_is_reported(void **state)
{
    (void)state;
    make();
    each_request_fails_once(read_with, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(members_are_found_by_name_and_place, setup, teardown),
        cmocka_unit_test_setup_teardown(an_empty_archive_has_no_members, setup, teardown),
        cmocka_unit_test_setup_teardown(names_are_utf8_or_of_code_page_437, setup, teardown),
        cmocka_unit_test_setup_teardown(contradictions_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(every_cut_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(bytes_around_the_archive_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_comment_cannot_hide_another_end, setup, teardown),
        cmocka_unit_test_setup_teardown(a_name_is_there_once, setup, teardown),
        cmocka_unit_test_setup_teardown(encrypted_members_are_named, setup, teardown),
        cmocka_unit_test_setup_teardown(a_bomb_is_refused_by_its_sizes, setup, teardown),
        cmocka_unit_test_setup_teardown(members_are_limited, setup, teardown),
        cmocka_unit_test_setup_teardown(sizes_behind_the_data_are_compared, setup, teardown),
        cmocka_unit_test_setup_teardown(zip64_numbers_are_read, setup, teardown),
        cmocka_unit_test_setup_teardown(zip64_numbers_must_agree, setup, teardown),
        cmocka_unit_test_setup_teardown(zip64_fields_must_be_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(large_members_and_far_ones_are_found_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(more_members_than_16_bits_count_are_found_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(archives_of_the_corpus_are_read_or_refused, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(want_of_memory_is_reported, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
