"""Datasets: the labelled positions that spaces are trained on."""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from collections.abc import Iterator
from itertools import chain
from operator import index
from pathlib import Path
from typing import Any, Literal, NamedTuple, SupportsIndex, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from ._native import NativeDataset

Split: TypeAlias = Literal["training", "calibration", "held-out"]
"""A part of a dataset. All positions of a game are in the same part."""

SPLITS: tuple[Split, ...] = ("training", "calibration", "held-out")


class Batch(NamedTuple):
    """Labelled positions. Labels are from White's point of view."""

    fens: list[str]
    """The positions, for :meth:`Space.embed`."""
    pieces: npt.NDArray[np.int8]
    """The pieces on the squares a1, b1, ... h8, shape (n, 64): 0 for an empty square, 1 to 6 for
    White's pawn to king (python-chess's piece types), -1 to -6 for Black's."""
    white_to_move: npt.NDArray[np.bool_]
    """Whether White is to move, shape (n,)."""
    centipawns: npt.NDArray[np.int32]
    """Evaluations in centipawns, shape (n,); 0 for mates."""
    mate: npt.NDArray[np.int8]
    """Forced mates, shape (n,): 1 if White mates, -1 if Black mates, else 0."""
    win_probability: npt.NDArray[np.float32]
    """The label as White's win probability in [0, 1], shape (n,); 0 and 1 for mates."""
    family: npt.NDArray[np.uint32]
    """The number of the position's family in its split, shape (n,). A family is the children of one
    position; they are next to each other."""


class LabelledPosition(NamedTuple):
    """A position with its label, from White's point of view: a row of a :class:`Batch`, whose
    documentation describes the fields."""

    fen: str
    pieces: npt.NDArray[np.int8]
    """Shape (64,)."""
    white_to_move: np.bool_
    centipawns: np.int32
    mate: np.int8
    win_probability: np.float32
    family: np.uint32


class ArrowStream:
    """Positions as Arrow record batches, see :meth:`Dataset.arrow`. Can be read several times."""

    def __init__(self, dataset: Dataset, split: Split | None, batch_size: int) -> None:
        self._dataset = dataset
        self._split = split
        self._batch_size = batch_size

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The stream, by Arrow's protocol for Python. It has its own schema, whatever is requested,
        as the protocol allows."""
        return self._dataset._native.arrow_stream(self._split, self._batch_size)


class Dataset:
    """A dataset file (``.azd``) of ``azimuth-train``. The file is mapped into memory, not read.

    ``len(data)``, ``data[i]``, ``data[i:j]`` and iteration count the positions of all splits, one
    split after the other. :meth:`batches` is faster than iteration. A dataset can be pickled for
    other processes, which map the file again.

    :param path: The file.
    :raises OSError: if the file cannot be read.
    :raises ValueError: if the file is damaged or no dataset.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._native = NativeDataset(path)
        # Another process may have another current folder.
        self._path = str(Path(path).absolute())

    @property
    def description(self) -> dict[str, Any]:
        """The sources of the positions, as ``azimuth-train data`` recorded them."""
        description: dict[str, Any] = json.loads(self._native.description)
        return description

    def length(self, split: Split) -> int:
        """Number of positions in a split.

        :raises ValueError: if there is no such split.
        """
        return self._native.length(split)

    def __len__(self) -> int:
        """Number of positions in all splits."""
        return sum(map(self.length, SPLITS))

    def batches(self, split: Split | None = None, batch_size: int = 65_536) -> Iterator[Batch]:
        """Reads the positions in order, ``batch_size`` at a time; the last batch may be smaller.

        :param split: The split to read; all three by default, one after the other.
        :param batch_size: The number of positions in a batch, at least 1.
        :raises ValueError: if there is no such split, or ``batch_size`` is below 1.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size {batch_size}: it must be at least 1")
        splits = SPLITS if split is None else (split,)
        lengths = [(part, self.length(part)) for part in splits]
        return self._batches(lengths, batch_size)

    def _batches(self, lengths: list[tuple[Split, int]], batch_size: int) -> Iterator[Batch]:
        for split, length in lengths:
            for start in range(0, length, batch_size):
                yield Batch(*self._native.read(split, start, min(batch_size, length - start), 1))

    def arrow(self, split: Split | None = None, batch_size: int = 65_536) -> ArrowStream:
        """The positions as a stream of Arrow record batches for pyarrow, polars, DuckDB and others:

        >>> pyarrow.RecordBatchReader.from_stream(data.arrow("training"))  # doctest: +SKIP

        Its columns are ``split`` and those of :class:`Batch`, with ``fen`` in place of ``fens``;
        ``pieces`` is a list of 64 numbers. A dataset is itself such a stream, of all splits. This
        package does not need pyarrow.

        :param split: As in :meth:`batches`.
        :param batch_size: As in :meth:`batches`.
        :raises ValueError: as :meth:`batches`.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size {batch_size}: it must be at least 1")
        if split is not None:
            self.length(split)
        return ArrowStream(self, split, batch_size)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """All positions, by Arrow's protocol for Python (the PyCapsule interface)."""
        return self.arrow().__arrow_c_stream__(requested_schema)

    def __iter__(self) -> Iterator[LabelledPosition]:
        for batch in self.batches():
            yield from map(LabelledPosition._make, zip(*batch, strict=True))

    @overload
    def __getitem__(self, place: SupportsIndex) -> LabelledPosition: ...
    @overload
    def __getitem__(self, place: slice) -> Batch: ...
    def __getitem__(self, place: SupportsIndex | slice) -> LabelledPosition | Batch:
        """The position with a number, or the positions of a slice as a batch. Negative numbers
        count from the end.

        :raises IndexError: if there is no such position.
        """
        if isinstance(place, slice):
            places = range(len(self))[place]
            order = 1 if places.step > 0 else -1
            parts = [self._native.read(*part) for part in self._parts(places[::order])]
            fens, *columns = zip(*parts or [self._native.read("training", 0, 0, 1)], strict=True)
            arrays = (np.ascontiguousarray(np.concatenate(c)[::order]) for c in columns)
            return Batch(list(chain(*fens))[::order], *arrays)
        try:
            found = range(len(self))[place]
        except IndexError:
            message = f"position {index(place)}: the dataset has {len(self)} positions"
            raise IndexError(message) from None
        [part] = self._parts(range(found, found + 1))
        return LabelledPosition._make(column[0] for column in self._native.read(*part))

    def _parts(self, places: range) -> Iterator[tuple[Split, int, int, int]]:
        """The split, the start in it, the number of positions and the step of each part of an
        increasing range."""
        first = 0
        for split in SPLITS:
            end = first + self.length(split)
            part = places[bisect_left(places, first) : bisect_left(places, end)]
            if part:
                yield split, part[0] - first, len(part), part.step if len(part) > 1 else 1
            first = end

    def __reduce__(self) -> tuple[type[Dataset], tuple[str]]:
        return (type(self), (self._path,))

    def __repr__(self) -> str:
        return f"<Dataset {self._path!r}: {len(self)} positions>"


def read_dataset(path: str | os.PathLike[str]) -> Dataset:
    """Opens a dataset file (``.azd``) of ``azimuth-train``:

    >>> for batch in read_dataset("beam.azd").batches():  # doctest: +SKIP
    ...     embeddings = space.embed(batch.fens)

    Other formats: ``azimuth-train data FILE --out FILE.azd`` converts them.

    :raises OSError: if the file cannot be read.
    :raises ValueError: if the file is damaged or no dataset.
    """
    return Dataset(path)
