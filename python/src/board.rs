//! Positions from Python: FENs and python-chess's boards. The point of view of a number.

use std::fmt::{Display, Write};
use std::ops::Range;

use anyhow::{Context, Result};
use azimuth_chess::position::Position;
use azimuth_network::Perspective;
use cozy_chess::{BitBoard, Board, Color, File, Piece, Rank, Square};
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};

use crate::python_error;

/// The values of `chess.Board.ep_square`.
const SQUARE: &str = "a square from 0 to 63, or None";

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
            return Err(unexpected("expected a FEN (str) or a chess.Board", object));
        };
        self.positions.push(source);
        Ok(())
    }

    pub fn positions(&self) -> &[Source] {
        &self.positions
    }

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

/// Fails unless the object is a `chess.Board` with a legal position of chess or Chess960.
#[pyfunction]
pub fn check_board(object: &Bound<'_, PyAny>) -> PyResult<()> {
    if !object.is_instance(board_class(object.py())?)? {
        return Err(unexpected("expected a chess.Board", object));
    }
    PythonBoard::read(object)?.board().map(drop).map_err(|error| python_error(&error))
}

/// A `TypeError` that names the type of an object.
fn unexpected(expected: &str, found: &Bound<'_, PyAny>) -> PyErr {
    let message = match found.get_type().name() {
        Ok(name) => format!("{expected}, got {name}"),
        Err(_) => expected.to_owned(),
    };
    PyTypeError::new_err(message)
}

/// The class `chess.Board`.
fn board_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "chess", "Board")
}

/// The fields of a `chess.Board`, whose squares have the same numbers as ours.
pub struct PythonBoard {
    pieces: [BitBoard; Piece::NUM],
    colors: [BitBoard; Color::NUM],
    white_to_move: bool,
    /// The rooks that may castle.
    castling: BitBoard,
    en_passant: Option<Square>,
    halfmove_clock: u32,
    fullmove_number: u32,
}

impl PythonBoard {
    /// Reads the fields. Fails if the board is one of a variant other than Chess960, or if its
    /// fields contradict each other or have values that no board has.
    pub fn read(board: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = board.py();
        let variant = board.getattr(intern!(py, "uci_variant"))?;
        if variant.extract::<&str>().ok() != Some("chess") {
            let message = format!("a board of the variant '{variant}': expected chess or Chess960");
            return Err(PyValueError::new_err(message));
        }
        let bits = |name| field(board, name, "a bitboard").map(BitBoard);
        let pieces = [
            bits(intern!(py, "pawns"))?,
            bits(intern!(py, "knights"))?,
            bits(intern!(py, "bishops"))?,
            bits(intern!(py, "rooks"))?,
            bits(intern!(py, "queens"))?,
            bits(intern!(py, "kings"))?,
        ];
        // python-chess's colors are booleans: Black comes first.
        let colors = field(board, intern!(py, "occupied_co"), "two bitboards")?;
        let [black, white]: [u64; 2] = colors;
        check(&pieces, [white, black].map(BitBoard), bits(intern!(py, "occupied"))?)?;
        let number = |name| field(board, name, "a number from 0");
        let name = intern!(py, "ep_square");
        let en_passant = match field(board, name, SQUARE)? {
            None => None,
            Some(number) => {
                Some(Square::try_index(number).ok_or_else(|| wrong_value(name, number, SQUARE))?)
            }
        };
        let read = Self {
            pieces,
            colors: [BitBoard(white), BitBoard(black)],
            white_to_move: field(board, intern!(py, "turn"), "a bool")?,
            castling: bits(intern!(py, "castling_rights"))?,
            en_passant,
            halfmove_clock: number(intern!(py, "halfmove_clock"))?,
            fullmove_number: number(intern!(py, "fullmove_number"))?,
        };
        let chess960 = board.getattr(intern!(py, "chess960"))?.is_truthy()?;
        Ok(Self { castling: read.castling_rooks(chess960), ..read })
    }

    /// The board. Fails if the position is illegal.
    pub fn board(&self) -> Result<Board> {
        Ok(Position::from_fen(&self.fen())?.board().clone())
    }

    fn of(&self, piece: Piece, color: Color) -> BitBoard {
        self.pieces[piece as usize] & self.colors[color as usize]
    }

    /// The rooks that may castle. Rights that the placement of kings and rooks rules out are
    /// dropped, as by `chess.Board.clean_castling_rights`.
    fn castling_rooks(&self, chess960: bool) -> BitBoard {
        let mut kept = BitBoard::EMPTY;
        for color in Color::ALL {
            let back = Rank::First.relative_to(color);
            let king = self.of(Piece::King, color) & back.bitboard();
            let Some(king) = king.next_square() else { continue };
            let rooks = self.castling & self.of(Piece::Rook, color) & back.bitboard();
            if chess960 {
                let left = rooks.into_iter().find(|rook| *rook < king);
                let right = rooks.into_iter().filter(|rook| *rook > king).last();
                kept |= left.into_iter().chain(right).collect();
            } else if king.file() == File::E {
                kept |= rooks & (File::A.bitboard() | File::H.bitboard());
            }
        }
        kept
    }

