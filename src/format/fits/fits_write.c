/* SPDX-License-Identifier: BSD-3-Clause
 * New files: an HDU for each array, images and tables, with the cards that the tree has for them
 * (`header` and `comments` beside the array, as reading gives them). Headers are complete before
 * the data; only checksums, where they are wanted, get into them afterwards. Arrays that come
 * before the tree is whole: fits_late.c. What is there is changed by fits_update.c. */
#include "format/fits/fits_write.h"

#include <stdio.h>
#include <string.h>

#include "base/num.h"
#include "format/one_array.h"

enum { CHUNK = 1 << 20, MAX_COLUMNS = 999 };

static const char sums_name[] = "datasum";

/* --- types ------------------------------------------------------------------------------------ */

/* Why the array cannot be written; NULL: it can. */
static const char *refusal(const cip_spec_array *a)
{
    const cip_dtype *d = a->dtype;
    if (d->kind != CIP_RECORD) {
        const fits_type *t = cip_fits_type_of(d);
        return t == NULL || t->bitpix == 0 ? "FITS images have no elements of this type"
               : a->ndim == 0              ? "FITS has no array without axes"
                                           : NULL;
    }
    if (a->ndim != 1)
        return "a FITS table has one axis";
    if (d->nfield == 0 || d->nfield > MAX_COLUMNS)
        return "a FITS table has 1 to 999 columns";
    for (size_t i = 0; i < d->nfield; i++)
        if (cip_fits_type_of(d->field[i].dtype) == NULL)
            return "FITS tables have no columns of the type of a field";
    return NULL;
}

/* Strings of code points become ASCII: another character is an error when its element comes. */
static cip_status item_stored(cip_arena *a, const cip_dtype *d, const cip_dtype **out, cip_err *err)
{
    if (d->kind == CIP_UCS4)
        return cip_dtype_ascii(a, d->itemsize / 4, out, err);
    *out = d->kind == CIP_ASCII ? d : cip_dtype_fixed(cip_fits_type_of(d)->to, true);
    return CIP_OK;
}

/* Big-endian, packed, float16 as float32. */
static cip_status stored_type(cip_arena *a, const cip_dtype *d, const cip_dtype **out, cip_err *err)
{
    cip_field *field;
    if (d->kind != CIP_RECORD)
        return item_stored(a, d, out, err);
    CIP_TRY(CIP_ARENA_NEW(a, &field, d->nfield, err));
    for (size_t i = 0; i < d->nfield; i++) {
        field[i] = d->field[i];
        CIP_TRY(item_stored(a, d->field[i].dtype, &field[i].dtype, err));
    }
    return cip_dtype_record(a, d->nfield, field, true, 0, out, err);
}

static void add_change(fits_new *h, const cip_dtype *d, uint64_t off, uint64_t count)
{
    const fits_type *t = cip_fits_type_of(d);
    if (d->kind == CIP_BOOL || (t->zero != 0 && count != 0))
        h->change[h->nchange++] =
            (fits_changed){ off, count, (uint32_t)d->itemsize, d->kind == CIP_BOOL };
}

static cip_status find_changes(cip_arena *a, fits_new *h, cip_err *err)
{
    const cip_dtype *d = h->stored;
    const bool record = d->kind == CIP_RECORD;
    CIP_TRY(CIP_ARENA_NEW(a, &h->change, record ? d->nfield : 1, err));
    if (!record)
        add_change(h, d, 0, 1);
    for (size_t i = 0; i < d->nfield; i++)
        add_change(h, d->field[i].dtype, d->field[i].offset, cip_fits_items(&d->field[i]));
    return CIP_OK;
}

/* --- which HDUs there are --------------------------------------------------------------------- */

