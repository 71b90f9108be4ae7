/* SPDX-License-Identifier: BSD-3-Clause
 * Checksums of blocks, computed and compared by all the conventions there were: the MD5 of the
 * stored bytes, of the decoded ones (what writers did before 2026), halves of an MD5 (0.1). Used by
 * verify, and by files that are opened to be checked: there each block is compared once, whole,
 * before the first of its bytes is given out. */
#include <stdio.h>
#include <string.h>

#include "format/asdf/asdf.h"

enum { PIECE = 1 << 20 };

/* The bytes of block i whether or not the file is checked: they are what is to be compared. */
static asdf_plain plain_of(const asdf_file *f, size_t i)
{
    const cip_block *b = &f->layout->block[i];
    return f->plain != NULL ? f->plain[i] : (asdf_plain){ .stored = b->stored, .data = b->data };
}

/* Where streamed bytes go. */
typedef struct digest {
    cip_sum *sum;     /* or NULL */
    cip_report *told; /* or NULL */
} digest;

static int sum_piece(void *user, const uint8_t *p, size_t n)
{
    const digest *x = user;
    if (x->sum != NULL)
        cip_sum_add(x->sum, p, n);
    return cip_report_progress(x->told, n);
}

bool cip_asdf_has_half_sum(const asdf_file *f, size_t i)
{
    static const uint8_t none[ASDF_CHECKSUM_LEN];
    const asdf_block *b = &f->blocks.at[i];
    return b->form->checksum_len != ASDF_CHECKSUM_LEN && b->state == CIP_OK &&
           !cip_asdf_is_streamed(b) && memcmp(b->checksum, none, sizeof none) != 0;
}

cip_status cip_asdf_md5(const cip_read_how *how, cip_space *s, cip_report *told, uint8_t *out,
                        cip_err *err)
{
    digest x = { .told = told };
    CIP_TRY(cip_sum_new(&how->layout->env->mem, CIP_SUM_MD5, &x.sum, err));
    cip_status st = cip_space_stream(how, s, PIECE, sum_piece, &x, err);
    cip_sum_take(x.sum, out);
    cip_sum_free(x.sum);
    return st;
}

/* A checksum of which nobody says how it was made: half an MD5 perhaps. */
static void hash_half(const asdf_file *f, size_t i, cip_report *told, asdf_summed *o)
{
    const asdf_block *b = &f->blocks.at[i];
    uint8_t got[CIP_SUM_MAX];
    size_t n = b->form->checksum_len;
    const cip_read_how how = { .layout = f->layout };
    o->stored = cip_asdf_md5(&how, plain_of(f, i).stored, told, got, &o->err);
    if (o->stored == CIP_OK)
        o->half = memcmp(got, b->checksum, n) == 0       ? 1
                  : memcmp(got + n, b->checksum, n) == 0 ? 2
                                                         : 0;
}

/* Streams a space through a checksum (NULL: just decodes it), which is left in `got`. */
static cip_status stream(const asdf_file *f, cip_space *s, const digest *x, uint8_t *got,
                         cip_err *err)
{
    const cip_read_how how = { .layout = f->layout };
    CIP_TRY(cip_space_stream(&how, s, PIECE, sum_piece, (void *)x, err));
    if (x->sum != NULL)
        cip_sum_take(x->sum, got);
    return CIP_OK;
}

cip_status cip_asdf_sum_block(const asdf_file *f, size_t i, const asdf_summing *how, asdf_summed *o,
                              cip_err *err)
{
    const cip_block *b = &f->layout->block[i];
    const asdf_plain plain = plain_of(f, i);
    const uint8_t *want = b->info.checksum_value;
    uint8_t got[CIP_SUM_MAX];
    bool has_sum = b->sum_id != CIP_SUM_NONE && f->blocks.at[i].state == CIP_OK;
    digest x = { .told = how->told };
    o->sum_right = !has_sum;
    if (cip_asdf_has_half_sum(f, i))
        hash_half(f, i, how->told, o);
    if (has_sum) {
        CIP_TRY(cip_sum_new(&f->env->mem, (cip_sum_id)b->sum_id, &x.sum, err));
        o->stored = stream(f, plain.stored, &x, o->md5, &o->err);
        o->sum_right = o->stored == CIP_OK && memcmp(o->md5, want, ASDF_CHECKSUM_LEN) == 0;
    }
    bool try_legacy = o->stored == CIP_OK && !o->sum_right && plain.data != plain.stored;
    bool expected = cip_layout_expects(f->layout, b->info.decoded_nbytes); /* or core tells */
    if (plain.data != NULL && expected && (how->deep || try_legacy)) {
        const digest data = { .sum = try_legacy ? x.sum : NULL, .told = how->told };
        o->decoded = stream(f, plain.data, &data, got, &o->err);
        o->sum_legacy =
            try_legacy && o->decoded == CIP_OK && memcmp(got, want, ASDF_CHECKSUM_LEN) == 0;
    }
    cip_sum_free(x.sum);
    return CIP_OK;
}

