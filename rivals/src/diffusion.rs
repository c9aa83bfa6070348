//! DiffuSearch (seed document 003, section 4; Ye et al. 2025): discrete diffusion over a sequence
//! of state, action, next state, next action and so on. The first state is given. All other tokens
//! start masked (absorbing noise) and are unmasked step by step. The first action is played. The
//! predicted future replaces the search. The network is a bidirectional transformer.
//!
//! Training: the document's Algorithm 1, with AdamW. The state before the first action is given, so
//! its illegal moves have no probability, as in play.

use anyhow::{Result, ensure};
use azimuth_chess::position::{Position, board_after, legal_moves};
use azimuth_chess::tokens::{LEN, tokenize};
use azimuth_network::fused::{Attention, DropoutMask, LAYER_NORM_EPSILON, reference};
use azimuth_search::{Planner, Value};
use candle_core::{D, DType, Device, Module, Tensor};
use candle_nn::ops::{layer_norm_slow, log_softmax};
use candle_nn::{Embedding, Init, Linear, VarBuilder, embedding, init, linear};
use cozy_chess::{Board, Color, Move};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use crate::board::{MOVES, bit, move_index, turned, viewer};
use crate::network::LegalMoves;
use crate::planners::{MoveRanking, RanksMoves};
use crate::training::{Learner, Lesson, Metrics, Plan, Study, TrainOptions, TrainingStep};
use crate::weights::RivalWeights;

/// Sizes of the network and of its sequences.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DiffusionConfig {
    /// Number of states in a sequence, and of actions.
    horizon: usize,
    /// Number of timesteps of the noise.
    timesteps: usize,
    /// Width of the residual stream.
    width: usize,
    layers: usize,
    /// Number of attention heads in each layer.
    heads: usize,
    /// Whether a sequence shows boards and moves from the side that moves first.
    #[serde(default)]
    oriented: bool,
}

/// Number of tokens of a state; the tokens are ChessBench's.
const STATE: usize = LEN;

const STATE_TOKENS: usize = 33;

/// Number of different action tokens: the move indices.
const ACTION_TOKENS: usize = MOVES;

const MASKED_STATE: u32 = STATE_TOKENS as u32;

const MASKED_ACTION: u32 = ACTION_TOKENS as u32;

/// Maps tokens to logits of the original tokens.
struct DiffusionNetwork {
    config: DiffusionConfig,
    states: Embedding,
    actions: Embedding,
    places: Tensor,
    layers: Vec<Layer>,
    norm: Norm,
    to_states: Linear,
    to_actions: Linear,
}

struct Layer {
    norms: [Norm; 2],
    packed: Linear,
    mixed: Linear,
    wide: Linear,
    narrow: Linear,
}

impl DiffusionNetwork {
    /// A network with the parameters `states`, `actions`, `places`, `layer.N`, `norm`, `to_states`,
    /// `to_actions`.
    fn new(config: DiffusionConfig, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        let DiffusionConfig { horizon, width, layers, .. } = config;
        // Positional embeddings start as large as token embeddings, so that masked tokens differ
        // from each other.
        let normal = Init::Randn { mean: 0.0, stdev: 1.0 };
        Ok(Self {
            config,
            states: embedding(STATE_TOKENS + 1, width, vb.pp("states"))?,
            actions: embedding(ACTION_TOKENS + 1, width, vb.pp("actions"))?,
            places: vb.get_with_hints((1, horizon * (STATE + 1), width), "places", normal)?,
            layers: (0..layers)
                .map(|number| Layer::new(width, &vb.pp("layer").pp(number)))
                .collect::<candle_core::Result<_>>()?,
            norm: Norm::new(width, &vb.pp("norm"))?,
            to_states: linear(width, STATE_TOKENS, vb.pp("to_states"))?,
            to_actions: linear(width, ACTION_TOKENS, vb.pp("to_actions"))?,
        })
    }

    fn device(&self) -> &Device {
        self.places.device()
    }

