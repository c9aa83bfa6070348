"""Positions and programs for the tests."""

import os
import random
import signal
import sys
from pathlib import Path

import pytest

import chess

# A shell starts background jobs with Ctrl-C ignored, and their child processes inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def boards() -> list[chess.Board]:
    """Positions of random games, with castling rights, en passant, checks and promotions; some of
    Chess960."""
    randomness = random.Random(1)
    boards = []
    for game in range(40):
        board = chess.Board.from_chess960_pos(game * 24) if game % 4 == 0 else chess.Board()
        for _ in range(120):
            moves = list(board.legal_moves)
            if not moves:
                break
            boards.append(board.copy(stack=False))
            board.push(randomness.choice(moves))
    return boards


@pytest.fixture(scope="session")
def weights() -> Path:
    """The folder of the repository's weights files."""
    return REPOSITORY / "weights"


@pytest.fixture(scope="session")
def program():
    """The path of a program that ``cargo build --release --workspace`` made."""

    def path(name: str) -> str:
        target = os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target")
        suffix = ".exe" if sys.platform == "win32" else ""
        return str(Path(target, "release", name + suffix))

    return path
