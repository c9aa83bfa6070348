"""Positions and programs for the tests."""

import multiprocessing
import os
import random
import signal
import sys
from pathlib import Path

import chess.variant
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
def forked():
    """Calls a function in a forked process. The result is the function's, or its exception."""
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("the system does not fork processes")
    context = multiprocessing.get_context("fork")

    def call(function):
        def send():
            try:
                results.put(function())
            except Exception as error:
                results.put(error)

        results = context.Queue()
        child = context.Process(target=send)
        child.start()
        try:
            return results.get(timeout=30)
        finally:
            child.kill()
            child.join()

    return call


@pytest.fixture(scope="session")
def impossible_boards() -> list[tuple[chess.Board, type[Exception], str]]:
    """Illegal boards, each with the beginning of its error."""
    start = chess.Board()
    cases = [
        (
            {"knights": start.knights | start.pawns},
            ValueError,
            "the board has several pieces on a2",
        ),
        ({"pawns": start.pawns & ~1 << 8}, ValueError, "the board's pieces, occupied_co and occup"),
        ({"occupied_co": [start.occupied] * 2}, ValueError, "the board's pieces, occupied_co and"),
        (
            {"occupied": 0},
            ValueError,
            "the board's pieces, occupied_co and occupied disagree on a1",
        ),
        ({"occupied_co": [1, 2, 3]}, ValueError, "the board's occupied_co: expected two bitboards"),
        ({"rooks": -1}, ValueError, "the board's rooks: expected a bitboard, got -1"),
        ({"kings": "e1"}, TypeError, "the board's kings: expected a bitboard, got str"),
        ({"castling_rights": 1 << 64}, ValueError, "the board's castling_rights: expected a bitb"),
        (
            {"ep_square": 99},
            ValueError,
            "the board's ep_square: expected a square from 0 to 63, or",
        ),
        (
            {"ep_square": -1},
            ValueError,
            "the board's ep_square: expected a square from 0 to 63, or",
        ),
        ({"ep_square": "e3"}, TypeError, "the board's ep_square: expected a square"),
        ({"turn": 1}, TypeError, "the board's turn: expected a bool, got int"),
        ({"turn": "w"}, TypeError, "the board's turn: expected a bool, got str"),
        (
            {"halfmove_clock": -3},
            ValueError,
            "the board's halfmove_clock: expected a number from 0",
        ),
        ({"fullmove_number": None}, TypeError, "the board's fullmove_number: expected a number"),
    ]
    boards = []
    for fields, kind, message in cases:
        board = chess.Board()
        for name, value in fields.items():
            setattr(board, name, value)
        boards.append((board, kind, message))
    for variant in (chess.variant.AtomicBoard, chess.variant.CrazyhouseBoard):
        message = f"a board of the variant '{variant.uci_variant}': expected chess or Chess960"
        boards.append((variant(), ValueError, message))
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
