//! What every format of labelled positions comes down to: families within games.

use anyhow::{Result, ensure};
use azimuth_chess::position::board_after;
use cozy_chess::{Board, Move};
use sha2::{Digest, Sha256};

use super::label::Label;
use super::packed::PackedPosition;
use super::split::Split;

/// Longer games are no games; one without an end must not fill the memory.
pub const MOST_LABELS_A_GAME: usize = 1 << 18;

/// A position with what the data says of it, or of the positions after its moves, which are siblings.
#[derive(Clone, Debug, PartialEq)]
pub struct Family {
    /// The position.
    pub board: Board,
    /// What is labelled.
    pub labels: Labels,
}

/// What of a family is labelled.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// The position itself.
    Own(Label),
    /// The positions after these moves, each named once.
    Children(Vec<(Move, Label)>),
}

impl Family {
    /// A position labelled by itself.
    pub fn own(board: Board, label: Label) -> Self {
        Self { board, labels: Labels::Own(label) }
    }

    /// How many positions are labelled.
    pub fn len(&self) -> usize {
        match &self.labels {
            Labels::Own(_) => 1,
            Labels::Children(children) => children.len(),
        }
    }

    /// Whether nothing is labelled.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The labelled positions in their order.
    pub fn positions(&self) -> impl Iterator<Item = (Board, Label)> {
        let (own, children) = match &self.labels {
            Labels::Own(label) => (Some((self.board.clone(), *label)), &[][..]),
            Labels::Children(children) => (None, children.as_slice()),
        };
        let after = |&(mv, label): &(Move, Label)| (board_after(&self.board, mv), label);
        own.into_iter().chain(children.iter().map(after))
    }

    /// Keeps the labelled positions that pass. `pass` is given the position, its label, and the win probability
    /// that the move to it gives away beside the best labelled one.
    pub fn retain(&mut self, mut pass: impl FnMut(&Board, Label, f32) -> bool) {
        match &mut self.labels {
            Labels::Own(label) => {
                if !pass(&self.board, *label, 0.0) {
                    self.labels = Labels::Children(Vec::new());
                }
            }
            Labels::Children(children) => {
                let board = &self.board;
                let won = |label: Label| label.seen_by(board.side_to_move()).win_probability();
                let best = children.iter().map(|&(_, label)| won(label)).fold(0.0, f32::max);
                children
                    .retain(|&(mv, label)| pass(&board_after(board, mv), label, best - won(label)));
            }
        }
    }
}

/// Families that belong together, and to the same part of the data.
#[derive(Clone, Debug)]
pub struct Game {
    /// The part.
    pub split: Split,
    /// The families in the order of their positions.
    pub families: Vec<Family>,
}

impl Game {
    /// A game whose part follows from its labelled positions, in their order.
    pub fn new(families: Vec<Family>) -> Self {
        let mut content = ContentHash::default();
        for (board, label) in families.iter().flat_map(Family::positions) {
            content.add(&board, label);
        }
        Self { split: content.split(), families }
    }

    /// Whether nothing is labelled.
    pub fn is_empty(&self) -> bool {
        self.families.iter().all(Family::is_empty)
    }

    /// How many positions are labelled.
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

    /// The part of a game that consists of the positions added.
    pub fn split(self) -> Split {
        let digest = self.0.finalize();
        Split::of(u64::from_le_bytes(std::array::from_fn(|index| digest[index])))
    }
}

/// Refuses a game that goes on for ever.
pub fn check_length(labels: usize) -> Result<()> {
    ensure!(
        labels <= MOST_LABELS_A_GAME,
        "more than {MOST_LABELS_A_GAME} labelled positions in one game"
    );
    Ok(())
}
