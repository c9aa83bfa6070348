//! Encoding and decoding of a family as bytes (see [`super::DatasetFile`]).

use std::ops::Range;

use anyhow::{Context, Result};
use azimuth_chess::position::board_after;
use cozy_chess::{Board, Color, Move};

use crate::data::family::{Family, FamilyLabels};
use crate::data::packed::{Label, PackedPosition};

/// Bytes of a family before its pieces.
const FIXED: usize = 13;

const BLACK_TO_MOVE: u8 = 128;

/// Bytes of a child: its move and its label.
const CHILD: usize = 3;

/// The legal moves in the order of their indices.
fn numbered_moves(board: &Board) -> Vec<Move> {
    let mut moves = azimuth_chess::position::legal_moves(board);
    let key = |mv: &Move| (mv.from as u8, mv.to as u8, mv.promotion.map_or(0, |p| p as u8 + 1));
    moves.sort_unstable_by_key(key);
    moves
}

/// Appends a family to `bytes`. Its moves must be legal.
pub fn encode(family: &Family, bytes: &mut Vec<u8>) -> Result<()> {
    // The label of the board is stored with the other labels.
    let packed = PackedPosition::new(&family.board, Label::Centipawns(0));
    let children = match &family.labels {
        FamilyLabels::Own(_) => &[][..],
        FamilyLabels::Children(children) => children.as_slice(),
    };
    bytes.push(u8::try_from(children.len()).context("a family of more than 255 children")?);
    bytes.push(packed.en_passant | if packed.black_to_move { BLACK_TO_MOVE } else { 0 });
    bytes.push(packed.halfmove_clock);
    bytes.extend_from_slice(&packed.fullmove_number.to_le_bytes());
    bytes.extend_from_slice(&packed.occupied.to_le_bytes());
    bytes.extend_from_slice(&packed.codes[..packed.pieces_on_board().div_ceil(2)]);
    if let FamilyLabels::Own(label) = family.labels {
        bytes.extend_from_slice(&label.bits().to_le_bytes());
    }
    let numbered = numbered_moves(&family.board);
    for (mv, label) in children {
        let number = numbered.iter().position(|other| other == mv);
        let number = number.with_context(|| format!("move {mv} in '{}'", family.board))?;
        bytes.push(number as u8);
        bytes.extend_from_slice(&label.bits().to_le_bytes());
    }
    Ok(())
}

/// A family as encoded in a file.
#[derive(Clone, Copy)]
pub struct EncodedFamily<'a> {
    fixed: &'a [u8],
    codes: &'a [u8],
    labels: &'a [u8],
}

impl<'a> EncodedFamily<'a> {
    /// Splits off the first family. `None` if the bytes end within it or it has over 32 pieces.
    pub fn split(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let (fixed, rest) = bytes.split_at_checked(FIXED)?;
        let pieces = fixed[5..].iter().map(|byte| byte.count_ones() as usize).sum::<usize>();
        let (codes, rest) = rest.split_at_checked(pieces.div_ceil(2))?;
        let size = match fixed[0] {
            0 => size_of::<i16>(),
            children => usize::from(children) * CHILD,
        };
        let (labels, rest) = rest.split_at_checked(size)?;
        // A packed position holds at most 32 pieces.
        (pieces <= 32).then_some((Self { fixed, codes, labels }, rest))
    }

    /// Number of labelled positions.
    pub fn len(&self) -> usize {
        usize::from(self.fixed[0]).max(1)
    }

    /// The label of the position `index`, below [`Self::len`].
    pub fn label(&self, index: usize) -> Label {
        let at = if self.is_own() { 0 } else { index * CHILD + 1 };
        Label::from_bits(i16::from_le_bytes([self.labels[at], self.labels[at + 1]]))
    }

    /// The side to move in the labelled positions.
    pub fn side_to_move(&self) -> Color {
        let black_moves = self.fixed[1] & BLACK_TO_MOVE != 0;
        if black_moves == self.is_own() { Color::Black } else { Color::White }
    }

