//! The command `eval`: measures a weights file on labelled positions.
//!
//! The metrics of the choice of a move say how well scores rank the positions after all legal moves
//! of one parent position. A beam keeps the few moves that it ranks first, so a move that is missing
//! among them is lost.

use std::collections::HashMap;
use std::fmt;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use azimuth_chess::position::{board_after, is_capture, legal_moves};
use azimuth_cli::print_line;
use azimuth_network::Perspective;
use azimuth_network::policy::Policy;
use azimuth_network::weights::Weights;
use azimuth_search::encoder::Encoder;
use azimuth_search::inference::Backend;
use azimuth_search::{DefaultWeights, rank_with_policy};
use candle_core::DType;
use clap::Args;
use cozy_chess::{Board, Color, Move};
use serde::Serialize;

use crate::data::dataset::{Datasets, LabelledPositions, family_step, open};
use crate::data::family::{Family, FamilyLabels, Split};
use crate::data::packed::{Label, PackedPosition};
use crate::metrics::Metrics;
use crate::options::DataOptions;
use crate::space::{embed, evaluate};

/// Measure a weights file on the held-out games of data files. Positions whose moves are all
/// labelled also measure the choice of a move.
#[derive(Args)]
pub struct EvalOptions {
    /// Weights file [default: the default weights of the beam].
    #[arg(long)]
    weights: Option<PathBuf>,
    #[command(flatten)]
    data: DataOptions,
    /// Measure all games, not only the held-out ones (for data that was not trained on).
    #[arg(long)]
    all: bool,
    /// Measure the labels of these datasets instead of weights, for example those of a shallower
    /// search. They must label the same positions. Only the choice of a move is measured.
    #[arg(long, num_args = 1.., conflicts_with_all = ["weights", "device"])]
    labels: Vec<PathBuf>,
    /// Print the result as one line of JSON at the end.
    #[arg(long)]
    json: bool,
    /// Device to compute on.
    #[arg(long, value_enum, default_value_t = Backend::Cpu)]
    device: Backend,
}

#[derive(Serialize)]
struct Evaluation {
    #[serde(flatten)]
    metrics: Option<Metrics>,
    #[serde(skip_serializing_if = "Option::is_none")]
    move_choice: Option<MoveChoices>,
    /// The choice of a move by the ranks of a beam with a policy head.
    #[serde(skip_serializing_if = "Option::is_none")]
    with_policy: Option<MoveChoices>,
}

impl EvalOptions {
    /// Measures and prints the metrics.
    pub fn run(&self) -> Result<()> {
        let weights = DefaultWeights::Beam.or_read(self.weights.as_deref())?;
        let architecture = &weights.metadata.architecture;
        let device = self.device.device().context("--device")?;
        let limit = self.data.sample_size(architecture, &device)?;
        let splits = if self.all { &Split::ALL[..] } else { &[Split::HeldOut] };
        let (data, _) = open(&self.data.data)?;
        let choices = read_choices(&data, splits, limit)?;
        let (metrics, scores) = if self.labels.is_empty() {
            let read = LabelledPositions::read(&data, splits, limit)?;
            let is_empty = read.positions.is_empty();
            ensure!(!is_empty, "--data: no game is held out; --all measures all games");
            let mut encoder = azimuth_search::encoder::build(&weights, &device, DType::F32)?;
            let metrics = evaluate(&mut *encoder, &weights, &read)?;
            (Some(metrics), scores(&mut *encoder, &weights, &choices)?)
        } else {
            ensure!(!choices.is_empty(), "--data: no position has labels for all its moves");
            (None, scores_of_labels(&self.labels, &choices)?)
        };
        let move_choice = MoveChoices::of(&choices, &scores);
        metrics.iter().try_for_each(print_line)?;
        move_choice.iter().try_for_each(print_line)?;
        let policy = weights.policy.filter(|_| self.labels.is_empty());
        let ranks = policy.map(|policy| ranks(&policy, &choices, &scores));
        let with_policy = ranks.and_then(|ranks| MoveChoices::by_rank(&choices, &ranks));
        if let Some(with_policy) = &with_policy {
            print_line(format_args!("\nwith the policy head{with_policy}"))?;
        }
        if self.json {
            let evaluation = Evaluation { metrics, move_choice, with_policy };
            print_line(serde_json::to_string(&evaluation)?)?;
        }
        Ok(())
    }
}

