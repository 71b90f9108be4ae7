#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the files of corpus/fuzz_fits: seeds of fuzz_fits.c, and what the tests beside it read. And fuzz_fits_update/: some of them, behind
two bytes that say how they change.

usage: src/format/fits/corpus/make_fits.py

Cards and data are put together by hand, so that every byte is known; Rice codes too. Needs nothing but Python.
"""
import gzip
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent / "fuzz_fits"
UPDATE = HERE.parent / "fuzz_fits_update"
CHANGED = ["good-sums", "good-unsigned", "good-scaled", "good-table", "good-plain-table", "good-heap", "good-names", "good-not-filled"]
CHANGES = [(30, 60), (99, 240), (1, 59)]  # as fuzz_fits_update.c reads them


def card(key, value=None, comment=""):
    if value is None:
        text = f"{key:8}{comment}"
    else:
        if isinstance(value, bool):
            shown = f"{'T' if value else 'F':>20}"
        elif isinstance(value, str):
            shown = f"'{value:8}'"
        else:
            shown = f"{value:>20}"
        text = f"{key:8}= {shown}" + (f" / {comment}" if comment else "")
    assert len(text) <= 80, text
    return f"{text:80}".encode("ascii")


def padded(data, fill=b"\0"):
    return data + fill * (-len(data) % 2880)


def header(*cards):
    return padded(b"".join(c if isinstance(c, bytes) else card(*c) for c in cards) + card("END"), b" ")


def image(bitpix, axes, *more, first=True):
    start = ("SIMPLE", True, "standard FITS") if first else ("XTENSION", "IMAGE")
    axis = [(f"NAXIS{i + 1}", n) for i, n in enumerate(axes)]
    counts = [] if first else [("PCOUNT", 0), ("GCOUNT", 1)]
    return header(start, ("BITPIX", bitpix, "bits of an element"), ("NAXIS", len(axes)), *axis, *counts, *more)


def empty(*more):
    return image(8, (), *more)


def table(kind, width, rows, columns, *more, heap=0):
    cards = [("XTENSION", kind), ("BITPIX", 8), ("NAXIS", 2), ("NAXIS1", width), ("NAXIS2", rows), ("PCOUNT", heap)]
    cards += [("GCOUNT", 1), ("TFIELDS", len(columns))]
    for i, column in enumerate(columns, 1):
        cards += [(f"{k}{i}", v) for k, v in column.items()]
    return header(*cards, *more)


def be(code, *values):
    return struct.pack(f">{len(values)}{code}", *values)


class Bits:
    def __init__(self):
        self.text = ""

    def put(self, value, n):
        self.text += f"{value & (1 << n) - 1:0{n}b}"[-n:] if n else ""

    def bytes(self):
        t = self.text + "0" * (-len(self.text) % 8)
        return bytes(int(t[i : i + 8], 2) for i in range(0, len(t), 8))


def rice(values, width=2, block=32):
    """Rice codes by the standard's words: fs is the number of lower bits that is the shortest."""
    nbits, head, most = {1: (8, 3, 6), 2: (16, 4, 14), 4: (32, 5, 25)}[width]
    b, last = Bits(), values[0]
    b.put(last, nbits)
    for i in range(0, len(values), block):
        folded = []
        for v in values[i : i + block]:
            d = (v - last + (1 << nbits - 1)) % (1 << nbits) - (1 << nbits - 1)
            folded.append(2 * d if d >= 0 else -2 * d - 1)
            last = v
        if not any(folded):
            b.put(0, head)
            continue
        cost = [sum((f >> fs) + 1 + fs for f in folded) for fs in range(most)]
        fs = min(range(most), key=cost.__getitem__)
        if cost[fs] >= nbits * len(folded):
            b.put(most + 1, head)
            for f in folded:
                b.put(f, nbits)
            continue
        b.put(fs + 1, head)
        for f in folded:
            b.text += "0" * (f >> fs) + "1"
            b.put(f, fs)
    return b.bytes()