    /// Decodes the family. Fails if its position or a move is illegal.
    pub fn decode(&self) -> Result<Family> {
        let board = self.board()?;
        if self.is_own() {
            return Ok(Family::own(board, self.label(0)));
        }
        let numbered = numbered_moves(&board);
        let child = |index| Ok((self.mv(index, &numbered)?, self.label(index)));
        let children = (0..self.len()).map(child).collect::<Result<_>>()?;
        Ok(Family { board, labels: FamilyLabels::Children(children) })
    }

    /// Calls `visit` with the labelled positions of `range`, below [`Self::len`].
    pub fn positions(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(PackedPosition),
    ) -> Result<()> {
        let board = self.board()?;
        if self.is_own() {
            visit(PackedPosition::new(&board, self.label(0)));
            return Ok(());
        }
        let numbered = numbered_moves(&board);
        for index in range {
            let child = board_after(&board, self.mv(index, &numbered)?);
            visit(PackedPosition::new(&child, self.label(index)));
        }
        Ok(())
    }

    fn is_own(&self) -> bool {
        self.fixed[0] == 0
    }

    fn mv(&self, index: usize, numbered: &[Move]) -> Result<Move> {
        let number = usize::from(self.labels[index * CHILD]);
        let unknown = || format!("a family's move has the number {number} of {}", numbered.len());
        numbered.get(number).copied().with_context(unknown)
    }

    fn board(&self) -> Result<Board> {
        let fixed = self.fixed;
        let mut codes = [0; 16];
        codes[..self.codes.len()].copy_from_slice(self.codes);
        let packed = PackedPosition {
            occupied: u64::from_le_bytes(std::array::from_fn(|index| fixed[5 + index])),
            codes,
            label: 0,
            fullmove_number: u16::from_le_bytes([fixed[3], fixed[4]]),
            halfmove_clock: fixed[2],
            en_passant: fixed[1] & !BLACK_TO_MOVE,
            black_to_move: fixed[1] & BLACK_TO_MOVE != 0,
        };
        packed.board()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn family(fen: &str) -> Family {
        let board: Board = fen.parse().expect("valid");
        let moves = azimuth_chess::position::legal_moves(&board).into_iter().rev().enumerate();
        let label = |index: usize| Label::Centipawns(index as i32 * 10 - 50);
        let children = moves.map(|(index, mv)| (mv, label(index))).collect();
        Family { board, labels: FamilyLabels::Children(children) }
    }

    #[test]
    fn families_come_back_from_their_bytes() -> Result<()> {
        let castling = family("r3k2r/8/8/3pP3/8/8/6p1/R3K2R w KQkq d6 0 7");
        let promotions = family("8/P7/7p/8/8/2k5/8/2K5 w - - 99 65535");
        let own = Family::own(castling.board.clone(), Label::Mate(false));
        let mut bytes = Vec::new();
        for family in [&castling, &promotions, &own] {
            encode(family, &mut bytes)?;
        }
        let mut rest = bytes.as_slice();
        for family in [&castling, &promotions, &own] {
            let (encoded, after) = EncodedFamily::split(rest).context("a family")?;
            assert_eq!(encoded.decode()?, *family);
            assert_eq!(encoded.len(), family.len());
            let mut positions = Vec::new();
            encoded.positions(0..encoded.len(), |position| positions.push(position))?;
            for (index, (board, label)) in family.positions().enumerate() {
                assert_eq!(positions[index], PackedPosition::new(&board, label));
                assert_eq!(encoded.label(index), label);
                assert_eq!(encoded.side_to_move(), board.side_to_move());
            }
            rest = after;
        }
        assert!(rest.is_empty());
        Ok(())
    }

    #[test]
    fn no_bytes_panic() {
        let mut bytes = Vec::new();
        encode(&family("r3k2r/8/8/3pP3/8/8/6p1/R3K2R w KQkq d6 0 7"), &mut bytes).expect("legal");
        for index in 0..bytes.len() {
            for value in [0, 1, 7, 64, 128, 255] {
                let mut damaged = bytes.clone();
                damaged[index] = value;
                if let Some((family, _)) = EncodedFamily::split(&damaged) {
                    let _ = family.decode();
                }
            }
            assert!(EncodedFamily::split(&bytes[..index]).is_none());
        }
    }
}
