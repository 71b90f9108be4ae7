# SPDX-License-Identifier: BSD-3-Clause
"""Mistakes that a type checker finds: mypy has to report each line that ends in `# wrong`, and no other. Never run."""
from typing import TYPE_CHECKING

import cippus

if TYPE_CHECKING:
    from typing_extensions import assert_type

with cippus.open("a.asdf") as read:
    assert_type(read, cippus.File)
    assert_type(read.array, cippus.Array)
    read["x"] = 1  # wrong
    del read["x"]  # wrong
    read.put("x", 1)  # wrong
    read.commit()  # wrong
with cippus.open("a.asdf", "r", check=True, threads=1) as again:
    assert_type(again, cippus.File)
with cippus.open("a.asdf", "r+") as changed:
    assert_type(changed, cippus.EditableFile)
    changed["x"] = 1
    del changed["x"]
    changed.put("y", [1], codec="lz4", chunks=(3,))
    changed.put("y", [1], codek="lz4")  # wrong
    changed.move("y", "z", replace=True)
    changed.commit()
    file: cippus.File = changed
with cippus.open("b.asdf", "w", codec="zlib", overwrite=True) as wrong:  # wrong
    pass
with cippus.open("b.asdf", "x", codec="zlib", sync=False) as written:
    assert_type(written, cippus.Writer)
    written.declare("a", (3, 4), "f4", chunks=2)[:2] = 1
    written.declare("a", (3, 4), "f4", chunk=2)  # wrong

cippus.open("a.asdf", chekc=True)  # wrong
cippus.open("a.asdf", "r+", codec="lz4")  # wrong
cippus.open("a.asdf", "a")  # wrong
cippus.create("a.asdf", owerwrite=True)  # wrong
cippus.create("a.asdf", codec=3)  # wrong
cippus.convert("a.asdf", "b.npy", to="npy")  # wrong
cippus.verify("a.asdf", deep=True, check=True)  # wrong
cippus.repair("a.asdf", "b.asdf", fill=0, codec="lz4")  # wrong
cippus.diff("a.asdf", "b.asdf", tol=1e-3)  # wrong
cippus.refs("a.asdf", paths="x")  # wrong
cippus.zarr_store("a.asdf", chek=True)  # wrong
read.array.read(mask=True, outt=None)  # wrong
cippus.opne  # wrong
