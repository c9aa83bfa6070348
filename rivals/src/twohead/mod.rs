//! The two-headed network (seed document 004, sections 2.3.2 and 2.3.3): a residual tower with a
//! policy head and a value head, under Monte Carlo tree search.
//!
//! Training: the sum of the policy's cross-entropy and the value's mean squared error, with Adam;
//! first on labelled games, then on these and self-play. A small machine plays few games. With half
//! of each batch from self-play, the network forgot more than it learned (tau of the held-out
//! values 0.44 before, 0.33 after), so the share is an eighth.

mod monte_carlo;

use std::collections::VecDeque;
use std::slice::from_mut;

use anyhow::{Context, Error, Result, ensure};
use azimuth_chess::position::{Position, fen_of};
use azimuth_search::{Control, Planner, Report, RootMoves, Value, terminal_value};
use azimuth_train::training::Checkpoint;
use candle_core::{Device, Module, Tensor};
use candle_nn::VarBuilder;
use candle_nn::loss::mse;
use cozy_chess::{Board, Move};
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use crate::board::{as_double, as_text, for_side, signs};
use crate::network::{LegalMoves, TowerConfig, ValueHead};
use crate::planners::report_of;
use crate::policy::{DOCUMENT, PolicyNetwork, policy_metrics, preferences};
use crate::training::{Learner, Lesson, Metrics, Plan, Study, TrainOptions, TrainingStep};
use crate::value::{Labelled, labelled, value_metrics};
use crate::weights::RivalWeights;
use monte_carlo::{Assessment, Tree, simulate};

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
    Ok(Box::new(network))
}

/// Default number of simulations (the document's).
const PLAY_SIMULATIONS: u32 = 10;

/// Maximum number of simulations; a tree of this size takes about a gigabyte.
const MOST_SIMULATIONS: u32 = 1 << 20;

/// Monte Carlo tree search.
impl Planner for TwoHeadNetwork {
    fn search(
        &mut self,
        root: &Position,
        control: &mut Control,
        report: &mut dyn FnMut(&Report),
    ) -> Result<Report> {
        let root_moves = RootMoves::new(root, control.limits(), None);
        let enough = match control.limits().are_open_ended() {
            true => MOST_SIMULATIONS,
            false => PLAY_SIMULATIONS,
        };
        let mut tree = Tree::new(root);
        let (mut next_report, mut lines) = (1, Vec::new());
        loop {
            simulate(from_mut(&mut tree), |leaves| self.assess(leaves))?;
            if tree.simulations() == 1 {
                tree.keep(&root_moves.moves);
            }
            let forced = root_moves.is_forced() && control.on_the_clock();
            let done = tree.simulations() >= enough
                || control.should_stop(tree.simulations().into())
                || forced;
            if done || tree.simulations() >= next_report {
                let wanted = tree.root_moves().into_iter().take(control.limits().multipv.max(1));
                let line = |(mv, _, value)| {
                    let (value, nodes) = (Value::estimate(value), tree.simulations().into());
                    report_of(value, tree.line(mv), nodes, control)
                };
                lines = wanted.map(line).collect();
                root_moves.present(&mut lines, report);
                next_report *= 2;
            }
            if done {
                return lines.into_iter().next().context("no legal move");
            }
        }
    }

    fn evaluate(&mut self, position: &Position) -> Result<Value> {
        if let Some(value) = terminal_value(position.board(), 0, position.history()) {
            return Ok(value);
        }
        let assessed = self.assess(&[position])?;
        Ok(Value::estimate(assessed.first().context("the network says nothing")?.value))
    }
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
    let (lesson, config) = Lesson::read("twohead", options, DOCUMENT, SMALL)?;
    let network = TwoHeadNetwork::new(config, &lesson.vb())?;
    let mut learner = TwoHeadLearner { network, self_play: None };
    crate::training::train(options, &lesson, &mut learner)
}

struct TwoHeadLearner {
    network: TwoHeadNetwork,
    self_play: Option<SelfPlay>,
}

