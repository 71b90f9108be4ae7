/* SPDX-License-Identifier: BSD-3-Clause
 * Any bytes as a folder that is changed: the first says how. A change that is made must leave one
 * that opens, with the shape that was asked for, and what was written must read back. */
#include "format/blz/blz.h"
#include "support/format/blz/blz_fuzz_testing.h"
#include "io/revision_out.h"
#include "space/make/chunker.h"
#include "space/make/splitter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST = 1 << 20 /* bytes of arrays that are changed */ };

typedef struct update {
    cip_env *env;
    cip_io *io;
    cip_layout *layout;
    cip_arena arena;
    cip_io *temporary;
    cip_out out;
    cip_spec_array array; /* that comes */
    cip_coming coming;
    void *came;
    cip_chunk_changes *c;
    cip_revision r;
    void *u;
    unsigned how;
    const cip_array *a;
    int64_t shape[CIP_MAX_NDIM]; /* that it gets */
    cip_nd at; /* what is written, as the array becomes; of no elements: nothing */
    cip_err err;
} update;

static cip_status ones(void *self, uint64_t nelem, uint8_t *dst, cip_err *err)
{
    (void)err;
    memset(dst, 1, (size_t)(nelem * *(uint64_t *)self));
    return CIP_OK;
}

static const cip_array *choose(const cip_layout *l, unsigned how)
{
    for (size_t i = 0; i < l->narray; i++) {
        const cip_array *a = l->array[(i + how) % l->narray];
        uint64_t n;
        if (a->st == CIP_OK && a->view.ndim != 0 &&
            cip_shape_nelem(a->view.ndim, a->view.shape, &n) && a->dtype->itemsize != 0 &&
            n <= MOST / a->dtype->itemsize &&
            (a->view.shape[0] == 0 || (uint64_t)a->view.stride[0] < MOST))
            return a;
    }
    return NULL;
}

/* Rows go from the first quarter on, or come there. */
static cip_status change_midst(update *x, int64_t some)
{
    uint64_t itemsize = x->a->dtype->itemsize;
    const cip_feed feed = { .next = ones, .self = &itemsize };
    cip_splice s = { .start = x->shape[0] / 4, .feed = &feed };
    const int64_t left = x->shape[0] - s.start;
    cip_change_form form = { .fill = NULL };
    if (x->how & 4)
        s.added = some;
    else
        s.removed = some < left ? some : left;
    x->shape[0] += s.added - s.removed;
    CIP_TRY(cip_blz_store.form(x->u, x->a, CIP_CHANGE_SPLICE, x->shape, &form, &x->err));
    CIP_TRY(cip_view_c_order(x->a->view.ndim, x->shape, itemsize, &x->at, &x->err));
    x->at = cip_splice_room(&s, &x->at);
    CIP_TRY(cip_chunk_changes_new(x->a, &form.form, x->temporary, &x->c, &x->err));
    return cip_chunk_changes_splice(x->c, x->a, &s, &x->err);
}

/* Elements in the middle, rows at the end, or fewer or more of them. */
static cip_status change_data(update *x)
{
    static const cip_change_kind kinds[] = { CIP_CHANGE_ELEMENTS, CIP_CHANGE_ROWS, CIP_CHANGE_SHAPE,
                                             CIP_CHANGE_SPLICE };
    const cip_change_kind kind = kinds[x->how % 4];
    const cip_array *a = x->a;
    uint64_t itemsize = a->dtype->itemsize, n;
    const cip_feed feed = { .next = ones, .self = &itemsize };
    cip_change_form form = { .fill = NULL };
    memcpy(x->shape, a->view.shape, sizeof x->shape);
    const int64_t was = x->shape[0], some = 1 + x->how / 3 % 7;
    if (kind == CIP_CHANGE_SPLICE)
        return change_midst(x, some);
    if (kind != CIP_CHANGE_ELEMENTS)
        x->shape[0] = kind == CIP_CHANGE_ROWS ? was + some : x->how & 1 ? was / 2 : was + some;
    CIP_TRY(cip_blz_store.form(x->u, a, kind, kind == CIP_CHANGE_SHAPE ? x->shape : NULL, &form,
                               &x->err));
    CIP_TRY(cip_view_c_order(a->view.ndim, x->shape, itemsize, &x->at, &x->err));
    if (!cip_shape_nelem(a->view.ndim, x->shape, &n))
        return CIP_ERR_UNSUPPORTED;
    x->at.shape[0] = kind == CIP_CHANGE_ELEMENTS ? was / 2 : kind == CIP_CHANGE_ROWS ? some : 0;
    x->at.off = (uint64_t)(kind == CIP_CHANGE_ELEMENTS ? was / 4 : was) * (uint64_t)x->at.stride[0];
    cip_shape_nelem(x->at.ndim, x->at.shape, &n);
    CIP_TRY(cip_chunk_changes_new(a, &form.form, x->temporary, &x->c, &x->err));
    if (kind == CIP_CHANGE_ELEMENTS)
        return n == 0 ? CIP_OK : cip_chunk_changes_write(x->c, &x->at, &feed, &x->err);
    return cip_chunk_changes_resize(x->c, a, x->shape, n == 0 ? NULL : &x->at, &feed, &x->err);
}

