"""Prints positions of random games, standard and Chess960, as FEN and ChessBench tokens, one per
line. The tokens are computed from python-chess's FEN, independently of the engine's code."""

import random
import sys

import chess

CHARACTERS = {
    **{str(digit): digit for digit in range(10)},
    **{"a": 10, "b": 30, "c": 12, "d": 13, "e": 14, "f": 15, "g": 16, "h": 17},
    **{"p": 18, "n": 19, "r": 20, "k": 21, "q": 22},
    **{"P": 23, "B": 24, "N": 25, "R": 26, "Q": 27, "K": 28},
    **{"w": 29, "-": 31, ".": 32},
}

def tokens(board):
    placement, side, _, square, halfmoves, fullmoves = board.fen(en_passant="legal").split()
    squares = "".join("." * int(c) if c.isdigit() else c for c in placement.replace("/", ""))
    rights = ""
    for color, letters in ((chess.WHITE, "KQ"), (chess.BLACK, "kq")):
        rights += letters[0] if board.has_kingside_castling_rights(color) else ""
        rights += letters[1] if board.has_queenside_castling_rights(color) else ""
    rights = (rights or "-").ljust(4, ".")
    square = ".." if square == "-" else square
    counters = "".join(str(min(int(count), 999)).zfill(3) for count in (halfmoves, fullmoves))
    return [CHARACTERS[c] for c in side + squares + rights + square + counters]


def main(count, seed):
    random.seed(seed)
    printed = 0
    while printed < count:
        if random.random() < 0.5:
            board = chess.Board.from_chess960_pos(random.randrange(960))
        else:
            board = chess.Board()
        board.fullmove_number = random.choice([1, 1, 90, 990, 5000])
        for _ in range(random.randrange(20, 160)):
            if board.is_game_over():
                break
            board.push(random.choice(list(board.legal_moves)))
            seen = board.copy(stack=False)
            if random.random() < 0.05:
                seen.halfmove_clock = random.choice([99, 100, 101, 250, 999, 1000, 2500])
            print(seen.fen(), ",".join(map(str, tokens(seen))), sep="\t")
            printed += 1
            if printed == count:
                break


main(int(sys.argv[1]), int(sys.argv[2]))
