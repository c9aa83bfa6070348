//! Sampling of the positions of a step: a new order in each epoch, and positives drawn by their
//! labels. A batch depends only on the seed and the step.

use std::ops::Range;

use anyhow::{Context, Result, ensure};
use azimuth_network::{Architecture, Inputs, Perspective};
use cozy_chess::Color;
use memmap2::MmapMut;
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};
use serde::{Deserialize, Serialize};

use super::dataset::Datasets;
use super::family::Split;
use super::packed::{Label, PackedPosition};
use crate::loss::PositiveThreshold;

/// The composition of a batch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sampling {
    /// Number of anchors in a batch; an epoch uses each position once as an anchor.
    pub anchors: usize,
    pub positives: usize,
    /// Number of parts of a step, each with its own contrastive loss. The CPU computes them in
    /// parallel, a device as one batch.
    pub parts: usize,
    /// Mirror features from left to right (a-file and h-file and so on) with probability 1/2.
    pub mirror: bool,
}

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
    pub inputs: Inputs,
    /// Win probabilities.
    pub labels: Vec<f32>,
    /// Number of separate contrastive losses over the positions. The position with index i belongs
    /// to the loss with index i modulo this number.
    pub contrasts: usize,
}

/// Most positions that a contrastive loss compares with each other; their similarities fill 4 GiB.
const MOST_COMPARED: usize = 1 << 15;

/// Draws batches, reading positions from the mapped data.
pub struct Sampler {
    data: Datasets,
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
    /// A sampler of the training set of `data`. With `together`, the parts of a step are joined into
    /// one [`BatchPart`]. Fails if a contrastive loss would have more than 32,768 positions.
    pub fn new(
        data: Datasets,
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
        let size = anchors.div_ceil(sampling.parts.min(anchors));
        let compared = size.saturating_mul(sampling.positives.saturating_add(1));
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

    fn anchors_of_a_step(&self) -> usize {
        self.sampling.anchors.min(self.data.len(Split::Training))
    }

    pub fn batch(&self, step: u64) -> Result<Batch> {
        self.data.check_lengths()?;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ split_mix(step));
        let anchors = self.anchors(step)?;
        let positives = self.positives(&anchors, &mut rng)?;
        let contrasts = self.sampling.parts.min(anchors.len());
        if self.together {
            // All contrastive losses have the same number of positions.
            let mut chosen = interleaved(&anchors, &positives, contrasts);
            let own = self.own.start.min(contrasts)..self.own.end.min(contrasts);
            let is_own = |index| own.contains(&(index % contrasts));
            let (inputs, labels) = self.encode(&mut chosen, &mut rng, is_own)?;
            let (place, weight) = (own.start, own.len() as f64 / contrasts as f64);
            let part = BatchPart { place, weight, inputs, labels, contrasts: own.len() };
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
            let (inputs, labels) = self.encode(&mut part, &mut rng, |_| is_own)?;
            if is_own {
                parts.push(BatchPart { place, weight, inputs, labels, contrasts: 1 });
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
                chosen.push(self.data.training_position(drawn)?);
            }
        }
        Ok(chosen)
    }

    /// Encodes the positions of `chosen` that pass `is_own`, and gives their labels; draws random
    /// numbers for all.
    fn encode(
        &self,
        chosen: &mut [PackedPosition],
        rng: &mut Xoshiro256PlusPlus,
        is_own: impl Fn(usize) -> bool,
    ) -> Result<(Inputs, Vec<f32>)> {
        if let Architecture::Sparse(config) = &self.architecture {
            // In this order adjacent positions use the same layers, and each of several contrastive
            // losses gets positions of all heads.
            chosen.sort_by_key(|position| config.head(position.pieces_on_board()));
        }
        let perspective = self.architecture.perspective();
        let mut inputs = Inputs::new(self.architecture.input_kind());
        let mut labels = Vec::new();
        // Tokens include castling rights, which mirroring would invalidate.
        let mirror = self.sampling.mirror && !matches!(inputs, Inputs::Tokens(_));
        for (index, position) in chosen.iter().enumerate() {
            let mirrored = mirror && rng.random();
            if is_own(index) {
                push_position(&mut inputs, position, mirrored)?;
                labels.push(position.win_probability(perspective));
            }
        }
        Ok((inputs, labels))
    }

    /// The anchors of a step. Each epoch visits the positions in a new order, and leaves out the
    /// remainder of a step.
    fn anchors(&self, step: u64) -> Result<Vec<PackedPosition>> {
        let (all, anchors) = (self.data.len(Split::Training), self.anchors_of_a_step());
        let steps_per_epoch = (all / anchors) as u64;
        let epoch = step / steps_per_epoch;
        let seed = split_mix(self.seed.wrapping_add(split_mix(epoch.wrapping_add(1))));
        let order = Permutation::new(all as u64, seed);
        let first = (step % steps_per_epoch) as usize * anchors;
        let places = first..first + anchors;
        places.map(|place| self.data.training_position(order.at(place as u64) as usize)).collect()
    }
}

/// Divides the anchors into parts of `size` (the last may be smaller), each with its positives.
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

/// Adds a position; `mirror` mirrors features from left to right (a-file and h-file and so on).
pub fn push_position(inputs: &mut Inputs, position: &PackedPosition, mirror: bool) -> Result<()> {
    match inputs {
        Inputs::Features(features) => {
            let placement = position.placement();
            features.push(&if mirror { placement.mirrored() } else { placement });
        }
        Inputs::Tokens(_) => inputs.push(&position.board()?),
    }
    Ok(())
}

const LABELS: usize = 1 << 16;

