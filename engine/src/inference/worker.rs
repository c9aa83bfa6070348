//! Runs a model. A device, or a slow encoder, belongs to one thread, the [`Batcher`]: any number of
//! searches send it batches over a bounded channel. An encoder that evaluates a batch faster than
//! another thread can be woken (the sparse one on a CPU) is copied to each search thread.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use azimuth_network::weights::Weights;
use candle_core::{DType, Device};
use crossbeam_channel::{Sender, bounded};

use super::batch_log::{BatchLog, BatchSecond};
use super::batcher::Batcher;
use super::device_check::{Checked, checked};
use super::evaluate::Evaluate;
use super::model_client::{ModelClient, Route};
use super::notice::Notice;
use super::one_by_one::{EvaluateOne, OneByOne};
use super::request::Request;
use crate::encoder::{self, Attributes, Encoder};
use crate::model::Model;
use crate::space::Space;

/// Number of requests in the queue at which a sender has to wait.
const QUEUE_LENGTH: usize = 64;

/// Makes evaluators for any number of searches. Its thread, if it has one, ends when the worker and
/// all its clients are dropped.
pub struct Worker {
    source: Source,
    notice: Notice,
}

enum Source {
    /// Each search thread gets a copy.
    Copies(Model),
    /// The inference thread.
    Thread(ModelThread),
    /// Any other evaluator.
    Other(Box<dyn Fn() -> Box<dyn Evaluate> + Send>),
}

struct ModelThread {
    space: Arc<Space>,
    attributes: Attributes,
    requests: Sender<Request>,
    log: Arc<BatchLog>,
    /// Every client holds a copy, so that the clients can be counted.
    clients: Arc<()>,
}

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
        let Checked { encoder, on_cpu } = match device.is_cpu() {
            true => Checked { encoder, on_cpu: true },
            false => checked(&weights, encoder, dtype, &notice)?,
        };
        Self::in_space(weights, encoder, on_cpu, notice)
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
        Self::in_space(weights, encoder, on_cpu, Arc::new(notice))
    }

    fn in_space(
        weights: Arc<Weights>,
        encoder: Box<dyn Encoder>,
        on_cpu: bool,
        notice: Notice,
    ) -> Result<Self> {
        let model = Model::with_encoder(encoder, Arc::new(Space::of(&weights)))?;
        match model.for_caller() {
            Some(copy) => Ok(Self { source: Source::Copies(copy), notice }),
            None => Self::on_thread(model, (!on_cpu).then_some(weights), notice),
        }
    }

    /// A worker for any other evaluator: `another` makes one for each search thread.
    pub fn with_evaluator<E: EvaluateOne + 'static>(
        another: impl Fn() -> E + Send + 'static,
        notice: impl Fn(&str) + Send + Sync + 'static,
    ) -> Self {
        let another = move || Box::new(OneByOne::new(another())) as Box<dyn Evaluate>;
        Self { source: Source::Other(Box::new(another)), notice: Arc::new(notice) }
    }

    /// The function that shows messages of searches to the user.
    pub fn notice(&self) -> &Notice {
        &self.notice
    }

    fn on_thread(model: Model, fallback: Option<Arc<Weights>>, notice: Notice) -> Result<Self> {
        let (space, attributes) = (model.space().clone(), model.attributes());
        let (requests, waiting) = bounded(QUEUE_LENGTH);
        let (log, clients) = (Arc::new(BatchLog::new()), Arc::new(()));
        let (counted, work) = (Arc::downgrade(&clients), Arc::clone(&log));
        let batcher = Batcher::new(model, fallback, notice.clone(), work, counted);
        thread::Builder::new()
            .name("inference".to_owned())
            .spawn(move || batcher.run(&waiting))
            .context("cannot start the inference thread")?;
        let thread = ModelThread { space, attributes, requests, log, clients };
        Ok(Self { source: Source::Thread(thread), notice })
    }

    /// Time in which the inference thread's device had work; zero if there is no such thread.
    pub fn busy(&self) -> Duration {
        match &self.source {
            Source::Thread(thread) => thread.log.busy(),
            Source::Copies(_) | Source::Other(_) => Duration::ZERO,
        }
    }

    /// The batches of the inference thread so far, second by second; empty if there is no such
    /// thread.
    pub fn batches(&self) -> Vec<BatchSecond> {
        match &self.source {
            Source::Thread(thread) => thread.log.seconds(),
            Source::Copies(_) | Source::Other(_) => Vec::new(),
        }
    }

    /// Whether every search evaluates on its own thread instead of sending batches to another.
    pub fn runs_in_searches(&self) -> bool {
        !matches!(self.source, Source::Thread(_))
    }

    /// An evaluator for one thread of a search.
    pub fn connect(&self) -> Box<dyn Evaluate> {
        match &self.source {
            Source::Other(another) => another(),
            Source::Copies(model) => Box::new(client_of_copy(model)),
            Source::Thread(thread) => Box::new(thread.client()),
        }
    }

    /// Access to the model itself. Fails if the evaluator is not a model.
    pub fn model(&self) -> Result<ModelClient> {
        match &self.source {
            Source::Copies(model) => Ok(client_of_copy(model)),
            Source::Thread(thread) => Ok(thread.client()),
            Source::Other(_) => bail!("this evaluator has no space to look into"),
        }
    }
}

impl ModelThread {
    fn client(&self) -> ModelClient {
        let (requests, _clients) = (self.requests.clone(), self.clients.clone());
        let route = Route::Thread { requests, _clients };
        ModelClient::new(route, self.space.clone(), self.attributes)
    }
}

fn client_of_copy(model: &Model) -> ModelClient {
    let copy = model.for_caller().expect("it was copied before");
    let (space, attributes) = (copy.space().clone(), copy.attributes());
    ModelClient::new(Route::Here(copy), space, attributes)
}

#[cfg(test)]
mod tests;
