//! Training: the weighted squared difference of Q(s, a) and its target, with AdamW. The target
//! is r - gamma max Q'(s', a'), where Q' is a copy of the network that is updated at intervals. In
//! s' the opponent is to move, so its best value is subtracted. (The document adds the maximum, as
//! if one player made all moves.) The transitions come from a replay buffer, which self-play with
//! epsilon-greedy moves fills.

use anyhow::{Error, Result, ensure};
use azimuth_chess::position::{Position, board_after};
use azimuth_search::{Value, terminal_value};
use azimuth_train::metrics::kendall_tau_b;
use azimuth_train::training::Checkpoint;
use candle_core::{DType, Tensor};
use candle_nn::{VarBuilder, VarMap};
use cozy_chess::{Board, BoardBuilder, Move, Square};
use rand::distr::Distribution;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt, SeedableRng};
use rand_distr::weighted::WeightedTreeIndex;
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::{Deserialize, Serialize};

use super::{QConfig, QNetwork, largest, repetition, reward};
use crate::board::{as_double, as_text, for_side};
use crate::training::{Learner, Lesson, Metrics, Plan, TrainOptions, TrainingStep};
use crate::weights::named;

/// The document's sizes and plan; it gives no number of steps.
const DOCUMENT: (QConfig, Plan) = (
    QConfig {
        channels: [128, 256, 512],
        hidden: 1024,
        squares: false,
        attacks: false,
        rewards: false,
    },
    Plan { batch: 512, steps: 500_000, learning_rate: 1e-5, weight_decay: 0.01, clip: Some(1.0) },
);

const SMALL: (QConfig, Plan) = (
    QConfig { channels: [32, 32, 32], hidden: 128, squares: true, attacks: true, rewards: true },
    Plan { batch: 128, steps: 8_000, learning_rate: 1e-3, weight_decay: 0.01, clip: Some(1.0) },
);

/// Capacity of the replay buffer, in transitions.
const BUFFER: usize = 100_000;

/// The discount factor for each move.
const GAMMA: f32 = 0.999;

/// Steps between updates of the target network.
const SYNC_INTERVAL: u64 = 200;

/// The probability of a random move, at the start and at the end.
const EPSILON: (f64, f64) = (1.0, 0.1);

/// The part of the run during which [`EPSILON`] falls from the first to the last value. (The
/// document multiplies it by 0.99999 after each game, which takes 230,000 games; a shorter run
/// needs a faster schedule.)
const EPSILON_PART: f64 = 0.6;

/// Number of transitions from random games that are used for measuring only.
const HELD_OUT: usize = 1_000;

/// Moves played in each game before training starts.
const MOVES_AHEAD: usize = 400;

/// Names of the replay buffer and of the games in a checkpoint.
const REPLAY: &str = "replay";
const SELF_PLAY: &str = "games";

/// The name in a checkpoint of a parameter of the target network.
fn in_copy(name: &str) -> String {
    format!("copy.{name}")
}

pub fn train(options: &TrainOptions) -> Result<()> {
    let (lesson, config) = Lesson::read("qlearning", options, DOCUMENT, SMALL)?;
    let network = QNetwork::new(config, &lesson.vb())?;
    let copy = VarMap::new();
    let vb = VarBuilder::from_varmap(&copy, DType::F32, &lesson.device);
    let mut learner = QLearner {
        target: QNetwork::new(config, &vb)?,
        held_out: random_transitions(&network)?,
        network,
        copy,
        replay: Replay::new(BUFFER)?,
        games: SelfPlay::new(),
    };
    crate::training::train(options, &lesson, &mut learner)
}

struct QLearner {
    network: QNetwork,
    target: QNetwork,
    /// The parameters of the target network.
    copy: VarMap,
    replay: Replay<Transition>,
    games: SelfPlay,
    held_out: Vec<Transition>,
}

/// Transitions of games of random moves, the same ones in every run.
fn random_transitions(network: &QNetwork) -> Result<Vec<Transition>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(0);
    let (mut games, mut found) = (SelfPlay::new(), Vec::new());
    while found.len() < HELD_OUT {
        found.extend(games.play(network, 1.0, &mut rng)?);
    }
    found.truncate(HELD_OUT);
    Ok(found)
}

impl QLearner {
    /// Copies the network's parameters into the target network.
    fn sync(&mut self, parameters: &VarMap) -> Result<()> {
        for (name, variable) in named(parameters)? {
            self.copy.set_one(name, variable.as_tensor())?;
        }
        Ok(())
    }

