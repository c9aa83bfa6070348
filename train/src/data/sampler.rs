//! Sampling of the positions of a step. A batch depends only on the seed and the step.

use std::ops::Range;

use anyhow::{Result, ensure};
use azimuth_network::{Architecture, Inputs};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::by_label::ByLabel;
use super::inputs::push;
use super::mix::mix;
use super::packed::PackedPosition;
use super::permutation::Permutation;
use super::training_positions::TrainingPositions;
use crate::positive_threshold::PositiveThreshold;

/// The composition of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Number of anchors in a batch; an epoch uses each position once as an anchor.
    pub anchors: usize,
    /// Number of positives drawn for each anchor.
    pub positives: usize,
    /// Number of parts of a step, each with its own contrastive loss. The CPU computes them in
    /// parallel, a device as one batch.
    #[serde(default = "one")]
    pub parts: usize,
    /// Mirror positions from left to right (a-file and h-file and so on) with probability 1/2;
    /// features only.
    pub mirror: bool,
}

fn one() -> usize {
    1
}

/// The positions of a step.
pub struct Batch {
    /// The parts that this process computes.
    pub parts: Vec<BatchPart>,
    /// Number of positions in all parts, including those of other processes.
    pub positions: usize,
}

/// Positions and their labels in the encoder's perspective.
pub struct BatchPart {
    /// The part's index in the batch.
    pub place: usize,
    /// The part's weight in the loss of the batch, which is the mean over all parts.
    pub weight: f64,
    /// The encoder's inputs.
    pub inputs: Inputs,
    /// Win probabilities.
    pub labels: Vec<f32>,
    /// Number of separate contrastive losses over the positions. The position with index i belongs
    /// to the loss with index i modulo this number.
    pub contrasts: usize,
}

/// Most positions that one contrastive loss compares with each other. Their similarities fill
/// 4 GiB.
const MOST_COMPARED: usize = 1 << 15;

/// Draws batches, reading positions from the mapped data.
pub struct Sampler {
    data: TrainingPositions,
    architecture: Architecture,
    sampling: Sampling,
    seed: u64,
    /// Whether the parts of a step are joined into one [`BatchPart`].
    together: bool,
    /// The parts of a step that this process computes.
    own: Range<usize>,
    /// The index for drawing positives, if any are drawn.
    by_label: Option<ByLabel>,
}

impl Sampler {
    /// A sampler of `data`. With `together`, the parts of a step are joined into one [`BatchPart`].
    /// Fails if a contrastive loss would have more than 32,768 positions.
    pub fn new(
        data: TrainingPositions,
        architecture: Architecture,
        sampling: Sampling,
        threshold: PositiveThreshold,
        seed: u64,
        together: bool,
    ) -> Result<Self> {
        let perspective = architecture.perspective();
        let by_label = match sampling.positives {
            0 => None,
            _ => Some(ByLabel::new(&data, perspective, threshold)?),
        };
        let own = 0..sampling.parts;
        let sampler = Self { data, architecture, sampling, seed, together, own, by_label };
        let anchors = sampler.anchors_of_a_step();
        let compared = anchors
            .div_ceil(sampling.parts.min(anchors))
            .saturating_mul(sampling.positives.saturating_add(1));
        ensure!(
            compared <= MOST_COMPARED,
            "a contrastive loss of {compared} positions; the most are {MOST_COMPARED}: use smaller \
             --anchors or --positives, or more --parts"
        );
        Ok(sampler)
    }

    /// Restricts each batch to the parts `own`; other processes prepare the other parts.
    pub fn only(self, own: Range<usize>) -> Self {
        Self { own, ..self }
    }

    /// Number of steps in an epoch, which uses each position once, except for the remainder of a
    /// step.
    pub fn steps_per_epoch(&self) -> u64 {
        (self.data.len() / self.anchors_of_a_step()) as u64
    }

    fn anchors_of_a_step(&self) -> usize {
        self.sampling.anchors.min(self.data.len())
    }