    /// The position as Shredder-FEN.
    fn fen(&self) -> String {
        let mut fen = String::with_capacity(96);
        for rank in Rank::ALL.into_iter().rev() {
            let mut empty = 0;
            for file in File::ALL {
                let square = Square::new(file, rank);
                match self.letter(square) {
                    None => empty += 1,
                    Some(letter) => {
                        push_number(&mut fen, &mut empty);
                        fen.push(letter);
                    }
                }
            }
            push_number(&mut fen, &mut empty);
            if rank != Rank::First {
                fen.push('/');
            }
        }
        fen.push_str(if self.white_to_move { " w " } else { " b " });
        for square in self.castling & self.colors[Color::White as usize] {
            fen.push(char::from(b'A' + square.file() as u8));
        }
        for square in self.castling & self.colors[Color::Black as usize] {
            fen.push(char::from(b'a' + square.file() as u8));
        }
        if self.castling.is_empty() {
            fen.push('-');
        }
        // Writing to a string cannot fail.
        let _ = match self.en_passant {
            Some(square) => write!(fen, " {square}"),
            None => write!(fen, " -"),
        };
        let _ = write!(fen, " {} {}", self.halfmove_clock, self.fullmove_number);
        fen
    }

    fn letter(&self, square: Square) -> Option<char> {
        let piece =
            Piece::ALL.into_iter().find(|&piece| self.pieces[piece as usize].has(square))?;
        let letter = char::from(piece);
        let is_white = self.colors[Color::White as usize].has(square);
        Some(if is_white { letter.to_ascii_uppercase() } else { letter })
    }
}

/// Reads a field of a `chess.Board`. An error names the field.
fn field<'py, T: FromPyObjectOwned<'py>>(
    board: &Bound<'py, PyAny>,
    name: &Bound<'py, PyString>,
    expected: &str,
) -> PyResult<T> {
    let value = board.getattr(name)?;
    value.extract::<T>().map_err(|error| {
        let error: PyErr = error.into();
        match error.is_instance_of::<PyTypeError>(board.py()) {
            true => unexpected(&format!("the board's {name}: expected {expected}"), &value),
            false => wrong_value(name, &value, expected),
        }
    })
}

fn wrong_value(name: impl Display, value: impl Display, expected: &str) -> PyErr {
    PyValueError::new_err(format!("the board's {name}: expected {expected}, got {value}"))
}

/// Fails unless each occupied square has one piece of one side.
fn check(
    pieces: &[BitBoard; Piece::NUM],
    [white, black]: [BitBoard; Color::NUM],
    occupied: BitBoard,
) -> PyResult<()> {
    let (mut all, mut several) = (BitBoard::EMPTY, BitBoard::EMPTY);
    for &kind in pieces {
        several |= all & kind;
        all |= kind;
    }
    if let Some(square) = several.next_square() {
        return Err(PyValueError::new_err(format!("the board has several pieces on {square}")));
    }
    let contradictory = (white & black) | (all ^ (white | black)) | (all ^ occupied);
    contradictory.next_square().map_or(Ok(()), |square| {
        let message = format!("the board's pieces, occupied_co and occupied disagree on {square}");
        Err(PyValueError::new_err(message))
    })
}

/// Writes the number of empty squares, if there are any, and sets it to zero.
fn push_number(fen: &mut String, empty: &mut u8) {
    if *empty > 0 {
        fen.push(char::from(b'0' + *empty));
        *empty = 0;
    }
}

/// The side whose win a cosine of 1 or a win probability of 1 means.
#[derive(Clone, Copy)]
pub enum Pov {
    /// The side to move, which python-chess calls `turn`.
    Turn,
    White,
    /// The side that the space's axis points to.
    Space,
}

impl Pov {
    /// Whether a number of a space with `perspective` has to be converted to the other side's view.
    pub fn is_opposite(self, perspective: Perspective, side_to_move: Color) -> bool {
        let differs = match self {
            Self::Turn => perspective == Perspective::White,
            Self::White => perspective == Perspective::SideToMove,
            Self::Space => false,
        };
        differs && side_to_move == Color::Black
    }
}

impl FromPyObject<'_, '_> for Pov {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match object.extract::<String>()?.as_str() {
            "turn" => Ok(Self::Turn),
            "white" => Ok(Self::White),
            "space" => Ok(Self::Space),
            other => Err(PyValueError::new_err(format!(
                "pov '{other}': expected 'turn', 'white' or 'space'"
            ))),
        }
    }
}
