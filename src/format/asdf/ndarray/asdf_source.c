/* SPDX-License-Identifier: BSD-3-Clause
 * Where an array's data are: a block of this file by number, or the first block of another file.
 * Other files are opened when they are first needed, once each, beneath this file's folder only. */
#include "format/asdf/asdf.h"

#include <string.h>

/* --- blocks of this file ---------------------------------------------------------------------- */

const cip_node *cip_asdf_source_of(const cip_node *n)
{
    const bool is = cip_node_kind(n) == CIP_NODE_MAP && cip_asdf_is_ndarray(n->tag, NULL);
    return is ? cip_map_get(n, "source") : NULL;
}

uint64_t cip_asdf_block_of(const cip_node *source, size_t n)
{
    int64_t i;
    if (!cip_node_as_int(source, &i))
        return UINT64_MAX;
    const uint64_t back = 0 - (uint64_t)i;
    return i >= 0 ? (uint64_t)i : back <= n ? n - back : UINT64_MAX;
}

cip_status cip_asdf_check_number(const asdf_file *f, size_t i, cip_err *err)
{
    if (i < f->sure)
        return CIP_OK;
    uint64_t at = f->sure < f->blocks.n ? f->blocks.at[f->sure].offset : f->blocks_from;
    return cip_fail(err, CIP_ERR_CORRUPT, at,
                    "block number %zu is unknown: bytes before it may hold a lost block, and there "
                    "is no valid index",
                    i);
}

/* The i-th block's data, or why there are none. */
static cip_status block_space(const cip_layout *l, size_t i, cip_space **out, cip_err *err)
{
    const cip_block *b = &l->block[i];
    CIP_TRY(cip_asdf_check_number(cip_asdf_of(l), i, err));
    if (b->info.state == CIP_OK) {
        *out = b->data;
        return CIP_OK;
    }
    cip_err_pass(err, b->why);
    return b->info.state;
}

/* Adds what an ndarray's source asks for. */
static int count_needed(void *user, const cip_visit *v)
{
    asdf_file *f = user;
    int64_t i;
    const cip_node *source = v->again ? NULL : cip_asdf_source_of(v->node);
    if (source != NULL && cip_node_as_int(source, &i) && i != INT64_MIN) {
        uint64_t n = i < 0 ? (uint64_t)-i : (uint64_t)i + 1;
        f->needed = n > f->needed ? n : f->needed;
        f->from_end = f->from_end || i < 0;
    }
    return v->again;
}

/* Which block a source means. Numbers from the end count the blocks that follow each other without
 * other bytes between them, as Python's reader does, and mean nothing when some of those are lost.
 */
static cip_status own_block(asdf_file *f, const cip_node *n, cip_array *a, cip_err *err)
{
    int64_t number;
    const size_t nblock = f->blocks.n;
    const uint64_t i = cip_asdf_block_of(n, f->sure);
    if (i >= nblock) {
        f->lacks_block = true;
        return cip_fail(err, CIP_ERR_NOT_FOUND, CIP_NO_OFFSET,
                        "expected block %.24s of the file, found %zu block%s", n->text, nblock,
                        nblock == 1 ? "" : "s");
    }
    const bool from_end = cip_node_as_int(n, &number) && number < 0;
    if (from_end && f->no_last)
        return cip_fail(err, CIP_ERR_CORRUPT, f->blocks_end,
                        "block number %.24s, counted from the last block, is unknown: some bytes "
                        "may hold a lost block",
                        n->text);
    /* Block 0 may be lost in the bytes before the first that was found: text there is taken for the
     * end of a longer tree unless arrays ask for more blocks than there are, anything else only
     * where they ask for just as many. */
    if ((from_end || f->odd_padding) && !f->counted) {
        cip_tree_walk(f->layout->tree, f->env, count_needed, f, NULL);
        f->counted = true;
    }
    const uint64_t needed = f->needed; /* by the tree's arrays: with more than there are, some are
                                          lost */
    const bool first_lost =
        f->odd_padding &&
        (needed > nblock || (f->binary_padding && (f->from_end || needed < nblock)));
    if ((from_end && needed > f->sure) || first_lost)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %" PRIu64 " blocks, as the arrays require, found %zu and bytes "
                        "that may hold a lost block: number %.24s is unknown",
                        f->needed, from_end ? f->sure : nblock, n->text);
    const cip_block_info *b = &f->layout->block[i].info;
    a->storage.kind =
        cip_asdf_is_streamed(&f->blocks.at[i]) ? CIP_STORAGE_STREAMED : CIP_STORAGE_INTERNAL;
    a->storage.codec = b->codec;
    a->storage.nbytes = b->stored_nbytes;
    a->storage.block = (int64_t)i;
    return block_space(f->layout, (size_t)i, &a->space, err);
}

/* --- other files ------------------------------------------------------------------------------ */

bool cip_asdf_is_own_name(const asdf_file *f, const char *uri)
{
    const char *name = f->layout->io->name;
    const char *slash = strrchr(name, '/');
    name = slash != NULL ? slash + 1 : name;
    if (strncmp(uri, "./", 2) == 0)
        uri += 2;
    size_t n = strcspn(uri, "#");
    return n == 0 || (strlen(name) == n && memcmp(uri, name, n) == 0);
}