    /// Maps `states` (sequences x horizon x 77) and `actions` (sequences x horizon) to logits. The
    /// first result holds the logits of all states but the first (sequences x 77 (horizon - 1) x
    /// 33); it is `None` if the horizon is 1. The second holds the logits of the actions (sequences
    /// x horizon x 4672).
    fn forward(
        &self,
        states: &Tensor,
        actions: &Tensor,
    ) -> candle_core::Result<(Option<Tensor>, Tensor)> {
        let (count, horizon) = actions.dims2()?;
        let width = self.config.width;
        let states = self.states.forward(states)?;
        let actions = self.actions.forward(actions)?.unsqueeze(2)?;
        let tokens = Tensor::cat(&[states, actions], 2)?.reshape((count, (), width))?;
        let mut stream = tokens.broadcast_add(&self.places)?;
        for layer in &self.layers {
            stream = layer.forward(&stream, self.config.heads)?;
        }
        let out = self.norm.of(&stream)?.reshape((count, horizon, STATE + 1, width))?;
        let actions = out.narrow(2, STATE, 1)?.squeeze(2)?.contiguous()?;
        let states = match horizon {
            1 => None,
            _ => {
                let later = out.narrow(1, 1, horizon - 1)?.narrow(2, 0, STATE)?.contiguous()?;
                Some(self.to_states.forward(&later.reshape((count, (), width))?)?)
            }
        };
        Ok((states, self.to_actions.forward(&actions)?))
    }
}

impl Layer {
    fn new(width: usize, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        Ok(Self {
            norms: [Norm::new(width, &vb.pp("norm1"))?, Norm::new(width, &vb.pp("norm2"))?],
            packed: linear(width, 3 * width, vb.pp("packed"))?,
            mixed: linear(width, width, vb.pp("mixed"))?,
            wide: linear(width, 4 * width, vb.pp("wide"))?,
            narrow: linear(4 * width, width, vb.pp("narrow"))?,
        })
    }

    fn forward(&self, stream: &Tensor, heads: usize) -> candle_core::Result<Tensor> {
        let [before_attention, before_widening] = &self.norms;
        let packed = self.packed.forward(&before_attention.of(stream)?)?;
        let bias = Tensor::zeros(packed.dim(2)?, packed.dtype(), packed.device())?;
        let attention = Attention { packed: &packed, bias: &bias, heads, mask: DropoutMask::NONE };
        let mixed = reference::attention(attention)?;
        let stream = (stream + self.mixed.forward(&mixed)?)?;
        let wide = self.wide.forward(&before_widening.of(&stream)?)?.relu()?;
        stream + self.narrow.forward(&wide)?
    }
}

/// A layer norm: normalises rows to mean 0 and variance 1, then scales and shifts them.
struct Norm {
    weight: Tensor,
    bias: Tensor,
}

impl Norm {
    /// A norm with the parameters `weight` and `bias`, initially 1 and 0.
    fn new(width: usize, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        Ok(Self {
            weight: vb.get_with_hints(width, "weight", init::ONE)?,
            bias: vb.get_with_hints(width, "bias", init::ZERO)?,
        })
    }

    /// The norm of `x`. (Candle's faster operation has no gradient.)
    fn of(&self, x: &Tensor) -> candle_core::Result<Tensor> {
        layer_norm_slow(x, &self.weight, &self.bias, LAYER_NORM_EPSILON)
    }
}

/// The tokens of a state, as `view` sees it.
fn state_tokens(board: &Board, view: Color) -> [u32; STATE] {
    let clock = board.halfmove_clock().into();
    let tokens = match view {
        Color::White => tokenize(board, clock),
        Color::Black => tokenize(&turned(board), clock),
    };
    tokens.map(u32::from)
}

/// The probability that a token is not masked at time `t` of `timesteps`.
fn alpha(t: usize, timesteps: usize) -> f64 {
    1.0 - t as f64 / timesteps as f64
}

/// lambda_t = (alpha_{t-1} - alpha_t) / (1 - alpha_t) = 1 / t: the weight in the loss of a masked
/// token at time `t` (from 1), and the probability that it is unmasked in the step to t - 1. (The
/// document's formula lacks a minus sign.)
fn lambda(t: usize) -> f64 {
    1.0 / t as f64
}

