/* SPDX-License-Identifier: BSD-3-Clause
 * A whole file anew from an open one: the text as it stands, blocks as they are stored unless
 * another codec or checksum is asked for. */
#include <string.h>

#include "base/num.h"
#include "format/asdf/write/asdf_write.h"
#include "io/revision_out.h"
#include "io/temporary.h"
#include "space/read/read.h"
#include "tree/edit.h"

static const asdf_packing as_it_is = { .codec = NULL };

/* The decoded bytes into the temporary file, as they are where the codec makes them no smaller; *p
 * says what came of it. */
static cip_status encode(asdf_recoding *w, cip_space *data, const asdf_packing *how, asdf_piece *p,
                         cip_err *err)
{
    asdf_blockw b = { .env = w->env, .how = *how, .sum = w->sum, .told = w->notes };
    bool larger;
    if (w->temporary == NULL)
        CIP_TRY(cip_temporary_new(w->env, NULL, &w->temporary, err));
    CIP_TRY(cip_asdf_blockw_space(&b, w->temporary, w->layout, data, &larger, err));
    if (larger)
        return encode(w, data, &as_it_is, p, err);
    b.head.form = p->head.form;
    b.head.flags = p->head.flags & ~(uint32_t)ASDF_STREAMED;
    memcpy(b.head.encoding, p->head.encoding, sizeof b.head.encoding);
    p->head = b.head;
    p->io = w->temporary;
    return CIP_OK;
}

/* A block of another layout than the file's. What that cannot say of a payload is decoded; a
 * checksum is of a payload that stays. */
static cip_status change_form(asdf_recoding *w, const cip_block *b, asdf_piece *p, cip_err *err)
{
    const asdf_block_form *from = cip_asdf_form_of(&p->head);
    static const uint8_t zeros[ASDF_ENCODING_LEN];
    bool plain = memcmp(p->head.code, zeros, sizeof p->head.code) == 0 &&
                 (p->head.flags & ASDF_ENCODED) == 0 &&
                 memcmp(p->head.encoding, zeros, sizeof p->head.encoding) == 0;
    p->head.form = w->form;
    p->extra.len = 0;
    if (from->checksum_len != w->form->checksum_len)
        memset(p->head.checksum, 0, sizeof p->head.checksum);
    if (plain || (from->code != 0 && w->form->code != 0))
        return CIP_OK;
    if (b->data == NULL) {
        cip_err_pass(err, b->why);
        return b->info.state;
    }
    memset(p->head.encoding, 0, sizeof p->head.encoding);
    p->head.flags &= ~(uint32_t)ASDF_ENCODED;
    CIP_TRY(encode(w, b->data, &as_it_is, p, err));
    memset(p->head.checksum, 0, sizeof p->head.checksum);
    return CIP_OK;
}

cip_status cip_asdf_recode(asdf_recoding *w, const asdf_place *at, asdf_piece *p, cip_err *err)
{
    const cip_block *b = &at->f->layout->block[at->i];
    cip_space *stored;
    CIP_TRY(cip_space_resolve(b->stored, &stored, err)); /* compared, where the file is checked */
    CIP_TRY(cip_asdf_piece_of(at->f, at->i, w->arena, p, err));
    if (cip_asdf_form_of(&p->head) != w->form)
        CIP_TRY(change_form(w, b, p, err));
    bool streamed = (p->head.flags & ASDF_STREAMED) != 0;
    if (w->recode && b->data != NULL && !(streamed && !cip_asdf_packs(&w->how))) {
        asdf_packing how = w->how;
        how.typesize = cip_asdf_block_item(at->f->layout, at->i);
        return encode(w, b->data, &how, p, err);
    }
    if (!w->resum || streamed)
        return CIP_OK;
    if (w->sum == ASDF_SUM_NONE) {
        memset(p->head.checksum, 0, sizeof p->head.checksum);
        return CIP_OK;
    }
    const cip_read_how how = { w->layout, w->env->pool };
    bool decoded = w->sum == ASDF_SUM_DECODED && b->data != NULL;
    return cip_asdf_md5(&how, decoded ? b->data : b->stored, w->notes, p->head.checksum, err);
}

/* --- pieces to bytes -------------------------------------------------------------------------- */

typedef struct writing {
    cip_out *out;
    cip_report *told;
} writing;

static cip_status put_piece(void *user, const void *p, size_t n, cip_err *err)
{
    writing *w = user;
    CIP_TRY(cip_out_write(w->out, p, n, err));
    return cip_report_progress(w->told, n) ? cip_report_status(w->told, err) : CIP_OK;
}

cip_status cip_asdf_pieces_write(const asdf_file *f, const asdf_pieces *p, cip_report *told,
                                 cip_out *out, cip_err *err)
{
    cip_revision r = { .patch = { .arena = { .mem = &f->env->mem } },
                       .has_tail = true,
                       .anew = true };
    cip_out tail = cip_revision_tail(&r);
    writing w = { out, told };
    cip_io *io = NULL;
    cip_status st;
    CIP_GO(cip_asdf_put_pieces(f->env, p, &tail, err));
    CIP_GO(cip_io_open_revision(f->layout->io, &r, &io, err));
    cip_report_expect(told, io->size);
    st = cip_io_each(io, 0, io->size, put_piece, &w, err);
done:
    cip_io_close(io);
    cip_revision_clear(&r);
    return st;
}

bool cip_asdf_is_crlf(cip_bytes head)
{
    const uint8_t *nl = head.len != 0 ? memchr(head.ptr, '\n', head.len) : NULL;
    return nl != NULL && nl != head.ptr && nl[-1] == '\r';
}