    /// The values of transitions minus their targets, which `judge` computes.
    fn errors(&self, transitions: &[&Transition], judge: &QNetwork, train: bool) -> Result<Tensor> {
        let afters: Vec<Board> = transitions.iter().filter_map(|t| t.after()).collect();
        let mut best = judge.legal_values(&afters.iter().collect::<Vec<_>>())?.into_iter();
        let mut target = |transition: &&Transition| {
            let next = if transition.is_last { None } else { best.next() };
            let best = next.as_ref().and_then(largest).map_or(0.0, |(_, value)| *value);
            transition.reward - GAMMA * best
        };
        let targets: Vec<f32> = transitions.iter().map(&mut target).collect();
        let moves: Vec<_> = transitions.iter().map(|t| t.mv).enumerate().collect();
        let boards: Vec<_> = transitions.iter().map(|t| &t.board).collect();
        let values = self.network.values(&boards, &moves, train)?;
        let targets = Tensor::from_vec(targets, boards.len(), values.device())?;
        Ok((values - targets)?)
    }
}

/// The probability of a random move after `progress` of a run, in [0, 1].
fn epsilon(progress: f64) -> f64 {
    let (first, last) = EPSILON;
    (first * (last / first).powf(progress / EPSILON_PART)).max(last)
}

impl Learner for QLearner {
    fn loss(&mut self, step: &mut TrainingStep<'_>) -> Result<Tensor> {
        let TrainingStep { lesson, index, rng } = step;
        let progress = *index as f64 / lesson.plan.steps as f64;
        let ahead = if self.replay.items.is_empty() { MOVES_AHEAD } else { 0 };
        for _ in 0..=ahead {
            for transition in self.games.play(&self.network, epsilon(progress), rng)? {
                self.replay.push(transition)?;
            }
        }
        ensure!(!self.replay.items.is_empty(), "no game has ended");
        if index.is_multiple_of(SYNC_INTERVAL) || ahead > 0 {
            self.sync(&lesson.parameters)?;
        }
        let drawn = self.replay.draw(lesson.plan.batch, progress, rng);
        let transitions: Vec<_> =
            drawn.iter().map(|drawn| &self.replay.items[drawn.place]).collect();
        let errors = self.errors(&transitions, &self.target, true)?;
        self.replay.update(&drawn, &errors.to_vec1::<f32>()?)?;
        let weights = drawn.iter().map(|drawn| drawn.weight).collect();
        let weights = Tensor::from_vec(weights, drawn.len(), errors.device())?;
        Ok((weights * errors.sqr()?)?.mean_all()?)
    }

    fn measure(&mut self, lesson: &Lesson) -> Result<Metrics> {
        let held_out = &lesson.studies.held_out;
        let boards: Vec<_> = held_out.iter().map(|study| &study.board).collect();
        let values = self.network.legal_values(&boards)?;
        let (mut lost, mut right, mut found, mut labels) = (0.0, 0.0, Vec::new(), Vec::new());
        for (study, values) in held_out.iter().zip(&values) {
            let side = study.board.side_to_move();
            let (best, p) = study.best();
            let labelled = |mv: Move| study.moves.iter().find(|(other, _)| *other == mv);
            let chosen = largest(values.iter().filter(|(mv, _)| labelled(*mv).is_some()));
            if let Some((chosen, of_chosen)) = chosen.and_then(|(mv, _)| labelled(*mv)) {
                lost += f64::from(for_side(side, p - of_chosen));
                right += f64::from(u8::from(*chosen == best));
            }
            if let Some((_, value)) = largest(values) {
                found.push(for_side(side, *value));
                labels.push(p);
            }
        }
        let transitions: Vec<_> = self.held_out.iter().collect();
        let errors = self.errors(&transitions, &self.network, false)?.to_vec1::<f32>()?;
        let squares = errors.iter().map(|&error| f64::from(error).powi(2)).sum::<f64>();
        let count = boards.len() as f64;
        Ok(vec![
            ("td_error", squares / errors.len() as f64),
            ("lost_a_move", lost / count),
            ("best_labelled_move", right / count),
            ("tau", kendall_tau_b(&found, &labels)),
            ("games", self.games.episodes as f64),
        ])
    }

    fn save(&self, checkpoint: &mut Checkpoint) -> Result<()> {
        for (name, variable) in named(&self.copy)? {
            checkpoint.insert(&in_copy(&name), variable.as_tensor().clone());
        }
        checkpoint.insert_json(REPLAY, &self.replay.state())?;
        checkpoint.insert_json(SELF_PLAY, &self.games)
    }

