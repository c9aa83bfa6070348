//! The policy network (seed document 004, section 2.3.1): a residual tower on 20 planes with 4,672
//! outputs, trained with the cross-entropy on the best move. It plays the most probable legal move
//! without search.

use anyhow::Result;
use azimuth_chess::position::Position;
use azimuth_search::{Planner, Value};
use candle_core::{Device, Module, Tensor};
use candle_nn::{Linear, VarBuilder, linear};
use cozy_chess::{Board, Move, Square};

use crate::board::{MOVES, planes};
use crate::network::{LegalMoves, ResidualTower, TowerConfig};
use crate::planners::{MoveRanking, RanksMoves};
use crate::training::{
    Learner, Lesson, MEASURED_AT_ONCE, Metrics, Plan, Study, TrainOptions, TrainingStep,
};
use crate::weights::RivalWeights;

pub struct PolicyNetwork {
    tower: ResidualTower,
    policy: Linear,
    /// Whether the moves are those that the side to move sees.
    pub oriented: bool,
}

impl PolicyNetwork {
    /// A network with the parameters `tower` and `policy`.
    pub fn new(config: TowerConfig, vb: &VarBuilder<'_>) -> candle_core::Result<Self> {
        Ok(Self {
            tower: ResidualTower::new(config.blocks, config.channels, &vb.pp("tower"))?,
            // For each square a logit of each move type.
            policy: linear(config.channels, MOVES / Square::NUM, vb.pp("policy"))?,
            oriented: config.oriented,
        })
    }

    /// Logits of all moves, boards x 4672.
    pub fn logits<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board>,
    ) -> candle_core::Result<Tensor> {
        self.logits_of(&self.features(boards)?)
    }

    /// Logits from the tower's output.
    pub fn logits_of(&self, features: &Tensor) -> candle_core::Result<Tensor> {
        self.policy.forward(features)?.flatten_from(1)
    }

    pub fn features<'a>(
        &self,
        boards: impl ExactSizeIterator<Item = &'a Board>,
    ) -> candle_core::Result<Tensor> {
        self.tower.forward(&planes(boards, self.oriented, self.tower.device())?)
    }
}

pub fn planner(weights: &RivalWeights, device: &Device) -> Result<Box<dyn Planner>> {
    let network = PolicyNetwork::new(weights.config()?, &weights.parameters(device)?)?;
    Ok(Box::new(MoveRanking(network)))
}

impl RanksMoves for PolicyNetwork {
    fn rank(&mut self, root: &Position, moves: &[Move]) -> Result<(Vec<(Move, Value)>, u64)> {
        let board = root.board();
        let logits = self.logits([board].into_iter())?;
        let legal = LegalMoves::new(&[board], self.oriented, logits.device())?;
        let mut probable = legal.probabilities(&logits)?.concat();
        probable.retain(|(mv, _)| moves.contains(mv));
        probable.sort_by(|a, b| b.1.total_cmp(&a.1));
        // The network predicts a move and no value.
        Ok((probable.into_iter().map(|(mv, _)| (mv, Value::DRAW)).collect(), 1))
    }
}

/// The document shows the tower's sizes in a picture that is missing; these are common ones. The
/// rest is the document's plan: 20 epochs of 6.7 million positions, in batches of 512.
pub const DOCUMENT: (TowerConfig, Plan) = (
    TowerConfig { blocks: 10, channels: 128, oriented: false },
    Plan { batch: 512, steps: 262_000, learning_rate: 1e-3, weight_decay: 0.0, clip: None },
);

const SMALL: (TowerConfig, Plan) = (
    TowerConfig { blocks: 4, channels: 32, oriented: true },
    Plan { batch: 128, steps: 26_000, learning_rate: 1e-3, weight_decay: 0.0, clip: None },
);

/// Temperature of the distribution over labelled moves, in win probability: a move that is worse by
/// this amount gets 1/e of the probability of the better move.
const TEMPERATURE: f32 = 0.03;

pub fn train(options: &TrainOptions) -> Result<()> {
    let (lesson, config) = Lesson::read("policy", options, DOCUMENT, SMALL)?;
    let mut network = PolicyNetwork::new(config, &lesson.vb())?;
    crate::training::train(options, &lesson, &mut network)
}

impl Learner for PolicyNetwork {
    fn loss(&mut self, step: &mut TrainingStep<'_>) -> Result<Tensor> {
        let studies = step.sample(step.lesson.plan.batch);
        let boards = boards(&studies);
        let logits = self.logits(boards.iter().copied())?;
        let legal = LegalMoves::new(&boards, self.oriented, logits.device())?;
        Ok(legal.cross_entropy(&logits, &preferences(&studies))?)
    }

    fn measure(&mut self, lesson: &Lesson) -> Result<Metrics> {
        policy_metrics(&lesson.studies.held_out, self.oriented, |boards| {
            Ok(self.logits(boards.iter().copied())?)
        })
    }
}

fn boards<'a>(studies: &[&'a Study]) -> Vec<&'a Board> {
    studies.iter().map(|study| &study.board).collect()
}

/// The distributions over moves that a policy learns from studies.
pub fn preferences(studies: &[&Study]) -> Vec<Vec<(Move, f32)>> {
    studies.iter().map(|study| study.preferences(TEMPERATURE)).collect()
}

/// Held-out cross-entropy, and the share of positions in which the most probable legal move is the
/// best labelled one.
pub fn policy_metrics(
    held_out: &[Study],
    oriented: bool,
    logits: impl Fn(&[&Board]) -> Result<Tensor>,
) -> Result<Metrics> {
    let (mut loss, mut right) = (0.0, 0);
    for studies in held_out.chunks(MEASURED_AT_ONCE) {
        let studies: Vec<&Study> = studies.iter().collect();
        let boards = boards(&studies);
        let logits = logits(&boards)?;
        let legal = LegalMoves::new(&boards, oriented, logits.device())?;
        let mean = legal.cross_entropy(&logits, &preferences(&studies))?.to_scalar::<f32>()?;
        loss += f64::from(mean) * studies.len() as f64;
        let probabilities = legal.probabilities(&logits)?;
        let finds = |study: &Study, moves: &[(Move, f32)]| {
            let most_probable = moves.iter().max_by(|a, b| a.1.total_cmp(&b.1));
            most_probable.is_some_and(|&(mv, _)| mv == study.best().0)
        };
        right += studies.iter().zip(&probabilities).filter(|(s, moves)| finds(s, moves)).count();
    }
    let count = held_out.len() as f64;
    Ok(vec![("cross_entropy", loss / count), ("best_move", right as f64 / count)])
}
