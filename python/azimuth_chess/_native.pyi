from collections.abc import Callable, Iterable
from os import PathLike
from typing import Literal

import numpy as np
import numpy.typing as npt

__version__: str

def run_program(command_line: list[str]) -> int: ...
def check_board(object: object) -> None: ...
def calibrated(
    knots: tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]],
    cosines: npt.NDArray[np.float32],
) -> npt.NDArray[np.float32]: ...

class NativeSpace:
    def __new__(cls, path: str | PathLike[str]) -> NativeSpace: ...
    @staticmethod
    def beam_weights() -> NativeSpace: ...
    @staticmethod
    def selective_weights() -> NativeSpace: ...
    def embed(
        self,
        positions: Iterable[object],
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> npt.NDArray[np.float32]: ...
    def cosine(
        self,
        positions: Iterable[object],
        pov: str,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> npt.NDArray[np.float32]: ...
    def win_probability(
        self,
        positions: Iterable[object],
        pov: str,
        threads: int | None = None,
        progress: Callable[[int], object] | None = None,
    ) -> npt.NDArray[np.float32]: ...
    def inputs(
        self, position: object
    ) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.uint16]] | npt.NDArray[np.uint8]: ...
    @property
    def dim(self) -> int: ...
    @property
    def axis(self) -> npt.NDArray[np.float32]: ...
    @property
    def mates(self) -> npt.NDArray[np.float32]: ...
    @property
    def knots(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]: ...
    @property
    def pov(self) -> Literal["turn", "white"]: ...
    @property
    def architecture(self) -> str: ...
    @property
    def input(self) -> str: ...
    @property
    def metadata(self) -> str: ...

class NativeDataset:
    def __new__(cls, path: str | PathLike[str]) -> NativeDataset: ...
    @property
    def description(self) -> str: ...
    def length(self, split: str) -> int: ...
    def arrow_stream(self, split: str | None, size: int) -> object: ...
    def read(
        self, split: str, start: int, size: int, step: int
    ) -> tuple[
        list[str],
        npt.NDArray[np.int8],
        npt.NDArray[np.bool_],
        npt.NDArray[np.int32],
        npt.NDArray[np.int8],
        npt.NDArray[np.float32],
        npt.NDArray[np.uint32],
    ]: ...
