"""Plays Azimuth against Stockfish at its lowest setting, once with each colour, until the rules end
the game. python-chess raises an error at an illegal move, a crash or a missing answer."""

import sys

import chess
import chess.engine
import chess.pgn

azimuth_path, stockfish_path = sys.argv[1:3]
finished = 0
with (
    chess.engine.SimpleEngine.popen_uci(azimuth_path) as azimuth,
    chess.engine.SimpleEngine.popen_uci(stockfish_path) as stockfish,
):
    stockfish.configure({"UCI_LimitStrength": True, "UCI_Elo": 1350})
    for color in chess.COLORS:
        board = chess.Board()
        while not board.is_game_over(claim_draw=True):
            if board.turn == color:
                result = azimuth.play(board, chess.engine.Limit(depth=4), info=chess.engine.INFO_ALL)
                line = board.copy()
                for move in result.info["pv"]:
                    assert line.is_legal(move), f"illegal PV in {board.fen()}"
                    line.push(move)
            else:
                result = stockfish.play(board, chess.engine.Limit(nodes=1000))
            assert result.move is not None, f"no move in {board.fen()}"
            board.push(result.move)
        print(chess.pgn.Game.from_board(board))
        finished += 1
print(f"{finished} games finished")
