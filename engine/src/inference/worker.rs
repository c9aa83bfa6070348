//! Who runs the encoder. A device, or an encoder that is slow, belongs to one thread: any number of
//! searches send it batches over a bounded channel; it gathers what is waiting, up to the encoder's
//! maximum batch, and answers each sender. An encoder that scores a batch in less time than waking
//! another thread takes (the sparse one on a CPU) is run by each search itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use candle_core::{DType, Device};
use crossbeam_channel::{Receiver, Sender, bounded};

use crate::encoder::{Attributes, Encoder, Inputs};
use crate::weights::Weights;

/// Requests that wait before a sender has to.
const WAITING: usize = 64;

/// Win probabilities of one request's positions, and the request's buffer for reuse.
pub(super) struct Answer {
    pub(super) inputs: Inputs,
    pub(super) win_probabilities: Result<Vec<f32>>,
}

struct Request {
    inputs: Inputs,
    answer: Sender<Answer>,
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
        /// Nanoseconds that the encoder has run.
        busy: Arc<AtomicU64>,
    },
    Callers(Box<dyn Encoder>),
}

impl Worker {
    /// Builds the encoder of `weights` on `device` and starts its thread, where it needs one. After
    /// a device error the thread says so through `notice` and goes on with the CPU.
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
        let scorer = Scorer { weights: weights.clone(), encoder };
        let busy = Arc::new(AtomicU64::new(0));
        let mut desk = Desk { scorer, on_cpu, notice, busy: busy.clone() };
        thread::Builder::new()
            .name("inference".to_owned())
            .spawn(move || desk.serve(&waiting))
            .context("cannot start the inference thread")?;
        Ok(Self { weights, attributes, place: Place::Thread { requests, busy } })
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

    /// Time that the encoder has run on the worker's thread; zero where searches run it themselves.
    pub fn busy(&self) -> Duration {
        match &self.place {
            Place::Thread { busy, .. } => Duration::from_nanos(busy.load(Ordering::Relaxed)),
            Place::Callers(_) => Duration::ZERO,
        }
    }

