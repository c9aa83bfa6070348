//! Positions as Python has them. Threads parse them later, without Python's lock.

use std::ops::Range;

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use cozy_chess::Board;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

use crate::board::PythonBoard;

/// A list of positions.
#[derive(Default)]
pub struct Sources {
    /// All FENs, one after the other: a string for each would cost more time than the copy.
    fens: String,
    positions: Vec<Source>,
}

/// A position of [`Sources`].
pub enum Source {
    /// The place of its FEN.
    Fen(Range<usize>),
    /// A `chess.Board`.
    Board(Box<PythonBoard>),
}

impl Sources {
    /// Adds a FEN or a `chess.Board`. Fails if the object is something else.
    pub fn push(&mut self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let source = if let Ok(text) = object.cast::<PyString>() {
            let start = self.fens.len();
            self.fens.push_str(text.to_str()?);
            Source::Fen(start..self.fens.len())
        } else if object.is_instance(board_class(object.py())?)? {
            Source::Board(Box::new(PythonBoard::read(object)?))
        } else {
            let found = object.get_type().name()?;
            let message = format!("expected a FEN (str) or a chess.Board, got {found}");
            return Err(PyTypeError::new_err(message));
        };
        self.positions.push(source);
        Ok(())
    }

    /// The positions.
    pub fn positions(&self) -> &[Source] {
        &self.positions
    }

    /// Number of positions.
    pub fn len(&self) -> usize {
        self.positions.len()
    }

    /// Removes all positions and keeps the memory.
    pub fn clear(&mut self) {
        self.fens.clear();
        self.positions.clear();
    }

    /// The board of one of the positions. Fails if its FEN is malformed or it is illegal.
    pub fn board(&self, source: &Source) -> Result<Board> {
        match source {
            Source::Fen(place) => {
                let fen = self.fens.get(place.clone()).context("a FEN of other positions")?;
                Ok(Position::from_fen(fen)?.board().clone())
            }
            Source::Board(board) => board.board(),
        }
    }
}

/// The class `chess.Board`.
fn board_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "chess", "Board")
}
