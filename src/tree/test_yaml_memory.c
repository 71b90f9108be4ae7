/* SPDX-License-Identifier: BSD-3-Clause
 * libyaml without memory: its allocating functions, which it calls by name, are replaced here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "support/needs.h"
#include "support/tree/tree_testing.h"

void *yaml_malloc(size_t size);
void *yaml_realloc(void *ptr, size_t size);
void yaml_free(void *ptr);
unsigned char *yaml_strdup(const unsigned char *str);

static long left = 1000000;
static long calls;

void *yaml_malloc(size_t size)
{
    calls++;
    return left-- > 0 ? malloc(size != 0 ? size : 1) : NULL;
}

void *yaml_realloc(void *ptr, size_t size)
{
    calls++;
    return left-- > 0 ? realloc(ptr, size != 0 ? size : 1) : NULL;
}

void yaml_free(void *ptr)
{
    free(ptr);
}

unsigned char *yaml_strdup(const unsigned char *str)
{
    calls++;
    return str != NULL && left-- > 0 ? (unsigned char *)strdup((const char *)str) : NULL;
}

static void no_memory_for_libyaml_is_reported(void **state)
{
    (void)state;
    for (long n = 0;; n++) {
        bench b;
        const cip_node *root = (const cip_node *)&b;
        bench_start(&b, NULL);
        left = n;
        calls = 0;
        const char *text = "%TAG !e! t:\n---\na: &x [1, !e!u 'a longer text than that']\nb: *x\n";
        cip_status st = try_parse_n(&b, text, strlen(text), NULL, &root);
        left = 1000000;
        cip_err err = b.err;
        bench_end(&b);
        SKIP_UNLESS(calls != 0, "this libyaml calls its own malloc, whatever we define");
        if (st == CIP_OK) {
            assert_true(n > 10);
            return;
        }
        assert_int_equal(st, CIP_ERR_NOMEM);
        assert_int_equal(err.code, CIP_ERR_NOMEM);
        assert_string_equal(err.part, "tree");
        assert_null(root);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_memory_for_libyaml_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
