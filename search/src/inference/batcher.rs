//! Dynamic batching, on the thread that owns a model. It collects waiting requests into one batch,
//! pads the batch to one of a few sizes, and begins it while the device still computes the previous
//! one, which it then answers. If memory is short, it uses smaller batches; if the device fails, it
//! uses the CPU.

use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use azimuth_network::Inputs;
use azimuth_network::weights::Weights;
use candle_core::{DType, Device};
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender};

use super::backend::Notice;
use crate::encoder::{EncodeError, PendingScores, Scores};
use crate::model::Model;

/// How long a batch waits for the requests of other searches.
const MAX_WAIT: Duration = Duration::from_micros(200);

/// Interval between checks whether the device is done, while no request arrives.
const POLL_INTERVAL: Duration = Duration::from_micros(50);

/// The numbers that a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A cosine with the axis for each position.
    Cosines,
    /// An embedding for each position, row by row.
    Embeddings,
}

impl Wanted {
    /// Computes these numbers, in batches of at most `largest` positions.
    pub fn of(
        self,
        model: &mut Model,
        inputs: &Inputs,
        largest: usize,
    ) -> Result<Vec<f32>, EncodeError> {
        match self {
            Self::Cosines => model.cosines(inputs, largest),
            Self::Embeddings => model.embeddings(inputs, largest),
        }
    }
}

/// A batch of positions, sent from a search to the inference thread.
pub struct Request {
    pub inputs: Inputs,
    pub wanted: Wanted,
    pub response: Sender<Response>,
}

impl Request {
    pub fn respond(self, numbers: Result<Vec<f32>>) {
        // A search that has ended needs no response.
        let _ = self.response.send(Response { inputs: self.inputs, numbers });
    }
}

/// The numbers of one request, and its input buffer for reuse.
pub struct Response {
    pub inputs: Inputs,
    pub numbers: Result<Vec<f32>>,
}

/// The state of the thread.
pub struct Batcher {
    model: Model,
    /// The weights for the model that takes over on the CPU; `None` if the model is already there.
    fallback: Option<Arc<Weights>>,
    notice: Notice,
    /// Every client and the worker hold a strong reference, so that the clients can be counted.
    clients: Weak<()>,
    /// Maximum wait for the requests of other searches.
    pub max_wait: Duration,
    /// Maximum number of positions in a batch: the encoder's maximum, or less if the device's
    /// memory is short.
    largest: usize,
    /// How often the batches became smaller or the model moved.
    degradations: usize,
    /// Whether the notice about the lack of memory was given.
    told_of_memory: bool,
}

/// Requests for the same kind of numbers, computed together.
struct Batch {
    requests: Vec<Request>,
    wanted: Wanted,
    /// Number of positions of all requests.
    size: usize,
    /// The positions of all requests, padded; `None` if the only request's inputs are used
    /// unchanged.
    joined: Option<Inputs>,
    /// The batcher's degradations when the batch began.
    degradations: usize,
}

impl Batch {
    fn inputs(&self) -> &Inputs {
        self.joined.as_ref().unwrap_or(&self.requests[0].inputs)
    }
}

impl Batcher {
    /// A batcher for `model`, with the weights for the model that takes over on the CPU, if any.
    pub fn new(
        model: Model,
        fallback: Option<Arc<Weights>>,
        notice: Notice,
        clients: Weak<()>,
    ) -> Self {
        Self {
            largest: model.attributes().maximum_batch,
            model,
            fallback,
            notice,
            clients,
            max_wait: MAX_WAIT,
            degradations: 0,
            told_of_memory: false,
        }
    }

    /// Runs until all senders of requests are dropped.
    pub fn run(mut self, waiting: &Receiver<Request>) {
        let mut held = None;
        let mut last: Option<(Batch, Box<dyn PendingScores>)> = None;
        loop {
            let first = match (held.take(), &last) {
                (Some(request), _) => Some(request),
                (None, None) => match waiting.recv() {
                    Ok(request) => Some(request),
                    Err(_) => return,
                },
                (None, Some((_, pending))) => match waiting.recv_timeout(POLL_INTERVAL) {
                    Ok(request) => Some(request),
                    Err(RecvTimeoutError::Timeout) if !pending.is_ready() => continue,
                    Err(_) => None,
                },
            };
            let next = first.map(|first| {
                let requests = self.gather(first, waiting, &mut held);
                let batch = self.join(requests);
                let scores = self.begin(&batch);
                (batch, scores)
            });
            // Finish the last batch first, so that its memory is free if the next one has to be
            // computed again.
            if let Some((batch, pending)) = last.take() {
                self.finish(batch, pending.wait());
            }
            match next {
                Some((batch, Ok(Scores::Pending(pending)))) => last = Some((batch, pending)),
                Some((batch, Ok(Scores::Ready(numbers)))) => self.finish(batch, Ok(numbers)),
                Some((batch, Err(error))) => self.finish(batch, Err(error)),
                None => {}
            }
        }
    }

