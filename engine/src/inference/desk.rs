//! The thread that owns a device. It gathers what waits into one batch, pads it to one of a few sizes, and
//! begins it while the device still works on the last one; then it answers the last one. It makes do with
//! smaller batches where memory is short, and with the CPU where the device is lost.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use anyhow::{Error, Result, anyhow};
use candle_core::{DType, Device};
use crossbeam_channel::{Receiver, RecvTimeoutError};

use super::scorer::Scorer;
use super::worker::{Notice, Request};
use crate::encoder::{Inputs, OutOfMemory, PendingScores, Scores};

/// How long a batch waits for the requests of other searches.
const PATIENCE: Duration = Duration::from_micros(200);

/// Between looks at whether the device is done, where nobody has sent anything.
const GLANCE: Duration = Duration::from_micros(50);

/// The smallest size that batches are padded to.
const SMALLEST: usize = 16;

/// What the thread works with.
pub struct Desk {
    scorer: Scorer,
    notice: Notice,
    /// Alive in every client, and in the worker.
    presence: Weak<()>,
    patience: Duration,
    terms: Terms,
    /// Whether a lack of memory was said.
    said: bool,
    clock: Clock,
}

/// What the encoder can be asked for.
#[derive(Clone, Copy, PartialEq)]
struct Terms {
    on_cpu: bool,
    /// Positions in a batch at most: what the encoder takes, less where the device's memory is short.
    largest: usize,
}

/// Requests that are scored together.
struct Batch {
    requests: Vec<Request>,
    /// Positions of all requests.
    size: usize,
    /// The positions of all requests, padded; `None` where they are the only request's as they are.
    joined: Option<Inputs>,
    /// The terms when it began.
    terms: Terms,
}

impl Batch {
    fn inputs(&self) -> &Inputs {
        self.joined.as_ref().unwrap_or(&self.requests[0].inputs)
    }
}

impl Desk {
    /// A desk that counts nanoseconds of work into `busy`.
    pub fn new(
        scorer: Scorer,
        on_cpu: bool,
        notice: Notice,
        busy: Arc<AtomicU64>,
        presence: Weak<()>,
    ) -> Self {
        let terms = Terms { on_cpu, largest: scorer.encoder.attributes().maximum_batch };
        let clock = Clock { busy, begun: 0, since: Instant::now() };
        Self { scorer, notice, presence, patience: PATIENCE, terms, said: false, clock }
    }

