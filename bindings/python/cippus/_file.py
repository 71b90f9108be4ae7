# SPDX-License-Identifier: BSD-3-Clause
"""What is in a file that is open."""
from __future__ import annotations

from collections.abc import ItemsView, Iterator, Mapping, ValuesView
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from . import _cippus
from ._array import Array
from ._errors import in_python, no_key
from ._tree import Map, beside

if TYPE_CHECKING:
    from typing_extensions import Self

SEVERITIES = ("note", "warn", "bad", "fatal")


class Finding(NamedTuple):
    """One thing that is wrong with a file, or worth knowing about it."""

    severity: str
    """"note", "warn", "bad" (data are damaged) or "fatal" (the file cannot be read)"""
    code: int
    """the number of the error class, 0 for none"""
    offset: Optional[int]
    """the byte in the file, where one is known"""
    length: int
    """bytes concerned, or 0"""
    part: str
    """the part of the file, such as the path of an array"""
    text: str
    """what was found"""
    fixable: bool
    """whether `repair` or an update puts it right"""

    @classmethod
    def of(cls, severity: int, code: int, offset: Optional[int], length: int, part: str, text: str, fixable: bool) -> Finding:
        """Made by the extension."""
        return cls(SEVERITIES[severity], code, offset, length, part, in_python(text), fixable)


class Arrays(Mapping[str, Array]):
    """All arrays of a file by their paths, in the order of the tree."""

    def __init__(self, file: File):
        self._file = file

    def __getitem__(self, path: str) -> Array:
        return self._file._array(path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._file._paths(False))

    def __len__(self) -> int:
        return len(self._file._paths(False))

    def __repr__(self) -> str:
        return "\n".join(map(repr, self.values()))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self)


class _Items(ItemsView[str, Any]):
    """Of a file: through one node of its tree, as a key by itself is looked for among all."""

    _mapping: File

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        root = self._mapping._tree()
        if isinstance(root, Map):
            yield from root.items()
        for path in self._mapping._paths(True):
            yield path, self._mapping[path]


class _Values(ValuesView[Any]):
    _mapping: File

    def __iter__(self) -> Iterator[Any]:
        return (value for _, value in self._mapping.items())


class File(_cippus.File, Mapping[str, Any]):
    """An open file: a mapping of what is at the root of its tree. Keys are names or paths such as "roman/data". An array that
    no tree describes has a path of its own; the only array of a file without a tree is at ""."""

    __slots__ = ("__weakref__", "_state")
    _state: tuple[Any, ...]  # of a remote file

    # --- reading

    @property
    def tree(self) -> Any:
        """The root of the metadata tree, or None where the file has no tree."""
        return self._tree()

    @property
    def arrays(self) -> Arrays:
        """All arrays of the file by their paths."""
        return Arrays(self)

    @property
    def array(self) -> Array:
        """The only array of the file; of a table (bcolz, BLZ) the array of its rows. KeyError where there are several arrays."""
        paths = self._paths(False)
        if "" in paths:
            return self.arrays[""]
        if len(paths) != 1:
            raise KeyError(f"expected one array, found {len(paths)}: {', '.join(paths[:5])}")
        return self._array(paths[0])

    def _array(self, path: str) -> Array:
        found = self._array_named(path)
        if found is None:
            raise no_key(path, lambda: self._paths(False), self.path)
        assert isinstance(found, Array)
        return found

    def __getitem__(self, path: str) -> Any:
        root = self._tree()
        found = root._get(path) if isinstance(root, Map) and path != "" else None
        if found is not None:
            return found[0]
        value = self._find(path)
        if value is None:
            raise no_key(path, lambda: chain(self._paths(False), beside(self.tree, path)), self.path)
        return value

    def __iter__(self) -> Iterator[Any]:
        root = self._tree()
        yield from root if isinstance(root, Map) else ()
        yield from self._paths(True)

    def __len__(self) -> int:
        root = self._tree()
        return (len(root) if isinstance(root, Map) else 0) + len(self._paths(True))

    def items(self) -> _Items:
        """The keys at the root of the tree with their values."""
        return _Items(self)

    def values(self) -> _Values:
        """The values at the root of the tree."""
        return _Values(self)

    def __contains__(self, path: object) -> bool:
        try:
            self[path]  # type: ignore[index]
        except KeyError:
            return False
        return True

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> bool:
        return self is other

    def to_dict(self, *, read: bool = True) -> dict[Any, Any]:
        """All of the file as plain dicts and lists. Arrays are read into memory; with `read=False` they stay arrays of the file,
        which need the file to be open. A value that occurs several times in the tree is one object in the result, too."""
        from ._export import plain

        root = self.tree
        seen: dict[Any, Any] = {}
        if root is not None and not isinstance(root, Map):
            raise TypeError(f"the root of the tree is a {type(root).__name__}, not a mapping: use f.tree")
        made: dict[Any, Any] = {} if root is None else plain(root, read, seen)
        return {**made, **{path: plain(self[path], read, seen) for path in self._paths(True)}}

    def to_pandas(self) -> Any:
        """The only array (or the table) of the file as a pandas object: see Array.to_pandas()."""
        return self.array.to_pandas()

    # --- what it is

    @property
    def format(self) -> str:
        """The name of the format, such as "asdf"."""
        return self._info()[0]

    @property
    def version(self) -> str:
        """The version of the format."""
        return self._info()[1]

    @property
    def nbytes(self) -> int:
        """The size of the file in bytes."""
        return self._info()[2]

    @property
    def facts(self) -> dict[str, str]:
        """The facts that the command `cippus info` prints."""
        return dict(self._info()[3])

    @property
    def findings(self) -> list[Finding]:
        """Problems that were found, and tolerated, while the file was opened and read so far."""
        return [Finding.of(*row) for row in self._info()[4]]

    @property
    def writable(self) -> bool:
        """Whether the file can be changed: it is open as "r+"."""
        return False

    def __repr__(self) -> str:
        if self.closed:
            return f"<closed cippus.{type(self).__name__} {self.path!r}>"
        return f"<cippus.{type(self).__name__} {self.path!r} {self.format} {self.version}: {len(self._paths(False))} arrays>"

    def _repr_html_(self) -> str:
        from ._html import of_file

        return of_file(self)

    def _ipython_key_completions_(self) -> list[str]:
        return list(dict.fromkeys(chain((key for key in self if isinstance(key, str)), self._paths(False))))

    def __reduce__(self) -> Any:
        raise TypeError("open files cannot be pickled")

    def __enter__(self) -> Self:
        if self.closed:
            raise ValueError("I/O operation on closed file")
        return self

    def __exit__(self, kind: Any, *rest: Any) -> None:
        self.close()

    # --- of a file that is open as "r": no type checker finds these, and a program that calls one is told why it cannot

    if not TYPE_CHECKING:

        def _refuse(self, *args, **options):
            """Needs a file that is open as "r+"."""
            if self.closed:
                raise ValueError("I/O operation on closed file")
            raise ValueError("the file is read-only: it is open as 'r'; open it as 'r+' to change it")

        __setitem__ = __delitem__ = put = declare = update = move = step = commit = rollback = _refuse
        _write_array = _append_array = _resize_array = getvalue = _refuse

        def __dir__(self):
            return [name for name in super().__dir__() if getattr(type(self), name, None) is not File._refuse]
