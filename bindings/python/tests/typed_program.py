# SPDX-License-Identifier: BSD-3-Clause
"""What a typed program does with the package: checked by mypy --strict, and run."""
import numpy as np
import numpy.typing as npt

import cippus


def window(file: cippus.File, path: str) -> npt.NDArray[np.float64]:
    array = file[path]
    assert isinstance(array, cippus.Array)
    rows: int = array.shape[0]
    found: npt.NDArray[np.float64] = array[: rows // 2]
    return found


def tell(done: int, total: int) -> None:
    assert done <= total


def main() -> None:
    with cippus.create(format="asdf", codec="zlib") as w:
        w["a/b"] = np.arange(10.0)
        w.put("n", 3)
        w.put("c", np.zeros((4, 4)), codec="lz4")
        w.arrays["c"][1:3] = 2
        w.move("n", "meta/n")
        changed: cippus.EditableFile = w
        assert window(changed, "c").sum() == 8
    data: bytes = w.getvalue()
    file: cippus.File
    with cippus.open(data) as file:
        assert window(file, "a/b").sum() == 10
        names: list[str] = list(file.arrays)
        ratios: list[float] = [array.cratio for array in file.arrays.values()]
        assert len(names) == len(ratios) == 2
        file["c"].read(progress=tell)
    try:
        cippus.open("/does/not/exist")
    except cippus.FileMissingError as error:
        where: int | None = error.offset
        assert where is None and error.status == "not found"


main()
