/* SPDX-License-Identifier: BSD-3-Clause
 * Arrays that come into a store. Each is made as one of a new store, by a state of its own. Its
 * chunks wait in the update's temporary file, where they are read and changed as those of the store
 * are; in the end each becomes a file. Groups on the way to it come with it. */
#include <string.h>

#include "base/num.h"
#include "format/zarr/zarr_update.h"
#include "io/temporary.h"
#include "tree/json_read.h"

/* --- what may come ---------------------------------------------------------------------------- */

static int no_name(void *user, const char *name, bool is_folder)
{
    (void)user, (void)name, (void)is_folder;
    return 1;
}

/* That nothing of the name is on disk but what goes in this update: chunks that someone left there
 * would be taken for the array's. */
static cip_status expect_free(const cip_zarr_update *u, const char *path, cip_err *err)
{
    cip_io *root = u->w.old->root, *io;
    cip_err why = CIP_ERR_INIT;
    for (size_t i = 0; i < u->nnode; i++) {
        const cip_zarr_now *n = &u->node[i];
        if (!n->gone || n->came || strcmp(n->n.path, path) != 0)
            continue;
        return n->moved ? cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                                   "'%.120s' was moved in this update; commit it first", path)
                        : CIP_OK;
    }
    cip_status st = cip_io_open_beneath(root, path, 0, &io, &why);
    if (st == CIP_OK)
        cip_io_close(io);
    else if (st == CIP_ERR_NOT_FOUND && u->w.old->zip != NULL)
        st = cip_io_list(root, path, 0, no_name, NULL, &why); /* a folder is its members' names */
    else if (st != CIP_ERR_NOT_FOUND && !cip_is_passing(st))
        st = CIP_OK; /* a folder, or a link */
    else if (st != CIP_ERR_NOT_FOUND)
        return cip_err_give(err, &why, st);
    return st == CIP_ERR_NOT_FOUND
               ? CIP_OK
               : cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                          "'%.120s' is in the way: a file or folder that is no array of the store",
                          path);
}

cip_status cip_zarr_make_way(cip_zarr_update *u, const char *dir, bool replace, bool make,
                             size_t *there, cip_err *err)
{
    const size_t len = strlen(dir);
    *there = SIZE_MAX;
    if (u->node[0].n.array != NULL || len == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "the store is one array; others can be added only to a group");
    for (size_t n = strcspn(dir, "/"); n < len; n += 1 + strcspn(dir + n + 1, "/")) {
        const bool last = n + 1 == len;
        const size_t node = cip_zarr_find_node(u, dir, n);
        const bool array = node != SIZE_MAX && u->node[node].n.array != NULL;
        const cip_node *group;
        char *path, *above;
        CIP_TRY(cip_arena_copy(u->w.arena, dir, n, &path, err));
        const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
        CIP_TRY(cip_arena_copy(u->w.arena, path, slash != NULL ? (size_t)(slash - path) : 0, &above,
                               err));
        if (name[0] == '"')
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "'%.80s' cannot be the name of a Zarr array", name);
        if (array && last && replace) {
            *there = node;
            return CIP_OK;
        }
        if (array && !last)
            return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                            "'%.120s' is an array, in which no other can lie", path);
        group = cip_zarr_group_map(u, above, strlen(above));
        if ((last && node != SIZE_MAX) ||
            (node == SIZE_MAX && group != NULL && cip_map_get(group, name) != NULL))
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected a path that does not exist yet, found %s at '%.120s'",
                            array              ? "an array"
                            : node != SIZE_MAX ? "a group"
                                               : "an attribute",
                            path);
        if (node != SIZE_MAX)
            continue;
        if (above[0] == '\0' || !u->node[cip_zarr_find_node(u, above, strlen(above))].came)
            CIP_TRY(expect_free(u, path, err));
        if (last || !make)
            return CIP_OK; /* nothing can be below it */
        cip_zarr_now now = { .n = { .path = path }, .came = true };
        const cip_json_source from = { .env = u->w.env, .arena = u->w.arena };
        const char *text = u->w.two ? "{\"zarr_format\": 2}"
                                    : "{\"zarr_format\": 3, \"node_type\": \"group\", "
                                      "\"attributes\": {}}";
        cip_node *doc, *empty;
        CIP_TRY(
            cip_json_read(&from, (cip_bytes){ (const uint8_t *)text, strlen(text) }, &doc, err));
        now.n.group = doc;
        CIP_TRY(cip_node_new_map(u->w.arena, 0, &empty, err));
        CIP_TRY(cip_zarr_show_node(u, path, empty, err));
        CIP_TRY(cip_zarr_add_node(u, &now, err));
    }
    return CIP_OK;
}

/* --- one that comes --------------------------------------------------------------------------- */