/// Indices of the training positions sorted by label, in an unnamed temporary file. It takes 4 bytes
/// a position, which the kernel keeps in memory while there is room.
pub struct ByLabel {
    numbers: MmapMut,
    /// The offset of each label's positions, and the total count.
    starts: Vec<u32>,
    /// The coordinate of each label ([`PositiveThreshold::coordinate`]), ascending.
    coordinates: Vec<f32>,
    perspective: Perspective,
}

impl ByLabel {
    /// Sorts the training positions by their labels from the point of view of `perspective`.
    pub fn new(
        data: &Datasets,
        perspective: Perspective,
        threshold: PositiveThreshold,
    ) -> Result<Self> {
        let mut starts = vec![0u32; LABELS + 1];
        let rank = |(label, side): (Label, Color)| rank_of_label(label, side, perspective);
        data.labels(Split::Training).for_each(|labelled| starts[rank(labelled) + 1] += 1);
        for index in 0..LABELS {
            starts[index + 1] += starts[index];
        }
        let name = "a temporary file; TMPDIR names another place";
        let file = tempfile::tempfile().context(name)?;
        file.set_len(data.len(Split::Training) as u64 * size_of::<u32>() as u64).context(name)?;
        // SAFETY: the file has no name, so no other process changes it.
        let mut numbers = unsafe { MmapMut::map_mut(&file)? };
        let places: &mut [u32] = bytemuck::cast_slice_mut(&mut numbers);
        let mut next = starts.clone();
        data.labels(Split::Training).enumerate().for_each(|(index, labelled)| {
            let place = &mut next[rank(labelled)];
            places[*place as usize] = index as u32;
            *place += 1;
        });
        let of_bits = |bits| threshold.coordinate(Label::from_bits(bits).win_probability());
        let coordinates = (i16::MIN..=i16::MAX).map(of_bits).collect();
        Ok(Self { numbers, starts, coordinates, perspective })
    }

    /// The slots of the positions whose labels differ from `label` by less than the threshold.
    /// `side` is the side to move in the position with `label`.
    pub fn similar(&self, label: Label, side: Color) -> Range<usize> {
        let place = self.coordinates[rank_of_label(label, side, self.perspective)];
        let first = self.coordinates.partition_point(|&other| other <= place - 1.0);
        let end = self.coordinates.partition_point(|&other| other < place + 1.0);
        self.starts[first] as usize..self.starts[end] as usize
    }

    /// The index of the position in the slot `place`.
    pub fn position(&self, place: usize) -> usize {
        bytemuck::cast_slice::<u8, u32>(&self.numbers)[place] as usize
    }
}

/// The rank of a label among all stored labels, from the point of view of `perspective`.
fn rank_of_label(label: Label, side: Color, perspective: Perspective) -> usize {
    let seen = match perspective {
        Perspective::SideToMove => label.seen_by(side),
        Perspective::White => label,
    };
    (i32::from(seen.bits()) - i32::from(i16::MIN)) as usize
}

/// Number of Feistel rounds; four suffice for a permutation that looks random.
const ROUNDS: u64 = 4;

/// A pseudorandom permutation of `0..len`: a Feistel network over the next power of four, with
/// cycle walking to stay in the range (Black and Rogaway 2002).
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    seed: u64,
}

impl Permutation {
    pub fn new(len: u64, seed: u64) -> Self {
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        Self { len, half_bits: bits.div_ceil(2).max(1), seed }
    }

    /// The image of `index`, which must be below the length.
    pub fn at(&self, index: u64) -> u64 {
        let mut value = index;
        loop {
            value = self.scramble(value);
            if value < self.len {
                return value;
            }
        }
    }

    fn scramble(&self, value: u64) -> u64 {
        let mask = (1 << self.half_bits) - 1;
        let (mut left, mut right) = (value >> self.half_bits, value & mask);
        for round in 0..ROUNDS {
            let mixed = split_mix(self.seed ^ split_mix(right | (round << 60)));
            (left, right) = (right, left ^ (mixed & mask));
        }
        left << self.half_bits | right
    }
}

/// The increment of SplitMix64's state.
const INCREMENT: u64 = 0x9e37_79b9_7f4a_7c15;

/// Element `number` of SplitMix64's sequence, from 1: consecutive numbers give uncorrelated seeds.
pub fn split_mix(number: u64) -> u64 {
    SplitMix64::seed_from_u64(number.wrapping_sub(1).wrapping_mul(INCREMENT)).next_u64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_taken_once() {
        for len in [1, 2, 3, 7, 64, 1000, 4097] {
            for seed in 0..5 {
                let permutation = Permutation::new(len, seed);
                let mut places: Vec<u64> = (0..len).map(|index| permutation.at(index)).collect();
                places.sort_unstable();
                assert!(places.into_iter().eq(0..len), "{len}");
            }
        }
    }

    #[test]
    fn the_order_is_shuffled() {
        let len = 100_000u64;
        let [one, other] = [1, 2].map(|seed| Permutation::new(len, seed));
        // In a random permutation of 100,000 numbers about half of the steps rise, and hardly any
        // images coincide with those of another permutation.
        let rises = (1..len).filter(|&index| one.at(index) > one.at(index - 1)).count();
        assert!((49_500..50_500).contains(&rises), "{rises}");
        assert!((0..len).filter(|&index| one.at(index) == other.at(index)).count() < 20);
        let far = (0..len).map(|index| one.at(index).abs_diff(index) as f64).sum::<f64>();
        assert!((far / len as f64 / (len as f64 / 3.0) - 1.0).abs() < 0.02);
    }

    #[test]
    fn seeds_are_the_sequence_of_split_mix() {
        // Existing runs and datasets depend on these values.
        let expected = [0, 0xe220_a839_7b1d_cdaf, 0x3365_03c6_b835_bec0];
        assert_eq!([0, 1, u64::MAX].map(split_mix), expected);
    }
}