    fn restore(&mut self, checkpoint: &Checkpoint) -> Result<()> {
        for (name, variable) in named(&self.copy)? {
            let value = checkpoint.tensor(&in_copy(&name))?.to_device(variable.device())?;
            variable.set(&value)?;
        }
        self.replay.restore(checkpoint.json(REPLAY)?)?;
        self.games = checkpoint.json(SELF_PLAY)?;
        Ok(())
    }
}

const GAMES: usize = 32;

/// Plies after which a game is declared drawn.
const LONGEST: usize = 160;

/// A move that was played, and its reward.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Transition {
    /// The position before the move.
    #[serde(with = "as_text")]
    board: Board,
    #[serde(with = "as_text")]
    mv: Move,
    /// Its reward, including the game's outcome.
    #[serde(with = "as_double")]
    reward: f32,
    /// Whether it ended the game.
    is_last: bool,
}

impl Transition {
    /// The position after the move, with the opponent to move; `None` if the game is over.
    fn after(&self) -> Option<Board> {
        (!self.is_last).then(|| board_after(&self.board, self.mv))
    }
}

#[derive(Serialize, Deserialize)]
struct SelfPlay {
    games: Vec<RunningGame>,
    /// Number of finished games.
    episodes: u64,
}

/// The reward for each move of the winner, in addition; the loser's moves get its negative.
const OUTCOME: f32 = 0.01;

/// A game from the starting position. A checkpoint has its transitions.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(into = "Vec<Transition>", try_from = "Vec<Transition>")]
struct RunningGame {
    position: Position,
    so_far: Vec<Transition>,
}

impl From<RunningGame> for Vec<Transition> {
    fn from(game: RunningGame) -> Self {
        game.so_far
    }
}

impl TryFrom<Vec<Transition>> for RunningGame {
    type Error = Error;

    fn try_from(so_far: Vec<Transition>) -> Result<Self> {
        let mut position = Position::default();
        for &Transition { mv, .. } in &so_far {
            ensure!(position.board().is_legal(mv), "checkpoint: illegal move {mv}");
            position.play(mv);
        }
        Ok(Self { position, so_far })
    }
}

impl SelfPlay {
    fn new() -> Self {
        Self { games: (0..GAMES).map(|_| RunningGame::default()).collect(), episodes: 0 }
    }

    /// Plays a move in every game: a random one with probability `epsilon`, otherwise the one with
    /// the largest value. Returns the transitions of the games that it finishes.
    fn play(
        &mut self,
        network: &QNetwork,
        epsilon: f64,
        rng: &mut impl Rng,
    ) -> Result<Vec<Transition>> {
        let mut finished = Vec::new();
        let positions: Vec<&Position> = self.games.iter().map(|game| &game.position).collect();
        let values = network.values_of(&positions)?;
        for (game, values) in self.games.iter_mut().zip(values) {
            let any = rng.random::<f64>() < epsilon;
            let chosen = if any { values.choose(rng) } else { largest(&values) };
            let Some((mv, _)) = chosen else { continue };
            if game.play(*mv) {
                self.episodes += 1;
                for transition in std::mem::take(game).so_far {
                    let mirrored = rng.random::<bool>().then(|| mirrored(&transition)).flatten();
                    finished.push(mirrored.unwrap_or(transition));
                }
            }
        }
        Ok(finished)
    }
}

impl RunningGame {
    /// Plays a move and returns whether the game is over. If so, adds its outcome to the rewards of
    /// all moves.
    fn play(&mut self, mv: Move) -> bool {
        let board = self.position.board().clone();
        let reward = reward(&board, mv) + repetition(&self.position, mv);
        self.position.play(mv);
        let after = self.position.board();
        let ply = self.so_far.len() as u32 + 1;
        let end = terminal_value(after, ply, self.position.history())
            .or_else(|| (self.so_far.len() + 1 >= LONGEST).then_some(Value::DRAW));
        self.so_far.push(Transition { board, mv, reward, is_last: end.is_some() });
        if let Some(end) = end.filter(|&end| end != Value::DRAW) {
            debug_assert!(end.is_mated());
            let winner = !after.side_to_move();
            for transition in &mut self.so_far {
                let won = transition.board.side_to_move() == winner;
                let outcome = if won { OUTCOME } else { -OUTCOME };
                transition.reward += outcome;
            }
        }
        end.is_some()
    }
}

