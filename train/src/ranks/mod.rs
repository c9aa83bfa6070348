//! Processes that train one encoder together, each on its share of every batch (data parallelism).
//! Such a process is a rank. `mpirun` starts ranks, on one machine or several.
//!
//! Every rank holds all parameters, and updates them by the sum of the gradients of all ranks, so
//! that the parameters stay equal. The first rank alone reads the checkpoint, validates, logs and
//! writes files. Gradients are added in the order of the parts of the batch ([`sum_parts`],
//! [`sum_rows`]). Therefore, on the CPU, N ranks give the weights of one process with the same
//! `--parts`, to the last bit.

mod alone;
mod announced;
mod join;
#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "nccl")]
mod nccl;
mod share;
mod sum;
#[cfg(test)]
pub mod threads;

use std::time::Duration;

use anyhow::Result;
use candle_core::Tensor;

pub use alone::Alone;
pub use announced::{agree_on, from_first};
pub use join::join;
pub use share::share_of;
pub use sum::{sum_parts, sum_rows};

/// One rank of a run, and its connection to the others. All ranks must call the same functions in
/// the same order.
pub trait Ranks {
    /// The number of this rank, counted from 0.
    fn rank(&self) -> usize;

    /// The number of ranks.
    fn count(&self) -> usize;

    /// Sends `to[r]` to each rank r. Returns the messages to this rank, in the order of the ranks.
    fn exchange(&self, to: Vec<Vec<u32>>) -> Result<Vec<Vec<u32>>>;

    /// Sends `own` to every rank. Returns the messages of all ranks, in their order.
    fn gather(&self, own: Vec<u32>) -> Result<Vec<Vec<u32>>>;

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

    /// Ends the work of this rank with the result `done`. Under MPI, prints an error in one line
    /// and ends all ranks.
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
