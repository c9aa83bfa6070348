//! Positions as Python has them.

use std::fmt;

use anyhow::Result;
use azimuth_chess::position::Position;
use cozy_chess::Board;
use pyo3::Borrowed;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

use crate::board::PythonBoard;

/// A position that is not parsed yet, so that threads without Python's lock can do it.
pub enum Source {
    /// A FEN.
    Fen(String),
    /// A `chess.Board`.
    Board(PythonBoard),
}

impl Source {
    /// The board. Fails if the FEN is malformed or the position is illegal.
    pub fn board(&self) -> Result<Board> {
        match self {
            Self::Fen(fen) => Ok(Position::from_fen(fen)?.board().clone()),
            Self::Board(board) => board.board(),
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("position")
    }
}

impl FromPyObject<'_, '_> for Source {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        if let Ok(text) = object.cast::<PyString>() {
            return Ok(Self::Fen(text.to_str()?.to_owned()));
        }
        if object.is_instance(board_class(object.py())?)? {
            return Ok(Self::Board(PythonBoard::read(object)?));
        }
        let found = object.get_type().name()?;
        let message = format!("expected a FEN (str) or a chess.Board, got {found}");
        Err(PyTypeError::new_err(message))
    }
}

/// The class `chess.Board`.
fn board_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "chess", "Board")
}
