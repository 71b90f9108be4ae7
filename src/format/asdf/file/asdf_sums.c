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
    if (out != NULL)
        CIP_TRY(cip_sum_new(&how->layout->env->mem, CIP_SUM_MD5, &x.sum, err));
    cip_status st = cip_space_stream(how, s, PIECE, sum_piece, &x, err);
    if (out != NULL)
        cip_sum_take(x.sum, out);
    cip_sum_free(x.sum);
    return st;
}

void cip_asdf_sum_block(const asdf_file *f, size_t i, const asdf_summing *how, asdf_summed *o)
{
    const cip_block *b = &f->layout->block[i];
    const asdf_block *head = &f->blocks.at[i];
    const asdf_plain plain = plain_of(f, i);
    const cip_read_how read = { .layout = f->layout };
    const uint8_t *want = b->info.checksum_value;
    const size_t n = head->form->checksum_len;
    uint8_t got[CIP_SUM_MAX];
    const bool has_sum = b->sum_id != CIP_SUM_NONE && head->state == CIP_OK;
    const bool has_half = cip_asdf_has_half_sum(f, i);
    o->sum_right = !has_sum;
    if (has_sum || has_half)
        o->stored = cip_asdf_md5(&read, plain.stored, how->told, got, &o->err);
    if (has_half && o->stored == CIP_OK) /* nobody says how it was made */
        o->half = memcmp(got, head->checksum, n) == 0       ? 1
                  : memcmp(got + n, head->checksum, n) == 0 ? 2
                                                            : 0;
    if (has_sum && o->stored == CIP_OK) {
        memcpy(o->md5, got, sizeof o->md5);
        o->sum_right = memcmp(got, want, ASDF_CHECKSUM_LEN) == 0;
    }
    bool try_legacy = o->stored == CIP_OK && !o->sum_right && plain.data != plain.stored;
    bool expected = cip_layout_expects(f->layout, b->info.decoded_nbytes); /* or core tells */
    if (plain.data != NULL && expected && (how->deep || try_legacy)) {
        o->decoded = cip_asdf_md5(&read, plain.data, how->told, try_legacy ? got : NULL, &o->err);
        o->sum_legacy =
            try_legacy && o->decoded == CIP_OK && memcmp(got, want, ASDF_CHECKSUM_LEN) == 0;
    }
}

bool cip_asdf_sum_is_wrong(const asdf_file *f, const asdf_summed *o)
{
    /* A batch of March 2015 has MD5s of nothing that is there: layout D, before there were indexes.
     */
    const bool may_be_batch = cip_asdf_is_early(f->header.file) &&
                              f->index.state == ASDF_INDEX_NONE &&
                              cip_asdf_layout_name(f)[0] == 'D';
    return !o->sum_right && !o->sum_legacy && !may_be_batch;
}

static void hex(const uint8_t *p, char out[2 * ASDF_CHECKSUM_LEN + 1])
{
    for (int i = 0; i < ASDF_CHECKSUM_LEN; i++)
        snprintf(out + 2 * i, 3, "%02x", p[i]);
}

asdf_mismatch cip_asdf_mismatch(const asdf_file *f, size_t i, const asdf_summed *s)
{
    asdf_mismatch m;
    const cip_layout *l = f->layout;
    const char *name = "no array";
    for (size_t k = l->narray; k-- > 0;)
        if (l->array[k]->storage.block == (int64_t)i)
            name = l->array[k]->path;
    char stored[2 * ASDF_CHECKSUM_LEN + 1], computed[2 * ASDF_CHECKSUM_LEN + 1];
    hex(l->block[i].info.checksum_value, stored);
    hex(s->md5, computed);
    snprintf(m.text, sizeof m.text, "MD5 mismatch in block %zu (%.80s): stored %s, computed %s", i,
             name, stored, computed);
    return m;
}

/* --- files that are checked ------------------------------------------------------------------- */

static cip_status compare(const asdf_file *f, size_t i, cip_err *err)
{
    const asdf_block *b = &f->blocks.at[i];
    const asdf_summing how = { .deep = false };
    asdf_summed o = { .err = CIP_ERR_INIT };
    cip_asdf_sum_block(f, i, &how, &o);
    if (o.stored != CIP_OK)
        return cip_err_give(err, &o.err, o.stored);
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
