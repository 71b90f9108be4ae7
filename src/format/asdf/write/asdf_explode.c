/* SPDX-License-Identifier: BSD-3-Clause
 * The exploded form: blocks in files of their own, and back. Payloads are copied as they are
 * stored; of the tree's text only sources change. */
#include <string.h>

#include "base/num.h"
#include "format/asdf/write/asdf_write.h"

typedef struct exploding {
    asdf_file *f;
    cip_env *env;
    cip_arena arena;
    const cip_spec *spec;
    cip_out *out;
    bool bare;
    size_t *names;   /* for each block: how many arrays name it */
    bool *goes;      /* whether it leaves the file */
    int64_t *number; /* the new one of those that stay */
    const char **uri;
    size_t nmember;
} exploding;

/* --- which blocks ----------------------------------------------------------------------------- */

static cip_status mark_array(exploding *x, const cip_array *a, cip_err *err)
{
    int64_t i = a->storage.block;
    bool here = a->layout == x->f->layout && a->st == CIP_OK;
    if (!here || i < 0 || (uint64_t)i >= x->f->blocks.n)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected an array in a block of the file: '%.80s'", a->path);
    x->goes[i] = true;
    const cip_array *m = a->mask.array;
    if (m != NULL && m->storage.block >= 0 && (uint64_t)m->storage.block < x->f->blocks.n)
        x->goes[m->storage.block] = true;
    return CIP_OK;
}

/* --- files beside ----------------------------------------------------------------------------- */

static cip_status write_member(exploding *x, const asdf_standard *s, size_t block, cip_err *err)
{
    char *name, *uri;
    cip_out *out;
    cip_status st;
    asdf_piece p;
    cip_buf head = { .mem = &x->env->mem }, tree = { .mem = &x->env->mem };
    asdf_pieces all = { .slack = cip_asdf_slack_beside(x->spec->tree_slack),
                        .align = x->spec->align,
                        .early = s->early,
                        .n = 1,
                        .block = &p };
    CIP_GO(cip_asdf_member_name(&x->arena, x->out, x->nmember, false, &name, err));
    CIP_GO(cip_asdf_member_name(&x->arena, x->out, x->nmember++, true, &uri, err));
    CIP_GO(cip_asdf_piece_of(x->f, block, &x->arena, &p, err));
    CIP_GO(cip_asdf_head_text(s, &head, err));
    if (!x->bare && !s->early) /* else the arrays that tell of a block are in the file itself */
        CIP_GO(cip_asdf_tree_text(x->env, s, NULL, (asdf_swaps){ NULL, 0 }, &tree, err));
    all.head = (cip_bytes){ head.ptr, head.len };
    all.tree = (cip_bytes){ tree.ptr, tree.len };
    CIP_GO(x->out->member(x->out->member_user, name, &out, err));
    CIP_GO(cip_asdf_pieces_write(x->f, &all, x->spec->notes, out, err));
    x->uri[block] = uri;
done:
    cip_buf_clear(&head);
    cip_buf_clear(&tree);
    return st;
}

/* --- the file itself -------------------------------------------------------------------------- */

static cip_status new_source(void *user, const cip_node *source, cip_buf *text, cip_err *err)
{
    const exploding *x = user;
    const uint64_t i = cip_asdf_block_of(source, x->f->blocks.n);
    if (i >= x->f->blocks.n)
        return CIP_OK;
    if (x->uri[i] != NULL) /* of characters that need no quotes within */
        return cip_buf_addf(text, err, "'%s'", x->uri[i]);
    return cip_buf_addf(text, err, "%" PRId64, x->number[i]);
}

static cip_status write_main(exploding *x, asdf_pieces *all, cip_err *err)
{
    cip_status st = CIP_OK;
    asdf_piece *p;
    cip_buf tree = { .mem = &x->env->mem };
    CIP_TRY(CIP_ARENA_NEW(&x->arena, &p, x->f->blocks.n, err));
    for (size_t i = 0; i < x->f->blocks.n; i++) {
        if (x->goes[i])
            continue;
        x->number[i] = (int64_t)all->n;
        CIP_TRY(cip_asdf_piece_of(x->f, i, &x->arena, &p[all->n++], err));
    }
    all->block = p;
    if (all->tree.len != 0)
        CIP_GO(cip_asdf_splice_sources(x->env, all->tree, new_source, x, &tree, err));
    all->tree = (cip_bytes){ tree.ptr, tree.len };
    st = cip_asdf_pieces_write(x->f, all, x->spec->notes, x->out, err);
done:
    cip_buf_clear(&tree);
    return st;
}

/* Blocks that no ndarray names stay, and are told; where others before them go they get other
 * numbers, which what names them does not know. */
static cip_status check_staying(exploding *x, cip_err *err)
{
    const cip_node *root = x->f->layout->tree;
    const size_t n = x->f->blocks.n;
    bool moved = false, gone = false, *unnamed;
    asdf_block_list list;
    asdf_foreign foreign = { .found = false };
    CIP_TRY(CIP_ARENA_NEW(&x->arena, &unnamed, n, err));
    for (size_t i = 0; i < n; i++) {
        unnamed[i] = x->names[i] == 0;
        moved = moved || (gone && unnamed[i]);
        gone = gone || x->goes[i];
    }
    cip_asdf_list_blocks(unnamed, n, &list);
    if (list.count != 0 && x->spec->notes != NULL)
        cip_report_add(x->spec->notes, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, "blocks",
                       "blocks that no array uses stay in the file: %s", list.text);
    if (moved)
        CIP_TRY(cip_asdf_find_foreign(x->env, root, &foreign, err));
    return foreign.found ? cip_asdf_lose(x->spec, foreign.path, err, ASDF_FOREIGN_LOSS, foreign.tag)
                         : CIP_OK;
}