/// The loss of the document's Algorithm 1, averaged over sequences: minus lambda_t times the sum,
/// over the masked tokens (x_t differs from x_0), of the log probability of the true token.
/// `truths` (sequences x tokens) holds these log probabilities. `masked` (sequences x tokens) holds
/// the weight of each masked token, and 0 for other tokens. `lambdas` holds one number for each
/// sequence.
fn loss(truths: &Tensor, masked: &Tensor, lambdas: &Tensor) -> candle_core::Result<Tensor> {
    ((truths * masked)?.sum(1)? * lambdas)?.mean_all()?.neg()
}

impl DiffusionNetwork {
    /// Sorts `moves`, the legal moves of `board`: first the sampled move, then the others by their
    /// logits in the step that sampled it.
    fn sample(&self, board: &Board, moves: &[Move]) -> Result<Vec<Move>> {
        let DiffusionConfig { horizon, timesteps, oriented, .. } = self.config;
        let view = viewer(board, oriented);
        let number = |mv: Move| move_index(board, mv, view);
        let mut states = state_tokens(board, view).to_vec();
        states.resize(horizon * STATE, MASKED_STATE);
        let mut actions = vec![MASKED_ACTION; horizon];
        let mut ranked = moves.to_vec();
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(board.hash());
        for t in (1..=timesteps).rev() {
            let ids = Tensor::from_slice(&states, (1, horizon, STATE), self.device())?;
            let of_actions = Tensor::from_slice(&actions, (1, horizon), self.device())?;
            let (of_states, of_actions) = self.forward(&ids, &of_actions)?;
            let of_actions = of_actions.squeeze(0)?;
            let mut likeliest = of_actions.argmax(D::Minus1)?.to_vec1::<u32>()?;
            if actions[0] == MASKED_ACTION {
                let logits = of_actions.get(0)?.to_vec1::<f32>()?;
                ranked.sort_by(|&a, &b| logits[number(b)].total_cmp(&logits[number(a)]));
                likeliest[0] = ranked.first().map_or(MASKED_ACTION, |&mv| number(mv) as u32);
            }
            let chance = lambda(t);
            uncover(&mut actions, MASKED_ACTION, &likeliest, chance, &mut rng);
            if let Some(of_states) = of_states {
                let likeliest = of_states.squeeze(0)?.argmax(D::Minus1)?.to_vec1::<u32>()?;
                uncover(&mut states[STATE..], MASKED_STATE, &likeliest, chance, &mut rng);
            }
        }
        Ok(ranked)
    }
}

/// Replaces each masked token by the most probable one, with probability `chance`.
fn uncover(tokens: &mut [u32], mask: u32, likeliest: &[u32], chance: f64, rng: &mut impl Rng) {
    for (token, &likeliest) in tokens.iter_mut().zip(likeliest) {
        if *token == mask && rng.random::<f64>() < chance {
            *token = likeliest;
        }
    }
}

pub fn planner(weights: &RivalWeights, device: &Device) -> Result<Box<dyn Planner>> {
    let network = DiffusionNetwork::new(weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(MoveRanking(network)))
}