/// The transition mirrored from left to right, which is equivalent once neither side may castle.
/// (The document also rotates boards, but pawns move along files only.)
fn mirrored(transition: &Transition) -> Option<Transition> {
    let board = mirrored_board(&transition.board)?;
    let Move { from, to, promotion } = transition.mv;
    let mv = Move { from: from.flip_file(), to: to.flip_file(), promotion };
    Some(Transition { board, mv, ..transition.clone() })
}

fn mirrored_board(board: &Board) -> Option<Board> {
    let mut builder = BoardBuilder::from_board(board);
    if builder.castle_rights.iter().any(|rights| rights.short.or(rights.long).is_some()) {
        return None;
    }
    for square in Square::ALL {
        let other = square.flip_file();
        builder.board[square as usize] = board.piece_on(other).zip(board.color_on(other));
    }
    builder.en_passant = builder.en_passant.map(Square::flip_file);
    builder.build().ok()
}

/// The exponent of the priority.
const ALPHA: f32 = 0.6;

/// The initial exponent of the weights; it rises to 1 at the end.
const BETA: f64 = 0.4;

const LEAST_PRIORITY: f32 = 1e-5;

/// The share of an item of priority 1. Shares are integers, so that sums do not depend on the order
/// of updates. With floats they would drift, and a resumed run would draw different items.
const UNIT: f32 = (1u64 << 32) as f32;

/// A buffer of prioritised items that replaces the oldest first.
struct Replay<T> {
    items: Vec<T>,
    /// Priorities to the power of alpha, times [`UNIT`].
    shares: WeightedTreeIndex<u64>,
    capacity: usize,
    /// The index that the next item overwrites once the buffer is full.
    oldest: usize,
    largest: f32,
}

/// A [`Replay`] in a checkpoint: items, shares, `oldest` and `largest`, as a double, which JSON
/// restores exactly.
type ReplayState<T> = (Vec<T>, Vec<u64>, usize, f64);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Drawn {
    /// Its index in the buffer.
    place: usize,
    /// Its weight in the loss, at most 1.
    weight: f32,
}

impl<T> Replay<T> {
    fn new(capacity: usize) -> Result<Self> {
        let shares = WeightedTreeIndex::new([] as [u64; 0])?;
        Ok(Self { items: Vec::new(), shares, capacity, oldest: 0, largest: 1.0 })
    }

    /// Adds an item, with the largest priority so far so that it is drawn soon.
    fn push(&mut self, item: T) -> Result<()> {
        let share = share_of(self.largest);
        if self.items.len() < self.capacity {
            self.items.push(item);
            self.shares.push(share)?;
        } else {
            self.items[self.oldest] = item;
            self.shares.update(self.oldest, share)?;
            self.oldest = (self.oldest + 1) % self.capacity;
        }
        Ok(())
    }

    /// Draws `count` items; the exponent of their weights depends on `progress`, the completed part
    /// of the run in [0, 1].
    fn draw(&self, count: usize, progress: f64, rng: &mut impl Rng) -> Vec<Drawn> {
        let beta = BETA + (1.0 - BETA) * progress;
        let size = self.items.len();
        let all = (0..size).map(|place| self.shares.get(place)).sum::<u64>() as f64;
        let weight = |place: usize| {
            let chance = self.shares.get(place) as f64 / all;
            (size as f64 * chance).powf(-beta)
        };
        let places: Vec<usize> = (0..count).map(|_| self.shares.sample(rng)).collect();
        let largest = places.iter().map(|&place| weight(place)).fold(f64::MIN_POSITIVE, f64::max);
        let drawn = |place| Drawn { place, weight: (weight(place) / largest) as f32 };
        places.into_iter().map(drawn).collect()
    }

    fn update(&mut self, drawn: &[Drawn], errors: &[f32]) -> Result<()> {
        for (drawn, error) in drawn.iter().zip(errors) {
            let priority = error.abs().max(LEAST_PRIORITY);
            self.largest = self.largest.max(priority);
            self.shares.update(drawn.place, share_of(priority))?;
        }
        Ok(())
    }
}

impl<T: Clone> Replay<T> {
    fn state(&self) -> ReplayState<T> {
        let shares = (0..self.items.len()).map(|place| self.shares.get(place)).collect();
        (self.items.clone(), shares, self.oldest, self.largest.into())
    }

