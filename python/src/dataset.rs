//! Datasets of the trainer, read into NumPy arrays.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use azimuth_chess::position::fen_of;
use azimuth_network::Perspective;
use azimuth_train::data::family::Split;
use azimuth_train::data::{DatasetFile, Label, PackedPosition};
use cozy_chess::{Color, Piece, Square};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::Batches;
use crate::error::python_error;

/// The splits by their names in Python.
pub const SPLITS: [(&str, Split); Split::NUM] = [
    ("training", Split::Training),
    ("calibration", Split::Calibration),
    ("held-out", Split::HeldOut),
];

/// A dataset file, mapped into memory.
#[pyclass(frozen, module = "azimuth_chess._native")]
pub struct NativeDataset {
    file: Arc<DatasetFile>,
}

/// Positions and labels in columns.
#[derive(Default)]
pub struct Columns {
    /// FENs.
    pub fens: Vec<String>,
    /// 64 for each position.
    pub pieces: Vec<i8>,
    /// The side to move.
    pub white_to_move: Vec<bool>,
    /// 0 for mates.
    pub centipawns: Vec<i32>,
    /// 1 if White mates, -1 if Black mates, else 0.
    pub mate: Vec<i8>,
    /// White's.
    pub win_probability: Vec<f32>,
    /// The number of the family in the split.
    pub family: Vec<u32>,
}

/// The columns as Python's arrays.
type Arrays<'py> = (
    Vec<String>,
    Bound<'py, PyArray2<i8>>,
    Bound<'py, PyArray1<bool>>,
    Bound<'py, PyArray1<i32>>,
    Bound<'py, PyArray1<i8>>,
    Bound<'py, PyArray1<f32>>,
    Bound<'py, PyArray1<u32>>,
);

#[pymethods]
impl NativeDataset {
    /// Opens a file and checks it.
    #[new]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let file = py.detach(|| DatasetFile::open(&path)).map_err(|error| python_error(&error))?;
        Ok(Self { file: Arc::new(file) })
    }

    /// The description stored in the file, as JSON.
    #[getter]
    fn description(&self) -> PyResult<String> {
        let text = serde_json::to_string(self.file.description());
        text.map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Number of positions in a split.
    fn length(&self, split: &str) -> PyResult<usize> {
        Ok(self.file.len(split_of(split)?))
    }

    /// `size` positions of a split from `start` on, or fewer at its end.
    fn read<'py>(
        &self,
        py: Python<'py>,
        split: &str,
        start: usize,
        size: usize,
    ) -> PyResult<Arrays<'py>> {
        let split = split_of(split)?;
        let end = start.saturating_add(size).min(self.file.len(split));
        let columns = py.detach(|| Columns::read(&self.file, split, start..end));
        let columns = columns.map_err(|error| python_error(&error))?;
        let rows = columns.fens.len();
        Ok((
            columns.fens,
            PyArray1::from_vec(py, columns.pieces).reshape([rows, Square::NUM])?,
            PyArray1::from_vec(py, columns.white_to_move),
            PyArray1::from_vec(py, columns.centipawns),
            PyArray1::from_vec(py, columns.mate),
            PyArray1::from_vec(py, columns.win_probability),
            PyArray1::from_vec(py, columns.family),
        ))
    }

    /// The positions of a split, or of all, as a stream of Arrow's C interface: a capsule with the
    /// name that Arrow's protocol for Python requires.
    fn arrow_stream<'py>(
        &self,
        py: Python<'py>,
        split: Option<&str>,
        size: usize,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let splits = match split {
            Some(name) => vec![split_of(name)?],
            None => SPLITS.map(|(_, split)| split).to_vec(),
        };
        let batches = Batches::new(self.file.clone(), splits, size.max(1));
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }
}

impl Columns {
    /// Reads a range of the positions of a split.
    pub fn read(file: &DatasetFile, split: Split, range: Range<usize>) -> Result<Self> {
        // Reading a mapped file that has become shorter would end the process.
        file.check_length()?;
        let mut columns = Self::default();
        let mut unreadable = None;
        file.positions(split, range, |position, family| {
            if let Err(error) = columns.push(&position, family) {
                unreadable.get_or_insert(error);
            }
        })?;
        match unreadable {
            None => Ok(columns),
            Some(error) => Err(anyhow!("dataset '{}': {error:#}", file.path().display())),
        }
    }

    fn push(&mut self, position: &PackedPosition, family: u32) -> Result<()> {
        let board = position.board()?;
        self.pieces.extend(Square::ALL.map(|square| match board.piece_on(square) {
            None => 0,
            Some(piece) if board.color_on(square) == Some(Color::White) => number(piece),
            Some(piece) => -number(piece),
        }));
        self.fens.push(fen_of(&board));
        self.white_to_move.push(position.side_to_move() == Color::White);
        let (centipawns, mate) = match position.label() {
            Label::Centipawns(centipawns) => (centipawns, 0),
            Label::Mate(white) => (0, if white { 1 } else { -1 }),
        };
        self.centipawns.push(centipawns);
        self.mate.push(mate);
        self.win_probability.push(position.win_probability(Perspective::White));
        self.family.push(family);
        Ok(())
    }
}

/// python-chess's number of a kind of piece, from 1.
fn number(piece: Piece) -> i8 {
    piece as i8 + 1
}

fn split_of(name: &str) -> PyResult<Split> {
    let found = SPLITS.iter().find(|(known, _)| *known == name);
    found.map(|&(_, split)| split).ok_or_else(|| {
        PyValueError::new_err(format!(
            "split '{name}': expected 'training', 'calibration' or 'held-out'"
        ))
    })
}
