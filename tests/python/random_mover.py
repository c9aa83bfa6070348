"""A UCI engine that plays uniformly random legal moves. Argument: a seed (optional)."""

import random
import sys

import chess

random.seed(int(sys.argv[1]) if len(sys.argv) > 1 else None)
board = chess.Board()
for line in sys.stdin:
    match line.split():
        case ["uci"]:
            print("id name random mover\nuciok")
        case ["isready"]:
            print("readyok")
        case ["position", "startpos", *rest]:
            board = chess.Board()
            for move in rest[1:]:
                board.push_uci(move)
        case ["position", "fen", *rest]:
            end = rest.index("moves") if "moves" in rest else len(rest)
            board = chess.Board(" ".join(rest[:end]))
            for move in rest[end + 1 :]:
                board.push_uci(move)
        case ["go", *_]:
            moves = list(board.legal_moves)
            print("bestmove", random.choice(moves).uci() if moves else "(none)")
        case ["quit"]:
            break
    sys.stdout.flush()
