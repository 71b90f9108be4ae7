/* SPDX-License-Identifier: BSD-3-Clause
 * What holds for every codec that this build has. */
#include "support/codec/codec_testing.h"
#include "codec/with.h"

static const char *const names[] = { "zlib", "bzip2", "lz4", "lz4f", "zstd" };
enum { NCODEC = sizeof names / sizeof names[0] };

/* NULL when it was left out. */
static const cip_codec *at_hand(const char *name)
{
    const cip_codec *c = cip_codec_find(name);
    assert_non_null(c);
    return cip_codec_available(c) ? c : NULL;
}

#define FOR_EACH_CODEC(c)                                                                          \
    for (size_t i_ = 0; i_ < NCODEC; i_++)                                                         \
        for (const cip_codec *c = at_hand(names[i_]); c != NULL; c = NULL)

static bool is(const cip_codec *c, const char *name)
{
    return strcmp(c->name, name) == 0;
}

/* Concatenated frames: no stored bytes are no decoded bytes. */
static bool is_frames(const cip_codec *c)
{
    return is(c, "lz4f") || is(c, "zstd");
}

static void every_codec_is_found_by_its_name(void **state)
{
    (void)state;
    static const bool with[NCODEC] = { CIP_WITH_ZLIB, CIP_WITH_BZIP2, CIP_WITH_LZ4, CIP_WITH_LZ4,
                                       CIP_WITH_ZSTD };
    const char *version = NULL;
    for (size_t i = 0; i < NCODEC; i++) {
        const cip_codec *c = cip_codec_find(names[i]);
        assert_non_null(c);
        assert_string_equal(c->name, names[i]);
        assert_int_equal(cip_codec_available(c), with[i]);
        assert_ptr_equal(cip_codec_row(i, &version), c);
        assert_true(with[i] ? strlen(version) >= 5 : version[0] == '\0');
    }
    const cip_codec *blosc = cip_codec_find("blosc"); /* encodes with arguments */
    assert_ptr_equal(cip_codec_row(NCODEC, &version), blosc);
    assert_true(cip_codec_available(blosc));
    assert_non_null(strstr(version, "snappy"));
    assert_null(cip_codec_find("zli"));
    assert_null(cip_codec_find(""));
    version = "as it was";
    assert_null(cip_codec_row(NCODEC + 1, &version));
    assert_string_equal(version, "as it was");
}

static void check_round_trip(const cip_codec *c, int level, test_kind kind, size_t n)
{
    size_t len, again;
    uint8_t *data = test_data(kind, n), *out;
    uint8_t *coded = test_encode(c, level, data, n, &len);
    uint8_t *twice = test_encode(c, level, data, n, &again);
    cip_err err = CIP_ERR_INIT;
    assert_int_equal(len, again);
    assert_memory_equal(coded, twice, len);
    assert_int_equal(test_decode(c, coded, len, n, &out, &err), CIP_OK);
    assert_int_equal(err.code, CIP_OK);
    if (n != 0)
        assert_memory_equal(out, data, n);
    if (n >= 70000 && kind != TEST_NOISE)
        assert_true(len < n / 2);
    free(data);
    free(out);
    free(coded);
    free(twice);
}

static void what_is_encoded_decodes_to_the_same(void **state)
{
    (void)state;
    static const size_t sizes[] = { 0, 1, 12, 13, 100, 70000, 300001 };
    static const int levels[] = { 0, 1, 3, 9 };
    FOR_EACH_CODEC(c)
    for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++)
        for (size_t l = 0; l < sizeof levels / sizeof levels[0]; l++)
            for (int k = 0; k < TEST_NKIND; k++)
                check_round_trip(c, levels[l], (test_kind)k, sizes[s]);
}

