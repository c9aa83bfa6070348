//! The transposition table: search results by position, shared by all threads without locks (Hyatt
//! and Mann, "A lock-less transposition-table implementation for parallel search"). If two threads
//! write parts of the same entry, the result matches no key.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use anyhow::{Context, Result};
use cozy_chess::{Move, Piece, Square};

use super::score::{Score, from_table, to_table};
use crate::large_memory::{self, prefetch, slot_of};
use crate::value::Bound;

/// Number of entries in a bucket, which is a cache line; a position can be in any of them.
const BUCKET: usize = 4;

/// Plies subtracted from an entry's depth for each search since it was written, when an entry is
/// replaced.
const AGE_PENALTY: i32 = 8;

/// An entry of the current search is kept if it is deeper by more than this many plies and the new
/// entry is a bound.
const MUCH_DEEPER: i32 = 4;

/// Largest depth that 7 bits hold.
const MAX_DEPTH: i32 = 127;

/// Number of generations, after which they start again at 0.
const GENERATIONS: u8 = 64;

/// The result of the search of a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The best move; `None` if no move raised alpha.
    pub mv: Option<Move>,
    pub score: Score,
    /// The encoder's score of the position; `None` in check.
    pub static_eval: Option<Score>,
    /// Depth of the search in plies.
    pub depth: i32,
    pub bound: Bound,
    /// Whether the position is or was on a principal variation.
    pub was_pv: bool,
}

impl Entry {
    /// Whether the score and bound are more accurate than the static evaluation.
    pub fn tightens(&self, static_eval: Score) -> bool {
        match self.bound {
            Bound::Exact => true,
            Bound::Lower => self.score > static_eval,
            Bound::Upper => self.score < static_eval,
        }
    }
}

/// Marks a missing static evaluation.
const NO_STATIC_EVAL: i16 = i16::MIN;

pub struct TranspositionTable {
    /// Pairs of words: key xor content, then content.
    words: Box<[AtomicU64]>,
    generation: AtomicU8,
}

impl TranspositionTable {
    /// A table of about `megabytes` MB. Fails if the system refuses the memory.
    pub fn new(megabytes: usize) -> Result<Self> {
        let line = BUCKET * 2;
        let lines = ((megabytes << 20) / (line * size_of::<AtomicU64>())).max(1);
        let words = large_memory::zeroed(lines * line)
            .with_context(|| format!("no memory for a transposition table of {megabytes} MB"))?;
        Ok(Self { words, generation: AtomicU8::new(0) })
    }

    /// Starts a new search; entries of earlier ones are replaced sooner.
    pub fn begin_search(&self) {
        self.generation.store((self.generation.load(Relaxed) + 1) % GENERATIONS, Relaxed);
    }

    /// Clears the table: a search afterwards has the same nodes as with a new table. Fresh zeroed
    /// memory takes less time than writing zeros, because the system provides its pages on first
    /// use.
    pub fn clear(&mut self) {
        match large_memory::zeroed(self.words.len()) {
            Some(words) => self.words = words,
            None => self.words.iter_mut().for_each(|word| *word.get_mut() = 0),
        }
        *self.generation.get_mut() = 0;
    }

    /// The entry of the position with `key`, `ply` plies from the root.
    pub fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        let content = self.bucket(key).chunks_exact(2).find_map(|slot| {
            let content = slot[1].load(Relaxed);
            (content != 0 && slot[0].load(Relaxed) ^ content == key).then_some(content)
        })?;
        unpack(content, ply)
    }

    /// Prefetches the bucket of `key`, so that [`Self::probe`] need not wait for it.
    pub fn prefetch(&self, key: u64) {
        prefetch(&self.bucket(key)[0]);
    }

    /// Stores an entry. If it has no best move, it keeps the move of the position's earlier entry.
    pub fn store(&self, key: u64, ply: usize, mut entry: Entry) {
        let generation = self.generation.load(Relaxed);
        let (mut place, mut worth) = (0, i32::MAX);
        for (index, slot) in self.bucket(key).chunks_exact(2).enumerate() {
            let content = slot[1].load(Relaxed);
            if content != 0 && slot[0].load(Relaxed) ^ content == key {
                let old = unpack(content, ply);
                if let Some(old) = old
                    && entry.bound != Bound::Exact
                    && generation_of(content) == generation
                    && old.depth > entry.depth + MUCH_DEEPER
                {
                    return;
                }
                entry.mv = entry.mv.or(old.and_then(|old| old.mv));
                place = index;
                break;
            }
            let age = i32::from((generation + GENERATIONS - generation_of(content)) % GENERATIONS);
            let this = if content == 0 { i32::MIN } else { depth_of(content) - AGE_PENALTY * age };
            if this < worth {
                (place, worth) = (index, this);
            }
        }
        let content = pack(&entry, ply, generation);
        let slot = &self.bucket(key)[2 * place..];
        slot[0].store(key ^ content, Relaxed);
        slot[1].store(content, Relaxed);
    }

    /// Entries written by this search, in permille, in a sample of the first thousand entries.
    pub fn permille_full(&self) -> usize {
        let sample = &self.words[..self.words.len().min(2000)];
        let generation = self.generation.load(Relaxed);
        let used = sample.chunks_exact(2).filter(|slot| {
            let content = slot[1].load(Relaxed);
            content != 0 && generation_of(content) == generation
        });
        used.count() * 2000 / sample.len().max(1)
    }

    fn bucket(&self, key: u64) -> &[AtomicU64] {
        let lines = self.words.len() / (2 * BUCKET);
        &self.words[slot_of(key, lines) * 2 * BUCKET..][..2 * BUCKET]
    }
}

