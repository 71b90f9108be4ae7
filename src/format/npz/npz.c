/* SPDX-License-Identifier: BSD-3-Clause
 * .npz files: opening and checking.
 *
 * As in numpy it is the content that makes a member an array, and `.npy` at the end of its name is
 * left out; what is no .npy file is listed as the bytes that it has. One member that cannot be read
 * leaves the others alone. */
#include "format/npz/npz.h"

#include <string.h>

#include "base/endian.h"
#include "base/num.h"
#include "format/zip_member.h"
#include "space/read/window.h"
#include "tree/utf8.h"

enum { PIECE = 1 << 20, SUFFIX = 4 };

static bool has_suffix(const char *name)
{
    const size_t n = strlen(name);
    return n >= SUFFIX && memcmp(name + n - SUFFIX, ".npy", SUFFIX) == 0;
}

/* --- which file it is ------------------------------------------------------------------------- */

/* An archive whose first member is no .npy file is looked at as a whole. */
static int probe(cip_io *io, cip_bytes head)
{
    enum { AT_NAME_LEN = 26, HEADER = 30 };
    static const char first[] = "PK\3\4", empty[] = "PK\5\6";
    if (head.len < HEADER - 8 ||
        (memcmp(head.ptr, first, 4) != 0 && memcmp(head.ptr, empty, 4) != 0))
        return 0;
    const size_t n =
        head.len < HEADER ? 0 : (size_t)(head.ptr[AT_NAME_LEN] | head.ptr[AT_NAME_LEN + 1] << 8);
    if (head.ptr[2] == 3 && n >= SUFFIX && n <= head.len - HEADER &&
        memcmp(head.ptr + HEADER + n - SUFFIX, ".npy", SUFFIX) == 0)
        return 100;
    cip_arena a = { .mem = &io->env->mem };
    cip_zip z;
    int sure = 0;
    if (cip_zip_read(io, &a, &z, NULL) == CIP_OK) {
        for (size_t i = 0; i < z.n && sure == 0; i++)
            sure = has_suffix(z.at[i].name) ? 60 : 0;
        sure = z.n == 0 ? 50 : sure;
    }
    cip_arena_clear(&a);
    return sure;
}

/* --- members ---------------------------------------------------------------------------------- */

/* The path of a member's array: `~` and empty steps are escaped, `/` parts steps. */
static cip_status path_of(const cip_npz *z, const cip_zip_member *m, const char **out, cip_err *err)
{
    cip_buf b = { .mem = &z->layout->env->mem };
    char *name, *path;
    cip_status st;
    if (!cip_utf8_is(m->name, strlen(m->name)))
        return cip_fail(err, CIP_ERR_CORRUPT, m->entry,
                        "expected a name in UTF-8, found other bytes");
    CIP_TRY(cip_arena_copy(&z->layout->arena, m->name, strlen(m->name), &name, err));
    if (has_suffix(name)) {
        name[strlen(name) - SUFFIX] = '\0';
        if (cip_zip_find(&z->zip, name) != NULL) /* which has the short one then */
            name[strlen(name)] = '.';
    }
    for (const char *s = name;; s++) {
        const size_t n = strcspn(s, "/");
        CIP_GO(cip_path_add(&b, (cip_bytes){ (const uint8_t *)s, n }, err));
        s += n;
        if (*s == '\0')
            break;
    }
    CIP_GO(cip_arena_copy(&z->layout->arena, b.ptr, name[0] == '\0' ? 0 : b.len, &path, err));
    *out = path;
done:
    cip_buf_clear(&b);
    return st;
}

static cip_status check_crc(const cip_npz_member *m, cip_report *report, cip_err *err)
{
    cip_layout *l = m->data->layout;
    const cip_read_how how = { l, l->env->pool };
    return m->zip->method == CIP_ZIP_STORED
               ? cip_zip_check_stored(l->io, m->zip, m->off, report, err)
               : cip_space_stream(&how, m->data, PIECE, cip_report_read, report, err);
}

