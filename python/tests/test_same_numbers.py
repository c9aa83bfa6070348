"""The package and the programs give the same numbers."""

import contextlib
import csv
import json
import subprocess

import numpy as np
import pytest
from azimuth_chess import Engine, Space
from chess.engine import Limit
from websockets.sync.client import connect

import chess

SEARCHES = {
    # The beam without verification has its own weights.
    "beam": ["--planner", "beam", "--verify", "none"],
    "selective": ["--planner", "selective"],
}

PATIENCE = 60
"""The longest wait for an event of the page, in seconds."""


@contextlib.contextmanager
def page(program):
    """A connection to ``azimuth serve``, as its web page makes it."""
    server = subprocess.Popen(
        [program("azimuth"), "serve", "--no-open", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        address = server.stdout.readline().split()[-1]
        origin = "/".join(address.split("/")[:3])
        with connect(address.replace("http", "ws", 1) + "socket", origin=origin) as socket:
            yield socket
    finally:
        server.kill()
        server.communicate()


def ask(socket, board, task, kind):
    """The last event of a kind that answers a task for a position."""
    request = {"type": "run", "id": 1, "fen": board.shredder_fen(), "moves": [], "task": task}
    socket.send(json.dumps(request))
    last = None
    while True:
        event = json.loads(socket.recv(timeout=PATIENCE))
        assert event["type"] != "error", event
        if event["type"] == kind:
            last = event
        elif event["type"] == "ended":
            assert last is not None, f"no event {kind}"
            return last


@pytest.mark.parametrize("name", SEARCHES)
def test_cosines_are_those_of_explain_to_the_last_bit(name, program, boards):
    space = getattr(Space, name)()
    for board in boards[::400]:
        output = subprocess.run(
            [program("azimuth"), "explain", "--json", "--depth", "1", *SEARCHES[name]]
            + [board.shredder_fen()],
            capture_output=True,
            text=True,
            check=True,
        )
        explained = json.loads(output.stdout)
        children, expected = [], []
        for move in explained["moves"]:
            after = board.copy(stack=False)
            after.push(board.parse_uci(move["uci"]))
            # The engine encodes neither mate nor stalemate.
            if any(after.legal_moves):
                children.append(after)
                expected.append(move["cosine"])
        assert np.float32(explained["position"]["cosine"]) == space.cosine(board)
        np.testing.assert_array_equal(-space.cosine(children), np.array(expected, np.float32))


def test_the_web_page_has_the_numbers_of_the_package_and_of_the_binary(program, boards):
    beam, selective = Space.beam(), Space.selective()
    with page(program) as socket:
        for board in boards[5::900]:
            # The map, by the beam's weights. Its cosines are computed from whole embeddings, which
            # are rounded.
            placed = ask(socket, board, {"name": "space", "sample": False}, "space")
            cosine = beam.cosine(board, pov="white")
            assert placed["path"][-1][0] == pytest.approx(cosine, abs=1e-6)
            compared = 0
            for candidate in placed["candidates"]:
                after = board.copy(stack=False)
                after.push(board.parse_uci(candidate["uci"]))
                # The engine encodes neither mate nor stalemate.
                if any(after.legal_moves):
                    cosine = beam.cosine(after, pov="white")
                    assert candidate["at"][0] == pytest.approx(cosine, abs=1e-6)
                    p = 1 - beam.win_probability(after)
                    assert candidate["p"] == pytest.approx(p, abs=1e-5)
                    compared += 1
            assert compared > 0

            # The explanation, by the selective search's weights: to the last bit.
            why = ask(socket, board, {"name": "why", "compared": []}, "why")["explanation"]
            output = subprocess.run(
                [program("azimuth"), "explain", "--json", "--depth", "1", board.shredder_fen()],
                capture_output=True,
                text=True,
                check=True,
            )
            explained = json.loads(output.stdout)
            assert why["position"] == explained["position"]
            assert np.float32(why["position"]["cosine"]) == selective.cosine(board)
            theirs, ours = (
                {move["uci"]: move["static"] for move in document["moves"]}
                for document in (why, explained)
            )
            common = theirs.keys() & ours.keys()
            assert common
            assert all(theirs[move] == ours[move] for move in common)


@pytest.mark.parametrize("name", ["beam", "selective", "mini"])
def test_embeddings_are_those_of_the_trainer(name, program, boards, weights, tmp_path):
    some = boards[:: 4 if name == "beam" else 40]
    labelled = tmp_path / "positions.epd"
    labelled.write_text("".join(f"{board.epd(shredder=True)} ce 0;\n" for board in some))
    file, output = weights / f"{name}.safetensors", tmp_path / "embeddings.npy"
    subprocess.run(
        [program("azimuth-train"), "embed", "--data", labelled]
        + ["--weights", file, "--out", output],
        check=True,
        capture_output=True,
    )
    with open(output.with_suffix(".csv"), newline="") as table:
        rows = list(csv.DictReader(table))
    fens = [row["fen"] for row in rows]
    assert len(fens) > 50
    space = Space(file)
    embeddings = np.load(output)
    if name == "mini":
        # Matrix products of another number of positions are rounded in another order.
        np.testing.assert_allclose(space.embed(fens), embeddings, atol=1e-5)
    else:
        np.testing.assert_array_equal(space.embed(fens), embeddings)
    np.testing.assert_allclose(
        space.win_probability(fens, pov="space"),
        np.array([row["win_probability"] for row in rows], np.float32),
        atol=1e-4,
    )


def test_searches_are_those_of_the_binary(program):
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")
    commands = f"position fen {board.fen()}\ngo depth 10\n"
    session = subprocess.Popen(
        [program("azimuth")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    session.stdin.write(commands)
    session.stdin.flush()
    lines = []
    while not (line := session.stdout.readline()).startswith("bestmove"):
        lines.append(line.split())
    session.communicate("quit\n")
    last = [words for words in lines if "score" in words][-1]
    with Engine() as engine:
        info = engine.analyse(board, Limit(depth=10))
    assert str(info["nodes"]) == last[last.index("nodes") + 1]
    assert str(info["score"].relative.score()) == last[last.index("cp") + 1]
    assert [move.uci() for move in info["pv"]] == last[last.index("pv") + 1 :]
