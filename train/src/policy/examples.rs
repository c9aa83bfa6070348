//! The examples of a policy: positions with their best moves, and batches of them.

use anyhow::{Context, Result, ensure};
use azimuth_chess::position::legal_moves;
use azimuth_network::policy::{PolicyConfig, move_rows};
use azimuth_network::sparse::features::FeatureBatch;
use cozy_chess::{Board, Move, Piece, Square};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::data::dataset::Datasets;
use crate::data::family::{FamilyLabels, Split};
use crate::data::packed::PackedPosition;
use crate::data::sampler::split_mix;

/// A position with several legal moves, and the best one.
#[derive(Clone, Copy)]
pub struct Example {
    position: PackedPosition,
    /// The squares and the promotion of the best move.
    best: u16,
}

impl Example {
    fn new(position: PackedPosition, best: Move) -> Self {
        // No pawn promotes to a pawn, so 0 stands for none.
        let promotion = best.promotion.map_or(0, |piece| piece as u16);
        Self { position, best: best.from as u16 | (best.to as u16) << 6 | promotion << 12 }
    }

    /// The position, its legal moves, and the index of the best one.
    pub fn choice(&self) -> Result<(Board, Vec<Move>, usize)> {
        let board = self.position.board()?;
        let (moves, best) = (legal_moves(&board), self.best());
        let index = moves.iter().position(|&mv| mv == best);
        let index = index.with_context(|| format!("{best} is not legal in '{board}'"))?;
        Ok((board, moves, index))
    }

    fn best(&self) -> Move {
        let square = |shift: u16| Square::index(usize::from(self.best >> shift & 63));
        let promotion = usize::from(self.best >> 12);
        let promotion = (promotion > 0).then(|| Piece::index(promotion));
        Move { from: square(0), to: square(6), promotion }
    }
}

/// Reads the positions of a split that have labelled moves. The best of these counts as the best
/// move of all.
pub fn read(data: &Datasets, split: Split) -> Result<Vec<Example>> {
    let mut examples = Vec::new();
    data.families(split, 1, |family| {
        let family = family.decode()?;
        let FamilyLabels::Children(children) = &family.labels else { return Ok(()) };
        let side = family.board.side_to_move();
        // If several moves have the best label, the first of them counts. Labellers write their best
        // move first.
        let best = children.iter().rev().max_by_key(|(_, label)| label.seen_by(side).bits());
        if let Some(&(mv, label)) = best
            && legal_moves(&family.board).len() > 1
        {
            examples.push(Example::new(PackedPosition::new(&family.board, label), mv));
        }
        Ok(())
    })?;
    Ok(examples)
}

/// The examples in an endless random order: every epoch has each of them once, in another order.
pub struct Shuffled {
    examples: Vec<Example>,
    seed: u64,
    epoch: u64,
    order: Vec<u32>,
}

impl Shuffled {
    pub fn new(examples: Vec<Example>, seed: u64) -> Result<Self> {
        ensure!(!examples.is_empty(), "--data: no training position has labelled moves");
        let count = u32::try_from(examples.len())?;
        let mut shuffled = Self { examples, seed, epoch: u64::MAX, order: (0..count).collect() };
        shuffled.begin(0);
        Ok(shuffled)
    }

    fn begin(&mut self, epoch: u64) {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed ^ split_mix(epoch));
        self.order.sort_unstable();
        self.order.shuffle(&mut rng);
        self.epoch = epoch;
    }

    /// The `count` examples from the place `first` on.
    pub fn batch(&mut self, first: u64, count: usize) -> Vec<Example> {
        let all = self.examples.len() as u64;
        let places = first..first + count as u64;
        places
            .map(|place| {
                if place / all != self.epoch {
                    self.begin(place / all);
                }
                self.examples[self.order[(place % all) as usize] as usize]
            })
            .collect()
    }
}

/// The inputs of a policy for some examples.
pub struct Inputs {
    pub features: FeatureBatch,
    /// The rows of all legal moves, one example after another.
    pub rows: Vec<u16>,
    /// End of each example in `rows`.
    pub ends: Vec<u32>,
    /// The index in `rows` of each example's best move.
    pub targets: Vec<u32>,
}

impl Inputs {
    pub fn new(config: &PolicyConfig, examples: &[Example]) -> Result<Self> {
        let mut inputs = Self {
            features: FeatureBatch::new(config.features),
            rows: Vec::new(),
            ends: Vec::new(),
            targets: Vec::new(),
        };
        for example in examples {
            let (_, moves, target) = example.choice()?;
            let placement = example.position.placement();
            inputs.features.push(&placement);
            inputs.targets.push((inputs.rows.len() + target) as u32);
            move_rows(config.features, &placement, &moves, &mut inputs.rows);
            inputs.ends.push(inputs.rows.len() as u32);
        }
        Ok(inputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::packed::Label;

    #[test]
    fn a_best_move_is_kept() -> Result<()> {
        for (fen, mv) in [
            ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", "e2e4"),
            ("8/P6k/8/8/8/8/8/K7 w - - 0 1", "a7a8n"),
            ("r3k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1h1"),
        ] {
            let board: Board = fen.parse().map_err(|error| anyhow::anyhow!("{fen}: {error}"))?;
            let mv: Move = mv.parse().map_err(|error| anyhow::anyhow!("{mv}: {error}"))?;
            let example = Example::new(PackedPosition::new(&board, Label::Centipawns(0)), mv);
            assert_eq!(example.best(), mv);
            let config = PolicyConfig { features: "piece-square".parse()?, accumulator: 128 };
            let inputs = Inputs::new(&config, &[example, example])?;
            assert_eq!(inputs.targets[1], inputs.targets[0] + inputs.ends[0]);
        }
        Ok(())
    }

    #[test]
    fn an_epoch_has_every_example_once_wherever_a_run_begins() -> Result<()> {
        let examples = (0..10).map(|number| {
            let board = Board::chess960_startpos(number);
            let mv = legal_moves(&board)[0];
            Example::new(PackedPosition::new(&board, Label::Centipawns(number as i32)), mv)
        });
        let examples: Vec<Example> = examples.collect();
        let numbers = |batch: Vec<Example>| -> Vec<Label> {
            batch.iter().map(|example| example.position.label()).collect()
        };
        let all = numbers(Shuffled::new(examples.clone(), 7)?.batch(0, 30));
        for epoch in all.chunks(10) {
            for number in 0..10 {
                assert!(epoch.contains(&Label::Centipawns(number)));
            }
        }
        assert_ne!(all[..10], all[10..20]);
        let mut later = Shuffled::new(examples, 7)?;
        assert_eq!(numbers(later.batch(16, 8)), all[16..24]);
        assert_eq!(numbers(later.batch(4, 8)), all[4..12]);
        Ok(())
    }
}