static void levels_outside_the_range_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int min, max;
    } range[] = { { "zlib", 1, 12 },
                  { "bzip2", 1, 9 },
                  { "lz4", -65536, 12 },
                  { "lz4f", -65536, 12 },
                  { "zstd", -131072, 22 } };
    static const uint8_t data[64];
    uint8_t room[1024];
    for (size_t i = 0; i < NCODEC; i++) {
        const cip_codec *c = at_hand(range[i].name);
        const int level[] = { range[i].min, range[i].max, range[i].min - 1, range[i].max + 1 };
        for (size_t k = 0; c != NULL && k < 4; k++) {
            test_env t;
            cip_codec_env *env = test_env_open(&t, 0, 0);
            cip_dst out = { room, sizeof room, 12345 };
            if (level[k] == 0) /* the default */
                continue;
            cip_status st =
                c->encode(NULL, env, level[k], (cip_bytes){ data, sizeof data }, &out, &t.err);
            assert_int_equal(st, k < 2 ? CIP_OK : CIP_ERR_ARG);
            assert_true(k < 2 ? out.len < 100 : out.len == 12345);
            test_env_close(&t);
        }
    }
}

static void higher_levels_compress_more(void **state)
{
    (void)state;
    enum { N = 200000 };
    static const struct {
        const char *name;
        int low, high;
    } pair[] = { { "zlib", 1, 12 }, { "lz4", -100, 1 }, { "lz4", 2, 3 },  { "lz4", 3, 12 },
                 { "lz4f", 1, 12 }, { "zstd", 1, 19 },  { "bzip2", 1, 9 } };
    uint8_t *data = test_data(TEST_NOISE, N);
    for (size_t i = 0; i < N; i++) /* words of a small language, far apart */
        data[i] = (uint8_t)(i % 7 < 5 ? data[i % 5 + 5 * (data[i / 7] % 60)] : 'a' + data[i] % 3);
    for (size_t i = 0; i < sizeof pair / sizeof pair[0]; i++) {
        size_t low, high;
        const cip_codec *c = at_hand(pair[i].name);
        if (c == NULL)
            continue;
        free(test_encode(c, pair[i].low, data, N, &low));
        free(test_encode(c, pair[i].high, data, N, &high));
        assert_true(high < low);
    }
    free(data);
}

static void the_default_levels_are_those_told(void **state)
{
    (void)state;
    static const int level[NCODEC] = { 6, 9, 1, 1, 3 };
    uint8_t *data = test_data(TEST_WORDS, 250000);
    for (size_t i = 0; i < NCODEC; i++) {
        size_t a, b;
        const cip_codec *c = at_hand(names[i]);
        if (c == NULL)
            continue;
        uint8_t *x = test_encode(c, 0, data, 250000, &a);
        uint8_t *y = test_encode(c, level[i], data, 250000, &b);
        assert_int_equal(a, b);
        assert_memory_equal(x, y, a);
        free(x);
        free(y);
    }
    free(data);
}

static void too_little_room_to_encode_is_reported(void **state)
{
    (void)state;
    uint8_t *data = test_data(TEST_WORDS, 500);
    FOR_EACH_CODEC(c)
    {
        size_t len;
        free(test_encode(c, 0, data, 500, &len));
        for (size_t cap = 0; cap < len; cap++) {
            test_env t;
            cip_codec_env *env = test_env_open(&t, 0, 0);
            cip_dst dst = { malloc(cap), cap, 12345 };
            assert_int_equal(c->encode(NULL, env, 0, (cip_bytes){ data, 500 }, &dst, &t.err),
                             CIP_ERR_RANGE);
            assert_int_equal(dst.len, 12345);
            free(dst.ptr);
            test_env_close(&t);
        }
    }
    free(data);
}

static void more_than_a_codec_takes_has_no_bound(void **state)
{
    (void)state;
    FOR_EACH_CODEC(c)
    assert_int_equal(c->bound(SIZE_MAX), 0);
}

static void every_truncation_is_reported(void **state)
{
    (void)state;
    uint8_t *data = test_data(TEST_WORDS, 300);
    FOR_EACH_CODEC(c)
    {
        size_t len;
        uint8_t *coded = test_encode(c, 0, data, 300, &len);
        for (size_t n = 0; n < len; n++) {
            cip_err err = CIP_ERR_INIT;
            cip_status st = test_decode(c, coded, n, 300, NULL, &err);
            /* A raw LZ4 block may end behind any literals. */
            assert_true(st == CIP_ERR_TRUNCATED || (is(c, "lz4") && st == CIP_ERR_CORRUPT));
            assert_int_equal(err.code, st);
            assert_true(err.offset == CIP_NO_OFFSET);
        }
        free(coded);
    }
    free(data);
}