/// Content: move 16 bits, score 16, static evaluation 16, depth 7, principal variation 1,
/// generation 6, bound 2 (0 in empty entries only).
fn pack(entry: &Entry, ply: usize, generation: u8) -> u64 {
    let score = to_table(entry.score, ply) as i16;
    let static_eval = entry.static_eval.map_or(NO_STATIC_EVAL, |eval| eval as i16);
    let bound = match entry.bound {
        Bound::Upper => 1,
        Bound::Lower => 2,
        Bound::Exact => 3,
    };
    u64::from(entry.mv.map_or(0, pack_move))
        | u64::from(score as u16) << 16
        | u64::from(static_eval as u16) << 32
        | (entry.depth.clamp(0, MAX_DEPTH) as u64) << 48
        | u64::from(entry.was_pv) << 55
        | u64::from(generation) << 56
        | bound << 62
}

fn unpack(content: u64, ply: usize) -> Option<Entry> {
    let bound = match content >> 62 {
        1 => Bound::Upper,
        2 => Bound::Lower,
        3 => Bound::Exact,
        _ => return None,
    };
    let static_eval = (content >> 32) as i16;
    Some(Entry {
        mv: unpack_move(content as u16),
        score: from_table(((content >> 16) as i16).into(), ply),
        static_eval: (static_eval != NO_STATIC_EVAL).then_some(static_eval.into()),
        depth: depth_of(content),
        bound,
        was_pv: content >> 55 & 1 != 0,
    })
}

fn depth_of(content: u64) -> i32 {
    (content >> 48) as i32 & MAX_DEPTH
}

fn generation_of(content: u64) -> u8 {
    (content >> 56) as u8 % GENERATIONS
}

/// Origin, target and promotion in 16 bits; never 0, because origin and target differ.
fn pack_move(mv: Move) -> u16 {
    let promotion = mv.promotion.map_or(0, |piece| piece as u16);
    mv.from as u16 | (mv.to as u16) << 6 | promotion << 12
}

fn unpack_move(bits: u16) -> Option<Move> {
    let square = |bits: u16| Square::index((bits & 63).into());
    let promotion = match bits >> 12 {
        0 => None,
        piece => Piece::try_index(piece.into()),
    };
    (bits != 0).then(|| Move { from: square(bits), to: square(bits >> 6), promotion })
}

#[cfg(test)]
mod tests {
    use super::super::score::mated_in;
    use super::*;

    fn entry_of(depth: i32) -> Entry {
        let mv = Move { from: Square::A7, to: Square::B8, promotion: Some(Piece::Knight) };
        Entry {
            mv: Some(mv),
            score: -431,
            static_eval: Some(-15_000),
            depth,
            bound: Bound::Upper,
            was_pv: depth == 1,
        }
    }

    #[test]
    fn what_is_put_is_got() -> Result<()> {
        let mut table = TranspositionTable::new(1)?;
        assert_eq!(table.probe(0, 0), None);
        for (key, entry) in [
            (0, entry_of(0)),
            (
                7,
                Entry {
                    static_eval: None,
                    score: -mated_in(11),
                    bound: Bound::Exact,
                    ..entry_of(120)
                },
            ),
            (9 << 60, Entry { static_eval: Some(1), bound: Bound::Lower, ..entry_of(1) }),
        ] {
            table.store(key, 3, entry);
            assert_eq!(table.probe(key, 3), Some(entry));
            let castling = Move { from: Square::E1, to: Square::H1, promotion: None };
            table.store(key, 3, Entry { mv: Some(castling), ..entry });
            table.store(key, 3, Entry { mv: None, ..entry });
            assert_eq!(table.probe(key, 3).and_then(|found| found.mv), Some(castling));
        }
        assert_eq!(table.probe(7, 1).map(|found| found.score), Some(-mated_in(9)));
        table.clear();
        assert_eq!(table.probe(7, 3), None);
        Ok(())
    }

    #[test]
    fn a_cleared_table_keeps_what_a_new_one_keeps() -> Result<()> {
        // More entries than there is room for.
        let count = if cfg!(miri) { 20 } else { 200_000u64 };
        let key = |number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let fill = |table: &TranspositionTable, first: u64| {
            table.begin_search();
            let depth = |number: u64| (key(number) >> 40) as i32 % 20;
            (first..first + count)
                .for_each(|number| table.store(key(number), 0, entry_of(depth(number))));
        };
        let (mut cleared, new) = (TranspositionTable::new(1)?, TranspositionTable::new(1)?);
        for games in 0..3 {
            fill(&cleared, (games + 1) * count);
            cleared.clear();
        }
        fill(&cleared, 0);
        fill(&new, 0);
        assert_eq!(cleared.permille_full(), new.permille_full());
        for number in 0..2 * count {
            assert_eq!(cleared.probe(key(number), 0), new.probe(key(number), 0), "{number}");
        }
        Ok(())
    }

    #[test]
    fn old_and_shallow_entries_make_room() -> Result<()> {
        let table = TranspositionTable::new(1)?;
        (0..4).for_each(|key| table.store(key, 0, entry_of(3 + key as i32)));
        table.store(4, 0, entry_of(1));
        assert_eq!((table.probe(0, 0), table.probe(4, 0)), (None, Some(entry_of(1))));
        table.begin_search();
        assert_eq!(table.permille_full(), 0);
        table.store(3, 0, entry_of(6));
        (5..8).for_each(|key| table.store(key, 0, entry_of(2)));
        // Of the former search's entries, only the one that this search stored again remains.
        assert_eq!((1..3).filter(|&key| table.probe(key, 0).is_some()).count(), 0);
        assert!(table.probe(3, 0).is_some());
        Ok(())
    }
}
