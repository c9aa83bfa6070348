//! Large allocations with random access, such as a search's tables and an encoder's rows: their
//! memory, the slots of keys, and prefetching. With 4 KB pages almost every access would also miss
//! the TLB, so Linux is asked for 2 MB pages.

use bytemuck::Zeroable;
use bytemuck::allocation::try_zeroed_slice_box;

/// `count` zeroed values; `None` if the system refuses the memory.
pub fn zeroed<T: Zeroable>(count: usize) -> Option<Box<[T]>> {
    #[cfg(test)]
    if crate::test_support::refuses() {
        return None;
    }
    let memory = try_zeroed_slice_box(count).ok()?;
    ask_for_large_pages(memory.as_ptr(), count);
    Some(memory)
}

/// An empty vector with capacity for `count` values.
pub fn with_capacity<T>(count: usize) -> Vec<T> {
    let memory = Vec::with_capacity(count);
    ask_for_large_pages(memory.as_ptr(), count);
    memory
}

/// Asks for large pages for `count` values. Has no effect on allocations smaller than a large page.
// Miri does not support `madvise`.
#[cfg(all(target_os = "linux", not(miri)))]
fn ask_for_large_pages<T>(first: *const T, count: usize) {
    const PAGE: usize = 4096;
    const LARGE_PAGE: usize = 2 << 20;
    let begin = (first as usize).next_multiple_of(PAGE);
    let end = (first as usize + count * size_of::<T>()) / PAGE * PAGE;
    if end.saturating_sub(begin) >= LARGE_PAGE {
        // SAFETY: the pages are inside memory that the caller owns, and the advice does not change
        // their contents.
        unsafe { libc::madvise(begin as *mut libc::c_void, end - begin, libc::MADV_HUGEPAGE) };
    }
}

#[cfg(not(all(target_os = "linux", not(miri))))]
fn ask_for_large_pages<T>(_first: *const T, _count: usize) {}

/// The slot of `key` in a table of `slots` slots; all slots are equally likely.
pub fn slot_of(key: u64, slots: usize) -> usize {
    ((u128::from(key) * slots as u128) >> 64) as usize
}

/// Starts to fetch the line of memory at `place` into the cache. Nothing happens if the address is
/// invalid.
#[inline]
pub fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching reads nothing and every x86-64 processor has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_any_size_is_zero_and_can_be_written() {
        let large = if cfg!(miri) { 9000 } else { 3 << 20 };
        for count in [0, 1, 5000, large] {
            let mut zeros: Box<[u64]> = zeroed(count).expect("a little memory");
            assert!(zeros.len() == count && zeros.iter().all(|&value| value == 0));
            zeros.fill(7);
            let mut room: Vec<u64> = with_capacity(count);
            room.extend_from_slice(&zeros);
            assert_eq!(room.iter().sum::<u64>(), 7 * count as u64);
        }
        // Miri aborts if an allocation fails.
        if !cfg!(miri) {
            assert!(zeroed::<u64>(usize::MAX / 16).is_none());
        }
    }
}