static cip_status make_checked(void *self, cip_space **out, cip_err *err)
{
    const cip_npz_member *m = self;
    *out = m->data;
    return check_crc(m, NULL, err);
}

/* Where the member's bytes are, and what they decode to. */
static cip_status open_data(const cip_npz *z, cip_npz_member *m, cip_err *err)
{
    cip_layout *l = z->layout;
    const cip_zip_member *in = m->zip;
    CIP_TRY(cip_zip_data(l->io, in, &m->off, err));
    CIP_TRY(cip_space_new_sub(l, l->file, m->off, in->stored, &m->stored, err));
    m->stored->label = in->name;
    if (in->method == CIP_ZIP_DEFLATED) {
        m->deflate.crc = in->crc;
        const cip_step step = { .codec = &cip_codec_deflate, .args = &m->deflate };
        const cip_extent at = { l->file, m->off, in->stored };
        CIP_TRY(cip_space_new_seq(l, &at, in->size, &step, &m->data, err));
        m->data->label = in->name;
        m->checked = m->data;
        return CIP_OK;
    }
    if (in->method != CIP_ZIP_STORED)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, in->entry,
                        "expected a member that is stored or deflated (methods 0 and 8), found "
                        "method %d%s",
                        in->method,
                        in->method == 12   ? " (bzip2)"
                        : in->method == 14 ? " (LZMA)"
                        : in->method == 93 ? " (zstd)"
                                           : "");
    m->checked = m->data = m->stored;
    if ((l->flags & CIP_OPEN_CHECK) != 0) {
        CIP_TRY(cip_space_new_lazy(l, make_checked, m, &m->checked, err));
        m->checked->len = in->size;
        m->checked->label = in->name;
    }
    return CIP_OK;
}

/* Bytes that are no array, or of one that cannot be read. */
static cip_status fill_bytes(cip_npz_member *m, cip_err *err)
{
    cip_array *a = m->array;
    const int64_t n = (int64_t)cip_min_u64(m->zip->size, INT64_MAX);
    a->dtype = cip_dtype_fixed(CIP_U8, false);
    a->space = m->checked;
    return cip_view_c_order(1, &n, 1, &a->view, err);
}

static cip_status open_array(const cip_npz *z, cip_npz_member *m, cip_err *err)
{
    cip_layout *l = z->layout;
    cip_npy_header *h;
    cip_err why = CIP_ERR_INIT;
    CIP_TRY(open_data(z, m, err));
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &h, 1, err));
    const cip_status st = cip_npy_header_read(l, m->data, h, &why);
    if (st == CIP_ERR_FORMAT)
        return fill_bytes(m, err);
    m->header = h;
    CIP_TRY(cip_err_give(err, &why, st));
    return cip_npy_array_fill(m->array, m->header, m->checked, err);
}

/* What is wrong with one member is that array's only. */
static bool is_own_fault(cip_status st)
{
    return st == CIP_ERR_CORRUPT || st == CIP_ERR_CHECKSUM || st == CIP_ERR_TRUNCATED ||
           st == CIP_ERR_UNSUPPORTED || st == CIP_ERR_LIMIT || st == CIP_ERR_RANGE ||
           st == CIP_ERR_FORMAT;
}

static cip_status add_member(cip_npz *z, const cip_zip_member *zip, cip_err *err)
{
    cip_npz_member *m = &z->at[z->n];
    cip_err why = CIP_ERR_INIT;
    m->zip = zip;
    CIP_TRY(cip_layout_add_array(z->layout, true, &m->array, err));
    z->n++;
    m->array->layout = z->layout;
    CIP_TRY(path_of(z, zip, &m->array->path, err));
    cip_status st = open_array(z, m, &why);
    if (st != CIP_OK && !is_own_fault(st))
        return cip_err_give(err, &why, st);
    if (st != CIP_OK) {
        m->header = NULL;
        CIP_TRY(fill_bytes(m, err));
        cip_fail_in(&why, st, "member '%.100s'", zip->name);
        cip_array_refuse(m->array, st, &why);
    }
    m->array->storage = (cip_storage){ .kind = CIP_STORAGE_CONTIGUOUS,
                                       .codec = zip->method == CIP_ZIP_STORED     ? "none"
                                                : zip->method == CIP_ZIP_DEFLATED ? "deflate"
                                                                                  : "unknown",
                                       .nbytes = zip->stored,
                                       .block = (int64_t)z->n - 1 };
    return CIP_OK;
}