static bool ours(cip_status st)
{
    return st == CIP_ERR_LIMIT || st == CIP_ERR_NOMEM;
}

static void read_back(const update *x, cip_layout *l)
{
    const cip_read_how how = { l, NULL };
    const cip_array *a = NULL;
    uint64_t n;
    for (size_t i = 0; i < l->narray; i++)
        if (strcmp(l->array[i]->path, x->a->path) == 0)
            a = l->array[i];
    if (a == NULL || a->st != CIP_OK || a->view.shape[0] != x->shape[0])
        abort();
    if (!cip_shape_nelem(x->at.ndim, x->at.shape, &n) || n == 0)
        return;
    const size_t len = (size_t)(n * x->at.itemsize);
    uint8_t *got = (uint8_t *)malloc(len);
    if (got == NULL)
        abort();
    cip_status st = cip_space_read_at(&how, a->space, a->view.off + x->at.off, got, len, NULL);
    for (size_t i = 0; i < len && st == CIP_OK; i++)
        if (got[i] != 1)
            abort();
    free(got);
    if (st != CIP_OK && !ours(st))
        abort();
}

/* What it would be. `data`: the array was changed. */
static void look(update *x, bool data)
{
    cip_io *after;
    cip_layout *l;
    cip_status st = cip_io_open_revision(x->io, &x->r, &after, &x->err);
    if (st == CIP_OK) {
        st = cip_layout_new(x->env, after, &l, &x->err);
        if (st == CIP_OK) {
            st = cip_format_blz.open(l, &x->err);
            if (st == CIP_OK && data)
                read_back(x, l);
            cip_layout_free(l);
        }
        cip_io_close(after);
    }
    if (st != CIP_OK && !ours(st))
        abort();
}

static cip_status new_member(void *user, const char *name, cip_out **out, cip_err *err)
{
    update *x = user;
    cip_revision *as;
    cip_revision_out *p;
    CIP_TRY(CIP_ARENA_NEW(&x->arena, &p, 1, err));
    CIP_TRY(cip_revision_make(&x->r, name, &as, err));
    cip_revision_out_begin(p, x->temporary, as);
    *out = &p->out;
    return CIP_OK;
}

static cip_status open_update(update *x)
{
    static const cip_spec as_it_is = { .big = -1 };
    CIP_TRY(cip_layout_new(x->env, x->io, &x->layout, &x->err));
    CIP_TRY(cip_format_blz.open(x->layout, &x->err));
    CIP_TRY(cip_temporary_new(x->env, NULL, &x->temporary, &x->err));
    const cip_store_begin b = { .env = x->env,
                                .arena = &x->arena,
                                .spec = &as_it_is,
                                .old = x->layout,
                                .temporary = x->temporary,
                                .out = &x->out };
    x->out = (cip_out){ .member = new_member, .member_user = x };
    return cip_blz_store.begin(&b, &x->u, &x->err);
}

static void close_update(update *x)
{
    if (x->u != NULL && cip_blz_store.clear != NULL)
        cip_blz_store.clear(x->u);
    if (x->came != NULL)
        cip_blz_store.clear(x->came);
    cip_chunk_changes_free(x->c);
    cip_revision_clear(&x->r);
    cip_layout_free(x->layout);
    cip_io_close(x->temporary);
    cip_arena_clear(&x->arena);
}

/* Attributes, and columns of a table. */
static bool change_names(update *x, cip_status *st)
{
    const cip_array_store *s = &cip_blz_store;
    cip_node *n;
    if (x->how < 0xc0)
        return false;
    *st = cip_node_new_string(&x->arena, "value", 5, &n, &x->err);
    if (*st != CIP_OK)
        return true;
    switch (x->how % 6) {
    case 0:
        *st = s->set(x->u, "attributes/k", n, &x->err);
        break;
    case 1:
        *st = s->set(x->u, "column_attributes/a/k/l", n, &x->err);
        break;
    case 2:
        *st = s->remove(x->u, "attributes/k", &x->err);
        break;
    case 3:
        *st = s->move(x->u, "attributes/k", "attributes/b/c", x->how / 6 % 2 != 0, &x->err);
        break;
    case 4:
        *st = s->move(x->u, "a", "c", false, &x->err);
        break;
    default:
        *st = s->remove(x->u, "a", &x->err);
    }
    return true;
}

