//! Feature sets, and the rows of their features in the table.

use std::fmt;
use std::str::FromStr;

use anyhow::{Result, anyhow, ensure};
use cozy_chess::{File, Piece, Rank, Square};
use serde::{Deserialize, Serialize};

use super::states::{THREAT_PAIRS, THREAT_STEPS};

/// Number of piece-squares: pieces of both sides times squares.
pub const PIECE_SQUARES: usize = 2 * Piece::NUM * 64;

/// Row indices have 16 bits, and the largest one marks an empty slot.
const MAX_ROWS: usize = u16::MAX as usize;

/// A set of features. Its name lists its parts, as in `exchange-states-16+threats`: the states of a
/// piece on its square, then additional features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct FeatureSet {
    /// The states of a piece.
    pub states: States,
    /// The effect of a side's king on that side's view.
    pub king: KingView,
    /// Whether threats on the whole board are features: the best exchanges of both sides, the two
    /// best of the side that is not to move, and the safe checks of both.
    pub threats: bool,
    /// Whether the kinds of pieces that attack or defend a piece are features: one row for each kind
    /// and each piece on its square.
    pub attackers: bool,
}

/// Number of threat features: every pair of threats, from the view of both sides.
const THREATS: usize = THREAT_PAIRS * 2 * THREAT_STEPS * THREAT_STEPS;

/// Number of kinds of piece: the types of both sides.
pub const KINDS: usize = 2 * Piece::NUM;

/// Number of attacker features: a kind of attacker and the piece that it attacks.
const ATTACKERS: usize = KINDS * PIECE_SQUARES;

/// The states of a piece on its square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum States {
    /// One state: the piece on its square.
    PieceSquare,
    /// Sixteen states, mainly the gain of captures on its square.
    Exchange,
}

/// The effect of a side's king on the squares of that side's view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KingView {
    /// No effect.
    None,
    /// The board is mirrored so that the own king is on the files a to d.
    Mirror,
    /// As `Mirror`, and every piece has separate rows for each of four king zones: first rank on
    /// the files a and b, first rank on c and d, second rank, elsewhere.
    FourBuckets,
    /// As `Mirror`, with ten king zones: the squares a1, b1, c1 and d1, the files a and b and the
    /// files c and d of the second rank and of the third, fourth rank, elsewhere.
    TenBuckets,
}

impl KingView {
    fn buckets(self) -> usize {
        match self {
            Self::None | Self::Mirror => 1,
            Self::FourBuckets => 4,
            Self::TenBuckets => 10,
        }
    }

    /// The bucket of a king on `square`, given as for White with the king on the files a to d.
    pub(super) fn bucket(self, square: Square) -> usize {
        let central = usize::from(square.file() > File::B);
        match (self, square.rank()) {
            (Self::None | Self::Mirror, _) => 0,
            (Self::FourBuckets, Rank::First) => central,
            (Self::FourBuckets, Rank::Second) => 2,
            (Self::FourBuckets, _) => 3,
            (Self::TenBuckets, Rank::First) => square.file() as usize,
            (Self::TenBuckets, Rank::Second) => 4 + central,
            (Self::TenBuckets, Rank::Third) => 6 + central,
            (Self::TenBuckets, Rank::Fourth) => 8,
            (Self::TenBuckets, _) => 9,
        }
    }

    /// Whether each bucket of this view lies within one of `coarser`.
    pub fn refines(self, coarser: Self) -> bool {
        match self {
            Self::None | Self::Mirror => false,
            Self::FourBuckets => coarser == Self::Mirror,
            Self::TenBuckets => matches!(coarser, Self::Mirror | Self::FourBuckets),
        }
    }

    /// The bucket of a `coarser` view that contains `bucket`.
    fn bucket_in(self, bucket: usize, coarser: Self) -> usize {
        let mut squares = Square::ALL.into_iter().filter(|square| square.file() <= File::D);
        let square = squares.find(|&square| self.bucket(square) == bucket);
        square.map_or(0, |square| coarser.bucket(square))
    }
}

const STATES: [(States, &str); 2] =
    [(States::PieceSquare, "piece-square"), (States::Exchange, "exchange-states-16")];

const KINGS: [(KingView, &str); 4] = [
    (KingView::None, ""),
    (KingView::Mirror, "king-mirror"),
    (KingView::FourBuckets, "king-buckets-4"),
    (KingView::TenBuckets, "king-buckets-10"),
];

const THREATS_NAME: &str = "threats";
const ATTACKERS_NAME: &str = "attackers";

impl FeatureSet {
    /// Number of threat features in one side's view.
    pub const THREATS_SEEN: i32 = THREAT_PAIRS as i32;

    /// More attacker features than a view has in any position of a game. A position with more can
    /// be composed, and a feature sum may then wrap around.
    pub const MOST_ATTACKERS: i32 = 96;

    /// Whether the rows of pieces depend on more than the pieces and their squares, so that one move
    /// changes many of them.
    pub fn has_states(self) -> bool {
        self.states != States::PieceSquare || self.threats
    }

    /// Number of views of a side, by the square of its king.
    pub fn views(self) -> usize {
        2 * self.king.buckets()
    }

