/* SPDX-License-Identifier: BSD-3-Clause */
#include "support/array/array_testing.h"

#include "array/view.h"

static void parsed_range(const char *text, int64_t start, int64_t stop, int64_t step)
{
    cip_selection sel;
    assert_int_equal(cip_selection_parse(text, &sel, NULL), CIP_OK);
    assert_int_equal(sel.n, 1);
    assert_int_equal(sel.item[0].what, CIP_SLICE_RANGE);
    assert_int_equal(sel.item[0].start, start);
    assert_int_equal(sel.item[0].stop, stop);
    assert_int_equal(sel.item[0].step, step);
}

static void ranges_have_up_to_three_numbers(void **state)
{
    (void)state;
    parsed_range(":", CIP_OPEN, CIP_OPEN, 1);
    parsed_range("::", CIP_OPEN, CIP_OPEN, 1);
    parsed_range("10:", 10, CIP_OPEN, 1);
    parsed_range(":20", CIP_OPEN, 20, 1);
    parsed_range("10:20", 10, 20, 1);
    parsed_range("::-2", CIP_OPEN, CIP_OPEN, -2);
    parsed_range("1:2:3", 1, 2, 3);
    parsed_range("[ -1 : +2\t:\n- 3 ]", -1, 2, -3);
    parsed_range("9223372036854775807:-9223372036854775808", INT64_MAX, -INT64_MAX, 1);
    parsed_range("9223372036854775808:-9223372036854775809", INT64_MAX, -INT64_MAX, 1);
    parsed_range("123456789012345678901234567890::-123456789012345678901234567890", INT64_MAX,
                 CIP_OPEN, -INT64_MAX);
}

static void items_are_told_apart(void **state)
{
    cip_selection sel;
    (void)state;
    assert_int_equal(cip_selection_parse("[-1, ..., None, newaxis, 3:, 0,]", &sel, NULL), CIP_OK);
    assert_int_equal(sel.n, 6);
    assert_int_equal(sel.item[0].what, CIP_SLICE_INDEX);
    assert_int_equal(sel.item[0].start, -1);
    assert_int_equal(sel.item[1].what, CIP_SLICE_ELLIPSIS);
    assert_int_equal(sel.item[2].what, CIP_SLICE_NEWAXIS);
    assert_int_equal(sel.item[3].what, CIP_SLICE_NEWAXIS);
    assert_int_equal(sel.item[4].what, CIP_SLICE_RANGE);
    assert_int_equal(sel.item[5].what, CIP_SLICE_INDEX);
    assert_int_equal(sel.item[5].start, 0);
}

static void nothing_selects_all(void **state)
{
    static const char *const texts[] = { NULL, "", " ", "[]", " [ ] " };
    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        cip_selection sel = { .n = 9 };
        assert_int_equal(cip_selection_parse(texts[i], &sel, NULL), CIP_OK);
        assert_int_equal(sel.n, 0);
    }
}

