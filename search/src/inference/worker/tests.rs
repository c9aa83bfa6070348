//! The worker with devices that are slow, short of memory, or fail.

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use anyhow::anyhow;
use azimuth_network::Inputs;
use cozy_chess::Board;
use crossbeam_channel::{Receiver, unbounded};

use super::*;
use crate::DefaultWeights;
use crate::encoder::{EncodeError, PendingScores, Scores};
use crate::inference::evaluator::Evaluator;

const MAXIMUM: usize = 40;

/// A call to a device.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// Begin a batch of this number of positions.
    Begin(usize),
    /// Wait for the scores of the batch with this index, counted from 0.
    Wait(usize),
}

/// The failure of a device, by the index and size of a batch.
#[derive(Clone, Copy)]
enum Failure {
    Nothing,
    /// Batches from this index on do not begin.
    LostAt(usize),
    /// Batches from this index on return no scores.
    SilentAt(usize),
    /// No scores are ready before this number of batches have begun.
    SlowUntil(usize),
    /// Larger batches do not begin, for lack of memory.
    MemoryFor(usize),
    /// Larger batches begin but return no scores, for lack of memory.
    MemoryLater(usize),
}

/// The default encoder in the role of a device.
struct Remote {
    encoder: Box<dyn Encoder>,
    failure: Failure,
    events: Arc<Mutex<Vec<Event>>>,
    batches: usize,
    /// If present, every batch waits for a permission from it before it begins.
    gate: Option<Receiver<()>>,
}

impl Encoder for Remote {
    fn attributes(&self) -> Attributes {
        let attributes = self.encoder.attributes();
        Attributes {
            recommended_batch: MAXIMUM,
            maximum_batch: MAXIMUM,
            fixed_sizes: true,
            ..attributes
        }
    }

    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>, EncodeError> {
        self.encoder.encode(inputs)
    }

    fn begin(&mut self, inputs: &Inputs) -> Result<Scores, EncodeError> {
        if let Some(gate) = &self.gate {
            gate.recv().map_err(anyhow::Error::new)?;
        }
        let (number, size) = (self.batches, inputs.len());
        self.batches += 1;
        self.events.lock().expect("no panics").push(Event::Begin(size));
        match self.failure {
            Failure::LostAt(first) if number >= first => {
                return Err(anyhow!("fell off the bus").into());
            }
            Failure::MemoryFor(most) if size > most => {
                return Err(EncodeError::OutOfMemory(anyhow!("no room")));
            }
            _ => {}
        }
        let cosines = self.encoder.begin(inputs)?.wait()?;
        let (events, failure) = (self.events.clone(), self.failure);
        Ok(Scores::Pending(Box::new(OnDevice { cosines, number, failure, events })))
    }
}

struct OnDevice {
    cosines: Vec<f32>,
    number: usize,
    failure: Failure,
    events: Arc<Mutex<Vec<Event>>>,
}

impl PendingScores for OnDevice {
    fn is_ready(&self) -> bool {
        let begins = |event: &&Event| matches!(event, Event::Begin(_));
        let begun = self.events.lock().expect("no panics").iter().filter(begins).count();
        !matches!(self.failure, Failure::SlowUntil(batches) if begun < batches)
    }

    fn wait(self: Box<Self>) -> Result<Vec<f32>, EncodeError> {
        self.events.lock().expect("no panics").push(Event::Wait(self.number));
        match self.failure {
            Failure::SilentAt(first) if self.number >= first => {
                Err(anyhow!("fell off the bus").into())
            }
            Failure::MemoryLater(most) if self.cosines.len() > most => {
                Err(EncodeError::OutOfMemory(anyhow!("no room")))
            }
            _ => Ok(self.cosines),
        }
    }
}

struct Setting {
    weights: Arc<Weights>,
    events: Arc<Mutex<Vec<Event>>>,
    notices: Arc<Mutex<Vec<String>>>,
    worker: Worker,
}

impl Setting {
    fn new(failure: Failure) -> Result<Self> {
        Self::with(failure, None, false)
    }

