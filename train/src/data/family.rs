//! The common form of all formats of labelled positions: families within games.

use std::fmt;

use anyhow::{Result, ensure};
use azimuth_chess::position::board_after;
use azimuth_chess::win_probability::{
    centipawns_of_win_probability, win_probability_of_centipawns,
};
use cozy_chess::{Board, Color, Move};
use sha2::{Digest, Sha256};

use super::packed::PackedPosition;

/// Maximum number of labels in a game; it protects memory against endless input.
pub const MOST_LABELS_A_GAME: usize = 1 << 18;

/// A position with its label, or with the labels of the positions after its moves (siblings).
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The position.
    pub board: Board,
    /// Its label or labels.
    pub labels: FamilyLabels,
}

/// The labels of a family.
#[derive(Clone, Debug, PartialEq)]
pub enum FamilyLabels {
    /// The position itself.
    Own(Label),
    /// The positions after these distinct moves.
    Children(Vec<(Move, Label)>),
}

impl Family {
    /// A family of a single labelled position.
    pub fn own(board: Board, label: Label) -> Self {
        Self { board, labels: FamilyLabels::Own(label) }
    }

    /// Number of labelled positions.
    pub fn len(&self) -> usize {
        match &self.labels {
            FamilyLabels::Own(_) => 1,
            FamilyLabels::Children(children) => children.len(),
        }
    }

    /// Whether no position is labelled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The labelled positions in order.
    pub fn positions(&self) -> impl Iterator<Item = (Board, Label)> {
        let (own, children) = match &self.labels {
            FamilyLabels::Own(label) => (Some((self.board.clone(), *label)), &[][..]),
            FamilyLabels::Children(children) => (None, children.as_slice()),
        };
        let after = |&(mv, label): &(Move, Label)| (board_after(&self.board, mv), label);
        own.into_iter().chain(children.iter().map(after))
    }

    /// Keeps the labelled positions for which `pass` returns true. `pass` gets the position, its
    /// label, and the win probability that the move to it loses compared with the best labelled
    /// move.
    pub fn retain(&mut self, mut pass: impl FnMut(&Board, Label, f32) -> bool) {
        match &mut self.labels {
            FamilyLabels::Own(label) => {
                if !pass(&self.board, *label, 0.0) {
                    self.labels = FamilyLabels::Children(Vec::new());
                }
            }
            FamilyLabels::Children(children) => {
                let board = &self.board;
                let won = |label: Label| label.seen_by(board.side_to_move()).win_probability();
                let best = children.iter().map(|&(_, label)| won(label)).fold(0.0, f32::max);
                children
                    .retain(|&(mv, label)| pass(&board_after(board, mv), label, best - won(label)));
            }
        }
    }
}

/// Families of one game, which all belong to the same split.
#[derive(Clone, Debug)]
pub struct Game {
    /// The split.
    pub split: Split,
    /// The families in order.
    pub families: Vec<Family>,
}

impl Game {
    /// A game; its split is computed from its labelled positions, in order.
    pub fn new(families: Vec<Family>) -> Self {
        let mut content = ContentHash::default();
        for (board, label) in families.iter().flat_map(Family::positions) {
            content.add(&board, label);
        }
        Self { split: content.split(), families }
    }

    /// Whether no position is labelled.
    pub fn is_empty(&self) -> bool {
        self.families.iter().all(Family::is_empty)
    }

    /// Number of labelled positions.
    pub fn len(&self) -> usize {
        self.families.iter().map(Family::len).sum()
    }
}

/// The hash of a game's labelled positions.
#[derive(Clone, Default)]
pub struct ContentHash(Sha256);

impl ContentHash {
    /// Adds a position.
    pub fn add(&mut self, board: &Board, label: Label) {
        self.0.update(PackedPosition::new(board, label).bytes());
    }

    /// The split of a game that consists of the added positions.
    pub fn split(self) -> Split {
        let digest = self.0.finalize();
        Split::of(u64::from_le_bytes(std::array::from_fn(|index| digest[index])))
    }
}

/// Rejects a game with too many labels.
pub fn check_length(labels: usize) -> Result<()> {
    ensure!(
        labels <= MOST_LABELS_A_GAME,
        "more than {MOST_LABELS_A_GAME} labelled positions in one game"
    );
    Ok(())
}

/// Stored labels from this value on, with either sign, are forced mates.
const MATE: i16 = 31_000;

/// Larger centipawn values are stored as this one; their win probability rounds to 0 or 1.
const MOST_CENTIPAWNS: i32 = 30_000;

/// The label of a position, from White's point of view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Centipawns.
    Centipawns(i32),
    /// A forced mate; `true` if White mates.
    Mate(bool),
}