cip_status cip_zarr_coming_begin(const cip_store_begin *b, void **state, cip_err *err)
{
    cip_zarr_update *u = b->coming->update;
    cip_zarr_coming *x;
    size_t there;
    char *dir;
    CIP_TRY(CIP_ARENA_NEW(b->arena, &x, 1, err));
    x->u = u;
    x->coming = b->coming;
    x->spec = *b->spec;
    x->array = b->spec->array[0];
    x->array.path = b->coming->path;
    x->spec.array = &x->array;
    x->spec.narray = 1;
    x->waiting.mem = &b->env->mem;
    x->w = (cip_zarr_writer){ .state = CIP_ZARR_COMING,
                              .env = b->env,
                              .arena = b->arena,
                              .spec = &x->spec,
                              .two = u->w.two };
    CIP_TRY(CIP_ARENA_NEW(b->arena, &x->w.array, 1, err));
    x->w.array->array = &x->array;
    CIP_TRY(cip_zarr_dir(b->arena, x->array.path, &dir, err));
    CIP_TRY(cip_zarr_make_way(u, dir, b->coming->replace, false, &there, err));
    CIP_TRY(cip_zarr_make_array(&x->w, x->w.array, b->form, err));
    b->form->caps &= ~(uint32_t)CIP_FORM_ANY_ORDER;
    x->form = *b->form;
    *state = x;
    return CIP_OK;
}

cip_status cip_zarr_coming_store(cip_zarr_coming *x, uint64_t i, size_t n,
                                 const cip_chunk_in *chunk, cip_err *err)
{
    cip_io *to = x->u->temporary;
    for (size_t k = 0; k < n; i += chunk[k++].run) {
        const cip_zarr_piece p = { i, to->size, chunk[k].bytes.len };
        x->w.array->left -= cip_min_u64(x->w.array->left, chunk[k].run);
        if (chunk[k].state != CIP_CHUNK_DATA)
            continue;
        CIP_TRY(cip_zarr_check_len(p.len, err));
        CIP_TRY(cip_temporary_write(to, to->size, chunk[k].bytes.ptr, chunk[k].bytes.len, err));
        CIP_TRY(cip_buf_add(&x->waiting, &p, sizeof p, err));
    }
    return CIP_OK;
}

/* --- as an array ------------------------------------------------------------------------------ */