/* --- the file --------------------------------------------------------------------------------- */

/* The members as they lie in the file, in the order of the directory. */
static cip_status list_blocks(cip_layout *l, cip_err *err)
{
    const cip_npz *z = l->own;
    pthread_mutex_lock(&l->lock);
    cip_status st = CIP_ARENA_NEW(&l->arena, &l->block, z->n, err);
    pthread_mutex_unlock(&l->lock);
    CIP_TRY(st);
    for (size_t i = 0; i < z->n; i++) {
        const cip_npz_member *m = &z->at[i];
        cip_block *b = &l->block[i];
        b->info = (cip_block_info){ .offset = m->zip->header,
                                    .header_nbytes = m->off != 0 ? m->off - m->zip->header : 0,
                                    .data_offset = m->off,
                                    .allocated_nbytes = m->zip->stored,
                                    .stored_nbytes = m->zip->stored,
                                    .decoded_nbytes = m->zip->size,
                                    .flags = m->zip->flags,
                                    .codec = m->array->storage.codec,
                                    .checksum = "crc32",
                                    .checksum_nbytes = 4,
                                    .member = m->zip->name };
        cip_store_u32(b->info.checksum_value, m->zip->crc, true);
        b->stored = m->stored;
        b->data = m->data;
        if (m->stored == NULL)
            CIP_TRY(cip_space_new_mem(l, (cip_bytes){ NULL, 0 }, &b->stored, err));
        if (m->data == NULL) {
            b->info.state = m->array->st;
            b->why = m->array->why;
        } else if (m->zip->method == CIP_ZIP_STORED) {
            b->sum_id = CIP_SUM_CRC32;
        }
    }
    l->nblock = z->n;
    return CIP_OK;
}

static cip_status open_file(cip_layout *l, cip_err *err)
{
    cip_npz *z;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &z, 1, err));
    z->layout = l;
    l->own = z;
    l->list_blocks = list_blocks;
    cip_status st = cip_zip_read(l->io, &l->arena, &z->zip, err);
    if (st != CIP_OK)
        return cip_fail_in(err, st, "zip archive");
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &z->at, z->zip.n, err));
    for (size_t i = 0; i < z->zip.n; i++)
        if (!cip_zip_is_folder(&z->zip.at[i]))
            CIP_TRY(add_member(z, &z->zip.at[i], err));
    if (z->zip.ncomment != 0)
        CIP_TRY(cip_layout_add_fact(l, "comment", err, "%u bytes", z->zip.ncomment));
    return CIP_OK;
}

/* --- verify ----------------------------------------------------------------------------------- */

static cip_status verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    const cip_npz *z = l->own;
    (void)deep;
    for (size_t i = 0; i < z->n; i++) {
        const cip_npz_member *m = &z->at[i];
        cip_err why = CIP_ERR_INIT;
        if (m->data == NULL)
            continue; /* core says why */
        if (m->header != NULL && m->array->st == CIP_OK) {
            const uint64_t end = m->array->space->sub.off + m->array->space->len;
            if (end != m->zip->size)
                cip_report_add(report, CIP_NOTE, CIP_OK, CIP_NO_OFFSET, 0, m->array->path,
                               "%" PRIu64 " bytes after the array", m->zip->size - end);
        }
        cip_status st = check_crc(m, report, &why);
        if (st != CIP_OK)
            cip_fail_in(&why, st, "member '%.100s'", m->zip->name);
        CIP_TRY(cip_report_outcome(report, st, &why, err));
    }
    return cip_report_status(report, err);
}

const cip_format cip_format_npz = {
    .name = "npz",
    .title = "NumPy .npz",
    .extensions = "npz",
    .probe = probe,
    .open = open_file,
    .verify = verify,
    .store = &cip_npz_store,
};