/// Numbers of moves that are kept for the recall.
const KEPT: [usize; 3] = [1, 3, 5];

/// Number of moves that are kept for the regret: the width of the paper's beam.
const WIDTH: usize = 3;

/// Moves that lose less win probability than this compared with the best move are good.
const GOOD: f32 = 0.1;

/// Half the width of a 95% confidence interval, in standard errors.
const INTERVAL: f64 = 1.96;

/// A parent position all of whose moves are labelled.
struct Choice {
    /// The moves with their labels from the point of view of the side that moves, as win
    /// probabilities. The order does not depend on the labels.
    moves: Vec<(Move, f32)>,
    board: Board,
}

impl Choice {
    /// `None` if a move has no label.
    fn of(family: &Family) -> Option<Self> {
        let FamilyLabels::Children(children) = &family.labels else { return None };
        let labels: HashMap<Move, Label> = children.iter().copied().collect();
        let side = family.board.side_to_move();
        let won = |mv: &Move| labels.get(mv).map(|label| label.seen_by(side).win_probability());
        let moves = legal_moves(&family.board).into_iter();
        let moves: Option<Vec<_>> = moves.map(|mv| Some((mv, won(&mv)?))).collect();
        let moves = moves.filter(|moves| !moves.is_empty())?;
        Some(Self { moves, board: family.board.clone() })
    }

    /// Whether the side to move is in check, or a capture or a promotion is best.
    fn is_tactical(&self) -> bool {
        let best = self.moves.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let board = &self.board;
        let is_tactical = |mv: Move| is_capture(board, mv) || mv.promotion.is_some();
        !board.checkers().is_empty() || best.is_some_and(|&(mv, _)| is_tactical(mv))
    }
}

/// Reads the parents all of whose moves are labelled, among about `limit` positions of some splits.
fn read_choices(data: &Datasets, splits: &[Split], limit: usize) -> Result<Vec<Choice>> {
    let every = family_step(splits.iter().map(|&split| data.len(split)).sum(), limit);
    let mut choices = Vec::new();
    for &split in splits {
        data.families(split, every, |family| {
            choices.extend(Choice::of(&family.decode()?));
            Ok(())
        })?;
    }
    Ok(choices)
}

/// The scores of the moves of each choice: win probabilities for the side that moves. The end of the
/// game has its exact value, as in a beam.
fn scores(
    encoder: &mut dyn Encoder,
    weights: &Weights,
    choices: &[Choice],
) -> Result<Vec<Vec<f32>>> {
    let perspective = weights.metadata.architecture.perspective();
    let score = |choice: &Choice| -> Result<Vec<f32>> {
        let boards: Vec<Board> =
            choice.moves.iter().map(|&(mv, _)| board_after(&choice.board, mv)).collect();
        let packed: Vec<PackedPosition> =
            boards.iter().map(|board| PackedPosition::new(board, Label::Centipawns(0))).collect();
        let cosines = weights.axis.cosines(&embed(encoder, &packed)?);
        let scored = boards.iter().zip(cosines).map(|(board, cosine)| {
            if !board.generate_moves(|_| true) {
                return if board.checkers().is_empty() { 0.5 } else { 1.0 };
            }
            let p = weights.calibration.win_probability(cosine);
            match perspective {
                Perspective::White if board.side_to_move() == Color::Black => p,
                _ => 1.0 - p,
            }
        });
        Ok(scored.collect())
    };
    choices.iter().map(score).collect()
}

