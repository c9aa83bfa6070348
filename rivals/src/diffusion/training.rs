//! Training: the document's Algorithm 1, with AdamW. The state before the first action is given, so
//! its illegal moves have no probability, as in play.

use anyhow::{Result, ensure};
use azimuth_chess::position::{board_after, legal_moves};
use candle_core::{D, DType, Tensor};
use candle_nn::ops::log_softmax;
use cozy_chess::{Board, Color};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{
    ACTION_TOKENS, DiffusionConfig, DiffusionNetwork, MASKED_ACTION, MASKED_STATE, STATE, alpha,
    lambda, loss, state_tokens,
};
use crate::board::{move_index, viewer};
use crate::studies::Study;
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions, TrainingStep};

/// DiffuSearch's sizes: 8 layers of width 256, a horizon of 4 and 20 timesteps. The document gives
/// none.
const DOCUMENT: (DiffusionConfig, Plan) = (
    DiffusionConfig { horizon: 4, timesteps: 20, width: 256, layers: 8, heads: 8, oriented: false },
    Plan { batch: 1_024, steps: 200_000, learning_rate: 3e-4, weight_decay: 0.01, clip: Some(1.0) },
);

const SMALL: (DiffusionConfig, Plan) = (
    DiffusionConfig { horizon: 2, timesteps: 8, width: 64, layers: 2, heads: 2, oriented: true },
    Plan { batch: 32, steps: 9_000, learning_rate: 1e-3, weight_decay: 0.01, clip: Some(1.0) },
);

pub fn train(options: &TrainOptions) -> Result<()> {
    let (lesson, config) = Lesson::read("diffusion", options, DOCUMENT, SMALL)?;
    ensure!(
        [config.horizon, config.timesteps, config.heads].iter().all(|&size| size > 0)
            && config.width.is_multiple_of(config.heads),
        "--size: horizon, timesteps and heads are at least 1, and heads divide width"
    );
    let mut learner = DiffusionLearner {
        network: DiffusionNetwork::new(config, &lesson.vb())?,
        training: Sequences::new(&lesson.studies.training, config.horizon),
        held_out: Sequences::new(&lesson.studies.held_out_in_order, config.horizon),
    };
    let starts = [&learner.training, &learner.held_out].map(|sequences| sequences.starts.len());
    ensure!(
        starts.iter().all(|&count| count > 0),
        "the data has too few games in which best moves follow one another: {} sequences of {} \
         moves to learn from and {} held out",
        starts[0],
        config.horizon,
        starts[1]
    );
    crate::training::train(options, &lesson, &mut learner)
}

struct DiffusionLearner<'a> {
    network: DiffusionNetwork,
    training: Sequences<'a>,
    held_out: Sequences<'a>,
}

/// The weight in the loss of a token of a state; that of an action is 1. A state has 77 tokens, and
/// most of them are equal to those of the state before.
const STATE_WEIGHT: f64 = 0.1;

/// Added to the logits of illegal moves.
const ILLEGAL: f32 = -1e9;