static void another_number_of_bytes_is_corrupt(void **state)
{
    (void)state;
    static const size_t wrong[] = { 0, 1, 299, 301, 70000 };
    uint8_t *data = test_data(TEST_WORDS, 300);
    FOR_EACH_CODEC(c)
    {
        size_t len;
        uint8_t *coded = test_encode(c, 0, data, 300, &len);
        for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
            cip_err err = CIP_ERR_INIT;
            char text[100];
            snprintf(text, sizeof text, "expected %zu decoded bytes, found %s", wrong[i],
                     wrong[i] < 300 ? "more" : "300");
            assert_int_equal(test_decode(c, coded, len, wrong[i], NULL, &err), CIP_ERR_CORRUPT);
            if (!(is(c, "lz4") && wrong[i] < 300)) /* a raw block just seems to be damaged */
                assert_string_equal(err.text, text);
        }
        free(coded);
    }
    free(data);
}

static void no_stored_bytes_decode_to_none_at_most(void **state)
{
    (void)state;
    FOR_EACH_CODEC(c)
    {
        assert_int_equal(test_decode(c, NULL, 0, 0, NULL, NULL),
                         is_frames(c) ? CIP_OK : CIP_ERR_TRUNCATED);
        assert_int_equal(test_decode(c, NULL, 0, 5, NULL, NULL), CIP_ERR_TRUNCATED);
    }
}