    /// Number of rows for one piece on one square.
    #[inline]
    pub fn variants(self) -> usize {
        self.king.buckets() * self.states()
    }

    #[inline]
    fn states(self) -> usize {
        match self.states {
            States::PieceSquare => 1,
            States::Exchange => 16,
        }
    }

    /// The first row of a bucket's pieces; a piece's row is `state * 768 + piece-square` further.
    pub(super) fn first_piece(self, bucket: usize) -> usize {
        bucket * self.states() * PIECE_SQUARES
    }

    /// The row of a pair of threats for the side to move (view 0) or the other side (view 1), after
    /// the rows of the pieces.
    pub(super) fn threat_row(self, index: usize, view: usize, pair: usize) -> usize {
        self.first_threat() + (2 * index + view) * THREAT_STEPS * THREAT_STEPS + pair
    }

    /// Index of the first threat row; earlier rows are pieces on squares.
    #[inline]
    pub fn first_threat(self) -> usize {
        self.variants() * PIECE_SQUARES
    }

    /// Number of rows in the embedding table.
    pub fn rows(self) -> usize {
        self.first_attacker() + if self.attackers { ATTACKERS } else { 0 }
    }

    /// Index of the first row of attackers, the last rows of the table.
    pub fn first_attacker(self) -> usize {
        self.first_threat() + if self.threats { THREATS } else { 0 }
    }

    /// The piece-square of a row of a piece; `None` for threats and attackers.
    pub fn piece_square(self, row: usize) -> Option<usize> {
        (row < self.first_threat()).then_some(row % PIECE_SQUARES)
    }

    /// The row of the same feature in the set with `king` as the king's view, which must be
    /// coarser.
    pub fn row_with(self, king: KingView, row: usize) -> usize {
        let set = Self { king, ..self };
        let zone = self.states() * PIECE_SQUARES;
        match row.checked_sub(self.first_threat()) {
            None => self.king.bucket_in(row / zone, king) * zone + row % zone,
            Some(other) => set.first_threat() + other,
        }
    }

    /// Number of components that rows share in training: one per piece-square and, if rows depend
    /// on the king's zone, one per piece-square and state for all zones together.
    pub fn shared_rows(self) -> usize {
        PIECE_SQUARES * (1 + self.shared_states())
    }

    /// The shared components of a row; none for threats and attackers.
    pub fn shared(self, row: usize) -> impl Iterator<Item = usize> {
        let parts = self.piece_square(row).map(|piece_square| {
            let state = row / PIECE_SQUARES % self.states();
            let state = (self.shared_states() > 0).then_some(1 + state);
            [Some(0), state].map(|part| part.map(|part| part * PIECE_SQUARES + piece_square))
        });
        parts.into_iter().flatten().flatten()
    }

    fn shared_states(self) -> usize {
        if self.king.buckets() > 1 { self.states() } else { 0 }
    }
}

impl fmt::Display for FeatureSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let states = STATES.iter().find(|known| known.0 == self.states).map_or("", |known| known.1);
        let king = KINGS.iter().find(|known| known.0 == self.king).map_or("", |known| known.1);
        let threats = if self.threats { THREATS_NAME } else { "" };
        let attackers = if self.attackers { ATTACKERS_NAME } else { "" };
        write!(f, "{states}")?;
        [king, threats, attackers]
            .iter()
            .filter(|part| !part.is_empty())
            .try_for_each(|part| write!(f, "+{part}"))
    }
}

impl FromStr for FeatureSet {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> Result<Self> {
        let mut parts = name.split('+');
        let states = parts.next().unwrap_or_default();
        let unknown = |part: &str| {
            anyhow!(
                "features '{name}': '{part}' is none of piece-square, exchange-states-16, \
                 and after a '+' king-mirror, king-buckets-4, king-buckets-10, threats, attackers"
            )
        };
        let known = STATES.iter().find(|known| known.1 == states).ok_or_else(|| unknown(states))?;
        let mut set =
            Self { states: known.0, king: KingView::None, threats: false, attackers: false };
        for part in parts {
            match KINGS.iter().find(|known| known.1 == part && !part.is_empty()) {
                Some(king) => set.king = king.0,
                None if part == THREATS_NAME => set.threats = true,
                None if part == ATTACKERS_NAME => set.attackers = true,
                None => return Err(unknown(part)),
            }
        }
        ensure!(
            set.rows() <= MAX_ROWS,
            "features '{name}': {} rows, at most {MAX_ROWS}",
            set.rows()
        );
        Ok(set)
    }
}

impl TryFrom<String> for FeatureSet {
    type Error = anyhow::Error;

    fn try_from(name: String) -> Result<Self> {
        name.parse()
    }
}

impl From<FeatureSet> for String {
    fn from(set: FeatureSet) -> Self {
        set.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() -> Result<()> {
        for name in [
            "piece-square",
            "exchange-states-16+king-mirror+threats",
            "piece-square+king-buckets-4",
            "piece-square+king-buckets-10+attackers",
        ] {
            assert_eq!(name.parse::<FeatureSet>()?.to_string(), name);
        }
        for name in ["", "piece-square+", "mirror", "piece-square+roles"] {
            assert!(name.parse::<FeatureSet>().is_err(), "{name}");
        }
        Ok(())
    }
}
