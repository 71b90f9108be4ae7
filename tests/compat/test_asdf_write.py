# SPDX-License-Identifier: BSD-3-Clause
"""What we write, Python asdf reads equal: every type, byte order, storage, codec and version of the
standard that can hold it; random trees, shapes and strides; files that we only rewrite."""
import itertools
import warnings

import asdf
import blosc2
import numpy as np
import pytest

STANDARDS = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0"]
CODECS = ["none", "zlib", "bzp2", "lz4", "lz4f", "zstd", "blsc", "blsc:zstd:3"]
NUMBERS = ["i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "c8", "c16", "?"]
compared = {}


def values(rng, dtype, shape):
    """Any bytes, so that extremes, NaNs and infinities occur; strings as text."""
    dtype = np.dtype(dtype)
    if dtype.names:
        out = np.zeros(shape, dtype)
        for name in dtype.names:
            field = dtype[name]
            out[name] = values(rng, field.base, shape + field.shape)
        return out
    if dtype.kind in "SU":
        words = np.array(["", "a", "text", "0x1f", "no", "~", "1e5", " x", "a: b", "- q", "é" if dtype.kind == "U" else "e"])
        return rng.choice(words, shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "fc":
        out = (rng.normal(size=shape) * 100).astype(dtype)
        special = rng.random(shape)
        out[special < 0.05] = np.nan
        out[special > 0.97] = np.inf
        return out
    info = np.iinfo(dtype)
    out = rng.integers(info.min, info.max, shape, endpoint=True, dtype=dtype.newbyteorder("=")).astype(dtype)
    return out


NESTED = [("x", "<u2"), ("y", [("p", ">f4"), ("q", "<U2")])]


def types(half):
    for kind in NUMBERS:
        if kind != "f2" or half:
            yield from ([kind] if kind in ("i1", "u1", "?") else ["<" + kind, ">" + kind])
    yield from ["S5", "<U4", ">U4"]
    yield [("a", "<i4"), ("b", ">f8"), ("c", "S3"), ("d", "<i2", (2, 3))]
    yield NESTED


def source_tree(rng, half):
    tree = {}
    for i, dtype in enumerate(types(half)):
        tree[f"a{i:02}"] = values(rng, dtype, tuple(rng.integers(1, 6, rng.integers(1, 4))))
    tree["empty"] = np.zeros((0,), "<f4")
    tree["masked"] = np.ma.array(values(rng, "<i4", (3, 4)), mask=rng.random((3, 4)) < 0.4)
    tree["nested"] = {"list": [1, {"deep": values(rng, "<u2", (7,))}], "text": "no", "number": 1.5e300}
    return tree


@pytest.fixture(scope="module", params=[False, True], ids=["plain", "half"])
def source(request, tmp_path_factory):
    rng = np.random.default_rng(7)
    tree = source_tree(rng, request.param)
    file = tmp_path_factory.mktemp("source") / "in.asdf"
    asdf.AsdfFile(tree, version="1.6.0").write_to(file)
    return file, tree, request.param


def equal(found, wanted, path):
    if wanted.dtype.names is None:
        return np.testing.assert_array_equal(found, wanted, path)
    for name in wanted.dtype.names:
        equal(found[name], wanted[name], f"{path}/{name}")


def same(found, wanted, path=""):
    """The number of arrays that were compared."""
    if isinstance(wanted, np.ndarray):
        got = np.asanyarray(found[...])
        assert got.shape == wanted.shape, path
        assert got.dtype.newbyteorder("=") == wanted.dtype.newbyteorder("="), path
        if isinstance(wanted, np.ma.MaskedArray):
            np.testing.assert_array_equal(np.ma.getmaskarray(got), np.ma.getmaskarray(wanted), path)
            got, wanted = got.filled(0), wanted.filled(0)
        equal(got, wanted, path)
        return 1
    if isinstance(wanted, dict):
        assert set(wanted) <= set(found), path
        return sum(same(found[k], v, f"{path}/{k}") for k, v in wanted.items())
    if isinstance(wanted, list):
        assert len(found) == len(wanted), path
        return sum(same(a, b, f"{path}/{i}") for i, (a, b) in enumerate(zip(found, wanted)))
    assert found == wanted and type(found) is type(wanted), path
    return 0


def read_equal(file, tree):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with asdf.open(file, validate_checksums=True) as f:
            f.validate()
            return same(f.tree, tree)


def note(what, n):
    compared[what] = compared.get(what, 0) + n


@pytest.fixture(scope="module", autouse=True)
def numbers():
    yield
    for what, n in compared.items():
        print(f"\n{what}: {n} arrays written and read equal", end="")


@pytest.mark.parametrize("codec", CODECS)
def test_blocks_of_every_codec_and_standard(cippus, source, tmp_path, codec):
    file, tree, half = source
    for standard, order in itertools.product(STANDARDS, [None, "little", "big"]):
        if half and standard != "1.6.0":
            continue
        words = ["--standard", standard, "--codec", codec] + (["--byteorder", order] if order else [])
        cippus.run("convert", "--overwrite", *words, file, tmp_path / "out.asdf")
        assert f"#ASDF_STANDARD {standard}\n".encode() in (tmp_path / "out.asdf").read_bytes()[:60]
        note(f"blocks, {codec}", read_equal(tmp_path / "out.asdf", tree))
        cippus.run("verify", tmp_path / "out.asdf")


def test_inline_in_every_standard(cippus, source, tmp_path):
    _, tree, half = source
    file = tmp_path / "in.asdf"
    unsigned = [k for k, v in tree.items() if isinstance(v, np.ndarray) and v.dtype.newbyteorder("<") == "<u8"]
    records = {k: v for k, v in tree.items() if isinstance(v, np.ndarray) and v.dtype.names}
    tree = {k: v for k, v in tree.items() if k not in records or (v.ndim == 1 and v.dtype != NESTED)}
    tree = tree | {k: (tree[k] >> 1).astype(tree[k].dtype) for k in unsigned}  # a tree's integers have 63 bits
    asdf.AsdfFile(tree, version="1.6.0").write_to(file)
    for standard in STANDARDS:
        if half and standard != "1.6.0":
            continue
        cippus.run("convert", "--overwrite", "--inline", "--standard", standard, file, tmp_path / "out.yaml")
        assert b"\xd3BLK" not in (tmp_path / "out.yaml").read_bytes()
        note("inline", read_equal(tmp_path / "out.yaml", tree))
    file = tmp_path / "records.asdf"  # those that Python cannot read from its own inline data either
    asdf.AsdfFile(records, version="1.6.0").write_to(file)
    cippus.run("convert", "--inline", file, tmp_path / "records.yaml")
    for name, wanted in records.items():
        equal(cippus.array(tmp_path / "records.yaml", name), wanted, name)


@pytest.mark.parametrize("checksum", ["current", "legacy", "none"])
@pytest.mark.parametrize("words", [[], ["--align", "4096"], ["--align", "1"], ["--tree-slack", "0"], ["--tree-slack", "10000"]])
def test_layouts(cippus, source, tmp_path, words, checksum):
    file, tree, _ = source
    for standard in [[], ["--standard", "1.6.0"]]:
        cippus.run("convert", "--overwrite", *standard, *words, "--md5", checksum, file, tmp_path / "out.asdf")
        note("layouts", read_equal(tmp_path / "out.asdf", tree))
        cippus.run("verify", tmp_path / "out.asdf")


@pytest.mark.parametrize("codec", CODECS)
def test_rewriting_keeps_the_text(cippus, source, tmp_path, codec):
    file, tree, _ = source
    cippus.run("convert", "--codec", codec, file, tmp_path / "out.asdf")
    old, new = file.read_bytes(), (tmp_path / "out.asdf").read_bytes()
    end = old.index(b"\n...\n") + 5
    if codec.startswith(("lz4f", "zstd", "blsc")):  # announced in one line more
        at = new.index(b"  - !core/extension_metadata-1.0.0 {extension_class: asdf_compression.")
        new = new[:at] + new[new.index(b"\n", at) + 1:]
    assert new[:end] == old[:end]
    note("rewritten", read_equal(tmp_path / "out.asdf", tree))


@pytest.mark.parametrize("codec", ["blosclz", "lz4", "lz4hc:9", "zlib:1", "zstd"])
def test_blocks_of_blosc_chunks_and_frames(cippus, rng, tmp_path, codec):
    for dtype in ("u1", "<i2", ">f4", "<f8", "<c16", "S5", [("a", "<i4"), ("b", "S13")]):
        data = values(rng, dtype, (40_000,))
        data[5000:30_000] = data[7]
        np.save(tmp_path / "in.npy", data)
        for how in ([], ["--filter", "bitshuffle"], ["--filter", "none"]):
            for label in ("blsc", "bls2"):
                cippus.run("convert", "--overwrite", "--codec", f"{label}:{codec}", *how, tmp_path / "in.npy", tmp_path / "out.asdf")
                np.testing.assert_array_equal(cippus.array(tmp_path / "out.asdf"), data)
            with open(tmp_path / "block", "wb") as f:  # of bls2
                f.write(cippus.run("cat", "--block", "0", "--stored", tmp_path / "out.asdf"))
            frame = blosc2.schunk_from_cframe((tmp_path / "block").read_bytes())
            assert frame.typesize == data.dtype.itemsize and frame[:] == data.tobytes()
            assert frame[100:200] == data[100:200].tobytes()
            cippus.run("convert", "--overwrite", "--codec", f"blsc:{codec}", *how, tmp_path / "in.npy", tmp_path / "out.asdf")
            note("blosc", read_equal(tmp_path / "out.asdf", {"data": data}))


def test_threads_do_not_change_the_bytes(cippus, rng, tmp_path):
    data = np.cumsum(rng.integers(-3, 4, 3_000_000)).astype("<i4")
    np.save(tmp_path / "in.npy", data)
    for codec in CODECS:
        for threads in ["1", "8"]:
            cippus.run("convert", "--codec", codec, "--threads", threads, tmp_path / "in.npy", tmp_path / f"{codec}{threads}.asdf")
        one, eight = ((tmp_path / f"{codec}{n}.asdf").read_bytes() for n in "18")
        assert one == eight
        np.testing.assert_array_equal(cippus.array(tmp_path / f"{codec}8.asdf"), data)
        note("large", read_equal(tmp_path / f"{codec}8.asdf", {"data": data}))


def test_python_reads_rows_that_came_to_a_compressed_block(cippus, rng, tmp_path):
    data = np.cumsum(rng.integers(-3, 4, (1_500_000, 2)), axis=0).astype("<i4")
    np.save(tmp_path / "in.npy", data[:1_400_000])
    np.save(tmp_path / "rows.npy", data[1_400_000:])
    for codec in CODECS:
        cippus.run("convert", "--codec", codec, tmp_path / "in.npy", tmp_path / f"{codec}.asdf")
        cippus.run("append", tmp_path / f"{codec}.asdf", "data", tmp_path / "rows.npy")
        note("grown", read_equal(tmp_path / f"{codec}.asdf", {"data": data}))


def test_a_pipe_gets_the_same_bytes(cippus, source, tmp_path):
    file, _, _ = source
    for words in [[], ["--standard", "1.6.0"], ["--codec", "zlib"]]:
        cippus.run("convert", "--overwrite", *words, file, tmp_path / "out.asdf")
        piped = cippus.run("convert", "--format", "asdf", *words, file, "-")
        assert piped == (tmp_path / "out.asdf").read_bytes()


def test_integers_of_64_bits_are_refused_inline(cippus, tmp_path):
    np.save(tmp_path / "in.npy", np.array([2**63], "<u8"))
    cippus.run("convert", "--inline", tmp_path / "in.npy", tmp_path / "out.asdf", status=3)
    assert [p.name for p in tmp_path.iterdir()] == ["in.npy"]


def test_big_integers_become_core_integers(cippus, tmp_path):
    numbers = [2**63, -(2**63), 2**64 - 1, -(2**200) - 12345, 10**300]
    (tmp_path / "in.asdf").write_text("#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n---\nn: " + str(numbers) + "\n...\n")
    cippus.run("convert", "--standard", "1.6.0", tmp_path / "in.asdf", tmp_path / "out.asdf")
    with asdf.open(tmp_path / "out.asdf") as f:
        assert [int(n) for n in f["n"]] == numbers


def random_tree(rng, depth, arrays):
    kind = rng.integers(0, 9 if depth < 4 else 6)
    if kind < 2:
        base = values(rng, rng.choice(["<i2", ">f4", "<u4", "c8"]), tuple(rng.integers(1, 7, rng.integers(1, 4))))
        cut = tuple(slice(None, None, int(rng.choice([1, 2, -1]))) for _ in base.shape)
        arrays.append(base)
        return base[cut].transpose(rng.permutation(base.ndim)) if rng.random() < 0.7 else base
    if kind < 6:
        return [True, None, 12, -1.5e-7, "yes", "1e5", "0o7", "a\nb\n", "# no comment", "", "é\U0001f600", 2**62][rng.integers(0, 12)]
    if kind < 7:
        return [random_tree(rng, depth + 1, arrays) for _ in range(rng.integers(0, 5))]
    return {f"k{i}" if rng.random() < 0.8 else i: random_tree(rng, depth + 1, arrays) for i in range(rng.integers(0, 5))}


def test_random_trees_shapes_and_strides(cippus, rng, tmp_path):
    for i in range(60):
        tree = {f"r{k}": random_tree(rng, 0, []) for k in range(3)}
        with asdf.config_context() as config:
            config.default_array_save_base = bool(i % 2)
            asdf.AsdfFile(tree).write_to(tmp_path / "in.asdf")
        words = [[], ["--standard", "1.6.0"], ["--standard", "1.6.0", "--codec", "lz4"], ["--codec", "zlib"], ["--inline"]][i % 5]
        cippus.run("convert", "--overwrite", *words, tmp_path / "in.asdf", tmp_path / "out.asdf")
        note("random", read_equal(tmp_path / "out.asdf", tree))


def test_blocks_that_nothing_names_survive(cippus, tmp_path):
    file = tmp_path / "in.asdf"
    asdf.AsdfFile({"a": np.arange(5), "b": np.arange(6)}).write_to(file)
    data = file.read_bytes().replace(b"source: 1", b"source: 0").replace(b"- 6\n", b"- 5\n").replace(b"shape: [6]", b"shape: [5]")
    file.write_bytes(data)
    cippus.run("convert", file, tmp_path / "out.asdf")
    with asdf.open(tmp_path / "out.asdf", validate_checksums=True) as f:
        assert f["b"][...].tolist() == [0, 1, 2, 3, 4]
    assert len(cippus.run("info", "--blocks", tmp_path / "out.asdf").splitlines()) == len(cippus.run("info", "--blocks", file).splitlines())


@pytest.mark.parametrize("words", [[], ["--bare"], ["--align", "1", "--tree-slack", "0"]])
def test_exploded_and_back(cippus, source, tmp_path, words):
    file, tree, _ = source
    cippus.run("explode", *words, file, tmp_path / "a b.asdf")
    assert b"\xd3BLK" not in (tmp_path / "a b.asdf").read_bytes()
    note("exploded", read_equal(tmp_path / "a b.asdf", tree))
    cippus.run("verify", *tmp_path.glob("*.asdf"))
    cippus.run("implode", tmp_path / "a b.asdf", tmp_path / "whole.asdf")
    note("imploded", read_equal(tmp_path / "whole.asdf", tree))
    text = [f.read_bytes().split(b"\n...\n")[0] for f in (file, tmp_path / "whole.asdf")]
    assert text[0] == text[1]


def test_some_arrays_exploded(cippus, tmp_path):
    rng = np.random.default_rng(3)
    masked = np.ma.array(values(rng, "<i4", (3, 4)), mask=rng.random((3, 4)) < 0.4)
    tree = {"a": np.arange(5), "m": masked, "n": {"deep": [values(rng, ">f8", (2, 2))]}, "i": asdf.IntegerType(2**70 + 1)}
    asdf.AsdfFile(tree).write_to(tmp_path / "in.asdf")
    cippus.run("explode", "--path", "m", "--path=n/deep/0", tmp_path / "in.asdf", tmp_path / "out.asdf")
    assert len(list(tmp_path.glob("out0*.asdf"))) == 3  # the mask too
    with asdf.open(tmp_path / "out.asdf", validate_checksums=True) as f:
        assert int(f["i"]) == 2**70 + 1
        note("exploded", same(f.tree, {k: tree[k] for k in "amn"}))
    cippus.run("implode", tmp_path / "out.asdf", tmp_path / "back.asdf")
    assert cippus.run("info", "--blocks", tmp_path / "back.asdf").count(b"\n") == cippus.run("info", "--blocks", tmp_path / "in.asdf").count(b"\n")
    with asdf.open(tmp_path / "back.asdf", validate_checksums=True) as f:
        assert int(f["i"]) == 2**70 + 1
        same(f.tree, {k: tree[k] for k in "amn"})
    cippus.run("explode", "--path", "x", tmp_path / "in.asdf", tmp_path / "no.asdf", status=3)
    assert not list(tmp_path.glob("no*"))


def test_a_streamed_part_grows_at_once(cippus, tmp_path):
    ff = asdf.AsdfFile({"s": asdf.Stream([3], "<f4")})
    with open(tmp_path / "in.asdf", "wb") as f:
        ff.write_to(f)
        f.write(np.arange(6, dtype="<f4").tobytes())
    cippus.run("explode", tmp_path / "in.asdf", tmp_path / "out.asdf")
    with open(tmp_path / "out0000.asdf", "ab") as f:
        f.write(np.arange(6, 9, dtype="<f4").tobytes())
    np.testing.assert_array_equal(cippus.array(tmp_path / "out.asdf"), np.arange(9).reshape(3, 3))
    with asdf.open(tmp_path / "out.asdf") as f:
        np.testing.assert_array_equal(f["s"][...], np.arange(9).reshape(3, 3))
    cippus.run("implode", tmp_path / "out.asdf", tmp_path / "back.asdf")
    with asdf.open(tmp_path / "back.asdf") as f:
        np.testing.assert_array_equal(f["s"][...], np.arange(9).reshape(3, 3))