static cip_status store_column(void *user, size_t array, uint64_t i, size_t n,
                               const cip_chunk_in *chunk, cip_err *err)
{
    return cip_blz_store.store(((update *)user)->came, array, i, n, chunk, err);
}

static cip_status store_array(void *user, uint64_t i, size_t n, const cip_chunk_in *chunk,
                              cip_err *err)
{
    return store_column(user, 0, i, n, chunk, err);
}

static cip_status put_elements(update *x, const cip_array_form *form, const void *data, uint64_t n)
{
    const cip_splitter_to columns = { store_column, x, NULL };
    const cip_chunker_to array = { store_array, x, NULL };
    const cip_bytes elems = { data, (size_t)(n * form->dtype->itemsize) };
    cip_splitter *s;
    cip_chunker *c;
    cip_status st;
    if (form->ncolumn != 0) {
        CIP_TRY(cip_splitter_new(x->env, form, n, &columns, &s, &x->err));
        st = cip_splitter_write(s, elems, &x->err);
        st = st == CIP_OK ? cip_splitter_finish(s, &x->err) : st;
        cip_splitter_free(s);
        return st;
    }
    CIP_TRY(cip_chunker_new(x->env, form, n, &array, &c, &x->err));
    st = cip_chunker_write(c, elems, &x->err);
    st = st == CIP_OK ? cip_chunker_finish(c, &x->err) : st;
    cip_chunker_free(c);
    return st;
}

/* A column of numbers or of records, as long as the first array. */
static cip_status add_column(update *x)
{
    const cip_field field[] = { { .name = "i", .dtype = cip_dtype_of(CIP_I32) },
                                { .name = "f", .dtype = cip_dtype_of(CIP_F32) } };
    const cip_nd *like = x->layout->narray != 0 ? &x->layout->array[0]->view : NULL;
    const cip_dtype *d = cip_dtype_of(CIP_I64);
    cip_array_form form = { .dtype = NULL };
    void *data;
    uint64_t n;
    if (x->how & 1)
        CIP_TRY(cip_dtype_record(&x->arena, 2, field, true, 0, &d, &x->err));
    if (like == NULL || !cip_shape_nelem(like->ndim, like->shape, &n) || n > MOST / 8)
        return CIP_ERR_NOT_FOUND;
    x->array = (cip_spec_array){
        .path = "new", .dtype = d, .ndim = like->ndim, .shape = like->shape, .of = -1, .mask = -1
    };
    const cip_spec spec = { .big = -1, .array = &x->array, .narray = 1 };
    const cip_store_begin b = {
        .env = x->env, .arena = &x->arena, .spec = &spec, .coming = &x->coming, .form = &form
    };
    x->coming = (cip_coming){ .update = x->u, .path = "new" };
    CIP_TRY(cip_blz_store.begin(&b, &x->came, &x->err));
    CIP_TRY(cip_arena_zeroed(&x->arena, (size_t)n, 8, &data, &x->err));
    CIP_TRY(put_elements(x, &form, data, n));
    return cip_blz_store.finish(x->came, NULL, &x->err);
}

static void run(cip_env *env, cip_io *io, unsigned how)
{
    update x = { .env = env, .io = io, .how = how };
    bool data = false;
    x.arena.mem = x.r.patch.arena.mem = &env->mem;
    cip_status st = open_update(&x);
    if (st == CIP_OK && how >= 0xf0) {
        st = add_column(&x);
    } else if (st == CIP_OK && !change_names(&x, &st)) {
        data = true;
        x.a = choose(x.layout, how / 16);
        st = x.a != NULL ? change_data(&x) : CIP_ERR_NOT_FOUND;
        if (st == CIP_OK)
            st = cip_chunk_changes_finish(x.c, NULL, NULL, &x.err);
        if (st == CIP_OK)
            st = cip_blz_store.chunks(x.u, x.c, &x.err);
    }
    if (st == CIP_OK && cip_blz_store.finish(x.u, &x.r, &x.err) == CIP_OK)
        look(&x, data);
    close_update(&x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const cip_limits small = { .size = sizeof small, .max_memory = 64 << 20 };
    cip_err err = CIP_ERR_INIT;
    cip_env env;
    cip_io *io;
    if (size == 0)
        return 0;
    blz_fuzz_make();
    blz_fuzz_write(data + 1, size - 1);
    if (cip_env_init(&env, &small, NULL, NULL, NULL) != CIP_OK ||
        cip_io_open_path(&env, blz_fuzz_dir.dir, &io, &err) != CIP_OK)
        abort();
    run(&env, io, data[0]);
    cip_io_close(io);
    cip_env_clear(&env);
    return 0;
}