    /// Collects `first`, the waiting requests for the same kind of numbers, and those that other
    /// searches send within the maximum wait. The first request that does not fit is `held`.
    fn gather(
        &self,
        first: Request,
        waiting: &Receiver<Request>,
        held: &mut Option<Request>,
    ) -> Vec<Request> {
        let deadline = Instant::now() + self.max_wait;
        let enough = self.model.attributes().recommended_batch;
        let wanted = first.wanted;
        let searches = self.clients.strong_count().saturating_sub(1);
        let mut size = first.inputs.len();
        let mut gathered = vec![first];
        while size < self.largest {
            let next = match waiting.try_recv() {
                Ok(next) => next,
                Err(_) if size >= enough || gathered.len() >= searches => break,
                Err(_) => match waiting.recv_deadline(deadline) {
                    Ok(next) => next,
                    Err(_) => break,
                },
            };
            size += next.inputs.len();
            if size > self.largest || next.wanted != wanted {
                *held = Some(next);
                break;
            }
            gathered.push(next);
        }
        gathered
    }

    fn join(&self, requests: Vec<Request>) -> Batch {
        let wanted = requests.first().map_or(Wanted::Cosines, |first| first.wanted);
        let size = requests.iter().map(|request| request.inputs.len()).sum();
        let (attributes, degradations) = (self.model.attributes(), self.degradations);
        let fixed = attributes.fixed_sizes && size <= self.largest;
        let padded = if fixed { padded_size(size).min(self.largest) } else { size };
        if requests.len() == 1 && padded == size {
            return Batch { requests, wanted, size, joined: None, degradations };
        }
        let mut all = Inputs::new(attributes.input);
        requests.iter().for_each(|request| all.append(&request.inputs));
        all.pad(padded);
        Batch { requests, wanted, size, joined: Some(all), degradations }
    }

    fn begin(&mut self, batch: &Batch) -> Result<Scores, EncodeError> {
        if batch.wanted == Wanted::Embeddings || batch.size > self.largest {
            return self.compute(batch).map(Scores::Ready);
        }
        self.model.begin(batch.inputs())
    }

    /// Computes a batch and waits for its numbers.
    fn compute(&mut self, batch: &Batch) -> Result<Vec<f32>, EncodeError> {
        batch.wanted.of(&mut self.model, batch.inputs(), self.largest)
    }

    fn finish(&mut self, batch: Batch, numbers: Result<Vec<f32>, EncodeError>) {
        match numbers {
            Ok(numbers) => self.answer(batch, &numbers),
            Err(error) => self.recover(batch, error),
        }
    }

    fn answer(&mut self, batch: Batch, numbers: &[f32]) {
        let width = match batch.wanted {
            Wanted::Cosines => 1,
            Wanted::Embeddings => self.model.attributes().embedding_dim,
        };
        let mut rest = numbers;
        for request in batch.requests {
            let (own, others) = rest.split_at(request.inputs.len() * width);
            rest = others;
            request.respond(Ok(own.to_vec()));
        }
    }

    /// Computes a batch again after `error`: in smaller parts if memory is short, otherwise on the
    /// CPU.
    fn recover(&mut self, batch: Batch, mut error: EncodeError) {
        // The previous batch may have failed with the same error.
        let mut degraded = batch.degradations != self.degradations;
        let outcome = loop {
            if !degraded && let Err(error) = self.degrade(error, batch.inputs().len()) {
                break Err(error);
            }
            degraded = false;
            match self.compute(&batch) {
                Ok(numbers) => break Ok(numbers),
                Err(another) => error = another,
            }
        };
        match outcome {
            Ok(numbers) => self.answer(batch, &numbers),
            Err(error) => {
                let text = error.to_string();
                let requests = batch.requests.into_iter();
                requests.for_each(|request| request.respond(Err(anyhow!("{text}"))));
            }
        }
    }

    /// Reduces the batch size, or moves the model to the CPU, after `error` in a batch of `size`.
    /// Fails if neither is possible.
    fn degrade(&mut self, error: EncodeError, size: usize) -> Result<(), EncodeError> {
        if self.fallback.is_none() {
            return Err(error);
        }
        if matches!(error, EncodeError::OutOfMemory(_)) && self.largest > 1 {
            let before = size.min(self.largest);
            self.largest = (before / 2).max(1);
            if !std::mem::replace(&mut self.told_of_memory, true) {
                (self.notice)(&format!(
                    "the device is out of memory with {before} positions at a time, going on with \
                     fewer"
                ));
            }
            self.degradations += 1;
            return Ok(());
        }
        let Some(weights) = self.fallback.take() else { return Err(error) };
        (self.notice)(&format!("device error, going on with the CPU: {error}"));
        self.model = Model::new(&weights, &Device::Cpu, DType::F32)?;
        self.largest = self.model.attributes().maximum_batch;
        self.degradations += 1;
        Ok(())
    }
}

/// The smallest size that batches are padded to.
const SMALLEST_BATCH: usize = 16;

/// The next of a few sizes: powers of two and the values halfway between them, from
/// [`SMALLEST_BATCH`] on. Above the smallest size, less than a third of a batch is padding.
fn padded_size(size: usize) -> usize {
    let above = size.next_power_of_two().max(SMALLEST_BATCH);
    let between = above / 4 * 3;
    if size <= between && between >= SMALLEST_BATCH { between } else { above }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_few_and_a_third_too_large_at_most() {
        let sizes: std::collections::BTreeSet<usize> = (1..=8192).map(padded_size).collect();
        assert_eq!(sizes.iter().copied().take(6).collect::<Vec<_>>(), [16, 24, 32, 48, 64, 96]);
        assert_eq!((sizes.len(), sizes.last()), (19, Some(&8192)));
        assert!(
            (17..=8192).all(|size| padded_size(size) >= size && padded_size(size) * 2 <= size * 3)
        );
    }
}
