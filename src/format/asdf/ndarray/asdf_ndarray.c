/* SPDX-License-Identifier: BSD-3-Clause
 * core/ndarray nodes: from a description in the tree to an array over a space. Whatever is wrong
 * with one costs that array only. */
#include "format/asdf/asdf.h"

#include <string.h>

#include "base/num.h"

enum { EMPTY_ITEMS_MAX = 1 << 24 };

/* The keys of a mapping; those that are not there are NULL. */
typedef struct parts {
    const cip_node *source, *data, *mask, *datatype, *byteorder, *shape, *offset, *strides;
} parts;

static parts split(const asdf_file *f, const cip_node *n)
{
    return (parts){
        .source = cip_map_get(n, "source"),
        .data = cip_map_get(n, "data"),
        .mask = cip_map_get(n, "mask"),
        .datatype = cip_asdf_datatype_of(f, n),
        .byteorder = cip_map_get(n, "byteorder"),
        .shape = cip_map_get(n, "shape"),
        .offset = cip_map_get(n, "offset"),
        .strides = cip_map_get(n, "strides"),
    };
}

/* --- tags ------------------------------------------------------------------------------------- */

static bool is_tag(const char *tag, const char *name, const char **version)
{
    static const char *const prefix[] = { ASDF_TAGS "core/", ASDF_TAGS "0.1.0/core/" };
    size_t n = strlen(name), i = 0;
    if (tag == NULL)
        return false;
    while (i < 2 && strncmp(tag, prefix[i], strlen(prefix[i])) != 0)
        i++;
    if (i == 2)
        return false;
    const char *s = tag + strlen(prefix[i]);
    if (strncmp(s, name, n) != 0)
        return false;
    if (s[n] != '\0' && (s[n] != '-' || s[n + 1] < '0' || s[n + 1] > '9')) /* ndarray-chunk-1.0.0 */
        return false;
    if (version != NULL)
        *version = s[n] == '-' ? s + n + 1 : s + n;
    return true;
}

bool cip_asdf_is_ndarray(const char *tag, const char **version)
{
    return is_tag(tag, "ndarray", version);
}

bool cip_asdf_is_core(const char *tag, const char *name)
{
    return is_tag(tag, name, NULL);
}

/* Says something once for the whole file. */
static bool first_time(asdf_file *f, uint32_t what)
{
    bool first = (f->warned & what) == 0;
    f->warned |= what;
    return first;
}

static cip_status check_tag(asdf_file *f, const cip_node *n, cip_err *err)
{
    const char *text = "";
    asdf_version v;
    if (!cip_asdf_is_ndarray(n->tag, &text)) /* a bare list as a mask */
        return CIP_OK;
    bool early = cip_asdf_is_early(f->header.file);
    if (text[0] == '\0') {
        if (!early && first_time(f, ASDF_WARNED_TAG))
            cip_warn(f->env, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "tree",
                     "expected a version in the tag core/ndarray; it is read as 1.0.0");
        return CIP_OK;
    }
    bool parsed = cip_asdf_version_parse(text, strlen(text), &v);
    if (parsed && early && cip_asdf_is_early(v))
        return CIP_OK;
    bool known = parsed && v.major == 1 && v.minor <= 2 && v.patch == 0;
    if (!known && (f->layout->flags & CIP_OPEN_FORCE) == 0)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected core/ndarray of version 1.0.0 to 1.2.0, found %.40s", text);
    bool standard_says = f->header.has_standard && cip_asdf_standard_known(f->header.standard);
    uint32_t minor = f->header.standard.minor >= 6 ? 1 : 0;
    if (known && standard_says && v.minor != minor && first_time(f, ASDF_WARNED_VERSION))
        cip_warn(f->env, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET, "tree",
                 "core/ndarray-%.20s is not part of the standard %.20s that the file declares; it "
                 "is read nevertheless",
                 text, f->header.standard_text);
    return CIP_OK;
}

/* --- dtype, shape, strides -------------------------------------------------------------------- */

static cip_status missing(const char *key, cip_err *err)
{
    return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                    "expected a %s together with source, found none", key);
}

