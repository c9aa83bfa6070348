//! Runs a model. A device, or a slow encoder, belongs to one thread, the [`Batcher`]: any number of
//! searches send it batches over a bounded channel. An encoder that evaluates a batch faster than
//! another thread can be woken (the sparse one on a CPU) is copied to each search thread.
//! [`ModelSource`] starts a worker, and a [`ModelClient`] gives one thread access to the model. An
//! [`EvaluateOne`] can take the model's place.

#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use azimuth_network::policy::Policy;
use azimuth_network::weights::Weights;
use azimuth_network::{InputKind, Inputs};
use candle_core::{DType, Device};
use cozy_chess::{Board, Color};
use crossbeam_channel::{Receiver, Sender, bounded};

use super::backend::{Backend, Notice, Precision};
use super::batcher::{Batcher, Request, Response, Wanted};
use super::device_check::checked;
use crate::encoder::{self, Attributes, Encoder};
use crate::host::Instant;
use crate::model::{Model, Space};

/// The weights to load, and the device and precision of their encoder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelSource {
    /// The weights file; if `None`, the default weights.
    pub weights: Option<PathBuf>,
    /// The device of the encoder.
    pub backend: Backend,
    /// The precision of the encoder.
    pub precision: Precision,
}

impl ModelSource {
    /// Starts a worker, with the weights that `default` reads if no file is named. Fails if the
    /// weights cannot be read or the device cannot be opened.
    pub fn start(
        &self,
        default: impl FnOnce() -> Result<Weights>,
        notice: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Worker> {
        let weights = self.weights.as_deref().map_or_else(default, Weights::read)?;
        let architecture = &weights.metadata.architecture;
        let (device, dtype) = self.backend.open(self.precision, architecture, &notice)?;
        Worker::start(Arc::new(weights), &device, dtype, notice)
    }
}

/// Makes evaluators for any number of searches. Its thread, if it has one, ends when the worker and
/// all its clients are dropped.
pub struct Worker {
    source: Source,
    policy: Option<Arc<Policy>>,
    notice: Notice,
}

enum Source {
    /// Every search thread gets another client.
    Model(ModelClient),
    /// Makes an evaluator for a search thread.
    Other(Box<dyn Fn() -> Box<dyn EvaluateOne> + Send>),
}

/// Number of requests in the queue at which a sender has to wait.
const QUEUE_LENGTH: usize = 64;

impl Worker {
    /// Builds the model of `weights` on `device`, compares its cosines with the CPU's, and starts
    /// its thread if it needs one. If the device's cosines are wrong, it falls back to operations
    /// that are correct; if memory is short, to smaller batches; after any other device error, to
    /// the CPU. It reports each fallback once through `notice`.
    pub fn start(
        weights: Arc<Weights>,
        device: &Device,
        dtype: DType,
        notice: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self> {
        let notice: Notice = Arc::new(notice);
        let encoder = encoder::build(&weights, device, dtype)?;
        let (encoder, on_cpu) = match device.is_cpu() {
            true => (encoder, true),
            false => checked(&weights, encoder, dtype, &notice)?,
        };
        Self::with_encoder(weights, encoder, on_cpu, move |text: &str| notice(text))
    }

    /// A worker for `weights` on the CPU, in f32. Fails if the integer encoder cannot represent
    /// them.
    pub fn on_cpu(weights: Weights, notice: impl Fn(&str) + Send + Sync + 'static) -> Result<Self> {
        Self::start(Arc::new(weights), &Device::Cpu, DType::F32, notice)
    }

    /// A worker for any encoder, in the space of `weights`. It falls back to the encoder of
    /// `weights` on the CPU, unless it is already `on_cpu`.
    pub fn with_encoder(
        weights: Arc<Weights>,
        encoder: Box<dyn Encoder>,
        on_cpu: bool,
        notice: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self> {
        let notice: Notice = Arc::new(notice);
        let policy = weights.policy.clone();
        let model = Model::with_encoder(encoder, &weights)?;
        let route = match model.for_caller() {
            Some(copy) => Route::Here(copy),
            None => {
                let (space, attributes) = (model.space().clone(), model.attributes());
                let fallback = (!on_cpu).then_some(weights);
                let thread = InferenceThread::start(model, fallback, notice.clone())?;
                Route::Thread(Box::new(Queue::new(thread, space, attributes)))
            }
        };
        Ok(Self { source: Source::Model(ModelClient(route)), policy, notice })
    }

    /// A worker for any other evaluator: `another` makes one for each search thread.
    pub fn with_evaluator<E: EvaluateOne + 'static>(
        another: impl Fn() -> E + Send + 'static,
        notice: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let another = move || -> Box<dyn EvaluateOne> { Box::new(another()) };
        let source = Source::Other(Box::new(another));
        Self { source, policy: None, notice: Arc::new(notice) }
    }

    /// The policy head of the weights, if they have one.
    pub fn policy(&self) -> Option<&Arc<Policy>> {
        self.policy.as_ref()
    }

    /// The function that shows messages of searches to the user.
    pub fn notice(&self) -> &Notice {
        &self.notice
    }

    /// Whether every search evaluates on its own thread instead of sending batches to another.
    pub fn runs_in_searches(&self) -> bool {
        self.queue().is_none()
    }

    fn queue(&self) -> Option<&Queue> {
        match &self.source {
            Source::Model(client) => client.queue(),
            Source::Other(_) => None,
        }
    }

    /// The values for one thread of a search.
    pub(super) fn connect(&self) -> ValueSource {
        match &self.source {
            Source::Model(client) => match client.another().0 {
                Route::Here(model) => ValueSource::Here(model),
                Route::Thread(queue) => ValueSource::Thread(queue),
            },
            Source::Other(another) => ValueSource::Other(another()),
        }
    }

    /// Access to the model itself. Fails if the evaluator is not a model.
    pub fn model(&self) -> Result<ModelClient> {
        match &self.source {
            Source::Model(client) => Ok(client.another()),
            Source::Other(_) => bail!("this evaluator has no space to look into"),
        }
    }
}

/// Evaluates positions in place of a model, one at a time and on the calling thread.
pub trait EvaluateOne: Send {
    /// The part of a position that the value depends on.
    fn key(&self) -> PositionKey {
        PositionKey::WithEnPassant
    }

