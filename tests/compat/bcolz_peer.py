# SPDX-License-Identifier: BSD-3-Clause
"""Run by the Python that has bcolz 1.2.1 (test_bcolz_peer.py): commands as JSON lines on standard input, an answer each."""
import json
import sys

import bcolz
import numpy as np


def load(path):
    return np.load(path)


def read(folder, out):
    x = bcolz.open(folder, mode="r")
    np.save(out, x[:])
    return {"attrs": dict(x.attrs), "len": len(x)}


def write(source, folder, chunklen, cname, shuffle):
    a = load(source)
    how = dict(rootdir=folder, mode="w", cparams=bcolz.cparams(clevel=5, shuffle=shuffle, cname=cname))
    x = bcolz.ctable(a, **how) if a.dtype.names else bcolz.carray(a, chunklen=chunklen, **how)
    x.attrs["unit"] = "mm"
    x.flush()
    return {}


def append(folder, source):
    x = bcolz.open(folder, mode="a")
    x.append(load(source))
    x.flush()
    return {"len": len(x)}


def trim(folder, n):
    x = bcolz.open(folder, mode="a")
    x.trim(n)
    x.flush()
    return {"len": len(x)}


def put(folder, start, source):
    x, a = bcolz.open(folder, mode="a"), load(source)
    x[start:start + len(a)] = a
    x.flush()
    return {}


for line in sys.stdin:
    words = json.loads(line)
    try:
        answer = globals()[words[0]](*words[1:])
    except Exception as e:  # told to the test
        answer = {"error": repr(e)}
    print(json.dumps(answer), flush=True)
