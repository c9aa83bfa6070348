//! Ranks that `mpirun` starts.

use std::cell::Cell;
use std::io::Write;
use std::process::exit;
use std::thread;
use std::time::{Duration, Instant};

use ::mpi::Threading;
use ::mpi::environment::Universe;
use ::mpi::request::{Request, Scope, scope};
use ::mpi::topology::SimpleCommunicator;
use ::mpi::traits::{Communicator, CommunicatorCollectives, Destination, Source};
use anyhow::{Context, Result};

use super::{Ranks, Traffic};
use crate::training::Interruption;

/// Time for which a rank polls for a message without sleeping. Then it leaves the core to other
/// threads, such as those of a slower rank on the same machine.
const SPIN: Duration = Duration::from_micros(200);

/// Time between polls after [`SPIN`].
const NAP: Duration = Duration::from_micros(50);

/// Time reserved for printing a last line before `mpirun` kills the rank.
const FAREWELL: Duration = Duration::from_millis(200);

pub struct Mpi {
    world: SimpleCommunicator,
    rank: usize,
    count: usize,
    on_machine: usize,
    machine_count: usize,
    /// Time for which a rank that was asked to end waits for the others.
    patience: Duration,
    traffic: Cell<Traffic>,
    /// Receives the signal by which `mpirun` asks the ranks to end.
    _interruption: Interruption,
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
        let machine = world.split_shared(index);
        let size = |number| usize::try_from(number).context("MPI: a negative number");
        Ok(Self {
            rank: size(index)?,
            count: size(world.size())?,
            on_machine: size(machine.rank())?,
            machine_count: size(machine.size())?,
            patience: patience(),
            traffic: Cell::default(),
            _interruption: Interruption::receive()?,
            _universe: universe,
            #[cfg(feature = "nccl")]
            nccl: std::cell::OnceCell::new(),
            world,
        })
    }

    /// Sends `messages[r]` to each rank r, and returns the messages of all ranks.
    fn deliver(&self, messages: &[&[u32]]) -> Result<Vec<Vec<u32>>> {
        let began = Instant::now();
        let counts = messages.iter().map(|message| length(message)).collect::<Result<Vec<_>>>()?;
        let mut incoming = vec![0; self.count];
        scope(|scope| {
            let (out, into) = (&counts[..], &mut incoming[..]);
            self.finish(self.world.immediate_all_to_all_into(scope, out, into));
        });
        let mut received = Vec::with_capacity(self.count);
        for count in incoming {
            received.push(vec![0; usize::try_from(count)?]);
        }
        scope(|scope| {
            let mut requests = Vec::new();
            for (rank, (message, into)) in (0..).zip(messages.iter().zip(&mut received)) {
                let other = self.world.process_at_rank(rank);
                if !into.is_empty() {
                    requests.push(other.immediate_receive_into(scope, &mut into[..]));
                }
                if !message.is_empty() {
                    requests.push(other.immediate_send(scope, *message));
                }
            }
            requests.into_iter().for_each(|request| self.finish(request));
        });
        let Traffic { bytes, time } = self.traffic.get();
        let sent: usize = messages.iter().map(|message| size_of_val(*message)).sum();
        self.traffic.set(Traffic { bytes: bytes + sent as u64, time: time + began.elapsed() });
        Ok(received)
    }

    /// Prints why this rank ends, in a single write, because other ranks print at the same time.
    fn say(&self, reason: &str) {
        let line = format!("azimuth-train: rank {} of {}: {reason}\n", self.rank, self.count);
        // There is no other place to report that standard error is closed.
        let _ = std::io::stderr().write_all(line.as_bytes());
    }

    /// Waits until a request is complete. If this process was asked to end and the other ranks no
    /// longer answer, prints a line and exits; `mpirun` then ends all ranks.
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
                self.say(&format!(
                    "another rank did not answer in {:.1} s; the same command continues from the \
                     checkpoint",
                    self.patience.as_secs_f64()
                ));
                exit(1);
            }
            if began.elapsed() < SPIN { thread::yield_now() } else { thread::sleep(NAP) }
        }
    }
}

/// The time from the request to end until `mpirun` kills the rank, less [`FAREWELL`].
fn patience() -> Duration {
    let given = std::env::var("OMPI_MCA_odls_base_sigkill_timeout").ok();
    let seconds = given.and_then(|seconds| seconds.parse().ok()).unwrap_or(1);
    Duration::from_secs(seconds).saturating_sub(FAREWELL)
}

fn length(message: &[u32]) -> Result<i32> {
    i32::try_from(message.len()).context("a message between ranks is larger than 8 GB")
}

impl Ranks for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn exchange(&self, mut to: Vec<Vec<u32>>) -> Result<Vec<Vec<u32>>> {
        let own = std::mem::take(&mut to[self.rank]);
        let messages: Vec<&[u32]> = to.iter().map(Vec::as_slice).collect();
        let mut received = self.deliver(&messages)?;
        received[self.rank] = own;
        Ok(received)
    }

    fn gather(&self, own: Vec<u32>) -> Result<Vec<Vec<u32>>> {
        let mut messages = vec![own.as_slice(); self.count];
        messages[self.rank] = &[];
        let mut received = self.deliver(&messages)?;
        received[self.rank] = own;
        Ok(received)
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

    fn machine_count(&self) -> usize {
        self.machine_count
    }

    fn end(&self, done: Result<()>) -> Result<()> {
        if let Err(error) = done {
            self.say(&format!("{error:#}"));
            self.world.abort(1);
        }
        Ok(())
    }
}

impl Drop for Mpi {
    /// After a panic, ends all ranks: leaving MPI would wait for ranks that wait for this one.
    fn drop(&mut self) {
        if thread::panicking() {
            self.world.abort(1);
        }
    }
}
