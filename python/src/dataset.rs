//! Datasets of the trainer: labelled positions in columns, read into NumPy arrays and into record
//! batches of Apache Arrow.

use std::iter::once;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Result, anyhow};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BooleanArray, DictionaryArray, FixedSizeListArray, Float32Array, Int8Array,
    Int32Array, RecordBatch, RecordBatchReader, StringArray, UInt32Array,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use azimuth_chess::position::fen_of;
use azimuth_network::Perspective;
use azimuth_train::data::family::Split;
use azimuth_train::data::{DatasetFile, Label, PackedPosition};
use cozy_chess::{Color, Piece, Square};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyTuple};

use crate::python_error;

/// The splits by their names in Python.
const SPLITS: [(&str, Split); Split::NUM] = [
    ("training", Split::Training),
    ("calibration", Split::Calibration),
    ("held-out", Split::HeldOut),
];

/// A dataset file, mapped into memory.
#[pyclass(frozen, module = "azimuth_chess._native")]
pub struct NativeDataset {
    file: Arc<DatasetFile>,
}

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

    /// `size` positions of a split, every `step`-th from `start` on, or fewer at its end.
    fn read<'py>(
        &self,
        py: Python<'py>,
        split: &str,
        start: usize,
        size: usize,
        step: NonZeroUsize,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let split = split_of(split)?;
        let length = self.file.len(split);
        let runs: Vec<_> = match step.get() {
            1 => once(start..start.saturating_add(size).min(length)).collect(),
            step => (start..length).step_by(step).take(size).map(|at| at..at + 1).collect(),
        };
        let columns = py.detach(|| Columns::read(&self.file, split, runs));
        let columns = columns.map_err(|error| python_error(&error))?;
        let rows = columns.fens.len();
        let arrays = (
            columns.fens,
            PyArray1::from_vec(py, columns.pieces).reshape([rows, Square::NUM])?,
            PyArray1::from_vec(py, columns.white_to_move),
            PyArray1::from_vec(py, columns.centipawns),
            PyArray1::from_vec(py, columns.mate),
            PyArray1::from_vec(py, columns.win_probability),
            PyArray1::from_vec(py, columns.family),
        );
        arrays.into_pyobject(py)
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

fn split_of(name: &str) -> PyResult<Split> {
    let found = SPLITS.iter().find(|(known, _)| *known == name);
    found.map(|&(_, split)| split).ok_or_else(|| {
        PyValueError::new_err(format!(
            "split '{name}': expected 'training', 'calibration' or 'held-out'"
        ))
    })
}

/// Positions and labels in columns.
#[derive(Default)]
struct Columns {
    fens: Vec<String>,
    /// 64 for each position.
    pieces: Vec<i8>,
    white_to_move: Vec<bool>,
    /// 0 for mates.
    centipawns: Vec<i32>,
    /// 1 if White mates, -1 if Black mates, else 0.
    mate: Vec<i8>,
    /// White's.
    win_probability: Vec<f32>,
    /// The number of the family in the split.
    family: Vec<u32>,
}

impl Columns {
    /// Reads ranges of the positions of a split.
    fn read(
        file: &DatasetFile,
        split: Split,
        ranges: impl IntoIterator<Item = Range<usize>>,
    ) -> Result<Self> {
        // Reading a mapped file that has become shorter would end the process.
        file.check_length()?;
        let mut columns = Self::default();
        let mut unreadable = None;
        for range in ranges {
            file.positions(split, range, |position, family| {
                if let Err(error) = columns.push(&position, family) {
                    unreadable.get_or_insert(error);
                }
            })?;
        }
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

/// Length of the list of pieces.
const SQUARES: i32 = Square::NUM as i32;

/// The record batches of some splits, one split after the other.
struct Batches {
    file: Arc<DatasetFile>,
    /// The splits that are still to be read, in reverse order, and the positions left in each.
    left: Vec<(Split, Range<usize>)>,
    size: usize,
    schema: SchemaRef,
}

impl Batches {
    /// Batches of `size` positions.
    fn new(file: Arc<DatasetFile>, splits: Vec<Split>, size: usize) -> Self {
        let left = splits.into_iter().rev().map(|split| (split, 0..file.len(split))).collect();
        Self { file, left, size, schema: schema() }
    }

    fn read(&self, split: Split, range: Range<usize>) -> Result<RecordBatch> {
        let columns = Columns::read(&self.file, split, [range])?;
        let (name, _) = SPLITS[split as usize];
        let names = std::iter::repeat_n(name, columns.fens.len());
        let names: DictionaryArray<Int8Type> = names.collect();
        let pieces = Arc::new(Int8Array::from(columns.pieces));
        let arrays: Vec<ArrayRef> = vec![
            Arc::new(names),
            Arc::new(StringArray::from(columns.fens)),
            Arc::new(FixedSizeListArray::try_new(piece(), SQUARES, pieces, None)?),
            Arc::new(BooleanArray::from(columns.white_to_move)),
            Arc::new(Int32Array::from(columns.centipawns)),
            Arc::new(Int8Array::from(columns.mate)),
            Arc::new(Float32Array::from(columns.win_probability)),
            Arc::new(UInt32Array::from(columns.family)),
        ];
        Ok(RecordBatch::try_new(self.schema.clone(), arrays)?)
    }
}

impl Iterator for Batches {
    type Item = Result<RecordBatch, ArrowError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.left.last().is_some_and(|(_, range)| range.is_empty()) {
            self.left.pop();
        }
        let (split, range) = self.left.last_mut()?;
        let end = range.start.saturating_add(self.size).min(range.end);
        let (split, part) = (*split, range.start..end);
        range.start = end;
        let batch = self.read(split, part);
        Some(batch.map_err(|error| ArrowError::ExternalError(error.into())))
    }
}

impl RecordBatchReader for Batches {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }
}

fn schema() -> SchemaRef {
    let split = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let columns = [
        ("split", split),
        ("fen", DataType::Utf8),
        ("pieces", DataType::FixedSizeList(piece(), SQUARES)),
        ("white_to_move", DataType::Boolean),
        ("centipawns", DataType::Int32),
        ("mate", DataType::Int8),
        ("win_probability", DataType::Float32),
        ("family", DataType::UInt32),
    ];
    let fields = columns.into_iter().map(|(name, of)| Field::new(name, of, false));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// The type of a piece on a square.
fn piece() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Int8, false))
}
