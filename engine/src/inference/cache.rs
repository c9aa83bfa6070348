//! Scores by position: kept across moves, the newest wins its slot.

/// Bytes of one entry.
const ENTRY_SIZE: usize = size_of::<Entry>();

#[derive(Clone, Copy)]
struct Entry {
    key: u64,
    value: f32,
    used: bool,
}

const EMPTY: Entry = Entry { key: 0, value: 0.0, used: false };

/// A fixed number of scores.
pub struct ScoreCache {
    entries: Vec<Entry>,
}

impl ScoreCache {
    /// A cache of about `megabytes`.
    pub fn new(megabytes: usize) -> Self {
        Self { entries: vec![EMPTY; (megabytes << 20) / ENTRY_SIZE] }
    }

    /// The score kept under `key`.
    pub fn get(&self, key: u64) -> Option<f32> {
        let entry = &self.entries[self.slot(key)];
        (entry.used && entry.key == key).then_some(entry.value)
    }

    /// Keeps a score, in place of the one in its slot.
    pub fn insert(&mut self, key: u64, value: f32) {
        let slot = self.slot(key);
        self.entries[slot] = Entry { key, value, used: true };
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.fill(EMPTY);
    }

    /// How full the cache is, in permille, from its first thousand entries.
    pub fn permille_full(&self) -> usize {
        let sample = &self.entries[..self.entries.len().min(1000)];
        sample.iter().filter(|entry| entry.used).count() * 1000 / sample.len().max(1)
    }

    fn slot(&self, key: u64) -> usize {
        ((u128::from(key) * self.entries.len() as u128) >> 64) as usize
    }
}
