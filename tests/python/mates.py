"""Mates are announced truthfully: mates.py ENGINE POSITIONS.epd COUNT NODES [OPTION=VALUE ...]

POSITIONS has positions with a known mate (EPD operation dm; negative where the side to move is
mated). Each is searched with NODES nodes. The line of every announced mate, also of one that a later
depth improves, must be legal. It must end in checkmate after the announced number of moves, unless
the transposition table cut it short. The side that mates must be the known one. For short mates,
python-chess tries every defence. Prints the number of announced mates and of lines cut short."""

import sys

import chess
import chess.engine

PROOF = 2  # moves of the longest mate that is proved


def mates_in(board, moves):
    """Whether the side to move mates in at most `moves` moves against every defence."""
    for move in list(board.legal_moves):
        board.push(move)
        mated = board.is_checkmate() or (
            moves > 1
            and not board.is_stalemate()
            and all(answered(board, reply, moves - 1) for reply in list(board.legal_moves))
        )
        board.pop()
        if mated:
            return True
    return False


def answered(board, reply, moves):
    board.push(reply)
    mated = mates_in(board, moves)
    board.pop()
    return mated


def check(board, mate, line, known):
    place = f"{board.fen()}: mate {mate}"
    assert (mate > 0) == (known > 0), f"{place}: the other side mates, in {known}"
    after = board.copy()
    for move in line:
        assert after.is_legal(move), f"{place}: {move} is illegal"
        after.push(move)
    plies = 2 * mate - 1 if mate > 0 else -2 * mate
    assert len(line) <= plies, f"{place}: its line has {len(line)} half-moves, more than {plies}"
    is_whole = len(line) == plies
    assert after.is_checkmate() == is_whole, f"{place}: {len(line)} half-moves end in {after.fen()}"
    if 0 < mate <= PROOF:
        assert mates_in(board.copy(stack=False), mate), f"{place}: there is a defence"
    return is_whole


path, positions, count, nodes, *options = sys.argv[1:]
with open(positions, encoding="ascii") as file:
    records = [line.strip() for line in file if line.strip()]
records = records[:: max(1, len(records) // int(count))][: int(count)]
announced, lines, short = 0, 0, 0
with chess.engine.SimpleEngine.popen_uci(path) as engine:
    engine.configure(dict(option.split("=", 1) for option in options))
    for number, record in enumerate(records):
        board = chess.Board()
        known = board.set_epd(record)["dm"]
        found = False
        with engine.analysis(board, chess.engine.Limit(nodes=int(nodes)), game=number) as analysis:
            for info in analysis:
                score = info.get("score")
                if score is None or "upperbound" in info or "lowerbound" in info:
                    continue
                mate = score.relative.mate()
                if mate:
                    short += not check(board, mate, info["pv"], known)
                    lines += 1
                    found = True
        announced += found
print(f"{announced} of {len(records)} mates announced, {short} of {lines} lines cut short")
