/* SPDX-License-Identifier: BSD-3-Clause
 * An element type as numpy's dtype() takes it. */

#include "cippy.h"

static PyObject *sized(const char *format, const cip_dtype *d, uint64_t unit)
{
    char text[40];
    snprintf(text, sizeof text, format, (unsigned long long)(cip_dtype_itemsize(d) / unit));
    return PyUnicode_FromString(text);
}

/* "f4" and the like, with the order of its bytes. */
static PyObject *plain(const cip_dtype *d)
{
    static const char *const name[] = {
        [CIP_BOOL] = "?", [CIP_I8] = "i1",  [CIP_I16] = "i2", [CIP_I32] = "i4",   [CIP_I64] = "i8",
        [CIP_U8] = "u1",  [CIP_U16] = "u2", [CIP_U32] = "u4", [CIP_U64] = "u8",   [CIP_F16] = "f2",
        [CIP_F32] = "f4", [CIP_F64] = "f8", [CIP_C64] = "c8", [CIP_C128] = "c16",
    };
    return PyUnicode_FromFormat("%c%s", cip_dtype_is_big(d) ? '>' : '<', name[cip_dtype_kind(d)]);
}

/* {"names": [...], "formats": [...], "offsets": [...], "itemsize": n} */
static PyObject *record(const cip_dtype *d)
{
    PyObject *names = PyList_New(0), *formats = PyList_New(0), *offsets = PyList_New(0);
    bool ok = names != NULL && formats != NULL && offsets != NULL;
    for (size_t i = 0; ok && i < cip_dtype_nfield(d); i++) {
        const cip_field *field = cip_dtype_field(d, i);
        PyObject *name = cippy_text(field->name, strlen(field->name));
        PyObject *format = cippy_dtype_spec(field->dtype);
        if (format != NULL && field->ndim > 0)
            format = Py_BuildValue("(NN)", format, cippy_shape_tuple(field->ndim, field->shape));
        PyObject *offset = PyLong_FromUnsignedLongLong(field->offset);
        ok = name != NULL && format != NULL && offset != NULL && PyList_Append(names, name) == 0 &&
             PyList_Append(formats, format) == 0 && PyList_Append(offsets, offset) == 0;
        Py_XDECREF(name);
        Py_XDECREF(format);
        Py_XDECREF(offset);
    }
    PyObject *spec =
        ok ? Py_BuildValue("{sOsOsOsK}", "names", names, "formats", formats, "offsets", offsets,
                           "itemsize", (unsigned long long)cip_dtype_itemsize(d))
           : NULL;
    Py_XDECREF(names);
    Py_XDECREF(formats);
    Py_XDECREF(offsets);
    return spec;
}

PyObject *cippy_dtype_spec(const cip_dtype *d)
{
    switch (cip_dtype_kind(d)) {
    case CIP_RECORD:
        return record(d);
    case CIP_ASCII:
        return sized("S%llu", d, 1);
    case CIP_UCS4:
        return sized(cip_dtype_is_big(d) ? ">U%llu" : "<U%llu", d, 4);
    case CIP_OPAQUE:
    case CIP_NONE:
        return sized("V%llu", d, 1);
    case CIP_DATETIME64:
    case CIP_TIMEDELTA64: { /* "datetime64[ns]" -> "<M8[ns]" */
        const char *unit = strchr(cip_dtype_name(d), '[');
        return PyUnicode_FromFormat("%c%c8%s", cip_dtype_is_big(d) ? '>' : '<',
                                    cip_dtype_kind(d) == CIP_DATETIME64 ? 'M' : 'm',
                                    unit != NULL ? unit : "");
    }
    default:
        return plain(d);
    }
}

PyObject *cippy_dtype_numpy(cippy_state *state, const cip_dtype *d)
{
    PyObject *spec = cippy_dtype_spec(d), *dtype = NULL;
    if (spec != NULL)
        dtype = PyObject_CallFunctionObjArgs(state->dtype, spec, NULL);
    Py_XDECREF(spec);
    return dtype;
}