/* The mapping with the header of HDU `key`, or NULL. */
static const cip_node *map_of(const cip_spec *spec, const char *key)
{
    const cip_node *m = cip_node_kind(spec->tree) == CIP_NODE_MAP && key != NULL
                            ? cip_map_get(spec->tree, key)
                            : NULL;
    return cip_node_kind(m) == CIP_NODE_MAP &&
                   cip_node_kind(cip_map_get(m, "header")) == CIP_NODE_MAP
               ? m
               : NULL;
}

/* The HDU's name of an array's path: what is before "/data" where that has a header, else all. */
static cip_status key_of(cip_arena *a, const cip_spec *spec, const char *path, const char **out,
                         cip_err *err)
{
    cip_bytes *step;
    size_t n;
    char *key;
    *out = NULL;
    CIP_TRY(cip_path_split(a, path, &step, &n, err));
    if (n == 0)
        return CIP_OK;
    if (n == 2 && step[1].len == 4 && memcmp(step[1].ptr, "data", 4) == 0) {
        CIP_TRY(cip_arena_copy(a, step[0].ptr, step[0].len, &key, err));
        *out = key;
        if (map_of(spec, key) != NULL)
            return CIP_OK;
    }
    if (n == 1)
        CIP_TRY(cip_arena_copy(a, step[0].ptr, step[0].len, &key, err));
    else
        CIP_TRY(cip_arena_printf(a, &key, err, "%s", path));
    *out = key;
    return CIP_OK;
}

cip_status cip_fits_take_array(const fits_writer *w, const cip_spec *spec, const cip_spec_array *a,
                               fits_new *h, cip_err *err)
{
    *h = (fits_new){ .array = a };
    CIP_TRY(key_of(w->arena, spec, a->path, &h->key, err));
    h->map = map_of(spec, h->key);
    if (refusal(a) != NULL)
        return CIP_OK;
    CIP_TRY(stored_type(w->arena, a->dtype, &h->stored, err));
    return find_changes(w->arena, h, err);
}

static bool has_array(const fits_writer *w, const char *key)
{
    for (size_t i = 0; i < w->nhdu; i++)
        if (w->hdu[i].array != NULL && w->hdu[i].key != NULL && strcmp(w->hdu[i].key, key) == 0)
            return true;
    return false;
}

/* Headers without data come where the tree has them, before the array that follows there. */
static cip_status order(fits_writer *w, const cip_spec *spec, cip_err *err)
{
    const cip_node *root = spec->tree;
    const uint32_t n = cip_node_kind(root) == CIP_NODE_MAP ? root->len : 0;
    fits_new *all;
    size_t nall = 0, done = 0;
    CIP_TRY(CIP_ARENA_NEW(w->arena, &all, spec->narray + n + 1, err));
    for (uint32_t k = 0; k < n; k++) {
        const cip_node *key = root->pair[k].key;
        if (cip_node_kind(key) != CIP_NODE_STRING || map_of(spec, key->text) == NULL)
            continue;
        if (!has_array(w, key->text)) {
            all[nall++] = (fits_new){ .key = key->text, .map = root->pair[k].value };
            continue;
        }
        while (done < spec->narray) {
            const fits_new *h = &w->hdu[done];
            all[nall] = *h;
            w->of[done++] = nall++;
            if (h->key != NULL && strcmp(h->key, key->text) == 0)
                break;
        }
    }
    for (; done < spec->narray; done++) {
        all[nall] = w->hdu[done];
        w->of[done] = nall++;
    }
    /* The first HDU is an image or has no data: of a table it comes before. */
    const bool table = nall != 0 && all[0].array != NULL && all[0].array->dtype->kind == CIP_RECORD;
    if (nall == 0 || table) {
        memmove(all + 1, all, nall * sizeof *all);
        all[0] = (fits_new){ .key = NULL };
        nall++;
        for (size_t i = 0; i < spec->narray; i++)
            w->of[i]++;
    }
    w->hdu = all;
    w->nhdu = nall;
    return CIP_OK;
}

