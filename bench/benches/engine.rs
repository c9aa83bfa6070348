//! Benchmarks of the engine around the encoder: inputs, batches, and the search with an encoder
//! that costs nothing or a fixed time per batch.

#[path = "../src/speed/positions.rs"]
mod positions;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Result;
use azimuth_chess::position::{Position, board_after};
use azimuth_chess::tokens::tokenize;
use azimuth_network::axis::Axis;
use azimuth_network::sparse::features::{FeatureBatch, FeatureSet};
use azimuth_network::{InputKind, Inputs, Perspective};
use azimuth_search::DefaultWeights;
use azimuth_search::encoder::{Attributes, EncodeError, Encoder, Scores};
use azimuth_search::inference::Worker;
use azimuth_search::{Beam, BeamSettings, Control, Limits, Planner, PlannerSettings, Resources};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// A stand-in encoder: a different embedding for every position, in constant time.
#[derive(Clone)]
struct Fake {
    axis: Axis,
    /// Time per batch, whatever its size, as on a device; `None` if the search runs the encoder
    /// itself.
    latency: Option<Duration>,
}

impl Encoder for Fake {
    fn attributes(&self) -> Attributes {
        Attributes {
            input: InputKind::Features(FeatureSet::ATTACK_STATES),
            perspective: Perspective::SideToMove,
            embedding_dim: self.axis.dim(),
            recommended_batch: 256,
            maximum_batch: 4096,
            fixed_sizes: false,
        }
    }

    fn encode(&mut self, inputs: &Inputs) -> Result<Vec<f32>, EncodeError> {
        let began = Instant::now();
        let mut embeddings = vec![0.0; inputs.len() * self.axis.dim()];
        if let Inputs::Features(batch) = inputs {
            let embeddings = embeddings.chunks_exact_mut(self.axis.dim());
            for (features, embedding) in batch.iter().zip(embeddings) {
                let sum: u32 = features.own.iter().map(|&row| u32::from(row)).sum();
                let x = (sum.wrapping_mul(0x9e37_79b9) >> 8) as f32 / (1 << 24) as f32;
                (embedding[0], embedding[1]) = (x, (1.0 - x * x).sqrt());
            }
        }
        while self.latency.is_some_and(|latency| began.elapsed() < latency) {
            std::hint::spin_loop();
        }
        Ok(embeddings)
    }

    fn begin(&mut self, inputs: &Inputs) -> Result<Scores, EncodeError> {
        let embeddings = self.encode(inputs)?;
        Ok(Scores::Ready(self.axis.cosines(&embeddings)))
    }

    fn for_caller(&self) -> Option<Box<dyn Encoder>> {
        self.latency.is_none().then(|| Box::new(self.clone()) as Box<dyn Encoder>)
    }
}

fn inputs(c: &mut Criterion) {
    let boards = positions::leaves(&positions::roots().expect("legal positions"));
    let mut group = c.benchmark_group("inputs");
    group.throughput(Throughput::Elements(boards.len() as u64));
    group.bench_function("tokens", |b| {
        b.iter(|| {
            for board in &boards {
                black_box(tokenize(board, board.halfmove_clock().into()));
            }
        });
    });
    group.bench_function("features", |b| {
        b.iter(|| black_box(FeatureBatch::of(FeatureSet::ATTACK_STATES, &boards).len()));
    });
}

/// From a position to the batch of its children.
fn batches(c: &mut Criterion) {
    let roots = positions::roots().expect("legal positions");
    let mut group = c.benchmark_group("moves to batch");
    let children: usize = roots.iter().map(|root| positions::children(root.board()).len()).sum();
    group.throughput(Throughput::Elements(children as u64));
    for (name, kind) in [
        ("tokens", InputKind::Tokens),
        ("features", InputKind::Features(FeatureSet::ATTACK_STATES)),
    ] {
        group.bench_function(name, |b| {
            let mut inputs = Inputs::new(kind);
            b.iter(|| {
                inputs.clear();
                for root in &roots {
                    root.board().generate_moves(|moves| {
                        for mv in moves {
                            inputs.push(&board_after(root.board(), mv));
                        }
                        false
                    });
                }
                black_box(inputs.len())
            });
        });
    }
}

/// The cost of the planner alone: width 3, depth 6, empty cache.
fn search(c: &mut Criterion) {
    let weights = Arc::new(DefaultWeights::Beam.weights().expect("embedded weights"));
    let roots = positions::roots().expect("legal positions");
    let mut group = c.benchmark_group("search, width 3, depth 6");
    group.sample_size(20);
    for (name, latency) in [
        ("encoder for nothing", None),
        ("100 us a batch, on a thread", Some(Duration::from_micros(100))),
    ] {
        let fake = Fake { axis: weights.axis.clone(), latency };
        let worker =
            Worker::with_encoder(weights.clone(), Box::new(fake), true, |_| ()).expect("a thread");
        let settings = PlannerSettings { beam: BeamSettings::PAPER, ..PlannerSettings::default() };
        let resources = Resources { hash_mb: 16, threads: 1 };
        let mut beam = Beam::new(&worker, &settings, resources).expect("memory");
        let looked_at: u64 = roots.iter().map(|root| think(&mut beam, root)).sum();
        group.throughput(Throughput::Elements(looked_at));
        group.bench_function(name, |b| {
            b.iter(|| roots.iter().map(|root| think(&mut beam, root)).sum::<u64>());
        });
    }
}

fn think(beam: &mut Beam, root: &Position) -> u64 {
    beam.new_game();
    let mut control = Control::without_signals(Limits::default());
    beam.search(root, &mut control, &mut |_| ()).expect("a move").nodes
}

criterion_group!(benches, inputs, batches, search);
criterion_main!(benches);