impl DiffusionLearner<'_> {
    /// The loss of sequences, each of which is noised to a random time.
    fn loss_of(
        &self,
        sequences: &Sequences<'_>,
        starts: &[u32],
        rng: &mut impl Rng,
    ) -> Result<Tensor> {
        let DiffusionConfig { horizon, timesteps, oriented, .. } = self.network.config;
        let (mut states, mut actions) = (Vec::new(), Vec::new());
        let (mut masked_states, mut masked_actions) = (Vec::new(), Vec::new());
        let mut lambdas = Vec::new();
        // For the first action's illegal moves `ILLEGAL`, 0 for all others.
        let mut illegal = vec![0.0; starts.len() * horizon * ACTION_TOKENS];
        for (&start, illegal) in starts.iter().zip(illegal.chunks_mut(horizon * ACTION_TOKENS)) {
            let t = rng.random_range(1..=timesteps);
            let mut is_masked = |given: bool| {
                let masked = !given && rng.random::<f64>() >= alpha(t, timesteps);
                f32::from(u8::from(masked))
            };
            let view = viewer(&sequences.first(start).board, oriented);
            for (place, study) in sequences.studies(start).enumerate() {
                if place == 0 {
                    rule_out(&study.board, view, &mut illegal[..ACTION_TOKENS]);
                }
                states.extend(state_tokens(&study.board, view));
                masked_states.extend((0..STATE).map(|_| is_masked(place == 0)));
                actions.push(move_index(&study.board, study.best().0, view) as u32);
                masked_actions.push(is_masked(false));
            }
            lambdas.push(lambda(t) as f32);
        }
        let (count, device) = (starts.len(), self.network.device());
        let states = Tensor::from_vec(states, (count, horizon, STATE), device)?;
        let actions = Tensor::from_vec(actions, (count, horizon), device)?;
        let masked_states = Tensor::from_vec(masked_states, (count, horizon, STATE), device)?;
        let masked_actions = Tensor::from_vec(masked_actions, (count, horizon), device)?;
        let illegal = Tensor::from_vec(illegal, (count, horizon, ACTION_TOKENS), device)?;
        let lambdas = Tensor::from_vec(lambdas, count, device)?;
        let (of_states, of_actions) = self.network.forward(
            &hidden(&states, &masked_states, MASKED_STATE)?,
            &hidden(&actions, &masked_actions, MASKED_ACTION)?,
        )?;
        let (mut truths, mut masked) =
            (vec![truths(&(of_actions + illegal)?, &actions)?], vec![masked_actions]);
        if let Some(of_states) = of_states {
            let later = |tensor: &Tensor| tensor.narrow(1, 1, horizon - 1)?.flatten_from(1);
            truths.push(self::truths(&of_states, &later(&states)?)?);
            masked.push((later(&masked_states)? * STATE_WEIGHT)?);
        }
        Ok(loss(&Tensor::cat(&truths, 1)?, &Tensor::cat(&masked, 1)?, &lambdas)?)
    }
}

/// Writes [`ILLEGAL`] for the illegal moves of a board as `view` sees it, and 0 for the legal ones.
fn rule_out(board: &Board, view: Color, actions: &mut [f32]) {
    actions.fill(ILLEGAL);
    for mv in legal_moves(board) {
        actions[move_index(board, mv, view)] = 0.0;
    }
}

/// Replaces the ids at masked positions by `mask`.
fn hidden(ids: &Tensor, masked: &Tensor, mask: u32) -> candle_core::Result<Tensor> {
    let masks = Tensor::full(mask, ids.shape(), ids.device())?;
    masked.to_dtype(DType::U8)?.where_cond(&masks, ids)
}

/// Log probabilities that the logits (.. x ids) assign to ids (..).
fn truths(logits: &Tensor, ids: &Tensor) -> candle_core::Result<Tensor> {
    log_softmax(logits, D::Minus1)?
        .gather(&ids.contiguous()?.unsqueeze(D::Minus1)?, D::Minus1)?
        .squeeze(D::Minus1)
}

/// Approximate numbers of held-out sequences for measuring the loss, and of sequences whose first
/// action is sampled, which takes a forward pass for each timestep.
const MEASURED: usize = 500;
const SAMPLED: usize = 250;