    /// The value of `board`: `2p - 1`, in [-1, 1], of the win probability p of its side to move.
    fn evaluate(&mut self, board: &Board) -> Result<f32>;
}

/// The part of a position that an evaluator depends on: positions that agree in it have the same
/// value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionKey {
    /// Pieces, side to move and castling rights.
    WithoutEnPassant,
    /// Also the en-passant square.
    WithEnPassant,
    /// Also both move counters.
    WithClocks,
}

impl PositionKey {
    /// The hash of that part of `board`.
    #[inline]
    pub fn of(self, board: &Board) -> u64 {
        match self {
            Self::WithoutEnPassant => board.hash_without_ep(),
            Self::WithEnPassant => board.hash(),
            Self::WithClocks => {
                let clocks =
                    u64::from(board.halfmove_clock()) << 16 | u64::from(board.fullmove_number());
                board.hash() ^ clocks.wrapping_mul(0x9e37_79b9_7f4a_7c15)
            }
        }
    }
}

/// One thread's access to a model: evaluates positions, and returns their embeddings and cosines.
pub struct ModelClient(Route);

/// The thread that runs the model.
enum Route {
    /// The calling thread.
    Here(Model),
    /// The inference thread.
    Thread(Box<Queue>),
}

impl ModelClient {
    /// Another client of the same model.
    fn another(&self) -> Self {
        Self(match &self.0 {
            Route::Here(model) => Route::Here(model.for_caller().expect("it was copied before")),
            Route::Thread(queue) => Route::Thread(Box::new(queue.another())),
        })
    }

    fn queue(&self) -> Option<&Queue> {
        match &self.0 {
            Route::Here(_) => None,
            Route::Thread(queue) => Some(queue),
        }
    }

    /// The space of the embeddings.
    pub fn space(&self) -> &Arc<Space> {
        match &self.0 {
            Route::Here(model) => model.space(),
            Route::Thread(queue) => &queue.space,
        }
    }

    /// Unit embeddings of `boards`, row by row.
    pub fn embeddings(&mut self, boards: &[Board]) -> Result<Vec<f32>> {
        self.numbers(boards, Wanted::Embeddings)
    }

    /// Cosines of `boards` with the axis, each from the view of its side to move.
    pub fn cosines(&mut self, boards: &[Board]) -> Result<Vec<f32>> {
        let mut cosines = self.numbers(boards, Wanted::Cosines)?;
        for (cosine, board) in cosines.iter_mut().zip(boards) {
            *cosine = self.space().cosine_for_side_to_move(*cosine, board.side_to_move());
        }
        Ok(cosines)
    }

    fn numbers(&mut self, boards: &[Board], wanted: Wanted) -> Result<Vec<f32>> {
        match &mut self.0 {
            Route::Here(model) => {
                let Attributes { input, maximum_batch, .. } = model.attributes();
                Ok(wanted.of(model, &Inputs::of(input, boards), maximum_batch)?)
            }
            Route::Thread(queue) => {
                let inputs = Inputs::of(queue.attributes.input, boards);
                received(&queue.thread.send(inputs, wanted)?)?.numbers
            }
        }
    }
}

/// The source of the values of one thread of a search.
pub enum ValueSource {
    /// A model on the calling thread.
    Here(Model),
    /// A model on the inference thread.
    Thread(Box<Queue>),
    Other(Box<dyn EvaluateOne>),
}

impl ValueSource {
    /// The part of a position that its value depends on.
    pub fn key(&self) -> PositionKey {
        let attributes = match self {
            Self::Here(model) => model.attributes(),
            Self::Thread(queue) => queue.attributes,
            Self::Other(evaluator) => return evaluator.key(),
        };
        match attributes.input {
            InputKind::Features(_) => PositionKey::WithoutEnPassant,
            InputKind::Tokens => PositionKey::WithClocks,
        }
    }

