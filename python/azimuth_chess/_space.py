"""The space: positions as unit vectors."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
import numpy.typing as npt

import chess

from ._native import NativeSpace, calibrated

Position: TypeAlias = "str | chess.Board"
"""A FEN or a board of python-chess."""

Pov: TypeAlias = Literal["turn", "white", "space"]
"""The side whose win a high number means: the side to move, White, or :attr:`Space.pov`."""

Floats: TypeAlias = npt.NDArray[np.float32]

_EMBEDDED = {
    "beam": NativeSpace.beam_weights,
    "selective": NativeSpace.selective_weights,
}


class Features(NamedTuple):
    """The input of a sparse encoder for one position: the active rows of its embedding table.

    Each side sees the board with its own first rank at the bottom. :attr:`turn` and
    :attr:`opponent` are equally long.
    """

    name: str
    """The set of features, such as ``exchange-states-16+king-mirror+threats``."""
    turn: npt.NDArray[np.uint16]
    """Rows in the view of the side to move, shape (k,)."""
    opponent: npt.NDArray[np.uint16]
    """Rows in the other side's view, shape (k,)."""


class Tokens(NamedTuple):
    """The input of a transformer for one position."""

    name: str
    """The tokeniser, ``chessbench-77``."""
    tokens: npt.NDArray[np.uint8]
    """The tokens, shape (77,)."""


@dataclass(frozen=True, eq=False)
class Calibration:
    """The map from cosines with the axis to win probabilities.

    It rises strictly, is linear between its knots, and constant beyond the outer ones. Both
    numbers are those of the side in :attr:`Space.pov`.
    """

    cosines: Floats
    """The knots' cosines, shape (k,), increasing."""
    win_probabilities: Floats
    """The knots' win probabilities in [0, 1], shape (k,), increasing."""

    def __call__(self, cosines: npt.ArrayLike) -> Floats:
        """The win probabilities of cosines, float32, in the shape of ``cosines``."""
        array = np.asarray(cosines, dtype=np.float32)
        knots = (
            np.asarray(self.cosines, dtype=np.float32),
            np.asarray(self.win_probabilities, dtype=np.float32),
        )
        return calibrated(knots, array.ravel()).reshape(array.shape)


