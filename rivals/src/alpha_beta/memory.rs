//! Results of earlier nodes, so that a position that several lines reach is searched once (document
//! 004, section 6). This is a transposition table that keeps the newest result of each place.

use cozy_chess::Move;

use super::worth::Worth;

/// The result of a node.
#[derive(Clone)]
pub struct Remembered<L> {
    pub worth: Worth<L>,
    pub bound: Bound,
    pub best: Move,
    /// The depth in plies to which the node was searched.
    pub depth: u32,
}

/// How a result relates to that of a search without pruning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Exact,
    /// The position is worth at least this to the side to move.
    AtLeast,
    /// The position is worth at most this to the side to move.
    AtMost,
}

/// A fixed number of places for results.
pub struct Memory<L> {
    places: Vec<Option<(u64, Remembered<L>)>>,
}

impl<L> Memory<L> {
    /// A memory of `count` positions; with 0 it remembers nothing.
    pub fn new(count: usize) -> Self {
        Self { places: (0..count).map(|_| None).collect() }
    }

    /// The result of the position with this key; `None` if it is not stored.
    pub fn get(&self, key: u64) -> Option<&Remembered<L>> {
        let (known, result) = self.places.get(self.place(key)?)?.as_ref()?;
        (*known == key).then_some(result)
    }

    /// Remembers a result, except that of a finished game. Such a result can differ between paths:
    /// the distance to mate depends on the ply, and a draw can depend on earlier positions.
    pub fn set(&mut self, key: u64, result: Remembered<L>) {
        if let (Some(place), Worth::Leaf(_)) = (self.place(key), &result.worth) {
            self.places[place] = Some((key, result));
        }
    }

    /// Forgets all results.
    pub fn clear(&mut self) {
        self.places.iter_mut().for_each(|place| *place = None);
    }

    fn place(&self, key: u64) -> Option<usize> {
        (key as usize).checked_rem(self.places.len())
    }
}