    /// A connection of its own for one search.
    pub fn client(&self) -> Client {
        let route = match &self.place {
            Place::Thread { requests, .. } => Route::Thread(requests.clone()),
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
    Thread(Sender<Request>),
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
            Route::Thread(requests) => {
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

/// From inputs to calibrated win probabilities.
struct Scorer {
    weights: Arc<Weights>,
    encoder: Box<dyn Encoder>,
}

impl Scorer {
    /// Win probabilities in the encoder's perspective.
    fn score(&mut self, inputs: &Inputs) -> Result<Vec<f32>> {
        let embeddings = self.encode_in_parts(inputs)?;
        let Weights { axis, calibration, .. } = &*self.weights;
        let embeddings = embeddings.chunks_exact(axis.dim());
        Ok(embeddings.map(|z| calibration.win_probability(axis.cosine(z))).collect())
    }

    /// One request may be larger than the encoder's maximum batch.
    fn encode_in_parts(&mut self, inputs: &Inputs) -> Result<Vec<f32>> {
        let maximum = self.encoder.attributes().maximum_batch;
        if inputs.len() <= maximum {
            return self.encoder.encode(inputs);
        }
        let mut embeddings = Vec::new();
        for part in inputs.parts(maximum) {
            embeddings.extend(self.encoder.encode(&part)?);
        }
        Ok(embeddings)
    }
}

/// What the thread works with.
struct Desk {
    scorer: Scorer,
    on_cpu: bool,
    notice: Notice,
    busy: Arc<AtomicU64>,
}

impl Desk {
    fn serve(&mut self, waiting: &Receiver<Request>) {
        let maximum = self.scorer.encoder.attributes().maximum_batch;
        let mut held = None;
        while let Some(first) = held.take().or_else(|| waiting.recv().ok()) {
            let mut size = first.inputs.len();
            let mut gathered = vec![first];
            while size < maximum {
                let Ok(next) = waiting.try_recv() else { break };
                size += next.inputs.len();
                if size > maximum {
                    held = Some(next);
                    break;
                }
                gathered.push(next);
            }
            self.answer(gathered);
        }
    }

    fn answer(&mut self, mut requests: Vec<Request>) {
        if let [_] = requests.as_slice()
            && let Some(request) = requests.pop()
        {
            let win_probabilities = self.score(&request.inputs);
            reply(request, win_probabilities);
            return;
        }
        let mut all = Inputs::new(self.scorer.encoder.attributes().input);
        requests.iter().for_each(|request| all.append(&request.inputs));
        match self.score(&all) {
            Ok(scores) => {
                let mut rest = scores.as_slice();
                for request in requests {
                    let (own, others) = rest.split_at(request.inputs.len());
                    rest = others;
                    reply(request, Ok(own.to_vec()));
                }
            }
            Err(error) => {
                let text = format!("{error:#}");
                requests.into_iter().for_each(|request| reply(request, Err(anyhow!("{text}"))));
            }
        }
    }

    fn score(&mut self, inputs: &Inputs) -> Result<Vec<f32>> {
        let began = Instant::now();
        let outcome = self.score_somewhere(inputs);
        self.busy.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
        outcome
    }

    /// Scores on the device, or on the CPU once the device has failed.
    fn score_somewhere(&mut self, inputs: &Inputs) -> Result<Vec<f32>> {
        match self.scorer.score(inputs) {
            Err(error) if !self.on_cpu => {
                (self.notice)(&format!("device error, going on with the CPU: {error:#}"));
                self.scorer.encoder = self.scorer.weights.encoder(&Device::Cpu, DType::F32)?;
                self.on_cpu = true;
                self.scorer.score(inputs)
            }
            result => result,
        }
    }
}

fn reply(request: Request, win_probabilities: Result<Vec<f32>>) {
    // A search that has gone away needs no answer.
    let _ = request.answer.send(Answer { inputs: request.inputs, win_probabilities });
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use anyhow::bail;
    use cozy_chess::Board;

    use super::*;

    const MAXIMUM: usize = 7;

    /// The default encoder as if it were a device: on a thread of its own, with small batches, and
    /// failing from some batch on.
    struct Remote {
        encoder: Box<dyn Encoder>,
        batches: Arc<Mutex<Vec<usize>>>,
        fails_from: usize,
    }

    impl Encoder for Remote {
        fn attributes(&self) -> Attributes {
            Attributes { maximum_batch: MAXIMUM, ..self.encoder.attributes() }
        }

        fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>> {
            let mut batches = self.batches.lock().expect("no panics");
            batches.push(inputs.len());
            if batches.len() > self.fails_from {
                bail!("out of memory");
            }
            self.encoder.encode(inputs)
        }
    }

    struct Setting {
        weights: Arc<Weights>,
        batches: Arc<Mutex<Vec<usize>>>,
        notices: Arc<Mutex<Vec<String>>>,
        worker: Worker,
    }

    fn remote(fails_from: usize, on_cpu: bool) -> Result<Setting> {
        let weights = Arc::new(Weights::embedded()?);
        let (batches, notices) = (Arc::default(), Arc::new(Mutex::new(Vec::new())));
        let encoder = weights.encoder(&Device::Cpu, DType::F32)?;
        let remote = Remote { encoder, batches: Arc::clone(&batches), fails_from };
        let said = notices.clone();
        let notice: Notice = Box::new(move |text| {
            said.lock().expect("no panics").push(text.to_owned());
        });
        let worker = Worker::on_thread(weights.clone(), Box::new(remote), on_cpu, notice)?;
        Ok(Setting { weights, batches, notices, worker })
    }

    fn inputs(client: &Client, first: u32, count: u32) -> Inputs {
        let mut inputs = Inputs::new(client.attributes().input);
        (first..first + count).for_each(|number| inputs.push(&Board::chess960_startpos(number)));
        inputs
    }

    fn expected(weights: &Arc<Weights>, inputs: &Inputs) -> Result<Vec<f32>> {
        let encoder = weights.encoder(&Device::Cpu, DType::F32)?;
        Scorer { weights: weights.clone(), encoder }.score(inputs)
    }

    #[test]
    fn many_searches_get_their_own_answers() -> Result<()> {
        let Setting { weights, batches, worker, .. } = remote(usize::MAX, true)?;
        thread::scope(|scope| {
            let searches: Vec<_> = (0..8)
                .map(|search| {
                    let (mut client, weights) = (worker.client(), &weights);
                    scope.spawn(move || -> Result<()> {
                        for round in 0..20 {
                            let batch = inputs(&client, search * 100 + round, 1 + round % 10);
                            let expected = expected(weights, &batch)?;
                            let answer = client.submit(batch)?.redeem()?;
                            assert_eq!(answer.win_probabilities?, expected);
                        }
                        Ok(())
                    })
                })
                .collect();
            searches.into_iter().try_for_each(|search| search.join().expect("no panics"))
        })?;
        let batches = batches.lock().expect("no panics");
        assert!(batches.iter().all(|&size| size <= MAXIMUM), "{batches:?}");
        Ok(())
    }

    #[test]
    fn what_waits_is_answered_in_one_batch() -> Result<()> {
        let Setting { batches, worker, .. } = remote(usize::MAX, true)?;
        let mut client = worker.client();
        let tickets: Vec<Ticket> = (0..60)
            .map(|number| {
                let batch = inputs(&client, number, 1);
                client.submit(batch)
            })
            .collect::<Result<_>>()?;
        for ticket in tickets {
            assert_eq!(ticket.redeem()?.win_probabilities?.len(), 1);
        }
        let batches = batches.lock().expect("no panics");
        assert_eq!(batches.iter().sum::<usize>(), 60);
        assert!(batches.len() < 60, "nothing was gathered");
        Ok(())
    }

    #[test]
    fn a_lost_device_is_said_once_and_the_cpu_goes_on() -> Result<()> {
        let Setting { weights, notices, worker, .. } = remote(1, false)?;
        let mut client = worker.client();
        for first in 0..4 {
            let batch = inputs(&client, first, 5);
            let expected = expected(&weights, &batch)?;
            assert_eq!(client.submit(batch)?.redeem()?.win_probabilities?, expected);
        }
        let notices = notices.lock().expect("no panics");
        assert_eq!(*notices, ["device error, going on with the CPU: out of memory"]);
        Ok(())
    }

    #[test]
    fn an_error_on_the_cpu_reaches_the_search() -> Result<()> {
        let Setting { worker, .. } = remote(0, true)?;
        let mut client = worker.client();
        let batch = inputs(&client, 0, 3);
        let answer = client.submit(batch)?.redeem()?;
        assert!(answer.win_probabilities.is_err());
        Ok(())
    }
}
