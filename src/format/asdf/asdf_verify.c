/* SPDX-License-Identifier: BSD-3-Clause
 * Verifying: the blocks are walked one behind the other whatever the index says, the index is
 * compared with that, every checksum is computed, and with DEEP every block is decoded. Opening has
 * already warned of what it tolerated; that is not said again. */
#include "format/asdf/asdf.h"

#include <stdio.h>
#include <string.h>

#include "array/cast.h"
#include "base/strmap.h"

enum { INTEGERS_MAX = 1000 };

typedef struct part_name {
    char text[32];
} part_name;

static part_name block_name(size_t i)
{
    part_name p;
    snprintf(p.text, sizeof p.text, "block %zu", i);
    return p;
}

/* --- structure -------------------------------------------------------------------------------- */

static void note_gap(void *user, uint64_t from, uint64_t to, uint64_t next)
{
    if (next != UINT64_MAX)
        cip_report_add(user, CIP_NOTE, CIP_OK, from, to - from, "blocks",
                       "%" PRIu64 " unused bytes between two blocks", to - from);
}

/* What makes data doubtful that were given with a warning. */
static void check_header(const asdf_file *f, size_t i, cip_report *rep)
{
    const asdf_block *b = &f->blocks.at[i];
    const cip_block *cb = &f->layout->block[i];
    part_name part = block_name(i);
    if (b->state != CIP_OK && cb->why != NULL)
        cip_report_add(rep, CIP_BAD, b->state, cb->why->offset, 0, part.text, "%s", cb->why->text);
    else if (cb->info.state != CIP_OK && cb->why != NULL)
        cip_report_add(rep, CIP_WARN, cb->info.state, cb->why->offset, 0, part.text, "%s",
                       cb->why->text);
    if (b->state == CIP_OK && !cip_asdf_is_streamed(b) && cip_asdf_is_raw(b) &&
        b->data_size != b->used)
        cip_report_fixable(rep, CIP_BAD, CIP_ERR_CORRUPT, b->offset + b->form->data_size, 8,
                           part.text,
                           "expected a data_size of %" PRIu64 " like the used size, found %" PRIu64,
                           b->used, b->data_size);
}

static cip_status check_structure(asdf_file *f, cip_report *rep, cip_err *err)
{
    cip_window w = { .layout = f->layout, .in = f->layout->file };
    asdf_walk walk = { .blocks.form = f->blocks.form, .gap = note_gap, .user = rep };
    cip_status st = CIP_OK;
    if (f->blocks.n != 0)
        st = cip_asdf_walk(f->env, &w, f->blocks.at[0].offset, &walk, err);
    for (size_t i = 0; st == CIP_OK && i < f->blocks.n; i++)
        check_header(f, i, rep);
    const asdf_index *x = &f->index;
    const asdf_blocks *all = &walk.blocks;
    bool same = all->n == f->blocks.n;
    for (size_t i = 0; same && i < all->n; i++)
        same = all->at[i].offset == f->blocks.at[i].offset;
    if (st == CIP_OK && x->state == ASDF_INDEX_BAD)
        cip_report_fixable(rep, CIP_WARN, CIP_ERR_CORRUPT, x->at, x->len, "block index",
                           "the index is wrong or out of date and was not used: %s", x->why);
    if (st == CIP_OK && x->state == ASDF_INDEX_GOOD && !same)
        cip_report_fixable(
            rep, CIP_WARN, CIP_ERR_CORRUPT, x->at, x->len, "block index",
            "expected the %zu blocks that the index lists, found %zu one after the other",
            f->blocks.n, all->n);
    cip_asdf_blocks_clear(f->env, &walk.blocks);
    cip_window_clear(&w);
    return st;
}

/* --- checksums -------------------------------------------------------------------------------- */

typedef struct hashing {
    asdf_file *f;
    asdf_summing how;
    asdf_summed *slot;
} hashing;

static cip_status hash_job(void *arg, size_t i, cip_err *err)
{
    const hashing *h = arg;
    (void)err;
    cip_asdf_sum_block(h->f, i, &h->how, &h->slot[i]);
    return CIP_OK;
}

static const char *const half_words[] = {
    "the 64-bit checksum is neither half of the MD5 of the used bytes: unverifiable",
    "the 64-bit checksum is the first half of the MD5 of the used bytes",
    "the 64-bit checksum is the second half of the MD5 of the used bytes",
};

