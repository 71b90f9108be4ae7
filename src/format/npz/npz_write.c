/* SPDX-License-Identifier: BSD-3-Clause
 * Writing .npz files: byte for byte as numpy.savez (2.x) does for arrays in C order, or with each
 * member as one deflate stream, as numpy.savez_compressed does. A local header is written before
 * its data; CRC and length get into it afterwards. What is there is changed by npz_update.c. */
#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "codec/framing.h"
#include "format/npz/npz.h"
#include "format/one_array.h"
#include "space/make/encode.h"

/* An array without a name gets the one that numpy.savez gives to the first. */
static const char unnamed[] = "arr_0", suffix[] = ".npy";

/* The member's name from the array's path, whose steps lose their escapes. */
static cip_status name_of(cip_arena *a, const char *path, char **out, cip_err *err)
{
    cip_bytes *step;
    size_t n;
    cip_buf b = { .mem = a->mem };
    cip_status st;
    CIP_TRY(cip_path_split(a, path == NULL ? "" : path, &step, &n, err));
    CIP_GO(n == 0 ? cip_buf_puts(&b, unnamed, err) : CIP_OK);
    for (size_t i = 0; i < n; i++) {
        CIP_GO(i != 0 ? cip_buf_puts(&b, "/", err) : CIP_OK);
        CIP_GO(cip_buf_add(&b, step[i].ptr, step[i].len, err));
    }
    CIP_GO(cip_buf_puts(&b, suffix, err));
    st = cip_arena_copy(a, b.ptr, b.len, out, err);
done:
    cip_buf_clear(&b);
    return st;
}

/* --- what it cannot hold ---------------------------------------------------------------------- */

static void impossible(cip_report *loss, const cip_spec_array *a, const char *what)
{
    cip_report_add(loss, CIP_BAD, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, 0, a->path,
                   "a member of a .npz file needs %s", what);
}

/* Names that no member can have, or that two would have: "a/b" may be one step of a path, too, and
 * numpy takes the member `a.npy` of the array `a` for one of the name `a.npy`. */
static cip_status check_names(const cip_spec *spec, cip_arena *arena, cip_strmap *names,
                              cip_report *loss, cip_err *err)
{
    char **name;
    CIP_TRY(CIP_ARENA_NEW(arena, &name, spec->narray, err));
    for (size_t i = 0; i < spec->narray; i++) {
        const cip_spec_array *a = &spec->array[i];
        CIP_TRY(name_of(arena, a->path, &name[i], err));
        const size_t n = strlen(name[i]);
        const char *fault = cip_zip_name_fault(name[i], n);
        const cip_bytes key = { (const uint8_t *)name[i], n - (sizeof suffix - 1) };
        if (fault != NULL)
            impossible(loss, a, fault);
        else if (key.len == 0)
            impossible(loss, a, "a name that is not empty");
        else if (n > UINT16_MAX)
            impossible(loss, a, "a name of less than 65,536 bytes");
        else if (cip_strmap_get(names, key) != SIZE_MAX)
            impossible(loss, a, "a name of its own");
        else
            CIP_TRY(cip_strmap_put(names, key, i, NULL, err));
    }
    for (size_t i = 0; i < spec->narray; i++)
        if (cip_strmap_get(names, (cip_bytes){ (const uint8_t *)name[i], strlen(name[i]) }) !=
            SIZE_MAX)
            impossible(loss, &spec->array[i], "a name that no other array has with '.npy'");
    return CIP_OK;
}

static cip_status check(const cip_spec *spec, cip_report *loss, cip_err *err)
{
    cip_arena arena = { .mem = &spec->env->mem };
    cip_strmap names = { .mem = &spec->env->mem };
    CIP_TRY(cip_tell_tree(spec, NULL, ".npz files", loss, err));
    cip_npy_tell_lost(spec, ".npz files", loss);
    const cip_status st = check_names(spec, &arena, &names, loss, err);
    cip_strmap_clear(&names);
    cip_arena_clear(&arena);
    CIP_TRY(st);
    return cip_report_status(loss, err);
}

/* --- the beginning ---------------------------------------------------------------------------- */

static cip_status take_codec(cip_npz_state *w, const cip_spec *spec, cip_err *err)
{
    const char *codec = spec->codec != NULL ? spec->codec : "none";
    if (strcmp(codec, "none") == 0)
        return CIP_OK;
    if (strcmp(codec, "zlib") != 0 && strcmp(codec, "deflate") != 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected the codec zlib or none for a .npz file, found %.60s", codec);
    w->framing = cip_framing_find("deflate");
    w->level = spec->level;
    const cip_codec *zlib = cip_codec_find("zlib");
    if (w->framing == NULL)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "this build is without zlib");
    return zlib->level(w->level, err);
}

static cip_status add(void *state, const cip_spec_array *s, cip_array_form *form, cip_err *err)
{
    cip_npz_state *w = state;
    char *name, *copy;
    cip_buf head = { .mem = &w->env->mem };
    CIP_TRY(CIP_ARENA_ROOM(w->arena, &w->at, w->n, &w->cap, err));
    cip_npz_coming *m = &w->at[w->n];
    CIP_TRY(cip_numpy_stored(w->arena, w->spec, s->dtype, &form->dtype, err));
    CIP_TRY(cip_spec_array_nbytes(s, form->dtype, &m->left, err));
    CIP_TRY(name_of(w->arena, s->path, &name, err));
    cip_status st = cip_npy_head(w->env, s, form->dtype, w->arena, &head, err);
    if (st == CIP_OK)
        st = cip_arena_copy(w->arena, head.ptr, head.len, &copy, err);
    if (st == CIP_OK) {
        m->head = (cip_bytes){ (const uint8_t *)copy, head.len };
        m->zip =
            (cip_zip_member){ .name = name,
                              .method = w->framing != NULL ? CIP_ZIP_DEFLATED : CIP_ZIP_STORED };
        w->n++;
    }
    cip_buf_clear(&head);
    return st;
}