    fn with(failure: Failure, gate: Option<Receiver<()>>, on_cpu: bool) -> Result<Self> {
        let weights = Arc::new(DefaultWeights::Beam.weights()?);
        let events = Arc::<Mutex<Vec<Event>>>::default();
        let notices = Arc::new(Mutex::new(Vec::new()));
        let encoder = crate::encoder::build(&weights, &Device::Cpu, DType::F32)?;
        let remote = Remote { encoder, failure, events: events.clone(), batches: 0, gate };
        let said = notices.clone();
        let notice = move |text: &str| said.lock().expect("no panics").push(text.to_owned());
        let worker = Worker::with_encoder(weights.clone(), Box::new(remote), on_cpu, notice)?;
        Ok(Self { weights, events, notices, worker })
    }

    fn sizes(&self) -> Vec<usize> {
        let events = self.events.lock().expect("no panics");
        let size = |event: &Event| match event {
            Event::Begin(size) => Some(*size),
            Event::Wait(_) => None,
        };
        events.iter().filter_map(size).collect()
    }

    fn notices(&self) -> Vec<String> {
        self.notices.lock().expect("no panics").clone()
    }
}

/// Asks for the scores of `count` positions and compares them with the encoder's own.
fn ask(weights: &Weights, client: &ModelClient, first: u32, count: u32) -> Result<()> {
    let batch = inputs(weights, first, count);
    let expected = expected(weights, &batch)?;
    assert_eq!(send(client, batch)?.recv()?.numbers?, expected);
    Ok(())
}

fn send(client: &ModelClient, inputs: Inputs) -> Result<Receiver<Response>> {
    client.queue().context("it runs here")?.thread.send(inputs, Wanted::Cosines)
}

fn inputs(weights: &Weights, first: u32, count: u32) -> Inputs {
    let boards: Vec<Board> = (first..first + count).map(Board::chess960_startpos).collect();
    Inputs::of(weights.metadata.architecture.input_kind(), &boards)
}

fn expected(weights: &Weights, inputs: &Inputs) -> Result<Vec<f32>> {
    Ok(Model::new(weights, &Device::Cpu, DType::F32)?.cosines(inputs, inputs.len())?)
}

#[test]
fn many_searches_get_their_own_answers_in_batches_of_few_sizes() -> Result<()> {
    let setting = Setting::new(Failure::Nothing)?;
    thread::scope(|scope| {
        let searches: Vec<_> = (0..8)
            .map(|search| {
                let (client, weights) = (setting.worker.model(), &setting.weights);
                scope.spawn(move || -> Result<()> {
                    let client = client?;
                    for round in 0..20 {
                        ask(weights, &client, search * 100 + round, 1 + round % 10)?;
                    }
                    Ok(())
                })
            })
            .collect();
        searches.into_iter().try_for_each(|search| search.join().expect("no panics"))
    })?;
    let sizes: HashSet<usize> = setting.sizes().into_iter().collect();
    assert!(sizes.is_subset(&HashSet::from([16, 24, 32, MAXIMUM])), "{sizes:?}");
    Ok(())
}

#[test]
fn what_comes_while_a_batch_runs_begins_before_it_ends() -> Result<()> {
    let setting = Setting::new(Failure::SlowUntil(2))?;
    let client = setting.worker.model()?;
    let first = send(&client, inputs(&setting.weights, 0, 16))?;
    while setting.sizes().is_empty() {
        thread::yield_now();
    }
    let second = send(&client, inputs(&setting.weights, 100, 16))?;
    for pending in [first, second] {
        assert_eq!(pending.recv()?.numbers?.len(), 16);
    }
    let events = setting.events.lock().expect("no panics");
    let begin = Event::Begin(16);
    assert_eq!(*events, [begin, begin, Event::Wait(0), Event::Wait(1)]);
    Ok(())
}