static cip_status read_order(asdf_file *f, const parts *p, bool *big, cip_err *err)
{
    *big = false;
    if (p->byteorder != NULL)
        return cip_asdf_byteorder(p->byteorder, big, err);
    if (p->source != NULL && first_time(f, ASDF_WARNED_ORDER))
        cip_warn(f->env, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "tree",
                 "expected a byteorder together with source; little is assumed");
    return CIP_OK;
}

/* Lengths into v->shape; the first may be "*" (then 0 for now). */
static cip_status read_shape(const cip_node *n, cip_nd *v, bool *star, cip_err *err)
{
    if (n->type != CIP_NODE_SEQ)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected a list as shape");
    if (n->len > CIP_MAX_NDIM)
        return cip_fail(err, CIP_ERR_UNSUPPORTED, CIP_NO_OFFSET,
                        "expected at most %d dimensions, found %" PRIu32, CIP_MAX_NDIM, n->len);
    *star = n->len > 0 && cip_node_is_string(n->item[0], "*");
    for (uint32_t i = *star ? 1 : 0; i < n->len; i++)
        if (!cip_node_as_int(n->item[i], &v->shape[i]) || v->shape[i] < 0)
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected a length of at least 0 as item %" PRIu32
                            " of shape, found '%.40s'",
                            i, n->item[i]->text != NULL ? n->item[i]->text : "a list");
    v->ndim = (int32_t)n->len;
    return CIP_OK;
}

static cip_status read_strides(asdf_file *f, const cip_node *n, const char *path, cip_nd *v,
                               cip_err *err)
{
    if (n->type != CIP_NODE_SEQ || n->len != (uint32_t)v->ndim)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected %" PRId32 " strides, as many as the shape has axes", v->ndim);
    for (uint32_t i = 0; i < n->len; i++)
        if (!cip_node_as_int(n->item[i], &v->stride[i]))
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected an integer as item %" PRIu32 " of strides", i);
    for (uint32_t i = 0; i < n->len; i++)
        if (v->stride[i] == 0) {
            cip_warn(f->env, CIP_ERR_CORRUPT, CIP_NO_OFFSET, path, "a stride of 0");
            break;
        }
    return CIP_OK;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Bytes of the array's space; resolving it only where there is no other way. False: not known yet.
 */
static cip_status length_of(const asdf_file *f, const cip_array *a, bool must, bool *known,
                            uint64_t *len, cip_err *err)
{
    const int64_t block = a->storage.block;
    cip_space *s = a->space;
    *known = true;
    if (block >= 0 && cip_asdf_decoded_len(&f->blocks.at[block], len))
        return CIP_OK;
    if (s->kind != CIP_SPACE_LAZY) {
        *len = s->len;
        return CIP_OK;
    }
    *known = must;
    if (!must)
        return CIP_OK;
    CIP_TRY(cip_space_resolve(s, &s, err));
    *len = s->len;
    return CIP_OK;
}

/* How many whole rows `len` bytes hold: floor, as the standard says for streams. */
static cip_status count_rows(asdf_file *f, cip_array *a, bool strided, uint64_t len, cip_err *err)
{
    cip_nd *v = &a->view, row = *v;
    uint64_t first, end;
    row.ndim = v->ndim - 1;
    memmove(row.shape, v->shape + 1, sizeof row.shape - sizeof row.shape[0]);
    memmove(row.stride, v->stride + 1, sizeof row.stride - sizeof row.stride[0]);
    if (!strided)
        CIP_TRY(cip_view_c_order(row.ndim, row.shape, v->itemsize, &row, err));
    row.off = v->off;
    CIP_TRY(cip_view_bounds(&row, &first, &end, err));
    uint64_t step = strided ? (uint64_t)v->stride[0] : end - first;
    if (strided && v->stride[0] <= 0)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected a positive first stride where the shape starts with '*'");
    uint64_t rows = step == 0 || len < end ? 0 : (len - end) / step + 1;
    if (rows > INT64_MAX)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected at most 2^63 rows");
    v->shape[0] = (int64_t)rows;
    uint64_t used = rows == 0 ? v->off : end + (rows - 1) * step;
    if (used < len && end != 0)
        cip_warn_lack(f->env, CIP_LACKS_ARRAY, a, CIP_ERR_TRUNCATED, CIP_NO_OFFSET, a->path,
                      "the last row is incomplete: %" PRIu64 " bytes are left over", len - used);
    return CIP_OK;
}

/* Records that were written with padding are described without it: their fields read as garbage. */
static void look_for_padding(asdf_file *f, const cip_array *a, uint64_t len)
{
    uint64_t n, packed, aligned;
    if (a->dtype->kind != CIP_RECORD || a->dtype->itemsize > UINT32_MAX || a->view.off != 0 ||
        !cip_view_is_contiguous(&a->view) || !cip_shape_nelem(a->view.ndim, a->view.shape, &n))
        return;
    if (n == 0 || cip_mul_overflow(n, a->dtype->itemsize, &packed) || packed == len ||
        cip_mul_overflow(n, cip_asdf_aligned_size(a->dtype), &aligned) || aligned != len)
        return;
    cip_warn(f->env, CIP_ERR_CORRUPT, CIP_NO_OFFSET, a->path,
             "the block has the size of padded records, but the description is of packed records; "
             "the values may be wrong");
}

/* Strides in C order where none are given, then rows and bounds where the length is known. */
static cip_status place(asdf_file *f, const parts *p, bool star, cip_array *a, cip_err *err)
{
    cip_nd *v = &a->view, plain;
    bool known, strided = p->strides != NULL;
    uint64_t len = 0, n;
    if (p->offset != NULL && !cip_node_as_uint(p->offset, &v->off))
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET, "expected an offset of at least 0");
    CIP_TRY(length_of(f, a, star, &known, &len, err));
    if (strided)
        CIP_TRY(read_strides(f, p->strides, a->path, v, err));
    if (star)
        CIP_TRY(count_rows(f, a, strided, len, err));
    CIP_TRY(cip_view_c_order(v->ndim, v->shape, v->itemsize, &plain, err));
    if (!strided)
        memcpy(v->stride, plain.stride, sizeof v->stride);
    if (v->itemsize == 0 && cip_shape_nelem(v->ndim, v->shape, &n) && n > EMPTY_ITEMS_MAX)
        return cip_fail(err, CIP_ERR_LIMIT, CIP_NO_OFFSET,
                        "expected at most %d elements of no bytes, found %" PRIu64, EMPTY_ITEMS_MAX,
                        n);
    uint64_t first, end; /* strides that wrap are refused even where the length is not known yet */
    CIP_TRY(cip_view_bounds(v, &first, &end, err));
    if (!known)
        return CIP_OK;
    if (end > len)
        return cip_fail(err, CIP_ERR_RANGE, CIP_NO_OFFSET,
                        "expected a block of at least %" PRIu64 " bytes, found %" PRIu64, end, len);
    look_for_padding(f, a, len);
    return CIP_OK;
}

