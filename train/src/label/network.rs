//! Labels from a Stockfish network without a search: for positions in which nothing is to be won at once as near to a
//! search's verdict as a shallow search is, and a hundred times cheaper.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth::position::{board_after, legal_moves};
use cozy_chess::{Board, Color, Piece};
use nnue_rs::{Accumulator, Network};
use sha2::{Digest, Sha256};

use super::scored_move::ScoredMove;
use crate::data::label::Label;
use crate::hex::hex;

/// What the network gives for a hundred centipawns of Stockfish 16 (`NormalizeToPawnValue` in its `uci.h`).
const UNITS_OF_A_PAWN: i32 = 328;

/// A network at work.
#[derive(Clone)]
pub struct NetworkLabeller {
    network: Arc<Network>,
    name: String,
    parent: Accumulator,
    child: Accumulator,
}

impl NetworkLabeller {
    /// Reads a `.nnue` file, as Stockfish's `export_net` writes it.
    pub fn read(path: &Path) -> Result<Self> {
        let name = || format!("--network '{}'", path.display());
        let bytes = std::fs::read(path).with_context(name)?;
        let network = Network::from_bytes(&bytes).with_context(name)?;
        let (parent, child) = (network.empty_accumulator(), network.empty_accumulator());
        let sha256 = hex(&Sha256::digest(&bytes));
        Ok(Self { name: format!("network {sha256}"), network: Arc::new(network), parent, child })
    }

    /// The SHA-256 of the file, by which a network is known.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Scores a position that has a legal move, from White's view.
    pub fn value(&mut self, board: &Board) -> Label {
        self.network.refresh(&Seen(board), &mut self.parent);
        label(&self.network, &self.parent, board)
    }

    /// Scores all moves, the best for the side to move first.
    pub fn score(&mut self, board: &Board) -> Vec<ScoredMove> {
        self.network.refresh(&Seen(board), &mut self.parent);
        let moves = legal_moves(board).into_iter();
        let mut scored: Vec<ScoredMove> = moves
            .map(|mv| {
                let after = board_after(board, mv);
                self.network.update(&Seen(board), &Seen(&after), &self.parent, &mut self.child);
                ScoredMove { mv, label: label(&self.network, &self.child, &after) }
            })
            .collect();
        let side = board.side_to_move();
        scored.sort_by_key(|scored| -i32::from(scored.label.seen_by(side).bits()));
        scored
    }
}

/// What the network says of `board`, whose sums `accumulator` has; a game that is over is what it is.
fn label(network: &Network, accumulator: &Accumulator, board: &Board) -> Label {
    let side = board.side_to_move();
    if !board.generate_moves(|_| true) {
        return match board.checkers().is_empty() {
            true => Label::Centipawns(0),
            false => Label::Mate(side == Color::Black),
        };
    }
    let units = network.evaluate_accumulator(accumulator, color(side));
    Label::Centipawns(units * 100 / UNITS_OF_A_PAWN).seen_by(side)
}

/// A position as the network sees it.
struct Seen<'a>(&'a Board);

impl nnue_rs::Board for Seen<'_> {
    fn side_to_move(&self) -> nnue_rs::Color {
        color(self.0.side_to_move())
    }

    fn king_square(&self, side: nnue_rs::Color) -> u8 {
        let side = match side {
            nnue_rs::Color::White => Color::White,
            nnue_rs::Color::Black => Color::Black,
        };
        self.0.king(side) as u8
    }

    fn for_each_piece(&self, visit: &mut dyn FnMut(u8, nnue_rs::Piece)) {
        for side in Color::ALL {
            for piece in Piece::ALL {
                for square in self.0.colored_pieces(side, piece) {
                    visit(square as u8, nnue_rs::Piece::new(color(side), kind(piece)));
                }
            }
        }
    }
}

fn color(side: Color) -> nnue_rs::Color {
    match side {
        Color::White => nnue_rs::Color::White,
        Color::Black => nnue_rs::Color::Black,
    }
}

fn kind(piece: Piece) -> nnue_rs::PieceKind {
    match piece {
        Piece::Pawn => nnue_rs::PieceKind::Pawn,
        Piece::Knight => nnue_rs::PieceKind::Knight,
        Piece::Bishop => nnue_rs::PieceKind::Bishop,
        Piece::Rook => nnue_rs::PieceKind::Rook,
        Piece::Queen => nnue_rs::PieceKind::Queen,
        Piece::King => nnue_rs::PieceKind::King,
    }
}