static void broken_slices_are_reported_where_they_break(void **state)
{
    static const struct {
        const char *text;
        uint64_t offset;
    } rows[] = {
        { ",", 0 },        { "[", 1 },       { "]", 0 },      { "[1", 2 },     { "1]", 1 },
        { "[1]]", 3 },     { "[1] 2", 4 },   { "1,,2", 2 },   { "1 2", 2 },    { "x", 0 },
        { "1:2:3:4", 5 },  { "1::0", 3 },    { "1:2: 0", 4 }, { "-", 1 },      { "+:", 1 },
        { "--1", 1 },      { "1:-", 3 },     { "1:2:-", 5 },  { "..", 0 },     { "....", 3 },
        { "..., ...", 5 }, { "Non", 0 },     { "Nonex", 4 },  { "newaxi", 0 }, { "1.5", 1 },
        { "(1)", 0 },      { "[1, 2)", 5 },  { "1;", 1 },     { "0x10", 1 },   { "/", 0 },
        { ":/", 1 },       { "1:2\x80", 3 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cip_selection sel = { .n = 77 };
        cip_err err = CIP_ERR_INIT;
        if (cip_selection_parse(rows[i].text, &sel, &err) != CIP_ERR_ARG ||
            err.offset != rows[i].offset)
            fail_msg("'%s': %d at %d: %s", rows[i].text, err.code, (int)err.offset, err.text);
        assert_int_equal(sel.n, 77);
    }
}

static void what_was_found_is_said(void **state)
{
    static const char *const rows[][2] = {
        { "1x", "expected ',' or the end in a slice, found 'x'" },
        { "[1 ", "expected ',' or ']' in a slice, found the end" },
        { "\x1f", "expected an index or a range in a slice, found \\x1f" },
        { "1\x7f", "expected ',' or the end in a slice, found \\x7f" },
        { "1~", "expected ',' or the end in a slice, found '~'" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cip_selection sel;
        cip_err err = CIP_ERR_INIT;
        cip_selection_parse(rows[i][0], &sel, &err);
        assert_string_equal(err.text, rows[i][1]);
    }
}

static void items_are_limited(void **state)
{
    char text[2 * 2 * CIP_MAX_NDIM + 4];
    cip_selection sel;
    cip_err err = CIP_ERR_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 2 == 0 ? '0' : ',';
    text[2 * 2 * CIP_MAX_NDIM] = '\0';
    assert_int_equal(cip_selection_parse(text, &sel, NULL), CIP_OK);
    assert_int_equal(sel.n, 2 * CIP_MAX_NDIM);
    text[2 * 2 * CIP_MAX_NDIM] = '0';
    text[2 * 2 * CIP_MAX_NDIM + 1] = '\0';
    assert_int_equal(cip_selection_parse(text, &sel, &err), CIP_ERR_ARG);
    assert_int_equal(err.offset, 2 * 2 * CIP_MAX_NDIM);
}

/* A view whose element (i, j, ...) is easily told: strides 1000, 100, 10, 1 for at most four axes.
 */
static cip_nd view_of(int32_t ndim, const int64_t *shape)
{
    static const int64_t stride[] = { 1000, 100, 10, 1 };
    cip_nd v = { .off = 5, .itemsize = 1, .ndim = ndim };
    for (int32_t k = 0; k < ndim; k++) {
        v.shape[k] = shape[k];
        v.stride[k] = stride[4 - ndim + k];
    }
    return v;
}

static cip_status selected(const cip_nd *v, const char *text, cip_nd *out, int8_t *axis,
                           cip_err *err)
{
    cip_selection sel;
    assert_int_equal(cip_selection_parse(text, &sel, NULL), CIP_OK);
    return cip_view_select(v, &sel, out, axis, err);
}

static void a_selection_leaves_axes_and_says_which(void **state)
{
    const int64_t shape[] = { 5, 6, 7 };
    cip_nd v = view_of(3, shape), out;
    int8_t axis[CIP_MAX_NDIM];
    (void)state;
    assert_int_equal(selected(&v, "[1, None, ..., 5:1:-2]", &out, axis, NULL), CIP_OK);
    assert_int_equal(out.ndim, 3);
    assert_int_equal(out.off, 5 + 100 + 5);
    assert_int_equal(out.itemsize, 1);
    assert_int_equal(out.shape[0], 1);
    assert_int_equal(out.shape[1], 6);
    assert_int_equal(out.shape[2], 2);
    assert_int_equal(out.stride[0], 0);
    assert_int_equal(out.stride[1], 10);
    assert_int_equal(out.stride[2], -2);
    assert_int_equal(axis[0], -1);
    assert_int_equal(axis[1], 1);
    assert_int_equal(axis[2], 2);
    assert_int_equal(selected(&v, "2, -1, 0", &out, NULL, NULL), CIP_OK);
    assert_int_equal(out.ndim, 0);
    assert_int_equal(out.off, 5 + 200 + 50);
    assert_int_equal(selected(&v, "..., 1:2, :, 0:3, None", &v, axis, NULL), CIP_OK); /* in place */
    assert_int_equal(v.ndim, 4);
    assert_int_equal(v.off, 5 + 100);
    assert_int_equal(axis[3], -1);
}

/* The index along an axis that the k-th element of a range has, the way Python's manual puts it. */
static int64_t naive_range(const cip_slice *s, int64_t len, int64_t k, bool *any)
{
    int64_t start = s->start, stop = s->stop;
    if (start < 0)
        start += len;
    if (stop < 0)
        stop += len;
    if (s->step > 0) {
        start = s->start == CIP_OPEN || start < 0 ? 0 : start;
        stop = s->stop == CIP_OPEN || stop > len ? len : stop;
        *any = start + k * s->step < stop;
    } else {
        start = s->start == CIP_OPEN || start > len - 1 ? len - 1 : start;
        stop = s->stop == CIP_OPEN || stop < -1 ? -1 : stop;
        *any = start + k * s->step > stop;
    }
    return start + k * s->step;
}

/* Compares a range along one axis, element by element. */
static void check_range(const cip_slice *s, int64_t len)
{
    cip_selection sel = { .n = 1, .item = { *s } };
    cip_nd v = view_of(1, &len), out;
    bool any;
    assert_int_equal(cip_view_select(&v, &sel, &out, NULL, NULL), CIP_OK);
    assert_int_equal(out.ndim, 1);
    for (int64_t k = 0; k < out.shape[0]; k++) {
        int64_t at = naive_range(s, len, k, &any);
        assert_true(any);
        assert_true(at >= 0 && at < len);
        assert_int_equal((int64_t)out.off + k * out.stride[0], 5 + at);
    }
    naive_range(s, len, out.shape[0], &any);
    assert_false(any);
    if (out.shape[0] == 0)
        assert_int_equal(out.off, 5);
}

static void every_small_range_takes_what_python_takes(void **state)
{
    (void)state;
    for (int64_t len = 0; len <= 4; len++)
        for (int64_t start = -6; start <= 6; start++)
            for (int64_t stop = -6; stop <= 6; stop++)
                for (int64_t step = -4; step <= 4; step++)
                    for (unsigned has = 0; has < 4 && step != 0; has++)
                        check_range(&(cip_slice)CIP_STEPS(has & 1 ? start : CIP_OPEN,
                                                          has & 2 ? stop : CIP_OPEN, step),
                                    len);
}

static void huge_bounds_are_clipped(void **state)
{
    const int64_t shape[] = { 4 };
    static const struct {
        const char *text;
        int64_t n;
        uint64_t off;
    } rows[] = {
        { "-9223372036854775808:9223372036854775807", 4, 5 },
        { "9223372036854775807:-9223372036854775808:-1", 4, 8 },
        { "9223372036854775807:-9223372036854775808:-3", 2, 8 },
        { "9223372036854775807:-9223372036854775808:-9223372036854775808", 1, 8 },
        { "::9223372036854775807", 1, 5 },
        { "9223372036854775807:", 0, 5 },
        { ":-9223372036854775808", 0, 5 },
    };
    cip_nd v = view_of(1, shape), out;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(selected(&v, rows[i].text, &out, NULL, NULL), CIP_OK);
        assert_int_equal(out.shape[0], rows[i].n);
        assert_int_equal(out.off, rows[i].off);
    }
    v.shape[0] = INT64_MAX;
    assert_int_equal(selected(&v, "::-1", &out, NULL, NULL), CIP_OK);
    assert_int_equal(out.shape[0], INT64_MAX);
    assert_int_equal(selected(&v, "::2", &out, NULL, NULL), CIP_OK);
    assert_int_equal(out.shape[0], INT64_MAX / 2 + 1);
}

static cip_slice random_slice(uint64_t *seed)
{
    static const cip_slice others[] = { CIP_ALL, CIP_ELLIPSIS, CIP_NEWAXIS };
    const int64_t start = random_below(seed, 3), stop = random_below(seed, 9) - 4;
    const int64_t step = random_below(seed, 3) + 1, has = random_below(seed, 4),
                  what = random_below(seed, 5);
    if (what == 0)
        return (cip_slice)CIP_INDEX(start);
    if (what <= 3)
        return others[what - 1];
    return (cip_slice)CIP_STEPS(has & 1 ? start : CIP_OPEN, has & 2 ? stop : CIP_OPEN,
                                random_below(seed, 2) == 0 ? step : -step);
}

/* A random selection as items, and the element at `index` of what it leaves, found item by item. */
static void random_selection(uint64_t *seed, int32_t ndim, cip_selection *sel)
{
    int32_t named = (int32_t)random_below(seed, ndim + 1), left = named;
    bool ellipsis = false;
    sel->n = 0;
    while (left > 0 || random_below(seed, 3) == 0) {
        cip_slice *s = &sel->item[sel->n++];
        *s = random_slice(seed);
        if (s->what == CIP_SLICE_ELLIPSIS && ellipsis)
            *s = (cip_slice)CIP_NEWAXIS;
        ellipsis = ellipsis || s->what == CIP_SLICE_ELLIPSIS;
        if (s->what <= CIP_SLICE_INDEX && left-- == 0) {
            *s = (cip_slice)CIP_NEWAXIS;
            left = 0;
        }
    }
}

/* Address of the element `index` of the selection; sets *inside to false beyond its end. */
static int64_t naive_address(const cip_nd *v, const cip_selection *sel, const int64_t *index,
                             bool *inside)
{
    int32_t named = 0, in = 0, out = 0;
    int64_t at = (int64_t)v->off;
    *inside = true;
    for (uint32_t i = 0; i < sel->n; i++)
        named += sel->item[i].what <= CIP_SLICE_INDEX;
    for (uint32_t i = 0; i < sel->n; i++) {
        const cip_slice *s = &sel->item[i];
        bool any = true;
        if (s->what == CIP_SLICE_INDEX) {
            at += v->stride[in++] * s->start;
        } else if (s->what == CIP_SLICE_NEWAXIS) {
            any = index[out++] == 0;
        } else if (s->what <= CIP_SLICE_RANGE) {
            const cip_slice all = CIP_RANGE(0, v->shape[in]);
            s = s->what == CIP_SLICE_ALL ? &all : s;
            at += v->stride[in] * naive_range(s, v->shape[in], index[out++], &any);
            in++;
        } else {
            for (int32_t k = v->ndim - named; k > 0; k--, in++, out++) {
                any = any && index[out] < v->shape[in];
                at += v->stride[in] * index[out];
            }
        }
        *inside = *inside && any;
    }
    for (; in < v->ndim; in++, out++) {
        *inside = *inside && index[out] < v->shape[in];
        at += v->stride[in] * index[out];
    }
    return at;
}

static void random_selections_agree_with_the_naive_model(void **state)
{
    uint64_t seed = 20260101;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        int64_t shape[4], index[CIP_MAX_NDIM] = { 0 };
        int32_t ndim = (int32_t)random_below(&seed, 5);
        for (int32_t k = 0; k < ndim; k++)
            shape[k] = 3 + random_below(&seed, 3); /* so that each index is inside */
        cip_nd v = view_of(ndim, shape), out;
        cip_selection sel;
        bool inside;
        random_selection(&seed, ndim, &sel);
        assert_int_equal(cip_view_select(&v, &sel, &out, NULL, NULL), CIP_OK);
        uint64_t nelem;
        assert_true(cip_shape_nelem(out.ndim, out.shape, &nelem));
        int64_t at = (int64_t)out.off;
        for (int32_t k = 0; k < out.ndim && nelem > 0; k++) {
            index[k] = random_below(&seed, out.shape[k]);
            at += index[k] * out.stride[k];
        }
        int64_t want = naive_address(&v, &sel, index, &inside);
        assert_int_equal(inside, nelem > 0);
        assert_true(nelem == 0 || at == want);
        for (int32_t k = 0; k < out.ndim; k++) { /* one behind the end of each axis */
            int64_t was = index[k];
            index[k] = out.shape[k];
            naive_address(&v, &sel, index, &inside);
            assert_false(inside);
            index[k] = was;
        }
    }
}

