#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes a C program that calls every public function, as it should be and wrongly.

usage: tests/calls/calls.py OUTPUT

From the CIP_API declarations and the structs of include/cippus. Each call is made with good
arguments (GOOD and the tables beside it; a new function's may have to be added there), then with
one of them, in turn, as no caller should: NULL, a number of 0 and the largest, an option of a size
that is none, of a later version with something set, an enum out of range. What is expected of each
is in the table that the program walks (calls_main.h); what a function takes NULL for is said here,
as in its header.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import apidoc  # noqa: E402

# The argument that a type, or a parameter of a function, has in a good call.
BY_TYPE = {
    "cip_array *": "fx_array(x)", "cip_file *": "fx_file(x)", "cip_node *": "fx_node(x)",
    "cip_change *": "fx_edit(x)", "cip_change **": "fx_change(x)", "cip_memory *": "fx_memory(x)",
    "cip_blosc *": "fx_blosc(x)", "cip_slab *": "fx_slab(x)", "cip_box *": "&fx_box",
    "cip_picture *": "fx_picture(x)",
    "const cip_dtype *": "cip_dtype_of(CIP_I32)", "cip_dtype *": "fx_dtype()",
    "cip_write_fn *": "fx_write", "cip_finding_fn *": "fx_finding", "cip_visit_fn *": "fx_visit",
    "cip_chunk_fn *": "fx_chunk", "const cip_io_methods *": "&fx_reads",
    "const cip_io_write_methods *": "&fx_writes", "bool": "false", "double": "1.5",
    "cip_stop": "{ NULL, NULL }",
}
BY_NAME = {
    "path": '"image"', "in": "x->in", "out": "x->out", "selection": "NULL", "text": '"text"',
    "dst": "x->dst", "values": "x->dst", "elem": "x->data", "data": "x->data", "rows": "x->data",
    "value": "x->data", "user": "x", "ptr": "x->bytes", "bytes": "x->data", "nbytes": "48",
    "n": "4", "i": "0", "chunk_index": "0", "ndim": "2", "shape": "fx_shape", "coords": "fx_coords",
    "npoint": "1", "axis": "0", "start": "0", "count": "1", "cap": "48", "offset": "0",
    "first": "0", "flags": "0", "what": "CIP_RECOVER_LOOK", "kind": "CIP_I32", "src": "x->data",
    "status": "CIP_OK", "chunk": "x->chunk", "format": '"asdf"', "name": '"member"',
    "pattern": '"*"', "tag": "NULL", "of": '"first"',
    "from": '"meta/name"', "to": '"meta/other"',
}
GOOD = {
    ("cip_open", "path"): "x->in", ("cip_change_open", "path"): "x->in",
    ("cip_verify", "path"): "x->in", ("cip_recover", "path"): "x->in",
    ("cip_recover_folder", "path"): "x->folder", ("cip_create", "path"): "x->out",
    ("cip_memory_load", "path"): "x->in", ("cip_memory_save", "path"): "x->out",
    ("cip_publish", "from"): "fx_complete(x)", ("cip_publish", "path"): "x->out",
    ("cip_open_memory", "nbytes"): "x->nbytes", ("cip_memory_new", "bytes"): "x->bytes",
    ("cip_memory_new", "nbytes"): "x->nbytes", ("cip_export", "to"): '"csv"',
    ("cip_dtype_parse", "text"): '"float32"', ("cip_selection_parse", "text"): '"[1:2]"',
    ("cip_change_set_int", "value"): "7", ("cip_change_set_uint", "value"): "7",
    ("cip_change_set_double", "value"): "0.5", ("cip_change_set_bool", "value"): "true",
    ("cip_change_set_yaml", "text"): '"[1]"', ("cip_change_set_typed", "text"): '"1e3"',
    ("cip_change_put_view", "c"): "fx_writer(x)",
    ("cip_change_set_text", "text"): "fx_tree(x)",
    ("cip_change_set_text", "nbytes"): "strlen(fx_tree(x))",
    ("cip_change_append", "nbytes"): "12", ("cip_append", "nbytes"): "12",
    ("cip_change_insert", "nbytes"): "12", ("cip_change_range", "selection"): '"[1:2]"',
    ("cip_change_remove", "path"): '"meta/gone"', ("cip_change_put_view", "selection"): '"[1:2]"',
    ("cip_blosc_compress", "cap"): "sizeof x->dst", ("cip_blosc_compress", "n"): None,
    ("cip_blosc_decompress", "n"): "x->nchunk", ("cip_blosc_items", "n"): "x->nchunk",
    ("cip_blosc_info", "n"): "x->nchunk", ("cip_array_of_node", "node"): None,
    ("cip_tree_get_double", "path"): '"meta/f"', ("cip_tree_get_int", "path"): '"meta/n"',
    ("cip_tree_get_uint", "path"): '"meta/n"', ("cip_tree_get_bool", "path"): '"meta/yes"',
    ("cip_tree_get_string", "path"): '"meta/name"', ("cip_memory_add", "nbytes"): "8",
    ("cip_change_set_node", "node"): 'cip_tree_get(fx_node(x), "meta", NULL)',
    ("cip_change_append_array", "path"): '"image"', ("cip_format_element", "cap"): "48",
    ("cip_format_element", "text"): "x->dst", ("cip_selection_text", "text"): "x->dst",
}
# New nodes and arrays; what is changed is "image".
NEW = re.compile(r"cip_change_(set|put|declare)")
# NULL is fine, as the header says.
OPTIONAL = {"err", "opts", "user", "selection", "params", "on_finding"}
OPTIONAL_OF = {
    ("cip_find", "path"), ("cip_find_field", "path"), ("cip_file_refresh", "changed"),
    ("cip_tree_print", "node"), ("cip_tree_visit", "node"), ("cip_recover", "info"),
    ("cip_change_put_array", "args"), ("cip_read_shape", "args"),
    ("cip_read_shape", "ndim"), ("cip_read_shape", "shape"),
    ("cip_read_shape", "nbytes"), ("cip_stat", "args"), ("cip_export", "args"),
    ("cip_change_defrag", "fn"), ("cip_change_mark", "mark"),
    ("cip_change_put_filled", "value"), ("cip_append", "path"),
    ("cip_selection_parse", "text"), ("cip_tree_find", "path"), ("cip_tree_find", "tag"),
    ("cip_file_next_array", "pattern"), ("cip_diff", "ndifferences"),
    ("cip_picture_make", "args"), ("cip_picture_make", "options"),
}
REQUIRED_OF = {("cip_change_range", "selection"), ("cip_refs_write", "opts")}
# The only array of the file: changes of data, which know it by NULL too.
DATA = re.compile(r"cip_change_(write|read|array|field|append|insert|delete|range|resize)")
# How a good call ends that the fixture's file is not made for.
FAILING = {"cip_file_query": "CIP_ERR_UNSUPPORTED", "cip_change_freeze": "CIP_ERR_ARG",
           "cip_change_undo": "CIP_ERR_ARG", "cip_change_release": "CIP_ERR_ARG",
           "cip_view": "CIP_ERR_UNSUPPORTED"}
# What a good struct has besides its size.
FILLED = {
    ("cip_read_into", "args"): "dst = x->dst; o{i}.s.dst_nbytes = 48",
    ("cip_read_points_into", "args"): "dst = x->dst; o{i}.s.dst_nbytes = 4",
    ("cip_refs_write", "opts"): 'url = "file.asdf"'
}
INTEGERS = {"size_t": ("0", "SIZE_MAX"), "uint64_t": ("0", "UINT64_MAX"),
            "int64_t": ("0", "-1", "INT64_MIN", "INT64_MAX"), "int": ("0", "-1", "INT_MIN", "INT_MAX"),
            "uint32_t": ("0", "UINT32_MAX")}
ENUMS = {"cip_level", "cip_check", "cip_salvage", "cip_overflow", "cip_blosc_streams",
         "cip_repair_lost", "cip_picture_scale", "cip_picture_reduce"}


def without_comments(text):
    return re.sub(r"/\*.*?\*/", "", text, flags=re.S)


def functions(headers):
    """(result, name, [(type, parameter)]) of each public function."""
    for header in headers:
        lines = without_comments(header.read_text(encoding="utf-8")).splitlines()
        for _, text in apidoc.declarations(lines):
            d = " ".join(" ".join(text).split())
            m = re.match(r"CIP_API (.*?)(cip_\w+)\((.*)\);", d)
            params = [] if m[3] == "void" else [split(p.strip()) for p in m[3].split(",")]
            yield m[1].strip(), m[2], params


def split(param):
    m = re.match(r"(.*?)(\w+)$", param.replace("\n", " "), re.S)
    return m[1].strip(), m[2]


def structs(headers):
    """Structs that begin with their size: name -> [(type, field)]."""
    found = {}
    for header in headers:
        text = without_comments(header.read_text(encoding="utf-8"))
        for m in re.finditer(r"typedef struct (cip_\w+) \{\s*size_t size;(.*?)\} \1;", text, re.S):
            fields = [split(f.strip()) for f in m[2].split(";") if re.fullmatch(r"[\w\s*]+\w", f.strip())]
            found[m[1]] = fields
    return found


class Call:
    """One function, and the wrong calls of it."""

    def __init__(self, result, name, params, sized):
        self.result, self.name, self.params, self.sized = result, name, params, sized
        self.fails = result == "cip_status" or any(p[1] == "err" for p in params)
        self.variants = [("as it should be", "", "FINE")]
        self.locals = []
        self.args = []
        for i, (kind, param) in enumerate(params):
            self.add(i, kind, param)
        if NEW.match(name) and name != "cip_change_put_view":
            file_there = name in ("cip_change_set_text",)
            self.variants.append(("of a new file", "a0 = fx_writer(x);", "ANY" if file_there else "FINE"))
        pointers = [i for i, (k, p) in enumerate(params) if "*" in k and p != "err"]
        numbers = [i for i, (k, _) in enumerate(params) if k in INTEGERS]
        nothing = " ".join(f"a{i} = NULL;" for i in pointers) + " ".join(f"a{i} = 0;" for i in numbers)
        if len(pointers) > 1:
            self.variants.append(("all NULL and 0", nothing, "ANY"))

    def of_null(self, param):
        key = (self.name, param)
        fine = param in OPTIONAL or key in OPTIONAL_OF or (param == "path" and DATA.match(self.name))
        return "FINE" if fine and key not in REQUIRED_OF else "WRONG"

    def good(self, kind, param):
        key = (self.name, param)
        if GOOD.get(key) is not None:
            return GOOD[key]
        if param == "path" and NEW.match(self.name):
            return '"new/one"'
        if kind.startswith("const char") and param in BY_NAME:
            return BY_NAME[param]
        for t in (kind, kind.removeprefix("const ")):
            if t in BY_TYPE:
                return BY_TYPE[t]
        if kind == "const cip_box *":
            return "&fx_box"
        return BY_NAME.get(param)

    def add(self, i, kind, param):
        bare = kind.removeprefix("const ").removesuffix(" *")
        if param == "err":
            self.args.append("err")
            return
        self.args.append(f"a{i}")
        if bare in self.sized:
            self.add_struct(i, bare, kind, param)
            return
        out = "*" in kind and not kind.startswith("const") or kind.endswith("**")
        ends = self.name in ("cip_change_commit", "cip_change_abort")
        value = self.good(kind, param) if ends or not kind.endswith("**") else None
        if bare in ("cip_file", "cip_change", "cip_memory", "cip_slab", "cip_blosc",
                    "cip_dtype", "cip_picture", "char", "void") or kind.endswith("_fn *"):
            out = kind.endswith("**")
        if out and not ends:
            target = kind.removesuffix("*").strip()
            self.locals.append(f"static {target} o{i}[CIP_MAX_NDIM];")
            value = f"o{i}"
        elif value is None:
            value = '"text"' if kind == "const char *" else "NULL" if "*" in kind else "0"
            self.variants[0] = ("as it should be", "", "ANY")
        self.locals.append(f"{kind} a{i} = {value};")
        self.add_wrong(i, kind, param)

    def add_wrong(self, i, kind, param):
        if "*" in kind:
            self.variants.append((f"{param} NULL", f"a{i} = NULL;", self.of_null(param)))
        elif kind in INTEGERS:
            for value in INTEGERS[kind]:
                self.variants.append((f"{param} {value}", f"a{i} = {value};", "ANY"))
        elif kind.startswith("cip_") and not BY_TYPE.get(kind, "").startswith("{"):  # an enum
            self.variants.append((f"{param} 9999", f"a{i} = ({kind})9999;", "ANY"))

    def add_struct(self, i, bare, kind, param):
        given = kind.startswith("const")
        self.locals.append(f"static struct {{ {bare} s; char more[64]; }} o{i};")
        self.locals.append(f"o{i}.s.size = sizeof o{i}.s;")
        self.locals.append(f"{kind} a{i} = &o{i}.s;")
        filled = FILLED.get((self.name, param))
        if filled:
            self.locals.append(f"o{i}.s.{filled.format(i=i)};")
        self.variants.append((f"{param} NULL", f"a{i} = NULL;", self.of_null(param)))
        for size in ("0", "1", "sizeof(size_t) - 1", "SIZE_MAX"):
            self.variants.append((f"{param}->size {size}", f"o{i}.s.size = {size};", "WRONG"))
        self.variants.append((f"{param}->size 8", f"o{i}.s.size = sizeof(size_t);",
                              "ANY" if filled else "FINE"))
        larger = f"o{i}.s.size = sizeof o{i};"
        self.variants.append((f"{param} of a later version", larger, "FINE"))
        dirty = larger + f" memset(o{i}.more, 1, sizeof o{i}.more);"
        self.variants.append((f"{param} of a later version, set", dirty, "NEW" if given else "FINE"))
        for t, field in self.sized[bare] if given else []:
            if t in ENUMS:
                self.variants.append((f"{param}->{field} 99", f"o{i}.s.{field} = ({t})99;", "WRONG"))
            if field == "reserved":
                self.variants.append((f"{param}->reserved 1", f"o{i}.s.reserved = 1;", "NEW"))

    def text(self):
        head = f"static bool call_{self.name}(fixture *x, int how, cip_err *err, outcome *o)\n{{\n"
        body = ["(void)x, (void)err, (void)o;"] + self.locals + ["switch (how) {"]
        for k, (_, change, _) in enumerate(self.variants):
            body.append(f"case {k}: {change} break;")
        body += ["default: return false;", "}"]
        call = f"{self.name}({', '.join(self.args)})"
        if self.result == "cip_status":
            body.append(f"o->status = (int){call};")
        elif self.result == "void":
            body.append(f"{call};")
        elif self.fails:
            body.append(f"o->status = {call} != NULL ? CIP_OK : err->code != CIP_OK ? err->code : -1;")
        else:
            body.append(f"(void){call};")
        return head + "\n".join("    " + b for b in body) + "\n    return true;\n}\n"

    def table(self):
        expected = FAILING.get(self.name) or "CIP_OK"
        rows = ", ".join(f'{{ "{label}", {how} }}' for label, _, how in self.variants)
        return (f"static const variant of_{self.name}[] = {{ {rows} }};\n",
                f'{{ "{self.name}", call_{self.name}, of_{self.name}, {str(self.fails).lower()}, '
                f"{expected} }},\n")


def main():
    headers = sorted((ROOT / "include").rglob("*.h"))
    sized = structs(headers)
    calls = [Call(r, n, p, sized) for r, n, p in functions(headers) if n != "cip_err_clear"]
    out = ["/* Made by tests/calls/calls.py. */\n#include \"calls_main.h\"\n\n"]
    for c in calls:
        out.append(c.text() + "\n" + c.table()[0] + "\n")
    out.append("static const function functions[] = {\n")
    out += ["    " + c.table()[1] for c in calls]
    out.append("};\n\nint main(void)\n{\n    return call_all(functions, sizeof functions / sizeof functions[0]);\n}\n")
    pathlib.Path(sys.argv[1]).write_text("".join(out), encoding="utf-8")


main()
