/* SPDX-License-Identifier: BSD-3-Clause */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>

#include "support/format/asdf/asdf_testing.h"
#include "support/needs.h"

#define CORPUS CIP_SOURCE_DIR "/src/format/asdf/corpus/fuzz_asdf_blocks/"

static void load(asdf_make *m, const char *name)
{
    char path[1024];
    uint8_t buf[4096];
    size_t n;
    snprintf(path, sizeof path, CORPUS "%s", name);
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    while ((n = fread(buf, 1, sizeof buf, f)) != 0)
        make_bytes(m, buf, n);
    fclose(f);
}

/* How opening, or else the first array that fails, ends. */
static cip_status fate(one_file *f, const asdf_make *m)
{
    cip_status st = make_open(f, m, 0);
    for (size_t i = 0; st == CIP_OK && i < f->layout->narray; i++)
        st = make_try(f, f->layout->array[i]->path);
    return st;
}

static void files_end_as_their_names_say(void **state)
{
    (void)state;
    NEEDS_CODECS();
    size_t n[3] = { 0 };
    DIR *d = opendir(CORPUS);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        if (e->d_name[0] == '.')
            continue;
        one_file f;
        asdf_make m = { 0 };
        load(&m, e->d_name);
        cip_status st = fate(&f, &m);
        bool good = strncmp(e->d_name, "good-", 5) == 0, bad = strncmp(e->d_name, "bad-", 4) == 0;
        bool as_named = good ? st == CIP_OK : bad ? st != CIP_OK : st == CIP_ERR_UNSUPPORTED;
        if (!as_named)
            print_error("%s: %s: %s\n", e->d_name, cip_status_name(st), f.err.text);
        assert_true(as_named);
        n[good ? 0 : bad ? 1 : 2]++;
        one_close(&f);
        make_clear(&m);
    }
    closedir(d);
    assert_in_range(n[0], 20, 100);
    assert_in_range(n[1], 8, 100);
    assert_in_range(n[2], 4, 100);
}

static void two_blocks_are_what_was_put_in(void **state)
{
    (void)state;
    one_file f;
    asdf_make m = { 0 };
    load(&m, "good-two-blocks.asdf");
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_true(make_gives_six(&f, "a"));
    assert_true(make_gives_three(&f, "b"));
    one_close(&f);
    make_clear(&m);
    load(&m, "good-streamed.asdf");
    assert_int_equal(make_open(&f, &m, 0), CIP_OK);
    assert_true(make_gives(&f, "s", "\1\0\2\0\3\0\4\0", 8));
    one_close(&f);
    make_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_end_as_their_names_say),
        cmocka_unit_test(two_blocks_are_what_was_put_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