static void indices_out_of_bounds_are_reported(void **state)
{
    const int64_t shape[] = { 4, 0 };
    cip_nd v = view_of(2, shape), out = { .ndim = 33 };
    cip_err err = CIP_ERR_INIT;
    (void)state;
    assert_int_equal(selected(&v, "3", &out, NULL, &err), CIP_OK);
    assert_int_equal(out.off, 5 + 30);
    assert_int_equal(selected(&v, "-4", &out, NULL, &err), CIP_OK);
    assert_int_equal(out.off, 5);
    out.ndim = 33;
    assert_int_equal(selected(&v, "4", &out, NULL, &err), CIP_ERR_RANGE);
    assert_int_equal(selected(&v, "-5", &out, NULL, &err), CIP_ERR_RANGE);
    assert_string_equal(err.text, "expected an index within the length 4 of axis 0, found -5");
    assert_int_equal(selected(&v, "0, 0", &out, NULL, &err), CIP_ERR_RANGE);
    assert_int_equal(selected(&v, "9223372036854775808", &out, NULL, &err), CIP_ERR_RANGE);
    assert_int_equal(selected(&v, "-9223372036854775808", &out, NULL, &err), CIP_ERR_RANGE);
    assert_int_equal(out.ndim, 33);
}

static void selections_of_too_much_are_refused(void **state)
{
    int64_t shape[] = { 4, 5 };
    cip_nd v = view_of(2, shape), out;
    cip_err err = CIP_ERR_INIT;
    cip_selection sel = { .n = 2 * CIP_MAX_NDIM };
    (void)state;
    assert_int_equal(selected(&v, "0, 0, 0", &out, NULL, &err), CIP_ERR_ARG);
    assert_int_equal(selected(&v, "0, :, None, :", &out, NULL, &err), CIP_ERR_ARG);
    assert_int_equal(selected(&v, "0, None, :, ...", &out, NULL, &err), CIP_OK);
    for (uint32_t i = 0; i < sel.n; i++)
        sel.item[i] = (cip_slice)CIP_NEWAXIS;
    assert_int_equal(cip_view_select(&v, &sel, &out, NULL, &err), CIP_ERR_ARG);
    sel.n = CIP_MAX_NDIM - 1;
    assert_int_equal(cip_view_select(&v, &sel, &out, NULL, &err), CIP_ERR_ARG);
    sel.n = CIP_MAX_NDIM - 2;
    assert_int_equal(cip_view_select(&v, &sel, &out, NULL, &err), CIP_OK);
    assert_int_equal(out.ndim, CIP_MAX_NDIM);
}