#[test]
fn what_waits_is_answered_in_one_batch() -> Result<()> {
    let (permit, gate) = unbounded();
    let setting = Setting::with(Failure::Nothing, Some(gate), false)?;
    let client = setting.worker.model()?;
    let mut all_pending = Vec::new();
    for number in 0..36 {
        all_pending.push(send(&client, inputs(&setting.weights, number, 1))?);
    }
    (0..36).try_for_each(|_| permit.send(()))?;
    for pending in all_pending {
        assert_eq!(pending.recv()?.numbers?.len(), 1);
    }
    // One batch of the requests that arrived before the first batch reached the gate, and one of
    // the rest.
    assert!(setting.sizes().len() <= 2, "{:?}", setting.sizes());
    Ok(())
}

#[test]
fn requests_of_other_searches_are_waited_for() -> Result<()> {
    let weights = Arc::new(DefaultWeights::Beam.weights()?);
    let events = Arc::<Mutex<Vec<Event>>>::default();
    let encoder = crate::encoder::build(&weights, &Device::Cpu, DType::F32)?;
    let failure = Failure::Nothing;
    let remote = Remote { encoder, failure, events: events.clone(), batches: 0, gate: None };
    let (requests, waiting) = bounded(QUEUE_LENGTH);
    let model = Model::with_encoder(Box::new(remote), &weights)?;
    let (space, attributes) = (model.space().clone(), model.attributes());
    let counted = Arc::new(());
    let mut batcher = Batcher::new(model, None, Arc::new(|_| ()), Arc::downgrade(&counted));
    // Longer than the test may take: the wait ends because both searches have sent a request.
    batcher.max_wait = Duration::from_secs(3600);
    let thread = InferenceThread { requests, _clients: counted };
    let client = ModelClient(Route::Thread(Box::new(Queue::new(thread, space, attributes))));
    let clients = [client.another(), client.another()];
    let thread = thread::spawn(move || batcher.run(&waiting));
    let first = send(&clients[0], inputs(&weights, 0, 3))?;
    thread::sleep(Duration::from_millis(20));
    let second = send(&clients[1], inputs(&weights, 9, 4))?;
    assert_eq!(first.recv()?.numbers?.len(), 3);
    assert_eq!(second.recv()?.numbers?.len(), 4);
    assert_eq!(events.lock().expect("no panics")[0], Event::Begin(16));
    drop((clients, client));
    thread.join().expect("no panics");
    Ok(())
}

#[test]
fn waiting_to_send_counts_as_waiting() -> Result<()> {
    let weights = DefaultWeights::Beam.weights()?;
    let model = Model::new(&weights, &Device::Cpu, DType::F32)?;
    // A queue without room: a sender waits until the device takes the request.
    let (requests, waiting) = bounded::<Request>(0);
    let (begin, begun) = bounded(1);
    let delay = Duration::from_millis(200);
    let device = thread::spawn(move || -> Result<()> {
        begun.recv()?;
        thread::sleep(delay);
        let request = waiting.recv()?;
        let count = request.inputs.len();
        request.respond(Ok(vec![0.0; count]));
        Ok(())
    });
    let thread = InferenceThread { requests, _clients: Arc::new(()) };
    let mut queue = Queue::new(thread, model.space().clone(), model.attributes());
    begin.send(())?;
    queue.enqueue(&Board::startpos())?;
    queue.collect()?;
    assert!(queue.waited() > delay / 2, "{:?}", queue.waited());
    device.join().expect("no panics")
}

#[test]
fn a_lost_device_is_said_once_and_the_cpu_goes_on() -> Result<()> {
    for failure in [Failure::LostAt(1), Failure::SilentAt(1), Failure::LostAt(0)] {
        let setting = Setting::new(failure)?;
        let client = setting.worker.model()?;
        for first in 0..4 {
            ask(&setting.weights, &client, first, 5)?;
        }
        assert_eq!(setting.notices(), ["device error, going on with the CPU: fell off the bus"]);
    }
    Ok(())
}

