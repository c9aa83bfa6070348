//! Batches of positions: which positions a step sees, made ready for the encoder on threads of their own.
//! A batch depends on the seed and the step alone, so a resumed run sees the same ones, whatever the number
//! of threads.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::{Context, Result};
use azimuth::encoder::{Architecture, InputKind, Inputs};
use crossbeam_channel::{Receiver, bounded};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::LabelledPositions;
use super::packed::PackedPosition;
use crate::positive_threshold::PositiveThreshold;

/// Batches that wait ready for the training thread, about.
const READY: usize = 8;

/// Threads that prepare batches at most.
const MAX_THREADS: usize = 8;

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

/// Batches in the order of their steps.
pub struct Batches {
    threads: Vec<Receiver<Batch>>,
    taken: usize,
}

impl Batches {
    /// Starts the threads that prepare the batches of `steps`: one for every four of the machine's.
    pub fn prepare(
        positions: Arc<LabelledPositions>,
        architecture: &Architecture,
        sampling: Sampling,
        threshold: PositiveThreshold,
        seed: u64,
        steps: Range<u64>,
    ) -> Self {
        let sampler = Sampler::new(positions, architecture.clone(), sampling, threshold, seed);
        let all = thread::available_parallelism().map_or(1, usize::from);
        Self::on_threads(sampler, steps, (all / 4).clamp(1, MAX_THREADS))
    }

    fn on_threads(sampler: Sampler, steps: Range<u64>, threads: usize) -> Self {
        let sampler = Arc::new(sampler);
        let threads = (0..threads).map(|thread| {
            let (sender, receiver) = bounded(READY.div_ceil(threads));
            let (sampler, steps) = (sampler.clone(), steps.clone());
            thread::spawn(move || {
                for step in steps.skip(thread).step_by(threads) {
                    if sender.send(sampler.batch(step)).is_err() {
                        break;
                    }
                }
            });
            receiver
        });
        Self { threads: threads.collect(), taken: 0 }
    }

    /// The next step's batch, waited for.
    pub fn next(&mut self) -> Result<Batch> {
        let thread = &self.threads[self.taken % self.threads.len()];
        self.taken += 1;
        thread.recv().context("a thread that prepares batches ended")
    }
}

struct Sampler {
    data: Arc<LabelledPositions>,
    architecture: Architecture,
    sampling: Sampling,
    threshold: PositiveThreshold,
    seed: u64,
    /// The last two epochs that a thread asked for, with the order of their positions.
    epochs: Mutex<Vec<(u64, Arc<Vec<u32>>)>>,
    /// Labels' places on the threshold's scale in rising order with their positions; empty where no
    /// positives are drawn.
    by_label: Vec<(f32, u32)>,
}

impl Sampler {
    fn new(
        data: Arc<LabelledPositions>,
        architecture: Architecture,
        sampling: Sampling,
        threshold: PositiveThreshold,
        seed: u64,
    ) -> Self {
        let mut by_label = Vec::new();
        if sampling.positives > 0 {
            let place = |p: &PackedPosition| {
                threshold.coordinate(p.win_probability(architecture.perspective()))
            };
            by_label.extend(data.positions.iter().map(place).zip(0..));
            by_label.sort_unstable_by(|a: &(f32, u32), b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        }
        let epochs = Mutex::new(Vec::new());
        Self { data, architecture, sampling, threshold, seed, epochs, by_label }
    }

    fn batch(&self, step: u64) -> Batch {
        let anchors = self.sampling.anchors.min(self.data.len());
        let batches_per_epoch = (self.data.len() / anchors) as u64;
        let order = self.order(step / batches_per_epoch);
        let first = (step % batches_per_epoch) as usize * anchors;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ mix(step));

        let mut chosen = order[first..first + anchors].to_vec();
        for anchor in 0..anchors * usize::from(self.sampling.positives > 0) {
            let similar = self.positives_of(self.label(chosen[anchor]));
            for _ in 0..self.sampling.positives {
                chosen.push(self.by_label[rng.random_range(similar.clone())].1);
            }
        }
        if let Architecture::Sparse(config) = &self.architecture {
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

    /// The positions in the order in which an epoch sees them. Threads cross from one epoch to the next at
    /// different times.
    fn order(&self, epoch: u64) -> Arc<Vec<u32>> {
        let mut epochs = self.epochs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, order)) = epochs.iter().find(|(known, _)| *known == epoch) {
            return order.clone();
        }
        let order = Arc::new(self.shuffled(epoch));
        if epochs.len() == 2 {
            epochs.remove(0);
        }
        epochs.push((epoch, order.clone()));
        order
    }

    fn shuffled(&self, epoch: u64) -> Vec<u32> {
        let seed = self.seed.wrapping_add(mix(epoch.wrapping_add(1)));
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        if self.sampling.siblings == 1 {
            let mut order: Vec<u32> = (0..self.data.len() as u32).collect();
            order.shuffle(&mut rng);
            return order;
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
        families.into_iter().flat_map(|(first, end)| first..end).collect()
    }

    fn label(&self, index: u32) -> f32 {
        self.data.positions[index as usize].win_probability(self.architecture.perspective())
    }

    /// Where the positives of `label` stand in `by_label`.
    fn positives_of(&self, label: f32) -> Range<usize> {
        let place = self.threshold.coordinate(label);
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

#[cfg(test)]
mod tests {
    use azimuth::encoder::transformer::TransformerConfig;
    use cozy_chess::Board;

    use super::super::packed::Label;
    use super::*;

    #[test]
    fn batches_are_the_same_from_any_number_of_threads() -> Result<()> {
        let positions = (0..30).map(|number| {
            let label = Label::Centipawns(i32::from(number as i8 - 15) * 40);
            PackedPosition::new(&Board::chess960_startpos(number * 30), label)
        });
        let positions: Vec<PackedPosition> = positions.collect();
        let parents = (0..30).map(|position| position / 3).collect();
        let data = Arc::new(LabelledPositions { positions, parents });
        let sampling = Sampling { anchors: 7, positives: 2, siblings: 1, mirror: true };
        let threshold = PositiveThreshold { delta: 0.1, delta_equal: 0.1 };
        let architecture = Architecture::Transformer(TransformerConfig::mini());
        let batches = |threads: usize, steps: Range<u64>| {
            let architecture = architecture.clone();
            let sampler = Sampler::new(data.clone(), architecture, sampling, threshold, 5);
            let mut batches = Batches::on_threads(sampler, steps.clone(), threads);
            let batches = steps.map(|_| {
                let Batch { inputs: Inputs::Tokens(tokens), labels, parents } = batches.next()?
                else {
                    unreachable!("a transformer reads tokens");
                };
                Ok((tokens, labels, parents))
            });
            batches.collect::<Result<Vec<_>>>()
        };
        // Four batches are an epoch.
        let all = batches(1, 0..13)?;
        assert_ne!(all[0], all[4]);
        for threads in [2, 3, 8] {
            assert_eq!(batches(threads, 0..13)?, all, "{threads} threads");
            assert_eq!(batches(threads, 5..13)?, all[5..], "{threads} threads, continued");
        }
        Ok(())
    }
}
