//! Scores by position: kept across moves, the newest wins its slot.

use anyhow::{Result, anyhow};
use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_slice_box;

/// Bytes of one entry.
const ENTRY_SIZE: usize = size_of::<Entry>();

/// Set in an entry's generation while its score is on its way.
const PENDING: u32 = 1 << 31;

#[derive(Clone, Copy, Zeroable)]
struct Entry {
    key: u64,
    /// The score's bits, or the place in the queue where it will come from.
    content: u32,
    /// The generation that wrote it; others count as empty.
    generation: u32,
}

const EMPTY: Entry = Entry { key: 0, content: 0, generation: 0 };

/// What is known of a position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Known {
    /// Its score.
    Score(f32),
    /// It waits at this place in the queue.
    Pending(usize),
}

/// A fixed number of scores.
pub(super) struct ScoreCache {
    entries: Box<[Entry]>,
    generation: u32,
}

impl ScoreCache {
    /// A cache of about `megabytes`. Fails where the system refuses that much memory.
    pub(super) fn new(megabytes: usize) -> Result<Self> {
        let entries = try_zeroed_slice_box((megabytes << 20) / ENTRY_SIZE)
            .map_err(|()| anyhow!("no memory for a score cache of {megabytes} MB"))?;
        Ok(Self { entries, generation: 1 })
    }

    /// What is known under `key`.
    pub(super) fn get(&self, key: u64) -> Option<Known> {
        let entry = &self.entries[self.slot(key)];
        if entry.key != key || entry.generation & !PENDING != self.generation {
            return None;
        }
        Some(match entry.generation & PENDING {
            0 => Known::Score(f32::from_bits(entry.content)),
            _ => Known::Pending(entry.content as usize),
        })
    }

    /// Fetches the slot of `key` from memory, so that [`Self::get`] need not wait for it.
    pub(super) fn prefetch(&self, key: u64) {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            let entry = &raw const self.entries[self.slot(key)];
            // SAFETY: prefetching reads nothing and every x86-64 processor has it.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(entry.cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = key;
    }

    /// Keeps a score, in place of what is in its slot.
    pub(super) fn insert(&mut self, key: u64, score: f32) {
        self.write(Entry { key, content: score.to_bits(), generation: self.generation });
    }

    /// Notes that the score of `key` will come from a place in the queue.
    pub(super) fn insert_pending(&mut self, key: u64, place: usize) {
        let generation = self.generation | PENDING;
        self.write(Entry { key, content: place as u32, generation });
    }

    /// Forgets everything, without touching the memory but once in two billion times.
    pub(super) fn clear(&mut self) {
        self.generation += 1;
        if self.generation == PENDING {
            self.entries.fill(EMPTY);
            self.generation = 1;
        }
    }

    /// How full the cache is, in permille, from its first thousand entries.
    pub(super) fn permille_full(&self) -> usize {
        let sample = &self.entries[..self.entries.len().min(1000)];
        let used = sample.iter().filter(|entry| entry.generation == self.generation).count();
        used * 1000 / sample.len().max(1)
    }

    fn write(&mut self, entry: Entry) {
        let slot = self.slot(entry.key);
        self.entries[slot] = entry;
    }

    fn slot(&self, key: u64) -> usize {
        ((u128::from(key) * self.entries.len() as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_follow_pending_places_and_clearing_forgets_both() -> Result<()> {
        let mut cache = ScoreCache::new(1)?;
        assert_eq!(cache.get(0), None);
        cache.insert_pending(7, 3);
        assert_eq!(cache.get(7), Some(Known::Pending(3)));
        cache.insert(7, -0.5);
        assert_eq!(cache.get(7), Some(Known::Score(-0.5)));
        cache.insert_pending(9 << 60, 1);
        cache.clear();
        assert_eq!((cache.get(7), cache.get(9 << 60)), (None, None));
        Ok(())
    }

    #[test]
    fn the_newest_wins_its_slot() -> Result<()> {
        let mut cache = ScoreCache::new(1)?;
        cache.insert(1, 0.25);
        cache.insert(2, 0.75);
        assert_eq!((cache.get(1), cache.get(2)), (None, Some(Known::Score(0.75))));
        Ok(())
    }
}