static void selections_that_nobody_parsed_are_checked(void **state)
{
    int64_t shape[] = { 4, 5 };
    cip_nd v = view_of(2, shape), out;
    cip_selection sel = { .n = 2 * CIP_MAX_NDIM + 1 };
    static const cip_slice none[] = {
        CIP_STEPS(1, 2, 0),
        { .start = 1 }, /* kinds that were forgotten */
        { .stop = 5, .step = 1 },
        { .start = 1, .what = CIP_SLICE_ELLIPSIS },
        { .step = 1, .what = CIP_SLICE_INDEX },
        { .what = CIP_SLICE_NEWAXIS + 1 },
        { .reserved = 1 },
    };
    (void)state;
    assert_int_equal(cip_view_select(&v, &sel, &out, NULL, NULL), CIP_ERR_ARG);
    sel.n = 1;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        sel.item[0] = none[i];
        assert_int_equal(cip_view_select(&v, &sel, &out, NULL, NULL), CIP_ERR_ARG);
    }
    sel.n = 2;
    sel.item[0] = sel.item[1] = (cip_slice)CIP_ELLIPSIS;
    assert_int_equal(cip_view_select(&v, &sel, &out, NULL, NULL), CIP_ERR_ARG);
    sel.item[1] = (cip_slice)CIP_NEWAXIS;
    assert_int_equal(cip_view_select(&v, &sel, &out, NULL, NULL), CIP_OK);
    assert_int_equal(out.ndim, 3);
}