static void report_block(const asdf_file *f, size_t i, const asdf_summed *o, cip_report *rep)
{
    const asdf_block *b = &f->blocks.at[i];
    uint64_t at = b->offset + b->form->checksum;
    part_name part = block_name(i);
    cip_status st = o->stored != CIP_OK ? o->stored : o->decoded;
    if (st != CIP_OK)
        cip_report_add(rep, cip_severity_of(st), st, o->err.offset, 0, part.text, "%s",
                       o->err.text);
    if (o->stored != CIP_OK)
        return;
    if (cip_asdf_has_half_sum(f, i))
        cip_report_add(rep, CIP_NOTE, CIP_OK, at, b->form->checksum_len, part.text, "%s",
                       half_words[o->half]);
    if (o->sum_right)
        return;
    if (o->sum_legacy)
        cip_report_fixable(rep, CIP_NOTE, CIP_OK, at, ASDF_CHECKSUM_LEN, part.text,
                           "the checksum is of the decoded bytes, as older programs write it");
    else if (!cip_asdf_sum_is_wrong(f, o))
        cip_report_add(rep, CIP_NOTE, CIP_OK, at, ASDF_CHECKSUM_LEN, part.text,
                       "the stored MD5 is neither of the used nor of the decoded bytes, as "
                       "in some files of March 2015: unverifiable");
    else
        cip_report_add(rep, CIP_BAD, CIP_ERR_CHECKSUM, at, ASDF_CHECKSUM_LEN, part.text, "%s",
                       cip_asdf_mismatch(f, i, o).text);
}

/* Blocks are hashed side by side, and reported in their order. */
static cip_status check_sums(asdf_file *f, bool deep, cip_report *rep, cip_err *err)
{
    hashing h = { .f = f, .how = { .deep = deep, .told = rep } };
    CIP_TRY(CIP_NEW(&f->env->mem, &h.slot, f->blocks.n, err));
    for (size_t i = 0; i < f->blocks.n; i++)
        h.slot[i].err = (cip_err)CIP_ERR_INIT;
    cip_status st = cip_pool_run(f->env->pool, f->blocks.n, hash_job, &h, err);
    for (size_t i = 0; st == CIP_OK && i < f->blocks.n; i++) {
        report_block(f, i, &h.slot[i], rep);
        st = cip_report_status(rep, err);
    }
    cip_mem_put(&f->env->mem, h.slot);
    return st;
}

/* --- scalars that contradict themselves ------------------------------------------------------- */

typedef struct scalars {
    asdf_file *f;
    cip_report *rep;
    uint32_t ninteger;
    cip_strmap seen; /* nodes with aliases: they are looked at once */
    cip_arena keys;
} scalars;

/* Whether `string` says what `words` and `sign` do; what cannot be read is reported elsewhere. */
static void check_integer(scalars *s, const cip_visit *v)
{
    const cip_node *words = cip_map_get(v->node, "words"), *string = cip_map_get(v->node, "string");
    const cip_layout *l = s->f->layout;
    if (words == NULL || string == NULL || string->text == NULL || s->ninteger++ >= INTEGERS_MAX)
        return;
    size_t i = 0;
    while (i < l->narray && l->array[i]->node != words)
        i++;
    if (i == l->narray || l->array[i]->st != CIP_OK)
        return;
    cip_buf text = { .mem = &s->f->env->mem };
    if (cip_asdf_integer_read(s->f, v->node, l->array[i], &text, NULL) == CIP_OK &&
        !cip_asdf_integer_is(string, &text))
        cip_report_add(s->rep, CIP_WARN, CIP_ERR_CORRUPT, s->f->tree_off + v->node->offset, 0,
                       v->path, "the words of a core/integer differ from its string");
    cip_buf_clear(&text);
}

static int visit(void *user, const cip_visit *v)
{
    scalars *s = user;
    double re, im;
    if (v->again)
        return 1;
    if (v->node->alias_used) { /* once, whatever its paths, and not without memory to tell */
        size_t was = SIZE_MAX;
        if (cip_strmap_put_ptr(&s->seen, &s->keys, v->node, 0, &was, NULL) != CIP_OK ||
            was != SIZE_MAX)
            return 1;
    }
    if (v->node->tag == NULL)
        return 0;
    if (v->node->type == CIP_NODE_MAP && cip_asdf_is_core(v->node->tag, "integer"))
        check_integer(s, v);
    if (v->node->text != NULL && cip_asdf_is_core(v->node->tag, "complex") &&
        !cip_asdf_complex_parse(v->node->text, v->node->len, &re, &im))
        cip_report_add(s->rep, CIP_WARN, CIP_ERR_CORRUPT, s->f->tree_off + v->node->offset, 0,
                       v->path, "expected a complex number, found '%.60s'", v->node->text);
    return 0;
}

cip_status cip_asdf_verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    asdf_file *f = cip_asdf_of(l);
    cip_mem *mem = &f->env->mem;
    scalars s = { .f = f, .rep = report, .seen = { .mem = mem }, .keys = { .mem = mem } };
    CIP_TRY(check_structure(f, report, err));
    CIP_TRY(check_sums(f, deep, report, err));
    const cip_status st =
        cip_tree_walk_told(l->tree, f->env, visit, &s, &(cip_status){ CIP_OK }, err);
    cip_strmap_clear(&s.seen);
    cip_arena_clear(&s.keys);
    if (st != CIP_ERR_LIMIT) /* a tree too large to walk was warned about when it was opened */
        CIP_TRY(st);
    return cip_report_status(report, err);
}