    /// Waits longer for the requests of other searches.
    #[cfg(test)]
    pub fn with_patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// Works until nobody can send requests any more.
    pub fn serve(mut self, waiting: &Receiver<Request>) {
        let mut held = None;
        let mut last: Option<(Batch, Box<dyn PendingScores>)> = None;
        loop {
            let first = match (held.take(), &last) {
                (Some(request), _) => Some(request),
                (None, None) => match waiting.recv() {
                    Ok(request) => Some(request),
                    Err(_) => return,
                },
                (None, Some((_, pending))) => match waiting.recv_timeout(GLANCE) {
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
            // Before a batch is tried again, so that the last one's memory is free.
            if let Some((batch, pending)) = last.take() {
                self.finish(batch, pending.wait());
            }
            match next {
                Some((batch, Ok(Scores::Pending(pending)))) => last = Some((batch, pending)),
                Some((batch, Ok(Scores::Ready(cosines)))) => self.finish(batch, Ok(cosines)),
                Some((batch, Err(error))) => self.finish(batch, Err(error)),
                None => {}
            }
        }
    }

    /// The first request with those that wait behind it, and those that other searches send in a moment.
    /// What does not fit any more is `held`.
    fn gather(
        &self,
        first: Request,
        waiting: &Receiver<Request>,
        held: &mut Option<Request>,
    ) -> Vec<Request> {
        let deadline = Instant::now() + self.patience;
        let enough = self.scorer.encoder.attributes().recommended_batch;
        let searches = self.presence.strong_count().saturating_sub(1);
        let mut size = first.inputs.len();
        let mut gathered = vec![first];
        while size < self.terms.largest {
            let next = match waiting.try_recv() {
                Ok(next) => next,
                Err(_) if size >= enough || gathered.len() >= searches => break,
                Err(_) => match waiting.recv_deadline(deadline) {
                    Ok(next) => next,
                    Err(_) => break,
                },
            };
            size += next.inputs.len();
            if size > self.terms.largest {
                *held = Some(next);
                break;
            }
            gathered.push(next);
        }
        gathered
    }

    fn join(&self, requests: Vec<Request>) -> Batch {
        let size = requests.iter().map(|request| request.inputs.len()).sum();
        let fixed = self.scorer.encoder.attributes().fixed_sizes && size <= self.terms.largest;
        let padded = if fixed { padded(size).min(self.terms.largest) } else { size };
        if requests.len() == 1 && padded == size {
            return Batch { requests, size, joined: None, terms: self.terms };
        }
        let mut all = Inputs::new(self.scorer.encoder.attributes().input);
        requests.iter().for_each(|request| all.append(&request.inputs));
        all.pad(padded);
        Batch { requests, size, joined: Some(all), terms: self.terms }
    }

    fn begin(&mut self, batch: &Batch) -> Result<Scores> {
        self.clock.begin();
        if batch.size > self.terms.largest {
            return self.scorer.cosines(batch.inputs(), self.terms.largest).map(Scores::Ready);
        }
        self.scorer.begin(batch.inputs())
    }

    fn finish(&mut self, batch: Batch, cosines: Result<Vec<f32>>) {
        match cosines {
            Ok(cosines) => self.answer(batch, &cosines),
            Err(error) => self.recover(batch, error),
        }
    }

    fn answer(&mut self, batch: Batch, cosines: &[f32]) {
        self.clock.end();
        let win_probabilities = self.scorer.win_probabilities(&cosines[..batch.size]);
        let mut rest = win_probabilities.as_slice();
        for request in batch.requests {
            let (own, others) = rest.split_at(request.inputs.len());
            rest = others;
            request.reply(Ok(own.to_vec()));
        }
    }

    /// Scores a batch after `error`: in smaller parts where memory is short, then on the CPU.
    fn recover(&mut self, batch: Batch, mut error: Error) {
        // The batch before may have met the same error.
        let mut mended = batch.terms != self.terms;
        let outcome = loop {
            if !mended && let Err(error) = self.mend(error, batch.inputs().len()) {
                break Err(error);
            }
            mended = false;
            match self.scorer.cosines(batch.inputs(), self.terms.largest) {
                Ok(cosines) => break Ok(cosines),
                Err(another) => error = another,
            }
        };
        match outcome {
            Ok(cosines) => self.answer(batch, &cosines),
            Err(error) => {
                self.clock.end();
                let text = format!("{error:#}");
                let requests = batch.requests.into_iter();
                requests.for_each(|request| request.reply(Err(anyhow!("{text}"))));
            }
        }
    }

    /// Asks for less, or of the CPU, after `error` in a batch of `size`. Fails where nothing is left to try.
    fn mend(&mut self, error: Error, size: usize) -> Result<()> {
        if self.terms.on_cpu {
            return Err(error);
        }
        if error.is::<OutOfMemory>() && self.terms.largest > 1 {
            let before = size.min(self.terms.largest);
            self.terms.largest = (before / 2).max(1);
            if !std::mem::replace(&mut self.said, true) {
                (self.notice)(&format!(
                    "the device is out of memory with {before} positions at a time, going on with \
                     fewer"
                ));
            }
            return Ok(());
        }
        (self.notice)(&format!("device error, going on with the CPU: {error:#}"));
        self.scorer.encoder = self.scorer.weights.encoder(&Device::Cpu, DType::F32)?;
        let largest = self.scorer.encoder.attributes().maximum_batch;
        self.terms = Terms { on_cpu: true, largest };
        Ok(())
    }
}

/// The next of a few sizes, at most a third of which is padding: powers of two, and halfway between.
fn padded(size: usize) -> usize {
    let above = size.next_power_of_two().max(SMALLEST);
    let between = above / 4 * 3;
    if size <= between && between >= SMALLEST { between } else { above }
}

/// Time in which at least one batch was begun and not finished.
struct Clock {
    busy: Arc<AtomicU64>,
    begun: usize,
    since: Instant,
}

impl Clock {
    fn begin(&mut self) {
        if self.begun == 0 {
            self.since = Instant::now();
        }
        self.begun += 1;
    }

    fn end(&mut self) {
        self.begun -= 1;
        if self.begun == 0 {
            self.busy.fetch_add(self.since.elapsed().as_nanos() as u64, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_few_and_a_third_too_large_at_most() {
        let sizes: std::collections::BTreeSet<usize> = (1..=8192).map(padded).collect();
        assert_eq!(sizes.iter().copied().take(6).collect::<Vec<_>>(), [16, 24, 32, 48, 64, 96]);
        assert_eq!((sizes.len(), sizes.last()), (19, Some(&8192)));
        assert!((17..=8192).all(|size| padded(size) >= size && padded(size) * 2 <= size * 3));
    }
}