    fn restore(&mut self, (items, shares, oldest, largest): ReplayState<T>) -> Result<()> {
        ensure!(
            items.len() == shares.len()
                && items.len() <= self.capacity
                && oldest < self.capacity
                && largest > 0.0,
            "checkpoint: a replay of {} items and {} priorities",
            items.len(),
            shares.len()
        );
        self.shares = WeightedTreeIndex::new(shares)?;
        (self.items, self.oldest, self.largest) = (items, oldest, largest as f32);
        Ok(())
    }
}

/// The integer weight with which an item of this priority is drawn.
fn share_of(priority: f32) -> u64 {
    (priority.powf(ALPHA) * UNIT) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn epsilon_falls_from_all_moves_to_a_tenth() {
        assert_eq!((epsilon(0.0), epsilon(EPSILON_PART), epsilon(1.0)), (1.0, 0.1, 0.1));
        assert!(epsilon(0.3) > epsilon(0.4));
    }

    #[test]
    fn items_are_drawn_as_often_as_the_formula_says() -> Result<()> {
        let mut replay = Replay::new(4)?;
        for item in 0..6 {
            replay.push(item)?;
        }
        // The two oldest items were overwritten.
        assert_eq!(replay.items, [4, 5, 2, 3]);
        let all: Vec<Drawn> = (0..4).map(|place| Drawn { place, weight: 1.0 }).collect();
        let errors = [1.0, -0.5, 0.1, 0.0];
        replay.update(&all, &errors)?;
        let shares = errors.map(|error: f32| f64::from(error.abs().max(1e-5)).powf(0.6));
        let sum: f64 = shares.iter().sum();

        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let count = 100_000;
        let drawn = replay.draw(count, 0.5, &mut rng);
        let largest_weight = drawn
            .iter()
            .map(|drawn| (4.0 * shares[drawn.place] / sum).powf(-0.7))
            .fold(0.0, f64::max);
        for (place, share) in shares.into_iter().enumerate() {
            let chance = share / sum;
            let found = drawn.iter().filter(|drawn| drawn.place == place).count() as f64;
            let deviation = (count as f64 * chance * (1.0 - chance)).sqrt();
            assert!(
                (found - count as f64 * chance).abs() < 4.0 * deviation + 1.0,
                "{place}: {found}"
            );
            // Beta is 0.7 halfway.
            let weight = (4.0 * chance).powf(-0.7) / largest_weight;
            let of_place = drawn.iter().find(|drawn| drawn.place == place);
            assert!(of_place.is_none_or(|drawn| (f64::from(drawn.weight) - weight).abs() < 1e-4));
        }
        Ok(())
    }

    #[test]
    fn a_mirrored_move_leads_to_the_mirrored_position() -> Result<()> {
        let fen = "6k1/8/8/2pP4/8/8/r7/6K1 w - c6 0 40";
        let position = Position::from_fen(fen)?;
        let mv = position.parse_move("d5c6")?;
        let board = position.board().clone();
        let transition = Transition { board, mv, reward: 0.5, is_last: false };
        let found = mirrored(&transition).expect("nobody castles");
        assert_eq!(found.board.to_string(), "1k6/8/8/4Pp2/8/8/7r/1K6 w - f6 0 40");
        assert_eq!((found.mv.to_string().as_str(), found.reward), ("e5f6", 0.5));
        let after = found.after().expect("the game goes on").to_string();
        assert_eq!(after, "1k6/8/5P2/8/8/8/7r/1K6 b - - 0 40");
        assert!(mirrored_board(&Board::startpos()).is_none());
        Ok(())
    }

    #[test]
    fn the_outcome_goes_to_every_move_of_a_game() -> Result<()> {
        let mut game = RunningGame::default();
        for mv in ["f2f3", "e7e5", "g2g4"] {
            assert!(!game.play(game.position.parse_move(mv)?));
        }
        let rewards: Vec<f32> = game.so_far.iter().map(|transition| transition.reward).collect();
        assert!(game.play(game.position.parse_move("d8h4")?));
        let with_outcome: Vec<f32> =
            game.so_far.iter().map(|transition| transition.reward).collect();
        for (place, (with, without)) in with_outcome.iter().zip(&rewards).enumerate() {
            let expected = if place % 2 == 0 { -OUTCOME } else { OUTCOME };
            assert!((with - without - expected).abs() < 1e-6);
        }
        assert!(!game.so_far[2].is_last && game.so_far[3].is_last);
        Ok(())
    }
}
