"""Reads the games of a match with python-chess and checks their moves, scores, times and
results."""

import sys

import chess.pgn

games = 0
with open(sys.argv[1]) as file:
    while game := chess.pgn.read_game(file):
        assert not game.errors, game.errors
        games += 1
        for node in game.mainline():
            assert node.eval() is not None, node
            assert node.emt() is not None, node
        over = game.end().board().outcome(claim_draw=True)
        assert over is not None and over.result() == game.headers["Result"], game.headers
print(f"{games} games, every move legal, with a score and a time")