static cip_status from_block(asdf_file *f, const parts *p, cip_array *a, cip_err *err)
{
    bool big, star = false;
    const cip_dtype *dtype;
    const cip_nd *v = &a->view;
    cip_nd f_order;
    if (p->datatype == NULL)
        return missing("datatype", err);
    CIP_TRY(read_order(f, p, &big, err));
    CIP_TRY(cip_asdf_datatype(f, p->datatype, big, &dtype, err));
    a->dtype = dtype;
    a->view.itemsize = a->dtype->itemsize;
    if (p->shape == NULL)
        return missing("shape", err);
    CIP_TRY(read_shape(p->shape, &a->view, &star, err));
    CIP_TRY(cip_asdf_source(f, p->source, a, err));
    CIP_TRY(place(f, p, star, a, err));
    /* the first axis is the fastest, and the other order is not just as true */
    a->f_order = v->ndim > 1 && !cip_view_is_contiguous(v) &&
                 cip_view_f_order(v->ndim, v->shape, v->itemsize, &f_order, NULL) == CIP_OK &&
                 memcmp(f_order.stride, v->stride, (size_t)v->ndim * sizeof v->stride[0]) == 0;
    return CIP_OK;
}

/* --- inline ----------------------------------------------------------------------------------- */

/* A shape that is declared must be that of the lists; an axis of length 0 hides those behind it. */
static cip_status check_shape(const asdf_inline *in, const cip_nd *v, cip_err *err)
{
    for (int32_t i = 0; i < v->ndim; i++) {
        if (i == in->ndim || v->shape[i] != in->shape[i])
            return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                            "expected inline data of the declared shape: %" PRId64
                            " items on axis %" PRId32,
                            v->shape[i], i);
        if (v->shape[i] == 0)
            return CIP_OK;
    }
    if (v->ndim != in->ndim)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected inline data of %" PRId32 " axes, found %" PRId32, v->ndim,
                        in->ndim);
    return CIP_OK;
}