static cip_status explode(exploding *x, const cip_explosion *how, cip_err *err)
{
    asdf_pieces all = { .slack = x->spec->tree_slack,
                        .align = x->spec->align,
                        .early = cip_asdf_is_early(x->f->header.file) };
    const asdf_standard *s;
    size_t n = x->f->blocks.n;
    CIP_TRY(cip_asdf_text_of(x->f, &x->arena, &all.head, &all.tree, err));
    all.crlf = cip_asdf_is_crlf(all.head);
    CIP_TRY(CIP_ARENA_NEW(&x->arena, &x->names, n, err));
    CIP_TRY(CIP_ARENA_NEW(&x->arena, &x->goes, n, err));
    CIP_TRY(CIP_ARENA_NEW(&x->arena, &x->number, n, err));
    CIP_TRY(CIP_ARENA_NEW(&x->arena, &x->uri, n, err));
    /* those of the arrays that are given go, or all that arrays name */
    CIP_TRY(cip_asdf_count_names(x->env, x->f->layout->tree, n, x->names, n, err));
    for (size_t i = 0; i < how->narray; i++)
        CIP_TRY(mark_array(x, how->array[i], err));
    for (size_t i = 0; i < n && how->narray == 0; i++)
        x->goes[i] = x->names[i] != 0;
    CIP_TRY(check_staying(x, err));
    CIP_TRY(cip_asdf_check_links(x->spec, x->f, true, err));
    CIP_TRY(cip_asdf_standard(all.early ? "0.1.0" : cip_asdf_own_standard(&x->f->header), &s, err));
    for (size_t i = 0; i < n; i++)
        if (x->goes[i])
            CIP_TRY(write_member(x, s, i, err));
    return write_main(x, &all, err);
}

cip_status cip_asdf_explode(cip_layout *l, const cip_explosion *how, const cip_spec *spec,
                            cip_out *out, cip_err *err)
{
    exploding x = { .f = cip_asdf_of(l),
                    .env = l->env,
                    .arena = { .mem = &l->env->mem },
                    .spec = spec,
                    .out = out,
                    .bare = how->bare };
    CIP_TRY(cip_asdf_check_numbers(x.f, err));
    cip_status st = explode(&x, how, err);
    cip_arena_clear(&x.arena);
    return st;
}

/* --- back ------------------------------------------------------------------------------------- */

static cip_status add_place(asdf_gather *x, const asdf_file *f, size_t i, cip_err *err)
{
    CIP_TRY(CIP_ROOM(&x->f->env->mem, &x->at, x->n, &x->cap, err));
    x->at[x->n++] = (asdf_place){ f, i };
    return CIP_OK;
}

static cip_status take_source(void *user, const cip_node *source, cip_buf *text, cip_err *err)
{
    asdf_gather *x = user;
    cip_layout *other;
    char *uri;
    if (source->type != CIP_NODE_STRING || strncmp(source->text, "fits:", 5) == 0)
        return CIP_OK;
    CIP_TRY(cip_arena_copy(x->a, source->text, strcspn(source->text, "#"), &uri, err));
    CIP_TRY(cip_asdf_external(x->f, uri, false, &other, err));
    if (other == NULL)
        return x->own != 0 ? cip_buf_addf(text, err, "0") : CIP_OK;
    if (other->nblock == 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a block in '%.120s'", uri);
    size_t i = x->own;
    while (i < x->n && x->at[i].f->layout != other)
        i++;
    if (i == x->n)
        CIP_TRY(add_place(x, cip_asdf_of(other), 0, err));
    return cip_buf_addf(text, err, "%zu", i);
}

cip_status cip_asdf_gather(asdf_gather *x, cip_bytes tree, cip_err *err)
{
    x->tree.mem = &x->f->env->mem;
    for (size_t i = 0; i < x->f->blocks.n; i++)
        CIP_TRY(add_place(x, x->f, i, err));
    x->own = x->n;
    if (tree.len == 0)
        return CIP_OK;
    cip_buf first = { .mem = &x->f->env->mem };
    cip_status st = cip_asdf_splice_sources(x->f->env, tree, take_source, x, &first, err);
    const cip_bytes now = { first.ptr, first.len };
    if (st == CIP_OK && x->n == x->own)
        st = cip_buf_add(&x->tree, now.ptr, now.len, err);
    else if (st == CIP_OK) /* blocks came behind: the file's own are not counted from the end now */
        st = cip_asdf_renumber(x->f->env, now, NULL, x->own, &x->tree, err);
    cip_buf_clear(&first);
    return st;
}

void cip_asdf_gather_clear(asdf_gather *x)
{
    cip_buf_clear(&x->tree);
    if (x->at != NULL)
        cip_mem_put(&x->f->env->mem, x->at);
    x->at = NULL;
}

void cip_asdf_freeze_piece(asdf_piece *p)
{
    asdf_block *b = &p->head;
    b->flags &= ~(uint32_t)ASDF_STREAMED;
    b->allocated = b->data_size = b->used;
    memset(b->checksum, 0, sizeof b->checksum);
}
