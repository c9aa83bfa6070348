"""The engine through python-chess."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from xml.etree import ElementTree

import azimuth_chess
import pytest
from azimuth_chess import Engine
from chess.engine import Cp, EngineError, Limit, Mate, PovScore

import chess

MATE_IN_ONE = chess.Board("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1")


@pytest.fixture(scope="module")
def engine():
    with Engine() as engine:
        yield engine


def test_it_plays_and_analyses(engine):
    assert engine.id["name"].startswith("Azimuth")
    assert engine.play(MATE_IN_ONE, Limit(depth=8)).move == chess.Move.from_uci("a1a8")
    info = engine.analyse(MATE_IN_ONE, Limit(time=0.1))
    assert info["score"] == PovScore(Mate(1), chess.WHITE)
    lines = engine.analyse(chess.Board(), Limit(depth=4), 3)
    assert len({line["pv"][0] for line in lines}) == 3
    assert all(isinstance(line["score"].relative, Cp) for line in lines)


def test_it_plays_a_game():
    board = chess.Board()
    with Engine(planner="beam") as white, Engine(planner="selective", threads=2, hash=32) as black:
        while len(board.move_stack) < 12:
            player = white if board.turn else black
            board.push(player.play(board, Limit(depth=2)).move)
    assert board.is_valid()


def test_the_planner_and_the_weights_are_those_asked_for(weights):
    position = chess.Board()
    nodes = {}
    for name, options in {
        "beam": {"planner": "beam"},
        "selective": {"planner": "selective"},
        "beam's weights": {"planner": "selective", "weights": weights / "beam.safetensors"},
    }.items():
        with Engine(**options) as engine:
            nodes[name] = engine.analyse(position, Limit(depth=6))["nodes"]
    assert len(set(nodes.values())) == 3


def test_bad_settings_are_errors(tmp_path):
    for settings in [{"planner": "other"}, {"threads": 0}, {"options": {"Nonsense": 1}}]:
        with pytest.raises(EngineError):
            Engine(**settings)
    with pytest.raises(FileNotFoundError, match="none.safetensors"):
        Engine(weights=tmp_path / "none.safetensors")
    notes = tmp_path / "notes.txt"
    notes.write_text("no weights")
    with pytest.raises(ValueError, match="notes.txt"):
        Engine(weights=notes)


def test_it_explains(engine):
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")
    nxe5 = board.parse_san("Nxe5")
    explained = engine.explain(board, Limit(depth=6), compare=[nxe5])
    assert explained.planner == "beam"
    assert explained.depth == 6
    assert explained.move == explained.pv[0]
    assert "Nxe5" in explained.reason == str(explained)
    assert {move.move for move in explained.moves} == set(board.legal_moves)
    assert sorted(move.rank_before for move in explained.moves) == list(
        range(1, board.legal_moves.count() + 1)
    )
    best, capture = explained.moves[0], next(m for m in explained.moves if m.move == nxe5)
    exact = [move for move in explained.moves if move.bound == "exact"]
    exact.sort(key=lambda move: move.rank_after)
    assert [move.rank_after for move in exact] == list(range(1, len(exact) + 1))
    scores = [move.score.white() for move in exact]
    assert scores == sorted(scores, reverse=True)
    assert [move.san for move in exact[:2]] == ["Bc4", "d4"]
    assert best.rank_after == 1
    assert capture.score.white() < best.score.white()
    assert explained.json["format_version"] == 1


def test_it_explains_with_the_options_that_are_configured():
    with Engine(options={"Planner": "selective"}) as engine:
        assert engine.explain(chess.Board(), Limit(depth=2)).planner == "selective"
        engine.configure({"planner": "beam"})
        assert repr(engine) == "<Engine planner='beam'>"
        assert engine.explain(chess.Board(), Limit(nodes=2000)).planner == "beam"


def test_it_explains_with_the_moves_before_the_position(engine):
    board = chess.Board()
    for move in ["Nf3", "Nf6", "Ng1", "Ng8", "Nf3", "Nf6", "Ng1"]:
        board.push_san(move)
    # ...Ng8 repeats the position for the third time, which is a draw.
    repeated = {m.san: m for m in engine.explain(board, Limit(depth=3)).moves}["Ng8"]
    assert repeated.static == PovScore(Cp(0), chess.BLACK)


def test_it_explains_with_the_moves_after_a_null_move(engine):
    board = chess.Board()
    board.push_san("e4")
    board.push(chess.Move.null())
    for move in ["Nf3", "Nf6", "Ng1", "Ng8", "Nf3", "Nf6", "Ng1"]:
        board.push_san(move)
    explained = engine.explain(board, Limit(depth=3))
    repeated = {m.san: m for m in explained.moves}["Ng8"]
    assert repeated.static == PovScore(Cp(0), chess.BLACK)
    board.push(chess.Move.null())
    explained = engine.explain(board, Limit(depth=2))
    assert {move.move for move in explained.moves} == set(board.legal_moves)
    assert engine.play(board, Limit(depth=2)).move in board.legal_moves


def test_jupyter_shows_an_explanation(engine):
    shown = engine.explain(chess.Board(), Limit(depth=2))._repr_html_()
    page = ElementTree.fromstring(shown)
    assert page.find("{http://www.w3.org/2000/svg}svg") is not None
    assert len(page.findall("table/tbody/tr")) == 8
    assert page.findall("p")[1].text == "12 more moves"
    only = chess.Board("7k/8/8/8/8/8/q7/7K w - - 0 1")
    explained = engine.explain(only, Limit(depth=2))
    page = ElementTree.fromstring(explained._repr_html_())
    [row] = page.findall("table/tbody/tr")
    assert row.findtext("td") == explained.moves[0].san == "Kg1"
    assert [paragraph.text for paragraph in page.findall("p")] == [explained.reason]


def test_an_analysis_streams(engine):
    board = chess.Board()
    with engine.analysis(board, multipv=2) as analysis:
        for info in analysis:
            if info.get("depth", 0) >= 5 and info.get("multipv") == 2:
                break
        assert len(analysis.multipv) == 2
        assert analysis.info["pv"][0] in board.legal_moves
    assert analysis.wait().move in board.legal_moves
    endless = engine.analysis(board)
    endless.stop()
    assert endless.wait().move in board.legal_moves
    limited = list(engine.analysis(board, Limit(depth=4), root_moves=[board.parse_san("a3")]))
    assert {info["pv"][0].uci() for info in limited if "pv" in info} == {"a2a3"}
    assert engine.play(MATE_IN_ONE, Limit(depth=4)).move == chess.Move.from_uci("a1a8")


def test_impossible_boards_are_refused_and_the_engine_goes_on(engine, impossible_boards):
    limit = Limit(depth=1)
    turned, jumped = chess.Board(), chess.Board()
    turned.push_san("e4")
    turned.turn = chess.WHITE
    jumped.push(chess.Move.from_uci("e2e5"))
    more = [
        (chess.Board.empty(), ValueError, "FEN '8/8/8/8/8/8/8/8 w - - 0 1': not a legal board"),
        (
            turned,
            ValueError,
            "the board's moves lead to 'rnbq.* b .*', not to 'rnbq.* w .*': board.",
        ),
        (jumped, ValueError, "the board's move e2e5 is illegal in 'rnbq"),
        (chess.STARTING_FEN, TypeError, "expected a chess.Board, got str"),
    ]
    for board, kind, message in impossible_boards + more:
        for search in (engine.play, engine.analyse, engine.analysis, engine.explain):
            with pytest.raises(kind, match=f"^{message}"):
                search(board, limit)
    assert engine.play(turned.copy(stack=False), limit).move
    assert engine.play(MATE_IN_ONE, limit).move == chess.Move.from_uci("a1a8")


def test_arguments_that_python_chess_cannot_send_are_refused():
    board, limit = chess.Board(), Limit(depth=1)
    with Engine() as engine:
        for arguments, options, kind, message in [
            ([limit], {"root_moves": ["e2e4"]}, TypeError, "move: expected a chess.Move, got str"),
            (
                [limit],
                {"root_moves": [chess.Move.from_uci("e2e5")]},
                ValueError,
                "the move e2e5 is illegal in 'rnbq",
            ),
            ([Limit(depth="x")], {}, TypeError, "limit.depth: expected a number, got str"),
            ([Limit(time=float("nan"))], {}, ValueError, "limit.time: expected a finite number"),
            ([Limit(white_clock=float("inf"))], {}, ValueError, "limit.white_clock: expected a f"),
            ([3], {}, TypeError, "limit: expected a chess.engine.Limit, got int"),
        ]:
            for search in (engine.play, engine.analyse, engine.analysis):
                with pytest.raises(kind, match=f"^{message}"):
                    search(board, *arguments, **options)
        for search in (engine.play, engine.analysis):
            with pytest.raises(TypeError, match="^info: expected chess.engine.Info, got str"):
                search(board, limit, info="x")
        for search in (engine.analyse, engine.analysis):
            with pytest.raises(TypeError, match="^multipv: expected a number, got list"):
                search(board, limit, multipv=[])
        for options, name in [({"Hash": []}, "option Hash"), ({1: 2}, "name of an option")]:
            with pytest.raises(TypeError, match=f"^{name}: expected a string"):
                engine.configure(options)
        with pytest.raises(TypeError, match="^limit.depth: expected a number, got str"):
            engine.explain(board, Limit(depth="x"))
        with pytest.raises(ValueError, match="^the move e2e5 is illegal in 'rnbq"):
            engine.explain(board, limit, compare=[chess.Move.from_uci("e2e5")])
        a3 = chess.Move.from_uci("a2a3")
        assert engine.play(board, limit, root_moves=iter([a3])).move == a3


def test_a_forked_process_needs_its_own_engine(engine, forked):
    for use in (
        lambda: engine.play(chess.Board(), Limit(depth=1)),
        lambda: engine.analysis(chess.Board()),
        lambda: engine.configure({"Hash": 16}),
        lambda: engine.id,
        engine.quit,
    ):
        error = forked(use)
        assert isinstance(error, RuntimeError)
        assert str(error) == "the engine runs for the parent process: make another Engine"

    def other():
        with Engine() as engine:
            return engine.play(MATE_IN_ONE, Limit(depth=1)).move.uci()

    assert forked(other) == "a1a8"
    assert engine.play(MATE_IN_ONE, Limit(depth=1)).move == chess.Move.from_uci("a1a8")


def test_there_is_nothing_to_explain_in_a_finished_game(engine):
    mated = chess.Board("R5k1/5ppp/8/8/8/8/8/4K3 b - - 0 1")
    with pytest.raises(ValueError, match="there is no legal move to explain, checkmate"):
        engine.explain(mated)
    with pytest.raises(ValueError, match="explain takes a limit of time, depth or nodes"):
        engine.explain(chess.Board(), Limit(white_clock=60))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_ends_a_search_and_the_engine_goes_on():
    script = textwrap.dedent(
        """
        import chess, azimuth_chess
        from chess.engine import Limit
        with azimuth_chess.Engine() as engine:
            def analysis(board, limit):
                with engine.analysis(board) as infos:
                    for info in infos:
                        pass
            for search in (engine.play, engine.analyse, analysis):
                print("searching", flush=True)
                try:
                    search(chess.Board(), Limit(time=600))
                except KeyboardInterrupt:
                    print("ended", flush=True)
            print(engine.play(chess.Board(), Limit(depth=2)).move, flush=True)
        """
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        for _ in range(3):
            assert child.stdout.readline() == "searching\n"
            time.sleep(1)
            # As a terminal does: to the whole group of processes.
            os.killpg(child.pid, signal.SIGINT)
            assert child.stdout.readline() == "ended\n"
        assert chess.Move.from_uci(child.stdout.readline().strip())
        assert child.wait(20) == 0
    finally:
        child.kill()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGINT for one process")
def test_ctrl_c_ends_embedding():
    script = (
        "import azimuth_chess, itertools, chess\n"
        "print('embedding', flush=True)\n"
        "azimuth_chess.Space.beam().embed(itertools.repeat(chess.Board()))"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "embedding\n"
        time.sleep(1)
        child.send_signal(signal.SIGINT)
        _, errors = child.communicate(timeout=20)
        assert errors.strip().endswith("KeyboardInterrupt")
    finally:
        child.kill()


def test_the_wheel_installs_the_command():
    version = subprocess.run(["azimuth", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.splitlines()[0] == f"azimuth {azimuth_chess.__version__}"
    session = subprocess.run(
        [sys.executable, "-m", "azimuth_chess"],
        input="position startpos\ngo depth 2\nquit\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "bestmove" in session.stdout
    bad = subprocess.run(["azimuth", "explain", "x"], capture_output=True, text=True)
    assert bad.returncode == 1
    assert bad.stderr.startswith("azimuth: FEN 'x': ")