/* The extension that a codec beyond the standard needs, among those that the text announces. */
static cip_status announce(asdf_recoding *w, const asdf_file *f, cip_buf *tree, cip_err *err)
{
    const asdf_standard *s;
    const cip_node *node;
    cip_yaml_edit *e;
    cip_err why = CIP_ERR_INIT;
    const char *version = cip_asdf_own_standard(&f->header);
    if (tree->len == 0 || version == NULL)
        return CIP_OK;
    CIP_TRY(cip_asdf_standard(version, &s, err));
    CIP_TRY(cip_asdf_codec_extension(w->arena, s, w->layout->tree, w->how.codec, &node, err));
    if (node == NULL)
        return CIP_OK;
    CIP_TRY(cip_yaml_edit_new(w->env, (cip_bytes){ tree->ptr, tree->len }, &cip_asdf_tree_options,
                              &e, err));
    cip_status st = cip_yaml_edit_set(e, "history/extensions/-", node, &why);
    if (st == CIP_OK) {
        cip_bytes now = cip_yaml_edit_text(e);
        tree->len = 0;
        st = cip_buf_add(tree, now.ptr, now.len, err);
    } else if (st != CIP_ERR_NOMEM && st != CIP_ERR_LIMIT && w->notes != NULL) {
        cip_report_add(w->notes, CIP_NOTE, CIP_OK, why.offset, 0, "history/extensions",
                       "the extension that the codec %s needs is not listed in the file: %s",
                       cip_asdf_packing_name(&w->how), why.text);
        st = CIP_OK;
    }
    cip_yaml_edit_free(e);
    return st;
}

static cip_status write_gathered(asdf_recoding *w, asdf_gather *x, asdf_pieces *all, cip_out *out,
                                 cip_err *err)
{
    asdf_piece *p;
    bool early = cip_asdf_is_early(x->f->header.file);
    w->form = early && x->n != 0 ? cip_asdf_blocks_form(&x->at[0].f->blocks) : &cip_asdf_form_1_0;
    CIP_TRY(CIP_ARENA_NEW(w->arena, &p, x->n, err));
    for (size_t i = 0; i < x->n; i++)
        CIP_TRY(cip_asdf_recode(w, &x->at[i], &p[i], err));
    bool used = false;
    for (size_t i = 0; i < x->n; i++) {
        used = used || cip_asdf_codec_of(p[i].head.code) == w->how.codec;
        if (i + 1 < x->n && (p[i].head.flags & ASDF_STREAMED) != 0) /* only the last may grow on */
            cip_asdf_freeze_piece(&p[i]);
    }
    if (used && w->recode && cip_asdf_packs(&w->how))
        CIP_TRY(announce(w, x->f, &x->tree, err));
    all->tree = (cip_bytes){ x->tree.ptr, x->tree.len };
    all->n = x->n;
    all->block = p;
    return cip_asdf_pieces_write(x->f, all, w->notes, out, err);
}

/* Data in other files come along: their names may mean nothing where the output lies. */
static cip_status rewrite(asdf_recoding *w, asdf_file *f, const cip_spec *spec, cip_out *out,
                          cip_err *err)
{
    asdf_pieces all = { .slack = spec->tree_slack,
                        .align = spec->align,
                        .early = cip_asdf_is_early(f->header.file) };
    asdf_gather x = { .f = f, .a = w->arena };
    CIP_TRY(cip_asdf_text_of(f, w->arena, &all.head, &all.tree, err));
    all.crlf = cip_asdf_is_crlf(all.head);
    CIP_TRY(cip_asdf_check_links(spec, f, false, err));
    cip_status st = cip_asdf_gather(&x, all.tree, err);
    if (st == CIP_OK)
        st = write_gathered(w, &x, &all, out, err);
    cip_asdf_gather_clear(&x);
    return st;
}

cip_status cip_asdf_recoding_begin(cip_layout *l, cip_arena *a, const cip_spec *spec,
                                   asdf_recoding *w, cip_err *err)
{
    *w = (asdf_recoding){ .layout = l, .env = l->env, .arena = a, .notes = spec->notes };
    w->recode = spec->codec != NULL;
    w->resum = spec->checksum != NULL;
    CIP_TRY(cip_asdf_packing_of(spec, &w->how, err));
    return cip_asdf_sum(spec->checksum, &w->sum, err);
}

void cip_asdf_recoding_clear(asdf_recoding *w)
{
    cip_io_close(w->temporary);
    w->temporary = NULL;
}

bool cip_asdf_may_rewrite(const cip_layout *l, const cip_spec *spec)
{
    return spec->big < 0 && spec->version == NULL &&
           cip_option_given(spec->option, ASDF_OPTION_ENCODE) == NULL &&
           !cip_asdf_is_early(cip_asdf_of(l)->header.file);
}

cip_status cip_asdf_rewrite(cip_layout *l, const cip_spec *spec, cip_out *out, cip_err *err)
{
    cip_arena arena = { .mem = &l->env->mem };
    asdf_file *f = cip_asdf_of(l);
    asdf_recoding w;
    cip_status st;
    CIP_TRY(cip_asdf_check_numbers(f, err));
    CIP_GO(cip_asdf_recoding_begin(l, &arena, spec, &w, err));
    const asdf_block_form *form = cip_asdf_blocks_form(&f->blocks);
    if ((w.recode || w.resum) && form != &cip_asdf_form_1_0)
        CIP_GO(cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected blocks of ASDF 1.0 to rewrite them, found layout %s",
                        form->name));
    st = rewrite(&w, f, spec, out, err);
done:
    cip_asdf_recoding_clear(&w);
    cip_arena_clear(&arena);
    return st;
}
