//! Datasets of the trainer, read into NumPy arrays.

use std::path::PathBuf;

use anyhow::{Result, anyhow};
use azimuth_chess::position::fen_of;
use azimuth_network::Perspective;
use azimuth_train::data::label::Label;
use azimuth_train::data::split::Split;
use azimuth_train::data::{DatasetFile, PackedPosition};
use cozy_chess::{Color, Piece, Square};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::python_error;

/// A dataset file, mapped into memory.
#[pyclass(frozen, module = "azimuth_chess._native")]
pub struct NativeDataset {
    file: DatasetFile,
}

/// Positions and labels in columns.
#[derive(Default)]
struct Columns {
    fens: Vec<String>,
    /// 64 for each position.
    pieces: Vec<i8>,
    white_to_move: Vec<bool>,
    centipawns: Vec<i32>,
    mate: Vec<i8>,
    win_probability: Vec<f32>,
    family: Vec<u32>,
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
        Ok(Self { file })
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
        let columns = py.detach(|| self.columns(split, start..end));
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
}

impl NativeDataset {
    fn columns(&self, split: Split, range: std::ops::Range<usize>) -> Result<Columns> {
        // Reading a mapped file that has become shorter would end the process.
        self.file.check_length()?;
        let mut columns = Columns::default();
        let mut unreadable = None;
        self.file.positions(split, range, |position, family| {
            if let Err(error) = columns.push(&position, family) {
                unreadable.get_or_insert(error);
            }
        })?;
        match unreadable {
            None => Ok(columns),
            Some(error) => Err(anyhow!("dataset '{}': {error:#}", self.file.path().display())),
        }
    }
}

impl Columns {
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
    match name {
        "training" => Ok(Split::Training),
        "calibration" => Ok(Split::Calibration),
        "held-out" => Ok(Split::HeldOut),
        _ => Err(PyValueError::new_err(format!(
            "split '{name}': expected 'training', 'calibration' or 'held-out'"
        ))),
    }
}
