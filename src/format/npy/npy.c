/* SPDX-License-Identifier: BSD-3-Clause
 * .npy files: opening and checking. */
#include "format/npy/npy.h"

#include <string.h>

#include "base/num.h"
#include "tree/utf8.h"
#include "space/read/window.h"

enum { AT_VERSION = 6, PIECE = 1 << 20 };

static int probe(cip_io *io, cip_bytes head)
{
    cip_npy_preamble p;
    cip_status st = cip_npy_preamble_read(head, io->size, true, &p, NULL);
    return st == CIP_OK ? 100 : st == CIP_ERR_FORMAT ? 0 : 90;
}

/* --- header --------------------------------------------------------------------------------- */

static cip_status read_text(cip_layout *l, cip_bytes in, const cip_npy_preamble *p,
                            cip_npy_header *h, cip_err *err)
{
    cip_status st;
    cip_buf utf8 = { .mem = &l->env->mem };
    cip_bytes text = in;
    if (p->major < 3) {
        /* Versions 1.0 and 2.0 are in Latin-1; each byte of it is the code point of the same
         * number. */
        for (size_t i = 0; i < in.len; i++) {
            const uint8_t two[2] = { (uint8_t)(0xc0 | in.ptr[i] >> 6),
                                     (uint8_t)(0x80 | (in.ptr[i] & 0x3f)) };
            CIP_GO(in.ptr[i] < 0x80 ? cip_buf_add(&utf8, in.ptr + i, 1, err)
                                    : cip_buf_add(&utf8, two, 2, err));
        }
        text = (cip_bytes){ utf8.ptr, utf8.len };
    } else {
        for (size_t i = 0; i < in.len;) {
            uint32_t cp;
            unsigned len = cip_utf8_get(in.ptr + i, in.len - i, &cp);
            if (len == 0)
                CIP_GO(cip_fail(err, CIP_ERR_CORRUPT, p->text_off + i,
                                "expected UTF-8 in the header, found the byte 0x%02x", in.ptr[i]));
            i += len;
        }
    }
    st = cip_npy_text_read(&l->arena, text, p->text_off, h, err);
done:
    cip_buf_clear(&utf8);
    return st;
}

/* Most headers come by one read, so that data which are decoded in order are begun once. Where
 * what lies behind is damaged, the header may be read all the same. */
static cip_status peek(cip_window *w, uint64_t off, size_t n, cip_bytes *out, cip_err *err)
{
    enum { AHEAD = 1024 };
    cip_err why = CIP_ERR_INIT;
    const cip_status st = cip_window_peek(w, off, n, AHEAD, out, &why);
    const bool damage = st == CIP_ERR_CORRUPT || st == CIP_ERR_TRUNCATED || st == CIP_ERR_CHECKSUM;
    return damage ? cip_window_peek(w, off, n, 0, out, err) : cip_err_give(err, &why, st);
}

cip_status cip_npy_header_read(cip_layout *l, cip_space *in, cip_npy_header *h, cip_err *err)
{
    cip_window w = { .layout = l, .in = in };
    cip_npy_preamble p;
    cip_bytes head;
    cip_status st;
    CIP_GO(peek(&w, 0, CIP_NPY_PREAMBLE_MAX, &head, err));
    CIP_GO(cip_npy_preamble_read(head, in->len, (l->flags & CIP_OPEN_FORCE) != 0, &p, err));
    if (p.major > 3 || p.minor != 0)
        cip_warn(l->env, CIP_ERR_UNSUPPORTED, AT_VERSION, "header",
                 "the unknown version %d.%d is read as 3.0", p.major, p.minor);
    CIP_GO(peek(&w, p.text_off, p.text_len, &head, err));
    CIP_GO(read_text(l, head, &p, h, err));
    h->pre = p;
done:
    cip_window_clear(&w);
    return st;
}

/* --- the array ------------------------------------------------------------------------------ */

