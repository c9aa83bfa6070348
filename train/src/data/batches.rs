//! Batches of positions: which positions a step sees, made ready for the encoder on a thread of
//! its own. A batch depends on the seed and the step alone, so a resumed run sees the same ones.

use std::sync::Arc;
use std::thread;

use azimuth::encoder::sparse::features::Features;
use azimuth::encoder::{Architecture, InputKind, Inputs};
use crossbeam_channel::{Receiver, bounded};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::packed::PackedPosition;

/// Batches that wait ready for the training thread.
const READY: usize = 8;

/// How a batch is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Positions that each epoch sees once.
    pub anchors: usize,
    /// Positions added for each anchor with a win probability within `delta` of its own.
    pub positives: usize,
    /// Margin of win probability below which two positions are positives of one another.
    pub delta: f32,
    /// Exchange the a-file with the h-file, and so on, in every second position (features only).
    pub mirror: bool,
    /// Seed of the order and of every draw.
    pub seed: u64,
}

/// One step's positions and their labels in the encoder's perspective.
pub struct Batch {
    /// What the encoder reads.
    pub inputs: Inputs,
    /// Win probabilities.
    pub labels: Vec<f32>,
}

/// Starts the thread that prepares the batches of steps `first..last`, in order.
pub fn prepare(
    positions: Arc<Vec<PackedPosition>>,
    architecture: &Architecture,
    sampling: Sampling,
    steps: std::ops::Range<u64>,
) -> Receiver<Batch> {
    let (sender, receiver) = bounded(READY);
    let architecture = architecture.clone();
    thread::spawn(move || {
        let mut sampler = Sampler::new(&positions, &architecture, sampling);
        for step in steps {
            if sender.send(sampler.batch(step)).is_err() {
                break;
            }
        }
    });
    receiver
}

struct Sampler<'a> {
    positions: &'a [PackedPosition],
    architecture: &'a Architecture,
    sampling: Sampling,
    epoch: Option<u64>,
    order: Vec<u32>,
    /// Win probabilities in rising order with their positions; empty where no positives are drawn.
    by_label: Vec<(f32, u32)>,
}

impl<'a> Sampler<'a> {
    fn new(
        positions: &'a [PackedPosition],
        architecture: &'a Architecture,
        sampling: Sampling,
    ) -> Self {
        let mut by_label = Vec::new();
        if sampling.positives > 0 {
            let perspective = architecture.perspective();
            by_label.extend(positions.iter().map(|p| p.win_probability(perspective)).zip(0..));
            by_label.sort_unstable_by(|a: &(f32, u32), b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        Self { positions, architecture, sampling, epoch: None, order: Vec::new(), by_label }
    }

    fn batch(&mut self, step: u64) -> Batch {
        let anchors = self.sampling.anchors.min(self.positions.len());
        let batches_per_epoch = (self.positions.len() / anchors) as u64;
        self.begin_epoch(step / batches_per_epoch);
        let first = (step % batches_per_epoch) as usize * anchors;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.sampling.seed ^ mix(step));

        let mut chosen = self.order[first..first + anchors].to_vec();
        for anchor in 0..anchors * usize::from(self.sampling.positives > 0) {
            let label = self.label(chosen[anchor]);
            let similar = self.positives_of(label);
            for _ in 0..self.sampling.positives {
                chosen.push(self.by_label[rng.random_range(similar.clone())].1);
            }
        }
        let labels = chosen.iter().map(|&index| self.label(index)).collect();
        Batch { inputs: self.inputs(&chosen, &mut rng), labels }
    }

    fn begin_epoch(&mut self, epoch: u64) {
        if self.epoch.replace(epoch) == Some(epoch) {
            return;
        }
        self.order.clear();
        self.order.extend(0..self.positions.len() as u32);
        let seed = self.sampling.seed.wrapping_add(mix(epoch.wrapping_add(1)));
        self.order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    }

    fn label(&self, index: u32) -> f32 {
        self.positions[index as usize].win_probability(self.architecture.perspective())
    }

    /// Where the positions with a label within delta of `label` stand in `by_label`.
    fn positives_of(&self, label: f32) -> std::ops::Range<usize> {
        let delta = self.sampling.delta;
        let first = self.by_label.partition_point(|&(other, _)| other <= label - delta);
        let end = self.by_label.partition_point(|&(other, _)| other < label + delta);
        first..end
    }

    fn inputs(&self, chosen: &[u32], rng: &mut Xoshiro256PlusPlus) -> Inputs {
        let mut inputs = Inputs::new(self.architecture.input_kind());
        for &index in chosen {
            let position = &self.positions[index as usize];
            // Tokens hold castling rights, which a mirror would break.
            let mirror = self.sampling.mirror && !matches!(inputs, Inputs::Tokens(_));
            push(&mut inputs, position, mirror && rng.random());
        }
        inputs
    }
}

/// The positions as the encoder reads them, without any augmentation.
pub fn inputs_of(positions: &[PackedPosition], kind: InputKind) -> Inputs {
    let mut inputs = Inputs::new(kind);
    positions.iter().for_each(|position| push(&mut inputs, position, false));
    inputs
}

fn push(inputs: &mut Inputs, position: &PackedPosition, mirror: bool) {
    match inputs {
        Inputs::Features(features) => {
            let placement = position.placement();
            let placement = if mirror { placement.mirrored() } else { placement };
            features.push(Features::of(&placement));
        }
        Inputs::Tokens(_) => inputs.push(&position.board()),
    }
}

/// SplitMix64's finaliser: neighbouring numbers give unrelated seeds.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
