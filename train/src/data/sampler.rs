//! Which positions a step sees. A batch depends on the seed and the step alone.

use anyhow::Result;
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

/// How a batch is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Positions that each epoch sees once.
    pub anchors: usize,
    /// Positions added for each anchor from those that are positives of it.
    pub positives: usize,
    /// So many neighbours come together; children of one parent are neighbours.
    pub siblings: usize,
    /// Parts of a step, each a contrast of its own; on the CPU computed side by side, on a device together.
    #[serde(default = "one")]
    pub parts: usize,
    /// Exchange the a-file with the h-file, and so on, in every second position (features only).
    pub mirror: bool,
}

fn one() -> usize {
    1
}

/// One step's positions, part by part.
pub type Batch = Vec<BatchPart>;

/// Positions and their labels in the encoder's perspective.
pub struct BatchPart {
    /// What the encoder reads.
    pub inputs: Inputs,
    /// Win probabilities.
    pub labels: Vec<f32>,
    /// Equal for siblings.
    pub parents: Vec<u32>,
    /// Contrasts that the positions are divided into: of n, one is in that of its place modulo n.
    pub contrasts: usize,
}

/// Draws batches. Of the data nothing is kept in memory.
pub struct Sampler {
    data: TrainingPositions,
    architecture: Architecture,
    sampling: Sampling,
    seed: u64,
    /// All of a step comes as one part.
    together: bool,
    /// Where positives are drawn from, where they are.
    by_label: Option<ByLabel>,
}

impl Sampler {
    /// Draws from `data`; a step's parts come each by itself, or `together` as one.
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
        Ok(Self { data, architecture, sampling, seed, together, by_label })
    }

    /// Steps of an epoch: until all positions were seen once, but for the few that make no whole step.
    pub fn steps_per_epoch(&self) -> u64 {
        let (groups, together) = self.groups();
        (groups * together / self.anchors_of_a_step()) as u64
    }

    /// How many groups come together, and how many positions a group has.
    fn groups(&self) -> (usize, usize) {
        let together = self.sampling.siblings.min(self.data.len());
        (self.data.len() / together, together)
    }

    fn anchors_of_a_step(&self) -> usize {
        let (groups, together) = self.groups();
        self.sampling.anchors.min(groups * together)
    }

    /// The batch of a step.
    pub fn batch(&self, step: u64) -> Result<Batch> {
        self.data.check_lengths()?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ mix(step));
        let mut chosen = self.anchors(step)?;
        if let Some(by_label) = &self.by_label {
            for anchor in 0..chosen.len() {
                let (anchor, _) = chosen[anchor];
                let similar = by_label.similar(anchor.label(), anchor.side_to_move());
                for _ in 0..self.sampling.positives {
                    let drawn = by_label.position(rng.random_range(similar.clone()));
                    let add = |position, parent| chosen.push((position, parent));
                    self.data.read(drawn..drawn + 1, add)?;
                }
            }
        }
        let parts = self.sampling.parts;
        if self.together {
            // Contrasts are of one size.
            let contrasts = parts.min(chosen.len());
            chosen.truncate(chosen.len() / contrasts * contrasts);
            return Ok(vec![BatchPart { contrasts, ..self.part(&mut chosen, &mut rng)? }]);
        }
        let size = chosen.len().div_ceil(parts);
        chosen.chunks_mut(size).map(|part| self.part(part, &mut rng)).collect()
    }

    fn part(
        &self,
        chosen: &mut [(PackedPosition, u32)],
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<BatchPart> {
        if let Architecture::Sparse(config) = &self.architecture {
            // Neighbours read the same layers, and every contrast has positions of all heads.
            chosen.sort_by_key(|(position, _)| config.head(position.pieces_on_board()));
        }
        let perspective = self.architecture.perspective();
        let label = |(position, _): &(PackedPosition, u32)| position.win_probability(perspective);
        Ok(BatchPart {
            inputs: self.inputs(chosen, rng)?,
            labels: chosen.iter().map(label).collect(),
            parents: chosen.iter().map(|(_, parent)| *parent).collect(),
            contrasts: 1,
        })
    }

    /// The positions of a step that an epoch sees once, and their families. An epoch cuts the positions, which lie
    /// family by family, into groups of as many as come together, each time at other places, and takes the groups in
    /// another order.
    fn anchors(&self, step: u64) -> Result<Vec<(PackedPosition, u32)>> {
        let (all, (groups, together)) = (self.data.len(), self.groups());
        let anchors = self.anchors_of_a_step();
        let batches_per_epoch = self.steps_per_epoch();
        let epoch = step / batches_per_epoch;
        let seed = mix(self.seed.wrapping_add(mix(epoch.wrapping_add(1))));
        let order = Permutation::new(groups as u64, seed);
        let shift = (seed % together as u64) as usize;

        let mut place = (step % batches_per_epoch) as usize * anchors;
        let end = place + anchors;
        let mut chosen = Vec::with_capacity(anchors * (1 + self.sampling.positives));
        while place < end {
            let (group, within) = (place / together, place % together);
            let length = (together - within).min(end - place);
            let first = order.at(group as u64) as usize * together + within + shift;
            // The last group of an epoch may reach beyond the end, and goes on at the beginning.
            for range in [
                first.min(all)..(first + length).min(all),
                first.max(all)..(first + length).max(all),
            ] {
                let wrapped = range.start % all..range.start % all + range.len();
                self.data.read(wrapped, |position, parent| chosen.push((position, parent)))?;
            }
            place += length;
        }
        Ok(chosen)
    }

    fn inputs(
        &self,
        chosen: &[(PackedPosition, u32)],
        rng: &mut Xoshiro256PlusPlus,
    ) -> Result<Inputs> {
        let mut inputs = Inputs::new(self.architecture.input_kind());
        for (position, _) in chosen {
            // Tokens hold castling rights, which a mirror would break.
            let mirror = self.sampling.mirror && !matches!(inputs, Inputs::Tokens(_));
            push(&mut inputs, position, mirror && rng.random())?;
        }
        Ok(inputs)
    }
}