/* Opens it as a layout of its own; a failure is kept with it. */
static cip_status open_child(asdf_file *f, asdf_child *c, cip_err *err)
{
    cip_layout *l = f->layout, *child;
    cip_io *io;
    if (cip_layout_depth(l) >= ASDF_EXTERNAL_DEPTH)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected files to refer to each other at most %d deep: '%.80s'",
                        ASDF_EXTERNAL_DEPTH, c->uri);
    uint32_t flags = (l->flags & CIP_OPEN_EXTERNAL) != 0 ? CIP_IO_EXTERNAL : 0;
    CIP_TRY(cip_io_open_member(l->io, c->uri, flags, &io, err));
    cip_status st = cip_layout_new_child(l, io, &child, err);
    if (st != CIP_OK) {
        cip_io_close(io);
        return st;
    }
    child->owns_io = true;
    child->flags = l->flags;
    child->uri = c->uri;
    CIP_TRY(cip_asdf_open(child, c->with_tree ? ASDF_OPEN_TREE : 0, err));
    c->layout = child;
    return CIP_OK;
}

/* Called while opening or while a lazy space is made, which happens in one thread at a time. */
static cip_status new_child(asdf_file *f, const char *uri, bool with_tree, asdf_child **out,
                            cip_err *err)
{
    cip_layout *l = f->layout;
    asdf_child *c = NULL;
    char *copy;
    cip_err *why;
    pthread_mutex_lock(&l->lock);
    cip_status st = CIP_ARENA_NEW(&l->arena, &c, 1, err);
    if (st == CIP_OK)
        st = CIP_ARENA_NEW(&l->arena, &why, 1, err);
    if (st == CIP_OK)
        st = cip_arena_copy(&l->arena, uri, strlen(uri), &copy, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    *why = (cip_err)CIP_ERR_INIT;
    c->uri = copy;
    c->with_tree = with_tree;
    c->why = why;
    c->st = open_child(f, c, why);
    c->next = f->children;
    f->children = c;
    *out = c;
    return CIP_OK;
}

cip_status cip_asdf_external(asdf_file *f, const char *uri, bool with_tree, cip_layout **out,
                             cip_err *err)
{
    *out = NULL;
    if (cip_asdf_is_own_name(f, uri))
        return CIP_OK;
    /* One opened with its tree serves for its blocks too, unless it is the tree that failed. */
    asdf_child *c = f->children;
    while (c != NULL && (strcmp(c->uri, uri) != 0 ||
                         (c->with_tree != with_tree && !(c->with_tree && c->layout != NULL))))
        c = c->next;
    if (c == NULL) { /* counted, opened or not: so the list stays short */
        asdf_file *root = f;
        while (root->layout->parent != NULL)
            root = cip_asdf_of(root->layout->parent);
        if (root->nexternal >= f->env->limits.max_external)
            return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                            "more than %" PRIu32 " external files (max_external)",
                            f->env->limits.max_external);
        root->nexternal++;
        CIP_TRY(new_child(f, uri, with_tree, &c, err));
    }
    if (c->st != CIP_OK)
        cip_err_pass(err, c->why);
    *out = c->layout;
    return c->st;
}

/* An array's lazy space; in the arena. */
typedef struct elsewhere {
    asdf_file *f;
    const char *uri;
    const char *path; /* of the array, for messages */
} elsewhere;

static cip_status make(void *self, cip_space **out, cip_err *err)
{
    const elsewhere *s = self;
    cip_layout *l;
    cip_status st = cip_asdf_external(s->f, s->uri, false, &l, err);
    if (st == CIP_OK && l == NULL)
        l = s->f->layout;
    if (st == CIP_OK)
        st = l->nblock == 0 ? cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                                       "expected a block in '%.120s'", s->uri)
                            : block_space(l, 0, out, err);
    return st == CIP_OK ? st : cip_fail_in(err, st, "%s", s->path);
}

static cip_status other_file(asdf_file *f, const cip_node *n, cip_array *a, cip_err *err)
{
    cip_arena *arena = &f->layout->arena;
    elsewhere *s;
    a->storage.kind = CIP_STORAGE_EXTERNAL;
    a->storage.codec = "";
    if (strncmp(n->text, "fits:", 5) == 0)
        return cip_fail(
            err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
            "source '%.60s' is in a FITS file that contains this one; such files are not read",
            n->text);
    if (strlen(n->text) != n->len)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "a NUL in a source");
    CIP_TRY(CIP_ARENA_NEW(arena, &s, 1, err));
    s->f = f;
    s->path = a->path;
    CIP_TRY(cip_arena_copy(arena, n->text, strcspn(n->text, "#"), (char **)&s->uri, err));
    return cip_space_new_lazy(f->layout, make, s, &a->space, err);
}

cip_status cip_asdf_source(asdf_file *f, const cip_node *source, cip_array *a, cip_err *err)
{
    switch (source->type) {
    case CIP_NODE_INT:
    case CIP_NODE_BIGINT:
        return own_block(f, source, a, err);
    case CIP_NODE_STRING:
        return other_file(f, source, a, err);
    default:
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a block number or a file's name as source, found %s%.40s%s",
                        source->text != NULL ? "'" : "a list or mapping",
                        source->text != NULL ? source->text : "", source->text != NULL ? "'" : "");
    }
}
