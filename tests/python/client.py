"""Uses Azimuth through python-chess: sets every option, analyses, plays, ponders, stops, kills the
engine during a search and starts another."""

import os
import signal
import sys
import time

import chess
import chess.engine

azimuth, weights, tables, log = sys.argv[1:5]
MIDDLEGAME = "r1bq1rk1/1p2bppp/p1nppn2/8/3NPP2/2N1B3/PPP1B1PP/R2Q1RK1 w - - 4 10"
TEXTS = {
    "WeightsFile": weights,
    "SyzygyPath": tables,
    "Debug Log File": log,
    "LogFile": log,
    "UCI_Opponent": "GM 2800 human Gary Kasparow",
    "UCI_EngineAbout": "",
}


def values(option):
    """Values to set an option to, the default last."""
    match option.type:
        case "spin":
            largest = min(option.max, 64)
            return [option.min, max(option.min, largest), option.default]
        case "check":
            return [True, False, option.default]
        case "combo":
            # A machine without a GPU refuses cuda with a message.
            return [*(name for name in option.var if name != "cuda"), option.default]
        case "string":
            return [TEXTS[option.name], option.default]
        case "button":
            return [None]
    raise AssertionError(f"{option.name}: unknown type {option.type}")


def configure_everything(engine):
    for option in engine.options.values():
        if not option.is_managed():
            for value in values(option):
                engine.configure({option.name: value})
                engine.ping()
    print(len(engine.options), "options")


def assert_legal(board, moves):
    board = board.copy()
    for move in moves:
        assert board.is_legal(move), f"{move} in {board.fen()}"
        board.push(move)


def analyse(engine):
    board = chess.Board(MIDDLEGAME)
    lines = engine.analyse(board, chess.engine.Limit(time=0.2), multipv=4)
    assert [line["multipv"] for line in lines] == [1, 2, 3, 4], lines
    assert len({line["pv"][0] for line in lines}) == 4, lines
    scores = [line["score"].relative for line in lines]
    assert scores == sorted(scores, reverse=True), scores
    for line in lines:
        assert_legal(board, line["pv"])
        assert line["depth"] > 6, "a clock is there to be used"
    engine.configure({"UCI_ShowWDL": True})
    info = engine.analyse(board, chess.engine.Limit(depth=4))
    wdl = info["wdl"].relative
    assert wdl.wins + wdl.draws + wdl.losses == 1000, wdl
    assert {"depth", "seldepth", "score", "nodes", "nps", "hashfull", "tbhits", "time"} <= info.keys()
    only = list(board.legal_moves)[-2:]
    best = engine.analyse(board, chess.engine.Limit(depth=3), root_moves=only)
    assert best["pv"][0] in only, best


def play(engine):
    """A game with pondering at every other move. Every other ponder move is played."""
    board = chess.Board()
    clock = chess.engine.Limit(white_clock=2, black_clock=2, white_inc=0.01, black_inc=0.01)
    for ply in range(40):
        result = engine.play(board, clock, info=chess.engine.INFO_ALL, ponder=ply % 2 == 0)
        assert board.is_legal(result.move)
        assert_legal(board, result.info["pv"])
        board.push(result.move)
        replies = list(board.legal_moves)
        if not replies:
            break
        board.push(result.ponder if ply % 4 == 0 and result.ponder else replies[0])
        if board.is_game_over():
            break
    print(board.fullmove_number, "moves played with pondering")


def stop(engine):
    with engine.analysis(chess.Board(MIDDLEGAME)) as analysis:
        for info in analysis:
            if info.get("depth", 0) >= 7:
                break
        analysis.stop()
        best = analysis.wait()
    assert best.move in chess.Board(MIDDLEGAME).legal_moves


def solve_with_tables(engine):
    engine.configure({"SyzygyPath": tables})
    board = chess.Board("8/8/8/8/8/4k3/8/4K2Q w - - 0 1")
    while not board.is_game_over(claim_draw=True):
        result = engine.play(board, chess.engine.Limit(depth=4), info=chess.engine.INFO_ALL)
        if board.turn == chess.WHITE:
            known = result.info["tbhits"] > 0 or result.info["score"].is_mate()
            assert known, result.info
        board.push(result.move)
    assert board.is_checkmate() and board.turn == chess.BLACK, board.fen()


def lose_engine_in_a_search():
    engine = chess.engine.SimpleEngine.popen_uci(azimuth)
    process = engine.transport.get_pid()
    try:
        with engine.analysis(chess.Board()) as analysis:
            time.sleep(0.1)
            os.kill(process, signal.SIGKILL)
            analysis.wait()
        raise AssertionError("a dead engine answered")
    except chess.engine.EngineTerminatedError:
        pass
    engine.close()


lose_engine_in_a_search()
with chess.engine.SimpleEngine.popen_uci(azimuth) as engine:
    configure_everything(engine)
    for step in (analyse, play, stop, solve_with_tables):
        step(engine)
with open(log, encoding="utf-8") as lines:
    assert any("setoption name" in line for line in lines)
print("done")
