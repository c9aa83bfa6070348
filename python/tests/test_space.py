"""Embeddings, cosines and win probabilities."""

import copy
import pickle
import threading
import time

import numpy as np
import pytest
from azimuth_chess import Calibration, Space
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, cross_val_score
from sklearn.pipeline import make_pipeline

import chess

BLACK_WINS = "4k3/8/8/8/8/8/3q4/7K b - - 0 1"


@pytest.fixture(scope="module", params=["beam", "selective", "mini"])
def space(request, weights):
    if request.param == "mini":
        return Space(weights / "mini.safetensors")
    return getattr(Space, request.param)()


def test_embeddings_are_unit_vectors(space, boards):
    some = boards[:100]
    embeddings = space.embed(some)
    assert embeddings.shape == (100, space.dim)
    assert embeddings.dtype == np.float32
    assert embeddings.flags["C_CONTIGUOUS"]
    np.testing.assert_allclose(np.linalg.norm(embeddings, axis=1), 1, atol=1e-5)
    assert space.embed([]).shape == (0, space.dim)


def test_one_position_has_one_row(space):
    board = chess.Board()
    assert space.embed(board).shape == (space.dim,)
    assert isinstance(space.cosine(board), float)
    assert space.win_probability(board) == pytest.approx(float(space.win_probability([board])[0]))


def test_boards_and_fens_have_the_same_numbers(boards):
    space = Space.beam()
    fens = [board.shredder_fen() for board in boards]
    assert len(fens) > 3000
    np.testing.assert_array_equal(space.embed(boards), space.embed(fens))


def test_tokens_of_boards_and_fens_are_equal(weights, boards):
    # Tokens also have castling rights, en passant squares and counters.
    mini = Space(weights / "mini.safetensors")
    for board in boards:
        of_board, of_fen = mini.features(board), mini.features(board.shredder_fen())
        assert of_board.tokens.shape == (77,)
        np.testing.assert_array_equal(of_board.tokens, of_fen.tokens)


def test_iterables_and_threads_change_nothing(boards):
    space = Space.beam()
    expected = space.embed(boards, threads=1)
    for threads in (2, 3, None):
        np.testing.assert_array_equal(space.embed(iter(boards), threads=threads), expected)
    np.testing.assert_array_equal(
        space.embed(np.array([b.fen() for b in boards[:9]])), expected[:9]
    )
    with pytest.raises(ValueError, match="threads must be at least 1"):
        space.embed(boards, threads=0)


def test_the_axis_gives_cosines_and_the_calibration_win_probabilities(space, boards):
    some = boards[:300]
    cosines = space.cosine(some, pov="space")
    np.testing.assert_allclose(space.embed(some) @ space.axis, cosines, atol=1e-4)
    assert np.linalg.norm(space.axis) == pytest.approx(1, abs=1e-5)
    probabilities = space.win_probability(some, pov="space")
    np.testing.assert_array_equal(space.calibration(cosines), probabilities)
    calibration = space.calibration
    np.testing.assert_allclose(
        np.interp(cosines, calibration.cosines, calibration.win_probabilities),
        probabilities,
        atol=1e-5,
    )
    assert calibration(np.zeros((2, 3))).shape == (2, 3)


def test_points_of_view(space, boards):
    turn = np.array([board.turn for board in boards[:200]])
    numbers = {
        pov: space.win_probability(boards[:200], pov=pov) for pov in ("turn", "white", "space")
    }
    np.testing.assert_allclose(
        np.where(turn, numbers["turn"], 1 - numbers["turn"]), numbers["white"], atol=1e-6
    )
    np.testing.assert_array_equal(numbers["space"], numbers[space.pov])
    cosines = [space.cosine(boards[:200], pov=pov) for pov in ("turn", "white")]
    np.testing.assert_array_equal(np.where(turn, cosines[0], -cosines[0]), cosines[1])
    with pytest.raises(ValueError, match="pov 'black': expected 'turn', 'white' or 'space'"):
        space.cosine(boards[:2], pov="black")


def test_the_side_with_a_queen_wins():
    space = Space.beam()
    assert space.win_probability(BLACK_WINS) > 0.95
    assert space.win_probability(BLACK_WINS, pov="white") < 0.05
    assert space.cosine(BLACK_WINS) > 0.3 > -0.3 > space.cosine(BLACK_WINS, pov="white")


def test_features_of_the_starting_position_are_symmetric():
    name, turn, opponent = Space.beam().features(chess.STARTING_FEN)
    assert name == "exchange-states-16+king-mirror+threats"
    assert turn.dtype == np.uint16
    assert 32 <= len(turn) == len(opponent)
    pieces = 16 * 768
    assert set(turn[turn < pieces]) == set(opponent[opponent < pieces])


def test_bad_positions_name_their_index(boards):
    space = Space.beam()
    good = boards[:5000]
    no_kings = chess.Board.empty()
    for bad, kind, message in [
        ("e4", ValueError, "FEN 'e4': not a legal board"),
        ("\udcff", ValueError, "'utf-8' codec can't encode .*surrogates not allowed"),
        (no_kings, ValueError, "FEN '8/8/8/8/8/8/8/8 w - - 0 1'"),
        (7, TypeError, r"expected a FEN \(str\) or a chess.Board, got int"),
        (b"8/8", TypeError, ".*got bytes"),
    ]:
        with pytest.raises(kind, match=f"^position {len(good)}: .*{message}"):
            space.embed([*good, bad])
        with pytest.raises(kind, match=f"^{message}"):
            space.embed(bad) if isinstance(bad, (str, chess.Board)) else space.features(bad)
    with pytest.raises(TypeError, match="not iterable"):
        space.embed(7)


