/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a file that is written anew: the first says how. What comes out of it must open and
 * verify without anything that the input was not reproached for, and its arrays must read as
 * before. */
#include <stdlib.h>
#include <string.h>

#include "support/format/asdf/asdf_testing.h"
#include "format/asdf/write/asdf_write.h"
#include "io/temporary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MEMBERS = 4 };

typedef struct outputs {
    cip_env *env;
    cip_io *io[1 + MEMBERS];
    cip_out out[1 + MEMBERS];
    size_t n;
} outputs;

static cip_status member(void *user, const char *name, cip_out **out, cip_err *err)
{
    outputs *o = user;
    (void)name;
    if (o->n == 1 + MEMBERS)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET, "many members");
    CIP_TRY(cip_temporary_new(o->env, NULL, &o->io[o->n], err));
    o->out[o->n] = cip_temporary_out(o->io[o->n]);
    *out = &o->out[o->n++];
    return CIP_OK;
}

static cip_status run(cip_layout *l, unsigned how, cip_out *out, cip_err *err)
{
    static const char *const codecs[] = { NULL, "none", "lz4", "zlib", "blsc", "bls2:blosclz" };
    const cip_spec spec = { .codec = how % 3 != 1 ? codecs[how / 3 % 6] : NULL, /* 1: back */
                            .tree_slack = how % 2 == 0 ? 0 : -1,
                            .align = how % 5 };
    const cip_explosion all = { .bare = how % 2 != 0 };
    return how % 3 == 0 ? cip_asdf_explode(l, &all, &spec, out, err)
                        : cip_asdf_rewrite(l, &spec, out, err);
}

/* Arrays in blocks of the file read as before. */
static void compare(one_file *f, one_file *g)
{
    if (f->layout->narray != g->layout->narray)
        abort();
    for (size_t i = 0; i < f->layout->narray && i < 8; i++) {
        size_t n = 0, k = 0;
        uint8_t *a = one_read(f, i, &n);
        if (a == NULL)
            continue;
        uint8_t *b = one_read(g, i, &k);
        if (b == NULL || n != k || memcmp(a, b, n) != 0)
            abort();
        free(a);
        free(b);
    }
}

static void reopen(one_file *f, cip_io *io, const cip_limits *limits)
{
    one_file g;
    size_t n = (size_t)io->size;
    uint8_t *bytes = malloc(n + 1);
    if (bytes == NULL || cip_io_read(io, 0, bytes, n, NULL) != CIP_OK ||
        one_open_limited(&g, &cip_format_asdf, bytes, n, 0, NULL, limits) != CIP_OK)
        abort();
    compare(f, &g);
    one_close(&g);
    free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    one_file f;
    const cip_limits small = { .size = sizeof small, .max_memory = 16 << 20 };
    if (size == 0 || size > 1 << 16)
        return 0;
    if (one_open_limited(&f, &cip_format_asdf, data + 1, size - 1, 0, NULL, &small) == CIP_OK) {
        outputs o = { .env = &f.env };
        cip_out *out;
        if (member(&o, "", &out, NULL) == CIP_OK) {
            out->name = "m.asdf";
            out->member = member;
            out->member_user = &o;
            if (run(f.layout, data[0], out, NULL) == CIP_OK && data[0] % 3 != 0)
                reopen(&f, o.io[0], &small);
        }
        for (size_t i = 0; i < o.n; i++)
            cip_io_close(o.io[i]);
    }
    one_close(&f);
    return 0;
}
