//! The two-headed network (seed document 004, sections 2.3.2 and 2.3.3): a residual tower with a
//! policy head and a value head, under Monte Carlo tree search.
//!
//! Training: the sum of the policy's cross-entropy and the value's mean squared error, with Adam;
//! first on labelled games, then on these and self-play. A small machine plays few games. With half
//! of each batch from self-play, the network forgot more than it learned (tau of the held-out
//! values 0.44 before, 0.33 after), so the share is an eighth.

mod monte_carlo;
mod self_play;

use anyhow::Result;
use azimuth_chess::position::Position;
use azimuth_search::Planner;
use azimuth_train::training::Checkpoint;
use candle_core::{Device, Module, Tensor};
use candle_nn::VarBuilder;
use candle_nn::loss::mse;
use cozy_chess::Board;

use crate::board::{for_side, signs};
use crate::network::{LegalMoves, TowerConfig, ValueHead};
use crate::policy::{DOCUMENT, PolicyNetwork, policy_metrics, preferences};
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions, TrainingStep};
use crate::value::{Labelled, labelled, value_metrics};
use crate::weights::RivalWeights;
use monte_carlo::{Assessment, MonteCarlo};
use self_play::{Experience, SelfPlay};

pub struct TwoHeadNetwork {
    moves: PolicyNetwork,
    value: ValueHead,
}

impl TwoHeadNetwork {
    /// A network with the parameters `tower`, `policy` and `value`.
    pub fn new(config: TowerConfig, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        let value = ValueHead::new(config.channels, &vb.pp("value"))?;
        Ok(Self { moves: PolicyNetwork::new(config, vb)?, value })
    }

    /// Logits of all moves (boards x 4672), and the value of each board for White, in [-1, 1].
    pub fn forward<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board> + Clone,
    ) -> candle_core::Result<[Tensor; 2]> {
        let features = self.moves.features(boards.clone())?;
        let signs = signs(boards, self.moves.oriented, features.device())?;
        let values = (self.value.forward(&features)? * signs)?;
        Ok([self.moves.logits_of(&features)?, values])
    }

    /// For each position, in which the game is not over: the legal moves with their probabilities,
    /// and the value.
    fn assess(&self, positions: &[&Position]) -> Result<Vec<Assessment>> {
        let boards: Vec<&Board> = positions.iter().map(|position| position.board()).collect();
        let [logits, values] = self.forward(boards.iter().copied())?;
        let policies = LegalMoves::new(&boards, self.moves.oriented, logits.device())?;
        let policies = policies.probabilities(&logits)?;
        let assessment = |((board, policy), of_white): ((&&Board, _), f32)| Assessment {
            policy,
            value: for_side(board.side_to_move(), of_white),
        };
        let values = values.to_vec1::<f32>()?;
        Ok(boards.iter().zip(policies).zip(values).map(assessment).collect())
    }
}

pub fn planner(weights: &RivalWeights, device: &Device) -> Result<Box<dyn Planner>> {
    let network = TwoHeadNetwork::new(weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(MonteCarlo(network)))
}

const SMALL: (TowerConfig, Plan) = (
    TowerConfig { blocks: 4, channels: 32, oriented: true },
    Plan { batch: 128, steps: 12_000, learning_rate: 1e-3, weight_decay: 0.0, clip: None },
);

/// The part of the run that uses labelled games only.
const LABELLED_PART: f64 = 0.85;

/// Self-play provides one example of each batch in this number.
const OWN_PART: usize = 8;

/// Steps between two moves in each self-play game.
const STEPS_A_MOVE: u64 = 8;

/// The name of the self-play games in a checkpoint.
const SELF_PLAY: &str = "self_play";

pub fn train(options: &TrainOptions) -> Result<()> {
    let lesson = Lesson::read("twohead", options, DOCUMENT, SMALL)?;
    let network = TwoHeadNetwork::new(lesson.config, &lesson.vb())?;
    let mut learner = TwoHeadLearner { network, self_play: None };
    crate::training::train(options, &lesson, &mut learner)
}

struct TwoHeadLearner {
    network: TwoHeadNetwork,
    self_play: Option<SelfPlay>,
}

impl TwoHeadLearner {
    /// Continues the self-play games, once that part of the run has started, and samples from them.
    fn experiences(&mut self, step: &mut TrainingStep<'_, TowerConfig>) -> Result<Vec<Experience>> {
        let TrainingStep { lesson: Lesson { studies, plan, .. }, index, rng } = step;
        if (*index as f64) < LABELLED_PART * plan.steps as f64 {
            return Ok(Vec::new());
        }
        let starts = &studies.training;
        let games = match &mut self.self_play {
            Some(games) => games,
            none => none.insert(SelfPlay::new(starts, rng)?),
        };
        if index.is_multiple_of(STEPS_A_MOVE) {
            games.play(&self.network, starts, rng)?;
        }
        Ok(games.sample(plan.batch / OWN_PART, rng).into_iter().cloned().collect())
    }
}

impl Learner<TowerConfig> for TwoHeadLearner {
    fn loss(&mut self, step: &mut TrainingStep<'_, TowerConfig>) -> Result<Tensor> {
        let own = self.experiences(step)?;
        let batch = step.lesson.plan.batch;
        let with_moves = batch.div_ceil(2);
        let studies = step.sample(with_moves - own.len());
        // The search evaluates positions after poor moves, too.
        let others = step.sample(batch - with_moves).into_iter();
        let Labelled { successors, values: of_successors, .. } = labelled(others, &mut step.rng);
        let boards = studies.iter().map(|study| &study.board).chain(own.iter().map(|e| &e.board));
        let boards: Vec<&Board> = boards.chain(&successors).collect();
        let [logits, values] = self.network.forward(boards.iter().copied())?;
        let labels = studies.iter().map(|study| 2.0 * study.best().1 - 1.0);
        let labels = labels.chain(own.iter().map(|e| e.value)).chain(of_successors);
        let labels = Tensor::from_vec(labels.collect(), boards.len(), values.device())?;
        let of_values = mse(&values, &labels)?;
        let mut policies = preferences(&studies);
        policies.extend(own.iter().map(Experience::policy));
        let boards = &boards[..with_moves];
        let legal = LegalMoves::new(boards, self.network.moves.oriented, logits.device())?;
        let of_moves = legal.cross_entropy(&logits.narrow(0, 0, with_moves)?, &policies)?;
        Ok((of_moves + of_values)?)
    }

    fn measure(&mut self, lesson: &Lesson<TowerConfig>) -> Result<Metrics> {
        let held_out = &lesson.studies.held_out;
        let mut metrics = policy_metrics(held_out, self.network.moves.oriented, |boards| {
            let [logits, _] = self.network.forward(boards.iter().copied())?;
            Ok(logits)
        })?;
        metrics.extend(value_metrics(held_out, |_, boards| {
            let [_, values] = self.network.forward(boards.iter())?;
            Ok(values.to_vec1()?)
        })?);
        Ok(metrics)
    }

    fn save(&self, checkpoint: &mut Checkpoint) -> Result<()> {
        checkpoint.insert_json(SELF_PLAY, &self.self_play)
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        self.self_play = checkpoint.json(SELF_PLAY)?;
        Ok(())
    }
}