/// The ranks of the moves of each choice in a beam with a policy head.
fn ranks(policy: &Policy, choices: &[Choice], scores: &[Vec<f32>]) -> Vec<Vec<f32>> {
    let ranks = choices.iter().zip(scores).map(|(choice, scores)| {
        let moves: Vec<Move> = choice.moves.iter().map(|&(mv, _)| mv).collect();
        let logits = policy.logits(&choice.board, &moves);
        // Only a mate has a win probability of 1. A beam keeps it before all other moves.
        let rank = |(&p, logit): (&f32, f32)| match p < 1.0 {
            true => rank_with_policy(p, logit),
            false => f32::INFINITY,
        };
        scores.iter().zip(logits).map(rank).collect()
    });
    ranks.collect()
}

/// The labels of the choices' moves in other datasets, as scores. Fails if a choice is missing.
fn scores_of_labels(paths: &[PathBuf], choices: &[Choice]) -> Result<Vec<Vec<f32>>> {
    let others = read_choices(&open(paths)?.0, &Split::ALL, usize::MAX)?;
    let others: HashMap<String, &Choice> =
        others.iter().map(|choice| (choice.board.to_string(), choice)).collect();
    let score = |choice: &Choice| {
        let fen = choice.board.to_string();
        let Some(other) = others.get(&fen) else {
            bail!("--labels: not all moves of '{fen}' have labels there; label the same positions");
        };
        Ok(other.moves.iter().map(|&(_, won)| won).collect())
    };
    choices.iter().map(score).collect()
}

/// A mean and half the width of its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct Estimate {
    mean: f64,
    /// Half the width of the interval.
    within: f64,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precision = f.precision().unwrap_or(4);
        write!(f, "{:.precision$} ± {:.precision$}", self.mean, self.within)
    }
}

impl Estimate {
    /// The mean of independent values.
    fn of(values: &[f64]) -> Self {
        Self::of_ratio(&values.iter().map(|&value| (value, 1.0)).collect::<Vec<_>>())
    }

    /// The ratio of the sums of both values. The pairs are independent, their values are not.
    fn of_ratio(pairs: &[(f64, f64)]) -> Self {
        let sum = |value: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(value).sum::<f64>();
        let (above, below) = (sum(&|pair| pair.0), sum(&|pair| pair.1));
        let mean = above / below;
        let squares = sum(&|pair| (pair.0 - mean * pair.1).powi(2));
        Self { mean, within: INTERVAL * squares.sqrt() / below }
    }

    /// The square root of a mean square.
    fn root(self) -> Self {
        let root = self.mean.sqrt();
        let within = if root > 0.0 { self.within / (2.0 * root) } else { 0.0 };
        Self { mean: root, within }
    }
}

/// How well scores choose moves.
#[derive(Clone, Debug, Serialize)]
struct MoveChoice {
    parents: usize,
    /// The share of parents whose best move is among the 1, 3 and 5 moves with the highest scores.
    recall: [Estimate; KEPT.len()],
    /// The win probability that the best of the three highest scored moves loses to the best move.
    regret: Estimate,
    /// The RMS deviation of score minus label from its mean over the good moves of a parent, those
    /// that lose less than 0.1, in win probability; `None` for ranks, which are no probabilities.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Estimate>,
}