impl Label {
    /// The label of a win probability in [0, 1] from White's point of view, to the nearest
    /// centipawn (an error of at most 0.0005 in win probability). Exactly 0 and 1 are forced mates.
    /// `None` outside of [0, 1].
    pub fn of_win_probability(p: f64) -> Option<Self> {
        match p {
            1.0 => Some(Self::Mate(true)),
            0.0 => Some(Self::Mate(false)),
            p if p > 0.0 && p < 1.0 => Some(Self::Centipawns(centipawns_of_win_probability(p))),
            _ => None,
        }
    }

    /// Parses `#3` or `#-3` (a mate) or centipawns, from White's point of view.
    pub fn parse_centipawns(text: &str) -> Option<Self> {
        match text.strip_prefix('#') {
            Some(moves) => Some(Self::Mate(!moves.starts_with('-'))),
            None => {
                let centipawns: f64 = text.parse().ok()?;
                centipawns.is_finite().then(|| Self::Centipawns(centipawns.round() as i32))
            }
        }
    }

    /// Converts a label between White's point of view and that of `color`, in either direction.
    pub fn seen_by(self, color: Color) -> Self {
        match (self, color) {
            (label, Color::White) => label,
            (Self::Centipawns(value), Color::Black) => Self::Centipawns(value.saturating_neg()),
            (Self::Mate(white), Color::Black) => Self::Mate(!white),
        }
    }

    /// The win probability of White, in [0, 1]; a forced mate is exactly 0 or 1.
    pub fn win_probability(self) -> f32 {
        match self {
            Self::Mate(true) => 1.0,
            Self::Mate(false) => 0.0,
            Self::Centipawns(value) => win_probability_of_centipawns(value.into()) as f32,
        }
    }

    /// A 16-bit encoding that preserves the order of labels.
    pub fn bits(self) -> i16 {
        match self {
            Self::Centipawns(value) => value.clamp(-MOST_CENTIPAWNS, MOST_CENTIPAWNS) as i16,
            Self::Mate(true) => MATE,
            Self::Mate(false) => -MATE,
        }
    }

    /// Decodes a label from [`Self::bits`].
    pub fn from_bits(bits: i16) -> Self {
        match bits {
            MATE.. => Self::Mate(true),
            value if value <= -MATE => Self::Mate(false),
            value => Self::Centipawns(value.into()),
        }
    }
}

/// Centipawns, or `#1` and `#-1` for a forced mate, as [`Label::parse_centipawns`] reads it.
impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Centipawns(value) => value.fmt(f),
            Self::Mate(true) => f.pad("#1"),
            Self::Mate(false) => f.pad("#-1"),
        }
    }
}

/// Percentage of games for fitting the calibration only.
const CALIBRATION_SHARE: u64 = 1;

/// Percentage of games for metrics only.
const HELD_OUT_SHARE: u64 = 4;

/// A split of the data; all positions of a game are in the same split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// For fitting the parameters.
    Training,
    /// For fitting the calibration.
    Calibration,
    /// For measuring metrics.
    HeldOut,
}

impl Split {
    /// Number of splits.
    pub const NUM: usize = 3;

    /// All splits, in the order of a dataset file.
    pub const ALL: [Self; Self::NUM] = [Self::Training, Self::Calibration, Self::HeldOut];

    /// The split of a game whose content has this digest. It does not depend on the other data.
    pub fn of(digest: u64) -> Self {
        match digest % 100 {
            bucket if bucket < CALIBRATION_SHARE => Self::Calibration,
            bucket if bucket < CALIBRATION_SHARE + HELD_OUT_SHARE => Self::HeldOut,
            _ => Self::Training,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn centipawns_come_back_from_their_win_probability() {
        for centipawns in (-2_000..=2_000).step_by(7) {
            let p = win_probability_of_centipawns(centipawns.into());
            assert_eq!(Label::of_win_probability(p), Some(Label::Centipawns(centipawns)));
        }
        assert_eq!(Label::of_win_probability(1.0), Some(Label::Mate(true)));
        for outside in [-0.1, 1.5, f64::NAN, f64::INFINITY] {
            assert_eq!(Label::of_win_probability(outside), None, "{outside}");
        }
    }

    #[test]
    fn bits_keep_what_labels_say() {
        for label in [Label::Mate(true), Label::Mate(false), Label::Centipawns(-312)] {
            assert_eq!(Label::from_bits(label.bits()), label);
            assert_eq!(Label::parse_centipawns(&label.to_string()), Some(label));
            assert_eq!(label.seen_by(Color::Black).seen_by(Color::Black), label);
        }
        let far = Label::Centipawns(i32::MIN);
        assert_eq!(Label::from_bits(far.bits()), Label::Centipawns(-MOST_CENTIPAWNS));
        assert_eq!(Label::parse_centipawns("#-4"), Some(Label::Mate(false)));
        assert_eq!(Label::parse_centipawns("-12.6"), Some(Label::Centipawns(-13)));
        for text in ["", "inf", "e4", "nan"] {
            assert_eq!(Label::parse_centipawns(text), None, "{text}");
        }
    }
}
