"""Datasets as NumPy arrays."""

import copy
import itertools
import pickle
import subprocess

import numpy as np
import pyarrow
import pytest
from azimuth_chess import Batch, Space, read_dataset

import chess

LABELLED = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -", "ce 30"),
    ("4k3/8/8/8/8/8/4P3/4K3 b - -", "ce -70"),
    ("6k1/5ppp/8/8/8/8/8/R3K3 w - -", "dm 1"),
    ("6k1/5ppp/8/8/8/8/8/R3K3 b - -", "ce 500"),
    ("R5k1/6pp/8/8/8/8/8/4K3 b - -", "dm -2"),
    ("k7/8/8/8/8/8/1q6/7K b - -", "dm 4"),
]


@pytest.fixture(scope="module")
def file(program, tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    (folder / "positions.epd").write_text("".join(f"{fen} {op};\n" for fen, op in LABELLED))
    subprocess.run(
        [program("azimuth-train"), "data", folder / "positions.epd", "--out", folder / "all.azd"],
        check=True,
        capture_output=True,
    )
    return folder / "all.azd"


def test_positions_and_labels_come_back(file):
    data = read_dataset(file)
    assert len(data) == len(LABELLED)
    rows = {}
    for batch in data.batches():
        for fen, *row in zip(*batch, strict=True):
            rows[" ".join(fen.split()[:4])] = (fen, *row)
    expected = {"ce 30": (30, 0), "ce -70": (70, 0), "dm 1": (0, 1), "ce 500": (-500, 0)}
    expected |= {"dm -2": (0, 1), "dm 4": (0, -1)}
    for fen, operation in LABELLED:
        full, pieces, white, centipawns, mate, p, _ = rows[fen]
        board = chess.Board(full)
        assert (centipawns, mate) == expected[operation]
        assert white == board.turn
        assert p == pytest.approx(
            {1: 1.0, -1: 0.0}.get(mate, 1 / (1 + np.exp(-0.00368208 * centipawns)))
        )
        for square in chess.SQUARES:
            piece = board.piece_at(square)
            number = 0 if piece is None else piece.piece_type * (1 if piece.color else -1)
            assert pieces[square] == number


def test_batches_are_arrays_and_cover_the_splits(file):
    data = read_dataset(file)
    sizes = [len(batch.fens) for batch in data.batches(batch_size=4)]
    assert sum(sizes) == 6
    assert max(sizes) <= 4
    by_split = [data.length(split) for split in ("training", "calibration", "held-out")]
    assert sum(by_split) == 6
    batch = next(data.batches("training"))
    n = len(batch.fens)
    assert n == by_split[0]
    assert batch.pieces.shape == (n, 64)
    assert batch.pieces.dtype == batch.mate.dtype == np.int8
    assert batch.white_to_move.dtype == np.bool_
    assert batch.win_probability.dtype == np.float32
    assert Space.beam().embed(batch.fens).shape[0] == n
    assert data.description


def test_positions_have_numbers(file):
    data = read_dataset(file)
    rows = [row for batch in data.batches() for row in zip(*batch, strict=True)]
    assert len(data) == len(rows)

    def same(one, other):
        return all(map(np.array_equal, one, other))

    for place, row in enumerate(rows):
        for number in (place, place - len(data), np.int64(place)):
            assert same(data[number], row)
        assert data[place].pieces.shape == (64,)
    assert data[0].fen == rows[0][0]
    assert all(map(same, list(data), rows))
    assert [position.fen for position in data] == [row[0] for row in rows]
    places = [None, *range(-8, 9)]
    for start, stop, step in itertools.product(places, places, [None, 1, 2, -1, -3]):
        found, expected = data[start:stop:step], rows[start:stop:step]
        assert isinstance(found, Batch)
        assert found.pieces.shape == (len(expected), 64)
        assert found.family.dtype == np.uint32
        assert all(map(same, zip(*found, strict=True), expected))
    assert data[:: 2**70].fens == [rows[0][0]]
    for number in (6, -7, 2**70):
        with pytest.raises(IndexError, match=f"position {number}: the dataset has 6 positions"):
            data[number]
    with pytest.raises(TypeError):
        data["training"]


def test_a_slice_is_one_read_of_each_split(file):
    data = read_dataset(file)
    native, reads = data._native, []

    class Counted:
        length = native.length

        def read(self, split, *places):
            reads.append(split)
            return native.read(split, *places)

    data._native = Counted()
    for step in (1, 2, -1, -2):
        reads.clear()
        assert data[::step].fens
        assert len(reads) == len(set(reads))


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_a_dataset_can_be_copied_from_another_folder(file, copied, tmp_path, monkeypatch):
    monkeypatch.chdir(file.parent)
    data = read_dataset(file.name)
    monkeypatch.chdir(tmp_path)
    assert copied(data)[:].fens == data[:].fens
    assert copied(data[:]).fens == data[:].fens
    assert copied(data[0]).fen == data[0].fen
    read = pyarrow.RecordBatchReader.from_stream(copied(data.arrow("training"))).read_all()
    assert len(read) == data.length("training")


def test_errors_name_the_file_and_the_split(file, tmp_path):
    data = read_dataset(file)
    with pytest.raises(ValueError, match="split 'test': expected 'training'"):
        data.batches("test")
    with pytest.raises(ValueError, match="batch_size 0: it must be at least 1"):
        data.batches(batch_size=0)
    with pytest.raises(FileNotFoundError, match="none.azd"):
        read_dataset(tmp_path / "none.azd")
    other = tmp_path / "other.azd"
    other.write_bytes(b"x" * 100)
    with pytest.raises(ValueError, match="other.azd.*too short for a dataset"):
        read_dataset(other)


def test_arrow_has_the_columns_of_the_batches(file):
    data = read_dataset(file)
    table = pyarrow.RecordBatchReader.from_stream(data).read_all()
    assert len(table) == len(LABELLED)
    read = 0
    for split in ("training", "calibration", "held-out"):
        stream = data.arrow(split, batch_size=2)
        reader = pyarrow.RecordBatchReader.from_stream(stream)
        assert reader.schema == table.schema
        rows = 0
        for arrow, batch in zip(reader, data.batches(split, batch_size=2), strict=True):
            assert len(arrow) <= 2
            assert arrow["split"].to_pylist() == len(arrow) * [split]
            assert arrow["fen"].to_pylist() == batch.fens
            assert arrow["pieces"].to_pylist() == batch.pieces.tolist()
            for name in ("white_to_move", "centipawns", "mate", "win_probability", "family"):
                column = arrow[name].to_numpy(zero_copy_only=False)
                np.testing.assert_array_equal(column, getattr(batch, name))
                assert column.dtype == getattr(batch, name).dtype
            rows += len(arrow)
        assert rows == data.length(split)
        # A stream can be read again.
        assert len(pyarrow.RecordBatchReader.from_stream(stream).read_all()) == rows
        read += rows
    assert read == len(table)
    assert sorted(table["fen"].to_pylist()) == sorted(position.fen for position in data)


def test_arrow_without_a_reader_is_freed_and_bad_arguments_are_errors(file):
    data = read_dataset(file)
    for _ in range(100):
        data.__arrow_c_stream__()
    with pytest.raises(ValueError, match="split 'test': expected 'training'"):
        data.arrow("test")
    with pytest.raises(ValueError, match="batch_size 0: it must be at least 1"):
        data.arrow(batch_size=0)
