//! Datasets of the trainer, read into NumPy arrays.

use std::iter::once;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use azimuth_train::data::DatasetFile;
use azimuth_train::data::family::Split;
use cozy_chess::Square;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::Batches;
use crate::columns::{Columns, SPLITS};
use crate::error::python_error;

/// A dataset file, mapped into memory.
#[pyclass(frozen, module = "azimuth_chess._native")]
pub struct NativeDataset {
    file: Arc<DatasetFile>,
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

    /// `size` positions of a split, every `step`-th from `start` on, or fewer at its end.
    fn read<'py>(
        &self,
        py: Python<'py>,
        split: &str,
        start: usize,
        size: usize,
        step: NonZeroUsize,
    ) -> PyResult<Arrays<'py>> {
        let split = split_of(split)?;
        let length = self.file.len(split);
        let runs: Vec<_> = match step.get() {
            1 => once(start..start.saturating_add(size).min(length)).collect(),
            step => (start..length).step_by(step).take(size).map(|at| at..at + 1).collect(),
        };
        let columns = py.detach(|| Columns::read(&self.file, split, runs));
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

fn split_of(name: &str) -> PyResult<Split> {
    let found = SPLITS.iter().find(|(known, _)| *known == name);
    found.map(|&(_, split)| split).ok_or_else(|| {
        PyValueError::new_err(format!(
            "split '{name}': expected 'training', 'calibration' or 'held-out'"
        ))
    })
}