    /// The value of `board`. No position may be enqueued.
    pub fn value(&mut self, board: &Board) -> Result<f32> {
        match self {
            Self::Here(model) => {
                let cosine = model.encoder.cosine(board)?;
                Ok(model.space().value(cosine, board.side_to_move()))
            }
            Self::Thread(queue) => {
                queue.enqueue(board)?;
                queue.collect()?.first().copied().context("the model evaluated nothing")
            }
            Self::Other(evaluator) => evaluator.evaluate(board),
        }
    }
}

/// The way to the thread that runs a model on a device.
#[derive(Clone)]
struct InferenceThread {
    requests: Sender<Request>,
    /// Every client holds a copy, so that the thread can count them.
    _clients: Arc<()>,
}

impl InferenceThread {
    fn start(model: Model, fallback: Option<Arc<Weights>>, notice: Notice) -> Result<Self> {
        let (requests, waiting) = bounded(QUEUE_LENGTH);
        let clients = Arc::new(());
        let batcher = Batcher::new(model, fallback, notice, Arc::downgrade(&clients));
        thread::Builder::new()
            .name("inference".to_owned())
            .spawn(move || batcher.run(&waiting))
            .context("cannot start the inference thread")?;
        Ok(Self { requests, _clients: clients })
    }

    /// Sends a batch, and waits while the queue is full.
    fn send(&self, inputs: Inputs, wanted: Wanted) -> Result<Receiver<Response>> {
        let (response, pending) = bounded(1);
        let request = Request { inputs, wanted, response };
        self.requests.send(request).map_err(|_| thread_ended())?;
        Ok(pending)
    }
}

/// Waits for a response of the inference thread.
fn received(pending: &Receiver<Response>) -> Result<Response> {
    pending.recv().map_err(|_| thread_ended())
}

/// The error if the inference thread has ended.
fn thread_ended() -> anyhow::Error {
    anyhow!("the inference thread has ended")
}

/// The positions that a search sends to the inference thread, in batches.
pub struct Queue {
    thread: InferenceThread,
    space: Arc<Space>,
    pub attributes: Attributes,
    /// The next batch.
    inputs: Inputs,
    /// Side to move of each enqueued position.
    sides: Vec<Color>,
    in_flight: VecDeque<Receiver<Response>>,
    /// Buffers for reuse.
    spare: Vec<Inputs>,
    waited: Duration,
}

impl Queue {
    fn new(thread: InferenceThread, space: Arc<Space>, attributes: Attributes) -> Self {
        Self {
            thread,
            space,
            attributes,
            inputs: Inputs::new(attributes.input),
            sides: Vec::new(),
            in_flight: VecDeque::new(),
            spare: Vec::new(),
            waited: Duration::ZERO,
        }
    }

    fn another(&self) -> Self {
        Self::new(self.thread.clone(), self.space.clone(), self.attributes)
    }

    /// Asks for the value of `board`. After an error no position is enqueued.
    pub fn enqueue(&mut self, board: &Board) -> Result<()> {
        self.inputs.push(board);
        self.sides.push(board.side_to_move());
        if self.inputs.len() < self.attributes.recommended_batch {
            return Ok(());
        }
        self.send().inspect_err(|_| self.forget_enqueued())
    }

    /// Waits for the values of all positions enqueued since the last call, in their order. After an
    /// error no position is enqueued.
    pub fn collect(&mut self) -> Result<Vec<f32>> {
        let outcome = self.wait_for_all();
        self.forget_enqueued();
        outcome
    }

    /// Time spent waiting for the inference thread.
    pub fn waited(&self) -> Duration {
        self.waited
    }

    fn send(&mut self) -> Result<()> {
        let mut next = self.spare.pop().unwrap_or_else(|| Inputs::new(self.attributes.input));
        next.clear();
        let inputs = std::mem::replace(&mut self.inputs, next);
        let asked = Instant::now();
        self.in_flight.push_back(self.thread.send(inputs, Wanted::Cosines)?);
        self.waited += asked.elapsed();
        Ok(())
    }

    fn wait_for_all(&mut self) -> Result<Vec<f32>> {
        if !self.inputs.is_empty() {
            self.send()?;
        }
        let mut values = Vec::with_capacity(self.sides.len());
        while let Some(pending) = self.in_flight.pop_front() {
            let asked = Instant::now();
            let response = received(&pending)?;
            self.waited += asked.elapsed();
            self.spare.push(response.inputs);
            for cosine in response.numbers? {
                values.push(self.space.value(cosine, self.sides[values.len()]));
            }
        }
        Ok(values)
    }

    fn forget_enqueued(&mut self) {
        self.sides.clear();
        self.in_flight.clear();
        self.inputs.clear();
    }
}