static void has_text(const cip_selection *s, const char *text)
{
    char out[128];
    assert_int_equal(cip_selection_text(s, out, sizeof out), strlen(text));
    assert_string_equal(out, text);
}

static void selections_have_a_text(void **state)
{
    char cut[6];
    cip_selection many = { .n = 2 * CIP_MAX_NDIM + 1 }, back;
    (void)state;
    has_text(CIP_SELECT(CIP_ALL, CIP_INDEX(-1), CIP_ELLIPSIS, CIP_NEWAXIS, CIP_RANGE(0, 10),
                        CIP_RANGE(CIP_OPEN, -2), CIP_STEPS(7, CIP_OPEN, -3)),
             "[:, -1, ..., None, 0:10, :-2, 7::-3]");
    has_text(NULL, "[]");
    has_text(&(cip_selection){ .n = 0 }, "[]");
    has_text(CIP_SELECT({ .start = 1 }, CIP_STEPS(1, 2, 0)), "[?, ?]");
    has_text(&many, "[?]");
    assert_int_equal(cip_selection_parse("[?]", &back, NULL), CIP_ERR_ARG);
    assert_int_equal(cip_selection_text(CIP_SELECT(CIP_RANGE(10, 200)), cut, sizeof cut), 8);
    assert_string_equal(cut, "[10:2");
    assert_int_equal(cip_selection_text(CIP_SELECT(CIP_INDEX(INT64_MAX)), NULL, 0), 21);
    assert_int_equal(cip_selection_text(NULL, cut, 0), 2);
    uint64_t seed = 7;
    for (int i = 0; i < 1000; i++) {
        const int64_t shape[] = { 4, 5, 6 };
        char text[512], again[512];
        cip_selection sel;
        cip_nd v = view_of(3, shape), out, same;
        random_selection(&seed, 3, &sel);
        cip_selection_text(&sel, text, sizeof text);
        assert_int_equal(cip_selection_parse(text, &back, NULL), CIP_OK);
        cip_selection_text(&back, again, sizeof again);
        assert_string_equal(again, text);
        assert_int_equal(cip_view_select(&v, &sel, &out, NULL, NULL), CIP_OK);
        assert_int_equal(cip_view_select(&v, &back, &same, NULL, NULL), CIP_OK);
        assert_memory_equal(&out, &same, sizeof out);
    }
}

