"""Plays a move with the engine section of the lichess-bot configuration in docs/uci.md. As in
lichess-bot, the YAML is passed to python-chess's configure, which refuses options that the
engine lacks."""

import os
import re
import sys

import chess
import chess.engine
import yaml

azimuth, guide = sys.argv[1:3]
with open(guide, encoding="utf-8") as text:
    block = re.search(r"```yaml\n(.*?)```", text.read(), re.DOTALL)
config = yaml.safe_load(block[1])
for section in ("token", "url", "engine", "challenge"):
    assert config.get(section), f"{section} is missing"
settings = config["engine"]
assert settings["protocol"] == "uci" and settings["name"] == os.path.basename(azimuth), settings
with chess.engine.SimpleEngine.popen_uci(azimuth) as engine:
    engine.configure(settings["uci_options"])
    for variant in config["challenge"]["variants"]:
        board = chess.Board.from_chess960_pos(44) if variant == "chess960" else chess.Board()
        limit = chess.engine.Limit(white_clock=60, black_clock=60, white_inc=1, black_inc=1)
        result = engine.play(board, limit, ponder=settings["ponder"], info=chess.engine.INFO_ALL)
        assert result.move in board.legal_moves and "wdl" in result.info, result
print("done")