impl RanksMoves for DiffusionNetwork {
    fn rank(&mut self, root: &Position, moves: &[Move]) -> Result<(Vec<(Move, Value)>, u64)> {
        let moves = self.sample(root.board(), moves)?;
        // The network predicts a move and no value.
        let moves = moves.into_iter().map(|mv| (mv, Value::DRAW)).collect();
        Ok((moves, self.config.timesteps as u64))
    }
}

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
        // The given boards, and the moves that follow.
        let (mut given, mut first_moves) = (Vec::new(), Vec::new());
        for &start in starts {
            let t = rng.random_range(1..=timesteps);
            let mut is_masked =
                |given: bool| bit(!given && rng.random::<f64>() >= alpha(t, timesteps));
            let first = sequences.first(start);
            given.push(&first.board);
            first_moves.push(vec![(first.best().0, 1.0)]);
            let view = viewer(&first.board, oriented);
            for (place, study) in sequences.studies(start).enumerate() {
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
        let lambdas = Tensor::from_vec(lambdas, count, device)?;
        let (of_states, of_actions) = self.network.forward(
            &hidden(&states, &masked_states, MASKED_STATE)?,
            &hidden(&actions, &masked_actions, MASKED_ACTION)?,
        )?;
        let first = of_actions.narrow(1, 0, 1)?.squeeze(1)?.contiguous()?;
        let legal = LegalMoves::new(&given, oriented, device)?;
        let first = legal.log_likelihoods(&first, &first_moves)?.unsqueeze(1)?;
        let (mut truths, mut masked) = (vec![first], vec![masked_actions]);
        if let Some(of_states) = of_states {
            let later = |tensor: &Tensor| tensor.narrow(1, 1, horizon - 1);
            truths.push(self::truths(&later(&of_actions)?, &later(&actions)?)?);
            truths.push(self::truths(&of_states, &later(&states)?.flatten_from(1)?)?);
            masked.push((later(&masked_states)?.flatten_from(1)? * STATE_WEIGHT)?);
        }
        Ok(loss(&Tensor::cat(&truths, 1)?, &Tensor::cat(&masked, 1)?, &lambdas)?)
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
struct Sequences<'a> {
    studies: &'a [Study],
    /// For each study, the index of its successor.
    next: Vec<Option<u32>>,
    /// Indices of the studies that start a sequence of `horizon` states.
    starts: Vec<u32>,
    horizon: usize,
}

impl<'a> Sequences<'a> {
    fn new(studies: &'a [Study], horizon: usize) -> Self {
        let following = |(place, study): (usize, &Study)| {
            let after = board_after(&study.board, study.best().0);
            let near = studies[place + 1..].iter().take(REACH);
            let steps =
                near.map(|study| &study.board).position(|board| board.same_position(&after));
            steps.map(|steps| (place + 1 + steps) as u32)
        };
        let next: Vec<_> = studies.iter().enumerate().map(following).collect();
        let mut all = Self { studies, next, starts: Vec::new(), horizon };
        let is_long = |&start: &u32| all.studies(start).count() == horizon;
        all.starts = (0..studies.len() as u32).filter(is_long).collect();
        all
    }

    /// The first study of the sequence that begins at `start`, one of [`Self::starts`].
    fn first(&self, start: u32) -> &'a Study {
        &self.studies[start as usize]
    }

    /// The studies of the sequence that begins at `start`, one of [`Self::starts`].
    fn studies(&self, start: u32) -> impl Iterator<Item = &'a Study> {
        let follow = |&place: &u32| self.next[place as usize];
        let places = std::iter::successors(Some(start), follow).take(self.horizon);
        let studies = self.studies;
        places.map(move |place| &studies[place as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lambda_follows_from_alpha() {
        for t in 1..=8 {
            let [before, now] = [alpha(t - 1, 8), alpha(t, 8)];
            assert!((lambda(t) - (before - now) / (1.0 - now)).abs() < 1e-12, "{t}");
        }
        assert_eq!([alpha(0, 8), alpha(8, 8)], [1.0, 0.0]);
    }

    #[test]
    fn the_loss_is_the_formulas_on_two_tokens() -> Result<()> {
        let device = &Device::Cpu;
        // Probabilities 1/2 and 1/4 at t = 2 of 4 with both masked; 1/8 and 1 at t = 4 with the
        // first masked.
        let truths = Tensor::new(&[[0.5f32, 0.25], [0.125, 1.0]], device)?.log()?;
        let masked = Tensor::new(&[[1f32, 1.0], [1.0, 0.0]], device)?;
        let lambdas = [lambda(2) as f32, lambda(4) as f32];
        let found = loss(&truths, &masked, &Tensor::new(&lambdas, device)?)?.to_scalar::<f32>()?;
        // By hand: (1/2 (ln 2 + ln 4) + 1/4 ln 8) / 2 = (3/2 ln 2 + 3/4 ln 2) / 2 = 9/8 ln 2.
        assert!((found - 1.125 * 2f32.ln()).abs() < 1e-6, "{found}");
        Ok(())
    }
}