class Space:
    """An encoder, with the axis and the calibration of its embeddings.

    A space can be used by several threads of Python at the same time, and by forked processes. It
    can be pickled for other processes, which read the weights file again.

    :param weights: A weights file (``.safetensors``), as ``azimuth-train`` writes it.
    :raises OSError: if the file cannot be read.
    :raises ValueError: if the file is damaged or contains something else.
    """

    _native: NativeSpace
    _origin: str
    _opened_with: Callable[[str], Space]

    def __init__(self, weights: str | os.PathLike[str]) -> None:
        self._native = NativeSpace(weights)
        # Another process may have another current folder.
        self._origin = str(Path(weights).absolute())
        self._opened_with = type(self)

    @classmethod
    def beam(cls) -> Space:
        """The space of the encoder that the paper's beam search uses: it sees pending captures, so
        that a position needs no search. Its weights are part of the package."""
        return cls._embedded("beam")

    @classmethod
    def selective(cls) -> Space:
        """The space of the larger encoder that plays: the searches resolve captures, so it is best
        at quiet positions. Its weights are part of the package."""
        return cls._embedded("selective")

    @classmethod
    def from_pretrained(cls, name_or_path: str | os.PathLike[str]) -> Space:
        """The space of weights by their name, ``"beam"`` or ``"selective"``, or of a weights
        file. A file with one of these names needs a folder: ``"./beam"``.

        :raises OSError: as :class:`Space`; the message of a missing file lists the names.
        :raises ValueError: as :class:`Space`.
        """
        name = os.fspath(name_or_path)
        if name in _EMBEDDED:
            return cls._embedded(name)
        try:
            return cls(name)
        except FileNotFoundError as error:
            names = ", ".join(_EMBEDDED)
            raise FileNotFoundError(f"{error}; weights with a name: {names}") from None

    @classmethod
    def _embedded(cls, name: str) -> Space:
        space = cls.__new__(cls)
        space._native = _EMBEDDED[name]()
        space._origin = name
        space._opened_with = cls._embedded
        return space

    def __reduce__(self) -> tuple[Callable[[str], Space], tuple[str]]:
        return (self._opened_with, (self._origin,))

    def __repr__(self) -> str:
        return f"<Space {self._origin!r}: {self.architecture}, {self.dim} dimensions>"

    @property
    def dim(self) -> int:
        """D, the dimension of the embeddings."""
        return self._native.dim

    @property
    def axis(self) -> Floats:
        """The direction from lost to won: a unit vector, float32, shape (D,)."""
        return self._native.axis

    @property
    def mates(self) -> Floats:
        """The paper's direction: the mean embedding of positions in which :attr:`pov` mates, minus
        the mean of those in which it is mated. Float32, shape (D,), not normalised."""
        return self._native.mates

    @property
    def calibration(self) -> Calibration:
        """The map from cosines with the axis to win probabilities."""
        cosines, win_probabilities = self._native.knots
        return Calibration(cosines, win_probabilities)

    @property
    def pov(self) -> Literal["turn", "white"]:
        """The side whose win the axis points to: ``"turn"``, the side to move, for sparse encoders;
        ``"white"`` for transformers."""
        return self._native.pov

    @property
    def architecture(self) -> str:
        """A short name of the encoder, such as ``sparse 512`` or ``mini``."""
        return self._native.architecture

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the weights file: architecture, input, data, options and metrics of the
        training."""
        metadata: dict[str, Any] = json.loads(self._native.metadata)
        return metadata

    def embed(
        self,
        positions: Position | Iterable[Position],
        *,
        threads: int | None = None,
        progress: bool = False,
    ) -> Floats:
        """The embeddings of positions: unit vectors.

        :param positions: FENs or boards, in a list, a generator or any other iterable; or one FEN
            or one board. A generator is read in parts, so that only the embeddings need memory.
        :param threads: The number of threads; all of the machine's by default. A transformer always
            uses all of them.
        :param progress: Whether to show a progress bar. This needs tqdm.
        :returns: Float32, shape (n, D); shape (D,) for one position.
        :raises ValueError: if a FEN is malformed, a position is illegal, or the fields of a board
            contradict each other. The message starts with the position's index, from 0.
        :raises TypeError: if a position is neither a FEN nor a board, or a field of a board has
            another type.
        """
        embeddings = self._numbers("embeddings", "space", positions, threads, progress)
        is_one = isinstance(positions, (str, chess.Board))
        return embeddings if is_one else embeddings.reshape(-1, self.dim)

    def fit(self, positions: object = None, labels: object = None) -> Space:
        """Does nothing and returns the space: it is trained already. With :meth:`transform`, a space
        can be a step of a scikit-learn pipeline."""
        return self

    def transform(self, positions: Iterable[Position]) -> Floats:
        """The embeddings of positions, as :meth:`embed` computes them.

        :returns: Float32, shape (n, D).
        :raises ValueError: as :meth:`embed`, or if there is a single FEN instead of several.
        :raises TypeError: as :meth:`embed`.
        """
        if isinstance(positions, str):
            raise ValueError("transform takes several positions; embed takes a single one, too")
        return self.embed(positions)

    def __sklearn_clone__(self) -> Space:
        """The space itself, which no step of a pipeline changes."""
        return self

    # A string is an iterable of strings, too: the first signature decides.
    @overload
    def cosine(  # type: ignore[overload-overlap]
        self,
        positions: Position,
        *,
        pov: Pov = "turn",
        threads: int | None = None,
        progress: bool = False,
    ) -> float: ...
    @overload
    def cosine(
        self,
        positions: Iterable[Position],
        *,
        pov: Pov = "turn",
        threads: int | None = None,
        progress: bool = False,
    ) -> Floats: ...
    def cosine(
        self,
        positions: Position | Iterable[Position],
        *,
        pov: Pov = "turn",
        threads: int | None = None,
        progress: bool = False,
    ) -> Floats | float:
        """The cosines of positions with the axis: the scores that the engine uses.

        :param positions: As in :meth:`embed`.
        :param pov: Whose win a high cosine means. ``"space"`` leaves the sign of
            ``embed(positions) @ axis``; that product differs by rounding only.
        :param threads: As in :meth:`embed`.
        :param progress: As in :meth:`embed`.
        :returns: In [-1, 1], float32, shape (n,); a float for one position.
        :raises ValueError: as :meth:`embed`, or if ``pov`` is unknown.
        :raises TypeError: as :meth:`embed`.
        """
        cosines = self._numbers("cosines", pov, positions, threads, progress)
        return float(cosines[0]) if isinstance(positions, (str, chess.Board)) else cosines

    # A string is an iterable of strings, too: the first signature decides.
    @overload
    def win_probability(  # type: ignore[overload-overlap]
        self,
        positions: Position,
        *,
        pov: Pov = "turn",
        threads: int | None = None,
        progress: bool = False,
    ) -> float: ...
    @overload
    def win_probability(
        self,
        positions: Iterable[Position],
        *,
        pov: Pov = "turn",
        threads: int | None = None,
        progress: bool = False,
    ) -> Floats: ...
    def win_probability(
        self,
        positions: Position | Iterable[Position],
        *,
        pov: Pov = "turn",
        threads: int | None = None,
        progress: bool = False,
    ) -> Floats | float:
        """The win probabilities of positions by their embeddings alone, without a search. A draw
        counts as half a win.

        :param positions: As in :meth:`embed`.
        :param pov: Whose win is meant.
        :param threads: As in :meth:`embed`.
        :param progress: As in :meth:`embed`.
        :returns: In [0, 1], float32, shape (n,); a float for one position.
        :raises ValueError: as :meth:`embed`, or if ``pov`` is unknown.
        :raises TypeError: as :meth:`embed`.
        """
        numbers = self._numbers("win probabilities", pov, positions, threads, progress)
        return float(numbers[0]) if isinstance(positions, (str, chess.Board)) else numbers

    def features(self, position: Position) -> Features | Tokens:
        """The encoder's input for a position: the active features of a sparse encoder, or the
        tokens of a transformer.

        :raises ValueError: as :meth:`embed`.
        :raises TypeError: as :meth:`embed`.
        """
        inputs = self._native.inputs(position)
        if isinstance(inputs, tuple):
            return Features(self._native.input, *inputs)
        return Tokens(self._native.input, inputs)

    def _numbers(
        self,
        wanted: Literal["embeddings", "cosines", "win probabilities"],
        pov: Pov,
        positions: Position | Iterable[Position],
        threads: int | None,
        progress: bool,
    ) -> Floats:
        if isinstance(positions, (str, chess.Board)):
            try:
                return self._native.numbers([positions], wanted, pov, 1)
            except (ValueError, TypeError) as error:
                # Without the index of the only position.
                raise type(error)(str(error).removeprefix("position 0: ")) from None
        with _progress_bar(positions, progress) as advance:
            return self._native.numbers(positions, wanted, pov, threads, advance)


@contextlib.contextmanager
def _progress_bar(
    positions: Iterable[Position], wanted: bool
) -> Iterator[Callable[[int], object] | None]:
    if not wanted:
        yield None
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError("progress=True needs tqdm: pip install tqdm") from None
    total = len(positions) if isinstance(positions, Sized) else None
    with tqdm(total=total, unit="position", unit_scale=True) as bar:
        yield bar.update
