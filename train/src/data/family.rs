//! The common form of all formats of labelled positions: families within games, and the split of
//! a game.

use anyhow::{Result, ensure};
use azimuth_chess::position::board_after;
use cozy_chess::{Board, Move};
use sha2::{Digest, Sha256};

use super::packed::{Label, PackedPosition};

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

    /// Keeps the labelled positions for which `pass` returns true. Its last argument is the win
    /// probability that the move to the position loses compared with the best labelled move.
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
                let loss = |label: Label| best - won(label);
                children.retain(|&(mv, label)| pass(&board_after(board, mv), label, loss(label)));
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

    /// Number of labelled positions.
    pub fn labels(&self) -> usize {
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
    let fits = labels <= MOST_LABELS_A_GAME;
    ensure!(fits, "more than {MOST_LABELS_A_GAME} labelled positions in one game");
    Ok(())
}

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

    /// The split of a game whose content has this digest, which does not depend on the other data.
    /// One percent of the games is for the calibration only, and four percent for metrics only.
    pub fn of(digest: u64) -> Self {
        match digest % 100 {
            0 => Self::Calibration,
            1..5 => Self::HeldOut,
            _ => Self::Training,
        }
    }
}
