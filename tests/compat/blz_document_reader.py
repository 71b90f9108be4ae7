# SPDX-License-Identifier: BSD-3-Clause
"""Reads folders as BLZ's document has them, of struct, json and python-blosc alone, and complains of whatever is not as the
document and ../shared/formats/blz.md, 1a, say: `read(root)` gives the array, all of which was checked."""
import hashlib
import json
import pathlib
import re
import struct
import zlib

import blosc
import numpy as np

OFFSETS, METADATA = 1, 2
NAMES = (None, "adler32", "crc32", "md5", "sha1", "sha224", "sha256", "sha384", "sha512")


class Wrong(Exception):
    pass


def expect(fine, *words):
    if not fine:
        raise Wrong(" ".join(map(str, words)))


def digest_of(kind, data):
    if kind < 3:
        return struct.pack("<I", (zlib.adler32 if kind == 1 else zlib.crc32)(data)) if kind else b""
    return hashlib.new(NAMES[kind], data).digest()


class Superchunk:
    """One file. chunks: (stored bytes, decoded bytes) of each."""

    def __init__(self, path):
        self.path, self.data = path, path.read_bytes()
        expect(len(self.data) >= 32 and self.data[:4] == b"blpk", path, "has no header")
        (self.version, self.options, self.checksum, self.typesize, self.chunk_size, self.last,
         self.nchunks) = struct.unpack_from("<BBBBiiq", self.data, 4)
        expect(self.version == 3 and self.options < 4 and self.checksum < 9, path, "version", self.version, self.options,
               self.checksum)
        self.free, at = 0, 32
        self.metadata = None
        if self.options & METADATA and self.data[32:40] == b"JSON\0\0\0\0":
            self.free = struct.unpack_from("<q", self.data, 24)[0]
            kind, codec, size, room, stored = struct.unpack_from("<BB", self.data, 41) + struct.unpack_from("<III", self.data, 44)
            self.metadata = self.data[64:64 + stored]
            expect(codec == 0 and size == stored, path, "compressed metadata")
            at = 64 + room
            expect(self.data[at:at + len(digest_of(kind, b""))] == digest_of(kind, self.metadata), path, "digest of metadata")
            at += len(digest_of(kind, b""))
        elif self.options & METADATA:
            size, reserved = struct.unpack_from("<ii", self.data, 24)
            expect(size >= 0 and reserved == 0, path, "metadata of", size, reserved)
            self.metadata = self.data[32:32 + size]
            at += size
        else:
            self.free = struct.unpack_from("<q", self.data, 24)[0]
        self.find(at)
        self.check_sizes()

    def find(self, at):
        """Chunks by their offsets, or one behind the other with at most zeros between."""
        places = None
        if self.options & OFFSETS:
            expect(self.nchunks >= 0, self.path, "offsets of nobody knows how many chunks")
            table = struct.unpack_from(f"<{self.nchunks + self.free}q", self.data, at)
            expect(all(p == -1 for p in table[self.nchunks:]), self.path, "a free offset is used")
            at += 8 * len(table)
            places = table[:self.nchunks] if -1 not in table[:self.nchunks] else None
            if places is not None:
                expect(list(places) == sorted(set(places)), self.path, "offsets do not rise")
        else:
            expect(self.free == 0, self.path, "free offsets without a table")
        self.chunks, self.spare = [], []
        while (len(self.chunks) < self.nchunks) if self.nchunks >= 0 else at < len(self.data):
            if places is not None:
                expect(places[len(self.chunks)] >= at, self.path, "chunks lie over each other")
                gap, at = places[len(self.chunks)] - at, places[len(self.chunks)]
            else:
                gap = 0
                while self.chunks and at < len(self.data) and self.data[at] == 0:
                    at, gap = at + 1, gap + 1
                if at == len(self.data) and self.nchunks < 0:
                    break
            if self.chunks:
                self.spare.append(gap)
            at = self.take(at)
        self.spare.append(len(self.data) - at)

    def take(self, at):
        expect(at + 16 <= len(self.data), self.path, "ends before chunk", len(self.chunks))
        version, _, _, typesize, nbytes, _, cbytes = struct.unpack_from("<BBBBIII", self.data, at)
        expect(version == 2 and cbytes >= 16 and at + cbytes <= len(self.data), self.path, "no Blosc1 chunk at", at)
        expect(typesize == self.typesize or self.typesize == 0, self.path, "elements of", typesize, "bytes, not", self.typesize)
        stored = self.data[at:at + cbytes]
        raw = blosc.decompress(stored) if nbytes else b""
        expect(len(raw) == nbytes, self.path, "a chunk of another length")
        at += cbytes
        digest = digest_of(self.checksum, stored)
        expect(self.data[at:at + len(digest)] == digest, self.path, "digest of chunk", len(self.chunks))
        self.chunks.append((stored, raw))
        return at + len(digest)

    def check_sizes(self):
        sizes = [len(raw) for _, raw in self.chunks]
        expect(self.nchunks in (-1, len(sizes)), self.path, "has", len(sizes), "chunks, not", self.nchunks)
        if sizes and self.last != -1:
            expect(self.last == sizes[-1], self.path, "last chunk of", sizes[-1], "not", self.last)
        if self.chunk_size != -1:
            expect(all(s == self.chunk_size for s in sizes[:-1]) and all(s <= self.chunk_size for s in sizes), self.path,
                   "chunks of", sizes, "not", self.chunk_size)


