# SPDX-License-Identifier: BSD-3-Clause
"""Zarr stores in zip archives, as other programs write them."""
import zipfile

import zarr


class Pipe:
    """What cannot be rewound: sizes and CRC-32s follow the data."""

    def __init__(self, file):
        self.write, self.flush = file.write, file.flush


def pack(folder, path, r):
    """The files of a folder in any order: stored or deflated, by a program that writes to a file or to a pipe, with a comment,
    and with entries for folders."""
    names = [p for p in sorted(folder.rglob("*")) if p.is_file() or r.random() < 0.2]
    r.shuffle(names)
    with open(path, "wb") as file, zipfile.ZipFile(Pipe(file) if r.random() < 0.3 else file, "w") as archive:
        for p in names:
            archive.write(p, p.relative_to(folder), r.choice([zipfile.ZIP_STORED, zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
        archive.comment = b"a comment" * r.choice([0, 0, 1, 1000])


def store_of(root):
    """What zarr-python opens."""
    if root.suffix != ".zip":
        return root
    with zipfile.ZipFile(root) as archive:
        assert archive.testzip() is None
        assert len(set(archive.namelist())) == len(archive.namelist())
    return zarr.storage.ZipStore(root, mode="r")
