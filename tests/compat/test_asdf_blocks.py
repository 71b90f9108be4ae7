# SPDX-License-Identifier: BSD-3-Clause
"""Objects of Python's asdf that keep their data in blocks which no ndarray names."""
import asdf
import numpy as np
import pytest
from asdf.extension import Converter, Extension, TagDefinition

TAG = "asdf://example.org/tags/store-1.0.0"


class Store:
    """Parts, each in a block of its own."""

    def __init__(self, parts):
        self.parts = parts


class StoreConverter(Converter):
    tags = [TAG]
    types = [Store]

    def to_yaml_tree(self, obj, tag, ctx):
        found = [ctx.find_available_block_index(lambda p=p: p, ctx.generate_block_key()) for p in obj.parts]
        return {"blocks": found}

    def from_yaml_tree(self, node, tag, ctx):
        return Store([np.array(ctx.get_block_data_callback(i, ctx.generate_block_key())()) for i in node["blocks"]])


class StoreExtension(Extension):
    extension_uri = "asdf://example.org/extensions/store-1.0.0"
    tags = [TagDefinition(TAG)]
    converters = [StoreConverter()]


@pytest.fixture(autouse=True)
def extension():
    with asdf.config_context() as config:
        config.add_extension(StoreExtension())
        yield


def write(path, rng):
    tree = {
        "a": rng.integers(0, 1000, (5, 7)),
        "s": Store([rng.integers(0, 255, n).astype(np.uint8) for n in (11, 70000, 3)]),
        "b": rng.normal(size=100),
    }
    asdf.AsdfFile(tree).write_to(path)
    return tree


def check(path, tree):
    with asdf.open(path, lazy_load=False, memmap=False) as f:
        for part, read in zip(tree["s"].parts, f["s"].parts, strict=True):
            assert np.array_equal(part, read)
        for name in "ab":
            assert np.array_equal(tree[name], f[name])


@pytest.mark.parametrize("how", ["--byteorder big", "--standard 1.5.0", "--resolve-refs", "--codec zlib",
                                 "--codec zlib --byteorder little", "--tree-slack 0"])
def test_conversion_keeps_what_objects_find_in_their_blocks(cippus, rng, tmp_path, how):
    tree = write(tmp_path / "in.asdf", rng)
    check(tmp_path / "in.asdf", tree)
    cippus.run("convert", *how.split(), tmp_path / "in.asdf", tmp_path / "out.asdf")
    check(tmp_path / "out.asdf", tree)


def test_what_gives_blocks_other_numbers_is_refused(cippus, rng, tmp_path):
    tree = write(tmp_path / "in.asdf", rng)
    cippus.run("convert", "--inline", tmp_path / "in.asdf", tmp_path / "out.asdf", status=3)
    cippus.run("explode", tmp_path / "in.asdf", tmp_path / "out.asdf", status=3)
    cippus.run("defrag", tmp_path / "in.asdf", status=3)
    check(tmp_path / "in.asdf", tree)


def test_updates_keep_what_objects_find_in_their_blocks(cippus, rng, tmp_path):
    path = tmp_path / "in.asdf"
    tree = write(path, rng)
    (tmp_path / "rows.raw").write_bytes(np.arange(7).tobytes())
    cippus.run("append", path, "a", tmp_path / "rows.raw")
    cippus.run("set", path, "note", "long " * 3000)
    tree["a"] = np.concatenate([tree["a"], [np.arange(7)]])
    check(path, tree)