impl Learner for DiffusionLearner<'_> {
    fn loss(&mut self, step: &mut TrainingStep<'_>) -> Result<Tensor> {
        let starts = &self.training.starts;
        let mut start = |_| starts[step.rng.random_range(0..starts.len())];
        let starts: Vec<u32> = (0..step.lesson.plan.batch).map(&mut start).collect();
        self.loss_of(&self.training, &starts, &mut step.rng)
    }

    fn measure(&mut self, _lesson: &Lesson) -> Result<Metrics> {
        // The same noise at every measurement.
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
        let starts = spread(&self.held_out.starts, MEASURED);
        let mut sum = 0.0;
        for starts in starts.chunks(50) {
            let loss = self.loss_of(&self.held_out, starts, &mut rng)?.to_scalar::<f32>()?;
            sum += f64::from(loss) * starts.len() as f64;
        }
        let sampled = spread(&self.held_out.starts, SAMPLED);
        let mut right = 0;
        for &start in &sampled {
            let study = self.held_out.first(start);
            let moves = self.network.sample(&study.board, &legal_moves(&study.board))?;
            right += usize::from(moves.first() == Some(&study.best().0));
        }
        Ok(vec![
            ("loss", sum / starts.len() as f64),
            ("best_move", right as f64 / sampled.len() as f64),
        ])
    }
}

/// About `count` of the numbers, evenly spread.
fn spread(numbers: &[u32], count: usize) -> Vec<u32> {
    numbers.iter().copied().step_by(numbers.len().div_ceil(count).max(1)).collect()
}

/// Maximum distance in the data from a study to its successor. Variations may lie between the two.
const REACH: usize = 8;

/// Studies that start a sequence, in which each state follows from the best move of the state
/// before it.
pub struct Sequences<'a> {
    studies: &'a [Study],
    /// For each study, the index of its successor.
    next: Vec<Option<u32>>,
    /// Indices of the studies that start a sequence of `horizon` states.
    pub starts: Vec<u32>,
    horizon: usize,
}

impl<'a> Sequences<'a> {
    pub fn new(studies: &'a [Study], horizon: usize) -> Self {
        let following = |(place, study): (usize, &Study)| {
            let after = board_after(&study.board, study.best().0);
            let near = studies[place + 1..].iter().take(REACH);
            let steps =
                near.map(|study| &study.board).position(|board| board.same_position(&after));
            steps.map(|steps| (place + 1 + steps) as u32)
        };
        let next: Vec<_> = studies.iter().enumerate().map(following).collect();
        let is_long = |&start: &u32| {
            let mut at = Some(start);
            (1..horizon).all(|_| {
                at = at.and_then(|place| next[place as usize]);
                at.is_some()
            })
        };
        let starts = (0..studies.len() as u32).filter(is_long).collect();
        Self { studies, next, starts, horizon }
    }

    /// The first study of the sequence that begins at `start`, one of [`Self::starts`].
    pub fn first(&self, start: u32) -> &'a Study {
        &self.studies[start as usize]
    }

    /// The studies of the sequence that begins at `start`, one of [`Self::starts`].
    pub fn studies(&self, start: u32) -> impl Iterator<Item = &'a Study> {
        let follow = |&place: &u32| self.next[place as usize];
        let places = std::iter::successors(Some(start), follow).take(self.horizon);
        let studies = self.studies;
        places.map(move |place| &studies[place as usize])
    }
}

#[cfg(test)]
mod tests {
    use candle_core::Device;

    use super::*;

    #[test]
    fn only_legal_moves_have_a_probability() -> Result<()> {
        let board = Board::startpos();
        let mut illegal = vec![0.0; ACTION_TOKENS];
        rule_out(&board, Color::White, &mut illegal);
        let logits = Tensor::from_vec(illegal, (1, ACTION_TOKENS), &Device::Cpu)?;
        let number =
            |text: &str| move_index(&board, text.parse().expect("a move"), Color::White) as u32;
        let of = |text: &str| -> Result<f32> {
            let id = Tensor::new(&[number(text)], &Device::Cpu)?;
            Ok(truths(&logits, &id)?.to_vec1::<f32>()?[0])
        };
        // The 20 legal moves are equally probable.
        assert!((of("g1f3")? + 20f32.ln()).abs() < 1e-5);
        assert!(of("a1a5")? < -1e8);
        Ok(())
    }
}