impl MoveChoice {
    /// `None` without parents.
    fn of<'a>(choices: impl Iterator<Item = (&'a Choice, &'a [f32])>) -> Option<Self> {
        let mut kept = KEPT.map(|_| Vec::new());
        let (mut regrets, mut errors) = (Vec::new(), Vec::new());
        for (choice, scores) in choices {
            let labels: Vec<f32> = choice.moves.iter().map(|&(_, won)| won).collect();
            let best = labels.iter().copied().fold(0.0, f32::max);
            let mut order: Vec<usize> = (0..labels.len()).collect();
            order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
            let best_of = |count: usize| {
                order.iter().take(count).map(|&index| labels[index]).fold(0.0, f32::max)
            };
            for (kept, count) in kept.iter_mut().zip(KEPT) {
                kept.push(f64::from(u8::from(best_of(count) >= best)));
            }
            regrets.push(f64::from(best - best_of(WIDTH)));
            let good = (0..labels.len()).filter(|&index| best - labels[index] < GOOD);
            errors.push(deviation(good.map(|index| scores[index] - labels[index])));
        }
        (!regrets.is_empty()).then(|| Self {
            parents: regrets.len(),
            recall: kept.each_ref().map(|kept| Estimate::of(kept)),
            regret: Estimate::of(&regrets),
            error: Some(Estimate::of_ratio(&errors).root()),
        })
    }
}

/// The sum of the squared deviations from the mean, and the number of values.
fn deviation(values: impl Iterator<Item = f32>) -> (f64, f64) {
    let values: Vec<f64> = values.map(f64::from).collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (values.iter().map(|value| (value - mean).powi(2)).sum(), count)
}

/// The metrics of all parents and of two kinds of them.
#[derive(Clone, Debug, Serialize)]
struct MoveChoices {
    all: MoveChoice,
    /// Parents without check whose best move is neither a capture nor a promotion.
    quiet: Option<MoveChoice>,
    tactical: Option<MoveChoice>,
}

impl MoveChoices {
    /// Measures `scores`. `None` without choices.
    fn of(choices: &[Choice], scores: &[Vec<f32>]) -> Option<Self> {
        let pairs = || choices.iter().zip(scores.iter().map(Vec::as_slice));
        let kind = |tactical: bool| {
            MoveChoice::of(pairs().filter(|(choice, _)| choice.is_tactical() == tactical))
        };
        Some(Self { all: MoveChoice::of(pairs())?, quiet: kind(false), tactical: kind(true) })
    }

    /// Measures `ranks`, which only order the moves.
    fn by_rank(choices: &[Choice], ranks: &[Vec<f32>]) -> Option<Self> {
        let mut found = Self::of(choices, ranks)?;
        let kinds = [Some(&mut found.all), found.quiet.as_mut(), found.tactical.as_mut()];
        kinds.into_iter().flatten().for_each(|kind| kind.error = None);
        Some(found)
    }
}

