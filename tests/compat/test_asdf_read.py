# SPDX-License-Identifier: BSD-3-Clause
"""What Python asdf writes, we read equal: dtypes, byte orders, storage, codecs, standard versions."""
import asdf
import asdf_compression  # noqa: F401  (registers lz4f and zstd)
import numpy as np
import pytest

DTYPES = "i1 u1 <i2 >i2 <u2 >u2 <i4 >i4 <u4 >u4 <i8 >i8 <u8 >u8 <f4 >f4 <f8 >f8 <c8 >c8 <c16 >c16 ? S3 <U4 >U4".split()
VERSIONS = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0"]
CODECS = [None, "zlib", "bzp2", "lz4", "lz4f", "zstd"]


def sample(rng, dtype, shape):
    dtype = np.dtype(dtype)
    n = int(np.prod(shape))
    if dtype.kind == "U":
        return np.array(["añ𝄞"[: i % 4] for i in range(n)], dtype).reshape(shape)
    if dtype.kind == "S":
        return np.array([b"xyz"[: i % 4] for i in range(n)], dtype).reshape(shape)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "fc":
        values = rng.normal(0, 1e3, shape)
        return (values + 1j * values[::-1] if dtype.kind == "c" else values).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype.newbyteorder("="), endpoint=True).astype(dtype)


def equal(a, b):
    assert a.shape == b.shape and a.dtype.newbyteorder("=") == b.dtype.newbyteorder("=")
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("storage", ["internal", "inline"])
def test_every_dtype_of_every_version(cippus, rng, tmp_path, version, storage):
    tree = {f"a{i}": sample(rng, d, (3, 4)) for i, d in enumerate(DTYPES)}
    if storage == "inline":  # Python writes no larger literals
        tree = {k: a >> 1 if a.dtype.kind in "iu" and a.dtype.itemsize == 8 else a for k, a in tree.items()}
    if version == "1.6.0":
        tree["half"] = sample(rng, "<f2", (3, 4))
    file = tmp_path / "all.asdf"
    asdf.AsdfFile(tree, version=version).write_to(file, all_array_storage=storage)
    for name, array in tree.items():
        equal(cippus.array(file, name), array)


@pytest.mark.parametrize("codec", CODECS)
def test_codecs_and_windows(cippus, rng, tmp_path, codec):
    data = np.cumsum(rng.integers(0, 3, (700, 3000)), axis=1).astype("<i4")  # 8.4 MB: several lz4 chunks
    file = tmp_path / "codec.asdf"
    asdf.AsdfFile({"data": data, "small": data[:2, :2].copy()}).write_to(file, all_array_compression=codec)
    equal(cippus.array(file, "data"), data)
    equal(cippus.array(file, "small"), data[:2, :2])
    for text, cut in [("[10:20, 5:7]", np.s_[10:20, 5:7]), ("[::-99, -1]", np.s_[::-99, -1]), ("[699:, ::1000]", np.s_[699:, ::1000])]:
        equal(cippus.array(file, "data", text), data[cut])


def test_views_of_one_base(cippus, rng, tmp_path):
    base = rng.normal(size=(20, 30))
    tree = {"base": base, "cut": base[3:9, 4:8], "back": base[::-1, ::-3], "turned": base.T[5:7]}
    file = tmp_path / "views.asdf"
    with asdf.config_context() as config:
        config.default_array_save_base = True
        asdf.AsdfFile(tree).write_to(file, all_array_compression="zlib")
    for name, array in tree.items():
        equal(cippus.array(file, name), array)


def test_records_field_by_field(cippus, rng, tmp_path):
    table = np.zeros((4, 3), dtype=[("a", "<i2"), ("b", ">f8", (2, 2)), ("c", [("d", "U3"), ("e", ">u4")])])
    table["a"] = rng.integers(-5, 5, (4, 3))
    table["b"] = rng.normal(size=(4, 3, 2, 2))
    table["c"]["d"] = "xy"
    table["c"]["e"] = rng.integers(0, 2**32, (4, 3))
    file = tmp_path / "records.asdf"
    asdf.AsdfFile({"t": table}).write_to(file)
    equal(cippus.array(file, "t/a"), table["a"])
    equal(cippus.array(file, "t/b", "[1:3, ::-1, 0]"), table["b"][1:3, ::-1, 0])
    equal(cippus.array(file, "t/c/e"), table["c"]["e"])
    whole = cippus.array(file, "t")
    for name in ("a", "b"):
        np.testing.assert_array_equal(whole[name], table[name])


def test_exploded_form(cippus, rng, tmp_path):
    data = rng.normal(size=(5, 6))
    file = tmp_path / "main.asdf"
    asdf.AsdfFile({"x": data}).write_to(file, all_array_storage="external")
    equal(cippus.array(file, "x"), data)


def test_random_slices_are_numpys(cippus, rng, tmp_path):
    data = np.arange(7 * 5 * 6, dtype="<i2").reshape(7, 5, 6)
    file = tmp_path / "slices.asdf"
    asdf.AsdfFile({"d": data}).write_to(file, all_array_compression="lz4")
    number = lambda: "" if rng.random() < 0.3 else str(rng.integers(-9, 10))
    for _ in range(60):
        words = []
        for _ in range(rng.integers(1, 4)):
            step = rng.choice(["", ":1", ":2", ":-1", ":-3", ":"])
            words.append(f"{number()}:{number()}{step}" if rng.random() < 0.8 else str(rng.integers(-5, 5)))
        text = "[" + ", ".join(words) + "]"
        equal(cippus.array(file, "d", text), eval(f"data{text}", {"data": data}))  # noqa: S307