static void slices_are_made_of_numbers(void **state)
{
    const int64_t shape[] = { 4, 5, 6 };
    const cip_selection all = { .n = 2 }; /* zeros are CIP_ALL */
    const size_t i = 3;
    cip_nd v = view_of(3, shape), out, same;
    static const cip_selection fixed = { 3, 0, { CIP_ALL, CIP_INDEX(-1), CIP_NEWAXIS } };
    (void)state;
    assert_int_equal(cip_view_select(&v, &all, &out, NULL, NULL), CIP_OK);
    assert_memory_equal(&out, &v, sizeof v);
    assert_int_equal(cip_view_select(&v, &fixed, &out, NULL, NULL), CIP_OK);
    assert_int_equal(selected(&v, ":, -1, None", &same, NULL, NULL), CIP_OK);
    assert_memory_equal(&out, &same, sizeof out);
    const cip_selection *s =
        CIP_SELECT(CIP_INDEX(i), CIP_ELLIPSIS, CIP_STEPS(CIP_OPEN, CIP_OPEN, -2));
    assert_int_equal(s->n, 3);
    assert_int_equal(cip_view_select(&v, s, &out, NULL, NULL), CIP_OK);
    assert_int_equal(selected(&v, "3, ..., ::-2", &same, NULL, NULL), CIP_OK);
    assert_memory_equal(&out, &same, sizeof out);
    assert_int_equal(
        cip_view_select(&v, CIP_SELECT(CIP_RANGE(1, 3), CIP_RANGE(-2, CIP_OPEN)), &out, NULL, NULL),
        CIP_OK);
    assert_int_equal(selected(&v, "1:3, -2:", &same, NULL, NULL), CIP_OK);
    assert_memory_equal(&out, &same, sizeof out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_have_up_to_three_numbers),
        cmocka_unit_test(slices_are_made_of_numbers),
        cmocka_unit_test(selections_have_a_text),
        cmocka_unit_test(items_are_told_apart),
        cmocka_unit_test(nothing_selects_all),
        cmocka_unit_test(broken_slices_are_reported_where_they_break),
        cmocka_unit_test(what_was_found_is_said),
        cmocka_unit_test(items_are_limited),
        cmocka_unit_test(a_selection_leaves_axes_and_says_which),
        cmocka_unit_test(every_small_range_takes_what_python_takes),
        cmocka_unit_test(huge_bounds_are_clipped),
        cmocka_unit_test(random_selections_agree_with_the_naive_model),
        cmocka_unit_test(indices_out_of_bounds_are_reported),
        cmocka_unit_test(selections_of_too_much_are_refused),
        cmocka_unit_test(selections_that_nobody_parsed_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
