//! Who runs the encoder. A device, or an encoder that is slow, belongs to one thread, the [`Batcher`]:
//! any number of searches send it batches over a bounded channel. An encoder that scores a batch in less time
//! than waking another thread takes (the sparse one on a CPU) is run by each search itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;
use candle_core::{DType, Device};
use crossbeam_channel::{Sender, bounded};

use super::batcher::Batcher;
use super::device_check::{Checked, checked};
use super::notice::Notice;
use super::request::{PendingResponse, Request, Response, thread_ended};
use super::scorer::Scorer;
use crate::encoder::{Attributes, Encoder};

/// Requests that wait in the queue before a sender has to wait.
const QUEUE_LENGTH: usize = 64;

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
        /// Every client has one too, so that they can be counted.
        clients: Arc<()>,
    },
    Callers(Box<dyn Encoder>),
}

impl Worker {
    /// Builds the encoder of `weights` on `device`, compares its scores with the CPU's, and starts its thread, where it
    /// needs one. Where the device scores otherwise it goes on with what is right, where it is short of memory its
    /// batches become smaller, and after any other device error the thread goes on with the CPU; each is said once
    /// through `notice`.
    pub fn start(
        weights: Arc<Weights>,
        device: &Device,
        dtype: DType,
        notice: Notice,
    ) -> Result<Self> {
        let encoder = crate::encoder::build(&weights, device, dtype)?;
        let Checked { encoder, on_cpu } = match device.is_cpu() {
            true => Checked { encoder, on_cpu: true },
            false => checked(&weights, encoder, dtype, &notice)?,
        };
        Self::with_encoder(weights, encoder, on_cpu, notice)
    }

    fn on_thread(
        weights: Arc<Weights>,
        encoder: Box<dyn Encoder>,
        on_cpu: bool,
        notice: Notice,
    ) -> Result<Self> {
        let attributes = encoder.attributes();
        let (requests, waiting) = bounded(QUEUE_LENGTH);
        let (busy, clients) = (Arc::default(), Arc::new(()));
        let scorer = Scorer { weights: weights.clone(), encoder };
        let batcher =
            Batcher::new(scorer, on_cpu, notice, Arc::clone(&busy), Arc::downgrade(&clients));
        thread::Builder::new()
            .name("inference".to_owned())
            .spawn(move || batcher.run(&waiting))
            .context("cannot start the inference thread")?;
        Ok(Self { weights, attributes, place: Place::Thread { requests, busy, clients } })
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
            Place::Thread { requests, clients, .. } => {
                Route::Thread { requests: requests.clone(), _clients: clients.clone() }
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
    Thread { requests: Sender<Request>, _clients: Arc<()> },
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

    /// What scores, where the caller does.
    pub(super) fn scorer(&mut self) -> Option<&mut Scorer> {
        match &mut self.route {
            Route::Thread { .. } => None,
            Route::Here(scorer) => Some(scorer),
        }
    }

    /// Queues a batch, and waits while too many are queued already; or scores it here and now.
    pub(super) fn submit(&mut self, inputs: Inputs) -> Result<PendingResponse> {
        match &mut self.route {
            Route::Thread { requests, .. } => {
                let (response, pending) = bounded(1);
                requests.send(Request { inputs, response }).map_err(|_| thread_ended())?;
                Ok(PendingResponse::OnThread(pending))
            }
            Route::Here(scorer) => {
                let win_probabilities = scorer.score(&inputs);
                Ok(PendingResponse::Ready(Response { inputs, win_probabilities }))
            }
        }
    }
}

#[cfg(test)]
mod tests;