cip_status cip_fits_plan(fits_writer *w, const cip_spec *spec, cip_err *err)
{
    CIP_TRY(CIP_ARENA_NEW(w->arena, &w->hdu, spec->narray, err));
    CIP_TRY(CIP_ARENA_NEW(w->arena, &w->of, spec->narray, err));
    for (w->nhdu = 0; w->nhdu < spec->narray; w->nhdu++) {
        w->of[w->nhdu] = w->nhdu;
        CIP_TRY(cip_fits_take_array(w, spec, &spec->array[w->nhdu], &w->hdu[w->nhdu], err));
    }
    return order(w, spec, err);
}

/* --- what is lost ----------------------------------------------------------------------------- */

/* What of the tree is neither an array nor a header. */
static cip_status check_tree(const fits_writer *w, const cip_spec *spec, cip_report *loss,
                             cip_err *err)
{
    cip_buf words = { .mem = &spec->env->mem };
    cip_status st = CIP_OK;
    for (size_t i = 0; i < w->nhdu; i++) {
        const fits_new *h = &w->hdu[i];
        const cip_node *m = h->map;
        bool whole = m != NULL && strchr(h->key, ' ') == NULL;
        for (uint32_t k = 0; whole && k < m->len; k++) {
            const cip_pair *p = &m->pair[k];
            whole =
                cip_node_is_string(p->key, "header") || cip_node_is_string(p->key, "comments") ||
                cip_is_array_node(spec, p->value) ||
                (cip_node_is_string(p->key, "data") && cip_node_kind(p->value) == CIP_NODE_NULL);
        }
        if (whole)
            CIP_GO(cip_buf_addf(&words, err, "%s ", h->key));
        else if (m != NULL)
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, h->key,
                           "what is not in its header is lost");
        if (m != NULL && !whole) /* told here, not once more below */
            CIP_GO(cip_buf_addf(&words, err, "%s ", h->key));
    }
    CIP_GO(cip_buf_nul(&words, err));
    cip_tree_rest rest = { .spec = spec, .taken = (const char *)words.ptr };
    if (spec->tree != NULL)
        CIP_GO(cip_tree_walk_told(spec->tree, spec->env, cip_visit_rest, &rest,
                                  &(cip_status){ CIP_OK }, err));
    if (rest.lost)
        cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, NULL,
                       "the metadata tree is lost, except for headers: FITS files have none");
    cip_tell_origin(spec, &rest, "FITS files", loss);
done:
    cip_buf_clear(&words);
    return st;
}

static cip_status check_arrays(const cip_spec *spec, cip_report *loss)
{
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        const char *why = refusal(a);
        if (why != NULL)
            cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "%s: %.120s", why, cip_dtype_name(a->dtype));
        if (a->masked)
            cip_report_add(loss, CIP_WARN, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                           "the mask is lost: FITS files are written without");
        if (a->dtype->kind == CIP_F16)
            cip_report_add(loss, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, a->path,
                           "float16 becomes float32: FITS has none");
    }
    return CIP_OK;
}

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    cip_arena a = { .mem = &spec->env->mem };
    fits_writer w = { .env = spec->env, .arena = &a };
    cip_status st = cip_fits_plan(&w, spec, err);
    if (st == CIP_OK)
        st = check_tree(&w, spec, loss, err);
    if (st == CIP_OK)
        st = check_arrays(spec, loss);
    for (size_t i = 0; i < w.nhdu && st == CIP_OK; i++) {
        fits_cards c = { .loss = loss };
        if (w.hdu[i].array == NULL || w.hdu[i].stored != NULL)
            st = cip_fits_put_header(&c, &w.hdu[i], i == 0, w.nhdu > 1, err);
    }
    cip_arena_clear(&a);
    return st == CIP_OK ? cip_report_status(loss, err) : st;
}

/* --- data ------------------------------------------------------------------------------------- */

static bool wants_sums(const cip_spec *spec)
{
    return spec->checksum != NULL && strcmp(spec->checksum, "none") != 0;
}