def test_impossible_boards_are_refused(impossible_boards):
    space = Space.beam()
    for board, kind, message in impossible_boards:
        for compute in (space.embed, space.cosine, space.win_probability, space.features):
            with pytest.raises(kind, match=f"^{message}"):
                compute(board)
        with pytest.raises(kind, match=f"^position 1: {message}"):
            space.embed([chess.Board(), board])


def test_castling_rights_without_their_rook_do_not_count():
    board = chess.Board("4k3/8/8/8/8/8/8/4K2R w K - 0 1")
    board.remove_piece_at(chess.H1)
    board.set_piece_at(chess.G1, chess.Piece.from_symbol("R"))
    assert board.castling_rights
    space = Space.beam()
    np.testing.assert_array_equal(space.embed(board), space.embed(board.fen()))


def test_errors_of_weights_files_say_what_is_wrong(tmp_path, weights):
    with pytest.raises(FileNotFoundError, match="missing.safetensors"):
        Space(tmp_path / "missing.safetensors")
    with pytest.raises(ValueError, match="not a regular file"):
        Space(tmp_path)
    cut = tmp_path / "cut.safetensors"
    cut.write_bytes((weights / "mini.safetensors").read_bytes()[:100_000])
    with pytest.raises(ValueError, match="cut.safetensors"):
        Space(cut)


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_a_space_and_its_calibration_can_be_copied(space, copied):
    other = copied(space)
    np.testing.assert_array_equal(other.axis, space.axis)
    assert repr(other) == repr(space)
    assert str(space.dim) in repr(space)
    assert space.metadata["input"] == space.features(chess.Board()).name
    cosines = np.linspace(-1, 1, 99)
    calibration = copied(space.calibration)
    np.testing.assert_array_equal(calibration(cosines), space.calibration(cosines))


def test_a_pickled_space_finds_its_file_from_another_folder(weights, tmp_path, monkeypatch):
    monkeypatch.chdir(weights)
    pickled = pickle.dumps(Space("mini.safetensors"))
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(pickled).architecture == "mini"


def test_a_forked_process_embeds(space, boards, forked):
    some = boards[:50]
    expected = space.embed(some)
    np.testing.assert_array_equal(forked(lambda: space.embed(some)), expected)
    done = threading.Event()

    def embed():
        while not done.is_set():
            space.embed(boards[:500])

    # Another thread computes while the process forks.
    other = threading.Thread(target=embed)
    other.start()
    try:
        for _ in range(5):
            np.testing.assert_array_equal(forked(lambda: space.embed(some)), expected)
    finally:
        done.set()
        other.join()


def test_a_calibration_checks_its_knots():
    rising, falling = np.array([0, 1], np.float32), np.array([1, 0], np.float32)
    assert Calibration(rising, rising)(0.25) == Calibration([0, 1], [0, 1])(0.25) == 0.25
    with pytest.raises(ValueError, match="calibration.win_probability does not rise"):
        Calibration(rising, falling)(0)


def test_other_threads_run_while_positions_are_embedded(boards):
    space = Space.beam()
    positions = [board.fen() for board in boards] * 20
    counted, done = [0], threading.Event()

    def count():
        while not done.is_set():
            counted[0] += 1
            time.sleep(0)

    counter = threading.Thread(target=count)
    counter.start()
    try:
        space.embed(positions, threads=1)
        meanwhile = counted[0]
    finally:
        done.set()
        counter.join()
    assert meanwhile > 100


def test_progress_counts_the_positions(boards, capfd):
    space = Space.beam()
    np.testing.assert_array_equal(space.embed(boards, progress=True), space.embed(boards))
    assert "100%" in capfd.readouterr().err


def test_weights_are_found_by_name_or_path(weights, tmp_path, monkeypatch):
    for name in ("beam", "selective"):
        assert repr(Space.from_pretrained(name)) == repr(getattr(Space, name)())
    mini = weights / "mini.safetensors"
    for path in (mini, str(mini)):
        assert repr(Space.from_pretrained(path)) == repr(Space(mini))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "beam").write_bytes(mini.read_bytes())
    assert Space.from_pretrained("./beam").architecture == "mini"
    with pytest.raises(
        FileNotFoundError, match="'large'.*; weights with a name: beam, selective"
    ):
        Space.from_pretrained("large")


def test_a_space_is_a_transformer_of_scikit_learn(boards):
    space, some = Space.beam(), boards[:300]
    fens, pieces = [board.fen() for board in some], [len(board.piece_map()) for board in some]
    np.testing.assert_array_equal(space.transform(fens), space.embed(some))
    pipeline = make_pipeline(space, Ridge(alpha=1e-3))
    # Each fold of the cross-validation clones the pipeline.
    assert (
        min(cross_val_score(pipeline, fens, pieces, cv=KFold(3, shuffle=True, random_state=1)))
        > 0.5
    )
    with pytest.raises(ValueError, match="transform takes several positions"):
        space.transform(boards[0].fen())
