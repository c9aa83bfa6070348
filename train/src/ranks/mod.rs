//! Processes that train one encoder together, each on its share of every batch (data parallelism).
//! Such a process is a rank. `mpirun` starts ranks, on one machine or several.
//!
//! Every rank holds all parameters, and updates them by the sum of the gradients of all ranks, so
//! that the parameters stay equal. The first rank alone reads the checkpoint, validates, logs and
//! writes files. Gradients are added in the order of the parts of the batch ([`sum_parts`],
//! [`sum_rows`]). Therefore, on the CPU, N ranks give the weights of one process with the same
//! `--parts`, to the last bit.

#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "nccl")]
mod nccl;
mod sum;
#[cfg(test)]
pub mod threads;

use std::ops::Range;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use candle_core::Tensor;

pub use sum::{sum_parts, sum_rows};

/// One rank of a run, and its connection to the others. All ranks must call the same functions in
/// the same order. The defaults are those of a single rank.
pub trait Ranks {
    /// The number of this rank, counted from 0.
    fn rank(&self) -> usize {
        0
    }

    /// The number of ranks.
    fn count(&self) -> usize {
        1
    }

    /// Sends `to[r]` to each rank r. Returns the messages to this rank, in the order of the ranks.
    fn exchange(&self, to: Vec<Vec<u32>>) -> Result<Vec<Vec<u32>>> {
        Ok(to)
    }

    /// Sends `own` to every rank. Returns the messages of all ranks, in their order.
    fn gather(&self, own: Vec<u32>) -> Result<Vec<Vec<u32>>> {
        Ok(vec![own])
    }

    /// The sum of the tensors `own` (f32) of all ranks, computed by their devices. `None` if the
    /// devices are not connected; all ranks then get `None`.
    fn sum_on_devices(&self, _own: &Tensor) -> Result<Option<Tensor>> {
        Ok(None)
    }

    /// The messages of this rank so far.
    fn traffic(&self) -> Traffic {
        Traffic::default()
    }

    /// Index of this rank among the ranks of its machine, which is also the index of its device.
    fn on_machine(&self) -> usize {
        0
    }

    /// Number of ranks on this machine, which share its cores.
    fn machine_count(&self) -> usize {
        1
    }

    /// Ends this rank with the result `done`. Under MPI, prints an error and ends all ranks.
    fn end(&self, done: Result<()>) -> Result<()> {
        done
    }

    /// Whether this is the rank that reads the checkpoint, validates, logs and writes files.
    fn is_first(&self) -> bool {
        self.rank() == 0
    }
}

/// The messages of a rank to others.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    /// Bytes sent to other ranks.
    pub bytes: u64,
    /// Time spent sending, and waiting for the messages of other ranks.
    pub time: Duration,
}

/// The only rank of a run.
pub struct Alone;

impl Ranks for Alone {}

/// The ranks that `mpirun` started; one rank if it did not, or if this build has no MPI.
pub fn join() -> Result<Box<dyn Ranks>> {
    #[cfg(feature = "mpi")]
    {
        let ranks = self::mpi::Mpi::join()?;
        if ranks.count() > 1 {
            return Ok(Box::new(ranks));
        }
    }
    Ok(Box::new(Alone))
}

/// The range of this rank among the `parts`, which must be a multiple of the number of ranks.
pub fn share_of(ranks: &dyn Ranks, parts: usize) -> Result<Range<usize>> {
    let (rank, count) = (ranks.rank(), ranks.count());
    ensure!(
        parts.is_multiple_of(count),
        "--parts {parts}: {count} ranks need a multiple of {count}, so that each has equally many"
    );
    let each = parts / count;
    Ok(rank * each..(rank + 1) * each)
}

/// The `bytes` of the first rank; those of the other ranks are ignored.
pub fn from_first(ranks: &dyn Ranks, bytes: &[u8]) -> Result<Vec<u8>> {
    if ranks.count() == 1 {
        return Ok(bytes.to_vec());
    }
    let mut own = Vec::new();
    if ranks.is_first() {
        own.push(u32::try_from(bytes.len() % 4)?);
        let whole = bytes.chunks(4).map(|bytes| {
            let mut word = [0; 4];
            word[..bytes.len()].copy_from_slice(bytes);
            u32::from_le_bytes(word)
        });
        own.extend(whole);
    }
    let messages = ranks.gather(own)?;
    let (&rest, words) = messages[0].split_first().context("the first rank sent nothing")?;
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if rest > 0 {
        bytes.truncate(bytes.len() - 4 + rest as usize);
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::threads::on_threads;
    use super::*;

    #[test]
    fn the_first_rank_is_heard_by_all() -> Result<()> {
        for length in 0..10u8 {
            let said: Vec<u8> = (0..length).collect();
            let heard = on_threads(3, |ranks| match ranks.rank() {
                0 => from_first(ranks, &said),
                _ => from_first(ranks, b"something else"),
            })?;
            assert_eq!(heard, vec![said; 3]);
        }
        Ok(())
    }
}
