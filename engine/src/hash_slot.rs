//! Slots of keys in a hash table, and prefetching of memory.

/// The slot of `key` in a table of `slots` slots; all slots are equally likely.
pub fn slot_of(key: u64, slots: usize) -> usize {
    ((u128::from(key) * slots as u128) >> 64) as usize
}

/// Starts to fetch `item` from memory into the cache.
pub fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching reads nothing and every x86-64 processor has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>((&raw const *item).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
