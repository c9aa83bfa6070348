"""Reads tests/data/odd-games with python-chess, and compares the games with expected.json: equal,
unless a game has `"python_chess": false`. Argument: the folder."""

import io
import json
import logging
import pathlib
import sys

import chess
import chess.pgn

logging.disable()
folder = pathlib.Path(sys.argv[1])


def text_of(path):
    content = path.read_bytes()
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = content.decode("utf-16")
    else:
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = content.decode("iso-8859-1")
    # Ends of lines, as Python reads them from a file.
    return io.TextIOWrapper(io.BytesIO(text.encode()), "utf-8").read()


def games_of(text):
    lines = io.StringIO(text)
    while game := chess.pgn.read_game(lines):
        yield game


def is_equal(expected, game):
    """Whether python-chess reads the expected game. A game that is refused has an error."""
    if expected.get("refused"):
        return bool(game.errors) and not game.variations
    try:
        board = game.board()
    except ValueError:
        return False
    ours = chess.Board(expected.get("start", chess.STARTING_FEN), chess960=board.chess960)
    chess960 = ours.has_chess960_castling_rights()
    moves = [node.parent.board().uci(node.move, chess960=chess960) for node in game.mainline()]
    result = game.headers["Result"]
    return (
        board.clean_castling_rights() == ours.clean_castling_rights()
        and board.board_fen() == ours.board_fen()
        and (board.turn, board.halfmove_clock, board.fullmove_number) == (ours.turn, ours.halfmove_clock, ours.fullmove_number)
        and moves == expected["moves"].split()
        and (None if result == "*" else result) == expected["result"]
        and bool(game.errors) == ("fault" in expected)
    )


equal, different, faults = 0, 0, []
for name, expected in json.loads((folder / "expected.json").read_text()).items():
    # python-chess divides the text of such a file into other games.
    if all(game.get("python_chess") is False for game in expected):
        different += len(expected)
        continue
    games = list(games_of(text_of(folder / name)))
    if len(games) != len(expected):
        faults.append(f"{name}: {len(games)} games instead of {len(expected)}")
        continue
    for number, (ours, game) in enumerate(zip(expected, games), 1):
        agrees = ours.get("python_chess", True)
        if is_equal(ours, game) != agrees:
            moves = [move.uci() for move in game.mainline_moves()]
            faults.append(f"{name}, game {number}: python-chess reads {moves} {game.headers['Result']}, {game.errors}; expected {ours}")
        equal, different = equal + agrees, different + (not agrees)
assert not faults, "\n".join(faults)
print(f"{equal} games are equal, {different} differ as expected.json says")