static void no_flipped_bit_harms(void **state)
{
    (void)state;
    uint8_t *data = test_data(TEST_WORDS, 300), out[400];
    FOR_EACH_CODEC(c)
    {
        size_t len, got, bad = 0;
        uint8_t *coded = test_encode(c, 0, data, 300, &len);
        for (size_t bit = 0; bit < 8 * len; bit++) {
            uint8_t *dec = NULL;
            coded[bit / 8] ^= (uint8_t)(1 << bit % 8);
            cip_err err = CIP_ERR_INIT;
            cip_status st = test_decode(c, coded, len, 300, &dec, &err);
            assert_int_equal(err.code, st);
            bad += st != CIP_OK;
            if (st == CIP_OK && !is(c, "lz4")) /* the one without checksum */
                assert_memory_equal(dec, data, 300);
            free(dec);
            if (c->stream != NULL)
                test_stream(c, (cip_bytes){ coded, len }, 7, 11, out, sizeof out, &got, NULL);
            coded[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        assert_true(bad > (is(c, "lz4") ? 0 : 6 * len));
        free(coded);
    }
    free(data);
}

static void bombs_stop_at_the_expected_size(void **state)
{
    (void)state;
    enum { N = 8 << 20 };
    uint8_t *data = test_data(TEST_ZEROS, N);
    FOR_EACH_CODEC(c)
    {
        size_t len;
        uint8_t *coded = test_encode(c, 0, data, N, &len);
        assert_int_equal(test_decode(c, coded, len, 24, NULL, NULL), CIP_ERR_CORRUPT);
        free(coded);
    }
    free(data);
}

static void streams_give_the_same_bytes_in_any_pieces(void **state)
{
    (void)state;
    static const size_t piece[][2] = { { 1, 1 },      { 1, 100000 }, { 100000, 1 },  { 3, 5 },
                                       { 1000, 333 }, { 333, 1000 }, { 5000, 70000 } };
    enum { N = 20011 };
    uint8_t *data = test_data(TEST_WORDS, N), *out = malloc(N + 10);
    FOR_EACH_CODEC(c)
    {
        size_t len;
        if (c->stream == NULL)
            continue;
        uint8_t *coded = test_encode(c, 0, data, N, &len);
        for (size_t i = 0; i < sizeof piece / sizeof piece[0]; i++) {
            size_t got;
            cip_err err = CIP_ERR_INIT;
            assert_int_equal(test_stream(c, (cip_bytes){ coded, len }, piece[i][0], piece[i][1],
                                         out, N + 10, &got, &err),
                             CIP_OK);
            assert_int_equal(got, N);
            assert_memory_equal(out, data, N);
            assert_int_equal(test_stream(c, (cip_bytes){ coded, len - 1 }, piece[i][0], piece[i][1],
                                         out, N + 10, &got, &err),
                             CIP_ERR_TRUNCATED);
            assert_int_equal(err.code, CIP_ERR_TRUNCATED);
        }
        free(coded);
    }
    free(data);
    free(out);
}

static void streams_wait_for_input_and_stay_at_their_end(void **state)
{
    (void)state;
    uint8_t *data = test_data(TEST_WORDS, 300), out[400];
    FOR_EACH_CODEC(c)
    {
        size_t len;
        test_env t;
        void *s;
        if (c->stream == NULL)
            continue;
        uint8_t *coded = test_encode(c, 0, data, 300, &len);
        assert_int_equal(c->stream->begin(NULL, test_env_open(&t, 0, 0), &s, &t.err), CIP_OK);
        size_t half = len / 2, sum = 0;
        cip_flow f = { .in = coded, .end = true };
        for (int i = 0; i < 50; i++) { /* more often than any library bears it */
            f.in_len = i == 0 ? half : 0;
            f.out = out + sum;
            f.out_len = sizeof out - sum;
            assert_int_equal(c->stream->step(s, &f, &t.err), CIP_OK);
            assert_int_equal(f.took, i == 0 ? half : 0);
            assert_false(f.end);
            sum += f.gave;
        }
        f.in += half;
        f.last = true;
        for (int i = 0; i < 50; i++) {
            f.in_len = i == 0 ? len - half : 0;
            f.out = out + sum;
            f.out_len = sizeof out - sum;
            assert_int_equal(c->stream->step(s, &f, &t.err), CIP_OK);
            sum += f.gave;
            assert_true(f.end);
            assert_int_equal(sum, 300);
        }
        assert_memory_equal(out, data, 300);
        c->stream->finish(s);
        c->stream->finish(NULL);
        test_env_close(&t);
        free(coded);
    }
    free(data);
}

/* Three quarters of the input, drained byte by byte, and at once. */
static void pending_output_needs_no_more_input(void **state)
{
    (void)state;
    enum { N = 600000 };
    uint8_t *data = test_data(TEST_NOISE, N), *out = malloc(N);
    for (size_t i = 0; i < N; i++) /* it is worth coding, and takes several blocks */
        data[i] &= 15;
    FOR_EACH_CODEC(c)
    {
        size_t len, total[2] = { 0, 0 };
        if (c->stream == NULL)
            continue;
        uint8_t *coded = test_encode(c, 1, data, N, &len);
        for (size_t small = 0; small < 2; small++) {
            cip_flow f = { .in = coded, .in_len = len * 3 / 4, .gave = 1 };
            void *s;
            test_env t;
            assert_int_equal(c->stream->begin(NULL, test_env_open(&t, 0, 0), &s, &t.err), CIP_OK);
            for (size_t idle = 0; idle < 20; idle = f.gave == 0 ? idle + 1 : 0) {
                f.out = out + total[small];
                f.out_len = small ? 1 : N - total[0];
                assert_int_equal(c->stream->step(s, &f, &t.err), CIP_OK);
                f.in += f.took;
                f.in_len -= f.took;
                total[small] += f.gave;
            }
            assert_memory_equal(out, data, total[small]);
            c->stream->finish(s);
            test_env_close(&t);
        }
        assert_true(total[0] > N / 3);
        assert_int_equal(total[1], total[0]);
        free(coded);
    }
    free(data);
    free(out);
}

/* With the n-th request for memory failing, until all goes through. */
static void run_out_of_memory(const cip_codec *c, bool encode, cip_bytes raw, cip_bytes coded)
{
    cip_dst dst = { .cap = c->bound(raw.len) };
    dst.ptr = malloc(dst.cap > raw.len ? dst.cap : raw.len);
    for (size_t fail = 1;; fail++) {
        test_env t;
        cip_codec_env *env = test_env_open(&t, fail, 0);
        cip_status st = encode ? c->encode(NULL, env, 9, raw, &dst, &t.err)
                               : c->decode(NULL, env, coded, dst.ptr, raw.len, &t.err);
        test_env_close(&t);
        if (t.alloc.requests < fail) {
            assert_int_equal(st, CIP_OK);
            break;
        }
        assert_int_equal(st, CIP_ERR_NOMEM);
        assert_int_equal(t.err.code, CIP_ERR_NOMEM);
    }
    free(dst.ptr);
}

static void memory_that_runs_out_is_reported(void **state)
{
    (void)state;
    uint8_t *data = test_data(TEST_WORDS, 100000);
    FOR_EACH_CODEC(c)
    {
        size_t len;
        uint8_t *coded = test_encode(c, 0, data, 100000, &len);
        cip_bytes raw = { data, 100000 };
        run_out_of_memory(c, true, raw, (cip_bytes){ coded, len });
        run_out_of_memory(c, false, raw, (cip_bytes){ coded, len });
        free(coded);
    }
    free(data);
}

static void a_stream_is_not_made_without_memory(void **state)
{
    (void)state;
    FOR_EACH_CODEC(c)
    {
        test_env t;
        void *s = &t;
        if (c->stream == NULL)
            continue;
        assert_int_equal(c->stream->begin(NULL, test_env_open(&t, 1, 0), &s, &t.err),
                         CIP_ERR_NOMEM);
        assert_null(s);
        test_env_close(&t);
    }
}

/* What zlib and bzip2 ask for is counted: too low a limit is told as one. */
static void the_memory_limit_is_told(void **state)
{
    (void)state;
    static const char *const counted[] = { "zlib", "bzip2" };
    uint8_t out[400];
    uint8_t *data = test_data(TEST_WORDS, 300);
    for (size_t i = 0; i < 2; i++) {
        const cip_codec *c = at_hand(counted[i]);
        if (c == NULL)
            continue;
        size_t len;
        void *s = NULL;
        test_env t;
        uint8_t *coded = test_encode(c, 0, data, 300, &len);
        cip_codec_env *env = test_env_open(&t, 0, i == 0 ? 2000 : 1 << 20);
        cip_status st = c->stream->begin(NULL, env, &s, &t.err);
        if (st == CIP_OK)
            st = c->stream->step(
                s,
                &(cip_flow){
                    .in = coded, .in_len = len, .last = true, .out = out, .out_len = sizeof out },
                &t.err);
        assert_int_equal(st, CIP_ERR_LIMIT);
        assert_int_equal(t.err.code, CIP_ERR_LIMIT);
        c->stream->finish(s);
        test_env_close(&t);
        free(coded);
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_codec_is_found_by_its_name),
        cmocka_unit_test(what_is_encoded_decodes_to_the_same),
        cmocka_unit_test(levels_outside_the_range_are_refused),
        cmocka_unit_test(higher_levels_compress_more),
        cmocka_unit_test(the_default_levels_are_those_told),
        cmocka_unit_test(too_little_room_to_encode_is_reported),
        cmocka_unit_test(more_than_a_codec_takes_has_no_bound),
        cmocka_unit_test(every_truncation_is_reported),
        cmocka_unit_test(another_number_of_bytes_is_corrupt),
        cmocka_unit_test(no_stored_bytes_decode_to_none_at_most),
        cmocka_unit_test(no_flipped_bit_harms),
        cmocka_unit_test(bombs_stop_at_the_expected_size),
        cmocka_unit_test(streams_give_the_same_bytes_in_any_pieces),
        cmocka_unit_test(streams_wait_for_input_and_stay_at_their_end),
        cmocka_unit_test(pending_output_needs_no_more_input),
        cmocka_unit_test(memory_that_runs_out_is_reported),
        cmocka_unit_test(a_stream_is_not_made_without_memory),
        cmocka_unit_test(the_memory_limit_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