static uint32_t caps_for(const cip_spec *spec)
{
    return cip_fits_store.caps | (wants_sums(spec) || spec->late ? CIP_STORE_PATCHES : 0u);
}

cip_status cip_fits_form(const fits_new *h, cip_array_form *form, cip_err *err)
{
    const char *why = refusal(h->array);
    uint64_t n;
    if (why != NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "%.60s: %s", h->array->path, why);
    CIP_TRY(cip_spec_array_nbytes(h->array, h->stored, &n, err));
    form->dtype = h->stored;
    form->chunk_nbytes = CHUNK;
    return CIP_OK;
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    const cip_spec *spec = b->spec;
    fits_writer *w;
    if (b->old != NULL) {
        CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
        *w = (fits_writer){ .head = { .mem = &b->env->mem } };
        *state = w;
        return cip_fits_update_begin(b, &w->update, err);
    }
    if (spec->codec != NULL && strcmp(spec->codec, "none") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected no codec for a FITS file, found %.60s", spec->codec);
    if (spec->big == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "FITS files are big-endian");
    if (wants_sums(spec) && strcmp(spec->checksum, sums_name) != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the checksum %s or none for a FITS file, found %.60s", sums_name,
                        spec->checksum);
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
    *w = (fits_writer){ .env = b->env,
                        .arena = b->arena,
                        .spec = spec,
                        .out = b->out,
                        .sums = wants_sums(spec),
                        .head = { .mem = &b->env->mem } };
    if (!spec->late)
        CIP_TRY(cip_fits_plan(w, spec, err));
    for (size_t i = 0; i < spec->narray; i++)
        CIP_TRY(cip_fits_form(&w->hdu[w->of[i]], &b->form[i], err));
    *state = w;
    return CIP_OK;
}

cip_status cip_fits_sum_header(const fits_sum *data, uint8_t *head, size_t n, cip_err *err)
{
    fits_sum sum = { .sum = cip_fits_fold(data->sum) };
    char text[32];
    snprintf(text, sizeof text, "'%-8" PRIu64 "'", sum.sum);
    CIP_TRY(cip_fits_set_card(cip_fits_find_card(head, n, "DATASUM"), text, false, err));
    cip_fits_sum_add(&sum, head, n);
    cip_fits_sum_text(~cip_fits_fold(sum.sum),
                      (char *)cip_fits_find_card(head, n, "CHECKSUM") + FITS_CHECKSUM);
    return CIP_OK;
}

cip_status cip_fits_end_data(fits_writer *w, cip_err *err)
{
    if (w->left != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " more bytes of data, found the end", w->left);
    CIP_TRY(cip_out_fill(w->out, 0, w->pad, err));
    w->pad = 0;
    return CIP_OK;
}

/* The data of the HDU before end, and its header goes out once more with their sums. */
static cip_status end_hdu(fits_writer *w, cip_err *err)
{
    CIP_TRY(cip_fits_end_data(w, err));
    if (!w->sums || w->next == 0)
        return CIP_OK;
    CIP_TRY(cip_fits_sum_header(&w->data, w->head.ptr, w->head.len, err));
    return cip_out_rewrite(w->out, w->head_at, w->head.ptr, w->head.len, err);
}

void cip_fits_begin_data(fits_writer *w, uint64_t n)
{
    const uint64_t over = n % FITS_BLOCK;
    w->data = (fits_sum){ 0 };
    w->left = n;
    w->pad = over == 0 ? 0 : (size_t)(FITS_BLOCK - over);
}

/* Headers up to that of HDU `to`, and what fills the data before. */
static cip_status go_to(fits_writer *w, size_t to, cip_err *err)
{
    for (; w->next <= to && w->next < w->nhdu; w->next++) {
        fits_cards c = { .out = &w->head, .sums = w->sums };
        const fits_new *h = &w->hdu[w->next];
        uint64_t n = 0;
        CIP_TRY(end_hdu(w, err));
        w->head.len = 0;
        w->head_at = w->out->n;
        CIP_TRY(cip_fits_put_header(&c, h, w->next == 0, w->nhdu > 1, err));
        CIP_TRY(cip_out_write(w->out, w->head.ptr, w->head.len, err));
        if (h->array != NULL)
            CIP_TRY(cip_spec_array_nbytes(h->array, h->stored, &n, err));
        cip_fits_begin_data(w, n);
    }
    return CIP_OK;
}

/* Whole elements to the bytes that FITS has for them, in place. */
static void change(const fits_new *h, uint8_t *p, size_t n)
{
    const uint64_t item = h->stored->itemsize;
    for (size_t i = 0; i < h->nchange; i++) {
        const fits_changed *c = &h->change[i];
        for (uint8_t *q = p + c->off; q < p + n; q += item)
            for (uint64_t k = 0; k < c->count; k++) {
                uint8_t *first = q + k * c->width;
                *first = c->logical ? (*first != 0 ? 'T' : 'F') : *first ^ 0x80;
            }
    }
}

static cip_status put_data(fits_writer *w, cip_bytes b, cip_err *err)
{
    if (w->sums)
        cip_fits_sum_add(&w->data, b.ptr, b.len);
    return cip_out_write(w->out, b.ptr, b.len, err);
}

static cip_status store_chunk(fits_writer *w, const fits_new *h, cip_bytes b, cip_err *err)
{
    uint8_t *copy;
    if (h->nchange == 0)
        return put_data(w, b, err);
    CIP_TRY(cip_mem_get(&w->env->mem, b.len, (void **)&copy, err));
    memcpy(copy, b.ptr, b.len);
    change(h, copy, b.len);
    const cip_status st = put_data(w, (cip_bytes){ copy, b.len }, err);
    cip_mem_put(&w->env->mem, copy);
    return st;
}

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    fits_writer *w = state;
    const fits_new *h = &w->hdu[w->of != NULL ? w->of[array] : array];
    (void)i;
    if (w->of != NULL)
        CIP_TRY(go_to(w, w->of[array], err));
    for (size_t k = 0; k < n; k++) {
        const cip_bytes b = chunk[k].bytes;
        if (chunk[k].raw_len == 0)
            continue;
        if (chunk[k].state != CIP_CHUNK_DATA || b.len != chunk[k].raw_len || b.len > w->left ||
            b.len % h->stored->itemsize != 0)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected at most %" PRIu64 " bytes of data, found %zu", w->left,
                            b.len);
        w->left -= b.len;
        CIP_TRY(store_chunk(w, h, b, err));
    }
    return CIP_OK;
}

static cip_status form(void *state, const cip_array *a, cip_change_kind kind, const int64_t *shape,
                       cip_change_form *out, cip_err *err)
{
    (void)shape;
    return cip_fits_update_form(((fits_writer *)state)->update, a, kind, out, err);
}

static cip_status chunks(void *state, const cip_chunk_changes *c, cip_err *err)
{
    return cip_fits_update_chunks(((fits_writer *)state)->update, c, err);
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    fits_writer *w = state;
    if (w->update != NULL)
        return cip_fits_update_finish(w->update, r, err);
    if (w->spec->late)
        return cip_fits_late_finish(w, err);
    CIP_TRY(go_to(w, SIZE_MAX, err));
    return end_hdu(w, err);
}

static void clear(void *state)
{
    cip_buf_clear(&((fits_writer *)state)->head);
}

const cip_array_store cip_fits_store = {
    .caps = CIP_STORE_NAMES | CIP_STORE_SUMS | CIP_STORE_LATE | CIP_STORE_UPDATES,
    .caps_for = caps_for,
    .check = check,
    .begin = begin,
    .store = store,
    .add = cip_fits_late_add,
    .form = form,
    .chunks = chunks,
    .finish = finish,
    .clear = clear,
};
