"""Writes the same labelled positions in every format, with Python libraries where they exist:
write_data.py FOLDER.

Prints the expected result of the readers as CSV: the FEN of every position, in order, and its
score from White's view, in centipawns or as #1 or #-1."""

import csv
import json
import math
import random
import struct
import sys

import bagz
import chess
import chess.engine
import chess.pgn
import zstandard

SLOPE = 0.00368208


def varint(number):
    """The encoding of apache_beam's VarIntCoder, which ChessBench's files use."""
    out = b""
    while number > 0x7F:
        out += bytes([number & 0x7F | 0x80])
        number >>= 7
    return out + bytes([number])


def random_games(count):
    """Random games, a third of them from a middlegame position, with a label for every position."""
    rng = random.Random(5)
    for number in range(count):
        board = chess.Board(chess960=False)
        if number % 3 == 1:
            board = chess.Board("r3k2r/1P1ppppp/8/2pP4/8/8/P1PPPPp1/R3K2R w KQkq c6 0 9")
        game = chess.pgn.Game()
        game.setup(board)
        node = game
        for _ in range(60):
            moves = list(board.legal_moves)
            if not moves:
                break
            main, *others = rng.sample(moves, min(3, len(moves)))
            for move in [main, *others]:
                child = node.add_variation(move)
                mate = rng.random() < 0.05
                sign = rng.choice([-1, 1])
                score = chess.engine.Mate(sign * 3) if mate else chess.engine.Cp(rng.randint(-1500, 1500))
                child.set_eval(chess.engine.PovScore(score, chess.WHITE))
            node = node.variations[0]
            board.push(main)
        yield game


def families(game):
    """The nodes of the main line that have children, from the start on, as the reader numbers
    them."""
    node = game
    while node.variations:
        yield node
        node = node.variations[0]


def label(node):
    score = node.eval().white()
    return f"#{1 if score.mate() > 0 else -1}" if score.is_mate() else str(score.score())


def win_probability(text, board):
    if text.startswith("#"):
        p = 0.0 if "-" in text else 1.0
    else:
        p = 1 / (1 + math.exp(-SLOPE * int(text)))
    return p if board.turn == chess.WHITE else 1 - p


def main(folder):
    games = list(random_games(30))
    with open(f"{folder}/games.pgn", "w") as out:
        for game in games:
            print(game, file=out, end="\n\n")
    with open(f"{folder}/games.pgn", "rb") as plain, open(f"{folder}/zipped.pgn.zst", "wb") as out:
        zstandard.ZstdCompressor().copy_stream(plain, out)

    positions, seen = [], set()
    for game in games:
        for parent in families(game):
            for child in parent.variations:
                board = child.board()
                # Like the reader, python-chess writes en passant only if a capture is legal.
                key = board.fen().rsplit(" ", 2)[0]
                if any(board.legal_moves) and key not in seen:
                    seen.add(key)
                    positions.append((board, label(child)))

    with open(f"{folder}/positions.csv", "w", newline="") as out:
        rows = csv.writer(out, quoting=csv.QUOTE_ALL)
        rows.writerow(["fen", "cp"])
        rows.writerows((board.fen(), text) for board, text in positions)
    with open(f"{folder}/probabilities.csv", "w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["id", "FEN", "win_prob"])
        rows.writerows((i, b.fen(), repr(win_probability(t, b))) for i, (b, t) in enumerate(positions))

    with open(f"{folder}/positions.epd", "w") as out:
        for board, text in positions:
            sign = 1 if board.turn == chess.WHITE else -1
            if text.startswith("#"):
                operations = {"dm": 3 * sign * int(text[1:])}
            else:
                operations = {"ce": sign * int(text)}
            operations |= {"hmvc": board.halfmove_clock, "fmvn": board.fullmove_number, "id": "a; b"}
            print(board.epd(**operations), file=out)

    for name in ("positions.bag", "positions.bagz"):
        with bagz.Writer(f"{folder}/{name}") as out:
            for board, text in positions:
                fen = board.fen().encode()
                out.write(varint(len(fen)) + fen + struct.pack(">d", win_probability(text, board)))

    lines = ""
    for board, text in positions:
        score = {"mate": int(text[1:]) * 3} if text.startswith("#") else {"cp": int(text)}
        move = next(iter(board.legal_moves)).uci()
        shallow = {"pvs": [{"cp": 1, "line": move}], "knodes": 1, "depth": 3}
        deep = {"pvs": [{**score, "line": move}], "knodes": 9, "depth": 30}
        lines += json.dumps({"fen": board.epd(), "evals": [shallow, deep]}) + "\n"
    with open(f"{folder}/positions.jsonl.zst", "wb") as out:
        out.write(zstandard.ZstdCompressor(level=3).compress(lines.encode()))

    for board, text in positions:
        print(f"{board.fen()},{text}")


main(sys.argv[1])
