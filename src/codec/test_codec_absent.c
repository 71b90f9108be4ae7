/* SPDX-License-Identifier: BSD-3-Clause
 * The table of codecs as it is in a build without any of their libraries: the source is compiled in
 * here under other names. */
#define CIP_WITH_ZLIB 0
#undef CIP_WITH_BZIP2
#define CIP_WITH_BZIP2 0
#undef CIP_WITH_LZ4
#define CIP_WITH_LZ4 0
#undef CIP_WITH_ZSTD
#define CIP_WITH_ZSTD 0
#define cip_codec_find absent_codec_find
#define cip_codec_available absent_codec_available
#define cip_codec_row absent_codec_row
#define cip_codec_deflate absent_codec_deflate
#define cip_stored_find absent_stored_find
#define cip_wants_check absent_wants_check
#include "codec/codec.c"

#include "support/codec/codec_testing.h"

static void a_codec_left_out_answers_unsupported(void **state)
{
    (void)state;
    static const char *const names[] = { "zlib", "bzip2", "lz4", "lz4f", "zstd" };
    for (size_t i = 0; i < 5; i++) {
        const cip_codec *c = cip_codec_find(names[i]);
        const char *version = NULL;
        uint8_t b[8] = { 0 };
        void *s = b;
        test_env t;
        cip_codec_env *env = test_env_open(&t, 0, 0);
        assert_non_null(c);
        assert_string_equal(c->name, names[i]);
        assert_false(cip_codec_available(c));
        assert_ptr_equal(cip_codec_row(i, &version), c);
        assert_string_equal(version, "");
        assert_int_equal(c->bound(8), 0);
        assert_int_equal(c->decode(NULL, env, (cip_bytes){ b, 8 }, b, 8, &t.err),
                         CIP_ERR_UNSUPPORTED);
        assert_int_equal(t.err.code, CIP_ERR_UNSUPPORTED);
        assert_int_equal(c->encode(NULL, env, 0, (cip_bytes){ b, 8 }, &(cip_dst){ b, 8, 0 }, NULL),
                         CIP_ERR_UNSUPPORTED);
        assert_int_equal(c->stream->begin(NULL, env, &s, NULL), CIP_ERR_UNSUPPORTED);
        assert_null(s);
        assert_int_equal(
            c->stream->step(
                NULL, &(cip_flow){ .in = b, .in_len = 8, .last = true, .out = b, .out_len = 8 },
                NULL),
            CIP_ERR_UNSUPPORTED);
        c->stream->finish(NULL);
        test_env_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_codec_left_out_answers_unsupported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
