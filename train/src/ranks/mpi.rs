//! Ranks that `mpirun` starts.

use std::cell::Cell;
use std::io::Write;
use std::process::exit;
use std::thread;
use std::time::{Duration, Instant};

use ::mpi::Threading;
use ::mpi::datatype::{Partition, PartitionMut};
use ::mpi::environment::Universe;
use ::mpi::request::{Request, Scope, scope};
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator, CommunicatorCollectives};
use anyhow::{Context, Result};

use super::{Ranks, Traffic};
use crate::training::Interruption;

/// Time of waiting for a message after which the core is left to other threads.
const SPIN: Duration = Duration::from_millis(20);

/// Time between looks for a message after [`SPIN`].
const NAP: Duration = Duration::from_micros(500);

/// A rank of MPI's world.
pub struct Mpi {
    world: SimpleCommunicator,
    rank: usize,
    count: usize,
    on_machine: usize,
    /// Time for which a rank that was asked to end waits for the others.
    patience: Duration,
    traffic: Cell<Traffic>,
    /// Leaves MPI when it is dropped, which waits for the other ranks.
    _universe: Universe,
    /// The connection of the GPUs, from their first sum on.
    #[cfg(feature = "nccl")]
    nccl: std::cell::OnceCell<super::nccl::Nccl>,
}

impl Mpi {
    /// Joins MPI's world, which is this process alone without `mpirun`.
    pub fn join() -> Result<Self> {
        // Only one thread exchanges messages.
        let universe = ::mpi::initialize_with_threading(Threading::Funneled);
        let (universe, _) = universe.context("MPI runs already")?;
        let world = universe.world();
        let index = world.rank();
        let size = |number| usize::try_from(number).context("MPI: a negative number");
        Ok(Self {
            rank: size(index)?,
            count: size(world.size())?,
            on_machine: size(world.split_shared(index).rank())?,
            patience: patience(),
            traffic: Cell::default(),
            _universe: universe,
            #[cfg(feature = "nccl")]
            nccl: std::cell::OnceCell::new(),
            world,
        })
    }

    /// Runs an exchange to its end, and counts `bytes` to other ranks.
    fn count_traffic<T>(&self, bytes: usize, exchange: impl FnOnce() -> Result<T>) -> Result<T> {
        let began = Instant::now();
        let done = exchange();
        let Traffic { bytes: before, time } = self.traffic.get();
        self.traffic.set(Traffic { bytes: before + bytes as u64, time: time + began.elapsed() });
        done
    }

    /// Prints why this rank ends, in one piece, as other ranks print at the same time.
    fn say(&self, reason: &str) {
        let line = format!("azimuth-train: rank {} of {}: {reason}\n", self.rank, self.count);
        // There is no other place to report that standard error is closed.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }

    /// Waits for the end of a request. If this process was asked to end and the other ranks do not
    /// answer any more, it ends with one line: `mpirun` ends all ranks when one of them dies.
    fn finish<'a, D: ?Sized, S: Scope<'a>>(&self, mut request: Request<'a, D, S>) {
        let began = Instant::now();
        let mut asked = None;
        loop {
            match request.test() {
                Ok(_) => return,
                Err(unfinished) => request = unfinished,
            }
            if Interruption::was_asked()
                && asked.get_or_insert_with(Instant::now).elapsed() > self.patience
            {
                self.say("another rank has ended; the same command continues from the checkpoint");
                exit(1);
            }
            if began.elapsed() < SPIN { thread::yield_now() } else { thread::sleep(NAP) }
        }
    }
}

/// Half of the time that `mpirun` leaves a rank between the request to end and the kill.
fn patience() -> Duration {
    let given = std::env::var("OMPI_MCA_odls_base_sigkill_timeout").ok();
    let seconds = given.and_then(|seconds| seconds.parse().ok()).unwrap_or(1);
    Duration::from_secs(seconds) / 2
}

/// The first index of each of several adjacent messages.
fn places(counts: &[i32]) -> Vec<i32> {
    let before = counts.iter().scan(0, |sum, count| {
        *sum += count;
        Some(*sum - count)
    });
    before.collect()
}

/// The length of a message in MPI's form.
fn length(message: &[u32]) -> Result<i32> {
    i32::try_from(message.len()).context("a message between ranks is larger than 8 GB")
}

/// Memory for messages of the lengths `counts`.
fn space(counts: &[i32]) -> Result<Vec<u32>> {
    let all: i64 = counts.iter().copied().map(i64::from).sum();
    let all = i32::try_from(all).context("the messages to a rank are larger than 8 GB")?;
    Ok(vec![0; usize::try_from(all)?])
}

/// Splits adjacent messages.
fn apart(mut all: &[u32], counts: &[i32]) -> Result<Vec<Vec<u32>>> {
    let messages = counts.iter().map(|&count| {
        let (message, rest) = all.split_at(usize::try_from(count)?);
        all = rest;
        Ok(message.to_vec())
    });
    messages.collect()
}

impl Ranks for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn exchange(&self, to: Vec<Vec<u32>>) -> Result<Vec<Vec<u32>>> {
        let others = to.iter().enumerate().filter(|(rank, _)| *rank != self.rank);
        let bytes = others.map(|(_, message)| size_of_val(message.as_slice())).sum();
        self.count_traffic(bytes, || {
            let counts = to.iter().map(|message| length(message)).collect::<Result<Vec<_>>>()?;
            let mut incoming = vec![0; self.count];
            scope(|scope| {
                let (out, into) = (&counts[..], &mut incoming[..]);
                self.finish(self.world.immediate_all_to_all_into(scope, out, into));
            });
            let (all, mut received) = (to.concat(), space(&incoming)?);
            let out = Partition::new(&all[..], &counts[..], places(&counts));
            let mut into = PartitionMut::new(&mut received[..], &incoming[..], places(&incoming));
            scope(|scope| {
                self.finish(self.world.immediate_all_to_all_varcount_into(scope, &out, &mut into));
            });
            apart(&received, &incoming)
        })
    }

    fn gather(&self, own: &[u32]) -> Result<Vec<Vec<u32>>> {
        self.count_traffic(size_of_val(own) * (self.count - 1), || {
            let (count, mut counts) = (length(own)?, vec![0; self.count]);
            scope(|scope| {
                self.finish(self.world.immediate_all_gather_into(scope, &count, &mut counts[..]));
            });
            let mut received = space(&counts)?;
            let mut into = PartitionMut::new(&mut received[..], &counts[..], places(&counts));
            scope(|scope| {
                self.finish(self.world.immediate_all_gather_varcount_into(scope, own, &mut into));
            });
            apart(&received, &counts)
        })
    }

    #[cfg(feature = "nccl")]
    fn sum_on_devices(&self, own: &candle_core::Tensor) -> Result<Option<candle_core::Tensor>> {
        use super::nccl::Nccl;
        let candle_core::Device::Cuda(device) = own.device() else { return Ok(None) };
        let nccl = match self.nccl.get() {
            Some(nccl) => nccl,
            None => {
                let connected = Nccl::connect(self, device)?;
                self.nccl.get_or_init(|| connected)
            }
        };
        Ok(Some(nccl.sum(own)?))
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn on_machine(&self) -> usize {
        self.on_machine
    }

    fn end(&self, done: Result<()>) -> Result<()> {
        if let Err(error) = done {
            self.say(&format!("{error:#}"));
            self.world.abort(1);
        }
        Ok(())
    }
}