/* Whether the file may be of the batch of March 2015 whose MD5s are of nothing that is there:
 * layout D, before there were indexes. */
static bool may_be_wrong_batch(const asdf_file *f)
{
    return cip_asdf_is_early(f->header.file) && f->index.state == ASDF_INDEX_NONE &&
           cip_asdf_layout_name(f)[0] == 'D';
}

bool cip_asdf_sum_is_wrong(const asdf_file *f, const asdf_summed *o)
{
    return !o->sum_right && !o->sum_legacy && !may_be_wrong_batch(f);
}

static const char *array_of_block(const asdf_file *f, size_t i)
{
    const cip_layout *l = f->layout;
    for (size_t k = 0; k < l->narray; k++)
        if (l->array[k]->storage.block == (int64_t)i)
            return l->array[k]->path;
    return "no array";
}

static void hex(const uint8_t *p, char out[2 * ASDF_CHECKSUM_LEN + 1])
{
    for (int i = 0; i < ASDF_CHECKSUM_LEN; i++)
        snprintf(out + 2 * i, 3, "%02x", p[i]);
}

asdf_mismatch cip_asdf_mismatch(const asdf_file *f, size_t i, const asdf_summed *s)
{
    asdf_mismatch m;
    char stored[2 * ASDF_CHECKSUM_LEN + 1], computed[2 * ASDF_CHECKSUM_LEN + 1];
    hex(f->layout->block[i].info.checksum_value, stored);
    hex(s->md5, computed);
    snprintf(m.text, sizeof m.text, "MD5 mismatch in block %zu (%.80s): stored %s, computed %s", i,
             array_of_block(f, i), stored, computed);
    return m;
}

/* --- files that are checked ------------------------------------------------------------------- */

static cip_status compare(const asdf_file *f, size_t i, cip_err *err)
{
    const asdf_block *b = &f->blocks.at[i];
    const asdf_summing how = { .deep = false };
    asdf_summed o = { .err = CIP_ERR_INIT };
    CIP_TRY(cip_asdf_sum_block(f, i, &how, &o, err));
    if (o.stored != CIP_OK) {
        cip_err_pass(err, &o.err);
        return o.stored;
    }
    if (!cip_asdf_sum_is_wrong(f, &o))
        return CIP_OK;
    cip_fail(err, CIP_ERR_CHECKSUM, b->offset + b->form->checksum, "%s",
             cip_asdf_mismatch(f, i, &o).text);
    return cip_fail_in(err, CIP_ERR_CHECKSUM, "%s", plain_of(f, i).stored->label);
}

/* Once, whichever of its spaces is made first: makers run one at a time. The file that is open
 * stays what it is, so a mismatch stays one; a read that failed may be tried again. */
static cip_status compare_once(asdf_plain *p, cip_err *err)
{
    if (!p->compared) {
        p->why = (cip_err)CIP_ERR_INIT;
        p->st = compare(p->f, p->i, &p->why);
        p->compared = !cip_is_passing(p->st);
    }
    if (p->st != CIP_OK)
        cip_err_pass(err, &p->why);
    return p->st;
}

static cip_status give_stored(void *self, cip_space **out, cip_err *err)
{
    asdf_plain *p = self;
    CIP_TRY(compare_once(p, err));
    *out = p->stored;
    return CIP_OK;
}

static cip_status give_data(void *self, cip_space **out, cip_err *err)
{
    asdf_plain *p = self;
    CIP_TRY(compare_once(p, err));
    *out = p->data;
    return CIP_OK;
}

/* A space that is compared before it becomes what it stands for. */
static cip_status guard(asdf_plain *p, cip_space *inner, cip_space **out, cip_err *err)
{
    CIP_TRY(cip_space_new_lazy(p->f->layout, inner == p->stored ? give_stored : give_data, p, out,
                               err));
    (*out)->len = inner->len; /* which users of raw blocks look at before they read */
    return CIP_OK;
}

cip_status cip_asdf_guard_blocks(asdf_file *f, cip_err *err)
{
    cip_layout *l = f->layout;
    asdf_plain *plain;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &plain, l->nblock, err));
    for (size_t i = 0; i < l->nblock; i++) {
        cip_block *b = &l->block[i];
        plain[i] = (asdf_plain){ .f = f, .i = i, .stored = b->stored, .data = b->data };
        if (b->info.checksum[0] == '\0')
            continue;
        CIP_TRY(guard(&plain[i], plain[i].stored, &b->stored, err));
        if (plain[i].data == plain[i].stored)
            b->data = b->stored;
        else if (plain[i].data != NULL)
            CIP_TRY(guard(&plain[i], plain[i].data, &b->data, err));
    }
    f->plain = plain;
    return CIP_OK;
}