def tiles(kind, bitpix, axes, tile, parts, *more, letter="B", extra=(), rows=None):
    """One row for each part: a descriptor in the heap, then the values of the columns in `extra`."""
    heap, body = b"", b""
    for i, part in enumerate(parts):
        body += be("i", len(part), len(heap)) + (rows[i] if rows else b"")
        heap += part
    columns = [{"TTYPE": "COMPRESSED_DATA", "TFORM": f"1P{letter}"}, *extra]
    cards = [("ZIMAGE", True), ("ZCMPTYPE", kind), ("ZBITPIX", bitpix), ("ZNAXIS", len(axes))]
    cards += [(f"ZNAXIS{i + 1}", n) for i, n in enumerate(axes)] + [(f"ZTILE{i + 1}", n) for i, n in enumerate(tile)]
    head = table("BINTABLE", len(body) // len(parts), len(parts), columns, *cards, *more, heap=len(heap))
    return empty() + head + padded(body + heap)


def shuffled(data, width):
    return b"".join(data[k::width] for k in range(width))


def zipped(data):
    return gzip.compress(data, 9, mtime=0)


def summed(hdu, datasum):
    """The HDU with its CHECKSUM (standard 4.0, appendix J)."""
    total = sum(struct.unpack(f">{len(hdu) // 4}I", hdu))
    while total >> 32:
        total = (total & 0xFFFFFFFF) + (total >> 32)
    value = ~total & 0xFFFFFFFF
    out = [0] * 16
    for i in range(4):
        byte = value >> (24 - 8 * i) & 255
        quotient, rest = divmod(byte, 4)
        ch = [quotient + 48 + (rest if k == 0 else 0) for k in range(4)]
        exclude = set(range(0x3A, 0x41)) | set(range(0x5B, 0x61))
        while any(c in exclude for c in ch):
            for k in (0, 2):
                if ch[k] in exclude or ch[k + 1] in exclude:
                    ch[k] += 1
                    ch[k + 1] -= 1
        for k in range(4):
            out[4 * k + i] = ch[k]
    text = bytes(out[-1:] + out[:-1])
    return hdu.replace(b"CHECKSUM= '0000000000000000'", b"CHECKSUM= '" + text + b"'")


def datasum(data):
    total = sum(struct.unpack(f">{len(data) // 4}I", data))
    while total >> 32:
        total = (total & 0xFFFFFFFF) + (total >> 32)
    return total


def asdf(text, block):
    """An ASDF file with one block."""
    head = b"\xd3BLK" + be("H", 48) + bytes(8) + be("Q", len(block), len(block), len(block)) + bytes(16)
    return b"#ASDF 1.0.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n" + text + b"...\n" + head + block


SIX = be("h", 0, 1, -2, 300, -400, 32767)


def files():
    yield "good-int16", image(16, (3, 2)) + padded(SIX)
    yield "good-unsigned", image(16, (3, 2), ("BSCALE", 1.0), ("BZERO", 32768.0)) + padded(SIX)
    yield "good-signed", image(8, (4,), ("BZERO", -128)) + padded(bytes([0, 127, 128, 255]))
    yield "good-scaled", image(16, (3, 2), ("BSCALE", 0.1), ("BZERO", 5), ("BLANK", 300)) + padded(SIX)
    yield "good-blank", image(16, (3, 2), ("BLANK", -2)) + padded(SIX)
    yield "good-blank-unsigned", image(16, (3, 2), ("BZERO", 32768), ("BLANK", -2)) + padded(SIX)
    yield "good-float64", image(-64, (2,), ("BLANK", 7)) + padded(be("d", 1.5, -2.25))
    yield "good-no-data", empty(("EXTEND", True))
    yield "good-not-filled", image(16, (3, 2)) + SIX
    yield "good-tail", image(16, (3, 2)) + padded(SIX) + b"special records" * 20
    yield "good-names", empty() + b"".join(
        image(8, (1,), *more, first=False) + padded(bytes([i]))
        for i, more in enumerate(
            [
                [("EXTNAME", "SCI")],
                [("EXTNAME", "SCI"), ("EXTVER", 2)],
                [("EXTNAME", "err")],
                [],
                [("EXTNAME", "DQ")],
                [("EXTNAME", "DQ")],
                [("EXTNAME", "a/b~c")],
                [("EXTNAME", "12")],
            ]
        )
    )
    yield "good-cards", empty(
        ("COMMENT", None, "one"),
        ("COMMENT", None, "two / three"),
        ("HISTORY", None, "was made"),
        card("TEXT", "it''s", "a quote"),
        card("SPACES", "  both  "),
        b"LONG    = 'begins &'".ljust(80),
        b"CONTINUE  'goes on &' / half".ljust(80),
        b"CONTINUE  'ends' / a comment".ljust(80),
        b"LOOSE   = 'no card follows&'".ljust(80),
        ("INT", -12),
        ("BIG", 18446744073709551615),
        ("HUGE", "123456789012345678901234567890"),
        b"REAL    = 1.5D3 / Fortran".ljust(80),
        b"PAIR    = (1.5, -2)".ljust(80),
        b"NOTHING =                      / no value".ljust(80),
        b"HIERARCH ESO DET CHIP = 7 / of ESO".ljust(80),
        b"WRONG   = what is this".ljust(80),
        b"OPEN    = 'never ends".ljust(80),
        b"LATIN   = 'caf\xe9'".ljust(80),
        ("TWICE", 1),
        ("TWICE", 2),
        ("SAME", 3),
        ("SAME", 3),
        b"".ljust(80),
        b"        no keyword".ljust(80),
        b"CONTINUE  'of nothing'".ljust(80),
    )
    rows = [
        (b"T", b"\xa0\x80", 7, 1.5, -1, b"ab  ", 3, (1.0, 2.0), b"xy", 100),
        (b"F", b"\x5f\x00", 8, -2.5, 1, b"c\0zz", -3, (3.0, 4.0), b"  ", 200),
        (b"\0", b"\xff\xff", 9, 0.0, 0, b"    ", 0, (5.0, 6.0), b"z\0", 300),
    ]
    body = b"".join(
        l + x + be("h", i) + be("d", d) + be("h", u) + a + be("i", s) + be("f", *c) + t + be("h", n)
        for l, x, i, d, u, a, s, c, t, n in rows
    )
    columns = [
        {"TTYPE": "flag", "TFORM": "L"},
        {"TTYPE": "bits", "TFORM": "9X"},
        {"TTYPE": "count", "TFORM": "1I", "TUNIT": "adu"},
        {"TTYPE": "value", "TFORM": "D"},
        {"TTYPE": "unsigned", "TFORM": "I", "TZERO": 32768},
        {"TTYPE": "name", "TFORM": "4A"},
        {"TTYPE": "scaled", "TFORM": "J", "TSCAL": 0.5, "TZERO": 1, "TNULL": 0},
        {"TTYPE": "pair", "TFORM": "C"},
        {"TTYPE": "chars", "TFORM": "2A", "TDIM": "(1,2)"},
        {"TFORM": "I"},
    ]
    yield "good-table", empty() + table("BINTABLE", len(body) // 3, 3, columns, ("EXTNAME", "T")) + padded(body)
    plain = b"".join(be("h", i) + be("d", i / 2) + be("f", i, -i) for i in range(3))
    columns = [{"TTYPE": "a", "TFORM": "I"}, {"TTYPE": "a", "TFORM": "D"}, {"TTYPE": "c", "TFORM": "2E"}]
    yield "good-plain-table", empty() + table("BINTABLE", 18, 3, columns) + padded(plain)
    body = be("h", 1) + be("i", 2, 0) + be("h", 2) + be("i", 1, 4)
    columns = [{"TTYPE": "n", "TFORM": "I"}, {"TTYPE": "rows", "TFORM": "1PI(2)"}]
    yield "good-heap", empty() + table("BINTABLE", 10, 2, columns, heap=6) + padded(body + be("h", 5, 6, 7))
    text = b"ab   12 -1.5E+01  1234\n" + b"c    -3    2.5D0   0.7\n" + b"          ---       \0 \n"
    columns = [
        {"TTYPE": "name", "TFORM": "A3", "TBCOL": 1},
        {"TTYPE": "small", "TFORM": "I4", "TBCOL": 4},
        {"TTYPE": "real", "TFORM": "E10.3", "TBCOL": 8, "TNULL": "---"},
        {"TTYPE": "point", "TFORM": "F5.2", "TBCOL": 18},
    ]
    yield "good-text-table", empty() + table("TABLE", 23, 3, columns) + padded(text, b" ")
    picture = [(i * i) % 37 - 5 for i in range(12)]
    lines = [picture[i : i + 4] for i in range(0, 12, 4)]
    settings = [("ZNAME1", "BYTEPIX"), ("ZVAL1", 2), ("ZNAME2", "BLOCKSIZE"), ("ZVAL2", 32)]
    yield "good-rice", tiles("RICE_1", 16, (4, 3), (4, 1), [rice(x) for x in lines], *settings)
    wild = [0, 30000, -30000, 5, 5, 5, 5, 5]
    settings = [("ZNAME1", "BYTEPIX"), ("ZVAL1", 2), ("ZNAME2", "BLOCKSIZE"), ("ZVAL2", 4)]
    yield "good-rice-whole", tiles("RICE_1", 16, (8,), (8,), [rice(wild, block=4)], *settings)
    yield "good-gzip", tiles("GZIP_1", 16, (4, 3), (4, 1), [zipped(be("h", *x)) for x in lines])
    whole = [zipped(shuffled(be("h", *x), 2)) for x in lines]
    yield "good-gzip-2", tiles("GZIP_2", 16, (4, 3), (4, 1), whole)
    edge = [[picture[4 * r + c] for r in rs for c in cs] for rs in ((0, 1), (2,)) for cs in ((0, 1, 2), (3,))]
    parts = [be("h", *x) for x in edge]
    yield "good-tiles", tiles("NOCOMPRESS", 16, (4, 3), (3, 2), parts, ("BZERO", 32768))
    quantized = [
        {"TTYPE": "ZSCALE", "TFORM": "1D"},
        {"TTYPE": "ZZERO", "TFORM": "1D"},
        {"TTYPE": "ZBLANK", "TFORM": "1J"},
    ]
    counts = [0, 1, -2147483646, 77, -5, 10]
    settings = [("ZQUANTIZ", "SUBTRACTIVE_DITHER_2"), ("ZDITHER0", 9999)]
    two = [zipped(be("i", *counts[:3])), zipped(be("i", *counts[3:]))]
    values = [be("d", 0.5, 1.0) + be("i", 77), be("d", 0.25, -1.0) + be("i", 77)]
    yield "good-dithered", tiles("GZIP_1", -32, (3, 2), (3, 1), two, *settings, extra=quantized, rows=values)
    good = image(16, (3, 2), ("CHECKSUM", "0" * 16), ("DATASUM", str(datasum(padded(SIX))))) + padded(SIX)
    yield "good-sums", summed(good, 0)
    tree = b"""inner: !core/ndarray-1.0.0 {source: 0, datatype: uint8, byteorder: big, shape: [4]}
sky: !core/ndarray-1.0.0 {source: 'fits:sci,2', datatype: int16, byteorder: big, shape: [2, 3]}
first: !core/ndarray-1.0.0 {source: 'fits:1', datatype: uint8, byteorder: big, shape: [1]}
none: !core/ndarray-1.0.0 {source: 'fits:DQ', datatype: uint8, byteorder: big, shape: [1]}
other: !core/ndarray-1.0.0 {source: 'fits:SCI,2', datatype: int16, byteorder: big, shape: [3, 2]}
name: M 13
"""
    inner = asdf(tree, b"\1\2\3\4")
    hdus = empty() + image(8, (1,), ("EXTNAME", "SCI"), first=False) + padded(b"\5")
    hdus += image(16, (3, 2), ("EXTNAME", "SCI"), ("EXTVER", 2), first=False) + padded(SIX)
    column = [{"TTYPE": "ASDF_METADATA", "TFORM": f"{len(inner)}B"}]
    yield "good-asdf", hdus + table("BINTABLE", len(inner), 1, column, ("EXTNAME", "ASDF")) + padded(inner)
    yield "good-asdf-image", hdus + image(8, (len(inner),), ("EXTNAME", "ASDF"), first=False) + padded(inner)
    broken = inner.replace(b"name: M", b"name: [")
    yield "bad-asdf", hdus + image(8, (len(broken),), ("EXTNAME", "ASDF"), first=False) + padded(broken)
    yield "bad-sums", summed(good, 0).replace(SIX, SIX[:-1] + b"\xfe")
    yield "bad-truncated", image(16, (3, 2)) + SIX[:-1]
    yield "bad-no-end", image(16, (3, 2))[:400]
    yield "bad-huge", image(-64, (10**18, 10**18)) + b"\0" * 100
    yield "bad-long", image(8, (10**18,)) + b"\0" * 100
    yield "bad-negative", image(8, (-1,)) + b"\0" * 100
    yield "bad-bitpix", image(12, (1,)) + b"\0" * 100
    yield "bad-second", image(16, (3, 2)) + padded(SIX) + header(("XTENSION", "IMAGE"), ("BITPIX", 8))
    columns = [{"TTYPE": "a", "TFORM": "9223372036854775807M"}]
    yield "bad-tform", empty() + table("BINTABLE", 18, 3, columns) + padded(plain)
    columns = [{"TTYPE": "a", "TFORM": "I"}]
    yield "bad-width", empty() + table("BINTABLE", 18, 3, columns) + padded(plain)
    columns = [{"TTYPE": "n", "TFORM": "I8", "TBCOL": 1}]
    yield "bad-number", empty() + table("TABLE", 8, 1, columns) + padded(b" 12 34  ", b" ")
    columns = [{"TTYPE": "n", "TFORM": "L"}]
    yield "bad-logical", empty() + table("BINTABLE", 1, 1, columns) + padded(b"Y")
    out = tiles("GZIP_1", 16, (4, 3), (4, 1), [zipped(be("h", *x)) for x in lines])
    at = out.index(padded(be("i", 0))[:0] + be("i", len(zipped(be("h", *lines[0]))), 0))
    yield "bad-heap", out[: at + 4] + be("i", 10**9) + out[at + 8 :]
    yield "bad-tiles", tiles("GZIP_1", 16, (4, 300), (4, 1), [zipped(be("h", *x)) for x in lines])
    yield "bad-rice", tiles("RICE_1", 16, (4, 3), (4, 1), [rice(x)[:3] for x in lines], *settings[:0])
    yield "unsupported-hcompress", tiles("HCOMPRESS_1", 16, (4, 3), (4, 3), [b"\xdd\x99"])
    groups = header(
        ("SIMPLE", True),
        ("BITPIX", 8),
        ("NAXIS", 2),
        ("NAXIS1", 0),
        ("NAXIS2", 2),
        ("GROUPS", True),
        ("PCOUNT", 1),
        ("GCOUNT", 2),
    )
    yield "unsupported-groups", groups + padded(bytes(6)) + image(8, (1,), first=False) + padded(b"\7")
    yield "unsupported-extension", empty() + header(
        ("XTENSION", "FOREIGN"), ("BITPIX", 8), ("NAXIS", 1), ("NAXIS1", 5), ("PCOUNT", 0), ("GCOUNT", 1)
    ) + padded(b"hello")


def main():
    HERE.mkdir(exist_ok=True)
    for file in HERE.glob("*.fits"):
        file.unlink()
    UPDATE.mkdir(exist_ok=True)
    for name, data in files():
        (HERE / f"{name}.fits").write_bytes(data)
        for change in CHANGES if name in CHANGED else []:
            (UPDATE / "-".join([name, *map(str, change)])).write_bytes(bytes(change) + data)


if __name__ == "__main__":
    main()