/* The first piece of a chunk from number i on; NULL: there is none. */
static const cip_zarr_piece *piece_from(const cip_zarr_coming *x, uint64_t i)
{
    const cip_zarr_piece *at = (const cip_zarr_piece *)(const void *)x->waiting.ptr;
    size_t lo = 0, hi = x->waiting.len / sizeof *at;
    const size_t n = hi;
    while (lo < hi) {
        const size_t mid = lo + (hi - lo) / 2;
        if (at[mid].i < i)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < n ? &at[lo] : NULL;
}

static cip_status waiting_count(void *self, uint64_t *n, cip_err *err)
{
    (void)err;
    *n = ((const cip_zarr_coming *)self)->w.array->keys.level[0].all;
    return CIP_OK;
}

static cip_status waiting_at(void *self, uint64_t i, size_t n, cip_chunk *out, cip_err *err)
{
    const cip_zarr_coming *x = self;
    const cip_array_form *f = &x->form;
    (void)err;
    for (size_t k = 0; k < n; k++, i++) {
        const cip_zarr_piece *p = piece_from(x, i);
        if (p != NULL && p->i == i) {
            out[k].at = (cip_extent){ x->in, p->off, p->len };
            continue;
        }
        out[k].state = f->value != NULL ? CIP_CHUNK_VALUE : CIP_CHUNK_ZERO;
        out[k].value = f->value;
        out[k].value_len = f->value != NULL ? (uint32_t)f->dtype->itemsize : 0;
        out[k].run = (p != NULL ? p->i : x->w.array->keys.level[0].all) - i;
    }
    return CIP_OK;
}

static void waiting_place(void *self, uint64_t i, cip_extent *at)
{
    (void)self, (void)i, (void)at;
}

static cip_status see(cip_zarr_coming *x, cip_err *err)
{
    cip_zarr_update *u = x->u;
    const cip_array_form *f = &x->form;
    const cip_table table = {
        .at = waiting_at, .count = waiting_count, .place = waiting_place, .self = x
    };
    const cip_step step = { .codec = f->step[0].codec, .args = f->step[0].args };
    int64_t *chunk;
    cip_array *a;
    CIP_TRY(cip_layout_new_child(u->w.old->layout, u->temporary, &x->seen, err));
    CIP_TRY(cip_space_new_file(x->seen, u->temporary, &x->in, err));
    CIP_TRY(cip_layout_add_array(x->seen, true, &a, err));
    CIP_TRY(cip_space_new_grid(x->seen, f->grid, &table, &step, f->nstep, &a->space, err));
    CIP_TRY(CIP_ARENA_NEW(&x->seen->arena, &chunk, (size_t)x->array.ndim + 1, err));
    memcpy(chunk, x->w.array->chunk, (size_t)x->array.ndim * sizeof *chunk);
    a->layout = x->seen;
    a->path = x->coming->path;
    a->dtype = f->dtype;
    a->storage = (cip_storage){ .kind = CIP_STORAGE_OWN,
                                .own = x->w.array->shard.count != 0 ? "shards" : "chunk files",
                                .codec = f->nstep == 0 ? "none" : f->step[0].codec->name,
                                .chunk = chunk,
                                .block = -1 };
    x->rows = a;
    return cip_view_c_order(x->array.ndim, x->array.shape, f->dtype->itemsize, &a->view, err);
}

/* Something else may have come since it was asked for. */
cip_status cip_zarr_coming_finish(cip_zarr_coming *x, cip_err *err)
{
    cip_zarr_update *u = x->u;
    cip_zarr_now now = { .came = true, .x = x };
    const cip_json_source from = { .env = u->w.env, .arena = u->w.arena };
    cip_buf text = { .mem = &u->w.env->mem };
    cip_node *doc = NULL;
    size_t there;
    char *path;
    CIP_TRY(see(x, err));
    cip_status st = cip_zarr_meta_text(&x->w, x->w.array, &text, err);
    if (st == CIP_OK)
        st = cip_json_read(&from, (cip_bytes){ text.ptr, text.len }, &doc, err);
    cip_buf_clear(&text);
    CIP_TRY(st);
    const char *dir = x->w.array->dir;
    CIP_TRY(cip_arena_copy(u->w.arena, dir, strlen(dir) - 1, &path, err));
    now.n.path = path;
    now.n.array = x->rows->node = doc;
    CIP_TRY(cip_zarr_keep(u, err));
    CIP_TRY(cip_zarr_make_way(u, dir, x->coming->replace, true, &there, err));
    if (there != SIZE_MAX)
        CIP_TRY(cip_zarr_remove_node(u, there, err));
    CIP_TRY(cip_zarr_show_node(u, path, doc, err));
    CIP_TRY(cip_zarr_add_node(u, &now, err));
    x->coming->seen = x->seen;
    x->coming->array = x->rows;
    return CIP_OK;
}

cip_status cip_zarr_came_form(cip_zarr_coming *x, cip_change_kind kind, cip_change_form *out,
                              cip_err *err)
{
    if (kind != CIP_CHANGE_ELEMENTS && x->form.value != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "'%.100s' was added in this update; commit it first", x->coming->path);
    out->form = x->form;
    out->form.caps = 0;
    return CIP_OK;
}

/* --- the end ---------------------------------------------------------------------------------- */

static cip_status put_file(const cip_zarr_coming *x, const cip_zarr_array *keys, uint64_t i,
                           cip_segment at, cip_revision *r, cip_err *err)
{
    char key[CIP_IO_NUMBER_NAME], *path;
    cip_revision *as;
    cip_zarr_key(keys, i, key, sizeof key);
    CIP_TRY(cip_arena_printf(x->u->w.arena, &path, err, "%s%s", x->w.array->dir, key));
    CIP_TRY(cip_revision_make(r, path, &as, err));
    return cip_revision_range(as, at.io, at.off, at.len, err);
}

cip_status cip_zarr_put_came(cip_zarr_update *u, cip_zarr_coming *x, cip_revision *r, cip_err *err)
{
    const cip_chunk_changes *c = x->changes;
    cip_zarr_array keys = x->w.array->keys;
    cip_zarr_level *v = &keys.level[0];
    if (c == NULL) {
        const cip_zarr_piece *p = (const cip_zarr_piece *)(const void *)x->waiting.ptr;
        for (size_t k = 0; k < x->waiting.len / sizeof *p; k++)
            CIP_TRY(put_file(x, &keys, p[k].i,
                             (cip_segment){ .io = u->temporary, .off = p[k].off, .len = p[k].len },
                             r, err));
        return CIP_OK;
    }
    v->all = cip_chunk_changes_count(c);
    for (int32_t k = 0; k < keys.ndim; k++)
        v->nchunk[k] =
            cip_div_up((uint64_t)cip_chunk_changes_shape(c)[k], (uint64_t)x->w.array->outer[k]);
    for (uint64_t i = 0; i < v->all; i++) {
        cip_chunk_now now;
        cip_segment at = { .len = 0 };
        cip_chunk_changes_at(c, i, &now);
        const cip_zarr_piece *p = now.from != UINT64_MAX ? piece_from(x, now.from) : NULL;
        if (now.from == UINT64_MAX && now.chunk.state == CIP_CHUNK_DATA)
            at = (cip_segment){ .io = now.chunk.at.in->io,
                                .off = now.chunk.at.off,
                                .len = now.chunk.at.len };
        else if (p != NULL && p->i == now.from)
            at = (cip_segment){ .io = u->temporary, .off = p->off, .len = p->len };
        if (at.io != NULL)
            CIP_TRY(put_file(x, &keys, i, at, r, err));
    }
    return CIP_OK;
}
