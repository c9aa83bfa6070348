//! Who runs the encoder. A device, or an encoder that is slow, belongs to one thread, the [`Desk`]: any
//! number of searches send it batches over a bounded channel. An encoder that scores a batch in less time
//! than waking another thread takes (the sparse one on a CPU) is run by each search itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use candle_core::{DType, Device};
use crossbeam_channel::{Receiver, Sender, bounded};

use super::desk::Desk;
use super::scorer::Scorer;
use crate::encoder::{Attributes, Encoder, Inputs};
use crate::weights::Weights;

/// Requests that wait before a sender has to.
const WAITING: usize = 64;

/// Win probabilities of one request's positions, and the request's buffer for reuse.
pub(super) struct Answer {
    pub(super) inputs: Inputs,
    pub(super) win_probabilities: Result<Vec<f32>>,
}

/// A batch that a search wants scored.
pub(super) struct Request {
    pub(super) inputs: Inputs,
    pub(super) answer: Sender<Answer>,
}

impl Request {
    pub(super) fn reply(self, win_probabilities: Result<Vec<f32>>) {
        // A search that has gone away needs no answer.
        let _ = self.answer.send(Answer { inputs: self.inputs, win_probabilities });
    }
}

/// What the worker says when something went wrong that a user should know.
pub type Notice = Box<dyn Fn(&str) + Send + Sync>;

/// Scores for any number of searches. Its thread, if it has one, ends when it and all its clients
/// are dropped.
pub struct Worker {
    weights: Arc<Weights>,
    attributes: Attributes,
    place: Place,
}

enum Place {
    Thread {
        requests: Sender<Request>,
        busy: Arc<AtomicU64>,
        /// Every client has one too.
        presence: Arc<()>,
    },
    Callers(Box<dyn Encoder>),
}

impl Worker {
    /// Builds the encoder of `weights` on `device` and starts its thread, where it needs one. Where the
    /// device is short of memory its batches become smaller, and after any other device error the thread
    /// goes on with the CPU; either is said once through `notice`.
    pub fn start(
        weights: Arc<Weights>,
        device: &Device,
        dtype: DType,
        notice: Notice,
    ) -> Result<Self> {
        let encoder = weights.encoder(device, dtype)?;
        Self::with_encoder(weights, encoder, device.is_cpu(), notice)
    }

    fn on_thread(
        weights: Arc<Weights>,
        encoder: Box<dyn Encoder>,
        on_cpu: bool,
        notice: Notice,
    ) -> Result<Self> {
        let attributes = encoder.attributes();
        let (requests, waiting) = bounded(WAITING);
        let (busy, presence) = (Arc::default(), Arc::new(()));
        let scorer = Scorer { weights: weights.clone(), encoder };
        let desk = Desk::new(scorer, on_cpu, notice, Arc::clone(&busy), Arc::downgrade(&presence));
        thread::Builder::new()
            .name("inference".to_owned())
            .spawn(move || desk.serve(&waiting))
            .context("cannot start the inference thread")?;
        Ok(Self { weights, attributes, place: Place::Thread { requests, busy, presence } })
    }

    /// A worker for any encoder, read by the axis and calibration of `weights`. It falls back to the
    /// encoder of `weights` on the CPU, unless it is `on_cpu` already.
    pub fn with_encoder(
        weights: Arc<Weights>,
        encoder: Box<dyn Encoder>,
        on_cpu: bool,
        notice: Notice,
    ) -> Result<Self> {
        match encoder.for_caller() {
            Some(copy) => {
                let attributes = encoder.attributes();
                Ok(Self { weights, attributes, place: Place::Callers(copy) })
            }
            None => Self::on_thread(weights, encoder, on_cpu, notice),
        }
    }

    /// Time in which the encoder had something to do for the worker's thread; zero where searches run it themselves.
    pub fn busy(&self) -> Duration {
        match &self.place {
            Place::Thread { busy, .. } => Duration::from_nanos(busy.load(Ordering::Relaxed)),
            Place::Callers(_) => Duration::ZERO,
        }
    }

    /// Whether every search runs the encoder itself, on its own thread, rather than send it batches.
    pub fn runs_in_searches(&self) -> bool {
        matches!(self.place, Place::Callers(_))
    }

    /// A connection of its own for one search.
    pub fn client(&self) -> Client {
        let route = match &self.place {
            Place::Thread { requests, presence, .. } => {
                Route::Thread { requests: requests.clone(), _presence: presence.clone() }
            }
            Place::Callers(encoder) => {
                let encoder = encoder.for_caller().expect("it gave a copy before");
                Route::Here(Scorer { weights: self.weights.clone(), encoder })
            }
        };
        Client { route, attributes: self.attributes }
    }
}

/// One search's connection to a worker.
pub struct Client {
    route: Route,
    attributes: Attributes,
}

enum Route {
    Thread { requests: Sender<Request>, _presence: Arc<()> },
    Here(Scorer),
}

impl Client {
    /// The encoder's attributes.
    pub fn attributes(&self) -> Attributes {
        self.attributes
    }

    /// Whether batches are scored by the caller.
    pub(super) fn runs_here(&self) -> bool {
        matches!(self.route, Route::Here(_))
    }

    /// Queues a batch, and waits while too many are queued already; or scores it here and now.
    pub(super) fn submit(&mut self, inputs: Inputs) -> Result<Ticket> {
        match &mut self.route {
            Route::Thread { requests, .. } => {
                let (answer, ticket) = bounded(1);
                requests.send(Request { inputs, answer }).map_err(|_| ended())?;
                Ok(Ticket::Waiting(ticket))
            }
            Route::Here(scorer) => {
                let win_probabilities = scorer.score(&inputs);
                Ok(Ticket::Ready(Answer { inputs, win_probabilities }))
            }
        }
    }
}

/// A batch on its way.
pub(super) enum Ticket {
    Waiting(Receiver<Answer>),
    Ready(Answer),
}

impl Ticket {
    /// Waits for the batch's scores.
    pub(super) fn redeem(self) -> Result<Answer> {
        match self {
            Self::Waiting(answer) => answer.recv().map_err(|_| ended()),
            Self::Ready(answer) => Ok(answer),
        }
    }
}

fn ended() -> anyhow::Error {
    anyhow!("the inference thread has ended")
}

#[cfg(test)]
mod tests;
