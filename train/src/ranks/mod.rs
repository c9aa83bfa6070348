//! Processes that train one encoder together, each on its share of every batch (data parallelism).
//! Such a process is a rank. `mpirun` starts ranks, on one machine or several.
//!
//! Every rank holds all parameters, and updates them by the sum of the gradients of all ranks, so
//! that the parameters stay equal. The first rank alone reads the checkpoint, validates, logs and
//! writes files.
//!
//! Each rank adds up one share of the gradients and sends the sums to the others. The order of the
//! additions is that of the parts of the batch, as in a single process. Therefore, on the CPU, N
//! ranks give the weights of one process with the same `--parts`, to the last bit. If every rank has
//! one part, a rank sends 2 (N - 1) / N times the size of a gradient, as in a ring all-reduce, which
//! would add each share in another order.

#[cfg(feature = "mpi")]
mod mpi;
#[cfg(feature = "nccl")]
mod nccl;

use std::ops::{DerefMut, Range};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use azimuth_network::embedding_bag::RowGradients;
use candle_core::Tensor;

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
    let mut own = Vec::new();
    if ranks.is_first() {
        own.push(u32::try_from(bytes.len() % 4)?);
        own.extend(bytemuck::pod_collect_to_vec::<u8, u32>(bytes));
    }
    let messages = ranks.gather(own)?;
    let (&rest, words) = messages[0].split_first().context("the first rank sent nothing")?;
    let mut bytes: Vec<u8> = bytemuck::cast_slice::<u32, u8>(words).to_vec();
    if rest > 0 {
        bytes.truncate(bytes.len() - 4 + rest as usize);
    }
    Ok(bytes)
}

/// The sum of the vectors of all ranks, each of `length` values. `parts` holds the vectors of this
/// rank. Adds them in the order of the ranks, and for each rank in the order of its parts.
pub fn sum_parts(ranks: &dyn Ranks, parts: &[Vec<f32>], length: usize) -> Result<Vec<f32>> {
    let count = ranks.count();
    let share = |rank: usize| length * rank / count..length * (rank + 1) / count;
    let message = |range: Range<usize>| {
        let own = parts.iter().flat_map(|part| &part[range.clone()]);
        own.map(|value| value.to_bits()).collect()
    };
    let received = ranks.exchange((0..count).map(|rank| message(share(rank))).collect())?;
    let mut sums: Option<Vec<f32>> = None;
    let width = share(ranks.rank()).len();
    for part in received.iter().flat_map(|message| message.chunks_exact(width.max(1))) {
        let part: &[f32] = bytemuck::cast_slice(part);
        match &mut sums {
            None => sums = Some(part.to_vec()),
            Some(sums) => sums.iter_mut().zip(part).for_each(|(sum, value)| *sum += value),
        }
    }
    let sums = ranks.gather(bytemuck::cast_vec(sums.unwrap_or_default()))?;
    Ok(bytemuck::cast_vec(sums.concat()))
}

/// Adds the gradients of all parts of all ranks into the first of this rank's `parts`, and clears
/// the others. A part is a table of rows of `width` values. Sends only rows that have a gradient.
pub fn sum_rows(
    ranks: &dyn Ranks,
    parts: &mut [impl DerefMut<Target = RowGradients>],
    width: usize,
) -> Result<()> {
    let rows: usize = parts.iter().map(|part| part.rows().len()).sum();
    let space = rows.div_ceil(ranks.count()) * (1 + width);
    // Each rank adds up about the same number of rows, so an eighth more space is enough.
    let mut to: Vec<_> = (0..ranks.count()).map(|_| Vec::with_capacity(space * 9 / 8)).collect();
    for part in &mut *parts {
        part.drain(|row, gradient| push(&mut to[row % ranks.count()], row, gradient));
    }
    let received = ranks.exchange(to)?;
    let Some(sums) = parts.first_mut() else { return Ok(()) };
    received.iter().for_each(|message| add(message, width, sums));

    let mut own = Vec::with_capacity(sums.rows().len() * (1 + width));
    for row in sums.rows().iter().map(|&row| row as usize) {
        push(&mut own, row, &sums.values()[row * width..][..width]);
    }
    for (rank, message) in ranks.gather(own)?.iter().enumerate() {
        if rank != ranks.rank() {
            add(message, width, sums);
        }
    }
    Ok(())
}

/// Adds a row's index and its gradient to a message.
fn push(message: &mut Vec<u32>, row: usize, gradient: &[f32]) {
    message.push(row as u32);
    message.extend_from_slice(bytemuck::cast_slice(gradient));
}

/// Adds the rows of a message to `sums`, in their order.
fn add(message: &[u32], width: usize, sums: &mut RowGradients) {
    for row in message.chunks_exact(1 + width) {
        sums.add(row[0] as usize, bytemuck::cast_slice(&row[1..]));
    }
}

/// Ranks that are threads of one process, for tests.
#[cfg(test)]
pub(crate) mod threads {
    use crossbeam_channel::{Receiver, Sender, unbounded};

    use super::*;
    use crate::cpu::side_by_side;

    struct Threads {
        rank: usize,
        to: Vec<Sender<Vec<u32>>>,
        from: Vec<Receiver<Vec<u32>>>,
    }

    impl Ranks for Threads {
        fn rank(&self) -> usize {
            self.rank
        }

        fn count(&self) -> usize {
            self.to.len()
        }

        fn exchange(&self, to: Vec<Vec<u32>>) -> Result<Vec<Vec<u32>>> {
            for (channel, message) in self.to.iter().zip(to) {
                channel.send(message).context("a rank ended")?;
            }
            self.from.iter().map(|channel| channel.recv().context("a rank ended")).collect()
        }

        fn gather(&self, own: Vec<u32>) -> Result<Vec<Vec<u32>>> {
            self.exchange(vec![own; self.count()])
        }
    }

    /// The results of `work` on each of `count` ranks, in their order.
    pub fn on_threads<R: Send>(
        count: usize,
        work: impl Fn(&dyn Ranks) -> Result<R> + Sync,
    ) -> Result<Vec<R>> {
        let mut ranks: Vec<_> =
            (0..count).map(|rank| Threads { rank, to: Vec::new(), from: Vec::new() }).collect();
        for from in 0..count {
            for to in 0..count {
                let (sender, receiver) = unbounded();
                ranks[from].to.push(sender);
                ranks[to].from.push(receiver);
            }
        }
        side_by_side(ranks, |ranks| work(&ranks)).into_iter().collect()
    }
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
