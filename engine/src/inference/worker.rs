//! The thread that owns the encoder. Any number of searches send it batches over a bounded channel;
//! it gathers what is waiting, up to the encoder's maximum batch, and answers each sender.

use std::sync::Arc;
use std::thread;

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
pub type Notice = Box<dyn Fn(&str) + Send>;

/// A running worker. It ends when it and all its clients are dropped.
pub struct Worker {
    requests: Sender<Request>,
    attributes: Attributes,
}

impl Worker {
    /// Builds the encoder of `weights` on `device` and starts the thread. After a device error the
    /// worker says so through `notice` and goes on with the CPU.
    pub fn start(
        weights: Arc<Weights>,
        device: &Device,
        dtype: DType,
        notice: Notice,
    ) -> Result<Self> {
        let encoder = weights.encoder(device, dtype)?;
        let on_cpu = device.is_cpu();
        Self::spawn(weights, encoder, on_cpu, notice)
    }

    fn spawn(
        weights: Arc<Weights>,
        encoder: Box<dyn Encoder>,
        on_cpu: bool,
        notice: Notice,
    ) -> Result<Self> {
        let attributes = encoder.attributes();
        let (requests, waiting) = bounded(WAITING);
        let mut desk = Desk { weights, encoder, on_cpu, notice };
        thread::Builder::new()
            .name("inference".to_owned())
            .spawn(move || desk.serve(&waiting))
            .context("cannot start the inference thread")?;
        Ok(Self { requests, attributes })
    }

    /// A connection of its own for one search.
    pub fn client(&self) -> Client {
        Client { requests: self.requests.clone(), attributes: self.attributes }
    }
}

/// One search's connection to a worker.
pub struct Client {
    requests: Sender<Request>,
    attributes: Attributes,
}

impl Client {
    /// The encoder's attributes.
    pub fn attributes(&self) -> Attributes {
        self.attributes
    }

    /// Queues a batch; waits while too many are queued already.
    pub(super) fn submit(&self, inputs: Inputs) -> Result<Ticket> {
        let (answer, ticket) = bounded(1);
        self.requests.send(Request { inputs, answer }).map_err(|_| ended())?;
        Ok(Ticket(ticket))
    }
}

/// A batch on its way.
pub(super) struct Ticket(Receiver<Answer>);

impl Ticket {
    /// Waits for the batch's scores.
    pub(super) fn redeem(self) -> Result<Answer> {
        self.0.recv().map_err(|_| ended())
    }
}

fn ended() -> anyhow::Error {
    anyhow!("the inference thread has ended")
}

/// What the thread works with.
struct Desk {
    weights: Arc<Weights>,
    encoder: Box<dyn Encoder>,
    on_cpu: bool,
    notice: Notice,
}

impl Desk {
    fn serve(&mut self, waiting: &Receiver<Request>) {
        let maximum = self.encoder.attributes().maximum_batch;
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
        let mut all = Inputs::new(self.encoder.attributes().input);
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

    /// Calibrated win probabilities, in the encoder's perspective.
    fn score(&mut self, inputs: &Inputs) -> Result<Vec<f32>> {
        let embeddings = match self.encode_in_parts(inputs) {
            Err(error) if !self.on_cpu => {
                (self.notice)(&format!("device error, going on with the CPU: {error:#}"));
                self.encoder = self.weights.encoder(&Device::Cpu, DType::F32)?;
                self.on_cpu = true;
                self.encode_in_parts(inputs)?
            }
            result => result?,
        };
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

fn reply(request: Request, win_probabilities: Result<Vec<f32>>) {
    // A search that has gone away needs no answer.
    let _ = request.answer.send(Answer { inputs: request.inputs, win_probabilities });
}
