//! A cache of scores by position. It is kept across moves, and a new score replaces the one in its
//! slot. Threads share it without locks: if two threads each write one half of an entry, the entry
//! matches no key, as in Hyatt and Mann's lock-less table.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use anyhow::{Context, Result};
use bytemuck::Zeroable;

use crate::hash_slot::{prefetch, slot_of};
use crate::large_memory;

/// Bytes of one entry.
const ENTRY_SIZE: usize = size_of::<Entry>();

#[derive(Zeroable)]
struct Entry {
    /// Key xor content.
    check: AtomicU64,
    /// The score's bits, and above them the generation that wrote it. An entry of another
    /// generation counts as empty.
    content: AtomicU64,
}

/// A cache with a fixed number of entries.
pub(super) struct ScoreCache {
    entries: Box<[Entry]>,
    generation: AtomicU32,
}

impl ScoreCache {
    /// A cache of about `megabytes`. Fails where the system refuses that much memory.
    pub(super) fn new(megabytes: usize) -> Result<Self> {
        let entries = large_memory::zeroed((megabytes << 20) / ENTRY_SIZE)
            .with_context(|| format!("no memory for a score cache of {megabytes} MB"))?;
        Ok(Self { entries, generation: 1.into() })
    }

    /// The score under `key`.
    pub(super) fn get(&self, key: u64) -> Option<f32> {
        let entry = &self.entries[self.slot(key)];
        let content = entry.content.load(Relaxed);
        let known = entry.check.load(Relaxed) ^ content == key && self.is_current(content);
        known.then_some(f32::from_bits(content as u32))
    }

    /// Fetches the slot of `key` from memory, so that [`Self::get`] need not wait for it.
    pub(super) fn prefetch(&self, key: u64) {
        prefetch(&self.entries[self.slot(key)]);
    }

    /// Stores a score, and replaces the one in its slot.
    pub(super) fn insert(&self, key: u64, score: f32) {
        let generation = self.generation.load(Relaxed);
        let content = u64::from(generation) << 32 | u64::from(score.to_bits());
        let entry = &self.entries[self.slot(key)];
        entry.check.store(key ^ content, Relaxed);
        entry.content.store(content, Relaxed);
    }

    /// Empties the cache by starting a new generation. The entries are overwritten only when the
    /// generation number wraps around, once in four billion calls.
    pub(super) fn clear(&self) {
        if self.generation.fetch_add(1, Relaxed) == u32::MAX {
            self.entries.iter().for_each(|entry| entry.content.store(0, Relaxed));
            self.generation.store(1, Relaxed);
        }
    }

    /// How full the cache is, in permille, from its first thousand entries.
    pub(super) fn permille_full(&self) -> usize {
        let sample = &self.entries[..self.entries.len().min(1000)];
        let used = sample.iter().filter(|entry| self.is_current(entry.content.load(Relaxed)));
        used.count() * 1000 / sample.len().max(1)
    }

    fn is_current(&self, content: u64) -> bool {
        (content >> 32) as u32 == self.generation.load(Relaxed)
    }

    fn slot(&self, key: u64) -> usize {
        slot_of(key, self.entries.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clearing_forgets() -> Result<()> {
        let cache = ScoreCache::new(1)?;
        assert_eq!(cache.get(0), None);
        cache.insert(7, -0.5);
        assert_eq!((cache.get(7), cache.permille_full()), (Some(-0.5), 1));
        cache.clear();
        assert_eq!((cache.get(7), cache.permille_full()), (None, 0));
        Ok(())
    }

    #[test]
    fn the_newest_wins_its_slot() -> Result<()> {
        let cache = ScoreCache::new(1)?;
        cache.insert(1, 0.25);
        cache.insert(2, 0.75);
        assert_eq!((cache.get(1), cache.get(2)), (None, Some(0.75)));
        Ok(())
    }

    #[test]
    fn threads_read_nothing_that_was_not_written() -> Result<()> {
        let cache = ScoreCache::new(1)?;
        let score = |key: u64| key as f32 / 8.0;
        // Miri looks at the whole table at each access.
        let rounds = if cfg!(miri) { 16 } else { 100_000 };
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    // All of these keys share one slot.
                    for key in (0..rounds).map(|round| round % 8) {
                        cache.insert(key, score(key));
                        assert!(cache.get(key).is_none_or(|found| found == score(key)));
                    }
                });
            }
        });
        Ok(())
    }
}