impl fmt::Display for MoveChoices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut kinds = vec![("all", &self.all)];
        kinds.extend(self.quiet.iter().map(|measured| ("quiet", measured)));
        kinds.extend(self.tactical.iter().map(|measured| ("tactical", measured)));
        let mut row = |name: &str, cell: &dyn Fn(&str, &MoveChoice) -> String| -> fmt::Result {
            write!(f, "\n{name:<22}")?;
            kinds.iter().try_for_each(|(kind, measured)| write!(f, " {:>17}", cell(kind, measured)))
        };
        row("choice of a move", &|kind, _| kind.to_owned())?;
        row("parents", &|_, measured| measured.parents.to_string())?;
        for (index, count) in KEPT.iter().enumerate() {
            let name = format!("best move in top {count}");
            row(&name, &|_, measured| format!("{:.3}", measured.recall[index]))?;
        }
        row("regret of the top 3", &|_, measured| measured.regret.to_string())?;
        if self.all.error.is_none() {
            return Ok(());
        }
        row("error, good siblings", &|_, measured| {
            measured.error.map_or_else(String::new, |error| error.to_string())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// White has five moves, which are neither captures nor promotions.
    const FIVE: &str = "7k/8/8/8/8/8/8/4K3 w - - 0 1";
    const FIVE_OF_BLACK: &str = "7k/8/8/8/8/8/8/4K3 b - - 0 1";

    /// Labels in centipawns for the side that moves, in the order of the moves.
    fn choice(fen: &str, labels: &[i32]) -> Option<Choice> {
        let board: Board = fen.parse().expect("valid");
        let side = board.side_to_move();
        let labelled = legal_moves(&board).into_iter().zip(labels);
        let children = labelled.map(|(mv, &value)| (mv, Label::Centipawns(value).seen_by(side)));
        let labels = FamilyLabels::Children(children.collect());
        Choice::of(&Family { board, labels })
    }

    fn measure(labels: &[i32], scores: &[f32]) -> MoveChoices {
        let choices = [choice(FIVE, labels).expect("all moves are labelled")];
        MoveChoices::of(&choices, &[scores.to_vec()]).expect("there is a choice")
    }

    #[test]
    fn the_best_move_is_recalled_where_it_is_kept() {
        let measured = measure(&[0, 0, 0, 0, 400], &[0.5, 0.4, 0.3, 0.2, 0.1]).all;
        assert_eq!(measured.recall.map(|recall| recall.mean), [0.0, 0.0, 1.0]);
        assert!((measured.regret.mean - 0.3135).abs() < 1e-4, "{}", measured.regret);
        let measured = measure(&[0, 0, 0, 0, 400], &[0.5, 0.4, 0.1, 0.2, 0.3]).all;
        assert_eq!(measured.recall.map(|recall| recall.mean), [0.0, 1.0, 1.0]);
        assert_eq!(measured.regret.mean, 0.0);
    }

    #[test]
    fn the_error_counts_differences_between_good_moves() {
        // A common error of all moves, and any error of a bad one, cost nothing.
        let error = |scores: &[f32]| measure(&[0, 0, 0, 0, -400], scores).all.error;
        let common = error(&[0.7, 0.7, 0.7, 0.7, 0.9]).expect("an error");
        assert!(common.mean < 1e-6, "{common}");
        let of_each = error(&[0.52, 0.48, 0.52, 0.48, 0.9]).expect("an error");
        assert!((of_each.mean - 0.02).abs() < 1e-6, "{of_each}");
    }

    #[test]
    fn parents_are_tactical_by_their_best_move_or_a_check() {
        let kind = |fen, labels: &[i32]| choice(fen, labels).map(|choice| choice.is_tactical());
        assert_eq!(kind(FIVE, &[0, 1, 2, 3, 4]), Some(false));
        assert_eq!(kind("7k/8/8/8/8/8/8/K6r w - - 0 1", &[0, 1]), Some(true));
        let board: Board = "7k/8/8/8/8/8/8/Kr6 w - - 0 1".parse().expect("valid");
        let moves = legal_moves(&board);
        assert_eq!(kind("7k/8/8/8/8/8/8/Kr6 w - - 0 1", &vec![0; moves.len()]), Some(true));
        // The king on b5 attacks the pawn on c4.
        let pawn = "7k/8/8/1K6/2p5/8/8/8 w - - 0 1";
        let board: Board = pawn.parse().expect("valid");
        let takes = |mv: Move| i32::from(board.occupied().has(mv.to));
        let labels: Vec<i32> = legal_moves(&board).into_iter().map(takes).collect();
        assert_eq!(kind(pawn, &labels), Some(true));
        let labels: Vec<i32> = labels.into_iter().map(|label| -label).collect();
        assert_eq!(kind(pawn, &labels), Some(false));
    }

    #[test]
    fn a_parent_with_an_unlabelled_move_is_no_choice() {
        assert!(choice(FIVE, &[0, 1, 2, 3]).is_none());
        assert!(choice(FIVE_OF_BLACK, &[0, 1, 2]).is_some());
    }

    #[test]
    fn intervals_are_those_of_independent_values() {
        let estimate = Estimate::of(&[0.0, 1.0, 0.0, 1.0]);
        assert!((estimate.mean - 0.5).abs() < 1e-12);
        assert!((estimate.within - 1.96 * 0.25).abs() < 1e-12, "{estimate}");
    }
}
