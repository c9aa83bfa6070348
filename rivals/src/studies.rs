//! The training data of rivals: positions with labelled moves, read from games by the trainer's
//! reader.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use azimuth_chess::position::board_after;
use azimuth_train::data::Label;
use azimuth_train::data::dataset::{self, DataFile};
use azimuth_train::data::family::{Family, FamilyLabels, Split};
use cozy_chess::{Board, Move};
use rand::{Rng, RngExt};

use crate::board::for_side;

/// Approximate number of positions for measuring metrics.
const HELD_OUT: usize = 2_000;

pub const MEASURED_AT_ONCE: usize = 500;

/// A position with labelled moves, each with White's win probability after it.
#[derive(Clone, Debug)]
pub struct Study {
    pub board: Board,
    /// Its labelled moves, at least one.
    pub moves: Vec<(Move, f32)>,
}

impl Study {
    fn of(family: Family) -> Option<Self> {
        let FamilyLabels::Children(children) = family.labels else { return None };
        let p = |(mv, label): (Move, Label)| (mv, label.win_probability());
        let moves: Vec<_> = children.into_iter().map(p).collect();
        (!moves.is_empty()).then_some(Self { board: family.board, moves })
    }

    /// The best of the labelled moves for the side to move, and White's win probability after it.
    pub fn best(&self) -> (Move, f32) {
        let better =
            |a: (Move, f32), b: (Move, f32)| if self.gain(b.1) > self.gain(a.1) { b } else { a };
        self.moves.iter().copied().fold(self.moves[0], better)
    }

    /// A distribution over the labelled moves: the softmax of the win probabilities of the side to
    /// move, divided by `temperature`.
    pub fn preferences(&self, temperature: f32) -> Vec<(Move, f32)> {
        let best = self.gain(self.best().1);
        let weight = |p: f32| ((self.gain(p) - best) / temperature).exp();
        let sum = self.moves.iter().map(|&(_, p)| weight(p)).sum::<f32>();
        self.moves.iter().map(|&(mv, p)| (mv, weight(p) / sum)).collect()
    }

    /// The win probability of the side to move, up to a constant, if White's is `p`.
    fn gain(&self, p: f32) -> f32 {
        for_side(self.board.side_to_move(), p)
    }

    /// The position after a random labelled move, with White's win probability.
    pub fn child(&self, rng: &mut impl Rng) -> (Board, f32) {
        let (mv, p) = self.moves[rng.random_range(0..self.moves.len())];
        (board_after(&self.board, mv), p)
    }
}

/// All studies, in the order of their games.
pub struct Studies {
    pub training: Vec<Study>,
    /// The held-out set: an even sample from games outside the training set.
    pub held_out: Vec<Study>,
    /// The first studies of these games, in order.
    pub held_out_in_order: Vec<Study>,
    pub files: Vec<DataFile>,
}

impl Studies {
    /// Reads the files. Fails if they have no labelled moves for training, or none for measuring.
    pub fn read(paths: &[PathBuf]) -> Result<Self> {
        let (data, files) = dataset::open(paths)?;
        let read = |split, every| -> Result<Vec<Study>> {
            let mut studies = Vec::new();
            data.families(split, every, |family| {
                studies.extend(Study::of(family.decode()?));
                Ok(())
            })?;
            Ok(studies)
        };
        let training = read(Split::Training, 1)?;
        let mut held_out_in_order = read(Split::HeldOut, 1)?;
        let every = held_out_in_order.len().div_ceil(HELD_OUT).max(1);
        let held_out: Vec<Study> = held_out_in_order.iter().step_by(every).cloned().collect();
        held_out_in_order.truncate(HELD_OUT);
        ensure!(
            !training.is_empty() && !held_out.is_empty(),
            "the data has too few games with labelled moves: {} positions to learn from and {} held out, of which \
             there must be some",
            training.len(),
            held_out.len()
        );
        Ok(Self { training, held_out, held_out_in_order, files })
    }
}
