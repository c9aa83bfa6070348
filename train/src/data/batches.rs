//! Batches of positions: which positions a step sees, made ready for the encoder on a thread of
//! its own. A batch depends on the seed and the step alone, so a resumed run sees the same ones.

use std::sync::Arc;
use std::thread;

use azimuth::encoder::{Architecture, InputKind, Inputs};
use crossbeam_channel::{Receiver, bounded};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::Siblings;
use super::packed::PackedPosition;
use crate::margin::Margin;

/// Batches that wait ready for the training thread.
const READY: usize = 8;

/// How a batch is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Positions that each epoch sees once.
    pub anchors: usize,
    /// Positions added for each anchor from those that are positives of it.
    pub positives: usize,
    /// Up to so many children of one parent come together.
    pub siblings: usize,
    /// Exchange the a-file with the h-file, and so on, in every second position (features only).
    pub mirror: bool,
}

/// One step's positions and their labels in the encoder's perspective.
pub struct Batch {
    /// What the encoder reads.
    pub inputs: Inputs,
    /// Win probabilities.
    pub labels: Vec<f32>,
    /// Equal for siblings.
    pub parents: Vec<u32>,
}

/// Starts the thread that prepares the batches of steps `first..last`, in order.
pub fn prepare(
    positions: Arc<Siblings>,
    architecture: &Architecture,
    sampling: Sampling,
    margin: Margin,
    seed: u64,
    steps: std::ops::Range<u64>,
) -> Receiver<Batch> {
    let (sender, receiver) = bounded(READY);
    let architecture = architecture.clone();
    thread::spawn(move || {
        let mut sampler = Sampler::new(&positions, &architecture, sampling, margin, seed);
        for step in steps {
            if sender.send(sampler.batch(step)).is_err() {
                break;
            }
        }
    });
    receiver
}

struct Sampler<'a> {
    data: &'a Siblings,
    architecture: &'a Architecture,
    sampling: Sampling,
    margin: Margin,
    seed: u64,
    epoch: Option<u64>,
    /// Positions in the order of the epoch.
    order: Vec<u32>,
    /// Labels' places on the margin's scale in rising order with their positions; empty where no
    /// positives are drawn.
    by_label: Vec<(f32, u32)>,
}

impl<'a> Sampler<'a> {
    fn new(
        data: &'a Siblings,
        architecture: &'a Architecture,
        sampling: Sampling,
        margin: Margin,
        seed: u64,
    ) -> Self {
        let mut by_label = Vec::new();
        if sampling.positives > 0 {
            let place =
                |p: &PackedPosition| margin.place(p.win_probability(architecture.perspective()));
            by_label.extend(data.positions.iter().map(place).zip(0..));
            by_label.sort_unstable_by(|a: &(f32, u32), b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        Self {
            data,
            architecture,
            sampling,
            margin,
            seed,
            epoch: None,
            order: Vec::new(),
            by_label,
        }
    }

    fn batch(&mut self, step: u64) -> Batch {
        let anchors = self.sampling.anchors.min(self.data.len());
        let batches_per_epoch = (self.data.len() / anchors) as u64;
        self.begin_epoch(step / batches_per_epoch);
        let first = (step % batches_per_epoch) as usize * anchors;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ mix(step));

        let mut chosen = self.order[first..first + anchors].to_vec();
        for anchor in 0..anchors * usize::from(self.sampling.positives > 0) {
            let similar = self.positives_of(self.label(chosen[anchor]));
            for _ in 0..self.sampling.positives {
                chosen.push(self.by_label[rng.random_range(similar.clone())].1);
            }
        }
        if let Architecture::Sparse(config) = self.architecture {
            // One matrix product a head.
            let position = |index: u32| &self.data.positions[index as usize];
            chosen.sort_by_key(|&index| config.head(position(index).pieces_on_board()));
        }
        Batch {
            inputs: self.inputs(&chosen, &mut rng),
            labels: chosen.iter().map(|&index| self.label(index)).collect(),
            parents: chosen.iter().map(|&index| self.data.parents[index as usize]).collect(),
        }
    }

    fn begin_epoch(&mut self, epoch: u64) {
        if self.epoch.replace(epoch) == Some(epoch) {
            return;
        }
        let seed = self.seed.wrapping_add(mix(epoch.wrapping_add(1)));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        self.order.clear();
        if self.sampling.siblings == 1 {
            self.order.extend(0..self.data.len() as u32);
            self.order.shuffle(&mut rng);
            return;
        }
        let mut families: Vec<(u32, u32)> = Vec::new();
        let mut first = 0;
        for children in self.data.parents.chunk_by(|a, b| a == b) {
            let end = first + children.len() as u32;
            let together = self.sampling.siblings as u32;
            families.extend(
                (first..end).step_by(self.sampling.siblings).map(|f| (f, end.min(f + together))),
            );
            first = end;
        }
        families.shuffle(&mut rng);
        families.iter().for_each(|&(first, end)| self.order.extend(first..end));
    }

    fn label(&self, index: u32) -> f32 {
        self.data.positions[index as usize].win_probability(self.architecture.perspective())
    }

    /// Where the positives of `label` stand in `by_label`.
    fn positives_of(&self, label: f32) -> std::ops::Range<usize> {
        let place = self.margin.place(label);
        let first = self.by_label.partition_point(|&(other, _)| other <= place - 1.0);
        let end = self.by_label.partition_point(|&(other, _)| other < place + 1.0);
        first..end
    }

    fn inputs(&self, chosen: &[u32], rng: &mut Xoshiro256PlusPlus) -> Inputs {
        let mut inputs = Inputs::new(self.architecture.input_kind());
        for &index in chosen {
            let position = &self.data.positions[index as usize];
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
            features.push(&if mirror { placement.mirrored() } else { placement });
        }
        Inputs::Tokens(_) => inputs.push(&position.board()),
    }
}

/// SplitMix64's finaliser: neighbouring numbers give unrelated seeds.
pub fn mix(number: u64) -> u64 {
    let number = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