impl TwoHeadLearner {
    /// Continues the self-play games, once that part of the run has started, and samples from them.
    fn experiences(&mut self, step: &mut TrainingStep<'_>) -> Result<Vec<Experience>> {
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
        Ok(games.sample(plan.batch / OWN_PART, rng))
    }
}

impl Learner for TwoHeadLearner {
    fn loss(&mut self, step: &mut TrainingStep<'_>) -> Result<Tensor> {
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

    fn measure(&mut self, lesson: &Lesson) -> Result<Metrics> {
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

/// Number of self-play games at a time: the network evaluates their positions in batches.
const GAMES: usize = 32;

/// Number of positions kept; the oldest are dropped first.
const KEPT: usize = 20_000;

/// Plies after which a game is declared drawn.
const LONGEST: usize = 200;

/// Simulations for each move. The document uses ten; here the evaluation of the root counts as one.
const SIMULATIONS: u32 = 16;

/// A position from self-play, and the move that was played in it: drawn in proportion to the visits
/// of a small search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Experience {
    #[serde(with = "as_text")]
    board: Board,
    #[serde(with = "as_text")]
    played: Move,
    /// The moves that the search visited.
    visited: Vec<Visited>,
    /// For White: the mean of the search's value and the game's outcome, in [-1, 1]. The outcome
    /// alone is too noisy in games at this level.
    #[serde(with = "as_double")]
    value: f32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Visited {
    #[serde(with = "as_text")]
    mv: Move,
    visits: u32,
}

impl Experience {
    /// The distribution of the search's visits over moves; the shares sum to 1.
    fn policy(&self) -> Vec<(Move, f32)> {
        let all = self.visited.iter().map(|visited| visited.visits).sum::<u32>() as f32;
        self.visited.iter().map(|visited| (visited.mv, visited.visits as f32 / all)).collect()
    }
}

/// The running games, and the positions of finished ones.
#[derive(Serialize, Deserialize)]
struct SelfPlay {
    games: Vec<RunningGame>,
    kept: VecDeque<Experience>,
}

/// A game. A checkpoint has its start and its positions with their moves.
#[derive(Clone, Serialize, Deserialize)]
#[serde(into = "SavedGame", try_from = "SavedGame")]
struct RunningGame {
    /// FEN of the first position.
    start: String,
    position: Position,
    so_far: Vec<Experience>,
}

type SavedGame = (String, Vec<Experience>);

impl From<RunningGame> for SavedGame {
    fn from(game: RunningGame) -> Self {
        (game.start, game.so_far)
    }
}

impl TryFrom<SavedGame> for RunningGame {
    type Error = Error;

    fn try_from((start, so_far): SavedGame) -> Result<Self> {
        let mut position = Position::from_fen(&start)?;
        for &Experience { played, .. } in &so_far {
            ensure!(position.board().is_legal(played), "checkpoint: illegal move {played}");
            position.play(played);
        }
        Ok(Self { start, position, so_far })
    }
}

impl SelfPlay {
    /// Games that start from random positions of the data, so that they differ.
    fn new(starts: &[Study], rng: &mut impl Rng) -> Result<Self> {
        let games = (0..GAMES).map(|_| RunningGame::new(starts, rng)).collect::<Result<_>>()?;
        Ok(Self { games, kept: VecDeque::new() })
    }

    fn play(
        &mut self,
        network: &TwoHeadNetwork,
        starts: &[Study],
        rng: &mut impl Rng,
    ) -> Result<()> {
        let mut trees: Vec<Tree> =
            self.games.iter().map(|game| Tree::new(&game.position)).collect();
        for _ in 0..SIMULATIONS {
            simulate(&mut trees, |leaves| network.assess(leaves))?;
        }
        for (game, tree) in self.games.iter_mut().zip(&trees) {
            if game.play(tree, rng)? {
                let ended = std::mem::replace(game, RunningGame::new(starts, rng)?);
                self.kept.extend(ended.so_far);
            }
        }
        let surplus = self.kept.len().saturating_sub(KEPT);
        self.kept.drain(..surplus);
        Ok(())
    }

    /// `count` random experiences; empty before the first game has ended.
    fn sample(&self, count: usize, rng: &mut impl Rng) -> Vec<Experience> {
        if self.kept.is_empty() {
            return Vec::new();
        }
        (0..count).map(|_| self.kept[rng.random_range(0..self.kept.len())].clone()).collect()
    }
}

impl RunningGame {
    fn new(starts: &[Study], rng: &mut impl Rng) -> Result<Self> {
        loop {
            let board = &starts[rng.random_range(0..starts.len())].board;
            let start = fen_of(board);
            let position = Position::from_fen(&start)?;
            if terminal_value(position.board(), 0, &[]).is_none() {
                return Ok(Self { start, position, so_far: Vec::new() });
            }
        }
    }

    /// Plays a move drawn in proportion to the visits and returns whether the game is over. If so,
    /// adds the outcome to the values of its positions.
    fn play(&mut self, tree: &Tree, rng: &mut impl Rng) -> Result<bool> {
        let visited = tree.root_moves().into_iter().filter(|&(_, visits, _)| visits > 0);
        let visited: Vec<_> = visited.collect();
        let drawn = WeightedIndex::new(visited.iter().map(|(_, visits, _)| visits))?.sample(rng);
        let played = visited[drawn].0;
        let board = self.position.board().clone();
        let all = visited.iter().map(|(_, visits, _)| visits).sum::<u32>() as f32;
        let found =
            visited.iter().map(|&(_, visits, value)| visits as f32 / all * value).sum::<f32>();
        let value = for_side(board.side_to_move(), found) / 2.0;
        let visited = visited.into_iter().map(|(mv, visits, _)| Visited { mv, visits }).collect();
        self.so_far.push(Experience { board, played, visited, value });
        self.position.play(played);
        let (board, history) = (self.position.board(), self.position.history());
        let end = terminal_value(board, self.so_far.len() as u32, history);
        let Some(end) = end.or_else(|| (self.so_far.len() >= LONGEST).then_some(Value::DRAW))
        else {
            return Ok(false);
        };
        if end != Value::DRAW {
            // The side to move is mated.
            let of_white = for_side(board.side_to_move(), -1.0);
            self.so_far.iter_mut().for_each(|experience| experience.value += of_white / 2.0);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use candle_nn::VarMap;
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;
    use crate::weights::first_parameters;

    #[test]
    fn games_come_back_and_go_on_alike() -> Result<()> {
        let vb = first_parameters(&VarMap::new(), 1, &Device::Cpu);
        let network =
            TwoHeadNetwork::new(TowerConfig { blocks: 1, channels: 4, oriented: true }, &vb)?;
        // The second is a mate in one, so its games end at once.
        let starts = [Board::startpos(), "7k/5Q2/6K1/8/8/8/8/8 w - - 0 1".parse().expect("valid")];
        let starts = starts.map(|board| {
            let moves = azimuth_chess::position::legal_moves(&board);
            Study { moves: vec![(moves[0], 0.5)], board }
        });
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut games = SelfPlay::new(&starts, &mut rng)?;
        for _ in 0..4 {
            games.play(&network, &starts, &mut rng)?;
        }
        assert!(!games.kept.is_empty(), "no game has ended");
        let text = serde_json::to_string(&games)?;
        let mut others: SelfPlay = serde_json::from_str(&text)?;
        let position =
            |game: &RunningGame| (game.position.board().clone(), game.position.history().to_vec());
        assert!(games.games.iter().map(position).eq(others.games.iter().map(position)));
        let mut other_rng = rng.clone();
        games.play(&network, &starts, &mut rng)?;
        others.play(&network, &starts, &mut other_rng)?;
        assert_eq!(serde_json::to_string(&games)?, serde_json::to_string(&others)?);
        let broken = text.replace("\"played\":\"", "\"played\":\"h");
        assert!(serde_json::from_str::<SelfPlay>(&broken).is_err());
        Ok(())
    }
}
