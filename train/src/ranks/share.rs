//! The parts of a batch that a rank computes.

use std::ops::Range;

use anyhow::{Result, ensure};

use super::Ranks;

/// The range of this rank among the `parts` of a batch. Fails if `parts` is not a multiple of the
/// number of ranks.
pub fn share_of(ranks: &dyn Ranks, parts: usize) -> Result<Range<usize>> {
    let (rank, count) = (ranks.rank(), ranks.count());
    ensure!(
        parts.is_multiple_of(count),
        "--parts {parts}: {count} ranks need a multiple of {count}, so that each has equally many"
    );
    let each = parts / count;
    Ok(rank * each..(rank + 1) * each)
}