cip_status cip_npy_array_fill(cip_array *a, const cip_npy_header *h, cip_space *in, cip_err *err)
{
    const uint64_t off = (uint64_t)h->pre.text_off + h->pre.text_len, there = in->len - off;
    uint64_t n = 0;
    cip_err why = CIP_ERR_INIT;
    cip_status st = (h->f_order ? cip_view_f_order : cip_view_c_order)(
        h->ndim, h->shape, h->dtype->itemsize, &a->view, &why);
    if (st != CIP_OK)
        return cip_fail(err, CIP_ERR_CORRUPT, off, "shape: %s", why.text);
    /* It fits, as the view does, or elements have no bytes. */
    cip_shape_nelem(h->ndim, h->shape, &n);
    n = h->why.code != CIP_OK ? there : n * h->dtype->itemsize;
    a->dtype = h->dtype;
    a->f_order = h->f_order;
    a->storage =
        (cip_storage){ .kind = CIP_STORAGE_CONTIGUOUS, .codec = "none", .nbytes = n, .block = -1 };
    if (n > there)
        return cip_fail(err, CIP_ERR_TRUNCATED, in->len,
                        "expected %" PRIu64 " bytes of data at %" PRIu64 ", found %" PRIu64, n, off,
                        there);
    CIP_TRY(cip_space_new_sub(in->layout, in, off, n, &a->space, err));
    a->space->label = "data";
    if (h->why.code != CIP_OK)
        cip_array_refuse(a, (cip_status)h->why.code, &h->why);
    return CIP_OK;
}

static cip_status open_file(cip_layout *l, cip_err *err)
{
    cip_npy_header *h;
    cip_array *a;
    char *version;
    CIP_TRY(CIP_ARENA_NEW(&l->arena, &h, 1, err));
    cip_status st = cip_npy_header_read(l, l->file, h, err);
    if (st != CIP_OK)
        return cip_fail_in(err, st, "header");
    l->own = h;
    CIP_TRY(cip_arena_printf(&l->arena, &version, err, "%d.%d", h->pre.major, h->pre.minor));
    l->version = version;
    CIP_TRY(cip_layout_add_array(l, true, &a, err));
    a->layout = l;
    a->path = "";
    CIP_TRY(cip_npy_array_fill(a, h, l->file, err));
    uint64_t rest = l->io->size - h->pre.text_off - h->pre.text_len - l->array[0]->storage.nbytes;
    CIP_TRY(cip_layout_add_fact(l, "descr", err, "%s", h->descr));
    CIP_TRY(cip_layout_add_fact(l, "fortran_order", err, "%s", h->f_order ? "True" : "False"));
    if (rest != 0)
        CIP_TRY(cip_layout_add_fact(l, "after the array", err, "%" PRIu64 " bytes", rest));
    return CIP_OK;
}

/* --- verify --------------------------------------------------------------------------------- */

static cip_status verify(cip_layout *l, bool deep, cip_report *report, cip_err *err)
{
    const cip_npy_preamble *p = &((const cip_npy_header *)l->own)->pre;
    const cip_read_how how = { l, l->env->pool };
    uint64_t start = (uint64_t)p->text_off + p->text_len;
    uint64_t end = start + l->array[0]->storage.nbytes;
    cip_err why = CIP_ERR_INIT;
    (void)deep;
    if (start % 16 != 0)
        cip_report_add(report, CIP_NOTE, CIP_OK, start, 0, "header",
                       "the data start at %" PRIu64 ", not at a multiple of 16", start);
    if (end != l->io->size)
        cip_report_add(report, CIP_NOTE, CIP_OK, end, l->io->size - end, NULL,
                       "%" PRIu64 " bytes after the array", l->io->size - end);
    cip_status st = cip_space_stream(&how, l->file, PIECE, cip_report_read, report, &why);
    CIP_TRY(cip_report_outcome(report, st, &why, err));
    return cip_report_status(report, err);
}

const cip_format cip_format_npy = {
    .name = "npy",
    .title = "NumPy .npy",
    .extensions = "npy",
    .probe = probe,
    .open = open_file,
    .verify = verify,
    .store = &cip_npy_store,
};
