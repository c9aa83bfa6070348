//! The static evaluation of a Stockfish network, without the engine.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use azimuth_chess::placement::Placement;
use cozy_chess::{Color, Piece};
use nnue_rs::{Accumulator, Network};
use sha2::{Digest, Sha256};

/// Network output that Stockfish 16 reports as 100 centipawns (`NormalizeToPawnValue` in its
/// `uci.h`).
const UNITS_OF_A_PAWN: i32 = 328;

/// Number of hexadecimal digits of a network's SHA-256 in its name.
const NAME_DIGITS: usize = 12;

/// A network with its accumulators. Copies share its parameters.
#[derive(Clone)]
pub struct StockfishNetwork {
    network: Arc<Network>,
    name: String,
    /// The sums of the position evaluated last, and of one after it.
    sums: Accumulator,
    sums_after: Accumulator,
}

impl StockfishNetwork {
    /// Reads a `.nnue` file, as `export_net` of Stockfish 16 and later writes it.
    pub fn read(path: &Path) -> Result<Self> {
        let name = || format!("network '{}'", path.display());
        let bytes = std::fs::read(path).with_context(name)?;
        let network = Network::from_bytes(&bytes).with_context(name)?;
        let digits =
            Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (sums, sums_after) = (network.empty_accumulator(), network.empty_accumulator());
        let name = format!("nn-{}.nnue", &digits[..NAME_DIGITS]);
        Ok(Self { network: Arc::new(network), name, sums, sums_after })
    }

    /// Stockfish's name of the network: `nn-`, the first digits of its SHA-256, `.nnue`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Stockfish 16's centipawns, for the side to move.
    pub fn centipawns(&mut self, position: &Placement) -> i32 {
        self.network.refresh(&Seen(position), &mut self.sums);
        scaled(&self.network, &self.sums, position)
    }

    /// The same for a position a move after `parent`, the one that [`Self::centipawns`] was given last.
    pub fn centipawns_after(&mut self, parent: &Placement, position: &Placement) -> i32 {
        let (parent, seen) = (Seen(parent), Seen(position));
        self.network.update(&parent, &seen, &self.sums, &mut self.sums_after);
        scaled(&self.network, &self.sums_after, position)
    }
}

fn scaled(network: &Network, sums: &Accumulator, position: &Placement) -> i32 {
    network.evaluate_accumulator(sums, color(position.side_to_move)) * 100 / UNITS_OF_A_PAWN
}

/// Adapts a position to the network's crate.
struct Seen<'a>(&'a Placement);

impl nnue_rs::Board for Seen<'_> {
    fn side_to_move(&self) -> nnue_rs::Color {
        color(self.0.side_to_move)
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
                for square in self.0.pieces[piece as usize] & self.0.colors[side as usize] {
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
