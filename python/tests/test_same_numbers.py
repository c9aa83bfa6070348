"""The package and the programs give the same numbers."""

import csv
import json
import subprocess

import numpy as np
import pytest
from azimuth_chess import Engine, Space
from chess.engine import Limit

import chess

SEARCHES = {
    # The beam without verification has the default weights.
    "default": ["--planner", "beam", "--verify", "none"],
    "selective": ["--planner", "selective"],
}


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


@pytest.mark.parametrize("name", ["default", "selective", "mini"])
def test_embeddings_are_those_of_the_trainer(name, program, boards, weights, tmp_path):
    some = boards[:: 4 if name == "default" else 40]
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