def decoded(name):
    return re.sub(rb"%([0-9A-Fa-f]{2})", lambda m: bytes([int(m.group(1), 16)]), name.encode()).decode()


def dtype_of(node):
    def fields(n):
        return [(f[0], fields(f[1]) if isinstance(f[1], list) else f[1], *([tuple(f[2])] if len(f) > 2 else [])) for f in n]
    return np.dtype(fields(node) if isinstance(node, list) else node)


class Folder:
    def __init__(self, root, shards=None):
        self.root = pathlib.Path(root)
        self.storage = json.loads((self.root / "meta/storage").read_text())
        self.sizes = json.loads((self.root / "meta/sizes").read_text())
        attributes = self.root / "meta/attributes"
        self.attributes = json.loads(attributes.read_text()) if attributes.exists() else None
        listed = self.root / "meta/shards"
        names = json.loads(listed.read_text()) if listed.exists() else []
        inside = [p for p in self.root.iterdir() if p.name not in ("data", "meta") and (p / "data").is_dir()]
        self.shards = list(dict.fromkeys([self.root, *(shards or []), *((self.root / n) for n in names), *inside]))
        self.dtype = dtype_of(self.storage["dtype"])
        self.shape = tuple(self.sizes["shape"])
        self.cbytes, self.files = 0, {}
        self.array = np.zeros(self.shape, self.dtype)
        self.fill(self.dtype, self.array, [s / "data" for s in self.shards], "")
        expect(self.sizes["nbytes"] == self.array.size * self.packed(self.dtype), "nbytes", self.sizes["nbytes"])
        if "cbytes" in self.sizes:
            expect(self.sizes["cbytes"] == self.cbytes, "cbytes", self.sizes["cbytes"], "not", self.cbytes)

    def packed(self, dtype):
        if dtype.names is None:
            return dtype.itemsize
        return sum(self.packed(dtype[n].base) * int(np.prod(dtype[n].shape)) for n in dtype.names)

    def fill(self, dtype, into, folders, name):
        if dtype.names is not None:
            for field in dtype.names:
                below = [p for f in folders if f.is_dir() for p in f.iterdir() if p.is_dir() and decoded(p.name) == field]
                self.fill(dtype[field].base, into[field], below, f"{name}{field}/")
            return
        raw = self.column(folders, name)
        row = dtype.itemsize * int(np.prod(into.shape[1:]))
        want = row * self.shape[0]
        expect(len(raw) == want, name, "holds", len(raw), "bytes, not", want)
        into[...] = np.frombuffer(raw, dtype).reshape(into.shape)

    def column(self, folders, name):
        files = {}
        for path in (p for f in folders if f.is_dir() for p in f.iterdir() if re.fullmatch(r"__[1-9][0-9]*__\.bin", p.name)):
            number = int(path.name[2:-6])
            expect(number not in files, "two files of number", number)
            files[number] = Superchunk(path)
        expect(sorted(files) == list(range(1, len(files) + 1)), name, "has superchunks", sorted(files))
        self.files[name] = [files[n] for n in sorted(files)]
        chunks = [c for s in self.files[name] for c in s.chunks]
        self.cbytes += sum(len(stored) for stored, _ in chunks)
        per = self.storage.get("superchunk")
        if per is not None:
            expect(all(len(s.chunks) == per for s in self.files[name][:-1]), name, "superchunks of other than", per, "chunks")
            expect(not files or 0 < len(self.files[name][-1].chunks) <= per, name, "last superchunk")
        return b"".join(raw for _, raw in chunks)


def read(root, shards=None):
    return Folder(root, shards).array
