//! Detection of duplicate positions.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, Hasher};

use azimuth_chess::position::repetition_key;
use cozy_chess::Board;

/// A hasher that returns its input: Zobrist hashes are already evenly distributed.
#[derive(Default)]
struct Unchanged(u64);

impl Hasher for Unchanged {
    fn write(&mut self, _: &[u8]) {
        unreachable!("only numbers of 64 bits are hashed");
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The set of positions seen, by Zobrist hash. The hash covers pieces, side to move, castling
/// rights and legal en passant, but not the move counters. Takes 9 to 18 bytes a position.
#[derive(Default)]
pub struct Duplicates(HashSet<u64, BuildHasherDefault<Unchanged>>);

impl Duplicates {
    /// Adds a position. Returns false if it was already seen.
    pub fn is_new(&mut self, board: &Board) -> bool {
        self.0.insert(repetition_key(board))
    }
}