    /// The batch of a step.
    pub fn batch(&self, step: u64) -> Result<Batch> {
        self.data.check_lengths()?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ mix(step));
        let anchors = self.anchors(step)?;
        let positives = self.positives(&anchors, &mut rng)?;
        let contrasts = self.sampling.parts.min(anchors.len());
        if self.together {
            // All contrastive losses have the same number of positions.
            let mut chosen = interleaved(&anchors, &positives, contrasts);
            let own = self.own.start.min(contrasts)..self.own.end.min(contrasts);
            let part = self.part(&mut chosen, &mut rng, |index| own.contains(&(index % contrasts)));
            let part = BatchPart {
                place: own.start,
                weight: own.len() as f64 / contrasts as f64,
                contrasts: own.len(),
                ..part?
            };
            let parts = if own.is_empty() { Vec::new() } else { vec![part] };
            return Ok(Batch { parts, positions: chosen.len() });
        }
        let chosen = apart(&anchors, &positives, anchors.len().div_ceil(contrasts));
        let positions = anchors.len() + positives.len();
        let weight = 1.0 / chosen.len() as f64;
        let mut parts = Vec::new();
        for (place, mut part) in chosen.into_iter().enumerate().take(self.own.end) {
            let is_own = self.own.contains(&place);
            // Parts of other processes draw their random numbers here, too: a part does not depend
            // on the number of processes.
            let part = self.part(&mut part, &mut rng, |_| is_own)?;
            if is_own {
                parts.push(BatchPart { place, weight, ..part });
            }
        }
        Ok(Batch { parts, positions })
    }

    /// Draws the positives of `anchors`, those of the first anchor first.
    fn positives(
        &self,
        anchors: &[PackedPosition],
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Vec<PackedPosition>> {
        let mut chosen = Vec::with_capacity(anchors.len() * self.sampling.positives);
        let Some(by_label) = &self.by_label else { return Ok(chosen) };
        for anchor in anchors {
            let similar = by_label.similar(anchor.label(), anchor.side_to_move());
            for _ in 0..self.sampling.positives {
                let drawn = by_label.position(rng.random_range(similar.clone()));
                self.data.read(drawn..drawn + 1, |position, _| chosen.push(position))?;
            }
        }
        Ok(chosen)
    }

    /// Encodes the positions of `chosen` whose indices pass `is_own`. Draws random numbers for all
    /// of `chosen`.
    fn part(
        &self,
        chosen: &mut [PackedPosition],
        rng: &mut Xoshiro256PlusPlus,
        is_own: impl Fn(usize) -> bool,
    ) -> Result<BatchPart> {
        if let Architecture::Sparse(config) = &self.architecture {
            // In this order adjacent positions use the same layers, and each of several contrastive
            // losses gets positions of all heads.
            chosen.sort_by_key(|position| config.head(position.pieces_on_board()));
        }
        let perspective = self.architecture.perspective();
        let mut part = BatchPart {
            place: 0,
            weight: 1.0,
            inputs: Inputs::new(self.architecture.input_kind()),
            labels: Vec::new(),
            contrasts: 1,
        };
        // Tokens include castling rights, which mirroring would invalidate.
        let mirror = self.sampling.mirror && !matches!(part.inputs, Inputs::Tokens(_));
        for (index, position) in chosen.iter().enumerate() {
            let mirrored = mirror && rng.random();
            if is_own(index) {
                push(&mut part.inputs, position, mirrored)?;
                part.labels.push(position.win_probability(perspective));
            }
        }
        Ok(part)
    }

    /// The anchors of a step. Each epoch visits the positions in a new order.
    fn anchors(&self, step: u64) -> Result<Vec<PackedPosition>> {
        let (all, anchors) = (self.data.len(), self.anchors_of_a_step());
        let batches_per_epoch = self.steps_per_epoch();
        let epoch = step / batches_per_epoch;
        let seed = mix(self.seed.wrapping_add(mix(epoch.wrapping_add(1))));
        let order = Permutation::new(all as u64, seed);
        let first = (step % batches_per_epoch) as usize * anchors;
        let mut chosen = Vec::with_capacity(anchors);
        for place in first..first + anchors {
            let index = order.at(place as u64) as usize;
            self.data.read(index..index + 1, |position, _| chosen.push(position))?;
        }
        Ok(chosen)
    }
}

/// Divides the anchors into parts of `size` (the last may be smaller), and adds to each part the
/// positives of its anchors.
fn apart(
    anchors: &[PackedPosition],
    positives: &[PackedPosition],
    size: usize,
) -> Vec<Vec<PackedPosition>> {
    let each = positives.len() / anchors.len();
    let positives_of = |place: usize, count: usize| &positives[place * each..][..count * each];
    let parts = anchors.chunks(size).enumerate();
    parts.map(|(n, part)| [part, positives_of(n * size, part.len())].concat()).collect()
}

/// Divides the anchors and their positives into `contrasts` parts of equal size, and interleaves
/// them: a position with index i belongs to part i modulo `contrasts`. Leaves out the remainder.
fn interleaved(
    anchors: &[PackedPosition],
    positives: &[PackedPosition],
    contrasts: usize,
) -> Vec<PackedPosition> {
    let each = positives.len() / anchors.len();
    let anchors = &anchors[..anchors.len() / contrasts * contrasts];
    if each == 0 {
        return anchors.to_vec();
    }
    let positives = &positives[..anchors.len() * each];
    let parts = apart(anchors, positives, anchors.len() / contrasts);
    (0..parts[0].len()).flat_map(|index| parts.iter().map(move |part| part[index])).collect()
}
