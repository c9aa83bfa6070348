"""Chess positions as vectors, and the engine that searches with them.

:class:`Space` maps positions to unit vectors and to win probabilities. :class:`Engine` plays,
analyses and explains moves. :func:`read_dataset` reads the positions that a space is trained on.

>>> import azimuth_chess
>>> space = azimuth_chess.Space.beam()
>>> fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
>>> embedding = space.embed(fen)
>>> embedding.shape == (space.dim,)
True
"""

from ._dataset import ArrowStream, Batch, Dataset, LabelledPosition, read_dataset
from ._engine import Engine, ExplainedMove, Explanation
from ._native import __version__
from ._space import Calibration, Features, Space, Tokens

__all__ = [
    "ArrowStream",
    "Batch",
    "Calibration",
    "Dataset",
    "Engine",
    "ExplainedMove",
    "Explanation",
    "Features",
    "LabelledPosition",
    "Space",
    "Tokens",
    "__version__",
    "read_dataset",
]
