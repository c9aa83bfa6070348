//! Labelled positions in columns, and the names of the splits.

use std::ops::Range;

use anyhow::{Result, anyhow};
use azimuth_chess::position::fen_of;
use azimuth_network::Perspective;
use azimuth_train::data::family::Split;
use azimuth_train::data::{DatasetFile, Label, PackedPosition};
use cozy_chess::{Color, Piece, Square};

/// The splits by their names in Python.
pub const SPLITS: [(&str, Split); Split::NUM] = [
    ("training", Split::Training),
    ("calibration", Split::Calibration),
    ("held-out", Split::HeldOut),
];

/// Positions and labels in columns.
#[derive(Default)]
pub struct Columns {
    pub fens: Vec<String>,
    /// 64 for each position.
    pub pieces: Vec<i8>,
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

impl Columns {
    /// Reads ranges of the positions of a split.
    pub fn read(
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