static cip_status from_lists(asdf_file *f, const parts *p, cip_array *a, asdf_inline *in,
                             cip_err *err)
{
    bool big = false, star = false;
    const cip_dtype *dtype = NULL;
    a->storage.kind = CIP_STORAGE_INLINE;
    a->storage.codec = "none";
    CIP_TRY(read_order(f, p, &big, err));
    if (p->datatype != NULL) {
        CIP_TRY(cip_asdf_datatype(f, p->datatype, big, &dtype, err));
        a->dtype = dtype;
    }
    CIP_TRY(cip_asdf_inline_look(f, p->data, dtype, big, in, err));
    a->dtype = in->dtype;
    in->path = a->path;
    if (p->shape != NULL) {
        CIP_TRY(read_shape(p->shape, &a->view, &star, err));
        if (star)
            a->view.shape[0] = in->shape[0];
        CIP_TRY(check_shape(in, &a->view, err));
        in->ndim = a->view.ndim;
        memcpy(in->shape, a->view.shape, sizeof in->shape);
    }
    CIP_TRY(cip_view_c_order(in->ndim, in->shape, a->dtype->itemsize, &a->view, err));
    return cip_asdf_inline_space(f, in, &a->space, err);
}

/* --- all -------------------------------------------------------------------------------------- */

static cip_status describe(asdf_file *f, const cip_node *n, bool masked, cip_array *a, cip_err *err)
{
    asdf_inline in = { .may_be_one = !masked };
    parts p = { .data = n };
    CIP_TRY(check_tag(f, n, err));
    if (n->type == CIP_NODE_MAP)
        p = split(f, n);
    else if (n->type != CIP_NODE_SEQ)
        return cip_fail(err, CIP_ERR_TYPE, CIP_NO_OFFSET,
                        "expected a mapping or a list as an ndarray, found %s",
                        n->type == CIP_NODE_NULL ? "nothing" : "a scalar");
    if (p.source != NULL && p.data != NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected either source or data in an ndarray, found both");
    if (p.source == NULL && p.data == NULL)
        return cip_fail(err, CIP_ERR_CORRUPT, CIP_NO_OFFSET,
                        "expected source or data in an ndarray");
    if (p.source != NULL)
        CIP_TRY(from_block(f, &p, a, err));
    else
        CIP_TRY(from_lists(f, &p, a, &in, err));
    if (!masked)
        return CIP_OK;
    return cip_asdf_mask(f, p.mask, p.data != NULL ? &in : NULL, a, err);
}

cip_status cip_asdf_ndarray(asdf_file *f, const cip_node *node, bool masked, cip_array *a,
                            cip_err *err)
{
    cip_err why = CIP_ERR_INIT;
    a->node = node;
    a->storage = (cip_storage){ .kind = CIP_STORAGE_INTERNAL, .codec = "", .block = -1 };
    CIP_TRY(cip_dtype_opaque(&f->layout->arena, 0, "unknown", &a->dtype, err));
    cip_status st = describe(f, node, masked, a, &why);
    if (st == CIP_OK)
        return CIP_OK;
    if (st == CIP_ERR_NOMEM) {
        cip_err_pass(err, &why);
        return st;
    }
    cip_fail_in(&why, st, "%s", a->path);
    cip_array_refuse(a, st, &why);
    /* Who reads the other arrays is to know that the file may be cut. A check says it once, as
     * these are the words of the array's own error; a mask's is part of that. */
    if (masked && f->lacks_block && (f->warned & ASDF_WARNED_BLOCK) == 0) {
        f->warned |= ASDF_WARNED_BLOCK;
        cip_report_err(&f->env->warnings, CIP_WARN, &why);
    }
    return CIP_OK;
}
