/* SPDX-License-Identifier: BSD-3-Clause
 * Random windows of arrays of any shape in data of every codec, against the decoded whole: through
 * checkpoints, decoders kept open, chunks, from several threads. A full run tries 100,000. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "array/cast.h"
#include "space/sequential/checkpoints.h"
#include "support/effort.h"
#include "support/fake/fake.h"

enum { PER_SPACE = 200, MAX_BYTES = 60000 };

static const char *const codecs[] = { "zlib", "bzip2", "lz4", "zstd", "raw" };
enum { NCODEC = sizeof codecs / sizeof *codecs };

typedef struct subject {
    fake f;
    cip_space *space;
    cip_nd view; /* all of it */
    uint8_t *bytes;
    size_t n;
} subject;

/* One piece of stored data: in order where the codec can, else one chunk. */
static cip_space *piece_of(fake *f, const char *name, const uint8_t *p, size_t n)
{
    const cip_codec *c = cip_codec_find(name);
    cip_codec_env env = { .mem = &f->env.mem };
    cip_dst coded = { fake_keep(f, c->bound(n)), c->bound(n), 0 };
    cip_space *s;
    cip_step step = { .codec = c };
    FAKE_MUST(c->encode(NULL, &env, 0, (cip_bytes){ p, n }, &coded, err));
    cip_extent at = { f->layout->file, fake_append(f, coded.ptr, coded.len), coded.len };
    if (c->stream != NULL) {
        FAKE_MUST(cip_space_new_seq(f->layout, &at, n, &step, &s, err));
        return s;
    }
    cip_table table;
    cip_chunk chunk = { .at = at, .raw_len = n, .run = 1 };
    FAKE_MUST(cip_table_from_array(f->layout, &chunk, 1, &table, err));
    FAKE_MUST(cip_space_new_chunked(f->layout, &table, n, &step, 1, &s, err));
    return s;
}

/* Data that compress, in blocks of their own kind. */
static void fill(fake *f, uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        p[i] = i > 900 && fake_chance(f, 2) ? p[i - 800] : (uint8_t)fake_pick(f, 60, 75);
}

static void random_shape(fake *f, cip_nd *v, size_t *n)
{
    int64_t shape[CIP_MAX_NDIM];
    int32_t ndim = (int32_t)fake_pick(f, 1, 4);
    uint64_t size = fake_pick(f, 1, 8), left = MAX_BYTES / size;
    *n = (size_t)size;
    for (int32_t k = 0; k < ndim; k++) {
        shape[k] = (int64_t)fake_pick(f, 1, k == ndim - 1 ? left : left < 60 ? left : 60);
        left /= (uint64_t)shape[k];
        *n *= (size_t)shape[k];
    }
    FAKE_MUST(cip_view_c_order(ndim, shape, size, v, err));
}

static void make_subject(subject *s, uint64_t seed, cip_pool *pool)
{
    cip_limits l = CIP_LIMITS_INIT;
    l.max_cache = seed % 3 == 0 ? 0 : 2000; /* nothing large is kept */
    fake_open(&s->f, seed, pool, &l);
    fake *f = &s->f;
    f->tuning.checkpoint_gap = fake_pick(f, 100, 4000);
    f->tuning.checkpoint_jump = fake_pick(f, 0, 3000);
    f->tuning.seq_in = (size_t)fake_pick(f, 50, 5000);
    f->tuning.gap = (size_t)fake_pick(f, 1, 300);
    cip_checkpoints_free(f->layout->checkpoints);
    FAKE_MUST(cip_checkpoints_new(&f->env, fake_pick(f, 0, 400) << 10, f->tuning.checkpoint_gap,
                                  &f->layout->checkpoints, err));
    random_shape(f, &s->view, &s->n);
    s->bytes = fake_keep(f, s->n);
    fill(f, s->bytes, s->n);
    const char *name = codecs[seed % NCODEC];
    if (strcmp(name, "raw") == 0)
        FAKE_MUST(cip_space_new_sub(f->layout, f->layout->file, fake_append(f, s->bytes, s->n),
                                    s->n, &s->space, err));
    else
        s->space = piece_of(f, name, s->bytes, s->n);
}

/* A box of it, steps included, to packed memory. */
static void check_window(subject *s, uint64_t seed)
{
    fake *f = &s->f;
    cip_nd from = s->view, to;
    for (int32_t k = 0; k < from.ndim; k++) {
        int64_t n = from.shape[k], a = (int64_t)fake_pick(f, 0, (uint64_t)n - 1);
        int64_t step = (int64_t)fake_pick(f, 1, 3);
        from.off += (uint64_t)(a * from.stride[k]);
        int64_t most = (n - a + step - 1) / step;
        from.shape[k] = (int64_t)fake_pick(f, 1, (uint64_t)(most < 9 ? most : 9));
        from.stride[k] *= step;
    }
    static uint8_t out[9 * 9 * 9 * 9 * 8], want[sizeof out];
    uint64_t size = from.itemsize, at[CIP_MAX_NDIM] = { 0 };
    FAKE_MUST(cip_view_c_order(from.ndim, from.shape, size, &to, err));
    const cip_dtype type = { .kind = CIP_OPAQUE, .itemsize = size, .name = "bytes", .weight = 1 };
    cip_cast cast;
    FAKE_MUST(cip_cast_make(&type, &type, CIP_OVERFLOW_ERROR, &cast, err));
    FAKE_MUST(
        cip_space_gather(&f->how, s->space, &(cip_transfer){ &from, &cast, &to, out }, NULL, err));
    size_t n = 0;
    for (bool more = true; more; n += size) {
        uint64_t off = from.off;
        for (int32_t k = 0; k < from.ndim; k++)
            off += at[k] * (uint64_t)from.stride[k];
        memcpy(want + n, s->bytes + off, size);
        int32_t k = from.ndim - 1;
        while (k >= 0 && ++at[k] == (uint64_t)from.shape[k])
            at[k--] = 0;
        more = k >= 0;
    }
    if (memcmp(out, want, n) != 0)
        fail_msg("seed %" PRIu64 ": a window of %s differs", seed, codecs[seed % NCODEC]);
}

static void random_windows_are_those_of_the_decoded_whole(void **state)
{
    (void)state;
    uint64_t n = test_full() ? 100000 : 3000, done = 0;
    cip_pool *pool;
    assert_int_equal(cip_pool_new(3, &pool, NULL), CIP_OK);
    for (uint64_t seed = test_seed(); done < n; seed++) {
        subject s;
        const cip_codec *c = cip_codec_find(codecs[seed % NCODEC]);
        if (c != NULL && !cip_codec_available(c))
            continue;
        make_subject(&s, seed, seed % 4 == 0 ? pool : NULL);
        for (unsigned i = 0; i < PER_SPACE && done < n; i++, done++)
            check_window(&s, seed);
        fake_close(&s.f);
    }
    cip_pool_free(pool);
    print_message("%" PRIu64 " windows equal\n", done);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_windows_are_those_of_the_decoded_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