static cip_status begin(const cip_store_begin *b, void **state, cip_err *err)
{
    cip_npz_state *w;
    if (b->old != NULL)
        return cip_npz_update_begin(b, state, err);
    CIP_TRY(CIP_ARENA_NEW(b->arena, &w, 1, err));
    *w = (cip_npz_state){ .env = b->env, .arena = b->arena, .spec = b->spec, .out = b->out };
    CIP_TRY(take_codec(w, b->spec, err));
    for (size_t i = 0; i < b->spec->narray; i++)
        CIP_TRY(add(w, &b->spec->array[i], &b->form[i], err));
    *state = w;
    return CIP_OK;
}

/* --- members ---------------------------------------------------------------------------------- */

static cip_status put_header(const cip_npz_state *w, const cip_npz_coming *m, bool again,
                             cip_err *err)
{
    cip_buf head = { .mem = &w->env->mem };
    cip_status st = cip_zip_header_write(&m->zip, true, &head, err);
    if (st == CIP_OK)
        st = again ? cip_out_rewrite(w->out, m->zip.header, head.ptr, head.len, err)
                   : cip_out_write(w->out, head.ptr, head.len, err);
    cip_buf_clear(&head);
    return st;
}

static cip_status put_bytes(cip_npz_state *w, const void *p, size_t n, cip_err *err)
{
    cip_sum_add(w->sum, p, n);
    w->at[w->next].zip.size += n;
    return cip_encoder_write(w->enc, p, n, err);
}

static cip_status open_member(cip_npz_state *w, size_t array, cip_err *err)
{
    cip_npz_coming *m = &w->at[array];
    if (w->open && array == w->next)
        return CIP_OK;
    if (w->open || array != w->next)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected array %zu, found %zu", w->next,
                        array);
    w->open = true;
    m->zip.header = w->out->n;
    CIP_TRY(put_header(w, m, false, err));
    m->data = w->out->n;
    if (w->sum == NULL)
        CIP_TRY(cip_sum_new(&w->env->mem, CIP_SUM_CRC32, &w->sum, err));
    CIP_TRY(cip_encoder_new(w->env, w->framing, w->level, 0, w->out, &w->enc, err));
    return put_bytes(w, m->head.ptr, m->head.len, err);
}

static cip_status store(void *state, size_t array, uint64_t i, size_t n, const cip_chunk_in *chunk,
                        cip_err *err)
{
    cip_npz_state *w = state;
    (void)i;
    CIP_TRY(open_member(w, array, err));
    for (size_t k = 0; k < n; k++) {
        const cip_bytes b = chunk[k].bytes;
        cip_npz_coming *m = &w->at[array];
        if (chunk[k].state != CIP_CHUNK_DATA || b.len != chunk[k].raw_len || b.len > m->left)
            return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                            "expected at most %" PRIu64 " bytes of data, found %zu", m->left,
                            b.len);
        m->left -= b.len;
        CIP_TRY(put_bytes(w, b.ptr, b.len, err));
    }
    return CIP_OK;
}

static cip_status end(void *state, size_t array, bool *again, cip_err *err)
{
    cip_npz_state *w = state;
    uint8_t crc[CIP_SUM_MAX];
    if (again != NULL)
        *again = false;
    CIP_TRY(open_member(w, array, err)); /* of no elements */
    cip_npz_coming *m = &w->at[array];
    if (m->left != 0)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET,
                        "expected %" PRIu64 " more bytes of data, found the end", m->left);
    CIP_TRY(cip_encoder_finish(w->enc, err));
    cip_encoder_free(w->enc);
    w->enc = NULL;
    m->zip.stored = w->out->n - m->data;
    cip_sum_take(w->sum, crc);
    m->zip.crc = cip_load_u32(crc, true);
    w->open = false;
    w->next++;
    return put_header(w, m, true, err);
}

static cip_status finish(void *state, cip_revision *r, cip_err *err)
{
    cip_npz_state *w = state;
    cip_buf directory = { .mem = &w->env->mem };
    cip_zip_member *members;
    if (w->old != NULL)
        return cip_npz_update_finish(w, r, err);
    if (w->next != w->n)
        return cip_fail(err, CIP_ERR_ARG, CIP_NO_OFFSET, "expected %zu arrays, found %zu", w->n,
                        w->next);
    CIP_TRY(CIP_NEW(&w->env->mem, &members, w->n, err));
    for (size_t i = 0; i < w->n; i++)
        members[i] = w->at[i].zip;
    cip_status st = cip_zip_directory_write(members, w->n, w->out->n, NULL, NULL, &directory, err);
    if (st == CIP_OK)
        st = cip_out_write(w->out, directory.ptr, directory.len, err);
    cip_mem_put(&w->env->mem, members);
    cip_buf_clear(&directory);
    return st;
}

static void clear(void *state)
{
    cip_npz_state *w = state;
    cip_encoder_free(w->enc);
    cip_sum_free(w->sum);
}

const cip_array_store cip_npz_store = {
    .caps = CIP_STORE_NAMES | CIP_STORE_PATCHES | CIP_STORE_LATE | CIP_STORE_UPDATES,
    .check = check,
    .begin = begin,
    .store = store,
    .end = end,
    .add = add,
    .form = cip_npz_update_form,
    .chunks = cip_npz_update_chunks,
    .finish = finish,
    .clear = clear,
};
