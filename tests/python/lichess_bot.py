"""Checks the configuration of lichess-bot in docs/examples. As in lichess-bot, its options are
passed to python-chess's configure, which refuses options that the engine lacks.

    lichess_bot.py AZIMUTH CONFIG [LICHESS_BOT]

LICHESS_BOT is the folder of lichess-bot. With it, the bot upgrades its account and plays six games
against a stand-in for lichess: a standard game to mate, a Chess960 game that castling decides, a
lost position, in which it resigns, a drawn one with an offer, one with pondering, and one with
limited strength.
"""

import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import chess
import chess.engine
import yaml
from lichess_server import Game, Lichess

# The longest time that the games of one start may take, in seconds.
PATIENCE = 600
azimuth, config, *lichess_bot = (Path(argument).resolve() for argument in sys.argv[1:])
text = config.read_text(encoding="utf-8")


def any_move(board: chess.Board) -> chess.Move:
    """The opponent of most games: some legal move, the same in each run."""
    return random.Random(board.ply()).choice(list(board.legal_moves))


def safe_move(board: chess.Board) -> chess.Move:
    """A move that ends nothing: the bot can move, is not in check, and can capture nothing."""
    for move in board.legal_moves:
        board.push(move)
        calm = not board.is_check() and any(board.legal_moves)
        calm = calm and not any(board.is_capture(reply) for reply in board.legal_moves)
        board.pop()
        if calm and not board.is_capture(move):
            return move
    raise AssertionError(f"no safe move: {board.fen()}")


def resigns_after_ten_moves(board: chess.Board) -> chess.Move | None:
    return any_move(board) if board.ply() < 20 else None


def play(games: list[Game], options: dict[str, object]) -> str:
    """Starts lichess-bot with the configuration and more options of the engine, and returns the
    engine's log after the last game."""
    server = Lichess(games)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "engines").mkdir()
        (Path(folder) / "engines/azimuth").symlink_to(azimuth)
        log = Path(folder) / "engine.log"
        settings = yaml.safe_load(text)
        settings["url"] = server.url()
        settings["engine"]["uci_options"] |= options | {"Debug Log File": str(log)}
        (Path(folder) / "config.yml").write_text(yaml.safe_dump(settings), encoding="utf-8")
        with (Path(folder) / "output").open("w+") as output:
            bot = subprocess.Popen(
                [sys.executable, str(lichess_bot[0] / "lichess-bot.py"), "-u", "--disable_auto_logging"],
                cwd=folder, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
            )  # fmt: skip
            finished = server.done.wait(PATIENCE)
            bot.send_signal(signal.SIGINT)
            try:
                bot.wait(30)
            except subprocess.TimeoutExpired:
                os.killpg(bot.pid, signal.SIGKILL)
                bot.wait()
            output.seek(0)
            said = output.read()
        assert finished and not server.faults, f"{server.faults}\n{said}"
        assert server.is_bot and "ERROR" not in said and "Traceback" not in said, said
        return log.read_text(encoding="utf-8")


def commented_options() -> dict[str, object]:
    """The options of limited strength, which are comments in the configuration."""
    lines = re.findall(r"^ +# (UCI_\w+: .*)$", text, re.MULTILINE)
    options: dict[str, object] = yaml.safe_load("\n".join(lines))
    assert options.keys() == {"UCI_LimitStrength", "UCI_Elo"}, options
    return options


with chess.engine.SimpleEngine.popen_uci(str(azimuth)) as engine:
    engine.configure(yaml.safe_load(text)["engine"]["uci_options"] | commented_options())
if not lichess_bot:
    print("done")
    sys.exit()

standard = Game("standard", chess.BLACK, any_move)
# Only castling mates: the king takes the rook on g1.
chess960 = Game(
    "chess960", chess.WHITE, any_move, "chess960", "5k2/3B4/2N5/p2pp3/6R1/8/8/5KR1 w K - 0 1"
)
resign = Game(
    "resign", chess.BLACK, safe_move, "fromPosition", "4k3/8/8/8/8/8/8/QR2K3 w - - 0 1",
    "e1e2 e8e7", ends="resign",
)  # fmt: skip
draw = Game(
    "draw", chess.WHITE, safe_move, "fromPosition", "4k3/4n3/8/8/8/8/4B3/4K3 w - - 0 1",
    "e1d1 e8d8", offers_draw=True, ends="draw",
)  # fmt: skip
# Mate in two, and Black has one reply: the bot ponders on it.
ponder = Game(
    "ponder",
    chess.WHITE,
    any_move,
    "fromPosition",
    "k7/2K3p1/8/1P6/8/8/8/6B1 w - - 0 1",
    "g1e3 g7g6",
)
limited = Game("limited", chess.WHITE, resigns_after_ten_moves, ends="resign")

games = [standard, chess960, resign, draw, ponder]
log = play(games, {})
for line in ("setoption name UCI_Chess960 value true", "go ponder", "ponderhit"):
    assert line in log, f"no '{line}' in\n{log}"
assert "UCI_LimitStrength value true" not in log
log = play([limited], commented_options())
for line in ("setoption name UCI_LimitStrength value true", "setoption name UCI_Elo value 1500"):
    assert line in log, f"no '{line}' in\n{log}"

for game in [*games, limited]:
    print(f"{game.name}: {game.status}, {game.winner or 'no winner'}, {game.board.ply()} plies")
    winner = {"resign": "white", "draw": None}.get(game.name, chess.COLOR_NAMES[game.bot])
    assert (game.status, game.winner) == (game.ends, winner), game.board
    assert any("Azimuth" in line for line in game.chat), game.chat
assert chess960.board.move_stack == [chess.Move.from_uci("f1g1")] and draw.agrees
print("done")
