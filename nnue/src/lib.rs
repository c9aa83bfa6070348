//! Stockfish's networks: their static evaluation, alone or as the evaluator of Azimuth's search.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use azimuth_chess::placement::Placement;
use azimuth_chess::win_probability::win_probability_of_centipawns;
use azimuth_network::checksum::hex;
use azimuth_search::inference::{EvaluateOne, PositionKey};
use cozy_chess::{BitBoard, Board, Color, Piece};
use nnue_rs::{Accumulator, Network, PieceKind};
use sha2::{Digest, Sha256};

/// Network output that Stockfish 16 reports as 100 centipawns (`NormalizeToPawnValue` in its
/// `uci.h`).
const UNITS_OF_A_PAWN: i64 = 328;

/// Maximum size of a file, in bytes: no network comes near it.
const LARGEST_FILE: u64 = 1 << 30;

/// Place of the length of the description in a file, after the version and a hash.
const DESCRIBED: usize = 8;

/// Number of hexadecimal digits of a network's SHA-256 in its name.
const NAME_DIGITS: usize = 12;

/// Number of positions whose sums are kept. A search evaluates a position soon after its parent or
/// siblings.
const KEPT: usize = 8;

/// Maximum number of squares that an update of the sums may change: `nnue-rs` ignores further
/// changes.
const MOST_CHANGED: u32 = 4;

/// A network with the sums of the positions evaluated last. Copies share its parameters.
#[derive(Clone)]
pub struct StockfishNetwork {
    network: Arc<Network>,
    name: String,
    /// The last positions with their sums; `None` in a slot that is not used yet.
    kept: [(Option<Placement>, Accumulator); KEPT],
    /// Index of the oldest entry in `kept`.
    oldest: usize,
    /// Buffer for the sums of the next position.
    spare: Accumulator,
}

impl StockfishNetwork {
    /// Reads a `.nnue` file, as `export_net` of Stockfish 16 to 18 writes it. Fails if the file has
    /// more parameters than such a network: the layers of other sizes would be read wrongly.
    pub fn read(path: &Path) -> Result<Self> {
        let name = || format!("network '{}'", path.display());
        let file = std::fs::metadata(path).with_context(name)?;
        // Reading a pipe or a device could block for ever.
        ensure!(file.is_file(), "{}: not a regular file", name());
        ensure!(file.len() <= LARGEST_FILE, "{}: larger than 1 GiB", name());
        let bytes = std::fs::read(path).with_context(name)?;
        // The library reserves the memory for a description before it reads it.
        let described = bytes.get(DESCRIBED..).and_then(|rest| rest.first_chunk::<4>());
        let described = described.map(|&length| u32::from_le_bytes(length) as usize);
        ensure!(
            described.is_some_and(|length| length <= bytes.len()),
            "{}: not a complete network; use a network of Stockfish 16 to 18",
            name()
        );
        let mut rest = &bytes[..];
        let network = Network::from_reader(&mut rest).with_context(name)?;
        ensure!(
            rest.is_empty(),
            "{}: {} bytes are left over; use a network of Stockfish 16 to 18",
            name(),
            rest.len()
        );
        let digits = hex(&Sha256::digest(&bytes));
        let spare = network.empty_accumulator();
        let kept = std::array::from_fn(|_| (None, spare.clone()));
        let name = format!("nn-{}.nnue", &digits[..NAME_DIGITS]);
        Ok(Self { network: Arc::new(network), name, kept, oldest: 0, spare })
    }

    /// Stockfish's name of the network: `nn-`, the first digits of its SHA-256, `.nnue`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Stockfish 16's static evaluation in centipawns, for the side to move. It takes less time for
    /// a position that differs by one move from one of the last positions.
    pub fn centipawns(&mut self, position: &Placement) -> i32 {
        match nearest(&self.kept, position) {
            Some((before, known)) => {
                let (before, after) = (Seen(before), Seen(position));
                self.network.update(&before, &after, known, &mut self.spare);
            }
            None => self.network.refresh(&Seen(position), &mut self.spare),
        }
        let units = self.network.evaluate_accumulator(&self.spare, color(position.side_to_move));
        let (kept, sums) = &mut self.kept[self.oldest];
        *kept = Some(*position);
        std::mem::swap(sums, &mut self.spare);
        self.oldest = (self.oldest + 1) % KEPT;
        (i64::from(units) * 100 / UNITS_OF_A_PAWN) as i32
    }
}

impl EvaluateOne for StockfishNetwork {
    fn key(&self) -> PositionKey {
        PositionKey::WithoutEnPassant
    }

    fn evaluate(&mut self, board: &Board) -> Result<f32> {
        let centipawns = self.centipawns(&Placement::of(board));
        Ok(2.0 * win_probability_of_centipawns(centipawns.into()) as f32 - 1.0)
    }
}

/// The kept position with the fewest changed squares, if its sums can be updated.
fn nearest<'a>(
    kept: &'a [(Option<Placement>, Accumulator)],
    position: &Placement,
) -> Option<(&'a Placement, &'a Accumulator)> {
    let used = kept.iter().filter_map(|(kept, sums)| Some((kept.as_ref()?, sums)));
    let differ = |a: &[BitBoard], b: &[BitBoard]| {
        a.iter().zip(b).fold(BitBoard::EMPTY, |all, (&a, &b)| all | (a ^ b))
    };
    let changes = |kept: &Placement| {
        let by_color = differ(&kept.colors, &position.colors);
        (by_color | differ(&kept.pieces, &position.pieces)).len()
    };
    let counted = used.map(|(kept, sums)| (changes(kept), (kept, sums)));
    let close = counted.filter(|(changes, _)| *changes <= MOST_CHANGED);
    close.min_by_key(|(changes, _)| *changes).map(|(_, nearest)| nearest)
}

/// The kinds of pieces in the order of [`Placement`].
const KINDS: [PieceKind; Piece::NUM] = [
    PieceKind::Pawn,
    PieceKind::Knight,
    PieceKind::Bishop,
    PieceKind::Rook,
    PieceKind::Queen,
    PieceKind::King,
];

/// Adapts a [`Placement`] to the interface of `nnue-rs`.
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
        let Placement { colors, pieces, .. } = self.0;
        for side in Color::ALL {
            for (squares, kind) in pieces.iter().zip(KINDS) {
                for square in *squares & colors[side as usize] {
                    visit(square as u8, nnue_rs::Piece::new(color(side), kind));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path) -> String {
        format!("{:#}", StockfishNetwork::read(path).err().expect("no network"))
    }

    #[test]
    fn what_is_no_network_is_refused_before_it_fills_the_memory() -> Result<()> {
        let path = std::env::temp_dir().join(format!("azimuth-{}.nnue", std::process::id()));
        let version = 0x7af3_2f20_u32.to_le_bytes();
        let endless = [version, [0; 4], [0xff; 4]].concat();
        let refused = [&b"short"[..], &endless[..]].map(|bytes| -> Result<String> {
            std::fs::write(&path, bytes)?;
            Ok(refusal(&path))
        });
        std::fs::remove_file(&path)?;
        for error in refused.into_iter().collect::<Result<Vec<_>>>()? {
            assert!(error.contains("not a complete network; use a network of"), "{error}");
        }
        #[cfg(unix)]
        assert_eq!(refusal("/dev/zero".as_ref()), "network '/dev/zero': not a regular file");
        Ok(())
    }
}