#[test]
fn a_device_lost_with_two_batches_on_it_loses_none() -> Result<()> {
    let (permit, gate) = unbounded();
    let setting = Setting::with(Failure::SilentAt(0), Some(gate), false)?;
    let client = setting.worker.model()?;
    let batches = [0, 100].map(|first| inputs(&setting.weights, first, MAXIMUM as u32));
    let mut all_pending = Vec::new();
    for batch in batches {
        let expected = expected(&setting.weights, &batch)?;
        all_pending.push((send(&client, batch)?, expected));
    }
    (0..2).try_for_each(|_| permit.send(()))?;
    for (pending, expected) in all_pending {
        assert_eq!(pending.recv()?.numbers?, expected);
    }
    assert_eq!(setting.notices().len(), 1);
    Ok(())
}

#[test]
fn short_memory_halves_the_batch_and_is_said_once() -> Result<()> {
    for failure in [Failure::MemoryFor(10), Failure::MemoryLater(10)] {
        let setting = Setting::new(failure)?;
        let client = setting.worker.model()?;
        for first in 0..6 {
            ask(&setting.weights, &client, first, 40)?;
        }
        let said = "the device is out of memory with 40 positions at a time, going on with fewer";
        assert_eq!(setting.notices(), [said]);
        let sizes = setting.sizes();
        assert_eq!(sizes.iter().filter(|&&size| size > 10).count(), 2, "{sizes:?}");
        assert!(sizes[2..].iter().all(|&size| size == 10), "{sizes:?}");
    }
    Ok(())
}

#[test]
fn no_memory_at_all_is_a_lost_device() -> Result<()> {
    let setting = Setting::new(Failure::MemoryFor(0))?;
    let client = setting.worker.model()?;
    for first in 0..2 {
        ask(&setting.weights, &client, first, 20)?;
    }
    let last = "device error, going on with the CPU: the device is out of memory: no room";
    assert_eq!(setting.notices().len(), 2);
    assert_eq!(setting.notices()[1], last);
    Ok(())
}

#[test]
fn an_error_on_the_cpu_reaches_the_search() -> Result<()> {
    let setting = Setting::with(Failure::LostAt(0), None, true)?;
    let client = setting.worker.model()?;
    let batch = inputs(&setting.weights, 0, 3);
    let answer = send(&client, batch)?.recv()?;
    assert!(answer.numbers.is_err());
    Ok(())
}

#[test]
fn embeddings_come_between_cosines_and_survive_a_lost_device() -> Result<()> {
    let boards: Vec<Board> = (0..2 * MAXIMUM as u32).map(Board::chess960_startpos).collect();
    for failure in [Failure::Nothing, Failure::LostAt(1)] {
        let setting = Setting::new(failure)?;
        let mut own = Model::new(&setting.weights, &Device::Cpu, DType::F32)?;
        let inputs = Inputs::of(own.attributes().input, &boards);
        let mut client = setting.worker.model()?;
        for _ in 0..2 {
            ask(&setting.weights, &client, 0, 5)?;
            assert_eq!(client.embeddings(&boards)?, own.embeddings(&inputs, boards.len())?);
        }
        assert_eq!(client.cosines(&boards)?, own.cosines(&inputs, boards.len())?);
    }
    Ok(())
}

#[test]
fn any_evaluator_takes_the_place_of_a_model() -> Result<()> {
    /// Counts pieces, and the number of its evaluations.
    struct Pieces(Arc<AtomicUsize>);

    impl EvaluateOne for Pieces {
        fn evaluate(&mut self, board: &Board) -> Result<f32> {
            self.0.fetch_add(1, SeqCst);
            Ok(board.occupied().len() as f32 / 64.0)
        }
    }

    let evaluations = Arc::<AtomicUsize>::default();
    let counted = evaluations.clone();
    let worker = Worker::with_evaluator(move || Pieces(counted.clone()), |_| ());
    assert!(worker.runs_in_searches() && worker.model().is_err());
    let mut evaluator = Evaluator::new(&worker, 1)?;
    let board = Board::default();
    let queued = evaluator.look_up(&board)?;
    assert_eq!(queued.value(&evaluator.finish()?), 0.5);
    assert_eq!((evaluator.value(&board)?, evaluator.scored()), (0.5, 1));
    assert_eq!(evaluations.load(SeqCst), 1);
    Ok(())
}
